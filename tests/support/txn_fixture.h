/*
 * Transactions for tests: a table in memory under an engine without a data plane, made and changed only through silt's own
 * transactions, and short forms that fail the test when something that must succeed does not. One thread.
 */
#ifndef SILT_TEST_TXN_FIXTURE_H
#define SILT_TEST_TXN_FIXTURE_H

#include "mini_engine.h"
#include "test_env.h"

#define TXN_ROOT "memory://store/t"

/* Columns "id" (long), "name" (string), "p" (string). */
#define TXN_SCHEMA                                                               \
    "{\"type\":\"struct\",\"fields\":["                                          \
    "{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"     \
    "{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}," \
    "{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}"
/* The same with "id" NOT NULL. */
#define TXN_STRICT_SCHEMA                                                        \
    "{\"type\":\"struct\",\"fields\":["                                          \
    "{\"name\":\"id\",\"type\":\"long\",\"nullable\":false,\"metadata\":{}},"    \
    "{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}," \
    "{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}"

struct txn_fixture {
    struct test_env test;
    struct mini_engine mini;
    silt_table *table;
    silt_error err;
    silt_commit_result result; /* of the last commit */
    char text[16384];          /* of txn_log */
};

/* For cmocka: *state is a struct txn_fixture *. The teardown fails the test on a leak. */
int txn_setup(void **state);
int txn_teardown(void **state);

silt_schema *txn_schema(struct txn_fixture *f, const char *json);
/* Begins the creation; partition_column and property NULL: none. */
silt_status txn_create_begin(struct txn_fixture *f, const char *schema_json, const char *partition_column,
                             const silt_property *property, silt_txn **out);
/* Creates and commits. */
void txn_create(struct txn_fixture *f, const char *schema_json, const char *partition_column,
                const silt_property *property);
silt_txn *txn_begin(struct txn_fixture *f);
/* Commits and frees. */
silt_status txn_end(struct txn_fixture *f, silt_txn *txn);
/* Adds a file of the caller's; p NULL: the table is not partitioned. */
silt_status txn_add(struct txn_fixture *f, silt_txn *txn, const char *path, const char *p);
/* Appends one such file in a transaction of its own. */
void txn_append(struct txn_fixture *f, const char *path, const char *p);

/* The text of a commit, in f->text. */
const char *txn_log(struct txn_fixture *f, int64_t version);
/* Names of all files but those of the log, each followed by a blank, in f->text. */
const char *txn_data_files(struct txn_fixture *f);
/* Live files of the newest version. */
int64_t txn_count_files(struct txn_fixture *f);

#endif
