/*
 * Taking over a finished local file: it is sent as an upload. Any thread.
 */
#include "base/error.h"
#include "storage/remote/adopt.h"
#include "storage/remote/s3/s3_int.h"

silt_status sl_s3_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct sl_s3_store *store = impl;
    static const struct sl_adopt_slots slots = {
        .append = sl_s3_upload_append, .finish = sl_s3_upload_finish, .abort = sl_s3_upload_abort};
    struct sl_adopt adopt = {.env = store->env, .slots = &slots, .impl = impl, .call = call, .local = local};
    SL_TRY(sl_adopt_open(&adopt, err));
    const silt_status status = sl_s3_upload_new(store, path, adopt.size, &adopt.upload, &adopt.unit, err);
    return sl_adopt_send(&adopt, status, err);
}
