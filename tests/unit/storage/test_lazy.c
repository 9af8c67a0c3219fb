/* A store that is made at first use: not before, once, and again after a failure. */
#include "storage/lazy.h"

#include <pthread.h>
#include <string.h>

#include "storage_fixture.h"

struct maker {
    int calls;
    int failures; /* calls that shall fail */
    int releases;
};

static silt_status make(void *ctx, const char *scheme, silt_storage **out, silt_error *err)
{
    struct maker *maker = ctx;
    assert_string_equal(scheme, "memory");
    maker->calls++;
    if (maker->calls <= maker->failures) {
        if (err != NULL) {
            err->status = SILT_EIO;
        }
        return SILT_EIO;
    }
    return silt_storage_memory_new(silt_env_default(), out, err);
}

static void release(void *ctx)
{
    ((struct maker *)ctx)->releases++;
}

static silt_storage *new_lazy(struct maker *maker)
{
    const struct sl_lazy_maker spec = {.ctx = maker, .make = make, .release = release};
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_storage_lazy_new(silt_env_default(), "memory", &spec, &store, &err), SILT_OK);
    return store;
}

static void an_unused_store_is_never_made(void **state)
{
    (void)state;
    struct maker maker = {0};
    silt_storage_unref(new_lazy(&maker));
    assert_int_equal(maker.calls, 0);
    assert_int_equal(maker.releases, 1);
}

static void it_is_made_once_and_then_used(void **state)
{
    (void)state;
    struct maker maker = {0};
    silt_storage *store = new_lazy(&maker);
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    void *data = NULL;
    size_t len = 0;
    assert_int_equal(silt_storage_put_if_absent(store, NULL, "memory://a/b", "xy", 2, &outcome, NULL), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(silt_storage_read(store, NULL, "memory://a/b", &data, &len, NULL), SILT_OK);
    assert_int_equal(len, 2);
    assert_memory_equal(data, "xy", 2);
    silt_storage_free(store, data, len);
    assert_int_equal(silt_storage_put_fresh(store, NULL, "memory://a/c", "z", 1, NULL), SILT_OK);
    store_expect(store, "memory://a/c", "z");
    assert_int_equal(maker.calls, 1);
    silt_storage_unref(store);
    assert_int_equal(maker.releases, 1);
}

static void a_failure_is_the_answer_and_the_next_call_tries_again(void **state)
{
    (void)state;
    struct maker maker = {.failures = 2};
    silt_storage *store = new_lazy(&maker);
    void *data = NULL;
    size_t len = 0;
    int64_t size = 0, modified = 0;
    assert_int_equal(silt_storage_read(store, NULL, "memory://a/b", &data, &len, NULL), SILT_EIO);
    assert_int_equal(silt_storage_stat(store, NULL, "memory://a/b", &size, &modified, NULL), SILT_EIO);
    assert_int_equal(silt_storage_stat(store, NULL, "memory://a/b", &size, &modified, NULL), SILT_ENOTFOUND);
    assert_int_equal(maker.calls, 3);
    silt_storage_unref(store);
}

static void *ask(void *arg)
{
    int64_t size = 0, modified = 0;
    assert_int_equal(silt_storage_stat(arg, NULL, "memory://a/b", &size, &modified, NULL), SILT_ENOTFOUND);
    return NULL;
}

static void threads_that_come_together_make_one(void **state)
{
    (void)state;
    struct maker maker = {0};
    silt_storage *store = new_lazy(&maker);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask, store), 0);
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(maker.calls, 1);
    silt_storage_unref(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unused_store_is_never_made),
        cmocka_unit_test(it_is_made_once_and_then_used),
        cmocka_unit_test(a_failure_is_the_answer_and_the_next_call_tries_again),
        cmocka_unit_test(threads_that_come_together_make_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
