/*
 * LIKE: matching a text, and what a pattern says about the order of its matches.
 *
 * Called by the evaluation of predicates. Matching goes back only to the last '%', so that its cost is at most the product of
 * the lengths. Pure; any thread.
 */
#include "expr/like.h"

#include "base/utf8.h"

bool sl_like_valid(struct sl_str pattern)
{
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] != '\\') {
            continue;
        }
        i++;
        if (i >= pattern.len || strchr("%_\\", pattern.ptr[i]) == NULL || pattern.ptr[i] == '\0') {
            return false;
        }
    }
    return true;
}

static size_t next_char(struct sl_str text, size_t pos)
{
    uint32_t code_point = 0;
    size_t next = pos;
    return sl_utf8_next(text, &next, &code_point) ? next : pos + 1;
}

/* One step at both positions; false if the pattern's element there does not fit. '%' is not a step. */
static bool step(struct sl_str text, size_t *t, struct sl_str pattern, size_t *p)
{
    if (*p >= pattern.len || *t >= text.len) {
        return false;
    }
    if (pattern.ptr[*p] == '_') {
        *t = next_char(text, *t);
        *p += 1;
        return true;
    }
    const size_t literal = *p + (pattern.ptr[*p] == '\\' && *p + 1 < pattern.len ? 1 : 0);
    if (pattern.ptr[literal] != text.ptr[*t]) {
        return false;
    }
    *t += 1;
    *p = literal + 1;
    return true;
}

bool sl_like_match(struct sl_str text, struct sl_str pattern)
{
    size_t t = 0;
    size_t p = 0;
    size_t retry_t = 0;
    size_t retry_p = SIZE_MAX; /* after the last '%' */
    while (t < text.len || p < pattern.len) {
        if (p < pattern.len && pattern.ptr[p] == '%') {
            retry_p = ++p;
            retry_t = t;
        } else if (!step(text, &t, pattern, &p)) {
            if (retry_p == SIZE_MAX || retry_t >= text.len) {
                return false;
            }
            retry_t = next_char(text, retry_t);
            t = retry_t;
            p = retry_p;
        }
    }
    return true;
}

bool sl_like_split(struct sl_arena *arena, struct sl_str pattern, struct sl_like_prefix *out)
{
    char *text = sl_arena_alloc(arena, pattern.len + 1);
    size_t len = 0;
    size_t i = 0;
    if (text == NULL) {
        return false;
    }
    while (i < pattern.len && pattern.ptr[i] != '%' && pattern.ptr[i] != '_') {
        i += pattern.ptr[i] == '\\' && i + 1 < pattern.len ? 1 : 0;
        text[len++] = pattern.ptr[i++];
    }
    out->text = sl_str_make(text, len);
    out->is_exact = i == pattern.len;
    out->is_prefix = i + 1 == pattern.len && pattern.ptr[i] == '%';
    return true;
}
