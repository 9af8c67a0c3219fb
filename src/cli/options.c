/*
 * The table of options and its parser: --name value, --name=value, -x value, -xvalue, and "--" before words that begin with a dash.
 */
#include "cli/options.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_COUNT, /* a number from 0 on */
    OPTION_FORMAT,
    OPTION_STORE /* NAME=VALUE, as often as wanted */
};

struct option {
    unsigned bit;
    enum option_kind kind;
    char letter; /* 0: none */
    const char *name;
    const char *value; /* its name in help; NULL for a flag */
    const char *help;
    size_t offset; /* in struct sl_args */
};

#define AT(field) offsetof(struct sl_args, field)

static const struct option OPTIONS[] = {
    {SL_OPT_FILE, OPTION_TEXT, 'f', "file", "FILE", "read the statements from a file", AT(file)},
    {SL_OPT_FORMAT, OPTION_FORMAT, 'o', "format", "FORMAT", "table, csv, json, jsonl or parquet", AT(format)},
    {SL_OPT_OUTPUT, OPTION_TEXT, 'O', "output", "FILE", "write the result to a file; its ending tells the format",
     AT(output)},
    {SL_OPT_VERSION, OPTION_COUNT, 0, "version", "N", "the table as of this version", AT(version)},
    {SL_OPT_OF_COMMIT, OPTION_COUNT, 0, "version", "N", "only the commit of this version", AT(version)},
    {SL_OPT_OF_CHECKPOINT, OPTION_COUNT, 0, "version", "N", "the version to write it of (default: the newest)",
     AT(version)},
    {SL_OPT_TIMESTAMP, OPTION_TEXT, 0, "timestamp", "TIME", "the table as of this time, e.g. 2026-01-31T12:00:00Z",
     AT(timestamp)},
    {SL_OPT_RANGE, OPTION_TEXT, 0, "from", "V", "the first version of the range, or a time", AT(from)},
    {SL_OPT_RANGE, OPTION_TEXT, 0, "to", "V", "the last version, or a time (default: the newest)", AT(to)},
    {SL_OPT_VERSIONS, OPTION_COUNT, 0, "from", "N", "the first version (default: after the newest checkpoint)",
     AT(from_version)},
    {SL_OPT_VERSIONS, OPTION_COUNT, 0, "to", "N", "the last version (default: the newest)", AT(to_version)},
    {SL_OPT_DRY_RUN, OPTION_FLAG, 0, "dry-run", NULL, "show what would be deleted, delete nothing", AT(dry_run)},
    {SL_OPT_CHECK, OPTION_FLAG, 0, "no-data", NULL, "check the log only, not the data files", AT(no_data)},
    {SL_OPT_CHECK, OPTION_TEXT, 0, "sample", "N|P%", "read only so many data files, chosen by chance", AT(sample)},
    {SL_OPT_CHECK, OPTION_COUNT, 0, "seed", "N", "of the choice, to have the same files again", AT(seed)},
    {SL_OPT_CHECKPOINT, OPTION_FLAG, 0, "v2", NULL, "write a V2 checkpoint whatever the table's policy", AT(v2)},
    {SL_OPT_CHECKPOINT, OPTION_COUNT, 0, "parts", "N", "write a V1 checkpoint in about N parts", AT(parts)},
    {SL_OPT_WRITE, OPTION_FLAG, 0, "write", NULL, "also create, read and remove a small file beside the log",
     AT(write)},
    {SL_OPT_COLUMNS, OPTION_TEXT, 0, "columns", "A,B,...", "only these columns", AT(columns)},
    {SL_OPT_WHERE, OPTION_TEXT, 0, "where", "CONDITION", "only rows for which this SQL condition is true", AT(where)},
    {SL_OPT_PRUNE, OPTION_TEXT, 0, "where", "CONDITION", "only files that may hold rows for which this is true",
     AT(where)},
    {SL_OPT_LIMIT, OPTION_COUNT, 0, "limit", "N", "at most this many", AT(limit)},
    {SL_OPT_CREATE, OPTION_FLAG, 0, "create", NULL, "create the table if there is none", AT(create)},
    {SL_OPT_MERGE, OPTION_FLAG, 0, "merge-schema", NULL, "add columns that the table does not have", AT(merge_schema)},
    {SL_OPT_PARTITION_BY, OPTION_TEXT, 0, "partition-by", "A,B,...", "partition columns of a table that is created",
     AT(partition_by)},
    {SL_OPT_KEEP_GOING, OPTION_FLAG, 0, "keep-going", NULL, "go on after a statement that failed", AT(keep_going)},
    {SL_OPT_TXN, OPTION_TEXT, 0, "txn-app-id", "ID",
     "do writes once: skip what the table has recorded of this application", AT(txn_app_id)},
    {SL_OPT_TXN, OPTION_TEXT, 0, "txn-version", "N", "with this version or a later one", AT(txn_version)},
    {SL_OPT_WAREHOUSE, OPTION_TEXT, 0, "warehouse", "DIR",
     "folder of named tables (default: $SILT_WAREHOUSE, else the working folder)", AT(warehouse)},
    {SL_OPT_WAREHOUSE, OPTION_STORE, 0, "store-option", "NAME=VALUE",
     "of the object store, e.g. AWS_REGION=eu-west-1; may be repeated", AT(store_options)},
    {SL_OPT_TIME_ZONE, OPTION_TEXT, 0, "time-zone", "ZONE", "of times without a zone (default: UTC)", AT(time_zone)},
    {SL_OPT_THREADS, OPTION_COUNT, 0, "threads", "N", "of the query engine (default: one a processor)", AT(threads)},
    {SL_OPT_MEMORY, OPTION_TEXT, 0, "memory-limit", "SIZE", "of the query engine, e.g. 4GB", AT(memory_limit)},
};

#define N_OPTIONS (sizeof(OPTIONS) / sizeof(OPTIONS[0]))

static const char *const FORMAT_NAMES[] = {
    [SL_FORMAT_TABLE] = "table", [SL_FORMAT_CSV] = "csv",         [SL_FORMAT_JSON] = "json",
    [SL_FORMAT_JSONL] = "jsonl", [SL_FORMAT_PARQUET] = "parquet",
};

const char *sl_format_name(enum sl_format format)
{
    return format == SL_FORMAT_DEFAULT ? "default" : FORMAT_NAMES[format];
}

bool sl_format_by_name(const char *name, enum sl_format *out)
{
    for (int i = SL_FORMAT_TABLE; i <= SL_FORMAT_PARQUET; i++) {
        if (strcmp(name, FORMAT_NAMES[i]) == 0) {
            *out = (enum sl_format)i;
            return true;
        }
    }
    return false;
}

const char *sl_suggest(const char *typed, const char *const *names, size_t n)
{
    const struct sl_str word = sl_str_from(typed);
    const size_t cap = word.len < 4 ? 1 : 2;
    const char *best = NULL;
    size_t best_distance = cap + 1;

    for (size_t i = 0; i < n; i++) {
        const struct sl_str name = sl_str_from(names[i]);
        const size_t distance = sl_str_distance(word, name, cap);
        if (distance < best_distance) {
            best = names[i];
            best_distance = distance;
        }
    }
    for (size_t i = 0; i < n && best == NULL && word.len >= 3; i++) {
        best = sl_str_starts_with(sl_str_from(names[i]), word) ? names[i] : NULL; /* cut short */
    }
    return best;
}

static const struct option *find_long(const struct sl_command *command, struct sl_str name)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if ((command->options & OPTIONS[i].bit) != 0 && sl_str_eq_c(name, OPTIONS[i].name)) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}

static const struct option *find_letter(const struct sl_command *command, char letter)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if ((command->options & OPTIONS[i].bit) != 0 && OPTIONS[i].letter == letter) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}

/* "silt sql --help", or "silt --help" for what has no name. */
static void hint_help(const struct sl_command *command, silt_error *err)
{
    sl_error_hint(err, "see silt%s%s --help", command->name[0] != '\0' ? " " : "", command->name);
}

static silt_status unknown_option(struct sl_arena *arena, const struct sl_command *command, const char *typed,
                                  silt_error *err)
{
    const char *names[N_OPTIONS + 1];
    size_t n = 0;
    const silt_status status = sl_fail(err, SILT_EINVALID, "SILT_USAGE", "unknown option %s", typed);
    const char *end = strchr(typed, '=');
    const size_t len = end != NULL ? (size_t)(end - typed) : strlen(typed);
    const char *alone = sl_arena_strdup(arena, sl_str_make(typed, len));
    const char *near = NULL;

    for (size_t i = 0; i < N_OPTIONS; i++) {
        if ((command->options & OPTIONS[i].bit) != 0) {
            names[n++] = OPTIONS[i].name;
        }
    }
    names[n++] = "help";
    if (alone != NULL && len > 2) {
        near = sl_suggest(alone + strspn(alone, "-"), names, n);
    }
    if (near != NULL) {
        sl_error_hint(err, "did you mean --%s?", near);
    } else {
        hint_help(command, err);
    }
    return status;
}

static silt_status set_format(const char *text, enum sl_format *field, silt_error *err)
{
    if (sl_format_by_name(text, field)) {
        return SILT_OK;
    }
    const char *near = sl_suggest(text, FORMAT_NAMES + SL_FORMAT_TABLE, SL_FORMAT_PARQUET - SL_FORMAT_TABLE + 1);
    const silt_status status = sl_fail(err, SILT_EINVALID, "SILT_USAGE",
                                       "unknown format %s, expected table, csv, json, jsonl or parquet", text);
    if (strpbrk(text, "./") != NULL) {
        sl_error_hint(err, "-O %s names the file of the result", text);
    } else if (near != NULL) {
        sl_error_hint(err, "did you mean %s?", near);
    }
    return status;
}

static silt_status add_store_option(const char *text, struct sl_args *args, silt_error *err)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) { /* the text is not shown: it may be a secret */
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--store-option takes NAME=VALUE");
    }
    if (args->n_store_options == SL_MAX_STORE_OPTIONS) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "more than %d --store-option", SL_MAX_STORE_OPTIONS);
    }
    args->store_options[args->n_store_options++] = text;
    return SILT_OK;
}

static silt_status set_option(const struct option *option, const char *text, struct sl_args *args, silt_error *err)
{
    char *field = (char *)args + option->offset;
    int64_t count = 0;

    switch (option->kind) {
    case OPTION_FLAG: *(bool *)(void *)field = true; return SILT_OK;
    case OPTION_TEXT: *(const char **)(void *)field = text; return SILT_OK;
    case OPTION_FORMAT: return set_format(text, (enum sl_format *)(void *)field, err);
    case OPTION_STORE: return add_store_option(text, args, err);
    case OPTION_COUNT: break;
    }
    if (!sl_str_to_i64(sl_str_from(text), &count) || count < 0) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--%s takes a number from 0 on, not %s", option->name, text);
    }
    *(int64_t *)(void *)field = count;
    return SILT_OK;
}

struct cursor {
    int argc;
    char **argv;
    int next;
};

/* One word that begins with a dash. */
static silt_status parse_option(struct sl_arena *arena, const struct sl_command *command, struct cursor *cursor,
                                struct sl_args *args, silt_error *err)
{
    const char *word = cursor->argv[cursor->next++];
    const bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const char *text = NULL;
    const struct option *option = NULL;

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        args->help = true;
        return SILT_OK;
    }
    if (is_long) {
        const size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
        option = find_long(command, sl_str_make(word + 2, len - 2));
        text = equals != NULL ? equals + 1 : NULL;
    } else {
        option = find_letter(command, word[1]);
        text = word[2] != '\0' ? word + 2 : NULL;
    }
    if (option == NULL) {
        return unknown_option(arena, command, word, err);
    }
    if (option->kind == OPTION_FLAG && text != NULL) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--%s takes no value", option->name);
    }
    if (option->kind != OPTION_FLAG && text == NULL) {
        if (cursor->next >= cursor->argc) {
            return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--%s needs a value: %s", option->name, option->value);
        }
        text = cursor->argv[cursor->next++];
    }
    return set_option(option, text, args, err);
}

/* "-" is standard input, and "-- text" a statement that begins with a comment. */
static bool is_option(const char *word)
{
    const bool is_comment = word[0] == '-' && word[1] == '-' && strchr(" \t\r\n", word[2]) != NULL && word[2] != '\0';
    return word[0] == '-' && word[1] != '\0' && !is_comment;
}

/* Whether a word that begins with a dash is an option whose value is the next word. An unknown one has none. */
static bool takes_next_word(const char *word)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const bool named = word[1] == '-' ? strcmp(word + 2, OPTIONS[i].name) == 0
                                          : word[1] == OPTIONS[i].letter && word[2] == '\0';
        if (named) {
            return OPTIONS[i].kind != OPTION_FLAG;
        }
    }
    return false;
}

int sl_options_skip(int argc, char **argv, int begin)
{
    int at = begin;
    while (at < argc && is_option(argv[at])) {
        if (strcmp(argv[at], "--") == 0) {
            return argc;
        }
        at += takes_next_word(argv[at]) ? 2 : 1;
    }
    return at < argc ? at : argc;
}

static silt_status check_words(const struct sl_command *command, const struct sl_args *args, silt_error *err)
{
    silt_status status = SILT_OK;
    if (args->n_words < command->min_words) {
        status = sl_fail(err, SILT_EINVALID, "SILT_USAGE", "something is missing: silt %s", command->usage);
    } else if (args->n_words > command->max_words) {
        status = sl_fail(err, SILT_EINVALID, "SILT_USAGE", "%s is one word too many: silt %s",
                         args->words[command->max_words], command->usage);
    }
    if (status != SILT_OK) {
        hint_help(command, err);
    }
    return status;
}

/* The format that the name of the result's file tells; the default if none. */
static enum sl_format format_of_file(const char *path)
{
    const struct sl_str name = sl_str_from(path);
    for (int i = SL_FORMAT_CSV; i <= SL_FORMAT_PARQUET; i++) {
        const struct sl_str ending = sl_str_from(FORMAT_NAMES[i]);
        if (sl_str_ends_with(name, ending) && name.len > ending.len && name.ptr[name.len - ending.len - 1] == '.') {
            return (enum sl_format)i;
        }
    }
    return sl_str_ends_with(name, SL_STR(".ndjson")) ? SL_FORMAT_JSONL : SL_FORMAT_DEFAULT;
}

/* A name that ends in what tells no format would get one that it does not say. */
static silt_status choose_format(struct sl_args *args, silt_error *err)
{
    if (args->format != SL_FORMAT_DEFAULT || args->output == NULL) {
        return SILT_OK;
    }
    const char *slash = strrchr(args->output, '/');
    const char *name = slash != NULL ? slash + 1 : args->output;
    const char *dot = strrchr(name, '.');
    args->format = format_of_file(args->output);
    if (args->format != SL_FORMAT_DEFAULT || dot == NULL || dot == name || dot[1] == '\0') {
        return SILT_OK;
    }
    const silt_status status = sl_fail(err, SILT_EINVALID, "SILT_USAGE",
                                       "%s: the ending %s tells no format, expected .csv, .json, .jsonl or .parquet",
                                       args->output, dot);
    sl_error_hint(err, "-o FORMAT says what the file gets, whatever its name");
    return status;
}

silt_status sl_options_parse(struct sl_arena *arena, const struct sl_command *command, int argc, char **argv,
                             struct sl_args *out, silt_error *err)
{
    struct cursor cursor = {argc, argv, 0};
    bool only_words = false;

    *out = (struct sl_args){
        .version = -1, .from_version = -1, .to_version = -1, .limit = -1, .threads = -1, .seed = -1, .parts = -1};
    out->words = sl_arena_alloc_array(arena, (size_t)argc + 1, sizeof(*out->words));
    if (out->words == NULL) {
        return sl_fail_nomem(err);
    }
    while (cursor.next < argc && !out->help) {
        const char *word = argv[cursor.next];
        if (only_words || !is_option(word)) {
            out->words[out->n_words++] = word;
            cursor.next++;
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
            cursor.next++;
        } else {
            SL_TRY(parse_option(arena, command, &cursor, out, err));
        }
    }
    if (out->help) {
        return SILT_OK;
    }
    SL_TRY(choose_format(out, err));
    return check_words(command, out, err);
}

void sl_options_describe(struct sl_buf *out, const struct sl_command *command)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *option = &OPTIONS[i];
        if ((command->options & option->bit) == 0) {
            continue;
        }
        const size_t begin = out->len;
        if (option->letter != 0) {
            sl_buf_printf(out, "  -%c, --%s", option->letter, option->name);
        } else {
            sl_buf_printf(out, "      --%s", option->name);
        }
        if (option->value != NULL) {
            sl_buf_printf(out, " %s", option->value);
        }
        do {
            sl_buf_put_char(out, ' ');
        } while (sl_buf_status(out, NULL) == SILT_OK && out->len - begin < 28);
        sl_buf_printf(out, "%s\n", option->help);
    }
    sl_buf_put_c(out, "  -h, --help                show this help\n");
}
