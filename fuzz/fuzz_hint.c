/*
 * `_last_checkpoint`: any bytes are a hint or are told to be none; what is taken holds together.
 */
#include <stdlib.h>

#include "kernel/log/hint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const silt_env *env = silt_env_default();
    struct sl_arena arena;
    struct sl_hint hint;
    sl_arena_init(&arena, env);
    const silt_status status = sl_hint_parse(env, &arena, (struct sl_str){(const char *)data, size}, &hint, NULL);
    if ((status == SILT_OK) != (hint.version >= 0)) {
        abort();
    }
    if (status == SILT_OK) {
        const bool has_path = hint.v2_path.ptr != NULL;
        if (hint.parts < 0 || hint.sidecar_bytes < 0 ||
            (has_path && sl_log_name_parse(hint.v2_path).version != hint.version)) {
            abort();
        }
        const struct sl_log_file file = {
            .kind = SL_LOG_CHECKPOINT, .version = hint.version, .name = SL_STR("x"), .size = 1};
        const silt_status judged = sl_hint_check(&hint, &file, 1, NULL);
        if (judged != SILT_OK && judged != SILT_ECORRUPT) {
            abort();
        }
    }
    sl_arena_release(&arena);
    return 0;
}
