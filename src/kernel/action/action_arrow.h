/*
 * Actions from the Arrow batches of a checkpoint (PROTOCOL.md "Checkpoints", "Checkpoint Schema"), and the schema to ask
 * for. Columns and members are found by name; what is missing is null. Both follow the tables of action_shape.h.
 */
#ifndef SL_KERNEL_ACTION_ARROW_H
#define SL_KERNEL_ACTION_ARROW_H

#include "kernel/action/action.h"
#include "silt/arrow.h"
#include "silt/schema.h"

/* Columns of a checkpoint, to be combined. */
enum {
    SL_COLUMN_ADD = 1 << SL_ACTION_ADD,
    SL_COLUMN_REMOVE = 1 << SL_ACTION_REMOVE,
    SL_COLUMN_METADATA = 1 << SL_ACTION_METADATA,
    SL_COLUMN_PROTOCOL = 1 << SL_ACTION_PROTOCOL,
    SL_COLUMN_APP_TXN = 1 << SL_ACTION_APP_TXN,
    SL_COLUMN_DOMAIN = 1 << SL_ACTION_DOMAIN_METADATA,
    SL_COLUMN_SIDECAR = 1 << SL_ACTION_SIDECAR,
    SL_COLUMN_CHECKPOINT_METADATA = 1 << SL_ACTION_CHECKPOINT_METADATA,
    /* All but files. */
    SL_COLUMNS_STATE = SL_COLUMN_METADATA | SL_COLUMN_PROTOCOL | SL_COLUMN_APP_TXN | SL_COLUMN_DOMAIN |
                       SL_COLUMN_SIDECAR | SL_COLUMN_CHECKPOINT_METADATA
};

/* The schema that reads these columns; with_details: add's statistics, tags … too. */
silt_status sl_checkpoint_schema(const silt_env *env, unsigned columns, bool with_details, silt_schema **out,
                                 silt_error *err);

/*
 * The same with all details of add and its typed statistics (stats_parsed of the columns of `data`, physical names; bounds: see
 * stats_parsed.h), which become the text of add.stats where that is null.
 */
silt_status sl_checkpoint_schema_parsed(const silt_env *env, unsigned columns, const silt_schema *data, bool bounds,
                                        silt_schema **out, silt_error *err);

/*
 * Visits the actions of one batch: a struct array of the columns above. Text borrows from the batch. SILT_ECORRUPT when a
 * required member is null or the array is not well-formed; the message names the member.
 */
silt_status sl_actions_from_arrow(const silt_env *env, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                  silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                                  void *ctx, silt_error *err);

#endif
