/*
 * Every call of the store fails in turn while a checkpoint is written, before it did anything or after it did all. Whatever came of it, the
 * table opens with its files, what counts as a checkpoint says what the commits say, and the next attempt succeeds.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint_world.h"
#include "fsck_findings.h"
#include "kernel/checkpoint/checkpoint_write.h"

#define MAX_CALLS 60

#define N_KINDS (sizeof(KINDS) / sizeof(KINDS[0]))

static const struct sl_checkpoint_options KINDS[] = {
    {.kind = SL_CHECKPOINT_V1},
    {.kind = SL_CHECKPOINT_V1, .rows_per_part = 6},
    {.kind = SL_CHECKPOINT_V2, .files_per_sidecar = 9},
    {.kind = SL_CHECKPOINT_V2, .json_top = true},
};

struct plan {
    bool armed;
    uint64_t calls, at;
    silt_fault_action action;
    silt_storage *dropper; /* removes `doomed` when a checkpoint gets its name; NULL: nobody does */
    const char *doomed;
};

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct plan *plan = ctx;
    (void)number;
    if (plan->dropper != NULL && strstr(path, ".checkpoint.") != NULL && strcmp(operation, "stat") != 0 &&
        strcmp(operation, "remove") != 0) {
        assert_int_equal(silt_storage_remove_tree(plan->dropper, NULL, plan->doomed, NULL), SILT_OK);
    }
    return plan->armed && plan->calls++ == plan->at ? plan->action : SILT_FAULT_NONE;
}

static silt_engine *faulty_engine(struct plan *plan)
{
    const silt_env *env = silt_env_default();
    silt_storage *local = NULL;
    silt_storage *faulty = NULL;
    silt_storage_registry *stores = NULL;
    silt_engine *engine = NULL;
    assert_int_equal(silt_storage_local_new(env, NULL, &local, NULL), SILT_OK);
    assert_int_equal(silt_storage_fault_new(env, local, decide, plan, &faulty, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_new(env, &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "file", faulty, NULL), SILT_OK);
    silt_storage_unref(local);
    silt_storage_unref(faulty);
    const silt_default_engine_options options = {.size = sizeof(options), .threads = 1, .stores = stores};
    assert_int_equal(silt_engine_default_new(&options, &engine, NULL), SILT_OK);
    return engine;
}

static int64_t count(struct session_fixture *s, const char *name)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    int64_t n = -1;
    assert_int_equal(silt_session_table(s->session, name, &table, &s->err), SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &s->err), SILT_OK);
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, NULL, &s->err), SILT_OK);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return n;
}

static void expect_sound(struct session_fixture *s, const char *name, uint64_t call)
{
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    struct fsck_findings found = {0};
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, name, &table, &s->err), SILT_OK);
    fsck_run(&found, table, &options);
    if (found.status != SILT_OK || strstr(sl_buf_cstr(&found.lines), "fault") != NULL) {
        fail_msg("call %d: %s\n%s%s", (int)call, found.err.message, sl_buf_cstr(&found.lines),
                 sl_buf_cstr(&found.messages));
    }
    fsck_release(&found);
    silt_table_unref(table);
}

/* Returns whether the call that was to fail came. */
static bool try_one(struct session_fixture *s, silt_engine *engine, struct plan *plan, const char *name,
                    const struct sl_checkpoint_options *options)
{
    struct sl_checkpoint_result result;
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    struct world w;
    world_begin(&w, s, name, 5);
    w.v2 = options->rows_per_part == 0;
    while (w.version < 3) {
        world_commit(&w);
    }
    const int64_t n = count(s, name);
    assert_int_equal(silt_table_for_path(engine, sl_arena_printf(&s->arena, "%s/%s", s->dir, name), &table, &s->err),
                     SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &s->err), SILT_OK);
    plan->calls = 0;
    plan->armed = true;
    (void)sl_checkpoint_write_told(snapshot, NULL, options, &result, &s->err);
    plan->armed = false;
    const bool came = plan->calls > plan->at;
    assert_int_equal(count(s, name), n);
    if (options->rows_per_part == 0) {
        expect_sound(s, name,
                     plan->at); /* parts of which some are missing are told as such, and no reader takes them */
    }
    assert_int_equal(sl_checkpoint_write_told(snapshot, NULL, options, &result, &s->err), SILT_OK);
    assert_int_equal(count(s, name), n);
    expect_sound(s, name, plan->at);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    hand_remove(s, name);
    return came;
}

static void no_failure_leaves_half_a_checkpoint(void **state)
{
    struct session_fixture *s = *state;
    struct plan plan = {0};
    silt_engine *engine = faulty_engine(&plan);
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        for (int mode = SILT_FAULT_BEFORE; mode <= SILT_FAULT_AFTER; mode++) {
            bool came = true;
            plan.action = (silt_fault_action)mode;
            for (plan.at = 0; came && plan.at < MAX_CALLS; plan.at++) {
                const char *name = sl_arena_printf(&s->arena, "t%d_%d_%d", (int)kind, mode, (int)plan.at);
                came = try_one(s, engine, &plan, name, &KINDS[kind]);
            }
            assert_false(came);
            assert_true(plan.at > 4);
        }
    }
    silt_engine_unref(engine);
}

/* It would be the only file of a log, and pass for a table whose data is gone. */
static void no_checkpoint_is_left_of_a_table_that_was_dropped(void **state)
{
    struct session_fixture *s = *state;
    struct plan plan = {0};
    silt_engine *engine = faulty_engine(&plan);
    assert_int_equal(silt_storage_local_new(silt_env_default(), NULL, &plan.dropper, NULL), SILT_OK);
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        const char *name = sl_arena_printf(&s->arena, "d%d", (int)kind);
        struct sl_checkpoint_result result;
        silt_table *table = NULL;
        silt_snapshot *snapshot = NULL;
        struct world w;
        struct stat ignored;
        world_begin(&w, s, name, 5);
        w.v2 = KINDS[kind].rows_per_part == 0;
        while (w.version < 3) {
            world_commit(&w);
        }
        plan.doomed = sl_arena_printf(&s->arena, "%s/%s", s->dir, name);
        assert_int_equal(silt_table_for_path(engine, plan.doomed, &table, &s->err), SILT_OK);
        assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &s->err), SILT_OK);
        assert_int_equal(sl_checkpoint_write_told(snapshot, NULL, &KINDS[kind], &result, &s->err), SILT_ECONFLICT);
        assert_string_equal(s->err.code_name, "DELTA_CONCURRENT_WRITE");
        assert_int_not_equal(stat(plan.doomed, &ignored), 0);
        silt_snapshot_unref(snapshot);
        silt_table_unref(table);
    }
    silt_storage_unref(plan.dropper);
    silt_engine_unref(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_failure_leaves_half_a_checkpoint, session_set_up, session_tear_down),
        cmocka_unit_test_setup_teardown(no_checkpoint_is_left_of_a_table_that_was_dropped, session_set_up,
                                        session_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
