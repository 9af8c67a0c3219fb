/*
 * The state of a table as the log makes it, oldest first. Replay proper goes the other way round (kernel/replay): that both come to the same
 * is what the check is about.
 */
#include "base/error.h"
#include "commands/fsck_int.h"

silt_status sl_fsck_state_init(struct sl_fsck_state *state, const silt_env *env, struct sl_str root, silt_error *err)
{
    *state = (struct sl_fsck_state){.env = env, .version = -1, .in_commit_timestamp = SL_NO_I64};
    sl_arena_init(&state->arena, env);
    sl_replay_state_init(&state->state, env);
    return sl_fsck_set_init(&state->files, env, root, err);
}

void sl_fsck_state_release(struct sl_fsck_state *state)
{
    sl_fsck_set_release(&state->files);
    sl_replay_state_release(&state->state);
    sl_arena_release(&state->arena);
}

void sl_fsck_state_forget(struct sl_fsck_state *state)
{
    sl_replay_state_release(&state->state);
    sl_arena_release(&state->arena);
    sl_replay_state_init(&state->state, state->env);
    sl_fsck_set_clear(&state->files);
    state->version = -1;
    state->in_commit_timestamp = SL_NO_I64;
    state->txn_id = (struct sl_str){NULL, 0};
}

static silt_status take_txn(struct sl_fsck_state *state, const struct sl_app_txn *txn, silt_error *err)
{
    struct sl_replay_state *s = &state->state;
    struct sl_map_entry *entry = sl_map_find(&s->app_index, txn->app_id);
    if (entry == NULL) {
        const struct sl_str name = sl_arena_copy(&state->arena, txn->app_id);
        entry = name.ptr != NULL ? sl_map_put(&s->app_index, name, NULL) : NULL;
        struct sl_app_txn *slot = entry != NULL ? sl_vec_push(&s->app_txns) : NULL;
        if (slot == NULL) {
            return sl_fail_nomem(err);
        }
        entry->value.u64 = s->app_txns.len - 1;
        slot->app_id = name;
    }
    struct sl_app_txn *known = sl_vec_at(&s->app_txns, (size_t)entry->value.u64);
    known->version = txn->version;
    known->last_updated = txn->last_updated;
    return SILT_OK;
}

static silt_status take_domain(struct sl_fsck_state *state, const struct sl_domain_metadata *domain, silt_error *err)
{
    struct sl_replay_state *s = &state->state;
    struct sl_map_entry *entry = sl_map_find(&s->domain_index, domain->domain);
    if (entry == NULL) {
        const struct sl_str name = sl_arena_copy(&state->arena, domain->domain);
        entry = name.ptr != NULL ? sl_map_put(&s->domain_index, name, NULL) : NULL;
        struct sl_domain_metadata *slot = entry != NULL ? sl_vec_push(&s->domains) : NULL;
        if (slot == NULL) {
            return sl_fail_nomem(err);
        }
        entry->value.u64 = s->domains.len - 1;
        slot->domain = name;
    }
    struct sl_domain_metadata *known = sl_vec_at(&s->domains, (size_t)entry->value.u64);
    known->removed = domain->removed;
    if (!sl_str_eq(known->configuration, domain->configuration) || known->configuration.ptr == NULL) {
        known->configuration = sl_arena_copy(&state->arena, domain->configuration);
    }
    return known->configuration.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

silt_status sl_fsck_state_take(struct sl_fsck_state *state, const struct sl_action *action, silt_error *err)
{
    struct sl_replay_state *s = &state->state;
    switch (action->kind) {
    case SL_ACTION_PROTOCOL:
        s->has_protocol = sl_protocol_copy(&state->arena, &action->u.protocol, &s->protocol);
        return s->has_protocol ? SILT_OK : sl_fail_nomem(err);
    case SL_ACTION_METADATA:
        s->has_metadata = sl_metadata_copy(&state->arena, &action->u.metadata, &s->metadata);
        return s->has_metadata ? SILT_OK : sl_fail_nomem(err);
    case SL_ACTION_APP_TXN: return take_txn(state, &action->u.app_txn, err);
    case SL_ACTION_DOMAIN_METADATA: return take_domain(state, &action->u.domain, err);
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
