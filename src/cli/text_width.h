/*
 * How much room text takes on a terminal. The C library knows it in a UTF-8 locale only: call sl_text_use_utf8 before.
 */
#ifndef SL_CLI_TEXT_WIDTH_H
#define SL_CLI_TEXT_WIDTH_H

#include "base/arena.h"
#include "base/str.h"

/* Sets the process's character type to UTF-8, the user's own if that is one. Without it all characters count as one cell. */
void sl_text_use_utf8(void);

/* Cells of text made by sl_text_displayable. */
size_t sl_text_width(struct sl_str text);
/* Byte length of the longest beginning that takes at most `cells`; *used: what it takes. */
size_t sl_text_fit(struct sl_str text, size_t cells, size_t *used);
/*
 * The text with control characters and broken UTF-8 made visible (\n, \t, \x1b), so that a cell stays on its line and cannot talk to
 * the terminal. The text itself if there is nothing to do; ptr NULL when out of memory.
 */
struct sl_str sl_text_displayable(struct sl_arena *arena, struct sl_str text);

#endif
