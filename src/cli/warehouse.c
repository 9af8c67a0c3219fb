/*
 * Looks for folders with a log in them, two levels deep; see warehouse.h. What cannot be read is left out: it only helps.
 */
#include "cli/warehouse.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/uri.h"

#define MAX_ENTRIES 10000
#define PATH_BYTES 4096
#define NAME_BYTES 600

struct walk {
    void (*on_table)(void *ctx, const char *name);
    void *ctx;
    size_t n_entries;
};

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void walk_folder(struct walk *walk, const char *folder, const char *schema)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry = NULL;

    while (dir != NULL && (entry = readdir(dir)) != NULL && walk->n_entries++ < MAX_ENTRIES) {
        char path[PATH_BYTES];
        char log[PATH_BYTES + 16];
        char name[NAME_BYTES];
        if (entry->d_name[0] == '.' || strchr(entry->d_name, '=') != NULL) {
            continue; /* hidden, or a partition */
        }
        const int len = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (len < 0 || (size_t)len >= sizeof(path) || !is_folder(path)) {
            continue;
        }
        (void)snprintf(log, sizeof(log), "%s/_delta_log", path);
        (void)snprintf(name, sizeof(name), "%s%s%s", schema, schema[0] != '\0' ? "." : "", entry->d_name);
        if (is_folder(log)) {
            walk->on_table(walk->ctx, name);
        } else if (schema[0] == '\0') {
            walk_folder(walk, path, entry->d_name);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
}

bool sl_warehouse_is_missing(const struct sl_cli *cli)
{
    struct sl_arena arena;
    struct sl_str folder = {0};
    sl_arena_init(&arena, cli->env);
    const bool local = sl_uri_normalize(&arena, sl_str_from(sl_cli_warehouse(cli)), &folder, NULL) == SILT_OK &&
                       folder.len > 0 && folder.ptr[0] == '/';
    const bool missing = local && !is_folder(folder.ptr);
    sl_arena_release(&arena);
    return missing;
}

void sl_warehouse_each(const struct sl_cli *cli, void (*on_table)(void *ctx, const char *name), void *ctx)
{
    struct walk walk = {on_table, ctx, 0};
    struct sl_arena arena;
    struct sl_str folder = {0};

    sl_arena_init(&arena, cli->env);
    if (sl_uri_normalize(&arena, sl_str_from(sl_cli_warehouse(cli)), &folder, NULL) == SILT_OK && folder.len > 0 &&
        folder.ptr[0] == '/') {
        walk_folder(&walk, folder.ptr, "");
    }
    sl_arena_release(&arena);
}

struct nearest {
    struct sl_arena *arena;
    struct sl_str typed;
    size_t distance;
    const char *name;
};

static void note_near(void *ctx, const char *name)
{
    struct nearest *nearest = ctx;
    const size_t distance = sl_str_distance(nearest->typed, sl_str_from(name), nearest->distance);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->name = sl_arena_strdup(nearest->arena, sl_str_from(name));
    }
}

const char *sl_warehouse_suggest(struct sl_cli *cli, const char *typed)
{
    const struct sl_str word = sl_str_from(typed);
    struct nearest nearest = {&cli->arena, word, word.len < 4 ? 2 : 3, NULL};
    sl_warehouse_each(cli, note_near, &nearest);
    return nearest.name;
}
