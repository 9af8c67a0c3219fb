/*
 * The snapshot object: life and getters (silt/snapshot.h, state.h). Loading is in snapshot_load.c, the file list in
 * snapshot_files.c. Immutable; any thread.
 */
#include "kernel/snapshot/snapshot_int.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "kernel/engine/engine.h"

/*
 * Some megabytes at most. The names of commits go when a snapshot that has its files grows; without them they stay, and are copied with each
 * commit, until the table is opened again and begins from a newer checkpoint.
 */
#define LIGHT_FILES 10000
#define LIGHT_NAMES 10000
#define LIGHT_COMMITS 1000

silt_snapshot *sl_snapshot_alloc(silt_table *table)
{
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    silt_snapshot *snapshot = sl_alloc_zero(env, sizeof(*snapshot));
    if (snapshot == NULL) {
        return NULL;
    }
    atomic_init(&snapshot->refs, 1);
    atomic_init(&snapshot->view, NULL);
    atomic_init(&snapshot->files, NULL);
    atomic_init(&snapshot->detailed, NULL);
    atomic_init(&snapshot->details_too_big, false);
    atomic_init(&snapshot->stats_form, SL_STATS_TEXT);
    atomic_init(&snapshot->n_ahead, 1);
    atomic_init(&snapshot->newest_us, INT64_MIN);
    atomic_init(&snapshot->newest_wall_us, INT64_MIN);
    snapshot->env = env;
    snapshot->table = silt_table_ref(table);
    snapshot->in_commit_timestamp = SL_NO_I64;
    snapshot->txns_expired_ms = INT64_MIN;
    sl_arena_init(&snapshot->arena, env);
    sl_replay_state_init(&snapshot->state, env);
    snapshot->segment = (struct sl_log_segment){.version = -1, .checkpoint_version = -1};
    snapshot->crc_version = -1;
    return snapshot;
}

struct sl_snapshot_moment sl_snapshot_moment_now(const silt_env *env)
{
    return (struct sl_snapshot_moment){sl_monotonic_us(env), sl_now_us(env)};
}

void sl_snapshot_note_newest(silt_snapshot *snapshot, struct sl_snapshot_moment moment)
{
    atomic_store(&snapshot->newest_us, moment.monotonic_us);
    atomic_store(&snapshot->newest_wall_us, moment.wall_us);
}

static bool is_within(int64_t seen_us, int64_t within_us, int64_t now_us)
{
    int64_t limit_us = 0;
    return seen_us != INT64_MIN && sl_add_i64(seen_us, within_us, &limit_us) && now_us <= limit_us;
}

bool sl_snapshot_was_newest(const silt_snapshot *snapshot, int64_t within_us)
{
    const struct sl_snapshot_moment now = sl_snapshot_moment_now(snapshot->env);
    return is_within(atomic_load(&snapshot->newest_us), within_us, now.monotonic_us) &&
           is_within(atomic_load(&snapshot->newest_wall_us), within_us, now.wall_us);
}

const struct sl_log_file *sl_snapshot_commit_file(const silt_snapshot *snapshot)
{
    return snapshot->segment.has_commit_file ? &snapshot->segment.commit_file : NULL;
}

enum sl_log_fate sl_snapshot_fate(const silt_snapshot *snapshot, const silt_call *call, int64_t ours)
{
    const struct sl_log_look look = {.env = snapshot->env,
                                     .storage = sl_snapshot_storage(snapshot),
                                     .root = sl_snapshot_root(snapshot),
                                     .base = sl_snapshot_commit_file(snapshot),
                                     .ours = ours};
    return sl_log_fate(&look, call);
}

silt_snapshot *silt_snapshot_ref(silt_snapshot *snapshot)
{
    if (snapshot != NULL) {
        (void)atomic_fetch_add_explicit(&snapshot->refs, 1, memory_order_relaxed);
    }
    return snapshot;
}

void silt_snapshot_unref(silt_snapshot *snapshot)
{
    if (snapshot == NULL || atomic_fetch_sub_explicit(&snapshot->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    sl_file_list_unref(atomic_load(&snapshot->files));
    sl_file_list_unref(atomic_load(&snapshot->detailed));
    sl_replay_state_release(&snapshot->state);
    silt_schema_unref(snapshot->schema);
    silt_schema_unref(snapshot->physical);
    sl_view_free(atomic_load(&snapshot->view)); /* after the state, whose text it holds */
    sl_arena_release(&snapshot->arena);
    silt_table *table = snapshot->table;
    sl_release(snapshot->env, snapshot, sizeof(*snapshot));
    silt_table_unref(table); /* last: it may be what keeps the environment's owner alive */
}

/* ---- what the kernel sees ---- */

silt_engine *sl_snapshot_engine(const silt_snapshot *snapshot)
{
    return silt_table_engine(snapshot->table);
}

silt_table *sl_snapshot_table(const silt_snapshot *snapshot)
{
    return snapshot->table;
}

silt_storage *sl_snapshot_storage(const silt_snapshot *snapshot)
{
    return sl_table_storage(snapshot->table);
}

struct sl_str sl_snapshot_root(const silt_snapshot *snapshot)
{
    return sl_table_root(snapshot->table);
}

struct sl_log_source sl_snapshot_source(const silt_snapshot *snapshot)
{
    return (struct sl_log_source){.engine = sl_snapshot_engine(snapshot),
                                  .storage = sl_snapshot_storage(snapshot),
                                  .root = sl_snapshot_root(snapshot)};
}

const struct sl_protocol *sl_snapshot_protocol(const silt_snapshot *snapshot)
{
    return &snapshot->state.protocol;
}

const struct sl_metadata *sl_snapshot_get_metadata(const silt_snapshot *snapshot)
{
    return &snapshot->state.metadata;
}

enum sl_mapping_mode sl_snapshot_mapping(const silt_snapshot *snapshot)
{
    return snapshot->mapping;
}

/* By the log rather than by a version checksum, which may have stayed behind when its commit went. */
struct sl_str sl_snapshot_txn_id(const silt_snapshot *snapshot)
{
    const struct sl_log_view *view = atomic_load(&snapshot->view);
    return view != NULL && view->txn_id.ptr != NULL ? view->txn_id : snapshot->txn_id;
}

int64_t sl_snapshot_commit_time_ms(const silt_snapshot *snapshot)
{
    return snapshot->timestamp_ms;
}

const struct sl_app_txn *sl_snapshot_app_txn(const silt_snapshot *snapshot, struct sl_str app_id)
{
    const struct sl_map_entry *entry = sl_map_find(&snapshot->state.app_index, app_id);
    const struct sl_app_txn *txn = entry != NULL ? sl_vec_at(&snapshot->state.app_txns, (size_t)entry->value.u64)
                                                 : NULL;
    /* One of unknown age is kept: to forget it could mean to write a batch twice. */
    const bool expired = txn != NULL && txn->last_updated != SL_NO_I64 &&
                         txn->last_updated <= snapshot->txns_expired_ms;
    return expired ? NULL : txn;
}

bool sl_snapshot_is_light(const silt_snapshot *snapshot)
{
    const struct sl_log_view *view = atomic_load(&snapshot->view);
    const struct sl_file_list *lists[] = {atomic_load(&snapshot->files), atomic_load(&snapshot->detailed)};
    int64_t n_files = view != NULL && view->tail != NULL ? view->tail->n_files : 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        n_files = lists[i] != NULL && lists[i]->n_files > n_files ? lists[i]->n_files : n_files;
    }
    const bool has_files = lists[0] != NULL || lists[1] != NULL;
    const size_t most_commits = has_files ? LIGHT_NAMES : LIGHT_COMMITS;
    return (has_files || view != NULL) && n_files <= LIGHT_FILES && snapshot->segment.n_commits <= most_commits;
}

silt_status sl_snapshot_file_path(const silt_snapshot *snapshot, struct sl_arena *arena, struct sl_str log_path,
                                  struct sl_str *out, silt_error *err)
{
    return sl_uri_resolve(arena, sl_snapshot_root(snapshot), log_path, out, err);
}

/* ---- public getters ---- */

int64_t silt_snapshot_version(const silt_snapshot *snapshot)
{
    return snapshot->segment.version;
}

int64_t silt_snapshot_timestamp_ms(const silt_snapshot *snapshot)
{
    return snapshot->timestamp_ms;
}

const silt_schema *silt_snapshot_schema(const silt_snapshot *snapshot)
{
    return snapshot->schema;
}

const silt_schema *silt_snapshot_physical_schema(const silt_snapshot *snapshot)
{
    return snapshot->physical;
}

size_t silt_snapshot_partition_count(const silt_snapshot *snapshot)
{
    return snapshot->state.metadata.partition_columns.n;
}

const char *silt_snapshot_partition_column(const silt_snapshot *snapshot, size_t index)
{
    const struct sl_str_list *columns = &snapshot->state.metadata.partition_columns;
    return index < columns->n ? columns->items[index].ptr : NULL;
}

static int32_t version_number(int64_t version)
{
    return version > INT32_MAX ? INT32_MAX : (int32_t)version;
}

int32_t silt_snapshot_min_reader_version(const silt_snapshot *snapshot)
{
    return version_number(snapshot->state.protocol.min_reader_version);
}

int32_t silt_snapshot_min_writer_version(const silt_snapshot *snapshot)
{
    return version_number(snapshot->state.protocol.min_writer_version);
}

size_t silt_snapshot_feature_count(const silt_snapshot *snapshot)
{
    return snapshot->features.n;
}

const char *silt_snapshot_feature(const silt_snapshot *snapshot, size_t index)
{
    return index < snapshot->features.n ? snapshot->features.items[index].ptr : NULL;
}

void silt_snapshot_metadata(const silt_snapshot *snapshot, silt_metadata *out)
{
    const struct sl_metadata *metadata = &snapshot->state.metadata;
    const uint32_t size = out->size;
    *out = (silt_metadata){
        .size = size,
        .id = metadata->id.ptr,
        .name = metadata->name.ptr,
        .description = metadata->description.ptr,
        .format_provider = metadata->format_provider.ptr,
        .created_time_ms = metadata->created_time != SL_NO_I64 ? metadata->created_time : -1,
    };
}

size_t silt_snapshot_property_count(const silt_snapshot *snapshot)
{
    return snapshot->properties.n;
}

void silt_snapshot_property(const silt_snapshot *snapshot, size_t index, const char **key, const char **value)
{
    const bool there = index < snapshot->properties.n;
    *key = there ? snapshot->properties.items[index].key.ptr : NULL;
    *value = there ? snapshot->properties.items[index].value.ptr : NULL;
}

const char *silt_snapshot_property_get(const silt_snapshot *snapshot, const char *key)
{
    return sl_kv_get(&snapshot->properties, sl_str_from(key), NULL).ptr;
}

const char *silt_snapshot_domain(const silt_snapshot *snapshot, const char *domain)
{
    const struct sl_map_entry *entry = sl_map_find(&snapshot->state.domain_index, sl_str_from(domain));
    if (entry == NULL) {
        return NULL;
    }
    const struct sl_domain_metadata *found = sl_vec_at(&snapshot->state.domains, (size_t)entry->value.u64);
    return found->removed ? NULL : found->configuration.ptr;
}

int64_t silt_snapshot_app_version(const silt_snapshot *snapshot, const char *app_id)
{
    const struct sl_app_txn *txn = sl_snapshot_app_txn(snapshot, sl_str_from(app_id));
    return txn != NULL ? txn->version : -1;
}
