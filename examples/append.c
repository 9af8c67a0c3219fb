/*
 * Appends three rows to a Delta table, and creates the table if nothing is there. The rows are an Arrow C stream that is built
 * here by hand, so that no Arrow library is needed.
 *
 *     append [PATH]        PATH is ./example_table unless it is given
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "silt/silt.h"

/* ---- three rows as Arrow data ----
 *
 * All of it is static, so that releasing does nothing but mark a struct as released. The buffers are those of the Arrow
 * format: a bitmap of the rows that are not null (or NULL when there are none), values, and for text offsets and bytes. */

static const int64_t ids[] = {1, 2, 3};
static const int32_t name_offsets[] = {0, 3, 6, 6};
static const char name_bytes[] = "onetwo";
static const unsigned char name_validity[] = {0x3}; /* the third name is null */
static const double scores[] = {0.5, 1.5, 2.5};

static const void *no_buffers[] = {NULL};
static const void *id_buffers[] = {NULL, ids};
static const void *name_buffers[] = {name_validity, name_offsets, name_bytes};
static const void *score_buffers[] = {NULL, scores};

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) {
            schema->children[i]->release(schema->children[i]);
        }
    }
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) {
            array->children[i]->release(array->children[i]);
        }
    }
    array->release = NULL;
}

/* What the stream hands out points into this. */
struct rows {
    struct ArrowSchema columns[3];
    struct ArrowSchema *column_pointers[3];
    struct ArrowArray arrays[3];
    struct ArrowArray *array_pointers[3];
    int batches_left;
};

static int rows_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static const char *const names[] = {"id", "name", "score"};
    static const char *const formats[] = {"l", "u", "g"};
    struct rows *rows = stream->private_data;
    for (int i = 0; i < 3; i++) {
        rows->columns[i] = (struct ArrowSchema){
            .format = formats[i], .name = names[i], .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
        rows->column_pointers[i] = &rows->columns[i];
    }
    *out = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = 3, .children = rows->column_pointers, .release = release_schema};
    return 0;
}

static int rows_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct rows *rows = stream->private_data;
    memset(out, 0, sizeof(*out)); /* release NULL: the end */
    if (rows->batches_left == 0) {
        return 0;
    }
    rows->batches_left--;
    const void **buffers[] = {id_buffers, name_buffers, score_buffers};
    static const int64_t n_buffers[] = {2, 3, 2};
    for (int i = 0; i < 3; i++) {
        rows->arrays[i] = (struct ArrowArray){.length = 3,
                                              .null_count = i == 1 ? 1 : 0,
                                              .n_buffers = n_buffers[i],
                                              .buffers = buffers[i],
                                              .release = release_array};
        rows->array_pointers[i] = &rows->arrays[i];
    }
    *out = (struct ArrowArray){.length = 3,
                               .n_buffers = 1,
                               .buffers = no_buffers,
                               .n_children = 3,
                               .children = rows->array_pointers,
                               .release = release_array};
    return 0;
}

static const char *rows_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL; /* nothing here can fail */
}

static void rows_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static struct ArrowArrayStream make_stream(struct rows *rows)
{
    memset(rows, 0, sizeof(*rows));
    rows->batches_left = 1;
    return (struct ArrowArrayStream){rows_schema, rows_next, rows_error, rows_release, rows};
}

/* ---- the transaction ---- */

/* A transaction that creates the table with the columns of our rows. */
static silt_status begin_create(silt_table *table, silt_txn **out, silt_error *err)
{
    struct rows rows;
    struct ArrowArrayStream stream = make_stream(&rows);
    struct ArrowSchema arrow;
    silt_schema *schema = NULL;
    stream.get_schema(&stream, &arrow);
    silt_status status = silt_schema_from_arrow(silt_engine_env(silt_table_engine(table)), &arrow, &schema, err);
    arrow.release(&arrow);
    stream.release(&stream);
    if (status == SILT_OK) {
        silt_create_options options = {.size = sizeof(options), .schema = schema};
        status = silt_txn_begin_create(table, NULL, &options, "CREATE TABLE", out, err);
    }
    silt_schema_unref(schema);
    return status;
}

static silt_status append(silt_table *table, silt_commit_result *result, silt_error *err)
{
    silt_txn *txn = NULL;
    silt_status status = silt_txn_begin(table, NULL, "WRITE", &txn, err);
    if (status == SILT_ENOTTABLE) {
        silt_error_reset(err);
        status = begin_create(table, &txn, err);
    }
    if (status == SILT_OK) {
        struct rows rows;
        struct ArrowArrayStream stream = make_stream(&rows);
        status = silt_txn_write(txn, NULL, &stream, err); /* consumes the stream */
    }
    if (status == SILT_OK) {
        status = silt_txn_commit(txn, NULL, result, err);
    }
    silt_txn_free(txn); /* without a commit: removes what was written */
    return status;
}

int main(int argc, char **argv)
{
    silt_error err = SILT_ERROR_INIT;
    silt_engine *engine = NULL;
    silt_table *table = NULL;
    silt_commit_result result = {.size = sizeof(result)};

    silt_status status = silt_engine_default_new(NULL, &engine, &err);
    if (status == SILT_OK) {
        status = silt_table_for_path(engine, argc > 1 ? argv[1] : "example_table", &table, &err);
    }
    if (status == SILT_OK) {
        status = append(table, &result, &err);
    }
    if (status == SILT_OK) {
        printf("%s, version %" PRId64 ": %" PRId64 " rows added\n", silt_table_uri(table), result.version,
               result.rows_added);
    } else {
        fprintf(stderr, "%s: %s\n", err.code_name, err.message);
    }
    silt_table_unref(table);
    silt_engine_unref(engine);
    return status == SILT_OK ? 0 : 1;
}
