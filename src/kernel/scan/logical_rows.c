/*
 * The generic reading path: asks the engine's Parquet handler for the stored columns of the surviving files, by their physical names or
 * ids, together with the place of each batch's file and, where it matters, of each row; assembles logical batches from them. Columns
 * move; only partition columns and "_metadata" are made (PROTOCOL.md "Partition Value Serialization", "Column Mapping"). Rows that
 * deletion vectors leave are handed out in stretches of the batch, without copying.
 *
 * Called by silt_scan_read. A stream is pulled by one thread.
 */
#include "kernel/scan/logical_rows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/batch.h"
#include "kernel/scan/metadata_rows.h"
#include "kernel/scan/shared_batch.h"
#include "schema/value.h"
#include "silt/deletion_vector.h"

/* No such column is read. */
#define NO_COLUMN SIZE_MAX

/* What the handler is asked for: places of its columns. */
struct layout {
    size_t n_stored;           /* of the plan's own columns, which come first */
    size_t row_id;             /* stored columns behind "_metadata", or NO_COLUMN */
    size_t row_commit_version; /* likewise */
    size_t file_index;
    size_t row_index; /* or NO_COLUMN */
    size_t n;
};

struct rows {
    const silt_env *env;
    silt_scan *scan;               /* a reference; its store is read from */
    struct ArrowArrayStream files; /* stored columns, then places */
    struct ArrowSchema schema;     /* of the plan's columns */
    struct ArrowSchema stored;     /* of `files` */
    struct layout layout;
    silt_rows **sets; /* [file]; NULL array: no file has one */
    /* A batch that is handed out in stretches: */
    struct sl_shared_batch *shared; /* NULL: none under way */
    uint8_t *live;                  /* [live_cap] */
    size_t live_cap;
    int64_t n_shared; /* rows of it */
    int64_t next;     /* the first that was not looked at */
};

static void close_rows(void *ctx)
{
    struct rows *rows = ctx;
    sl_shared_batch_unref(rows->shared);
    sl_arrow_stream_release(&rows->files); /* before the scan, which keeps its store alive */
    sl_arrow_schema_release(&rows->schema);
    sl_arrow_schema_release(&rows->stored);
    for (size_t i = 0; rows->sets != NULL && i < rows->scan->plan.n_files; i++) {
        silt_rows_free(rows->sets[i]);
    }
    sl_release(rows->env, rows->sets, rows->scan->plan.n_files * sizeof(silt_rows *));
    sl_release(rows->env, rows->live, rows->live_cap);
    silt_scan_unref(rows->scan);
    sl_release(rows->env, rows, sizeof(*rows));
}

static silt_status rows_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    const struct rows *rows = ctx;
    return sl_arrow_schema_copy(rows->env, &rows->schema, out, err);
}

/* ---- batches ---- */

static silt_status find_file(const struct rows *rows, const struct ArrowArray *batch, size_t *out, silt_error *err)
{
    const struct ArrowSchema *schema = rows->stored.children[rows->layout.file_index];
    const struct ArrowArray *places = batch->children[rows->layout.file_index];
    silt_value value;
    if (places->release == NULL || places->length <= batch->offset ||
        !sl_value_from_arrow(schema, places, batch->offset, &value) || value.is_null || value.as.i64 < 0 ||
        (uint64_t)value.as.i64 >= rows->scan->plan.n_files) {
        return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave a batch without the place of its file");
    }
    *out = (size_t)value.as.i64;
    return SILT_OK;
}

/* Places of the batch's rows in their file; NULL if they were not asked for. */
static silt_status find_places(const struct rows *rows, const struct ArrowArray *batch, const int64_t **out,
                               silt_error *err)
{
    *out = NULL;
    if (rows->layout.row_index == NO_COLUMN) {
        return SILT_OK;
    }
    const struct ArrowArray *places = batch->children[rows->layout.row_index];
    bool fine = places->release != NULL && places->n_buffers == 2 && places->buffers[1] != NULL &&
                places->length - batch->length >= batch->offset;
    const int64_t *values = fine ? (const int64_t *)places->buffers[1] + places->offset + batch->offset : NULL;
    for (int64_t i = 0; i < batch->length && fine; i++) {
        fine = values[i] >= 0 && !sl_arrow_is_null(places, batch->offset + i);
    }
    *out = values;
    return fine ? SILT_OK
                : sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave a batch without the places of its rows");
}

/* A stored column behind "_metadata", with the batch's own offset applied; *out is absent (release NULL) if it is not read. */
static silt_status take_hidden(struct ArrowArray *batch, size_t column, struct ArrowArray *out, silt_error *err)
{
    memset(out, 0, sizeof(*out));
    return column != NO_COLUMN ? sl_batch_take_child(batch, column, out, err) : SILT_OK;
}

static silt_status make_metadata(const struct rows *rows, struct ArrowArray *batch, const silt_plan_file *file,
                                 const int64_t *places, struct ArrowArray *out, silt_error *err)
{
    struct ArrowArray ids;
    struct ArrowArray versions = {0};
    silt_status status = take_hidden(batch, rows->layout.row_id, &ids, err);
    if (status == SILT_OK) {
        status = take_hidden(batch, rows->layout.row_commit_version, &versions, err);
    }
    if (status == SILT_OK) {
        const struct sl_metadata_rows made = {
            .env = rows->env,
            .type = rows->scan->plan_schema->root.fields[rows->scan->metadata_column].type,
            .file = file,
            .n = batch->length,
            .row_index = places,
            .row_ids = ids.release != NULL ? &ids : NULL,
            .row_commit_versions = versions.release != NULL ? &versions : NULL};
        status = sl_metadata_rows_make(&made, out, err);
    }
    sl_arrow_array_release(&ids);
    sl_arrow_array_release(&versions);
    return status;
}

/* The plan's columns of a batch, whose own ones move. */
static silt_status assemble(const struct rows *rows, struct ArrowArray *batch, const silt_plan_file *file,
                            const int64_t *places, struct ArrowArray *out, silt_error *err)
{
    const silt_scan_plan *plan = &rows->scan->plan;
    const struct silt_type *root = &rows->scan->plan_schema->root;
    SL_TRY(sl_batch_new(rows->env, root->n_fields, batch->length, out, err));
    size_t stored = 0;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < root->n_fields && status == SILT_OK; i++) {
        const silt_plan_column column = plan->columns[i];
        switch (column.source) {
        case SILT_FROM_PARTITION:
            status = sl_constant_column(rows->env, root->fields[i].type, &file->partition_values[column.index],
                                        batch->length, out->children[i], err);
            break;
        case SILT_FROM_METADATA: status = make_metadata(rows, batch, file, places, out->children[i], err); break;
        default: status = sl_batch_take_child(batch, stored++, out->children[i], err);
        }
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}

/* ---- rows that are gone ---- */

/* Fills rows->live for n rows at these places; returns how many are wanted. */
static silt_status mark_live(struct rows *rows, const silt_rows *set, const int64_t *places, int64_t n, int64_t *wanted,
                             silt_error *err)
{
    const size_t count = (size_t)n;
    if (count > rows->live_cap) {
        uint8_t *live = sl_resize(rows->env, rows->live, rows->live_cap, count);
        if (live == NULL) {
            return sl_fail_nomem(err);
        }
        rows->live = live;
        rows->live_cap = count;
    }
    bool dense = true;
    for (int64_t i = 1; i < n && dense; i++) {
        dense = places[i] == places[i - 1] + 1;
    }
    if (dense) {
        silt_rows_mask(set, places[0], count, rows->live);
    }
    for (int64_t i = 0; i < n && !dense; i++) { /* a handler may leave rows out that cannot match */
        silt_rows_mask(set, places[i], 1, &rows->live[i]);
    }
    *wanted = 0;
    for (int64_t i = 0; i < n; i++) {
        *wanted += rows->live[i];
    }
    return SILT_OK;
}

/* The next stretch of the batch under way; *out stays released at its end. */
static silt_status next_stretch(struct rows *rows, struct ArrowArray *out, silt_error *err)
{
    while (rows->next < rows->n_shared && rows->live[rows->next] == 0) {
        rows->next++;
    }
    const int64_t first = rows->next;
    while (rows->next < rows->n_shared && rows->live[rows->next] != 0) {
        rows->next++;
    }
    if (rows->next == first) {
        sl_shared_batch_unref(rows->shared);
        rows->shared = NULL;
        return SILT_OK;
    }
    return sl_shared_batch_slice(rows->shared, first, rows->next - first, out, err);
}

/* Hands out a batch of the handler's: whole, not at all (*out stays released), or in stretches. */
static silt_status take_batch(struct rows *rows, struct ArrowArray *batch, size_t place, struct ArrowArray *out,
                              silt_error *err)
{
    const silt_plan_file *file = &rows->scan->plan.files[place];
    const silt_rows *set = rows->sets != NULL ? rows->sets[place] : NULL;
    const int64_t n = batch->length;
    const int64_t *places = NULL;
    int64_t wanted = n;
    SL_TRY(find_places(rows, batch, &places, err));
    if (set != NULL) {
        SL_TRY(mark_live(rows, set, places, n, &wanted, err));
    }
    if (wanted == 0) {
        return SILT_OK;
    }
    if (wanted == n) {
        return assemble(rows, batch, file, places, out, err);
    }
    struct ArrowArray whole = {0};
    SL_TRY(assemble(rows, batch, file, places, &whole, err));
    SL_TRY(sl_shared_batch_new(rows->env, &whole, &rows->shared, err));
    rows->n_shared = n;
    rows->next = 0;
    return next_stretch(rows, out, err);
}

static silt_status rows_next(void *ctx, struct ArrowArray *out, silt_error *err)
{
    struct rows *rows = ctx;
    memset(out, 0, sizeof(*out));
    while (out->release == NULL) {
        if (rows->shared != NULL) {
            SL_TRY(next_stretch(rows, out, err));
            continue;
        }
        struct ArrowArray batch = {0};
        bool done = false;
        SL_TRY(sl_arrow_stream_next(&rows->files, &batch, &done, err));
        if (done) {
            return SILT_OK;
        }
        silt_status status = SILT_OK;
        size_t place = 0;
        if (batch.n_children != rows->stored.n_children) {
            status = sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave a batch of %lld columns, expected %lld",
                             (long long)batch.n_children, (long long)rows->stored.n_children);
        } else if (batch.length > 0) {
            status = find_file(rows, &batch, &place, err);
        }
        if (status == SILT_OK && batch.length > 0) {
            status = take_batch(rows, &batch, place, out, err);
            if (status != SILT_OK) {
                sl_error_path(err, rows->scan->plan.files[place].path);
            }
        }
        sl_arrow_array_release(&batch);
        SL_TRY(status);
    }
    return SILT_OK;
}

/* ---- opening ---- */

static const struct silt_type *metadata_type(const silt_scan *scan)
{
    return scan->metadata_column != NO_COLUMN ? scan->plan_schema->root.fields[scan->metadata_column].type : NULL;
}

static const struct silt_type LONG = {.kind = SILT_TYPE_LONG};

/* What to ask for: the plan's stored columns, those behind "_metadata", then places. */
static silt_status stored_schema(const silt_scan *scan, struct layout *layout, silt_schema **out, silt_error *err)
{
    const struct silt_type *root = &scan->physical_schema->root;
    const struct silt_type *meta = metadata_type(scan);
    struct silt_field *fields = sl_alloc_array(scan->env, root->n_fields + 2, sizeof(*fields));
    if (fields == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < root->n_fields; i++) {
        if (scan->plan.columns[i].source == SILT_FROM_FILE) {
            fields[n++] = root->fields[i];
        }
    }
    *layout = (struct layout){
        .n_stored = n, .row_id = NO_COLUMN, .row_commit_version = NO_COLUMN, .row_index = NO_COLUMN};
    if (meta != NULL && sl_metadata_needs_row_ids(meta) && scan->plan.row_id_column != NULL) {
        layout->row_id = n;
        fields[n++] = (struct silt_field){
            .name = sl_str_from(scan->plan.row_id_column), .type = &LONG, .nullable = true};
    }
    if (meta != NULL && sl_metadata_needs_row_commit_versions(meta) && scan->plan.row_commit_version_column != NULL) {
        layout->row_commit_version = n;
        fields[n++] = (struct silt_field){
            .name = sl_str_from(scan->plan.row_commit_version_column), .type = &LONG, .nullable = true};
    }
    const silt_status status = sl_schema_from_fields(scan->env, fields, n, out, err);
    sl_release(scan->env, fields, (root->n_fields + 2) * sizeof(*fields));
    layout->file_index = n++;
    if (scan->plan.has_row_sets || (meta != NULL && sl_metadata_needs_row_index(meta))) {
        layout->row_index = n++;
    }
    layout->n = n;
    return status;
}

static silt_status load_sets(struct rows *rows, const silt_call *call, silt_error *err)
{
    const silt_scan_plan *plan = &rows->scan->plan;
    if (!plan->has_row_sets) {
        return SILT_OK;
    }
    rows->sets = sl_alloc_zero(rows->env, plan->n_files * sizeof(silt_rows *));
    silt_rows_request *requests = sl_alloc_array(rows->env, plan->n_files, sizeof(*requests));
    silt_status status = SILT_OK;
    if (rows->sets == NULL || requests == NULL) {
        status = sl_fail_nomem(err);
    }
    for (size_t i = 0; i < plan->n_files && status == SILT_OK; i++) {
        requests[i] = (silt_rows_request){.file = plan->files[i].path,
                                          .num_records = plan->files[i].num_records,
                                          .deleted = plan->files[i].deleted,
                                          .selected = plan->files[i].selected};
    }
    if (status == SILT_OK) {
        status = silt_rows_load(plan->storage, call, requests, plan->n_files, rows->sets, err);
    }
    sl_release(rows->env, requests, plan->n_files * sizeof(*requests));
    return status;
}

static silt_status read_files(struct rows *rows, const silt_call *call, const silt_schema *schema, silt_error *err)
{
    const silt_scan *scan = rows->scan;
    const silt_scan_plan *plan = &scan->plan;
    silt_parquet_file *files = sl_alloc_array(scan->env, plan->n_files + 1, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        files[i] = (silt_parquet_file){plan->files[i].path, plan->files[i].local_path, plan->files[i].size_bytes};
    }
    silt_parquet_read request = {
        .size = sizeof(silt_parquet_read),
        .storage = plan->storage,
        .files = files,
        .n_files = plan->n_files,
        .schema = schema,
        .match_by_field_id = plan->match_by_field_id,
        .with_file_index = true, /* also carries the row count where no column is stored */
        .with_row_index = rows->layout.row_index != NO_COLUMN,
        .predicate = scan->file_filter,
    };
    silt_status status = sl_parquet_read(sl_snapshot_engine(scan->snapshot), call, &request, &rows->files, err);
    sl_release(scan->env, files, (plan->n_files + 1) * sizeof(*files));
    return status;
}

static bool is_long(const struct rows *rows, size_t column)
{
    return column == NO_COLUMN || strcmp(rows->stored.children[column]->format, "l") == 0;
}

/* The handler promises exactly the types that were asked for; a breach would be read as wrong values. */
static silt_status check_stored(struct rows *rows, silt_error *err)
{
    const silt_scan *scan = rows->scan;
    const struct layout *layout = &rows->layout;
    SL_TRY(sl_arrow_stream_schema(&rows->files, &rows->stored, err));
    if (rows->stored.n_children != (int64_t)layout->n || !is_long(rows, layout->file_index) ||
        !is_long(rows, layout->row_index)) {
        return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave %lld columns, expected %zu with places last",
                       (long long)rows->stored.n_children, layout->n);
    }
    if (!is_long(rows, layout->row_id) || !is_long(rows, layout->row_commit_version)) {
        return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave row ids or commit versions that are not long");
    }
    size_t stored = 0;
    for (size_t i = 0; i < scan->plan_schema->root.n_fields; i++) {
        if (scan->plan.columns[i].source != SILT_FROM_FILE) {
            continue;
        }
        const struct ArrowSchema *given = rows->stored.children[stored++];
        if (!sl_batch_same_layout(given, rows->schema.children[i])) {
            return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave column %s as %s, expected %s",
                           rows->schema.children[i]->name, given->format, rows->schema.children[i]->format);
        }
    }
    return SILT_OK;
}

silt_status sl_logical_rows(silt_scan *scan, const silt_call *call, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {rows_schema, rows_next, close_rows};
    memset(out, 0, sizeof(*out));
    silt_schema *schema = NULL;
    struct rows *rows = sl_alloc_zero(scan->env, sizeof(*rows));
    if (rows == NULL) {
        return sl_fail_nomem(err);
    }
    rows->env = scan->env;
    rows->scan = silt_scan_ref(scan);
    silt_status status = silt_schema_to_arrow(scan->plan_schema, &rows->schema, err);
    if (status == SILT_OK) {
        status = load_sets(rows, call, err);
    }
    if (status == SILT_OK) {
        status = stored_schema(scan, &rows->layout, &schema, err);
    }
    if (status == SILT_OK) {
        status = read_files(rows, call, schema, err);
    }
    if (status == SILT_OK) {
        status = check_stored(rows, err);
    }
    silt_schema_unref(schema);
    if (status != SILT_OK) {
        close_rows(rows);
        return status;
    }
    return sl_arrow_stream_new(scan->env, &source, rows, out, err);
}
