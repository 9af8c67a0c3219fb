/*
 * Table references in a parse tree of the data plane, and the conditions that stand above each. Pure; the tree is JSON as
 * json_serialize_sql makes it.
 */
#ifndef SL_SQL_REFS_H
#define SL_SQL_REFS_H

#include "base/arena.h"
#include "base/vec.h"
#include "json/json.h"
#include "silt/scan.h"

enum sl_ref_kind {
    SL_REF_TABLE,
    SL_REF_CHANGES,        /* table_changes(…): `table` is the function's name */
    SL_REF_CHANGES_BY_PATH /* table_changes_by_path(…) */
};

struct sl_table_ref {
    enum sl_ref_kind kind;
    struct sl_str schema; /* absent if the name has no such part */
    struct sl_str catalog;
    struct sl_str table;
    struct sl_str alias;             /* absent if none */
    size_t location;                 /* byte offset in the parsed text; SIZE_MAX if not known */
    const sl_json *at_clause;        /* NULL if none */
    const sl_json *const *conjuncts; /* conditions that every row which the query uses fulfils */
    size_t n_conjuncts;
    const sl_json *node; /* of the tree */
    bool wants_metadata; /* its "_metadata" is named */
    bool has_metadata;   /* its scan has it */
    silt_scan *scan;     /* once it is planned; borrowed from the query, NULL: no table of ours */
    size_t n_marks;      /* parameters up to this number may stand in what the scan takes out of the text */
    bool only_item;      /* nothing else stands in its FROM: unqualified columns are its own */
    bool bare_names;     /* an unqualified name of one of its columns can mean no other table's column */
};

/*
 * Collects the references of a serialized text in the order of the walk; names of CTEs in their scope are left out. Views borrow from
 * doc. refs: struct sl_table_ref.
 */
silt_status sl_refs_collect(struct sl_arena *arena, const sl_json *root, struct sl_vec *refs, silt_error *err);

#endif
