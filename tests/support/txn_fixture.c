/* Transactions for tests. */
#include "txn_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int txn_setup(void **state)
{
    struct txn_fixture *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return 1;
    }
    test_env_init(&f->test);
    f->err = (silt_error)SILT_ERROR_INIT;
    if (!mini_engine_init(&f->mini, &f->test.env, 0, &f->err) ||
        silt_table_for_path(f->mini.engine, TXN_ROOT, &f->table, &f->err) != SILT_OK) {
        (void)fprintf(stderr, "%s\n", f->err.message);
        free(f);
        return 1;
    }
    *state = f;
    return 0;
}

int txn_teardown(void **state)
{
    struct txn_fixture *f = *state;
    silt_table_unref(f->table);
    mini_engine_release(&f->mini);
    test_env_check(&f->test);
    free(f);
    return 0;
}

static void must(struct txn_fixture *f, silt_status status)
{
    if (status != SILT_OK) {
        fail_msg("[%s] %s", f->err.code_name, f->err.message);
    }
}

silt_schema *txn_schema(struct txn_fixture *f, const char *json)
{
    silt_schema *schema = NULL;
    must(f, silt_schema_from_json(&f->test.env, json, strlen(json), &schema, &f->err));
    return schema;
}

silt_status txn_create_begin(struct txn_fixture *f, const char *schema_json, const char *partition_column,
                             const silt_property *property, silt_txn **out)
{
    silt_schema *schema = txn_schema(f, schema_json);
    const silt_create_options options = {.size = sizeof(options),
                                         .schema = schema,
                                         .partition_columns = &partition_column,
                                         .n_partition_columns = partition_column != NULL ? 1 : 0,
                                         .properties = property,
                                         .n_properties = property != NULL ? 1 : 0};
    silt_error_reset(&f->err);
    const silt_status status = silt_txn_begin_create(f->table, NULL, &options, "CREATE TABLE", out, &f->err);
    silt_schema_unref(schema);
    return status;
}

void txn_create(struct txn_fixture *f, const char *schema_json, const char *partition_column,
                const silt_property *property)
{
    silt_txn *txn = NULL;
    must(f, txn_create_begin(f, schema_json, partition_column, property, &txn));
    must(f, txn_end(f, txn));
}

silt_txn *txn_begin(struct txn_fixture *f)
{
    silt_txn *txn = NULL;
    silt_error_reset(&f->err);
    must(f, silt_txn_begin(f->table, NULL, "WRITE", &txn, &f->err));
    return txn;
}

silt_status txn_end(struct txn_fixture *f, silt_txn *txn)
{
    silt_error_reset(&f->err);
    f->result = (silt_commit_result){.size = sizeof(f->result)};
    const silt_status status = silt_txn_commit(txn, NULL, &f->result, &f->err);
    silt_txn_free(txn);
    return status;
}

silt_status txn_add(struct txn_fixture *f, silt_txn *txn, const char *path, const char *p)
{
    const silt_value value = mini_text(p != NULL ? p : "");
    const silt_add_file file = {.size = sizeof(file),
                                .path = path,
                                .size_bytes = 10,
                                .modified_ms = 1,
                                .partition_values = &value,
                                .n_partition_values = p != NULL ? 1 : 0,
                                .stats = "{\"numRecords\":2}",
                                .data_change = true,
                                .checks_held = true};
    silt_error_reset(&f->err);
    return silt_txn_add_file(txn, &file, &f->err);
}

void txn_append(struct txn_fixture *f, const char *path, const char *p)
{
    silt_txn *txn = txn_begin(f);
    must(f, txn_add(f, txn, path, p));
    must(f, txn_end(f, txn));
}

const char *txn_log(struct txn_fixture *f, int64_t version)
{
    char path[256];
    void *data = NULL;
    size_t len = 0;
    (void)snprintf(path, sizeof(path), TXN_ROOT "/_delta_log/%020lld.json", (long long)version);
    must(f, silt_storage_read(f->mini.store, NULL, path, &data, &len, &f->err));
    assert_true(len < sizeof(f->text));
    memcpy(f->text, data, len);
    f->text[len] = '\0';
    silt_storage_free(f->mini.store, data, len);
    return f->text;
}

static bool note_name(void *ctx, const silt_file_entry *entry)
{
    struct txn_fixture *f = ctx;
    const size_t len = strlen(f->text);
    if (strncmp(entry->name, "_delta_log/", 11) != 0) {
        (void)snprintf(f->text + len, sizeof(f->text) - len, "%.*s ", (int)entry->name_len, entry->name);
    }
    return true;
}

const char *txn_data_files(struct txn_fixture *f)
{
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    f->text[0] = '\0';
    must(f, silt_storage_list(f->mini.store, NULL, TXN_ROOT, &options, note_name, f, &f->err));
    return f->text;
}

int64_t txn_count_files(struct txn_fixture *f)
{
    silt_snapshot *snapshot = NULL;
    int64_t files = -1;
    int64_t bytes = 0;
    must(f, silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err));
    must(f, silt_snapshot_totals(snapshot, NULL, &files, &bytes, &f->err));
    silt_snapshot_unref(snapshot);
    return files;
}
