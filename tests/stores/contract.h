/*
 * The contract of a store (silt/storage.h) as a program: every case runs over whatever store a URI and options name, so that one suite
 * judges local files, memory and each remote store.
 *
 *   contract_main.c   the command line, the table of cases, the report; cases.def lists the cases
 *   contract_crew.c   processes (threads where processes cannot share the store) that work beside each other
 *   contract_plant.c  stores that break the contract, to see that the cases notice; plants.def lists them
 *   cases_*.c         the cases
 *
 * A case tells what it finds by expect(); the first thing that is wrong is reported. It works in a folder of its own.
 */
#ifndef SILT_CONTRACT_H
#define SILT_CONTRACT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/silt.h"

#define CONTRACT_PATH_SIZE ((size_t)2048)
#define CONTRACT_ROUND_NAMES 200 /* names that a round of the race is about at most */
#define CONTRACT_MAX_MEMBERS 16
#define CONTRACT_MAX_OPTIONS 32

/* Options of a store, as given. */
struct contract_options {
    silt_store_option items[CONTRACT_MAX_OPTIONS];
    size_t n;
};

/* What the command line says. */
struct contract_settings {
    char **argv; /* to start this program again */
    int argc;
    const char *uri; /* folder for everything; nothing in it is touched but folders of the suite's own */
    const char
        *missing_uri;    /* a folder in a bucket, container or host that does not exist; NULL: there is no such thing */
    const char *plant;   /* fault to plant, NULL for none */
    const char *refused; /* kinds of hard names that the store is known to refuse, separated by commas */
    const char *left_out; /* likewise: kinds that are not tried, since the server takes one name for another */
    struct contract_options options;
    struct contract_options wrong;       /* replace options by ones that the server must refuse; none: no such thing */
    struct contract_options unreachable; /* likewise, where nobody listens */
    bool keep;                           /* what cases made stays */
    unsigned race_names;
    unsigned list_names;
};

struct contract {
    const struct contract_settings *settings;
    const silt_env *env;
    silt_engine *engine;
    silt_storage *store;              /* with the planted fault */
    silt_storage *plain;              /* without it; borrowed from the engine */
    bool in_memory;                   /* other processes do not see it */
    char dir[CONTRACT_PATH_SIZE / 2]; /* of the case */
    unsigned round_names;             /* of the race's round */
    pthread_mutex_t lock;             /* over what follows */
    bool failed;
    char problem[768]; /* the first one */
    bool skipped;
    char note[256]; /* why skipped, or what was measured */
};

/* ---- what cases say; any thread ---- */

/* Returns `good`; if it is false and nothing was wrong before, keeps the text, which goes into one line. */
bool expect(struct contract *c, bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* As expect; the error's text is added. */
bool expect_status(struct contract *c, silt_status got, silt_status wanted, const silt_error *err, const char *what);
void skip_case(struct contract *c, const char *why);
void note_case(struct contract *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- short forms for cases ---- */

/* dir/name, in a buffer of CONTRACT_PATH_SIZE. Returns it. */
const char *path_of(const struct contract *c, char *buffer, const char *name);
bool put_text(struct contract *c, const char *name, const char *text);
/* put_if_absent must answer `wanted`. */
bool put_new_text(struct contract *c, const char *name, const char *text, silt_put_outcome wanted);
bool expect_text(struct contract *c, const char *name, const char *text);
bool expect_bytes(struct contract *c, const char *name, const void *data, size_t size);
/* Neither a read nor stat finds it. */
bool expect_missing(struct contract *c, const char *name);
/* The names of dir/sub (sub NULL: dir), each followed by a line break; freed by the caller. On failure the name of the status. */
char *list_text(struct contract *c, const char *sub, const char *start_from, bool recursive);
bool expect_list(struct contract *c, const char *sub, const char *start_from, bool recursive, const char *wanted);
/* A store over other options than the suite's: those of `instead` replace and add. NULL after a report. */
silt_engine *engine_with(struct contract *c, const struct contract_options *instead, const char *uri,
                         silt_storage **store);
/* Puts n small files, with several threads: name(i) into a buffer of 256. */
bool put_many(struct contract *c, size_t n, void (*name)(size_t i, char *buffer));

/* ---- crews ---- */

struct member {
    silt_status status[CONTRACT_ROUND_NAMES];
    silt_put_outcome outcome[CONTRACT_ROUND_NAMES];
    uint64_t seen; /* reads or listings */
    bool failed;
    char problem[256];
};

/* Memory that the members of a crew share. */
struct crew {
    unsigned n;
    unsigned round_names;
    pthread_barrier_t step;
    atomic_uint ready;   /* members that have begun */
    atomic_uint written; /* generations or names that were answered */
    atomic_uint removed;
    atomic_bool finished;
    char dir[CONTRACT_PATH_SIZE / 2];
    struct member members[CONTRACT_MAX_MEMBERS];
};

/* What a member does; a member of another process has a store of its own in c. */
typedef void crew_role(struct contract *c, struct crew *crew, unsigned id);

/* Starts n members beside `lead`, which runs on the caller's thread (NULL: none), and waits for all. NULL after a report; else freed by crew_free. */
struct crew *crew_run(struct contract *c, unsigned n, const char *role, crew_role *lead);
void crew_free(struct crew *crew);
/* For a lead: until all members have begun, for half a minute at most (one that died is told of in the end). */
void crew_wait(const struct crew *crew);
/* A member's process: runs its role over the memory behind fd. Its exit status. */
int crew_member(struct contract *c, const char *role, unsigned id, int fd);
void member_problem(struct member *member, const char *format, ...) __attribute__((format(printf, 2, 3)));

crew_role race_member;
crew_role version_reader;
crew_role name_reader;

/* ---- planted faults ---- */

struct plant {
    const char *name;
    const char *const *breaks; /* cases that must fail, ended by NULL */
};
extern const struct plant contract_plants[];
extern const size_t n_contract_plants;
/* Wraps *store, whose reference is passed on. */
silt_status plant_fault(const silt_env *env, const char *name, silt_storage **store, silt_error *err);

/* ---- cases ---- */

#define CONTRACT_CASE(name) void name(struct contract *c);
#include "cases.def"
#undef CONTRACT_CASE

#endif
