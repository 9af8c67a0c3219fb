/*
 * Cases about single writes, adopted files, removal and stat.
 */
#include "contract.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENT_TRIES 5
#define LARGE_BYTES ((size_t)20 << 20)
#define UPLOAD_BYTES ((size_t)27 << 20)
#define TREE_FILES 1100
#define CLOCK_SLACK_MS 120000 /* between this machine and a server */

void a_free_name_is_taken_once(struct contract *c)
{
    (void)(put_new_text(c, "one.json", "first", SILT_PUT_DONE) &&
           put_new_text(c, "one.json", "second", SILT_PUT_EXISTS) && expect_text(c, "one.json", "first") &&
           put_new_text(c, "one.json", "first", SILT_PUT_EXISTS) &&
           put_new_text(c, "sub/folder/one.json", "x", SILT_PUT_DONE) && expect_text(c, "sub/folder/one.json", "x"));
}

void a_put_replaces(struct contract *c)
{
    (void)(put_text(c, "f", "a longer first text") && put_text(c, "f", "second") && expect_text(c, "f", "second") &&
           put_new_text(c, "f", "third", SILT_PUT_EXISTS) && put_text(c, "f", "") && expect_text(c, "f", ""));
}

void a_hint_takes_a_free_name_only(struct contract *c)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    (void)path_of(c, path, "0.crc");
    (void)put_new_text(c, "0.json", "what it is about", SILT_PUT_DONE); /* the folder */
    silt_status status = silt_storage_put_hint(c->store, NULL, path, "one", 3, &outcome, &err);
    (void)(expect_status(c, status, SILT_OK, &err, "put_hint") &&
           expect(c, outcome == SILT_PUT_DONE, "a free name is not DONE"));
    status = silt_storage_put_hint(c->store, NULL, path, "two", 3, &outcome, &err);
    (void)(expect_status(c, status, SILT_OK, &err, "put_hint") &&
           expect(c, outcome == SILT_PUT_EXISTS, "a taken name does not EXIST") && expect_text(c, "0.crc", "one"));
}

void a_removed_name_is_free_again(struct contract *c)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    (void)path_of(c, path, "f");
    (void)expect_status(c, silt_storage_remove(c->store, NULL, path, &err), SILT_OK, &err,
                        "removing what is not there");
    (void)(put_new_text(c, "f", "first", SILT_PUT_DONE) &&
           expect_status(c, silt_storage_remove(c->store, NULL, path, &err), SILT_OK, &err, "remove") &&
           expect_missing(c, "f") && put_new_text(c, "f", "second", SILT_PUT_DONE) && expect_text(c, "f", "second"));
}

/* Where versions are given away in a place beside the files as well. */
void a_removed_commit_can_be_made_anew(struct contract *c)
{
    static const char first[] = "t/_delta_log/00000000000000000000.json";
    static const char second[] = "t/_delta_log/00000000000000000001.json";
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    (void)path_of(c, path, second);
    (void)(put_new_text(c, first, "{}", SILT_PUT_DONE) && put_new_text(c, second, "{\"a\":1}", SILT_PUT_DONE) &&
           put_new_text(c, second, "{\"b\":2}", SILT_PUT_EXISTS) &&
           expect_status(c, silt_storage_remove(c->store, NULL, path, &err), SILT_OK, &err, "remove") &&
           expect_missing(c, second) && put_new_text(c, second, "{\"b\":2}", SILT_PUT_DONE) &&
           expect_text(c, second, "{\"b\":2}") && expect_text(c, first, "{}"));
}

/* Bytes without a period, so that parts in a wrong place show. */
static unsigned char *large_bytes(struct contract *c, size_t size)
{
    unsigned char *bytes = malloc(size);
    uint64_t state = 1;
    if (!expect(c, bytes != NULL, "no memory")) {
        return NULL;
    }
    for (size_t i = 0; i < size; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407U;
        bytes[i] = (unsigned char)(state >> 56);
    }
    return bytes;
}

void empty_files_and_large_ones_come_back_whole(struct contract *c)
{
    unsigned char *bytes = large_bytes(c, LARGE_BYTES);
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    int64_t size = -1;
    if (bytes == NULL) {
        return;
    }
    silt_status status = silt_storage_put_if_absent(c->store, NULL, path_of(c, path, "large"), bytes, LARGE_BYTES,
                                                    &outcome, &err);
    (void)(expect_status(c, status, SILT_OK, &err, "a large put_if_absent") &&
           expect(c, outcome == SILT_PUT_DONE, "a large file was answered %d", (int)outcome) &&
           expect_bytes(c, "large", bytes, LARGE_BYTES));
    /* A server may refuse before it has read all, and end the connection: the answer is lost then, now and then. */
    outcome = SILT_PUT_AMBIGUOUS;
    for (int i = 0; i < PATIENT_TRIES && status == SILT_OK && outcome == SILT_PUT_AMBIGUOUS; i++) {
        status = silt_storage_put_if_absent(c->store, NULL, path, bytes + 1, LARGE_BYTES - 1, &outcome, &err);
    }
    (void)(expect_status(c, status, SILT_OK, &err, "a large put_if_absent") &&
           expect(c, outcome == SILT_PUT_EXISTS, "a taken name was answered %d", (int)outcome) &&
           expect_bytes(c, "large", bytes, LARGE_BYTES));
    status = silt_storage_put(c->store, NULL, path, bytes + 1, LARGE_BYTES - 1, &err);
    (void)(expect_status(c, status, SILT_OK, &err, "a large put") &&
           expect_bytes(c, "large", bytes + 1, LARGE_BYTES - 1));
    free(bytes);
    (void)(put_new_text(c, "empty", "", SILT_PUT_DONE) && expect_text(c, "empty", "") &&
           put_new_text(c, "empty", "not", SILT_PUT_EXISTS) &&
           expect_status(c, silt_storage_stat(c->store, NULL, path_of(c, path, "empty"), &size, NULL, &err), SILT_OK,
                         &err, "stat") &&
           expect(c, size == 0, "an empty file has %lld bytes", (long long)size));
}

/* ---- adopted files ---- */

static bool make_local(struct contract *c, char *path, size_t path_size, const void *data, size_t size)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, path_size, "%s/silt-contract-XXXXXX", folder == NULL ? "/tmp" : folder);
    const int fd = mkstemp(path);
    if (!expect(c, fd >= 0, "no temporary file")) {
        return false;
    }
    size_t done = 0;
    while (done < size) {
        const ssize_t n = write(fd, (const char *)data + done, size - done);
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    return expect(c, close(fd) == 0 && done == size, "a temporary file could not be written");
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

void an_adopted_file_moves_to_a_free_name_only(struct contract *c)
{
    char local[512];
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    (void)path_of(c, path, "p=a b/part-0.parquet");
    if (!make_local(c, local, sizeof(local), "data", 4)) {
        return;
    }
    silt_status status = silt_storage_adopt(c->store, NULL, local, path, &err);
    (void)(expect_status(c, status, SILT_OK, &err, "adopt") && expect_text(c, "p=a b/part-0.parquet", "data") &&
           expect(c, !is_there(local), "the adopted file is still there"));
    (void)unlink(local);
    if (!make_local(c, local, sizeof(local), "other", 5)) {
        return;
    }
    status = silt_storage_adopt(c->store, NULL, local, path, &err);
    (void)(expect_status(c, status, SILT_EEXISTS, &err, "adopt to a taken name") &&
           expect_text(c, "p=a b/part-0.parquet", "data") &&
           expect(c, is_there(local), "the file that was not adopted is gone"));
    (void)unlink(local);
    status = silt_storage_adopt(c->store, NULL, local, path_of(c, path, "q"), &err);
    (void)(expect_status(c, status, SILT_ENOTFOUND, &err, "adopting what is not there") && expect_missing(c, "q"));
    if (make_local(c, local, sizeof(local), "", 0)) {
        status = silt_storage_adopt(c->store, NULL, local, path_of(c, path, "empty"), &err);
        (void)(expect_status(c, status, SILT_OK, &err, "adopting an empty file") && expect_text(c, "empty", ""));
        (void)unlink(local);
    }
}

void a_large_file_is_adopted_whole(struct contract *c)
{
    char local[512] = "";
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    unsigned char *bytes = large_bytes(c, LARGE_BYTES);
    if (bytes != NULL && make_local(c, local, sizeof(local), bytes, LARGE_BYTES)) {
        silt_status status = silt_storage_adopt(c->store, NULL, local, path_of(c, path, "large.parquet"), &err);
        (void)(expect_status(c, status, SILT_OK, &err, "adopting a large file") &&
               expect_bytes(c, "large.parquet", bytes, LARGE_BYTES) &&
               expect(c, !is_there(local), "the adopted file is still there"));
        (void)unlink(local);
    }
    if (bytes != NULL && make_local(c, local, sizeof(local), bytes, LARGE_BYTES)) {
        silt_status status = silt_storage_adopt(c->store, NULL, local, path, &err);
        (void)(expect_status(c, status, SILT_EEXISTS, &err, "adopting a large file to a taken name") &&
               expect(c, is_there(local), "the file that was not adopted is gone"));
        (void)unlink(local);
    }
    free(bytes);
}

/* ---- uploads ---- */

/* Begins one; false after a report, or where the store has none. */
static bool begin_upload(struct contract *c, const char *name, silt_upload **upload)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_storage_upload_begin(c->store, NULL, path_of(c, path, name), upload, &err);
    if (status == SILT_EUNSUPPORTED) {
        skip_case(c, "the store has no uploads");
        return false;
    }
    return expect_status(c, status, SILT_OK, &err, "upload_begin");
}

static bool append(struct contract *c, silt_upload *upload, const unsigned char *bytes, size_t n)
{
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_upload_append(upload, NULL, bytes, n, &err);
    return expect_status(c, status, SILT_OK, &err, "upload_append");
}

static bool finish(struct contract *c, silt_upload *upload, const unsigned char *bytes, size_t n, silt_status wanted)
{
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_upload_finish(upload, NULL, bytes, n, &err);
    return expect_status(c, status, wanted, &err, "upload_finish");
}

void an_upload_is_seen_when_it_is_finished_and_takes_a_free_name_only(struct contract *c)
{
    unsigned char *bytes = large_bytes(c, UPLOAD_BYTES);
    silt_upload *upload = NULL;
    if (bytes == NULL || !begin_upload(c, "p=1/up.parquet", &upload)) {
        free(bytes);
        return;
    }
    const size_t unit = silt_upload_unit(upload);
    (void)expect(c, 3 * unit < UPLOAD_BYTES, "a part has %zu bytes", unit);
    bool fine = append(c, upload, bytes, 2 * unit) && append(c, upload, bytes + 2 * unit, unit) &&
                expect_missing(c, "p=1/up.parquet");
    if (!fine) {
        silt_upload_abort(upload);
    } else {
        (void)(finish(c, upload, bytes + 3 * unit, UPLOAD_BYTES - 3 * unit, SILT_OK) &&
               expect_bytes(c, "p=1/up.parquet", bytes, UPLOAD_BYTES));
    }
    /* Small ones and large ones, to a name that is taken. */
    (void)(begin_upload(c, "p=1/up.parquet", &upload) && finish(c, upload, bytes, 10, SILT_EEXISTS));
    fine = begin_upload(c, "p=1/up.parquet", &upload) && append(c, upload, bytes, unit);
    (void)(fine && finish(c, upload, bytes, 10, SILT_EEXISTS) &&
           expect_bytes(c, "p=1/up.parquet", bytes, UPLOAD_BYTES));
    (void)(begin_upload(c, "small", &upload) && finish(c, upload, (const unsigned char *)"text", 4, SILT_OK) &&
           expect_text(c, "small", "text"));
    (void)(begin_upload(c, "empty", &upload) && finish(c, upload, NULL, 0, SILT_OK) && expect_text(c, "empty", ""));
    free(bytes);
}

void an_upload_that_is_called_off_leaves_nothing(struct contract *c)
{
    unsigned char *bytes = large_bytes(c, UPLOAD_BYTES);
    silt_upload *upload = NULL;
    if (bytes != NULL && begin_upload(c, "off/up.parquet", &upload)) {
        (void)append(c, upload, bytes, silt_upload_unit(upload));
        silt_upload_abort(upload);
        (void)(expect_missing(c, "off/up.parquet") && begin_upload(c, "off/up.parquet", &upload));
        silt_upload_abort(upload);
        (void)(expect_missing(c, "off/up.parquet") && put_new_text(c, "off/up.parquet", "free", SILT_PUT_DONE) &&
               expect_list(c, "off", NULL, true, "up.parquet\n"));
    }
    free(bytes);
}

/* ---- stat and removal of folders ---- */

void stat_tells_size_and_time(struct contract *c)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    int64_t size = -1;
    int64_t modified_ms = -1;
    const int64_t now_ms = (int64_t)time(NULL) * 1000;
    if (!put_text(c, "folder/f", "12345")) {
        return;
    }
    const silt_status status = silt_storage_stat(c->store, NULL, path_of(c, path, "folder/f"), &size, &modified_ms,
                                                 &err);
    (void)(expect_status(c, status, SILT_OK, &err, "stat") &&
           expect(c, size == 5, "the size is %lld, expected 5", (long long)size) &&
           expect(c, modified_ms > now_ms - CLOCK_SLACK_MS && modified_ms < now_ms + CLOCK_SLACK_MS,
                  "the time is %lld, expected about %lld", (long long)modified_ms, (long long)now_ms));
    (void)expect_missing(c, "none");
    (void)expect_missing(c, "folder"); /* a folder is no file */
}

static void tree_name(size_t i, char *buffer)
{
    (void)snprintf(buffer, 256, "t/%s%zu%s", i % 3 == 0 ? "sub/a b/" : "", i, i % 2 == 0 ? ".parquet" : ".j%20son");
}

void a_tree_is_removed_and_nothing_beside_it(struct contract *c)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    static const char *const kept[] = {"t0", "t-1", "t.json", "T/x", "s/t/x"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        (void)put_text(c, kept[i], "kept");
    }
    if (c->failed || !put_many(c, TREE_FILES, tree_name)) {
        return;
    }
    silt_status status = silt_storage_remove_tree(c->store, NULL, path_of(c, path, "t"), &err);
    (void)(expect_status(c, status, SILT_OK, &err, "remove_tree") &&
           expect_list(c, NULL, NULL, true, "T/x\ns/t/x\nt-1\nt.json\nt0\n") &&
           expect_list(c, "t", NULL, true, "ENOTFOUND"));
    status = silt_storage_remove_tree(c->store, NULL, path, &err);
    (void)expect_status(c, status, SILT_OK, &err, "remove_tree of what is not there");
    note_case(c, "%d files", TREE_FILES);
}
