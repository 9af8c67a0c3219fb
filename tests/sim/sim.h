/*
 * The deterministic simulation: many actors, each a process of its own with an engine of its own, use one table through the
 * public API on one store, and exactly one of them runs at a time. Every storage call, sleep, clock read and random number is a
 * point at which the scheduler may let another go on, the actor may crash, or a request that got no answer may still land. All
 * that happens follows from one seed, so a history that breaks a rule can be played again.
 *
 *   sim_world.c    chance, memory, time, the scheduler, the environment that silt sees
 *   sim_fiber.c    actors' stacks
 *   sim_store.c    the store, its faults, and the archive of all commits that ever landed
 *   sim_parquet.c  a Parquet handler; sim_rows.c: data files through it
 *   sim_catalog.c  a catalog that gives versions away, in some histories
 *   sim_actor.c    what actors are made of; sim_read.c, sim_write.c, sim_upkeep.c: what they do
 *   sim_json.c, sim_log.c   the checker's own reading of the log, nothing of silt in it
 *   sim_check.c, sim_serial.c, sim_crc.c, sim_checkpoint.c   the rules that a history must keep
 *   sim_bugs.c     faults planted on purpose, to see that they are found
 *   sim_main.c     the program
 */
#ifndef SILT_SIM_H
#define SILT_SIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim_fiber.h"
#include "silt/silt.h"

#define SIM_ROOT "sim://store/t"
#define SIM_LOG SIM_ROOT "/_delta_log/"
#define SIM_MAX_ACTORS 6
#define SIM_MAX_VERSIONS 512
#define SIM_PARTS 3
#define SIM_KEYS 6
#define SIM_APPS 2

/* ---- chance and memory of a history ---- */

struct sim_world;
struct sim_actor;

uint64_t sim_random(struct sim_world *world);
/* A number in [0, n), n > 0. */
int64_t sim_below(struct sim_world *world, int64_t n);
/* True in `share` of 1,000,000 cases. */
bool sim_chance(struct sim_world *world, int64_t share);

/* Zeroed memory that lives until the history ends. */
void *sim_keep(struct sim_world *world, size_t size);
char *sim_keep_text(struct sim_world *world, const char *text);

/* A growing array in that memory: items of `item_size` bytes. */
struct sim_list {
    void *items;
    size_t n;
    size_t capacity;
};
void *sim_list_push(struct sim_world *world, struct sim_list *list, size_t item_size);
#define SIM_AT(list, type, index) (&((type *)(list)->items)[index])

/* ---- faults planted on purpose ---- */

enum sim_bug {
    SIM_BUG_NONE,
#define SIM_BUG(id, name, what) SIM_BUG_##id,
#include "sim_bugs.def"
#undef SIM_BUG
    SIM_BUG_COUNT
};

const char *sim_bug_name(enum sim_bug bug);
const char *sim_bug_text(enum sim_bug bug);
enum sim_bug sim_bug_find(const char *name); /* SIM_BUG_COUNT: no such name */
/* For calls that are intercepted when the program is linked and know no world. */
void sim_bugs_use(enum sim_bug bug);

/* ---- rows and data files, as the checker knows them ---- */

struct sim_row {
    int32_t id; /* of its own */
    int32_t part;
    int64_t key;
    int64_t value;
};

struct sim_file {
    int32_t txn; /* index of the transaction that made it */
    int32_t part;
    struct sim_row *rows;
    size_t n_rows;
    int64_t base_row_id; /* by the log */
    int64_t row_version;
    char path[64]; /* relative to the table */
};

/* Rows that a transaction reads. */
enum sim_range_kind {
    SIM_RANGE_ALL,
    SIM_RANGE_PART,
    SIM_RANGE_KEYS
};

struct sim_range {
    enum sim_range_kind kind;
    int32_t part;
    int64_t low; /* keys >= low and < high */
    int64_t high;
};
bool sim_range_has(const struct sim_range *range, const struct sim_row *row);

/* ---- transactions ---- */

enum sim_op {
    SIM_CREATE,
    SIM_INSERT,        /* blind */
    SIM_STREAM,        /* blind, with an application id */
    SIM_INSERT_SELECT, /* a row whose value is the sum of those read, plus one */
    SIM_UPDATE,        /* adds one to the values of the range */
    SIM_UPSERT,        /* adds one to the values of a key, or inserts it with value 1 */
    SIM_DELETE,
    SIM_OVERWRITE,
    SIM_COMPACT,
    SIM_RESTAT,     /* adds a live file again */
    SIM_COUNT_UP,   /* adds one to a property */
    SIM_ADD_COLUMN, /* adds one to the number of columns */
    SIM_SET_DOMAIN, /* adds one to a metadata domain */
    SIM_ENABLE_ICT, /* in-commit timestamps from here on */
    SIM_LAST_WRITE = SIM_ENABLE_ICT,
    SIM_READ,
    SIM_TRAVEL,
    SIM_HISTORY,
    SIM_CLEAN_LOG,
    SIM_COMPACT_LOG,
    SIM_CHECKPOINT,
    SIM_NAP,
    SIM_OP_COUNT
};
const char *sim_op_name(enum sim_op op);

enum sim_outcome {
    SIM_RUNNING, /* or its process crashed */
    SIM_COMMITTED,
    SIM_SKIPPED,
    SIM_CONFLICT,
    SIM_FAILED,
    SIM_UNKNOWN
};

struct sim_txn {
    enum sim_op op;
    int actor;
    int64_t read_version;
    struct sim_range range; /* what it read, if anything */
    struct sim_row *rows;   /* rows that are new */
    size_t n_rows;
    int app; /* -1: none */
    int64_t app_version;
    int64_t counter; /* property, number of columns and domain that it saw */
    int64_t columns;
    int64_t domain;
    enum sim_outcome outcome;
    int64_t version; /* told to the writer */
    int64_t landed;  /* found in the log by the checker, -1: not */
};

/* What a reader saw of a version. */
struct sim_view {
    int actor;
    int64_t version;
    int32_t *files; /* ascending */
    size_t n_files;
    int64_t apps[SIM_APPS];
    int64_t counter;
    int64_t columns;
    int64_t domain;
    int64_t timestamp_ms;
};

/* ---- the store ---- */

struct sim_object {
    const char *path;
    const char *data;
    size_t len;
    int64_t modified_ms;
};

struct sim_commit {
    const char *data; /* NULL: never landed */
    size_t len;
    int actor;
};

struct sim_store {
    struct sim_list objects; /* struct sim_object, by path */
    struct sim_list pending; /* requests that may still land */
    int64_t down_until_us;   /* no request is answered before */
    struct sim_commit commits[SIM_MAX_VERSIONS];
    int64_t n_commits; /* versions 0 … n - 1 have landed */
};

/* A catalog: what it has ratified, and has not been told to be published. */
struct sim_ratified {
    const char *staged_name; /* "" for inline commits */
    const char *content;
    size_t len;
    int64_t modified_ms;
};

struct sim_catalog {
    int64_t latest;
    int64_t forgotten; /* up to this version all are published */
    struct sim_ratified commits[SIM_MAX_VERSIONS];
};

/* Ratifies, with all that can become of a request. */
silt_status sim_store_ratify(struct sim_actor *actor, const silt_ratify_request *ratify, silt_put_outcome *outcome,
                             silt_error *err);
silt_status sim_store_note_published(struct sim_actor *actor, int64_t version, silt_error *err);
silt_status sim_store_ask(struct sim_actor *actor, silt_error *err); /* before the catalog is read */
/* The table as the catalog describes it now; version 0 is made undisturbed. */
silt_status sim_catalog_open(struct sim_actor *actor, silt_table **out, silt_error *err);
void sim_catalog_create(struct sim_world *world);

extern const silt_storage_vtable sim_storage; /* its impl is a struct sim_actor */
/* Lets requests take effect whose time has come; all: every one of them. */
void sim_store_land(struct sim_world *world, bool all);
const struct sim_object *sim_store_find(const struct sim_world *world, const char *path);
/* Is the commit of a version there now? */
bool sim_store_has_commit(const struct sim_world *world, int64_t version);
/* Are all files there now that a version can be made of: a checkpoint, and the commits after it? */
bool sim_store_can_open(const struct sim_world *world, int64_t version);

extern const silt_parquet_handler_vtable sim_parquet; /* likewise */
/* Writes rows as a file that must not be there; consumes them. */
silt_status sim_parquet_store(struct sim_actor *actor, silt_storage *storage, const char *path,
                              struct ArrowArrayStream *rows, int64_t *size_bytes, silt_error *err);

/* Appends the paths (const char *) of a checkpoint's actions of one kind. False: it is no file of the handler's. */
bool sim_parquet_paths(struct sim_world *world, const struct sim_object *object, const char *action,
                       struct sim_list *paths);
/* Rows as a stream, in the history's memory. */
void sim_rows_stream(struct sim_world *world, const struct sim_row *rows, size_t n, struct ArrowArrayStream *out);
/* The Parquet handler's writing of data files. */
silt_status sim_rows_write(struct sim_actor *actor, const silt_parquet_write *request, struct ArrowArrayStream *stream,
                           silt_error *err);

/* ---- actors ---- */

struct sim_block;

struct sim_actor {
    struct sim_world *world;
    int index;
    struct sim_fiber *fiber; /* NULL: runs on the main stack, undisturbed */
    bool live;
    bool crashed;
    jmp_buf base; /* where a crash ends */
    int64_t wake_us;
    int64_t skew_us; /* of its wall clock */
    silt_env env;
    struct sim_block *blocks; /* memory that silt holds */
    size_t n_blocks;
    int ops_left;
    int app; /* of a streaming job, -1: none */
    int64_t epoch;
    int weights[SIM_OP_COUNT];
    volatile int cancel;
    int64_t cancel_us; /* when it becomes 1; 0: never */
    silt_call call;
    silt_engine *engine;
    silt_table *table;
    silt_snapshot *snapshot;
    int64_t seen_version;
    int64_t opened_us; /* when the snapshot was the newest */
    int64_t visited;   /* one more than the old version that is looked at; 0: none */
    int32_t writing;   /* index of the transaction that it writes files for */
};

/* What differs from history to history. Shares are of 1,000,000. */
struct sim_knobs {
    int64_t stay; /* at a point, the actor goes on */
    int64_t crash;
    int64_t fault; /* of a request that changes something */
    int64_t read_fault;
    int64_t clock_jump;
    int64_t outage;  /* of points: the store then answers nobody for a while */
    int64_t limited; /* of calls with a deadline or a cancellation */
    bool partitioned;
    bool serializable;
    bool race_to_create;
    bool timestamps; /* in-commit ones from the start */
    bool row_ids;
    bool expires; /* the log is cleaned up: naps are long, and versions are kept for a day only */
    int checkpoint_interval;
    bool catalog; /* it gives versions away; inline_commits: and keeps their bytes */
    bool inline_commits;
    bool v2; /* checkpoints with sidecars */
    int restarts;
};

struct sim_world {
    uint64_t seed;
    uint64_t chance;
    enum sim_bug bug;
    FILE *trace; /* NULL: none */
    struct sim_knobs knobs;
    int64_t now_us;
    uint64_t steps;
    bool stopping;
    uint64_t digest; /* of all that happened */
    struct sim_chunk *chunks;
    struct sim_store store;
    struct sim_catalog catalog;
    struct sim_actor actors[SIM_MAX_ACTORS + 1]; /* the last one looks at the end */
    int n_actors;
    struct sim_list files;  /* struct sim_file */
    struct sim_list txns;   /* struct sim_txn */
    struct sim_list views;  /* struct sim_view */
    struct sim_list frozen; /* files of the Parquet handler */
    int32_t n_rows;         /* ids given out */
    int64_t acked;          /* newest version that a writer was told of, -1: none */
    char violation[1024];
    uint64_t n_crashes;
    uint64_t n_conflicts;
    uint64_t n_unknown;
    uint64_t n_crcs;
    uint64_t n_cut; /* checksums that the store cut */
    uint64_t n_checkpoints;
};

/* Notes that a rule is broken; the first one counts. The history then stops. */
void sim_break(struct sim_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_trace(const struct sim_actor *actor, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_note(struct sim_world *world, uint64_t what); /* for the digest */

/* A point at which the scheduler may switch, or the actor crash. */
void sim_point(struct sim_actor *actor);
void sim_sleep(struct sim_actor *actor, int64_t duration_us);
void sim_env_init(struct sim_actor *actor);
void sim_env_drop(struct sim_actor *actor); /* all that silt holds, after a crash */

/* Runs one history. False: a rule was broken, world->violation says which. The world can be used again. */
bool sim_run(struct sim_world *world, uint64_t seed);
void sim_world_release(struct sim_world *world);

/* An actor's life: its operations, crashes, restarts. */
void sim_actor_run(void *actor);
bool sim_actor_open(struct sim_actor *actor);
void sim_actor_close(struct sim_actor *actor);
/* Judges a failure that an actor met: false, after noting it as a broken rule, if nothing explains it. */
bool sim_actor_excuse(struct sim_actor *actor, const char *what, silt_status status, const silt_error *err);
bool sim_actor_refresh(struct sim_actor *actor);
/* Opens the table again where a catalog tells what it is. */
bool sim_actor_reopen(struct sim_actor *actor);
/* Live files of a snapshot that can hold rows of a range, ascending, in the history's memory. */
struct sim_plan {
    int32_t *files;
    size_t n;
    silt_scan *scan; /* a reference */
};
bool sim_actor_plan(struct sim_actor *actor, silt_snapshot *snapshot, const struct sim_range *range,
                    struct sim_plan *plan); /* false: failed, nothing is to be freed */
int64_t sim_snapshot_counter(const silt_snapshot *snapshot);
int64_t sim_snapshot_domain(const silt_snapshot *snapshot);
const char *sim_app_name(int app);

/* Sometimes a call that ends early, else NULL. Valid until the next one. */
const silt_call *sim_actor_call(struct sim_actor *actor);

/* A data file with these rows, of the transaction that the actor is writing; valid until the next one is made. */
struct sim_file *sim_file_new(struct sim_actor *actor, const struct sim_row *rows, size_t n);

void sim_do_read(struct sim_actor *actor);
void sim_do_travel(struct sim_actor *actor);
void sim_do_history(struct sim_actor *actor);
void sim_do_clean_log(struct sim_actor *actor);
void sim_do_compact_log(struct sim_actor *actor);
void sim_do_checkpoint(struct sim_actor *actor);
/* Looks at a snapshot and keeps what it saw. */
bool sim_view_take(struct sim_actor *actor, silt_snapshot *snapshot);
void sim_do_write(struct sim_actor *actor, enum sim_op op);
bool sim_do_create(struct sim_actor *actor);
void sim_do_stream(struct sim_actor *actor);

/* ---- the checker ---- */

/* The table at a version by the checker's own reading of the log. */
struct sim_state {
    uint8_t *live; /* one for each file */
    int64_t counter;
    int64_t columns;
    int64_t domain;
    int64_t apps[SIM_APPS];
    int32_t txn;          /* that made it */
    bool timestamps;      /* in-commit ones are enabled */
    int64_t timestamp_ms; /* the newest one, -1: none */
    int64_t row_mark;     /* highest row id that was given, -1: none */
};

/* The state of every version; NULL after noting a broken rule. */
struct sim_state *sim_log_replay(struct sim_world *world);
void sim_check(struct sim_world *world);
/* Every transaction's result against what it would have done at its place in the order. */
void sim_check_serial(struct sim_world *world, const struct sim_state *states);

/* Version checksums that are there in the end. */
void sim_check_crcs(struct sim_world *world, const struct sim_state *states);

/* Checkpoints that are there in the end. */
void sim_check_checkpoints(struct sim_world *world, const struct sim_state *states);

/* A value of JSON: objects and arrays hold their members in a chain. */
enum sim_json_kind {
    SIM_JSON_OTHER, /* null, true, false, a number: see text */
    SIM_JSON_TEXT,
    SIM_JSON_OBJECT,
    SIM_JSON_ARRAY
};
struct sim_json {
    enum sim_json_kind kind;
    const char *key;  /* in an object */
    const char *text; /* unescaped, or as written */
    struct sim_json *first;
    struct sim_json *next;
};
/* NULL when it cannot be understood. */
struct sim_json *sim_json_parse(struct sim_world *world, const char *text, size_t len);
const struct sim_json *sim_json_get(const struct sim_json *object, const char *key); /* NULL is legal and given */
const char *sim_json_text(const struct sim_json *object, const char *key);           /* "" if absent */

#endif
