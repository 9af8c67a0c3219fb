/*
 * Deletion vectors in a scan (PROTOCOL.md "Reader Requirements for Deletion Vectors"): the rows that they leave of a plan's files, and the
 * condition that lets only these through, silt_live(file_index, file_row_number, handle). DuckDB keeps such a filter of two columns
 * above the scan, where it costs one to two nanoseconds a row. UNION ALL of files with and without vectors would spare that for the
 * latter, but a union of scans is planned worse than one scan.
 *
 * Rows are registered under an id for as long as the scan is open. Any thread.
 */
#include "duck_live.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "duck_footer.h"

static void free_live(struct sl_duck_object *object)
{
    struct sl_duck_live *live = (struct sl_duck_live *)object;
    const silt_env *env = live->dp->env;
    for (size_t i = 0; i < live->n_files && live->rows != NULL; i++) {
        live->dp->host->rows_free(live->rows[i]);
    }
    sl_release(env, live->rows, live->n_files * sizeof(silt_rows *));
    sl_release(env, live->gone, live->n_files);
    sl_release(env, live, sizeof(*live));
}

/* A place is the file that file_index 0 of a SELECT is. */
static size_t places_of(const struct sl_duck_object *object)
{
    return ((const struct sl_duck_live *)object)->n_files;
}

const struct sl_duck_object_class sl_live_class = {.free = free_live, .places = places_of};

static const struct sl_live_alone *find_alone(const struct sl_duck_live *live, size_t file)
{
    for (size_t i = 0; i < live->n_alone; i++) {
        if (live->alone[i].file == file) {
            return &live->alone[i];
        }
    }
    return NULL;
}

/* ---- text ---- */

size_t sl_duck_live_piece(const struct sl_duck_live *live, size_t first, size_t end)
{
    if (live == NULL) {
        return end - first;
    }
    if (find_alone(live, first) != NULL) {
        return 1;
    }
    for (size_t i = 0; i < live->n_alone; i++) {
        if (live->alone[i].file > first && live->alone[i].file < end) {
            return live->alone[i].file - first; /* they are in order */
        }
    }
    return end - first;
}

void sl_duck_live_put(struct sl_buf *sql, const struct sl_duck_live *live, const char *joint, size_t first, size_t n)
{
    bool any = false;
    bool any_gone = false;
    for (size_t i = first; live != NULL && i < first + n; i++) {
        any = any || live->rows[i] != NULL;
        any_gone = any_gone || live->gone[i];
    }
    if (!any) {
        return;
    }
    const uint64_t handle = sl_live_handle(live->object.id, first);
    sl_buf_printf(sql, "%ssilt_live(file_index, file_row_number, %" PRIu64 "::UBIGINT)", joint, handle);
    if (any_gone) {
        sl_buf_printf(sql, " AND silt_kept(file_index, %" PRIu64 "::UBIGINT)", handle);
    }
    const struct sl_live_alone *alone = find_alone(live, first);
    for (size_t i = 0; alone != NULL && i < alone->n_runs; i++) {
        sl_buf_printf(sql, " AND (file_row_number < %" PRId64 " OR file_row_number >= %" PRId64 ")",
                      alone->runs[i].first, alone->runs[i].end);
    }
}

/* ---- the rows of a plan ---- */

/* Numbers of rows of the files with vectors; -1 for others. */
static silt_status count_rows(struct sl_dataplane *dp, const silt_call *call, const silt_scan_plan *plan,
                              const struct sl_duck_files *files, int64_t *counts, silt_error *err)
{
    size_t *which = sl_alloc_array(dp->env, plan->n_files, sizeof(*which));
    if (which == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < plan->n_files; i++) {
        const silt_plan_file *file = &plan->files[i];
        counts[i] = file->num_records;
        if (counts[i] < 0 && (file->deleted != NULL || file->selected != NULL)) {
            which[n++] = i;
        }
    }
    const silt_status status = n > 0 ? sl_footers_count_rows(dp, call, files, which, n, counts, err) : SILT_OK;
    sl_release(dp->env, which, plan->n_files * sizeof(*which));
    return status;
}

static silt_status load_rows(struct sl_duck_live *live, const silt_call *call, const silt_scan_plan *plan,
                             const int64_t *counts, silt_error *err)
{
    silt_rows_request *requests = sl_alloc_array(live->dp->env, plan->n_files, sizeof(*requests));
    if (requests == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        const silt_plan_file *file = &plan->files[i];
        requests[i] = (silt_rows_request){
            .file = file->path, .num_records = counts[i], .deleted = file->deleted, .selected = file->selected};
    }
    const silt_status status = live->dp->host->rows_load(plan->storage, call, requests, plan->n_files, live->rows, err);
    sl_release(live->dp->env, requests, plan->n_files * sizeof(*requests));
    return status;
}

/* Registers what is complete under an id of its own. */
static silt_status list_live(struct sl_duck_live *live, silt_error *err)
{
    sl_duck_object_list(&live->object);
    if (live->object.id > UINT32_MAX || live->n_files > UINT32_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a scan with deletion vectors has too many files or came too late");
    }
    return SILT_OK;
}

static struct sl_duck_live *make_live(struct sl_dataplane *dp, size_t n_files)
{
    struct sl_duck_live *live = sl_alloc_zero(dp->env, sizeof(*live));
    if (live == NULL) {
        return NULL;
    }
    sl_duck_object_init(&live->object, dp, &sl_live_class);
    live->dp = dp;
    live->n_files = n_files;
    live->rows = sl_alloc_zero(dp->env, n_files * sizeof(silt_rows *));
    live->gone = sl_alloc_zero(dp->env, n_files);
    if (live->rows == NULL || live->gone == NULL) {
        sl_duck_object_drop(&live->object);
        return NULL;
    }
    return live;
}

silt_status sl_duck_live_new(struct sl_dataplane *dp, const silt_call *call, const silt_scan_plan *plan,
                             const struct sl_duck_files *files, struct sl_duck_live **out, silt_error *err)
{
    *out = NULL;
    if (!plan->has_row_sets || plan->n_files == 0) {
        return SILT_OK;
    }
    struct sl_duck_live *live = make_live(dp, plan->n_files);
    int64_t *counts = sl_alloc_array(dp->env, plan->n_files, sizeof(*counts));
    silt_status status = live != NULL && counts != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = count_rows(dp, call, plan, files, counts, err);
    }
    if (status == SILT_OK) {
        status = load_rows(live, call, plan, counts, err);
    }
    if (status == SILT_OK) {
        sl_live_find_dead(live, plan, counts);
        status = list_live(live, err);
    }
    if (status == SILT_OK) {
        *out = live;
    } else {
        sl_duck_live_drop(live);
    }
    sl_release(dp->env, counts, plan->n_files * sizeof(*counts));
    return status;
}

void sl_duck_live_drop(struct sl_duck_live *live)
{
    sl_duck_object_drop(live != NULL ? &live->object : NULL);
}
