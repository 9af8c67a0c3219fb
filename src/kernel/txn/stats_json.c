/*
 * Writing statistics: numRecords, and for each selected leaf the null count and, where they are exact and JSON can carry them,
 * the bounds, nested as the schema is. Called when a written file is taken into a transaction; pure.
 *
 * Rules, from PROTOCOL.md "Per-file Statistics" and Delta Spark where it is silent: text is cut to a prefix, the maximum
 * then closed with DEL or U+10FFFF; timestamps are cut down to milliseconds on both sides (readers add the rest to a
 * maximum); NaN and infinities give no bound; a zero is -0.0 as minimum and 0.0 as maximum, since both compare equal;
 * boolean and binary columns have counts only.
 */
#include "kernel/txn/stats_json.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/time.h"
#include "base/utf8.h"
#include "json/writer.h"
#include "schema/value.h"

#define ASCII_MAX 0x7FU
#define UNICODE_MAX 0x10FFFFU

enum section {
    SECTION_MIN,
    SECTION_MAX,
    SECTION_NULLS
};

/* One walk over the leaves of the schema. by_leaf has the statistics of each leaf, NULL where there are none. */
struct walk {
    const struct sl_stats_plan *plan;
    const silt_column_stats *const *by_leaf;
    enum section section;
    size_t leaf;
    struct sl_buf *text; /* of one value */
};

bool sl_stats_cut_min(struct sl_buf *out, struct sl_str text, size_t prefix_length)
{
    if (!sl_utf8_valid(text)) {
        return false;
    }
    const size_t end = sl_utf8_prefix(text, prefix_length);
    if (end < text.len && prefix_length == 0) {
        return false;
    }
    sl_buf_put(out, text.ptr, end);
    return true;
}

bool sl_stats_cut_max(struct sl_buf *out, struct sl_str text, size_t prefix_length)
{
    if (!sl_utf8_valid(text)) {
        return false;
    }
    size_t end = sl_utf8_prefix(text, prefix_length);
    if (end < text.len && prefix_length == 0) {
        return false;
    }
    for (size_t taken = prefix_length; taken <= 2 * prefix_length; taken++) {
        size_t next = end;
        uint32_t code_point = 0;
        if (!sl_utf8_next(text, &next, &code_point)) {
            sl_buf_put_str(out, text); /* nothing is cut off */
            return true;
        }
        if (code_point != UNICODE_MAX) {
            char close[4];
            const size_t n = sl_utf8_encode(code_point < ASCII_MAX ? ASCII_MAX : UNICODE_MAX, close);
            sl_buf_put(out, text.ptr, end);
            sl_buf_put(out, close, n);
            return true;
        }
        end = next; /* nothing is above the greatest character: keep it and look at the next */
    }
    return false;
}

static bool has_bounds(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
    case SILT_TYPE_DECIMAL:
    case SILT_TYPE_STRING:
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return true;
    default: return false;
    }
}

/* The bound as it is to be written; false if there is none. Text of strings is put into walk->text. */
static bool prepare_bound(const struct walk *walk, const silt_column_stats *stats, silt_value *out)
{
    const bool is_min = walk->section == SECTION_MIN;
    if (!(is_min ? stats->has_min : stats->has_max)) {
        return false;
    }
    *out = is_min ? stats->min : stats->max;
    if (out->is_null || !has_bounds(out->kind)) {
        return false;
    }
    switch (out->kind) {
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
        if (!isfinite(out->as.f64)) {
            return false;
        }
        if (out->as.f64 >= 0.0 && out->as.f64 <= 0.0) {
            out->as.f64 = is_min ? -0.0 : 0.0;
        }
        return true;
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return sl_mul_i64(sl_floor_div(out->as.i64, 1000), 1000, &out->as.i64);
    case SILT_TYPE_STRING: {
        sl_buf_clear(walk->text);
        const struct sl_str text = sl_value_get_str(out);
        const size_t length = walk->plan->prefix_length;
        if (!(is_min ? sl_stats_cut_min(walk->text, text, length) : sl_stats_cut_max(walk->text, text, length))) {
            return false;
        }
        *out = sl_value_bytes(SILT_TYPE_STRING, sl_str_make(sl_buf_cstr(walk->text), walk->text->len));
        return true;
    }
    default: return true;
    }
}

static bool leaf_has(const struct walk *walk, size_t leaf)
{
    const silt_column_stats *stats = walk->by_leaf[leaf];
    if (stats == NULL || !walk->plan->selected[leaf]) {
        return false;
    }
    if (walk->section == SECTION_NULLS) {
        return stats->null_count >= 0;
    }
    silt_value bound;
    return prepare_bound(walk, stats, &bound);
}

/* Number of leaves below a type, and whether one of them has something to say in this section. */
static size_t survey(const struct walk *walk, const struct silt_type *type, size_t leaf, bool *any)
{
    if (type->kind != SILT_TYPE_STRUCT) {
        *any = *any || leaf_has(walk, leaf);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < type->n_fields; i++) {
        n += survey(walk, type->fields[i].type, leaf + n, any);
    }
    return n;
}

static void write_leaf(struct sl_json_writer *w, const struct walk *walk, struct sl_str name)
{
    const silt_column_stats *stats = walk->by_leaf[walk->leaf];
    silt_value bound;
    if (walk->section == SECTION_NULLS) {
        sl_json_key(w, name);
        sl_json_put_i64(w, stats->null_count);
        return;
    }
    if (!prepare_bound(walk, stats, &bound)) {
        return;
    }
    /* The key is written first, so a value that JSON cannot carry becomes null, which readers take as "no bound". */
    sl_json_key(w, name);
    if (!sl_stats_value_write(w, &bound)) {
        sl_json_put_null(w);
    }
}

static void write_fields(struct sl_json_writer *w, struct walk *walk, const struct silt_type *type)
{
    sl_json_begin_object(w);
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        bool any = false;
        const size_t n = survey(walk, field->type, walk->leaf, &any);
        if (any && field->type->kind == SILT_TYPE_STRUCT) {
            sl_json_key(w, field->name);
            write_fields(w, walk, field->type);
            continue;
        }
        if (any) {
            write_leaf(w, walk, field->name);
        }
        walk->leaf += n;
    }
    sl_json_end_object(w);
}

static bool path_equal(const silt_column_stats *stats, const struct sl_str *path, size_t path_len)
{
    if (stats->path_len != path_len) {
        return false;
    }
    for (size_t i = 0; i < path_len; i++) {
        if (!sl_str_eq_c(path[i], stats->path[i])) {
            return false;
        }
    }
    return true;
}

struct matching {
    const silt_written_file *file;
    const silt_column_stats **by_leaf;
    size_t leaf;
    size_t cursor; /* statistics come in the order of the schema, as a rule */
    struct sl_str path[SL_SCHEMA_MAX_DEPTH + 1];
};

static const silt_column_stats *find_stats(struct matching *m, size_t path_len)
{
    for (size_t i = 0; i < m->file->n_stats; i++) {
        const size_t at = (m->cursor + i) % m->file->n_stats;
        if (path_equal(&m->file->stats[at], m->path, path_len)) {
            m->cursor = at + 1;
            return &m->file->stats[at];
        }
    }
    return NULL;
}

static void match_leaves(struct matching *m, const struct silt_type *type, size_t depth)
{
    for (size_t i = 0; i < type->n_fields && depth < SL_SCHEMA_MAX_DEPTH; i++) {
        m->path[depth] = type->fields[i].name;
        if (type->fields[i].type->kind == SILT_TYPE_STRUCT) {
            match_leaves(m, type->fields[i].type, depth + 1);
        } else {
            m->by_leaf[m->leaf++] = find_stats(m, depth + 1);
        }
    }
}

static void write_section(struct sl_json_writer *w, struct walk *walk, const char *name, enum section section)
{
    const struct silt_type *root = &walk->plan->data_schema->root;
    walk->section = section;
    walk->leaf = 0;
    sl_json_key_c(w, name);
    write_fields(w, walk, root);
}

silt_status sl_stats_json_write(struct sl_buf *out, const struct sl_stats_plan *plan, const silt_written_file *file,
                                silt_error *err)
{
    silt_status status = SILT_OK;
    struct sl_arena arena;
    struct sl_buf text;
    sl_arena_init(&arena, out->env);
    sl_buf_init(&text, out->env);
    struct matching *matching = sl_arena_alloc_zero(&arena, sizeof(*matching));
    const silt_column_stats **by_leaf = sl_arena_alloc_array(&arena, plan->n_selected + 1, sizeof(*by_leaf));
    if (matching == NULL || by_leaf == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    if (sl_schema_leaf_count(plan->data_schema) != plan->n_selected) {
        status = sl_fail(err, SILT_EINVALID, NULL, "statistics were planned for another schema");
        goto out;
    }
    matching->file = file;
    matching->by_leaf = by_leaf;
    match_leaves(matching, &plan->data_schema->root, 0);
    struct walk walk = {.plan = plan, .by_leaf = by_leaf, .text = &text};
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    sl_json_begin_object(&w);
    sl_json_key_c(&w, "numRecords");
    sl_json_put_i64(&w, file->num_rows);
    write_section(&w, &walk, "minValues", SECTION_MIN);
    write_section(&w, &walk, "maxValues", SECTION_MAX);
    write_section(&w, &walk, "nullCount", SECTION_NULLS);
    sl_json_end_object(&w);
    status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = sl_buf_status(out, err);
    }
out:
    sl_buf_release(&text);
    sl_arena_release(&arena);
    return status;
}
