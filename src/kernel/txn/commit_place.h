/*
 * Where the versions of a table are given away: the folder of its log, by a conditional create of the store. Only its answer says who
 * owns a version.
 */
#ifndef SL_KERNEL_TXN_COMMIT_PLACE_H
#define SL_KERNEL_TXN_COMMIT_PLACE_H

#include "base/str.h"
#include "silt/storage.h"

struct sl_commit_place {
    const silt_env *env;
    silt_storage *storage; /* borrowed */
    struct sl_str root;    /* of the table */
};

/* Asks for a version. Answers and failures as those of silt_storage_put_if_absent. */
silt_status sl_place_put(const struct sl_commit_place *place, const silt_call *call, int64_t version,
                         struct sl_str bytes, silt_put_outcome *outcome, silt_error *err);

/* The bytes of a version, to be freed with sl_place_free. SILT_ENOTFOUND: it is free, as far as can be seen. */
silt_status sl_place_read(const struct sl_commit_place *place, const silt_call *call, int64_t version, void **data,
                          size_t *len, silt_error *err);
void sl_place_free(const struct sl_commit_place *place, void *data, size_t len); /* NULL data is legal */

/* When the file of a version was written, milliseconds. */
silt_status sl_place_time(const struct sl_commit_place *place, const silt_call *call, int64_t version, int64_t *time_ms,
                          silt_error *err);

#endif
