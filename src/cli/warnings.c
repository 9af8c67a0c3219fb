/*
 * The program's log; see warnings.h. Any thread logs.
 */
#include "cli/warnings.h"

#include <string.h>

#include "base/map.h"

/* Notes the line. False: it was told before. */
static bool is_new(struct sl_warnings *warnings, const char *message)
{
    const uint64_t hash = sl_hash_bytes(message, strlen(message));
    bool found = false;
    pthread_mutex_lock(&warnings->lock);
    for (size_t i = 0; i < warnings->n_told && !found; i++) {
        found = warnings->told[i] == hash;
    }
    if (!found && warnings->n_told < SL_MAX_WARNINGS) {
        warnings->told[warnings->n_told++] = hash;
    }
    pthread_mutex_unlock(&warnings->lock);
    return !found;
}

static void tell(void *ctx, silt_log_level level, const char *message)
{
    struct sl_warnings *warnings = ctx;
    if (level >= SILT_LOG_WARN && is_new(warnings, message)) {
        warnings->tell(silt_env_default()->ctx, level, message);
    }
}

void sl_warnings_init(struct sl_warnings *warnings)
{
    *warnings = (struct sl_warnings){.env = *silt_env_default(), .lock = PTHREAD_MUTEX_INITIALIZER};
    warnings->tell = warnings->env.log;
    warnings->env.log = tell;
    warnings->env.ctx = warnings; /* nothing else of the default environment looks at it */
}
