/*
 * The rebase of a commit onto a winner; see rebase.h. Called by the commit loop after the conflict check let the winner pass.
 *
 * A backfill of row tracking gives ids to files that are there already. A transaction that removes such a file or adds it again repeats
 * those ids, and a backfill leaves out files that a winner touched: they have ids by then, or are gone. PROTOCOL.md "Writer Requirements
 * for Row Tracking", "Writer Requirements for In-Commit Timestamps".
 */
#include "kernel/txn/rebase.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "json/json.h"
#include "kernel/txn/row_ids.h"

silt_status sl_row_id_high_water(const silt_env *env, struct sl_str configuration, int64_t *out, silt_error *err)
{
    *out = -1;
    if (configuration.ptr == NULL) {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    int64_t mark = -1;
    silt_status status = sl_json_parse(env, configuration, &doc, err);
    if (status == SILT_ENOMEM) {
        return status;
    }
    if (status != SILT_OK || !sl_json_to_i64(sl_json_member(sl_json_root(doc), "rowIdHighWaterMark"), &mark) ||
        mark < -1) {
        /* Ids that begin anywhere could be those of other rows. */
        status = sl_fail(err, SILT_ECORRUPT, NULL,
                         "metadata domain " SL_ROW_TRACKING_DOMAIN " does not tell the highest row id: %.*s",
                         SL_FMT(configuration));
    }
    sl_json_free(doc);
    *out = status == SILT_OK ? mark : -1;
    return status;
}

static bool is_backfill(const struct sl_commit *winner)
{
    return winner->commit_info != NULL && sl_str_eq_c(winner->commit_info->operation, SL_BACKFILL_OPERATION);
}

/* Files that the winner added (with removed: or removed), by path; the value points to the add, or is NULL. */
static silt_status collect_files(struct sl_map *out, const struct sl_commit *winner, bool removed, silt_error *err)
{
    for (size_t i = 0; i < winner->n_actions; i++) {
        const struct sl_action *action = &winner->actions[i];
        const bool added = action->kind == SL_ACTION_ADD;
        if (!added && !(removed && action->kind == SL_ACTION_REMOVE)) {
            continue;
        }
        bool inserted = false;
        struct sl_map_entry *entry = sl_map_put(out, added ? action->u.add.path : action->u.remove.path, &inserted);
        if (entry == NULL) {
            return sl_fail_nomem(err);
        }
        entry->value.u64 = i;
    }
    return SILT_OK;
}

/* Ours is the backfill. */
static void leave_out(struct sl_rebase *rebase, const struct sl_map *touched)
{
    size_t kept = 0;
    for (size_t i = 0; i < rebase->n_actions; i++) {
        if (rebase->actions[i].kind == SL_ACTION_ADD && sl_map_find(touched, rebase->actions[i].u.add.path) != NULL) {
            rebase->changes |= SILT_REBASED_FILES;
            continue;
        }
        rebase->actions[kept] = rebase->actions[i];
        rebase->rows[kept++] = rebase->rows[i];
    }
    rebase->n_actions = kept;
}

/* The winner is one. */
static void repeat_ids(struct sl_rebase *rebase, const struct sl_map *filled, const struct sl_commit *winner)
{
    for (size_t i = 0; i < rebase->n_actions; i++) {
        struct sl_action *ours = &rebase->actions[i];
        const bool added = ours->kind == SL_ACTION_ADD;
        if (!added && ours->kind != SL_ACTION_REMOVE) {
            continue;
        }
        const struct sl_map_entry *entry = sl_map_find(filled, added ? ours->u.add.path : ours->u.remove.path);
        if (entry == NULL) {
            continue;
        }
        const struct sl_add *theirs = &winner->actions[entry->value.u64].u.add;
        if (added) {
            ours->u.add.base_row_id = theirs->base_row_id;
            ours->u.add.default_row_commit_version = theirs->default_row_commit_version;
        } else {
            ours->u.remove.base_row_id = theirs->base_row_id;
            ours->u.remove.default_row_commit_version = theirs->default_row_commit_version;
        }
        rebase->changes |= SILT_REBASED_FILES;
    }
}

static silt_status pass_backfill(struct sl_rebase *rebase, const struct sl_commit *winner, silt_error *err)
{
    if (!rebase->is_backfill && !is_backfill(winner)) {
        return SILT_OK;
    }
    struct sl_map files;
    sl_map_init(&files, rebase->arena->env);
    const silt_status status = collect_files(&files, winner, rebase->is_backfill, err);
    if (status == SILT_OK && rebase->is_backfill) {
        leave_out(rebase, &files);
    } else if (status == SILT_OK) {
        repeat_ids(rebase, &files, winner);
    }
    sl_map_release(&files);
    return status;
}

/* Files of a winner have ids up to its mark, or it lies: then what follows it would be given theirs. */
static silt_status check_ids(const struct sl_rebase *rebase, const struct sl_commit *winner, silt_error *err)
{
    for (size_t i = 0; i < winner->n_actions && sl_row_ids_wanted(rebase); i++) {
        if (winner->actions[i].kind == SL_ACTION_ADD) {
            SL_TRY(
                sl_row_ids_check(rebase->arena->env, rebase->row_id_high_water, &winner->actions[i].u.add, true, err));
        }
    }
    return SILT_OK;
}

/* Of the winner, without an in-commit timestamp by its file. */
static void pass_time(struct sl_rebase *rebase, const struct sl_commit *winner)
{
    int64_t time_ms = winner->commit_info != NULL ? winner->commit_info->in_commit_timestamp : SL_NO_I64;
    if (time_ms == SL_NO_I64 && winner->modified_ms > 0) {
        time_ms = winner->modified_ms;
    }
    if (time_ms != SL_NO_I64 && time_ms > rebase->floor_ms) {
        rebase->floor_ms = time_ms;
    }
}

static silt_status pass_action(struct sl_rebase *rebase, const struct sl_action *theirs, silt_error *err)
{
    if (theirs->kind == SL_ACTION_DOMAIN_METADATA && !theirs->u.domain.removed &&
        sl_str_eq_c(theirs->u.domain.domain, SL_ROW_TRACKING_DOMAIN)) {
        int64_t mark = -1;
        SL_TRY(sl_row_id_high_water(rebase->arena->env, theirs->u.domain.configuration, &mark, err));
        if (mark > rebase->row_id_high_water) {
            rebase->row_id_high_water = mark;
        }
    } else if (theirs->kind == SL_ACTION_PROTOCOL) {
        struct sl_protocol *copy = sl_arena_alloc_zero(rebase->arena, sizeof(*copy));
        if (copy == NULL || !sl_protocol_copy(rebase->arena, &theirs->u.protocol, copy)) {
            return sl_fail_nomem(err);
        }
        rebase->protocol = copy;
        rebase->changes |= SILT_REBASED_PROTOCOL;
    } else if (theirs->kind == SL_ACTION_METADATA) {
        struct sl_metadata *copy = sl_arena_alloc_zero(rebase->arena, sizeof(*copy));
        if (copy == NULL || !sl_metadata_copy(rebase->arena, &theirs->u.metadata, copy)) {
            return sl_fail_nomem(err);
        }
        rebase->metadata = copy;
        rebase->changes |= SILT_REBASED_METADATA;
    }
    return SILT_OK;
}

silt_status sl_rebase_pass(struct sl_rebase *rebase, const struct sl_commit *winner, silt_error *err)
{
    SL_TRY(pass_backfill(rebase, winner, err));
    for (size_t i = 0; i < winner->n_actions; i++) {
        SL_TRY(pass_action(rebase, &winner->actions[i], err));
    }
    SL_TRY(check_ids(rebase, winner, err));
    pass_time(rebase, winner);
    rebase->winners++;
    return sl_add_i64(winner->version, 1, &rebase->version)
               ? SILT_OK
               : sl_fail(err, SILT_ELIMIT, NULL, "the table has used up all versions");
}
