/*
 * What DuckDB keeps of the footers of files. Its cache gives way to the memory limit only, counts less than it takes (row groups are left out of
 * its sum), and nothing can empty it but closing the database, which holds the session's temporary tables. So it is kept from growing:
 *
 *   copies of files in scratch folders have names that never come again, so that nothing is kept while a scan reads any;
 *   the footers of other files are counted, those in the range cache too, and past a bound nothing more is kept, until the database is opened anew;
 *   what DuckDB reads beside them of local files, which it never frees, is not kept: the machine's own cache has it.
 *
 * Any thread. Queries under way go on as they were planned: a footer more or less does no harm.
 */
#include "duck.h"

#define MAX_KEPT_BYTES ((uint64_t)512 << 20)
/* Memory that a footer takes once it is parsed, by its bytes in the file: 9 to 10 for flat columns, with one row group and with twenty. */
#define TIMES_PARSED 10
/* Queries between two looks at what DuckDB counts itself, which has the files that a user's text names: half a millisecond each. */
#define QUERIES_A_LOOK 64

static bool is_the_users(const struct sl_dataplane *dp)
{
    for (size_t i = 0; i < dp->settings.len; i++) {
        const struct sl_duck_setting *setting = sl_vec_at(&dp->settings, i);
        if (sl_str_eq_nocase(setting->name, SL_STR("parquet_metadata_cache"))) {
            return true;
        }
    }
    return false;
}

/* dp->lock is held. What fails is tried again the next time. */
static void settle(struct sl_dataplane *dp)
{
    const bool keeps = dp->cache.copies == 0 && dp->cache.bytes <= MAX_KEPT_BYTES;
    duckdb_connection handle = NULL;
    if (dp->cache.keeps == keeps || dp->db == NULL || atomic_load(&dp->db->dead) || is_the_users(dp) ||
        duckdb_connect(dp->db->handle, &handle) != DuckDBSuccess) {
        return;
    }
    if (duckdb_query(handle, keeps ? SL_DUCK_KEEP_FOOTERS : SL_DUCK_KEEP_NO_FOOTERS, NULL) == DuckDBSuccess) {
        dp->cache.keeps = keeps;
    }
    duckdb_disconnect(&handle);
}

void sl_duck_cache_init(struct sl_duck_cache *cache, const silt_env *env)
{
    sl_arena_init(&cache->arena, env);
    sl_map_init(&cache->counted, env);
}

void sl_duck_cache_release(struct sl_duck_cache *cache)
{
    sl_map_release(&cache->counted);
    sl_arena_release(&cache->arena);
}

bool sl_duck_cache_begin(struct sl_dataplane *dp, duckdb_connection handle)
{
    dp->cache.bytes = 0;
    sl_duck_cache_release(&dp->cache);
    sl_duck_cache_init(&dp->cache, dp->env);
    dp->cache.keeps = dp->cache.copies == 0;
    return duckdb_query(handle, "SET GLOBAL enable_external_file_cache = false", NULL) == DuckDBSuccess &&
           duckdb_query(handle, dp->cache.keeps ? SL_DUCK_KEEP_FOOTERS : SL_DUCK_KEEP_NO_FOOTERS, NULL) ==
               DuckDBSuccess;
}

/* False: it was counted before. A name that finds no memory is counted again. */
static bool is_new(struct sl_duck_cache *cache, const char *local)
{
    bool inserted = false;
    if (sl_map_find(&cache->counted, sl_str_from(local)) != NULL) {
        return false;
    }
    const struct sl_str kept = sl_arena_copy(&cache->arena, sl_str_from(local));
    (void)(kept.ptr != NULL && sl_map_put(&cache->counted, kept, &inserted) != NULL);
    return true;
}

void sl_duck_cache_count(struct sl_dataplane *dp, const char *local, uint64_t footer_bytes)
{
    pthread_mutex_lock(&dp->lock);
    if (dp->cache.bytes <= MAX_KEPT_BYTES && is_new(&dp->cache, local)) {
        dp->cache.bytes += footer_bytes < MAX_KEPT_BYTES ? footer_bytes * TIMES_PARSED : footer_bytes;
        settle(dp);
    }
    pthread_mutex_unlock(&dp->lock);
}

void sl_duck_cache_begin_copies(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    dp->cache.copies++;
    settle(dp);
    pthread_mutex_unlock(&dp->lock);
}

void sl_duck_cache_end_copies(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    dp->cache.copies--;
    settle(dp);
    pthread_mutex_unlock(&dp->lock);
}

/* 0 if it cannot be had. dp->lock is held. */
static uint64_t ask_size(struct sl_dataplane *dp)
{
    duckdb_connection handle = NULL;
    duckdb_result result = {0};
    int64_t bytes = 0;
    if (dp->db == NULL || atomic_load(&dp->db->dead) || duckdb_connect(dp->db->handle, &handle) != DuckDBSuccess) {
        return 0;
    }
    if (duckdb_query(handle, "SELECT memory_usage_bytes::BIGINT FROM duckdb_memory() WHERE tag = 'OBJECT_CACHE'",
                     &result) == DuckDBSuccess) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        if (chunk != NULL && duckdb_data_chunk_get_size(chunk) > 0) {
            (void)sl_duck_cell_i64(chunk, 0, 0, &bytes); /* stays 0 if not told */
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    duckdb_disconnect(&handle);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

void sl_duck_cache_look(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    if (dp->cache.keeps && ++dp->cache.queries % QUERIES_A_LOOK == 0) {
        const uint64_t bytes = ask_size(dp);
        dp->cache.bytes = bytes > dp->cache.bytes ? bytes : dp->cache.bytes;
        settle(dp);
    }
    pthread_mutex_unlock(&dp->lock);
}
