/*
 * Short forms of the operations for cases: they report what is not as it must be.
 */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_PUTTERS 16

const char *path_of(const struct contract *c, char *buffer, const char *name)
{
    (void)snprintf(buffer, CONTRACT_PATH_SIZE, "%s/%s", c->dir, name);
    return buffer;
}

bool put_text(struct contract *c, const char *name, const char *text)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_storage_put(c->store, NULL, path_of(c, path, name), text, strlen(text), &err);
    return expect_status(c, status, SILT_OK, &err, "put");
}

bool put_new_text(struct contract *c, const char *name, const char *text, silt_put_outcome wanted)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    const silt_status status = silt_storage_put_if_absent(c->store, NULL, path_of(c, path, name), text, strlen(text),
                                                          &outcome, &err);
    return expect_status(c, status, SILT_OK, &err, "put_if_absent") &&
           expect(c, outcome == wanted, "put_if_absent of %s was answered %d, expected %d", name, (int)outcome,
                  (int)wanted);
}

bool expect_bytes(struct contract *c, const char *name, const void *data, size_t size)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    void *got = NULL;
    size_t len = 0;
    const silt_status status = silt_storage_read(c->store, NULL, path_of(c, path, name), &got, &len, &err);
    const bool good = expect_status(c, status, SILT_OK, &err, "read") &&
                      expect(c, len == size && (size == 0 || memcmp(got, data, size) == 0),
                             "%s: other bytes than were written (%zu bytes, expected %zu)", name, len, size);
    silt_storage_free(c->store, got, len);
    return good;
}

bool expect_text(struct contract *c, const char *name, const char *text)
{
    return expect_bytes(c, name, text, strlen(text));
}

bool expect_missing(struct contract *c, const char *name)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    void *data = NULL;
    size_t len = 0;
    silt_status status = silt_storage_read(c->store, NULL, path_of(c, path, name), &data, &len, &err);
    bool good = expect_status(c, status, SILT_ENOTFOUND, &err, "read of what is not there");
    silt_storage_free(c->store, data, len);
    status = silt_storage_stat(c->store, NULL, path, NULL, NULL, &err);
    return expect_status(c, status, SILT_ENOTFOUND, &err, "stat of what is not there") && good;
}

/* ---- listings ---- */

struct names {
    char *text;
    size_t len;
    size_t size;
    bool lost; /* no memory */
};

static bool add_name(void *ctx, const silt_file_entry *entry)
{
    struct names *names = ctx;
    if (names->size - names->len < entry->name_len + 2) {
        const size_t size = (names->size + entry->name_len) * 2 + 64;
        char *text = realloc(names->text, size);
        if (text == NULL) {
            names->lost = true;
            return false;
        }
        names->text = text;
        names->size = size;
    }
    memcpy(names->text + names->len, entry->name, entry->name_len);
    names->len += entry->name_len;
    names->text[names->len++] = '\n';
    names->text[names->len] = '\0';
    return true;
}

char *list_text(struct contract *c, const char *sub, const char *start_from, bool recursive)
{
    char dir[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    struct names names = {.text = calloc(1, 64), .size = 64};
    const silt_list_options options = {.size = sizeof(options), .start_from = start_from, .recursive = recursive};
    if (!expect(c, names.text != NULL, "no memory")) {
        exit(1);
    }
    const silt_status status = silt_storage_list(c->store, NULL, sub == NULL ? c->dir : path_of(c, dir, sub), &options,
                                                 add_name, &names, &err);
    (void)expect(c, !names.lost, "no memory");
    if (status != SILT_OK) {
        (void)snprintf(names.text, names.size, "%s", silt_status_name(status));
        (void)expect(c, status == SILT_ENOTFOUND, "list: %s", err.message);
    }
    return names.text;
}

bool expect_list(struct contract *c, const char *sub, const char *start_from, bool recursive, const char *wanted)
{
    char *got = list_text(c, sub, start_from, recursive);
    const bool good = expect(c, strcmp(got, wanted) == 0, "listing of %s from %s: expected %.200s, got %.300s",
                             sub == NULL ? "the folder" : sub, start_from == NULL ? "the start" : start_from, wanted,
                             got);
    free(got);
    return good;
}

/* ---- many files ---- */

struct putting {
    struct contract *c;
    size_t n;
    void (*name)(size_t i, char *buffer);
    atomic_size_t next;
    atomic_bool failed;
};

static void *put_some(void *arg)
{
    struct putting *putting = arg;
    for (size_t i = atomic_fetch_add(&putting->next, 1); i < putting->n && !atomic_load(&putting->failed);
         i = atomic_fetch_add(&putting->next, 1)) {
        char name[256];
        putting->name(i, name);
        if (!put_text(putting->c, name, "x")) {
            atomic_store(&putting->failed, true);
        }
    }
    return NULL;
}

bool put_many(struct contract *c, size_t n, void (*name)(size_t i, char *buffer))
{
    struct putting putting = {.c = c, .n = n, .name = name};
    pthread_t threads[N_PUTTERS];
    unsigned started = 0;
    atomic_init(&putting.next, 0);
    atomic_init(&putting.failed, false);
    while (started < N_PUTTERS && pthread_create(&threads[started], NULL, put_some, &putting) == 0) {
        started++;
    }
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return expect(c, started > 0, "no threads") && !atomic_load(&putting.failed);
}
