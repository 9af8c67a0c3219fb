/*
 * Queries, and every other statement that belongs to the data plane: prepared (Delta tables replaced by scans), then run.
 */
#include "base/arrow.h"
#include "base/error.h"
#include "sql/run.h"

/* The data plane answers statements that are no query with one column of its own; then there is nothing to show. */
static silt_status classify(struct sl_run *run, struct ArrowArrayStream *stream, silt_error *err)
{
    static const char *const silent[] = {"CREATE", "DROP",  "SET",     "PRAGMA",   "ATTACH",
                                         "DETACH", "LOAD",  "INSTALL", "USE",      "COMMENT",
                                         "ALTER",  "BEGIN", "COMMIT",  "ROLLBACK", "ANALYZE"};
    struct sl_lexer lexer = {.text = run->text};
    struct sl_token first = sl_lex(&lexer);
    struct ArrowSchema schema = {0};

    run->result->kind = SILT_RESULT_ROWS;
    if (sl_token_is(&first, "COPY")) {
        run->result->kind = SILT_RESULT_METRICS;
    }
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        if (!sl_token_is(&first, silent[i])) {
            continue;
        }
        SL_TRY(sl_arrow_stream_schema(stream, &schema, err));
        bool own_column = schema.n_children == 0 ||
                          (schema.n_children == 1 && (strcmp(schema.children[0]->name, "Count") == 0 ||
                                                      strcmp(schema.children[0]->name, "Success") == 0));
        sl_arrow_schema_release(&schema);
        if (own_column) {
            run->result->kind = SILT_RESULT_NONE;
        }
    }
    return SILT_OK;
}

/* A statement runs when its stream is pulled: one without result is pulled here. */
static silt_status drain(struct ArrowArrayStream *stream, silt_error *err)
{
    bool done = false;
    while (!done) {
        struct ArrowArray batch = {0};
        SL_TRY(sl_arrow_stream_next(stream, &batch, &done, err));
        sl_arrow_array_release(&batch);
    }
    return SILT_OK;
}

/* Is this the file of a COPY … TO 'file'? */
static bool is_target(struct sl_lexer lexer, const char *path)
{
    struct sl_token token = sl_lex(&lexer);
    bool after_to = false;
    while (token.kind != SL_TOK_END && token.kind != SL_TOK_BAD) {
        const bool is_text = token.kind == SL_TOK_STRING && token.text.len >= 2;
        if (after_to && is_text && sl_str_eq_c(sl_str_sub(token.text, 1, token.text.len - 1), path)) {
            return true;
        }
        after_to = sl_token_is(&token, "TO");
        token = sl_lex(&lexer);
    }
    return false;
}

/*
 * COPY of the data plane knows its own tables only, and gives no place in the text when there is none. A file that it cannot make is in its
 * words one that is not there, as if a table had lost it.
 */
static void explain_copy(const struct sl_run *run, silt_status *status, silt_error *err)
{
    struct sl_lexer lexer = {.text = run->text};
    struct sl_token first = sl_lex(&lexer);
    if (err == NULL || !sl_token_is(&first, "COPY")) {
        return;
    }
    if (err->status == SILT_ENOTFOUND && err->path[0] != '\0' && is_target(lexer, err->path)) {
        char path[SILT_ERROR_PATH_SIZE];
        memcpy(path, err->path, sizeof(path));
        *status = sl_fail(err, SILT_EIO, NULL, "cannot write %s: its folder is not there", path);
        sl_error_path(err, path);
        return;
    }
    if (err->position < 0 && strcmp(err->code_name, "TABLE_OR_VIEW_NOT_FOUND") == 0) {
        sl_error_hint(err,
                      "for a Delta table write COPY (SELECT … FROM t) TO 'file' or INSERT INTO t SELECT … FROM 'file'");
    }
}

silt_status sl_run_query(struct sl_run *run, silt_error *err)
{
    struct sl_statement_text text = {run->text, run->offset};
    struct sl_prepared_query query = {0};
    struct ArrowArrayStream stream = {0};
    silt_status status;

    SL_TRY(sl_query_prepare(run->session, run->call, &text, &run->params, &query, err));
    status = sl_query_run(&query, run->call, &run->params, &stream, err);
    if (status != SILT_OK) {
        sl_query_release(&query);
        explain_copy(run, &status, err);
        return status;
    }
    status = classify(run, &stream, err);
    if (status == SILT_OK && run->result->kind == SILT_RESULT_NONE) {
        status = drain(&stream, err);
        sl_arrow_stream_release(&stream);
    }
    if (status != SILT_OK) {
        sl_arrow_stream_release(&stream);
        explain_copy(run, &status, err);
        return status;
    }
    run->result->stream = stream;
    return SILT_OK;
}
