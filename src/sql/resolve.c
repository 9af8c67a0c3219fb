/*
 * From the name of a table to its location, its table object and its snapshot. A name is a folder of the warehouse; a path is itself.
 */
#include "base/arrow.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/uri.h"
#include "kernel/engine/engine.h"
#include "kernel/log/commit.h"
#include "kernel/snapshot/state.h"
#include "schema/value.h"
#include "sql/pins.h"
#include "sql/resident.h"
#include "sql/plane_row.h"
#include "sql/session_int.h"

/* A part of a name becomes a folder: it must not be able to climb or to jump. */
static silt_status check_part(struct sl_str part, silt_error *err)
{
    bool dots = sl_str_eq_c(part, ".") || sl_str_eq_c(part, "..");
    bool slash = sl_str_find(part, SL_STR("/")) != SIZE_MAX || sl_str_find(part, SL_STR("\\")) != SIZE_MAX;
    if (part.len == 0 || dots || slash || memchr(part.ptr, '\0', part.len) != NULL) {
        silt_status status = sl_fail(err, SILT_EINVALID, "INVALID_SCHEMA_OR_RELATION_NAME",
                                     "%.*s cannot be part of a table name", SL_FMT(part));
        sl_error_hint(err, "write a path as delta.`/path/to/table`");
        return status;
    }
    return SILT_OK;
}

silt_status sl_session_resolve(silt_session *session, struct sl_arena *arena, struct sl_table_name *name,
                               struct sl_str *uri, silt_error *err)
{
    struct sl_str location = sl_str_from(session->warehouse);

    if (name->is_path) {
        return sl_uri_normalize(arena, name->parts[0], uri, err);
    }
    for (size_t i = 0; i < name->n_parts; i++) {
        SL_TRY(check_part(name->parts[i], err));
        location = sl_uri_join(arena, location, name->parts[i]);
        if (location.ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    *uri = location;
    return SILT_OK;
}

silt_status sl_session_open_table(silt_session *session, struct sl_table_name *name, silt_table **out, silt_error *err)
{
    struct sl_arena arena;
    struct sl_str uri = {0};
    silt_status status;

    sl_arena_init(&arena, session->env);
    status = sl_session_resolve(session, &arena, name, &uri, err);
    if (status == SILT_OK) {
        status = silt_table_for_path(session->engine, uri.ptr, out, err);
    }
    sl_arena_release(&arena);
    return status;
}

silt_status sl_session_local_to_utc(silt_session *session, const silt_call *call, int64_t wall_us, int64_t *out,
                                    silt_error *err)
{
    struct sl_dataplane_ref plane;
    struct sl_plane_row row = {0};
    struct sl_buf sql;
    silt_value value;
    silt_status status = SILT_OK;

    *out = wall_us;
    if (sl_str_eq_nocase(sl_str_from(session->time_zone), SL_STR("UTC"))) {
        return SILT_OK;
    }
    sl_buf_init(&sql, session->env);
    sl_buf_printf(&sql, "SELECT epoch_us(make_timestamp(%lld::BIGINT) AT TIME ZONE ", (long long)wall_us);
    silt_value zone = sl_value_bytes(SILT_TYPE_STRING, sl_str_from(session->time_zone));
    sl_value_print_duckdb(&sql, &zone);
    sl_buf_put_c(&sql, ")");
    status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        status = sl_engine_dataplane(session->engine, &plane, err);
    }
    if (status == SILT_OK) {
        status = sl_plane_row_get(&plane, call, sl_buf_view(&sql), NULL, &row, err);
    }
    if (status == SILT_OK && sl_plane_row_value(&row, 0, &value)) {
        *out = value.as.i64;
    } else if (status == SILT_OK) {
        status = sl_fail(err, SILT_EENGINE, NULL, "a time of the zone %s has no instant", session->time_zone);
    }
    sl_plane_row_release(&row);
    sl_buf_release(&sql);
    return status;
}

/* The statement's own, once it has looked at the table. */
static silt_status newest_snapshot(silt_session *session, const silt_call *call, silt_table *table, silt_snapshot **out,
                                   silt_error *err)
{
    silt_snapshot *pinned = sl_session_pinned(session, silt_table_uri(table));
    if (pinned != NULL) {
        *out = silt_snapshot_ref(pinned);
        return SILT_OK;
    }
    return sl_session_newest(session, call, table, out, err);
}

silt_status sl_session_snapshot(silt_session *session, const silt_call *call, struct sl_table_name *name,
                                silt_table **table, silt_snapshot **out, silt_error *err)
{
    silt_status status;
    int64_t us = name->timestamp_us;

    *table = NULL;
    SL_TRY(sl_session_open_table(session, name, table, err));
    switch (name->travel) {
    case SL_TRAVEL_VERSION: status = silt_table_snapshot_at_version(*table, call, name->version, out, err); break;
    case SL_TRAVEL_TIMESTAMP:
        status = name->timestamp_has_zone ? SILT_OK : sl_session_local_to_utc(session, call, us, &us, err);
        if (status == SILT_OK) {
            status = silt_table_snapshot_at_timestamp(*table, call, us, out, err);
        }
        break;
    case SL_TRAVEL_NONE:
    default: status = newest_snapshot(session, call, *table, out, err); break;
    }
    if (status == SILT_OK) {
        status = sl_snapshot_settle(out, call, err);
        if (status == SILT_OK && name->travel == SL_TRAVEL_NONE) {
            status = sl_session_pin(session, *out, err);
        }
        if (status != SILT_OK) {
            silt_snapshot_unref(*out);
            *out = NULL;
        }
    }
    if (status != SILT_OK) {
        silt_table_unref(*table);
        *table = NULL;
    }
    return status;
}

static bool note_log_file(void *ctx, const silt_file_entry *entry)
{
    bool *found = ctx;
    struct sl_log_file file = sl_log_name_parse(sl_str_make(entry->name, entry->name_len));
    *found = file.kind == SL_LOG_COMMIT || file.kind == SL_LOG_CHECKPOINT || file.kind == SL_LOG_CHECKPOINT_PART ||
             file.kind == SL_LOG_CHECKPOINT_V2;
    return !*found;
}

silt_status sl_session_is_table(silt_session *session, const silt_call *call, struct sl_str uri, bool *out,
                                silt_error *err)
{
    silt_list_options options = {.size = sizeof(options)};
    silt_storage *storage = NULL;
    struct sl_arena arena;
    struct sl_str dir;
    silt_status status;

    *out = false;
    sl_arena_init(&arena, session->env);
    dir = sl_uri_join(&arena, uri, SL_STR(SL_LOG_DIR));
    status = dir.ptr != NULL ? sl_engine_storage(session->engine, uri.ptr, &storage, err) : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = silt_storage_list(storage, call, dir.ptr, &options, note_log_file, out, err);
        if (status == SILT_ENOTFOUND && !sl_error_is(err, SL_BUCKET_NOT_FOUND)) {
            silt_error_reset(err);
            status = SILT_OK;
        }
    }
    sl_arena_release(&arena);
    return status;
}
