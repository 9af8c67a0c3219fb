/*
 * Version checksums (PROTOCOL.md "Version Checksum File"): `N.crc` holds protocol, metadata and totals of a version, so that a table
 * can be opened without its checkpoint. What it says is checked as far as it can be checked alone here; against the log in
 * snapshot/crc_verify.c. Called by snapshot loading, fsck, and by what follows a commit. Any thread.
 */
#ifndef SL_KERNEL_LOG_CRC_H
#define SL_KERNEL_LOG_CRC_H

#include "base/arena.h"
#include "kernel/action/action.h"
#include "kernel/log/commit_batch.h"
#include "kernel/log/crc_histogram.h"

/* Larger ones are not read: what they would save is lost on them. */
#define SL_CRC_MAX_BYTES (INT64_C(64) * 1024 * 1024)

/* What its writer lets allFiles grow to. */
#define SL_CRC_MAX_FILES_BYTES ((size_t)1024 * 1024)

struct sl_crc {
    int64_t version;
    struct sl_str txn_id; /* absent if none */
    int64_t table_size;   /* bytes of the live files */
    int64_t n_files;
    int64_t in_commit_timestamp; /* SL_NO_I64 if absent */
    struct sl_protocol protocol;
    struct sl_metadata metadata;
    bool has_txns; /* false: it does not say which applications have recorded a version */
    const struct sl_app_txn *txns;
    size_t n_txns;
    bool has_domains;
    const struct sl_domain_metadata *domains;
    size_t n_domains;
    int64_t n_deleted_records; /* SL_NO_I64 if absent */
    int64_t n_deletion_vectors;
    bool has_sizes;
    struct sl_size_histogram sizes;
    bool has_deleted_bins; /* how many files have lost how many records */
    int64_t deleted_bins[SL_DELETED_BINS];
    bool has_all_files;
    const struct sl_add *all_files;
    size_t n_all_files;
    /* The first n_listed of them as they are written, so that they need not be written anew; absent, 0: not at hand. */
    struct sl_str listed;
    size_t n_listed;
};

/*
 * Text lies in the arena. SILT_ECORRUPT names the member that is missing, of a wrong kind, negative, or in contradiction to
 * another one (histogram, allFiles). all_files false: they are counted but not kept.
 */
silt_status sl_crc_parse(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                         bool all_files, struct sl_crc *out, silt_error *err);

/*
 * Appends the checksum as the text of its file. Members that it has not are left out, and so is a list of files of more than
 * SL_CRC_MAX_FILES_BYTES. *listed: what `listed` may be for all of all_files, a view of the buffer; absent when they are left out. NULL: not asked.
 */
silt_status sl_crc_write(struct sl_buf *out, const struct sl_crc *crc, struct sl_str *listed, silt_error *err);
/* "<version>.crc" in the arena; NULL: out of memory. */
const char *sl_crc_name(struct sl_arena *arena, int64_t version);

/* Reads and parses one of a listing. SILT_ECORRUPT, SILT_ELIMIT: not to be used; SILT_ENOTFOUND: it is gone. */
silt_status sl_crc_read(const struct sl_log_source *source, const silt_call *call, const struct sl_log_file *file,
                        bool all_files, struct sl_arena *arena, struct sl_crc *out, silt_error *err);

#endif
