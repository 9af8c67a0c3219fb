/* Statements of Delta as Spark SQL writes them, and what is left to the data plane. */
#include "sql/statement.h"

#include "test_env.h"

struct parse_test {
    struct test_env t;
    struct sl_arena arena;
    struct sl_statement statement;
    silt_error err;
};

static silt_status parse(struct parse_test *p, const char *text)
{
    test_env_init(&p->t);
    sl_arena_init(&p->arena, &p->t.env);
    p->err = (silt_error)SILT_ERROR_INIT;
    return sl_statement_parse(&p->arena, sl_str_from(text), &p->statement, &p->err);
}

static void parse_end(struct parse_test *p)
{
    sl_arena_release(&p->arena);
    test_env_check(&p->t);
}

static void expect_kind(const char *text, enum sl_statement_kind kind)
{
    struct parse_test p;
    assert_int_equal(parse(&p, text), SILT_OK);
    assert_int_equal(p.statement.kind, kind);
    parse_end(&p);
}

static void expect_fault(const char *text, silt_status status, int32_t position)
{
    struct parse_test p;
    assert_int_equal(parse(&p, text), status);
    if (p.err.position != position) {
        fail_msg("%s: fault at %d, expected %d", text, p.err.position, position);
    }
    assert_true(p.err.message[0] != '\0');
    parse_end(&p);
}

static void statements_are_told_apart(void **state)
{
    (void)state;
    expect_kind("SELECT 1", SL_STMT_QUERY);
    expect_kind("with t as (select 1) from t", SL_STMT_QUERY);
    expect_kind("CREATE TEMP VIEW v AS SELECT 1", SL_STMT_QUERY);
    expect_kind("CREATE TEMP TABLE v AS SELECT 1", SL_STMT_QUERY);
    expect_kind("create table t (a int)", SL_STMT_CREATE_TABLE);
    expect_kind("desc t", SL_STMT_DESCRIBE_TABLE);
    expect_kind("describe table t", SL_STMT_DESCRIBE_TABLE);
    expect_kind("describe select 1", SL_STMT_QUERY);
    expect_kind("DESCRIBE HISTORY delta.`/p` LIMIT 3", SL_STMT_DESCRIBE_HISTORY);
    expect_kind("DESCRIBE DETAIL '/p'", SL_STMT_DESCRIBE_DETAIL);
    expect_kind("SHOW TBLPROPERTIES t ('delta.appendOnly')", SL_STMT_SHOW_PROPERTIES);
    expect_kind("SHOW COLUMNS IN t", SL_STMT_SHOW_COLUMNS);
    expect_kind("SHOW SCHEMAS", SL_STMT_QUERY);
    expect_kind("SET a.b = 1", SL_STMT_SET);
    expect_kind("RESET a.b", SL_STMT_RESET);
    expect_kind("DROP TABLE IF EXISTS t", SL_STMT_DROP_TABLE);
    expect_kind("TRUNCATE TABLE t", SL_STMT_TRUNCATE);
    expect_kind("DROP VIEW v", SL_STMT_QUERY);
}

static void later_statements_are_named_not_run(void **state)
{
    (void)state;
    static const char *const texts[] = {"DELETE FROM t",
                                        "update t set a = 1",
                                        "MERGE INTO t USING s ON 1",
                                        "OPTIMIZE t",
                                        "VACUUM t",
                                        "RESTORE TABLE t TO VERSION AS OF 1",
                                        "ALTER TABLE t x",
                                        "CONVERT TO DELTA x",
                                        "SHOW CREATE TABLE t",
                                        "SHOW TABLES",
                                        "BEGIN",
                                        "START TRANSACTION",
                                        "commit",
                                        "ROLLBACK",
                                        "CREATE SCHEMA x",
                                        "create database IF NOT EXISTS x",
                                        "DROP SCHEMA x",
                                        "DROP DATABASE x CASCADE"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_kind(texts[i], SL_STMT_UNSUPPORTED);
    }
}

static void create_table_has_every_clause(void **state)
{
    (void)state;
    struct parse_test p;
    assert_int_equal(parse(&p, "CREATE TABLE IF NOT EXISTS s.`my t` (id BIGINT NOT NULL COMMENT 'the '' key', "
                               "m MAP<STRING, ARRAY<STRUCT<a: INT, b: DECIMAL(10,2)>>>, v VARCHAR(10)) USING delta "
                               "COMMENT 'c' PARTITIONED BY (id, day DATE) TBLPROPERTIES ('delta.appendOnly' = true, "
                               "a.b = '1', x -3) LOCATION '/l'"),
                     SILT_OK);
    const struct sl_create_table *c = &p.statement.create;
    assert_true(c->if_not_exists);
    assert_int_equal(c->table.n_parts, 2);
    assert_true(sl_str_eq_c(c->table.parts[1], "my t"));
    assert_int_equal(c->n_fields, 4);
    assert_false(c->fields[0].nullable);
    assert_int_equal(c->fields[1].type->kind, SILT_TYPE_MAP);
    assert_true(sl_str_eq_c(sl_field_meta_text(&c->fields[2], SL_STR("__CHAR_VARCHAR_TYPE_STRING")), "varchar(10)"));
    assert_true(sl_str_eq_c(c->fields[3].name, "day"));
    assert_int_equal(c->partition_columns.n, 2);
    assert_int_equal(c->properties.n, 3);
    assert_true(sl_str_eq_c(c->properties.items[0].value, "true"));
    assert_true(sl_str_eq_c(c->properties.items[1].key, "a.b"));
    assert_true(sl_str_eq_c(c->properties.items[2].value, "-3"));
    assert_true(sl_str_eq_c(c->location, "/l"));
    assert_true(sl_str_eq_c(c->comment, "c"));
    parse_end(&p);
}

static void create_table_as_keeps_the_range_of_its_query(void **state)
{
    (void)state;
    struct parse_test p;
    const char *text = "create table delta.`/p` partitioned by (a) as with x as (select 1) select * from x";
    assert_int_equal(parse(&p, text), SILT_OK);
    assert_true(p.statement.create.table.is_path);
    assert_true(p.statement.create.has_query);
    assert_int_equal(p.statement.create.query_begin, (size_t)(strstr(text, "with") - text));
    assert_int_equal(p.statement.create.query_end, strlen(text));
    parse_end(&p);
}

static void insert_has_its_forms(void **state)
{
    (void)state;
    struct parse_test p;
    assert_int_equal(parse(&p, "INSERT OVERWRITE TABLE t (a, `b c`) VALUES (1, 2)"), SILT_OK);
    assert_int_equal(p.statement.insert.mode, SL_INSERT_OVERWRITE);
    assert_int_equal(p.statement.insert.columns.n, 2);
    assert_true(sl_str_eq_c(p.statement.insert.columns.items[1], "b c"));
    parse_end(&p);
    assert_int_equal(parse(&p, "insert into t by name select 1 as a"), SILT_OK);
    assert_true(p.statement.insert.by_name);
    parse_end(&p);
    assert_int_equal(parse(&p, "insert into t (select 1)"), SILT_OK);
    assert_int_equal(p.statement.insert.columns.n, 0);
    assert_int_equal(p.statement.insert.query_begin, 14);
    parse_end(&p);
}

static void insert_says_what_it_replaces(void **state)
{
    (void)state;
    struct parse_test p;
    static const char *const texts[] = {
        "insert into t replace where a in (1, 2) and b is distinct from c select 1",
        "insert into t replace where a in (1, 2) and b is distinct from c values (1)",
        "insert into t replace where a in (1, 2) and b is distinct from c (select 1)",
        "insert into t replace where a in (1, 2) and b is distinct from c with q as (select 1) from q",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(parse(&p, texts[i]), SILT_OK);
        assert_int_equal(p.statement.insert.mode, SL_INSERT_REPLACE_WHERE);
        assert_true(sl_str_eq_c(p.statement.insert.condition, "a in (1, 2) and b is distinct from c"));
        assert_int_equal(p.statement.insert.condition_begin, 28);
        assert_int_equal(p.statement.insert.query_begin, 65);
        parse_end(&p);
    }
    assert_int_equal(parse(&p, "insert with schema evolution overwrite t partition (`a b` = date '2026-01-01', c) "
                               "(d) by name select 1"),
                     SILT_OK);
    const struct sl_insert *insert = &p.statement.insert;
    assert_true(insert->evolves && insert->by_name && insert->has_partition);
    assert_int_equal(insert->mode, SL_INSERT_OVERWRITE);
    assert_int_equal(insert->n_partition, 2);
    assert_true(sl_str_eq_c(insert->partition[0].column, "a b"));
    assert_true(sl_str_eq_c(insert->partition[0].value, "date '2026-01-01'"));
    assert_null(insert->partition[1].value.ptr);
    assert_int_equal(insert->columns.n, 1);
    parse_end(&p);
}

static void set_keeps_names_and_values(void **state)
{
    (void)state;
    struct parse_test p;
    assert_int_equal(parse(&p, "SET spark.sql.session.timeZone = Europe/Vilnius"), SILT_OK);
    assert_true(sl_str_eq_c(p.statement.key, "spark.sql.session.timeZone"));
    assert_true(sl_str_eq_c(p.statement.value, "Europe/Vilnius"));
    parse_end(&p);
    assert_int_equal(parse(&p, "SET a TO 'x y'"), SILT_OK);
    assert_true(sl_str_eq_c(p.statement.value, "x y"));
    parse_end(&p);
    assert_int_equal(parse(&p, "SET TIME ZONE 'UTC'"), SILT_OK);
    assert_true(sl_str_eq_c(p.statement.key, "timezone"));
    parse_end(&p);
}

static void faults_are_placed(void **state)
{
    (void)state;
    expect_fault("create table", SILT_ESYNTAX, 12);
    expect_fault("create table t (a)", SILT_ESYNTAX, 17);
    expect_fault("create table t (a in)", SILT_EUNSUPPORTED, 18);
    expect_fault("create table t (a int) junk", SILT_ESYNTAX, 23);
    expect_fault("create table t (a int) tblproperties (x = 1, y = 2, 'x' = 1)", SILT_ESYNTAX, 52);
    expect_fault("create table t (a int) tblproperties (x = 1) comment 'c' tblproperties (y = 1)", SILT_ESYNTAX, 57);
    expect_fault("create table t (a int) comment 'c' comment 'd'", SILT_ESYNTAX, 35);
    expect_fault("create table t (a int) using delta using delta", SILT_ESYNTAX, 35);
    expect_fault("create table t (a int) tblproperties (delta.appendOnly = true, 'DELTA.appendonly' = true)",
                 SILT_ESYNTAX, 63);
    expect_fault("create table t (a int default 1)", SILT_EUNSUPPORTED, 22);
    expect_fault("create table t (a int) cluster by (a)", SILT_EUNSUPPORTED, 23);
    expect_fault("insert t values (1)", SILT_ESYNTAX, 7);
    expect_fault("insert into t", SILT_ESYNTAX, 13);
    expect_fault("insert into t partition (a=) values (1)", SILT_ESYNTAX, 27);
    expect_fault("insert into t partition (a=1) if not exists values (1)", SILT_EUNSUPPORTED, 30);
    expect_fault("insert into t replace using (a) values (1)", SILT_EUNSUPPORTED, 22);
    expect_fault("insert into t replace where values (1)", SILT_ESYNTAX, 28);
    expect_fault("insert overwrite t replace where a values (1)", SILT_EUNSUPPORTED, 19);
    expect_fault("insert with evolution into t values (1)", SILT_ESYNTAX, 12);
    expect_fault("truncate t", SILT_ESYNTAX, 9);
    expect_fault("truncate table t partition (a = 1)", SILT_EUNSUPPORTED, 17);
    expect_fault("describe history", SILT_ESYNTAX, 16);
    expect_fault("describe history t limit x", SILT_ESYNTAX, 25);
    expect_fault("'never closed", SILT_ESYNTAX, 0);
}

static void table_names_carry_time_travel(void **state)
{
    (void)state;
    struct parse_test p;
    assert_int_equal(parse(&p, "describe t version as of 3"), SILT_OK);
    assert_int_equal(p.statement.table.travel, SL_TRAVEL_VERSION);
    assert_int_equal(p.statement.table.version, 3);
    parse_end(&p);
    assert_int_equal(parse(&p, "describe t timestamp as of '2020-01-02 03:04:05.5'"), SILT_OK);
    assert_int_equal(p.statement.table.travel, SL_TRAVEL_TIMESTAMP);
    assert_int_equal(p.statement.table.timestamp_us, 1577934245500000);
    assert_false(p.statement.table.timestamp_has_zone);
    parse_end(&p);
    assert_int_equal(parse(&p, "describe delta.`/a@b@v7`"), SILT_OK);
    assert_true(sl_str_eq_c(p.statement.table.parts[0], "/a@b"));
    assert_int_equal(p.statement.table.version, 7);
    parse_end(&p);
    assert_int_equal(parse(&p, "describe t@20200102030405500"), SILT_OK);
    assert_int_equal(p.statement.table.timestamp_us, 1577934245500000);
    parse_end(&p);
    assert_int_equal(parse(&p, "describe t at (version => 4)"), SILT_OK);
    assert_int_equal(p.statement.table.version, 4);
    parse_end(&p);
    expect_fault("describe t timestamp as of 'yesterday'", SILT_EINVALID, 27);
    expect_fault("describe t@x", SILT_ESYNTAX, 11);
    expect_fault("describe a.b.c.d.e", SILT_ESYNTAX, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_told_apart),     cmocka_unit_test(later_statements_are_named_not_run),
        cmocka_unit_test(create_table_has_every_clause), cmocka_unit_test(create_table_as_keeps_the_range_of_its_query),
        cmocka_unit_test(insert_has_its_forms),          cmocka_unit_test(insert_says_what_it_replaces),
        cmocka_unit_test(set_keeps_names_and_values),    cmocka_unit_test(faults_are_placed),
        cmocka_unit_test(table_names_carry_time_travel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
