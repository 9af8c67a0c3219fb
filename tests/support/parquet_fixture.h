/*
 * Parquet files such as no writer at hand makes: any schema, any annotation, any levels, one row group, one uncompressed page a
 * column. What is wrong with a file is the test's own choice; only a file that cannot be written fails the test.
 */
#ifndef SILT_PARQUET_FIXTURE_H
#define SILT_PARQUET_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Parquet's own numbers. */
enum pq_type {
    PQ_BOOLEAN = 0,
    PQ_INT32 = 1,
    PQ_INT64 = 2,
    PQ_INT96 = 3,
    PQ_FLOAT = 4,
    PQ_DOUBLE = 5,
    PQ_BYTES = 6,
    PQ_FIXED = 7,
    PQ_GROUP = -1
};

enum pq_repetition {
    PQ_REQUIRED = 0,
    PQ_OPTIONAL = 1,
    PQ_REPEATED = 2
};

/* Converted types, one more than Parquet's numbers, so that 0 is none. */
enum pq_converted {
    PQ_NO_CONVERTED = 0,
    PQ_UTF8 = 1,
    PQ_MAP = 2,
    PQ_MAP_KEY_VALUE = 3,
    PQ_LIST = 4,
    PQ_ENUM = 5,
    PQ_DECIMAL = 6,
    PQ_DATE = 7,
    PQ_TIMESTAMP_MILLIS = 10,
    PQ_TIMESTAMP_MICROS = 11,
    PQ_UINT_8 = 12,
    PQ_UINT_16 = 13,
    PQ_UINT_32 = 14,
    PQ_UINT_64 = 15,
    PQ_JSON = 20
};

enum pq_logical {
    PQ_NO_LOGICAL,
    PQ_MILLIS_UTC,
    PQ_MILLIS_LOCAL,
    PQ_MICROS_UTC,
    PQ_MICROS_LOCAL,
    PQ_NANOS_UTC,
    PQ_NANOS_LOCAL,
    PQ_UNKNOWN,
    PQ_UUID,
    PQ_FLOAT16,
    PQ_VARIANT
};

/* Repetition and definition level of one entry. */
struct pq_level {
    uint8_t repetition;
    uint8_t definition;
};

/* Of a page's bytes; see lz4_fixture.h. */
enum pq_frame {
    PQ_NOT_COMPRESSED,
    PQ_LZ4,
    PQ_HADOOP
};

struct pq_column {
    const char *name;
    enum pq_type type;
    enum pq_repetition repetition;
    enum pq_converted converted;
    enum pq_logical logical;
    int32_t field_id; /* 0: none */
    int32_t length;   /* of PQ_FIXED */
    int32_t precision;
    int32_t scale;
    const struct pq_column *children; /* of PQ_GROUP */
    size_t n_children;
    int32_t encoding;              /* Parquet's number of what the values claim to be, which are PLAIN */
    int32_t codec;                 /* Parquet's number of what the column claims to be compressed with */
    enum pq_frame frame;           /* what it is compressed with */
    size_t block, chunk;           /* of PQ_HADOOP: plain bytes of each */
    const struct pq_level *levels; /* NULL: every value is there */
    size_t n_levels;
    const void *values; /* little endian, as PLAIN has them; for PQ_BYTES see texts */
    size_t n_values;
    const struct sl_str *texts; /* of PQ_BYTES */
    struct sl_str min;          /* bounds in the statistics, as bytes; absent: none */
    struct sl_str max;
    bool old_bounds; /* they stand where Parquet 1 had them */
};

/* key_values: key, value, …, NULL; or NULL for none. */
void pq_write(const char *path, const struct pq_column *columns, size_t n_columns, int64_t n_rows,
              const char *const *key_values);

#endif
