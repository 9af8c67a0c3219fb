/*
 * Answers of Azure: pages of both services are taken with names and sizes that hold together, or refused; a signature that was brought to its form
 * stays as it is; codes fit into a message.
 */
#include <string.h>

#include "storage/remote/azure/azure_page.h"
#include "storage/remote/azure/azure_text.h"
#include "support/fuzz.h"

static void check_page(struct sl_str body, bool json)
{
    struct sl_azure_page page;
    sl_azure_page_init(&page, fuzz_env());
    const silt_status status = json ? sl_azure_page_read_json(&page, body, NULL)
                                    : sl_azure_page_read_xml(&page, body, NULL);
    for (size_t i = 0; status == SILT_OK && i < page.entries.len; i++) {
        const struct sl_azure_entry *entry = sl_vec_at(&page.entries, i);
        FUZZ_CHECK(entry->name.ptr != NULL && entry->name.len > 0);
        FUZZ_CHECK(memchr(entry->name.ptr, '\0', entry->name.len) == NULL);
        FUZZ_CHECK(entry->size_bytes >= 0);
    }
    sl_azure_page_release(&page);
}

static void check_signature(struct sl_str text)
{
    struct sl_buf once;
    struct sl_buf twice;
    sl_buf_init(&once, fuzz_env());
    sl_buf_init(&twice, fuzz_env());
    if (sl_azure_put_sas(&once, text)) {
        FUZZ_CHECK(sl_azure_put_sas(&twice, sl_buf_view(&once)));
        FUZZ_CHECK(sl_str_eq(sl_buf_view(&once), sl_buf_view(&twice)));
        for (size_t i = 0; i < once.len; i++) {
            FUZZ_CHECK(once.data[i] > ' ' && once.data[i] <= '~' && once.data[i] != '#');
        }
    }
    sl_buf_release(&once);
    sl_buf_release(&twice);
}

static void check_code(struct sl_str text)
{
    const struct sl_str code = sl_azure_clean_code(text);
    FUZZ_CHECK(code.len <= 64);
    for (size_t i = 0; i < code.len; i++) {
        FUZZ_CHECK(code.ptr[i] > ' ' && code.ptr[i] <= '~' && strchr("<>&=\"'", code.ptr[i]) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    const size_t kind = fuzz_pick(&in, 4);
    const struct sl_str body = fuzz_rest(&in);
    switch (kind) {
    case 0: check_page(body, false); break;
    case 1: check_page(body, true); break;
    case 2: check_signature(body); break;
    default: check_code(body); break;
    }
    return 0;
}
