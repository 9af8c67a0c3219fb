/*
 * The lexer of Spark's expressions: words, `quoted` names, strings in all of Spark's spellings, numbers with suffixes, operators.
 *
 * Called by the expression parser. Text is hostile: everything is bounds-checked, errors carry the byte offset. One
 * owner.
 */
#include "expr/lex.h"

#include "base/error.h"
#include "base/utf8.h"

/* Longest first, so that the first that fits is the right one. */
static const char *const symbols[] = {"<=>", "<=", ">=", "<>", "!=", "==", "::", "||", "->", "<", ">",
                                      "=",   "!",  "(",  ")",  ",",  ".",  "+",  "-",  "*",  "/", "%",
                                      "&",   "|",  "^",  "~",  "[",  "]",  ":",  ";",  "?"};

static silt_status fail_here(const struct sl_lexer *lexer, size_t pos, const char *what)
{
    const silt_status status = sl_fail(lexer->err, SILT_ESYNTAX, NULL, "%s at byte %zu", what, pos);
    sl_error_position(lexer->err, pos);
    return status;
}

silt_status sl_lexer_fail(const struct sl_lexer *lexer, const char *expected)
{
    const struct sl_token *token = &lexer->token;
    const struct sl_str shown = sl_str_sub(lexer->input, token->begin, token->end);
    const silt_status status = token->kind == SL_TOKEN_END
                                   ? sl_fail(lexer->err, SILT_ESYNTAX, NULL, "expected %s at the end of the expression",
                                             expected)
                                   : sl_fail(lexer->err, SILT_ESYNTAX, NULL, "expected %s at byte %zu, found '%.*s'",
                                             expected, token->begin, SL_FMT(shown));
    sl_error_position(lexer->err, token->begin);
    return status;
}

bool sl_token_is_word(const struct sl_token *token, const char *word)
{
    return token->kind == SL_TOKEN_WORD && sl_str_eq_nocase(token->text, sl_str_from(word));
}

bool sl_token_is_symbol(const struct sl_token *token, const char *symbol)
{
    return token->kind == SL_TOKEN_SYMBOL && sl_str_eq_c(token->text, symbol);
}

static char at(const struct sl_lexer *lexer, size_t pos)
{
    return pos < lexer->input.len ? lexer->input.ptr[pos] : '\0';
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || sl_is_digit(c) || (unsigned char)c >= 0x80;
}

/* White space and comments. A nested comment counts its openings, as in Spark. */
static silt_status skip_blank(struct sl_lexer *lexer)
{
    const size_t len = lexer->input.len;
    while (lexer->pos < len) {
        const char c = at(lexer, lexer->pos);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            lexer->pos++;
        } else if (c == '-' && at(lexer, lexer->pos + 1) == '-') {
            while (lexer->pos < len && at(lexer, lexer->pos) != '\n') {
                lexer->pos++;
            }
        } else if (c == '/' && at(lexer, lexer->pos + 1) == '*') {
            const size_t begin = lexer->pos;
            size_t depth = 0;
            do {
                const char next = at(lexer, lexer->pos + 1);
                const bool opens = at(lexer, lexer->pos) == '/' && next == '*';
                const bool closes = at(lexer, lexer->pos) == '*' && next == '/';
                depth = opens ? depth + 1 : closes ? depth - 1 : depth;
                lexer->pos += opens || closes ? 2 : 1;
            } while (depth > 0 && lexer->pos < len);
            if (depth > 0) {
                return fail_here(lexer, begin, "a comment is not closed");
            }
        } else {
            break;
        }
    }
    return SILT_OK;
}

/* n hexadecimal digits at pos; false if there are fewer. */
static bool read_hex(const struct sl_lexer *lexer, size_t pos, size_t n, uint32_t *out)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        const int digit = sl_hex_digit(at(lexer, pos + i));
        if (digit < 0) {
            return false;
        }
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

/*
 * What follows a backslash, as Spark reads it: \n and the like, \uXXXX, \UXXXXXXXX, octal \ooo; \% and \_ keep their backslash
 * for LIKE; any other character stands for itself. Returns how many bytes were read, writes at most 4.
 */
static size_t read_escape(const struct sl_lexer *lexer, size_t pos, char *out, size_t *out_len)
{
    static const char from[] = "0bnrtZ";
    static const char to[] = "\0\b\n\r\t\x1a";
    const char c = at(lexer, pos);
    uint32_t code = 0;
    if (c == 'u' && read_hex(lexer, pos + 1, 4, &code)) {
        /* A pair of surrogates is one character. */
        uint32_t low = 0;
        size_t used = 5;
        if (code >= 0xd800 && code < 0xdc00 && at(lexer, pos + 5) == '\\' && at(lexer, pos + 6) == 'u' &&
            read_hex(lexer, pos + 7, 4, &low) && low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            used = 11;
        }
        *out_len = sl_utf8_encode(code, out);
        return used;
    }
    if (c == 'U' && read_hex(lexer, pos + 1, 8, &code)) {
        *out_len = sl_utf8_encode(code, out);
        return 9;
    }
    if (c >= '0' && c <= '1' && at(lexer, pos + 1) >= '0' && at(lexer, pos + 1) <= '7' && at(lexer, pos + 2) >= '0' &&
        at(lexer, pos + 2) <= '7') {
        out[0] = (char)((c - '0') * 64 + (at(lexer, pos + 1) - '0') * 8 + (at(lexer, pos + 2) - '0'));
        *out_len = 1;
        return 3;
    }
    if (c == '%' || c == '_') {
        out[0] = '\\';
        out[1] = c;
        *out_len = 2;
        return 1;
    }
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    out[0] = found != NULL ? to[found - from] : c;
    *out_len = 1;
    return 1;
}

/* Offset of the quote that closes what pos begins after, the input's length if there is none. Doubled quotes stay inside. */
static size_t find_close(const struct sl_lexer *lexer, size_t pos, bool escapes, bool doubles)
{
    const char quote = at(lexer, pos - 1);
    while (pos < lexer->input.len) {
        const char c = at(lexer, pos);
        if (c == '\\' && escapes) {
            pos++;
        } else if (c == quote) {
            if (!doubles || at(lexer, pos + 1) != quote) {
                return pos;
            }
            pos++;
        }
        pos++;
    }
    return lexer->input.len;
}

/* 'text' or "text" from the opening quote on. */
static silt_status lex_string(struct sl_lexer *lexer, bool raw)
{
    struct sl_token *token = &lexer->token;
    const size_t begin = lexer->pos + 1;
    const size_t close = find_close(lexer, begin, !raw, !raw);
    if (close >= lexer->input.len) {
        return fail_here(lexer, lexer->pos, "a string is not closed");
    }
    char *text = sl_arena_alloc(lexer->arena, close - begin + 4); /* decoding never makes text longer */
    size_t len = 0;
    if (text == NULL) {
        return sl_fail_nomem(lexer->err);
    }
    for (size_t pos = begin; pos < close;) {
        const char c = at(lexer, pos++);
        if (c == '\\' && !raw) {
            size_t written = 0;
            pos += read_escape(lexer, pos, text + len, &written);
            if (written == 0 || pos > close) {
                return fail_here(lexer, pos, "an escape names no character");
            }
            len += written;
            continue;
        }
        text[len++] = c;
        pos += !raw && c == at(lexer, close) ? 1 : 0; /* the second of a doubled quote */
    }
    token->kind = SL_TOKEN_STRING;
    token->text = sl_str_make(text, len);
    lexer->pos = close + 1;
    return SILT_OK;
}

static silt_status lex_quoted(struct sl_lexer *lexer)
{
    const size_t begin = lexer->pos + 1;
    const size_t close = find_close(lexer, begin, false, true);
    if (close >= lexer->input.len || close == begin) {
        return fail_here(lexer, lexer->pos, close == begin ? "a name is empty" : "a backtick is not closed");
    }
    char *text = sl_arena_alloc(lexer->arena, close - begin);
    size_t len = 0;
    if (text == NULL) {
        return sl_fail_nomem(lexer->err);
    }
    for (size_t pos = begin; pos < close; pos++) {
        const char c = at(lexer, pos);
        text[len++] = c;
        pos += c == '`' ? 1 : 0;
    }
    lexer->token.kind = SL_TOKEN_QUOTED;
    lexer->token.text = sl_str_make(text, len);
    lexer->pos = close + 1;
    return SILT_OK;
}

static size_t skip_digits(const struct sl_lexer *lexer, size_t pos)
{
    while (sl_is_digit(at(lexer, pos))) {
        pos++;
    }
    return pos;
}

/* End of a number with its suffix at pos, 0 if there is none. A word such as 2020_sales is no number. */
static size_t number_end(const struct sl_lexer *lexer, size_t pos)
{
    static const char *const suffixes[] = {"BD", "L", "S", "Y", "D", "F", ""};
    const size_t whole_end = skip_digits(lexer, pos);
    size_t end = whole_end;
    if (at(lexer, end) == '.') {
        end = skip_digits(lexer, end + 1);
        if (end == pos + 1) {
            return 0; /* a lone dot */
        }
    } else if (end == pos) {
        return 0;
    }
    if (at(lexer, end) == 'e' || at(lexer, end) == 'E') {
        const size_t sign = at(lexer, end + 1) == '+' || at(lexer, end + 1) == '-' ? 1 : 0;
        if (sl_is_digit(at(lexer, end + 1 + sign))) {
            end = skip_digits(lexer, end + 1 + sign);
        }
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const size_t n = strlen(suffixes[i]);
        if (end + n <= lexer->input.len &&
            sl_str_eq_nocase(sl_str_sub(lexer->input, end, end + n), sl_str_from(suffixes[i])) &&
            !is_word_char(at(lexer, end + n))) {
            return end + n;
        }
    }
    return 0;
}

static silt_status lex_symbol(struct sl_lexer *lexer)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        const struct sl_str symbol = sl_str_from(symbols[i]);
        if (sl_str_starts_with(sl_str_sub(lexer->input, lexer->pos, lexer->input.len), symbol)) {
            lexer->token.kind = SL_TOKEN_SYMBOL;
            lexer->token.text = symbol;
            lexer->pos += symbol.len;
            return SILT_OK;
        }
    }
    return fail_here(lexer, lexer->pos, "a character that no expression has");
}

/* What a number can be: after a name, ".1" is the next part of a path, and so is "1" after a dot. */
enum context {
    AFTER_NAME,
    AFTER_DOT,
    AFTER_OTHER
};

static silt_status lex_token(struct sl_lexer *lexer, enum context context)
{
    struct sl_token *token = &lexer->token;
    const char c = at(lexer, lexer->pos);
    const char next = at(lexer, lexer->pos + 1);
    if (lexer->pos >= lexer->input.len) {
        token->kind = SL_TOKEN_END;
        token->text = SL_STR("");
        return SILT_OK;
    }
    if (c == '\'' || c == '"') {
        return lex_string(lexer, false);
    }
    if ((c == 'r' || c == 'R') && (next == '\'' || next == '"')) {
        lexer->pos++;
        return lex_string(lexer, true);
    }
    if (c == '`') {
        return lex_quoted(lexer);
    }
    const bool may_be_number = sl_is_digit(c) ? context != AFTER_DOT : c == '.' && context != AFTER_NAME;
    const size_t end = may_be_number ? number_end(lexer, lexer->pos) : 0;
    if (end > 0) {
        token->kind = SL_TOKEN_NUMBER;
        token->text = sl_str_sub(lexer->input, lexer->pos, end);
        lexer->pos = end;
        return SILT_OK;
    }
    if (!is_word_char(c)) {
        return lex_symbol(lexer);
    }
    const size_t begin = lexer->pos;
    while (is_word_char(at(lexer, lexer->pos))) {
        lexer->pos++;
    }
    token->kind = SL_TOKEN_WORD;
    token->text = sl_str_sub(lexer->input, begin, lexer->pos);
    return SILT_OK;
}

silt_status sl_lexer_next(struct sl_lexer *lexer)
{
    const struct sl_token before = lexer->token;
    SL_TRY(skip_blank(lexer));
    enum context context = AFTER_OTHER;
    if (before.end == lexer->pos && (before.kind == SL_TOKEN_WORD || before.kind == SL_TOKEN_QUOTED)) {
        context = AFTER_NAME;
    } else if (before.end == lexer->pos && sl_token_is_symbol(&before, ".")) {
        context = AFTER_DOT;
    }
    lexer->token.begin = lexer->pos;
    SL_TRY(lex_token(lexer, context));
    lexer->token.end = lexer->pos;
    return SILT_OK;
}

silt_status sl_lexer_seek(struct sl_lexer *lexer, size_t pos)
{
    lexer->pos = pos;
    lexer->token = (struct sl_token){.kind = SL_TOKEN_END};
    return sl_lexer_next(lexer);
}

silt_status sl_lexer_peek(const struct sl_lexer *lexer, struct sl_token *out)
{
    struct sl_lexer ahead = *lexer;
    SL_TRY(sl_lexer_next(&ahead));
    *out = ahead.token;
    return SILT_OK;
}

silt_status sl_lexer_init(struct sl_lexer *lexer, struct sl_arena *arena, struct sl_str input, silt_error *err)
{
    *lexer = (struct sl_lexer){.arena = arena, .input = input, .err = err};
    if (!sl_utf8_valid(input)) {
        return sl_fail(err, SILT_ESYNTAX, NULL, "the expression is not UTF-8");
    }
    if (input.len > 0 && memchr(input.ptr, '\0', input.len) != NULL) {
        return sl_fail(err, SILT_ESYNTAX, NULL, "the expression has a NUL byte"); /* its text would end there */
    }
    return sl_lexer_seek(lexer, 0);
}
