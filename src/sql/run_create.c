/*
 * CREATE TABLE [AS query]: version 0 of a table, with its rows in the same commit. [CREATE OR] REPLACE TABLE: the same as the next version of
 * a table that is there.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "json/writer.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "silt/transaction.h"
#include "sql/pins.h"
#include "sql/resident.h"
#include "sql/run.h"
#include "sql/write_options.h"

#include <string.h>

#define DEFAULTS_PREFIX "spark.databricks.delta.properties.defaults."

static silt_status check_form(struct sl_run *run, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    const char *name = sl_table_name_text(run, &create->table);

    if (create->provider.ptr != NULL && !sl_str_eq_nocase(create->provider, SL_STR("delta"))) {
        return sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "cannot create %s USING %.*s: only delta is",
                       name, SL_FMT(create->provider));
    }
    if (create->has_query && create->n_fields > 0) {
        return sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR",
                       "CREATE TABLE %s has both a list of columns and a query; give one of them", name);
    }
    if (create->table.travel != SL_TRAVEL_NONE) {
        return sl_fail(err, SILT_EINVALID, "DELTA_TIME_TRAVEL_INVALID_WRITE", "cannot create an older version of %s",
                       name);
    }
    return SILT_OK;
}

/* Properties of the statement before those that SET gave as defaults. */
static silt_status collect_properties(struct sl_run *run, silt_property **out, size_t *n, silt_error *err)
{
    const struct sl_kv_list *own = &run->statement->create.properties;
    const struct sl_map *options = &run->session->options;
    struct sl_str prefix = SL_STR(DEFAULTS_PREFIX);
    silt_property *items = sl_arena_alloc_array(run->arena, own->n + options->len + 1, sizeof(*items));
    size_t count = 0;

    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < own->n; i++) {
        items[count].key = sl_arena_strdup(run->arena, own->items[i].key);
        items[count].value = sl_arena_strdup(run->arena, own->items[i].value);
        if (items[count].key == NULL || items[count].value == NULL) {
            return sl_fail_nomem(err);
        }
        count++;
    }
    for (size_t i = 0; i < options->len; i++) {
        const struct sl_map_entry *entry = &options->entries[i];
        bool given = false;
        if (!entry->live || !sl_str_starts_with(entry->key, prefix)) {
            continue;
        }
        const char *key = sl_arena_printf(run->arena, "delta.%.*s",
                                          SL_FMT(sl_str_sub(entry->key, prefix.len, entry->key.len)));
        if (key == NULL) {
            return sl_fail_nomem(err);
        }
        for (size_t k = 0; k < own->n; k++) {
            given = given || sl_str_eq_nocase(own->items[k].key, sl_str_from(key));
        }
        if (!given) {
            items[count++] = (silt_property){key, entry->value.ptr};
        }
    }
    *out = items;
    *n = count;
    return SILT_OK;
}

static silt_status open_target(struct sl_run *run, silt_table **out, silt_error *err)
{
    struct sl_create_table *create = &run->statement->create;
    sl_session_forget_resident(run->session);
    if (create->location.ptr != NULL) {
        struct sl_table_name at = {.parts = {create->location}, .n_parts = 1, .is_path = true};
        return sl_session_open_table(run->session, &at, out, err);
    }
    return sl_session_open_table(run->session, &create->table, out, err);
}

/*
 * What is replaced is what was there before the query was prepared, so that nothing is lost that comes while it is, whatever the query looks
 * at. A table that is not there yet is no fault here.
 */
static silt_status pin_replaced(struct sl_run *run, silt_table *table, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    silt_snapshot *snapshot = NULL;
    if (!run->statement->create.or_replace && !run->statement->create.replace) {
        return SILT_OK;
    }
    silt_status status = silt_table_latest_snapshot(table, run->call, &snapshot, &found);
    if (status == SILT_ENOTTABLE) {
        return SILT_OK;
    }
    if (status == SILT_OK) {
        status = sl_snapshot_settle(&snapshot, run->call, &found);
    }
    if (status == SILT_OK) {
        status = sl_session_pin(run->session, snapshot, &found);
    }
    silt_snapshot_unref(snapshot);
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

/* What became of the beginning. */
enum begun {
    BEGUN,
    EXISTS,  /* the table is there, and IF NOT EXISTS said that this is fine */
    RECORDED /* the table has recorded the application id already */
};

/* ["a","b"] as text. */
static silt_status put_partitioning(struct sl_run *run, silt_txn *txn, silt_error *err)
{
    struct sl_json_writer w;
    struct sl_buf text;
    sl_buf_init(&text, run->session->env);
    sl_json_writer_init(&w, &text);
    sl_json_begin_array(&w);
    for (size_t i = 0; i < run->statement->create.partition_columns.n; i++) {
        sl_json_put_str(&w, run->statement->create.partition_columns.items[i]);
    }
    sl_json_end_array(&w);
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = silt_txn_set_parameter(txn, "partitionBy", sl_buf_cstr(&text), err);
    }
    sl_buf_release(&text);
    return status;
}

static silt_status put_properties(struct sl_run *run, const silt_create_options *options, silt_txn *txn,
                                  silt_error *err)
{
    struct sl_json_writer w;
    struct sl_buf text;
    sl_buf_init(&text, run->session->env);
    sl_json_writer_init(&w, &text);
    sl_json_begin_object(&w);
    for (size_t i = 0; i < options->n_properties; i++) {
        sl_json_key_c(&w, options->properties[i].key);
        sl_json_put_c(&w, options->properties[i].value);
    }
    sl_json_end_object(&w);
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = silt_txn_set_parameter(txn, "properties", sl_buf_cstr(&text), err);
    }
    sl_buf_release(&text);
    return status;
}

static silt_status describe_operation(struct sl_run *run, const silt_create_options *options, silt_txn *txn,
                                      silt_error *err)
{
    SL_TRY(silt_txn_set_parameter(txn, "isManaged", "false", err));
    SL_TRY(put_partitioning(run, txn, err));
    SL_TRY(silt_txn_set_parameter(txn, "clusterBy", "[]", err));
    SL_TRY(put_properties(run, options, txn, err));
    return options->description != NULL ? silt_txn_set_parameter(txn, "description", options->description, err)
                                        : SILT_OK;
}

/* What the statement says of the table, schema apart. */
static silt_status fill_options(struct sl_run *run, silt_create_options *options, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    silt_property *properties = NULL;
    const char **partition = sl_arena_alloc_array(run->arena, create->partition_columns.n + 1, sizeof(char *));
    if (partition == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < create->partition_columns.n; i++) {
        partition[i] = sl_arena_strdup(run->arena, create->partition_columns.items[i]);
        if (partition[i] == NULL) {
            return sl_fail_nomem(err);
        }
    }
    SL_TRY(collect_properties(run, &properties, &options->n_properties, err));
    options->properties = properties;
    options->partition_columns = partition;
    options->n_partition_columns = create->partition_columns.n;
    options->description = create->comment.ptr;
    return SILT_OK;
}

static const char *operation_of(const struct sl_create_table *create)
{
    if (create->or_replace) {
        return create->has_query ? "CREATE OR REPLACE TABLE AS SELECT" : "CREATE OR REPLACE TABLE";
    }
    if (create->replace) {
        return create->has_query ? "REPLACE TABLE AS SELECT" : "REPLACE TABLE";
    }
    return create->has_query ? "CREATE TABLE AS SELECT" : "CREATE TABLE";
}

static silt_status begin_txn(struct sl_run *run, silt_table *table, const silt_create_options *options, silt_txn **out,
                             enum begun *begun, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    const char *operation = operation_of(create);
    silt_error found = SILT_ERROR_INIT;
    silt_status status = SILT_ENOTTABLE;

    *begun = BEGUN;
    if (create->or_replace || create->replace) {
        silt_snapshot *read = sl_session_pinned(run->session, silt_table_uri(table));
        const struct sl_txn_replace_table request = {options, operation};
        status = read != NULL ? sl_txn_begin_replace_at(table, read, run->call, &request, out, &found)
                              : silt_txn_begin_replace(table, run->call, options, operation, out, &found);
    }
    if (status == SILT_ENOTTABLE && !create->replace) {
        silt_error_reset(&found);
        status = silt_txn_begin_create(table, run->call, options, operation, out, &found);
    }
    /* Files that are no table are in the way, IF NOT EXISTS or not. */
    if (status == SILT_EEXISTS && create->if_not_exists && strcmp(found.code_name, "DELTA_TABLE_ALREADY_EXISTS") == 0) {
        *begun = EXISTS;
        return SILT_OK;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

/* An application id is of writes that change rows: an empty table that is new must not spend the version of the first write to it. */
static silt_status get_options(struct sl_run *run, struct sl_write_options *out, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    SL_TRY(sl_write_options_get(run->session, out, err));
    if (!create->has_query && !create->or_replace && !create->replace) {
        out->app_id = (struct sl_str){NULL, 0};
        out->has_app_version = false;
    }
    return SILT_OK;
}

/* Begins the table with a schema. */
static silt_status begin_table(struct sl_run *run, silt_table *table, const silt_schema *schema, silt_txn **out,
                               enum begun *begun, silt_error *err)
{
    silt_create_options options = {.size = sizeof(options), .schema = schema};
    struct sl_write_options writes;
    bool recorded = false;
    SL_TRY(fill_options(run, &options, err));
    SL_TRY(get_options(run, &writes, err));
    SL_TRY(begin_txn(run, table, &options, out, begun, err));
    if (*begun == EXISTS) {
        return SILT_OK;
    }
    silt_status status = sl_write_begin(run, &writes, *out, &recorded, err);
    if (status == SILT_OK) {
        status = describe_operation(run, &options, *out, err);
    }
    if (status != SILT_OK) {
        silt_txn_free(*out);
        *out = NULL;
    }
    *begun = recorded ? RECORDED : BEGUN;
    return status;
}

/* Who was faster in creating the table has done what IF NOT EXISTS asks for. */
static silt_status commit_table(struct sl_run *run, silt_txn *txn, bool rows_metric, enum begun *begun, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_run_commit(run, txn, rows_metric, &found);
    if (status == SILT_ECONFLICT && run->statement->create.if_not_exists) {
        *begun = EXISTS;
        return SILT_OK;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

/* After a commit, or in place of one. */
static silt_status end_table(struct sl_run *run, enum begun begun, bool rows_metric, silt_error *err)
{
    struct sl_write_options writes;
    if (begun == EXISTS) {
        return SILT_OK;
    }
    SL_TRY(get_options(run, &writes, err));
    sl_write_end(run, &writes);
    return begun == RECORDED ? sl_run_skip(run, rows_metric, err) : SILT_OK;
}

static silt_status create_empty(struct sl_run *run, silt_table *table, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    enum begun begun = BEGUN;
    silt_status status;

    SL_TRY(sl_schema_from_fields(run->session->env, create->fields, create->n_fields, &schema, err));
    status = begin_table(run, table, schema, &txn, &begun, err);
    if (status == SILT_OK && begun == BEGUN) {
        status = commit_table(run, txn, false, &begun, err);
    }
    if (status == SILT_OK) {
        status = end_table(run, begun, false, err);
    }
    silt_txn_free(txn);
    silt_schema_unref(schema);
    return status;
}

static silt_status create_as(struct sl_run *run, silt_table *table, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    struct sl_row_source source = {0};
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    size_t *mapping = NULL;
    size_t n = 0;
    enum begun begun = BEGUN;
    silt_status status;

    SL_TRY(sl_row_source_open(run, create->query_begin, create->query_end, &source, err));
    status = silt_schema_from_arrow(run->session->env, &source.columns, &schema, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = begin_table(run, table, schema, &txn, &begun, err);
    if (status == SILT_OK && begun != BEGUN) {
        status = end_table(run, begun, true, err);
        goto out;
    }
    if (status != SILT_OK) {
        goto out;
    }
    n = silt_schema_field_count(schema);
    mapping = sl_arena_alloc_array(run->arena, n + 1, sizeof(*mapping));
    if (mapping == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        mapping[i] = i;
    }
    status = sl_row_source_write(run, &source, mapping, txn, err);
    if (status == SILT_OK) {
        status = commit_table(run, txn, true, &begun, err);
    }
    if (status == SILT_OK) {
        status = end_table(run, begun, true, err);
    }
out:
    silt_txn_free(txn);
    silt_schema_unref(schema);
    sl_row_source_close(&source);
    return status;
}

silt_status sl_run_create(struct sl_run *run, silt_error *err)
{
    silt_table *table = NULL;
    silt_status status;

    SL_TRY(check_form(run, err));
    run->result->kind = SILT_RESULT_NONE;
    SL_TRY(open_target(run, &table, err));
    status = pin_replaced(run, table, err);
    if (status != SILT_OK) {
        silt_table_unref(table);
        return status;
    }
    status = run->statement->create.has_query ? create_as(run, table, err) : create_empty(run, table, err);
    silt_table_unref(table);
    return status;
}
