/*
 * DESCRIBE TABLE, DESCRIBE DETAIL, SHOW COLUMNS and SHOW TBLPROPERTIES as Spark lists them.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "commands/clustering.h"
#include "commands/describe.h"
#include "commands/row_set.h"
#include "schema/type.h"

static const struct sl_row_column table_columns[] = {
    {"col_name", "string"}, {"data_type", "string"}, {"comment", "string"}};

static const struct sl_row_column detail_columns[] = {
    {"format", "string"},
    {"id", "string"},
    {"name", "string"},
    {"description", "string"},
    {"location", "string"},
    {"createdAt", "timestamp"},
    {"lastModified", "timestamp"},
    {"partitionColumns", "array<string>"},
    {"clusteringColumns", "array<string>"},
    {"numFiles", "bigint"},
    {"sizeInBytes", "bigint"},
    {"properties", "map<string,string>"},
    {"minReaderVersion", "int"},
    {"minWriterVersion", "int"},
    {"tableFeatures", "array<string>"},
};

static void put_ms(struct sl_row_set *rows, int64_t ms)
{
    int64_t us = 0;
    if (ms < 0 || !sl_mul_i64(ms, 1000, &us)) {
        sl_row_null(rows);
    } else {
        sl_row_i64(rows, us);
    }
}

static silt_status put_field(struct sl_row_set *rows, const struct silt_field *field, silt_error *err)
{
    struct sl_buf type;
    silt_status status;

    sl_buf_init(&type, rows->env);
    sl_type_print(&type, field->type);
    status = sl_buf_status(&type, err);
    if (status == SILT_OK) {
        sl_row_str(rows, field->name);
        sl_row_str(rows, sl_buf_view(&type));
        sl_row_str(rows, sl_field_meta_text(field, SL_STR("comment")));
        sl_row_end(rows);
    }
    sl_buf_release(&type);
    return status;
}

static void put_line(struct sl_row_set *rows, const char *a, const char *b, const char *c)
{
    sl_row_c(rows, a);
    sl_row_c(rows, b);
    sl_row_c(rows, c);
    sl_row_end(rows);
}

/* "[k=v,k=v]" */
static void print_properties(struct sl_buf *out, const silt_snapshot *snapshot)
{
    sl_buf_put_char(out, '[');
    for (size_t i = 0; i < silt_snapshot_property_count(snapshot); i++) {
        const char *key = NULL;
        const char *value = NULL;
        silt_snapshot_property(snapshot, i, &key, &value);
        sl_buf_put_c(out, i > 0 ? "," : "");
        sl_buf_put_c(out, key);
        sl_buf_put_char(out, '=');
        sl_buf_put_c(out, value);
    }
    sl_buf_put_char(out, ']');
}

static silt_status put_extended(struct sl_row_set *rows, silt_table *table, const silt_snapshot *snapshot,
                                const char *name, silt_error *err)
{
    struct sl_buf text;
    silt_metadata metadata = {.size = sizeof(metadata)};
    silt_status status;

    silt_snapshot_metadata(snapshot, &metadata);
    sl_buf_init(&text, rows->env);
    print_properties(&text, snapshot);
    status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        put_line(rows, "", "", "");
        put_line(rows, "# Detailed Table Information", "", "");
        put_line(rows, "Name", name, "");
        if (metadata.description != NULL) {
            put_line(rows, "Comment", metadata.description, "");
        }
        put_line(rows, "Location", silt_table_uri(table), "");
        put_line(rows, "Provider", "delta", "");
        put_line(rows, "Table Properties", sl_buf_cstr(&text), "");
    }
    sl_buf_release(&text);
    return status;
}

silt_status sl_describe_table(silt_table *table, silt_snapshot *snapshot, const char *name, bool extended,
                              struct ArrowArrayStream *out, silt_error *err)
{
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    const silt_schema *schema = silt_snapshot_schema(snapshot);
    size_t n_partition = silt_snapshot_partition_count(snapshot);
    struct sl_row_set rows;
    silt_status status = SILT_OK;

    SL_TRY(sl_row_set_init(&rows, env, table_columns, 3, err));
    for (size_t i = 0; i < silt_schema_field_count(schema) && status == SILT_OK; i++) {
        status = put_field(&rows, silt_schema_field(schema, i), err);
    }
    if (status == SILT_OK && n_partition > 0) {
        put_line(&rows, "# Partition Information", "", "");
        put_line(&rows, "# col_name", "data_type", "comment");
    }
    for (size_t i = 0; i < n_partition && status == SILT_OK; i++) {
        status = put_field(&rows, silt_schema_find(schema, silt_snapshot_partition_column(snapshot, i)), err);
    }
    if (status == SILT_OK && extended) {
        status = put_extended(&rows, table, snapshot, name, err);
    }
    if (status != SILT_OK) {
        sl_row_set_release(&rows);
        return status;
    }
    return sl_row_set_finish(&rows, out);
}

/* Lists of a snapshot as views, for the cells that hold arrays and maps. */
static silt_status collect_lists(silt_snapshot *snapshot, struct sl_arena *arena, struct sl_str_list *partition,
                                 struct sl_str_list *features, struct sl_kv_list *properties, silt_error *err)
{
    size_t n_partition = silt_snapshot_partition_count(snapshot);
    size_t n_features = silt_snapshot_feature_count(snapshot);
    size_t n_properties = silt_snapshot_property_count(snapshot);
    struct sl_str *p = sl_arena_alloc_array(arena, n_partition + 1, sizeof(*p));
    struct sl_str *f = sl_arena_alloc_array(arena, n_features + 1, sizeof(*f));
    struct sl_kv *kv = sl_arena_alloc_array(arena, n_properties + 1, sizeof(*kv));

    if (p == NULL || f == NULL || kv == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n_partition; i++) {
        p[i] = sl_str_from(silt_snapshot_partition_column(snapshot, i));
    }
    for (size_t i = 0; i < n_features; i++) {
        f[i] = sl_str_from(silt_snapshot_feature(snapshot, i));
    }
    for (size_t i = 0; i < n_properties; i++) {
        const char *key = NULL;
        const char *value = NULL;
        silt_snapshot_property(snapshot, i, &key, &value);
        kv[i] = (struct sl_kv){sl_str_from(key), sl_str_from(value)};
    }
    *partition = (struct sl_str_list){p, n_partition};
    *features = (struct sl_str_list){f, n_features};
    *properties = (struct sl_kv_list){kv, n_properties};
    return SILT_OK;
}

static silt_status put_detail(struct sl_row_set *rows, silt_table *table, silt_snapshot *snapshot,
                              const silt_call *call, struct sl_arena *arena, silt_error *err)
{
    struct sl_str_list partition;
    struct sl_str_list clustering;
    struct sl_str_list features;
    struct sl_kv_list properties;
    silt_metadata metadata = {.size = sizeof(metadata)};
    int64_t num_files = 0;
    int64_t size_bytes = 0;

    SL_TRY(silt_snapshot_totals(snapshot, call, &num_files, &size_bytes, err));
    SL_TRY(collect_lists(snapshot, arena, &partition, &features, &properties, err));
    SL_TRY(sl_clustering_columns(snapshot, arena, &clustering, err));
    silt_snapshot_metadata(snapshot, &metadata);
    sl_row_c(rows, "delta");
    sl_row_c(rows, metadata.id);
    sl_row_c(rows, metadata.name);
    sl_row_c(rows, metadata.description);
    sl_row_c(rows, silt_table_uri(table));
    put_ms(rows, metadata.created_time_ms);
    put_ms(rows, silt_snapshot_timestamp_ms(snapshot));
    sl_row_str_list(rows, partition);
    sl_row_str_list(rows, clustering);
    sl_row_i64(rows, num_files);
    sl_row_i64(rows, size_bytes);
    sl_row_str_map(rows, properties);
    sl_row_i64(rows, silt_snapshot_min_reader_version(snapshot));
    sl_row_i64(rows, silt_snapshot_min_writer_version(snapshot));
    sl_row_str_list(rows, features);
    sl_row_end(rows);
    return SILT_OK;
}

silt_status sl_describe_detail(silt_table *table, const silt_call *call, struct ArrowArrayStream *out, silt_error *err)
{
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    silt_snapshot *snapshot = NULL;
    struct sl_row_set rows = {0};
    struct sl_arena arena;
    silt_status status = SILT_OK;

    sl_arena_init(&arena, env);
    status = silt_table_latest_snapshot(table, call, &snapshot, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = sl_row_set_init(&rows, env, detail_columns, sizeof(detail_columns) / sizeof(detail_columns[0]), err);
    if (status != SILT_OK) {
        goto out;
    }
    status = put_detail(&rows, table, snapshot, call, &arena, err);
    if (status != SILT_OK) {
        sl_row_set_release(&rows);
        goto out;
    }
    status = sl_row_set_finish(&rows, out);
out:
    silt_snapshot_unref(snapshot);
    sl_arena_release(&arena);
    return status;
}

silt_status sl_show_columns(silt_snapshot *snapshot, const silt_env *env, struct ArrowArrayStream *out, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(snapshot);
    struct sl_row_set rows;

    SL_TRY(sl_row_set_init(&rows, env, table_columns, 1, err));
    for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
        sl_row_c(&rows, silt_field_name(silt_schema_field(schema, i)));
        sl_row_end(&rows);
    }
    return sl_row_set_finish(&rows, out);
}

/* Rows that are no metadata but that Spark lists: protocol versions and features. */
static silt_status put_protocol_properties(struct sl_row_set *rows, const silt_snapshot *snapshot, const char *wanted,
                                           struct sl_arena *arena)
{
    for (size_t i = 0; i < silt_snapshot_feature_count(snapshot) + 2; i++) {
        const char *key = i == 0   ? "delta.minReaderVersion"
                          : i == 1 ? "delta.minWriterVersion"
                                   : sl_arena_printf(arena, "delta.feature.%s", silt_snapshot_feature(snapshot, i - 2));
        const char *value = i == 0   ? sl_arena_printf(arena, "%d", silt_snapshot_min_reader_version(snapshot))
                            : i == 1 ? sl_arena_printf(arena, "%d", silt_snapshot_min_writer_version(snapshot))
                                     : "supported";
        if (key == NULL || value == NULL) {
            return sl_fail_nomem(rows->err);
        }
        if (wanted == NULL || strcmp(wanted, key) == 0) {
            sl_row_c(rows, key);
            sl_row_c(rows, value);
            sl_row_end(rows);
        }
    }
    return SILT_OK;
}

silt_status sl_show_properties(silt_snapshot *snapshot, const silt_env *env, const char *name, const char *key,
                               struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_row_column columns[] = {{"key", "string"}, {"value", "string"}};
    struct sl_row_set rows;
    struct sl_arena arena;
    silt_status status = SILT_OK;

    SL_TRY(sl_row_set_init(&rows, env, columns, 2, err));
    sl_arena_init(&arena, env);
    for (size_t i = 0; i < silt_snapshot_property_count(snapshot); i++) {
        const char *k = NULL;
        const char *v = NULL;
        silt_snapshot_property(snapshot, i, &k, &v);
        if (key == NULL || strcmp(key, k) == 0) {
            sl_row_c(&rows, k);
            sl_row_c(&rows, v);
            sl_row_end(&rows);
        }
    }
    status = put_protocol_properties(&rows, snapshot, key, &arena);
    if (status == SILT_OK && key != NULL && sl_arrow_builder_length(rows.builder) == 0) {
        const char *text = sl_arena_printf(&arena, "Table %s does not have property: %s", name, key);
        sl_row_c(&rows, key);
        sl_row_c(&rows, text);
        sl_row_end(&rows);
    }
    if (status != SILT_OK) {
        sl_row_set_release(&rows);
    } else {
        status = sl_row_set_finish(&rows, out);
    }
    sl_arena_release(&arena);
    return status;
}
