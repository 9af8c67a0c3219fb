/*
 * Pieces of SQL text and cells of result chunks. Pure; any thread.
 */
#include "duck.h"

#include "base/error.h"
#include "base/quote.h"

void sl_duck_put_ident(struct sl_buf *sql, struct sl_str name)
{
    sl_quote_put(sql, name, '"');
}

void sl_duck_put_text(struct sl_buf *sql, struct sl_str text)
{
    sl_quote_put(sql, text, '\'');
}

/* DuckDB takes '*', '?' and '[' in a path for a pattern, even where a file of that very name exists: a class of one matches itself. */
void sl_duck_put_path(struct sl_buf *sql, const char *path)
{
    sl_buf_put_char(sql, '\'');
    for (const char *c = path; *c != '\0'; c++) {
        if (*c == '*' || *c == '?' || *c == '[') {
            sl_buf_put_char(sql, '[');
            sl_buf_put_char(sql, *c);
            sl_buf_put_char(sql, ']');
        } else {
            sl_buf_put_c(sql, *c == '\'' ? "'" : "");
            sl_buf_put_char(sql, *c);
        }
    }
    sl_buf_put_char(sql, '\'');
}

void sl_duck_put_paths(struct sl_buf *sql, const char *const *paths, size_t n)
{
    sl_buf_put_char(sql, '[');
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ",");
        sl_duck_put_path(sql, paths[i]);
    }
    sl_buf_put_char(sql, ']');
}

const char *sl_duck_type_name(silt_type_kind kind)
{
    static const char *const names[] = {
        [SILT_TYPE_BOOLEAN] = "BOOLEAN",
        [SILT_TYPE_BYTE] = "TINYINT",
        [SILT_TYPE_SHORT] = "SMALLINT",
        [SILT_TYPE_INTEGER] = "INTEGER",
        [SILT_TYPE_LONG] = "BIGINT",
        [SILT_TYPE_FLOAT] = "FLOAT",
        [SILT_TYPE_DOUBLE] = "DOUBLE",
        [SILT_TYPE_STRING] = "VARCHAR",
        [SILT_TYPE_BINARY] = "BLOB",
        [SILT_TYPE_DATE] = "DATE",
        [SILT_TYPE_TIMESTAMP] = "TIMESTAMP WITH TIME ZONE",
        [SILT_TYPE_TIMESTAMP_NTZ] = "TIMESTAMP",
        [SILT_TYPE_VARIANT] = "VARIANT",
    };
    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

/* How a variant is spelled: as a value of SQL, or as the group that a file has for it. */
enum variant_form {
    VARIANT_AS_VALUE,
    VARIANT_AS_GROUP
};

static silt_status put_type(struct sl_buf *sql, const struct silt_type *type, enum variant_form form, silt_error *err);

static silt_status put_struct(struct sl_buf *sql, const struct silt_type *type, enum variant_form form, silt_error *err)
{
    sl_buf_put_c(sql, "STRUCT(");
    for (size_t i = 0; i < type->n_fields; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        sl_duck_put_ident(sql, type->fields[i].name);
        sl_buf_put_char(sql, ' ');
        SL_TRY(put_type(sql, type->fields[i].type, form, err));
    }
    sl_buf_put_char(sql, ')');
    return SILT_OK;
}

/* Recursion is bounded: schemas are limited to SL_SCHEMA_MAX_DEPTH when they are built. */
static silt_status put_type(struct sl_buf *sql, const struct silt_type *type, enum variant_form form, silt_error *err)
{
    switch (type->kind) {
    case SILT_TYPE_VOID: sl_buf_put_c(sql, "INTEGER"); return SILT_OK; /* always NULL: any type will do */
    case SILT_TYPE_DECIMAL: sl_buf_printf(sql, "DECIMAL(%u,%u)", type->precision, type->scale); return SILT_OK;
    case SILT_TYPE_STRUCT: return put_struct(sql, type, form, err);
    case SILT_TYPE_ARRAY:
        SL_TRY(put_type(sql, type->element, form, err));
        sl_buf_put_c(sql, "[]");
        return SILT_OK;
    case SILT_TYPE_MAP:
        sl_buf_put_c(sql, "MAP(");
        SL_TRY(put_type(sql, type->key, form, err));
        sl_buf_put_c(sql, ", ");
        SL_TRY(put_type(sql, type->element, form, err));
        sl_buf_put_char(sql, ')');
        return SILT_OK;
    default: break;
    }
    const bool group = type->kind == SILT_TYPE_VARIANT && form == VARIANT_AS_GROUP;
    const char *name = group ? "STRUCT(metadata BLOB, \"value\" BLOB)" : sl_duck_type_name(type->kind);
    if (name == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a type has no name in DuckDB");
    }
    sl_buf_put_c(sql, name);
    return SILT_OK;
}

silt_status sl_duck_put_type(struct sl_buf *sql, const struct silt_type *type, silt_error *err)
{
    return put_type(sql, type, VARIANT_AS_VALUE, err);
}

silt_status sl_duck_put_stored_type(struct sl_buf *sql, const struct silt_type *type, silt_error *err)
{
    return put_type(sql, type, VARIANT_AS_GROUP, err);
}

static bool cell_is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    return validity != NULL && !duckdb_validity_row_is_valid(validity, row);
}

struct sl_str sl_duck_cell_str(duckdb_data_chunk chunk, idx_t column, idx_t row)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, column);
    if (cell_is_null(vector, row)) {
        return (struct sl_str){NULL, 0};
    }
    duckdb_string_t *cell = (duckdb_string_t *)duckdb_vector_get_data(vector) + row;
    return sl_str_make(duckdb_string_t_data(cell), duckdb_string_t_length(*cell));
}

bool sl_duck_cell_i64(duckdb_data_chunk chunk, idx_t column, idx_t row, int64_t *out)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, column);
    if (cell_is_null(vector, row)) {
        return false;
    }
    *out = ((int64_t *)duckdb_vector_get_data(vector))[row];
    return true;
}

bool sl_duck_cell_bool(duckdb_data_chunk chunk, idx_t column, idx_t row)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, column);
    return !cell_is_null(vector, row) && ((bool *)duckdb_vector_get_data(vector))[row];
}
