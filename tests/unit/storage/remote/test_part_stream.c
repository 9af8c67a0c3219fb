/* Parts of files whose bytes are handed on as they come: the same of Google Cloud Storage and of Azure, from servers that cut, lie and fail. */
#include <stdio.h>
#include <stdlib.h>

#include "part_taker.h"
#include "storage/remote/azure/azure_store.h"
#include "storage/remote/gcs/gcs.h"

/* A store and how its server is asked for the file k. */
struct kind {
    sl_remote_opener open;
    const char *const *options;
    const char *path, *none, *folder;
    const char *target; /* begin of the request's */
    const char *range;  /* header */
    const char *missing;
};

static const struct kind gcs = {
    .open = sl_gcs_open,
    .options = WORDS("google_base_url", "STUB", "google_skip_signature", "true"),
    .path = "gs://bkt/k",
    .none = "gs://bkt/none",
    .folder = "gs://bkt/t/",
    .target = "/storage/v1/b/bkt/o/k?alt=media",
    .range = "Range",
    .missing = "there is no object none",
};

static const struct kind azure = {
    .open = sl_azure_open,
    .options = WORDS("azure_storage_account_name", "acct", "azure_storage_endpoint", "STUB/acct",
                     "azure_skip_signature", "true"),
    .path = "az://flat/k",
    .none = "az://flat/none",
    .folder = "az://flat/t/",
    .target = "/acct/flat/k",
    .range = "x-ms-range",
    .missing = "none",
};

static const struct kind *kind; /* of the group at hand */

static int set_up(void **state)
{
    struct stub_store *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    stub_store_start(f);
    stub_store_open(f, kind->open, kind->options);
    *state = f;
    return 0;
}

static void answer(struct stub_store *f, const char *const *steps)
{
    stub_store_script(f, "GET", kind->target, steps);
}

#define PART "code=206,body=3456,header=Content-Range:bytes 3-6/10"

static void parts_follow_one_another(void **state)
{
    struct stub_store *f = *state;
    struct wanted parts[8];
    const char *steps[9] = {0};
    char texts[8][96];
    struct taker taker = {.parts = parts, .n = 8};
    for (size_t i = 0; i < 8; i++) {
        parts[i] = (struct wanted){.path = kind->path, .offset = (int64_t)i, .length = 2};
        (void)snprintf(texts[i], sizeof(texts[i]), "code=206,body=%zu%zu,header=Content-Range:bytes %zu-%zu/10", i,
                       i + 1, i, i + 1);
        steps[i] = texts[i];
    }
    answer(f, steps);
    assert_int_equal(take_parts(f, &taker, 1), SILT_OK);
    assert_int_equal(taker.over, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(parts[i].n_bytes, 2);
        assert_memory_equal(parts[i].bytes, &"0123456789"[i], 2);
        assert_int_equal(parts[i].file_size, 10);
    }
    assert_int_equal(stub_store_count(f, "GET", kind->target), 8);
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, kind->range));
    assert_non_null(strstr(log, "bytes=7-8"));
}

static void a_part_has_its_tag_with_the_first_byte(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    answer(f, WORDS(PART ",header=ETag:\"v7\"", PART ",header=ETag:W/\"v7\""));
    assert_int_equal(take_range(f, kind->path, &part), SILT_OK);
    assert_string_equal(part.tag, "\"v7\"");
    assert_int_equal(take_range(f, kind->path, &part), SILT_OK);
    assert_string_equal(part.tag, "");
}

static void at_the_end_of_a_file_less_comes(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    answer(f, WORDS("code=206,body=34,header=Content-Range:bytes 3-4/5", "code=416,header=Content-Range:bytes */3",
                    "code=416", "code=206,body=,header=Content-Range:bytes 3-2/3", "body=0123456789", "body=01234",
                    "body=01"));
    static const size_t comes[] = {2, 0, 0, 0, 4, 2, 0};
    static const int64_t sizes[] = {5, 3, -1, 3, 10, 5, 2};
    for (size_t i = 0; i < sizeof(comes) / sizeof(comes[0]); i++) {
        assert_int_equal(take_range(f, kind->path, &part), SILT_OK);
        assert_true(part.over);
        assert_int_equal(part.n_bytes, comes[i]);
        assert_memory_equal(part.bytes, "3456", comes[i]);
        assert_int_equal(part.file_size, sizes[i]);
    }
}

static void a_body_that_breaks_begins_anew(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    answer(f, WORDS("code=206,body=3xxx,piece=1,pause=1,cut=3,header=Content-Range:bytes 3-6/10", "code=503,body=busy",
                    PART));
    assert_int_equal(take_range(f, kind->path, &part), SILT_OK);
    assert_int_equal(part.attempts, 2);
    assert_memory_equal(part.bytes, "3456", 4);
    assert_int_equal(stub_store_count(f, "GET", kind->target), 3);
}

/* At once, and none of their bytes is handed on. */
static void other_bytes_than_asked_for_are_refused(void **state)
{
    struct stub_store *f = *state;
    static const char *const answers[] = {
        "code=206,body=3456",                                    /* which? */
        "code=206,body=4567,header=Content-Range:bytes 4-7/10",  /* others */
        "code=206,body=34567,header=Content-Range:bytes 3-7/10", /* more */
        "code=206,body=345,header=Content-Range:bytes 3-5/10",   /* fewer, though there are more */
        "code=206,body=3456,header=Content-Range:bytes 3-6/*",   /* of what? */
        "code=206,body=,header=Content-Range:bytes 3-6/10",      /* none */
        "code=206,body=,header=Content-Range:bytes 3-2/10",      /* none, though there are some */
        "code=416,header=Content-Range:bytes */10",              /* likewise */
        "code=203,body=3456,header=Content-Range:bytes 3-6/10",
        "code=204",
        "code=302,header=Location:http://127.0.0.1:1/",
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct wanted part;
        const long before = stub_store_count(f, "GET", kind->target);
        answer(f, WORDS(answers[i]));
        assert_int_equal(take_range(f, kind->path, &part), SILT_EIO);
        assert_false(part.over);
        assert_int_equal(part.n_bytes, 0);
        assert_int_equal(stub_store_count(f, "GET", kind->target), before + 1);
    }
}

/* Only the end tells. The part is never over. */
static void a_body_of_another_length_is_no_part(void **state)
{
    struct stub_store *f = *state;
    static const char *const answers[] = {
        "code=206,body=345,header=Content-Range:bytes 3-6/10",
        "code=206,chunked,body=345,header=Content-Range:bytes 3-6/10",
        "code=206,chunked,body=3456789,header=Content-Range:bytes 3-6/10",
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct wanted part;
        answer(f, WORDS(answers[i]));
        assert_int_equal(take_range(f, kind->path, &part), SILT_EIO);
        assert_false(part.over);
        assert_non_null(strstr(f->err.message, kind->path));
    }
}

static void what_fails_ends_the_stream_and_is_named(void **state)
{
    struct stub_store *f = *state;
    struct wanted parts[] = {{.path = kind->path, .offset = 3, .length = 4},
                             {.path = kind->none, .length = 3},
                             {.path = kind->path, .offset = 3, .length = 4}};
    struct taker taker = {.parts = parts, .n = 3};
    answer(f, WORDS(PART));
    assert_int_equal(take_parts(f, &taker, 1), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, kind->missing));
    assert_int_equal(taker.begun, 2);
    parts[1].path = kind->folder;
    taker = (struct taker){.parts = parts, .n = 3};
    answer(f, WORDS(PART));
    assert_int_equal(take_parts(f, &taker, 1), SILT_EINVALID);
    answer(f, WORDS("code=403,body=no"));
    assert_int_equal(take_range(f, kind->path, parts), SILT_EACCESS);
}

/* As it is, without another attempt. */
static void a_taker_that_fails_ends_the_stream(void **state)
{
    struct stub_store *f = *state;
    struct wanted part = {.path = kind->path, .offset = 3, .length = 4};
    struct taker taker = {.parts = &part, .n = 1, .refuse = SILT_EIO};
    answer(f, WORDS(PART, PART));
    assert_int_equal(take_parts(f, &taker, 1), SILT_EIO);
    assert_non_null(strstr(f->err.message, "not wanted"));
    assert_int_equal(stub_store_count(f, "GET", kind->target), 1);
}

static void a_cancelled_stream_ends(void **state)
{
    struct stub_store *f = *state;
    const int cancelled = 1;
    struct wanted part = {.path = kind->path, .length = 3};
    struct taker taker = {.parts = &part, .n = 1, .cancel = &cancelled};
    answer(f, WORDS("hang"));
    assert_int_equal(take_parts(f, &taker, 1), SILT_ECANCELLED);
    assert_false(part.over);
}

static void a_folder_is_no_file(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    answer(f, WORDS(PART ",header=x-ms-meta-hdi_isfolder:true", "code=200,body=,header=x-ms-resource-type:directory"));
    assert_int_equal(take_range(f, kind->path, &part), SILT_ENOTFOUND);
    assert_int_equal(part.n_bytes, 0);
    assert_int_equal(take_range(f, kind->path, &part), SILT_ENOTFOUND);
    assert_false(part.over);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, stub_store_teardown)
#define OF_ALL                                                                                   \
    TEST(parts_follow_one_another), TEST(a_part_has_its_tag_with_the_first_byte),                \
        TEST(at_the_end_of_a_file_less_comes), TEST(a_body_that_breaks_begins_anew),             \
        TEST(other_bytes_than_asked_for_are_refused), TEST(a_body_of_another_length_is_no_part), \
        TEST(what_fails_ends_the_stream_and_is_named), TEST(a_taker_that_fails_ends_the_stream), \
        TEST(a_cancelled_stream_ends)
    const struct CMUnitTest of_gcs[] = {OF_ALL};
    const struct CMUnitTest of_azure[] = {OF_ALL, TEST(a_folder_is_no_file)};
    kind = &gcs;
    const int failed = cmocka_run_group_tests(of_gcs, NULL, NULL);
    kind = &azure;
    return failed + cmocka_run_group_tests(of_azure, NULL, NULL);
#undef TEST
}
