/* The cache of credentials: when it asks its source, and who waits for whom. */
#include "storage/remote/credentials.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "test_env.h"

#define MINUTE_US (INT64_C(60) * 1000000)

struct source {
    const silt_env *env;
    const struct test_env *clock; /* NULL: never expires */
    int64_t lasts_us;
    int n_fetched;
    silt_status status;
};

static silt_status fetch(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err)
{
    (void)call;
    struct source *source = ctx;
    source->n_fetched++;
    if (source->status != SILT_OK) {
        return sl_fail(err, source->status, NULL, "the source is dry");
    }
    const char name[2] = {(char)('0' + source->n_fetched), '\0'};
    const struct sl_str parts[3] = {sl_str_from(name), SL_STR("secret"), {0}};
    return sl_credential_new(source->env, parts, source->lasts_us > 0 ? source->clock->wall_us + source->lasts_us : 0,
                             out, err);
}

struct fixture {
    struct test_env t;
    struct source source;
    struct sl_credential_cache *cache;
};

static void set_up(struct fixture *f, int64_t lasts_us)
{
    test_env_init(&f->t);
    f->source = (struct source){.env = &f->t.env, .clock = &f->t, .lasts_us = lasts_us};
    const struct sl_credential_source source = {&f->source, fetch};
    assert_int_equal(sl_credential_cache_new(&f->t.env, &source, &f->cache, NULL), SILT_OK);
}

static void tear_down(struct fixture *f)
{
    sl_credential_cache_free(f->cache);
    test_env_check(&f->t);
}

/* Which one is given: they are numbered. */
static void check(struct fixture *f, const struct sl_credential *refused, const char *id)
{
    struct sl_credential *got = NULL;
    assert_int_equal(sl_credential_cache_get(f->cache, NULL, refused, &got, NULL), SILT_OK);
    assert_string_equal(got->id, id);
    assert_null(got->token);
    sl_credential_unref(got);
}

static void what_never_expires_is_fetched_once(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    check(&f, NULL, "1");
    f.t.wall_us += 1000 * 24 * 60 * MINUTE_US;
    check(&f, NULL, "1");
    tear_down(&f);
}

static void what_expires_is_renewed_before(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 60 * MINUTE_US);
    check(&f, NULL, "1");
    f.t.wall_us += 54 * MINUTE_US;
    check(&f, NULL, "1");
    f.t.wall_us += 2 * MINUTE_US;
    check(&f, NULL, "2");
    tear_down(&f);
}

static void a_failure_to_renew_counts_only_at_the_end(void **state)
{
    (void)state;
    struct fixture f;
    silt_error err = SILT_ERROR_INIT;
    struct sl_credential *got = NULL;
    set_up(&f, 60 * MINUTE_US);
    check(&f, NULL, "1");
    f.source.status = SILT_EIO;
    f.t.wall_us += 56 * MINUTE_US;
    check(&f, NULL, "1");
    check(&f, NULL, "1"); /* not asked again at once */
    assert_int_equal(f.source.n_fetched, 2);
    f.t.wall_us += MINUTE_US;
    check(&f, NULL, "1");
    assert_int_equal(f.source.n_fetched, 3);
    f.t.wall_us += 4 * MINUTE_US;
    assert_int_equal(sl_credential_cache_get(f.cache, NULL, NULL, &got, &err), SILT_EIO);
    assert_null(got);
    assert_string_equal(err.message, "the source is dry");
    f.source.status = SILT_OK;
    check(&f, NULL, "5");
    tear_down(&f);
}

static void refused_ones_are_replaced_once(void **state)
{
    (void)state;
    struct fixture f;
    struct sl_credential *first = NULL;
    set_up(&f, 0);
    assert_int_equal(sl_credential_cache_get(f.cache, NULL, NULL, &first, NULL), SILT_OK);
    check(&f, first, "2");
    check(&f, first, "2"); /* refused to another thread too, which comes later */
    assert_int_equal(f.source.n_fetched, 2);
    sl_credential_unref(first);
    tear_down(&f);
}

static void a_nul_byte_is_refused(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_credential *made = NULL;
    test_env_init(&t);
    const struct sl_str parts[3] = {SL_STR("a"), SL_STR("b\0c"), {0}};
    assert_int_equal(sl_credential_new(&t.env, parts, 0, &made, NULL), SILT_EINVALID);
    assert_null(made);
    test_env_check(&t);
}

/* ---- threads ---- */

static silt_status fetch_slowly(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err)
{
    (void)usleep(20000); /* long enough for the others to come */
    return fetch(ctx, call, out, err);
}

static void *get_one(void *arg)
{
    struct sl_credential *got = NULL;
    const silt_status status = sl_credential_cache_get(arg, NULL, NULL, &got, NULL);
    const bool good = status == SILT_OK && strcmp(got->id, "1") == 0;
    sl_credential_unref(got);
    return good ? arg : NULL;
}

static void threads_wait_for_the_one_that_fetches(void **state)
{
    (void)state;
    enum {
        n_threads = 8
    };
    pthread_t threads[n_threads];
    struct sl_credential_cache *cache = NULL;
    struct source counts = {.env = silt_env_default()};
    const struct sl_credential_source source = {&counts, fetch_slowly};
    assert_int_equal(sl_credential_cache_new(silt_env_default(), &source, &cache, NULL), SILT_OK);
    for (size_t i = 0; i < n_threads; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, get_one, cache), 0);
    }
    for (size_t i = 0; i < n_threads; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, cache);
    }
    assert_int_equal(counts.n_fetched, 1);
    sl_credential_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_never_expires_is_fetched_once),
        cmocka_unit_test(what_expires_is_renewed_before),
        cmocka_unit_test(a_failure_to_renew_counts_only_at_the_end),
        cmocka_unit_test(refused_ones_are_replaced_once),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(threads_wait_for_the_one_that_fetches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
