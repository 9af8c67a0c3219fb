/*
 * Reads Arrow format strings (the Arrow C data interface's "Data type description"); see cell_type.h.
 */
#include "cli/cell_type.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

#define MAX_DEPTH 64
#define MAX_UNION_CODES 128

struct format {
    const char *text;
    enum sl_cell_kind kind;
    uint8_t width;
    bool is_text;
};

static const struct format FORMATS[] = {
    {"n", SL_CELL_NULL, 0, false},
    {"b", SL_CELL_BOOL, 0, false},
    {"c", SL_CELL_INT, 1, false},
    {"C", SL_CELL_UINT, 1, false},
    {"s", SL_CELL_INT, 2, false},
    {"S", SL_CELL_UINT, 2, false},
    {"i", SL_CELL_INT, 4, false},
    {"I", SL_CELL_UINT, 4, false},
    {"l", SL_CELL_INT, 8, false},
    {"L", SL_CELL_UINT, 8, false},
    {"e", SL_CELL_HALF, 2, false},
    {"f", SL_CELL_FLOAT, 4, false},
    {"g", SL_CELL_DOUBLE, 8, false},
    {"u", SL_CELL_BYTES, 4, true},
    {"U", SL_CELL_BYTES, 8, true},
    {"z", SL_CELL_BYTES, 4, false},
    {"Z", SL_CELL_BYTES, 8, false},
    {"vu", SL_CELL_VIEW, 0, true},
    {"vz", SL_CELL_VIEW, 0, false},
    {"tdD", SL_CELL_DATE32, 4, false},
    {"tdm", SL_CELL_DATE64, 8, false},
    {"tiM", SL_CELL_INTERVAL_MONTHS, 4, false},
    {"tiD", SL_CELL_INTERVAL_DAY_TIME, 8, false},
    {"tin", SL_CELL_INTERVAL_MONTH_DAY_NANO, 16, false},
    {"+s", SL_CELL_STRUCT, 0, false},
    {"+l", SL_CELL_LIST, 4, false},
    {"+L", SL_CELL_LIST, 8, false},
    {"+vl", SL_CELL_LIST_VIEW, 4, false},
    {"+vL", SL_CELL_LIST_VIEW, 8, false},
    {"+m", SL_CELL_MAP, 4, false},
    {"+r", SL_CELL_RUN_END, 0, false},
};

static bool read_unit(char unit, int64_t *per_second)
{
    switch (unit) {
    case 's': *per_second = 1; return true;
    case 'm': *per_second = 1000; return true;
    case 'u': *per_second = 1000000; return true;
    case 'n': *per_second = 1000000000; return true;
    default: return false;
    }
}

/* tts, tsu:UTC, tDn … */
static bool read_time(const char *format, struct sl_cell_type *out)
{
    if (strlen(format) < 3 || !read_unit(format[2], &out->per_second)) {
        return false;
    }
    switch (format[1]) {
    case 't':
        out->kind = SL_CELL_TIME;
        out->width = out->per_second <= 1000 ? 4 : 8;
        return format[3] == '\0';
    case 'D': out->kind = SL_CELL_DURATION; return format[3] == '\0';
    case 's':
        out->kind = SL_CELL_TIMESTAMP;
        out->has_zone = format[3] == ':' && format[4] != '\0';
        return format[3] == ':';
    default: return false;
    }
}

/* d:38,2 or d:9,2,32 */
static bool read_decimal(const char *format, struct sl_cell_type *out)
{
    int64_t numbers[3] = {0, 0, 128};
    struct sl_str rest = sl_str_from(format + 2);
    size_t n = 0;

    while (n < 3) {
        const size_t comma = sl_str_find(rest, SL_STR(","));
        const size_t end = comma == SIZE_MAX ? rest.len : comma;
        if (!sl_str_to_i64(sl_str_sub(rest, 0, end), &numbers[n++])) {
            return false;
        }
        if (comma == SIZE_MAX) {
            break;
        }
        rest = sl_str_sub(rest, comma + 1, rest.len);
    }
    out->kind = SL_CELL_DECIMAL;
    out->width = (uint8_t)(numbers[2] / 8);
    out->scale = (int32_t)numbers[1];
    return n >= 2 && numbers[1] >= -38 && numbers[1] <= 38 &&
           (numbers[2] == 32 || numbers[2] == 64 || numbers[2] == 128);
}

/* +us:0,1 or +ud:0,1: the codes stand in the order of the children. */
static bool read_union(struct sl_arena *arena, const char *format, struct sl_cell_type *out)
{
    struct sl_str rest = sl_str_from(format + 4);
    size_t n = 0;

    out->kind = format[2] == 's' ? SL_CELL_SPARSE_UNION : SL_CELL_DENSE_UNION;
    out->union_codes = sl_arena_alloc_array(arena, MAX_UNION_CODES, sizeof(*out->union_codes));
    while (out->union_codes != NULL && n < MAX_UNION_CODES && rest.len > 0) {
        const size_t comma = sl_str_find(rest, SL_STR(","));
        int64_t code = 0;
        if (!sl_str_to_i64(sl_str_sub(rest, 0, comma == SIZE_MAX ? rest.len : comma), &code) || code < 0 ||
            code > INT8_MAX) {
            return false;
        }
        out->union_codes[n++] = (int8_t)code;
        rest = comma == SIZE_MAX ? (struct sl_str){0} : sl_str_sub(rest, comma + 1, rest.len);
    }
    return out->union_codes != NULL && n == out->n_children;
}

/* w:16 and +w:3 */
static bool read_fixed(const char *text, enum sl_cell_kind kind, struct sl_cell_type *out)
{
    out->kind = kind;
    return sl_str_to_i64(sl_str_from(text), &out->list_size) && out->list_size >= 0 && out->list_size <= INT32_MAX;
}

static bool read_format(struct sl_arena *arena, const char *format, struct sl_cell_type *out)
{
    for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
        if (strcmp(format, FORMATS[i].text) == 0) {
            out->kind = FORMATS[i].kind;
            out->width = FORMATS[i].width;
            out->is_text = FORMATS[i].is_text;
            return true;
        }
    }
    if (strncmp(format, "d:", 2) == 0) {
        return read_decimal(format, out);
    }
    if (strncmp(format, "w:", 2) == 0) {
        return read_fixed(format + 2, SL_CELL_FIXED_BYTES, out);
    }
    if (strncmp(format, "+w:", 3) == 0) {
        return read_fixed(format + 3, SL_CELL_FIXED_LIST, out);
    }
    if (strncmp(format, "+us:", 4) == 0 || strncmp(format, "+ud:", 4) == 0) {
        return read_union(arena, format, out);
    }
    return format[0] == 't' && read_time(format, out);
}

/* The children that a kind is read through must be there. */
static bool has_children(const struct sl_cell_type *type)
{
    switch (type->kind) {
    case SL_CELL_LIST:
    case SL_CELL_LIST_VIEW:
    case SL_CELL_FIXED_LIST: return type->n_children == 1;
    case SL_CELL_MAP:
        return type->n_children == 1 && type->children[0].kind == SL_CELL_STRUCT && type->children[0].n_children == 2;
    case SL_CELL_RUN_END: return type->n_children == 2 && type->children[0].kind == SL_CELL_INT;
    case SL_CELL_DICTIONARY: return type->children[0].kind == SL_CELL_INT || type->children[0].kind == SL_CELL_UINT;
    default: return true;
    }
}

/* Metadata of Arrow is int32 n, then n times (int32 len, key, int32 len, value), all trusted as the schema is. */
static bool has_extension(const char *metadata, const char *wanted)
{
    int32_t n = 0;
    if (metadata == NULL) {
        return false;
    }
    memcpy(&n, metadata, sizeof(n));
    metadata += sizeof(n);
    for (int32_t i = 0; i < n * 2; i += 2) {
        struct sl_str parts[2];
        for (int j = 0; j < 2; j++) {
            int32_t len = 0;
            memcpy(&len, metadata, sizeof(len));
            parts[j] = sl_str_make(metadata + sizeof(len), (size_t)len);
            metadata += sizeof(len) + (size_t)len;
        }
        if (sl_str_eq_c(parts[0], "ARROW:extension:name") && sl_str_eq_c(parts[1], wanted)) {
            return true;
        }
    }
    return false;
}

static bool is_binary(const struct sl_cell_type *type, const char *name)
{
    return (type->kind == SL_CELL_BYTES || type->kind == SL_CELL_VIEW) && !type->is_text &&
           sl_str_eq_c(type->name, name);
}

static bool is_variant(const struct sl_cell_type *type)
{
    return type->n_children == 2 && is_binary(&type->children[0], "metadata") && is_binary(&type->children[1], "value");
}

static silt_status read_type(struct sl_arena *arena, const struct ArrowSchema *schema, int depth,
                             struct sl_cell_type *out, silt_error *err)
{
    const bool is_dictionary = schema->dictionary != NULL;
    const size_t n = is_dictionary ? 2 : (size_t)schema->n_children;
    struct ArrowSchema index = *schema; /* a view of the index column of a dictionary */

    *out = (struct sl_cell_type){.n_children = n};
    if (depth > MAX_DEPTH) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a column is nested more than %d levels deep", MAX_DEPTH);
    }
    out->name = sl_arena_copy(arena, sl_str_from(schema->name != NULL ? schema->name : ""));
    out->children = sl_arena_alloc_array(arena, n > 0 ? n : 1, sizeof(*out->children));
    if (out->children == NULL || out->name.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    if (is_dictionary) {
        index.dictionary = NULL;
        out->kind = SL_CELL_DICTIONARY;
        SL_TRY(read_type(arena, &index, depth + 1, &out->children[0], err));
        SL_TRY(read_type(arena, schema->dictionary, depth + 1, &out->children[1], err));
    } else {
        for (size_t i = 0; i < n; i++) {
            SL_TRY(read_type(arena, schema->children[i], depth + 1, &out->children[i], err));
        }
    }
    if ((!is_dictionary && !read_format(arena, schema->format, out)) || !has_children(out)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "column %.*s has the Arrow format %s, which cannot be shown",
                       SL_FMT(out->name), schema->format);
    }
    if (out->kind == SL_CELL_STRUCT && has_extension(schema->metadata, "arrow.parquet.variant") && is_variant(out)) {
        out->kind = SL_CELL_VARIANT;
    }
    if (out->kind == SL_CELL_FIXED_BYTES) {
        out->is_text = out->list_size == 16 && has_extension(schema->metadata, "arrow.uuid");
    }
    return SILT_OK;
}

silt_status sl_cell_type_read(struct sl_arena *arena, const struct ArrowSchema *schema, struct sl_cell_type *out,
                              silt_error *err)
{
    return read_type(arena, schema, 0, out, err);
}

bool sl_cell_type_is_number(const struct sl_cell_type *type)
{
    switch (type->kind) {
    case SL_CELL_INT:
    case SL_CELL_UINT:
    case SL_CELL_HALF:
    case SL_CELL_FLOAT:
    case SL_CELL_DOUBLE:
    case SL_CELL_DECIMAL: return true;
    case SL_CELL_DICTIONARY:
    case SL_CELL_RUN_END: return sl_cell_type_is_number(&type->children[1]);
    default: return false;
    }
}

bool sl_cell_type_is_short(const struct sl_cell_type *type)
{
    switch (type->kind) {
    case SL_CELL_BOOL:
    case SL_CELL_DATE32:
    case SL_CELL_DATE64:
    case SL_CELL_TIME:
    case SL_CELL_TIMESTAMP: return true;
    case SL_CELL_DICTIONARY:
    case SL_CELL_RUN_END: return sl_cell_type_is_short(&type->children[1]);
    default: return sl_cell_type_is_number(type);
    }
}
