/*
 * Profiles: sections of lines "key = value". In the config file a section is called "profile NAME", but "default" is "default". Lines that
 * begin with white space belong to nested settings, which nobody here needs; '#' and ';' begin comments. Any thread.
 */
#include "storage/remote/s3/aws_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define MAX_FILE (1 << 20)
#define READ_SIZE 65536

silt_status sl_aws_file_read(const char *path, size_t max, struct sl_buf *out, silt_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return sl_fail_errno(err, errno, "reading", path);
    }
    silt_status status = SILT_OK;
    for (;;) {
        char *room = sl_buf_reserve(out, READ_SIZE);
        if (room == NULL) {
            status = sl_buf_status(out, err);
            break;
        }
        const ssize_t n = read(fd, room, READ_SIZE - 1);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            status = sl_fail_errno(err, errno, "reading", path);
            break;
        }
        if (n == 0) {
            break;
        }
        out->len += (size_t)n;
        if (out->len > max) {
            status = sl_fail(err, SILT_ELIMIT, NULL, "%s has more than %zu bytes", path, max);
            break;
        }
    }
    (void)close(fd); /* it was only read */
    return status;
}

static silt_status read_one(const struct sl_remote_context *context, enum sl_option option, const char *usual,
                            struct sl_buf *out, silt_error *err)
{
    const char *path = sl_option_get(context->options, option, NULL);
    struct sl_buf built;
    sl_buf_init(&built, context->env);
    silt_status status = SILT_OK;
    if (path == NULL) {
        const char *home = getenv("HOME");
        if (home == NULL || home[0] == '\0') {
            return SILT_OK;
        }
        sl_buf_printf(&built, "%s/.aws/%s", home, usual);
        status = sl_buf_status(&built, err);
        path = sl_buf_cstr(&built);
    }
    if (status == SILT_OK) {
        status = sl_aws_file_read(path, MAX_FILE, out, err);
        if (status == SILT_ENOTFOUND) {
            silt_error_reset(err);
            status = SILT_OK;
        }
    }
    sl_buf_release(&built);
    return status;
}

silt_status sl_aws_files_read(const struct sl_remote_context *context, struct sl_aws_files *files, silt_error *err)
{
    sl_buf_init(&files->credentials, context->env);
    sl_buf_init(&files->config, context->env);
    silt_status status = read_one(context, SL_OPTION_S3_CREDENTIALS_FILE, "credentials", &files->credentials, err);
    if (status == SILT_OK) {
        status = read_one(context, SL_OPTION_S3_CONFIG_FILE, "config", &files->config, err);
    }
    return status;
}

static void wipe(struct sl_buf *buf)
{
    if (buf->data != NULL) {
        explicit_bzero(buf->data, buf->cap);
    }
    sl_buf_release(buf);
}

void sl_aws_files_release(struct sl_aws_files *files)
{
    wipe(&files->credentials);
    wipe(&files->config);
}

/* The next line without its break; false at the end. */
static bool next_line(struct sl_str *text, struct sl_str *line)
{
    if (text->len == 0) {
        return false;
    }
    const size_t found = sl_str_find(*text, SL_STR("\n"));
    const size_t end = found == SIZE_MAX ? text->len : found;
    *line = sl_str_sub(*text, 0, end);
    *text = sl_str_sub(*text, end < text->len ? end + 1 : end, text->len);
    return true;
}

/* "[profile x]" → "profile x"; false for a line that is no section's head. */
static bool section_head(struct sl_str line, struct sl_str *name)
{
    const struct sl_str trimmed = sl_str_trim(line);
    const size_t close = sl_str_find(trimmed, SL_STR("]"));
    if (trimmed.len < 2 || trimmed.ptr[0] != '[' || close == SIZE_MAX) {
        return false;
    }
    *name = sl_str_trim(sl_str_sub(trimmed, 1, close));
    return true;
}

static bool is_profile(struct sl_str section, struct sl_str profile, bool config)
{
    if (!config || sl_str_eq(section, SL_STR("default"))) {
        return sl_str_eq(section, profile);
    }
    return sl_str_starts_with(section, SL_STR("profile")) && section.len > 7 &&
           (section.ptr[7] == ' ' || section.ptr[7] == '\t') &&
           sl_str_eq(sl_str_trim(sl_str_sub(section, 7, section.len)), profile);
}

/* Ends in a comment? " #" and " ;" begin one behind a value. */
static struct sl_str without_comment(struct sl_str value)
{
    for (size_t i = 1; i < value.len; i++) {
        if ((value.ptr[i] == '#' || value.ptr[i] == ';') && (value.ptr[i - 1] == ' ' || value.ptr[i - 1] == '\t')) {
            return sl_str_trim(sl_str_sub(value, 0, i));
        }
    }
    return value;
}

/* key NULL: a view that is present if the section is there. */
static struct sl_str find(struct sl_str text, struct sl_str profile, const char *key, bool config)
{
    struct sl_str line;
    struct sl_str section;
    bool inside = false;
    while (next_line(&text, &line)) {
        if (line.len > 0 && (line.ptr[0] == ' ' || line.ptr[0] == '\t')) {
            continue;
        }
        if (section_head(line, &section)) {
            inside = is_profile(section, profile, config);
            if (inside && key == NULL) {
                return section;
            }
            continue;
        }
        const size_t equals = sl_str_find(line, SL_STR("="));
        if (!inside || equals == SIZE_MAX || line.ptr[0] == '#' || line.ptr[0] == ';') {
            continue;
        }
        if (key != NULL && sl_str_eq_nocase(sl_str_trim(sl_str_sub(line, 0, equals)), sl_str_from(key))) {
            return without_comment(sl_str_trim(sl_str_sub(line, equals + 1, line.len)));
        }
    }
    return (struct sl_str){0};
}

struct sl_str sl_aws_profile_get(const struct sl_aws_files *files, struct sl_str profile, const char *key)
{
    const struct sl_str value = find(sl_buf_view(&files->credentials), profile, key, false);
    return value.ptr != NULL && value.len > 0 ? value : find(sl_buf_view(&files->config), profile, key, true);
}

/* "[services NAME]", "s3 =", and indented below it "endpoint_url = …" */
static struct sl_str find_s3_endpoint(struct sl_str text, struct sl_str services)
{
    struct sl_str line;
    struct sl_str section;
    bool inside = false;
    bool s3 = false;
    while (services.len > 0 && next_line(&text, &line)) {
        const bool indented = line.len > 0 && (line.ptr[0] == ' ' || line.ptr[0] == '\t');
        if (!indented && section_head(line, &section)) {
            inside = sl_str_starts_with(section, SL_STR("services ")) &&
                     sl_str_eq(sl_str_trim(sl_str_sub(section, 9, section.len)), services);
            s3 = false;
            continue;
        }
        const size_t equals = sl_str_find(line, SL_STR("="));
        if (!inside || equals == SIZE_MAX) {
            continue;
        }
        const struct sl_str key = sl_str_trim(sl_str_sub(line, 0, equals));
        if (!indented) {
            s3 = sl_str_eq_nocase(key, SL_STR("s3"));
        } else if (s3 && sl_str_eq_nocase(key, SL_STR("endpoint_url"))) {
            return without_comment(sl_str_trim(sl_str_sub(line, equals + 1, line.len)));
        }
    }
    return (struct sl_str){0};
}

struct sl_str sl_aws_profile_endpoint(const struct sl_aws_files *files, struct sl_str profile)
{
    const struct sl_str services = sl_aws_profile_get(files, profile, "services");
    const struct sl_str found = find_s3_endpoint(sl_buf_view(&files->config), services);
    return found.len > 0 ? found : sl_aws_profile_get(files, profile, "endpoint_url");
}

bool sl_aws_profile_exists(const struct sl_aws_files *files, struct sl_str profile)
{
    return sl_aws_profile_get(files, profile, NULL).ptr != NULL;
}

const char *sl_aws_profile_name(const struct sl_remote_context *context)
{
    const char *name = sl_option_get(context->options, SL_OPTION_S3_PROFILE, NULL);
    return name != NULL ? name : "default";
}
