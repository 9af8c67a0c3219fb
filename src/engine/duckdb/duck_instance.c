/*
 * What the parts of the data plane ask of the instance while it is open. Called by those that register something with it, or whose
 * results hang on the session's zone. Any thread.
 */
#include "duck.h"

uint64_t sl_duck_next_id(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    const uint64_t id = ++dp->next_id;
    pthread_mutex_unlock(&dp->lock);
    return id;
}

bool sl_duck_zone_is_utc(struct sl_dataplane *dp)
{
    struct sl_str zone = sl_str_from(dp->time_zone);
    pthread_mutex_lock(&dp->lock);
    for (size_t i = 0; i < dp->settings.len; i++) {
        const struct sl_duck_setting *setting = sl_vec_at(&dp->settings, i);
        zone = sl_str_eq_nocase(setting->name, SL_STR("TimeZone")) ? setting->value : zone;
    }
    const bool utc = sl_str_eq_nocase(zone, SL_STR("UTC"));
    pthread_mutex_unlock(&dp->lock);
    return utc;
}
