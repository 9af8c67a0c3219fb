/*
 * Parquet footers as silt reads them itself: any bytes are a schema or are told to be none; a schema's nodes make one tree, depth first;
 * read again it has the same key.
 */
#include "engine/duckdb/duck_footer.h"
#include "support/fuzz.h"

/* Depth first, with as many children as each says: one tree that closes with the last node. */
static void check_tree(const struct sl_footer *footer)
{
    uint64_t missing = 1;
    FUZZ_CHECK(footer->n_nodes > 0);
    for (size_t i = 0; i < footer->n_nodes; i++) {
        const struct sl_footer_node *node = &footer->nodes[i];
        FUZZ_CHECK(missing > 0);
        missing += node->n_children;
        missing--;
        FUZZ_CHECK(node->n_children > 0 || node->physical.ptr != NULL || footer->n_nodes == 1);
        FUZZ_CHECK(!node->int96 || sl_str_eq_c(node->physical, "INT96"));
    }
    FUZZ_CHECK(missing == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sl_str bytes = {(const char *)data, size};
    struct sl_arena arena;
    struct sl_footer footer;
    struct sl_footer again;
    silt_error err = SILT_ERROR_INIT;
    sl_arena_init(&arena, fuzz_env());
    if (sl_footer_parse(&arena, bytes, "x", &footer, &err) == SILT_OK) {
        check_tree(&footer);
        FUZZ_CHECK(sl_footer_parse(&arena, bytes, "x", &again, NULL) == SILT_OK);
        FUZZ_CHECK(again.n_nodes == footer.n_nodes && sl_str_eq(again.key, footer.key));
    } else {
        FUZZ_CHECK(err.message[0] != '\0');
    }
    sl_arena_release(&arena);
    return 0;
}
