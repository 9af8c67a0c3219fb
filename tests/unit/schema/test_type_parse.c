/* Spark's type texts. */
#include "model_fixture.h"

#include <string.h>

static const char *simple(struct model *m, const char *text)
{
    struct sl_buf out = model_buf(m);
    sl_type_print(&out, model_type(m, text));
    return model_text(m, &out);
}

static void aliases_name_the_same_types(void **state)
{
    struct model *m = *state;
    static const char *const cases[][2] = {{"INT", "int"},
                                           {"integer", "int"},
                                           {"BIGINT", "bigint"},
                                           {"Long", "bigint"},
                                           {"SMALLINT", "smallint"},
                                           {"short", "smallint"},
                                           {"TINYINT", "tinyint"},
                                           {"BYTE", "tinyint"},
                                           {"FLOAT", "float"},
                                           {"REAL", "float"},
                                           {"DOUBLE", "double"},
                                           {"STRING", "string"},
                                           {"text", "string"},
                                           {"varchar(10)", "string"},
                                           {"CHAR ( 3 )", "string"},
                                           {"BINARY", "binary"},
                                           {"DEC", "decimal(10,0)"},
                                           {"NUMERIC(5)", "decimal(5,0)"},
                                           {"decimal( 38 , 18 )", "decimal(38,18)"},
                                           {"TIMESTAMP", "timestamp"},
                                           {"TIMESTAMP_LTZ", "timestamp"},
                                           {"TIMESTAMP_NTZ", "timestamp_ntz"},
                                           {"DATE", "date"},
                                           {"BOOLEAN", "boolean"},
                                           {"BOOL", "boolean"},
                                           {"VARIANT", "variant"},
                                           {"  int  ", "int"},
                                           {"void", "void"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(simple(m, cases[i][0]), cases[i][1]);
    }
}

static void nested_types_are_read(void **state)
{
    struct model *m = *state;
    assert_string_equal(simple(m, "ARRAY<STRUCT<a INT,b:MAP<STRING,ARRAY<DATE>>>>"),
                        "array<struct<a:int,b:map<string,array<date>>>>");
    assert_string_equal(simple(m, "struct<>"), "struct<>");
    const struct silt_type *type = model_type(
        m, "STRUCT<`a``b c`: INT NOT NULL COMMENT 'it''s', d: INT COMMENT \"x\\\"y\">");
    assert_string_equal(type->fields[0].name.ptr, "a`b c");
    assert_false(type->fields[0].nullable);
    assert_string_equal(type->fields[0].metadata[0].json.ptr, "\"it's\"");
    assert_true(type->fields[1].nullable);
    assert_string_equal(type->fields[1].metadata[0].json.ptr, "\"x\\\"y\"");
}

static void ddl_text_reads_back(void **state)
{
    struct model *m = *state;
    static const char *const texts[] = {
        "STRUCT<a: INT NOT NULL COMMENT 'it\\'s', `b c`: ARRAY<MAP<STRING, DECIMAL(5,2)>>, `select`: TIMESTAMP_NTZ>",
        "MAP<BIGINT, STRUCT<x: VARIANT>>"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sl_buf out = model_buf(m);
        sl_type_print_sql(&out, model_type(m, texts[i]));
        assert_string_equal(model_text(m, &out), texts[i]);
    }
}

static void a_prefix_stops_where_the_type_ends(void **state)
{
    struct model *m = *state;
    const struct silt_type *type = NULL;
    size_t used = 0;
    assert_int_equal(sl_type_parse_prefix(&m->arena, SL_STR(" decimal(5,2)) = 1"), &used, &type, &m->err), SILT_OK);
    assert_int_equal(used, 13);
    assert_int_equal(sl_type_parse_prefix(&m->arena, SL_STR("int = 1"), &used, &type, &m->err), SILT_OK);
    assert_int_equal(type->kind, SILT_TYPE_INTEGER);
}

static void columns_keep_the_text_of_char_and_varchar(void **state)
{
    struct model *m = *state;
    struct silt_field field = {.name = SL_STR("c")};
    assert_int_equal(sl_type_parse_column(&m->arena, SL_STR("VARCHAR(10)"), &field, &m->err), SILT_OK);
    assert_int_equal(field.type->kind, SILT_TYPE_STRING);
    assert_null(field.type->json.ptr);
    assert_string_equal(silt_field_metadata(&field, "__CHAR_VARCHAR_TYPE_STRING"), "\"varchar(10)\"");
    struct silt_field nested = {.name = SL_STR("n")};
    assert_int_equal(sl_type_parse_column(&m->arena, SL_STR("struct<a: array<CHARACTER(5)>>"), &nested, &m->err),
                     SILT_OK);
    assert_string_equal(silt_field_metadata(&nested, "__CHAR_VARCHAR_TYPE_STRING"), "\"struct<a:array<char(5)>>\"");
    assert_null(nested.type->fields[0].type->element->json.ptr);
    struct silt_field plain = {.name = SL_STR("p")};
    assert_int_equal(sl_type_parse_column(&m->arena, SL_STR("string"), &plain, &m->err), SILT_OK);
    assert_int_equal(plain.n_metadata, 0);
}

static void faults_are_reported_with_their_place(void **state)
{
    struct model *m = *state;
    static const struct {
        const char *text;
        silt_status status;
        int position;
    } bad[] = {{"", SILT_ESYNTAX, 0},
               {"int x", SILT_ESYNTAX, 4},
               {"array<int", SILT_ESYNTAX, 9},
               {"array int", SILT_ESYNTAX, 6},
               {"map<int>", SILT_ESYNTAX, 7},
               {"decimal(39)", SILT_ESYNTAX, 8},
               {"decimal(5,6)", SILT_ESYNTAX, 12},
               {"decimal(0)", SILT_ESYNTAX, 10},
               {"varchar", SILT_ESYNTAX, 7},
               {"char(0)", SILT_ESYNTAX, 6},
               {"struct<a int not>", SILT_ESYNTAX, 16},
               {"struct<`a int>", SILT_ESYNTAX, 14},
               {"struct<a int comment 'x>", SILT_ESYNTAX, 24},
               {"interval day", SILT_EUNSUPPORTED, 0},
               {"array<geometry>", SILT_EUNSUPPORTED, 6},
               {"string collate UNICODE", SILT_EUNSUPPORTED, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct silt_type *type = NULL;
        m->err = (silt_error)SILT_ERROR_INIT;
        assert_int_equal(sl_type_parse(&m->arena, sl_str_from(bad[i].text), &type, &m->err), bad[i].status);
        assert_null(type);
        if (m->err.position != bad[i].position) {
            print_error("%s: %s\n", bad[i].text, m->err.message);
        }
        assert_int_equal(m->err.position, bad[i].position);
    }
}

static void depth_is_limited(void **state)
{
    struct model *m = *state;
    char text[6 * 300 + 1];
    for (size_t i = 0; i < 300; i++) {
        memcpy(text + 6 * i, "array<", 6);
    }
    const struct silt_type *type = NULL;
    assert_int_equal(sl_type_parse(&m->arena, sl_str_make(text, 6 * 300), &type, &m->err), SILT_ELIMIT);
}

static silt_status parse_once(struct model *m, silt_error *err)
{
    struct silt_field field = {.name = SL_STR("c")};
    return sl_type_parse_column(&m->arena, SL_STR("struct<`a b` varchar(3) comment 'x', m map<int, array<date>>>"),
                                &field, err);
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    model_sweep(parse_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(aliases_name_the_same_types),
        MODEL_TEST(nested_types_are_read),
        MODEL_TEST(ddl_text_reads_back),
        MODEL_TEST(a_prefix_stops_where_the_type_ends),
        MODEL_TEST(columns_keep_the_text_of_char_and_varchar),
        MODEL_TEST(faults_are_reported_with_their_place),
        MODEL_TEST(depth_is_limited),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
