/*
 * Files of about the wanted size. Before a COPY: will the result be much larger than one file (by the plan's estimate)? After it:
 * what came out too large is copied once more into pieces of equal row counts, in order.
 */
#include "duck_write.h"

#include <unistd.h>

#include "base/error.h"
#include "json/json.h"

/* A file may be this much larger than the target before it is split. */
#define TOLERANCE_PERCENT 130
/* Share of a value's size in memory that is left in a file, roughly. */
#define FILE_SHARE_PERCENT 40
/* Nodes that are followed down a plan in search of an estimate. */
#define MAX_PLAN_DEPTH 200

/* ---- estimating ---- */

static int64_t width_of(const struct silt_type *type)
{
    switch (type->kind) {
    case SILT_TYPE_BOOLEAN:
    case SILT_TYPE_BYTE: return 1;
    case SILT_TYPE_SHORT: return 2;
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DATE: return 4;
    case SILT_TYPE_DECIMAL: return type->precision <= 18 ? 8 : 16;
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: return 24;
    case SILT_TYPE_STRUCT:
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: return 48;
    default: return 8;
    }
}

/* Reads the plan from the root down its first children: an estimate, and whether a sort stands above everything else. */
static void read_plan(const sl_json *root, int64_t *rows, bool *sorted)
{
    const sl_json *node = NULL;
    struct sl_json_iter iter = sl_json_iterate(root);
    struct sl_str key;
    bool on_top = true;
    if (!sl_json_next(&iter, &key, &node)) {
        return;
    }
    for (int depth = 0; node != NULL && depth < MAX_PLAN_DEPTH; depth++) {
        struct sl_str name = {NULL, 0};
        struct sl_str estimate = {NULL, 0};
        int64_t number = 0;
        (void)sl_json_to_str(sl_json_member(node, "name"), &name); /* absent: no sort */
        if (sl_str_eq_c(sl_str_trim(name), "ORDER_BY")) {
            *sorted = on_top;
        }
        on_top = on_top && sl_str_eq_c(sl_str_trim(name), "PROJECTION");
        const sl_json *extra = sl_json_member(node, "extra_info");
        if (sl_json_to_str(sl_json_member(extra, "Estimated Cardinality"), &estimate) &&
            sl_str_to_i64(estimate, &number) && *rows == 0) {
            *rows = number;
        }
        const sl_json *children = sl_json_member(node, "children");
        struct sl_json_iter below = sl_json_iterate(children);
        if (!sl_json_next(&below, &key, &node)) {
            return;
        }
    }
}

silt_status sl_duck_plan(struct sl_duck_writing *w, const struct sl_duck_write_source *source,
                         struct sl_duck_promise *out, silt_error *err)
{
    *out = (struct sl_duck_promise){0};
    const silt_env *env = w->conn.dp->env;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    struct sl_json_doc *doc = NULL;
    struct sl_buf sql;
    sl_buf_init(&sql, env);
    sl_buf_put_c(&sql, "EXPLAIN (FORMAT json) ");
    sl_buf_put_str(&sql, source->sql);
    silt_status status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql), .params = source->params};
        status = sl_duck_run(&w->conn, w->call, &run, &result, err);
    }
    if (status == SILT_OK) {
        status = sl_duck_fetch(&w->conn, w->call, &result, &chunk, err);
    }
    int64_t rows = 0;
    bool sorted = false;
    if (status == SILT_OK && chunk != NULL && duckdb_data_chunk_get_column_count(chunk) > 1) {
        const struct sl_str plan = sl_duck_cell_str(chunk, 1, 0);
        /* A plan that cannot be read gives no estimate: one file is written and split if need be. */
        if (plan.ptr != NULL && sl_json_parse(env, plan, &doc, NULL) == SILT_OK) {
            read_plan(sl_json_root(doc), &rows, &sorted);
        }
    }
    int64_t width = 0;
    for (size_t i = 0; i < w->request->schema->root.n_fields; i++) {
        width += width_of(w->request->schema->root.fields[i].type);
    }
    const double bytes = (double)rows * (double)width * FILE_SHARE_PERCENT / 100.0;
    out->sorted = sorted;
    out->large = bytes > (double)w->request->target_file_size;
    sl_json_free(doc);
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    sl_buf_release(&sql);
    return status;
}

/* ---- splitting ---- */

static silt_status copy_piece(struct sl_duck_writing *w, const struct sl_duck_staged *whole, int64_t first,
                              int64_t rows, silt_error *err)
{
    const char *target = sl_arena_printf(&w->arena, "%s.%lld", whole->local, (long long)first);
    if (target == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_buf sql;
    sl_buf_init(&sql, w->conn.dp->env);
    sl_buf_put_c(&sql, "COPY (SELECT * FROM read_parquet(");
    sl_duck_put_paths(&sql, &whole->local, 1);
    const int64_t end = first + rows;
    sl_buf_printf(&sql, ", hive_partitioning = false) WHERE file_row_number >= %lld AND file_row_number < %lld) TO ",
                  (long long)first, (long long)end);
    sl_duck_put_text(&sql, sl_str_from(target));
    silt_status status = sl_duck_put_copy_options(w, &sql, rows, err);
    sl_buf_put_char(&sql, ')');
    if (status == SILT_OK) {
        status = sl_buf_status(&sql, err);
    }
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql)};
        status = sl_duck_run_copy(w, &run, err);
    }
    sl_buf_release(&sql);
    return status;
}

static silt_status split_file(struct sl_duck_writing *w, const struct sl_duck_staged *whole, silt_error *err)
{
    const int64_t target = w->request->target_file_size;
    int64_t pieces = whole->size_bytes / target + (whole->size_bytes % target != 0 ? 1 : 0);
    pieces = pieces > whole->num_rows ? whole->num_rows : pieces;
    const int64_t each = whole->num_rows / pieces + (whole->num_rows % pieces != 0 ? 1 : 0);
    for (int64_t first = 0; first < whole->num_rows; first += each) {
        const int64_t left = whole->num_rows - first;
        const size_t before = w->files.len;
        SL_TRY(copy_piece(w, whole, first, left < each ? left : each, err));
        if (w->files.len != before + 1) {
            return sl_fail(err, SILT_EENGINE, NULL, "splitting a file of %lld rows lost rows",
                           (long long)whole->num_rows);
        }
        struct sl_duck_staged *piece = sl_vec_at(&w->files, before);
        piece->partition_values = whole->partition_values;
        piece->partition_texts = whole->partition_texts;
    }
    /* Room for the next pieces; the staging folder goes anyway. */
    (void)unlink(whole->local);
    return SILT_OK;
}

int64_t sl_duck_split_limit(const silt_parquet_write *request)
{
    const int64_t target = request->target_file_size;
    if (target <= 0 || target > INT64_MAX / TOLERANCE_PERCENT) {
        return INT64_MAX;
    }
    return target / 100 * TOLERANCE_PERCENT + target % 100 * TOLERANCE_PERCENT / 100;
}

silt_status sl_duck_split(struct sl_duck_writing *w, silt_error *err)
{
    const int64_t most = sl_duck_split_limit(w->request);
    if (most == INT64_MAX) {
        return SILT_OK;
    }
    struct sl_vec written = w->files;
    sl_vec_init(&w->files, w->conn.dp->env, sizeof(struct sl_duck_staged));
    w->splitting = true;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < written.len && status == SILT_OK; i++) {
        struct sl_duck_staged *file = sl_vec_at(&written, i);
        if (file->size_bytes > most && file->num_rows > 1 && w->mode != SL_DUCK_SENT_GIVEN) {
            sl_duck_send_call_off(w, file);
            status = split_file(w, file, err);
            continue;
        }
        struct sl_duck_staged *kept = sl_vec_push(&w->files);
        if (kept == NULL) {
            status = sl_fail_nomem(err);
        } else {
            *kept = *file;
        }
    }
    w->splitting = false;
    sl_vec_release(&written);
    return status;
}
