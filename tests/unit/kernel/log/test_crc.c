/*
 * Version checksums: what is taken, what is refused, what must agree within one file.
 */
#include "log_fixture.h"

#include <string.h>

#include "kernel/log/crc.h"

#define METADATA                                                                                        \
    "\"metadata\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":" \
    "\"{}\",\"partitionColumns\":[],\"configuration\":{}}"
#define PROTOCOL "\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}"
#define COUNTS(files, bytes) "\"numFiles\":" files ",\"tableSizeBytes\":" bytes ",\"numMetadata\":1,\"numProtocol\":1"
#define CRC(counts, more) "{" counts "," METADATA "," PROTOCOL more "}"
#define ADD(path, size) \
    "{\"path\":\"" path "\",\"partitionValues\":{},\"size\":" size ",\"modificationTime\":1,\"dataChange\":true}"

struct parsed {
    silt_status status;
    struct sl_crc crc;
    silt_error err;
    struct sl_arena arena;
};

static void parse(struct log_fixture *f, const char *json, bool all_files, struct parsed *out)
{
    *out = (struct parsed){.err = SILT_ERROR_INIT};
    sl_arena_init(&out->arena, &f->test.env);
    out->status = sl_crc_parse(&f->test.env, &out->arena, 7, sl_str_from(json), all_files, &out->crc, &out->err);
}

static void expect_bad(struct log_fixture *f, const char *json, const char *in_message)
{
    struct parsed out;
    parse(f, json, true, &out);
    assert_int_equal(out.status, SILT_ECORRUPT);
    assert_int_equal(out.err.version, 7);
    if (strstr(out.err.message, in_message) == NULL) {
        print_error("%s: %s\n", json, out.err.message);
    }
    assert_non_null(strstr(out.err.message, in_message));
    sl_arena_release(&out.arena);
}

static void members_are_taken(void **state)
{
    struct log_fixture *f = *state;
    struct parsed out;
    parse(f,
          CRC(COUNTS("2", "30"),
              ",\"txnId\":\"t\",\"inCommitTimestampOpt\":5,\"setTransactions\":[{\"appId\":\"a\",\"version\":3}],"
              "\"domainMetadata\":[{\"domain\":\"d\",\"configuration\":\"{}\",\"removed\":false}],"
              "\"numDeletedRecordsOpt\":4,\"numDeletionVectorsOpt\":1,\"allFiles\":[" ADD("x", "10") "," ADD(
                  "y", "20") "],\"fileSizeHistogram\":{\"sortedBinBoundaries\":[0,16],\"fileCounts\":[1,1],"
                             "\"totalBytes\":[10,20]},\"future\":{}"),
          true, &out);
    assert_int_equal(out.status, SILT_OK);
    assert_int_equal(out.crc.version, 7);
    assert_int_equal(out.crc.n_files, 2);
    assert_int_equal(out.crc.table_size, 30);
    assert_string_equal(out.crc.txn_id.ptr, "t");
    assert_int_equal(out.crc.in_commit_timestamp, 5);
    assert_true(out.crc.has_txns);
    assert_int_equal(out.crc.txns[0].version, 3);
    assert_string_equal(out.crc.domains[0].domain.ptr, "d");
    assert_int_equal(out.crc.n_deleted_records, 4);
    assert_int_equal(out.crc.protocol.min_writer_version, 2);
    assert_string_equal(out.crc.metadata.id.ptr, "m");
    assert_int_equal(out.crc.n_all_files, 2);
    assert_string_equal(out.crc.all_files[1].path.ptr, "y");
    sl_arena_release(&out.arena);
}

static void what_is_absent_is_not_known(void **state)
{
    struct log_fixture *f = *state;
    struct parsed out;
    parse(f, CRC(COUNTS("0", "0"), ",\"setTransactions\":null"), false, &out);
    assert_int_equal(out.status, SILT_OK);
    assert_false(out.crc.has_txns);
    assert_false(out.crc.has_domains);
    assert_false(out.crc.has_all_files);
    assert_true(out.crc.in_commit_timestamp == SL_NO_I64);
    assert_null(out.crc.txn_id.ptr);
    sl_arena_release(&out.arena);
}

static void broken_ones_are_refused_by_member(void **state)
{
    struct log_fixture *f = *state;
    expect_bad(f, "", "version checksum of version 7");
    expect_bad(f, "{\"numFiles\":", "version checksum of version 7");
    expect_bad(f, "[1]", "not a JSON object");
    expect_bad(f, CRC(COUNTS("-1", "0"), ""), "numFiles");
    expect_bad(f, CRC(COUNTS("1", "-30"), ""), "tableSizeBytes");
    expect_bad(f, CRC(COUNTS("\"1\"", "30"), ""), "numFiles");
    expect_bad(f, CRC(COUNTS("1.5", "30"), ""), "numFiles");
    expect_bad(f, CRC(COUNTS("0", "30"), ""), "tableSizeBytes");
    expect_bad(f, "{\"numFiles\":1,\"tableSizeBytes\":1,\"numMetadata\":2,\"numProtocol\":1," METADATA "," PROTOCOL "}",
               "numMetadata");
    expect_bad(f, "{" COUNTS("1", "1") "," METADATA "}", "protocol");
    expect_bad(f, "{" COUNTS("1", "1") "," PROTOCOL "}", "metaData");
    expect_bad(f, "{" COUNTS("1", "1") "," PROTOCOL ",\"metadata\":{\"id\":\"m\"}}", "metaData");
    expect_bad(f, CRC(COUNTS("1", "1"), ",\"setTransactions\":{}"), "setTransactions");
    expect_bad(f, CRC(COUNTS("1", "1"), ",\"setTransactions\":[{\"appId\":\"a\"}]"), "version");
    expect_bad(f, CRC(COUNTS("1", "1"), ",\"domainMetadata\":[7]"), "domainMetadata");
    expect_bad(f, CRC(COUNTS("1", "1"), ",\"inCommitTimestampOpt\":-4"), "inCommitTimestampOpt");
}

static void totals_must_agree_within_the_file(void **state)
{
    struct log_fixture *f = *state;
    expect_bad(f, CRC(COUNTS("2", "10"), ",\"allFiles\":[" ADD("x", "10") "]"), "allFiles");
    expect_bad(f, CRC(COUNTS("1", "11"), ",\"allFiles\":[" ADD("x", "10") "]"), "allFiles");
    expect_bad(f,
               CRC(COUNTS("1", "10"), ",\"fileSizeHistogram\":{\"sortedBinBoundaries\":[0],\"fileCounts\":[2],"
                                      "\"totalBytes\":[10]}"),
               "fileSizeHistogram");
    expect_bad(f,
               CRC(COUNTS("1", "10"), ",\"histogramOpt\":{\"sortedBinBoundaries\":[0],\"fileCounts\":[1],"
                                      "\"totalBytes\":[9]}"),
               "fileSizeHistogram");
    expect_bad(f,
               CRC(COUNTS("1", "10"), ",\"fileSizeHistogram\":{\"sortedBinBoundaries\":[0,1],\"fileCounts\":[1],"
                                      "\"totalBytes\":[10]}"),
               "fileSizeHistogram");
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    for (size_t n = 1;; n++) {
        struct parsed out;
        test_env_fail_at(&f->test, n);
        parse(f,
              CRC(COUNTS("1", "10"), ",\"txnId\":\"t\",\"setTransactions\":[{\"appId\":\"a\",\"version\":3}],"
                                     "\"allFiles\":[" ADD("x", "10") "]"),
              true, &out);
        sl_arena_release(&out.arena);
        if (out.status == SILT_OK) {
            break;
        }
        assert_int_equal(out.status, SILT_ENOMEM);
    }
    test_env_fail_at(&f->test, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(members_are_taken),
        LOG_TEST(what_is_absent_is_not_known),
        LOG_TEST(broken_ones_are_refused_by_member),
        LOG_TEST(totals_must_agree_within_the_file),
        LOG_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
