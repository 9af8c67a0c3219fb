/*
 * The Parquet handler's read: data files and checkpoints as Arrow, in exactly the wanted types.
 *
 * Each file is a query of its own with a streaming result, started when the one before it is used up: batches then never mix
 * files, rows keep their order, and no more of a large checkpoint is in memory than DuckDB's buffer. A materialised result would be
 * read by all threads at once, but takes 250 MB for the paths of a million files and a fifth more CPU time. One owner a stream.
 */
#include "duck_fetch.h"
#include "duck_footer.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "expr/expr.h"

/* Bits of a set of members. */
#define MAX_ANY_OF 64
/* Ranges of rows in the text of a query. */
#define MAX_RANGES 256

struct read {
    struct sl_dataplane *dp;
    silt_storage *storage;
    silt_call call;
    bool has_call;
    struct sl_arena arena;
    struct sl_duck_source *files;
    size_t n_files;
    silt_schema *schema;
    bool match_by_field_id;
    bool with_file_index;
    bool with_row_index;
    silt_expr *predicate;
    struct sl_duck_sparse any_of; /* n 0: every row is wanted */
    bool lax_structs;
    const int64_t *rows; /* of the only file; n_rows 0: all */
    size_t n_rows;
    struct sl_duck_pick *pick;    /* of the rows, or NULL */
    const silt_row_range *ranges; /* of the only file; n_ranges 0: all */
    size_t n_ranges;
    silt_parquet_leaf sifted;  /* the text that `sift` judges */
    struct sl_duck_sift *sift; /* NULL: every row is wanted */
    size_t next_file;
    struct sl_duck_files opened; /* the file that is read now */
    struct sl_duck_reader reader;
    bool reading;
};

static const silt_call *call_of(const struct read *read)
{
    return read->has_call ? &read->call : NULL;
}

static void close_read(void *ctx)
{
    struct read *read = ctx;
    const silt_env *env = read->dp->env;
    sl_duck_reader_close(&read->reader);
    sl_duck_files_close(&read->opened);
    sl_duck_pick_drop(read->pick);
    sl_duck_sift_drop(read->sift);
    silt_expr_unref(read->predicate);
    silt_schema_unref(read->schema);
    sl_arena_release(&read->arena);
    sl_release(env, read, sizeof(*read));
}

static bool is_wanted(void *ctx, const struct sl_str *path, size_t path_len)
{
    const struct read *read = ctx;
    return path_len > 0 && sl_type_find(&read->schema->root, path[0], NULL) != NULL;
}

/* How the columns of the opened file are read, as of any file of a scan (duck_column.c). Checks the file first. */
static silt_status read_columns(struct read *read, struct sl_arena *arena, struct sl_duck_reading *readings,
                                const struct sl_str *aliases, silt_error *err)
{
    struct sl_duck_conn conn;
    struct sl_footer *footer = NULL;
    const struct silt_type *root = &read->schema->root;
    const struct sl_duck_check check = {.type = root, .match_by_field_id = read->match_by_field_id};
    SL_TRY(sl_duck_connect(read->dp, &conn, err));
    silt_status status = sl_footers_enter(&conn, call_of(read), &read->opened, &footer, err);
    if (status == SILT_OK) {
        status = sl_footers_check(read->dp, &read->opened, &footer, &check, err);
    }
    for (size_t i = 0; i < root->n_fields && status == SILT_OK; i++) {
        const struct sl_duck_column column = {.logical = &root->fields[i],
                                              .physical = &root->fields[i],
                                              .by_id = read->match_by_field_id,
                                              .path = read->opened.sources[0].path,
                                              .alias = aliases[i]};
        status = sl_duck_column_read(arena, footer, &column, &readings[i], err);
        if (status == SILT_OK && readings[i].aside) {
            status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                             "column %.*s of file %s holds annotated variants or nanoseconds, which only a scan reads",
                             SL_FMT(root->fields[i].name), read->opened.sources[0].path);
        }
    }
    sl_footers_leave(read->dp);
    sl_duck_disconnect(&conn);
    return status;
}

/* What tells of a row where it lies. */
static void put_places(const struct read *read, size_t file, struct sl_buf *sql)
{
    const bool follows = read->schema->root.n_fields > 0;
    if (read->with_file_index) {
        sl_buf_put_c(sql, follows ? ", " : "");
        sl_buf_printf(sql, "%zu::BIGINT AS _silt_file_index", file);
    }
    if (read->with_row_index) {
        sl_buf_put_c(sql, follows || read->with_file_index ? ", " : "");
        sl_buf_put_c(sql,
                     read->n_files == 0 ? "NULL::BIGINT AS _silt_row_index" : "file_row_number AS _silt_row_index");
    }
}

/* Columns are put by position under names of their own, so that names of virtual columns and of data never meet. */
static silt_status put_columns(const struct read *read, size_t file, const struct sl_duck_reading *readings,
                               struct sl_buf *sql, silt_error *err)
{
    const struct silt_type *root = &read->schema->root;
    sl_buf_put_c(sql, "SELECT ");
    for (size_t i = 0; i < root->n_fields; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        if (read->n_files == 0) {
            sl_buf_put_c(sql, "NULL::");
            SL_TRY(sl_duck_put_type(sql, root->fields[i].type, err));
        } else {
            sl_buf_put_str(sql, readings[i].mapped);
        }
        sl_buf_put_c(sql, " AS ");
        sl_duck_put_ident(sql, root->fields[i].name);
    }
    put_places(read, file, sql);
    return SILT_OK;
}

/* " WHERE …" for the rows that have one of the wanted members, or are named; nothing when all rows are wanted. */
static silt_status put_wanted_rows(struct read *read, struct sl_buf *sql, silt_error *err)
{
    if (read->n_rows > 0) {
        sl_buf_put_c(sql, " WHERE ");
        sl_duck_put_picked(sql, read->rows, read->n_rows, read->pick);
    } else if (read->n_ranges > 0) {
        sl_buf_put_c(sql, " WHERE ");
        sl_duck_put_row_ranges(sql, read->ranges, read->n_ranges);
    }
    if (read->any_of.n == 0) {
        return SILT_OK;
    }
    sl_buf_put_c(sql, read->n_rows > 0 || read->n_ranges > 0 ? " AND " : " WHERE ");
    return sl_duck_put_sparse(read->dp, call_of(read), read->opened.local[0], &read->any_of, sql, err);
}

static void put_source(const struct read *read, const struct sl_duck_reading *readings, const struct sl_str *aliases,
                       struct sl_buf *sql)
{
    const size_t n = read->schema->root.n_fields;
    sl_buf_put_c(sql, " FROM read_parquet(");
    sl_duck_put_paths(sql, read->opened.local, 1);
    sl_buf_put_c(sql, ", schema = map{");
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(sql, i > 0 ? ", " : "");
        sl_duck_put_text(sql, readings[i].stored);
        sl_duck_put_map_entry(sql, aliases[i], readings[i].declared);
    }
    if (n == 0) {
        sl_duck_put_no_column(sql);
    }
    sl_buf_put_c(sql, "})");
}

/* The query for one file by members of its structs, if it has them as they are wanted. */
static silt_status put_members_query(struct read *read, size_t file, struct sl_buf *sql, bool *possible,
                                     silt_error *err)
{
    struct sl_duck_conn conn;
    struct sl_footer *footer = NULL;
    *possible = false;
    SL_TRY(sl_duck_connect(read->dp, &conn, err));
    bool can_sift = false;
    silt_status status = sl_footers_enter(&conn, call_of(read), &read->opened, &footer, err);
    if (status == SILT_OK) {
        const struct sl_footer_node *leaf = sl_footer_find_leaf(footer, &read->sifted);
        const struct sl_duck_check check = {.type = &read->schema->root};
        can_sift = read->sift != NULL && leaf != NULL && sl_str_eq_c(leaf->type, "VARCHAR");
        status = sl_footers_check(read->dp, &read->opened, &footer, &check, err);
    }
    if (status == SILT_OK) {
        sl_buf_put_c(sql, "SELECT ");
        status = sl_duck_put_members(sql, footer, &read->schema->root, possible, err);
    }
    sl_footers_leave(read->dp);
    sl_duck_disconnect(&conn);
    if (status == SILT_OK && *possible) {
        put_places(read, file, sql);
        sl_buf_put_c(sql, " FROM read_parquet(");
        sl_duck_put_paths(sql, read->opened.local, 1);
        sl_buf_put_c(sql, ", hive_partitioning = false)");
        status = put_wanted_rows(read, sql, err);
        if (status == SILT_OK && can_sift) {
            const bool follows = read->n_rows > 0 || read->n_ranges > 0 || read->any_of.n > 0;
            sl_buf_put_c(sql, follows ? " AND " : " WHERE ");
            sl_duck_put_sifted(sql, read->sift, &read->sifted);
        }
    }
    /* A query that ends early may be one all the same, of other rows. */
    return status == SILT_OK && *possible ? sl_buf_status(sql, err) : status;
}

/* The query for one file; for no file at all a query without rows. */
static silt_status put_query(struct read *read, size_t file, struct sl_buf *sql, silt_error *err)
{
    const size_t n = read->schema->root.n_fields;
    const bool filtered = read->predicate != NULL && read->n_files > 0;
    struct sl_arena arena;
    sl_arena_init(&arena, read->dp->env);
    silt_status status = SILT_OK;
    struct sl_str *aliases = sl_arena_alloc_array(&arena, n, sizeof(*aliases));
    struct sl_duck_reading *readings = sl_arena_alloc_array(&arena, n, sizeof(*readings));
    if (aliases == NULL || readings == NULL) {
        status = sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        aliases[i] = sl_str_from(sl_arena_printf(&arena, "silt column %zu", i));
        status = aliases[i].ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    if (status == SILT_OK && read->n_files > 0 && n > 0) {
        status = read_columns(read, &arena, readings, aliases, err);
    }
    if (status == SILT_OK) {
        sl_buf_put_c(sql, filtered ? "SELECT * FROM (" : "");
        status = put_columns(read, file, readings, sql, err);
    }
    if (status == SILT_OK && read->n_files > 0) {
        put_source(read, readings, aliases, sql);
        status = put_wanted_rows(read, sql, err);
    } else if (status == SILT_OK) {
        sl_buf_put_c(sql, " WHERE false");
    }
    if (status == SILT_OK && filtered) {
        sl_buf_put_c(sql, ") WHERE ");
        status = sl_expr_print_duckdb(sql, read->predicate->root, err);
    }
    sl_arena_release(&arena);
    return status == SILT_OK ? sl_buf_status(sql, err) : status;
}

/* The rows that DuckDB may look at: it leaves out row groups before the first and after the last wanted one for certain. */
static size_t outer_range(const struct read *read, silt_row_range *out)
{
    if (read->n_rows > 0) {
        *out = (silt_row_range){read->rows[0], read->rows[read->n_rows - 1] + 1};
    } else if (read->n_ranges > 0) {
        *out = (silt_row_range){read->ranges[0].begin, read->ranges[read->n_ranges - 1].end};
    }
    return read->n_rows > 0 || read->n_ranges > 0 ? 1 : 0;
}

/* Brings what the query may read of the opened file, if it is a remote one. */
static silt_status bring_wanted(struct read *read, silt_error *err)
{
    const struct silt_type *root = &read->schema->root;
    silt_row_range range = {0, 0};
    if (read->opened.fetch == NULL) {
        return SILT_OK;
    }
    struct sl_str *names = sl_arena_alloc_array(&read->opened.arena, root->n_fields, sizeof(*names));
    int64_t *ids = sl_arena_alloc_array(&read->opened.arena, root->n_fields, sizeof(*ids));
    if (names == NULL || ids == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        names[i] = root->fields[i].name;
        ids[i] = read->match_by_field_id ? sl_footer_wanted_id(&root->fields[i]) : -1;
    }
    const struct sl_duck_wanted wanted = {
        .names = names, .ids = ids, .n = root->n_fields, .ranges = &range, .n_ranges = outer_range(read, &range)};
    SL_TRY(sl_duck_fetch_begin(read->opened.fetch, &read->opened, &wanted, err));
    return sl_duck_fetch_wait(read->opened.fetch, call_of(read), err);
}

static silt_status open_next(struct read *read, silt_error *err)
{
    sl_duck_reader_close(&read->reader);
    sl_duck_files_close(&read->opened);
    read->reading = false;
    if (read->n_files > 0) {
        SL_TRY(sl_duck_files_open(read->dp, call_of(read), read->storage, &read->files[read->next_file], 1,
                                  &read->opened, err));
        SL_TRY(bring_wanted(read, err));
    }
    struct sl_buf sql;
    sl_buf_init(&sql, read->dp->env);
    bool by_members = read->lax_structs && read->n_files > 0 && !read->match_by_field_id && read->predicate == NULL;
    silt_status status = SILT_OK;
    if (by_members) {
        status = put_members_query(read, read->next_file, &sql, &by_members, err);
    }
    if (status == SILT_OK && !by_members) {
        sl_buf_clear(&sql);
        status = put_query(read, read->next_file, &sql, err);
    }
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql), .streaming = true, .in_utc = true};
        status = sl_duck_reader_open(read->dp, call_of(read), &run, &read->reader, err);
    }
    sl_buf_release(&sql);
    if (status == SILT_OK) {
        read->reading = true;
        read->next_file++;
    }
    return status;
}

static silt_status read_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct read *read = ctx;
    *out = (struct ArrowSchema){0};
    if (!read->reading) {
        SL_TRY(open_next(read, err));
    }
    return sl_duck_reader_schema(&read->reader, out, err);
}

static silt_status read_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct read *read = ctx;
    *batch = (struct ArrowArray){0};
    for (;;) {
        if (read->reading) {
            SL_TRY(sl_duck_reader_next(&read->reader, batch, err));
            if (batch->release != NULL) {
                return SILT_OK;
            }
        }
        if (read->next_file >= read->n_files) {
            return SILT_OK;
        }
        SL_TRY(open_next(read, err));
    }
}

/* Only a hint. */
static silt_status copy_rows(struct read *read, const silt_parquet_read *request, silt_error *err)
{
    const bool knows = request->size >= offsetof(silt_parquet_read, n_rows) + sizeof(request->n_rows);
    if (!knows || request->n_rows == 0 || request->n_files != 1) {
        return SILT_OK;
    }
    int64_t *rows = sl_arena_alloc_array(&read->arena, request->n_rows, sizeof(*rows));
    if (rows == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(rows, request->rows, request->n_rows * sizeof(*rows));
    read->rows = rows;
    read->n_rows = request->n_rows;
    return sl_duck_pick_new(read->dp, rows, request->n_rows, &read->pick, err);
}

/* With too many the text of the query would take longer than what they spare. */
static silt_status copy_ranges(struct read *read, const silt_parquet_read *request, silt_error *err)
{
    const bool knows = request->size >= offsetof(silt_parquet_read, n_ranges) + sizeof(request->n_ranges);
    if (!knows || request->n_ranges == 0 || request->n_ranges > MAX_RANGES || request->n_files != 1) {
        return SILT_OK;
    }
    silt_row_range *ranges = sl_arena_alloc_array(&read->arena, request->n_ranges, sizeof(*ranges));
    if (ranges == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(ranges, request->ranges, request->n_ranges * sizeof(*ranges));
    read->ranges = ranges;
    read->n_ranges = request->n_ranges;
    return SILT_OK;
}

/* Only a hint as well. */
static silt_status copy_any_of(struct read *read, const silt_parquet_read *request, silt_error *err)
{
    const bool knows = request->size >= offsetof(silt_parquet_read, n_any_of) + sizeof(request->n_any_of);
    if (!knows || request->n_any_of == 0 || request->n_any_of > MAX_ANY_OF) {
        return SILT_OK;
    }
    const char **members = sl_arena_alloc_array(&read->arena, request->n_any_of, sizeof(*members));
    if (members == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < request->n_any_of; i++) {
        members[i] = sl_arena_strdup(&read->arena, sl_str_from(request->any_of[i]));
        if (members[i] == NULL) {
            return sl_fail_nomem(err);
        }
    }
    read->any_of = (struct sl_duck_sparse){.members = members, .n = request->n_any_of};
    return SILT_OK;
}

static silt_status copy_texts(struct read *read, const silt_parquet_read *request, silt_error *err)
{
    const bool knows = request->size >= offsetof(silt_parquet_read, texts) + sizeof(request->texts);
    if (!knows || request->texts == NULL || request->n_files != 1) {
        return SILT_OK;
    }
    const silt_parquet_leaf *leaf = &request->texts->leaf;
    const char **path = sl_arena_alloc_array(&read->arena, leaf->path_len, sizeof(*path));
    if (path == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < leaf->path_len; i++) {
        path[i] = sl_arena_strdup(&read->arena, sl_str_from(leaf->path[i]));
        if (path[i] == NULL) {
            return sl_fail_nomem(err);
        }
    }
    read->sifted = (silt_parquet_leaf){.path = path, .path_len = leaf->path_len};
    return sl_duck_sift_new(read->dp, request->texts, &read->sift, err);
}

static silt_status copy_request(struct read *read, const silt_parquet_read *request, silt_error *err)
{
    read->storage = request->storage;
    read->n_files = request->n_files;
    read->match_by_field_id = request->match_by_field_id;
    read->with_file_index = request->with_file_index;
    read->with_row_index = request->with_row_index;
    read->schema = silt_schema_ref(request->schema);
    read->files = sl_arena_alloc_array(&read->arena, request->n_files, sizeof(*read->files));
    if (read->files == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < request->n_files; i++) {
        const silt_parquet_file *file = &request->files[i];
        struct sl_duck_source *copy = &read->files[i];
        copy->size_bytes = file->size_bytes;
        copy->path = sl_arena_strdup(&read->arena, sl_str_from(file->path));
        copy->local_path = file->local_path != NULL ? sl_arena_strdup(&read->arena, sl_str_from(file->local_path))
                                                    : NULL;
        if (copy->path == NULL || (file->local_path != NULL && copy->local_path == NULL)) {
            return sl_fail_nomem(err);
        }
    }
    SL_TRY(copy_any_of(read, request, err));
    SL_TRY(copy_rows(read, request, err));
    SL_TRY(copy_ranges(read, request, err));
    SL_TRY(copy_texts(read, request, err));
    read->lax_structs = request->size >= offsetof(silt_parquet_read, lax_structs) + sizeof(request->lax_structs) &&
                        request->lax_structs;
    /* Only a hint: left out when it asks for what is not read. */
    if (request->predicate != NULL && sl_expr_columns_all(request->predicate->root, is_wanted, read)) {
        read->predicate = silt_expr_ref(request->predicate);
    }
    return SILT_OK;
}

silt_status sl_duck_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                         struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {read_schema, read_next, close_read};
    struct sl_dataplane *dp = impl;
    *out = (struct ArrowArrayStream){0};
    if (request->schema->root.n_fields == 0 && !request->with_file_index && !request->with_row_index) {
        return sl_fail(err, SILT_EINVALID, NULL, "a read must ask for a column");
    }
    struct read *read = sl_alloc_zero(dp->env, sizeof(*read));
    if (read == NULL) {
        return sl_fail_nomem(err);
    }
    read->dp = dp;
    sl_arena_init(&read->arena, dp->env);
    if (call != NULL) {
        read->call = *call;
        read->call.progress = NULL;
        read->has_call = true;
    }
    silt_status status = copy_request(read, request, err);
    if (status == SILT_OK) {
        /* The first file is opened now, so that what is wrong with it is told by the call itself. */
        status = open_next(read, err);
    }
    if (status != SILT_OK) {
        close_read(read);
        return status;
    }
    return sl_arrow_stream_new(dp->env, &source, read, out, err);
}
