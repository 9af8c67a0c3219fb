/* Lists and maps in the layouts of old writers; files that contradict the table. */
#include "hand_table.h"
#include "parquet_fixture.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

#define ARRAY_OF(element) "{\"type\":\"array\",\"elementType\":" element ",\"containsNull\":true}"
#define STRUCT_X "{\"type\":\"struct\",\"fields\":[" HAND_FIELD("x", "integer") "]}"
#define STRUCT_XY "{\"type\":\"struct\",\"fields\":[" HAND_FIELD("x", "integer") "," HAND_FIELD("y", "integer") "]}"
#define INTEGER "\"integer\""

/* A table with the column "l" of a type in JSON, and one file with this column. */
static void make_table(struct session_fixture *s, const char *type, const struct pq_column *column, int64_t n_rows)
{
    static unsigned n_files = 0;
    const char *name = sl_arena_printf(&s->arena, "f%u.parquet", n_files++);
    hand_remove(s, "t");
    hand_create(s, "t",
                sl_arena_printf(&s->arena, "{\"name\":\"l\",\"type\":%s,\"nullable\":true,\"metadata\":{}}", type), "");
    hand_commit(s, "t", 1, hand_add(s, name, "{}", NULL), NULL);
    pq_write(sl_arena_printf(&s->arena, "%s/t/%s", s->dir, name), column, 1, n_rows, NULL);
}

static struct pq_column group(const char *name, enum pq_repetition repetition, enum pq_converted converted,
                              const struct pq_column *children, size_t n)
{
    return (struct pq_column){.name = name,
                              .type = PQ_GROUP,
                              .repetition = repetition,
                              .converted = converted,
                              .children = children,
                              .n_children = n};
}

static struct pq_column leaf(const char *name, enum pq_repetition repetition, const int32_t *values, size_t n,
                             const struct pq_level *levels, size_t n_levels)
{
    return (struct pq_column){.name = name,
                              .type = PQ_INT32,
                              .repetition = repetition,
                              .values = values,
                              .n_values = n,
                              .levels = levels,
                              .n_levels = n_levels};
}

static const int32_t VALUES[] = {1, 2, 3, 4};

static void lists_of_two_levels_are_read(void **state)
{
    struct session_fixture *s = *state;
    /* [1, 2], [], null, [3] */
    const struct pq_level levels[] = {{0, 2}, {1, 2}, {0, 1}, {0, 0}, {0, 2}};
    const struct pq_column element = leaf("array", PQ_REPEATED, VALUES, 3, levels, N_OF(levels));
    const struct pq_column list = group("l", PQ_OPTIONAL, PQ_LIST, &element, 1);
    make_table(s, ARRAY_OF(INTEGER), &list, 4);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[1, 2]\n[]\nNULL\n[3]\n");
    make_table(s, ARRAY_OF("\"long\""), &list, 4);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[1, 2]\n[]\nNULL\n[3]\n");
}

/* Three names for the same: a group of one field that is an element, or only stands around it. */
static void a_group_of_one_field_is_an_element_or_not_by_its_name(void **state)
{
    struct session_fixture *s = *state;
    /* [{1}, {null}], [], null, [{2}] */
    const struct pq_level levels[] = {{0, 3}, {1, 2}, {0, 1}, {0, 0}, {0, 3}};
    const struct pq_column x = leaf("x", PQ_OPTIONAL, VALUES, 2, levels, N_OF(levels));
    const char *const elements[] = {"array", "l_tuple"};
    for (size_t i = 0; i < N_OF(elements); i++) {
        const struct pq_column element = group(elements[i], PQ_REPEATED, PQ_NO_CONVERTED, &x, 1);
        const struct pq_column list = group("l", PQ_OPTIONAL, PQ_LIST, &element, 1);
        make_table(s, ARRAY_OF(STRUCT_X), &list, 4);
        session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[{'x': 1}, {'x': NULL}]\n[]\nNULL\n[{'x': 2}]\n");
        session_expect_rows(s, "SELECT l[1].x FROM t WHERE len(l) = 2", "1\n");
        make_table(s, ARRAY_OF(INTEGER), &list, 4);
        session_expect_fault(s, "SELECT l FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH",
                             -1);
    }
    const char *const wrappers[] = {"list", "bag", "item_tuple", "array_of_l"};
    for (size_t i = 0; i < N_OF(wrappers); i++) {
        const struct pq_column wrapper = group(wrappers[i], PQ_REPEATED, PQ_NO_CONVERTED, &x, 1);
        const struct pq_column list = group("l", PQ_OPTIONAL, PQ_LIST, &wrapper, 1);
        make_table(s, ARRAY_OF(INTEGER), &list, 4);
        session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[1, NULL]\n[]\nNULL\n[2]\n");
    }
}

static void hives_bag_of_structs_is_read(void **state)
{
    struct session_fixture *s = *state;
    /* [{1}, {null}, null], null, [{2}] */
    const struct pq_level levels[] = {{0, 4}, {1, 3}, {1, 2}, {0, 0}, {0, 4}};
    const struct pq_column x = leaf("x", PQ_OPTIONAL, VALUES, 2, levels, N_OF(levels));
    const struct pq_column element = group("array_element", PQ_OPTIONAL, PQ_NO_CONVERTED, &x, 1);
    const struct pq_column bag = group("bag", PQ_REPEATED, PQ_NO_CONVERTED, &element, 1);
    const struct pq_column list = group("l", PQ_OPTIONAL, PQ_LIST, &bag, 1);
    make_table(s, ARRAY_OF(STRUCT_X), &list, 3);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[{'x': 1}, {'x': NULL}, NULL]\nNULL\n[{'x': 2}]\n");
    make_table(s, ARRAY_OF(STRUCT_XY), &list, 3);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t",
                        "[{'x': 1, 'y': NULL}, {'x': NULL, 'y': NULL}, NULL]\nNULL\n[{'x': 2, 'y': NULL}]\n");
}

static void groups_of_several_fields_are_elements(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level levels[] = {{0, 3}, {1, 3}, {0, 0}};
    const struct pq_column fields[] = {leaf("x", PQ_OPTIONAL, VALUES, 2, levels, N_OF(levels)),
                                       leaf("y", PQ_OPTIONAL, VALUES + 2, 2, levels, N_OF(levels))};
    const struct pq_column element = group("list", PQ_REPEATED, PQ_NO_CONVERTED, fields, 2);
    const struct pq_column list = group("l", PQ_OPTIONAL, PQ_LIST, &element, 1);
    make_table(s, ARRAY_OF(STRUCT_XY), &list, 2);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[{'x': 1, 'y': 3}, {'x': 2, 'y': 4}]\nNULL\n");
    make_table(s, ARRAY_OF("{\"type\":\"struct\",\"fields\":[" HAND_FIELD("y", "long") "]}"), &list, 2);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[{'y': 3}, {'y': 4}]\nNULL\n");
}

static void lists_of_two_levels_nest(void **state)
{
    struct session_fixture *s = *state;
    /* [[1, 2], []], [], null */
    const struct pq_level levels[] = {{0, 3}, {2, 3}, {1, 2}, {0, 1}, {0, 0}};
    const struct pq_column inner = leaf("array", PQ_REPEATED, VALUES, 2, levels, N_OF(levels));
    const struct pq_column element = group("array", PQ_REPEATED, PQ_LIST, &inner, 1);
    const struct pq_column list = group("l", PQ_OPTIONAL, PQ_LIST, &element, 1);
    make_table(s, ARRAY_OF(ARRAY_OF(INTEGER)), &list, 3);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[[1, 2], []]\n[]\nNULL\n");
}

static void what_is_repeated_without_more_is_a_list(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level plain[] = {{0, 1}, {1, 1}, {0, 0}};
    const struct pq_column leaves = leaf("l", PQ_REPEATED, VALUES, 2, plain, N_OF(plain));
    make_table(s, ARRAY_OF(INTEGER), &leaves, 2);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[1, 2]\n[]\n");
    make_table(s, INTEGER, &leaves, 2);
    session_expect_fault(s, "SELECT l FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", -1);
    const struct pq_level nested[] = {{0, 2}, {1, 1}, {0, 0}};
    const struct pq_column x = leaf("x", PQ_OPTIONAL, VALUES, 1, nested, N_OF(nested));
    const struct pq_column groups = group("l", PQ_REPEATED, PQ_NO_CONVERTED, &x, 1);
    make_table(s, ARRAY_OF(STRUCT_X), &groups, 2);
    session_expect_rows(s, "SELECT l::VARCHAR FROM t", "[{'x': 1}, {'x': NULL}]\n[]\n");
}

static void maps_are_read_whatever_their_parts_are_called(void **state)
{
    struct session_fixture *s = *state;
    /* {1: 3, 2: null}, {}, null */
    const struct pq_level key_levels[] = {{0, 2}, {1, 2}, {0, 1}, {0, 0}};
    const struct pq_level value_levels[] = {{0, 3}, {1, 2}, {0, 1}, {0, 0}};
    const struct {
        const char *middle;
        const char *key;
        const char *value;
        enum pq_converted converted;
    } names[] = {
        {"key_value", "key", "value", PQ_NO_CONVERTED},
        {"map", "key", "value", PQ_MAP_KEY_VALUE},
        {"entries", "k", "v", PQ_NO_CONVERTED},
        {"map", "num", "val", PQ_MAP_KEY_VALUE},
    };
    for (size_t i = 0; i < N_OF(names); i++) {
        const struct pq_column parts[] = {
            leaf(names[i].key, PQ_REQUIRED, VALUES, 2, key_levels, N_OF(key_levels)),
            leaf(names[i].value, PQ_OPTIONAL, VALUES + 2, 1, value_levels, N_OF(value_levels))};
        const struct pq_column middle = group(names[i].middle, PQ_REPEATED, names[i].converted, parts, 2);
        const struct pq_column map = group("l", PQ_OPTIONAL, PQ_MAP, &middle, 1);
        make_table(s, "{\"type\":\"map\",\"keyType\":\"integer\",\"valueType\":\"long\",\"valueContainsNull\":true}",
                   &map, 3);
        session_expect_rows(s, "SELECT l::VARCHAR FROM t", "{1=3, 2=NULL}\n{}\nNULL\n");
    }
}

static void shapes_that_contradict_the_table_are_refused(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level levels[] = {{0, 2}, {0, 0}};
    const struct pq_column x = leaf("x", PQ_OPTIONAL, VALUES, 1, levels, N_OF(levels));
    const struct pq_column structs = group("l", PQ_OPTIONAL, PQ_NO_CONVERTED, &x, 1);
    const char *const types[] = {
        INTEGER, ARRAY_OF(INTEGER), "\"string\"",
        "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"integer\",\"valueContainsNull\":true}"};
    for (size_t i = 0; i < N_OF(types); i++) {
        make_table(s, types[i], &structs, 2);
        session_expect_fault(s, "SELECT l FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH",
                             -1);
        assert_non_null(strstr(s->err.message, "column l"));
    }
    const struct pq_level flat[] = {{0, 1}, {0, 0}};
    const struct pq_column number = leaf("l", PQ_OPTIONAL, VALUES, 1, flat, N_OF(flat));
    const char *const nested[] = {STRUCT_X,      ARRAY_OF(INTEGER), "\"string\"",
                                  "\"boolean\"", "\"timestamp\"",   "\"float\""};
    for (size_t i = 0; i < N_OF(nested); i++) {
        make_table(s, nested[i], &number, 2);
        session_expect_fault(s, "SELECT l FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH",
                             -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(lists_of_two_levels_are_read),
        SESSION_TEST(a_group_of_one_field_is_an_element_or_not_by_its_name),
        SESSION_TEST(hives_bag_of_structs_is_read),
        SESSION_TEST(groups_of_several_fields_are_elements),
        SESSION_TEST(lists_of_two_levels_nest),
        SESSION_TEST(what_is_repeated_without_more_is_a_list),
        SESSION_TEST(maps_are_read_whatever_their_parts_are_called),
        SESSION_TEST(shapes_that_contradict_the_table_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
