/* Hashes that come twice, against a naive count: random ones, ones that crowd one place, all alike; sizes around those of the bitmaps. */
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/replay/repeated.h"

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static int compare(const void *a, const void *b)
{
    const struct sl_repeated *x = a;
    const struct sl_repeated *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : x->place < y->place ? -1 : 1;
}

/* Sorts all of them. */
static void check(struct test_env *t, const uint64_t *hashes, size_t n)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_vec found;
    struct sl_repeated *all = malloc((n + 1) * sizeof(*all));
    size_t n_expected = 0;
    assert_non_null(all);
    for (size_t i = 0; i < n; i++) {
        all[i] = (struct sl_repeated){hashes[i], i};
    }
    qsort(all, n, sizeof(*all), compare);
    for (size_t i = 0; i < n; i++) {
        const bool like_before = i > 0 && all[i - 1].hash == all[i].hash;
        const bool like_next = i + 1 < n && all[i + 1].hash == all[i].hash;
        n_expected += like_before || like_next ? 1 : 0;
    }
    sl_vec_init(&found, &t->env, sizeof(struct sl_repeated));
    assert_int_equal(sl_repeated_find(hashes, n, &found, &err), SILT_OK);
    assert_int_equal(found.len, n_expected);
    const struct sl_repeated *given = found.data;
    for (size_t i = 0; i < found.len; i++) {
        assert_true(i == 0 || compare(&given[i - 1], &given[i]) < 0);
        assert_int_equal(hashes[given[i].place], given[i].hash);
        const bool like_before = i > 0 && given[i - 1].hash == given[i].hash;
        const bool like_next = i + 1 < found.len && given[i + 1].hash == given[i].hash;
        assert_true(like_before || like_next);
    }
    sl_vec_release(&found);
    free(all);
}

static void all_that_come_twice_are_found(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 1024, 4096, 65537, 300000};
    struct test_env t;
    test_env_init(&t);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        const size_t n = sizes[k];
        uint64_t *hashes = calloc(n + 1, sizeof(*hashes));
        uint64_t random = n;
        assert_non_null(hashes);
        for (int kind = 0; kind < 6; kind++) {
            for (size_t i = 0; i < n; i++) {
                const uint64_t any = next_random(&random);
                hashes[i] = kind == 0         ? any
                            : kind == 1       ? any % (n * 2 + 1)          /* most come twice */
                            : kind == 2       ? any << 40                  /* no low bits */
                            : kind == 3       ? any & UINT64_C(0xFFFFFFFF) /* no high bits: one place of the table */
                            : kind == 4       ? (any & ~UINT64_C(0xFFFFF)) /* one bit of the bitmap */
                            : i % 1000 == 999 ? hashes[i / 2]
                                              : any; /* few come twice */
            }
            check(&t, hashes, n);
        }
        memset(hashes, 0, n * sizeof(*hashes));
        check(&t, hashes, n);
        free(hashes);
    }
    test_env_check(&t);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct test_env t;
    uint64_t hashes[5000];
    uint64_t random = 1;
    test_env_init(&t);
    for (size_t i = 0; i < 5000; i++) {
        hashes[i] = i % 7 == 6 ? hashes[i - 3] : next_random(&random);
    }
    for (size_t n = 1;; n++) {
        silt_error err = SILT_ERROR_INIT;
        struct sl_vec found;
        sl_vec_init(&found, &t.env, sizeof(struct sl_repeated));
        test_env_fail_at(&t, n);
        const silt_status status = sl_repeated_find(hashes, 5000, &found, &err);
        const bool reached = t.n_requests >= n;
        test_env_fail_at(&t, 0);
        assert_int_equal(status, reached ? SILT_ENOMEM : SILT_OK);
        sl_vec_release(&found);
        if (!reached) {
            break;
        }
    }
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_come_twice_are_found),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
