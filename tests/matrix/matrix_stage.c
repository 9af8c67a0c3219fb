/*
 * Histories on a real table: in memory, under an engine without a data plane, through silt's public functions only. What must not fail ends
 * the program with a message.
 */
#include "matrix.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mini_rows.h"
#include "test_env.h"

#define ROOT "memory://store/t"
#define SCHEMA                                                               \
    "{\"type\":\"struct\",\"fields\":["                                      \
    "{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}," \
    "{\"name\":\"v\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"  \
    "{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}"

struct mx_stage {
    struct test_env test;
    struct mini_engine mini;
    silt_table *table;
    silt_error err;
};

static void must(const struct mx_stage *stage, silt_status status, const char *what)
{
    if (status != SILT_OK) {
        (void)fprintf(stderr, "matrix: %s: [%s] %s\n", what, stage->err.code_name, stage->err.message);
        exit(1);
    }
}

int mx_next_path(void)
{
    static int last = 0;
    return ++last;
}

static void name_file(const struct mx_file *file, char *out, size_t size)
{
    (void)snprintf(out, size, "f%d.parquet", file->path);
}

/* ---- the table ---- */

static void make_stats(const struct mx_file *file, char *out, size_t size)
{
    if (file->no_stats) {
        (void)snprintf(out, size, "{\"numRecords\":%zu}", file->n_rows);
        return;
    }
    int low = file->rows[0].id;
    int high = low;
    for (size_t i = 1; i < file->n_rows; i++) {
        low = file->rows[i].id < low ? file->rows[i].id : low;
        high = file->rows[i].id > high ? file->rows[i].id : high;
    }
    (void)snprintf(out, size,
                   "{\"numRecords\":%zu,\"minValues\":{\"id\":%d},\"maxValues\":{\"id\":%d},\"nullCount\":{\"id\":0}}",
                   file->n_rows, low, high);
}

static void put_rows(struct mx_stage *stage, const struct mx_file *file)
{
    static const char *const names[] = {"id", "v"};
    silt_value cells[2 * MX_MAX_ROWS];
    char name[64];
    char path[128];
    for (size_t i = 0; i < file->n_rows; i++) {
        cells[2 * i] = mini_long(file->rows[i].id);
        cells[2 * i + 1] = mini_long(file->rows[i].value);
    }
    name_file(file, name, sizeof(name));
    (void)snprintf(path, sizeof(path), ROOT "/%s", name);
    mini_engine_can(&stage->mini, path, names, 2, cells, file->n_rows);
}

static void add_file(struct mx_stage *stage, silt_txn *txn, const struct mx_file *file, bool readd, bool moves)
{
    char name[64];
    char stats[256];
    const char part[] = {file->part, '\0'};
    const silt_value value = mini_text(part);
    name_file(file, name, sizeof(name));
    make_stats(file, stats, sizeof(stats));
    const silt_add_file add = {.size = sizeof(add),
                               .path = name,
                               .size_bytes = 10,
                               .modified_ms = 1,
                               .partition_values = &value,
                               .n_partition_values = 1,
                               .stats = stats,
                               .data_change = !moves,
                               .checks_held = true};
    if (!readd) {
        put_rows(stage, file);
    }
    must(stage, silt_txn_add_file(txn, &add, &stage->err), "adding a file");
}

static void end(struct mx_stage *stage, silt_txn *txn)
{
    must(stage, silt_txn_commit(txn, NULL, NULL, &stage->err), "preparing the table");
    silt_txn_free(txn);
}

static silt_txn *begin(struct mx_stage *stage, const char *operation)
{
    silt_txn *txn = NULL;
    must(stage, silt_txn_begin(stage->table, NULL, operation, &txn, &stage->err), "beginning a transaction");
    return txn;
}

struct mx_stage *mx_stage_new(const struct mx_history *history)
{
    struct mx_stage *stage = calloc(1, sizeof(*stage));
    if (stage == NULL) {
        exit(1);
    }
    test_env_init(&stage->test);
    stage->err = (silt_error)SILT_ERROR_INIT;
    if (!mini_engine_init(&stage->mini, &stage->test.env, 0, &stage->err)) {
        must(stage, SILT_EENGINE, "making the engine");
    }
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    const char *const partition = "p";
    const silt_property properties[] = {{"delta.feature.domainMetadata", "supported"},
                                        {"delta.isolationLevel", "Serializable"}};
    must(stage, silt_table_for_path(stage->mini.engine, ROOT, &stage->table, &stage->err), "naming the table");
    must(stage, silt_schema_from_json(&stage->test.env, SCHEMA, strlen(SCHEMA), &schema, &stage->err), "the schema");
    const silt_create_options options = {.size = sizeof(options),
                                         .schema = schema,
                                         .partition_columns = &partition,
                                         .n_partition_columns = 1,
                                         .properties = properties,
                                         .n_properties = history->serializable ? 2 : 1};
    must(stage, silt_txn_begin_create(stage->table, NULL, &options, "CREATE TABLE", &txn, &stage->err), "creating");
    silt_schema_unref(schema);
    end(stage, txn);
    txn = begin(stage, "WRITE");
    for (size_t i = 0; i < history->first.n_files; i++) {
        add_file(stage, txn, &history->first.files[i], false, false);
    }
    end(stage, txn);
    if (history->tracked) {
        txn = begin(stage, "UPGRADE");
        must(stage, silt_txn_set_property(txn, "delta.feature.rowTracking", "supported", &stage->err), "row tracking");
        end(stage, txn);
    }
    return stage;
}

void mx_stage_free(struct mx_stage *stage)
{
    silt_table_unref(stage->table);
    mini_engine_release(&stage->mini);
    if (stage->test.live_blocks != 0 || stage->test.n_wrong_sizes != 0) {
        (void)fprintf(stderr, "matrix: %zu blocks of memory were not released\n", stage->test.live_blocks);
        exit(1);
    }
    free(stage);
}

/* ---- a transaction ---- */

static void say_scan(struct mx_stage *stage, silt_txn *txn, const silt_expr *predicate)
{
    silt_snapshot *snapshot = NULL;
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    must(stage, silt_table_latest_snapshot(stage->table, NULL, &snapshot, &stage->err), "opening");
    must(stage, silt_scan_builder_new(snapshot, &builder, &stage->err), "a scan");
    must(stage, silt_scan_builder_filter(builder, predicate, &stage->err), "a filter");
    must(stage, silt_scan_builder_build(builder, NULL, &scan, &stage->err), "a plan");
    must(stage, silt_txn_read_scan(txn, NULL, scan, &stage->err), "saying what was read");
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
}

static void say_reads(struct mx_stage *stage, silt_txn *txn, const struct mx_op *op)
{
    const char *text = mx_reads(op);
    if (text == NULL) {
        return;
    }
    if (text[0] == '\0') {
        must(stage, silt_txn_read_predicate(txn, NULL, &stage->err), "reading everything");
        return;
    }
    silt_expr *predicate = NULL;
    must(stage, silt_expr_parse(&stage->test.env, text, strlen(text), NULL, &predicate, &stage->err), "a predicate");
    if (op->lists_files) {
        say_scan(stage, txn, predicate);
    } else {
        must(stage, silt_txn_read_predicate(txn, predicate, &stage->err), "saying what was read");
    }
    silt_expr_unref(predicate);
}

static void say_cells(struct mx_stage *stage, silt_txn *txn, const struct mx_op *op, const struct mx_effect *effect)
{
    char key[64];
    char text[64];
    if (effect->metadata.lineage != 0) {
        (void)snprintf(key, sizeof(key), "mx.%d", op->id);
        must(stage, silt_txn_set_property(txn, key, "1", &stage->err), "a property");
    }
    if (effect->protocol.lineage != 0) {
        must(stage,
             silt_txn_set_property(txn,
                                   op->kind == MX_FEATURE ? "delta.feature.deletionVectors"
                                                          : "delta.feature.materializePartitionColumns",
                                   "supported", &stage->err),
             "a feature");
    }
    if (effect->app.lineage != 0) {
        (void)snprintf(key, sizeof(key), "app%d", effect->app_index);
        must(stage, silt_txn_set_app_id(txn, key, (int64_t)effect->app.value, &stage->err), "an application id");
    }
    if (effect->domain.lineage != 0) {
        (void)snprintf(key, sizeof(key), "mx.d%d", effect->domain_index);
        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)effect->domain.value);
        must(stage, silt_txn_set_domain(txn, key, text, &stage->err), "a domain");
    }
}

static void say_removes(struct mx_stage *stage, silt_txn *txn, const struct mx_state *snapshot,
                        const struct mx_effect *effect)
{
    char name[64];
    char path[128];
    for (size_t i = 0; i < effect->n_removes; i++) {
        name_file(mx_find(snapshot, effect->removes[i]), name, sizeof(name));
        (void)snprintf(path, sizeof(path), ROOT "/%s", name);
        must(stage, silt_txn_remove_file(txn, NULL, path, !effect->moves, &stage->err), "removing a file");
    }
}

silt_txn *mx_stage_begin(struct mx_stage *stage, const struct mx_op *op, const struct mx_state *snapshot,
                         const struct mx_effect *effect)
{
    silt_txn *txn = begin(stage, mx_kind_name(op->kind));
    const bool all = op->kind == MX_OVERWRITE || op->kind == MX_TRUNCATE || op->kind == MX_RESTORE;
    say_cells(stage, txn, op, effect);
    if (all) {
        must(stage, silt_txn_remove_all(txn, NULL, &stage->err), "removing everything");
    } else if (op->kind != MX_DYNAMIC) {
        say_reads(stage, txn, op);
        say_removes(stage, txn, snapshot, effect);
    }
    for (size_t i = 0; i < effect->n_adds; i++) {
        add_file(stage, txn, &effect->adds[i], effect->readds, effect->moves);
    }
    if (op->kind == MX_DYNAMIC) {
        must(stage, silt_txn_overwrite_partitions(txn, NULL, &stage->err), "replacing partitions");
    }
    return txn;
}

static void copy_text(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text != NULL ? text : "");
}

void mx_stage_commit(silt_txn *txn, struct mx_answer *answer)
{
    silt_commit_result result = {.size = sizeof(result)};
    *answer = (struct mx_answer){.err = SILT_ERROR_INIT};
    answer->status = silt_txn_commit(txn, NULL, &result, &answer->err);
    answer->outcome = result.outcome;
    answer->kind = result.conflict;
    answer->version = result.version;
    copy_text(answer->operation, sizeof(answer->operation), result.conflict_operation);
    copy_text(answer->file, sizeof(answer->file), result.conflict_file);
    copy_text(answer->partition, sizeof(answer->partition), result.conflict_partition);
    silt_txn_free(txn);
}

/* ---- comparing ---- */

struct table_view {
    silt_snapshot *snapshot;
    const struct mx_state *state;
    char *why;
    size_t size;
};

static bool differs(const struct table_view *view, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(view->why, view->size, format, args);
    va_end(args);
    return false;
}

static bool same_features(const struct table_view *view)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < silt_snapshot_feature_count(view->snapshot); i++) {
        const char *name = silt_snapshot_feature(view->snapshot, i);
        bits |= strcmp(name, "deletionVectors") == 0 ? MX_FEATURE_HARMLESS : 0;
        bits |= strcmp(name, "materializePartitionColumns") == 0 ? MX_FEATURE_BINDING : 0;
    }
    return bits == view->state->protocol.value || differs(view, "the table has features %d", (int)bits);
}

static bool same_cells(const struct table_view *view)
{
    char key[64];
    for (int id = 1; id <= MX_MAX_OPS + 1; id++) {
        (void)snprintf(key, sizeof(key), "mx.%d", id);
        if ((silt_snapshot_property_get(view->snapshot, key) != NULL) !=
            ((view->state->metadata.value >> id & 1) != 0)) {
            return differs(view, "property %s differs", key);
        }
    }
    for (int app = 0; app < MX_APPS; app++) {
        (void)snprintf(key, sizeof(key), "app%d", app);
        const int64_t found = silt_snapshot_app_version(view->snapshot, key);
        if ((found < 0 ? 0 : found) != (int64_t)view->state->apps[app].value) {
            return differs(view, "%s has version %d", key, (int)found);
        }
    }
    for (int domain = 0; domain < MX_DOMAINS; domain++) {
        (void)snprintf(key, sizeof(key), "mx.d%d", domain);
        const char *found = silt_snapshot_domain(view->snapshot, key);
        if ((found != NULL ? strtoull(found, NULL, 10) : 0) != view->state->domains[domain].value) {
            return differs(view, "domain %s is %s", key, found != NULL ? found : "absent");
        }
    }
    return same_features(view);
}

/* Rows of text "id,v,p;id,v,p;" into a state of one file a row. */
static void parse_rows(const char *text, struct mx_state *out)
{
    memset(out, 0, sizeof(*out));
    out->n_files = 2;
    out->files[0].part = 'a';
    out->files[1].part = 'b';
    while (*text != '\0') {
        char *next = NULL;
        const int id = (int)strtol(text, &next, 10);
        const int64_t value = strtoll(next + 1, &next, 10);
        struct mx_file *file = &out->files[next[1] == 'b'];
        if (file->n_rows < MX_MAX_ROWS) {
            file->rows[file->n_rows++] = (struct mx_row){id, value};
        }
        text = next + 3;
    }
}

static bool same_rows(struct mx_stage *stage, const struct table_view *view)
{
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    struct ArrowArrayStream rows;
    char text[4096];
    must(stage, silt_scan_builder_new(view->snapshot, &builder, &stage->err), "a scan");
    must(stage, silt_scan_builder_build(builder, NULL, &scan, &stage->err), "a plan");
    must(stage, silt_scan_read(scan, NULL, &rows, &stage->err), "reading");
    const int batches = mini_rows_text(&rows, text, sizeof(text));
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
    if (batches < 0) {
        return differs(view, "reading failed: %s", text);
    }
    struct mx_state found;
    parse_rows(text, &found);
    found.metadata = view->state->metadata;
    found.protocol = view->state->protocol;
    memcpy(found.apps, view->state->apps, sizeof(found.apps));
    memcpy(found.domains, view->state->domains, sizeof(found.domains));
    return mx_same_rows(&found, view->state) || differs(view, "the table's rows are %s", text);
}

bool mx_stage_agrees(struct mx_stage *stage, const struct mx_state *state, int64_t version, char *why, size_t size)
{
    struct table_view view = {.state = state, .why = why, .size = size};
    must(stage, silt_table_latest_snapshot(stage->table, NULL, &view.snapshot, &stage->err), "opening the table");
    const bool same = silt_snapshot_version(view.snapshot) == version
                          ? same_cells(&view) && same_rows(stage, &view)
                          : differs(&view, "the table is at version %d", (int)silt_snapshot_version(view.snapshot));
    silt_snapshot_unref(view.snapshot);
    return same;
}
