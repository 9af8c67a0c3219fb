/*
 * The rules of a history that has ended: what writers were told is true, what readers saw is a prefix, what silt reads in the end
 * is what the checker reads.
 */
#include "sim.h"

#include <string.h>

static void check_outcome(struct sim_world *world, size_t index)
{
    const struct sim_txn *txn = SIM_AT(&world->txns, struct sim_txn, index);
    switch (txn->outcome) {
    case SIM_COMMITTED:
        if (txn->landed != txn->version) {
            sim_break(world, "t%zu (%s) was told that it is version %lld, and is %s%lld", index, sim_op_name(txn->op),
                      (long long)txn->version, txn->landed < 0 ? "nowhere in the log: " : "version ",
                      (long long)txn->landed);
        }
        break;
    case SIM_SKIPPED:
    case SIM_CONFLICT:
    case SIM_FAILED:
        if (txn->landed >= 0) {
            sim_break(world, "t%zu (%s) was told that it failed (outcome %d), and is version %lld", index,
                      sim_op_name(txn->op), (int)txn->outcome, (long long)txn->landed);
        }
        break;
    case SIM_RUNNING:
    case SIM_UNKNOWN: break; /* once or not at all */
    }
}

/* What was skipped is there: another transaction had applied the epoch, or a later one. */
static void check_skipped(struct sim_world *world, const struct sim_state *states, size_t index)
{
    const struct sim_txn *txn = SIM_AT(&world->txns, struct sim_txn, index);
    const int64_t n = world->store.n_commits;
    if (txn->outcome == SIM_SKIPPED && (txn->app < 0 || n == 0 || states[n - 1].apps[txn->app] < txn->app_version)) {
        sim_break(world, "t%zu was skipped, but %s version %lld is not in the table", index,
                  txn->app >= 0 ? sim_app_name(txn->app) : "no application's", (long long)txn->app_version);
    }
}

static void check_view(struct sim_world *world, const struct sim_state *states, const struct sim_view *view)
{
    if (view->version < 0 || view->version >= world->store.n_commits) {
        sim_break(world, "a%d saw version %lld, which never was", view->actor, (long long)view->version);
        return;
    }
    const struct sim_state *state = &states[view->version];
    size_t next = 0;
    for (size_t i = 0; i < world->files.n; i++) {
        const bool seen = next < view->n_files && (size_t)view->files[next] == i;
        next += seen ? 1 : 0;
        if (seen != (state->live[i] != 0)) {
            sim_break(world, "a%d %s file %zu in version %lld", view->actor, seen ? "saw" : "did not see", i,
                      (long long)view->version);
            return;
        }
    }
    if (next != view->n_files) {
        sim_break(world, "a%d saw a file twice in version %lld", view->actor, (long long)view->version);
    }
    if (view->counter != state->counter || view->columns != state->columns || view->domain != state->domain) {
        sim_break(world, "a%d saw counter %lld, %lld columns, domain %lld in version %lld, which has %lld, %lld, %lld",
                  view->actor, (long long)view->counter, (long long)view->columns, (long long)view->domain,
                  (long long)view->version, (long long)state->counter, (long long)state->columns,
                  (long long)state->domain);
    }
    if (state->timestamps && view->timestamp_ms >= 0 && view->timestamp_ms != state->timestamp_ms) {
        sim_break(world, "a%d saw the time %lld of version %lld, which is %lld", view->actor,
                  (long long)view->timestamp_ms, (long long)view->version, (long long)state->timestamp_ms);
    }
    for (int app = 0; app < SIM_APPS; app++) {
        if (view->apps[app] != state->apps[app]) {
            sim_break(world, "a%d saw %s at %lld in version %lld, where it is at %lld", view->actor, sim_app_name(app),
                      (long long)view->apps[app], (long long)view->version, (long long)state->apps[app]);
        }
    }
}

/* No file of the table may have been removed by whoever wrote it. */
static void check_data(struct sim_world *world, const struct sim_state *last)
{
    for (size_t i = 0; i < world->files.n; i++) {
        char path[128];
        (void)snprintf(path, sizeof(path), "%s/%s", SIM_ROOT, SIM_AT(&world->files, struct sim_file, i)->path);
        if (last->live[i] && sim_store_find(world, path) == NULL) {
            sim_break(world, "file %zu is in the table, and its bytes are gone", i);
        }
    }
}

/* What crashed writers left with the catalog can be published by anybody. */
static void publish_all(struct sim_actor *actor)
{
    struct sim_world *world = actor->world;
    int64_t version = -1;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_table_publish(actor->table, NULL, &version, &err);
    if (status != SILT_OK || (version >= 0 && version != world->catalog.latest) ||
        !sim_store_has_commit(world, world->catalog.latest)) {
        sim_break(world, "version %lld is ratified, and version %lld published: %s", (long long)world->catalog.latest,
                  (long long)version, err.message);
    }
}

/* silt reads the table once more, undisturbed: the end, and every version before it. */
static void look_at_end(struct sim_world *world)
{
    struct sim_actor *actor = &world->actors[SIM_MAX_ACTORS];
    if (!sim_actor_open(actor)) {
        return;
    }
    if (sim_actor_reopen(actor) && world->knobs.catalog) {
        publish_all(actor);
    }
    if (sim_actor_refresh(actor)) {
        const int64_t version = silt_snapshot_version(actor->snapshot);
        if (version != world->store.n_commits - 1) {
            sim_break(world, "the table ends with version %lld, silt says %lld", (long long)world->store.n_commits - 1,
                      (long long)version);
        }
        (void)sim_view_take(actor, actor->snapshot);
        sim_do_travel(actor);
    }
    sim_actor_close(actor);
}

void sim_check(struct sim_world *world)
{
    const int64_t n = world->store.n_commits;
    if (n > 0) {
        look_at_end(world);
    }
    const struct sim_state *states = sim_log_replay(world);
    if (states == NULL) {
        return;
    }
    for (size_t i = 0; i < world->txns.n; i++) {
        check_outcome(world, i);
        check_skipped(world, states, i);
    }
    for (size_t i = 0; i < world->views.n; i++) {
        check_view(world, states, SIM_AT(&world->views, struct sim_view, i));
    }
    sim_check_crcs(world, states);
    sim_check_checkpoints(world, states);
    if (n > 0) {
        check_data(world, &states[n - 1]);
    }
    if (!world->stopping) {
        sim_check_serial(world, states);
    }
}
