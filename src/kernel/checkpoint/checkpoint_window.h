/*
 * Rows of several batches sorted by keys, of bounded size. Private to checkpoint_adds.c. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_WINDOW_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_WINDOW_H

#include "base/arena.h"
#include "base/arrow.h"
#include "base/vec.h"

struct sl_window {
    const silt_env *env;
    struct sl_arena arena;
    struct sl_vec keys;    /* struct sl_str, one a row, of the batches and then of the batch that comes */
    struct sl_vec batches; /* struct ArrowArray */
    int64_t n_rows;        /* of the batches */
    int64_t bytes;         /* of them, about */
    /* While rows are taken. */
    struct sl_arrow_pick *picks; /* [n_rows], sorted; NULL: not yet */
    struct ArrowArray **sources; /* of picks: the batches */
    size_t n_taken;
};

void sl_window_init(struct sl_window *window, const silt_env *env);
void sl_window_release(struct sl_window *window);
/* The key of the next row; copied. */
silt_status sl_window_add_key(struct sl_window *window, struct sl_str key, silt_error *err);
/* Forgets all keys; there are no batches. */
void sl_window_forget_keys(struct sl_window *window);
/* Takes a batch, in every case, whose rows have given their keys. */
silt_status sl_window_add(struct sl_window *window, struct ArrowArray *batch, silt_error *err);
bool sl_window_is_full(const struct sl_window *window);
/* Are there sorted rows that were not taken? Nothing is added before they are. */
bool sl_window_is_taking(const struct sl_window *window);
/*
 * The next rows in the order of their keys, equal ones as they came; released if there is none. Not all at once, so that they are not in memory
 * twice. The window is empty after the last.
 */
silt_status sl_window_take(struct sl_window *window, const struct ArrowSchema *schema, struct ArrowArray *out,
                           silt_error *err);
/* Bytes of the text in an array: what rows of a checkpoint mostly are. */
int64_t sl_window_text_bytes(const struct ArrowArray *array);

#endif
