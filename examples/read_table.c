/*
 * Reads a Delta table: opens it at its newest version, or at the version that is asked for, scans it to an Arrow C stream, and
 * prints the schema, the first rows, and how many rows and batches there were.
 *
 *     read_table PATH [VERSION]
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silt/silt.h"

#define ROWS_SHOWN 10

/* ---- printing one cell of an Arrow array ---- */

static bool is_null(const struct ArrowArray *array, int64_t row)
{
    const unsigned char *validity = array->n_buffers > 0 ? array->buffers[0] : NULL;
    if (array->n_buffers == 0) {
        return true; /* an array of the null type has no buffers */
    }
    int64_t bit = row + array->offset;
    return validity != NULL && (validity[bit / 8] >> (bit % 8) & 1) == 0;
}

static void print_text(const struct ArrowArray *array, int64_t at)
{
    const int32_t *offsets = array->buffers[1];
    const char *bytes = array->buffers[2];
    printf("%.*s", (int)(offsets[at + 1] - offsets[at]), bytes + offsets[at]);
}

static void print_cell(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row)
{
    int64_t at = row + array->offset;
    const char *format = schema->format;
    if (is_null(array, row)) {
        printf("null");
    } else if (strcmp(format, "l") == 0) {
        printf("%" PRId64, ((const int64_t *)array->buffers[1])[at]);
    } else if (strcmp(format, "i") == 0) {
        printf("%" PRId32, ((const int32_t *)array->buffers[1])[at]);
    } else if (strcmp(format, "s") == 0) {
        printf("%d", ((const int16_t *)array->buffers[1])[at]);
    } else if (strcmp(format, "c") == 0) {
        printf("%d", ((const int8_t *)array->buffers[1])[at]);
    } else if (strcmp(format, "g") == 0) {
        printf("%.17g", ((const double *)array->buffers[1])[at]);
    } else if (strcmp(format, "f") == 0) {
        printf("%.9g", (double)((const float *)array->buffers[1])[at]);
    } else if (strcmp(format, "b") == 0) {
        const unsigned char *bits = array->buffers[1];
        printf("%s", (bits[at / 8] >> (at % 8) & 1) != 0 ? "true" : "false");
    } else if (strcmp(format, "u") == 0) {
        print_text(array, at);
    } else if (strcmp(format, "tdD") == 0) {
        printf("day %" PRId32, ((const int32_t *)array->buffers[1])[at]);
    } else if (strncmp(format, "tsu:", 4) == 0) {
        printf("%" PRId64 " us", ((const int64_t *)array->buffers[1])[at]);
    } else {
        printf("<%s>", format); /* decimals and nested values: left to an Arrow library */
    }
}

static void print_row(const struct ArrowSchema *schema, const struct ArrowArray *batch, int64_t row)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        printf("%s%s=", i > 0 ? ", " : "  ", schema->children[i]->name);
        print_cell(schema->children[i], batch->children[i], row + batch->offset);
    }
    printf("\n");
}

/* ---- reading ---- */

static int print_rows(struct ArrowArrayStream *rows)
{
    struct ArrowSchema schema;
    if (rows->get_schema(rows, &schema) != 0) {
        fprintf(stderr, "reading failed: %s\n", rows->get_last_error(rows));
        return 1;
    }
    int64_t n_rows = 0;
    int64_t n_batches = 0;
    int result = 0;
    for (;;) {
        struct ArrowArray batch;
        if (rows->get_next(rows, &batch) != 0) {
            fprintf(stderr, "reading failed: %s\n", rows->get_last_error(rows));
            result = 1;
            break;
        }
        if (batch.release == NULL) {
            break; /* the end of the stream */
        }
        for (int64_t row = 0; row < batch.length && n_rows + row < ROWS_SHOWN; row++) {
            print_row(&schema, &batch, row);
        }
        n_rows += batch.length;
        n_batches++;
        batch.release(&batch);
    }
    schema.release(&schema);
    printf("%" PRId64 " rows in %" PRId64 " batches\n", n_rows, n_batches);
    return result;
}

static silt_status open_snapshot(silt_table *table, const char *version, silt_snapshot **out, silt_error *err)
{
    if (version == NULL) {
        return silt_table_latest_snapshot(table, NULL, out, err);
    }
    return silt_table_snapshot_at_version(table, NULL, strtoll(version, NULL, 10), out, err);
}

static silt_status open_rows(silt_snapshot *snapshot, struct ArrowArrayStream *rows, silt_error *err)
{
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    silt_status status = silt_scan_builder_new(snapshot, &builder, err);
    if (status == SILT_OK) {
        /* silt_scan_builder_project and silt_scan_builder_filter would go here. */
        status = silt_scan_builder_build(builder, NULL, &scan, err);
    }
    if (status == SILT_OK) {
        printf("%zu files to read\n", silt_scan_get_plan(scan)->n_files);
        status = silt_scan_read(scan, NULL, rows, err);
    }
    silt_scan_unref(scan); /* the stream holds what it needs */
    silt_scan_builder_free(builder);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s PATH [VERSION]\n", argv[0]);
        return 2;
    }
    silt_error err = SILT_ERROR_INIT;
    silt_engine *engine = NULL;
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    struct ArrowArrayStream rows = {0};
    int result = 1;

    silt_status status = silt_engine_default_new(NULL, &engine, &err);
    if (status == SILT_OK) {
        status = silt_table_for_path(engine, argv[1], &table, &err);
    }
    if (status == SILT_OK) {
        status = open_snapshot(table, argc > 2 ? argv[2] : NULL, &snapshot, &err);
    }
    if (status == SILT_OK) {
        printf("%s, version %" PRId64 "\n", silt_table_uri(table), silt_snapshot_version(snapshot));
        status = open_rows(snapshot, &rows, &err);
    }
    if (status == SILT_OK) {
        result = print_rows(&rows);
        rows.release(&rows);
    } else {
        fprintf(stderr, "%s: %s\n", err.code_name, err.message);
        if (err.hint[0] != '\0') {
            fprintf(stderr, "  %s\n", err.hint);
        }
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    silt_engine_unref(engine);
    return result;
}
