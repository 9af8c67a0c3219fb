/*
 * Delta schemas as Arrow schemas, in the types that silt hands data out in: nested ones by their Parquet names, a variant as a
 * struct with Arrow's extension name, field ids as PARQUET:field_id.
 *
 * Called by everything that makes Arrow data of a schema. The result owns itself and may be released on any thread, as long as
 * the environment lives.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "schema/schema_int.h"

#define FORMAT_SIZE 32

/* What one exported node owns; its private_data. */
struct node {
    const silt_env *env;
    char *name;
    char *metadata;
    size_t metadata_size;
    struct ArrowSchema **children; /* pointers, then the structs, in one block */
    size_t n_children;
    char format[FORMAT_SIZE];
};

static size_t children_size(size_t n)
{
    return n * (sizeof(struct ArrowSchema *) + sizeof(struct ArrowSchema));
}

static void release_node(struct ArrowSchema *schema)
{
    struct node *node = schema->private_data;
    const silt_env *env = node->env;
    for (size_t i = 0; i < node->n_children; i++) {
        struct ArrowSchema *child = node->children[i];
        if (child->release != NULL) { /* a child may have been moved out */
            child->release(child);
        }
    }
    sl_release(env, node->children, children_size(node->n_children));
    sl_release(env, node->metadata, node->metadata_size);
    sl_strfree(env, node->name);
    sl_release(env, node, sizeof *node);
    schema->release = NULL;
}

static struct node *new_node(const silt_env *env, struct sl_str name, struct ArrowSchema *out)
{
    struct node *node = sl_alloc_zero(env, sizeof *node);
    if (node == NULL) {
        return NULL;
    }
    node->env = env;
    node->name = sl_strdup_len(env, name.ptr != NULL ? name.ptr : "", name.len);
    if (node->name == NULL) {
        sl_release(env, node, sizeof *node);
        return NULL;
    }
    memset(out, 0, sizeof *out);
    out->format = node->format;
    out->name = node->name;
    out->private_data = node;
    out->release = release_node;
    return node;
}

static bool add_children(struct node *node, size_t n, struct ArrowSchema *out)
{
    if (n == 0) {
        return true;
    }
    char *block = n <= SL_SCHEMA_MAX_FIELDS ? sl_alloc_zero(node->env, children_size(n)) : NULL;
    if (block == NULL) {
        return false;
    }
    struct ArrowSchema *structs = (void *)(block + n * sizeof(struct ArrowSchema *));
    node->children = (void *)block;
    node->n_children = n;
    for (size_t i = 0; i < n; i++) {
        node->children[i] = &structs[i];
    }
    out->children = node->children;
    out->n_children = (int64_t)n;
    return true;
}

struct pair {
    struct sl_str key;
    struct sl_str value;
};

static char *put_text(char *at, struct sl_str text)
{
    const int32_t len = (int32_t)text.len;
    memcpy(at, &len, sizeof len);
    memcpy(at + sizeof len, text.ptr, text.len);
    return at + sizeof len + text.len;
}

static bool add_metadata(struct node *node, const struct pair *pairs, int32_t n, struct ArrowSchema *out)
{
    if (n == 0) {
        return true;
    }
    size_t size = sizeof n;
    for (int32_t i = 0; i < n; i++) {
        size += 2 * sizeof n + pairs[i].key.len + pairs[i].value.len;
    }
    char *at = sl_alloc(node->env, size);
    if (at == NULL) {
        return false;
    }
    node->metadata = at;
    node->metadata_size = size;
    memcpy(at, &n, sizeof n);
    at += sizeof n;
    for (int32_t i = 0; i < n; i++) {
        at = put_text(at, pairs[i].key);
        at = put_text(at, pairs[i].value);
    }
    out->metadata = node->metadata;
    return true;
}

/* The id as decimal text, absent if the field has none. */
static struct sl_str field_id(const struct silt_field *field)
{
    int64_t id = 0;
    struct sl_str text = {NULL, 0};
    if (field != NULL) {
        text = sl_field_meta_text(field, SL_STR("parquet.field.id"));
        if (text.ptr == NULL) {
            text = sl_field_meta_text(field, SL_STR("delta.columnMapping.id"));
        }
    }
    return text.ptr != NULL && sl_str_to_i64(text, &id) ? text : (struct sl_str){NULL, 0};
}

struct spec {
    struct sl_str name;
    const struct silt_type *type;
    bool nullable;
    const struct silt_field *field; /* NULL for what has no metadata */
};

static bool export_node(const silt_env *env, const struct spec *spec, struct ArrowSchema *out);

static bool export_children(const silt_env *env, const struct spec *specs, size_t n, struct node *node,
                            struct ArrowSchema *out)
{
    if (!add_children(node, n, out)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!export_node(env, &specs[i], out->children[i])) {
            return false;
        }
    }
    return true;
}

static bool export_fields(const silt_env *env, const struct silt_type *type, struct node *node, struct ArrowSchema *out)
{
    if (!add_children(node, type->n_fields, out)) {
        return false;
    }
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        const struct spec spec = {field->name, field->type, field->nullable, field};
        if (!export_node(env, &spec, out->children[i])) {
            return false;
        }
    }
    return true;
}

static bool export_map(const silt_env *env, const struct silt_type *type, struct node *node, struct ArrowSchema *out)
{
    struct silt_field fields[2] = {{.name = SL_STR("key"), .type = type->key, .nullable = false},
                                   {.name = SL_STR("value"), .type = type->element, .nullable = type->contains_null}};
    const struct silt_type entries = {.kind = SILT_TYPE_STRUCT, .fields = fields, .n_fields = 2};
    const struct spec spec = {SL_STR("entries"), &entries, false, NULL};
    return export_children(env, &spec, 1, node, out);
}

static bool export_variant(const silt_env *env, struct node *node, struct ArrowSchema *out)
{
    static const struct silt_type binary = {.kind = SILT_TYPE_BINARY};
    const struct spec specs[2] = {{SL_STR("metadata"), &binary, false, NULL}, {SL_STR("value"), &binary, false, NULL}};
    return export_children(env, specs, 2, node, out);
}

static bool export_content(const silt_env *env, const struct silt_type *type, struct node *node,
                           struct ArrowSchema *out)
{
    const struct spec element = {SL_STR("element"), type->element, type->contains_null, NULL};
    switch (type->kind) {
    case SILT_TYPE_STRUCT: return export_fields(env, type, node, out);
    case SILT_TYPE_ARRAY: return export_children(env, &element, 1, node, out);
    case SILT_TYPE_MAP: return export_map(env, type, node, out);
    case SILT_TYPE_VARIANT: return export_variant(env, node, out);
    default: return true;
    }
}

/* False when out of memory; nothing is left behind then. */
static bool export_node(const silt_env *env, const struct spec *spec, struct ArrowSchema *out)
{
    struct node *node = new_node(env, spec->name, out);
    if (node == NULL) {
        return false;
    }
    sl_type_arrow_format(spec->type, node->format, sizeof node->format);
    out->flags = spec->nullable ? ARROW_FLAG_NULLABLE : 0;
    struct pair pairs[3];
    int32_t n = 0;
    const struct sl_str id = field_id(spec->field);
    if (id.ptr != NULL) {
        pairs[n++] = (struct pair){SL_STR("PARQUET:field_id"), id};
    }
    if (spec->type->kind == SILT_TYPE_VARIANT) {
        pairs[n++] = (struct pair){SL_STR("ARROW:extension:name"), SL_STR("arrow.parquet.variant")};
        pairs[n++] = (struct pair){SL_STR("ARROW:extension:metadata"), SL_STR("")};
    }
    if (!add_metadata(node, pairs, n, out) || !export_content(env, spec->type, node, out)) {
        out->release(out);
        return false;
    }
    return true;
}

silt_status silt_schema_to_arrow(const silt_schema *schema, struct ArrowSchema *out, silt_error *err)
{
    memset(out, 0, sizeof *out);
    const struct spec root = {SL_STR(""), &schema->root, false, NULL};
    return export_node(schema->env, &root, out) ? SILT_OK : sl_fail_nomem(err);
}

void sl_type_arrow_format(const struct silt_type *type, char *buf, size_t buf_size)
{
    static const char *const formats[] = {[SILT_TYPE_VOID] = "n",
                                          [SILT_TYPE_BOOLEAN] = "b",
                                          [SILT_TYPE_BYTE] = "c",
                                          [SILT_TYPE_SHORT] = "s",
                                          [SILT_TYPE_INTEGER] = "i",
                                          [SILT_TYPE_LONG] = "l",
                                          [SILT_TYPE_FLOAT] = "f",
                                          [SILT_TYPE_DOUBLE] = "g",
                                          [SILT_TYPE_DECIMAL] = "d",
                                          [SILT_TYPE_STRING] = "u",
                                          [SILT_TYPE_BINARY] = "z",
                                          [SILT_TYPE_DATE] = "tdD",
                                          [SILT_TYPE_TIMESTAMP] = "tsu:UTC",
                                          [SILT_TYPE_TIMESTAMP_NTZ] = "tsu:",
                                          [SILT_TYPE_VARIANT] = "+s",
                                          [SILT_TYPE_STRUCT] = "+s",
                                          [SILT_TYPE_ARRAY] = "+l",
                                          [SILT_TYPE_MAP] = "+m"};
    if (type->kind == SILT_TYPE_DECIMAL) {
        (void)snprintf(buf, buf_size, "d:%u,%u", (unsigned)type->precision, (unsigned)type->scale);
    } else {
        const size_t size = strlen(formats[type->kind]) + 1;
        memcpy(buf, formats[type->kind], size <= buf_size ? size : 0);
    }
}
