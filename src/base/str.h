/*
 * String views: (pointer, length), not NUL-terminated, borrowed.
 */
#ifndef SL_BASE_STR_H
#define SL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sl_str {
    const char *ptr; /* may be NULL when len is 0; a NULL ptr also serves as "absent" */
    size_t len;
};

#define SL_STR(literal) ((struct sl_str){(literal), sizeof(literal) - 1})
/* For printf("%.*s", SL_FMT(s)). */
#define SL_FMT(s) (int)((s).len > 1000000 ? 1000000 : (s).len), ((s).ptr != NULL ? (s).ptr : "")

static inline struct sl_str sl_str_from(const char *text)
{
    return (struct sl_str){text, text != NULL ? strlen(text) : 0};
}

static inline struct sl_str sl_str_make(const char *ptr, size_t len)
{
    return (struct sl_str){ptr, len};
}

bool sl_str_eq(struct sl_str a, struct sl_str b);
bool sl_str_eq_c(struct sl_str a, const char *b);
/* Case-insensitive as Spark compares names: simple case folding of ASCII and of Latin, Greek and Cyrillic letters. */
bool sl_str_eq_nocase(struct sl_str a, struct sl_str b);
/* Byte order (memcmp, then length): <0, 0, >0. */
int sl_str_compare(struct sl_str a, struct sl_str b);
bool sl_str_starts_with(struct sl_str s, struct sl_str prefix);
bool sl_str_ends_with(struct sl_str s, struct sl_str suffix);
/* Index of the first occurrence, or SIZE_MAX. */
size_t sl_str_find(struct sl_str s, struct sl_str needle);
struct sl_str sl_str_sub(struct sl_str s, size_t begin, size_t end);
struct sl_str sl_str_trim(struct sl_str s); /* ASCII white space at both ends */

/* Numbers, whole text, no white space: false if it is anything else or does not fit. */
bool sl_str_to_i64(struct sl_str s, int64_t *out);  /* optional sign, decimal */
bool sl_str_to_u64(struct sl_str s, uint64_t *out); /* digits only */
/* Decimal floating point, correctly rounded; no hex, no inf, no nan. */
bool sl_str_to_f64(struct sl_str s, double *out);
bool sl_str_to_f32(struct sl_str s, float *out);

/* Characters of ASCII, whatever the locale. */
static inline bool sl_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool sl_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The value of a hex digit, -1 for any other character. */
static inline int sl_hex_digit(char c)
{
    if (sl_is_digit(c)) {
        return c - '0';
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Levenshtein distance for "did you mean", capped: returns cap + 1 when above cap. */
size_t sl_str_distance(struct sl_str a, struct sl_str b, size_t cap);

#endif
