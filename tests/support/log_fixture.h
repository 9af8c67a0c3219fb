/*
 * Logs for tests: a table in a memory store, with an engine whose "Parquet" files are lines of JSON, one row each. So a test
 * writes commits and checkpoints as text, and the kernel reads both as it would from a real table. Memory is counted; time
 * moves only when the test says so.
 */
#ifndef SILT_LOG_FIXTURE_H
#define SILT_LOG_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "test_env.h"

#include "kernel/snapshot/state.h"
#include "silt/silt.h"

#define LOG_ROOT "memory://tables/t"
#define LOG_PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}"
#define LOG_METADATA                                                                                      \
    "{\"metaData\":{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":" \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","  \
    "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}}"
#define LOG_ADD(path)            \
    "{\"add\":{\"path\":\"" path \
    "\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1}\"}}"
#define LOG_REMOVE(path) "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":5,\"dataChange\":true}}"

struct log_fixture {
    struct test_env test;
    silt_storage *store;  /* the memory store itself */
    silt_storage *traced; /* what the engine uses: counts operations */
    silt_engine *engine;
    silt_table *table;
    silt_error err;
    size_t n_reads; /* files read, _last_checkpoint included */
    size_t n_lists;
    size_t n_parquet_reads;     /* checkpoints opened */
    const char *fail_operation; /* of the store ("remove" …) that fails on paths with this in them; NULL: none */
    const char *fail_path;
    silt_status refusal; /* of the Parquet handler to read anything; SILT_OK: it reads */
    char files[4096];    /* of log_files */
};

/* The fixture's environment is counted: log_fixture_close fails the test on a leak. */
void log_fixture_open(struct log_fixture *f);
void log_fixture_close(struct log_fixture *f);
/* For cmocka: *state is a struct log_fixture *. */
int log_setup(void **state);
int log_teardown(void **state);
#define LOG_TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

/* Lines end with NULL. The commit's file gets the time of the fixture's clock. */
void log_commit(struct log_fixture *f, int64_t version, ...) __attribute__((sentinel));
/* N.checkpoint.parquet with these actions. */
void log_checkpoint(struct log_fixture *f, int64_t version, ...) __attribute__((sentinel));
/* Any file of _delta_log. */
void log_put(struct log_fixture *f, const char *name, const char *bytes);
void log_remove(struct log_fixture *f, const char *name);
void log_set_time_ms(struct log_fixture *f, int64_t ms);

/* Opening must succeed; free with silt_snapshot_unref. version -1: latest. */
silt_snapshot *log_open(struct log_fixture *f, int64_t version);
/* Opening must fail like this, with this in the message. */
void log_expect_failure(struct log_fixture *f, int64_t version, silt_status status, const char *code_name,
                        const char *in_message);
/* Paths of the live files, sorted, with a blank between them; in f->files. */
const char *log_files(struct log_fixture *f, silt_snapshot *snapshot);

#endif
