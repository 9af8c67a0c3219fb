/*
 * The examination of a table's location. What only a remote store can tell (endpoint, credentials, reach) it tells itself, first; then come the
 * steps that are the same everywhere: listing, reading, writing, the table. Any thread.
 */
#include "silt/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "base/uuid.h"
#include "engine/remote_stores.h"
#include "kernel/feature/feature.h"
#include "kernel/log/commit.h"
#include "kernel/snapshot/state.h"
#include "silt/engine.h"
#include "silt/snapshot.h"
#include "silt/table.h"

#define MAX_NAMES 1000   /* of the log: enough to say what it is */
#define FIRST_BYTES 4096 /* of a file that is read to see whether it may be */
#define MAX_TEXT 1000
#define HINT_FILE "_last_checkpoint"

struct doctor {
    const silt_env *env;
    const silt_call *call;
    const char *uri;
    bool remote;
    void (*on_step)(void *ctx, const silt_doctor_step *step);
    void *ctx;
    struct sl_arena arena;
    silt_engine *engine;
    silt_storage *storage; /* the engine's */
    const char *log;       /* the folder of the log */
    /* Of the listing. */
    size_t n_names;
    bool has_folder;
    bool has_hint;
    bool by_dynamodb;  /* commits go through DynamoDB, as options choose */
    const char *first; /* a commit, NULL if none was seen */
};

/* ---- telling ---- */

static void tell(const struct doctor *d, silt_doctor_verdict verdict, const char *step, const char *subject,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
static void tell(const struct doctor *d, silt_doctor_verdict verdict, const char *step, const char *subject,
                 const char *format, ...)
{
    char text[MAX_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const silt_doctor_step told = {
        .size = sizeof(told), .verdict = verdict, .step = step, .subject = subject, .text = text, .hint = ""};
    d->on_step(d->ctx, &told);
}

static silt_status tell_failure(const struct doctor *d, const char *step, const char *subject, const silt_error *err)
{
    const silt_doctor_step told = {.size = sizeof(told),
                                   .verdict = SILT_DOCTOR_FAILED,
                                   .step = step,
                                   .subject = subject,
                                   .text = err->message,
                                   .hint = err->hint};
    d->on_step(d->ctx, &told);
    return err->status;
}

/* The steps that the remote store tells are the caller's; one says how commits are made. */
static void pass_step(void *ctx, const silt_doctor_step *step)
{
    struct doctor *d = ctx;
    d->by_dynamodb = d->by_dynamodb || (strcmp(step->step, "endpoint") == 0 && strcmp(step->subject, "commits") == 0);
    d->on_step(d->ctx, step);
}

/* ---- the way there ---- */

static silt_status open_store(struct doctor *d, const silt_doctor_options *options, silt_error *err)
{
    const silt_default_engine_options engine = {.size = sizeof(engine),
                                                .env = d->env,
                                                .store_options = options->store_options,
                                                .n_store_options = options->n_store_options};
    bool told = false;
    if (d->remote) {
        const silt_status status = sl_remote_examine(d->env, d->call, d->uri, options, pass_step, d, &told, err);
        if (status != SILT_OK) {
            return told ? status : tell_failure(d, "store", "", err);
        }
    } else if (sl_uri_scheme(sl_str_from(d->uri)).ptr == NULL) {
        tell(d, SILT_DOCTOR_OK, "store", "local files", "path %s", d->uri);
    }
    silt_status status = silt_engine_default_new(&engine, &d->engine, err);
    if (status == SILT_OK) {
        status = silt_engine_storage(d->engine, d->uri, &d->storage, err);
    }
    return status == SILT_OK ? SILT_OK : tell_failure(d, "store", "", err);
}

/* ---- listing and reading ---- */

static bool take_name(void *ctx, const silt_file_entry *entry)
{
    struct doctor *d = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    d->n_names++;
    d->has_hint = d->has_hint || sl_str_eq_c(name, HINT_FILE);
    if (d->first == NULL && sl_str_ends_with(name, SL_STR(".json")) && sl_is_digit(name.ptr[0])) {
        d->first = sl_arena_strdup(&d->arena, name);
    }
    return d->n_names < MAX_NAMES;
}

static silt_status list_log(struct doctor *d, silt_error *err)
{
    const silt_list_options options = {.size = sizeof(options)};
    const silt_status status = silt_storage_list(d->storage, d->call, d->log, &options, take_name, d, err);
    if (status == SILT_ENOTFOUND && !sl_error_is(err, SL_BUCKET_NOT_FOUND)) {
        silt_error_reset(err);
        tell(d, SILT_DOCTOR_NOTE, "list", SL_LOG_DIR, "there is no such folder");
        return SILT_OK;
    }
    if (status != SILT_OK) {
        return tell_failure(d, "list", SL_LOG_DIR, err);
    }
    d->has_folder = true;
    tell(d, SILT_DOCTOR_OK, "list", SL_LOG_DIR, "%zu%s file%s%s", d->n_names, d->n_names == MAX_NAMES ? " or more" : "",
         d->n_names == 1 ? "" : "s", d->has_hint ? ", a hint to a checkpoint among them" : "");
    return SILT_OK;
}

static bool count_name(void *ctx, const silt_file_entry *entry)
{
    (void)entry;
    size_t *n = ctx;
    *n += 1;
    return *n < MAX_NAMES;
}

/* Writers that take turns by a table of DynamoDB leave their commits there before they are copied. */
static void look_for_dynamodb(struct doctor *d)
{
    const silt_list_options options = {.size = sizeof(options)};
    const char *dir = sl_arena_printf(&d->arena, "%s/.tmp", d->log);
    size_t n = 0;
    if (dir == NULL || !sl_str_starts_with(sl_uri_scheme(sl_str_from(d->uri)), SL_STR("s3"))) {
        return;
    }
    if (silt_storage_list(d->storage, d->call, dir, &options, count_name, &n, NULL) == SILT_OK && n > 0) {
        tell(d, SILT_DOCTOR_NOTE, "dynamodb", SL_LOG_DIR "/.tmp",
             "%zu file%s of writers that commit through DynamoDB (Delta Spark's S3DynamoDBLogStore): %s", n,
             n == 1 ? "" : "s",
             d->by_dynamodb ? "silt does so, too, as options choose" : "silt must do so, too, to write beside them");
    }
}

static void on_read(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request;
}

static silt_status read_log(struct doctor *d, silt_error *err)
{
    const char *name = d->has_hint ? HINT_FILE : d->first;
    if (name == NULL) {
        tell(d, SILT_DOCTOR_SKIPPED, "read", "", "there is nothing to read");
        return SILT_OK;
    }
    silt_read_request request = {.path = sl_arena_printf(&d->arena, "%s/%s", d->log, name), .length = FIRST_BYTES};
    if (request.path == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = silt_storage_read_many(d->storage, d->call, &request, 1, on_read, NULL, err);
    status = status == SILT_OK ? request.status : status;
    if (status == SILT_OK) {
        tell(d, SILT_DOCTOR_OK, "read", name, "%zu bytes", request.data_len);
    } else {
        (void)tell_failure(d, "read", name, err);
    }
    silt_read_request_release(d->storage, &request);
    return status;
}

/* ---- writing ---- */

/* Created once, refused the second time, read, removed. */
static silt_status probe(struct doctor *d, const char *path, silt_error *err)
{
    static const char text[] = "silt doctor asks whether it may write here\n";
    silt_put_outcome outcome[2] = {SILT_PUT_AMBIGUOUS, SILT_PUT_AMBIGUOUS};
    void *data = NULL;
    size_t len = 0;
    SL_TRY(silt_storage_put_if_absent(d->storage, d->call, path, text, sizeof(text) - 1, &outcome[0], err));
    silt_status status = silt_storage_put_if_absent(d->storage, d->call, path, text, sizeof(text) - 1, &outcome[1],
                                                    err);
    if (status == SILT_OK) {
        status = silt_storage_read(d->storage, d->call, path, &data, &len, err);
    }
    const bool same = status == SILT_OK && len == sizeof(text) - 1 && memcmp(data, text, len) == 0;
    silt_storage_free(d->storage, data, len);
    const silt_status removed = silt_storage_remove(d->storage, d->call, path, status == SILT_OK ? err : NULL);
    status = status == SILT_OK ? removed : status;
    if (status == SILT_OK && !same) {
        return sl_fail(err, SILT_EIO, NULL, "what was written was not read back");
    }
    if (status == SILT_OK && (outcome[0] != SILT_PUT_DONE || outcome[1] != SILT_PUT_EXISTS)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "a name could be created twice, or nobody could tell: two writers could own one version");
    }
    return status;
}

static silt_status try_write(struct doctor *d, bool wanted, silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    if (!wanted) {
        tell(d, SILT_DOCTOR_SKIPPED, "write", "", "not tried; --write creates a small file and removes it again");
        return SILT_OK;
    }
    if (!d->remote && !d->has_folder) {
        tell(d, SILT_DOCTOR_SKIPPED, "write", "", "not tried, as there is no folder of a log");
        return SILT_OK;
    }
    silt_status status = sl_uuid_make(d->env, uuid, err);
    const char *path = status == SILT_OK ? sl_arena_printf(&d->arena, "%s/.silt-doctor-%s", d->log, uuid) : NULL;
    if (path == NULL) {
        status = sl_fail_nomem(err);
    } else {
        status = probe(d, path, err);
    }
    if (status == SILT_OK) {
        tell(d, SILT_DOCTOR_OK, "write", "", "a file was created, refused a second time, read and removed");
    } else {
        status = tell_failure(d, "write", "", err);
    }
    return status;
}

/* ---- the table ---- */

static void tell_features(const struct doctor *d, const silt_snapshot *snapshot)
{
    char text[MAX_TEXT] = "";
    size_t at = 0;
    const char *name = NULL;
    for (size_t i = 0; (name = silt_snapshot_feature(snapshot, i)) != NULL && at < sizeof(text) - 1; i++) {
        const int n = snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? ", " : "", name);
        at += n > 0 ? (size_t)n : 0;
    }
    tell(d, SILT_DOCTOR_OK, "table", "protocol", "reader %" PRId32 ", writer %" PRId32 "%s%s",
         silt_snapshot_min_reader_version(snapshot), silt_snapshot_min_writer_version(snapshot),
         text[0] != '\0' ? ": " : "", text);
}

static void tell_table(const struct doctor *d, const silt_snapshot *snapshot)
{
    silt_error err = SILT_ERROR_INIT;
    tell(d, SILT_DOCTOR_OK, "table", "version", "%" PRId64, silt_snapshot_version(snapshot));
    tell_features(d, snapshot);
    tell(d, SILT_DOCTOR_OK, "table", "silt reads", "yes");
    if (sl_gate_write(sl_snapshot_protocol(snapshot), sl_snapshot_get_metadata(snapshot),
                      silt_snapshot_schema(snapshot), &err) == SILT_OK) {
        tell(d, SILT_DOCTOR_OK, "table", "silt writes", "yes, as far as the table is concerned");
    } else {
        tell(d, SILT_DOCTOR_NOTE, "table", "silt writes", "no: %s", err.message);
    }
}

static silt_status open_table(const struct doctor *d, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_status status = silt_table_for_path(d->engine, d->uri, &table, err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, d->call, &snapshot, err);
    }
    if (status == SILT_OK) {
        tell_table(d, snapshot);
    } else {
        (void)tell_failure(d, "table", "", err);
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

/* ---- all of it ---- */

static silt_status examine(struct doctor *d, const silt_doctor_options *options, silt_error *err)
{
    SL_TRY(open_store(d, options, err));
    d->log = sl_arena_printf(&d->arena, "%s/%s", d->uri, SL_LOG_DIR);
    if (d->log == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(list_log(d, err));
    look_for_dynamodb(d);
    SL_TRY(read_log(d, err));
    /* That the table can be read is told too where it cannot be written. */
    silt_error refused = SILT_ERROR_INIT;
    const silt_status written = try_write(d, options->write, &refused);
    SL_TRY(open_table(d, err));
    return written == SILT_OK ? SILT_OK : sl_error_take(err, &refused);
}

silt_status silt_doctor(const silt_env *env, const silt_call *call, const char *uri, const silt_doctor_options *options,
                        void (*on_step)(void *ctx, const silt_doctor_step *step), void *ctx, silt_error *err)
{
    silt_error own = SILT_ERROR_INIT;
    silt_doctor_options used = {.size = sizeof(used)};
    struct sl_str normal;
    err = err != NULL ? err : &own;
    env = env != NULL ? env : silt_env_default();
    if (uri == NULL || on_step == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_doctor needs a location and a callback");
    }
    if (options != NULL) {
        if (options->size < sizeof(used)) {
            return sl_fail(err, SILT_EINVALID, NULL, "silt_doctor_options has %u bytes, expected %zu",
                           (unsigned)options->size, sizeof(used));
        }
        used = *options;
    }
    SL_TRY(sl_env_check(env, err));
    struct doctor d = {.env = env, .call = call, .on_step = on_step, .ctx = ctx};
    sl_arena_init(&d.arena, env);
    silt_status status = sl_uri_normalize(&d.arena, sl_str_from(uri), &normal, err);
    d.uri = status == SILT_OK ? sl_arena_strdup(&d.arena, normal) : NULL;
    if (status == SILT_OK && d.uri == NULL) {
        status = sl_fail_nomem(err);
    }
    if (status == SILT_OK) {
        d.remote = sl_remote_has_scheme(d.uri);
        status = examine(&d, &used, err);
    }
    silt_engine_unref(d.engine);
    sl_arena_release(&d.arena);
    return status;
}
