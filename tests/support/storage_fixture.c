/*
 * Stores for tests. The folder of the machine is removed with plain system calls, not with the store under test.
 */
#include "storage_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temp_dir.h"

#define MAX_STORE_TESTS 40

int no_link(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = EPERM;
    return -1;
}

int no_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = EINVAL;
    return -1;
}

static void init_calls(struct sl_local_calls *calls, bool has_link, bool has_rename)
{
    *calls = *sl_local_system_calls();
    calls->link = has_link ? calls->link : no_link;
    calls->link_unnamed = has_link ? calls->link_unnamed : NULL;
    calls->rename_noreplace = has_rename ? calls->rename_noreplace : no_rename;
}

char *make_temp_dir(void)
{
    enum {
        SIZE = 256
    };
    char *dir = malloc(SIZE);
    assert_non_null(dir);
    assert_true(temp_dir_make(dir, SIZE));
    return dir;
}

void remove_temp_dir(char *dir)
{
    assert_true(temp_dir_remove(dir));
    free(dir);
}

/* The store's table of calls must outlive it. */
struct full_fixture {
    struct store_fixture base;
    struct sl_local_calls calls;
};

struct store_fixture *store_fixture_new(const silt_env *env, const struct store_kind *kind)
{
    struct full_fixture *full = calloc(1, sizeof(*full));
    assert_non_null(full);
    struct store_fixture *fixture = &full->base;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    fixture->env = env;
    fixture->local_dir = make_temp_dir();
    if (kind->in_memory) {
        assert_int_equal(silt_storage_memory_new(env, &store, &err), SILT_OK);
        fixture->root = strdup("memory://bucket/table");
    } else {
        const silt_local_options options = {.size = sizeof(options), .allow_lock_file = true, .no_sync = !kind->sync};
        init_calls(&full->calls, kind->has_link, kind->has_rename);
        assert_int_equal(sl_local_new_with(env, &options, &full->calls, &store, &err), SILT_OK);
        assert_true(asprintf(&fixture->root, "%s%s/root", kind->by_uri ? "file://" : "", fixture->local_dir) > 0);
    }
    assert_non_null(fixture->root);
    fixture->store = store;
    if (kind->wrap != NULL) {
        assert_int_equal(kind->wrap(env, store, &fixture->store, &err), SILT_OK);
        silt_storage_unref(store);
    }
    return fixture;
}

void store_fixture_free(struct store_fixture *fixture)
{
    silt_storage_unref(fixture->store);
    remove_temp_dir(fixture->local_dir);
    free(fixture->root);
    free(fixture);
}

void store_path_in(const struct store_fixture *fixture, const char *name, char *out, size_t size)
{
    int printed = snprintf(out, size, "%s/%s", fixture->root, name);
    assert_true(printed > 0 && (size_t)printed < size);
}

const char *store_path(const struct store_fixture *fixture, const char *name)
{
    static char paths[16][4096];
    static unsigned next;
    char *path = paths[next++ % 16];
    store_path_in(fixture, name, path, sizeof(paths[0]));
    return path;
}

static void expect_ok(silt_status status, const silt_error *err)
{
    if (status != SILT_OK) {
        fail_msg("%s: %s", silt_status_name(status), err->message);
    }
}

void store_put(silt_storage *store, const char *path, const char *text)
{
    silt_error err = SILT_ERROR_INIT;
    expect_ok(silt_storage_put(store, NULL, path, text, strlen(text), &err), &err);
}

silt_put_outcome store_put_new(silt_storage *store, const char *path, const char *text)
{
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    expect_ok(silt_storage_put_if_absent(store, NULL, path, text, strlen(text), &outcome, &err), &err);
    return outcome;
}

void store_expect(silt_storage *store, const char *path, const char *text)
{
    silt_error err = SILT_ERROR_INIT;
    void *data = NULL;
    size_t len = 0;
    expect_ok(silt_storage_read(store, NULL, path, &data, &len, &err), &err);
    assert_int_equal(len, strlen(text));
    if (len > 0) {
        assert_memory_equal(data, text, len);
    }
    silt_storage_free(store, data, len);
}

void store_expect_missing(silt_storage *store, const char *path)
{
    silt_error err = SILT_ERROR_INIT;
    void *data = NULL;
    size_t len = 0;
    assert_int_equal(silt_storage_read(store, NULL, path, &data, &len, &err), SILT_ENOTFOUND);
    assert_null(data);
    assert_int_equal(silt_storage_stat(store, NULL, path, NULL, NULL, &err), SILT_ENOTFOUND);
}

struct name_list {
    char text[16384];
    size_t len;
};

static bool add_name(void *ctx, const silt_file_entry *entry)
{
    struct name_list *list = ctx;
    if (entry->name_len + 2 > sizeof(list->text) - list->len) {
        return false;
    }
    memcpy(list->text + list->len, entry->name, entry->name_len);
    list->len += entry->name_len;
    list->text[list->len++] = '\n';
    list->text[list->len] = '\0';
    return true;
}

const char *store_list(silt_storage *store, const char *dir, const char *start_from, bool recursive)
{
    static struct name_list list;
    silt_error err = SILT_ERROR_INIT;
    const silt_list_options options = {.size = sizeof(options), .start_from = start_from, .recursive = recursive};
    list = (struct name_list){.len = 0};
    silt_status status = silt_storage_list(store, NULL, dir, &options, add_name, &list, &err);
    return status == SILT_OK ? list.text : silt_status_name(status);
}

size_t count_names(const char *dir, char *name, size_t size)
{
    size_t n = 0;
    DIR *stream = opendir(dir);
    if (stream == NULL) {
        return 0;
    }
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            n++;
            if (name != NULL) {
                (void)snprintf(name, size, "%s", entry->d_name);
            }
        }
    }
    (void)closedir(stream);
    return n;
}

/* ---- kinds ---- */

static silt_fault_action never(void *ctx, uint64_t number, const char *operation, const char *path)
{
    (void)ctx;
    (void)number;
    (void)operation;
    (void)path;
    return SILT_FAULT_NONE;
}

static void ignore_event(void *ctx, const silt_trace_event *event)
{
    (void)ctx;
    (void)event;
}

static silt_status wrap_fault(const silt_env *env, silt_storage *inner, silt_storage **out, silt_error *err)
{
    return silt_storage_fault_new(env, inner, never, NULL, out, err);
}

static silt_status wrap_trace(const silt_env *env, silt_storage *inner, silt_storage **out, silt_error *err)
{
    return silt_storage_trace_new(env, inner, ignore_event, NULL, out, err);
}

static silt_status wrap_retry(const silt_env *env, silt_storage *inner, silt_storage **out, silt_error *err)
{
    return silt_storage_retry_new(env, inner, NULL, out, err);
}

static const struct store_kind kinds[] = {
    {.name = "local", .sync = true, .has_link = true, .has_rename = true},
    {.name = "local_by_uri", .by_uri = true, .has_link = true, .has_rename = true},
    {.name = "local_without_link", .has_rename = true},
    {.name = "local_with_lock_file"},
    {.name = "memory", .in_memory = true},
    {.name = "fault_local", .has_link = true, .has_rename = true, .wrap = wrap_fault},
    {.name = "trace_local", .has_link = true, .has_rename = true, .wrap = wrap_trace},
    {.name = "retry_local", .has_link = true, .has_rename = true, .wrap = wrap_retry},
    {.name = "retry_memory", .in_memory = true, .wrap = wrap_retry},
};

static int set_up(void **state)
{
    *state = store_fixture_new(silt_env_default(), *state);
    return 0;
}

static int tear_down(void **state)
{
    store_fixture_free(*state);
    return 0;
}

int run_store_tests(const char *group, const struct store_test *tests, size_t n_tests)
{
    enum {
        N_KINDS = sizeof(kinds) / sizeof(kinds[0])
    };
    static struct CMUnitTest table[N_KINDS * MAX_STORE_TESTS];
    static char names[N_KINDS * MAX_STORE_TESTS][128];
    assert_true(n_tests <= MAX_STORE_TESTS);
    size_t n = 0;
    for (size_t k = 0; k < N_KINDS; k++) {
        for (size_t t = 0; t < n_tests; t++, n++) {
            (void)snprintf(names[n], sizeof(names[n]), "%s: %s", kinds[k].name, tests[t].name);
            table[n] = (struct CMUnitTest){.name = names[n],
                                           .test_func = tests[t].run,
                                           .setup_func = set_up,
                                           .teardown_func = tear_down,
                                           .initial_state = (void *)(uintptr_t)&kinds[k]};
        }
    }
    return _cmocka_run_group_tests(group, table, n, NULL, NULL);
}
