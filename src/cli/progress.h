/*
 * The progress of work that takes long, on one line of a terminal that is wiped afterwards. Shown only when standard error is a terminal
 * and the work has run for a second.
 */
#ifndef SL_CLI_PROGRESS_H
#define SL_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "silt/env.h"

/* Updates come from any thread; begin, wipe and end from the program's own. */
struct sl_progress_bar {
    const silt_env *env;
    pthread_mutex_t lock;
    bool enabled;
    bool running;
    bool drawn;
    int64_t begin_us;
    int64_t last_us;   /* of the last drawing */
    const char *phase; /* static text */
    int64_t phase_us;  /* when it began */
};

void sl_progress_init(struct sl_progress_bar *bar, const silt_env *env);
void sl_progress_begin(struct sl_progress_bar *bar);
/* Takes the line off the screen; it may come back. */
void sl_progress_wipe(struct sl_progress_bar *bar);
void sl_progress_end(struct sl_progress_bar *bar);
/* For silt_call.progress; ctx is the bar. */
void sl_progress_update(void *ctx, const silt_progress *progress);

#endif
