/* Appends of a session one after the other: what they read of the log, and what others did to the table meanwhile. */
#include "session_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECKPOINTED 10

static void log_path(const struct session_fixture *s, int version, const char *end, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/t/_delta_log/%020d%s", s->dir, version, end);
}

static void append_rows(struct session_fixture *s, int n)
{
    for (int i = 0; i < n; i++) {
        session_expect_rows(s, "INSERT INTO t VALUES (1)", "1|1\n");
    }
}

/* Nobody who opens the table can read it any more. */
static void take_away_the_past(const struct session_fixture *s)
{
    char path[4096];
    for (int version = 0; version < CHECKPOINTED; version++) {
        log_path(s, version, ".json", path, sizeof(path));
        assert_int_equal(unlink(path), 0);
    }
    log_path(s, CHECKPOINTED, ".checkpoint.parquet", path, sizeof(path));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("no checkpoint", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void later_appends_read_the_tail_of_the_log_only(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta");
    append_rows(s, CHECKPOINTED + 2);
    take_away_the_past(s);
    append_rows(s, 3);
    assert_int_equal(s->version, CHECKPOINTED + 5);
    /* Without the session's memory it cannot be written to: TRUNCATE opens it anew. */
    assert_int_not_equal(session_try(s, "TRUNCATE TABLE t"), SILT_OK);
}

static void an_append_goes_to_the_table_that_took_the_place_of_another(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta");
    append_rows(s, 2);
    session_expect_done(s, "DROP TABLE t");
    assert_int_not_equal(session_try(s, "INSERT INTO t VALUES (1)"), SILT_OK);
    session_expect_done(s, "CREATE TABLE t (id BIGINT, name STRING) USING delta");
    session_expect_rows(s, "INSERT INTO t VALUES (5, 'new')", "1|1\n");
    assert_int_equal(s->version, 1);
    session_expect_rows(s, "SELECT * FROM t", "5|new\n");
}

static void appends_see_what_other_statements_did(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta");
    session_expect_done(s, "CREATE TABLE u (id BIGINT) USING delta");
    append_rows(s, 1);
    session_expect_rows(s, "INSERT INTO u VALUES (7)", "1|1\n");
    session_expect_rows(s, "INSERT OVERWRITE t VALUES (2)", "1|1\n");
    session_expect_rows(s, "INSERT INTO t VALUES (3)", "1|1\n");
    session_expect_done(s, "TRUNCATE TABLE u");
    session_expect_rows(s, "INSERT INTO u VALUES (8)", "1|1\n");
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "2\n3\n");
    session_expect_rows(s, "SELECT id FROM u", "8\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(later_appends_read_the_tail_of_the_log_only),
        SESSION_TEST(an_append_goes_to_the_table_that_took_the_place_of_another),
        SESSION_TEST(appends_see_what_other_statements_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
