/*
 * The reconciliation engine; see replay.h. Going from new to old, the first action of a kind and key is the one that counts,
 * so nothing that was taken is ever revised and files of a checkpoint need no memory.
 */
#include "kernel/replay/replay.h"

#include "base/error.h"

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
    *replay = (struct sl_replay){
        .env = env, .state = state, .arena = arena, .want_files = sink != NULL, .last_version = -1};
    if (sink != NULL) {
        replay->sink = *sink;
    }
    sl_key_maker_init(&replay->keys, env, root, NULL);
    sl_key_maker_init(&replay->others, env, root, NULL);
    sl_key_set_init(&replay->decided, env);
}

void sl_replay_release(struct sl_replay *replay)
{
    sl_key_maker_release(&replay->keys);
    sl_key_maker_release(&replay->others);
    sl_key_set_release(&replay->decided);
}

/* ---- files ---- */

static bool is_decided(struct sl_replay *replay, const struct sl_file_key *key, bool *found)
{
    const struct sl_key_probe own = {.keys = &replay->decided,
                                     .files = replay->sink.adds != NULL ? replay->sink.adds->set : NULL,
                                     .maker = &replay->others};
    *found = false;
    if (replay->newer.keys != NULL && (!sl_key_set_find(&replay->newer, key, found) || *found)) {
        return *found;
    }
    return sl_key_set_find(&own, key, found);
}

silt_status sl_replay_mark(struct sl_replay *replay, const struct sl_file_key *key, silt_error *err)
{
    bool found = false;
    if (!is_decided(replay, key, &found) || (!found && !sl_key_set_put(&replay->decided, key))) {
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

/* Hands out an add; with a key, that is remembered. */
static silt_status emit_add(struct sl_replay *replay, const struct sl_add *add, const struct sl_file_key *key,
                            silt_error *err)
{
    if (replay->sink.adds != NULL) {
        sl_file_pos pos = SL_FILE_NOWHERE;
        SL_TRY(sl_file_set_add(replay->sink.adds, add, &pos, err));
        return key == NULL || sl_key_set_put_file(&replay->decided, key, pos) ? SILT_OK : sl_fail_nomem(err);
    }
    if (key != NULL && !sl_key_set_put(&replay->decided, key)) {
        return sl_fail_nomem(err);
    }
    return replay->sink.on_add != NULL ? replay->sink.on_add(replay->sink.ctx, add, err) : SILT_OK;
}

static silt_status emit_remove(struct sl_replay *replay, const struct sl_remove *remove, const struct sl_file_key *key,
                               silt_error *err)
{
    if (key != NULL && !sl_key_set_put(&replay->decided, key)) {
        return sl_fail_nomem(err);
    }
    return replay->sink.on_remove != NULL ? replay->sink.on_remove(replay->sink.ctx, remove, err) : SILT_OK;
}

static silt_status take_file(struct sl_replay *replay, const struct sl_action *action, bool is_last, silt_error *err)
{
    const bool is_add = action->kind == SL_ACTION_ADD;
    const struct sl_str path = is_add ? action->u.add.path : action->u.remove.path;
    const struct sl_dv_descriptor *dv = is_add ? action->u.add.deletion_vector : action->u.remove.deletion_vector;
    struct sl_file_key key;
    const bool probes = replay->decided.n > 0 || replay->newer.keys != NULL;
    if (probes || !is_last) {
        bool found = false;
        if (!sl_key_make(&replay->keys, path, dv, &key) || !is_decided(replay, &key, &found)) {
            return sl_fail_nomem(err);
        }
        if (found) {
            return SILT_OK;
        }
    }
    const struct sl_file_key *kept = is_last ? NULL : &key;
    return is_add ? emit_add(replay, &action->u.add, kept, err) : emit_remove(replay, &action->u.remove, kept, err);
}

silt_status sl_replay_older_add(struct sl_replay *replay, const struct sl_add *add, silt_error *err)
{
    const struct sl_action action = {.kind = SL_ACTION_ADD, .u.add = *add};
    return take_file(replay, &action, false, err);
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

static silt_status take(struct sl_replay *replay, const struct sl_action *action, bool is_last, silt_error *err)
{
    const bool is_file = action->kind == SL_ACTION_ADD || action->kind == SL_ACTION_REMOVE;
    if (is_file) {
        return replay->want_files ? take_file(replay, action, is_last, err) : SILT_OK;
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
        SL_TRY(take(replay, &commit->actions[i], commit->version == replay->last_version, err));
    }
    return SILT_OK;
}

silt_status sl_replay_checkpoint_action(struct sl_replay *replay, const struct sl_action *action, silt_error *err)
{
    return take(replay, action, true, err);
}
