/* The conflict check on commits made by hand. */
#include "kernel/txn/conflict.h"

#include <stdio.h>

#include "base/error.h"
#include "test_env.h"

static const char schema_json[] = "{\"type\":\"struct\",\"fields\":["
                                  "{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
                                  "{\"name\":\"v\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";
static const struct sl_str partition_names[] = {{"p", 1}};
static const struct sl_str_list partitions = {partition_names, 1};

#define BLIND "{\"commitInfo\":{\"operation\":\"WRITE\",\"isBlindAppend\":true,\"readVersion\":3}}\n"
#define NOT_BLIND "{\"commitInfo\":{\"operation\":\"DELETE\",\"isBlindAppend\":false,\"readVersion\":3}}\n"
#define ADD(path, p, min, max, change)                                                                         \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{\"p\":\"" p "\"},\"size\":1,\"modificationTime\":1," \
    "\"dataChange\":" change ",\"stats\":\"{\\\"numRecords\\\":1,\\\"minValues\\\":{\\\"v\\\":" min            \
    "},\\\"maxValues\\\":{\\\"v\\\":" max "},\\\"nullCount\\\":{\\\"v\\\":0}}\"}}\n"
#define REMOVE(path, p, change)                                                         \
    "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":1,\"dataChange\":" change \
    ",\"extendedFileMetadata\":true,\"partitionValues\":{\"p\":\"" p "\"},\"size\":1}}\n"
#define PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
#define UPGRADE(writer) "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":" writer "}}\n"
#define FEATURES(list) "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[" list "]}}\n"
#define METADATA                                                                                                \
    "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{}\"," \
    "\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}}\n"
#define TXN(app, version) "{\"txn\":{\"appId\":\"" app "\",\"version\":" version "}}\n"
#define DOMAIN(name) "{\"domainMetadata\":{\"domain\":\"" name "\",\"configuration\":\"{}\",\"removed\":false}}\n"

struct fixture {
    struct test_env env;
    struct sl_arena arena;
    silt_schema *schema;
    silt_expr *predicate;
    struct sl_protocol protocol;
    struct sl_metadata metadata;
    struct sl_read read;
    struct sl_txn_facts facts;
    struct sl_action actions[4];
    struct sl_conflict_verdict verdict;
};

static struct fixture f;

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    test_env_init(&f.env);
    sl_arena_init(&f.arena, &f.env.env);
    f.facts = (struct sl_txn_facts){.read_version = 3,
                                    .isolation = SL_ISOLATION_WRITE_SERIALIZABLE,
                                    .partition_columns = &partitions,
                                    .protocol = &f.protocol,
                                    .metadata = &f.metadata,
                                    .actions = f.actions};
    f.protocol = (struct sl_protocol){.min_reader_version = 1, .min_writer_version = 2};
    const silt_status status = silt_schema_from_json(&f.env.env, schema_json, strlen(schema_json), &f.schema, NULL);
    f.facts.schema = f.schema;
    return status == SILT_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    silt_expr_unref(f.predicate);
    silt_schema_unref(f.schema);
    sl_arena_release(&f.arena);
    test_env_check(&f.env);
    return 0;
}

static void read_where(const char *predicate)
{
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_expr_parse(&f.env.env, predicate, strlen(predicate), f.schema, &f.predicate, &err), SILT_OK);
    f.read = (struct sl_read){.predicate = f.predicate};
    f.facts.reads = &f.read;
    f.facts.n_reads = 1;
}

static struct sl_action *act(enum sl_action_kind kind)
{
    struct sl_action *action = &f.actions[f.facts.n_actions++];
    action->kind = kind;
    return action;
}

static void we_remove(const char *path)
{
    act(SL_ACTION_REMOVE)->u.remove.path = sl_str_from(path);
}

static silt_conflict_kind against_version(int64_t version, const char *lines)
{
    struct sl_commit winner;
    silt_error err = SILT_ERROR_INIT;
    if (sl_commit_parse(&f.env.env, &f.arena, version, sl_str_from(lines), &winner, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    sl_conflict_check(&f.facts, &winner, &f.arena, &f.verdict);
    return f.verdict.kind;
}

static silt_conflict_kind against(const char *lines)
{
    return against_version(4, lines);
}

static void blind_append_passes_every_change_of_data(void **state)
{
    (void)state;
    f.facts.is_blind_append = true;
    act(SL_ACTION_ADD)->u.add.path = SL_STR("mine");
    assert_int_equal(against(BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_NONE);
    assert_int_equal(against(NOT_BLIND REMOVE("a", "x", "true")), SILT_CONFLICT_NONE);
    f.facts.isolation = SL_ISOLATION_SERIALIZABLE;
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "true") REMOVE("b", "x", "true")), SILT_CONFLICT_NONE);
    assert_int_equal(against("{\"unheardOf\":{}}\n"), SILT_CONFLICT_NONE);
}

static void blind_append_stops_at_metadata_and_protocol(void **state)
{
    (void)state;
    f.facts.is_blind_append = true;
    assert_int_equal(against(NOT_BLIND METADATA), SILT_CONFLICT_METADATA_CHANGED);
    assert_int_equal(against(NOT_BLIND METADATA UPGRADE("3")), SILT_CONFLICT_PROTOCOL_CHANGED);
    assert_int_equal(f.verdict.winner_version, 4);
    assert_true(sl_str_eq_c(f.verdict.winner_operation, "DELETE"));
}

static void overwrite_conflicts_with_rows_that_are_not_blindly_added(void **state)
{
    (void)state;
    f.facts.read_whole_table = true;
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    assert_true(sl_str_eq_c(f.verdict.path, "a"));
    assert_int_equal(against(ADD("a", "x", "1", "2", "true")),
                     SILT_CONFLICT_CONCURRENT_APPEND); /* says nothing: not blind */
    assert_int_equal(against(BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_NONE);
    assert_true(f.verdict.skipped_append);
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "false")), SILT_CONFLICT_NONE);
    f.facts.isolation = SL_ISOLATION_SERIALIZABLE;
    assert_int_equal(against(BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
}

static void change_of_metadata_makes_blind_appends_count(void **state)
{
    (void)state;
    f.facts.read_whole_table = true;
    act(SL_ACTION_METADATA);
    assert_int_equal(against(BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
}

static void overwrite_conflicts_with_removals(void **state)
{
    (void)state;
    f.facts.read_whole_table = true;
    we_remove("a");
    assert_int_equal(against(NOT_BLIND REMOVE("a", "x", "true")), SILT_CONFLICT_CONCURRENT_DELETE_READ);
    assert_int_equal(against(NOT_BLIND REMOVE("other", "x", "false")), SILT_CONFLICT_CONCURRENT_DELETE_READ);
}

static void same_file_cannot_be_removed_twice(void **state)
{
    (void)state;
    we_remove("a");
    assert_int_equal(against(NOT_BLIND REMOVE("a", "x", "true")), SILT_CONFLICT_CONCURRENT_DELETE_DELETE);
    assert_true(sl_str_eq_c(f.verdict.path, "a"));
    assert_int_equal(against(NOT_BLIND REMOVE("b", "x", "true")), SILT_CONFLICT_NONE);
    act(SL_ACTION_ADD)->u.add.path = SL_STR("b"); /* added again, with other tags say */
    assert_int_equal(against(NOT_BLIND REMOVE("b", "x", "true")), SILT_CONFLICT_CONCURRENT_DELETE_DELETE);
}

static void file_that_was_read_must_not_be_gone(void **state)
{
    (void)state;
    static const struct sl_str files[] = {{"r", 1}};
    f.facts.read_files = files;
    f.facts.n_read_files = 1;
    assert_int_equal(against(NOT_BLIND REMOVE("r", "x", "true")), SILT_CONFLICT_CONCURRENT_DELETE_READ);
    assert_int_equal(against(NOT_BLIND REMOVE("s", "x", "true")), SILT_CONFLICT_NONE);
}

static void partition_values_tell_rows_apart(void **state)
{
    (void)state;
    read_where("p = 'x'");
    assert_int_equal(against(NOT_BLIND ADD("a", "y", "1", "2", "true")), SILT_CONFLICT_NONE);
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(against(NOT_BLIND REMOVE("a", "y", "true")), SILT_CONFLICT_NONE);
    assert_int_equal(against(NOT_BLIND REMOVE("a", "x", "true")), SILT_CONFLICT_CONCURRENT_DELETE_READ);
}

static void statistics_tell_rows_apart(void **state)
{
    (void)state;
    read_where("v > 10");
    assert_int_equal(against(NOT_BLIND ADD("a", "y", "1", "10", "true")), SILT_CONFLICT_NONE);
    assert_int_equal(against(NOT_BLIND ADD("a", "y", "1", "11", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    /* A removal without statistics could have held any row. */
    assert_int_equal(against(NOT_BLIND REMOVE("a", "y", "true")), SILT_CONFLICT_CONCURRENT_DELETE_READ);
}

static void skipped_append_stands_against_a_later_reader_of_it(void **state)
{
    (void)state;
    read_where("p = 'x'");
    assert_int_equal(against_version(4, BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_NONE);
    assert_true(f.verdict.skipped_append);
    f.facts.first_skipped_append = 4;
    /* read version 3: it cannot have seen version 4 */
    assert_int_equal(against_version(5, NOT_BLIND REMOVE("q", "y", "true")), SILT_CONFLICT_NONE);
    assert_int_equal(against_version(6, "{\"commitInfo\":{\"operation\":\"UPDATE\",\"readVersion\":5}}\n" ADD(
                                            "n", "y", "1", "2", "true")),
                     SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(against_version(6, ADD("n", "y", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    /* Rearranging rows makes none that depend on others. */
    assert_int_equal(against_version(6, "{\"commitInfo\":{\"operation\":\"OPTIMIZE\",\"readVersion\":5}}\n" ADD(
                                            "n", "y", "1", "2", "false")),
                     SILT_CONFLICT_NONE);
}

/* It added no row itself: a text that says so sends the reader to the wrong version. */
static void refusal_for_a_skipped_append_names_both_versions(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    read_where("p = 'x'");
    f.facts.first_skipped_append = 4;
    assert_int_equal(against_version(6, "{\"commitInfo\":{\"operation\":\"TRUNCATE\",\"readVersion\":5}}\n" REMOVE(
                                            "q", "y", "true")),
                     SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(sl_conflict_fail(&f.verdict, &f.arena, &err), SILT_ECONFLICT);
    assert_string_equal(err.code_name, "DELTA_CONCURRENT_APPEND");
    assert_string_equal(err.message, "version 6 (TRUNCATE) may have read rows that version 4 appended and this "
                                     "transaction did not read");
    assert_int_equal(err.version, 6);
    assert_non_null(strstr(err.hint, "DELTA_CONCURRENT_APPEND.WITHOUT_HINT"));
}

/* A domain, or the state of a stream, may hold what was read, without a file. */
static void skipped_append_stands_against_a_reader_that_changed_no_file(void **state)
{
    (void)state;
    read_where("p = 'x'");
    f.facts.first_skipped_append = 4;
    assert_int_equal(against_version(5, NOT_BLIND DOMAIN("counts")), SILT_CONFLICT_NONE); /* read version 3 */
    static const char reader[] =
        "{\"commitInfo\":{\"operation\":\"WRITE\",\"readVersion\":4,\"isBlindAppend\":false}}\n";
    char lines[512];
    (void)snprintf(lines, sizeof(lines), "%s%s", reader, DOMAIN("counts"));
    assert_int_equal(against_version(5, lines), SILT_CONFLICT_CONCURRENT_APPEND);
    (void)snprintf(lines, sizeof(lines), "%s%s", reader, TXN("stream", "7"));
    assert_int_equal(against_version(5, lines), SILT_CONFLICT_CONCURRENT_APPEND);
    (void)snprintf(lines, sizeof(lines), "%s%s%s", reader, DOMAIN("delta.rowTracking"),
                   ADD("n", "x", "1", "2", "false"));
    assert_int_equal(against_version(5, lines), SILT_CONFLICT_NONE);
}

static void transaction_without_data_change_ignores_new_rows(void **state)
{
    (void)state;
    f.facts.isolation = SL_ISOLATION_SNAPSHOT;
    read_where("p = 'x'");
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_NONE);
}

static void application_id_decides_before_all_else(void **state)
{
    (void)state;
    struct sl_action *action = act(SL_ACTION_APP_TXN);
    action->u.app_txn.app_id = SL_STR("job");
    action->u.app_txn.version = 5;
    assert_int_equal(against(BLIND TXN("job", "5")), SILT_CONFLICT_NONE);
    assert_true(f.verdict.skip);
    assert_int_equal(against(BLIND METADATA TXN("job", "6")), SILT_CONFLICT_NONE);
    assert_true(f.verdict.skip);
    assert_int_equal(against(BLIND TXN("job", "4")), SILT_CONFLICT_CONCURRENT_TRANSACTION);
    assert_false(f.verdict.skip);
    assert_int_equal(against(BLIND TXN("other", "9")), SILT_CONFLICT_NONE);
}

static void same_domain_conflicts_unless_it_is_row_trackings(void **state)
{
    (void)state;
    act(SL_ACTION_DOMAIN_METADATA)->u.domain.domain = SL_STR("mine");
    assert_int_equal(against(BLIND DOMAIN("mine")), SILT_CONFLICT_CONCURRENT_TRANSACTION);
    assert_int_equal(against(BLIND DOMAIN("theirs")), SILT_CONFLICT_NONE);
    f.actions[0].u.domain.domain = SL_STR("delta.rowTracking");
    assert_int_equal(against(BLIND DOMAIN("delta.rowTracking")), SILT_CONFLICT_NONE);
}

static void exclusive_transaction_admits_nothing(void **state)
{
    (void)state;
    f.facts.exclusive = true;
    assert_int_equal(against(BLIND), SILT_CONFLICT_CONCURRENT_WRITE);
}

static void refusal_names_version_operation_and_file(void **state)
{
    (void)state;
    f.facts.read_whole_table = true;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(sl_conflict_fail(&f.verdict, &f.arena, &err), SILT_ECONFLICT);
    assert_string_equal(err.code_name, "DELTA_CONCURRENT_APPEND");
    assert_string_equal(err.message, "version 4 (DELETE) added rows that this transaction should have read: a");
    assert_int_equal(err.version, 4);
    assert_true(err.hint[0] != '\0');
}

static void support_of_a_feature_that_asks_nothing_passes(void **state)
{
    (void)state;
    f.facts.is_blind_append = true;
    act(SL_ACTION_ADD)->u.add.path = SL_STR("mine");
    assert_int_equal(against(NOT_BLIND PROTOCOL), SILT_CONFLICT_NONE); /* the same again */
    assert_int_equal(against(NOT_BLIND FEATURES("\"appendOnly\",\"invariants\",\"domainMetadata\"")),
                     SILT_CONFLICT_NONE);
    assert_int_equal(against(NOT_BLIND UPGRADE("4")), SILT_CONFLICT_PROTOCOL_CHANGED); /* CHECK constraints */
    assert_int_equal(against(NOT_BLIND FEATURES("\"appendOnly\",\"invariants\",\"clustering\",\"domainMetadata\"")),
                     SILT_CONFLICT_PROTOCOL_CHANGED);
    assert_int_equal(against(NOT_BLIND FEATURES("\"appendOnly\",\"invariants\",\"unheardOf\"")),
                     SILT_CONFLICT_PROTOCOL_CHANGED);
}

static void feature_that_was_dropped_conflicts(void **state)
{
    (void)state;
    f.facts.is_blind_append = true;
    assert_int_equal(against(NOT_BLIND FEATURES("\"appendOnly\"")), SILT_CONFLICT_PROTOCOL_CHANGED);
}

static void two_changes_of_the_protocol_conflict(void **state)
{
    (void)state;
    act(SL_ACTION_PROTOCOL)->u.protocol = f.protocol;
    assert_int_equal(against(NOT_BLIND PROTOCOL), SILT_CONFLICT_PROTOCOL_CHANGED);
}

#define IDENTITY                                                                                   \
    "{\"commitInfo\":{\"operation\":\"WRITE\",\"isBlindAppend\":true,\"readVersion\":3,\"tags\":{" \
    "\"delta.identity.schemaUpdate\":\"true\"}}}\n"

#define IDENTITY_SCHEMA(type, mark)                                                               \
    "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"i\\\",\\\"type\\\":\\\"" type \
    "\\\",\\\"nullable\\\":true,"                                                                 \
    "\\\"metadata\\\":{\\\"delta.identity.step\\\":1" mark "}}]}"
#define MARKED(n) ",\\\"delta.identity.highWaterMark\\\":" n
#define IDENTITY_METADATA(schema, more)                                                                           \
    "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"" schema \
    "\",\"partitionColumns\":[],\"configuration\":{" more "},\"createdTime\":1}}\n"

static void read_metadata(const char *lines)
{
    struct sl_commit commit;
    assert_int_equal(sl_commit_parse(&f.env.env, &f.arena, 3, sl_str_from(lines), &commit, NULL), SILT_OK);
    f.metadata = sl_actions_find(commit.actions, commit.n_actions, SL_ACTION_METADATA)->u.metadata;
}

static void moved_marks_of_identity_columns_pass_unless_we_change_metadata(void **state)
{
    (void)state;
    f.facts.read_whole_table = true;
    we_remove("a");
    read_metadata(IDENTITY_METADATA(IDENTITY_SCHEMA("long", MARKED("5")), ""));
    assert_int_equal(against(IDENTITY IDENTITY_METADATA(IDENTITY_SCHEMA("long", MARKED("9")), "")), SILT_CONFLICT_NONE);
    assert_int_equal(against(IDENTITY IDENTITY_METADATA(IDENTITY_SCHEMA("long", ""), "")), SILT_CONFLICT_NONE);
    act(SL_ACTION_METADATA)->u.metadata = f.metadata;
    assert_int_equal(against(IDENTITY IDENTITY_METADATA(IDENTITY_SCHEMA("long", MARKED("9")), "")),
                     SILT_CONFLICT_METADATA_CHANGED);
}

/* The tag is no proof. */
static void more_than_a_mark_is_a_change_whatever_the_winner_says(void **state)
{
    (void)state;
    static const char *const winners[] = {
        IDENTITY IDENTITY_METADATA(IDENTITY_SCHEMA("integer", MARKED("9")), ""),
        IDENTITY IDENTITY_METADATA(IDENTITY_SCHEMA("long", ",\\\"comment\\\":\\\"c\\\""), ""),
        IDENTITY IDENTITY_METADATA(IDENTITY_SCHEMA("long", MARKED("9")), "\"delta.appendOnly\":\"true\""),
        IDENTITY METADATA,
    };
    we_remove("a");
    read_metadata(IDENTITY_METADATA(IDENTITY_SCHEMA("long", MARKED("5")), ""));
    for (size_t i = 0; i < sizeof(winners) / sizeof(winners[0]); i++) {
        assert_int_equal(against(winners[i]), SILT_CONFLICT_METADATA_CHANGED);
    }
}

/* ADD CONSTRAINT looked at every row. */
static void change_of_metadata_that_read_the_table_sees_new_rows(void **state)
{
    (void)state;
    act(SL_ACTION_METADATA)->u.metadata = f.metadata;
    f.facts.read_whole_table = true;
    assert_int_equal(against(BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(against(BLIND ADD("a", "x", "1", "2", "false")), SILT_CONFLICT_NONE);
}

static void scan_that_lists_its_files_does_not_mind_others_going(void **state)
{
    (void)state;
    static const struct sl_str files[] = {{"r", 1}};
    read_where("v > 10");
    f.read.files_listed = true;
    f.facts.read_files = files;
    f.facts.n_read_files = 1;
    assert_int_equal(against(NOT_BLIND REMOVE("other", "x", "true")), SILT_CONFLICT_NONE);
    assert_int_equal(against(NOT_BLIND REMOVE("r", "x", "true")), SILT_CONFLICT_CONCURRENT_DELETE_READ);
    assert_int_equal(against(NOT_BLIND ADD("new", "x", "11", "12", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
}

static void backfill_leaves_removed_files_to_the_rebase(void **state)
{
    (void)state;
    f.facts.isolation = SL_ISOLATION_SNAPSHOT;
    act(SL_ACTION_ADD)->u.add.path = SL_STR("b");
    assert_int_equal(against(NOT_BLIND REMOVE("b", "x", "true")), SILT_CONFLICT_CONCURRENT_DELETE_DELETE);
    f.facts.is_backfill = true;
    assert_int_equal(against(NOT_BLIND REMOVE("b", "x", "true")), SILT_CONFLICT_NONE);
}

static void hint_names_the_partition_where_there_is_one(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    f.facts.read_whole_table = true;
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(sl_conflict_fail(&f.verdict, &f.arena, &err), SILT_ECONFLICT);
    assert_non_null(strstr(err.hint, "[p=x] (DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT)"));
    assert_int_equal(against("{\"remove\":{\"path\":\"a\",\"deletionTimestamp\":1,\"dataChange\":true}}\n"),
                     SILT_CONFLICT_CONCURRENT_DELETE_READ);
    assert_int_equal(sl_conflict_fail(&f.verdict, &f.arena, &err), SILT_ECONFLICT);
    assert_non_null(strstr(err.hint, "DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT"));
}

static void hint_names_a_mapped_column_as_the_schema_does(void **state)
{
    (void)state;
    static const char logical_json[] = "{\"type\":\"struct\",\"fields\":["
                                       "{\"name\":\"day\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
                                       "{\"name\":\"n\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";
    silt_schema *logical = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_schema_from_json(&f.env.env, logical_json, strlen(logical_json), &logical, NULL), SILT_OK);
    f.facts.read_whole_table = true;
    f.facts.physical = f.schema; /* whose names partition values have */
    f.facts.schema = logical;
    assert_int_equal(against(NOT_BLIND ADD("a", "x", "1", "2", "true")), SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(sl_conflict_fail(&f.verdict, &f.arena, &err), SILT_ECONFLICT);
    assert_non_null(strstr(err.hint, "of partition [day=x] ("));
    silt_schema_unref(logical);
}

static void expect_refusal(const char *lines, const char *code, const char *message)
{
    silt_error err = SILT_ERROR_INIT;
    assert_int_not_equal(against(lines), SILT_CONFLICT_NONE);
    assert_int_equal(sl_conflict_fail(&f.verdict, &f.arena, &err), SILT_ECONFLICT);
    assert_string_equal(err.code_name, code);
    assert_string_equal(err.message, message);
    assert_int_equal(err.version, 4);
    assert_true(strncmp(err.hint, "run the operation again", 23) == 0 || strncmp(err.hint, "make sure that", 14) == 0);
}

/* The eighth, of retries that are used up, is the commit loop's. */
static void each_of_the_seven_says_who_won_with_what_and_where(void **state)
{
    (void)state;
    f.facts.read_whole_table = true;
    expect_refusal(NOT_BLIND ADD("a", "x", "1", "2", "true"), "DELTA_CONCURRENT_APPEND",
                   "version 4 (DELETE) added rows that this transaction should have read: a");
    expect_refusal(NOT_BLIND REMOVE("b", "x", "true"), "DELTA_CONCURRENT_DELETE_READ",
                   "version 4 (DELETE) removed a file that this transaction read: b");
    f.facts.read_whole_table = false;
    we_remove("c");
    expect_refusal(NOT_BLIND REMOVE("c", "x", "true"), "DELTA_CONCURRENT_DELETE_DELETE",
                   "version 4 (DELETE) removed a file that this transaction removes too: c");
    expect_refusal(BLIND METADATA, "DELTA_METADATA_CHANGED", "version 4 (WRITE) changed the table's metadata");
    expect_refusal(BLIND UPGRADE("4"), "DELTA_PROTOCOL_CHANGED", "version 4 (WRITE) changed the table's protocol");
    act(SL_ACTION_APP_TXN)->u.app_txn = (struct sl_app_txn){.app_id = SL_STR("job"), .version = 5};
    act(SL_ACTION_DOMAIN_METADATA)->u.domain.domain = SL_STR("mine");
    expect_refusal(BLIND TXN("job", "4"), "DELTA_CONCURRENT_TRANSACTION",
                   "version 4 (WRITE) wrote the same application id or metadata domain: job");
    expect_refusal(BLIND DOMAIN("mine"), "DELTA_CONCURRENT_TRANSACTION",
                   "version 4 (WRITE) wrote the same application id or metadata domain: mine");
    f.facts.exclusive = true;
    expect_refusal(BLIND, "DELTA_CONCURRENT_WRITE",
                   "version 4 (WRITE) came in between, and this operation admits no other commit");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blind_append_passes_every_change_of_data),
        TEST(blind_append_stops_at_metadata_and_protocol),
        TEST(overwrite_conflicts_with_rows_that_are_not_blindly_added),
        TEST(change_of_metadata_makes_blind_appends_count),
        TEST(overwrite_conflicts_with_removals),
        TEST(same_file_cannot_be_removed_twice),
        TEST(file_that_was_read_must_not_be_gone),
        TEST(partition_values_tell_rows_apart),
        TEST(statistics_tell_rows_apart),
        TEST(skipped_append_stands_against_a_later_reader_of_it),
        TEST(skipped_append_stands_against_a_reader_that_changed_no_file),
        TEST(refusal_for_a_skipped_append_names_both_versions),
        TEST(transaction_without_data_change_ignores_new_rows),
        TEST(application_id_decides_before_all_else),
        TEST(same_domain_conflicts_unless_it_is_row_trackings),
        TEST(exclusive_transaction_admits_nothing),
        TEST(refusal_names_version_operation_and_file),
        TEST(support_of_a_feature_that_asks_nothing_passes),
        TEST(feature_that_was_dropped_conflicts),
        TEST(two_changes_of_the_protocol_conflict),
        TEST(moved_marks_of_identity_columns_pass_unless_we_change_metadata),
        TEST(more_than_a_mark_is_a_change_whatever_the_winner_says),
        TEST(change_of_metadata_that_read_the_table_sees_new_rows),
        TEST(scan_that_lists_its_files_does_not_mind_others_going),
        TEST(backfill_leaves_removed_files_to_the_rebase),
        TEST(hint_names_the_partition_where_there_is_one),
        TEST(hint_names_a_mapped_column_as_the_schema_does),
        TEST(each_of_the_seven_says_who_won_with_what_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
