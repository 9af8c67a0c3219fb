/*
 * Reconciliation from new to old: what was seen first counts.
 */
#include "log_fixture.h"

#include <stdio.h>
#include <string.h>

#include "kernel/replay/replay.h"

struct run {
    struct sl_replay replay;
    struct sl_replay_state state;
    struct sl_arena arena;
    struct sl_arena commits;
    char adds[256];
    char removes[256];
};

static void append(char *text, size_t size, struct sl_str path)
{
    const size_t len = strlen(text);
    (void)snprintf(text + len, size - len, "%s%.*s", len > 0 ? " " : "", SL_FMT(path));
}

static silt_status take_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    (void)err;
    append(((struct run *)ctx)->adds, 256, add->path);
    return SILT_OK;
}

static silt_status take_remove(void *ctx, const struct sl_remove *gone, silt_error *err)
{
    (void)err;
    append(((struct run *)ctx)->removes, 256, gone->path);
    return SILT_OK;
}

static void begin(struct log_fixture *f, struct run *run)
{
    memset(run, 0, sizeof(*run));
    sl_replay_state_init(&run->state, &f->test.env);
    sl_arena_init(&run->arena, &f->test.env);
    sl_arena_init(&run->commits, &f->test.env);
    const struct sl_replay_sink sink = {.on_add = take_add, .on_remove = take_remove, .ctx = run};
    sl_replay_init(&run->replay, &f->test.env, SL_STR("/t"), &run->state, &run->arena, &sink);
}

static void end(struct run *run)
{
    sl_replay_release(&run->replay);
    sl_replay_state_release(&run->state);
    sl_arena_release(&run->arena);
    sl_arena_release(&run->commits);
}

/* Text is gone afterwards, as that of a commit is. */
static void commit(struct log_fixture *f, struct run *run, const char *lines)
{
    struct sl_commit parsed;
    assert_int_equal(sl_commit_parse(&f->test.env, &run->commits, 0, sl_str_from(lines), &parsed, &f->err), SILT_OK);
    assert_int_equal(sl_replay_commit(&run->replay, &parsed, &f->err), SILT_OK);
    sl_arena_release(&run->commits);
}

static void row(struct log_fixture *f, struct run *run, const char *line)
{
    struct sl_action action;
    assert_int_equal(sl_action_parse(&f->test.env, &run->commits, sl_str_from(line), &action, &f->err), SILT_OK);
    assert_int_equal(sl_replay_checkpoint_action(&run->replay, &action, &f->err), SILT_OK);
    sl_arena_release(&run->commits);
}

static void the_newest_reference_to_a_file_decides(void **state)
{
    struct log_fixture *f = *state;
    struct run run;
    begin(f, &run);
    commit(f, &run, LOG_REMOVE("a") "\n" LOG_ADD("b"));
    commit(f, &run, LOG_ADD("a") "\n" LOG_ADD("c") "\n" LOG_REMOVE("b"));
    row(f, &run, LOG_ADD("a"));
    row(f, &run, LOG_ADD("d"));
    row(f, &run, LOG_REMOVE("c"));
    row(f, &run, LOG_REMOVE("e"));
    assert_string_equal(run.adds, "b c d");
    assert_string_equal(run.removes, "a e");
    assert_int_equal(run.replay.decided.n, 3); /* rows of the checkpoint are not inserted */
    end(&run);
}

static void the_newest_of_everything_else_counts(void **state)
{
    struct log_fixture *f = *state;
    struct run run;
    begin(f, &run);
    commit(f, &run,
           "{\"txn\":{\"appId\":\"x\",\"version\":1}}\n"
           "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"new\",\"removed\":true}}\n"
           "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":3}}");
    commit(f, &run,
           "{\"txn\":{\"appId\":\"x\",\"version\":9}}\n{\"txn\":{\"appId\":\"y\",\"version\":2}}\n" LOG_PROTOCOL
           "\n" LOG_METADATA);
    row(f, &run, "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"old\",\"removed\":false}}");
    assert_int_equal(run.state.app_txns.len, 2);
    assert_int_equal(((struct sl_app_txn *)sl_vec_at(&run.state.app_txns, 0))->version, 1);
    assert_int_equal(run.state.domains.len, 1);
    assert_true(((struct sl_domain_metadata *)sl_vec_at(&run.state.domains, 0))->removed);
    assert_int_equal(run.state.protocol.min_writer_version, 3);
    assert_true(run.state.has_metadata);
    assert_true(sl_str_eq_c(run.state.metadata.id, "m1"));
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(the_newest_reference_to_a_file_decides),
        LOG_TEST(the_newest_of_everything_else_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
