/*
 * The commits that a catalog hands out (PROTOCOL.md "Reading Catalog-managed Tables"): ratified, perhaps not published yet, staged
 * in a file or inline. They join the listing of a log: the catalog's commit of a version stands before a published one, and
 * nothing newer than the catalog's version counts. Pure.
 */
#ifndef SL_KERNEL_LOG_CATALOG_TAIL_H
#define SL_KERNEL_LOG_CATALOG_TAIL_H

#include "base/arena.h"
#include "base/vec.h"
#include "kernel/log/commit.h"

struct sl_catalog_tail {
    const struct sl_log_file *commits; /* ascending, without gaps */
    size_t n;
    int64_t latest_version;
};

/*
 * Checks what a catalog said: versions ascend without gaps and end at or below the latest one; a staged commit's name is
 * `<v>.<uuid>.json` of its version. SILT_EINVALID names the commit.
 */
silt_status sl_catalog_tail_check(const struct sl_catalog_tail *tail, silt_error *err);

/* Puts the tail's commits from a version on into a listing (struct sl_log_file, in the order of versions). */
silt_status sl_catalog_tail_merge(const struct sl_catalog_tail *tail, int64_t from_version, struct sl_vec *files,
                                  silt_error *err);

#endif
