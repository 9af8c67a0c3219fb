/*
 * The instance of the data plane: its options, its one database in memory, and a connection for each call (8 µs).
 *
 * The database is opened with everything that could reach the network or the working directory switched off. It dies of a fatal
 * error; the next connection then opens another and puts the settings made since into it. Connections keep their database alive.
 * Any thread.
 */
#include "duck.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/uuid.h"
#include "duck_aside.h"
#include "duck_bound.h"
#include "duck_fetch.h"
#include "duck_leaf.h"
#include "duck_pace.h"
#include "duck_variant.h"

/* Files that a partitioned write may hold open at once; DuckDB's own default makes ten times as many files as values. */
#define WRITE_MAX_OPEN_FILES 1000
/* Descriptors left to the rest of the process. */
#define SPARE_DESCRIPTORS 128

static void release_db(struct sl_dataplane *dp, struct sl_duck_db *db)
{
    if (db != NULL && atomic_fetch_sub(&db->refs, 1) == 1) {
        duckdb_close(&db->handle);
        sl_release(dp->env, db, sizeof(*db));
    }
}

static unsigned max_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > WRITE_MAX_OPEN_FILES + SPARE_DESCRIPTORS) {
        return WRITE_MAX_OPEN_FILES;
    }
    return limit.rlim_cur > 2 * SPARE_DESCRIPTORS ? (unsigned)limit.rlim_cur - SPARE_DESCRIPTORS : SPARE_DESCRIPTORS;
}

static silt_status configure(struct sl_dataplane *dp, duckdb_config config, silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(dp->env, uuid, err));
    struct sl_buf text;
    sl_buf_init(&text, dp->env);
    bool fine = duckdb_set_config(config, "autoinstall_known_extensions", "false") == DuckDBSuccess &&
                duckdb_set_config(config, "autoload_known_extensions", "false") == DuckDBSuccess &&
                duckdb_set_config(config, "errors_as_json", "true") == DuckDBSuccess &&
                duckdb_set_config(config, "custom_user_agent", "silt") == DuckDBSuccess;
    /* A folder of its own: databases that share one overwrite each other's spilled blocks. It is made at the first spill. */
    sl_buf_printf(&text, "%s/silt-spill-%s", dp->temp_dir, uuid);
    fine = fine && duckdb_set_config(config, "temp_directory", sl_buf_cstr(&text)) == DuckDBSuccess;
    sl_buf_clear(&text);
    sl_buf_printf(&text, "%u", max_open_files());
    fine = fine && duckdb_set_config(config, "partitioned_write_max_open_files", sl_buf_cstr(&text)) == DuckDBSuccess;
    if (fine && dp->threads > 0) {
        sl_buf_clear(&text);
        sl_buf_printf(&text, "%u", (unsigned)dp->threads);
        fine = duckdb_set_config(config, "threads", sl_buf_cstr(&text)) == DuckDBSuccess;
    }
    silt_status status = sl_buf_status(&text, err);
    sl_buf_release(&text);
    if (status == SILT_OK && !fine) {
        status = sl_fail(err, SILT_EUNSUPPORTED, NULL, "this libduckdb (%s) does not know the settings that silt needs",
                         duckdb_library_version());
    }
    if (status == SILT_OK && dp->memory_limit != NULL &&
        duckdb_set_config(config, "memory_limit", dp->memory_limit) != DuckDBSuccess) {
        status = sl_fail(err, SILT_EINVALID, NULL, "memory limit \"%s\" is no size such as \"4GB\"", dp->memory_limit);
    }
    return status;
}

static silt_status put_setting(struct sl_duck_conn *conn, struct sl_str name, struct sl_str value, silt_error *err)
{
    struct sl_buf sql;
    sl_buf_init(&sql, conn->dp->env);
    sl_buf_put_c(&sql, "SET GLOBAL ");
    sl_duck_put_ident(&sql, name);
    sl_buf_put_c(&sql, " = ");
    sl_duck_put_text(&sql, value);
    duckdb_result result;
    const silt_status status = sl_duck_exec(conn, NULL, &sql, &result, err);
    duckdb_destroy_result(&result);
    sl_buf_release(&sql);
    return status;
}

static silt_status prepare_db(struct sl_dataplane *dp, struct sl_duck_db *db, silt_error *err)
{
    struct sl_duck_conn conn = {.dp = dp, .db = db};
    if (duckdb_connect(db->handle, &conn.handle) != DuckDBSuccess) {
        return sl_fail(err, SILT_EENGINE, NULL, "no connection to the data plane's database can be made");
    }
    silt_status status = SILT_OK;
    if (!sl_duck_parts_register(dp, conn.handle) || !sl_duck_live_register(dp, conn.handle) ||
        !sl_duck_pick_register(dp, conn.handle) || !sl_duck_text_register(dp, conn.handle) ||
        !sl_duck_rows_register(dp, conn.handle) || !sl_leaf_register(conn.handle) ||
        !sl_variant_register(dp, conn.handle) || !sl_aside_register(dp, conn.handle) ||
        !sl_duck_fetch_register(dp, conn.handle) || !sl_duck_pace_register(dp, conn.handle) ||
        !sl_duck_sift_register(dp, conn.handle)) {
        status = sl_fail(err, SILT_EENGINE, NULL, "silt's functions cannot be registered with DuckDB");
    }
    if (status == SILT_OK) {
        status = put_setting(&conn, SL_STR("TimeZone"), sl_str_from(dp->time_zone), err);
    }
    if (status == SILT_OK && !sl_duck_cache_begin(dp, conn.handle)) {
        status = sl_fail(err, SILT_EENGINE, NULL, "DuckDB refuses to be told what to keep of footers");
    }
    for (size_t i = 0; status == SILT_OK && i < dp->settings.len; i++) {
        const struct sl_duck_setting *setting = sl_vec_at(&dp->settings, i);
        status = put_setting(&conn, setting->name, setting->value, err);
    }
    duckdb_disconnect(&conn.handle);
    return status;
}

/* dp->lock is held. */
static silt_status open_db(struct sl_dataplane *dp, silt_error *err)
{
    duckdb_config config = NULL;
    char *message = NULL;
    silt_status status = SILT_OK;
    struct sl_duck_db *db = sl_alloc_zero(dp->env, sizeof(*db));
    if (db == NULL || duckdb_create_config(&config) != DuckDBSuccess) {
        status = sl_fail_nomem(err);
        goto out;
    }
    status = configure(dp, config, err);
    if (status != SILT_OK) {
        goto out;
    }
    if (duckdb_open_ext(NULL, &db->handle, config, &message) != DuckDBSuccess) {
        status = sl_fail(err, SILT_EENGINE, NULL, "DuckDB cannot be started: %s",
                         message != NULL ? message : "no message");
        goto out;
    }
    atomic_init(&db->refs, 1);
    status = prepare_db(dp, db, err);
    if (status != SILT_OK) {
        duckdb_close(&db->handle);
        goto out;
    }
    dp->db = db;
    db = NULL;
out:
    duckdb_free(message);
    duckdb_destroy_config(&config);
    sl_release(dp->env, db, sizeof(*db));
    return status;
}

silt_status sl_duck_connect(struct sl_dataplane *dp, struct sl_duck_conn *out, silt_error *err)
{
    *out = (struct sl_duck_conn){.dp = dp};
    silt_status status = SILT_OK;
    pthread_mutex_lock(&dp->lock);
    if (dp->db != NULL && atomic_load(&dp->db->dead)) {
        release_db(dp, dp->db);
        dp->db = NULL;
    }
    if (dp->db == NULL) {
        status = open_db(dp, err);
    }
    if (status == SILT_OK) {
        out->db = dp->db;
        atomic_fetch_add(&out->db->refs, 1);
    }
    pthread_mutex_unlock(&dp->lock);
    if (status == SILT_OK && duckdb_connect(out->db->handle, &out->handle) != DuckDBSuccess) {
        status = sl_fail(err, SILT_EENGINE, NULL, "no connection to the data plane's database can be made");
        sl_duck_disconnect(out);
    }
    return status;
}

void sl_duck_disconnect(struct sl_duck_conn *conn)
{
    if (conn->dp == NULL) {
        return;
    }
    if (conn->handle != NULL) {
        duckdb_disconnect(&conn->handle);
    }
    release_db(conn->dp, conn->db);
    *conn = (struct sl_duck_conn){0};
}

silt_status sl_duck_set_option(struct sl_dataplane *dp, struct sl_str name, struct sl_str value, silt_error *err)
{
    struct sl_duck_conn conn;
    SL_TRY(sl_duck_connect(dp, &conn, err));
    silt_status status = put_setting(&conn, name, value, err);
    sl_duck_disconnect(&conn);
    if (status != SILT_OK) {
        return status;
    }
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_setting *setting = NULL;
    for (size_t i = 0; i < dp->settings.len && setting == NULL; i++) {
        struct sl_duck_setting *known = sl_vec_at(&dp->settings, i);
        setting = sl_str_eq_nocase(known->name, name) ? known : NULL;
    }
    const struct sl_str name_copy = setting != NULL ? setting->name : sl_arena_copy(&dp->arena, name);
    const struct sl_str value_copy = sl_arena_copy(&dp->arena, value);
    if (setting == NULL) {
        setting = sl_vec_push(&dp->settings);
    }
    if (setting == NULL || name_copy.ptr == NULL || value_copy.ptr == NULL) {
        status = sl_fail_nomem(err);
    } else {
        *setting = (struct sl_duck_setting){name_copy, value_copy};
    }
    pthread_mutex_unlock(&dp->lock);
    return status;
}

static silt_status copy_options(struct sl_dataplane *dp, const struct sl_dataplane_options *options, silt_error *err)
{
    const char *temp_dir = options->temp_dir != NULL ? options->temp_dir : getenv("TMPDIR");
    if (temp_dir == NULL || temp_dir[0] != '/') {
        temp_dir = "/tmp";
    }
    const char *zone = options->time_zone != NULL ? options->time_zone : "UTC";
    dp->threads = options->threads;
    dp->temp_dir = sl_arena_strdup(&dp->arena, sl_str_from(temp_dir));
    dp->time_zone = sl_arena_strdup(&dp->arena, sl_str_from(zone));
    if (options->memory_limit != NULL) {
        dp->memory_limit = sl_arena_strdup(&dp->arena, sl_str_from(options->memory_limit));
    }
    if (dp->temp_dir == NULL || dp->time_zone == NULL || (options->memory_limit != NULL && dp->memory_limit == NULL)) {
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

silt_status sl_duck_open(const silt_env *env, const struct sl_dataplane_options *options, struct sl_dataplane **out,
                         silt_error *err)
{
    *out = NULL;
    if (options == NULL || options->size < sizeof(*options) || options->host == NULL ||
        options->host->size < sizeof(*options->host)) {
        return sl_fail(err, SILT_EINVALID, NULL, "options of a data plane need their size and a host");
    }
    if (options->temp_dir != NULL && options->temp_dir[0] != '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "temporary folder \"%s\" must be an absolute path", options->temp_dir);
    }
    struct sl_dataplane *dp = sl_alloc_zero(env, sizeof(*dp));
    if (dp == NULL) {
        return sl_fail_nomem(err);
    }
    dp->env = env;
    dp->host = options->host;
    sl_arena_init(&dp->arena, env);
    sl_vec_init(&dp->settings, env, sizeof(struct sl_duck_setting));
    sl_duck_footers_init(&dp->footers, env);
    sl_duck_cache_init(&dp->cache, env);
    sl_duck_watcher_init(&dp->watcher);
    pthread_mutex_init(&dp->lock, NULL);
    sl_duck_objects_init(&dp->objects);
    silt_status status = copy_options(dp, options, err);
    if (status == SILT_OK) {
        status = open_db(dp, err);
    }
    if (status != SILT_OK) {
        sl_duck_close(dp);
        return status;
    }
    *out = dp;
    return SILT_OK;
}

void sl_duck_close(struct sl_dataplane *dp)
{
    if (dp == NULL) {
        return;
    }
    sl_duck_watcher_stop(&dp->watcher);
    release_db(dp, dp->db);
    sl_duck_footers_release(&dp->footers);
    sl_duck_cache_release(&dp->cache);
    sl_vec_release(&dp->settings);
    sl_arena_release(&dp->arena);
    sl_duck_objects_release(&dp->objects);
    pthread_mutex_destroy(&dp->lock);
    sl_release(dp->env, dp, sizeof(*dp));
}
