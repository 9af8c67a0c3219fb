/*
 * Writes of few rows; see small_write.h. The stream is drawn into an image of the file until it ends or turns out to be no small one. What
 * is uncertain about rows or types goes to the data plane, so that there is one place that refuses them and says why.
 */
#include "engine/small_write.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "base/uuid.h"
#include "engine/small_image.h"
#include "engine/small_part.h"
#include "engine/small_rows.h"
#include "kernel/engine/engine.h"

/* Beyond these, compression and dictionaries are worth their price. */
#define MAX_DATA_ROWS 1000
#define MAX_DATA_BYTES ((size_t)64 << 10)
#define MAX_FILE_ROWS 2000
#define MAX_FILE_BYTES ((size_t)512 << 10)
/* Batches without rows count too. */
#define MAX_BATCHES 64

struct small {
    const silt_env *env;
    const silt_call *call;
    struct sl_arena arena;
    struct sl_small_rows rows;
    struct sl_small_image *image;
    struct sl_small_part part; /* of a table that is partitioned */
    struct sl_buf bytes;
    int64_t max_rows;
    size_t max_bytes;
};

static void begin(struct small *small, const silt_env *env, const silt_call *call)
{
    *small = (struct small){.env = env, .call = call};
    sl_arena_init(&small->arena, env);
    sl_buf_init(&small->bytes, env);
    sl_vec_init(&small->rows.batches, env, sizeof(struct ArrowArray));
}

static void end(struct small *small)
{
    sl_small_image_close(small->image);
    sl_small_part_close(&small->part);
    sl_small_rows_close(&small->rows);
    sl_buf_release(&small->bytes);
    sl_arena_release(&small->arena);
}

/* Compression is not asked of files of a few rows, but an unknown codec must be refused, by the data plane. */
static bool codec_is_known(const char *codec)
{
    static const char *const names[] = {"", "zstd", "snappy", "none", "uncompressed"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (codec != NULL && sl_str_eq_nocase(sl_str_from(codec), sl_str_from(names[i]))) {
            return true;
        }
    }
    return codec == NULL;
}

/* Draws the stream into the image. *fits false: not all of it is there, or it is not to be written here. */
static silt_status draw(struct small *small, const struct silt_type *root, bool *fits, silt_error *err)
{
    const bool parted = small->part.image != NULL;
    SL_TRY(sl_small_image_open(small->env, root, parted ? &small->part.rows : &small->rows.schema, &small->image, err));
    *fits = small->image != NULL;
    while (*fits) {
        const struct ArrowArray *batch = NULL;
        SL_TRY(sl_call_check(small->env, small->call, err));
        SL_TRY(sl_small_rows_next(&small->rows, &batch, err));
        if (batch == NULL) {
            return SILT_OK;
        }
        *fits = small->rows.batches.len <= MAX_BATCHES &&
                batch->length <= small->max_rows - sl_small_image_rows(small->image);
        if (*fits && parted) {
            SL_TRY(sl_small_part_add(&small->part, batch, &batch, fits, err));
        }
        if (*fits) {
            SL_TRY(sl_small_image_add(small->image, batch, fits, err));
        }
        *fits = *fits && sl_small_image_size(small->image) <= small->max_bytes;
    }
    return SILT_OK;
}

/* ---- data files ---- */

static bool data_fits(const silt_parquet_write *request)
{
    if (request->size != sizeof(*request) || request->keep_partition_columns || request->random_prefix_length > 0 ||
        request->schema->root.n_fields == 0 || !codec_is_known(request->codec)) {
        return false;
    }
    const struct silt_type *names = request->logical != NULL ? &request->logical->root : &request->schema->root;
    for (size_t i = 0; i < request->schema->root.n_fields; i++) {
        if (names->n_fields != request->schema->root.n_fields ||
            !sl_small_type_is_known(request->schema->root.fields[i].type) ||
            !sl_small_type_is_known(names->fields[i].type) ||
            sl_field_meta_text(&names->fields[i], SL_STR("__CHAR_VARCHAR_TYPE_STRING")).ptr != NULL) {
            return false;
        }
    }
    return true;
}

/* The columns of the file. */
static const struct silt_type *columns_of(const struct small *small, const silt_parquet_write *request)
{
    return request->n_partition_columns > 0 ? &small->part.data : &request->schema->root;
}

/* Columns that must not be null: the data plane names the one that is. */
static bool holds_required(const struct small *small, const silt_parquet_write *request)
{
    const silt_schema *names = request->logical != NULL ? request->logical : request->schema;
    size_t at = 0; /* in the file */
    for (size_t i = 0; i < names->root.n_fields; i++) {
        if (request->n_partition_columns > 0 && small->part.is_key[i]) {
            continue; /* looked at with its value */
        }
        const struct sl_small_column *column = sl_small_image_column(small->image, at++);
        if (!names->root.fields[i].nullable && column->n_values != column->n_entries) {
            return false;
        }
    }
    return true;
}

static silt_status fill_stats(struct small *small, const silt_parquet_write *request, silt_written_file *file,
                              silt_error *err)
{
    const struct silt_type *root = columns_of(small, request);
    silt_column_stats *stats = sl_arena_alloc_array(&small->arena, root->n_fields, sizeof(*stats));
    const char **names = sl_arena_alloc_array(&small->arena, root->n_fields, sizeof(*names));
    if (stats == NULL || names == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        const struct sl_small_column *column = sl_small_image_column(small->image, i);
        names[i] = root->fields[i].name.ptr;
        stats[i] = (silt_column_stats){.path = &names[i],
                                       .path_len = 1,
                                       .null_count = column->n_entries - column->n_values,
                                       .has_min = column->has_bounds,
                                       .has_max = column->has_bounds,
                                       .min = column->min,
                                       .max = column->max};
    }
    file->stats = stats;
    file->n_stats = root->n_fields;
    return SILT_OK;
}

/* When a file was modified. A store far away is not asked, which would be a round more: our clock is as good for what the log says of it. */
static silt_status take_time(struct small *small, silt_storage *storage, const char *path, int64_t *size_bytes,
                             int64_t *modified_ms, silt_error *err)
{
    if (!sl_storage_is_far(storage, path)) {
        return silt_storage_stat(storage, small->call, path, size_bytes, modified_ms, err);
    }
    *size_bytes = (int64_t)small->bytes.len;
    *modified_ms = sl_now_ms(small->env);
    return SILT_OK;
}

/* Nobody knows of the name: that it is replaced if it is there makes no difference, and a store may try again. */
static silt_status put_data(struct small *small, const silt_parquet_write *request, const char *path,
                            silt_written_file *file, silt_error *err)
{
    int64_t size_bytes = 0;
    SL_TRY(silt_storage_put_fresh(request->storage, small->call, path, small->bytes.data, small->bytes.len, err));
    SL_TRY(take_time(small, request->storage, path, &size_bytes, &file->modified_ms, err));
    if (size_bytes != file->size_bytes) {
        return sl_fail(err, SILT_EIO, NULL, "file %s has %lld bytes, but %lld were written", file->path,
                       (long long)size_bytes, (long long)file->size_bytes);
    }
    return request->on_file(request->on_file_ctx, file) ? SILT_OK : sl_fail_nomem(err);
}

/* A prefix that ends in '/' is a folder above those of the partition; another one begins the file's own name. */
static silt_status make_name(struct small *small, const silt_parquet_write *request, silt_written_file *file,
                             silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    struct sl_buf name;
    SL_TRY(sl_uuid_make(small->env, uuid, err));
    const struct sl_str prefix = sl_str_from(request->path_prefix != NULL ? request->path_prefix : "");
    const bool folder = sl_str_ends_with(prefix, SL_STR("/"));
    sl_buf_init(&name, small->env);
    sl_buf_put_str(&name, folder ? prefix : SL_STR(""));
    if (request->n_partition_columns > 0) {
        sl_small_part_put_folders(&small->part, &name);
        file->partition_values = small->part.values;
        file->n_partition_values = request->n_partition_columns;
    }
    sl_buf_put_str(&name, folder ? SL_STR("") : prefix);
    sl_buf_printf(&name, "part-00000-%s-c000.parquet", uuid);
    silt_status status = sl_buf_status(&name, err);
    if (status == SILT_OK) {
        file->path = sl_arena_strdup(&small->arena, sl_buf_view(&name));
        status = file->path != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&name);
    return status;
}

static silt_status write_data(struct small *small, const silt_parquet_write *request, silt_error *err)
{
    silt_written_file file = {
        .size = sizeof(file), .size_bytes = (int64_t)small->bytes.len, .num_rows = sl_small_image_rows(small->image)};
    SL_TRY(fill_stats(small, request, &file, err));
    SL_TRY(make_name(small, request, &file, err));
    const char *path = sl_uri_join(&small->arena, sl_str_from(request->dir), sl_str_from(file.path)).ptr;
    if (path == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_status status = put_data(small, request, path, &file, err);
    silt_error untold = SILT_ERROR_INIT;
    /* Without the call: a cancelled write is cleaned up, too. Removing what is not there does no harm. */
    if (status != SILT_OK && silt_storage_remove(request->storage, NULL, path, &untold) != SILT_OK) {
        sl_log(small->env, SILT_LOG_WARN, "a file of a failed write stays behind: %s", untold.message);
    }
    return status;
}

/* *done false: it is no small write after all. */
static silt_status try_data(struct small *small, const silt_parquet_write *request, bool *done, silt_error *err)
{
    const bool parted = request->n_partition_columns > 0;
    bool fits = true;
    if (parted) {
        SL_TRY(sl_small_part_open(&small->part, &small->arena, request, &small->rows.schema, &fits, err));
    }
    if (fits) {
        SL_TRY(draw(small, columns_of(small, request), &fits, err));
    }
    if (fits && parted && sl_small_image_rows(small->image) > 0) {
        SL_TRY(sl_small_part_finish(&small->part, &fits, err));
    }
    if (!fits || !holds_required(small, request)) {
        return SILT_OK;
    }
    *done = true;
    if (sl_small_image_rows(small->image) == 0) {
        return SILT_OK;
    }
    SL_TRY(sl_small_image_finish(small->image, &small->bytes, err));
    if (request->target_file_size > 0 && (int64_t)small->bytes.len > request->target_file_size) {
        *done = false;
        return SILT_OK;
    }
    return write_data(small, request, err);
}

silt_status sl_small_write(const silt_env *env, const silt_call *call, const silt_parquet_write *request,
                           struct ArrowArrayStream *rows, bool *done, silt_error *err)
{
    struct small small;
    *done = false;
    if (!data_fits(request)) {
        return SILT_OK;
    }
    begin(&small, env, call);
    small.max_rows = MAX_DATA_ROWS;
    small.max_bytes = MAX_DATA_BYTES;
    silt_status status = sl_small_rows_open(env, rows, &small.rows, err);
    if (status == SILT_OK) {
        status = try_data(&small, request, done, err);
    }
    if (status == SILT_OK && !*done) {
        status = sl_small_rows_rewind(&small.rows, rows, err);
    }
    end(&small);
    return status;
}

/* ---- a file of a given name ---- */

static silt_status put_file(struct small *small, silt_parquet_write_file *request, silt_error *err)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error found = SILT_ERROR_INIT;
    int64_t size_bytes = 0;
    SL_TRY(silt_storage_put_if_absent(request->storage, small->call, request->path, small->bytes.data, small->bytes.len,
                                      &outcome, err));
    if (outcome == SILT_PUT_EXISTS) {
        return sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
    }
    if (outcome != SILT_PUT_DONE) {
        return sl_fail(err, SILT_EIO, NULL, "it is not known whether the file is there");
    }
    request->size_bytes = (int64_t)small->bytes.len;
    /* The file is there: that its time cannot be learned must not read as a failure. Far away it is not asked for, as in take_time. */
    if (sl_storage_is_far(request->storage, request->path) ||
        silt_storage_stat(request->storage, NULL, request->path, &size_bytes, &request->modified_ms, &found) !=
            SILT_OK) {
        request->modified_ms = sl_now_ms(small->env);
    }
    return SILT_OK;
}

static silt_status try_file(struct small *small, silt_parquet_write_file *request, bool *done, silt_error *err)
{
    silt_schema *schema = NULL;
    bool fits = false;
    if (silt_schema_from_arrow(small->env, &small->rows.schema, &schema, NULL) != SILT_OK) {
        return SILT_OK;
    }
    silt_status status = draw(small, &schema->root, &fits, err);
    if (status == SILT_OK && fits) {
        *done = true;
        status = sl_small_image_finish(small->image, &small->bytes, err);
    }
    if (status == SILT_OK && fits) {
        status = put_file(small, request, err);
    }
    sl_small_image_close(small->image);
    small->image = NULL; /* it looks at the schema */
    silt_schema_unref(schema);
    return status;
}

silt_status sl_small_write_file(const silt_env *env, const silt_call *call, silt_parquet_write_file *request,
                                struct ArrowArrayStream *rows, bool *done, silt_error *err)
{
    struct small small;
    *done = false;
    if (request->size != sizeof(*request) || !codec_is_known(request->codec)) {
        return SILT_OK;
    }
    begin(&small, env, call);
    small.max_rows = MAX_FILE_ROWS;
    small.max_bytes = MAX_FILE_BYTES;
    silt_status status = sl_small_rows_open(env, rows, &small.rows, err);
    if (status == SILT_OK) {
        status = try_file(&small, request, done, err);
    }
    if (status == SILT_OK && !*done) {
        status = sl_small_rows_rewind(&small.rows, rows, err);
    }
    end(&small);
    return status;
}
