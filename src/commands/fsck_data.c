/*
 * Files of one batch against what is stated of them; see fsck_data.h. One query for all; when that fails, one for each, to find out which file
 * is at fault.
 */
#include "commands/fsck_data.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "commands/fsck_judge.h"
#include "kernel/dv/dv.h"
#include "kernel/snapshot/state.h"
#include "schema/value.h"

silt_status sl_fsck_reader_open(struct sl_fsck *fsck, struct sl_fsck_reader *out, silt_error *err)
{
    *out = (struct sl_fsck_reader){.fsck = fsck};
    sl_arena_init(&out->arena, fsck->env);
    silt_status status = sl_engine_dataplane(silt_table_engine(fsck->table), &out->plane, err);
    if (status == SILT_OK) {
        status = sl_fsck_find_columns(out, err);
    }
    if (status == SILT_OK) {
        status = sl_stats_reader_new(fsck->env, out->columns, out->n, &out->stats, err);
    }
    if (status != SILT_OK) {
        sl_fsck_reader_close(out);
    }
    return status;
}

void sl_fsck_reader_close(struct sl_fsck_reader *reader)
{
    if (reader->fsck == NULL) {
        return;
    }
    sl_stats_reader_free(reader->stats);
    silt_schema_unref(reader->logical);
    silt_schema_unref(reader->physical);
    sl_arena_release(&reader->arena);
    *reader = (struct sl_fsck_reader){0};
}

/* ---- what is stated ---- */

struct batch {
    struct sl_fsck_reader *reader;
    struct sl_arena arena;
    struct sl_plan_paths paths;
    struct sl_fsck_item *items;
    size_t n;
    bool *seen; /* the query told of the file */
    silt_error *err;
};

static struct sl_fsck_about about(const struct batch *b, const struct sl_fsck_item *item, enum sl_fsck_check check)
{
    return (struct sl_fsck_about){.severity = SILT_FSCK_FAULT,
                                  .check = check,
                                  .version = silt_snapshot_version(b->reader->fsck->snapshot),
                                  .file = item->add->path};
}

/* A vector that cannot be read is told, and the file is read without it. */
static silt_status find_vector(struct batch *b, struct sl_fsck_item *item, silt_error *err)
{
    struct sl_fsck *fsck = b->reader->fsck;
    const struct sl_fsck_about where = about(b, item, SL_FSCK_VECTOR);
    silt_deletion_vector *vector = sl_arena_alloc_zero(&b->arena, sizeof(*vector));
    silt_error found = SILT_ERROR_INIT;
    silt_rows *rows = NULL;
    if (vector == NULL) {
        return sl_fail_nomem(err);
    }
    fsck->report.vectors++;
    silt_status status = sl_dv_resolve(&b->arena, fsck->source.root, item->add->deletion_vector, vector, &found);
    if (status == SILT_OK) {
        const silt_rows_request request = {.file = item->file.path, .num_records = -1, .deleted = vector};
        status = silt_rows_load(fsck->source.storage, fsck->call, &request, 1, &rows, &found);
    }
    silt_rows_free(rows);
    if (status != SILT_OK) {
        return sl_fsck_tell_failure(fsck, &where, &found, err);
    }
    item->file.deleted = vector;
    if (item->claims.has_rows) {
        return SILT_OK;
    }
    /* PROTOCOL: "numRecords must be present and accurate" for a file with a vector. */
    const struct sl_fsck_about lacks = about(b, item, SL_FSCK_STATISTICS);
    return sl_fsck_tell(fsck, &lacks, err, "the file has a deletion vector, but its statistics lack numRecords");
}

static silt_status prepare(struct batch *b, struct sl_fsck_item *item, const struct sl_add *add, silt_error *err)
{
    struct sl_fsck_reader *reader = b->reader;
    item->add = add;
    item->file = (silt_plan_file){.size_bytes = add->size,
                                  .modified_ms = add->modification_time,
                                  .num_records = -1,
                                  .base_row_id = -1,
                                  .row_commit_version = -1};
    item->bounds = sl_arena_alloc_array(&b->arena, reader->n + 1, sizeof(*item->bounds));
    if (item->bounds == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_plan_paths_find(&b->paths, add->path, &item->file, err));
    SL_TRY(sl_stats_reader_claims(reader->stats, add->stats, &b->arena, &item->claims, item->bounds, err));
    const struct sl_fsck_about where = about(b, item, SL_FSCK_STATISTICS);
    SL_TRY(sl_fsck_check_stated(reader, item, &where, err));
    return add->deletion_vector != NULL ? find_vector(b, item, err) : SILT_OK;
}

/* ---- against the rows ---- */

static struct sl_str print_value(struct sl_buf *buf, const silt_value *value)
{
    sl_buf_clear(buf);
    sl_value_print(buf, value);
    return sl_buf_status(buf, NULL) == SILT_OK ? sl_str_from(sl_buf_cstr(buf)) : (struct sl_str){NULL, 0};
}

struct telling {
    struct sl_buf column, expected, found;
};

static silt_status tell_bound(struct batch *b, struct sl_fsck_about *where, enum sl_fsck_verdict verdict, bool is_max,
                              struct telling *t, const silt_value *stated, const silt_value *truth)
{
    const char *bound = is_max ? "maximum" : "minimum";
    if (verdict == SL_FSCK_GOOD) {
        return SILT_OK;
    }
    where->severity = verdict == SL_FSCK_WRONG ? SILT_FSCK_FAULT : SILT_FSCK_NOTE;
    where->expected = print_value(&t->expected, truth);
    where->found = print_value(&t->found, stated);
    return sl_fsck_tell(b->reader->fsck, where, b->err, "the %s of %.*s is stated as %.*s, but the data has %.*s: %s",
                        bound, SL_FMT(where->column), SL_FMT(where->found), SL_FMT(where->expected),
                        verdict == SL_FSCK_WRONG ? "engines skip rows" : "looser than it says, no row is lost");
}

static silt_status tell_nulls(struct batch *b, struct sl_fsck_about *where, enum sl_fsck_verdict verdict,
                              int64_t stated, int64_t right)
{
    char expected[32];
    char found[32];
    if (verdict == SL_FSCK_GOOD) {
        return SILT_OK;
    }
    (void)snprintf(expected, sizeof(expected), "%" PRId64, right);
    (void)snprintf(found, sizeof(found), "%" PRId64, stated);
    where->severity = verdict == SL_FSCK_WRONG ? SILT_FSCK_FAULT : SILT_FSCK_NOTE;
    where->expected = sl_str_from(expected);
    where->found = sl_str_from(found);
    return sl_fsck_tell(b->reader->fsck, where, b->err,
                        "the nullCount of %.*s is stated as %s, but the data has %s: %s", SL_FMT(where->column), found,
                        expected,
                        verdict == SL_FSCK_WRONG ? "engines skip rows or count wrong"
                                                 : "rows that the deletion vector hides are counted");
}

static silt_status judge_column(struct batch *b, const struct sl_fsck_item *item, size_t c,
                                const struct sl_fsck_truth *truth)
{
    const struct sl_skip_column *column = &b->reader->columns[c];
    const struct sl_bounds *stated = &item->bounds[c];
    struct sl_fsck_judgement judged;
    sl_fsck_judge(&item->claims, column, stated, truth, &judged);
    b->reader->fsck->report.statistics += judged.n;
    if (judged.min == SL_FSCK_GOOD && judged.max == SL_FSCK_GOOD && judged.nulls == SL_FSCK_GOOD) {
        return SILT_OK;
    }
    struct telling t;
    const silt_env *env = b->reader->fsck->env;
    sl_buf_init(&t.column, env);
    sl_buf_init(&t.expected, env);
    sl_buf_init(&t.found, env);
    struct sl_fsck_about where = about(b, item, SL_FSCK_STATISTICS);
    where.column = sl_fsck_column_name(&t.column, column);
    silt_status status = tell_bound(b, &where, judged.min, false, &t, &stated->min, &truth->min);
    if (status == SILT_OK) {
        status = tell_bound(b, &where, judged.max, true, &t, &stated->max, &truth->max);
    }
    if (status == SILT_OK) {
        status = tell_nulls(b, &where, judged.nulls, stated->null_count, truth->nulls);
    }
    sl_buf_release(&t.column);
    sl_buf_release(&t.expected);
    sl_buf_release(&t.found);
    return status;
}

static silt_status judge_rows(struct batch *b, const struct sl_fsck_item *item, int64_t live)
{
    struct sl_fsck *fsck = b->reader->fsck;
    const int64_t stored = live + (item->file.deleted != NULL ? item->file.deleted->cardinality : 0);
    fsck->report.files_read++;
    fsck->report.rows_read += stored;
    if (!item->claims.has_rows) {
        return SILT_OK;
    }
    fsck->report.statistics++;
    if (item->claims.rows == stored) {
        return SILT_OK;
    }
    const struct sl_fsck_about where = about(b, item, SL_FSCK_STATISTICS);
    return sl_fsck_tell_numbers(fsck, &where, stored, item->claims.rows, "numRecords", b->err);
}

static silt_status take_row(void *ctx, const struct sl_fsck_row *row, silt_error *err)
{
    struct batch *b = ctx;
    const struct sl_fsck_item *item = &b->items[row->item];
    (void)err; /* b->err is the same */
    b->seen[row->item] = true;
    SL_TRY(judge_rows(b, item, row->rows));
    for (size_t c = 0; c < b->reader->n; c++) {
        struct sl_fsck_truth truth = row->truths[c];
        truth.removed = item->file.deleted != NULL ? item->file.deleted->cardinality : 0;
        SL_TRY(judge_column(b, item, c, &truth));
    }
    return SILT_OK;
}

/* Files without live rows are in no group: their counts are told, and bounds say nothing of no rows. */
static silt_status settle(struct batch *b, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        if (!b->seen[i]) {
            SL_TRY(judge_rows(b, &b->items[i], 0));
        }
    }
    return SILT_OK;
}

/* ---- queries ---- */

static bool is_process(silt_status status)
{
    return status == SILT_ENOMEM || status == SILT_ECANCELLED || status == SILT_EDEADLINE;
}

/* Rows are judged as they come, so a query that fails in its midst has told of some files; they are not read again. */
struct part {
    struct batch *batch;
    size_t first;
};

static silt_status take_part(void *ctx, const struct sl_fsck_row *row, silt_error *err)
{
    const struct part *p = ctx;
    struct sl_fsck_row moved = *row;
    moved.item += p->first;
    return take_row(p->batch, &moved, err);
}

static silt_status read_one(struct batch *b, size_t i, silt_error *err)
{
    struct sl_fsck_item *item = &b->items[i];
    struct part part = {b, i};
    silt_error found = SILT_ERROR_INIT;
    silt_error second = SILT_ERROR_INIT;
    b->err = &found;
    silt_status status = sl_fsck_query(b->reader, item, 1, take_part, &part, &found);
    b->err = err;
    if (status == SILT_OK) {
        return settle(b, i, 1);
    }
    enum sl_fsck_check check = SL_FSCK_DATA;
    if (!is_process(status) && item->file.deleted != NULL) {
        item->file.deleted = NULL; /* is it the vector's fault? */
        b->err = &second;
        status = sl_fsck_query(b->reader, item, 1, take_part, &part, &second);
        b->err = err;
        check = status == SILT_OK ? SL_FSCK_VECTOR : SL_FSCK_DATA;
    }
    struct sl_fsck_about where = about(b, item, check);
    where.severity = found.status == SILT_EUNSUPPORTED ? SILT_FSCK_NOTE : SILT_FSCK_FAULT;
    return sl_fsck_tell_failure(b->reader->fsck, &where, is_process(second.status) ? &second : &found, err);
}

static silt_status read_all(struct batch *b, silt_error *err)
{
    struct part part = {b, 0};
    silt_error found = SILT_ERROR_INIT;
    b->err = &found;
    const silt_status status = sl_fsck_query(b->reader, b->items, b->n, take_part, &part, &found);
    b->err = err;
    if (status == SILT_OK) {
        return settle(b, 0, b->n);
    }
    if (is_process(status)) {
        if (err != NULL) {
            *err = found;
        }
        return status;
    }
    for (size_t i = 0; i < b->n; i++) {
        if (!b->seen[i]) {
            SL_TRY(read_one(b, i, err));
        }
    }
    return SILT_OK;
}

silt_status sl_fsck_reader_check(struct sl_fsck_reader *reader, const struct sl_add *adds, size_t n, silt_error *err)
{
    struct batch *b = sl_alloc_zero(reader->fsck->env, sizeof(*b)); /* too large for the stack of a small thread */
    if (b == NULL) {
        return sl_fail_nomem(err);
    }
    b->reader = reader;
    b->err = err;
    sl_arena_init(&b->arena, reader->fsck->env);
    sl_plan_paths_init(&b->paths, reader->fsck->snapshot, &b->arena);
    b->items = sl_arena_alloc_array(&b->arena, n, sizeof(*b->items));
    b->seen = sl_arena_alloc_array(&b->arena, n, sizeof(*b->seen));
    silt_status status = b->items != NULL && b->seen != NULL ? SILT_OK : sl_fail_nomem(err);
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        silt_error found = SILT_ERROR_INIT;
        status = prepare(b, &b->items[b->n], &adds[i], &found);
        if (status == SILT_OK) {
            b->n++;
        } else {
            const struct sl_fsck_about where = about(b, &b->items[b->n], SL_FSCK_FILE);
            status = sl_fsck_tell_failure(reader->fsck, &where, &found, err);
        }
    }
    if (status == SILT_OK && b->n > 0) {
        status = read_all(b, err);
    }
    sl_arena_release(&b->arena);
    sl_release(reader->fsck->env, b, sizeof(*b));
    return status;
}
