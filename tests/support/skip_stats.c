/* Naive statistics, see skip_stats.h. */
#include "skip_stats.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "base/arrow.h"
#include "base/time.h"
#include "base/utf8.h"
#include "json/writer.h"

#define MS_US INT64_C(1000)
#define GREGORIAN_DAY INT64_C(-141427)

/* What a writer does; one for each file. */
struct writer {
    bool nan_is_greatest; /* as Delta Spark; else NaN is left out, as writers that go by Parquet do */
    int cut_text;         /* 0: never, 1: closed with DEL or U+10FFFF, 2: bare, 3: closed with U+FFFD by UTF-16 units */
    bool cut_timestamps;  /* to milliseconds */
    bool hybrid_calendar; /* days before 1582-10-15 by the labels that they had then */
    bool rounds_decimals; /* through doubles */
    bool counts_null_structs; /* as nulls of their fields */
    bool floats_as_doubles;   /* all digits of the double */
    bool odd_numbers;         /* 5.0, 5e0, decimals as text */
    uint64_t drops;           /* one part in so many is missing; 0: none */
};

static struct writer make_writer(struct skip_random *random)
{
    return (struct writer){.nan_is_greatest = skip_pick(random, 2) == 0,
                           .cut_text = (int)skip_pick(random, 4),
                           .cut_timestamps = skip_pick(random, 4) != 0,
                           .hybrid_calendar = skip_pick(random, 4) == 0,
                           .rounds_decimals = skip_pick(random, 4) == 0,
                           .counts_null_structs = skip_pick(random, 2) == 0,
                           .floats_as_doubles = skip_pick(random, 3) == 0,
                           .odd_numbers = skip_pick(random, 4) == 0,
                           .drops = skip_pick(random, 3) == 0 ? 0 : 4};
}

/* ---- over the rows ---- */

int skip_compare(const silt_value *a, const silt_value *b)
{
    switch (a->kind) {
    case SILT_TYPE_BOOLEAN: return (int)a->as.boolean - (int)b->as.boolean;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return (a->as.f64 > b->as.f64) - (a->as.f64 < b->as.f64);
    case SILT_TYPE_DECIMAL: {
        const sl_i128 x = sl_value_get_i128(a);
        const sl_i128 y = sl_value_get_i128(b);
        return (x > y) - (x < y);
    }
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: {
        const size_t shorter = a->as.bytes.len < b->as.bytes.len ? a->as.bytes.len : b->as.bytes.len;
        const int order = shorter > 0 ? memcmp(a->as.bytes.ptr, b->as.bytes.ptr, shorter) : 0;
        return order != 0 ? order : (a->as.bytes.len > b->as.bytes.len) - (a->as.bytes.len < b->as.bytes.len);
    }
    default: return (a->as.i64 > b->as.i64) - (a->as.i64 < b->as.i64);
    }
}

static bool is_float(silt_type_kind kind)
{
    return kind == SILT_TYPE_FLOAT || kind == SILT_TYPE_DOUBLE;
}

static void calculate(struct skip_column_stats *stats, const struct skip_file *file, enum skip_column_id column,
                      const struct writer *writer)
{
    bool has_nan = false;
    *stats = (struct skip_column_stats){.has_nulls = true};
    for (size_t r = 0; r < file->n_rows; r++) {
        const struct skip_row *row = &file->rows[r];
        const silt_value *v = &row->values[column];
        const bool hidden = (column == SKIP_NESTED_INT && row->st_is_null) ||
                            (column == SKIP_NESTED_TEXT && row->u_is_null);
        if (v->is_null) {
            stats->nulls += !hidden || writer->counts_null_structs ? 1 : 0;
        } else if (is_float(v->kind) && isnan(v->as.f64)) {
            has_nan = true;
        } else {
            if (!stats->has_min || skip_compare(v, &stats->min) < 0) {
                stats->min = *v;
            }
            if (!stats->has_max || skip_compare(v, &stats->max) > 0) {
                stats->max = *v;
            }
            stats->has_min = stats->has_max = true;
        }
    }
    if (has_nan && writer->nan_is_greatest) {
        stats->min_is_nan = !stats->has_min;
        stats->max_is_nan = true;
        stats->max = sl_value_f64(skip_columns[column].type.kind, (double)NAN);
        stats->min = stats->min_is_nan ? stats->max : stats->min;
        stats->has_min = stats->has_max = true;
    }
}

/* ---- cutting ---- */

static size_t utf16_prefix(struct sl_str text, size_t units)
{
    size_t pos = 0;
    uint32_t code_point = 0;
    for (size_t n = 0; n < units && pos < text.len;) {
        assert_true(sl_utf8_next(text, &pos, &code_point));
        n += code_point >= 0x10000 ? 2 : 1;
    }
    return pos;
}

static struct sl_str joined(struct sl_arena *arena, struct sl_str prefix, const char *end)
{
    const char *text = sl_arena_printf(arena, "%.*s%s", SL_FMT(prefix), end);
    assert_non_null(text);
    return sl_str_from(text);
}

static struct sl_str close_text(struct sl_str text, int how, struct sl_arena *arena)
{
    size_t end = utf16_prefix(text, 32);
    if (end == text.len || how == 2) {
        return sl_str_sub(text, 0, end);
    }
    while (end < text.len) {
        size_t next = end;
        uint32_t code_point = 0;
        assert_true(sl_utf8_next(text, &next, &code_point));
        if (how == 1 && code_point != 0x10FFFF) {
            return joined(arena, sl_str_sub(text, 0, end), code_point < 0x7F ? "\x7f" : "\xf4\x8f\xbf\xbf");
        }
        /* By UTF-16 units, a surrogate is below U+FFFD. */
        if (how == 3 && (code_point < 0xFFFD || code_point >= 0x10000)) {
            return joined(arena, sl_str_sub(text, 0, end), "\xef\xbf\xbd");
        }
        end = next;
    }
    return how == 3 ? joined(arena, text, "\xef\xbf\xbd") : text;
}

static void cut_text(struct skip_column_stats *stats, int how, struct sl_arena *arena)
{
    if (how == 0) {
        return;
    }
    const struct sl_str min = sl_value_get_str(&stats->min);
    stats->min = sl_value_bytes(SILT_TYPE_STRING, sl_str_sub(min, 0, utf16_prefix(min, 32)));
    stats->max = sl_value_bytes(SILT_TYPE_STRING, close_text(sl_value_get_str(&stats->max), how, arena));
}

/* The label that a day had in the calendar of its time, read as one of ours. */
static int64_t label_of(int64_t day)
{
    int64_t year = 0;
    int month = 0;
    int date = 0;
    if (day >= GREGORIAN_DAY) {
        return day;
    }
    sl_civil_from_days(day, &year, &month, &date);
    const int64_t century = (month <= 2 ? year - 1 : year) / 100;
    return day - (century - century / 4 - 2);
}

static void change_calendar(silt_value *v)
{
    if (v->kind == SILT_TYPE_DATE) {
        v->as.i64 = label_of(v->as.i64);
    } else {
        const int64_t day = sl_floor_div(v->as.i64, SL_US_PER_DAY);
        v->as.i64 += (label_of(day) - day) * SL_US_PER_DAY;
    }
}

static void spoil(struct skip_column_stats *stats, enum skip_column_id column, const struct writer *writer,
                  struct sl_arena *arena)
{
    const silt_type_kind kind = skip_columns[column].type.kind;
    if (!stats->has_min || stats->min_is_nan) {
        return;
    }
    const bool is_timestamp = kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
    if (kind == SILT_TYPE_STRING) {
        cut_text(stats, writer->cut_text, arena);
    }
    if (writer->hybrid_calendar && (is_timestamp || kind == SILT_TYPE_DATE)) {
        change_calendar(&stats->min);
        change_calendar(&stats->max);
    }
    if (writer->cut_timestamps && is_timestamp) {
        stats->min.as.i64 = sl_floor_div(stats->min.as.i64, MS_US) * MS_US;
        stats->max.as.i64 = sl_floor_div(stats->max.as.i64, MS_US) * MS_US;
    }
}

/* ---- as JSON ---- */

static void put_number(struct sl_json_writer *w, const silt_value *v, bool is_old, const struct writer *writer)
{
    char text[64];
    struct sl_buf buf;
    sl_buf_init(&buf, w->out->env);
    if (v->kind == SILT_TYPE_DECIMAL && writer->rounds_decimals) {
        /* What most languages do with a double: as few digits as tell it from its neighbours. */
        struct sl_buf exact;
        double rounded = 0;
        sl_buf_init(&exact, w->out->env);
        sl_value_print(&exact, v);
        assert_true(sl_str_to_f64(sl_buf_view(&exact), &rounded));
        sl_buf_release(&exact);
        sl_buf_put_f64(&buf, rounded);
    } else if (v->kind == SILT_TYPE_FLOAT || is_old) {
        if (writer->floats_as_doubles) {
            sl_buf_put_f64(&buf, v->as.f64);
        } else {
            sl_buf_put_f32(&buf, (float)v->as.f64);
        }
    } else if (v->kind == SILT_TYPE_DOUBLE) {
        sl_buf_put_f64(&buf, v->as.f64);
    } else {
        sl_value_print(&buf, v);
    }
    (void)snprintf(text, sizeof(text), "%.*s%s", SL_FMT(sl_buf_view(&buf)),
                   writer->odd_numbers && sl_kind_is_integer(v->kind) ? (v->as.i64 % 2 == 0 ? ".0" : "e0") : "");
    sl_buf_release(&buf);
    if (writer->odd_numbers && v->kind == SILT_TYPE_DECIMAL) {
        sl_json_put_c(w, text);
    } else {
        sl_json_put_raw(w, sl_str_from(text));
    }
}

static void put_time(struct sl_json_writer *w, const silt_value *v, const struct writer *writer)
{
    struct sl_buf text;
    sl_buf_init(&text, w->out->env);
    if (v->kind == SILT_TYPE_DATE) {
        sl_date_format(&text, v->as.i64);
    } else {
        const bool shifted = v->kind == SILT_TYPE_TIMESTAMP && writer->odd_numbers;
        sl_timestamp_format(&text, v->as.i64 + (shifted ? INT64_C(3208000000) : 0), 'T',
                            writer->cut_timestamps ? 3 : 6);
        sl_buf_put_c(&text, shifted ? "+00:53:28" : v->kind == SILT_TYPE_TIMESTAMP ? "Z" : "");
    }
    sl_json_put_str(w, sl_buf_view(&text));
    sl_buf_release(&text);
}

static void put_bound(struct sl_json_writer *w, const silt_value *v, bool is_nan, bool is_old,
                      const struct writer *writer)
{
    switch (v->kind) {
    case SILT_TYPE_BOOLEAN: sl_json_put_bool(w, v->as.boolean); return;
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: sl_json_put_str(w, sl_value_get_str(v)); return;
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: put_time(w, v, writer); return;
    default: break;
    }
    if (is_nan) {
        sl_json_put_c(w, "NaN");
    } else if (is_float(v->kind) && isinf(v->as.f64)) {
        sl_json_put_c(w, v->as.f64 > 0 ? "Infinity" : "-Infinity");
    } else {
        put_number(w, v, is_old, writer);
    }
}

enum part {
    PART_MIN,
    PART_MAX,
    PART_NULLS
};

static bool has_part(const struct skip_column_stats *c, enum part part)
{
    return part == PART_MIN ? c->has_min : part == PART_MAX ? c->has_max : c->has_nulls;
}

static void put_leaf(struct sl_json_writer *w, const struct skip_stats *stats, enum skip_column_id column,
                     enum part part, const struct skip_file *file, const struct writer *writer)
{
    const struct skip_column_stats *c = &stats->columns[column];
    const struct skip_column *of = &skip_columns[column];
    const bool is_old = column == SKIP_WIDENED && file->is_old;
    if (!has_part(c, part)) {
        return;
    }
    sl_json_key(w, of->path[of->path_len - 1]);
    switch (part) {
    case PART_MIN: put_bound(w, &c->min, c->min_is_nan, is_old, writer); return;
    case PART_MAX: put_bound(w, &c->max, c->max_is_nan, is_old, writer); return;
    default: sl_json_put_i64(w, c->nulls); return;
    }
}

static void put_part(struct sl_json_writer *w, const struct skip_stats *stats, enum part part,
                     const struct skip_file *file, const struct writer *writer)
{
    sl_json_key_c(w, part == PART_MIN ? "minValues" : part == PART_MAX ? "maxValues" : "nullCount");
    sl_json_begin_object(w);
    for (enum skip_column_id c = 0; c < SKIP_NESTED_INT; c++) {
        put_leaf(w, stats, c, part, file, writer);
    }
    sl_json_key_c(w, "st");
    sl_json_begin_object(w);
    put_leaf(w, stats, SKIP_NESTED_INT, part, file, writer);
    sl_json_key_c(w, "u");
    sl_json_begin_object(w);
    put_leaf(w, stats, SKIP_NESTED_TEXT, part, file, writer);
    sl_json_end_object(w);
    sl_json_end_object(w);
    sl_json_end_object(w);
}

static void render(struct skip_stats *stats, const struct skip_file *file, const struct writer *writer,
                   struct skip_random *random, struct sl_arena *arena)
{
    struct sl_buf text;
    struct sl_json_writer w;
    sl_buf_init(&text, arena->env);
    sl_json_writer_init(&w, &text);
    sl_json_begin_object(&w);
    if (stats->has_rows) {
        sl_json_key_c(&w, "numRecords");
        sl_json_put_i64(&w, stats->rows);
    }
    put_part(&w, stats, PART_MIN, file, writer);
    put_part(&w, stats, PART_MAX, file, writer);
    put_part(&w, stats, PART_NULLS, file, writer);
    if (stats->tight >= 0) {
        sl_json_key_c(&w, "tightBounds");
        sl_json_put_bool(&w, stats->tight == 1);
    }
    sl_json_key_c(&w, "unknown");
    sl_json_put_raw(&w, skip_pick(random, 40) == 0 ? SL_STR("[NaN]") : SL_STR("[null]"));
    sl_json_end_object(&w);
    assert_int_equal(sl_buf_status(&text, NULL), SILT_OK);
    stats->json = sl_arena_copy(arena, sl_buf_view(&text));
    sl_buf_release(&text);
}

/* ---- as typed columns ---- */

static void keep(struct ArrowSchema *schema)
{
    schema->release = NULL; /* lives in the arena */
}

static struct ArrowSchema *node(struct sl_arena *arena, const char *name, const char *format, int64_t n_children)
{
    struct ArrowSchema *schema = sl_arena_alloc_zero(arena, sizeof(*schema));
    assert_non_null(schema);
    *schema = (struct ArrowSchema){
        .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .n_children = n_children, .release = keep};
    schema->children = sl_arena_alloc_array(arena, (size_t)n_children + 1, sizeof(struct ArrowSchema *));
    assert_non_null(schema->children);
    return schema;
}

/* A type that a writer may have stored the bounds of a column in. */
static const char *format_of(enum skip_column_id column, const struct skip_file *file, struct skip_random *random)
{
    const bool other = skip_pick(random, 3) == 0;
    switch (skip_columns[column].type.kind) {
    case SILT_TYPE_BOOLEAN: return "b";
    case SILT_TYPE_BYTE: return other ? "i" : "c";
    case SILT_TYPE_SHORT: return other ? "i" : "s";
    case SILT_TYPE_INTEGER: return other ? "l" : "i";
    case SILT_TYPE_LONG: return "l";
    case SILT_TYPE_FLOAT: return other ? "g" : "f";
    case SILT_TYPE_DOUBLE: return column == SKIP_WIDENED && file->is_old && other ? "f" : "g";
    case SILT_TYPE_DECIMAL: return column == SKIP_DECIMAL ? (other ? "d:9,2" : "d:5,2") : (other ? "d:38,3" : "d:25,3");
    case SILT_TYPE_STRING: return other ? "z" : "u";
    case SILT_TYPE_DATE: return "tdD";
    case SILT_TYPE_TIMESTAMP: return other ? "tsu:" : "tsu:UTC";
    case SILT_TYPE_TIMESTAMP_NTZ: return "tsu:";
    default: return "z";
    }
}

static struct ArrowSchema *part_schema(struct sl_arena *arena, const char *name, const char *const *formats)
{
    struct ArrowSchema *part = node(arena, name, "+s", SKIP_NESTED_INT + 1);
    for (enum skip_column_id c = 0; c < SKIP_NESTED_INT; c++) {
        part->children[c] = node(arena, skip_columns[c].name, formats != NULL ? formats[c] : "l", 0);
    }
    struct ArrowSchema *st = node(arena, "st", "+s", 2);
    st->children[0] = node(arena, "a", formats != NULL ? formats[SKIP_NESTED_INT] : "l", 0);
    st->children[1] = node(arena, "u", "+s", 1);
    st->children[1]->children[0] = node(arena, "t", formats != NULL ? formats[SKIP_NESTED_TEXT] : "l", 0);
    part->children[SKIP_NESTED_INT] = st;
    return part;
}

static silt_status append_value(struct sl_arrow_builder *to, const silt_value *v, bool is_nan)
{
    switch (v->kind) {
    case SILT_TYPE_BOOLEAN: return sl_arrow_append_i64(to, v->as.boolean ? 1 : 0, NULL);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return sl_arrow_append_f64(to, is_nan ? (double)NAN : v->as.f64, NULL);
    case SILT_TYPE_DECIMAL: return sl_arrow_append_decimal(to, v->as.decimal.hi, v->as.decimal.lo, NULL);
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: return sl_arrow_append_bytes(to, sl_value_get_str(v), NULL);
    default: return sl_arrow_append_i64(to, v->as.i64, NULL);
    }
}

static void append_leaf(struct sl_arrow_builder *to, const struct skip_column_stats *c, enum part part)
{
    silt_status status = SILT_OK;
    if (!has_part(c, part)) {
        status = sl_arrow_append_null(to, NULL);
    } else if (part == PART_NULLS) {
        status = sl_arrow_append_i64(to, c->nulls, NULL);
    } else {
        status = append_value(to, part == PART_MIN ? &c->min : &c->max,
                              part == PART_MIN ? c->min_is_nan : c->max_is_nan);
    }
    assert_int_equal(status, SILT_OK);
}

static void append_part(struct sl_arrow_builder *to, const struct skip_stats *stats, enum part part)
{
    for (enum skip_column_id c = 0; c < SKIP_NESTED_INT; c++) {
        append_leaf(sl_arrow_builder_child(to, c), &stats->columns[c], part);
    }
    struct sl_arrow_builder *st = sl_arrow_builder_child(to, SKIP_NESTED_INT);
    struct sl_arrow_builder *u = sl_arrow_builder_child(st, 1);
    append_leaf(sl_arrow_builder_child(st, 0), &stats->columns[SKIP_NESTED_INT], part);
    append_leaf(sl_arrow_builder_child(u, 0), &stats->columns[SKIP_NESTED_TEXT], part);
    assert_int_equal(sl_arrow_append_nested(u, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(st, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(to, NULL), SILT_OK);
}

static void build(struct skip_stats *stats, const struct skip_file *file, struct skip_random *random,
                  struct sl_arena *arena)
{
    const char *formats[SKIP_N_DATA];
    struct sl_arrow_builder *builder = NULL;
    for (enum skip_column_id c = 0; c < SKIP_N_DATA; c++) {
        formats[c] = format_of(c, file, random);
    }
    struct ArrowSchema *schema = node(arena, "stats_parsed", "+s", 5);
    schema->children[0] = node(arena, "numRecords", "l", 0);
    schema->children[1] = part_schema(arena, "minValues", formats);
    schema->children[2] = part_schema(arena, "maxValues", formats);
    schema->children[3] = part_schema(arena, "nullCount", NULL);
    schema->children[4] = node(arena, "tightBounds", "b", 0);
    assert_int_equal(sl_arrow_builder_new(arena->env, schema, &builder, NULL), SILT_OK);
    struct sl_arrow_builder *rows = sl_arrow_builder_child(builder, 0);
    struct sl_arrow_builder *tight = sl_arrow_builder_child(builder, 4);
    assert_int_equal(stats->has_rows ? sl_arrow_append_i64(rows, stats->rows, NULL) : sl_arrow_append_null(rows, NULL),
                     SILT_OK);
    append_part(sl_arrow_builder_child(builder, 1), stats, PART_MIN);
    append_part(sl_arrow_builder_child(builder, 2), stats, PART_MAX);
    append_part(sl_arrow_builder_child(builder, 3), stats, PART_NULLS);
    assert_int_equal(stats->tight >= 0 ? sl_arrow_append_i64(tight, stats->tight, NULL)
                                       : sl_arrow_append_null(tight, NULL),
                     SILT_OK);
    assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &stats->array, NULL), SILT_OK);
    sl_arrow_builder_free(builder);
    stats->schema = schema;
}

void skip_stats_make(struct skip_stats *stats, const struct skip_file *file, struct skip_random *random,
                     struct sl_arena *arena)
{
    const struct writer writer = make_writer(random);
    *stats = (struct skip_stats){.present = skip_pick(random, 30) != 0, .rows = (int64_t)file->n_rows};
    for (size_t r = 0; r < file->n_rows; r++) {
        stats->deleted += file->rows[r].deleted ? 1 : 0;
    }
    stats->tight = stats->deleted > 0 ? 0 : (int)skip_pick(random, 2) * 2 - 1;
    stats->has_rows = stats->deleted > 0 || writer.drops == 0 || skip_pick(random, writer.drops) != 0;
    if (!stats->present) {
        stats->has_rows = false;
        return;
    }
    for (enum skip_column_id c = 0; c < SKIP_N_DATA; c++) {
        struct skip_column_stats *column = &stats->columns[c];
        calculate(column, file, c, &writer);
        spoil(column, c, &writer, arena);
        if (writer.drops > 0) {
            column->has_min = column->has_min && skip_pick(random, writer.drops) != 0;
            column->has_max = column->has_max && skip_pick(random, writer.drops) != 0;
            column->has_nulls = column->has_nulls && skip_pick(random, writer.drops) != 0;
        }
    }
    if (skip_pick(random, 4) == 0) {
        build(stats, file, random, arena);
    } else {
        render(stats, file, &writer, random, arena);
    }
}

void skip_stats_release(struct skip_stats *stats)
{
    sl_arrow_array_release(&stats->array);
}
