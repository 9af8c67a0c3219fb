/*
 * Opening a checkpoint; see checkpoint.h. The top file (or all parts) is read for what is not about files; what it says of
 * sidecars is checked before anybody reads them, so that a checkpoint which lost one is found out before its rows
 * are believed. Any thread.
 */
#include "kernel/replay/checkpoint.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "base/map.h"
#include "base/uri.h"
#include "base/vec.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/replay/checkpoint_bring.h"
#include "kernel/replay/checkpoint_read.h"

#define LOCAL_PATH_MAX 4096
#define SIDECAR_DIR "_sidecars"
#define MAX_SIDECARS ((size_t)1024 * 1024)

struct opener {
    const struct sl_checkpoint_opening *opening;
    const silt_env *env;
    const silt_call *call;
    size_t n_protocol, n_metadata, n_checkpoint_metadata;
    bool has_v2_feature;
    struct sl_vec sidecars; /* of silt_parquet_file: path as in the action, size as it says */
    silt_error *err;
};

static silt_status bad(const struct opener *o, const char *what)
{
    return sl_fail(o->err, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", "%s", what);
}

/* ---- the rows of the top file ---- */

static silt_status keep_sidecar(struct opener *o, const struct sl_sidecar *sidecar)
{
    if (o->sidecars.len >= MAX_SIDECARS) {
        return sl_fail(o->err, SILT_ELIMIT, NULL, "the checkpoint names more than %zu sidecars", MAX_SIDECARS);
    }
    silt_parquet_file *file = sl_vec_push(&o->sidecars);
    const char *path = file != NULL ? sl_arena_strdup(o->opening->arena, sidecar->path) : NULL;
    if (path == NULL) {
        return sl_fail_nomem(o->err);
    }
    *file = (silt_parquet_file){.path = path, .size_bytes = sidecar->size_in_bytes};
    return SILT_OK;
}

static silt_status take_row(void *ctx, const struct sl_action *action, silt_error *err)
{
    struct opener *o = ctx;
    switch (action->kind) {
    case SL_ACTION_PROTOCOL:
        o->n_protocol++;
        o->has_v2_feature = sl_protocol_has_feature(&action->u.protocol, "v2Checkpoint");
        break;
    case SL_ACTION_METADATA: o->n_metadata++; break;
    case SL_ACTION_CHECKPOINT_METADATA:
        o->n_checkpoint_metadata++;
        if (action->u.checkpoint_metadata.version != o->opening->segment->checkpoint_version) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "checkpointMetadata.version is %" PRId64 ", another version",
                           action->u.checkpoint_metadata.version);
        }
        break;
    case SL_ACTION_SIDECAR: SL_TRY(keep_sidecar(o, &action->u.sidecar)); break;
    case SL_ACTION_APP_TXN:
    case SL_ACTION_DOMAIN_METADATA:
    case SL_ACTION_ADD:
    case SL_ACTION_REMOVE:
    case SL_ACTION_CDC:
    case SL_ACTION_COMMIT_INFO:
    case SL_ACTION_UNKNOWN: break;
    }
    return o->opening->visit != NULL ? o->opening->visit(o->opening->ctx, action, err) : SILT_OK;
}

static silt_status check_counts(const struct opener *o)
{
    const enum sl_log_file_kind kind = o->opening->segment->checkpoint[0].kind;
    const bool is_v2 = o->n_checkpoint_metadata > 0 || o->sidecars.len > 0;
    if (o->n_protocol != 1) {
        return bad(o, o->n_protocol == 0 ? "it holds no protocol action" : "it holds more than one protocol action");
    }
    if (o->n_metadata != 1) {
        return bad(o, o->n_metadata == 0 ? "it holds no metaData action" : "it holds more than one metaData action");
    }
    /* PROTOCOL.md "V2 Spec", "Allowed combinations" */
    if (o->n_checkpoint_metadata > 1) {
        return bad(o, "it holds more than one checkpointMetadata action");
    }
    if ((is_v2 || kind == SL_LOG_CHECKPOINT_V2) && o->n_checkpoint_metadata == 0) {
        return bad(o, "it holds no checkpointMetadata action, as a checkpoint of the V2 spec must");
    }
    if (is_v2 && !o->has_v2_feature) {
        return bad(o, "it follows the V2 spec, but its protocol lacks the feature v2Checkpoint");
    }
    if (is_v2 && kind == SL_LOG_CHECKPOINT_PART) {
        return bad(o, "it is in parts and follows the V2 spec, which cannot be");
    }
    return SILT_OK;
}

/* ---- files ---- */

static silt_status set_local_path(const struct opener *o, silt_parquet_file *file)
{
    char buf[LOCAL_PATH_MAX];
    if (silt_storage_local_path(o->opening->source->storage, file->path, buf, sizeof(buf), NULL) != SILT_OK) {
        return SILT_OK; /* the store has none */
    }
    file->local_path = sl_arena_strdup(o->opening->arena, sl_str_from(buf));
    return file->local_path == NULL ? sl_fail_nomem(o->err) : SILT_OK;
}

/* PROTOCOL.md "Sidecar File Information": always in the table's own folder of sidecars, wherever the path seems to go. */
static silt_status place_sidecar(const struct opener *o, struct sl_str dir, silt_parquet_file *file)
{
    const char *named = file->path;
    struct sl_str path = {NULL, 0};
    SL_TRY(sl_uri_resolve(o->opening->arena, dir, sl_str_from(named), &path, o->err));
    const bool inside = sl_str_starts_with(path, dir) && path.len > dir.len + 1 && path.ptr[dir.len] == '/' &&
                        sl_str_find(path, SL_STR("/../")) == SIZE_MAX;
    if (!inside) {
        return sl_fail(o->err, SILT_ECORRUPT, NULL,
                       "sidecar %s is not in the table's folder " SL_LOG_DIR "/" SIDECAR_DIR, named);
    }
    file->path = sl_arena_strdup(o->opening->arena, path);
    return file->path == NULL ? sl_fail_nomem(o->err) : set_local_path(o, file);
}

static silt_status check_sidecar(const struct opener *o, const struct sl_early *early, const silt_parquet_file *file)
{
    int64_t size = 0;
    int64_t modified_ms = 0;
    bool has_tag = false;
    if (early != NULL && sl_early_knows(early, sl_str_from(file->path), &size, &has_tag)) {
        return SILT_OK; /* one of another size counts as not asked for */
    }
    const silt_status status = silt_storage_stat(o->opening->source->storage, o->call, file->path, &size, &modified_ms,
                                                 o->err);
    if (status == SILT_ENOTFOUND) {
        return sl_fail(o->err, SILT_ENOTFOUND, "DELTA_LOG_FILE_NOT_FOUND", "its sidecar %s does not exist", file->path);
    }
    SL_TRY(status);
    if (size != file->size_bytes) {
        return sl_fail(o->err, SILT_ECORRUPT, NULL,
                       "its sidecar %s has %" PRId64 " bytes where %" PRId64 " were expected", file->path, size,
                       file->size_bytes);
    }
    return SILT_OK;
}

static silt_status ask_early(const struct opener *o, struct sl_early *early, const silt_parquet_file *files)
{
    struct sl_vec wants;
    sl_vec_init(&wants, o->env, sizeof(struct sl_early_want));
    silt_status status = sl_checkpoint_want(files, o->sidecars.len, &wants, o->err);
    if (status == SILT_OK) {
        status = sl_early_bring(early, o->call, wants.data, wants.len, o->err);
    }
    sl_vec_release(&wants);
    return status;
}

/* Are they there? A far store is asked for all of them at once, and gives their ends. */
static silt_status check_sidecars(const struct opener *o, const silt_parquet_file *files)
{
    const struct sl_log_source *source = o->opening->source;
    struct sl_early *early = sl_early_ref(o->opening->early);
    silt_status status = SILT_OK;
    if (early == NULL && sl_storage_is_far(source->storage, source->root.ptr)) {
        status = sl_early_new(o->env, source->storage, &early, o->err);
    }
    if (status == SILT_OK && early != NULL) {
        status = ask_early(o, early, files);
    }
    for (size_t i = 0; i < o->sidecars.len && status == SILT_OK; i++) {
        status = check_sidecar(o, early, &files[i]);
    }
    sl_early_unref(early);
    return status;
}

/* A sidecar that is named twice would give its files twice. */
static silt_status add_sidecars(struct opener *o, silt_parquet_file *files)
{
    const struct sl_str log_dir = sl_log_path(o->opening->arena, o->opening->source->root, SL_STR(SIDECAR_DIR));
    if (log_dir.ptr == NULL) {
        return sl_fail_nomem(o->err);
    }
    struct sl_map seen;
    sl_map_init(&seen, o->env);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < o->sidecars.len && status == SILT_OK; i++) {
        files[i] = *(const silt_parquet_file *)sl_vec_at(&o->sidecars, i);
        status = place_sidecar(o, log_dir, &files[i]);
        if (status == SILT_OK) {
            bool inserted = false;
            if (sl_map_put(&seen, sl_str_from(files[i].path), &inserted) == NULL) {
                status = sl_fail_nomem(o->err);
            } else if (!inserted) {
                status = sl_fail(o->err, SILT_ECORRUPT, NULL, "it names the sidecar %s twice", files[i].path);
            }
        }
    }
    sl_map_release(&seen);
    return status == SILT_OK ? check_sidecars(o, files) : status;
}

static silt_status bring(const struct opener *o, const silt_parquet_file *files, size_t n, unsigned what)
{
    const struct sl_checkpoint_bringing bringing = {.source = o->opening->source,
                                                    .early = o->opening->early,
                                                    .files = files,
                                                    .n_files = n,
                                                    .what = what | (o->opening->with_adds ? SL_BRING_ADDS : 0U)};
    return bringing.what != 0 ? sl_checkpoint_bring(&bringing, o->call, o->err) : SILT_OK;
}

/* The top file or the parts. */
static silt_status name_top(const struct opener *o, struct sl_checkpoint *out)
{
    const struct sl_log_segment *segment = o->opening->segment;
    silt_parquet_file *files = sl_arena_alloc_array(o->opening->arena, segment->n_checkpoint, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(o->err);
    }
    for (size_t i = 0; i < segment->n_checkpoint; i++) {
        const struct sl_str path = sl_log_path(o->opening->arena, o->opening->source->root,
                                               segment->checkpoint[i].name);
        if (path.ptr == NULL) {
            return sl_fail_nomem(o->err);
        }
        if (sl_str_ends_with(path, SL_STR(".json"))) {
            out->json_path = path;
            out->json_size = segment->checkpoint[i].size;
            return SILT_OK;
        }
        files[i] = (silt_parquet_file){.path = path.ptr, .size_bytes = segment->checkpoint[i].size};
        SL_TRY(set_local_path(o, &files[i]));
    }
    out->parquet = files;
    out->n_parquet = segment->n_checkpoint;
    return SILT_OK;
}

static silt_status append_sidecars(struct opener *o, struct sl_checkpoint *out)
{
    const size_t n = out->n_parquet + o->sidecars.len;
    silt_parquet_file *files = sl_arena_alloc_array(o->opening->arena, n, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(o->err);
    }
    for (size_t i = 0; i < out->n_parquet; i++) {
        files[i] = out->parquet[i];
    }
    SL_TRY(add_sidecars(o, files + out->n_parquet));
    SL_TRY(bring(o, files + out->n_parquet, o->sidecars.len, 0));
    out->parquet = files;
    out->n_parquet = n;
    out->n_sidecars = o->sidecars.len;
    return SILT_OK;
}

static silt_status check_and_complete(struct opener *o, struct sl_checkpoint *out)
{
    silt_status status = check_counts(o);
    if (status == SILT_OK && o->sidecars.len > 0) {
        status = append_sidecars(o, out);
    }
    out->is_v2 = o->n_checkpoint_metadata > 0;
    if (status != SILT_OK) {
        sl_error_context(o->err, "checkpoint of version %" PRId64, out->version);
        sl_error_version(o->err, out->version);
    }
    return status;
}

silt_status sl_checkpoint_open(const struct sl_checkpoint_opening *opening, const silt_call *call,
                               struct sl_checkpoint *out, silt_error *err)
{
    *out = (struct sl_checkpoint){.version = -1};
    if (opening->segment->n_checkpoint == 0) {
        return SILT_OK;
    }
    struct sl_checkpoint found = {.version = opening->segment->checkpoint_version};
    struct opener o = {.opening = opening, .env = silt_engine_env(opening->source->engine), .call = call, .err = err};
    sl_vec_init(&o.sidecars, o.env, sizeof(silt_parquet_file));
    silt_status status = name_top(&o, &found);
    if (status == SILT_OK) {
        status = bring(&o, found.parquet, found.n_parquet, SL_BRING_STATE);
    }
    if (status == SILT_OK) {
        const struct sl_checkpoint_request request = {
            .source = opening->source, .checkpoint = &found, .columns = SL_COLUMNS_STATE};
        status = sl_checkpoint_each(&request, call, take_row, &o, err);
    }
    if (status == SILT_OK) {
        status = check_and_complete(&o, &found);
    }
    if (status == SILT_OK) {
        *out = found;
    }
    sl_vec_release(&o.sidecars);
    return status;
}
