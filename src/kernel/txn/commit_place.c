/*
 * Giving away versions; see commit_place.h. Here the log's folder, and the choice; a catalog's part is in catalog_place.c. Called by the
 * commit loop, on the caller's thread. PROTOCOL.md "Creation of New Log Entries".
 */
#include "kernel/txn/commit_place.h"

#include "base/error.h"
#include "base/uri.h"
#include "kernel/engine/storage_wrap.h"
#include "kernel/log/commit.h"

/* Of the published file of a version. */
static silt_status commit_path(const struct sl_commit_place *place, int64_t version, struct sl_arena *scratch,
                               const char **out, silt_error *err)
{
    sl_arena_init(scratch, place->env);
    *out = sl_log_commit_path(scratch, place->root, version).ptr;
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

silt_status sl_place_put(struct sl_commit_place *place, const silt_call *call, int64_t version, struct sl_str bytes,
                         silt_put_outcome *outcome, silt_error *err)
{
    struct sl_arena scratch;
    const char *path = NULL;
    *outcome = SILT_PUT_AMBIGUOUS;
    if (place->committer != NULL) {
        return sl_catalog_put(place, call, version, bytes, outcome, err);
    }
    silt_status status = commit_path(place, version, &scratch, &path, err);
    if (status == SILT_OK) {
        status = place->rests
                     ? silt_storage_put_beside(place->storage, call, path, bytes.ptr, bytes.len, outcome, err)
                     : silt_storage_put_if_absent(place->storage, call, path, bytes.ptr, bytes.len, outcome, err);
    }
    sl_arena_release(&scratch);
    return status;
}

static silt_status read_path(const struct sl_commit_place *place, const silt_call *call, const char *path,
                             struct sl_buf *out, silt_error *err)
{
    void *data = NULL;
    size_t len = 0;
    sl_buf_clear(out);
    SL_TRY(sl_storage_read_sized(place->storage, call, path, &data, &len, err));
    sl_buf_put(out, data, len);
    silt_storage_free(place->storage, data, len);
    return sl_buf_status(out, err);
}

silt_status sl_place_read_file(const struct sl_commit_place *place, const silt_call *call, struct sl_str name,
                               struct sl_buf *out, silt_error *err)
{
    struct sl_arena scratch;
    sl_arena_init(&scratch, place->env);
    const char *path = sl_log_path(&scratch, place->root, name).ptr;
    const silt_status status = path != NULL ? read_path(place, call, path, out, err) : sl_fail_nomem(err);
    sl_arena_release(&scratch);
    return status;
}

silt_status sl_place_read_published(const struct sl_commit_place *place, const silt_call *call, int64_t version,
                                    struct sl_buf *out, silt_error *err)
{
    struct sl_arena scratch;
    const char *path = NULL;
    silt_status status = commit_path(place, version, &scratch, &path, err);
    if (status == SILT_OK) {
        status = read_path(place, call, path, out, err);
    }
    sl_arena_release(&scratch);
    return status;
}

silt_status sl_place_read(const struct sl_commit_place *place, const silt_call *call, int64_t version,
                          struct sl_buf *out, silt_error *err)
{
    return place->committer != NULL ? sl_catalog_read(place, call, version, out, err)
                                    : sl_place_read_published(place, call, version, out, err);
}

silt_status sl_place_take_back(const struct sl_commit_place *place, int64_t version, silt_error *err)
{
    struct sl_arena scratch;
    const char *path = NULL;
    silt_status status = commit_path(place, version, &scratch, &path, err);
    if (status == SILT_OK) {
        status = silt_storage_remove(place->storage, NULL, path, err);
    }
    sl_arena_release(&scratch);
    return status;
}

static bool stop_at_first(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    (void)entry;
    return false;
}

bool sl_place_is_gone(const struct sl_commit_place *place, const silt_call *call)
{
    struct sl_arena scratch;
    silt_error found = SILT_ERROR_INIT;
    silt_status status = SILT_OK;
    sl_arena_init(&scratch, place->env);
    const char *dir = sl_uri_join(&scratch, place->root, SL_STR(SL_LOG_DIR)).ptr;
    if (dir != NULL && place->committer == NULL) {
        status = silt_storage_list(place->storage, call, dir, NULL, stop_at_first, NULL, &found);
    }
    sl_arena_release(&scratch);
    return status == SILT_ENOTFOUND && !sl_error_is(&found, SL_BUCKET_NOT_FOUND);
}

silt_status sl_place_time(const struct sl_commit_place *place, const silt_call *call, int64_t version, int64_t *time_ms,
                          silt_error *err)
{
    struct sl_arena scratch;
    const char *path = NULL;
    int64_t size_bytes = 0;
    *time_ms = 0;
    silt_status status = commit_path(place, version, &scratch, &path, err);
    if (status == SILT_OK) {
        status = silt_storage_stat(place->storage, call, path, &size_bytes, time_ms, err);
    }
    sl_arena_release(&scratch);
    return status;
}
