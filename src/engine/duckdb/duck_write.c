/*
 * Writing: rows of a query or of a stream to Parquet files of a table. One design for both: a query is copied into a staging
 * folder, its files are measured, and only then moved to their final names.
 *
 * The staging folder is hidden inside the table's root where the store has local paths, so that moving is a rename, else in the
 * temporary folder. It is removed in every case. A write that fails after files have got their names removes those as well.
 */
#include "duck_write.h"

#include <limits.h>

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "base/uuid.h"

#define NULL_PARTITION "__HIVE_DEFAULT_PARTITION__"

static silt_status check_request(const silt_parquet_write *request, silt_error *err)
{
    if (request->size < sizeof(*request) || request->storage == NULL || request->dir == NULL ||
        request->schema == NULL || request->on_file == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a request to write needs size, storage, dir, schema and on_file");
    }
    if (request->n_partition_columns > 0 && request->n_partition_columns >= request->schema->root.n_fields) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
                       "a table cannot be partitioned by all of its columns");
    }
    return SILT_OK;
}

static silt_status find_partition_columns(struct sl_duck_writing *w, silt_error *err)
{
    const silt_parquet_write *request = w->request;
    w->partition_index = sl_arena_alloc_array(&w->arena, request->n_partition_columns, sizeof(*w->partition_index));
    w->is_partition = sl_arena_alloc_array(&w->arena, request->schema->root.n_fields, sizeof(*w->is_partition));
    if (w->partition_index == NULL || w->is_partition == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < request->n_partition_columns; i++) {
        size_t index = 0;
        const struct silt_field *field = sl_type_find(&request->schema->root,
                                                      sl_str_from(request->partition_columns[i]), &index);
        if (field == NULL || sl_type_is_nested(field->type) || field->type->kind == SILT_TYPE_VOID ||
            w->is_partition[index]) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_INVALID_PARTITION_COLUMN",
                           "partition column %s must be a flat column of the schema", request->partition_columns[i]);
        }
        w->partition_index[i] = index;
        w->is_partition[index] = true;
    }
    return SILT_OK;
}

static silt_status open_stage(struct sl_duck_writing *w, silt_error *err)
{
    struct sl_dataplane *dp = w->conn.dp;
    char *local = sl_arena_alloc(&w->arena, PATH_MAX);
    if (local == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_status found = dp->host->local_path(w->request->storage, w->request->dir, local, PATH_MAX, err);
    if (found == SILT_EUNSUPPORTED) {
        silt_error_reset(err);
        return sl_duck_make_dir(dp, &w->arena, dp->temp_dir, "silt-write-", &w->stage, err);
    }
    SL_TRY(found);
    SL_TRY(sl_duck_make_dirs(dp, local, err));
    return sl_duck_make_dir(dp, &w->arena, local, ".silt-", &w->stage, err);
}

static silt_status begin(struct sl_dataplane *dp, const silt_call *call, const silt_parquet_write *request,
                         struct sl_duck_writing *w, silt_error *err)
{
    *w = (struct sl_duck_writing){.call = call, .request = request};
    sl_arena_init(&w->arena, dp->env);
    sl_vec_init(&w->files, dp->env, sizeof(struct sl_duck_staged));
    sl_vec_init(&w->adopted, dp->env, sizeof(const char *));
    SL_TRY(check_request(request, err));
    SL_TRY(find_partition_columns(w, err));
    SL_TRY(sl_duck_connect(dp, &w->conn, err));
    return open_stage(w, err);
}

static void end(struct sl_dataplane *dp, struct sl_duck_writing *w)
{
    sl_duck_remove_dir(dp, w->stage);
    sl_duck_disconnect(&w->conn);
    sl_vec_release(&w->files);
    sl_vec_release(&w->adopted);
    sl_arena_release(&w->arena);
}

/* ---- final names ---- */

static void put_partition_dirs(const struct sl_duck_writing *w, const struct sl_duck_staged *file, struct sl_buf *out)
{
    for (size_t i = 0; i < w->request->n_partition_columns; i++) {
        sl_uri_hive_escape(out, w->request->schema->root.fields[w->partition_index[i]].name);
        sl_buf_put_char(out, '=');
        if (file->partition_values[i].is_null) {
            sl_buf_put_c(out, NULL_PARTITION);
        } else {
            sl_uri_hive_escape(out, file->partition_texts[i]);
        }
        sl_buf_put_char(out, '/');
    }
}

/* A prefix that ends in '/' is a folder above those of the partition; another one begins the file's own name. */
static silt_status put_name(struct sl_duck_writing *w, const struct sl_duck_staged *file, size_t number,
                            struct sl_buf *out, silt_error *err)
{
    const struct sl_duck_codec *codec = NULL;
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_duck_find_codec(w->request->codec, &codec, err));
    SL_TRY(sl_uuid_make(w->conn.dp->env, uuid, err));
    const struct sl_str prefix = sl_str_from(w->request->path_prefix != NULL ? w->request->path_prefix : "");
    const bool folder = sl_str_ends_with(prefix, SL_STR("/"));
    sl_buf_put_str(out, folder ? prefix : SL_STR(""));
    put_partition_dirs(w, file, out);
    sl_buf_put_str(out, folder ? SL_STR("") : prefix);
    sl_buf_printf(out, "part-%05zu-%s-c000%s.parquet", number, uuid, codec->suffix);
    return sl_buf_status(out, err);
}

/* ---- publishing ---- */

static silt_status tell(struct sl_duck_writing *w, const struct sl_duck_staged *file, const char *relative,
                        const char *path, silt_error *err)
{
    silt_written_file written = {.size = sizeof(written),
                                 .path = relative,
                                 .num_rows = file->num_rows,
                                 .partition_values = file->partition_values,
                                 .n_partition_values = w->request->n_partition_columns,
                                 .stats = file->stats,
                                 .n_stats = file->n_stats};
    SL_TRY(w->conn.dp->host->stat(w->request->storage, w->call, path, &written.size_bytes, &written.modified_ms, err));
    if (written.size_bytes != file->size_bytes) {
        return sl_fail(err, SILT_EIO, NULL, "file %s has %lld bytes, but %lld were written", relative,
                       (long long)written.size_bytes, (long long)file->size_bytes);
    }
    return w->request->on_file(w->request->on_file_ctx, &written) ? SILT_OK : sl_fail_nomem(err);
}

static silt_status publish_file(struct sl_duck_writing *w, size_t number, silt_error *err)
{
    const struct sl_duck_staged *file = sl_vec_at(&w->files, number);
    struct sl_buf name;
    sl_buf_init(&name, w->conn.dp->env);
    silt_status status = put_name(w, file, number, &name, err);
    struct sl_str path = {NULL, 0};
    if (status == SILT_OK) {
        path = sl_uri_join(&w->arena, sl_str_from(w->request->dir), sl_buf_view(&name));
        const char **slot = path.ptr != NULL ? sl_vec_push(&w->adopted) : NULL;
        if (slot == NULL) {
            status = sl_fail_nomem(err);
        } else {
            *slot = path.ptr; /* noted before it is there: removing what is not there does no harm */
        }
    }
    if (status == SILT_OK) {
        status = w->conn.dp->host->adopt(w->request->storage, w->call, file->local, path.ptr, err);
    }
    if (status == SILT_OK) {
        status = tell(w, file, sl_buf_cstr(&name), path.ptr, err);
    }
    sl_buf_release(&name);
    return status;
}

/* Without the call: what is to be cleaned up is cleaned up after a cancellation, too. */
static void remove_adopted(struct sl_duck_writing *w)
{
    for (size_t i = 0; i < w->adopted.len; i++) {
        const char *const *path = sl_vec_at(&w->adopted, i);
        silt_error err = SILT_ERROR_INIT;
        if (w->conn.dp->host->remove(w->request->storage, NULL, *path, &err) != SILT_OK) {
            sl_log(w->conn.dp->env, SILT_LOG_WARN, "a file of a failed write stays behind: %s", err.message);
        }
    }
}

static silt_status write_source(struct sl_duck_writing *w, const struct sl_duck_write_source *source, silt_error *err)
{
    SL_TRY(sl_duck_copy(w, source, err));
    SL_TRY(sl_duck_split(w, err));
    SL_TRY(sl_duck_collect_stats(w, err));
    for (size_t i = 0; i < w->files.len; i++) {
        SL_TRY(sl_call_check(w->conn.dp->env, w->call, err));
        SL_TRY(publish_file(w, i, err));
    }
    return SILT_OK;
}

/* ---- the two ways in ---- */

silt_status sl_duck_write_query(struct sl_dataplane *dp, const silt_call *call, struct sl_str sql,
                                const struct sl_dataplane_params *params, const silt_parquet_write *request,
                                silt_error *err)
{
    struct sl_duck_writing w;
    silt_status status = begin(dp, call, request, &w, err);
    if (status == SILT_OK) {
        const struct sl_duck_write_source source = {.sql = sql, .params = params};
        status = write_source(&w, &source, err);
    }
    if (status != SILT_OK) {
        remove_adopted(&w);
    }
    end(dp, &w);
    return status;
}

silt_status sl_duck_write(void *impl, const silt_call *call, const silt_parquet_write *request,
                          struct ArrowArrayStream *rows, silt_error *err)
{
    struct sl_dataplane *dp = impl;
    struct sl_duck_writing w;
    struct sl_duck_rows view = {0};
    silt_status status = begin(dp, call, request, &w, err);
    if (status == SILT_OK) {
        status = sl_duck_rows_open(&w.conn, call, rows, &view, err);
    } else {
        sl_arrow_stream_release(rows);
    }
    if (status == SILT_OK) {
        struct sl_buf sql;
        sl_buf_init(&sql, dp->env);
        sl_buf_put_c(&sql, "SELECT * FROM ");
        sl_buf_put_str(&sql, sl_buf_view(&view.table));
        status = sl_buf_status(&sql, err);
        if (status == SILT_OK) {
            const struct sl_duck_write_source source = {.sql = sl_buf_view(&sql)};
            status = write_source(&w, &source, err);
        }
        sl_buf_release(&sql);
        status = sl_duck_rows_error(&view, status, err);
    }
    if (status != SILT_OK) {
        remove_adopted(&w);
    }
    sl_duck_rows_close(&view);
    end(dp, &w);
    return status;
}
