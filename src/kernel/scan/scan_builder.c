/*
 * The scan builder: which columns and which rows are wanted, checked against the snapshot's schema as they are named. What is made
 * of them is in scan_assemble.c. A builder has one owner.
 */
#include "kernel/scan/scan_int.h"

#include "base/alloc.h"
#include "base/error.h"

struct silt_scan_builder {
    const silt_env *env;
    silt_snapshot *snapshot; /* a reference */
    silt_schema *extended;   /* the snapshot's schema and "_metadata" after it; made when something names that */
    struct sl_vec columns;   /* size_t: places in the extended schema, as projected */
    struct sl_metadata_pick metadata; /* fields of "_metadata", if it is projected */
    bool projected;
    silt_local_time local_time;
    void *local_time_ctx;
    struct sl_vec filters; /* silt_expr *, resolved, a reference each */
};

/* ---- builder ---- */

silt_status silt_scan_builder_new(silt_snapshot *snapshot, silt_scan_builder **out, silt_error *err)
{
    if (out == NULL || snapshot == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a snapshot and a place for the scan builder are required");
    }
    *out = NULL;
    const silt_env *env = silt_engine_env(sl_snapshot_engine(snapshot));
    silt_scan_builder *builder = sl_alloc_zero(env, sizeof(*builder));
    if (builder == NULL) {
        return sl_fail_nomem(err);
    }
    builder->env = env;
    builder->snapshot = silt_snapshot_ref(snapshot);
    sl_vec_init(&builder->columns, env, sizeof(size_t));
    sl_vec_init(&builder->filters, env, sizeof(silt_expr *));
    /* Rows are read by the schema of the log, not by what a version checksum says of it. */
    const silt_status status = sl_snapshot_settle(&builder->snapshot, NULL, err);
    if (status != SILT_OK) {
        silt_scan_builder_free(builder);
        return status;
    }
    *out = builder;
    return SILT_OK;
}

static silt_expr *filter_at(const silt_scan_builder *builder, size_t index)
{
    return *(silt_expr **)sl_vec_at(&builder->filters, index);
}

void silt_scan_builder_free(silt_scan_builder *builder)
{
    if (builder == NULL) {
        return;
    }
    for (size_t i = 0; i < builder->filters.len; i++) {
        silt_expr_unref(filter_at(builder, i));
    }
    sl_vec_release(&builder->filters);
    sl_vec_release(&builder->columns);
    silt_schema_unref(builder->extended);
    silt_snapshot_unref(builder->snapshot);
    sl_release(builder->env, builder, sizeof(*builder));
}

/* Names the column and, when one is near, the column that may have been meant. */
static silt_status fail_unknown_column(const silt_schema *schema, const char *name, silt_error *err)
{
    struct sl_str wanted = sl_str_from(name);
    const size_t limit = wanted.len / 2 + 1; /* half of it may be wrong */
    size_t best = limit + 1;
    const struct silt_field *nearest = NULL;
    for (size_t i = 0; i < schema->root.n_fields; i++) {
        size_t distance = sl_str_distance(wanted, schema->root.fields[i].name, limit);
        if (distance < best) {
            best = distance;
            nearest = &schema->root.fields[i];
        }
    }
    silt_status status = sl_fail(err, SILT_ESCHEMA, "DELTA_COLUMN_NOT_FOUND", "column %s is not in the table's schema",
                                 name);
    if (nearest != NULL) {
        sl_error_hint(err, "did you mean %.*s?", SL_FMT(nearest->name));
    }
    return status;
}

static bool holds(const struct sl_vec *columns, size_t index)
{
    for (size_t i = 0; i < columns->len; i++) {
        if (*(size_t *)sl_vec_at(columns, i) == index) {
            return true;
        }
    }
    return false;
}

struct projection {
    struct sl_vec columns;
    struct sl_metadata_pick metadata;
};

static silt_status fail_repeated(const char *name, silt_error *err)
{
    return sl_fail(err, SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND", "column %s is in a projection more than once",
                   name);
}

static silt_status push_column(struct projection *p, size_t index, silt_error *err)
{
    size_t *slot = sl_vec_push(&p->columns);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = index;
    return SILT_OK;
}

/* True if the name is "_metadata" or a field of it; *field is absent for the whole. */
static bool names_metadata(const silt_schema *schema, struct sl_str name, struct sl_str *field)
{
    const struct sl_str column = SL_STR(SL_METADATA_NAME);
    *field = (struct sl_str){NULL, 0};
    if (name.len < column.len || !sl_str_eq_nocase(sl_str_sub(name, 0, column.len), column) ||
        sl_metadata_is_hidden(schema)) {
        return false;
    }
    if (name.len > column.len && name.ptr[column.len] == '.') {
        *field = sl_str_sub(name, column.len + 1, name.len);
        return true;
    }
    return name.len == column.len;
}

static silt_status find_metadata(const silt_scan_builder *builder, const char *name, struct sl_str field,
                                 struct projection *p, silt_error *err)
{
    const size_t index = silt_snapshot_schema(builder->snapshot)->root.n_fields;
    const bool first = !holds(&p->columns, index);
    if (first) {
        SL_TRY(push_column(p, index, err));
    }
    if (field.ptr == NULL) {
        sl_metadata_offered(builder->snapshot, &p->metadata);
        return first ? SILT_OK : fail_repeated(name, err);
    }
    size_t at = 0;
    SL_TRY(sl_metadata_check(builder->snapshot, field, &at, err));
    const size_t before = p->metadata.n;
    sl_metadata_add(&p->metadata, at);
    return p->metadata.n > before ? SILT_OK : fail_repeated(name, err);
}

static silt_status find_columns(const silt_scan_builder *builder, const char *const *columns, size_t n,
                                struct projection *p, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(builder->snapshot);
    for (size_t i = 0; i < n; i++) {
        if (columns[i] == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "column %zu of a projection has no name", i);
        }
        size_t index = 0;
        struct sl_str field;
        if (sl_type_find(&schema->root, sl_str_from(columns[i]), &index) != NULL) {
            if (holds(&p->columns, index)) {
                return fail_repeated(columns[i], err);
            }
            SL_TRY(push_column(p, index, err));
        } else if (names_metadata(schema, sl_str_from(columns[i]), &field)) {
            SL_TRY(find_metadata(builder, columns[i], field, p, err));
        } else {
            return fail_unknown_column(schema, columns[i], err);
        }
    }
    return SILT_OK;
}

silt_status silt_scan_builder_project(silt_scan_builder *builder, const char *const *columns, size_t n, silt_error *err)
{
    if (builder == NULL || (columns == NULL && n > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder and column names are required");
    }
    struct projection found = {.metadata = {.n = 0}};
    sl_vec_init(&found.columns, builder->env, sizeof(size_t));
    silt_status status = find_columns(builder, columns, n, &found, err);
    if (status != SILT_OK) {
        sl_vec_release(&found.columns);
        return status;
    }
    sl_vec_release(&builder->columns);
    builder->columns = found.columns;
    builder->metadata = found.metadata;
    builder->projected = true;
    return SILT_OK;
}

/* ---- filter ---- */

static bool is_table_column(void *ctx, const struct sl_str *path, size_t path_len)
{
    (void)ctx;
    return path_len == 0 || !sl_str_eq_nocase(path[0], SL_STR(SL_METADATA_NAME));
}

/* The schema that a predicate is resolved against: with "_metadata" only where it names that. */
static silt_status schema_for(silt_scan_builder *builder, const silt_expr *predicate, const silt_schema **out,
                              silt_error *err)
{
    *out = silt_snapshot_schema(builder->snapshot);
    if (sl_metadata_is_hidden(*out) || sl_expr_columns_all(predicate->root, is_table_column, NULL)) {
        return SILT_OK;
    }
    if (builder->extended == NULL) {
        SL_TRY(sl_metadata_extend(builder->snapshot, &builder->extended, err));
    }
    *out = builder->extended;
    return SILT_OK;
}

silt_status silt_scan_builder_filter(silt_scan_builder *builder, const silt_expr *predicate, silt_error *err)
{
    if (builder == NULL || predicate == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder and a predicate are required");
    }
    const silt_schema *schema = NULL;
    SL_TRY(schema_for(builder, predicate, &schema, err));
    silt_expr *resolved = NULL;
    SL_TRY(sl_expr_resolve(predicate, schema, &resolved, err));
    silt_expr **slot = sl_vec_push(&builder->filters);
    if (slot == NULL) {
        silt_expr_unref(resolved);
        return sl_fail_nomem(err);
    }
    *slot = resolved;
    return SILT_OK;
}

silt_status silt_scan_builder_local_time(silt_scan_builder *builder, silt_local_time local_time, void *ctx,
                                         silt_error *err)
{
    if (builder == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder is required");
    }
    builder->local_time = local_time;
    builder->local_time_ctx = ctx;
    return SILT_OK;
}

/* ---- building ---- */

static silt_status join_filters(const silt_scan_builder *builder, silt_scan *scan, silt_error *err)
{
    if (builder->filters.len == 0) {
        return SILT_OK;
    }
    if (builder->filters.len == 1) {
        scan->filter = silt_expr_ref(filter_at(builder, 0));
        return SILT_OK;
    }
    return silt_expr_and(scan->env, builder->filters.data, builder->filters.len, &scan->filter, err);
}

silt_status silt_scan_builder_build(silt_scan_builder *builder, const silt_call *call, silt_scan **out, silt_error *err)
{
    if (builder == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder and a place for the scan are required");
    }
    *out = NULL;
    silt_scan *scan = NULL;
    SL_TRY(sl_scan_new(builder->snapshot, &scan, err));
    silt_status status = join_filters(builder, scan, err);
    if (status == SILT_OK) {
        const struct sl_scan_wish wish = {.columns = builder->columns.data,
                                          .n_columns = builder->columns.len,
                                          .all_columns = !builder->projected,
                                          .metadata = builder->metadata,
                                          .local_time = builder->local_time,
                                          .local_time_ctx = builder->local_time_ctx};
        status = sl_scan_assemble(scan, call, &wish, err);
    }
    if (status != SILT_OK) {
        silt_scan_unref(scan);
        return status;
    }
    *out = scan;
    return SILT_OK;
}
