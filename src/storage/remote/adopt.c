/*
 * Taking over a finished local file: its bytes are read and sent. See adopt.h.
 */
#include "storage/remote/adopt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"

#define UNITS_AT_ONCE 4 /* as many as stores send side by side */

silt_status sl_adopt_open(struct sl_adopt *adopt, silt_error *err)
{
    struct stat found = {0};
    adopt->fd = open(adopt->local, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (adopt->fd < 0) {
        return sl_fail_errno(err, errno, "open", adopt->local);
    }
    silt_status status = SILT_OK;
    if (fstat(adopt->fd, &found) != 0) {
        status = sl_fail_errno(err, errno, "look at", adopt->local);
    } else if (!S_ISREG(found.st_mode)) {
        status = sl_fail(err, SILT_EINVALID, NULL, "%s is not a regular file", adopt->local);
    }
    adopt->size = (int64_t)found.st_size;
    if (status != SILT_OK) {
        (void)close(adopt->fd); /* read only: there is nothing to lose */
        adopt->fd = -1;
    }
    return status;
}

static silt_status read_at(const struct sl_adopt *adopt, int64_t offset, char *out, size_t n, silt_error *err)
{
    while (n > 0) {
        const ssize_t got = pread(adopt->fd, out, n, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return sl_fail_errno(err, errno, "read", adopt->local);
        }
        if (got == 0) {
            return sl_fail(err, SILT_EIO, NULL, "%s became shorter while it was read", adopt->local);
        }
        out += got;
        offset += got;
        n -= (size_t)got;
    }
    return SILT_OK;
}

/* All but the last bytes, which are no more than one unit. */
static silt_status send_units(struct sl_adopt *adopt, char *block, size_t room, int64_t *offset, silt_error *err)
{
    while (adopt->size - *offset > (int64_t)adopt->unit) {
        const int64_t whole = (adopt->size - *offset - 1) / (int64_t)adopt->unit * (int64_t)adopt->unit;
        const size_t most = room / adopt->unit * adopt->unit;
        const size_t n = whole < (int64_t)most ? (size_t)whole : most;
        if (n == 0) {
            return sl_fail(err, SILT_ELIMIT, NULL, "%s is too large for an upload", adopt->local);
        }
        SL_TRY(read_at(adopt, *offset, block, n, err));
        SL_TRY(adopt->slots->append(adopt->impl, adopt->call, adopt->upload, block, n, &adopt->unit, err));
        *offset += (int64_t)n;
        sl_call_progress(adopt->call, "sending", *offset, adopt->size);
    }
    return SILT_OK;
}

static silt_status send_all(struct sl_adopt *adopt, silt_error *err)
{
    const size_t most = UNITS_AT_ONCE * adopt->unit;
    const size_t room = adopt->size < (int64_t)most ? (size_t)adopt->size : most;
    char *block = sl_alloc(adopt->env, room > 0 ? room : 1);
    silt_status status = block != NULL ? SILT_OK : sl_fail_nomem(err);
    int64_t offset = 0;
    if (status == SILT_OK) {
        status = send_units(adopt, block, room, &offset, err);
    }
    const size_t rest = (size_t)(adopt->size - offset);
    if (status == SILT_OK) {
        status = read_at(adopt, offset, block, rest, err);
    }
    if (status == SILT_OK) {
        status = adopt->slots->finish(adopt->impl, adopt->call, adopt->upload, block, rest, err);
    } else {
        adopt->slots->abort(adopt->impl, adopt->upload);
    }
    sl_release(adopt->env, block, room > 0 ? room : 1);
    return status;
}

silt_status sl_adopt_send(struct sl_adopt *adopt, silt_status begun, silt_error *err)
{
    const silt_status status = begun == SILT_OK ? send_all(adopt, err) : begun;
    (void)close(adopt->fd); /* read only: there is nothing to lose */
    if (status == SILT_OK && unlink(adopt->local) != 0) {
        sl_log(adopt->env, SILT_LOG_WARN, "cannot remove %s (errno %d)", adopt->local, errno);
    }
    return status;
}
