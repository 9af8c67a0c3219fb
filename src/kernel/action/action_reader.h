/*
 * Reading many lines of actions: plain text borrows from the lines' own bytes, and what a single call would set up anew each time
 * is kept. The common lines (known members, whatever their order; plain numbers) are read in one pass over the bytes; every
 * other one goes through the parser of sl_action_parse, with the very same result. Used by log/. One thread a reader.
 */
#ifndef SL_KERNEL_ACTION_READER_H
#define SL_KERNEL_ACTION_READER_H

#include "kernel/action/action.h"

#define SL_ACTION_KINDS SL_ACTION_UNKNOWN

struct sl_shape;

struct sl_action_reader {
    const silt_env *env;
    struct sl_arena *arena;       /* of what is no plain text */
    const struct sl_shape *shape; /* of the action that came last: the next is probably alike */
    char *text;                   /* room for decoded text */
    size_t text_left;
    size_t n_general;                        /* lines that took the general way */
    uint32_t ready;                          /* which of those below are made */
    uint32_t required[SL_ACTION_KINDS];      /* bits of the members that must be there */
    struct sl_action blank[SL_ACTION_KINDS]; /* all members absent */
};

/* Allocates nothing. Text of actions lives as long as the arena and the bytes that lines are read from. */
void sl_action_reader_init(struct sl_action_reader *reader, const silt_env *env, struct sl_arena *arena);
/* The arena was released: what the reader had there is gone. */
void sl_action_reader_renew(struct sl_action_reader *reader);

/*
 * Reads the next line off *rest that is not blank. *done: there is none. *line counts lines, blank ones too. Errors as
 * sl_action_parse.
 */
silt_status sl_action_reader_next(struct sl_action_reader *reader, struct sl_str *rest, size_t *line,
                                  struct sl_action *out, bool *done, silt_error *err);

/*
 * The fast way alone: true if the line was taken. `limit`: bytes up to there may be looked at. A line that was not taken
 * may be valid or not; *out is then undefined.
 */
bool sl_action_read_plain(struct sl_action_reader *reader, struct sl_str line, const char *limit,
                          struct sl_action *out);

#endif
