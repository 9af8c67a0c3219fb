/*
 * Readers: they open, refresh, travel in time, and keep what they saw for the checker.
 */
#include "sim.h"

#include <string.h>

bool sim_view_take(struct sim_actor *actor, silt_snapshot *snapshot)
{
    struct sim_world *world = actor->world;
    const struct sim_range all = {.kind = SIM_RANGE_ALL};
    struct sim_view view = {.actor = actor->index, .version = silt_snapshot_version(snapshot)};
    struct sim_plan plan;
    if (!sim_actor_plan(actor, snapshot, &all, &plan)) {
        return false;
    }
    silt_scan_unref(plan.scan);
    view.files = plan.files;
    view.n_files = plan.n;
    int64_t n_files = 0;
    int64_t bytes = 0;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_snapshot_totals(snapshot, sim_actor_call(actor), &n_files, &bytes, &err);
    if (status != SILT_OK) {
        (void)sim_actor_excuse(actor, "counting files", status, &err);
        return false;
    }
    if (n_files != (int64_t)view.n_files) {
        sim_break(world, "a%d: version %lld has %lld files by its totals and %zu by its plan", actor->index,
                  (long long)view.version, (long long)n_files, view.n_files);
        return false;
    }
    for (int app = 0; app < SIM_APPS; app++) {
        view.apps[app] = silt_snapshot_app_version(snapshot, sim_app_name(app));
    }
    view.counter = sim_snapshot_counter(snapshot);
    view.domain = sim_snapshot_domain(snapshot);
    /* Of a version that has expired only the file's time may be left. */
    view.timestamp_ms = sim_store_has_commit(world, view.version) ? silt_snapshot_timestamp_ms(snapshot) : -1;
    view.columns = (int64_t)silt_schema_field_count(silt_snapshot_schema(snapshot));
    *(struct sim_view *)sim_list_push(world, &world->views, sizeof(view)) = view;
    return true;
}

void sim_do_read(struct sim_actor *actor)
{
    if (sim_actor_refresh(actor)) {
        (void)sim_view_take(actor, actor->snapshot);
    }
}

void sim_do_travel(struct sim_actor *actor)
{
    if (!sim_actor_reopen(actor)) {
        return;
    }
    struct sim_world *world = actor->world;
    const int64_t version = sim_below(world, world->store.n_commits);
    const bool was_there = sim_store_can_open(world, version);
    silt_snapshot *snapshot = NULL;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_table_snapshot_at_version(actor->table, sim_actor_call(actor), version, &snapshot,
                                                              &err);
    /* Where a clean-up was interrupted, it is a gap that the version lies in. */
    if ((status == SILT_ENOTFOUND || status == SILT_ECORRUPT) && !(was_there && sim_store_can_open(world, version))) {
        sim_trace(actor, "version %lld has expired", (long long)version);
        return;
    }
    if (status != SILT_OK) {
        (void)sim_actor_excuse(actor, "time travel", status, &err);
        return;
    }
    sim_trace(actor, "travelled to version %lld", (long long)version);
    if (silt_snapshot_version(snapshot) != version) {
        sim_break(world, "a%d asked for version %lld and got %lld", actor->index, (long long)version,
                  (long long)silt_snapshot_version(snapshot));
    } else {
        actor->visited = version + 1;
        (void)sim_view_take(actor, snapshot);
        actor->visited = 0;
    }
    silt_snapshot_unref(snapshot);
}

struct history {
    struct sim_actor *actor;
    int64_t next; /* version that must come; -1: any */
};

/* A late request may have left a version below those that have expired (sim_store.c); silt warns of the gap, as it has to. */
static bool is_below_a_gap(const struct sim_world *world, int64_t version, int64_t expected)
{
    return version < expected && !sim_store_has_commit(world, expected) && !sim_store_can_open(world, version);
}

static bool take_entry(void *ctx, const silt_history_entry *entry)
{
    struct history *history = ctx;
    struct sim_world *world = history->actor->world;
    if (history->next >= 0 && entry->version != history->next &&
        !is_below_a_gap(world, entry->version, history->next)) {
        sim_break(world, "the history has version %lld where %lld is expected", (long long)entry->version,
                  (long long)history->next);
        return false;
    }
    history->next = entry->version - 1;
    return true;
}

void sim_do_history(struct sim_actor *actor)
{
    if (!sim_actor_reopen(actor)) {
        return;
    }
    struct history history = {actor, -1};
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_table_history(actor->table, sim_actor_call(actor), 0, take_entry, &history, &err);
    if (status != SILT_OK) {
        (void)sim_actor_excuse(actor, "history", status, &err);
    } else if (history.next != -1 && sim_store_has_commit(actor->world, history.next)) {
        sim_break(actor->world, "the history ends above version %lld", (long long)history.next);
    }
}
