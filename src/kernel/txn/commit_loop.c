/*
 * The commit loop. Only put_if_absent decides who owns a version; everything here is about what its answer means.
 *
 *  - DONE: committed.
 *  - EXISTS: the version is read. It can still be ours, when an earlier request of ours landed and its answer was lost
 *    below us; the bytes tell, for they hold the transaction's id, and until they were read it is as if there were no answer.
 *    Another's: every winner up to the end of the log is checked once, then the next version is tried.
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

#define FIRST_PAUSE_US 5000
#define LONGEST_PAUSE_US 1000000
/* Losing a race a few times is normal among writers of one table; only then is it worth to wait. */
#define ROUNDS_WITHOUT_PAUSE 3

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
    struct sl_txn_facts facts;
    int64_t version;
    bool open;             /* the version may be ours: a request got no answer, or one that was not read back yet */
    int64_t give_up_us;    /* monotonic; of the follow-up of an open request, 0 if none runs */
    uint32_t rounds;       /* of waiting, for the back-off */
    struct sl_arena arena; /* of the commit that was read last */
    silt_error last;       /* why the last call failed */
};

static void clear_arena(struct run *run)
{
    sl_arena_release(&run->arena);
    sl_arena_init(&run->arena, run->job->env);
}

/* Reads a version and tells whose it is; *status is that of the failure for the last two. */
static enum look look_at(struct run *run, int64_t version, struct sl_commit *commit, silt_status *status)
{
    const struct sl_commit_job *job = run->job;
    clear_arena(run);
    const struct sl_str path = sl_log_commit_path(&run->arena, job->root, version);
    if (path.ptr == NULL) {
        *status = sl_fail_nomem(&run->last);
        return LOOK_FAILED;
    }
    void *data = NULL;
    size_t len = 0;
    silt_error found = SILT_ERROR_INIT;
    *status = silt_storage_read(job->storage, run->call, path.ptr, &data, &len, &found);
    if (*status == SILT_ENOTFOUND) {
        return LOOK_ABSENT;
    }
    if (*status != SILT_OK) {
        run->last = found;
        return LOOK_FAILED;
    }
    enum look answer = LOOK_OURS;
    if (!sl_str_eq(sl_str_make(data, len), job->bytes)) {
        *status = sl_commit_parse(job->env, &run->arena, version, sl_str_make(data, len), commit, &found);
        answer = *status == SILT_OK ? LOOK_OTHER : LOOK_BROKEN;
        run->last = found;
    }
    silt_storage_free(job->storage, data, len);
    return answer;
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

static silt_status finish(struct run *run, silt_commit_outcome outcome, int64_t version)
{
    run->end->outcome = outcome;
    run->end->version = version;
    return SILT_OK;
}

static silt_status finish_conflict(struct run *run, const struct sl_conflict_verdict *verdict, silt_error *err)
{
    run->end->outcome = SILT_COMMIT_CONFLICT;
    run->end->conflict = verdict->kind;
    run->end->version = verdict->winner_version;
    return sl_conflict_fail(verdict, err);
}

static silt_status finish_unknown(struct run *run, silt_error *err)
{
    run->end->outcome = SILT_COMMIT_UNKNOWN;
    run->end->version = run->version;
    const silt_status status = sl_fail(
        err, SILT_EUNKNOWN, NULL, "it could not be learned whether version %lld holds this transaction%s%s",
        (long long)run->version, run->last.message[0] != '\0' ? "; last: " : "", run->last.message);
    sl_error_version(err, run->version);
    sl_error_hint(err, "read the version's commitInfo to learn whether it holds this transaction, before trying again");
    return status;
}

/* A failure after which nothing of ours is, or will be, in the log. */
static silt_status finish_failed(struct run *run, silt_status status, silt_error *err)
{
    run->end->outcome = SILT_COMMIT_CONFLICT;
    const silt_status returned = sl_fail(err, status, run->last.code_name[0] != '\0' ? run->last.code_name : NULL, "%s",
                                         run->last.message);
    sl_error_path(err, run->last.path);
    return returned;
}

/* Checks the winner in hand and all after it. *over: the run has ended, with the status that is returned. */
static silt_status judge_winners(struct run *run, struct sl_commit *winner, bool *over, silt_error *err)
{
    *over = true;
    for (;;) {
        struct sl_conflict_verdict verdict;
        sl_conflict_check(&run->facts, winner, &run->arena, &verdict);
        if (verdict.skip) {
            return finish(run, SILT_COMMIT_SKIPPED, run->version);
        }
        if (verdict.kind != SILT_CONFLICT_NONE) {
            return finish_conflict(run, &verdict, err);
        }
        if (verdict.skipped_append && run->facts.first_skipped_append == 0) {
            run->facts.first_skipped_append = run->version;
        }
        if (run->end->attempts >= run->job->max_attempts) {
            verdict.kind = SILT_CONFLICT_RETRIES_EXHAUSTED;
            return finish_conflict(run, &verdict, err);
        }
        if (!sl_add_i64(run->version, 1, &run->version)) {
            return sl_fail(err, SILT_ELIMIT, NULL, "the table has used up all versions");
        }
        silt_status status = SILT_OK;
        switch (look_at(run, run->version, winner, &status)) {
        case LOOK_OURS: return finish(run, SILT_COMMIT_COMMITTED, run->version);
        case LOOK_BROKEN:
        case LOOK_FAILED: return finish_failed(run, status, err);
        case LOOK_OTHER: continue;
        case LOOK_ABSENT: break;
        }
        *over = false;
        return SILT_OK;
    }
}

/* Waits before a version whose fate is open is asked for again. False when time is up or the call is over. */
static bool wait_for_answer(struct run *run)
{
    const int64_t now = sl_monotonic_us(run->job->env);
    if (run->give_up_us == 0 && !sl_add_i64(now, run->job->resolve_us, &run->give_up_us)) {
        run->give_up_us = INT64_MAX;
    }
    return now < run->give_up_us && pause_randomly(run) == SILT_OK;
}

/* The version is taken, or it may be. Reads it. *over as in judge_winners; else it is to be put again, or the next. */
static silt_status resolve(struct run *run, bool *over, silt_error *err)
{
    struct sl_commit winner;
    silt_status status = SILT_OK;
    const enum look answer = look_at(run, run->version, &winner, &status);
    *over = true;
    if (answer == LOOK_OURS) {
        return finish(run, SILT_COMMIT_COMMITTED, run->version);
    }
    if (answer == LOOK_OTHER) {
        /* The name has an owner, so no request of ours can take it any more. */
        run->open = false;
        run->give_up_us = 0;
        run->rounds = 0;
        return judge_winners(run, &winner, over, err);
    }
    if (answer == LOOK_BROKEN) {
        return finish_failed(run, status, err);
    }
    *over = !wait_for_answer(run);
    return *over ? finish_unknown(run, err) : SILT_OK;
}

/* An attempt. *over: committed, or failed for good. */
static silt_status put_once(struct run *run, bool *over, silt_error *err)
{
    const struct sl_commit_job *job = run->job;
    struct sl_arena scratch;
    sl_arena_init(&scratch, job->env);
    const struct sl_str path = sl_log_commit_path(&scratch, job->root, run->version);
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error found = SILT_ERROR_INIT;
    silt_status status = path.ptr != NULL ? SILT_OK : sl_fail_nomem(&found);
    if (status == SILT_OK) {
        run->end->attempts++;
        status = silt_storage_put_if_absent(job->storage, run->call, path.ptr, job->bytes.ptr, job->bytes.len, &outcome,
                                            &found);
    }
    sl_arena_release(&scratch);
    *over = false;
    if (status == SILT_OK && outcome == SILT_PUT_DONE) {
        *over = true;
        return finish(run, SILT_COMMIT_COMMITTED, run->version);
    }
    run->last = found;
    if (status == SILT_OK) {
        run->open = true; /* also with EXISTS, until the version was read */
        return SILT_OK;
    }
    if (run->open) {
        return SILT_OK; /* this request failed, but an earlier one may still land */
    }
    /* A store that fails says that nothing was written; one look costs little and catches one that is wrong. */
    silt_status look_status = SILT_OK;
    struct sl_commit ignored;
    const silt_error cause = run->last;
    *over = true;
    if (status == SILT_EIO && look_at(run, run->version, &ignored, &look_status) == LOOK_OURS) {
        return finish(run, SILT_COMMIT_COMMITTED, run->version);
    }
    run->last = cause;
    return finish_failed(run, status, err);
}

silt_status sl_commit_run(const struct sl_commit_job *job, const silt_call *call, struct sl_commit_end *end,
                          silt_error *err)
{
    *end = (struct sl_commit_end){.outcome = SILT_COMMIT_CONFLICT, .version = -1};
    struct run run = {.job = job, .call = call, .end = end, .facts = job->facts, .version = job->first_version};
    run.last = (silt_error)SILT_ERROR_INIT;
    sl_arena_init(&run.arena, job->env);
    silt_status status = SILT_OK;
    bool over = false;
    uint32_t lost = 0;
    while (!over) {
        if (lost > ROUNDS_WITHOUT_PAUSE && !run.open) {
            status = pause_randomly(&run);
            if (status != SILT_OK) {
                status = finish_failed(&run, status, err);
                break;
            }
        }
        status = put_once(&run, &over, err);
        if (!over) {
            lost++;
            status = resolve(&run, &over, err);
        }
    }
    sl_arena_release(&run.arena);
    return status;
}
