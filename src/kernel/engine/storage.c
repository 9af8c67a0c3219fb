/*
 * The store object and the dispatch to its slots: creation with a check of the vtable, reference count, one function a
 * slot. Stores may be plug-ins of others, so what a slot returns is judged here and never trusted; an error gets its
 * context ("reading <path>: …") here and only here. Reads and listings, whose callbacks need more care, are in
 * storage_read.c and storage_list.c.
 *
 * Called by the kernel, by engines and by stores that wrap stores. Any thread: nothing changes after creation but
 * the count.
 */
#include "kernel/engine/storage_int.h"
#include "kernel/engine/engine.h"
#include "kernel/engine/storage_wrap.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "silt/version.h"

/* Longest part of a path that a message shows, so that the message itself is not crowded out. */
#define SHOWN_PATH_MAX 240
#define CONTEXT_SIZE (SHOWN_PATH_MAX + 64)

/* ---- judging slots ---- */

bool sl_status_known(silt_status status)
{
    return (int)status >= (int)SILT_OK && (int)status <= (int)SILT_ELIMIT;
}

silt_status sl_storage_breach(const silt_storage *storage, const char *what, silt_error *err)
{
    return sl_fail(err, SILT_EIO, NULL, "store broke its contract: %s: %s", storage->slots.name, what);
}

/* The tail of a path as one line of text; the same for the same path, so that context can be recognised. */
static void show_path(struct sl_str path, char *out, size_t out_size)
{
    size_t skip = 0;
    if (path.len > SHOWN_PATH_MAX) {
        skip = path.len - SHOWN_PATH_MAX;
        while (skip < path.len && ((unsigned char)path.ptr[skip] & 0xC0U) == 0x80U) {
            skip++;
        }
    }
    const struct sl_str tail = sl_str_sub(path, skip, path.len);
    bool is_text = sl_utf8_valid(tail);
    int printed = snprintf(out, out_size, "%s%.*s", skip > 0 ? "..." : "", SL_FMT(tail));
    if (printed < 0) {
        out[0] = '\0';
    }
    for (char *c = out; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x20U || byte == 0x7FU || (byte >= 0x80U && !is_text)) {
            *c = '?';
        }
    }
}

/* "<doing> <path>: "; where it is cut it still serves. */
static void put_context(const char *doing, struct sl_str path, char out[CONTEXT_SIZE])
{
    char shown[SHOWN_PATH_MAX + 8];
    show_path(path, shown, sizeof(shown));
    (void)snprintf(out, CONTEXT_SIZE, "%s %s: ", doing, shown);
}

/* The message without the context that it begins with, if that is this one. */
static const char *skip_context(const silt_error *found, const char *context)
{
    const size_t len = strlen(context);
    return found->message + (strncmp(found->message, context, len) == 0 ? len : 0);
}

/* Moves what goes with the message. */
static void hand_out_rest(const silt_error *found, const char *path, silt_error *err)
{
    err->sys_code = found->sys_code;
    sl_error_path(err, path);
    if (found->hint[0] != '\0') {
        sl_error_hint(err, "%s", found->hint);
    }
}

silt_status sl_storage_finish(silt_status returned, const char *doing, const char *path, silt_error *found,
                              silt_error *err)
{
    silt_status status = sl_status_known(returned) ? returned : SILT_EIO;
    if (err == NULL) {
        return status;
    }
    found->message[sizeof(found->message) - 1] = '\0';
    found->code_name[sizeof(found->code_name) - 1] = '\0';
    found->hint[sizeof(found->hint) - 1] = '\0';
    if (found->status == SILT_OK && status == SILT_OK) {
        return status; /* a slot that succeeded may tell of a part that failed, but has not */
    }
    if (status != returned) {
        (void)sl_fail(found, status, NULL, "store broke its contract: %d is no status", (int)returned);
    } else if ((status != SILT_OK && found->status != status) || found->message[0] == '\0') {
        (void)sl_fail(found, status, NULL, "the store failed with %s and told nothing else", silt_status_name(status));
    }
    char context[CONTEXT_SIZE];
    put_context(doing, sl_str_from(path), context);
    (void)sl_fail(err, found->status, found->code_name[0] != '\0' ? found->code_name : NULL, "%s%s", context,
                  skip_context(found, context));
    hand_out_rest(found, path, err);
    return status;
}

silt_status sl_storage_finish_location(silt_status status, const char *path, struct sl_str location,
                                       const silt_error *found, silt_error *err)
{
    char own[CONTEXT_SIZE];
    char context[CONTEXT_SIZE];
    if (err == NULL) {
        return status;
    }
    put_context("reading", sl_str_from(path), own);
    put_context("location", location, context);
    (void)sl_fail(err, found->status, found->code_name[0] != '\0' ? found->code_name : NULL, "%s%s", context,
                  skip_context(found, own));
    hand_out_rest(found, path, err);
    return status;
}

silt_status sl_storage_begin(const silt_storage *storage, const silt_call *call, const char *path, silt_error *err)
{
    if (storage == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a store is required");
    }
    if (path == NULL || path[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, NULL, "a path is required");
    }
    return sl_call_check(storage->env, call, err);
}

/* ---- the object ---- */

static silt_status check_slots(const silt_storage_vtable *slots, silt_error *err)
{
    const char *missing = slots->close == NULL           ? "close"
                          : slots->read_many == NULL     ? "read_many"
                          : slots->list == NULL          ? "list"
                          : slots->put_if_absent == NULL ? "put_if_absent"
                          : slots->put == NULL           ? "put"
                          : slots->stat == NULL          ? "stat"
                          : slots->remove == NULL        ? "remove"
                                                         : NULL;
    if (missing != NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "store %s lacks the required slot %s", slots->name, missing);
    }
    return SILT_OK;
}

silt_status silt_storage_new(const silt_env *env, const silt_storage_vtable *vtable, void *impl, silt_storage **out,
                             silt_error *err)
{
    if (out == NULL || vtable == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_storage_new needs a vtable and an out parameter");
    }
    *out = NULL;
    SL_TRY(sl_env_check(env, err));
    if (vtable->abi_version != SILT_ABI_VERSION) {
        return sl_fail(err, SILT_EINVALID, NULL, "store has ABI version %u, expected %u", (unsigned)vtable->abi_version,
                       (unsigned)SILT_ABI_VERSION);
    }
    if (vtable->size < offsetof(silt_storage_vtable, local_path)) {
        return sl_fail(err, SILT_EINVALID, NULL, "store vtable has %u bytes, expected at least %zu",
                       (unsigned)vtable->size, offsetof(silt_storage_vtable, local_path));
    }
    silt_storage_vtable slots = {0};
    memcpy(&slots, vtable, vtable->size < sizeof(slots) ? vtable->size : sizeof(slots));
    if (slots.name == NULL || slots.name[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, NULL, "store vtable has no name");
    }
    SL_TRY(check_slots(&slots, err));
    silt_storage *storage = sl_alloc(env, sizeof(*storage));
    if (storage == NULL) {
        return sl_fail_nomem(err);
    }
    storage->env = env;
    storage->slots = slots;
    storage->impl = impl;
    atomic_init(&storage->refs, 1);
    *out = storage;
    return SILT_OK;
}

silt_storage *silt_storage_ref(silt_storage *storage)
{
    if (storage != NULL) {
        (void)atomic_fetch_add_explicit(&storage->refs, 1, memory_order_relaxed); /* the old count is of no use */
    }
    return storage;
}

void silt_storage_unref(silt_storage *storage)
{
    if (storage == NULL || atomic_fetch_sub_explicit(&storage->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    storage->slots.close(storage->impl);
    sl_release(storage->env, storage, sizeof(*storage));
}

const char *silt_storage_name(const silt_storage *storage)
{
    return storage != NULL ? storage->slots.name : "";
}

const silt_env *sl_storage_env(const silt_storage *storage)
{
    return storage->env;
}

silt_status sl_storage_check_wrap(const silt_env *env, const silt_storage *inner, silt_error *err)
{
    SL_TRY(sl_env_check(env, err));
    if (inner == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a store to wrap is required");
    }
    const silt_allocator *ours = &env->allocator;
    const silt_allocator *theirs = &inner->env->allocator;
    if (ours->ctx != theirs->ctx || ours->alloc != theirs->alloc || ours->resize != theirs->resize ||
        ours->release != theirs->release) {
        return sl_fail(err, SILT_EINVALID, NULL, "a store that wraps %s needs the same allocator", inner->slots.name);
    }
    return SILT_OK;
}

/* ---- slots without callbacks ---- */

static silt_status judge_put(const silt_storage *storage, silt_status status, silt_put_outcome answer,
                             silt_put_outcome *outcome, silt_error *found)
{
    if ((int)answer < (int)SILT_PUT_DONE || (int)answer > (int)SILT_PUT_AMBIGUOUS) {
        *outcome = SILT_PUT_AMBIGUOUS;
        return sl_storage_breach(storage, "the outcome of put_if_absent is none that there is", found);
    }
    *outcome = answer;
    return status;
}

typedef silt_status create_slot(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                silt_put_outcome *outcome, silt_error *err);

/* Bytes under a name that must be free. */
struct creation {
    create_slot *slot;
    const char *operation;
    const char *path;
    const void *data;
    size_t data_len;
};

static silt_status create(silt_storage *storage, const silt_call *call, const struct creation *creation,
                          silt_put_outcome *outcome, silt_error *err)
{
    if (outcome == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "%s needs an out parameter", creation->operation);
    }
    *outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(sl_storage_begin(storage, call, creation->path, err));
    if (creation->data == NULL && creation->data_len > 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "%s was given no bytes", creation->operation);
    }
    silt_error found = SILT_ERROR_INIT;
    silt_put_outcome answer = SILT_PUT_AMBIGUOUS;
    silt_status status = creation->slot(storage->impl, call, creation->path, creation->data, creation->data_len,
                                        &answer, &found);
    status = judge_put(storage, status, answer, outcome, &found);
    return sl_storage_finish(status, "creating", creation->path, &found, err);
}

silt_status silt_storage_put_if_absent(silt_storage *storage, const silt_call *call, const char *path, const void *data,
                                       size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    create_slot *slot = storage != NULL ? storage->slots.put_if_absent : NULL;
    const struct creation creation = {slot, "put_if_absent", path, data, data_len};
    return create(storage, call, &creation, outcome, err);
}

silt_status silt_storage_put_hint(silt_storage *storage, const silt_call *call, const char *path, const void *data,
                                  size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    create_slot *slot = storage != NULL ? storage->slots.put_hint : NULL;
    const struct creation creation = {slot, "put_hint", path, data, data_len};
    return slot != NULL ? create(storage, call, &creation, outcome, err)
                        : silt_storage_put_if_absent(storage, call, path, data, data_len, outcome, err);
}

silt_status silt_storage_put_beside(silt_storage *storage, const silt_call *call, const char *path, const void *data,
                                    size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    create_slot *slot = storage != NULL ? storage->slots.put_beside : NULL;
    const struct creation creation = {slot, "put_beside", path, data, data_len};
    return slot != NULL ? create(storage, call, &creation, outcome, err)
                        : silt_storage_put_if_absent(storage, call, path, data, data_len, outcome, err);
}

silt_status silt_storage_put(silt_storage *storage, const silt_call *call, const char *path, const void *data,
                             size_t data_len, silt_error *err)
{
    SL_TRY(sl_storage_begin(storage, call, path, err));
    if (data == NULL && data_len > 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "put was given no bytes");
    }
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.put(storage->impl, call, path, data, data_len, &found);
    return sl_storage_finish(status, "writing", path, &found, err);
}

silt_status silt_storage_put_fresh(silt_storage *storage, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_error *err)
{
    if (storage == NULL || storage->slots.put_fresh == NULL || (data == NULL && data_len > 0)) {
        return silt_storage_put(storage, call, path, data, data_len, err);
    }
    SL_TRY(sl_storage_begin(storage, call, path, err));
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.put_fresh(storage->impl, call, path, data, data_len, &found);
    return sl_storage_finish(status, "writing", path, &found, err);
}

silt_status silt_storage_stat(silt_storage *storage, const silt_call *call, const char *path, int64_t *size_bytes,
                              int64_t *modified_ms, silt_error *err)
{
    int64_t size = 0;
    int64_t modified = 0;
    if (size_bytes != NULL) {
        *size_bytes = 0;
    }
    if (modified_ms != NULL) {
        *modified_ms = 0;
    }
    SL_TRY(sl_storage_begin(storage, call, path, err));
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.stat(storage->impl, call, path, &size, &modified, &found);
    if (status == SILT_OK && size < 0) {
        status = sl_storage_breach(storage, "stat gave a negative size", &found);
    }
    if (status == SILT_OK) {
        if (size_bytes != NULL) {
            *size_bytes = size;
        }
        if (modified_ms != NULL) {
            *modified_ms = modified;
        }
    }
    return sl_storage_finish(status, "looking up", path, &found, err);
}

silt_status silt_storage_remove(silt_storage *storage, const silt_call *call, const char *path, silt_error *err)
{
    SL_TRY(sl_storage_begin(storage, call, path, err));
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.remove(storage->impl, call, path, &found);
    return sl_storage_finish(status, "removing", path, &found, err);
}

/* ---- optional slots ---- */

static silt_status refuse_slot(const silt_storage *storage, const char *what, silt_error *err)
{
    return sl_fail(err, SILT_EUNSUPPORTED, NULL, "store %s %s", storage->slots.name, what);
}

silt_status silt_storage_local_path(silt_storage *storage, const char *path, char *buf, size_t buf_size,
                                    silt_error *err)
{
    if (buf == NULL || buf_size == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "local_path needs a buffer");
    }
    buf[0] = '\0';
    SL_TRY(sl_storage_begin(storage, NULL, path, err));
    if (storage->slots.local_path == NULL) {
        return refuse_slot(storage, "has no local paths", err);
    }
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.local_path(storage->impl, path, buf, buf_size, &found);
    if (status == SILT_OK && (memchr(buf, '\0', buf_size) == NULL || buf[0] == '\0')) {
        status = sl_storage_breach(storage, "local_path gave no text", &found);
    }
    if (status != SILT_OK) {
        buf[0] = '\0';
    }
    return sl_storage_finish(status, "locating", path, &found, err);
}

silt_status silt_storage_adopt(silt_storage *storage, const silt_call *call, const char *local, const char *path,
                               silt_error *err)
{
    SL_TRY(sl_storage_begin(storage, call, path, err));
    if (local == NULL || local[0] != '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "adopt needs an absolute path of a local file");
    }
    if (storage->slots.adopt == NULL) {
        return refuse_slot(storage, "cannot take over local files: it has no adopt", err);
    }
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.adopt(storage->impl, call, local, path, &found);
    return sl_storage_finish(status, "moving a file to", path, &found, err);
}

silt_status silt_storage_remove_tree(silt_storage *storage, const silt_call *call, const char *dir, silt_error *err)
{
    SL_TRY(sl_storage_begin(storage, call, dir, err));
    if (storage->slots.remove_tree == NULL) {
        return refuse_slot(storage, "cannot remove folders", err);
    }
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.remove_tree(storage->impl, call, dir, &found);
    return sl_storage_finish(status, "removing folder", dir, &found, err);
}
