/*
 * The table object: a location and its store, and the ways to snapshots (silt/table.h). Opening one does no I/O. Immutable and
 * reference-counted; any thread.
 */
#include "silt/table.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/uri.h"
#include "kernel/engine/engine.h"
#include "kernel/log/catalog_tail.h"
#include "kernel/log/list.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

/* A larger version checksum is read again by who needs it. */
#define MAX_KEPT_CRC ((size_t)256 * 1024)
/* What is known of one that is kept. */
#define MAX_KEPT_PARSED ((size_t)2 * 1024 * 1024)

struct silt_table {
    atomic_size_t refs;
    const silt_env *env;
    silt_engine *engine;   /* a reference */
    silt_storage *storage; /* borrowed from the engine */
    struct sl_arena arena;
    struct sl_str root; /* in the arena, NUL-terminated */
    bool is_catalog;
    struct sl_catalog_tail tail;
    silt_committer *committer; /* a reference; NULL: none */
    atomic_bool distrusts_crc; /* a version checksum contradicted the log */
    _Atomic(struct sl_kept_crc *) kept_crc;
};

static void free_table(silt_table *table)
{
    silt_engine *engine = table->engine;
    sl_kept_crc_free(atomic_load(&table->kept_crc));
    silt_committer_unref(table->committer);
    sl_arena_release(&table->arena);
    sl_release(table->env, table, sizeof(*table));
    silt_engine_unref(engine); /* last: the environment may go with it */
}

static silt_status make_table(silt_engine *engine, const char *uri, silt_table **out, silt_error *err)
{
    const silt_env *env = silt_engine_env(engine);
    silt_table *table = sl_alloc_zero(env, sizeof(*table));
    if (table == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&table->refs, 1);
    atomic_init(&table->distrusts_crc, false);
    atomic_init(&table->kept_crc, NULL);
    table->env = env;
    table->engine = silt_engine_ref(engine);
    sl_arena_init(&table->arena, env);
    struct sl_str root = {NULL, 0};
    silt_status status = sl_uri_normalize(&table->arena, sl_str_from(uri), &root, err);
    if (status == SILT_OK) {
        table->root = sl_arena_copy(&table->arena, root); /* for the NUL behind it */
        status = table->root.ptr == NULL ? sl_fail_nomem(err) : SILT_OK;
    }
    if (status == SILT_OK) {
        status = sl_engine_storage(engine, table->root.ptr, &table->storage, err);
    }
    if (status != SILT_OK) {
        free_table(table);
        return status;
    }
    *out = table;
    return SILT_OK;
}

silt_status silt_table_for_path(silt_engine *engine, const char *uri, silt_table **out, silt_error *err)
{
    if (engine == NULL || uri == NULL || out == NULL || uri[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_for_path needs an engine, a path and an out parameter");
    }
    *out = NULL;
    return make_table(engine, uri, out, err);
}

/* ---- tables of a catalog ---- */

static silt_status copy_commit(silt_table *table, const silt_catalog_commit *from, struct sl_log_file *to,
                               silt_error *err)
{
    *to = (struct sl_log_file){.kind = SL_LOG_COMMIT,
                               .version = from->version,
                               .end_version = from->version,
                               .modified_ms = from->modified_ms};
    if ((from->staged_name == NULL) == (from->content == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "commit %lld of the catalog is %s", (long long)from->version,
                       from->content == NULL ? "neither staged nor inline" : "both staged and inline");
    }
    if (from->content != NULL) {
        to->name = SL_STR("(inline commit)");
        to->size = (int64_t)from->content_len;
        to->content = sl_arena_copy(&table->arena, sl_str_make(from->content, from->content_len));
        return to->content.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    /* The name of a commit with a UUID in the place of nothing; no path. */
    if (!sl_log_is_staged_name(sl_str_from(from->staged_name), from->version)) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "commit %lld of the catalog: %s is not the name of a staged commit of that version",
                       (long long)from->version, from->staged_name);
    }
    const char *name = sl_arena_printf(&table->arena, SL_LOG_STAGED_DIR "/%s", from->staged_name);
    to->size = from->size_bytes;
    to->name = sl_str_from(name);
    return name != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status take_catalog(silt_table *table, const silt_catalog_state *state, silt_error *err)
{
    struct sl_log_file *commits = sl_arena_alloc_array(&table->arena, state->n_commits, sizeof(*commits));
    if (commits == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < state->n_commits; i++) {
        SL_TRY(copy_commit(table, &state->commits[i], &commits[i], err));
    }
    table->is_catalog = true;
    if (state->size >= offsetof(silt_catalog_state, committer) + sizeof(state->committer)) {
        table->committer = silt_committer_ref(state->committer);
    }
    table->tail = (struct sl_catalog_tail){
        .commits = commits, .n = state->n_commits, .latest_version = state->latest_version};
    return sl_catalog_tail_check(&table->tail, err);
}

silt_status silt_table_for_catalog(silt_engine *engine, const char *uri, const silt_catalog_state *state,
                                   silt_table **out, silt_error *err)
{
    if (engine == NULL || uri == NULL || out == NULL || uri[0] == '\0' || state == NULL ||
        (state->commits == NULL && state->n_commits > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "silt_table_for_catalog needs an engine, a path, the catalog's state and an out parameter");
    }
    *out = NULL;
    silt_table *table = NULL;
    SL_TRY(make_table(engine, uri, &table, err));
    const silt_status status = take_catalog(table, state, err);
    if (status != SILT_OK) {
        free_table(table);
        return status;
    }
    *out = table;
    return SILT_OK;
}

bool sl_table_is_catalog(const silt_table *table)
{
    return table->is_catalog;
}

silt_committer *sl_table_committer(const silt_table *table)
{
    return table->committer;
}

int64_t sl_table_newest_allowed(const silt_table *table)
{
    return table->is_catalog ? table->tail.latest_version : INT64_MAX;
}

silt_status sl_table_list_log(silt_table *table, const silt_call *call, int64_t from_version, struct sl_arena *arena,
                              struct sl_vec *files, bool *exists, silt_error *err)
{
    files->len = 0;
    SL_TRY(sl_log_list(table->storage, call, table->root, from_version, arena, files, exists, err));
    if (!table->is_catalog) {
        return SILT_OK;
    }
    *exists = *exists || table->tail.n > 0;
    return sl_catalog_tail_merge(&table->tail, from_version, files, err);
}

bool sl_table_trusts_crc(const silt_table *table)
{
    return !atomic_load(&table->distrusts_crc);
}

void sl_table_distrust_crc(silt_table *table)
{
    atomic_store(&table->distrusts_crc, true);
}

struct sl_kept_crc *sl_kept_crc_new(const silt_env *env, int64_t version)
{
    struct sl_kept_crc *kept = sl_alloc_zero(env, sizeof(*kept));
    if (kept != NULL) {
        kept->env = env;
        kept->crc.version = version;
        sl_buf_init(&kept->text, env);
        sl_arena_init(&kept->arena, env);
    }
    return kept;
}

void sl_kept_crc_free(struct sl_kept_crc *kept)
{
    if (kept != NULL) {
        sl_buf_release(&kept->text);
        sl_arena_release(&kept->arena);
        sl_release(kept->env, kept, sizeof(*kept));
    }
}

/* What was derived again and again has gathered much that is needed no more: its text is enough, and is parsed when it is wanted. */
void sl_table_keep_crc(silt_table *table, struct sl_kept_crc *kept)
{
    if (kept != NULL && kept->arena.total_bytes > MAX_KEPT_PARSED) {
        sl_arena_release(&kept->arena);
        kept->crc = (struct sl_crc){.version = kept->crc.version};
        kept->is_parsed = false;
    }
    if (kept != NULL && kept->text.len > MAX_KEPT_CRC) {
        sl_kept_crc_free(kept);
        kept = NULL;
    }
    sl_kept_crc_free(atomic_exchange(&table->kept_crc, kept));
}

struct sl_kept_crc *sl_table_take_crc(silt_table *table, int64_t version)
{
    struct sl_kept_crc *kept = atomic_exchange(&table->kept_crc, NULL);
    if (kept != NULL && kept->crc.version != version) {
        sl_kept_crc_free(kept);
        kept = NULL;
    }
    return kept;
}

silt_table *silt_table_ref(silt_table *table)
{
    if (table != NULL) {
        (void)atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
    }
    return table;
}

void silt_table_unref(silt_table *table)
{
    if (table != NULL && atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) == 1) {
        free_table(table);
    }
}

const char *silt_table_uri(const silt_table *table)
{
    return table->root.ptr;
}

silt_engine *silt_table_engine(const silt_table *table)
{
    return table->engine;
}

silt_storage *sl_table_storage(const silt_table *table)
{
    return table->storage;
}

struct sl_str sl_table_root(const silt_table *table)
{
    return table->root;
}

silt_status silt_table_latest_snapshot(silt_table *table, const silt_call *call, silt_snapshot **out, silt_error *err)
{
    if (table == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_latest_snapshot needs a table and an out parameter");
    }
    const struct sl_snapshot_moment moment = sl_snapshot_moment_now(silt_engine_env(silt_table_engine(table)));
    SL_TRY(sl_snapshot_load(table, call, SL_VERSION_LATEST, out, err));
    sl_snapshot_note_newest(*out, moment);
    return SILT_OK;
}

silt_status silt_table_snapshot_at_version(silt_table *table, const silt_call *call, int64_t version,
                                           silt_snapshot **out, silt_error *err)
{
    if (table == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_snapshot_at_version needs a table and an out parameter");
    }
    *out = NULL;
    if (version < 0 || version == SL_VERSION_LATEST) {
        return sl_fail(err, SILT_EINVALID, "DELTA_VERSION_INVALID", "%lld is not a version: expected 0 to %lld",
                       (long long)version, (long long)(SL_VERSION_LATEST - 1));
    }
    return sl_snapshot_load(table, call, version, out, err);
}
