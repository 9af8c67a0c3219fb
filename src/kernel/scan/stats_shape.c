/*
 * Shapes of statistics. See stats_shape.h.
 *
 * A match needs no parser: the frame is compared as bytes, and between its pieces stands what is a JSON string or number by itself. So the
 * text differs from one that was found valid only in strings and numbers that are valid too. Pure.
 */
#include "kernel/scan/stats_shape.h"

#include "base/bytes.h"
#include "json/text.h"

/* Longer texts are read by scanning. */
#define MAX_TEXT ((size_t)1 << 20)

/* Frames are compared by words; so many bytes behind a frame's end may be looked at. */
#define FRAME_SLACK 8

void sl_stats_shape_init(struct sl_stats_shape *shape, const silt_env *env)
{
    *shape = (struct sl_stats_shape){.behind = 0};
    sl_buf_init(&shape->frame, env);
    sl_vec_init(&shape->slots, env, sizeof(struct sl_shape_slot));
}

void sl_stats_shape_release(struct sl_stats_shape *shape)
{
    sl_buf_release(&shape->frame);
    sl_vec_release(&shape->slots);
    shape->behind = 0;
}

/* ---- values by themselves: the place behind them, NULL if they are invalid ---- */

static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && sl_is_digit(*at)) {
        at++;
    }
    return at;
}

/* Number of digits at the beginning of eight bytes. */
static inline unsigned digit_run8(const char *at)
{
    const uint64_t word = sl_word_load(at);
    const uint64_t high = SL_BYTES_EACH * 0xF0;
    const uint64_t digit = SL_BYTES_EACH * 0x30;
    /* A byte that carries into the next one is no digit itself, and only the first of those counts. */
    const uint64_t others = ((word & high) ^ digit) | (((word + SL_BYTES_EACH * 6) & high) ^ digit);
    return others != 0 ? sl_lowest_bit(others) / 8 : 8;
}

static const char *pass_fraction(const char *at, const char *end)
{
    if (at < end && *at == '.') {
        const char *digits = ++at;
        at = pass_digits(at, end);
        if (at == digits) {
            return NULL;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-') ? 1 : 0;
        const char *digits = at;
        at = pass_digits(at, end);
        if (at == digits) {
            return NULL;
        }
    }
    return at;
}

static inline const char *pass_number(const char *at, const char *end)
{
    at += at < end && *at == '-' ? 1 : 0;
    const char *const digits = at;
    if (end - at > 8) {
        const unsigned run = digit_run8(at);
        at += run;
        at = run == 8 ? pass_digits(at, end) : at;
    } else {
        at = pass_digits(at, end);
    }
    if (at == digits || (*digits == '0' && at - digits > 1)) {
        return NULL;
    }
    return at < end && (*at == '.' || *at == 'e' || *at == 'E') ? pass_fraction(at, end) : at;
}

/* From behind the opening quote to the closing one. */
static inline const char *pass_string(const char *at, const char *end, bool *has_escapes)
{
    const char *stop = at + sl_plain_run(at, (size_t)(end - at));
    *has_escapes = false;
    return stop < end && *stop == '"' ? stop : sl_json_text_pass(at, end, has_escapes);
}

/* ---- learning ---- */

/* Closes the piece of frame that ends at `at`. */
static bool add_slot(struct sl_stats_shape *shape, const char *piece, const char *at, bool is_string)
{
    struct sl_shape_slot *slot = sl_vec_push(&shape->slots);
    if (slot == NULL) {
        return false;
    }
    *slot = (struct sl_shape_slot){.before = (uint32_t)(at - piece), .is_string = is_string};
    sl_buf_put(&shape->frame, piece, (size_t)(at - piece));
    return true;
}

/* A string is a member's name if a colon follows. */
static bool is_name(const char *quote, const char *end)
{
    const char *at = quote + 1;
    while (at < end && sl_is_space(*at)) {
        at++;
    }
    return at < end && *at == ':';
}

static bool cut(struct sl_stats_shape *shape, struct sl_str text, const size_t *wanted, size_t n_wanted)
{
    const char *const end = text.ptr + text.len;
    const char *piece = text.ptr;
    const char *at = text.ptr;
    size_t next = 0;
    while (at < end) {
        bool has_escapes = false;
        const bool is_string = *at == '"';
        if (!is_string && *at != '-' && !sl_is_digit(*at)) {
            at++;
            continue;
        }
        at += is_string ? 1 : 0;
        const char *behind = is_string ? pass_string(at, end, &has_escapes) : pass_number(at, end);
        if (behind == NULL) {
            return false;
        }
        if (!is_string || !is_name(behind, end)) {
            if (!add_slot(shape, piece, at, is_string)) {
                return false;
            }
            piece = behind;
            if (next < n_wanted && wanted[next] == (size_t)(at - text.ptr)) {
                ((struct sl_shape_slot *)sl_vec_at(&shape->slots, shape->slots.len - 1))->is_wanted = true;
                next++;
            }
        }
        at = behind + (is_string ? 1 : 0);
    }
    shape->behind = (uint32_t)(end - piece);
    sl_buf_put(&shape->frame, piece, shape->behind);
    sl_buf_put(&shape->frame, "\0\0\0\0\0\0\0", FRAME_SLACK);
    return next == n_wanted && shape->frame.status == SILT_OK;
}

bool sl_stats_shape_learn(struct sl_stats_shape *shape, struct sl_str text, const size_t *wanted, size_t n_wanted)
{
    sl_buf_clear(&shape->frame);
    shape->slots.len = 0;
    if (text.len <= MAX_TEXT && cut(shape, text, wanted, n_wanted)) {
        return true;
    }
    sl_buf_clear(&shape->frame);
    shape->slots.len = 0;
    return false;
}

/* ---- matching ---- */

static inline bool same_word(const char *a, const char *b)
{
    uint64_t x = 0;
    uint64_t y = 0;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x == y;
}

/* Are the next len bytes of both the same? Both have them; the frame has FRAME_SLACK more. */
static inline bool same_bytes(const char *at, const char *end, const char *frame, size_t len)
{
    if (len < 8) {
        if (end - at < 8) {
            return memcmp(at, frame, len) == 0;
        }
        const uint64_t mask = (UINT64_C(1) << (8 * len)) - 1;
        return ((sl_word_load(at) ^ sl_word_load(frame)) & mask) == 0;
    }
    for (size_t i = 0; i + 8 < len; i += 8) {
        if (!same_word(at + i, frame + i)) {
            return false;
        }
    }
    return same_word(at + len - 8, frame + len - 8);
}

bool sl_stats_shape_match(const struct sl_stats_shape *shape, struct sl_str text, struct sl_json_token *out)
{
    const char *at = text.ptr;
    const char *const end = at + text.len;
    const char *frame = shape->frame.data;
    const struct sl_shape_slot *slots = shape->slots.data;
    if (shape->frame.len == 0) {
        return false;
    }
    for (size_t i = 0; i < shape->slots.len; i++) {
        const size_t before = slots[i].before;
        if ((size_t)(end - at) < before || !same_bytes(at, end, frame, before)) {
            return false;
        }
        at += before;
        frame += before;
        bool has_escapes = false;
        const char *behind = slots[i].is_string ? pass_string(at, end, &has_escapes) : pass_number(at, end);
        if (behind == NULL) {
            return false;
        }
        if (slots[i].is_wanted) {
            *out = (struct sl_json_token){.kind = slots[i].is_string ? SL_JSON_STRING : SL_JSON_NUMBER,
                                          .raw = sl_str_make(at, (size_t)(behind - at)),
                                          .has_escapes = has_escapes};
            out++;
        }
        at = behind;
    }
    return (size_t)(end - at) == shape->behind && same_bytes(at, end, frame, shape->behind);
}
