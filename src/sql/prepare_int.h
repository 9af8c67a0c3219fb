/*
 * Between prepare.c (the course of a preparation) and prepare_scans.c (tables, versions, scans, splicing). Not for others.
 */
#ifndef SL_SQL_PREPARE_INT_H
#define SL_SQL_PREPARE_INT_H

#include "json/json.h"
#include "sql/hidden.h"
#include "sql/mentioned.h"
#include "sql/session_int.h"
#include "sql/spelling.h"

/* A range of the spelled text that is replaced. */
struct sl_splice {
    size_t begin, end;
    struct sl_buf text; /* empty: the range is dropped */
};

struct sl_prepare {
    silt_session *session;
    const silt_call *call;
    const struct sl_dataplane_params *params;
    struct sl_prepared_query *query;
    struct sl_spelled *spelled;
    struct sl_vec splices; /* struct sl_splice */
    struct sl_hidden hidden;
    struct sl_mentioned mentioned;
};

void sl_prepare_release(struct sl_prepare *prepare);

/* Plans a scan for every reference (struct sl_table_ref, located relative to `base`) that is a Delta table, and notes its splice. */
silt_status sl_prepare_scans(struct sl_prepare *prepare, struct sl_vec *refs, size_t base, silt_error *err);
/* Opens a plan in the data plane, keeps what its text refers to, and appends the SQL of its rows. */
silt_status sl_prepare_open(struct sl_prepare *prepare, const silt_scan_plan *plan, silt_scan *scan, struct sl_buf *sql,
                            silt_error *err);
/* The same for a call of table_changes or table_changes_by_path at an offset of the spelled text. (prepare_changes.c) */
struct sl_table_ref;
silt_status sl_prepare_changes(struct sl_prepare *prepare, const struct sl_table_ref *ref, size_t location,
                               silt_error *err);
/* Adds what may prune of the reference's conditions to its scan. (prepare_pruning.c) */
silt_status sl_prepare_pruning(struct sl_prepare *prepare, const struct sl_table_ref *ref,
                               const silt_snapshot *snapshot, silt_scan_builder *builder, silt_error *err);
/* Asked again only when a statement may have changed them: looking for macros takes the data plane milliseconds. (prepare_pruning.c) */
silt_status sl_prepare_habits(struct sl_prepare *prepare, struct sl_plane_habits *out, silt_error *err);
/*
 * Marks the references whose column "_metadata" is named, before the scans are planned; and afterwards keeps it out of what stars stand for.
 * root: the tree. (prepare_metadata.c)
 */
silt_status sl_prepare_metadata(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, silt_error *err);
silt_status sl_prepare_stars(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, size_t base,
                             silt_error *err);
/* The stars of one SELECT. (prepare_stars.c) */
struct sl_select_parts;
silt_status sl_prepare_narrow_stars(struct sl_prepare *prepare, const struct sl_select_parts *parts, size_t base,
                                    silt_error *err);
/* Notes titles for subqueries of SELECT lists (root: the tree) that hold a scan. */
silt_status sl_prepare_titles(struct sl_prepare *prepare, const sl_json *root, size_t base, silt_error *err);
/* Refuses a time travel clause that belongs to no Delta table. */
silt_status sl_prepare_check_travels(struct sl_prepare *prepare, silt_error *err);
/* Writes query->sql. */
silt_status sl_prepare_splice(struct sl_prepare *prepare, silt_error *err);

/* End of the dotted name at an offset of a text. */
size_t sl_prepare_name_end(struct sl_str text, size_t begin);
/* Range of the AT clause that belongs to the reference at `location`. */
bool sl_prepare_find_at(struct sl_str text, size_t location, size_t *begin, size_t *end);
struct sl_str sl_prepare_at_expr(struct sl_str text, size_t begin, size_t end);
/* Notes that a range of the spelled text is replaced by splice->text. NULL when out of memory. */
struct sl_splice *sl_prepare_add_splice(struct sl_prepare *prepare, size_t begin, size_t end);

#endif
