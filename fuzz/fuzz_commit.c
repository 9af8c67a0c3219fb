/*
 * Commit files: any bytes are parsed or refused, and every line that the fast way takes is what the general parser makes of it.
 * A line that is taken and written must be read back alike.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernel/action/action_reader.h"
#include "kernel/log/commit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void written(const struct sl_action *action, struct sl_buf *out)
{
    sl_buf_clear(out);
    if (action->kind != SL_ACTION_UNKNOWN && sl_action_write(out, action, NULL) != SILT_OK) {
        abort(); /* what was read can be written */
    }
}

static void compare(struct sl_str line, const char *limit)
{
    const silt_env *env = silt_env_default();
    struct sl_arena arena;
    struct sl_action_reader reader;
    struct sl_action fast;
    struct sl_action general;
    struct sl_buf texts[2];
    sl_arena_init(&arena, env);
    sl_action_reader_init(&reader, env, &arena);
    sl_buf_init(&texts[0], env);
    sl_buf_init(&texts[1], env);
    const silt_status status = sl_action_parse(env, &arena, line, &general, NULL);
    if (sl_action_read_plain(&reader, line, limit, &fast)) {
        if (status != SILT_OK || fast.kind != general.kind) {
            abort();
        }
        written(&fast, &texts[0]);
        written(&general, &texts[1]);
        if (!sl_str_eq(sl_buf_view(&texts[0]), sl_buf_view(&texts[1]))) {
            abort();
        }
    } else if (status == SILT_OK) {
        written(&general, &texts[1]);
    }
    if (status == SILT_OK && texts[1].len > 0 &&
        sl_action_parse(env, &arena, sl_str_trim(sl_buf_view(&texts[1])), &general, NULL) != SILT_OK) {
        abort();
    }
    sl_buf_release(&texts[0]);
    sl_buf_release(&texts[1]);
    sl_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const silt_env *env = silt_env_default();
    const struct sl_str bytes = {(const char *)data, size};
    struct sl_arena arena;
    struct sl_commit commit;
    silt_error err = SILT_ERROR_INIT;
    sl_arena_init(&arena, env);
    sl_ignore(sl_commit_parse(env, &arena, 7, bytes, &commit, &err));      /* taken or refused, both are fine */
    sl_ignore(sl_commit_parse_info(env, &arena, 7, bytes, &commit, &err)); /* as above */
    sl_arena_release(&arena);
    for (struct sl_str rest = bytes; rest.len > 0;) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        const size_t len = end != NULL ? (size_t)(end - rest.ptr) : rest.len;
        const struct sl_str line = sl_str_trim(sl_str_sub(rest, 0, len));
        if (line.len > 0) {
            compare(line, bytes.ptr + bytes.len);
        }
        rest = sl_str_sub(rest, end != NULL ? len + 1 : len, rest.len);
    }
    return 0;
}
