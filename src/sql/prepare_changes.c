/*
 * table_changes('name', from [, to]) and table_changes_by_path('path', from [, to]) in a query: Delta Spark's functions for change data. A
 * bound is a version (a whole number) or a time; both are expressions of the query's own language. The call becomes a subquery over the scans
 * of the changes.
 */
#include "base/error.h"
#include "base/quote.h"
#include "base/time.h"
#include "base/uri.h"
#include "kernel/changes/changes.h"
#include "schema/value.h"
#include "sql/marks.h"
#include "sql/plane_row.h"
#include "sql/prepare_int.h"
#include "sql/refs.h"
#include "sql/statement.h"
#include "sql/table_name.h"

#define MAX_ARGUMENTS 3

/* A call as it stands in the text. */
struct call_text {
    struct sl_str arguments[MAX_ARGUMENTS];
    size_t n;
    size_t end; /* after the closing bracket */
};

static silt_status wrong_call(const struct sl_table_ref *ref, const char *what, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_ESYNTAX, "INCORRECT_NUMBER_OF_ARGUMENTS", "%.*s: %s",
                                       SL_FMT(ref->table), what);
    sl_error_hint(err, "write %.*s('%s', from [, to]) with versions or timestamps", SL_FMT(ref->table),
                  ref->kind == SL_REF_CHANGES ? "table" : "/path/to/table");
    return status;
}

static bool add_argument(struct call_text *out, struct sl_str text)
{
    const struct sl_str trimmed = sl_str_trim(text);
    if (out->n == MAX_ARGUMENTS || trimmed.len == 0) {
        return false;
    }
    out->arguments[out->n++] = trimmed;
    return true;
}

/* The arguments between the brackets, cut at the commas outside of any further bracket. */
static silt_status read_call(const struct sl_table_ref *ref, struct sl_str text, size_t location, struct call_text *out,
                             silt_error *err)
{
    struct sl_lexer lexer = {.text = text, .pos = location};
    struct sl_token token = sl_lex(&lexer); /* the name, perhaps with its schema before it */
    while (token.kind != SL_TOK_END && token.kind != SL_TOK_BAD && !sl_token_is(&token, "(")) {
        token = sl_lex(&lexer);
    }
    size_t depth = 1;
    size_t begin = token.end;
    *out = (struct call_text){.n = 0};
    for (;;) {
        token = sl_lex(&lexer);
        if (token.kind == SL_TOK_END || token.kind == SL_TOK_BAD) {
            return wrong_call(ref, "its brackets are not closed", err);
        }
        if (sl_token_is(&token, ":=") || sl_token_is(&token, "=>")) {
            return wrong_call(ref, "its arguments have no names", err);
        }
        const bool closes = sl_token_is(&token, ")") || sl_token_is(&token, "]") || sl_token_is(&token, "}");
        if (sl_token_is(&token, "(") || sl_token_is(&token, "[") || sl_token_is(&token, "{")) {
            depth++;
        } else if (closes && --depth == 0) {
            break;
        } else if (depth == 1 && sl_token_is(&token, ",")) {
            if (!add_argument(out, sl_str_sub(text, begin, token.begin))) {
                return wrong_call(ref, "takes a table, a first and a last version or time", err);
            }
            begin = token.end;
        }
    }
    out->end = token.end;
    if (!add_argument(out, sl_str_sub(text, begin, token.begin)) || out->n < 2) {
        return wrong_call(ref, "takes a table, a first and a last version or time", err);
    }
    return SILT_OK;
}

/* ---- arguments ---- */

/* The one text that "SELECT <expr>" gives; absent for NULL. */
static silt_status evaluate(struct sl_prepare *prepare, const struct sl_buf *sql, struct sl_str *out, silt_error *err)
{
    struct sl_plane_row row;
    silt_value value;
    *out = (struct sl_str){NULL, 0};
    SL_TRY(sl_buf_status(sql, err));
    SL_TRY(sl_plane_row_get(&prepare->query->plane, prepare->call, sl_buf_view(sql), prepare->params, &row, err));
    silt_status status = SILT_OK;
    if (sl_plane_row_value(&row, 0, &value) && value.kind == SILT_TYPE_STRING) {
        *out = sl_arena_copy(&prepare->query->arena, sl_value_get_str(&value));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_plane_row_release(&row);
    return status;
}

/* 'v' and a number for a whole number, 't' and a time in UTC for what can be cast to one, else NULL. */
static silt_status read_bound(struct sl_prepare *prepare, struct sl_str expr, int64_t *version, int64_t *timestamp_us,
                              silt_error *err)
{
    struct sl_buf sql;
    struct sl_str text = {0};
    bool has_zone = false;
    sl_buf_init(&sql, prepare->session->env);
    sl_buf_printf(
        &sql,
        "SELECT CASE WHEN typeof(x) IN ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'UTINYINT', "
        "'USMALLINT', 'UINTEGER', 'UBIGINT', 'UHUGEINT') THEN 'v' || CAST(x AS VARCHAR) ELSE 't' || "
        "CAST(TRY_CAST(CAST(x AS VARCHAR) AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS VARCHAR) END FROM (SELECT (%.*s\n) "
        "AS x)",
        SL_FMT(expr));
    sl_marks_put(&sql, sl_marks_highest(expr));
    silt_status status = evaluate(prepare, &sql, &text, err);
    sl_buf_release(&sql);
    if (status != SILT_OK) {
        return status;
    }
    if (text.len > 1 && text.ptr[0] == 'v' && sl_str_to_i64(sl_str_sub(text, 1, text.len), version) && *version >= 0) {
        return SILT_OK;
    }
    *version = SILT_CHANGES_BY_TIME;
    if (text.len > 1 && text.ptr[0] == 't' &&
        sl_timestamp_parse(sl_str_sub(text, 1, text.len), timestamp_us, &has_zone)) {
        return SILT_OK;
    }
    if (text.ptr == NULL) {
        return sl_fail(err, SILT_EINVALID, "DELTA_CDC_READ_NULL_RANGE_BOUNDARY",
                       "%.*s is no version or time that a range of changes can begin or end with", SL_FMT(expr));
    }
    return sl_fail(err, SILT_EINVALID, "DELTA_INVALID_CDC_RANGE", "%.*s is no version of a table", SL_FMT(expr));
}

/* The table's name or path: a text, known before the query runs. */
static silt_status read_name(struct sl_prepare *prepare, const struct sl_table_ref *ref, struct sl_str expr,
                             struct sl_table_name *name, silt_error *err)
{
    struct sl_buf sql;
    struct sl_str text = {0};
    sl_buf_init(&sql, prepare->session->env);
    sl_buf_printf(&sql, "SELECT CAST((%.*s\n) AS VARCHAR)", SL_FMT(expr));
    sl_marks_put(&sql, sl_marks_highest(expr));
    const silt_status status = evaluate(prepare, &sql, &text, err);
    sl_buf_release(&sql);
    if (status != SILT_OK) {
        return status;
    }
    if (text.len == 0) {
        return sl_fail(err, SILT_EINVALID, "DELTA_CDC_NON_CONSTANT_ARGUMENT", "%.*s names no table", SL_FMT(expr));
    }
    *name = (struct sl_table_name){.parts = {text}, .n_parts = 1, .is_path = true};
    if (ref->kind == SL_REF_CHANGES_BY_PATH || sl_uri_scheme(text).ptr != NULL || text.ptr[0] == '/') {
        return SILT_OK;
    }
    /* What is no name as SQL spells one is a path, as it is behind FROM. */
    struct sl_lexer lexer = {.text = text};
    struct sl_table_name parsed = {.n_parts = 0};
    const silt_status spelled = sl_table_name_parse(&prepare->query->arena, &lexer, &parsed, NULL);
    const struct sl_token rest = sl_lex(&lexer);
    if (spelled == SILT_OK && rest.kind == SL_TOK_END && parsed.travel == SL_TRAVEL_NONE) {
        *name = parsed;
    } else if (spelled == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

/* ---- scans ---- */

static silt_status local_time(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err)
{
    const struct sl_prepare *prepare = ctx;
    return sl_session_local_to_utc(prepare->session, prepare->call, wall_us, instant_us, err);
}

/* Up to the version at which the statement sees the table: it may replace that one, and nothing that came later. */
static silt_status plan_changes(struct sl_prepare *prepare, const struct sl_table_ref *ref,
                                const struct call_text *call, silt_changes **out, silt_error *err)
{
    struct sl_table_name name;
    silt_changes_options options = {.size = sizeof(options), .to_version = SILT_CHANGES_LATEST};
    silt_table *table = NULL;
    silt_snapshot *newest = NULL;
    SL_TRY(read_name(prepare, ref, call->arguments[0], &name, err));
    SL_TRY(read_bound(prepare, call->arguments[1], &options.from_version, &options.from_timestamp_us, err));
    if (call->n > 2) {
        SL_TRY(read_bound(prepare, call->arguments[2], &options.to_version, &options.to_timestamp_us, err));
    }
    if (!sl_str_eq_nocase(sl_str_from(prepare->session->time_zone), SL_STR("UTC"))) {
        options.local_time = local_time;
        options.local_time_ctx = prepare;
    }
    SL_TRY(sl_session_snapshot(prepare->session, prepare->call, &name, &table, &newest, err));
    const silt_status status = sl_table_changes_until(table, newest, prepare->call, &options, out, err);
    silt_snapshot_unref(newest);
    silt_table_unref(table);
    return status;
}

/* n_marks: parameters up to this number may stand in the call. */
static silt_status open_changes(struct sl_prepare *prepare, const struct sl_table_ref *ref, const silt_changes *changes,
                                size_t n_marks, struct sl_splice *splice, silt_error *err)
{
    sl_buf_put_c(&splice->text, n_marks > 0 ? "(SELECT * FROM (" : "(");
    for (size_t i = 0; i < silt_changes_plan_count(changes); i++) {
        sl_buf_put_c(&splice->text, i == 0 ? "" : " UNION ALL ");
        const silt_status status = sl_prepare_open(prepare, silt_changes_plan(changes, i), sl_changes_scan(changes, i),
                                                   &splice->text, err);
        if (status != SILT_OK) {
            sl_changes_name_version(changes, err);
            return status;
        }
    }
    sl_buf_put_char(&splice->text, ')');
    if (n_marks > 0) {
        sl_marks_put(&splice->text, n_marks);
        sl_buf_put_char(&splice->text, ')');
    }
    if (ref->alias.ptr == NULL) {
        sl_buf_put_c(&splice->text, " AS ");
        sl_quote_put(&splice->text, ref->table, '"');
    }
    return sl_buf_status(&splice->text, err);
}

silt_status sl_prepare_changes(struct sl_prepare *prepare, const struct sl_table_ref *ref, size_t location,
                               silt_error *err)
{
    struct call_text call;
    silt_changes *changes = NULL;
    const struct sl_str text = sl_buf_view(&prepare->spelled->text);
    silt_status status = read_call(ref, text, location, &call, err);
    if (status == SILT_OK) {
        status = plan_changes(prepare, ref, &call, &changes, err);
    }
    if (status == SILT_OK) {
        struct sl_splice *splice = sl_prepare_add_splice(prepare, location, call.end);
        const size_t n_marks = sl_marks_highest(sl_str_sub(text, location, call.end));
        status = splice != NULL ? open_changes(prepare, ref, changes, n_marks, splice, err) : sl_fail_nomem(err);
    }
    silt_changes_unref(changes);
    return status;
}
