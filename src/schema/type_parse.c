/*
 * Reading Spark's type texts: "BIGINT", "decimal(10, 2)", "STRUCT<a: INT NOT NULL COMMENT 'x', b: ARRAY<STRING>>".
 *
 * Called by the readers of DDL and of CAST. CHAR and VARCHAR become STRING as in Spark; the text that Spark keeps in
 * __CHAR_VARCHAR_TYPE_STRING is made by sl_type_parse_column. Pure; any thread.
 */
#include "base/decimal.h"
#include "base/error.h"
#include "json/writer.h"
#include "schema/schema_int.h"

#define MAX_TYPE_FIELDS 100000
#define MAX_CHAR_LENGTH 2147483647

struct cursor {
    struct sl_arena *arena;
    struct sl_str text;
    size_t pos;
    unsigned depth;
    bool has_char; /* a CHAR or VARCHAR was met */
    silt_error *err;
};

enum alias_form {
    PLAIN,
    DECIMAL,
    CHARACTERS
};

static const struct {
    const char *name;
    silt_type_kind kind;
    enum alias_form form;
} aliases[] = {{"boolean", SILT_TYPE_BOOLEAN, PLAIN},
               {"bool", SILT_TYPE_BOOLEAN, PLAIN},
               {"tinyint", SILT_TYPE_BYTE, PLAIN},
               {"byte", SILT_TYPE_BYTE, PLAIN},
               {"smallint", SILT_TYPE_SHORT, PLAIN},
               {"short", SILT_TYPE_SHORT, PLAIN},
               {"int", SILT_TYPE_INTEGER, PLAIN},
               {"integer", SILT_TYPE_INTEGER, PLAIN},
               {"bigint", SILT_TYPE_LONG, PLAIN},
               {"long", SILT_TYPE_LONG, PLAIN},
               {"float", SILT_TYPE_FLOAT, PLAIN},
               {"real", SILT_TYPE_FLOAT, PLAIN},
               {"double", SILT_TYPE_DOUBLE, PLAIN},
               {"string", SILT_TYPE_STRING, PLAIN},
               {"text", SILT_TYPE_STRING, PLAIN},
               {"varchar", SILT_TYPE_STRING, CHARACTERS},
               {"char", SILT_TYPE_STRING, CHARACTERS},
               {"character", SILT_TYPE_STRING, CHARACTERS},
               {"binary", SILT_TYPE_BINARY, PLAIN},
               {"blob", SILT_TYPE_BINARY, PLAIN},
               {"decimal", SILT_TYPE_DECIMAL, DECIMAL},
               {"dec", SILT_TYPE_DECIMAL, DECIMAL},
               {"numeric", SILT_TYPE_DECIMAL, DECIMAL},
               {"date", SILT_TYPE_DATE, PLAIN},
               {"timestamp", SILT_TYPE_TIMESTAMP, PLAIN},
               {"timestamp_ltz", SILT_TYPE_TIMESTAMP, PLAIN},
               {"timestamp_ntz", SILT_TYPE_TIMESTAMP_NTZ, PLAIN},
               {"variant", SILT_TYPE_VARIANT, PLAIN},
               {"void", SILT_TYPE_VOID, PLAIN},
               {"null", SILT_TYPE_VOID, PLAIN}};

static silt_status fail_syntax(const struct cursor *c, const char *expected)
{
    const silt_status status = sl_fail(c->err, SILT_ESYNTAX, NULL, "type '%.*s': expected %s at byte %zu",
                                       SL_FMT(c->text), expected, c->pos);
    sl_error_position(c->err, c->pos);
    return status;
}

static bool is_space(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

static void skip_space(struct cursor *c)
{
    while (c->pos < c->text.len && is_space(c->text.ptr[c->pos])) {
        c->pos++;
    }
}

static bool take_char(struct cursor *c, char ch)
{
    skip_space(c);
    if (c->pos < c->text.len && c->text.ptr[c->pos] == ch) {
        c->pos++;
        return true;
    }
    return false;
}

static bool is_word_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' ||
           (unsigned char)ch >= 0x80;
}

static struct sl_str peek_word(struct cursor *c)
{
    skip_space(c);
    size_t end = c->pos;
    while (end < c->text.len && is_word_char(c->text.ptr[end])) {
        end++;
    }
    return sl_str_sub(c->text, c->pos, end);
}

static bool take_word(struct cursor *c, const char *word)
{
    const struct sl_str found = peek_word(c);
    if (found.len == 0 || !sl_str_eq_nocase(found, sl_str_from(word))) {
        return false;
    }
    c->pos += found.len;
    return true;
}

/* `quoted` with doubled backticks, or a plain word. */
static silt_status parse_name(struct cursor *c, struct sl_str *out)
{
    if (!take_char(c, '`')) {
        *out = peek_word(c);
        c->pos += out->len;
        if (out->len == 0) {
            return fail_syntax(c, "a column name");
        }
        *out = sl_arena_copy(c->arena, *out);
        return out->ptr != NULL ? SILT_OK : sl_fail_nomem(c->err);
    }
    char *name = sl_arena_alloc(c->arena, c->text.len - c->pos + 1);
    if (name == NULL) {
        return sl_fail_nomem(c->err);
    }
    size_t len = 0;
    while (c->pos < c->text.len) {
        const char ch = c->text.ptr[c->pos++];
        if (ch == '`') {
            if (c->pos >= c->text.len || c->text.ptr[c->pos] != '`') {
                name[len] = '\0';
                *out = sl_str_make(name, len);
                return SILT_OK;
            }
            c->pos++;
        }
        name[len++] = ch;
    }
    return fail_syntax(c, "a closing backtick");
}

/* 'text' or "text"; a doubled quote or a backslash keeps the next quote inside. */
static silt_status parse_comment(struct cursor *c, struct silt_field *field)
{
    skip_space(c);
    const char quote = c->pos < c->text.len ? c->text.ptr[c->pos] : '\0';
    if (quote != '\'' && quote != '"') {
        return fail_syntax(c, "a comment in quotes");
    }
    c->pos++;
    struct sl_buf raw;
    struct sl_buf json;
    sl_buf_init(&raw, c->arena->env);
    sl_buf_init(&json, c->arena->env);
    bool closed = false;
    while (c->pos < c->text.len && !closed) {
        const char ch = c->text.ptr[c->pos++];
        const bool more = c->pos < c->text.len;
        if (ch == '\\' && more) {
            sl_buf_put_char(&raw, c->text.ptr[c->pos++]);
        } else if (ch == quote && more && c->text.ptr[c->pos] == quote) {
            sl_buf_put_char(&raw, quote);
            c->pos++;
        } else if (ch == quote) {
            closed = true;
        } else {
            sl_buf_put_char(&raw, ch);
        }
    }
    sl_buf_put_char(&json, '"');
    sl_json_escape(&json, sl_buf_view(&raw));
    sl_buf_put_char(&json, '"');
    silt_status status = sl_buf_status(&raw, c->err);
    status = status != SILT_OK ? status : sl_buf_status(&json, c->err);
    if (status == SILT_OK && !closed) {
        status = fail_syntax(c, "a closing quote");
    }
    if (status == SILT_OK && !sl_field_add_metadata(c->arena, field, SL_STR("comment"), sl_buf_view(&json))) {
        status = sl_fail_nomem(c->err);
    }
    sl_buf_release(&json);
    sl_buf_release(&raw);
    return status;
}

static silt_status parse_number(struct cursor *c, uint64_t max, uint64_t *out)
{
    const struct sl_str word = peek_word(c);
    if (!sl_str_to_u64(word, out) || *out > max) {
        return fail_syntax(c, "a number in range");
    }
    c->pos += word.len;
    return SILT_OK;
}

static silt_status parse_decimal(struct cursor *c, struct silt_type *type)
{
    uint64_t precision = 10;
    uint64_t scale = 0;
    if (take_char(c, '(')) {
        SL_TRY(parse_number(c, SL_DECIMAL_MAX_PRECISION, &precision));
        if (take_char(c, ',')) {
            SL_TRY(parse_number(c, SL_DECIMAL_MAX_PRECISION, &scale));
        }
        if (!take_char(c, ')')) {
            return fail_syntax(c, "')'");
        }
    }
    if (precision == 0 || scale > precision) {
        return fail_syntax(c, "a precision of 1 to 38 and a scale not above it");
    }
    type->precision = (uint8_t)precision;
    type->scale = (uint8_t)scale;
    return SILT_OK;
}

static silt_status parse_characters(struct cursor *c, const char *name, struct silt_type *type)
{
    uint64_t length = 0;
    if (!take_char(c, '(')) {
        const silt_status status = fail_syntax(c, "a length in parentheses");
        sl_error_hint(c->err, "STRING is a text of any length");
        return status;
    }
    SL_TRY(parse_number(c, MAX_CHAR_LENGTH, &length));
    if (length == 0 || !take_char(c, ')')) {
        return fail_syntax(c, "a length of at least 1 and ')'");
    }
    /* Kept until the whole text is read; the stored type is a plain string. */
    const char *short_name = name[0] == 'v' ? "varchar" : "char";
    const char *text = sl_arena_printf(c->arena, "%s(%llu)", short_name, (unsigned long long)length);
    if (text == NULL) {
        return sl_fail_nomem(c->err);
    }
    type->json = sl_str_from(text);
    c->has_char = true;
    return SILT_OK;
}

static silt_status parse_type(struct cursor *c, struct silt_type **out);

static silt_status parse_struct_field(struct cursor *c, struct silt_field *field)
{
    SL_TRY(parse_name(c, &field->name));
    (void)take_char(c, ':'); /* optional in Spark */
    struct silt_type *type = NULL;
    SL_TRY(parse_type(c, &type));
    field->type = type;
    field->nullable = true;
    if (take_word(c, "not")) {
        if (!take_word(c, "null")) {
            return fail_syntax(c, "NULL after NOT");
        }
        field->nullable = false;
    }
    return take_word(c, "comment") ? parse_comment(c, field) : SILT_OK;
}

static silt_status parse_struct(struct cursor *c, struct silt_type *type)
{
    type->kind = SILT_TYPE_STRUCT;
    size_t cap = 0;
    if (!take_char(c, '<')) {
        return fail_syntax(c, "'<'");
    }
    if (take_char(c, '>')) {
        return SILT_OK;
    }
    do {
        if (type->n_fields == cap) {
            cap = cap == 0 ? 8 : cap * 2;
            struct silt_field *grown = cap <= MAX_TYPE_FIELDS ? sl_arena_alloc_array(c->arena, cap, sizeof *grown)
                                                              : NULL;
            if (grown == NULL) {
                return cap > MAX_TYPE_FIELDS ? sl_fail(c->err, SILT_ELIMIT, NULL, "a struct has too many fields")
                                             : sl_fail_nomem(c->err);
            }
            if (type->n_fields > 0) {
                memcpy(grown, type->fields, type->n_fields * sizeof *grown);
            }
            type->fields = grown;
        }
        SL_TRY(parse_struct_field(c, &type->fields[type->n_fields]));
        type->n_fields++;
    } while (take_char(c, ','));
    return take_char(c, '>') ? SILT_OK : fail_syntax(c, "',' or '>'");
}

static silt_status parse_collection(struct cursor *c, bool is_map, struct silt_type *type)
{
    struct silt_type *child = NULL;
    type->kind = is_map ? SILT_TYPE_MAP : SILT_TYPE_ARRAY;
    type->contains_null = true;
    if (!take_char(c, '<')) {
        return fail_syntax(c, "'<'");
    }
    if (is_map) {
        SL_TRY(parse_type(c, &child));
        type->key = child;
        if (!take_char(c, ',')) {
            return fail_syntax(c, "','");
        }
    }
    SL_TRY(parse_type(c, &child));
    type->element = child;
    return take_char(c, '>') ? SILT_OK : fail_syntax(c, "'>'");
}

static silt_status parse_atomic(struct cursor *c, struct silt_type *type)
{
    const struct sl_str word = peek_word(c);
    if (word.len == 0) {
        return fail_syntax(c, "a type");
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (!sl_str_eq_nocase(word, sl_str_from(aliases[i].name))) {
            continue;
        }
        c->pos += word.len;
        type->kind = aliases[i].kind;
        if (aliases[i].form == DECIMAL) {
            return parse_decimal(c, type);
        }
        return aliases[i].form == CHARACTERS ? parse_characters(c, aliases[i].name, type) : SILT_OK;
    }
    const silt_status status = sl_fail(c->err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_DATA_TYPES",
                                       "the type '%.*s' is not supported", SL_FMT(word));
    sl_error_hint(c->err,
                  "there are BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, DECIMAL(p,s), STRING, BINARY, DATE, "
                  "TIMESTAMP, TIMESTAMP_NTZ, ARRAY<T>, MAP<K, V> and STRUCT<a: T>");
    sl_error_position(c->err, c->pos);
    return status;
}

static silt_status parse_type(struct cursor *c, struct silt_type **out)
{
    if (c->depth >= SL_SCHEMA_MAX_DEPTH) {
        return sl_fail(c->err, SILT_ELIMIT, NULL, "a type is nested deeper than %d levels", SL_SCHEMA_MAX_DEPTH);
    }
    struct silt_type *type = sl_arena_alloc_zero(c->arena, sizeof *type);
    if (type == NULL) {
        return sl_fail_nomem(c->err);
    }
    *out = type;
    c->depth++;
    silt_status status;
    if (take_word(c, "struct")) {
        status = parse_struct(c, type);
    } else if (take_word(c, "array")) {
        status = parse_collection(c, false, type);
    } else if (take_word(c, "map")) {
        status = parse_collection(c, true, type);
    } else {
        status = parse_atomic(c, type);
    }
    c->depth--;
    if (status == SILT_OK && type->kind == SILT_TYPE_STRING && take_word(c, "collate")) {
        status = sl_fail(c->err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_DATA_TYPES",
                         "collated strings are not supported");
    }
    return status;
}

/* The types were made by this parser, in its arena, and nobody else has seen them yet. */
static void drop_characters(const struct silt_type *type)
{
    struct silt_type *own = (struct silt_type *)type;
    own->json = (struct sl_str){NULL, 0};
    for (size_t i = 0; i < type->n_fields; i++) {
        drop_characters(type->fields[i].type);
    }
    if (type->key != NULL) {
        drop_characters(type->key);
    }
    if (type->element != NULL) {
        drop_characters(type->element);
    }
}

/* Spark keeps the text of the whole column's type, also when the CHAR or VARCHAR is nested in it. */
static silt_status keep_characters(struct sl_arena *arena, const struct silt_type *type, struct silt_field *field,
                                   silt_error *err)
{
    struct sl_buf text;
    struct sl_buf json;
    sl_buf_init(&text, arena->env);
    sl_buf_init(&json, arena->env);
    sl_type_print(&text, type);
    sl_buf_put_char(&json, '"');
    sl_json_escape(&json, sl_buf_view(&text));
    sl_buf_put_char(&json, '"');
    silt_status status = sl_buf_status(&text, err);
    status = status != SILT_OK ? status : sl_buf_status(&json, err);
    if (status == SILT_OK &&
        !sl_field_add_metadata(arena, field, SL_STR("__CHAR_VARCHAR_TYPE_STRING"), sl_buf_view(&json))) {
        status = sl_fail_nomem(err);
    }
    sl_buf_release(&json);
    sl_buf_release(&text);
    return status;
}

silt_status sl_type_parse_prefix(struct sl_arena *arena, struct sl_str text, size_t *used, const struct silt_type **out,
                                 silt_error *err)
{
    struct cursor c = {arena, text, 0, 0, false, err};
    struct silt_type *type = NULL;
    *out = NULL;
    *used = 0;
    SL_TRY(parse_type(&c, &type));
    drop_characters(type);
    *used = c.pos;
    *out = type;
    return SILT_OK;
}

static silt_status expect_end(struct cursor *c)
{
    skip_space(c);
    return c->pos == c->text.len ? SILT_OK : fail_syntax(c, "the end of the type");
}

silt_status sl_type_parse(struct sl_arena *arena, struct sl_str text, const struct silt_type **out, silt_error *err)
{
    struct cursor c = {arena, text, 0, 0, false, err};
    struct silt_type *type = NULL;
    *out = NULL;
    SL_TRY(parse_type(&c, &type));
    SL_TRY(expect_end(&c));
    drop_characters(type);
    *out = type;
    return SILT_OK;
}

silt_status sl_field_characters(struct sl_arena *arena, const struct silt_field *field, const struct silt_type **out,
                                silt_error *err)
{
    *out = NULL;
    const struct sl_str text = sl_field_meta_text(field, SL_STR("__CHAR_VARCHAR_TYPE_STRING"));
    if (text.ptr == NULL) {
        return SILT_OK;
    }
    struct cursor c = {arena, text, 0, 0, false, NULL};
    struct silt_type *type = NULL;
    silt_status status = parse_type(&c, &type);
    if (status == SILT_OK) {
        status = expect_end(&c);
    }
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    *out = status == SILT_OK ? type : NULL;
    return SILT_OK;
}

uint32_t sl_type_char_length(const struct silt_type *characters)
{
    uint64_t length = 0;
    const struct sl_str text = characters->json;
    const size_t head = sizeof("char(") - 1;
    return characters->kind == SILT_TYPE_STRING && sl_str_starts_with(text, SL_STR("char(")) &&
                   sl_str_to_u64(sl_str_sub(text, head, text.len - 1), &length)
               ? (uint32_t)length
               : 0;
}

bool sl_field_has_char(const struct silt_field *field)
{
    struct sl_str text = sl_field_meta_text(field, SL_STR("__CHAR_VARCHAR_TYPE_STRING"));
    for (size_t at = sl_str_find(text, SL_STR("char(")); at != SIZE_MAX; at = sl_str_find(text, SL_STR("char("))) {
        if (at < 3 || !sl_str_eq_c(sl_str_sub(text, at - 3, at), "var")) {
            return true;
        }
        text = sl_str_sub(text, at + 1, text.len);
    }
    return false;
}

silt_status sl_type_parse_column(struct sl_arena *arena, struct sl_str text, struct silt_field *field, silt_error *err)
{
    struct cursor c = {arena, text, 0, 0, false, err};
    struct silt_type *type = NULL;
    SL_TRY(parse_type(&c, &type));
    SL_TRY(expect_end(&c));
    if (c.has_char) {
        SL_TRY(keep_characters(arena, type, field, err));
        drop_characters(type);
    }
    field->type = type;
    return SILT_OK;
}
