/*
 * Comparing names without regard to case. Spark compares column names character by character, upper-cased and then
 * lower-cased (Java's String.equalsIgnoreCase); the table below gives the same classes for the scripts in which names are
 * written with case. Pure function, any thread.
 */
#include "base/str.h"

#include "base/utf8.h"

enum step {
    ALL,  /* every letter of the range has its partner `delta` further */
    EVEN, /* pairs of neighbours, the capital one even */
    ODD   /* pairs of neighbours, the capital one odd */
};

struct fold_range {
    uint32_t first;
    uint32_t last;
    enum step step;
    int32_t delta;
};

/* Sorted by first, not overlapping. */
static const struct fold_range ranges[] = {
    {0x0041, 0x005A, ALL, 32},    {0x00B5, 0x00B5, ALL, 775},   {0x00C0, 0x00D6, ALL, 32},
    {0x00D8, 0x00DE, ALL, 32},    {0x0100, 0x012F, EVEN, 1},    {0x0130, 0x0130, ALL, -199},
    {0x0131, 0x0131, ALL, -200},  {0x0132, 0x0137, EVEN, 1},    {0x0139, 0x0148, ODD, 1},
    {0x014A, 0x0177, EVEN, 1},    {0x0178, 0x0178, ALL, -121},  {0x0179, 0x017E, ODD, 1},
    {0x017F, 0x017F, ALL, -268},  {0x0370, 0x0373, EVEN, 1},    {0x0376, 0x0377, EVEN, 1},
    {0x0386, 0x0386, ALL, 38},    {0x0388, 0x038A, ALL, 37},    {0x038C, 0x038C, ALL, 64},
    {0x038E, 0x038F, ALL, 63},    {0x0391, 0x03A1, ALL, 32},    {0x03A3, 0x03AB, ALL, 32},
    {0x03C2, 0x03C2, ALL, 1},     {0x0400, 0x040F, ALL, 80},    {0x0410, 0x042F, ALL, 32},
    {0x0460, 0x0481, EVEN, 1},    {0x048A, 0x04BF, EVEN, 1},    {0x04C0, 0x04C0, ALL, 15},
    {0x04C1, 0x04CE, ODD, 1},     {0x04D0, 0x052F, EVEN, 1},    {0x0531, 0x0556, ALL, 48},
    {0x1E00, 0x1E95, EVEN, 1},    {0x1E9E, 0x1E9E, ALL, -7615}, {0x1EA0, 0x1EFF, EVEN, 1},
    {0x212A, 0x212A, ALL, -8383}, {0x212B, 0x212B, ALL, -8262}, {0xFF21, 0xFF3A, ALL, 32},
};

static uint32_t fold(uint32_t code_point)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && code_point >= ranges[i].first; i++) {
        if (code_point > ranges[i].last) {
            continue;
        }
        const uint32_t parity = code_point & 1u;
        if ((ranges[i].step == EVEN && parity != 0) || (ranges[i].step == ODD && parity == 0)) {
            return code_point;
        }
        return (uint32_t)((int32_t)code_point + ranges[i].delta);
    }
    return code_point;
}

/* The next character, folded; an invalid byte stands for itself, above all characters. */
static uint32_t next_folded(struct sl_str s, size_t *pos)
{
    uint32_t code_point = 0;
    if (sl_utf8_next(s, pos, &code_point)) {
        return fold(code_point);
    }
    return 0x110000u + (unsigned char)s.ptr[(*pos)++];
}

static unsigned char fold_ascii(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

bool sl_str_eq_nocase(struct sl_str a, struct sl_str b)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a.len && j < b.len) {
        const unsigned char one = (unsigned char)a.ptr[i];
        const unsigned char other = (unsigned char)b.ptr[j];
        if ((one | other) < 0x80) {
            if (fold_ascii(one) != fold_ascii(other)) {
                return false;
            }
            i++;
            j++;
            continue;
        }
        if (next_folded(a, &i) != next_folded(b, &j)) {
            return false;
        }
    }
    return i == a.len && j == b.len;
}
