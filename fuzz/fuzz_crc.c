/*
 * Version checksums: any bytes are parsed or refused; what is taken has totals that can be, and lists of the lengths that it says.
 */
#include <stdlib.h>

#include "kernel/log/crc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const silt_env *env = silt_env_default();
    struct sl_arena arena;
    struct sl_crc crc;
    sl_arena_init(&arena, env);
    const silt_status status = sl_crc_parse(env, &arena, 7, (struct sl_str){(const char *)data, size}, true, &crc,
                                            NULL);
    if (status == SILT_OK) {
        int64_t bytes = 0;
        for (size_t i = 0; i < crc.n_all_files; i++) {
            bytes += crc.all_files[i].size;
        }
        if (crc.n_files < 0 || crc.table_size < 0 || crc.metadata.id.ptr == NULL ||
            (crc.has_all_files && ((int64_t)crc.n_all_files != crc.n_files || bytes != crc.table_size))) {
            abort();
        }
    }
    sl_arena_release(&arena);
    return 0;
}
