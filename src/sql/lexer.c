/*
 * The SQL lexer. See lexer.h. It reads the lexical union of Spark's and DuckDB's SQL:
 *  - '…' ends at the next single quote that is not doubled. A backslash before a quote does not hide it: queries are DuckDB's
 *    SQL, where it is a plain character, and a rule that depended on the statement would let one text be cut in two ways. Write a
 *    quote inside a literal as ''. E'…' has backslash escapes.
 *  - `…` and "…" double their quote inside.
 *  - $$…$$ and $tag$…$tag$ are strings; $1 and $name are parameters.
 *  - comments: from -- to the line's end, and C style ones, which nest as in DuckDB.
 */
#include "sql/lexer.h"

/* Letters, '_', and every byte of a non-ASCII character. */
static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_word(char c)
{
    return is_word_start(c) || sl_is_digit(c);
}

/* Byte at an offset, NUL past the end. */
static char at(const struct sl_lexer *lexer, size_t pos)
{
    return pos < lexer->text.len ? lexer->text.ptr[pos] : '\0';
}

/* Behind a nested comment that begins at pos; the end of the text if it is not closed. */
static size_t skip_block_comment(const struct sl_lexer *lexer, size_t pos)
{
    size_t depth = 0;
    while (pos < lexer->text.len) {
        if (at(lexer, pos) == '/' && at(lexer, pos + 1) == '*') {
            depth++;
            pos += 2;
        } else if (at(lexer, pos) == '*' && at(lexer, pos + 1) == '/') {
            depth--;
            pos += 2;
            if (depth == 0) {
                return pos;
            }
        } else {
            pos++;
        }
    }
    return lexer->text.len;
}

static void skip_blank(struct sl_lexer *lexer)
{
    for (;;) {
        char c = at(lexer, lexer->pos);
        if (lexer->pos >= lexer->text.len) {
            return;
        }
        if (sl_is_space(c)) {
            lexer->pos++;
        } else if (c == '-' && at(lexer, lexer->pos + 1) == '-') {
            while (lexer->pos < lexer->text.len && at(lexer, lexer->pos) != '\n') {
                lexer->pos++;
            }
        } else if (c == '/' && at(lexer, lexer->pos + 1) == '*') {
            lexer->pos = skip_block_comment(lexer, lexer->pos);
        } else {
            return;
        }
    }
}

/* Behind a quoted run whose opening quote is at pos; 0 if it is not closed. */
static size_t quoted_end(const struct sl_lexer *lexer, size_t pos, bool backslash)
{
    char quote = at(lexer, pos);
    for (pos++; pos < lexer->text.len; pos++) {
        char c = at(lexer, pos);
        if (backslash && c == '\\') {
            pos++;
        } else if (c == quote) {
            if (at(lexer, pos + 1) != quote) {
                return pos + 1;
            }
            pos++;
        }
    }
    return 0;
}

/* $$…$$ or $tag$…$tag$ from pos; 0 if it is none or not closed (*opened tells the two apart). */
static size_t dollar_end(const struct sl_lexer *lexer, size_t pos, bool *opened)
{
    size_t tag_end = pos + 1;
    struct sl_str tag;
    size_t found;

    *opened = false;
    if (sl_is_digit(at(lexer, tag_end))) {
        return 0;
    }
    while (is_word(at(lexer, tag_end))) {
        tag_end++;
    }
    if (at(lexer, tag_end) != '$' || tag_end >= lexer->text.len) {
        return 0;
    }
    *opened = true;
    tag = sl_str_sub(lexer->text, pos, tag_end + 1);
    found = sl_str_find(sl_str_sub(lexer->text, tag_end + 1, lexer->text.len), tag);
    return found == SIZE_MAX ? 0 : tag_end + 1 + found + tag.len;
}

static size_t number_end(const struct sl_lexer *lexer, size_t pos)
{
    while (sl_is_digit(at(lexer, pos)) || at(lexer, pos) == '_') {
        pos++;
    }
    if (at(lexer, pos) == '.' && !(at(lexer, pos + 1) == '.')) {
        pos++;
        while (sl_is_digit(at(lexer, pos)) || at(lexer, pos) == '_') {
            pos++;
        }
    }
    if (at(lexer, pos) == 'e' || at(lexer, pos) == 'E') {
        size_t digits = pos + 1;
        if (at(lexer, digits) == '+' || at(lexer, digits) == '-') {
            digits++;
        }
        if (sl_is_digit(at(lexer, digits))) {
            while (sl_is_digit(at(lexer, digits))) {
                digits++;
            }
            pos = digits;
        }
    }
    return pos;
}

/* Operators of several characters, longest first. */
static size_t operator_end(const struct sl_lexer *lexer, size_t pos)
{
    static const char *const operators[] = {"<=>", "->>", "!~~", "<=", ">=", "<>", "!=", "==", "::", ":=",
                                            "->",  "=>",  "||",  "<<", ">>", "**", "//", "~~", "&&", "^@"};
    struct sl_str rest = sl_str_sub(lexer->text, pos, lexer->text.len);
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (sl_str_starts_with(rest, sl_str_from(operators[i]))) {
            return pos + strlen(operators[i]);
        }
    }
    return pos + 1;
}

static struct sl_token make_token(struct sl_lexer *lexer, enum sl_token_kind kind, size_t end)
{
    struct sl_token token = {.kind = kind, .begin = lexer->pos, .end = end};
    token.text = sl_str_sub(lexer->text, token.begin, token.end);
    lexer->pos = end;
    return token;
}

/* A quoted token, or the rest of the text as a bad one when the quote is not closed. */
static struct sl_token quoted_token(struct sl_lexer *lexer, enum sl_token_kind kind, size_t quote, bool backslash)
{
    size_t end = quoted_end(lexer, quote, backslash);
    return end != 0 ? make_token(lexer, kind, end) : make_token(lexer, SL_TOK_BAD, lexer->text.len);
}

static struct sl_token dollar_token(struct sl_lexer *lexer)
{
    bool opened = false;
    size_t end = dollar_end(lexer, lexer->pos, &opened);
    if (opened) {
        return end != 0 ? make_token(lexer, SL_TOK_STRING, end) : make_token(lexer, SL_TOK_BAD, lexer->text.len);
    }
    end = lexer->pos + 1;
    while (is_word(at(lexer, end))) {
        end++;
    }
    return make_token(lexer, end > lexer->pos + 1 ? SL_TOK_PARAM : SL_TOK_OP, end);
}

struct sl_token sl_lex(struct sl_lexer *lexer)
{
    size_t end;
    char c;

    skip_blank(lexer);
    c = at(lexer, lexer->pos);
    if (lexer->pos >= lexer->text.len) {
        return make_token(lexer, SL_TOK_END, lexer->text.len);
    }
    if ((c == 'E' || c == 'e') && at(lexer, lexer->pos + 1) == '\'') {
        return quoted_token(lexer, SL_TOK_STRING, lexer->pos + 1, true);
    }
    if (is_word_start(c)) {
        end = lexer->pos;
        while (end < lexer->text.len && is_word(at(lexer, end))) {
            end++;
        }
        return make_token(lexer, SL_TOK_WORD, end);
    }
    if (sl_is_digit(c) || (c == '.' && sl_is_digit(at(lexer, lexer->pos + 1)))) {
        return make_token(lexer, SL_TOK_NUMBER, number_end(lexer, lexer->pos));
    }
    switch (c) {
    case '\'': return quoted_token(lexer, SL_TOK_STRING, lexer->pos, false);
    case '"': return quoted_token(lexer, SL_TOK_DQUOTE, lexer->pos, false);
    case '`': return quoted_token(lexer, SL_TOK_BACKTICK, lexer->pos, false);
    case '$': return dollar_token(lexer);
    case '?': return make_token(lexer, SL_TOK_PARAM, lexer->pos + 1);
    case '\0': return make_token(lexer, SL_TOK_BAD, lexer->pos + 1);
    default: return make_token(lexer, SL_TOK_OP, operator_end(lexer, lexer->pos));
    }
}

bool sl_token_is(const struct sl_token *token, const char *word)
{
    if (token->kind == SL_TOK_WORD) {
        return sl_str_eq_nocase(token->text, sl_str_from(word));
    }
    return token->kind == SL_TOK_OP && sl_str_eq_c(token->text, word);
}
