/* How bytes go into a hash's state: the same by any of the ways. */
#ifndef SL_BASE_HASHER_INT_H
#define SL_BASE_HASHER_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hasher.h"

/* state: an XXH3_state_t. n > 0. */
typedef void sl_hasher_feed(void *state, const void *bytes, size_t n);

void sl_hasher_feed_plain(void *state, const void *bytes, size_t n);

/* With vectors of 32 bytes, in a third of the time. The processor must have AVX2: who calls it asks before. */
void sl_hasher_feed_wide(void *state, const void *bytes, size_t n);

/* What is fed, inside of a hasher that was begun. */
void *sl_hasher_state(struct sl_hasher *hasher);

/* False where the library was built without it, or the processor has no such vectors. */
bool sl_hasher_has_wide(void);

#endif
