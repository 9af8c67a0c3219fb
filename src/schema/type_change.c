/*
 * Type changes (PROTOCOL.md "Type Widening", "Type Change Metadata"): which are allowed, and what a field's history says. Called by
 * snapshots, which refuse what is not allowed, and by data skipping, which must know that a bound may be a value of an older type.
 *
 * Pure; any thread.
 */
#include "schema/type_change.h"

#include "base/error.h"
#include "base/vec.h"
#include "json/json.h"
#include "schema/schema_int.h"

#define TYPE_CHANGES SL_STR("delta.typeChanges")

/* Digits that every value of an integer type has room in, as Spark counts them; 0 for other types. */
static int integer_digits(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER: return 10;
    case SILT_TYPE_LONG: return 20;
    default: return 0;
    }
}

bool sl_type_widens(const struct silt_type *from, const struct silt_type *to)
{
    if (sl_type_is_nested(from) || sl_type_is_nested(to)) {
        return false;
    }
    if (to->kind == SILT_TYPE_DECIMAL) {
        if (from->kind == SILT_TYPE_DECIMAL) {
            return to->scale >= from->scale && to->precision - to->scale >= from->precision - from->scale;
        }
        const int digits = integer_digits(from->kind);
        return digits > 0 && to->precision - to->scale >= digits;
    }
    if (from->kind == to->kind) {
        return true;
    }
    switch (to->kind) {
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: return sl_kind_is_integer(from->kind) && from->kind < to->kind;
    case SILT_TYPE_DOUBLE:
        return from->kind == SILT_TYPE_FLOAT || (sl_kind_is_integer(from->kind) && from->kind != SILT_TYPE_LONG);
    case SILT_TYPE_TIMESTAMP_NTZ: return from->kind == SILT_TYPE_DATE;
    default: return false;
    }
}

/* One member of the list. */
struct record {
    struct sl_str from_text;
    struct sl_str to_text;
    struct sl_str path;           /* absent when the field itself was changed */
    const struct silt_type *from; /* NULL: no flat type that silt knows */
    const struct silt_type *to;
};

/* What is no type that silt knows stays NULL: only a lack of memory is an error. */
static silt_status parse_type(struct sl_arena *arena, struct sl_str text, const struct silt_type **out, silt_error *err)
{
    *out = NULL;
    silt_error found = SILT_ERROR_INIT;
    if (text.ptr == NULL || sl_type_parse(arena, text, out, &found) != SILT_ENOMEM) {
        return SILT_OK;
    }
    return sl_fail_nomem(err);
}

static silt_status read_record(struct sl_arena *arena, const sl_json *json, struct record *out, silt_error *err)
{
    *out = (struct record){.from_text = sl_json_member_text(json, "fromType"),
                           .to_text = sl_json_member_text(json, "toType"),
                           .path = sl_json_member_text(json, "fieldPath")};
    SL_TRY(parse_type(arena, out->from_text, &out->from, err));
    return parse_type(arena, out->to_text, &out->to, err);
}

/* ---- the check ---- */

struct checker {
    struct sl_arena scratch;
};

static silt_status check_record(struct checker *c, const sl_json *json, const struct sl_place *place, silt_error *err)
{
    char text[SL_PLACE_SIZE];
    const char *column = sl_place_print(place, text);
    struct record record;
    SL_TRY(read_record(&c->scratch, json, &record, err));
    if (record.from_text.ptr == NULL || record.to_text.ptr == NULL) {
        /* PROTOCOL: both are primitive types; Spark writes nothing else, so that an object here is no change of the list. */
        const bool there = !sl_json_is_null(sl_json_member(json, "fromType")) &&
                           !sl_json_is_null(sl_json_member(json, "toType"));
        return there ? sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA",
                               "column %s was changed from or to a nested type, which is no supported type change",
                               column)
                     : sl_fail(err, SILT_ECORRUPT, NULL, "a type change of column %s lacks fromType or toType", column);
    }
    if (record.from == NULL || record.to == NULL || !sl_type_widens(record.from, record.to)) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA",
                       "column %s%s%.*s was changed from %.*s to %.*s, which is no supported type change", column,
                       record.path.len > 0 ? "." : "", SL_FMT(record.path), SL_FMT(record.from_text),
                       SL_FMT(record.to_text));
    }
    return SILT_OK;
}

static silt_status check_list(struct checker *c, struct sl_str json, const struct sl_place *place, silt_error *err)
{
    char text[SL_PLACE_SIZE];
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(c->scratch.env, json, &doc, err));
    silt_status status = SILT_OK;
    if (!sl_json_is_array(sl_json_root(doc))) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "delta.typeChanges of column %s is no list",
                         sl_place_print(place, text));
    }
    struct sl_json_iter iter = sl_json_iterate(sl_json_root(doc));
    struct sl_str key;
    const sl_json *member = NULL;
    while (status == SILT_OK && sl_json_next(&iter, &key, &member)) {
        status = check_record(c, member, place, err);
    }
    sl_json_free(doc);
    return status;
}

static struct sl_str changes_of(const struct silt_field *field)
{
    for (size_t i = 0; i < field->n_metadata; i++) {
        if (sl_str_eq(field->metadata[i].key, TYPE_CHANGES)) {
            return field->metadata[i].json;
        }
    }
    return (struct sl_str){NULL, 0};
}

static silt_status check_type(struct checker *c, const struct silt_type *type, const struct sl_place *place,
                              silt_error *err);

static silt_status check_fields(struct checker *c, const struct silt_type *type, const struct sl_place *up,
                                silt_error *err)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        const struct sl_place place = {up, field->name, up->depth + 1};
        const struct sl_str json = changes_of(field);
        if (json.ptr != NULL) {
            SL_TRY(check_list(c, json, &place, err));
        }
        SL_TRY(check_type(c, field->type, &place, err));
    }
    return SILT_OK;
}

/* The depth of a schema is bounded when it is made, and with it this recursion. */
static silt_status check_type(struct checker *c, const struct silt_type *type, const struct sl_place *place,
                              silt_error *err)
{
    switch (type->kind) {
    case SILT_TYPE_STRUCT: return check_fields(c, type, place, err);
    case SILT_TYPE_MAP: {
        const struct sl_place key = {place, SL_STR("key"), place->depth + 1};
        const struct sl_place value = {place, SL_STR("value"), place->depth + 1};
        SL_TRY(check_type(c, type->key, &key, err));
        return check_type(c, type->element, &value, err);
    }
    case SILT_TYPE_ARRAY: {
        const struct sl_place element = {place, SL_STR("element"), place->depth + 1};
        return check_type(c, type->element, &element, err);
    }
    default: return SILT_OK;
    }
}

silt_status sl_schema_check_type_changes(const silt_schema *schema, silt_error *err)
{
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    struct checker checker;
    sl_arena_init(&checker.scratch, schema->env);
    const silt_status status = check_type(&checker, &schema->root, &top, err);
    sl_arena_release(&checker.scratch);
    return status;
}

/* ---- history ---- */

silt_status sl_field_earlier_types(struct sl_arena *arena, const struct silt_field *field,
                                   const struct silt_type *const **out, size_t *n, silt_error *err)
{
    *out = NULL;
    *n = 0;
    const struct sl_str json = changes_of(field);
    if (json.ptr == NULL) {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(arena->env, json, &doc, err));
    const struct silt_type **types = sl_arena_alloc_array(arena, sl_json_count(sl_json_root(doc)) + 1, sizeof(*types));
    silt_status status = types != NULL ? SILT_OK : sl_fail_nomem(err);
    struct sl_json_iter iter = sl_json_iterate(sl_json_root(doc));
    struct sl_str key;
    const sl_json *member = NULL;
    while (status == SILT_OK && sl_json_next(&iter, &key, &member)) {
        struct record record;
        status = read_record(arena, member, &record, err);
        if (status == SILT_OK && record.path.len == 0 && record.from != NULL) {
            types[(*n)++] = record.from;
        }
    }
    sl_json_free(doc);
    *out = types;
    return status;
}
