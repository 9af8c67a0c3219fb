/*
 * Sidecars that nobody needs; see cleanup.h. A checkpoint that is being written has its sidecars first: so they are listed before
 * the checkpoints, and young ones stay. Any thread.
 */
#include "base/error.h"
#include "base/map.h"
#include "base/uri.h"
#include "kernel/checkpoint/cleanup.h"
#include "kernel/replay/checkpoint.h"

#define SIDECAR_DIR "_sidecars"

struct finder {
    const struct sl_sidecar_request *request;
    const silt_call *call;
    struct sl_arena *arena;
    struct sl_vec *names;
    struct sl_map used; /* names of sidecars, without a folder */
    bool out_of_memory;
};

static bool take_sidecar(void *ctx, const silt_file_entry *entry)
{
    struct finder *f = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    if (entry->modified_ms >= f->request->older_than_ms || !sl_str_ends_with(name, SL_STR(".parquet"))) {
        return true;
    }
    struct sl_str *slot = sl_vec_push(f->names);
    if (slot != NULL) {
        *slot = sl_uri_join(f->arena, SL_STR(SIDECAR_DIR), name);
    }
    f->out_of_memory = slot == NULL || slot->ptr == NULL;
    return !f->out_of_memory;
}

static silt_status list_old(struct finder *f, silt_error *err)
{
    const struct sl_str dir = sl_log_path(f->arena, f->request->source->root, SL_STR(SIDECAR_DIR));
    if (dir.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_list_options options = {.size = sizeof(options)};
    const silt_status status = silt_storage_list(f->request->source->storage, f->call, dir.ptr, &options, take_sidecar,
                                                 f, err);
    if (f->out_of_memory) {
        return sl_fail_nomem(err);
    }
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

/* By their names alone: whatever folder a path tells, sidecars lie in the one folder. */
static silt_status take_used(struct finder *f, const struct sl_checkpoint *checkpoint, silt_error *err)
{
    for (size_t i = checkpoint->n_parquet - checkpoint->n_sidecars; i < checkpoint->n_parquet; i++) {
        const struct sl_str name = sl_uri_basename(sl_str_from(checkpoint->parquet[i].path));
        if (sl_map_put(&f->used, name, NULL) == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

/* Top files only: parts of a V1 checkpoint have no sidecars. */
static bool may_have_sidecars(const struct finder *f, const struct sl_log_file *file)
{
    return file->version >= f->request->checkpoint_version &&
           (file->kind == SL_LOG_CHECKPOINT || file->kind == SL_LOG_CHECKPOINT_V2);
}

static silt_status collect_used(struct finder *f, silt_error *err)
{
    for (size_t i = 0; i < f->request->n_files; i++) {
        const struct sl_log_file *file = &f->request->files[i];
        if (!may_have_sidecars(f, file)) {
            continue;
        }
        const struct sl_log_segment segment = {
            .version = file->version, .checkpoint_version = file->version, .checkpoint = file, .n_checkpoint = 1};
        const struct sl_checkpoint_opening opening = {
            .source = f->request->source, .segment = &segment, .arena = f->arena};
        struct sl_checkpoint checkpoint;
        SL_TRY(sl_checkpoint_open(&opening, f->call, &checkpoint, err));
        SL_TRY(take_used(f, &checkpoint, err));
    }
    return SILT_OK;
}

static void drop_used(struct finder *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->names->len; i++) {
        const struct sl_str name = *(const struct sl_str *)sl_vec_at(f->names, i);
        if (sl_map_find(&f->used, sl_uri_basename(name)) == NULL) {
            *(struct sl_str *)sl_vec_at(f->names, kept++) = name;
        }
    }
    f->names->len = kept;
}

silt_status sl_cleanup_find_sidecars(const struct sl_sidecar_request *request, const silt_call *call,
                                     struct sl_arena *arena, struct sl_vec *names, silt_error *err)
{
    struct finder f = {.request = request, .call = call, .arena = arena, .names = names};
    sl_map_init(&f.used, arena->env);
    silt_status status = list_old(&f, err);
    if (status == SILT_OK && names->len > 0) {
        status = collect_used(&f, err);
    }
    if (status == SILT_OK) {
        drop_used(&f);
    } else {
        names->len = 0;
    }
    sl_map_release(&f.used);
    return status;
}
