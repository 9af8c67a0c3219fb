/*
 * Lines of a file of actions, one after the other; see action_reader.h.
 */
#include <string.h>

#include "base/error.h"
#include "kernel/action/action_reader.h"

void sl_action_reader_init(struct sl_action_reader *reader, const silt_env *env, struct sl_arena *arena)
{
    /* What is not ready is not looked at: the blanks need no zeros. */
    reader->env = env;
    reader->arena = arena;
    reader->shape = NULL;
    reader->n_general = 0;
    reader->ready = 0;
    sl_action_reader_renew(reader);
}

void sl_action_reader_renew(struct sl_action_reader *reader)
{
    reader->text = NULL;
    reader->text_left = 0;
}

/* Without white space at its ends, which is mostly known from two looks. */
static inline struct sl_str trim(struct sl_str line)
{
    const bool is_bare = line.len > 0 && line.ptr[0] == '{' && line.ptr[line.len - 1] == '}';
    return is_bare ? line : sl_str_trim(line);
}

silt_status sl_action_reader_next(struct sl_action_reader *reader, struct sl_str *rest, size_t *line,
                                  struct sl_action *out, bool *done, silt_error *err)
{
    struct sl_str text = {NULL, 0};
    const char *const limit = rest->len > 0 ? rest->ptr + rest->len : NULL;
    *done = false;
    do {
        if (rest->len == 0) {
            *done = true;
            return SILT_OK;
        }
        const char *end = memchr(rest->ptr, '\n', rest->len);
        const size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
        text = trim(sl_str_make(rest->ptr, len));
        const size_t taken = end != NULL ? len + 1 : len;
        *rest = sl_str_make(rest->ptr + taken, rest->len - taken);
        (*line)++;
    } while (text.len == 0);
    if (text.len <= SL_ACTION_MAX_LINE && sl_action_read_plain(reader, text, limit, out)) {
        return SILT_OK;
    }
    reader->n_general++;
    return sl_action_parse(reader->env, reader->arena, text, out, err);
}
