/*
 * Counts and extremes of many files by one query over their rows: a scan plan of all stored columns and, as a constant of each file, its
 * number in the batch, grouped by that.
 */
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "base/quote.h"
#include "commands/fsck_data.h"
#include "commands/fsck_judge.h"
#include "kernel/snapshot/state.h"
#include "schema/value.h"
#include "silt/version.h"

struct query {
    struct sl_fsck_reader *reader;
    const struct sl_fsck_item *items;
    size_t n;
    bool *counted;  /* of each column: is anything stated of it in the batch */
    bool *extremes; /* … a bound */
    struct sl_buf sql;
    struct sl_dataplane_scan *scan;
};

static void find_stated(struct query *q)
{
    for (size_t c = 0; c < q->reader->n; c++) {
        for (size_t i = 0; i < q->n; i++) {
            const struct sl_bounds *b = &q->items[i].bounds[c];
            q->extremes[c] = q->extremes[c] || b->has_min || b->has_max;
            q->counted[c] = q->counted[c] || b->has_null_count || b->has_min || b->has_max;
        }
        q->extremes[c] = q->extremes[c] && sl_fsck_is_ordered(&q->reader->columns[c]);
    }
}

static void put_leaf(struct sl_buf *sql, const struct sl_skip_column *column)
{
    for (size_t i = 1; i < column->path_len; i++) {
        sl_buf_put_c(sql, "struct_extract(");
    }
    sl_quote_put(sql, column->path[0], '"');
    for (size_t i = 1; i < column->path_len; i++) {
        sl_buf_put_c(sql, ", ");
        sl_quote_put(sql, column->path[i], '\'');
        sl_buf_put_char(sql, ')');
    }
}

static void put_call(struct sl_buf *sql, const char *function, const struct sl_skip_column *column)
{
    sl_buf_put_c(sql, function);
    put_leaf(sql, column);
    sl_buf_put_char(sql, ')');
}

static silt_status put_query(struct query *q, const silt_scan_plan *plan, silt_error *err)
{
    const struct sl_fsck_reader *reader = q->reader;
    const struct silt_type *root = &reader->logical->root;
    struct sl_buf scan;
    sl_buf_init(&scan, reader->fsck->env);
    silt_status status = reader->plane.vtable->scan_open(reader->plane.dp, plan, &q->scan, &scan, err);
    if (status == SILT_OK) {
        sl_buf_put_c(&q->sql, "SELECT ");
        sl_quote_put(&q->sql, root->fields[root->n_fields - 1].name, '"');
        sl_buf_put_c(&q->sql, ", count(*)");
        for (size_t c = 0; c < reader->n; c++) {
            if (q->counted[c]) {
                put_call(&q->sql, ", count(", &reader->columns[c]);
            }
            if (q->extremes[c]) {
                put_call(&q->sql, ", min(", &reader->columns[c]);
                put_call(&q->sql, ", max(", &reader->columns[c]);
            }
        }
        sl_buf_put_c(&q->sql, " FROM (");
        sl_buf_put_str(&q->sql, sl_buf_view(&scan));
        sl_buf_put_c(&q->sql, "\n) GROUP BY 1");
        status = sl_buf_status(&scan, err);
    }
    sl_buf_release(&scan);
    return status == SILT_OK ? sl_buf_status(&q->sql, err) : status;
}

/* ---- its rows ---- */

struct rows {
    const struct query *query;
    const struct ArrowSchema *schema;
    const struct ArrowArray *batch;
    struct sl_fsck_truth *truths;
    silt_status (*visit)(void *ctx, const struct sl_fsck_row *row, silt_error *err);
    void *ctx;
};

static bool cell(const struct rows *r, size_t column, int64_t row, silt_value *out)
{
    return column < (size_t)r->batch->n_children &&
           sl_value_from_arrow(r->schema->children[column], r->batch->children[column], row + r->batch->offset, out);
}

static bool cell_i64(const struct rows *r, size_t column, int64_t row, int64_t *out)
{
    silt_value value;
    const bool good = cell(r, column, row, &value) && !value.is_null && value.kind == SILT_TYPE_LONG;
    *out = good ? value.as.i64 : 0;
    return good;
}

static silt_status take_row(struct rows *r, int64_t row, silt_error *err)
{
    const struct query *q = r->query;
    int64_t item = 0;
    int64_t count = 0;
    bool good = cell_i64(r, 0, row, &item) && cell_i64(r, 1, row, &count) && item >= 0 && (size_t)item < q->n;
    size_t at = 2;
    for (size_t c = 0; c < q->reader->n && good; c++) {
        struct sl_fsck_truth *truth = &r->truths[c];
        int64_t values = 0;
        *truth = (struct sl_fsck_truth){
            .rows = count, .min = sl_value_null(SILT_TYPE_VOID), .max = sl_value_null(SILT_TYPE_VOID)};
        good = !q->counted[c] || cell_i64(r, at++, row, &values);
        truth->nulls = count - values;
        if (good && q->extremes[c]) {
            good = cell(r, at, row, &truth->min) && cell(r, at + 1, row, &truth->max);
            at += 2;
        }
    }
    if (!good) {
        return sl_fail(err, SILT_EENGINE, NULL, "the data plane answered another query than it was asked");
    }
    const struct sl_fsck_row found = {.item = (size_t)item, .rows = count, .truths = r->truths};
    return r->visit(r->ctx, &found, err);
}

static silt_status take_rows(struct rows *r, struct ArrowArrayStream *stream, silt_error *err)
{
    struct ArrowSchema schema = {0};
    SL_TRY(sl_arrow_stream_schema(stream, &schema, err));
    r->schema = &schema;
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(stream, &batch, &done, err);
        r->batch = &batch;
        for (int64_t i = 0; status == SILT_OK && !done && i < batch.length; i++) {
            status = take_row(r, i, err);
        }
        r->batch = NULL;
        sl_arrow_array_release(&batch);
    }
    r->schema = NULL;
    sl_arrow_schema_release(&schema);
    return status;
}

/* Of a query, as a share of the files that it reads. */
static void tell_share(void *ctx, const silt_progress *progress)
{
    const struct query *q = ctx;
    const struct sl_fsck_reader *reader = q->reader;
    const double share = progress->fraction > 0 && progress->fraction <= 1 ? progress->fraction : 0;
    sl_call_progress(reader->fsck->call, SL_FSCK_FILES_PHASE, reader->n_done + (int64_t)(share * (double)q->n),
                     reader->n_files);
}

static silt_status run(struct query *q, struct rows *r, const silt_scan_plan *plan, silt_error *err)
{
    static const struct sl_dataplane_params none = {0};
    struct ArrowArrayStream stream = {0};
    const struct sl_dataplane_ref *plane = &q->reader->plane;
    silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION};
    call = q->reader->fsck->call != NULL ? *q->reader->fsck->call : call;
    if (call.progress != NULL) {
        call.progress = tell_share;
        call.progress_ctx = q;
    }
    SL_TRY(put_query(q, plan, err));
    silt_status status = plane->vtable->query(plane->dp, &call, sl_buf_view(&q->sql), &none, &stream, err);
    if (status == SILT_OK) {
        status = take_rows(r, &stream, err);
    }
    sl_arrow_stream_release(&stream);
    return status;
}

silt_status sl_fsck_query(struct sl_fsck_reader *reader, struct sl_fsck_item *items, size_t n,
                          silt_status (*visit)(void *ctx, const struct sl_fsck_row *row, silt_error *err), void *ctx,
                          silt_error *err)
{
    struct sl_fsck *fsck = reader->fsck;
    struct query q = {.reader = reader, .items = items, .n = n};
    struct rows r = {.query = &q, .visit = visit, .ctx = ctx};
    struct sl_arena arena;
    sl_arena_init(&arena, fsck->env);
    sl_buf_init(&q.sql, fsck->env);
    q.counted = sl_arena_alloc_array(&arena, reader->n + 1, sizeof(bool));
    q.extremes = sl_arena_alloc_array(&arena, reader->n + 1, sizeof(bool));
    r.truths = sl_arena_alloc_array(&arena, reader->n + 1, sizeof(*r.truths));
    silt_plan_file *files = sl_arena_alloc_array(&arena, n, sizeof(*files));
    silt_status status = q.counted != NULL && q.extremes != NULL && r.truths != NULL && files != NULL
                             ? SILT_OK
                             : sl_fail_nomem(err);
    if (status == SILT_OK) {
        const struct sl_str root = sl_snapshot_root(fsck->snapshot);
        silt_scan_plan plan = {.size = sizeof(plan),
                               .storage = sl_snapshot_storage(fsck->snapshot),
                               .logical = reader->logical,
                               .physical = reader->physical,
                               .columns = reader->sources,
                               .n_partition_columns = 1,
                               .match_by_field_id = sl_snapshot_mapping(fsck->snapshot) == SL_MAPPING_ID,
                               .files = files,
                               .n_files = n,
                               .table = root.ptr,
                               .version = silt_snapshot_version(fsck->snapshot),
                               .root = root.ptr};
        for (size_t i = 0; i < n; i++) {
            items[i].number = sl_value_i64(SILT_TYPE_LONG, (int64_t)i);
            items[i].file.partition_values = &items[i].number;
            files[i] = items[i].file;
            plan.has_row_sets = plan.has_row_sets || files[i].deleted != NULL;
        }
        find_stated(&q);
        status = run(&q, &r, &plan, err);
    }
    reader->plane.vtable->scan_close(reader->plane.dp, q.scan);
    sl_buf_release(&q.sql);
    sl_arena_release(&arena);
    return status;
}
