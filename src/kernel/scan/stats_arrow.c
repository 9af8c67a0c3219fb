/*
 * Typed statistics and partition values from the columns of a checkpoint. See stats_arrow.h.
 *
 * A column's type may have been widened after the checkpoint was written, and writers store some types in other forms: what has one
 * meaning only is converted, the rest claims nothing. A 64-bit integer without unit is no timestamp. Pure; any thread.
 */
#include "kernel/scan/stats_arrow.h"

#include <math.h>
#include <string.h>

#include "base/arrow.h"
#include "base/error.h"
#include "base/time.h"
#include "schema/arrow_format.h"
#include "schema/value.h"

/* The struct itself, a part of it, and the structs that a path goes through. */
#define MAX_LEVELS (SL_SCHEMA_MAX_DEPTH + 2)

#define EXACT_IN_DOUBLE (INT64_C(1) << 53)

#define GLOBAL_LEAVES 2
#define COLUMN_LEAVES 3

struct sl_arrow_leaf {
    const struct ArrowSchema *schema; /* NULL: not there */
    struct sl_arrow_format format;
    bool is_plain;                    /* neither dictionary nor runs */
    size_t n_levels;                  /* arrays from the top one to the leaf's */
    const int64_t *children;          /* n_levels - 1 of them: the way down */
    const struct ArrowArray **arrays; /* n_levels, of the batch at hand; the first is NULL without one */
};

/* ---- binding ---- */

static int64_t find_child(const struct ArrowSchema *schema, struct sl_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *other = schema->children[i]->name;
        if (other != NULL && sl_str_eq(sl_str_from(other), name)) {
            return i;
        }
    }
    return -1;
}

/* names: the way from the struct down. A leaf that is not there, or has parts itself, stays unbound. */
static silt_status bind_leaf(struct sl_arena *arena, const struct ArrowSchema *schema, const struct sl_str *names,
                             size_t n, struct sl_arrow_leaf *out, silt_error *err)
{
    int64_t *children = sl_arena_alloc_array(arena, n + 1, sizeof(*children));
    const struct ArrowArray **arrays = sl_arena_alloc_array(arena, n + 1, sizeof(*arrays));
    if (children == NULL || arrays == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (schema->format == NULL || strcmp(schema->format, "+s") != 0 || schema->dictionary != NULL) {
            return SILT_OK;
        }
        children[i] = find_child(schema, names[i]);
        if (children[i] < 0) {
            return SILT_OK;
        }
        schema = schema->children[children[i]];
    }
    struct sl_arrow_format format;
    if (!sl_arrow_format_parse(schema->format, &format)) {
        return SILT_OK;
    }
    *out = (struct sl_arrow_leaf){.schema = schema,
                                  .format = format,
                                  .is_plain = schema->dictionary == NULL && format.layout != SL_ARROW_RUN_END,
                                  .n_levels = n + 1,
                                  .children = children,
                                  .arrays = arrays};
    return SILT_OK;
}

/* A leaf of one part, under the column's path. */
static silt_status bind_part(struct sl_arena *arena, const struct ArrowSchema *schema, struct sl_str part,
                             const struct sl_skip_column *column, struct sl_arrow_leaf *out, silt_error *err)
{
    struct sl_str names[MAX_LEVELS];
    if (column->path_len + 1 > MAX_LEVELS) {
        return SILT_OK;
    }
    names[0] = part;
    memcpy(names + 1, column->physical_path, column->path_len * sizeof(*names));
    return bind_leaf(arena, schema, names, column->path_len + 1, out, err);
}

silt_status sl_stats_arrow_bind(struct sl_stats_arrow *out, struct sl_arena *arena, const struct ArrowSchema *schema,
                                const struct sl_skip_column *columns, size_t n, silt_error *err)
{
    static const struct sl_str globals[GLOBAL_LEAVES] = {{"numRecords", 10}, {"tightBounds", 11}};
    static const struct sl_str parts[COLUMN_LEAVES] = {{"nullCount", 9}, {"minValues", 9}, {"maxValues", 9}};
    *out = (struct sl_stats_arrow){.columns = columns, .n = n};
    struct sl_arrow_leaf *leaves = sl_arena_alloc_array(arena, GLOBAL_LEAVES + n * COLUMN_LEAVES, sizeof(*leaves));
    if (leaves == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < GLOBAL_LEAVES; i++) {
        SL_TRY(bind_leaf(arena, schema, &globals[i], 1, &leaves[i], err));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t part = 0; part < COLUMN_LEAVES; part++) {
            SL_TRY(bind_part(arena, schema, parts[part], &columns[i], &leaves[GLOBAL_LEAVES + i * COLUMN_LEAVES + part],
                             err));
        }
    }
    out->leaves = leaves;
    return SILT_OK;
}

silt_status sl_partition_arrow_bind(struct sl_partition_arrow *out, struct sl_arena *arena,
                                    const struct ArrowSchema *schema, const struct sl_partition_column *columns,
                                    size_t n, silt_error *err)
{
    *out = (struct sl_partition_arrow){.columns = columns, .n = n};
    struct sl_arrow_leaf *leaves = sl_arena_alloc_array(arena, n + 1, sizeof(*leaves));
    if (leaves == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        SL_TRY(bind_leaf(arena, schema, &columns[i].physical, 1, &leaves[i], err));
    }
    out->leaves = leaves;
    return SILT_OK;
}

/* ---- a batch ---- */

static bool set_leaf(struct sl_arrow_leaf *leaf, const struct ArrowArray *array)
{
    leaf->arrays[0] = array;
    for (size_t i = 0; i + 1 < leaf->n_levels; i++) {
        if (leaf->children[i] >= array->n_children) {
            return false;
        }
        array = array->children[leaf->children[i]];
        leaf->arrays[i + 1] = array;
    }
    return true;
}

static bool set_leaves(struct sl_arrow_leaf *leaves, size_t n, const struct ArrowArray *array)
{
    bool good = leaves != NULL;
    for (size_t i = 0; i < n && good; i++) {
        good = leaves[i].schema == NULL || set_leaf(&leaves[i], array);
    }
    for (size_t i = 0; leaves != NULL && i < n && !good; i++) {
        if (leaves[i].schema != NULL) {
            leaves[i].arrays[0] = NULL;
        }
    }
    return good;
}

bool sl_stats_arrow_set(struct sl_stats_arrow *stats, const struct ArrowArray *array)
{
    return set_leaves(stats->leaves, GLOBAL_LEAVES + stats->n * COLUMN_LEAVES, array);
}

bool sl_partition_arrow_set(struct sl_partition_arrow *values, const struct ArrowArray *array)
{
    return set_leaves(values->leaves, values->n, array);
}

/* ---- a row ---- */

/* The value as it lies there; false when it, or a struct above it, is null, or when it cannot be read. */
static bool get_leaf(const struct sl_arrow_leaf *leaf, int64_t row, silt_value *out)
{
    if (leaf->schema == NULL || leaf->arrays[0] == NULL) {
        return false;
    }
    for (size_t i = 0; i + 1 < leaf->n_levels; i++) {
        const struct ArrowArray *parent = leaf->arrays[i];
        if (row < 0 || row >= parent->length || sl_arrow_is_null(parent, row)) {
            return false;
        }
        row += parent->offset; /* a child counts its rows from the parent's first, offset or not */
    }
    const struct ArrowArray *array = leaf->arrays[leaf->n_levels - 1];
    if (!leaf->is_plain) {
        return sl_value_from_arrow(leaf->schema, array, row, out) && !out->is_null;
    }
    return row < array->length && !sl_arrow_is_null(array, row) &&
           sl_arrow_flat_value(&leaf->format, array, row + array->offset, out);
}

static bool to_double(const silt_value *v, silt_value *out)
{
    if (v->kind == SILT_TYPE_FLOAT || v->kind == SILT_TYPE_DOUBLE) {
        *out = sl_value_f64(SILT_TYPE_DOUBLE, v->as.f64);
        return !isnan(v->as.f64); /* writers disagree on the order of NaN */
    }
    if (!sl_kind_is_integer(v->kind) || v->as.i64 > EXACT_IN_DOUBLE || v->as.i64 < -EXACT_IN_DOUBLE) {
        return false;
    }
    *out = sl_value_f64(SILT_TYPE_DOUBLE, (double)v->as.i64);
    return true;
}

/* A day is the midnight that it begins with. */
static bool to_wall_clock(const silt_value *v, silt_value *out)
{
    static const struct silt_type type = {.kind = SILT_TYPE_TIMESTAMP_NTZ};
    if (v->kind == SILT_TYPE_TIMESTAMP_NTZ) {
        *out = *v;
        return true;
    }
    return v->kind == SILT_TYPE_DATE && sl_value_cast(NULL, v, &type, out); /* no text, so no arena */
}

/*
 * A bound in the column's type. Parquet's INT96 has no zone in Arrow and always means an instant of UTC in Spark's checkpoints. A bound
 * of a float column that is stored as a double stays one: believing it accounts for the difference.
 */
static bool to_bound(const struct silt_type *type, const silt_value *v, silt_value *out)
{
    const bool is_exact_number = sl_kind_is_integer(v->kind) || v->kind == SILT_TYPE_DECIMAL;
    switch (type->kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
        *out = sl_value_i64(type->kind, v->as.i64);
        return sl_kind_is_integer(v->kind) && sl_int_fits(type->kind, v->as.i64);
    case SILT_TYPE_FLOAT:
        *out = *v;
        return (v->kind == SILT_TYPE_FLOAT || v->kind == SILT_TYPE_DOUBLE) && !isnan(v->as.f64);
    case SILT_TYPE_DOUBLE: return to_double(v, out);
    case SILT_TYPE_DECIMAL: return is_exact_number && sl_value_cast(NULL, v, type, out);
    case SILT_TYPE_STRING:
        if (v->kind != SILT_TYPE_STRING && v->kind != SILT_TYPE_BINARY) {
            return false;
        }
        *out = sl_value_bytes(SILT_TYPE_STRING, sl_value_get_str(v));
        return true;
    case SILT_TYPE_TIMESTAMP:
        if (v->kind != SILT_TYPE_TIMESTAMP && v->kind != SILT_TYPE_TIMESTAMP_NTZ) {
            return false;
        }
        *out = sl_value_i64(SILT_TYPE_TIMESTAMP, v->as.i64);
        return true;
    case SILT_TYPE_TIMESTAMP_NTZ: return to_wall_clock(v, out);
    case SILT_TYPE_BOOLEAN:
    case SILT_TYPE_DATE: *out = *v; return v->kind == type->kind;
    default: return false;
    }
}

static bool get_bound(const struct sl_arrow_leaf *leaf, int64_t row, const struct silt_type *type, silt_value *out)
{
    silt_value value;
    return get_leaf(leaf, row, &value) && to_bound(type, &value, out);
}

static bool get_count(const struct sl_arrow_leaf *leaf, int64_t row, int64_t *out)
{
    silt_value value;
    if (!get_leaf(leaf, row, &value) || !sl_kind_is_integer(value.kind) || value.as.i64 < 0) {
        return false;
    }
    *out = value.as.i64;
    return true;
}

static enum sl_tightness get_tightness(const struct sl_arrow_leaf *leaf, int64_t row)
{
    silt_value value;
    if (leaf->schema == NULL) {
        return SL_TIGHT_UNSAID;
    }
    if (!get_leaf(leaf, row, &value)) {
        return leaf->format.kind == SILT_TYPE_BOOLEAN ? SL_TIGHT_UNSAID : SL_WIDE;
    }
    return value.kind == SILT_TYPE_BOOLEAN && value.as.boolean ? SL_TIGHT : SL_WIDE;
}

bool sl_stats_arrow_claims(const struct sl_stats_arrow *stats, int64_t row, struct sl_claims *claims,
                           struct sl_bounds *bounds)
{
    const struct sl_arrow_leaf *leaves = stats->leaves;
    *claims = (struct sl_claims){.tightness = SL_TIGHT_UNSAID};
    memset(bounds, 0, stats->n * sizeof(*bounds));
    if (leaves == NULL) {
        return false;
    }
    claims->has_rows = get_count(&leaves[0], row, &claims->rows);
    claims->tightness = get_tightness(&leaves[1], row);
    bool found = claims->has_rows;
    for (size_t i = 0; i < stats->n; i++) {
        const struct sl_arrow_leaf *own = &leaves[GLOBAL_LEAVES + i * COLUMN_LEAVES];
        const struct silt_type *type = stats->columns[i].type;
        struct sl_bounds *b = &bounds[i];
        b->has_null_count = get_count(&own[0], row, &b->null_count);
        b->has_min = get_bound(&own[1], row, type, &b->min);
        b->has_max = get_bound(&own[2], row, type, &b->max);
        found = found || b->has_null_count || b->has_min || b->has_max;
    }
    return found;
}

/* Can bounds of this format be taken for the column's type? Asked of a value of the format. */
static bool converts(const struct sl_arrow_leaf *leaf, const struct silt_type *type)
{
    silt_value sample = sl_value_i64(leaf->format.kind, 0);
    silt_value out;
    if (leaf->schema == NULL) {
        return false;
    }
    if (leaf->format.kind == SILT_TYPE_STRING || leaf->format.kind == SILT_TYPE_BINARY) {
        sample = sl_value_bytes(leaf->format.kind, SL_STR(""));
    } else if (leaf->format.kind == SILT_TYPE_DECIMAL) {
        sample = sl_value_decimal(0, leaf->format.precision, leaf->format.scale);
    } else if (leaf->format.kind == SILT_TYPE_FLOAT || leaf->format.kind == SILT_TYPE_DOUBLE) {
        sample = sl_value_f64(leaf->format.kind, 0);
    }
    return !leaf->is_plain || to_bound(type, &sample, &out);
}

bool sl_stats_arrow_covers(const struct sl_stats_arrow *stats, size_t column)
{
    if (stats->leaves == NULL) {
        return false;
    }
    const struct sl_arrow_leaf *own = &stats->leaves[GLOBAL_LEAVES + column * COLUMN_LEAVES];
    return converts(&own[1], stats->columns[column].type) && converts(&own[2], stats->columns[column].type);
}

/* ---- partition values ---- */

bool sl_partition_arrow_get(const struct sl_partition_arrow *values, size_t column, int64_t row, silt_value *out)
{
    const struct silt_type *type = values->columns[column].type;
    silt_value value;
    *out = sl_value_null(type->kind);
    if (values->leaves == NULL || !get_leaf(&values->leaves[column], row, &value)) {
        return false;
    }
    switch (type->kind) {
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_BINARY: return false; /* the text is read by other rules */
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: *out = value; return value.kind == type->kind;
    case SILT_TYPE_STRING: *out = value; return value.kind == SILT_TYPE_STRING && value.as.bytes.len > 0;
    default: return to_bound(type, &value, out);
    }
}
