/*
 * The checker's own replay of the log: commit by commit from the bytes that landed, into the state of every version. It demands
 * of each commit what a log must hold anyway: a removed file was there, an added one was not (or is added again by an operation
 * that does so), application ids only grow.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct replay {
    struct sim_world *world;
    int64_t version;
    struct sim_state *state;
    const uint8_t *before; /* live files of the version before */
    struct sim_txn *txn;
    int64_t row_mark; /* of the version before */
    bool marked;      /* the commit says how far row ids were given */
};

/* -1 if absent. */
static int64_t number_of(const struct sim_json *object, const char *key)
{
    const char *text = sim_json_text(object, key);
    return text[0] != '\0' ? strtoll(text, NULL, 10) : -1;
}

/* The file that a path of the log names; -1 after noting that there is none. */
static int32_t find_file(struct replay *replay, const struct sim_json *action)
{
    struct sim_world *world = replay->world;
    const char *path = sim_json_text(action, "path");
    const char *name = strstr(path, "f-");
    const long index = name != NULL ? strtol(name + 2, NULL, 10) : -1;
    if (index < 0 || (size_t)index >= world->files.n ||
        strcmp(SIM_AT(&world->files, struct sim_file, index)->path, path) != 0) {
        sim_break(world, "version %lld names the file %s, which nobody wrote", (long long)replay->version, path);
        return -1;
    }
    return (int32_t)index;
}

static void take_remove(struct replay *replay, const struct sim_json *action)
{
    const int32_t index = find_file(replay, action);
    if (index < 0) {
        return;
    }
    if (!replay->before[index]) {
        sim_break(replay->world, "version %lld (%s) removes file %d, which is not in the table",
                  (long long)replay->version, sim_op_name(replay->txn->op), (int)index);
    }
    replay->state->live[index] = 0;
}

/* PROTOCOL.md "Row Tracking": fresh ids for every row and the version as that of the rows; a file that is added again keeps both. */
static void take_row_ids(struct replay *replay, struct sim_file *file, const struct sim_json *action)
{
    struct sim_state *state = replay->state;
    const int64_t base = number_of(action, "baseRowId");
    const int64_t version = number_of(action, "defaultRowCommitVersion");
    if (replay->txn->op == SIM_RESTAT) {
        if (base != file->base_row_id || version != file->row_version) {
            sim_break(replay->world, "version %lld changes the row ids of %s from %lld to %lld",
                      (long long)replay->version, file->path, (long long)file->base_row_id, (long long)base);
        }
        return;
    }
    if (base <= state->row_mark) {
        sim_break(replay->world, "version %lld gives the row id %lld again, %lld was given", (long long)replay->version,
                  (long long)base, (long long)state->row_mark);
    }
    if (version != replay->version) {
        sim_break(replay->world, "version %lld says that its rows are of version %lld", (long long)replay->version,
                  (long long)version);
    }
    file->base_row_id = base;
    file->row_version = version;
    state->row_mark = base + (int64_t)file->n_rows - 1;
}

static void take_domain(struct replay *replay, const struct sim_json *action)
{
    struct sim_world *world = replay->world;
    const char *name = sim_json_text(action, "domain");
    const char *text = sim_json_text(action, "configuration");
    if (strcmp(name, "sim.domain") == 0) {
        replay->state->domain = strtoll(text, NULL, 10);
        return;
    }
    if (strcmp(name, "delta.rowTracking") != 0) {
        sim_break(world, "version %lld has the domain %s", (long long)replay->version, name);
        return;
    }
    replay->marked = true;
    const int64_t mark = number_of(sim_json_parse(world, text, strlen(text)), "rowIdHighWaterMark");
    if (mark != replay->state->row_mark) {
        sim_break(world, "version %lld says that row ids were given up to %lld, and they were up to %lld",
                  (long long)replay->version, (long long)mark, (long long)replay->state->row_mark);
    }
}

static void take_add(struct replay *replay, const struct sim_json *action)
{
    struct sim_world *world = replay->world;
    const int32_t index = find_file(replay, action);
    if (index < 0) {
        return;
    }
    struct sim_file *file = SIM_AT(&world->files, struct sim_file, index);
    const bool own = SIM_AT(&world->txns, struct sim_txn, file->txn) == replay->txn;
    const bool again = replay->txn->op == SIM_RESTAT;
    if (own == again || (replay->before[index] != 0) != again) {
        sim_break(world, "version %lld (%s) adds file %d, which is %s", (long long)replay->version,
                  sim_op_name(replay->txn->op), (int)index,
                  own     ? "in the table already"
                  : again ? "not in the table any more"
                          : "another's");
    }
    replay->state->live[index] = 1;
    if (world->knobs.row_ids) {
        take_row_ids(replay, file, action);
    }
}

static void take_app(struct replay *replay, const struct sim_json *action)
{
    const int64_t version = strtoll(sim_json_text(action, "version"), NULL, 10);
    for (int app = 0; app < SIM_APPS; app++) {
        if (strcmp(sim_json_text(action, "appId"), sim_app_name(app)) != 0) {
            continue;
        }
        if (version <= replay->state->apps[app]) {
            sim_break(replay->world, "version %lld applies %s version %lld, although %lld is there",
                      (long long)replay->version, sim_app_name(app), (long long)version,
                      (long long)replay->state->apps[app]);
        }
        replay->state->apps[app] = version;
    }
}

static void take_metadata(struct replay *replay, const struct sim_json *action)
{
    struct sim_world *world = replay->world;
    const char *schema = sim_json_text(action, "schemaString");
    const struct sim_json *type = sim_json_parse(world, schema, strlen(schema));
    const struct sim_json *fields = sim_json_get(type, "fields");
    const struct sim_json *properties = sim_json_get(action, "configuration");
    const bool timestamps = strcmp(sim_json_text(properties, "delta.enableInCommitTimestamps"), "true") == 0;
    if (timestamps && !replay->state->timestamps && replay->version > 0 &&
        number_of(properties, "delta.inCommitTimestampEnablementVersion") != replay->version) {
        sim_break(world, "version %lld enables in-commit timestamps, and says that version %lld does",
                  (long long)replay->version,
                  (long long)number_of(properties, "delta.inCommitTimestampEnablementVersion"));
    }
    replay->state->timestamps = timestamps;
    replay->state->columns = 0;
    for (const struct sim_json *field = fields != NULL ? fields->first : NULL; field != NULL; field = field->next) {
        replay->state->columns++;
    }
    replay->state->counter = strtoll(sim_json_text(sim_json_get(action, "configuration"), "sim.counter"), NULL, 10);
}

/* The transaction that made a commit, by the name that it gave itself. */
static struct sim_txn *find_txn(struct sim_world *world, int64_t version, const struct sim_json *info)
{
    const char *name = sim_json_text(info, "userMetadata");
    const long index = strncmp(name, "sim-", 4) == 0 ? strtol(name + 4, NULL, 10) : -1;
    if (index < 0 || (size_t)index >= world->txns.n) {
        sim_break(world, "version %lld is nobody's: its userMetadata is '%s'", (long long)version, name);
        return NULL;
    }
    struct sim_txn *txn = SIM_AT(&world->txns, struct sim_txn, index);
    if (txn->landed >= 0) {
        sim_break(world, "t%ld (%s) is in the log twice, as version %lld and as version %lld", index,
                  sim_op_name(txn->op), (long long)txn->landed, (long long)version);
        return NULL;
    }
    txn->landed = version;
    return txn;
}

static bool changes_rows(enum sim_op op)
{
    return op >= SIM_INSERT && op <= SIM_OVERWRITE;
}

/* What others rely on: did the transaction read, and what. */
static void check_info(const struct replay *replay, const struct sim_json *info)
{
    const struct sim_txn *txn = replay->txn;
    const bool blind = txn->op == SIM_INSERT || txn->op == SIM_STREAM;
    const bool says_blind = strcmp(sim_json_text(info, "isBlindAppend"), "true") == 0;
    const int64_t read = strtoll(sim_json_text(info, "readVersion"), NULL, 10);
    if (says_blind && !blind && changes_rows(txn->op)) {
        sim_break(replay->world, "version %lld (%s) says that it is a blind append", (long long)replay->version,
                  sim_op_name(txn->op));
    }
    if (txn->op != SIM_CREATE && read != txn->read_version) {
        sim_break(replay->world, "version %lld (%s) says that it read %lld, and read %lld", (long long)replay->version,
                  sim_op_name(txn->op), (long long)read, (long long)txn->read_version);
    }
}

static void take_action(struct replay *replay, const struct sim_json *action)
{
    if (strcmp(action->key, "add") == 0) {
        take_add(replay, action);
    } else if (strcmp(action->key, "remove") == 0) {
        take_remove(replay, action);
    } else if (strcmp(action->key, "txn") == 0) {
        take_app(replay, action);
    } else if (strcmp(action->key, "metaData") == 0) {
        take_metadata(replay, action);
    } else if (strcmp(action->key, "protocol") == 0) {
        /* what it asks for is seen in what follows */
    } else if (strcmp(action->key, "domainMetadata") == 0) {
        take_domain(replay, action);
    } else if (strcmp(action->key, "commitInfo") != 0) {
        sim_break(replay->world, "version %lld has the action %s, which the checker does not know",
                  (long long)replay->version, action->key);
    }
}

/* The lines of a commit as a chain of their only members. NULL after noting what is wrong. */
static struct sim_json *read_lines(struct sim_world *world, int64_t version)
{
    const struct sim_commit *commit = &world->store.commits[version];
    struct sim_json *first = NULL;
    struct sim_json **tail = &first;
    const char *at = commit->data;
    const char *end = at + commit->len;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const size_t len = (size_t)((line_end != NULL ? line_end : end) - at);
        struct sim_json *line = sim_json_parse(world, at, len);
        if (line == NULL || line->kind != SIM_JSON_OBJECT || line->first == NULL || line->first->next != NULL) {
            sim_break(world, "version %lld has a line that is no action: %.*s", (long long)version, (int)len, at);
            return NULL;
        }
        *tail = line->first;
        tail = &line->first->next;
        at += len + 1;
    }
    if (first == NULL) {
        sim_break(world, "version %lld is empty", (long long)version);
    }
    return first;
}

/* PROTOCOL.md "In-Commit Timestamps": commitInfo comes first, and times ascend from version to version. */
static void check_timestamp(struct replay *replay, const struct sim_json *first, const struct sim_json *info)
{
    struct sim_state *state = replay->state;
    if (!state->timestamps) {
        return;
    }
    const int64_t timestamp_ms = number_of(info, "inCommitTimestamp");
    if (info != first || timestamp_ms <= state->timestamp_ms) {
        sim_break(replay->world, "version %lld has the in-commit timestamp %lld%s, after %lld",
                  (long long)replay->version, (long long)timestamp_ms, info != first ? " at a wrong place" : "",
                  (long long)state->timestamp_ms);
    }
    state->timestamp_ms = timestamp_ms;
}

static bool replay_commit(struct replay *replay)
{
    struct sim_world *world = replay->world;
    struct sim_json *lines = read_lines(world, replay->version);
    const struct sim_json *info = lines;
    while (info != NULL && strcmp(info->key, "commitInfo") != 0) {
        info = info->next;
    }
    replay->txn = lines != NULL ? find_txn(world, replay->version, info) : NULL;
    if (replay->txn == NULL) {
        return false;
    }
    replay->state->txn = (int32_t)(replay->txn - SIM_AT(&world->txns, struct sim_txn, 0));
    check_info(replay, info);
    /* Removals first: an overwrite may name its files in any order. */
    for (const struct sim_json *line = lines; line != NULL; line = line->next) {
        if (strcmp(line->key, "remove") == 0) {
            take_action(replay, line);
        }
    }
    for (const struct sim_json *line = lines; line != NULL; line = line->next) {
        if (strcmp(line->key, "remove") != 0 && strcmp(line->key, "domainMetadata") != 0) {
            take_action(replay, line);
        }
    }
    for (const struct sim_json *line = lines; line != NULL; line = line->next) {
        if (strcmp(line->key, "domainMetadata") == 0) {
            take_action(replay, line);
        }
    }
    check_timestamp(replay, lines, info);
    if (replay->state->row_mark != replay->row_mark && !replay->marked) {
        sim_break(world, "version %lld gives row ids and does not say so", (long long)replay->version);
    }
    return !world->stopping;
}

struct sim_state *sim_log_replay(struct sim_world *world)
{
    const int64_t n = world->store.n_commits;
    struct sim_state *states = sim_keep(world, ((size_t)n + 1) * sizeof(*states));
    const uint8_t *before = sim_keep(world, world->files.n + 1);
    struct sim_state *last = NULL;
    for (int64_t version = 0; version < n; version++) {
        struct sim_state *state = &states[version];
        if (last != NULL) {
            *state = *last;
        } else {
            state->apps[0] = -1;
            state->apps[1] = -1;
            state->timestamp_ms = -1;
            state->row_mark = -1;
        }
        state->live = sim_keep(world, world->files.n + 1);
        memcpy(state->live, before, world->files.n);
        struct replay replay = {world, version, state, before, NULL, state->row_mark, false};
        if (!replay_commit(&replay)) {
            return NULL;
        }
        last = state;
        before = state->live;
    }
    return states;
}
