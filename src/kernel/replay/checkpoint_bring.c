/*
 * Rounds for checkpoints; see checkpoint_bring.h.
 */
#include "kernel/replay/checkpoint_bring.h"

#include "base/error.h"
#include "kernel/engine/engine.h"

/* Files that are together no larger come whole: so much takes no longer than a round does. */
#define WHOLE_BYTES (INT64_C(4) << 20)
/* What holds most footers. */
#define END_BYTES (INT64_C(64) << 10)
/* Of so many files at most; of the others, up to the limit, as much as tells their sizes. */
#define MAX_ENDS 64
#define SIZE_BYTES 8
#define MAX_FILES 4096
/* Of larger checkpoints the state is read first, while the adds are still coming. */
#define MAX_ADDS_BYTES (INT64_C(64) << 20)

static int64_t sum_of(const silt_parquet_file *files, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum = files[i].size_bytes < 0 || files[i].size_bytes > INT64_MAX - sum ? INT64_MAX : sum + files[i].size_bytes;
    }
    return sum;
}

silt_status sl_checkpoint_want(const silt_parquet_file *files, size_t n, struct sl_vec *wants, silt_error *err)
{
    const bool whole = sum_of(files, n) <= WHOLE_BYTES;
    for (size_t i = 0; i < n && n <= MAX_FILES; i++) {
        struct sl_early_want *want = sl_vec_push(wants);
        if (want == NULL) {
            return sl_fail_nomem(err);
        }
        *want = (struct sl_early_want){.path = files[i].path,
                                       .size_bytes = files[i].size_bytes,
                                       .end_bytes = whole          ? files[i].size_bytes
                                                    : i < MAX_ENDS ? END_BYTES
                                                                   : SIZE_BYTES};
    }
    return SILT_OK;
}

/* Is there one that did not come whole, and of which the store tells versions apart, so that what the engine brings stays? */
static bool is_worth_it(const struct sl_checkpoint_bringing *bringing)
{
    const int64_t sum = sum_of(bringing->files, bringing->n_files);
    int64_t size_bytes = 0;
    bool has_tag = false;
    return bringing->early != NULL && bringing->n_files > 0 && sum > WHOLE_BYTES &&
           (sum <= MAX_ADDS_BYTES || (bringing->what & SL_BRING_ADDS) == 0) &&
           sl_early_knows(bringing->early, sl_str_from(bringing->files[0].path), &size_bytes, &has_tag) && has_tag;
}

silt_status sl_checkpoint_bring(const struct sl_checkpoint_bringing *bringing, const silt_call *call, silt_error *err)
{
    static const char *const columns[] = {"protocol", "metaData",           "txn", "domainMetadata",
                                          "sidecar",  "checkpointMetadata", "add"};
    const size_t n_state = sizeof(columns) / sizeof(columns[0]) - 1;
    if (!is_worth_it(bringing)) {
        return SILT_OK;
    }
    const bool state = (bringing->what & SL_BRING_STATE) != 0;
    const silt_parquet_bring request = {.size = sizeof(request),
                                        .storage = bringing->source->storage,
                                        .files = bringing->files,
                                        .n_files = bringing->n_files,
                                        .columns = columns + (state ? 0 : n_state),
                                        .n_columns = (state ? n_state : 0) +
                                                     ((bringing->what & SL_BRING_ADDS) != 0 ? 1 : 0)};
    const silt_status status = sl_parquet_bring(bringing->source->engine, call, &request, err);
    switch (status) {
    case SILT_EIO:
    case SILT_EACCESS:
    case SILT_ECANCELLED:
    case SILT_EDEADLINE:
    case SILT_ENOMEM: return status;
    default: break;
    }
    silt_error_reset(err); /* whoever reads the file says what is wrong with it */
    return SILT_OK;
}
