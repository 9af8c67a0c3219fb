/*
 * The structures behind silt_schema, silt_type and silt_field. Immutable once built; everything of a schema lives in its
 * arena. Built through struct sl_schema_builder, JSON or Arrow. PROTOCOL.md "Schema Serialization Format".
 */
#ifndef SL_SCHEMA_TYPE_H
#define SL_SCHEMA_TYPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "silt/schema.h"

#define SL_SCHEMA_MAX_DEPTH 128
#define SL_SCHEMA_MAX_FIELDS 1000000

/* One key of a field's metadata; value is JSON text (a string value keeps its quotes). */
struct sl_field_meta {
    struct sl_str key;
    struct sl_str json;
    struct sl_str text; /* a string's value without quotes and escapes, else absent; set when a schema is built */
};

struct silt_field {
    struct sl_str name; /* NUL-terminated */
    const struct silt_type *type;
    bool nullable;
    struct sl_field_meta *metadata; /* in the order of the JSON */
    size_t n_metadata;
};

struct silt_type {
    silt_type_kind kind;
    uint8_t precision;
    uint8_t scale;
    bool contains_null;        /* array elements, map values */
    struct silt_field *fields; /* struct */
    size_t n_fields;
    const struct silt_type *element; /* array element, map value */
    const struct silt_type *key;     /* map key */
    struct sl_str json; /* primitive name as written if it is kept verbatim (e.g. a collated string), else absent */
};

struct silt_schema {
    atomic_uint refs;
    const silt_env *env;
    struct sl_arena arena;
    struct silt_type root;   /* kind STRUCT */
    const char *json;        /* Delta's JSON as it was read; NULL: it was not */
    _Atomic(char *) printed; /* the same, made when it was first wanted: few schemas are ever told to others */
};

/* Builds by hand: fields are deep-copied, so they may point into other schemas. */
silt_status sl_schema_from_fields(const silt_env *env, const struct silt_field *fields, size_t n, silt_schema **out,
                                  silt_error *err);

/* Sub-schema of given top-level columns (indexes), deep-copied. */
silt_status sl_schema_project(const silt_schema *schema, const size_t *columns, size_t n, silt_schema **out,
                              silt_error *err);

bool sl_type_equal(const struct silt_type *a, const struct silt_type *b, bool compare_nullability);
bool sl_type_is_nested(const struct silt_type *type);
bool sl_type_holds(const struct silt_type *type,
                   silt_type_kind kind);                 /* it is of the kind, or a part of it at any depth */
size_t sl_type_list_depth(const struct silt_type *type); /* lists and maps around one another, at most; 0: none */
static inline bool sl_kind_is_integer(silt_type_kind kind)
{
    return kind >= SILT_TYPE_BYTE && kind <= SILT_TYPE_LONG;
}
/* Type names as in Delta's JSON for primitives ("decimal(10,2)"), Spark's SQL for nested ones ("struct<a:int>"). */
const char *sl_type_kind_name(silt_type_kind kind); /* "bigint", "struct"; static text for messages */
/* Spark's simpleString: bigint, int, string, struct<a:int,b:array<string>>. */
void sl_type_print(struct sl_buf *out, const struct silt_type *type);
/* Spark's DDL: BIGINT, INT, STRING, STRUCT<a: INT>. */
void sl_type_print_sql(struct sl_buf *out, const struct silt_type *type);
/* DuckDB's SQL: TIMESTAMPTZ, STRUCT("a" INTEGER). */
void sl_type_print_duckdb(struct sl_buf *out, const struct silt_type *type);
void sl_type_print_json(struct sl_buf *out, const struct silt_type *type); /* Delta's JSON, names in quotes */

/* Field look-up ignoring case; NULL if absent. *index optional. */
const struct silt_field *sl_type_find(const struct silt_type *type, struct sl_str name, size_t *index);
/* Looks a path (list of names) up through structs; NULL if absent. */
const struct silt_field *sl_schema_find_path(const silt_schema *schema, const struct sl_str *path, size_t n);

/* Metadata value as text: a JSON string without its quotes and escapes, else the JSON text. Absent view if not there. */
struct sl_str sl_field_meta_text(const struct silt_field *field, struct sl_str key);

/* Metadata of a plan's physical column: a file that lacks it is refused (silt/engine.h). Of no table's schema. */
#define SL_FIELD_REQUIRED "silt.required"

/* Is the field itself (not an element, key or value in it) text under another collation than the order of its bytes? */
bool sl_field_is_collated(const struct silt_field *field);

/*
 * What a new table's schema must obey: no duplicate names ignoring case at any level, no empty names, characters that
 * Parquet files of Delta cannot carry without column mapping (" ,;{}()\n\t="), depth. SILT_ESCHEMA names the column.
 */
silt_status sl_schema_validate(const silt_schema *schema, silt_error *err);
/* The same for a table with column mapping, whose names may have any character but NUL. */
silt_status sl_schema_validate_mapped(const silt_schema *schema, silt_error *err);
/* Of that only the duplicate names: what every table must obey. */
silt_status sl_schema_validate_unique(const silt_schema *schema, silt_error *err);
silt_status sl_schema_validate_partitioning(const silt_schema *schema, const struct sl_str *columns, size_t n,
                                            silt_error *err); /* exist, atomic types, not all columns, no repeats */

/* Parses a Spark type text: "BIGINT", "decimal(10, 2)", "STRUCT<a: INT COMMENT 'x', b: ARRAY<STRING>>", aliases. */
silt_status sl_type_parse(struct sl_arena *arena, struct sl_str text, const struct silt_type **out, silt_error *err);
/* The same for a type at the beginning of text; *used tells how many bytes it takes. */
silt_status sl_type_parse_prefix(struct sl_arena *arena, struct sl_str text, size_t *used, const struct silt_type **out,
                                 silt_error *err);
/*
 * The type of a column: as sl_type_parse, and field->metadata gets __CHAR_VARCHAR_TYPE_STRING appended if the type has
 * CHAR or VARCHAR in it, as Spark does. Name, nullability and other metadata of the field are left alone.
 */
silt_status sl_type_parse_column(struct sl_arena *arena, struct sl_str text, struct silt_field *field, silt_error *err);
/*
 * The type in a field's __CHAR_VARCHAR_TYPE_STRING, in which strings of limited length have it as their `json`: "char(5)". *out is NULL if
 * the field has none, or one that is no type: it is advice.
 */
silt_status sl_field_characters(struct sl_arena *arena, const struct silt_field *field, const struct silt_type **out,
                                silt_error *err);
/* The length of a type of sl_field_characters if it is CHAR, else 0. */
uint32_t sl_type_char_length(const struct silt_type *characters);
/* Does a part of a field have the type CHAR? Its values are read with spaces up to their length, whatever is stored. */
bool sl_field_has_char(const struct silt_field *field);
/* Appends one metadata entry (copied); false when out of memory. */
bool sl_field_add_metadata(struct sl_arena *arena, struct silt_field *field, struct sl_str key, struct sl_str json);

/* Arrow format string of a flat type into buf (>= 32 bytes); "+s", "+l", "+m" for nested; variant is "+s". */
void sl_type_arrow_format(const struct silt_type *type, char *buf, size_t buf_size);

/* Number of leaf columns (struct members are entered; arrays, maps, variants count as one leaf). */
size_t sl_type_leaf_count(const struct silt_type *type);
size_t sl_schema_leaf_count(const silt_schema *schema);

#endif
