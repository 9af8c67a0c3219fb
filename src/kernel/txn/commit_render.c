/*
 * Making a commit file; see commit_render.h. What depends on the version is filled in here and nowhere else: the in-commit timestamp, the
 * record of its enablement, row ids and row commit versions. Called by the commit loop before each version.
 * PROTOCOL.md "Writer Requirements for In-Commit Timestamps", "Writer Requirements for Row Tracking".
 */
#include "kernel/txn/commit_render.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/txn/commit_info.h"
#include "kernel/txn/row_ids.h"

#define ENABLEMENT_VERSION "delta.inCommitTimestampEnablementVersion"
#define ENABLEMENT_TIMESTAMP "delta.inCommitTimestampEnablementTimestamp"

bool sl_has_commit_times(const struct sl_protocol *protocol, const struct sl_metadata *metadata)
{
    return sl_protocol_has_feature(protocol, "inCommitTimestamp") &&
           sl_property_bool(&metadata->configuration, "delta.enableInCommitTimestamps");
}

/* PROTOCOL: the larger of the time of the attempt and one millisecond after the commit before. */
static silt_status choose_time(struct sl_commit_render *render, const struct sl_rebase *rebase, int64_t now_ms,
                               silt_error *err)
{
    int64_t time_ms = SL_NO_I64;
    if (sl_has_commit_times(rebase->protocol, rebase->metadata)) {
        int64_t least_ms = now_ms;
        if (rebase->floor_ms != SL_NO_I64 && !sl_add_i64(rebase->floor_ms, 1, &least_ms)) {
            return sl_fail(err, SILT_ELIMIT, NULL, "the timestamp of version %lld leaves no later one",
                           (long long)(rebase->version - 1));
        }
        time_ms = now_ms > least_ms ? now_ms : least_ms;
    }
    if (render->first_timestamp_ms == SL_NO_I64) {
        render->first_timestamp_ms = time_ms;
    } else if (time_ms != render->first_timestamp_ms) {
        render->changes |= SILT_REBASED_TIMESTAMP;
    }
    render->in_commit_timestamp_ms = time_ms;
    return SILT_OK;
}

static silt_status write_info(const struct sl_commit_render *render, int64_t now_ms, struct sl_buf *out,
                              silt_error *err)
{
    const struct sl_commit_facts facts = {.timestamp_ms = now_ms,
                                          .in_commit_timestamp_ms = render->in_commit_timestamp_ms,
                                          .isolation = render->isolation,
                                          .is_blind_append = render->is_blind_append,
                                          .txn_id = render->txn_id};
    struct sl_buf json;
    sl_buf_init(&json, render->txn->env);
    silt_status status = sl_commit_info_write(&json, render->txn, &facts, err);
    if (status == SILT_OK) {
        struct sl_action action = {.kind = SL_ACTION_COMMIT_INFO};
        action.u.commit_info.json = sl_buf_view(&json);
        status = sl_action_write(out, &action, err);
    }
    sl_buf_release(&json);
    return status;
}

/* PROTOCOL: where commits without in-commit timestamps come before, the properties say since when there are some. */
static silt_status write_metadata(const struct sl_commit_render *render, const struct sl_rebase *rebase,
                                  const struct sl_action *action, struct sl_buf *out, silt_error *err)
{
    if (render->in_commit_timestamp_ms == SL_NO_I64 || render->had_times || rebase->version == 0) {
        return sl_action_write(out, action, err);
    }
    struct sl_arena scratch;
    sl_arena_init(&scratch, render->txn->env);
    struct sl_action changed = *action;
    const struct sl_kv_list *before = &action->u.metadata.configuration;
    struct sl_kv *items = sl_arena_alloc_array(&scratch, before->n + 2, sizeof(*items));
    const char *version = sl_arena_printf(&scratch, "%lld", (long long)rebase->version);
    const char *timestamp = sl_arena_printf(&scratch, "%lld", (long long)render->in_commit_timestamp_ms);
    silt_status status = items != NULL && version != NULL && timestamp != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        size_t n = 0;
        for (size_t i = 0; i < before->n; i++) {
            if (!sl_str_eq_c(before->items[i].key, ENABLEMENT_VERSION) &&
                !sl_str_eq_c(before->items[i].key, ENABLEMENT_TIMESTAMP)) {
                items[n++] = before->items[i];
            }
        }
        items[n++] = (struct sl_kv){SL_STR(ENABLEMENT_VERSION), sl_str_from(version)};
        items[n++] = (struct sl_kv){SL_STR(ENABLEMENT_TIMESTAMP), sl_str_from(timestamp)};
        changed.u.metadata.configuration = (struct sl_kv_list){items, n};
        status = sl_action_write(out, &changed, err);
    }
    sl_arena_release(&scratch);
    return status;
}

/* The highest row id after the commit. */
static silt_status find_high_water(const struct sl_rebase *rebase, int64_t *high_water, silt_error *err)
{
    *high_water = rebase->row_id_high_water;
    for (size_t i = 0; i < rebase->n_actions; i++) {
        if (rebase->actions[i].kind == SL_ACTION_ADD) {
            struct sl_add add = rebase->actions[i].u.add;
            SL_TRY(sl_row_ids_give(rebase, i, high_water, &add, err));
        }
    }
    return SILT_OK;
}

static silt_status write_actions(struct sl_commit_render *render, const struct sl_rebase *rebase, bool ids,
                                 struct sl_buf *out, silt_error *err)
{
    int64_t high_water = rebase->row_id_high_water;
    for (size_t i = 0; i < rebase->n_actions; i++) {
        struct sl_action action = rebase->actions[i];
        if (action.kind == SL_ACTION_ADD && ids) {
            SL_TRY(sl_row_ids_give(rebase, i, &high_water, &action.u.add, err));
        }
        if (action.kind == SL_ACTION_METADATA) {
            SL_TRY(write_metadata(render, rebase, &action, out, err));
        } else {
            SL_TRY(sl_action_write(out, &action, err));
        }
    }
    return SILT_OK;
}

silt_status sl_commit_render(void *ctx, const struct sl_rebase *rebase, struct sl_buf *out, silt_error *err)
{
    struct sl_commit_render *render = ctx;
    const bool ids = sl_row_ids_wanted(rebase);
    const bool times = sl_has_commit_times(rebase->protocol, rebase->metadata);
    if (out->len > 0 && !ids && !times) {
        return SILT_OK; /* nothing in it depends on the version */
    }
    const bool again = out->len > 0;
    const int64_t now_ms = sl_now_ms(render->txn->env);
    sl_buf_clear(out);
    SL_TRY(choose_time(render, rebase, now_ms, err));
    SL_TRY(write_info(render, now_ms, out, err));
    if (ids) {
        int64_t high_water = 0;
        SL_TRY(find_high_water(rebase, &high_water, err));
        if (high_water > rebase->row_id_high_water) {
            SL_TRY(sl_row_ids_write_mark(out, high_water, err));
            render->changes |= again ? SILT_REBASED_ROW_IDS : 0;
        }
    }
    return write_actions(render, rebase, ids, out, err);
}
