/*
 * Names of the files of a log (PROTOCOL.md "Delta Log Entries", "Checkpoints", "Log Compaction Files"). Only the exact forms
 * count: stray names, temporary files and staged commits must never be taken for part of the history. Pure.
 */
#include "kernel/log/commit.h"

#include <string.h>

#include "base/uri.h"

#define VERSION_DIGITS 20
#define PART_DIGITS 10

/* Takes exactly `digits` digits off the front of *rest. */
static bool take_number(struct sl_str *rest, size_t digits, int64_t *out)
{
    if (rest->len < digits) {
        return false;
    }
    uint64_t value = 0;
    if (!sl_str_to_u64(sl_str_sub(*rest, 0, digits), &value) || value > INT64_MAX) {
        return false;
    }
    *out = (int64_t)value;
    *rest = sl_str_sub(*rest, digits, rest->len);
    return true;
}

static bool take_text(struct sl_str *rest, struct sl_str text)
{
    if (!sl_str_starts_with(*rest, text)) {
        return false;
    }
    *rest = sl_str_sub(*rest, text.len, rest->len);
    return true;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool take_uuid(struct sl_str *rest)
{
    enum {
        UUID_LEN = 36
    };
    if (rest->len < UUID_LEN) {
        return false;
    }
    for (size_t i = 0; i < UUID_LEN; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? rest->ptr[i] != '-' : !is_hex(rest->ptr[i])) {
            return false;
        }
    }
    *rest = sl_str_sub(*rest, UUID_LEN, rest->len);
    return true;
}

/* What follows "N.checkpoint". */
static enum sl_log_file_kind checkpoint_kind(struct sl_str rest, struct sl_log_file *file)
{
    if (sl_str_eq(rest, SL_STR(".parquet"))) {
        return SL_LOG_CHECKPOINT;
    }
    if (!take_text(&rest, SL_STR("."))) {
        return SL_LOG_OTHER;
    }
    struct sl_str after_uuid = rest;
    if (take_uuid(&after_uuid) &&
        (sl_str_eq(after_uuid, SL_STR(".json")) || sl_str_eq(after_uuid, SL_STR(".parquet")))) {
        return SL_LOG_CHECKPOINT_V2;
    }
    int64_t part = 0;
    int64_t n_parts = 0;
    if (!take_number(&rest, PART_DIGITS, &part) || !take_text(&rest, SL_STR(".")) ||
        !take_number(&rest, PART_DIGITS, &n_parts) || !sl_str_eq(rest, SL_STR(".parquet"))) {
        return SL_LOG_OTHER;
    }
    if (part < 1 || part > n_parts || n_parts > INT32_MAX) {
        return SL_LOG_OTHER;
    }
    file->part = (int32_t)part;
    file->n_parts = (int32_t)n_parts;
    return SL_LOG_CHECKPOINT_PART;
}

/* What follows "N". */
static enum sl_log_file_kind versioned_kind(struct sl_str rest, struct sl_log_file *file)
{
    if (sl_str_eq(rest, SL_STR(".json"))) {
        return SL_LOG_COMMIT;
    }
    if (sl_str_eq(rest, SL_STR(".crc"))) {
        return SL_LOG_CRC;
    }
    if (take_text(&rest, SL_STR(".checkpoint"))) {
        return checkpoint_kind(rest, file);
    }
    int64_t end = 0;
    if (take_text(&rest, SL_STR(".")) && take_number(&rest, VERSION_DIGITS, &end) &&
        sl_str_eq(rest, SL_STR(".compacted.json")) && end > file->version) {
        file->end_version = end;
        return SL_LOG_COMPACTED;
    }
    return SL_LOG_OTHER;
}

struct sl_log_file sl_log_name_parse(struct sl_str name)
{
    struct sl_log_file file = {.kind = SL_LOG_OTHER, .version = -1, .end_version = -1, .name = name};
    if (sl_str_eq(name, SL_STR("_last_checkpoint"))) {
        file.kind = SL_LOG_LAST_CHECKPOINT;
        return file;
    }
    struct sl_str rest = name;
    if (!take_number(&rest, VERSION_DIGITS, &file.version)) {
        file.version = -1;
        return file;
    }
    file.end_version = file.version;
    file.kind = versioned_kind(rest, &file);
    return file;
}

bool sl_log_is_staged_name(struct sl_str name, int64_t version)
{
    struct sl_str rest = name;
    int64_t number = 0;
    return take_number(&rest, VERSION_DIGITS, &number) && number == version && take_text(&rest, SL_STR(".")) &&
           take_uuid(&rest) && sl_str_eq(rest, SL_STR(".json"));
}

struct sl_str sl_log_path(struct sl_arena *arena, struct sl_str root, struct sl_str name)
{
    const struct sl_str dir = sl_uri_join(arena, root, SL_STR(SL_LOG_DIR));
    return dir.ptr == NULL ? dir : sl_uri_join(arena, dir, name);
}

/* By hand: each commit makes several of these names, and printf takes ten times as long. */
const char *sl_log_name_make(struct sl_arena *arena, int64_t version, struct sl_str ending)
{
    char *name = version < 0 ? NULL : sl_arena_alloc(arena, VERSION_DIGITS + ending.len + 1);
    if (name == NULL) {
        return NULL;
    }
    for (size_t i = VERSION_DIGITS; i-- > 0; version /= 10) {
        name[i] = (char)('0' + version % 10);
    }
    memcpy(name + VERSION_DIGITS, ending.ptr, ending.len);
    name[VERSION_DIGITS + ending.len] = '\0';
    return name;
}

struct sl_str sl_log_commit_path(struct sl_arena *arena, struct sl_str root, int64_t version)
{
    const char *name = sl_log_name_make(arena, version, SL_STR(".json"));
    return name == NULL ? (struct sl_str){NULL, 0} : sl_log_path(arena, root, sl_str_from(name));
}
