/* Numbered parameters in parts of a statement. See marks.h. */
#include "sql/marks.h"

#include "sql/lexer.h"

/* More than any statement has; keeps a silly number from making a silly text. */
#define MAX_MARKS 65535

size_t sl_marks_highest(struct sl_str spelled)
{
    struct sl_lexer lexer = {.text = spelled};
    size_t highest = 0;
    for (struct sl_token token = sl_lex(&lexer); token.kind != SL_TOK_END && token.kind != SL_TOK_BAD;
         token = sl_lex(&lexer)) {
        int64_t number = 0;
        if (token.kind == SL_TOK_PARAM && token.text.len > 1 &&
            sl_str_to_i64(sl_str_sub(token.text, 1, token.text.len), &number) && number > (int64_t)highest &&
            number <= MAX_MARKS) {
            highest = (size_t)number;
        }
    }
    return highest;
}

void sl_marks_put(struct sl_buf *out, size_t highest)
{
    for (size_t i = 1; i <= highest; i++) {
        sl_buf_printf(out, "%s ($%zu IS NULL OR true)", i == 1 ? " WHERE" : " AND", i);
    }
}
