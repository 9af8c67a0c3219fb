/*
 * From a descriptor and bytes to a set of rows (PROTOCOL.md "Deletion Vector File Storage Format"): in a vector file a payload stands
 * between its size and its CRC-32, both big-endian; an inline one is Z85 text in the log. Everything the descriptor claims is
 * checked against the bytes. No I/O: this is where fuzzers enter.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/dv/dv.h"
#include "kernel/dv/dv_bytes.h"
#include "kernel/dv/z85.h"

enum {
    FORMAT_VERSION = 1,
    Z85_CHARS = 5,
    Z85_BYTES = 4
};

silt_status sl_dv_check_version(struct sl_str head, silt_error *err)
{
    if (head.len == 0) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the file is empty");
    }
    if (head.ptr[0] != FORMAT_VERSION) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "the file has format version %d, expected 1",
                       (int)(uint8_t)head.ptr[0]);
    }
    return SILT_OK;
}

static silt_status size_mismatch(silt_error *err, int64_t found, int64_t expected)
{
    return sl_fail(err, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_SIZE_MISMATCH",
                   "it has %" PRId64 " bytes, its descriptor says %" PRId64, found, expected);
}

/* The payload in the frame, after the checks of size and checksum. */
static silt_status unframe(struct sl_str frame, int64_t size, struct sl_str *payload, silt_error *err)
{
    if (frame.len < SL_DV_FRAME_HEAD) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", "the file ends before it");
    }
    const uint8_t *bytes = (const uint8_t *)frame.ptr;
    const uint32_t stored = sl_dv_u32_big(bytes);
    if ((int64_t)stored != size) {
        return size_mismatch(err, (int64_t)stored, size);
    }
    if (frame.len - SL_DV_FRAME_HEAD < (size_t)stored + SL_DV_FRAME_TAIL) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", "the file ends within it");
    }
    const uint8_t *start = bytes + SL_DV_FRAME_HEAD;
    const uint32_t found = (uint32_t)crc32(0, start, stored);
    const uint32_t expected = sl_dv_u32_big(start + stored);
    if (found != expected) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH",
                       "its CRC-32 is %08" PRIx32 ", the file says %08" PRIx32, found, expected);
    }
    *payload = sl_str_make(frame.ptr + SL_DV_FRAME_HEAD, stored);
    return SILT_OK;
}

static silt_status open_inline(const silt_env *env, const silt_deletion_vector *dv, struct sl_dv_set *out,
                               silt_error *err)
{
    const struct sl_str text = sl_str_from(dv->inline_data);
    if (text.len == 0 && dv->size_in_bytes == 0 && dv->cardinality == 0) {
        *out = (struct sl_dv_set){.env = env, .last = -1}; /* how Delta Spark writes a vector of no rows */
        return SILT_OK;
    }
    if (text.len > SL_DV_MAX_SIZE) {
        return sl_fail(err, SILT_ELIMIT, NULL, "its text has %zu characters, more than 2147483647", text.len);
    }
    const size_t capacity = text.len / Z85_CHARS * Z85_BYTES; /* the text is filled up to whole groups */
    const size_t size = (size_t)dv->size_in_bytes;
    if (size > capacity || capacity - size >= Z85_BYTES) {
        return size_mismatch(err, (int64_t)capacity, dv->size_in_bytes);
    }
    uint8_t *bytes = sl_alloc(env, capacity);
    if (bytes == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = SILT_OK;
    size_t n = 0;
    if (!sl_z85_decode_short(text, bytes, &n)) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "its text is not Z85");
    } else if (size > n) {
        status = size_mismatch(err, (int64_t)n, dv->size_in_bytes);
    } else {
        status = sl_dv_parse(env, sl_str_make((const char *)bytes, size), out, err);
    }
    sl_release(env, bytes, capacity);
    return status;
}

static silt_status check_set(const silt_deletion_vector *dv, int64_t num_records, const struct sl_dv_set *set,
                             silt_error *err)
{
    if (set->cardinality != dv->cardinality) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH",
                       "it has %" PRId64 " rows, its descriptor says %" PRId64, set->cardinality, dv->cardinality);
    }
    if (num_records >= 0 && set->last >= num_records) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX",
                       "it has row %" PRId64 " of a file with %" PRId64 " rows", set->last, num_records);
    }
    return SILT_OK;
}

silt_status sl_dv_open(const silt_env *env, const silt_deletion_vector *dv, struct sl_str frame, int64_t num_records,
                       struct sl_dv_set *out, silt_error *err)
{
    *out = (struct sl_dv_set){.env = env, .last = -1};
    if (dv->size_in_bytes < 0 || dv->size_in_bytes > SL_DV_MAX_SIZE) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "its size is %" PRId64 " bytes, expected 0 to 2147483647",
                       dv->size_in_bytes);
    }
    silt_status status = SILT_OK;
    if (dv->storage_type == 'i') {
        status = open_inline(env, dv, out, err);
    } else {
        struct sl_str payload = {NULL, 0};
        status = unframe(frame, dv->size_in_bytes, &payload, err);
        if (status == SILT_OK) {
            status = sl_dv_parse(env, payload, out, err);
        }
    }
    if (status == SILT_OK) {
        status = check_set(dv, num_records, out, err);
    }
    if (status != SILT_OK) {
        sl_dv_set_release(out);
    }
    return status;
}
