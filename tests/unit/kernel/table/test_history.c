/*
 * History: newest first, whatever commitInfo holds, also of tables that cannot be read.
 */
#include "log_fixture.h"

#include <stdio.h>
#include <string.h>

struct told {
    size_t n;
    size_t stop_after;
    int64_t versions[8];
    int64_t times[8];
    char operations[8][32];
    char parameters[64];
    int64_t read_version;
    int32_t is_blind_append;
};

static bool take(void *ctx, const silt_history_entry *entry)
{
    struct told *told = ctx;
    assert_true(told->n < 8);
    told->versions[told->n] = entry->version;
    told->times[told->n] = entry->timestamp_ms;
    (void)snprintf(told->operations[told->n], 32, "%s", entry->operation != NULL ? entry->operation : "-");
    (void)snprintf(told->parameters, sizeof(told->parameters), "%s",
                   entry->operation_parameters != NULL ? entry->operation_parameters : "-");
    told->read_version = entry->read_version;
    told->is_blind_append = entry->is_blind_append;
    told->n++;
    return told->n != told->stop_after;
}

static void versions_are_told_newest_first(void **state)
{
    struct log_fixture *f = *state;
    log_set_time_ms(f, 1000);
    log_commit(f, 0,
               "{\"commitInfo\":{\"operation\":\"CREATE TABLE\",\"operationParameters\":{\"auto\":false,\"by\":[]},"
               "\"readVersion\":-1,\"isBlindAppend\":true}}",
               LOG_PROTOCOL, LOG_METADATA, NULL);
    log_commit(f, 1, LOG_ADD("a"), NULL);
    log_set_time_ms(f, 500);
    log_commit(f, 2, "{\"commitInfo\":{\"operation\":\"WRITE\",\"timestamp\":\"soon\"}}", LOG_ADD("b"), NULL);
    struct told told = {.n = 0};
    assert_int_equal(silt_table_history(f->table, NULL, 0, take, &told, &f->err), SILT_OK);
    assert_int_equal(told.n, 3);
    assert_int_equal(told.versions[0], 2);
    assert_int_equal(told.times[0], 1002); /* file times are made to grow */
    assert_int_equal(told.times[1], 1001);
    assert_int_equal(told.times[2], 1000);
    assert_string_equal(told.operations[0], "WRITE");
    assert_string_equal(told.operations[1], "-");
    assert_string_equal(told.parameters, "{\"auto\":false,\"by\":[]}");
    assert_int_equal(told.read_version, -1);
    assert_int_equal(told.is_blind_append, 1);
}

static void a_limit_reads_no_more(void **state)
{
    struct log_fixture *f = *state;
    for (int i = 0; i < 5; i++) {
        log_commit(f, i, LOG_ADD("a"), NULL);
    }
    const size_t reads = f->n_reads;
    struct told told = {.n = 0};
    assert_int_equal(silt_table_history(f->table, NULL, 2, take, &told, &f->err), SILT_OK);
    assert_int_equal(told.n, 2);
    assert_int_equal(told.versions[1], 3);
    assert_int_equal(f->n_reads, reads + 2);
    told = (struct told){.stop_after = 1};
    assert_int_equal(silt_table_history(f->table, NULL, 0, take, &told, &f->err), SILT_OK);
    assert_int_equal(told.n, 1);
}

static void a_table_that_cannot_be_read_has_a_history(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, "{\"commitInfo\":{\"operation\":\"X\",\"inCommitTimestamp\":77}}",
               "{\"protocol\":{\"minReaderVersion\":99,\"minWriterVersion\":7}}", NULL);
    struct told told = {.n = 0};
    assert_int_equal(silt_table_history(f->table, NULL, 0, take, &told, &f->err), SILT_OK);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.times[0], 77);
}

static void commits_that_do_not_parse_are_told_without_words(void **state)
{
    struct log_fixture *f = *state;
    log_put(f, "00000000000000000000.json", "{\"add\":{\"path\n{\"commitInfo\":{\"operation\":\"X\"}}\n");
    log_put(f, "00000000000000000001.json", "{\"commitInfo\":{\"operation\":\"Y");
    struct told told = {.n = 0};
    assert_int_equal(silt_table_history(f->table, NULL, 0, take, &told, &f->err), SILT_OK);
    assert_int_equal(told.n, 2);
    assert_string_equal(told.operations[0], "-");
    assert_string_equal(told.operations[1], "X");
}

static void no_table_has_no_history(void **state)
{
    struct log_fixture *f = *state;
    struct told told = {.n = 0};
    assert_int_equal(silt_table_history(f->table, NULL, 0, take, &told, &f->err), SILT_ENOTTABLE);
    assert_int_equal(told.n, 0);
}

#define ICT_PROTOCOL \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"inCommitTimestamp\"]}}"
#define ICT_METADATA(configuration)                                                                                     \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\"" \
    ",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{" configuration "}}}"

/* As time travel does: only those since the last enablement (PROTOCOL.md "In-Commit Timestamps"). */
static void in_commit_timestamps_count_from_their_enablement_on(void **state)
{
    struct log_fixture *f = *state;
    log_set_time_ms(f, 1000);
    log_commit(f, 0, "{\"commitInfo\":{\"inCommitTimestamp\":5}}", ICT_PROTOCOL,
               ICT_METADATA("\"delta.enableInCommitTimestamps\":\"true\""), NULL);
    log_set_time_ms(f, 2000);
    log_commit(f, 1, ICT_METADATA(""), NULL);
    log_set_time_ms(f, 900000);
    log_commit(f, 2, "{\"commitInfo\":{\"inCommitTimestamp\":3000}}",
               ICT_METADATA("\"delta.enableInCommitTimestamps\":\"true\",\"delta.inCommitTimestampEnablementVersion\":"
                            "\"2\",\"delta.inCommitTimestampEnablementTimestamp\":\"3000\""),
               NULL);
    struct told told = {.n = 0};
    assert_int_equal(silt_table_history(f->table, NULL, 0, take, &told, &f->err), SILT_OK);
    assert_int_equal(told.n, 3);
    assert_int_equal(told.times[0], 3000);
    assert_int_equal(told.times[1], 2000);
    assert_int_equal(told.times[2], 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(versions_are_told_newest_first),
        LOG_TEST(a_limit_reads_no_more),
        LOG_TEST(a_table_that_cannot_be_read_has_a_history),
        LOG_TEST(commits_that_do_not_parse_are_told_without_words),
        LOG_TEST(no_table_has_no_history),
        LOG_TEST(in_commit_timestamps_count_from_their_enablement_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
