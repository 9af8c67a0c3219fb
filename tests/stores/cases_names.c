/*
 * The case about hard names. Each has a kind; a store that is known to refuse a kind (--refused) must refuse it: an error and no file,
 * not a file of another name.
 */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hard_name {
    const char *kind;
    const char *name;
};

static const struct hard_name names[] = {
    {"space", "a b"},
    {"lead", " lead"},
    {"trail", "trail "},
    {"percent", "%"},
    {"percent", "%25"},
    {"percent", "%2F"},
    {"percent", "x%20y"},
    {"percent", "%zz%"},
    {"plus", "a+b"},
    {"equals", "p=1"},
    {"equals", "p=a%3Db"},
    {"question", "w?x"},
    {"question", "w?prefix=x&list-type=2"},
    {"ampersand", "a&b"},
    {"ampersand", "a&amp;b<c>"},
    {"hash", "y#z"},
    {"umlaut", "\xc3\xbc.parquet"},
    {"cjk", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
    {"emoji", "\xf0\x9f\x8c\x8a"},
    {"colon", "c:d"},
    {"colon", "ts=2024-01-01 12:34:56"},
    {"tilde", "~home"},
    {"quotes", "q\"uo'te"},
    {"subdelims", "*(!)"},
    {"subdelims", "a;b,c@d$e"},
    {"backslash", "back\\slash"},
    {"brackets", "[x]{y}|z^`"},
    {"dots", "..."},
    {"dots", "a..b"},
    {"long",
     "part-00000-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
     "0123456789abcdef0123456789abcdef0123456789abcdef.c000.snappy.parquet"},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* Is kind one of the comma-separated list? */
static bool is_one_of(const char *list, const char *kind)
{
    const size_t len = strlen(kind);
    for (const char *at = list; at != NULL && *at != '\0';) {
        const char *comma = strchr(at, ',');
        const size_t n = comma == NULL ? strlen(at) : (size_t)(comma - at);
        if (n == len && memcmp(at, kind, len) == 0) {
            return true;
        }
        at = comma == NULL ? NULL : comma + 1;
    }
    return false;
}

static void try_refused(struct contract *c, const char *name)
{
    char path[CONTRACT_PATH_SIZE];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    const silt_status status = silt_storage_put_if_absent(c->store, NULL, path_of(c, path, name), "x", 1, &outcome,
                                                          NULL);
    (void)expect(c, status != SILT_OK, "%s: expected to be refused, was answered %d", name, (int)outcome);
}

/* In a folder of a hard name, and as a folder's name. */
static bool try_name(struct contract *c, const char *name)
{
    char below[512];
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    int64_t size = -1;
    (void)snprintf(below, sizeof(below), "in %s/x", name);
    return put_new_text(c, name, name, SILT_PUT_DONE) && put_new_text(c, name, "", SILT_PUT_EXISTS) &&
           expect_text(c, name, name) &&
           expect_status(c, silt_storage_stat(c->store, NULL, path_of(c, path, name), &size, NULL, &err), SILT_OK, &err,
                         "stat") &&
           expect(c, size == (int64_t)strlen(name), "%s: the size is %lld", name, (long long)size) &&
           put_new_text(c, below, name, SILT_PUT_DONE) && expect_text(c, below, name);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names that are there, as listings must tell them: all, from the one in the middle, and those of folders. */
static void judge_listings(struct contract *c, const char **there, size_t n)
{
    char wanted[8192];
    size_t len = 0;
    qsort(there, n, sizeof(*there), compare_texts);
    for (size_t i = 0; i < n; i++) {
        len += (size_t)snprintf(wanted + len, sizeof(wanted) - len, "%s\n", there[i]);
    }
    (void)expect_list(c, NULL, NULL, false, wanted);
    for (size_t i = 0; i < n; i++) {
        char below[512];
        char *from = strstr(wanted, there[i]);
        while (from != NULL && from != wanted && from[-1] != '\n') {
            from = strstr(from + 1, there[i]);
        }
        (void)expect_list(c, NULL, there[i], false, from == NULL ? "" : from);
        (void)snprintf(below, sizeof(below), "in %s", there[i]);
        (void)expect_list(c, below, NULL, true, "x\n");
    }
}

void names_are_taken_as_they_are(struct contract *c)
{
    const char *there[N_NAMES];
    size_t n = 0;
    for (size_t i = 0; i < N_NAMES && !c->failed; i++) {
        if (is_one_of(c->settings->left_out, names[i].kind)) {
            continue;
        }
        if (is_one_of(c->settings->refused, names[i].kind)) {
            try_refused(c, names[i].name);
        } else if (try_name(c, names[i].name)) {
            there[n++] = names[i].name;
        }
    }
    if (c->failed) {
        return;
    }
    judge_listings(c, there, n);
    for (size_t i = 0; i < n && !c->failed; i++) {
        char path[CONTRACT_PATH_SIZE];
        silt_error err = SILT_ERROR_INIT;
        (void)expect_status(c, silt_storage_remove(c->store, NULL, path_of(c, path, there[i]), &err), SILT_OK, &err,
                            "remove");
        (void)expect_missing(c, there[i]);
    }
    note_case(c, "%zu names of %zu", n, N_NAMES);
}
