/*
 * The typed columns of a checkpoint against its text (PROTOCOL.md "Checkpoint Schema": stats_parsed, partitionValues_parsed). Engines read the
 * one or the other, so both must say the same of a file that has both. Typed statistics are made text again, and both texts are then
 * read as planning reads them.
 */
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "commands/fsck_data.h"
#include "commands/fsck_judge.h"
#include "json/writer.h"
#include "kernel/action/stats_parsed.h"
#include "kernel/replay/checkpoint_files.h"
#include "kernel/scan/stats_arrow.h"
#include "kernel/snapshot/state.h"
#include "schema/value.h"

struct comparing {
    struct sl_fsck *fsck;
    struct sl_fsck_about about;
    struct sl_fsck_reader columns; /* only its columns */
    struct sl_partition_column *partitions;
    size_t n_partitions;
    struct sl_arena arena; /* of a row */
    struct sl_add_batch adds;
    struct sl_buf text;
    const struct sl_str *path; /* of the row's file */
};

/* Places of members in the column add. */
enum {
    MEMBER_STATS,
    MEMBER_STATS_PARSED,
    MEMBER_VALUES_PARSED,
    N_MEMBERS
};
static const char *const MEMBERS[N_MEMBERS] = {"stats", "stats_parsed", "partitionValues_parsed"};

/* ---- the schema ---- */

static void put_member(struct sl_buf *out, const char *name)
{
    sl_buf_printf(out, ",{\"name\":\"%s\",\"nullable\":true,\"metadata\":{},\"type\":", name);
}

static void put_values(struct sl_buf *out, const struct comparing *c)
{
    sl_buf_put_c(out, "{\"type\":\"struct\",\"fields\":[");
    for (size_t i = 0; i < c->n_partitions; i++) {
        struct sl_json_writer w;
        sl_buf_put_c(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        sl_json_writer_init(&w, out);
        sl_json_put_str(&w, c->partitions[i].physical);
        sl_buf_put_c(out, ",\"nullable\":true,\"metadata\":{},\"type\":");
        sl_type_print_json(out, c->partitions[i].type);
        sl_buf_put_char(out, '}');
    }
    sl_buf_put_c(out, "]}}");
}

/* Column add with what an add batch needs, and the members above. Without bounds where the file's types cannot be taken for the columns'. */
static silt_status make_schema(const struct comparing *c, bool bounds, silt_schema **out, silt_error *err)
{
    struct sl_buf text;
    sl_buf_init(&text, c->fsck->env);
    sl_buf_put_c(
        &text,
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"add\",\"nullable\":true,\"metadata\":{},\"type\":{\"type\":"
        "\"struct\",\"fields\":[{\"name\":\"path\",\"nullable\":true,\"metadata\":{},\"type\":\"string\"}");
    put_member(&text, "size");
    sl_buf_put_c(&text, "\"long\"}");
    put_member(&text, "modificationTime");
    sl_buf_put_c(&text, "\"long\"}");
    put_member(&text, "partitionValues");
    sl_buf_put_c(&text,
                 "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"string\",\"valueContainsNull\":true}}");
    put_member(&text, MEMBERS[MEMBER_STATS]);
    sl_buf_put_c(&text, "\"string\"}");
    put_member(&text, MEMBERS[MEMBER_STATS_PARSED]);
    sl_stats_parsed_put_type(&text, c->columns.physical, bounds);
    sl_buf_put_char(&text, '}');
    if (c->n_partitions > 0) {
        put_member(&text, MEMBERS[MEMBER_VALUES_PARSED]);
        put_values(&text, c);
    }
    sl_buf_put_c(&text, "]}}]}");
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = silt_schema_from_json(c->fsck->env, text.data, text.len, out, err);
    }
    sl_buf_release(&text);
    return status;
}

/* ---- a file ---- */

static silt_status tell(struct comparing *c, struct sl_str column, const silt_value *text, const silt_value *typed,
                        const char *what, silt_error *err)
{
    struct sl_fsck_about about = c->about;
    struct sl_buf expected;
    struct sl_buf found;
    sl_buf_init(&expected, c->fsck->env);
    sl_buf_init(&found, c->fsck->env);
    sl_value_print(&expected, text);
    sl_value_print(&found, typed);
    about.file = *c->path;
    about.column = column;
    about.expected = sl_str_from(sl_buf_cstr(&expected));
    about.found = sl_str_from(sl_buf_cstr(&found));
    const silt_status status = sl_fsck_tell(c->fsck, &about, err,
                                            "the checkpoint has %s %s as text and %s in typed columns", what,
                                            sl_buf_cstr(&expected), sl_buf_cstr(&found));
    sl_buf_release(&expected);
    sl_buf_release(&found);
    return status;
}

static silt_status compare_bounds(struct comparing *c, size_t column, const struct sl_bounds *text,
                                  const struct sl_bounds *typed, silt_error *err)
{
    const struct sl_skip_column *leaf = &c->columns.columns[column];
    const struct sl_str name = leaf->path[leaf->path_len - 1];
    if (text->has_min && typed->has_min && !sl_fsck_is_same(leaf, &text->min, &typed->min)) {
        SL_TRY(tell(c, name, &text->min, &typed->min, "minimum", err));
    }
    if (text->has_max && typed->has_max && !sl_fsck_is_same(leaf, &text->max, &typed->max)) {
        SL_TRY(tell(c, name, &text->max, &typed->max, "maximum", err));
    }
    if (text->has_null_count && typed->has_null_count && text->null_count != typed->null_count) {
        const silt_value left = sl_value_i64(SILT_TYPE_LONG, text->null_count);
        const silt_value right = sl_value_i64(SILT_TYPE_LONG, typed->null_count);
        SL_TRY(tell(c, name, &left, &right, "nullCount", err));
    }
    return SILT_OK;
}

static silt_status compare_statistics(struct comparing *c, struct sl_str text, struct sl_str typed, silt_error *err)
{
    const size_t n = c->columns.n;
    struct sl_claims claims[2];
    struct sl_bounds *bounds = sl_arena_alloc_array(&c->arena, 2 * n + 1, sizeof(*bounds));
    if (bounds == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_stats_claims_from_json(text, c->columns.columns, n, &c->arena, &claims[0], bounds, err));
    SL_TRY(sl_stats_claims_from_json(typed, c->columns.columns, n, &c->arena, &claims[1], bounds + n, err));
    if (claims[0].has_rows && claims[1].has_rows && claims[0].rows != claims[1].rows) {
        const silt_value left = sl_value_i64(SILT_TYPE_LONG, claims[0].rows);
        const silt_value right = sl_value_i64(SILT_TYPE_LONG, claims[1].rows);
        SL_TRY(tell(c, (struct sl_str){NULL, 0}, &left, &right, "numRecords", err));
    }
    for (size_t i = 0; i < n; i++) {
        SL_TRY(compare_bounds(c, i, &bounds[i], &bounds[n + i], err));
    }
    return SILT_OK;
}

/* What does not parse is told where files are checked. */
static silt_status compare_values(struct comparing *c, const struct sl_partition_arrow *typed, int64_t row,
                                  const struct sl_kv_list *values, silt_error *err)
{
    for (size_t i = 0; i < c->n_partitions; i++) {
        const struct sl_str text = sl_partition_text(&c->partitions[i], values);
        silt_value left;
        silt_value right;
        int order = 0;
        if (text.len > 0 && sl_partition_arrow_get(typed, i, row, &right) &&
            sl_partition_value_parse(&c->arena, text, c->partitions[i].type, &left, NULL, NULL) == SILT_OK &&
            !right.is_null && sl_value_compare(&left, &right, &order) && order != 0) {
            SL_TRY(tell(c, c->partitions[i].name, &left, &right, "partition value", err));
        }
    }
    return SILT_OK;
}

/* ---- a batch ---- */

static int64_t find_member(const struct ArrowSchema *add, const char *name)
{
    for (int64_t i = 0; i < add->n_children; i++) {
        if (sl_str_eq_c(sl_str_from(add->children[i]->name), name)) {
            return i;
        }
    }
    return -1;
}

struct members {
    const struct ArrowSchema *schema[N_MEMBERS]; /* NULL: not there */
    const struct ArrowArray *array[N_MEMBERS];
    int64_t offset; /* of the column add */
    struct sl_partition_arrow values;
};

static silt_status compare_row(struct comparing *c, const struct members *m, int64_t row, silt_error *err)
{
    struct sl_file_row file;
    bool found = false;
    silt_value text;
    SL_TRY(sl_add_batch_row(&c->adds, row, &file, &found, err));
    if (!found) {
        return SILT_OK;
    }
    c->path = &file.path;
    const int64_t at = row + m->offset;
    if (m->array[MEMBER_STATS] != NULL && m->array[MEMBER_STATS_PARSED] != NULL &&
        sl_value_from_arrow(m->schema[MEMBER_STATS], m->array[MEMBER_STATS], at, &text) && !text.is_null) {
        sl_buf_clear(&c->text);
        SL_TRY(sl_stats_parsed_write(&c->text, m->schema[MEMBER_STATS_PARSED], m->array[MEMBER_STATS_PARSED], at, err));
        SL_TRY(sl_buf_status(&c->text, err));
        SL_TRY(compare_statistics(c, sl_value_get_str(&text), sl_buf_view(&c->text), err));
    }
    if (m->array[MEMBER_VALUES_PARSED] != NULL) {
        const struct sl_kv_list values = {file.values, file.n_values};
        SL_TRY(compare_values(c, &m->values, at, &values, err));
    }
    sl_arena_reset(&c->arena);
    return SILT_OK;
}

static silt_status compare_batch(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                 silt_error *err)
{
    struct comparing *c = ctx;
    struct members m = {.offset = batch->offset};
    struct sl_arena bound;
    SL_TRY(sl_add_batch_bind(&c->adds, schema, batch, err));
    const struct ArrowSchema *add = schema->children[0];
    m.offset += batch->children[0]->offset;
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const int64_t place = find_member(add, MEMBERS[i]);
        m.schema[i] = place >= 0 ? add->children[place] : NULL;
        m.array[i] = place >= 0 ? batch->children[0]->children[place] : NULL;
    }
    sl_arena_init(&bound, c->fsck->env);
    silt_status status = SILT_OK;
    if (m.array[MEMBER_VALUES_PARSED] != NULL) {
        status = sl_partition_arrow_bind(&m.values, &bound, m.schema[MEMBER_VALUES_PARSED], c->partitions,
                                         c->n_partitions, err);
        if (status == SILT_OK && !sl_partition_arrow_set(&m.values, m.array[MEMBER_VALUES_PARSED])) {
            m.array[MEMBER_VALUES_PARSED] = NULL;
        }
    }
    for (int64_t i = 0; i < batch->length && status == SILT_OK; i++) {
        status = compare_row(c, &m, i, err);
    }
    sl_arena_release(&bound);
    return status;
}

/* ---- a checkpoint ---- */

static silt_status read_files(struct comparing *c, const struct sl_checkpoint *checkpoint, bool bounds, silt_error *err)
{
    silt_schema *schema = NULL;
    const struct sl_checkpoint_files files = {.source = &c->fsck->source, .checkpoint = checkpoint};
    SL_TRY(make_schema(c, bounds, &schema, err));
    const silt_status status = sl_checkpoint_each_batch(&files, schema, c->fsck->call, compare_batch, c, err);
    silt_schema_unref(schema);
    return status;
}

silt_status sl_fsck_parsed(struct sl_fsck *fsck, const struct sl_checkpoint *checkpoint, struct sl_str name,
                           silt_error *err)
{
    struct comparing c = {
        .fsck = fsck,
        .columns = {.fsck = fsck},
        .about = {
            .severity = SILT_FSCK_FAULT, .check = SL_FSCK_CHECKPOINT, .version = checkpoint->version, .file = name}};
    silt_error found = SILT_ERROR_INIT;
    if (fsck->snapshot == NULL || checkpoint->n_parquet == 0) {
        return SILT_OK;
    }
    sl_arena_init(&c.columns.arena, fsck->env);
    sl_arena_init(&c.arena, fsck->env);
    sl_buf_init(&c.text, fsck->env);
    sl_add_batch_init(&c.adds, fsck->env);
    silt_status status = sl_fsck_find_columns(&c.columns, &found);
    if (status == SILT_OK) {
        status = sl_fsck_find_partitions(&c.columns, &c.partitions, &c.n_partitions, &found);
    }
    if (status == SILT_OK) {
        status = read_files(&c, checkpoint, true, &found);
    }
    if (status == SILT_ESCHEMA) {
        status = read_files(&c, checkpoint, false, &found);
    }
    if (status != SILT_OK) {
        c.about.severity = SILT_FSCK_NOTE; /* the columns are optional, and readers go without them */
        status = sl_fsck_tell_failure(fsck, &c.about, &found, err);
    }
    sl_add_batch_release(&c.adds);
    sl_buf_release(&c.text);
    sl_arena_release(&c.arena);
    sl_fsck_reader_close(&c.columns);
    return status;
}
