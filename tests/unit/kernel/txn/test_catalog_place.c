/* Commits through a catalog: staged, ratified, published; lost answers, crashes between any two of these, races. */
#include "catalog_fixture.h"
#include "txn_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silt/version.h"

#define LOG TXN_ROOT "/_delta_log/"
#define UUID "016ae953-37a9-438e-8683-9a9a4a79a395"
#define PROTOCOL_OF(features)                                                                               \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"catalogManaged\"]," \
    "\"writerFeatures\":[" features "]}}\n"
#define METADATA_OF(configuration)                                                                                   \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"             \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"nullable" \
    "\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{" configuration                   \
    "},\"createdTime\":1}}\n"
#define INFO(ms) "{\"commitInfo\":{\"inCommitTimestamp\":" ms ",\"operation\":\"WRITE\",\"isBlindAppend\":true}}\n"
#define TIMES "\"delta.enableInCommitTimestamps\":\"true\""
#define ADD(path) \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n"
#define FIRST \
    INFO("1000") PROTOCOL_OF("\"catalogManaged\",\"inCommitTimestamp\",\"vacuumProtocolCheck\"") METADATA_OF(TIMES)

struct fixture {
    struct txn_fixture *f;
    struct catalog_fixture catalog;
    silt_committer *committer;
    silt_table *table;
};

static void put(struct txn_fixture *f, const char *path, const char *text)
{
    assert_int_equal(silt_storage_put(f->mini.store, NULL, path, text, strlen(text), &f->err), SILT_OK);
}

static void reopen(struct fixture *c)
{
    silt_table_unref(c->table);
    c->table = NULL;
    assert_int_equal(catalog_open(&c->catalog, c->f->mini.engine, TXN_ROOT, c->committer, &c->table, &c->f->err),
                     SILT_OK);
}

static void open_fixture(struct fixture *c, struct txn_fixture *f, bool is_inline)
{
    memset(c, 0, sizeof(*c));
    c->f = f;
    catalog_init(&c->catalog, 0);
    put(f, LOG "00000000000000000000.json", FIRST);
    c->committer = catalog_committer(&c->catalog, &f->test.env, is_inline);
    assert_non_null(c->committer);
    reopen(c);
}

static void close_fixture(struct fixture *c)
{
    silt_table_unref(c->table);
    silt_committer_unref(c->committer);
    catalog_release(&c->catalog);
}

static silt_txn *begin(struct fixture *c, const char *path)
{
    silt_txn *txn = NULL;
    silt_error_reset(&c->f->err);
    if (silt_txn_begin(c->table, NULL, "WRITE", &txn, &c->f->err) != SILT_OK) {
        fail_msg("%s", c->f->err.message);
    }
    assert_int_equal(txn_add(c->f, txn, path, NULL), SILT_OK);
    return txn;
}

static bool count_one(void *ctx, const silt_file_entry *entry)
{
    (void)entry;
    (*(size_t *)ctx)++;
    return true;
}

static size_t count_staged(struct fixture *c)
{
    size_t n = 0;
    const silt_status status = silt_storage_list(c->f->mini.store, NULL, LOG "_staged_commits", NULL, count_one, &n,
                                                 NULL);
    assert_true(status == SILT_OK || status == SILT_ENOTFOUND);
    return n;
}

static bool is_published(struct fixture *c, int64_t version)
{
    char path[256];
    void *data = NULL;
    size_t len = 0;
    (void)snprintf(path, sizeof(path), LOG "%020lld.json", (long long)version);
    const silt_status status = silt_storage_read(c->f->mini.store, NULL, path, &data, &len, NULL);
    silt_storage_free(c->f->mini.store, data, len);
    return status == SILT_OK;
}

static int64_t live_files(struct fixture *c)
{
    silt_snapshot *snapshot = NULL;
    int64_t files = -1;
    int64_t bytes = 0;
    reopen(c);
    assert_int_equal(silt_table_latest_snapshot(c->table, NULL, &snapshot, &c->f->err), SILT_OK);
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &files, &bytes, &c->f->err), SILT_OK);
    silt_snapshot_unref(snapshot);
    return files;
}

static void commit_is_staged_ratified_and_published(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    assert_int_equal(txn_end(c.f, begin(&c, "a")), SILT_OK);
    assert_int_equal(c.f->result.version, 1);
    assert_int_equal(c.catalog.latest, 1);
    assert_int_equal(c.catalog.published, 1);
    assert_int_equal(c.catalog.n_requests, 1);
    assert_int_equal(count_staged(&c), 1);
    assert_int_equal(strncmp(txn_log(c.f, 1), "{\"commitInfo\":{\"inCommitTimestamp\":1577836800000,", 48), 0);
    assert_non_null(strstr(c.f->text, "\"txnId\":"));
    assert_int_equal(live_files(&c), 1);
    close_fixture(&c);
}

static void inline_commit_is_never_staged(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, true);
    silt_txn *late = begin(&c, "late");
    assert_int_equal(txn_end(c.f, begin(&c, "a")), SILT_OK);
    assert_int_equal(txn_end(c.f, late), SILT_OK);
    assert_int_equal(c.f->result.version, 2);
    assert_int_equal(count_staged(&c), 0);
    assert_true(is_published(&c, 2));
    assert_int_equal(live_files(&c), 2);
    close_fixture(&c);
}

/* Another client was ratified and died before it published. */
static void winner_is_read_where_it_was_staged_and_published_first(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    silt_txn *txn = begin(&c, "late");
    put(c.f, LOG "_staged_commits/00000000000000000001." UUID ".json", INFO("1577836900000") ADD("theirs"));
    assert_true(catalog_ratify(&c.catalog, 1, "00000000000000000001." UUID ".json"));
    assert_int_equal(txn_end(c.f, txn), SILT_OK);
    assert_int_equal(c.f->result.version, 2);
    assert_int_equal(c.f->result.winners, 1);
    assert_true(c.f->result.in_commit_timestamp_ms == 1577836900001);
    assert_true(is_published(&c, 1) && is_published(&c, 2));
    assert_int_equal(c.catalog.published, 2);
    assert_int_equal(count_staged(&c), 2); /* the one for version 1 that lost is gone */
    assert_int_equal(live_files(&c), 2);
    close_fixture(&c);
}

static void staged_file_that_was_never_ratified_means_nothing(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    put(c.f, LOG "_staged_commits/00000000000000000001." UUID ".json", INFO("2000") ADD("theirs"));
    assert_int_equal(live_files(&c), 0);
    assert_int_equal(txn_end(c.f, begin(&c, "a")), SILT_OK);
    assert_int_equal(c.f->result.version, 1);
    assert_int_equal(c.f->result.winners, 0);
    assert_int_equal(live_files(&c), 1);
    close_fixture(&c);
}

static void lost_answer_of_a_ratified_commit_is_read_back(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    c.catalog.faults[0] = CATALOG_LOSES_ANSWER;
    assert_int_equal(txn_end(c.f, begin(&c, "a")), SILT_OK);
    assert_int_equal(c.f->result.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(c.catalog.n_requests, 1);
    assert_int_equal(live_files(&c), 1);
    close_fixture(&c);
}

static void lost_request_is_sent_again_as_it_was(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    c.catalog.faults[0] = CATALOG_LOSES_REQUEST;
    c.catalog.faults[1] = CATALOG_LOSES_REQUEST;
    assert_int_equal(txn_end(c.f, begin(&c, "a")), SILT_OK);
    assert_int_equal(c.f->result.version, 1);
    assert_int_equal(c.catalog.n_requests, 3);
    assert_int_equal(c.catalog.n_names, 1);
    assert_int_equal(count_staged(&c), 1);
    assert_int_equal(c.catalog.latest, 1);
    close_fixture(&c);
}

static void catalog_that_never_answers_leaves_it_unknown(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    for (size_t i = 0; i < sizeof(c.catalog.faults) / sizeof(c.catalog.faults[0]); i++) {
        c.catalog.faults[i] = CATALOG_LOSES_REQUEST;
    }
    silt_txn *txn = begin(&c, "a");
    const silt_commit_options options = {.size = sizeof(options), .resolve_us = 1000000};
    assert_int_equal(silt_txn_set_commit_options(txn, &options, &c.f->err), SILT_OK);
    assert_int_equal(txn_end(c.f, txn), SILT_EUNKNOWN);
    assert_int_equal(c.f->result.outcome, SILT_COMMIT_UNKNOWN);
    assert_int_equal(count_staged(&c), 1); /* it may still be ratified */
    assert_false(is_published(&c, 1));
    close_fixture(&c);
}

static void refusal_of_the_catalog_fails_the_commit(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    c.catalog.faults[0] = CATALOG_FAILS;
    assert_int_equal(txn_end(c.f, begin(&c, "a")), SILT_EACCESS);
    assert_non_null(strstr(c.f->err.message, "test catalog, ratifying a commit: you may not"));
    assert_int_equal(c.catalog.latest, 0);
    assert_int_equal(count_staged(&c), 0);
    close_fixture(&c);
}

static void conflict_is_found_in_the_catalogs_commits(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    silt_txn *txn = begin(&c, "late");
    put(c.f, LOG "_staged_commits/00000000000000000001." UUID ".json", INFO("2000") METADATA_OF(TIMES ",\"x\":\"y\""));
    assert_true(catalog_ratify(&c.catalog, 1, "00000000000000000001." UUID ".json"));
    assert_int_equal(txn_end(c.f, txn), SILT_ECONFLICT);
    assert_string_equal(c.f->err.code_name, "DELTA_METADATA_CHANGED");
    assert_int_equal(count_staged(&c), 1); /* the winner's */
    close_fixture(&c);
}

static void anybody_can_publish(void **state)
{
    struct fixture c;
    int64_t version = -1;
    open_fixture(&c, *state, false);
    put(c.f, LOG "_staged_commits/00000000000000000001." UUID ".json", INFO("2000") ADD("a"));
    put(c.f, LOG "_staged_commits/00000000000000000002." UUID ".json", INFO("3000") ADD("b"));
    assert_true(catalog_ratify(&c.catalog, 1, "00000000000000000001." UUID ".json"));
    assert_true(catalog_ratify(&c.catalog, 2, "00000000000000000002." UUID ".json"));
    assert_int_equal(live_files(&c), 2); /* published or not */
    assert_int_equal(silt_table_publish(c.table, NULL, &version, &c.f->err), SILT_OK);
    assert_int_equal(version, 2);
    assert_true(is_published(&c, 1) && is_published(&c, 2));
    assert_int_equal(silt_table_publish(c.table, NULL, &version, &c.f->err), SILT_OK); /* again: nothing to do */
    assert_int_equal(version, 2);
    assert_int_equal(live_files(&c), 2);
    assert_int_equal(silt_table_publish(c.f->table, NULL, &version, &c.f->err), SILT_EINVALID);
    close_fixture(&c);
}

static void catalog_that_contradicts_itself_is_not_believed(void **state)
{
    struct fixture c;
    open_fixture(&c, *state, false);
    silt_txn *txn = begin(&c, "late");
    put(c.f, LOG "_staged_commits/00000000000000000001." UUID ".json", INFO("2000") ADD("a"));
    assert_true(catalog_ratify(&c.catalog, 1, "00000000000000000001." UUID ".json"));
    c.catalog.has_gap = true;
    const silt_commit_options options = {.size = sizeof(options), .resolve_us = 1000};
    assert_int_equal(silt_txn_set_commit_options(txn, &options, &c.f->err), SILT_OK);
    assert_int_equal(txn_end(c.f, txn), SILT_EUNKNOWN); /* whose version 1 is was never told */
    assert_non_null(strstr(c.f->err.message, "broke its contract"));
    assert_int_equal(c.catalog.latest, 1);
    close_fixture(&c);
}

static void table_that_its_catalog_does_not_manage_is_refused(void **state)
{
    struct fixture c;
    silt_txn *txn = NULL;
    silt_table *table = NULL;
    open_fixture(&c, *state, false);
    assert_int_equal(silt_txn_begin(c.f->table, NULL, "WRITE", &txn, &c.f->err), SILT_EUNSUPPORTED); /* by its path */
    assert_int_equal(catalog_open(&c.catalog, c.f->mini.engine, TXN_ROOT, NULL, &table, &c.f->err), SILT_OK);
    assert_int_equal(silt_txn_begin(table, NULL, "WRITE", &txn, &c.f->err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(c.f->err.message, "committer"));
    silt_table_unref(table);
    put(c.f, LOG "00000000000000000000.json",
        INFO("1000") PROTOCOL_OF("\"catalogManaged\",\"inCommitTimestamp\",\"vacuumProtocolCheck\"") METADATA_OF(""));
    reopen(&c);
    assert_int_equal(silt_txn_begin(c.table, NULL, "WRITE", &txn, &c.f->err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(c.f->err.message, "delta.enableInCommitTimestamps"));
    put(c.f, LOG "00000000000000000000.json",
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n" METADATA_OF(""));
    reopen(&c);
    assert_int_equal(silt_txn_begin(c.table, NULL, "WRITE", &txn, &c.f->err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(c.f->err.message, "by its path"));
    close_fixture(&c);
}

static void committer_without_its_slots_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    silt_committer *committer = NULL;
    silt_committer_vtable vtable = {.size = sizeof(vtable), .abi_version = SILT_ABI_VERSION, .name = "half"};
    assert_int_equal(silt_committer_new(&f->test.env, &vtable, NULL, &committer, &f->err), SILT_EINVALID);
    vtable.abi_version++;
    assert_int_equal(silt_committer_new(&f->test.env, &vtable, NULL, &committer, &f->err), SILT_EINVALID);
    vtable.size = 8;
    vtable.abi_version--;
    assert_int_equal(silt_committer_new(&f->test.env, &vtable, NULL, &committer, &f->err), SILT_EINVALID);
    silt_committer_unref(NULL);
}

/* ---- races ---- */

enum {
    WRITERS = 4,
    APPENDS = 20
};

struct writer {
    struct catalog_fixture *catalog;
    silt_engine *engine;
    silt_committer *committer;
    int number;
    int64_t versions[APPENDS];
    silt_error err;
    bool failed;
};

static bool append_once(struct writer *w, int i)
{
    char path[64];
    silt_table *table = NULL;
    silt_txn *txn = NULL;
    silt_commit_result result = {.size = sizeof(result)};
    (void)snprintf(path, sizeof(path), "w%d-%d.parquet", w->number, i);
    const silt_add_file file = {
        .size = sizeof(file), .path = path, .size_bytes = 1, .modified_ms = 1, .data_change = true, .fresh_name = true};
    silt_status status = catalog_open(w->catalog, w->engine, TXN_ROOT, w->committer, &table, &w->err);
    if (status == SILT_OK) {
        status = silt_txn_begin(table, NULL, "WRITE", &txn, &w->err);
    }
    if (status == SILT_OK) {
        status = silt_txn_add_file(txn, &file, &w->err);
    }
    if (status == SILT_OK) {
        status = silt_txn_commit(txn, NULL, &result, &w->err);
    }
    w->versions[i] = result.version;
    silt_txn_free(txn);
    silt_table_unref(table);
    return status == SILT_OK && result.outcome == SILT_COMMIT_COMMITTED;
}

static void *append_all(void *arg)
{
    struct writer *w = arg;
    for (int i = 0; i < APPENDS && !w->failed; i++) {
        w->failed = !append_once(w, i);
    }
    return NULL;
}

static silt_engine *shared_engine(silt_storage *store)
{
    silt_storage_registry *stores = NULL;
    silt_engine *engine = NULL;
    assert_int_equal(silt_storage_registry_new(silt_env_default(), &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", store, NULL), SILT_OK);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = silt_env_default(), .stores = stores};
    assert_int_equal(silt_engine_new(&options, &engine, NULL), SILT_OK);
    return engine;
}

static void writers_at_once_lose_nothing(void **state)
{
    (void)state;
    static struct catalog_fixture catalog;
    static struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    silt_storage *store = NULL;
    bool seen[WRITERS * APPENDS + 1] = {false};
    catalog_init(&catalog, 0);
    assert_int_equal(silt_storage_memory_new(silt_env_default(), &store, NULL), SILT_OK);
    assert_int_equal(silt_storage_put(store, NULL, LOG "00000000000000000000.json", FIRST, sizeof(FIRST) - 1, NULL),
                     SILT_OK);
    silt_engine *engine = shared_engine(store);
    silt_committer *committer = catalog_committer(&catalog, silt_env_default(), false);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.catalog = &catalog, .engine = engine, .committer = committer, .number = i};
        writers[i].err = (silt_error)SILT_ERROR_INIT;
        assert_int_equal(pthread_create(&threads[i], NULL, append_all, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        (void)pthread_join(threads[i], NULL);
        if (writers[i].failed) {
            fail_msg("writer %d: %s", i, writers[i].err.message);
        }
        for (int j = 0; j < APPENDS; j++) {
            const int64_t version = writers[i].versions[j];
            assert_true(version >= 1 && version <= WRITERS * APPENDS && !seen[version]);
            seen[version] = true;
        }
    }
    assert_int_equal(catalog.latest, WRITERS * APPENDS);
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    int64_t files = 0;
    int64_t bytes = 0;
    assert_int_equal(catalog_open(&catalog, engine, TXN_ROOT, NULL, &table, NULL), SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, NULL), SILT_OK);
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &files, &bytes, NULL), SILT_OK);
    assert_int_equal(files, WRITERS * APPENDS);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    silt_committer_unref(committer);
    silt_engine_unref(engine);
    silt_storage_unref(store);
    catalog_release(&catalog);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commit_is_staged_ratified_and_published),
        TEST(inline_commit_is_never_staged),
        TEST(winner_is_read_where_it_was_staged_and_published_first),
        TEST(staged_file_that_was_never_ratified_means_nothing),
        TEST(lost_answer_of_a_ratified_commit_is_read_back),
        TEST(lost_request_is_sent_again_as_it_was),
        TEST(catalog_that_never_answers_leaves_it_unknown),
        TEST(refusal_of_the_catalog_fails_the_commit),
        TEST(conflict_is_found_in_the_catalogs_commits),
        TEST(anybody_can_publish),
        TEST(catalog_that_contradicts_itself_is_not_believed),
        TEST(table_that_its_catalog_does_not_manage_is_refused),
        TEST(committer_without_its_slots_is_refused),
        cmocka_unit_test(writers_at_once_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
