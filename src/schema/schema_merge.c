/*
 * Merging of schemas, as Delta Spark's mergeSchema does it. Called by transactions that change a table's schema together with
 * its data. The depth of a schema is bounded when it is made, and with it the recursions here. Pure.
 */
#include "schema/schema_merge.h"

#include "base/error.h"
#include "json/writer.h"
#include "schema/type_change.h"

#define TYPE_CHANGES SL_STR("delta.typeChanges")

struct merge {
    struct sl_arena arena;
    bool widen;
    bool changed;
    silt_error *err;
};

/* The field whose metadata records changes of what is being merged, and the way from it there: "", "element", "value.key" … */
struct owner {
    struct silt_field *field;
    struct sl_str path;
};

static silt_status merge_type(struct merge *m, const struct silt_type *table, const struct silt_type *data,
                              const struct owner *owner, const struct silt_type **out);

/* ---- what is new ---- */

static const struct silt_type *all_nullable(struct sl_arena *arena, const struct silt_type *type);

static struct silt_field *copy_nullable(struct sl_arena *arena, const struct silt_type *type)
{
    struct silt_field *fields = sl_arena_alloc_array(arena, type->n_fields + 1, sizeof(*fields));
    for (size_t i = 0; fields != NULL && i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        fields[i].nullable = true;
        fields[i].type = all_nullable(arena, type->fields[i].type);
        if (fields[i].type == NULL) {
            return NULL;
        }
    }
    return fields;
}

/* NULL when out of memory. */
static const struct silt_type *all_nullable(struct sl_arena *arena, const struct silt_type *type)
{
    if (!sl_type_is_nested(type)) {
        return type;
    }
    struct silt_type *copy = sl_arena_alloc_zero(arena, sizeof(*copy));
    if (copy == NULL) {
        return NULL;
    }
    *copy = *type;
    copy->contains_null = type->kind != SILT_TYPE_STRUCT;
    if (type->kind == SILT_TYPE_STRUCT) {
        copy->fields = copy_nullable(arena, type);
        return copy->fields != NULL ? copy : NULL;
    }
    copy->element = all_nullable(arena, type->element);
    copy->key = type->kind == SILT_TYPE_MAP ? all_nullable(arena, type->key) : NULL;
    return copy->element != NULL && (type->kind != SILT_TYPE_MAP || copy->key != NULL) ? copy : NULL;
}

/* ---- widening ---- */

static bool same_family(silt_type_kind from, silt_type_kind to)
{
    return (sl_kind_is_integer(from) && sl_kind_is_integer(to)) ||
           (from == SILT_TYPE_FLOAT && to == SILT_TYPE_DOUBLE) ||
           (from == SILT_TYPE_DECIMAL && to == SILT_TYPE_DECIMAL) ||
           (from == SILT_TYPE_DATE && to == SILT_TYPE_TIMESTAMP_NTZ);
}

static void put_change(struct sl_buf *out, const struct silt_type *from, const struct silt_type *to, struct sl_str path)
{
    struct sl_json_writer w;
    sl_buf_put_c(out, "{\"fromType\":");
    sl_type_print_json(out, from);
    sl_buf_put_c(out, ",\"toType\":");
    sl_type_print_json(out, to);
    if (path.len > 0) {
        sl_buf_put_c(out, ",\"fieldPath\":");
        sl_json_writer_init(&w, out);
        sl_json_put_str(&w, path);
    }
    sl_buf_put_c(out, "}]");
}

/* Appends a record to the field's list. */
static silt_status record_change(struct merge *m, const struct owner *owner, const struct silt_type *from,
                                 const struct silt_type *to)
{
    struct silt_field *field = owner->field;
    struct sl_buf text;
    silt_status status;
    size_t at = 0;
    while (at < field->n_metadata && !sl_str_eq(field->metadata[at].key, TYPE_CHANGES)) {
        at++;
    }
    sl_buf_init(&text, m->arena.env);
    struct sl_str before = at < field->n_metadata ? sl_str_trim(field->metadata[at].json) : SL_STR("[]");
    before = sl_str_trim(sl_str_sub(before, 0, before.len - 1)); /* without its closing bracket */
    sl_buf_put_str(&text, before);
    sl_buf_put_c(&text, before.len > 1 ? "," : "");
    put_change(&text, from, to, owner->path);
    status = sl_buf_status(&text, m->err);
    if (status == SILT_OK && at < field->n_metadata) {
        struct sl_field_meta *all = sl_arena_alloc_array(&m->arena, field->n_metadata, sizeof(*all));
        if (all != NULL) {
            memcpy(all, field->metadata, field->n_metadata * sizeof(*all));
            all[at].json = sl_arena_copy(&m->arena, sl_buf_view(&text));
            field->metadata = all;
        }
        status = all != NULL && all[at].json.ptr != NULL ? SILT_OK : sl_fail_nomem(m->err);
    } else if (status == SILT_OK && !sl_field_add_metadata(&m->arena, field, TYPE_CHANGES, sl_buf_view(&text))) {
        status = sl_fail_nomem(m->err);
    }
    sl_buf_release(&text);
    return status;
}

static silt_status merge_flat(struct merge *m, const struct silt_type *table, const struct silt_type *data,
                              const struct owner *owner, const struct silt_type **out)
{
    *out = table;
    if (!m->widen || sl_type_is_nested(data) || sl_type_equal(table, data, false) ||
        !same_family(table->kind, data->kind) || !sl_type_widens(table, data)) {
        return SILT_OK;
    }
    *out = data;
    m->changed = true;
    return record_change(m, owner, table, data);
}

/* ---- nested types ---- */

static silt_status merge_fields(struct merge *m, const struct silt_type *table, const struct silt_type *data,
                                struct silt_type *out)
{
    struct silt_field *fields = sl_arena_alloc_array(&m->arena, table->n_fields + data->n_fields + 1, sizeof(*fields));
    if (fields == NULL) {
        return sl_fail_nomem(m->err);
    }
    size_t n = 0;
    for (; n < table->n_fields; n++) {
        fields[n] = table->fields[n];
        const struct silt_field *given = sl_type_find(data, fields[n].name, NULL);
        const struct owner owner = {&fields[n], {NULL, 0}};
        if (given != NULL) {
            SL_TRY(merge_type(m, fields[n].type, given->type, &owner, &fields[n].type));
        }
    }
    for (size_t i = 0; i < data->n_fields; i++) {
        if (sl_type_find(table, data->fields[i].name, NULL) != NULL) {
            continue;
        }
        fields[n] = data->fields[i];
        fields[n].nullable = true;
        fields[n].type = all_nullable(&m->arena, data->fields[i].type);
        if (fields[n].type == NULL) {
            return sl_fail_nomem(m->err);
        }
        m->changed = true;
        n++;
    }
    out->fields = fields;
    out->n_fields = n;
    return SILT_OK;
}

static silt_status merge_part(struct merge *m, const struct silt_type *const types[2], const struct owner *owner,
                              const char *step, const struct silt_type **out)
{
    const struct owner part = {owner->field, sl_str_from(sl_arena_printf(&m->arena, "%.*s%s%s", SL_FMT(owner->path),
                                                                         owner->path.len > 0 ? "." : "", step))};
    if (part.path.ptr == NULL) {
        return sl_fail_nomem(m->err);
    }
    return merge_type(m, types[0], types[1], &part, out);
}

static silt_status merge_type(struct merge *m, const struct silt_type *table, const struct silt_type *data,
                              const struct owner *owner, const struct silt_type **out)
{
    if (!sl_type_is_nested(table) || table->kind != data->kind) {
        return merge_flat(m, table, data, owner, out);
    }
    struct silt_type *merged = sl_arena_alloc_zero(&m->arena, sizeof(*merged));
    if (merged == NULL) {
        return sl_fail_nomem(m->err);
    }
    *merged = *table;
    *out = merged;
    if (table->kind == SILT_TYPE_STRUCT) {
        return merge_fields(m, table, data, merged);
    }
    if (table->kind == SILT_TYPE_ARRAY) {
        const struct silt_type *const elements[2] = {table->element, data->element};
        return merge_part(m, elements, owner, "element", &merged->element);
    }
    const struct silt_type *const keys[2] = {table->key, data->key};
    const struct silt_type *const values[2] = {table->element, data->element};
    SL_TRY(merge_part(m, keys, owner, "key", &merged->key));
    return merge_part(m, values, owner, "value", &merged->element);
}

silt_status sl_schema_merge(const silt_schema *table, const silt_schema *data, bool widen, silt_schema **out,
                            bool *changed, silt_error *err)
{
    struct merge m = {.widen = widen, .err = err};
    struct silt_type root = table->root;
    *out = NULL;
    *changed = false;
    SL_TRY(sl_schema_validate_unique(data, err));
    sl_arena_init(&m.arena, table->env);
    silt_status status = merge_fields(&m, &table->root, &data->root, &root);
    if (status == SILT_OK && m.changed) {
        status = sl_schema_from_fields(table->env, root.fields, root.n_fields, out, err);
    } else if (status == SILT_OK) {
        *out = silt_schema_ref(table);
    }
    sl_arena_release(&m.arena);
    *changed = status == SILT_OK && m.changed;
    return status;
}

/* ---- the check ---- */

static silt_status check_type(const struct silt_type *before, const struct silt_type *after, struct sl_str column,
                              bool widen, silt_error *err);

static silt_status check_field(const struct silt_field *before, const struct silt_field *after, struct sl_str column,
                               bool widen, silt_error *err)
{
    if (after == NULL) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_METADATA_MISMATCH",
                       "column %.*s cannot be left out of the schema while files that hold it are live",
                       SL_FMT(column));
    }
    if (!sl_str_eq(before->name, after->name)) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_METADATA_MISMATCH",
                       "column %.*s cannot be renamed to %.*s while files that hold it are live", SL_FMT(column),
                       SL_FMT(after->name));
    }
    if (before->nullable && !after->nullable) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_NEW_NOT_NULL_VIOLATION",
                       "column %.*s cannot be made NOT NULL while files are live", SL_FMT(column));
    }
    return check_type(before->type, after->type, column, widen, err);
}

static silt_status check_struct(const struct silt_type *before, const struct silt_type *after, struct sl_str column,
                                bool widen, silt_error *err)
{
    for (size_t i = 0; i < before->n_fields; i++) {
        const struct silt_field *old = &before->fields[i];
        const struct sl_str name = column.ptr != NULL ? column : old->name;
        SL_TRY(check_field(old, sl_type_find(after, old->name, NULL), name, widen, err));
    }
    for (size_t i = 0; i < after->n_fields; i++) {
        const struct silt_field *field = &after->fields[i];
        if (!field->nullable && sl_type_find(before, field->name, NULL) == NULL) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_NEW_NOT_NULL_VIOLATION",
                           "new column %.*s cannot be NOT NULL: the rows that are there have no value for it",
                           SL_FMT(field->name));
        }
    }
    return SILT_OK;
}

/* column: the top-level one, for messages; absent at the top. */
static silt_status check_type(const struct silt_type *before, const struct silt_type *after, struct sl_str column,
                              bool widen, silt_error *err)
{
    const bool nested = sl_type_is_nested(before);
    if (before->kind != after->kind || !nested) {
        if (sl_type_equal(before, after, false) || (widen && sl_type_widens(before, after))) {
            return SILT_OK;
        }
        return sl_fail(err, SILT_ESCHEMA, "DELTA_MERGE_INCOMPATIBLE_DATATYPE",
                       "the type of column %.*s cannot change from %s to %s while files that hold it are live",
                       SL_FMT(column), sl_type_kind_name(before->kind), sl_type_kind_name(after->kind));
    }
    if (before->kind == SILT_TYPE_STRUCT) {
        return check_struct(before, after, column, widen, err);
    }
    if (before->contains_null && !after->contains_null) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_NEW_NOT_NULL_VIOLATION",
                       "what is in column %.*s cannot be made NOT NULL while files are live", SL_FMT(column));
    }
    if (before->kind == SILT_TYPE_MAP) {
        SL_TRY(check_type(before->key, after->key, column, widen, err));
    }
    return check_type(before->element, after->element, column, widen, err);
}

silt_status sl_schema_check_evolution(const silt_schema *before, const silt_schema *after, bool widen, silt_error *err)
{
    return check_type(&before->root, &after->root, (struct sl_str){NULL, 0}, widen, err);
}
