/*
 * The operands of Spark's expressions: literals, columns, casts, parentheses; and the parser's helpers.
 *
 * Called by expr_parse.c. What the subset does not have (most functions and operators, CASE, subqueries) is refused by name with
 * SILT_EUNSUPPORTED and its position. One owner.
 */
#include "base/error.h"
#include "expr/literal.h"
#include "expr/parser.h"
#include "expr/zone.h"

bool sl_parser_at_word(const struct sl_parser *p, const char *word)
{
    return sl_token_is_word(&p->lexer.token, word);
}

bool sl_parser_at_symbol(const struct sl_parser *p, const char *symbol)
{
    return sl_token_is_symbol(&p->lexer.token, symbol);
}

silt_status sl_parser_advance(struct sl_parser *p)
{
    return sl_lexer_next(&p->lexer);
}

silt_status sl_parser_expect_symbol(struct sl_parser *p, const char *symbol, const char *name)
{
    return sl_parser_at_symbol(p, symbol) ? sl_parser_advance(p) : sl_lexer_fail(&p->lexer, name);
}

silt_status sl_parser_refuse(const struct sl_parser *p, struct sl_str what, size_t position)
{
    const silt_status status = sl_fail(p->err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_EXPRESSION",
                                       "'%.*s' is not supported in expressions", SL_FMT(what));
    sl_error_position(p->err, position);
    return status;
}

silt_status sl_parser_enter(struct sl_parser *p)
{
    if (++p->depth <= SL_EXPR_MAX_DEPTH) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(p->err, SILT_ELIMIT, NULL, "the expression is nested deeper than %d levels",
                                       SL_EXPR_MAX_DEPTH);
    sl_error_position(p->err, p->lexer.token.begin);
    return status;
}

silt_status sl_parser_make(struct sl_parser *p, enum sl_expr_kind kind, size_t position,
                           const struct sl_expr_node *const *args, size_t n, struct sl_expr_node **out)
{
    struct sl_expr_node *node = sl_node_new(p->arena, kind);
    if (node == NULL || !sl_node_set_args(p->arena, node, args, n)) {
        return sl_fail_nomem(p->err);
    }
    node->position = position;
    *out = node;
    return SILT_OK;
}

silt_status sl_parser_make_literal(struct sl_parser *p, size_t position, const silt_value *value,
                                   struct sl_expr_node **out)
{
    SL_TRY(sl_parser_make(p, SL_EXPR_LITERAL, position, NULL, 0, out));
    (*out)->value = *value; /* its bytes are in the arena or in the text, which sealing copies */
    return SILT_OK;
}

static silt_status fail_literal(const struct sl_parser *p, const struct sl_token *token, const char *what)
{
    const struct sl_str shown = sl_str_sub(p->lexer.input, token->begin, token->end);
    const silt_status status = sl_fail(p->err, SILT_ESYNTAX, NULL, "%s: '%.*s'", what, SL_FMT(shown));
    sl_error_position(p->err, token->begin);
    return status;
}

static silt_status parse_number(struct sl_parser *p, bool negative, struct sl_expr_node **out)
{
    const struct sl_token token = p->lexer.token;
    silt_value value;
    if (!sl_literal_number(token.text, negative, &value)) {
        return fail_literal(p, &token, "a number does not fit its type");
    }
    SL_TRY(sl_parser_advance(p));
    return sl_parser_make_literal(p, token.begin, &value, out);
}

/* A minus or plus; only numbers have one here. */
static silt_status parse_sign(struct sl_parser *p, struct sl_expr_node **out)
{
    const struct sl_token sign = p->lexer.token;
    SL_TRY(sl_parser_advance(p));
    if (p->lexer.token.kind != SL_TOKEN_NUMBER) {
        return sl_parser_refuse(p, sign.text, sign.begin);
    }
    SL_TRY(parse_number(p, sl_str_eq_c(sign.text, "-"), out));
    (*out)->position = sign.begin;
    return SILT_OK;
}

/* word 'text': a typed string. The word is the current token, the string follows. */
static silt_status parse_typed(struct sl_parser *p, struct sl_expr_node **out)
{
    const struct sl_token word = p->lexer.token;
    silt_value value;
    bool known = false;
    SL_TRY(sl_parser_advance(p));
    const struct sl_token text = p->lexer.token;
    const bool is_hex = sl_str_eq_nocase(word.text, SL_STR("x"));
    const bool ok = is_hex ? sl_literal_hex(p->arena, text.text, &value)
                           : sl_literal_typed(p->arena, word.text, text.text, &known, &value);
    if (!ok && !is_hex && !known) {
        return sl_parser_refuse(p, word.text, word.begin);
    }
    if (!ok) {
        return fail_literal(p, &text, is_hex ? "no hexadecimal text" : "no valid date or time");
    }
    const silt_value written = sl_value_bytes(SILT_TYPE_STRING, text.text);
    SL_TRY(sl_zone_apply(p->zone, &written, &value, p->err));
    SL_TRY(sl_parser_advance(p));
    return sl_parser_make_literal(p, word.begin, &value, out);
}

static silt_status parse_type_at(struct sl_parser *p, size_t begin, const struct silt_type **out)
{
    const struct sl_str rest = sl_str_sub(p->lexer.input, begin, p->lexer.input.len);
    size_t used = 0;
    const silt_status status = sl_type_parse_prefix(p->arena, rest, &used, out, p->err);
    if (status != SILT_OK) {
        sl_error_position(p->err, begin);
        return status;
    }
    if (sl_type_is_nested(*out) || (*out)->kind == SILT_TYPE_VARIANT || (*out)->kind == SILT_TYPE_VOID) {
        return sl_parser_refuse(p, SL_STR("CAST to a nested type"), begin);
    }
    return sl_lexer_seek(&p->lexer, begin + used);
}

static silt_status parse_cast(struct sl_parser *p, struct sl_expr_node **out)
{
    const size_t position = p->lexer.token.begin;
    struct sl_expr_node *arg = NULL;
    const struct silt_type *type = NULL;
    SL_TRY(sl_parser_advance(p));
    SL_TRY(sl_parser_expect_symbol(p, "(", "'('"));
    SL_TRY(sl_parser_or(p, &arg));
    if (!sl_parser_at_word(p, "as")) {
        return sl_lexer_fail(&p->lexer, "AS");
    }
    SL_TRY(parse_type_at(p, p->lexer.token.end, &type));
    SL_TRY(sl_parser_expect_symbol(p, ")", "')'"));
    const struct sl_expr_node *const args[1] = {arg};
    SL_TRY(sl_parser_make(p, SL_EXPR_CAST, position, args, 1, out));
    (*out)->type = type;
    return SILT_OK;
}

/* The pattern of LIKE that matches what begins with the text. */
static bool prefix_pattern(struct sl_arena *arena, struct sl_str text, struct sl_str *out)
{
    char *pattern = sl_arena_alloc(arena, text.len * 2 + 2);
    size_t len = 0;
    if (pattern == NULL) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%' || text.ptr[i] == '_' || text.ptr[i] == '\\') {
            pattern[len++] = '\\';
        }
        pattern[len++] = text.ptr[i];
    }
    pattern[len++] = '%';
    *out = sl_str_make(pattern, len);
    return true;
}

/* startswith(value, 'text'), after the name: the same as value LIKE 'text%'. */
static silt_status parse_starts_with(struct sl_parser *p, size_t position, struct sl_expr_node **out)
{
    struct sl_expr_node *value = NULL;
    struct sl_expr_node *literal = NULL;
    struct sl_str pattern = {0};
    SL_TRY(sl_parser_expect_symbol(p, "(", "'('"));
    SL_TRY(sl_parser_or(p, &value));
    SL_TRY(sl_parser_expect_symbol(p, ",", "','"));
    const struct sl_token token = p->lexer.token;
    if (token.kind != SL_TOKEN_STRING) {
        return sl_parser_refuse(p, SL_STR("startswith with a prefix that is no literal"), token.begin);
    }
    if (!prefix_pattern(p->arena, token.text, &pattern)) {
        return sl_fail_nomem(p->err);
    }
    SL_TRY(sl_parser_advance(p));
    SL_TRY(sl_parser_expect_symbol(p, ")", "')'"));
    const silt_value text = sl_value_bytes(SILT_TYPE_STRING, pattern);
    SL_TRY(sl_parser_make_literal(p, token.begin, &text, &literal));
    const struct sl_expr_node *const args[2] = {value, literal};
    return sl_parser_make(p, SL_EXPR_LIKE, position, args, 2, out);
}

static silt_status parse_column(struct sl_parser *p, struct sl_expr_node **out)
{
    struct sl_str names[SL_SCHEMA_MAX_DEPTH];
    size_t n = 0;
    const size_t position = p->lexer.token.begin;
    for (;;) {
        const enum sl_token_kind kind = p->lexer.token.kind;
        if (kind != SL_TOKEN_WORD && kind != SL_TOKEN_QUOTED) {
            return sl_lexer_fail(&p->lexer, "a column name");
        }
        if (n == SL_SCHEMA_MAX_DEPTH) {
            return sl_fail(p->err, SILT_ELIMIT, NULL, "a column's path has more than %d parts", SL_SCHEMA_MAX_DEPTH);
        }
        names[n++] = p->lexer.token.text;
        SL_TRY(sl_parser_advance(p));
        if (!sl_parser_at_symbol(p, ".")) {
            break;
        }
        SL_TRY(sl_parser_advance(p));
    }
    if (sl_parser_at_symbol(p, "(")) {
        const bool starts_with = n == 1 && (sl_str_eq_nocase(names[0], SL_STR("startswith")) ||
                                            sl_str_eq_nocase(names[0], SL_STR("starts_with")));
        return starts_with ? parse_starts_with(p, position, out)
                           : sl_parser_refuse(p, sl_str_sub(p->lexer.input, position, p->lexer.token.end), position);
    }
    if (sl_parser_at_symbol(p, "[")) {
        return sl_parser_refuse(p, SL_STR("[]"), p->lexer.token.begin);
    }
    SL_TRY(sl_parser_make(p, SL_EXPR_COLUMN, position, NULL, 0, out));
    struct sl_str *path = sl_arena_alloc_array(p->arena, n, sizeof *path);
    if (path == NULL) {
        return sl_fail_nomem(p->err);
    }
    memcpy(path, names, n * sizeof *path);
    (*out)->path = path;
    (*out)->path_len = n;
    return SILT_OK;
}

/* Words that cannot be a column without backticks. */
static bool is_structural(const struct sl_parser *p)
{
    static const char *const words[] = {"and",   "or",    "in",     "is",    "like",   "between",
                                        "as",    "then",  "when",   "else",  "end",    "from",
                                        "where", "rlike", "regexp", "ilike", "select", "escape"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (sl_parser_at_word(p, words[i])) {
            return true;
        }
    }
    return false;
}

static silt_status parse_word(struct sl_parser *p, struct sl_expr_node **out)
{
    static const char *const refused[] = {"case",     "exists",       "interval",          "current_date",
                                          "try_cast", "current_time", "current_timestamp", "current_user"};
    const struct sl_token token = p->lexer.token;
    struct sl_token next;
    SL_TRY(sl_lexer_peek(&p->lexer, &next));
    if (next.kind == SL_TOKEN_STRING) {
        return parse_typed(p, out);
    }
    const bool is_true = sl_parser_at_word(p, "true");
    if (is_true || sl_parser_at_word(p, "false") || sl_parser_at_word(p, "null")) {
        const silt_value value = sl_parser_at_word(p, "null") ? sl_value_null(SILT_TYPE_VOID) : sl_value_bool(is_true);
        SL_TRY(sl_parser_advance(p));
        return sl_parser_make_literal(p, token.begin, &value, out);
    }
    if (sl_parser_at_word(p, "cast") && sl_token_is_symbol(&next, "(")) {
        return parse_cast(p, out);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (sl_parser_at_word(p, refused[i])) {
            return sl_parser_refuse(p, token.text, token.begin);
        }
    }
    return is_structural(p) ? sl_lexer_fail(&p->lexer, "a column or a value") : parse_column(p, out);
}

static silt_status parse_parenthesis(struct sl_parser *p, struct sl_expr_node **out)
{
    SL_TRY(sl_parser_advance(p));
    if (sl_parser_at_word(p, "select") || sl_parser_at_word(p, "with")) {
        return sl_parser_refuse(p, SL_STR("a subquery"), p->lexer.token.begin);
    }
    SL_TRY(sl_parser_or(p, out));
    if (sl_parser_at_symbol(p, ",")) {
        return sl_parser_refuse(p, SL_STR("a row of values"), p->lexer.token.begin);
    }
    return sl_parser_expect_symbol(p, ")", "')'");
}

static silt_status parse_primary(struct sl_parser *p, struct sl_expr_node **out)
{
    const struct sl_token token = p->lexer.token;
    if (sl_parser_at_symbol(p, "(")) {
        return parse_parenthesis(p, out);
    }
    if (sl_parser_at_symbol(p, "-") || sl_parser_at_symbol(p, "+")) {
        return parse_sign(p, out);
    }
    switch (token.kind) {
    case SL_TOKEN_NUMBER: return parse_number(p, false, out);
    case SL_TOKEN_QUOTED: return parse_column(p, out);
    case SL_TOKEN_WORD: return parse_word(p, out);
    case SL_TOKEN_STRING: {
        const silt_value value = sl_value_bytes(SILT_TYPE_STRING, token.text);
        SL_TRY(sl_parser_advance(p));
        return sl_parser_make_literal(p, token.begin, &value, out);
    }
    default: return sl_lexer_fail(&p->lexer, "a column or a value");
    }
}

/* primary ('::' type)* */
silt_status sl_parser_value(struct sl_parser *p, struct sl_expr_node **out)
{
    SL_TRY(sl_parser_enter(p));
    SL_TRY(parse_primary(p, out));
    unsigned casts = 0;
    while (sl_parser_at_symbol(p, "::")) {
        const struct sl_expr_node *const args[1] = {*out};
        const size_t position = p->lexer.token.begin;
        const struct silt_type *type = NULL;
        casts++;
        SL_TRY(sl_parser_enter(p));
        SL_TRY(parse_type_at(p, p->lexer.token.end, &type));
        SL_TRY(sl_parser_make(p, SL_EXPR_CAST, position, args, 1, out));
        (*out)->type = type;
    }
    static const char *const arithmetic[] = {"*", "/", "%", "||", "&", "|", "^", "->", "[", "~", ":"};
    for (size_t i = 0; i < sizeof arithmetic / sizeof arithmetic[0]; i++) {
        if (sl_parser_at_symbol(p, arithmetic[i])) {
            return sl_parser_refuse(p, p->lexer.token.text, p->lexer.token.begin);
        }
    }
    if (sl_parser_at_word(p, "div") || sl_parser_at_word(p, "collate")) {
        return sl_parser_refuse(p, p->lexer.token.text, p->lexer.token.begin);
    }
    p->depth -= casts + 1;
    return SILT_OK;
}
