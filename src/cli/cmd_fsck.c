/*
 * silt fsck: the check of a table, as a report or as rows. What was found is shown also when the check itself fails or is stopped.
 */
#include "cli/commands.h"

#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/fsck_report.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "cli/table_arg.h"
#include "silt/commands.h"

struct check {
    struct sl_cli *cli;
    struct sl_vec findings; /* silt_fsck_finding, texts in the program's arena */
    silt_fsck_report report;
    bool no_memory;
};

/* ---- options ---- */

/* "20" files or "5%" of them. */
static silt_status read_sample(const char *text, silt_fsck_options *out, silt_error *err)
{
    struct sl_str number = sl_str_from(text);
    double percent = 0;
    if (sl_str_ends_with(number, SL_STR("%"))) {
        number.len--;
        if (sl_str_to_f64(number, &percent) && percent > 0 && percent <= 100) {
            out->sample_fraction = percent / 100;
            return SILT_OK;
        }
    } else if (sl_str_to_i64(number, &out->sample_files) && out->sample_files > 0) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(err, SILT_EINVALID, "SILT_USAGE",
                                       "--sample takes a number of files or a percentage, not %s", text);
    sl_error_hint(err, "write it as --sample 100 or --sample 5%%");
    return status;
}

static silt_status read_options(const struct sl_cli *cli, silt_fsck_options *out, silt_error *err)
{
    *out = (silt_fsck_options){.size = sizeof(*out), .no_data = cli->args.no_data};
    if (cli->args.format == SL_FORMAT_PARQUET) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "-o parquet is for sql, read and changes");
    }
    if (cli->args.seed >= 0) {
        out->seed = (uint64_t)cli->args.seed;
    }
    return cli->args.sample != NULL ? read_sample(cli->args.sample, out, err) : SILT_OK;
}

/* ---- findings ---- */

static bool keep_text(struct check *c, const char **text)
{
    if (*text != NULL) {
        *text = sl_arena_strdup(&c->cli->arena, sl_str_from(*text));
        c->no_memory = c->no_memory || *text == NULL;
    }
    return !c->no_memory;
}

static bool keep(void *ctx, const silt_fsck_finding *finding)
{
    struct check *c = ctx;
    silt_fsck_finding *kept = sl_vec_push(&c->findings);
    if (kept == NULL) {
        c->no_memory = true;
        return false;
    }
    *kept = *finding;
    return keep_text(c, &kept->check) && keep_text(c, &kept->file) && keep_text(c, &kept->column) &&
           keep_text(c, &kept->message) && keep_text(c, &kept->expected) && keep_text(c, &kept->found);
}

static silt_status put_row(struct sl_row_stream *rows, const silt_fsck_finding *f, silt_error *err)
{
    SL_TRY(sl_row_stream_text(rows, sl_str_from(f->severity == SILT_FSCK_FAULT ? "fault" : "note"), err));
    SL_TRY(sl_row_stream_text(rows, sl_str_from(f->check), err));
    SL_TRY(f->version >= 0 ? sl_row_stream_int(rows, f->version, err)
                           : sl_row_stream_text(rows, (struct sl_str){NULL, 0}, err));
    SL_TRY(sl_row_stream_text(rows, sl_str_from(f->file), err));
    SL_TRY(sl_row_stream_text(rows, sl_str_from(f->column), err));
    SL_TRY(sl_row_stream_text(rows, sl_str_from(f->message), err));
    SL_TRY(sl_row_stream_text(rows, sl_str_from(f->expected), err));
    return sl_row_stream_text(rows, sl_str_from(f->found), err);
}

static silt_status show_rows(struct check *c, enum sl_format format, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {{"severity", "u"}, {"check", "u"},  {"version", "l"},
                                                          {"file", "u"},     {"column", "u"}, {"message", "u"},
                                                          {"expected", "u"}, {"found", "u"}};
    struct sl_row_stream rows = {0};
    struct ArrowArrayStream stream = {0};
    silt_status status = sl_row_stream_open(&rows, c->cli->env, columns, sizeof(columns) / sizeof(columns[0]), err);
    for (size_t i = 0; i < c->findings.len && status == SILT_OK; i++) {
        status = put_row(&rows, sl_vec_at(&c->findings, i), err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_take(&rows, &stream, err);
    }
    if (status == SILT_OK) {
        status = sl_print_stream(c->cli, format, &stream, NULL, err);
    }
    sl_row_stream_close(&rows);
    return status;
}

static silt_status show(struct check *c, const char *table, silt_error *err)
{
    const enum sl_format format = sl_cli_format(c->cli);
    if (format != SL_FORMAT_TABLE) {
        return show_rows(c, format, err);
    }
    sl_fsck_report_put(&c->cli->out.buf, table, &c->report, &c->findings);
    sl_out_step(&c->cli->out);
    return SILT_OK;
}

/* ---- the command ---- */

static silt_status run_check(struct check *c, struct sl_table_arg *arg, silt_error *err)
{
    struct sl_cli *cli = c->cli;
    silt_fsck_options options;
    silt_table *table = NULL;
    SL_TRY(read_options(cli, &options, err));
    SL_TRY(sl_table_arg_read(cli, arg, err));
    SL_TRY(sl_table_arg_no_travel(arg, err));
    SL_TRY(sl_table_arg_table(cli, arg, &table, err));
    sl_progress_begin(&cli->progress);
    silt_status status = silt_table_fsck(table, &cli->call, &options, keep, c, &c->report, err);
    sl_progress_end(&cli->progress);
    silt_table_unref(table);
    if (c->no_memory) {
        status = sl_fail_nomem(err);
    }
    if (status == SILT_ENOTTABLE) {
        sl_table_arg_hint(cli, arg, err);
    }
    return status;
}

int sl_cmd_fsck(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    silt_error shown = SILT_ERROR_INIT;
    struct sl_table_arg arg = {0};
    struct check c = {.cli = cli, .report = {.size = sizeof(c.report), .version = -1}};
    int code = SL_EXIT_DONE;
    sl_vec_init(&c.findings, cli->env, sizeof(silt_fsck_finding));
    const silt_status status = run_check(&c, &arg, &err);
    if (status == SILT_OK || c.findings.len > 0) {
        cli->args.keep_going = true; /* a file with what was found is kept whatever the exit code */
        if (show(&c, arg.typed, &shown) != SILT_OK) {
            code = sl_report_error(cli, &shown, (struct sl_str){0});
        }
    }
    if (status != SILT_OK) {
        code = sl_report_error(cli, &err, (struct sl_str){0});
    } else if (code == SL_EXIT_DONE && !c.report.readable) {
        code = SL_EXIT_UNREADABLE;
    } else if (code == SL_EXIT_DONE && c.report.faults > 0) {
        code = SL_EXIT_FAILED;
    }
    sl_vec_release(&c.findings);
    return code;
}
