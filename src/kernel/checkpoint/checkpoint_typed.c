/*
 * Typed columns of adds; see checkpoint_typed.h. Statistics are read by the reader of scan planning, which knows the texts of one writer
 * by their shape; partition values mostly are those of the row before.
 */
#include "kernel/checkpoint/checkpoint_typed.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/scan/stats_reader.h"
#include "schema/type_change.h"
#include "schema/value.h"

/* Memory of values of rows is given back when it has grown to this. */
#define ROW_ARENA_MAX ((size_t)256 * 1024)

/* ---- statistics ---- */

enum section {
    MIN_VALUES,
    MAX_VALUES,
    NULL_COUNT,
    N_SECTIONS
};

/* A struct of a section, in the shape of the columns; or a leaf. */
struct node {
    struct sl_arrow_builder *builder;
    bool is_leaf;
    size_t leaf;
    size_t n;
    struct node *children;
};

struct sl_typed_stats {
    const silt_env *env;
    struct sl_arena arena;
    struct sl_arena scratch;
    struct sl_arrow_builder *builder;
    struct sl_arrow_builder *num_records, *tight_bounds;
    struct node sections[N_SECTIONS];
    bool has_section[N_SECTIONS];
    struct sl_vec columns; /* struct sl_skip_column */
    bool *is_vague;        /* [column]: its bounds may have been written in a type that loses them */
    struct sl_bounds *bounds;
    struct sl_stats_reader *reader;
};

/* A float's shortest text is no exact value of the type that the column has now. */
static silt_status find_vague(struct sl_typed_stats *typed, const struct silt_field *field, bool *out, silt_error *err)
{
    const struct silt_type *const *earlier = NULL;
    size_t n = 0;
    *out = false;
    SL_TRY(sl_field_earlier_types(&typed->arena, field, &earlier, &n, err));
    for (size_t i = 0; i < n; i++) {
        *out = *out || earlier[i]->kind == SILT_TYPE_FLOAT;
    }
    return SILT_OK;
}

static silt_status add_leaf(struct sl_typed_stats *typed, const struct silt_field *field, const struct sl_str *path,
                            size_t path_len, silt_error *err)
{
    struct sl_skip_column *column = sl_vec_push(&typed->columns);
    struct sl_str *copy = sl_arena_alloc_array(&typed->arena, path_len, sizeof(*copy));
    if (column == NULL || copy == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(copy, path, path_len * sizeof(*copy));
    *column = (struct sl_skip_column){.path = copy, .path_len = path_len, .type = field->type, .physical_path = copy};
    return SILT_OK;
}

static silt_status add_leaves(struct sl_typed_stats *typed, const struct silt_type *type, struct sl_str *path,
                              size_t path_len, silt_error *err)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        path[path_len] = field->name;
        if (field->type->kind == SILT_TYPE_STRUCT) {
            SL_TRY(add_leaves(typed, field->type, path, path_len + 1, err)); /* as deep as a schema is */
        } else {
            SL_TRY(add_leaf(typed, field, path, path_len + 1, err));
        }
    }
    return SILT_OK;
}

static size_t find_child(const struct ArrowSchema *schema, struct sl_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (sl_str_eq_c(name, schema->children[i]->name)) {
            return (size_t)i;
        }
    }
    return SIZE_MAX;
}

/* Columns that the section lacks, since they have no bounds, are passed over; *leaf counts all. */
static silt_status bind(struct sl_typed_stats *typed, const struct silt_type *type, const struct ArrowSchema *schema,
                        struct node *node, size_t *leaf, silt_error *err)
{
    node->children = sl_arena_alloc_array(&typed->arena, type->n_fields + 1, sizeof(*node->children));
    if (node->children == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        const size_t at = schema != NULL ? find_child(schema, field->name) : SIZE_MAX;
        struct node *child = at != SIZE_MAX ? &node->children[node->n++] : NULL;
        struct node nothing = {0};
        if (child != NULL) {
            child->builder = sl_arrow_builder_child(node->builder, at);
        }
        if (field->type->kind == SILT_TYPE_STRUCT) {
            SL_TRY(bind(typed, field->type, child != NULL ? schema->children[at] : NULL,
                        child != NULL ? child : &nothing, leaf, err));
        } else {
            if (child != NULL) {
                child->is_leaf = true;
                child->leaf = *leaf;
            }
            (*leaf)++;
        }
    }
    return SILT_OK;
}

static silt_status bind_all(struct sl_typed_stats *typed, const silt_schema *columns, const struct ArrowSchema *schema,
                            silt_error *err)
{
    static const char *const names[] = {"minValues", "maxValues", "nullCount"};
    struct sl_str path[SL_SCHEMA_MAX_DEPTH + 1];
    typed->num_records = sl_arrow_builder_child(typed->builder, find_child(schema, SL_STR("numRecords")));
    typed->tight_bounds = sl_arrow_builder_child(typed->builder, find_child(schema, SL_STR("tightBounds")));
    SL_TRY(add_leaves(typed, &columns->root, path, 0, err));
    for (size_t s = 0; s < N_SECTIONS; s++) {
        const size_t at = find_child(schema, sl_str_from(names[s]));
        size_t leaf = 0;
        typed->has_section[s] = at != SIZE_MAX;
        if (typed->has_section[s]) {
            typed->sections[s].builder = sl_arrow_builder_child(typed->builder, at);
            SL_TRY(bind(typed, &columns->root, schema->children[at], &typed->sections[s], &leaf, err));
        }
    }
    typed->bounds = sl_arena_alloc_array(&typed->arena, typed->columns.len + 1, sizeof(*typed->bounds));
    return typed->bounds != NULL && typed->num_records != NULL && typed->tight_bounds != NULL ? SILT_OK
                                                                                              : sl_fail_nomem(err);
}

/* In the order of the leaves. */
static silt_status find_all_vague(struct sl_typed_stats *typed, const struct silt_type *type, size_t *leaf,
                                  silt_error *err)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        if (type->fields[i].type->kind == SILT_TYPE_STRUCT) {
            SL_TRY(find_all_vague(typed, type->fields[i].type, leaf, err)); /* as deep as a schema is */
        } else {
            SL_TRY(find_vague(typed, &type->fields[i], &typed->is_vague[*leaf], err));
            (*leaf)++;
        }
    }
    return SILT_OK;
}

silt_status sl_typed_stats_new(const silt_env *env, const silt_schema *columns, const struct ArrowSchema *schema,
                               struct sl_typed_stats **out, silt_error *err)
{
    size_t leaf = 0;
    *out = NULL;
    struct sl_typed_stats *typed = sl_alloc_zero(env, sizeof(*typed));
    if (typed == NULL) {
        return sl_fail_nomem(err);
    }
    typed->env = env;
    sl_arena_init(&typed->arena, env);
    sl_arena_init(&typed->scratch, env);
    sl_vec_init(&typed->columns, env, sizeof(struct sl_skip_column));
    silt_status status = sl_arrow_builder_new(env, schema, &typed->builder, err);
    if (status == SILT_OK) {
        status = bind_all(typed, columns, schema, err);
    }
    if (status == SILT_OK) {
        typed->is_vague = sl_arena_alloc_array(&typed->arena, typed->columns.len + 1, sizeof(*typed->is_vague));
        status = typed->is_vague != NULL ? find_all_vague(typed, &columns->root, &leaf, err) : sl_fail_nomem(err);
    }
    if (status == SILT_OK) {
        status = sl_stats_reader_new(env, typed->columns.data, typed->columns.len, &typed->reader, err);
    }
    if (status != SILT_OK) {
        sl_typed_stats_free(typed);
        return status;
    }
    *out = typed;
    return SILT_OK;
}

void sl_typed_stats_free(struct sl_typed_stats *typed)
{
    if (typed != NULL) {
        sl_stats_reader_free(typed->reader);
        sl_arrow_builder_free(typed->builder);
        sl_vec_release(&typed->columns);
        sl_arena_release(&typed->scratch);
        sl_arena_release(&typed->arena);
        sl_release(typed->env, typed, sizeof(*typed));
    }
}

static silt_status put_leaf(const struct sl_typed_stats *typed, enum section section, const struct node *leaf,
                            silt_error *err)
{
    const struct sl_bounds *bounds = &typed->bounds[leaf->leaf];
    const bool has = section == NULL_COUNT   ? bounds->has_null_count
                     : section == MIN_VALUES ? bounds->has_min && !typed->is_vague[leaf->leaf]
                                             : bounds->has_max && !typed->is_vague[leaf->leaf];
    if (!has) {
        return sl_arrow_append_null(leaf->builder, err);
    }
    return section == NULL_COUNT
               ? sl_arrow_append_i64(leaf->builder, bounds->null_count, err)
               : sl_value_append(leaf->builder, section == MIN_VALUES ? &bounds->min : &bounds->max, err);
}

static silt_status put_node(const struct sl_typed_stats *typed, enum section section, const struct node *node,
                            silt_error *err)
{
    for (size_t i = 0; i < node->n; i++) {
        const struct node *child = &node->children[i];
        SL_TRY(child->is_leaf ? put_leaf(typed, section, child, err) : put_node(typed, section, child, err));
    }
    return sl_arrow_append_nested(node->builder, err);
}

silt_status sl_typed_stats_put(struct sl_typed_stats *typed, struct sl_str text, silt_error *err)
{
    struct sl_claims claims = {0};
    if (text.ptr == NULL) {
        return sl_arrow_append_null(typed->builder, err);
    }
    if (typed->scratch.total_bytes > ROW_ARENA_MAX) {
        sl_arena_release(&typed->scratch);
    }
    memset(typed->bounds, 0, typed->columns.len * sizeof(*typed->bounds));
    SL_TRY(sl_stats_reader_claims(typed->reader, text, &typed->scratch, &claims, typed->bounds, err));
    SL_TRY(claims.has_rows ? sl_arrow_append_i64(typed->num_records, claims.rows, err)
                           : sl_arrow_append_null(typed->num_records, err));
    SL_TRY(claims.tightness != SL_TIGHT_UNSAID
               ? sl_arrow_append_i64(typed->tight_bounds, claims.tightness == SL_TIGHT, err)
               : sl_arrow_append_null(typed->tight_bounds, err));
    for (int s = 0; s < N_SECTIONS; s++) {
        if (typed->has_section[s]) {
            SL_TRY(put_node(typed, (enum section)s, &typed->sections[s], err));
        }
    }
    return sl_arrow_append_nested(typed->builder, err);
}

silt_status sl_typed_stats_take(struct sl_typed_stats *typed, struct ArrowArray *out, silt_error *err)
{
    return sl_arrow_builder_finish(typed->builder, out, err);
}

/* ---- partition values ---- */

struct sl_typed_values {
    const silt_env *env;
    struct sl_arrow_builder *builder;
    const silt_schema *columns;
    struct sl_arena arena; /* of the values of the row before */
    struct sl_str *texts;
    silt_value *values;
};

silt_status sl_typed_values_new(const silt_env *env, const silt_schema *columns, const struct ArrowSchema *schema,
                                struct sl_typed_values **out, silt_error *err)
{
    *out = NULL;
    struct sl_typed_values *typed = sl_alloc_zero(env, sizeof(*typed));
    if (typed == NULL) {
        return sl_fail_nomem(err);
    }
    typed->env = env;
    typed->columns = columns;
    sl_arena_init(&typed->arena, env);
    const size_t n = columns->root.n_fields;
    typed->texts = sl_alloc_zero(env, (n + 1) * sizeof(*typed->texts));
    typed->values = sl_alloc_zero(env, (n + 1) * sizeof(*typed->values));
    silt_status status = typed->texts != NULL && typed->values != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = sl_arrow_builder_new(env, schema, &typed->builder, err);
    }
    for (size_t i = 0; status == SILT_OK && i < n; i++) {
        typed->values[i] = sl_value_null(columns->root.fields[i].type->kind);
    }
    if (status != SILT_OK) {
        sl_typed_values_free(typed);
        return status;
    }
    *out = typed;
    return SILT_OK;
}

void sl_typed_values_free(struct sl_typed_values *typed)
{
    if (typed != NULL) {
        const size_t n = typed->columns->root.n_fields;
        sl_arrow_builder_free(typed->builder);
        sl_arena_release(&typed->arena);
        sl_release(typed->env, typed->texts, (n + 1) * sizeof(*typed->texts));
        sl_release(typed->env, typed->values, (n + 1) * sizeof(*typed->values));
        sl_release(typed->env, typed, sizeof(*typed));
    }
}

static bool is_same(struct sl_str a, struct sl_str b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && (a.ptr == NULL || sl_str_eq(a, b));
}

/* Parses the texts of a row, which become those to compare the next one with. */
static silt_status parse_row(struct sl_typed_values *typed, const struct sl_kv_list *values, silt_error *err)
{
    const struct silt_type *root = &typed->columns->root;
    sl_arena_release(&typed->arena);
    for (size_t i = 0; i < root->n_fields; i++) {
        const struct sl_str text = sl_kv_get(values, root->fields[i].name, NULL);
        typed->values[i] = sl_value_null(root->fields[i].type->kind);
        typed->texts[i] = (struct sl_str){NULL, 0};
        if (text.ptr == NULL) {
            continue;
        }
        typed->texts[i] = sl_arena_copy(&typed->arena, text);
        if (typed->texts[i].ptr == NULL) {
            return sl_fail_nomem(err);
        }
        silt_value parsed;
        const silt_status status = sl_partition_value_parse(&typed->arena, typed->texts[i], root->fields[i].type,
                                                            &parsed, NULL, NULL);
        if (status == SILT_ENOMEM) {
            return sl_fail_nomem(err);
        }
        if (status == SILT_OK) {
            typed->values[i] = parsed;
        }
    }
    return SILT_OK;
}

silt_status sl_typed_values_put(struct sl_typed_values *typed, const struct sl_kv_list *values, silt_error *err)
{
    const struct silt_type *root = &typed->columns->root;
    bool same = true;
    for (size_t i = 0; i < root->n_fields && same; i++) {
        same = is_same(sl_kv_get(values, root->fields[i].name, NULL), typed->texts[i]);
    }
    if (!same) {
        SL_TRY(parse_row(typed, values, err));
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        SL_TRY(sl_value_append(sl_arrow_builder_child(typed->builder, i), &typed->values[i], err));
    }
    return sl_arrow_append_nested(typed->builder, err);
}

silt_status sl_typed_values_take(struct sl_typed_values *typed, struct ArrowArray *out, silt_error *err)
{
    return sl_arrow_builder_finish(typed->builder, out, err);
}
