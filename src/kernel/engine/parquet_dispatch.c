/*
 * Dispatch to the Parquet handler: arguments are checked before a slot is entered, what it made is checked after, a
 * failure is told with the handler's name. Called by the kernel only through these functions. Any thread.
 */
#include "kernel/engine/engine.h"
#include "kernel/engine/engine_int.h"

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"

static const char kind[] = "parquet handler";

silt_status sl_parquet_read(silt_engine *engine, const silt_call *call, const silt_parquet_read *request,
                            struct ArrowArrayStream *out, silt_error *err)
{
    *out = (struct ArrowArrayStream){0};
    if (!engine->has_parquet) {
        return sl_handler_absent(kind, err);
    }
    if (request->schema == NULL || request->storage == NULL || (request->n_files > 0 && request->files == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a read of parquet files needs a schema, a store and files");
    }
    if (request->n_rows > 0 && (request->n_files != 1 || request->rows == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "rows can be asked for by their places in one file only");
    }
    if (request->n_ranges > 0 && (request->n_files != 1 || request->ranges == NULL || request->n_rows > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "ranges of rows can be asked for in one file only, without places");
    }
    if (request->texts != NULL && (request->n_files != 1 || request->texts->judge == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "rows can be judged by their texts in one file only");
    }
    SL_TRY(sl_call_check(engine->env, call, err));
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = engine->parquet.read(engine->parquet_impl, call, request, out, &found);
    if (status != SILT_OK) {
        sl_arrow_stream_release(out);
        const char *doing = request->n_files == 1 ? request->files[0].path : "reading parquet files";
        return sl_handler_finish(status, kind, engine->parquet.name, doing, &found, err);
    }
    return sl_handler_check_stream(kind, engine->parquet.name, out, err);
}

silt_status sl_parquet_groups(silt_engine *engine, const silt_call *call, const silt_parquet_groups *request,
                              silt_error *err)
{
    if (!engine->has_parquet) {
        return sl_handler_absent(kind, err);
    }
    if (request->file == NULL || request->visit == NULL || (request->n_leaves > 0 && request->leaves == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "to tell of row groups a file, leaves and a visitor are needed");
    }
    if (engine->parquet.groups == NULL) {
        return SILT_OK;
    }
    SL_TRY(sl_call_check(engine->env, call, err));
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = engine->parquet.groups(engine->parquet_impl, call, request, &found);
    return sl_handler_finish(status, kind, engine->parquet.name, request->file->path, &found, err);
}

silt_status sl_parquet_bring(silt_engine *engine, const silt_call *call, const silt_parquet_bring *request,
                             silt_error *err)
{
    if (!engine->has_parquet || engine->parquet.bring == NULL || request->n_files == 0) {
        return SILT_OK;
    }
    if (request->storage == NULL || request->files == NULL || (request->n_columns > 0 && request->columns == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "to bring columns of files a store, files and columns are needed");
    }
    SL_TRY(sl_call_check(engine->env, call, err));
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = engine->parquet.bring(engine->parquet_impl, call, request, &found);
    return sl_handler_finish(status, kind, engine->parquet.name, request->files[0].path, &found, err);
}

silt_status sl_parquet_write(silt_engine *engine, const silt_call *call, const silt_parquet_write *request,
                             struct ArrowArrayStream *rows, silt_error *err)
{
    silt_status status = SILT_OK;
    if (!engine->has_parquet) {
        status = sl_handler_absent(kind, err);
    } else if (request->schema == NULL || request->storage == NULL || request->dir == NULL ||
               request->path_prefix == NULL || request->codec == NULL || request->on_file == NULL) {
        status = sl_fail(err, SILT_EINVALID, NULL, "a write of parquet files needs schema, store, folder and codec");
    } else {
        status = sl_call_check(engine->env, call, err);
    }
    if (status == SILT_OK) {
        silt_error found = SILT_ERROR_INIT;
        status = engine->parquet.write(engine->parquet_impl, call, request, rows, &found);
        status = sl_handler_finish(status, kind, engine->parquet.name, "writing parquet files", &found, err);
    }
    /* Consumed in every case, also by a handler that forgot to. */
    sl_arrow_stream_release(rows);
    return status;
}

static silt_status check_write_file(const silt_engine *engine, const silt_parquet_write_file *request, silt_error *err)
{
    if (!engine->has_parquet) {
        return sl_handler_absent(kind, err);
    }
    if (engine->parquet.write_file == NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "%s %s cannot write a file of a given name", kind,
                       engine->parquet.name);
    }
    if (request->storage == NULL || request->dir == NULL || request->path == NULL || request->codec == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a write of a parquet file needs store, folder, path and codec");
    }
    return SILT_OK;
}

silt_status sl_parquet_write_file(silt_engine *engine, const silt_call *call, silt_parquet_write_file *request,
                                  struct ArrowArrayStream *rows, silt_error *err)
{
    silt_status status = check_write_file(engine, request, err);
    if (status == SILT_OK) {
        status = sl_call_check(engine->env, call, err);
    }
    if (status == SILT_OK) {
        silt_error found = SILT_ERROR_INIT;
        request->size_bytes = -1;
        request->modified_ms = -1;
        status = engine->parquet.write_file(engine->parquet_impl, call, request, rows, &found);
        if (status == SILT_OK && request->size_bytes <= 0) {
            status = sl_fail(&found, SILT_EENGINE, NULL, "write_file did not tell the size of the file");
        }
        status = sl_handler_finish(status, kind, engine->parquet.name, request->path, &found, err);
    }
    /* Consumed in every case, also by a handler that forgot to. */
    sl_arrow_stream_release(rows);
    return status;
}

silt_status sl_parquet_scan(silt_engine *engine, const silt_call *call, const silt_scan_plan *plan,
                            struct ArrowArrayStream *out, silt_error *err)
{
    *out = (struct ArrowArrayStream){0};
    if (!engine->has_parquet) {
        return sl_handler_absent(kind, err);
    }
    if (engine->parquet.scan == NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "%s %s cannot run a whole scan", kind, engine->parquet.name);
    }
    SL_TRY(sl_call_check(engine->env, call, err));
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = engine->parquet.scan(engine->parquet_impl, call, plan, out, &found);
    if (status != SILT_OK) {
        sl_arrow_stream_release(out);
        return sl_handler_finish(status, kind, engine->parquet.name, "scanning the table", &found, err);
    }
    return sl_handler_check_stream(kind, engine->parquet.name, out, err);
}
