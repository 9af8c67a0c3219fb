/*
 * Lists of column names in table properties; see column_list.h. Pure; any thread.
 */
#include "kernel/feature/column_list.h"

static void skip_spaces(struct sl_column_list *list)
{
    while (list->pos < list->text.len && strchr(" \t\r\n", list->text.ptr[list->pos]) != NULL) {
        list->pos++;
    }
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || sl_is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool read_quoted(struct sl_column_list *list, struct sl_str *out)
{
    const size_t begin = list->n_unquoted;
    list->pos++; /* the opening quote */
    while (list->pos < list->text.len) {
        const char c = list->text.ptr[list->pos++];
        if (c == '`') {
            if (list->pos >= list->text.len || list->text.ptr[list->pos] != '`') {
                *out = sl_str_make(list->unquoted + begin, list->n_unquoted - begin);
                return out->len > 0;
            }
            list->pos++;
        }
        if (list->n_unquoted == sizeof(list->unquoted)) {
            return false;
        }
        list->unquoted[list->n_unquoted++] = c;
    }
    return false;
}

static bool read_part(struct sl_column_list *list, struct sl_str *out)
{
    skip_spaces(list);
    if (list->pos < list->text.len && list->text.ptr[list->pos] == '`') {
        return read_quoted(list, out);
    }
    const size_t begin = list->pos;
    while (list->pos < list->text.len && is_plain(list->text.ptr[list->pos])) {
        list->pos++;
    }
    *out = sl_str_sub(list->text, begin, list->pos);
    return out->len > 0;
}

bool sl_column_list_next(struct sl_column_list *list, bool *more)
{
    list->n_parts = 0;
    list->n_unquoted = 0;
    for (;;) {
        if (list->n_parts == SL_COLUMN_LIST_MAX_PARTS || !read_part(list, &list->parts[list->n_parts])) {
            return false;
        }
        list->n_parts++;
        skip_spaces(list);
        if (list->pos == list->text.len) {
            *more = false;
            return true;
        }
        const char c = list->text.ptr[list->pos++];
        if (c == ',') {
            *more = true;
            return true;
        }
        if (c != '.') {
            return false;
        }
    }
}

bool sl_column_list_valid(struct sl_str text)
{
    struct sl_column_list list = {.text = text};
    bool more = true;
    while (more) {
        if (!sl_column_list_next(&list, &more)) {
            return false;
        }
    }
    return true;
}
