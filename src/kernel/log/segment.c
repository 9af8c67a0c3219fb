/*
 * Choice of a log segment; see segment.h. Nothing here does I/O: a listing goes in, a choice or a reason comes out, so
 * that gaps, half-written checkpoints and stale hints are tested as plain data. Called by snapshot loading and refresh.
 */
#include "kernel/log/segment.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

/* How many missing versions a message names. */
#define SHOWN_VERSIONS 10

/* A checkpoint in a listing: a run of files. */
struct found_checkpoint {
    int64_t version; /* -1: none */
    size_t first;    /* index of its first file */
    int32_t n_parts; /* 0: one file */
};

static bool is_part_of(const struct sl_log_file *file, int64_t version, int32_t n_parts)
{
    return file->kind == SL_LOG_CHECKPOINT_PART && file->version == version && file->n_parts == n_parts;
}

/* Parts of one version and count, among files [first, n) of that version: are all of them there, each once? */
static bool parts_complete(const struct sl_log_file *files, size_t n, size_t first)
{
    const int64_t version = files[first].version;
    const int32_t n_parts = files[first].n_parts;
    int32_t expected = 1;
    for (size_t i = first; i < n && files[i].version == version; i++) {
        /* Listings are in the order of names, which begin with the part's number. */
        if (is_part_of(&files[i], version, n_parts) && files[i].part == expected) {
            expected++;
        }
    }
    return expected == n_parts + 1;
}

/* The newest usable checkpoint at or below a version; a single file is preferred to parts of the same version. */
static struct found_checkpoint find_checkpoint(const struct sl_segment_request *request, int64_t at_most)
{
    struct found_checkpoint best = {.version = -1};
    for (size_t i = 0; i < request->n_files; i++) {
        const struct sl_log_file *file = &request->files[i];
        const bool excluded = request->checkpoint_below != INT64_MAX && file->version >= request->checkpoint_below;
        if (excluded || file->version > at_most || file->version < best.version) {
            continue;
        }
        if (file->kind == SL_LOG_CHECKPOINT) {
            best = (struct found_checkpoint){.version = file->version, .first = i, .n_parts = 0};
        } else if (file->kind == SL_LOG_CHECKPOINT_PART && file->part == 1 && file->version > best.version &&
                   parts_complete(request->files, request->n_files, i)) {
            best = (struct found_checkpoint){.version = file->version, .first = i, .n_parts = file->n_parts};
        }
    }
    return best;
}

int64_t sl_segment_latest(const struct sl_log_file *files, size_t n)
{
    const struct sl_segment_request request = {
        .files = files, .n_files = n, .complete = true, .checkpoint_below = INT64_MAX};
    int64_t latest = find_checkpoint(&request, INT64_MAX).version;
    for (size_t i = 0; i < n; i++) {
        if (files[i].kind == SL_LOG_COMMIT && files[i].version > latest) {
            latest = files[i].version;
        }
    }
    return latest;
}

int64_t sl_segment_earliest(const struct sl_log_file *files, size_t n)
{
    int64_t earliest = -1;
    for (size_t i = 0; i < n; i++) {
        const struct sl_log_file *file = &files[i];
        if (file->kind == SL_LOG_COMMIT && file->version == 0) {
            return 0;
        }
        const bool usable = file->kind == SL_LOG_CHECKPOINT ||
                            (file->kind == SL_LOG_CHECKPOINT_PART && file->part == 1 && parts_complete(files, n, i));
        if (usable && (earliest < 0 || file->version < earliest)) {
            earliest = file->version;
        }
    }
    return earliest;
}

/* ---- what is missing ---- */

struct gap {
    char text[SHOWN_VERSIONS * 24];
    size_t len;
    int64_t n_missing;
    int64_t before; /* version after which the gap is */
    int64_t after;  /* version before which it is */
};

static void add_missing(struct gap *gap, int64_t from, int64_t to)
{
    if (gap->n_missing == 0) {
        gap->before = from - 1;
    }
    gap->after = to + 1;
    for (int64_t v = from; v <= to && gap->n_missing + (v - from) < SHOWN_VERSIONS; v++) {
        const int n = snprintf(gap->text + gap->len, sizeof(gap->text) - gap->len, "%s%" PRId64,
                               gap->len > 0 ? ", " : "", v);
        if (n > 0 && (size_t)n < sizeof(gap->text) - gap->len) {
            gap->len += (size_t)n;
        }
    }
    gap->n_missing += to - from + 1;
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
                         "and lacks the commits of versions %s%s",
                         target, gap->text, more);
    } else {
        status = sl_fail(err, SILT_ECORRUPT, "DELTA_VERSIONS_NOT_CONTIGUOUS",
                         "versions of the log are not contiguous: %s%s missing between %" PRId64 " and %" PRId64
                         " while loading version %" PRId64,
                         gap->text, more, gap->before, gap->after, target);
    }
    sl_error_version(err, target);
    return status;
}

static const struct sl_log_file *find_v2_checkpoint(const struct sl_segment_request *request, int64_t at_most)
{
    const struct sl_log_file *best = NULL;
    for (size_t i = 0; i < request->n_files; i++) {
        const struct sl_log_file *file = &request->files[i];
        if (file->kind == SL_LOG_CHECKPOINT_V2 && file->version <= at_most &&
            (best == NULL || file->version > best->version)) {
            best = file;
        }
    }
    return best;
}

/* ---- the choice ---- */

static silt_status check_target(const struct sl_segment_request *request, int64_t latest, silt_error *err)
{
    if (request->version < 0) {
        return sl_fail(err, SILT_EINVALID, "DELTA_VERSION_INVALID", "%" PRId64 " is not a version: expected 0 or more",
                       request->version);
    }
    if (latest < 0) {
        const struct sl_log_file *v2 = find_v2_checkpoint(request, INT64_MAX);
        if (v2 != NULL) {
            return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                           "the log holds only a checkpoint of the feature v2Checkpoint (%.*s), which is not supported",
                           SL_FMT(v2->name));
        }
        return sl_fail(err, SILT_ENOTTABLE, "DELTA_TABLE_NOT_FOUND", "the log has no commits and no checkpoints");
    }
    const int64_t earliest = sl_segment_earliest(request->files, request->n_files);
    const bool too_new = request->version != SL_VERSION_LATEST && request->version > latest;
    const bool too_old = request->complete && earliest >= 0 && request->version < earliest;
    if (too_new || too_old) {
        const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND",
                                           "version %" PRId64 " is not available: expected one of %" PRId64
                                           " to %" PRId64,
                                           request->version, earliest >= 0 ? earliest : 0, latest);
        sl_error_version(err, request->version);
        return status;
    }
    return SILT_OK;
}

static silt_status fill_segment(const struct sl_segment_request *request, const struct found_checkpoint *checkpoint,
                                struct sl_arena *arena, struct sl_log_segment *out, silt_error *err)
{
    const size_t n = checkpoint->n_parts > 0 ? (size_t)checkpoint->n_parts : (checkpoint->version >= 0 ? 1 : 0);
    out->checkpoint_version = checkpoint->version;
    if (n == 0) {
        return SILT_OK;
    }
    struct sl_log_file *files = sl_arena_alloc_array(arena, n, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    size_t found = 0;
    for (size_t i = checkpoint->first; i < request->n_files && found < n; i++) {
        const struct sl_log_file *file = &request->files[i];
        if (checkpoint->n_parts == 0 || is_part_of(file, checkpoint->version, checkpoint->n_parts)) {
            files[found++] = *file;
        }
    }
    out->checkpoint = files;
    out->n_checkpoint = found;
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
    const struct found_checkpoint checkpoint = find_checkpoint(request, target);
    SL_TRY(fill_segment(request, &checkpoint, arena, out, err));
    if (checkpoint.version < target) {
        struct sl_log_file *commits = sl_arena_alloc_array(arena, request->n_files, sizeof(*commits));
        if (commits == NULL) {
            return sl_fail_nomem(err);
        }
        struct gap gap = {.before = -1, .after = -1};
        out->n_commits = collect_commits(request, checkpoint.version, target, commits, &gap);
        out->commits = commits;
        if (gap.n_missing > 0) {
            const struct sl_log_file *v2 = find_v2_checkpoint(request, target);
            if (v2 != NULL && v2->version > checkpoint.version) {
                return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                               "version %" PRId64 " can be rebuilt only from a checkpoint of the feature v2Checkpoint "
                               "(%.*s), which is not supported",
                               target, SL_FMT(v2->name));
            }
            return fail_gap(&gap, checkpoint.version, target, err);
        }
    }
    out->version = target;
    note_commit_file(request, out);
    return SILT_OK;
}
