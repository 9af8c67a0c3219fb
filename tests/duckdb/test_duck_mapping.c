/*
 * Scans of tables whose columns have other names in the files: column mapping by name and by field id at every level, files that
 * disagree, odd names.
 */
#include "duck_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FLAT(name, type) FIELD(name, "\"" type "\"")
#define ID(name, type, id) \
    "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{\"parquet.field.id\":" id "}}"
#define FLAT_ID(name, type, id) ID(name, "\"" type "\"", id)
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define LIST(element) "{\"type\":\"array\",\"elementType\":" element ",\"containsNull\":true}"
#define MAP(key, value) "{\"type\":\"map\",\"keyType\":" key ",\"valueType\":" value ",\"valueContainsNull\":true}"

static void make_file(struct duck_fixture *fx, const char *name, const char *select, const char *options)
{
    char sql[4096];
    struct duck_written *file = sl_vec_push(&fx->files);
    file->full = sl_arena_printf(&fx->arena, "%s/%s", fx->dir, name);
    (void)snprintf(sql, sizeof(sql), "COPY (%s) TO '%s' (FORMAT parquet%s)", select, file->full, options);
    (void)duck_text(fx, sql);
    struct stat info;
    assert_int_equal(0, stat(file->full, &info));
    file->size_bytes = info.st_size;
}

struct mapped {
    silt_schema *logical;
    silt_schema *physical;
    silt_scan_plan plan;
};

static void map_plan(struct duck_fixture *fx, struct mapped *out, const char *logical, const char *physical,
                     const char *filter)
{
    out->logical = duck_schema(fx, logical);
    out->physical = duck_schema(fx, physical);
    out->plan = *duck_plan(fx, out->logical, NULL, filter);
    out->plan.physical = out->physical;
}

static void unmap(struct mapped *mapped)
{
    silt_schema_unref(mapped->logical);
    silt_schema_unref(mapped->physical);
}

/* The text of a scan, in the fixture's arena. */
static const char *scan_sql(struct duck_fixture *fx, const silt_scan_plan *plan)
{
    struct sl_dataplane_scan *scan = NULL;
    struct sl_buf sql;
    sl_buf_init(&sql, fx->env);
    assert_int_equal(SILT_OK, fx->plane.vtable->scan_open(fx->plane.dp, plan, &scan, &sql, &fx->err));
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    const char *text = sl_arena_strdup(&fx->arena, sl_buf_view(&sql));
    sl_buf_release(&sql);
    return text;
}

/* ---- by name ---- */

#define NESTED_LOGICAL                                                                               \
    FLAT("id", "long")                                                                               \
    "," FIELD("s", STRUCT(FLAT("x", "long") "," FIELD("y", STRUCT(FLAT("z", "string"))))) "," FIELD( \
        "l", LIST(STRUCT(FLAT("e", "long")))) "," FIELD("m",                                         \
                                                        MAP(STRUCT(FLAT("k", "long")), STRUCT(FLAT("v", "string"))))
#define NESTED_PHYSICAL                                                                                  \
    FLAT("c1", "long")                                                                                   \
    "," FIELD("c2", STRUCT(FLAT("c3", "long") "," FIELD("c4", STRUCT(FLAT("c5", "string"))))) "," FIELD( \
        "c6", LIST(STRUCT(FLAT("c7", "long")))) "," FIELD("c8", MAP(STRUCT(FLAT("c9", "long")),          \
                                                                    STRUCT(FLAT("c10", "string"))))

static const char NESTED_ROWS[] =
    "SELECT i AS c1, CASE WHEN i % 5 = 0 THEN NULL ELSE {c3: nullif(i, 7), c4: CASE WHEN i % 3 = 0 THEN NULL ELSE "
    "{c5: CASE WHEN i % 4 > 0 THEN 's' || i END} END} END AS c2, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN [] "
    "WHEN 2 THEN [NULL, {c7: i}] ELSE [{c7: NULL}] END AS c6, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN "
    "MAP{{c9: i}: {c10: 'v' || i}} ELSE MAP{{c9: i}: NULL} END AS c8";

static const char NESTED_WANTED[] =
    "SELECT i AS id, CASE WHEN i % 5 = 0 THEN NULL ELSE {x: nullif(i, 7), y: CASE WHEN i % 3 = 0 THEN NULL ELSE "
    "{z: CASE WHEN i % 4 > 0 THEN 's' || i END} END} END AS s, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN [] "
    "WHEN 2 THEN [NULL, {e: i}] ELSE [{e: NULL}] END AS l, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN "
    "MAP{{k: i}: {v: 'v' || i}} ELSE MAP{{k: i}: NULL} END AS m";

static void nested_fields_get_their_names_and_keep_nulls(void **state)
{
    struct duck_fixture *fx = *state;
    char rows[2048];
    char wanted[2048];
    (void)snprintf(rows, sizeof(rows), "%s FROM range(13) t(i)", NESTED_ROWS);
    (void)snprintf(wanted, sizeof(wanted), "%s FROM range(13) t(i)", NESTED_WANTED);
    make_file(fx, "a.parquet", rows, "");
    struct mapped mapped;
    map_plan(fx, &mapped, NESTED_LOGICAL, NESTED_PHYSICAL, NULL);
    char all[4096];
    (void)snprintf(all, sizeof(all), "SELECT id, s::VARCHAR, l::VARCHAR, m::VARCHAR FROM (%s) ORDER BY id", wanted);
    const char *expected = sl_arena_strdup(&fx->arena, sl_str_from(duck_text(fx, all)));
    assert_string_equal(expected,
                        duck_scan_text(fx, &mapped.plan, "id, s::VARCHAR, l::VARCHAR, m::VARCHAR", "ORDER BY id"));
    assert_string_equal("{'x': NULL, 'y': {'z': s7}}\n",
                        duck_scan_text(fx, &mapped.plan, "s::VARCHAR", "WHERE s.x IS NULL AND s IS NOT NULL"));
    unmap(&mapped);
}

/* Vectors come sliced, repeated and constant out of filters, joins and limits. */
static void renamed_fields_survive_what_queries_do(void **state)
{
    static const char *const rests[] = {
        "WHERE hash(id) % 3 = 0",
        "WHERE s.x > 9000",
        "WHERE l IS NOT NULL ORDER BY hash(id) LIMIT 500",
        "JOIN (SELECT i % 100 AS j FROM range(3000) r(i)) ON id = j",
        "WHERE id IN (SELECT i * 7 FROM range(100) r(i))",
        "WHERE id = 8",
        "ORDER BY s DESC NULLS LAST, id LIMIT 300",
    };
    struct duck_fixture *fx = *state;
    char rows[2048];
    char wanted[2048];
    (void)snprintf(rows, sizeof(rows), "%s FROM range(10000) t(i)", NESTED_ROWS);
    (void)snprintf(wanted, sizeof(wanted), "%s FROM range(10000) t(i)", NESTED_WANTED);
    make_file(fx, "a.parquet", rows, ", ROW_GROUP_SIZE 4096");
    struct mapped mapped;
    map_plan(fx, &mapped, NESTED_LOGICAL, NESTED_PHYSICAL, NULL);
    for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        char sql[4096];
        static const char sums[] = "count(*), count(s), count(l), count(m), sum(hash(s::VARCHAR || '/' || id)), "
                                   "sum(hash(l::VARCHAR)), sum(hash(m::VARCHAR)), sum(s.x), max(s.y.z)";
        (void)snprintf(sql, sizeof(sql), "SELECT %s FROM (SELECT * FROM (%s) t %s)", sums, wanted, rests[i]);
        const char *expected = sl_arena_strdup(&fx->arena, sl_str_from(duck_text(fx, sql)));
        (void)snprintf(sql, sizeof(sql), "SELECT %s FROM (SELECT * FROM (%s) t %s)", sums, scan_sql(fx, &mapped.plan),
                       rests[i]);
        assert_string_equal(expected, duck_text(fx, sql));
    }
    unmap(&mapped);
}

static void missing_nested_fields_are_null_where_there_is_a_struct(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet",
              "SELECT * FROM (VALUES (1, {c3: 1}, [{c7: 1}, NULL], MAP{'k': {c9: 1}}), (2, NULL, NULL, NULL)) "
              "t(c1, c2, c6, c8)",
              "");
    struct mapped mapped;
    map_plan(
        fx, &mapped,
        FLAT("id", "integer") "," FIELD("s", STRUCT(FLAT("n", "string") "," FLAT("x", "integer"))) "," FIELD(
            "l", LIST(STRUCT(FLAT("e", "integer") "," FLAT(
                     "n", "string")))) "," FIELD("m", MAP("\"string\"",
                                                          STRUCT(FLAT("v", "integer") "," FLAT("n", "string")))),
        FLAT("c1", "integer") "," FIELD("c2", STRUCT(FLAT("n1", "string") "," FLAT("c3", "integer"))) "," FIELD(
            "c6", LIST(STRUCT(FLAT("c7", "integer") "," FLAT(
                      "n2", "string")))) "," FIELD("c8", MAP("\"string\"",
                                                             STRUCT(FLAT("c9", "integer") "," FLAT("n3", "string")))),
        NULL);
    assert_string_equal("1|{'n': NULL, 'x': 1}|[{'e': 1, 'n': NULL}, NULL]|{k={'v': 1, 'n': NULL}}\n2|NULL|NULL|NULL\n",
                        duck_scan_text(fx, &mapped.plan, "id, s::VARCHAR, l::VARCHAR, m::VARCHAR", "ORDER BY id"));
    unmap(&mapped);
}

static void uniform_files_are_read_without_schema_map(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT 1 AS c1, {c3: 2} AS c2, 5 AS extra", "");
    make_file(fx, "b.parquet", "SELECT 3 AS c1, {c3: 4} AS c2, 6 AS extra", "");
    struct mapped mapped;
    map_plan(fx, &mapped,
             FLAT("id", "integer") "," FIELD("s", STRUCT(FLAT("x", "integer"))) "," FLAT("added", "string"),
             FLAT("c1", "integer") "," FIELD("c2", STRUCT(FLAT("c3", "integer"))) "," FLAT("c9", "string"), NULL);
    const char *sql = scan_sql(fx, &mapped.plan);
    assert_null(strstr(sql, "map{"));
    assert_null(strstr(sql, "UNION"));
    assert_string_equal("1|{'x': 2}|NULL\n3|{'x': 4}|NULL\n",
                        duck_scan_text(fx, &mapped.plan, "id, s::VARCHAR, added", "ORDER BY id"));
    unmap(&mapped);
}

static void odd_names_are_names(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(
        fx, "a.parquet",
        "SELECT 1 AS \"a.b\", {\"b\": 2} AS a, 3 AS \"it's `x`\", 4 AS \"q\"\"q\", 5 AS \"sp ace\", 6 AS \"\xc3\xbc\", "
        "{\"f.g\": 7, \"h'\"\"\": 8} AS s",
        "");
    struct mapped mapped;
    map_plan(
        fx, &mapped,
        FLAT("a", "integer") "," FIELD("a.b", STRUCT(FLAT("b", "integer"))) "," FLAT("x", "integer") "," FLAT(
            "it's",
            "integer") "," FLAT("file_index",
                                "integer") "," FLAT("\xc3\xa9 t\xc3\xa9",
                                                    "integer") "," FIELD("f.g",
                                                                         STRUCT(FLAT("h'\\\"", "integer") "," FLAT(
                                                                             "f.g", "integer"))),
        FLAT("a.b", "integer") "," FIELD("a", STRUCT(FLAT("b", "integer"))) "," FLAT("it's `x`", "integer") "," FLAT(
            "q\\\"q",
            "integer") "," FLAT("sp ace",
                                "integer") "," FLAT("\xc3\xbc",
                                                    "integer") "," FIELD("s",
                                                                         STRUCT(FLAT("f.g", "integer") "," FLAT(
                                                                             "h'\\\"", "integer"))),
        "x = 3 AND file_index = 5");
    assert_string_equal(
        "1|{'b': 2}|3|4|5|6|7|8\n",
        duck_scan_text(
            fx, &mapped.plan,
            "a, \"a.b\"::VARCHAR, x, \"it's\", file_index, \"\xc3\xa9 t\xc3\xa9\", \"f.g\".\"h'\"\"\", \"f.g\".\"f.g\"",
            ""));
    unmap(&mapped);
}

static void names_in_another_case_are_found(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT 1 AS \"ID\", {\"X\": 2} AS \"S\", 3 AS \"\xc3\x9c\"", "");
    make_file(fx, "b.parquet", "SELECT 4 AS id, {x: 5} AS s, 6 AS \"\xc3\xbc\"", "");
    silt_schema *schema = duck_schema(
        fx, FLAT("id", "integer") "," FIELD("s", STRUCT(FLAT("x", "integer"))) "," FLAT("\xc3\xbc", "integer"));
    assert_string_equal("1|{'x': 2}|3\n4|{'x': 5}|6\n", duck_scan_text(fx, duck_plan(fx, schema, NULL, NULL),
                                                                       "id, s::VARCHAR, \"\xc3\xbc\"", "ORDER BY 1"));
    silt_schema_unref(schema);
}

/* Columns "ID" and "id", int32, one row: 1, 2. DuckDB cannot write that. */
static const unsigned char TWO_NAMES[] = {
    0x50, 0x41, 0x52, 0x31, 0x15, 0x00, 0x15, 0x14, 0x15, 0x14, 0x2c, 0x15, 0x02, 0x15, 0x00, 0x15, 0x06, 0x15,
    0x06, 0x1c, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x01, 0x01, 0x00, 0x00, 0x00, 0x15, 0x00, 0x15,
    0x14, 0x15, 0x14, 0x2c, 0x15, 0x02, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x1c, 0x00, 0x00, 0x00, 0x02, 0x00,
    0x00, 0x00, 0x02, 0x01, 0x02, 0x00, 0x00, 0x00, 0x15, 0x02, 0x19, 0x3c, 0x35, 0x00, 0x18, 0x06, 0x73, 0x63,
    0x68, 0x65, 0x6d, 0x61, 0x15, 0x04, 0x00, 0x15, 0x02, 0x25, 0x02, 0x18, 0x02, 0x49, 0x44, 0x00, 0x15, 0x02,
    0x25, 0x02, 0x18, 0x02, 0x69, 0x64, 0x00, 0x16, 0x02, 0x19, 0x1c, 0x19, 0x2c, 0x26, 0x00, 0x1c, 0x15, 0x02,
    0x19, 0x25, 0x06, 0x00, 0x19, 0x18, 0x02, 0x49, 0x44, 0x15, 0x00, 0x16, 0x02, 0x16, 0x3a, 0x16, 0x3a, 0x26,
    0x08, 0x49, 0x1c, 0x15, 0x00, 0x15, 0x00, 0x15, 0x02, 0x00, 0x3c, 0x29, 0x06, 0x19, 0x26, 0x00, 0x02, 0x00,
    0x00, 0x00, 0x26, 0x00, 0x1c, 0x15, 0x02, 0x19, 0x25, 0x06, 0x00, 0x19, 0x18, 0x02, 0x69, 0x64, 0x15, 0x00,
    0x16, 0x02, 0x16, 0x3a, 0x16, 0x3a, 0x26, 0x42, 0x49, 0x1c, 0x15, 0x00, 0x15, 0x00, 0x15, 0x02, 0x00, 0x3c,
    0x29, 0x06, 0x19, 0x26, 0x00, 0x02, 0x00, 0x00, 0x00, 0x16, 0x74, 0x16, 0x02, 0x26, 0x08, 0x16, 0x74, 0x00,
    0x28, 0x20, 0x70, 0x61, 0x72, 0x71, 0x75, 0x65, 0x74, 0x2d, 0x63, 0x70, 0x70, 0x2d, 0x61, 0x72, 0x72, 0x6f,
    0x77, 0x20, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x20, 0x32, 0x36, 0x2e, 0x30, 0x2e, 0x31, 0x19, 0x2c,
    0x1c, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0xb3, 0x00, 0x00, 0x00, 0x50, 0x41, 0x52, 0x31};

static void names_that_differ_in_case_only_are_refused(void **state)
{
    struct duck_fixture *fx = *state;
    struct duck_written *written = sl_vec_push(&fx->files);
    written->full = sl_arena_printf(&fx->arena, "%s/two.parquet", fx->dir);
    written->size_bytes = (int64_t)sizeof(TWO_NAMES);
    FILE *file = fopen(written->full, "wb");
    assert_non_null(file);
    assert_int_equal(sizeof(TWO_NAMES), fwrite(TWO_NAMES, 1, sizeof(TWO_NAMES), file));
    assert_int_equal(0, fclose(file));
    silt_schema *schema = duck_schema(fx, FLAT("id", "integer"));
    assert_int_equal(SILT_ESCHEMA, duck_try_scan(fx, duck_plan(fx, schema, NULL, NULL)));
    assert_non_null(strstr(fx->err.message, "column id"));
    assert_non_null(strstr(fx->err.message, "two.parquet"));
    silt_schema_unref(schema);
}

/* ---- by field id ---- */

#define BY_ID_LOGICAL                                                                \
    FLAT("a", "integer")                                                             \
    "," FIELD("s", STRUCT(FLAT("x", "integer") "," FLAT("y", "integer"))) "," FIELD( \
        "l", LIST(STRUCT(FLAT("e", "integer"))))
#define BY_ID_PHYSICAL                                                                    \
    FLAT_ID("c1", "integer", "1")                                                         \
    "," ID("c2", STRUCT(FLAT_ID("c3", "integer", "3") "," FLAT_ID("c4", "integer", "4")), \
           "2") "," ID("c5", LIST(STRUCT(FLAT_ID("c6", "integer", "6"))), "5")

static void ids_count_whatever_the_names_are(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(
        fx, "a.parquet", "SELECT 1 AS c1, {c3: 2, c4: 3} AS c2, [{c6: 4}] AS c5",
        ", FIELD_IDS {c1: 1, c2: {__duckdb_field_id: 2, c3: 3, c4: 4}, c5: {__duckdb_field_id: 5, element: {c6: 6}}}");
    /* Names that other fields have elsewhere. */
    make_file(
        fx, "b.parquet", "SELECT {c4: 12, c3: 13} AS c1, 11 AS c2, [{c3: 14}] AS z",
        ", FIELD_IDS {c2: 1, c1: {__duckdb_field_id: 2, c4: 3, c3: 4}, z: {__duckdb_field_id: 5, element: {c3: 6}}}");
    /* Fields dropped and added again under their old names; missing ones. */
    make_file(fx, "c.parquet", "SELECT 91 AS c1, {c3: 92, q: 23} AS c2, 21 AS c9",
              ", FIELD_IDS {c1: 71, c9: 1, c2: {__duckdb_field_id: 2, c3: 73, q: 4}}");
    make_file(
        fx, "d.parquet",
        "SELECT 31 AS c1, NULL::STRUCT(c3 INTEGER, c4 INTEGER) AS c2, NULL::STRUCT(c6 INTEGER)[] AS c5",
        ", FIELD_IDS {c1: 1, c2: {__duckdb_field_id: 2, c3: 3, c4: 4}, c5: {__duckdb_field_id: 5, element: {c6: 6}}}");
    struct mapped mapped;
    map_plan(fx, &mapped, BY_ID_LOGICAL, BY_ID_PHYSICAL, NULL);
    mapped.plan.match_by_field_id = true;
    assert_string_equal(
        "1|{'x': 2, 'y': 3}|[{'e': 4}]\n11|{'x': 12, 'y': 13}|[{'e': 14}]\n21|{'x': NULL, 'y': 23}|NULL\n"
        "31|NULL|NULL\n",
        duck_scan_text(fx, &mapped.plan, "a, s::VARCHAR, l::VARCHAR", "ORDER BY a"));
    assert_string_equal("11\n", duck_scan_text(fx, &mapped.plan, "a", "WHERE s.x = 12"));
    assert_string_equal("4\n", duck_scan_text(fx, &mapped.plan, "count(*)", ""));
    unmap(&mapped);
}

/* Groups put files into another order: what is known of a file must stay with it. */
static void groups_keep_what_belongs_to_their_files(void **state)
{
    struct duck_fixture *fx = *state;
    for (int i = 0; i < 9; i++) {
        char name[32];
        char select[64];
        (void)snprintf(name, sizeof(name), "f%d.parquet", i);
        (void)snprintf(select, sizeof(select), "SELECT {n%d: i} AS s FROM range(%d, %d) t(i)", i % 3, i * 10,
                       i * 10 + 10);
        char options[80];
        (void)snprintf(options, sizeof(options), ", FIELD_IDS {s: {__duckdb_field_id: 1, n%d: 2}}", i % 3);
        make_file(fx, name, select, options);
    }
    struct mapped mapped;
    map_plan(
        fx, &mapped,
        FIELD("s", STRUCT(FLAT("x", "long"))) "," FLAT("p", "integer") "," FIELD(
            "_metadata", STRUCT(FLAT("file_name", "string") "," FLAT("row_index", "long") "," FLAT("row_id", "long"))),
        ID("s", STRUCT(FLAT_ID("n0", "long", "2")), "1") "," FLAT("p", "integer") "," FIELD(
            "_metadata", STRUCT(FLAT("file_name", "string") "," FLAT("row_index", "long") "," FLAT("row_id", "long"))),
        NULL);
    silt_plan_file files[9];
    silt_value values[9];
    const silt_plan_column columns[] = {{SILT_FROM_FILE, -1}, {SILT_FROM_PARTITION, 0}, {SILT_FROM_METADATA, -1}};
    for (size_t i = 0; i < 9; i++) {
        files[i] = mapped.plan.files[i];
        values[i] = (silt_value){.kind = SILT_TYPE_INTEGER, .as.i64 = (int64_t)i};
        files[i].partition_values = &values[i];
        files[i].base_row_id = (int64_t)i * 10;
    }
    mapped.plan.files = files;
    mapped.plan.columns = columns;
    mapped.plan.n_partition_columns = 1;
    mapped.plan.match_by_field_id = true;
    assert_string_equal(
        "90|90|90|90|9\n",
        duck_scan_text(fx, &mapped.plan,
                       "count(*), count(*) FILTER (s.x // 10 = p), count(*) FILTER (s.x = _metadata.row_id), "
                       "count(*) FILTER (_metadata.file_name = 'f' || p || '.parquet' AND s.x % 10 = "
                       "_metadata.row_index), count(DISTINCT p)",
                       ""));
    assert_string_equal("40\n49\n", duck_scan_text(fx, &mapped.plan, "unnest([min(s.x), max(s.x)])", "WHERE p = 4"));
    assert_string_equal("75\n", duck_scan_text(fx, &mapped.plan, "s.x", "WHERE _metadata.row_id = 75"));
    unmap(&mapped);
}

static void file_without_ids_is_refused(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "ids.parquet", "SELECT 1 AS c1", ", FIELD_IDS {c1: 1}");
    make_file(fx, "none.parquet", "SELECT 1 AS c1", "");
    struct mapped mapped;
    map_plan(fx, &mapped, FLAT("a", "integer"), FLAT_ID("c1", "integer", "1"), NULL);
    mapped.plan.match_by_field_id = true;
    assert_int_equal(SILT_ESCHEMA, duck_try_scan(fx, &mapped.plan));
    assert_non_null(strstr(fx->err.message, "none.parquet"));
    assert_non_null(strstr(fx->err.message, "column a "));
    unmap(&mapped);
}

static void contradicting_type_is_found_by_id(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "t.parquet", "SELECT {q: 'text', c3: 1} AS z",
              ", FIELD_IDS {z: {__duckdb_field_id: 2, q: 3, c3: 9}}");
    struct mapped mapped;
    map_plan(fx, &mapped, FIELD("s", STRUCT(FLAT("x", "integer"))),
             ID("c2", STRUCT(FLAT_ID("c3", "integer", "3")), "2"), NULL);
    mapped.plan.match_by_field_id = true;
    assert_int_equal(SILT_ESCHEMA, duck_try_scan(fx, &mapped.plan));
    assert_non_null(strstr(fx->err.message, "column s.x "));
    unmap(&mapped);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nested_fields_get_their_names_and_keep_nulls),
        TEST(renamed_fields_survive_what_queries_do),
        TEST(missing_nested_fields_are_null_where_there_is_a_struct),
        TEST(uniform_files_are_read_without_schema_map),
        TEST(odd_names_are_names),
        TEST(names_in_another_case_are_found),
        TEST(names_that_differ_in_case_only_are_refused),
        TEST(ids_count_whatever_the_names_are),
        TEST(groups_keep_what_belongs_to_their_files),
        TEST(file_without_ids_is_refused),
        TEST(contradicting_type_is_found_by_id),
    };
    return cmocka_run_group_tests_name("duck_mapping", tests, NULL, NULL);
}
