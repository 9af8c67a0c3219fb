/*
 * What others say of a checkpoint, `_last_checkpoint` and the version checksum of its version, against what was read of it (PROTOCOL.md "Last
 * Checkpoint File", "Version Checksum File"). The checkpoint counts; a hint that says otherwise costs one note. But one in which there
 * is no file, where a word says that there are some, has lost them: a file without the column `add` looks just like an empty table's.
 */
#ifndef SL_KERNEL_SNAPSHOT_CHECKPOINT_WORD_H
#define SL_KERNEL_SNAPSHOT_CHECKPOINT_WORD_H

#include "kernel/replay/checkpoint_files.h"
#include "kernel/snapshot/log_view.h"

/* Class of the failure of a checkpoint without files against which nothing speaks but the hint: when there is no other way, it is read. */
#define SL_CHECKPOINT_DOUBTED "SILT_CHECKPOINT_DOUBTED"

/*
 * Judges what was counted when the checkpoint's files were read. SILT_ECORRUPT when it has lost all of them; with the class above only if
 * `doubt`, else that is a note.
 */
silt_status sl_checkpoint_word_check(silt_snapshot *snapshot, const struct sl_log_view *view, const silt_call *call,
                                     const struct sl_checkpoint_counts *counts, bool doubt, silt_error *err);

/* Does any word say that there are files in the checkpoint? For who has met none, and has not read all. */
bool sl_checkpoint_word_of_files(const struct sl_log_view *view);

/* One note that a checkpoint named files more than once; n 0: it did not. */
void sl_checkpoint_word_again(silt_snapshot *snapshot, int64_t version, int64_t n);

#endif
