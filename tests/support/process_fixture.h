/*
 * Processes of tests: children that run a function of the test. A child must not use cmocka's assertions;
 * its function tells what is wrong on stderr and answers false. For tests that never start a thread before they fork: the data
 * plane has threads, so the parent leaves sessions to its children.
 */
#ifndef SILT_PROCESS_FIXTURE_H
#define SILT_PROCESS_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts a child that ends with 0 when fn answers true, else with 1. */
pid_t process_start(bool (*fn)(void *arg), void *arg);
/* Waits for it; the signal that killed it goes to *killed_by (0: none), which may be NULL. True when it ended with 0. */
bool process_wait(pid_t pid, int *killed_by);
/* Both. */
bool process_run(bool (*fn)(void *arg), void *arg, int *killed_by);

/* Numbers that look random and repeat for a seed (splitmix64). */
uint64_t process_random(uint64_t *state);

#endif
