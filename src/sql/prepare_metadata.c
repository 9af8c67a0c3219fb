/*
 * The column "_metadata" in a query. A table has it only where a SELECT names it: behind the table's name, or alone for every table of that
 * FROM. The stars of the SELECT leave it out, as Delta Spark's do (prepare_stars.c); other SELECTs of the query see their tables as they
 * are.
 */
#include "base/error.h"
#include "kernel/scan/metadata_column.h"
#include "schema/type.h"
#include "silt/scan.h"
#include "sql/prepare_int.h"
#include "sql/select_parts.h"
#include "sql/tree.h"

#define NEAR_DISTANCE 4

static bool is_meant(const struct sl_metadata_use *use, const struct sl_select_leaf *leaf)
{
    return leaf->ref != NULL && sl_select_names(use->table, leaf->ref);
}

/* Before the scans are planned: tables that are meant get the column. */
static silt_status mark(struct sl_prepare *prepare, struct sl_select_parts *parts, size_t base, silt_error *err)
{
    (void)prepare;
    (void)base;
    (void)err;
    for (size_t i = 0; i < parts->uses.len; i++) {
        for (size_t k = 0; k < parts->leaves.len; k++) {
            const struct sl_select_leaf *leaf = sl_vec_at(&parts->leaves, k);
            if (is_meant(sl_vec_at(&parts->uses, i), leaf)) {
                leaf->ref->wants_metadata = true;
            }
        }
    }
    return SILT_OK;
}

/* ---- fields ---- */

static void place(struct sl_prepare *prepare, const sl_json *node, size_t base, silt_error *err)
{
    int64_t location = 0;
    if (sl_json_to_i64(sl_json_member(node, "query_location"), &location) && location >= 0) {
        sl_error_position(err, prepare->query->offset +
                                   sl_offset_map_back(prepare->query->spelling, base + (size_t)location));
    }
}

static void suggest(const struct silt_type *offered, struct sl_str field, silt_error *err)
{
    size_t nearest = NEAR_DISTANCE;
    const struct silt_field *best = NULL;
    for (size_t i = 0; i < offered->n_fields; i++) {
        const size_t distance = sl_str_distance(field, offered->fields[i].name, NEAR_DISTANCE);
        if (distance < nearest) {
            nearest = distance;
            best = &offered->fields[i];
        }
    }
    if (best != NULL) {
        sl_error_hint(err, "did you mean _metadata.%.*s?", SL_FMT(best->name));
    }
}

static silt_status check_field(const struct sl_metadata_use *use, const struct sl_table_ref *ref, silt_error *err)
{
    const struct silt_field *column = sl_type_find(&silt_scan_schema(ref->scan)->root, SL_STR(SL_METADATA_NAME), NULL);
    if (column == NULL || use->field.ptr == NULL || sl_type_find(column->type, use->field, NULL) != NULL) {
        return SILT_OK;
    }
    if (sl_metadata_find(use->field) != SIZE_MAX) {
        return sl_fail(err, SILT_ESCHEMA, "FIELD_NOT_FOUND",
                       "_metadata.%.*s needs row tracking, which is not enabled on table %.*s "
                       "(delta.enableRowTracking)",
                       SL_FMT(use->field), SL_FMT(ref->table));
    }
    const silt_status status = sl_fail(err, SILT_ESCHEMA, "FIELD_NOT_FOUND", "there is no field %.*s in _metadata",
                                       SL_FMT(use->field));
    suggest(column->type, use->field, err);
    return status;
}

static silt_status check_fields(struct sl_prepare *prepare, const struct sl_select_parts *parts, size_t base,
                                silt_error *err)
{
    for (size_t i = 0; i < parts->uses.len; i++) {
        const struct sl_metadata_use *use = sl_vec_at(&parts->uses, i);
        for (size_t k = 0; k < parts->leaves.len; k++) {
            const struct sl_select_leaf *leaf = sl_vec_at(&parts->leaves, k);
            if (!is_meant(use, leaf) || !leaf->ref->has_metadata) {
                continue;
            }
            const silt_status status = check_field(use, leaf->ref, err);
            if (status != SILT_OK) {
                place(prepare, use->node, base, err);
                return status;
            }
        }
    }
    return SILT_OK;
}

/* ---- natural joins ---- */

/* What is known of the leaves of one side. */
struct side {
    bool has;     /* one has got the column from us */
    bool may_too; /* one has a column of that name, or is not known not to */
};

static bool look(const struct sl_select_parts *parts, const sl_json *from, struct side *out)
{
    struct sl_vec leaves;
    sl_vec_init(&leaves, parts->refs->env, sizeof(struct sl_select_leaf));
    const bool good = sl_select_leaves(parts, from, &leaves);
    for (size_t i = 0; i < leaves.len; i++) {
        const struct sl_table_ref *ref = ((struct sl_select_leaf *)sl_vec_at(&leaves, i))->ref;
        const bool known = ref != NULL && ref->scan != NULL;
        out->has = out->has || (known && ref->has_metadata);
        out->may_too = out->may_too || !known ||
                       sl_type_find(&silt_scan_schema(ref->scan)->root, SL_STR(SL_METADATA_NAME), NULL) != NULL;
    }
    sl_vec_release(&leaves);
    return good;
}

/* A natural join is one over all columns of the same name, so that "_metadata" of both sides would be joined. */
static silt_status check_joins(const struct sl_select_parts *parts, silt_error *err)
{
    for (size_t i = 0; i < parts->joins.len; i++) {
        const sl_json *join = *(const sl_json **)sl_vec_at(&parts->joins, i);
        struct side left = {false, false};
        struct side right = {false, false};
        if (!look(parts, sl_json_member(join, "left"), &left) || !look(parts, sl_json_member(join, "right"), &right)) {
            return sl_fail_nomem(err);
        }
        if ((left.has && right.may_too) || (right.has && left.may_too)) {
            const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE",
                                               "a NATURAL JOIN would join by _metadata as well, which is named here");
            sl_error_hint(err, "write JOIN … USING (…) with the columns to join by");
            return status;
        }
    }
    return SILT_OK;
}

/* Afterwards: the column is kept out of where nobody asked for it. */
static silt_status narrow(struct sl_prepare *prepare, struct sl_select_parts *parts, size_t base, silt_error *err)
{
    SL_TRY(check_fields(prepare, parts, base, err));
    SL_TRY(check_joins(parts, err));
    return sl_prepare_narrow_stars(prepare, parts, base, err);
}

/* ---- the walk over all SELECTs ---- */

typedef silt_status (*visit_fn)(struct sl_prepare *prepare, struct sl_select_parts *parts, size_t base,
                                silt_error *err);

static bool is_named(struct sl_str text)
{
    const struct sl_str name = SL_STR(SL_METADATA_NAME);
    for (size_t i = 0; i + name.len <= text.len; i++) {
        if (text.ptr[i] == '_' && sl_str_eq_nocase(sl_str_sub(text, i, i + name.len), name)) {
            return true;
        }
    }
    return false;
}

static silt_status visit_select(struct sl_prepare *prepare, struct sl_select_parts *parts, const sl_json *select,
                                size_t base, visit_fn visit, silt_error *err)
{
    if (!sl_str_eq_c(sl_json_member_text(select, "type"), "SELECT_NODE")) {
        return SILT_OK;
    }
    if (!sl_select_parts_read(parts, select)) {
        return sl_fail_nomem(err);
    }
    return parts->uses.len > 0 ? visit(prepare, parts, base, err) : SILT_OK;
}

static silt_status walk(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, size_t base,
                        visit_fn visit, silt_error *err)
{
    if (!is_named(sl_buf_view(&prepare->spelled->text))) {
        return SILT_OK; /* the usual query pays nothing */
    }
    struct sl_select_parts parts;
    struct sl_vec todo;
    sl_select_parts_init(&parts, refs, prepare->session->env);
    sl_vec_init(&todo, prepare->session->env, sizeof(const sl_json *));
    silt_status status = sl_tree_push(&todo, root) ? SILT_OK : sl_fail_nomem(err);
    while (status == SILT_OK && todo.len > 0) {
        const sl_json *node = sl_tree_pop(&todo);
        status = visit_select(prepare, &parts, node, base, visit, err);
        if (status == SILT_OK && !sl_tree_push_children(&todo, node)) {
            status = sl_fail_nomem(err);
        }
    }
    sl_vec_release(&todo);
    sl_select_parts_release(&parts);
    return status;
}

silt_status sl_prepare_metadata(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, silt_error *err)
{
    return walk(prepare, root, refs, 0, mark, err);
}

silt_status sl_prepare_stars(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, size_t base,
                             silt_error *err)
{
    return walk(prepare, root, refs, base, narrow, err);
}
