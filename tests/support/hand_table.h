/*
 * Tables written by hand, as another writer could have left them: lines of commits and data files with any name in the
 * warehouse of a session fixture. Everything must succeed; texts live as long as the test.
 */
#ifndef SILT_HAND_TABLE_H
#define SILT_HAND_TABLE_H

#include "session_fixture.h"

#define HAND_PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}"
#define HAND_FIELD(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{}}"
#define HAND_REQUIRED(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":false,\"metadata\":{}}"

/* A file with this text; path is relative to the warehouse. */
void hand_put(struct session_fixture *s, const char *path, const char *text);
/* The text of a file of the warehouse; the test fails when there is none. */
const char *hand_read(struct session_fixture *s, const char *path);
/* The rows of a query as a Parquet file. */
void hand_parquet(struct session_fixture *s, const char *path, const char *query);

/* Removes a table, or any folder or file of the warehouse. */
void hand_remove(struct session_fixture *s, const char *path);

/* Lines end with NULL. */
void hand_commit(struct session_fixture *s, const char *table, int64_t version, ...) __attribute__((sentinel));
/* The text of a commit. */
const char *hand_log(struct session_fixture *s, const char *table, int64_t version);
/* metaData of fields ("HAND_FIELD, HAND_FIELD"), partition columns ("\"a\", \"b\"") and properties ("\"k\": \"v\""). */
const char *hand_metadata(struct session_fixture *s, const char *fields, const char *partition_columns,
                          const char *properties);
/* Version 0 with HAND_PROTOCOL and that metaData without properties. */
void hand_create(struct session_fixture *s, const char *table, const char *fields, const char *partition_columns);
/* An add action. path is as in the log (encoded), partition_values and stats are JSON; stats NULL: none. */
const char *hand_add(struct session_fixture *s, const char *path, const char *partition_values, const char *stats);

#endif
