/*
 * Files that a plan has twice, and a checkpoint that has none; see plan_again.h. Only the files that are left are compared: as many as the query
 * will open.
 */
#include "kernel/scan/plan_again.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/replay/file_key.h"
#include "kernel/replay/repeated.h"

/* ---- the same file ---- */

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return text != NULL ? sl_key_hash_xxh3(text, strlen(text), seed) : seed;
}

static uint64_t hash_file(const silt_plan_file *file)
{
    const silt_deletion_vector *dv = file->deleted;
    uint64_t hash = hash_text(file->path, 0);
    if (dv != NULL) {
        hash = hash_text(dv->inline_data, hash_text(dv->path, hash));
        hash = sl_key_hash_xxh3(&dv->offset, sizeof(dv->offset), hash);
    }
    return hash;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_vector(const silt_deletion_vector *a, const silt_deletion_vector *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return a->storage_type == b->storage_type && a->offset == b->offset && same_text(a->path, b->path) &&
           same_text(a->inline_data, b->inline_data);
}

static bool same_file(const silt_plan_file *a, const silt_plan_file *b)
{
    return same_text(a->path, b->path) && same_vector(a->deleted, b->deleted);
}

/* ---- leaving one ---- */

/* Marks the files that are there before; `repeated` is by hash and place. */
static int64_t mark_again(const silt_plan_file *files, const struct sl_vec *repeated, bool *again)
{
    const struct sl_repeated *all = repeated->data;
    int64_t n = 0;
    size_t begin = 0;
    for (size_t i = 1; i < repeated->len; i++) {
        begin = all[i].hash == all[begin].hash ? begin : i;
        bool found = false;
        for (size_t k = begin; k < i && !found; k++) {
            found = same_file(&files[all[k].place], &files[all[i].place]);
        }
        again[all[i].place] = found;
        n += found ? 1 : 0;
    }
    return n;
}

static void take_out(silt_scan *scan, const bool *again)
{
    silt_plan_file *files = scan->files.data;
    int64_t *marks = scan->marks.data;
    size_t kept = 0;
    for (size_t i = 0; i < scan->files.len; i++) {
        if (!again[i]) {
            files[kept] = files[i];
            marks[kept++] = marks[i];
        }
    }
    scan->files.len = kept;
    scan->marks.len = kept;
}

silt_status sl_plan_drop_again(silt_scan *scan, int64_t *n, silt_error *err)
{
    const size_t n_files = scan->files.len;
    const silt_plan_file *files = scan->files.data;
    struct sl_vec repeated;
    bool *again = NULL;
    *n = 0;
    if (n_files < 2) {
        return SILT_OK;
    }
    sl_vec_init(&repeated, scan->env, sizeof(struct sl_repeated));
    silt_status status = SILT_OK;
    uint64_t *hashes = sl_alloc_array(scan->env, n_files, sizeof(*hashes));
    for (size_t i = 0; hashes != NULL && i < n_files; i++) {
        hashes[i] = hash_file(&files[i]);
    }
    status = hashes != NULL ? sl_repeated_find(hashes, n_files, &repeated, err) : sl_fail_nomem(err);
    if (status == SILT_OK && repeated.len > 0) {
        again = sl_alloc_zero(scan->env, n_files * sizeof(*again));
        status = again != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    if (again != NULL) {
        *n = mark_again(files, &repeated, again);
        take_out(scan, again);
    }
    sl_release(scan->env, again, n_files * sizeof(*again));
    sl_release(scan->env, hashes, n_files * sizeof(*hashes));
    sl_vec_release(&repeated);
    return status;
}

/* ---- none at all ---- */

static silt_status look_at_group(void *ctx, silt_row_range rows, const silt_leaf_bounds *bounds, silt_error *err)
{
    (void)err; /* nothing can fail */
    bool *shown = ctx;
    *shown = *shown || (bounds->n_null >= 0 && bounds->n_null < rows.end - rows.begin);
    return SILT_OK;
}

silt_status sl_plan_shows_files(silt_scan *scan, const struct sl_log_view *view, const silt_call *call, bool *shown,
                                silt_error *err)
{
    static const char *const path[] = {"add", "path"};
    const silt_parquet_leaf leaf = {.path = path, .path_len = 2};
    *shown = false;
    for (size_t i = 0; i < view->checkpoint.n_parquet && !*shown; i++) {
        const silt_parquet_groups request = {.size = sizeof(request),
                                             .file = &view->checkpoint.parquet[i],
                                             .leaves = &leaf,
                                             .n_leaves = 1,
                                             .visit = look_at_group,
                                             .ctx = shown};
        SL_TRY(sl_parquet_groups(sl_snapshot_engine(scan->snapshot), call, &request, err));
    }
    return SILT_OK;
}
