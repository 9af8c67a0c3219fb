/*
 * Folders of tests, see temp_dir.h.
 */
#include "temp_dir.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

bool temp_dir_make(char *out, size_t out_size)
{
    const char *parent = getenv("TMPDIR");
    const int n = snprintf(out, out_size, "%s/silt-test-XXXXXX", parent != NULL && parent[0] == '/' ? parent : "/tmp");
    return n > 0 && (size_t)n < out_size && mkdtemp(out) != NULL;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

bool temp_dir_remove(const char *dir)
{
    return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0;
}
