/*
 * One commit of the log: what makes it wrong by itself is found by the kernel's parser, what makes it wrong where it stands is found here
 * (PROTOCOL.md "Delta Log Entries", "Actions", "In-Commit Timestamps"). Applied to the state action by action, in parts where it is large.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/env.h"
#include "base/error.h"
#include "commands/fsck_int.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"

/* Files whose path was live under another vector when they came: looked at again at the end of the commit. */
#define MAX_DOUBTS ((size_t)100000)

struct doubt {
    struct sl_fsck_id id;
    struct sl_str path; /* in the arena */
    bool is_remove;
};

struct applying {
    struct sl_fsck *fsck;
    struct sl_fsck_state *state;
    const struct sl_log_file *file;
    struct sl_arena arena;
    struct sl_vec doubts;
    bool is_alone; /* the state before it is not known: what it makes of that is not looked at */
    bool is_read;
    bool began;
    bool info_first; /* its first action is commitInfo */
    bool was_append_only;
    bool has_info, has_protocol, has_metadata;
    int64_t in_commit_timestamp;
    int64_t time_ms;
    char name[64];
};

static struct sl_fsck_about about(const struct applying *a, silt_fsck_severity severity, struct sl_str file)
{
    return (struct sl_fsck_about){
        .severity = severity, .check = SL_FSCK_COMMIT, .version = a->file->version, .file = file};
}

/* ---- files ---- */

static silt_status doubt(struct applying *a, struct sl_str path, struct sl_fsck_id id, bool is_remove, silt_error *err)
{
    if (a->doubts.len >= MAX_DOUBTS) {
        return SILT_OK;
    }
    struct doubt *d = sl_vec_push(&a->doubts);
    const struct sl_str copy = sl_arena_copy(&a->arena, path);
    if (d == NULL || copy.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    *d = (struct doubt){.id = id, .path = copy, .is_remove = is_remove};
    return SILT_OK;
}

static silt_status take_add(struct applying *a, const struct sl_add *add, silt_error *err)
{
    struct sl_fsck_set *files = &a->state->files;
    struct sl_fsck_file before;
    SL_TRY(sl_fsck_set_add(files, add, a->file->version, &before, err));
    if (sl_fsck_set_other(files, before.id) != NULL) {
        SL_TRY(doubt(a, add->path, before.id, false, err));
    }
    /* Files are added again to give them other statistics or row ids, which is no change of data. */
    if (before.version >= 0 && before.is_live && add->data_change) {
        const struct sl_fsck_about where = about(a, SILT_FSCK_NOTE, add->path);
        return sl_fsck_tell(a->fsck, &where, err,
                            "the file is added as new data though version %" PRId64
                            " added it and nothing removed it since",
                            before.version);
    }
    return SILT_OK;
}

static silt_status take_remove(struct applying *a, const struct sl_remove *remove, silt_error *err)
{
    struct sl_fsck_set *files = &a->state->files;
    struct sl_fsck_file before;
    SL_TRY(sl_fsck_set_remove(files, remove, a->file->version, &before, err));
    if (remove->data_change && a->was_append_only) {
        const struct sl_fsck_about where = about(a, SILT_FSCK_FAULT, remove->path);
        SL_TRY(sl_fsck_tell(a->fsck, &where, err, "data is removed from a table that is delta.appendOnly"));
    }
    if (before.version >= 0 && before.is_live) {
        return SILT_OK;
    }
    if (sl_fsck_set_other(files, before.id) != NULL) {
        return doubt(a, remove->path, before.id, true, err);
    }
    const struct sl_fsck_about where = about(a, SILT_FSCK_NOTE, remove->path);
    return sl_fsck_tell(a->fsck, &where, err,
                        before.version >= 0 ? "a file is removed that was removed before"
                                            : "a file is removed that is not in the table");
}

static silt_status settle_doubts(struct applying *a, silt_error *err)
{
    for (size_t i = 0; i < a->doubts.len; i++) {
        const struct doubt *d = sl_vec_at(&a->doubts, i);
        const struct sl_fsck_file *own = sl_fsck_set_find(&a->state->files, d->id);
        const struct sl_fsck_file *other = sl_fsck_set_other(&a->state->files, d->id);
        const bool twice = !d->is_remove && own != NULL && own->is_live && other != NULL;
        const bool missed = d->is_remove && other != NULL && other->version < a->file->version;
        if (twice || missed) {
            const struct sl_fsck_about where = about(a, SILT_FSCK_FAULT, d->path);
            SL_TRY(sl_fsck_tell(a->fsck, &where, err,
                                twice ? "the file is live twice, with different deletion vectors: its rows are doubled"
                                      : "the file is removed with another deletion vector than it has: it stays"));
        }
    }
    return SILT_OK;
}

/* Change files may be vacuumed like removed data files: only young ones must be there. */
static silt_status take_change_file(struct applying *a, const struct sl_cdc *cdc, silt_error *err)
{
    const struct sl_kv_list *config = &a->state->state.metadata.configuration;
    const int64_t kept_ms = sl_property_interval_ms(config, "delta.deletedFileRetentionDuration");
    if (a->fsck->snapshot == NULL || a->fsck->options.no_data || a->time_ms < sl_now_ms(a->fsck->env) - kept_ms) {
        return SILT_OK;
    }
    struct sl_str path = {NULL, 0};
    int64_t size = 0;
    int64_t modified_ms = 0;
    silt_error found = SILT_ERROR_INIT;
    a->fsck->report.change_files++;
    silt_status status = sl_snapshot_file_path(a->fsck->snapshot, &a->arena, cdc->path, &path, &found);
    if (status == SILT_OK) {
        status = silt_storage_stat(a->fsck->source.storage, a->fsck->call, path.ptr, &size, &modified_ms, &found);
    }
    struct sl_fsck_about where = about(a, SILT_FSCK_NOTE, cdc->path);
    where.check = SL_FSCK_CHANGE_FILE;
    if (status == SILT_ENOTFOUND) {
        return sl_fsck_tell(a->fsck, &where, err, "the change file does not exist though it is young enough to");
    }
    return status == SILT_OK ? SILT_OK : sl_fsck_tell_failure(a->fsck, &where, &found, err);
}

/* ---- the rest ---- */

/* What silt does not know is no fault of the table. */
static silt_fsck_severity severity_of(silt_status status)
{
    return status == SILT_EUNSUPPORTED ? SILT_FSCK_NOTE : SILT_FSCK_FAULT;
}

static silt_status check_metadata(struct applying *a, const struct sl_metadata *metadata, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    silt_schema *schema = NULL;
    struct sl_fsck_about where = about(a, SILT_FSCK_FAULT, sl_str_from(a->name));
    if (metadata->schema_string.len == 0) {
        return sl_fsck_tell(a->fsck, &where, err, "metaData lacks the required member schemaString");
    }
    silt_status status = silt_schema_from_json(a->fsck->env, metadata->schema_string.ptr, metadata->schema_string.len,
                                               &schema, &found);
    if (status == SILT_OK) {
        status = sl_schema_validate_unique(schema, &found);
    }
    if (status != SILT_OK) {
        silt_schema_unref(schema);
        where.severity = severity_of(status);
        return sl_fsck_tell_failure(a->fsck, &where, &found, err);
    }
    for (size_t i = 0; i < metadata->partition_columns.n && status == SILT_OK; i++) {
        const struct sl_str name = metadata->partition_columns.items[i];
        if (sl_type_find(&schema->root, name, NULL) == NULL) {
            status = sl_fsck_tell(a->fsck, &where, err, "metaData: partition column %.*s is not in the schema",
                                  SL_FMT(name));
        }
    }
    silt_schema_unref(schema);
    return status;
}

static silt_status check_protocol(struct applying *a, const struct sl_protocol *protocol, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_protocol_validate(protocol, &found);
    if (status == SILT_OK) {
        return SILT_OK;
    }
    const struct sl_fsck_about where = about(a, severity_of(status), sl_str_from(a->name));
    return sl_fsck_tell_failure(a->fsck, &where, &found, err);
}

static void take_info(struct applying *a, const struct sl_commit_info *info)
{
    struct sl_fsck_state *state = a->state;
    if (a->has_info) {
        return;
    }
    a->has_info = true;
    a->in_commit_timestamp = info->in_commit_timestamp;
    if (info->in_commit_timestamp != SL_NO_I64) {
        a->time_ms = info->in_commit_timestamp;
    }
    const int n = info->txn_id.ptr == NULL
                      ? -1
                      : snprintf(state->txn_id_text, sizeof(state->txn_id_text), "%.*s", SL_FMT(info->txn_id));
    if (n >= 0 && (size_t)n < sizeof(state->txn_id_text)) {
        state->txn_id = sl_str_from(state->txn_id_text);
    }
}

static silt_status take_action(struct applying *a, const struct sl_action *action, silt_error *err)
{
    switch (action->kind) {
    case SL_ACTION_ADD: return a->is_alone ? SILT_OK : take_add(a, &action->u.add, err);
    case SL_ACTION_REMOVE: return a->is_alone ? SILT_OK : take_remove(a, &action->u.remove, err);
    case SL_ACTION_CDC: return a->is_alone ? SILT_OK : take_change_file(a, &action->u.cdc, err);
    case SL_ACTION_COMMIT_INFO: take_info(a, &action->u.commit_info); return SILT_OK;
    case SL_ACTION_METADATA:
        a->has_metadata = true;
        SL_TRY(check_metadata(a, &action->u.metadata, err));
        break;
    case SL_ACTION_PROTOCOL:
        a->has_protocol = true;
        SL_TRY(check_protocol(a, &action->u.protocol, err));
        break;
    case SL_ACTION_APP_TXN:
    case SL_ACTION_DOMAIN_METADATA:
    case SL_ACTION_SIDECAR:
    case SL_ACTION_CHECKPOINT_METADATA:
    case SL_ACTION_UNKNOWN: break;
    }
    return a->is_alone ? SILT_OK : sl_fsck_state_take(a->state, action, err);
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct applying *a = ctx;
    if (!a->began && commit->n_actions > 0) {
        a->began = true;
        a->info_first = commit->actions[0].kind == SL_ACTION_COMMIT_INFO;
    }
    for (size_t i = 0; i < commit->n_actions; i++) {
        SL_TRY(take_action(a, &commit->actions[i], err));
    }
    return SILT_OK;
}

/* PROTOCOL.md "In-Commit Timestamps": in the first action, and later than that of the version before. */
static silt_status check_time(struct applying *a, int64_t before, silt_error *err)
{
    const struct sl_replay_state *s = &a->state->state;
    const struct sl_fsck_about where = about(a, SILT_FSCK_FAULT, sl_str_from(a->name));
    const bool enabled = s->has_protocol && s->has_metadata &&
                         sl_protocol_has_feature(&s->protocol, "inCommitTimestamp") &&
                         sl_property_bool(&s->metadata.configuration, "delta.enableInCommitTimestamps");
    a->state->in_commit_timestamp = a->in_commit_timestamp;
    if (!enabled) {
        return SILT_OK;
    }
    if (a->in_commit_timestamp == SL_NO_I64) {
        return sl_fsck_tell(a->fsck, &where, err, "the commit has no in-commit timestamp though the table has such");
    }
    if (!a->info_first) {
        SL_TRY(sl_fsck_tell(a->fsck, &where, err,
                            "commitInfo with the in-commit timestamp is not the first action of the commit"));
    }
    if (before != SL_NO_I64 && a->in_commit_timestamp <= before) {
        char expected[48];
        char found[32];
        struct sl_fsck_about full = where;
        (void)snprintf(expected, sizeof(expected), "more than %" PRId64, before);
        (void)snprintf(found, sizeof(found), "%" PRId64, a->in_commit_timestamp);
        full.expected = sl_str_from(expected);
        full.found = sl_str_from(found);
        return sl_fsck_tell(a->fsck, &full, err,
                            "in-commit timestamp %" PRId64 " is not later than that of the version before, %" PRId64,
                            a->in_commit_timestamp, before);
    }
    return SILT_OK;
}

static silt_status end_commit(struct applying *a, int64_t before, silt_error *err)
{
    const struct sl_fsck_about where = about(a, SILT_FSCK_FAULT, sl_str_from(a->name));
    if (!a->began) {
        return sl_fsck_tell(
            a->fsck, &where, err,
            "the commit is empty, as a power cut may leave it: what it wrote is lost, and readers take it "
            "for a version without changes");
    }
    if (a->is_alone) {
        return SILT_OK;
    }
    if (a->file->version == 0 && !(a->has_protocol && a->has_metadata)) {
        SL_TRY(sl_fsck_tell(a->fsck, &where, err, "version 0 lacks %s, which the first commit must have",
                            a->has_protocol ? "metaData" : "protocol"));
    }
    SL_TRY(settle_doubts(a, err));
    return check_time(a, before, err);
}

static silt_status check_commit(struct applying *a, silt_error *err)
{
    struct sl_fsck *fsck = a->fsck;
    const int64_t before = a->state->in_commit_timestamp;
    const struct sl_commits_request request = {
        .source = &fsck->source, .files = a->file, .n = 1, .missing = SL_MISSING_FAILS, .in_parts = true};
    silt_error found = SILT_ERROR_INIT;
    (void)snprintf(a->name, sizeof(a->name), "%020" PRId64 ".json", a->file->version);
    sl_arena_init(&a->arena, fsck->env);
    sl_vec_init(&a->doubts, fsck->env, sizeof(struct doubt));
    fsck->report.commits++;
    silt_status status = sl_commits_each(&request, fsck->call, take_commit, a, &found);
    a->is_read = status == SILT_OK;
    if (status == SILT_OK) {
        status = end_commit(a, before, err);
    } else {
        const struct sl_fsck_about where = about(a, SILT_FSCK_FAULT, sl_str_from(a->name));
        status = sl_fsck_tell_failure(fsck, &where, &found, err);
    }
    sl_vec_release(&a->doubts);
    sl_arena_release(&a->arena);
    return status;
}

static struct applying start(struct sl_fsck *fsck, struct sl_fsck_state *state, const struct sl_log_file *file)
{
    state->txn_id = (struct sl_str){NULL, 0};
    return (struct applying){
        .fsck = fsck,
        .state = state,
        .file = file,
        .in_commit_timestamp = SL_NO_I64,
        .time_ms = file->modified_ms,
        .was_append_only = sl_property_bool(&state->state.metadata.configuration, "delta.appendOnly")};
}

silt_status sl_fsck_commit(struct sl_fsck *fsck, struct sl_fsck_state *state, const struct sl_log_file *file,
                           bool *applied, silt_error *err)
{
    struct applying a = start(fsck, state, file);
    const silt_status status = check_commit(&a, err);
    *applied = a.is_read;
    state->version = a.is_read ? file->version : state->version;
    return status;
}

silt_status sl_fsck_commit_alone(struct sl_fsck *fsck, struct sl_fsck_state *state, const struct sl_log_file *file,
                                 silt_error *err)
{
    struct applying a = start(fsck, state, file);
    a.is_alone = true;
    const silt_status status = check_commit(&a, err);
    state->txn_id = (struct sl_str){NULL, 0};
    return status;
}
