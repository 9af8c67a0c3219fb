/*
 * What planning knows of a scan's filter: its AND members, which columns they name, and for which of those statistics can
 * help. Made once a scan, read by every thread that plans. Borrows from the expression, the schema and the arena.
 */
#ifndef SL_KERNEL_SCAN_FILTER_H
#define SL_KERNEL_SCAN_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "expr/expr.h"
#include "kernel/action/action.h"
#include "schema/type.h"
#include "silt/status.h"

/* A partition column of the table. */
struct sl_partition_column {
    struct sl_str name; /* the schema's spelling */
    const struct silt_type *type;
    bool keeps_empty;       /* an empty value is empty text, not null */
    bool collated;          /* text that is not compared byte by byte: nothing is decided about it here */
    struct sl_str physical; /* its key in partitionValues */
    struct sl_str other;    /* where to look when there is no such key; absent: nowhere */
};

/* One member of the filter's top-level conjunction. */
struct sl_conjunct {
    const struct sl_expr_node *node;
    bool uses_data;      /* names a column that is stored in the files */
    bool uses_partition; /* names a partition column */
    bool uses_metadata;  /* names a field of "_metadata" */
};

/* A data column of the filter whose statistics can be read: a leaf that is reached through structs only. */
struct sl_skip_column {
    const struct sl_str *path; /* as the filter names it */
    size_t path_len;
    const struct silt_type *type;
    const struct sl_str *physical_path; /* as statistics name it, path_len names too */
    /*
     * Types that the column had before, oldest first: the statistics of a file may be values of any of them, written as such. What
     * is no exact value of its old type may not be taken for one of the new type ("0.1" of a float is not the double 0.1).
     */
    const struct silt_type *const *earlier;
    size_t n_earlier;
    bool
        collated; /* text that is not compared byte by byte: bounds in byte order bound nothing, null counts do count */
};

struct sl_scan_filter {
    const struct sl_partition_column *partitions;
    size_t n_partitions;
    const struct sl_conjunct *conjuncts;
    size_t n_conjuncts;
    struct sl_skip_column *columns;
    size_t n_columns;
};

/*
 * physical: the same field of the physical schema; `field` itself where columns are not mapped. Then a physical name that is left from a
 * mapping that is no more is the second place to look: Delta Spark goes by it, whatever the mode.
 */
struct sl_partition_column sl_partition_column_of(const struct silt_field *field, const struct silt_field *physical);
/* The column's value in a file's partitionValues, as text; an absent view for null. */
struct sl_str sl_partition_text(const struct sl_partition_column *column, const struct sl_kv_list *values);

/* predicate must be resolved against schema; NULL: no filter. A column that is not in the schema is taken for "_metadata". */
silt_status sl_scan_filter_make(struct sl_arena *arena, const silt_expr *predicate, const silt_schema *schema,
                                const struct sl_partition_column *partitions, size_t n_partitions,
                                struct sl_scan_filter *out, silt_error *err);
/* Puts the names that statistics have the columns under; without this call they are those of the schema. */
silt_status sl_scan_filter_map(struct sl_arena *arena, const silt_schema *schema, const silt_schema *physical,
                               struct sl_scan_filter *filter, silt_error *err);

/* Place of a top-level column among the partition columns, SIZE_MAX if it is none. Exact spelling. */
size_t sl_scan_filter_partition(const struct sl_scan_filter *filter, struct sl_str name);

bool sl_path_equal(const struct sl_str *a, size_t a_len, const struct sl_str *b, size_t b_len);

#endif
