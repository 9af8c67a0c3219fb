/*
 * The conflict check: may a transaction commit after a commit that won against it? Pure; one winner at a time, in the order
 * of versions. Called by the commit loop, and by simulations and tests with structs of their own.
 *
 * The order of checks is Delta Spark's: protocol, metadata, domains, application ids, added files that should have been
 * read, removed files that were read, removed files that are removed. A winner that changed the protocol always conflicts:
 * what it asks of writers is only known at the next begin. Blind appends read nothing, so data never stands against them.
 */
#include "kernel/txn/conflict.h"

#include "base/error.h"
#include "kernel/txn/conflict_files.h"

#define ROW_TRACKING_DOMAIN "delta.rowTracking"

static void conflict(struct sl_conflict_verdict *out, silt_conflict_kind kind, struct sl_str path)
{
    out->kind = kind;
    out->path = path;
}

static const struct sl_str no_path = {NULL, 0};

static const struct sl_action *find_kind(const struct sl_action *actions, size_t n, enum sl_action_kind kind)
{
    for (size_t i = 0; i < n; i++) {
        if (actions[i].kind == kind) {
            return &actions[i];
        }
    }
    return NULL;
}

static bool changes_rows(const struct sl_commit *winner)
{
    for (size_t i = 0; i < winner->n_actions; i++) {
        const struct sl_action *action = &winner->actions[i];
        if ((action->kind == SL_ACTION_ADD && action->u.add.data_change) ||
            (action->kind == SL_ACTION_REMOVE && action->u.remove.data_change)) {
            return true;
        }
    }
    return false;
}

/* Only a winner that says so is a blind append, and only if it removed nothing. */
static bool is_blind_append(const struct sl_commit *winner)
{
    return winner->commit_info != NULL && winner->commit_info->is_blind_append == SL_FLAG_TRUE &&
           find_kind(winner->actions, winner->n_actions, SL_ACTION_REMOVE) == NULL;
}

static bool same_domain(const struct sl_txn_facts *txn, const struct sl_commit *winner)
{
    for (size_t i = 0; i < txn->n_actions; i++) {
        if (txn->actions[i].kind != SL_ACTION_DOMAIN_METADATA ||
            sl_str_eq_c(txn->actions[i].u.domain.domain, ROW_TRACKING_DOMAIN)) {
            continue;
        }
        for (size_t j = 0; j < winner->n_actions; j++) {
            if (winner->actions[j].kind == SL_ACTION_DOMAIN_METADATA &&
                sl_str_eq(winner->actions[j].u.domain.domain, txn->actions[i].u.domain.domain)) {
                return true;
            }
        }
    }
    return false;
}

enum app_answer {
    APP_FREE,
    APP_LOWER,
    APP_RECORDED
};

/* Did the winner record one of our application ids, and up to our version? */
static enum app_answer check_app_ids(const struct sl_txn_facts *txn, const struct sl_commit *winner)
{
    enum app_answer answer = APP_FREE;
    for (size_t i = 0; i < txn->n_actions; i++) {
        const struct sl_app_txn *ours = &txn->actions[i].u.app_txn;
        for (size_t j = 0; txn->actions[i].kind == SL_ACTION_APP_TXN && j < winner->n_actions; j++) {
            const struct sl_app_txn *theirs = &winner->actions[j].u.app_txn;
            if (winner->actions[j].kind != SL_ACTION_APP_TXN || !sl_str_eq(theirs->app_id, ours->app_id)) {
                continue;
            }
            if (theirs->version >= ours->version) {
                return APP_RECORDED;
            }
            answer = APP_LOWER;
        }
    }
    return answer;
}

/*
 * Rows that a winner added and that we should have seen. WriteSerializable lets blind appends pass, as if they came after us; that
 * holds only as long as nobody read them: a later winner that may have seen such rows would come both before and
 * after us.
 */
static bool check_added(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                        struct sl_conflict_verdict *out)
{
    if (txn->is_blind_append || !txn->changes_data || txn->isolation == SL_ISOLATION_SNAPSHOT) {
        return false;
    }
    const bool changes_metadata = find_kind(txn->actions, txn->n_actions, SL_ACTION_METADATA) != NULL;
    const bool lenient = txn->isolation == SL_ISOLATION_WRITE_SERIALIZABLE && !changes_metadata;
    const bool blind = is_blind_append(winner);
    const struct sl_add *add = sl_conflict_find_read_add(txn, winner, scratch);
    if (lenient && blind) {
        out->skipped_append = add != NULL;
        return false;
    }
    if (add != NULL) {
        conflict(out, SILT_CONFLICT_CONCURRENT_APPEND, add->path);
        return true;
    }
    const int64_t their_read = winner->commit_info != NULL ? winner->commit_info->read_version : SL_NO_I64;
    if (lenient && txn->first_skipped_append > 0 && changes_rows(winner) &&
        (their_read == SL_NO_I64 || their_read >= txn->first_skipped_append)) {
        conflict(out, SILT_CONFLICT_CONCURRENT_APPEND, no_path);
        return true;
    }
    return false;
}

/* Paths that the transaction removes, or adds again: a file added again would come back to life. */
static bool check_removed(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                          struct sl_conflict_verdict *out)
{
    if (find_kind(winner->actions, winner->n_actions, SL_ACTION_REMOVE) == NULL) {
        return false;
    }
    struct sl_str path = sl_conflict_find_removed(winner, txn->read_files, txn->n_read_files, scratch->env);
    if (path.ptr == NULL && txn->n_read_files == 0) {
        const struct sl_remove *read = sl_conflict_find_read_remove(txn, winner, scratch);
        path = read != NULL ? read->path : no_path;
    }
    if (path.ptr != NULL) {
        conflict(out, SILT_CONFLICT_CONCURRENT_DELETE_READ, path);
        return true;
    }
    struct sl_str *ours = sl_arena_alloc_array(scratch, txn->n_actions + 1, sizeof(*ours));
    if (ours == NULL) {
        conflict(out, SILT_CONFLICT_CONCURRENT_DELETE_DELETE, no_path);
        return true;
    }
    size_t n = 0;
    for (size_t i = 0; i < txn->n_actions; i++) {
        if (txn->actions[i].kind == SL_ACTION_REMOVE) {
            ours[n++] = txn->actions[i].u.remove.path;
        } else if (txn->actions[i].kind == SL_ACTION_ADD) {
            ours[n++] = txn->actions[i].u.add.path;
        }
    }
    path = sl_conflict_find_removed(winner, ours, n, scratch->env);
    if (path.ptr != NULL) {
        conflict(out, SILT_CONFLICT_CONCURRENT_DELETE_DELETE, path);
        return true;
    }
    return false;
}

void sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                       struct sl_conflict_verdict *out)
{
    *out = (struct sl_conflict_verdict){.kind = SILT_CONFLICT_NONE, .winner_version = winner->version};
    if (winner->commit_info != NULL) {
        out->winner_operation = winner->commit_info->operation;
    }
    const enum app_answer app = check_app_ids(txn, winner);
    if (app == APP_RECORDED) {
        out->skip = true; /* our rows are in the table already: nothing else matters */
        return;
    }
    if (txn->exclusive) {
        conflict(out, SILT_CONFLICT_CONCURRENT_WRITE, no_path);
        return;
    }
    if (find_kind(winner->actions, winner->n_actions, SL_ACTION_PROTOCOL) != NULL) {
        conflict(out, SILT_CONFLICT_PROTOCOL_CHANGED, no_path);
        return;
    }
    if (find_kind(winner->actions, winner->n_actions, SL_ACTION_METADATA) != NULL) {
        conflict(out, SILT_CONFLICT_METADATA_CHANGED, no_path);
        return;
    }
    if (app == APP_LOWER || same_domain(txn, winner)) {
        conflict(out, SILT_CONFLICT_CONCURRENT_TRANSACTION, no_path);
        return;
    }
    if (!check_added(txn, winner, scratch, out)) {
        (void)check_removed(txn, winner, scratch, out); /* the last check: out holds its answer */
    }
}

struct conflict_text {
    const char *code;
    const char *what;
    const char *hint;
};

static const struct conflict_text *text_of(silt_conflict_kind kind)
{
    static const char retry[] = "run the operation again; it will start from the table's new state";
    static const struct conflict_text texts[] = {
        [SILT_CONFLICT_NONE] = {"DELTA_CONCURRENT_WRITE", "stands against this transaction", retry},
        [SILT_CONFLICT_CONCURRENT_APPEND] = {"DELTA_CONCURRENT_APPEND",
                                             "added rows that this transaction should have read", retry},
        [SILT_CONFLICT_CONCURRENT_DELETE_READ] = {"DELTA_CONCURRENT_DELETE_READ",
                                                  "removed a file that this transaction read", retry},
        [SILT_CONFLICT_CONCURRENT_DELETE_DELETE] = {"DELTA_CONCURRENT_DELETE_DELETE",
                                                    "removed a file that this transaction removes too", retry},
        [SILT_CONFLICT_METADATA_CHANGED] = {"DELTA_METADATA_CHANGED", "changed the table's metadata", retry},
        [SILT_CONFLICT_CONCURRENT_TRANSACTION] = {"DELTA_CONCURRENT_TRANSACTION",
                                                  "wrote the same application id or metadata domain",
                                                  "make sure that only one instance of the job writes with this id"},
        [SILT_CONFLICT_PROTOCOL_CHANGED] = {"DELTA_PROTOCOL_CHANGED", "changed the table's protocol", retry},
        [SILT_CONFLICT_CONCURRENT_WRITE] = {"DELTA_CONCURRENT_WRITE",
                                            "came in between, and this operation admits no other commit", retry},
        [SILT_CONFLICT_RETRIES_EXHAUSTED] = {"DELTA_MAX_COMMIT_RETRIES_EXCEEDED",
                                             "and others before it won the race for every version that was tried",
                                             retry},
    };
    return &texts[kind];
}

silt_status sl_conflict_fail(const struct sl_conflict_verdict *verdict, silt_error *err)
{
    const struct conflict_text *text = text_of(verdict->kind);
    const struct sl_str operation = verdict->winner_operation.ptr != NULL ? verdict->winner_operation
                                                                          : SL_STR("an unnamed operation");
    const bool names_file = verdict->path.ptr != NULL;
    const silt_status status = sl_fail(err, SILT_ECONFLICT, text->code, "version %lld (%.*s) %s%s%.*s",
                                       (long long)verdict->winner_version, SL_FMT(operation), text->what,
                                       names_file ? ": " : "", SL_FMT(verdict->path));
    sl_error_version(err, verdict->winner_version);
    sl_error_hint(err, "%s", text->hint);
    return status;
}
