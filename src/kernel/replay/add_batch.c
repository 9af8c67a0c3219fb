/*
 * Adds from Arrow, column by column; see add_batch.h. PROTOCOL.md "Checkpoint Schema". What a writer leaves out is null; a struct of
 * nulls stands for no vector.
 */
#include "kernel/replay/add_batch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

void sl_add_batch_init(struct sl_add_batch *batch, const silt_env *env)
{
    *batch = (struct sl_add_batch){.env = env};
}

void sl_add_batch_release(struct sl_add_batch *batch)
{
    if (batch->env != NULL) {
        sl_release(batch->env, batch->items, batch->cap_items * sizeof(*batch->items));
        sl_add_batch_init(batch, batch->env);
    }
}

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define STRUCT_BEGIN "{\"type\":\"struct\",\"fields\":["
#define STRUCT_END "]}"
#define TEXT "\"string\""
#define LONG "\"long\""
#define TEXT_MAP "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"string\",\"valueContainsNull\":true}"

silt_status sl_add_batch_schema(const silt_env *env, unsigned members, silt_schema **out, silt_error *err)
{
    *out = NULL;
    struct sl_buf json;
    sl_buf_init(&json, env);
    sl_buf_put_c(&json, STRUCT_BEGIN "{\"name\":\"add\",\"nullable\":true,\"metadata\":{},\"type\":" STRUCT_BEGIN);
    sl_buf_put_c(&json, FIELD("path", TEXT) "," FIELD("partitionValues", TEXT_MAP) ",");
    sl_buf_put_c(&json, FIELD("size", LONG) "," FIELD("modificationTime", LONG) ",");
    if ((members & SL_ADD_ROW_IDS) != 0) {
        sl_buf_put_c(&json, FIELD("baseRowId", LONG) "," FIELD("defaultRowCommitVersion", LONG) ",");
    }
    sl_buf_put_c(&json, "{\"name\":\"deletionVector\",\"nullable\":true,\"metadata\":{},\"type\":" STRUCT_BEGIN);
    sl_buf_put_c(&json, FIELD("storageType", TEXT));
    if ((members & SL_ADD_VECTORS) != 0) {
        sl_buf_put_c(&json, "," FIELD("pathOrInlineDv", TEXT) "," FIELD("offset", LONG) ",");
        sl_buf_put_c(&json, FIELD("sizeInBytes", LONG) "," FIELD("cardinality", LONG));
    }
    sl_buf_put_c(&json, STRUCT_END "}" STRUCT_END "}" STRUCT_END);
    silt_status status = sl_buf_status(&json, err);
    if (status == SILT_OK) {
        status = silt_schema_from_json(env, json.data, json.len, out, err);
    }
    sl_buf_release(&json);
    return status;
}

/* ---- binding ---- */

static silt_status malformed(const char *member, silt_error *err)
{
    return sl_fail(err, SILT_EENGINE, NULL, "checkpoint column add.%s came as an arrow array that is not well-formed",
                   member);
}

/* Binds a column of one of the formats u, l, +m, +s that has at least n rows (before its own offset is added). */
static bool bind_column(struct sl_batch_column *column, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, const char *format, int64_t n)
{
    const int64_t n_buffers = format[0] == 'u' ? 3 : strcmp(format, "+s") == 0 ? 1 : 2;
    if (schema->format == NULL || strcmp(schema->format, format) != 0 || schema->n_children != array->n_children ||
        array->n_buffers < n_buffers || array->buffers == NULL || array->offset < 0 || array->length < n) {
        return false;
    }
    *column = (struct sl_batch_column){.present = true, .valid_offset = array->offset};
    column->valid = array->null_count == 0 ? NULL : array->buffers[0];
    if (n_buffers > 1 && array->length > 0) {
        if (array->buffers[1] == NULL) {
            return false;
        }
        column->numbers = format[0] == 'l' ? (const int64_t *)array->buffers[1] + array->offset : NULL;
        column->offsets = format[0] == 'l' ? NULL : (const int32_t *)array->buffers[1] + array->offset;
        column->bytes = format[0] == 'u' ? array->buffers[2] : NULL;
    }
    return true;
}

static bool bind_map(struct sl_add_batch *batch, const struct ArrowSchema *schema, const struct ArrowArray *array,
                     int64_t n)
{
    if (!bind_column(&batch->partition_values, schema, array, "+m", n) || array->n_children != 1) {
        return false;
    }
    const struct ArrowArray *entries = array->children[0];
    const struct ArrowSchema *entry = schema->children[0];
    if (entries->n_children != 2 || entry->n_children != 2 || entries->offset < 0) {
        return false;
    }
    const int64_t n_inside = entries->offset + entries->length;
    if (!bind_column(&batch->keys, entry->children[0], entries->children[0], "u", n_inside) ||
        !bind_column(&batch->values, entry->children[1], entries->children[1], "u", n_inside)) {
        return false;
    }
    struct sl_batch_column *inside[] = {&batch->keys, &batch->values};
    for (size_t i = 0; i < 2; i++) {
        inside[i]->valid_offset += entries->offset;
        inside[i]->offsets = inside[i]->offsets != NULL ? inside[i]->offsets + entries->offset : NULL;
    }
    batch->n_entries = entries->length;
    return true;
}

struct member {
    const char *name;
    const char *format;
    size_t offset;
};

#define MEMBER(name, format, field)                            \
    {                                                          \
        (name), (format), offsetof(struct sl_add_batch, field) \
    }

/* Rows of the children of a struct count from its own offset: theirs is moved on by it. */
static bool bind_members(struct sl_add_batch *batch, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         const struct member *members, size_t n_members, const char **bad)
{
    const int64_t n = array->offset + array->length;
    for (int64_t c = 0; c < array->n_children; c++) {
        for (size_t i = 0; i < n_members; i++) {
            const char *name = schema->children[c]->name;
            if (name == NULL || strcmp(name, members[i].name) != 0) {
                continue;
            }
            *bad = name;
            struct sl_batch_column *column = (struct sl_batch_column *)((char *)batch + members[i].offset);
            const bool ok = strcmp(members[i].format, "+m") == 0
                                ? bind_map(batch, schema->children[c], array->children[c], n)
                                : bind_column(column, schema->children[c], array->children[c], members[i].format, n);
            if (!ok) {
                return false;
            }
            column->valid_offset += array->offset;
            column->numbers = column->numbers != NULL ? column->numbers + array->offset : NULL;
            column->offsets = column->offsets != NULL ? column->offsets + array->offset : NULL;
        }
    }
    return true;
}

static silt_status bind_add(struct sl_add_batch *batch, const struct ArrowSchema *schema,
                            const struct ArrowArray *array, silt_error *err)
{
    static const struct member members[] = {MEMBER("path", "u", path),
                                            MEMBER("partitionValues", "+m", partition_values),
                                            MEMBER("size", "l", size),
                                            MEMBER("modificationTime", "l", time),
                                            MEMBER("stats", "u", stats),
                                            MEMBER("deletionVector", "+s", dv),
                                            MEMBER("baseRowId", "l", base_row_id),
                                            MEMBER("defaultRowCommitVersion", "l", row_commit_version)};
    static const struct member vector_members[] = {
        MEMBER("storageType", "u", dv_type), MEMBER("pathOrInlineDv", "u", dv_path), MEMBER("offset", "l", dv_offset),
        MEMBER("sizeInBytes", "l", dv_size), MEMBER("cardinality", "l", dv_cardinality)};
    const char *bad = "*";
    if (!bind_members(batch, schema, array, members, sizeof(members) / sizeof(members[0]), &bad)) {
        return malformed(bad, err);
    }
    for (int64_t c = 0; batch->dv.present && c < array->n_children; c++) {
        if (strcmp(schema->children[c]->name, "deletionVector") != 0) {
            continue;
        }
        if (!bind_members(batch, schema->children[c], array->children[c], vector_members,
                          sizeof(vector_members) / sizeof(vector_members[0]), &bad)) {
            return malformed(bad, err);
        }
        struct sl_batch_column *inside[] = {&batch->dv_type, &batch->dv_path, &batch->dv_offset, &batch->dv_size,
                                            &batch->dv_cardinality};
        for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
            inside[i]->valid_offset += array->offset;
            inside[i]->numbers = inside[i]->numbers != NULL ? inside[i]->numbers + array->offset : NULL;
            inside[i]->offsets = inside[i]->offsets != NULL ? inside[i]->offsets + array->offset : NULL;
        }
    }
    return SILT_OK;
}

silt_status sl_add_batch_bind(struct sl_add_batch *batch, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, silt_error *err)
{
    *batch = (struct sl_add_batch){.env = batch->env, .items = batch->items, .cap_items = batch->cap_items};
    if (schema->n_children != array->n_children || array->length < 0 || array->offset < 0) {
        return malformed("*", err);
    }
    for (int64_t c = 0; c < array->n_children; c++) {
        const char *name = schema->children[c]->name;
        if (name == NULL || strcmp(name, "add") != 0) {
            continue;
        }
        const struct ArrowArray *add = array->children[c];
        if (!bind_column(&batch->add, schema->children[c], add, "+s", array->offset + array->length)) {
            return malformed("*", err);
        }
        SL_TRY(bind_add(batch, schema->children[c], add, err));
    }
    batch->n = batch->add.present && batch->path.present ? array->length : 0;
    if (array->offset > 0 && batch->n > 0) {
        return malformed("*", err); /* no engine slices what it hands out; children would need the shift too */
    }
    return SILT_OK;
}

/* ---- reading ---- */

static bool is_null(const struct sl_batch_column *column, int64_t row)
{
    if (!column->present || column->valid == NULL) {
        return !column->present;
    }
    const int64_t bit = row + column->valid_offset;
    return (column->valid[bit / 8] >> (bit % 8) & 1) == 0;
}

/* false: the offsets are not in order. */
static bool text_at(const struct sl_batch_column *column, int64_t row, struct sl_str *out)
{
    const int32_t begin = column->offsets[row];
    const int32_t end = column->offsets[row + 1];
    *out = end > begin ? sl_str_make(column->bytes + begin, (size_t)(end - begin)) : SL_STR("");
    return begin >= 0 && begin <= end && (end == begin || column->bytes != NULL);
}

static silt_status unusable(const char *member, silt_error *err)
{
    return sl_fail(err, SILT_ECORRUPT, NULL, "checkpoint holds an unusable add.%s", member);
}

static silt_status missing(const char *shape, const char *member, silt_error *err)
{
    return sl_fail(err, SILT_ECORRUPT, NULL, "checkpoint holds a %s without %s", shape, member);
}

static int64_t number_at(const struct sl_batch_column *column, int64_t row)
{
    return is_null(column, row) ? SL_NO_I64 : column->numbers[row];
}

/* The number that stands for none cannot be there. */
static bool is_reserved(const struct sl_batch_column *column, int64_t row, int64_t number)
{
    return number == SL_NO_I64 && !is_null(column, row);
}

static silt_status read_values(struct sl_add_batch *batch, int64_t row, struct sl_file_row *out, silt_error *err)
{
    out->values = NULL;
    out->n_values = 0;
    if (is_null(&batch->partition_values, row)) {
        return SILT_OK;
    }
    const int64_t begin = batch->partition_values.offsets[row];
    const int64_t end = batch->partition_values.offsets[row + 1];
    if (begin < 0 || begin > end || end > batch->n_entries) {
        return unusable("partitionValues", err);
    }
    const size_t n = (size_t)(end - begin);
    if (n > batch->cap_items) {
        struct sl_kv *items = sl_alloc_array(batch->env, n, sizeof(*items));
        if (items == NULL) {
            return sl_fail_nomem(err);
        }
        sl_release(batch->env, batch->items, batch->cap_items * sizeof(*items));
        batch->items = items;
        batch->cap_items = n;
    }
    for (size_t i = 0; i < n; i++) {
        struct sl_kv *item = &batch->items[i];
        const int64_t at = begin + (int64_t)i;
        item->value = (struct sl_str){NULL, 0};
        if (is_null(&batch->keys, at) || !text_at(&batch->keys, at, &item->key) ||
            (!is_null(&batch->values, at) && !text_at(&batch->values, at, &item->value))) {
            return unusable("partitionValues", err);
        }
    }
    out->values = batch->items;
    out->n_values = n;
    return SILT_OK;
}

static silt_status read_vector(struct sl_add_batch *batch, int64_t row, struct sl_file_row *out, silt_error *err)
{
    out->deletion_vector = NULL;
    if (is_null(&batch->dv, row) || is_null(&batch->dv_type, row)) {
        return SILT_OK;
    }
    if (!batch->dv_path.present && !batch->dv_size.present) {
        batch->lacks_vector = true;
        return SILT_OK;
    }
    struct sl_dv_descriptor *dv = &batch->vector;
    *dv = (struct sl_dv_descriptor){.offset = number_at(&batch->dv_offset, row),
                                    .size_in_bytes = number_at(&batch->dv_size, row),
                                    .cardinality = number_at(&batch->dv_cardinality, row)};
    if (is_null(&batch->dv_path, row)) {
        return missing("deletionVector", "pathOrInlineDv", err);
    }
    if (dv->size_in_bytes == SL_NO_I64 || dv->cardinality == SL_NO_I64) {
        return missing("deletionVector", dv->size_in_bytes == SL_NO_I64 ? "sizeInBytes" : "cardinality", err);
    }
    if (is_reserved(&batch->dv_offset, row, dv->offset) || dv->size_in_bytes < 0 || dv->cardinality < 0 ||
        !text_at(&batch->dv_type, row, &dv->storage_type) || !text_at(&batch->dv_path, row, &dv->path_or_inline_dv)) {
        return unusable("deletionVector", err);
    }
    out->deletion_vector = dv;
    return SILT_OK;
}

silt_status sl_add_batch_row(struct sl_add_batch *batch, int64_t row, struct sl_file_row *out, bool *found,
                             silt_error *err)
{
    *found = !is_null(&batch->add, row) && !is_null(&batch->path, row);
    if (!*found) {
        return SILT_OK;
    }
    if (!text_at(&batch->path, row, &out->path)) {
        return unusable("path", err);
    }
    out->size = number_at(&batch->size, row);
    out->time = number_at(&batch->time, row);
    if (out->size < 0) {
        return out->size == SL_NO_I64 ? missing("add", "size", err) : unusable("size", err);
    }
    if (out->time == SL_NO_I64) {
        return missing("add", "modificationTime", err);
    }
    out->base_row_id = number_at(&batch->base_row_id, row);
    out->row_commit_version = number_at(&batch->row_commit_version, row);
    if (is_reserved(&batch->base_row_id, row, out->base_row_id) ||
        is_reserved(&batch->row_commit_version, row, out->row_commit_version)) {
        return unusable("baseRowId", err);
    }
    out->data_change = false; /* as the protocol has it for checkpoints; it is not read */
    SL_TRY(read_values(batch, row, out, err));
    return read_vector(batch, row, out, err);
}

bool sl_add_batch_has_add(const struct sl_add_batch *batch, int64_t row)
{
    return !is_null(&batch->add, row);
}

silt_status sl_add_batch_values(struct sl_add_batch *batch, int64_t row, struct sl_kv_list *out, silt_error *err)
{
    struct sl_file_row file;
    SL_TRY(read_values(batch, row, &file, err));
    *out = (struct sl_kv_list){.items = file.values, .n = file.n_values};
    return SILT_OK;
}

bool sl_add_batch_stats(const struct sl_add_batch *batch, int64_t row, struct sl_str *out)
{
    *out = (struct sl_str){NULL, 0};
    return is_null(&batch->stats, row) || text_at(&batch->stats, row, out);
}
