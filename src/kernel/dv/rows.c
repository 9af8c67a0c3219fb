/*
 * The rows of a file that a scan wants; see silt/deletion_vector.h.
 */
#include "silt/deletion_vector.h"

#include "base/error.h"

silt_status silt_rows_load(silt_storage *storage, const silt_call *call, const silt_rows_request *requests, size_t n,
                           silt_rows **out, silt_error *err)
{
    (void)storage;
    (void)call;
    for (size_t i = 0; i < n; i++) {
        out[i] = NULL;
        if (requests[i].deleted != NULL || requests[i].selected != NULL) {
            return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                           "file %s has a deletion vector; table feature deletionVectors is not supported",
                           requests[i].file);
        }
    }
    return SILT_OK;
}

void silt_rows_free(silt_rows *rows)
{
    (void)rows;
}

void silt_rows_mask(const silt_rows *rows, int64_t first, size_t n, uint8_t *live)
{
    (void)rows;
    (void)first;
    for (size_t i = 0; i < n; i++) {
        live[i] = 1;
    }
}

int64_t silt_rows_next_live(const silt_rows *rows, int64_t from)
{
    (void)rows;
    return from;
}

int64_t silt_rows_next_dead(const silt_rows *rows, int64_t from)
{
    (void)rows;
    (void)from;
    return INT64_MAX;
}
