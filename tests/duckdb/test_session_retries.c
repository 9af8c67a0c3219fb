/*
 * What SET says about how hard a statement tries to commit, while others win the versions that it asks for: every write obeys, says who
 * came first, and leaves nothing of a statement that gave up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql_fixture.h"

#define RIVAL "{\"commitInfo\":{\"operation\":\"STREAMING UPDATE\",\"isBlindAppend\":true}}\n"

struct rig {
    silt_env env;
    int64_t ahead_us; /* of the clock that limits are counted by */
    silt_storage *memory;
    unsigned rivals;  /* so many versions are another's a moment before they are asked for */
    int64_t rival_us; /* that goes by with each of them */
    struct sql_fixture sql;
};

static int64_t moved_clock(void *ctx)
{
    const struct rig *rig = ctx;
    return silt_env_default()->monotonic_us(silt_env_default()->ctx) + rig->ahead_us;
}

static bool is_commit(const char *operation, const char *path)
{
    const char *name = strrchr(path, '/');
    return strcmp(operation, "put_if_absent") == 0 && name != NULL && strlen(name) == 1 + 20 + strlen(".json");
}

static silt_fault_action be_faster(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct rig *rig = ctx;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    (void)number;
    if (rig->rivals > 0 && is_commit(operation, path)) {
        rig->rivals--;
        rig->ahead_us += rig->rival_us;
        assert_int_equal(silt_storage_put_if_absent(rig->memory, NULL, path, RIVAL, sizeof(RIVAL) - 1, &outcome, NULL),
                         SILT_OK);
        assert_int_equal(outcome, SILT_PUT_DONE);
    }
    return SILT_FAULT_NONE;
}

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    silt_storage_registry *stores = NULL;
    silt_storage *raced = NULL;
    rig->env = *silt_env_default();
    rig->env.ctx = rig;
    rig->env.monotonic_us = moved_clock;
    assert_int_equal(silt_storage_memory_new(silt_env_default(), &rig->memory, NULL), SILT_OK);
    assert_int_equal(silt_storage_fault_new(silt_env_default(), rig->memory, be_faster, rig, &raced, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_new(silt_env_default(), &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", raced, NULL), SILT_OK);
    silt_storage_unref(raced);
    const struct sql_options options = {.warehouse = "memory://w", .env = &rig->env, .stores = stores};
    assert_true(sql_open(&rig->sql, &options));
    assert_true(sql_run(&rig->sql, "CREATE TABLE t (id BIGINT, p STRING) USING delta PARTITIONED BY (p)"));
    assert_true(sql_run(&rig->sql, "INSERT INTO t VALUES (1, 'a'), (2, 'b')"));
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    sql_close(&rig->sql);
    silt_storage_unref(rig->memory);
    free(rig);
    return 0;
}

/* Writes of every kind; none of them minds what a rival does. */
static const char *const writes[] = {
    "INSERT INTO t VALUES (3, 'a')",
    "INSERT INTO t SELECT id + 10, p FROM t",
    "INSERT INTO t REPLACE WHERE p = 'a' VALUES (4, 'a')",
    "INSERT OVERWRITE t VALUES (5, 'c')",
    "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 6 AS id, 'c' AS p, 1 AS more",
    "TRUNCATE TABLE t",
    "CREATE OR REPLACE TABLE t AS SELECT 7 AS id, 'd' AS p",
};
#define N_WRITES (sizeof(writes) / sizeof(writes[0]))

static int64_t newest(struct rig *rig)
{
    int64_t version = -1;
    assert_true(sql_run(&rig->sql, "DESCRIBE HISTORY t LIMIT 1"));
    version = strtoll(sl_buf_cstr(&rig->sql.text), NULL, 10);
    return version;
}

/* The statement commits right behind so many rivals. */
static void expect_behind(struct rig *rig, const char *sql, unsigned rivals)
{
    const int64_t before = newest(rig);
    rig->rivals = rivals;
    assert_true(sql_run(&rig->sql, "%s", sql));
    assert_int_equal(rig->rivals, 0);
    assert_int_equal(rig->sql.version, before + rivals + 1);
}

/* The statement gives up after the last of so many rivals, and tells of it. */
static void expect_given_up(struct rig *rig, const char *sql, unsigned rivals)
{
    char begins[64];
    char was[512];
    const int64_t last = newest(rig) + rivals;
    assert_true(sql_run(&rig->sql, "SELECT count(*), sum(id) FROM t"));
    (void)snprintf(was, sizeof(was), "%s", sl_buf_cstr(&rig->sql.text));
    rig->rivals = rivals;
    assert_int_equal(sql_try(&rig->sql, "%s", sql), SILT_ECONFLICT);
    assert_int_equal(rig->rivals, 0);
    assert_string_equal(rig->sql.err.code_name, "DELTA_MAX_COMMIT_RETRIES_EXCEEDED");
    (void)snprintf(begins, sizeof(begins), "version %lld (STREAMING UPDATE) ", (long long)last);
    if (strstr(rig->sql.err.message, begins) == NULL || rig->sql.err.hint[0] == '\0') {
        fail_msg("%s: %s / %s", sql, rig->sql.err.message, rig->sql.err.hint);
    }
    assert_int_equal(newest(rig), last);
    assert_true(sql_run(&rig->sql, "SELECT count(*), sum(id) FROM t"));
    assert_string_equal(sl_buf_cstr(&rig->sql.text), was);
}

static void the_number_of_attempts_is_obeyed(void **state)
{
    static const char *const names[] = {"silt.write.maxCommitAttempts", "spark.databricks.delta.maxCommitAttempts"};
    struct rig *rig = *state;
    for (size_t i = 0; i < N_WRITES; i++) {
        assert_true(sql_run(&rig->sql, "SET %s = 2", names[i % 2]));
        expect_given_up(rig, writes[i], 2);
        expect_behind(rig, writes[i], 1);
        assert_true(sql_run(&rig->sql, "RESET %s", names[i % 2]));
        assert_true(sql_run(&rig->sql, "INSERT INTO t BY NAME SELECT 1 AS id, 'a' AS p"));
    }
    expect_behind(rig, writes[0], 5); /* without it there is no end that others come to */
}

static void the_time_for_a_commit_is_obeyed(void **state)
{
    struct rig *rig = *state;
    assert_true(sql_run(&rig->sql, "SET silt.write.commitTimeLimit = 3600000"));
    for (size_t i = 0; i < N_WRITES; i++) {
        rig->rival_us = INT64_C(3600) * 1000000 + 1;
        expect_given_up(rig, writes[i], 1);
        rig->rival_us = INT64_C(3600) * 1000000 / 10;
        expect_behind(rig, writes[i], 2);
        rig->rival_us = 0;
        assert_true(sql_run(&rig->sql, "INSERT INTO t BY NAME SELECT 1 AS id, 'a' AS p"));
    }
    rig->rival_us = INT64_C(3600) * 1000000 + 1;
    assert_true(sql_run(&rig->sql, "RESET silt.write.commitTimeLimit"));
    expect_behind(rig, writes[0], 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_number_of_attempts_is_obeyed),
        TEST(the_time_for_a_commit_is_obeyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
