/*
 * The variant encoding, read (variant.c), printed (variant_json.c) and built (variant_build.c). All bytes are hostile: each value is
 * bounded by what holds it, and nothing is followed twice. Pure; any thread. Parquet's "Variant Binary Encoding".
 */
#ifndef SL_SCHEMA_VARIANT_H
#define SL_SCHEMA_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/decimal.h"
#include "base/str.h"
#include "silt/status.h"

#define SL_VARIANT_MAX_DEPTH 256

enum sl_variant_kind {
    SL_VARIANT_NULL,
    SL_VARIANT_BOOL,
    SL_VARIANT_INT, /* 8 to 64 bits */
    SL_VARIANT_FLOAT,
    SL_VARIANT_DOUBLE,
    SL_VARIANT_DECIMAL,
    SL_VARIANT_DATE,             /* days */
    SL_VARIANT_TIME,             /* microseconds of a day */
    SL_VARIANT_TIMESTAMP,        /* microseconds, an instant */
    SL_VARIANT_TIMESTAMP_NTZ,    /* microseconds */
    SL_VARIANT_TIMESTAMP_NS,     /* nanoseconds, an instant */
    SL_VARIANT_TIMESTAMP_NTZ_NS, /* nanoseconds */
    SL_VARIANT_BINARY,
    SL_VARIANT_STRING,
    SL_VARIANT_UUID,
    SL_VARIANT_OBJECT,
    SL_VARIANT_ARRAY
};

/* The dictionary of names. */
struct sl_variant_names {
    const unsigned char *offsets;
    uint8_t offset_size;
    uint32_t n;
    struct sl_str text;
    size_t size; /* of the whole of it; the bytes may go on */
};
silt_status sl_variant_names_open(struct sl_str metadata, struct sl_variant_names *out, silt_error *err);
/* False if there is no such name or it lies outside of the dictionary. */
bool sl_variant_name(const struct sl_variant_names *names, uint32_t id, struct sl_str *out);

/* One value, its header read. */
struct sl_variant_value {
    enum sl_variant_kind kind;
    uint8_t scale; /* of a decimal */
    size_t len;    /* bytes of the whole value */
    int64_t i64;   /* of integers, dates, times; 0 or 1 of a truth value */
    double f64;
    sl_i128 decimal;
    struct sl_str bytes; /* of binary, string, UUID */
    /* of objects and arrays */
    uint32_t n;
    uint8_t id_size;
    uint8_t offset_size;
    const unsigned char *ids;
    const unsigned char *offsets;
    struct sl_str items; /* where the members are */
};
/* bytes may go on after the value. SILT_ECORRUPT says what is wrong. */
silt_status sl_variant_read(struct sl_str bytes, struct sl_variant_value *out, silt_error *err);
/* The bytes of member i, to their container's end; name id of an object's member. False if it lies outside. */
bool sl_variant_item(const struct sl_variant_value *value, uint32_t i, struct sl_str *bytes, uint32_t *id);

/*
 * Is the whole of it a variant: names found, members within, no deeper than SL_VARIANT_MAX_DEPTH (SILT_ELIMIT)? *below_us (NULL is legal)
 * tells if an instant in it has digits below microseconds.
 */
silt_status sl_variant_check(struct sl_str metadata, struct sl_str value, bool *below_us, silt_error *err);

/* Appends JSON, see silt_variant_to_json. On failure what was appended stays. */
silt_status sl_variant_put_json(struct sl_buf *out, struct sl_str metadata, struct sl_str value, silt_error *err);

#endif
