/*
 * What may go; see cleanup_plan.h. The order of deletion:
 *
 *   1. checksums and compacted files, which no version needs;
 *   2. commits, the oldest first: a version that can still be found by its time is the one that it was, since no commit goes
 *      before one that is older;
 *   3. checkpoints, when all commits before the kept one are gone (protocol_rfcs, "Checkpoint Protection": commits before their
 *      checkpoints): an interrupted clean-up leaves no commits that rest on a deleted checkpoint.
 */
#include "kernel/checkpoint/cleanup_plan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/time.h"
#include "kernel/log/segment_checkpoint.h"

#define DAY_MS INT64_C(86400000)

int64_t sl_cleanup_cutoff(int64_t now_ms, int64_t retention_ms)
{
    int64_t at = 0;
    if (retention_ms < 0 || !sl_add_i64(now_ms, -retention_ms, &at) || at < 0) {
        return 0;
    }
    return sl_floor_div(at, DAY_MS) * DAY_MS;
}

/*
 * Is the commit of this version there, with a time that no earlier commit has a part in? Times of files are made to ascend from the
 * oldest commit on (commit_times.h): were the ones before it to go, versions would change their times.
 */
static bool stands_alone(const struct sl_cleanup_facts *facts, int64_t version)
{
    int64_t newest = INT64_MIN; /* time of the commit before, as readers see it */
    for (size_t i = 0; i < facts->n_files && facts->files[i].version <= version; i++) {
        const struct sl_log_file *file = &facts->files[i];
        if (file->kind != SL_LOG_COMMIT) {
            continue;
        }
        const bool ascends = file->modified_ms > newest;
        if (file->version == version) {
            return ascends || version >= facts->first_timed_version;
        }
        newest = ascends ? file->modified_ms : newest + 1;
    }
    return false;
}

static bool has_commit(const struct sl_cleanup_facts *facts, int64_t version)
{
    for (size_t i = 0; i < facts->n_files; i++) {
        if (facts->files[i].kind == SL_LOG_COMMIT && facts->files[i].version == version) {
            return true;
        }
    }
    return false;
}

/* *passed_over: there is a newer one, which does not stand alone. */
static struct sl_found_checkpoint choose_checkpoint(const struct sl_cleanup_facts *facts, bool *passed_over)
{
    *passed_over = false;
    int64_t at_most = facts->cutoff_version;
    struct sl_found_checkpoint found = sl_checkpoint_find(facts->files, facts->n_files, at_most, &facts->bad);
    while (found.version >= 0 && !stands_alone(facts, found.version)) {
        *passed_over = *passed_over || has_commit(facts, found.version);
        at_most = found.version - 1;
        found = sl_checkpoint_find(facts->files, facts->n_files, at_most, &facts->bad);
    }
    return found;
}

static bool is_checkpoint(const struct sl_log_file *file)
{
    return file->kind == SL_LOG_CHECKPOINT || file->kind == SL_LOG_CHECKPOINT_PART ||
           file->kind == SL_LOG_CHECKPOINT_V2;
}

static bool is_extra(const struct sl_log_file *file)
{
    return file->kind == SL_LOG_CRC || file->kind == SL_LOG_COMPACTED;
}

/* A compacted file that begins at the kept checkpoint's version says nothing that it does not. */
static bool is_before(const struct sl_log_file *file, int64_t version)
{
    return file->version < version || (file->kind == SL_LOG_COMPACTED && file->version == version);
}

/* Listings ascend, and so does each part of the plan. */
static void collect(const struct sl_cleanup_facts *facts, struct sl_log_file *files, struct sl_cleanup_plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < facts->n_files; i++) {
        if (is_extra(&facts->files[i]) && is_before(&facts->files[i], plan->checkpoint_version)) {
            files[n++] = facts->files[i];
        }
    }
    plan->n_extras = n;
    for (size_t i = 0; i < facts->n_files; i++) {
        if (facts->files[i].kind == SL_LOG_COMMIT && is_before(&facts->files[i], plan->checkpoint_version)) {
            files[n++] = facts->files[i];
        }
    }
    plan->n_commits = n - plan->n_extras;
    for (size_t i = 0; i < facts->n_files; i++) {
        if (is_checkpoint(&facts->files[i]) && is_before(&facts->files[i], plan->checkpoint_version)) {
            files[n++] = facts->files[i];
        }
    }
    plan->files = files;
    plan->n_files = n;
}

silt_status sl_cleanup_plan_make(const struct sl_cleanup_facts *facts, struct sl_arena *arena,
                                 struct sl_cleanup_plan *out, silt_error *err)
{
    *out = (struct sl_cleanup_plan){.checkpoint_version = -1};
    if (facts->cutoff_version < 0) {
        return SILT_OK;
    }
    bool passed_over = false;
    out->checkpoint = choose_checkpoint(facts, &passed_over);
    out->checkpoint_version = out->checkpoint.version;
    if (out->checkpoint_version < 0) {
        out->verdict = passed_over ? SL_CLEANUP_NOT_ALONE : SL_CLEANUP_NO_CHECKPOINT;
        return SILT_OK;
    }
    struct sl_log_file *files = sl_arena_alloc_array(arena, facts->n_files, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    collect(facts, files, out);
    if (out->n_files > 0 && out->checkpoint_version < facts->protected_before) {
        out->verdict = SL_CLEANUP_PROTECTED;
        out->n_files = 0;
        return SILT_OK;
    }
    if (out->n_files > 0) {
        out->verdict = SL_CLEANUP_FILES;
    } else {
        out->verdict = passed_over ? SL_CLEANUP_NOT_ALONE : SL_CLEANUP_NOTHING;
    }
    return SILT_OK;
}
