/*
 * Findings that are not told yet. Others go on while a table is checked: a clean-up of the log, or VACUUM, may take away a file between the
 * listing that named it and the look at it, and nothing is wrong with the table then. So what the walk through the log finds is kept to its end,
 * and is worth nothing if files of the listing are gone by then; and a data file that cannot be read is a fault only if the newest version still
 * has it. Called by fsck.c.
 */
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "base/map.h"
#include "commands/fsck_int.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

void sl_fsck_held_init(struct sl_fsck *fsck)
{
    sl_arena_init(&fsck->held_arena, fsck->env);
    sl_vec_init(&fsck->held, fsck->env, sizeof(silt_fsck_finding));
}

void sl_fsck_held_release(struct sl_fsck *fsck)
{
    sl_vec_release(&fsck->held);
    sl_arena_release(&fsck->held_arena);
}

void sl_fsck_held_forget(struct sl_fsck *fsck)
{
    sl_fsck_held_release(fsck);
    sl_fsck_held_init(fsck);
}

static bool is_of_a_file(enum sl_fsck_check check)
{
    return check == SL_FSCK_FILE || check == SL_FSCK_DATA || check == SL_FSCK_VECTOR;
}

/* Once one is held, those after it are as well: they are told in the order in which they were found. */
bool sl_fsck_holds(const struct sl_fsck *fsck, const struct sl_fsck_about *about)
{
    switch (fsck->hold) {
    case SL_FSCK_HOLD_ALL: return true;
    case SL_FSCK_HOLD_DOUBTFUL:
        return fsck->held.len > 0 || (about->severity == SILT_FSCK_FAULT && is_of_a_file(about->check));
    case SL_FSCK_HOLD_NONE: break;
    }
    return false;
}

silt_status sl_fsck_hold(struct sl_fsck *fsck, const silt_fsck_finding *finding, silt_error *err)
{
    silt_fsck_finding *slot = sl_vec_push(&fsck->held);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = *finding;
    slot->message = sl_arena_strdup(&fsck->held_arena, sl_str_from(finding->message));
    if (slot->message == NULL) {
        fsck->held.len--;
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

silt_status sl_fsck_tell_held(struct sl_fsck *fsck, silt_error *err)
{
    silt_status status = SILT_OK;
    for (size_t i = 0; i < fsck->held.len && status == SILT_OK; i++) {
        status = fsck->on_finding(fsck->ctx, sl_vec_at(&fsck->held, i))
                     ? SILT_OK
                     : sl_fail(err, SILT_ECANCELLED, NULL, "no more findings were wanted");
    }
    sl_fsck_held_forget(fsck);
    return status;
}

/* ---- the log ---- */

/* Both in the order of names. */
static bool lacks_any(const struct sl_vec *now, const struct sl_vec *before)
{
    size_t at = 0;
    for (size_t i = 0; i < before->len; i++) {
        const struct sl_log_file *file = sl_vec_at(before, i);
        while (at < now->len &&
               sl_str_compare(((const struct sl_log_file *)sl_vec_at(now, at))->name, file->name) < 0) {
            at++;
        }
        if (at == now->len || !sl_str_eq(((const struct sl_log_file *)sl_vec_at(now, at))->name, file->name)) {
            return true;
        }
    }
    return false;
}

bool sl_fsck_log_lost_files(const struct sl_fsck *fsck)
{
    struct sl_arena names;
    struct sl_vec files;
    bool exists = false;
    sl_arena_init(&names, fsck->env);
    sl_vec_init(&files, fsck->env, sizeof(struct sl_log_file));
    const silt_status status = sl_table_list_log(fsck->table, fsck->call, 0, &names, &files, &exists, NULL);
    const bool lost = status == SILT_OK && lacks_any(&files, &fsck->listing);
    sl_vec_release(&files);
    sl_arena_release(&names);
    return lost;
}

/* ---- data files ---- */

/* The names of held findings' files; the value says whether the file is live. */
static silt_status name_files(const struct sl_fsck *fsck, struct sl_map *names, silt_error *err)
{
    for (size_t i = 0; i < fsck->held.len; i++) {
        const silt_fsck_finding *finding = sl_vec_at(&fsck->held, i);
        bool inserted = false;
        if (finding->file != NULL && sl_map_put(names, sl_str_from(finding->file), &inserted) == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

static silt_status note_live(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct sl_map_entry *entry = sl_map_find(ctx, add->path);
    (void)stop; /* all are looked at */
    (void)err;
    if (entry != NULL) {
        entry->value.u64 = 1;
    }
    return SILT_OK;
}

static void drop_dead(struct sl_fsck *fsck, const struct sl_map *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < fsck->held.len; i++) {
        const silt_fsck_finding finding = *(const silt_fsck_finding *)sl_vec_at(&fsck->held, i);
        const struct sl_map_entry *entry = finding.file != NULL ? sl_map_find(names, sl_str_from(finding.file)) : NULL;
        if (entry == NULL || entry->value.u64 != 0) {
            *(silt_fsck_finding *)sl_vec_at(&fsck->held, kept++) = finding;
            continue;
        }
        fsck->report.faults -= finding.severity == SILT_FSCK_FAULT ? 1 : 0;
        fsck->report.notes -= finding.severity == SILT_FSCK_NOTE ? 1 : 0;
    }
    fsck->held.len = kept;
}

silt_status sl_fsck_drop_dead_files(struct sl_fsck *fsck, silt_error *err)
{
    silt_snapshot *newest = NULL;
    struct sl_map names;
    if (fsck->held.len == 0) {
        return SILT_OK;
    }
    silt_error found = SILT_ERROR_INIT;
    if (silt_snapshot_refresh(fsck->snapshot, fsck->call, &newest, &found) != SILT_OK ||
        silt_snapshot_version(newest) == silt_snapshot_version(fsck->snapshot)) {
        silt_snapshot_unref(newest);
        return SILT_OK; /* they stand, as far as can be known */
    }
    sl_map_init(&names, fsck->env);
    silt_status status = name_files(fsck, &names, err);
    if (status == SILT_OK && sl_snapshot_each_file(newest, fsck->call, 0, note_live, &names, &found) == SILT_OK) {
        drop_dead(fsck, &names);
    }
    sl_map_release(&names);
    silt_snapshot_unref(newest);
    return status;
}
