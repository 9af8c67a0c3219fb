/*
 * Opening and closing of sessions. A session owns its engine; the data plane behind it is loaded by the first statement that
 * needs it.
 */
#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "silt/version.h"
#include "sql/lexer.h"
#include "sql/pins.h"
#include "sql/resident.h"
#include "sql/session_int.h"

#include <stdlib.h>

static silt_status copy_text(const silt_env *env, const char *text, char **out, silt_error *err)
{
    *out = sl_strdup_len(env, text, strlen(text));
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* The warehouse as an absolute location. */
static silt_status set_warehouse(silt_session *session, const char *given, silt_error *err)
{
    const char *typed = given;
    struct sl_str normal;

    if (typed == NULL || typed[0] == '\0') {
        typed = getenv("SILT_WAREHOUSE");
    }
    if (typed == NULL || typed[0] == '\0') {
        typed = ".";
    }
    SL_TRY(sl_uri_normalize(&session->arena, sl_str_from(typed), &normal, err));
    return copy_text(session->env, normal.ptr, &session->warehouse, err);
}

silt_status sl_session_set_time_zone(silt_session *session, struct sl_str zone, silt_error *err)
{
    struct sl_dataplane_ref plane;
    char *copy = NULL;
    silt_status status;

    SL_TRY(sl_engine_dataplane(session->engine, &plane, err));
    status = plane.vtable->set_option(plane.dp, SL_STR("TimeZone"), zone, err); /* it knows which names are zones */
    if (status == SILT_EUNSUPPORTED || status == SILT_EINVALID) {
        silt_error_reset(err);
        status = sl_fail(err, SILT_EINVALID, "INVALID_TIMEZONE", "there is no time zone '%.*s'", SL_FMT(zone));
        sl_error_hint(err, "write a region, such as Europe/Berlin, or UTC");
    }
    if (status != SILT_OK) {
        return status;
    }
    copy = sl_strdup_len(session->env, zone.ptr, zone.len);
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    sl_strfree(session->env, session->time_zone);
    session->time_zone = copy;
    session->knows_habits = false;
    return SILT_OK;
}

static silt_status fill_session(silt_session *session, const silt_session_options *options, silt_error *err)
{
    const struct sl_str zone = sl_str_from(options->time_zone);
    const char *info = options->engine_info != NULL ? options->engine_info : "silt/" SILT_VERSION_STRING;

    SL_TRY(set_warehouse(session, options->warehouse, err));
    SL_TRY(copy_text(session->env, "UTC", &session->time_zone, err));
    SL_TRY(copy_text(session->env, info, &session->engine_info, err));
    SL_TRY(silt_engine_default_new(options->engine, &session->engine, err));
    if (zone.ptr == NULL || sl_str_eq_nocase(zone, SL_STR("UTC"))) {
        return SILT_OK; /* what the data plane begins with; it need not be loaded for it */
    }
    return sl_session_set_time_zone(session, zone, err);
}

silt_status silt_session_open(const silt_session_options *options, silt_session **out, silt_error *err)
{
    static const silt_session_options defaults = {.size = sizeof(defaults)};
    const silt_env *env = NULL;
    silt_session *session = NULL;
    silt_status status;

    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_session_open: out is NULL");
    }
    *out = NULL;
    if (options == NULL) {
        options = &defaults;
    }
    if (options->size < sizeof(uint32_t)) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_session_open: options.size is not set");
    }
    env = options->engine != NULL && options->engine->env != NULL ? options->engine->env : silt_env_default();
    session = sl_alloc_zero(env, sizeof(*session));
    if (session == NULL) {
        return sl_fail_nomem(err);
    }
    session->env = env;
    sl_arena_init(&session->arena, env);
    sl_map_init(&session->options, env);
    sl_vec_init(&session->pins, env, sizeof(silt_snapshot *));
    status = fill_session(session, options, err);
    if (status != SILT_OK) {
        silt_session_close(session);
        return status;
    }
    *out = session;
    return SILT_OK;
}

void silt_session_close(silt_session *session)
{
    if (session == NULL) {
        return;
    }
    sl_session_unpin(session, false);
    sl_session_forget_resident(session);
    sl_vec_release(&session->pins);
    silt_engine_unref(session->engine);
    sl_strfree(session->env, session->warehouse);
    sl_strfree(session->env, session->time_zone);
    sl_strfree(session->env, session->engine_info);
    sl_map_release(&session->options);
    sl_arena_release(&session->arena);
    sl_release(session->env, session, sizeof(*session));
}

silt_engine *silt_session_engine(silt_session *session)
{
    return session != NULL ? session->engine : NULL;
}

struct sl_str sl_session_option(const silt_session *session, const char *key)
{
    const struct sl_map_entry *entry = sl_map_find(&session->options, sl_str_from(key));
    return sl_str_from(entry != NULL ? entry->value.ptr : NULL);
}

/* What looks like a location rather than a name: a scheme, a slash, a leading dot or tilde. */
static bool looks_like_path(struct sl_str name)
{
    return sl_str_find(name, SL_STR("/")) != SIZE_MAX || sl_uri_scheme(name).ptr != NULL || name.ptr[0] == '.';
}

/* Splits "a.b" at dots into name parts. */
static silt_status split_name(struct sl_str text, struct sl_table_name *out, silt_error *err)
{
    size_t begin = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != '.') {
            continue;
        }
        if (out->n_parts >= sizeof(out->parts) / sizeof(out->parts[0]) || i == begin) {
            return sl_fail(err, SILT_EINVALID, NULL, "%.*s is no table name", SL_FMT(text));
        }
        out->parts[out->n_parts++] = sl_str_sub(text, begin, i);
        begin = i + 1;
    }
    return SILT_OK;
}

silt_status silt_session_table(silt_session *session, const char *name, silt_table **out, silt_error *err)
{
    struct sl_table_name parsed = {0};
    struct sl_arena arena;
    struct sl_str uri = {0};
    struct sl_str typed = sl_str_from(name);
    bool is_table = false;
    silt_status status = SILT_OK;

    if (session == NULL || out == NULL || typed.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_session_table: session, name and out are required");
    }
    *out = NULL;
    sl_arena_init(&arena, session->env);
    if (!looks_like_path(typed)) {
        status = split_name(typed, &parsed, err);
        if (status == SILT_OK) {
            status = sl_session_resolve(session, &arena, &parsed, &uri, err);
        }
        if (status == SILT_OK) {
            status = sl_session_is_table(session, NULL, uri, &is_table, err);
        }
    }
    if (status == SILT_OK && !is_table) {
        /* a folder of the working directory may be named like a table; else the error names the warehouse's place */
        struct sl_table_name path = {.parts = {typed}, .n_parts = 1, .is_path = true};
        struct sl_str as_path = {0};
        status = sl_session_resolve(session, &arena, &path, &as_path, err);
        if (status == SILT_OK && uri.ptr != NULL) {
            status = sl_session_is_table(session, NULL, as_path, &is_table, err);
        }
        if (uri.ptr == NULL || is_table) {
            uri = as_path;
        }
    }
    if (status == SILT_OK) {
        status = silt_table_for_path(session->engine, uri.ptr, out, err);
    }
    sl_arena_release(&arena);
    return status;
}
