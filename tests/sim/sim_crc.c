/*
 * Version checksums against the checker's own state of their version (PROTOCOL.md "Version Checksum File").
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static size_t count_live(const struct sim_world *world, const struct sim_state *state)
{
    size_t n = 0;
    for (size_t i = 0; i < world->files.n; i++) {
        n += state->live[i] != 0 ? 1 : 0;
    }
    return n;
}

static void check_files(struct sim_world *world, const struct sim_state *state, int64_t version,
                        const struct sim_json *files)
{
    size_t n = 0;
    for (const struct sim_json *file = files->first; file != NULL; file = file->next) {
        const char *path = sim_json_text(file, "path");
        const char *name = strstr(path, "f-");
        const long index = name != NULL ? strtol(name + 2, NULL, 10) : -1;
        if (index < 0 || (size_t)index >= world->files.n || state->live[index] == 0) {
            sim_break(world, "the checksum of version %lld has the file %s", (long long)version, path);
        }
        n++;
    }
    if (n != count_live(world, state)) {
        sim_break(world, "the checksum of version %lld names %zu of %zu files", (long long)version, n,
                  count_live(world, state));
    }
}

static void check_apps(struct sim_world *world, const struct sim_state *state, int64_t version,
                       const struct sim_json *apps)
{
    int64_t found[SIM_APPS] = {-1, -1};
    for (const struct sim_json *app = apps->first; app != NULL; app = app->next) {
        for (int i = 0; i < SIM_APPS; i++) {
            if (strcmp(sim_json_text(app, "appId"), sim_app_name(i)) == 0) {
                found[i] = strtoll(sim_json_text(app, "version"), NULL, 10);
            }
        }
    }
    for (int i = 0; i < SIM_APPS; i++) {
        if (found[i] != state->apps[i]) {
            sim_break(world, "the checksum of version %lld has %s at %lld, the log at %lld", (long long)version,
                      sim_app_name(i), (long long)found[i], (long long)state->apps[i]);
        }
    }
}

static void check_domains(struct sim_world *world, const struct sim_state *state, int64_t version,
                          const struct sim_json *domains)
{
    int64_t found = 0;
    for (const struct sim_json *domain = domains->first; domain != NULL; domain = domain->next) {
        if (strcmp(sim_json_text(domain, "domain"), "sim.domain") == 0) {
            found = strtoll(sim_json_text(domain, "configuration"), NULL, 10);
        }
    }
    if (found != state->domain) {
        sim_break(world, "the checksum of version %lld has the domain at %lld, the log at %lld", (long long)version,
                  (long long)found, (long long)state->domain);
    }
}

static void check_crc(struct sim_world *world, const struct sim_state *state, int64_t version,
                      const struct sim_json *crc)
{
    const size_t n_files = (size_t)strtoull(sim_json_text(crc, "numFiles"), NULL, 10);
    if (n_files != count_live(world, state)) {
        sim_break(world, "the checksum of version %lld counts %zu files, there are %zu", (long long)version, n_files,
                  count_live(world, state));
    }
    const struct sim_json *properties = sim_json_get(sim_json_get(crc, "metadata"), "configuration");
    const int64_t counter = strtoll(sim_json_text(properties, "sim.counter"), NULL, 10);
    if (counter != state->counter) {
        sim_break(world, "the checksum of version %lld has counter %lld, the log %lld", (long long)version,
                  (long long)counter, (long long)state->counter);
    }
    const char *timestamp = sim_json_text(crc, "inCommitTimestampOpt");
    if (state->timestamps && strtoll(timestamp, NULL, 10) != state->timestamp_ms) {
        sim_break(world, "the checksum of version %lld has the in-commit timestamp '%s', the log %lld",
                  (long long)version, timestamp, (long long)state->timestamp_ms);
    }
    const struct sim_json *list = sim_json_get(crc, "allFiles");
    if (list != NULL) {
        check_files(world, state, version, list);
    }
    list = sim_json_get(crc, "setTransactions");
    if (list != NULL) {
        check_apps(world, state, version, list);
    }
    list = sim_json_get(crc, "domainMetadata");
    if (list != NULL) {
        check_domains(world, state, version, list);
    }
}

void sim_check_crcs(struct sim_world *world, const struct sim_state *states)
{
    for (int64_t version = 0; version < world->store.n_commits; version++) {
        char path[128];
        (void)snprintf(path, sizeof(path), SIM_LOG "%020lld.crc", (long long)version);
        const struct sim_object *object = sim_store_find(world, path);
        if (object == NULL) {
            continue;
        }
        const struct sim_json *crc = sim_json_parse(world, object->data, object->len);
        if (crc == NULL && world->n_cut > 0) {
            continue;
        }
        if (crc == NULL) {
            sim_break(world, "the checksum of version %lld is no JSON", (long long)version);
            return;
        }
        world->n_crcs++;
        check_crc(world, &states[version], version, crc);
    }
}
