/*
 * Reading texts of statements from files and from standard input.
 */
#ifndef SL_CLI_INPUT_H
#define SL_CLI_INPUT_H

#include "base/buf.h"
#include "silt/status.h"

/* Appends a whole file; "-" is standard input. */
silt_status sl_input_read(const char *path, struct sl_buf *out, silt_error *err);

#endif
