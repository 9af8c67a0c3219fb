/*
 * Stars that leave out "_metadata", as Delta Spark's do, in a SELECT that names it: *, t.*, COLUMNS(*), FROM t without a SELECT, and COLUMNS of
 * a pattern. Columns of that name that others bring (a subquery, a file, a table's own) stay. Called by prepare_metadata.c.
 */
#include <string.h>

#include "base/error.h"
#include "base/quote.h"
#include "kernel/scan/metadata_column.h"
#include "sql/plane_row.h"
#include "sql/prepare_int.h"
#include "sql/select_parts.h"

#define QUOTED "\"" SL_METADATA_NAME "\""

/* One star and what it stands for. */
struct star {
    struct sl_prepare *prepare;
    const struct sl_select_parts *parts;
    const sl_json *node;
    struct sl_str relation; /* absent: of all tables */
    size_t location;        /* in the spelled text */
};

static silt_status put_splice(struct sl_prepare *prepare, size_t at, const char *text, silt_error *err)
{
    struct sl_splice *splice = sl_prepare_add_splice(prepare, at, at);
    if (splice == NULL) {
        return sl_fail_nomem(err);
    }
    sl_buf_put_c(&splice->text, text);
    return sl_buf_status(&splice->text, err);
}

static bool is_shown(const struct star *star, const struct sl_select_leaf *leaf)
{
    return leaf->ref != NULL && leaf->ref->has_metadata && !leaf->hidden && sl_select_names(star->relation, leaf->ref);
}

static struct sl_str name_of(const struct sl_table_ref *ref)
{
    return ref->alias.ptr != NULL ? ref->alias : ref->table;
}

/* Two tables of one name are the data plane's to complain of. */
static bool is_repeated(const struct star *star, size_t index)
{
    const struct sl_table_ref *ref = ((struct sl_select_leaf *)sl_vec_at(&star->parts->leaves, index))->ref;
    for (size_t i = 0; i < index; i++) {
        const struct sl_select_leaf *leaf = sl_vec_at(&star->parts->leaves, i);
        if (is_shown(star, leaf) && sl_str_eq_nocase(name_of(leaf->ref), name_of(ref))) {
            return true;
        }
    }
    return false;
}

/* "t"."_metadata", … of the tables that the star would show the column of; false if there are none. */
static bool put_columns(const struct star *star, struct sl_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < star->parts->leaves.len; i++) {
        const struct sl_select_leaf *leaf = sl_vec_at(&star->parts->leaves, i);
        if (!is_shown(star, leaf) || is_repeated(star, i)) {
            continue;
        }
        sl_buf_put_c(out, any ? ", " : "");
        sl_quote_put(out, name_of(leaf->ref), '"');
        sl_buf_put_c(out, "." QUOTED);
        any = true;
    }
    return any;
}

/* Did the user leave it out already? Twice is an error of the data plane. */
static bool is_excluded(const sl_json *star)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(star, "exclude_list"));
    struct sl_str key;
    struct sl_str name = {NULL, 0};
    const sl_json *item = NULL;
    while (sl_json_next(&iter, &key, &item)) {
        if (sl_json_to_str(item, &name) && sl_str_eq_nocase(name, SL_STR(SL_METADATA_NAME))) {
            return true;
        }
    }
    iter = sl_json_iterate(sl_json_member(star, "qualified_exclude_list"));
    while (sl_json_next(&iter, &key, &item)) {
        if (sl_str_eq_nocase(sl_json_member_text(item, "column"), SL_STR(SL_METADATA_NAME))) {
            return true;
        }
    }
    return false;
}

/* ---- a star that is written as one ---- */

/* "* EXCLUDE a", "* EXCEPT (a)": into the list that is there. */
static silt_status extend_list(const struct star *star, struct sl_lexer lexer, const char *columns, silt_error *err)
{
    struct sl_buf text;
    sl_buf_init(&text, star->prepare->session->env);
    const struct sl_token token = sl_lex(&lexer);
    const bool is_list = sl_token_is(&token, "(");
    sl_buf_printf(&text, is_list ? "%s, " : "(%s, ", columns);
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = put_splice(star->prepare, is_list ? token.end : token.begin, sl_buf_cstr(&text), err);
    }
    sl_buf_release(&text);
    if (status != SILT_OK || is_list) {
        return status;
    }
    return put_splice(star->prepare, sl_prepare_name_end(sl_buf_view(&star->prepare->spelled->text), token.begin), ")",
                      err);
}

static silt_status exclude(const struct star *star, const char *columns, silt_error *err)
{
    const struct sl_str text = sl_buf_view(&star->prepare->spelled->text);
    struct sl_lexer lexer = {.text = text, .pos = star->location};
    struct sl_token token = sl_lex(&lexer);
    const bool unwritten = sl_token_is(&token, "FROM"); /* FROM t without a SELECT */
    if (sl_token_is(&token, "ALL")) {
        return SILT_OK; /* ORDER BY ALL: of what is selected */
    }
    const size_t begin = token.begin;
    while (!unwritten && token.kind != SL_TOK_END && token.kind != SL_TOK_BAD && !sl_token_is(&token, "*")) {
        token = sl_lex(&lexer); /* t. and COLUMNS( stand before it */
    }
    struct sl_lexer behind = lexer;
    const struct sl_token next = sl_lex(&behind);
    if (!unwritten && (sl_token_is(&next, "EXCLUDE") || sl_token_is(&next, "EXCEPT"))) {
        return extend_list(star, behind, columns, err);
    }
    struct sl_buf out;
    sl_buf_init(&out, star->prepare->session->env);
    sl_buf_printf(&out, unwritten ? "SELECT * EXCLUDE (%s) " : " EXCLUDE (%s) ", columns);
    silt_status status = sl_buf_status(&out, err);
    if (status == SILT_OK) {
        status = put_splice(star->prepare, unwritten ? begin : token.end, sl_buf_cstr(&out), err);
    }
    sl_buf_release(&out);
    return status;
}

/* ---- COLUMNS of a pattern ---- */

static silt_status refuse_pattern(silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE",
                                       "COLUMNS of this pattern may mean _metadata, which the query names elsewhere");
    sl_error_hint(err, "name the columns, or write COLUMNS(* EXCLUDE (…))");
    return status;
}

/* Is every column of that name one of ours, so that a pattern can leave out the name? */
static bool only_ours(const struct star *star)
{
    for (size_t i = 0; i < star->parts->leaves.len; i++) {
        const struct sl_select_leaf *leaf = sl_vec_at(&star->parts->leaves, i);
        const bool known = leaf->ref != NULL && leaf->ref->scan != NULL;
        if (!leaf->hidden &&
            (!known || (!leaf->ref->has_metadata && sl_type_find(&silt_scan_schema(leaf->ref->scan)->root,
                                                                 SL_STR(SL_METADATA_NAME), NULL) != NULL))) {
            return false;
        }
    }
    return true;
}

/* What stands between the brackets of COLUMNS( … ). */
static bool find_pattern(const struct star *star, size_t *begin, size_t *end)
{
    struct sl_lexer lexer = {.text = sl_buf_view(&star->prepare->spelled->text), .pos = star->location};
    size_t depth = 0;
    for (;;) {
        const struct sl_token token = sl_lex(&lexer);
        if (token.kind == SL_TOK_END || token.kind == SL_TOK_BAD) {
            return false;
        }
        if (sl_token_is(&token, "(")) {
            *begin = depth++ == 0 ? token.end : *begin;
        } else if (sl_token_is(&token, ")") && (depth == 0 || --depth == 0)) {
            *end = token.begin;
            return *begin > star->location;
        }
    }
}

/* Does a regular expression find the column's name? */
static silt_status is_matched(const struct star *star, struct sl_str pattern, bool *out, silt_error *err)
{
    struct sl_buf sql;
    struct sl_plane_row row;
    silt_value value;
    sl_buf_init(&sql, star->prepare->session->env);
    sl_buf_printf(&sql, "SELECT regexp_matches('" SL_METADATA_NAME "', %.*s\n)", SL_FMT(pattern));
    silt_status status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        status = sl_plane_row_get(&star->prepare->query->plane, star->prepare->call, sl_buf_view(&sql), NULL, &row,
                                  err);
    }
    sl_buf_release(&sql);
    if (status == SILT_OK) {
        *out = sl_plane_row_value(&row, 0, &value) && value.kind == SILT_TYPE_BOOLEAN && value.as.boolean;
        sl_plane_row_release(&row);
    }
    return status;
}

/* The pattern becomes one that is not about our name. */
static silt_status restrict_pattern(const struct star *star, size_t begin, size_t end, bool is_lambda, silt_error *err)
{
    struct sl_splice *splice = sl_prepare_add_splice(star->prepare, begin, end);
    if (splice == NULL) {
        return sl_fail_nomem(err);
    }
    sl_buf_printf(&splice->text,
                  is_lambda ? "lambda _silt: _silt <> '" SL_METADATA_NAME "' AND len(list_filter([_silt], %.*s\n)) > 0"
                            : "lambda _silt: _silt <> '" SL_METADATA_NAME "' AND regexp_matches(_silt, %.*s\n)",
                  SL_FMT(sl_str_sub(sl_buf_view(&star->prepare->spelled->text), begin, end)));
    return sl_buf_status(&splice->text, err);
}

static bool has_lambda(const sl_json *pattern)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(pattern, "children"));
    struct sl_str key;
    const sl_json *child = NULL;
    while (sl_json_next(&iter, &key, &child)) {
        if (sl_str_eq_c(sl_json_member_text(child, "type"), "LAMBDA")) {
            return true;
        }
    }
    return false;
}

static silt_status narrow_pattern(const struct star *star, const sl_json *pattern, silt_error *err)
{
    const bool is_lambda = has_lambda(pattern);
    const bool is_text = sl_str_eq_c(sl_json_member_text(pattern, "type"), "VALUE_CONSTANT");
    const struct sl_str title = sl_json_member_text(star->node, "alias");
    bool matched = true;
    size_t begin = 0;
    size_t end = 0;
    if (sl_str_eq_c(sl_json_member_text(pattern, "function_name"), "list_value")) {
        return SILT_OK; /* names, of which each was wanted */
    }
    if ((!is_lambda && !is_text) || !find_pattern(star, &begin, &end)) {
        return refuse_pattern(err);
    }
    if (is_text) {
        SL_TRY(is_matched(star, sl_str_sub(sl_buf_view(&star->prepare->spelled->text), begin, end), &matched, err));
    }
    if (!matched) {
        return SILT_OK;
    }
    /* Titles can repeat what the expression found, which is lost when it stands in another. */
    if (!only_ours(star) || (title.len > 0 && memchr(title.ptr, '\\', title.len) != NULL)) {
        return refuse_pattern(err);
    }
    return restrict_pattern(star, begin, end, is_lambda, err);
}

static silt_status narrow_star(const struct star *star, silt_error *err)
{
    struct sl_buf columns;
    const sl_json *pattern = sl_json_member(star->node, "expr");
    sl_buf_init(&columns, star->prepare->session->env);
    silt_status status = SILT_OK;
    if (put_columns(star, &columns) && !is_excluded(star->node)) {
        status = sl_buf_status(&columns, err);
        if (status == SILT_OK) {
            status = sl_json_is_object(pattern) ? narrow_pattern(star, pattern, err)
                                                : exclude(star, sl_buf_cstr(&columns), err);
        }
    }
    sl_buf_release(&columns);
    return status;
}

silt_status sl_prepare_narrow_stars(struct sl_prepare *prepare, const struct sl_select_parts *parts, size_t base,
                                    silt_error *err)
{
    for (size_t i = 0; i < parts->stars.len; i++) {
        const sl_json *node = *(const sl_json **)sl_vec_at(&parts->stars, i);
        int64_t location = 0;
        if (!sl_json_to_i64(sl_json_member(node, "query_location"), &location) || location < 0) {
            continue; /* one that the data plane's parser put into a pattern */
        }
        const struct star star = {.prepare = prepare,
                                  .parts = parts,
                                  .node = node,
                                  .relation = sl_json_member_text(node, "relation_name"),
                                  .location = base + (size_t)location};
        SL_TRY(narrow_star(&star, err));
    }
    return SILT_OK;
}
