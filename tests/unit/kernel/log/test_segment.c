/*
 * Choosing a segment over listings that are plain data.
 */
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/log/segment.h"

struct fixture {
    struct test_env test;
    struct sl_arena arena;
    struct sl_log_file files[64];
    struct sl_log_segment segment;
    silt_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    f->err = (silt_error)SILT_ERROR_INIT;
    test_env_init(&f->test);
    sl_arena_init(&f->arena, &f->test.env);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    sl_arena_release(&f->arena);
    test_env_check(&f->test);
    free(f);
    return 0;
}

/*
 * A listing as words: "3" a commit, "c3" a checkpoint, "p3.1.2" a part, "v3" a small V2 checkpoint in JSON, "w3" a large one, "k3.5"
 * a compacted file, "k3.5!" one of no bytes, "s3" a version checksum; in the order of names. A file's name is its word. `bad`: words of checkpoints
 * that are not to be used.
 */
static silt_status choose_without(struct fixture *f, const char *listing, int64_t version, const char *bad)
{
    size_t n = 0;
    for (const char *at = listing; *at != '\0';) {
        const char *word = at;
        const char kind = strchr("cpvwks", *at) != NULL ? *at++ : 'j';
        char *end = NULL;
        struct sl_log_file file = {.kind = SL_LOG_COMMIT, .version = strtoll(at, &end, 10)};
        file.end_version = file.version;
        if (kind == 'k') {
            file.kind = SL_LOG_COMPACTED;
            file.end_version = strtoll(end + 1, &end, 10);
            file.size = *end == '!' ? 0 : 1000;
            end += *end == '!' ? 1 : 0;
        } else if (kind == 's') {
            file.kind = SL_LOG_CRC;
        } else if (kind == 'c') {
            file.kind = SL_LOG_CHECKPOINT;
        } else if (kind == 'v' || kind == 'w') {
            file.kind = SL_LOG_CHECKPOINT_V2;
            file.size = kind == 'v' ? 1000 : 100000000;
        } else if (kind == 'p') {
            file.kind = SL_LOG_CHECKPOINT_PART;
            file.part = (int32_t)strtol(end + 1, &end, 10);
            file.n_parts = (int32_t)strtol(end + 1, &end, 10);
        }
        const size_t len = (size_t)(end - word);
        char *name = sl_arena_alloc_zero(&f->arena, len + 6);
        memcpy(name, word, len);
        memcpy(name + len, kind == 'v' || kind == 'w' ? ".json" : "", kind == 'v' || kind == 'w' ? 5 : 0);
        file.name = sl_str_from(name);
        f->files[n++] = file;
        at = *end == ' ' ? end + 1 : end;
    }
    const struct sl_str bad_name = sl_str_from(bad);
    const struct sl_segment_request request = {
        .files = f->files, .n_files = n, .complete = true, .version = version, .bad = {&bad_name, bad != NULL ? 1 : 0}};
    silt_error_reset(&f->err);
    return sl_segment_choose(&request, &f->arena, &f->segment, &f->err);
}

static silt_status choose(struct fixture *f, const char *listing, int64_t version)
{
    return choose_without(f, listing, version, NULL);
}

static void expect(struct fixture *f, const char *listing, int64_t version, int64_t checkpoint, size_t n_parts,
                   size_t n_commits)
{
    const silt_status status = choose(f, listing, version);
    if (status != SILT_OK) {
        print_error("%s: %s\n", listing, f->err.message);
    }
    assert_int_equal(status, SILT_OK);
    assert_true(f->segment.checkpoint_version == checkpoint);
    assert_int_equal(f->segment.n_checkpoint, n_parts);
    assert_int_equal(f->segment.n_commits, n_commits);
}

static void the_newest_usable_checkpoint_is_taken(void **state)
{
    struct fixture *f = *state;
    expect(f, "0 1 2", SL_VERSION_LATEST, -1, 0, 3);
    assert_int_equal(f->segment.version, 2);
    expect(f, "0 c1 1 c2 2 3", SL_VERSION_LATEST, 2, 1, 1);
    expect(f, "0 c1 1 c2 2 3", 1, 1, 1, 0);
    expect(f, "0 c1 1 c2 2 3", 0, -1, 0, 1);
    assert_true(f->segment.has_commit_file);
    expect(f, "c2 3 4", 3, 2, 1, 1);
    expect(f, "c2", SL_VERSION_LATEST, 2, 1, 0);
    assert_false(f->segment.has_commit_file);
    assert_int_equal(f->segment.version, 2);
}

static void parts_count_when_all_of_one_number_are_there(void **state)
{
    struct fixture *f = *state;
    expect(f, "0 1 p1.1.2 p1.2.2 2", SL_VERSION_LATEST, 1, 2, 1);
    expect(f, "c0 0 1 p1.1.3 p1.2.2 p1.3.3 2", SL_VERSION_LATEST, 0, 1, 2);
    expect(f, "0 1 p1.1.2 p1.1.3 p1.2.2 p1.2.3 p1.3.3", SL_VERSION_LATEST, 1, 2, 0);
    expect(f, "0 c1 p1.1.2 p1.2.2 1", SL_VERSION_LATEST, 1, 1, 0);
}

static void a_bad_checkpoint_can_be_excluded(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(choose_without(f, "0 c1 1 c2 2 3", SL_VERSION_LATEST, "c2"), SILT_OK);
    assert_int_equal(f->segment.checkpoint_version, 1);
    assert_int_equal(f->segment.n_commits, 2);
    assert_int_equal(choose_without(f, "0 1 c2 2 3", SL_VERSION_LATEST, "c2"), SILT_OK);
    assert_int_equal(f->segment.n_commits, 4);
    assert_int_equal(choose_without(f, "c2 3", SL_VERSION_LATEST, "c2"), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "0, 1, 2"));
}

/* Its version was committed: to answer with an older one would lose commits in silence. */
static void a_bad_newest_checkpoint_without_its_commit_leaves_a_gap(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(choose_without(f, "0 1 c2", SL_VERSION_LATEST, "c2"), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "DELTA_VERSIONS_NOT_CONTIGUOUS");
}

static void another_checkpoint_of_the_version_stands_in_for_a_bad_one(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(choose(f, "0 c1 p1.1.2 p1.2.2 1 2", SL_VERSION_LATEST), SILT_OK);
    assert_string_equal(f->segment.checkpoint[0].name.ptr, "c1");
    assert_int_equal(choose_without(f, "0 c1 p1.1.2 p1.2.2 1 2", SL_VERSION_LATEST, "c1"), SILT_OK);
    assert_int_equal(f->segment.n_checkpoint, 2);
    assert_int_equal(f->segment.checkpoint_version, 1);
}

static void a_small_top_file_in_json_is_read_first(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(choose(f, "0 c1 v1 w1 1 2", SL_VERSION_LATEST), SILT_OK);
    assert_string_equal(f->segment.checkpoint[0].name.ptr, "v1.json");
    assert_int_equal(choose(f, "0 c1 w1 1 2", SL_VERSION_LATEST), SILT_OK);
    assert_string_equal(f->segment.checkpoint[0].name.ptr, "c1");
    assert_int_equal(choose_without(f, "0 c1 w1 1 2", SL_VERSION_LATEST, "c1"), SILT_OK);
    assert_string_equal(f->segment.checkpoint[0].name.ptr, "w1.json");
}

static void compacted_files_stand_for_commits_that_are_all_there(void **state)
{
    struct fixture *f = *state;
    expect(f, "0 k1.2 1 k1.4 2 3 4 5", SL_VERSION_LATEST, -1, 0, 3);
    assert_true(f->segment.has_compacted);
    assert_int_equal(f->segment.commits[1].end_version, 4);
    expect(f, "0 k1.2 1 k1.4 2 3 4 5", 3, -1, 0, 3); /* 0, 1-2, 3 */
    expect(f, "0 k0.3 1 2 c2 3 4", SL_VERSION_LATEST, 2, 1,
           2); /* one that reaches below the checkpoint serves nothing */
    assert_false(f->segment.has_compacted);
    assert_int_equal(choose(f, "0 k1.4 1 3 4 5", SL_VERSION_LATEST), SILT_ECORRUPT); /* none hides a gap */
    expect(f, "0 1 k1.3! 2 3 4", SL_VERSION_LATEST, -1, 0, 5);
}

static void version_checksums_are_those_of_the_segment(void **state)
{
    struct fixture *f = *state;
    expect(f, "s0 0 c1 s1 1 s2 2 3 s4", 3, 1, 1, 2);
    assert_int_equal(f->segment.n_crcs, 2);
    assert_int_equal(f->segment.crcs[0].version, 1);
    assert_int_equal(f->segment.crcs[1].version, 2);
}

static void expect_gone(struct fixture *f, const char *listing, int64_t version, const char *available)
{
    assert_int_equal(choose(f, listing, version), SILT_ENOTFOUND);
    assert_string_equal(f->err.code_name, "DELTA_VERSION_NOT_FOUND");
    assert_non_null(strstr(f->err.message, available));
}

/* Checkpoints go last, and the commits between them and the kept one are gone by then. */
static void what_an_interrupted_clean_up_left_half_is_not_available(void **state)
{
    struct fixture *f = *state;
    static const char *const left = "c4 8 9 c10 10 11 12";
    for (int64_t version = 5; version < 10; version++) {
        expect_gone(f, left, version, "expected one of 10 to 12");
    }
    expect_gone(f, left, 1, "expected one of 10 to 12");
    expect_gone(f, left, 13, "expected one of 10 to 12");
    expect(f, left, 4, 4, 1, 0);
    expect(f, left, 10, 10, 1, 0);
    expect(f, left, SL_VERSION_LATEST, 10, 1, 2);
    expect_gone(f, "c2 c4 9 10 c10", 7, "expected one of 10 to 10");
    expect_gone(f, "c2 c7 8", 4, "expected one of 7 to 8");
}

static void a_hole_is_no_clean_up(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(choose(f, "c4 8 10 c10 11", 9), SILT_ECORRUPT);  /* a commit between others */
    assert_int_equal(choose(f, "c4 5 7 8 c10 10", 7), SILT_ECORRUPT); /* an older one is there */
    assert_int_equal(choose(f, "c4 8 9", 8), SILT_ECORRUPT);          /* no checkpoint stands for what came */
    assert_int_equal(choose_without(f, "c4 c6 8 9 c10 10", 9, "c6"), SILT_ECORRUPT);
}

static void gaps_are_listed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(choose(f, "0 4", SL_VERSION_LATEST), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "DELTA_VERSIONS_NOT_CONTIGUOUS");
    assert_non_null(strstr(f->err.message, "1, 2, 3 missing between 0 and 4"));
    assert_int_equal(choose(f, "c3 5 6", SL_VERSION_LATEST), SILT_ECORRUPT);
    assert_int_equal(choose(f, "0 2", 1), SILT_ECORRUPT);
    assert_int_equal(choose(f, "0 9000000000000000000", SL_VERSION_LATEST), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "9, 10, ... missing"));
    assert_int_equal(choose(f, "1 2", SL_VERSION_LATEST), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "DELTA_TRUNCATED_TRANSACTION_LOG");
    assert_non_null(strstr(f->err.message, "lacks the commit of version 0"));
    assert_int_equal(choose(f, "2 3", SL_VERSION_LATEST), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "lacks the commits of versions 0, 1"));
}

static void unavailable_versions_are_told_with_what_there_is(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(choose(f, "0 1", 2), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "0 to 1"));
    assert_int_equal(choose(f, "2 c3 3 4", 2), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "3 to 4"));
    assert_int_equal(choose(f, "0 1", -1), SILT_EINVALID);
    assert_int_equal(choose(f, "", SL_VERSION_LATEST), SILT_ENOTTABLE);
}

static void v2_checkpoints_are_used(void **state)
{
    struct fixture *f = *state;
    expect(f, "0 1 v1 2", SL_VERSION_LATEST, 1, 1, 1);
    expect(f, "v1 2", SL_VERSION_LATEST, 1, 1, 1);
    expect(f, "v1", SL_VERSION_LATEST, 1, 1, 0);
}

static void commits_up_to_the_checkpoint_are_not_replayed(void **state)
{
    struct fixture *f = *state;
    expect(f, "1 2 c3 3 4 5", SL_VERSION_LATEST, 3, 1, 2);
    assert_int_equal(f->segment.commits[0].version, 4);
    assert_int_equal(f->segment.commit_file.version, 5);
}

static void the_highest_version_does_not_overflow(void **state)
{
    struct fixture *f = *state;
    expect(f, "c9223372036854775806 9223372036854775807", SL_VERSION_LATEST, INT64_MAX - 1, 1, 1);
    expect(f, "c9223372036854775807", SL_VERSION_LATEST, INT64_MAX, 1, 0);
    /* When it proves bad everything is missing up to it, or only the last commit. */
    assert_int_equal(choose_without(f, "0 1 2 c9223372036854775807", SL_VERSION_LATEST, "c9223372036854775807"),
                     SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, ": 3, 4, "));
    assert_int_equal(choose_without(f, "c9223372036854775806 9223372036854775806 c9223372036854775807",
                                    SL_VERSION_LATEST, "c9223372036854775807"),
                     SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, ": 9223372036854775807 missing"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_newest_usable_checkpoint_is_taken),
        TEST(parts_count_when_all_of_one_number_are_there),
        TEST(a_bad_checkpoint_can_be_excluded),
        TEST(a_bad_newest_checkpoint_without_its_commit_leaves_a_gap),
        TEST(another_checkpoint_of_the_version_stands_in_for_a_bad_one),
        TEST(a_small_top_file_in_json_is_read_first),
        TEST(compacted_files_stand_for_commits_that_are_all_there),
        TEST(version_checksums_are_those_of_the_segment),
        TEST(what_an_interrupted_clean_up_left_half_is_not_available),
        TEST(a_hole_is_no_clean_up),
        TEST(gaps_are_listed),
        TEST(unavailable_versions_are_told_with_what_there_is),
        TEST(v2_checkpoints_are_used),
        TEST(commits_up_to_the_checkpoint_are_not_replayed),
        TEST(the_highest_version_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
