/*
 * Titles of subqueries in a SELECT list. DuckDB makes the title of an expression of its text, and the text that runs has whole scans where
 * the user named tables: a title would list all data files. So a subquery that is an item by itself and has no alias is given one, the
 * text as it was written. Called for queries whose scans are planned.
 */
#include "base/error.h"
#include "base/quote.h"
#include "json/json.h"
#include "sql/prepare_int.h"

static bool begins_item(const struct sl_token *before)
{
    return sl_token_is(before, "SELECT") || sl_token_is(before, "DISTINCT") || sl_token_is(before, "ALL") ||
           sl_token_is(before, ",");
}

static bool ends_item(const struct sl_token *behind)
{
    return behind->kind == SL_TOK_END || sl_token_is(behind, ",") || sl_token_is(behind, ")") ||
           sl_token_is(behind, ";") || sl_token_is(behind, "FROM");
}

/* End of the subquery at an offset. False where no alias can be put behind it, as in ((SELECT 1)). */
static bool find_end(struct sl_str text, size_t location, size_t *end)
{
    struct sl_lexer lexer = {.text = text};
    struct sl_token before = {.kind = SL_TOK_END};
    struct sl_token token = sl_lex(&lexer);
    size_t depth = 0;

    for (; token.begin < location && token.kind != SL_TOK_END && token.kind != SL_TOK_BAD; token = sl_lex(&lexer)) {
        before = token;
    }
    if (token.begin != location || !begins_item(&before)) {
        return false;
    }
    for (;; token = sl_lex(&lexer)) {
        if (token.kind == SL_TOK_END || token.kind == SL_TOK_BAD) {
            return false;
        }
        depth += sl_token_is(&token, "(") ? 1u : 0u;
        if (sl_token_is(&token, ")") && (depth == 0 || --depth == 0)) {
            break;
        }
    }
    *end = token.end;
    token = sl_lex(&lexer);
    return ends_item(&token);
}

static bool has_scan(const struct sl_prepare *prepare, size_t begin, size_t end)
{
    for (size_t i = 0; i < prepare->splices.len; i++) {
        const struct sl_splice *splice = sl_vec_at(&prepare->splices, i);
        if (splice->begin > begin && splice->end < end) {
            return true;
        }
    }
    return false;
}

static silt_status add_title(struct sl_prepare *prepare, size_t location, silt_error *err)
{
    struct sl_str text = sl_buf_view(&prepare->spelled->text);
    struct sl_splice *splice = NULL;
    size_t end = 0;

    if (!find_end(text, location, &end) || !has_scan(prepare, location, end)) {
        return SILT_OK;
    }
    splice = sl_prepare_add_splice(prepare, end, end);
    if (splice == NULL) {
        return sl_fail_nomem(err);
    }
    sl_buf_put_c(&splice->text, " AS ");
    sl_quote_put(&splice->text, sl_str_sub(text, location, end), '"');
    return sl_buf_status(&splice->text, err);
}

static silt_status visit_list(struct sl_prepare *prepare, const sl_json *list, size_t base, silt_error *err)
{
    struct sl_json_iter iter = sl_json_iterate(list);
    struct sl_str key;
    const sl_json *item = NULL;
    int64_t location = 0;

    while (sl_json_next(&iter, &key, &item)) {
        if (sl_str_eq_c(sl_json_member_text(item, "class"), "SUBQUERY") &&
            sl_json_member_text(item, "alias").len == 0 &&
            sl_json_to_i64(sl_json_member(item, "query_location"), &location) && location >= 0) {
            SL_TRY(add_title(prepare, base + (size_t)location, err));
        }
    }
    return SILT_OK;
}

silt_status sl_prepare_titles(struct sl_prepare *prepare, const sl_json *root, size_t base, silt_error *err)
{
    struct sl_vec stack; /* const sl_json *: the tree of a long query is deep */
    const sl_json **slot = NULL;
    silt_status status = SILT_OK;

    sl_vec_init(&stack, prepare->session->env, sizeof(const sl_json *));
    slot = sl_vec_push(&stack);
    if (slot != NULL) {
        *slot = root;
    }
    while (slot != NULL && status == SILT_OK && stack.len > 0) {
        const sl_json *node = *(const sl_json **)sl_vec_at(&stack, --stack.len);
        struct sl_json_iter iter = sl_json_iterate(node);
        struct sl_str key;
        const sl_json *child = NULL;
        if (sl_json_is_object(node) && sl_str_eq_c(sl_json_member_text(node, "type"), "SELECT_NODE")) {
            status = visit_list(prepare, sl_json_member(node, "select_list"), base, err);
        }
        while (slot != NULL && sl_json_next(&iter, &key, &child)) {
            if (sl_json_is_object(child) || sl_json_is_array(child)) {
                slot = sl_vec_push(&stack);
                if (slot != NULL) {
                    *slot = child;
                }
            }
        }
    }
    sl_vec_release(&stack);
    return slot != NULL ? status : sl_fail_nomem(err);
}
