/*
 * How a column is read, as a tree: each part is one level of its type together with what stands for it in the files. duck_column.c
 * builds it, duck_value.c writes it as SQL.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_COLUMN_H
#define SL_ENGINE_DUCKDB_DUCK_COLUMN_H

#include "duck_footer.h"

struct sl_duck_part {
    const struct silt_type *type; /* the table's */
    struct sl_str
        name; /* a struct field: how it is asked for; DuckDB matches it to the files ignoring the case of ASCII */
    struct sl_str wanted;       /* a struct field: the table's name for it */
    struct sl_footer_leaf leaf; /* of a leaf, or of the whole subtree in an odd layout; else all NULL */
    struct sl_duck_part *parts; /* fields of a struct, element of a list, key and value of a map */
    size_t n_parts;
    bool bare;     /* a list: see struct sl_footer_list */
    bool renames;  /* a name differs in the subtree */
    bool converts; /* a value is changed in the subtree, or a struct put around it */
    bool aside;    /* the column must be read aside because of a part of the subtree */
    bool exact;    /* as it is asked for it is what the files hold: no cast, nothing missing or left out */
};

/* duck_value.c: the type to ask for, and the table's value, given the SQL of what was read. */
silt_status sl_duck_part_put_type(struct sl_buf *sql, const struct sl_duck_part *part, silt_error *err);
silt_status sl_duck_part_put_value(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value,
                                   silt_error *err);

#endif
