/*
 * Where the versions of a table are given away: the folder of its log, by a conditional create of the store, or the table's catalog, by its
 * committer. Only the answer to a request says who owns a version.
 */
#ifndef SL_KERNEL_TXN_COMMIT_PLACE_H
#define SL_KERNEL_TXN_COMMIT_PLACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/uuid.h"
#include "kernel/log/commit.h"
#include "silt/committer.h"
#include "silt/storage.h"

struct sl_commit_place {
    const silt_env *env;
    silt_storage *storage;     /* borrowed */
    struct sl_str root;        /* of the table */
    silt_committer *committer; /* borrowed; NULL: the log's folder */
    bool rests;                /* the transaction rests on versions that are there; else it makes a table */

    /* What was staged last, for the committer; zero at first. */
    int64_t staged_version;
    int64_t staged_ms;
    char staged_name[SL_UUID_TEXT_SIZE + 32]; /* empty: nothing */
};

/* Asks for a version. Answers and failures as those of silt_storage_put_beside, or for what makes a table silt_storage_put_if_absent. */
silt_status sl_place_put(struct sl_commit_place *place, const silt_call *call, int64_t version, struct sl_str bytes,
                         silt_put_outcome *outcome, silt_error *err);

/* Fills out with the bytes of a version. SILT_ENOTFOUND: it is free, as far as can be seen. */
silt_status sl_place_read(const struct sl_commit_place *place, const silt_call *call, int64_t version,
                          struct sl_buf *out, silt_error *err);

/* Takes back a version of ours that stands alone. Not subject to the deadline of a call. */
silt_status sl_place_take_back(const struct sl_commit_place *place, int64_t version, silt_error *err);

/* Is there no folder of the log any more? False where that cannot be learned, and for a catalog's table. */
bool sl_place_is_gone(const struct sl_commit_place *place, const silt_call *call);

/* After an end in which nothing of ours is, or will be, in the log: what was staged is removed. */
void sl_place_drop_staged(struct sl_commit_place *place);

/* When the file of a version was written, milliseconds. */
silt_status sl_place_time(const struct sl_commit_place *place, const silt_call *call, int64_t version, int64_t *time_ms,
                          silt_error *err);

/* Copies the commits that the committer still holds to their published names; *version as silt_table_publish says. */
silt_status sl_place_publish(const struct sl_commit_place *place, const silt_call *call, int64_t *version,
                             silt_error *err);

/* For the two files of this: the bytes of a file of the log, by its name within it. */
silt_status sl_place_read_file(const struct sl_commit_place *place, const silt_call *call, struct sl_str name,
                               struct sl_buf *out, silt_error *err);
/* The same of the published commit. */
silt_status sl_place_read_published(const struct sl_commit_place *place, const silt_call *call, int64_t version,
                                    struct sl_buf *out, silt_error *err);
silt_status sl_catalog_put(struct sl_commit_place *place, const silt_call *call, int64_t version, struct sl_str bytes,
                           silt_put_outcome *outcome, silt_error *err);
silt_status sl_catalog_read(const struct sl_commit_place *place, const silt_call *call, int64_t version,
                            struct sl_buf *out, silt_error *err);

#endif
