/*
 * Judging files of a checkpoint by what of them was read first; see plan_judge.h. Most files are dropped here, so a row costs no
 * allocation, and no struct is made of it. One thread.
 */
#include "kernel/scan/plan_judge.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* If so many files have no statistics in a form, it is not the checkpoint's form. */
#define HOPELESS_FILES 4096

silt_status sl_plan_judge_init(struct sl_plan_judge *judge, struct sl_partition_pruner *pruner, enum sl_plan_form form,
                               bool is_final, silt_error *err)
{
    const struct sl_scan_filter *filter = pruner->filter;
    const silt_env *env = pruner->arena->env;
    *judge = (struct sl_plan_judge){.env = env, .filter = filter, .pruner = pruner, .form = form, .is_final = is_final};
    sl_add_batch_init(&judge->batch, env);
    sl_arena_init(&judge->bound, env);
    sl_arena_init(&judge->scratch, env);
    sl_vec_init(&judge->keep, env, sizeof(int64_t));
    sl_vec_init(&judge->ask, env, sizeof(int64_t));
    judge->bounds = sl_alloc_array(env, filter->n_columns + 1, sizeof(*judge->bounds));
    enum sl_truth *truths = sl_arena_alloc_array(&judge->bound, filter->n_conjuncts + 1, sizeof(*truths));
    if (judge->bounds == NULL || truths == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        judge->by_partition = judge->by_partition || filter->conjuncts[i].uses_partition;
        truths[i] = SL_UNKNOWN;
    }
    judge->unknown.truths = truths;
    SL_TRY(sl_plan_quick_init(&judge->quick, &judge->bound, filter, err));
    return form == SL_PLAN_TEXT ? sl_stats_reader_new(env, filter->columns, filter->n_columns, &judge->reader, err)
                                : SILT_OK;
}

void sl_plan_judge_release(struct sl_plan_judge *judge)
{
    if (judge->env == NULL) {
        return;
    }
    sl_add_batch_release(&judge->batch);
    sl_arena_release(&judge->bound);
    sl_arena_release(&judge->scratch);
    sl_vec_release(&judge->keep);
    sl_vec_release(&judge->ask);
    sl_stats_reader_free(judge->reader);
    sl_release(judge->env, judge->bounds, (judge->filter->n_columns + 1) * sizeof(*judge->bounds));
    *judge = (struct sl_plan_judge){.env = NULL};
}

/* ---- a batch ---- */

static int64_t find_child(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->name != NULL && strcmp(schema->children[i]->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static silt_status bind_typed(struct sl_plan_judge *judge, const struct sl_checkpoint_rows *rows, silt_error *err)
{
    const int64_t add = find_child(rows->schema, "add");
    const struct ArrowSchema *schema = add >= 0 ? rows->schema->children[add] : NULL;
    const struct ArrowArray *array = add >= 0 ? rows->batch->children[add] : NULL;
    const int64_t parsed = schema != NULL ? find_child(schema, "stats_parsed") : -1;
    if (parsed < 0) {
        return sl_fail(err, SILT_EENGINE, NULL, "checkpoint column add.stats_parsed is not there as asked for");
    }
    if (!judge->is_bound) {
        SL_TRY(sl_stats_arrow_bind(&judge->arrow, &judge->bound, schema->children[parsed], judge->filter->columns,
                                   judge->filter->n_columns, err));
        judge->is_bound = true;
    }
    (void)sl_stats_arrow_set(&judge->arrow, array->children[parsed]); /* what does not fit says nothing */
    return sl_plan_quick_bind(&judge->quick, &judge->bound, schema->children[parsed], array->children[parsed], err);
}

/* Does this form say all of a column that it can say? Bounds are missing where all is null, and of binary. */
static bool is_complete(const struct sl_plan_judge *judge, const struct sl_claims *claims)
{
    for (size_t i = 0; i < judge->filter->n_columns; i++) {
        const struct sl_bounds *b = &judge->bounds[i];
        const bool all_null = b->has_null_count && claims->has_rows && b->null_count == claims->rows;
        const bool unbounded = b->has_null_count && judge->filter->columns[i].type->kind == SILT_TYPE_BINARY;
        if (!(b->has_min && b->has_max) && !all_null && !unbounded) {
            return false;
        }
    }
    return true;
}

static silt_status get_text(const struct sl_plan_judge *judge, int64_t row, struct sl_str *out, silt_error *err)
{
    return sl_add_batch_stats(&judge->batch, row, out)
               ? SILT_OK
               : sl_fail(err, SILT_ECORRUPT, NULL, "checkpoint holds an unusable add.stats");
}

/* *complete false: the other form may say more. */
static silt_status judge_stats(struct sl_plan_judge *judge, int64_t row, const struct sl_partition_tuple *tuple,
                               bool *matches, bool *complete, silt_error *err)
{
    const struct sl_scan_filter *filter = judge->filter;
    struct sl_claims claims;
    *matches = false;
    if (judge->form == SL_PLAN_TEXT) {
        struct sl_str text;
        bool known = false;
        SL_TRY(get_text(judge, row, &text, err));
        if (sl_plan_quick_drops_text(&judge->quick, tuple->truths, judge->reader, text, &known)) {
            return SILT_OK;
        }
        *complete = text.ptr != NULL; /* the other form may say more than none */
        SL_TRY(sl_stats_reader_claims(judge->reader, text, &judge->scratch, &claims, judge->bounds, err));
    } else {
        if (sl_plan_quick_drops_row(&judge->quick, tuple->truths, row)) {
            return SILT_OK;
        }
        *complete = sl_stats_arrow_claims(&judge->arrow, row, &claims, judge->bounds) && is_complete(judge, &claims);
    }
    if (sl_plan_quick_drops(&judge->quick, tuple->truths, &claims, judge->bounds)) {
        return SILT_OK;
    }
    SL_TRY(sl_stats_believe(&claims, filter->columns, filter->n_columns, &judge->scratch, judge->bounds, err));
    *matches = sl_data_skip_may_match(filter, tuple, judge->bounds, &judge->scratch);
    return SILT_OK;
}

static silt_status put(struct sl_vec *places, int64_t place, silt_error *err)
{
    int64_t *slot = sl_vec_push(places);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = place;
    return SILT_OK;
}

static bool needs_stats(const struct sl_plan_judge *judge, const struct sl_partition_tuple *tuple)
{
    const struct sl_scan_filter *filter = judge->filter;
    for (size_t i = 0; judge->form != SL_PLAN_NO_STATS && i < filter->n_conjuncts; i++) {
        if (filter->conjuncts[i].uses_data && tuple->truths[i] != SL_TRUE) {
            return true;
        }
    }
    return false;
}

static silt_status judge_row(struct sl_plan_judge *judge, int64_t row, int64_t place, silt_error *err)
{
    const struct sl_partition_tuple *tuple = &judge->unknown;
    if (!sl_add_batch_has_add(&judge->batch, row)) {
        return SILT_OK;
    }
    if (judge->by_partition) {
        struct sl_kv_list values;
        SL_TRY(sl_add_batch_values(&judge->batch, row, &values, err));
        SL_TRY(sl_partition_pruner_find(judge->pruner, &values, SL_STR("of a checkpoint"), &tuple, err));
    }
    if (tuple->dropped) {
        return SILT_OK;
    }
    if (!needs_stats(judge, tuple)) {
        return put(&judge->keep, place, err);
    }
    bool complete = false;
    bool matches = false;
    SL_TRY(judge_stats(judge, row, tuple, &matches, &complete, err));
    sl_arena_reset(&judge->scratch);
    if (!matches) {
        return SILT_OK;
    }
    return put(complete || judge->is_final ? &judge->keep : &judge->ask, place, err);
}

int64_t sl_plan_judge_rows(const struct sl_plan_judge *judge)
{
    const int64_t n_seen = sl_plan_texts_seen(judge->texts);
    return judge->n_rows < n_seen ? n_seen : judge->n_rows;
}

/* Places ascend, and batches may hold rows that nobody asked for. */
static bool is_wanted(struct sl_plan_judge *judge, int64_t place)
{
    const int64_t *rows = judge->rows != NULL ? judge->rows->data : NULL;
    while (rows != NULL && judge->next < judge->rows->len && rows[judge->next] < place) {
        judge->next++;
    }
    return rows == NULL || (judge->next < judge->rows->len && rows[judge->next] == place);
}

silt_status sl_plan_judge_batch(void *ctx, const struct sl_checkpoint_rows *rows, bool *stop, silt_error *err)
{
    struct sl_plan_judge *judge = ctx;
    SL_TRY(sl_add_batch_bind(&judge->batch, rows->schema, rows->batch, err));
    if (judge->form == SL_PLAN_TYPED || judge->form == SL_PLAN_TYPED_COUNTS) {
        SL_TRY(bind_typed(judge, rows, err));
    }
    for (int64_t row = 0; row < rows->batch->length; row++) {
        const int64_t place = sl_checkpoint_place(rows, row);
        if (is_wanted(judge, place)) {
            judge->n_found++;
            SL_TRY(judge_row(judge, row, place, err));
        }
    }
    judge->n_rows += rows->batch->length;
    judge->is_hopeless = judge->may_give_up && judge->keep.len == 0 && judge->ask.len >= HOPELESS_FILES &&
                         judge->ask.len >= (size_t)sl_plan_judge_rows(judge) / 2;
    *stop = judge->is_hopeless;
    return SILT_OK;
}
