/*
 * The planted faults that lie in the kernel: the conflict check and the rebase are wrapped when the program is linked (-Wl,--wrap), so
 * that the sources of silt know nothing of them. Those of stores and writers are where stores and writers are.
 */
#include "sim.h"

#include <string.h>

#include "kernel/txn/conflict.h"
#include "kernel/txn/rebase.h"

static const struct {
    const char *name;
    const char *text;
} bugs[] = {
    {"none", "nothing"},
#define SIM_BUG(id, name, what) {name, what},
#include "sim_bugs.def"
#undef SIM_BUG
};

static enum sim_bug active = SIM_BUG_NONE;

const char *sim_bug_name(enum sim_bug bug)
{
    return bugs[bug].name;
}

const char *sim_bug_text(enum sim_bug bug)
{
    return bugs[bug].text;
}

enum sim_bug sim_bug_find(const char *name)
{
    int bug = SIM_BUG_NONE;
    while (bug < SIM_BUG_COUNT && strcmp(bugs[bug].name, name) != 0) {
        bug++;
    }
    return (enum sim_bug)bug;
}

void sim_bugs_use(enum sim_bug bug)
{
    active = bug;
}

/* The names that the linker gives. */
void __real_sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                              struct sl_conflict_verdict *out);
void __wrap_sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                              struct sl_conflict_verdict *out);

silt_status __real_sl_rebase_pass(struct sl_rebase *rebase, const struct sl_commit *winner, silt_error *err);
silt_status __wrap_sl_rebase_pass(struct sl_rebase *rebase, const struct sl_commit *winner, silt_error *err);

static bool has_domain(const struct sl_txn_facts *txn)
{
    size_t i = 0;
    while (i < txn->n_actions && txn->actions[i].kind != SL_ACTION_DOMAIN_METADATA) {
        i++;
    }
    return i < txn->n_actions;
}

static bool lets_pass(const struct sl_txn_facts *txn, const struct sl_conflict_verdict *verdict)
{
    switch (active) {
    case SIM_BUG_NO_CHECK: return true;
    case SIM_BUG_NO_APPEND_CHECK: return verdict->kind == SILT_CONFLICT_CONCURRENT_APPEND;
    case SIM_BUG_NO_REMOVE_CHECK:
        return verdict->kind == SILT_CONFLICT_CONCURRENT_DELETE_READ ||
               verdict->kind == SILT_CONFLICT_CONCURRENT_DELETE_DELETE;
    case SIM_BUG_NO_METADATA_CHECK: return verdict->kind == SILT_CONFLICT_METADATA_CHANGED;
    case SIM_BUG_NO_DOMAIN_CHECK: return verdict->kind == SILT_CONFLICT_CONCURRENT_TRANSACTION && has_domain(txn);
    case SIM_BUG_NO_APP_CHECK: return verdict->skip || verdict->kind == SILT_CONFLICT_CONCURRENT_TRANSACTION;
    default: return false;
    }
}

void __wrap_sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                              struct sl_conflict_verdict *out)
{
    struct sl_txn_facts facts = *txn;
    if (active == SIM_BUG_NO_REORDER_RULE) {
        facts.first_skipped_append = 0;
    }
    if (active == SIM_BUG_NO_READD_CHECK) {
        struct sl_action *kept = sl_arena_alloc_array(scratch, txn->n_actions + 1, sizeof(*kept));
        facts.n_actions = 0;
        for (size_t i = 0; kept != NULL && i < txn->n_actions; i++) {
            if (txn->actions[i].kind != SL_ACTION_ADD) {
                kept[facts.n_actions++] = txn->actions[i];
            }
        }
        facts.actions = kept;
    }
    __real_sl_conflict_check(&facts, winner, scratch, out);
    if (lets_pass(txn, out)) {
        out->kind = SILT_CONFLICT_NONE;
        out->skip = false;
    }
}

silt_status __wrap_sl_rebase_pass(struct sl_rebase *rebase, const struct sl_commit *winner, silt_error *err)
{
    const struct sl_rebase before = *rebase;
    const silt_status status = __real_sl_rebase_pass(rebase, winner, err);
    if (active == SIM_BUG_STALE_ROW_IDS) {
        rebase->row_id_high_water = before.row_id_high_water;
    }
    if (active == SIM_BUG_STALE_TIME) {
        rebase->floor_ms = before.floor_ms;
    }
    return status;
}
