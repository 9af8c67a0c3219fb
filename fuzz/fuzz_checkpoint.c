/*
 * Checkpoint rows as a hostile Parquet handler gives them: Arrow arrays that are well-formed and hold anything. What becomes an action can
 * be written and read back; the reader of adds alone sees the same files; so does a file set that is made of either.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/arrow.h"
#include "base/error.h"
#include "kernel/action/action_arrow.h"
#include "kernel/replay/add_batch.h"
#include "kernel/replay/file_build.h"
#include "support/fuzz.h"

#define MAX_ROWS 12
#define ALL_COLUMNS ((unsigned)SL_COLUMNS_STATE | (unsigned)SL_COLUMN_ADD | (unsigned)SL_COLUMN_REMOVE)

enum shape {
    EVERYTHING, /* all columns, with details */
    ADDS,       /* what add batches need */
    PARSED,     /* with stats_parsed */
    N_SHAPES
};

static const char data_schema[] =
    "{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"l\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"t\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"d\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"e\",\"type\":\"decimal(10,2)\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"a\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"i\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}]}";

static const struct ArrowSchema *arrow_schema(enum shape shape)
{
    static struct ArrowSchema schemas[N_SHAPES];
    if (schemas[shape].release == NULL) {
        silt_schema *schema = NULL;
        silt_schema *data = NULL;
        FUZZ_CHECK(silt_schema_from_json(fuzz_env(), data_schema, sizeof(data_schema) - 1, &data, NULL) == SILT_OK);
        if (shape == PARSED) {
            FUZZ_CHECK(sl_checkpoint_schema_parsed(fuzz_env(), ALL_COLUMNS, data, true, &schema, NULL) == SILT_OK);
        } else {
            const unsigned wanted = shape == ADDS ? (unsigned)SL_COLUMN_ADD : ALL_COLUMNS;
            FUZZ_CHECK(sl_checkpoint_schema(fuzz_env(), wanted, shape != ADDS, &schema, NULL) == SILT_OK);
        }
        FUZZ_CHECK(silt_schema_to_arrow(schema, &schemas[shape], NULL) == SILT_OK);
        silt_schema_unref(schema);
        silt_schema_unref(data);
    }
    return &schemas[shape];
}

/* ---- arrays from bytes ---- */

static struct sl_str some_text(struct fuzz_input *in)
{
    static const char *const texts[] = {"",
                                        "a.parquet",
                                        "x=1/b.parquet",
                                        "a%20b",
                                        "%",
                                        "../x",
                                        "file:/t/a.parquet",
                                        "s3://b/t/x",
                                        "/t/a",
                                        "u",
                                        "p",
                                        "i",
                                        "1",
                                        "2020-01-01",
                                        "{\"numRecords\":1}",
                                        "ab^-aqEH.-t@S}K{vb[*k^"};
    const size_t n = sizeof(texts) / sizeof(texts[0]);
    const uint8_t pick = fuzz_byte(in);
    return pick < 4 * n ? sl_str_from(texts[pick % n]) : fuzz_text(in);
}

static void fill(struct sl_arrow_builder *builder, const struct ArrowSchema *schema, struct fuzz_input *in);

static void fill_items(struct sl_arrow_builder *builder, const struct ArrowSchema *schema, struct fuzz_input *in)
{
    struct sl_arrow_builder *items = sl_arrow_builder_child(builder, 0);
    for (size_t n = fuzz_pick(in, 4); n > 0; n--) {
        if (strcmp(schema->format, "+m") != 0) {
            fill(items, schema->children[0], in);
            continue;
        }
        fill(sl_arrow_builder_child(items, 0), schema->children[0]->children[0], in);
        fill(sl_arrow_builder_child(items, 1), schema->children[0]->children[1], in);
        FUZZ_CHECK(sl_arrow_append_nested(items, NULL) == SILT_OK);
    }
    FUZZ_CHECK(sl_arrow_append_nested(builder, NULL) == SILT_OK);
}

static silt_status append_flat(struct sl_arrow_builder *builder, const char *format, struct fuzz_input *in)
{
    const int64_t number = format[0] != 'u' ? fuzz_number(in) : 0;
    switch (format[0]) {
    case 'u': return sl_arrow_append_bytes(builder, some_text(in), NULL);
    case 'b': return sl_arrow_append_i64(builder, number & 1, NULL);
    case 'g': {
        double value = 0;
        memcpy(&value, &number, sizeof(value));
        return sl_arrow_append_f64(builder, value, NULL);
    }
    case 'd': return sl_arrow_append_decimal(builder, number < 0 ? -1 : 0, (uint64_t)(number % 10000000000), NULL);
    case 't': return sl_arrow_append_i64(builder, format[1] == 'd' ? (int32_t)number : number, NULL);
    default: return sl_arrow_append_i64(builder, number, NULL);
    }
}

static void fill(struct sl_arrow_builder *builder, const struct ArrowSchema *schema, struct fuzz_input *in)
{
    if (fuzz_byte(in) % 6 == 0) {
        FUZZ_CHECK(sl_arrow_append_null(builder, NULL) == SILT_OK);
    } else if (strcmp(schema->format, "+s") == 0) {
        for (int64_t i = 0; i < schema->n_children; i++) {
            fill(sl_arrow_builder_child(builder, (size_t)i), schema->children[i], in);
        }
        FUZZ_CHECK(sl_arrow_append_nested(builder, NULL) == SILT_OK);
    } else if (schema->format[0] == '+') {
        fill_items(builder, schema, in);
    } else {
        FUZZ_CHECK(append_flat(builder, schema->format, in) == SILT_OK);
    }
}

/* As engines slice: the batch begins later in each of its columns. */
static void cut_rows(struct ArrowArray *batch, int64_t n)
{
    batch->length -= n;
    for (int64_t c = 0; c < batch->n_children; c++) {
        batch->children[c]->offset += n;
        batch->children[c]->length -= n;
        batch->children[c]->null_count = -1;
    }
}

static void make_batch(struct fuzz_input *in, enum shape shape, struct ArrowArray *batch)
{
    const struct ArrowSchema *schema = arrow_schema(shape);
    struct sl_arrow_builder *builder = NULL;
    FUZZ_CHECK(sl_arrow_builder_new(fuzz_env(), schema, &builder, NULL) == SILT_OK);
    const int64_t cut = (int64_t)fuzz_pick(in, 3);
    for (size_t row = 0; row < MAX_ROWS && in->left > 0; row++) {
        const size_t chosen = fuzz_pick(in, (size_t)schema->n_children);
        for (size_t i = 0; i < (size_t)schema->n_children; i++) {
            struct sl_arrow_builder *child = sl_arrow_builder_child(builder, i);
            if (i == chosen) {
                fill(child, schema->children[i], in);
            } else {
                FUZZ_CHECK(sl_arrow_append_null(child, NULL) == SILT_OK);
            }
        }
        FUZZ_CHECK(sl_arrow_append_nested(builder, NULL) == SILT_OK);
    }
    FUZZ_CHECK(sl_arrow_builder_finish(builder, batch, NULL) == SILT_OK);
    sl_arrow_builder_free(builder);
    cut_rows(batch, cut < batch->length ? cut : batch->length);
}

/* ---- actions ---- */

struct seen {
    struct sl_arena arena;
    struct sl_add adds[MAX_ROWS];
    size_t n;
};

static void check_written(const struct sl_action *action)
{
    struct sl_buf texts[2];
    struct sl_arena arena;
    struct sl_action again;
    sl_arena_init(&arena, fuzz_env());
    sl_buf_init(&texts[0], fuzz_env());
    sl_buf_init(&texts[1], fuzz_env());
    FUZZ_CHECK(sl_action_write(&texts[0], action, NULL) == SILT_OK);
    FUZZ_CHECK(sl_action_parse(fuzz_env(), &arena, sl_str_trim(sl_buf_view(&texts[0])), &again, NULL) == SILT_OK);
    FUZZ_CHECK(again.kind == action->kind);
    FUZZ_CHECK(sl_action_write(&texts[1], &again, NULL) == SILT_OK);
    FUZZ_CHECK(sl_str_eq(sl_buf_view(&texts[0]), sl_buf_view(&texts[1])));
    sl_buf_release(&texts[0]);
    sl_buf_release(&texts[1]);
    sl_arena_release(&arena);
}

static silt_status visit(void *ctx, const struct sl_action *action, silt_error *err)
{
    struct seen *seen = ctx;
    (void)err;
    check_written(action);
    if (action->kind == SL_ACTION_ADD) {
        FUZZ_CHECK(seen->n < MAX_ROWS && sl_add_copy(&seen->arena, &action->u.add, &seen->adds[seen->n++]));
    }
    return SILT_OK;
}

/* ---- the same adds by other ways ---- */

static void same_lists(const struct sl_kv *a, size_t n, const struct sl_kv *b, size_t b_n)
{
    FUZZ_CHECK(n == b_n);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(sl_str_eq(a[i].key, b[i].key) && sl_str_eq(a[i].value, b[i].value));
        FUZZ_CHECK((a[i].value.ptr == NULL) == (b[i].value.ptr == NULL));
    }
}

static void same_vector(const struct sl_dv_descriptor *a, const struct sl_dv_descriptor *b)
{
    FUZZ_CHECK((a == NULL) == (b == NULL));
    if (a != NULL) {
        FUZZ_CHECK(sl_str_eq(a->storage_type, b->storage_type) &&
                   sl_str_eq(a->path_or_inline_dv, b->path_or_inline_dv));
        FUZZ_CHECK(a->offset == b->offset && a->size_in_bytes == b->size_in_bytes && a->cardinality == b->cardinality);
    }
}

static void same_add(const struct sl_add *a, const struct sl_add *b)
{
    FUZZ_CHECK(sl_str_eq(a->path, b->path) && a->size == b->size && a->modification_time == b->modification_time);
    FUZZ_CHECK(a->base_row_id == b->base_row_id && a->default_row_commit_version == b->default_row_commit_version);
    same_lists(a->partition_values.items, a->partition_values.n, b->partition_values.items, b->partition_values.n);
    same_vector(a->deletion_vector, b->deletion_vector);
}

static void same_row(const struct sl_file_row *row, const struct sl_add *add)
{
    FUZZ_CHECK(sl_str_eq(row->path, add->path) && row->size == add->size && row->time == add->modification_time);
    FUZZ_CHECK(row->base_row_id == add->base_row_id && row->row_commit_version == add->default_row_commit_version);
    same_lists(row->values, row->n_values, add->partition_values.items, add->partition_values.n);
    same_vector(row->deletion_vector, add->deletion_vector);
}

static void begin_set(struct sl_file_set_builder *builder)
{
    const struct sl_file_set_options options = {.env = fuzz_env(), .root = SL_STR("/t")};
    FUZZ_CHECK(sl_file_set_begin(builder, &options, NULL) == SILT_OK);
}

static void check_set(struct sl_file_set_builder *builder, const struct seen *seen)
{
    struct sl_file_set *set = NULL;
    struct sl_file_cursor cursor;
    bool done = false;
    FUZZ_CHECK(sl_file_set_finish(builder, &set, NULL) == SILT_OK);
    FUZZ_CHECK(set->n_files == (int64_t)seen->n);
    sl_file_cursor_init(&cursor, set, false);
    for (size_t i = 0; i < seen->n; i++) {
        struct sl_add add;
        FUZZ_CHECK(sl_file_cursor_next(&cursor, &add, &done, NULL) == SILT_OK && !done);
        same_add(&add, &seen->adds[i]);
    }
    sl_file_cursor_release(&cursor);
    sl_file_set_unref(set);
}

/* status: of reading the actions, which ended at the first bad row. */
static void check_adds(const struct ArrowArray *batch, const struct seen *seen, silt_status status)
{
    struct sl_add_batch adds;
    struct sl_file_set_builder by_row = {0};
    struct sl_file_set_builder by_add = {0};
    struct sl_key_maker keys;
    size_t n = 0;
    sl_add_batch_init(&adds, fuzz_env());
    sl_key_maker_init(&keys, fuzz_env(), SL_STR("/t"), NULL);
    begin_set(&by_row);
    begin_set(&by_add);
    silt_status other = sl_add_batch_bind(&adds, arrow_schema(ADDS), batch, NULL);
    silt_status stored = SILT_OK;
    for (int64_t row = 0; other == SILT_OK && row < adds.n; row++) {
        struct sl_file_row file = {0};
        bool found = false;
        other = sl_add_batch_row(&adds, row, &file, &found, NULL);
        if (other == SILT_OK && found) {
            FUZZ_CHECK(n < seen->n);
            same_row(&file, &seen->adds[n++]);
            stored = stored == SILT_OK ? sl_file_set_add_row(&by_row, &file, &keys, NULL, NULL) : stored;
        }
    }
    FUZZ_CHECK(n == seen->n && other == status);
    for (size_t i = 0; i < seen->n && stored == SILT_OK; i++) {
        FUZZ_CHECK(sl_file_set_add(&by_add, &seen->adds[i], NULL, NULL) == SILT_OK);
    }
    if (stored == SILT_OK) {
        check_set(&by_row, seen);
        check_set(&by_add, seen);
    }
    sl_file_set_abandon(&by_row);
    sl_file_set_abandon(&by_add);
    sl_key_maker_release(&keys);
    sl_add_batch_release(&adds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    const enum shape shape = (enum shape)fuzz_pick(&in, N_SHAPES);
    struct ArrowArray batch = {0};
    struct seen seen = {.n = 0};
    silt_error err = SILT_ERROR_INIT;
    sl_arena_init(&seen.arena, fuzz_env());
    make_batch(&in, shape, &batch);
    const silt_status status = sl_actions_from_arrow(fuzz_env(), arrow_schema(shape), &batch, visit, &seen, &err);
    FUZZ_CHECK(status == SILT_OK || status == SILT_ECORRUPT);
    FUZZ_CHECK(status == SILT_OK || err.message[0] != '\0');
    if (shape == ADDS) {
        check_adds(&batch, &seen, status);
    }
    sl_arrow_array_release(&batch);
    sl_arena_release(&seen.arena);
    return 0;
}
