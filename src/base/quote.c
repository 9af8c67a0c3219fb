/*
 * Quoting as SQL does it; see quote.h. Called by whatever composes SQL: printers of types and expressions, the data plane, the
 * program. Pure; any thread.
 */
#include "base/quote.h"

void sl_quote_put(struct sl_buf *out, struct sl_str text, char quote)
{
    size_t begin = 0;
    sl_buf_put_char(out, quote);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == quote) {
            sl_buf_put(out, text.ptr + begin, i + 1 - begin);
            sl_buf_put_char(out, quote);
            begin = i + 1;
        }
    }
    sl_buf_put(out, text.ptr + begin, text.len - begin);
    sl_buf_put_char(out, quote);
}
