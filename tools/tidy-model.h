/*
 * What clang-tidy must know about functions that it cannot see into: reporting an error returns the error, never
 * SILT_OK. Without it every `return sl_fail(...)` looks like a possible success with outputs unset. tools/tidy
 * includes this file ahead of each source; no build does.
 */
#ifndef SL_TIDY_MODEL_H
#define SL_TIDY_MODEL_H

#include "base/error.h"

#define sl_fail(err, status, ...) ((void)sl_fail((err), (status), __VA_ARGS__), (status))
#define sl_fail_nomem(err) ((void)sl_fail_nomem(err), SILT_ENOMEM)
#define sl_fail_errno(...) ((void)sl_fail_errno(__VA_ARGS__), SILT_EIO)

#endif
