/* The size of a file of the log; see log_size.h. */
#include "kernel/log/log_size.h"

#include <inttypes.h>

#include "base/error.h"

silt_status sl_log_size_compare(const char *path, int64_t listed, int64_t size, silt_error *err)
{
    if (listed < 0 || listed == size) {
        return SILT_OK;
    }
    (void)sl_fail(err, SILT_EIO, NULL, "the store gave %" PRId64 " bytes of %s, which was listed with %" PRId64, size,
                  path, listed);
    sl_error_path(err, path);
    return SILT_EIO;
}

/* What a range means of a file of that size. Ranges from the end are not read of files of the log whose size is known. */
static int64_t bytes_of_range(const silt_read_request *answer, int64_t size)
{
    const int64_t left = answer->offset < size ? size - answer->offset : 0;
    return answer->length >= 0 && answer->length < left ? answer->length : left;
}

silt_status sl_log_size_check(const silt_read_request *answer, int64_t listed, silt_error *err)
{
    const int64_t got = (int64_t)answer->data_len;
    if (listed < 0) {
        return SILT_OK;
    }
    if (answer->file_size >= 0) {
        SL_TRY(sl_log_size_compare(answer->path, listed, answer->file_size, err));
    }
    /* Where the store does not tell the file's size, what came tells where it ends. */
    return got == bytes_of_range(answer, listed) ? SILT_OK
                                                 : sl_log_size_compare(answer->path, listed, answer->offset + got, err);
}
