/*
 * A piece of a file of actions: whole lines, read by one thread into a struct each. Pieces are what the lines of one file are read in
 * parallel by; they keep their memory from use to use. Used by log/ only. One thread a piece at a time.
 */
#ifndef SL_KERNEL_LOG_COMMIT_PIECE_H
#define SL_KERNEL_LOG_COMMIT_PIECE_H

#include "kernel/action/action_reader.h"
#include "kernel/log/commit_rules.h"

/* An action that the rules look at one by one. */
struct sl_piece_other {
    size_t index;
    size_t line; /* within the piece, from 1 */
};

struct sl_piece {
    const silt_env *env;
    uint64_t seed;       /* of the files' hashes */
    struct sl_str bytes; /* whole lines; borrowed, and what actions borrow from */
    uint64_t offset;     /* where in the file they are */
    size_t first_line;   /* number of lines before them, set by the owner */
    /* Results. */
    struct sl_action *actions;
    size_t n, cap;
    bool actions_are_lent; /* of the caller, with room enough */
    struct sl_vec marks;   /* of struct sl_file_mark; places are offsets of lines in the file */
    struct sl_vec others;  /* of struct sl_piece_other */
    size_t first_info;     /* index of the first commitInfo, SIZE_MAX if there is none */
    size_t n_lines;
    silt_status status; /* of the line n_lines */
    silt_error err;
    struct sl_arena arena;
    char *text; /* room for decoded text, kept from use to use; without it the arena serves */
    size_t text_cap;
    struct sl_action_reader reader;
};

void sl_piece_init(struct sl_piece *piece, const silt_env *env, uint64_t seed);
void sl_piece_release(struct sl_piece *piece); /* safe on a zeroed piece */
/* Reads piece->bytes; what it read before is gone. The outcome is in status and err. */
void sl_piece_read(struct sl_piece *piece);

/*
 * Cuts bytes into at most `most` pieces of whole lines, each but the last about `size` long; ends[i] is the end of piece i.
 * Returns their number.
 */
size_t sl_pieces_cut(struct sl_str bytes, size_t size, size_t most, size_t *ends);

/* What the rules say of a piece that was read well. A fault is in line *line of the file. */
silt_status sl_piece_check(const struct sl_piece *piece, struct sl_commit_rules *rules, size_t *line, silt_error *err);
#endif
