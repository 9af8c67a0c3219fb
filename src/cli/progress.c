/*
 * Draws the progress line; see progress.h.
 */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"

#define FIRST_AFTER_US INT64_C(1000000)
#define REDRAW_US INT64_C(100000)
#define BAR_CELLS 20
#define US_PER_SECOND INT64_C(1000000)

void sl_progress_init(struct sl_progress_bar *bar, const silt_env *env)
{
    *bar = (struct sl_progress_bar){.env = env, .lock = PTHREAD_MUTEX_INITIALIZER};
    bar->enabled = isatty(STDERR_FILENO) == 1;
}

void sl_progress_begin(struct sl_progress_bar *bar)
{
    pthread_mutex_lock(&bar->lock);
    bar->running = bar->enabled;
    bar->begin_us = bar->enabled ? sl_monotonic_us(bar->env) : 0;
    bar->last_us = 0;
    bar->phase = NULL;
    pthread_mutex_unlock(&bar->lock);
}

static void write_all(const char *text, size_t len)
{
    size_t done = 0;
    while (done < len) {
        const ssize_t n = write(STDERR_FILENO, text + done, len - done);
        if (n <= 0) {
            return; /* it is only decoration */
        }
        done += (size_t)n;
    }
}

static void wipe_locked(struct sl_progress_bar *bar)
{
    if (bar->drawn) {
        write_all("\r\033[K", 4);
        bar->drawn = false;
    }
}

void sl_progress_wipe(struct sl_progress_bar *bar)
{
    if (bar == NULL || !bar->enabled) {
        return;
    }
    pthread_mutex_lock(&bar->lock);
    wipe_locked(bar);
    pthread_mutex_unlock(&bar->lock);
}

void sl_progress_end(struct sl_progress_bar *bar)
{
    if (!bar->enabled) {
        return;
    }
    pthread_mutex_lock(&bar->lock);
    wipe_locked(bar);
    bar->running = false;
    pthread_mutex_unlock(&bar->lock);
}

/* "reading files  [#####               ]  25 %  12 of 48, 3 s left" */
static size_t format_line(const struct sl_progress_bar *bar, const silt_progress *progress, int64_t now_us, char *line,
                          size_t size)
{
    double fraction = progress->fraction;
    char cells[BAR_CELLS + 1];
    char left[48] = "";
    char counts[64] = "";

    if (!(fraction >= 0) && progress->total > 0) {
        fraction = (double)progress->done / (double)progress->total;
    }
    if (progress->total > 0) {
        (void)snprintf(counts, sizeof(counts), "  %lld of %lld", (long long)progress->done, (long long)progress->total);
    } else if (progress->done > 0) {
        (void)snprintf(counts, sizeof(counts), "  %lld", (long long)progress->done);
    }
    if (!(fraction >= 0)) {
        return (size_t)snprintf(line, size, "\r%s%s  %lld s\033[K", bar->phase, counts,
                                (long long)((now_us - bar->begin_us) / US_PER_SECOND));
    }
    fraction = fraction > 1 ? 1 : fraction;
    if (fraction > 0.02 && now_us - bar->phase_us > US_PER_SECOND / 2) {
        const double seconds = (double)(now_us - bar->phase_us) / (double)US_PER_SECOND * (1 - fraction) / fraction;
        (void)snprintf(left, sizeof(left), ", %.0f s left", seconds < 1 ? 1 : seconds);
    }
    const size_t full = (size_t)(fraction * BAR_CELLS);
    memset(cells, ' ', BAR_CELLS);
    memset(cells, '#', full);
    cells[BAR_CELLS] = '\0';
    return (size_t)snprintf(line, size, "\r%s  [%s] %3.0f %%%s%s\033[K", bar->phase, cells, fraction * 100, counts,
                            left);
}

void sl_progress_update(void *ctx, const silt_progress *progress)
{
    struct sl_progress_bar *bar = ctx;
    char line[256];

    if (!bar->enabled || progress->phase == NULL) {
        return;
    }
    pthread_mutex_lock(&bar->lock);
    const int64_t now = sl_monotonic_us(bar->env);
    if (bar->phase == NULL || strcmp(bar->phase, progress->phase) != 0) {
        bar->phase = progress->phase;
        bar->phase_us = now;
    }
    if (bar->running && now - bar->begin_us >= FIRST_AFTER_US && now - bar->last_us >= REDRAW_US) {
        const size_t len = format_line(bar, progress, now, line, sizeof(line));
        write_all(line, len < sizeof(line) ? len : sizeof(line) - 1);
        bar->drawn = true;
        bar->last_us = now;
    }
    pthread_mutex_unlock(&bar->lock);
}
