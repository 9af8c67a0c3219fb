/*
 * A child that is killed as it enters the n-th system call that changes what is on the disk: writes, syncs, links, renames, removals,
 * folders, files that are made. The parent follows it by ptrace; a seccomp filter, in place from the moment that the child arms it, stops
 * the child at those calls and no others, in whichever of its threads. So also what libraries do counts, and nothing needs to be wrapped.
 *
 * Rules for the child as in process_fixture.h. The parent may have no other child meanwhile. Linux.
 */
#ifndef SILT_DEADLY_PROCESS_H
#define SILT_DEADLY_PROCESS_H

#include <stdbool.h>

struct deadly_end {
    bool good;        /* fn answered true */
    bool killed;      /* at the call that was asked for */
    unsigned n_calls; /* that were entered after it armed itself, the deadly one included */
    char call[32];    /* what the deadly one was, for messages: "write", or a number */
};

/* In the child: calls count from here on, in all its threads. False: the system does not allow it. */
bool deadly_arm(void);

/* Runs fn in a child; kill_at counts from 1, 0: it lives. False when it cannot be started or followed. */
bool deadly_run(bool (*fn)(void *arg), void *arg, unsigned kill_at, struct deadly_end *end);

#endif
