/*
 * Reading a schema from Delta's JSON (PROTOCOL.md "Schema Serialization Format").
 *
 * Called by whoever reads `schemaString`. The text is kept as it came, so that writing the schema back loses nothing that
 * silt does not know. Faults in the JSON are SILT_ECORRUPT, types that silt does not know are SILT_EUNSUPPORTED; both
 * name the column. Pure; any thread.
 */
#include "silt/schema.h"

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/error.h"
#include "json/json.h"
#include "schema/schema_int.h"

#define MAX_SCHEMA_BYTES ((size_t)1 << 30)

struct reader {
    struct sl_arena *arena;
    size_t n_fields;
    silt_error *err;
};

static silt_status fail_at(const struct reader *r, const struct sl_place *place, const char *what)
{
    char text[SL_PLACE_SIZE];
    return sl_fail(r->err, SILT_ECORRUPT, NULL, "schema: '%s': %s", sl_place_print(place, text), what);
}

/* "decimal(p,s)" with spaces allowed; plain "decimal" is (10,0). */
static bool read_decimal(struct sl_str name, struct silt_type *type)
{
    if (sl_str_eq_c(name, "decimal")) {
        type->kind = SILT_TYPE_DECIMAL;
        type->precision = 10;
        type->scale = 0;
        return true;
    }
    if (!sl_str_starts_with(name, SL_STR("decimal(")) || !sl_str_ends_with(name, SL_STR(")"))) {
        return false;
    }
    const struct sl_str inner = sl_str_sub(name, sizeof "decimal(" - 1, name.len - 1);
    const size_t comma = sl_str_find(inner, SL_STR(","));
    uint64_t precision = 0;
    uint64_t scale = 0;
    if (comma == SIZE_MAX || !sl_str_to_u64(sl_str_trim(sl_str_sub(inner, 0, comma)), &precision) ||
        !sl_str_to_u64(sl_str_trim(sl_str_sub(inner, comma + 1, inner.len)), &scale)) {
        return false;
    }
    if (precision < 1 || precision > SL_DECIMAL_MAX_PRECISION || scale > precision) {
        return false;
    }
    type->kind = SILT_TYPE_DECIMAL;
    type->precision = (uint8_t)precision;
    type->scale = (uint8_t)scale;
    return true;
}

static silt_status read_primitive(struct reader *r, struct sl_str name, const struct sl_place *place,
                                  struct silt_type *type)
{
    if (sl_type_kind_by_name(name, &type->kind) || read_decimal(name, type)) {
        return SILT_OK;
    }
    if (sl_str_starts_with(name, SL_STR("string collate "))) {
        type->kind = SILT_TYPE_STRING;
        type->json = sl_arena_copy(r->arena, name);
        return type->json.ptr != NULL ? SILT_OK : sl_fail_nomem(r->err);
    }
    char text[SL_PLACE_SIZE];
    return sl_fail(r->err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_DATA_TYPES",
                   "column '%s' has the type '%.*s', which is not supported", sl_place_print(place, text),
                   SL_FMT(name));
}

static silt_status read_type(struct reader *r, const sl_json *json, const struct sl_place *place,
                             const struct silt_type **out);

static silt_status read_metadata(struct reader *r, const sl_json *json, const struct sl_place *place,
                                 struct silt_field *field)
{
    if (sl_json_is_null(json)) {
        return SILT_OK;
    }
    if (!sl_json_is_object(json)) {
        return fail_at(r, place, "metadata is no object");
    }
    const size_t n = sl_json_count(json);
    if (n == 0) {
        return SILT_OK;
    }
    field->metadata = sl_arena_alloc_array(r->arena, n, sizeof *field->metadata);
    if (field->metadata == NULL) {
        return sl_fail_nomem(r->err);
    }
    struct sl_buf text;
    sl_buf_init(&text, r->arena->env);
    silt_status status = SILT_OK;
    struct sl_json_iter iter = sl_json_iterate(json);
    struct sl_str key;
    const sl_json *value;
    while (status == SILT_OK && field->n_metadata < n && sl_json_next(&iter, &key, &value)) {
        struct sl_field_meta *meta = &field->metadata[field->n_metadata++];
        struct sl_str plain;
        sl_buf_clear(&text);
        sl_json_write(&text, value);
        status = sl_buf_status(&text, r->err);
        if (status != SILT_OK) {
            break;
        }
        meta->key = sl_arena_copy(r->arena, key.ptr != NULL ? key : SL_STR(""));
        meta->json = sl_arena_copy(r->arena, sl_buf_view(&text));
        if (sl_json_to_str(value, &plain)) {
            meta->text = sl_arena_copy(r->arena, plain.ptr != NULL ? plain : SL_STR(""));
        }
        if (meta->key.ptr == NULL || meta->json.ptr == NULL) {
            status = sl_fail_nomem(r->err);
        }
    }
    sl_buf_release(&text);
    return status;
}

static silt_status read_field(struct reader *r, const sl_json *json, const struct sl_place *up,
                              struct silt_field *field)
{
    struct sl_str name;
    if (++r->n_fields > SL_SCHEMA_MAX_FIELDS) {
        return sl_fail(r->err, SILT_ELIMIT, NULL, "the schema has more than %d columns", SL_SCHEMA_MAX_FIELDS);
    }
    if (!sl_json_is_object(json)) {
        return fail_at(r, up, "a field is no object");
    }
    if (!sl_json_to_str(sl_json_member(json, "name"), &name)) {
        return fail_at(r, up, "a field has no name");
    }
    const struct sl_place place = {up, name.ptr != NULL ? name : SL_STR(""), up->depth + 1};
    if (memchr(place.name.ptr, '\0', place.name.len) != NULL) {
        return fail_at(r, up, "the name of a field contains a NUL byte");
    }
    field->name = sl_arena_copy(r->arena, place.name);
    if (field->name.ptr == NULL) {
        return sl_fail_nomem(r->err);
    }
    if (!sl_json_to_bool(sl_json_member(json, "nullable"), &field->nullable)) {
        return fail_at(r, &place, "'nullable' is missing or no boolean");
    }
    SL_TRY(read_metadata(r, sl_json_member(json, "metadata"), &place, field));
    return read_type(r, sl_json_member(json, "type"), &place, &field->type);
}

static silt_status read_struct(struct reader *r, const sl_json *json, const struct sl_place *place,
                               struct silt_type *type)
{
    const sl_json *fields = sl_json_member(json, "fields");
    if (!sl_json_is_array(fields)) {
        return fail_at(r, place, "'fields' of a struct is missing or no array");
    }
    const size_t n = sl_json_count(fields);
    if (n > SL_SCHEMA_MAX_FIELDS) {
        return sl_fail(r->err, SILT_ELIMIT, NULL, "the schema has more than %d columns", SL_SCHEMA_MAX_FIELDS);
    }
    type->kind = SILT_TYPE_STRUCT;
    type->fields = sl_arena_alloc_array(r->arena, n > 0 ? n : 1, sizeof *type->fields);
    if (type->fields == NULL) {
        return sl_fail_nomem(r->err);
    }
    struct sl_json_iter iter = sl_json_iterate(fields);
    struct sl_str key;
    const sl_json *value;
    while (type->n_fields < n && sl_json_next(&iter, &key, &value)) {
        SL_TRY(read_field(r, value, place, &type->fields[type->n_fields]));
        type->n_fields++;
    }
    return SILT_OK;
}

/* Absent means true: PROTOCOL.md's table for maps does not even list the member. */
static silt_status read_contains_null(struct reader *r, const sl_json *json, const char *key,
                                      const struct sl_place *place, struct silt_type *type)
{
    const sl_json *value = sl_json_member(json, key);
    type->contains_null = true;
    if (sl_json_is_null(value) || sl_json_to_bool(value, &type->contains_null)) {
        return SILT_OK;
    }
    return fail_at(r, place, "the nullability of elements is no boolean");
}

static silt_status read_child(struct reader *r, const sl_json *json, struct sl_str name, const struct sl_place *up,
                              const struct silt_type **out)
{
    const struct sl_place place = {up, name, up->depth + 1};
    return read_type(r, json, &place, out);
}

static silt_status read_nested(struct reader *r, const sl_json *json, const struct sl_place *place,
                               struct silt_type *type)
{
    struct sl_str kind;
    if (!sl_json_to_str(sl_json_member(json, "type"), &kind)) {
        return fail_at(r, place, "a nested type has no 'type'");
    }
    if (sl_str_eq_c(kind, "struct")) {
        return read_struct(r, json, place, type);
    }
    if (sl_str_eq_c(kind, "array")) {
        type->kind = SILT_TYPE_ARRAY;
        SL_TRY(read_contains_null(r, json, "containsNull", place, type));
        return read_child(r, sl_json_member(json, "elementType"), SL_STR("element"), place, &type->element);
    }
    if (sl_str_eq_c(kind, "map")) {
        type->kind = SILT_TYPE_MAP;
        SL_TRY(read_contains_null(r, json, "valueContainsNull", place, type));
        SL_TRY(read_child(r, sl_json_member(json, "keyType"), SL_STR("key"), place, &type->key));
        return read_child(r, sl_json_member(json, "valueType"), SL_STR("value"), place, &type->element);
    }
    /* {"type":"variant"} is what the protocol's example of an array of variants shows. */
    return read_primitive(r, kind, place, type);
}

static silt_status read_type(struct reader *r, const sl_json *json, const struct sl_place *place,
                             const struct silt_type **out)
{
    SL_TRY(sl_place_check(place, r->err));
    struct silt_type *type = sl_arena_alloc_zero(r->arena, sizeof *type);
    if (type == NULL) {
        return sl_fail_nomem(r->err);
    }
    struct sl_str name;
    *out = type;
    if (sl_json_to_str(json, &name)) {
        return read_primitive(r, name, place, type);
    }
    if (sl_json_is_object(json)) {
        return read_nested(r, json, place, type);
    }
    return fail_at(r, place, "the type is missing or neither a name nor an object");
}

static silt_status read_root(silt_schema *schema, struct sl_str text, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(schema->env, text, &doc, err));
    struct reader r = {&schema->arena, 0, err};
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    const sl_json *root = sl_json_root(doc);
    struct sl_str kind;
    silt_status status;
    if (!sl_json_to_str(sl_json_member(root, "type"), &kind) || !sl_str_eq_c(kind, "struct")) {
        status = fail_at(&r, &top, "the top is no struct");
    } else {
        status = read_struct(&r, root, &top, &schema->root);
    }
    sl_json_free(doc);
    if (status == SILT_OK) {
        schema->json = sl_arena_strdup(&schema->arena, text);
        status = schema->json != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    return status;
}

silt_status silt_schema_from_json(const silt_env *env, const char *json, size_t json_len, silt_schema **out,
                                  silt_error *err)
{
    *out = NULL;
    if (json_len > MAX_SCHEMA_BYTES) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the schema's JSON has %zu bytes, more than %zu", json_len,
                       MAX_SCHEMA_BYTES);
    }
    silt_schema *schema = NULL;
    SL_TRY(sl_schema_new(env, &schema, err));
    const silt_status status = read_root(schema, sl_str_make(json, json_len), err);
    if (status != SILT_OK) {
        silt_schema_unref(schema);
        return status;
    }
    *out = schema;
    return SILT_OK;
}
