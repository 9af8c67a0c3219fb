/*
 * Header blocks and what their fields say: fields are found as a plain walk over the lines finds them; what is taken holds together, and
 * printed and read again it is the same.
 */
#include "support/fuzz.h"

#include <string.h>

#include "base/time.h"
#include "storage/remote/http_fields.h"

static const char *const NAMES[] = {"content-length", "transfer-encoding", "x", "retry-after"};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* The value of a line of that name, by hand; absent for any other line. */
static struct sl_str value_of(struct sl_str line, const char *name)
{
    size_t i = 0;
    for (; name[i] != '\0'; i++) {
        if (i >= line.len || lower(line.ptr[i]) != name[i]) {
            return sl_str_make(NULL, 0);
        }
    }
    if (i >= line.len || line.ptr[i] != ':') {
        return sl_str_make(NULL, 0);
    }
    return sl_str_trim(sl_str_sub(line, i + 1, line.len));
}

static void check_fields(struct sl_str block)
{
    for (size_t n = 0; n < sizeof(NAMES) / sizeof(NAMES[0]); n++) {
        struct sl_str rest = block;
        size_t begin = 0;
        for (size_t at = 0; at <= block.len; at++) {
            if (at < block.len && block.ptr[at] != '\n') {
                continue;
            }
            const struct sl_str line = sl_str_sub(block, begin, at);
            begin = at + 1;
            const struct sl_str wanted = value_of(line, NAMES[n]);
            if (wanted.ptr != NULL) {
                const struct sl_str found = sl_http_field_next(&rest, NAMES[n]);
                FUZZ_CHECK(found.ptr != NULL && sl_str_eq(found, wanted));
            }
        }
        FUZZ_CHECK(sl_http_field_next(&rest, NAMES[n]).ptr == NULL);
    }
}

static void check_framing(struct sl_str block)
{
    int64_t length = 0;
    const enum sl_http_framing framing = sl_http_framing_of(block, &length);
    FUZZ_CHECK((framing == SL_HTTP_FRAMING_LENGTH) == (length >= 0));
    struct sl_str rest = block;
    const bool coded = sl_http_field_next(&rest, "transfer-encoding").ptr != NULL;
    rest = block;
    bool sized = false;
    for (struct sl_str text = sl_http_field_next(&rest, "content-length"); text.ptr != NULL;
         text = sl_http_field_next(&rest, "content-length")) {
        int64_t value = 0;
        sized = true;
        FUZZ_CHECK(framing != SL_HTTP_FRAMING_LENGTH || (sl_str_to_i64(text, &value) && value == length));
    }
    FUZZ_CHECK(coded ? framing == SL_HTTP_FRAMING_CHUNKS || framing == SL_HTTP_FRAMING_NONE
                     : (framing == SL_HTTP_FRAMING_NONE) == !sized);
}

static void check_range(struct sl_str text)
{
    int64_t first = 0;
    int64_t last = 0;
    int64_t size = 0;
    if (!sl_http_content_range_parse(text, &first, &last, &size)) {
        FUZZ_CHECK(first == -1 && last == -1 && size == -1);
        return;
    }
    struct sl_buf printed;
    sl_buf_init(&printed, fuzz_env());
    if (first < 0) {
        FUZZ_CHECK(last < 0 && size >= 0);
        sl_buf_printf(&printed, "bytes */%lld", (long long)size);
    } else {
        FUZZ_CHECK(first <= last && (size == -1 || last < size));
        sl_buf_printf(&printed, "bytes %lld-%lld/", (long long)first, (long long)last);
        if (size < 0) {
            sl_buf_put_char(&printed, '*');
        } else {
            sl_buf_put_i64(&printed, size);
        }
    }
    int64_t again[3] = {0};
    FUZZ_CHECK(sl_http_content_range_parse(sl_buf_view(&printed), &again[0], &again[1], &again[2]));
    FUZZ_CHECK(again[0] == first && again[1] == last && again[2] == size);
    sl_buf_release(&printed);
}

static void check_date(struct sl_str text)
{
    static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t seconds = 0;
    int64_t wait_us = 0;
    const bool is_date = sl_http_date_parse(text, &seconds);
    FUZZ_CHECK(seconds >= 0 && (is_date || seconds == 0));
    FUZZ_CHECK(sl_http_retry_after_parse(text, INT64_C(1577836800000000), &wait_us) >= is_date && wait_us >= 0);
    if (!is_date) {
        return;
    }
    int64_t year = 0;
    int month = 0;
    int day = 0;
    const int64_t clock = seconds % 86400;
    sl_civil_from_days(seconds / 86400, &year, &month, &day);
    struct sl_buf printed;
    sl_buf_init(&printed, fuzz_env());
    sl_buf_printf(&printed, "Day, %02d %.3s %04lld %02d:%02d:%02d GMT", day, MONTHS + (size_t)(month - 1) * 3,
                  (long long)year, (int)(clock / 3600), (int)(clock / 60 % 60), (int)(clock % 60));
    int64_t again = 0;
    FUZZ_CHECK(sl_http_date_parse(sl_buf_view(&printed), &again) && again == seconds);
    sl_buf_release(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    switch (fuzz_pick(&in, 3)) {
    case 0: {
        const struct sl_str block = fuzz_rest(&in);
        check_fields(block);
        check_framing(block);
        break;
    }
    case 1: check_range(fuzz_rest(&in)); break;
    default: check_date(fuzz_rest(&in)); break;
    }
    return 0;
}
