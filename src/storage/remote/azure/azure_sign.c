/* Azure's Shared Key. Pure; any thread. */
#include "storage/remote/azure/azure_sign.h"

#include "base/error.h"
#include "storage/remote/digest.h"

/* Headers that stand in the text by their place, in this order; Content-Length among them is the body's. */
static const char *const places[] = {
    "content-encoding",  "content-language", "content-length", "content-md5",         "content-type", "date",
    "if-modified-since", "if-match",         "if-none-match",  "if-unmodified-since", "range"};

static struct sl_str find_header(const struct sl_azure_signable *signable, const char *name)
{
    for (size_t i = 0; i < signable->n_headers; i++) {
        if (sl_str_eq_nocase(sl_str_from(signable->headers[i].name), sl_str_from(name))) {
            return sl_str_trim(sl_str_from(signable->headers[i].value));
        }
    }
    return (struct sl_str){0};
}

static void put_lower(struct sl_buf *out, struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        sl_buf_put_char(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static int compare_names(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return (int)(unsigned char)lower(*a) - (int)(unsigned char)lower(*b);
}

/* The indexes of n headers in the order of their names; n is small. */
static void sort_names(const struct sl_http_header *headers, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        while (at > 0 && compare_names(headers[order[at - 1]].name, headers[i].name) > 0) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

static void put_places(const struct sl_azure_signable *signable, struct sl_buf *out)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (sl_str_eq_c(SL_STR("content-length"), places[i])) {
            if (signable->body_len > 0) {
                sl_buf_put_u64(out, signable->body_len);
            }
        } else {
            sl_buf_put_str(out, find_header(signable, places[i]));
        }
        sl_buf_put_char(out, '\n');
    }
}

static void put_service_headers(const struct sl_azure_signable *signable, struct sl_buf *out)
{
    size_t order[SL_AZURE_MAX_HEADERS];
    sort_names(signable->headers, signable->n_headers, order);
    for (size_t i = 0; i < signable->n_headers; i++) {
        const struct sl_http_header *header = &signable->headers[order[i]];
        const struct sl_str name = sl_str_from(header->name);
        if (name.len < 5 || !sl_str_eq_nocase(sl_str_sub(name, 0, 5), SL_STR("x-ms-"))) {
            continue;
        }
        put_lower(out, name);
        sl_buf_put_char(out, ':');
        sl_buf_put_str(out, sl_str_trim(sl_str_from(header->value)));
        sl_buf_put_char(out, '\n');
    }
}

static void put_resource(const struct sl_azure_signable *signable, struct sl_buf *out)
{
    size_t order[SL_AZURE_MAX_PARAMETERS];
    sl_buf_put_char(out, '/');
    sl_buf_put_c(out, signable->account);
    sl_buf_put_str(out, signable->path);
    sort_names(signable->parameters, signable->n_parameters, order);
    for (size_t i = 0; i < signable->n_parameters; i++) {
        const struct sl_http_header *parameter = &signable->parameters[order[i]];
        sl_buf_put_char(out, '\n');
        put_lower(out, sl_str_from(parameter->name));
        sl_buf_put_char(out, ':');
        sl_buf_put_c(out, parameter->value);
    }
}

silt_status sl_azure_text_to_sign(const struct sl_azure_signable *signable, struct sl_buf *out, silt_error *err)
{
    if (signable->n_headers > SL_AZURE_MAX_HEADERS || signable->n_parameters > SL_AZURE_MAX_PARAMETERS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a request has too many headers or parameters to be signed");
    }
    sl_buf_put_c(out, signable->method);
    sl_buf_put_char(out, '\n');
    put_places(signable, out);
    put_service_headers(signable, out);
    put_resource(signable, out);
    return sl_buf_status(out, err);
}

silt_status sl_azure_sign(const silt_env *env, struct sl_str key, const struct sl_azure_signable *signable,
                          struct sl_buf *out, silt_error *err)
{
    uint8_t digest[SL_SHA256_SIZE];
    struct sl_buf text;
    sl_buf_init(&text, env);
    silt_status status = sl_azure_text_to_sign(signable, &text, err);
    if (status == SILT_OK) {
        status = sl_hmac_sha256(key, sl_buf_view(&text), digest, err);
    }
    if (status == SILT_OK) {
        sl_buf_put_c(out, "SharedKey ");
        sl_buf_put_c(out, signable->account);
        sl_buf_put_char(out, ':');
        sl_base64_put(out, sl_str_make((const char *)digest, sizeof(digest)));
        status = sl_buf_status(out, err);
    }
    sl_buf_release(&text);
    return status;
}
