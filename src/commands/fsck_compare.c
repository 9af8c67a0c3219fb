/*
 * Another account of a table (a checkpoint, a compacted file, the kernel's own replay) against the state that the log's commits make
 * (PROTOCOL.md "Checkpoints", "Action Reconciliation", "Log Compaction Files"). Files of the account are marked in the state as they come;
 * what is live and not marked in the end is missing there.
 */
#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "commands/fsck_int.h"
#include "kernel/feature/feature.h"
#include "kernel/replay/checkpoint_read.h"
#include "kernel/snapshot/crc_compare.h"
#include "kernel/snapshot/state.h"

/* Commits that are read again to tell the names of files. */
#define MAX_NAMED 16

struct account {
    struct sl_fsck *fsck;
    struct sl_fsck_state *state;
    struct sl_fsck_about about; /* where findings are */
    const char *title;          /* "the checkpoint" */
    struct sl_fsck_state said;  /* its protocol, metadata … */
    bool is_snapshot;
    bool as_base; /* it becomes the state, nothing is compared */
    int64_t n_adds;
};

/* ---- files ---- */

static silt_status tell_file(struct account *a, struct sl_str path, const char *what, silt_error *err)
{
    struct sl_fsck_about about = a->about;
    about.file = path;
    return sl_fsck_tell(a->fsck, &about, err, "%s %s", a->title, what);
}

static silt_status take_add(struct account *a, const struct sl_add *add, silt_error *err)
{
    struct sl_fsck_set *files = &a->state->files;
    struct sl_fsck_id id;
    a->n_adds++;
    if (a->as_base) {
        struct sl_fsck_file before;
        SL_TRY(sl_fsck_set_add(files, add, a->about.version, &before, err));
        if (sl_fsck_set_other(files, before.id) != NULL) {
            return tell_file(a, add->path, "has the file with two deletion vectors: its rows are doubled", err);
        }
        return before.version < 0 ? SILT_OK : tell_file(a, add->path, "has the file twice", err);
    }
    if (!sl_fsck_id_make(files, add->path, add->deletion_vector, &id)) {
        return sl_fail_nomem(err);
    }
    struct sl_fsck_file *file = sl_fsck_set_find(files, id);
    if (file == NULL || !file->is_live) {
        return tell_file(a, add->path,
                         file == NULL ? "has a file that the commits never added"
                                      : "has a file as live that the commits have removed",
                         err);
    }
    if (file->mark == a->state->mark) {
        return tell_file(a, add->path, "has the file twice", err);
    }
    file->mark = a->state->mark;
    if (file->content != sl_fsck_content(files, add)) {
        return tell_file(
            a, add->path,
            "has another size, time, partition value, deletion vector or row id of the file than its commit", err);
    }
    uint32_t statistics = 0;
    if (!a->is_snapshot) { /* which may have made them of stats_parsed, in other words */
        SL_TRY(sl_fsck_statistics(files, add->stats, &statistics, err));
    }
    if (statistics != 0 && file->statistics != 0 && statistics != file->statistics) {
        return tell_file(a, add->path, "has other statistics of the file than its commit", err);
    }
    return SILT_OK;
}

static silt_status take_remove(struct account *a, const struct sl_remove *remove, silt_error *err)
{
    struct sl_fsck_set *files = &a->state->files;
    struct sl_fsck_id id;
    if (a->as_base) {
        return sl_fsck_set_remove(files, remove, a->about.version, NULL, err);
    }
    if (!sl_fsck_id_make(files, remove->path, remove->deletion_vector, &id)) {
        return sl_fail_nomem(err);
    }
    struct sl_fsck_file *file = sl_fsck_set_find(files, id);
    if (file != NULL && file->is_live) {
        return tell_file(a, remove->path, "has a file as removed that is live by the commits", err);
    }
    if (file != NULL) {
        file->mark = a->state->mark;
    }
    return SILT_OK;
}

/* ---- what is missing ---- */

struct naming {
    struct account *account;
    int64_t left;
    bool tombstones;
};

/* In the commit that decided about the file, its action tells the name. */
static silt_status name_files(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    struct naming *n = ctx;
    struct account *a = n->account;
    struct sl_fsck_set *files = &a->state->files;
    for (size_t i = 0; i < commit->n_actions && n->left > 0; i++) {
        const struct sl_action *action = &commit->actions[i];
        const bool is_add = action->kind == SL_ACTION_ADD;
        if (!(n->tombstones ? action->kind == SL_ACTION_REMOVE : is_add)) {
            continue;
        }
        const struct sl_str path = is_add ? action->u.add.path : action->u.remove.path;
        struct sl_fsck_id id;
        if (!sl_fsck_id_make(files, path, is_add ? action->u.add.deletion_vector : action->u.remove.deletion_vector,
                             &id)) {
            return sl_fail_nomem(err);
        }
        struct sl_fsck_file *file = sl_fsck_set_find(files, id);
        if (file != NULL && file->mark != a->state->mark && file->is_live == is_add &&
            file->version == commit->version) {
            file->mark = a->state->mark;
            n->left--;
            SL_TRY(tell_file(a, path,
                             is_add ? "lacks a file that is live by the commits"
                                    : "lacks the tombstone of a file that has not expired",
                             err));
        }
    }
    *stop = n->left == 0;
    return SILT_OK;
}

static const struct sl_log_file *find_commit(const struct sl_fsck *fsck, int64_t version)
{
    for (size_t i = 0; i < fsck->listing.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&fsck->listing, i);
        if (file->kind == SL_LOG_COMMIT && file->version == version) {
            return file;
        }
    }
    return NULL;
}

/* Tells the files that were not met: as many by name as come from few commits, the rest by number. */
static silt_status tell_missing(struct account *a, int64_t n, bool tombstones, int64_t expired_ms, silt_error *err)
{
    const struct sl_fsck_set *files = &a->state->files;
    struct naming naming = {.account = a, .left = n, .tombstones = tombstones};
    int n_read = 0;
    for (size_t i = 0; i < files->n_slots && naming.left > 0 && n_read < MAX_NAMED; i++) {
        const struct sl_fsck_file *file = &files->slots[i];
        const bool missing = file->version >= 0 && file->mark != a->state->mark && file->is_live != tombstones &&
                             (!tombstones || file->number > expired_ms);
        const struct sl_log_file *commit = missing ? find_commit(a->fsck, file->version) : NULL;
        if (commit != NULL) {
            const struct sl_commits_request request = {
                .source = &a->fsck->source, .files = commit, .n = 1, .missing = SL_MISSING_IS_PAST, .in_parts = true};
            SL_TRY(sl_commits_each(&request, a->fsck->call, name_files, &naming, err));
            n_read++;
        }
    }
    if (naming.left <= 0) {
        return SILT_OK;
    }
    return sl_fsck_tell(a->fsck, &a->about, err, "%s lacks %" PRId64 " %s", a->title, naming.left,
                        tombstones ? "tombstones of files that have not expired"
                                   : "files that are live by the commits");
}

static int64_t count_missing(const struct account *a, bool tombstones, int64_t expired_ms)
{
    const struct sl_fsck_set *files = &a->state->files;
    int64_t n = 0;
    for (size_t i = 0; i < files->n_slots; i++) {
        const struct sl_fsck_file *file = &files->slots[i];
        n += file->version >= 0 && file->mark != a->state->mark && file->is_live != tombstones &&
                     (!tombstones || file->number > expired_ms)
                 ? 1
                 : 0;
    }
    return n;
}

static silt_status check_missing(struct account *a, int64_t expired_ms, silt_error *err)
{
    const int64_t live = count_missing(a, false, 0);
    if (live > 0) {
        SL_TRY(tell_missing(a, live, false, 0, err));
    }
    const int64_t tombstones = count_missing(a, true, expired_ms);
    return tombstones > 0 ? tell_missing(a, tombstones, true, expired_ms, err) : SILT_OK;
}

static silt_status compare_state(struct account *a, const struct sl_replay_state *said, silt_error *err)
{
    char what[SL_CRC_DIFFERENCE_SIZE];
    if (sl_crc_same_state(a->fsck->env, said, &a->state->state, what)) {
        return SILT_OK;
    }
    return sl_fsck_tell(a->fsck, &a->about, err, "%s of %s differs from what the commits make", what, a->title);
}

static silt_status take_action(struct account *a, const struct sl_action *action, silt_error *err)
{
    switch (action->kind) {
    case SL_ACTION_ADD: return take_add(a, &action->u.add, err);
    case SL_ACTION_REMOVE: return take_remove(a, &action->u.remove, err);
    default: return sl_fsck_state_take(a->as_base ? a->state : &a->said, action, err);
    }
}

/* ---- checkpoints ---- */

static silt_status take_row(void *ctx, const struct sl_action *action, silt_error *err)
{
    return take_action(ctx, action, err);
}

/* *good false: the checkpoint cannot be read, which was told. */
static silt_status read_checkpoint(struct account *a, const struct sl_log_segment *segment, bool *good, silt_error *err)
{
    struct sl_fsck *fsck = a->fsck;
    struct sl_arena arena;
    struct sl_checkpoint checkpoint;
    silt_error found = SILT_ERROR_INIT;
    sl_arena_init(&arena, fsck->env);
    const struct sl_checkpoint_opening opening = {
        .source = &fsck->source, .segment = segment, .arena = &arena, .visit = take_row, .ctx = a};
    silt_status status = sl_checkpoint_open(&opening, fsck->call, &checkpoint, &found);
    if (status == SILT_OK) {
        const struct sl_checkpoint_request request = {.source = &fsck->source,
                                                      .checkpoint = &checkpoint,
                                                      .columns = (unsigned)SL_COLUMN_ADD | (unsigned)SL_COLUMN_REMOVE,
                                                      .with_details = true};
        status = sl_checkpoint_each(&request, fsck->call, take_row, a, &found);
    }
    *good = status == SILT_OK;
    if (status == SILT_OK) {
        status = sl_fsck_parsed(fsck, &checkpoint, a->about.file, err);
    } else {
        struct sl_fsck_about about = a->about;
        about.severity = status == SILT_EUNSUPPORTED ? SILT_FSCK_NOTE : SILT_FSCK_FAULT;
        status = sl_fsck_tell_failure(fsck, &about, &found, err);
    }
    sl_arena_release(&arena);
    return status;
}

static silt_status begin(struct account *a, struct sl_fsck *fsck, struct sl_fsck_state *state,
                         const struct sl_log_file *file, silt_error *err)
{
    *a = (struct account){
        .fsck = fsck,
        .state = state,
        .title = "the checkpoint",
        .about = {
            .severity = SILT_FSCK_FAULT, .check = SL_FSCK_CHECKPOINT, .version = file->version, .file = file->name}};
    state->mark++;
    return sl_fsck_state_init(&a->said, fsck->env, fsck->source.root, err);
}

/* Tombstones older than this need not be in a checkpoint. What a later copying of the file does to its time makes it only less strict. */
static int64_t expiry(const struct sl_fsck_state *state, const struct sl_log_file *file)
{
    return file->modified_ms -
           sl_property_interval_ms(&state->state.metadata.configuration, "delta.deletedFileRetentionDuration");
}

silt_status sl_fsck_compare_checkpoint(struct sl_fsck *fsck, struct sl_fsck_state *state,
                                       const struct sl_log_segment *segment, silt_error *err)
{
    struct account a;
    bool good = false;
    silt_status status = begin(&a, fsck, state, &segment->checkpoint[0], err);
    if (status == SILT_OK) {
        status = read_checkpoint(&a, segment, &good, err);
    }
    if (status == SILT_OK && good) {
        status = compare_state(&a, &a.said.state, err);
    }
    if (status == SILT_OK && good) {
        status = check_missing(&a, expiry(state, &segment->checkpoint[0]), err);
    }
    sl_fsck_state_release(&a.said);
    return status;
}

silt_status sl_fsck_load_checkpoint(struct sl_fsck *fsck, struct sl_fsck_state *state,
                                    const struct sl_log_segment *segment, bool *loaded, silt_error *err)
{
    struct account a;
    *loaded = false;
    sl_fsck_state_forget(state);
    silt_status status = begin(&a, fsck, state, &segment->checkpoint[0], err);
    a.as_base = true;
    if (status == SILT_OK) {
        status = read_checkpoint(&a, segment, loaded, err);
    }
    if (status == SILT_OK && *loaded) {
        state->version = segment->checkpoint_version;
    }
    sl_fsck_state_release(&a.said);
    return status;
}

/* ---- the kernel's replay ---- */

static silt_status take_live(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop;
    return take_add(ctx, add, err);
}

silt_status sl_fsck_compare_snapshot(struct sl_fsck *fsck, struct sl_fsck_state *state, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    struct account a = {.fsck = fsck,
                        .state = state,
                        .title = "the snapshot from the newest checkpoint",
                        .is_snapshot = true,
                        .about = {.severity = SILT_FSCK_FAULT, .check = SL_FSCK_LOG, .version = state->version}};
    state->mark++;
    silt_status status = sl_snapshot_each_file(fsck->snapshot, fsck->call, 0, take_live, &a, &found);
    if (status != SILT_OK) {
        return sl_fsck_tell_failure(fsck, &a.about, &found, err);
    }
    const int64_t live = count_missing(&a, false, 0);
    return live > 0 ? tell_missing(&a, live, false, 0, err) : SILT_OK;
}

/* ---- compacted files ---- */

struct gather {
    struct sl_replay replay;
    struct sl_fsck_state *state;
    int64_t version; /* of the commit at hand */
};

static silt_status keep_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    struct gather *g = ctx;
    return sl_fsck_set_add(&g->state->files, add, g->version, NULL, err);
}

static silt_status keep_remove(void *ctx, const struct sl_remove *remove, silt_error *err)
{
    struct gather *g = ctx;
    return sl_fsck_set_remove(&g->state->files, remove, g->version, NULL, err);
}

static silt_status gather_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct gather *g = ctx;
    g->version = commit->version;
    return sl_replay_commit(&g->replay, commit, err);
}

/* The commits reconciled, newest first, into an empty state. */
static silt_status gather(struct sl_fsck *fsck, const struct sl_log_file *commits, size_t n, struct sl_fsck_state *out,
                          silt_error *err)
{
    struct gather g = {.state = out};
    const struct sl_replay_sink sink = {.on_add = keep_add, .on_remove = keep_remove, .ctx = &g};
    sl_replay_init(&g.replay, fsck->env, fsck->source.root, &out->state, &out->arena, &sink);
    const struct sl_commits_request request = {
        .source = &fsck->source, .files = commits, .n = n, .missing = SL_MISSING_FAILS, .in_parts = true};
    const silt_status status = sl_commits_each(&request, fsck->call, gather_commit, &g, err);
    sl_replay_release(&g.replay);
    return status;
}

static silt_status take_compacted(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    for (size_t i = 0; i < commit->n_actions; i++) {
        SL_TRY(take_action(ctx, &commit->actions[i], err));
    }
    return SILT_OK;
}

/* Presence counts here: a compacted file need not have protocol or metaData when the commits have none. */
static silt_status compare_partial_state(struct account *a, silt_error *err)
{
    const struct sl_replay_state *said = &a->said.state;
    const struct sl_replay_state *log = &a->state->state;
    if (said->has_protocol != log->has_protocol || said->has_metadata != log->has_metadata) {
        return sl_fsck_tell(a->fsck, &a->about, err,
                            "%s has a protocol or metaData action that its commits lack, or lacks one", a->title);
    }
    return compare_state(a, said, err);
}

static silt_status compare_compacted(struct account *a, const struct sl_log_file *compacted,
                                     const struct sl_log_file *commits, size_t n, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    if (gather(a->fsck, commits, n, a->state, &found) != SILT_OK) {
        /* Commits that cannot be read are told where they are walked through. */
        const struct sl_fsck_about about = {.severity = SILT_FSCK_NOTE,
                                            .check = SL_FSCK_COMPACTED,
                                            .version = compacted->version,
                                            .file = compacted->name};
        return sl_fsck_tell_failure(a->fsck, &about, &found, err);
    }
    const struct sl_commits_request request = {
        .source = &a->fsck->source, .files = compacted, .n = 1, .missing = SL_MISSING_FAILS, .in_parts = true};
    if (sl_commits_each(&request, a->fsck->call, take_compacted, a, &found) != SILT_OK) {
        return sl_fsck_tell_failure(a->fsck, &a->about, &found, err);
    }
    SL_TRY(compare_partial_state(a, err));
    return check_missing(a, INT64_MAX - 1, err);
}

silt_status sl_fsck_compare_compacted(struct sl_fsck *fsck, const struct sl_log_file *compacted,
                                      const struct sl_log_file *commits, size_t n, silt_error *err)
{
    struct sl_fsck_state state;
    struct account a;
    fsck->report.compacted++;
    silt_status status = sl_fsck_state_init(&state, fsck->env, fsck->source.root, err);
    if (status == SILT_OK) {
        status = begin(&a, fsck, &state, compacted, err);
        a.title = "the compacted file";
        a.about.check = SL_FSCK_COMPACTED;
        if (status == SILT_OK) {
            status = compare_compacted(&a, compacted, commits, n, err);
        }
        sl_fsck_state_release(&a.said);
    }
    sl_fsck_state_release(&state);
    return status;
}
