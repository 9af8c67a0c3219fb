/*
 * Data types, schemas and scalar values of Delta tables.
 *
 * Implements PROTOCOL.md "Schema Serialization Format". A schema is an immutable struct type with field metadata;
 * it is reference-counted and usable from any thread. Types and fields are borrowed views into their schema: they
 * live as long as the schema does.
 */
#ifndef SILT_SCHEMA_H
#define SILT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/arrow.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum silt_type_kind {
    SILT_TYPE_VOID = 0, /* always null */
    SILT_TYPE_BOOLEAN = 1,
    SILT_TYPE_BYTE = 2,    /* int8 */
    SILT_TYPE_SHORT = 3,   /* int16 */
    SILT_TYPE_INTEGER = 4, /* int32 */
    SILT_TYPE_LONG = 5,    /* int64 */
    SILT_TYPE_FLOAT = 6,
    SILT_TYPE_DOUBLE = 7,
    SILT_TYPE_DECIMAL = 8, /* precision 1..38, scale 0..precision */
    SILT_TYPE_STRING = 9,  /* UTF-8; CHAR and VARCHAR are strings with field metadata */
    SILT_TYPE_BINARY = 10,
    SILT_TYPE_DATE = 11,          /* days since 1970-01-01, proleptic Gregorian */
    SILT_TYPE_TIMESTAMP = 12,     /* microseconds since the epoch, UTC */
    SILT_TYPE_TIMESTAMP_NTZ = 13, /* microseconds of a wall clock, no zone */
    SILT_TYPE_VARIANT = 14,
    SILT_TYPE_STRUCT = 15,
    SILT_TYPE_ARRAY = 16,
    SILT_TYPE_MAP = 17
} silt_type_kind;

typedef struct silt_type silt_type;
typedef struct silt_field silt_field;
typedef struct silt_schema silt_schema;

/*
 * One scalar. Text and binary borrow their bytes from whoever made the value. Decimals are a signed 128-bit
 * unscaled number in two halves with precision and scale beside it.
 */
typedef struct silt_value {
    silt_type_kind kind;
    bool is_null;
    uint8_t precision; /* of a decimal */
    uint8_t scale;     /* of a decimal */
    union {
        bool boolean;
        int64_t i64; /* byte, short, integer, long, date (days), timestamps (microseconds) */
        double f64;  /* float (exactly widened), double */
        struct {
            uint64_t lo;
            int64_t hi;
        } decimal; /* unscaled, two's complement */
        struct {
            const char *ptr;
            size_t len;
        } bytes; /* string, binary */
    } as;
} silt_value;

/* Parses `schemaString` JSON. Depth and size are limited (SILT_ELIMIT); SILT_ECORRUPT names the place. */
SILT_API SILT_NODISCARD silt_status silt_schema_from_json(const silt_env *env, const char *json, size_t json_len,
                                                          silt_schema **out, silt_error *err);
/* Imports an Arrow struct schema; large, view and dictionary forms map to their plain type. arrow is borrowed. */
SILT_API SILT_NODISCARD silt_status silt_schema_from_arrow(const silt_env *env, const struct ArrowSchema *arrow,
                                                           silt_schema **out, silt_error *err);
/* Exports as an Arrow struct schema (types as silt hands them out); field ids as PARQUET:field_id metadata. */
SILT_API SILT_NODISCARD silt_status silt_schema_to_arrow(const silt_schema *schema, struct ArrowSchema *out,
                                                         silt_error *err);
/* Delta's JSON, as borrowed text that lives with the schema. Made at the first call: NULL when there is no memory for it. */
SILT_API const char *silt_schema_json(const silt_schema *schema);

SILT_API silt_schema *silt_schema_ref(const silt_schema *schema); /* the same object; pair it with an unref */
SILT_API void silt_schema_unref(const silt_schema *schema);       /* NULL is legal */

/* Top-level columns. */
SILT_API size_t silt_schema_field_count(const silt_schema *schema);
SILT_API const silt_field *silt_schema_field(const silt_schema *schema, size_t index); /* NULL past the end */
/* Top-level field by name, ignoring case as Spark does; NULL if there is none. */
SILT_API const silt_field *silt_schema_find(const silt_schema *schema, const char *name);

/* A field: its name as the schema spells it, its type, whether nulls may be in it. */
SILT_API const char *silt_field_name(const silt_field *field);
SILT_API const silt_type *silt_field_type(const silt_field *field);
SILT_API bool silt_field_nullable(const silt_field *field);
/* Value of a metadata key as JSON text, NULL if absent. */
SILT_API const char *silt_field_metadata(const silt_field *field, const char *key);

/* A type and its parts. A part that the type's kind does not have is NULL, 0 or false. */
SILT_API silt_type_kind silt_type_get_kind(const silt_type *type);
SILT_API uint8_t silt_type_precision(const silt_type *type);                     /* of a decimal */
SILT_API uint8_t silt_type_scale(const silt_type *type);                         /* of a decimal */
SILT_API size_t silt_type_field_count(const silt_type *type);                    /* of a struct */
SILT_API const silt_field *silt_type_field(const silt_type *type, size_t index); /* of a struct; NULL past the end */
SILT_API const silt_type *silt_type_element(const silt_type *type);              /* of an array */
SILT_API bool silt_type_contains_null(const silt_type *type);                    /* of array elements, map values */
SILT_API const silt_type *silt_type_key(const silt_type *type);                  /* of a map */
SILT_API const silt_type *silt_type_value(const silt_type *type);                /* of a map */

#ifdef __cplusplus
}
#endif

#endif
