/* Answers of WebHDFS. Pure; any thread. */
#include "storage/remote/hdfs/hdfs_answers.h"

#include <string.h>

#include "base/error.h"
#include "storage/remote/url.h"

#define MAX_FAULT_BODY 65536
#define MAX_WORDS 240

silt_status sl_hdfs_parse(const silt_env *env, struct sl_str body, struct sl_json_doc **out, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_json_parse(env, body, out, &found);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status != SILT_OK || !sl_json_is_object(sl_json_root(*out))) {
        sl_json_free(*out);
        *out = NULL;
        return sl_fail(err, SILT_EIO, NULL, "the answer of WebHDFS is no object of JSON");
    }
    return SILT_OK;
}

static silt_status read_status(const sl_json *value, struct sl_hdfs_file *out, silt_error *err)
{
    const struct sl_str type = sl_json_member_text(value, "type");
    *out = (struct sl_hdfs_file){.name = sl_json_member_text(value, "pathSuffix"),
                                 .is_folder = sl_str_eq_c(type, "DIRECTORY")};
    const bool known = out->is_folder || sl_str_eq_c(type, "FILE");
    if (!known || !sl_json_to_i64(sl_json_member(value, "length"), &out->size_bytes) || out->size_bytes < 0 ||
        !sl_json_to_i64(sl_json_member(value, "modificationTime"), &out->modified_ms)) {
        return sl_fail(err, SILT_EIO, NULL, "WebHDFS described a file without its type, size or time");
    }
    return SILT_OK;
}

silt_status sl_hdfs_read_file(const sl_json *root, struct sl_hdfs_file *out, silt_error *err)
{
    return read_status(sl_json_member(root, "FileStatus"), out, err);
}

silt_status sl_hdfs_read_page(const sl_json *root, struct sl_hdfs_page *out, silt_error *err)
{
    const sl_json *listing = sl_json_member(root, "DirectoryListing");
    const sl_json *partial = sl_json_member(listing, "partialListing");
    const sl_json *files = sl_json_member(sl_json_member(partial, "FileStatuses"), "FileStatus");
    *out = (struct sl_hdfs_page){.files = sl_json_iterate(files)};
    if (!sl_json_is_array(files) || !sl_json_to_i64(sl_json_member(listing, "remainingEntries"), &out->remaining) ||
        out->remaining < 0) {
        return sl_fail(err, SILT_EIO, NULL, "the answer of WebHDFS is no page of a listing");
    }
    return SILT_OK;
}

bool sl_hdfs_next_file(struct sl_hdfs_page *page, struct sl_hdfs_file *out, silt_status *status, silt_error *err)
{
    struct sl_str key;
    const sl_json *value = NULL;
    *status = SILT_OK;
    if (!sl_json_next(&page->files, &key, &value)) {
        return false;
    }
    *status = read_status(value, out, err);
    const struct sl_str name = out->name;
    if (*status == SILT_OK &&
        (name.ptr == NULL || sl_str_eq_c(name, ".") || sl_str_eq_c(name, "..") ||
         (name.len > 0 && (memchr(name.ptr, '/', name.len) != NULL || memchr(name.ptr, '\0', name.len) != NULL)))) {
        *status = sl_fail(err, SILT_EIO, NULL, "WebHDFS listed a file whose name is none");
    }
    return *status == SILT_OK;
}

silt_status sl_hdfs_read_answer(const silt_env *env, struct sl_str body, bool *yes, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    *yes = body.len == 0;
    if (*yes) {
        return SILT_OK;
    }
    SL_TRY(sl_hdfs_parse(env, body, &doc, err));
    const bool good = sl_json_to_bool(sl_json_member(sl_json_root(doc), "boolean"), yes);
    sl_json_free(doc);
    return good ? SILT_OK : sl_fail(err, SILT_EIO, NULL, "the answer of WebHDFS is neither yes nor no");
}

static const struct {
    const char *exception;
    enum sl_hdfs_fault fault;
} faults[] = {
    {"FileNotFoundException", SL_HDFS_NOT_FOUND},
    {"ParentNotDirectoryException", SL_HDFS_NOT_FOUND},
    {"FileAlreadyExistsException", SL_HDFS_EXISTS},
    {"AccessControlException", SL_HDFS_DENIED},
    {"SecurityException", SL_HDFS_DENIED},
    {"AuthenticationException", SL_HDFS_DENIED},
    {"AuthorizationException", SL_HDFS_DENIED},
    {"InvalidToken", SL_HDFS_DENIED},
    {"StandbyException", SL_HDFS_STANDBY},
    {"SafeModeException", SL_HDFS_LATER},
    {"RetriableException", SL_HDFS_LATER},
    {"ServerTooBusyException", SL_HDFS_LATER},
    {"DSQuotaExceededException", SL_HDFS_FULL},
    {"NSQuotaExceededException", SL_HDFS_FULL},
    {"QuotaByStorageTypeExceededException", SL_HDFS_FULL},
    {"EOFException", SL_HDFS_RANGE},
};

enum sl_hdfs_fault sl_hdfs_read_fault(const silt_env *env, struct sl_str body, struct sl_buf *words)
{
    struct sl_json_doc *doc = NULL;
    enum sl_hdfs_fault fault = SL_HDFS_OTHER;
    if (body.len == 0 || body.len > MAX_FAULT_BODY || sl_json_parse(env, body, &doc, NULL) != SILT_OK) {
        return fault;
    }
    const sl_json *remote = sl_json_member(sl_json_root(doc), "RemoteException");
    const struct sl_str name = sl_json_member_text(remote, "exception");
    const struct sl_str message = sl_json_member_text(remote, "message");
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (sl_str_eq_c(name, faults[i].exception)) {
            fault = faults[i].fault;
        }
    }
    if (fault == SL_HDFS_OTHER && sl_str_starts_with(message, SL_STR("Offset=")) &&
        sl_str_find(message, SL_STR("out of the range")) != SIZE_MAX) {
        fault = SL_HDFS_RANGE;
    }
    if (words != NULL) {
        const size_t line = sl_str_find(message, SL_STR("\n")); /* a stack follows */
        sl_url_put_foreign(words, name, MAX_WORDS / 4);
        sl_buf_put_c(words, name.len > 0 && message.len > 0 ? ": " : "");
        sl_url_put_foreign(words, line == SIZE_MAX ? message : sl_str_sub(message, 0, line), MAX_WORDS);
    }
    sl_json_free(doc);
    return fault;
}
