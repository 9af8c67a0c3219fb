/*
 * Dropping files by plain comparisons of 64-bit numbers; see plan_quick.h. What the long way believes of such bounds: nothing when they are
 * in the wrong order or the file says that it has no rows; timestamps may be cut by up to a millisecond; days before 1582
 * are counted differently by some writers. Whether values are null does not matter: a null satisfies no comparison.
 */
#include "kernel/scan/plan_quick.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "kernel/scan/stats_reader.h"

#define TIMESTAMP_CUT_US 999
#define GREGORIAN_DAY INT64_C(-141427) /* 1582-10-15 */

/* stats_parsed, a part of it, and the structs that a path goes through. */
#define MAX_LEVELS 8

/* ---- which members ---- */

static bool is_time(silt_type_kind kind)
{
    return kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
}

static bool is_comparable(silt_type_kind column, const silt_value *value)
{
    if (value->is_null) {
        return false;
    }
    return sl_kind_is_integer(column) ? sl_kind_is_integer(value->kind)
                                      : (column == SILT_TYPE_DATE || is_time(column)) && value->kind == column;
}

static size_t find_column(const struct sl_scan_filter *filter, const struct sl_expr_node *node)
{
    for (size_t i = 0; node->kind == SL_EXPR_COLUMN && i < filter->n_columns; i++) {
        const struct sl_skip_column *column = &filter->columns[i];
        if (sl_path_equal(column->path, column->path_len, node->path, node->path_len)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool has_constant(const struct sl_scan_filter *filter, size_t column, const struct sl_expr_node *node)
{
    return column != SIZE_MAX && node->kind == SL_EXPR_LITERAL &&
           is_comparable(filter->columns[column].type->kind, &node->value);
}

/* x op constant as a range; false when it is none, as below the least number. */
static bool range_of(silt_compare_op op, int64_t constant, struct sl_quick_range *out)
{
    out->low = INT64_MIN;
    out->high = INT64_MAX;
    switch (op) {
    case SILT_COMPARE_EQ: out->low = out->high = constant; return true;
    case SILT_COMPARE_LT: return sl_add_i64(constant, -1, &out->high);
    case SILT_COMPARE_LE: out->high = constant; return true;
    case SILT_COMPARE_GT: return sl_add_i64(constant, 1, &out->low);
    case SILT_COMPARE_GE: out->low = constant; return true;
    case SILT_COMPARE_NE:
    case SILT_COMPARE_NULL_SAFE_EQ: break;
    }
    return false;
}

static silt_compare_op turned_round(silt_compare_op op)
{
    switch (op) {
    case SILT_COMPARE_LT: return SILT_COMPARE_GT;
    case SILT_COMPARE_LE: return SILT_COMPARE_GE;
    case SILT_COMPARE_GT: return SILT_COMPARE_LT;
    case SILT_COMPARE_GE: return SILT_COMPARE_LE;
    case SILT_COMPARE_EQ:
    case SILT_COMPARE_NE:
    case SILT_COMPARE_NULL_SAFE_EQ: break;
    }
    return op;
}

static bool understand(const struct sl_scan_filter *filter, const struct sl_expr_node *node, struct sl_quick_range *out)
{
    if (node->kind == SL_EXPR_BETWEEN) {
        out->column = find_column(filter, node->args[0]);
        if (!has_constant(filter, out->column, node->args[1]) || !has_constant(filter, out->column, node->args[2])) {
            return false;
        }
        out->low = node->args[1]->value.as.i64;
        out->high = node->args[2]->value.as.i64;
        return true;
    }
    if (node->kind != SL_EXPR_COMPARE) {
        return false;
    }
    const bool turned = node->args[0]->kind == SL_EXPR_LITERAL;
    const struct sl_expr_node *constant = node->args[turned ? 0 : 1];
    out->column = find_column(filter, node->args[turned ? 1 : 0]);
    return has_constant(filter, out->column, constant) &&
           range_of(turned ? turned_round(node->op) : node->op, constant->value.as.i64, out);
}

silt_status sl_plan_quick_init(struct sl_plan_quick *quick, struct sl_arena *arena, const struct sl_scan_filter *filter,
                               silt_error *err)
{
    *quick = (struct sl_plan_quick){.filter = filter};
    quick->ranges = sl_arena_alloc_array(arena, filter->n_conjuncts + 1, sizeof(*quick->ranges));
    if (quick->ranges == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        struct sl_quick_range *range = &quick->ranges[quick->n];
        range->conjunct = i;
        quick->n += understand(filter, filter->conjuncts[i].node, range) ? 1 : 0;
    }
    return SILT_OK;
}

/* ---- dropping ---- */

/* Is nothing between the bounds in the range? */
static inline bool excludes(const struct sl_quick_range *range, silt_type_kind kind, int64_t min, int64_t max)
{
    if (min > max) {
        return false;
    }
    if (is_time(kind)) {
        if (min < GREGORIAN_DAY * SL_US_PER_DAY || max > INT64_MAX - TIMESTAMP_CUT_US) {
            return false;
        }
        min -= TIMESTAMP_CUT_US;
        max += TIMESTAMP_CUT_US;
    } else if (kind == SILT_TYPE_DATE && min < GREGORIAN_DAY) {
        return false;
    }
    return min > range->high || max < range->low;
}

bool sl_plan_quick_excludes(const struct sl_plan_quick *quick, const struct sl_quick_range *range, int64_t least,
                            int64_t most)
{
    return excludes(range, quick->filter->columns[range->column].type->kind, least, most);
}

bool sl_plan_quick_drops(const struct sl_plan_quick *quick, const enum sl_truth *truths, const struct sl_claims *claims,
                         const struct sl_bounds *bounds)
{
    if (claims->has_rows && claims->rows <= 0) {
        return false;
    }
    for (size_t i = 0; i < quick->n; i++) {
        const struct sl_quick_range *range = &quick->ranges[i];
        const struct sl_bounds *b = &bounds[range->column];
        const silt_type_kind kind = quick->filter->columns[range->column].type->kind;
        if (truths[range->conjunct] != SL_TRUE && b->has_min && b->has_max && is_comparable(kind, &b->min) &&
            is_comparable(kind, &b->max) && excludes(range, kind, b->min.as.i64, b->max.as.i64)) {
            return true;
        }
    }
    return false;
}

bool sl_plan_quick_drops_text(const struct sl_plan_quick *quick, const enum sl_truth *truths,
                              struct sl_stats_reader *reader, struct sl_str text, bool *known)
{
    int64_t rows = 0;
    *known = quick->n > 0 && sl_stats_reader_peek(reader, text);
    if (!*known || !sl_stats_reader_peek_rows(reader, &rows) || rows <= 0) {
        return false;
    }
    for (size_t i = 0; i < quick->n; i++) {
        const struct sl_quick_range *range = &quick->ranges[i];
        const silt_type_kind kind = quick->filter->columns[range->column].type->kind;
        int64_t min = 0;
        int64_t max = 0;
        if (truths[range->conjunct] != SL_TRUE && sl_stats_reader_peek_bound(reader, range->column, false, &min) &&
            sl_stats_reader_peek_bound(reader, range->column, true, &max) && excludes(range, kind, min, max)) {
            return true;
        }
    }
    return false;
}

/* ---- typed statistics ---- */

struct sl_quick_leaf {
    bool usable;
    size_t n_valid; /* arrays on the way that have nulls */
    struct {
        const uint8_t *bits;
        int64_t offset;
    } valid[MAX_LEVELS];
    const void *values; /* of width bytes, from the first row of the topmost array */
    int width;
};

static int width_of(const char *format)
{
    if (strcmp(format, "l") == 0 || strncmp(format, "tsu:", 4) == 0) {
        return 8;
    }
    return strcmp(format, "i") == 0 || strcmp(format, "tdD") == 0 ? 4 : 0;
}

/* One level down by name; the rows of a child are those of its parent, offset included. */
static bool descend(const struct ArrowSchema **schema, const struct ArrowArray **array, struct sl_str name)
{
    for (int64_t i = 0; i < (*schema)->n_children && (*schema)->n_children == (*array)->n_children; i++) {
        const char *other = (*schema)->children[i]->name;
        if (other != NULL && sl_str_eq(sl_str_from(other), name)) {
            *schema = (*schema)->children[i];
            *array = (*array)->children[i];
            return true;
        }
    }
    return false;
}

/* Adds an array of the way; false when it is out of the ordinary. */
static bool add_level(struct sl_quick_leaf *leaf, const struct ArrowArray *array, int64_t shift, int64_t n)
{
    if (array->offset < 0 || array->length < shift + n || array->n_buffers < 1 || array->buffers == NULL ||
        leaf->n_valid == MAX_LEVELS) {
        return false;
    }
    if (array->null_count != 0 && array->buffers[0] != NULL) {
        leaf->valid[leaf->n_valid].bits = array->buffers[0];
        leaf->valid[leaf->n_valid].offset = shift + array->offset;
        leaf->n_valid++;
    }
    return true;
}

static void bind_leaf(struct sl_quick_leaf *leaf, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      const struct sl_str *names, size_t n_names)
{
    const int64_t n = array->length;
    int64_t shift = 0; /* of the first row, before the array's own offset */
    *leaf = (struct sl_quick_leaf){.usable = false};
    for (size_t i = 0; i <= n_names; i++) {
        if (schema->format == NULL || schema->dictionary != NULL || !add_level(leaf, array, shift, n)) {
            return;
        }
        if (i < n_names) {
            shift += array->offset;
            if (!descend(&schema, &array, names[i])) {
                return;
            }
        }
    }
    leaf->width = width_of(schema->format);
    if (leaf->width == 0 || array->n_buffers < 2 || array->buffers[1] == NULL) {
        return;
    }
    leaf->values = (const char *)array->buffers[1] + (shift + array->offset) * leaf->width;
    leaf->usable = true;
}

static void bind_bound(struct sl_quick_leaf *leaf, const struct ArrowSchema *schema, const struct ArrowArray *array,
                       struct sl_str part, const struct sl_skip_column *column)
{
    struct sl_str names[MAX_LEVELS];
    *leaf = (struct sl_quick_leaf){.usable = false};
    if (column->path_len + 2 > MAX_LEVELS) {
        return;
    }
    names[0] = part;
    memcpy(names + 1, column->physical_path, column->path_len * sizeof(*names));
    bind_leaf(leaf, schema, array, names, column->path_len + 1);
}

silt_status sl_plan_quick_bind(struct sl_plan_quick *quick, struct sl_arena *arena, const struct ArrowSchema *schema,
                               const struct ArrowArray *array, silt_error *err)
{
    static const struct sl_str rows = {"numRecords", 10};
    if (quick->leaves == NULL) {
        quick->leaves = sl_arena_alloc_array(arena, quick->n * 2 + 1, sizeof(*quick->leaves));
        if (quick->leaves == NULL) {
            return sl_fail_nomem(err);
        }
    }
    bind_leaf(&quick->leaves[0], schema, array, &rows, 1);
    for (size_t i = 0; i < quick->n; i++) {
        const struct sl_skip_column *column = &quick->filter->columns[quick->ranges[i].column];
        bind_bound(&quick->leaves[1 + 2 * i], schema, array, SL_STR("minValues"), column);
        bind_bound(&quick->leaves[2 + 2 * i], schema, array, SL_STR("maxValues"), column);
    }
    return SILT_OK;
}

static inline bool get(const struct sl_quick_leaf *leaf, int64_t row, int64_t *out)
{
    for (size_t i = 0; i < leaf->n_valid; i++) {
        const int64_t bit = row + leaf->valid[i].offset;
        if ((leaf->valid[i].bits[bit / 8] >> (bit % 8) & 1) == 0) {
            return false;
        }
    }
    *out = leaf->width == 8 ? ((const int64_t *)leaf->values)[row] : ((const int32_t *)leaf->values)[row];
    return true;
}

bool sl_plan_quick_drops_row(const struct sl_plan_quick *quick, const enum sl_truth *truths, int64_t row)
{
    const struct sl_quick_leaf *leaves = quick->leaves;
    int64_t rows = 0;
    if (leaves == NULL || !leaves[0].usable || !get(&leaves[0], row, &rows) || rows <= 0) {
        return false;
    }
    for (size_t i = 0; i < quick->n; i++) {
        const struct sl_quick_leaf *low = &leaves[1 + 2 * i];
        const struct sl_quick_leaf *high = low + 1;
        const silt_type_kind kind = quick->filter->columns[quick->ranges[i].column].type->kind;
        int64_t min = 0;
        int64_t max = 0;
        if (truths[quick->ranges[i].conjunct] != SL_TRUE && low->usable && high->usable && get(low, row, &min) &&
            get(high, row, &max) && excludes(&quick->ranges[i], kind, min, max)) {
            return true;
        }
    }
    return false;
}
