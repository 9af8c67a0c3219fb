/*
 * Column mapping: from the names that users see to those in data files (PROTOCOL.md "Column Mapping"). Called once a snapshot. Every
 * field of a mapped table must have both a physical name and an id, in either mode, as Delta Spark demands: a field that lacks one was
 * written by something that does not know the feature, and guessing a name reads nulls where there are values.
 *
 * Pure; any thread.
 */
#include "schema/column_mapping.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/vec.h"
#include "json/json.h"
#include "schema/schema_int.h"

#define KEY_NAME SL_STR("delta.columnMapping.physicalName")
#define KEY_ID SL_STR("delta.columnMapping.id")
#define KEY_NESTED_IDS SL_STR("delta.columnMapping.nested.ids")
#define KEY_PARQUET_ID SL_STR("parquet.field.id")
#define KEY_PARQUET_NESTED_IDS SL_STR("parquet.field.nested.ids")

struct mapper {
    struct sl_arena arena; /* of the fields that are being made */
    struct sl_vec ids;     /* struct used_id */
};

struct used_id {
    int64_t id;
    struct sl_str name; /* logical, for messages */
};

bool sl_mapping_mode_parse(struct sl_str text, enum sl_mapping_mode *out)
{
    *out = SL_MAPPING_NONE;
    if (text.ptr == NULL || sl_str_eq_nocase(text, SL_STR("none"))) {
        return true;
    }
    if (sl_str_eq_nocase(text, SL_STR("name"))) {
        *out = SL_MAPPING_NAME;
        return true;
    }
    *out = SL_MAPPING_ID;
    return sl_str_eq_nocase(text, SL_STR("id"));
}

static const struct sl_field_meta *find_meta(const struct silt_field *field, struct sl_str key)
{
    for (size_t i = 0; i < field->n_metadata; i++) {
        if (sl_str_eq(field->metadata[i].key, key)) {
            return &field->metadata[i];
        }
    }
    return NULL;
}

static silt_status map_name(const struct silt_field *field, const struct sl_place *place, struct sl_str *out,
                            silt_error *err)
{
    char text[SL_PLACE_SIZE];
    const struct sl_field_meta *meta = find_meta(field, KEY_NAME);
    if (meta == NULL) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "column %s has no physical name (delta.columnMapping.physicalName), which column mapping needs",
                       sl_place_print(place, text));
    }
    if (meta->text.ptr == NULL || meta->text.len == 0) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the physical name of column %s must be a text that is not empty",
                       sl_place_print(place, text));
    }
    if (memchr(meta->text.ptr, 0, meta->text.len) != NULL) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the physical name of column %s has a NUL byte",
                       sl_place_print(place, text));
    }
    *out = meta->text;
    return SILT_OK;
}

static silt_status map_id(struct mapper *m, const struct silt_field *field, const struct sl_place *place,
                          struct sl_str *json, silt_error *err)
{
    char text[SL_PLACE_SIZE];
    const struct sl_field_meta *meta = find_meta(field, KEY_ID);
    if (meta == NULL) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "column %s has no id (delta.columnMapping.id), which column mapping needs",
                       sl_place_print(place, text));
    }
    struct used_id *used = sl_vec_push(&m->ids);
    if (used == NULL) {
        return sl_fail_nomem(err);
    }
    if (!sl_str_to_i64(meta->json, &used->id) || used->id < 0 || used->id > INT32_MAX) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the id %.*s of column %s must be a whole number of 31 bits",
                       SL_FMT(meta->json), sl_place_print(place, text));
    }
    used->name = field->name;
    *json = meta->json;
    return SILT_OK;
}

static bool is_replaced(struct sl_str key)
{
    return sl_str_eq(key, KEY_PARQUET_ID) || sl_str_eq(key, KEY_PARQUET_NESTED_IDS);
}

/* The field's metadata, with the ids where Parquet readers and writers look for them. */
static silt_status map_metadata(struct mapper *m, const struct silt_field *field, struct sl_str id,
                                struct silt_field *out, silt_error *err)
{
    struct sl_field_meta *all = sl_arena_alloc_array(&m->arena, field->n_metadata + 2, sizeof(*all));
    if (all == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < field->n_metadata; i++) {
        if (!is_replaced(field->metadata[i].key)) {
            all[n++] = field->metadata[i];
        }
    }
    all[n++] = (struct sl_field_meta){.key = KEY_PARQUET_ID, .json = id};
    const struct sl_field_meta *nested = find_meta(field, KEY_NESTED_IDS);
    if (nested != NULL) {
        all[n++] = (struct sl_field_meta){.key = KEY_PARQUET_NESTED_IDS, .json = nested->json};
    }
    out->metadata = all;
    out->n_metadata = n;
    return SILT_OK;
}

/* ---- the walk ---- */

static int compare_names(const void *a, const void *b)
{
    const struct silt_field *const *x = a;
    const struct silt_field *const *y = b;
    return sl_str_compare((*x)->name, (*y)->name);
}

/* Within one struct: columns of other structs may well have the same physical name. */
static silt_status check_names(struct mapper *m, const struct silt_field *fields, size_t n,
                               const struct sl_place *place, silt_error *err)
{
    const struct silt_field **sorted = sl_arena_alloc_array(&m->arena, n + 1, sizeof(*sorted));
    if (sorted == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &fields[i];
    }
    qsort(sorted, n, sizeof(*sorted), compare_names);
    for (size_t i = 1; i < n; i++) {
        if (sl_str_eq(sorted[i - 1]->name, sorted[i]->name)) {
            char text[SL_PLACE_SIZE];
            return sl_fail(err, SILT_ECORRUPT, NULL, "two columns of '%s' have the physical name %.*s",
                           sl_place_print(place, text), SL_FMT(sorted[i]->name));
        }
    }
    return SILT_OK;
}

static silt_status map_type(struct mapper *m, const struct silt_type *type, const struct sl_place *place,
                            const struct silt_type **out, silt_error *err);

static silt_status map_field(struct mapper *m, const struct silt_field *field, const struct sl_place *up,
                             struct silt_field *out, silt_error *err)
{
    const struct sl_place place = {up, field->name, up->depth + 1};
    struct sl_str id = {0};
    *out = *field;
    SL_TRY(map_name(field, &place, &out->name, err));
    SL_TRY(map_id(m, field, &place, &id, err));
    SL_TRY(map_metadata(m, field, id, out, err));
    return map_type(m, field->type, &place, &out->type, err);
}

static silt_status map_fields(struct mapper *m, const struct silt_type *type, const struct sl_place *place,
                              struct silt_field **out, silt_error *err)
{
    struct silt_field *fields = sl_arena_alloc_array(&m->arena, type->n_fields + 1, sizeof(*fields));
    if (fields == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < type->n_fields; i++) {
        SL_TRY(map_field(m, &type->fields[i], place, &fields[i], err));
    }
    *out = fields;
    return check_names(m, fields, type->n_fields, place, err);
}

static silt_status map_part(struct mapper *m, const struct silt_type *type, struct sl_str name,
                            const struct sl_place *up, const struct silt_type **out, silt_error *err)
{
    const struct sl_place place = {up, name, up->depth + 1};
    return map_type(m, type, &place, out, err);
}

/* The depth of a schema is bounded when it is made, and with it this recursion. */
static silt_status map_type(struct mapper *m, const struct silt_type *type, const struct sl_place *place,
                            const struct silt_type **out, silt_error *err)
{
    *out = type;
    if (!sl_type_is_nested(type)) {
        return SILT_OK;
    }
    struct silt_type *mapped = sl_arena_alloc(&m->arena, sizeof(*mapped));
    if (mapped == NULL) {
        return sl_fail_nomem(err);
    }
    *mapped = *type;
    *out = mapped;
    switch (type->kind) {
    case SILT_TYPE_STRUCT: return map_fields(m, type, place, &mapped->fields, err);
    case SILT_TYPE_MAP:
        SL_TRY(map_part(m, type->key, SL_STR("key"), place, &mapped->key, err));
        return map_part(m, type->element, SL_STR("value"), place, &mapped->element, err);
    default: return map_part(m, type->element, SL_STR("element"), place, &mapped->element, err);
    }
}

static int compare_ids(const void *a, const void *b)
{
    const struct used_id *x = a;
    const struct used_id *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static silt_status check_ids(const struct mapper *m, silt_error *err)
{
    struct used_id *ids = m->ids.data;
    if (m->ids.len > 1) {
        qsort(ids, m->ids.len, sizeof(*ids), compare_ids);
    }
    for (size_t i = 1; i < m->ids.len; i++) {
        if (ids[i - 1].id == ids[i].id) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "columns %.*s and %.*s have the same id %lld",
                           SL_FMT(ids[i - 1].name), SL_FMT(ids[i].name), (long long)ids[i].id);
        }
    }
    return SILT_OK;
}

silt_status sl_schema_physical(const silt_schema *logical, enum sl_mapping_mode mode, silt_schema **out,
                               silt_error *err)
{
    *out = NULL;
    if (mode == SL_MAPPING_NONE) {
        *out = silt_schema_ref(logical);
        return SILT_OK;
    }
    struct mapper m;
    sl_arena_init(&m.arena, logical->env);
    sl_vec_init(&m.ids, logical->env, sizeof(struct used_id));
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    struct silt_field *fields = NULL;
    silt_status status = map_fields(&m, &logical->root, &top, &fields, err);
    if (status == SILT_OK) {
        status = check_ids(&m, err);
    }
    if (status == SILT_OK) {
        status = sl_schema_from_fields(logical->env, fields, logical->root.n_fields, out, err);
    }
    sl_vec_release(&m.ids);
    sl_arena_release(&m.arena);
    return status;
}

bool sl_schema_physical_path(const silt_schema *logical, const silt_schema *physical, const struct sl_str *path,
                             size_t n, struct sl_str *out)
{
    const struct silt_type *from = &logical->root;
    const struct silt_type *to = &physical->root;
    for (size_t level = 0; level < n; level++) {
        if (from->kind != SILT_TYPE_STRUCT) {
            return false;
        }
        size_t i = 0;
        while (i < from->n_fields && !sl_str_eq(from->fields[i].name, path[level])) {
            i++;
        }
        if (i == from->n_fields) {
            return false;
        }
        out[level] = to->fields[i].name;
        from = from->fields[i].type;
        to = to->fields[i].type;
    }
    return true;
}
