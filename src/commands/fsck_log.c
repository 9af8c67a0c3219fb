/*
 * The walk through the log, version by version from its beginning: commits make a state, and what else there is of a version is compared
 * with it. Where commits are missing or broken the walk goes on at the next checkpoint that can be read.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/env.h"
#include "base/error.h"
#include "commands/fsck_int.h"
#include "kernel/engine/engine.h"
#include "kernel/log/segment_checkpoint.h"

struct walk {
    struct sl_fsck *fsck;
    struct sl_fsck_state state;
    const struct sl_log_file *files;
    size_t n;
    int64_t last_commit; /* the newest one seen, -1: none */
    int64_t n_commits, n_done;
    struct sl_fsck_ahead ahead;
};

/* The files of one version: those from `begin` to `end`. */
struct group {
    int64_t version;
    size_t begin, end;
    const struct sl_log_file *commit; /* NULL: none */
};

static struct group next_group(const struct walk *w, size_t begin)
{
    struct group g = {.version = w->files[begin].version, .begin = begin, .end = begin};
    while (g.end < w->n && w->files[g.end].version == g.version) {
        if (w->files[g.end].kind == SL_LOG_COMMIT) {
            g.commit = &w->files[g.end];
        }
        g.end++;
    }
    return g;
}

/* ---- commits ---- */

static silt_status tell_gap(struct walk *w, int64_t first, int64_t last, silt_error *err)
{
    const struct sl_fsck_about about = {.severity = SILT_FSCK_FAULT, .check = SL_FSCK_LOG, .version = first};
    if (first == last) {
        return sl_fsck_tell(w->fsck, &about, err, "the commit of version %" PRId64 " is missing", first);
    }
    return sl_fsck_tell(w->fsck, &about, err, "the commits of versions %" PRId64 " to %" PRId64 " are missing", first,
                        last);
}

static silt_status walk_commit(struct walk *w, const struct group *g, silt_error *err)
{
    if (w->last_commit >= 0 && g->version > w->last_commit + 1) {
        SL_TRY(tell_gap(w, w->last_commit + 1, g->version - 1, err));
    }
    w->last_commit = g->version;
    if (g->version == 0) {
        sl_fsck_state_forget(&w->state);
    } else if (w->state.version < 0 || w->state.version != g->version - 1) {
        sl_fsck_state_forget(&w->state);
        return sl_fsck_commit_alone(w->fsck, &w->state, g->commit, err);
    }
    bool applied = false;
    SL_TRY(sl_fsck_commit(w->fsck, &w->state, g->commit, &applied, err));
    if (!applied) {
        sl_fsck_state_forget(&w->state);
    }
    return SILT_OK;
}

static bool see_nothing(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    (void)entry;
    return false;
}

/*
 * A folder under the next commit's name: readers pass over it, but no writer can commit any more. In object stores folders take no names, so
 * far away it is not worth a round.
 */
static silt_status check_next_name(struct walk *w, silt_error *err)
{
    struct sl_fsck *fsck = w->fsck;
    if (sl_storage_is_far(fsck->source.storage, fsck->source.root.ptr)) {
        return SILT_OK;
    }
    const char *name = sl_arena_printf(&fsck->arena, "%020" PRId64 ".json", w->last_commit + 1);
    const struct sl_str path = name != NULL ? sl_log_path(&fsck->arena, fsck->source.root, sl_str_from(name))
                                            : (struct sl_str){NULL, 0};
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    silt_error found = SILT_ERROR_INIT;
    const silt_list_options options = {.size = sizeof(options)};
    const silt_status status = silt_storage_list(fsck->source.storage, fsck->call, path.ptr, &options, see_nothing,
                                                 NULL, &found);
    if (status == SILT_OK) {
        const struct sl_fsck_about about = {.severity = SILT_FSCK_FAULT,
                                            .check = SL_FSCK_LOG,
                                            .version = w->last_commit + 1,
                                            .file = sl_str_from(name)};
        return sl_fsck_tell(fsck, &about, err,
                            "a folder has the name of the next commit: nobody can write to the table");
    }
    return SILT_OK; /* there is none; or it cannot be looked at, which the checks before would have told */
}

/* ---- checkpoints ---- */

static silt_status walk_checkpoint(struct walk *w, const struct sl_log_segment *segment, silt_error *err)
{
    bool loaded = false;
    w->fsck->report.checkpoints++;
    if (w->state.version == segment->checkpoint_version) {
        return sl_fsck_compare_checkpoint(w->fsck, &w->state, segment, err);
    }
    SL_TRY(sl_fsck_load_checkpoint(w->fsck, &w->state, segment, &loaded, err));
    if (!loaded) {
        sl_fsck_state_forget(&w->state);
    }
    return SILT_OK;
}

static bool is_found(const struct sl_vec *found, struct sl_str name)
{
    for (size_t i = 0; i < found->len; i++) {
        if (sl_str_eq(*(const struct sl_str *)sl_vec_at(found, i), name)) {
            return true;
        }
    }
    return false;
}

/*
 * Parts that belong to no complete checkpoint; each is told once, by its first part that is there. Readers pass over them, and a writer
 * that ends between two parts leaves them (PROTOCOL.md "Multi-Part Checkpoint"): no fault.
 */
static silt_status tell_torn(struct walk *w, const struct group *g, const struct sl_vec *whole, silt_error *err)
{
    int32_t told = 0;
    for (size_t i = g->begin; i < g->end; i++) {
        const struct sl_log_file *file = &w->files[i];
        if (file->kind != SL_LOG_CHECKPOINT_PART || is_found(whole, file->name) || file->n_parts == told) {
            continue;
        }
        told = file->n_parts;
        const struct sl_fsck_about about = {
            .severity = SILT_FSCK_NOTE, .check = SL_FSCK_CHECKPOINT, .version = g->version, .file = file->name};
        SL_TRY(sl_fsck_tell(w->fsck, &about, err, "the checkpoint in %d parts is not complete", (int)file->n_parts));
    }
    return SILT_OK;
}

/* Every complete checkpoint of the version, not only that which readers choose. */
static silt_status walk_checkpoints(struct walk *w, const struct group *g, struct sl_arena *arena, silt_error *err)
{
    struct sl_vec bad;
    struct sl_vec whole;
    sl_vec_init(&bad, w->fsck->env, sizeof(struct sl_str));
    sl_vec_init(&whole, w->fsck->env, sizeof(struct sl_str));
    silt_status status = SILT_OK;
    while (status == SILT_OK) {
        const struct sl_bad_checkpoints names = {bad.data, bad.len};
        const struct sl_found_checkpoint found = sl_checkpoint_find(w->files + g->begin, g->end - g->begin, g->version,
                                                                    &names);
        if (found.version < 0) {
            break;
        }
        struct sl_log_file *files = NULL;
        const size_t n = sl_checkpoint_files(w->files + g->begin, g->end - g->begin, &found, arena, &files);
        struct sl_str *slot = n > 0 ? sl_vec_push(&bad) : NULL;
        if (slot == NULL) {
            status = sl_fail_nomem(err);
            break;
        }
        *slot = files[0].name;
        for (size_t i = 0; i < n && status == SILT_OK; i++) {
            struct sl_str *name = sl_vec_push(&whole);
            status = name != NULL ? SILT_OK : sl_fail_nomem(err);
            if (name != NULL) {
                *name = files[i].name;
            }
        }
        const struct sl_log_segment segment = {
            .version = g->version, .checkpoint_version = g->version, .checkpoint = files, .n_checkpoint = n};
        if (status == SILT_OK) {
            status = walk_checkpoint(w, &segment, err);
        }
    }
    if (status == SILT_OK) {
        status = tell_torn(w, g, &whole, err);
    }
    sl_vec_release(&whole);
    sl_vec_release(&bad);
    return status;
}

/* ---- compacted files ---- */

/* The commits that a compacted file covers; 0 when they are not all there any more. */
static size_t covered(const struct walk *w, const struct sl_log_file *compacted, size_t from, struct sl_arena *arena,
                      struct sl_log_file **out)
{
    int64_t next = compacted->version;
    size_t n = 0;
    *out = NULL;
    if (compacted->end_version - compacted->version >= (int64_t)w->n) {
        return 0;
    }
    *out = sl_arena_alloc_array(arena, (size_t)(compacted->end_version - compacted->version + 1), sizeof(**out));
    for (size_t i = from; *out != NULL && i < w->n && w->files[i].version <= compacted->end_version; i++) {
        if (w->files[i].kind == SL_LOG_COMMIT && w->files[i].version == next) {
            (*out)[n++] = w->files[i];
            next++;
        }
    }
    return next == compacted->end_version + 1 ? n : 0;
}

static silt_status walk_extras(struct walk *w, const struct group *g, struct sl_arena *arena, silt_error *err)
{
    for (size_t i = g->begin; i < g->end; i++) {
        const struct sl_log_file *file = &w->files[i];
        if (file->kind == SL_LOG_CRC) {
            SL_TRY(sl_fsck_checksum(w->fsck, &w->state, file, err));
        } else if (file->kind == SL_LOG_COMPACTED) {
            struct sl_log_file *commits = NULL;
            const size_t n = covered(w, file, g->begin, arena, &commits);
            if (n > 0) {
                SL_TRY(sl_fsck_compare_compacted(w->fsck, file, commits, n, err));
            }
        }
    }
    return SILT_OK;
}

/* ---- the walk ---- */

static silt_status walk_group(struct walk *w, const struct group *g, silt_error *err)
{
    struct sl_arena arena;
    SL_TRY(sl_call_check(w->fsck->env, w->fsck->call, err));
    if (g->commit != NULL) {
        SL_TRY(walk_commit(w, g, err));
        sl_call_progress(w->fsck->call, "checking the log", ++w->n_done, w->n_commits);
    }
    sl_arena_init(&arena, w->fsck->env);
    silt_status status = walk_checkpoints(w, g, &arena, err);
    if (status == SILT_OK) {
        status = walk_extras(w, g, &arena, err);
    }
    sl_arena_release(&arena);
    return status;
}

static silt_status walk_all(struct walk *w, silt_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        w->n_commits += w->files[i].kind == SL_LOG_COMMIT ? 1 : 0;
    }
    for (size_t at = 0; at < w->n;) {
        const struct group g = next_group(w, at);
        SL_TRY(sl_fsck_look_ahead(w->fsck, &w->ahead, at, err));
        SL_TRY(walk_group(w, &g, err));
        at = g.end;
    }
    SL_TRY(check_next_name(w, err));
    if (w->state.version < 0) {
        const struct sl_fsck_about about = {
            .severity = SILT_FSCK_FAULT, .check = SL_FSCK_LOG, .version = w->fsck->report.version};
        return sl_fsck_tell(w->fsck, &about, err,
                            "the newest version cannot be rebuilt from the log: commits or a complete checkpoint are "
                            "missing or broken");
    }
    return w->fsck->snapshot != NULL && silt_snapshot_version(w->fsck->snapshot) == w->state.version
               ? sl_fsck_compare_snapshot(w->fsck, &w->state, err)
               : SILT_OK;
}

silt_status sl_fsck_log(struct sl_fsck *fsck, silt_error *err)
{
    struct walk w = {.fsck = fsck, .files = fsck->listing.data, .n = fsck->listing.len, .last_commit = -1};
    silt_status status = sl_fsck_state_init(&w.state, fsck->env, fsck->source.root, err);
    if (status == SILT_OK) {
        status = walk_all(&w, err);
    }
    sl_fsck_ahead_release(fsck, &w.ahead);
    sl_fsck_state_release(&w.state);
    return status;
}
