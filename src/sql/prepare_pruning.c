/*
 * The conditions above a table reference as filters of its scan, so that files without matching rows are not read. The conditions stay in the
 * query: a filter only has to be true wherever they are.
 *
 * Called by prepare_scans.c. One owner.
 */
#include "base/error.h"
#include "kernel/scan/metadata_column.h"
#include "schema/value.h"
#include "sql/marks.h"
#include "sql/plane_row.h"
#include "sql/predicate.h"
#include "sql/prepare_int.h"
#include "sql/refs.h"

/* Questions to the data plane for one table: each costs a fraction of a millisecond. */
#define MAX_ASKS 64

/* The value of a constant expression. What fails has none here: the query itself will say so, if it comes to that. */
static silt_status ask(void *ctx, struct sl_str expr, struct sl_arena *arena, silt_value *out, bool *known,
                       silt_error *err)
{
    struct sl_prepare *prepare = ctx;
    struct sl_plane_row row = {0};
    struct sl_buf sql;
    silt_value value;
    *known = false;
    sl_buf_init(&sql, prepare->session->env);
    sl_buf_put_c(&sql, "SELECT ");
    sl_buf_put_str(&sql, expr);
    sl_marks_put(&sql, sl_marks_highest(expr));
    silt_status status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        status = sl_plane_row_get(&prepare->query->plane, prepare->call, sl_buf_view(&sql), prepare->params, &row, err);
    }
    if (status == SILT_OK && sl_plane_row_exists(&row) && row.batch.n_children == 1 &&
        sl_value_from_arrow(row.schema.children[0], row.batch.children[0], row.batch.offset, &value)) {
        *known = sl_value_copy(arena, &value, out);
        status = *known ? SILT_OK : sl_fail_nomem(err);
    }
    sl_plane_row_release(&row);
    sl_buf_release(&sql);
    if (status == SILT_ENOMEM || status == SILT_ECANCELLED || status == SILT_EDEADLINE) {
        return status;
    }
    if (status != SILT_OK) {
        silt_error_reset(err);
    }
    return SILT_OK;
}

silt_status sl_prepare_habits(struct sl_prepare *prepare, struct sl_plane_habits *out, silt_error *err)
{
    silt_session *session = prepare->session;
    const bool utc = sl_str_eq_nocase(sl_str_from(session->time_zone), SL_STR("UTC"));
    const struct sl_str sql = SL_STR(
        "SELECT current_setting('default_collation') = '', "
        "current_setting('TimeZone') = 'UTC' AND current_setting('Calendar') = 'gregorian', "
        "(SELECT count(*) = 0 FROM duckdb_functions() "
        "WHERE NOT internal AND function_type IN ('macro', 'table_macro'))");
    struct sl_plane_row row = {0};
    silt_value value;
    *out = (struct sl_plane_habits){true, utc, true};
    if (!session->has_settings) {
        return SILT_OK;
    }
    if (!session->knows_habits) {
        bool *answers[] = {&session->habits.same_texts, &session->habits.utc, &session->habits.own_calls};
        SL_TRY(sl_plane_row_get(&prepare->query->plane, prepare->call, sql, NULL, &row, err));
        for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
            *answers[i] = sl_plane_row_value(&row, i, &value) && value.kind == SILT_TYPE_BOOLEAN && value.as.boolean;
        }
        sl_plane_row_release(&row);
        session->knows_habits = true;
    }
    *out = session->habits;
    out->utc = out->utc && utc;
    return SILT_OK;
}

static silt_status add_filters(struct sl_predicate_source *source, silt_scan_builder *builder, silt_error *err)
{
    silt_status status = SILT_OK;
    for (size_t i = 0; status == SILT_OK && i < source->ref->n_conjuncts; i++) {
        silt_expr *predicate = NULL;
        status = sl_predicate_from_conjunct(source, source->ref->conjuncts[i], &predicate, err);
        if (status == SILT_OK && predicate != NULL) {
            status = silt_scan_builder_filter(builder, predicate, err);
        }
        silt_expr_unref(predicate);
    }
    return status;
}

silt_status sl_prepare_pruning(struct sl_prepare *prepare, const struct sl_table_ref *ref,
                               const silt_snapshot *snapshot, silt_scan_builder *builder, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(snapshot);
    silt_schema *extended = NULL;
    struct sl_plane_habits habits;
    if (ref->n_conjuncts == 0) {
        return SILT_OK;
    }
    SL_TRY(sl_prepare_habits(prepare, &habits, err));
    if (!habits.same_texts) {
        return SILT_OK;
    }
    if (ref->wants_metadata && !sl_metadata_is_hidden(schema)) {
        SL_TRY(sl_metadata_extend(snapshot, &extended, err));
    }
    struct sl_predicate_source source = {.env = prepare->session->env,
                                         .ref = ref,
                                         .schema = extended != NULL ? extended : schema,
                                         .params = prepare->params,
                                         .utc = habits.utc,
                                         .may_call = habits.own_calls,
                                         .ask = ask,
                                         .ask_ctx = prepare,
                                         .asks_left = MAX_ASKS};
    const silt_status status = add_filters(&source, builder, err);
    silt_schema_unref(extended);
    return status;
}
