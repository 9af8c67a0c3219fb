/* Hashes of bytes that come in pieces. */
#include "base/hasher.h"

#include "base/hasher_int.h"
#include "base/map.h"
#include "test_env.h"

#define N_BYTES 100000

static unsigned char *make_bytes(void)
{
    static unsigned char bytes[N_BYTES];
    for (size_t i = 0; i < N_BYTES; i++) {
        bytes[i] = (unsigned char)(i * 31 + i / 257);
    }
    return bytes;
}

/* A cache is read on other processors than it was written on. */
static void every_way_has_the_same_hash(void **state)
{
    static sl_hasher_feed *const ways[] = {sl_hasher_feed_plain, sl_hasher_feed_wide};
    const unsigned char *bytes = make_bytes();
    (void)state;
    for (size_t way = 0; way < (sl_hasher_has_wide() ? 2 : 1); way++) {
        for (size_t n = 1; n <= 1500; n++) {
            struct sl_hasher hasher;
            sl_hasher_begin(&hasher);
            ways[way](sl_hasher_state(&hasher), bytes, n);
            ways[(way + n) % 2 && sl_hasher_has_wide()](sl_hasher_state(&hasher), bytes + n, N_BYTES - n);
            assert_int_equal(sl_hasher_end(&hasher), sl_hash_bytes(bytes, N_BYTES));
        }
    }
}

static void pieces_have_the_hash_of_the_whole(void **state)
{
    static const size_t pieces[] = {1, 63, 64, 255, 256, 257, 4096, N_BYTES};
    const unsigned char *bytes = make_bytes();
    (void)state;
    for (size_t p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
        struct sl_hasher hasher;
        sl_hasher_begin(&hasher);
        assert_int_equal(sl_hasher_end(&hasher), sl_hash_bytes(NULL, 0));
        for (size_t at = 0; at < N_BYTES; at += pieces[p]) {
            sl_hasher_add(&hasher, bytes + at, N_BYTES - at < pieces[p] ? N_BYTES - at : pieces[p]);
            sl_hasher_add(&hasher, NULL, 0);
        }
        assert_int_equal(sl_hasher_end(&hasher), sl_hash_bytes(bytes, N_BYTES));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_have_the_hash_of_the_whole),
                                       cmocka_unit_test(every_way_has_the_same_hash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
