/*
 * The conflict check: may a transaction commit after a commit that won against it? Pure; one winner at a time, in the order
 * of versions. Called by the commit loop, and by simulations and tests with structs of their own.
 *
 * The order of checks is Delta Spark's: protocol, metadata, domains, application ids, added files that should have been
 * read, removed files that were read, removed files that are removed; only that an application version which is recorded already
 * goes before all of them, as then the work is done. Blind appends read nothing, so data never stands against them. What a winner
 * that passes changes for us (row ids, times, protocol) is the rebase's.
 */
#include "kernel/txn/conflict.h"

#include "base/error.h"
#include "json/json.h"
#include "kernel/feature/feature.h"
#include "kernel/txn/conflict_files.h"
#include "kernel/txn/identity_marks.h"
#include "kernel/txn/rebase.h"

#define IDENTITY_TAG "delta.identity.schemaUpdate"

static void conflict(struct sl_conflict_verdict *out, silt_conflict_kind kind, struct sl_str path)
{
    out->kind = kind;
    out->path = path;
}

static const struct sl_str no_path = {NULL, 0};

/* Could what it wrote depend on rows? Not if it only put files in other places or said more of them. */
static bool may_rest_on_rows(const struct sl_commit *winner)
{
    for (size_t i = 0; i < winner->n_actions; i++) {
        const struct sl_action *action = &winner->actions[i];
        switch (action->kind) {
        case SL_ACTION_ADD:
            if (action->u.add.data_change) {
                return true;
            }
            break;
        case SL_ACTION_REMOVE:
            if (action->u.remove.data_change) {
                return true;
            }
            break;
        case SL_ACTION_APP_TXN: return true;
        case SL_ACTION_DOMAIN_METADATA:
            if (!sl_str_eq_c(action->u.domain.domain, SL_ROW_TRACKING_DOMAIN)) {
                return true;
            }
            break;
        default: break;
        }
    }
    return false;
}

/* Only a winner that says so is a blind append, and only if it removed nothing. */
static bool is_blind_append(const struct sl_commit *winner)
{
    return winner->commit_info != NULL && winner->commit_info->is_blind_append == SL_FLAG_TRUE &&
           sl_actions_find(winner->actions, winner->n_actions, SL_ACTION_REMOVE) == NULL;
}

/* The domain that both write; absent if there is none. Row tracking's only ever grows: the rebase takes the higher mark. */
static struct sl_str same_domain(const struct sl_txn_facts *txn, const struct sl_commit *winner)
{
    for (size_t i = 0; i < txn->n_actions; i++) {
        if (txn->actions[i].kind != SL_ACTION_DOMAIN_METADATA ||
            sl_str_eq_c(txn->actions[i].u.domain.domain, SL_ROW_TRACKING_DOMAIN)) {
            continue;
        }
        for (size_t j = 0; j < winner->n_actions; j++) {
            if (winner->actions[j].kind == SL_ACTION_DOMAIN_METADATA &&
                sl_str_eq(winner->actions[j].u.domain.domain, txn->actions[i].u.domain.domain)) {
                return txn->actions[i].u.domain.domain;
            }
        }
    }
    return no_path;
}

/* Both changed it, or the winner left one that we do not obey. */
static bool protocol_conflicts(const struct sl_txn_facts *txn, const struct sl_commit *winner)
{
    const struct sl_action *theirs = sl_actions_find(winner->actions, winner->n_actions, SL_ACTION_PROTOCOL);
    if (theirs == NULL) {
        return false;
    }
    if (sl_actions_find(txn->actions, txn->n_actions, SL_ACTION_PROTOCOL) != NULL || txn->protocol == NULL ||
        txn->metadata == NULL || !sl_protocol_change_is_harmless(txn->protocol, &theirs->u.protocol)) {
        return true;
    }
    const silt_status status = txn->by_catalog
                                   ? sl_gate_write_by_catalog(&theirs->u.protocol, txn->metadata, txn->schema, NULL)
                                   : sl_gate_write(&theirs->u.protocol, txn->metadata, txn->schema, NULL);
    return status != SILT_OK;
}

/* Does the winner say that its metaData only moves the high-water marks of identity columns? */
static bool is_identity_only(const struct sl_commit *winner, const silt_env *env)
{
    struct sl_json_doc *doc = NULL;
    if (winner->commit_info == NULL || winner->commit_info->tags.ptr == NULL ||
        sl_json_parse(env, winner->commit_info->tags, &doc, NULL) != SILT_OK) {
        return false;
    }
    const bool says = sl_str_eq_c(sl_json_member_text(sl_json_root(doc), IDENTITY_TAG), "true");
    sl_json_free(doc);
    return says;
}

/* PROTOCOL: a transaction must know the schema and properties that it writes under. */
static bool metadata_conflicts(const struct sl_txn_facts *txn, const struct sl_commit *winner, const silt_env *env)
{
    const struct sl_action *theirs = sl_actions_find(winner->actions, winner->n_actions, SL_ACTION_METADATA);
    return theirs != NULL &&
           (sl_actions_find(txn->actions, txn->n_actions, SL_ACTION_METADATA) != NULL || txn->metadata == NULL ||
            !is_identity_only(winner, env) || !sl_only_moves_identity_marks(env, txn->metadata, &theirs->u.metadata));
}

enum app_answer {
    APP_FREE,
    APP_LOWER,
    APP_RECORDED
};

/* Did the winner record one of our application ids, and up to our version? app_id is for APP_LOWER. */
static enum app_answer check_app_ids(const struct sl_txn_facts *txn, const struct sl_commit *winner,
                                     struct sl_str *app_id)
{
    enum app_answer answer = APP_FREE;
    *app_id = no_path;
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
            *app_id = ours->app_id;
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
    if (txn->is_blind_append || txn->isolation == SL_ISOLATION_SNAPSHOT) {
        return false;
    }
    const bool changes_metadata = sl_actions_find(txn->actions, txn->n_actions, SL_ACTION_METADATA) != NULL;
    const bool lenient = txn->isolation == SL_ISOLATION_WRITE_SERIALIZABLE && !changes_metadata;
    const bool blind = is_blind_append(winner);
    const struct sl_add *add = sl_conflict_find_read_add(txn, winner, scratch);
    if (lenient && blind) {
        out->skipped_append = add != NULL;
        return false;
    }
    if (add != NULL) {
        conflict(out, SILT_CONFLICT_CONCURRENT_APPEND, add->path);
        out->partition = &add->partition_values;
        return true;
    }
    const int64_t their_read = winner->commit_info != NULL ? winner->commit_info->read_version : SL_NO_I64;
    if (lenient && txn->first_skipped_append > 0 && may_rest_on_rows(winner) &&
        (their_read == SL_NO_I64 || their_read >= txn->first_skipped_append)) {
        conflict(out, SILT_CONFLICT_CONCURRENT_APPEND, no_path);
        out->read_append = txn->first_skipped_append;
        return true;
    }
    return false;
}

static void conflict_removed(struct sl_conflict_verdict *out, silt_conflict_kind kind, const struct sl_remove *remove)
{
    conflict(out, kind, remove->path);
    out->partition = remove->has_partition_values ? &remove->partition_values : NULL;
}

static bool check_removed_read(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                               struct sl_conflict_verdict *out)
{
    const struct sl_remove *read = sl_conflict_find_removed(winner, txn->read_files, txn->n_read_files, scratch->env);
    if (read == NULL) {
        read = sl_conflict_find_read_remove(txn, winner, scratch);
    }
    if (read != NULL) {
        conflict_removed(out, SILT_CONFLICT_CONCURRENT_DELETE_READ, read);
    }
    return read != NULL;
}

/* Paths that the transaction removes, or adds again: a file added again would come back to life. */
static void check_removed_twice(const struct sl_txn_facts *txn, const struct sl_commit *winner,
                                struct sl_arena *scratch, struct sl_conflict_verdict *out)
{
    struct sl_str *ours = sl_arena_alloc_array(scratch, txn->n_actions + 1, sizeof(*ours));
    if (ours == NULL) {
        conflict(out, SILT_CONFLICT_CONCURRENT_DELETE_DELETE, no_path);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < txn->n_actions; i++) {
        if (txn->actions[i].kind == SL_ACTION_REMOVE) {
            ours[n++] = txn->actions[i].u.remove.path;
        } else if (txn->actions[i].kind == SL_ACTION_ADD && !txn->is_backfill) {
            ours[n++] = txn->actions[i].u.add.path;
        }
    }
    const struct sl_remove *twice = sl_conflict_find_removed(winner, ours, n, scratch->env);
    if (twice != NULL) {
        conflict_removed(out, SILT_CONFLICT_CONCURRENT_DELETE_DELETE, twice);
    }
}

void sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                       struct sl_conflict_verdict *out)
{
    *out = (struct sl_conflict_verdict){.kind = SILT_CONFLICT_NONE,
                                        .winner_version = winner->version,
                                        .schema = txn->schema,
                                        .physical = txn->physical};
    if (winner->commit_info != NULL) {
        out->winner_operation = winner->commit_info->operation;
    }
    struct sl_str app_id;
    const enum app_answer app = check_app_ids(txn, winner, &app_id);
    if (app == APP_RECORDED) {
        out->skip = true; /* our rows are in the table already: nothing else matters */
        return;
    }
    if (txn->exclusive) {
        conflict(out, SILT_CONFLICT_CONCURRENT_WRITE, no_path);
        return;
    }
    if (protocol_conflicts(txn, winner)) {
        conflict(out, SILT_CONFLICT_PROTOCOL_CHANGED, no_path);
        return;
    }
    if (metadata_conflicts(txn, winner, scratch->env)) {
        conflict(out, SILT_CONFLICT_METADATA_CHANGED, no_path);
        return;
    }
    const struct sl_str domain = same_domain(txn, winner);
    if (domain.ptr != NULL || app == APP_LOWER) {
        conflict(out, SILT_CONFLICT_CONCURRENT_TRANSACTION, domain.ptr != NULL ? domain : app_id);
        return;
    }
    if (check_added(txn, winner, scratch, out) ||
        sl_actions_find(winner->actions, winner->n_actions, SL_ACTION_REMOVE) == NULL) {
        return;
    }
    if (!check_removed_read(txn, winner, scratch, out)) {
        check_removed_twice(txn, winner, scratch, out);
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
        [SILT_CONFLICT_RETRIES_EXHAUSTED] =
            {"DELTA_MAX_COMMIT_RETRIES_EXCEEDED",
             "and others before it came first until the attempts or the time of this transaction were used up", retry},
    };
    return &texts[kind];
}

/* Partition values go by physical names, which tell a user nothing. */
static struct sl_str column_name(const struct sl_conflict_verdict *verdict, struct sl_str key)
{
    for (size_t i = 0; verdict->physical != NULL && i < verdict->physical->root.n_fields; i++) {
        if (sl_str_eq(verdict->physical->root.fields[i].name, key)) {
            return verdict->schema->root.fields[i].name;
        }
    }
    return key;
}

struct sl_str sl_conflict_partition_text(const struct sl_conflict_verdict *verdict, struct sl_arena *arena)
{
    const struct sl_kv_list *partition = verdict->partition;
    if (partition == NULL || partition->n == 0) {
        return no_path;
    }
    struct sl_buf text;
    sl_buf_init(&text, arena->env);
    for (size_t i = 0; i < partition->n; i++) {
        const struct sl_str value = partition->items[i].value;
        sl_buf_put_c(&text, i == 0 ? "[" : ", ");
        sl_buf_put_str(&text, column_name(verdict, partition->items[i].key));
        sl_buf_put_char(&text, '=');
        sl_buf_put_str(&text, value.ptr != NULL && value.len > 0 ? value : SL_STR("null"));
    }
    sl_buf_put_char(&text, ']');
    const struct sl_str copy = sl_buf_status(&text, NULL) == SILT_OK ? sl_arena_copy(arena, sl_buf_view(&text))
                                                                     : no_path;
    sl_buf_release(&text);
    return copy;
}

/* Spark's errors have a class below the class, which tells whether the partition is known. */
static void add_hint(const struct sl_conflict_verdict *verdict, const struct conflict_text *text,
                     struct sl_arena *arena, silt_error *err)
{
    const bool has_sub_class = verdict->kind == SILT_CONFLICT_CONCURRENT_APPEND ||
                               verdict->kind == SILT_CONFLICT_CONCURRENT_DELETE_READ ||
                               verdict->kind == SILT_CONFLICT_CONCURRENT_DELETE_DELETE;
    const struct sl_str partition = sl_conflict_partition_text(verdict, arena);
    if (!has_sub_class) {
        sl_error_hint(err, "%s", text->hint);
    } else if (partition.ptr == NULL) {
        sl_error_hint(err, "%s (%s.WITHOUT_HINT)", text->hint, text->code);
    } else {
        sl_error_hint(err, "%s; the rows are of partition %.*s (%s.WITH_PARTITION_HINT)", text->hint, SL_FMT(partition),
                      text->code);
    }
}

/* The winner brought no row that should have been read; what it left may rest on one that was let pass. */
static silt_status fail_read_append(const struct sl_conflict_verdict *verdict, struct sl_str operation,
                                    const char *code, silt_error *err)
{
    return sl_fail(
        err, SILT_ECONFLICT, code,
        "version %lld (%.*s) may have read rows that version %lld appended and this transaction did not read",
        (long long)verdict->winner_version, SL_FMT(operation), (long long)verdict->read_append);
}

silt_status sl_conflict_fail(const struct sl_conflict_verdict *verdict, struct sl_arena *scratch, silt_error *err)
{
    const struct conflict_text *text = text_of(verdict->kind);
    const struct sl_str operation = verdict->winner_operation.ptr != NULL ? verdict->winner_operation
                                                                          : SL_STR("an unnamed operation");
    const bool names_file = verdict->path.ptr != NULL;
    const bool read_append = verdict->kind == SILT_CONFLICT_CONCURRENT_APPEND && verdict->read_append > 0;
    const silt_status status = read_append ? fail_read_append(verdict, operation, text->code, err)
                                           : sl_fail(err, SILT_ECONFLICT, text->code, "version %lld (%.*s) %s%s%.*s",
                                                     (long long)verdict->winner_version, SL_FMT(operation), text->what,
                                                     names_file ? ": " : "", SL_FMT(verdict->path));
    sl_error_version(err, verdict->winner_version);
    add_hint(verdict, text, scratch, err);
    return status;
}

silt_status sl_conflict_dropped(int64_t read_version, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_ECONFLICT, "DELTA_CONCURRENT_WRITE",
                                       "the table that the transaction rests on, at version %lld, is not there any "
                                       "more: it was dropped, or replaced by another one",
                                       (long long)read_version);
    sl_error_version(err, read_version);
    sl_error_hint(err, "run the operation again; it will start from the table's new state");
    return status;
}

silt_status sl_conflict_expired(int64_t read_version, silt_error *err)
{
    const int64_t next = read_version + 1;
    const silt_status status = sl_fail(err, SILT_ECONFLICT, "DELTA_CONCURRENT_WRITE",
                                       "the transaction rests on version %lld, and version %lld came and has expired "
                                       "since: what it changed cannot be known any more",
                                       (long long)read_version, (long long)next);
    sl_error_version(err, next);
    sl_error_hint(err, "run the operation again; it will start from the table's new state");
    return status;
}
