/*
 * Leaves of a file's schema against wanted types, see duck_leaf.c. Only src/engine/duckdb includes this.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_LEAF_H
#define SL_ENGINE_DUCKDB_DUCK_LEAF_H

#include "duck_footer.h"

/* Can the leaf be read as the wanted type (flat, not variant) without a change of values? Pure. */
bool sl_leaf_fits(const struct sl_footer_node *leaf, const struct silt_type *wanted);

/* How; see sl_footer_read_leaf. SILT_EUNSUPPORTED names a time zone that is not known. Pure. */
silt_status sl_leaf_read(struct sl_arena *arena, const struct sl_footer *footer, const struct sl_footer_node *leaf,
                         const struct silt_type *wanted, struct sl_footer_leaf *out, silt_error *err);

/* duck_leaf_sql.c: registers the functions that such readings use, in a database that was just opened. */
bool sl_leaf_register(duckdb_connection handle);

#endif
