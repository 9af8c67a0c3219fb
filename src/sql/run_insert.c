/*
 * INSERT INTO | OVERWRITE | INTO … REPLACE WHERE: fits the query's columns to the table's, takes out what is replaced, and commits both as
 * one version.
 */
#include "base/arrow.h"
#include "base/error.h"
#include "expr/expr.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "sql/insert_columns.h"
#include "sql/literal_rows.h"
#include "sql/resident.h"
#include "sql/run.h"
#include "sql/write_options.h"

/* What is replaced by the rows that come. */
enum replaced {
    NOTHING,
    EVERYTHING,
    BY_CONDITION,
    BY_PARTITIONS /* those that receive rows; known only after they were written */
};

struct insertion {
    struct sl_run *run;
    const struct sl_insert *insert;
    struct sl_write_options options;
    silt_txn *txn;
    struct sl_row_source source;
    struct sl_insert_columns columns;
    enum replaced replaced;
    silt_expr *condition; /* BY_CONDITION: a reference */
};

/* Of REPLACE WHERE or of the option. */
static struct sl_str condition_text(const struct insertion *in)
{
    return in->insert->condition.ptr != NULL ? in->insert->condition : in->options.replace_where;
}

static silt_status parse_condition(struct insertion *in, silt_error *err)
{
    const bool in_statement = in->insert->condition.ptr != NULL;
    const struct sl_str text = condition_text(in);
    const struct sl_expr_zone zone = {sl_run_local_time, in->run};
    const silt_status status = sl_expr_parse_in_zone(in->run->session->env, text, silt_txn_schema(in->txn),
                                                     sl_run_is_utc(in->run) ? NULL : &zone, &in->condition, err);
    if (status == SILT_OK || err == NULL) {
        return status;
    }
    if (!in_statement) {
        sl_error_context(err, "silt.write.replaceWhere");
    } else if (err->position >= 0) {
        sl_error_position(err, in->run->offset + in->insert->condition_begin + (size_t)err->position);
    }
    return status;
}

static bool is_partitioned(const struct insertion *in)
{
    const silt_schema *schema = silt_txn_schema(in->txn);
    for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
        if (sl_txn_is_partition_column(in->txn, silt_schema_field(schema, i)->name)) {
            return true;
        }
    }
    return false;
}

/* Does PARTITION leave columns to the query? Without the clause all are. */
static bool leaves_partitions(const struct sl_insert *insert)
{
    for (size_t i = 0; i < insert->n_partition; i++) {
        if (insert->partition[i].value.ptr == NULL) {
            return true;
        }
    }
    return !insert->has_partition;
}

static silt_status refuse_together(const char *code, const char *one, const char *other, silt_error *err)
{
    return sl_fail(err, SILT_EINVALID, code, "%s cannot be used together with %s: both say what is overwritten", one,
                   other);
}

/* After the columns were fitted. */
static silt_status choose_replaced(struct insertion *in, silt_error *err)
{
    const struct sl_write_options *options = &in->options;
    const bool dynamic = options->dynamic && is_partitioned(in) && leaves_partitions(in->insert);
    if (in->insert->mode == SL_INSERT_APPEND) {
        return SILT_OK;
    }
    if (in->insert->mode == SL_INSERT_REPLACE_WHERE) {
        in->replaced = BY_CONDITION;
        return parse_condition(in, err);
    }
    if (options->replace_where.ptr != NULL && options->dynamic) {
        return refuse_together("DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE", "replaceWhere",
                               "partitionOverwriteMode = dynamic", err);
    }
    if (options->replace_where.ptr != NULL && in->insert->has_partition) {
        return refuse_together("DELTA_REPLACE_WHERE_IN_OVERWRITE", "replaceWhere", "PARTITION", err);
    }
    if (options->replace_where.ptr != NULL) {
        in->replaced = BY_CONDITION;
        return parse_condition(in, err);
    }
    if (dynamic) {
        in->replaced = BY_PARTITIONS;
    } else if (in->columns.partition != NULL) {
        in->replaced = BY_CONDITION;
        in->condition = silt_expr_ref(in->columns.partition);
    } else {
        in->replaced = EVERYTHING;
    }
    return SILT_OK;
}

static silt_status choose_way(const struct insertion *in, struct sl_insert_way *out, silt_error *err)
{
    const struct sl_write_options *options = &in->options;
    *out = (struct sl_insert_way){.merges = options->merges_schema || in->insert->evolves};
    if (in->insert->mode != SL_INSERT_OVERWRITE || !options->overwrites_schema) {
        return SILT_OK;
    }
    if (options->dynamic) {
        return refuse_together("DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE", "overwriteSchema",
                               "partitionOverwriteMode = dynamic", err);
    }
    if (options->replace_where.ptr != NULL || in->insert->has_partition) {
        return refuse_together("DELTA_REPLACE_WHERE_IN_OVERWRITE", "overwriteSchema", "replaceWhere or PARTITION", err);
    }
    *out = (struct sl_insert_way){.overwrites = true, .partition_by = options->partition_by};
    return SILT_OK;
}

/*
 * Partition values of timestamps without a zone mean another instant in each zone, and conflicts are judged without one: then the
 * transaction counts as reading everything.
 */
static silt_status take_out_rows(struct insertion *in, silt_error *err)
{
    const bool utc = sl_run_is_utc(in->run);
    const struct sl_txn_replace request = {in->condition, utc ? NULL : sl_run_local_time, in->run};
    if (!utc && is_partitioned(in)) {
        SL_TRY(silt_txn_read_predicate(in->txn, NULL, err));
    }
    return in->replaced == BY_PARTITIONS ? sl_txn_overwrite_partitions(in->txn, in->run->call, &request, err)
                                         : sl_txn_replace_where(in->txn, in->run->call, &request, err);
}

static silt_status describe(struct insertion *in, const struct sl_insert_way *way, silt_error *err)
{
    silt_txn *txn = in->txn;
    SL_TRY(silt_txn_set_parameter(txn, "mode", in->replaced == NOTHING ? "Append" : "Overwrite", err));
    SL_TRY(silt_txn_set_parameter(txn, "partitionBy", "[]", err));
    if (in->condition != NULL) {
        const struct sl_str given = condition_text(in);
        const char *text = given.ptr != NULL ? sl_arena_strdup(in->run->arena, given) : silt_expr_text(in->condition);
        SL_TRY(text != NULL ? silt_txn_set_parameter(txn, "predicate", text, err) : sl_fail_nomem(err));
    }
    if (in->replaced == BY_PARTITIONS) {
        SL_TRY(silt_txn_set_parameter(txn, "isDynamicPartitionOverwrite", "true", err));
    }
    if (way->overwrites) {
        SL_TRY(silt_txn_set_parameter(txn, "canOverwriteSchema", "true", err));
    }
    return way->merges ? silt_txn_set_parameter(txn, "canMergeSchema", "true", err) : SILT_OK;
}

/* Appends of constants need no data plane; *done false: these do. */
static silt_status insert_literals(struct insertion *in, const struct sl_insert_way *way, bool *done, silt_error *err)
{
    const struct sl_insert *insert = in->insert;
    struct ArrowArrayStream rows = {0};
    if (insert->mode != SL_INSERT_APPEND || insert->by_name || insert->has_partition || way->merges) {
        return SILT_OK;
    }
    const struct sl_literal_rows request = {.env = in->run->session->env,
                                            .arena = in->run->arena,
                                            .query = sl_str_sub(in->run->text, insert->query_begin, insert->query_end),
                                            .listed = &insert->columns,
                                            .schema = silt_txn_schema(in->txn)};
    SL_TRY(sl_literal_rows_read(&request, &rows, err));
    if (rows.release == NULL) {
        return SILT_OK;
    }
    *done = true;
    silt_status status = describe(in, way, err);
    if (status == SILT_OK) {
        status = silt_txn_write(in->txn, in->run->call, &rows, err);
    }
    sl_arrow_stream_release(&rows);
    return status;
}

static silt_status insert_rows(struct insertion *in, silt_error *err)
{
    const struct sl_insert *insert = in->insert;
    struct sl_insert_way way;
    bool done = false;
    SL_TRY(choose_way(in, &way, err));
    SL_TRY(insert_literals(in, &way, &done, err));
    if (done) {
        return SILT_OK;
    }
    SL_TRY(sl_row_source_open(in->run, insert->query_begin, insert->query_end, &in->source, err));
    SL_TRY(sl_insert_columns_fit(in->run, &in->source, in->txn, &way, &in->columns, err));
    SL_TRY(choose_replaced(in, err));
    SL_TRY(describe(in, &way, err));
    if (in->replaced == EVERYTHING && !way.overwrites) {
        SL_TRY(silt_txn_remove_all(in->txn, in->run->call, err));
    }
    if (in->replaced == BY_CONDITION) {
        SL_TRY(take_out_rows(in, err));
    }
    SL_TRY(sl_row_source_write(in->run, &in->source, in->columns.mapping, in->txn, err));
    return in->replaced == BY_PARTITIONS ? take_out_rows(in, err) : SILT_OK;
}

static silt_status run_in(struct insertion *in, silt_error *err)
{
    bool recorded = false;
    SL_TRY(sl_write_begin(in->run, &in->options, in->txn, &recorded, err));
    if (recorded) {
        return sl_run_skip(in->run, true, err);
    }
    SL_TRY(insert_rows(in, err));
    return sl_run_commit(in->run, in->txn, true, err);
}

/* What is replaced must be looked for among all files, so that little is gained by what was read before. */
static silt_status begin(struct insertion *in, silt_error *err)
{
    struct sl_run *run = in->run;
    struct sl_table_name *name = &run->statement->insert.table;
    if (in->insert->mode == SL_INSERT_APPEND) {
        return sl_session_begin_append(run->session, run->call, name, &in->txn, err);
    }
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    SL_TRY(sl_session_snapshot(run->session, run->call, name, &table, &snapshot, err));
    const silt_status status = silt_txn_begin_at(table, snapshot, "WRITE", &in->txn, err);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table); /* the transaction has its own reference */
    return status;
}

silt_status sl_run_insert(struct sl_run *run, silt_error *err)
{
    struct insertion in = {.run = run, .insert = &run->statement->insert};

    SL_TRY(sl_write_options_get(run->session, &in.options, err));
    SL_TRY(sl_write_check_target(run, &run->statement->insert.table, "rows are inserted into Delta tables only", err));
    silt_status status = begin(&in, err);
    if (status == SILT_OK) {
        status = run_in(&in, err);
    }
    if (status == SILT_OK) {
        sl_write_end(run, &in.options);
    }
    silt_expr_unref(in.condition);
    sl_row_source_close(&in.source);
    sl_insert_columns_release(&in.columns);
    silt_txn_free(in.txn);
    return status;
}
