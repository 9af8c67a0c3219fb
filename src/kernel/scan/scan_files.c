/*
 * silt_scan_files: the surviving files of a scan as an Arrow stream. The plan does not keep what only this stream shows (statistics,
 * times), so the snapshot is visited again and the survivors are picked, in its stable order, by the marks of the plan.
 *
 * Batches are built when the stream is made and own their data.
 */
#include "kernel/scan/scan_int.h"

#include <string.h>

#include "base/arrow.h"
#include "base/error.h"
#include "kernel/dv/dv.h"

#define BATCH_ROWS 8192

enum {
    COLUMN_PATH,
    COLUMN_SIZE,
    COLUMN_TIME,
    COLUMN_PARTITION,
    COLUMN_STATS,
    COLUMN_DELETED,
    COLUMN_BASE_ROW_ID,
    COLUMN_ROW_COMMIT_VERSION,
    COLUMN_TAGS
};

struct lister {
    silt_scan *scan;
    struct ArrowSchema schema;
    struct sl_arrow_builder *builder;
    struct sl_arena scratch;
    struct sl_vec batches; /* struct ArrowArray */
    int64_t seen;
    size_t next; /* place in scan->marks */
};

static silt_status make_schema(const silt_env *env, struct ArrowSchema *out, silt_error *err)
{
    static const struct silt_type text = {.kind = SILT_TYPE_STRING};
    static const struct silt_type number = {.kind = SILT_TYPE_LONG};
    static const struct silt_type map = {.kind = SILT_TYPE_MAP, .key = &text, .element = &text, .contains_null = true};
    struct silt_field vector_fields[] = {
        {.name = SL_STR("storageType"), .type = &text},
        {.name = SL_STR("path"), .type = &text, .nullable = true},
        {.name = SL_STR("inlineData"), .type = &text, .nullable = true},
        {.name = SL_STR("offset"), .type = &number},
        {.name = SL_STR("sizeInBytes"), .type = &number},
        {.name = SL_STR("cardinality"), .type = &number},
    };
    const struct silt_type vector = {.kind = SILT_TYPE_STRUCT,
                                     .fields = vector_fields,
                                     .n_fields = sizeof(vector_fields) / sizeof(vector_fields[0])};
    const struct silt_field fields[] = {
        {.name = SL_STR("path"), .type = &text},
        {.name = SL_STR("size"), .type = &number},
        {.name = SL_STR("modificationTime"), .type = &number},
        {.name = SL_STR("partitionValues"), .type = &map},
        {.name = SL_STR("stats"), .type = &text, .nullable = true},
        {.name = SL_STR("deletionVector"), .type = &vector, .nullable = true},
        {.name = SL_STR("baseRowId"), .type = &number, .nullable = true},
        {.name = SL_STR("defaultRowCommitVersion"), .type = &number, .nullable = true},
        {.name = SL_STR("tags"), .type = &map, .nullable = true},
    };
    silt_schema *schema = NULL;
    SL_TRY(sl_schema_from_fields(env, fields, sizeof(fields) / sizeof(fields[0]), &schema, err));
    silt_status status = silt_schema_to_arrow(schema, out, err);
    silt_schema_unref(schema);
    return status;
}

static silt_status append_text(struct sl_arrow_builder *builder, struct sl_str text, silt_error *err)
{
    return text.ptr != NULL ? sl_arrow_append_bytes(builder, text, err) : sl_arrow_append_null(builder, err);
}

static silt_status append_partition_values(const silt_scan *scan, struct sl_arrow_builder *map,
                                           const struct sl_kv_list *values, silt_error *err)
{
    struct sl_arrow_builder *entry = sl_arrow_builder_child(map, 0);
    for (size_t i = 0; i < scan->facts.n_partitions; i++) {
        struct sl_str name = scan->facts.partitions[i].name;
        struct sl_str value = sl_partition_text(&scan->facts.partitions[i], values);
        SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(entry, 0), name, err));
        SL_TRY(append_text(sl_arrow_builder_child(entry, 1), value, err));
        SL_TRY(sl_arrow_append_nested(entry, err));
    }
    return sl_arrow_append_nested(map, err);
}

static silt_status append_optional(struct sl_arrow_builder *builder, int64_t value, silt_error *err)
{
    return value != SL_NO_I64 ? sl_arrow_append_i64(builder, value, err) : sl_arrow_append_null(builder, err);
}

static silt_status append_vector(struct lister *lister, struct sl_arrow_builder *builder, const struct sl_add *add,
                                 silt_error *err)
{
    if (add->deletion_vector == NULL) {
        return sl_arrow_append_null(builder, err);
    }
    silt_deletion_vector vector;
    SL_TRY(
        sl_dv_resolve(&lister->scratch, sl_snapshot_root(lister->scan->snapshot), add->deletion_vector, &vector, err));
    const struct sl_str type = sl_str_make(&vector.storage_type, 1);
    SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(builder, 0), type, err));
    SL_TRY(append_text(sl_arrow_builder_child(builder, 1), sl_str_from(vector.path), err));
    SL_TRY(append_text(sl_arrow_builder_child(builder, 2), sl_str_from(vector.inline_data), err));
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, 3), vector.offset, err));
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, 4), vector.size_in_bytes, err));
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, 5), vector.cardinality, err));
    return sl_arrow_append_nested(builder, err);
}

static silt_status append_tags(struct sl_arrow_builder *map, const struct sl_add *add, silt_error *err)
{
    if (!add->has_tags) {
        return sl_arrow_append_null(map, err);
    }
    struct sl_arrow_builder *entry = sl_arrow_builder_child(map, 0);
    for (size_t i = 0; i < add->tags.n; i++) {
        SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(entry, 0), add->tags.items[i].key, err));
        SL_TRY(append_text(sl_arrow_builder_child(entry, 1), add->tags.items[i].value, err));
        SL_TRY(sl_arrow_append_nested(entry, err));
    }
    return sl_arrow_append_nested(map, err);
}

static silt_status append_file(struct lister *lister, const struct sl_add *add, silt_error *err)
{
    struct sl_arrow_builder *row = lister->builder;
    struct sl_str path = {0};
    SL_TRY(sl_snapshot_file_path(lister->scan->snapshot, &lister->scratch, add->path, &path, err));
    SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(row, COLUMN_PATH), path, err));
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(row, COLUMN_SIZE), add->size, err));
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(row, COLUMN_TIME), add->modification_time, err));
    SL_TRY(append_partition_values(lister->scan, sl_arrow_builder_child(row, COLUMN_PARTITION), &add->partition_values,
                                   err));
    SL_TRY(append_text(sl_arrow_builder_child(row, COLUMN_STATS), add->stats, err));
    SL_TRY(append_vector(lister, sl_arrow_builder_child(row, COLUMN_DELETED), add, err));
    SL_TRY(append_optional(sl_arrow_builder_child(row, COLUMN_BASE_ROW_ID), add->base_row_id, err));
    SL_TRY(
        append_optional(sl_arrow_builder_child(row, COLUMN_ROW_COMMIT_VERSION), add->default_row_commit_version, err));
    SL_TRY(append_tags(sl_arrow_builder_child(row, COLUMN_TAGS), add, err));
    return sl_arrow_append_nested(row, err);
}

static silt_status finish_batch(struct lister *lister, silt_error *err)
{
    sl_arena_release(&lister->scratch);
    sl_arena_init(&lister->scratch, lister->scan->env);
    if (sl_arrow_builder_length(lister->builder) == 0) {
        return SILT_OK;
    }
    struct ArrowArray *batch = sl_vec_push(&lister->batches);
    if (batch == NULL) {
        return sl_fail_nomem(err);
    }
    return sl_arrow_builder_finish(lister->builder, batch, err);
}

/* Two names may have one hash. */
static silt_status is_planned(struct lister *lister, const struct sl_add *add, bool *found, silt_error *err)
{
    const silt_plan_file *file = sl_vec_at(&lister->scan->files, lister->next);
    struct sl_str path;
    SL_TRY(sl_snapshot_file_path(lister->scan->snapshot, &lister->scratch, add->path, &path, err));
    *found = sl_str_eq(path, sl_str_from(file->path));
    return SILT_OK;
}

static silt_status visit_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct lister *lister = ctx;
    const silt_scan *scan = lister->scan;
    const int64_t place = lister->seen++;
    if (lister->next >= scan->marks.len) {
        *stop = true;
        return SILT_OK;
    }
    const int64_t mark = scan->marks_names ? sl_scan_file_name(add) : place;
    bool found = *(const int64_t *)sl_vec_at(&scan->marks, lister->next) == mark;
    if (found && scan->marks_names) {
        SL_TRY(is_planned(lister, add, &found, err));
    }
    if (!found) {
        return SILT_OK;
    }
    lister->next++;
    SL_TRY(append_file(lister, add, err));
    return sl_arrow_builder_length(lister->builder) < BATCH_ROWS ? SILT_OK : finish_batch(lister, err);
}

/* Files that were planned and do not come again would be left out in silence. */
static silt_status check_all(const struct lister *lister, silt_error *err)
{
    return lister->next == lister->scan->marks.len
               ? SILT_OK
               : sl_fail(err, SILT_ECORRUPT, NULL,
                         "the log no longer has the files that it had when the scan was planned");
}

static silt_status list_files(struct lister *lister, const silt_call *call, silt_error *err)
{
    SL_TRY(make_schema(lister->scan->env, &lister->schema, err));
    SL_TRY(sl_arrow_builder_new(lister->scan->env, &lister->schema, &lister->builder, err));
    if (lister->scan->marks.len > 0) {
        SL_TRY(sl_snapshot_each_file(lister->scan->snapshot, call, SL_FILES_ALL, visit_file, lister, err));
    }
    SL_TRY(check_all(lister, err));
    return finish_batch(lister, err);
}

silt_status silt_scan_files(silt_scan *scan, const silt_call *call, struct ArrowArrayStream *out, silt_error *err)
{
    if (scan == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan and a place for the stream are required");
    }
    memset(out, 0, sizeof(*out));
    struct lister lister = {.scan = scan};
    sl_arena_init(&lister.scratch, scan->env);
    sl_vec_init(&lister.batches, scan->env, sizeof(struct ArrowArray));
    silt_status status = list_files(&lister, call, err);
    if (status == SILT_OK) {
        status = sl_arrow_stream_from_batches(scan->env, &lister.schema, lister.batches.data, lister.batches.len, out,
                                              err);
    }
    for (size_t i = 0; i < lister.batches.len; i++) {
        sl_arrow_array_release(sl_vec_at(&lister.batches, i));
    }
    sl_arrow_schema_release(&lister.schema);
    sl_arrow_builder_free(lister.builder);
    sl_vec_release(&lister.batches);
    sl_arena_release(&lister.scratch);
    return status;
}
