/*
 * Stacks that hand over to each other: one runs, on the thread of the program. For the simulation's actors.
 */
#ifndef SILT_SIM_FIBER_H
#define SILT_SIM_FIBER_H

#include <stdbool.h>

struct sim_fiber;

/* A stack that will run fn(arg). Freed stacks are used again. NULL: no memory. */
struct sim_fiber *sim_fiber_new(void (*fn)(void *arg), void *arg);
/* Runs it until it pauses or ends; false when it has ended. From the main stack only. */
bool sim_fiber_resume(struct sim_fiber *fiber);
/* Back to the main stack; returns when it is resumed. From the fiber only. */
void sim_fiber_pause(struct sim_fiber *fiber);
void sim_fiber_free(struct sim_fiber *fiber); /* one that has ended */
void sim_fiber_drop_all(void);                /* stacks that wait for use */

#endif
