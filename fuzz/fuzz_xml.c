/*
 * XML of servers: the pass ends well or with a fault, within its limits; elements are told in pairs, the end of each with the path that its start
 * had, and what was told can be told again.
 */
#include <string.h>

#include "base/buf.h"
#include "storage/remote/xml.h"
#include "support/fuzz.h"

struct seen {
    struct sl_buf trace;
    char path[SL_XML_MAX_DEPTH][SL_XML_MAX_PATH];
    size_t depth;
};

static silt_status on_start(void *ctx, struct sl_str path, silt_error *err)
{
    (void)err;
    struct seen *seen = ctx;
    FUZZ_CHECK(seen->depth < SL_XML_MAX_DEPTH && path.len > 0 && path.len <= SL_XML_MAX_PATH - 1);
    memcpy(seen->path[seen->depth], path.ptr, path.len);
    seen->path[seen->depth++][path.len] = '\0';
    return SILT_OK;
}

static silt_status on_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    (void)err;
    struct seen *seen = ctx;
    FUZZ_CHECK(seen->depth > 0 && sl_str_eq_c(path, seen->path[seen->depth - 1]));
    FUZZ_CHECK(text.len <= SL_XML_MAX_TEXT);
    seen->depth--;
    sl_buf_put_str(&seen->trace, path);
    sl_buf_put_char(&seen->trace, '\0');
    sl_buf_put_str(&seen->trace, text);
    return SILT_OK;
}

static silt_status run(struct sl_str text, struct seen *seen)
{
    const struct sl_xml_handler handler = {on_start, on_end, seen};
    memset(seen, 0, sizeof(*seen));
    sl_buf_init(&seen->trace, fuzz_env());
    const silt_status status = sl_xml_read(fuzz_env(), text, &handler, NULL);
    FUZZ_CHECK(status == SILT_OK || status == SILT_EIO);
    FUZZ_CHECK(status != SILT_OK || (seen->depth == 0 && seen->trace.len > 0));
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seen first;
    static struct seen second;
    const struct sl_str text = {(const char *)data, size};
    const silt_status status = run(text, &first);
    FUZZ_CHECK(run(text, &second) == status);
    FUZZ_CHECK(sl_str_eq(sl_buf_view(&first.trace), sl_buf_view(&second.trace)));
    sl_buf_release(&first.trace);
    sl_buf_release(&second.trace);
    return 0;
}
