/*
 * The table of commands with their help; see commands.h.
 */
#include "cli/commands.h"

#include <string.h>

#define ANY_NUMBER ((size_t)10000)
#define QUERY_OPTIONS (SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPTS_ENGINE)

static const char TABLE_HELP[] =
    "TABLE is a path or URI, or a name in the warehouse (sales.events is the folder sales/events);\n"
    "TABLE@v3 and TABLE@20261129120000000 are the table as it was.\n";

const struct sl_command sl_command_none = {
    .name = "",
    .usage = "[options]",
    .summary = "start the shell, or run SQL from standard input",
    .options = QUERY_OPTIONS | SL_OPT_KEEP_GOING | SL_OPT_FILE | SL_OPT_TXN,
    .max_words = 0,
    .run = sl_cmd_none,
};

static const struct sl_command COMMANDS[] = {
    {
        .name = "sql",
        .usage = "sql [\"STATEMENTS\" | -f FILE | -] [options]",
        .summary = "run SQL statements",
        .details = "Statements end with a semicolon, run in order, and are a transaction each. Delta's statements are\n"
                   "Spark SQL's, queries are DuckDB's; tables are 'path', delta.`path` or names in the warehouse.\n"
                   "With - or without a text, statements come from standard input. A statement that changes a table\n"
                   "yields a row of counts. A failure stops the run, unless --keep-going.\n",
        .examples = "  silt sql \"SELECT city, count(*) FROM '/data/rentals' GROUP BY ALL\"\n"
                    "  silt sql \"CREATE TABLE events (id BIGINT, at TIMESTAMP) USING delta\"\n"
                    "  silt sql \"INSERT INTO events SELECT * FROM 'new.parquet'\"\n"
                    "  silt sql -f nightly.sql --warehouse /data\n"
                    "  silt sql \"FROM events\" -o jsonl | jq .id\n"
                    "  silt sql -f nightly.sql --txn-app-id nightly --txn-version 20260131\n",
        .options = QUERY_OPTIONS | SL_OPT_KEEP_GOING | SL_OPT_FILE | SL_OPT_TXN,
        .max_words = 1,
        .run = sl_cmd_sql,
    },
    {
        .name = "read",
        .usage = "read TABLE [options]",
        .summary = "show the rows of a table",
        .details = TABLE_HELP,
        .examples = "  silt read /data/rentals --limit 10\n"
                    "  silt read rentals@v3 --columns city,minutes --where \"city = 'Oslo'\" -o csv\n"
                    "  silt read rentals --timestamp '2026-01-31 12:00:00' -o parquet -O january.parquet\n",
        .options = QUERY_OPTIONS | SL_OPTS_TRAVEL | SL_OPT_COLUMNS | SL_OPT_WHERE | SL_OPT_LIMIT,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_read,
    },
    {
        .name = "changes",
        .usage = "changes TABLE --from V [--to V] [options]",
        .summary = "show the rows that versions inserted, updated and deleted",
        .details =
            "Rows have the columns of the table, then _change_type (insert, delete, update_preimage, update_postimage),\n"
            "_commit_version and _commit_timestamp. The table must record changes: property\n"
            "delta.enableChangeDataFeed.\n",
        .examples = "  silt changes /data/rentals --from 3\n"
                    "  silt changes rentals --from '2026-01-31' --to '2026-02-28 23:59:59' --where \"city = 'Oslo'\"\n",
        .options = QUERY_OPTIONS | SL_OPT_RANGE | SL_OPT_COLUMNS | SL_OPT_WHERE | SL_OPT_LIMIT,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_changes,
    },
    {
        .name = "append",
        .usage = "append TABLE FILE... [options]",
        .summary = "append Parquet, CSV or JSON files to a table",
        .details =
            "All files go into one commit and are of one format, told by their names (.parquet, .csv, .tsv, .json,\n"
            ".jsonl, .ndjson; the text formats also with .gz). Columns are matched by name.\n",
        .examples = "  silt append rentals 2026-02.parquet\n"
                    "  silt append rentals 2026-03.parquet --merge-schema\n"
                    "  silt append /data/rentals january/*.csv --create --partition-by city\n",
        .options = QUERY_OPTIONS | SL_OPT_CREATE | SL_OPT_MERGE | SL_OPT_PARTITION_BY | SL_OPT_TXN,
        .min_words = 2,
        .max_words = ANY_NUMBER,
        .run = sl_cmd_append,
    },
    {
        .name = "schema",
        .usage = "schema TABLE [options]",
        .summary = "show the columns of a table",
        .details =
            "A tree on a terminal or with -o table; -o json is the schema as the table's log has it; csv and jsonl have\n"
            "a row for each column and nested field.\n",
        .examples = "  silt schema /data/rentals\n"
                    "  silt schema rentals@v0 -o json\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPTS_TRAVEL,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_schema,
    },
    {
        .name = "history",
        .usage = "history TABLE [options]",
        .summary = "show the versions of a table, newest first",
        .details = "TABLE is a path or URI, or a name in the warehouse (sales.events is the folder sales/events).\n",
        .examples = "  silt history /data/rentals\n"
                    "  silt history rentals --limit 1 -o json | jq '.[0].version'\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPT_LIMIT,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_history,
    },
    {
        .name = "detail",
        .usage = "detail TABLE [options]",
        .summary = "show the location, size, properties and protocol of a table",
        .examples = "  silt detail /data/rentals\n"
                    "  silt detail rentals -o json | jq '.[0].numFiles'\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_detail,
    },
    {
        .name = "files",
        .usage = "files TABLE [options]",
        .summary = "show the data files of a table, or those that a condition needs",
        .details =
            "Columns: path, size (bytes), modificationTime (ms), partitionValues, stats, deletionVector, baseRowId,\n"
            "defaultRowCommitVersion, tags; stats have the names that the files use. CONDITION compares columns with\n"
            "values, joined by AND, OR, NOT.\n",
        .examples = "  silt files /data/rentals\n"
                    "  silt files rentals --where \"city = 'Oslo'\" -o jsonl | jq -r .path\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPTS_TRAVEL | SL_OPT_PRUNE,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_files,
    },
    {
        .name = "log",
        .usage = "log TABLE [options]",
        .summary = "show the actions of commits as they are in the log",
        .details =
            "One action a line with its version, newest commit first; JSON lines unless -o says otherwise. --version is for\n"
            "one commit, --limit for the newest ones.\n",
        .examples = "  silt log /data/rentals --limit 1\n"
                    "  silt log rentals | jq -c 'select(.add) | [.version, .add.path]'\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPT_OF_COMMIT | SL_OPT_LIMIT,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_log,
    },
    {
        .name = "fsck",
        .usage = "fsck TABLE [options]",
        .summary = "check a table: its log, its files, and their statistics against the data",
        .details =
            "Changes nothing. The log is replayed in different ways that must agree; every live file must be there; what\n"
            "the log states of files (rows, minima, maxima, nulls) is compared with their rows, since engines that go by\n"
            "wrong statistics skip rows silently. A report on a terminal or with -o table; csv, json and jsonl have a row\n"
            "for each finding. Exit code 0: sound (notes are harmless), 1: faults were found, 4: no table, or not readable.\n",
        .examples = "  silt fsck /data/rentals\n"
                    "  silt fsck rentals --sample 5% -o jsonl | jq 'select(.severity == \"fault\")'\n"
                    "  silt fsck rentals --no-data\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPT_CHECK | SL_OPT_THREADS | SL_OPT_MEMORY,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_fsck,
    },
    {
        .name = "checkpoint",
        .usage = "checkpoint TABLE [options]",
        .summary = "write a checkpoint, from which the table is opened without its older commits",
        .details =
            "Of which kind is said by the table property delta.checkpointPolicy: classic, one file; v2, a top file and\n"
            "sidecars. --parts is for engines that read one file too slowly, and never for tables with the feature\n"
            "v2Checkpoint. A V1 checkpoint that is there already is left alone. The table itself is not changed.\n",
        .examples = "  silt checkpoint /data/rentals\n"
                    "  silt checkpoint rentals --v2 -o json\n"
                    "  silt checkpoint rentals@v120\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPT_CHECKPOINT | SL_OPT_OF_CHECKPOINT | SL_OPT_THREADS |
                   SL_OPT_MEMORY,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_checkpoint,
    },
    {
        .name = "clean-log",
        .usage = "clean-log TABLE [options]",
        .summary = "delete what has expired of the log of a table",
        .details =
            "Commits do this by themselves after checkpoints. Versions older than delta.logRetentionDuration (30 days) go, up\n"
            "to the newest checkpoint that is so old; every later version stays. -o table tells how many files went,\n"
            "the other formats have a row with the name of each.\n",
        .examples = "  silt clean-log /data/rentals\n"
                    "  silt clean-log rentals --dry-run -o csv\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPT_DRY_RUN,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_clean_log,
    },
    {
        .name = "compact-log",
        .usage = "compact-log TABLE [options]",
        .summary = "write one file that readers take in the place of a range of commits",
        .details =
            "By default the range is the commits after the newest checkpoint, of which there must be two. The commits\n"
            "themselves stay, for history and change data.\n",
        .examples = "  silt compact-log /data/rentals\n"
                    "  silt compact-log rentals --from 11 --to 19\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPT_VERSIONS,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_compact_log,
    },
    {
        .name = "cache",
        .usage = "cache ls|clear [options]",
        .summary = "show or empty the cache of remote files",
        .details =
            "Parts of remote data files that were read are kept in $SILT_CACHE_DIR (default: ~/.cache/silt), up to\n"
            "$SILT_CACHE_SIZE (default: 10G). clear leaves what a process is using.\n",
        .examples = "  silt cache ls\n"
                    "  silt cache clear\n",
        .options = SL_OPTS_RESULT,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_cache,
    },
    {
        .name = "doctor",
        .usage = "doctor TABLE [options]",
        .summary = "say step by step why a location can or cannot be reached",
        .details =
            "Which options were found and where, the endpoint, the proxy, the connection, the clock, where credentials were\n"
            "looked for and which ones are used, whether the log may be listed and read, what table is there. No step shows a\n"
            "secret. Exit code 0: a table that silt can read, 4: no table, or not readable, 5: the store is not reached or\n"
            "refuses.\n",
        .examples = "  silt doctor s3://bucket/table\n"
                    "  silt doctor abfss://container@account.dfs.core.windows.net/table --write\n"
                    "  silt doctor gs://bucket/table -o jsonl | jq 'select(.result == \"failed\")'\n",
        .options = SL_OPTS_RESULT | SL_OPT_WAREHOUSE | SL_OPT_WRITE,
        .min_words = 1,
        .max_words = 1,
        .run = sl_cmd_doctor,
    },
    {
        .name = "version",
        .usage = "version",
        .summary = "show the version of silt",
        .examples = "  silt version\n",
        .run = sl_cmd_version,
    },
    {
        .name = "help",
        .usage = "help [COMMAND]",
        .summary = "show this help, or that of a command",
        .examples = "  silt help read\n",
        .max_words = 1,
        .run = sl_cmd_help,
    },
};

#define N_COMMANDS (sizeof(COMMANDS) / sizeof(COMMANDS[0]))

const struct sl_command *sl_command_at(size_t index)
{
    return index < N_COMMANDS ? &COMMANDS[index] : NULL;
}

const struct sl_command *sl_command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

const char *sl_command_suggest(const char *typed)
{
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = COMMANDS[i].name;
    }
    return sl_suggest(typed, names, N_COMMANDS);
}
