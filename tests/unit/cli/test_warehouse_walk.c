/* Looking for the tables of a warehouse in stores with folders and without. */
#include "cli/warehouse_walk.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "rounds_store.h"
#include "storage/decorator.h"
#include "storage_fixture.h"
#include "test_env.h"

#define ROOT "memory://w/h"

struct rig {
    struct test_env test;
    silt_storage *memory;
    silt_storage *folders; /* the same with folders, of which "closed" and "s/closed" may not be read */
    silt_storage *counted; /* one of the two */
    struct rounds rounds;
    char found[4096]; /* "NAME\n", "-FOLDER\n" for one that was left out */
};

/* ---- a store with folders: taken from the names of a store without ---- */

struct folder_list {
    bool (*on_folder)(void *ctx, const char *name, size_t name_len);
    void *ctx;
    struct sl_str last; /* borrowed of text */
    char text[256];
    bool stopped;
};

static bool show_folder(void *ctx, const silt_file_entry *entry)
{
    struct folder_list *list = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    const size_t slash = sl_str_find(name, SL_STR("/"));
    if (slash == SIZE_MAX || slash >= sizeof(list->text) || sl_str_eq(list->last, sl_str_sub(name, 0, slash))) {
        return true;
    }
    memcpy(list->text, name.ptr, slash);
    list->last = sl_str_make(list->text, slash);
    list->stopped = !list->on_folder(list->ctx, list->text, slash);
    return !list->stopped;
}

static silt_status list_folders(void *impl, const silt_call *call, const char *dir,
                                bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                silt_error *err)
{
    const struct sl_decorator *base = impl;
    struct folder_list list = {.on_folder = on_folder, .ctx = ctx};
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    const size_t len = strlen(dir);
    if (len > 7 && strcmp(dir + len - 7, "/closed") == 0) {
        return SILT_EACCESS;
    }
    return silt_storage_list(base->inner, call, dir, &options, show_folder, &list, err);
}

/* Whoever has folders is asked for nothing else. */
static silt_status no_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                           bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    (void)impl, (void)call, (void)dir, (void)options, (void)on_entry, (void)ctx, (void)err;
    return SILT_EIO;
}

static silt_status no_read(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                           void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    (void)impl, (void)call, (void)requests, (void)n, (void)on_done, (void)ctx, (void)err;
    return SILT_EIO;
}

static silt_status no_create(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                             silt_put_outcome *outcome, silt_error *err)
{
    (void)impl, (void)call, (void)path, (void)data, (void)data_len, (void)outcome, (void)err;
    return SILT_EIO;
}

static silt_status no_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                          silt_error *err)
{
    (void)impl, (void)call, (void)path, (void)data, (void)data_len, (void)err;
    return SILT_EIO;
}

static silt_status no_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                           int64_t *modified_ms, silt_error *err)
{
    (void)impl, (void)call, (void)path, (void)size_bytes, (void)modified_ms, (void)err;
    return SILT_EIO;
}

static silt_status no_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    (void)impl, (void)call, (void)path, (void)err;
    return SILT_EIO;
}

static const silt_storage_vtable FOLDERS = {.size = sizeof(silt_storage_vtable),
                                            .abi_version = SILT_ABI_VERSION,
                                            .name = "folders",
                                            .close = sl_decorator_close,
                                            .read_many = no_read,
                                            .list = no_list,
                                            .put_if_absent = no_create,
                                            .put = no_put,
                                            .stat = no_stat,
                                            .remove = no_remove,
                                            .list_folders = list_folders};

/* ---- one walk ---- */

static void on_table(void *ctx, const char *name)
{
    struct rig *rig = ctx;
    (void)snprintf(rig->found + strlen(rig->found), sizeof(rig->found) - strlen(rig->found), "%s\n", name);
}

static void on_denied(void *ctx, const char *name, const silt_error *why)
{
    struct rig *rig = ctx;
    assert_int_equal(why->status, SILT_EACCESS);
    (void)snprintf(rig->found + strlen(rig->found), sizeof(rig->found) - strlen(rig->found), "-%s\n", name);
}

static struct sl_warehouse_walk walk_of(struct rig *rig, bool folders)
{
    silt_error err = SILT_ERROR_INIT;
    silt_storage_unref(rig->counted);
    rig->counted = NULL;
    rounds_reset(&rig->rounds);
    assert_int_equal(
        rounds_store_new(&rig->test.env, folders ? rig->folders : rig->memory, &rig->rounds, &rig->counted, &err),
        SILT_OK);
    rig->found[0] = '\0';
    return (struct sl_warehouse_walk){.env = &rig->test.env,
                                      .storage = rig->counted,
                                      .folder = ROOT,
                                      .on_table = on_table,
                                      .on_denied = on_denied,
                                      .ctx = rig};
}

static void put(struct rig *rig, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), ROOT "/%s", name);
    store_put(rig->memory, path, "x");
}

static void put_many(struct rig *rig, const char *before, int n, const char *after)
{
    for (int i = 0; i < n; i++) {
        char name[128];
        (void)snprintf(name, sizeof(name), "%s%05d%s", before, i, after);
        put(rig, name);
    }
}

static void expect_names(struct rig *rig, const char *found, size_t most_lists)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_warehouse_walk walk = walk_of(rig, false);
    assert_int_equal(sl_warehouse_walk_names(&walk, &err), SILT_OK);
    assert_string_equal(rig->found, found);
    assert_false(walk.cut);
    assert_true(rig->rounds.n_lists <= most_lists);
}

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig = (struct rig){0};
    test_env_init(&rig.test);
    rounds_init(&rig.rounds);
    assert_int_equal(silt_storage_memory_new(&rig.test.env, &rig.memory, &err), SILT_OK);
    const struct sl_decorator impl = {0};
    const struct sl_decorator_spec spec = {.slots = &FOLDERS, .impl = &impl, .size = sizeof(impl)};
    assert_int_equal(sl_decorator_new(&rig.test.env, rig.memory, &spec, &rig.folders, &err), SILT_OK);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    silt_storage_unref(rig->counted);
    silt_storage_unref(rig->folders);
    silt_storage_unref(rig->memory);
    rounds_destroy(&rig->rounds);
    test_env_check(&rig->test);
    return 0;
}

/* ---- names ---- */

static void tables_beside_a_full_partition_are_found(void **state)
{
    struct rig *rig = *state;
    put_many(rig, "s/A=1/", 1500, "");
    put_many(rig, "s/A=2/", 1500, "");
    put(rig, "s/B/_delta_log/0");
    put(rig, "s/t/_delta_log/0");
    put(rig, "z/_delta_log/0");
    expect_names(rig, "s.B\ns.t\nz\n", 4); /* A=1, the question, A=2, the rest */
}

static void a_schema_may_end_with_a_full_partition(void **state)
{
    struct rig *rig = *state;
    put(rig, "s/0/_delta_log/0");
    put_many(rig, "s/A=1/", 1500, "");
    expect_names(rig, "s.0\n", 3);
}

static void a_table_with_many_partitions_is_jumped_over(void **state)
{
    struct rig *rig = *state;
    put_many(rig, "t/A=", 5000, "/x");
    put(rig, "t/_delta_log/0");
    put_many(rig, "t/x=", 5000, "/x");
    put(rig, "u/_delta_log/0");
    expect_names(rig, "t\nu\n", 3);
}

/* ---- folders ---- */

static void folders_of_tables_are_not_entered(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    put_many(rig, "t/A=", 30, "/x");
    put(rig, "t/_delta_log/0");
    put(rig, "s/A=1/x");
    put(rig, "s/a/_delta_log/0");
    put(rig, "s/b/c/_delta_log/0"); /* too deep */
    put(rig, ".hidden/_delta_log/0");
    put(rig, "file");
    struct sl_warehouse_walk walk = walk_of(rig, true);
    assert_int_equal(sl_warehouse_walk_folders(&walk, &err), SILT_OK);
    assert_string_equal(rig->found, "s.a\nt\n");
    assert_int_equal(rig->rounds.n_lists, 5); /* the warehouse, s, s/a, s/b, t */
    assert_false(walk.cut);
}

static void a_folder_that_may_not_be_read_hides_no_other(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    put(rig, "closed/_delta_log/0");
    put(rig, "s/closed/_delta_log/0");
    put(rig, "s/t/_delta_log/0");
    put(rig, "t/_delta_log/0");
    struct sl_warehouse_walk walk = walk_of(rig, true);
    assert_int_equal(sl_warehouse_walk_folders(&walk, &err), SILT_OK);
    assert_string_equal(rig->found, "-closed\n-s/closed\ns.t\nt\n");
    walk.folder = ROOT "/closed"; /* the warehouse itself */
    assert_int_equal(sl_warehouse_walk_folders(&walk, &err), SILT_EACCESS);
}

static void a_store_without_folders_says_so(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    put(rig, "t/_delta_log/0");
    struct sl_warehouse_walk walk = walk_of(rig, false);
    assert_int_equal(sl_warehouse_walk_folders(&walk, &err), SILT_EUNSUPPORTED);
    assert_string_equal(rig->found, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_beside_a_full_partition_are_found),     TEST(a_schema_may_end_with_a_full_partition),
        TEST(a_table_with_many_partitions_is_jumped_over),  TEST(folders_of_tables_are_not_entered),
        TEST(a_folder_that_may_not_be_read_hides_no_other), TEST(a_store_without_folders_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
