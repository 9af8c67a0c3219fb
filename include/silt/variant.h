/*
 * Variants: values of any shape in the binary encoding of Parquet and Spark (PROTOCOL.md "Variant Data Type").
 *
 * A column of type variant is handed out as an Arrow struct of two binary members, `metadata` and `value`, under the extension name
 * "arrow.parquet.variant". A null variant (JSON's null) is a value like any other: the struct is there. Pure functions, any thread.
 */
#ifndef SILT_VARIANT_H
#define SILT_VARIANT_H

#include <stddef.h>

#include "silt/export.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One variant. Bytes are borrowed. */
typedef struct silt_variant {
    const void *metadata;
    size_t metadata_len;
    const void *value;
    size_t value_len;
} silt_variant;

/*
 * The JSON that a variant is: integers and decimals with all their digits, NaN and infinities as strings, binary as base64, dates and
 * times as ISO 8601 text (zone Z where they are instants), UUIDs in their usual form. Writes at most buf_size bytes, NUL included if there
 * is room, and sets *json_len to the length of the whole text: if that is not below buf_size, call again with more room.
 * SILT_ECORRUPT for bytes that are no variant, SILT_ELIMIT for one that is nested too deeply.
 */
SILT_API SILT_NODISCARD silt_status silt_variant_to_json(const silt_variant *variant, char *buf, size_t buf_size,
                                                         size_t *json_len, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
