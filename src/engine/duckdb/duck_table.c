/*
 * Pieces of the text "read_parquet([files], schema = map{'a': {name: 'a', type: 'BIGINT', default_value: NULL}, …})".
 *
 * The map does renaming, widening and missing columns without opening a file at bind and without a cast above the scan, which would stop
 * row-group pruning. Only columns that are wanted are in it. It hides from DuckDB's planner what the files say of themselves, so that
 * scans leave it out where they can (duck_branch.c). Pure; any thread.
 */
#include "duck.h"

bool sl_duck_is_virtual_name(struct sl_str name)
{
    static const char *const names[] = {"file_index", "file_row_number", "filename"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (sl_str_eq_nocase(name, sl_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

void sl_duck_put_map_entry(struct sl_buf *sql, struct sl_str alias, struct sl_str type)
{
    sl_buf_put_c(sql, ": {name: ");
    sl_duck_put_text(sql, alias);
    sl_buf_put_c(sql, ", type: ");
    sl_duck_put_text(sql, type);
    sl_buf_put_c(sql, ", default_value: NULL}");
}

void sl_duck_put_no_column(struct sl_buf *sql)
{
    sl_buf_put_c(sql, "'silt no column'");
    sl_duck_put_map_entry(sql, SL_STR("silt no column"), SL_STR("BOOLEAN"));
}
