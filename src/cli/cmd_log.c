/*
 * silt log: the actions of commits as they are in the log, newest commit first. Reads through the store only: what the actions mean, and
 * whether they are right, is not looked at beyond their being JSON objects.
 */
#include "cli/commands.h"

#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "cli/table_arg.h"
#include "json/json.h"

#define VERSION_DIGITS 20
#define NAME_BYTES 48

/* Commits are read ahead, so that a store far away is not asked for them one by one: so many, and not more bytes if more than one. */
#define AHEAD_COMMITS 64
#define AHEAD_BYTES (INT64_C(8) << 20)

struct commit {
    int64_t version;
    int64_t size_bytes;
};

struct log {
    struct sl_cli *cli;
    silt_table *table;
    silt_storage *storage;  /* borrowed from the session's engine */
    struct sl_vec versions; /* struct commit, ascending */
    size_t left;            /* of versions, taken from the end */
    silt_read_request ahead[AHEAD_COMMITS];
    size_t n_ahead;
    size_t next_ahead;
    struct sl_row_stream rows;
    bool vec_failed;
};

/* 00000000000000000012.json */
static bool parse_name(struct sl_str name, int64_t *version)
{
    return name.len == VERSION_DIGITS + 5 && sl_str_ends_with(name, SL_STR(".json")) && name.ptr[0] != '-' &&
           name.ptr[0] != '+' && sl_str_to_i64(sl_str_sub(name, 0, VERSION_DIGITS), version);
}

static bool note_entry(void *ctx, const silt_file_entry *entry)
{
    struct log *log = ctx;
    int64_t version = 0;
    if (parse_name(sl_str_make(entry->name, entry->name_len), &version)) {
        struct commit *slot = sl_vec_push(&log->versions);
        log->vec_failed = slot == NULL;
        if (slot != NULL) {
            *slot = (struct commit){version, entry->size_bytes};
        }
    }
    return !log->vec_failed;
}

static const struct commit *commit_at(const struct log *log, size_t i)
{
    return sl_vec_at(&log->versions, i);
}

static const char *commit_path(struct log *log, int64_t version)
{
    char name[NAME_BYTES];
    (void)snprintf(name, sizeof(name), "%020lld.json", (long long)version);
    return sl_arena_printf(&log->cli->arena, "%s/_delta_log/%s", silt_table_uri(log->table), name);
}

/* The versions to show: one, or the newest ones. */
static silt_status find_versions(struct log *log, silt_error *err)
{
    const struct sl_args *args = &log->cli->args;
    const silt_list_options options = {.size = sizeof(options), .start_from = "00000000000000000000.json"};
    const char *dir = sl_arena_printf(&log->cli->arena, "%s/_delta_log", silt_table_uri(log->table));
    silt_status status;

    if (dir == NULL) {
        return sl_fail_nomem(err);
    }
    status = silt_storage_list(log->storage, &log->cli->call, dir, &options, note_entry, log, err);
    if (status == SILT_ENOTFOUND || (status == SILT_OK && log->versions.len == 0 && !log->vec_failed)) {
        silt_error_reset(err);
        return sl_fail(err, SILT_ENOTTABLE, NULL, "%s holds no commits of a Delta table", silt_table_uri(log->table));
    }
    SL_TRY(status);
    if (log->vec_failed) {
        return sl_fail_nomem(err);
    }
    log->left = log->versions.len;
    if (args->limit >= 0 && (uint64_t)args->limit < log->left) {
        const size_t dropped = log->left - (size_t)args->limit;
        memmove(log->versions.data, sl_vec_at(&log->versions, dropped), (size_t)args->limit * sizeof(struct commit));
        log->left = (size_t)args->limit;
    }
    if (args->version >= 0) {
        for (size_t i = 0; i < log->versions.len; i++) {
            if (commit_at(log, i)->version == args->version) {
                *(struct commit *)sl_vec_at(&log->versions, 0) = *commit_at(log, i);
                log->left = 1;
                return SILT_OK;
            }
        }
        return sl_fail(err, SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND",
                       "the log has no commit of version %lld; it has %lld to %lld", (long long)args->version,
                       (long long)commit_at(log, 0)->version,
                       (long long)commit_at(log, log->versions.len - 1)->version);
    }
    return SILT_OK;
}

/* What is done with one action: its raw line, and its name and value. */
struct action {
    int64_t version;
    struct sl_str line;
    struct sl_str name; /* absent if the object is empty */
    const sl_json *value;
};
typedef silt_status (*on_action)(struct log *log, const struct action *action, silt_error *err);

static silt_status read_line(struct log *log, int64_t version, size_t number, struct sl_str line, on_action fn,
                             silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    struct action action = {.version = version, .line = line};
    silt_status status = sl_json_parse(log->cli->env, line, &doc, err);

    if (status == SILT_ENOMEM) {
        return status;
    }
    if (status != SILT_OK || !sl_json_is_object(sl_json_root(doc))) {
        sl_json_free(doc);
        silt_error_reset(err);
        return sl_fail(err, SILT_ECORRUPT, NULL, "line %zu of %020lld.json is no JSON object", number,
                       (long long)version);
    }
    struct sl_json_iter members = sl_json_iterate(sl_json_root(doc));
    (void)sl_json_next(&members, &action.name, &action.value); /* an empty object has none */
    status = fn(log, &action, err);
    sl_json_free(doc);
    return status;
}

static void ignore_request(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request;
}

static void forget_ahead(struct log *log)
{
    for (size_t i = 0; i < log->n_ahead; i++) {
        silt_read_request_release(log->storage, &log->ahead[i]);
    }
    log->n_ahead = 0;
    log->next_ahead = 0;
}

/* A commit never changes: one that comes with another size than it was listed with did not come whole. */
static silt_status check_read(const silt_read_request *read, const struct commit *commit, silt_error *err)
{
    SL_TRY(read->status);
    return (int64_t)read->data_len == commit->size_bytes
               ? SILT_OK
               : sl_fail(err, SILT_EIO, NULL, "the store gave %zu bytes of %s, which was listed with %lld",
                         read->data_len, read->path, (long long)commit->size_bytes);
}

/* Reads the next commits, at least one. */
static silt_status read_ahead(struct log *log, silt_error *err)
{
    int64_t bytes = 0;
    forget_ahead(log);
    while (log->n_ahead < AHEAD_COMMITS && log->n_ahead < log->left) {
        const struct commit *commit = commit_at(log, log->left - 1 - log->n_ahead);
        if (log->n_ahead > 0 && commit->size_bytes > AHEAD_BYTES - bytes) {
            break;
        }
        const char *path = commit_path(log, commit->version);
        if (path == NULL) {
            return sl_fail_nomem(err);
        }
        bytes += commit->size_bytes > 0 ? commit->size_bytes : 0;
        log->ahead[log->n_ahead++] = (silt_read_request){.path = path, .length = -1};
    }
    SL_TRY(silt_storage_read_many(log->storage, &log->cli->call, log->ahead, log->n_ahead, ignore_request, NULL, err));
    for (size_t i = 0; i < log->n_ahead; i++) {
        SL_TRY(check_read(&log->ahead[i], commit_at(log, log->left - 1 - i), err));
    }
    return SILT_OK;
}

/* Takes the next commit and calls fn for each of its actions. */
static silt_status read_commit(struct log *log, on_action fn, silt_error *err)
{
    size_t begin = 0;
    if (log->next_ahead == log->n_ahead) {
        SL_TRY(read_ahead(log, err));
    }
    silt_read_request *read = &log->ahead[log->next_ahead++];
    const int64_t version = commit_at(log, --log->left)->version;
    const struct sl_str text = sl_str_make(read->data, read->data_len);
    silt_status status = SILT_OK;
    for (size_t number = 1; status == SILT_OK && begin < text.len; number++) {
        const struct sl_str rest = sl_str_sub(text, begin, text.len);
        const size_t end = sl_str_find(rest, SL_STR("\n"));
        const struct sl_str line = sl_str_trim(sl_str_sub(rest, 0, end == SIZE_MAX ? rest.len : end));
        if (line.len > 0) {
            status = read_line(log, version, number, line, fn, err);
        }
        begin = end == SIZE_MAX ? text.len : begin + end + 1;
    }
    silt_read_request_release(log->storage, read);
    return status;
}

/* {"version":3,"add":{…}}: the line with the version put in front. */
static silt_status print_action(struct log *log, const struct action *action, silt_error *err)
{
    struct sl_buf *buf = &log->cli->out.buf;
    const struct sl_str members = sl_str_trim(sl_str_sub(action->line, 1, action->line.len - 1));
    (void)err;
    sl_buf_printf(buf, "{\"version\":%lld", (long long)action->version);
    sl_buf_put_c(buf, members.len > 0 ? "," : "");
    sl_buf_put_str(buf, members);
    sl_buf_put_c(buf, "}\n");
    sl_out_step(&log->cli->out);
    return SILT_OK;
}

static silt_status print_lines(struct log *log, silt_error *err)
{
    while (log->left > 0 && !sl_out_is_broken(&log->cli->out)) {
        SL_TRY(read_commit(log, print_action, err));
    }
    return SILT_OK;
}

static silt_status add_row(struct log *log, const struct action *action, silt_error *err)
{
    struct sl_buf content;
    sl_buf_init(&content, log->cli->env);
    if (action->value != NULL) {
        sl_json_write(&content, action->value);
    }
    silt_status status = sl_buf_status(&content, err);
    if (status == SILT_OK) {
        status = sl_row_stream_int(&log->rows, action->version, err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_text(&log->rows, action->name, err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_text(&log->rows, sl_str_make(sl_buf_cstr(&content), content.len), err);
    }
    sl_buf_release(&content);
    return status;
}

/* All rows at once: this form is for looking at some commits. */
static silt_status print_rows(struct log *log, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {{"version", "l"}, {"action", "u"}, {"content", "u"}};
    struct ArrowArrayStream stream = {0};

    SL_TRY(sl_row_stream_open(&log->rows, log->cli->env, columns, sizeof(columns) / sizeof(columns[0]), err));
    while (log->left > 0) {
        SL_TRY(read_commit(log, add_row, err));
    }
    SL_TRY(sl_row_stream_take(&log->rows, &stream, err));
    return sl_print_stream(log->cli, sl_cli_format(log->cli), &stream, NULL, err);
}

static silt_status show_log(struct sl_cli *cli, silt_error *err)
{
    struct log log = {.cli = cli};
    struct sl_table_arg table;
    silt_status status;

    SL_TRY(sl_table_arg_read(cli, &table, err));
    if (table.version >= 0 && cli->args.version < 0) {
        cli->args.version = table.version; /* TABLE@v3 */
    }
    if (table.timestamp != NULL) {
        return sl_table_arg_no_travel(&table, err);
    }
    sl_vec_init(&log.versions, cli->env, sizeof(struct commit));
    status = sl_table_arg_table(cli, &table, &log.table, err);
    if (status == SILT_OK) {
        status = silt_engine_storage(silt_table_engine(log.table), silt_table_uri(log.table), &log.storage, err);
    }
    if (status == SILT_OK) {
        status = find_versions(&log, err);
        sl_table_arg_hint(cli, &table, err);
    }
    if (status == SILT_OK) {
        const bool as_lines = cli->args.format == SL_FORMAT_DEFAULT || cli->args.format == SL_FORMAT_JSONL;
        status = as_lines ? print_lines(&log, err) : print_rows(&log, err);
    }
    forget_ahead(&log);
    sl_row_stream_close(&log.rows);
    sl_vec_release(&log.versions);
    silt_table_unref(log.table);
    return status;
}

int sl_cmd_log(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    return show_log(cli, &err) == SILT_OK ? SL_EXIT_DONE : sl_report_error(cli, &err, (struct sl_str){0});
}
