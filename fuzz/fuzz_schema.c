/*
 * Schemas: JSON that is taken is written and read back alike, its types survive Spark's DDL and Arrow, and the mapped schema has the shape
 * of the logical one.
 */
#include "base/arrow.h"
#include "schema/column_mapping.h"
#include "schema/type.h"
#include "schema/type_change.h"
#include "support/fuzz.h"

static void check_json(const silt_schema *schema)
{
    silt_schema *again = NULL;
    const struct sl_str json = sl_str_from(silt_schema_json(schema));
    FUZZ_CHECK(silt_schema_from_json(fuzz_env(), json.ptr, json.len, &again, NULL) == SILT_OK);
    FUZZ_CHECK(sl_type_equal(&schema->root, &again->root, true));
    FUZZ_CHECK(sl_str_eq_c(json, silt_schema_json(again)));
    silt_schema_unref(again);
}

/* Spark's DDL of a column's type is a type that is equal to it, where it can be said in DDL at all. */
static void check_ddl(const silt_schema *schema)
{
    struct sl_arena arena;
    struct sl_buf text;
    sl_arena_init(&arena, fuzz_env());
    sl_buf_init(&text, fuzz_env());
    for (size_t i = 0; i < schema->root.n_fields; i++) {
        const struct silt_type *type = NULL;
        sl_buf_clear(&text);
        sl_type_print_sql(&text, schema->root.fields[i].type);
        if (sl_type_parse(&arena, sl_buf_view(&text), &type, NULL) == SILT_OK) {
            FUZZ_CHECK(sl_type_equal(type, schema->root.fields[i].type, false));
        }
        sl_type_print(&text, schema->root.fields[i].type);
        sl_type_print_duckdb(&text, schema->root.fields[i].type);
        FUZZ_CHECK(text.status == SILT_OK);
    }
    sl_buf_release(&text);
    sl_arena_release(&arena);
}

static void same_shape(const struct silt_type *a, const struct silt_type *b)
{
    FUZZ_CHECK(a->kind == b->kind && a->n_fields == b->n_fields && a->contains_null == b->contains_null);
    for (size_t i = 0; i < a->n_fields; i++) {
        FUZZ_CHECK(a->fields[i].nullable == b->fields[i].nullable);
        same_shape(a->fields[i].type, b->fields[i].type);
    }
    if (a->element != NULL) {
        same_shape(a->element, b->element);
    }
    if (a->key != NULL) {
        same_shape(a->key, b->key);
    }
}

/* Arrow has no names of collations and the like; else it is the same. */
static void check_arrow(const silt_schema *schema)
{
    struct ArrowSchema arrow = {0};
    silt_schema *again = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (silt_schema_to_arrow(schema, &arrow, &err) == SILT_OK) {
        FUZZ_CHECK(silt_schema_from_arrow(fuzz_env(), &arrow, &again, &err) == SILT_OK);
        FUZZ_CHECK(sl_schema_leaf_count(again) == sl_schema_leaf_count(schema));
        same_shape(&schema->root, &again->root);
    }
    silt_schema_unref(again);
    sl_arrow_schema_release(&arrow);
}

static void check_mapping(const silt_schema *schema)
{
    for (int mode = SL_MAPPING_NONE; mode <= SL_MAPPING_ID; mode++) {
        silt_schema *physical = NULL;
        const silt_status status = sl_schema_physical(schema, (enum sl_mapping_mode)mode, &physical, NULL);
        FUZZ_CHECK((status == SILT_OK) == (physical != NULL));
        if (physical != NULL) {
            same_shape(&schema->root, &physical->root);
            check_json(physical);
        }
        silt_schema_unref(physical);
    }
}

static void check_changes(const silt_schema *schema)
{
    struct sl_arena arena;
    sl_arena_init(&arena, fuzz_env());
    if (sl_schema_check_type_changes(schema, NULL) == SILT_OK) {
        for (size_t i = 0; i < schema->root.n_fields; i++) {
            const struct silt_type *const *types = NULL;
            size_t n = 0;
            FUZZ_CHECK(sl_field_earlier_types(&arena, &schema->root.fields[i], &types, &n, NULL) == SILT_OK);
        }
    }
    sl_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    silt_schema *schema = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (silt_schema_from_json(fuzz_env(), (const char *)data, size, &schema, &err) == SILT_OK) {
        FUZZ_CHECK(silt_schema_field_count(schema) == schema->root.n_fields);
        check_json(schema);
        check_ddl(schema);
        check_arrow(schema);
        check_mapping(schema);
        check_changes(schema);
        if (sl_schema_validate(schema, &err) == SILT_OK) {
            FUZZ_CHECK(sl_schema_validate_unique(schema, &err) == SILT_OK);
            for (size_t i = 0; i < schema->root.n_fields; i++) {
                const struct silt_field *field = sl_type_find(&schema->root, schema->root.fields[i].name, NULL);
                FUZZ_CHECK(field == &schema->root.fields[i]);
            }
        }
    }
    silt_schema_unref(schema);
    return 0;
}
