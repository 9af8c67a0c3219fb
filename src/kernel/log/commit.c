/*
 * Parsing and reading of one commit (PROTOCOL.md "Delta Log Entries"). A commit is either taken whole or refused: a torn
 * line, or two actions that reconcile with each other, make the version's meaning unknowable ("Requirements for Writers:
 * Delta Log Entries"). Called by replay, history and transactions; from several threads with an arena each.
 */
#include "kernel/log/commit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "base/map.h"

struct checker {
    struct sl_arena *arena;
    struct sl_map files; /* path and vector of adds and removes */
    struct sl_map names; /* "txn <appId>" and the like */
    bool has_metadata;
    bool has_protocol;
    silt_error *err;
};

/* The logical file's key as text: the path alone, or with its vector behind a NUL, which no path holds. */
static bool file_key(struct checker *c, struct sl_str path, const struct sl_dv_descriptor *dv, struct sl_str *out)
{
    *out = path;
    if (dv == NULL) {
        return true;
    }
    const size_t len = path.len + 1 + dv->storage_type.len + dv->path_or_inline_dv.len + 24;
    char *key = sl_arena_alloc(c->arena, len);
    if (key == NULL) {
        return false;
    }
    memcpy(key, path.ptr, path.len);
    const int n = snprintf(key + path.len + 1, len - path.len - 1, "%.*s%.*s@%" PRId64, SL_FMT(dv->storage_type),
                           SL_FMT(dv->path_or_inline_dv), dv->offset);
    key[path.len] = '\0';
    *out = sl_str_make(key, path.len + 1 + (n > 0 ? (size_t)n : 0));
    return true;
}

static silt_status once(struct checker *c, struct sl_map *map, struct sl_str key, const char *what, struct sl_str shown)
{
    bool inserted = false;
    if (key.ptr == NULL || sl_map_put(map, key, &inserted) == NULL) {
        return sl_fail_nomem(c->err);
    }
    if (!inserted) {
        return sl_fail(c->err, SILT_ECORRUPT, "DELTA_DUPLICATE_ACTIONS_FOUND",
                       "%s %.*s has more than one action in the commit", what, SL_FMT(shown));
    }
    return SILT_OK;
}

static silt_status once_file(struct checker *c, struct sl_str path, const struct sl_dv_descriptor *dv)
{
    struct sl_str key = {NULL, 0};
    if (!file_key(c, path, dv, &key)) {
        return sl_fail_nomem(c->err);
    }
    return once(c, &c->files, key, "file", path);
}

static silt_status once_name(struct checker *c, const char *what, struct sl_str name)
{
    const char *key = sl_arena_printf(c->arena, "%s %.*s", what, SL_FMT(name));
    return once(c, &c->names, sl_str_from(key), what, name);
}

static silt_status once_only(struct checker *c, bool *seen, const char *what)
{
    if (*seen) {
        return sl_fail(c->err, SILT_ECORRUPT, "DELTA_DUPLICATE_ACTIONS_FOUND", "the commit has more than one %s action",
                       what);
    }
    *seen = true;
    return SILT_OK;
}

static silt_status check_action(struct checker *c, const struct sl_action *action)
{
    switch (action->kind) {
    case SL_ACTION_ADD: return once_file(c, action->u.add.path, action->u.add.deletion_vector);
    case SL_ACTION_REMOVE: return once_file(c, action->u.remove.path, action->u.remove.deletion_vector);
    case SL_ACTION_METADATA: return once_only(c, &c->has_metadata, "metaData");
    case SL_ACTION_PROTOCOL: return once_only(c, &c->has_protocol, "protocol");
    case SL_ACTION_APP_TXN: return once_name(c, "txn", action->u.app_txn.app_id);
    case SL_ACTION_DOMAIN_METADATA: return once_name(c, "domainMetadata", action->u.domain.domain);
    case SL_ACTION_CDC:
    case SL_ACTION_COMMIT_INFO:
    case SL_ACTION_SIDECAR:
    case SL_ACTION_CHECKPOINT_METADATA:
    case SL_ACTION_UNKNOWN: break;
    }
    return SILT_OK;
}

/* Takes the next line off *rest, without its end. */
static struct sl_str take_line(struct sl_str *rest)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    const size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    const struct sl_str line = sl_str_sub(*rest, 0, len);
    *rest = sl_str_sub(*rest, end != NULL ? len + 1 : len, rest->len);
    return line;
}

static size_t count_lines(struct sl_str bytes)
{
    size_t n = 0;
    for (struct sl_str rest = bytes; rest.len > 0; n++) {
        (void)take_line(&rest); /* counted only */
    }
    return n;
}

static silt_status parse_lines(const silt_env *env, struct checker *c, struct sl_str bytes, struct sl_action *actions,
                               size_t *n_actions, size_t *line_number)
{
    struct sl_str rest = bytes;
    while (rest.len > 0) {
        const struct sl_str line = sl_str_trim(take_line(&rest));
        (*line_number)++;
        if (line.len == 0) {
            continue;
        }
        SL_TRY(sl_action_parse(env, c->arena, line, &actions[*n_actions], c->err));
        SL_TRY(check_action(c, &actions[*n_actions]));
        (*n_actions)++;
    }
    return SILT_OK;
}

static const struct sl_commit_info *first_commit_info(const struct sl_action *actions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (actions[i].kind == SL_ACTION_COMMIT_INFO) {
            return &actions[i].u.commit_info;
        }
    }
    return NULL;
}

silt_status sl_commit_parse(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                            struct sl_commit *out, silt_error *err)
{
    *out = (struct sl_commit){.version = version};
    const size_t n_lines = count_lines(bytes);
    if (n_lines == 0) {
        return SILT_OK;
    }
    struct sl_action *actions = sl_arena_alloc_array(arena, n_lines, sizeof(*actions));
    if (actions == NULL) {
        return sl_fail_nomem(err);
    }
    struct checker c = {.arena = arena, .err = err};
    sl_map_init(&c.files, env);
    sl_map_init(&c.names, env);
    size_t n = 0;
    size_t line = 0;
    const silt_status status = parse_lines(env, &c, bytes, actions, &n, &line);
    if (status == SILT_OK) {
        out->actions = actions;
        out->n_actions = n;
        out->commit_info = first_commit_info(actions, n);
    } else {
        sl_error_context(err, "commit %" PRId64 ", line %zu", version, line);
        sl_error_version(err, version);
    }
    sl_map_release(&c.files);
    sl_map_release(&c.names);
    return status;
}

silt_status sl_commit_parse_info(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                                 struct sl_commit *out, silt_error *err)
{
    *out = (struct sl_commit){.version = version};
    struct sl_action *action = sl_arena_alloc_zero(arena, sizeof(*action));
    if (action == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_str rest = bytes;
    while (rest.len > 0) {
        const struct sl_str line = take_line(&rest);
        if (sl_str_find(line, SL_STR("\"commitInfo\"")) == SIZE_MAX) {
            continue;
        }
        const silt_status status = sl_action_parse(env, arena, sl_str_trim(line), action, NULL);
        if (status == SILT_ENOMEM) {
            return sl_fail_nomem(err);
        }
        if (status == SILT_OK && action->kind == SL_ACTION_COMMIT_INFO) {
            out->actions = action;
            out->n_actions = 1;
            out->commit_info = &action->u.commit_info;
            return SILT_OK;
        }
    }
    return SILT_OK;
}

silt_status sl_commit_read(silt_engine *engine, silt_storage *storage, const silt_call *call, struct sl_str root,
                           int64_t version, struct sl_arena *arena, struct sl_commit *out, silt_error *err)
{
    *out = (struct sl_commit){.version = version};
    const struct sl_str path = sl_log_commit_path(arena, root, version);
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    void *data = NULL;
    size_t len = 0;
    SL_TRY(silt_storage_read(storage, call, path.ptr, &data, &len, err));
    const silt_status status = sl_commit_parse(silt_engine_env(engine), arena, version, sl_str_make(data, len), out,
                                               err);
    silt_storage_free(storage, data, len);
    return status;
}
