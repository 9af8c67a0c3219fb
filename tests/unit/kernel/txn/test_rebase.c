/* Rebasing onto winners, on commits made by hand. */
#include "kernel/txn/rebase.h"

#include <string.h>

#include "test_env.h"

#define ADD(path, ids)           \
    "{\"add\":{\"path\":\"" path \
    "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":false" ids "}}\n"
#define REMOVE(path) "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":1,\"dataChange\":true}}\n"
#define INFO(operation, ict) "{\"commitInfo\":{\"operation\":\"" operation "\"" ict "}}\n"
#define ICT(ms) ",\"inCommitTimestamp\":" ms
#define MARK(n)                                                                                                        \
    "{\"domainMetadata\":{\"domain\":\"delta.rowTracking\",\"configuration\":\"{\\\"rowIdHighWaterMark\\\":" #n "}\"," \
    "\"removed\":false}}\n"

struct fixture {
    struct test_env env;
    struct sl_arena arena;
    struct sl_protocol protocol;
    struct sl_metadata metadata;
    struct sl_action actions[3];
    int64_t rows[3];
    struct sl_rebase rebase;
    silt_error err;
};

static struct fixture f;

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    test_env_init(&f.env);
    sl_arena_init(&f.arena, &f.env.env);
    f.err = (silt_error)SILT_ERROR_INIT;
    static const char *const paths[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        f.actions[i].kind = SL_ACTION_ADD;
        f.actions[i].u.add.path = sl_str_from(paths[i]);
        f.actions[i].u.add.base_row_id = SL_NO_I64;
        f.actions[i].u.add.default_row_commit_version = SL_NO_I64;
        f.rows[i] = (int64_t)i + 1;
    }
    f.rebase = (struct sl_rebase){.arena = &f.arena,
                                  .version = 4,
                                  .floor_ms = 100,
                                  .row_id_high_water = 9,
                                  .protocol = &f.protocol,
                                  .metadata = &f.metadata,
                                  .actions = f.actions,
                                  .rows = f.rows,
                                  .n_actions = 3};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_arena_release(&f.arena);
    test_env_check(&f.env);
    return 0;
}

static silt_status pass_at(int64_t version, int64_t modified_ms, const char *lines)
{
    struct sl_commit winner;
    if (sl_commit_parse(&f.env.env, &f.arena, version, sl_str_from(lines), &winner, &f.err) != SILT_OK) {
        fail_msg("%s", f.err.message);
    }
    winner.modified_ms = modified_ms;
    return sl_rebase_pass(&f.rebase, &winner, &f.err);
}

static void pass(const char *lines)
{
    assert_int_equal(pass_at(f.rebase.version, 0, lines), SILT_OK);
}

static void version_time_and_mark_follow_the_winners(void **state)
{
    (void)state;
    pass(INFO("WRITE", ICT("500")) MARK(20));
    assert_int_equal(f.rebase.version, 5);
    assert_int_equal(f.rebase.floor_ms, 500);
    assert_int_equal(f.rebase.row_id_high_water, 20);
    pass(INFO("WRITE", "") ADD("x", "")); /* says nothing of either */
    assert_int_equal(f.rebase.floor_ms, 500);
    assert_int_equal(f.rebase.row_id_high_water, 20);
    pass(INFO("WRITE", ICT("400")) MARK(15)); /* against the rules, and not believed */
    assert_int_equal(f.rebase.floor_ms, 500);
    assert_int_equal(f.rebase.row_id_high_water, 20);
    assert_int_equal(f.rebase.winners, 3);
    assert_int_equal(f.rebase.changes, 0);
}

static void time_of_the_file_counts_without_an_in_commit_timestamp(void **state)
{
    (void)state;
    assert_int_equal(pass_at(4, 700, INFO("WRITE", "")), SILT_OK);
    assert_int_equal(f.rebase.floor_ms, 700);
    assert_int_equal(pass_at(5, 900, INFO("WRITE", ICT("800"))), SILT_OK);
    assert_int_equal(f.rebase.floor_ms, 800);
}

static void backfill_leaves_out_what_winners_touched(void **state)
{
    (void)state;
    f.rebase.is_backfill = true;
    pass(INFO("DELETE", "") REMOVE("a") ADD("c", ""));
    assert_int_equal(f.rebase.n_actions, 1);
    assert_true(sl_str_eq_c(f.actions[0].u.add.path, "b"));
    assert_int_equal(f.rows[0], 2);
    assert_int_equal(f.rebase.changes, SILT_REBASED_FILES);
}

static void ids_of_a_backfill_are_repeated(void **state)
{
    (void)state;
    f.actions[1] = (struct sl_action){.kind = SL_ACTION_REMOVE};
    f.actions[1].u.remove.path = SL_STR("b");
    pass(INFO(SL_BACKFILL_OPERATION, "") MARK(31) ADD("a", ",\"baseRowId\":30,\"defaultRowCommitVersion\":4")
             ADD("b", ",\"baseRowId\":31,\"defaultRowCommitVersion\":4"));
    assert_int_equal(f.actions[0].u.add.base_row_id, 30);
    assert_int_equal(f.actions[0].u.add.default_row_commit_version, 4);
    assert_int_equal(f.actions[1].u.remove.base_row_id, 31);
    assert_true(f.actions[2].u.add.base_row_id == SL_NO_I64);
    assert_int_equal(f.rebase.changes, SILT_REBASED_FILES);
}

static void winner_with_ids_above_its_mark_is_refused(void **state)
{
    (void)state;
    const struct sl_str features[] = {SL_STR("rowTracking")};
    f.protocol.min_writer_version = 7;
    f.protocol.writer_features = (struct sl_str_list){features, 1};
    f.protocol.has_writer_features = true;
    pass(INFO("WRITE", "") ADD("x", ",\"baseRowId\":10,\"stats\":\"{\\\"numRecords\\\":0}\"")); /* no row, so no id */
    pass(INFO("WRITE", "") MARK(12) ADD("y", ",\"baseRowId\":10,\"stats\":\"{\\\"numRecords\\\":3}\""));
    assert_int_equal(f.rebase.row_id_high_water, 12);
    assert_int_equal(pass_at(6, 0, INFO("WRITE", "") ADD("z", ",\"baseRowId\":13")),
                     SILT_ECORRUPT); /* of how many rows? */
    assert_int_equal(
        pass_at(6, 0, INFO("WRITE", "") MARK(13) ADD("z", ",\"baseRowId\":13,\"stats\":\"{\\\"numRecords\\\":2}\"")),
        SILT_ECORRUPT);
    assert_string_equal(f.err.code_name, "SILT_ROW_IDS_ABOVE_HIGH_WATER_MARK");
    assert_int_equal(pass_at(6, 0,
                             INFO("WRITE", "")
                                 ADD("z", ",\"baseRowId\":9223372036854775807,\"stats\":\"{\\\"numRecords\\\":2}\"")),
                     SILT_ECORRUPT);
    assert_int_equal(f.rebase.version, 6);
}

static void protocol_and_metadata_of_a_winner_are_kept(void **state)
{
    (void)state;
    pass("{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"rowTracking\"]}}\n"
         "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{}\","
         "\"partitionColumns\":[],\"configuration\":{\"a\":\"b\"},\"createdTime\":1}}\n");
    assert_int_equal(f.rebase.protocol->min_writer_version, 7);
    assert_true(sl_str_eq_c(sl_kv_get(&f.rebase.metadata->configuration, SL_STR("a"), NULL), "b"));
    assert_int_equal(f.rebase.changes, SILT_REBASED_PROTOCOL | SILT_REBASED_METADATA);
}

static void there_is_a_last_version(void **state)
{
    (void)state;
    assert_int_equal(pass_at(INT64_MAX, 0, INFO("WRITE", "")), SILT_ELIMIT);
}

static silt_status read_mark(struct sl_str text, int64_t *mark)
{
    return sl_row_id_high_water(&f.env.env, text, mark, &f.err);
}

static void broken_mark_is_not_guessed(void **state)
{
    (void)state;
    int64_t mark = 0;
    assert_int_equal(read_mark(SL_STR("{\"rowIdHighWaterMark\":7}"), &mark), SILT_OK);
    assert_int_equal(mark, 7);
    assert_int_equal(read_mark(sl_str_make(NULL, 0), &mark), SILT_OK);
    assert_int_equal(mark, -1);
    assert_int_equal(read_mark(SL_STR("{\"rowIdHighWaterMark\":-5}"), &mark), SILT_ECORRUPT);
    assert_int_equal(read_mark(SL_STR("{}"), &mark), SILT_ECORRUPT);
    assert_int_equal(read_mark(SL_STR("nonsense"), &mark), SILT_ECORRUPT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(version_time_and_mark_follow_the_winners),
        TEST(time_of_the_file_counts_without_an_in_commit_timestamp),
        TEST(backfill_leaves_out_what_winners_touched),
        TEST(ids_of_a_backfill_are_repeated),
        TEST(winner_with_ids_above_its_mark_is_refused),
        TEST(protocol_and_metadata_of_a_winner_are_kept),
        TEST(there_is_a_last_version),
        TEST(broken_mark_is_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
