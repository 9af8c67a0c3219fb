/*
 * The reconciliation engine; see replay.h. Going from new to old, the first action of a kind and key is the one that counts,
 * so nothing that was taken is ever revised and files of a checkpoint need no memory.
 */
#include "kernel/replay/replay.h"

#include "base/error.h"
#include "kernel/replay/file_key.h"

/* Scratch for keys is given back when it has grown to this. */
#define SCRATCH_MAX ((size_t)256 * 1024)

void sl_replay_state_init(struct sl_replay_state *state, const silt_env *env)
{
    *state = (struct sl_replay_state){.has_protocol = false};
    sl_vec_init(&state->app_txns, env, sizeof(struct sl_app_txn));
    sl_vec_init(&state->domains, env, sizeof(struct sl_domain_metadata));
    sl_map_init(&state->app_index, env);
    sl_map_init(&state->domain_index, env);
}

void sl_replay_state_release(struct sl_replay_state *state)
{
    sl_vec_release(&state->app_txns);
    sl_vec_release(&state->domains);
    sl_map_release(&state->app_index);
    sl_map_release(&state->domain_index);
}

void sl_replay_init(struct sl_replay *replay, const silt_env *env, struct sl_str root, struct sl_replay_state *state,
                    struct sl_arena *arena, const struct sl_replay_sink *sink)
{
    *replay = (struct sl_replay){.env = env, .root = root, .state = state, .arena = arena, .want_files = sink != NULL};
    if (sink != NULL) {
        replay->sink = *sink;
    }
    sl_map_init(&replay->seen, env);
    sl_arena_init(&replay->keys, env);
    sl_arena_init(&replay->scratch, env);
}

void sl_replay_release(struct sl_replay *replay)
{
    sl_map_release(&replay->seen);
    sl_arena_release(&replay->keys);
    sl_arena_release(&replay->scratch);
}

/* ---- files ---- */

/* *is_new false: something newer decided about the file. */
static silt_status record(struct sl_replay *replay, struct sl_str key, bool *is_new, silt_error *err)
{
    *is_new = sl_map_find(&replay->seen, key) == NULL;
    return *is_new ? sl_replay_mark(replay, key, err) : SILT_OK;
}

silt_status sl_replay_mark(struct sl_replay *replay, struct sl_str key, silt_error *err)
{
    const struct sl_str copy = sl_arena_copy(&replay->keys, key);
    if (copy.ptr == NULL || sl_map_put(&replay->seen, copy, NULL) == NULL) {
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

static silt_status make_key(struct sl_replay *replay, struct sl_str path, const struct sl_dv_descriptor *dv,
                            struct sl_str *key, silt_error *err)
{
    if (replay->scratch.total_bytes > SCRATCH_MAX) {
        sl_arena_release(&replay->scratch);
    }
    *key = sl_file_key(&replay->scratch, replay->root, path, dv);
    return key->ptr == NULL ? sl_fail_nomem(err) : SILT_OK;
}

static silt_status take_file(struct sl_replay *replay, const struct sl_action *action, bool from_checkpoint,
                             silt_error *err)
{
    const bool is_add = action->kind == SL_ACTION_ADD;
    const struct sl_str path = is_add ? action->u.add.path : action->u.remove.path;
    const struct sl_dv_descriptor *dv = is_add ? action->u.add.deletion_vector : action->u.remove.deletion_vector;
    bool is_new = true;
    if (!from_checkpoint || replay->seen.live > 0) {
        struct sl_str key = {NULL, 0};
        SL_TRY(make_key(replay, path, dv, &key, err));
        if (from_checkpoint) {
            is_new = sl_map_find(&replay->seen, key) == NULL;
        } else {
            SL_TRY(record(replay, key, &is_new, err));
        }
    }
    if (!is_new) {
        return SILT_OK;
    }
    if (is_add) {
        return replay->sink.on_add != NULL ? replay->sink.on_add(replay->sink.ctx, &action->u.add, err) : SILT_OK;
    }
    return replay->sink.on_remove != NULL ? replay->sink.on_remove(replay->sink.ctx, &action->u.remove, err) : SILT_OK;
}

/* ---- the rest of the state ---- */

static silt_status take_app_txn(struct sl_replay *replay, const struct sl_app_txn *txn, silt_error *err)
{
    struct sl_replay_state *state = replay->state;
    if (sl_map_find(&state->app_index, txn->app_id) != NULL) {
        return SILT_OK;
    }
    const struct sl_str app_id = sl_arena_copy(replay->arena, txn->app_id);
    struct sl_map_entry *entry = app_id.ptr != NULL ? sl_map_put(&state->app_index, app_id, NULL) : NULL;
    struct sl_app_txn *slot = entry != NULL ? sl_vec_push(&state->app_txns) : NULL;
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    entry->value.u64 = state->app_txns.len - 1;
    *slot = (struct sl_app_txn){.app_id = app_id, .version = txn->version, .last_updated = txn->last_updated};
    return SILT_OK;
}

static silt_status take_domain(struct sl_replay *replay, const struct sl_domain_metadata *domain, silt_error *err)
{
    struct sl_replay_state *state = replay->state;
    if (sl_map_find(&state->domain_index, domain->domain) != NULL) {
        return SILT_OK;
    }
    const struct sl_str name = sl_arena_copy(replay->arena, domain->domain);
    const struct sl_str configuration = sl_arena_copy(replay->arena, domain->configuration);
    struct sl_map_entry *entry = name.ptr != NULL && configuration.ptr != NULL
                                     ? sl_map_put(&state->domain_index, name, NULL)
                                     : NULL;
    struct sl_domain_metadata *slot = entry != NULL ? sl_vec_push(&state->domains) : NULL;
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    entry->value.u64 = state->domains.len - 1;
    *slot = (struct sl_domain_metadata){.domain = name, .configuration = configuration, .removed = domain->removed};
    return SILT_OK;
}

static silt_status take_metadata(struct sl_replay *replay, const struct sl_metadata *metadata, silt_error *err)
{
    struct sl_replay_state *state = replay->state;
    if (state->has_metadata) {
        return SILT_OK;
    }
    if (!sl_metadata_copy(replay->arena, metadata, &state->metadata)) {
        return sl_fail_nomem(err);
    }
    state->has_metadata = true;
    return SILT_OK;
}

static silt_status take_protocol(struct sl_replay *replay, const struct sl_protocol *protocol, silt_error *err)
{
    struct sl_replay_state *state = replay->state;
    if (state->has_protocol) {
        return SILT_OK;
    }
    if (!sl_protocol_copy(replay->arena, protocol, &state->protocol)) {
        return sl_fail_nomem(err);
    }
    state->has_protocol = true;
    return SILT_OK;
}

static silt_status take(struct sl_replay *replay, const struct sl_action *action, bool from_checkpoint, silt_error *err)
{
    const bool is_file = action->kind == SL_ACTION_ADD || action->kind == SL_ACTION_REMOVE;
    if (is_file) {
        return replay->want_files ? take_file(replay, action, from_checkpoint, err) : SILT_OK;
    }
    if (replay->state == NULL) {
        return SILT_OK;
    }
    switch (action->kind) {
    case SL_ACTION_PROTOCOL: return take_protocol(replay, &action->u.protocol, err);
    case SL_ACTION_METADATA: return take_metadata(replay, &action->u.metadata, err);
    case SL_ACTION_APP_TXN: return take_app_txn(replay, &action->u.app_txn, err);
    case SL_ACTION_DOMAIN_METADATA: return take_domain(replay, &action->u.domain, err);
    case SL_ACTION_ADD:
    case SL_ACTION_REMOVE:
    case SL_ACTION_CDC:
    case SL_ACTION_COMMIT_INFO:
    case SL_ACTION_SIDECAR:
    case SL_ACTION_CHECKPOINT_METADATA:
    case SL_ACTION_UNKNOWN: break;
    }
    return SILT_OK;
}

silt_status sl_replay_commit(struct sl_replay *replay, const struct sl_commit *commit, silt_error *err)
{
    for (size_t i = 0; i < commit->n_actions; i++) {
        SL_TRY(take(replay, &commit->actions[i], false, err));
    }
    return SILT_OK;
}

silt_status sl_replay_checkpoint_action(struct sl_replay *replay, const struct sl_action *action, silt_error *err)
{
    return take(replay, action, true, err);
}
