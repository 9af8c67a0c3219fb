/*
 * What a change of metadata may do without standing against transactions that do not change it: move the high-water marks of identity
 * columns. Writers say so in a tag of commitInfo; it is looked at here whether it is so. Pure. PROTOCOL.md "Identity Columns".
 */
#include "kernel/txn/identity_marks.h"

#include "base/buf.h"
#include "schema/type.h"

#define MARK "delta.identity.highWaterMark"

static bool same_lists(const struct sl_str_list *a, const struct sl_str_list *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        same = sl_str_eq(a->items[i], b->items[i]);
    }
    return same;
}

/* Keys are there once in either. */
static bool same_pairs(const struct sl_kv_list *a, const struct sl_kv_list *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        bool found = false;
        const struct sl_str value = sl_kv_get(b, a->items[i].key, &found);
        same = found && sl_str_eq(a->items[i].value, value);
    }
    return same;
}

/* Is all that a says of a field, its mark apart, said by b? */
static bool is_said(const struct silt_field *a, const struct silt_field *b)
{
    for (size_t i = 0; i < a->n_metadata; i++) {
        bool found = sl_str_eq_c(a->metadata[i].key, MARK);
        for (size_t k = 0; k < b->n_metadata && !found; k++) {
            found = sl_str_eq(a->metadata[i].key, b->metadata[k].key) &&
                    sl_str_eq(a->metadata[i].json, b->metadata[k].json);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

/* With what is said of nested fields: identity columns stand at the top. */
static bool same_types(const silt_env *env, const struct silt_type *a, const struct silt_type *b)
{
    struct sl_buf left;
    struct sl_buf right;
    sl_buf_init(&left, env);
    sl_buf_init(&right, env);
    sl_type_print_json(&left, a);
    sl_type_print_json(&right, b);
    const bool same = sl_buf_status(&left, NULL) == SILT_OK && sl_buf_status(&right, NULL) == SILT_OK &&
                      sl_str_eq(sl_buf_view(&left), sl_buf_view(&right));
    sl_buf_release(&left);
    sl_buf_release(&right);
    return same;
}

static bool same_fields(const silt_env *env, const struct silt_type *a, const struct silt_type *b)
{
    bool same = a->n_fields == b->n_fields;
    for (size_t i = 0; same && i < a->n_fields; i++) {
        const struct silt_field *x = &a->fields[i];
        const struct silt_field *y = &b->fields[i];
        same = sl_str_eq(x->name, y->name) && x->nullable == y->nullable && is_said(x, y) && is_said(y, x) &&
               same_types(env, x->type, y->type);
    }
    return same;
}

static bool same_schemas(const silt_env *env, struct sl_str a, struct sl_str b)
{
    silt_schema *left = NULL;
    silt_schema *right = NULL;
    if (a.ptr == NULL || b.ptr == NULL || sl_str_eq(a, b)) {
        return a.ptr != NULL && b.ptr != NULL;
    }
    const bool same = silt_schema_from_json(env, a.ptr, a.len, &left, NULL) == SILT_OK &&
                      silt_schema_from_json(env, b.ptr, b.len, &right, NULL) == SILT_OK &&
                      same_fields(env, &left->root, &right->root);
    silt_schema_unref(left);
    silt_schema_unref(right);
    return same;
}

bool sl_only_moves_identity_marks(const silt_env *env, const struct sl_metadata *before,
                                  const struct sl_metadata *after)
{
    return sl_str_eq(before->id, after->id) && sl_str_eq(before->format_provider, after->format_provider) &&
           same_lists(&before->partition_columns, &after->partition_columns) &&
           same_pairs(&before->configuration, &after->configuration) &&
           same_schemas(env, before->schema_string, after->schema_string);
}
