/*
 * CREATE TABLE [AS query]: version 0 of a table, with its rows in the same commit.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "json/writer.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "silt/transaction.h"
#include "sql/run.h"
#include "sql/write_options.h"

#include <string.h>

#define DEFAULTS_PREFIX "spark.databricks.delta.properties.defaults."

static silt_status check_form(struct sl_run *run, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    const char *name = sl_table_name_text(run, &create->table);

    if (create->or_replace) {
        return sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "CREATE OR REPLACE TABLE is not supported");
    }
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
    if (create->location.ptr != NULL) {
        struct sl_table_name at = {.parts = {create->location}, .n_parts = 1, .is_path = true};
        return sl_session_open_table(run->session, &at, out, err);
    }
    return sl_session_open_table(run->session, &create->table, out, err);
}

/* ["a","b"] as text. */
static silt_status partition_json(struct sl_run *run, struct sl_buf *out, silt_error *err)
{
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    sl_json_begin_array(&w);
    for (size_t i = 0; i < run->statement->create.partition_columns.n; i++) {
        sl_json_put_str(&w, run->statement->create.partition_columns.items[i]);
    }
    sl_json_end_array(&w);
    return sl_buf_status(out, err);
}

static silt_status describe_operation(struct sl_run *run, silt_txn *txn, silt_error *err)
{
    struct sl_write_options options;
    struct sl_buf partition;
    bool recorded = false; /* a new table has recorded nothing */
    silt_status status;

    SL_TRY(sl_write_options_get(run->session, &options, err));
    SL_TRY(sl_write_begin(run, &options, txn, &recorded, err));
    SL_TRY(silt_txn_set_parameter(txn, "isManaged", "false", err));
    sl_buf_init(&partition, run->session->env);
    status = partition_json(run, &partition, err);
    if (status == SILT_OK) {
        status = silt_txn_set_parameter(txn, "partitionBy", sl_buf_cstr(&partition), err);
    }
    sl_buf_release(&partition);
    if (status == SILT_OK && run->statement->create.comment.ptr != NULL) {
        status = silt_txn_set_parameter(txn, "description", run->statement->create.comment.ptr, err);
    }
    return status;
}

/* Begins the table with a schema. *exists: it is there already and IF NOT EXISTS said that this is fine. */
static silt_status begin_table(struct sl_run *run, silt_table *table, const silt_schema *schema, silt_txn **out,
                               bool *exists, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    silt_create_options options = {.size = sizeof(options), .schema = schema};
    silt_property *properties = NULL;
    const char **partition = sl_arena_alloc_array(run->arena, create->partition_columns.n + 1, sizeof(char *));
    silt_status status;

    *exists = false;
    if (partition == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < create->partition_columns.n; i++) {
        partition[i] = sl_arena_strdup(run->arena, create->partition_columns.items[i]);
        if (partition[i] == NULL) {
            return sl_fail_nomem(err);
        }
    }
    SL_TRY(collect_properties(run, &properties, &options.n_properties, err));
    options.properties = properties;
    options.partition_columns = partition;
    options.n_partition_columns = create->partition_columns.n;
    options.description = create->comment.ptr;
    silt_error unseen = SILT_ERROR_INIT;
    silt_error *found = err != NULL ? err : &unseen;
    status = silt_txn_begin_create(table, run->call, &options,
                                   create->has_query ? "CREATE TABLE AS SELECT" : "CREATE TABLE", out, found);
    /* Files that are no table are in the way, IF NOT EXISTS or not. */
    if (status == SILT_EEXISTS && create->if_not_exists &&
        strcmp(found->code_name, "DELTA_TABLE_ALREADY_EXISTS") == 0) {
        silt_error_reset(err);
        *exists = true;
        return SILT_OK;
    }
    SL_TRY(status);
    status = describe_operation(run, *out, err);
    if (status != SILT_OK) {
        silt_txn_free(*out);
        *out = NULL;
    }
    return status;
}

static silt_status create_empty(struct sl_run *run, silt_table *table, silt_error *err)
{
    const struct sl_create_table *create = &run->statement->create;
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    bool exists = false;
    silt_status status;

    SL_TRY(sl_schema_from_fields(run->session->env, create->fields, create->n_fields, &schema, err));
    status = begin_table(run, table, schema, &txn, &exists, err);
    if (status == SILT_OK && !exists) {
        status = sl_run_commit(run, txn, false, err);
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
    bool exists = false;
    silt_status status;

    SL_TRY(sl_row_source_open(run, create->query_begin, create->query_end, &source, err));
    status = silt_schema_from_arrow(run->session->env, &source.columns, &schema, err);
    if (status != SILT_OK) {
        goto out;
    }
    status = begin_table(run, table, schema, &txn, &exists, err);
    if (status != SILT_OK || exists) {
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
        status = sl_run_commit(run, txn, true, err);
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
    status = run->statement->create.has_query ? create_as(run, table, err) : create_empty(run, table, err);
    silt_table_unref(table);
    return status;
}
