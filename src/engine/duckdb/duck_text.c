/*
 * silt_partition_text(value, id): a partition value as the log spells it, as a C function, so that what a file is grouped by is
 * exactly what its add action says. NULL stays NULL. Runs on DuckDB's threads.
 *
 * DuckDB names a folder after the text, and a folder's name has at most 255 bytes: a longer text, one that looks like a number of
 * ours, and the name of the folder for NULL is kept with the write that has the id, and the function gives "~number" for it.
 *
 * PROTOCOL: Partition Value Serialization.
 */
#include "duck.h"

#include "base/error.h"
#include "duck_function.h"
#include "schema/value.h"

#define KEPT '~'
/* DuckDB writes up to three bytes for one, behind the column's name. */
#define LONGEST 64
#define FOLDER_OF_NULL "__HIVE_DEFAULT_PARTITION__"

static silt_value text_value(silt_type_kind kind, void *data, idx_t row)
{
    duckdb_string_t *cell = (duckdb_string_t *)data + row;
    return sl_value_bytes(kind, sl_str_make(duckdb_string_t_data(cell), duckdb_string_t_length(*cell)));
}

static silt_value decimal_value(duckdb_logical_type type, const void *data, idx_t row)
{
    const uint8_t precision = duckdb_decimal_width(type);
    const uint8_t scale = duckdb_decimal_scale(type);
    switch (duckdb_decimal_internal_type(type)) {
    case DUCKDB_TYPE_SMALLINT: return sl_value_decimal(((const int16_t *)data)[row], precision, scale);
    case DUCKDB_TYPE_INTEGER: return sl_value_decimal(((const int32_t *)data)[row], precision, scale);
    case DUCKDB_TYPE_BIGINT: return sl_value_decimal(((const int64_t *)data)[row], precision, scale);
    default: break;
    }
    const duckdb_hugeint v = ((const duckdb_hugeint *)data)[row];
    return sl_value_decimal(sl_i128_make(v.upper, v.lower), precision, scale);
}

/* The value of a cell; false for a type that no partition column has. */
static bool read_value(duckdb_logical_type type, void *data, idx_t row, silt_value *out)
{
    switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_BOOLEAN: *out = sl_value_bool(((bool *)data)[row]); return true;
    case DUCKDB_TYPE_TINYINT: *out = sl_value_i64(SILT_TYPE_BYTE, ((int8_t *)data)[row]); return true;
    case DUCKDB_TYPE_SMALLINT: *out = sl_value_i64(SILT_TYPE_SHORT, ((int16_t *)data)[row]); return true;
    case DUCKDB_TYPE_INTEGER: *out = sl_value_i64(SILT_TYPE_INTEGER, ((int32_t *)data)[row]); return true;
    case DUCKDB_TYPE_BIGINT: *out = sl_value_i64(SILT_TYPE_LONG, ((int64_t *)data)[row]); return true;
    case DUCKDB_TYPE_FLOAT: *out = sl_value_f64(SILT_TYPE_FLOAT, (double)((float *)data)[row]); return true;
    case DUCKDB_TYPE_DOUBLE: *out = sl_value_f64(SILT_TYPE_DOUBLE, ((double *)data)[row]); return true;
    case DUCKDB_TYPE_DECIMAL: *out = decimal_value(type, data, row); return true;
    case DUCKDB_TYPE_VARCHAR: *out = text_value(SILT_TYPE_STRING, data, row); return true;
    case DUCKDB_TYPE_BLOB: *out = text_value(SILT_TYPE_BINARY, data, row); return true;
    case DUCKDB_TYPE_DATE: *out = sl_value_i64(SILT_TYPE_DATE, ((int32_t *)data)[row]); return true;
    case DUCKDB_TYPE_TIMESTAMP: *out = sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, ((int64_t *)data)[row]); return true;
    case DUCKDB_TYPE_TIMESTAMP_TZ: *out = sl_value_i64(SILT_TYPE_TIMESTAMP, ((int64_t *)data)[row]); return true;
    default: return false;
    }
}

/* DuckDB's infinite dates and times are ordinary ones to everyone else, as in columns that are no keys (duck_stats.c). */
static silt_status check_finite(const silt_value *value, silt_error *err)
{
    bool finite = true;
    if (value->kind == SILT_TYPE_DATE) {
        finite = duckdb_is_finite_date((duckdb_date){.days = (int32_t)value->as.i64});
    } else if (value->kind == SILT_TYPE_TIMESTAMP || value->kind == SILT_TYPE_TIMESTAMP_NTZ) {
        finite = duckdb_is_finite_timestamp((duckdb_timestamp){.micros = value->as.i64});
    }
    return finite
               ? SILT_OK
               : sl_fail(err, SILT_ESCHEMA, "CAST_OVERFLOW",
                         "[CAST_OVERFLOW] a partition column holds %sinfinity, which is no date or time that a Delta "
                         "table can store",
                         value->as.i64 < 0 ? "-" : "");
}

/* ---- texts that are kept ---- */

void sl_duck_texts_open(struct sl_dataplane *dp, struct sl_duck_texts *texts)
{
    *texts = (struct sl_duck_texts){.dp = dp, .id = sl_duck_next_id(dp)};
    sl_arena_init(&texts->arena, dp->env);
    sl_map_init(&texts->keys, dp->env);
    sl_vec_init(&texts->texts, dp->env, sizeof(struct sl_str));
    pthread_mutex_lock(&dp->lock);
    texts->next = dp->texts;
    dp->texts = texts;
    pthread_mutex_unlock(&dp->lock);
}

void sl_duck_texts_close(struct sl_duck_texts *texts)
{
    struct sl_dataplane *dp = texts->dp;
    if (dp == NULL) {
        return;
    }
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_texts **link = &dp->texts;
    while (*link != NULL && *link != texts) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = texts->next;
    }
    pthread_mutex_unlock(&dp->lock);
    sl_vec_release(&texts->texts);
    sl_map_release(&texts->keys);
    sl_arena_release(&texts->arena);
    texts->dp = NULL;
}

struct sl_str sl_duck_texts_find(struct sl_duck_texts *texts, struct sl_str result)
{
    int64_t number = -1;
    struct sl_str found = {NULL, 0};
    if (result.len == 0 || result.ptr[0] != KEPT) {
        return result;
    }
    pthread_mutex_lock(&texts->dp->lock);
    if (sl_str_to_i64(sl_str_sub(result, 1, result.len), &number) && number >= 0 && (size_t)number < texts->texts.len) {
        found = *(struct sl_str *)sl_vec_at(&texts->texts, (size_t)number);
    }
    pthread_mutex_unlock(&texts->dp->lock);
    return found;
}

/* The number of a text among those of a write. dp->lock is held. */
static silt_status number_of(struct sl_duck_texts *texts, struct sl_str text, uint64_t *out, silt_error *err)
{
    if (texts == NULL) {
        return sl_fail(err, SILT_EENGINE, NULL, "silt_partition_text belongs to a write that has ended");
    }
    const struct sl_map_entry *known = sl_map_find(&texts->keys, text);
    if (known != NULL) {
        *out = known->value.u64;
        return SILT_OK;
    }
    const struct sl_str copy = sl_arena_copy(&texts->arena, text);
    struct sl_str *slot = copy.ptr != NULL ? sl_vec_push(&texts->texts) : NULL;
    bool inserted = false;
    struct sl_map_entry *entry = slot != NULL ? sl_map_put(&texts->keys, copy, &inserted) : NULL;
    if (entry == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = copy;
    entry->value.u64 = texts->texts.len - 1;
    *out = entry->value.u64;
    return SILT_OK;
}

static bool may_name_folder(struct sl_str text)
{
    return text.len == 0 || (text.len <= LONGEST && text.ptr[0] != KEPT && !sl_str_eq_c(text, FOLDER_OF_NULL));
}

/* Puts "~number" in the place of a text that must not name a folder. */
static silt_status keep_long(struct sl_dataplane *dp, uint64_t id, struct sl_buf *text, silt_error *err)
{
    uint64_t number = 0;
    if (may_name_folder(sl_buf_view(text))) {
        return SILT_OK;
    }
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_texts *texts = dp->texts;
    while (texts != NULL && texts->id != id) {
        texts = texts->next;
    }
    const silt_status status = number_of(texts, sl_buf_view(text), &number, err);
    pthread_mutex_unlock(&dp->lock);
    SL_TRY(status);
    sl_buf_clear(text);
    sl_buf_put_char(text, KEPT);
    sl_buf_put_u64(text, number);
    return sl_buf_status(text, err);
}

/* ---- the function ---- */

static void give_text(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    struct sl_dataplane *dp = duckdb_scalar_function_get_extra_info(info);
    const uint64_t *ids = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
    duckdb_vector vector = duckdb_data_chunk_get_vector(input, 0);
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    void *data = duckdb_vector_get_data(vector);
    uint64_t *validity = duckdb_vector_get_validity(vector);
    silt_error err = SILT_ERROR_INIT;
    struct sl_buf text;
    sl_buf_init(&text, dp->env);
    const idx_t n = duckdb_data_chunk_get_size(input);
    for (idx_t row = 0; row < n && err.status == SILT_OK; row++) {
        silt_value value;
        if (validity != NULL && !duckdb_validity_row_is_valid(validity, row)) {
            duckdb_vector_ensure_validity_writable(output);
            duckdb_validity_set_row_invalid(duckdb_vector_get_validity(output), row);
            continue;
        }
        sl_buf_clear(&text);
        if (!read_value(type, data, row, &value)) {
            sl_fail(&err, SILT_ESCHEMA, NULL, "a column of this type cannot partition a table");
        } else if (check_finite(&value, &err) == SILT_OK && sl_partition_value_format(&text, &value, &err) == SILT_OK &&
                   sl_buf_status(&text, &err) == SILT_OK && keep_long(dp, ids[row], &text, &err) == SILT_OK) {
            duckdb_vector_assign_string_element_len(output, row, sl_buf_cstr(&text), text.len);
        }
    }
    if (err.status != SILT_OK) {
        duckdb_scalar_function_set_error(info, err.message);
    }
    sl_buf_release(&text);
    duckdb_destroy_logical_type(&type);
}

bool sl_duck_text_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    const struct sl_duck_function function = {.name = "silt_partition_text",
                                              .arguments = {DUCKDB_TYPE_ANY, DUCKDB_TYPE_UBIGINT},
                                              .n_arguments = 2,
                                              .result = DUCKDB_TYPE_VARCHAR,
                                              .extra = dp,
                                              .run = give_text};
    return sl_duck_function_register(handle, &function);
}
