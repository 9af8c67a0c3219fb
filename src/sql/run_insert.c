/*
 * INSERT INTO | OVERWRITE: maps the query's columns onto the table's and commits them as one version.
 */
#include "base/error.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "silt/transaction.h"
#include "sql/run.h"

static silt_status arity_error(struct sl_run *run, size_t got, size_t want, silt_error *err)
{
    silt_status status = sl_fail(err, SILT_ESCHEMA,
                                 got < want ? "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
                                            : "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
                                 "cannot insert into %s: the query has %zu columns, the table needs %zu",
                                 sl_table_name_text(run, &run->statement->insert.table), got, want);
    return status;
}

/* Position of a target column by name. */
static silt_status find_target(struct sl_run *run, const silt_schema *schema, struct sl_str name, size_t *out,
                               silt_error *err)
{
    for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
        if (sl_str_eq_nocase(silt_schema_field(schema, i)->name, name)) {
            *out = i;
            return SILT_OK;
        }
    }
    return sl_fail(err, SILT_ESCHEMA, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "%s has no column %.*s",
                   sl_table_name_text(run, &run->statement->insert.table), SL_FMT(name));
}

/* Query column i goes to the target named by list[i]. */
static silt_status map_names(struct sl_run *run, const silt_schema *schema, const struct sl_str *list, size_t n,
                             size_t *mapping, silt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t target = 0;
        SL_TRY(find_target(run, schema, list[i], &target, err));
        if (mapping[target] != SIZE_MAX) {
            return sl_fail(err, SILT_ESCHEMA, "COLUMN_ALREADY_EXISTS", "column %.*s is named twice", SL_FMT(list[i]));
        }
        mapping[target] = i;
    }
    return SILT_OK;
}

/* A column that gets no value must accept null. */
static silt_status check_missing(const silt_schema *schema, const size_t *mapping, silt_error *err)
{
    for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
        const struct silt_field *field = silt_schema_field(schema, i);
        if (mapping[i] == SIZE_MAX && !field->nullable) {
            return sl_fail(err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                           "column %.*s is NOT NULL and gets no value", SL_FMT(field->name));
        }
    }
    return SILT_OK;
}

static silt_status make_mapping(struct sl_run *run, const struct sl_row_source *source, const silt_schema *schema,
                                size_t **out, silt_error *err)
{
    const struct sl_insert *insert = &run->statement->insert;
    size_t n_source = (size_t)source->columns.n_children;
    size_t n_target = silt_schema_field_count(schema);
    size_t *mapping = sl_arena_alloc_array(run->arena, n_target + 1, sizeof(*mapping));
    struct sl_str *names = sl_arena_alloc_array(run->arena, n_source + 1, sizeof(*names));

    if (mapping == NULL || names == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n_target; i++) {
        mapping[i] = SIZE_MAX;
    }
    if (insert->columns.n > 0) {
        if (insert->columns.n != n_source) {
            return arity_error(run, n_source, insert->columns.n, err);
        }
        SL_TRY(map_names(run, schema, insert->columns.items, n_source, mapping, err));
    } else if (insert->by_name) {
        for (size_t i = 0; i < n_source; i++) {
            names[i] = sl_str_from(source->columns.children[i]->name);
        }
        SL_TRY(map_names(run, schema, names, n_source, mapping, err));
    } else {
        if (n_source != n_target) {
            return arity_error(run, n_source, n_target, err);
        }
        for (size_t i = 0; i < n_target; i++) {
            mapping[i] = i;
        }
    }
    *out = mapping;
    return check_missing(schema, mapping, err);
}

/*
 * Do the query's columns fit? Those of untyped NULLs are asked for only when a type stands in the way; they leave the mapping, which
 * makes them NULLs of the table's type.
 */
static silt_status check_types(struct sl_run *run, struct sl_row_source *source, const silt_txn *txn, size_t *mapping,
                               silt_error *err)
{
    size_t n_target = silt_schema_field_count(silt_txn_schema(txn));
    size_t n_source = (size_t)source->columns.n_children;
    bool *untyped = sl_arena_alloc_array(run->arena, n_source + 1, sizeof(*untyped));
    silt_status status = sl_txn_check_columns(txn, &source->columns, mapping, err);

    if (status != SILT_ESCHEMA) {
        return status;
    }
    if (untyped == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_row_source_untyped(run, source, untyped, err));
    for (size_t i = 0; i < n_target; i++) {
        mapping[i] = mapping[i] != SIZE_MAX && untyped[mapping[i]] ? SIZE_MAX : mapping[i];
    }
    silt_error_reset(err);
    return sl_txn_check_columns(txn, &source->columns, mapping, err);
}

static silt_status insert_rows(struct sl_run *run, silt_txn *txn, silt_error *err)
{
    const struct sl_insert *insert = &run->statement->insert;
    struct sl_row_source source = {0};
    size_t *mapping = NULL;
    silt_status status;

    SL_TRY(sl_row_source_open(run, insert->query_begin, insert->query_end, &source, err));
    status = make_mapping(run, &source, silt_txn_schema(txn), &mapping, err);
    if (status == SILT_OK) {
        status = check_types(run, &source, txn, mapping, err);
    }
    if (status == SILT_OK && insert->mode == SL_INSERT_OVERWRITE) {
        status = silt_txn_remove_all(txn, run->call, err);
    }
    if (status == SILT_OK) {
        status = sl_row_source_write(run, &source, mapping, txn, err);
    }
    sl_row_source_close(&source);
    return status;
}

/* A query would read the temporary table of that name, so that the rows would go where nobody looks for them. */
static silt_status check_target(struct sl_run *run, const struct sl_table_name *name, silt_error *err)
{
    if (name->travel != SL_TRAVEL_NONE) {
        return sl_fail(err, SILT_EINVALID, "DELTA_TIME_TRAVEL_INVALID_WRITE", "cannot write to an older version of %s",
                       sl_table_name_text(run, name));
    }
    bool is_temporary = false;
    SL_TRY(sl_session_is_temporary(run->session, run->call, name, &is_temporary, err));
    if (is_temporary && !name->is_path) {
        silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT",
                                     "%s is a temporary table or view: rows are inserted into Delta tables only",
                                     sl_table_name_text(run, name));
        sl_error_hint(err, "a Delta table of the same name can be named by its path: delta.`/path/to/table`");
        return status;
    }
    return SILT_OK;
}

silt_status sl_run_insert(struct sl_run *run, silt_error *err)
{
    struct sl_insert *insert = &run->statement->insert;
    silt_table *table = NULL;
    silt_txn *txn = NULL;
    silt_status status;

    SL_TRY(check_target(run, &insert->table, err));
    SL_TRY(sl_session_open_table(run->session, &insert->table, &table, err));
    status = silt_txn_begin(table, run->call, "WRITE", &txn, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = sl_txn_set_engine_info(txn, run->session->engine_info, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = silt_txn_set_parameter(txn, "mode", insert->mode == SL_INSERT_APPEND ? "Append" : "Overwrite", err);
    if (status != SILT_OK) {
        goto out;
    }
    status = silt_txn_set_parameter(txn, "partitionBy", "[]", err);
    if (status != SILT_OK) {
        goto out;
    }
    status = insert_rows(run, txn, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = sl_run_commit(run, txn, true, err);
out:
    silt_txn_free(txn);
    silt_table_unref(table);
    return status;
}
