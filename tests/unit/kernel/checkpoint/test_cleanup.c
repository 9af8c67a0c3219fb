/*
 * Clean-ups of logs: what was reachable from the cutoff on stays reachable and equal, after every single deletion; what is in doubt
 * stays.
 */
#include "log_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/checkpoint/cleanup.h"

#define DAY INT64_C(86400000)
#define START (INT64_C(18262) * DAY) /* 2020-01-01 */
#define METADATA(configuration)                                                                           \
    "{\"metaData\":{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":" \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","  \
    "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{" configuration "}}}"

struct deletion {
    struct log_fixture *f;
    char names[4096];
    size_t n, stop_at;
};

static bool note_name(void *ctx, struct sl_str name)
{
    struct deletion *d = ctx;
    const size_t len = strlen(d->names);
    (void)snprintf(d->names + len, sizeof(d->names) - len, "%s%.*s", d->n > 0 ? " " : "", SL_FMT(name));
    return ++d->n != d->stop_at;
}

static struct sl_cleanup_result clean_as(struct log_fixture *f, const struct sl_cleanup_request *how,
                                         silt_status status)
{
    struct sl_cleanup_request request = *how;
    struct sl_cleanup_result result;
    request.table = f->table;
    request.snapshot = log_open(f, -1);
    const silt_status found = sl_log_clean_up(&request, NULL, &result, &f->err);
    if (found != status) {
        print_error("[%s] %s\n", f->err.code_name, f->err.message);
    }
    assert_int_equal(found, status);
    silt_snapshot_unref(request.snapshot);
    return result;
}

static struct sl_cleanup_result clean(struct log_fixture *f)
{
    return clean_as(f, &(struct sl_cleanup_request){.only_look = false}, SILT_OK);
}

static bool is_there(struct log_fixture *f, const char *name)
{
    char path[256];
    int64_t size = 0;
    int64_t time = 0;
    (void)snprintf(path, sizeof(path), LOG_ROOT "/_delta_log/%s", name);
    return silt_storage_stat(f->store, NULL, path, &size, &time, NULL) == SILT_OK;
}

static bool has_commit(struct log_fixture *f, int64_t version)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "%020" PRId64 ".json", version);
    return is_there(f, name);
}

/* Versions 0..4, a day apart; checkpoints at 2 and 4; today is day `today`. */
static void make_log(struct log_fixture *f, const char *metadata, int64_t today)
{
    for (int v = 0; v <= 4; v++) {
        char add[256];
        log_set_time_ms(f, START + v * DAY + 1000);
        (void)snprintf(add, sizeof(add),
                       "{\"add\":{\"path\":\"f%d\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,"
                       "\"dataChange\":true}}",
                       v);
        if (v == 0) {
            log_commit(f, 0, LOG_PROTOCOL, metadata, add, NULL);
        } else {
            log_commit(f, v, add, NULL);
        }
    }
    log_checkpoint(f, 2, LOG_PROTOCOL, metadata, LOG_ADD("f0"), LOG_ADD("f1"), LOG_ADD("f2"), NULL);
    log_checkpoint(f, 4, LOG_PROTOCOL, metadata, LOG_ADD("f0"), LOG_ADD("f1"), LOG_ADD("f2"), LOG_ADD("f3"),
                   LOG_ADD("f4"), NULL);
    log_set_time_ms(f, START + today * DAY + 5000);
}

static void expired_commits_go(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA(""), 34); /* 30 days are kept: the cutoff is the midnight before version 4 */
    const struct sl_cleanup_result result = clean(f);
    assert_int_equal(result.n_deleted, 2);
    assert_int_equal(result.checkpoint_version, 2);
    assert_false(has_commit(f, 1));
    assert_true(has_commit(f, 2));
    silt_snapshot *snapshot = log_open(f, 3);
    assert_string_equal(log_files(f, snapshot), "f0 f1 f2 f3");
    silt_snapshot_unref(snapshot);
    assert_int_equal(clean(f).n_deleted, 0); /* again: nothing is left to do */
    assert_int_equal(f->test.n_logs, 0);
}

static void nothing_goes_while_nothing_has_expired(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA(""), 30);
    assert_int_equal(clean(f).n_deleted, 0);
    assert_true(has_commit(f, 0));
    log_set_time_ms(f, START + 31 * DAY + DAY / 2);
    assert_int_equal(clean(f).n_deleted, 0);
}

static void the_table_says_how_long_and_whether(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA("\"delta.enableExpiredLogCleanup\":\"false\""), 100);
    struct sl_cleanup_result result = clean(f);
    assert_string_equal(result.why_not, "delta.enableExpiredLogCleanup is false");
    assert_true(has_commit(f, 0));
    make_log(f, METADATA("\"delta.logRetentionDuration\":\"interval 2 days\""), 6);
    result = clean(f);
    assert_int_equal(result.checkpoint_version, 2);
    make_log(f, METADATA("\"delta.logRetentionDuration\":\"interval 0 days\""), 6);
    result = clean(f);
    assert_int_equal(result.checkpoint_version, 4);
    assert_false(is_there(f, "00000000000000000002.checkpoint.parquet"));
    assert_true(has_commit(f, 4));
}

/* Versions 0..4, a day apart by their own times, in files of the day `files_day`; a checkpoint at 2. */
static void make_timed_log(struct log_fixture *f, int64_t files_day, int64_t today)
{
#define TIMED_PROTOCOL \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"inCommitTimestamp\"]}}"
    static const char metadata[] = METADATA("\"delta.enableInCommitTimestamps\":\"true\"");
    log_set_time_ms(f, START + files_day * DAY);
    for (int v = 0; v <= 4; v++) {
        char info[128];
        (void)snprintf(info, sizeof(info), "{\"commitInfo\":{\"inCommitTimestamp\":%" PRId64 "}}",
                       START + v * DAY + 1000);
        if (v == 0) {
            log_commit(f, 0, info, TIMED_PROTOCOL, metadata, NULL);
        } else {
            log_commit(f, v, info, v % 2 == 1 ? LOG_ADD("f") : LOG_REMOVE("f"), NULL);
        }
    }
    log_checkpoint(f, 2, TIMED_PROTOCOL, metadata, NULL);
    log_set_time_ms(f, START + today * DAY + 5000);
}

static void in_commit_timestamps_tell_the_age(void **state)
{
    struct log_fixture *f = *state;
    make_timed_log(f, 0, 20); /* old files, as times go, of young versions: none is 30 days old */
    log_set_time_ms(f, START + 30 * DAY);
    assert_int_equal(clean(f).n_deleted, 0);
    assert_true(has_commit(f, 0));
    make_timed_log(f, 99, 100); /* a log that was copied yesterday */
    const struct sl_cleanup_result result = clean(f);
    assert_int_equal(result.checkpoint_version, 2);
    assert_int_equal(result.n_deleted, 2);
    assert_false(has_commit(f, 1));
    assert_true(has_commit(f, 2));
}

static void protected_versions_stay(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA("\"delta.requireCheckpointProtectionBeforeVersion\":\"3\""), 34);
    const struct sl_cleanup_result result = clean(f);
    assert_non_null(strstr(result.why_not, "requireCheckpointProtectionBeforeVersion"));
    assert_true(has_commit(f, 0));
    log_set_time_ms(f, START + 40 * DAY);
    assert_int_equal(clean(f).checkpoint_version, 4);
}

static void tables_of_a_catalog_are_left_alone(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA(""), 100);
    const silt_catalog_state catalog = {.size = sizeof(catalog), .latest_version = 4};
    silt_table *own = f->table;
    assert_int_equal(silt_table_for_catalog(f->engine, LOG_ROOT, &catalog, &f->table, &f->err), SILT_OK);
    const struct sl_cleanup_result result = clean(f);
    assert_non_null(strstr(result.why_not, "catalog"));
    silt_table_unref(f->table);
    f->table = own;
    assert_true(has_commit(f, 0));
}

static void a_broken_checkpoint_takes_nothing_with_it(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA(""), 100);
    log_put(f, "00000000000000000004.checkpoint.parquet", "torn");
    const struct sl_cleanup_result result = clean(f);
    assert_int_equal(result.checkpoint_version, 2);
    silt_snapshot *snapshot = log_open(f, 4);
    assert_string_equal(log_files(f, snapshot), "f0 f1 f2 f3 f4");
    silt_snapshot_unref(snapshot);
}

static void a_look_changes_nothing(void **state)
{
    struct log_fixture *f = *state;
    struct deletion noted = {.f = f};
    make_log(f, METADATA(""), 34);
    log_put(f, "00000000000000000001.crc", "{}");
    const struct sl_cleanup_request request = {.only_look = true, .on_file = note_name, .ctx = &noted};
    assert_int_equal(clean_as(f, &request, SILT_OK).n_deleted, 3);
    assert_string_equal(noted.names, "00000000000000000001.crc 00000000000000000000.json 00000000000000000001.json");
    assert_true(has_commit(f, 0));
}

static void what_cannot_be_deleted_holds_what_is_newer(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA(""), 100);
    log_put(f, "00000000000000000001.crc", "{}");
    f->fail_operation = "remove";
    f->fail_path = "00000000000000000001.json";
    struct sl_cleanup_result result = clean(f);
    assert_int_equal(result.n_failed, 1);
    assert_int_equal(f->test.n_logs, 1);
    assert_false(has_commit(f, 0));
    assert_true(has_commit(f, 2));
    assert_true(is_there(f, "00000000000000000002.checkpoint.parquet"));
    f->fail_path = ".crc";
    log_put(f, "00000000000000000001.crc", "{}");
    result = clean(f);
    assert_int_equal(result.n_failed, 1);
    assert_false(has_commit(f, 3));
    assert_false(is_there(f, "00000000000000000002.checkpoint.parquet"));
    f->fail_operation = NULL;
    assert_int_equal(clean(f).n_deleted, 1);
}

static void checkpoint_that_cannot_be_deleted_keeps_sidecars(void **state)
{
    struct log_fixture *f = *state;
    log_set_time_ms(f, START);
    log_put(f, "_sidecars/old.parquet", "\n\n\n\n");
    make_log(f, METADATA(""), 100);
    f->fail_operation = "remove";
    f->fail_path = "00000000000000000002.checkpoint.parquet";
    assert_int_equal(clean(f).n_failed, 1);
    assert_true(is_there(f, "_sidecars/old.parquet")); /* for all that is known, the checkpoint names it */
    f->fail_operation = NULL;
    assert_int_equal(clean(f).n_failed, 0);
    assert_false(is_there(f, "00000000000000000002.checkpoint.parquet"));
    assert_false(is_there(f, "_sidecars/old.parquet"));
}

/* A day as of midnight: it is the second one of day 102, and day 101 began a day before. */
static void young_sidecars_stay(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA(""), 100);
    log_set_time_ms(f, START + 101 * DAY - 1);
    log_put(f, "_sidecars/old.parquet", "\n\n\n\n");
    log_set_time_ms(f, START + 101 * DAY);
    log_put(f, "_sidecars/young.parquet", "\n\n\n\n");
    log_set_time_ms(f, START + 102 * DAY + 1000);
    assert_int_equal(clean(f).n_failed, 0);
    assert_false(has_commit(f, 3));
    assert_false(is_there(f, "_sidecars/old.parquet"));
    assert_true(
        is_there(f, "_sidecars/young.parquet")); /* of a checkpoint that is being written, for all that is known */
}

static void staged_commits_go_with_theirs(void **state)
{
    struct log_fixture *f = *state;
#define STAGED(version) "_staged_commits/0000000000000000000" version ".f81d4fae-7dec-11d0-a765-00a0c91e6bf6.json"
    make_log(f, METADATA(""), 34);
    log_put(f, STAGED("1"), "");
    log_put(f, STAGED("2"), "");
    log_put(f, STAGED("3"), "");
    log_put(f, "_staged_commits/00000000000000000001.json", "");
    log_put(f, "_staged_commits/notes", "");
    assert_int_equal(clean(f).n_deleted, 4);
    assert_false(is_there(f, STAGED("1")));
    assert_false(is_there(f, STAGED("2")));
    assert_true(is_there(f, STAGED("3")));
    assert_true(is_there(f, "_staged_commits/00000000000000000001.json"));
    assert_true(is_there(f, "_staged_commits/notes"));
}

/* ---- sidecars ---- */

#define V2_PROTOCOL                                                                                       \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"]," \
    "\"writerFeatures\":[\"v2Checkpoint\"]}}"
#define SIDECAR(name) "{\"sidecar\":{\"path\":\"" name "\",\"sizeInBytes\":4,\"modificationTime\":1}}\n"
#define TOP(version, sidecar) \
    "{\"checkpointMetadata\":{\"version\":" version "}}\n" V2_PROTOCOL "\n" METADATA("") "\n" SIDECAR(sidecar)
#define TOP_NAME(version) "0000000000000000000" version ".checkpoint.f81d4fae-7dec-11d0-a765-00a0c91e6bf6.json"

static const char *find_sidecars(struct log_fixture *f, int64_t older_than_ms, silt_status status, char out[512])
{
    struct sl_arena arena;
    struct sl_vec names;
    struct sl_log_file files[2] = {sl_log_name_parse(sl_str_from(TOP_NAME("1"))),
                                   sl_log_name_parse(sl_str_from(TOP_NAME("2")))};
    files[0].size = -1;
    files[1].size = -1;
    const struct sl_log_source source = {f->engine, f->traced, sl_str_from(LOG_ROOT)};
    const struct sl_sidecar_request request = {
        .source = &source, .files = files, .n_files = 2, .checkpoint_version = 2, .older_than_ms = older_than_ms};
    sl_arena_init(&arena, &f->test.env);
    sl_vec_init(&names, &f->test.env, sizeof(struct sl_str));
    assert_int_equal(sl_cleanup_find_sidecars(&request, NULL, &arena, &names, &f->err), status);
    out[0] = '\0';
    for (size_t i = 0; i < names.len; i++) {
        const struct sl_str *name = sl_vec_at(&names, i);
        (void)snprintf(out + strlen(out), 512 - strlen(out), "%s%s", i > 0 ? " " : "", name->ptr);
    }
    sl_vec_release(&names);
    sl_arena_release(&arena);
    return out;
}

static void old_sidecars_that_no_checkpoint_names_go(void **state)
{
    struct log_fixture *f = *state;
    char text[512];
    log_set_time_ms(f, START);
    log_put(f, "_sidecars/gone.parquet", "\n\n\n\n");
    log_put(f, "_sidecars/kept.parquet", "\n\n\n\n");
    log_put(f, "_sidecars/lost.parquet", "\n\n\n\n");
    log_put(f, "_sidecars/notes", "");
    log_put(f, TOP_NAME("1"), TOP("1", "gone.parquet"));
    log_put(f, TOP_NAME("2"), TOP("2", "kept.parquet"));
    log_set_time_ms(f, START + DAY);
    log_put(f, "_sidecars/young.parquet", "\n\n\n\n");
    assert_string_equal(find_sidecars(f, START + 1, SILT_OK, text), "_sidecars/gone.parquet _sidecars/lost.parquet");
    assert_string_equal(find_sidecars(f, START, SILT_OK, text), "");
    /* When a checkpoint cannot be read, nobody knows. */
    log_put(f, TOP_NAME("2"), TOP("2", "absent.parquet"));
    assert_string_equal(find_sidecars(f, START + 1, SILT_ENOTFOUND, text), "");
}

/* ---- random logs ---- */

#define MAX_VERSIONS 24

struct history {
    struct log_fixture *f;
    uint64_t seed;
    int64_t latest;
    int64_t times[MAX_VERSIONS]; /* as readers see them */
    char files[MAX_VERSIONS][512];
    int64_t kept; /* oldest version that must stay */
    size_t n_deleted;
};

static unsigned pick(struct history *h, unsigned below)
{
    h->seed = h->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(h->seed >> 33U) % below;
}

static void put_named(struct history *h, int64_t version, const char *rest, const char *text)
{
    char name[128];
    (void)snprintf(name, sizeof(name), "%020" PRId64 "%s", version, rest);
    log_put(h->f, name, text);
}

/* Random names of live files; text of the state in lines. */
static void put_checkpoint(struct history *h, int64_t version, unsigned kind, const char *lines)
{
    switch (kind) {
    case 0: put_named(h, version, ".checkpoint.parquet", lines); break;
    case 1:
        put_named(h, version, ".checkpoint.0000000001.0000000002.parquet", lines);
        put_named(h, version, ".checkpoint.0000000002.0000000002.parquet", "{}\n");
        break;
    case 2: put_named(h, version, ".checkpoint.0000000002.0000000003.parquet", lines); break;
    case 3: put_named(h, version, ".checkpoint.parquet", "torn"); break;
    default: break;
    }
}

static void make_random_log(struct history *h)
{
    unsigned live[MAX_VERSIONS];
    size_t n_live = 0;
    int64_t time = START;
    struct sl_buf commit;
    struct sl_buf whole;
    sl_buf_init(&commit, &h->f->test.env);
    sl_buf_init(&whole, &h->f->test.env);
    h->latest = 3 + pick(h, MAX_VERSIONS - 3);
    for (int64_t v = 0; v <= h->latest; v++) {
        sl_buf_clear(&commit);
        sl_buf_clear(&whole);
        time += (int64_t)pick(h, 40) * DAY / 10 - (pick(h, 4) == 0 ? 2 * DAY : 0);
        h->times[v] = v > 0 && time <= h->times[v - 1] ? h->times[v - 1] + 1 : time;
        if (v == 0) {
            sl_buf_put_c(&commit, LOG_PROTOCOL "\n" METADATA("") "\n");
        }
        sl_buf_put_c(&whole, LOG_PROTOCOL "\n" METADATA("") "\n");
        if (n_live > 0 && pick(h, 3) == 0) {
            sl_buf_printf(&commit, "{\"remove\":{\"path\":\"f%02u\",\"dataChange\":true,\"size\":10}}\n",
                          live[--n_live]);
        }
        sl_buf_printf(&commit,
                      "{\"add\":{\"path\":\"f%02d\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,"
                      "\"dataChange\":true}}\n",
                      (int)v);
        live[n_live++] = (unsigned)v;
        h->files[v][0] = '\0';
        for (size_t i = 0; i < n_live; i++) {
            sl_buf_printf(&whole,
                          "{\"add\":{\"path\":\"f%02u\",\"partitionValues\":{},\"size\":10,"
                          "\"modificationTime\":1,\"dataChange\":true}}\n",
                          live[i]);
            (void)snprintf(h->files[v] + strlen(h->files[v]), 512 - strlen(h->files[v]), "%sf%02u", i > 0 ? " " : "",
                           live[i]);
        }
        log_set_time_ms(h->f, time);
        put_named(h, v, ".json", sl_buf_cstr(&commit));
        if (pick(h, 3) == 0) {
            put_checkpoint(h, v, pick(h, 4), sl_buf_cstr(&whole));
        }
        if (pick(h, 3) == 0) {
            put_named(h, v, ".crc", "{}");
        }
    }
    sl_buf_release(&commit);
    sl_buf_release(&whole);
    log_set_time_ms(h->f, h->times[h->latest] + (int64_t)(pick(h, 40)) * DAY);
}

/* What is kept opens and equals; what is older may be gone, but is never something else. */
static void check_versions(struct history *h)
{
    struct log_fixture *f = h->f;
    for (int64_t v = 0; v <= h->latest; v++) {
        silt_snapshot *snapshot = NULL;
        const silt_status status = silt_table_snapshot_at_version(f->table, NULL, v, &snapshot, &f->err);
        if (status == SILT_OK) {
            assert_string_equal(log_files(f, snapshot), h->files[v]);
        } else if (v >= h->kept) {
            print_error("version %d, kept from %d: %s\n", (int)v, (int)h->kept, f->err.message);
            fail();
        }
        silt_snapshot_unref(snapshot);
        if (v < h->kept) {
            continue;
        }
        assert_int_equal(silt_table_snapshot_at_timestamp(f->table, NULL, h->times[v] * 1000, &snapshot, &f->err),
                         SILT_OK);
        assert_int_equal(silt_snapshot_version(snapshot), v);
        silt_snapshot_unref(snapshot);
    }
}

static bool check_step(void *ctx, struct sl_str name)
{
    struct history *h = ctx;
    (void)name;
    h->n_deleted++;
    check_versions(h);
    return true;
}

static void remove_log(struct history *h)
{
    assert_int_equal(silt_storage_remove_tree(h->f->store, NULL, LOG_ROOT, &h->f->err), SILT_OK);
}

static void kept_versions_stay_equal_after_each_deletion(void **state)
{
    struct log_fixture *f = *state;
    size_t n_deleted = 0;
    size_t n_cleaned = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct history *h = calloc(1, sizeof(*h));
        h->f = f;
        h->seed = seed;
        make_random_log(h);
        /* A look tells what will stay, the steps prove it. */
        const struct sl_cleanup_request look = {.only_look = true};
        h->kept = clean_as(f, &look, SILT_OK).checkpoint_version;
        h->kept = h->kept < 0 ? 0 : h->kept;
        const int64_t cutoff = (f->test.wall_us / 1000 - 30 * DAY) / DAY * DAY;
        assert_true(h->kept == 0 || h->times[h->kept] <= cutoff);
        const struct sl_cleanup_request request = {.on_file = check_step, .ctx = h};
        const struct sl_cleanup_result result = clean_as(f, &request, SILT_OK);
        assert_int_equal(result.n_deleted, h->n_deleted);
        check_versions(h);
        assert_int_equal(clean(f).n_deleted, 0);
        n_deleted += h->n_deleted;
        n_cleaned += h->n_deleted > 0 ? 1 : 0;
        remove_log(h);
        free(h);
    }
    assert_true(n_cleaned > 10);
    assert_true(n_deleted > 60);
}

static void an_interrupted_one_is_finished_by_the_next(void **state)
{
    struct log_fixture *f = *state;
    for (size_t stop_at = 1; stop_at <= 8; stop_at++) {
        struct deletion noted = {.f = f, .stop_at = stop_at};
        make_log(f, METADATA(""), 100);
        log_put(f, "00000000000000000003.crc", "{}");
        const struct sl_cleanup_request request = {.on_file = note_name, .ctx = &noted};
        (void)clean_as(f, &request, stop_at <= 6 ? SILT_ECANCELLED : SILT_OK);
        (void)clean(f);
        assert_false(is_there(f, "00000000000000000002.checkpoint.parquet"));
        assert_false(is_there(f, "00000000000000000003.crc"));
        assert_false(has_commit(f, 3));
        silt_snapshot *snapshot = log_open(f, 4);
        assert_string_equal(log_files(f, snapshot), "f0 f1 f2 f3 f4");
        silt_snapshot_unref(snapshot);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    make_log(f, METADATA(""), 100);
    silt_snapshot *snapshot = log_open(f, -1);
    const struct sl_cleanup_request request = {.table = f->table, .snapshot = snapshot};
    for (size_t n = 1;; n++) {
        struct sl_cleanup_result result;
        test_env_fail_at(&f->test, n);
        const silt_status status = sl_log_clean_up(&request, NULL, &result, &f->err);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
    test_env_fail_at(&f->test, 0);
    silt_snapshot_unref(snapshot);
    assert_false(has_commit(f, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(expired_commits_go),
        LOG_TEST(nothing_goes_while_nothing_has_expired),
        LOG_TEST(the_table_says_how_long_and_whether),
        LOG_TEST(in_commit_timestamps_tell_the_age),
        LOG_TEST(protected_versions_stay),
        LOG_TEST(tables_of_a_catalog_are_left_alone),
        LOG_TEST(a_broken_checkpoint_takes_nothing_with_it),
        LOG_TEST(a_look_changes_nothing),
        LOG_TEST(what_cannot_be_deleted_holds_what_is_newer),
        LOG_TEST(checkpoint_that_cannot_be_deleted_keeps_sidecars),
        LOG_TEST(young_sidecars_stay),
        LOG_TEST(staged_commits_go_with_theirs),
        LOG_TEST(old_sidecars_that_no_checkpoint_names_go),
        LOG_TEST(kept_versions_stay_equal_after_each_deletion),
        LOG_TEST(an_interrupted_one_is_finished_by_the_next),
        LOG_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
