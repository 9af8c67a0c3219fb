/*
 * Types as text: Delta's JSON, Spark's short names and DDL, DuckDB's SQL. One table names the primitive types for all of them and
 * for the JSON reader.
 *
 * Called by schema writers, messages, DESCRIBE and the engine's query building. Pure; any thread.
 */
#include "schema/type.h"

#include "base/quote.h"
#include "json/writer.h"
#include "schema/ident.h"
#include "schema/schema_int.h"
#include "schema/value.h"

enum notation {
    SIMPLE, /* Spark's simpleString */
    DDL,    /* Spark's DDL */
    DUCKDB,
    N_NOTATIONS
};

struct type_name {
    silt_type_kind kind;
    const char *json; /* as Delta writes it */
    const char *in[N_NOTATIONS];
};

static const struct type_name type_names[] = {
    {SILT_TYPE_VOID, "void", {"void", "VOID", "\"NULL\""}},
    {SILT_TYPE_BOOLEAN, "boolean", {"boolean", "BOOLEAN", "BOOLEAN"}},
    {SILT_TYPE_BYTE, "byte", {"tinyint", "TINYINT", "TINYINT"}},
    {SILT_TYPE_SHORT, "short", {"smallint", "SMALLINT", "SMALLINT"}},
    {SILT_TYPE_INTEGER, "integer", {"int", "INT", "INTEGER"}},
    {SILT_TYPE_LONG, "long", {"bigint", "BIGINT", "BIGINT"}},
    {SILT_TYPE_FLOAT, "float", {"float", "FLOAT", "FLOAT"}},
    {SILT_TYPE_DOUBLE, "double", {"double", "DOUBLE", "DOUBLE"}},
    {SILT_TYPE_STRING, "string", {"string", "STRING", "VARCHAR"}},
    {SILT_TYPE_BINARY, "binary", {"binary", "BINARY", "BLOB"}},
    {SILT_TYPE_DATE, "date", {"date", "DATE", "DATE"}},
    {SILT_TYPE_TIMESTAMP, "timestamp", {"timestamp", "TIMESTAMP", "TIMESTAMPTZ"}},
    {SILT_TYPE_TIMESTAMP_NTZ, "timestamp_ntz", {"timestamp_ntz", "TIMESTAMP_NTZ", "TIMESTAMP"}},
    {SILT_TYPE_VARIANT, "variant", {"variant", "VARIANT", "VARIANT"}},
};

/* Names that Spark has used before, or takes besides. */
static const struct {
    const char *json;
    silt_type_kind kind;
} other_names[] = {{"null", SILT_TYPE_VOID}, {"timestamp_ltz", SILT_TYPE_TIMESTAMP}};

bool sl_type_kind_by_name(struct sl_str name, silt_type_kind *out)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (sl_str_eq_c(name, type_names[i].json)) {
            *out = type_names[i].kind;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++) {
        if (sl_str_eq_c(name, other_names[i].json)) {
            *out = other_names[i].kind;
            return true;
        }
    }
    return false;
}

static const struct type_name *find_name(silt_type_kind kind)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (type_names[i].kind == kind) {
            return &type_names[i];
        }
    }
    return &type_names[0]; /* only nested kinds and decimals are not in the table; callers handle those first */
}

const char *sl_type_kind_name(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_DECIMAL: return "decimal";
    case SILT_TYPE_STRUCT: return "struct";
    case SILT_TYPE_ARRAY: return "array";
    case SILT_TYPE_MAP: return "map";
    default: return find_name(kind)->in[SIMPLE];
    }
}

static void print_decimal(struct sl_buf *out, const char *name, const struct silt_type *type)
{
    sl_buf_put_c(out, name);
    sl_buf_put_char(out, '(');
    sl_buf_put_u64(out, type->precision);
    sl_buf_put_char(out, ',');
    sl_buf_put_u64(out, type->scale);
    sl_buf_put_char(out, ')');
}

static void put_simple_field(struct sl_buf *out, const struct silt_field *field)
{
    sl_ident_print(out, field->name);
    sl_buf_put_char(out, ':');
    sl_type_print(out, field->type);
}

static void put_ddl_field(struct sl_buf *out, const struct silt_field *field)
{
    sl_ident_print(out, field->name);
    sl_buf_put_c(out, ": ");
    sl_type_print_sql(out, field->type);
    if (!field->nullable) {
        sl_buf_put_c(out, " NOT NULL");
    }
    const struct sl_str comment = sl_field_meta_text(field, SL_STR("comment"));
    if (comment.ptr != NULL) {
        sl_buf_put_c(out, " COMMENT ");
        const silt_value text = sl_value_bytes(SILT_TYPE_STRING, comment);
        sl_value_print_sql(out, &text);
    }
}

static void put_duckdb_field(struct sl_buf *out, const struct silt_field *field)
{
    sl_quote_put(out, field->name, '"');
    sl_buf_put_char(out, ' ');
    sl_type_print_duckdb(out, field->type);
}

/* How a notation spells the types that are made of others. */
struct spelling {
    const char *decimal;
    const char *struct_open, *struct_close;
    const char *array_open, *array_close;
    const char *map_open, *map_close;
    const char *separator;
    void (*put_field)(struct sl_buf *out, const struct silt_field *field);
    bool as_written; /* a primitive name that is kept verbatim is printed so */
};

static const struct spelling spellings[N_NOTATIONS] = {
    [SIMPLE] = {"decimal", "struct<", ">", "array<", ">", "map<", ">", ",", put_simple_field, true},
    [DDL] = {"DECIMAL", "STRUCT<", ">", "ARRAY<", ">", "MAP<", ">", ", ", put_ddl_field, true},
    [DUCKDB] = {"DECIMAL", "STRUCT(", ")", "", "[]", "MAP(", ")", ", ", put_duckdb_field, false},
};

/* Recursion is bounded: schemas are limited to SL_SCHEMA_MAX_DEPTH when they are built. */
static void print_type(struct sl_buf *out, const struct silt_type *type, enum notation notation)
{
    const struct spelling *spelling = &spellings[notation];
    switch (type->kind) {
    case SILT_TYPE_DECIMAL: print_decimal(out, spelling->decimal, type); break;
    case SILT_TYPE_STRUCT:
        sl_buf_put_c(out, spelling->struct_open);
        for (size_t i = 0; i < type->n_fields; i++) {
            sl_buf_put_c(out, i > 0 ? spelling->separator : "");
            spelling->put_field(out, &type->fields[i]);
        }
        sl_buf_put_c(out, spelling->struct_close);
        break;
    case SILT_TYPE_ARRAY:
        sl_buf_put_c(out, spelling->array_open);
        print_type(out, type->element, notation);
        sl_buf_put_c(out, spelling->array_close);
        break;
    case SILT_TYPE_MAP:
        sl_buf_put_c(out, spelling->map_open);
        print_type(out, type->key, notation);
        sl_buf_put_c(out, spelling->separator);
        print_type(out, type->element, notation);
        sl_buf_put_c(out, spelling->map_close);
        break;
    default:
        if (spelling->as_written && type->json.ptr != NULL) {
            sl_buf_put_str(out, type->json);
        } else {
            sl_buf_put_c(out, find_name(type->kind)->in[notation]);
        }
    }
}

void sl_type_print(struct sl_buf *out, const struct silt_type *type)
{
    print_type(out, type, SIMPLE);
}

void sl_type_print_sql(struct sl_buf *out, const struct silt_type *type)
{
    print_type(out, type, DDL);
}

void sl_type_print_duckdb(struct sl_buf *out, const struct silt_type *type)
{
    print_type(out, type, DUCKDB);
}

static void write_json(struct sl_json_writer *w, const struct silt_type *type);

static void write_json_field(struct sl_json_writer *w, const struct silt_field *field)
{
    sl_json_begin_object(w);
    sl_json_key_c(w, "name");
    sl_json_put_str(w, field->name);
    sl_json_key_c(w, "type");
    write_json(w, field->type);
    sl_json_key_c(w, "nullable");
    sl_json_put_bool(w, field->nullable);
    sl_json_key_c(w, "metadata");
    sl_json_begin_object(w);
    for (size_t i = 0; i < field->n_metadata; i++) {
        sl_json_key(w, field->metadata[i].key);
        sl_json_put_raw(w, field->metadata[i].json);
    }
    sl_json_end_object(w);
    sl_json_end_object(w);
}

static void write_json_primitive(struct sl_json_writer *w, const struct silt_type *type)
{
    if (type->json.ptr != NULL) {
        sl_json_put_str(w, type->json);
    } else if (type->kind == SILT_TYPE_DECIMAL) {
        char text[] = "\"decimal(00,00)\"";
        size_t len = sizeof "\"decimal(" - 1;
        const uint8_t parts[2] = {type->precision, type->scale};
        for (size_t i = 0; i < 2; i++) {
            if (parts[i] >= 10) {
                text[len++] = (char)('0' + parts[i] / 10 % 10);
            }
            text[len++] = (char)('0' + parts[i] % 10);
            text[len++] = i == 0 ? ',' : ')';
        }
        text[len++] = '"';
        sl_json_put_raw(w, sl_str_make(text, len));
    } else {
        sl_json_put_c(w, find_name(type->kind)->json);
    }
}

static void write_json(struct sl_json_writer *w, const struct silt_type *type)
{
    if (!sl_type_is_nested(type)) {
        write_json_primitive(w, type);
        return;
    }
    sl_json_begin_object(w);
    sl_json_key_c(w, "type");
    if (type->kind == SILT_TYPE_STRUCT) {
        sl_json_put_c(w, "struct");
        sl_json_key_c(w, "fields");
        sl_json_begin_array(w);
        for (size_t i = 0; i < type->n_fields; i++) {
            write_json_field(w, &type->fields[i]);
        }
        sl_json_end_array(w);
    } else {
        const bool is_map = type->kind == SILT_TYPE_MAP;
        sl_json_put_c(w, is_map ? "map" : "array");
        if (is_map) {
            sl_json_key_c(w, "keyType");
            write_json(w, type->key);
        }
        sl_json_key_c(w, is_map ? "valueType" : "elementType");
        write_json(w, type->element);
        sl_json_key_c(w, is_map ? "valueContainsNull" : "containsNull");
        sl_json_put_bool(w, type->contains_null);
    }
    sl_json_end_object(w);
}

void sl_type_print_json(struct sl_buf *out, const struct silt_type *type)
{
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    write_json(&w, type);
}
