/*
 * Reading a scan's files one by one to find the one that cannot be read; see scan_culprit.h. Only stored columns that the query may read are
 * asked for: partition values and "_metadata" come from the log.
 */
#include "kernel/scan/scan_culprit.h"

#include <string.h>

#include "base/arena.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/scan_int.h"

#define TIME_LIMIT_US (INT64_C(30) * 1000 * 1000)

struct search {
    silt_scan *scan;
    const silt_call *call;
    const char *words; /* of the error */
    struct sl_arena arena;
    size_t *columns; /* stored ones, places in the plan's schema */
    size_t n_columns;
    int64_t until_us;
};

/* Reads some columns of one file to the end. *same: it failed in the same words. */
static silt_status try_columns(const struct search *s, const silt_plan_file *file, const size_t *columns, size_t n,
                               bool *same)
{
    silt_scan_plan plan = *silt_scan_get_plan(s->scan);
    silt_plan_column stored = {SILT_FROM_FILE, -1};
    silt_plan_column sources[64];
    silt_schema *logical = NULL;
    silt_schema *physical = NULL;
    struct ArrowArrayStream rows = {0};
    silt_error found = SILT_ERROR_INIT;
    n = n < sizeof(sources) / sizeof(sources[0]) ? n : sizeof(sources) / sizeof(sources[0]);
    for (size_t i = 0; i < n; i++) {
        sources[i] = stored;
    }
    silt_status status = sl_schema_project(plan.logical, columns, n, &logical, &found);
    if (status == SILT_OK) {
        status = sl_schema_project(plan.physical, columns, n, &physical, &found);
    }
    plan.logical = logical;
    plan.physical = physical;
    plan.columns = sources;
    plan.n_partition_columns = 0;
    plan.files = file;
    plan.n_files = 1;
    plan.filter = NULL;
    plan.may_read = NULL;
    plan.row_id_column = NULL;
    plan.row_commit_version_column = NULL;
    if (status == SILT_OK) {
        status = sl_parquet_scan(sl_snapshot_engine(s->scan->snapshot), s->call, &plan, &rows, &found);
    }
    for (bool done = false; status == SILT_OK && !done;) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(&rows, &batch, &done, &found);
        sl_arrow_array_release(&batch);
    }
    *same = status != SILT_OK && strstr(found.message, s->words) != NULL;
    sl_arrow_stream_release(&rows);
    silt_schema_unref(logical);
    silt_schema_unref(physical);
    return status;
}

/* The column of the file that fails alone; SIZE_MAX: none does. */
static size_t find_column(const struct search *s, const silt_plan_file *file)
{
    for (size_t i = 0; i < s->n_columns; i++) {
        bool same = false;
        (void)try_columns(s, file, &s->columns[i], 1, &same); /* whatever it is, `same` tells */
        if (same) {
            return s->columns[i];
        }
    }
    return SIZE_MAX;
}

static void name(const struct search *s, const silt_plan_file *file, silt_error *err)
{
    const silt_scan_plan *plan = silt_scan_get_plan(s->scan);
    const size_t column = find_column(s, file);
    const silt_error before = *err;
    const char *rest = s->words + strlen(SL_SOME_DATA_FILE);
    if (column != SIZE_MAX) {
        sl_ignore(sl_fail(err, before.status, before.code_name, "column %s of file %s %s",
                          plan->logical->root.fields[column].name.ptr, file->path, rest));
    } else {
        sl_ignore(sl_fail(err, before.status, before.code_name, "file %s %s", file->path, rest));
    }
    if (before.hint[0] != '\0') { /* of an error that did not know whose file it is */
        sl_error_hint(err, "silt fsck reads each file of a table and names those that are broken");
    }
    sl_error_path(err, file->path);
}

/* Every file, a group of columns at a time. */
static const silt_plan_file *find_file(const struct search *s)
{
    const silt_scan_plan *plan = silt_scan_get_plan(s->scan);
    const silt_env *env = s->scan->env;
    for (size_t i = 0; i < plan->n_files; i++) {
        for (size_t first = 0; first < s->n_columns; first += 64) {
            bool same = false;
            if (sl_call_check(env, s->call, NULL) != SILT_OK || sl_monotonic_us(env) > s->until_us) {
                return NULL;
            }
            (void)try_columns(s, &plan->files[i], s->columns + first, s->n_columns - first, &same);
            if (same) {
                return &plan->files[i];
            }
        }
    }
    return NULL;
}

void sl_scan_name_culprit(silt_scan *scan, const silt_call *call, const bool *may_read, silt_error *err)
{
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    const size_t n = plan->logical->root.n_fields;
    if (err == NULL || strstr(err->message, SL_SOME_DATA_FILE) == NULL ||
        !sl_engine_has_scan(sl_snapshot_engine(scan->snapshot))) {
        return;
    }
    const silt_error before = *err;
    struct search s = {.scan = scan,
                       .call = call,
                       .words = strstr(before.message, SL_SOME_DATA_FILE),
                       /* dispatch may have put words before */ .until_us = sl_monotonic_us(scan->env) + TIME_LIMIT_US};
    sl_arena_init(&s.arena, scan->env);
    s.columns = sl_arena_alloc_array(&s.arena, n + 1, sizeof(*s.columns));
    for (size_t i = 0; s.columns != NULL && i < n; i++) {
        if (plan->columns[i].source == SILT_FROM_FILE && (may_read == NULL || may_read[i])) {
            s.columns[s.n_columns++] = i;
        }
    }
    const silt_plan_file *file = find_file(&s);
    if (file != NULL) {
        name(&s, file, err);
    }
    sl_arena_release(&s.arena);
}

bool sl_scan_is_mended(const silt_error *err)
{
    return err->status == SILT_ECORRUPT && strstr(err->message, SL_SOME_DATA_FILE) != NULL;
}
