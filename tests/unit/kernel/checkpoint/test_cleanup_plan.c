/*
 * What a clean-up may delete: a decision over names and times.
 */
#include "log_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/checkpoint/cleanup_plan.h"

#define MAX_FILES 64

struct listing {
    struct log_fixture *f;
    struct sl_arena arena;
    struct sl_log_file files[MAX_FILES];
    struct sl_cleanup_facts facts;
    struct sl_cleanup_plan plan;
    char text[4096];
};

static struct listing *begin(struct log_fixture *f)
{
    struct listing *l = calloc(1, sizeof(*l));
    l->f = f;
    l->facts = (struct sl_cleanup_facts){.files = l->files, .cutoff_version = -1, .first_timed_version = INT64_MAX};
    sl_arena_init(&l->arena, &f->test.env);
    return l;
}

static void end(struct listing *l)
{
    sl_arena_release(&l->arena);
    free(l);
}

/* Names in their order; the number before the rest is padded. */
static void put(struct listing *l, int64_t version, const char *rest, int64_t time)
{
    const char *name = sl_arena_printf(&l->arena, "%020" PRId64 "%s", version, rest);
    struct sl_log_file *file = &l->files[l->facts.n_files++];
    *file = sl_log_name_parse(sl_str_from(name));
    assert_int_not_equal(file->kind, SL_LOG_OTHER);
    file->modified_ms = time;
}

static void put_compacted(struct listing *l, int64_t from, int64_t to)
{
    put(l, from, sl_arena_printf(&l->arena, ".%020" PRId64 ".compacted.json", to), 0);
}

/* "3.json 3.crc …" in the order of deletion. */
static const char *plan(struct listing *l)
{
    assert_int_equal(sl_cleanup_plan_make(&l->facts, &l->arena, &l->plan, &l->f->err), SILT_OK);
    size_t len = 0;
    l->text[0] = '\0';
    for (size_t i = 0; i < l->plan.n_files; i++) {
        const struct sl_log_file *file = &l->plan.files[i];
        len += (size_t)snprintf(l->text + len, sizeof(l->text) - len, "%s%d%s", i > 0 ? " " : "", (int)file->version,
                                file->name.ptr + 20);
    }
    return l->text;
}

/* Commits 0..12, a minute apart; checkpoints at 5 and 10. */
static struct listing *usual(struct log_fixture *f)
{
    struct listing *l = begin(f);
    for (int64_t v = 0; v <= 12; v++) {
        if (v == 5 || v == 10) {
            put(l, v, ".checkpoint.parquet", 60000 * v);
        }
        put(l, v, ".json", 60000 * v);
    }
    return l;
}

static void all_before_the_cutoffs_checkpoint_goes(void **state)
{
    struct listing *l = usual(*state);
    l->facts.cutoff_version = 7;
    assert_string_equal(plan(l), "0.json 1.json 2.json 3.json 4.json");
    assert_int_equal(l->plan.checkpoint_version, 5);
    l->facts.cutoff_version = 5;
    assert_string_equal(plan(l), "0.json 1.json 2.json 3.json 4.json");
    l->facts.cutoff_version = 12;
    assert_string_equal(plan(l), "0.json 1.json 2.json 3.json 4.json 5.json 6.json 7.json 8.json 9.json "
                                 "5.checkpoint.parquet");
    assert_int_equal(l->plan.n_commits, 10);
    end(l);
}

static void without_a_checkpoint_nothing_goes(void **state)
{
    struct listing *l = usual(*state);
    l->facts.cutoff_version = 4;
    assert_string_equal(plan(l), "");
    assert_int_equal(l->plan.verdict, SL_CLEANUP_NO_CHECKPOINT);
    l->facts.cutoff_version = -1;
    assert_string_equal(plan(l), "");
    assert_int_equal(l->plan.verdict, SL_CLEANUP_NOTHING);
    end(l);
}

static void checksums_and_compacted_files_go_first(void **state)
{
    struct listing *l = begin(*state);
    put_compacted(l, 0, 1);
    put(l, 0, ".crc", 0);
    put(l, 0, ".json", 0);
    put(l, 1, ".json", 1);
    put_compacted(l, 2, 4);
    put(l, 2, ".checkpoint.parquet", 2);
    put(l, 2, ".crc", 2);
    put(l, 2, ".json", 2);
    put_compacted(l, 3, 4);
    put(l, 3, ".json", 3);
    put(l, 4, ".json", 4);
    l->facts.cutoff_version = 3;
    assert_string_equal(plan(l), "0.00000000000000000001.compacted.json 0.crc 2.00000000000000000004.compacted.json "
                                 "0.json 1.json");
    assert_int_equal(l->plan.n_extras, 3);
    end(l);
}

static void incomplete_checkpoints_count_for_nothing_and_go(void **state)
{
    struct listing *l = begin(*state);
    put(l, 0, ".json", 0);
    put(l, 1, ".checkpoint.0000000001.0000000002.parquet", 1);
    put(l, 1, ".json", 1);
    put(l, 2, ".checkpoint.0000000001.0000000002.parquet", 2);
    put(l, 2, ".checkpoint.0000000002.0000000002.parquet", 2);
    put(l, 2, ".json", 2);
    put(l, 3, ".checkpoint.0000000002.0000000002.parquet", 3);
    put(l, 3, ".json", 3);
    l->facts.cutoff_version = 3;
    assert_string_equal(plan(l), "0.json 1.json 1.checkpoint.0000000001.0000000002.parquet");
    assert_int_equal(l->plan.checkpoint_version, 2);
    end(l);
}

/* Its commit must be kept, since it tells what a checkpoint does not. */
static void a_checkpoint_without_its_commit_is_no_cutoff(void **state)
{
    struct listing *l = begin(*state);
    put(l, 0, ".json", 0);
    put(l, 1, ".checkpoint.parquet", 1);
    put(l, 1, ".json", 1);
    put(l, 2, ".checkpoint.parquet", 2);
    put(l, 3, ".json", 3);
    l->facts.cutoff_version = 3;
    assert_string_equal(plan(l), "0.json");
    assert_int_equal(l->plan.checkpoint_version, 1);
    end(l);
}

/* Version 5's time is made from that of 4, whose commit would be gone: 6 would come to be of another time. */
static void times_that_rest_on_older_commits_hold_them(void **state)
{
    struct listing *l = usual(*state);
    for (size_t i = 0; i < l->facts.n_files; i++) {
        l->files[i].modified_ms = l->files[i].version >= 3 ? 60000 * 3 : l->files[i].modified_ms;
    }
    l->facts.cutoff_version = 12;
    assert_string_equal(plan(l), "");
    assert_int_equal(l->plan.verdict, SL_CLEANUP_NOT_ALONE);
    l->facts.first_timed_version = 8; /* times of their own do not */
    assert_string_equal(plan(l), "0.json 1.json 2.json 3.json 4.json 5.json 6.json 7.json 8.json 9.json "
                                 "5.checkpoint.parquet");
    end(l);
}

static void bad_checkpoints_are_no_cutoff(void **state)
{
    struct listing *l = usual(*state);
    const struct sl_str bad = SL_STR("00000000000000000010.checkpoint.parquet");
    l->facts.cutoff_version = 12;
    l->facts.bad = (struct sl_bad_checkpoints){&bad, 1};
    assert_string_equal(plan(l), "0.json 1.json 2.json 3.json 4.json");
    end(l);
}

static void what_is_protected_goes_at_once_or_not_at_all(void **state)
{
    struct listing *l = usual(*state);
    l->facts.cutoff_version = 9;
    l->facts.protected_before = 6;
    assert_string_equal(plan(l), "");
    assert_int_equal(l->plan.verdict, SL_CLEANUP_PROTECTED);
    l->facts.protected_before = 5;
    assert_string_equal(plan(l), "0.json 1.json 2.json 3.json 4.json");
    end(l);
}

static void a_cutoff_is_a_midnight(void **state)
{
    (void)state;
    const int64_t day = 86400000;
    assert_int_equal(sl_cleanup_cutoff(18262 * day + 5, 0), 18262 * day);
    assert_int_equal(sl_cleanup_cutoff(18262 * day + 5, 6), 18261 * day);
    assert_int_equal(sl_cleanup_cutoff(18262 * day, 30 * day), 18232 * day);
    assert_int_equal(sl_cleanup_cutoff(5, INT64_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(all_before_the_cutoffs_checkpoint_goes),
        LOG_TEST(without_a_checkpoint_nothing_goes),
        LOG_TEST(checksums_and_compacted_files_go_first),
        LOG_TEST(incomplete_checkpoints_count_for_nothing_and_go),
        LOG_TEST(a_checkpoint_without_its_commit_is_no_cutoff),
        LOG_TEST(times_that_rest_on_older_commits_hold_them),
        LOG_TEST(bad_checkpoints_are_no_cutoff),
        LOG_TEST(what_is_protected_goes_at_once_or_not_at_all),
        LOG_TEST(a_cutoff_is_a_midnight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
