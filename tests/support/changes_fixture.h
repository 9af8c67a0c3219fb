/*
 * Change data for tests: a table of the mini engine that records it, commits at known times, and ranges of changes as text. Version v is
 * committed at second v + 1 of 1970, so that its "_commit_timestamp" reads (v + 1)000000. Everything must succeed unless it is said to fail.
 */
#ifndef SILT_CHANGES_FIXTURE_H
#define SILT_CHANGES_FIXTURE_H

#include "test_env.h"

#include "base/arena.h"
#include "mini_engine.h"
#include "silt/changes.h"

#define CHANGES_ROOT "memory://t"
#define CHANGES_PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":4}}"
#define CHANGES_PROTOCOL_MAPPED "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}"
#define CHANGES_PROTOCOL_VECTORS                                                                             \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"deletionVectors\"]," \
    "\"writerFeatures\":[\"deletionVectors\",\"changeDataFeed\"]}}"
#define CHANGES_ON "\"delta.enableChangeDataFeed\":\"true\""
#define CHANGES_FIELD(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{}}"
/* A field under column mapping; id is a number. */
#define CHANGES_MAPPED(name, type, physical, id)                                                                   \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":" #id \
    ",\"delta.columnMapping.physicalName\":\"" physical "\"}}"
/* Actions of a file without partition values. */
#define CHANGES_ADD(path) \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":5,\"modificationTime\":7,\"dataChange\":true}}"
#define CHANGES_REMOVE(path)        \
    "{\"remove\":{\"path\":\"" path \
    "\",\"deletionTimestamp\":7,\"dataChange\":true,\"extendedFileMetadata\":true,\"partitionValues\":{},\"size\":5}}"
#define CHANGES_CDC(path) "{\"cdc\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":5,\"dataChange\":false}}"

struct changes_fixture {
    struct test_env test;
    struct mini_engine mini;
    struct sl_arena arena; /* texts that live as long as the test */
    silt_error err;
    char rows[4096]; /* of changes_read */
};

/* For cmocka: *state is a struct changes_fixture *. Tearing down fails the test on a leak. */
int changes_setup(void **state);
int changes_teardown(void **state);
#define CHANGES_TEST(name) cmocka_unit_test_setup_teardown(name, changes_setup, changes_teardown)

/* Lines end with NULL. */
void changes_commit(struct changes_fixture *f, int64_t version, ...) __attribute__((sentinel));
void changes_commit_at(struct changes_fixture *f, int64_t version, int64_t ms, ...) __attribute__((sentinel));
/* metaData of fields ("CHANGES_FIELD(…),…"), partition columns ("\"p\"") and properties ("\"k\":\"v\""). */
const char *changes_metadata(struct changes_fixture *f, const char *fields, const char *partition_columns,
                             const char *properties);
/* An action with a deletion vector of these rows: verb is "add" or "remove". */
const char *changes_vector(struct changes_fixture *f, const char *verb, const char *path, const int64_t *rows,
                           size_t n);
/* Version 0: columns id (long) and name (string), change data recorded. */
void changes_make(struct changes_fixture *f);
/* A file of ids from `first` on, named "a", "b" …; n at most 8. */
void changes_file(struct changes_fixture *f, const char *path, int64_t first, size_t n);
/* A change file: ids from `first` on, all with this type of change. */
void changes_change_file(struct changes_fixture *f, const char *path, int64_t first, size_t n, const char *type);

/* Options of a range of versions. */
silt_changes_options changes_range(int64_t from, int64_t to);
silt_status changes_try(struct changes_fixture *f, const silt_changes_options *options, silt_changes **out);
/* The rows as mini_rows_text has them; in f->rows. */
const char *changes_read(struct changes_fixture *f, const silt_changes_options *options);
void changes_expect(struct changes_fixture *f, int64_t from, int64_t to, const char *rows);
/* Planning must fail like this, with this in the message. */
void changes_expect_failure(struct changes_fixture *f, const silt_changes_options *options, silt_status status,
                            const char *code_name, const char *in_message);

#endif
