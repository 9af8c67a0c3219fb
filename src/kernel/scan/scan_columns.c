/*
 * The columns of a plan: those that were asked for, then those that only the filter names; their logical and physical schemas; where
 * each comes from (PROTOCOL.md "Column Mapping", "Row Tracking"); and the public silt_scan_plan. Called by the assembly of a scan, on one
 * thread.
 */
#include "kernel/scan/scan_int.h"

#include <string.h>

#include "base/error.h"

#define ROW_ID_COLUMN "delta.rowTracking.materializedRowIdColumnName"
#define ROW_COMMIT_VERSION_COLUMN "delta.rowTracking.materializedRowCommitVersionColumnName"

struct choice {
    silt_scan *scan;
    const silt_schema *schema;    /* the table's */
    struct sl_vec columns;        /* size_t: places in it, its number of columns for "_metadata" */
    struct sl_metadata_pick pick; /* fields of "_metadata" */
};

static bool holds(const struct sl_vec *columns, size_t index)
{
    for (size_t i = 0; i < columns->len; i++) {
        if (*(size_t *)sl_vec_at(columns, i) == index) {
            return true;
        }
    }
    return false;
}

static bool add_column(struct choice *choice, size_t index)
{
    size_t *slot = holds(&choice->columns, index) ? NULL : sl_vec_push(&choice->columns);
    if (slot != NULL) {
        *slot = index;
    }
    return slot != NULL || holds(&choice->columns, index);
}

static bool add_filter_column(void *ctx, const struct sl_str *path, size_t path_len)
{
    struct choice *choice = ctx;
    size_t index = 0;
    if (path_len > 0 && sl_type_find(&choice->schema->root, path[0], &index) != NULL) {
        return add_column(choice, index);
    }
    /* Resolved expressions name columns of the schema and "_metadata" only. */
    const size_t field = path_len > 1 ? sl_metadata_find(path[1]) : 0;
    sl_metadata_add(&choice->pick, field != SIZE_MAX ? field : 0);
    return add_column(choice, choice->schema->root.n_fields);
}

/* Columns of the plan: the projected ones, those that the remaining filter needs, and at least one, for engines that cannot
 * read rows of no column. */
static silt_status choose(struct choice *choice, const struct sl_scan_wish *wish, silt_error *err)
{
    silt_scan *scan = choice->scan;
    const size_t n_table = choice->schema->root.n_fields;
    const size_t n = wish->all_columns ? n_table : wish->n_columns;
    bool good = sl_vec_reserve(&choice->columns, n + 2);
    for (size_t i = 0; i < n && good; i++) {
        good = add_column(choice, wish->all_columns ? i : wish->columns[i]);
    }
    scan->n_projected = n;
    if (!wish->all_columns) {
        choice->pick = wish->metadata;
    }
    scan->n_metadata_projected = choice->pick.n;
    if (good && scan->remaining != NULL) {
        good = sl_expr_columns_all(scan->remaining->root, add_filter_column, choice);
    }
    if (good && choice->columns.len == 0 && n_table > 0) {
        good = add_column(choice, 0);
    }
    return good ? SILT_OK : sl_fail_nomem(err);
}

/* The first n chosen columns out of a schema of the table's shape, with the first n_metadata fields of "_metadata". */
static silt_status make_schema(const struct choice *choice, const silt_schema *from, size_t n, size_t n_metadata,
                               silt_schema **out, silt_error *err)
{
    struct sl_metadata_pick pick = choice->pick;
    pick.n = n_metadata;
    struct sl_arena *arena = &choice->scan->arena;
    struct silt_field *fields = sl_arena_alloc_array(arena, n + 1, sizeof(*fields));
    if (fields == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t index = *(const size_t *)sl_vec_at(&choice->columns, i);
        if (index < from->root.n_fields) {
            fields[i] = from->root.fields[index];
        } else if (!sl_metadata_make(arena, &pick, &fields[i])) {
            return sl_fail_nomem(err);
        }
    }
    return sl_schema_from_fields(choice->scan->env, fields, n, out, err);
}

static silt_status make_schemas(struct choice *choice, silt_error *err)
{
    silt_scan *scan = choice->scan;
    const silt_schema *physical = silt_snapshot_physical_schema(scan->snapshot);
    const size_t n = choice->columns.len;
    SL_TRY(make_schema(choice, choice->schema, n, choice->pick.n, &scan->plan_schema, err));
    if (physical == choice->schema) {
        scan->physical_schema = silt_schema_ref(scan->plan_schema);
    } else {
        SL_TRY(make_schema(choice, physical, n, choice->pick.n, &scan->physical_schema, err));
    }
    if (scan->n_projected == n && scan->n_metadata_projected == choice->pick.n) {
        scan->schema = silt_schema_ref(scan->plan_schema);
        return SILT_OK;
    }
    return make_schema(choice, choice->schema, scan->n_projected, scan->n_metadata_projected, &scan->schema, err);
}

/* ---- where they come from ---- */

static silt_status find_sources(struct choice *choice, silt_plan_column **out, silt_error *err)
{
    silt_scan *scan = choice->scan;
    const struct silt_type *root = &scan->plan_schema->root;
    silt_plan_column *sources = sl_arena_alloc_array(&scan->arena, root->n_fields + 1, sizeof(*sources));
    if (sources == NULL) {
        return sl_fail_nomem(err);
    }
    scan->metadata_column = SIZE_MAX;
    for (size_t i = 0; i < root->n_fields; i++) {
        const size_t column = *(const size_t *)sl_vec_at(&choice->columns, i);
        const size_t index = sl_scan_filter_partition(&scan->facts, root->fields[i].name);
        if (column == choice->schema->root.n_fields) {
            sources[i] = (silt_plan_column){SILT_FROM_METADATA, -1};
            scan->metadata_column = i;
        } else {
            sources[i] = index != SIZE_MAX ? (silt_plan_column){SILT_FROM_PARTITION, (int32_t)index}
                                           : (silt_plan_column){SILT_FROM_FILE, -1};
        }
    }
    *out = sources;
    return SILT_OK;
}

static const char *materialized_name(const silt_scan *scan, const char *key)
{
    bool found = false;
    const struct sl_metadata *metadata = sl_snapshot_get_metadata(scan->snapshot);
    const struct sl_str name = sl_kv_get(&metadata->configuration, sl_str_from(key), &found);
    return name.len > 0 ? name.ptr : NULL;
}

static silt_status fail_unnamed(const silt_scan *scan, const char *what, const char *key, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_ECORRUPT, "DELTA_MATERIALIZED_ROW_TRACKING_COLUMN_NAME_MISSING",
                                       "the table tracks rows, but names no column for materialized %s (%s)", what,
                                       key);
    sl_error_path(err, scan->plan.table);
    sl_error_version(err, scan->plan.version);
    return status;
}

/* PROTOCOL: with row tracking enabled every file has a base row id and a default row commit version. */
static silt_status check_tracked_files(const silt_scan *scan, silt_error *err)
{
    for (size_t i = 0; i < scan->files.len; i++) {
        const silt_plan_file *file = sl_vec_at(&scan->files, i);
        if (file->base_row_id < 0 || file->row_commit_version < 0) {
            const silt_status status = sl_fail(err, SILT_ECORRUPT, NULL, "file %s has no %s, which row tracking needs",
                                               file->path,
                                               file->base_row_id < 0 ? "baseRowId" : "defaultRowCommitVersion");
            sl_error_path(err, file->path);
            sl_error_version(err, scan->plan.version);
            return status;
        }
    }
    return SILT_OK;
}

static silt_status track_rows(struct choice *choice, silt_error *err)
{
    silt_scan *scan = choice->scan;
    if (!sl_row_tracking_enabled(scan->snapshot)) {
        return SILT_OK;
    }
    scan->plan.row_id_column = materialized_name(scan, ROW_ID_COLUMN);
    scan->plan.row_commit_version_column = materialized_name(scan, ROW_COMMIT_VERSION_COLUMN);
    bool wanted = false;
    for (size_t i = 0; i < choice->pick.n; i++) {
        wanted = wanted || sl_metadata_tracks_rows(choice->pick.fields[i]);
    }
    if (!wanted) {
        return SILT_OK;
    }
    if (scan->plan.row_id_column == NULL) {
        return fail_unnamed(scan, "row ids", ROW_ID_COLUMN, err);
    }
    if (scan->plan.row_commit_version_column == NULL) {
        return fail_unnamed(scan, "row commit versions", ROW_COMMIT_VERSION_COLUMN, err);
    }
    return check_tracked_files(scan, err);
}

static bool has_row_sets(const silt_scan *scan)
{
    for (size_t i = 0; i < scan->files.len; i++) {
        const silt_plan_file *file = sl_vec_at(&scan->files, i);
        if (file->deleted != NULL || file->selected != NULL) {
            return true;
        }
    }
    return false;
}

static silt_status make_plan(struct choice *choice, silt_error *err)
{
    silt_scan *scan = choice->scan;
    silt_plan_column *sources = NULL;
    SL_TRY(find_sources(choice, &sources, err));
    const struct sl_str root = sl_snapshot_root(scan->snapshot);
    scan->plan = (silt_scan_plan){
        .size = sizeof(silt_scan_plan),
        .storage = sl_snapshot_storage(scan->snapshot),
        .logical = scan->plan_schema,
        .physical = scan->physical_schema,
        .columns = sources,
        .n_partition_columns = scan->facts.n_partitions,
        .match_by_field_id = sl_snapshot_mapping(scan->snapshot) == SL_MAPPING_ID,
        .files = scan->files.data,
        .n_files = scan->files.len,
        .has_row_sets = has_row_sets(scan),
        .filter = scan->remaining,
        .table = root.ptr,
        .version = silt_snapshot_version(scan->snapshot),
        .root = root.ptr,
    };
    return track_rows(choice, err);
}

silt_status sl_scan_choose_columns(silt_scan *scan, const struct sl_scan_wish *wish, silt_error *err)
{
    struct choice choice = {.scan = scan, .schema = silt_snapshot_schema(scan->snapshot)};
    sl_vec_init(&choice.columns, scan->env, sizeof(size_t));
    silt_status status = choose(&choice, wish, err);
    if (status == SILT_OK) {
        status = make_schemas(&choice, err);
    }
    if (status == SILT_OK) {
        status = make_plan(&choice, err);
    }
    sl_vec_release(&choice.columns);
    return status;
}
