/*
 * The report of a check for people: what was checked, findings by check, a verdict.
 */
#ifndef SL_CLI_FSCK_REPORT_H
#define SL_CLI_FSCK_REPORT_H

#include "base/buf.h"
#include "base/vec.h"
#include "silt/commands.h"

/* findings: struct silt_fsck_finding. `table` as typed. */
void sl_fsck_report_put(struct sl_buf *out, const char *table, const silt_fsck_report *report,
                        const struct sl_vec *findings);

#endif
