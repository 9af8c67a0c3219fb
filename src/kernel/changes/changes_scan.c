/*
 * From the files whose rows are changes to scans: the table's columns of the last version, then what is told of a change. In data files that
 * is constant, and stands with the partition values; change files hold "_change_type" themselves.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/changes/changes_int.h"
#include "kernel/dv/dv.h"
#include "kernel/scan/partition_prune.h"
#include "kernel/scan/plan_path.h"
#include "kernel/scan/scan_build.h"
#include "kernel/scan/scan_filter.h"
#include "schema/value.h"

/* ---- one scan ---- */

struct making {
    silt_changes *changes;
    silt_scan *scan;
    struct sl_arena *arena; /* of the scan */
    bool change_files;
    size_t n_files;
    size_t n_partitions;         /* of the table */
    struct sl_scan_filter facts; /* of no condition: the partition columns */
    struct sl_partition_pruner pruner;
    struct sl_plan_paths paths;
};

static silt_status find_partitions(struct making *m, silt_error *err)
{
    silt_snapshot *snapshot = m->changes->snapshot;
    const silt_schema *logical = silt_snapshot_schema(snapshot);
    m->n_partitions = silt_snapshot_partition_count(snapshot);
    struct sl_partition_column *columns = sl_arena_alloc_array(m->arena, m->n_partitions + 1, sizeof(*columns));
    if (columns == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < m->n_partitions; i++) {
        size_t index = 0;
        const struct silt_field *field = sl_type_find(&logical->root,
                                                      sl_str_from(silt_snapshot_partition_column(snapshot, i)), &index);
        if (field == NULL) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_PARTITION_COLUMN_NOT_FOUND",
                           "partition column %s of the table is not in its schema",
                           silt_snapshot_partition_column(snapshot, i));
        }
        columns[i] = sl_partition_column_of(field, &silt_snapshot_physical_schema(snapshot)->root.fields[index]);
    }
    return sl_scan_filter_make(m->arena, NULL, logical, columns, m->n_partitions, &m->facts, err);
}

static silt_status find_sources(struct making *m, silt_plan_column **out, silt_error *err)
{
    const struct silt_type *root = &m->changes->schema->root;
    const size_t n_table = root->n_fields - SL_CHANGES_COLUMNS;
    silt_plan_column *sources = sl_arena_alloc_array(m->arena, root->n_fields, sizeof(*sources));
    if (sources == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        const size_t partition = i < n_table ? sl_scan_filter_partition(&m->facts, root->fields[i].name)
                                             : m->n_partitions + (i - n_table);
        const bool stored = i == n_table + SL_CHANGES_TYPE ? m->change_files : partition == SIZE_MAX;
        sources[i] = stored ? (silt_plan_column){SILT_FROM_FILE, -1}
                            : (silt_plan_column){SILT_FROM_PARTITION, (int32_t)partition};
    }
    *out = sources;
    return SILT_OK;
}

static silt_status make_vector(struct making *m, const struct sl_dv_descriptor *dv, const silt_deletion_vector **out,
                               silt_error *err)
{
    *out = NULL;
    if (dv == NULL) {
        return SILT_OK;
    }
    silt_deletion_vector *vector = sl_arena_alloc_zero(m->arena, sizeof(*vector));
    if (vector == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_dv_resolve(m->arena, sl_snapshot_root(m->changes->snapshot), dv, vector, err));
    *out = vector;
    return SILT_OK;
}

static silt_status make_constants(struct making *m, const struct sl_change_entry *entry, const silt_value **out,
                                  silt_error *err)
{
    const struct sl_partition_tuple *tuple = NULL;
    SL_TRY(sl_partition_pruner_find(&m->pruner, &entry->partition_values, entry->path, &tuple, err));
    silt_value *values = sl_arena_alloc_array(m->arena, m->n_partitions + SL_CHANGES_COLUMNS, sizeof(*values));
    if (values == NULL) {
        return sl_fail_nomem(err);
    }
    if (m->n_partitions > 0) {
        memcpy(values, tuple->values, m->n_partitions * sizeof(*values));
    }
    silt_value *told = values + m->n_partitions;
    int64_t at_us = 0;
    told[SL_CHANGES_TYPE] = sl_value_bytes(SILT_TYPE_STRING,
                                           entry->kind == SL_CHANGE_DELETE ? SL_STR("delete") : SL_STR("insert"));
    told[SL_CHANGES_VERSION] = sl_value_i64(SILT_TYPE_LONG, entry->version);
    told[SL_CHANGES_TIMESTAMP] = sl_mul_i64(entry->timestamp_ms, 1000, &at_us)
                                     ? sl_value_i64(SILT_TYPE_TIMESTAMP, at_us)
                                     : sl_value_null(SILT_TYPE_TIMESTAMP);
    *out = values;
    return SILT_OK;
}

static silt_status add_file(struct making *m, const struct sl_change_entry *entry, silt_error *err)
{
    silt_plan_file file = {.size_bytes = entry->size,
                           .modified_ms = entry->modified_ms,
                           .num_records = -1,
                           .base_row_id = entry->base_row_id != SL_NO_I64 ? entry->base_row_id : -1,
                           .row_commit_version = entry->row_commit_version != SL_NO_I64 ? entry->row_commit_version
                                                                                        : -1};
    SL_TRY(sl_plan_paths_find(&m->paths, entry->path, &file, err));
    SL_TRY(make_constants(m, entry, &file.partition_values, err));
    SL_TRY(make_vector(m, entry->deleted, &file.deleted, err));
    SL_TRY(make_vector(m, entry->selected, &file.selected, err));
    m->n_files++;
    return sl_scan_add_file(m->scan, &file, err);
}

static silt_status add_files(struct making *m, silt_error *err)
{
    const struct sl_vec *entries = &m->changes->entries;
    for (size_t i = entries->len; i > 0; i--) { /* oldest version first */
        const struct sl_change_entry *entry = sl_vec_at(entries, i - 1);
        if ((entry->kind == SL_CHANGE_FILE) == m->change_files) {
            SL_TRY(add_file(m, entry, err));
        }
    }
    return SILT_OK;
}

static silt_status finish(struct making *m, silt_error *err)
{
    silt_plan_column *sources = NULL;
    SL_TRY(find_sources(m, &sources, err));
    const struct sl_scan_parts parts = {.logical = m->changes->schema,
                                        .physical = m->changes->physical,
                                        .sources = sources,
                                        .n_constants = m->n_partitions + SL_CHANGES_COLUMNS};
    sl_scan_finish(m->scan, &parts);
    return SILT_OK;
}

static silt_status make_scan(silt_changes *changes, const silt_changes_options *options, bool change_files,
                             silt_error *err)
{
    struct making *m = sl_arena_alloc_zero(&changes->arena, sizeof(*m)); /* too large for the stack of a small thread */
    if (m == NULL) {
        return sl_fail_nomem(err);
    }
    m->changes = changes;
    m->change_files = change_files;
    SL_TRY(sl_scan_new(changes->snapshot, &m->scan, err));
    m->arena = sl_scan_arena(m->scan);
    silt_status status = find_partitions(m, err);
    if (status == SILT_OK) {
        sl_plan_paths_init(&m->paths, changes->snapshot, m->arena);
        sl_partition_pruner_init(&m->pruner, m->arena, &m->facts);
        m->pruner.local_time = options->local_time;
        m->pruner.local_time_ctx = options->local_time_ctx;
        status = add_files(m, err);
        sl_partition_pruner_release(&m->pruner);
    }
    if (status == SILT_OK) {
        status = finish(m, err);
    }
    /* One scan is made in any case: it tells the columns of no rows. */
    if (status == SILT_OK && (m->n_files > 0 || (!change_files && changes->n_scans == 0))) {
        changes->scans[changes->n_scans++] = silt_scan_ref(m->scan);
    }
    silt_scan_unref(m->scan);
    return status;
}

silt_status sl_changes_make_scans(silt_changes *changes, const silt_changes_options *options, silt_error *err)
{
    SL_TRY(make_scan(changes, options, true, err));
    return make_scan(changes, options, false, err);
}
