/*
 * Keys of logical files; see file_key.h. Called for every add and remove of a log and for the rows of checkpoints, so the
 * common case (a name without escapes, no vector) copies nothing and the folder is looked at once for a run of files.
 */
#include "kernel/replay/file_key.h"

#include <string.h>

#include "base/map.h"
#include "base/uri.h"

/* Scratch is given back when it has grown to this. */
#define SCRATCH_MAX ((size_t)64 * 1024)

uint64_t sl_key_hash_xxh3(const void *bytes, size_t len, uint64_t seed)
{
    return sl_hash_seeded(bytes, len, seed);
}

bool sl_file_key_eq(const struct sl_file_key *a, const struct sl_file_key *b)
{
    return (a->vector.ptr == NULL) == (b->vector.ptr == NULL) && sl_str_eq(a->name, b->name) &&
           sl_str_eq(a->dir, b->dir) && sl_str_eq(a->vector, b->vector);
}

static bool has_special(struct sl_str text)
{
    return text.len > 0 && (memchr(text.ptr, '%', text.len) != NULL || memchr(text.ptr, ':', text.len) != NULL);
}

/* Is its key part itself, whatever the folder? "." and ".." are refused by who resolves paths. */
static bool is_plain_name(struct sl_str name)
{
    return !has_special(name) && name.len > 0 && !sl_str_eq_c(name, ".") && !sl_str_eq_c(name, "..");
}

static struct sl_str below_root(struct sl_str root, struct sl_str path)
{
    /* The root of a file system is its own slash. */
    const size_t begin = root.len > 0 && root.ptr[root.len - 1] == '/' ? root.len : root.len + 1;
    const bool is_below = sl_str_starts_with(path, root) && path.len > begin && path.ptr[begin - 1] == '/';
    return is_below ? sl_str_sub(path, begin, path.len) : path;
}

/* false: out of memory. */
static bool resolve(struct sl_arena *arena, struct sl_str root, struct sl_str path, struct sl_str *out)
{
    struct sl_str resolved = {NULL, 0};
    const silt_status status = sl_uri_resolve(arena, root, path, &resolved, NULL);
    *out = status == SILT_OK ? below_root(root, resolved) : path;
    return status != SILT_ENOMEM;
}

bool sl_key_dir_make(struct sl_arena *arena, struct sl_str root, sl_key_hash *hash, struct sl_str raw_dir,
                     struct sl_key_dir *out)
{
    out->dir = raw_dir;
    if (has_special(raw_dir) || (raw_dir.len > 0 && raw_dir.ptr[0] == '/')) {
        /* What any plain name would get before it. */
        char *probe = sl_arena_alloc(arena, raw_dir.len + 1);
        if (probe == NULL) {
            return false;
        }
        memcpy(probe, raw_dir.ptr, raw_dir.len);
        probe[raw_dir.len] = 'x';
        struct sl_str resolved = {NULL, 0};
        if (!resolve(arena, root, sl_str_make(probe, raw_dir.len + 1), &resolved)) {
            return false;
        }
        out->dir = sl_str_sub(resolved, 0, resolved.len - 1);
    }
    out->hash = hash(out->dir.ptr, out->dir.len, 0);
    return true;
}

void sl_key_maker_init(struct sl_key_maker *maker, const silt_env *env, struct sl_str root, sl_key_hash *hash)
{
    *maker = (struct sl_key_maker){.root = root, .hash = hash != NULL ? hash : sl_key_hash_xxh3};
    sl_arena_init(&maker->arena, env);
    sl_buf_init(&maker->raw_dir, env);
    sl_buf_init(&maker->dir_text, env);
    sl_buf_init(&maker->vector, env);
    maker->dir.hash = maker->hash(NULL, 0, 0);
}

void sl_key_maker_release(struct sl_key_maker *maker)
{
    sl_arena_release(&maker->arena);
    sl_buf_release(&maker->raw_dir);
    sl_buf_release(&maker->dir_text);
    sl_buf_release(&maker->vector);
}

/* PROTOCOL.md "Deletion Vector Descriptor Schema": the unique id. */
static bool add_vector(struct sl_key_maker *maker, const struct sl_dv_descriptor *dv, struct sl_file_key *key)
{
    key->vector = (struct sl_str){NULL, 0};
    if (dv == NULL) {
        return true;
    }
    sl_buf_clear(&maker->vector);
    sl_buf_put_str(&maker->vector, dv->storage_type);
    sl_buf_put_str(&maker->vector, dv->path_or_inline_dv);
    if (dv->offset != SL_NO_I64) {
        sl_buf_put_char(&maker->vector, '@');
        sl_buf_put_i64(&maker->vector, dv->offset);
    }
    if (sl_buf_status(&maker->vector, NULL) != SILT_OK) {
        return false;
    }
    key->vector = sl_str_make(sl_buf_cstr(&maker->vector), maker->vector.len);
    key->hash = maker->hash(key->vector.ptr, key->vector.len, key->hash);
    return true;
}

static bool make_odd(struct sl_key_maker *maker, struct sl_str path, struct sl_file_key *out)
{
    struct sl_str resolved = {NULL, 0};
    if (!resolve(&maker->arena, maker->root, path, &resolved)) {
        return false;
    }
    const size_t dir_len = sl_key_dir_len(resolved);
    out->dir = sl_str_sub(resolved, 0, dir_len);
    out->name = sl_str_sub(resolved, dir_len, resolved.len);
    out->hash = maker->hash(out->name.ptr, out->name.len, maker->hash(out->dir.ptr, out->dir.len, 0));
    return true;
}

static struct sl_str join(struct sl_arena *arena, struct sl_str dir, struct sl_str name)
{
    char *text = sl_arena_alloc(arena, dir.len + name.len + 1);
    if (text == NULL) {
        return (struct sl_str){NULL, 0};
    }
    if (dir.len > 0) {
        memcpy(text, dir.ptr, dir.len);
    }
    if (name.len > 0) {
        memcpy(text + dir.len, name.ptr, name.len);
    }
    return sl_str_make(text, dir.len + name.len);
}

bool sl_key_make_in(struct sl_key_maker *maker, struct sl_str raw_dir, const struct sl_key_dir *dir, struct sl_str name,
                    const struct sl_dv_descriptor *dv, struct sl_file_key *out)
{
    if (maker->arena.total_bytes > SCRATCH_MAX) {
        sl_arena_release(&maker->arena);
    }
    if (is_plain_name(name)) {
        out->dir = dir->dir;
        out->name = name;
        out->hash = maker->hash(name.ptr, name.len, dir->hash);
        return add_vector(maker, dv, out);
    }
    const struct sl_str path = join(&maker->arena, raw_dir, name);
    return path.ptr != NULL && make_odd(maker, path, out) && add_vector(maker, dv, out);
}

/* The folder of a run of files is decoded once. */
static bool set_dir(struct sl_key_maker *maker, struct sl_str raw_dir)
{
    sl_buf_clear(&maker->raw_dir);
    sl_buf_clear(&maker->dir_text);
    maker->dir = (struct sl_key_dir){.hash = maker->hash(NULL, 0, 0)};
    struct sl_key_dir made = {.dir = {NULL, 0}};
    if (!sl_key_dir_make(&maker->arena, maker->root, maker->hash, raw_dir, &made)) {
        return false;
    }
    sl_buf_put_str(&maker->dir_text, made.dir);
    sl_buf_put_str(&maker->raw_dir, raw_dir);
    maker->dir = (struct sl_key_dir){.dir = sl_buf_view(&maker->dir_text), .hash = made.hash};
    return sl_buf_status(&maker->raw_dir, NULL) == SILT_OK && sl_buf_status(&maker->dir_text, NULL) == SILT_OK;
}

bool sl_key_make(struct sl_key_maker *maker, struct sl_str path, const struct sl_dv_descriptor *dv,
                 struct sl_file_key *out)
{
    const size_t dir_len = sl_key_dir_len(path);
    const struct sl_str raw_dir = sl_str_sub(path, 0, dir_len);
    if (!sl_str_eq(raw_dir, sl_buf_view(&maker->raw_dir)) && !set_dir(maker, raw_dir)) {
        sl_buf_clear(&maker->raw_dir);
        return false;
    }
    return sl_key_make_in(maker, raw_dir, &maker->dir, sl_str_sub(path, dir_len, path.len), dv, out);
}

struct sl_str sl_file_key(struct sl_arena *arena, struct sl_str root, struct sl_str path,
                          const struct sl_dv_descriptor *dv)
{
    struct sl_key_maker maker;
    struct sl_file_key key;
    struct sl_str text = {NULL, 0};
    sl_key_maker_init(&maker, arena->env, root, NULL);
    if (sl_key_make(&maker, path, dv, &key)) {
        const struct sl_str file = join(&maker.arena, key.dir, key.name);
        /* No path holds a NUL (decoding refuses it), so a key with a vector equals none without. */
        char *whole = file.ptr != NULL ? sl_arena_alloc(arena, file.len + key.vector.len + 2) : NULL;
        if (whole != NULL) {
            memcpy(whole, file.ptr, file.len);
            text = sl_str_make(whole, file.len);
            if (key.vector.ptr != NULL) {
                whole[text.len++] = '\0';
                memcpy(whole + text.len, key.vector.ptr, key.vector.len);
                text.len += key.vector.len;
            }
        }
    }
    sl_key_maker_release(&maker);
    return text;
}
