/*
 * Cases about listings.
 */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCK_SLACK_MS 120000

static bool put_names(struct contract *c, const char *const *names, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        good = put_text(c, names[i], "x");
    }
    return good;
}

void names_list_in_byte_order(struct contract *c)
{
    static const char *const names[] = {"b",  "a",       "B", "a0",    "a-b", "\xc3\xbc", "00",
                                        "_x", ".hidden", "~", "sub/x", "a.b", "sub-2/x",  "sub.json"};
    if (put_names(c, names, sizeof(names) / sizeof(names[0]))) {
        (void)expect_list(c, NULL, NULL, false, ".hidden\n00\nB\n_x\na\na-b\na.b\na0\nb\nsub.json\n~\n\xc3\xbc\n");
        (void)expect_list(c, "sub", NULL, false, "x\n");
        (void)expect_list(c, "sub/", NULL, true, "x\n"); /* a slash at the end */
    }
}

void a_listing_starts_at_the_wanted_name(struct contract *c)
{
    static const char *const names[] = {"a", "b", "b-", "d", "d/x", "f x%20"};
    if (put_names(c, names, 4) && put_text(c, names[5], "x")) {
        (void)expect_list(c, NULL, "b", false, "b\nb-\nd\nf x%20\n"); /* inclusive */
        (void)expect_list(c, NULL, "c", false, "d\nf x%20\n");
        (void)expect_list(c, NULL, "", false, "a\nb\nb-\nd\nf x%20\n");
        (void)expect_list(c, NULL, "b\x01", false, "b-\nd\nf x%20\n");
        (void)expect_list(c, NULL, "f x%20", false, "f x%20\n");
        (void)expect_list(c, NULL, "g", false, "");
    }
}

void a_recursive_listing_is_in_byte_order_too(struct contract *c)
{
    static const char *const names[] = {"p/z", "p/a/1", "p-q", "p0", "top", "p/a-/1", "p/a0", "k/1"};
    if (put_names(c, names, sizeof(names) / sizeof(names[0]))) {
        (void)expect_list(c, NULL, NULL, true, "k/1\np-q\np/a-/1\np/a/1\np/a0\np/z\np0\ntop\n");
        (void)expect_list(c, NULL, "p/a/1", true, "p/a/1\np/a0\np/z\np0\ntop\n");
        (void)expect_list(c, NULL, "p/b", true, "p/z\np0\ntop\n");
        (void)expect_list(c, NULL, "p", true, "p-q\np/a-/1\np/a/1\np/a0\np/z\np0\ntop\n");
        (void)expect_list(c, NULL, NULL, false, "p-q\np0\ntop\n");
        (void)expect_list(c, "p", NULL, true, "a-/1\na/1\na0\nz\n");
    }
}

/* ---- more names than one page of any server has ---- */

static void long_name(size_t i, char *buffer)
{
    (void)snprintf(buffer, 256, "%s%020zu.json", i % 5 == 4 ? "sub/" : "", i);
}

/* What the listing must be, from the names that come at `from` or later. */
static char *long_listing(size_t n, size_t from, bool recursive)
{
    char *text = calloc(n + 1, 32);
    size_t len = 0;
    for (unsigned below = 0; text != NULL && below <= (recursive ? 1U : 0U); below++) { /* digits come before "sub/" */
        for (size_t i = below == 0 ? from : 0; i < n; i++) {
            if ((i % 5 == 4) == (below == 1)) {
                char name[256];
                long_name(i, name);
                len += (size_t)snprintf(text + len, (n + 1) * 32 - len, "%s\n", name);
            }
        }
    }
    return text;
}

static size_t first_difference(const char *a, const char *b)
{
    size_t at = 0;
    while (a[at] != '\0' && a[at] == b[at]) {
        at++;
    }
    return at;
}

static void expect_long(struct contract *c, size_t n, size_t from, bool recursive)
{
    char start[256];
    (void)snprintf(start, sizeof(start), "%020zu.json", from);
    char *wanted = long_listing(n, from, recursive);
    char *got = list_text(c, NULL, from == 0 ? NULL : start, recursive);
    if (expect(c, wanted != NULL, "no memory")) {
        const size_t at = first_difference(wanted, got);
        const size_t line = at / 26;
        (void)expect(c, strcmp(wanted, got) == 0,
                     "a listing of %zu names from number %zu differs at about name %zu: %.60s", n, from, line,
                     got + (at > 25 ? at - 25 : 0));
    }
    free(wanted);
    free(got);
}

void a_long_listing_is_whole_and_in_order(struct contract *c)
{
    const size_t n = c->settings->list_names;
    if (put_many(c, n, long_name)) {
        expect_long(c, n, 0, true);
        expect_long(c, n, 0, false);
        expect_long(c, n, n / 2, false);
        expect_long(c, n, n - 10, true);
    }
    note_case(c, "%zu names", n);
}

/* ---- callbacks ---- */

struct stopping {
    struct contract *c;
    unsigned left;
    unsigned seen;
};

static bool read_and_stop(void *ctx, const silt_file_entry *entry)
{
    struct stopping *stopping = ctx;
    char name[64];
    (void)snprintf(name, sizeof(name), "%.*s", (int)entry->name_len, entry->name);
    (void)expect_text(stopping->c, name, "x"); /* a callback may use the store */
    stopping->seen++;
    return stopping->seen < stopping->left;
}

void a_listing_stops_when_told(struct contract *c)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct stopping stopping = {.c = c, .left = 2};
    silt_error err = SILT_ERROR_INIT;
    if (put_names(c, names, 4)) {
        (void)expect_status(c, silt_storage_list(c->store, NULL, c->dir, NULL, read_and_stop, &stopping, &err), SILT_OK,
                            &err, "a listing that is stopped");
        (void)expect(c, stopping.seen == 2, "%u names came, 2 were wanted", stopping.seen);
    }
}

static bool judge_entry(void *ctx, const silt_file_entry *entry)
{
    struct contract *c = ctx;
    const int64_t now_ms = (int64_t)time(NULL) * 1000;
    const int64_t wanted = entry->name_len == 1 ? entry->name[0] - '0' : -1;
    (void)expect(c, entry->size_bytes == wanted, "%.*s has %lld bytes in a listing", (int)entry->name_len, entry->name,
                 (long long)entry->size_bytes);
    (void)expect(c, entry->modified_ms > now_ms - CLOCK_SLACK_MS && entry->modified_ms < now_ms + CLOCK_SLACK_MS,
                 "%.*s is of %lld in a listing", (int)entry->name_len, entry->name, (long long)entry->modified_ms);
    return true;
}

void a_listing_tells_sizes_and_times(struct contract *c)
{
    silt_error err = SILT_ERROR_INIT;
    if (put_text(c, "0", "") && put_text(c, "3", "abc") && put_text(c, "7", "abcdefg")) {
        (void)expect_status(c, silt_storage_list(c->store, NULL, c->dir, NULL, judge_entry, c, &err), SILT_OK, &err,
                            "list");
    }
}

void a_missing_folder_is_not_found(struct contract *c)
{
    (void)expect_list(c, NULL, NULL, false, "ENOTFOUND");
    if (put_text(c, "file", "x")) {
        (void)expect_list(c, "none", NULL, true, "ENOTFOUND");
        (void)expect_list(c, "fil", NULL, true, "ENOTFOUND"); /* the beginning of a name is no folder */
        (void)expect_list(c, "file", NULL, false, "ENOTFOUND");
        (void)expect_list(c, "none", "x", false, "ENOTFOUND");
    }
}
