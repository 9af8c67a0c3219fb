/*
 * A store that gives less of a file of the log than it listed, cut at the end of a line, where nothing in what is left tells: whoever reads the
 * log fails, and no row is lost without a word.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_fixture.h"
#include "storage/decorator.h"

#define LOG_PROTOCOL_V2                                                                                   \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"]," \
    "\"writerFeatures\":[\"v2Checkpoint\"]}}"
#define TOP "00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"

/* Reads of the files with this in their path give what is stored under the same name with ".cut" behind it. */
struct cutting {
    struct sl_decorator base;
    const char *const *victim;
};

static silt_status cut_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                 void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct cutting *c = impl;
    char path[512];
    for (size_t i = 0; i < n; i++) {
        const char *told = requests[i].path;
        const bool cut = *c->victim != NULL && strstr(told, *c->victim) != NULL;
        (void)snprintf(path, sizeof(path), "%s.cut", told);
        requests[i].path = cut ? path : told;
        const silt_status status = silt_storage_read_many(c->base.inner, call, &requests[i], 1, on_done, ctx, err);
        requests[i].path = told;
        if (status != SILT_OK) {
            return status;
        }
    }
    return SILT_OK;
}

static silt_status cut_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                            bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct cutting *c = impl;
    return silt_storage_list(c->base.inner, call, dir, options, on_entry, ctx, err);
}

static silt_status cut_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t len,
                                     silt_put_outcome *outcome, silt_error *err)
{
    const struct cutting *c = impl;
    return silt_storage_put_if_absent(c->base.inner, call, path, data, len, outcome, err);
}

static silt_status cut_put(void *impl, const silt_call *call, const char *path, const void *data, size_t len,
                           silt_error *err)
{
    const struct cutting *c = impl;
    return silt_storage_put(c->base.inner, call, path, data, len, err);
}

static silt_status cut_stat(void *impl, const silt_call *call, const char *path, int64_t *size, int64_t *modified_ms,
                            silt_error *err)
{
    const struct cutting *c = impl;
    return silt_storage_stat(c->base.inner, call, path, size, modified_ms, err);
}

static silt_status cut_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct cutting *c = impl;
    return silt_storage_remove(c->base.inner, call, path, err);
}

static const silt_storage_vtable SLOTS = {.size = sizeof(silt_storage_vtable),
                                          .abi_version = SILT_ABI_VERSION,
                                          .name = "cutting",
                                          .close = sl_decorator_close,
                                          .read_many = cut_read_many,
                                          .list = cut_list,
                                          .put_if_absent = cut_put_if_absent,
                                          .put = cut_put,
                                          .stat = cut_stat,
                                          .remove = cut_remove};

/* ---- a table whose store cuts ---- */

struct rig {
    struct log_fixture *f;
    silt_engine *engine;
    silt_table *table;
    const char *victim; /* NULL: nothing is cut */
};

static void rig_open(struct rig *rig, struct log_fixture *f)
{
    *rig = (struct rig){.f = f};
    const struct cutting impl = {.victim = &rig->victim};
    const struct sl_decorator_spec spec = {.slots = &SLOTS, .impl = &impl, .size = sizeof(impl)};
    silt_storage_registry *stores = NULL;
    silt_storage *store = NULL;
    assert_int_equal(sl_decorator_new(&f->test.env, f->store, &spec, &store, &f->err), SILT_OK);
    assert_int_equal(silt_storage_registry_new(&f->test.env, &stores, &f->err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", store, &f->err), SILT_OK);
    silt_storage_unref(store);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = &f->test.env, .stores = stores};
    assert_int_equal(silt_engine_new(&options, &rig->engine, &f->err), SILT_OK);
    assert_int_equal(silt_table_for_path(rig->engine, LOG_ROOT, &rig->table, &f->err), SILT_OK);
}

static void rig_close(struct rig *rig)
{
    silt_table_unref(rig->table);
    silt_engine_unref(rig->engine);
}

/* Puts a file whose first line only is what the store gives when it cuts, or nothing of it. */
static void put_cut(struct log_fixture *f, const char *name, const char *first, const char *rest, bool to_nothing)
{
    char text[4096];
    char cut[256];
    (void)snprintf(text, sizeof(text), "%s\n%s\n", first, rest);
    log_put(f, name, text);
    (void)snprintf(cut, sizeof(cut), "%s.cut", name);
    (void)snprintf(text, sizeof(text), "%s\n", first);
    log_put(f, cut, to_nothing ? "" : text);
}

static void expect_files(struct rig *rig, const char *expected)
{
    silt_snapshot *snapshot = NULL;
    silt_error_reset(&rig->f->err);
    if (silt_table_latest_snapshot(rig->table, NULL, &snapshot, &rig->f->err) != SILT_OK) {
        fail_msg("%s", rig->f->err.message);
    }
    assert_string_equal(log_files(rig->f, snapshot), expected);
    silt_snapshot_unref(snapshot);
}

/* The table is read well, and not at all with that file cut. */
static void expect_refusal(struct rig *rig, const char *name, const char *files)
{
    silt_snapshot *snapshot = NULL;
    int64_t n = 0;
    int64_t bytes = 0;
    expect_files(rig, files);
    rig->victim = name;
    silt_status status = silt_table_latest_snapshot(rig->table, NULL, &snapshot, &rig->f->err);
    if (status == SILT_OK) { /* files are looked at when they are wanted */
        status = silt_snapshot_totals(snapshot, NULL, &n, &bytes, &rig->f->err);
    }
    silt_snapshot_unref(snapshot);
    assert_int_equal(status, SILT_EIO);
    assert_non_null(strstr(rig->f->err.message, name));
    assert_non_null(strstr(rig->f->err.message, "listed with"));
    rig->victim = NULL;
    silt_error_reset(&rig->f->err);
}

/* ---- each kind of file ---- */

static void a_cut_commit_is_no_commit(void **state)
{
    struct rig rig;
    rig_open(&rig, *state);
    log_commit(rig.f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    for (int to_nothing = 0; to_nothing < 2; to_nothing++) {
        put_cut(rig.f, "00000000000000000001.json", LOG_ADD("b"), LOG_ADD("c"), to_nothing != 0);
        expect_refusal(&rig, "00000000000000000001.json", "a b c");
    }
    rig_close(&rig);
}

static void a_cut_compacted_file_is_none(void **state)
{
    struct rig rig;
    rig_open(&rig, *state);
    log_commit(rig.f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(rig.f, 1, LOG_ADD("b"), NULL);
    log_commit(rig.f, 2, LOG_ADD("c"), NULL);
    put_cut(rig.f, "00000000000000000001.00000000000000000002.compacted.json", LOG_ADD("b"), LOG_ADD("c"), false);
    expect_refusal(&rig, "00000000000000000001.00000000000000000002.compacted.json", "a b c");
    rig_close(&rig);
}

static void a_cut_checkpoint_is_none(void **state)
{
    struct rig rig;
    rig_open(&rig, *state);
    log_commit(rig.f, 0, LOG_PROTOCOL_V2, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(rig.f, 1, LOG_ADD("b"), NULL);
    put_cut(rig.f, TOP,
            "{\"checkpointMetadata\":{\"version\":1}}\n" LOG_PROTOCOL_V2 "\n" LOG_METADATA "\n" LOG_ADD("a"),
            LOG_ADD("b"), false);
    expect_refusal(&rig, TOP, "a b");
    rig_close(&rig);
}

/* Refresh asks for the commits that may come before it lists. */
static void a_cut_commit_does_not_refresh(void **state)
{
    struct rig rig;
    silt_snapshot *snapshot = NULL;
    silt_snapshot *newer = NULL;
    rig_open(&rig, *state);
    log_commit(rig.f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    assert_int_equal(silt_table_latest_snapshot(rig.table, NULL, &snapshot, &rig.f->err), SILT_OK);
    put_cut(rig.f, "00000000000000000001.json", LOG_ADD("b"), LOG_ADD("c"), false);
    rig.victim = "00000000000000000001.json";
    assert_int_equal(silt_snapshot_refresh(snapshot, NULL, &newer, &rig.f->err), SILT_EIO);
    rig.victim = NULL;
    silt_error_reset(&rig.f->err);
    assert_int_equal(silt_snapshot_refresh(snapshot, NULL, &newer, &rig.f->err), SILT_OK);
    assert_string_equal(log_files(rig.f, newer), "a b c");
    silt_snapshot_unref(newer);
    silt_snapshot_unref(snapshot);
    rig_close(&rig);
}

/* Some writers leave such a commit when they die; it is one of no actions for Delta Spark, and stays one if the listing says the same. */
static void a_commit_that_is_listed_as_empty_has_no_actions(void **state)
{
    struct rig rig;
    rig_open(&rig, *state);
    log_commit(rig.f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_put(rig.f, "00000000000000000001.json", "");
    expect_files(&rig, "a");
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_cut_commit_is_no_commit),
        LOG_TEST(a_cut_compacted_file_is_none),
        LOG_TEST(a_cut_checkpoint_is_none),
        LOG_TEST(a_cut_commit_does_not_refresh),
        LOG_TEST(a_commit_that_is_listed_as_empty_has_no_actions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
