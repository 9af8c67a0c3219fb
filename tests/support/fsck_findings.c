/* Findings as text; see fsck_findings.h. */
#include "fsck_findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

static const char *or_dash(const char *text)
{
    return text != NULL ? text : "-";
}

/* "part-00000-<uuid>.parquet" as "part-". */
static void put_file(struct sl_buf *out, const char *file)
{
    const char *part = file != NULL ? strstr(file, "part-") : NULL;
    if (part != NULL && strlen(part) > 36) {
        sl_buf_put(out, file, (size_t)(part - file) + 5);
    } else {
        sl_buf_put_c(out, or_dash(file));
    }
}

static bool take(void *ctx, const silt_fsck_finding *finding)
{
    struct fsck_findings *f = ctx;
    sl_buf_printf(&f->lines, "%s %s %" PRId64 " %s ", finding->severity == SILT_FSCK_FAULT ? "fault" : "note",
                  finding->check, finding->version, or_dash(finding->column));
    put_file(&f->lines, finding->file);
    sl_buf_printf(&f->lines, ": %s for %s\n", or_dash(finding->found), or_dash(finding->expected));
    sl_buf_printf(&f->messages, "%s\n", finding->message);
    return true;
}

void fsck_run(struct fsck_findings *f, silt_table *table, const silt_fsck_options *options)
{
    if (f->lines.env == NULL) {
        sl_buf_init(&f->lines, silt_env_default());
        sl_buf_init(&f->messages, silt_env_default());
    }
    sl_buf_clear(&f->lines);
    sl_buf_clear(&f->messages);
    f->err = (silt_error)SILT_ERROR_INIT;
    f->report = (silt_fsck_report){.size = sizeof(f->report)};
    f->status = silt_table_fsck(table, f->call, options, take, f, &f->report, &f->err);
}

void fsck_release(struct fsck_findings *f)
{
    sl_buf_release(&f->lines);
    sl_buf_release(&f->messages);
}

void fsck_expect(struct fsck_findings *f, const char *lines)
{
    if (f->status != SILT_OK) {
        fail_msg("the check failed: %s", f->err.message);
    }
    if (strcmp(sl_buf_cstr(&f->lines), lines) != 0) {
        fail_msg("expected\n%sfound\n%s%s", lines, sl_buf_cstr(&f->lines), sl_buf_cstr(&f->messages));
    }
}

void fsck_expect_message(struct fsck_findings *f, const char *part)
{
    if (strstr(sl_buf_cstr(&f->messages), part) == NULL) {
        fail_msg("%s is not in\n%s", part, sl_buf_cstr(&f->messages));
    }
}
