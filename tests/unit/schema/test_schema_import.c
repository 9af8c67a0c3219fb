/* Arrow schemas as Delta schemas. Nodes are written down by hand; nothing in them is owned. */
#include "model_fixture.h"

#include <string.h>

#include "schema/arrow_format.h"

static void release_nothing(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static struct ArrowSchema node(const char *format, const char *name)
{
    return (struct ArrowSchema){
        .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = release_nothing};
}

static silt_status import_one(struct model *m, struct ArrowSchema *column, silt_schema **out)
{
    struct ArrowSchema root = node("+s", "");
    struct ArrowSchema *children[1] = {column};
    root.n_children = 1;
    root.children = children;
    m->err = (silt_error)SILT_ERROR_INIT;
    return silt_schema_from_arrow(&m->test.env, &root, out, &m->err);
}

static void check(struct model *m, struct ArrowSchema *column, const char *expected)
{
    silt_schema *schema = NULL;
    struct sl_buf out = model_buf(m);
    if (import_one(m, column, &schema) != SILT_OK) {
        print_error("%s: %s\n", column->format, m->err.message);
        fail();
    }
    sl_type_print(&out, silt_schema_field(schema, 0)->type);
    assert_string_equal(model_text(m, &out), expected);
    silt_schema_unref(schema);
}

static void flat_formats_become_the_plain_type(void **state)
{
    struct model *m = *state;
    static const char *const cases[][2] = {{"n", "void"},
                                           {"b", "boolean"},
                                           {"c", "tinyint"},
                                           {"C", "smallint"},
                                           {"s", "smallint"},
                                           {"S", "int"},
                                           {"i", "int"},
                                           {"I", "bigint"},
                                           {"l", "bigint"},
                                           {"L", "decimal(20,0)"},
                                           {"e", "float"},
                                           {"f", "float"},
                                           {"g", "double"},
                                           {"u", "string"},
                                           {"U", "string"},
                                           {"vu", "string"},
                                           {"z", "binary"},
                                           {"Z", "binary"},
                                           {"vz", "binary"},
                                           {"w:16", "binary"},
                                           {"tdD", "date"},
                                           {"tdm", "date"},
                                           {"tss:", "timestamp_ntz"},
                                           {"tsm:UTC", "timestamp"},
                                           {"tsu:Europe/Vilnius", "timestamp"},
                                           {"tsn:", "timestamp_ntz"},
                                           {"d:5,2", "decimal(5,2)"},
                                           {"d:9,2,32", "decimal(9,2)"},
                                           {"d:38,0,256", "decimal(38,0)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowSchema column = node(cases[i][0], "c");
        check(m, &column, cases[i][1]);
    }
}

static void formats_without_a_delta_type_name_the_column(void **state)
{
    struct model *m = *state;
    static const char *const bad[] = {"tts",    "ttn",   "tDs",      "tiM", "+ud:0,1", "+us:0", "d:39,0",
                                      "d:5,-1", "d:5,6", "d:5,2,99", "d:5", "d:,",     "w:",    "w:x",
                                      "ts",     "tsx:",  "",         "?",   "+w:-1",   "tsu"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ArrowSchema column = node(bad[i], "clock");
        silt_schema *schema = NULL;
        assert_int_equal(import_one(m, &column, &schema), SILT_ESCHEMA);
        assert_null(schema);
        assert_non_null(strstr(m->err.message, "clock"));
    }
}

static void nested_forms_become_arrays_maps_and_structs(void **state)
{
    struct model *m = *state;
    struct ArrowSchema item = node("i", "item");
    struct ArrowSchema *one[1] = {&item};
    static const char *const lists[] = {"+l", "+L", "+vl", "+vL", "+w:3"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct ArrowSchema list = node(lists[i], "c");
        list.n_children = 1;
        list.children = one;
        check(m, &list, "array<int>");
    }
    struct ArrowSchema key = node("u", "k");
    struct ArrowSchema *pair[2] = {&key, &item};
    struct ArrowSchema entries = node("+s", "key_value");
    entries.n_children = 2;
    entries.children = pair;
    check(m, &entries, "struct<k:string,item:int>");
    struct ArrowSchema *entry[1] = {&entries};
    struct ArrowSchema map = node("+m", "c");
    map.n_children = 1;
    map.children = entry;
    check(m, &map, "map<string,int>");
}

static void coded_forms_become_their_value_type(void **state)
{
    struct model *m = *state;
    struct ArrowSchema text = node("U", NULL);
    struct ArrowSchema dictionary = node("i", "c");
    dictionary.dictionary = &text;
    check(m, &dictionary, "string");
    struct ArrowSchema ends = node("i", "run_ends");
    struct ArrowSchema *runs[2] = {&ends, &dictionary};
    struct ArrowSchema run_end = node("+r", "c");
    run_end.n_children = 2;
    run_end.children = runs;
    check(m, &run_end, "string");
}

static void a_variant_is_known_by_its_extension_name(void **state)
{
    struct model *m = *state;
    char metadata[128];
    char *at = metadata;
    static const char *const pair[2] = {"ARROW:extension:name", "arrow.parquet.variant"};
    const int32_t n = 1;
    memcpy(at, &n, 4);
    at += 4;
    for (int i = 0; i < 2; i++) {
        const int32_t len = (int32_t)strlen(pair[i]);
        memcpy(at, &len, 4);
        memcpy(at + 4, pair[i], (size_t)len);
        at += 4 + len;
    }
    struct ArrowSchema meta = node("z", "metadata");
    struct ArrowSchema value = node("z", "value");
    struct ArrowSchema *children[2] = {&meta, &value};
    struct ArrowSchema variant = node("+s", "c");
    variant.n_children = 2;
    variant.children = children;
    check(m, &variant, "struct<metadata:binary,value:binary>");
    variant.metadata = metadata;
    check(m, &variant, "variant");
}

static void malformed_structs_are_refused(void **state)
{
    struct model *m = *state;
    silt_schema *schema = NULL;
    static const char *const formats[] = {"+l", "+m", "+r"};
    for (size_t i = 0; i < 3; i++) {
        struct ArrowSchema column = node(formats[i], "c");
        assert_int_equal(import_one(m, &column, &schema), SILT_ESCHEMA);
    }
    struct ArrowSchema hole = node("+s", "c");
    struct ArrowSchema *nothing[1] = {NULL};
    hole.n_children = 1;
    hole.children = nothing;
    assert_int_equal(import_one(m, &hole, &schema), SILT_ESCHEMA);
    hole.n_children = -1;
    assert_int_equal(import_one(m, &hole, &schema), SILT_ESCHEMA);
    struct ArrowSchema name = node("i", "\xff");
    assert_int_equal(import_one(m, &name, &schema), SILT_ESCHEMA);
    struct ArrowSchema released = {0};
    assert_int_equal(silt_schema_from_arrow(&m->test.env, &released, &schema, &m->err), SILT_EINVALID);
    struct ArrowSchema loop = node("i", "c");
    loop.dictionary = &loop;
    assert_int_equal(import_one(m, &loop, &schema), SILT_ELIMIT);
}

static void nullability_is_taken_over(void **state)
{
    struct model *m = *state;
    struct ArrowSchema column = node("i", "c");
    silt_schema *schema = NULL;
    column.flags = 0;
    assert_int_equal(import_one(m, &column, &schema), SILT_OK);
    assert_false(silt_field_nullable(silt_schema_field(schema, 0)));
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(flat_formats_become_the_plain_type),
        MODEL_TEST(formats_without_a_delta_type_name_the_column),
        MODEL_TEST(nested_forms_become_arrays_maps_and_structs),
        MODEL_TEST(coded_forms_become_their_value_type),
        MODEL_TEST(a_variant_is_known_by_its_extension_name),
        MODEL_TEST(malformed_structs_are_refused),
        MODEL_TEST(nullability_is_taken_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
