/*
 * What a scan reads aside (duck_aside.h): what SQL text names it by (duck_bound.h), and a
 * function for each type of such a column, which stays in DuckDB's catalog: there are few.
 */
#include "duck_aside.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"

static void free_aside(struct sl_duck_object *object)
{
    struct sl_duck_aside *aside = (struct sl_duck_aside *)object;
    const silt_env *env = aside->dp->env;
    sl_aside_close_streams(aside);
    sl_duck_remove_dir(aside->dp, aside->dir);
    sl_vec_release(&aside->columns);
    sl_arena_release(&aside->arena);
    pthread_mutex_destroy(&aside->lock);
    sl_release(env, aside, sizeof(*aside));
}

/* A place is a column. */
static size_t places_of(const struct sl_duck_object *object)
{
    return ((const struct sl_duck_aside *)object)->columns.len;
}

const struct sl_duck_object_class sl_aside_class = {.free = free_aside, .places = places_of};

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
    sl_duck_object_init(&aside->object, dp, &sl_aside_class);
    aside->dp = dp;
    sl_arena_init(&aside->arena, dp->env);
    sl_vec_init(&aside->columns, dp->env, sizeof(struct sl_aside_column));
    const silt_status status = copy_files(aside, files, err);
    if (status != SILT_OK) {
        sl_aside_drop(aside);
        return status;
    }
    sl_duck_object_list(&aside->object);
    *out = aside;
    return SILT_OK;
}

void sl_aside_drop(struct sl_duck_aside *aside)
{
    sl_duck_object_drop(aside != NULL ? &aside->object : NULL);
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
                  first, aside->object.id, place);
    return SILT_OK;
}
