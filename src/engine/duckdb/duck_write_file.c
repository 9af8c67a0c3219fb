/*
 * The Parquet handler's write_file: the rows of a stream as one file under a name that the caller chose, for checkpoints.
 *
 * Written into a hidden folder, page by page (duck_write_pages.c) or by one COPY, then moved to the final name, which the store does
 * atomically. The columns come in the types that the file is to have, so that nothing is cast, and no statistics are collected. One owner:
 * the write.
 */
#include "duck_write.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/arrow.h"
#include "base/error.h"

#define DEFAULT_ROW_GROUP_ROWS 122880

struct write_file {
    struct sl_duck_conn conn;
    const silt_call *call;
    silt_parquet_write_file *request;
    struct sl_arena arena;
    char *stage;       /* the hidden folder */
    const char *local; /* the file in it */
};

/* In the table's root where the store has local paths, so that moving is a rename. */
static silt_status open_stage(struct write_file *w, silt_error *err)
{
    struct sl_dataplane *dp = w->conn.dp;
    char *local = sl_arena_alloc(&w->arena, PATH_MAX);
    if (local == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_status found = dp->host->local_path(w->request->storage, w->request->dir, local, PATH_MAX, err);
    if (found == SILT_EUNSUPPORTED) {
        silt_error_reset(err);
        SL_TRY(sl_duck_make_dir(dp, &w->arena, dp->temp_dir, "silt-write-", &w->stage, err));
    } else {
        SL_TRY(found);
        SL_TRY(sl_duck_make_dirs(dp, local, err));
        SL_TRY(sl_duck_make_dir(dp, &w->arena, local, ".silt-", &w->stage, err));
    }
    w->local = sl_arena_printf(&w->arena, "%s/one.parquet", w->stage);
    return w->local != NULL ? SILT_OK : sl_fail_nomem(err);
}

static int64_t group_rows(const struct write_file *w)
{
    return w->request->row_group_rows > 0 ? w->request->row_group_rows : DEFAULT_ROW_GROUP_ROWS;
}

/* Level 1: on checkpoints a higher one costs time and saves nothing. Without filters, which no reader of checkpoints asks. */
static silt_status put_copy(const struct write_file *w, struct sl_str table, struct sl_buf *sql, silt_error *err)
{
    const struct sl_duck_codec *codec = NULL;
    SL_TRY(sl_duck_find_codec(w->request->codec, &codec, err));
    sl_buf_put_c(sql, "COPY (SELECT * FROM ");
    sl_buf_put_str(sql, table);
    sl_buf_put_c(sql, ") TO ");
    sl_duck_put_text(sql, sl_str_from(w->local));
    sl_buf_printf(sql,
                  " (FORMAT parquet, PARQUET_VERSION v1, WRITE_BLOOM_FILTER false, COMPRESSION %s, ROW_GROUP_SIZE %lld",
                  codec->option, (long long)group_rows(w));
    sl_buf_put_c(sql, sl_str_eq_c(sl_str_from(codec->option), "zstd") ? ", COMPRESSION_LEVEL 1)" : ")");
    return sl_buf_status(sql, err);
}

static silt_status copy_rows(struct write_file *w, struct sl_str table, silt_error *err)
{
    struct sl_buf sql;
    duckdb_result result = {0};
    sl_buf_init(&sql, w->conn.dp->env);
    silt_status status = put_copy(w, table, &sql, err);
    if (status == SILT_OK) {
        status = sl_duck_exec(&w->conn, w->call, &sql, &result, err);
    }
    duckdb_destroy_result(&result);
    sl_buf_release(&sql);
    return status;
}

/* The move is the last step that can fail: who is told of a failure may take it that there is no file. */
static silt_status publish(struct write_file *w, silt_error *err)
{
    silt_parquet_write_file *request = w->request;
    struct stat found = {0};
    if (stat(w->local, &found) != 0) {
        return sl_fail_errno(err, errno, "look at", w->local);
    }
    SL_TRY(w->conn.dp->host->adopt(request->storage, w->call, w->local, request->path, err));
    request->size_bytes = (int64_t)found.st_size;
    request->modified_ms = (int64_t)found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1000000;
    return SILT_OK;
}

/* *done false: COPY has to. */
static silt_status write_pages(const struct write_file *w, struct ArrowArrayStream *rows, bool *done, silt_error *err)
{
    const struct sl_duck_codec *codec = NULL;
    *done = false;
    SL_TRY(sl_duck_find_codec(w->request->codec, &codec, err));
    if (!sl_str_eq_c(sl_str_from(codec->option), "zstd")) {
        return SILT_OK;
    }
    const struct sl_duck_pages request = {.call = w->call, .local = w->local, .group_rows = group_rows(w)};
    return sl_duck_pages_write(w->conn.dp->env, &request, rows, done, err);
}

static silt_status write_rows(struct write_file *w, struct ArrowArrayStream *rows, silt_error *err)
{
    struct sl_duck_rows view = {0};
    bool done = false;
    silt_status status = write_pages(w, rows, &done, err);
    if (status != SILT_OK || done) {
        sl_arrow_stream_release(rows);
        return status == SILT_OK ? publish(w, err) : status;
    }
    status = sl_duck_rows_open(&w->conn, w->call, rows, &view, err);
    if (status == SILT_OK) {
        status = copy_rows(w, sl_buf_view(&view.table), err);
        status = sl_duck_rows_error(&view, status, err);
    }
    sl_duck_rows_close(&view);
    return status == SILT_OK ? publish(w, err) : status;
}

silt_status sl_duck_write_file(void *impl, const silt_call *call, silt_parquet_write_file *request,
                               struct ArrowArrayStream *rows, silt_error *err)
{
    struct sl_dataplane *dp = impl;
    struct write_file w = {.call = call, .request = request};
    sl_arena_init(&w.arena, dp->env);
    silt_status status = request->size < sizeof(*request)
                             ? sl_fail(err, SILT_EINVALID, NULL, "a request to write a file is of another size")
                             : sl_duck_connect(dp, &w.conn, err);
    if (status == SILT_OK) {
        status = open_stage(&w, err);
    }
    if (status == SILT_OK) {
        status = write_rows(&w, rows, err);
    } else {
        sl_arrow_stream_release(rows);
    }
    sl_duck_remove_dir(dp, w.stage);
    sl_duck_disconnect(&w.conn);
    sl_arena_release(&w.arena);
    return status;
}
