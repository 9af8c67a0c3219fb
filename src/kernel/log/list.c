/*
 * Listing a log from a version on. It only finds out what is there; which of it makes a snapshot is decided in segment.c. Any
 * thread.
 */
#include "kernel/log/list.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/uri.h"

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
    if (file.kind == SL_LOG_OTHER || file.kind == SL_LOG_LAST_CHECKPOINT) {
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
