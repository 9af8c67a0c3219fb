/*
 * The live files of the newest version: each must be there, of the size and with partition values that the log states, and all of them, or those
 * that chance picks, are read (fsck_data.c). Batches of files are taken together: a store that is far away is asked for their sizes at once.
 *
 * Visits may come from a thread of the engine's executor, so that nothing here may use the executor itself.
 */
#include <inttypes.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "commands/fsck_data.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/scan/scan_filter.h"
#include "kernel/snapshot/state.h"
#include "schema/value.h"

/* A batch is read at either bound. Statistics of wide tables are long. */
#define BATCH_FILES ((size_t)128)
#define BATCH_BYTES ((size_t)16 * 1024 * 1024)
#define END_BYTES 8

struct visit {
    struct sl_fsck *fsck;
    struct sl_fsck_reader reader;
    struct sl_partition_column *partitions;
    size_t n_partitions;
    struct sl_arena arena; /* of the batch */
    struct sl_add batch[BATCH_FILES];
    size_t n_batch;
    struct sl_early *early;  /* that knows the sizes of the batch; NULL: on a store that is near */
    int64_t n_seen, n_files; /* of all live ones */
    int64_t n_wanted;        /* that are still to be picked */
    uint64_t random;
};

static struct sl_fsck_about about(const struct visit *v, enum sl_fsck_check check, const struct sl_add *add)
{
    return (struct sl_fsck_about){.severity = SILT_FSCK_FAULT,
                                  .check = check,
                                  .version = silt_snapshot_version(v->fsck->snapshot),
                                  .file = add->path};
}

/* ---- one file ---- */

static silt_status check_partition(struct visit *v, const struct sl_add *add, const struct sl_partition_column *column,
                                   struct sl_arena *scratch, silt_error *err)
{
    struct sl_fsck_about where = about(v, SL_FSCK_PARTITION, add);
    const struct sl_str text = sl_partition_text(column, &add->partition_values);
    silt_value value;
    silt_error found = SILT_ERROR_INIT;
    bool is_there = false;
    where.column = column->name;
    where.found = text;
    (void)sl_kv_get(&add->partition_values, column->physical, &is_there);
    if (!is_there && text.ptr == NULL) {
        bool other = false;
        (void)sl_kv_get(&add->partition_values, column->other, &other);
        where.severity = SILT_FSCK_NOTE;
        SL_TRY(other ? SILT_OK
                     : sl_fsck_tell(v->fsck, &where, err, "partitionValues lack %.*s, which is read as null",
                                    SL_FMT(column->name)));
    }
    if (column->keeps_empty && text.len == 0) {
        return SILT_OK;
    }
    const silt_status status = sl_partition_value_parse(scratch, text, column->type, &value, NULL, &found);
    return status == SILT_OK ? SILT_OK : sl_fsck_tell_failure(v->fsck, &where, &found, err);
}

/* The end of a file tells its size as well as a look at it does, and many ends can be asked for at once. */
static silt_status ask_sizes(struct visit *v, silt_error *err)
{
    struct sl_early_want wants[BATCH_FILES];
    struct sl_arena scratch;
    size_t n = 0;
    silt_error found = SILT_ERROR_INIT;
    sl_arena_init(&scratch, v->fsck->env);
    for (size_t i = 0; i < v->n_batch; i++) {
        struct sl_str path = {NULL, 0};
        if (sl_snapshot_file_path(v->fsck->snapshot, &scratch, v->batch[i].path, &path, &found) == SILT_OK) {
            wants[n++] = (struct sl_early_want){.path = path.ptr, .size_bytes = -1, .end_bytes = END_BYTES};
        }
    }
    silt_status status = sl_early_new(v->fsck->env, v->fsck->source.storage, &v->early, err);
    if (status == SILT_OK && n > 0) {
        status = sl_early_bring(v->early, v->fsck->call, wants, n, err);
    }
    sl_arena_release(&scratch);
    return status;
}

/* Engines without vectors read such a table, and show the rows that are deleted. */
static silt_status check_feature(struct visit *v, const struct sl_add *add, silt_error *err)
{
    const struct sl_fsck_about where = about(v, SL_FSCK_VECTOR, add);
    if (add->deletion_vector == NULL ||
        sl_protocol_has_feature(sl_snapshot_protocol(v->fsck->snapshot), "deletionVectors")) {
        return SILT_OK;
    }
    return sl_fsck_tell(v->fsck, &where, err,
                        "the file has a deletion vector, but the protocol does not list deletionVectors: engines "
                        "without vectors show deleted rows");
}

/* *is_there: it can be read. */
static silt_status check_file(struct visit *v, const struct sl_add *add, struct sl_arena *scratch, bool *is_there,
                              silt_error *err)
{
    struct sl_fsck *fsck = v->fsck;
    const struct sl_fsck_about where = about(v, SL_FSCK_FILE, add);
    struct sl_str path = {NULL, 0};
    silt_error found = SILT_ERROR_INIT;
    int64_t size = 0;
    int64_t modified_ms = 0;
    bool has_tag = false;
    *is_there = false;
    fsck->report.files++;
    SL_TRY(check_feature(v, add, err));
    silt_status status = sl_snapshot_file_path(fsck->snapshot, scratch, add->path, &path, &found);
    if (status == SILT_OK && (v->early == NULL || !sl_early_knows(v->early, path, &size, &has_tag))) {
        status = silt_storage_stat(fsck->source.storage, fsck->call, path.ptr, &size, &modified_ms, &found);
    }
    if (status == SILT_ENOTFOUND) {
        return sl_fsck_tell(fsck, &where, err, "the file does not exist: the table cannot be read");
    }
    if (status != SILT_OK) {
        return sl_fsck_tell_failure(fsck, &where, &found, err);
    }
    *is_there = true;
    if (size != add->size) {
        SL_TRY(sl_fsck_tell_numbers(fsck, &where, size, add->size, "the size of the file", err));
    }
    for (size_t i = 0; i < v->n_partitions; i++) {
        SL_TRY(check_partition(v, add, &v->partitions[i], scratch, err));
    }
    return SILT_OK;
}

/* ---- which are read ---- */

/* SplitMix64: the same seed picks the same files of the same version. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Every set of n_wanted files is as likely as any other. */
static bool is_picked(struct visit *v)
{
    const int64_t left = v->n_files - v->n_seen;
    if (v->n_wanted >= left) {
        return true;
    }
    if (v->n_wanted <= 0 || next_random(&v->random) % (uint64_t)left >= (uint64_t)v->n_wanted) {
        return false;
    }
    v->n_wanted--;
    return true;
}

static int64_t count_wanted(const struct visit *v)
{
    const silt_fsck_options *options = &v->fsck->options;
    if (options->sample_files > 0) {
        return options->sample_files;
    }
    if (options->sample_fraction > 0 && options->sample_fraction < 1) {
        const int64_t n = (int64_t)((double)v->n_files * options->sample_fraction);
        return n > 0 ? n : 1;
    }
    return v->n_files;
}

/* n more files are done with. */
static void tell_done(struct visit *v, size_t n)
{
    v->reader.n_done += (int64_t)n;
    sl_call_progress(v->fsck->call, SL_FSCK_FILES_PHASE, v->reader.n_done, v->n_files);
}

/* Those that are to be read move to the front, and are not done with before. */
static silt_status check_files(struct visit *v, silt_error *err)
{
    size_t n_picked = 0;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < v->n_batch && status == SILT_OK; i++) {
        struct sl_arena scratch;
        bool is_there = false;
        status = sl_call_check(v->fsck->env, v->fsck->call, err);
        sl_arena_init(&scratch, v->fsck->env);
        if (status == SILT_OK) {
            status = check_file(v, &v->batch[i], &scratch, &is_there, err);
        }
        sl_arena_release(&scratch);
        if (is_picked(v) && is_there) {
            v->batch[n_picked++] = v->batch[i];
        } else {
            tell_done(v, 1);
        }
        v->n_seen++;
    }
    v->n_batch = n_picked;
    return status;
}

static silt_status take_batch(struct visit *v, silt_error *err)
{
    silt_status status = SILT_OK;
    if (sl_storage_is_far(v->fsck->source.storage, v->fsck->source.root.ptr)) {
        status = ask_sizes(v, err);
    }
    if (status == SILT_OK) {
        status = check_files(v, err);
    }
    sl_early_unref(v->early);
    v->early = NULL;
    if (status == SILT_OK && v->n_batch > 0) {
        status = sl_fsck_reader_check(&v->reader, v->batch, v->n_batch, err);
        tell_done(v, v->n_batch);
    }
    v->n_batch = 0;
    sl_arena_reset(&v->arena);
    return status;
}

static silt_status take_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct visit *v = ctx;
    (void)stop;
    if (!sl_add_copy(&v->arena, add, &v->batch[v->n_batch])) {
        return sl_fail_nomem(err);
    }
    v->n_batch++;
    return v->n_batch == BATCH_FILES || v->arena.total_bytes >= BATCH_BYTES ? take_batch(v, err) : SILT_OK;
}

/* ---- all of them ---- */

static silt_status visit_files(struct visit *v, silt_error *err)
{
    int64_t bytes = 0;
    struct sl_fsck *fsck = v->fsck;
    SL_TRY(sl_fsck_find_partitions(&v->reader, &v->partitions, &v->n_partitions, err));
    silt_error found = SILT_ERROR_INIT;
    silt_status status = silt_snapshot_totals(fsck->snapshot, fsck->call, &v->n_files, &bytes, &found);
    if (status == SILT_OK) {
        v->n_wanted = count_wanted(v);
        v->reader.n_files = v->n_files;
        status = sl_snapshot_each_file(fsck->snapshot, fsck->call, SL_FILES_STATS, take_file, v, &found);
    }
    if (status == SILT_OK) {
        status = take_batch(v, &found);
    }
    if (status == SILT_OK) {
        return SILT_OK;
    }
    const struct sl_fsck_about where = {.severity = SILT_FSCK_FAULT, .check = SL_FSCK_LOG, .version = -1};
    return sl_fsck_tell_failure(fsck, &where, &found, err);
}

silt_status sl_fsck_files(struct sl_fsck *fsck, silt_error *err)
{
    struct visit *v = NULL;
    struct sl_arena arena;
    sl_arena_init(&arena, fsck->env);
    v = sl_arena_alloc_zero(&arena, sizeof(*v)); /* too large for the stack of a small thread */
    if (v == NULL) {
        return sl_fail_nomem(err);
    }
    v->fsck = fsck;
    v->random = fsck->options.seed;
    sl_arena_init(&v->arena, fsck->env);
    silt_status status = sl_fsck_reader_open(fsck, &v->reader, err);
    if (status == SILT_OK) {
        status = visit_files(v, err);
    }
    sl_fsck_reader_close(&v->reader);
    sl_arena_release(&v->arena);
    sl_arena_release(&arena);
    return status;
}
