/*
 * Two-pass planning over a checkpoint's Parquet files; see plan_checkpoint.h.
 *
 * Row groups in which no file can match are not read (plan_groups.c). First pass: partition values and statistics of the filter's columns, typed ones if there are any, of all rows. Files about which that form
 * says too little are asked for in the other. Second pass: everything else of the files that are left, by their places. Only then
 * keys are compared with what the commits decided, since whatever a file's fate, a file that the filter drops is dropped.
 *
 * Called by scan_plan.c, on the caller's thread.
 */
#include "kernel/scan/plan_checkpoint.h"

#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/replay/checkpoint_select.h"
#include "kernel/scan/plan_groups.h"
#include "kernel/scan/plan_judge.h"
#include "kernel/snapshot/state.h"

/* Rows are asked for by their places when at most one of so many is wanted. */
#define PICK_ONE_OF 4

struct planner {
    const struct sl_plan_checkpoint *plan;
    struct sl_log_source source;
    struct sl_checkpoint_files files;
    int64_t n_rows;               /* of the file at hand, -1 while not known */
    struct sl_plan_groups groups; /* of the file at hand */
    bool text_first;              /* a file had no typed statistics: the next one is asked for text first */
    /* second pass */
    silt_schema *schema; /* of all that is not statistics */
    struct sl_add_batch batch;
    struct sl_key_maker keys, others;
    const struct sl_vec *wanted; /* int64_t */
    size_t next;                 /* of them */
};

static silt_status fail_rows(silt_error *err)
{
    return sl_fail(err, SILT_EENGINE, NULL, "rows of a checkpoint that were there are gone, or come in another order");
}

/* ---- first pass ---- */

struct look {
    enum sl_plan_form form;
    const struct sl_vec *rows; /* NULL: all in groups that are not left out */
    bool is_final;
    bool may_give_up;
};

static silt_status look_once(struct planner *p, size_t file, const struct look *look, struct sl_plan_judge *judge,
                             silt_error *err)
{
    const struct sl_plan_checkpoint *plan = p->plan;
    const bool in_ranges = look->rows == NULL && sl_plan_groups_leave_out(&p->groups);
    silt_schema *schema = NULL;
    struct sl_plan_texts *texts = NULL;
    silt_status status = sl_plan_judge_init(judge, plan->pruner, look->form, look->is_final, err);
    judge->may_give_up = look->may_give_up;
    judge->rows = look->rows;
    if (status == SILT_OK && look->form == SL_PLAN_TEXT && look->rows == NULL) {
        status = sl_plan_texts_new(judge->env, plan->pruner->filter, &texts, err);
        judge->texts = texts;
    }
    if (status == SILT_OK) {
        status = sl_plan_judge_schema(plan->pruner->filter, look->form, silt_snapshot_physical_schema(plan->snapshot),
                                      &schema, err);
    }
    if (status == SILT_OK) {
        const struct sl_checkpoint_select select = {.files = &p->files,
                                                    .file = file,
                                                    .schema = schema,
                                                    .rows = look->rows != NULL ? look->rows->data : NULL,
                                                    .n_rows = look->rows != NULL ? look->rows->len : 0,
                                                    .ranges = in_ranges ? p->groups.ranges.data : NULL,
                                                    .n_ranges = in_ranges ? p->groups.ranges.len : 0,
                                                    .texts = sl_plan_texts_filter(texts)};
        status = sl_checkpoint_select(&select, plan->call, sl_plan_judge_batch, judge, err);
    }
    if (status == SILT_OK && look->rows == NULL && !judge->is_hopeless) {
        p->n_rows = in_ranges ? p->groups.n_rows : sl_plan_judge_rows(judge);
    } else if (status == SILT_OK && look->rows != NULL && judge->n_found != look->rows->len) {
        status = fail_rows(err);
    }
    judge->texts = NULL;
    sl_plan_texts_free(texts);
    silt_schema_unref(schema);
    return status;
}

/* Typed statistics whose types cannot be taken for the table's are no reason to fail. */
static silt_status look_at(struct planner *p, size_t file, const struct look *look, struct sl_plan_judge *judge,
                           silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    silt_status status = look_once(p, file, look, judge, &found);
    if (status == SILT_ESCHEMA && look->form == SL_PLAN_TYPED && look->is_final) {
        const struct look counts = {.form = SL_PLAN_TYPED_COUNTS, .rows = look->rows, .is_final = true};
        sl_plan_judge_release(judge);
        silt_error_reset(&found);
        status = look_once(p, file, &counts, judge, &found);
    }
    if (status == SILT_ESCHEMA && look->form == SL_PLAN_TYPED) {
        judge->is_hopeless = true;
        return SILT_OK;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

/* Moves the places out, so that they outlive the judge. */
static void take_places(struct sl_vec *dst, struct sl_vec *src)
{
    const struct sl_vec given = *src;
    *src = *dst;
    *dst = given;
}

/* Both ascend and share nothing. */
static silt_status merge(struct sl_vec *into, const struct sl_vec *more, silt_error *err)
{
    const size_t n = into->len;
    if (more->len == 0) {
        return SILT_OK;
    }
    if (!sl_vec_reserve(into, n + more->len)) {
        return sl_fail_nomem(err);
    }
    int64_t *all = into->data;
    const int64_t *other = more->data;
    size_t a = n;
    size_t b = more->len;
    for (size_t at = n + more->len; b > 0; at--) {
        const bool from_into = a > 0 && all[a - 1] > other[b - 1];
        all[at - 1] = from_into ? all[a - 1] : other[b - 1];
        a -= from_into ? 1 : 0;
        b -= from_into ? 0 : 1;
    }
    into->len = n + more->len;
    return SILT_OK;
}

/*
 * Files of `ask` (all: NULL), about which one form said too little, are judged by the other; *ask gets those about which that says too
 * little as well.
 */
static silt_status look_again(struct planner *p, size_t file, const struct look *look, struct sl_vec *keep,
                              struct sl_vec *ask, silt_error *err)
{
    struct sl_plan_judge judge = {.env = NULL};
    silt_status status = look_at(p, file, look, &judge, err);
    if (status == SILT_OK && judge.is_hopeless && look->rows == NULL) {
        const struct look all = {.form = SL_PLAN_TEXT, .is_final = true};
        sl_plan_judge_release(&judge);
        status = look_at(p, file, &all, &judge, err);
    } else if (status == SILT_OK && judge.is_hopeless) {
        status = merge(keep, look->rows, err); /* nothing decides about these files */
    }
    if (status == SILT_OK) {
        status = merge(keep, &judge.keep, err);
        take_places(ask, &judge.ask);
    }
    sl_plan_judge_release(&judge);
    return status;
}

/*
 * Groups are known by typed statistics, so they are of no use where text comes first. *none: no row of the file needs to be read.
 */
static silt_status find_groups(struct planner *p, size_t file, bool *none, silt_error *err)
{
    p->groups.n_rows = -1;
    p->groups.ranges.len = 0;
    *none = false;
    if (!p->plan->wants_stats || p->text_first) {
        return SILT_OK;
    }
    SL_TRY(sl_plan_groups_find(&p->groups, &p->files, file, p->plan->pruner->filter, p->plan->call, err));
    *none = p->groups.n_rows > 0 && p->groups.ranges.len == 0;
    return SILT_OK;
}

/* Places of the files that may match, ascending. */
static silt_status find_files(struct planner *p, size_t file, struct sl_vec *keep, silt_error *err)
{
    const silt_env *env = keep->env;
    const bool stats = p->plan->wants_stats;
    const enum sl_plan_form first = p->text_first ? SL_PLAN_TEXT : SL_PLAN_TYPED;
    const enum sl_plan_form second = p->text_first ? SL_PLAN_TYPED : SL_PLAN_TEXT;
    struct sl_plan_judge judge = {.env = NULL};
    struct sl_vec ask;
    struct sl_vec last;
    sl_vec_init(&ask, env, sizeof(int64_t));
    sl_vec_init(&last, env, sizeof(int64_t));
    const struct look look = {.form = stats ? first : SL_PLAN_NO_STATS, .is_final = !stats, .may_give_up = stats};
    silt_status status = look_at(p, file, &look, &judge, err);
    const bool none = judge.is_hopeless;
    if (status == SILT_OK && !none) {
        take_places(keep, &judge.keep);
        take_places(&ask, &judge.ask);
    }
    sl_plan_judge_release(&judge);
    p->text_first = p->text_first != none;
    if (status == SILT_OK && (none || ask.len > 0)) {
        const struct look other = {.form = second, .rows = none ? NULL : &ask, .is_final = !none};
        status = look_again(p, file, &other, keep, &last, err);
    }
    if (status == SILT_OK && last.len > 0) {
        const struct look again = {.form = first, .rows = &last, .is_final = true};
        struct sl_vec nothing;
        sl_vec_init(&nothing, env, sizeof(int64_t));
        status = look_again(p, file, &again, keep, &nothing, err);
        sl_vec_release(&nothing);
    }
    sl_vec_release(&ask);
    sl_vec_release(&last);
    return status;
}

/* ---- second pass ---- */

static silt_status is_decided(struct planner *p, const struct sl_file_row *row, bool *decided, silt_error *err)
{
    const struct sl_log_view *view = p->plan->view;
    const struct sl_key_probe probe = {.keys = &view->decided, .files = view->tail, .maker = &p->others};
    struct sl_file_key key;
    *decided = false;
    if (view->decided.n == 0) {
        return SILT_OK;
    }
    return sl_key_make(&p->keys, row->path, row->deletion_vector, &key) && sl_key_set_find(&probe, &key, decided)
               ? SILT_OK
               : sl_fail_nomem(err);
}

static silt_status keep_row(struct planner *p, const struct sl_file_row *row, silt_error *err)
{
    const struct sl_plan_checkpoint *plan = p->plan;
    const struct sl_partition_tuple *tuple = NULL;
    bool decided = false;
    SL_TRY(is_decided(p, row, &decided, err));
    if (decided) {
        return SILT_OK;
    }
    struct sl_add add = {.path = row->path,
                         .partition_values = {.items = row->values, .n = row->n_values},
                         .size = row->size,
                         .modification_time = row->time,
                         .deletion_vector = row->deletion_vector,
                         .base_row_id = row->base_row_id,
                         .default_row_commit_version = row->row_commit_version};
    SL_TRY(sl_partition_pruner_find(plan->pruner, &add.partition_values, add.path, &tuple, err));
    return tuple->dropped ? SILT_OK : plan->keep(plan->ctx, &add, tuple, err);
}

static silt_status take_batch(void *ctx, const struct sl_checkpoint_rows *rows, bool *stop, silt_error *err)
{
    struct planner *p = ctx;
    SL_TRY(sl_add_batch_bind(&p->batch, rows->schema, rows->batch, err));
    for (int64_t row = 0; row < p->batch.n && p->next < p->wanted->len; row++) {
        const int64_t wanted = *(const int64_t *)sl_vec_at(p->wanted, p->next);
        const int64_t place = sl_checkpoint_place(rows, row);
        if (place != wanted) {
            continue;
        }
        struct sl_file_row file;
        bool found = false;
        p->next++;
        SL_TRY(sl_add_batch_row(&p->batch, row, &file, &found, err));
        if (p->batch.lacks_vector) {
            *stop = true;
            return SILT_OK;
        }
        if (found) {
            SL_TRY(keep_row(p, &file, err));
        }
    }
    *stop = p->next == p->wanted->len;
    return SILT_OK;
}

static silt_status keep_files(struct planner *p, size_t file, const struct sl_vec *wanted, silt_error *err)
{
    p->wanted = wanted;
    p->next = 0;
    if (wanted->len == 0) {
        return SILT_OK;
    }
    const bool few = p->n_rows < 0 || wanted->len <= (size_t)p->n_rows / PICK_ONE_OF;
    const struct sl_checkpoint_select select = {.files = &p->files,
                                                .file = file,
                                                .schema = p->schema,
                                                .rows = few ? wanted->data : NULL,
                                                .n_rows = few ? wanted->len : 0};
    SL_TRY(sl_checkpoint_select(&select, p->plan->call, take_batch, p, err));
    if (p->next < wanted->len && !p->batch.lacks_vector) {
        return fail_rows(err);
    }
    return SILT_OK;
}

/* ---- all files ---- */

static silt_status plan_file(struct planner *p, size_t file, silt_error *err)
{
    struct sl_vec keep;
    bool none = false;
    p->n_rows = -1;
    SL_TRY(find_groups(p, file, &none, err));
    if (none) {
        return SILT_OK;
    }
    sl_vec_init(&keep, p->batch.env, sizeof(int64_t));
    silt_status status = find_files(p, file, &keep, err);
    if (status == SILT_OK) {
        status = keep_files(p, file, &keep, err);
    }
    sl_vec_release(&keep);
    return status;
}

silt_status sl_plan_checkpoint(const struct sl_plan_checkpoint *plan, bool *lacks_vectors, silt_error *err)
{
    const silt_env *env = plan->pruner->arena->env;
    const struct sl_checkpoint *checkpoint = &plan->view->checkpoint;
    struct planner p = {.plan = plan, .source = sl_view_source(plan->snapshot, plan->view)};
    unsigned members = plan->with_vectors ? SL_ADD_VECTORS : 0U;
    members |= sl_protocol_has_feature(sl_snapshot_protocol(plan->snapshot), "rowTracking") ? SL_ADD_ROW_IDS : 0U;
    p.files = (struct sl_checkpoint_files){.source = &p.source, .checkpoint = checkpoint};
    sl_add_batch_init(&p.batch, env);
    sl_plan_groups_init(&p.groups, env);
    sl_key_maker_init(&p.keys, env, p.source.root, NULL);
    sl_key_maker_init(&p.others, env, p.source.root, NULL);
    *lacks_vectors = false;
    silt_status status = sl_add_batch_schema(env, members, &p.schema, err);
    for (size_t i = 0; i < checkpoint->n_parquet && status == SILT_OK && !*lacks_vectors; i++) {
        status = plan_file(&p, i, err);
        *lacks_vectors = status == SILT_OK && p.batch.lacks_vector;
    }
    silt_schema_unref(p.schema);
    sl_add_batch_release(&p.batch);
    sl_plan_groups_release(&p.groups);
    sl_key_maker_release(&p.keys);
    sl_key_maker_release(&p.others);
    return status;
}
