/*
 * What the JSON text of statistics claims of the columns that a filter names (PROTOCOL.md "Per-file Statistics"). See stats_reader.h.
 *
 * One pass over the text without a tree: members that nobody asks for are only checked. The text is believed as a whole or not at
 * all: a bare NaN, a torn end or an invalid escape anywhere voids it, since whoever wrote that may have gone wrong before as
 * well. Where the values were is remembered with the text's shape, so that the next text of this shape need not be scanned.
 */
#include "kernel/scan/stats_reader.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/decimal.h"
#include "base/error.h"
#include "json/scan.h"
#include "kernel/scan/stats_shape.h"
#include "schema/value.h"

/* An offset of a zone that is not written with its seconds may lack up to this much. */
#define OFFSET_CUT_US INT64_C(60000000)

enum part {
    PART_NULLS = 1,
    PART_MIN = 2,
    PART_MAX = 4,
    PART_ROWS = 8,
    PART_TIGHT = 16
};

/* Shapes that are kept, and how much is learnt on trust before matches have to pay for it. */
#define N_SHAPES 4
#define FREE_LESSONS 8
#define MATCHES_A_LESSON 4

/* A value that was read: whose it is, and where it was, or what it is when it is no string and no number. */
struct found {
    enum part part;
    bool is_constant;
    size_t column;
    size_t place; /* bytes from the start of the text */
    struct sl_json_token constant;
};

struct known_shape {
    struct sl_stats_shape shape;
    struct sl_vec found;  /* struct found, in the order of the text */
    struct sl_vec lookup; /* uint32_t: token of numRecords, then of the least and greatest value of each column */
};

/* In a lookup: no token, or none alone. */
#define NO_TOKEN UINT32_MAX

/* Characters of a number that fits in any case. */
#define SAFE_DIGITS 18

struct sl_stats_reader {
    const silt_env *env;
    const struct sl_skip_column *columns;
    size_t n;
    struct known_shape known[N_SHAPES];
    size_t latest; /* the shape that matched last */
    size_t oldest; /* the one to be replaced */
    uint64_t n_lessons;
    uint64_t n_matches;
    struct sl_vec found;  /* struct found, of the text at hand */
    struct sl_vec places; /* size_t */
    struct sl_vec tokens; /* struct sl_json_token */
};

/* One text. */
struct pass {
    struct sl_json_scan scan;
    const struct sl_skip_column *columns;
    size_t n;
    struct sl_arena *arena;
    struct sl_claims *claims;
    struct sl_bounds *bounds;
    unsigned char *seen; /* parts of each column that were there */
    unsigned char seen_globals;
    bool no_memory;
    struct sl_vec *found; /* NULL: nobody wants to know */
};

static bool read_count(const struct sl_json_token *token, int64_t *out)
{
    sl_i128 unscaled = 0;
    int scale = 0;
    if (token->kind != SL_JSON_NUMBER) {
        return false;
    }
    if (sl_str_to_i64(token->raw, out)) {
        return *out >= 0;
    }
    /* 5.0 and 5e3 are counts too. */
    if (!sl_decimal_parse(token->raw, &unscaled, &scale) || !sl_decimal_rescale(unscaled, scale, 0, &unscaled) ||
        unscaled < 0 || unscaled > INT64_MAX) {
        return false;
    }
    *out = (int64_t)unscaled;
    return true;
}

/* Offsets with odd minutes are local times of old; writers other than Delta Spark 4 drop their seconds: "+00:53" for "+00:53:28". */
static bool may_lack_seconds(struct sl_str text)
{
    const size_t sign = text.len >= 6 ? text.len - 6 : 0;
    if (text.len < 6 || (text.ptr[sign] != '+' && text.ptr[sign] != '-') || text.ptr[sign + 3] != ':') {
        return false;
    }
    const int minutes = (text.ptr[sign + 4] - '0') * 10 + (text.ptr[sign + 5] - '0');
    return minutes % 15 != 0;
}

static bool read_bound(struct pass *p, const struct sl_json_token *token, const struct silt_type *type, bool is_max,
                       silt_value *out)
{
    struct sl_str text = token->raw;
    if (token->kind == SL_JSON_NULL || token->kind == SL_JSON_OBJECT || token->kind == SL_JSON_ARRAY) {
        return false;
    }
    if (token->has_escapes) {
        const struct sl_json_text written = {.raw = token->raw, .has_escapes = true};
        char *plain = sl_arena_alloc(p->arena, sl_json_text_room(&written));
        if (plain == NULL) {
            p->no_memory = true;
            return false;
        }
        text = sl_str_make(plain, sl_json_text_decode(&written, plain));
    }
    if (!sl_stats_text_read(text, token->kind == SL_JSON_STRING, type, out)) {
        return false;
    }
    if (type->kind == SILT_TYPE_TIMESTAMP && may_lack_seconds(text)) {
        return sl_add_i64(out->as.i64, is_max ? OFFSET_CUT_US : -OFFSET_CUT_US, &out->as.i64);
    }
    return true;
}

/* A part that comes a second time contradicts the first: neither counts. */
static void apply_to_column(struct pass *p, enum part part, size_t index, const struct sl_json_token *token)
{
    struct sl_bounds *b = &p->bounds[index];
    const bool again = (p->seen[index] & part) != 0;
    p->seen[index] = (unsigned char)(p->seen[index] | part);
    switch (part) {
    case PART_NULLS: b->has_null_count = !again && read_count(token, &b->null_count); return;
    case PART_MIN: b->has_min = !again && read_bound(p, token, p->columns[index].type, false, &b->min); return;
    default: b->has_max = !again && read_bound(p, token, p->columns[index].type, true, &b->max); return;
    }
}

static void apply(struct pass *p, enum part part, size_t index, const struct sl_json_token *token)
{
    if (part != PART_ROWS && part != PART_TIGHT) {
        apply_to_column(p, part, index, token);
        return;
    }
    const bool again = (p->seen_globals & part) != 0;
    p->seen_globals = (unsigned char)(p->seen_globals | part);
    if (part == PART_ROWS) {
        p->claims->has_rows = !again && read_count(token, &p->claims->rows);
    } else if (again || token->kind != SL_JSON_NULL) {
        const bool is_tight = !again && token->kind == SL_JSON_BOOL && sl_str_eq_c(token->raw, "true");
        p->claims->tightness = is_tight ? SL_TIGHT : SL_WIDE;
    }
}

/* Words outlive their text here. */
static struct sl_json_token constant_of(const struct sl_json_token *token)
{
    struct sl_json_token constant = {.kind = token->kind};
    if (token->kind == SL_JSON_BOOL) {
        constant.raw = sl_str_eq_c(token->raw, "true") ? SL_STR("true") : SL_STR("false");
    }
    return constant;
}

static void take_value(struct pass *p, enum part part, size_t index)
{
    struct sl_json_token token;
    if (!sl_json_scan_value(&p->scan, &token)) {
        return;
    }
    apply(p, part, index, &token);
    struct found *found = p->found != NULL ? sl_vec_push(p->found) : NULL;
    if (found != NULL) {
        *found = (struct found){.part = part,
                                .is_constant = token.kind != SL_JSON_STRING && token.kind != SL_JSON_NUMBER,
                                .column = index,
                                .place = (size_t)(token.raw.ptr - p->scan.begin),
                                .constant = constant_of(&token)};
    } else if (p->found != NULL) {
        p->no_memory = true;
    }
}

/* The first column whose path goes on with this key behind the first `level` names of column `via`; SIZE_MAX if none. */
static size_t find_column(const struct pass *p, const struct sl_json_text *key, size_t level, size_t via)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct sl_skip_column *column = &p->columns[i];
        if (column->path_len > level && sl_json_text_is(key, column->physical_path[level]) &&
            (level == 0 || sl_path_equal(column->physical_path, level, p->columns[via].physical_path, level))) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* The object of one part, or of a struct in it. As deep as the deepest path. */
static void read_part(struct pass *p, enum part part, size_t level, size_t via)
{
    struct sl_json_text key;
    if (sl_json_scan_peek(&p->scan) != SL_JSON_OBJECT) {
        (void)sl_json_scan_skip(&p->scan); /* a fault shows at the end */
        return;
    }
    (void)sl_json_scan_object(&p->scan); /* cannot fail but by depth, which shows at the end */
    while (sl_json_scan_member(&p->scan, &key)) {
        const size_t index = find_column(p, &key, level, via);
        if (index == SIZE_MAX) {
            (void)sl_json_scan_skip(&p->scan);
        } else if (p->columns[index].path_len == level + 1) {
            take_value(p, part, index);
        } else {
            read_part(p, part, level + 1, index);
        }
    }
}

static void read_root(struct pass *p)
{
    static const struct {
        struct sl_str name;
        enum part part;
    } members[] = {{{"minValues", 9}, PART_MIN},
                   {{"maxValues", 9}, PART_MAX},
                   {{"nullCount", 9}, PART_NULLS},
                   {{"numRecords", 10}, PART_ROWS},
                   {{"tightBounds", 11}, PART_TIGHT}};
    struct sl_json_text key;
    while (sl_json_scan_member(&p->scan, &key)) {
        size_t i = 0;
        while (i < sizeof(members) / sizeof(members[0]) && !sl_json_text_is(&key, members[i].name)) {
            i++;
        }
        if (i == sizeof(members) / sizeof(members[0])) {
            (void)sl_json_scan_skip(&p->scan); /* unknown members are for others; a fault shows at the end */
        } else if (members[i].part == PART_ROWS || members[i].part == PART_TIGHT) {
            take_value(p, members[i].part, 0);
        } else {
            read_part(p, members[i].part, 0, 0);
        }
    }
}

/* ---- a text ---- */

static void claim_nothing(struct sl_claims *claims, struct sl_bounds *bounds, size_t n)
{
    *claims = (struct sl_claims){.tightness = SL_TIGHT_UNSAID};
    memset(bounds, 0, n * sizeof(*bounds));
}

/* *valid: the text is an object of JSON, and what is claimed is what it says. */
static silt_status scan_text(struct pass *p, struct sl_str text, bool *valid, silt_error *err)
{
    sl_json_scan_init(&p->scan, text);
    const bool is_object = sl_json_scan_object(&p->scan);
    if (is_object) {
        read_root(p);
    }
    *valid = is_object && sl_json_scan_end(&p->scan);
    if (p->no_memory) {
        return sl_fail_nomem(err);
    }
    if (!*valid) {
        claim_nothing(p->claims, p->bounds, p->n);
    }
    return SILT_OK;
}

silt_status sl_stats_claims_from_json(struct sl_str text, const struct sl_skip_column *columns, size_t n,
                                      struct sl_arena *arena, struct sl_claims *claims, struct sl_bounds *bounds,
                                      silt_error *err)
{
    struct pass p = {.columns = columns, .n = n, .arena = arena, .claims = claims, .bounds = bounds};
    bool valid = false;
    claim_nothing(claims, bounds, n);
    if (text.ptr == NULL || text.len == 0) {
        return SILT_OK;
    }
    p.seen = sl_arena_alloc_zero(arena, n + 1);
    return p.seen != NULL ? scan_text(&p, text, &valid, err) : sl_fail_nomem(err);
}

/* ---- texts of one shape ---- */

silt_status sl_stats_reader_new(const silt_env *env, const struct sl_skip_column *columns, size_t n,
                                struct sl_stats_reader **out, silt_error *err)
{
    struct sl_stats_reader *reader = sl_alloc_zero(env, sizeof(*reader));
    *out = reader;
    if (reader == NULL) {
        return sl_fail_nomem(err);
    }
    reader->env = env;
    reader->columns = columns;
    reader->n = n;
    for (size_t i = 0; i < N_SHAPES; i++) {
        sl_stats_shape_init(&reader->known[i].shape, env);
        sl_vec_init(&reader->known[i].found, env, sizeof(struct found));
        sl_vec_init(&reader->known[i].lookup, env, sizeof(uint32_t));
    }
    sl_vec_init(&reader->found, env, sizeof(struct found));
    sl_vec_init(&reader->places, env, sizeof(size_t));
    sl_vec_init(&reader->tokens, env, sizeof(struct sl_json_token));
    return SILT_OK;
}

void sl_stats_reader_free(struct sl_stats_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    for (size_t i = 0; i < N_SHAPES; i++) {
        sl_stats_shape_release(&reader->known[i].shape);
        sl_vec_release(&reader->known[i].found);
        sl_vec_release(&reader->known[i].lookup);
    }
    sl_vec_release(&reader->found);
    sl_vec_release(&reader->places);
    sl_vec_release(&reader->tokens);
    sl_release(reader->env, reader, sizeof(*reader));
}

/* Which token is what. A part that comes twice claims nothing, so it has no token; without memory nothing has. */
static void index_tokens(const struct sl_stats_reader *reader, struct known_shape *known)
{
    const size_t n = 1 + 2 * reader->n;
    uint32_t token = 0;
    known->lookup.len = 0;
    if (!sl_vec_reserve(&known->lookup, n)) {
        return;
    }
    uint32_t *lookup = known->lookup.data;
    known->lookup.len = n;
    for (size_t i = 0; i < n; i++) {
        lookup[i] = NO_TOKEN;
    }
    for (size_t i = 0; i < known->found.len; i++) {
        const struct found *found = sl_vec_at(&known->found, i);
        const size_t place = found->part == PART_ROWS  ? 0
                             : found->part == PART_MIN ? 1 + 2 * found->column
                             : found->part == PART_MAX ? 2 + 2 * found->column
                                                       : SIZE_MAX;
        bool again = false;
        for (size_t j = 0; j < i; j++) {
            const struct found *other = sl_vec_at(&known->found, j);
            again = again || (other->part == found->part && other->column == found->column);
        }
        if (place != SIZE_MAX) {
            lookup[place] = again || found->is_constant ? NO_TOKEN : token;
        }
        token += found->is_constant ? 0 : 1;
    }
}

/* Remembers where the values of the text at hand were. Without memory for it nothing is remembered. */
static void learn(struct sl_stats_reader *reader, struct sl_str text)
{
    struct known_shape *known = &reader->known[reader->oldest];
    reader->n_lessons++;
    reader->places.len = 0;
    for (size_t i = 0; i < reader->found.len; i++) {
        const struct found *found = sl_vec_at(&reader->found, i);
        size_t *place = found->is_constant ? NULL : sl_vec_push(&reader->places);
        if (place != NULL) {
            *place = found->place;
        } else if (!found->is_constant) {
            return;
        }
    }
    if (!sl_vec_reserve(&reader->tokens, reader->places.len) ||
        !sl_stats_shape_learn(&known->shape, text, reader->places.data, reader->places.len)) {
        return;
    }
    const struct sl_vec spare = known->found;
    known->found = reader->found;
    reader->found = spare;
    index_tokens(reader, known);
    reader->latest = reader->oldest;
    reader->oldest = (reader->oldest + 1) % N_SHAPES;
}

static void apply_known(struct pass *p, const struct known_shape *known, const struct sl_json_token *tokens)
{
    const struct found *found = known->found.data;
    for (size_t i = 0; i < known->found.len; i++) {
        apply(p, found[i].part, found[i].column, found[i].is_constant ? &found[i].constant : tokens++);
    }
}

static bool match(struct sl_stats_reader *reader, struct sl_str text)
{
    for (size_t i = 0; i < N_SHAPES; i++) {
        const size_t index = (reader->latest + i) % N_SHAPES;
        if (sl_stats_shape_match(&reader->known[index].shape, text, reader->tokens.data)) {
            reader->latest = index;
            reader->n_matches++;
            return true;
        }
    }
    return false;
}

bool sl_stats_reader_peek(struct sl_stats_reader *reader, struct sl_str text)
{
    return text.ptr != NULL && text.len > 0 && match(reader, text);
}

static const struct sl_json_token *peek_token(const struct sl_stats_reader *reader, size_t place)
{
    const struct sl_vec *lookup = &reader->known[reader->latest].lookup;
    const uint32_t token = place < lookup->len ? ((const uint32_t *)lookup->data)[place] : NO_TOKEN;
    return token != NO_TOKEN ? (const struct sl_json_token *)reader->tokens.data + token : NULL;
}

/* The number that eight digits are; false if some are none. */
static inline bool read_digits8(const char *at, int64_t *out)
{
    const uint64_t zeros = SL_BYTES_EACH * '0';
    uint64_t word = sl_word_load(at);
    if ((((word & SL_BYTES_EACH * 0xF0) ^ zeros) | (((word + SL_BYTES_EACH * 6) & SL_BYTES_EACH * 0xF0) ^ zeros)) !=
        0) {
        return false;
    }
    word -= zeros;
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00FF00FF00FF00FF);   /* pairs */
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000FFFF0000FFFF); /* fours */
    *out = (int64_t)((word * 10000 + (word >> 32)) & UINT64_C(0xFFFFFFFF));
    return true;
}

/* A whole number of JSON that needs no look at overflow; false if there is more to it. */
static bool read_digits(struct sl_str text, int64_t *out)
{
    const bool negative = text.ptr[0] == '-';
    size_t i = negative ? 1 : 0;
    int64_t value = 0;
    if (text.len > SAFE_DIGITS) {
        return false;
    }
    for (int64_t eight = 0; text.len - i >= 8; i += 8) {
        if (!read_digits8(text.ptr + i, &eight)) {
            return false;
        }
        value = value * 100000000 + eight;
    }
    for (; i < text.len; i++) {
        if (!sl_is_digit(text.ptr[i])) {
            return false;
        }
        value = value * 10 + (text.ptr[i] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

bool sl_stats_reader_peek_rows(const struct sl_stats_reader *reader, int64_t *out)
{
    const struct sl_json_token *token = peek_token(reader, 0);
    return token != NULL && token->kind == SL_JSON_NUMBER && read_digits(token->raw, out) && *out >= 0;
}

bool sl_stats_reader_peek_bound(const struct sl_stats_reader *reader, size_t column, bool is_max, int64_t *out)
{
    const struct sl_json_token *token = peek_token(reader, 1 + 2 * column + (is_max ? 1 : 0));
    const struct silt_type *type = reader->columns[column].type;
    struct pass p = {.arena = NULL}; /* nothing is allocated for a text without escapes */
    silt_value value;
    if (token == NULL || token->has_escapes) {
        return false;
    }
    if (sl_kind_is_integer(type->kind)) {
        return token->kind == SL_JSON_NUMBER && read_digits(token->raw, out) && sl_int_fits(type->kind, *out);
    }
    if (!read_bound(&p, token, type, is_max, &value)) {
        return false;
    }
    *out = value.as.i64;
    return value.kind == SILT_TYPE_DATE || value.kind == SILT_TYPE_TIMESTAMP || value.kind == SILT_TYPE_TIMESTAMP_NTZ;
}

silt_status sl_stats_reader_claims(struct sl_stats_reader *reader, struct sl_str text, struct sl_arena *arena,
                                   struct sl_claims *claims, struct sl_bounds *bounds, silt_error *err)
{
    struct pass p = {.columns = reader->columns, .n = reader->n, .arena = arena, .claims = claims, .bounds = bounds};
    bool valid = false;
    claim_nothing(claims, bounds, reader->n);
    if (text.ptr == NULL || text.len == 0) {
        return SILT_OK;
    }
    p.seen = sl_arena_alloc_zero(arena, reader->n + 1);
    if (p.seen == NULL) {
        return sl_fail_nomem(err);
    }
    if (match(reader, text)) {
        apply_known(&p, &reader->known[reader->latest], reader->tokens.data);
        return p.no_memory ? sl_fail_nomem(err) : SILT_OK;
    }
    const bool wants_lesson = reader->n_lessons < FREE_LESSONS ||
                              reader->n_matches / MATCHES_A_LESSON > reader->n_lessons;
    reader->found.len = 0;
    p.found = wants_lesson ? &reader->found : NULL;
    SL_TRY(scan_text(&p, text, &valid, err));
    if (valid && wants_lesson) {
        learn(reader, text);
    }
    return SILT_OK;
}

silt_status sl_stats_reader_bounds(struct sl_stats_reader *reader, struct sl_str text, struct sl_arena *arena,
                                   struct sl_bounds *out, silt_error *err)
{
    struct sl_claims claims;
    SL_TRY(sl_stats_reader_claims(reader, text, arena, &claims, out, err));
    return sl_stats_believe(&claims, reader->columns, reader->n, arena, out, err);
}
