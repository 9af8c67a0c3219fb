/*
 * Signal handlers; see signals.h.
 */
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile int cancel;               /* read by the library as silt_call.cancel */
static volatile sig_atomic_t seen_signal; /* 0: none */

static void on_signal(int number)
{
    if (cancel != 0) {
        _exit(128 + number);
    }
    const int kept = errno; /* whoever is interrupted may be about to read it */
    seen_signal = number;
    cancel = 1;
    errno = kept;
}

static void set_handler(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL); /* fails only for numbers that do not exist */
}

void sl_signals_install(void)
{
    set_handler(SIGINT, on_signal);
    set_handler(SIGTERM, on_signal);
    set_handler(SIGPIPE, SIG_IGN);
    set_handler(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of the write, which is then cleaned up */
}

const volatile int *sl_signals_cancel_flag(void)
{
    return &cancel;
}

void sl_signals_reset(void)
{
    cancel = 0;
    seen_signal = 0;
}

static void die_by(int number)
{
    set_handler(number, SIG_DFL);
    (void)raise(number);
}

void sl_signals_raise(void)
{
    if (seen_signal != 0) {
        die_by(seen_signal);
    }
}

void sl_signals_raise_pipe(void)
{
    die_by(SIGPIPE);
}
