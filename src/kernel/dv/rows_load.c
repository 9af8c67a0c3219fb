/*
 * Loading the vectors of many files. Vectors that are inline are opened at once; the others are sorted by vector file and offset, so
 * that neighbours come with one read and the reads of a batch with one call of the store, each vector file once with its version
 * byte. A batch is bounded in bytes: what was read is released as soon as its sets are made.
 *
 * Called by engines through silt_rows_load and by the kernel's own reading path. Any thread; no state.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/dv/rows_int.h"
#include "kernel/engine/engine.h"

/* Vectors less far apart than this come with one read. */
#define MAX_GAP INT64_C(65536)
/* A read stops growing at this size, and a batch takes no more once it has that many bytes or reads. */
#define MAX_READ_BYTES (INT64_C(16) << 20)
#define MAX_BATCH_BYTES (INT64_C(64) << 20)
#define MAX_BATCH_READS 256

#define NO_READ SIZE_MAX

/* A vector in a vector file that is still to be read. */
struct wanted {
    const silt_deletion_vector *dv;
    const silt_rows_request *request;
    struct sl_dv_set *set; /* to be filled */
    size_t read;           /* place of its bytes in the batch */
    size_t head;           /* of its file's version byte; NO_READ: an earlier batch had it */
};

struct loader {
    silt_storage *storage;
    const silt_env *env;
    const silt_call *call;
    struct sl_vec wanted; /* struct wanted, sorted */
    struct sl_vec reads;  /* silt_read_request of the batch under way */
    int64_t bytes;        /* that those ask for */
};

static silt_status with_context(silt_status status, const silt_deletion_vector *dv, const silt_rows_request *request,
                                silt_error *err)
{
    if (dv->storage_type == 'i') {
        sl_error_context(err, "inline deletion vector of file %s", request->file);
    } else {
        sl_error_context(err, "deletion vector at %" PRId64 " of %s, of file %s", dv->offset, dv->path, request->file);
    }
    sl_error_path(err, dv->storage_type == 'i' ? request->file : dv->path);
    return status;
}

static silt_status check_vector(const silt_deletion_vector *dv, silt_error *err)
{
    const bool is_inline = dv->storage_type == 'i';
    if ((is_inline ? dv->inline_data : dv->path) == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a deletion vector has no text that says where it is");
    }
    if (!is_inline && (dv->offset < 0 || dv->size_in_bytes < 0 || dv->size_in_bytes > SL_DV_MAX_SIZE ||
                       dv->offset > INT64_MAX - SL_DV_MAX_SIZE - SL_DV_FRAME_HEAD - SL_DV_FRAME_TAIL)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "its offset or size is out of range");
    }
    return SILT_OK;
}

static silt_status want_vector(struct loader *loader, const silt_rows_request *request, const silt_deletion_vector *dv,
                               struct sl_dv_set *set, silt_error *err)
{
    silt_status status = check_vector(dv, err);
    if (status == SILT_OK && dv->storage_type == 'i') {
        status = sl_dv_open(loader->env, dv, (struct sl_str){NULL, 0}, request->num_records, set, err);
    } else if (status == SILT_OK) {
        struct wanted *wanted = sl_vec_push(&loader->wanted);
        if (wanted == NULL) {
            return sl_fail_nomem(err);
        }
        *wanted = (struct wanted){.dv = dv, .request = request, .set = set};
    }
    return status == SILT_OK ? SILT_OK : with_context(status, dv, request, err);
}

static silt_status want_rows(struct loader *loader, const silt_rows_request *request, silt_rows **out, silt_error *err)
{
    if (request->deleted == NULL && request->selected == NULL) {
        return SILT_OK;
    }
    silt_rows *rows = sl_alloc_zero(loader->env, sizeof(*rows));
    if (rows == NULL) {
        return sl_fail_nomem(err);
    }
    *out = rows;
    rows->env = loader->env;
    rows->has_selected = request->selected != NULL;
    rows->deleted.last = -1;
    rows->selected.last = -1;
    if (request->deleted != NULL) {
        SL_TRY(want_vector(loader, request, request->deleted, &rows->deleted, err));
    }
    return request->selected != NULL ? want_vector(loader, request, request->selected, &rows->selected, err) : SILT_OK;
}

/* ---- reads ---- */

static int compare_wanted(const void *a, const void *b)
{
    const silt_deletion_vector *x = ((const struct wanted *)a)->dv;
    const silt_deletion_vector *y = ((const struct wanted *)b)->dv;
    const int by_path = strcmp(x->path, y->path);
    if (by_path != 0) {
        return by_path;
    }
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int64_t frame_end(const silt_deletion_vector *dv)
{
    return dv->offset + SL_DV_FRAME_HEAD + dv->size_in_bytes + SL_DV_FRAME_TAIL;
}

/* Grows the batch's last read to hold the vector, if both are of one file and near each other. */
static bool extend_read(struct loader *loader, const silt_deletion_vector *dv)
{
    silt_read_request *last = loader->reads.len > 0 ? sl_vec_at(&loader->reads, loader->reads.len - 1) : NULL;
    if (last == NULL || strcmp(last->path, dv->path) != 0) {
        return false;
    }
    const int64_t length = frame_end(dv) - last->offset;
    if (dv->offset - (last->offset + last->length) > MAX_GAP || length > MAX_READ_BYTES) {
        return false;
    }
    if (length > last->length) {
        loader->bytes += length - last->length;
        last->length = length;
    }
    return true;
}

static silt_status add_read(struct loader *loader, const char *path, int64_t offset, int64_t length, silt_error *err)
{
    silt_read_request *read = sl_vec_push(&loader->reads);
    if (read == NULL) {
        return sl_fail_nomem(err);
    }
    *read = (silt_read_request){.path = path, .offset = offset, .length = length};
    loader->bytes += length;
    return SILT_OK;
}

/* Plans the reads of a batch that begins at vector `from`; *to is behind its last. */
static silt_status plan_batch(struct loader *loader, size_t from, size_t *to, silt_error *err)
{
    loader->bytes = 0;
    size_t head = NO_READ;
    size_t i = from;
    for (; i < loader->wanted.len; i++) {
        if (i > from && (loader->reads.len >= MAX_BATCH_READS || loader->bytes >= MAX_BATCH_BYTES)) {
            break;
        }
        struct wanted *wanted = sl_vec_at(&loader->wanted, i);
        const silt_deletion_vector *dv = wanted->dv;
        const struct wanted *before = i > 0 ? sl_vec_at(&loader->wanted, i - 1) : NULL;
        if (before == NULL || strcmp(before->dv->path, dv->path) != 0) {
            head = loader->reads.len;
            SL_TRY(add_read(loader, dv->path, 0, 1, err)); /* the version byte */
        }
        if (!extend_read(loader, dv)) {
            SL_TRY(add_read(loader, dv->path, dv->offset, frame_end(dv) - dv->offset, err));
        }
        wanted->read = loader->reads.len - 1;
        wanted->head = head;
    }
    *to = i;
    return SILT_OK;
}

static void keep_answer(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request; /* looked at when the batch is complete */
}

static void release_reads(struct loader *loader)
{
    for (size_t i = 0; i < loader->reads.len; i++) {
        silt_read_request_release(loader->storage, sl_vec_at(&loader->reads, i));
    }
    loader->reads.len = 0;
}

static silt_status check_read(const silt_read_request *read, silt_error *err)
{
    if (read->status == SILT_OK) {
        return SILT_OK;
    }
    if (read->status == SILT_ENOTFOUND) {
        return sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND", "the vector file is missing");
    }
    return sl_fail(err, read->status, NULL, "the vector file cannot be read: %s", silt_status_name(read->status));
}

/* Opens one vector from the read that holds it. */
static silt_status open_wanted(const struct loader *loader, const struct wanted *wanted, silt_error *err)
{
    const silt_deletion_vector *dv = wanted->dv;
    const silt_read_request *read = sl_vec_at(&loader->reads, wanted->read);
    if (wanted->head != NO_READ) {
        const silt_read_request *head = sl_vec_at(&loader->reads, wanted->head);
        SL_TRY(check_read(head, err));
        SL_TRY(sl_dv_check_version(sl_str_make(head->data, head->data_len), err));
    }
    SL_TRY(check_read(read, err));
    const struct sl_str bytes = sl_str_make(read->data, read->data_len);
    const size_t skip = (size_t)(dv->offset - read->offset);
    const struct sl_str frame = skip < bytes.len ? sl_str_sub(bytes, skip, bytes.len) : (struct sl_str){NULL, 0};
    return sl_dv_open(loader->env, dv, frame, wanted->request->num_records, wanted->set, err);
}

static silt_status load_batch(struct loader *loader, size_t from, size_t to, silt_error *err)
{
    SL_TRY(silt_storage_read_many(loader->storage, loader->call, loader->reads.data, loader->reads.len, keep_answer,
                                  NULL, err));
    for (size_t i = from; i < to; i++) {
        const struct wanted *wanted = sl_vec_at(&loader->wanted, i);
        const silt_status status = open_wanted(loader, wanted, err);
        if (status != SILT_OK) {
            return with_context(status, wanted->dv, wanted->request, err);
        }
    }
    return SILT_OK;
}

static silt_status load_wanted(struct loader *loader, silt_error *err)
{
    if (loader->wanted.len > 1) {
        qsort(loader->wanted.data, loader->wanted.len, sizeof(struct wanted), compare_wanted);
    }
    silt_status status = SILT_OK;
    for (size_t from = 0, to = 0; from < loader->wanted.len && status == SILT_OK; from = to) {
        status = plan_batch(loader, from, &to, err);
        if (status == SILT_OK) {
            status = load_batch(loader, from, to, err);
        }
        release_reads(loader);
        sl_call_progress(loader->call, "reading deletion vectors", (int64_t)to, (int64_t)loader->wanted.len);
    }
    return status;
}

silt_status silt_rows_load(silt_storage *storage, const silt_call *call, const silt_rows_request *requests, size_t n,
                           silt_rows **out, silt_error *err)
{
    for (size_t i = 0; i < n && out != NULL; i++) {
        out[i] = NULL;
    }
    if (storage == NULL || (n > 0 && (requests == NULL || out == NULL))) {
        return sl_fail(err, SILT_EINVALID, NULL, "a store, requests and a place for rows are required");
    }
    struct loader loader = {.storage = storage, .env = sl_storage_env(storage), .call = call};
    sl_vec_init(&loader.wanted, loader.env, sizeof(struct wanted));
    sl_vec_init(&loader.reads, loader.env, sizeof(silt_read_request));
    silt_status status = SILT_OK;
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        status = want_rows(&loader, &requests[i], &out[i], err);
    }
    if (status == SILT_OK) {
        status = load_wanted(&loader, err);
    }
    sl_vec_release(&loader.wanted);
    sl_vec_release(&loader.reads);
    for (size_t i = 0; i < n && status != SILT_OK; i++) {
        silt_rows_free(out[i]);
        out[i] = NULL;
    }
    return status;
}
