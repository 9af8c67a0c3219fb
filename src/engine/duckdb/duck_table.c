/*
 * The text "read_parquet([files], schema = map{'a': {name: 'a', type: 'BIGINT', default_value: NULL}, …})".
 *
 * The map does renaming, widening and missing columns without opening a file at bind and without a cast above the scan, which would stop
 * row-group pruning. Only columns that are wanted are in it. It hides from DuckDB's planner what the files say of themselves, so that
 * scans leave it out where they can (duck_branch.c). Pure; any thread.
 */
#include "duck_footer.h"

#include "base/error.h"

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

static silt_status put_entry(struct sl_buf *sql, const struct sl_duck_table *table, size_t index, silt_error *err)
{
    const struct silt_field *field = &table->fields[index];
    if (table->match_by_field_id) {
        const int64_t id = sl_footer_wanted_id(field);
        if (id < 0 || id > INT32_MAX) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "column %.*s has no usable parquet.field.id", SL_FMT(field->name));
        }
        sl_buf_put_i64(sql, id);
    } else {
        sl_duck_put_text(sql, field->name);
    }
    struct sl_buf type;
    sl_buf_init(&type, sql->env);
    silt_status status = sl_duck_put_type(&type, field->type, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&type, err);
    }
    if (status == SILT_OK) {
        sl_duck_put_map_entry(sql, table->aliases[index], sl_buf_view(&type));
    }
    sl_buf_release(&type);
    return status;
}

silt_status sl_duck_put_table(struct sl_buf *sql, const struct sl_duck_table *table, silt_error *err)
{
    sl_buf_put_c(sql, "read_parquet(");
    sl_duck_put_paths(sql, table->files, table->n_files);
    sl_buf_put_c(sql, ", schema = map{");
    for (size_t i = 0; i < table->n_fields; i++) {
        sl_buf_put_c(sql, i > 0 ? ", " : "");
        SL_TRY(put_entry(sql, table, i, err));
    }
    if (table->n_fields == 0) {
        sl_duck_put_no_column(sql);
    }
    sl_buf_put_c(sql, "})");
    return SILT_OK;
}

void sl_duck_put_no_column(struct sl_buf *sql)
{
    sl_buf_put_c(sql, "'silt no column'");
    sl_duck_put_map_entry(sql, SL_STR("silt no column"), SL_STR("BOOLEAN"));
}
