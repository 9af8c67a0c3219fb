/*
 * The commit loop. Only the answer to the request for a version decides who owns it; everything here is about what the answer means.
 *
 *  - DONE: committed.
 *  - EXISTS: the version is read. It can still be ours, when an earlier request of ours landed and its answer was lost
 *    below us; the bytes tell, for they hold the transaction's id, and until they were read it is as if there were no answer.
 *    Another's: every winner up to the end of the log is read and checked once, the transaction is rebased onto it, and the
 *    next version is tried with a file that is made anew for it.
 *    Where there is nothing to read, time and again, the name is not taken by a file, and waiting does not help.
 *  - not asked at all: of a version that was seen to be another's before the first request. It is passed as any winner.
 *  - no answer: the version is read back. Ours: committed. Another's: as above. Absent: the request may still land, so the
 *    same bytes go to the same name again, and nothing else is done, until there is an answer or time is up: then
 *    the outcome is unknown.
 *
 * The caller's thread does all of it. PROTOCOL.md "Creation of New Log Entries".
 */
#include "kernel/txn/commit_loop.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/log/commit.h"
#include "silt/version.h"

#define FIRST_PAUSE_US 5000
#define LONGEST_PAUSE_US 1000000
/* Losing a race a few times is normal among writers of one table; only then is it worth to wait. */
#define ROUNDS_WITHOUT_PAUSE 3
/* How often a store may say that a name is taken and have no file there; with the pauses between it is a second or two. */
#define MAX_EMPTY_NAMES 8
#define REQUEST_US (10 * INT64_C(1000000)) /* what a request gets when time is as good as up: enough for one answer */

enum look {
    LOOK_OURS,
    LOOK_OTHER,
    LOOK_ABSENT,
    LOOK_BROKEN, /* another's, but it cannot be understood */
    LOOK_FAILED  /* it could not be read */
};

struct run {
    const struct sl_commit_job *job;
    const silt_call *call;
    struct sl_commit_end *end;
    struct sl_rebase *rebase; /* its version is the one in question */
    struct sl_buf *bytes;     /* of the commit file */
    struct sl_txn_facts facts;
    bool rendered;         /* the bytes are those for this version */
    bool taken;            /* the last answer was that the name is */
    bool open;             /* the version may be ours: a request got no answer, or one that was not read back yet */
    int64_t stop_us;       /* monotonic: no other version is tried after it */
    int64_t give_up_us;    /* monotonic; of the follow-up of an open request, 0 if none runs */
    uint32_t rounds;       /* of waiting, for the back-off */
    uint32_t empty_names;  /* answers in a row that the name is taken, while there is no file to read */
    struct sl_arena arena; /* of the commit that was read last */
    struct sl_buf read;    /* its bytes */
    silt_error last;       /* why the last call failed */
};

/* For one request to the log: it ends when the follow-up does, or the time for winning a version, but has time for one answer. */
static silt_call call_in_time(const struct run *run)
{
    const silt_call *outer = run->call;
    silt_call call = {.size = sizeof(call),
                      .abi_version = outer != NULL ? outer->abi_version : SILT_ABI_VERSION,
                      .deadline_us = outer != NULL ? outer->deadline_us : 0,
                      .cancel = outer != NULL ? outer->cancel : NULL};
    int64_t end_us = run->give_up_us > 0 ? run->give_up_us : run->stop_us;
    int64_t soonest_us = 0;
    if (end_us > 0 && sl_add_i64(sl_monotonic_us(run->job->env), REQUEST_US, &soonest_us)) {
        end_us = end_us > soonest_us ? end_us : soonest_us;
        call.deadline_us = call.deadline_us == 0 || end_us < call.deadline_us ? end_us : call.deadline_us;
    }
    return call;
}

/* A request is open. When it is given up: after the time for that, and with the time for winning a version, but never at once. */
static void begin_follow_up(struct run *run)
{
    const int64_t now_us = sl_monotonic_us(run->job->env);
    int64_t soonest_us = INT64_MAX;
    run->open = true;
    if (run->give_up_us != 0) {
        return;
    }
    if (!sl_add_i64(now_us, run->job->resolve_us, &run->give_up_us)) {
        run->give_up_us = INT64_MAX;
    }
    if (run->stop_us > 0 && run->stop_us < run->give_up_us && sl_add_i64(now_us, REQUEST_US, &soonest_us)) {
        const int64_t end_us = run->stop_us > soonest_us ? run->stop_us : soonest_us;
        run->give_up_us = end_us < run->give_up_us ? end_us : run->give_up_us;
    }
}

static void clear_arena(struct run *run)
{
    sl_arena_release(&run->arena);
    sl_arena_init(&run->arena, run->job->env);
}

/* Reads the version and tells whose it is; *status is that of the failure for the last two. */
static enum look look_at(struct run *run, struct sl_commit *commit, silt_status *status)
{
    const struct sl_commit_job *job = run->job;
    const silt_call call = call_in_time(run);
    clear_arena(run);
    silt_error found = SILT_ERROR_INIT;
    *status = sl_place_read(job->place, &call, run->rebase->version, &run->read, &found);
    if (*status == SILT_ENOTFOUND) {
        return LOOK_ABSENT;
    }
    if (*status != SILT_OK) {
        run->last = found;
        return LOOK_FAILED;
    }
    const struct sl_str bytes = sl_buf_view(&run->read);
    if (run->rendered && sl_str_eq(bytes, sl_buf_view(run->bytes))) {
        return LOOK_OURS;
    }
    *status = sl_commit_parse(job->env, &run->arena, run->rebase->version, bytes, commit, &found);
    run->last = found;
    return *status == SILT_OK ? LOOK_OTHER : LOOK_BROKEN;
}

/* Full jitter; without random bytes half of the span. Returns as sl_call_check. */
static silt_status pause_randomly(struct run *run)
{
    int64_t span = FIRST_PAUSE_US;
    for (uint32_t i = 0; i < run->rounds && span < LONGEST_PAUSE_US; i++) {
        span *= 2;
    }
    span = span < LONGEST_PAUSE_US ? span : LONGEST_PAUSE_US;
    uint32_t random = 0;
    int64_t pause = span / 2;
    if (run->job->env->random_bytes(run->job->env->ctx, &random, sizeof(random)) == SILT_OK) {
        pause = (int64_t)(random % (uint64_t)span);
    }
    run->rounds++;
    return sl_call_sleep(run->job->env, run->call, pause, &run->last);
}

static silt_status finish(struct run *run, silt_commit_outcome outcome)
{
    run->end->outcome = outcome;
    run->end->version = run->rebase->version;
    return SILT_OK;
}

/* For the result only: what there is no memory for is left out. */
static struct sl_str keep(struct run *run, struct sl_str text)
{
    return text.ptr != NULL ? sl_arena_copy(run->rebase->arena, text) : text;
}

static silt_status finish_conflict(struct run *run, const struct sl_conflict_verdict *verdict, silt_error *err)
{
    run->end->outcome = SILT_COMMIT_CONFLICT;
    run->end->conflict = verdict->kind;
    run->end->version = verdict->winner_version;
    run->end->operation = keep(run, verdict->winner_operation);
    run->end->path = keep(run, verdict->path);
    run->end->partition = sl_conflict_partition_text(verdict, run->rebase->arena);
    return sl_conflict_fail(verdict, &run->arena, err);
}

static silt_status finish_unknown(struct run *run, silt_error *err)
{
    const int64_t version = run->rebase->version;
    sl_ignore(finish(run, SILT_COMMIT_UNKNOWN));
    const silt_status status = sl_fail(
        err, SILT_EUNKNOWN, NULL, "it could not be learned whether version %lld holds this transaction (txnId %s)%s%s",
        (long long)version, run->job->txn_id, run->last.message[0] != '\0' ? "; last: " : "", run->last.message);
    sl_error_version(err, version);
    sl_error_hint(err, "before trying again, compare it with the txnId of the version's commitInfo");
    return status;
}

/* A failure after which nothing of ours is, or will be, in the log. */
static silt_status finish_failed(struct run *run, silt_status status, silt_error *err)
{
    run->end->outcome = SILT_COMMIT_CONFLICT;
    const silt_status returned = sl_fail(err, status, run->last.code_name[0] != '\0' ? run->last.code_name : NULL, "%s",
                                         run->last.message);
    sl_error_path(err, run->last.path);
    if (run->last.hint[0] != '\0') {
        sl_error_hint(err, "%s", run->last.hint);
    }
    return returned;
}

static silt_status finish_dropped(struct run *run, silt_error *err)
{
    run->end->outcome = SILT_COMMIT_CONFLICT;
    run->end->conflict = SILT_CONFLICT_CONCURRENT_WRITE;
    return sl_conflict_dropped(run->facts.read_version, err);
}

/* The version was seen a moment ago, and cannot be read any more. */
static silt_status finish_expired(struct run *run, silt_error *err)
{
    run->end->outcome = SILT_COMMIT_CONFLICT;
    run->end->conflict = SILT_CONFLICT_CONCURRENT_WRITE;
    return sl_conflict_expired(run->facts.read_version, err);
}

/* Puts the transaction on top of a winner that does not stand against it. */
static silt_status pass_winner(struct run *run, struct sl_commit *winner)
{
    struct sl_rebase *rebase = run->rebase;
    if (rebase->needs_file_times &&
        (winner->commit_info == NULL || winner->commit_info->in_commit_timestamp == SL_NO_I64)) {
        SL_TRY(sl_place_time(run->job->place, run->call, winner->version, &winner->modified_ms, &run->last));
    }
    SL_TRY(sl_rebase_pass(rebase, winner, &run->last));
    run->facts.actions = rebase->actions;
    run->facts.n_actions = rebase->n_actions;
    run->facts.protocol = rebase->protocol;
    run->facts.metadata = rebase->metadata;
    run->rendered = false;
    return SILT_OK;
}

static bool is_used_up(const struct run *run)
{
    return run->end->attempts >= run->job->max_attempts ||
           (run->stop_us > 0 && sl_monotonic_us(run->job->env) >= run->stop_us);
}

/* Checks the winner in hand and all after it. *over: the run has ended, with the status that is returned. */
static silt_status judge_winners(struct run *run, struct sl_commit *winner, bool *over, silt_error *err)
{
    *over = true;
    for (;;) {
        struct sl_conflict_verdict verdict;
        sl_conflict_check(&run->facts, winner, &run->arena, &verdict);
        if (verdict.skip) {
            return finish(run, SILT_COMMIT_SKIPPED);
        }
        if (verdict.kind != SILT_CONFLICT_NONE) {
            return finish_conflict(run, &verdict, err);
        }
        if (verdict.skipped_append && run->facts.first_skipped_append == 0) {
            run->facts.first_skipped_append = winner->version;
        }
        if (is_used_up(run)) {
            verdict.kind = SILT_CONFLICT_RETRIES_EXHAUSTED;
            return finish_conflict(run, &verdict, err);
        }
        silt_status status = pass_winner(run, winner);
        if (status != SILT_OK) {
            return finish_failed(run, status, err);
        }
        switch (look_at(run, winner, &status)) {
        case LOOK_OURS:
        case LOOK_OTHER: continue; /* nothing was asked of this version yet */
        case LOOK_BROKEN:
        case LOOK_FAILED: return finish_failed(run, status, err);
        case LOOK_ABSENT: break;
        }
        *over = false;
        return SILT_OK;
    }
}

/* Waits before a version whose fate is open is asked for again. False when time is up or the call is over. */
static bool wait_for_answer(struct run *run)
{
    return sl_monotonic_us(run->job->env) < run->give_up_us && pause_randomly(run) == SILT_OK;
}

/* The version is taken, or it may be. Reads it. *over as in judge_winners; else it is to be put again, or the next. */
static silt_status resolve(struct run *run, bool *over, silt_error *err)
{
    struct sl_commit winner;
    silt_status status = SILT_OK;
    const enum look answer = look_at(run, &winner, &status);
    *over = true;
    if (answer == LOOK_OURS) {
        return finish(run, SILT_COMMIT_COMMITTED);
    }
    if (answer == LOOK_OTHER) {
        run->empty_names = 0;
        /* The name has an owner, so no request of ours can take it any more. */
        run->open = false;
        run->give_up_us = 0;
        run->rounds = 0;
        return judge_winners(run, &winner, over, err);
    }
    if (answer == LOOK_BROKEN) {
        return finish_failed(run, status, err);
    }
    run->empty_names = answer == LOOK_ABSENT && run->taken ? run->empty_names + 1 : 0;
    if (run->empty_names >= MAX_EMPTY_NAMES) {
        sl_ignore(sl_fail(&run->last, SILT_ECORRUPT, SL_NAME_TAKEN,
                          "the store says that the name is taken, but has no file there: is it a folder?"));
        return finish_unknown(run, err);
    }
    *over = !wait_for_answer(run);
    return *over ? finish_unknown(run, err) : SILT_OK;
}

/* The folder of the log went away under the table; with it what an earlier request without an answer may have left there. */
static bool is_dropped(const struct run *run, silt_status status)
{
    const struct sl_commit_place *place = run->job->place;
    if (status != SILT_ENOTFOUND || !place->rests || sl_error_is(&run->last, SL_BUCKET_NOT_FOUND)) {
        return false;
    }
    const silt_call call = call_in_time(run);
    return sl_place_is_gone(place, &call);
}

/* What says that nothing was written, and may come from somebody between here and the store who does not know. */
static bool may_be_wrong(silt_status status)
{
    return status == SILT_EIO || status == SILT_EACCESS || status == SILT_ENOTFOUND || status == SILT_EUNSUPPORTED;
}

/* A request failed, and nothing of ours is under way. One look costs little and catches a store that is wrong. */
static silt_status end_refused(struct run *run, silt_status status, silt_error *err)
{
    silt_status look_status = SILT_OK;
    struct sl_commit ignored;
    const silt_error cause = run->last;
    if (may_be_wrong(status) && look_at(run, &ignored, &look_status) == LOOK_OURS) {
        return finish(run, SILT_COMMIT_COMMITTED);
    }
    run->last = cause;
    if (is_dropped(run, status)) {
        return finish_dropped(run, err);
    }
    if (status == SILT_ENOTFOUND && run->job->place->rests && !sl_error_is(&run->last, SL_BUCKET_NOT_FOUND)) {
        status = SILT_EIO; /* the store does not find what is there */
    }
    return finish_failed(run, status, err);
}

/* An attempt. *over: committed, or failed for good. */
static silt_status put_once(struct run *run, bool *over, silt_error *err)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error found = SILT_ERROR_INIT;
    const silt_call call = call_in_time(run);
    run->end->attempts++;
    silt_status status = sl_place_put(run->job->place, &call, run->rebase->version, sl_buf_view(run->bytes), &outcome,
                                      &found);
    *over = false;
    if (status == SILT_OK && outcome == SILT_PUT_DONE) {
        *over = true;
        return finish(run, SILT_COMMIT_COMMITTED);
    }
    run->last = found;
    run->taken = status == SILT_OK && outcome == SILT_PUT_EXISTS;
    if (status == SILT_OK) {
        begin_follow_up(run); /* also with EXISTS, until the version was read */
        return SILT_OK;
    }
    if (run->open && !is_dropped(run, status)) {
        return SILT_OK; /* this request failed, but an earlier one may still land */
    }
    *over = true;
    return end_refused(run, status, err);
}

/* Makes the file for a version that was not asked for yet; else the bytes stay what they are. */
static silt_status render_once(struct run *run, silt_error *err)
{
    if (run->rendered) {
        return SILT_OK;
    }
    SL_TRY(run->job->render(run->job->render_ctx, run->rebase, run->bytes, err));
    run->rendered = true;
    return SILT_OK;
}

/* Passes what came since the transaction read the table, before anything is asked for; *over as in judge_winners. */
static silt_status catch_up(struct run *run, bool *over, silt_error *err)
{
    struct sl_commit winner;
    silt_status status = SILT_OK;
    *over = true;
    switch (look_at(run, &winner, &status)) {
    case LOOK_OURS: /* nothing was asked of it */
    case LOOK_OTHER: return judge_winners(run, &winner, over, err);
    case LOOK_ABSENT: return finish_expired(run, err);
    case LOOK_BROKEN:
    case LOOK_FAILED: break;
    }
    return finish_failed(run, status, err);
}

static silt_status try_versions(struct run *run, silt_error *err)
{
    bool over = false;
    uint32_t lost = 0;
    silt_status status = run->job->is_behind ? catch_up(run, &over, err) : SILT_OK;
    while (!over) {
        if (lost > ROUNDS_WITHOUT_PAUSE && !run->open) {
            status = pause_randomly(run);
            if (status != SILT_OK) {
                return finish_failed(run, status, err);
            }
        }
        SL_TRY(render_once(run, err));
        status = put_once(run, &over, err);
        if (!over) {
            lost++;
            status = resolve(run, &over, err);
        }
    }
    return status;
}

silt_status sl_commit_run(const struct sl_commit_job *job, const silt_call *call, struct sl_buf *bytes,
                          struct sl_commit_end *end, silt_error *err)
{
    *end = (struct sl_commit_end){.outcome = SILT_COMMIT_CONFLICT, .version = -1};
    struct run run = {.job = job, .call = call, .end = end, .rebase = job->rebase, .bytes = bytes, .facts = job->facts};
    run.facts.actions = job->rebase->actions;
    run.facts.n_actions = job->rebase->n_actions;
    run.facts.protocol = job->rebase->protocol;
    run.facts.metadata = job->rebase->metadata;
    run.last = (silt_error)SILT_ERROR_INIT;
    if (job->time_limit_us > 0 && !sl_add_i64(sl_monotonic_us(job->env), job->time_limit_us, &run.stop_us)) {
        run.stop_us = INT64_MAX;
    }
    sl_arena_init(&run.arena, job->env);
    sl_buf_init(&run.read, job->env);
    const silt_status status = try_versions(&run, err);
    sl_buf_release(&run.read);
    sl_arena_release(&run.arena);
    return status;
}
