/*
 * Making schemas: the empty one that parsers fill, deep copies of fields, projections.
 *
 * Called by the JSON and Arrow readers and by whoever changes a schema (a change is a new schema). One thread until the
 * schema is sealed, any thread afterwards.
 */
#include "schema/schema_int.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "json/json.h"

const char *sl_place_print(const struct sl_place *place, char buf[SL_PLACE_SIZE])
{
    size_t begin = SL_PLACE_SIZE - 1;
    buf[begin] = '\0';
    for (; place != NULL && place->name.ptr != NULL; place = place->up) {
        const bool dot = buf[begin] != '\0';
        if (place->name.len + (dot ? 1 : 0) + 3 > begin) { /* only the tail fits */
            begin -= 3;
            memcpy(buf + begin, "...", 3);
            break;
        }
        if (dot) {
            buf[--begin] = '.';
        }
        begin -= place->name.len;
        memcpy(buf + begin, place->name.ptr, place->name.len);
    }
    if (buf[begin] == '\0') {
        begin -= sizeof "schema" - 1;
        memcpy(buf + begin, "schema", sizeof "schema" - 1);
    }
    return buf + begin;
}

silt_status sl_place_check(const struct sl_place *place, silt_error *err)
{
    if (place->depth <= SL_SCHEMA_MAX_DEPTH) {
        return SILT_OK;
    }
    char text[SL_PLACE_SIZE];
    return sl_fail(err, SILT_ELIMIT, NULL, "column '%s' is nested deeper than %d levels", sl_place_print(place, text),
                   SL_SCHEMA_MAX_DEPTH);
}

silt_status sl_schema_new(const silt_env *env, silt_schema **out, silt_error *err)
{
    *out = NULL;
    silt_schema *schema = sl_alloc_zero(env, sizeof *schema);
    if (schema == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&schema->refs, 1);
    atomic_init(&schema->printed, NULL);
    schema->env = env;
    schema->root.kind = SILT_TYPE_STRUCT;
    sl_arena_init(&schema->arena, env);
    *out = schema;
    return SILT_OK;
}

silt_status sl_meta_decode(struct sl_arena *arena, struct sl_str json, struct sl_str *out, silt_error *err)
{
    *out = (struct sl_str){NULL, 0};
    if (json.len < 2 || json.ptr[0] != '"') {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    silt_status status = sl_json_parse(arena->env, json, &doc, err);
    struct sl_str text;
    if (status == SILT_OK && sl_json_to_str(sl_json_root(doc), &text)) {
        *out = sl_arena_copy(arena, text.ptr != NULL ? text : SL_STR(""));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_json_free(doc);
    return status;
}

static silt_status copy_metadata(struct sl_arena *arena, const struct silt_field *src, struct silt_field *out,
                                 silt_error *err)
{
    if (src->n_metadata == 0) {
        return SILT_OK;
    }
    out->metadata = sl_arena_alloc_array(arena, src->n_metadata, sizeof *out->metadata);
    if (out->metadata == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < src->n_metadata; i++) {
        struct sl_field_meta *meta = &out->metadata[i];
        meta->key = sl_arena_copy(arena, src->metadata[i].key);
        meta->json = sl_arena_copy(arena, src->metadata[i].json);
        if (meta->key.ptr == NULL || meta->json.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        SL_TRY(sl_meta_decode(arena, meta->json, &meta->text, err));
    }
    out->n_metadata = src->n_metadata;
    return SILT_OK;
}

static silt_status copy_type(struct sl_arena *arena, const struct silt_type *src, const struct sl_place *place,
                             size_t *n_fields, const struct silt_type **out, silt_error *err);

static silt_status copy_fields(struct sl_arena *arena, const struct silt_field *src, size_t n,
                               const struct sl_place *place, size_t *n_fields, struct silt_field **out, silt_error *err)
{
    *out = sl_arena_alloc_array(arena, n > 0 ? n : 1, sizeof **out);
    if (*out == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        SL_TRY(sl_field_copy(arena, &src[i], place, n_fields, &(*out)[i], err));
    }
    return SILT_OK;
}

static silt_status copy_child(struct sl_arena *arena, const struct silt_type *src, struct sl_str name,
                              const struct sl_place *up, size_t *n_fields, const struct silt_type **out,
                              silt_error *err)
{
    const struct sl_place place = {up, name, up->depth + 1};
    return copy_type(arena, src, &place, n_fields, out, err);
}

static silt_status copy_type(struct sl_arena *arena, const struct silt_type *src, const struct sl_place *place,
                             size_t *n_fields, const struct silt_type **out, silt_error *err)
{
    SL_TRY(sl_place_check(place, err));
    struct silt_type *type = sl_arena_alloc_zero(arena, sizeof *type);
    if (type == NULL) {
        return sl_fail_nomem(err);
    }
    type->kind = src->kind;
    type->precision = src->precision;
    type->scale = src->scale;
    type->contains_null = src->contains_null;
    if (src->json.ptr != NULL) {
        type->json = sl_arena_copy(arena, src->json);
        if (type->json.ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    if (src->kind == SILT_TYPE_STRUCT) {
        SL_TRY(copy_fields(arena, src->fields, src->n_fields, place, n_fields, &type->fields, err));
        type->n_fields = src->n_fields;
    }
    if (src->kind == SILT_TYPE_MAP) {
        SL_TRY(copy_child(arena, src->key, SL_STR("key"), place, n_fields, &type->key, err));
        SL_TRY(copy_child(arena, src->element, SL_STR("value"), place, n_fields, &type->element, err));
    }
    if (src->kind == SILT_TYPE_ARRAY) {
        SL_TRY(copy_child(arena, src->element, SL_STR("element"), place, n_fields, &type->element, err));
    }
    *out = type;
    return SILT_OK;
}

silt_status sl_field_copy(struct sl_arena *arena, const struct silt_field *src, const struct sl_place *up,
                          size_t *n_fields, struct silt_field *out, silt_error *err)
{
    const struct sl_place place = {up, src->name, up->depth + 1};
    if (++*n_fields > SL_SCHEMA_MAX_FIELDS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the schema has more than %d columns", SL_SCHEMA_MAX_FIELDS);
    }
    out->name = sl_arena_copy(arena, src->name.ptr != NULL ? src->name : SL_STR(""));
    if (out->name.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    out->nullable = src->nullable;
    SL_TRY(copy_metadata(arena, src, out, err));
    return copy_type(arena, src->type, &place, n_fields, &out->type, err);
}

silt_status sl_schema_from_fields(const silt_env *env, const struct silt_field *fields, size_t n, silt_schema **out,
                                  silt_error *err)
{
    *out = NULL;
    silt_schema *schema = NULL;
    SL_TRY(sl_schema_new(env, &schema, err));
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    size_t n_fields = 0;
    const silt_status status = copy_fields(&schema->arena, fields, n, &top, &n_fields, &schema->root.fields, err);
    if (status != SILT_OK) {
        silt_schema_unref(schema);
        return status;
    }
    schema->root.n_fields = n;
    *out = schema;
    return SILT_OK;
}

silt_status sl_schema_project(const silt_schema *schema, const size_t *columns, size_t n, silt_schema **out,
                              silt_error *err)
{
    *out = NULL;
    const silt_env *env = schema->env;
    struct silt_field *fields = sl_alloc_array(env, n > 0 ? n : 1, sizeof *fields);
    if (fields == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = SILT_OK;
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        if (columns[i] >= schema->root.n_fields) {
            status = sl_fail(err, SILT_EINVALID, NULL, "column %zu of %zu does not exist", columns[i],
                             schema->root.n_fields);
        } else {
            fields[i] = schema->root.fields[columns[i]];
        }
    }
    if (status == SILT_OK) {
        status = sl_schema_from_fields(env, fields, n, out, err);
    }
    sl_release(env, fields, (n > 0 ? n : 1) * sizeof *fields);
    return status;
}

bool sl_field_add_metadata(struct sl_arena *arena, struct silt_field *field, struct sl_str key, struct sl_str json)
{
    struct sl_field_meta *all = sl_arena_alloc_array(arena, field->n_metadata + 1, sizeof *all);
    if (all == NULL) {
        return false;
    }
    if (field->n_metadata > 0) {
        memcpy(all, field->metadata, field->n_metadata * sizeof *all);
    }
    struct sl_field_meta *meta = &all[field->n_metadata];
    meta->key = sl_arena_copy(arena, key);
    meta->json = sl_arena_copy(arena, json);
    if (meta->key.ptr == NULL || meta->json.ptr == NULL) {
        return false;
    }
    field->metadata = all;
    field->n_metadata++;
    return true;
}
