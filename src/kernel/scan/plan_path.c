/*
 * Paths of a plan's files; see plan_path.h.
 */
#include "kernel/scan/plan_path.h"

#include "base/error.h"
#include "kernel/engine/engine.h"

void sl_plan_paths_init(struct sl_plan_paths *paths, silt_snapshot *snapshot, struct sl_arena *arena)
{
    paths->snapshot = snapshot;
    paths->arena = arena;
    paths->no_local_paths = false;
    paths->local[0] = '\0';
}

static silt_status check_store(const struct sl_plan_paths *paths, const char *path, silt_error *err)
{
    silt_storage *storage = NULL;
    SL_TRY(sl_engine_storage(sl_snapshot_engine(paths->snapshot), path, &storage, err));
    if (storage != sl_snapshot_storage(paths->snapshot)) {
        const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                                           "file %s is in another store than its table, which is not supported", path);
        sl_error_path(err, path);
        return status;
    }
    return SILT_OK;
}

static silt_status find_local(struct sl_plan_paths *paths, const char *path, const char **out, silt_error *err)
{
    *out = NULL;
    if (paths->no_local_paths) {
        return SILT_OK;
    }
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = silt_storage_local_path(sl_snapshot_storage(paths->snapshot), path, paths->local,
                                                       sizeof(paths->local), &found);
    if (status == SILT_EUNSUPPORTED) {
        paths->no_local_paths = true;
        return SILT_OK;
    }
    if (status != SILT_OK) {
        if (err != NULL) {
            *err = found;
        }
        return status;
    }
    const struct sl_str local = sl_str_from(paths->local);
    *out = sl_str_eq(local, sl_str_from(path)) ? path : sl_arena_strdup(paths->arena, local);
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

silt_status sl_plan_paths_find(struct sl_plan_paths *paths, struct sl_str log_path, silt_plan_file *out,
                               silt_error *err)
{
    struct sl_str path = {0};
    SL_TRY(sl_snapshot_file_path(paths->snapshot, paths->arena, log_path, &path, err));
    if (!sl_str_starts_with(path, sl_snapshot_root(paths->snapshot))) {
        SL_TRY(check_store(paths, path.ptr, err));
    }
    out->path = path.ptr;
    return find_local(paths, path.ptr, &out->local_path, err);
}
