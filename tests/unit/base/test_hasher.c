/* Hashes of bytes that come in pieces. */
#include "base/hasher.h"

#include "base/map.h"
#include "test_env.h"

#define N_BYTES 100000

static void pieces_have_the_hash_of_the_whole(void **state)
{
    static unsigned char bytes[N_BYTES];
    static const size_t pieces[] = {1, 63, 64, 255, 256, 257, 4096, N_BYTES};
    (void)state;
    for (size_t i = 0; i < N_BYTES; i++) {
        bytes[i] = (unsigned char)(i * 31 + i / 257);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_have_the_hash_of_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
