/* Which versions can be told under the columns of the last one, and which are refused: recording, columns, types, partitioning. */
#include <string.h>

#include "changes_fixture.h"

#define ID CHANGES_FIELD("id", "long")
#define NAME CHANGES_FIELD("name", "string")
#define NOT_RECORDED "DELTA_MISSING_CHANGE_DATA"
#define INCOMPATIBLE "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"
#define MAPPED_BY_NAME CHANGES_ON ",\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"9\""

static void expect_refusal(struct changes_fixture *f, int64_t from, int64_t to, const char *code_name, int64_t version,
                           const char *in_message)
{
    const silt_changes_options options = changes_range(from, to);
    changes_expect_failure(f, &options, strcmp(code_name, NOT_RECORDED) == 0 ? SILT_EUNSUPPORTED : SILT_ESCHEMA,
                           code_name, in_message);
    assert_int_equal(f->err.version, version);
    assert_true(f->err.hint[0] != '\0');
}

static void expect_plan(struct changes_fixture *f, int64_t from, int64_t to)
{
    silt_changes *changes = NULL;
    const silt_changes_options options = changes_range(from, to);
    if (changes_try(f, &options, &changes) != SILT_OK) {
        fail_msg("%s", f->err.message);
    }
    silt_changes_unref(changes);
}

static void commit_metadata(struct changes_fixture *f, int64_t version, const char *fields, const char *partitions)
{
    changes_commit(f, version, changes_metadata(f, fields, partitions, CHANGES_ON), NULL);
}

static void make_with(struct changes_fixture *f, const char *fields)
{
    changes_commit(f, 0, CHANGES_PROTOCOL, changes_metadata(f, fields, "", CHANGES_ON), NULL);
}

/* ---- is it recorded? ---- */

static void a_table_that_never_recorded_is_refused(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(f, 0, CHANGES_PROTOCOL, changes_metadata(f, ID, "", ""), NULL);
    expect_refusal(f, 0, 0, NOT_RECORDED, 0, "was not recorded in version 0");
}

static void recording_switched_on_late_leaves_the_versions_before_out(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(f, 0, CHANGES_PROTOCOL, changes_metadata(f, ID "," NAME, "", ""), NULL);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    commit_metadata(f, 2, ID "," NAME, "");
    changes_commit(f, 3, CHANGES_REMOVE("x"), NULL);
    changes_file(f, "x", 1, 1);
    expect_refusal(f, 0, 3, NOT_RECORDED, 0, "was not recorded in version 0");
    expect_refusal(f, 1, SILT_CHANGES_LATEST, NOT_RECORDED, 1, "was not recorded in version 1");
    changes_expect(f, 2, 3, "1,a,delete,3,4000000;");
    changes_expect(f, 2, 2, "");
}

static void recording_switched_off_in_the_middle_is_refused(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_commit(f, 1, changes_metadata(f, ID "," NAME, "", "\"delta.enableChangeDataFeed\":\"false\""), NULL);
    commit_metadata(f, 2, ID "," NAME, "");
    expect_refusal(f, 0, 2, NOT_RECORDED, 1, "changes of versions 0 to 2");
    expect_refusal(f, 0, 1, NOT_RECORDED, 1, "was not recorded in version 1");
    expect_plan(f, 0, 0);
    expect_plan(f, 2, 2);
}

/* ---- columns ---- */

static void a_column_that_came_later_is_null_before(void **state)
{
    struct changes_fixture *f = *state;
    make_with(f, ID);
    changes_file(f, "x", 1, 2);
    static const char *const names[] = {"id", "name"};
    const silt_value old[] = {mini_long(5)};
    mini_engine_can(&f->mini, CHANGES_ROOT "/old", names, 1, old, 1);
    changes_commit(f, 1, CHANGES_ADD("old"), NULL);
    changes_commit(f, 2, changes_metadata(f, ID "," NAME, "", CHANGES_ON), CHANGES_ADD("x"), NULL);
    changes_expect(f, 0, 2, "5,null,insert,1,2000000;1,a,insert,2,3000000;2,b,insert,2,3000000;");
    changes_expect(f, 0, 1, "5,insert,1,2000000;"); /* the last version's columns */
}

static void a_column_that_went_is_left_out(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    commit_metadata(f, 2, ID, "");
    changes_expect(f, 0, 2, "1,insert,1,2000000;");
    changes_expect(f, 0, 1, "1,a,insert,1,2000000;");
}

static void commit_mapped(struct changes_fixture *f, int64_t version, const char *fields, const char *action)
{
    changes_commit(f, version, changes_metadata(f, fields, "", MAPPED_BY_NAME), action, NULL);
}

/* The same column is the one of the same physical name. */
static void mapped_columns_are_followed_through_renames_and_drops(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(f, 0, CHANGES_PROTOCOL_MAPPED,
                   changes_metadata(f,
                                    CHANGES_MAPPED("a", "long", "id", 1) "," CHANGES_MAPPED("b", "string", "name", 2),
                                    "", MAPPED_BY_NAME),
                   NULL);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    commit_mapped(f, 2, CHANGES_MAPPED("b", "long", "id", 1) "," CHANGES_MAPPED("a", "string", "name", 2), NULL);
    changes_expect(f, 0, 2, "1,a,insert,1,2000000;");
    commit_mapped(f, 3, CHANGES_MAPPED("b", "long", "id", 1), NULL); /* drops */
    changes_expect(f, 0, 3, "1,insert,1,2000000;");
    commit_mapped(f, 4, CHANGES_MAPPED("b", "long", "id", 1) "," CHANGES_MAPPED("a", "long", "other", 3), NULL);
    changes_expect(f, 0, 4, "1,null,insert,1,2000000;"); /* of another type, and another column */
}

static void mapping_that_was_switched_on_later_keeps_columns(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(
        f, 2, CHANGES_PROTOCOL_MAPPED,
        changes_metadata(f, CHANGES_MAPPED("id", "long", "id", 1) "," CHANGES_MAPPED("label", "string", "name", 2), "",
                         MAPPED_BY_NAME),
        NULL);
    changes_expect(f, 0, 2, "1,a,insert,1,2000000;");
}

/* ---- types ---- */

static void a_type_that_was_widened_reads_as_the_wider_one(void **state)
{
    struct changes_fixture *f = *state;
    make_with(f, CHANGES_FIELD("id", "integer") "," NAME);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    commit_metadata(f, 2, ID "," NAME, "");
    changes_expect(f, 0, 2, "1,a,insert,1,2000000;");
    commit_metadata(f, 3, CHANGES_FIELD("id", "integer") "," NAME, ""); /* and back */
    expect_refusal(f, 0, 3, INCOMPATIBLE, 2, "the type of column id in version 2");
    expect_refusal(f, 2, 3, INCOMPATIBLE, 2, "the type of column id in version 2");
    expect_plan(f, 3, 3);
}

static void another_type_is_refused_with_its_version(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    commit_metadata(f, 1, CHANGES_FIELD("id", "string") "," NAME, "");
    commit_metadata(f, 2, CHANGES_FIELD("id", "string"), "");
    expect_refusal(f, 0, 2, INCOMPATIBLE, 0, "the type of column id in version 0 is not that of version 2");
    expect_plan(f, 1, 2);
    commit_metadata(f, 3, CHANGES_FIELD("ID", "long"), ""); /* names ignore case */
    expect_refusal(f, 2, 3, INCOMPATIBLE, 2, "column ID in version 2");
}

#define STRUCT_OF(fields) \
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[" fields "]},\"nullable\":true,\"metadata\":{}}"
#define LIST_OF(type)                                                    \
    "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":" type \
    ",\"containsNull\":true},\"nullable\":true,\"metadata\":{}}"
#define MAP_OF(key, value)                                                                \
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":" key ",\"valueType\":" value \
    ",\"valueContainsNull\":true},\"nullable\":true,\"metadata\":{}}"

static void types_inside_of_types_follow_the_same_rules(void **state)
{
    struct changes_fixture *f = *state;
    make_with(
        f, STRUCT_OF(CHANGES_FIELD("x", "integer")) "," LIST_OF("\"integer\"") "," MAP_OF("\"string\"", "\"float\""));
    commit_metadata(f, 1,
                    STRUCT_OF(CHANGES_FIELD("x", "long") "," CHANGES_FIELD("y", "long")) "," LIST_OF(
                        "\"long\"") "," MAP_OF("\"string\"", "\"double\""),
                    "");
    expect_plan(f, 0, 1);
    commit_metadata(f, 2, STRUCT_OF(CHANGES_FIELD("y", "string")), "");
    expect_refusal(f, 0, 2, INCOMPATIBLE, 1, "column s in version 1");
    commit_metadata(f, 3, LIST_OF("\"date\""), "");
    expect_refusal(f, 1, 3, INCOMPATIBLE, 1, "column l in version 1");
    commit_metadata(f, 4, MAP_OF("\"binary\"", "\"double\""), "");
    expect_refusal(f, 1, 4, INCOMPATIBLE, 1, "column m in version 1");
    commit_metadata(f, 5, CHANGES_FIELD("s", "long"), "");
    expect_refusal(f, 2, 5, INCOMPATIBLE, 2, "column s in version 2");
}

static void decimals_widen_where_the_protocol_says_so(void **state)
{
    struct changes_fixture *f = *state;
    make_with(f, CHANGES_FIELD("d", "decimal(10,2)"));
    commit_metadata(f, 1, CHANGES_FIELD("d", "decimal(12,3)"), "");
    expect_plan(f, 0, 1);
    commit_metadata(f, 2, CHANGES_FIELD("d", "decimal(12,4)"), ""); /* fewer digits before the point */
    expect_refusal(f, 1, 2, INCOMPATIBLE, 1, "column d in version 1");
}

/* ---- partitioning ---- */

static void a_column_that_became_or_was_a_partition_column_is_refused(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    commit_metadata(f, 1, ID "," NAME, "\"name\"");
    expect_refusal(f, 0, 1, INCOMPATIBLE, 0, "the partitioning of column name in version 0");
    commit_metadata(f, 2, ID "," NAME, "\"id\"");
    expect_refusal(f, 1, 2, INCOMPATIBLE, 1, "the partitioning of column id in version 1");
    commit_metadata(f, 3, ID "," NAME, "\"id\",\"name\"");
    expect_refusal(f, 2, 3, INCOMPATIBLE, 2, "the partitioning of column name in version 2");
    expect_plan(f, 3, 3);
}

/* ---- odd metadata ---- */

static void columns_of_the_tables_own_with_reserved_names_are_refused(void **state)
{
    struct changes_fixture *f = *state;
    static const char *const fields[] = {ID "," CHANGES_FIELD("_change_type", "string"),
                                         ID "," CHANGES_FIELD("_commit_version", "long"),
                                         ID "," CHANGES_FIELD("_Commit_Timestamp", "timestamp")};
    static const char *const names[] = {"_change_type", "_commit_version", "_commit_timestamp"};
    make_with(f, ID);
    for (int64_t i = 0; i < 3; i++) {
        commit_metadata(f, i + 1, fields[i], "");
        const silt_changes_options options = changes_range(0, i + 1);
        changes_expect_failure(f, &options, SILT_ESCHEMA, "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", names[i]);
    }
    expect_plan(f, 0, 0);
    commit_metadata(f, 4, ID, "");
    expect_plan(f, 0, 4); /* it is no column of the last version */
}

static void a_schema_in_the_middle_that_cannot_be_read_is_named_by_its_version(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_commit(
        f, 1,
        "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"x\","
        "\"partitionColumns\":[],\"configuration\":{\"delta.enableChangeDataFeed\":\"true\"}}}",
        NULL);
    commit_metadata(f, 2, ID "," NAME, "");
    silt_changes *changes = NULL;
    const silt_changes_options options = changes_range(0, 2);
    assert_int_not_equal(changes_try(f, &options, &changes), SILT_OK);
    assert_non_null(strstr(f->err.message, "version 1"));
    assert_int_equal(f->err.version, 1);
    expect_plan(f, 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHANGES_TEST(a_table_that_never_recorded_is_refused),
        CHANGES_TEST(recording_switched_on_late_leaves_the_versions_before_out),
        CHANGES_TEST(recording_switched_off_in_the_middle_is_refused),
        CHANGES_TEST(a_column_that_came_later_is_null_before),
        CHANGES_TEST(a_column_that_went_is_left_out),
        CHANGES_TEST(mapped_columns_are_followed_through_renames_and_drops),
        CHANGES_TEST(mapping_that_was_switched_on_later_keeps_columns),
        CHANGES_TEST(a_type_that_was_widened_reads_as_the_wider_one),
        CHANGES_TEST(another_type_is_refused_with_its_version),
        CHANGES_TEST(types_inside_of_types_follow_the_same_rules),
        CHANGES_TEST(decimals_widen_where_the_protocol_says_so),
        CHANGES_TEST(a_column_that_became_or_was_a_partition_column_is_refused),
        CHANGES_TEST(columns_of_the_tables_own_with_reserved_names_are_refused),
        CHANGES_TEST(a_schema_in_the_middle_that_cannot_be_read_is_named_by_its_version),
    };
    return cmocka_run_group_tests_name("changes_schema", tests, NULL, NULL);
}
