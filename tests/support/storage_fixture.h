/*
 * Stores for tests: every kind of store that silt has, each with an empty folder of its own, and short forms of the
 * operations that fail the test when the store does.
 */
#ifndef SILT_STORAGE_FIXTURE_H
#define SILT_STORAGE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "silt/storage.h"
#include "storage/local_int.h"

/* What a fixture is made of. */
struct store_kind {
    const char *name;
    bool in_memory;
    bool by_uri;     /* file:// in front of local paths */
    bool sync;       /* with fsync, which is slow */
    bool has_link;   /* of the local file system that is played */
    bool has_rename; /* likewise: renameat2 */
    silt_status (*wrap)(const silt_env *env, silt_storage *inner, silt_storage **out, silt_error *err); /* or NULL */
};

struct store_fixture {
    const silt_env *env;
    silt_storage *store;
    char *local_dir; /* a folder of the machine, removed with the fixture; for local stores it is the root */
    char *root;      /* folder for the test, as the store is to be told it */
};

/* Fails the test when something cannot be made. */
struct store_fixture *store_fixture_new(const silt_env *env, const struct store_kind *kind);
void store_fixture_free(struct store_fixture *fixture);

/* One test; its state is a struct store_fixture * over the process's environment. */
struct store_test {
    const char *name;
    CMUnitTestFunction run;
};

/* Runs each test on every kind of store; the result of a test program's main. */
int run_store_tests(const char *group, const struct store_test *tests, size_t n_tests);

/* root/name in memory that lives as long as the fixture's next 16 calls. One thread. */
const char *store_path(const struct store_fixture *fixture, const char *name);
/* The same in a buffer. */
void store_path_in(const struct store_fixture *fixture, const char *name, char *out, size_t size);

void store_put(silt_storage *store, const char *path, const char *text);
silt_put_outcome store_put_new(silt_storage *store, const char *path, const char *text);
void store_expect(silt_storage *store, const char *path, const char *text);
void store_expect_missing(silt_storage *store, const char *path);
/* The names of a listing, each followed by '\n', in a static buffer; "ENOTFOUND" and the like if it failed. */
const char *store_list(silt_storage *store, const char *dir, const char *start_from, bool recursive);

/* Number of names in a folder of the machine, "." and ".." left out; the last one goes to `name` if not NULL. */
size_t count_names(const char *dir, char *name, size_t size);
/* A new empty folder in $TMPDIR or /tmp; free with remove_temp_dir. */
char *make_temp_dir(void);
void remove_temp_dir(char *dir);

/* Ways of the local store to be told that the file system lacks a call. */
int no_link(const char *from, const char *to);
int no_rename(const char *from, const char *to);

#endif
