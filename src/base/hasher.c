/* The hash of bytes that come in pieces. Pure. */
#include "base/hasher.h"

#include "base/hasher_int.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ALIGNMENT 64

_Static_assert(sizeof(struct sl_hasher) >= sizeof(XXH3_state_t) + ALIGNMENT, "room for the state");
_Static_assert(_Alignof(XXH3_state_t) <= ALIGNMENT, "as XXH3 wants it");

void *sl_hasher_state(struct sl_hasher *hasher)
{
    const uintptr_t at = (uintptr_t)hasher->space;
    return hasher->space + (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
}

void sl_hasher_begin(struct sl_hasher *hasher)
{
    (void)XXH3_64bits_reset(sl_hasher_state(hasher)); /* fails of no state only, as do those below */
}

void sl_hasher_feed_plain(void *state, const void *bytes, size_t n)
{
    (void)XXH3_64bits_update(state, bytes, n);
}

bool sl_hasher_has_wide(void)
{
#if defined(__x86_64__)
    /* Looks at what the processor was asked when the library was loaded. */
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

void sl_hasher_add(struct sl_hasher *hasher, const void *bytes, size_t n)
{
    sl_hasher_feed *feed = sl_hasher_has_wide() ? sl_hasher_feed_wide : sl_hasher_feed_plain;
    if (n > 0) {
        feed(sl_hasher_state(hasher), bytes, n);
    }
}

uint64_t sl_hasher_end(struct sl_hasher *hasher)
{
    return XXH3_64bits_digest(sl_hasher_state(hasher));
}
