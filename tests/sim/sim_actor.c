/*
 * An actor's life: it opens the table with an engine of its own, does what its weights say, and may crash at any point; then all
 * memory that silt holds for it is gone, and another process may begin in its place.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_US (INT64_C(3600) * 1000000)

static const char *const op_names[] = {
    "CREATE",    "INSERT",  "STREAM",  "INSERT-SELECT", "UPDATE",      "UPSERT",     "DELETE",
    "OVERWRITE", "COMPACT", "RESTAT",  "COUNT-UP",      "ADD-COLUMN",  "SET-DOMAIN", "ENABLE-ICT",
    "READ",      "TRAVEL",  "HISTORY", "CLEAN-LOG",     "COMPACT-LOG", "CHECKPOINT", "NAP"};

const char *sim_op_name(enum sim_op op)
{
    return op_names[op];
}

const char *sim_app_name(int app)
{
    static const char *const names[SIM_APPS] = {"app-0", "app-1"};
    return names[app];
}

bool sim_range_has(const struct sim_range *range, const struct sim_row *row)
{
    switch (range->kind) {
    case SIM_RANGE_ALL: return true;
    case SIM_RANGE_PART: return row->part == range->part;
    case SIM_RANGE_KEYS: break;
    }
    return row->key >= range->low && row->key < range->high;
}

/* ---- engine and table ---- */

static bool make_engine(struct sim_actor *actor, silt_error *err)
{
    silt_storage *store = NULL;
    silt_storage_registry *stores = NULL;
    silt_engine_options options = {.size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = &actor->env};
    options.parquet = (silt_parquet_handler){&sim_parquet, actor};
    if (silt_storage_new(&actor->env, &sim_storage, actor, &store, err) != SILT_OK) {
        return false;
    }
    if (silt_storage_registry_new(&actor->env, &stores, err) == SILT_OK &&
        silt_storage_registry_add(stores, "sim", store, err) == SILT_OK) {
        options.stores = stores;
        if (silt_engine_new(&options, &actor->engine, err) != SILT_OK) {
            silt_storage_registry_free(stores);
        }
    }
    silt_storage_unref(store);
    return actor->engine != NULL;
}

bool sim_actor_open(struct sim_actor *actor)
{
    silt_error err = SILT_ERROR_INIT;
    if (!make_engine(actor, &err) || (!actor->world->knobs.catalog &&
                                      silt_table_for_path(actor->engine, SIM_ROOT, &actor->table, &err) != SILT_OK)) {
        sim_break(actor->world, "no engine: %s", err.message);
        return false;
    }
    return true;
}

void sim_actor_close(struct sim_actor *actor)
{
    silt_snapshot_unref(actor->snapshot);
    silt_table_unref(actor->table);
    silt_engine_unref(actor->engine);
    actor->snapshot = NULL;
    actor->table = NULL;
    actor->engine = NULL;
    if (actor->n_blocks != 0) {
        sim_break(actor->world, "a%d ends and leaves %zu blocks of memory", actor->index, actor->n_blocks);
    }
}

/* ---- failures ---- */

const silt_call *sim_actor_call(struct sim_actor *actor)
{
    struct sim_world *world = actor->world;
    actor->cancel = 0;
    actor->cancel_us = 0;
    if (actor->fiber == NULL || !sim_chance(world, world->knobs.limited)) {
        return NULL;
    }
    actor->call = (silt_call){.size = sizeof(silt_call), .abi_version = SILT_ABI_VERSION};
    const int64_t when_us = world->now_us + sim_below(world, sim_chance(world, 500000) ? 100000 : 5000000);
    if (sim_chance(world, 500000)) {
        actor->call.deadline_us = when_us;
    } else {
        actor->call.cancel = &actor->cancel;
        actor->cancel_us = when_us;
    }
    return &actor->call;
}

bool sim_actor_excuse(struct sim_actor *actor, const char *what, silt_status status, const silt_error *err)
{
    sim_trace(actor, "%s failed: %s %s", what, silt_status_name(status), err->message);
    const bool faulty = actor->fiber != NULL;
    switch (status) {
    case SILT_EIO:
    case SILT_EDEADLINE:
    case SILT_ECANCELLED:
        if (faulty) {
            return true;
        }
        break;
    case SILT_ENOTTABLE:
        if (actor->world->acked < 0) {
            return true; /* nobody has been told of a table */
        }
        break;
    case SILT_ENOTFOUND:
    case SILT_ECORRUPT:
        if (actor->world->knobs.expires && actor->world->now_us - actor->opened_us > HOUR_US) {
            return true; /* what it holds may have expired */
        }
        if (actor->visited > 0 && !sim_store_can_open(actor->world, actor->visited - 1)) {
            return true; /* it expired while it was looked at */
        }
        break;
    default: break;
    }
    sim_break(actor->world, "a%d: %s failed for no reason: %s [%s] %s (%s)", actor->index, what,
              silt_status_name(status), err->code_name, err->message, err->path);
    return false;
}

/* ---- snapshots ---- */

int64_t sim_snapshot_counter(const silt_snapshot *snapshot)
{
    const char *text = silt_snapshot_property_get(snapshot, "sim.counter");
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

int64_t sim_snapshot_domain(const silt_snapshot *snapshot)
{
    const char *text = silt_snapshot_domain(snapshot, "sim.domain");
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

bool sim_actor_reopen(struct sim_actor *actor)
{
    silt_table *table = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (!actor->world->knobs.catalog) {
        return true;
    }
    const silt_status status = sim_catalog_open(actor, &table, &err);
    if (status != SILT_OK) {
        (void)sim_actor_excuse(actor, "opening the catalog's table", status, &err);
        return false;
    }
    silt_table_unref(actor->table);
    actor->table = table;
    return true;
}

bool sim_actor_refresh(struct sim_actor *actor)
{
    struct sim_world *world = actor->world;
    const int64_t acked = world->acked;
    const int64_t begin_us = world->now_us;
    if (!sim_actor_reopen(actor)) {
        return false;
    }
    const bool anew = actor->snapshot == NULL || world->knobs.catalog || sim_chance(world, 400000);
    silt_snapshot *snapshot = NULL;
    silt_error err = SILT_ERROR_INIT;
    const silt_call *call = sim_actor_call(actor);
    const silt_status status = anew ? silt_table_latest_snapshot(actor->table, call, &snapshot, &err)
                                    : silt_snapshot_refresh(actor->snapshot, call, &snapshot, &err);
    if (status != SILT_OK) {
        (void)sim_actor_excuse(actor, anew ? "opening the table" : "refreshing", status, &err);
        return false;
    }
    silt_snapshot_unref(actor->snapshot);
    actor->snapshot = snapshot;
    actor->opened_us = begin_us;
    const int64_t version = silt_snapshot_version(snapshot);
    sim_trace(actor, "%s version %lld", anew ? "opened" : "refreshed to", (long long)version);
    if (version < acked || version < actor->seen_version) {
        sim_break(world, "a%d reads version %lld although version %lld was there before it began", actor->index,
                  (long long)version, (long long)(version < acked ? acked : actor->seen_version));
        return false;
    }
    actor->seen_version = version;
    return true;
}

static silt_status parse_range(const struct sim_actor *actor, const struct sim_range *range, silt_expr **out,
                               silt_error *err)
{
    char text[96];
    *out = NULL;
    switch (range->kind) {
    case SIM_RANGE_ALL: return SILT_OK;
    case SIM_RANGE_PART: (void)snprintf(text, sizeof(text), "p = '%d'", (int)range->part); break;
    case SIM_RANGE_KEYS:
        (void)snprintf(text, sizeof(text), "k >= %lld AND k < %lld", (long long)range->low, (long long)range->high);
        break;
    }
    return silt_expr_parse(&actor->env, text, strlen(text), NULL, out, err);
}

static int compare_numbers(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a;
    const int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The index in the world's list that a data file's path ends with; -1 if it is none of ours. */
static int32_t file_index(const char *path)
{
    const char *name = strstr(path, "f-");
    return name != NULL ? (int32_t)strtol(name + 2, NULL, 10) : -1;
}

static bool take_plan(struct sim_actor *actor, const silt_scan *scan, struct sim_plan *out)
{
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    out->n = plan->n_files;
    out->files = sim_keep(actor->world, (plan->n_files + 1) * sizeof(int32_t));
    for (size_t i = 0; i < plan->n_files; i++) {
        out->files[i] = file_index(plan->files[i].path);
        if (out->files[i] < 0 || (size_t)out->files[i] >= actor->world->files.n) {
            sim_break(actor->world, "a plan has the file %s, which nobody wrote", plan->files[i].path);
            return false;
        }
    }
    qsort(out->files, out->n, sizeof(int32_t), compare_numbers);
    return true;
}

bool sim_actor_plan(struct sim_actor *actor, silt_snapshot *snapshot, const struct sim_range *range,
                    struct sim_plan *plan)
{
    silt_error err = SILT_ERROR_INIT;
    silt_scan_builder *builder = NULL;
    silt_expr *filter = NULL;
    *plan = (struct sim_plan){0};
    silt_status status = parse_range(actor, range, &filter, &err);
    if (status == SILT_OK) {
        status = silt_scan_builder_new(snapshot, &builder, &err);
    }
    if (status == SILT_OK && filter != NULL) {
        status = silt_scan_builder_filter(builder, filter, &err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_build(builder, sim_actor_call(actor), &plan->scan, &err);
    }
    silt_scan_builder_free(builder);
    silt_expr_unref(filter);
    if (status != SILT_OK) {
        (void)sim_actor_excuse(actor, "planning", status, &err);
        return false;
    }
    const bool good = take_plan(actor, plan->scan, plan);
    if (!good) {
        silt_scan_unref(plan->scan);
        plan->scan = NULL;
    }
    return good;
}

/* ---- life ---- */

static enum sim_op choose_op(struct sim_actor *actor)
{
    int sum = 0;
    for (int op = SIM_INSERT; op < SIM_OP_COUNT; op++) {
        sum += actor->weights[op];
    }
    int64_t left = sim_below(actor->world, sum);
    int op = SIM_INSERT;
    for (; op < SIM_OP_COUNT - 1 && left >= actor->weights[op]; op++) {
        left -= actor->weights[op];
    }
    return (enum sim_op)op;
}

static void nap(struct sim_actor *actor)
{
    struct sim_world *world = actor->world;
    const bool days = world->knobs.expires && sim_chance(world, 700000);
    sim_sleep(actor, sim_below(world, days ? INT64_C(200000000000) : INT64_C(30000000)));
}

static void do_op(struct sim_actor *actor, enum sim_op op)
{
    switch (op) {
    case SIM_READ: sim_do_read(actor); break;
    case SIM_TRAVEL: sim_do_travel(actor); break;
    case SIM_HISTORY: sim_do_history(actor); break;
    case SIM_CLEAN_LOG: sim_do_clean_log(actor); break;
    case SIM_COMPACT_LOG: sim_do_compact_log(actor); break;
    case SIM_CHECKPOINT: sim_do_checkpoint(actor); break;
    case SIM_NAP: nap(actor); break;
    case SIM_STREAM: sim_do_stream(actor); break;
    default: sim_do_write(actor, op); break;
    }
}

/* One process, from its start to its end. */
static void live(struct sim_actor *actor)
{
    sim_trace(actor, "starts");
    if (!sim_actor_open(actor)) {
        return;
    }
    while (actor->ops_left > 0 && !actor->world->stopping) {
        actor->ops_left--; /* first: an operation that crashed is over */
        const enum sim_op op = choose_op(actor);
        if (actor->world->acked < 0 && !sim_do_create(actor)) {
            continue;
        }
        do_op(actor, op);
    }
    sim_actor_close(actor);
    sim_trace(actor, "ends");
}

/* True if the process crashed. */
static bool live_until_crash(struct sim_actor *actor)
{
    actor->crashed = false;
    if (setjmp(actor->base) == 0) {
        live(actor);
    }
    return actor->crashed;
}

void sim_actor_run(void *arg)
{
    struct sim_actor *actor = arg;
    struct sim_world *world = actor->world;
    while (live_until_crash(actor)) {
        sim_env_drop(actor);
        actor->engine = NULL;
        actor->table = NULL;
        actor->snapshot = NULL;
        actor->cancel_us = 0;
        if (world->stopping || world->knobs.restarts == 0) {
            return;
        }
        world->knobs.restarts--;
        actor->seen_version = -1;
        if (setjmp(actor->base) == 0) {
            sim_sleep(actor, sim_below(world, 1000000));
        }
        if (world->stopping) {
            return;
        }
    }
}
