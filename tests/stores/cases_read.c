/*
 * Cases about reading: ranges, batches.
 */
#include "contract.h"

#include <stdio.h>
#include <string.h>

#define N_BATCH 100

struct range {
    int64_t offset;
    int64_t length;
    const char *text;
};

static const struct range ranges[] = {
    {0, -1, "0123456789"},
    {0, 10, "0123456789"},
    {2, 3, "234"},
    {0, 1, "0"},
    {9, 1, "9"},
    {9, 5, "9"},
    {3, -1, "3456789"},
    {3, INT64_MAX, "3456789"},
    {-1, -1, "9"},
    {-4, 2, "67"},
    {-4, -1, "6789"},
    {-10, -1, "0123456789"},
    {-11, 1, "0"},
    {-100, -1, "0123456789"},
    {INT64_MIN, 2, "01"},
    {-1, INT64_MAX, "9"},
    {10, 5, ""}, /* at the end and beyond it: nothing, and no failure */
    {10, -1, ""},
    {11, -1, ""},
    {1000000, 10, ""},
    {INT64_MAX, -1, ""},
    {INT64_MAX, INT64_MAX, ""},
    {0, 0, ""},
    {5, 0, ""},
    {-3, 0, ""},
};

#define N_RANGES (sizeof(ranges) / sizeof(ranges[0]))

static void count_done(void *ctx, silt_read_request *request)
{
    (void)request;
    (*(size_t *)ctx)++;
}

static bool read_all(struct contract *c, silt_read_request *requests, size_t n)
{
    size_t done = 0;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_storage_read_many(c->store, NULL, requests, n, count_done, &done, &err);
    return expect_status(c, status, SILT_OK, &err, "a batch of reads") &&
           expect(c, done == n, "%zu of %zu requests were completed", done, n);
}

/* A store need not learn the whole size; what it says must be right. */
static void judge_range(struct contract *c, const silt_read_request *request, const char *text, int64_t file_size)
{
    const long long from = (long long)request->offset;
    const long long length = (long long)request->length;
    (void)(expect(c, request->status == SILT_OK, "range %lld+%lld: %s", from, length,
                  silt_status_name(request->status)) &&
           expect(c, request->data_len == strlen(text), "range %lld+%lld has %zu bytes, expected %zu", from, length,
                  request->data_len, strlen(text)) &&
           expect(c, request->data_len == 0 || memcmp(request->data, text, request->data_len) == 0,
                  "range %lld+%lld has other bytes", from, length) &&
           expect(c, (request->data == NULL) == (request->data_len == 0), "range %lld+%lld: data and length differ",
                  from, length) &&
           expect(c, request->file_size == -1 || request->file_size == file_size,
                  "range %lld+%lld: the file has %lld bytes, %lld were told", from, length, (long long)file_size,
                  (long long)request->file_size));
}

void ranges_are_cut_to_the_file(struct contract *c)
{
    char path[CONTRACT_PATH_SIZE];
    char empty[CONTRACT_PATH_SIZE];
    silt_read_request requests[2 * N_RANGES];
    if (!put_text(c, "digits", "0123456789") || !put_text(c, "empty", "")) {
        return;
    }
    (void)path_of(c, path, "digits");
    (void)path_of(c, empty, "empty");
    for (size_t i = 0; i < N_RANGES; i++) {
        requests[2 * i] = (silt_read_request){.path = path, .offset = ranges[i].offset, .length = ranges[i].length};
        requests[2 * i + 1] = (silt_read_request){
            .path = empty, .offset = ranges[i].offset, .length = ranges[i].length};
    }
    if (read_all(c, requests, 2 * N_RANGES)) {
        for (size_t i = 0; i < N_RANGES; i++) {
            judge_range(c, &requests[2 * i], ranges[i].text, 10);
            judge_range(c, &requests[2 * i + 1], "", 0);
        }
    }
    for (size_t i = 0; i < 2 * N_RANGES; i++) {
        silt_read_request_release(c->store, &requests[i]);
    }
}

void a_batch_of_reads_fails_one_by_one(struct contract *c)
{
    static char paths[N_BATCH][CONTRACT_PATH_SIZE];
    static silt_read_request requests[N_BATCH];
    for (unsigned i = 0; i < N_BATCH; i++) {
        char name[32];
        char text[32];
        (void)snprintf(name, sizeof(name), "f%u", i);
        (void)snprintf(text, sizeof(text), "text %u", i);
        (void)path_of(c, paths[i], name);
        requests[i] = (silt_read_request){.path = paths[i], .length = -1};
        if (i % 5 != 3 && !put_text(c, name, text)) { /* every fifth is not there */
            return;
        }
    }
    if (read_all(c, requests, N_BATCH)) {
        for (unsigned i = 0; i < N_BATCH; i++) {
            char text[32];
            (void)snprintf(text, sizeof(text), "text %u", i);
            if (i % 5 == 3) {
                (void)expect(c, requests[i].status == SILT_ENOTFOUND && requests[i].data == NULL,
                             "a missing file in a batch: %s", silt_status_name(requests[i].status));
            } else {
                judge_range(c, &requests[i], text, (int64_t)strlen(text));
            }
        }
    }
    for (unsigned i = 0; i < N_BATCH; i++) {
        silt_read_request_release(c->store, &requests[i]);
    }
}
