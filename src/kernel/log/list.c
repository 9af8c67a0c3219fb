/*
 * Listing a log from a version on, and reading the hint where to begin. Both only find out what is there; which of it makes
 * a snapshot is decided in segment.c. Any thread.
 */
#include "kernel/log/list.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "json/json.h"

/* A hint is small, but may carry the checkpoint's schema. */
#define HINT_MAX_BYTES ((size_t)64 * 1024 * 1024)

struct lister {
    struct sl_arena *arena;
    struct sl_vec *files;
    bool out_of_memory;
};

static bool take_entry(void *ctx, const silt_file_entry *entry)
{
    struct lister *lister = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    if (name.len > 0 && name.ptr[0] > '9') {
        return false; /* names come in byte order: no versioned file follows */
    }
    const struct sl_log_file file = sl_log_name_parse(name);
    if (file.kind != SL_LOG_COMMIT && file.kind != SL_LOG_CHECKPOINT && file.kind != SL_LOG_CHECKPOINT_PART &&
        file.kind != SL_LOG_CHECKPOINT_V2) {
        return true;
    }
    struct sl_log_file *slot = sl_vec_push(lister->files);
    if (slot == NULL) {
        lister->out_of_memory = true;
        return false;
    }
    *slot = file;
    slot->size = entry->size_bytes;
    slot->modified_ms = entry->modified_ms;
    slot->name = sl_arena_copy(lister->arena, name);
    if (slot->name.ptr == NULL) {
        lister->out_of_memory = true;
        return false;
    }
    return true;
}

silt_status sl_log_list(silt_storage *storage, const silt_call *call, struct sl_str root, int64_t from_version,
                        struct sl_arena *arena, struct sl_vec *files, bool *exists, silt_error *err)
{
    *exists = false;
    const struct sl_str dir = sl_uri_join(arena, root, SL_STR(SL_LOG_DIR));
    const char *start = sl_arena_printf(arena, "%020" PRId64, from_version > 0 ? from_version : 0);
    if (dir.ptr == NULL || start == NULL) {
        return sl_fail_nomem(err);
    }
    struct lister lister = {.arena = arena, .files = files};
    const silt_list_options options = {.size = sizeof(options), .start_from = start};
    const silt_status status = silt_storage_list(storage, call, dir.ptr, &options, take_entry, &lister, err);
    if (lister.out_of_memory) {
        return sl_fail_nomem(err);
    }
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    *exists = status == SILT_OK;
    return status;
}

static bool parse_hint(const silt_env *env, struct sl_str bytes, int64_t *version)
{
    struct sl_json_doc *doc = NULL;
    if (bytes.len > HINT_MAX_BYTES || sl_json_parse(env, bytes, &doc, NULL) != SILT_OK) {
        return false;
    }
    const sl_json *root = sl_json_root(doc);
    const sl_json *size = sl_json_member(root, "size");
    const sl_json *parts = sl_json_member(root, "parts");
    int64_t number = 0;
    const bool ok = sl_json_to_i64(sl_json_member(root, "version"), version) && *version >= 0 &&
                    (sl_json_is_null(size) || (sl_json_to_i64(size, &number) && number >= 0)) &&
                    (sl_json_is_null(parts) || (sl_json_to_i64(parts, &number) && number >= 1));
    sl_json_free(doc);
    return ok;
}

silt_status sl_log_read_hint(const silt_env *env, silt_storage *storage, const silt_call *call, struct sl_str root,
                             int64_t *version, silt_error *err)
{
    *version = -1;
    struct sl_arena scratch;
    sl_arena_init(&scratch, env);
    void *data = NULL;
    size_t len = 0;
    const struct sl_str path = sl_log_path(&scratch, root, SL_STR("_last_checkpoint"));
    silt_status status = path.ptr == NULL ? sl_fail_nomem(err) : SILT_OK;
    if (status == SILT_OK) {
        status = silt_storage_read(storage, call, path.ptr, &data, &len, err);
    }
    if (status == SILT_OK) {
        if (!parse_hint(env, sl_str_make(data, len), version)) {
            *version = -1;
            sl_log(env, SILT_LOG_WARN, "%s is not a checkpoint hint, the whole log is listed instead", path.ptr);
        }
        silt_storage_free(storage, data, len);
    } else if (status != SILT_ENOMEM && status != SILT_ECANCELLED && status != SILT_EDEADLINE) {
        /* A hint that cannot be read is no hint; if the store is out of reach, the listing will say so. */
        silt_error_reset(err);
        status = SILT_OK;
    }
    sl_arena_release(&scratch);
    return status;
}
