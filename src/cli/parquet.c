/*
 * The data plane writes Parquet to files only: into the file that --output is building, else into a temporary one, which is then
 * copied to where the result goes.
 */
#include "cli/parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/report_error.h"
#include "cli/run_sql.h"
#include "cli/sql_text.h"

#define CHUNK ((size_t)256 * 1024)

static silt_status make_temp(struct sl_cli *cli, char **path, silt_error *err)
{
    const char *dir = getenv("TMPDIR");
    *path = sl_arena_printf(&cli->arena, "%s/silt-XXXXXX", dir != NULL && dir[0] != '\0' ? dir : "/tmp");
    if (*path == NULL) {
        return sl_fail_nomem(err);
    }
    const int fd = mkstemp(*path);
    if (fd < 0) {
        return sl_fail_errno(err, errno, "create", *path);
    }
    (void)close(fd); /* only its name is needed */
    return SILT_OK;
}

static silt_status copy_out(struct sl_cli *cli, const char *path, silt_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    silt_status status = fd < 0 ? sl_fail_errno(err, errno, "read", path) : SILT_OK;
    ssize_t n = 1;

    while (status == SILT_OK && n > 0 && !sl_out_is_broken(&cli->out)) {
        char *room = sl_buf_reserve(&cli->out.buf, CHUNK);
        n = room != NULL ? read(fd, room, CHUNK) : 0;
        if (n < 0 && errno != EINTR) {
            status = sl_fail_errno(err, errno, "read", path);
        }
        cli->out.buf.len += n > 0 ? (size_t)n : 0;
        n = n < 0 ? 1 : n; /* interrupted: again */
        sl_out_flush(&cli->out);
    }
    if (fd >= 0) {
        (void)close(fd); /* only read from */
    }
    return status;
}

/* COPY (query) TO 'target'. The line break ends a comment at the query's end. */
static int run_copy(struct sl_cli *cli, struct sl_str query, size_t shown_begin, size_t shown_len, const char *target)
{
    static const char head[] = "COPY (";
    const struct sl_run_sql options = {.format = SL_FORMAT_CSV, .discard_rows = true};
    struct sl_run_sql placed = options;
    struct sl_buf sql;

    sl_buf_init(&sql, cli->env);
    sl_buf_put_c(&sql, head);
    sl_buf_put_str(&sql, query);
    sl_buf_put_c(&sql, "\n) TO ");
    sl_sql_put_string(&sql, sl_str_from(target));
    sl_buf_put_c(&sql, " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)");
    if (sl_buf_status(&sql, NULL) == SILT_OK) {
        placed.shown = sl_str_make(sl_buf_cstr(&sql) + sizeof(head) - 1 + shown_begin, shown_len);
    }
    const int code = sl_run_sql_buf(cli, &sql, &placed);
    sl_buf_release(&sql);
    return code;
}

int sl_parquet_run(struct sl_cli *cli, struct sl_str text, struct sl_str shown)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_str query;
    char *temp = NULL;
    int code = SL_EXIT_DONE;
    silt_status status = SILT_OK;

    if (cli->out.is_terminal) {
        status = sl_fail(&err, SILT_EINVALID, "SILT_USAGE", "Parquet is not for a terminal");
        sl_error_hint(&err, "name a file with -O FILE, or send the result into a pipe");
    }
    if (status == SILT_OK) {
        status = sl_sql_single(text, &query, &err);
    }
    if (status == SILT_OK && cli->out.temp_path == NULL) {
        status = make_temp(cli, &temp, &err);
    }
    if (status == SILT_OK) {
        /* `shown` starts within the query, whose beginning may have been trimmed */
        const size_t shown_begin = shown.ptr > query.ptr ? (size_t)(shown.ptr - query.ptr) : 0;
        const size_t shown_len = shown.ptr > query.ptr ? shown.len : query.len;
        code = run_copy(cli, query, shown_begin, shown_len, temp != NULL ? temp : cli->out.temp_path);
        if (code == SL_EXIT_DONE && temp != NULL) {
            status = copy_out(cli, temp, &err);
        }
    }
    if (temp != NULL) {
        (void)unlink(temp); /* it is in a folder for temporary files */
    }
    return status == SILT_OK ? code : sl_report_error(cli, &err, (struct sl_str){0});
}
