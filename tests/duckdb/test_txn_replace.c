/* Replacing rows and schemas through the C API: what a transaction takes out, what it proves, and whom it conflicts with. */
#include "count_files.h"
#include "session_fixture.h"

#include <string.h>

static void make_table(struct session_fixture *s)
{
    session_expect_done(s, "CREATE TABLE t (id BIGINT, p STRING) USING delta PARTITIONED BY (p)");
    session_expect_done(s, "INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b')");
}

static silt_table *open_table(struct session_fixture *s)
{
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    return table;
}

static silt_txn *begin(struct session_fixture *s, silt_table *table)
{
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin(table, NULL, "WRITE", &txn, &s->err), SILT_OK);
    return txn;
}

static silt_status replace(struct session_fixture *s, silt_txn *txn, const char *condition)
{
    silt_expr *predicate = NULL;
    assert_int_equal(silt_expr_parse(silt_env_default(), condition, strlen(condition), NULL, &predicate, &s->err),
                     SILT_OK);
    const silt_status status = silt_txn_replace_where(txn, NULL, predicate, &s->err);
    silt_expr_unref(predicate);
    return status;
}

/* The rows of a query, written by the transaction. */
static silt_status write_rows(struct session_fixture *s, silt_txn *txn, const char *query)
{
    silt_execution *execution = NULL;
    silt_result result = {.size = sizeof(result)};
    bool done = false;
    assert_int_equal(silt_session_execute(s->session, query, strlen(query), NULL, NULL, &execution, &s->err), SILT_OK);
    assert_int_equal(silt_execution_next(execution, NULL, &result, &done, &s->err), SILT_OK);
    const silt_status status = silt_txn_write(txn, NULL, &result.stream, &s->err);
    silt_execution_free(execution);
    return status;
}

static silt_status commit(struct session_fixture *s, silt_txn *txn)
{
    silt_commit_result result = {.size = sizeof(result)};
    const silt_status status = silt_txn_commit(txn, NULL, &result, &s->err);
    silt_txn_free(txn);
    return status;
}

static void a_condition_is_replaced_by_rows_that_fulfil_it(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    silt_table *table = open_table(s);
    silt_txn *txn = begin(s, table);
    assert_int_equal(replace(s, txn, "id >= 2 AND p = 'a'"), SILT_OK);
    assert_int_equal(write_rows(s, txn, "SELECT 20 AS id, 'a' AS p"), SILT_OK);
    assert_int_equal(commit(s, txn), SILT_OK);
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a\n3|b\n20|a\n");
    silt_table_unref(table);
}

static void rows_outside_are_found_at_the_commit(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    const int before = count_files(s->dir);
    silt_table *table = open_table(s);
    silt_txn *txn = begin(s, table);
    assert_int_equal(replace(s, txn, "id = 2"), SILT_OK);
    assert_int_equal(write_rows(s, txn, "SELECT 2 AS id, 'a' AS p"), SILT_OK);
    assert_int_equal(write_rows(s, txn, "SELECT 9 AS id, 'a' AS p"), SILT_OK);
    assert_int_equal(commit(s, txn), SILT_ECONSTRAINT);
    assert_string_equal(s->err.code_name, "DELTA_REPLACE_WHERE_MISMATCH");
    assert_int_equal(count_files(s->dir), before);
    session_expect_rows(s, "SELECT count(*) FROM t", "3\n");
    silt_table_unref(table);
}

static void calls_come_in_their_order(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    silt_table *table = open_table(s);
    silt_txn *txn = begin(s, table);
    assert_int_equal(write_rows(s, txn, "SELECT 2 AS id, 'a' AS p"), SILT_OK);
    assert_int_equal(replace(s, txn, "id = 2"), SILT_EINVALID);
    silt_txn_free(txn);
    txn = begin(s, table);
    assert_int_equal(replace(s, txn, "id = 2"), SILT_OK);
    assert_int_equal(replace(s, txn, "id = 2"), SILT_EINVALID);
    assert_int_equal(silt_txn_overwrite_partitions(txn, NULL, &s->err), SILT_EINVALID);
    assert_int_equal(silt_txn_replace_where(txn, NULL, NULL, &s->err), SILT_EINVALID);
    silt_txn_free(txn);
    txn = begin(s, table);
    assert_int_equal(replace(s, txn, "id"), SILT_EINVALID);
    assert_int_equal(commit(s, txn), SILT_OK); /* nothing was touched */
    silt_table_unref(table);
}

static void partitions_that_receive_rows_are_overwritten(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    silt_table *table = open_table(s);
    silt_txn *txn = begin(s, table);
    assert_int_equal(write_rows(s, txn, "SELECT 30 AS id, 'b' AS p UNION ALL SELECT 40, NULL"), SILT_OK);
    assert_int_equal(silt_txn_overwrite_partitions(txn, NULL, &s->err), SILT_OK);
    assert_int_equal(commit(s, txn), SILT_OK);
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a\n2|a\n30|b\n40|NULL\n");
    silt_table_unref(table);
}

struct race {
    const char *replaces;
    const char *winner;
    const char *code; /* NULL: both commit */
};

/* WriteSerializable: rows that others append blindly come after us; what they change of our rows stands against us. */
static void a_winner_in_the_part_that_is_replaced_conflicts(void **state)
{
    struct session_fixture *s = *state;
    static const struct race races[] = {
        {"p = 'a'", "INSERT INTO t VALUES (9, 'b')", NULL},
        {"p = 'a'", "INSERT INTO t VALUES (9, 'a')", NULL},
        {"p = 'a'", "INSERT INTO t REPLACE WHERE p = 'b' VALUES (9, 'b')", NULL},
        {"p = 'a'", "INSERT INTO t SELECT id + 10, 'a' FROM t WHERE p = 'a'", "DELTA_CONCURRENT_APPEND"},
        {"p = 'a'", "INSERT INTO t REPLACE WHERE p = 'a' AND id = 1 SELECT * FROM t WHERE false",
         "DELTA_CONCURRENT_APPEND"},
        {"id = 2", "INSERT INTO t REPLACE WHERE id = 1 SELECT * FROM t WHERE false", "DELTA_CONCURRENT_APPEND"},
        {"p = 'a'", "TRUNCATE TABLE t", "DELTA_CONCURRENT_DELETE_READ"},
        {"p = 'a'", "CREATE OR REPLACE TABLE t (id BIGINT, p STRING)", "DELTA_METADATA_CHANGED"},
    };
    for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
        session_expect_done(s, "DROP TABLE IF EXISTS t");
        make_table(s);
        silt_table *table = open_table(s);
        silt_txn *txn = begin(s, table);
        assert_int_equal(replace(s, txn, races[i].replaces), SILT_OK);
        session_expect_done(s, races[i].winner);
        const silt_status status = commit(s, txn);
        if (status != (races[i].code == NULL ? SILT_OK : SILT_ECONFLICT) ||
            (races[i].code != NULL && strcmp(races[i].code, s->err.code_name) != 0)) {
            fail_msg("%s against %s: %s [%s] %s", races[i].replaces, races[i].winner, silt_status_name(status),
                     s->err.code_name, s->err.message);
        }
        silt_table_unref(table);
    }
}

static void an_overwrite_of_partitions_conflicts_within_them_only(void **state)
{
    struct session_fixture *s = *state;
    static const struct race races[] = {
        {"b", "INSERT INTO t REPLACE WHERE p = 'a' VALUES (9, 'a')", NULL},
        {"a", "INSERT INTO t REPLACE WHERE p = 'a' SELECT * FROM t WHERE false", "DELTA_CONCURRENT_DELETE_READ"},
        {"b", "INSERT INTO t SELECT id, 'b' FROM t WHERE id = 1", "DELTA_CONCURRENT_APPEND"},
    };
    for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
        session_expect_done(s, "DROP TABLE IF EXISTS t");
        make_table(s);
        silt_table *table = open_table(s);
        silt_txn *txn = begin(s, table);
        assert_int_equal(write_rows(s, txn, session_format(s, "SELECT 30 AS id, '%s' AS p", races[i].replaces)),
                         SILT_OK);
        assert_int_equal(silt_txn_overwrite_partitions(txn, NULL, &s->err), SILT_OK);
        session_expect_done(s, races[i].winner);
        const silt_status status = commit(s, txn);
        if (status != (races[i].code == NULL ? SILT_OK : SILT_ECONFLICT) ||
            (races[i].code != NULL && strcmp(races[i].code, s->err.code_name) != 0)) {
            fail_msg("%s against %s: %s [%s] %s", races[i].replaces, races[i].winner, silt_status_name(status),
                     s->err.code_name, s->err.message);
        }
        silt_table_unref(table);
    }
}

static silt_schema *schema_of(struct session_fixture *s, const char *name, const char *type)
{
    silt_schema *schema = NULL;
    const char *json = sl_arena_printf(&s->arena,
                                       "{\"type\":\"struct\",\"fields\":[{\"name\":\"%s\",\"type\":\"%s\","
                                       "\"nullable\":false,\"metadata\":{}}]}",
                                       name, type);
    assert_int_equal(silt_schema_from_json(silt_env_default(), json, strlen(json), &schema, &s->err), SILT_OK);
    return schema;
}

static void schemas_come_with_the_rows(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    silt_table *table = open_table(s);
    silt_schema *more = schema_of(s, "w", "double");
    silt_schema *other = schema_of(s, "x", "integer");
    bool changed = false;
    silt_txn *txn = begin(s, table);
    assert_int_equal(silt_txn_merge_schema(txn, more, &changed, &s->err), SILT_OK);
    assert_true(changed);
    assert_int_equal(write_rows(s, txn, "SELECT 1.5 AS w"), SILT_OK);
    assert_int_equal(commit(s, txn), SILT_OK);
    session_expect_rows(s, "SELECT count(*), count(id), sum(w) FROM t", "4|3|1.5\n");
    txn = begin(s, table);
    assert_int_equal(silt_txn_merge_schema(txn, more, &changed, &s->err), SILT_OK);
    assert_false(changed);
    assert_int_equal(silt_txn_overwrite_schema(txn, NULL, other, NULL, 0, &s->err), SILT_OK);
    assert_int_equal(write_rows(s, txn, "SELECT 7 AS x"), SILT_OK);
    assert_int_equal(commit(s, txn), SILT_OK);
    session_expect_rows(s, "SELECT * FROM t", "7\n");
    silt_schema_unref(other);
    silt_schema_unref(more);
    silt_table_unref(table);
}

static void a_table_is_replaced_and_dropped(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    silt_table *table = open_table(s);
    silt_schema *other = schema_of(s, "x", "integer");
    const silt_create_options options = {.size = sizeof(options), .schema = other, .description = "new"};
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin_replace(table, NULL, &options, "REPLACE TABLE", &txn, &s->err), SILT_OK);
    assert_int_equal(write_rows(s, txn, "SELECT 7 AS x"), SILT_OK);
    assert_int_equal(commit(s, txn), SILT_OK);
    session_expect_rows(s, "SELECT * FROM t", "7\n");
    assert_int_equal(silt_table_drop(table, NULL, &s->err), SILT_OK);
    assert_int_equal(count_files(session_with_dir(s, "%D/t")), -1);
    assert_int_equal(silt_table_drop(table, NULL, &s->err), SILT_ENOTTABLE);
    assert_int_equal(silt_txn_begin_replace(table, NULL, &options, "REPLACE TABLE", &txn, &s->err), SILT_ENOTTABLE);
    assert_null(txn);
    silt_schema_unref(other);
    silt_table_unref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(a_condition_is_replaced_by_rows_that_fulfil_it),
        SESSION_TEST(rows_outside_are_found_at_the_commit),
        SESSION_TEST(calls_come_in_their_order),
        SESSION_TEST(partitions_that_receive_rows_are_overwritten),
        SESSION_TEST(a_winner_in_the_part_that_is_replaced_conflicts),
        SESSION_TEST(an_overwrite_of_partitions_conflicts_within_them_only),
        SESSION_TEST(schemas_come_with_the_rows),
        SESSION_TEST(a_table_is_replaced_and_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
