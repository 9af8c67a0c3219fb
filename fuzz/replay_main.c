/*
 * A main for fuzzers without libFuzzer: runs the files of the folders and the files that are named, each as it is, cut off at some
 * places, and with some bytes changed, from a fixed seed. So that any compiler's build and every test run sees what fuzzing found.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/fuzz.h"

#define MAX_BYTES ((size_t)1024 * 1024)
#define CUTS 8
#define CHANGES 24

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* The block has exactly these bytes, so that sanitizers see who reads beyond them. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        (void)fprintf(stderr, "replay: out of memory\n");
        exit(1);
    }
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_variations(uint8_t *bytes, size_t size)
{
    uint64_t state = size;
    run(bytes, size);
    for (size_t i = 0; i < CUTS && size > 1; i++) {
        run(bytes, next_random(&state) % size);
    }
    for (size_t i = 0; i < CHANGES && size > 0; i++) {
        const size_t at = next_random(&state) % size;
        const uint8_t was = bytes[at];
        const uint64_t change = next_random(&state);
        bytes[at] = (uint8_t)(i % 2 == 0 ? was ^ 1U << change % 8 : change);
        run(bytes, size);
        bytes[at] = was;
    }
}

static size_t replay_file(const char *path)
{
    static uint8_t bytes[MAX_BYTES];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fprintf(stderr, "replay: cannot read %s\n", path);
        exit(1);
    }
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    (void)fprintf(stderr, "%s\n", path); /* the last one is the culprit */
    run_variations(bytes, size);
    return 1;
}

static size_t replay_path(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return replay_file(path);
    }
    size_t n = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char inner[4096];
        struct stat info;
        const int len = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        if (len > 0 && (size_t)len < sizeof(inner) && stat(inner, &info) == 0 && S_ISREG(info.st_mode)) {
            n += replay_file(inner);
        }
    }
    (void)closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    size_t n = 0;
    for (int i = 1; i < argc; i++) {
        n += replay_path(argv[i]);
    }
    run(NULL, 0);
    (void)printf("%zu inputs replayed\n", n);
    return n > 0 ? 0 : 1;
}
