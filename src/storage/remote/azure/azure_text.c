/* Texts of Azure's requests and answers. Pure; any thread. */
#include "storage/remote/azure/azure_text.h"
#include "storage/remote/url.h"

#include "base/time.h"

#define MAX_CODE 64

static bool is_letter(char c)
{
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z';
}

void sl_azure_decode(struct sl_buf *out, struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const bool escape = text.ptr[i] == '%' && text.len - i > 2 && sl_hex_digit(text.ptr[i + 1]) >= 0 &&
                            sl_hex_digit(text.ptr[i + 2]) >= 0;
        if (escape) {
            sl_buf_put_char(out, (char)(sl_hex_digit(text.ptr[i + 1]) << 4 | sl_hex_digit(text.ptr[i + 2])));
            i += 2;
        } else {
            sl_buf_put_char(out, text.ptr[i]);
        }
    }
}

void sl_azure_put_date(struct sl_buf *out, int64_t wall_us)
{
    static const char *const weekdays[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const int64_t days = sl_floor_div(wall_us, SL_US_PER_DAY);
    const int64_t seconds = sl_floor_mod(wall_us, SL_US_PER_DAY) / 1000000;
    int64_t year = 0;
    int month = 1;
    int day = 1;
    sl_civil_from_days(days, &year, &month, &day);
    sl_buf_printf(out, "%s, %02d %s %04lld %02d:%02d:%02d GMT", weekdays[sl_floor_mod(days, 7)], day, months[month - 1],
                  (long long)year, (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
}

struct sl_str sl_azure_clean_code(struct sl_str code)
{
    if (code.len == 0 || code.len > MAX_CODE) {
        return (struct sl_str){0};
    }
    for (size_t i = 0; i < code.len; i++) {
        const char c = code.ptr[i];
        if (!is_letter(c) && !sl_is_digit(c) && c != '_' && c != '-' && c != '.') {
            return (struct sl_str){0};
        }
    }
    return code;
}

/* Decodes a part, then encodes it, so that one that came encoded is not encoded twice. */
static void put_part(struct sl_buf *out, struct sl_str part)
{
    struct sl_buf plain;
    sl_buf_init(&plain, out->env);
    sl_azure_decode(&plain, part);
    if (plain.status != SILT_OK) {
        out->status = plain.status; /* sticky there as well */
    }
    sl_url_encode(out, sl_buf_view(&plain), "");
    sl_buf_release(&plain);
}

bool sl_azure_put_sas(struct sl_buf *out, struct sl_str sas)
{
    struct sl_str rest = sl_str_trim(sas);
    bool has_signature = false;
    bool first = true;
    if (sl_str_starts_with(rest, SL_STR("?"))) {
        rest = sl_str_sub(rest, 1, rest.len);
    }
    while (rest.len > 0) {
        const size_t found = sl_str_find(rest, SL_STR("&"));
        const struct sl_str pair = sl_str_sub(rest, 0, found != SIZE_MAX ? found : rest.len);
        rest = sl_str_sub(rest, found != SIZE_MAX ? found + 1 : rest.len, rest.len);
        const size_t equals = sl_str_find(pair, SL_STR("="));
        if (pair.len == 0 || equals == 0 || equals == SIZE_MAX) {
            continue;
        }
        const struct sl_str name = sl_str_sub(pair, 0, equals);
        has_signature = has_signature || sl_str_eq_c(name, "sig");
        if (!first) {
            sl_buf_put_char(out, '&');
        }
        first = false;
        put_part(out, name);
        sl_buf_put_char(out, '=');
        put_part(out, sl_str_sub(pair, equals + 1, pair.len));
    }
    return has_signature;
}
