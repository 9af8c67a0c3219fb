/*
 * Catalog commits in a listing; see catalog_tail.h. Pure, any thread.
 */
#include "kernel/log/catalog_tail.h"

#include <inttypes.h>

#include "base/error.h"

static silt_status check_commit(const struct sl_log_file *commit, int64_t expected, int64_t latest, silt_error *err)
{
    if (commit->version != expected) {
        return sl_fail(err, SILT_EINVALID, "DELTA_VERSIONS_NOT_CONTIGUOUS",
                       "commits of the catalog are not contiguous: version %" PRId64 " where %" PRId64 " was expected",
                       commit->version, expected);
    }
    if (commit->version < 0 || commit->version > latest) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "commit %" PRId64 " of the catalog is not among its versions 0 to %" PRId64, commit->version,
                       latest);
    }
    if (commit->content.ptr == NULL && commit->size < 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "staged commit %" PRId64 " of the catalog has a negative size",
                       commit->version);
    }
    return SILT_OK;
}

silt_status sl_catalog_tail_check(const struct sl_catalog_tail *tail, silt_error *err)
{
    if (tail->latest_version < 0) {
        return sl_fail(err, SILT_EINVALID, "DELTA_VERSION_INVALID", "%" PRId64 " is not a version of a catalog",
                       tail->latest_version);
    }
    for (size_t i = 0; i < tail->n; i++) {
        const int64_t expected = i == 0 ? tail->commits[0].version : tail->commits[i - 1].version + 1;
        SL_TRY(check_commit(&tail->commits[i], expected, tail->latest_version, err));
    }
    return SILT_OK;
}

/* Drops what the catalog has not ratified, and published commits that it holds itself. */
static size_t keep_published(const struct sl_catalog_tail *tail, struct sl_log_file *files, size_t n)
{
    const int64_t first = tail->n > 0 ? tail->commits[0].version : INT64_MAX;
    const int64_t last = tail->n > 0 ? tail->commits[tail->n - 1].version : -1;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sl_log_file *file = &files[i];
        const bool held = file->kind == SL_LOG_COMMIT && file->version >= first && file->version <= last;
        if (!held && file->end_version <= tail->latest_version) {
            files[kept++] = *file;
        }
    }
    return kept;
}

/* From the back, so that every entry moves once. */
static void weave(struct sl_log_file *files, size_t n_files, const struct sl_log_file *commits, size_t n_commits)
{
    size_t at = n_files + n_commits;
    while (n_commits > 0) {
        if (n_files > 0 && files[n_files - 1].version > commits[n_commits - 1].version) {
            files[--at] = files[--n_files];
        } else {
            files[--at] = commits[--n_commits];
        }
    }
}

silt_status sl_catalog_tail_merge(const struct sl_catalog_tail *tail, int64_t from_version, struct sl_vec *files,
                                  silt_error *err)
{
    files->len = keep_published(tail, files->data, files->len);
    size_t skipped = 0;
    while (skipped < tail->n && tail->commits[skipped].version < from_version) {
        skipped++;
    }
    const size_t n_kept = files->len;
    const size_t n_new = tail->n - skipped;
    for (size_t i = 0; i < n_new; i++) {
        if (sl_vec_push(files) == NULL) {
            return sl_fail_nomem(err);
        }
    }
    weave(files->data, n_kept, tail->commits + skipped, n_new);
    return SILT_OK;
}
