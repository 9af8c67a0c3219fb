/*
 * The operators of Spark's predicates: + and -, comparisons, IN, BETWEEN, LIKE, IS, NOT, AND, OR, by recursive descent.
 *
 * Called through silt_expr_parse. What does not fit is SILT_ESYNTAX with the position. Chains of AND and OR are loops, everything
 * that nests is limited to SL_EXPR_MAX_DEPTH. One owner.
 */
#include "base/error.h"
#include "base/vec.h"
#include "expr/parser.h"

#define MAX_TEXT_BYTES ((size_t)64 << 20)

static silt_status expect_word(struct sl_parser *p, const char *word)
{
    return sl_parser_at_word(p, word) ? sl_parser_advance(p) : sl_lexer_fail(&p->lexer, word);
}

static silt_status make_not(struct sl_parser *p, size_t position, struct sl_expr_node **node)
{
    const struct sl_expr_node *arg = *node;
    return sl_parser_make(p, SL_EXPR_NOT, position, &arg, 1, node);
}

static bool at_comparison(const struct sl_parser *p, silt_compare_op *op)
{
    static const struct {
        const char *symbol;
        silt_compare_op op;
    } table[] = {{"=", SILT_COMPARE_EQ},  {"==", SILT_COMPARE_EQ}, {"<>", SILT_COMPARE_NE},
                 {"!=", SILT_COMPARE_NE}, {"<", SILT_COMPARE_LT},  {"<=", SILT_COMPARE_LE},
                 {">", SILT_COMPARE_GT},  {">=", SILT_COMPARE_GE}, {"<=>", SILT_COMPARE_NULL_SAFE_EQ}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (sl_parser_at_symbol(p, table[i].symbol)) {
            *op = table[i].op;
            return true;
        }
    }
    return false;
}

static silt_status make_compare(struct sl_parser *p, silt_compare_op op, size_t position,
                                const struct sl_expr_node *left, const struct sl_expr_node *right,
                                struct sl_expr_node **out)
{
    const struct sl_expr_node *const args[2] = {left, right};
    SL_TRY(sl_parser_make(p, SL_EXPR_COMPARE, position, args, 2, out));
    (*out)->op = op;
    return SILT_OK;
}

/* value ((+ | -) value)*, from the left */
static silt_status parse_sum(struct sl_parser *p, struct sl_expr_node **out)
{
    unsigned levels = 0;
    SL_TRY(sl_parser_value(p, out));
    while (sl_parser_at_symbol(p, "+") || sl_parser_at_symbol(p, "-")) {
        const enum sl_expr_kind kind = sl_parser_at_symbol(p, "+") ? SL_EXPR_ADD : SL_EXPR_SUBTRACT;
        const size_t position = p->lexer.token.begin;
        struct sl_expr_node *right = NULL;
        levels++;
        SL_TRY(sl_parser_enter(p));
        SL_TRY(sl_parser_advance(p));
        SL_TRY(sl_parser_value(p, &right));
        const struct sl_expr_node *const args[2] = {*out, right};
        SL_TRY(sl_parser_make(p, kind, position, args, 2, out));
    }
    p->depth -= levels;
    return SILT_OK;
}

/* sum (op sum)*, from the left */
static silt_status parse_comparison(struct sl_parser *p, struct sl_expr_node **out)
{
    silt_compare_op op = SILT_COMPARE_EQ;
    unsigned levels = 0;
    SL_TRY(parse_sum(p, out));
    while (at_comparison(p, &op)) {
        const size_t position = p->lexer.token.begin;
        struct sl_expr_node *right = NULL;
        levels++;
        SL_TRY(sl_parser_enter(p));
        SL_TRY(sl_parser_advance(p));
        SL_TRY(parse_sum(p, &right));
        SL_TRY(make_compare(p, op, position, *out, right, out));
    }
    p->depth -= levels;
    return SILT_OK;
}

/* The members of a list or chain, first given; separator is a symbol or a word. */
static silt_status collect(struct sl_parser *p, const struct sl_expr_node *first, const char *separator,
                           silt_status (*parse)(struct sl_parser *, struct sl_expr_node **), struct sl_vec *args)
{
    const struct sl_expr_node **slot = sl_vec_push(args);
    if (slot == NULL) {
        return sl_fail_nomem(p->err);
    }
    *slot = first;
    while (sl_parser_at_symbol(p, separator) || sl_parser_at_word(p, separator)) {
        struct sl_expr_node *next = NULL;
        SL_TRY(sl_parser_advance(p));
        SL_TRY(parse(p, &next));
        slot = sl_vec_push(args);
        if (slot == NULL) {
            return sl_fail_nomem(p->err);
        }
        *slot = next;
    }
    return SILT_OK;
}

/* value IN (value, …), after IN */
static silt_status parse_in(struct sl_parser *p, const struct sl_expr_node *left, size_t position,
                            struct sl_expr_node **out)
{
    struct sl_expr_node *first = NULL;
    struct sl_vec args;
    SL_TRY(sl_parser_expect_symbol(p, "(", "'('"));
    if (sl_parser_at_word(p, "select") || sl_parser_at_word(p, "with")) {
        return sl_parser_refuse(p, SL_STR("a subquery"), p->lexer.token.begin);
    }
    SL_TRY(parse_comparison(p, &first));
    sl_vec_init(&args, p->env, sizeof first);
    const struct sl_expr_node **slot = sl_vec_push(&args);
    silt_status status = slot != NULL ? SILT_OK : sl_fail_nomem(p->err);
    if (status == SILT_OK) {
        *slot = left;
        status = collect(p, first, ",", parse_comparison, &args);
    }
    if (status == SILT_OK) {
        status = sl_parser_expect_symbol(p, ")", "',' or ')'");
    }
    if (status == SILT_OK) {
        status = sl_parser_make(p, SL_EXPR_IN, position, args.data, args.len, out);
    }
    sl_vec_release(&args);
    return status;
}

static silt_status parse_between(struct sl_parser *p, const struct sl_expr_node *left, size_t position,
                                 struct sl_expr_node **out)
{
    struct sl_expr_node *low = NULL;
    struct sl_expr_node *high = NULL;
    SL_TRY(parse_comparison(p, &low));
    SL_TRY(expect_word(p, "AND"));
    SL_TRY(parse_comparison(p, &high));
    const struct sl_expr_node *const args[3] = {left, low, high};
    return sl_parser_make(p, SL_EXPR_BETWEEN, position, args, 3, out);
}

/* Makes '\' the escape character of a pattern that was written for another one. */
static bool change_escape(struct sl_arena *arena, struct sl_str pattern, char escape, struct sl_str *out)
{
    char *text = sl_arena_alloc(arena, pattern.len * 2 + 1);
    size_t len = 0;
    if (text == NULL) {
        return false;
    }
    for (size_t i = 0; i < pattern.len; i++) {
        const bool escaped = pattern.ptr[i] == escape && i + 1 < pattern.len;
        i += escaped ? 1 : 0;
        const char c = pattern.ptr[i];
        if (c == '\\' || (escaped && (c == '%' || c == '_'))) {
            text[len++] = '\\';
        }
        text[len++] = c;
    }
    *out = sl_str_make(text, len);
    return true;
}

static silt_status parse_like(struct sl_parser *p, const struct sl_expr_node *left, size_t position,
                              struct sl_expr_node **out)
{
    const struct sl_token token = p->lexer.token;
    struct sl_str pattern = token.text;
    if (token.kind != SL_TOKEN_STRING) {
        return sl_parser_refuse(p, SL_STR("LIKE with a pattern that is no literal"), token.begin);
    }
    SL_TRY(sl_parser_advance(p));
    if (sl_parser_at_word(p, "escape")) {
        SL_TRY(sl_parser_advance(p));
        if (p->lexer.token.kind != SL_TOKEN_STRING || p->lexer.token.text.len != 1) {
            return sl_lexer_fail(&p->lexer, "one escape character");
        }
        const char escape = p->lexer.token.text.ptr[0];
        if (escape != '\\' && !change_escape(p->arena, pattern, escape, &pattern)) {
            return sl_fail_nomem(p->err);
        }
        SL_TRY(sl_parser_advance(p));
    }
    const silt_value value = sl_value_bytes(SILT_TYPE_STRING, pattern);
    struct sl_expr_node *literal = NULL;
    SL_TRY(sl_parser_make_literal(p, token.begin, &value, &literal));
    const struct sl_expr_node *const args[2] = {left, literal};
    return sl_parser_make(p, SL_EXPR_LIKE, position, args, 2, out);
}

/* After IS [NOT]: NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM. *negate tells whether the result is to be negated. */
static silt_status parse_is(struct sl_parser *p, const struct sl_expr_node *left, size_t position,
                            struct sl_expr_node **out, bool *negate)
{
    if (sl_parser_at_word(p, "null") || sl_parser_at_word(p, "unknown")) {
        SL_TRY(sl_parser_advance(p));
        const enum sl_expr_kind kind = *negate ? SL_EXPR_IS_NOT_NULL : SL_EXPR_IS_NULL;
        *negate = false;
        return sl_parser_make(p, kind, position, &left, 1, out);
    }
    if (sl_parser_at_word(p, "true") || sl_parser_at_word(p, "false")) {
        const silt_value value = sl_value_bool(sl_parser_at_word(p, "true"));
        struct sl_expr_node *literal = NULL;
        SL_TRY(sl_parser_make_literal(p, p->lexer.token.begin, &value, &literal));
        SL_TRY(sl_parser_advance(p));
        return make_compare(p, SILT_COMPARE_NULL_SAFE_EQ, position, left, literal, out);
    }
    if (sl_parser_at_word(p, "distinct")) {
        struct sl_expr_node *right = NULL;
        SL_TRY(sl_parser_advance(p));
        SL_TRY(expect_word(p, "FROM"));
        SL_TRY(parse_comparison(p, &right));
        *negate = !*negate;
        return make_compare(p, SILT_COMPARE_NULL_SAFE_EQ, position, left, right, out);
    }
    return sl_lexer_fail(&p->lexer, "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
}

static silt_status parse_tail(struct sl_parser *p, bool *negate, struct sl_expr_node **out)
{
    const struct sl_token word = p->lexer.token;
    const struct sl_expr_node *left = *out;
    SL_TRY(sl_parser_advance(p));
    if (sl_token_is_word(&word, "is")) {
        if (sl_parser_at_word(p, "not")) {
            *negate = true;
            SL_TRY(sl_parser_advance(p));
        }
        return parse_is(p, left, word.begin, out, negate);
    }
    if (sl_token_is_word(&word, "in")) {
        return parse_in(p, left, word.begin, out);
    }
    if (sl_token_is_word(&word, "between")) {
        return parse_between(p, left, word.begin, out);
    }
    if (sl_token_is_word(&word, "like")) {
        return parse_like(p, left, word.begin, out);
    }
    return sl_parser_refuse(p, word.text, word.begin);
}

/* comparison [[NOT] IN | BETWEEN | LIKE | IS …] */
static silt_status parse_predicate(struct sl_parser *p, struct sl_expr_node **out)
{
    SL_TRY(parse_comparison(p, out));
    const size_t position = p->lexer.token.begin;
    bool negate = sl_parser_at_word(p, "not");
    if (negate) {
        SL_TRY(sl_parser_advance(p));
    }
    static const char *const words[] = {"in", "between", "like", "is", "rlike", "regexp", "ilike", "regexp_like"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        found = found || (sl_parser_at_word(p, words[i]) && !(negate && strcmp(words[i], "is") == 0));
    }
    if (found) {
        SL_TRY(parse_tail(p, &negate, out));
    } else if (negate) {
        return sl_lexer_fail(&p->lexer, "IN, BETWEEN or LIKE");
    }
    return negate ? make_not(p, position, out) : SILT_OK;
}

static silt_status parse_not(struct sl_parser *p, struct sl_expr_node **out)
{
    if (!sl_parser_at_word(p, "not") && !sl_parser_at_symbol(p, "!")) {
        return parse_predicate(p, out);
    }
    const size_t position = p->lexer.token.begin;
    SL_TRY(sl_parser_enter(p));
    SL_TRY(sl_parser_advance(p));
    SL_TRY(parse_not(p, out));
    p->depth--;
    return make_not(p, position, out);
}

static silt_status parse_chain(struct sl_parser *p, const char *word, enum sl_expr_kind kind,
                               silt_status (*parse)(struct sl_parser *, struct sl_expr_node **),
                               struct sl_expr_node **out)
{
    const size_t position = p->lexer.token.begin;
    SL_TRY(parse(p, out));
    if (!sl_parser_at_word(p, word)) {
        return SILT_OK;
    }
    struct sl_vec args;
    sl_vec_init(&args, p->env, sizeof(*out));
    silt_status status = collect(p, *out, word, parse, &args);
    if (status == SILT_OK) {
        status = sl_parser_make(p, kind, position, args.data, args.len, out);
    }
    sl_vec_release(&args);
    return status;
}

static silt_status parse_and(struct sl_parser *p, struct sl_expr_node **out)
{
    return parse_chain(p, "and", SL_EXPR_AND, parse_not, out);
}

silt_status sl_parser_or(struct sl_parser *p, struct sl_expr_node **out)
{
    return parse_chain(p, "or", SL_EXPR_OR, parse_and, out);
}

static silt_status parse_text(struct sl_parser *p, struct sl_str text, struct sl_expr_node **out)
{
    if (text.len > MAX_TEXT_BYTES) {
        return sl_fail(p->err, SILT_ELIMIT, NULL, "the expression has %zu bytes, more than %zu", text.len,
                       MAX_TEXT_BYTES);
    }
    SL_TRY(sl_lexer_init(&p->lexer, p->arena, text, p->err));
    SL_TRY(sl_parser_or(p, out));
    return p->lexer.token.kind == SL_TOKEN_END ? SILT_OK : sl_lexer_fail(&p->lexer, "an operator or the end");
}

silt_status sl_expr_parse_in_zone(const silt_env *env, struct sl_str text, const silt_schema *schema,
                                  const struct sl_expr_zone *zone, silt_expr **out, silt_error *err)
{
    struct sl_arena scratch;
    struct sl_expr_node *root = NULL;
    silt_expr *expr = NULL;
    *out = NULL;
    sl_arena_init(&scratch, env);
    struct sl_parser p = {.arena = &scratch, .env = env, .zone = zone, .err = err};
    silt_status status = parse_text(&p, text, &root);
    if (status == SILT_OK) {
        status = sl_expr_from_node(env, root, &expr, err);
    }
    if (status == SILT_OK && schema != NULL) {
        status = sl_expr_resolve_in_zone(expr, schema, zone, out, err);
        silt_expr_unref(expr);
    } else {
        *out = expr;
    }
    sl_arena_release(&scratch);
    return status;
}

silt_status silt_expr_parse(const silt_env *env, const char *text, size_t text_len, const silt_schema *schema,
                            silt_expr **out, silt_error *err)
{
    return sl_expr_parse_in_zone(env, sl_str_make(text, text_len), schema, NULL, out, err);
}
