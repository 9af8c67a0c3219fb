/*
 * What the files of a scan share: a plan made ready to be written as SQL. Only duck_scan.c, duck_group.c, duck_meta.c and
 * duck_branch.c include this.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_SCAN_H
#define SL_ENGINE_DUCKDB_DUCK_SCAN_H

#include "duck_footer.h"

/* Files that are read in the same way, by one read_parquet: [first, first + n) of the scan's files. */
struct sl_scan_group {
    const struct sl_duck_reading *readings; /* one for each stored column */
    size_t first;
    size_t n;
    bool direct; /* no schema map is needed */
    bool whole;  /* and the files' columns are the scan's, all of them, as they are and in their order */
};

/* While the text of a scan is made. */
struct sl_scan_work {
    struct sl_duck_conn *conn;
    const silt_call *call;
    struct sl_arena arena;
    silt_scan_plan plan; /* as it was given, but files are in the order of groups */
    struct sl_duck_files *files;
    struct sl_duck_parts *parts; /* partition values and, after them, what _metadata says of files */
    struct sl_duck_live *live;
    struct sl_duck_aside *aside;      /* NULL until a column needs it */
    const struct silt_field **stored; /* physical fields of the columns that are in files */
    struct sl_duck_column *columns;   /* the same with their aliases */
    size_t n_stored;
    const struct sl_scan_meta *meta; /* NULL: no column _metadata */
    struct sl_scan_group *groups;
    size_t n_groups;
};

/* ---- duck_group.c ---- */

/* Stored columns of the plan, those behind _metadata.row_id and row_commit_version last. */
silt_status sl_scan_find_stored(struct sl_scan_work *work, silt_error *err);
/* Checks the files against the plan and puts those together that are read alike; plan and files are in that order then. */
silt_status sl_scan_group_files(struct sl_scan_work *work, silt_error *err);

/* ---- duck_meta.c ---- */

/* Where the values behind _metadata are. */
struct sl_scan_meta {
    size_t row_id; /* place in `stored`; SIZE_MAX: none */
    size_t row_commit_version;
};
/* Partition values and what _metadata says of files, as functions of file_index; *parts NULL if there are none. */
silt_status sl_scan_make_parts(struct sl_scan_work *work, silt_error *err);
/* Appends the struct. */
silt_status sl_scan_put_metadata(struct sl_scan_work *work, struct sl_buf *sql, const struct silt_type *type,
                                 const struct sl_scan_group *group, silt_error *err);

/* ---- duck_branch.c ---- */

/* Appends the SELECTs of all groups. */
silt_status sl_scan_put_branches(struct sl_scan_work *work, struct sl_buf *sql, silt_error *err);
/* The SQL of a stored column's value in the files of a group. */
struct sl_str sl_scan_value(const struct sl_scan_group *group, size_t stored);

#endif
