/*
 * The limit of reading files of an S3 server: ranges of them by GETs in parallel, signed, whose bytes are thrown away. libcurl alone.
 *
 *     bench_ranges --connections N [--slice BYTES] [--repeat N] URL SIZE [URL SIZE]...
 *
 * Credentials and region come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION. A run ends when all bytes came. Prints what bench_query
 * prints; its row is the number of bytes.
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bench_rows.h"

#define MAX_CONNECTIONS 64
#define MAX_FILES 256
#define MAX_REPEAT 64

struct options {
    int64_t connections, slice, repeat;
    const char *urls[MAX_FILES];
    int64_t sizes[MAX_FILES];
    size_t n;
};

struct run {
    const struct options *options;
    CURL *idle[MAX_CONNECTIONS];
    size_t n_idle;
    CURLM *multi;
    struct curl_slist *headers;
    size_t file; /* of the next slice */
    int64_t offset;
    int64_t bytes;
    bool failed;
};

static size_t take_bytes(char *data, size_t size, size_t n, void *ctx)
{
    struct run *run = ctx;
    (void)data;
    run->bytes += (int64_t)(size * n);
    return size * n;
}

static CURL *make_handle(struct run *run)
{
    const char *key = getenv("AWS_ACCESS_KEY_ID");
    const char *secret = getenv("AWS_SECRET_ACCESS_KEY");
    const char *region = getenv("AWS_REGION");
    char user[512];
    char signature[128];
    CURL *handle = curl_easy_init();
    if (handle == NULL) {
        return NULL;
    }
    (void)snprintf(user, sizeof(user), "%s:%s", key != NULL ? key : "", secret != NULL ? secret : "");
    (void)snprintf(signature, sizeof(signature), "aws:amz:%s:s3", region != NULL ? region : "us-east-1");
    const bool fine = curl_easy_setopt(handle, CURLOPT_USERPWD, user) == CURLE_OK &&
                      curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, signature) == CURLE_OK &&
                      curl_easy_setopt(handle, CURLOPT_HTTPHEADER, run->headers) == CURLE_OK &&
                      curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK &&
                      curl_easy_setopt(handle, CURLOPT_WRITEDATA, run) == CURLE_OK &&
                      curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 512L << 10) == CURLE_OK &&
                      curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L) == CURLE_OK;
    if (!fine) {
        curl_easy_cleanup(handle);
        return NULL;
    }
    return handle;
}

/* Gives idle connections the next slices. */
static void start_slices(struct run *run)
{
    const struct options *options = run->options;
    while (run->n_idle > 0 && run->file < options->n && !run->failed) {
        CURL *handle = run->idle[run->n_idle - 1];
        const int64_t left = options->sizes[run->file] - run->offset;
        const int64_t n = left < options->slice ? left : options->slice;
        char range[64];
        (void)snprintf(range, sizeof(range), "%" PRId64 "-%" PRId64, run->offset, run->offset + n - 1);
        run->failed = curl_easy_setopt(handle, CURLOPT_URL, options->urls[run->file]) != CURLE_OK ||
                      curl_easy_setopt(handle, CURLOPT_RANGE, range) != CURLE_OK ||
                      curl_multi_add_handle(run->multi, handle) != CURLM_OK;
        run->n_idle--;
        run->offset += n;
        if (run->offset >= options->sizes[run->file]) {
            run->file++;
            run->offset = 0;
        }
    }
}

static void end_slices(struct run *run)
{
    int left = 0;
    for (CURLMsg *said = curl_multi_info_read(run->multi, &left); said != NULL;
         said = curl_multi_info_read(run->multi, &left)) {
        if (said->msg == CURLMSG_DONE) {
            if (said->data.result != CURLE_OK) {
                (void)fprintf(stderr, "bench_ranges: %s\n", curl_easy_strerror(said->data.result));
                run->failed = true;
            }
            CURL *handle = said->easy_handle;
            (void)curl_multi_remove_handle(run->multi, handle);
            run->idle[run->n_idle++] = handle;
        }
    }
}

static bool fetch_all(struct run *run)
{
    int running = 0;
    run->file = 0;
    run->offset = 0;
    run->bytes = 0;
    start_slices(run);
    do {
        run->failed = run->failed || curl_multi_perform(run->multi, &running) != CURLM_OK;
        end_slices(run);
        start_slices(run);
        if (running > 0 && !run->failed) {
            (void)curl_multi_poll(run->multi, NULL, 0, 1000, NULL);
        }
    } while ((running > 0 || run->n_idle < (size_t)run->options->connections) && !run->failed);
    return !run->failed;
}

static int64_t number(const char *text)
{
    return strtoll(text, NULL, 10);
}

static bool parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){.connections = 16, .slice = INT64_C(4) << 20, .repeat = 1};
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        int64_t *target = strcmp(argv[i], "--connections") == 0 ? &options->connections
                          : strcmp(argv[i], "--slice") == 0     ? &options->slice
                          : strcmp(argv[i], "--repeat") == 0    ? &options->repeat
                                                                : NULL;
        if (target == NULL) {
            return false;
        }
        *target = number(argv[i + 1]);
    }
    for (; i + 1 < argc && options->n < MAX_FILES; i += 2) {
        options->urls[options->n] = argv[i];
        options->sizes[options->n++] = number(argv[i + 1]);
    }
    return i == argc && options->n > 0 && options->connections > 0 && options->connections <= MAX_CONNECTIONS &&
           options->slice > 0 && options->repeat > 0 && options->repeat <= MAX_REPEAT;
}

int main(int argc, char **argv)
{
    struct options options;
    static struct bench_time times[MAX_REPEAT];
    struct bench_rows rows;
    if (!parse(argc, argv, &options)) {
        (void)fprintf(stderr, "usage: bench_ranges --connections N [--slice BYTES] [--repeat N] URL SIZE...\n");
        return 2;
    }
    struct run run = {.options = &options, .multi = curl_multi_init()};
    run.headers = curl_slist_append(NULL, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    for (int64_t i = 0; i < options.connections && run.multi != NULL; i++) {
        run.idle[run.n_idle] = make_handle(&run);
        run.n_idle += run.idle[run.n_idle] != NULL ? 1 : 0;
    }
    bool fine = run.multi != NULL && run.n_idle == (size_t)options.connections;
    for (int64_t i = 0; i < options.repeat && fine; i++) {
        const struct bench_time begin = bench_now();
        fine = fetch_all(&run);
        times[i] = bench_since(begin);
    }
    for (size_t i = 0; i < run.n_idle; i++) {
        curl_easy_cleanup(run.idle[i]);
    }
    (void)curl_multi_cleanup(run.multi);
    curl_slist_free_all(run.headers);
    if (!fine) {
        return 1;
    }
    bench_rows_init(&rows, silt_env_default());
    sl_buf_printf(&rows.json, "[\"%" PRId64 "\"]", run.bytes);
    rows.n = 1;
    bench_report(0, times, (int)options.repeat, &rows);
    bench_rows_release(&rows);
    return 0;
}
