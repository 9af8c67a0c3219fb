/*
 * Parameters of a statement from a row of Arrow: by name where the statement's parameter has one ($x), else by position ($1, ?).
 * Values of flat types only.
 */
#include "duck.h"

#include "base/error.h"
#include "schema/value.h"

static duckdb_value make_decimal(const silt_value *value)
{
    const duckdb_decimal decimal = {.width = value->precision,
                                    .scale = value->scale,
                                    .value = {.lower = value->as.decimal.lo, .upper = value->as.decimal.hi}};
    return duckdb_create_decimal(decimal);
}

static duckdb_value make_value(const silt_value *value)
{
    if (value->is_null) {
        return duckdb_create_null_value();
    }
    const int64_t i64 = value->as.i64;
    switch (value->kind) {
    case SILT_TYPE_BOOLEAN: return duckdb_create_bool(value->as.boolean);
    case SILT_TYPE_BYTE: return duckdb_create_int8((int8_t)i64);
    case SILT_TYPE_SHORT: return duckdb_create_int16((int16_t)i64);
    case SILT_TYPE_INTEGER: return duckdb_create_int32((int32_t)i64);
    case SILT_TYPE_LONG: return duckdb_create_int64(i64);
    case SILT_TYPE_FLOAT: return duckdb_create_float((float)value->as.f64);
    case SILT_TYPE_DOUBLE: return duckdb_create_double(value->as.f64);
    case SILT_TYPE_DECIMAL: return make_decimal(value);
    case SILT_TYPE_STRING: return duckdb_create_varchar_length(value->as.bytes.ptr, value->as.bytes.len);
    case SILT_TYPE_BINARY: return duckdb_create_blob((const uint8_t *)value->as.bytes.ptr, value->as.bytes.len);
    case SILT_TYPE_DATE: return duckdb_create_date((duckdb_date){(int32_t)i64});
    case SILT_TYPE_TIMESTAMP: return duckdb_create_timestamp_tz((duckdb_timestamp){i64});
    case SILT_TYPE_TIMESTAMP_NTZ: return duckdb_create_timestamp((duckdb_timestamp){i64});
    default: return duckdb_create_null_value(); /* void: the only flat kind left */
    }
}

/* Which column of the row feeds the parameter: by its name, else by the number that is its name; -1 if none. */
static int64_t find_column(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *column = schema->children[i]->name;
        if (column != NULL && column[0] != '\0' && sl_str_eq_nocase(sl_str_from(column), sl_str_from(name))) {
            return i;
        }
    }
    int64_t number = 0;
    if (sl_str_to_i64(sl_str_from(name), &number) && number >= 1 && number <= schema->n_children) {
        return number - 1;
    }
    return -1;
}

static silt_status bind_one(struct sl_duck_conn *conn, duckdb_prepared_statement stmt, idx_t index,
                            const struct sl_dataplane_params *params, silt_error *err)
{
    const char *name = duckdb_parameter_name(stmt, index);
    silt_status status = SILT_OK;
    duckdb_value bound = NULL;
    const bool given = params != NULL && params->schema != NULL && params->row != NULL;
    if (name == NULL) {
        status = sl_fail(err, SILT_ESYNTAX, "UNBOUND_SQL_PARAMETER",
                         "parameters are numbered from $1 on without gaps, but $%llu is not in the statement",
                         (unsigned long long)index);
        goto out;
    }
    const int64_t column = given ? find_column(params->schema, name) : -1;
    if (column < 0) {
        status = sl_fail(err, SILT_ESYNTAX, "UNBOUND_SQL_PARAMETER", "no value was given for parameter $%s", name);
        goto out;
    }
    silt_value value;
    if (params->row->length < 1 || params->row->n_children != params->schema->n_children) {
        status = sl_fail(err, SILT_EINVALID, NULL, "parameters must be a struct array of one row");
        goto out;
    }
    if (!sl_value_from_arrow(params->schema->children[column], params->row->children[column], params->row->offset,
                             &value)) {
        status = sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE",
                         "parameter $%s has Arrow type \"%s\"; only flat types can be bound", name,
                         params->schema->children[column]->format);
        goto out;
    }
    bound = make_value(&value);
    if (bound == NULL || duckdb_bind_value(stmt, index, bound) != DuckDBSuccess) {
        status = sl_duck_fail(conn, NULL, (struct sl_str){NULL, 0}, duckdb_prepare_error(stmt), err);
    }
out:
    duckdb_destroy_value(&bound);
    duckdb_free((void *)(uintptr_t)name);
    return status;
}

silt_status sl_duck_bind(struct sl_duck_conn *conn, duckdb_prepared_statement stmt,
                         const struct sl_dataplane_params *params, silt_error *err)
{
    const idx_t n = duckdb_nparams(stmt);
    for (idx_t i = 1; i <= n; i++) {
        SL_TRY(bind_one(conn, stmt, i, params, err));
    }
    return SILT_OK;
}
