/*
 * Checkpoints against the checker's own state of their version: the files that they name, in Parquet or JSON, with their sidecars and
 * in all their parts (PROTOCOL.md "Checkpoints").
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

/* The paths that lines of JSON name. False: they cannot be understood. */
static bool paths_of_lines(struct sim_world *world, const struct sim_object *object, const char *action,
                           struct sim_list *paths)
{
    const char *at = object->data;
    const char *end = at + object->len;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const size_t len = (size_t)((line_end != NULL ? line_end : end) - at);
        const struct sim_json *line = sim_json_parse(world, at, len);
        if (line == NULL) {
            return false;
        }
        const struct sim_json *found = sim_json_get(line, action);
        if (found != NULL) {
            *(const char **)sim_list_push(world, paths, sizeof(char *)) = sim_json_text(found, "path");
        }
        at += len + 1;
    }
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t len = strlen(text);
    return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

static bool paths_of(struct sim_world *world, const struct sim_object *object, const char *action,
                     struct sim_list *paths)
{
    return ends_with(object->path, ".json") ? paths_of_lines(world, object, action, paths)
                                            : sim_parquet_paths(world, object, action, paths);
}

/* Those of the sidecars that a checkpoint names. */
static void add_sidecars(struct sim_world *world, const struct sim_object *object, struct sim_list *paths)
{
    struct sim_list sidecars = {0};
    if (!paths_of(world, object, "sidecar", &sidecars)) {
        return;
    }
    for (size_t i = 0; i < sidecars.n; i++) {
        char path[256];
        (void)snprintf(path, sizeof(path), SIM_LOG "_sidecars/%s", *SIM_AT(&sidecars, const char *, i));
        const struct sim_object *sidecar = sim_store_find(world, path);
        if (sidecar == NULL || !paths_of(world, sidecar, "add", paths)) {
            sim_break(world, "%s names the sidecar %s, which is not there", object->path, path);
            return;
        }
    }
}

static void compare_files(struct sim_world *world, const struct sim_state *state, const char *checkpoint,
                          const struct sim_list *paths)
{
    uint8_t *named = sim_keep(world, world->files.n + 1);
    for (size_t i = 0; i < paths->n; i++) {
        const char *path = *SIM_AT(paths, const char *, i);
        const char *name = strstr(path, "f-");
        const long index = name != NULL ? strtol(name + 2, NULL, 10) : -1;
        if (index < 0 || (size_t)index >= world->files.n || named[index]) {
            sim_break(world, "%s names the file %s %s", checkpoint, path, index < 0 ? "which nobody wrote" : "twice");
            return;
        }
        named[index] = 1;
    }
    for (size_t i = 0; i < world->files.n; i++) {
        if (named[i] != (state->live[i] != 0)) {
            sim_break(world, "%s %s file %zu, which is %s the table", checkpoint, named[i] ? "names" : "lacks", i,
                      named[i] ? "not in" : "in");
            return;
        }
    }
}

/* The number of parts that a name speaks of; 0: it is not in parts. */
static long parts_of(const char *rest)
{
    char *end = NULL;
    const long part = strtol(rest, &end, 10);
    const long parts = part > 0 && *end == '.' && end == rest + 10 ? strtol(end + 1, &end, 10) : 0;
    return strcmp(end, ".parquet") == 0 ? parts : 0;
}

void sim_check_checkpoints(struct sim_world *world, const struct sim_state *states)
{
    const struct sim_list *objects = &world->store.objects;
    const size_t log = strlen(SIM_LOG);
    for (size_t i = 0; i < objects->n && !world->stopping; i++) {
        const struct sim_object *object = SIM_AT(objects, struct sim_object, i);
        const char *name = object->path + log;
        if (strncmp(object->path, SIM_LOG, log) != 0 || strlen(name) < 32 ||
            strncmp(name + 20, ".checkpoint.", 12) != 0) {
            continue;
        }
        const int64_t version = strtoll(name, NULL, 10);
        const long parts = parts_of(name + 32);
        struct sim_list paths = {0};
        bool parts_missing = false;
        bool whole = version < world->store.n_commits && paths_of(world, object, "add", &paths);
        if (parts > 1) {
            for (long part = 1; part < parts && whole && i + 1 < objects->n; part++) {
                const struct sim_object *next = SIM_AT(objects, struct sim_object, i + 1);
                if (strncmp(next->path, object->path, log + 32) != 0 || parts_of(next->path + log + 32) != parts) {
                    parts_missing = true; /* whoever wrote it crashed before the end */
                    break;
                }
                i++;
                whole = paths_of(world, next, "add", &paths);
            }
        } else if (whole) {
            add_sidecars(world, object, &paths);
        }
        if (!whole) {
            sim_break(world, "%s cannot be understood", object->path);
        } else if (!parts_missing) {
            world->n_checkpoints++;
            compare_files(world, &states[version], object->path, &paths);
        }
    }
}
