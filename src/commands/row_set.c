/*
 * Small tables made in memory. See row_set.h.
 */
#include "commands/row_set.h"

#include "base/error.h"
#include "base/vec.h"
#include "json/json.h"
#include "schema/type.h"

silt_status sl_row_set_init(struct sl_row_set *rows, const silt_env *env, const struct sl_row_column *columns, size_t n,
                            silt_error *err)
{
    struct sl_arena arena;
    struct silt_field *fields = NULL;
    silt_status status = SILT_OK;

    *rows = (struct sl_row_set){.env = env, .err = err};
    sl_arena_init(&arena, env);
    fields = sl_arena_alloc_array(&arena, n, sizeof(*fields));
    if (fields == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        fields[i].name = sl_str_from(columns[i].name);
        fields[i].nullable = true;
        status = sl_type_parse(&arena, sl_str_from(columns[i].type), &fields[i].type, err);
        if (status != SILT_OK) {
            goto out;
        }
    }
    status = sl_schema_from_fields(env, fields, n, &rows->schema, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = silt_schema_to_arrow(rows->schema, &rows->arrow, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = sl_arrow_builder_new(env, &rows->arrow, &rows->builder, err);
out:
    sl_arena_release(&arena);
    if (status != SILT_OK) {
        sl_row_set_release(rows);
    }
    return status;
}

void sl_row_set_release(struct sl_row_set *rows)
{
    sl_arrow_builder_free(rows->builder);
    rows->builder = NULL;
    sl_arrow_schema_release(&rows->arrow);
    silt_schema_unref(rows->schema);
    rows->schema = NULL;
}

/* Builder of the next cell; NULL once something failed. */
static struct sl_arrow_builder *next_cell(struct sl_row_set *rows)
{
    if (rows->status != SILT_OK || rows->column >= silt_schema_field_count(rows->schema)) {
        return NULL;
    }
    return sl_arrow_builder_child(rows->builder, rows->column++);
}

void sl_row_null(struct sl_row_set *rows)
{
    struct sl_arrow_builder *cell = next_cell(rows);
    if (cell != NULL) {
        rows->status = sl_arrow_append_null(cell, rows->err);
    }
}

void sl_row_str(struct sl_row_set *rows, struct sl_str value)
{
    struct sl_arrow_builder *cell = NULL;
    if (value.ptr == NULL) {
        sl_row_null(rows);
        return;
    }
    cell = next_cell(rows);
    if (cell != NULL) {
        rows->status = sl_arrow_append_bytes(cell, value, rows->err);
    }
}

void sl_row_c(struct sl_row_set *rows, const char *value)
{
    sl_row_str(rows, sl_str_from(value));
}

void sl_row_i64(struct sl_row_set *rows, int64_t value)
{
    struct sl_arrow_builder *cell = next_cell(rows);
    if (cell != NULL) {
        rows->status = sl_arrow_append_i64(cell, value, rows->err);
    }
}

/* Appends text, or null when it is absent. */
static silt_status append_text(struct sl_arrow_builder *builder, struct sl_str value, silt_error *err)
{
    return value.ptr != NULL ? sl_arrow_append_bytes(builder, value, err) : sl_arrow_append_null(builder, err);
}

void sl_row_str_list(struct sl_row_set *rows, struct sl_str_list values)
{
    struct sl_arrow_builder *cell = next_cell(rows);
    struct sl_arrow_builder *item = NULL;
    if (cell == NULL) {
        return;
    }
    item = sl_arrow_builder_child(cell, 0);
    for (size_t i = 0; i < values.n && rows->status == SILT_OK; i++) {
        rows->status = append_text(item, values.items[i], rows->err);
    }
    if (rows->status == SILT_OK) {
        rows->status = sl_arrow_append_nested(cell, rows->err);
    }
}

/* One entry of a map column: children key and value of its entries struct. */
static silt_status append_entry(struct sl_arrow_builder *map, struct sl_str key, struct sl_str value, silt_error *err)
{
    struct sl_arrow_builder *entries = sl_arrow_builder_child(map, 0);
    SL_TRY(append_text(sl_arrow_builder_child(entries, 0), key, err));
    SL_TRY(append_text(sl_arrow_builder_child(entries, 1), value, err));
    return sl_arrow_append_nested(entries, err);
}

void sl_row_str_map(struct sl_row_set *rows, struct sl_kv_list values)
{
    struct sl_arrow_builder *cell = next_cell(rows);
    if (cell == NULL) {
        return;
    }
    for (size_t i = 0; i < values.n && rows->status == SILT_OK; i++) {
        rows->status = append_entry(cell, values.items[i].key, values.items[i].value, rows->err);
    }
    if (rows->status == SILT_OK) {
        rows->status = sl_arrow_append_nested(cell, rows->err);
    }
}

/* The text of a JSON member: a string's content, null as absent, all else as JSON text in buf. */
static struct sl_str member_text(struct sl_buf *buf, const sl_json *value)
{
    struct sl_str text = {0};
    if (sl_json_is_null(value)) {
        return text;
    }
    if (sl_json_to_str(value, &text)) {
        return text;
    }
    sl_buf_clear(buf);
    sl_json_write(buf, value);
    return sl_buf_view(buf);
}

static silt_status append_json_map(struct sl_row_set *rows, struct sl_arrow_builder *cell, const sl_json *object,
                                   struct sl_buf *buf)
{
    struct sl_json_iter iter = sl_json_iterate(object);
    struct sl_str key;
    const sl_json *value;
    while (sl_json_next(&iter, &key, &value)) {
        struct sl_str text = member_text(buf, value);
        SL_TRY(sl_buf_status(buf, rows->err));
        SL_TRY(append_entry(cell, key, text, rows->err));
    }
    return sl_arrow_append_nested(cell, rows->err);
}

static silt_status append_json_struct(struct sl_row_set *rows, struct sl_arrow_builder *cell,
                                      const struct silt_type *type, const sl_json *object, struct sl_buf *buf)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        struct sl_str text = member_text(buf, sl_json_member_str(object, type->fields[i].name));
        SL_TRY(sl_buf_status(buf, rows->err));
        SL_TRY(append_text(sl_arrow_builder_child(cell, i), text, rows->err));
    }
    return sl_arrow_append_nested(cell, rows->err);
}

void sl_row_json(struct sl_row_set *rows, const char *json)
{
    struct sl_json_doc *doc = NULL;
    struct sl_buf buf;
    const struct silt_type *type = NULL;
    struct sl_arrow_builder *cell = NULL;

    if (json == NULL || sl_json_parse(rows->env, sl_str_from(json), &doc, NULL) != SILT_OK ||
        !sl_json_is_object(sl_json_root(doc))) {
        sl_json_free(doc);
        sl_row_null(rows);
        return;
    }
    cell = next_cell(rows);
    if (cell != NULL) {
        sl_buf_init(&buf, rows->env);
        type = silt_field_type(silt_schema_field(rows->schema, rows->column - 1));
        rows->status = type->kind == SILT_TYPE_MAP ? append_json_map(rows, cell, sl_json_root(doc), &buf)
                                                   : append_json_struct(rows, cell, type, sl_json_root(doc), &buf);
        sl_buf_release(&buf);
    }
    sl_json_free(doc);
}

void sl_row_end(struct sl_row_set *rows)
{
    while (rows->status == SILT_OK && rows->column < silt_schema_field_count(rows->schema)) {
        sl_row_null(rows);
    }
    rows->column = 0;
    if (rows->status == SILT_OK) {
        rows->status = sl_arrow_append_nested(rows->builder, rows->err);
    }
}

silt_status sl_row_set_finish(struct sl_row_set *rows, struct ArrowArrayStream *out)
{
    struct ArrowArray batch = {0};
    silt_status status = rows->status;

    if (status == SILT_OK) {
        status = sl_arrow_builder_finish(rows->builder, &batch, rows->err);
    }
    if (status == SILT_OK) {
        status = sl_arrow_stream_from_batches(rows->env, &rows->arrow, &batch, 1, out, rows->err);
    }
    sl_arrow_array_release(&batch);
    sl_row_set_release(rows);
    return status;
}
