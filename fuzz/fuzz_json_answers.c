/*
 * Answers of Google Cloud Storage and of WebHDFS: objects and files are taken with sizes that hold together, or refused; words of errors are one line of
 * printable ASCII; an upload has not come further than it was sent.
 */
#include <string.h>

#include "storage/remote/gcs/gcs_answers.h"
#include "storage/remote/hdfs/hdfs_answers.h"
#include "support/fuzz.h"

static void check_words(const struct sl_buf *words)
{
    FUZZ_CHECK(words->len <= 1000);
    for (size_t i = 0; i < words->len; i++) {
        FUZZ_CHECK(words->data[i] >= ' ' && words->data[i] <= '~');
    }
}

static void check_gcs(struct sl_str body)
{
    struct sl_json_doc *doc = NULL;
    struct sl_gcs_page page = {0};
    struct sl_gcs_object object;
    struct sl_buf words;
    silt_status status = SILT_OK;
    sl_buf_init(&words, fuzz_env());
    if (sl_gcs_parse(fuzz_env(), body, &doc, NULL) == SILT_OK) {
        if (sl_gcs_read_object(sl_json_root(doc), &object, NULL) == SILT_OK) {
            FUZZ_CHECK(object.size_bytes >= -1); /* -1: not told */
        }
        const silt_status read = sl_gcs_read_page(sl_json_root(doc), &page, NULL);
        while (read == SILT_OK && sl_gcs_next_object(&page, &object, &status, NULL)) {
            FUZZ_CHECK(object.name.len > 0 && object.size_bytes >= 0);
        }
    }
    sl_gcs_put_reason(fuzz_env(), &words, body);
    check_words(&words);
    sl_json_free(doc);
    sl_buf_release(&words);
}

static void check_hdfs(struct sl_str body)
{
    struct sl_json_doc *doc = NULL;
    struct sl_hdfs_page page = {0};
    struct sl_hdfs_file file;
    struct sl_buf words;
    silt_status status = SILT_OK;
    bool yes = false;
    sl_buf_init(&words, fuzz_env());
    if (sl_hdfs_parse(fuzz_env(), body, &doc, NULL) == SILT_OK) {
        if (sl_hdfs_read_file(sl_json_root(doc), &file, NULL) == SILT_OK) {
            FUZZ_CHECK(file.size_bytes >= 0);
        }
        const silt_status read = sl_hdfs_read_page(sl_json_root(doc), &page, NULL);
        FUZZ_CHECK(read != SILT_OK || page.remaining >= 0);
        while (read == SILT_OK && sl_hdfs_next_file(&page, &file, &status, NULL)) {
            FUZZ_CHECK(file.size_bytes >= 0 && memchr(file.name.ptr, '\0', file.name.len) == NULL);
        }
    }
    const silt_status answered = sl_hdfs_read_answer(fuzz_env(), body, &yes, NULL);
    FUZZ_CHECK(answered == SILT_OK || answered == SILT_EIO);
    const enum sl_hdfs_fault fault = sl_hdfs_read_fault(fuzz_env(), body, &words);
    FUZZ_CHECK(fault == sl_hdfs_read_fault(fuzz_env(), body, NULL));
    check_words(&words);
    sl_json_free(doc);
    sl_buf_release(&words);
}

static void check_progress(struct sl_str text)
{
    int64_t stored = 0;
    if (sl_gcs_read_progress(text, 1000, &stored)) {
        FUZZ_CHECK(stored >= 0 && stored <= 1000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    const size_t kind = fuzz_pick(&in, 3);
    const struct sl_str body = fuzz_rest(&in);
    switch (kind) {
    case 0: check_gcs(body); break;
    case 1: check_hdfs(body); break;
    default: check_progress(body); break;
    }
    return 0;
}
