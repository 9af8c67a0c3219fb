/*
 * Jobs of the sweeps, see sweep_jobs.h.
 */
#include "sweep_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

#define US_PER_DAY (INT64_C(86400) * 1000000)
#define SMALL                                                                       \
    "CREATE TABLE @ (id BIGINT, part STRING) USING delta PARTITIONED BY (part) #; " \
    "INSERT INTO @ VALUES (1, 'a'), (2, 'b'), (4, 'b'); INSERT INTO @ VALUES (3, 'c')"
#define EVERY_THIRD "'delta.checkpointInterval' = '3'"

/* ---- upkeep ---- */

static silt_status checkpoint_whole(silt_table *table, silt_error *err)
{
    return silt_table_checkpoint(table, NULL, NULL, NULL, err);
}

static silt_status checkpoint_in_parts(silt_table *table, silt_error *err)
{
    silt_checkpoint_options options = SILT_CHECKPOINT_OPTIONS_INIT;
    options.kind = SILT_CHECKPOINT_V1;
    options.rows_per_part = 1;
    return silt_table_checkpoint(table, NULL, &options, NULL, err);
}

static silt_status checkpoint_with_sidecars(silt_table *table, silt_error *err)
{
    silt_checkpoint_options options = SILT_CHECKPOINT_OPTIONS_INIT;
    options.kind = SILT_CHECKPOINT_V2;
    options.files_per_sidecar = 1;
    return silt_table_checkpoint(table, NULL, &options, NULL, err);
}

static silt_status checkpoint_as_json(silt_table *table, silt_error *err)
{
    silt_checkpoint_options options = SILT_CHECKPOINT_OPTIONS_INIT;
    options.kind = SILT_CHECKPOINT_V2;
    options.json_top = true;
    return silt_table_checkpoint(table, NULL, &options, NULL, err);
}

static silt_status clean_log(silt_table *table, silt_error *err)
{
    silt_clean_log_result result = {.size = sizeof(result)};
    const silt_status status = silt_table_clean_log(table, NULL, NULL, &result, err);
    if (status == SILT_OK && result.failed > 0) {
        return sl_fail(err, SILT_EIO, NULL, "%d files could not be deleted", (int)result.failed);
    }
    return status;
}

static silt_status compact_log(silt_table *table, silt_error *err)
{
    return silt_table_compact_log(table, NULL, 0, 2, NULL, err);
}

static bool pass_over(void *ctx, const silt_fsck_finding *finding)
{
    (void)ctx;
    (void)finding;
    return true;
}

static silt_status check_all(silt_table *table, silt_error *err)
{
    silt_fsck_report report = {.size = sizeof(report)};
    return silt_table_fsck(table, NULL, NULL, pass_over, NULL, &report, err);
}

/* DROP TABLE takes names only. */
static silt_status drop(silt_table *table, silt_error *err)
{
    return silt_table_drop(table, NULL, err);
}

/* ---- the jobs ---- */

const struct sweep_job sweep_jobs[] = {
    {.name = "create", .statement = "CREATE TABLE @ (id BIGINT, part STRING) PARTITIONED BY (part) #"},
    {.name = "create as",
     .statement = "CREATE TABLE @ PARTITIONED BY (part) # AS SELECT 5 AS id, 'a' AS part UNION ALL SELECT 6, 'b'"},
    {.name = "append", .table = "", .statement = "INSERT INTO @ VALUES (10, 'b'), (20, 'd')"},
    {.name = "append once", .table = "", .statement = "INSERT INTO @ VALUES (10, 'b'), (20, 'd')", .once = true},
    {.name = "append that fails",
     .table = "CREATE TABLE @ (id BIGINT NOT NULL, part STRING) #; INSERT INTO @ VALUES (1, 'a')",
     .statement = "INSERT INTO @ VALUES (1, 'a'), (NULL, 'b')",
     .fails = true,
     .stays = true},
    {.name = "append with all due",
     .properties = EVERY_THIRD,
     .table = "",
     .statement = "INSERT INTO @ VALUES (10, 'b')",
     .checkpointed = true,
     .expired = true},
    {.name = "overwrite", .table = "", .statement = "INSERT OVERWRITE @ SELECT id * 100, part FROM @ WHERE id < 3"},
    {.name = "replace a partition",
     .table = "",
     .statement = "INSERT INTO @ REPLACE WHERE part = 'b' VALUES (7, 'b'), (8, 'b')"},
    {.name = "replace rows",
     .table = "",
     .statement = "INSERT INTO @ REPLACE WHERE id > 2 VALUES (9, 'a')",
     .not_tracked = true},
    {.name = "replace by what does not fit",
     .table = "",
     .statement = "INSERT INTO @ REPLACE WHERE id = 1 VALUES (2, 'q')",
     .fails = true,
     .stays = true},
    {.name = "overwrite partitions",
     .table = "",
     .option = "silt.write.partitionOverwriteMode = dynamic",
     .statement = "INSERT OVERWRITE @ VALUES (9, 'a'), (11, 'c')"},
    {.name = "overwrite once",
     .table = "",
     .statement = "INSERT OVERWRITE @ SELECT id * 100, part FROM @",
     .once = true},
    {.name = "overwrite schema",
     .table = "",
     .option = "silt.write.overwriteSchema = true",
     .statement = "INSERT OVERWRITE @ SELECT 'x' AS word, 1 AS n"},
    {.name = "widen types",
     .properties = "'delta.enableTypeWidening' = 'true'",
     .table = "CREATE TABLE @ (id INT, part STRING) PARTITIONED BY (part) #; INSERT INTO @ VALUES (1, 'a')",
     .statement = "INSERT WITH SCHEMA EVOLUTION INTO @ SELECT 3000000000, 'b'"},
    {.name = "merge schema",
     .table = "",
     .statement = "INSERT WITH SCHEMA EVOLUTION INTO @ BY NAME SELECT 4 AS id, 'a' AS part, 'x' AS extra"},
    {.name = "replace table",
     .table = "",
     .statement = "CREATE OR REPLACE TABLE @ USING delta # AS SELECT 'x' AS word, 1 AS n"},
    {.name = "truncate", .table = "", .statement = "TRUNCATE TABLE @"},
    {.name = "drop", .table = "", .upkeep = drop, .may_lie = true},
    {.name = "checkpoint", .table = "", .upkeep = checkpoint_whole, .stays = true},
    {.name = "checkpoint in parts", .table = "", .upkeep = checkpoint_in_parts, .stays = true},
    {.name = "checkpoint with sidecars",
     .properties = "'delta.checkpointPolicy' = 'v2'",
     .table = "",
     .upkeep = checkpoint_with_sidecars,
     .stays = true},
    {.name = "checkpoint as JSON",
     .properties = "'delta.checkpointPolicy' = 'v2'",
     .table = "",
     .upkeep = checkpoint_as_json,
     .stays = true},
    {.name = "clean log",
     .properties = EVERY_THIRD,
     .table = SMALL "; INSERT INTO @ VALUES (5, 'a'); INSERT INTO @ VALUES (6, 'a')",
     .upkeep = clean_log,
     .expired = true,
     .stays = true},
    {.name = "compact log", .table = "", .upkeep = compact_log, .stays = true},
    {.name = "read through a checkpoint",
     .table = "",
     .statement = "SELECT count(*), sum(id), count(DISTINCT part) FROM @ WHERE part <> 'b'",
     .checkpointed = true,
     .stays = true,
     .rows = "2|4|2\n"},
    {.name = "read changes",
     .properties = "'delta.enableChangeDataFeed' = 'true'",
     .table = "",
     .statement = "SELECT count(*), max(_commit_version) FROM table_changes('%', 0)",
     .stays = true,
     .rows = "4|2\n"},
    {.name = "read an older version",
     .table = "",
     .statement = "SELECT count(*) FROM @ VERSION AS OF 1",
     .stays = true,
     .rows = "3\n"},
    {.name = "check", .table = "", .upkeep = check_all, .checkpointed = true, .stays = true, .rows = ""},
    {.name = "read",
     .table = "",
     .statement = "SELECT count(*), sum(id), count(DISTINCT part) FROM @",
     .stays = true,
     .rows = "4|10|3\n"},
    {.name = "read what may be a file",
     .table = "",
     .statement = "SELECT count(*), sum(id), count(DISTINCT part) FROM '%'",
     .stays = true,
     .rows = "4|10|3\n"},
};
const size_t sweep_n_jobs = sizeof(sweep_jobs) / sizeof(sweep_jobs[0]);

static const char *const kinds[SWEEP_KINDS] = {
    "",
    "'delta.columnMapping.mode' = 'name'",
    "'delta.enableRowTracking' = 'true', 'delta.enableInCommitTimestamps' = 'true'",
};

/* ---- the session ---- */

/* No two readings are of the same millisecond: files in memory get their times from here, and see age_commits. */
static int64_t wall_ahead(void *ctx)
{
    struct sweep_bench *bench = ctx;
    const int64_t readings = atomic_fetch_add_explicit(&bench->readings, 1, memory_order_relaxed);
    return silt_env_default()->wall_time_us(silt_env_default()->ctx) + bench->ahead_us + readings * 1000;
}

static int64_t pass_monotonic(void *ctx)
{
    (void)ctx;
    return silt_env_default()->monotonic_us(silt_env_default()->ctx);
}

static silt_status pass_random(void *ctx, void *out, size_t size)
{
    (void)ctx;
    return silt_env_default()->random_bytes(silt_env_default()->ctx, out, size);
}

static void pass_sleep(void *ctx, int64_t duration_us)
{
    (void)ctx;
    silt_env_default()->sleep_us(silt_env_default()->ctx, duration_us);
}

void sweep_env_init(struct sweep_bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    bench->env = *silt_env_default();
    bench->env.ctx = bench;
    bench->env.wall_time_us = wall_ahead;
    bench->env.monotonic_us = pass_monotonic;
    bench->env.random_bytes = pass_random;
    bench->env.sleep_us = pass_sleep;
    bench->env.log = NULL;
}

bool sweep_open(struct sweep_bench *bench, const char *warehouse, const char *temp_dir, silt_storage_registry *stores)
{
    const struct sql_options options = {
        .warehouse = warehouse, .temp_dir = temp_dir, .env = &bench->env, .stores = stores};
    return sql_open(&bench->sql, &options);
}

void sweep_close(struct sweep_bench *bench)
{
    sql_close(&bench->sql);
}

bool sweep_wants(const struct sweep_job *job)
{
    const char *list = getenv("SILT_SWEEP_JOBS");
    if (list == NULL || list[0] == '\0') {
        return true;
    }
    const bool others = list[0] == '!';
    const size_t len = strlen(job->name);
    for (const char *at = list + others; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, job->name, len) == 0 && (at[len] == '\0' || at[len] == ',')) {
            return !others;
        }
    }
    return others;
}

/* The text with the table and the properties put in. */
static bool fill_in(struct sweep_bench *bench, const struct sweep_job *job, enum sweep_kind kind, const char *text)
{
    struct sl_buf *out = &bench->sql.text;
    sl_buf_clear(out);
    for (const char *at = text; *at != '\0'; at++) {
        const bool both = kinds[kind][0] != '\0' && job->properties != NULL;
        if (*at == '@') {
            sl_buf_put_c(out, "delta.`");
            sl_buf_put_c(out, bench->table);
            sl_buf_put_c(out, "`");
        } else if (*at == '%') {
            sl_buf_put_c(out, bench->table);
        } else if (*at == '#' && (kinds[kind][0] != '\0' || job->properties != NULL)) {
            sl_buf_put_c(out, "TBLPROPERTIES (");
            sl_buf_put_c(out, kinds[kind]);
            sl_buf_put_c(out, both ? ", " : "");
            sl_buf_put_c(out, job->properties != NULL ? job->properties : "");
            sl_buf_put_c(out, ")");
        } else if (*at != '#') {
            sl_buf_put_char(out, *at);
        }
    }
    const size_t n = sl_buf_view(out).len;
    if (n >= sizeof(bench->text)) {
        return false;
    }
    memcpy(bench->text, sl_buf_cstr(out), n + 1);
    return true;
}

static silt_status run_upkeep(struct sweep_bench *bench, silt_status (*upkeep)(silt_table *table, silt_error *err))
{
    silt_table *table = NULL;
    bench->sql.err = (silt_error)SILT_ERROR_INIT;
    silt_status status = silt_session_table(bench->sql.session, bench->table, &table, &bench->sql.err);
    if (status == SILT_OK) {
        status = upkeep(table, &bench->sql.err);
    }
    silt_table_unref(table);
    return status;
}

/*
 * Makes the commits of a table on disk a second apart. A file system that tells times in steps of some milliseconds gives several of them the
 * same one, and then a clean-up may have nothing to delete.
 */
static bool age_commits(const struct sweep_bench *bench)
{
    const time_t begin = time(NULL) - 1000;
    bool good = true;
    for (int64_t version = 0; bench->table[0] == '/' && good; version++) {
        char path[500];
        const struct timespec then = {.tv_sec = begin + (time_t)version};
        const struct timespec times[2] = {then, then};
        (void)snprintf(path, sizeof(path), "%s/_delta_log/%020lld.json", bench->table, (long long)version);
        good = utimensat(AT_FDCWD, path, times, 0) == 0;
    }
    return good || errno == ENOENT;
}

bool sweep_prepare(struct sweep_bench *bench, const struct sweep_job *job, enum sweep_kind kind)
{
    if (job->table == NULL) {
        return true;
    }
    return fill_in(bench, job, kind, job->table[0] == '\0' ? SMALL : job->table) &&
           sql_run(&bench->sql, "%s", bench->text) &&
           (!job->checkpointed || run_upkeep(bench, checkpoint_whole) == SILT_OK) && age_commits(bench);
}

struct copying {
    silt_storage *store;
    const char *from;
    const char *to;
    bool good;
};

static bool copy_file(void *ctx, const silt_file_entry *entry)
{
    struct copying *copying = ctx;
    char from[800];
    char to[800];
    void *data = NULL;
    size_t len = 0;
    (void)snprintf(from, sizeof(from), "%s/%.*s", copying->from, (int)entry->name_len, entry->name);
    (void)snprintf(to, sizeof(to), "%s/%.*s", copying->to, (int)entry->name_len, entry->name);
    copying->good = silt_storage_read(copying->store, NULL, from, &data, &len, NULL) == SILT_OK &&
                    silt_storage_put(copying->store, NULL, to, data, len, NULL) == SILT_OK;
    silt_storage_free(copying->store, data, len);
    return copying->good;
}

bool sweep_copy(const struct sweep_bench *bench, silt_storage *store, const char *from)
{
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    struct copying copying = {.store = store, .from = from, .to = bench->table, .good = true};
    return silt_storage_list(store, NULL, from, &options, copy_file, &copying, NULL) == SILT_OK && copying.good &&
           age_commits(bench);
}

struct comparing {
    silt_storage *store;
    const char *one;
    const char *other;
    size_t n_files;
    bool same;
};

static bool compare_file(void *ctx, const silt_file_entry *entry)
{
    struct comparing *comparing = ctx;
    const char *const tables[2] = {comparing->one, comparing->other};
    void *data[2] = {NULL, NULL};
    size_t len[2] = {0, 0};
    bool good = true;
    for (size_t i = 0; i < 2; i++) {
        char path[800];
        (void)snprintf(path, sizeof(path), "%s/%.*s", tables[i], (int)entry->name_len, entry->name);
        good = silt_storage_read(comparing->store, NULL, path, &data[i], &len[i], NULL) == SILT_OK && good;
    }
    comparing->same = good && len[0] == len[1] && (len[0] == 0 || memcmp(data[0], data[1], len[0]) == 0);
    comparing->n_files++;
    for (size_t i = 0; i < 2; i++) {
        silt_storage_free(comparing->store, data[i], len[i]);
    }
    return comparing->same;
}

static bool count_file(void *ctx, const silt_file_entry *entry)
{
    (void)entry;
    ++*(size_t *)ctx;
    return true;
}

bool sweep_same(const struct sweep_bench *bench, silt_storage *store, const char *other)
{
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    struct comparing comparing = {.store = store, .one = bench->table, .other = other, .same = true};
    size_t n_files = 0;
    const silt_status mine = silt_storage_list(store, NULL, bench->table, &options, compare_file, &comparing, NULL);
    const silt_status others = silt_storage_list(store, NULL, other, &options, count_file, &n_files, NULL);
    return (mine == SILT_OK || mine == SILT_ENOTFOUND) && (others == SILT_OK || others == SILT_ENOTFOUND) &&
           comparing.same && comparing.n_files == n_files;
}

bool sweep_all(void)
{
    const char *wish = getenv("SILT_SWEEP");
    return wish != NULL && strcmp(wish, "all") == 0;
}

static silt_status act(struct sweep_bench *bench, const struct sweep_job *job)
{
    if (job->statement == NULL) {
        return run_upkeep(bench, job->upkeep);
    }
    const silt_status status = sql_try(&bench->sql, "%s", bench->text);
    if (status == SILT_ENOMEM && bench->sql.version >= 0) {
        return SILT_OK; /* the statement succeeded, only its counts could not be read */
    }
    if (status == SILT_OK && job->rows != NULL && strcmp(sl_buf_cstr(&bench->sql.text), job->rows) != 0) {
        (void)fprintf(stderr, "%s: %s", job->name, sl_buf_cstr(&bench->sql.text));
        return SILT_EINVALID;
    }
    return status;
}

silt_status sweep_run(struct sweep_bench *bench, const struct sweep_job *job, enum sweep_kind kind)
{
    if ((job->once && !sql_run(&bench->sql, "SET silt.write.txnAppId = sweep; SET silt.write.txnVersion = 3")) ||
        (job->option != NULL && !sql_run(&bench->sql, "SET %s", job->option)) ||
        (job->statement != NULL && !fill_in(bench, job, kind, job->statement))) {
        return SILT_EINVALID;
    }
    bench->ahead_us = job->expired ? 100 * US_PER_DAY : 0;
    if (bench->around != NULL) {
        bench->around(bench->ctx, true);
    }
    const silt_status status = act(bench, job);
    if (bench->around != NULL) {
        bench->around(bench->ctx, false);
    }
    bench->ahead_us = 0;
    const silt_error err = bench->sql.err;
    if ((job->once && !sql_run(&bench->sql, "RESET silt.write.txnAppId; RESET silt.write.txnVersion")) ||
        (job->option != NULL && !sql_run(&bench->sql, "RESET %.*s", (int)strcspn(job->option, " "), job->option))) {
        return SILT_EINVALID;
    }
    bench->sql.err = err;
    return status;
}

/* ---- what there is ---- */

static silt_status describe(struct sweep_bench *bench, char *out, size_t *used)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_error *err = &bench->sql.err;
    silt_status status = silt_session_table(bench->sql.session, bench->table, &table, err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, err);
    }
    if (status == SILT_OK) {
        *used = (size_t)snprintf(out, SWEEP_TEXT, "version %lld\n", (long long)silt_snapshot_version(snapshot));
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

bool sweep_look_at_version(struct sweep_bench *bench, char out[SWEEP_TEXT])
{
    size_t used = 0;
    bench->sql.err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = describe(bench, out, &used);
    if (status == SILT_ENOTTABLE) {
        (void)snprintf(out, SWEEP_TEXT, "none");
    } else if (status != SILT_OK) {
        (void)snprintf(out, SWEEP_TEXT, "%s [%s] %s", silt_status_name(status), bench->sql.err.code_name,
                       bench->sql.err.message);
    }
    return status == SILT_OK || status == SILT_ENOTTABLE;
}

bool sweep_look(struct sweep_bench *bench, char out[SWEEP_TEXT])
{
    size_t used = 0;
    bench->sql.err = (silt_error)SILT_ERROR_INIT;
    silt_status status = describe(bench, out, &used);
    if (status == SILT_ENOTTABLE) {
        (void)snprintf(out, SWEEP_TEXT, "none");
        return true;
    }
    static const char *const questions[] = {"DESCRIBE delta.`%s`", "SELECT * FROM delta.`%s` ORDER BY ALL"};
    for (size_t i = 0; status == SILT_OK && i < 2; i++) {
        char question[500];
        const char *at = strchr(questions[i], '%');
        (void)snprintf(question, sizeof(question), "%.*s%s%s", (int)(at - questions[i]), questions[i], bench->table,
                       at + 2);
        status = sql_try(&bench->sql, "%s", question);
        used += status != SILT_OK
                    ? 0
                    : (size_t)snprintf(out + used, SWEEP_TEXT - used, "%s\n", sl_buf_cstr(&bench->sql.text));
        if (used >= SWEEP_TEXT) {
            return false;
        }
    }
    if (status != SILT_OK) {
        (void)snprintf(out, SWEEP_TEXT, "%s [%s] %s", silt_status_name(status), bench->sql.err.code_name,
                       bench->sql.err.message);
    }
    return status == SILT_OK;
}

static bool tell_finding(void *ctx, const silt_fsck_finding *finding)
{
    (void)ctx;
    if (finding->severity == SILT_FSCK_FAULT) {
        (void)fprintf(stderr, "fsck: %s: %s: %s\n", finding->check, finding->file != NULL ? finding->file : "",
                      finding->message);
    }
    return true;
}

bool sweep_check(struct sweep_bench *bench)
{
    silt_table *table = NULL;
    silt_fsck_report report = {.size = sizeof(report)};
    silt_error *err = &bench->sql.err;
    silt_status status = silt_session_table(bench->sql.session, bench->table, &table, err);
    if (status == SILT_OK) {
        status = silt_table_fsck(table, NULL, NULL, tell_finding, NULL, &report, err);
    }
    silt_table_unref(table);
    if (status != SILT_OK && status != SILT_ENOTTABLE) {
        (void)fprintf(stderr, "fsck: %s %s\n", silt_status_name(status), err->message);
        return false;
    }
    return report.faults == 0;
}
