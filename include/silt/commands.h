/*
 * Commands: what is done with a table as a whole. So far the check of a table (fsck), which only reads, and its removal.
 *
 * Functions may be called from any thread, one call at a time for each callback.
 */
#ifndef SILT_COMMANDS_H
#define SILT_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"
#include "silt/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum silt_fsck_severity {
    SILT_FSCK_NOTE = 0, /* odd, but no reader returns wrong rows for it */
    SILT_FSCK_FAULT = 1 /* breaks the protocol, or makes an engine fail, skip rows or miscount */
} silt_fsck_severity;

/* Something found. Text is borrowed during the callback; NULL where it does not apply. */
typedef struct silt_fsck_finding {
    uint32_t size;
    silt_fsck_severity severity;
    const char *check;    /* "log", "commit", "checkpoint", "compacted", "last-checkpoint", "checksum", "file", "data",
                            "deletion-vector", "statistics", "partition-value", "row-id", "change-file" */
    int64_t version;      /* of the table, -1 if none is concerned */
    const char *file;     /* path as in the log, or the name of a file of the log */
    const char *column;   /* names joined by dots */
    const char *message;  /* one line */
    const char *expected; /* what the data or the rest of the log says */
    const char *found;    /* what is stated */
} silt_fsck_finding;

typedef struct silt_fsck_options {
    uint32_t size;
    bool no_data;           /* the log only: data files and deletion vectors are not looked at */
    int64_t sample_files;   /* read so many data files, chosen by chance; 0: see the next */
    double sample_fraction; /* read this part of the data files, above 0 and below 1; 0: all */
    uint64_t seed;          /* of the choice; 0: one is drawn, the report tells it */
    int64_t max_findings;   /* of one check that are told, more are only counted; 0: 1,000 */
} silt_fsck_options;

/* What was checked. */
typedef struct silt_fsck_report {
    uint32_t size;
    bool readable;   /* the newest version could be opened */
    int64_t version; /* the newest, -1 if none was found */
    int64_t commits;
    int64_t checkpoints;
    int64_t compacted;
    int64_t checksums;
    int64_t files;      /* live data files whose existence, size and partition values were checked */
    int64_t files_read; /* of these read and compared with their statistics */
    int64_t rows_read;
    int64_t statistics; /* minima, maxima, counts of nulls and rows compared with the data */
    int64_t vectors;
    int64_t row_ids; /* files whose ranges of row ids were compared */
    int64_t change_files;
    uint64_t seed; /* of the sample, 0: all were read */
    int64_t faults;
    int64_t notes;
    int64_t untold; /* findings beyond max_findings of their check */
} silt_fsck_report;

/*
 * Checks a table: replays its log in different ways and compares them with each other and with checkpoints, compacted files and
 * version checksums; looks for every live file; compares the statistics of files with their rows, deletion vectors with their
 * files, row ids with each other.
 *
 * on_finding is called for whatever is wrong, one call at a time, perhaps from another thread; false ends the check
 * (SILT_ECANCELLED). Others may go on meanwhile: what is wrong with the log is told when all of it was looked at, and if a clean-up took away
 * files of it by then, what it left is checked instead; a data file that cannot be read is a fault if the newest version has it. A fault of
 * the table is a finding, not an error; also a table that cannot be opened is checked as far as it goes. What may not be read, and a store that
 * fails, is an error and no finding (SILT_EACCESS, SILT_EIO): where that belongs to the log the check ends; where another file may not be read,
 * it goes on and fails in the end. *report (size set by the caller) is filled in every case. options NULL: everything is checked.
 * SILT_ENOTTABLE: nothing of a log is there; SILT_EENGINE or SILT_EUNSUPPORTED: the engine is not the default one, or its data plane cannot be
 * loaded, and options->no_data was not set.
 */
SILT_API SILT_NODISCARD silt_status silt_table_fsck(silt_table *table, const silt_call *call,
                                                    const silt_fsck_options *options,
                                                    bool (*on_finding)(void *ctx, const silt_fsck_finding *finding),
                                                    void *ctx, silt_fsck_report *report, silt_error *err);

/*
 * Removes a table: its folder with everything in it, files that no version names included. Links in it are removed, not followed.
 * SILT_ENOTTABLE when there is no log; SILT_EINVALID when another table lies within it, or the folder is a link; SILT_EUNSUPPORTED when a
 * catalog manages the table or the store cannot remove folders (a local one: a mount point, or one that the file system cannot rename). A failure of the store while it removes can leave the table gone and files of
 * it still there: the next attempt then says SILT_ENOTTABLE. Writers that are still at work may leave files at the place.
 */
SILT_API SILT_NODISCARD silt_status silt_table_drop(silt_table *table, const silt_call *call, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
