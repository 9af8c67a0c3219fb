/* Masking by the names of parameters, and by where users stand in URLs. Pure; any thread. */
#include "base/mask.h"

#include <string.h>

/* Of queries whose values let in whoever has them. In lower case. */
static const char *const names[] = {"sig",
                                    "signature",
                                    "x-amz-signature",
                                    "x-amz-security-token",
                                    "x-amz-credential",
                                    "x-goog-signature",
                                    "x-goog-credential",
                                    "delegation",
                                    "token",
                                    "access_token",
                                    "refresh_token",
                                    "client_secret",
                                    "password"};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool begins_with(struct sl_str text, size_t at, const char *word)
{
    for (size_t i = 0; word[i] != '\0'; i++) {
        if (at + i >= text.len || lower(text.ptr[at + i]) != word[i]) {
            return false;
        }
    }
    return true;
}

/* The character there, or the one that an escape stands for; its length goes to *n, 0 if it is another one than wanted. */
static size_t is_char(struct sl_str text, size_t at, char plain, const char *escaped)
{
    if (at < text.len && text.ptr[at] == plain) {
        return 1;
    }
    return begins_with(text, at, escaped) ? 3 : 0;
}

static bool ends_value(struct sl_str text, size_t at)
{
    return at >= text.len || strchr("&;,#\"'`<>)]} \t\r\n", text.ptr[at]) != NULL || begins_with(text, at, "%26");
}

/* Where the value of a secret parameter begins whose separator is at `at`; 0 if none is there. */
static size_t value_of_parameter(struct sl_str text, size_t at)
{
    size_t n = is_char(text, at, '?', "%3f");
    n = n > 0 ? n : is_char(text, at, '&', "%26");
    n = n > 0 ? n : is_char(text, at, ';', "%3b");
    n = n > 0 ? n : is_char(text, at, '#', "%23");
    for (size_t i = 0; n > 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t end = at + n + strlen(names[i]);
        const size_t equals = begins_with(text, at + n, names[i]) ? is_char(text, end, '=', "%3d") : 0;
        if (equals > 0) {
            return end + equals;
        }
    }
    return 0;
}

/* Keys as Hadoop once had them in locations, "s3://ID:SECRET@bucket": a secret may hold slashes. */
static bool is_s3(struct sl_str text, size_t at)
{
    return (at >= 2 && begins_with(text, at - 2, "s3://")) ||
           (at >= 3 && (begins_with(text, at - 3, "s3a://") || begins_with(text, at - 3, "s3n://")));
}

/* Does a word of a text end there? */
static bool ends_word(struct sl_str text, size_t at)
{
    return at >= text.len || strchr("?#\"'`<> \t\r\n", text.ptr[at]) != NULL;
}

/* Where a user with a password ends whose "://" is at `at`: the place of the '@'; 0 if there is none. */
static size_t end_of_user(struct sl_str text, size_t at)
{
    bool password = false;
    if (!begins_with(text, at, "://")) {
        return 0;
    }
    const bool s3 = is_s3(text, at);
    for (size_t i = at + 3; !ends_word(text, i); i++) {
        const char c = text.ptr[i];
        password = password || c == ':';
        if (c == '/' && !(s3 && (password || text.ptr[i - 1] == '/'))) {
            return 0;
        }
        const bool no_bucket = s3 && i > at + 3 && (ends_word(text, i + 1) || text.ptr[i + 1] == '/');
        if (c == '@' && (password || no_bucket)) {
            return i;
        }
    }
    return 0;
}

/* Nothing that is looked for begins with any other character than '#', '%', '&', ':', ';' and '?', which are all below 64. */
static bool may_begin(char c)
{
    static const uint64_t bits = UINT64_C(1) << '#' | UINT64_C(1) << '%' | UINT64_C(1) << '&' | UINT64_C(1) << ':' |
                                 UINT64_C(1) << ';' | UINT64_C(1) << '?';
    const unsigned char byte = (unsigned char)c;
    return byte < 64 && (bits >> byte & 1) != 0;
}

size_t sl_mask_secrets(char *text, size_t len)
{
    const struct sl_str all = sl_str_make(text, len);
    size_t at = 0;
    while (at < len && !may_begin(text[at])) {
        at++; /* what stays in its place */
    }
    size_t out = at;
    while (at < len) {
        if (!may_begin(text[at])) {
            text[out++] = text[at++];
            continue;
        }
        size_t begin = value_of_parameter(all, at);
        size_t end = begin;
        while (begin > 0 && !ends_value(all, end)) {
            end++;
        }
        if (begin == 0 && end_of_user(all, at) > 0) {
            begin = at + 3;
            end = end_of_user(all, at);
        }
        if (end > begin) {
            memmove(text + out, text + at, begin - at);
            out += begin - at;
            text[out++] = '*';
            at = end;
        } else {
            text[out++] = text[at++];
        }
    }
    return out;
}

bool sl_mask_needed(struct sl_str text)
{
    for (size_t at = 0; at < text.len; at++) {
        const size_t begin = value_of_parameter(text, at);
        if ((begin > 0 && !ends_value(text, begin)) || end_of_user(text, at) > 0) {
            return true;
        }
    }
    return false;
}
