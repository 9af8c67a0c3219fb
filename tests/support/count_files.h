/*
 * Counting the files of a table's folder, for tests that nothing is left behind.
 */
#ifndef SILT_COUNT_FILES_H
#define SILT_COUNT_FILES_H

/* Files below a folder, links not followed; -1 when it cannot be read. */
int count_files(const char *dir);

#endif
