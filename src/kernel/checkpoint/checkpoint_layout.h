/*
 * Which columns a checkpoint has, and their types (PROTOCOL.md "Checkpoint Schema"). Columns and members of which no row has a value are
 * left out: the protocol takes what is missing for null. Pure, any thread.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_LAYOUT_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_LAYOUT_H

#include "kernel/action/action.h"
#include "schema/type.h"

/* Members of add that few tables have. */
enum {
    SL_LAYOUT_VECTORS = 1,
    SL_LAYOUT_ROW_IDS = 2,
    SL_LAYOUT_PROVIDER = 4
};

struct sl_checkpoint_layout {
    unsigned columns;             /* SL_COLUMN_… of action_arrow.h */
    unsigned optional;            /* SL_LAYOUT_… */
    bool stats_json;              /* add.stats */
    bool stats_struct;            /* add.stats_parsed */
    const silt_schema *stats;     /* the columns of it, by their physical names */
    const silt_schema *partition; /* columns of add.partitionValues_parsed; NULL: none */
    bool wide;                    /* numbers as long, for rows that become actions again */
};

/* The columns that are written. */
silt_status sl_checkpoint_layout_schema(const silt_env *env, const struct sl_checkpoint_layout *layout,
                                        silt_schema **out, silt_error *err);

/* Typed statistics of an older checkpoint, from which texts can be made. */
enum sl_raw_parsed {
    SL_RAW_TEXT,   /* there are none */
    SL_RAW_PARSED, /* in the types of now */
    SL_RAW_COUNTS  /* their bounds have other types and are not read */
};
/*
 * What adds are made from: a column "add" with the members that are there before anything is derived, numbers as long, statistics always as
 * text.
 */
silt_status sl_checkpoint_raw_schema(const silt_env *env, const struct sl_checkpoint_layout *layout,
                                     enum sl_raw_parsed parsed, silt_schema **out, silt_error *err);

/*
 * The columns of stats_parsed: the leaves of the data columns that have statistics, by the table's properties, under their physical names.
 * logical and physical have the same shape.
 */
silt_status sl_checkpoint_stats_columns(const silt_env *env, const struct sl_metadata *metadata,
                                        const silt_schema *logical, const silt_schema *physical, silt_schema **out,
                                        silt_error *err);
/* The partition columns in the order of the metadata, under their physical names; *out NULL: none. */
silt_status sl_checkpoint_partition_columns(const silt_env *env, const struct sl_metadata *metadata,
                                            const silt_schema *logical, const silt_schema *physical, silt_schema **out,
                                            silt_error *err);

#endif
