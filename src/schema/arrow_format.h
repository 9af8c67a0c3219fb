/*
 * Arrow format strings, taken apart. Pure; any thread.
 */
#ifndef SL_SCHEMA_ARROW_FORMAT_H
#define SL_SCHEMA_ARROW_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "silt/schema.h"

/* How the values of an array lie in memory. */
enum sl_arrow_layout {
    SL_ARROW_NULL,
    SL_ARROW_BOOL,
    SL_ARROW_INT8,
    SL_ARROW_UINT8,
    SL_ARROW_INT16,
    SL_ARROW_UINT16,
    SL_ARROW_INT32,
    SL_ARROW_UINT32,
    SL_ARROW_INT64,
    SL_ARROW_UINT64,
    SL_ARROW_FLOAT16,
    SL_ARROW_FLOAT32,
    SL_ARROW_FLOAT64,
    SL_ARROW_BYTES,       /* 32-bit offsets */
    SL_ARROW_LARGE_BYTES, /* 64-bit offsets */
    SL_ARROW_VIEW,
    SL_ARROW_FIXED_BYTES, /* width bytes each */
    SL_ARROW_DECIMAL,     /* width bytes each */
    SL_ARROW_DATE32,
    SL_ARROW_DATE64,
    SL_ARROW_TIMESTAMP,
    SL_ARROW_STRUCT,
    SL_ARROW_LIST, /* any of the list layouts; child 0 is the element */
    SL_ARROW_MAP,
    SL_ARROW_RUN_END
};

struct sl_arrow_format {
    enum sl_arrow_layout layout;
    silt_type_kind kind; /* what it is in Delta; of flat layouts */
    uint8_t precision;
    uint8_t scale;
    int32_t width;            /* of fixed-size values, in bytes */
    int64_t units_per_second; /* of timestamps */
};

/* False for a format that Delta has no type for (time, duration, interval, union, negative scale) or that is malformed. */
bool sl_arrow_format_parse(const char *format, struct sl_arrow_format *out);

/*
 * One element of an array of this format without dictionary or runs, as sl_value_from_arrow gives it; for who reads many with one
 * format. i counts from the start of the buffers, is within them, and the element is not null. Borrows from the array.
 */
bool sl_arrow_flat_value(const struct sl_arrow_format *format, const struct ArrowArray *array, int64_t i,
                         silt_value *out);

#endif
