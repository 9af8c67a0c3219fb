/*
 * Layered file lists against a naive model: thousands of random histories of adds and removes, with hashes that collide, with and
 * without details; what lists share; what they take.
 */
#include "test_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/replay/file_build.h"
#include "kernel/replay/file_index.h"
#include "kernel/replay/file_list.h"

#define N_NAMES 97
#define N_VECTORS 3

/* ---- a naive model: an array of what is live ---- */

struct model {
    bool live[N_NAMES][N_VECTORS];
    int64_t size[N_NAMES][N_VECTORS];
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static uint64_t same_for_all(const void *bytes, size_t len, uint64_t seed)
{
    (void)bytes;
    (void)len;
    (void)seed;
    return 7;
}

static uint64_t few_values(const void *bytes, size_t len, uint64_t seed)
{
    return sl_key_hash_xxh3(bytes, len, seed) & 3;
}

/* Names of every sort: folders, escapes, absolute ones; two spellings of each. */
static void put_path(char *out, size_t size, int name, bool other_spelling)
{
    if (name % 4 == 0) {
        (void)snprintf(out, size, other_spelling ? "/t/p=%d/f%d" : "p=%d/f%d", name % 7, name);
    } else if (name % 4 == 1) {
        (void)snprintf(out, size, other_spelling ? "p%%3D%d/f%d" : "p=%d/f%d", name % 5, name);
    } else if (name % 4 == 2) {
        (void)snprintf(out, size, other_spelling ? "f%%20%d" : "f %d", name);
    } else {
        (void)snprintf(out, size, "f%d", name);
    }
}

static struct sl_dv_descriptor vector_of(int vector)
{
    return (struct sl_dv_descriptor){.storage_type = SL_STR("u"),
                                     .path_or_inline_dv = SL_STR("v"),
                                     .offset = vector == 1 ? 4 : SL_NO_I64,
                                     .size_in_bytes = 3,
                                     .cardinality = 2};
}

/* Of each name, both. */
struct spellings {
    char text[N_NAMES][2][64];
};

struct history {
    struct spellings spellings;
    struct test_env *t;
    sl_key_hash *hash;
    bool details;
    uint64_t random;
    struct model model;
    struct sl_file_list *list;
};

static struct sl_file_set_options options_of(const struct history *h)
{
    return (struct sl_file_set_options){
        .env = &h->t->env, .root = SL_STR("/t"), .hash = h->hash, .want_details = h->details};
}

/* One file of a commit: added or removed, in the model, in the set and among the keys. */
static void decide(struct history *h, struct sl_file_set_builder *builder, struct sl_key_set *decided, int name,
                   int vector)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_key_maker maker;
    struct sl_file_key key;
    char stats[32];
    const struct sl_dv_descriptor dv = vector_of(vector);
    const char *path = h->spellings.text[name][next_random(&h->random) % 2];
    sl_key_maker_init(&maker, &h->t->env, SL_STR("/t"), h->hash);
    assert_true(sl_key_make(&maker, sl_str_from(path), vector > 0 ? &dv : NULL, &key));
    const bool is_add = next_random(&h->random) % 100 < 60;
    h->model.live[name][vector] = is_add;
    if (is_add) {
        sl_file_pos pos = SL_FILE_NOWHERE;
        const int64_t size = (int64_t)(next_random(&h->random) % 1000);
        (void)snprintf(stats, sizeof(stats), "{\"n\":%" PRId64 "}", size);
        const struct sl_add add = {.path = sl_str_from(path),
                                   .size = size,
                                   .stats = sl_str_from(stats),
                                   .deletion_vector = vector > 0 ? &dv : NULL,
                                   .base_row_id = name % 3 == 0 ? name : SL_NO_I64,
                                   .default_row_commit_version = SL_NO_I64};
        h->model.size[name][vector] = size;
        assert_int_equal(sl_file_set_add(builder, &add, &pos, &err), SILT_OK);
        assert_true(sl_key_set_put_file(decided, &key, pos));
    } else {
        assert_true(sl_key_set_put(decided, &key));
    }
    sl_key_maker_release(&maker);
}

static void commit(struct history *h)
{
    silt_error err = SILT_ERROR_INIT;
    bool touched[N_NAMES][N_VECTORS] = {{false}};
    struct sl_file_set_builder builder;
    struct sl_file_set *adds = NULL;
    struct sl_key_set decided;
    const struct sl_file_set_options options = options_of(h);
    assert_int_equal(sl_file_set_begin(&builder, &options, &err), SILT_OK);
    sl_key_set_init(&decided, &h->t->env);
    const uint64_t n = next_random(&h->random) % 12;
    for (uint64_t i = 0; i < n; i++) {
        const int name = (int)(next_random(&h->random) % N_NAMES);
        const int vector = next_random(&h->random) % 4 == 0 ? (int)(next_random(&h->random) % N_VECTORS) : 0;
        if (!touched[name][vector]) {
            touched[name][vector] = true;
            decide(h, &builder, &decided, name, vector);
        }
    }
    assert_int_equal(sl_file_set_finish(&builder, &adds, &err), SILT_OK);
    struct sl_file_list *grown = NULL;
    if (h->list == NULL) {
        assert_int_equal(sl_file_list_of(adds, &grown, &err), SILT_OK);
    } else {
        assert_int_equal(sl_file_list_grow(h->list, adds, &decided, &grown, &err), SILT_OK);
    }
    sl_file_list_unref(h->list);
    h->list = grown;
    sl_key_set_release(&decided);
}

/* The name and vector of an add, by its spelling and descriptor. */
static void identify(const struct spellings *all, const struct sl_add *add, int *name, int *vector)
{
    *vector = add->deletion_vector == NULL ? 0 : add->deletion_vector->offset == SL_NO_I64 ? 2 : 1;
    for (*name = 0; *name < N_NAMES; (*name)++) {
        if (sl_str_eq_c(add->path, all->text[*name][0]) || sl_str_eq_c(add->path, all->text[*name][1])) {
            return;
        }
    }
    fail_msg("a path that nobody added: %.*s", SL_FMT(add->path));
}

static void check(struct history *h)
{
    bool seen[N_NAMES][N_VECTORS] = {{false}};
    int64_t n = 0;
    int64_t total = 0;
    struct sl_list_cursor cursor;
    sl_list_cursor_init(&cursor, h->list, true);
    for (;;) {
        struct sl_add add;
        silt_error err = SILT_ERROR_INIT;
        bool done = false;
        int name = 0;
        int vector = 0;
        assert_int_equal(sl_list_cursor_next(&cursor, &add, &done, &err), SILT_OK);
        if (done) {
            break;
        }
        identify(&h->spellings, &add, &name, &vector);
        assert_true(h->model.live[name][vector]);
        assert_false(seen[name][vector]);
        seen[name][vector] = true;
        assert_int_equal(add.size, h->model.size[name][vector]);
        assert_int_equal(add.base_row_id, name % 3 == 0 ? name : SL_NO_I64);
        if (h->details) {
            char stats[32];
            (void)snprintf(stats, sizeof(stats), "{\"n\":%" PRId64 "}", add.size);
            assert_true(sl_str_eq_c(add.stats, stats));
        }
        n++;
        total += add.size;
    }
    sl_list_cursor_release(&cursor);
    assert_int_equal(h->list->n_files, n);
    assert_int_equal(h->list->total_size, total);
    assert_int_equal(sl_file_list_has_details(h->list), h->details);
    for (int name = 0; name < N_NAMES; name++) {
        for (int vector = 0; vector < N_VECTORS; vector++) {
            assert_int_equal(seen[name][vector], h->model.live[name][vector]);
        }
    }
}

/* A checkpoint under the history, in which some files are named twice, by either spelling; the first one counts. */
static void begin_with_checkpoint(struct history *h)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_file_set_builder builder;
    struct sl_file_set *set = NULL;
    struct sl_file_set_options options = options_of(h);
    int64_t n_again = 0;
    options.find_again = true;
    assert_int_equal(sl_file_set_begin(&builder, &options, &err), SILT_OK);
    for (int i = 0; i < 80; i++) {
        const int name = (int)(next_random(&h->random) % N_NAMES);
        const int vector = next_random(&h->random) % 4 == 0 ? (int)(next_random(&h->random) % N_VECTORS) : 0;
        const char *path = h->spellings.text[name][next_random(&h->random) % 2];
        const struct sl_dv_descriptor dv = vector_of(vector);
        const int64_t size = (int64_t)(next_random(&h->random) % 1000);
        char stats[32];
        (void)snprintf(stats, sizeof(stats), "{\"n\":%" PRId64 "}", size);
        const struct sl_add add = {.path = sl_str_from(path),
                                   .size = size,
                                   .stats = sl_str_from(stats),
                                   .deletion_vector = vector > 0 ? &dv : NULL,
                                   .base_row_id = name % 3 == 0 ? name : SL_NO_I64,
                                   .default_row_commit_version = SL_NO_I64};
        assert_int_equal(sl_file_set_add(&builder, &add, NULL, &err), SILT_OK);
        n_again += h->model.live[name][vector] ? 1 : 0;
        h->model.size[name][vector] = h->model.live[name][vector] ? h->model.size[name][vector] : size;
        h->model.live[name][vector] = true;
    }
    assert_int_equal(sl_file_set_finish(&builder, &set, &err), SILT_OK);
    assert_int_equal(set->again.len, n_again);
    assert_int_equal(sl_file_list_of(set, &h->list, &err), SILT_OK);
    assert_int_equal(h->list->n_again, n_again);
    check(h);
}

static void run_histories(uint64_t n_histories, int n_commits, sl_key_hash *hash)
{
    struct test_env t;
    test_env_init(&t);
    for (uint64_t seed = 1; seed <= n_histories; seed++) {
        struct history h = {.t = &t, .hash = hash, .details = seed % 2 == 0, .random = seed};
        for (int name = 0; name < N_NAMES; name++) {
            put_path(h.spellings.text[name][0], 64, name, false);
            put_path(h.spellings.text[name][1], 64, name, true);
        }
        struct sl_file_list *old = NULL; /* an older list stays what it was */
        if (seed % 3 == 0) {
            begin_with_checkpoint(&h);
        }
        struct model old_model = h.model;
        for (int i = 0; i < n_commits; i++) {
            commit(&h);
            if (i == n_commits / 2) {
                old = sl_file_list_ref(h.list);
                old_model = h.model;
            }
        }
        check(&h);
        sl_file_list_unref(h.list);
        h.list = old;
        h.model = old_model;
        check(&h);
        sl_file_list_unref(old);
    }
    test_env_check(&t);
}

static void random_histories_match_a_naive_model(void **state)
{
    (void)state;
    run_histories(2000, 25, NULL);
}

static void colliding_hashes_change_nothing(void **state)
{
    (void)state;
    run_histories(200, 20, few_values);
    run_histories(60, 10, same_for_all);
}

/* ---- long lives ---- */

static struct sl_file_set *numbered(struct test_env *t, int first, int n, struct sl_key_set *decided)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_file_set_builder builder;
    struct sl_file_set *set = NULL;
    struct sl_key_maker maker;
    const struct sl_file_set_options options = {.env = &t->env, .root = SL_STR("/t")};
    assert_int_equal(sl_file_set_begin(&builder, &options, &err), SILT_OK);
    sl_key_maker_init(&maker, &t->env, SL_STR("/t"), NULL);
    for (int i = first; i < first + n; i++) {
        char path[64];
        sl_file_pos pos = SL_FILE_NOWHERE;
        struct sl_file_key key;
        (void)snprintf(path, sizeof(path), "p=%d/part-%d", i % 10, i);
        const struct sl_add add = {
            .path = sl_str_from(path), .size = 1, .base_row_id = SL_NO_I64, .default_row_commit_version = SL_NO_I64};
        assert_int_equal(sl_file_set_add(&builder, &add, &pos, &err), SILT_OK);
        if (decided != NULL) {
            assert_true(sl_key_make(&maker, add.path, NULL, &key) && sl_key_set_put_file(decided, &key, pos));
        }
    }
    sl_key_maker_release(&maker);
    assert_int_equal(sl_file_set_finish(&builder, &set, &err), SILT_OK);
    return set;
}

static void remove_numbered(struct test_env *t, int first, int n, struct sl_key_set *decided)
{
    struct sl_key_maker maker;
    sl_key_maker_init(&maker, &t->env, SL_STR("/t"), NULL);
    for (int i = first; i < first + n; i++) {
        char path[64];
        struct sl_file_key key;
        (void)snprintf(path, sizeof(path), "p=%d/part-%d", i % 10, i);
        assert_true(sl_key_make(&maker, sl_str_from(path), NULL, &key) && sl_key_set_put(decided, &key));
    }
    sl_key_maker_release(&maker);
}

/* A table of constant size whose oldest files are replaced by each commit. */
static void a_thousand_refreshes_take_no_memory(void **state)
{
    (void)state;
    enum {
        N_FILES = 20000,
        N_STEP = 50
    };
    struct test_env t;
    test_env_init(&t);
    silt_error err = SILT_ERROR_INIT;
    struct sl_file_list *list = NULL;
    assert_int_equal(sl_file_list_of(numbered(&t, 0, N_FILES, NULL), &list, &err), SILT_OK);
    const size_t first = sl_file_list_resident(list, false);
    size_t most = 0;
    for (int c = 0; c < 1000; c++) {
        struct sl_key_set decided;
        struct sl_file_list *grown = NULL;
        sl_key_set_init(&decided, &t.env);
        struct sl_file_set *adds = numbered(&t, N_FILES + c * N_STEP, N_STEP, &decided);
        remove_numbered(&t, c * N_STEP, N_STEP, &decided);
        assert_int_equal(sl_file_list_grow(list, adds, &decided, &grown, &err), SILT_OK);
        sl_key_set_release(&decided);
        sl_file_list_unref(list);
        list = grown;
        assert_int_equal(list->n_files, N_FILES);
        assert_true(list->n_layers < 16);
        most = t.live_bytes > most ? t.live_bytes : most;
        assert_true(t.live_bytes <= sl_file_list_resident(list, false)); /* nothing is held that is not counted */
    }
    print_message("resident: %zu bytes at first, %zu at most\n", first, most);
    assert_true(most < first + first / 2);
    sl_file_list_unref(list);
    test_env_check(&t);
}

static void files_without_any_group_or_block_are_walked(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    silt_error err = SILT_ERROR_INIT;
    struct sl_file_list *list = NULL;
    struct sl_file_list *grown = NULL;
    struct sl_key_set decided;
    sl_key_set_init(&decided, &t.env);
    assert_int_equal(sl_file_list_of(numbered(&t, 0, 0, NULL), &list, &err), SILT_OK);
    remove_numbered(&t, 5, 1, &decided);
    assert_int_equal(sl_file_list_grow(list, numbered(&t, 0, 0, NULL), &decided, &grown, &err), SILT_OK);
    struct sl_list_cursor cursor;
    struct sl_add add;
    bool done = false;
    sl_list_cursor_init(&cursor, grown, false);
    assert_int_equal(sl_list_cursor_next(&cursor, &add, &done, &err), SILT_OK);
    assert_true(done);
    sl_list_cursor_release(&cursor);
    sl_key_set_release(&decided);
    sl_file_list_unref(list);
    sl_file_list_unref(grown);
    test_env_check(&t);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    silt_error err = SILT_ERROR_INIT;
    for (size_t n = 1;; n++) {
        struct sl_file_list *list = NULL;
        struct sl_file_list *grown = NULL;
        struct sl_key_set decided;
        sl_key_set_init(&decided, &t.env);
        assert_int_equal(sl_file_list_of(numbered(&t, 0, 50, NULL), &list, &err), SILT_OK);
        remove_numbered(&t, 10, 20, &decided);
        struct sl_file_set *adds = numbered(&t, 60, 30, &decided);
        test_env_fail_at(&t, n);
        const silt_status status = sl_file_list_grow(list, adds, &decided, &grown, &err);
        const bool reached = t.n_requests >= n;
        test_env_fail_at(&t, 0);
        assert_int_equal(status, reached ? SILT_ENOMEM : SILT_OK);
        assert_int_equal(list->n_files, 50);
        sl_key_set_release(&decided);
        sl_file_list_unref(list);
        sl_file_list_unref(grown);
        if (!reached) {
            break;
        }
    }
    test_env_check(&t);
}

/* Each file is there twice, in two blocks: finding that out is work, of which no step may fail unnoticed. */
static void every_failed_allocation_of_a_search_is_reported(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    for (size_t n = 1;; n++) {
        silt_error err = SILT_ERROR_INIT;
        struct sl_file_set_builder builder = {0};
        struct sl_file_set *set = NULL;
        struct sl_file_list *list = NULL;
        const struct sl_file_set_options options = {.env = &t.env, .root = SL_STR("/t"), .find_again = true};
        test_env_fail_at(&t, n);
        silt_status status = sl_file_set_begin(&builder, &options, &err);
        for (int i = 0; i < 6000 && status == SILT_OK; i++) {
            char path[64];
            (void)snprintf(path, sizeof(path), "p=%d/part-%d", i % 10, i % 3000);
            const struct sl_add add = {.path = sl_str_from(path),
                                       .size = 1,
                                       .base_row_id = SL_NO_I64,
                                       .default_row_commit_version = SL_NO_I64};
            status = sl_file_set_add(&builder, &add, NULL, &err);
        }
        if (status == SILT_OK) {
            status = sl_file_set_finish(&builder, &set, &err);
        }
        sl_file_set_abandon(&builder);
        if (status == SILT_OK) {
            status = sl_file_list_of(set, &list, &err);
        }
        const bool reached = t.n_requests >= n;
        test_env_fail_at(&t, 0);
        assert_int_equal(status, reached ? SILT_ENOMEM : SILT_OK);
        assert_int_equal(list != NULL ? list->n_files : 3000, 3000);
        sl_file_list_unref(list);
        if (!reached) {
            break;
        }
    }
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_histories_match_a_naive_model),
        cmocka_unit_test(colliding_hashes_change_nothing),
        cmocka_unit_test(a_thousand_refreshes_take_no_memory),
        cmocka_unit_test(files_without_any_group_or_block_are_walked),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(every_failed_allocation_of_a_search_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
