/*
 * Collecting what a checkpoint is to hold; see checkpoint_content.h. Commits are replayed anew, with all that they say of a file, since a
 * snapshot keeps only what scans need.
 */
#include "kernel/checkpoint/checkpoint_content.h"

#include <inttypes.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/action/action_arrow.h"
#include "kernel/checkpoint/checkpoint_layout.h"
#include "kernel/checkpoint/checkpoint_plan.h"
#include "kernel/engine/engine.h"
#include "kernel/replay/checkpoint_read.h"
#include "kernel/snapshot/state.h"

/* A tombstone of the older checkpoint: did it come before in it? Those of the commits are told apart by the replay. */
static silt_status is_again(struct sl_checkpoint_content *content, const struct sl_remove *remove, bool *again,
                            silt_error *err)
{
    struct sl_file_key key;
    *again = false;
    if (!content->in_checkpoint || sl_doubles_are_none(content->tombstone_doubles)) {
        return SILT_OK;
    }
    return sl_key_make(&content->keys, remove->path, remove->deletion_vector, &key)
               ? sl_doubles_note(content->tombstone_doubles, &key, again, err)
               : sl_fail_nomem(err);
}

/* PROTOCOL: Checkpoints: only removes that have not expired; as Delta Spark, one without a time has. */
static silt_status put_remove(void *ctx, const struct sl_remove *remove, silt_error *err)
{
    struct sl_checkpoint_content *content = ctx;
    if (remove->deletion_timestamp == SL_NO_I64 || remove->deletion_timestamp <= content->tombstones_after_ms) {
        return SILT_OK;
    }
    struct sl_remove tombstone = *remove;
    bool again = false;
    SL_TRY(is_again(content, remove, &again, err));
    if (again) {
        return SILT_OK;
    }
    tombstone.data_change = false;
    const int32_t n_parts = (int32_t)content->n_removes;
    const int32_t part = n_parts > 1 ? sl_checkpoint_part_of(tombstone.path, tombstone.deletion_vector,
                                                             content->with_vectors, n_parts)
                                     : 0;
    struct sl_action_rows *rows = &content->removes[part];
    if (!sl_action_rows_has_begun(rows)) {
        SL_TRY(sl_action_rows_init(rows, content->env, content->remove_schema, SL_ACTION_REMOVE, err));
    }
    content->has_removes = true;
    return sl_action_rows_put(rows, &tombstone, err);
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct sl_checkpoint_content *content = ctx;
    return sl_replay_commit(&content->replay, commit, err);
}

/* An add is a line of a top file in JSON: the sidecars, or another line, may name the file once more. */
static silt_status take_row(void *ctx, const struct sl_action *action, silt_error *err)
{
    struct sl_checkpoint_content *content = ctx;
    return action->kind == SL_ACTION_ADD ? sl_replay_older_add(&content->replay, &action->u.add, err)
                                         : sl_replay_checkpoint_action(&content->replay, action, err);
}

static silt_status replay_commits(struct sl_checkpoint_content *content, const silt_call *call, silt_error *err)
{
    const struct sl_log_segment *segment = &content->view->segment;
    const struct sl_commits_request commits = {.source = &content->source,
                                               .files = segment->commits,
                                               .n = segment->n_commits,
                                               .missing = SL_MISSING_FAILS,
                                               .in_parts = true};
    if (content->view->checkpoint.version < 0 && segment->n_commits > 0) {
        content->replay.last_version = segment->commits[0].version;
    }
    return sl_commits_each(&commits, call, take_commit, content, err);
}

static silt_status each_batch(struct sl_checkpoint_content *content, const silt_call *call,
                              struct ArrowArrayStream *stream, silt_error *err)
{
    struct ArrowSchema schema = {0};
    SL_TRY(sl_arrow_stream_schema(stream, &schema, err));
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_call_check(content->env, call, err);
        if (status == SILT_OK) {
            status = sl_arrow_stream_next(stream, &batch, &done, err);
        }
        if (status == SILT_OK && !done) {
            status = sl_actions_from_arrow(content->env, &schema, &batch, take_row, content, err);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    return status;
}

/* Fails when the removes have to be collected again, see sl_checkpoint_content. */
static silt_status check_tombstones(const struct sl_checkpoint_content *content, silt_error *err)
{
    struct sl_doubles *doubles = content->tombstone_doubles;
    if (doubles->is_settled) {
        return SILT_OK;
    }
    SL_TRY(sl_doubles_settle(doubles, err));
    return doubles->hashes.len == 0 ? SILT_OK
                                    : sl_fail(err, SILT_ECONFLICT, NULL, "tombstones are there more than once");
}

/* Most rows are adds: those are not read where the statistics of the file tell where the removes are. */
static silt_status take_removes(struct sl_checkpoint_content *content, const silt_call *call, silt_error *err)
{
    static const char *const member = "remove.path";
    const struct sl_checkpoint *checkpoint = &content->view->checkpoint;
    silt_schema *schema = NULL;
    struct ArrowArrayStream stream = {0};
    if (checkpoint->n_parquet == 0) {
        return check_tombstones(content, err); /* of lines */
    }
    silt_status status = sl_checkpoint_schema(content->env, SL_COLUMN_REMOVE, true, &schema, err);
    if (status == SILT_OK) {
        const silt_parquet_read read = {.size = sizeof(read),
                                        .storage = content->source.storage,
                                        .files = checkpoint->parquet,
                                        .n_files = checkpoint->n_parquet,
                                        .schema = schema,
                                        .any_of = &member,
                                        .n_any_of = 1};
        status = sl_parquet_read(content->source.engine, call, &read, &stream, err);
    }
    if (status == SILT_OK) {
        status = each_batch(content, call, &stream, err);
    }
    sl_arrow_stream_release(&stream);
    silt_schema_unref(schema);
    return status == SILT_OK ? check_tombstones(content, err) : status;
}

static silt_status take_checkpoint(struct sl_checkpoint_content *content, const silt_call *call, silt_error *err)
{
    const struct sl_checkpoint *checkpoint = &content->view->checkpoint;
    content->in_checkpoint = true;
    const struct sl_checkpoint_request state = {
        .source = &content->source, .checkpoint = checkpoint, .columns = SL_COLUMNS_STATE};
    SL_TRY(sl_checkpoint_each(&state, call, take_row, content, err));
    SL_TRY(sl_checkpoint_each_json(&content->source, checkpoint, call, take_row, content, err));
    const silt_status status = take_removes(content, call, err);
    if (status != SILT_OK) {
        sl_error_context(err, "checkpoint of version %" PRId64, checkpoint->version);
    }
    return status;
}

/* Columns begin with their first row: most parts have none. */
static silt_status make_removes(struct sl_checkpoint_content *content, const struct sl_checkpoint_collecting *how,
                                silt_error *err)
{
    content->removes = sl_arena_alloc_array(&content->arena, how->n_parts, sizeof(*content->removes));
    if (content->removes == NULL) {
        return sl_fail_nomem(err);
    }
    memset(content->removes, 0, how->n_parts * sizeof(*content->removes));
    content->n_removes = how->n_parts;
    content->remove_schema = how->remove;
    return SILT_OK;
}

/* Does the view hold all that the commits would say when they are read again? */
static bool view_tells_all(const silt_snapshot *snapshot, const struct sl_log_view *view)
{
    const struct sl_replay_state *state = sl_view_state(snapshot, view);
    return view->lacks_removes && view->tail != NULL && view->tail->has_details && state->has_protocol &&
           state->has_metadata && view->checkpoint.json_path.ptr == NULL;
}

static silt_status collect_from_view(struct sl_checkpoint_content *content, const struct sl_checkpoint_collecting *how,
                                     const silt_call *call, silt_error *err)
{
    const struct sl_log_view *view = content->view;
    const struct sl_replay_sink sink = {.on_remove = put_remove, .ctx = content};
    SL_TRY(make_removes(content, how, err));
    content->state = sl_view_state(how->snapshot, view);
    content->decided = &view->decided;
    content->files = sl_file_set_ref(view->tail);
    content->replay.sink = sink;
    content->replay.want_files = true;
    content->replay.newer = (struct sl_key_probe){
        .keys = &view->decided, .files = view->tail, .maker = &content->replay.others};
    content->in_checkpoint = true;
    const silt_status status = take_removes(content, call, err);
    if (status != SILT_OK) {
        sl_error_context(err, "checkpoint of version %" PRId64, view->checkpoint.version);
    }
    content->bad_checkpoint = sl_checkpoint_is_bad(status);
    return status;
}

static silt_status collect(struct sl_checkpoint_content *content, const struct sl_checkpoint_collecting *how,
                           const silt_call *call, silt_error *err)
{
    const struct sl_file_set_options options = {
        .env = content->env, .root = content->source.root, .want_details = true, .max_details = SIZE_MAX};
    SL_TRY(make_removes(content, how, err));
    SL_TRY(sl_file_set_begin(&content->building, &options, err));
    const struct sl_replay_sink sink = {.on_remove = put_remove, .ctx = content, .adds = &content->building};
    content->replay.sink = sink;
    SL_TRY(replay_commits(content, call, err));
    if (content->view->checkpoint.version >= 0) {
        const silt_status status = take_checkpoint(content, call, err);
        content->bad_checkpoint = sl_checkpoint_is_bad(status);
        SL_TRY(status);
    }
    if (!content->state->has_protocol || !content->state->has_metadata) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR",
                       "the log of version %" PRId64 " has no %s action", content->view->segment.version,
                       content->state->has_protocol ? "metaData" : "protocol");
    }
    content->replay.sink.adds = NULL; /* keys are looked up in the finished set from now on */
    return sl_file_set_finish(&content->building, &content->files, err);
}

silt_status sl_checkpoint_collect(struct sl_checkpoint_content *content, const struct sl_checkpoint_collecting *how,
                                  const silt_call *call, silt_error *err)
{
    static const struct sl_replay_sink no_sink = {0};
    *content = (struct sl_checkpoint_content){.env = silt_engine_env(sl_snapshot_engine(how->snapshot)),
                                              .source = sl_view_source(how->snapshot, how->view),
                                              .snapshot = how->snapshot,
                                              .view = how->view,
                                              .doubles = how->doubles,
                                              .tombstone_doubles = how->tombstone_doubles,
                                              .with_vectors = how->with_vectors,
                                              .tombstones_after_ms = how->tombstones_after_ms};
    sl_arena_init(&content->arena, content->env);
    sl_key_maker_init(&content->keys, content->env, content->source.root, NULL);
    sl_doubles_rewind(content->tombstone_doubles);
    sl_replay_state_init(&content->own_state, content->env);
    sl_replay_init(&content->replay, content->env, content->source.root, &content->own_state, &content->arena,
                   &no_sink);
    content->state = &content->own_state;
    content->decided = &content->replay.decided;
    return view_tells_all(how->snapshot, how->view) ? collect_from_view(content, how, call, err)
                                                    : collect(content, how, call, err);
}

void sl_checkpoint_content_release(struct sl_checkpoint_content *content)
{
    if (content->env == NULL) {
        return;
    }
    for (size_t i = 0; i < content->n_removes; i++) {
        sl_action_rows_release(&content->removes[i]);
    }
    sl_key_maker_release(&content->keys);
    sl_replay_release(&content->replay);
    sl_file_set_abandon(&content->building);
    sl_file_set_unref(content->files);
    sl_replay_state_release(&content->own_state);
    sl_arena_release(&content->arena);
    *content = (struct sl_checkpoint_content){0};
}

/* ---- members that few tables have ---- */

static const struct {
    const char *member;
    unsigned optional;
} marks[] = {
    {"add.deletionVector.storageType", SL_LAYOUT_VECTORS},
    {"add.baseRowId", SL_LAYOUT_ROW_IDS},
    {"add.defaultRowCommitVersion", SL_LAYOUT_ROW_IDS},
    {"add.clusteringProvider", SL_LAYOUT_PROVIDER},
};
#define N_MARKS (sizeof(marks) / sizeof(marks[0]))
#define ALL_OPTIONAL (SL_LAYOUT_VECTORS | SL_LAYOUT_ROW_IDS | SL_LAYOUT_PROVIDER)

static bool has_value(const struct ArrowArray *array)
{
    for (int64_t row = 0; array->null_count != array->length && row < array->length; row++) {
        if (!sl_arrow_is_null(array, row)) {
            return true;
        }
    }
    return false;
}

/* The batch has the columns of probe_schema. */
static unsigned find_in_batch(const struct ArrowArray *batch)
{
    unsigned found = 0;
    const struct ArrowArray *add = batch->n_children == 1 ? batch->children[0] : NULL;
    for (size_t i = 0; add != NULL && i < N_MARKS && (int64_t)i < add->n_children; i++) {
        const struct ArrowArray *member = add->children[i];
        const bool nested = i == 0 && member->n_children == 1;
        found |= has_value(nested ? member->children[0] : member) ? marks[i].optional : 0U;
    }
    return found;
}

static silt_status probe_schema(const silt_env *env, silt_schema **out, silt_error *err)
{
#define FIELD(name, type) "{\"name\":\"" name "\",\"nullable\":true,\"metadata\":{},\"type\":" type "}"
    static const char json[] = "{\"type\":\"struct\",\"fields\":[" FIELD(
        "add",
        "{\"type\":\"struct\",\"fields\":[" FIELD(
            "deletionVector",
            "{\"type\":\"struct\",\"fields\":[" FIELD(
                "storageType",
                "\"string\"") "]}") "," FIELD("baseRowId",
                                              "\"long\"") "," FIELD("defaultRowCommitVersion",
                                                                    "\"long\"") "," FIELD("clusteringProvider",
                                                                                          "\"string\"") "]}") "]}";
#undef FIELD
    return silt_schema_from_json(env, json, sizeof(json) - 1, out, err);
}

static silt_status probe_batches(struct ArrowArrayStream *stream, unsigned *found, silt_error *err)
{
    bool done = false;
    silt_status status = SILT_OK;
    while (status == SILT_OK && !done && *found != ALL_OPTIONAL) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(stream, &batch, &done, err);
        if (status == SILT_OK && !done) {
            *found |= find_in_batch(&batch);
        }
        sl_arrow_array_release(&batch);
    }
    return status;
}

static silt_status probe_checkpoint(struct sl_checkpoint_content *content, const silt_call *call, unsigned *found,
                                    silt_error *err)
{
    const struct sl_checkpoint *checkpoint = &content->view->checkpoint;
    const char *members[N_MARKS];
    silt_schema *schema = NULL;
    struct ArrowArrayStream stream = {0};
    for (size_t i = 0; i < N_MARKS; i++) {
        members[i] = marks[i].member;
    }
    silt_status status = probe_schema(content->env, &schema, err);
    if (status == SILT_OK) {
        const silt_parquet_read read = {.size = sizeof(read),
                                        .storage = content->source.storage,
                                        .files = checkpoint->parquet,
                                        .n_files = checkpoint->n_parquet,
                                        .schema = schema,
                                        .any_of = members,
                                        .n_any_of = N_MARKS,
                                        .lax_structs = true};
        status = sl_parquet_read(content->source.engine, call, &read, &stream, err);
    }
    if (status == SILT_OK) {
        status = probe_batches(&stream, found, err);
    }
    sl_arrow_stream_release(&stream);
    silt_schema_unref(schema);
    if (status != SILT_OK) {
        sl_error_context(err, "checkpoint of version %" PRId64, checkpoint->version);
        content->bad_checkpoint = sl_checkpoint_is_bad(status);
    }
    return status;
}

static silt_status probe_files(const struct sl_file_set *files, unsigned *found, silt_error *err)
{
    struct sl_file_cursor cursor;
    silt_status status = SILT_OK;
    bool done = false;
    sl_file_cursor_init(&cursor, files, true);
    while (status == SILT_OK && !done && *found != ALL_OPTIONAL) {
        struct sl_add add;
        status = sl_file_cursor_next(&cursor, &add, &done, err);
        if (status == SILT_OK && !done) {
            *found |= add.deletion_vector != NULL ? SL_LAYOUT_VECTORS : 0U;
            *found |= add.base_row_id != SL_NO_I64 || add.default_row_commit_version != SL_NO_I64 ? SL_LAYOUT_ROW_IDS
                                                                                                  : 0U;
            *found |= add.clustering_provider.ptr != NULL ? SL_LAYOUT_PROVIDER : 0U;
        }
    }
    sl_file_cursor_release(&cursor);
    return status;
}

silt_status sl_checkpoint_find_optional(struct sl_checkpoint_content *content, const silt_call *call, unsigned *out,
                                        silt_error *err)
{
    *out = 0;
    SL_TRY(probe_files(content->files, out, err));
    return content->view->checkpoint.n_parquet > 0 ? probe_checkpoint(content, call, out, err) : SILT_OK;
}
