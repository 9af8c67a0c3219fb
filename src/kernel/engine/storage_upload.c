/*
 * The dispatch to a store's uploads: files that are written while their bytes come into being. As in storage.c, what a slot returns is
 * judged, and an error gets its context here.
 *
 * An upload has one owner; the store may be used from any thread.
 */
#include "kernel/engine/storage_int.h"

#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"

struct silt_upload {
    silt_storage *storage; /* a reference */
    void *impl;            /* the store's */
    char *path;            /* sl_strdup_len */
    size_t unit;
    bool failed;
};

static void free_upload(silt_upload *upload)
{
    const silt_env *env = upload->storage->env;
    silt_storage_unref(upload->storage);
    sl_strfree(env, upload->path);
    sl_release(env, upload, sizeof(*upload));
}

static bool has_uploads(const silt_storage_vtable *slots)
{
    return slots->upload_begin != NULL && slots->upload_append != NULL && slots->upload_finish != NULL &&
           slots->upload_abort != NULL;
}

static silt_status enter(silt_upload *upload, const silt_call *call, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    const silt_storage *storage = upload->storage;
    silt_status status = storage->slots.upload_begin(storage->impl, call, upload->path, &upload->impl, &upload->unit,
                                                     &found);
    if (status == SILT_OK && (upload->impl == NULL || upload->unit == 0)) {
        status = sl_storage_breach(storage, "upload_begin gave no upload", &found);
    }
    return sl_storage_finish(status, "uploading", upload->path, &found, err);
}

silt_status silt_storage_upload_begin(silt_storage *storage, const silt_call *call, const char *path, silt_upload **out,
                                      silt_error *err)
{
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "upload_begin needs an out parameter");
    }
    *out = NULL;
    SL_TRY(sl_storage_begin(storage, call, path, err));
    if (!has_uploads(&storage->slots)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "store %s cannot write a file in parts", storage->slots.name);
    }
    silt_upload *upload = sl_alloc_zero(storage->env, sizeof(*upload));
    if (upload == NULL) {
        return sl_fail_nomem(err);
    }
    upload->storage = silt_storage_ref(storage);
    upload->path = sl_strdup_len(storage->env, path, strlen(path));
    const silt_status status = upload->path != NULL ? enter(upload, call, err) : sl_fail_nomem(err);
    if (status != SILT_OK) {
        free_upload(upload);
        return status;
    }
    *out = upload;
    return SILT_OK;
}

size_t silt_upload_unit(const silt_upload *upload)
{
    return upload->unit;
}

const char *silt_upload_path(const silt_upload *upload)
{
    return upload->path;
}

silt_status silt_upload_append(silt_upload *upload, const silt_call *call, const void *data, size_t data_len,
                               silt_error *err)
{
    if (upload->failed || data == NULL || data_len == 0 || data_len % upload->unit != 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "an upload takes multiples of %zu bytes, and none after a failure",
                       upload->unit);
    }
    const silt_storage *storage = upload->storage;
    silt_error found = SILT_ERROR_INIT;
    size_t unit = upload->unit;
    silt_status status = sl_storage_begin(storage, call, upload->path, err);
    if (status == SILT_OK) {
        status = storage->slots.upload_append(storage->impl, call, upload->impl, data, data_len, &unit, &found);
        if (status == SILT_OK && (unit < upload->unit || unit % upload->unit != 0)) {
            status = sl_storage_breach(storage, "upload_append gave no multiple of the unit", &found);
        }
        status = sl_storage_finish(status, "uploading", upload->path, &found, err);
    }
    upload->failed = status != SILT_OK;
    upload->unit = status == SILT_OK ? unit : upload->unit;
    return status;
}

silt_status silt_upload_finish(silt_upload *upload, const silt_call *call, const void *data, size_t data_len,
                               silt_error *err)
{
    const silt_storage *storage = upload->storage;
    silt_status status = upload->failed || (data == NULL && data_len > 0)
                             ? sl_fail(err, SILT_EINVALID, NULL, "an upload that failed cannot be finished")
                             : sl_storage_begin(storage, call, upload->path, err);
    if (status != SILT_OK) {
        silt_upload_abort(upload);
        return status;
    }
    silt_error found = SILT_ERROR_INIT;
    status = storage->slots.upload_finish(storage->impl, call, upload->impl, data, data_len, &found);
    status = sl_storage_finish(status, "uploading", upload->path, &found, err);
    free_upload(upload);
    return status;
}

void silt_upload_abort(silt_upload *upload)
{
    if (upload != NULL) {
        upload->storage->slots.upload_abort(upload->storage->impl, upload->impl);
        free_upload(upload);
    }
}
