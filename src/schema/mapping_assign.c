/*
 * Physical names and ids for the columns of a table that has, or gets, column mapping (PROTOCOL.md "Writer Requirements for Column
 * Mapping"; Delta Spark where it is silent). Called once a change of schema or mode; column_mapping.c reads what is written here.
 *
 * Pure but for random names; any thread.
 */
#include "schema/column_mapping.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/uuid.h"
#include "json/json.h"
#include "json/writer.h"
#include "schema/schema_int.h"
#include "schema/type_change.h"

#define KEY_PREFIX "delta.columnMapping."
#define KEY_NAME SL_STR(KEY_PREFIX "physicalName")
#define KEY_ID SL_STR(KEY_PREFIX "id")
#define KEY_NESTED_IDS SL_STR(KEY_PREFIX "nested.ids")

struct assigner {
    const struct sl_mapping_assignment *how;
    const silt_env *env;
    struct sl_arena arena;
    int64_t max_id;
    silt_error *err;
};

static const struct sl_field_meta *find_meta(const struct silt_field *field, struct sl_str key)
{
    for (size_t i = 0; field != NULL && i < field->n_metadata; i++) {
        if (sl_str_eq(field->metadata[i].key, key)) {
            return &field->metadata[i];
        }
    }
    return NULL;
}

static bool is_mapping_key(struct sl_str key)
{
    return sl_str_eq(key, KEY_NAME) || sl_str_eq(key, KEY_ID) || sl_str_eq(key, KEY_NESTED_IDS) ||
           sl_str_eq(key, SL_STR("parquet.field.id")) || sl_str_eq(key, SL_STR("parquet.field.nested.ids"));
}

/* ---- ids that are taken ---- */

static void note_id(struct assigner *a, const sl_json *json)
{
    int64_t id = 0;
    if (sl_json_to_i64(json, &id) && id > a->max_id) {
        a->max_id = id;
    }
}

static silt_status note_nested(struct assigner *a, struct sl_str text)
{
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(a->env, text, &doc, a->err));
    struct sl_json_iter iter = sl_json_iterate(sl_json_root(doc));
    struct sl_str key;
    const sl_json *value = NULL;
    while (sl_json_next(&iter, &key, &value)) {
        note_id(a, value);
    }
    sl_json_free(doc);
    return SILT_OK;
}

/* The depth of a schema is bounded when it is made, and with it the recursions here. */
static silt_status note_type(struct assigner *a, const struct silt_type *type)
{
    for (size_t i = 0; type->kind == SILT_TYPE_STRUCT && i < type->n_fields; i++) {
        const struct sl_field_meta *id = find_meta(&type->fields[i], KEY_ID);
        const struct sl_field_meta *nested = find_meta(&type->fields[i], KEY_NESTED_IDS);
        int64_t number = 0;
        if (id != NULL && sl_str_to_i64(id->json, &number) && number > a->max_id) {
            a->max_id = number;
        }
        SL_TRY(nested != NULL ? note_nested(a, nested->json) : SILT_OK);
        SL_TRY(note_type(a, type->fields[i].type));
    }
    if (type->kind == SILT_TYPE_MAP) {
        SL_TRY(note_type(a, type->key));
    }
    return type->kind == SILT_TYPE_MAP || type->kind == SILT_TYPE_ARRAY ? note_type(a, type->element) : SILT_OK;
}

static silt_status next_id(struct assigner *a, int64_t *out)
{
    if (a->max_id >= INT32_MAX) {
        return sl_fail(a->err, SILT_ELIMIT, NULL,
                       "the table has used up its column ids (delta.columnMapping.maxColumnId)");
    }
    *out = ++a->max_id;
    return SILT_OK;
}

/* ---- one field ---- */

static silt_status set_meta(struct assigner *a, struct silt_field *field, struct sl_str key, const struct sl_buf *json)
{
    SL_TRY(sl_buf_status(json, a->err));
    const struct sl_str text = sl_arena_copy(&a->arena, sl_buf_view(json));
    if (text.ptr == NULL) {
        return sl_fail_nomem(a->err);
    }
    for (size_t i = 0; i < field->n_metadata; i++) {
        if (sl_str_eq(field->metadata[i].key, key)) {
            field->metadata[i].json = text; /* the array is the assigner's own */
            return SILT_OK;
        }
    }
    return sl_field_add_metadata(&a->arena, field, key, text) ? SILT_OK : sl_fail_nomem(a->err);
}

/* Is the new field the old column, by its type? */
static bool continues(const struct silt_type *from, const struct silt_type *to)
{
    return sl_type_is_nested(from) ? from->kind == to->kind
                                   : sl_type_equal(from, to, false) || sl_type_widens(from, to);
}

static silt_status give_id(struct assigner *a, struct silt_field *field, const struct silt_field *old)
{
    const struct sl_field_meta *kept = find_meta(field, KEY_ID) != NULL ? NULL : find_meta(old, KEY_ID);
    if (find_meta(field, KEY_ID) != NULL) {
        return SILT_OK;
    }
    struct sl_buf json;
    sl_buf_init(&json, a->env);
    silt_status status = SILT_OK;
    if (kept != NULL) {
        sl_buf_put_str(&json, kept->json);
    } else {
        int64_t id = 0;
        status = next_id(a, &id);
        sl_buf_printf(&json, "%lld", (long long)id);
    }
    if (status == SILT_OK) {
        status = set_meta(a, field, KEY_ID, &json);
    }
    sl_buf_release(&json);
    return status;
}

static silt_status choose_name(struct assigner *a, const struct silt_field *old, struct sl_str *out)
{
    const struct sl_field_meta *kept = find_meta(old, KEY_NAME);
    if (kept != NULL) {
        *out = kept->text;
        return SILT_OK;
    }
    if (old != NULL && a->how->before_mode == SL_MAPPING_NONE) {
        *out = old->name;
        return SILT_OK;
    }
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(a->env, uuid, a->err));
    *out = sl_str_from(sl_arena_printf(&a->arena, "col-%s", uuid));
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(a->err);
}

/* *name is the field's physical name, its own or the one it gets. */
static silt_status give_name(struct assigner *a, struct silt_field *field, const struct silt_field *old,
                             struct sl_str *name)
{
    const struct sl_field_meta *own = find_meta(field, KEY_NAME);
    if (own != NULL) {
        *name = own->text;
        return SILT_OK;
    }
    SL_TRY(choose_name(a, old, name));
    struct sl_buf json;
    struct sl_json_writer w;
    sl_buf_init(&json, a->env);
    sl_json_writer_init(&w, &json);
    sl_json_put_str(&w, *name);
    const silt_status status = set_meta(a, field, KEY_NAME, &json);
    sl_buf_release(&json);
    return status;
}

/* ---- ids of elements, keys and values ---- */

struct nested_ids {
    struct assigner *a;
    const sl_json *kept; /* ids that are given already; NULL: none */
    struct sl_json_writer w;
};

static silt_status put_nested(struct nested_ids *n, const struct silt_type *type, struct sl_str path);

static silt_status put_part(struct nested_ids *n, const struct silt_type *type, struct sl_str path, const char *part)
{
    const char *text = sl_arena_printf(&n->a->arena, "%.*s.%s", SL_FMT(path), part);
    int64_t id = 0;
    if (text == NULL) {
        return sl_fail_nomem(n->a->err);
    }
    if (n->kept == NULL || !sl_json_to_i64(sl_json_member(n->kept, text), &id)) {
        SL_TRY(next_id(n->a, &id));
    }
    sl_json_key_c(&n->w, text);
    sl_json_put_i64(&n->w, id);
    return put_nested(n, type, sl_str_from(text));
}

static silt_status put_nested(struct nested_ids *n, const struct silt_type *type, struct sl_str path)
{
    switch (type->kind) {
    case SILT_TYPE_ARRAY: return put_part(n, type->element, path, "element");
    case SILT_TYPE_MAP: SL_TRY(put_part(n, type->key, path, "key")); return put_part(n, type->element, path, "value");
    default: return SILT_OK; /* fields of a struct have ids of their own */
    }
}

static silt_status give_nested_ids(struct assigner *a, struct silt_field *field, const struct silt_field *old,
                                   struct sl_str name)
{
    if (!a->how->nested_ids || (field->type->kind != SILT_TYPE_ARRAY && field->type->kind != SILT_TYPE_MAP)) {
        return SILT_OK;
    }
    const struct sl_field_meta *kept = find_meta(field, KEY_NESTED_IDS);
    kept = kept != NULL ? kept : find_meta(old, KEY_NESTED_IDS);
    struct sl_json_doc *doc = NULL;
    SL_TRY(kept != NULL ? sl_json_parse(a->env, kept->json, &doc, a->err) : SILT_OK);
    struct sl_buf json;
    sl_buf_init(&json, a->env);
    struct nested_ids ids = {.a = a, .kept = doc != NULL ? sl_json_root(doc) : NULL};
    sl_json_writer_init(&ids.w, &json);
    sl_json_begin_object(&ids.w);
    silt_status status = put_nested(&ids, field->type, name);
    sl_json_end_object(&ids.w);
    if (status == SILT_OK) {
        status = set_meta(a, field, KEY_NESTED_IDS, &json);
    }
    sl_buf_release(&json);
    sl_json_free(doc);
    return status;
}

/* ---- the walk ---- */

static silt_status assign_type(struct assigner *a, const struct silt_type *type, const struct silt_type *old,
                               const struct silt_type **out);

static silt_status assign_field(struct assigner *a, const struct silt_field *field, const struct silt_type *old_struct,
                                struct silt_field *out)
{
    const struct silt_field *old = old_struct != NULL ? sl_type_find(old_struct, field->name, NULL) : NULL;
    if (old != NULL && !continues(old->type, field->type)) {
        old = NULL;
    }
    *out = *field;
    out->metadata = sl_arena_alloc_array(&a->arena, field->n_metadata + 1, sizeof(*out->metadata));
    if (out->metadata == NULL) {
        return sl_fail_nomem(a->err);
    }
    for (size_t i = 0; i < field->n_metadata; i++) {
        out->metadata[i] = field->metadata[i];
    }
    struct sl_str name;
    SL_TRY(give_id(a, out, old));
    SL_TRY(give_name(a, out, old, &name));
    SL_TRY(give_nested_ids(a, out, old, name));
    return assign_type(a, field->type, old != NULL ? old->type : NULL, &out->type);
}

static silt_status assign_fields(struct assigner *a, const struct silt_type *type, const struct silt_type *old,
                                 struct silt_field **out)
{
    *out = sl_arena_alloc_array(&a->arena, type->n_fields + 1, sizeof(**out));
    if (*out == NULL) {
        return sl_fail_nomem(a->err);
    }
    for (size_t i = 0; i < type->n_fields; i++) {
        SL_TRY(assign_field(a, &type->fields[i], old, &(*out)[i]));
    }
    return SILT_OK;
}

static silt_status assign_type(struct assigner *a, const struct silt_type *type, const struct silt_type *old,
                               const struct silt_type **out)
{
    *out = type;
    if (!sl_type_is_nested(type)) {
        return SILT_OK;
    }
    old = old != NULL && old->kind == type->kind ? old : NULL;
    struct silt_type *made = sl_arena_alloc(&a->arena, sizeof(*made));
    if (made == NULL) {
        return sl_fail_nomem(a->err);
    }
    *made = *type;
    *out = made;
    if (type->kind == SILT_TYPE_STRUCT) {
        return assign_fields(a, type, old, &made->fields);
    }
    if (type->kind == SILT_TYPE_MAP) {
        SL_TRY(assign_type(a, type->key, old != NULL ? old->key : NULL, &made->key));
    }
    return assign_type(a, type->element, old != NULL ? old->element : NULL, &made->element);
}

silt_status sl_schema_assign_mapping(const silt_schema *schema, const struct sl_mapping_assignment *how,
                                     silt_schema **out, int64_t *max_id, silt_error *err)
{
    *out = NULL;
    struct assigner a = {.how = how, .env = schema->env, .max_id = how->max_id, .err = err};
    sl_arena_init(&a.arena, schema->env);
    silt_status status = note_type(&a, &schema->root);
    if (status == SILT_OK && how->before != NULL) {
        status = note_type(&a, &how->before->root);
    }
    struct silt_field *fields = NULL;
    if (status == SILT_OK) {
        status = assign_fields(&a, &schema->root, how->before != NULL ? &how->before->root : NULL, &fields);
    }
    if (status == SILT_OK) {
        status = sl_schema_from_fields(schema->env, fields, schema->root.n_fields, out, err);
    }
    *max_id = a.max_id;
    sl_arena_release(&a.arena);
    return status;
}

/* ---- taking it away ---- */

static bool type_has_mapping(const struct silt_type *type)
{
    for (size_t i = 0; type->kind == SILT_TYPE_STRUCT && i < type->n_fields; i++) {
        for (size_t k = 0; k < type->fields[i].n_metadata; k++) {
            if (is_mapping_key(type->fields[i].metadata[k].key)) {
                return true;
            }
        }
        if (type_has_mapping(type->fields[i].type)) {
            return true;
        }
    }
    return (type->kind == SILT_TYPE_MAP && type_has_mapping(type->key)) ||
           ((type->kind == SILT_TYPE_MAP || type->kind == SILT_TYPE_ARRAY) && type_has_mapping(type->element));
}

bool sl_schema_has_mapping(const silt_schema *schema)
{
    return type_has_mapping(&schema->root);
}

static bool drop_type(struct sl_arena *arena, const struct silt_type *type, const struct silt_type **out);

static bool drop_field(struct sl_arena *arena, const struct silt_field *field, struct silt_field *out)
{
    *out = *field;
    out->metadata = sl_arena_alloc_array(arena, field->n_metadata + 1, sizeof(*out->metadata));
    if (out->metadata == NULL) {
        return false;
    }
    out->n_metadata = 0;
    for (size_t i = 0; i < field->n_metadata; i++) {
        if (!is_mapping_key(field->metadata[i].key)) {
            out->metadata[out->n_metadata++] = field->metadata[i];
        }
    }
    return drop_type(arena, field->type, &out->type);
}

static struct silt_field *drop_fields(struct sl_arena *arena, const struct silt_type *type)
{
    struct silt_field *fields = sl_arena_alloc_array(arena, type->n_fields + 1, sizeof(*fields));
    for (size_t i = 0; fields != NULL && i < type->n_fields; i++) {
        if (!drop_field(arena, &type->fields[i], &fields[i])) {
            return NULL;
        }
    }
    return fields;
}

static bool drop_type(struct sl_arena *arena, const struct silt_type *type, const struct silt_type **out)
{
    *out = type;
    if (!sl_type_is_nested(type)) {
        return true;
    }
    struct silt_type *made = sl_arena_alloc(arena, sizeof(*made));
    if (made == NULL) {
        return false;
    }
    *made = *type;
    *out = made;
    if (type->kind == SILT_TYPE_STRUCT) {
        made->fields = drop_fields(arena, type);
        return made->fields != NULL;
    }
    return (type->kind != SILT_TYPE_MAP || drop_type(arena, type->key, &made->key)) &&
           drop_type(arena, type->element, &made->element);
}

silt_status sl_schema_drop_mapping(const silt_schema *schema, silt_schema **out, silt_error *err)
{
    *out = NULL;
    if (!sl_schema_has_mapping(schema)) {
        *out = silt_schema_ref(schema);
        return SILT_OK;
    }
    struct sl_arena arena;
    sl_arena_init(&arena, schema->env);
    struct silt_field *fields = drop_fields(&arena, &schema->root);
    const silt_status status = fields != NULL
                                   ? sl_schema_from_fields(schema->env, fields, schema->root.n_fields, out, err)
                                   : sl_fail_nomem(err);
    sl_arena_release(&arena);
    return status;
}
