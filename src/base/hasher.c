/* The hash of bytes that come in pieces. Pure. */
#include "base/hasher.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ALIGNMENT 64

_Static_assert(sizeof(struct sl_hasher) >= sizeof(XXH3_state_t) + ALIGNMENT, "room for the state");
_Static_assert(_Alignof(XXH3_state_t) <= ALIGNMENT, "as XXH3 wants it");

static XXH3_state_t *state_of(struct sl_hasher *hasher)
{
    const uintptr_t at = (uintptr_t)hasher->space;
    return (XXH3_state_t *)(void *)(hasher->space + (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT);
}

void sl_hasher_begin(struct sl_hasher *hasher)
{
    (void)XXH3_64bits_reset(state_of(hasher)); /* fails of no state only, as do those below */
}

void sl_hasher_add(struct sl_hasher *hasher, const void *bytes, size_t n)
{
    if (n > 0) {
        (void)XXH3_64bits_update(state_of(hasher), bytes, n);
    }
}

uint64_t sl_hasher_end(struct sl_hasher *hasher)
{
    return XXH3_64bits_digest(state_of(hasher));
}
