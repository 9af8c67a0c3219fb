/*
 * Random lines of commits, from a seed, and a comparison of actions member by member. For tests that hold two ways of reading
 * against each other.
 */
#ifndef SILT_ACTION_RANDOM_H
#define SILT_ACTION_RANDOM_H

#include <stdint.h>

#include "base/buf.h"
#include "kernel/action/action.h"

/* One line without its end: mostly as writers write them, sometimes odd, sometimes broken. */
void action_random_line(struct sl_buf *out, uint64_t *state);
/* NULL if they are alike, else the name of what differs. Absent and empty are not alike. */
const char *action_difference(const struct sl_action *a, const struct sl_action *b);

#endif
