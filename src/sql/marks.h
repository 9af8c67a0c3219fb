/*
 * Numbered parameters in parts of a statement. The data plane binds the numbers 1 to n without a gap; a part that runs by itself, or a
 * statement that a part was taken out of, may lack some. Conditions that are always true name those. Pure; any thread.
 */
#ifndef SL_SQL_MARKS_H
#define SL_SQL_MARKS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* The highest number of a parameter ($3) in a spelled text; 0 if it has none, or only named ones. */
size_t sl_marks_highest(struct sl_str spelled);
/* Appends " WHERE …" that names the parameters 1 to `highest`; nothing for 0. */
void sl_marks_put(struct sl_buf *out, size_t highest);

#endif
