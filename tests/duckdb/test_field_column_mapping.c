/* Columns that files know under other names: mapped tables, odd names, files that lack columns. */
#include "hand_table.h"
#include "parquet_fixture.h"

#include <stdio.h>
#include <string.h>

#define NAME_PROTOCOL "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}"
#define MAPPED(name, type, physical, id)                                                                      \
    "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":" id \
    ",\"delta.columnMapping.physicalName\":\"" physical "\"}}"
#define TEXT "\"string\""
#define INT "\"integer\""
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define NAME_MODE "\"delta.columnMapping.mode\":\"name\""
#define ID_MODE "\"delta.columnMapping.mode\":\"id\""

/* A file of the query's rows and an add for it. */
static const char *file(struct session_fixture *s, const char *name, const char *query, const char *values,
                        const char *stats)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "t/%s", name);
    hand_parquet(s, path, query);
    return hand_add(s, name, values, stats);
}

static void partition_values_and_columns_go_by_physical_names(void **state)
{
    struct session_fixture *s = *state;
    static const char before[] = MAPPED("BATCH_ID", INT, "col-69075dcd", "1") "," MAPPED("v", INT, "col-v", "2");
    static const char after[] = MAPPED("lot", INT, "col-69075dcd", "1") "," MAPPED("value", INT, "col-v", "2");
    hand_commit(
        s, "t", 0, NAME_PROTOCOL, hand_metadata(s, before, "\"BATCH_ID\"", NAME_MODE),
        file(s, "7.parquet", "SELECT 1::INT AS \"col-v\"", "{\"col-69075dcd\":\"7\"}",
             "{\"numRecords\":1,\"minValues\":{\"col-v\":1},\"maxValues\":{\"col-v\":1},\"nullCount\":{\"col-v\":0}}"),
        file(s, "8.parquet", "SELECT 2::INT AS \"col-v\"", "{\"col-69075dcd\":\"8\"}",
             "{\"numRecords\":1,\"minValues\":{\"col-v\":2},\"maxValues\":{\"col-v\":2},\"nullCount\":{\"col-v\":0}}"),
        NULL);
    session_expect_rows(s, "SELECT * FROM t ORDER BY 1", "7|1\n8|2\n");
    session_expect_rows(s, "SELECT v FROM t WHERE batch_id = 7", "1\n");
    session_expect_rows(s, "SELECT BATCH_ID FROM t WHERE V > 1", "8\n");
    hand_commit(s, "t", 1, hand_metadata(s, after, "\"lot\"", NAME_MODE), NULL);
    session_expect_rows(s, "SELECT lot, value FROM t WHERE lot = 8 AND value = 2", "8|2\n");
    session_expect_rows(s, "SELECT BATCH_ID, v FROM t VERSION AS OF 0 WHERE v = 1", "7|1\n");
}

static void column_dropped_and_added_again_is_another_column(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, NAME_PROTOCOL,
                hand_metadata(s, MAPPED("a", INT, "a", "1") "," MAPPED("b", INT, "b", "2"), "", NAME_MODE),
                file(s, "1.parquet", "SELECT 1::INT AS a, 10::INT AS b", "{}", NULL), NULL);
    hand_commit(s, "t", 1,
                hand_metadata(s, MAPPED("a", INT, "a", "1") "," MAPPED("b", TEXT, "col-b2", "3"), "", NAME_MODE),
                file(s, "2.parquet", "SELECT 2::INT AS a, 'new' AS \"col-b2\"", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT a, b FROM t ORDER BY a", "1|NULL\n2|new\n");
    session_expect_rows(s, "SELECT a FROM t WHERE b IS NULL", "1\n");
    session_expect_rows(s, "SELECT a, b FROM t@v0", "1|10\n");
}

static void nested_fields_are_renamed_and_matched_at_every_level(void **state)
{
    struct session_fixture *s = *state;
    static const char fields[] =
        MAPPED("s", STRUCT(MAPPED("x", INT, "px", "2") "," MAPPED("y", TEXT, "py", "3")), "ps", "1") "," MAPPED(
            "l", "{\"type\":\"array\",\"elementType\":" STRUCT(MAPPED("k", INT, "pk", "5")) ",\"containsNull\":true}",
            "pl", "4") "," MAPPED("m",
                                  "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":" STRUCT(
                                      MAPPED("w", INT, "pw", "7")) ",\"valueContainsNull\":true}",
                                  "pm", "6");
    hand_commit(s, "t", 0, NAME_PROTOCOL, hand_metadata(s, fields, "", NAME_MODE),
                file(s, "1.parquet",
                     "SELECT {'py': 'a', 'px': 1::INT} AS ps, [{'pk': 5::INT}] AS pl, MAP {'q': {'pw': 9::INT}} AS pm",
                     "{}", NULL),
                file(s, "2.parquet", "SELECT NULL::STRUCT(px INT) AS ps, NULL::STRUCT(pk INT)[] AS pl", "{}", NULL),
                NULL);
    session_expect_rows(s, "SELECT s.x, s.y, l[1].k, m['q'].w, s IS NULL FROM t ORDER BY s.x NULLS LAST",
                        "1|a|5|9|false\nNULL|NULL|NULL|NULL|true\n");
    session_expect_rows(s, "SELECT s.y FROM t WHERE s.x = 1", "a\n");
}

/* One name with a dot is not two names. */
#define LIST_OF(type) "{\"type\":\"array\",\"elementType\":" type ",\"containsNull\":true}"
#define MAP_OF(type) "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":" type ",\"valueContainsNull\":true}"

static void struct_all_of_whose_fields_were_replaced_keeps_its_nulls(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(
        s, "t", 0, NAME_PROTOCOL,
        hand_metadata(
            s,
            MAPPED("k", INT, "k", "1") "," MAPPED("s", STRUCT(MAPPED("b", INT, "pb", "9")), "ps", "2") "," MAPPED(
                "l", LIST_OF(STRUCT(MAPPED("b", INT, "pb", "10") "," MAPPED("c", TEXT, "pc", "11"))), "pl",
                "3") "," MAPPED("m", MAP_OF(STRUCT(MAPPED("b", LIST_OF(INT), "pb", "12"))), "pm", "4"),
            "", NAME_MODE),
        file(s, "old.parquet",
             "SELECT 1::INT AS k, {'x': [{'y': 1}]} AS ps, [{'x': 'a'}, NULL] AS pl, MAP {'u': {'x': 1, 'z': 2}, 'v': "
             "NULL} AS pm UNION ALL SELECT 2, NULL, [], NULL UNION ALL SELECT 3, {'x': NULL}, NULL, MAP {}",
             "{}", NULL),
        file(s, "new.parquet",
             "SELECT 4::INT AS k, {'pb': 7::INT} AS ps, [{'pb': 8::INT, 'pc': 'c'}] AS pl, MAP {'w': {'pb': "
             "[9::INT]}} AS pm",
             "{}", NULL),
        NULL);
    session_expect_rows(s, "SELECT s::TEXT, l::TEXT, m::TEXT FROM t ORDER BY k",
                        "{'b': NULL}|[{'b': NULL, 'c': NULL}, NULL]|{u={'b': NULL}, v=NULL}\n"
                        "NULL|[]|NULL\n"
                        "{'b': NULL}|NULL|{}\n"
                        "{'b': 7}|[{'b': 8, 'c': c}]|{w={'b': [9]}}\n");
    session_expect_rows(s, "SELECT k FROM t WHERE s IS NULL", "2\n");
    session_expect_rows(s, "SELECT k FROM t WHERE s.b = 7 OR m['u'].b IS NOT NULL", "4\n");
}

static void struct_without_any_field_to_tell_nulls_by_is_refused(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t",
                "{\"name\":\"s\",\"type\":" STRUCT(HAND_FIELD("b", "integer")) ",\"nullable\":true,\"metadata\":{}}",
                "");
    hand_commit(s, "t", 1,
                file(s, "1.parquet", "SELECT {'v': {'metadata': ''::BLOB, 'value': ''::BLOB}} AS s", "{}", NULL), NULL);
    session_expect_fault(s, "SELECT * FROM t", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", -1);
}

static void names_may_hold_anything(void **state)
{
    struct session_fixture *s = *state;
    static const char fields[] = MAPPED("a.b", INT, "p1", "1") "," MAPPED(
        "a", STRUCT(MAPPED("b", INT, "p3", "3")), "p2",
        "2") "," MAPPED("Extract Year", INT, "p4",
                        "4") "," MAPPED("tick`s", INT, "p5", "5") "," MAPPED("quote\\\"s", INT, "p6",
                                                                             "6") "," MAPPED("größe", INT, "p7", "7");
    hand_commit(
        s, "t", 0, NAME_PROTOCOL, hand_metadata(s, fields, "\"a.b\"", NAME_MODE),
        file(
            s, "1.parquet", "SELECT {'p3': 2::INT} AS p2, 3::INT AS p4, 4::INT AS p5, 5::INT AS p6, 6::INT AS p7",
            "{\"p1\":\"1\"}",
            "{\"numRecords\":1,\"minValues\":{\"p2\":{\"p3\":2},\"p4\":3},\"maxValues\":{\"p2\":{\"p3\":2},\"p4\":3}}"),
        file(
            s, "2.parquet", "SELECT {'p3': 20::INT} AS p2, 30::INT AS p4, 40::INT AS p5, 50::INT AS p6, 60::INT AS p7",
            "{\"p1\":\"10\"}",
            "{\"numRecords\":1,\"minValues\":{\"p2\":{\"p3\":20},\"p4\":30},\"maxValues\":{\"p2\":{\"p3\":20},\"p4\":30}}"),
        NULL);
    session_expect_rows(s, "SELECT `a.b`, a.b, `Extract Year`, `tick``s`, \"quote\"\"s\", größe FROM t ORDER BY 1",
                        "1|2|3|4|5|6\n10|20|30|40|50|60\n");
    session_expect_rows(s, "SELECT a.b FROM t WHERE `a.b` = 10", "20\n");
    session_expect_rows(s, "SELECT `a.b` FROM t WHERE a.b = 2", "1\n");
    session_expect_rows(s, "SELECT `a.b` FROM t WHERE `extract year` > 3", "10\n");
    session_expect_rows(s, "SELECT `a.b` FROM t WHERE `tick``s` < 5", "1\n");
}

/* PROTOCOL: a file without any id is refused or read as nulls; Delta Spark refuses it. */
static void ids_decide_in_id_mode_and_a_file_without_any_is_refused(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, NAME_PROTOCOL,
                hand_metadata(s, MAPPED("a", INT, "p", "1") "," MAPPED("b", INT, "q", "2"), "", ID_MODE), NULL);
    hand_parquet(s, "t/1.parquet", "SELECT 1 AS a");
    session_expect_done(s, session_with_dir(s, "COPY (SELECT 2::INT AS other, 3::INT AS p) TO '%D/t/2.parquet' "
                                               "(FIELD_IDS {other: 1, p: 7})"));
    hand_commit(s, "t", 1, hand_add(s, "2.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT a, b FROM t", "2|NULL\n");
    hand_commit(s, "t", 2, hand_add(s, "1.parquet", "{}", NULL), NULL);
    session_expect_fault(s, "SELECT a FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.NO_HINT", -1);
    assert_non_null(strstr(s->err.message, "1.parquet"));
}

/* Delta Spark: "Found duplicate field(s) … in id mapping mode". */
static void two_fields_of_one_id_are_refused(void **state)
{
    struct session_fixture *s = *state;
    const int32_t values[] = {5, 6};
    const struct pq_column members[] = {
        {.name = "x", .type = PQ_INT32, .field_id = 2, .values = values, .n_values = 1},
        {.name = "y", .type = PQ_INT32, .field_id = 2, .values = values + 1, .n_values = 1}};
    struct pq_column columns[] = {
        {.name = "p", .type = PQ_INT32, .field_id = 3, .values = values, .n_values = 1},
        {.name = "q", .type = PQ_INT32, .field_id = 3, .values = values + 1, .n_values = 1},
        {.name = "r", .type = PQ_INT32, .field_id = 4, .values = values + 1, .n_values = 1},
        {.name = "s", .type = PQ_GROUP, .field_id = 1, .children = members, .n_children = 2},
    };
    hand_commit(s, "t", 0, NAME_PROTOCOL,
                hand_metadata(s,
                              MAPPED("a", INT, "p", "3") "," MAPPED("b", INT, "r", "4") "," MAPPED(
                                  "n", STRUCT(MAPPED("m", INT, "x", "2")), "s", "1"),
                              "", ID_MODE),
                hand_add(s, "f.parquet", "{}", NULL), NULL);
    pq_write(sl_arena_printf(&s->arena, "%s/t/f.parquet", s->dir), columns, 4, 1, NULL);
    session_expect_fault(s, "SELECT a FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.NO_HINT", -1);
    assert_non_null(strstr(s->err.message, "has 2 fields with its id 3"));
    columns[1].field_id = 7;
    pq_write(sl_arena_printf(&s->arena, "%s/t/g.parquet", s->dir), columns, 4, 1, NULL);
    hand_commit(s, "t", 1, hand_add(s, "g.parquet", "{}", NULL),
                "{\"remove\":{\"path\":\"f.parquet\",\"dataChange\":true}}", NULL);
    session_expect_fault(s, "SELECT n FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.NO_HINT", -1);
    assert_non_null(strstr(s->err.message, "has 2 fields with its id 2"));
}

static void broken_mapping_is_refused_and_named(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, NAME_PROTOCOL,
                hand_metadata(s, MAPPED("a", INT, "p", "1") "," MAPPED("b", INT, "p", "2"), "", NAME_MODE), NULL);
    session_expect_fault(s, "SELECT * FROM t", SILT_ECORRUPT, "SILT_CORRUPT", -1);
    assert_non_null(strstr(s->err.message, "physical name p"));
}

static void mode_that_the_protocol_does_not_announce_is_refused(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, HAND_PROTOCOL, hand_metadata(s, MAPPED("a", INT, "p", "1"), "", NAME_MODE), NULL);
    session_expect_fault(s, "SELECT * FROM t", SILT_EUNSUPPORTED, "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH", -1);
    hand_commit(s, "u", 0,
                "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":7,\"writerFeatures\":[\"columnMapping\"]}}",
                hand_metadata(s, MAPPED("a", INT, "p", "1"), "", NAME_MODE), NULL);
    session_expect_rows(s, "SELECT * FROM u", "");
}

static void files_may_lack_columns_and_have_others(void **state)
{
    struct session_fixture *s = *state;
    hand_create(
        s, "t",
        HAND_FIELD("a", "integer") ",{\"name\":\"s\",\"type\":" STRUCT(HAND_FIELD("x", "integer") "," HAND_FIELD(
            "b", "string")) ",\"nullable\":true,\"metadata\":{}}," HAND_FIELD("c", "string"),
        "");
    hand_commit(s, "t", 1, file(s, "1.parquet", "SELECT {'x': 1::INT} AS s, 1::INT AS a, 'extra' AS z", "{}", NULL),
                file(s, "2.parquet", "SELECT 'c' AS c, {'b': 'b', 'x': 2::INT} AS s, 2::INT AS a", "{}", NULL),
                file(s, "3.parquet", "SELECT 'c' AS c, 3::INT AS a LIMIT 0", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT a, s.x, s.b, c FROM t ORDER BY a", "1|1|NULL|NULL\n2|2|b|c\n");
    session_expect_rows(s, "SELECT a FROM t WHERE c IS NULL", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE s.b = 'b'", "1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(partition_values_and_columns_go_by_physical_names),
        SESSION_TEST(column_dropped_and_added_again_is_another_column),
        SESSION_TEST(nested_fields_are_renamed_and_matched_at_every_level),
        SESSION_TEST(struct_all_of_whose_fields_were_replaced_keeps_its_nulls),
        SESSION_TEST(struct_without_any_field_to_tell_nulls_by_is_refused),
        SESSION_TEST(names_may_hold_anything),
        SESSION_TEST(ids_decide_in_id_mode_and_a_file_without_any_is_refused),
        SESSION_TEST(two_fields_of_one_id_are_refused),
        SESSION_TEST(broken_mapping_is_refused_and_named),
        SESSION_TEST(mode_that_the_protocol_does_not_announce_is_refused),
        SESSION_TEST(files_may_lack_columns_and_have_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
