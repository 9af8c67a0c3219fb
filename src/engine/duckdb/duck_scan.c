/*
 * Scans: a plan becomes the text of one query over read_parquet, which is a scan that DuckDB optimises as a whole. Files are checked and
 * grouped (duck_group.c), what depends on files is registered (duck_meta.c, duck_live.c), and a SELECT a group is written
 * (duck_branch.c). A filter goes around all of it; DuckDB pushes it down.
 *
 * PROTOCOL: Partition Value Serialization: values of partition columns come from the log, never from the files or their paths.
 */
#include "duck_scan.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "duck_aside.h"
#include "duck_fetch.h"
#include "expr/expr.h"

/* What the text of a scan refers to. */
struct sl_dataplane_scan {
    struct sl_duck_files files;
    struct sl_duck_parts *parts;
    struct sl_duck_live *live;
    struct sl_duck_aside *aside;
};

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

/* For every list or map around another DuckDB takes twice the time: 20 of them cost a quarter of a second a scan, 24 six. */
#define MAX_LISTS 20

/* The names of a struct's members are part of the query's text. Recursion is bounded by SL_SCHEMA_MAX_DEPTH. */
static silt_status check_members(const struct silt_field *column, const struct silt_type *type, silt_error *err)
{
    if (type->kind == SILT_TYPE_STRUCT && type->n_fields == 0) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "column %s has a struct without members, which is not supported",
                       column->name.ptr);
    }
    for (size_t i = 0; type->kind == SILT_TYPE_STRUCT && i < type->n_fields; i++) {
        if (type->fields[i].name.len == 0) {
            return sl_fail(err, SILT_EUNSUPPORTED, NULL, "column %s has a member without name, which is not supported",
                           column->name.ptr);
        }
        SL_TRY(check_members(column, type->fields[i].type, err));
    }
    if (type->kind == SILT_TYPE_MAP) {
        SL_TRY(check_members(column, type->key, err));
    }
    const bool is_list = type->kind == SILT_TYPE_ARRAY || type->kind == SILT_TYPE_MAP;
    return is_list ? check_members(column, type->element, err) : SILT_OK;
}

/* Lists that the query does not touch cost nothing. */
static silt_status check_columns(const silt_scan_plan *plan, silt_error *err)
{
    for (size_t i = 0; i < plan->logical->root.n_fields; i++) {
        const struct silt_field *field = &plan->logical->root.fields[i];
        if (field->name.len == 0) {
            return sl_fail(err, SILT_EUNSUPPORTED, NULL, "column %zu of the table has no name, which is not supported",
                           i + 1);
        }
        SL_TRY(check_members(field, field->type, err));
        if ((plan->may_read == NULL || plan->may_read[i]) && sl_type_list_depth(field->type) > MAX_LISTS) {
            return sl_fail(err, SILT_ELIMIT, NULL,
                           "column %s has more than %d lists or maps within each other, which is not supported",
                           field->name.ptr, MAX_LISTS);
        }
    }
    return SILT_OK;
}

static silt_status check_plan(const silt_scan_plan *plan, silt_error *err)
{
    const size_t n = plan->logical->root.n_fields;
    if (n != plan->physical->root.n_fields) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan's logical and physical schema differ in shape");
    }
    size_t n_metadata = 0;
    for (size_t i = 0; i < n; i++) {
        const silt_plan_column column = plan->columns[i];
        n_metadata += column.source == SILT_FROM_METADATA ? 1 : 0;
        if (column.source == SILT_FROM_PARTITION &&
            (column.index < 0 || (size_t)column.index >= plan->n_partition_columns)) {
            return sl_fail(err, SILT_EINVALID, NULL, "a scan's partition index is out of range");
        }
        if (column.source == SILT_FROM_METADATA && plan->logical->root.fields[i].type->kind != SILT_TYPE_STRUCT) {
            return sl_fail(err, SILT_EINVALID, NULL, "_metadata of a scan must be a struct");
        }
    }
    return n_metadata <= 1 ? SILT_OK : sl_fail(err, SILT_EINVALID, NULL, "a scan has two columns of _metadata");
}

static silt_status open_files(struct sl_scan_work *work, silt_error *err)
{
    const silt_scan_plan *plan = &work->plan;
    struct sl_duck_source *sources = sl_arena_alloc_array(&work->arena, plan->n_files, sizeof(*sources));
    if (sources == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        sources[i] = (struct sl_duck_source){.path = plan->files[i].path,
                                             .local_path = plan->files[i].local_path,
                                             .size_bytes = plan->files[i].size_bytes};
    }
    return sl_duck_files_open(work->conn->dp, work->call, plan->storage, sources, plan->n_files, work->files, err);
}

/* Whether the query may read a stored column. Those behind row ids, which come after the plan's, it may. */
static bool may_read(const silt_scan_plan *plan, size_t stored)
{
    size_t at = 0;
    for (size_t i = 0; i < plan->logical->root.n_fields && plan->may_read != NULL; i++) {
        const silt_plan_source source = plan->columns[i].source;
        if (source != SILT_FROM_PARTITION && source != SILT_FROM_METADATA && at++ == stored) {
            return plan->may_read[i];
        }
    }
    return true;
}

/*
 * Begins to bring the columns that are in files. What is read aside is read by queries of its own, which nobody makes wait: then all of it
 * must be there.
 */
static silt_status begin_fetch(struct sl_scan_work *work, silt_error *err)
{
    struct sl_duck_fetch *fetch = work->files->fetch;
    if (fetch == NULL) {
        return SILT_OK;
    }
    struct sl_str *names = sl_arena_alloc_array(&work->arena, work->n_stored, sizeof(*names));
    int64_t *ids = sl_arena_alloc_array(&work->arena, work->n_stored, sizeof(*ids));
    if (names == NULL || ids == NULL) {
        return sl_fail_nomem(err);
    }
    bool aside = false;
    size_t n = 0;
    for (size_t i = 0; i < work->n_stored; i++) {
        for (size_t k = 0; k < work->n_groups; k++) {
            aside = aside || work->groups[k].readings[i].aside;
        }
        if (may_read(&work->plan, i)) {
            names[n] = work->stored[i]->name;
            ids[n++] = sl_footer_wanted_id(work->stored[i]);
        }
    }
    const struct sl_duck_wanted wanted = {.names = names, .ids = ids, .n = n};
    SL_TRY(sl_duck_fetch_begin(fetch, work->files, &wanted, err));
    return aside ? sl_duck_fetch_wait(fetch, work->call, err) : SILT_OK;
}

static silt_status put_plan(struct sl_scan_work *work, struct sl_buf *sql, silt_error *err)
{
    const silt_scan_plan *plan = &work->plan;
    if (plan->filter != NULL) {
        sl_buf_put_c(sql, "SELECT * FROM (");
    }
    if (plan->n_files == 0) {
        SL_TRY(put_empty(sql, plan->logical, err));
    } else {
        SL_TRY(sl_scan_put_branches(work, sql, err));
    }
    if (plan->filter != NULL) {
        sl_buf_put_c(sql, ") WHERE ");
        SL_TRY(sl_expr_print_duckdb(sql, plan->filter->root, err));
    }
    return sl_buf_status(sql, err);
}

/* All that comes before the text. What is made on the way is in `work` also after a failure. */
static silt_status prepare(struct sl_scan_work *work, silt_error *err)
{
    if (work->plan.n_files == 0) {
        return SILT_OK;
    }
    SL_TRY(open_files(work, err));
    SL_TRY(sl_scan_find_stored(work, err));
    SL_TRY(sl_scan_group_files(work, err));
    SL_TRY(begin_fetch(work, err));
    SL_TRY(sl_scan_make_parts(work, err));
    return sl_duck_live_new(work->conn->dp, work->call, &work->plan, work->files, &work->live, err);
}

static silt_status open_scan(struct sl_dataplane *dp, const silt_call *call, const silt_scan_plan *plan,
                             struct sl_dataplane_scan **out, struct sl_buf *sql, silt_error *err)
{
    *out = NULL;
    SL_TRY(check_plan(plan, err));
    SL_TRY(check_columns(plan, err));
    struct sl_duck_conn conn = {0};
    struct sl_dataplane_scan *scan = sl_alloc_zero(dp->env, sizeof(*scan));
    if (scan == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_scan_work work = {.conn = &conn, .call = call, .plan = *plan, .files = &scan->files};
    sl_arena_init(&work.arena, dp->env);
    silt_status status = sl_duck_connect(dp, &conn, err);
    if (status == SILT_OK) {
        status = prepare(&work, err);
    }
    scan->parts = work.parts;
    scan->live = work.live;
    if (status == SILT_OK) {
        status = put_plan(&work, sql, err);
    }
    scan->aside = work.aside;
    sl_duck_disconnect(&conn);
    sl_arena_release(&work.arena);
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
    return open_scan(dp, NULL, plan, out, sql, err);
}

void sl_duck_scan_close(struct sl_dataplane *dp, struct sl_dataplane_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    sl_aside_drop(scan->aside);
    sl_duck_live_drop(scan->live);
    sl_duck_parts_drop(scan->parts);
    sl_duck_files_close(&scan->files);
    sl_release(dp->env, scan, sizeof(*scan));
}

/* ---- the scan as a stream ---- */

struct scan_stream {
    struct sl_dataplane *dp;
    struct sl_dataplane_scan *scan;
    struct sl_duck_reader reader;
    silt_schema *with_void; /* of the rows, if a type in it is void; else NULL */
};

static silt_status stream_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct scan_stream *stream = ctx;
    SL_TRY(sl_duck_reader_schema(&stream->reader, out, err));
    if (stream->with_void != NULL) {
        sl_duck_void_schema(&stream->with_void->root, out);
    }
    return SILT_OK;
}

static silt_status stream_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct scan_stream *stream = ctx;
    SL_TRY(sl_duck_reader_next(&stream->reader, batch, err));
    if (stream->with_void != NULL && batch->release != NULL) {
        sl_duck_void_array(&stream->with_void->root, batch);
    }
    return SILT_OK;
}

static void stream_close(void *ctx)
{
    struct scan_stream *stream = ctx;
    const silt_env *env = stream->dp->env;
    sl_duck_reader_close(&stream->reader);
    sl_duck_scan_close(stream->dp, stream->scan);
    silt_schema_unref(stream->with_void);
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
    if (sl_type_holds(&plan->logical->root, SILT_TYPE_VOID)) {
        stream->with_void = silt_schema_ref(plan->logical);
    }
    struct sl_buf sql;
    sl_buf_init(&sql, dp->env);
    silt_status status = open_scan(dp, call, plan, &stream->scan, &sql, err);
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
