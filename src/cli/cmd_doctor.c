/*
 * silt doctor: why a location can or cannot be reached, step by step, as a report or as rows.
 */
#include "cli/commands.h"

#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "cli/table_arg.h"
#include "silt/doctor.h"

struct visit {
    struct sl_cli *cli;
    struct sl_vec steps; /* silt_doctor_step, texts in the program's arena */
    bool no_memory;
};

static const char *verdict_text(silt_doctor_verdict verdict)
{
    static const char *const texts[] = {[SILT_DOCTOR_OK] = "ok",
                                        [SILT_DOCTOR_NOTE] = "note",
                                        [SILT_DOCTOR_SKIPPED] = "skipped",
                                        [SILT_DOCTOR_FAILED] = "FAILED"};
    return texts[verdict];
}

static const char *keep_text(struct visit *visit, const char *text)
{
    const char *copy = sl_arena_strdup(&visit->cli->arena, sl_str_from(text));
    visit->no_memory = visit->no_memory || copy == NULL;
    return copy != NULL ? copy : "";
}

static void keep(void *ctx, const silt_doctor_step *step)
{
    struct visit *visit = ctx;
    silt_doctor_step *kept = sl_vec_push(&visit->steps);
    if (kept == NULL) {
        visit->no_memory = true;
        return;
    }
    *kept = *step;
    kept->step = keep_text(visit, step->step);
    kept->subject = keep_text(visit, step->subject);
    kept->text = keep_text(visit, step->text);
    kept->hint = keep_text(visit, step->hint);
}

/* ---- the report ---- */

/* Text of servers and options in one line, without what could talk to the terminal. */
static void put_line(struct sl_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        sl_buf_put_char(out, byte < 0x20 || byte == 0x7F ? ' ' : *c);
    }
}

static void put_step(struct sl_buf *out, const silt_doctor_step *step)
{
    sl_buf_printf(out, "  %-11s %-8s", step->step, verdict_text(step->verdict));
    if (step->subject[0] != '\0') {
        put_line(out, step->subject);
        sl_buf_put_c(out, ": ");
    }
    put_line(out, step->text);
    sl_buf_put_char(out, '\n');
    if (step->hint[0] != '\0') {
        sl_buf_printf(out, "  %-11s %-8s", "", "hint");
        put_line(out, step->hint);
        sl_buf_put_char(out, '\n');
    }
}

static void put_report(struct visit *visit)
{
    struct sl_buf *out = &visit->cli->out.buf;
    for (size_t i = 0; i < visit->steps.len; i++) {
        put_step(out, sl_vec_at(&visit->steps, i));
    }
    sl_out_step(&visit->cli->out);
}

/* ---- rows ---- */

static silt_status put_row(struct sl_row_stream *rows, const silt_doctor_step *step, silt_error *err)
{
    SL_TRY(sl_row_stream_text(rows, sl_str_from(step->step), err));
    SL_TRY(sl_row_stream_text(
        rows, sl_str_from(step->verdict == SILT_DOCTOR_FAILED ? "failed" : verdict_text(step->verdict)), err));
    SL_TRY(sl_row_stream_text(rows, sl_str_from(step->subject), err));
    SL_TRY(sl_row_stream_text(rows, sl_str_from(step->text), err));
    return sl_row_stream_text(rows, step->hint[0] != '\0' ? sl_str_from(step->hint) : (struct sl_str){0}, err);
}

static silt_status show(struct visit *visit, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {
        {"step", "u"}, {"result", "u"}, {"subject", "u"}, {"text", "u"}, {"hint", "u"}};
    const enum sl_format format = sl_cli_format(visit->cli);
    struct sl_row_stream rows = {0};
    struct ArrowArrayStream stream = {0};
    if (format == SL_FORMAT_TABLE) {
        put_report(visit);
        return SILT_OK;
    }
    silt_status status = sl_row_stream_open(&rows, visit->cli->env, columns, sizeof(columns) / sizeof(columns[0]), err);
    for (size_t i = 0; i < visit->steps.len && status == SILT_OK; i++) {
        status = put_row(&rows, sl_vec_at(&visit->steps, i), err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_take(&rows, &stream, err);
    }
    if (status == SILT_OK) {
        status = sl_print_stream(visit->cli, format, &stream, NULL, err);
    }
    sl_row_stream_close(&rows);
    return status;
}

/* ---- the command ---- */

/* The location that a command would open: a name is looked for in the warehouse. */
static silt_status find_location(struct sl_cli *cli, const char **out, silt_error *err)
{
    struct sl_table_arg arg = {0};
    silt_table *table = NULL;
    SL_TRY(sl_table_arg_read(cli, &arg, err));
    SL_TRY(sl_table_arg_no_travel(&arg, err));
    SL_TRY(sl_table_arg_table(cli, &arg, &table, err));
    *out = sl_arena_strdup(&cli->arena, sl_str_from(silt_table_uri(table)));
    silt_table_unref(table);
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status run_visit(struct visit *visit, silt_error *err)
{
    struct sl_cli *cli = visit->cli;
    silt_store_option *store_options = NULL;
    const char *location = NULL;
    SL_TRY(find_location(cli, &location, err));
    SL_TRY(sl_cli_store_options(cli, &store_options, err));
    const silt_doctor_options options = {.size = sizeof(options),
                                         .store_options = store_options,
                                         .n_store_options = cli->args.n_store_options,
                                         .write = cli->args.write};
    const silt_status status = silt_doctor(cli->env, &cli->call, location, &options, keep, visit, err);
    return visit->no_memory ? sl_fail_nomem(err) : status;
}

int sl_cmd_doctor(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    silt_error shown = SILT_ERROR_INIT;
    struct visit visit = {.cli = cli};
    int code = SL_EXIT_DONE;
    sl_vec_init(&visit.steps, cli->env, sizeof(silt_doctor_step));
    const silt_status status = run_visit(&visit, &err);
    if (visit.steps.len > 0) {
        cli->args.keep_going = true; /* a file with what was found is kept whatever the exit code */
        if (show(&visit, &shown) != SILT_OK) {
            code = sl_report_error(cli, &shown, (struct sl_str){0});
        }
    }
    if (status != SILT_OK) {
        code = sl_report_error(cli, &err, (struct sl_str){0});
    }
    sl_vec_release(&visit.steps);
    return code;
}
