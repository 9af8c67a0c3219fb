/*
 * Search of commits by time; see commit_search.h. Of commits with times of their own only those that a binary search probes are
 * read.
 */
#include "kernel/table/commit_search.h"

#include "base/error.h"
#include "kernel/table/commit_times.h"

static silt_status take_time(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    struct sl_log_file *file = ctx;
    if (commit->commit_info != NULL && commit->commit_info->in_commit_timestamp != SL_NO_I64) {
        file->modified_ms = commit->commit_info->in_commit_timestamp;
    }
    return SILT_OK;
}

/* The in-commit timestamp of a commit; its file's time when it lacks one against the rules. */
static silt_status read_time(const struct sl_commit_search *search, const silt_call *call, struct sl_log_file *commit,
                             silt_error *err)
{
    const struct sl_commits_request request = {
        .source = search->source, .files = commit, .n = 1, .missing = SL_MISSING_FAILS, .info_only = true};
    return sl_commits_each(&request, call, take_time, commit, err);
}

static silt_status find_by_commits(const struct sl_commit_search *search, const silt_call *call,
                                   struct sl_commit_found *out, silt_error *err)
{
    size_t low = 0;
    size_t high = out->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        SL_TRY(read_time(search, call, &out->commits[middle], err));
        if (out->commits[middle].modified_ms <= search->at_ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    out->index = low > 0 ? low - 1 : out->n;
    return SILT_OK;
}

silt_status sl_commit_search_run(const struct sl_commit_search *search, const silt_call *call,
                                 struct sl_log_file *commits, size_t n, struct sl_commit_found *out, silt_error *err)
{
    size_t n_old = 0; /* commits from before in-commit timestamps */
    while (n_old < n && commits[n_old].version < search->ict.version) {
        n_old++;
    }
    sl_commit_times_adjust(commits, n_old);
    if (n_old < n && (n_old == 0 || search->at_ms >= search->ict.timestamp_ms)) {
        *out = (struct sl_commit_found){.commits = commits + n_old, .n = n - n_old};
        return find_by_commits(search, call, out, err);
    }
    *out = (struct sl_commit_found){
        .commits = commits, .n = n_old, .index = sl_commit_times_find(commits, n_old, search->at_ms)};
    return SILT_OK;
}
