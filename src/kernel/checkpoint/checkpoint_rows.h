/*
 * Actions as rows of a checkpoint: a column for each kind of action, which is built from structs by the tables of action_shape.h. One
 * owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_ROWS_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_ROWS_H

#include "base/arena.h"
#include "base/arrow.h"
#include "kernel/action/action_shape.h"

/* A column under construction. */
struct sl_action_rows {
    struct sl_arena arena;
    struct sl_arrow_builder *builder;
    struct sl_rows_shape *root;
};

/* schema: of the column, whose members are found by name; those that actions of the kind have not become null. */
silt_status sl_action_rows_init(struct sl_action_rows *rows, const silt_env *env, const struct ArrowSchema *schema,
                                enum sl_action_kind kind, silt_error *err);
void sl_action_rows_release(struct sl_action_rows *rows); /* safe on a zeroed one */
/* body: the struct of the action. */
silt_status sl_action_rows_put(struct sl_action_rows *rows, const void *body, silt_error *err);
bool sl_action_rows_has_begun(const struct sl_action_rows *rows); /* false for a zeroed one */
int64_t sl_action_rows_length(const struct sl_action_rows *rows); /* 0 of a zeroed one */
/* Moves what was built out; the column is empty then, and goes on. */
silt_status sl_action_rows_take(struct sl_action_rows *rows, struct ArrowArray *out, silt_error *err);

/* A batch of all columns of a schema, in which only the column `index` has values: takes it in every case. */
silt_status sl_action_rows_batch(const silt_env *env, const struct ArrowSchema *schema, size_t index,
                                 struct ArrowArray *column, struct ArrowArray *out, silt_error *err);

#endif
