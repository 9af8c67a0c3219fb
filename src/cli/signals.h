/*
 * Ctrl-C: the first asks the running work to stop (it cleans up and reports), the second ends the process at once. SIGTERM is
 * taken alike. A signal handler can reach nothing but static state, so the flag lives in signals.c.
 */
#ifndef SL_CLI_SIGNALS_H
#define SL_CLI_SIGNALS_H

#include <stdbool.h>

/* Installs the handlers; SIGPIPE is ignored, so that writing to a reader that went away fails with EPIPE. */
void sl_signals_install(void);
/* For silt_call.cancel. */
const volatile int *sl_signals_cancel_flag(void);
/* Forgets a signal that was seen: a shell goes on. */
void sl_signals_reset(void);
/* Ends the process as the signal that was seen would have ended it, so that the caller's shell sees it; returns if none was. */
void sl_signals_raise(void);
/* The same for SIGPIPE, whether it was seen or not. */
void sl_signals_raise_pipe(void);

#endif
