/*
 * The check of a table (silt/commands.h): its course, and the telling of findings. See fsck_int.h for the parts.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "commands/fsck_int.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

#define MAX_FINDINGS 1000
#define MESSAGE_SIZE 1024
#define NUMBER_SIZE 32
#define MAX_WALKS 4 /* through a log of which others take away parts */

static const char *const NAMES[SL_FSCK_CHECKS] = {
    [SL_FSCK_LOG] = "log",
    [SL_FSCK_COMMIT] = "commit",
    [SL_FSCK_CHECKPOINT] = "checkpoint",
    [SL_FSCK_COMPACTED] = "compacted",
    [SL_FSCK_HINT] = "last-checkpoint",
    [SL_FSCK_CHECKSUM] = "checksum",
    [SL_FSCK_FILE] = "file",
    [SL_FSCK_DATA] = "data",
    [SL_FSCK_VECTOR] = "deletion-vector",
    [SL_FSCK_STATISTICS] = "statistics",
    [SL_FSCK_PARTITION] = "partition-value",
    [SL_FSCK_ROW_ID] = "row-id",
    [SL_FSCK_CHANGE_FILE] = "change-file",
};

/* ---- findings ---- */

/* NUL-terminated for the caller; NULL for an absent one. False when out of memory. */
static bool text_of(struct sl_arena *arena, struct sl_str text, const char **out)
{
    *out = text.ptr != NULL ? sl_arena_strdup(arena, text) : NULL;
    return text.ptr == NULL || *out != NULL;
}

static silt_status tell(struct sl_fsck *fsck, const struct sl_fsck_about *about, const char *message, silt_error *err)
{
    const int64_t most = fsck->options.max_findings > 0 ? fsck->options.max_findings : MAX_FINDINGS;
    fsck->report.faults += about->severity == SILT_FSCK_FAULT ? 1 : 0;
    fsck->report.notes += about->severity == SILT_FSCK_NOTE ? 1 : 0;
    if (fsck->told[about->check] >= most) {
        fsck->report.untold++;
        return SILT_OK;
    }
    fsck->told[about->check]++;
    silt_fsck_finding finding = {.size = sizeof(finding),
                                 .severity = about->severity,
                                 .check = NAMES[about->check],
                                 .version = about->version,
                                 .message = message};
    const bool holds = sl_fsck_holds(fsck, about);
    struct sl_arena own;
    struct sl_arena *arena = holds ? &fsck->held_arena : &own;
    sl_arena_init(&own, fsck->env);
    const bool copied = text_of(arena, about->file, &finding.file) && text_of(arena, about->column, &finding.column) &&
                        text_of(arena, about->expected, &finding.expected) &&
                        text_of(arena, about->found, &finding.found);
    silt_status status = copied ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK && holds) {
        status = sl_fsck_hold(fsck, &finding, err);
    } else if (status == SILT_OK && !fsck->on_finding(fsck->ctx, &finding)) {
        status = sl_fail(err, SILT_ECANCELLED, NULL, "no more findings were wanted");
    }
    sl_arena_release(&own);
    return status;
}

silt_status sl_fsck_tell(struct sl_fsck *fsck, const struct sl_fsck_about *about, silt_error *err, const char *format,
                         ...)
{
    char message[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args); /* cut off where it is too long */
    va_end(args);
    return tell(fsck, about, message, err);
}

silt_status sl_fsck_tell_numbers(struct sl_fsck *fsck, const struct sl_fsck_about *about, int64_t expected,
                                 int64_t found, const char *what, silt_error *err)
{
    char expected_text[NUMBER_SIZE];
    char found_text[NUMBER_SIZE];
    struct sl_fsck_about full = *about;
    (void)snprintf(expected_text, sizeof(expected_text), "%" PRId64, expected);
    (void)snprintf(found_text, sizeof(found_text), "%" PRId64, found);
    full.expected = sl_str_from(expected_text);
    full.found = sl_str_from(found_text);
    return sl_fsck_tell(fsck, &full, err, "%s is stated as %s where %s is right", what, found_text, expected_text);
}

/* Without what these checks look at, the ones after them would find faults that are none. */
static bool is_of_log(enum sl_fsck_check check)
{
    return check == SL_FSCK_LOG || check == SL_FSCK_COMMIT || check == SL_FSCK_CHECKPOINT;
}

silt_status sl_fsck_tell_failure(struct sl_fsck *fsck, const struct sl_fsck_about *about, const silt_error *failure,
                                 silt_error *err)
{
    const silt_status status = failure->status;
    if (status == SILT_EACCESS && !is_of_log(about->check)) {
        fsck->refused = fsck->n_refused == 0 ? *failure : fsck->refused;
        fsck->n_refused++;
        return SILT_OK;
    }
    if (status == SILT_ENOMEM || status == SILT_ECANCELLED || status == SILT_EDEADLINE || status == SILT_EACCESS ||
        status == SILT_EIO) {
        if (err != NULL) {
            *err = *failure;
        }
        return status;
    }
    return tell(fsck, about, failure->message, err);
}

static silt_status fail_refused(const struct sl_fsck *fsck, silt_error *err)
{
    if (fsck->n_refused == 0) {
        return SILT_OK;
    }
    if (err != NULL) {
        *err = fsck->refused;
        sl_error_hint(err, "%" PRId64 " of what was to be looked at was refused, so that the check is not complete",
                      fsck->n_refused);
    }
    return fsck->refused.status;
}

/* ---- the course ---- */

/* What silt does not know is no fault of the table. */
static silt_status open_snapshot(struct sl_fsck *fsck, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    if (silt_table_latest_snapshot(fsck->table, fsck->call, &fsck->snapshot, &found) == SILT_OK) {
        fsck->report.readable = true;
        fsck->report.version = silt_snapshot_version(fsck->snapshot);
        return SILT_OK;
    }
    const struct sl_fsck_about about = {.severity = found.status == SILT_EUNSUPPORTED ? SILT_FSCK_NOTE
                                                                                      : SILT_FSCK_FAULT,
                                        .check = SL_FSCK_LOG,
                                        .version = found.version};
    return sl_fsck_tell_failure(fsck, &about, &found, err);
}

static silt_status list_log(struct sl_fsck *fsck, silt_error *err)
{
    bool exists = false;
    SL_TRY(sl_table_list_log(fsck->table, fsck->call, 0, &fsck->arena, &fsck->listing, &exists, err));
    if (!exists || fsck->listing.len == 0) {
        return sl_table_absent(fsck->table, fsck->call, err);
    }
    fsck->report.version = sl_segment_latest(fsck->listing.data, fsck->listing.len);
    return SILT_OK;
}

static silt_status check_log_once(struct sl_fsck *fsck, silt_error *err)
{
    SL_TRY(list_log(fsck, err));
    SL_TRY(open_snapshot(fsck, err));
    SL_TRY(sl_fsck_hint(fsck, err));
    SL_TRY(sl_fsck_log(fsck, err));
    return fsck->snapshot != NULL ? sl_fsck_row_ids(fsck, err) : SILT_OK;
}

/* Everything that the walk made, but for the state of the process. */
static void start_over(struct sl_fsck *fsck)
{
    sl_fsck_held_forget(fsck);
    silt_snapshot_unref(fsck->snapshot);
    fsck->snapshot = NULL;
    sl_vec_release(&fsck->listing);
    sl_arena_release(&fsck->arena);
    sl_arena_init(&fsck->arena, fsck->env);
    sl_vec_init(&fsck->listing, fsck->env, sizeof(struct sl_log_file));
    memset(fsck->told, 0, sizeof(fsck->told));
    fsck->n_refused = 0;
    fsck->report = (silt_fsck_report){.size = fsck->report.size, .version = -1, .seed = fsck->report.seed};
}

/* Who meets a clean-up of the log goes through what it left. */
static silt_status check_log(struct sl_fsck *fsck, silt_error *err)
{
    fsck->hold = SL_FSCK_HOLD_ALL;
    silt_status status = check_log_once(fsck, err);
    for (int i = 1; i < MAX_WALKS && status == SILT_OK && fsck->report.faults > 0 && sl_fsck_log_lost_files(fsck);
         i++) {
        start_over(fsck);
        status = check_log_once(fsck, err);
    }
    const silt_status told = sl_fsck_tell_held(fsck, status == SILT_OK ? err : NULL);
    fsck->hold = SL_FSCK_HOLD_NONE;
    return status == SILT_OK ? told : status;
}

static silt_status check_files(struct sl_fsck *fsck, silt_error *err)
{
    fsck->hold = SL_FSCK_HOLD_DOUBTFUL;
    silt_status status = sl_fsck_files(fsck, err);
    if (status == SILT_OK) {
        status = sl_fsck_drop_dead_files(fsck, err);
    }
    const silt_status told = sl_fsck_tell_held(fsck, status == SILT_OK ? err : NULL);
    fsck->hold = SL_FSCK_HOLD_NONE;
    return status == SILT_OK ? told : status;
}

static silt_status check(struct sl_fsck *fsck, silt_error *err)
{
    SL_TRY(check_log(fsck, err));
    if (fsck->snapshot != NULL && !fsck->options.no_data) {
        SL_TRY(check_files(fsck, err));
    }
    return fail_refused(fsck, err);
}

static silt_status take_options(struct sl_fsck *fsck, const silt_fsck_options *options, silt_error *err)
{
    if (options == NULL) {
        return SILT_OK;
    }
    fsck->options = *options;
    const bool whole = options->sample_files <= 0 && !(options->sample_fraction > 0 && options->sample_fraction < 1);
    if (whole || options->no_data) {
        return SILT_OK;
    }
    while (fsck->options.seed == 0) {
        SL_TRY(sl_commit_seed(fsck->env, &fsck->options.seed, err));
        fsck->options.seed &= UINT32_MAX; /* short enough to be typed again */
    }
    fsck->report.seed = fsck->options.seed;
    return SILT_OK;
}

silt_status silt_table_fsck(silt_table *table, const silt_call *call, const silt_fsck_options *options,
                            bool (*on_finding)(void *ctx, const silt_fsck_finding *finding), void *ctx,
                            silt_fsck_report *report, silt_error *err)
{
    if (table == NULL || on_finding == NULL || report == NULL || report->size < sizeof(*report) ||
        (options != NULL && options->size < sizeof(*options))) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_fsck needs a table, a callback and a report of its size");
    }
    silt_engine *engine = silt_table_engine(table);
    struct sl_fsck fsck = {.env = silt_engine_env(engine),
                           .table = table,
                           .call = call,
                           .report = {.size = sizeof(*report), .version = -1},
                           .on_finding = on_finding,
                           .ctx = ctx,
                           .source = {engine, sl_table_storage(table), sl_table_root(table)}};
    sl_arena_init(&fsck.arena, fsck.env);
    sl_vec_init(&fsck.listing, fsck.env, sizeof(struct sl_log_file));
    sl_fsck_held_init(&fsck);
    silt_status status = take_options(&fsck, options, err);
    if (status == SILT_OK) {
        status = check(&fsck, err);
    }
    silt_snapshot_unref(fsck.snapshot);
    sl_fsck_held_release(&fsck);
    sl_vec_release(&fsck.listing);
    sl_arena_release(&fsck.arena);
    *report = fsck.report;
    return status;
}
