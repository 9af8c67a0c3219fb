/*
 * Upkeep of the log beside what commits do by themselves: expired files are deleted, ranges of commits compacted.
 */
#include "sim.h"

void sim_do_clean_log(struct sim_actor *actor)
{
    if (!sim_actor_reopen(actor)) {
        return;
    }
    silt_clean_log_result result = {.size = sizeof(result)};
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_table_clean_log(actor->table, sim_actor_call(actor), NULL, &result, &err);
    sim_trace(actor, "cleaned the log: %lld files", (long long)result.deleted);
    if (status != SILT_OK) {
        (void)sim_actor_excuse(actor, "cleaning the log", status, &err);
    }
}

/* What a catalog has not published cannot be compacted, nor has it a checkpoint. */
static bool waits_for_publishing(const struct sim_world *world, silt_status status)
{
    return status == SILT_EUNSUPPORTED && world->knobs.catalog;
}

/* Are all commits of the range there; of all ranges, if the kernel chooses? */
static bool has_all(const struct sim_world *world, bool chosen, int64_t from, int64_t to)
{
    const int64_t last = chosen ? to : world->store.n_commits - 1;
    int64_t version = chosen ? from : 0;
    while (version <= last && sim_store_has_commit(world, version)) {
        version++;
    }
    return version > last;
}

void sim_do_compact_log(struct sim_actor *actor)
{
    if (!sim_actor_reopen(actor)) {
        return;
    }
    struct sim_world *world = actor->world;
    const int64_t from = sim_below(world, world->store.n_commits);
    const int64_t to = from + 1 + sim_below(world, 4);
    const bool choose = sim_chance(world, 500000);
    const bool was_there = has_all(world, choose, from, to);
    silt_compact_log_result result = {.size = sizeof(result)};
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_table_compact_log(actor->table, sim_actor_call(actor), choose ? from : -1,
                                                      choose ? to : -1, &result, &err);
    sim_trace(actor, "compacted %lld to %lld", (long long)result.from_version, (long long)result.to_version);
    const bool is_there = has_all(world, choose, from, to);
    if ((status == SILT_ENOTFOUND || status == SILT_ECORRUPT) && !(was_there && is_there)) {
        return;
    }
    if (status != SILT_OK && !waits_for_publishing(world, status)) {
        (void)sim_actor_excuse(actor, "compacting the log", status, &err);
    }
}

void sim_do_checkpoint(struct sim_actor *actor)
{
    if (!sim_actor_reopen(actor)) {
        return;
    }
    struct sim_world *world = actor->world;
    silt_checkpoint_options options = SILT_CHECKPOINT_OPTIONS_INIT;
    const bool old = sim_chance(world, 300000);
    options.version = old ? sim_below(world, world->store.n_commits) : -1;
    options.rows_per_part = !world->knobs.v2 && sim_chance(world, 300000) ? 2 : 0;
    options.files_per_sidecar = world->knobs.v2 && sim_chance(world, 500000) ? 2 : 0;
    options.json_top = world->knobs.v2 && sim_chance(world, 500000);
    const bool was_there = !old || sim_store_can_open(world, options.version);
    silt_checkpoint_result result = {.size = sizeof(result), .version = -1};
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_table_checkpoint(actor->table, sim_actor_call(actor), &options, &result, &err);
    sim_trace(actor, "checkpoint of version %lld: %s", (long long)result.version,
              status != SILT_OK ? "failed"
              : result.written  ? "written"
                                : "was there");
    if ((status == SILT_ENOTFOUND || status == SILT_ECORRUPT) && old &&
        !(was_there && sim_store_can_open(world, options.version))) {
        return;
    }
    if (status != SILT_OK && !waits_for_publishing(world, status)) {
        (void)sim_actor_excuse(actor, "writing a checkpoint", status, &err);
    }
}
