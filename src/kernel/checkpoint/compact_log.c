/*
 * Writing of log compaction files; see compact_log.h. Commits are reconciled newest first, as snapshots are.
 */
#include "kernel/checkpoint/compact_log.h"

#include <inttypes.h>

#include "base/error.h"
#include "kernel/replay/replay.h"

struct compactor {
    struct sl_replay replay;
    struct sl_replay_state state;
    struct sl_arena arena; /* of the state's text */
    struct sl_buf files;   /* lines of add and remove */
    struct sl_buf *out;
    int64_t n_actions;
};

static silt_status put(struct compactor *c, struct sl_buf *out, const struct sl_action *action, silt_error *err)
{
    c->n_actions++;
    return sl_action_write(out, action, err);
}

static silt_status on_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    struct compactor *c = ctx;
    const struct sl_action action = {.kind = SL_ACTION_ADD, .u.add = *add};
    return put(c, &c->files, &action, err);
}

static silt_status on_remove(void *ctx, const struct sl_remove *remove, silt_error *err)
{
    struct compactor *c = ctx;
    const struct sl_action action = {.kind = SL_ACTION_REMOVE, .u.remove = *remove};
    return put(c, &c->files, &action, err);
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    struct compactor *c = ctx;
    (void)stop;
    for (size_t i = 0; i < commit->n_actions; i++) {
        if (commit->actions[i].kind == SL_ACTION_UNKNOWN) {
            const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                                               "commit %" PRId64 " has an action that silt does not know and so cannot "
                                               "keep in a compacted file",
                                               commit->version);
            sl_error_version(err, commit->version);
            return status;
        }
    }
    return sl_replay_commit(&c->replay, commit, err);
}

/* Removed domains too: they hide older ones. */
static silt_status put_state(struct compactor *c, silt_error *err)
{
    const struct sl_replay_state *state = &c->state;
    struct sl_action action = {.kind = SL_ACTION_PROTOCOL, .u.protocol = state->protocol};
    if (state->has_protocol) {
        SL_TRY(put(c, c->out, &action, err));
    }
    action = (struct sl_action){.kind = SL_ACTION_METADATA, .u.metadata = state->metadata};
    if (state->has_metadata) {
        SL_TRY(put(c, c->out, &action, err));
    }
    for (size_t i = 0; i < state->app_txns.len; i++) {
        const struct sl_app_txn *txn = sl_vec_at(&state->app_txns, i);
        action = (struct sl_action){.kind = SL_ACTION_APP_TXN, .u.app_txn = *txn};
        SL_TRY(put(c, c->out, &action, err));
    }
    for (size_t i = 0; i < state->domains.len; i++) {
        const struct sl_domain_metadata *domain = sl_vec_at(&state->domains, i);
        action = (struct sl_action){.kind = SL_ACTION_DOMAIN_METADATA, .u.domain = *domain};
        SL_TRY(put(c, c->out, &action, err));
    }
    return SILT_OK;
}

silt_status sl_compaction_write(const struct sl_compaction *compaction, const silt_call *call, struct sl_buf *out,
                                int64_t *n_actions, silt_error *err)
{
    const silt_env *env = out->env;
    struct compactor c = {.out = out};
    const struct sl_replay_sink sink = {.on_add = on_add, .on_remove = on_remove, .ctx = &c};
    sl_arena_init(&c.arena, env);
    sl_buf_init(&c.files, env);
    c.files.max = out->max;
    sl_replay_state_init(&c.state, env);
    sl_replay_init(&c.replay, env, compaction->source->root, &c.state, &c.arena, &sink);
    const struct sl_commits_request request = {.source = compaction->source,
                                               .files = compaction->commits,
                                               .n = compaction->n_commits,
                                               .missing = SL_MISSING_FAILS,
                                               .in_parts = true};
    silt_status status = sl_commits_each(&request, call, take_commit, &c, err);
    if (status == SILT_OK) {
        status = put_state(&c, err);
    }
    if (status == SILT_OK) {
        sl_buf_put_str(out, sl_buf_view(&c.files));
        status = sl_buf_status(out, err);
    }
    *n_actions = c.n_actions;
    sl_replay_release(&c.replay);
    sl_replay_state_release(&c.state);
    sl_buf_release(&c.files);
    sl_arena_release(&c.arena);
    return status;
}
