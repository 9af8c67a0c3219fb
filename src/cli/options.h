/*
 * The command line: one table of options, of which every command takes some, and the parser for it. Text is borrowed from argv.
 */
#ifndef SL_CLI_OPTIONS_H
#define SL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "silt/status.h"

struct sl_cli;

enum sl_format {
    SL_FORMAT_DEFAULT = 0,
    SL_FORMAT_TABLE,
    SL_FORMAT_CSV,
    SL_FORMAT_JSON,
    SL_FORMAT_JSONL,
    SL_FORMAT_PARQUET
};

/* Which options a command takes. */
enum sl_option_bit {
    SL_OPT_FORMAT = 1 << 0,
    SL_OPT_OUTPUT = 1 << 1,
    SL_OPT_FILE = 1 << 2,
    SL_OPT_KEEP_GOING = 1 << 3,
    SL_OPT_WAREHOUSE = 1 << 4,
    SL_OPT_VERSION = 1 << 5,
    SL_OPT_TIMESTAMP = 1 << 6,
    SL_OPT_COLUMNS = 1 << 7,
    SL_OPT_WHERE = 1 << 8,
    SL_OPT_LIMIT = 1 << 9,
    SL_OPT_CREATE = 1 << 10,
    SL_OPT_PARTITION_BY = 1 << 11,
    SL_OPT_THREADS = 1 << 12,
    SL_OPT_MEMORY = 1 << 13,
    SL_OPT_TIME_ZONE = 1 << 14,
    SL_OPT_RANGE = 1 << 15,
    SL_OPT_CHECK = 1 << 16,
    SL_OPT_DRY_RUN = 1 << 17,
    SL_OPT_VERSIONS = 1 << 18,
    SL_OPT_TXN = 1 << 19,
    SL_OPT_CHECKPOINT = 1 << 20,
    SL_OPT_WRITE = 1 << 21,
    SL_OPT_OF_COMMIT = 1 << 22,
    SL_OPT_OF_CHECKPOINT = 1 << 23,
    SL_OPT_PRUNE = 1 << 24,
    SL_OPT_MERGE = 1 << 25,

    SL_OPTS_RESULT = SL_OPT_FORMAT | SL_OPT_OUTPUT,
    SL_OPTS_ENGINE = SL_OPT_THREADS | SL_OPT_MEMORY | SL_OPT_TIME_ZONE,
    SL_OPTS_TRAVEL = SL_OPT_VERSION | SL_OPT_TIMESTAMP
};

/* Of --store-option, in all. */
#define SL_MAX_STORE_OPTIONS 64

/* What was given. Text is NULL, numbers are -1 when an option was not. */
struct sl_args {
    bool help;
    bool keep_going;
    bool create;
    bool merge_schema;
    bool no_data;
    bool dry_run;
    bool v2;
    bool write;
    enum sl_format format;
    int64_t version;
    int64_t from_version;
    int64_t to_version;
    int64_t limit;
    int64_t threads;
    int64_t seed;
    int64_t parts;
    const char *output;
    const char *file;
    const char *warehouse;
    const char *timestamp;
    const char *columns;
    const char *where;
    const char *partition_by;
    const char *memory_limit;
    const char *time_zone;
    const char *from;
    const char *to;
    const char *sample;
    const char *txn_app_id;
    const char *txn_version;
    const char *store_options[SL_MAX_STORE_OPTIONS]; /* NAME=VALUE each */
    size_t n_store_options;
    const char **words; /* what is no option, in order */
    size_t n_words;
};

struct sl_command {
    const char *name;
    const char *usage;    /* behind "silt " */
    const char *summary;  /* one line, for the list of commands */
    const char *details;  /* paragraphs; NULL: none */
    const char *examples; /* lines */
    unsigned options;     /* sl_option_bit */
    size_t min_words;
    size_t max_words;
    int (*run)(struct sl_cli *cli); /* returns the exit code */
};

/* Where the first word that is no option, nor the value of one, stands in argv; argc if there is none or "--" comes first. */
int sl_options_skip(int argc, char **argv, int begin);
/*
 * Parses the words of a command without its name. A fault is SILT_EINVALID with its hint set. With --help, nothing else is
 * checked.
 */
silt_status sl_options_parse(struct sl_arena *arena, const struct sl_command *command, int argc, char **argv,
                             struct sl_args *out, silt_error *err);
/* Appends the options of a command, one a line, for its help. */
void sl_options_describe(struct sl_buf *out, const struct sl_command *command);

const char *sl_format_name(enum sl_format format);
/* False for an unknown name. */
bool sl_format_by_name(const char *name, enum sl_format *out);

/* The nearest of n names if it is near enough to be meant, else NULL. */
const char *sl_suggest(const char *typed, const char *const *names, size_t n);

#endif
