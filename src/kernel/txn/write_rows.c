/*
 * Writing a stream of rows into a table: columns are brought into the table's order, missing ones become null, NOT NULL is
 * checked on every batch, and the data plane does the rest. Called by applications; the stream is pulled on the caller's
 * thread. PROTOCOL.md "Data Files".
 */
#include "kernel/txn/txn_int.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/batch.h"
#include "kernel/txn/null_check.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "schema/value.h"

/* The source of the stream that the data plane sees. Freed with that stream. */
struct row_source {
    silt_txn *txn;
    struct ArrowArrayStream rows;
    struct ArrowSchema schema; /* of rows */
    struct ArrowSchema table;  /* of the table */
    size_t *mapping;           /* in the transaction's arena */
};

/* A schema without it counts as released; those below only lend what is copied from them. */
static void release_nothing(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* Columns that the source lacks come with the table's own type, so that a data plane need not know a null type. */
static silt_status export_column(const struct row_source *source, size_t column, struct ArrowSchema *out,
                                 silt_error *err)
{
    const size_t from = source->mapping[column];
    const struct ArrowSchema *type = from != SIZE_MAX ? source->schema.children[from] : source->table.children[column];
    return sl_arrow_schema_copy(source->txn->env, type, out, err);
}

/* The stream's schema: copied as one struct whose children are borrowed for the copy. */
static silt_status source_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    const struct row_source *source = ctx;
    const silt_txn *txn = source->txn;
    const size_t n = txn->schema->root.n_fields;
    silt_status status = SILT_OK;
    struct ArrowSchema *columns = sl_alloc_array(txn->env, n, sizeof(*columns));
    struct ArrowSchema **pointers = sl_alloc_array(txn->env, n, sizeof(struct ArrowSchema *));
    size_t made = 0;
    if (columns == NULL || pointers == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (; made < n && status == SILT_OK; made++) {
        columns[made] = (struct ArrowSchema){0};
        pointers[made] = &columns[made];
        status = export_column(source, made, &columns[made], err);
    }
    if (status == SILT_OK) {
        const struct ArrowSchema whole = {
            .format = "+s", .name = "", .n_children = (int64_t)n, .children = pointers, .release = release_nothing};
        status = sl_arrow_schema_copy(txn->env, &whole, out, err);
    }
out:
    for (size_t i = 0; i < made; i++) {
        sl_arrow_schema_release(&columns[i]);
    }
    sl_release(txn->env, columns, n * sizeof(*columns));
    sl_release(txn->env, pointers, n * sizeof(struct ArrowSchema *));
    return status;
}

static silt_status build_nulls(const struct row_source *source, size_t column, int64_t length, struct ArrowArray *out,
                               silt_error *err)
{
    struct sl_arrow_builder *builder = NULL;
    SL_TRY(sl_arrow_builder_new(source->txn->env, source->table.children[column], &builder, err));
    silt_status status = SILT_OK;
    for (int64_t i = 0; i < length && status == SILT_OK; i++) {
        status = sl_arrow_append_null(builder, err);
    }
    if (status == SILT_OK) {
        status = sl_arrow_builder_finish(builder, out, err);
    }
    sl_arrow_builder_free(builder);
    return status;
}

static silt_status make_nulls(const struct row_source *source, size_t column, int64_t length, struct ArrowArray *out,
                              silt_error *err)
{
    const struct silt_type *type = source->txn->schema->root.fields[column].type;
    if (sl_type_is_nested(type) || type->kind == SILT_TYPE_VARIANT) {
        return build_nulls(source, column, length, out, err);
    }
    const silt_value null = sl_value_null(type->kind);
    return sl_constant_column(source->txn->env, type, &null, length, out, err);
}

static silt_status arrange(const struct row_source *source, struct ArrowArray *in, struct ArrowArray *out,
                           silt_error *err)
{
    const struct silt_type *root = &source->txn->schema->root;
    if (in->null_count > 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "a batch of rows must not have rows that are null as a whole");
    }
    SL_TRY(sl_batch_new(source->txn->env, root->n_fields, in->length, out, err));
    silt_status status = SILT_OK;
    for (size_t i = 0; i < root->n_fields && status == SILT_OK; i++) {
        const size_t from = source->mapping[i];
        if (from == SIZE_MAX) {
            status = make_nulls(source, i, in->length, out->children[i], err);
            continue;
        }
        status = sl_batch_take_child(in, from, out->children[i], err);
        if (status == SILT_OK) {
            status = sl_null_check(&root->fields[i], source->schema.children[from], out->children[i], err);
        }
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}

/* A fault is also kept in the transaction: the data plane may hand its text on in words of its own. */
static silt_status keep_fault(silt_txn *txn, silt_status status, const silt_error *found, silt_error *err)
{
    if (txn->fault == SILT_OK) {
        txn->fault = status;
        txn->fault_error = *found;
    }
    const silt_status returned = sl_fail(err, status, found->code_name, "%s", found->message);
    sl_error_hint(err, "%s", found->hint);
    return returned;
}

static silt_status source_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct row_source *source = ctx;
    silt_error found = SILT_ERROR_INIT;
    struct ArrowArray in = {0};
    bool done = false;
    *batch = (struct ArrowArray){0};
    silt_status status = sl_arrow_stream_next(&source->rows, &in, &done, &found);
    if (status == SILT_OK && !done) {
        status = arrange(source, &in, batch, &found);
    }
    sl_arrow_array_release(&in);
    return status == SILT_OK ? SILT_OK : keep_fault(source->txn, status, &found, err);
}

static void source_close(void *ctx)
{
    struct row_source *source = ctx;
    sl_arrow_stream_release(&source->rows);
    sl_arrow_schema_release(&source->schema);
    sl_arrow_schema_release(&source->table);
    sl_release(source->txn->env, source, sizeof(*source));
}

static silt_status open_source(silt_txn *txn, struct ArrowArrayStream *rows, struct ArrowArrayStream *out,
                               silt_error *err)
{
    static const struct sl_arrow_source callbacks = {source_schema, source_next, source_close};
    struct row_source *source = sl_alloc_zero(txn->env, sizeof(*source));
    if (source == NULL) {
        return sl_fail_nomem(err);
    }
    source->txn = txn;
    source->mapping = sl_arena_alloc_array(&txn->arena, txn->schema->root.n_fields, sizeof(size_t));
    sl_arrow_stream_move(&source->rows, rows);
    silt_status status = source->mapping != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = sl_arrow_stream_schema(&source->rows, &source->schema, err);
    }
    if (status == SILT_OK) {
        status = silt_schema_to_arrow(txn->schema, &source->table, err);
    }
    if (status == SILT_OK) {
        status = sl_txn_match_columns(txn, &source->schema, source->mapping, err);
    }
    if (status == SILT_OK) {
        status = sl_txn_check_columns(txn, &source->schema, source->mapping, err);
    }
    if (status != SILT_OK) {
        source_close(source);
        return status;
    }
    return sl_arrow_stream_new(txn->env, &callbacks, source, out, err); /* closes the source when it fails */
}

silt_status silt_txn_write(silt_txn *txn, const silt_call *call, struct ArrowArrayStream *rows, silt_error *err)
{
    if (rows == NULL || rows->release == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a stream of rows is expected");
    }
    silt_parquet_write request;
    struct ArrowArrayStream arranged = {0};
    silt_status status = sl_txn_write_request(txn, &request, err);
    if (status == SILT_OK) {
        status = open_source(txn, rows, &arranged, err);
    }
    sl_arrow_stream_release(rows);
    if (status != SILT_OK) {
        return status;
    }
    silt_error found = SILT_ERROR_INIT;
    status = sl_parquet_write(txn->engine, call, &request, &arranged, &found);
    status = sl_txn_write_failed(txn, call, status, &found);
    if (txn->fault == SILT_OK && status != SILT_OK) {
        /* Files of this write may be among the adds already; a commit would store half of the rows. */
        txn->fault = status;
        txn->fault_error = found;
    }
    return sl_txn_write_finish(txn, err);
}
