/* See variant_rows.h. */
#include "variant_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arrow.h"
#include "schema/value.h"

/* The pair is searched as text: its lengths are not of interest. */
static bool has_extension(const struct ArrowSchema *schema)
{
    const char name[] = "arrow.parquet.variant";
    for (size_t i = 0; schema->metadata != NULL && i < 64; i++) {
        if (memcmp(schema->metadata + i, name, sizeof(name) - 1) == 0) {
            return true;
        }
    }
    return false;
}

static void put_row(const struct ArrowSchema *schema, const struct ArrowArray *variants, int64_t row,
                    struct sl_buf *out)
{
    silt_value parts[2];
    char json[4096];
    size_t len = 0;
    silt_error err = SILT_ERROR_INIT;
    if (sl_arrow_is_null(variants, row)) {
        sl_buf_put_c(out, "NULL\n");
        return;
    }
    for (int64_t i = 0; i < 2; i++) {
        assert_true(sl_value_from_arrow(schema->children[i], variants->children[i], row + variants->offset, &parts[i]));
        assert_false(parts[i].is_null);
    }
    const silt_variant variant = {parts[0].as.bytes.ptr, parts[0].as.bytes.len, parts[1].as.bytes.ptr,
                                  parts[1].as.bytes.len};
    if (silt_variant_to_json(&variant, json, sizeof(json), &len, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(len < sizeof(json));
    sl_buf_put(out, json, len);
    sl_buf_put_char(out, '\n');
}

void variant_rows(struct ArrowArrayStream *stream, struct sl_buf *out)
{
    struct ArrowSchema schema = {0};
    silt_error err = SILT_ERROR_INIT;
    bool done = false;
    assert_int_equal(sl_arrow_stream_schema(stream, &schema, &err), SILT_OK);
    const struct ArrowSchema *variant = schema.children[0];
    assert_true(has_extension(variant));
    assert_string_equal(variant->children[0]->name, "metadata");
    assert_string_equal(variant->children[1]->name, "value");
    sl_buf_clear(out);
    while (!done) {
        struct ArrowArray batch = {0};
        if (sl_arrow_stream_next(stream, &batch, &done, &err) != SILT_OK) {
            fail_msg("[%s] %s", err.code_name, err.message);
        }
        for (int64_t row = 0; !done && row < batch.length; row++) {
            put_row(variant, batch.children[0], row + batch.offset, out);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    sl_arrow_stream_release(stream);
}

void variant_table(struct session_fixture *s, const char *fields, const struct pq_column *columns, size_t n,
                   int64_t n_rows)
{
    static unsigned n_files = 0;
    const char *name = sl_arena_printf(&s->arena, "f%u.parquet", n_files++);
    hand_remove(s, "t");
    hand_commit(s, "t", 0,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"variantType\"],"
                "\"writerFeatures\":[\"variantType\"]}}",
                hand_metadata(s, fields, "", ""), hand_add(s, name, "{}", NULL), NULL);
    pq_write(sl_arena_printf(&s->arena, "%s/t/%s", s->dir, name), columns, n, n_rows, NULL);
}

void variant_query(struct session_fixture *s, const char *sql, const char *expected)
{
    silt_execution *execution = NULL;
    silt_result result = {.size = sizeof(result)};
    bool done = false;
    assert_int_equal(silt_session_execute(s->session, sql, strlen(sql), NULL, NULL, &execution, &s->err), SILT_OK);
    if (silt_execution_next(execution, NULL, &result, &done, &s->err) != SILT_OK) {
        fail_msg("%s: %s", sql, s->err.message);
    }
    variant_rows(&result.stream, &s->out);
    silt_execution_free(execution);
    assert_string_equal(sl_buf_cstr(&s->out), expected);
}
