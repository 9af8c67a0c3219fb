/*
 * Logs for tests; see log_fixture.h. The Parquet handler here reads lines of JSON from the store and makes Arrow batches of
 * two rows of them, so that even small checkpoints have several.
 */
#include "log_fixture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrow.h"
#include "base/buf.h"
#include "base/error.h"
#include "json/json.h"
#include "silt/version.h"

#define BATCH_ROWS 2

/* ---- JSON lines as Parquet ---- */

static silt_status append_json(struct sl_arrow_builder *builder, const struct ArrowSchema *schema, const sl_json *value,
                               silt_error *err);

static silt_status append_map(struct sl_arrow_builder *builder, const sl_json *value, silt_error *err)
{
    struct sl_arrow_builder *entries = sl_arrow_builder_child(builder, 0);
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_str key;
    const sl_json *element = NULL;
    while (sl_json_next(&iter, &key, &element)) {
        struct sl_str text = {NULL, 0};
        SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(entries, 0), key, err));
        if (sl_json_to_str(element, &text)) {
            SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(entries, 1), text, err));
        } else {
            SL_TRY(sl_arrow_append_null(sl_arrow_builder_child(entries, 1), err));
        }
        SL_TRY(sl_arrow_append_nested(entries, err));
    }
    return sl_arrow_append_nested(builder, err);
}

static silt_status append_list(struct sl_arrow_builder *builder, const struct ArrowSchema *schema, const sl_json *value,
                               silt_error *err)
{
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_str key;
    const sl_json *element = NULL;
    while (sl_json_next(&iter, &key, &element)) {
        SL_TRY(append_json(sl_arrow_builder_child(builder, 0), schema->children[0], element, err));
    }
    return sl_arrow_append_nested(builder, err);
}

static silt_status append_struct(struct sl_arrow_builder *builder, const struct ArrowSchema *schema,
                                 const sl_json *value, silt_error *err)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *child = schema->children[i];
        SL_TRY(append_json(sl_arrow_builder_child(builder, (size_t)i), child, sl_json_member(value, child->name), err));
    }
    return sl_arrow_append_nested(builder, err);
}

static silt_status append_json(struct sl_arrow_builder *builder, const struct ArrowSchema *schema, const sl_json *value,
                               silt_error *err)
{
    if (sl_json_is_null(value)) {
        return sl_arrow_append_null(builder, err);
    }
    struct sl_str text = {NULL, 0};
    int64_t number = 0;
    bool flag = false;
    if (strcmp(schema->format, "+s") == 0) {
        return append_struct(builder, schema, value, err);
    }
    if (strcmp(schema->format, "+m") == 0) {
        return append_map(builder, value, err);
    }
    if (strcmp(schema->format, "+l") == 0) {
        return append_list(builder, schema, value, err);
    }
    if (sl_json_to_str(value, &text)) {
        return sl_arrow_append_bytes(builder, text, err);
    }
    if (sl_json_to_i64(value, &number)) {
        return sl_arrow_append_i64(builder, number, err);
    }
    if (sl_json_to_bool(value, &flag)) {
        return sl_arrow_append_i64(builder, flag ? 1 : 0, err);
    }
    return sl_fail(err, SILT_ECORRUPT, NULL, "the test's file holds an unexpected value");
}

struct json_rows {
    const silt_env *env;
    struct ArrowSchema schema;
    char *bytes; /* all files, one after another */
    size_t len;
    size_t at;
};

static void close_rows(void *ctx)
{
    struct json_rows *rows = ctx;
    sl_arrow_schema_release(&rows->schema);
    free(rows->bytes);
    free(rows);
}

static silt_status rows_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct json_rows *rows = ctx;
    return sl_arrow_schema_copy(rows->env, &rows->schema, out, err);
}

static silt_status append_line(struct json_rows *rows, struct sl_arrow_builder *builder, silt_error *err)
{
    const char *begin = rows->bytes + rows->at;
    const char *end = memchr(begin, '\n', rows->len - rows->at);
    const size_t len = end != NULL ? (size_t)(end - begin) : rows->len - rows->at;
    rows->at += end != NULL ? len + 1 : len;
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(rows->env, sl_str_make(begin, len), &doc, err));
    const silt_status status = append_json(builder, &rows->schema, sl_json_root(doc), err);
    sl_json_free(doc);
    return status;
}

static silt_status rows_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct json_rows *rows = ctx;
    if (rows->at >= rows->len) {
        return SILT_OK;
    }
    struct sl_arrow_builder *builder = NULL;
    SL_TRY(sl_arrow_builder_new(rows->env, &rows->schema, &builder, err));
    silt_status status = SILT_OK;
    for (int i = 0; i < BATCH_ROWS && rows->at < rows->len && status == SILT_OK; i++) {
        status = append_line(rows, builder, err);
    }
    if (status == SILT_OK) {
        status = sl_arrow_builder_finish(builder, batch, err);
    }
    sl_arrow_builder_free(builder);
    return status;
}

static silt_status load_rows(struct log_fixture *f, const silt_call *call, const silt_parquet_read *request,
                             struct json_rows *rows, silt_error *err)
{
    for (size_t i = 0; i < request->n_files; i++) {
        void *data = NULL;
        size_t len = 0;
        SL_TRY(silt_storage_read(f->store, call, request->files[i].path, &data, &len, err));
        const bool torn = len < 4 || memcmp(data, "torn", 4) == 0;
        if (!torn) {
            rows->bytes = realloc(rows->bytes, rows->len + len);
            memcpy(rows->bytes + rows->len, data, len);
            rows->len += len;
        }
        silt_storage_free(f->store, data, len);
        if (torn) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "no footer");
        }
    }
    return SILT_OK;
}

static silt_status read_json(void *impl, const silt_call *call, const silt_parquet_read *request,
                             struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {.schema = rows_schema, .next = rows_next, .close = close_rows};
    struct log_fixture *f = impl;
    f->n_parquet_reads++;
    if (f->refusal != SILT_OK) {
        return sl_fail(err, f->refusal, "SILT_ENGINE_NOT_FOUND", "the fixture refuses to read");
    }
    struct json_rows *rows = calloc(1, sizeof(*rows));
    rows->env = &f->test.env;
    silt_status status = load_rows(f, call, request, rows, err);
    if (status == SILT_OK) {
        status = silt_schema_to_arrow(request->schema, &rows->schema, err);
    }
    if (status != SILT_OK) {
        close_rows(rows);
        return status;
    }
    return sl_arrow_stream_new(rows->env, &source, rows, out, err);
}

static silt_status write_json(void *impl, const silt_call *call, const silt_parquet_write *request,
                              struct ArrowArrayStream *rows, silt_error *err)
{
    (void)impl;
    (void)call;
    (void)request;
    sl_arrow_stream_release(rows);
    return sl_fail(err, SILT_EUNSUPPORTED, NULL, "the fixture writes no files");
}

static void close_handler(void *impl)
{
    (void)impl;
}

static const silt_parquet_handler_vtable json_handler = {.size = sizeof(silt_parquet_handler_vtable),
                                                         .abi_version = SILT_ABI_VERSION,
                                                         .name = "json lines",
                                                         .close = close_handler,
                                                         .read = read_json,
                                                         .write = write_json};

/* ---- the fixture ---- */

static void count_operation(void *ctx, const silt_trace_event *event)
{
    struct log_fixture *f = ctx;
    f->n_lists += strcmp(event->operation, "list") == 0 ? 1 : 0;
    f->n_reads += strcmp(event->operation, "read") == 0 ? 1 : 0;
}

static silt_fault_action decide_fault(void *ctx, uint64_t number, const char *operation, const char *path)
{
    const struct log_fixture *f = ctx;
    (void)number;
    return f->fail_operation != NULL && strcmp(operation, f->fail_operation) == 0 && strstr(path, f->fail_path) != NULL
               ? SILT_FAULT_BEFORE
               : SILT_FAULT_NONE;
}

void log_fixture_open(struct log_fixture *f)
{
    *f = (struct log_fixture){.err = SILT_ERROR_INIT};
    test_env_init(&f->test);
    silt_storage_registry *stores = NULL;
    silt_storage *faulty = NULL;
    assert_int_equal(silt_storage_memory_new(&f->test.env, &f->store, &f->err), SILT_OK);
    assert_int_equal(silt_storage_fault_new(&f->test.env, f->store, decide_fault, f, &faulty, &f->err), SILT_OK);
    assert_int_equal(silt_storage_trace_new(&f->test.env, faulty, count_operation, f, &f->traced, &f->err), SILT_OK);
    silt_storage_unref(faulty);
    assert_int_equal(silt_storage_registry_new(&f->test.env, &stores, &f->err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", f->traced, &f->err), SILT_OK);
    const silt_engine_options options = {.size = sizeof(options),
                                         .abi_version = SILT_ABI_VERSION,
                                         .env = &f->test.env,
                                         .stores = stores,
                                         .parquet = {&json_handler, f}};
    assert_int_equal(silt_engine_new(&options, &f->engine, &f->err), SILT_OK);
    assert_int_equal(silt_table_for_path(f->engine, LOG_ROOT, &f->table, &f->err), SILT_OK);
}

void log_fixture_close(struct log_fixture *f)
{
    silt_table_unref(f->table);
    silt_engine_unref(f->engine);
    silt_storage_unref(f->traced);
    silt_storage_unref(f->store);
    test_env_check(&f->test);
}

int log_setup(void **state)
{
    struct log_fixture *f = malloc(sizeof(*f));
    log_fixture_open(f);
    *state = f;
    return 0;
}

int log_teardown(void **state)
{
    log_fixture_close(*state);
    free(*state);
    return 0;
}

void log_put(struct log_fixture *f, const char *name, const char *bytes)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/_delta_log/%s", LOG_ROOT, name);
    assert_int_equal(silt_storage_put(f->store, NULL, path, bytes, strlen(bytes), &f->err), SILT_OK);
}

void log_remove(struct log_fixture *f, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/_delta_log/%s", LOG_ROOT, name);
    assert_int_equal(silt_storage_remove(f->store, NULL, path, &f->err), SILT_OK);
}

void log_set_time_ms(struct log_fixture *f, int64_t ms)
{
    f->test.wall_us = ms * 1000;
}

static void put_lines(struct log_fixture *f, const char *name, va_list lines)
{
    struct sl_buf text;
    sl_buf_init(&text, &f->test.env);
    for (const char *line = va_arg(lines, const char *); line != NULL; line = va_arg(lines, const char *)) {
        sl_buf_put_c(&text, line);
        sl_buf_put_char(&text, '\n');
    }
    log_put(f, name, sl_buf_cstr(&text));
    sl_buf_release(&text);
}

void log_commit(struct log_fixture *f, int64_t version, ...)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%020" PRId64 ".json", version);
    va_list lines;
    va_start(lines, version);
    put_lines(f, name, lines);
    va_end(lines);
}

void log_checkpoint(struct log_fixture *f, int64_t version, ...)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%020" PRId64 ".checkpoint.parquet", version);
    va_list lines;
    va_start(lines, version);
    put_lines(f, name, lines);
    va_end(lines);
}

static silt_status open_version(struct log_fixture *f, int64_t version, silt_snapshot **out)
{
    silt_error_reset(&f->err);
    return version < 0 ? silt_table_latest_snapshot(f->table, NULL, out, &f->err)
                       : silt_table_snapshot_at_version(f->table, NULL, version, out, &f->err);
}

silt_snapshot *log_open(struct log_fixture *f, int64_t version)
{
    silt_snapshot *snapshot = NULL;
    const silt_status status = open_version(f, version, &snapshot);
    if (status != SILT_OK) {
        print_error("opening failed: [%s] %s\n", f->err.code_name, f->err.message);
    }
    assert_int_equal(status, SILT_OK);
    return snapshot;
}

void log_expect_failure(struct log_fixture *f, int64_t version, silt_status status, const char *code_name,
                        const char *in_message)
{
    silt_snapshot *snapshot = NULL;
    const silt_status found = open_version(f, version, &snapshot);
    assert_null(snapshot);
    if (found != status || strstr(f->err.message, in_message) == NULL) {
        print_error("told: %s [%s] %s\n", silt_status_name(found), f->err.code_name, f->err.message);
    }
    assert_int_equal(found, status);
    if (code_name != NULL) {
        assert_string_equal(f->err.code_name, code_name);
    }
    assert_non_null(strstr(f->err.message, in_message));
}

struct path_list {
    char paths[64][64];
    size_t n;
};

static silt_status take_path(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    struct path_list *list = ctx;
    assert_true(list->n < 64);
    (void)snprintf(list->paths[list->n++], sizeof(list->paths[0]), "%.*s", SL_FMT(add->path));
    return SILT_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *log_files(struct log_fixture *f, silt_snapshot *snapshot)
{
    struct path_list list = {.n = 0};
    const silt_status status = sl_snapshot_each_file(snapshot, NULL, 0, take_path, &list, &f->err);
    if (status != SILT_OK) {
        print_error("listing files failed: [%s] %s\n", f->err.code_name, f->err.message);
    }
    assert_int_equal(status, SILT_OK);
    qsort(list.paths, list.n, sizeof(list.paths[0]), compare_paths);
    size_t len = 0;
    f->files[0] = '\0';
    for (size_t i = 0; i < list.n; i++) {
        len += (size_t)snprintf(f->files + len, sizeof(f->files) - len, "%s%s", i > 0 ? " " : "", list.paths[i]);
    }
    return f->files;
}
