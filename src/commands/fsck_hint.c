/*
 * `_last_checkpoint` against the log (PROTOCOL.md "Last Checkpoint File"): readers go around one that does not hold, but some take it at its
 * word.
 */
#include <inttypes.h>

#include "base/error.h"
#include "commands/fsck_int.h"
#include "kernel/log/hint.h"
#include "kernel/log/segment_checkpoint.h"

#define HINT_NAME "_last_checkpoint"

static silt_status judge(struct sl_fsck *fsck, struct sl_str bytes, silt_error *err)
{
    struct sl_hint hint;
    silt_error found = SILT_ERROR_INIT;
    const struct sl_fsck_about about = {
        .severity = SILT_FSCK_FAULT, .check = SL_FSCK_HINT, .version = -1, .file = SL_STR(HINT_NAME)};
    silt_status status = sl_hint_parse(fsck->env, &fsck->arena, bytes, &hint, &found);
    if (status == SILT_OK) {
        status = sl_hint_check(&hint, fsck->listing.data, fsck->listing.len, &found);
    }
    if (status != SILT_OK) {
        return sl_fsck_tell_failure(fsck, &about, &found, err);
    }
    const struct sl_found_checkpoint newest = sl_checkpoint_find(fsck->listing.data, fsck->listing.len, INT64_MAX,
                                                                 NULL);
    if (newest.version <= hint.version) {
        return SILT_OK;
    }
    struct sl_fsck_about note = about;
    note.severity = SILT_FSCK_NOTE;
    return sl_fsck_tell_numbers(fsck, &note, newest.version, hint.version, "the newest checkpoint's version", err);
}

silt_status sl_fsck_hint(struct sl_fsck *fsck, silt_error *err)
{
    silt_storage *storage = fsck->source.storage;
    const struct sl_str path = sl_log_path(&fsck->arena, fsck->source.root, SL_STR(HINT_NAME));
    void *data = NULL;
    size_t len = 0;
    silt_error found = SILT_ERROR_INIT;
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = silt_storage_read(storage, fsck->call, path.ptr, &data, &len, &found);
    if (status == SILT_ENOTFOUND) {
        const bool wanted = sl_checkpoint_oldest(fsck->listing.data, fsck->listing.len) >= 0;
        const struct sl_fsck_about note = {.severity = SILT_FSCK_NOTE, .check = SL_FSCK_HINT, .version = -1};
        return wanted ? sl_fsck_tell(fsck, &note, err, "there are checkpoints but no " HINT_NAME) : SILT_OK;
    }
    if (status != SILT_OK) {
        const struct sl_fsck_about about = {.severity = SILT_FSCK_FAULT, .check = SL_FSCK_HINT, .version = -1};
        return sl_fsck_tell_failure(fsck, &about, &found, err);
    }
    status = judge(fsck, sl_str_make(data, len), err);
    silt_storage_free(storage, data, len);
    return status;
}
