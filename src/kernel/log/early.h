/*
 * Parts of the log's files that are asked for together, in one round, as soon as it is known that they will be read: commits and the ends of
 * checkpoints, or all of small ones. What came is handed out by a store that stands before the table's own, so that whoever reads need not
 * know; what it does not have it reads there.
 *
 * Filled by one thread before others see it, then read by any. The end of a file counts for some seconds only: then the store is asked again
 * which version of the file it has. A file that came whole is kept as long as the store.
 */
#ifndef SL_KERNEL_LOG_EARLY_H
#define SL_KERNEL_LOG_EARLY_H

#include "base/str.h"
#include "silt/storage.h"

struct sl_early;

/* One file and how much of it. */
struct sl_early_want {
    const char *path;
    int64_t size_bytes; /* as it was listed; -1 if not known */
    int64_t end_bytes;  /* so many of its last bytes; size_bytes or more: all of it */
};

/* One reference, see ref. `inner` is held. */
silt_status sl_early_new(const silt_env *env, silt_storage *inner, struct sl_early **out, silt_error *err);
struct sl_early *sl_early_ref(struct sl_early *early);  /* NULL is legal */
void sl_early_unref(struct sl_early *early);            /* NULL is legal */
silt_storage *sl_early_storage(struct sl_early *early); /* that hands out what came; borrowed */

/*
 * Asks for all of them at once. Files of another size than was listed, and those that are not there, count as not asked for; another failure
 * of a file is told to whoever reads it first.
 */
silt_status sl_early_bring(struct sl_early *early, const silt_call *call, const struct sl_early_want *wants, size_t n,
                           silt_error *err);

/* What the store said of a file whose end came: its size, and whether it tells versions apart. False: it did not come. */
bool sl_early_knows(const struct sl_early *early, struct sl_str path, int64_t *size_bytes, bool *has_tag);

#endif
