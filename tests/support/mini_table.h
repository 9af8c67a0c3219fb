/*
 * Tables of the mini engine for tests: a first commit from few words, and scans in one call.
 */
#ifndef SILT_TEST_MINI_TABLE_H
#define SILT_TEST_MINI_TABLE_H

#include "mini_engine.h"

/* One column of a table. */
struct mini_field {
    const char *name;
    const char *type; /* as in Delta's schema JSON: "long", "string" … */
};

/*
 * Writes version 0: protocol (1,2), metaData with these columns and partition columns (a JSON array), then the lines given.
 * False when the log has a version 0.
 */
bool mini_table_make(struct mini_engine *mini, const char *root, const struct mini_field *fields, size_t n_fields,
                     const char *partition_columns, const char *const *lines, size_t n_lines);

/* A scan of the newest version; columns NULL: all; filter NULL: none. */
silt_status mini_table_scan(struct mini_engine *mini, const char *root, const char *const *columns, size_t n_columns,
                            const char *filter, silt_scan **out, silt_error *err);

#endif
