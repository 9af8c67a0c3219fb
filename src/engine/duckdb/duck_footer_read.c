/*
 * Reading of footers through DuckDB: schemas by parquet_schema, about 40 µs a file, and what writers say of their calendar by
 * parquet_kv_metadata, as much again, of files that have dates or timestamps only. One owner a request.
 */
#include "duck_footer.h"

#include <sys/stat.h>

#include "base/error.h"

/* Nodes of one file's schema. */
#define MAX_NODES 1000000

/* Opening a pipe or a device would wait for a writer that never comes. What is missing is for DuckDB to report. */
static silt_status check_regular(const struct sl_footers_request *request, silt_error *err)
{
    for (size_t i = 0; i < request->n; i++) {
        struct stat found;
        if (stat(request->files->local[request->which[i]], &found) == 0 && !S_ISREG(found.st_mode)) {
            const char *path = request->files->sources[request->which[i]].path;
            const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND",
                                               "data file %s is no regular file", path);
            sl_error_path(err, path);
            return status;
        }
    }
    return SILT_OK;
}

/* Rows of a table function over the files, one by one. */
typedef silt_status (*take_row)(void *ctx, duckdb_data_chunk chunk, idx_t row, silt_error *err);

static silt_status each_row(const struct sl_footers_request *request, const struct sl_buf *sql, take_row take,
                            void *ctx, silt_error *err)
{
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    silt_status status = sl_duck_exec(request->conn, request->call, sql, &result, err);
    while (status == SILT_OK) {
        status = sl_duck_fetch(request->conn, request->call, &result, &chunk, err);
        if (status != SILT_OK || chunk == NULL) {
            break;
        }
        const idx_t n = duckdb_data_chunk_get_size(chunk);
        for (idx_t row = 0; row < n && status == SILT_OK; row++) {
            status = take(ctx, chunk, row, err);
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return status;
}

/* ---- schemas ---- */

/* One schema as it arrives, node by node. */
struct collector {
    const struct sl_footers_request *request;
    size_t done; /* files */
    struct sl_arena arena;
    struct sl_vec nodes;
    struct sl_buf key;
    int64_t missing; /* nodes that must still come */
};

static bool copy_cell(struct collector *c, duckdb_data_chunk chunk, idx_t column, idx_t row, struct sl_str *out)
{
    *out = sl_duck_cell_str(chunk, column, row);
    sl_buf_printf(&c->key, "%zu:", out->len);
    sl_buf_put_str(&c->key, *out);
    if (out->ptr != NULL) {
        *out = sl_arena_copy(&c->arena, *out);
        return out->ptr != NULL;
    }
    return true;
}

static bool push_node(struct collector *c, duckdb_data_chunk chunk, idx_t row)
{
    struct sl_footer_node *node = sl_vec_push(&c->nodes);
    if (node == NULL) {
        return false;
    }
    int64_t children = 0;
    node->field_id = -1;
    (void)sl_duck_cell_i64(chunk, 2, row, &children); /* NULL: a leaf */
    (void)sl_duck_cell_i64(chunk, 6, row, &node->field_id);
    node->n_children = children > 0 && children < MAX_NODES ? (uint32_t)children : 0;
    node->repeated = sl_str_eq_c(sl_duck_cell_str(chunk, 5, row), "REPEATED");
    const bool fine = copy_cell(c, chunk, 1, row, &node->name) && copy_cell(c, chunk, 3, row, &node->type) &&
                      copy_cell(c, chunk, 4, row, &node->converted) && copy_cell(c, chunk, 7, row, &node->physical) &&
                      copy_cell(c, chunk, 8, row, &node->logical);
    if (sl_str_eq_c(node->converted, "LIST")) {
        node->shape = SL_SHAPE_LIST;
    } else if (sl_str_eq_c(node->converted, "MAP") || sl_str_eq_c(node->converted, "MAP_KEY_VALUE")) {
        node->shape = SL_SHAPE_MAP;
    }
    node->int96 = sl_str_eq_c(node->physical, "INT96");
    sl_buf_printf(&c->key, "%u,%d,%lld;", node->n_children, (int)node->repeated, (long long)node->field_id);
    c->missing += (int64_t)node->n_children - 1;
    return fine;
}

static void reset_collector(struct collector *c)
{
    c->nodes.len = 0;
    c->missing = 1;
    sl_buf_clear(&c->key);
    const silt_env *env = c->arena.env;
    sl_arena_release(&c->arena);
    sl_arena_init(&c->arena, env);
}

static silt_status take_node(void *ctx, duckdb_data_chunk chunk, idx_t row, silt_error *err)
{
    struct collector *c = ctx;
    const struct sl_footers_request *request = c->request;
    if (c->done >= request->n) {
        return sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of more files than were asked for");
    }
    const size_t index = request->which[c->done];
    const char *local = request->files->local[index];
    if (c->nodes.len == 0 && !sl_str_eq_c(sl_duck_cell_str(chunk, 0, row), local)) {
        return sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of another file than %s", local);
    }
    if (c->nodes.len >= MAX_NODES || !push_node(c, chunk, row)) {
        return sl_fail_nomem(err);
    }
    if (c->missing > 0) {
        return SILT_OK;
    }
    SL_TRY(sl_buf_status(&c->key, err));
    const struct sl_footer footer = {.nodes = sl_vec_at(&c->nodes, 0), .n_nodes = c->nodes.len};
    request->footers[index] = sl_footer_intern(request->conn->dp, &footer, sl_buf_view(&c->key));
    if (request->footers[index] == NULL) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the schema in the footer of %s cannot be understood",
                       request->files->sources[index].path);
    }
    reset_collector(c);
    c->done++;
    return SILT_OK;
}

static void put_files(struct sl_buf *sql, const struct sl_footers_request *request, const size_t *which, size_t n)
{
    sl_buf_put_char(sql, '[');
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ",");
        sl_duck_put_path(sql, request->files->local[which[i]]);
    }
    sl_buf_put_char(sql, ']');
}

static silt_status read_schemas(const struct sl_footers_request *request, silt_error *err)
{
    const silt_env *env = request->conn->dp->env;
    struct collector c = {.request = request, .missing = 1};
    sl_arena_init(&c.arena, env);
    sl_vec_init(&c.nodes, env, sizeof(struct sl_footer_node));
    sl_buf_init(&c.key, env);
    struct sl_buf sql;
    sl_buf_init(&sql, env);
    sl_buf_put_c(&sql, "SELECT file_name, name, num_children::BIGINT, duckdb_type, converted_type, repetition_type, "
                       "field_id::BIGINT, type, logical_type FROM parquet_schema(");
    put_files(&sql, request, request->which, request->n);
    sl_buf_put_char(&sql, ')');
    silt_status status = each_row(request, &sql, take_node, &c, err);
    if (status == SILT_OK && c.done != request->n) {
        status = sl_fail(err, SILT_EENGINE, NULL, "DuckDB read %zu footers instead of %zu", c.done, request->n);
    }
    sl_buf_release(&sql);
    sl_buf_release(&c.key);
    sl_vec_release(&c.nodes);
    sl_arena_release(&c.arena);
    return status;
}

/* ---- facts ---- */

/* The facts of one file as they arrive, key by key; files come in their order. */
struct facts {
    const struct sl_footers_request *request;
    const size_t *which;
    size_t n;
    size_t at; /* place in `which` of the file whose keys come now */
    bool any;
    struct sl_arena arena;
    struct sl_footer_facts now;
};

/* The keys of a file are complete. */
static silt_status close_facts(struct facts *facts, silt_error *err)
{
    if (!facts->any) {
        return SILT_OK;
    }
    struct sl_footer **slot = &facts->request->footers[facts->which[facts->at]];
    struct sl_footer with = **slot;
    with.facts = facts->now;
    struct sl_buf key;
    sl_buf_init(&key, facts->arena.env);
    sl_buf_put_str(&key, (*slot)->key);
    sl_buf_printf(&key, "|%d%d|%zu:", (int)with.facts.legacy_datetime, (int)with.facts.legacy_int96,
                  with.facts.spark_version.len);
    sl_buf_put_str(&key, with.facts.spark_version);
    sl_buf_put_str(&key, with.facts.time_zone);
    silt_status status = sl_buf_status(&key, err);
    if (status == SILT_OK) {
        *slot = sl_footer_intern(facts->request->conn->dp, &with, sl_buf_view(&key));
        status = *slot != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&key);
    facts->any = false;
    facts->now = (struct sl_footer_facts){0};
    return status;
}

static silt_status take_fact(void *ctx, duckdb_data_chunk chunk, idx_t row, silt_error *err)
{
    struct facts *facts = ctx;
    const struct sl_str file = sl_duck_cell_str(chunk, 0, row);
    const struct sl_str key = sl_duck_cell_str(chunk, 1, row);
    const struct sl_str value = sl_duck_cell_str(chunk, 2, row);
    while (!sl_str_eq_c(file, facts->request->files->local[facts->which[facts->at]])) {
        SL_TRY(close_facts(facts, err));
        if (++facts->at >= facts->n) {
            return sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of a file that was not asked for");
        }
    }
    facts->any = true;
    if (sl_str_eq_c(key, "org.apache.spark.legacyDateTime")) {
        facts->now.legacy_datetime = true;
        return SILT_OK;
    }
    if (sl_str_eq_c(key, "org.apache.spark.legacyINT96")) {
        facts->now.legacy_int96 = true;
        return SILT_OK;
    }
    struct sl_str *text = sl_str_eq_c(key, "org.apache.spark.timeZone") ? &facts->now.time_zone
                                                                        : &facts->now.spark_version;
    *text = sl_arena_copy(&facts->arena, value);
    return text->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status read_facts(const struct sl_footers_request *request, silt_error *err)
{
    const silt_env *env = request->conn->dp->env;
    struct facts facts = {.request = request};
    sl_arena_init(&facts.arena, env);
    struct sl_buf sql;
    sl_buf_init(&sql, env);
    silt_status status = SILT_OK;
    size_t *which = sl_arena_alloc_array(&facts.arena, request->n, sizeof(*which));
    if (which == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    facts.which = which;
    for (size_t i = 0; i < request->n; i++) {
        if (request->footers[request->which[i]]->has_times) {
            which[facts.n++] = request->which[i];
        }
    }
    if (facts.n == 0) {
        goto out;
    }
    sl_buf_put_c(&sql, "SELECT file_name, key, value FROM parquet_kv_metadata(");
    put_files(&sql, request, which, facts.n);
    sl_buf_put_c(&sql, ") WHERE key IN ('org.apache.spark.version', 'org.apache.spark.timeZone', "
                       "'org.apache.spark.legacyDateTime', 'org.apache.spark.legacyINT96')");
    status = each_row(request, &sql, take_fact, &facts, err);
    if (status == SILT_OK) {
        status = close_facts(&facts, err);
    }
out:
    sl_buf_release(&sql);
    sl_arena_release(&facts.arena);
    return status;
}

silt_status sl_footers_read(const struct sl_footers_request *request, silt_error *err)
{
    SL_TRY(check_regular(request, err));
    SL_TRY(read_schemas(request, err));
    return read_facts(request, err);
}
