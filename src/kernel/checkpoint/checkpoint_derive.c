/*
 * Deriving columns of adds; see checkpoint_derive.h.
 */
#include "kernel/checkpoint/checkpoint_derive.h"

#include <string.h>

#include "base/error.h"
#include "kernel/action/stats_parsed.h"
#include "kernel/scan/batch.h"
#include "schema/value.h"

static const struct ArrowSchema *find_schema(const struct ArrowSchema *schema, const char *name, size_t *index)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (strcmp(schema->children[i]->name, name) == 0) {
            *index = (size_t)i;
            return schema->children[i];
        }
    }
    return NULL;
}

silt_status sl_add_deriver_init(struct sl_add_deriver *deriver, const silt_env *env,
                                const struct sl_checkpoint_layout *layout, const struct ArrowSchema *raw,
                                enum sl_raw_parsed parsed, const struct ArrowSchema *column, silt_error *err)
{
    size_t at = 0;
    *deriver = (struct sl_add_deriver){.env = env, .layout = layout, .raw = raw, .column = column, .parsed = parsed};
    sl_add_batch_init(&deriver->rows, env);
    sl_buf_init(&deriver->text, env);
    const struct ArrowSchema *stats = find_schema(column, "stats_parsed", &at);
    const struct ArrowSchema *values = find_schema(column, "partitionValues_parsed", &at);
    const struct ArrowSchema *vectors = find_schema(column, "deletionVector", &at);
    const struct ArrowSchema *texts = find_schema(raw->children[0], "stats", &at);
    if (stats != NULL) {
        SL_TRY(sl_typed_stats_new(env, layout->stats, stats, &deriver->stats, err));
    }
    if (values != NULL) {
        SL_TRY(sl_typed_values_new(env, layout->partition, values, &deriver->values, err));
    }
    if (vectors != NULL) {
        SL_TRY(sl_arrow_builder_new(env, vectors, &deriver->vectors, err));
    }
    return texts != NULL ? sl_arrow_builder_new(env, texts, &deriver->texts, err) : SILT_OK;
}

void sl_add_deriver_release(struct sl_add_deriver *deriver)
{
    if (deriver->env == NULL) {
        return;
    }
    sl_typed_stats_free(deriver->stats);
    sl_typed_values_free(deriver->values);
    sl_arrow_builder_free(deriver->vectors);
    sl_arrow_builder_free(deriver->texts);
    sl_buf_release(&deriver->text);
    sl_add_batch_release(&deriver->rows);
    *deriver = (struct sl_add_deriver){0};
}

static silt_status unusable(const char *member, silt_error *err)
{
    return sl_fail(err, SILT_ECORRUPT, NULL, "checkpoint holds an unusable add.%s", member);
}

/* ---- statistics ---- */

/* The array of stats_parsed in the batch, NULL if there is none. */
static const struct ArrowArray *parsed_of(const struct sl_add_deriver *deriver, const struct ArrowArray *batch,
                                          const struct ArrowSchema **schema)
{
    size_t at = 0;
    *schema = find_schema(deriver->raw->children[0], "stats_parsed", &at);
    return *schema != NULL ? batch->children[0]->children[at] : NULL;
}

/* Text of a row: as it is, or made of typed statistics; absent if there are none. Borrowed until the next call. */
static silt_status text_of(struct sl_add_deriver *deriver, const struct ArrowArray *batch, int64_t row,
                           struct sl_str *text, silt_error *err)
{
    const struct ArrowSchema *schema = NULL;
    if (!sl_add_batch_stats(&deriver->rows, row, text)) {
        return unusable("stats", err);
    }
    const struct ArrowArray *parsed = parsed_of(deriver, batch, &schema);
    if (text->ptr != NULL || parsed == NULL) {
        return SILT_OK;
    }
    sl_buf_clear(&deriver->text);
    SL_TRY(sl_stats_parsed_write(&deriver->text, schema, parsed, row + batch->children[0]->offset, err));
    *text = deriver->text.len > 0 ? sl_buf_view(&deriver->text) : *text;
    return SILT_OK;
}

struct coverage {
    bool texts;  /* no row lacks a text that could be made */
    bool parsed; /* no row lacks typed statistics that could be made */
};

/*
 * Has the row typed statistics? Adds are read without telling a null struct from one of nulls; where there is no number of rows, the text
 * is the better source in any case.
 */
static bool has_typed(const struct ArrowSchema *schema, const struct ArrowArray *parsed, int64_t row)
{
    size_t at = 0;
    const bool counted = find_schema(schema, "numRecords", &at) != NULL;
    return !sl_arrow_is_null(parsed, row) && counted && !sl_arrow_is_null(parsed->children[at], row + parsed->offset);
}

static silt_status look_at_stats(const struct sl_add_deriver *deriver, const struct ArrowArray *batch,
                                 struct coverage *out, silt_error *err)
{
    const struct ArrowSchema *schema = NULL;
    const struct ArrowArray *parsed = parsed_of(deriver, batch, &schema);
    *out = (struct coverage){.texts = true, .parsed = deriver->parsed == SL_RAW_PARSED};
    for (int64_t row = 0; parsed != NULL && row < batch->length; row++) {
        struct sl_str text;
        if (!sl_add_batch_stats(&deriver->rows, row, &text)) {
            return unusable("stats", err);
        }
        const int64_t at = row + batch->children[0]->offset;
        out->texts = out->texts && (text.ptr != NULL || sl_arrow_is_null(parsed, at));
        out->parsed = out->parsed && (text.ptr == NULL || has_typed(schema, parsed, at));
    }
    return SILT_OK;
}

static silt_status make_texts(struct sl_add_deriver *deriver, const struct ArrowArray *batch, struct ArrowArray *out,
                              silt_error *err)
{
    for (int64_t row = 0; row < batch->length; row++) {
        struct sl_str text;
        SL_TRY(text_of(deriver, batch, row, &text, err));
        SL_TRY(text.ptr != NULL ? sl_arrow_append_bytes(deriver->texts, text, err)
                                : sl_arrow_append_null(deriver->texts, err));
    }
    return sl_arrow_builder_finish(deriver->texts, out, err);
}

static silt_status make_stats(struct sl_add_deriver *deriver, const struct ArrowArray *batch, struct ArrowArray *out,
                              silt_error *err)
{
    for (int64_t row = 0; row < batch->length; row++) {
        struct sl_str text;
        SL_TRY(text_of(deriver, batch, row, &text, err));
        SL_TRY(sl_typed_stats_put(deriver->stats, text, err));
    }
    return sl_typed_stats_take(deriver->stats, out, err);
}

/* ---- the others ---- */

static silt_status make_values(struct sl_add_deriver *deriver, const struct ArrowArray *batch, struct ArrowArray *out,
                               silt_error *err)
{
    for (int64_t row = 0; row < batch->length; row++) {
        struct sl_kv_list values;
        SL_TRY(sl_add_batch_values(&deriver->rows, row, &values, err));
        SL_TRY(sl_typed_values_put(deriver->values, &values, err));
    }
    return sl_typed_values_take(deriver->values, out, err);
}

static silt_status put_vector(struct sl_arrow_builder *builder, const struct sl_dv_descriptor *vector, silt_error *err)
{
    if (vector == NULL) {
        return sl_arrow_append_null(builder, err);
    }
    SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(builder, 0), vector->storage_type, err));
    SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(builder, 1), vector->path_or_inline_dv, err));
    SL_TRY(vector->offset != SL_NO_I64 ? sl_arrow_append_i64(sl_arrow_builder_child(builder, 2), vector->offset, err)
                                       : sl_arrow_append_null(sl_arrow_builder_child(builder, 2), err));
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, 3), vector->size_in_bytes, err));
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, 4), vector->cardinality, err));
    return sl_arrow_append_nested(builder, err);
}

/* Numbers are as narrow as the protocol has them. */
static silt_status make_vectors(struct sl_add_deriver *deriver, const struct ArrowArray *batch, struct ArrowArray *out,
                                silt_error *err)
{
    for (int64_t row = 0; row < batch->length; row++) {
        struct sl_file_row file = {0};
        bool found = false;
        SL_TRY(sl_add_batch_row(&deriver->rows, row, &file, &found, err));
        SL_TRY(put_vector(deriver->vectors, found ? file.deletion_vector : NULL, err));
    }
    return sl_arrow_builder_finish(deriver->vectors, out, err);
}

static silt_status move_member(const struct sl_add_deriver *deriver, struct ArrowArray *batch, const char *name,
                               struct ArrowArray *out, silt_error *err)
{
    size_t at = 0;
    if (find_schema(deriver->raw->children[0], name, &at) == NULL) {
        return sl_fail(err, SILT_EENGINE, NULL, "adds were read without their member %s", name);
    }
    return sl_batch_take_child(batch->children[0], at, out, err);
}

static silt_status make_member(struct sl_add_deriver *deriver, struct ArrowArray *batch,
                               const struct coverage *coverage, const char *name, struct ArrowArray *out,
                               silt_error *err)
{
    static const struct silt_type boolean = {.kind = SILT_TYPE_BOOLEAN};
    if (strcmp(name, "dataChange") == 0) {
        const silt_value no = sl_value_bool(false); /* what a checkpoint has is no news */
        return sl_constant_column(deriver->env, &boolean, &no, batch->length, out, err);
    }
    if (strcmp(name, "deletionVector") == 0) {
        return make_vectors(deriver, batch, out, err);
    }
    if (strcmp(name, "partitionValues_parsed") == 0) {
        return make_values(deriver, batch, out, err);
    }
    if (strcmp(name, "stats_parsed") == 0 && !coverage->parsed) {
        return make_stats(deriver, batch, out, err);
    }
    if (strcmp(name, "stats") == 0 && !coverage->texts) {
        return make_texts(deriver, batch, out, err);
    }
    return move_member(deriver, batch, name, out, err);
}

/* What is made comes before what is moved: it reads what the other takes away. */
static bool is_made(const char *name, const struct coverage *coverage)
{
    return strcmp(name, "dataChange") == 0 || strcmp(name, "deletionVector") == 0 ||
           strcmp(name, "partitionValues_parsed") == 0 || (strcmp(name, "stats_parsed") == 0 && !coverage->parsed) ||
           (strcmp(name, "stats") == 0 && !coverage->texts);
}

static silt_status make_members(struct sl_add_deriver *deriver, struct ArrowArray *batch, struct ArrowArray *out,
                                silt_error *err)
{
    struct coverage coverage;
    SL_TRY(sl_add_batch_bind(&deriver->rows, deriver->raw, batch, err));
    SL_TRY(look_at_stats(deriver, batch, &coverage, err));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < deriver->column->n_children; i++) {
            const char *name = deriver->column->children[i]->name;
            if (is_made(name, &coverage) == (pass == 0)) {
                SL_TRY(make_member(deriver, batch, &coverage, name, out->children[i], err));
            }
        }
    }
    return SILT_OK;
}

silt_status sl_add_deriver_column(struct sl_add_deriver *deriver, struct ArrowArray *batch, struct ArrowArray *out,
                                  silt_error *err)
{
    silt_status status = sl_batch_new(deriver->env, (size_t)deriver->column->n_children, batch->length, out, err);
    if (status == SILT_OK) {
        status = make_members(deriver, batch, out, err);
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    sl_arrow_array_release(batch);
    return status;
}
