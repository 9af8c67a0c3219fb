/* Folders of partitions; see partition_folder.h. */
#include "schema/partition_folder.h"

#include "base/uri.h"

#define NULL_PARTITION "__HIVE_DEFAULT_PARTITION__"
#define LONGEST_FOLDER 200

/*
 * Cuts what was put behind `start` to the longest name of a folder that any file system takes, with room to spare. Names are free:
 * values come from the log alone, and files differ by their own names.
 */
static void cut_name(struct sl_buf *out, size_t start)
{
    if (sl_buf_status(out, NULL) != SILT_OK || out->len - start <= LONGEST_FOLDER) {
        return;
    }
    size_t end = start + LONGEST_FOLDER;
    while (end > start && ((unsigned char)out->data[end] & 0xC0U) == 0x80U) {
        end--; /* inside a character */
    }
    for (size_t back = 1; back <= 2 && end - start > back; back++) {
        if (out->data[end - back] == '%') {
            end -= back; /* inside an escape */
        }
    }
    out->data[end] = '\0';
    out->len = end;
}

void sl_partition_folder_put(struct sl_buf *out, struct sl_str column, struct sl_str text)
{
    const size_t start = out->len;
    sl_uri_hive_escape(out, column);
    sl_buf_put_char(out, '=');
    if (text.ptr == NULL) {
        sl_buf_put_c(out, NULL_PARTITION);
    } else {
        sl_uri_hive_escape(out, text);
    }
    cut_name(out, start);
    sl_buf_put_char(out, '/');
}
