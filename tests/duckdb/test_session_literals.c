/*
 * INSERT … VALUES of constants is read by silt itself. Whatever is written there, it must end as the same rows do when they come out of a
 * query of the data plane: in the same values, the same statistics, or the same fault.
 */
#include "session_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of numbers first. */
#define N_NUMBER_TYPES 5
static const char *const types[] = {"BYTE",    "BIGINT", "FLOAT",     "DOUBLE", "DECIMAL(10,2)", "STRING",
                                    "BOOLEAN", "DATE",   "TIMESTAMP", "BINARY", "VARCHAR(3)"};

static const char *const constants[] = {"NULL",
                                        "TRUE",
                                        "false",
                                        "0",
                                        "-1",
                                        "007",
                                        "128",
                                        "-128",
                                        "9007199254740993",
                                        "16777217",
                                        "999999999999999999",
                                        "9223372036854775808",
                                        "1.5",
                                        "-0.0",
                                        "1.005",
                                        "99999999.99",
                                        "123456789.123",
                                        "0.3333333333333333333",
                                        "1.",
                                        ".5",
                                        "1.5e3",
                                        "0x1F",
                                        "1_000",
                                        "''",
                                        "'it''s'",
                                        "'\xC3\xA4\xF0\x9F\x98\x80'",
                                        "'a\\nb'",
                                        "E'a\\nb'",
                                        "'12'",
                                        "'2020-01-31'",
                                        "DATE '2020-01-31'",
                                        "DATE '2020-02-30'",
                                        "DATE '2020-1-1'",
                                        "DATE 'today'",
                                        "TIMESTAMP '2020-01-31 01:02:03'",
                                        "- 5",
                                        "--5\n6",
                                        "1+1",
                                        "(3)",
                                        "DEFAULT",
                                        "\"x\"",
                                        "'abcd'",
                                        "$1",
                                        "1 AS a"};

/* What the newest commit of a table says behind a key, up to the next quote that is none of the text. */
static void log_text(struct session_fixture *s, const char *table, const char *key, char *out, size_t size)
{
    char path[4096];
    char line[8192];
    out[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/%s/_delta_log/%020lld.json", s->dir, table, (long long)s->version);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        const char *at = strstr(line, key);
        if (at == NULL || strstr(line, "{\"add\"") == NULL) {
            continue;
        }
        at += strlen(key);
        size_t n = 0;
        while (at[n] != '\0' && (at[n] != '"' || at[n - 1] == '\\') && n + 1 < size) {
            out[n] = at[n];
            n++;
        }
        out[n] = '\0';
    }
    assert_int_equal(fclose(file), 0);
}

static bool is_compressed(struct session_fixture *s, const char *table)
{
    char path[1024];
    log_text(s, table, "\"path\":\"", path, sizeof(path));
    return strstr(path, ".zstd.") != NULL;
}

/* Numbers for numbers and the rest for the rest, and an eighth of what does not fit together. */
static bool is_worth_a_try(size_t type, size_t constant)
{
    const bool is_number = strchr("0123456789.-", constants[constant][0]) != NULL;
    return is_number == (type < N_NUMBER_TYPES) || (type + constant) % 8 == 0;
}

/* Returns whether silt read the constant itself. */
static bool compare_constant(struct session_fixture *s, const char *type, const char *constant)
{
    char own_stats[4096];
    char plane_stats[4096];
    const silt_status own = session_try(s, session_format(s, "INSERT INTO own VALUES (%s)", constant));
    const silt_error own_err = s->err;
    bool read_here = false;
    if (own == SILT_OK) {
        log_text(s, "own", "\"stats\":\"", own_stats, sizeof(own_stats));
        read_here = !is_compressed(s, "own");
    }
    const silt_status plane = session_try(s,
                                          session_format(s, "INSERT INTO plane SELECT * FROM (VALUES (%s))", constant));
    if (own != plane || strcmp(own == SILT_OK ? "" : own_err.code_name, own == SILT_OK ? "" : s->err.code_name) != 0) {
        fail_msg("%s into %s: %s %s alone, %s %s in a query", constant, type, silt_status_name(own), own_err.message,
                 silt_status_name(plane), s->err.message);
    }
    if (own == SILT_OK) {
        log_text(s, "plane", "\"stats\":\"", plane_stats, sizeof(plane_stats));
        if (strcmp(own_stats, plane_stats) != 0) {
            fail_msg("%s into %s: statistics %s alone, %s in a query", constant, type, own_stats, plane_stats);
        }
    }
    return read_here;
}

static void constants_are_the_same_alone_and_in_a_query(void **state)
{
    struct session_fixture *s = *state;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        size_t n_here = 0;
        session_expect_done(s, session_format(s, "CREATE OR REPLACE TABLE own (c %s) USING delta", types[t]));
        session_expect_done(s, session_format(s, "CREATE OR REPLACE TABLE plane (c %s) USING delta", types[t]));
        for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
            n_here += is_worth_a_try(t, i) && compare_constant(s, types[t], constants[i]) ? 1 : 0;
        }
        session_expect_rows(s, "SELECT * FROM own EXCEPT ALL SELECT * FROM plane", "");
        session_expect_rows(s, "SELECT * FROM plane EXCEPT ALL SELECT * FROM own", "");
        /* Some of each type, but for texts of limited length and types without constants of their own. */
        assert_true(strcmp(types[t], "VARCHAR(3)") == 0 ? n_here == 0 : n_here > 0 || t > N_NUMBER_TYPES + 2);
    }
}

static void rows_and_lists_of_columns_are_read(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT NOT NULL, name STRING, price DOUBLE, day DATE) USING delta");
    session_expect_rows(
        s, "INSERT INTO t VALUES (1, 'a', 1.5, DATE '2020-01-31'), -- one\n (2, NULL, -2, NULL) /* two */", "2|2\n");
    assert_false(is_compressed(s, "t"));
    session_expect_rows(s, "INSERT INTO t (Name, ID) VALUES ('b', 3)", "1|1\n");
    assert_false(is_compressed(s, "t"));
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a|1.5|2020-01-31\n2|NULL|-2.0|NULL\n3|b|NULL|NULL\n");
}

static void what_is_wrong_is_told_as_before(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT NOT NULL, name STRING) USING delta");
    session_expect_fault(s, "INSERT INTO t VALUES (1)", SILT_ESCHEMA,
                         "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", -1);
    session_expect_fault(s, "INSERT INTO t VALUES (1, 'a', 2)", SILT_ESCHEMA,
                         "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", -1);
    session_expect_fault(s, "INSERT INTO t VALUES (NULL, 'a')", SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                         -1);
    session_expect_fault(s, "INSERT INTO t (name) VALUES ('a')", SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                         -1);
    session_expect_fault(s, "INSERT INTO t (id, id) VALUES (1, 2)", SILT_ESCHEMA, "COLUMN_ALREADY_EXISTS", -1);
    session_expect_fault(s, "INSERT INTO t (id, other) VALUES (1, 2)", SILT_ESCHEMA,
                         "UNRESOLVED_COLUMN.WITH_SUGGESTION", -1);
    session_expect_fault(s, "INSERT INTO t VALUES (1, 'a'), 2", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", -1);
    session_expect_fault(s, "INSERT INTO t VALUES (1, 'a') (2, 'b')", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", -1);
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
}

static void a_column_of_a_table_with_mapping_is_found_by_its_id(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(
        s, "CREATE TABLE t (id BIGINT, name STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'id')");
    session_expect_rows(s, "INSERT INTO t VALUES (1, 'a')", "1|1\n");
    session_expect_rows(s, "SELECT * FROM t", "1|a\n");
}

static void rows_of_a_partitioned_table_lie_in_their_folders(void **state)
{
    struct session_fixture *s = *state;
    char path[1024];
    session_expect_done(s, "CREATE TABLE t (id BIGINT, p STRING) USING delta PARTITIONED BY (p)");
    session_expect_rows(s, "INSERT INTO t VALUES (1, 'x')", "1|1\n");
    log_text(s, "t", "\"path\":\"", path, sizeof(path));
    assert_true(strncmp(path, "p=x/", strlen("p=x/")) == 0);
    session_expect_rows(s, "SELECT * FROM t", "1|x\n");
}

/* The folder, the values and the statistics that the newest commit gives its file: all but names of its own, size and time. */
static void partition_text(struct session_fixture *s, const char *table, char *out, size_t size)
{
    char path[2048];
    char values[2048];
    char stats[2048];
    log_text(s, table, "\"path\":\"", path, sizeof(path));
    log_text(s, table, "\"partitionValues\":{\"p\":", values, sizeof(values)); /* empty for a text: */
    if (values[0] == '\0') {
        log_text(s, table, "\"partitionValues\":{\"p\":\"", values, sizeof(values));
    }
    log_text(s, table, "\"stats\":\"", stats, sizeof(stats));
    char *name = strstr(path, "/part-");
    assert_non_null(name);
    *name = '\0';
    assert_true((size_t)snprintf(out, size, "%s {%s} %s", path, values, stats) < size);
}

/* Returns whether silt wrote the row itself. */
static bool compare_key(struct session_fixture *s, const char *type, const char *constant)
{
    char own_text[8192];
    char plane_text[8192];
    const silt_status own = session_try(s, session_format(s, "INSERT INTO own VALUES (7, %s)", constant));
    const silt_error own_err = s->err;
    bool written_here = false;
    if (own == SILT_OK) {
        partition_text(s, "own", own_text, sizeof(own_text));
        written_here = !is_compressed(s, "own");
    }
    const silt_status plane = session_try(
        s, session_format(s, "INSERT INTO plane SELECT * FROM (VALUES (7, %s))", constant));
    if (own != plane || strcmp(own == SILT_OK ? "" : own_err.code_name, own == SILT_OK ? "" : s->err.code_name) != 0) {
        fail_msg("%s as partition of %s: %s %s alone, %s %s in a query", constant, type, silt_status_name(own),
                 own_err.message, silt_status_name(plane), s->err.message);
    }
    if (own == SILT_OK) {
        assert_true(is_compressed(s, "plane"));
        partition_text(s, "plane", plane_text, sizeof(plane_text));
        if (strcmp(own_text, plane_text) != 0) {
            fail_msg("%s as partition of %s: %s alone, %s in a query", constant, type, own_text, plane_text);
        }
    }
    return written_here;
}

static void constants_name_the_same_partition_alone_and_in_a_query(void **state)
{
    struct session_fixture *s = *state;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        size_t n_here = 0;
        for (int plane = 0; plane < 2; plane++) {
            session_expect_done(s, session_format(s,
                                                  "CREATE OR REPLACE TABLE %s (v BIGINT, p %s) USING delta "
                                                  "PARTITIONED BY (p)",
                                                  plane ? "plane" : "own", types[t]));
        }
        for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
            n_here += is_worth_a_try(t, i) && compare_key(s, types[t], constants[i]) ? 1 : 0;
        }
        session_expect_rows(s, "SELECT * FROM own EXCEPT ALL SELECT * FROM plane", "");
        session_expect_rows(s, "SELECT * FROM plane EXCEPT ALL SELECT * FROM own", "");
        /* Numbers that are not whole have two zeros, and are the data plane's; and so are texts of limited length. */
        const bool is_own = strcmp(types[t], "VARCHAR(3)") != 0 && strcmp(types[t], "FLOAT") != 0 &&
                            strcmp(types[t], "DOUBLE") != 0;
        assert_true(is_own ? n_here > 0 || t > N_NUMBER_TYPES + 2 : n_here == 0);
    }
}

static void rows_of_one_partition_need_no_data_plane(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (p STRING, id BIGINT, q INT NOT NULL, name STRING) USING delta "
                           "PARTITIONED BY (q, p)");
    session_expect_rows(s, "INSERT INTO t VALUES ('x', 1, 5, 'a'), ('x', 2, 5, NULL)", "2|2\n");
    assert_false(is_compressed(s, "t"));
    session_expect_rows(s, "INSERT INTO t VALUES ('x', 3, 5, 'a'), ('y', 4, 5, 'b')", "2|2\n");
    assert_true(is_compressed(s, "t"));
    session_expect_rows(s, "INSERT INTO t VALUES ('', 5, 5, 'a'), (NULL, 6, 5, 'b')", "2|2\n");
    session_expect_rows(s, "INSERT INTO t VALUES ('x', 7, 5, 'a'), (NULL, 8, 5, 'b')", "2|2\n");
    session_expect_fault(s, "INSERT INTO t VALUES ('x', 9, NULL, 'a')", SILT_ECONSTRAINT,
                         "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", -1);
    session_expect_rows(s, "SELECT * FROM t ORDER BY id",
                        "x|1|5|a\nx|2|5|NULL\nx|3|5|a\ny|4|5|b\nNULL|5|5|a\nNULL|6|5|b\nx|7|5|a\nNULL|8|5|b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(constants_are_the_same_alone_and_in_a_query),
        SESSION_TEST(rows_and_lists_of_columns_are_read),
        SESSION_TEST(what_is_wrong_is_told_as_before),
        SESSION_TEST(a_column_of_a_table_with_mapping_is_found_by_its_id),
        SESSION_TEST(rows_of_a_partitioned_table_lie_in_their_folders),
        SESSION_TEST(constants_name_the_same_partition_alone_and_in_a_query),
        SESSION_TEST(rows_of_one_partition_need_no_data_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
