/*
 * Holding back the rows of a write while a store is slower than COPY, so that what waits on the local disk is bounded.
 *
 *   silt_paced('id:0')   true, once no more waits than may; as a condition of the query that is copied
 *
 * Any thread.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_PACE_H
#define SL_ENGINE_DUCKDB_DUCK_PACE_H

#include "duck.h"

struct sl_duck_pace;

/* What is asked while rows come, on DuckDB's threads. */
struct sl_duck_pace_source {
    int64_t (*backlog)(void *ctx); /* how many bytes wait for the store */
    void *ctx;
    const silt_call *call; /* of the write; like ctx it must live as long as the COPY runs */
};
silt_status sl_duck_pace_new(struct sl_dataplane *dp, const struct sl_duck_pace_source *source,
                             struct sl_duck_pace **out, silt_error *err);
void sl_duck_pace_drop(struct sl_duck_pace *pace); /* NULL is legal, here and below */
/* Nobody sends any more: the query fails. */
void sl_duck_pace_end(struct sl_duck_pace *pace);
/* Appends " WHERE silt_paced(…)"; nothing without one. */
void sl_duck_pace_put(const struct sl_duck_pace *pace, struct sl_buf *sql);
/* Registers the function in a database that was just opened. */
bool sl_duck_pace_register(struct sl_dataplane *dp, duckdb_connection handle);

#endif
