/*
 * Pruning by "_metadata". See metadata_prune.h. Values are those that rows would have (metadata_rows.c). A row's place in its file is not
 * negative; its id and commit version may be stored in the file and so are not known here (PROTOCOL.md "Row Tracking").
 *
 * Called by planning, for files that all else has left. Pure.
 */
#include "kernel/scan/metadata_prune.h"

#include "base/alloc.h"
#include "base/uri.h"
#include "expr/eval.h"
#include "kernel/scan/metadata_column.h"
#include "schema/value.h"

struct view {
    const struct sl_scan_filter *filter;
    const struct sl_partition_tuple *tuple;
    const silt_plan_file *file;
    struct sl_arena *scratch;
};

bool sl_metadata_prunes(const struct sl_scan_filter *filter)
{
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        if (filter->conjuncts[i].uses_metadata) {
            return true;
        }
    }
    return false;
}

/* All rows have this value. The counts are those of a single row: "all null" or "none". */
static struct sl_bounds bounds_of(const silt_value *value)
{
    struct sl_bounds bounds = {.has_null_count = true, .has_row_count = true, .row_count = 1};
    bounds.null_count = value->is_null ? 1 : 0;
    bounds.has_min = bounds.has_max = !value->is_null;
    bounds.min = bounds.max = *value;
    return bounds;
}

static bool text_of(const struct view *view, bool whole, silt_value *out)
{
    struct sl_buf uri;
    struct sl_str text = {NULL, 0};
    sl_buf_init(&uri, view->scratch->env);
    sl_uri_print(&uri, sl_str_from(view->file->path));
    if (uri.status == SILT_OK) {
        const struct sl_str all = sl_buf_view(&uri);
        text = sl_arena_copy(view->scratch, whole ? all : sl_uri_basename(all));
    }
    sl_buf_release(&uri);
    *out = sl_value_bytes(SILT_TYPE_STRING, text);
    return text.ptr != NULL;
}

/* Negative: not known, which is null in rows. */
static silt_value long_of(int64_t number)
{
    return number >= 0 ? sl_value_i64(SILT_TYPE_LONG, number) : sl_value_null(SILT_TYPE_LONG);
}

static silt_value time_of(int64_t ms)
{
    int64_t us = 0;
    return sl_mul_i64(ms, 1000, &us) ? sl_value_i64(SILT_TYPE_TIMESTAMP, us) : sl_value_null(SILT_TYPE_TIMESTAMP);
}

/* False for what differs from row to row. */
static bool file_value(const struct view *view, struct sl_str field, silt_value *out)
{
    const silt_plan_file *file = view->file;
    if (sl_str_eq_c(field, "file_path")) {
        return text_of(view, true, out);
    }
    if (sl_str_eq_c(field, "file_name")) {
        return text_of(view, false, out);
    }
    if (sl_str_eq_c(field, "file_size") || sl_str_eq_c(field, "file_block_length")) {
        *out = long_of(file->size_bytes);
    } else if (sl_str_eq_c(field, "file_block_start")) {
        *out = long_of(0);
    } else if (sl_str_eq_c(field, "file_modification_time")) {
        *out = time_of(file->modified_ms);
    } else if (sl_str_eq_c(field, "base_row_id")) {
        *out = long_of(file->base_row_id);
    } else if (sl_str_eq_c(field, "default_row_commit_version")) {
        *out = long_of(file->row_commit_version);
    } else {
        return false;
    }
    return true;
}

static bool find_bounds(void *ctx, const struct sl_str *path, size_t path_len, struct sl_bounds *out)
{
    const struct view *view = ctx;
    const bool is_field = path_len == 2 && sl_str_eq_c(path[0], SL_METADATA_NAME);
    silt_value value;
    if (is_field && sl_str_eq_c(path[1], "row_index")) {
        *out = (struct sl_bounds){.has_min = true, .min = long_of(0), .has_null_count = true};
        return true;
    }
    if (is_field) {
        if (!file_value(view, path[1], &value)) {
            return false;
        }
        *out = bounds_of(&value);
        return true;
    }
    struct sl_partition_view partitions = {view->filter, view->tuple->values};
    if (!sl_partition_lookup(&partitions, path, path_len, &value)) {
        return false;
    }
    *out = bounds_of(&value);
    return true;
}

bool sl_metadata_may_match(const struct sl_scan_filter *filter, const struct sl_partition_tuple *tuple,
                           const silt_plan_file *file, struct sl_arena *scratch)
{
    struct view view = {filter, tuple, file, scratch};
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        if (filter->conjuncts[i].uses_metadata &&
            !sl_eval_may_match(filter->conjuncts[i].node, find_bounds, &view, scratch)) {
            return false;
        }
    }
    return true;
}
