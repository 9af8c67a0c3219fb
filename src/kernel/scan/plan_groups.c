/*
 * Leaving out row groups of a checkpoint; see plan_groups.h. What counts is the hull of everything that the files of a row group claim of a
 * column, least and greatest values alike: when it lies beside the wanted range, then so does each file's own, even of a file
 * whose two bounds are in the wrong order. That holds only when each file claims something: rows with an add are those with a path,
 * size and time, and the statistics must be null in as many rows as these are, no more. One owner.
 */
#include "kernel/scan/plan_groups.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/plan_quick.h"

/* Leaves of an add that are never null, then numRecords; behind them the least and the greatest value of each range. */
enum {
    LEAF_PATH,
    LEAF_SIZE,
    LEAF_TIME,
    LEAF_ROWS,
    FIRST_BOUND
};

struct search {
    struct sl_plan_groups *groups;
    struct sl_arena arena;
    struct sl_plan_quick quick;
    silt_parquet_leaf *leaves;
    size_t n_leaves;
};

void sl_plan_groups_init(struct sl_plan_groups *groups, const silt_env *env)
{
    groups->n_rows = -1;
    sl_vec_init(&groups->ranges, env, sizeof(silt_row_range));
}

void sl_plan_groups_release(struct sl_plan_groups *groups)
{
    sl_vec_release(&groups->ranges);
    groups->n_rows = -1;
}

/* ---- which leaves ---- */

static bool set_leaf(struct search *s, size_t place, struct sl_str first, struct sl_str second,
                     const struct sl_skip_column *column)
{
    const struct sl_str above[] = {{"add", 3}, first, second};
    const size_t n_above = second.ptr != NULL ? 3 : 2;
    const size_t n = n_above + (column != NULL ? column->path_len : 0);
    const char **path = sl_arena_alloc_array(&s->arena, n, sizeof(*path));
    for (size_t i = 0; path != NULL && i < n; i++) {
        path[i] = sl_arena_strdup(&s->arena, i < n_above ? above[i] : column->physical_path[i - n_above]);
        if (path[i] == NULL) {
            return false;
        }
    }
    s->leaves[place] = (silt_parquet_leaf){.path = path, .path_len = n};
    return path != NULL;
}

static bool set_leaves(struct search *s, const struct sl_scan_filter *filter)
{
    const struct sl_str none = {NULL, 0};
    const struct sl_str parsed = SL_STR("stats_parsed");
    bool good = set_leaf(s, LEAF_PATH, SL_STR("path"), none, NULL) &&
                set_leaf(s, LEAF_SIZE, SL_STR("size"), none, NULL) &&
                set_leaf(s, LEAF_TIME, SL_STR("modificationTime"), none, NULL) &&
                set_leaf(s, LEAF_ROWS, parsed, SL_STR("numRecords"), NULL);
    for (size_t i = 0; i < s->quick.n && good; i++) {
        const struct sl_skip_column *column = &filter->columns[s->quick.ranges[i].column];
        good = set_leaf(s, FIRST_BOUND + 2 * i, parsed, SL_STR("minValues"), column) &&
               set_leaf(s, FIRST_BOUND + 2 * i + 1, parsed, SL_STR("maxValues"), column);
    }
    return good;
}

/* ---- a row group ---- */

static bool is_of_type(silt_type_kind stored, silt_type_kind column)
{
    const bool is_time = stored == SILT_TYPE_TIMESTAMP || stored == SILT_TYPE_TIMESTAMP_NTZ;
    switch (column) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: return sl_kind_is_integer(stored);
    case SILT_TYPE_TIMESTAMP: return is_time;
    case SILT_TYPE_TIMESTAMP_NTZ:
    case SILT_TYPE_DATE: return stored == column;
    default: return false;
    }
}

/* Numbers that do not fit the column's type claim nothing. */
static bool is_claim(const silt_leaf_bounds *bounds, silt_type_kind column, int64_t n_null)
{
    return bounds->has_bounds && bounds->n_null == n_null && is_of_type(bounds->kind, column) &&
           (!sl_kind_is_integer(column) || (sl_int_fits(column, bounds->least) && sl_int_fits(column, bounds->most)));
}

static bool rules_out(const struct search *s, size_t range, const silt_leaf_bounds *bounds)
{
    const struct sl_quick_range *wanted = &s->quick.ranges[range];
    const silt_type_kind kind = s->quick.filter->columns[wanted->column].type->kind;
    const silt_leaf_bounds *low = &bounds[FIRST_BOUND + 2 * range];
    const silt_leaf_bounds *high = low + 1;
    const int64_t n_null = bounds[LEAF_PATH].n_null;
    return is_claim(low, kind, n_null) && is_claim(high, kind, n_null) &&
           sl_plan_quick_excludes(&s->quick, wanted, low->least < high->least ? low->least : high->least,
                                  low->most > high->most ? low->most : high->most);
}

static bool is_dropped(const struct search *s, const silt_leaf_bounds *bounds)
{
    const int64_t n_null = bounds[LEAF_PATH].n_null;
    const silt_leaf_bounds *rows = &bounds[LEAF_ROWS];
    bool dropped = false;
    if (n_null < 0 || bounds[LEAF_SIZE].n_null != n_null || bounds[LEAF_TIME].n_null != n_null ||
        !is_claim(rows, SILT_TYPE_LONG, n_null) || rows->least <= 0) {
        return false;
    }
    for (size_t i = 0; i < s->quick.n && !dropped; i++) {
        dropped = rules_out(s, i, bounds);
    }
    return dropped;
}

static silt_status visit_group(void *ctx, silt_row_range rows, const silt_leaf_bounds *bounds, silt_error *err)
{
    struct search *s = ctx;
    struct sl_vec *ranges = &s->groups->ranges;
    s->groups->n_rows = rows.end;
    if (rows.begin == rows.end || is_dropped(s, bounds)) {
        return SILT_OK;
    }
    silt_row_range *last = ranges->len > 0 ? sl_vec_at(ranges, ranges->len - 1) : NULL;
    if (last != NULL && last->end == rows.begin) {
        last->end = rows.end;
        return SILT_OK;
    }
    silt_row_range *range = sl_vec_push(ranges);
    if (range == NULL) {
        return sl_fail_nomem(err);
    }
    *range = rows;
    return SILT_OK;
}

silt_status sl_plan_groups_find(struct sl_plan_groups *groups, const struct sl_checkpoint_files *files, size_t file,
                                const struct sl_scan_filter *filter, const silt_call *call, silt_error *err)
{
    struct search s = {.groups = groups};
    groups->n_rows = -1;
    groups->ranges.len = 0;
    sl_arena_init(&s.arena, groups->ranges.env);
    silt_status status = sl_plan_quick_init(&s.quick, &s.arena, filter, err);
    s.n_leaves = FIRST_BOUND + 2 * s.quick.n;
    if (status == SILT_OK && s.quick.n > 0) {
        s.leaves = sl_arena_alloc_array(&s.arena, s.n_leaves, sizeof(*s.leaves));
        status = s.leaves != NULL && set_leaves(&s, filter) ? SILT_OK : sl_fail_nomem(err);
    }
    if (status == SILT_OK && s.quick.n > 0) {
        const silt_parquet_groups request = {.size = sizeof(request),
                                             .file = &files->checkpoint->parquet[file],
                                             .leaves = s.leaves,
                                             .n_leaves = s.n_leaves,
                                             .visit = visit_group,
                                             .ctx = &s};
        status = sl_parquet_groups(files->source->engine, call, &request, err);
    }
    sl_arena_release(&s.arena);
    return status;
}

bool sl_plan_groups_leave_out(const struct sl_plan_groups *groups)
{
    const silt_row_range *first = groups->ranges.len > 0 ? groups->ranges.data : NULL;
    return groups->n_rows > 0 && (groups->ranges.len != 1 || first->begin > 0 || first->end < groups->n_rows);
}
