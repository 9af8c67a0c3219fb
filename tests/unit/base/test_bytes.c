/*
 * Blocks of bytes as bits: against a plain loop, in the portable form and in this machine's.
 */
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c <= 0x7F && c != '"' && c != '\\';
}

static struct sl_byte_masks masks_by_loop(const char *at)
{
    struct sl_byte_masks masks = {0};
    for (unsigned i = 0; i < SL_BYTES_BLOCK; i++) {
        const unsigned char c = (unsigned char)at[i];
        masks.quote |= (uint64_t)(c == '"') << i;
        masks.backslash |= (uint64_t)(c == '\\') << i;
        masks.other |= (uint64_t)(c < 0x20 || c > 0x7F) << i;
    }
    return masks;
}

static void check_block(const char *at)
{
    const struct sl_byte_masks expected = masks_by_loop(at);
    const struct sl_byte_masks portable = sl_byte_masks_portable(at);
    const struct sl_byte_masks own = sl_byte_masks(at);
    assert_true(portable.quote == expected.quote && own.quote == expected.quote);
    assert_true(portable.backslash == expected.backslash && own.backslash == expected.backslash);
    assert_true(portable.other == expected.other && own.other == expected.other);
    size_t run = 0;
    while (run < SL_BYTES_BLOCK && is_plain((unsigned char)at[run])) {
        run++;
    }
    for (size_t n = 0; n <= SL_BYTES_BLOCK; n++) {
        assert_int_equal(sl_plain_run(at, n), run < n ? run : n);
    }
    assert_int_equal(sl_plain_run8(at), run < 8 ? run : 8);
}

static void every_byte_is_judged_at_every_place(void **state)
{
    (void)state;
    char block[SL_BYTES_BLOCK];
    for (unsigned c = 0; c < 256; c++) {
        for (unsigned i = 0; i < SL_BYTES_BLOCK; i++) {
            memset(block, 'a', sizeof(block));
            block[i] = (char)c;
            check_block(block);
        }
        memset(block, (int)c, sizeof(block));
        check_block(block);
    }
}

static void random_blocks_are_judged_alike(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252;
    char block[SL_BYTES_BLOCK];
    for (unsigned n = 0; n < 20000; n++) {
        for (unsigned i = 0; i < SL_BYTES_BLOCK; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            static const char hard[] = "\"\\a\x1f\x20\x7f\x80\xff!#[]";
            block[i] = (x & 3) == 0 ? (char)(x >> 8) : hard[(x >> 16) % (sizeof(hard) - 1)];
        }
        check_block(block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_judged_at_every_place),
        cmocka_unit_test(random_blocks_are_judged_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
