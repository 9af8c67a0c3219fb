/*
 * Variants: how they are stored, what they are in SQL, how they leave. Only src/engine/duckdb includes this.
 *
 *   duck_variant.c      stored columns as DuckDB's VARIANT; VARIANT in results as what silt hands out
 *   duck_variant_sql.c  the functions for that
 *   duck_shredded.c     puts together what files hold in typed columns
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_VARIANT_H
#define SL_ENGINE_DUCKDB_DUCK_VARIANT_H

#include "duck_footer.h"

/* ---- duck_variant.c ---- */

/* A group with metadata and value, shredded or not, in whatever order. Pure. */
bool sl_variant_fits(const struct sl_footer_node *node);
/* See sl_footer_read_leaf. Pure. */
silt_status sl_variant_read_node(struct sl_arena *arena, const struct sl_footer_node *node, struct sl_footer_leaf *out,
                                 silt_error *err);

/*
 * If a statement gives out variants: replaces it by one over it that gives them out as structs of metadata and value, with the alias
 * SL_VARIANT_ALIAS, NULL kept. sql is the statement's text.
 */
#define SL_VARIANT_ALIAS "PARQUET_VARIANT"
silt_status sl_variant_hand_out(struct sl_duck_conn *conn, struct sl_str sql, duckdb_prepared_statement *stmt,
                                silt_error *err);
/* Names the extension type in an exported schema, wherever a type has the alias. */
void sl_variant_name_extension(struct ArrowSchema *schema, duckdb_logical_type type);

/* ---- duck_variant_sql.c ---- */

/* Registers the functions in a database that was just opened. */
bool sl_variant_register(struct sl_dataplane *dp, duckdb_connection handle);

/* ---- duck_shredded.c ---- */

/* A vector of structs with metadata, value and perhaps typed_value, of any rows. One owner; borrows the vector. */
struct sl_shredded;
/* NULL: out of memory, or no such struct. In the arena. */
struct sl_shredded *sl_shredded_open(struct sl_arena *arena, duckdb_vector vector);
/* True if the row is a variant that is null (not: no variant). */
bool sl_shredded_is_null(const struct sl_shredded *shredded, idx_t row);
/* Metadata, borrowed; the value, appended to out. SILT_ECORRUPT, SILT_ELIMIT, SILT_ENOMEM. */
silt_status sl_shredded_put(const struct sl_shredded *shredded, idx_t row, struct sl_str *metadata, struct sl_buf *out,
                            silt_error *err);

#endif
