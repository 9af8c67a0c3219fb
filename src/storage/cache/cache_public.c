/*
 * The public functions over the range cache (silt/cache.h). Any thread.
 */
#include "silt/cache.h"

#include "base/error.h"
#include "storage/cache/cache.h"

struct telling {
    bool (*on_item)(void *ctx, const silt_cache_item *item);
    void *ctx;
};

static bool tell(void *ctx, const struct sl_cache_item *item)
{
    const struct telling *telling = ctx;
    const silt_cache_item told = {.size = sizeof(told),
                                  .uri = item->uri,
                                  .size_bytes = item->size_bytes,
                                  .cached_bytes = item->cached_bytes,
                                  .used_ms = item->used_ms};
    return telling->on_item(telling->ctx, &told);
}

silt_status silt_cache_list(const silt_env *env, const char *dir,
                            bool (*on_item)(void *ctx, const silt_cache_item *item), void *ctx, silt_error *err)
{
    struct telling telling = {on_item, ctx};
    struct sl_cache *cache = NULL;
    if (on_item == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_cache_list needs a listener");
    }
    SL_TRY(sl_cache_open(env != NULL ? env : silt_env_default(), dir, 0, &cache, err));
    const silt_status status = sl_cache_list(cache, tell, &telling, err);
    sl_cache_close(cache);
    return status;
}

silt_status silt_cache_clear(const silt_env *env, const char *dir, int64_t *removed, int64_t *busy, silt_error *err)
{
    int64_t gone = 0;
    int64_t stayed = 0;
    struct sl_cache *cache = NULL;
    SL_TRY(sl_cache_open(env != NULL ? env : silt_env_default(), dir, 0, &cache, err));
    const silt_status status = sl_cache_clear(cache, &gone, &stayed, err);
    sl_cache_close(cache);
    if (removed != NULL) {
        *removed = gone;
    }
    if (busy != NULL) {
        *busy = stayed;
    }
    return status;
}
