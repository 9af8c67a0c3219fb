/*
 * Keys of logical files; see file_key.h. Called for every add and remove of a log, so the common case (a relative path
 * without escapes, no vector) copies nothing.
 */
#include "kernel/replay/file_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/uri.h"

/* Room for "@" and an offset. */
#define OFFSET_TEXT 24

static bool is_plain(struct sl_str path)
{
    if (path.len == 0 || path.ptr[0] == '/') {
        return false;
    }
    return memchr(path.ptr, '%', path.len) == NULL && memchr(path.ptr, ':', path.len) == NULL;
}

static struct sl_str below_root(struct sl_str root, struct sl_str path)
{
    if (sl_str_starts_with(path, root) && path.len > root.len + 1 && path.ptr[root.len] == '/') {
        return sl_str_sub(path, root.len + 1, path.len);
    }
    return path;
}

static struct sl_str path_key(struct sl_arena *arena, struct sl_str root, struct sl_str path)
{
    if (is_plain(path)) {
        return path;
    }
    struct sl_str resolved = {NULL, 0};
    const silt_status status = sl_uri_resolve(arena, root, path, &resolved, NULL);
    if (status == SILT_ENOMEM) {
        return (struct sl_str){NULL, 0};
    }
    return status == SILT_OK ? below_root(root, resolved) : path;
}

struct sl_str sl_file_key(struct sl_arena *arena, struct sl_str root, struct sl_str path,
                          const struct sl_dv_descriptor *dv)
{
    struct sl_str key = path_key(arena, root, path);
    if (dv == NULL || key.ptr == NULL) {
        return key;
    }
    char offset[OFFSET_TEXT] = "";
    int offset_len = 0;
    if (dv->offset != SL_NO_I64) {
        offset_len = snprintf(offset, sizeof(offset), "@%" PRId64, dv->offset);
    }
    const size_t len = key.len + 1 + dv->storage_type.len + dv->path_or_inline_dv.len + (size_t)offset_len;
    char *text = sl_arena_alloc(arena, len);
    if (text == NULL) {
        return (struct sl_str){NULL, 0};
    }
    /* No path holds a NUL (decoding refuses it), so a key with a vector equals none without. */
    char *at = text;
    memcpy(at, key.ptr, key.len);
    at += key.len;
    *at++ = '\0';
    memcpy(at, dv->storage_type.ptr, dv->storage_type.len);
    at += dv->storage_type.len;
    memcpy(at, dv->path_or_inline_dv.ptr, dv->path_or_inline_dv.len);
    at += dv->path_or_inline_dv.len;
    memcpy(at, offset, (size_t)offset_len);
    return sl_str_make(text, len);
}
