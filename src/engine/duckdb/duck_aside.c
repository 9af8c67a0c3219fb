/*
 * What a scan reads aside (duck_aside.h): the registry by which SQL text names it, as with partition values (duck_part.c), and a
 * function for each type of such a column, which stays in DuckDB's catalog: there are few.
 */
#include "duck_aside.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"

void sl_aside_ref(struct sl_duck_aside *aside)
{
    atomic_fetch_add(&aside->refs, 1);
}

void sl_aside_unref(struct sl_duck_aside *aside)
{
    if (atomic_fetch_sub(&aside->refs, 1) != 1) {
        return;
    }
    const silt_env *env = aside->dp->env;
    sl_aside_close_streams(aside);
    sl_duck_remove_dir(aside->dp, aside->dir);
    sl_vec_release(&aside->columns);
    sl_arena_release(&aside->arena);
    pthread_mutex_destroy(&aside->lock);
    sl_release(env, aside, sizeof(*aside));
}

struct sl_duck_aside *sl_aside_find(struct sl_dataplane *dp, uint64_t id)
{
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_aside *aside = dp->asides;
    while (aside != NULL && aside->id != id) {
        aside = aside->next;
    }
    if (aside != NULL) {
        sl_aside_ref(aside);
    }
    pthread_mutex_unlock(&dp->lock);
    return aside;
}

static silt_status copy_files(struct sl_duck_aside *aside, const struct sl_duck_files *files, silt_error *err)
{
    aside->files = sl_arena_alloc_array(&aside->arena, files->n, sizeof(*aside->files));
    if (aside->files == NULL) {
        return sl_fail_nomem(err);
    }
    aside->n_files = files->n;
    for (size_t i = 0; i < files->n; i++) {
        aside->files[i].local = sl_arena_strdup(&aside->arena, sl_str_from(files->local[i]));
        aside->files[i].path = sl_arena_strdup(&aside->arena, sl_str_from(files->sources[i].path));
        if (aside->files[i].local == NULL || aside->files[i].path == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

silt_status sl_aside_new(struct sl_dataplane *dp, const struct sl_duck_files *files, struct sl_duck_aside **out,
                         silt_error *err)
{
    *out = NULL;
    struct sl_duck_aside *aside = sl_alloc_zero(dp->env, sizeof(*aside));
    if (aside == NULL) {
        return sl_fail_nomem(err);
    }
    if (pthread_mutex_init(&aside->lock, NULL) != 0) {
        sl_release(dp->env, aside, sizeof(*aside));
        return sl_fail(err, SILT_EIO, NULL, "a lock cannot be made");
    }
    atomic_init(&aside->refs, 1);
    aside->dp = dp;
    sl_arena_init(&aside->arena, dp->env);
    sl_vec_init(&aside->columns, dp->env, sizeof(struct sl_aside_column));
    const silt_status status = copy_files(aside, files, err);
    if (status != SILT_OK) {
        sl_aside_unref(aside);
        return status;
    }
    aside->id = sl_duck_next_id(dp);
    pthread_mutex_lock(&dp->lock);
    aside->next = dp->asides;
    dp->asides = aside;
    pthread_mutex_unlock(&dp->lock);
    *out = aside;
    return SILT_OK;
}

void sl_aside_drop(struct sl_dataplane *dp, struct sl_duck_aside *aside)
{
    if (aside == NULL) {
        return;
    }
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_aside **link = &dp->asides;
    while (*link != NULL && *link != aside) {
        link = &(*link)->next;
    }
    if (*link == aside) {
        *link = aside->next;
    }
    pthread_mutex_unlock(&dp->lock);
    sl_aside_unref(aside);
}

/* ---- types ---- */

bool sl_aside_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    bool fine = true;
    for (const struct sl_aside_type *type = dp->aside_types; type != NULL && fine; type = type->next) {
        fine = sl_aside_register_type(dp, handle, type);
    }
    return fine;
}

/* The type's entry, made and registered if it is new. dp->lock is held. NULL: out of memory, or DuckDB refuses. */
static const struct sl_aside_type *need_type(struct sl_duck_conn *conn, struct sl_str declared)
{
    struct sl_dataplane *dp = conn->dp;
    unsigned number = 0;
    for (const struct sl_aside_type *type = dp->aside_types; type != NULL; type = type->next) {
        if (sl_str_eq(type->declared, declared)) {
            return type;
        }
        number++;
    }
    struct sl_aside_type *type = sl_arena_alloc_zero(&dp->arena, sizeof(*type));
    if (type == NULL) {
        return NULL;
    }
    type->number = number;
    type->declared = sl_arena_copy(&dp->arena, declared);
    if (type->declared.ptr == NULL || !sl_aside_register_type(dp, conn->handle, type)) {
        return NULL;
    }
    type->next = dp->aside_types;
    dp->aside_types = type;
    return type;
}

static silt_status add_column(struct sl_duck_aside *aside, const struct sl_aside_column *column, size_t *place,
                              silt_error *err)
{
    *place = aside->columns.len;
    struct sl_aside_column *copy = sl_vec_push(&aside->columns);
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    *copy = *column;
    copy->stored = sl_arena_copy(&aside->arena, column->stored);
    copy->declared = sl_arena_copy(&aside->arena, column->declared);
    return copy->stored.ptr != NULL && copy->declared.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

silt_status sl_aside_put(struct sl_duck_conn *conn, struct sl_buf *sql, struct sl_duck_aside *aside,
                         const struct sl_aside_column *column, size_t first, silt_error *err)
{
    size_t place = 0;
    SL_TRY(add_column(aside, column, &place, err));
    pthread_mutex_lock(&conn->dp->lock);
    const struct sl_aside_type *type = need_type(conn, column->declared);
    pthread_mutex_unlock(&conn->dp->lock);
    if (type == NULL) {
        return sl_fail(err, SILT_EENGINE, NULL, "silt's functions cannot be registered with DuckDB");
    }
    sl_buf_printf(sql, "silt_aside_%u(file_index + %zu::UBIGINT, file_row_number, '%" PRIu64 ":%zu')", type->number,
                  first, aside->id, place);
    return SILT_OK;
}
