/*
 * The common lines of a commit in one pass over their bytes, driven by the tables of action_shape.h: known members once each and in
 * any order, texts, plain integers, true and false, maps and lists of texts, null. Whatever else there is, valid or not, is
 * left to the general parser, so that nothing here reports an error and both ways need only agree on what this one takes.
 * Called by action_lines.c; one thread a reader.
 */
#include <string.h>

#include "base/bytes.h"
#include "json/text.h"
#include "kernel/action/action_reader.h"
#include "kernel/action/action_shape.h"

/* Longer maps and lists are not common. */
#define MAX_ITEMS 32
/* Integers of so many digits fit 64 bits whatever they are. */
#define MAX_DIGITS 18
/* Decoded text of several lines shares a block. */
#define TEXT_BLOCK ((size_t)64 * 1024)

struct cursor {
    const char *at;
    const char *end;   /* of the line */
    const char *limit; /* of the bytes that may be looked at: string ends are searched by blocks */
};

/* ---- scalars ---- */

static inline char peek(const struct cursor *c)
{
    return c->at < c->end ? *c->at : '\0';
}

static inline bool take_char(struct cursor *c, char expected)
{
    if (c->at < c->end && *c->at == expected) {
        c->at++;
        return true;
    }
    return false;
}

static bool take_word(struct cursor *c, struct sl_str word)
{
    if ((size_t)(c->end - c->at) < word.len || memcmp(c->at, word.ptr, word.len) != 0) {
        return false;
    }
    c->at += word.len;
    return true;
}

static bool decode_text(struct sl_action_reader *reader, struct cursor *c, struct sl_str *out)
{
    /* Nothing decoded is longer than what is left of the line. */
    const size_t room = (size_t)(c->end - c->at) + SL_JSON_TEXT_SLACK;
    if (reader->text_left < room) {
        const size_t size = room > TEXT_BLOCK ? room : TEXT_BLOCK;
        reader->text = sl_arena_alloc(reader->arena, size);
        reader->text_left = reader->text != NULL ? size : 0;
        if (reader->text == NULL) {
            return false; /* the general parser will find out that memory is short */
        }
    }
    size_t len = 0;
    const char *quote = sl_json_text_take(c->at, c->limit, reader->text, &len);
    if (quote == NULL || quote >= c->end) {
        return false;
    }
    *out = sl_str_make(reader->text, len);
    reader->text += len;
    reader->text_left -= len;
    c->at = quote + 1;
    return true;
}

static bool take_text(struct sl_action_reader *reader, struct cursor *c, struct sl_str *out)
{
    if (!take_char(c, '"')) {
        return false;
    }
    const char *quote = c->at + sl_plain_run(c->at, (size_t)(c->limit - c->at));
    if (quote < c->end && *quote != '"') {
        if (*quote == '\\') {
            return decode_text(reader, c, out);
        }
        bool has_escapes = false;
        quote = sl_json_text_pass(c->at, c->limit, &has_escapes);
        if (quote == NULL || has_escapes) {
            return quote != NULL && decode_text(reader, c, out);
        }
    }
    if (quote >= c->end) {
        return false;
    }
    *out = sl_str_make(c->at, (size_t)(quote - c->at));
    c->at = quote + 1;
    return true;
}

/* Eight digits at once; false if one of them is none. */
static inline bool eight_digits(const char *at, uint64_t *value)
{
    const uint64_t word = sl_word_load(at);
    const uint64_t digits = word - UINT64_C(0x3030303030303030);
    if (((word & UINT64_C(0xF0F0F0F0F0F0F0F0)) ^ UINT64_C(0x3030303030303030)) != 0 ||
        ((digits + UINT64_C(0x0606060606060606)) & UINT64_C(0xF0F0F0F0F0F0F0F0)) != 0) {
        return false;
    }
    const uint64_t pairs = ((digits * 10) + (digits >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
    const uint64_t fours = ((pairs * 100) + (pairs >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
    *value = ((fours * 10000) + (fours >> 32)) & UINT64_C(0xFFFFFFFF);
    return true;
}

static bool take_i64(struct cursor *c, int64_t *out)
{
    const bool negative = take_char(c, '-');
    const char *const begin = c->at;
    uint64_t value = 0;
    uint64_t eight = 0;
    while (c->end - c->at >= 8 && c->at - begin <= 8 && eight_digits(c->at, &eight)) {
        value = value * 100000000 + eight;
        c->at += 8;
    }
    while (c->at < c->end && sl_is_digit(*c->at) && c->at - begin < MAX_DIGITS) {
        value = value * 10 + (uint64_t)(*c->at - '0');
        c->at++;
    }
    const bool is_plain = c->at > begin && (*begin != '0' || c->at - begin == 1);
    if (!is_plain || (peek(c) != ',' && peek(c) != '}')) {
        return false;
    }
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool take_bool(struct cursor *c, bool *out)
{
    *out = peek(c) == 't';
    return take_word(c, *out ? SL_STR("true") : SL_STR("false"));
}

/* ---- containers ---- */

static bool take_map(struct sl_action_reader *reader, struct cursor *c, struct sl_kv_list *out)
{
    struct sl_kv items[MAX_ITEMS];
    size_t n = 0;
    *out = (struct sl_kv_list){NULL, 0};
    if (!take_char(c, '{')) {
        return false;
    }
    if (take_char(c, '}')) {
        return true;
    }
    do {
        if (n == MAX_ITEMS || !take_text(reader, c, &items[n].key) || !take_char(c, ':')) {
            return false;
        }
        items[n].value = (struct sl_str){NULL, 0};
        if (peek(c) == '"' ? !take_text(reader, c, &items[n].value) : !take_word(c, SL_STR("null"))) {
            return false;
        }
        n++;
    } while (take_char(c, ','));
    if (!take_char(c, '}')) {
        return false;
    }
    struct sl_kv *copy = sl_arena_alloc(reader->arena, n * sizeof(*copy));
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, items, n * sizeof(*copy));
    *out = (struct sl_kv_list){copy, n};
    return true;
}

static bool take_list(struct sl_action_reader *reader, struct cursor *c, struct sl_str_list *out)
{
    struct sl_str items[MAX_ITEMS];
    size_t n = 0;
    *out = (struct sl_str_list){NULL, 0};
    if (!take_char(c, '[')) {
        return false;
    }
    if (take_char(c, ']')) {
        return true;
    }
    do {
        if (n == MAX_ITEMS || !take_text(reader, c, &items[n])) {
            return false;
        }
        n++;
    } while (take_char(c, ','));
    if (!take_char(c, ']')) {
        return false;
    }
    struct sl_str *copy = sl_arena_alloc(reader->arena, n * sizeof(*copy));
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, items, n * sizeof(*copy));
    *out = (struct sl_str_list){copy, n};
    return true;
}

static uint32_t required_members(const struct sl_shape *shape)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < shape->n_members; i++) {
        bits |= (shape->members[i].flags & SL_MEMBER_REQUIRED) != 0 ? UINT32_C(1) << i : 0;
    }
    return bits;
}

static bool take_members(struct sl_action_reader *reader, struct cursor *c, const struct sl_shape *shape, void *body,
                         uint32_t *seen);

static bool take_dv(struct sl_action_reader *reader, struct cursor *c, const struct sl_shape *shape,
                    const struct sl_dv_descriptor **out)
{
    struct sl_dv_descriptor *dv = sl_arena_alloc_zero(reader->arena, sizeof(*dv));
    uint32_t seen = 0;
    if (dv == NULL) {
        return false;
    }
    sl_shape_reset(shape, dv);
    *out = dv;
    return take_members(reader, c, shape, dv, &seen) && (required_members(shape) & ~seen) == 0;
}

static bool take_group(struct sl_action_reader *reader, struct cursor *c, const struct sl_shape *shape, void *body)
{
    uint32_t seen = 0;
    return take_members(reader, c, shape, body, &seen) && (required_members(shape) & ~seen) == 0;
}

static bool take_value(struct sl_action_reader *reader, struct cursor *c, const struct sl_member *member, void *body)
{
    void *place = sl_member_at(body, member->offset);
    bool flag = false;
    switch (member->type) {
    case SL_MEMBER_STR: return take_text(reader, c, place);
    case SL_MEMBER_I64: return take_i64(c, place);
    case SL_MEMBER_SIZE: return take_i64(c, place) && *(const int64_t *)place >= 0;
    case SL_MEMBER_BOOL: return take_bool(c, place);
    case SL_MEMBER_FLAG:
        if (!take_bool(c, &flag)) {
            return false;
        }
        *(enum sl_flag *)place = flag ? SL_FLAG_TRUE : SL_FLAG_FALSE;
        return true;
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: return take_map(reader, c, place);
    case SL_MEMBER_LIST: return take_list(reader, c, place);
    case SL_MEMBER_GROUP: return take_group(reader, c, member->of, body);
    case SL_MEMBER_DV: return take_dv(reader, c, member->of, place);
    case SL_MEMBER_JSON: break;
    }
    return false;
}

/* The member whose name comes next, with its quotes and colon; members come mostly in the order of the table. */
static const struct sl_member *take_name(struct cursor *c, const struct sl_shape *shape, size_t *index)
{
    if (!take_char(c, '"')) {
        return NULL;
    }
    const size_t left = (size_t)(c->end - c->at);
    for (size_t i = 0; i < shape->n_members; i++) {
        *index = *index + 1 < shape->n_members ? *index + 1 : 0;
        const struct sl_member *member = &shape->members[*index];
        if (member->name_len + 2 <= left && c->at[member->name_len] == '"' && c->at[0] == member->name[0] &&
            memcmp(c->at, member->name, member->name_len) == 0) {
            c->at += member->name_len + 1;
            return take_char(c, ':') ? member : NULL;
        }
    }
    return NULL;
}

/* An object from its opening brace on. Recursion ends with the tables: they nest once. */
static bool take_members(struct sl_action_reader *reader, struct cursor *c, const struct sl_shape *shape, void *body,
                         uint32_t *seen)
{
    size_t index = shape->n_members - 1;
    if (!take_char(c, '{')) {
        return false;
    }
    if (take_char(c, '}')) {
        return true;
    }
    do {
        const struct sl_member *member = take_name(c, shape, &index);
        if (member == NULL) {
            return false;
        }
        if (peek(c) == 'n') {
            if (!take_word(c, SL_STR("null"))) {
                return false;
            }
            continue;
        }
        if ((*seen >> index & 1U) != 0 || !take_value(reader, c, member, body)) {
            return false;
        }
        *seen |= UINT32_C(1) << index;
        if (member->has_offset != SL_NO_OFFSET) {
            *(bool *)sl_member_at(body, member->has_offset) = true;
        }
    } while (take_char(c, ','));
    return take_char(c, '}');
}

/* ---- lines ---- */

static bool take_shape_name(struct cursor *c, const struct sl_shape *shape)
{
    const size_t len = strlen(shape->name);
    if ((size_t)(c->end - c->at) < len + 2 || memcmp(c->at, shape->name, len) != 0 || c->at[len] != '"' ||
        c->at[len + 1] != ':') {
        return false;
    }
    c->at += len + 2;
    return true;
}

static const struct sl_shape *take_action_name(struct sl_action_reader *reader, struct cursor *c)
{
    if (reader->shape != NULL && take_shape_name(c, reader->shape)) {
        return reader->shape;
    }
    for (unsigned kind = 0; kind < SL_ACTION_KINDS; kind++) {
        const struct sl_shape *shape = sl_shape_of((enum sl_action_kind)kind);
        if (kind != SL_ACTION_COMMIT_INFO && take_shape_name(c, shape)) {
            reader->shape = shape;
            return shape;
        }
    }
    return NULL;
}

static void make_blank(struct sl_action_reader *reader, const struct sl_shape *shape)
{
    struct sl_action *blank = &reader->blank[shape->kind];
    *blank = (struct sl_action){.kind = shape->kind};
    sl_shape_reset(shape, sl_action_body(blank));
    reader->required[shape->kind] = required_members(shape);
    reader->ready |= UINT32_C(1) << shape->kind;
}

bool sl_action_read_plain(struct sl_action_reader *reader, struct sl_str line, const char *limit, struct sl_action *out)
{
    struct cursor c = {.at = line.ptr, .end = line.ptr + line.len, .limit = limit};
    if (!take_char(&c, '{') || !take_char(&c, '"')) {
        return false;
    }
    const struct sl_shape *shape = take_action_name(reader, &c);
    if (shape == NULL) {
        return false;
    }
    if ((reader->ready >> shape->kind & 1U) == 0) {
        make_blank(reader, shape);
    }
    out->kind = shape->kind;
    memcpy(sl_action_body(out), sl_action_body(&reader->blank[shape->kind]), shape->size);
    uint32_t seen = 0;
    return take_members(reader, &c, shape, sl_action_body(out), &seen) && take_char(&c, '}') && c.at == c.end &&
           (reader->required[shape->kind] & ~seen) == 0;
}
