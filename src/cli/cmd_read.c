/*
 * silt read and silt append: common jobs, put into SQL.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/report_error.h"
#include "cli/run_sql.h"
#include "cli/select.h"
#include "cli/sql_text.h"
#include "cli/table_arg.h"

int sl_cmd_read(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_select select;
    struct sl_table_arg table;

    sl_select_init(&select, cli->env);
    silt_status status = sl_table_arg_read(cli, &table, &err);
    if (status == SILT_OK) {
        status = sl_select_begin(cli, &select, &err);
    }
    if (status == SILT_OK) {
        status = sl_table_arg_put_sql(cli, &table, &select.sql, &err);
    }
    if (status == SILT_OK) {
        status = sl_select_end(cli, &select, NULL, &err);
    }
    return sl_select_run(cli, &select, &table, status, &err);
}

/* Reader function of a file, by its name; NULL if the name tells nothing. */
static const char *reader_of(const char *path)
{
    static const struct {
        const char *ending;
        const char *reader;
    } endings[] = {{".parquet", "read_parquet"}, {".csv", "read_csv"},       {".csv.gz", "read_csv"},
                   {".tsv", "read_csv"},         {".tsv.gz", "read_csv"},    {".json", "read_json"},
                   {".json.gz", "read_json"},    {".jsonl", "read_json"},    {".jsonl.gz", "read_json"},
                   {".ndjson", "read_json"},     {".ndjson.gz", "read_json"}};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (sl_str_ends_with(sl_str_from(path), sl_str_from(endings[i].ending))) {
            return endings[i].reader;
        }
    }
    return NULL;
}

/*
 * read_csv(['a.csv', 'b.csv']). Texts of JSON are made times only where a table is created: DuckDB makes wall clocks of them,
 * also of those with a zone, which would then be read in the session's. A format that no text has keeps them as they are.
 */
static silt_status put_source(struct sl_cli *cli, bool exists, struct sl_buf *sql, silt_error *err)
{
    const char *reader = reader_of(cli->args.words[1]);
    for (size_t i = 1; i < cli->args.n_words; i++) {
        const char *path = cli->args.words[i];
        const char *its_reader = reader_of(path);
        if (its_reader == NULL) {
            return sl_fail(err, SILT_EINVALID, "SILT_USAGE",
                           "%s: expected a name that ends with .parquet, .csv, .tsv, .json, .jsonl or .ndjson", path);
        }
        if (strcmp(its_reader, reader) != 0) {
            return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "%s and %s are of different formats", cli->args.words[1],
                           path);
        }
        sl_buf_printf(sql, i == 1 ? "%s([" : ", ", reader);
        sl_sql_put_string(sql, sl_str_from(path));
    }
    sl_buf_put_c(sql, exists && strcmp(reader, "read_json") == 0 ? "], timestampformat = '%Y no time')" : "])");
    return SILT_OK;
}

/* The next name of a list with commas. */
static struct sl_str next_name(struct sl_str *list)
{
    const size_t comma = sl_str_find(*list, SL_STR(","));
    const struct sl_str name = sl_str_trim(sl_str_sub(*list, 0, comma == SIZE_MAX ? list->len : comma));
    *list = sl_str_sub(*list, comma == SIZE_MAX ? list->len : comma + 1, list->len);
    return name;
}

static bool is_partitioned_by(const silt_snapshot *snapshot, const char *list)
{
    struct sl_str rest = sl_str_from(list);
    bool same = true;
    for (size_t i = 0; same && i < silt_snapshot_partition_count(snapshot); i++) {
        same = sl_str_eq_nocase(next_name(&rest), sl_str_from(silt_snapshot_partition_column(snapshot, i)));
    }
    return same && rest.len == 0;
}

/* What a table that is there is partitioned by was settled when it was created. */
static silt_status check_partitions(struct sl_cli *cli, const silt_snapshot *snapshot, silt_error *err)
{
    struct sl_buf has;
    if (cli->args.partition_by == NULL || is_partitioned_by(snapshot, cli->args.partition_by)) {
        return SILT_OK;
    }
    sl_buf_init(&has, cli->env);
    for (size_t i = 0; i < silt_snapshot_partition_count(snapshot); i++) {
        sl_buf_printf(&has, "%s%s", i > 0 ? "," : "", silt_snapshot_partition_column(snapshot, i));
    }
    silt_status status = sl_buf_status(&has, err);
    if (status == SILT_OK) {
        status = sl_fail(err, SILT_EINVALID, "SILT_PARTITION_COLUMNS_MISMATCH",
                         "--partition-by names %s, but the table is partitioned by %s", cli->args.partition_by,
                         has.len > 0 ? sl_buf_cstr(&has) : "nothing");
        sl_error_hint(err, "without --partition-by the rows go where the table has them");
    }
    sl_buf_release(&has);
    return status;
}

static silt_status table_exists(struct sl_cli *cli, const struct sl_table_arg *arg, bool *out, silt_error *err)
{
    silt_snapshot *snapshot = NULL;
    silt_status status = sl_table_arg_snapshot(cli, arg, &snapshot, err);
    *out = status == SILT_OK;
    if (status == SILT_OK) {
        status = check_partitions(cli, snapshot, err);
    }
    silt_snapshot_unref(snapshot);
    if (status == SILT_ENOTTABLE && cli->args.create) {
        silt_error_reset(err);
        status = SILT_OK;
    } else if (status == SILT_ENOTTABLE) {
        char near[SILT_ERROR_HINT_SIZE];
        (void)snprintf(near, sizeof(near), "%s", err->hint);
        sl_error_hint(err, "%s%s--create creates the table", near, near[0] != '\0' ? " else " : "");
    }
    return status;
}

static silt_status compose_append(struct sl_cli *cli, struct sl_buf *sql, silt_error *err)
{
    struct sl_table_arg table;
    bool exists = false;

    SL_TRY(sl_table_arg_read(cli, &table, err));
    SL_TRY(sl_table_arg_no_travel(&table, err));
    if (cli->args.partition_by != NULL && !cli->args.create) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--partition-by is for a table that --create creates");
    }
    SL_TRY(table_exists(cli, &table, &exists, err));
    sl_buf_put_c(sql, exists && cli->args.merge_schema ? "INSERT WITH SCHEMA EVOLUTION INTO "
                      : exists                         ? "INSERT INTO "
                                                       : "CREATE TABLE ");
    SL_TRY(sl_table_arg_put_sql(cli, &table, sql, err));
    sl_buf_put_c(sql, exists ? " BY NAME" : " USING delta");
    if (!exists && cli->args.partition_by != NULL) {
        sl_buf_put_c(sql, " PARTITIONED BY (");
        SL_TRY(sl_sql_put_names(sql, "partition-by", cli->args.partition_by, err));
        sl_buf_put_char(sql, ')');
    }
    sl_buf_put_c(sql, exists ? " SELECT * FROM " : " AS SELECT * FROM ");
    return put_source(cli, exists, sql, err);
}

int sl_cmd_append(struct sl_cli *cli)
{
    const struct sl_run_sql options = {.format = sl_cli_format(cli),
                                       .hint_columns = "--merge-schema adds the columns that the table lacks"};
    silt_error err = SILT_ERROR_INIT;
    struct sl_buf sql;
    int code;

    sl_buf_init(&sql, cli->env);
    if (options.format == SL_FORMAT_PARQUET) {
        (void)sl_fail(&err, SILT_EINVALID, "SILT_USAGE", "-o parquet is for sql, read and changes");
        code = sl_report_error(cli, &err, (struct sl_str){0});
    } else if (compose_append(cli, &sql, &err) != SILT_OK) {
        code = sl_report_error(cli, &err, (struct sl_str){0});
    } else {
        code = sl_run_sql_buf(cli, &sql, &options);
    }
    sl_buf_release(&sql);
    return code;
}
