/*
 * The limit of a process that reads a log: lists a folder and reads the files in it, with nothing linked but libc.
 *
 *     bench_floor FOLDER
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_all(int folder, const char *name, long *total)
{
    static char room[1 << 16];
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? 1 : -1;
    while (n > 0) {
        n = read(file, room, sizeof(room));
        *total += n > 0 ? n : 0;
    }
    if (file >= 0) {
        (void)close(file);
    }
    return n == 0;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    long total = 0;
    bool fine = folder != NULL;
    for (const struct dirent *entry = NULL; fine && (entry = readdir(folder)) != NULL;) {
        fine = entry->d_name[0] == '.' || read_all(dirfd(folder), entry->d_name, &total);
    }
    if (!fine) {
        (void)fprintf(stderr, "usage: bench_floor FOLDER (of readable files)\n");
        return EXIT_FAILURE;
    }
    (void)closedir(folder);
    (void)printf("%ld\n", total);
    return EXIT_SUCCESS;
}
