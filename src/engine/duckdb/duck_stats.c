/*
 * Statistics of written files, from their footers (parquet_metadata), merged over row groups by rules of our own. What COPY
 * returns about itself is not used: it loses bounds through one all-null row group and judges NaN by the last group only.
 *
 * A row group that holds a NaN has no bounds, and neither has one with text too long to cut: then the column of the file has
 * none. Groups with nothing but nulls do not count. Zeros get the signs that make them bounds under any order of zeros.
 * PROTOCOL: Per-file Statistics.
 */
#include "duck_write.h"

#include <math.h>

#include "base/error.h"
#include "base/time.h"
#include "base/utf8.h"
#include "schema/value.h"

/* Metadata and value. */
#define VARIANT_LEAVES 2

/* A leaf under structs only; others have no statistics. */
struct leaf {
    int64_t column_id;
    const char *const *path;
    size_t path_len;
    const struct silt_type *type;
    bool required; /* a top-level column that must not be null */
};

struct collect {
    struct sl_duck_writing *w;
    struct sl_vec leaves; /* struct leaf */
    int64_t next_column;
    int64_t *ends; /* [column of the schema] the number after its last leaf */
};

/* ---- the leaves, numbered as the file numbers them ---- */

static bool add_leaf(struct collect *c, const struct sl_str *path, size_t path_len, const struct silt_field *field)
{
    struct leaf *leaf = sl_vec_push(&c->leaves);
    const char **names = sl_arena_alloc_array(&c->w->arena, path_len, sizeof(*names));
    if (leaf == NULL || names == NULL) {
        return false;
    }
    for (size_t i = 0; i < path_len; i++) {
        names[i] = sl_arena_strdup(&c->w->arena, path[i]);
        if (names[i] == NULL) {
            return false;
        }
    }
    leaf->column_id = c->next_column;
    leaf->path = names;
    leaf->path_len = path_len;
    leaf->type = field->type;
    leaf->required = path_len == 1 && !field->nullable;
    return true;
}

/* Leaf columns inside of a list or map: they have numbers, but no statistics. */
static int64_t count_leaves(const struct silt_type *type)
{
    int64_t n = 0;
    switch (type->kind) {
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < type->n_fields; i++) {
            n += count_leaves(type->fields[i].type);
        }
        return n;
    case SILT_TYPE_ARRAY: return count_leaves(type->element);
    case SILT_TYPE_MAP: return count_leaves(type->key) + count_leaves(type->element);
    case SILT_TYPE_VARIANT: return VARIANT_LEAVES;
    default: return 1;
    }
}

/* Recursion is bounded by the schema's depth, as is the path. */
static bool add_field(struct collect *c, struct sl_str *path, size_t depth, const struct silt_field *field)
{
    if (depth >= SL_SCHEMA_MAX_DEPTH) {
        return false;
    }
    path[depth] = field->name;
    if (field->type->kind == SILT_TYPE_STRUCT) {
        for (size_t i = 0; i < field->type->n_fields; i++) {
            if (!add_field(c, path, depth + 1, &field->type->fields[i])) {
                return false;
            }
        }
        return true;
    }
    if (sl_type_is_nested(field->type)) {
        c->next_column += count_leaves(field->type);
        return true;
    }
    /* Nulls of a variant are those of its first member. */
    const bool fine = add_leaf(c, path, depth + 1, field);
    c->next_column += field->type->kind == SILT_TYPE_VARIANT ? VARIANT_LEAVES : 1;
    return fine;
}

static silt_status find_leaves(struct collect *c, silt_error *err)
{
    struct sl_str path[SL_SCHEMA_MAX_DEPTH];
    const struct silt_type *root = &c->w->request->schema->root;
    c->ends = sl_arena_alloc_array(&c->w->arena, root->n_fields + 1, sizeof(*c->ends));
    if (c->ends == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        if (!c->w->is_partition[i] && root->fields[i].type->kind != SILT_TYPE_VOID &&
            !add_field(c, path, 0, &root->fields[i])) {
            return sl_fail_nomem(err);
        }
        c->ends[i] = c->next_column;
    }
    return SILT_OK;
}

/* The column that a leaf of the file belongs to, in the name that users know. */
static struct sl_str name_of_column(const struct collect *c, int64_t column_id)
{
    const struct silt_type *root = &c->w->logical->root;
    for (size_t i = 0; i < root->n_fields; i++) {
        if (column_id < c->ends[i]) {
            return root->fields[i].name;
        }
    }
    return SL_STR("of the partition"); /* kept in the files, behind all others */
}

/* ---- values from their text ---- */

static bool parse_float(struct sl_str text, silt_type_kind kind, silt_value *out)
{
    double v = 0;
    float f = 0;
    if (sl_str_eq_c(text, "inf") || sl_str_eq_c(text, "-inf")) {
        v = text.ptr[0] == '-' ? -INFINITY : INFINITY;
    } else if (kind == SILT_TYPE_FLOAT) {
        if (!sl_str_to_f32(text, &f)) {
            return false;
        }
        v = (double)f;
    } else if (!sl_str_to_f64(text, &v)) {
        return false;
    }
    *out = sl_value_f64(kind, v);
    return true;
}

static bool parse_time(struct sl_str text, silt_type_kind kind, silt_value *out)
{
    int64_t us = 0;
    bool has_zone = false;
    const struct sl_str utc = SL_STR("+00");
    if (sl_str_ends_with(text, utc)) {
        text = sl_str_sub(text, 0, text.len - utc.len);
    }
    if (!sl_timestamp_parse(text, &us, &has_zone)) {
        return false;
    }
    *out = sl_value_i64(kind, us);
    return true;
}

/* False for what has no bounds or cannot be read exactly (dates before year 1): then there is no bound. */
static bool parse_bound(struct sl_str text, const struct silt_type *type, silt_value *out)
{
    int64_t i64 = 0;
    int32_t days = 0;
    sl_i128 unscaled = 0;
    int scale = 0;
    switch (type->kind) {
    case SILT_TYPE_BOOLEAN:
        *out = sl_value_bool(sl_str_eq_c(text, "true") || sl_str_eq_c(text, "1"));
        return sl_str_eq_c(text, "true") || sl_str_eq_c(text, "1") || sl_str_eq_c(text, "false") ||
               sl_str_eq_c(text, "0");
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: *out = sl_value_i64(type->kind, 0); return sl_str_to_i64(text, &out->as.i64);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return parse_float(text, type->kind, out);
    case SILT_TYPE_DECIMAL:
        if (!sl_decimal_parse(text, &unscaled, &scale) ||
            !sl_decimal_rescale(unscaled, scale, type->scale, &unscaled)) {
            return false;
        }
        *out = sl_value_decimal(unscaled, type->precision, type->scale);
        return true;
    case SILT_TYPE_STRING: *out = sl_value_bytes(SILT_TYPE_STRING, text); return true;
    case SILT_TYPE_DATE:
        if (!sl_date_parse(text, &days)) {
            return false;
        }
        i64 = days;
        *out = sl_value_i64(SILT_TYPE_DATE, i64);
        return true;
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return parse_time(text, type->kind, out);
    default: return false;
    }
}

/* ---- merging ---- */

/* One row group's word about one column. */
struct group {
    int64_t rows;
    int64_t nulls;          /* -1 if not told */
    struct sl_str min, max; /* absent if not told */
    bool max_is_exact;
};

static bool merge_bound(struct sl_arena *arena, silt_column_stats *stats, struct sl_str text,
                        const struct silt_type *type, bool is_min)
{
    silt_value value;
    silt_value *kept = is_min ? &stats->min : &stats->max;
    bool *has = is_min ? &stats->has_min : &stats->has_max;
    int order = 0;
    if (text.ptr == NULL || !parse_bound(text, type, &value)) {
        return false;
    }
    if (*has && (!sl_value_compare(&value, kept, &order) || (is_min ? order >= 0 : order <= 0))) {
        return true;
    }
    if (!sl_value_copy(arena, &value, kept)) {
        return false;
    }
    *has = true;
    return true;
}

/* `closed` marks bounds that are lost for good. */
static void merge_group(struct sl_arena *arena, silt_column_stats *stats, const struct silt_type *type,
                        const struct group *group, bool closed[2])
{
    if (group->nulls < 0) {
        stats->null_count = -1;
    } else if (stats->null_count >= 0) {
        stats->null_count += group->nulls;
    }
    if (group->nulls == group->rows) {
        return;
    }
    const bool both = group->min.ptr != NULL && group->max.ptr != NULL;
    /* A lower bound that was cut is one still; an upper bound only when it is exact. */
    closed[0] = closed[0] || !both || !merge_bound(arena, stats, group->min, type, true);
    closed[1] = closed[1] || !both || !group->max_is_exact || !merge_bound(arena, stats, group->max, type, false);
}

static void finish_bounds(silt_column_stats *stats, const struct silt_type *type, const bool closed[2])
{
    stats->has_min = stats->has_min && !closed[0];
    stats->has_max = stats->has_max && !closed[1];
    if (type->kind == SILT_TYPE_FLOAT || type->kind == SILT_TYPE_DOUBLE) {
        if (stats->has_min && fpclassify(stats->min.as.f64) == FP_ZERO) {
            stats->min.as.f64 = -0.0;
        }
        if (stats->has_max && fpclassify(stats->max.as.f64) == FP_ZERO) {
            stats->max.as.f64 = 0.0;
        }
    }
    if (type->kind == SILT_TYPE_STRING && stats->has_min) {
        /* A cut may have gone through a character. */
        const struct sl_str text = sl_value_get_str(&stats->min);
        size_t end = 0;
        uint32_t code_point = 0;
        while (sl_utf8_next(text, &end, &code_point)) {
        }
        stats->min = sl_value_bytes(SILT_TYPE_STRING, sl_str_sub(text, 0, end));
    }
}

/* ---- reading the footers ---- */

struct cursor {
    struct collect *c;
    size_t file;       /* the one that rows are about */
    bool (*closed)[2]; /* [leaf] of that file */
};

static void finish_file(struct cursor *cursor)
{
    struct sl_duck_staged *file = sl_vec_at(&cursor->c->w->files, cursor->file);
    for (size_t i = 0; i < file->n_stats; i++) {
        const struct leaf *leaf = sl_vec_at(&cursor->c->leaves, i);
        finish_bounds(&file->stats[i], leaf->type, cursor->closed[i]);
        cursor->closed[i][0] = cursor->closed[i][1] = false;
    }
}

static const struct leaf *find_leaf(const struct collect *c, int64_t column_id, size_t *index)
{
    size_t low = 0;
    size_t high = c->leaves.len;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct leaf *leaf = sl_vec_at(&c->leaves, middle);
        if (leaf->column_id == column_id) {
            *index = middle;
            return leaf;
        }
        if (leaf->column_id < column_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/*
 * DuckDB's infinite dates and times are ordinary numbers to everyone else: days and instants far in the future. The footer tells
 * of them for columns in lists and maps as well, at no cost to the write.
 */
static silt_status check_finite(const struct collect *c, int64_t column_id, struct sl_str physical,
                                const struct group *group, silt_error *err)
{
    const struct sl_str bounds[2] = {group->min, group->max};
    for (size_t i = 0; i < 2 && !sl_str_eq_c(physical, "BYTE_ARRAY"); i++) {
        if (sl_str_eq_c(bounds[i], "infinity") || sl_str_eq_c(bounds[i], "-infinity")) {
            return sl_fail(err, SILT_ECONSTRAINT, "CAST_OVERFLOW",
                           "column %.*s holds %.*s, which is no date or time that a Delta table can store",
                           SL_FMT(name_of_column(c, column_id)), SL_FMT(bounds[i]));
        }
    }
    return SILT_OK;
}

static silt_status take_row(struct cursor *cursor, duckdb_data_chunk chunk, idx_t row, silt_error *err)
{
    struct sl_duck_writing *w = cursor->c->w;
    struct sl_duck_staged *file = sl_vec_at(&w->files, cursor->file);
    while (!sl_str_eq_c(sl_duck_cell_str(chunk, 0, row), file->local)) {
        finish_file(cursor);
        if (++cursor->file >= w->files.len) {
            return sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of a footer that was not asked for");
        }
        file = sl_vec_at(&w->files, cursor->file);
    }
    int64_t column_id = -1;
    struct group group = {.nulls = -1, .min = sl_duck_cell_str(chunk, 3, row), .max = sl_duck_cell_str(chunk, 4, row)};
    if (!sl_duck_cell_i64(chunk, 1, row, &column_id) || !sl_duck_cell_i64(chunk, 2, row, &group.rows)) {
        return sl_fail(err, SILT_EENGINE, NULL, "DuckDB told nothing of a row group of %s", file->local);
    }
    (void)sl_duck_cell_i64(chunk, 5, row, &group.nulls); /* stays -1 if not told */
    group.max_is_exact = sl_duck_cell_bool(chunk, 6, row);
    SL_TRY(check_finite(cursor->c, column_id, sl_duck_cell_str(chunk, 7, row), &group, err));
    size_t index = 0;
    const struct leaf *leaf = find_leaf(cursor->c, column_id, &index);
    if (leaf != NULL) {
        merge_group(&w->arena, &file->stats[index], leaf->type, &group, cursor->closed[index]);
    }
    return SILT_OK;
}

static silt_status read_footers(struct cursor *cursor, silt_error *err)
{
    struct sl_duck_writing *w = cursor->c->w;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    struct sl_buf sql;
    sl_buf_init(&sql, w->conn.dp->env);
    /* The files are not yet under the names that they will be read by: DuckDB would keep footers that nobody asks for again. */
    (void)duckdb_query(w->conn.handle, SL_DUCK_KEEP_NONE_HERE, NULL); /* it costs memory if it fails */
    sl_buf_put_c(&sql, "SELECT file_name, column_id::BIGINT, row_group_num_rows::BIGINT, stats_min_value, "
                       "stats_max_value, stats_null_count::BIGINT, max_is_exact, type FROM parquet_metadata([");
    for (size_t i = 0; i < w->files.len; i++) {
        const struct sl_duck_staged *file = sl_vec_at(&w->files, i);
        sl_buf_put_c(&sql, i == 0 ? "" : ",");
        sl_duck_put_path(&sql, file->local);
    }
    sl_buf_put_c(&sql, "])");
    silt_status status = sl_duck_exec(&w->conn, w->call, &sql, &result, err);
    while (status == SILT_OK) {
        status = sl_duck_fetch(&w->conn, w->call, &result, &chunk, err);
        if (status != SILT_OK || chunk == NULL) {
            break;
        }
        const idx_t n = duckdb_data_chunk_get_size(chunk);
        for (idx_t row = 0; row < n && status == SILT_OK; row++) {
            status = take_row(cursor, chunk, row, err);
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    if (status == SILT_OK) {
        finish_file(cursor);
        status = cursor->file + 1 == w->files.len
                     ? SILT_OK
                     : sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of fewer footers than were written");
    }
    duckdb_destroy_result(&result);
    sl_buf_release(&sql);
    return status;
}

static silt_status make_empty(struct collect *c, silt_error *err)
{
    for (size_t f = 0; f < c->w->files.len; f++) {
        struct sl_duck_staged *file = sl_vec_at(&c->w->files, f);
        file->stats = sl_arena_alloc_array(&c->w->arena, c->leaves.len, sizeof(*file->stats));
        file->n_stats = c->leaves.len;
        if (file->stats == NULL) {
            return sl_fail_nomem(err);
        }
        for (size_t i = 0; i < c->leaves.len; i++) {
            const struct leaf *leaf = sl_vec_at(&c->leaves, i);
            file->stats[i].path = leaf->path;
            file->stats[i].path_len = leaf->path_len;
        }
    }
    return SILT_OK;
}

/* A flat column that must not be null: its null count tells, at no cost to the write. */
static silt_status check_required(const struct collect *c, silt_error *err)
{
    for (size_t f = 0; f < c->w->files.len; f++) {
        const struct sl_duck_staged *file = sl_vec_at(&c->w->files, f);
        for (size_t i = 0; i < file->n_stats; i++) {
            const struct leaf *leaf = sl_vec_at(&c->leaves, i);
            if (leaf->required && file->stats[i].null_count != 0) {
                return sl_fail(err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                               "NOT NULL constraint violated for column: %.*s",
                               SL_FMT(name_of_column(c, leaf->column_id)));
            }
        }
    }
    return SILT_OK;
}

silt_status sl_duck_collect_stats(struct sl_duck_writing *w, silt_error *err)
{
    if (w->files.len == 0) {
        return SILT_OK;
    }
    struct collect c = {.w = w};
    sl_vec_init(&c.leaves, w->conn.dp->env, sizeof(struct leaf));
    struct cursor cursor = {.c = &c};
    silt_status status = find_leaves(&c, err);
    if (status == SILT_OK) {
        status = make_empty(&c, err);
    }
    if (status == SILT_OK) {
        cursor.closed = sl_arena_alloc_array(&w->arena, c.leaves.len, sizeof(*cursor.closed));
        status = cursor.closed != NULL ? read_footers(&cursor, err) : sl_fail_nomem(err);
    }
    if (status == SILT_OK) {
        status = check_required(&c, err);
    }
    sl_vec_release(&c.leaves);
    return status;
}
