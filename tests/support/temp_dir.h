/*
 * Folders of tests in the temporary folder.
 */
#ifndef SILT_TEMP_DIR_H
#define SILT_TEMP_DIR_H

#include <stdbool.h>
#include <stddef.h>

/* A new folder below $TMPDIR or /tmp; its path goes to out. */
bool temp_dir_make(char *out, size_t out_size);
/* Removes a folder with all that is in it; links are not followed. */
bool temp_dir_remove(const char *dir);

#endif
