/* Tables of the mini engine for tests. Public headers only. */
#include "mini_table.h"

#include <stdio.h>
#include <string.h>

/* The longest metaData line that a test needs. */
#define LINE_SIZE 8192

bool mini_table_make(struct mini_engine *mini, const char *root, const struct mini_field *fields, size_t n_fields,
                     const char *partition_columns, const char *const *lines, size_t n_lines)
{
    static const char head[] = "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},"
                               "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[";
    const char *all[64];
    char metadata[LINE_SIZE];
    size_t len = (size_t)snprintf(metadata, sizeof(metadata), "%s", head);
    for (size_t i = 0; i < n_fields; i++) {
        len += (size_t)snprintf(metadata + len, sizeof(metadata) - len,
                                "%s{\\\"name\\\":\\\"%s\\\",\\\"type\\\":\\\"%s\\\",\\\"nullable\\\":true,"
                                "\\\"metadata\\\":{}}",
                                i > 0 ? "," : "", fields[i].name, fields[i].type);
    }
    (void)snprintf(metadata + len, sizeof(metadata) - len,
                   "]}\",\"partitionColumns\":%s,\"configuration\":{},\"createdTime\":0}}", partition_columns);
    all[0] = "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}";
    all[1] = metadata;
    for (size_t i = 0; i < n_lines; i++) {
        all[i + 2] = lines[i];
    }
    return mini_engine_commit(mini, root, 0, all, n_lines + 2);
}

static silt_status build(silt_engine *engine, silt_scan_builder *builder, const char *const *columns, size_t n_columns,
                         const char *filter, silt_scan **out, silt_error *err)
{
    silt_status status = SILT_OK;
    silt_expr *expr = NULL;
    if (columns != NULL) {
        status = silt_scan_builder_project(builder, columns, n_columns, err);
    }
    if (status == SILT_OK && filter != NULL) {
        status = silt_expr_parse(silt_engine_env(engine), filter, strlen(filter), NULL, &expr, err);
    }
    if (status == SILT_OK && expr != NULL) {
        status = silt_scan_builder_filter(builder, expr, err);
    }
    silt_expr_unref(expr);
    return status == SILT_OK ? silt_scan_builder_build(builder, NULL, out, err) : status;
}

silt_status mini_table_scan(struct mini_engine *mini, const char *root, const char *const *columns, size_t n_columns,
                            const char *filter, silt_scan **out, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_scan_builder *builder = NULL;
    *out = NULL;
    silt_status status = silt_table_for_path(mini->engine, root, &table, err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_new(snapshot, &builder, err);
    }
    if (status == SILT_OK) {
        status = build(mini->engine, builder, columns, n_columns, filter, out, err);
    }
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}
