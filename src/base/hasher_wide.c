/*
 * The hash's inner loop for processors with AVX2. A unit of its own, compiled for them: nothing in it may run on others. Pure.
 */
#include "base/hasher_int.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef __AVX2__
void sl_hasher_feed_wide(void *state, const void *bytes, size_t n)
{
    (void)XXH3_64bits_update(state, bytes, n); /* fails of no state only */
}
#else
void sl_hasher_feed_wide(void *state, const void *bytes, size_t n)
{
    sl_hasher_feed_plain(state, bytes, n);
}
#endif
