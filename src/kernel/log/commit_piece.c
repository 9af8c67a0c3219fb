/*
 * Pieces; see commit_piece.h. A piece is as large as a processor's own cache likes: its bytes are looked at once, and its
 * actions are handed on while they are warm.
 */
#include "kernel/log/commit_piece.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "json/text.h"

#define FIRST_ACTIONS 64

void sl_piece_init(struct sl_piece *piece, const silt_env *env, uint64_t seed)
{
    memset(piece, 0, sizeof(*piece));
    piece->env = env;
    piece->seed = seed;
    piece->err = (silt_error)SILT_ERROR_INIT;
    sl_vec_init(&piece->marks, env, sizeof(struct sl_file_mark));
    sl_vec_init(&piece->others, env, sizeof(struct sl_piece_other));
    sl_arena_init(&piece->arena, env);
    sl_action_reader_init(&piece->reader, env, &piece->arena);
}

void sl_piece_release(struct sl_piece *piece)
{
    if (piece->env == NULL) {
        return;
    }
    if (!piece->actions_are_lent) {
        sl_release(piece->env, piece->actions, piece->cap * sizeof(*piece->actions));
    }
    sl_vec_release(&piece->marks);
    sl_vec_release(&piece->others);
    sl_arena_release(&piece->arena);
    sl_release(piece->env, piece->text, piece->text_cap);
    piece->env = NULL;
}

/* No line's text is longer decoded than as it is written, so that one block serves all. Without one the reader makes its own. */
static void lend_text(struct sl_piece *piece)
{
    sl_action_reader_renew(&piece->reader);
    if (piece->actions_are_lent) {
        return; /* results outlive the piece */
    }
    const size_t wanted = piece->bytes.len + SL_JSON_TEXT_SLACK;
    if (piece->text_cap < wanted) {
        sl_release(piece->env, piece->text, piece->text_cap);
        piece->text = sl_alloc(piece->env, wanted);
        piece->text_cap = piece->text != NULL ? wanted : 0;
    }
    piece->reader.text = piece->text;
    piece->reader.text_left = piece->text_cap;
}

static bool make_room(struct sl_piece *piece)
{
    if (piece->n < piece->cap) {
        return true;
    }
    const size_t cap = piece->cap == 0 ? FIRST_ACTIONS : piece->cap * 2;
    if (piece->actions_are_lent || cap > SIZE_MAX / sizeof(*piece->actions)) {
        return false;
    }
    struct sl_action *actions = sl_resize(piece->env, piece->actions, piece->cap * sizeof(*actions),
                                          cap * sizeof(*actions));
    if (actions == NULL) {
        return false;
    }
    piece->actions = actions;
    piece->cap = cap;
    return true;
}

static bool note_action(struct sl_piece *piece, uint64_t place)
{
    const struct sl_action *action = &piece->actions[piece->n];
    struct sl_file_mark mark = {.place = place};
    if (sl_file_hash(action, piece->seed, &mark.hash)) {
        struct sl_file_mark *room = sl_vec_push(&piece->marks);
        if (room == NULL) {
            return false;
        }
        *room = mark;
    } else if (sl_action_is_unique(action->kind)) {
        struct sl_piece_other *room = sl_vec_push(&piece->others);
        if (room == NULL) {
            return false;
        }
        *room = (struct sl_piece_other){piece->n, piece->n_lines};
    } else if (action->kind == SL_ACTION_COMMIT_INFO && piece->first_info == SIZE_MAX) {
        piece->first_info = piece->n;
    }
    return true;
}

void sl_piece_read(struct sl_piece *piece)
{
    struct sl_str rest = piece->bytes;
    piece->n = 0;
    piece->n_lines = 0;
    piece->marks.len = 0;
    piece->others.len = 0;
    piece->first_info = SIZE_MAX;
    piece->status = SILT_OK;
    silt_error_reset(&piece->err);
    sl_arena_reset(&piece->arena);
    lend_text(piece);
    for (;;) {
        const uint64_t place = piece->offset + (piece->bytes.len - rest.len);
        struct sl_action spare;
        const bool is_full = !make_room(piece);
        bool done = false;
        piece->status = sl_action_reader_next(&piece->reader, &rest, &piece->n_lines,
                                              is_full ? &spare : &piece->actions[piece->n], &done, &piece->err);
        if (piece->status != SILT_OK || done) {
            return;
        }
        if (is_full || !note_action(piece, place)) {
            piece->status = sl_fail_nomem(&piece->err);
            return;
        }
        piece->n++;
    }
}

size_t sl_pieces_cut(struct sl_str bytes, size_t size, size_t most, size_t *ends)
{
    size_t n = 0;
    size_t begin = 0;
    while (begin < bytes.len && n + 1 < most && bytes.len - begin > size) {
        const char *from = bytes.ptr + begin + size;
        const char *end = memchr(from, '\n', bytes.len - begin - size);
        if (end == NULL) {
            break;
        }
        begin = (size_t)(end - bytes.ptr) + 1;
        ends[n++] = begin;
    }
    if (begin < bytes.len) {
        ends[n++] = bytes.len;
    }
    return n;
}

silt_status sl_piece_check(const struct sl_piece *piece, struct sl_commit_rules *rules, size_t *line, silt_error *err)
{
    const struct sl_piece_other *others = piece->others.data;
    *line = piece->first_line + piece->n_lines;
    for (size_t i = 0; i < piece->others.len; i++) {
        const silt_status status = sl_commit_rules_check(rules, &piece->actions[others[i].index], err);
        if (status != SILT_OK) {
            *line = piece->first_line + others[i].line;
            return status;
        }
    }
    return sl_commit_rules_add_marks(rules, piece->marks.data, piece->marks.len, err);
}
