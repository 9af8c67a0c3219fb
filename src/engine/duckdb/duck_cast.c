/*
 * Store assignment: the expression that turns a column of a query into a column of the table, as Spark's ANSI casts do. DuckDB's
 * own CAST is taken where it agrees; it rounds where Spark truncates (fractions to integers), reads more texts as numbers, and
 * gives other texts for bytes and instants. What would lose or invent data is an error of the row, what makes no sense is
 * refused at once. Struct fields go by name: a missing one is NULL, one too many is refused. They leave under the names that files have
 * for them, which are other ones where the table has column mapping; a variant leaves as metadata and value.
 *
 * Pure; any thread.
 */
#include "duck.h"

#include <stdio.h>

#include "base/error.h"

/* Nesting of types that is followed. */
#define MAX_DEPTH SL_SCHEMA_MAX_DEPTH

enum family {
    FAMILY_NULL,
    FAMILY_BOOLEAN,
    FAMILY_INTEGER,
    FAMILY_FRACTION, /* floats and decimals */
    FAMILY_TEXT,
    FAMILY_BYTES,
    FAMILY_DATE,
    FAMILY_TIMESTAMP,
    FAMILY_INSTANT, /* timestamp with time zone */
    FAMILY_STRUCT,
    FAMILY_LIST,
    FAMILY_MAP,
    FAMILY_VARIANT,
    FAMILY_OTHER /* has a text form and nothing else in common with Delta's types */
};

/* A type of the table, and the same as files hold it: of the same shape, with other names. */
struct target {
    const struct silt_type *type;
    const struct silt_type *stored;
};

struct emit {
    struct sl_buf *sql;
    const struct silt_field *column; /* top-level, for messages */
    silt_error *err;
    unsigned depth;
};

/* DuckDB's own type; the C interface has no name for it. */
#define TYPE_VARIANT 41

static enum family family_of(duckdb_type id)
{
    switch ((int)id) {
    case TYPE_VARIANT: return FAMILY_VARIANT;
    case DUCKDB_TYPE_SQLNULL: return FAMILY_NULL;
    case DUCKDB_TYPE_BOOLEAN: return FAMILY_BOOLEAN;
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT: return FAMILY_INTEGER;
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_DECIMAL: return FAMILY_FRACTION;
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_ENUM: return FAMILY_TEXT;
    case DUCKDB_TYPE_BLOB: return FAMILY_BYTES;
    case DUCKDB_TYPE_DATE: return FAMILY_DATE;
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS: return FAMILY_TIMESTAMP;
    case DUCKDB_TYPE_TIMESTAMP_TZ: return FAMILY_INSTANT;
    case DUCKDB_TYPE_STRUCT: return FAMILY_STRUCT;
    case DUCKDB_TYPE_LIST:
    case DUCKDB_TYPE_ARRAY: return FAMILY_LIST;
    case DUCKDB_TYPE_MAP: return FAMILY_MAP;
    default: return FAMILY_OTHER;
    }
}

static silt_status refuse(const struct emit *e, const struct silt_type *to, const char *why)
{
    struct sl_buf type;
    sl_buf_init(&type, e->sql->env);
    sl_type_print(&type, to);
    const silt_status status = sl_fail(e->err, SILT_ESCHEMA, "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
                                       "cannot write to column %.*s: %s cannot be stored as %s",
                                       SL_FMT(e->column->name), why, sl_buf_cstr(&type));
    sl_buf_release(&type);
    return status;
}

static silt_status put_plain(const struct emit *e, const char *before, struct sl_str value, const char *after,
                             const struct silt_type *to)
{
    sl_buf_put_c(e->sql, "CAST(");
    sl_buf_put_c(e->sql, before);
    sl_buf_put_str(e->sql, value);
    sl_buf_put_c(e->sql, after);
    sl_buf_put_c(e->sql, " AS ");
    SL_TRY(sl_duck_put_stored_type(e->sql, to, e->err));
    sl_buf_put_char(e->sql, ')');
    return SILT_OK;
}

/* Only digits with a sign make an integer: DuckDB would round "1.5" and take "1e3", "0x1f" and "1_000". */
static silt_status put_text_to_integer(const struct emit *e, struct sl_str value, const struct silt_type *to)
{
    struct sl_buf *sql = e->sql;
    sl_buf_printf(sql, "CASE WHEN %.*s IS NULL THEN NULL WHEN regexp_full_match(%.*s, '\\s*[+-]?[0-9]+\\s*') THEN ",
                  SL_FMT(value), SL_FMT(value));
    SL_TRY(put_plain(e, "trim(", value, ")", to));
    sl_buf_put_c(sql, " ELSE error(");
    struct sl_buf text;
    sl_buf_init(&text, sql->env);
    sl_buf_printf(&text, "[CAST_INVALID_INPUT] column %.*s: the text cannot be read as ", SL_FMT(e->column->name));
    sl_type_print(&text, to);
    sl_buf_put_c(&text, ": ");
    sl_duck_put_text(sql, sl_buf_view(&text));
    const silt_status status = sl_buf_status(&text, e->err);
    sl_buf_release(&text);
    sl_buf_printf(sql, " || left(%.*s, 40)) END", SL_FMT(value));
    return status;
}

static silt_status put_to_number(const struct emit *e, struct sl_str value, enum family from,
                                 const struct silt_type *to)
{
    const bool integer = to->kind >= SILT_TYPE_BYTE && to->kind <= SILT_TYPE_LONG;
    switch (from) {
    case FAMILY_TEXT: return integer ? put_text_to_integer(e, value, to) : put_plain(e, "trim(", value, ")", to);
    case FAMILY_FRACTION: return integer ? put_plain(e, "trunc(", value, ")", to) : put_plain(e, "", value, "", to);
    case FAMILY_NULL:
    case FAMILY_BOOLEAN:
    case FAMILY_INTEGER: return put_plain(e, "", value, "", to);
    default: return refuse(e, to, "a value that is no number");
    }
}

static silt_status put_to_text(const struct emit *e, struct sl_str value, enum family from, const struct silt_type *to)
{
    switch (from) {
    case FAMILY_BYTES: return put_plain(e, "decode(", value, ")", to);
    /* The wall clock of the session, without a zone behind it. */
    case FAMILY_INSTANT: return put_plain(e, "CAST(", value, " AS TIMESTAMP)", to);
    case FAMILY_STRUCT:
    case FAMILY_LIST:
    case FAMILY_MAP: return refuse(e, to, "a nested value");
    default: return put_plain(e, "", value, "", to);
    }
}

/* Parts of a variant from outside are checked before they get into a file. */
static silt_status put_variant(const struct emit *e, struct sl_str value, enum family from, const struct silt_type *to)
{
    struct sl_buf *sql = e->sql;
    if (from == FAMILY_NULL) {
        return put_plain(e, "", value, "", to);
    }
    if (from != FAMILY_VARIANT && from != FAMILY_STRUCT) {
        return refuse(e, to, "a value that is no variant");
    }
    sl_buf_printf(sql, "CASE WHEN %.*s IS NULL THEN NULL ", SL_FMT(value));
    if (from == FAMILY_VARIANT) {
        sl_buf_printf(sql, "ELSE variant_to_parquet_variant(%.*s) END", SL_FMT(value));
    } else {
        sl_buf_printf(
            sql,
            "WHEN silt_variant_bytes(%.*s) IS NOT NULL THEN struct_pack(metadata := struct_extract(%.*s, 'metadata'), "
            "\"value\" := struct_extract(%.*s, 'value')) END",
            SL_FMT(value), SL_FMT(value), SL_FMT(value));
    }
    return SILT_OK;
}

static silt_status put_leaf(const struct emit *e, struct sl_str value, enum family from, const struct silt_type *to)
{
    switch (to->kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
    case SILT_TYPE_DECIMAL: return put_to_number(e, value, from, to);
    case SILT_TYPE_STRING: return put_to_text(e, value, from, to);
    case SILT_TYPE_BOOLEAN:
        if (from > FAMILY_INTEGER && from != FAMILY_TEXT) {
            return refuse(e, to, "a value that is no truth value");
        }
        return put_plain(e, "", value, "", to);
    case SILT_TYPE_BINARY:
        if (from == FAMILY_TEXT) {
            return put_plain(e, "encode(", value, ")", to);
        }
        return from == FAMILY_BYTES || from == FAMILY_NULL ? put_plain(e, "", value, "", to)
                                                           : refuse(e, to, "a value that is no bytes");
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ:
        if (from != FAMILY_NULL && from != FAMILY_TEXT && from != FAMILY_DATE && from != FAMILY_TIMESTAMP &&
            from != FAMILY_INSTANT) {
            return refuse(e, to, "a value that is no date or time");
        }
        return put_plain(e, "", value, "", to);
    case SILT_TYPE_VARIANT: return put_variant(e, value, from, to);
    default: return put_plain(e, "", value, "", to); /* void */
    }
}

static silt_status put_value(struct emit *e, struct sl_str value, duckdb_logical_type from, struct target to);

/* The child of a struct by name, ignoring case; SIZE_MAX if there is none. */
static idx_t find_child(duckdb_logical_type from, struct sl_str name)
{
    const idx_t n = duckdb_struct_type_child_count(from);
    for (idx_t i = 0; i < n; i++) {
        char *child = duckdb_struct_type_child_name(from, i);
        const bool same = sl_str_eq_nocase(sl_str_from(child), name);
        duckdb_free(child);
        if (same) {
            return i;
        }
    }
    return SIZE_MAX;
}

static silt_status put_field(struct emit *e, struct sl_str value, duckdb_logical_type from,
                             const struct silt_field *field, const struct silt_field *stored, size_t *found)
{
    const idx_t at = find_child(from, field->name);
    sl_duck_put_ident(e->sql, stored->name);
    sl_buf_put_c(e->sql, " := ");
    if (at == SIZE_MAX) {
        return put_plain(e, "NULL", SL_STR(""), "", stored->type);
    }
    (*found)++;
    struct sl_buf inner;
    sl_buf_init(&inner, e->sql->env);
    char *name = duckdb_struct_type_child_name(from, at);
    sl_buf_put_c(&inner, "struct_extract(");
    sl_buf_put_str(&inner, value);
    sl_buf_put_c(&inner, ", ");
    sl_duck_put_text(&inner, sl_str_from(name));
    sl_buf_put_char(&inner, ')');
    duckdb_free(name);
    duckdb_logical_type type = duckdb_struct_type_child_type(from, at);
    silt_status status = sl_buf_status(&inner, e->err);
    if (status == SILT_OK) {
        status = put_value(e, sl_buf_view(&inner), type, (struct target){field->type, stored->type});
    }
    duckdb_destroy_logical_type(&type);
    sl_buf_release(&inner);
    return status;
}

static silt_status put_struct(struct emit *e, struct sl_str value, duckdb_logical_type from, struct target to)
{
    size_t found = 0;
    sl_buf_printf(e->sql, "CASE WHEN %.*s IS NULL THEN NULL ELSE struct_pack(", SL_FMT(value));
    for (size_t i = 0; i < to.type->n_fields; i++) {
        sl_buf_put_c(e->sql, i == 0 ? "" : ", ");
        SL_TRY(put_field(e, value, from, &to.type->fields[i], &to.stored->fields[i], &found));
    }
    sl_buf_put_c(e->sql, ") END");
    if (found != duckdb_struct_type_child_count(from)) {
        return refuse(e, to.type, "a struct with other fields");
    }
    return SILT_OK;
}

static silt_status put_list(struct emit *e, struct sl_str value, duckdb_logical_type from, struct target to)
{
    char item[24];
    const int n = snprintf(item, sizeof(item), "silt_x%u", e->depth);
    duckdb_logical_type element = duckdb_get_type_id(from) == DUCKDB_TYPE_ARRAY ? duckdb_array_type_child_type(from)
                                                                                : duckdb_list_type_child_type(from);
    sl_buf_printf(e->sql, "list_transform(%.*s, lambda %s: ", SL_FMT(value), item);
    const silt_status status = put_value(e, sl_str_make(item, n > 0 ? (size_t)n : 0), element,
                                         (struct target){to.type->element, to.stored->element});
    sl_buf_put_char(e->sql, ')');
    duckdb_destroy_logical_type(&element);
    return status;
}

static silt_status put_map(struct emit *e, struct sl_str value, duckdb_logical_type from, struct target to)
{
    char key[32];
    char item[32];
    const int n_key = snprintf(key, sizeof(key), "silt_x%u.key", e->depth);
    const int n_item = snprintf(item, sizeof(item), "silt_x%u.value", e->depth);
    duckdb_logical_type key_type = duckdb_map_type_key_type(from);
    duckdb_logical_type value_type = duckdb_map_type_value_type(from);
    sl_buf_printf(e->sql,
                  "CASE WHEN %.*s IS NULL THEN NULL ELSE map_from_entries(list_transform(map_entries(%.*s), "
                  "lambda silt_x%u: struct_pack(k := ",
                  SL_FMT(value), SL_FMT(value), e->depth);
    silt_status status = put_value(e, sl_str_make(key, n_key > 0 ? (size_t)n_key : 0), key_type,
                                   (struct target){to.type->key, to.stored->key});
    sl_buf_put_c(e->sql, ", v := ");
    if (status == SILT_OK) {
        status = put_value(e, sl_str_make(item, n_item > 0 ? (size_t)n_item : 0), value_type,
                           (struct target){to.type->element, to.stored->element});
    }
    sl_buf_put_c(e->sql, "))) END");
    duckdb_destroy_logical_type(&key_type);
    duckdb_destroy_logical_type(&value_type);
    return status;
}

/* Recursion is bounded by the target's depth. */
static silt_status put_value(struct emit *e, struct sl_str value, duckdb_logical_type from, struct target to)
{
    const enum family family = family_of(duckdb_get_type_id(from));
    if (!sl_type_is_nested(to.type)) {
        return put_leaf(e, value, family, to.type);
    }
    if (family == FAMILY_NULL) {
        return put_plain(e, "", value, "", to.stored);
    }
    const enum family wanted = to.type->kind == SILT_TYPE_STRUCT  ? FAMILY_STRUCT
                               : to.type->kind == SILT_TYPE_ARRAY ? FAMILY_LIST
                                                                  : FAMILY_MAP;
    if (family != wanted || e->depth >= MAX_DEPTH) {
        return refuse(e, to.type, "a value of another shape");
    }
    e->depth++;
    silt_status status = SILT_OK;
    sl_buf_put_c(e->sql, "CAST(");
    switch (wanted) {
    case FAMILY_STRUCT: status = put_struct(e, value, from, to); break;
    case FAMILY_LIST: status = put_list(e, value, from, to); break;
    default: status = put_map(e, value, from, to); break;
    }
    e->depth--;
    SL_TRY(status);
    sl_buf_put_c(e->sql, " AS ");
    SL_TRY(sl_duck_put_stored_type(e->sql, to.stored, e->err));
    sl_buf_put_char(e->sql, ')');
    return SILT_OK;
}

/* ---- types that need no cast ---- */

static bool same_leaf(duckdb_logical_type from, const struct silt_type *to)
{
    switch (duckdb_get_type_id(from)) {
    case DUCKDB_TYPE_BOOLEAN: return to->kind == SILT_TYPE_BOOLEAN;
    case DUCKDB_TYPE_TINYINT: return to->kind == SILT_TYPE_BYTE;
    case DUCKDB_TYPE_SMALLINT: return to->kind == SILT_TYPE_SHORT;
    case DUCKDB_TYPE_INTEGER: return to->kind == SILT_TYPE_INTEGER;
    case DUCKDB_TYPE_BIGINT: return to->kind == SILT_TYPE_LONG;
    case DUCKDB_TYPE_FLOAT: return to->kind == SILT_TYPE_FLOAT;
    case DUCKDB_TYPE_DOUBLE: return to->kind == SILT_TYPE_DOUBLE;
    case DUCKDB_TYPE_VARCHAR: return to->kind == SILT_TYPE_STRING;
    case DUCKDB_TYPE_BLOB: return to->kind == SILT_TYPE_BINARY;
    case DUCKDB_TYPE_DATE: return to->kind == SILT_TYPE_DATE;
    case DUCKDB_TYPE_TIMESTAMP: return to->kind == SILT_TYPE_TIMESTAMP_NTZ;
    case DUCKDB_TYPE_TIMESTAMP_TZ: return to->kind == SILT_TYPE_TIMESTAMP;
    case DUCKDB_TYPE_DECIMAL:
        return to->kind == SILT_TYPE_DECIMAL && duckdb_decimal_width(from) == to->precision &&
               duckdb_decimal_scale(from) == to->scale;
    default: return false;
    }
}

static bool same_type(duckdb_logical_type from, const struct silt_type *to);

static bool same_fields(duckdb_logical_type from, const struct silt_type *to)
{
    bool same = to->kind == SILT_TYPE_STRUCT && duckdb_struct_type_child_count(from) == to->n_fields;
    for (idx_t i = 0; same && i < to->n_fields; i++) {
        char *name = duckdb_struct_type_child_name(from, i);
        duckdb_logical_type type = duckdb_struct_type_child_type(from, i);
        same = sl_str_eq_c(to->fields[i].name, name) && same_type(type, to->fields[i].type);
        duckdb_destroy_logical_type(&type);
        duckdb_free(name);
    }
    return same;
}

static bool same_type(duckdb_logical_type from, const struct silt_type *to)
{
    bool same = false;
    duckdb_logical_type first = NULL;
    duckdb_logical_type second = NULL;
    switch (duckdb_get_type_id(from)) {
    case DUCKDB_TYPE_STRUCT: return same_fields(from, to);
    case DUCKDB_TYPE_LIST:
        first = duckdb_list_type_child_type(from);
        same = to->kind == SILT_TYPE_ARRAY && same_type(first, to->element);
        break;
    case DUCKDB_TYPE_MAP:
        first = duckdb_map_type_key_type(from);
        second = duckdb_map_type_value_type(from);
        same = to->kind == SILT_TYPE_MAP && same_type(first, to->key) && same_type(second, to->element);
        break;
    default: return same_leaf(from, to);
    }
    duckdb_destroy_logical_type(&first);
    duckdb_destroy_logical_type(&second);
    return same;
}

/* ---- CHAR and VARCHAR ---- */

/* How a text column was declared. Delta knows strings only; Spark keeps the declaration beside them and holds writers to it. */
struct declared {
    struct sl_str text; /* "varchar(3)"; absent: a string */
    int64_t length;
    bool padded;
};

static silt_status read_declared(const struct emit *e, const struct silt_field *column, struct declared *out)
{
    const struct sl_str text = sl_field_meta_text(column, SL_STR("__CHAR_VARCHAR_TYPE_STRING"));
    *out = (struct declared){.length = 0};
    if (text.ptr == NULL) {
        return SILT_OK;
    }
    const struct sl_str varying = SL_STR("varchar(");
    out->padded = !sl_str_starts_with(text, varying);
    const size_t begin = out->padded ? strlen("char(") : varying.len;
    if (column->type->kind != SILT_TYPE_STRING || text.len <= begin + 1 || !sl_str_ends_with(text, SL_STR(")")) ||
        (out->padded && !sl_str_starts_with(text, SL_STR("char("))) ||
        !sl_str_to_i64(sl_str_sub(text, begin, text.len - 1), &out->length) || out->length <= 0) {
        return sl_fail(e->err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX",
                       "column %.*s is declared as %.*s; writing is supported where CHAR and VARCHAR stand alone",
                       SL_FMT(column->name), SL_FMT(text));
    }
    out->text = text;
    return SILT_OK;
}

/* As Spark: blanks that are too many are cut off, any other text that is too long is an error, CHAR is padded. */
static void put_declared(struct emit *e, const struct declared *declared, struct sl_str value)
{
    struct sl_buf *sql = e->sql;
    const long long n = (long long)declared->length;
    sl_buf_printf(sql,
                  declared->padded ? "CASE WHEN length(%.*s) <= %lld THEN rpad(%.*s, %lld, ' ')"
                                   : "CASE WHEN length(%.*s) <= %lld THEN %.*s",
                  SL_FMT(value), n, SL_FMT(value), n);
    sl_buf_printf(sql, " WHEN length(rtrim(%.*s, ' ')) <= %lld THEN left(%.*s, %lld) WHEN %.*s IS NOT NULL THEN error(",
                  SL_FMT(value), n, SL_FMT(value), n, SL_FMT(value));
    struct sl_buf text;
    sl_buf_init(&text, sql->env);
    sl_buf_printf(&text, "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT] column %.*s: the text is too long for %.*s: ",
                  SL_FMT(e->column->name), SL_FMT(declared->text));
    sl_duck_put_text(sql, sl_buf_view(&text));
    if (text.status != SILT_OK) {
        sql->status = text.status;
    }
    sl_buf_release(&text);
    sl_buf_printf(sql, " || left(%.*s, 40)) END", SL_FMT(value));
}

static silt_status put_string(struct emit *e, const struct declared *declared, struct sl_str value,
                              duckdb_logical_type from)
{
    struct sl_buf *out = e->sql;
    struct sl_buf text;
    sl_buf_init(&text, out->env);
    e->sql = &text;
    silt_status status = put_value(e, value, from, (struct target){e->column->type, e->column->type});
    e->sql = out;
    if (status == SILT_OK) {
        status = sl_buf_status(&text, e->err);
    }
    if (status == SILT_OK) {
        put_declared(e, declared, sl_buf_view(&text));
    }
    sl_buf_release(&text);
    return status;
}

silt_status sl_duck_put_cast(struct sl_buf *sql, struct sl_str value, duckdb_logical_type from,
                             const struct silt_field *to, const struct silt_field *stored, silt_error *err)
{
    struct emit e = {.sql = sql, .column = to, .err = err};
    struct declared declared;
    SL_TRY(read_declared(&e, to, &declared));
    if (declared.text.ptr != NULL) {
        return put_string(&e, &declared, value, from);
    }
    if (same_type(from, stored->type) && same_type(from, to->type)) {
        sl_buf_put_str(sql, value);
        return SILT_OK;
    }
    return put_value(&e, value, from, (struct target){to->type, stored->type});
}
