/*
 * Statistics from JSON: what the scanner claims, alone and with shapes that it has learnt, is what a tree of the whole text says, for
 * random texts, whole and damaged.
 */
#include "kernel/scan/stats_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/decimal.h"
#include "json/json.h"
#include "schema/value.h"
#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type decimal_type = {.kind = SILT_TYPE_DECIMAL, .precision = 12, .scale = 2};
static const struct silt_type double_type = {.kind = SILT_TYPE_DOUBLE};
static const struct silt_type time_type = {.kind = SILT_TYPE_TIMESTAMP};
static const struct silt_type bool_type = {.kind = SILT_TYPE_BOOLEAN};
static const struct silt_type integer_type = {.kind = SILT_TYPE_INTEGER};

#define COLUMN(names, n, t)                                                     \
    {                                                                           \
        .path = (names), .path_len = (n), .type = (t), .physical_path = (names) \
    }
static const struct sl_str x_path[] = {{"x", 1}};
static const struct sl_str y_path[] = {{"y\"\xc3\xa9", 4}};
static const struct sl_str d_path[] = {{"d", 1}};
static const struct sl_str f_path[] = {{"f", 1}};
static const struct sl_str t_path[] = {{"t", 1}};
static const struct sl_str dot_path[] = {{"s.a", 3}};
static const struct sl_str a_path[] = {{"s", 1}, {"a", 1}};
static const struct sl_str c_path[] = {{"s", 1}, {"b", 1}, {"c", 1}};
static const struct sl_skip_column columns[] = {
    COLUMN(x_path, 1, &long_type),    COLUMN(y_path, 1, &text_type), COLUMN(d_path, 1, &decimal_type),
    COLUMN(f_path, 1, &double_type),  COLUMN(t_path, 1, &time_type), COLUMN(dot_path, 1, &bool_type),
    COLUMN(a_path, 2, &integer_type), COLUMN(c_path, 3, &text_type),
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_arena_release(&arena);
    test_env_check(&t);
    return 0;
}

/* ---- the same by a tree ---- */

/* The only member of this name; NULL if there is none. *twice tells that there are more. */
static const sl_json *only_member(const sl_json *object, struct sl_str name, bool *twice)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_is_object(object) ? object : NULL);
    struct sl_str key;
    const sl_json *value = NULL;
    const sl_json *found = NULL;
    while (sl_json_next(&iter, &key, &value)) {
        if (sl_str_eq(key, name)) {
            *twice = *twice || found != NULL;
            found = value;
        }
    }
    return found;
}

static bool tree_count(const sl_json *value, int64_t *out)
{
    return sl_json_to_i64(value, out) && *out >= 0;
}

static bool ends_in_odd_minutes(const sl_json *value)
{
    struct sl_str text;
    const bool is_text = sl_json_to_str(value, &text);
    if (!is_text || text.len < 6 || strchr("+-", text.ptr[text.len - 6]) == NULL || text.ptr[text.len - 3] != ':') {
        return false;
    }
    return atoi(text.ptr + text.len - 2) % 15 != 0;
}

static void tree_bound(const sl_json *root, const char *part, const struct sl_skip_column *column, bool *has,
                       silt_value *out)
{
    bool twice = false;
    const sl_json *value = only_member(root, sl_str_from(part), &twice);
    for (size_t i = 0; i < column->path_len; i++) {
        value = only_member(value, column->physical_path[i], &twice);
    }
    if (strcmp(part, "nullCount") == 0) {
        int64_t count = 0;
        *has = tree_count(value, &count);
        *out = sl_value_i64(SILT_TYPE_LONG, count);
    } else {
        *has = sl_stats_value_read(&arena, value, column->type, out);
        if (*has && column->type->kind == SILT_TYPE_TIMESTAMP && ends_in_odd_minutes(value)) {
            out->as.i64 += strcmp(part, "maxValues") == 0 ? 60000000 : -60000000;
        }
    }
    /* Texts of the generator name a part or a struct twice only to name all below it twice. */
    *has = *has && !twice;
}

static void tree_claims(struct sl_str text, struct sl_claims *claims, struct sl_bounds *bounds)
{
    struct sl_json_doc *doc = NULL;
    memset(bounds, 0, N_COLUMNS * sizeof(*bounds));
    *claims = (struct sl_claims){.tightness = SL_TIGHT_UNSAID};
    if (sl_json_parse(&t.env, text, &doc, NULL) != SILT_OK) {
        return;
    }
    const sl_json *root = sl_json_root(doc);
    bool twice = false;
    const sl_json *rows = only_member(root, SL_STR("numRecords"), &twice);
    claims->has_rows = !twice && tree_count(rows, &claims->rows);
    twice = false;
    const sl_json *tight = only_member(root, SL_STR("tightBounds"), &twice);
    bool flag = false;
    if (!sl_json_is_null(tight) || twice) {
        claims->tightness = sl_json_to_bool(tight, &flag) && flag && !twice ? SL_TIGHT : SL_WIDE;
    }
    for (size_t i = 0; i < N_COLUMNS; i++) {
        struct sl_bounds *b = &bounds[i];
        silt_value nulls;
        tree_bound(root, "nullCount", &columns[i], &b->has_null_count, &nulls);
        b->null_count = nulls.as.i64;
        tree_bound(root, "minValues", &columns[i], &b->has_min, &b->min);
        tree_bound(root, "maxValues", &columns[i], &b->has_max, &b->max);
    }
    sl_json_free(doc);
}

/* ---- random texts ---- */

static uint64_t pick(uint64_t *state, uint64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 20) % n;
}

struct text {
    char bytes[4096];
    size_t len;
    uint64_t structure; /* texts of one structure differ in strings and numbers only */
    uint64_t values;
};

static void put(struct text *text, const char *bytes)
{
    const size_t len = strlen(bytes);
    assert_true(text->len + len < sizeof(text->bytes));
    memcpy(text->bytes + text->len, bytes, len + 1);
    text->len += len;
}

static void put_number(struct text *text)
{
    static const char *const forms[] = {"0",
                                        "-0",
                                        "7",
                                        "-12",
                                        "123456789",
                                        "9223372036854775807",
                                        "18446744073709551616",
                                        "1.5",
                                        "-0.0",
                                        "1e3",
                                        "2E-2",
                                        "1.0",
                                        "12345678901234567890.123",
                                        "1e400",
                                        "0.10000000149011612",
                                        "99999999"};
    put(text, forms[pick(&text->values, sizeof(forms) / sizeof(forms[0]))]);
}

static void put_string(struct text *text)
{
    static const char *const forms[] = {"",
                                        "a",
                                        "plain text that is longer than a block of sixteen",
                                        "2020-01-01T00:00:00.123Z",
                                        "0202-10-21T00:00:00.000+00:53:28",
                                        "0202-10-21T00:00:00.000+00:53",
                                        "2020-01-01T00:00:00.000+05:30",
                                        "12.5",
                                        "Infinity",
                                        "NaN",
                                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                                        "q\\\"uote",
                                        "\\u00e9\\n\\ud83d\\ude00",
                                        "\\\\"};
    put(text, "\"");
    put(text, forms[pick(&text->values, sizeof(forms) / sizeof(forms[0]))]);
    put(text, "\"");
}

static void put_value(struct text *text)
{
    switch (pick(&text->structure, 14)) {
    case 0: put(text, "null"); return;
    case 1: put(text, "true"); return;
    case 2: put(text, "false"); return;
    case 3: put(text, "[1, \"b\", {\"x\": 2}]"); return;
    case 4: put(text, "{}"); return;
    case 5:
    case 6:
    case 7:
    case 8: put_string(text); return;
    default: put_number(text); return;
    }
}

static void put_key(struct text *text, const char *key)
{
    put(text, pick(&text->structure, 40) == 0 ? " \n" : "");
    put(text, "\"");
    put(text, key);
    put(text, pick(&text->structure, 40) == 0 ? "\" : " : "\":");
}

/* {"a": v, "b": {"c": v}, …} */
static void put_struct(struct text *text)
{
    bool comma = false;
    put(text, "{");
    if (pick(&text->structure, 8) != 0) {
        put_key(text, "a");
        put_value(text);
        comma = true;
    }
    if (pick(&text->structure, 8) != 0) {
        put(text, comma ? "," : "");
        put_key(text, "b");
        put(text, "{");
        put_key(text, pick(&text->structure, 4) == 0 ? "other" : "c");
        put_value(text);
        put(text, "}");
    }
    put(text, "}");
}

static void put_columns(struct text *text)
{
    static const char *const names[] = {"x", "y\\\"\xc3\xa9", "y\\\"\\u00e9", "d", "f", "t", "s.a", "s",
                                        "z", "unknown"};
    bool comma = false;
    put(text, "{");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        /* A column may come twice; a struct does not, since its parts need not. */
        for (uint64_t n = pick(&text->structure, 4) == 0                           ? 0
                          : pick(&text->structure, 30) == 0 && names[i][1] != '\0' ? 2
                                                                                   : 1;
             n > 0; n--) {
            put(text, comma ? "," : "");
            put_key(text, names[i]);
            if (strcmp(names[i], "s") == 0 && pick(&text->structure, 6) != 0) {
                put_struct(text);
            } else {
                put_value(text);
            }
            comma = true;
        }
    }
    put(text, "}");
}

static void make_text(struct text *text, uint64_t structure, uint64_t values)
{
    static const char *const members[] = {"numRecords", "tightBounds", "minValues", "maxValues", "nullCount", "tags"};
    *text = (struct text){.structure = structure * UINT64_C(0x9E3779B97F4A7C15) + 1,
                          .values = values * UINT64_C(0xD1B54A32D192ED03) + 1};
    (void)pick(&text->structure, 2);
    (void)pick(&text->values, 2);
    const uint64_t first = pick(&text->structure, 6);
    put(text, "{");
    for (uint64_t i = 0; i < 6; i++) {
        const char *name = members[(first + i) % 6];
        if (pick(&text->structure, 10) == 0) {
            continue;
        }
        put(text, text->bytes[text->len - 1] == '{' ? "" : ",");
        put_key(text, name);
        if (strstr(name, "Values") != NULL || (strcmp(name, "nullCount") == 0 && pick(&text->structure, 20) != 0)) {
            put_columns(text);
        } else if (strcmp(name, "numRecords") == 0) {
            put_number(text);
        } else {
            put_value(text);
        }
    }
    put(text, "}");
}

static void damage(struct text *text, uint64_t *random)
{
    static const char bytes[] = "\"\\{}[]:,0-9.eE+ nul\x80\xff\x01NIt";
    for (uint64_t n = 1 + pick(random, 3); n > 0 && text->len > 2; n--) {
        const size_t at = (size_t)pick(random, text->len);
        const size_t span = 1 + (size_t)pick(random, 5);
        switch (pick(random, 4)) {
        case 0: text->bytes[at] = bytes[pick(random, sizeof(bytes) - 1)]; break;
        case 1:
            memmove(text->bytes + at, text->bytes + at + 1, text->len - at - 1);
            text->len--;
            break;
        case 2:
            if (text->len + span < sizeof(text->bytes) && at + span < text->len) {
                memmove(text->bytes + at + span, text->bytes + at, text->len - at);
                text->len += span;
            }
            break;
        default: text->len = pick(random, 8) == 0 ? at + 1 : text->len; break;
        }
    }
}

/* ---- comparing ---- */

static bool same_bound(bool a_has, const silt_value *a, bool b_has, const silt_value *b)
{
    int order = 1;
    if (!a_has || !b_has) {
        return a_has == b_has;
    }
    return a->kind == b->kind && sl_value_compare(a, b, &order) && order == 0;
}

static bool same_claims(const struct sl_claims *a, const struct sl_bounds *x, const struct sl_claims *b,
                        const struct sl_bounds *y)
{
    bool same = a->has_rows == b->has_rows && a->tightness == b->tightness && (!a->has_rows || a->rows == b->rows);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        same = same && x[i].has_null_count == y[i].has_null_count &&
               (!x[i].has_null_count || x[i].null_count == y[i].null_count) &&
               same_bound(x[i].has_min, &x[i].min, y[i].has_min, &y[i].min) &&
               same_bound(x[i].has_max, &x[i].max, y[i].has_max, &y[i].max);
    }
    return same;
}

static size_t n_claimed(const struct sl_bounds *bounds)
{
    size_t n = 0;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        n += (size_t)bounds[i].has_min + (size_t)bounds[i].has_max + (size_t)bounds[i].has_null_count;
    }
    return n;
}

/* What a peek tells is what the claims are; returns how much it told. */
static size_t compare_peek(struct sl_stats_reader *reader, struct sl_str json, const struct sl_claims *claims,
                           const struct sl_bounds *bounds)
{
    size_t n = 0;
    int64_t value = 0;
    if (!sl_stats_reader_peek(reader, json)) {
        return 0;
    }
    if (sl_stats_reader_peek_rows(reader, &value)) {
        assert_true(claims->has_rows);
        assert_int_equal(value, claims->rows);
        n++;
    }
    for (size_t i = 0; i < N_COLUMNS; i++) {
        for (int is_max = 0; is_max < 2; is_max++) {
            if (sl_stats_reader_peek_bound(reader, i, is_max > 0, &value)) {
                assert_true(is_max > 0 ? bounds[i].has_max : bounds[i].has_min);
                assert_int_equal(value, is_max > 0 ? bounds[i].max.as.i64 : bounds[i].min.as.i64);
                n++;
            }
        }
    }
    return n;
}

#define STRUCTURES 6000
#define TEXTS_A_STRUCTURE 20

static void scanning_and_shapes_claim_what_a_tree_says(void **state)
{
    (void)state;
    struct sl_claims by_tree;
    struct sl_claims alone;
    struct sl_claims by_shape;
    struct sl_bounds tree_bounds[N_COLUMNS];
    struct sl_bounds alone_bounds[N_COLUMNS];
    struct sl_bounds shape_bounds[N_COLUMNS];
    static struct text text;
    size_t cases = 0;
    size_t claimed = 0;
    size_t told = 0;
    uint64_t random = 1;
    for (uint64_t structure = 1; structure <= STRUCTURES; structure++) {
        struct sl_stats_reader *reader = NULL;
        assert_int_equal(sl_stats_reader_new(&t.env, columns, N_COLUMNS, &reader, NULL), SILT_OK);
        for (uint64_t i = 0; i < TEXTS_A_STRUCTURE; i++, cases++) {
            make_text(&text, structure + (pick(&random, 10) == 0 ? 1 : 0), cases);
            if (i % 2 == 1) {
                damage(&text, &random);
            }
            const struct sl_str json = sl_str_make(text.bytes, text.len);
            tree_claims(json, &by_tree, tree_bounds);
            told += compare_peek(reader, json, &by_tree, tree_bounds);
            assert_int_equal(sl_stats_claims_from_json(json, columns, N_COLUMNS, &arena, &alone, alone_bounds, NULL),
                             SILT_OK);
            assert_int_equal(sl_stats_reader_claims(reader, json, &arena, &by_shape, shape_bounds, NULL), SILT_OK);
            if (!same_claims(&by_tree, tree_bounds, &alone, alone_bounds) ||
                !same_claims(&by_tree, tree_bounds, &by_shape, shape_bounds)) {
                fail_msg("structure %llu, text %llu: %.*s", (unsigned long long)structure, (unsigned long long)i,
                         SL_FMT(json));
            }
            claimed += n_claimed(alone_bounds);
            sl_arena_reset(&arena);
        }
        sl_stats_reader_free(reader);
    }
    print_message("%zu texts compared, %zu claims, %zu by peeks\n", cases, claimed, told);
    assert_true(told > cases / 10);
    assert_true(cases >= 100000);
    assert_true(claimed > cases); /* texts that claim nothing would agree as well */
}

static void numbers_of_a_known_shape_are_peeked_at(void **state)
{
    static const struct {
        const char *json;
        bool has_rows, has_min;
        int64_t rows, min;
    } texts[] = {
        {"{\"numRecords\":3,\"minValues\":{\"x\":-17},\"maxValues\":{\"x\":9}}", true, true, 3, -17},
        {"{\"numRecords\":123456789012345678,\"minValues\":{\"x\":0},\"maxValues\":{\"x\":9}}", true, true,
         INT64_C(123456789012345678), 0},
        {"{\"numRecords\":3.0,\"minValues\":{\"x\":5},\"maxValues\":{\"x\":9}}", false, true, 0, 5},
        {"{\"numRecords\":3,\"minValues\":{\"x\":1e3},\"maxValues\":{\"x\":9}}", true, false, 3, 0},
        {"{\"numRecords\":-3,\"minValues\":{\"x\":99999999999999999999},\"maxValues\":{\"x\":9}}", false, false, 0, 0},
    };
    (void)state;
    struct sl_stats_reader *reader = NULL;
    struct sl_claims claims;
    struct sl_bounds bounds;
    int64_t value = 0;
    assert_int_equal(sl_stats_reader_new(&t.env, columns, 1, &reader, NULL), SILT_OK);
    assert_false(sl_stats_reader_peek(reader, sl_str_from(texts[0].json))); /* the first of its shape */
    assert_int_equal(sl_stats_reader_claims(reader, sl_str_from(texts[0].json), &arena, &claims, &bounds, NULL),
                     SILT_OK);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(sl_stats_reader_peek(reader, sl_str_from(texts[i].json)));
        assert_int_equal(sl_stats_reader_peek_rows(reader, &value), texts[i].has_rows);
        assert_true(!texts[i].has_rows || value == texts[i].rows);
        assert_int_equal(sl_stats_reader_peek_bound(reader, 0, false, &value), texts[i].has_min);
        assert_true(!texts[i].has_min || value == texts[i].min);
    }
    assert_false(sl_stats_reader_peek(reader, sl_str_from("{\"numRecords\":3}")));
    assert_false(sl_stats_reader_peek(reader, (struct sl_str){NULL, 0}));
    sl_stats_reader_free(reader);
}

/* ---- single rules ---- */

static struct sl_bounds read_x(const char *json, struct sl_claims *claims)
{
    struct sl_bounds bounds;
    assert_int_equal(sl_stats_claims_from_json(sl_str_from(json), columns, 1, &arena, claims, &bounds, NULL), SILT_OK);
    return bounds;
}

static void keys_that_come_twice_claim_nothing(void **state)
{
    (void)state;
    struct sl_claims claims;
    struct sl_bounds b = read_x("{\"numRecords\":3,\"minValues\":{\"x\":1,\"x\":5},\"maxValues\":{\"x\":9}}", &claims);
    assert_true(claims.has_rows);
    assert_false(b.has_min);
    assert_true(b.has_max);
    b = read_x("{\"numRecords\":3,\"numRecords\":3,\"minValues\":{\"x\":1},\"minValues\":{\"x\":1},"
               "\"tightBounds\":true,\"tightBounds\":true}",
               &claims);
    assert_false(claims.has_rows || b.has_min);
    assert_int_equal(claims.tightness, SL_WIDE);
    /* An escape does not hide a name. */
    b = read_x("{\"maxValues\":{\"x\":9,\"\\u0078\":3}}", &claims);
    assert_false(b.has_max);
}

static void one_bad_byte_anywhere_voids_all_statistics(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"numRecords\":3,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":2,\"y\":NaN}}",
        "{\"numRecords\":3,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":2,\"y\":-Infinity}}",
        "{\"numRecords\":3,\"minValues\":{\"x\":1},\"tags\":{\"k\":\"\\q\"}}",
        "{\"numRecords\":3,\"minValues\":{\"x\":1},\"tags\":\"\x01\"}",
        "{\"numRecords\":3,\"minValues\":{\"x\":1},\"tags\":\"\xff\"}",
        "{\"numRecords\":3,\"minValues\":{\"x\":1},}",
        "{\"numRecords\":3,\"minValues\":{\"x\":1}}}",
        "{\"numRecords\":3,\"minValues\":{\"x\":01}}",
        "{\"numRecords\":3,\"minValues\":{\"x\":1}",
        "[{\"numRecords\":3}]",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sl_claims claims;
        const struct sl_bounds b = read_x(bad[i], &claims);
        assert_false(claims.has_rows || b.has_min || b.has_max);
    }
}

static void unknown_members_and_values_of_wrong_kinds_are_passed_over(void **state)
{
    (void)state;
    struct sl_claims claims;
    const struct sl_bounds b = read_x(
        "{\"minValues\":{\"x\":\"1\",\"z\":[1,[2]]},\"maxValues\":{\"x\":5,\"s\":{\"x\":1}},"
        "\"nullCount\":{\"x\":{\"a\":1}},\"statsWithCollation\":{\"x\":{}},\"numRecords\":7}",
        &claims);
    assert_false(b.has_min || b.has_null_count);
    assert_true(b.has_max && claims.has_rows);
    assert_int_equal(b.max.as.i64, 5);
    assert_int_equal(claims.rows, 7);
}

static void many_shapes_in_turn_are_all_read(void **state)
{
    (void)state;
    struct sl_stats_reader *reader = NULL;
    assert_int_equal(sl_stats_reader_new(&t.env, columns, N_COLUMNS, &reader, NULL), SILT_OK);
    for (int i = 0; i < 2000; i++) {
        char json[200];
        struct sl_claims claims;
        struct sl_bounds bounds[N_COLUMNS];
        (void)snprintf(json, sizeof(json), "{\"numRecords\":%d,\"k%d\":1,\"minValues\":{\"x\":%d}}", i, i % 40, i * 3);
        assert_int_equal(sl_stats_reader_claims(reader, sl_str_from(json), &arena, &claims, bounds, NULL), SILT_OK);
        assert_true(claims.has_rows && bounds[0].has_min);
        assert_int_equal(claims.rows, i);
        assert_int_equal(bounds[0].min.as.i64, i * 3);
        sl_arena_reset(&arena);
    }
    sl_stats_reader_free(reader);
}

static void lack_of_memory_never_changes_a_claim(void **state)
{
    (void)state;
    static const char json[] =
        "{\"numRecords\":3,\"minValues\":{\"x\":1,\"y\\\"\\u00e9\":\"a\\nb\"},\"maxValues\":{\"x\":2}}";
    for (size_t n = 1; n < 100; n++) {
        struct sl_stats_reader *reader = NULL;
        struct sl_arena own;
        sl_arena_init(&own, &t.env);
        test_env_fail_at(&t, n);
        silt_status status = sl_stats_reader_new(&t.env, columns, N_COLUMNS, &reader, NULL);
        for (int round = 0; round < 3 && status == SILT_OK; round++) {
            struct sl_claims claims;
            struct sl_bounds bounds[N_COLUMNS];
            status = sl_stats_reader_claims(reader, sl_str_from(json), &own, &claims, bounds, NULL);
            assert_true(status == SILT_ENOMEM || (claims.rows == 3 && bounds[0].has_min && bounds[1].has_min));
        }
        const size_t requests = t.n_requests;
        test_env_fail_at(&t, 0);
        sl_stats_reader_free(reader);
        sl_arena_release(&own);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        if (requests < n) {
            assert_int_equal(status, SILT_OK);
            return;
        }
    }
    fail_msg("reading statistics never came to an end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scanning_and_shapes_claim_what_a_tree_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_of_a_known_shape_are_peeked_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_that_come_twice_claim_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_bad_byte_anywhere_voids_all_statistics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_members_and_values_of_wrong_kinds_are_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_shapes_in_turn_are_all_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lack_of_memory_never_changes_a_claim, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
