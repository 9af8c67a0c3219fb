/*
 * Making a statement ready for the data plane: spell it in DuckDB's way, let DuckDB's parser find the table references, plan a scan for each
 * Delta table among them, and splice the scans into the text. The tree is only looked at: the text that runs is the user's own, so
 * nothing is lost that a printer of trees would lose.
 */
#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "json/json.h"
#include "kernel/scan/scan_culprit.h"
#include "sql/prepare_int.h"
#include "sql/refs.h"
#include "sql/spelling.h"

/* What a leading keyword says about where the query of a statement is. */
static bool at_query(const struct sl_token *token)
{
    static const char *const words[] = {"SELECT",   "WITH",      "FROM", "VALUES", "TABLE",   "(",
                                        "DESCRIBE", "SUMMARIZE", "SHOW", "PIVOT",  "UNPIVOT", "DESC"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (sl_token_is(token, words[i])) {
            return true;
        }
    }
    return false;
}

/* End of the bracket that opens at `open`, its offset; the text's end if it is not closed. */
static size_t closing_bracket(struct sl_str text, size_t open)
{
    struct sl_lexer lexer = {.text = text, .pos = open};
    size_t depth = 0;
    for (;;) {
        struct sl_token token = sl_lex(&lexer);
        if (token.kind == SL_TOK_END || token.kind == SL_TOK_BAD) {
            return text.len;
        }
        if (sl_token_is(&token, "(")) {
            depth++;
        } else if (sl_token_is(&token, ")") && --depth == 0) {
            return token.begin;
        }
    }
}

/* The query behind the first AS outside of brackets. */
static bool query_after_as(struct sl_str text, size_t *begin)
{
    struct sl_lexer lexer = {.text = text};
    size_t depth = 0;
    for (;;) {
        struct sl_token token = sl_lex(&lexer);
        if (token.kind == SL_TOK_END || token.kind == SL_TOK_BAD) {
            return false;
        }
        depth += sl_token_is(&token, "(") ? 1u : 0u;
        depth -= sl_token_is(&token, ")") && depth > 0 ? 1u : 0u;
        if (depth == 0 && sl_token_is(&token, "AS")) {
            struct sl_lexer ahead = lexer;
            struct sl_token next = sl_lex(&ahead);
            *begin = next.begin;
            return at_query(&next);
        }
    }
}

/* Finds the query inside a statement; false when it has none that could name a Delta table. */
static bool find_query(struct sl_str text, size_t *begin, size_t *end, bool *is_view)
{
    struct sl_lexer lexer = {.text = text};
    struct sl_token first = sl_lex(&lexer);

    *is_view = false;
    *end = text.len;
    *begin = first.begin;
    if (at_query(&first)) {
        return true;
    }
    if (sl_token_is(&first, "EXPLAIN")) {
        struct sl_token next = sl_lex(&lexer);
        if (sl_token_is(&next, "ANALYZE")) {
            next = sl_lex(&lexer);
        }
        *begin = next.begin;
        return at_query(&next);
    }
    if (sl_token_is(&first, "COPY")) {
        struct sl_token next = sl_lex(&lexer);
        *begin = next.end;
        *end = closing_bracket(text, next.begin);
        return sl_token_is(&next, "(");
    }
    if (sl_token_is(&first, "CREATE")) {
        struct sl_token word = sl_lex(&lexer);
        while (sl_token_is(&word, "OR") || sl_token_is(&word, "REPLACE") || sl_token_is(&word, "TEMP") ||
               sl_token_is(&word, "TEMPORARY") || sl_token_is(&word, "LOCAL")) {
            word = sl_lex(&lexer);
        }
        *is_view = sl_token_is(&word, "VIEW");
        return (*is_view || sl_token_is(&word, "TABLE")) && query_after_as(text, begin);
    }
    return false;
}

void sl_query_release(struct sl_prepared_query *query)
{
    for (size_t i = 0; i < query->n_scans; i++) {
        query->plane.vtable->scan_close(query->plane.dp, query->scans[i]);
        silt_scan_unref(query->kernel_scans[i]);
    }
    query->n_scans = 0;
    if (query->spliced != NULL) {
        sl_offset_map_release(query->spliced);
    }
    if (query->spelling != NULL) {
        sl_offset_map_release(query->spelling);
    }
    sl_buf_release(&query->sql);
    sl_arena_release(&query->arena);
    query->spliced = NULL;
    query->spelling = NULL;
}

void sl_query_map_error(const struct sl_prepared_query *query, silt_error *err)
{
    size_t position;
    if (err == NULL || err->position < 0 || query->spelling == NULL) {
        return;
    }
    position = (size_t)err->position;
    if (query->spliced != NULL) {
        position = sl_offset_map_back(query->spliced, position);
    }
    sl_error_position(err, query->offset + sl_offset_map_back(query->spelling, position));
}

/* Position in the spelled text → in the user's. */
static void map_spelled_error(const struct sl_prepared_query *query, size_t base, silt_error *err)
{
    if (err != NULL && err->position >= 0) {
        sl_error_position(err, query->offset + sl_offset_map_back(query->spelling, base + (size_t)err->position));
    }
}

static silt_status init_query(silt_session *session, struct sl_prepared_query *query, silt_error *err)
{
    *query = (struct sl_prepared_query){0};
    sl_arena_init(&query->arena, session->env);
    sl_buf_init(&query->sql, session->env);
    query->spelling = sl_arena_alloc_zero(&query->arena, sizeof(*query->spelling));
    query->spliced = sl_arena_alloc_zero(&query->arena, sizeof(*query->spliced));
    if (query->spelling == NULL || query->spliced == NULL) {
        return sl_fail_nomem(err);
    }
    sl_offset_map_init(query->spliced, session->env);
    return sl_engine_dataplane(session->engine, &query->plane, err);
}

/*
 * CREATE TEMP TABLE makes a plain table of the data plane: its connections come and go, and a temporary table would go with the first; the
 * database itself is in memory.
 */
static silt_status drop_temp_word(struct sl_prepare *prepare, silt_error *err)
{
    struct sl_lexer lexer = {.text = sl_buf_view(&prepare->spelled->text)};
    struct sl_token token = sl_lex(&lexer);

    if (!sl_token_is(&token, "CREATE")) {
        return SILT_OK;
    }
    prepare->session->has_temporaries = true;
    for (int i = 0; i < 3; i++) {
        token = sl_lex(&lexer);
        if ((sl_token_is(&token, "TEMP") || sl_token_is(&token, "TEMPORARY")) &&
            sl_prepare_add_splice(prepare, token.begin, token.end) == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

/* What the tree says of columns. Comparisons and names of a macro are not in it. */
static silt_status find_columns(struct sl_prepare *prepare, const sl_json *root, struct sl_str json, silt_error *err)
{
    struct sl_plane_habits habits;
    SL_TRY(sl_prepare_habits(prepare, &habits, err));
    prepare->hidden.all = !habits.own_calls;
    sl_mentioned_in(&prepare->mentioned, root, !habits.own_calls);
    if (sl_str_find(json, SL_STR("DISTINCT_FROM")) == SIZE_MAX) {
        return SILT_OK;
    }
    return sl_hidden_find(root, &prepare->hidden, err);
}

/* Runs the references of a parsed query through planning and splices them. */
static silt_status splice_query(struct sl_prepare *prepare, size_t begin, size_t end, bool is_view, silt_error *err)
{
    struct sl_prepared_query *query = prepare->query;
    struct sl_str text = sl_buf_view(&prepare->spelled->text);
    struct sl_json_doc *doc = NULL;
    struct sl_buf json;
    struct sl_vec refs;
    silt_status status;

    sl_buf_init(&json, prepare->session->env);
    sl_vec_init(&refs, prepare->session->env, sizeof(struct sl_table_ref));
    status = query->plane.vtable->parse(query->plane.dp, sl_str_sub(text, begin, end), &json, err);
    if (status != SILT_OK) {
        map_spelled_error(query, begin, err);
        goto out;
    }
    status = sl_json_parse(prepare->session->env, sl_buf_view(&json), &doc, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = sl_refs_collect(&query->arena, sl_json_root(doc), &refs, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = find_columns(prepare, sl_json_root(doc), sl_buf_view(&json), err);
    if (status == SILT_OK) {
        status = sl_prepare_metadata(prepare, sl_json_root(doc), &refs, err);
    }
    if (status == SILT_OK) {
        status = sl_prepare_scans(prepare, &refs, begin, err);
    }
    if (status == SILT_OK) {
        status = sl_prepare_stars(prepare, sl_json_root(doc), &refs, begin, err);
    }
    if (status == SILT_OK && query->n_scans > 0) {
        status = sl_prepare_titles(prepare, sl_json_root(doc), begin, err);
    }
    if (status != SILT_OK) {
        goto out;
    }
    if (is_view && query->n_scans > 0) {
        status = sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX",
                         "a view over a Delta table is not supported: it would stay at one version");
        sl_error_hint(err, "use CREATE TEMP TABLE … AS, or name the table in each query");
    }
out:
    sl_json_free(doc);
    sl_vec_release(&refs);
    sl_buf_release(&json);
    return status;
}

static silt_status prepare_spelled(struct sl_prepare *prepare, silt_error *err)
{
    struct sl_str text = sl_buf_view(&prepare->spelled->text);
    size_t begin = 0;
    size_t end = 0;
    bool is_view = false;

    if (find_query(text, &begin, &end, &is_view)) {
        SL_TRY(splice_query(prepare, begin, end, is_view, err));
    } else {
        prepare->session->has_settings = true; /* PRAGMA and the like */
        prepare->session->knows_habits = false;
    }
    SL_TRY(drop_temp_word(prepare, err));
    SL_TRY(sl_prepare_check_travels(prepare, err));
    return sl_prepare_splice(prepare, err);
}

silt_status sl_query_prepare(silt_session *session, const silt_call *call, const struct sl_statement_text *statement,
                             const struct sl_dataplane_params *params, struct sl_prepared_query *out, silt_error *err)
{
    struct sl_spelled spelled = {0};
    struct sl_prepare prepare = {.session = session, .call = call, .params = params, .query = out, .spelled = &spelled};
    silt_status status;

    sl_spelled_init(&spelled, session->env);
    sl_vec_init(&prepare.splices, session->env, sizeof(struct sl_splice));
    sl_hidden_init(&prepare.hidden, session->env);
    sl_mentioned_init(&prepare.mentioned, session->env);
    status = init_query(session, out, err);
    if (status != SILT_OK) {
        goto out;
    }
    out->offset = statement->offset;
    status = sl_spell(statement->text, &spelled, err);
    if (status != SILT_OK) {
        goto out;
    }
    *out->spelling = spelled.map; /* moves */
    spelled.map = (struct sl_offset_map){0};
    status = prepare_spelled(&prepare, err);
out:
    sl_prepare_release(&prepare);
    sl_spelled_release(&spelled);
    if (status != SILT_OK) {
        sl_query_release(out);
    }
    return status;
}

void sl_query_name_file(const struct sl_prepared_query *query, const silt_call *call, silt_error *err)
{
    for (size_t i = 0; i < query->n_scans; i++) {
        sl_scan_name_culprit(query->kernel_scans[i], call, query->may_read[i], err);
    }
}

/* A running query: the stream of the data plane with what its text refers to. */
struct running {
    const silt_env *env;
    silt_call call; /* a copy; has_call tells if it counts */
    bool has_call;
    bool may_repeat; /* nothing was handed on yet, and there are no parameters, which are the caller's */
    struct ArrowArrayStream inner;
    struct sl_prepared_query query;
};

static silt_status running_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct running *running = ctx;
    return sl_arrow_stream_schema(&running->inner, out, err);
}

static silt_status start(struct sl_prepared_query *query, const silt_call *call,
                         const struct sl_dataplane_params *params, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_dataplane_params none = {0};
    silt_status status = query->plane.vtable->query(query->plane.dp, call, sl_buf_view(&query->sql),
                                                    params != NULL ? params : &none, out, err);
    if (status != SILT_OK) {
        sl_query_map_error(query, err);
        sl_query_name_file(query, call, err);
    }
    return status;
}

static silt_status next_batch(struct running *running, struct ArrowArray *batch, silt_error *err)
{
    bool done = false;
    silt_status status = sl_arrow_stream_next(&running->inner, batch, &done, err);
    if (status != SILT_OK) {
        sl_query_map_error(&running->query, err);
        sl_query_name_file(&running->query, running->has_call ? &running->call : NULL, err);
    }
    return status;
}

static silt_status running_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct running *running = ctx;
    const bool may_repeat = running->may_repeat;
    silt_error found = SILT_ERROR_INIT;
    running->may_repeat = false;
    silt_status status = next_batch(running, batch, &found);
    if (status == SILT_OK || !may_repeat || !sl_scan_is_mended(&found)) {
        return status == SILT_OK ? SILT_OK : sl_error_take(err, &found);
    }
    sl_arrow_stream_release(&running->inner);
    SL_TRY(start(&running->query, running->has_call ? &running->call : NULL, NULL, &running->inner, err));
    return next_batch(running, batch, err);
}

static void running_close(void *ctx)
{
    struct running *running = ctx;
    sl_arrow_stream_release(&running->inner);
    sl_query_release(&running->query);
    sl_release(running->env, running, sizeof(*running));
}

silt_status sl_query_run(struct sl_prepared_query *query, const silt_call *call,
                         const struct sl_dataplane_params *params, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {running_schema, running_next, running_close};
    const silt_env *env = query->arena.env;
    struct running *running = sl_alloc_zero(env, sizeof(*running));
    silt_status status;

    if (running == NULL) {
        return sl_fail_nomem(err);
    }
    running->env = env;
    running->may_repeat = params == NULL || params->schema == NULL;
    silt_error found = SILT_ERROR_INIT;
    status = start(query, call, params, &running->inner, &found);
    if (status != SILT_OK && sl_scan_is_mended(&found)) {
        silt_error_reset(&found);
        running->may_repeat = false;
        status = start(query, call, params, &running->inner, &found);
    }
    if (status != SILT_OK) {
        sl_release(env, running, sizeof(*running));
        return sl_error_take(err, &found);
    }
    running->has_call = call != NULL;
    if (call != NULL) {
        running->call = *call;
        running->call.progress = NULL; /* its owner may be gone when the stream is pulled */
    }
    running->query = *query; /* moves */
    *query = (struct sl_prepared_query){0};
    return sl_arrow_stream_new(env, &source, running, out, err);
}
