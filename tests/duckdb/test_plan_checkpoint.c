/*
 * Planning over a large checkpoint finds the same files by both of its ways: by a visit of every file, and by reading first what decides.
 * Checkpoints of every layout and form of statistics are made by DuckDB, spoilt here and there as writers do, with a tail of commits that
 * adds, removes and replaces files.
 */
#include "duck_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrow.h"
#include "base/error.h"
#include "expr/expr.h"
#include "kernel/scan/scan_int.h"
#include "kernel/snapshot/state.h"

/* More than a file's statistics are looked for in one form before the other is tried. */
#define N_FILES 6000
#define N_AGAIN 700

enum form {
    FORM_NONE,
    FORM_TEXT,
    FORM_TYPED,
    FORM_BOTH,
    FORM_MIXED /* some files this, some that, some nothing */
};
enum layout {
    LAYOUT_ONE,
    LAYOUT_PARTS,
    LAYOUT_SIDECARS /* below a top file in JSON that has an add of its own */
};

struct shape {
    enum form form;
    enum layout layout;
    const char *partition_type;
    bool with_tail;
    bool with_vectors;
    bool with_again; /* hundreds of files are named twice, within a file of the checkpoint and across them */
    bool sorted;     /* by id, and every file has bounds of it: whole row groups hold nothing that is wanted */
    uint64_t seed;
    int number; /* of the table */
};

/* ---- making a table ---- */

/* What a file holds, as one row: some bounds are missing, some contradict each other, some files say that they are empty. */
#define FILE_SQL                                                                                                                  \
    "SELECT i, h, CASE WHEN h %% 97 = 0 THEN NULL WHEN h %% 101 = 0 THEN 0 ELSE 1000 END::BIGINT AS rows, "                       \
    "CASE WHEN h %% 31 = 0 THEN NULL ELSE (h // 7 %% 100000)::BIGINT END AS id_min, "                                             \
    "CASE WHEN h %% 37 = 0 THEN NULL WHEN h %% 41 = 0 THEN -5 ELSE (h // 7 %% 100000 + h %% 3000)::BIGINT END AS id_max, "        \
    "CASE WHEN h %% 29 = 0 THEN NULL WHEN h %% 23 = 0 THEN 1000 ELSE h %% 4 END::BIGINT AS id_nulls, "                            \
    "DATE '1500-01-01' + (h // 11 %% 200000)::INTEGER AS d_min, DATE '1500-01-01' + (h // 11 %% 200000 + 40)::INTEGER AS d_max, " \
    "TIMESTAMP '1970-01-01' + to_milliseconds((h // 13 %% 1000000)::BIGINT * 1000) AS t_min, "                                    \
    "TIMESTAMP '1970-01-01' + to_milliseconds((h // 13 %% 1000000 + 500)::BIGINT * 1000) AS t_max, "                              \
    "'k' || (h // 17 %% 1000) AS s_min, 'k' || (h // 17 %% 1000) || 'zz' AS s_max, "                                              \
    "(h // 19 %% 10000 / 8)::DOUBLE AS v_min, (h // 19 %% 10000 / 8 + 2)::DOUBLE AS v_max, "                                      \
    "(h // 23 %% 5000)::INTEGER AS x_min, (h // 23 %% 5000 + 9)::INTEGER AS x_max, "                                              \
    "(h // 27 %% 100000 / 100)::DECIMAL(10,2) AS m_min, (h // 27 %% 100000 / 100 + 1)::DECIMAL(10,2) AS m_max "                   \
    "FROM (SELECT i, (hash(i + %" PRIu64                                                                                          \
    ") %% 1000000007)::BIGINT AS h FROM (SELECT i FROM range(%d, %d) r(i) UNION ALL "                                             \
    "SELECT i FROM range(0, %d) r(i)))"

#define NO_PROTOCOL \
    "NULL::STRUCT(\"minReaderVersion\" INTEGER, \"minWriterVersion\" INTEGER, \"readerFeatures\" VARCHAR[], \"writerFeatures\" VARCHAR[])"
#define NO_METADATA                                                                                                       \
    "NULL::STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), \"schemaString\" VARCHAR, " \
    "\"partitionColumns\" VARCHAR[], configuration MAP(VARCHAR, VARCHAR), \"createdTime\" BIGINT)"

/* Bounds of one side, with text for times where it becomes JSON */
#define BOUNDS_SQL(side)                                                                               \
    "{'id': id_" side ", 'd': d_" side ", 't': t_" side "::TIMESTAMPTZ, 's': s_" side ", 'v': v_" side \
    ", 'st': {'x': x_" side "}, 'm': m_" side "}"
#define TEXT_BOUNDS_SQL(side)                                                                                      \
    "{'id': id_" side ", 'd': d_" side ", 't': strftime(t_" side ", '%%Y-%%m-%%dT%%H:%%M:%%S.%%gZ'), 's': s_" side \
    ", 'v': v_" side ", 'st': {'x': x_" side "}, 'm': m_" side "}"
#define NULLS_SQL \
    "{'id': id_nulls, 'd': 0::BIGINT, 't': 0::BIGINT, 's': 0::BIGINT, 'v': h % 3, 'st': {'x': 0::BIGINT}, 'm': 0::BIGINT}"

#define TEXT_SQL                                                                                           \
    "to_json({'numRecords': rows, 'minValues': " TEXT_BOUNDS_SQL("min") ", 'maxValues': " TEXT_BOUNDS_SQL( \
        "max") ", 'nullCount': " NULLS_SQL "})::VARCHAR"
#define TYPED_SQL                                                                        \
    "{'numRecords': rows, 'minValues': " BOUNDS_SQL("min") ", 'maxValues': " BOUNDS_SQL( \
        "max") ", 'nullCount': " NULLS_SQL "}"

static const char *partition_sql(const char *type)
{
    if (strcmp(type, "integer") == 0) {
        return "(h % 20)::VARCHAR";
    }
    if (strcmp(type, "date") == 0) {
        return "(DATE '2024-01-01' + (h % 20)::INTEGER)::VARCHAR";
    }
    if (strcmp(type, "timestamp") == 0) {
        return "'2024-01-01 00:00:' || printf('%02d', h % 20)";
    }
    return "'p' || (h % 20)";
}

#define COLUMN(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"

static const char *schema_text(const struct shape *shape)
{
    static const struct {
        const char *partition_type;
        const char *text;
    } schemas[] = {
#define SCHEMA(type)                                                                                                                                               \
    {(type),                                                                                                                                                       \
     "{\"type\":\"struct\",\"fields\":[" COLUMN("p", "\"" type "\"") "," COLUMN("id", "\"long\"") "," COLUMN("d", "\"date\"") "," COLUMN(                          \
         "t",                                                                                                                                                      \
         "\"timestamp\"") "," COLUMN("s",                                                                                                                          \
                                     "\"string\"") "," COLUMN("v",                                                                                                 \
                                                              "\"double\"") "," COLUMN("m",                                                                        \
                                                                                       "\"decimal(10,2)\"") "," COLUMN("st",                                       \
                                                                                                                       "{\"type\":\"struct\",\"fields\":[" COLUMN( \
                                                                                                                           "x",                                    \
                                                                                                                           "\"integer\"") "]}") "]}"}
        SCHEMA("string"), SCHEMA("integer"), SCHEMA("date"), SCHEMA("timestamp")};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(schemas[i].partition_type, shape->partition_type) == 0) {
            return schemas[i].text;
        }
    }
    return schemas[3].text;
}

static const char *stats_sql(enum form form, bool typed)
{
    switch (form) {
    case FORM_TEXT: return typed ? NULL : TEXT_SQL;
    case FORM_TYPED: return typed ? TYPED_SQL : NULL;
    case FORM_BOTH: return typed ? TYPED_SQL : TEXT_SQL;
    case FORM_MIXED:
        return typed ? "CASE WHEN h % 3 = 0 THEN " TYPED_SQL " END" : "CASE WHEN h % 3 = 1 THEN " TEXT_SQL " END";
    case FORM_NONE: break;
    }
    return NULL;
}

/* The texts above serve printf at one place and not at another. */
static void put_plain(struct sl_buf *sql, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        sl_buf_put_char(sql, *at);
        at += at[0] == '%' && at[1] == '%' ? 1 : 0;
    }
}

static void write_parquet(struct duck_fixture *fx, const struct shape *shape, const char *path, int first, int end)
{
    struct sl_buf sql;
    sl_buf_init(&sql, fx->env);
    sl_buf_put_c(
        &sql, "COPY (SELECT {'path': 'f' || i || '.parquet', 'partitionValues': map(['p'], [CASE WHEN h % 19 = 0 THEN "
              "NULL ELSE ");
    sl_buf_put_c(&sql, partition_sql(shape->partition_type));
    sl_buf_put_c(&sql, " END]), 'size': 100 + i, 'modificationTime': 1000 + i, 'dataChange': false");
    for (int typed = 0; typed < 2; typed++) {
        const char *stats = stats_sql(shape->form, typed != 0);
        if (stats != NULL) {
            sl_buf_put_c(&sql, typed != 0 ? ", 'stats_parsed': " : ", 'stats': ");
            put_plain(&sql, stats);
        }
    }
    if (shape->with_vectors) {
        sl_buf_put_c(
            &sql, ", 'deletionVector': CASE WHEN h % 10 = 0 THEN {'storageType': 'p', 'pathOrInlineDv': '/dv/' || i, "
                  "'offset': 1::INTEGER, 'sizeInBytes': 40::INTEGER, 'cardinality': 2::BIGINT} END");
    }
    sl_buf_put_c(&sql, "} AS add, " NO_PROTOCOL " AS protocol, " NO_METADATA " AS \"metaData\" FROM (");
    sl_buf_put_c(&sql, shape->sorted ? "SELECT * FROM (" : "");
    sl_buf_printf(&sql, FILE_SQL, shape->seed, first, end, shape->with_again ? N_AGAIN : 0);
    sl_buf_put_c(&sql, shape->sorted ? ") WHERE rows > 0 AND id_min <= id_max ORDER BY id_min, h)" : " ORDER BY h)");
    if (shape->layout != LAYOUT_SIDECARS && first == 0) {
        sl_buf_printf(
            &sql,
            " UNION ALL SELECT NULL, {'minReaderVersion': 3, 'minWriterVersion': 7, 'readerFeatures': %s::VARCHAR[], "
            "'writerFeatures': %s::VARCHAR[]}, NULL UNION ALL SELECT NULL, NULL, {'id': 'm', 'format': {'provider': "
            "'parquet', 'options': map([], [])::MAP(VARCHAR, VARCHAR)}, 'schemaString': '%s', 'partitionColumns': ['p'], "
            "'configuration': map([], [])::MAP(VARCHAR, VARCHAR), 'createdTime': 1::BIGINT}",
            shape->with_vectors ? "['deletionVectors']" : "[]", shape->with_vectors ? "['deletionVectors']" : "[]",
            schema_text(shape));
    }
    sl_buf_printf(&sql, ") TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)", path);
    if (duck_try_query(fx, sl_buf_cstr(&sql)) != SILT_OK) {
        fail_msg("%s\n%s", fx->err.message, sl_buf_cstr(&sql));
    }
    sl_buf_release(&sql);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void put_metadata(struct sl_buf *out, const struct shape *shape)
{
    const char *features = shape->with_vectors ? "[\"v2Checkpoint\",\"deletionVectors\"]" : "[\"v2Checkpoint\"]";
    sl_buf_printf(
        out,
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":%s,\"writerFeatures\":%s}}\n",
        features, features);
    sl_buf_put_c(
        out, "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"");
    for (const char *at = schema_text(shape); *at != '\0'; at++) {
        sl_buf_put_c(out, *at == '"' ? "\\" : "");
        sl_buf_put_char(out, *at);
    }
    sl_buf_put_c(out, "\",\"partitionColumns\":[\"p\"],\"configuration\":{},\"createdTime\":1}}\n");
}

static const char *partition_value(const char *type)
{
    return strcmp(type, "integer") == 0     ? "7"
           : strcmp(type, "date") == 0      ? "2024-01-08"
           : strcmp(type, "timestamp") == 0 ? "2024-01-01 00:00:07"
                                            : "p7";
}

static void put_add(struct sl_buf *out, const struct shape *shape, int number, const char *vector)
{
    sl_buf_printf(
        out,
        "{\"add\":{\"path\":\"f%d.parquet\",\"partitionValues\":{\"p\":\"%s\"},\"size\":5,\"modificationTime\":6,"
        "\"dataChange\":true,%s\"stats\":\"{\\\"numRecords\\\":10,\\\"minValues\\\":{\\\"id\\\":%d},\\\"maxValues\\\":{"
        "\\\"id\\\":%d},\\\"nullCount\\\":{\\\"id\\\":0}}\"}}\n",
        number, partition_value(shape->partition_type), vector, number * 10 % 100000, number * 10 % 100000 + 900);
}

/* Adds, removes and replaces. */
static void write_tail(const struct shape *shape, const char *log)
{
    struct sl_buf text;
    char path[512];
    sl_buf_init(&text, silt_env_default());
    for (int version = 11; version < 14; version++) {
        sl_buf_clear(&text);
        for (int i = 0; i < 60; i++) {
            put_add(&text, shape, N_FILES + version * 100 + i, "");
            sl_buf_printf(&text,
                          "{\"remove\":{\"path\":\"f%d.parquet\",\"deletionTimestamp\":5,\"dataChange\":true}}\n",
                          version * 300 + i * 5 + 1);
        }
        put_add(&text, shape, version * 300 + 2,
                shape->with_vectors
                    ? "\"deletionVector\":{\"storageType\":\"p\",\"pathOrInlineDv\":\"/dv/n\",\"offset\":1,"
                      "\"sizeInBytes\":40,\"cardinality\":3},"
                    : "");
        (void)snprintf(path, sizeof(path), "%s/%020d.json", log, version);
        write_text(path, sl_buf_cstr(&text));
    }
    sl_buf_release(&text);
}

static void write_checkpoint(struct duck_fixture *fx, const struct shape *shape, const char *log)
{
    static const char uuid[] = "80a083e8-7026-4e79-81be-64bd76c43a11";
    char path[2][512];
    struct stat info;
    struct sl_buf top;
    sl_buf_init(&top, fx->env);
    put_metadata(&top, shape);
    if (shape->layout == LAYOUT_ONE) {
        (void)snprintf(path[0], sizeof(path[0]), "%s/%020d.checkpoint.parquet", log, 10);
        write_parquet(fx, shape, path[0], 0, N_FILES);
    }
    for (int i = 0; i < 2 && shape->layout != LAYOUT_ONE; i++) {
        if (shape->layout == LAYOUT_PARTS) {
            (void)snprintf(path[i], sizeof(path[i]), "%s/%020d.checkpoint.%010d.%010d.parquet", log, 10, i + 1, 2);
        } else {
            (void)snprintf(path[i], sizeof(path[i]), "%s/_sidecars/s%d.parquet", log, i);
        }
        write_parquet(fx, shape, path[i], i * N_FILES / 2, (i + 1) * N_FILES / 2);
        assert_int_equal(stat(path[i], &info), 0);
        sl_buf_printf(&top, "{\"sidecar\":{\"path\":\"s%d.parquet\",\"sizeInBytes\":%lld,\"modificationTime\":1}}\n", i,
                      (long long)info.st_size);
    }
    if (shape->layout == LAYOUT_SIDECARS) {
        sl_buf_put_c(&top, "{\"checkpointMetadata\":{\"version\":10}}\n");
        put_add(&top, shape, N_FILES + 1, "");
        (void)snprintf(path[0], sizeof(path[0]), "%s/%020d.checkpoint.%s.json", log, 10, uuid);
        write_text(path[0], sl_buf_cstr(&top));
    }
    sl_buf_release(&top);
}

static void make_table(struct duck_fixture *fx, const struct shape *shape, char *root, size_t size)
{
    char log[400];
    char path[512];
    (void)snprintf(root, size, "%s/table%d", fx->dir, shape->number);
    (void)snprintf(log, sizeof(log), "%s/_delta_log", root);
    assert_int_equal(mkdir(root, 0700), 0);
    assert_int_equal(mkdir(log, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/_sidecars", log);
    assert_int_equal(mkdir(path, 0700), 0);
    write_checkpoint(fx, shape, log);
    if (shape->with_tail) {
        write_tail(shape, log);
    }
}

/* ---- comparing plans ---- */

static silt_snapshot *open_table(struct duck_fixture *fx, const char *root)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_status status = silt_table_for_path(fx->engine, root, &table, &fx->err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, &fx->err);
    }
    if (status != SILT_OK) {
        fail_msg("%s", fx->err.message);
    }
    silt_table_unref(table);
    return snapshot;
}

static silt_scan *plan(struct duck_fixture *fx, silt_snapshot *snapshot, const char *filter, enum sl_plan_way way)
{
    const struct sl_scan_wish wish = {.all_columns = true, .plan_way = way};
    silt_scan *scan = NULL;
    silt_expr *parsed = NULL;
    silt_status status = silt_expr_parse(fx->env, filter, strlen(filter), NULL, &parsed, &fx->err);
    if (status == SILT_OK) {
        status = sl_scan_new(snapshot, &scan, &fx->err);
    }
    if (status == SILT_OK) {
        status = sl_expr_resolve(parsed, silt_snapshot_schema(snapshot), &scan->filter, &fx->err);
    }
    if (status == SILT_OK) {
        status = sl_scan_assemble(scan, NULL, &wish, &fx->err);
    }
    if (status != SILT_OK) {
        fail_msg("%s: %s", filter, fx->err.message);
    }
    assert_int_equal(scan->marks_names, way == SL_PLAN_SELECTS);
    silt_expr_unref(parsed);
    return scan;
}

static void expect_same(const silt_scan_plan *a, const silt_scan_plan *b, const char *filter)
{
    if (a->n_files != b->n_files) {
        print_message("%s: %zu files, expected %zu\n", filter, a->n_files, b->n_files);
    }
    for (size_t i = 0; i < a->n_files && i < b->n_files; i++) {
        const silt_plan_file *x = &a->files[i];
        const silt_plan_file *y = &b->files[i];
        if (strcmp(x->path, y->path) != 0) {
            print_message("%s: file %zu\n", filter, i);
        }
        assert_string_equal(x->path, y->path);
        assert_int_equal(x->size_bytes, y->size_bytes);
        assert_int_equal(x->modified_ms, y->modified_ms);
        assert_int_equal(x->base_row_id, y->base_row_id);
        assert_int_equal(x->partition_values[0].is_null, y->partition_values[0].is_null);
        assert_int_equal(x->deleted != NULL, y->deleted != NULL);
    }
    assert_int_equal(a->n_files, b->n_files);
    assert_int_equal(a->filter != NULL, b->filter != NULL);
    if (a->filter != NULL) {
        assert_string_equal(silt_expr_text(a->filter), silt_expr_text(b->filter));
    }
}

static int64_t count_listed(struct duck_fixture *fx, silt_scan *scan)
{
    struct ArrowArrayStream stream = {0};
    bool done = false;
    int64_t n = 0;
    assert_int_equal(silt_scan_files(scan, NULL, &stream, &fx->err), SILT_OK);
    while (!done) {
        struct ArrowArray batch = {0};
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, &fx->err), SILT_OK);
        n += batch.length;
        sl_arrow_array_release(&batch);
    }
    sl_arrow_stream_release(&stream);
    return n;
}

/* A snapshot for each way: what the one has in memory must not help the other. */
struct ways {
    silt_snapshot *visits;
    silt_snapshot *selects;
};

/* Files that both ways find. */
static size_t compare_ways(struct duck_fixture *fx, const struct ways *ways, const char *filter, bool list)
{
    silt_scan *plain = plan(fx, ways->visits, filter, SL_PLAN_VISITS);
    silt_scan *fast = plan(fx, ways->selects, filter, SL_PLAN_SELECTS);
    const size_t n = silt_scan_get_plan(plain)->n_files;
    expect_same(silt_scan_get_plan(fast), silt_scan_get_plan(plain), filter);
    if (list) {
        assert_int_equal(count_listed(fx, fast), n);
    }
    silt_scan_unref(plain);
    silt_scan_unref(fast);
    return n;
}

static const char *const filters[] = {
    "id < 1500",
    "id = 70007",
    "50000 <= id AND id <= 50010",
    "id BETWEEN 99990 AND 100500",
    "id IN (5, 77777)",
    "id IS NULL",
    "id IS NOT NULL AND id > 98000",
    "id < -9223372036854775808",
    "d < DATE '1530-01-01'",
    "d > DATE '2040-01-01'",
    "t < TIMESTAMP '1970-01-01 00:20:00Z'",
    "s = 'k7'",
    "s < 'k11'",
    "s LIKE 'k99%'",
    "v < 20.5",
    "v > 1200",
    "m < 12.34",
    "st.x = 17",
    "st.x IS NULL",
    "id < 3000 OR v < 10",
    "id < 30000 AND v < 100 AND s < 'k5'",
    "NOT (id > 2000)",
};

static void compare_all(struct duck_fixture *fx, const struct shape *shape)
{
    char root[300];
    char text[200];
    size_t fewest = SIZE_MAX;
    const char *type = shape->partition_type;
    const char *prefix = strcmp(type, "date") == 0 ? "DATE " : strcmp(type, "timestamp") == 0 ? "TIMESTAMP " : "";
    const char *quote = strcmp(type, "integer") == 0 ? "" : "'";
    make_table(fx, shape, root, sizeof(root));
    const struct ways ways = {open_table(fx, root), open_table(fx, root)};
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        const size_t n = compare_ways(fx, &ways, filters[i], i == 0);
        fewest = n < fewest ? n : fewest;
    }
    const char *const by_partition[] = {"p = %s%s%s%s", "p = %s%s%s%s AND id < 9000", "p = %s%s%s%s OR id < 300",
                                        "p IS NULL AND %s%s%s%s <= p"};
    for (size_t i = 0; i < sizeof(by_partition) / sizeof(by_partition[0]); i++) {
        (void)snprintf(text, sizeof(text), by_partition[i], prefix, quote, partition_value(type), quote); // NOLINT
        (void)compare_ways(fx, &ways, text, i == 0);
    }
    assert_int_equal(compare_ways(fx, &ways, "p IS NULL", false) > 0, 1);
    if (shape->form != FORM_NONE) {
        assert_in_range(fewest, 0, N_FILES / 2); /* statistics are of use */
    }
    silt_snapshot_unref(ways.visits);
    silt_snapshot_unref(ways.selects);
}

static void statistics_in_every_form_and_layout(void **state)
{
    static const char *const types[] = {"string", "integer", "date", "timestamp"};
    struct duck_fixture *fx = *state;
    int number = 0;
    for (int form = FORM_NONE; form <= FORM_MIXED; form++) {
        for (int layout = LAYOUT_ONE; layout <= LAYOUT_SIDECARS; layout++) {
            const struct shape shape = {.form = (enum form)form,
                                        .layout = (enum layout)layout,
                                        .partition_type = types[(form + layout) % 4],
                                        .with_tail = (form + layout) % 2 == 0,
                                        .with_vectors = (form * 2 + layout) % 3 == 0,
                                        .seed = (uint64_t)(7919 * number),
                                        .number = number};
            print_message("form %d, layout %d\n", form, layout);
            compare_all(fx, &shape);
            number++;
        }
    }
}

/* Paths are "…/f<number>.parquet", each there once. */
static void expect_each_once(struct duck_fixture *fx, silt_snapshot *snapshot, enum sl_plan_way way)
{
    bool seen[N_FILES + 2000] = {false};
    silt_scan *scan = plan(fx, snapshot, "id IS NULL OR id > -10", way);
    const silt_scan_plan *found = silt_scan_get_plan(scan);
    assert_in_range(found->n_files, N_FILES / 4, N_FILES + 2000);
    for (size_t i = 0; i < found->n_files; i++) {
        const char *name = strrchr(found->files[i].path, '/');
        const long number = strtol(name + 2, NULL, 10);
        assert_in_range(number, 0, N_FILES + 1999);
        assert_false(seen[number]);
        seen[number] = true;
    }
    silt_scan_unref(scan);
}

static void files_that_are_named_twice_are_planned_once(void **state)
{
    struct duck_fixture *fx = *state;
    for (int layout = LAYOUT_ONE; layout <= LAYOUT_SIDECARS; layout++) {
        const struct shape shape = {.form = layout == LAYOUT_PARTS ? FORM_TYPED : FORM_TEXT,
                                    .layout = (enum layout)layout,
                                    .partition_type = "string",
                                    .with_tail = layout != LAYOUT_PARTS,
                                    .with_again = true,
                                    .seed = 11,
                                    .number = 200 + layout};
        char root[300];
        compare_all(fx, &shape);
        (void)snprintf(root, sizeof(root), "%s/table%d", fx->dir, shape.number);
        silt_snapshot *snapshot = open_table(fx, root);
        expect_each_once(fx, snapshot, SL_PLAN_SELECTS);
        expect_each_once(fx, snapshot, SL_PLAN_VISITS);
        int64_t n = 0;
        assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, NULL, &fx->err), SILT_OK);
        silt_snapshot_unref(snapshot);
        /* The top file in JSON has one more; each commit of the tail adds 60 and removes 60 of the checkpoint's. */
        assert_int_equal(n, N_FILES + (layout == LAYOUT_SIDECARS ? 1 : 0));
    }
}

static void files_in_the_order_of_a_column(void **state)
{
    struct duck_fixture *fx = *state;
    for (int layout = LAYOUT_ONE; layout <= LAYOUT_SIDECARS; layout += LAYOUT_SIDECARS) {
        for (int form = FORM_TYPED; form <= FORM_BOTH; form++) {
            const struct shape shape = {.form = (enum form)form,
                                        .layout = (enum layout)layout,
                                        .partition_type = "string",
                                        .with_tail = layout > LAYOUT_ONE,
                                        .with_vectors = form == FORM_BOTH,
                                        .sorted = true,
                                        .seed = 5,
                                        .number = 100 + layout * 10 + form};
            compare_all(fx, &shape);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statistics_in_every_form_and_layout, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(files_that_are_named_twice_are_planned_once, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(files_in_the_order_of_a_column, duck_setup, duck_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
