/*
 * The check of a table as tests see it: each finding is a line "fault statistics 1 v a.parquet: 5 for 1", that is severity, check, version,
 * column, file, found and expected, "-" for what is absent. Parts of files' names that writers choose by chance are left out.
 */
#ifndef SILT_FSCK_FINDINGS_H
#define SILT_FSCK_FINDINGS_H

#include "base/buf.h"
#include "silt/silt.h"

struct fsck_findings {
    const silt_call *call; /* of the check; NULL: none */
    struct sl_buf lines;
    struct sl_buf messages; /* of all findings, a line each */
    silt_fsck_report report;
    silt_error err;
    silt_status status;
};

/* options NULL: everything. Zero the struct before the first use; what it had is forgotten. */
void fsck_run(struct fsck_findings *f, silt_table *table, const silt_fsck_options *options);
void fsck_release(struct fsck_findings *f);

/* The check must have come to its end with these lines. */
void fsck_expect(struct fsck_findings *f, const char *lines);
/* … with this among the messages. */
void fsck_expect_message(struct fsck_findings *f, const char *part);

#endif
