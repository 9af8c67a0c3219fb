/*
 * The histories: every pair of operations, and chains of three and four, at every distance, under both levels; each commit is asked of silt
 * and of the brute force, and the table is looked at after it.
 */
#include "matrix.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan {
    bool serializable;
    struct mx_op ops[MX_MAX_OPS];
    size_t n_ops;
};

struct run {
    const struct plan *plan;
    struct mx_history history;
    struct mx_commit begun[MX_MAX_OPS];
    silt_txn *txns[MX_MAX_OPS];
    struct mx_stage *stage;
    struct mx_totals *totals;
    enum mx_report report;
    bool bad;
};

static void print_plan(const struct plan *plan)
{
    (void)printf("  %s:", plan->serializable ? "Serializable" : "WriteSerializable");
    for (size_t i = 0; i < plan->n_ops; i++) {
        const struct mx_op *op = &plan->ops[i];
        (void)printf("%s %s (%s, from %d%s)", i == 0 ? "" : ",", mx_kind_name(op->kind), mx_where_name(op->where),
                     op->begins_after, op->lists_files ? ", files" : "");
    }
    (void)printf("\n");
}

static void complain(struct run *run, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    run->bad = true;
    run->totals->wrong++;
    if (run->report != MX_REPORT_NOTHING) {
        print_plan(run->plan);
        (void)printf("    %s\n", text);
    }
}

/* ---- an answer ---- */

static const char *class_of(silt_conflict_kind kind)
{
    switch (kind) {
    case SILT_CONFLICT_CONCURRENT_APPEND: return "DELTA_CONCURRENT_APPEND";
    case SILT_CONFLICT_CONCURRENT_DELETE_READ: return "DELTA_CONCURRENT_DELETE_READ";
    case SILT_CONFLICT_CONCURRENT_DELETE_DELETE: return "DELTA_CONCURRENT_DELETE_DELETE";
    case SILT_CONFLICT_METADATA_CHANGED: return "DELTA_METADATA_CHANGED";
    case SILT_CONFLICT_CONCURRENT_TRANSACTION: return "DELTA_CONCURRENT_TRANSACTION";
    case SILT_CONFLICT_PROTOCOL_CHANGED: return "DELTA_PROTOCOL_CHANGED";
    case SILT_CONFLICT_CONCURRENT_WRITE: return "DELTA_CONCURRENT_WRITE";
    default: return "none";
    }
}

/* Is the file that was named one that the winner touched? */
static bool names_touched(const struct mx_history *history, int64_t version, const char *name)
{
    for (size_t c = 0; c < history->n_commits; c++) {
        const struct mx_commit *winner = &history->commits[c];
        char other[64];
        for (size_t i = 0; winner->version == version && i < winner->effect.n_adds + winner->effect.n_removes; i++) {
            const uint64_t lineage = i < winner->effect.n_adds ? winner->effect.adds[i].lineage
                                                               : winner->effect.removes[i - winner->effect.n_adds];
            (void)snprintf(other, sizeof(other), "f%d.parquet", mx_path_of(history, lineage));
            if (strcmp(other, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A conflict is told with its class, the winner, what it did, the file and its partition, and what to do. */
static void check_text(struct run *run, const struct mx_expected *expected, const struct mx_answer *answer)
{
    char begins[128];
    (void)snprintf(begins, sizeof(begins), "version %lld (%s) ", (long long)expected->winner,
                   mx_kind_name(expected->winner_kind));
    const bool file = expected->path >= 0;
    if (strcmp(answer->err.code_name, class_of(expected->kind)) != 0 || answer->status != SILT_ECONFLICT) {
        complain(run, "the error's class is %s, expected %s", answer->err.code_name, class_of(expected->kind));
    } else if (strncmp(answer->err.message, begins, strlen(begins)) != 0 || answer->err.version != expected->winner ||
               answer->version != expected->winner ||
               strcmp(answer->operation, mx_kind_name(expected->winner_kind)) != 0) {
        complain(run, "the message does not begin with \"%s\": %s", begins, answer->err.message);
    } else if (file && (!names_touched(&run->history, expected->winner, answer->file) ||
                        strstr(answer->err.message, answer->file) == NULL)) {
        complain(run, "a file that version %lld touched is not named: \"%s\", %s", (long long)expected->winner,
                 answer->file, answer->err.message);
    } else if (file != (answer->partition[0] != '\0') ||
               (file && strstr(answer->err.hint, answer->partition) == NULL) || answer->err.hint[0] == '\0') {
        complain(run, "the partition is %s, the hint: %s", answer->partition, answer->err.hint);
    }
}

static void count_reason(struct mx_totals *totals, const char *reason)
{
    size_t i = 0;
    while (i + 1 < MX_MAX_REASONS && totals->reasons[i].text != NULL && strcmp(totals->reasons[i].text, reason) != 0) {
        i++;
    }
    totals->reasons[i].text = reason;
    totals->reasons[i].n++;
}

static void count(struct mx_totals *totals, const struct mx_expected *expected)
{
    totals->commits++;
    totals->allowed += expected->outcome == SILT_COMMIT_COMMITTED;
    totals->skipped += expected->outcome == SILT_COMMIT_SKIPPED;
    totals->refused += expected->outcome == SILT_COMMIT_CONFLICT;
    totals->needless += expected->needless;
    if (expected->outcome == SILT_COMMIT_CONFLICT && expected->by_rows) {
        totals->stricter++;
        count_reason(totals, expected->reason != NULL ? expected->reason : "no reason is known");
    }
}

static void judge(struct run *run, const struct mx_expected *expected, const struct mx_answer *answer)
{
    count(run->totals, expected);
    if (run->report >= MX_REPORT_STRICTER && expected->outcome == SILT_COMMIT_CONFLICT &&
        (expected->by_rows || run->report == MX_REPORT_ALL)) {
        print_plan(run->plan);
        (void)printf("    %s by version %lld (%s)%s%s\n", class_of(expected->kind), (long long)expected->winner,
                     mx_kind_name(expected->winner_kind), expected->by_rows ? ": " : "",
                     expected->by_rows ? expected->reason : "");
    }
    if (answer->outcome == SILT_COMMIT_COMMITTED && !expected->by_rows) {
        run->totals->unsafe++;
        complain(run, "UNSAFE: allowed, but no serial order gives these rows");
    } else if (expected->by_files && !expected->by_rows) {
        complain(run, "the brute force contradicts itself: by files there is an order, by rows there is none");
    } else if (expected->outcome == SILT_COMMIT_CONFLICT && expected->kind == SILT_CONFLICT_NONE) {
        complain(run, "the brute force finds no order, but no reason for a conflict either");
    } else if (expected->outcome == SILT_COMMIT_COMMITTED && expected->kind != SILT_CONFLICT_NONE) {
        complain(run, "the brute force finds an order, but also a reason for %s", class_of(expected->kind));
    } else if (answer->outcome != expected->outcome || answer->kind != expected->kind) {
        complain(run, "outcome %d %s, expected %d %s: %s", (int)answer->outcome, class_of(answer->kind),
                 (int)expected->outcome, class_of(expected->kind), answer->err.message);
    } else if (answer->version != expected->winner) {
        complain(run, "version %lld, expected %lld", (long long)answer->version, (long long)expected->winner);
    } else if (answer->outcome == SILT_COMMIT_CONFLICT) {
        check_text(run, expected, answer);
    }
}

/* ---- a history ---- */

/* No engine would come to such a commit, or it would be another one, or one that only reads its snapshot. */
static bool is_senseless(const struct mx_op *op, const struct mx_state *snapshot, const struct mx_effect *effect)
{
    struct mx_state after = *snapshot;
    mx_apply(op, effect, &after);
    const uint64_t had = snapshot->protocol.value;
    const bool changes = effect->n_removes + effect->n_adds > 0 || effect->metadata.lineage != 0 ||
                         effect->protocol.lineage != 0 || effect->app.lineage != 0 || effect->domain.lineage != 0;
    return effect->nothing || !changes || mx_breaks_constraint(&after) ||
           (op->kind == MX_FEATURE && (had & MX_FEATURE_HARMLESS) != 0) ||
           (op->kind == MX_BINDING && (had & MX_FEATURE_BINDING) != 0);
}

/* Begins what is to begin now. False: the history has no sense. */
static bool begin_some(struct run *run, size_t now)
{
    for (size_t i = 0; i < run->plan->n_ops; i++) {
        struct mx_commit *commit = &run->begun[i];
        if (run->plan->ops[i].begins_after != (int)now) {
            continue;
        }
        commit->op = run->plan->ops[i];
        commit->op.id = (int)i + 1;
        mx_choose_sources(&commit->op, &run->history.now);
        mx_run(&commit->op, &run->history.now, &commit->effect);
        commit->read_version = run->history.first_version + (int64_t)run->history.n_commits;
        if (is_senseless(&commit->op, &run->history.now, &commit->effect)) {
            return false;
        }
        run->txns[i] = mx_stage_begin(run->stage, &commit->op, &run->history.now, &commit->effect);
    }
    return true;
}

static void commit_one(struct run *run, size_t index)
{
    struct mx_history *history = &run->history;
    struct mx_commit *commit = &run->begun[index];
    struct mx_expected expected;
    struct mx_answer answer;
    char why[4400];
    commit->version = history->first_version + (int64_t)history->n_commits + 1;
    mx_expect(history, commit, &expected);
    mx_bugs_exclusive(commit->op.kind == MX_RESTORE);
    mx_stage_commit(run->txns[index], &answer);
    mx_bugs_exclusive(false);
    run->txns[index] = NULL;
    judge(run, &expected, &answer);
    if (answer.outcome == SILT_COMMIT_COMMITTED) {
        mx_apply(&commit->op, &commit->effect, &history->now);
        history->commits[history->n_commits++] = *commit;
    }
    const int64_t version = history->first_version + (int64_t)history->n_commits;
    if (!mx_stage_agrees(run->stage, &history->now, version, why, sizeof(why))) {
        complain(run, "after %s: %s", mx_kind_name(commit->op.kind), why);
    }
}

static void run_plan(const struct plan *plan, enum mx_report report, struct mx_totals *totals)
{
    if (report == MX_REPORT_FEW && totals->wrong >= 3) {
        return;
    }
    struct run run = {.plan = plan, .totals = totals, .report = report};
    run.history.serializable = plan->serializable;
    for (size_t i = 0; i < plan->n_ops; i++) {
        run.history.tracked = run.history.tracked || plan->ops[i].kind == MX_BACKFILL;
    }
    run.history.first_version = run.history.tracked ? 2 : 1;
    mx_first_state(&run.history.first);
    run.history.now = run.history.first;
    run.stage = mx_stage_new(&run.history);
    bool sense = begin_some(&run, 0);
    for (size_t i = 0; sense && !run.bad && i < plan->n_ops; i++) {
        commit_one(&run, i);
        sense = i + 1 == plan->n_ops || begin_some(&run, i + 1);
    }
    for (size_t i = 0; i < plan->n_ops; i++) {
        silt_txn_free(run.txns[i]);
    }
    mx_stage_free(run.stage);
    totals->cases += sense;
}

/* ---- which histories ---- */

static bool has_place(enum mx_kind kind)
{
    return kind != MX_TRUNCATE && kind != MX_BACKFILL && kind != MX_ALTER && kind != MX_CONSTRAIN &&
           kind != MX_FEATURE && kind != MX_BINDING;
}

static bool has_predicate(const struct mx_op *op)
{
    const char *reads = mx_reads(op);
    return reads != NULL && reads[0] != '\0' && op->kind != MX_DYNAMIC;
}

static struct mx_op make(enum mx_kind kind, enum mx_where where, int begins_after)
{
    return (struct mx_op){.kind = kind, .where = where, .begins_after = begins_after};
}

/* Both ways of telling what the last one read. */
static void run_both(struct plan *plan, enum mx_report report, struct mx_totals *totals)
{
    struct mx_op *last = &plan->ops[plan->n_ops - 1];
    run_plan(plan, report, totals);
    if (has_predicate(last)) {
        last->lists_files = true;
        run_plan(plan, report, totals);
        last->lists_files = false;
    }
}

void mx_run_pairs(enum mx_report report, struct mx_totals *totals)
{
    for (int level = 0; level < 2; level++) {
        for (int winner = 0; winner < MX_KIND_COUNT; winner++) {
            for (int where = 0; where < (has_place((enum mx_kind)winner) ? MX_WHERE_COUNT : 1); where++) {
                for (int loser = 0; loser < MX_KIND_COUNT; loser++) {
                    struct plan plan = {.serializable = level == 1, .n_ops = 2};
                    plan.ops[0] = make((enum mx_kind)winner, (enum mx_where)where, 0);
                    plan.ops[1] = make((enum mx_kind)loser, MX_SAME, 0);
                    run_both(&plan, report, totals);
                }
            }
        }
    }
}

/* A first winner that may be passed over, a second one that may have read it. */
static void run_skew(enum mx_report report, struct mx_totals *totals)
{
    static const struct {
        enum mx_kind kind;
        enum mx_where where;
    } firsts[] = {{MX_INSERT, MX_SAME},
                  {MX_INSERT, MX_SAME_FILE},
                  {MX_INSERT, MX_UNKNOWN},
                  {MX_APP, MX_PARTITION},
                  {MX_INSERT_SELECT, MX_STATS}};
    for (size_t first = 0; first < sizeof(firsts) / sizeof(firsts[0]); first++) {
        for (int second = 0; second < MX_KIND_COUNT; second++) {
            for (int last = 0; last < MX_KIND_COUNT; last++) {
                for (int from = 0; from < 2; from++) {
                    struct plan plan = {.n_ops = 3};
                    plan.ops[0] = make(firsts[first].kind, firsts[first].where, 0);
                    plan.ops[1] = make((enum mx_kind)second, from == 0 ? MX_STATS : firsts[first].where, from);
                    plan.ops[2] = make((enum mx_kind)last, MX_SAME, 0);
                    run_both(&plan, report, totals);
                }
            }
        }
    }
}

static unsigned draw(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % n;
}

/* Anything, up to four long. */
static void run_random(size_t n, enum mx_report report, struct mx_totals *totals)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < n; i++) {
        struct plan plan = {.serializable = draw(&seed, 4) == 0, .n_ops = 3 + draw(&seed, 2)};
        for (size_t op = 0; op < plan.n_ops; op++) {
            /* Appends and readers are where chains matter. */
            const enum mx_kind kind = (enum mx_kind)(draw(&seed, 2) == 0 ? draw(&seed, MX_KIND_COUNT)
                                                                         : draw(&seed, MX_OVERWRITE));
            const enum mx_where where = (enum mx_where)draw(&seed, MX_WHERE_COUNT);
            plan.ops[op] = make(kind, where, (int)draw(&seed, (unsigned)op + 1));
            plan.ops[op].lists_files = draw(&seed, 2) == 0 && has_predicate(&plan.ops[op]);
        }
        run_plan(&plan, report, totals);
    }
}

void mx_run_chains(enum mx_report report, struct mx_totals *totals)
{
    run_skew(report, totals);
    run_random(4000, report, totals);
}
