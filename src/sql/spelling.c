/*
 * Spark's spellings made DuckDB's. See spelling.h. One pass over the tokens; whatever is not rewritten is copied with its blanks and
 * comments, so that titles of columns and error positions stay the user's.
 */
#include "sql/spelling.h"

#include <stdio.h>

#include "base/error.h"
#include "kernel/scan/metadata_column.h"
#include "sql/table_name.h"

/* Types that Spark has and DuckDB spells otherwise. */
static const char *const types[][2] = {
    {"BYTE", "TINYINT"}, {"TIMESTAMP_NTZ", "TIMESTAMP"}, {"TIMESTAMP_LTZ", "TIMESTAMPTZ"}};

#define MAX_BRACKETS 4096

struct speller {
    struct sl_str source;
    struct sl_spelled *out;
    struct sl_lexer lexer;
    struct sl_token token;
    struct sl_token previous;       /* END before the first */
    size_t copied;                  /* source offset up to which the result has everything */
    size_t name_begin;              /* spelled offset of the dotted name that ends at `previous` */
    bool in_name;                   /* previous ends a (dotted) name */
    bool after_dot;                 /* previous is the dot of a dotted name */
    size_t query_end;               /* source offset where a bracket that was put in is closed; 0: none */
    uint8_t cast[MAX_BRACKETS / 8]; /* bit i: bracket level i was opened by CAST or TRY_CAST */
    size_t depth;
};

void sl_spelled_init(struct sl_spelled *spelled, const silt_env *env)
{
    *spelled = (struct sl_spelled){0};
    sl_buf_init(&spelled->text, env);
    sl_offset_map_init(&spelled->map, env);
    sl_vec_init(&spelled->travels, env, sizeof(struct sl_travel_note));
}

void sl_spelled_release(struct sl_spelled *spelled)
{
    sl_buf_release(&spelled->text);
    sl_offset_map_release(&spelled->map);
    sl_vec_release(&spelled->travels);
}

/* Copies what lies between the last token written and `to`. */
static void copy_until(struct speller *s, size_t to)
{
    sl_rewrite_copy(&s->out->text, &s->out->map, s->source, s->copied, to);
    s->copied = to;
}

/* Puts other text in the place of source[begin, end). */
static void replace(struct speller *s, size_t begin, size_t end, struct sl_str text)
{
    copy_until(s, begin);
    if (text.len > 0) {
        sl_rewrite_mark(&s->out->text, &s->out->map, begin);
        sl_buf_put_str(&s->out->text, text);
    }
    s->copied = end;
}

/* A quoted token as a DuckDB identifier. Quotes of the old kind inside are made single, double quotes doubled. */
static void replace_quoted(struct speller *s, const struct sl_token *token)
{
    char quote = token->text.ptr[0];
    copy_until(s, token->begin);
    sl_rewrite_mark(&s->out->text, &s->out->map, token->begin);
    sl_buf_put_char(&s->out->text, '"');
    for (size_t i = 1; i + 1 < token->text.len; i++) {
        char c = token->text.ptr[i];
        sl_buf_put_char(&s->out->text, c);
        if (c == '"') {
            sl_buf_put_char(&s->out->text, '"');
        }
        if (c == quote) {
            i++; /* the second of a doubled pair */
        }
    }
    sl_buf_put_char(&s->out->text, '"');
    s->copied = token->end;
}

static struct sl_token peek(const struct sl_lexer *lexer)
{
    struct sl_lexer copy = *lexer;
    return sl_lex(&copy);
}

/* A type stands behind :: and CAST(… AS, and in front of the text of a literal. */
static void spell_type(struct speller *s)
{
    bool in_cast = s->depth > 0 && s->depth < MAX_BRACKETS && (s->cast[s->depth / 8] & (1u << (s->depth % 8))) != 0;
    struct sl_token next = peek(&s->lexer);
    bool in_literal = next.kind == SL_TOK_STRING && !sl_token_is(&s->previous, ".");
    if (!sl_token_is(&s->previous, "::") && !(in_cast && sl_token_is(&s->previous, "AS")) && !in_literal) {
        return;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (sl_token_is(&s->token, types[i][0])) {
            replace(s, s->token.begin, s->token.end, sl_str_from(types[i][1]));
        }
    }
}

/* current_timestamp() of Spark is no call in DuckDB. Takes the brackets out. */
static void drop_call_brackets(struct speller *s)
{
    struct sl_lexer ahead = s->lexer;
    struct sl_token open = sl_lex(&ahead);
    struct sl_token close = sl_lex(&ahead);
    if ((sl_token_is(&s->token, "CURRENT_TIMESTAMP") || sl_token_is(&s->token, "CURRENT_DATE")) &&
        sl_token_is(&open, "(") && sl_token_is(&close, ")")) {
        replace(s, open.begin, close.end, (struct sl_str){0});
        s->lexer = ahead;
    }
}

/* A column called at is a name for Spark; for DuckDB the word is reserved, for AT (VERSION => 3) and AT TIME ZONE. */
static void quote_at(struct speller *s)
{
    const struct sl_token next = peek(&s->lexer);
    if (sl_token_is(&s->token, "AT") && !sl_token_is(&next, "(") && !sl_token_is(&next, "TIME")) {
        sl_rewrite_mark(&s->out->text, &s->out->map, s->token.begin);
        sl_buf_put_char(&s->out->text, '"');
        sl_buf_put_str(&s->out->text, s->token.text);
        sl_buf_put_char(&s->out->text, '"');
        s->copied = s->token.end;
    }
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* X'41FF' is binary for Spark and for the standard; DuckDB takes it for the text x41FF. An odd number of digits has a zero before it. */
static silt_status spell_binary(struct speller *s, silt_error *err)
{
    const struct sl_token next = peek(&s->lexer);
    const bool is_binary = sl_token_is(&s->token, "X") && next.kind == SL_TOK_STRING && next.begin == s->token.end &&
                           next.text.ptr[0] == '\'';
    if (!is_binary) {
        return SILT_OK;
    }
    const struct sl_str digits = sl_str_sub(next.text, 1, next.text.len - 1);
    for (size_t i = 0; i < digits.len; i++) {
        if (!is_hex(digits.ptr[i])) {
            const silt_status status = sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR",
                                               "X'%.*s' is no binary literal: it takes hexadecimal digits",
                                               SL_FMT(digits));
            sl_error_position(err, s->token.begin);
            return status;
        }
    }
    struct sl_buf *text = &s->out->text;
    sl_rewrite_mark(text, &s->out->map, s->token.begin);
    sl_buf_put_c(text, "CAST('");
    for (size_t i = 0; i < digits.len; i++) {
        const bool begins = (digits.len - i) % 2 == 0;
        sl_buf_put_c(text, begins ? "\\x" : (i == 0 ? "\\x0" : ""));
        sl_buf_put_char(text, digits.ptr[i]);
    }
    sl_buf_put_c(text, "' AS BLOB)");
    s->copied = next.end;
    s->lexer.pos = next.end;
    return SILT_OK;
}

static void note_bracket(struct speller *s)
{
    if (sl_token_is(&s->token, "(")) {
        bool cast = sl_token_is(&s->previous, "CAST") || sl_token_is(&s->previous, "TRY_CAST");
        s->depth++;
        if (s->depth < MAX_BRACKETS) {
            uint8_t bit = (uint8_t)(1u << (s->depth % 8));
            uint8_t *byte = &s->cast[s->depth / 8];
            *byte = (uint8_t)(cast ? *byte | bit : *byte & (uint8_t)~bit);
        }
    } else if (sl_token_is(&s->token, ")") && s->depth > 0) {
        s->depth--;
    }
}

/* Behind a bracketed run whose '(' is the next token. */
static bool skip_brackets(struct sl_lexer *lexer)
{
    size_t depth = 0;
    do {
        struct sl_token token = sl_lex(lexer);
        if (token.kind == SL_TOK_END || token.kind == SL_TOK_BAD) {
            return false;
        }
        depth += sl_token_is(&token, "(") ? 1u : 0u;
        depth -= sl_token_is(&token, ")") ? 1u : 0u;
    } while (depth > 0);
    return true;
}

static bool is_time_unit(const struct sl_token *token)
{
    static const char *const units[] = {"YEAR",   "MONTH",  "WEEK",        "DAY",        "HOUR",
                                        "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"};
    struct sl_str word = token->text;
    if (token->kind != SL_TOK_WORD) {
        return false;
    }
    if (word.len > 1 && (word.ptr[word.len - 1] == 's' || word.ptr[word.len - 1] == 'S')) {
        word.len--; /* a plural */
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (sl_str_eq_nocase(word, sl_str_from(units[i]))) {
            return true;
        }
    }
    return false;
}

/* One operand of a time expression: a literal (typed or not), a parameter, a call, a bracketed expression. */
static bool skip_operand(struct sl_lexer *lexer, size_t *end)
{
    struct sl_token token = peek(lexer);
    if (sl_token_is(&token, "(")) {
        if (!skip_brackets(lexer)) {
            return false;
        }
        *end = lexer->pos;
        return true;
    }
    (void)sl_lex(lexer);
    *end = token.end;
    if (token.kind == SL_TOK_STRING || token.kind == SL_TOK_NUMBER || token.kind == SL_TOK_PARAM) {
        return true;
    }
    if (token.kind != SL_TOK_WORD) {
        return false;
    }
    struct sl_token next = peek(lexer);
    if (sl_token_is(&next, "(")) {
        if (!skip_brackets(lexer)) {
            return false;
        }
        *end = lexer->pos;
        return true;
    }
    if (next.kind == SL_TOK_STRING || (sl_token_is(&token, "INTERVAL") && next.kind == SL_TOK_NUMBER)) {
        (void)sl_lex(lexer);
        *end = next.end;
        next = peek(lexer);
        if (sl_token_is(&token, "INTERVAL") && is_time_unit(&next)) {
            (void)sl_lex(lexer);
            *end = next.end;
        }
        return true;
    }
    return sl_token_is(&token, "CURRENT_TIMESTAMP") || sl_token_is(&token, "CURRENT_DATE");
}

static bool skip_time_expression(struct sl_lexer *lexer, size_t *end)
{
    if (!skip_operand(lexer, end)) {
        return false;
    }
    for (;;) {
        struct sl_token next = peek(lexer);
        struct sl_lexer ahead = *lexer;
        size_t operand_end = 0;
        if (!sl_token_is(&next, "+") && !sl_token_is(&next, "-")) {
            return true;
        }
        (void)sl_lex(&ahead);
        if (!skip_operand(&ahead, &operand_end)) {
            return true;
        }
        *lexer = ahead;
        *end = operand_end;
    }
}

static silt_status add_travel(struct speller *s, size_t clause, bool is_version, struct sl_str expr, bool is_suffix,
                              silt_error *err)
{
    struct sl_travel_note *note = sl_vec_push(&s->out->travels);
    if (note == NULL) {
        return sl_fail_nomem(err);
    }
    *note = (struct sl_travel_note){.table = s->name_begin,
                                    .clause = clause,
                                    .is_version = is_version,
                                    .is_suffix = is_suffix,
                                    .expr = expr,
                                    .n_marks = s->out->n_marks};
    return SILT_OK;
}

/* Question marks that are taken out of the text with the expression that they stand in. */
static void count_marks(struct speller *s, struct sl_str expr)
{
    struct sl_lexer lexer = {.text = expr};
    for (struct sl_token token = sl_lex(&lexer); token.kind != SL_TOK_END && token.kind != SL_TOK_BAD;
         token = sl_lex(&lexer)) {
        s->out->n_marks += token.kind == SL_TOK_PARAM && sl_str_eq_c(token.text, "?") ? 1u : 0u;
    }
}

/* Takes "VERSION AS OF 3" behind a name out of the text. *taken is false if none stands here. */
static silt_status take_clause(struct speller *s, bool *taken, silt_error *err)
{
    struct sl_lexer ahead = {.text = s->source, .pos = s->token.begin};
    enum sl_travel_clause kind = sl_travel_clause_at(&ahead);
    struct sl_token first = peek(&ahead);
    struct sl_lexer at_expr = ahead;
    size_t end = 0;

    *taken = false;
    if (kind == SL_CLAUSE_NONE) {
        return SILT_OK;
    }
    if (kind == SL_CLAUSE_VERSION && sl_token_is(&first, "-")) {
        (void)sl_lex(&at_expr); /* a negative version is for the resolver to refuse */
    }
    if (!(kind == SL_CLAUSE_VERSION ? skip_operand(&at_expr, &end) : skip_time_expression(&at_expr, &end))) {
        return SILT_OK; /* columns that happen to be called so */
    }
    SL_TRY(
        add_travel(s, s->token.begin, kind == SL_CLAUSE_VERSION, sl_str_sub(s->source, first.begin, end), false, err));
    count_marks(s, sl_str_sub(s->source, first.begin, end));
    replace(s, s->token.begin, end, (struct sl_str){0});
    s->lexer.pos = end;
    *taken = true;
    return SILT_OK;
}

/* Takes "@v3" directly behind a name out of the text. */
static silt_status take_suffix(struct speller *s, bool *taken, silt_error *err)
{
    struct sl_lexer ahead = s->lexer;
    struct sl_token suffix = sl_lex(&ahead);
    struct sl_table_name unused = {0};

    *taken = false;
    if (!sl_token_is(&s->token, "@") || s->token.begin != s->previous.end || suffix.begin != s->token.end ||
        !sl_travel_suffix_parse(suffix.text, &unused)) {
        return SILT_OK;
    }
    SL_TRY(add_travel(s, s->token.begin, unused.travel == SL_TRAVEL_VERSION, suffix.text, true, err));
    replace(s, s->token.begin, suffix.end, (struct sl_str){0});
    s->lexer.pos = suffix.end;
    *taken = true;
    return SILT_OK;
}

/* Keeps track of the dotted name that ends at this token; called when the token has been written up to its beginning. */
static void note_name(struct speller *s, size_t spelled_begin)
{
    bool part = s->token.kind == SL_TOK_WORD || s->token.kind == SL_TOK_BACKTICK || s->token.kind == SL_TOK_DQUOTE ||
                s->token.kind == SL_TOK_STRING;
    if (part) {
        if (!s->after_dot) {
            s->name_begin = spelled_begin;
        }
        s->in_name = true;
        s->after_dot = false;
    } else {
        s->after_dot = s->in_name && sl_token_is(&s->token, ".");
        s->in_name = false;
    }
}

/*
 * Parameters get the numbers that they have in the whole statement: parts of it, bounds of time travel and of changes, run by themselves.
 * A mark that has a number already ("?2") keeps it.
 */
static void number_mark(struct speller *s)
{
    char text[24] = "$";
    const bool numbered = s->token.end < s->source.len && sl_is_digit(s->source.ptr[s->token.end]);
    if (!numbered) {
        (void)snprintf(text, sizeof(text), "$%zu", ++s->out->n_marks); /* always fits */
    }
    replace(s, s->token.begin, s->token.end, sl_str_from(text));
}

/* "* EXCEPT (a, b)": columns that a star leaves out. Behind a star no query ends, so that this is not EXCEPT between queries. */
static void spell_except(struct speller *s)
{
    const struct sl_token next = peek(&s->lexer);
    if (sl_token_is(&s->token, "EXCEPT") && sl_token_is(&s->previous, "*") && sl_token_is(&next, "(")) {
        replace(s, s->token.begin, s->token.end, SL_STR("EXCLUDE"));
    }
}

/* "t._metadata.*": the grammar has a star behind one name only. Behind the star nothing of the name is left to be spelled. */
static bool take_metadata_star(struct speller *s)
{
    const bool is_name = s->token.kind == SL_TOK_WORD || s->token.kind == SL_TOK_BACKTICK ||
                         s->token.kind == SL_TOK_DQUOTE;
    struct sl_lexer ahead = s->lexer;
    struct sl_token token = is_name && !s->after_dot ? sl_lex(&ahead) : s->token;
    if (!is_name || s->after_dot || !sl_token_is(&token, ".")) {
        return false;
    }
    token = sl_lex(&ahead);
    const struct sl_token dot = sl_lex(&ahead);
    const struct sl_token star = sl_lex(&ahead);
    if (!sl_token_is(&token, SL_METADATA_NAME) || !sl_token_is(&dot, ".") || !sl_token_is(&star, "*")) {
        return false;
    }
    replace(s, s->token.begin, s->token.begin, SL_STR("unnest("));
    if (s->token.kind == SL_TOK_BACKTICK) {
        replace_quoted(s, &s->token);
    }
    replace(s, dot.begin, star.end, SL_STR(")"));
    s->lexer = ahead;
    s->previous = star;
    s->in_name = false;
    return true;
}

static silt_status spell_token(struct speller *s, silt_error *err)
{
    bool taken = false;
    bool after_delta = s->after_dot && sl_token_is(&s->previous, ".");

    if (take_metadata_star(s)) {
        return SILT_OK;
    }
    if (s->in_name) {
        SL_TRY(take_clause(s, &taken, err));
        if (!taken) {
            SL_TRY(take_suffix(s, &taken, err));
        }
        if (taken) {
            return SILT_OK;
        }
    }
    copy_until(s, s->token.begin);
    note_name(s, s->out->text.len);
    if (s->token.kind == SL_TOK_BACKTICK || (s->token.kind == SL_TOK_STRING && after_delta)) {
        replace_quoted(s, &s->token);
    } else if (sl_token_is(&s->token, "<=>")) {
        replace(s, s->token.begin, s->token.end, SL_STR(" IS NOT DISTINCT FROM "));
    } else if (s->token.kind == SL_TOK_PARAM && sl_str_eq_c(s->token.text, "?")) {
        number_mark(s);
    } else if (s->token.kind == SL_TOK_WORD) {
        spell_type(s);
        drop_call_brackets(s);
        spell_except(s);
        quote_at(s);
        SL_TRY(spell_binary(s, err));
    }
    note_bracket(s);
    s->previous = s->token;
    return SILT_OK;
}

/*
 * A statement that names a table where DuckDB's grammar has a query for what is no table of its own: SUMMARIZE t becomes
 * SUMMARIZE FROM t, and COPY t TO becomes COPY (FROM t) TO. Called behind the first token.
 */
static void spell_shorthand(struct speller *s)
{
    static const char *const starts[] = {"SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "PIVOT", "UNPIVOT"};
    struct sl_lexer ahead = s->lexer;
    const struct sl_token name = sl_lex(&ahead);
    struct sl_token token = name;

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (sl_token_is(&name, starts[i])) {
            return;
        }
    }
    if (sl_token_is(&s->previous, "SUMMARIZE") && name.kind != SL_TOK_END) {
        replace(s, name.begin, name.begin, SL_STR("FROM "));
    }
    if (!sl_token_is(&s->previous, "COPY")) {
        return;
    }
    while (token.kind != SL_TOK_END && token.kind != SL_TOK_BAD && !sl_token_is(&token, "TO")) {
        if (sl_token_is(&token, "FROM") || sl_token_is(&token, "(")) {
            return; /* rows go in, or columns are chosen */
        }
        token = sl_lex(&ahead);
    }
    if (token.kind == SL_TOK_WORD && token.begin > name.begin) {
        replace(s, name.begin, name.begin, SL_STR("(FROM "));
        s->query_end = token.begin;
    }
}

silt_status sl_spell(struct sl_str source, struct sl_spelled *out, silt_error *err)
{
    struct speller s = {.source = source, .out = out, .lexer = {.text = source}};

    s.previous.kind = SL_TOK_END;
    for (;;) {
        s.token = sl_lex(&s.lexer);
        if (s.token.kind == SL_TOK_END) {
            break;
        }
        const bool first = s.previous.kind == SL_TOK_END;
        if (s.query_end > 0 && s.token.begin == s.query_end) {
            replace(&s, s.query_end, s.query_end, SL_STR(") "));
        }
        SL_TRY(spell_token(&s, err));
        if (first) {
            spell_shorthand(&s);
        }
    }
    copy_until(&s, source.len);
    return sl_buf_status(&out->text, err);
}
