/*
 * The course of what follows a commit. Nothing is written yet: no file of the log besides the commit is made or removed by silt.
 */
#include "kernel/txn/after_commit.h"

void sl_after_commit(const struct sl_committed *committed, const silt_call *call)
{
    (void)committed; /* nothing follows a commit so far */
    (void)call;
}
