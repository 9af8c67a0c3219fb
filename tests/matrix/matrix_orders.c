/*
 * The brute force. All orders of the transactions of a history are tried; those that the isolation level permits are run one
 * transaction after the other from the first state; if one of them ends in what the log of all these commits gives, the
 * candidate may commit.
 *
 * Serializable permits the order of versions. WriteSerializable permits blind appends to stand later than their version. What changes no
 * row may stand later under both: it is under snapshot isolation. That is all for the answer by rows. The answer by files knows what a check can know: which files hold what by partition and statistics, and
 * of winners only what their commits say. What a winner read is not in its commit: one that is not blind may have read every row of
 * the version that it began at, so no append of that version can stand after it.
 */
#include "matrix.h"

#include <string.h>

struct search {
    const struct mx_history *history;
    const struct mx_commit *all[MX_MAX_OPS + 1];
    size_t n;
    const struct mx_state *target;
    bool by_files;
    size_t order[MX_MAX_OPS + 1];
    bool used[MX_MAX_OPS + 1];
};

/* May `later` of the order of versions stand before `earlier`, which so moves behind it? */
static bool may_pass(const struct search *search, const struct mx_commit *later, const struct mx_commit *earlier,
                     bool is_candidate)
{
    if (later->op.kind == MX_RESTORE) {
        return false;
    }
    if (mx_only_moves(&earlier->op)) {
        return true;
    }
    if (search->history->serializable || !mx_is_blind_append(&earlier->op)) {
        return false;
    }
    const bool saw = later->read_version >= earlier->version;
    return !(search->by_files && saw && !is_candidate && mx_rests_on_rows(&later->op));
}

static bool may_stand_next(const struct search *search, size_t which)
{
    for (size_t i = 0; i < which; i++) {
        if (!search->used[i] && !may_pass(search, search->all[which], search->all[i], which == search->n - 1)) {
            return false;
        }
    }
    return true;
}

static bool gives_target(const struct search *search)
{
    struct mx_state state = search->history->first;
    for (size_t i = 0; i < search->n; i++) {
        const struct mx_op *op = &search->all[search->order[i]]->op;
        struct mx_effect effect;
        mx_run(op, &state, &effect);
        if (effect.nothing) {
            return false; /* but it did something */
        }
        mx_apply(op, &effect, &state);
        if (mx_breaks_constraint(&state)) {
            return false;
        }
    }
    return search->by_files ? mx_same_files(&state, search->target) : mx_same_rows(&state, search->target);
}

static bool find_order(struct search *search, size_t depth)
{
    if (depth == search->n) {
        return gives_target(search);
    }
    for (size_t i = 0; i < search->n; i++) {
        if (search->used[i] || !may_stand_next(search, i)) {
            continue;
        }
        search->used[i] = true;
        search->order[depth] = i;
        const bool found = find_order(search, depth + 1);
        search->used[i] = false;
        if (found) {
            return true;
        }
    }
    return false;
}

static bool has_order(const struct mx_history *history, const struct mx_commit *candidate,
                      const struct mx_state *target, bool by_files)
{
    struct search search = {.history = history, .target = target, .by_files = by_files};
    for (size_t i = 0; i < history->n_commits; i++) {
        search.all[search.n++] = &history->commits[i];
    }
    search.all[search.n++] = candidate;
    return find_order(&search, 0);
}

/* ---- which answer: the class, the winner and the file, once it is known that there is no order ---- */

struct answer {
    silt_conflict_kind kind;
    int path;
    const char *reason;
    bool needless; /* winners are judged one by one, by what each says: an order can exist all the same */
};

/* Blind appends that were passed over although their rows could have been read. */
struct skipped {
    int64_t version; /* of the first; 0: none */
    bool still_there;
};

static const struct mx_file *find_added(const struct mx_commit *winner, const struct mx_commit *ours)
{
    for (size_t i = 0; !winner->effect.moves && i < winner->effect.n_adds; i++) {
        if (mx_file_may_match(&ours->op, &winner->effect.adds[i])) {
            return &winner->effect.adds[i];
        }
    }
    return NULL;
}

static bool contains(const uint64_t *list, size_t n, uint64_t lineage)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i] == lineage) {
            return true;
        }
    }
    return false;
}

int mx_path_of(const struct mx_history *history, uint64_t lineage)
{
    const struct mx_file *file = mx_find(&history->first, lineage);
    for (size_t c = 0; file == NULL && c < history->n_commits; c++) {
        const struct mx_effect *effect = &history->commits[c].effect;
        for (size_t a = 0; file == NULL && a < effect->n_adds; a++) {
            file = effect->adds[a].lineage == lineage ? &effect->adds[a] : NULL;
        }
    }
    return file != NULL ? file->path : -1;
}

/* Path of the first file that the winner removed and that is in the list; -1 if none. */
static int find_removed(const struct mx_history *history, const struct mx_commit *winner, const uint64_t *list,
                        size_t n)
{
    for (size_t i = 0; i < winner->effect.n_removes; i++) {
        if (contains(list, n, winner->effect.removes[i])) {
            return mx_path_of(history, winner->effect.removes[i]);
        }
    }
    return -1;
}

static struct answer answer(silt_conflict_kind kind, int path, const char *reason)
{
    return (struct answer){.kind = kind, .path = path, .reason = reason};
}

/* What the winner's cells say against ours. */
static struct answer judge_cells(const struct mx_commit *ours, const struct mx_commit *winner)
{
    const struct mx_effect *mine = &ours->effect;
    const struct mx_effect *theirs = &winner->effect;
    if (theirs->protocol.lineage != 0 && mine->protocol.lineage != 0) {
        return answer(SILT_CONFLICT_PROTOCOL_CHANGED, -1, "both wrote the protocol, which is written as a whole");
    }
    if (winner->op.kind == MX_BINDING) {
        return answer(SILT_CONFLICT_PROTOCOL_CHANGED, -1, "a transaction must know the features that writers obey");
    }
    if (theirs->metadata.lineage != 0) {
        return answer(SILT_CONFLICT_METADATA_CHANGED, -1,
                      "a transaction must know the schema and properties that it writes under");
    }
    if (theirs->domain.lineage != 0 && mine->domain.lineage != 0 && theirs->domain_index == mine->domain_index) {
        return answer(SILT_CONFLICT_CONCURRENT_TRANSACTION, -1, "who writes a metadata domain rests on what it was");
    }
    if (theirs->app.lineage != 0 && mine->app.lineage != 0 && theirs->app_index == mine->app_index) {
        return answer(SILT_CONFLICT_CONCURRENT_TRANSACTION, -1,
                      "an application id has one writer at a time: another version of it means two");
    }
    return answer(SILT_CONFLICT_NONE, -1, NULL);
}

/* A file that came after our snapshot, could hold what we read, and was removed by the winner; -1 if none. */
static int find_removed_later(const struct mx_history *history, const struct mx_commit *winner,
                              const struct mx_commit *ours)
{
    for (size_t c = 0; !ours->op.lists_files && c < history->n_commits; c++) {
        const struct mx_commit *other = &history->commits[c];
        for (size_t i = 0; other->version > ours->read_version && i < other->effect.n_adds; i++) {
            const struct mx_file *file = &other->effect.adds[i];
            if (mx_file_may_match(&ours->op, file) &&
                contains(winner->effect.removes, winner->effect.n_removes, file->lineage)) {
                return file->path;
            }
        }
    }
    return -1;
}

static struct answer judge_files(const struct mx_history *history, const struct mx_commit *ours,
                                 const struct mx_commit *winner, struct skipped *skipped)
{
    const bool lenient = !history->serializable && !mx_changes_metadata(&ours->op);
    const struct mx_file *added = find_added(winner, ours);
    if (added != NULL && lenient && mx_is_blind_append(&winner->op)) {
        skipped->version = skipped->version != 0 ? skipped->version : winner->version;
        skipped->still_there = skipped->still_there || mx_find(&history->now, added->lineage) != NULL;
    } else if (added != NULL) {
        struct answer found = answer(SILT_CONFLICT_CONCURRENT_APPEND, added->path,
                                     "files are judged by partition and statistics, not by rows; what is written may "
                                     "depend on all rows that are read");
        if (mx_find(&history->now, added->lineage) == NULL) {
            found.needless = true;
            found.reason = "winners are judged one by one: a file that a later one removed again counts as added";
        }
        return found;
    }
    if (skipped->version != 0 && mx_rests_on_rows(&winner->op) && winner->read_version >= skipped->version) {
        struct answer found = answer(SILT_CONFLICT_CONCURRENT_APPEND, -1,
                                     "what a winner read is not in its commit: it may have read the append that we "
                                     "pass over");
        found.needless = !skipped->still_there;
        return found;
    }
    const int read = find_removed(history, winner, ours->effect.reads, ours->effect.n_reads);
    if (read >= 0 && ours->op.kind != MX_OPTIMIZE) {
        struct answer found = answer(
            SILT_CONFLICT_CONCURRENT_DELETE_READ, read,
            "files are judged as a whole: the rows that are read may be among those that went");
        if (mx_only_moves(&winner->op)) {
            found.needless = true;
            found.reason = "a file that was read has moved: its rows are there, but the check asks for files";
        }
        return found;
    }
    const int later = ours->op.kind != MX_OPTIMIZE ? find_removed_later(history, winner, ours) : -1;
    if (later >= 0) {
        struct answer found = answer(SILT_CONFLICT_CONCURRENT_DELETE_READ, later,
                                     "without a list of the files that were read, one that came after the snapshot is "
                                     "not told from one that was read");
        found.needless = true;
        return found;
    }
    int twice = find_removed(history, winner, ours->effect.removes, ours->effect.n_removes);
    for (size_t i = 0; twice < 0 && ours->op.kind == MX_READD && i < ours->effect.n_adds; i++) {
        twice = find_removed(history, winner, &ours->effect.adds[i].lineage, 1);
    }
    return twice < 0 ? answer(SILT_CONFLICT_NONE, -1, NULL)
                     : answer(SILT_CONFLICT_CONCURRENT_DELETE_DELETE, twice, "a file can be removed once");
}

/* False: nothing stands against it. */
static bool classify(const struct mx_history *history, const struct mx_commit *ours, struct mx_expected *out)
{
    struct skipped skipped = {0, false};
    for (size_t i = 0; i < history->n_commits; i++) {
        const struct mx_commit *winner = &history->commits[i];
        if (winner->version <= ours->read_version) {
            continue;
        }
        struct answer found = judge_cells(ours, winner);
        if (ours->op.kind == MX_RESTORE) {
            found = answer(SILT_CONFLICT_CONCURRENT_WRITE, -1, "the operation admits no commit in between");
        } else if (found.kind == SILT_CONFLICT_NONE) {
            found = judge_files(history, ours, winner, &skipped);
        }
        if (found.kind != SILT_CONFLICT_NONE) {
            out->kind = found.kind;
            out->path = found.path;
            out->reason = found.reason;
            out->winner = winner->version;
            out->winner_kind = winner->op.kind;
            out->needless = found.needless;
            return true;
        }
    }
    return false;
}

/* The first winner that makes the candidate a repetition; its version, or 0. */
static int64_t recorded_by(const struct mx_history *history, const struct mx_commit *ours)
{
    int64_t version = 0;
    const int app = mx_app(&ours->op, &version);
    for (size_t i = 0; app >= 0 && i < history->n_commits; i++) {
        const struct mx_commit *winner = &history->commits[i];
        if (winner->effect.app.lineage != 0 && winner->effect.app_index == app &&
            (int64_t)winner->effect.app.value >= version) {
            return winner->version;
        }
    }
    return 0;
}

void mx_expect(const struct mx_history *history, const struct mx_commit *candidate, struct mx_expected *out)
{
    *out = (struct mx_expected){.outcome = SILT_COMMIT_COMMITTED, .path = -1, .winner = candidate->version};
    struct mx_state target = history->now;
    mx_apply(&candidate->op, &candidate->effect, &target);
    out->by_rows = has_order(history, candidate, &target, false);
    out->by_files = has_order(history, candidate, &target, true);
    const int64_t recorded = recorded_by(history, candidate);
    if (recorded != 0) {
        out->outcome = SILT_COMMIT_SKIPPED;
        out->winner = recorded;
        return;
    }
    struct mx_expected found = *out;
    if (classify(history, candidate, &found) && (!out->by_files || found.needless)) {
        *out = found;
    } else {
        out->kind = found.kind; /* NONE, or the two parts of the brute force contradict each other */
    }
    if (!out->by_files || found.needless) {
        out->outcome = SILT_COMMIT_CONFLICT;
    }
}
