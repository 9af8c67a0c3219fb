/*
 * Row ids (PROTOCOL.md "Row Tracking"): every file has a base row id and a default row commit version, the ranges of default row ids do not meet
 * and stay below the high-water mark. Where the table stores row ids, all ids of its rows are compared as well.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "commands/fsck_data.h"
#include "json/json.h"
#include "kernel/feature/feature.h"
#include "kernel/scan/metadata_column.h"
#include "kernel/snapshot/state.h"
#include "schema/value.h"
#include "silt/scan.h"

#define ROW_TRACKING_DOMAIN "delta.rowTracking"

struct range {
    int64_t first, end; /* end is not in it */
    int64_t place;      /* of the file in the order of visiting */
    bool overlaps;
};

struct ids {
    struct sl_fsck *fsck;
    struct sl_vec ranges;
    int64_t high_water; /* -1: none is said */
    int64_t n_files;
    size_t n_told; /* of the overlapping ranges, in the order of places */
};

static struct sl_fsck_about about(const struct ids *ids, struct sl_str file)
{
    return (struct sl_fsck_about){.severity = SILT_FSCK_FAULT,
                                  .check = SL_FSCK_ROW_ID,
                                  .version = silt_snapshot_version(ids->fsck->snapshot),
                                  .file = file};
}

static int64_t find_high_water(const struct ids *ids)
{
    const char *text = silt_snapshot_domain(ids->fsck->snapshot, ROW_TRACKING_DOMAIN);
    struct sl_json_doc *doc = NULL;
    int64_t mark = -1;
    if (text != NULL && sl_json_parse(ids->fsck->env, sl_str_from(text), &doc, NULL) == SILT_OK &&
        !sl_json_to_i64(sl_json_member(sl_json_root(doc), "rowIdHighWaterMark"), &mark)) {
        mark = -1;
    }
    sl_json_free(doc);
    return mark;
}

static silt_status count_rows(const struct ids *ids, const struct sl_add *add, int64_t *n, silt_error *err)
{
    struct sl_arena arena;
    struct sl_claims claims;
    struct sl_bounds none;
    sl_arena_init(&arena, ids->fsck->env);
    const silt_status status = sl_stats_claims_from_json(add->stats, NULL, 0, &arena, &claims, &none, err);
    sl_arena_release(&arena);
    *n = status == SILT_OK && claims.has_rows && claims.rows >= 0 ? claims.rows : -1;
    return status;
}

static silt_status take_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct ids *ids = ctx;
    int64_t n = 0;
    int64_t end = 0;
    const struct sl_fsck_about where = about(ids, add->path);
    const int64_t place = ids->n_files++;
    (void)stop;
    if (add->base_row_id == SL_NO_I64 || add->default_row_commit_version == SL_NO_I64) {
        return sl_fsck_tell(ids->fsck, &where, err, "the file has no %s though the table tracks rows",
                            add->base_row_id == SL_NO_I64 ? "baseRowId" : "defaultRowCommitVersion");
    }
    SL_TRY(count_rows(ids, add, &n, err));
    if (n < 0) {
        return sl_fsck_tell(ids->fsck, &where, err,
                            "the file has no numRecords, without which its row ids have no end");
    }
    if (add->base_row_id < 0 || !sl_add_i64(add->base_row_id, n, &end)) {
        return sl_fsck_tell(ids->fsck, &where, err, "baseRowId %" PRId64 " cannot be", add->base_row_id);
    }
    if (n > 0 && end - 1 > ids->high_water) {
        SL_TRY(sl_fsck_tell(ids->fsck, &where, err,
                            "row ids %" PRId64 " to %" PRId64 " of the file are above the high-water mark, %" PRId64,
                            add->base_row_id, end - 1, ids->high_water));
    }
    struct range *range = n > 0 ? sl_vec_push(&ids->ranges) : NULL;
    if (n > 0 && range == NULL) {
        return sl_fail_nomem(err);
    }
    if (range != NULL) {
        *range = (struct range){.first = add->base_row_id, .end = end, .place = place};
    }
    return SILT_OK;
}

static int compare_first(const void *a, const void *b)
{
    const struct range *x = a;
    const struct range *y = b;
    return x->first < y->first ? -1 : x->first > y->first ? 1 : x->place < y->place ? -1 : x->place > y->place ? 1 : 0;
}

static int compare_place(const void *a, const void *b)
{
    const struct range *x = a;
    const struct range *y = b;
    return x->overlaps != y->overlaps ? (x->overlaps ? -1 : 1) : x->place < y->place ? -1 : x->place > y->place ? 1 : 0;
}

/* Marks what meets the range before it, and brings the marked ones to the front. */
static size_t find_overlaps(struct ids *ids)
{
    struct range *ranges = ids->ranges.data;
    const size_t n = ids->ranges.len;
    size_t n_found = 0;
    int64_t end = 0;
    if (n == 0) {
        return 0;
    }
    qsort(ranges, n, sizeof(*ranges), compare_first);
    for (size_t i = 0; i < n; i++) {
        ranges[i].overlaps = i > 0 && ranges[i].first < end;
        n_found += ranges[i].overlaps ? 1 : 0;
        end = ranges[i].end > end ? ranges[i].end : end;
    }
    qsort(ranges, n, sizeof(*ranges), compare_place);
    return n_found;
}

static silt_status name_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct ids *ids = ctx;
    const struct range *range = sl_vec_at(&ids->ranges, ids->n_told);
    if (range->place != ids->n_files++) {
        return SILT_OK;
    }
    ids->n_told++;
    *stop = ids->n_told == ids->ranges.len || !((const struct range *)sl_vec_at(&ids->ranges, ids->n_told))->overlaps;
    const struct sl_fsck_about where = about(ids, add->path);
    return sl_fsck_tell(ids->fsck, &where, err,
                        "row ids %" PRId64 " to %" PRId64 " of the file are in part those of another file",
                        range->first, range->end - 1);
}

static silt_status check_ranges(struct ids *ids, silt_error *err)
{
    struct sl_fsck *fsck = ids->fsck;
    ids->high_water = find_high_water(ids);
    SL_TRY(sl_snapshot_each_file(fsck->snapshot, fsck->call, SL_FILES_STATS, take_file, ids, err));
    fsck->report.row_ids = ids->n_files;
    ids->n_files = 0;
    return find_overlaps(ids) > 0
               ? sl_snapshot_each_file(fsck->snapshot, fsck->call, SL_FILES_STATS, name_file, ids, err)
               : SILT_OK;
}

/* ---- ids of rows ---- */

static silt_status tell_twice(struct ids *ids, struct ArrowArrayStream *stream, silt_error *err)
{
    struct ArrowSchema schema = {0};
    const struct sl_fsck_about where = about(ids, (struct sl_str){NULL, 0});
    SL_TRY(sl_arrow_stream_schema(stream, &schema, err));
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(stream, &batch, &done, err);
        for (int64_t i = 0; status == SILT_OK && !done && i < batch.length; i++) {
            silt_value id;
            silt_value n;
            if (!sl_value_from_arrow(schema.children[0], batch.children[0], i + batch.offset, &id) ||
                !sl_value_from_arrow(schema.children[1], batch.children[1], i + batch.offset, &n)) {
                status = sl_fail(err, SILT_EENGINE, NULL, "the data plane answered with other types");
            } else if (id.is_null) {
                status = sl_fsck_tell(ids->fsck, &where, err, "%" PRId64 " rows have no row id", n.as.i64);
            } else {
                status = sl_fsck_tell(ids->fsck, &where, err, "%" PRId64 " rows have the row id %" PRId64, n.as.i64,
                                      id.as.i64);
            }
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    return status;
}

static silt_status query_ids(struct ids *ids, const silt_scan *scan, silt_error *err)
{
    static const struct sl_dataplane_params none = {0};
    struct sl_fsck *fsck = ids->fsck;
    struct sl_dataplane_ref plane;
    struct sl_dataplane_scan *bound = NULL;
    struct ArrowArrayStream stream = {0};
    struct sl_buf text;
    struct sl_buf sql;
    SL_TRY(sl_engine_dataplane(silt_table_engine(fsck->table), &plane, err));
    sl_buf_init(&text, fsck->env);
    sl_buf_init(&sql, fsck->env);
    silt_status status = plane.vtable->scan_open(plane.dp, silt_scan_get_plan(scan), &bound, &text, err);
    if (status == SILT_OK) {
        sl_buf_put_c(&sql, "SELECT struct_extract(_metadata, 'row_id')::BIGINT, count(*) FROM (");
        sl_buf_put_str(&sql, sl_buf_view(&text));
        sl_buf_put_c(&sql,
                     "\n) GROUP BY 1 HAVING count(*) > 1 OR any_value(struct_extract(_metadata, 'row_id')) IS NULL "
                     "ORDER BY 1 LIMIT 1000");
        status = sl_buf_status(&sql, err);
    }
    if (status == SILT_OK) {
        status = plane.vtable->query(plane.dp, fsck->call, sl_buf_view(&sql), &none, &stream, err);
    }
    if (status == SILT_OK) {
        status = tell_twice(ids, &stream, err);
    }
    sl_arrow_stream_release(&stream);
    plane.vtable->scan_close(plane.dp, bound);
    sl_buf_release(&sql);
    sl_buf_release(&text);
    return status;
}

static silt_status check_rows(struct ids *ids, silt_error *err)
{
    static const char *const columns[] = {"_metadata.row_id"};
    struct sl_fsck *fsck = ids->fsck;
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    silt_status status = silt_scan_builder_new(fsck->snapshot, &builder, err);
    if (status == SILT_OK) {
        status = silt_scan_builder_project(builder, columns, 1, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_build(builder, fsck->call, &scan, err);
    }
    silt_scan_builder_free(builder);
    if (status == SILT_OK && silt_scan_get_plan(scan)->row_id_column != NULL) {
        status = query_ids(ids, scan, err);
    }
    silt_scan_unref(scan);
    return status;
}

silt_status sl_fsck_row_ids(struct sl_fsck *fsck, silt_error *err)
{
    const bool sampled = fsck->report.seed != 0;
    silt_error found = SILT_ERROR_INIT;
    if (!sl_row_tracking_enabled(fsck->snapshot)) {
        return SILT_OK;
    }
    struct ids ids = {.fsck = fsck};
    sl_vec_init(&ids.ranges, fsck->env, sizeof(struct range));
    silt_status status = check_ranges(&ids, &found);
    /* A part of the rows says nothing of all of them. */
    if (status == SILT_OK && !fsck->options.no_data && !sampled &&
        !sl_metadata_is_hidden(silt_snapshot_schema(fsck->snapshot))) {
        status = check_rows(&ids, &found);
    }
    if (status != SILT_OK) {
        struct sl_fsck_about where = about(&ids, (struct sl_str){NULL, 0});
        where.severity = found.status == SILT_EUNSUPPORTED ? SILT_FSCK_NOTE : SILT_FSCK_FAULT;
        status = sl_fsck_tell_failure(fsck, &where, &found, err);
    }
    sl_vec_release(&ids.ranges);
    return status;
}
