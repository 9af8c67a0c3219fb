/* The code of an error's body. Pure; any thread. */
#include "storage/remote/s3/aws_error.h"

#include "base/error.h"
#include "storage/remote/xml.h"

static void copy_plain(char *out, size_t size, struct sl_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 1 < size; i++) {
        const char c = text.ptr[i];
        const char lower = (char)(c | 0x20);
        if ((lower >= 'a' && lower <= 'z') || sl_is_digit(c) || c == '.' || c == '-' || c == '_') {
            out[n++] = c;
        }
    }
    out[n] = '\0';
}

static silt_status on_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    (void)err;
    struct sl_aws_error *out = ctx;
    if (sl_str_starts_with(path, SL_STR("ErrorResponse/"))) { /* of STS */
        path = sl_str_sub(path, sizeof("ErrorResponse/") - 1, path.len);
    }
    if (sl_str_eq(path, SL_STR("Error/Code"))) {
        copy_plain(out->code, sizeof(out->code), text);
    } else if (sl_str_eq(path, SL_STR("Error/Region"))) {
        copy_plain(out->region, sizeof(out->region), text);
    } else if (sl_str_eq(path, SL_STR("Error/Endpoint"))) {
        copy_plain(out->endpoint, sizeof(out->endpoint), text);
    }
    return SILT_OK;
}

void sl_aws_error_read(const silt_env *env, struct sl_str body, struct sl_aws_error *out)
{
    *out = (struct sl_aws_error){{0}, {0}, {0}};
    const struct sl_xml_handler handler = {.on_end = on_end, .ctx = out};
    if (body.len > 0) {
        sl_ignore(sl_xml_read(env, body, &handler, NULL)); /* a body that is no XML says nothing */
    }
}
