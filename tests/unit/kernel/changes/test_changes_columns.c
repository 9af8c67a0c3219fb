/* The columns of changes: the last version's and what is told of a change, all of which may be null. */
#include <string.h>

#include "changes_fixture.h"
#include "schema/type.h"

#define REQUIRED(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":false,\"metadata\":{}}"
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"

static silt_changes *plan(struct changes_fixture *f, int64_t from, int64_t to)
{
    silt_changes *changes = NULL;
    const silt_changes_options options = changes_range(from, to);
    if (changes_try(f, &options, &changes) != SILT_OK) {
        fail_msg("%s", f->err.message);
    }
    return changes;
}

static void rows_from_before_not_null_keep_their_nulls(void **state)
{
    struct changes_fixture *f = *state;
    static const char *const names[] = {"id", "name"};
    const silt_value cells[] = {mini_null(), mini_text("a")};
    struct ArrowArrayStream rows;
    struct ArrowSchema schema;
    changes_make(f);
    mini_engine_can(&f->mini, CHANGES_ROOT "/x", names, 2, cells, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_REMOVE("x"), NULL);
    changes_commit(f, 3,
                   changes_metadata(f, REQUIRED("id", "\"long\"") "," CHANGES_FIELD("name", "string"), "", CHANGES_ON),
                   NULL);
    changes_expect(f, 0, 3, "null,a,insert,1,2000000;null,a,delete,2,3000000;");
    silt_changes *changes = plan(f, 0, 3);
    assert_int_equal(silt_changes_read(changes, NULL, &rows, &f->err), SILT_OK);
    silt_changes_unref(changes);
    assert_int_equal(rows.get_schema(&rows, &schema), 0);
    for (int64_t i = 0; i < schema.n_children; i++) {
        assert_true((schema.children[i]->flags & ARROW_FLAG_NULLABLE) != 0);
    }
    schema.release(&schema);
    rows.release(&rows);
}

static void parts_of_types_may_be_null_but_keys(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(
        f, 0, CHANGES_PROTOCOL,
        changes_metadata(
            f,
            REQUIRED("s", STRUCT(REQUIRED("x", "\"long\"") "," REQUIRED("y", STRUCT(REQUIRED("z", "\"date\""))))) "," REQUIRED(
                "l",
                "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":false}") "," REQUIRED("m",
                                                                                                     "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":" STRUCT(
                                                                                                         REQUIRED(
                                                                                                             "v",
                                                                                                             "\"long\"")) ",\"valueContainsNull\":false}"),
            "", CHANGES_ON),
        NULL);
    silt_changes *changes = plan(f, 0, 0);
    const struct silt_field *fields = silt_changes_schema(changes)->root.fields;
    assert_true(fields[0].nullable);
    assert_true(fields[0].type->fields[0].nullable);
    assert_true(fields[0].type->fields[1].type->fields[0].nullable);
    assert_true(fields[1].type->contains_null);
    assert_true(fields[2].type->contains_null);
    assert_int_equal(fields[2].type->key->kind, SILT_TYPE_STRING);
    assert_true(fields[2].type->element->fields[0].nullable);
    silt_changes_unref(changes);
}

static void files_are_asked_for_physical_names(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(f, 0, CHANGES_PROTOCOL_MAPPED,
                   changes_metadata(f, CHANGES_MAPPED("a", "long", "col-1", 1), "",
                                    CHANGES_ON
                                    ",\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"1\""),
                   NULL);
    silt_changes *changes = plan(f, 0, 0);
    const silt_scan_plan *rows = silt_changes_plan(changes, 0);
    assert_string_equal(silt_field_name(silt_schema_field(rows->logical, 0)), "a");
    assert_string_equal(silt_field_name(silt_schema_field(rows->physical, 0)), "col-1");
    assert_string_equal(silt_field_name(silt_schema_field(rows->physical, 1)), "_change_type");
    silt_changes_unref(changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHANGES_TEST(rows_from_before_not_null_keep_their_nulls),
        CHANGES_TEST(parts_of_types_may_be_null_but_keys),
        CHANGES_TEST(files_are_asked_for_physical_names),
    };
    return cmocka_run_group_tests_name("changes_columns", tests, NULL, NULL);
}
