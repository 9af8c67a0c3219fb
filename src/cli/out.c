/*
 * Buffered output through write(2); see out.h.
 */
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/progress.h"

#define FLUSH_BYTES ((size_t)64 * 1024)
#define FILE_MODE 0666 /* less the umask */

void sl_out_init(struct sl_out *out, const silt_env *env, struct sl_progress_bar *progress)
{
    *out = (struct sl_out){.fd = STDOUT_FILENO, .progress = progress};
    sl_buf_init(&out->buf, env);
    out->is_terminal = isatty(STDOUT_FILENO) == 1;
}

static silt_status fail_output(silt_error *err, int errnum, const char *operation, const char *path)
{
    const silt_status status = sl_fail_errno(err, errnum, operation, path);
    if (err != NULL) {
        (void)snprintf(err->code_name, sizeof(err->code_name), "%s", SL_OUTPUT_CODE);
    }
    return status;
}

/* mkstemp makes files private; one that gets a name of its own has the usual mode. */
static void set_usual_mode(int fd)
{
    const mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, FILE_MODE & ~mask); /* a file system without modes is fine, too */
}

silt_status sl_out_open_file(struct sl_out *out, struct sl_arena *arena, const char *path, silt_error *err)
{
    struct stat info;
    const bool in_place = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    char *name = in_place ? sl_arena_strdup(arena, sl_str_from(path)) : sl_arena_printf(arena, "%s.XXXXXX", path);
    if (name == NULL) {
        return sl_fail_nomem(err);
    }
    const int fd = in_place ? open(name, O_WRONLY | O_CLOEXEC) : mkstemp(name);
    if (fd < 0) {
        const silt_status status = fail_output(err, errno, "open", path);
        sl_error_hint(err, "--output names the file to write the result to");
        return status;
    }
    if (!in_place) {
        set_usual_mode(fd);
    }
    out->fd = fd;
    out->path = path;
    out->temp_path = in_place ? NULL : name;
    out->is_terminal = isatty(fd) == 1;
    return SILT_OK;
}

bool sl_out_is_broken(const struct sl_out *out)
{
    return out->write_errno != 0 || out->buf.status != SILT_OK;
}

bool sl_out_is_abandoned(const struct sl_out *out)
{
    return out->write_errno == EPIPE;
}

void sl_out_flush(struct sl_out *out)
{
    size_t done = 0;

    if (out->buf.len > 0 && out->is_terminal) {
        sl_progress_wipe(out->progress);
    }
    while (done < out->buf.len && !sl_out_is_broken(out)) {
        const ssize_t n = write(out->fd, out->buf.data + done, out->buf.len - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno != EINTR) {
            out->write_errno = errno;
        }
    }
    if (out->buf.status == SILT_OK) {
        sl_buf_clear(&out->buf);
    }
}

void sl_out_step(struct sl_out *out)
{
    if (out->buf.len >= FLUSH_BYTES || out->buf.status != SILT_OK) {
        sl_out_flush(out);
    }
}

silt_status sl_out_close(struct sl_out *out, bool keep, silt_error *err)
{
    silt_status status;

    sl_out_flush(out);
    status = sl_buf_status(&out->buf, err);
    if (status == SILT_OK && out->write_errno != 0 && !sl_out_is_abandoned(out)) {
        status = fail_output(err, out->write_errno, "write", out->path != NULL ? out->path : "the result");
    }
    if (out->path != NULL && close(out->fd) != 0 && status == SILT_OK) {
        status = fail_output(err, errno, "write", out->path);
    }
    if (out->temp_path != NULL) {
        if (status == SILT_OK && keep && rename(out->temp_path, out->path) != 0) {
            status = fail_output(err, errno, "rename the result to", out->path);
        }
        if (status != SILT_OK || !keep) {
            (void)unlink(out->temp_path); /* there is no better place to report that it stays */
        }
    }
    sl_buf_release(&out->buf);
    out->fd = -1;
    out->path = NULL;
    out->temp_path = NULL;
    return status;
}
