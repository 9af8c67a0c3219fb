/*
 * Folders that the store made on its way to a file. When the file is removed again, as by a write that is refused, they go with it, if
 * nothing else is in them by then: none of them was there before, so nobody misses one. Others may be about to put a file there; they
 * make the folder anew (local_path.c, local_adopt.c).
 *
 * Called by local_path.c and local.c. Any thread.
 */
#include "storage/local_int.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"

/* More are not remembered, and stay. */
#define MAX_FOLDERS 16384

struct sl_local_folders {
    const silt_env *env;
    pthread_mutex_t lock;
    struct sl_map made; /* paths; the value is the key's own memory */
};

struct sl_local_folders *sl_local_folders_new(const silt_env *env)
{
    struct sl_local_folders *folders = sl_alloc_zero(env, sizeof(*folders));
    if (folders != NULL) {
        folders->env = env;
        pthread_mutex_init(&folders->lock, NULL);
        sl_map_init(&folders->made, env);
    }
    return folders;
}

void sl_local_folders_free(struct sl_local_folders *folders)
{
    if (folders == NULL) {
        return;
    }
    for (size_t i = 0; i < folders->made.len; i++) {
        const struct sl_map_entry *entry = &folders->made.entries[i];
        if (entry->live) {
            sl_release(folders->env, entry->value.ptr, entry->key.len + 1);
        }
    }
    sl_map_release(&folders->made);
    pthread_mutex_destroy(&folders->lock);
    sl_release(folders->env, folders, sizeof(*folders));
}

/* A folder that cannot be remembered stays: no harm is done. */
static void remember(struct sl_local_folders *folders, struct sl_str dir)
{
    bool inserted = false;
    if (folders->made.live >= MAX_FOLDERS || sl_map_find(&folders->made, dir) != NULL) {
        return;
    }
    char *copy = sl_strdup_len(folders->env, dir.ptr, dir.len);
    if (copy == NULL) {
        return;
    }
    struct sl_map_entry *entry = sl_map_put(&folders->made, sl_str_make(copy, dir.len), &inserted);
    if (entry == NULL) {
        sl_release(folders->env, copy, dir.len + 1);
        return;
    }
    entry->value.ptr = copy;
}

void sl_local_folder_made(struct sl_local_folders *folders, const char *dir)
{
    if (folders == NULL) {
        return;
    }
    pthread_mutex_lock(&folders->lock);
    remember(folders, sl_str_from(dir));
    pthread_mutex_unlock(&folders->lock);
}

/* *gone: it was made here, was empty, and is removed. */
static void drop(struct sl_local_folders *folders, const char *dir, bool *gone)
{
    const struct sl_str key = sl_str_from(dir);
    const struct sl_map_entry *entry = sl_map_find(&folders->made, key);
    *gone = entry != NULL && rmdir(dir) == 0;
    if (*gone) {
        char *copy = entry->value.ptr;
        (void)sl_map_remove(&folders->made, key); /* it is there */
        sl_release(folders->env, copy, key.len + 1);
    }
}

void sl_local_folders_drop(struct sl_local_folders *folders, const char *file)
{
    char path[SL_LOCAL_PATH_SIZE];
    char dir[SL_LOCAL_PATH_SIZE];
    bool gone = true;
    if (folders == NULL) {
        return;
    }
    sl_local_parent(file, dir);
    pthread_mutex_lock(&folders->lock);
    /* Ends at the root at the latest, which nobody made here. */
    while (gone) {
        drop(folders, dir, &gone);
        memcpy(path, dir, strlen(dir) + 1);
        sl_local_parent(path, dir);
    }
    pthread_mutex_unlock(&folders->lock);
}
