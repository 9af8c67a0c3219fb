/*
 * Scalars: comparing, partition-value text, statistics text. A silt_value borrows text; sl_value_copy moves it to an arena.
 * Pure functions, any thread.
 */
#ifndef SL_SCHEMA_VALUE_H
#define SL_SCHEMA_VALUE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/decimal.h"
#include "base/str.h"
#include "schema/type.h"
#include "silt/schema.h"

silt_value sl_value_null(silt_type_kind kind);
silt_value sl_value_i64(silt_type_kind kind, int64_t v);
silt_value sl_value_f64(silt_type_kind kind, double v);
silt_value sl_value_bool(bool v);
silt_value sl_value_bytes(silt_type_kind kind, struct sl_str v);
silt_value sl_value_decimal(sl_i128 v, uint8_t precision, uint8_t scale);
/* Text as a decimal of exactly this type; false if it is no number or does not fit without loss. */
bool sl_value_decimal_parse(struct sl_str text, const struct silt_type *type, silt_value *out);
sl_i128 sl_value_get_i128(const silt_value *v);
struct sl_str sl_value_get_str(const silt_value *v);

/* Copies text into the arena; false when out of memory. */
bool sl_value_copy(struct sl_arena *arena, const silt_value *v, silt_value *out);

/*
 * Order of two non-null values of comparable kinds (integers of any width, floats, decimals, and mixes of these exactly; text and
 * binary by bytes; date and timestamps with their own kind). NaN is equal to NaN and greater than all else; -0.0 equals 0.0.
 * False when the kinds cannot be compared.
 */
bool sl_value_compare(const silt_value *a, const silt_value *b, int *order);

/*
 * Cast as Spark's ANSI cast of a literal would; exact or refused: false when the text or value does not fit (overflow, lossy
 * decimal, text that is no number or date). Only a cast to FLOAT or DOUBLE rounds. Text without a zone is UTC.
 */
bool sl_value_cast(struct sl_arena *arena, const silt_value *from, const struct silt_type *to, silt_value *out);

/*
 * Partition values (PROTOCOL.md "Partition Value Serialization"). text absent (NULL ptr) or empty is null. Text that was written
 * under a narrower type is read as the type of now. Timestamps are taken in both forms; without a zone as UTC, and then *is_local (may be
 * NULL) says so, unless the type is a wall clock anyway. Binary: \uXXXX escapes and plain bytes. SILT_ECORRUPT when the text does
 * not parse.
 */
silt_status sl_partition_value_parse(struct sl_arena *arena, struct sl_str text, const struct silt_type *type,
                                     silt_value *out, bool *is_local, silt_error *err);
/*
 * The text to be logged; the value must not be null. An empty string gives an empty text, which every reader of the protocol
 * takes as null: whoever writes decides what becomes of it.
 */
silt_status sl_partition_value_format(struct sl_buf *out, const silt_value *v, silt_error *err);

/*
 * Statistics values. Writing: JSON text of a bound as Delta Spark writes it (strings are cut before). Reading: from a JSON value;
 * false when it cannot be understood (then there is no bound).
 */
struct sl_json_writer;
struct yyjson_val;
bool sl_stats_value_write(struct sl_json_writer *w,
                          const silt_value *v); /* false: not representable, nothing written */
bool sl_stats_value_read(struct sl_arena *arena, const struct yyjson_val *json, const struct silt_type *type,
                         silt_value *out);
/* The same of a value whose text is at hand: a string's without quotes and escapes, or true, false, a number as written. Borrows it. */
bool sl_stats_text_read(struct sl_str text, bool is_string, const struct silt_type *type, silt_value *out);

/* Java's text of a double or float ("1.0E10", "NaN", "-Infinity"), which is what Spark writes and reads. */
void sl_float_print_java(struct sl_buf *out, double value, bool is_float);
/* The reverse; also "inf", any case, a sign, "1e10". False if it is no number. is_float rounds to a float's precision. */
bool sl_float_parse_java(struct sl_str text, bool is_float, double *out);
/* True if v fits an integer kind (byte, short, integer, long) or the days of a date. */
bool sl_int_fits(silt_type_kind kind, int64_t v);

/* Text of a value for people and for SQL. */
void sl_value_print(struct sl_buf *out, const silt_value *v);     /* plain: 2020-01-01 00:00:00 */
void sl_value_print_sql(struct sl_buf *out, const silt_value *v); /* Spark literal: DATE '2020-01-01', 'it\'s', X'00' */
void sl_value_print_duckdb(struct sl_buf *out, const silt_value *v); /* DuckDB literal with exact type */

/* One cell of an Arrow array of a flat type. False for nested arrays or a format that has no scalar. Borrows from the array. */
struct ArrowArray;
struct ArrowSchema;
bool sl_value_from_arrow(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row,
                         silt_value *out);
/* Appends a value of a flat type, or null; the builder's format is that of the type. */
struct sl_arrow_builder;
silt_status sl_value_append(struct sl_arrow_builder *builder, const silt_value *value, silt_error *err);

#endif
