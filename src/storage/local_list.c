/*
 * Listings of the local store: files in byte order of their names relative to the listed folder, symbolic links to
 * files followed, to folders not. Folders are read whole before anything is shown, since order needs all names; files
 * are looked at only when they are shown, so a listing that stops early is cheap.
 *
 * In a recursive listing a folder takes its place in the order with the '/' that its files' names go on with, so that
 * walking depth first yields byte order ("a-b" before "a/x" before "a0").
 *
 * Called through the store's slots. Any thread.
 */
#include "storage/local_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* Names taken from a folder between two looks at the call. */
#define NAMES_PER_CHECK 1024

/* One listing. */
struct walk {
    const struct sl_local *local;
    const silt_call *call;
    struct sl_str start_from; /* absent: all */
    bool recursive;
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
    bool stopped;
    size_t names;                  /* seen so far */
    size_t root_len;               /* of the listed folder in path, with the slash after it */
    size_t path_len;               /* of the folder at hand, with the slash after it */
    char path[SL_LOCAL_PATH_SIZE]; /* of the folder or file at hand */
};

/* A file, or with a '/' at its end a folder. */
struct child {
    struct sl_str name; /* NUL-terminated, in the folder's arena */
    bool is_dir;
};

/* The names of one folder. */
struct folder {
    struct sl_arena names;
    struct sl_vec children; /* of struct child */
};

static int compare_children(const void *a, const void *b)
{
    const struct child *left = a;
    const struct child *right = b;
    return sl_str_compare(left->name, right->name);
}

/* Puts a name behind the folder at hand, and a '/' after that of a folder. */
static silt_status set_name(struct walk *walk, struct sl_str name, bool is_dir, silt_error *err)
{
    char *end = walk->path + walk->path_len;
    if (name.len + is_dir >= sizeof(walk->path) - walk->path_len) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a path below it is longer than the system's %d",
                       SL_LOCAL_PATH_SIZE - 1);
    }
    memcpy(end, name.ptr, name.len);
    end += name.len;
    if (is_dir) {
        *end++ = '/';
    }
    *end = '\0';
    return SILT_OK;
}

/* What a name is: a file, a folder to descend into, or neither. */
static void classify(int dir_fd, const struct dirent *found, bool *is_file, bool *is_dir)
{
    struct stat info = {0};
    *is_file = found->d_type == DT_REG;
    *is_dir = found->d_type == DT_DIR;
    if (found->d_type != DT_UNKNOWN && found->d_type != DT_LNK) {
        return;
    }
    /* What vanished meanwhile, and a link to nothing, is neither. */
    if (fstatat(dir_fd, found->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    *is_dir = S_ISDIR(info.st_mode);
    if (S_ISLNK(info.st_mode) && fstatat(dir_fd, found->d_name, &info, 0) != 0) {
        return;
    }
    *is_file = S_ISREG(info.st_mode);
}

/* Whether a file, or anything in a folder (with its '/'), can be at or after the wanted start. */
static bool is_wanted(const struct walk *walk, struct sl_str relative, bool is_dir)
{
    if (walk->start_from.ptr == NULL || sl_str_compare(relative, walk->start_from) >= 0) {
        return true;
    }
    return is_dir && sl_str_starts_with(walk->start_from, relative);
}

static silt_status take_child(struct walk *walk, int dir_fd, const struct dirent *found, struct folder *folder,
                              silt_error *err)
{
    bool is_file = false;
    bool is_dir = false;
    if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0 || sl_local_is_hidden(found->d_name)) {
        return SILT_OK;
    }
    classify(dir_fd, found, &is_file, &is_dir);
    if (!is_file && !(is_dir && walk->recursive)) {
        return SILT_OK;
    }
    SL_TRY(set_name(walk, sl_str_from(found->d_name), is_dir, err));
    const size_t len = strlen(walk->path + walk->path_len);
    if (!is_wanted(walk, sl_str_make(walk->path + walk->root_len, walk->path_len - walk->root_len + len), is_dir)) {
        return SILT_OK;
    }
    const struct sl_str name = sl_arena_copy(&folder->names, sl_str_make(walk->path + walk->path_len, len));
    struct child *child = name.ptr != NULL ? sl_vec_push(&folder->children) : NULL;
    if (child == NULL) {
        return sl_fail_nomem(err);
    }
    *child = (struct child){.name = name, .is_dir = is_dir};
    return SILT_OK;
}

static silt_status read_names(struct walk *walk, DIR *dir, struct folder *folder, silt_error *err)
{
    for (;;) {
        errno = 0;
        const struct dirent *found = readdir(dir);
        if (found == NULL) {
            return errno != 0 ? sl_fail_errno(err, errno, "read the folder", NULL) : SILT_OK;
        }
        if (walk->names++ % NAMES_PER_CHECK == 0) {
            SL_TRY(sl_call_check(walk->local->env, walk->call, err));
        }
        SL_TRY(take_child(walk, dirfd(dir), found, folder, err));
    }
}

/* The children of the folder at hand, in order. */
static silt_status read_folder(struct walk *walk, struct folder *folder, silt_error *err)
{
    walk->path[walk->path_len] = '\0';
    DIR *dir = opendir(walk->path);
    if (dir == NULL) {
        if (walk->path_len > walk->root_len && (errno == ENOENT || errno == ENOTDIR)) {
            return SILT_OK; /* a sub-folder that vanished since its name was read */
        }
        return sl_fail_errno(err, errno, "open the folder", NULL);
    }
    silt_status status = read_names(walk, dir, folder, err);
    (void)closedir(dir); /* read only: there is nothing to lose */
    if (status == SILT_OK && folder->children.len > 1) {
        qsort(folder->children.data, folder->children.len, sizeof(struct child), compare_children);
    }
    return status;
}

static silt_status show_file(struct walk *walk, struct sl_str name, silt_error *err)
{
    SL_TRY(set_name(walk, name, false, err));
    struct stat info = {0};
    if (stat(walk->path, &info) != 0) {
        /* Removed since its name was read: as if it had gone before the listing. */
        return errno == ENOENT ? SILT_OK : sl_fail_errno(err, errno, "look at", walk->path);
    }
    if (!S_ISREG(info.st_mode)) {
        return SILT_OK;
    }
    const silt_file_entry entry = {.name = walk->path + walk->root_len,
                                   .name_len = walk->path_len - walk->root_len + name.len,
                                   .size_bytes = (int64_t)info.st_size,
                                   .modified_ms = sl_local_modified_ms(&info)};
    walk->stopped = !walk->on_entry(walk->ctx, &entry);
    return SILT_OK;
}

static silt_status walk_folder(struct walk *walk, unsigned depth, silt_error *err)
{
    if (depth > SL_LOCAL_MAX_DEPTH) {
        return sl_fail(err, SILT_ELIMIT, NULL, "folders are nested deeper than %d", SL_LOCAL_MAX_DEPTH);
    }
    struct folder folder = {0};
    sl_arena_init(&folder.names, walk->local->env);
    sl_vec_init(&folder.children, walk->local->env, sizeof(struct child));
    silt_status status = read_folder(walk, &folder, err);
    const struct child *last = NULL;
    for (size_t i = 0; status == SILT_OK && !walk->stopped && i < folder.children.len; i++) {
        const struct child *child = sl_vec_at(&folder.children, i);
        /* A file system may show a name twice when it is replaced while the folder is read. */
        if (last != NULL && sl_str_eq(last->name, child->name)) {
            continue;
        }
        last = child;
        if (!child->is_dir) {
            status = sl_call_check(walk->local->env, walk->call, err);
            status = status == SILT_OK ? show_file(walk, child->name, err) : status;
            continue;
        }
        status = set_name(walk, child->name, false, err);
        if (status == SILT_OK) {
            walk->path_len += child->name.len;
            status = walk_folder(walk, depth + 1, err);
            walk->path_len -= child->name.len;
        }
    }
    sl_vec_release(&folder.children);
    sl_arena_release(&folder.names);
    return status;
}

silt_status sl_local_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                          bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct walk walk = {.local = impl,
                        .call = call,
                        .start_from = sl_str_from(options->start_from),
                        .recursive = options->recursive,
                        .on_entry = on_entry,
                        .ctx = ctx};
    SL_TRY(sl_local_dir_path(dir, walk.path, err));
    walk.path_len = strlen(walk.path);
    if (walk.path[walk.path_len - 1] != '/') {
        SL_TRY(set_name(&walk, SL_STR("/"), false, err));
        walk.path_len++;
    }
    walk.root_len = walk.path_len;
    return walk_folder(&walk, 0, err);
}
