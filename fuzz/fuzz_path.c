/*
 * Paths of the log and names of its files: decoding and encoding, resolving, keys of files by both ways of making them, normal forms, the
 * escapes of partition folders.
 */
#include <string.h>

#include "base/arena.h"
#include "base/uri.h"
#include "kernel/log/commit.h"
#include "kernel/replay/file_key.h"
#include "support/fuzz.h"

static void check_codes(struct sl_arena *arena, struct sl_str text)
{
    struct sl_str plain;
    struct sl_str again;
    struct sl_buf written;
    sl_buf_init(&written, fuzz_env());
    if (sl_uri_decode(arena, text, &plain, NULL) == SILT_OK) {
        FUZZ_CHECK(plain.len <= text.len && memchr(plain.ptr, '\0', plain.len) == NULL);
        sl_uri_encode_path(&written, plain);
        FUZZ_CHECK(sl_uri_decode(arena, sl_buf_view(&written), &again, NULL) == SILT_OK);
        FUZZ_CHECK(sl_str_eq(plain, again));
        sl_buf_clear(&written);
        sl_uri_hive_escape(&written, plain);
        FUZZ_CHECK(memchr(sl_buf_cstr(&written), '/', written.len) == NULL);
        FUZZ_CHECK(sl_uri_decode(arena, sl_buf_view(&written), &again, NULL) == SILT_OK);
        FUZZ_CHECK(sl_str_eq(plain, again));
    }
    sl_buf_release(&written);
}

static void check_key(struct sl_arena *arena, struct sl_str root, struct sl_str path)
{
    struct sl_key_maker maker;
    struct sl_file_key key;
    char joined[1024];
    sl_key_maker_init(&maker, fuzz_env(), root, NULL);
    FUZZ_CHECK(sl_key_make(&maker, path, NULL, &key));
    const struct sl_str whole = sl_file_key(arena, root, path, NULL);
    FUZZ_CHECK(whole.ptr != NULL && whole.len == key.dir.len + key.name.len);
    if (whole.len < sizeof(joined)) {
        memcpy(joined, key.dir.ptr != NULL ? key.dir.ptr : "", key.dir.len);
        memcpy(joined + key.dir.len, key.name.ptr != NULL ? key.name.ptr : "", key.name.len);
        FUZZ_CHECK(memcmp(joined, whole.ptr, whole.len) == 0);
    }
    sl_key_maker_release(&maker);
}

/* A file has one key, however its path is written: as it is, or encoded anew, or absolute. */
static void check_spellings(struct sl_arena *arena, struct sl_str root, struct sl_str path, struct sl_str resolved)
{
    struct sl_buf written;
    struct sl_str other;
    struct sl_str plain;
    sl_buf_init(&written, fuzz_env());
    const struct sl_str key = sl_file_key(arena, root, path, NULL);
    const bool is_relative = sl_uri_scheme(path).ptr == NULL && path.ptr[0] != '/';
    if (is_relative && sl_uri_decode(arena, path, &plain, NULL) == SILT_OK && plain.ptr[0] != '/') {
        sl_uri_encode_path(&written, plain);
        FUZZ_CHECK(sl_str_eq(sl_file_key(arena, root, sl_buf_view(&written), NULL), key));
        FUZZ_CHECK(sl_str_starts_with(resolved, root));
        FUZZ_CHECK(sl_uri_resolve(arena, root, sl_buf_view(&written), &other, NULL) == SILT_OK);
        FUZZ_CHECK(sl_str_eq(other, resolved));
    }
    sl_buf_clear(&written);
    sl_uri_print(&written, resolved);
    if (resolved.ptr[0] == '/' && sl_uri_resolve(arena, root, sl_buf_view(&written), &other, NULL) == SILT_OK) {
        FUZZ_CHECK(sl_str_eq(other, resolved));
    }
    sl_buf_release(&written);
}

static void check_location(struct sl_arena *arena, struct sl_str typed)
{
    struct sl_str normal;
    struct sl_str again;
    if (sl_uri_normalize(arena, typed, &normal, NULL) != SILT_OK) {
        return;
    }
    FUZZ_CHECK(normal.len > 0 && normal.ptr[normal.len] == '\0');
    FUZZ_CHECK(normal.ptr[0] == '/' || sl_uri_scheme(normal).ptr != NULL);
    FUZZ_CHECK(sl_uri_normalize(arena, normal, &again, NULL) == SILT_OK && sl_str_eq(normal, again));
    FUZZ_CHECK(sl_uri_basename(normal).len <= normal.len && sl_uri_dirname(normal).len <= normal.len);
}

static void check_log_name(struct sl_str name)
{
    const struct sl_log_file file = sl_log_name_parse(name);
    FUZZ_CHECK(sl_str_eq(file.name, name));
    if (file.kind == SL_LOG_OTHER || file.kind == SL_LOG_LAST_CHECKPOINT) {
        return;
    }
    FUZZ_CHECK(file.version >= 0 && file.end_version >= file.version);
    FUZZ_CHECK(file.kind == SL_LOG_COMPACTED || file.end_version == file.version);
    FUZZ_CHECK(file.kind != SL_LOG_CHECKPOINT_PART || (file.part >= 1 && file.part <= file.n_parts));
    FUZZ_CHECK(!sl_log_is_staged_name(name, file.version) || file.kind == SL_LOG_OTHER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const roots[] = {"/t", "/t u/v",        "s3://b/t", "memory://a",
                                        "/",  "abfss://c@h/t", "s3://b",   "/a%20b"};
    struct fuzz_input in = fuzz_input_of(data, size);
    const struct sl_str root = sl_str_from(roots[fuzz_pick(&in, 8)]);
    const struct sl_str path = fuzz_rest(&in);
    struct sl_arena arena;
    struct sl_str resolved;
    sl_arena_init(&arena, fuzz_env());
    check_codes(&arena, path);
    check_key(&arena, root, path);
    if (sl_uri_resolve(&arena, root, path, &resolved, NULL) == SILT_OK) {
        FUZZ_CHECK(resolved.ptr[resolved.len] == '\0' && memchr(resolved.ptr, '\0', resolved.len) == NULL);
        check_spellings(&arena, root, path, resolved);
    }
    check_location(&arena, path);
    check_log_name(path);
    sl_arena_release(&arena);
    return 0;
}
