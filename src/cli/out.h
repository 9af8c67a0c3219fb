/*
 * Where results go: standard output or a file, buffered. A reader that went away is no error: what follows is dropped, and callers stop when
 * they see sl_out_is_broken. A file appears under its name only when all was written.
 */
#ifndef SL_CLI_OUT_H
#define SL_CLI_OUT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "silt/status.h"

struct sl_progress_bar;

/* Class of errors about the place where a result goes. */
#define SL_OUTPUT_CODE "SILT_OUTPUT"

struct sl_out {
    struct sl_buf buf; /* append here, then call sl_out_step */
    int fd;
    bool is_terminal;
    int write_errno;                  /* of the write that failed, 0 if none */
    struct sl_progress_bar *progress; /* wiped before anything is written to a terminal */
    const char *path;                 /* of the file; NULL for standard output */
    const char *temp_path;            /* what is written until then; NULL: written in place */
};

void sl_out_init(struct sl_out *out, const silt_env *env, struct sl_progress_bar *progress);
/* Writes to a file from now on. */
silt_status sl_out_open_file(struct sl_out *out, struct sl_arena *arena, const char *path, silt_error *err);
/* Writes the buffer if it is large; call it after each row. */
void sl_out_step(struct sl_out *out);
void sl_out_flush(struct sl_out *out);
/* Writing has become pointless. */
bool sl_out_is_broken(const struct sl_out *out);
/* Nobody reads any more: not a failure, but the end. */
bool sl_out_is_abandoned(const struct sl_out *out);
/*
 * Writes the rest and, if keep, gives the file its name; else removes it. Reports a write that failed, except to a reader that
 * went away. The struct is released.
 */
silt_status sl_out_close(struct sl_out *out, bool keep, silt_error *err);

#endif
