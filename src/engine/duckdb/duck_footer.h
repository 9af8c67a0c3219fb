/*
 * A Parquet file's schema as its footer tells it, and the judgement whether it can be read as wanted. Only duck_footer.c and
 * duck_match.c include this.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_FOOTER_H
#define SL_ENGINE_DUCKDB_DUCK_FOOTER_H

#include "duck.h"

enum sl_footer_shape {
    SL_SHAPE_PLAIN = 0,
    SL_SHAPE_LIST = 1,
    SL_SHAPE_MAP = 2
};

/* One node; children follow their parent in the array, depth first. */
struct sl_footer_node {
    struct sl_str name;
    struct sl_str type; /* DuckDB's, absent for a group */
    uint32_t n_children;
    uint32_t n_nodes; /* of the subtree, itself included */
    int64_t field_id; /* -1 if none */
    enum sl_footer_shape shape;
    bool repeated;
    bool int96;
};

struct sl_footer_wanted {
    const struct silt_type *type; /* struct of physical columns */
    bool match_by_field_id;       /* of top-level columns; nested ones go by name */
    bool *wall_clock;             /* set if instants are wanted where the file names no zone (INT96) */
};

/* Pure. SILT_ESCHEMA names file, column and both types. */
silt_status sl_footer_match(const silt_env *env, const struct sl_footer_node *root,
                            const struct sl_footer_wanted *wanted, const char *path, silt_error *err);

/* "DECIMAL(10,2)" taken apart; false if it is no decimal. Pure. */
bool sl_footer_decimal(struct sl_str type, int64_t *precision, int64_t *scale);

/* duck_exact.c: each wanted column is there under exactly its name, with exactly its type. Pure. */
bool sl_footer_is_exact(const struct sl_footer_node *root, const struct silt_type *wanted);
/* No two top-level columns differ in case only, none is named like a virtual column of DuckDB. */
bool sl_footer_names_are_plain(const silt_env *env, const struct sl_footer_node *root);

#endif
