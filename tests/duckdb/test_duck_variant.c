/* Variants from files through SQL and scans: NULL and null variants, nesting, bytes that are no variants. */
#include "hand_table.h"
#include "parquet_fixture.h"
#include "variant_rows.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(...) \
    ((struct sl_str){(const char *)(const unsigned char[]){__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__})})

#define NO_NAMES ((struct sl_str){"\x11\0\0", 3})
#define VARIANT_FIELD(name) HAND_FIELD(name, "variant")

static struct pq_column bytes(const char *name, enum pq_repetition repetition, const struct sl_str *texts, size_t n,
                              const struct pq_level *levels, size_t n_levels)
{
    return (struct pq_column){.name = name,
                              .type = PQ_BYTES,
                              .repetition = repetition,
                              .texts = texts,
                              .n_values = n,
                              .levels = levels,
                              .n_levels = n_levels};
}

/* Rows: values[i], a variant without names; one whose ptr is NULL is no variant. */
static void make_variants(struct session_fixture *s, const struct sl_str *values, size_t n, enum pq_logical annotation)
{
    struct pq_level levels[32] = {{0, 0}};
    struct sl_str kept[32];
    struct sl_str metadata[32];
    size_t n_kept = 0;
    assert_true(n <= N_OF(levels));
    for (size_t i = 0; i < n; i++) {
        levels[i].definition = values[i].ptr != NULL;
        if (values[i].ptr != NULL) {
            metadata[n_kept] = NO_NAMES;
            kept[n_kept++] = values[i];
        }
    }
    /* Spark puts the value first. */
    const struct pq_column members[] = {bytes("value", PQ_REQUIRED, kept, n_kept, levels, n),
                                        bytes("metadata", PQ_REQUIRED, metadata, n_kept, levels, n)};
    const struct pq_column column = {.name = "v",
                                     .type = PQ_GROUP,
                                     .repetition = PQ_OPTIONAL,
                                     .logical = annotation,
                                     .children = members,
                                     .n_children = 2};
    variant_table(s, VARIANT_FIELD("v"), &column, 1, (int64_t)n);
}

static void check_scan(struct session_fixture *s, const char *expected)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    struct ArrowArrayStream stream = {0};
    const char *path = sl_arena_printf(&s->arena, "%s/t", s->dir);
    assert_int_equal(silt_table_for_path(silt_session_engine(s->session), path, &table, &s->err), SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &s->err), SILT_OK);
    assert_int_equal(silt_scan_builder_new(snapshot, &builder, &s->err), SILT_OK);
    assert_int_equal(silt_scan_builder_build(builder, NULL, &scan, &s->err), SILT_OK);
    if (silt_scan_read(scan, NULL, &stream, &s->err) != SILT_OK) {
        fail_msg("%s", s->err.message);
    }
    variant_rows(&stream, &s->out);
    assert_string_equal(sl_buf_cstr(&s->out), expected);
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
}

/* Newer writers say that a group is a variant, older ones do not. */
static const enum pq_logical ANNOTATIONS[] = {PQ_NO_LOGICAL, PQ_VARIANT};

static void no_variant_and_a_null_variant_are_two_things(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_str values[] = {BYTES(0x00), {NULL, 0}, BYTES(0x0C, 5)};
    for (size_t i = 0; i < N_OF(ANNOTATIONS); i++) {
        make_variants(s, values, N_OF(values), ANNOTATIONS[i]);
        variant_query(s, "SELECT v FROM t", "null\nNULL\n5\n");
        check_scan(s, "null\nNULL\n5\n");
        session_expect_rows(s, "SELECT v IS NULL, v::VARCHAR FROM t", "false|NULL\ntrue|NULL\nfalse|5\n");
        session_expect_rows(s, "SELECT count(v), count(*) FROM t", "2|3\n");
        session_expect_rows(s, "SELECT count(*) FROM t WHERE v IS NOT NULL", "2\n");
        variant_query(s, "SELECT v FROM t WHERE v IS NULL", "NULL\n");
        variant_query(s, "SELECT v, 1 FROM (SELECT v FROM t ORDER BY v::VARCHAR NULLS LAST LIMIT 1) AS x;", "5\n");
    }
}

static void every_kind_of_value_comes_through(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_str values[] = {
        BYTES(0x04),
        BYTES(0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F),
        BYTES(0x1C, 0, 0, 0, 0, 0, 0, 0, 0x80),
        BYTES(0x38, 0xCD, 0xCC, 0xCC, 0x3D),
        BYTES(0x20, 3, 0x10, 0x27, 0, 0),
        BYTES(0x28, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0x22, 0x8A, 0x09, 0x7A, 0xC4, 0x86, 0x5A, 0xA8, 0x4C, 0x3B, 0x4B),
        BYTES(0x2C, 0xFF, 0xFF, 0xFF, 0xFF),
        BYTES(0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF),
        BYTES(0x34, 0x20, 0xA1, 0x07, 0, 0, 0, 0, 0),
        BYTES(0x3C, 2, 0, 0, 0, 0xFF, 0),
        BYTES(0x40, 2, 0, 0, 0, 'a', 'b'),
        BYTES(0x50, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        BYTES(0x03, 2, 0, 1, 3, 0x00, 0x0C, 7),
        BYTES(0x02, 0, 0),
        BYTES(0x48, 0xE8, 3, 0, 0, 0, 0, 0, 0),
    };
    const char *const rows = "true\n9223372036854775807\n-0.0\n0.1\n10.000\n99999999999999999999999999999999999999\n"
                             "\"1969-12-31\"\n\"1969-12-31T23:59:59.999999Z\"\n\"1970-01-01T00:00:00.5\"\n\"/wA=\"\n"
                             "\"ab\"\n\"00010203-0405-0607-0809-0a0b0c0d0e0f\"\n[null,7]\n{}\n"
                             "\"1970-01-01T00:00:00.000001Z\"\n";
    for (size_t i = 0; i < N_OF(ANNOTATIONS); i++) {
        make_variants(s, values, N_OF(values), ANNOTATIONS[i]);
        variant_query(s, "SELECT v FROM t", rows);
        check_scan(s, rows);
    }
}

static void operators_work_on_variants(void **state)
{
    struct session_fixture *s = *state;
    /* {"a": 5, "b": [true]} */
    const struct sl_str metadata[] = {BYTES(0x11, 2, 0, 1, 2, 'a', 'b')};
    const struct sl_str values[] = {BYTES(0x02, 2, 0, 1, 0, 2, 7, 0x0C, 5, 0x03, 1, 0, 1, 0x04)};
    const struct pq_level levels[] = {{0, 1}};
    const struct pq_column members[] = {bytes("metadata", PQ_REQUIRED, metadata, 1, levels, 1),
                                        bytes("value", PQ_REQUIRED, values, 1, levels, 1)};
    const struct pq_column column = {
        .name = "v", .type = PQ_GROUP, .repetition = PQ_OPTIONAL, .children = members, .n_children = 2};
    variant_table(s, VARIANT_FIELD("v"), &column, 1, 1);
    session_expect_rows(s, "SELECT v.a::INT + 1, v['b'][1]::BOOLEAN, variant_typeof(v.a) FROM t", "6|true|INT8\n");
    variant_query(s, "SELECT v.b FROM t WHERE v.a::INT = 5", "[true]\n");
}

static void check_nested(struct session_fixture *s, enum pq_logical annotation)
{
    /* [5, null variant, no variant], null */
    const struct pq_level levels[] = {{0, 3}, {1, 3}, {1, 2}, {0, 0}};
    const struct sl_str metadata[] = {NO_NAMES, NO_NAMES};
    const struct sl_str values[] = {BYTES(0x0C, 5), BYTES(0x00)};
    const struct pq_column members[] = {bytes("metadata", PQ_REQUIRED, metadata, 2, levels, N_OF(levels)),
                                        bytes("value", PQ_REQUIRED, values, 2, levels, N_OF(levels))};
    const struct pq_column element = {.name = "element",
                                      .type = PQ_GROUP,
                                      .repetition = PQ_OPTIONAL,
                                      .logical = annotation,
                                      .children = members,
                                      .n_children = 2};
    const struct pq_column list = {
        .name = "list", .type = PQ_GROUP, .repetition = PQ_REPEATED, .children = &element, .n_children = 1};
    const int32_t numbers[] = {10, 20};
    const struct pq_column columns[] = {{.name = "i", .type = PQ_INT32, .values = numbers, .n_values = 2},
                                        {.name = "l",
                                         .type = PQ_GROUP,
                                         .repetition = PQ_OPTIONAL,
                                         .converted = PQ_LIST,
                                         .children = &list,
                                         .n_children = 1}};
    variant_table(s,
                  "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"variant\",\"containsNull\":true},"
                  "\"nullable\":true,\"metadata\":{}}," HAND_FIELD("i", "long"),
                  columns, 2, 2);
    variant_query(s, "SELECT unnest(l) FROM t", "5\nnull\nNULL\n");
    session_expect_rows(s, "SELECT len(l), l[2] IS NULL, l[3] IS NULL, i FROM t",
                        "3|false|true|10\nNULL|true|true|20\n");
    session_expect_rows(s, "SELECT l FROM t", "<+l>\nNULL\n");
    variant_query(s, "SELECT m['k'] FROM (SELECT MAP {'k': l[1]} AS m FROM t)", "5\nNULL\n");
    session_expect_rows(s, "SELECT i, l IS NULL FROM t WHERE i = 20", "20|true\n");
}

static void variants_are_read_wherever_they_are_nested(void **state)
{
    struct session_fixture *s = *state;
    for (size_t i = 0; i < N_OF(ANNOTATIONS); i++) {
        check_nested(s, ANNOTATIONS[i]);
    }
}

/* Several files, some annotated, some not; more rows than a chunk; filters that leave gaps. */
static void rows_of_many_files_stay_together(void **state)
{
    enum {
        N_ROWS = 5000,
        N_FILES = 3
    };
    struct session_fixture *s = *state;
    static struct sl_str metadata[N_ROWS];
    static struct sl_str values[N_ROWS];
    static unsigned char text[N_ROWS][5];
    static int32_t numbers[N_ROWS];
    static struct pq_level levels[N_ROWS];
    hand_commit(s, "t", 0,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"variantType\"],"
                "\"writerFeatures\":[\"variantType\"]}}",
                hand_metadata(s, HAND_FIELD("i", "integer") "," VARIANT_FIELD("v"), "", ""), NULL);
    for (size_t file = 0; file < N_FILES; file++) {
        for (size_t i = 0; i < N_ROWS; i++) {
            numbers[i] = (int32_t)(file * N_ROWS + i);
            text[i][0] = 0x14;
            for (size_t j = 0; j < 4; j++) {
                text[i][j + 1] = (unsigned char)(numbers[i] >> (8 * j) & 0xFF);
            }
            metadata[i] = NO_NAMES;
            values[i] = sl_str_make((const char *)text[i], 5);
            levels[i].definition = 1;
        }
        const struct pq_column members[] = {bytes("value", PQ_REQUIRED, values, N_ROWS, levels, N_ROWS),
                                            bytes("metadata", PQ_REQUIRED, metadata, N_ROWS, levels, N_ROWS)};
        const struct pq_column columns[] = {{.name = "v",
                                             .type = PQ_GROUP,
                                             .repetition = PQ_OPTIONAL,
                                             .logical = file == 1 ? PQ_NO_LOGICAL : PQ_VARIANT,
                                             .children = members,
                                             .n_children = 2},
                                            {.name = "i", .type = PQ_INT32, .values = numbers, .n_values = N_ROWS}};
        const char *name = sl_arena_printf(&s->arena, "f%zu.parquet", file);
        pq_write(sl_arena_printf(&s->arena, "%s/t/%s", s->dir, name), columns, 2, N_ROWS, NULL);
        hand_commit(s, "t", (int64_t)file + 1, hand_add(s, name, "{}", NULL), NULL);
    }
    session_expect_rows(s, "SELECT count(*), sum(i), count(*) FILTER (v::INT <> i) FROM t", "15000|112492500|0\n");
    session_expect_rows(s, "SELECT count(*), min(v::INT), max(v::INT), bool_and(v::INT = i) FROM t WHERE i % 7 = 3",
                        "2143|3|14997|true\n");
    session_expect_rows(s, "SELECT i, v::INT FROM t WHERE i IN (14999, 1, 7777) ORDER BY i",
                        "1|1\n7777|7777\n14999|14999\n");
    session_expect_rows(s, "SELECT i, v::INT FROM t ORDER BY i DESC LIMIT 2", "14999|14999\n14998|14998\n");
    session_expect_rows(s, "SELECT count(*) FROM t AS a JOIN t AS b ON a.v::INT = b.i", "15000\n");
}

static void check_refused(struct session_fixture *s, struct sl_str value, const char *words)
{
    for (size_t i = 0; i < N_OF(ANNOTATIONS); i++) {
        make_variants(s, &value, 1, ANNOTATIONS[i]);
        assert_int_not_equal(session_try(s, "SELECT v FROM t"), SILT_OK);
        if (strstr(s->err.message, words) == NULL) {
            fail_msg("%s", s->err.message);
        }
    }
}

static void bytes_that_are_no_variant_are_refused(void **state)
{
    struct session_fixture *s = *state;
    check_refused(s, BYTES(0x14, 1), "cut off");
    check_refused(s, BYTES(0x02, 1, 7, 0, 1, 0x00), "name");
    check_refused(s, BYTES(0x05, 0xFF), "UTF-8");
    check_refused(s, BYTES(0x7C), "31");
    check_refused(s, SL_STR(""), "empty");
    check_refused(s, BYTES(0x48, 1, 0, 0, 0, 0, 0, 0, 0), "nanoseconds");
    /* Fine when nobody asks. */
    session_expect_rows(s, "SELECT count(*) FROM t", "1\n");
}

static void deep_nesting_is_refused(void **state)
{
    struct session_fixture *s = *state;
    /* Arrays of one array each, offsets of 3 bytes. */
    static char deep[9 * 20000 + 3];
    size_t len = 3;
    memcpy(deep + sizeof(deep) - 3, "\x03\x00\x00", 3);
    while (len + 8 <= sizeof(deep)) {
        char *at = deep + sizeof(deep) - len - 8;
        memcpy(at, "\x0B\x01\x00\x00\x00", 5);
        for (size_t i = 0; i < 3; i++) {
            at[5 + i] = (char)(len >> (8 * i) & 0xFF);
        }
        len += 8;
    }
    check_refused(s, sl_str_make(deep + sizeof(deep) - len, len), "256 levels");
    assert_int_equal(s->err.status, SILT_ELIMIT);
}

static void a_group_without_metadata_is_no_variant(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_str values[] = {BYTES(0x00)};
    const struct pq_level levels[] = {{0, 1}};
    const struct pq_column member = bytes("value", PQ_REQUIRED, values, 1, levels, 1);
    const struct pq_column column = {
        .name = "v", .type = PQ_GROUP, .repetition = PQ_OPTIONAL, .children = &member, .n_children = 1};
    variant_table(s, VARIANT_FIELD("v"), &column, 1, 1);
    session_expect_fault(s, "SELECT v FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", -1);
}

static void a_file_without_the_column_has_no_variants(void **state)
{
    struct session_fixture *s = *state;
    const int32_t values[] = {1, 2};
    const struct pq_column column = {.name = "i", .type = PQ_INT32, .values = values, .n_values = 2};
    variant_table(s, VARIANT_FIELD("v") "," HAND_FIELD("i", "integer"), &column, 1, 2);
    variant_query(s, "SELECT v, i FROM t", "NULL\nNULL\n");
    check_scan(s, "NULL\nNULL\n");
    hand_commit(s, "t", 1, "{\"remove\":{\"path\":\"x\",\"dataChange\":true}}", NULL);
    variant_query(s, "SELECT v FROM t WHERE i > 100", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(no_variant_and_a_null_variant_are_two_things),
        SESSION_TEST(every_kind_of_value_comes_through),
        SESSION_TEST(operators_work_on_variants),
        SESSION_TEST(variants_are_read_wherever_they_are_nested),
        SESSION_TEST(rows_of_many_files_stay_together),
        SESSION_TEST(bytes_that_are_no_variant_are_refused),
        SESSION_TEST(deep_nesting_is_refused),
        SESSION_TEST(a_group_without_metadata_is_no_variant),
        SESSION_TEST(a_file_without_the_column_has_no_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
