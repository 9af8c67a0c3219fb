/*
 * The SELECTs of a scan, one a group of files, joined by UNION ALL: mostly one.
 *
 *   SELECT "a", remap_struct("s", …) AS "s", silt_part_long(file_index, '7:0') AS "p"
 *   FROM read_parquet([files], schema = map{'a': {name: 'a', type: 'BIGINT', default_value: NULL}, …})
 *   WHERE …live rows…
 *
 * Where all files of a group hold the wanted columns exactly, the schema map is left out and columns are renamed by the SELECT. Virtual
 * columns (file_index) cannot be told from columns of the same name, so that such a column gets another name inside.
 */
#include "duck_scan.h"

#include "base/error.h"
#include "duck_aside.h"
#include "duck_fetch.h"

struct sl_str sl_scan_value(const struct sl_scan_group *group, size_t stored)
{
    const struct sl_duck_reading *reading = &group->readings[stored];
    return group->direct ? reading->direct : reading->mapped;
}

/* DuckDB cannot estimate what it knows by a schema map only; join orders depend on it. */
static void put_row_count(struct sl_buf *sql, const silt_plan_file *files, size_t n)
{
    int64_t rows = 0;
    for (size_t i = 0; i < n; i++) {
        if (files[i].num_records < 0 || files[i].num_records > INT64_MAX / 2 - rows) {
            return;
        }
        rows += files[i].num_records;
    }
    if (rows > 0) {
        sl_buf_printf(sql, ", explicit_cardinality = %lld", (long long)rows);
    }
}

/* Where a branch reads: files [first, first + n) of the scan, all of one group. */
struct span {
    const struct sl_scan_group *group;
    size_t first;
    size_t n;
};

static void put_source(const struct sl_scan_work *work, struct sl_buf *sql, const struct span *span)
{
    sl_buf_put_c(sql, "read_parquet(");
    sl_duck_put_paths(sql, work->files->local + span->first, span->n);
    if (span->group->direct) {
        sl_buf_put_c(sql, ", hive_partitioning = false)");
        return;
    }
    put_row_count(sql, work->plan.files + span->first, span->n);
    sl_buf_put_c(sql, ", schema = map{");
    bool any = false;
    for (size_t i = 0; i < work->n_stored; i++) {
        const struct sl_duck_reading *reading = &span->group->readings[i];
        if (!reading->aside) {
            sl_buf_put_c(sql, any ? ", " : "");
            sl_duck_put_text(sql, reading->stored);
            sl_duck_put_map_entry(sql, work->columns[i].alias, reading->declared);
            any = true;
        }
    }
    if (!any) {
        /* The map must not be empty. This column is in no file and is never asked for. */
        sl_duck_put_no_column(sql);
    }
    sl_buf_put_c(sql, "})");
}

/* CHAR(n) has spaces up to its length, as in files (duck_column.c). */
static silt_status put_partition(struct sl_scan_work *work, struct sl_buf *sql, const struct silt_field *field,
                                 size_t index, silt_error *err)
{
    const struct silt_type *characters = NULL;
    SL_TRY(sl_field_characters(&work->arena, field, &characters, err));
    const uint32_t length = characters != NULL ? sl_type_char_length(characters) : 0;
    if (length == 0 || field->type->kind != SILT_TYPE_STRING) {
        return sl_duck_parts_put(work->conn, sql, work->parts, index, field->type, err);
    }
    sl_buf_put_char(sql, '(');
    SL_TRY(sl_duck_parts_put(work->conn, sql, work->parts, index, field->type, err));
    sl_buf_printf(sql, " || repeat(' ', %u - length(", (unsigned)length);
    SL_TRY(sl_duck_parts_put(work->conn, sql, work->parts, index, field->type, err));
    sl_buf_put_c(sql, ")))");
    return SILT_OK;
}

static silt_status put_columns(struct sl_scan_work *work, struct sl_buf *sql, const struct sl_scan_group *group,
                               silt_error *err)
{
    const struct silt_type *root = &work->plan.logical->root;
    size_t stored = 0;
    sl_buf_put_c(sql, root->n_fields == 0 ? "SELECT NULL" : "SELECT ");
    for (size_t i = 0; i < root->n_fields; i++) {
        const struct silt_field *field = &root->fields[i];
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        switch (work->plan.columns[i].source) {
        case SILT_FROM_PARTITION:
            SL_TRY(put_partition(work, sql, field, (size_t)work->plan.columns[i].index, err));
            break;
        case SILT_FROM_METADATA: SL_TRY(sl_scan_put_metadata(work, sql, field->type, group, err)); break;
        default: sl_buf_put_str(sql, sl_scan_value(group, stored++));
        }
        sl_buf_put_c(sql, " AS ");
        sl_duck_put_ident(sql, field->name);
    }
    return SILT_OK;
}

static bool reads_aside(const struct sl_scan_work *work, const struct sl_scan_group *group)
{
    bool any = false;
    for (size_t i = 0; i < work->n_stored; i++) {
        any = any || group->readings[i].aside;
    }
    return any;
}

/* The columns that are read aside, each after a comma. */
static silt_status put_aside(struct sl_scan_work *work, struct sl_buf *sql, const struct span *span, silt_error *err)
{
    for (size_t i = 0; i < work->n_stored; i++) {
        const struct sl_duck_reading *reading = &span->group->readings[i];
        if (!reading->aside) {
            continue;
        }
        if (work->aside == NULL) {
            SL_TRY(sl_aside_new(work->conn->dp, work->files, &work->aside, err));
        }
        const struct sl_aside_column column = {.stored = reading->stored,
                                               .declared = reading->declared,
                                               .first_leaf = reading->first_leaf,
                                               .n_leaves = reading->n_leaves};
        sl_buf_put_c(sql, ", ");
        SL_TRY(sl_aside_put(work->conn, sql, work->aside, &column, span->first, err));
        sl_buf_put_c(sql, " AS ");
        sl_duck_put_ident(sql, work->columns[i].alias);
    }
    return SILT_OK;
}

/*
 * One SELECT. file_index counts the files of its own read_parquet; where these are not the scan's first ones, it is hidden by a column
 * that counts those of the scan. Filters on functions of it are pushed down all the same.
 */
static silt_status put_branch(struct sl_scan_work *work, struct sl_buf *sql, const struct span *span, silt_error *err)
{
    SL_TRY(put_columns(work, sql, span->group, err));
    sl_buf_put_c(sql, " FROM ");
    const bool wrapped = span->first > 0 || reads_aside(work, span->group);
    if (wrapped) {
        sl_buf_printf(sql, "(SELECT *, file_index + %zu::UBIGINT AS file_index, file_row_number", span->first);
        SL_TRY(put_aside(work, sql, span, err));
        sl_buf_put_c(sql, " FROM ");
    }
    put_source(work, sql, span);
    if (work->files->fetch != NULL) {
        sl_buf_put_c(sql, " WHERE ");
        sl_duck_fetch_put(sql, work->files->fetch, span->first);
    }
    sl_duck_live_put(sql, work->live, work->files->fetch != NULL ? " AND " : " WHERE ", span->first, span->n);
    sl_buf_put_c(sql, wrapped ? ")" : "");
    return SILT_OK;
}

/* Files that deletion vectors have emptied in parts are read apart from their group. */
silt_status sl_scan_put_branches(struct sl_scan_work *work, struct sl_buf *sql, silt_error *err)
{
    if (work->n_groups == 1 && work->groups[0].whole && work->live == NULL && work->files->fetch == NULL) {
        /* Nothing to select: a query may then read the table itself, see scan_open. */
        const struct span all = {.group = &work->groups[0], .first = 0, .n = work->groups[0].n};
        sl_buf_put_c(sql, "FROM ");
        put_source(work, sql, &all);
        return SILT_OK;
    }
    for (size_t i = 0; i < work->n_groups; i++) {
        const struct sl_scan_group *group = &work->groups[i];
        const size_t end = group->first + group->n;
        for (size_t first = group->first; first < end;) {
            const struct span span = {.group = group, .first = first, .n = sl_duck_live_piece(work->live, first, end)};
            sl_buf_put_c(sql, first > 0 ? " UNION ALL " : "");
            SL_TRY(put_branch(work, sql, &span, err));
            first += span.n;
        }
    }
    return SILT_OK;
}
