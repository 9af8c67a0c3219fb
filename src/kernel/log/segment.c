/*
 * Choice of a log segment; see segment.h. Nothing here does I/O: a listing goes in, a choice or a reason comes out, so
 * that gaps, half-written checkpoints and stale hints are tested as plain data. Called by snapshot loading and refresh.
 */
#include "kernel/log/segment.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "kernel/log/segment_checkpoint.h"

/* How many missing versions a message names. */
#define SHOWN_VERSIONS 10

int64_t sl_segment_latest(const struct sl_log_file *files, size_t n)
{
    /* One that proved bad counts as well: its version was committed. */
    int64_t latest = sl_checkpoint_find(files, n, INT64_MAX, NULL).version;
    for (size_t i = 0; i < n; i++) {
        if (files[i].kind == SL_LOG_COMMIT && files[i].version > latest) {
            latest = files[i].version;
        }
    }
    return latest;
}

int64_t sl_segment_earliest(const struct sl_log_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (files[i].kind == SL_LOG_COMMIT && files[i].version == 0) {
            return 0;
        }
    }
    return sl_checkpoint_oldest(files, n);
}

/* ---- what a clean-up leaves ---- */

/* The oldest commit, if those from it to the newest are without a gap; -1 if not, or if there is none. */
static int64_t first_of_whole_run(const struct sl_segment_request *request)
{
    int64_t first = -1;
    int64_t last = -1;
    for (size_t i = 0; i < request->n_files; i++) {
        const struct sl_log_file *file = &request->files[i];
        if (file->kind != SL_LOG_COMMIT || file->version == last) {
            continue;
        }
        if (first >= 0 && file->version != last + 1) {
            return -1;
        }
        first = first < 0 ? file->version : first;
        last = file->version;
    }
    return first;
}

/*
 * A clean-up deletes commits, the oldest first, and then checkpoints. One that was interrupted leaves older checkpoints before a gap, and
 * commits behind it that nothing stands under. Then this is the first version from which on all can be rebuilt; -1 if the listing is no
 * such one.
 */
static int64_t first_after_clean_up(const struct sl_segment_request *request)
{
    const int64_t first = request->complete && request->bad.n == 0 ? first_of_whole_run(request) : -1;
    if (first <= 0) {
        return -1;
    }
    const int64_t oldest = sl_checkpoint_oldest(request->files, request->n_files);
    int64_t solid = -1;
    int64_t at_most = INT64_MAX;
    while (at_most >= first - 1) {
        const int64_t version = sl_checkpoint_find(request->files, request->n_files, at_most, NULL).version;
        if (version < first - 1) {
            break;
        }
        solid = version;
        at_most = version - 1;
    }
    return oldest >= 0 && oldest < solid ? solid : -1;
}

static silt_status fail_unavailable(int64_t version, int64_t earliest, int64_t latest, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND",
                                       "version %" PRId64 " is not available: expected one of %" PRId64 " to %" PRId64,
                                       version, earliest, latest);
    sl_error_version(err, version);
    return status;
}

/* ---- what is missing ---- */

struct gap {
    char text[SHOWN_VERSIONS * 24];
    size_t len;
    int64_t n_missing;
    int64_t before; /* version after which the gap is */
    int64_t after;  /* version before which it is */
};

/* 0 <= from <= to; the last may be INT64_MAX. */
static void add_missing(struct gap *gap, int64_t from, int64_t to)
{
    if (gap->n_missing == 0) {
        gap->before = from - 1;
    }
    gap->after = to < INT64_MAX ? to + 1 : to;
    for (int64_t i = 0; i <= to - from && i < SHOWN_VERSIONS - gap->n_missing; i++) {
        const int n = snprintf(gap->text + gap->len, sizeof(gap->text) - gap->len, "%s%" PRId64,
                               gap->len > 0 ? ", " : "", from + i);
        if (n > 0 && (size_t)n < sizeof(gap->text) - gap->len) {
            gap->len += (size_t)n;
        }
    }
    const int64_t others = to - from < INT64_MAX ? to - from + 1 : INT64_MAX;
    gap->n_missing = others < INT64_MAX - gap->n_missing ? gap->n_missing + others : INT64_MAX;
}

/* The commits in (after, target], ascending, into `commits` (room for all that are listed); gaps are noted. */
static size_t collect_commits(const struct sl_segment_request *request, int64_t after, int64_t target,
                              struct sl_log_file *commits, struct gap *gap)
{
    size_t n = 0;
    int64_t next = after + 1; /* after < INT64_MAX: see the caller */
    for (size_t i = 0; i < request->n_files; i++) {
        const struct sl_log_file *file = &request->files[i];
        if (file->kind != SL_LOG_COMMIT || file->version < next || file->version > target) {
            continue;
        }
        if (file->version > next) {
            add_missing(gap, next, file->version - 1);
        }
        commits[n++] = *file;
        next = file->version < INT64_MAX ? file->version + 1 : INT64_MAX;
    }
    const bool reached = n > 0 ? commits[n - 1].version == target : after == target;
    if (!reached) {
        add_missing(gap, next, target);
    }
    return n;
}

static silt_status fail_gap(const struct gap *gap, int64_t checkpoint_version, int64_t target, silt_error *err)
{
    const char *more = gap->n_missing > SHOWN_VERSIONS ? ", ..." : "";
    silt_status status = SILT_OK;
    if (checkpoint_version < 0 && gap->before < 0) {
        status = sl_fail(err, SILT_ECORRUPT, "DELTA_TRUNCATED_TRANSACTION_LOG",
                         "version %" PRId64 " cannot be rebuilt: the log has no complete checkpoint at or before it "
                         "and lacks the %s %s%s",
                         target, gap->n_missing == 1 ? "commit of version" : "commits of versions", gap->text, more);
    } else {
        status = sl_fail(err, SILT_ECORRUPT, "DELTA_VERSIONS_NOT_CONTIGUOUS",
                         "versions of the log are not contiguous: %s%s missing between %" PRId64 " and %" PRId64
                         " while loading version %" PRId64,
                         gap->text, more, gap->before, gap->after, target);
    }
    sl_error_version(err, target);
    return status;
}

/* ---- compacted files ---- */

/*
 * The compacted file that stands for the most commits from a version on, up to the target; NULL if there is none. *at goes through
 * the listing once, as the versions ascend.
 */
static const struct sl_log_file *find_compacted(const struct sl_segment_request *request, int64_t from, int64_t target,
                                                size_t *at)
{
    const struct sl_log_file *best = NULL;
    while (*at < request->n_files && request->files[*at].version < from) {
        (*at)++;
    }
    for (size_t i = *at; i < request->n_files && request->files[i].version == from; i++) {
        const struct sl_log_file *file = &request->files[i];
        /* One of no bytes is what a crash leaves of it. */
        if (file->kind == SL_LOG_COMPACTED && file->end_version <= target && file->size != 0 &&
            (best == NULL || file->end_version > best->end_version)) {
            best = file;
        }
    }
    return best;
}

/* Puts compacted files in the place of the commits that they cover; all commits are there. Returns the number of files. */
static size_t compact(const struct sl_segment_request *request, int64_t target, struct sl_log_file *commits, size_t n,
                      bool *has_compacted)
{
    size_t kept = 0;
    size_t i = 0;
    size_t at = 0;
    while (i < n) {
        const struct sl_log_file *compacted = find_compacted(request, commits[i].version, target, &at);
        if (compacted == NULL) {
            commits[kept++] = commits[i++];
            continue;
        }
        while (i < n && commits[i].version <= compacted->end_version) {
            i++;
        }
        commits[kept++] = *compacted;
        *has_compacted = true;
    }
    return kept;
}

static bool any_compacted(const struct sl_segment_request *request)
{
    for (size_t i = 0; i < request->n_files; i++) {
        if (request->files[i].kind == SL_LOG_COMPACTED) {
            return !request->commits_only;
        }
    }
    return false;
}

/* ---- the choice ---- */

static silt_status check_target(const struct sl_segment_request *request, int64_t latest, silt_error *err)
{
    if (request->version < 0) {
        return sl_fail(err, SILT_EINVALID, "DELTA_VERSION_INVALID", "%" PRId64 " is not a version: expected 0 or more",
                       request->version);
    }
    if (latest < 0) {
        return sl_fail(err, SILT_ENOTTABLE, "DELTA_TABLE_NOT_FOUND", "the log has no commits and no checkpoints");
    }
    const int64_t earliest = sl_segment_earliest(request->files, request->n_files);
    const bool too_new = request->version != SL_VERSION_LATEST && request->version > latest;
    const bool too_old = request->complete && earliest >= 0 && request->version < earliest;
    if (too_new || too_old) {
        const int64_t solid = first_after_clean_up(request);
        return fail_unavailable(request->version, solid >= 0 ? solid : earliest >= 0 ? earliest : 0, latest, err);
    }
    return SILT_OK;
}

/* ---- filling ---- */

static silt_status take_checkpoint(const struct sl_segment_request *request, int64_t target, struct sl_arena *arena,
                                   struct sl_log_segment *out, silt_error *err)
{
    const struct sl_found_checkpoint found = sl_checkpoint_find(request->files, request->n_files, target,
                                                                &request->bad);
    out->checkpoint_version = found.version;
    if (found.version < 0) {
        return SILT_OK;
    }
    struct sl_log_file *files = NULL;
    out->n_checkpoint = sl_checkpoint_files(request->files, request->n_files, &found, arena, &files);
    out->checkpoint = files;
    return files == NULL ? sl_fail_nomem(err) : SILT_OK;
}

static silt_status take_commits(const struct sl_segment_request *request, int64_t target, struct sl_arena *arena,
                                struct sl_log_segment *out, silt_error *err)
{
    if (out->checkpoint_version >= target) {
        return SILT_OK;
    }
    struct sl_log_file *commits = sl_arena_alloc_array(arena, request->n_files, sizeof(*commits));
    if (commits == NULL) {
        return sl_fail_nomem(err);
    }
    struct gap gap = {.before = -1, .after = -1};
    out->n_commits = collect_commits(request, out->checkpoint_version, target, commits, &gap);
    out->commits = commits;
    if (gap.n_missing > 0) {
        const int64_t solid = first_after_clean_up(request);
        if (target < solid) {
            return fail_unavailable(target, solid, sl_segment_latest(request->files, request->n_files), err);
        }
        return fail_gap(&gap, out->checkpoint_version, target, err);
    }
    if (any_compacted(request)) {
        out->n_commits = compact(request, target, commits, out->n_commits, &out->has_compacted);
    }
    return SILT_OK;
}

static silt_status take_crcs(const struct sl_segment_request *request, int64_t target, struct sl_arena *arena,
                             struct sl_log_segment *out, silt_error *err)
{
    size_t n = 0;
    struct sl_log_file *crcs = NULL;
    for (size_t i = 0; i < request->n_files; i++) {
        const struct sl_log_file *file = &request->files[i];
        if (file->kind != SL_LOG_CRC || file->version > target || file->version < out->checkpoint_version) {
            continue;
        }
        if (crcs == NULL) {
            crcs = sl_arena_alloc_array(arena, request->n_files - i, sizeof(*crcs));
            if (crcs == NULL) {
                return sl_fail_nomem(err);
            }
        }
        crcs[n++] = *file;
    }
    out->crcs = crcs;
    out->n_crcs = n;
    return SILT_OK;
}

static void note_commit_file(const struct sl_segment_request *request, struct sl_log_segment *out)
{
    for (size_t i = request->n_files; i > 0; i--) {
        const struct sl_log_file *file = &request->files[i - 1];
        if (file->kind == SL_LOG_COMMIT && file->version == out->version) {
            out->has_commit_file = true;
            out->commit_file = *file;
            return;
        }
    }
}

silt_status sl_segment_choose(const struct sl_segment_request *request, struct sl_arena *arena,
                              struct sl_log_segment *out, silt_error *err)
{
    *out = (struct sl_log_segment){.version = -1, .checkpoint_version = -1};
    const int64_t latest = sl_segment_latest(request->files, request->n_files);
    SL_TRY(check_target(request, latest, err));
    const int64_t target = request->version == SL_VERSION_LATEST ? latest : request->version;
    SL_TRY(take_checkpoint(request, target, arena, out, err));
    SL_TRY(take_commits(request, target, arena, out, err));
    SL_TRY(take_crcs(request, target, arena, out, err));
    out->version = target;
    note_commit_file(request, out);
    return SILT_OK;
}
