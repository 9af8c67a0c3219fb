/*
 * Faults that are planted into the conflict check, to show that the matrix finds them. The check and its parts are wrapped when the program is
 * linked (-Wl,--wrap), so that the sources of silt know nothing of it.
 */
#include "matrix.h"

#include <string.h>

#include "kernel/txn/conflict.h"
#include "kernel/txn/conflict_files.h"

static const struct {
    const char *name;
    const char *text;
} bugs[] = {
    {"none", "nothing"},
#define MX_BUG(id, name, what) {name, what},
#include "matrix_bugs.def"
#undef MX_BUG
};

static enum mx_bug active = MX_BUG_NONE;
static bool exclusive_now = false;

const char *mx_bug_name(enum mx_bug bug)
{
    return bugs[bug].name;
}

const char *mx_bug_text(enum mx_bug bug)
{
    return bugs[bug].text;
}

void mx_bugs_use(enum mx_bug bug)
{
    active = bug;
}

void mx_bugs_exclusive(bool exclusive)
{
    exclusive_now = exclusive;
}

/* The names that the linker gives. */
void __real_sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                              struct sl_conflict_verdict *out);
void __wrap_sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                              struct sl_conflict_verdict *out);

/* Actions without those of one kind, in scratch memory. */
static void leave_out(const struct sl_action **actions, size_t *n, enum sl_action_kind kind, struct sl_arena *scratch)
{
    struct sl_action *kept = sl_arena_alloc_array(scratch, *n + 1, sizeof(*kept));
    size_t count = 0;
    for (size_t i = 0; kept != NULL && i < *n; i++) {
        if ((*actions)[i].kind != kind) {
            kept[count++] = (*actions)[i];
        }
    }
    *actions = kept;
    *n = count;
}

/* Changes what the check is told about the winner's files. */
static void change_files(struct sl_commit *winner, struct sl_arena *scratch)
{
    struct sl_action *copies = sl_arena_alloc_array(scratch, winner->n_actions + 1, sizeof(*copies));
    for (size_t i = 0; copies != NULL && i < winner->n_actions; i++) {
        copies[i] = winner->actions[i];
        if (copies[i].kind == SL_ACTION_ADD) {
            struct sl_add *add = &copies[i].u.add;
            add->data_change = add->data_change || active == MX_BUG_MOVES_ARE_NEW;
            add->stats = active == MX_BUG_NO_STATISTICS ? (struct sl_str){NULL, 0} : add->stats;
        } else if (copies[i].kind == SL_ACTION_REMOVE && active == MX_BUG_NO_STATISTICS) {
            copies[i].u.remove.stats = (struct sl_str){NULL, 0};
        }
    }
    winner->actions = copies;
}

static bool removes_something(const struct sl_commit *winner)
{
    for (size_t i = 0; i < winner->n_actions; i++) {
        if (winner->actions[i].kind == SL_ACTION_REMOVE) {
            return true;
        }
    }
    return false;
}

static void change_input(struct sl_txn_facts *facts, struct sl_commit *commit, struct sl_commit_info *info,
                         struct sl_arena *scratch)
{
    switch (active) {
    case MX_BUG_NO_PROTOCOL: leave_out(&commit->actions, &commit->n_actions, SL_ACTION_PROTOCOL, scratch); break;
    case MX_BUG_NO_METADATA: leave_out(&commit->actions, &commit->n_actions, SL_ACTION_METADATA, scratch); break;
    case MX_BUG_NO_DOMAIN: leave_out(&commit->actions, &commit->n_actions, SL_ACTION_DOMAIN_METADATA, scratch); break;
    case MX_BUG_NO_APP: leave_out(&commit->actions, &commit->n_actions, SL_ACTION_APP_TXN, scratch); break;
    case MX_BUG_NO_APPEND: leave_out(&commit->actions, &commit->n_actions, SL_ACTION_ADD, scratch); break;
    case MX_BUG_NO_READD: leave_out(&facts->actions, &facts->n_actions, SL_ACTION_ADD, scratch); break;
    case MX_BUG_LENIENT_METADATA: leave_out(&facts->actions, &facts->n_actions, SL_ACTION_METADATA, scratch); break;
    case MX_BUG_NO_EXCLUSIVE: facts->exclusive = false; break;
    case MX_BUG_NO_SKEW: facts->first_skipped_append = 0; break;
    case MX_BUG_ALWAYS_LENIENT:
        facts->isolation = facts->isolation == SL_ISOLATION_SERIALIZABLE ? SL_ISOLATION_WRITE_SERIALIZABLE
                                                                         : facts->isolation;
        break;
    case MX_BUG_NOT_BLIND:
        facts->read_whole_table = facts->read_whole_table || facts->is_blind_append;
        facts->is_blind_append = false;
        break;
    case MX_BUG_ALL_BLIND:
        if (commit->commit_info != NULL && !removes_something(commit)) {
            *info = *commit->commit_info;
            info->is_blind_append = SL_FLAG_TRUE;
            commit->commit_info = info;
        }
        break;
    case MX_BUG_NO_STATISTICS:
    case MX_BUG_MOVES_ARE_NEW: change_files(commit, scratch); break;
    default: break;
    }
}

static bool lets_pass(silt_conflict_kind kind)
{
    return (active == MX_BUG_NO_DELETE_READ && kind == SILT_CONFLICT_CONCURRENT_DELETE_READ) ||
           (active == MX_BUG_NO_DELETE_DELETE && kind == SILT_CONFLICT_CONCURRENT_DELETE_DELETE);
}

void __wrap_sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                              struct sl_conflict_verdict *out)
{
    struct sl_txn_facts facts = *txn;
    struct sl_commit commit = *winner;
    struct sl_commit_info info;
    static const struct sl_str_list no_columns = {NULL, 0};
    facts.exclusive = facts.exclusive || exclusive_now;
    change_input(&facts, &commit, &info, scratch);
    if (active == MX_BUG_NO_PARTITIONS) {
        facts.partition_columns = &no_columns;
    }
    __real_sl_conflict_check(&facts, &commit, scratch, out);
    if (lets_pass(out->kind)) {
        out->kind = SILT_CONFLICT_NONE;
    }
}
