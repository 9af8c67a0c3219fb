/*
 * Whole files into memory; see input.h.
 */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/signals.h"

#define CHUNK ((size_t)64 * 1024)
#define MAX_BYTES ((size_t)1 << 30)

static silt_status fail_input(silt_error *err, int errnum, const char *path)
{
    const silt_status status = sl_fail_errno(err, errnum, "read", path);
    /* a text of statements is no store of tables: a plain failure */
    return status == SILT_ENOTFOUND ? status : sl_fail(err, SILT_EINVALID, NULL, "%s cannot be read", path);
}

silt_status sl_input_read(const char *path, struct sl_buf *out, silt_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    silt_status status = SILT_OK;
    ssize_t n = 1;

    if (fd < 0) {
        return fail_input(err, errno, path);
    }
    while (status == SILT_OK && n > 0) {
        char *room = sl_buf_reserve(out, CHUNK);
        if (room == NULL) {
            status = sl_buf_status(out, err);
            break;
        }
        n = read(fd, room, CHUNK);
        if (n < 0 && errno == EINTR && *sl_signals_cancel_flag() == 0) {
            n = 1;
        } else if (n < 0) {
            status = fail_input(err, errno, is_stdin ? "standard input" : path);
        } else {
            out->len += (size_t)n;
        }
        if (out->len > MAX_BYTES) {
            status = sl_fail(err, SILT_ELIMIT, NULL, "more than %zu bytes of statements", MAX_BYTES);
        }
    }
    if (!is_stdin) {
        (void)close(fd); /* nothing was written to it */
    }
    return status;
}
