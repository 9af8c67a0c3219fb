/*
 * Version checksums made by silt: commit by commit they equal what the whole log says, and they are not made where a total
 * cannot be known.
 */
#include "log_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/snapshot/crc_derive.h"
#include "kernel/snapshot/crc_verify.h"

#define ADD(path, size)                                                                                               \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":" size ",\"modificationTime\":1,\"dataChange\":" \
    "true}}"
#define ADD_AGAIN(path, size)                                                                                         \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":" size ",\"modificationTime\":1,\"dataChange\":" \
    "false}}"
#define REMOVE(path, size) \
    "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":5,\"dataChange\":true,\"size\":" size "}}"
#define METADATA(configuration)                                                                           \
    "{\"metaData\":{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":" \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","  \
    "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{" configuration "}}}"
#define PROTOCOL7(features)                                                                                  \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"deletionVectors\"]," \
    "\"writerFeatures\":[\"deletionVectors\",\"domainMetadata\"" features "]}}"

/* What was derived last, and all text of it. */
struct chain {
    struct log_fixture *f;
    struct sl_arena arena;
    struct sl_crc crc;
    const char *why_not;
};

static void chain_begin(struct chain *chain, struct log_fixture *f)
{
    *chain = (struct chain){.f = f, .crc = {.version = -1}};
    sl_arena_init(&chain->arena, &f->test.env);
}

static void chain_end(struct chain *chain)
{
    sl_arena_release(&chain->arena);
}

/* Files whose text is at hand make the same file as all of them anew. The text stays for the next version. */
static void carry_text(struct chain *chain)
{
    struct log_fixture *f = chain->f;
    struct sl_crc anew = chain->crc;
    struct sl_str listed = {NULL, 0};
    struct sl_buf carried;
    struct sl_buf whole;
    sl_buf_init(&carried, &f->test.env);
    sl_buf_init(&whole, &f->test.env);
    anew.n_listed = 0;
    assert_int_equal(sl_crc_write(&whole, &anew, NULL, &f->err), SILT_OK);
    assert_int_equal(sl_crc_write(&carried, &chain->crc, &listed, &f->err), SILT_OK);
    assert_string_equal(sl_buf_cstr(&carried), sl_buf_cstr(&whole));
    assert_int_equal(listed.ptr != NULL, chain->crc.n_all_files > 0);
    chain->crc.listed = listed.ptr != NULL ? sl_arena_copy(&chain->arena, listed) : listed;
    chain->crc.n_listed = listed.ptr != NULL ? chain->crc.n_all_files : 0;
    sl_buf_release(&carried);
    sl_buf_release(&whole);
}

/* The checksum of the next version from its commit in the log; false: there is none. */
static bool derive(struct chain *chain)
{
    struct log_fixture *f = chain->f;
    struct sl_commit *commit = sl_arena_alloc_zero(&chain->arena, sizeof(*commit));
    const struct sl_crc before = chain->crc;
    assert_int_equal(sl_commit_read(f->engine, f->traced, NULL, sl_str_from(LOG_ROOT), before.version + 1,
                                    &chain->arena, commit, &f->err),
                     SILT_OK);
    const struct sl_crc_step step = {.env = &f->test.env,
                                     .arena = &chain->arena,
                                     .root = sl_str_from(LOG_ROOT),
                                     .before = before.version >= 0 ? &before : NULL,
                                     .commit = commit};
    assert_int_equal(sl_crc_derive(&step, &chain->crc, &chain->why_not, &f->err), SILT_OK);
    if (chain->why_not == NULL) {
        carry_text(chain);
    }
    return chain->why_not == NULL;
}

static void expect_none(struct log_fixture *f, struct chain *chain, const char *why_not)
{
    assert_false(derive(chain));
    assert_string_equal(chain->why_not, why_not);
    (void)f;
}

/* ---- comparisons ---- */

static void fail_on_fault(void *ctx, const char *member, const char *message)
{
    const struct sl_log_file *file = ctx;
    print_error("%.*s: %s: %s\n", SL_FMT(file->name), member, message);
    fail();
}

/* Writes it, reads it back, and lets it be compared with the log. */
static void verify(struct chain *chain, silt_snapshot *snapshot, const struct sl_crc *crc)
{
    struct log_fixture *f = chain->f;
    struct sl_buf bytes;
    sl_buf_init(&bytes, &f->test.env);
    assert_int_equal(sl_crc_write(&bytes, crc, NULL, &f->err), SILT_OK);
    const char *name = sl_crc_name(&chain->arena, crc->version);
    log_put(f, name, sl_buf_cstr(&bytes));
    struct sl_log_file file = sl_log_name_parse(sl_str_from(name));
    assert_int_equal(sl_crc_verify(snapshot, NULL, &file, fail_on_fault, &file, &f->err), SILT_OK);
    struct sl_crc again;
    assert_int_equal(
        sl_crc_parse(&f->test.env, &chain->arena, crc->version, sl_buf_view(&bytes), true, &again, &f->err), SILT_OK);
    assert_int_equal(again.has_txns, crc->has_txns);
    assert_int_equal(again.has_domains, crc->has_domains);
    assert_int_equal(again.has_all_files, crc->has_all_files);
    assert_int_equal(again.has_deleted_bins, crc->has_deleted_bins);
    log_remove(f, name);
    sl_buf_release(&bytes);
}

static void expect_same_counts(const struct sl_crc *a, const struct sl_crc *b)
{
    assert_int_equal(a->n_files, b->n_files);
    assert_int_equal(a->table_size, b->table_size);
    assert_int_equal(a->n_deletion_vectors, b->n_deletion_vectors);
    assert_int_equal(a->n_deleted_records, b->n_deleted_records);
    assert_memory_equal(a->deleted_bins, b->deleted_bins, a->has_deleted_bins ? sizeof(a->deleted_bins) : 0);
    assert_int_equal(a->has_deleted_bins, b->has_deleted_bins);
    assert_int_equal(a->sizes.n, b->sizes.n);
    assert_memory_equal(a->sizes.files, b->sizes.files, a->sizes.n * sizeof(int64_t));
    assert_memory_equal(a->sizes.bytes, b->sizes.bytes, a->sizes.n * sizeof(int64_t));
    assert_int_equal(a->n_txns, b->n_txns);
    assert_int_equal(a->n_domains, b->n_domains);
}

/* The derived checksum, the one that is counted from the snapshot, and the log say the same. */
static void expect_true(struct chain *chain)
{
    struct log_fixture *f = chain->f;
    silt_snapshot *snapshot = log_open(f, chain->crc.version);
    struct sl_crc counted;
    const char *why_not = NULL;
    assert_int_equal(sl_crc_of_snapshot(snapshot, NULL, &chain->arena, &counted, &why_not, &f->err), SILT_OK);
    assert_null(why_not);
    expect_same_counts(&chain->crc, &counted);
    assert_int_equal(chain->crc.has_txns, counted.has_txns);
    verify(chain, snapshot, &chain->crc);
    verify(chain, snapshot, &counted);
    silt_snapshot_unref(snapshot);
}

/* ---- scenarios ---- */

static void the_first_commit_has_one(void **state)
{
    struct log_fixture *f = *state;
    struct chain chain;
    chain_begin(&chain, f);
    log_commit(f, 0, "{\"commitInfo\":{\"txnId\":\"t0\"}}", LOG_PROTOCOL, LOG_METADATA, ADD("a", "9000"), NULL);
    assert_true(derive(&chain));
    assert_string_equal(chain.crc.txn_id.ptr, "t0");
    assert_int_equal(chain.crc.sizes.n, 95);
    assert_int_equal(chain.crc.sizes.files[1], 1); /* from 8 KB on */
    assert_int_equal(chain.crc.n_deletion_vectors, SL_NO_I64);
    assert_true(chain.crc.has_all_files);
    assert_false(chain.crc.all_files[0].data_change);
    expect_true(&chain);
    chain_end(&chain);
}

static void files_applications_and_domains_follow_the_commits(void **state)
{
    struct log_fixture *f = *state;
    struct chain chain;
    chain_begin(&chain, f);
    log_commit(f, 0, PROTOCOL7(""), METADATA(""), ADD("a", "10"), ADD("b%20c", "20"), NULL);
    log_commit(f, 1, REMOVE("a", "10"), "{\"txn\":{\"appId\":\"x\",\"version\":1}}",
               "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"1\",\"removed\":false}}", NULL);
    log_commit(f, 2, ADD("c", "30"), "{\"txn\":{\"appId\":\"x\",\"version\":2}}",
               "{\"txn\":{\"appId\":\"y\",\"version\":1}}",
               "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"\",\"removed\":true}}", NULL);
    log_commit(f, 3, METADATA("\"delta.appendOnly\":\"false\""), NULL);
    log_commit(f, 4, REMOVE("b%20c", "20"), REMOVE("c", "30"), NULL);
    for (int64_t version = 0; version <= 4; version++) {
        assert_true(derive(&chain));
        expect_true(&chain);
    }
    assert_int_equal(chain.crc.n_files, 0);
    assert_int_equal(chain.crc.n_txns, 2);
    assert_int_equal(chain.crc.n_domains, 0);
    assert_true(chain.crc.has_all_files);
    chain_end(&chain);
}

/* The text of what was there is used again as long as all of it stays, and in its order. */
static void the_text_of_files_is_carried_on(void **state)
{
    struct log_fixture *f = *state;
    struct chain chain;
    chain_begin(&chain, f);
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, ADD("a", "10"), ADD("b", "20"), NULL);
    log_commit(f, 1, ADD("c", "30"), NULL);
    log_commit(f, 2, REMOVE("c", "30"), ADD("d", "40"), NULL);
    log_commit(f, 3, REMOVE("a", "10"), ADD("e", "50"), NULL);
    static const size_t n_files[] = {2, 3, 3, 3};
    for (int64_t version = 0; version <= 3; version++) {
        assert_true(derive(&chain));
        assert_int_equal(chain.crc.n_all_files, n_files[version]);
        assert_int_equal(chain.crc.n_listed, n_files[version]);
        expect_true(&chain);
    }
    chain_end(&chain);
}

static void vectors_are_counted(void **state)
{
#define DV(id, cardinality)                                                                                      \
    ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"" id "^-aqEH.-t@S}K{vb[*k^\",\"offset\":1," \
    "\"sizeInBytes\":40,\"cardinality\":" cardinality "}}}"
#define OPEN_ADD \
    "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,\"dataChange\":true"
#define OPEN_REMOVE "{\"remove\":{\"path\":\"a\",\"deletionTimestamp\":5,\"dataChange\":true,\"size\":10"
    struct log_fixture *f = *state;
    struct chain chain;
    chain_begin(&chain, f);
    log_commit(f, 0, PROTOCOL7(""), METADATA(""), ADD("a", "10"), ADD("b", "10"), NULL);
    log_commit(f, 1, REMOVE("a", "10"), OPEN_ADD DV("ab", "6"), NULL);
    log_commit(f, 2, OPEN_REMOVE DV("ab", "6"), OPEN_ADD DV("cd", "12"), NULL);
    for (int64_t version = 0; version <= 2; version++) {
        assert_true(derive(&chain));
        expect_true(&chain);
    }
    assert_int_equal(chain.crc.n_deletion_vectors, 1);
    assert_int_equal(chain.crc.n_deleted_records, 12);
    assert_int_equal(chain.crc.deleted_bins[0], 1);
    assert_int_equal(chain.crc.deleted_bins[2], 1);
    chain_end(&chain);
}

static void in_commit_timestamps_are_taken_where_they_are_enabled(void **state)
{
    struct log_fixture *f = *state;
    struct chain chain;
    chain_begin(&chain, f);
    log_commit(f, 0, "{\"commitInfo\":{\"inCommitTimestamp\":70}}", PROTOCOL7(",\"inCommitTimestamp\""), METADATA(""),
               NULL);
    log_commit(f, 1, "{\"commitInfo\":{\"inCommitTimestamp\":77}}",
               METADATA("\"delta.enableInCommitTimestamps\":\"true\""), NULL);
    log_commit(f, 2, ADD("a", "1"), NULL);
    assert_true(derive(&chain));
    assert_int_equal(chain.crc.in_commit_timestamp, SL_NO_I64);
    assert_true(derive(&chain));
    assert_int_equal(chain.crc.in_commit_timestamp, 77);
    expect_none(f, &chain, "it has no in-commit timestamp");
    chain_end(&chain);
}

static void what_cannot_be_known_has_none(void **state)
{
    static const struct {
        const char *line;
        const char *why_not;
    } cases[] = {
        {"{\"remove\":{\"path\":\"a\",\"deletionTimestamp\":5,\"dataChange\":true}}", "a removed file has no size"},
        {REMOVE("x", "10"), "a file is removed that is not there, or has another size"},
        {REMOVE("a", "9"), "a file is removed that is not there, or has another size"},
        {REMOVE("a", "99"), "more is removed than there was"},
        {ADD_AGAIN("a", "10"), "a file is added that is there already"},
        {ADD("memory://tables/t/a", "10"), "a file is added that is there already"},
    };
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, ADD("a", "10"), NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct chain chain;
        chain_begin(&chain, f);
        log_remove(f, "00000000000000000001.json");
        log_commit(f, 1, cases[i].line, NULL);
        assert_true(derive(&chain));
        expect_none(f, &chain, cases[i].why_not);
        chain_end(&chain);
    }
}

static void without_a_list_of_files_repeated_ones_are_suspected(void **state)
{
    struct log_fixture *f = *state;
    struct chain chain;
    chain_begin(&chain, f);
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, ADD("a", "10"), NULL);
    assert_true(derive(&chain));
    chain.crc.has_all_files = false; /* as of a larger table */
    chain.crc.n_all_files = 0;
    const struct sl_crc before = chain.crc;
    log_commit(f, 1, ADD_AGAIN("a", "10"), NULL);
    expect_none(f, &chain, "its files may be there already");
    chain.crc = before;
    log_remove(f, "00000000000000000001.json");
    log_commit(f, 1, ADD_AGAIN("b", "7"), REMOVE("a", "10"), NULL);
    assert_true(derive(&chain));
    assert_int_equal(chain.crc.n_files, 1);
    assert_false(chain.crc.has_all_files);
    chain_end(&chain);
}

static void long_lists_are_left_out(void **state)
{
    struct log_fixture *f = *state;
    struct chain chain;
    struct sl_buf lines;
    chain_begin(&chain, f);
    sl_buf_init(&lines, &f->test.env);
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    for (int i = 0; i <= SL_CRC_MAX_FILES; i++) {
        sl_buf_printf(&lines, ADD("f%d", "10") "\n", i);
    }
    for (int i = 0; i <= SL_CRC_MAX_TXNS; i++) {
        sl_buf_printf(&lines, "{\"txn\":{\"appId\":\"a%d\",\"version\":1}}\n", i);
    }
    for (int i = 0; i <= SL_CRC_MAX_DOMAINS; i++) {
        sl_buf_printf(&lines, "{\"domainMetadata\":{\"domain\":\"d%d\",\"configuration\":\"\",\"removed\":false}}\n",
                      i);
    }
    log_put(f, "00000000000000000001.json", sl_buf_cstr(&lines));
    assert_true(derive(&chain));
    assert_true(derive(&chain));
    assert_false(chain.crc.has_all_files);
    assert_false(chain.crc.has_txns);
    assert_false(chain.crc.has_domains);
    sl_buf_release(&lines);
    expect_true(&chain);
    chain_end(&chain);
}

static void versions_that_expire_are_not_listed(void **state)
{
    struct log_fixture *f = *state;
    struct chain chain;
    chain_begin(&chain, f);
    log_commit(f, 0, LOG_PROTOCOL, METADATA("\"delta.setTransactionRetentionDuration\":\"interval 1 day\""),
               "{\"txn\":{\"appId\":\"x\",\"version\":1}}", NULL);
    assert_true(derive(&chain));
    assert_false(chain.crc.has_txns);
    chain_end(&chain);
}

/* ---- random histories ---- */

struct model {
    struct chain *chain;
    uint64_t seed;
    unsigned n_made;
    struct {
        unsigned name;
        unsigned vector; /* 0: none */
        unsigned size;
    } live[128];
    size_t n_live;
};

static unsigned pick(struct model *m, unsigned below)
{
    m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(m->seed >> 33U) % below;
}

static void put_file(struct sl_buf *lines, bool add, const struct model *m, size_t i)
{
    sl_buf_printf(lines, "{\"%s\":{\"path\":\"f%u\",\"size\":%u,\"dataChange\":true", add ? "add" : "remove",
                  m->live[i].name, m->live[i].size);
    sl_buf_put_c(lines, add ? ",\"partitionValues\":{},\"modificationTime\":1" : ",\"deletionTimestamp\":1");
    if (m->live[i].vector != 0) {
        sl_buf_printf(lines,
                      ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"ab^-aqEH.-t@S}K{vb[*k^\","
                      "\"offset\":%u,\"sizeInBytes\":40,\"cardinality\":%u}",
                      m->live[i].vector, m->live[i].vector);
    }
    sl_buf_put_c(lines, "}}\n");
}

static void random_commit(struct model *m, int64_t version)
{
    struct sl_buf lines;
    sl_buf_init(&lines, &m->chain->f->test.env);
    const size_t before = m->n_live;
    for (unsigned n = pick(m, 12); n > 0 && m->n_live < 100; n--) {
        m->live[m->n_live].name = m->n_made++;
        m->live[m->n_live].vector = 0;
        m->live[m->n_live].size = pick(m, 3) == 0 ? pick(m, 100000000) : pick(m, 20000);
        put_file(&lines, true, m, m->n_live++);
    }
    size_t touched = before; /* files below it are as they were before the commit */
    for (unsigned n = pick(m, 10); n > 0 && touched > 0; n--) {
        touched--;
        put_file(&lines, false, m, touched);
        if (pick(m, 2) == 0) {
            m->live[touched].vector += 1 + pick(m, 1000);
            put_file(&lines, true, m, touched);
        } else {
            m->live[touched] = m->live[--m->n_live];
        }
    }
    if (pick(m, 3) == 0) {
        sl_buf_printf(&lines, "{\"txn\":{\"appId\":\"a%u\",\"version\":%d}}\n", pick(m, 4), (int)version);
    }
    if (pick(m, 3) == 0) {
        sl_buf_printf(&lines, "{\"domainMetadata\":{\"domain\":\"d%u\",\"configuration\":\"%d\",\"removed\":%s}}\n",
                      pick(m, 3), (int)version, pick(m, 2) == 0 ? "true" : "false");
    }
    if (pick(m, 6) == 0) {
        sl_buf_put_c(&lines, METADATA("\"delta.appendOnly\":\"false\"") "\n");
    }
    char name[32];
    (void)snprintf(name, sizeof(name), "%020" PRId64 ".json", version);
    log_put(m->chain->f, name, sl_buf_cstr(&lines));
    sl_buf_release(&lines);
}

static void random_histories_are_followed(void **state)
{
    struct log_fixture *f = *state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct chain chain;
        chain_begin(&chain, f);
        struct model *model = sl_arena_alloc_zero(&chain.arena, sizeof(*model));
        model->chain = &chain;
        model->seed = seed;
        log_remove(f, "00000000000000000000.json");
        log_commit(f, 0, PROTOCOL7(""), METADATA(""), NULL);
        assert_true(derive(&chain));
        for (int64_t version = 1; version <= 20; version++) {
            random_commit(model, version);
            if (!derive(&chain)) {
                print_error("seed %d, version %d: %s\n", (int)seed, (int)version, chain.why_not);
                fail();
            }
            assert_int_equal(chain.crc.n_files, model->n_live);
            expect_true(&chain);
        }
        for (int64_t version = 0; version <= 20; version++) {
            char name[32];
            (void)snprintf(name, sizeof(name), "%020" PRId64 ".json", version);
            log_remove(f, name);
        }
        chain_end(&chain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(the_first_commit_has_one),
        LOG_TEST(files_applications_and_domains_follow_the_commits),
        LOG_TEST(the_text_of_files_is_carried_on),
        LOG_TEST(vectors_are_counted),
        LOG_TEST(in_commit_timestamps_are_taken_where_they_are_enabled),
        LOG_TEST(what_cannot_be_known_has_none),
        LOG_TEST(without_a_list_of_files_repeated_ones_are_suspected),
        LOG_TEST(long_lists_are_left_out),
        LOG_TEST(versions_that_expire_are_not_listed),
        LOG_TEST(random_histories_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
