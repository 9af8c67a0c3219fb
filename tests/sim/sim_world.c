/*
 * The world of one history: chance, memory, time, the scheduler, and the environment through which silt takes all of it.
 */
#include "sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE ((size_t)1024 * 1024)
#define MAX_STEPS 400000
/* 2026-01-01T00:00:00Z */
#define FIRST_WALL_US INT64_C(1767225600000000)

struct sim_chunk {
    struct sim_chunk *next;
    size_t size;
    size_t used;
    max_align_t bytes[];
};

/* A block that silt holds; its bytes follow. */
struct sim_block {
    struct sim_block *previous;
    struct sim_block *next;
    size_t size;
    max_align_t bytes[];
};

/* ---- chance ---- */

uint64_t sim_random(struct sim_world *world)
{
    world->chance += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = world->chance;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

int64_t sim_below(struct sim_world *world, int64_t n)
{
    return (int64_t)(sim_random(world) % (uint64_t)n);
}

bool sim_chance(struct sim_world *world, int64_t share)
{
    return share > 0 && sim_below(world, 1000000) < share;
}

void sim_note(struct sim_world *world, uint64_t what)
{
    world->digest = (world->digest ^ what) * UINT64_C(0x100000001B3);
}

/* ---- memory of a history ---- */

static void *must(void *block)
{
    if (block == NULL) {
        (void)fprintf(stderr, "sim: out of memory\n");
        abort();
    }
    return block;
}

void *sim_keep(struct sim_world *world, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    const size_t wanted = (size + unit - 1) / unit * unit;
    struct sim_chunk *chunk = world->chunks;
    while (chunk != NULL && chunk->size - chunk->used < wanted) {
        chunk = chunk->next;
    }
    if (chunk == NULL) {
        const size_t room = wanted > CHUNK_SIZE ? wanted : CHUNK_SIZE;
        chunk = must(malloc(sizeof(*chunk) + room));
        *chunk = (struct sim_chunk){.next = world->chunks, .size = room};
        world->chunks = chunk;
    }
    void *block = (char *)chunk->bytes + chunk->used;
    chunk->used += wanted;
    memset(block, 0, wanted);
    return block;
}

char *sim_keep_text(struct sim_world *world, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(sim_keep(world, size), text, size);
}

void *sim_list_push(struct sim_world *world, struct sim_list *list, size_t item_size)
{
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        void *items = sim_keep(world, capacity * item_size);
        if (list->n > 0) {
            memcpy(items, list->items, list->n * item_size);
        }
        list->items = items;
        list->capacity = capacity;
    }
    return memset((char *)list->items + list->n++ * item_size, 0, item_size);
}

/* ---- reports ---- */

void sim_break(struct sim_world *world, const char *format, ...)
{
    world->stopping = true;
    if (world->violation[0] != '\0') {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(world->violation, sizeof(world->violation), format, args);
    va_end(args);
    if (world->trace != NULL) {
        (void)fprintf(world->trace, "BROKEN: %s\n", world->violation);
    }
}

void sim_trace(const struct sim_actor *actor, const char *format, ...)
{
    const struct sim_world *world = actor->world;
    if (world->trace == NULL) {
        return;
    }
    (void)fprintf(world->trace, "%11.6f %*sa%d ", (double)world->now_us / 1e6, 4 * actor->index, "", actor->index);
    va_list args;
    va_start(args, format);
    (void)vfprintf(world->trace, format, args);
    va_end(args);
    (void)fputc('\n', world->trace);
}

/* ---- points ---- */

static void crash(struct sim_actor *actor)
{
    actor->crashed = true;
    longjmp(actor->base, 1);
}

static void hand_over(struct sim_actor *actor)
{
    sim_fiber_pause(actor->fiber);
    if (actor->world->stopping) {
        crash(actor);
    }
}

void sim_point(struct sim_actor *actor)
{
    struct sim_world *world = actor->world;
    if (actor->fiber == NULL) {
        return;
    }
    world->steps++;
    world->now_us += sim_below(world, 2000);
    sim_store_land(world, false);
    if (actor->cancel_us != 0 && actor->cancel_us <= world->now_us) {
        actor->cancel = 1;
    }
    if (world->steps > MAX_STEPS) {
        sim_break(world, "the history does not end");
    }
    if (world->stopping) {
        crash(actor);
    }
    if (sim_chance(world, world->knobs.outage)) {
        world->store.down_until_us = world->now_us + sim_below(world, INT64_C(150000000));
        sim_trace(actor, "OUTAGE until %.3f", (double)world->store.down_until_us / 1e6);
    }
    if (sim_chance(world, world->knobs.crash)) {
        sim_trace(actor, "CRASH");
        world->n_crashes++;
        crash(actor);
    }
    if (!sim_chance(world, world->knobs.stay)) {
        hand_over(actor);
    }
}

void sim_sleep(struct sim_actor *actor, int64_t duration_us)
{
    if (actor->fiber == NULL) {
        actor->world->now_us += duration_us;
        return;
    }
    actor->wake_us = actor->world->now_us + duration_us;
    hand_over(actor);
}

/* ---- the environment ---- */

static void *env_alloc(void *ctx, size_t size)
{
    struct sim_actor *actor = ctx;
    struct sim_block *block = must(malloc(sizeof(*block) + size));
    *block = (struct sim_block){.next = actor->blocks, .size = size};
    if (actor->blocks != NULL) {
        actor->blocks->previous = block;
    }
    actor->blocks = block;
    actor->n_blocks++;
    return block->bytes;
}

static void env_release(void *ctx, void *bytes, size_t size)
{
    struct sim_actor *actor = ctx;
    struct sim_block *block = (struct sim_block *)((char *)bytes - offsetof(struct sim_block, bytes));
    if (block->size != size) {
        sim_break(actor->world, "a block of %zu bytes was released as one of %zu", block->size, size);
    }
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        actor->blocks = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    actor->n_blocks--;
    free(block);
}

static void *env_resize(void *ctx, void *bytes, size_t old_size, size_t new_size)
{
    void *moved = env_alloc(ctx, new_size);
    memcpy(moved, bytes, old_size < new_size ? old_size : new_size);
    env_release(ctx, bytes, old_size);
    return moved;
}

void sim_env_drop(struct sim_actor *actor)
{
    while (actor->blocks != NULL) {
        struct sim_block *block = actor->blocks;
        actor->blocks = block->next;
        free(block);
    }
    actor->n_blocks = 0;
}

static int64_t env_wall(void *ctx)
{
    struct sim_actor *actor = ctx;
    struct sim_world *world = actor->world;
    sim_point(actor);
    if (actor->fiber != NULL && sim_chance(world, world->knobs.clock_jump)) {
        actor->skew_us = sim_below(world, INT64_C(7200000000)) - INT64_C(3600000000);
        sim_trace(actor, "clock jumps to %+.3f s", (double)actor->skew_us / 1e6);
    }
    return FIRST_WALL_US + world->now_us + actor->skew_us;
}

static int64_t env_monotonic(void *ctx)
{
    struct sim_actor *actor = ctx;
    sim_point(actor);
    return actor->world->now_us;
}

static silt_status env_random(void *ctx, void *out, size_t size)
{
    struct sim_actor *actor = ctx;
    sim_point(actor);
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)out)[i] = (unsigned char)sim_random(actor->world);
    }
    return SILT_OK;
}

static void env_sleep(void *ctx, int64_t duration_us)
{
    sim_sleep(ctx, duration_us > 0 ? duration_us : 0);
}

static void env_log(void *ctx, silt_log_level level, const char *message)
{
    if (level >= SILT_LOG_WARN) {
        sim_trace(ctx, "warning: %s", message);
    }
}

void sim_env_init(struct sim_actor *actor)
{
    actor->env = (silt_env){
        .size = sizeof(silt_env),
        .abi_version = SILT_ABI_VERSION,
        .allocator = {.ctx = actor, .alloc = env_alloc, .resize = env_resize, .release = env_release},
        .ctx = actor,
        .wall_time_us = env_wall,
        .monotonic_us = env_monotonic,
        .random_bytes = env_random,
        .sleep_us = env_sleep,
        .log = env_log,
    };
}

/* ---- the scheduler ---- */

/* An actor that can go on now; NULL when all sleep. */
static struct sim_actor *pick(struct sim_world *world)
{
    struct sim_actor *ready[SIM_MAX_ACTORS];
    int n = 0;
    for (int i = 0; i < world->n_actors; i++) {
        struct sim_actor *actor = &world->actors[i];
        if (actor->live && (world->stopping || actor->wake_us <= world->now_us)) {
            ready[n++] = actor;
        }
    }
    return n > 0 ? ready[sim_below(world, n)] : NULL;
}

/* Time goes on to the next moment at which someone wakes. False: nobody is left. */
static bool advance(struct sim_world *world)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < world->n_actors; i++) {
        const struct sim_actor *actor = &world->actors[i];
        next = actor->live && actor->wake_us < next ? actor->wake_us : next;
    }
    if (next == INT64_MAX) {
        return false;
    }
    world->now_us = next > world->now_us ? next : world->now_us;
    sim_store_land(world, false);
    return true;
}

static void schedule(struct sim_world *world)
{
    for (;;) {
        struct sim_actor *actor = pick(world);
        if (actor == NULL) {
            if (!advance(world)) {
                return;
            }
            continue;
        }
        if (!sim_fiber_resume(actor->fiber)) {
            actor->live = false;
            sim_fiber_free(actor->fiber);
            actor->fiber = NULL;
            sim_env_drop(actor);
        }
    }
}

static int64_t choose(struct sim_world *world, const int64_t *values, size_t n)
{
    return values[sim_below(world, (int64_t)n)];
}

static void turn_knobs(struct sim_world *world)
{
    static const int64_t stay[] = {0, 500000, 900000, 970000, 990000};
    static const int64_t crash_share[] = {0, 0, 300, 1500, 5000};
    static const int64_t fault[] = {0, 30000, 100000, 300000};
    static const int64_t read_fault[] = {0, 0, 2000, 15000};
    static const int64_t jump[] = {0, 5000, 100000};
    static const int64_t outage[] = {0, 0, 0, 1000};
    static const int64_t limited[] = {0, 0, 200000};
    struct sim_knobs *knobs = &world->knobs;
    knobs->stay = choose(world, stay, 5);
    knobs->crash = choose(world, crash_share, 5);
    knobs->fault = choose(world, fault, 4);
    knobs->read_fault = choose(world, read_fault, 4);
    knobs->clock_jump = choose(world, jump, 3);
    knobs->outage = choose(world, outage, 4);
    knobs->limited = choose(world, limited, 3);
    knobs->partitioned = sim_chance(world, 600000);
    knobs->serializable = sim_chance(world, 400000);
    knobs->expires = sim_chance(world, 300000);
    knobs->checkpoint_interval = 2 + (int)sim_below(world, knobs->expires ? 3 : 12);
    knobs->v2 = sim_chance(world, 400000);
    knobs->timestamps = sim_chance(world, 300000);
    knobs->row_ids = sim_chance(world, 300000);
    knobs->race_to_create = sim_chance(world, 200000);
    knobs->catalog = sim_chance(world, 250000);
    knobs->inline_commits = knobs->catalog && sim_chance(world, 400000);
    if (knobs->catalog) {
        /* Its table is made by hand, and only the catalog cleans it up. */
        knobs->race_to_create = false;
        knobs->expires = false;
        knobs->timestamps = true;
        knobs->row_ids = false;
        knobs->v2 = false;
    }
    knobs->restarts = (int)sim_below(world, 6);
}

static void choose_work(struct sim_world *world, struct sim_actor *actor)
{
    actor->ops_left = 3 + (int)sim_below(world, sim_chance(world, 100000) ? 25 : 6);
    actor->app = sim_chance(world, 300000) ? (int)sim_below(world, SIM_APPS) : -1;
    const int64_t kind = sim_below(world, 10);
    for (int op = SIM_INSERT; op < SIM_OP_COUNT; op++) {
        actor->weights[op] = kind == 0 && op <= SIM_LAST_WRITE ? 0 : (int)sim_below(world, 8);
    }
    /* Whoever changes metadata stops all others: not often. */
    actor->weights[SIM_COUNT_UP] /= 4;
    actor->weights[SIM_ADD_COLUMN] /= 5;
    actor->weights[SIM_ENABLE_ICT] /= 7;
    actor->weights[SIM_SET_DOMAIN] /= 2;
    actor->weights[SIM_RESTAT] /= 3;
    actor->weights[SIM_OVERWRITE] /= 3;
    actor->weights[SIM_NAP] = actor->weights[SIM_NAP] / 4 + (world->knobs.expires ? 3 : 0);
    actor->weights[SIM_CLEAN_LOG] /= world->knobs.expires ? 2 : 8;
    actor->weights[SIM_COMPACT_LOG] /= 3;
    actor->weights[SIM_CHECKPOINT] /= 3;
    actor->weights[SIM_READ]++;
}

static void start_actors(struct sim_world *world)
{
    world->n_actors = 2 + (int)sim_below(world, SIM_MAX_ACTORS - 1);
    for (int i = 0; i < world->n_actors; i++) {
        struct sim_actor *actor = &world->actors[i];
        choose_work(world, actor);
        actor->live = true;
        actor->wake_us = sim_below(world, 100000);
        actor->fiber = must(sim_fiber_new(sim_actor_run, actor));
    }
}

static void reset(struct sim_world *world, uint64_t seed)
{
    for (struct sim_chunk *chunk = world->chunks; chunk != NULL; chunk = chunk->next) {
        chunk->used = 0;
    }
    struct sim_chunk *chunks = world->chunks;
    FILE *trace = world->trace;
    const enum sim_bug bug = world->bug;
    memset(world, 0, sizeof(*world));
    world->chunks = chunks;
    world->trace = trace;
    world->bug = bug;
    world->seed = seed;
    world->chance = seed * UINT64_C(0xD1342543DE82EF95) + 1;
    world->digest = UINT64_C(0xCBF29CE484222325);
    world->acked = -1;
    for (int i = 0; i <= SIM_MAX_ACTORS; i++) {
        struct sim_actor *actor = &world->actors[i];
        actor->world = world;
        actor->index = i;
        actor->app = -1;
        actor->epoch = -1;
        actor->seen_version = -1;
        sim_env_init(actor);
    }
}

bool sim_run(struct sim_world *world, uint64_t seed)
{
    reset(world, seed);
    turn_knobs(world);
    sim_bugs_use(world->bug);
    struct sim_actor *last = &world->actors[SIM_MAX_ACTORS];
    if (world->knobs.catalog) {
        sim_catalog_create(world);
    } else if (!world->knobs.race_to_create && (!sim_actor_open(last) || !sim_do_create(last))) {
        sim_break(world, "the table cannot be created on a store that works");
    }
    sim_actor_close(last);
    if (!world->stopping) {
        start_actors(world);
        schedule(world);
        sim_store_land(world, true);
    }
    if (!world->stopping) {
        sim_check(world);
    }
    sim_env_drop(last);
    sim_bugs_use(SIM_BUG_NONE);
    return world->violation[0] == '\0';
}

void sim_world_release(struct sim_world *world)
{
    while (world->chunks != NULL) {
        struct sim_chunk *chunk = world->chunks;
        world->chunks = chunk->next;
        free(chunk);
    }
    sim_fiber_drop_all();
}
