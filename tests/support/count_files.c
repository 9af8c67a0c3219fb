/* Counting of files; see count_files.h. */
#include "count_files.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int count_files(const char *dir)
{
    DIR *handle = opendir(dir);
    int n = 0;
    if (handle == NULL) {
        return -1;
    }
    for (const struct dirent *entry = readdir(handle); entry != NULL && n >= 0; entry = readdir(handle)) {
        char path[1024];
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
        if (lstat(path, &info) != 0) {
            n = -1;
        } else if (S_ISDIR(info.st_mode)) {
            const int inner = count_files(path);
            n = inner < 0 ? -1 : n + inner;
        } else {
            n++;
        }
    }
    (void)closedir(handle);
    return n;
}
