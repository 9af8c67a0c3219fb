/*
 * What a commit reads of a table of many files: the tail of the log, whatever the table holds. Everything that goes to the store is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sql_fixture.h"
#include "temp_dir.h"

#define N_FILES 20000
#define N_APPENDS 25
#define N_COMMITS 200
/* Of a commit and its checksum, with room; the checkpoint has a megabyte and more. */
#define MOST_BYTES_A_COMMIT 8192

struct counts {
    int64_t n_reads;
    int64_t bytes_read;
    int64_t n_checkpoint_reads;
    int64_t n_lists;
    int64_t n_data_puts;
    int64_t n_others;
};

struct traced {
    char dir[256];
    struct counts counts;
    struct sql_fixture sql;
};

static void on_event(void *ctx, const silt_trace_event *event)
{
    struct counts *counts = ctx;
    if (strcmp(event->operation, "read") == 0) {
        counts->n_reads++;
        counts->bytes_read += event->bytes;
        counts->n_checkpoint_reads += strstr(event->path, ".checkpoint.") != NULL ? 1 : 0;
    } else if (strcmp(event->operation, "list") == 0) {
        counts->n_lists++;
    } else if (strcmp(event->operation, "put") == 0 || strcmp(event->operation, "put_fresh") == 0) {
        counts->n_data_puts += strstr(event->path, "/part-") != NULL ? 1 : 0;
    } else if (strcmp(event->operation, "stat") != 0 && strncmp(event->operation, "put", 3) != 0) {
        counts->n_others++;
    }
}

static void put_text(const char *path, FILE **out)
{
    *out = fopen(path, "w");
    assert_non_null(*out);
}

/* Version 0 with its metadata, version 1 with many files that are not there: appends look at none of them. */
static void make_table(const struct traced *t)
{
    char path[512];
    FILE *file = NULL;
    (void)snprintf(path, sizeof(path), "%s/t", t->dir);
    assert_int_equal(mkdir(path, 0777), 0);
    (void)snprintf(path, sizeof(path), "%s/t/_delta_log", t->dir);
    assert_int_equal(mkdir(path, 0777), 0);
    (void)snprintf(path, sizeof(path), "%s/t/_delta_log/%020d.json", t->dir, 0);
    put_text(path, &file);
    (void)fprintf(file,
                  "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
                  "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"
                  "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","
                  "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":"
                  "{\"delta.checkpointInterval\":\"1000\"},\"createdTime\":1}}\n");
    assert_int_equal(fclose(file), 0);
    (void)snprintf(path, sizeof(path), "%s/t/_delta_log/%020d.json", t->dir, 1);
    put_text(path, &file);
    for (int i = 0; i < N_FILES; i++) {
        (void)fprintf(
            file,
            "{\"add\":{\"path\":\"part-%08d.parquet\",\"partitionValues\":{},\"size\":%d,\"modificationTime\":1,"
            "\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1}\"}}\n",
            i, 1000 + i % 97);
    }
    assert_int_equal(fclose(file), 0);
}

static void write_checkpoint(const struct traced *t)
{
    char uri[512];
    silt_engine *engine = NULL;
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(uri, sizeof(uri), "%s/t", t->dir);
    assert_int_equal(silt_engine_default_new(NULL, &engine, &err), SILT_OK);
    assert_int_equal(silt_table_for_path(engine, uri, &table, &err), SILT_OK);
    assert_int_equal(silt_table_checkpoint(table, NULL, NULL, NULL, &err), SILT_OK);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    silt_engine_unref(engine);
}

static int set_up(void **state)
{
    static struct traced traced;
    silt_storage_registry *stores = NULL;
    silt_storage *local = NULL;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    memset(&traced, 0, sizeof(traced));
    assert_true(temp_dir_make(traced.dir, sizeof(traced.dir)));
    make_table(&traced);
    write_checkpoint(&traced);
    assert_int_equal(silt_storage_local_new(silt_env_default(), NULL, &local, &err), SILT_OK);
    assert_int_equal(silt_storage_trace_new(silt_env_default(), local, on_event, &traced.counts, &store, &err),
                     SILT_OK);
    assert_int_equal(silt_storage_registry_new(silt_env_default(), &stores, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "file", store, &err), SILT_OK);
    silt_storage_unref(local);
    silt_storage_unref(store);
    const struct sql_options options = {.warehouse = traced.dir, .stores = stores};
    assert_true(sql_open(&traced.sql, &options));
    *state = &traced;
    return 0;
}

static int tear_down(void **state)
{
    struct traced *t = *state;
    sql_close(&t->sql);
    assert_true(temp_dir_remove(t->dir));
    return 0;
}

static void a_commit_reads_the_tail_of_the_log_only(void **state)
{
    struct traced *t = *state;
    assert_true(sql_run(&t->sql, "INSERT INTO t VALUES (1)"));
    assert_true(t->counts.n_checkpoint_reads + t->counts.n_others > 0); /* the first one opens the table */
    t->counts = (struct counts){0};
    for (int i = 0; i < N_APPENDS; i++) {
        assert_true(sql_run(&t->sql, "INSERT INTO t VALUES (%d)", i));
    }
    /* The commit before, which it must know of, and the checksum that it derives its own from. */
    assert_in_range(t->counts.n_reads, 1, 2 * N_APPENDS);
    assert_in_range(t->counts.bytes_read, 1, (int64_t)N_APPENDS * MOST_BYTES_A_COMMIT);
    assert_int_equal(t->counts.n_checkpoint_reads, 0);
    assert_int_equal(t->counts.n_lists, 0); /* of a store that is near the next version is asked for by its name */
    assert_int_equal(t->counts.n_data_puts, N_APPENDS);
    assert_int_equal(t->counts.n_others, 0);
    assert_int_equal(t->sql.version, N_APPENDS + 2);
}

/* A log that nobody wrote a checkpoint into, and one with many commits behind its checkpoint: read once, when the session begins. */
static void a_long_log_is_read_once(void **state)
{
    struct traced *t = *state;
    struct sql_fixture other;
    const struct sql_options options = {.warehouse = t->dir};
    assert_true(sql_open(&other, &options));
    assert_true(sql_run(&other, "CREATE TABLE long (id BIGINT) USING delta TBLPROPERTIES "
                                "('delta.checkpointInterval' = '100000')"));
    for (int i = 0; i < N_COMMITS; i++) {
        assert_true(sql_run(&other, "INSERT INTO long VALUES (%d)", i));
        assert_true(sql_run(&other, "INSERT INTO t VALUES (%d)", i));
    }
    sql_close(&other);
    static const char *const tables[] = {"long", "t"};
    for (size_t table = 0; table < 2; table++) {
        assert_true(sql_run(&t->sql, "INSERT INTO %s VALUES (-1)", tables[table]));
        assert_in_range(t->counts.n_reads, N_COMMITS, INT64_MAX);
        t->counts = (struct counts){0};
        for (int i = 0; i < N_APPENDS; i++) {
            assert_true(sql_run(&t->sql, "INSERT INTO %s VALUES (%d)", tables[table], i));
        }
        assert_in_range(t->counts.n_reads, 1, 2 * N_APPENDS);
        t->counts = (struct counts){0};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_commit_reads_the_tail_of_the_log_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_log_is_read_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
