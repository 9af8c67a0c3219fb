/*
 * A table as a statement names it, with the time travel behind it: name parts, delta.`path`, a path in quotes; VERSION AS OF, TIMESTAMP AS
 * OF (with FOR before them, SYSTEM_VERSION and SYSTEM_TIME as well), AT (VERSION => n), and the suffixes @v3 and
 * @20260101120000000.
 */
#include "base/error.h"
#include "base/time.h"
#include "base/uri.h"
#include "sql/statement.h"
#include "sql/table_name.h"

#define MAX_PARTS (sizeof(((struct sl_table_name *)NULL)->parts) / sizeof(struct sl_str))

static struct sl_token peek(const struct sl_lexer *lexer)
{
    struct sl_lexer copy = *lexer;
    return sl_lex(&copy);
}

static silt_status expected(const struct sl_token *token, const char *what, silt_error *err)
{
    silt_status status = token->kind == SL_TOK_END ? sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR",
                                                             "expected %s, found the end of the statement", what)
                                                   : sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR",
                                                             "expected %s, found %.*s", what, SL_FMT(token->text));
    sl_error_position(err, token->begin);
    return status;
}

static bool is_name_token(const struct sl_token *token)
{
    return token->kind == SL_TOK_WORD || token->kind == SL_TOK_BACKTICK || token->kind == SL_TOK_DQUOTE;
}

/* The parts; *last is the final token taken. */
static silt_status parse_parts(struct sl_arena *arena, struct sl_lexer *lexer, struct sl_table_name *out,
                               silt_error *err)
{
    bool after_delta = false;
    for (;;) {
        struct sl_token token = peek(lexer);
        bool quoted = token.kind == SL_TOK_STRING || token.kind == SL_TOK_DQUOTE;
        if (!is_name_token(&token) && !(token.kind == SL_TOK_STRING && (out->n_parts == 0 || after_delta))) {
            return expected(&token, "a table", err);
        }
        (void)sl_lex(lexer);
        if (out->n_parts >= MAX_PARTS) {
            return expected(&token, "at most four parts of a name", err);
        }
        struct sl_str name = sl_token_name(arena, &token);
        if (name.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        if (name.len == 0) {
            return expected(&token, "a table", err);
        }
        out->parts[out->n_parts++] = name;
        out->end = token.end;
        if (out->n_parts == 1) {
            out->begin = token.begin;
            out->quoted_path = quoted;
            out->is_path = token.kind == SL_TOK_STRING;
        }
        after_delta = out->n_parts == 1 && token.kind == SL_TOK_WORD && sl_token_is(&token, "delta");
        token = peek(lexer);
        if (!sl_token_is(&token, ".")) {
            return SILT_OK;
        }
        (void)sl_lex(lexer);
    }
}

/* delta.`path`: the path is the second part. A quoted name with a slash or a scheme is a path, too. */
static void recognise_path(struct sl_table_name *name)
{
    if (name->n_parts == 2 && sl_str_eq_nocase(name->parts[0], SL_STR("delta"))) {
        name->parts[0] = name->parts[1];
        name->n_parts = 1;
        name->is_path = true;
        name->quoted_path = false;
    } else if (name->n_parts == 1 && name->quoted_path &&
               (sl_str_find(name->parts[0], SL_STR("/")) != SIZE_MAX || sl_uri_scheme(name->parts[0]).ptr != NULL)) {
        name->is_path = true;
    }
}

/* yyyyMMddHHmmssSSS */
static bool parse_compact_time(struct sl_str digits, int64_t *us)
{
    static const int widths[] = {4, 2, 2, 2, 2, 2, 3};
    int64_t field[7];
    size_t pos = 0;
    if (digits.len != 17) {
        return false;
    }
    for (size_t i = 0; i < 7; i++) {
        if (!sl_str_to_i64(sl_str_sub(digits, pos, pos + (size_t)widths[i]), &field[i]) || field[i] < 0) {
            return false;
        }
        pos += (size_t)widths[i];
    }
    if (!sl_civil_valid(field[0], (int)field[1], (int)field[2]) || field[3] > 23 || field[4] > 59 || field[5] > 59) {
        return false;
    }
    *us = sl_days_from_civil(field[0], (int)field[1], (int)field[2]) * SL_US_PER_DAY +
          ((field[3] * 60 + field[4]) * 60 + field[5]) * 1000000 + field[6] * 1000;
    return true;
}

bool sl_travel_suffix_parse(struct sl_str suffix, struct sl_table_name *name)
{
    int64_t value = 0;
    if (suffix.len > 1 && (suffix.ptr[0] == 'v' || suffix.ptr[0] == 'V') && suffix.ptr[1] >= '0' &&
        suffix.ptr[1] <= '9' && sl_str_to_i64(sl_str_sub(suffix, 1, suffix.len), &value)) {
        name->travel = SL_TRAVEL_VERSION;
        name->version = value;
        return true;
    }
    if (parse_compact_time(suffix, &value)) {
        name->travel = SL_TRAVEL_TIMESTAMP;
        name->timestamp_us = value;
        name->timestamp_has_zone = false;
        return true;
    }
    return false;
}

/* t@v3: the suffix is written behind an unquoted name, or stands inside the quotes of a path. */
static silt_status parse_suffix(struct sl_lexer *lexer, struct sl_table_name *name, silt_error *err)
{
    struct sl_str *last = &name->parts[name->n_parts - 1];
    struct sl_token token = peek(lexer);

    if (sl_token_is(&token, "@") && token.begin == name->end) {
        (void)sl_lex(lexer);
        token = sl_lex(lexer);
        if ((token.kind != SL_TOK_WORD && token.kind != SL_TOK_NUMBER) || !sl_travel_suffix_parse(token.text, name)) {
            return expected(&token, "a version as in @v3 or a time as in @20260131120000000", err);
        }
        name->end = token.end;
        return SILT_OK;
    }
    for (size_t i = last->len; i > 1; i--) {
        if (last->ptr[i - 1] == '@') {
            if (sl_travel_suffix_parse(sl_str_sub(*last, i, last->len), name)) {
                *last = sl_str_sub(*last, 0, i - 1);
            }
            break;
        }
    }
    return SILT_OK;
}

static silt_status parse_version(struct sl_arena *arena, struct sl_lexer *lexer, struct sl_table_name *name,
                                 silt_error *err)
{
    struct sl_token token = sl_lex(lexer);
    struct sl_str text = token.text;
    bool minus = sl_token_is(&token, "-");
    int64_t value = 0;

    if (minus) {
        token = sl_lex(lexer);
        text = token.text;
    }
    if (token.kind == SL_TOK_STRING && !minus) {
        text = sl_token_string(arena, &token);
        if (text.ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    if ((token.kind != SL_TOK_NUMBER && token.kind != SL_TOK_STRING) || !sl_str_to_i64(text, &value)) {
        return expected(&token, "a version number", err);
    }
    name->travel = SL_TRAVEL_VERSION;
    name->version = minus ? -value : value;
    name->end = token.end;
    return SILT_OK;
}

static silt_status parse_timestamp(struct sl_arena *arena, struct sl_lexer *lexer, struct sl_table_name *name,
                                   silt_error *err)
{
    struct sl_token token = sl_lex(lexer);
    struct sl_str text;

    if (sl_token_is(&token, "TIMESTAMP") || sl_token_is(&token, "DATE") || sl_token_is(&token, "TIMESTAMPTZ")) {
        token = sl_lex(lexer);
    }
    if (token.kind != SL_TOK_STRING) {
        return expected(&token, "a timestamp in quotes", err);
    }
    text = sl_token_string(arena, &token);
    if (text.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    if (!sl_timestamp_parse(text, &name->timestamp_us, &name->timestamp_has_zone)) {
        silt_status status = sl_fail(err, SILT_EINVALID, "DELTA_INVALID_TIMESTAMP_FORMAT",
                                     "%.*s is no timestamp; write yyyy-MM-dd[ HH:mm:ss[.SSS]][zone]", SL_FMT(text));
        sl_error_position(err, token.begin);
        return status;
    }
    name->travel = SL_TRAVEL_TIMESTAMP;
    name->end = token.end;
    return SILT_OK;
}

/* AT (VERSION => n) as DuckDB spells it. */
static silt_status parse_at(struct sl_arena *arena, struct sl_lexer *lexer, struct sl_table_name *name, silt_error *err)
{
    struct sl_token token;
    bool is_version;

    (void)sl_lex(lexer); /* AT */
    (void)sl_lex(lexer); /* ( */
    token = sl_lex(lexer);
    is_version = sl_token_is(&token, "VERSION");
    if (!is_version && !sl_token_is(&token, "TIMESTAMP")) {
        return expected(&token, "VERSION or TIMESTAMP", err);
    }
    token = sl_lex(lexer);
    if (!sl_token_is(&token, "=>")) {
        return expected(&token, "=>", err);
    }
    SL_TRY(is_version ? parse_version(arena, lexer, name, err) : parse_timestamp(arena, lexer, name, err));
    token = sl_lex(lexer);
    if (!sl_token_is(&token, ")")) {
        return expected(&token, ")", err);
    }
    name->end = token.end;
    return SILT_OK;
}

enum sl_travel_clause sl_travel_clause_at(struct sl_lexer *lexer)
{
    struct sl_lexer ahead = *lexer;
    struct sl_token first = sl_lex(&ahead);
    enum sl_travel_clause kind = SL_CLAUSE_NONE;

    if (sl_token_is(&first, "FOR")) {
        first = sl_lex(&ahead);
    }
    if (sl_token_is(&first, "VERSION") || sl_token_is(&first, "SYSTEM_VERSION")) {
        kind = SL_CLAUSE_VERSION;
    } else if (sl_token_is(&first, "TIMESTAMP") || sl_token_is(&first, "SYSTEM_TIME")) {
        kind = SL_CLAUSE_TIMESTAMP;
    }
    struct sl_token as = sl_lex(&ahead);
    struct sl_token of = sl_lex(&ahead);
    if (kind == SL_CLAUSE_NONE || !sl_token_is(&as, "AS") || !sl_token_is(&of, "OF")) {
        return SL_CLAUSE_NONE;
    }
    *lexer = ahead;
    return kind;
}

static bool at_duckdb_clause(const struct sl_lexer *lexer)
{
    struct sl_lexer ahead = *lexer;
    struct sl_token at = sl_lex(&ahead);
    struct sl_token open = sl_lex(&ahead);
    return sl_token_is(&at, "AT") && sl_token_is(&open, "(");
}

silt_status sl_table_name_parse(struct sl_arena *arena, struct sl_lexer *lexer, struct sl_table_name *out,
                                silt_error *err)
{
    *out = (struct sl_table_name){0};
    SL_TRY(parse_parts(arena, lexer, out, err));
    recognise_path(out);
    SL_TRY(parse_suffix(lexer, out, err));
    switch (sl_travel_clause_at(lexer)) {
    case SL_CLAUSE_VERSION: return parse_version(arena, lexer, out, err);
    case SL_CLAUSE_TIMESTAMP: return parse_timestamp(arena, lexer, out, err);
    case SL_CLAUSE_NONE: break;
    }
    return at_duckdb_clause(lexer) ? parse_at(arena, lexer, out, err) : SILT_OK;
}
