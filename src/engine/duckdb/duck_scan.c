/*
 * Scans: a plan becomes the text of one query over read_parquet, which is a scan that DuckDB optimises as a whole.
 *
 *   SELECT "a", "b", silt_part_long(file_index, '7:0') AS "p"
 *   FROM read_parquet([files], schema = map{'a': {name: 'a', type: 'BIGINT', default_value: NULL}, …})
 *
 * The schema map does renaming, widening and missing columns without opening a file at bind and without a cast above the scan,
 * which would stop row-group pruning. Only columns of the plan are in it. Virtual columns (file_index) cannot be told from a
 * column of the same name, so such a column gets another name inside. A filter goes around all of it; DuckDB pushes it down.
 *
 * The map hides from DuckDB's planner what the files say of themselves, so it is left out where all files have the wanted columns
 * exactly (duck_exact.c), which is what most tables are.
 *
 * PROTOCOL: Partition Value Serialization: values of partition columns come from the log, never from the files or their paths.
 */
#include "duck.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "expr/expr.h"

struct sl_dataplane_scan {
    struct sl_duck_files files;
    struct sl_duck_parts *parts;
    bool exact; /* all files have exactly the wanted columns */
};

bool sl_duck_is_virtual_name(struct sl_str name)
{
    static const char *const names[] = {"file_index", "file_row_number", "filename"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (sl_str_eq_nocase(name, sl_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

static silt_status put_entry(struct sl_buf *sql, const struct sl_duck_table *table, size_t index, silt_error *err)
{
    const struct silt_field *field = &table->fields[index];
    if (table->match_by_field_id) {
        int64_t id = 0;
        const struct sl_str text = sl_field_meta_text(field, SL_STR("parquet.field.id"));
        if (text.ptr == NULL || !sl_str_to_i64(text, &id) || id < 0 || id > INT32_MAX) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "column %.*s has no usable parquet.field.id", SL_FMT(field->name));
        }
        sl_buf_put_i64(sql, id);
    } else {
        sl_duck_put_text(sql, field->name);
    }
    sl_buf_put_c(sql, ": {name: ");
    sl_duck_put_text(sql, table->aliases[index]);
    sl_buf_put_c(sql, ", type: ");
    struct sl_buf type;
    sl_buf_init(&type, sql->env);
    silt_status status = sl_duck_put_type(&type, field->type, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&type, err);
    }
    if (status == SILT_OK) {
        sl_duck_put_text(sql, sl_buf_view(&type));
        sl_buf_put_c(sql, ", default_value: NULL}");
    }
    sl_buf_release(&type);
    return status;
}

silt_status sl_duck_put_table(struct sl_buf *sql, const struct sl_duck_table *table, silt_error *err)
{
    sl_buf_put_c(sql, "read_parquet(");
    sl_duck_put_paths(sql, table->files, table->n_files);
    if (table->exact) {
        sl_buf_put_c(sql, ", hive_partitioning = false)");
        return SILT_OK;
    }
    sl_buf_put_c(sql, ", schema = map{");
    bool any = false;
    for (size_t i = 0; i < table->n_fields; i++) {
        if (table->skip == NULL || !table->skip[i]) {
            sl_buf_put_c(sql, any ? ", " : "");
            SL_TRY(put_entry(sql, table, i, err));
            any = true;
        }
    }
    if (!any) {
        /* The map must not be empty. This column is in no file and is never asked for. */
        sl_buf_put_c(sql, table->match_by_field_id ? "2147483647" : "'silt no column'");
        sl_buf_put_c(sql, ": {name: 'silt no column', type: 'BOOLEAN', default_value: NULL}");
    }
    sl_buf_put_c(sql, "})");
    return SILT_OK;
}

/* A scan of no file: no rows, but columns of the right types. */
static silt_status put_empty(struct sl_buf *sql, const silt_schema *logical, silt_error *err)
{
    const struct silt_type *root = &logical->root;
    sl_buf_put_c(sql, "SELECT ");
    for (size_t i = 0; i < root->n_fields; i++) {
        sl_buf_put_c(sql, i == 0 ? "NULL::" : ", NULL::");
        SL_TRY(sl_duck_put_type(sql, root->fields[i].type, err));
        sl_buf_put_c(sql, " AS ");
        sl_duck_put_ident(sql, root->fields[i].name);
    }
    sl_buf_put_c(sql, root->n_fields == 0 ? "NULL WHERE false" : " WHERE false");
    return SILT_OK;
}

/* Nested names are matched by name only: the physical ones must be the logical ones there. */
static bool same_nested_names(const struct silt_type *logical, const struct silt_type *physical)
{
    return sl_type_equal(logical, physical, false);
}

static silt_status check_plan(const silt_scan_plan *plan, silt_error *err)
{
    const struct silt_type *logical = &plan->logical->root;
    const struct silt_type *physical = &plan->physical->root;
    if (logical->n_fields != physical->n_fields) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan's logical and physical schema differ in shape");
    }
    for (size_t i = 0; i < logical->n_fields; i++) {
        const silt_plan_column column = plan->columns[i];
        if (column.source == SILT_FROM_METADATA || plan->has_row_sets) {
            return sl_fail(err, SILT_EUNSUPPORTED, NULL, "columns of _metadata and deletion vectors are not supported");
        }
        const int32_t part = column.source == SILT_FROM_PARTITION ? column.index : -1;
        if (part >= 0 && (size_t)part >= plan->n_partition_columns) {
            return sl_fail(err, SILT_EINVALID, NULL, "a scan's partition index is out of range");
        }
        if (part < 0 && !same_nested_names(logical->fields[i].type, physical->fields[i].type)) {
            return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                           "column %.*s has fields with other physical names (column mapping), which is not supported",
                           SL_FMT(logical->fields[i].name));
        }
    }
    return SILT_OK;
}

static silt_status open_files(struct sl_dataplane *dp, const silt_scan_plan *plan, struct sl_dataplane_scan *scan,
                              silt_error *err)
{
    struct sl_arena arena;
    sl_arena_init(&arena, dp->env);
    silt_status status = SILT_OK;
    struct sl_duck_source *sources = sl_arena_alloc_array(&arena, plan->n_files, sizeof(*sources));
    if (sources == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        sources[i] = (struct sl_duck_source){.path = plan->files[i].path,
                                             .local_path = plan->files[i].local_path,
                                             .size_bytes = plan->files[i].size_bytes};
    }
    status = sl_duck_files_open(dp, NULL, plan->storage, sources, plan->n_files, &scan->files, err);
out:
    sl_arena_release(&arena);
    return status;
}

static silt_status open_parts(struct sl_dataplane *dp, const silt_scan_plan *plan, struct sl_dataplane_scan *scan,
                              silt_error *err)
{
    if (plan->n_partition_columns == 0) {
        return SILT_OK;
    }
    struct sl_arena arena;
    sl_arena_init(&arena, dp->env);
    silt_status status = SILT_OK;
    const silt_value **values = sl_arena_alloc_array(&arena, plan->n_files, sizeof(*values));
    const struct silt_type **types = sl_arena_alloc_array(&arena, plan->n_partition_columns, sizeof(*types));
    if (values == NULL || types == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        values[i] = plan->files[i].partition_values;
    }
    for (size_t i = 0; i < plan->logical->root.n_fields; i++) {
        if (plan->columns[i].source == SILT_FROM_PARTITION) {
            types[plan->columns[i].index] = plan->logical->root.fields[i].type;
        }
    }
    const struct sl_duck_parts_input input = {
        .values = values, .n_files = plan->n_files, .n_columns = plan->n_partition_columns, .types = types};
    status = sl_duck_parts_new(dp, &input, &scan->parts, err);
out:
    sl_arena_release(&arena);
    return status;
}

static silt_status put_columns(struct sl_duck_conn *conn, const silt_scan_plan *plan,
                               const struct sl_dataplane_scan *scan, const struct sl_str *aliases, struct sl_buf *sql,
                               silt_error *err)
{
    const struct silt_type *root = &plan->logical->root;
    sl_buf_put_c(sql, root->n_fields == 0 ? "SELECT NULL" : "SELECT ");
    for (size_t i = 0; i < root->n_fields; i++) {
        const struct silt_field *field = &root->fields[i];
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        if (plan->columns[i].source == SILT_FROM_PARTITION) {
            SL_TRY(sl_duck_parts_put(conn, sql, scan->parts, (size_t)plan->columns[i].index, field->type, err));
        } else {
            sl_duck_put_ident(sql, aliases[i]);
        }
        if (plan->columns[i].source == SILT_FROM_PARTITION || !sl_str_eq(aliases[i], field->name)) {
            sl_buf_put_c(sql, " AS ");
            sl_duck_put_ident(sql, field->name);
        }
    }
    sl_buf_put_c(sql, " FROM ");
    return SILT_OK;
}

static silt_status put_scan(struct sl_duck_conn *conn, const silt_scan_plan *plan, struct sl_dataplane_scan *scan,
                            struct sl_buf *sql, silt_error *err)
{
    const size_t n = plan->logical->root.n_fields;
    struct sl_arena arena;
    sl_arena_init(&arena, conn->dp->env);
    silt_status status = SILT_OK;
    struct sl_str *aliases = sl_arena_alloc_array(&arena, n, sizeof(*aliases));
    bool *skip = sl_arena_alloc_array(&arena, n, sizeof(*skip));
    bool exact = scan->exact;
    if (aliases == NULL || skip == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        aliases[i] = plan->logical->root.fields[i].name;
        skip[i] = plan->columns[i].source != SILT_FROM_FILE;
        exact = exact && (skip[i] || sl_str_eq(aliases[i], plan->physical->root.fields[i].name));
        if (sl_duck_is_virtual_name(aliases[i])) {
            aliases[i] = sl_str_from(sl_arena_printf(&arena, "silt column %zu", i));
            if (aliases[i].ptr == NULL) {
                status = sl_fail_nomem(err);
                goto out;
            }
            exact = false;
        }
    }
    status = put_columns(conn, plan, scan, aliases, sql, err);
    if (status == SILT_OK) {
        const struct sl_duck_table table = {.files = scan->files.local,
                                            .n_files = scan->files.n,
                                            .fields = plan->physical->root.fields,
                                            .aliases = aliases,
                                            .n_fields = n,
                                            .skip = skip,
                                            .match_by_field_id = plan->match_by_field_id,
                                            .exact = exact};
        status = sl_duck_put_table(sql, &table, err);
    }
out:
    sl_arena_release(&arena);
    return status;
}

/* Types of the columns that come from files, checked against the files' footers. */
static silt_status check_types(struct sl_duck_conn *conn, const silt_scan_plan *plan, struct sl_dataplane_scan *scan,
                               bool in_utc, silt_error *err)
{
    struct sl_arena arena;
    sl_arena_init(&arena, conn->dp->env);
    silt_status status = SILT_OK;
    const struct silt_type *root = &plan->physical->root;
    struct silt_field *fields = sl_arena_alloc_array(&arena, root->n_fields, sizeof(*fields));
    if (fields == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    struct silt_type wanted = {.kind = SILT_TYPE_STRUCT, .fields = fields};
    for (size_t i = 0; i < root->n_fields; i++) {
        if (plan->columns[i].source == SILT_FROM_FILE) {
            fields[wanted.n_fields++] = root->fields[i];
        }
    }
    const struct sl_duck_check check = {
        .type = &wanted, .match_by_field_id = plan->match_by_field_id, .runs_in_utc = in_utc, .exact = &scan->exact};
    status = sl_duck_check_files(conn, NULL, &scan->files, &check, err);
out:
    sl_arena_release(&arena);
    return status;
}

static silt_status put_plan(struct sl_duck_conn *conn, const silt_scan_plan *plan, struct sl_dataplane_scan *scan,
                            struct sl_buf *sql, silt_error *err)
{
    if (plan->filter != NULL) {
        sl_buf_put_c(sql, "SELECT * FROM (");
    }
    if (plan->n_files == 0) {
        SL_TRY(put_empty(sql, plan->logical, err));
    } else {
        SL_TRY(put_scan(conn, plan, scan, sql, err));
    }
    if (plan->filter != NULL) {
        sl_buf_put_c(sql, ") WHERE ");
        SL_TRY(sl_expr_print_duckdb(sql, plan->filter->root, err));
    }
    return sl_buf_status(sql, err);
}

static silt_status open_scan(struct sl_dataplane *dp, const silt_scan_plan *plan, bool in_utc,
                             struct sl_dataplane_scan **out, struct sl_buf *sql, silt_error *err)
{
    *out = NULL;
    SL_TRY(check_plan(plan, err));
    struct sl_duck_conn conn = {0};
    struct sl_dataplane_scan *scan = sl_alloc_zero(dp->env, sizeof(*scan));
    silt_status status = SILT_OK;
    if (scan == NULL) {
        return sl_fail_nomem(err);
    }
    status = sl_duck_connect(dp, &conn, err);
    if (status == SILT_OK && plan->n_files > 0) {
        status = open_files(dp, plan, scan, err);
        if (status == SILT_OK) {
            status = open_parts(dp, plan, scan, err);
        }
        if (status == SILT_OK) {
            status = check_types(&conn, plan, scan, in_utc, err);
        }
    }
    if (status == SILT_OK) {
        status = put_plan(&conn, plan, scan, sql, err);
    }
    sl_duck_disconnect(&conn);
    if (status != SILT_OK) {
        sl_duck_scan_close(dp, scan);
        return status;
    }
    *out = scan;
    return SILT_OK;
}

silt_status sl_duck_scan_open(struct sl_dataplane *dp, const silt_scan_plan *plan, struct sl_dataplane_scan **out,
                              struct sl_buf *sql, silt_error *err)
{
    return open_scan(dp, plan, false, out, sql, err);
}

void sl_duck_scan_close(struct sl_dataplane *dp, struct sl_dataplane_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    sl_duck_parts_drop(dp, scan->parts);
    sl_duck_files_close(&scan->files);
    sl_release(dp->env, scan, sizeof(*scan));
}

/* ---- the scan as a stream ---- */

struct scan_stream {
    struct sl_dataplane *dp;
    struct sl_dataplane_scan *scan;
    struct sl_duck_reader reader;
};

static silt_status stream_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct scan_stream *stream = ctx;
    return sl_duck_reader_schema(&stream->reader, out, err);
}

static silt_status stream_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct scan_stream *stream = ctx;
    return sl_duck_reader_next(&stream->reader, batch, err);
}

static void stream_close(void *ctx)
{
    struct scan_stream *stream = ctx;
    const silt_env *env = stream->dp->env;
    sl_duck_reader_close(&stream->reader);
    sl_duck_scan_close(stream->dp, stream->scan);
    sl_release(env, stream, sizeof(*stream));
}

silt_status sl_duck_scan(void *impl, const silt_call *call, const silt_scan_plan *plan, struct ArrowArrayStream *out,
                         silt_error *err)
{
    static const struct sl_arrow_source source = {stream_schema, stream_next, stream_close};
    struct sl_dataplane *dp = impl;
    *out = (struct ArrowArrayStream){0};
    struct scan_stream *stream = sl_alloc_zero(dp->env, sizeof(*stream));
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    stream->dp = dp;
    struct sl_buf sql;
    sl_buf_init(&sql, dp->env);
    silt_status status = open_scan(dp, plan, true, &stream->scan, &sql, err);
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql), .streaming = true, .in_utc = true};
        status = sl_duck_reader_open(dp, call, &run, &stream->reader, err);
    }
    sl_buf_release(&sql);
    if (status != SILT_OK) {
        stream_close(stream);
        return status;
    }
    return sl_arrow_stream_new(dp->env, &source, stream, out, err);
}
