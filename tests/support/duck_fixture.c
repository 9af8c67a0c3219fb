/*
 * The fixture of tests that run the data plane, see duck_fixture.h.
 */
#include "duck_fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rows_text.h"
#include "temp_dir.h"

#include "base/arrow.h"
#include "kernel/engine/engine.h"
#include "schema/value.h"

static void need(const struct duck_fixture *fx, silt_status status)
{
    if (status != SILT_OK) {
        fail_msg("%s [%s] %s", silt_status_name(status), fx->err.code_name, fx->err.message);
    }
}

static int setup(void **state, bool in_memory)
{
    struct duck_fixture *fx = test_calloc(1, sizeof(*fx));
    fx->env = silt_env_default();
    fx->in_memory = in_memory;
    fx->fail_after = SIZE_MAX;
    fx->err = (silt_error)SILT_ERROR_INIT;
    sl_arena_init(&fx->arena, fx->env);
    sl_buf_init(&fx->text, fx->env);
    sl_vec_init(&fx->files, fx->env, sizeof(struct duck_written));
    sl_vec_init(&fx->filters, fx->env, sizeof(silt_expr *));
    char dir[256];
    if (!temp_dir_make(dir, sizeof(dir))) {
        return -1;
    }
    fx->dir = sl_arena_strdup(&fx->arena, sl_str_from(dir));
    fx->root = in_memory ? sl_arena_printf(&fx->arena, "memory://t/table")
                         : sl_arena_printf(&fx->arena, "%s/table", fx->dir);
    const silt_default_engine_options options = {.size = sizeof(options), .threads = 2, .temp_dir = fx->dir};
    need(fx, silt_engine_default_new(&options, &fx->engine, &fx->err));
    need(fx, sl_engine_dataplane(fx->engine, &fx->plane, &fx->err));
    need(fx, sl_engine_storage(fx->engine, fx->root, &fx->storage, &fx->err));
    *state = fx;
    return 0;
}

int duck_setup(void **state)
{
    return setup(state, false);
}

int duck_setup_memory(void **state)
{
    return setup(state, true);
}

int duck_teardown(void **state)
{
    struct duck_fixture *fx = *state;
    silt_engine_unref(fx->engine);
    assert_true(temp_dir_remove(fx->dir));
    for (size_t i = 0; i < fx->filters.len; i++) {
        silt_expr_unref(*(silt_expr **)sl_vec_at(&fx->filters, i));
    }
    sl_vec_release(&fx->filters);
    sl_vec_release(&fx->files);
    sl_buf_release(&fx->text);
    sl_arena_release(&fx->arena);
    test_free(fx);
    return 0;
}

silt_schema *duck_schema(struct duck_fixture *fx, const char *fields_json)
{
    struct sl_buf json;
    silt_schema *schema = NULL;
    sl_buf_init(&json, fx->env);
    sl_buf_printf(&json, "{\"type\":\"struct\",\"fields\":[%s]}", fields_json);
    need(fx, silt_schema_from_json(fx->env, json.data, json.len, &schema, &fx->err));
    sl_buf_release(&json);
    return schema;
}

/* ---- reading ---- */

silt_status duck_try_query(struct duck_fixture *fx, const char *sql)
{
    struct ArrowArrayStream stream = {0};
    silt_error_reset(&fx->err);
    sl_buf_clear(&fx->text);
    const silt_status status = fx->plane.vtable->query(fx->plane.dp, fx->call, sl_str_from(sql), NULL, &stream,
                                                       &fx->err);
    return status == SILT_OK ? rows_drain(&stream, &fx->text, &fx->err) : status;
}

const char *duck_text(struct duck_fixture *fx, const char *sql)
{
    need(fx, duck_try_query(fx, sql));
    return sl_buf_cstr(&fx->text);
}

/* ---- writing ---- */

static bool keep_file(void *ctx, const silt_written_file *file)
{
    struct duck_fixture *fx = ctx;
    if (fx->files.len >= fx->fail_after) {
        return false;
    }
    struct duck_written *kept = sl_vec_push(&fx->files);
    kept->path = sl_arena_strdup(&fx->arena, sl_str_from(file->path));
    kept->full = sl_arena_printf(&fx->arena, "%s/%s", fx->root, file->path);
    kept->size_bytes = file->size_bytes;
    kept->num_rows = file->num_rows;
    kept->partition_values = sl_arena_alloc_array(&fx->arena, file->n_partition_values, sizeof(silt_value));
    for (size_t i = 0; i < file->n_partition_values; i++) {
        assert_true(sl_value_copy(&fx->arena, &file->partition_values[i], &kept->partition_values[i]));
    }
    kept->stats = sl_arena_alloc_array(&fx->arena, file->n_stats, sizeof(silt_column_stats));
    kept->n_stats = file->n_stats;
    for (size_t i = 0; i < file->n_stats; i++) {
        silt_column_stats *stats = &kept->stats[i];
        *stats = file->stats[i];
        const char **path = sl_arena_alloc_array(&fx->arena, stats->path_len, sizeof(char *));
        for (size_t p = 0; p < stats->path_len; p++) {
            path[p] = sl_arena_strdup(&fx->arena, sl_str_from(stats->path[p]));
        }
        stats->path = path;
        assert_true(!stats->has_min || sl_value_copy(&fx->arena, &file->stats[i].min, &stats->min));
        assert_true(!stats->has_max || sl_value_copy(&fx->arena, &file->stats[i].max, &stats->max));
    }
    return true;
}

silt_status duck_try_write(struct duck_fixture *fx, const char *sql, const silt_schema *schema,
                           const struct duck_write_options *options)
{
    static const struct duck_write_options plain = {0};
    const struct duck_write_options *o = options != NULL ? options : &plain;
    const silt_parquet_write request = {
        .size = sizeof(request),
        .storage = fx->storage,
        .dir = fx->root,
        .path_prefix = o->prefix != NULL ? o->prefix : "",
        .schema = schema,
        .partition_columns = o->partition_columns,
        .n_partition_columns = o->n_partition_columns,
        .codec = o->codec != NULL ? o->codec : "zstd",
        .target_file_size = o->target_file_size > 0 ? o->target_file_size : INT64_C(128) << 20,
        .row_group_rows = o->row_group_rows,
        .on_file = keep_file,
        .on_file_ctx = fx,
    };
    fx->files.len = 0;
    silt_error_reset(&fx->err);
    return fx->plane.vtable->write_query(fx->plane.dp, fx->call, sl_str_from(sql), NULL, &request, &fx->err);
}

void duck_write(struct duck_fixture *fx, const char *sql, const silt_schema *schema,
                const struct duck_write_options *options)
{
    need(fx, duck_try_write(fx, sql, schema, options));
}

const struct duck_written *duck_file(const struct duck_fixture *fx, size_t index)
{
    assert_true(index < fx->files.len);
    return sl_vec_at(&fx->files, index);
}

const silt_column_stats *duck_stats(const struct duck_fixture *fx, size_t file, const char *path)
{
    const struct duck_written *written = duck_file(fx, file);
    for (size_t i = 0; i < written->n_stats; i++) {
        struct sl_buf name;
        sl_buf_init(&name, fx->env);
        for (size_t p = 0; p < written->stats[i].path_len; p++) {
            sl_buf_printf(&name, "%s%s", p == 0 ? "" : ".", written->stats[i].path[p]);
        }
        const bool same = strcmp(sl_buf_cstr(&name), path) == 0;
        sl_buf_release(&name);
        if (same) {
            return &written->stats[i];
        }
    }
    return NULL;
}

const char *duck_stats_text(struct duck_fixture *fx, size_t file, const char *path)
{
    const silt_column_stats *stats = duck_stats(fx, file, path);
    assert_non_null(stats);
    sl_buf_clear(&fx->text);
    if (stats->has_min) {
        sl_value_print(&fx->text, &stats->min);
    }
    sl_buf_put_c(&fx->text, stats->has_min ? ".." : "-..");
    if (stats->has_max) {
        sl_value_print(&fx->text, &stats->max);
    }
    sl_buf_printf(&fx->text, "%s %lld", stats->has_max ? "" : "-", (long long)stats->null_count);
    return sl_buf_cstr(&fx->text);
}

/* ---- scanning ---- */

const silt_scan_plan *duck_plan(struct duck_fixture *fx, const silt_schema *schema,
                                const struct duck_write_options *options, const char *filter)
{
    silt_scan_plan *plan = sl_arena_alloc_zero(&fx->arena, sizeof(*plan));
    silt_plan_file *files = sl_arena_alloc_array(&fx->arena, fx->files.len, sizeof(*files));
    silt_plan_column *columns = sl_arena_alloc_array(&fx->arena, silt_schema_field_count(schema), sizeof(*columns));
    for (size_t i = 0; i < fx->files.len; i++) {
        const struct duck_written *file = duck_file(fx, i);
        files[i] = (silt_plan_file){.path = file->full,
                                    .local_path = fx->in_memory ? NULL : file->full,
                                    .size_bytes = file->size_bytes,
                                    .partition_values = file->partition_values,
                                    .num_records = file->num_rows,
                                    .base_row_id = -1,
                                    .row_commit_version = -1};
    }
    for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
        columns[i] = (silt_plan_column){SILT_FROM_FILE, -1};
        for (size_t p = 0; options != NULL && p < options->n_partition_columns; p++) {
            if (strcmp(silt_field_name(silt_schema_field(schema, i)), options->partition_columns[p]) == 0) {
                columns[i] = (silt_plan_column){SILT_FROM_PARTITION, (int32_t)p};
            }
        }
    }
    *plan = (silt_scan_plan){.size = sizeof(*plan),
                             .storage = fx->storage,
                             .logical = schema,
                             .physical = schema,
                             .columns = columns,
                             .n_partition_columns = options != NULL ? options->n_partition_columns : 0,
                             .files = files,
                             .n_files = fx->files.len,
                             .table = "t"};
    if (filter != NULL) {
        silt_expr *expr = NULL;
        need(fx, silt_expr_parse(fx->env, filter, strlen(filter), schema, &expr, &fx->err));
        plan->filter = expr;
        silt_expr **kept = sl_vec_push(&fx->filters);
        *kept = expr;
    }
    return plan;
}

silt_status duck_try_scan(struct duck_fixture *fx, const silt_scan_plan *plan)
{
    struct ArrowArrayStream stream = {0};
    silt_error_reset(&fx->err);
    sl_buf_clear(&fx->text);
    const silt_status status = fx->plane.vtable->parquet->scan(fx->plane.dp, fx->call, plan, &stream, &fx->err);
    return status == SILT_OK ? rows_drain(&stream, &fx->text, &fx->err) : status;
}

const char *duck_scan_text(struct duck_fixture *fx, const silt_scan_plan *plan, const char *columns, const char *rest)
{
    struct sl_dataplane_scan *scan = NULL;
    struct sl_buf sql;
    sl_buf_init(&sql, fx->env);
    sl_buf_printf(&sql, "SELECT %s FROM (", columns);
    need(fx, fx->plane.vtable->scan_open(fx->plane.dp, plan, &scan, &sql, &fx->err));
    sl_buf_printf(&sql, ") AS t %s", rest);
    const char *text = duck_text(fx, sl_buf_cstr(&sql));
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    sl_buf_release(&sql);
    return text;
}

/* nftw has no context of its own. */
static size_t counted;

static int count_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)path;
    (void)info;
    (void)at;
    counted += kind == FTW_F ? 1 : 0;
    return 0;
}

size_t duck_count_files(const char *dir)
{
    counted = 0;
    (void)nftw(dir, count_entry, 16, FTW_PHYS);
    return counted;
}
