/*
 * Do the columns of a source fit the table? By name, ignoring case, and by Spark's ANSI store assignment of their types: what
 * cannot be assigned at all is refused here, what depends on the values (overflow, loss, unreadable text) by the cast.
 * Called before rows are written; pure. PROTOCOL.md "Consistency Between Table Metadata and Data Files".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"

#define NEAR_DISTANCE 3

static bool is_numeric(silt_type_kind kind)
{
    return kind >= SILT_TYPE_BYTE && kind <= SILT_TYPE_DECIMAL;
}

static bool is_time(silt_type_kind kind)
{
    return kind == SILT_TYPE_DATE || kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
}

static bool atomic_fits(silt_type_kind from, silt_type_kind to)
{
    if (from == to) {
        return true;
    }
    if (to == SILT_TYPE_STRING) {
        return from != SILT_TYPE_BINARY && from != SILT_TYPE_VARIANT;
    }
    if (from == SILT_TYPE_STRING) {
        return to != SILT_TYPE_BINARY && to != SILT_TYPE_VARIANT; /* the cast judges the text */
    }
    if (is_numeric(from) && is_numeric(to)) {
        return true;
    }
    return is_time(from) && is_time(to) && to != SILT_TYPE_DATE; /* a date would lose the time of day */
}

static bool type_fits(const struct silt_type *from, const struct silt_type *to, bool by_name);

/* Every field of the source has a place, and what has no value takes null. */
static bool fields_fit_by_name(const struct silt_type *from, const struct silt_type *to)
{
    size_t found = 0;
    for (size_t i = 0; i < to->n_fields; i++) {
        const struct silt_field *given = sl_type_find(from, to->fields[i].name, NULL);
        if (given == NULL ? !to->fields[i].nullable : !type_fits(given->type, to->fields[i].type, true)) {
            return false;
        }
        found += given != NULL ? 1u : 0u;
    }
    return found == from->n_fields;
}

/* Unless by_name, nested fields are assigned by position, so their names must agree in order as well. */
static bool type_fits(const struct silt_type *from, const struct silt_type *to, bool by_name)
{
    if (from->kind == SILT_TYPE_VOID) {
        return true;
    }
    if (sl_type_is_nested(from) != sl_type_is_nested(to)) {
        return false;
    }
    if (!sl_type_is_nested(from)) {
        return atomic_fits(from->kind, to->kind);
    }
    if (from->kind != to->kind) {
        return false;
    }
    switch (from->kind) {
    case SILT_TYPE_ARRAY: return type_fits(from->element, to->element, by_name);
    case SILT_TYPE_MAP: return type_fits(from->key, to->key, by_name) && type_fits(from->element, to->element, by_name);
    default: break;
    }
    if (by_name) {
        return fields_fit_by_name(from, to);
    }
    if (from->n_fields != to->n_fields) {
        return false;
    }
    for (size_t i = 0; i < from->n_fields; i++) {
        if (!sl_str_eq_nocase(from->fields[i].name, to->fields[i].name) ||
            !type_fits(from->fields[i].type, to->fields[i].type, false)) {
            return false;
        }
    }
    return true;
}

static silt_status fail_type(const silt_txn *txn, const struct silt_field *from, const struct silt_field *to,
                             silt_error *err)
{
    struct sl_buf from_text;
    struct sl_buf to_text;
    sl_buf_init(&from_text, txn->env);
    sl_buf_init(&to_text, txn->env);
    sl_type_print(&from_text, from->type);
    sl_type_print(&to_text, to->type);
    const silt_status status = sl_fail(err, SILT_ESCHEMA, "DELTA_FAILED_TO_MERGE_FIELDS",
                                       "column %.*s of the table is %s; data of type %s cannot be stored in it",
                                       SL_FMT(to->name), sl_buf_cstr(&to_text), sl_buf_cstr(&from_text));
    sl_buf_release(&from_text);
    sl_buf_release(&to_text);
    return status;
}

static silt_status check_one(const silt_txn *txn, const silt_schema *source, size_t from,
                             const struct silt_field *field, bool by_name, silt_error *err)
{
    if (from == SL_COLUMN_GIVEN) {
        return SILT_OK;
    }
    if (from == SIZE_MAX) {
        if (field->nullable) {
            return SILT_OK;
        }
        return sl_fail(err, SILT_ECONSTRAINT, "DELTA_MISSING_NOT_NULL_COLUMN_VALUE",
                       "column %.*s is NOT NULL and missing from the data", SL_FMT(field->name));
    }
    if (from >= source->root.n_fields) {
        return sl_fail(err, SILT_EINVALID, NULL, "column %.*s is mapped to source column %zu of %zu",
                       SL_FMT(field->name), from, source->root.n_fields);
    }
    const struct silt_field *given = &source->root.fields[from];
    return type_fits(given->type, field->type, by_name) ? SILT_OK : fail_type(txn, given, field, err);
}

static silt_status check_columns(const silt_txn *txn, const struct ArrowSchema *source, const size_t *mapping,
                                 bool by_name, silt_error *err)
{
    if (txn->schema->root.n_fields == 0) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_CANNOT_WRITE_EMPTY_SCHEMA", "the table has no columns to write to");
    }
    silt_schema *given = NULL;
    SL_TRY(silt_schema_from_arrow(txn->env, source, &given, err));
    silt_status status = SILT_OK;
    for (size_t i = 0; status == SILT_OK && i < txn->schema->root.n_fields; i++) {
        status = check_one(txn, given, mapping[i], &txn->schema->root.fields[i], by_name, err);
    }
    silt_schema_unref(given);
    return status;
}

silt_status sl_txn_check_columns(const silt_txn *txn, const struct ArrowSchema *source, const size_t *mapping,
                                 silt_error *err)
{
    return check_columns(txn, source, mapping, false, err);
}

silt_status sl_txn_check_columns_by_name(const silt_txn *txn, const struct ArrowSchema *source, const size_t *mapping,
                                         silt_error *err)
{
    return check_columns(txn, source, mapping, true, err);
}

static silt_status fail_extra(const silt_txn *txn, struct sl_str name, silt_error *err)
{
    const struct silt_field *near = NULL;
    size_t best = NEAR_DISTANCE + 1;
    for (size_t i = 0; i < txn->schema->root.n_fields; i++) {
        const size_t distance = sl_str_distance(name, txn->schema->root.fields[i].name, NEAR_DISTANCE);
        if (distance < best) {
            best = distance;
            near = &txn->schema->root.fields[i];
        }
    }
    const silt_status status = sl_fail(err, SILT_ESCHEMA, "DELTA_METADATA_MISMATCH",
                                       "column %.*s of the data is not in the table's schema", SL_FMT(name));
    if (near != NULL) {
        sl_error_hint(err, "did you mean %.*s?", SL_FMT(near->name));
    } else {
        sl_error_hint(err, "leave the column out, or add it to the table first");
    }
    return status;
}

silt_status sl_txn_match_columns(const silt_txn *txn, const struct ArrowSchema *source, size_t *mapping,
                                 silt_error *err)
{
    for (size_t i = 0; i < txn->schema->root.n_fields; i++) {
        mapping[i] = SIZE_MAX;
    }
    if (source->n_children < 0 || source->format == NULL || strcmp(source->format, "+s") != 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "rows must come as an arrow struct of columns");
    }
    for (size_t i = 0; i < (size_t)source->n_children; i++) {
        const char *text = source->children[i]->name;
        const struct sl_str name = sl_str_from(text != NULL ? text : "");
        size_t index = 0;
        if (sl_type_find(&txn->schema->root, name, &index) == NULL) {
            return fail_extra(txn, name, err);
        }
        if (mapping[index] != SIZE_MAX) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_ON_INSERT",
                           "two columns of the data are named %.*s, ignoring case", SL_FMT(name));
        }
        mapping[index] = i;
    }
    return SILT_OK;
}
