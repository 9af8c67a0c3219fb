/*
 * Schemas as the public API shows them: reference counts, accessors, look-ups.
 *
 * Called from everywhere. A sealed schema never changes, so that everything here is safe from any thread; the count is atomic.
 */
#include "silt/schema.h"

#include "base/alloc.h"
#include "schema/type.h"

silt_schema *silt_schema_ref(const silt_schema *schema)
{
    silt_schema *shared = (silt_schema *)schema;
    if (shared != NULL) {
        atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
    }
    return shared;
}

void silt_schema_unref(const silt_schema *schema)
{
    silt_schema *shared = (silt_schema *)schema;
    if (shared == NULL || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    const silt_env *env = shared->env;
    sl_strfree(env, atomic_load(&shared->printed));
    sl_arena_release(&shared->arena);
    sl_release(env, shared, sizeof *shared);
}

/* Two threads may both print it; the first one's stays. */
static const char *print_json(silt_schema *schema)
{
    struct sl_buf json;
    char *expected = NULL;
    sl_buf_init(&json, schema->env);
    sl_type_print_json(&json, &schema->root);
    char *own = sl_buf_status(&json, NULL) == SILT_OK ? sl_strdup_len(schema->env, json.data, json.len) : NULL;
    sl_buf_release(&json);
    if (own == NULL || atomic_compare_exchange_strong(&schema->printed, &expected, own)) {
        return own;
    }
    sl_strfree(schema->env, own);
    return expected;
}

const char *silt_schema_json(const silt_schema *schema)
{
    silt_schema *shared = (silt_schema *)schema;
    if (schema->json != NULL) {
        return schema->json;
    }
    const char *printed = atomic_load(&shared->printed);
    return printed != NULL ? printed : print_json(shared);
}

size_t silt_schema_field_count(const silt_schema *schema)
{
    return schema->root.n_fields;
}

const silt_field *silt_schema_field(const silt_schema *schema, size_t index)
{
    return silt_type_field(&schema->root, index);
}

const silt_field *silt_schema_find(const silt_schema *schema, const char *name)
{
    return sl_type_find(&schema->root, sl_str_from(name), NULL);
}

const char *silt_field_name(const silt_field *field)
{
    return field->name.ptr;
}

const silt_type *silt_field_type(const silt_field *field)
{
    return field->type;
}

bool silt_field_nullable(const silt_field *field)
{
    return field->nullable;
}

static const struct sl_field_meta *find_metadata(const struct silt_field *field, struct sl_str key)
{
    for (size_t i = 0; i < field->n_metadata; i++) {
        if (sl_str_eq(field->metadata[i].key, key)) {
            return &field->metadata[i];
        }
    }
    return NULL;
}

const char *silt_field_metadata(const silt_field *field, const char *key)
{
    const struct sl_field_meta *meta = find_metadata(field, sl_str_from(key));
    return meta != NULL ? meta->json.ptr : NULL;
}

/* Written as the type's name by Spark, as metadata by the protocol's proposal (its key is the field's name, perhaps an older one). */
bool sl_field_is_collated(const struct silt_field *field)
{
    return field->type->kind == SILT_TYPE_STRING &&
           (field->type->json.ptr != NULL || find_metadata(field, SL_STR("__COLLATIONS")) != NULL);
}

silt_type_kind silt_type_get_kind(const silt_type *type)
{
    return type->kind;
}

uint8_t silt_type_precision(const silt_type *type)
{
    return type->precision;
}

uint8_t silt_type_scale(const silt_type *type)
{
    return type->scale;
}

size_t silt_type_field_count(const silt_type *type)
{
    return type->n_fields;
}

const silt_field *silt_type_field(const silt_type *type, size_t index)
{
    return index < type->n_fields ? &type->fields[index] : NULL;
}

const silt_type *silt_type_element(const silt_type *type)
{
    return type->kind == SILT_TYPE_ARRAY ? type->element : NULL;
}

bool silt_type_contains_null(const silt_type *type)
{
    return type->contains_null;
}

const silt_type *silt_type_key(const silt_type *type)
{
    return type->key;
}

const silt_type *silt_type_value(const silt_type *type)
{
    return type->kind == SILT_TYPE_MAP ? type->element : NULL;
}

struct sl_str sl_field_meta_text(const struct silt_field *field, struct sl_str key)
{
    const struct sl_field_meta *meta = find_metadata(field, key);
    if (meta == NULL) {
        return (struct sl_str){NULL, 0};
    }
    if (meta->text.ptr != NULL) {
        return meta->text;
    }
    /* Fields that were made by hand have no decoded text yet; a string without escapes needs none. */
    const struct sl_str json = meta->json;
    if (json.len >= 2 && json.ptr[0] == '"' && sl_str_find(json, SL_STR("\\")) == SIZE_MAX) {
        return sl_str_sub(json, 1, json.len - 1);
    }
    return json;
}

const struct silt_field *sl_type_find(const struct silt_type *type, struct sl_str name, size_t *index)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        if (sl_str_eq_nocase(type->fields[i].name, name)) {
            if (index != NULL) {
                *index = i;
            }
            return &type->fields[i];
        }
    }
    return NULL;
}

const struct silt_field *sl_schema_find_path(const silt_schema *schema, const struct sl_str *path, size_t n)
{
    const struct silt_type *type = &schema->root;
    const struct silt_field *field = NULL;
    for (size_t i = 0; i < n; i++) {
        field = type->kind == SILT_TYPE_STRUCT ? sl_type_find(type, path[i], NULL) : NULL;
        if (field == NULL) {
            return NULL;
        }
        type = field->type;
    }
    return field;
}

/* Recursion is bounded by the depth of schemas. */
bool sl_type_holds(const struct silt_type *type, silt_type_kind kind)
{
    if (type->kind == kind) {
        return true;
    }
    switch (type->kind) {
    case SILT_TYPE_ARRAY: return sl_type_holds(type->element, kind);
    case SILT_TYPE_MAP: return sl_type_holds(type->key, kind) || sl_type_holds(type->element, kind);
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < type->n_fields; i++) {
            if (sl_type_holds(type->fields[i].type, kind)) {
                return true;
            }
        }
        return false;
    default: return false;
    }
}

size_t sl_type_list_depth(const struct silt_type *type)
{
    size_t deepest = 0;
    for (size_t i = 0; type->kind == SILT_TYPE_STRUCT && i < type->n_fields; i++) {
        const size_t depth = sl_type_list_depth(type->fields[i].type);
        deepest = depth > deepest ? depth : deepest;
    }
    if (type->kind == SILT_TYPE_MAP) {
        deepest = sl_type_list_depth(type->key);
    }
    if (type->kind == SILT_TYPE_MAP || type->kind == SILT_TYPE_ARRAY) {
        const size_t depth = sl_type_list_depth(type->element);
        deepest = (depth > deepest ? depth : deepest) + 1;
    }
    return deepest;
}

bool sl_type_is_nested(const struct silt_type *type)
{
    return type->kind == SILT_TYPE_STRUCT || type->kind == SILT_TYPE_ARRAY || type->kind == SILT_TYPE_MAP;
}

static bool fields_equal(const struct silt_type *a, const struct silt_type *b, bool compare_nullability)
{
    if (a->n_fields != b->n_fields) {
        return false;
    }
    for (size_t i = 0; i < a->n_fields; i++) {
        const struct silt_field *x = &a->fields[i];
        const struct silt_field *y = &b->fields[i];
        if (!sl_str_eq(x->name, y->name) || (compare_nullability && x->nullable != y->nullable) ||
            !sl_type_equal(x->type, y->type, compare_nullability)) {
            return false;
        }
    }
    return true;
}

bool sl_type_equal(const struct silt_type *a, const struct silt_type *b, bool compare_nullability)
{
    if (a == b) {
        return true;
    }
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case SILT_TYPE_DECIMAL: return a->precision == b->precision && a->scale == b->scale;
    case SILT_TYPE_STRUCT: return fields_equal(a, b, compare_nullability);
    case SILT_TYPE_MAP:
        if (!sl_type_equal(a->key, b->key, compare_nullability)) {
            return false;
        }
        /* fall through: the value is compared as an element is */
        __attribute__((fallthrough));
    case SILT_TYPE_ARRAY:
        return (!compare_nullability || a->contains_null == b->contains_null) &&
               sl_type_equal(a->element, b->element, compare_nullability);
    default: return sl_str_eq(a->json, b->json); /* a collated string is another type than a plain one */
    }
}

size_t sl_type_leaf_count(const struct silt_type *type)
{
    if (type->kind != SILT_TYPE_STRUCT) {
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < type->n_fields; i++) {
        n += sl_type_leaf_count(type->fields[i].type);
    }
    return n;
}

size_t sl_schema_leaf_count(const silt_schema *schema)
{
    return sl_type_leaf_count(&schema->root);
}
