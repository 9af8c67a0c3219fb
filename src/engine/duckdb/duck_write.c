/*
 * Writing: rows of a query or of a stream to Parquet files of a table. One design for both: a query is copied into a staging
 * folder, its files are measured, and only then moved to their final names.
 *
 * The staging folder is hidden inside the table's root where the store has local paths, so that moving is a rename, else in the
 * temporary folder. It is removed in every case. A write that fails after files have got their names removes those as well.
 * Only one thread works on a write, but for the moving of its files (duck_publish.c).
 */
#include "duck_write.h"

#include <limits.h>

#include "base/arrow.h"
#include "base/error.h"

static silt_status check_request(const silt_parquet_write *request, silt_error *err)
{
    if (request->size < sizeof(*request) || request->storage == NULL || request->dir == NULL ||
        request->schema == NULL || request->on_file == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a request to write needs size, storage, dir, schema and on_file");
    }
    if (request->logical != NULL && request->logical->root.n_fields != request->schema->root.n_fields) {
        return sl_fail(err, SILT_EINVALID, NULL, "a request to write has two schemas of different shape");
    }
    if (request->n_partition_columns > 0 && request->n_partition_columns >= request->schema->root.n_fields) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
                       "a table cannot be partitioned by all of its columns");
    }
    return SILT_OK;
}

/* Physical names may differ in case alone. */
static const struct silt_field *find_exact(const struct silt_type *root, const char *name, size_t *index)
{
    for (*index = 0; *index < root->n_fields; (*index)++) {
        if (sl_str_eq_c(root->fields[*index].name, name)) {
            return &root->fields[*index];
        }
    }
    return sl_type_find(root, sl_str_from(name), index);
}

static silt_status find_partition_columns(struct sl_duck_writing *w, silt_error *err)
{
    const silt_parquet_write *request = w->request;
    w->partition_index = sl_arena_alloc_array(&w->arena, request->n_partition_columns, sizeof(*w->partition_index));
    w->is_partition = sl_arena_alloc_array(&w->arena, request->schema->root.n_fields, sizeof(*w->is_partition));
    w->is_absent = sl_arena_alloc_array(&w->arena, request->schema->root.n_fields, sizeof(*w->is_absent));
    if (w->partition_index == NULL || w->is_partition == NULL || w->is_absent == NULL) {
        return sl_fail_nomem(err);
    }
    w->logical = request->logical != NULL ? request->logical : request->schema;
    for (size_t i = 0; i < request->n_partition_columns; i++) {
        size_t index = 0;
        const struct silt_field *field = find_exact(&request->schema->root, request->partition_columns[i], &index);
        if (field == NULL || sl_type_is_nested(field->type) || field->type->kind == SILT_TYPE_VOID ||
            field->type->kind == SILT_TYPE_VARIANT || w->is_partition[index]) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_INVALID_PARTITION_COLUMN",
                           "partition column %s must be a flat column of the schema", request->partition_columns[i]);
        }
        w->partition_index[i] = index;
        w->is_partition[index] = true;
        w->is_absent[index] = !request->keep_partition_columns;
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
        w->far = true;
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
    SL_TRY(check_request(request, err));
    SL_TRY(find_partition_columns(w, err));
    SL_TRY(sl_duck_connect(dp, &w->conn, err));
    sl_duck_texts_open(dp, &w->texts);
    return open_stage(w, err);
}

static void end(struct sl_dataplane *dp, struct sl_duck_writing *w)
{
    sl_duck_send_close(w);
    sl_duck_remove_dir(dp, w->stage);
    sl_duck_disconnect(&w->conn);
    sl_duck_texts_close(&w->texts);
    sl_vec_release(&w->files);
    sl_arena_release(&w->arena);
}

static silt_status write_source(struct sl_duck_writing *w, const struct sl_duck_write_source *source, silt_error *err)
{
    SL_TRY(sl_duck_copy(w, source, err));
    SL_TRY(sl_duck_split(w, err));
    SL_TRY(sl_duck_collect_stats(w, err));
    return sl_duck_publish(w, err);
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
        sl_duck_unpublish(&w);
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
            const struct sl_duck_write_source source = {.sql = sl_buf_view(&sql), .serial = true};
            status = write_source(&w, &source, err);
        }
        sl_buf_release(&sql);
        status = sl_duck_rows_error(&view, status, err);
    }
    if (status != SILT_OK) {
        sl_duck_unpublish(&w);
    }
    sl_duck_rows_close(&view);
    end(dp, &w);
    return status;
}
