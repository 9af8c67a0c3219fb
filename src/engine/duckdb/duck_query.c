/*
 * Queries as they come from outside: parse tree, result columns, rows.
 */
#include "duck.h"

#include <limits.h>

#include "base/error.h"
#include "base/utf8.h"
#include "json/json.h"

/* json_serialize_sql reports faults of the text inside its answer; positions there count characters. */
static silt_status check_answer(struct sl_dataplane *dp, struct sl_str sql, struct sl_str answer, silt_error *err)
{
    if (!sl_str_starts_with(answer, SL_STR("{\"error\":true"))) {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(dp->env, answer, &doc, err));
    const sl_json *root = sl_json_root(doc);
    struct sl_str message = sl_json_member_text(root, "error_message");
    message = message.ptr != NULL ? message : SL_STR("cannot be parsed");
    const size_t line_end = sl_str_find(message, SL_STR("\n"));
    message = line_end == SIZE_MAX ? message : sl_str_sub(message, 0, line_end);
    const bool select_only = sl_str_find(message, SL_STR("Only SELECT statements")) != SIZE_MAX;
    const silt_status status = select_only ? sl_fail(err, SILT_ESYNTAX, "UNSUPPORTED_FEATURE",
                                                     "only a query can stand here, and a PIVOT only with IN (…)")
                                           : sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "%.*s", SL_FMT(message));
    if (select_only) {
        sl_error_hint(err, "WITH belongs to the query: INSERT INTO t WITH … SELECT …");
    }
    int64_t at = -1;
    if (sl_str_to_i64(sl_json_member_text(root, "position"), &at) && at >= 0) {
        const size_t byte = sl_utf8_prefix(sql, (size_t)at);
        if (byte <= INT32_MAX) {
            sl_error_position(err, byte);
        }
    }
    sl_json_free(doc);
    return status;
}

/* A literal above all doubles (1e400) is the bare word Infinity in the tree, which is no JSON: it becomes such a number again. */
static void put_tree(struct sl_buf *json, struct sl_str tree)
{
    const struct sl_str word = SL_STR("Infinity");
    size_t done = 0;
    if (sl_str_find(tree, word) == SIZE_MAX) {
        sl_buf_put_str(json, tree);
        return;
    }
    bool quoted = false;
    for (size_t i = 0; i < tree.len; i++) {
        if (tree.ptr[i] == '"') {
            quoted = !quoted;
        } else if (quoted && tree.ptr[i] == '\\') {
            i++;
        } else if (!quoted && sl_str_starts_with(sl_str_sub(tree, i, tree.len), word)) {
            sl_buf_put_str(json, sl_str_sub(tree, done, i));
            sl_buf_put_c(json, "1e999");
            done = i + word.len;
            i = done - 1;
        }
    }
    sl_buf_put_str(json, sl_str_sub(tree, done, tree.len));
}

silt_status sl_duck_parse(struct sl_dataplane *dp, struct sl_str sql, struct sl_buf *json, silt_error *err)
{
    struct sl_duck_conn conn;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    struct sl_buf query;
    sl_buf_init(&query, dp->env);
    SL_TRY(sl_duck_connect(dp, &conn, err));
    /* A literal, not a parameter: binding would cost a second plan of the statement. */
    sl_buf_put_c(&query, "SELECT json_serialize_sql(");
    sl_duck_put_text(&query, sql);
    sl_buf_put_c(&query, "::VARCHAR, skip_null := true, skip_empty := true, skip_default := true)::VARCHAR");
    silt_status status = sl_duck_exec(&conn, NULL, &query, &result, err);
    if (status == SILT_OK) {
        status = sl_duck_fetch(&conn, NULL, &result, &chunk, err);
    }
    if (status == SILT_OK) {
        const struct sl_str answer = chunk != NULL ? sl_duck_cell_str(chunk, 0, 0) : (struct sl_str){NULL, 0};
        status = answer.ptr == NULL ? sl_fail(err, SILT_EENGINE, NULL, "DuckDB's parser gave no answer")
                                    : check_answer(dp, sql, answer, err);
        if (status == SILT_OK) {
            put_tree(json, answer);
            status = sl_buf_status(json, err);
        }
    }
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    sl_duck_disconnect(&conn);
    sl_buf_release(&query);
    return status;
}

/*
 * A query inside of another gets its columns renamed ("a_1") until each has a name of its own. Whoever asks what the query's columns
 * are wants to know that two are called alike, so the names are then taken from the query as it stands.
 */
static silt_status keep_titles(struct sl_duck_reader *reader, struct sl_str sql, silt_error *err)
{
    const idx_t n = duckdb_column_count(&reader->result);
    bool renamed = false;
    for (idx_t i = 0; i < n && !renamed; i++) {
        const struct sl_str name = sl_str_from(duckdb_column_name(&reader->result, i));
        size_t end = name.len;
        while (end > 0 && name.ptr[end - 1] >= '0' && name.ptr[end - 1] <= '9') {
            end--;
        }
        renamed = end > 0 && end < name.len && name.ptr[end - 1] == '_';
    }
    if (!renamed) {
        return SILT_OK; /* the second plan is spared */
    }
    SL_TRY(sl_duck_prepare(&reader->conn, sql, &reader->titled, err));
    if (duckdb_prepared_statement_column_count(reader->titled) != n) {
        return sl_fail(err, SILT_EENGINE, NULL, "DuckDB tells different numbers of columns of one query");
    }
    return SILT_OK;
}

silt_status sl_duck_describe(struct sl_dataplane *dp, struct sl_str sql, const struct sl_dataplane_params *params,
                             struct ArrowSchema *out, silt_error *err)
{
    *out = (struct ArrowSchema){0};
    struct sl_buf query;
    sl_buf_init(&query, dp->env);
    /* Types may hang on the values of parameters, so the query is planned with them, for no rows. */
    const char *const head = "SELECT * FROM (";
    sl_buf_put_c(&query, head);
    sl_buf_put_str(&query, sql);
    sl_buf_put_c(&query, "\n) LIMIT 0");
    struct sl_duck_reader reader = {0};
    const struct sl_duck_run run = {.sql = sl_buf_view(&query), .params = params};
    silt_status status = sl_buf_status(&query, err);
    if (status == SILT_OK) {
        status = sl_duck_reader_open(dp, NULL, &run, &reader, err);
    }
    if (status != SILT_OK && err != NULL && err->position >= 0) {
        const int32_t shift = (int32_t)strlen(head);
        err->position = err->position >= shift ? err->position - shift : -1;
    }
    if (status == SILT_OK) {
        status = keep_titles(&reader, sql, err);
    }
    if (status == SILT_OK) {
        status = sl_duck_reader_schema(&reader, out, err);
    }
    sl_duck_reader_close(&reader);
    sl_buf_release(&query);
    return status;
}

silt_status sl_duck_query(struct sl_dataplane *dp, const silt_call *call, struct sl_str sql,
                          const struct sl_dataplane_params *params, struct ArrowArrayStream *out, silt_error *err)
{
    *out = (struct ArrowArrayStream){0};
    struct sl_duck_reader reader;
    /* Streaming: a result may be larger than memory, and costs a tenth more at most. */
    const struct sl_duck_run run = {.sql = sql, .params = params, .streaming = true};
    sl_duck_cache_look(dp);
    SL_TRY(sl_duck_reader_open(dp, call, &run, &reader, err));
    return sl_duck_reader_stream(&reader, out, err);
}
