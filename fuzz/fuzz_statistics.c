/*
 * Statistics as JSON: line by line, one reader that learns shapes, one that does not, and a tree of the whole text claim the same; and
 * what is believed of claims bounds no less than they do.
 */
#include <string.h>

#include "base/arena.h"
#include "json/json.h"
#include "kernel/scan/stats_reader.h"
#include "schema/value.h"
#include "support/fuzz.h"

#define MAX_LINES 64

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type decimal_type = {.kind = SILT_TYPE_DECIMAL, .precision = 12, .scale = 2};
static const struct silt_type double_type = {.kind = SILT_TYPE_DOUBLE};
static const struct silt_type float_type = {.kind = SILT_TYPE_FLOAT};
static const struct silt_type date_type = {.kind = SILT_TYPE_DATE};
static const struct silt_type ntz_type = {.kind = SILT_TYPE_TIMESTAMP_NTZ};
static const struct silt_type bool_type = {.kind = SILT_TYPE_BOOLEAN};
static const struct silt_type integer_type = {.kind = SILT_TYPE_INTEGER};

#define COLUMN(names, n, t)                                                     \
    {                                                                           \
        .path = (names), .path_len = (n), .type = (t), .physical_path = (names) \
    }
static const struct sl_str l_path[] = {{"l", 1}};
static const struct sl_str t_path[] = {{"t\"\xc3\xa9", 4}};
static const struct sl_str e_path[] = {{"e", 1}};
static const struct sl_str d_path[] = {{"d", 1}};
static const struct sl_str f_path[] = {{"f", 1}};
static const struct sl_str a_path[] = {{"a", 1}};
static const struct sl_str n_path[] = {{"n", 1}};
static const struct sl_str b_path[] = {{"b", 1}};
static const struct sl_str inner_path[] = {{"s", 1}, {"i", 1}};
static const struct sl_str deep_path[] = {{"s", 1}, {"u", 1}, {"l", 1}};
static const struct sl_skip_column columns[] = {
    COLUMN(l_path, 1, &long_type),    COLUMN(t_path, 1, &text_type),  COLUMN(e_path, 1, &decimal_type),
    COLUMN(d_path, 1, &double_type),  COLUMN(f_path, 1, &float_type), COLUMN(a_path, 1, &date_type),
    COLUMN(n_path, 1, &ntz_type),     COLUMN(b_path, 1, &bool_type),  COLUMN(inner_path, 2, &integer_type),
    COLUMN(deep_path, 3, &long_type),
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct told {
    struct sl_claims claims;
    struct sl_bounds bounds[N_COLUMNS];
};

/* ---- by a tree ---- */

/* All values that a path leads to, by members that come once or more; the last one is told. */
static size_t find_all(const sl_json *object, const struct sl_str *path, size_t path_len, const sl_json **last)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_is_object(object) ? object : NULL);
    struct sl_str key;
    const sl_json *value = NULL;
    size_t n = 0;
    while (sl_json_next(&iter, &key, &value)) {
        if (!sl_str_eq(key, path[0])) {
            continue;
        }
        if (path_len == 1) {
            n++;
            *last = value;
        } else {
            n += find_all(value, path + 1, path_len - 1, last);
        }
    }
    return n;
}

static const sl_json *only(const sl_json *root, struct sl_str part, const struct sl_skip_column *column)
{
    struct sl_str path[8] = {part};
    const sl_json *value = NULL;
    for (size_t i = 0; i < column->path_len; i++) {
        path[i + 1] = column->physical_path[i];
    }
    return find_all(root, path, column->path_len + 1, &value) == 1 ? value : NULL;
}

static bool count_of(const sl_json *value, int64_t *out)
{
    return sl_json_get_kind(value) == SL_JSON_NUMBER && sl_json_to_i64(value, out) && *out >= 0;
}

static void by_tree(const sl_json *root, struct sl_arena *arena, struct told *out)
{
    static const struct sl_str tight = {"tightBounds", 11};
    static const struct sl_str rows = {"numRecords", 10};
    const sl_json *value = NULL;
    bool flag = false;
    const size_t n_tight = find_all(root, &tight, 1, &value);
    if (n_tight > 0 && (n_tight > 1 || !sl_json_is_null(value))) {
        const bool is_tight = n_tight == 1 && sl_json_to_bool(value, &flag) && flag;
        out->claims.tightness = is_tight ? SL_TIGHT : SL_WIDE;
    }
    value = NULL;
    out->claims.has_rows = find_all(root, &rows, 1, &value) == 1 && count_of(value, &out->claims.rows);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        struct sl_bounds *b = &out->bounds[i];
        b->has_null_count = count_of(only(root, SL_STR("nullCount"), &columns[i]), &b->null_count);
        value = only(root, SL_STR("minValues"), &columns[i]);
        b->has_min = value != NULL && sl_stats_value_read(arena, value, columns[i].type, &b->min);
        value = only(root, SL_STR("maxValues"), &columns[i]);
        b->has_max = value != NULL && sl_stats_value_read(arena, value, columns[i].type, &b->max);
    }
}

/* ---- comparing ---- */

static void same_claims(const struct told *a, const struct told *b)
{
    FUZZ_CHECK(a->claims.has_rows == b->claims.has_rows);
    FUZZ_CHECK(!a->claims.has_rows || a->claims.rows == b->claims.rows);
    FUZZ_CHECK(a->claims.tightness == b->claims.tightness);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        const struct sl_bounds *x = &a->bounds[i];
        const struct sl_bounds *y = &b->bounds[i];
        FUZZ_CHECK(x->has_null_count == y->has_null_count && x->has_min == y->has_min && x->has_max == y->has_max);
        FUZZ_CHECK(!x->has_null_count || x->null_count == y->null_count);
        FUZZ_CHECK(!x->has_min || fuzz_same_value(&x->min, &y->min));
        FUZZ_CHECK(!x->has_max || fuzz_same_value(&x->max, &y->max));
    }
}

static void check_belief(const struct told *claimed, struct sl_arena *arena)
{
    struct told believed = *claimed;
    int order = 0;
    FUZZ_CHECK(sl_stats_believe(&believed.claims, columns, N_COLUMNS, arena, believed.bounds, NULL) == SILT_OK);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        const struct sl_bounds *was = &claimed->bounds[i];
        const struct sl_bounds *is = &believed.bounds[i];
        FUZZ_CHECK(!is->has_min || (was->has_min && sl_value_compare(&is->min, &was->min, &order) && order <= 0));
        FUZZ_CHECK(!is->has_max || (was->has_max && sl_value_compare(&is->max, &was->max, &order) && order >= 0));
        FUZZ_CHECK(!is->has_null_count || (was->has_null_count && is->null_count == was->null_count));
        FUZZ_CHECK(!is->has_row_count || (claimed->claims.has_rows && is->row_count == claimed->claims.rows));
        FUZZ_CHECK(!is->has_null_count || !is->has_row_count || is->null_count <= is->row_count);
    }
}

static void check_line(struct sl_stats_reader *reader, struct sl_str line)
{
    struct sl_arena arena;
    struct sl_json_doc *doc = NULL;
    struct told alone = {0};
    struct told learnt = {0};
    struct told tree = {.claims = {.tightness = SL_TIGHT_UNSAID}};
    sl_arena_init(&arena, fuzz_env());
    FUZZ_CHECK(sl_stats_claims_from_json(line, columns, N_COLUMNS, &arena, &alone.claims, alone.bounds, NULL) ==
               SILT_OK);
    for (int i = 0; i < 2; i++) {
        FUZZ_CHECK(sl_stats_reader_claims(reader, line, &arena, &learnt.claims, learnt.bounds, NULL) == SILT_OK);
        same_claims(&alone, &learnt);
    }
    if (sl_json_parse(fuzz_env(), line, &doc, NULL) == SILT_OK && sl_json_is_object(sl_json_root(doc))) {
        by_tree(sl_json_root(doc), &arena, &tree);
    }
    same_claims(&alone, &tree);
    check_belief(&alone, &arena);
    sl_json_free(doc);
    sl_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sl_str rest = {(const char *)data, size};
    struct sl_stats_reader *reader = NULL;
    FUZZ_CHECK(sl_stats_reader_new(fuzz_env(), columns, N_COLUMNS, &reader, NULL) == SILT_OK);
    for (size_t i = 0; i < MAX_LINES && rest.len > 0; i++) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        const size_t len = end != NULL ? (size_t)(end - rest.ptr) : rest.len;
        check_line(reader, sl_str_sub(rest, 0, len));
        rest = sl_str_sub(rest, end != NULL ? len + 1 : len, rest.len);
    }
    sl_stats_reader_free(reader);
    return 0;
}
