/*
 * The report of silt fsck; see fsck_report.h.
 */
#include "cli/fsck_report.h"

#include <inttypes.h>
#include <string.h>

/* 1234567 → "1,234,567". */
static void put_number(struct sl_buf *out, int64_t value)
{
    struct sl_buf digits;
    sl_buf_init(&digits, out->env);
    sl_buf_put_i64(&digits, value);
    const struct sl_str text = sl_buf_view(&digits);
    for (size_t i = 0; i < text.len; i++) {
        sl_buf_put_c(out, i > 0 && (text.len - i) % 3 == 0 ? "," : "");
        sl_buf_put_char(out, text.ptr[i]);
    }
    sl_buf_release(&digits);
}

/* "3 commits", "1 commit"; nothing for 0. */
static void put_count(struct sl_buf *out, const char **separator, int64_t n, const char *one, const char *many)
{
    if (n == 0) {
        return;
    }
    sl_buf_put_c(out, *separator);
    put_number(out, n);
    sl_buf_put_char(out, ' ');
    sl_buf_put_c(out, n == 1 ? one : many);
    *separator = ", ";
}

static void put_checked(struct sl_buf *out, const silt_fsck_report *r)
{
    const char *separator = "log:   ";
    put_count(out, &separator, r->commits, "commit", "commits");
    put_count(out, &separator, r->checkpoints, "checkpoint", "checkpoints");
    put_count(out, &separator, r->compacted, "compacted file", "compacted files");
    put_count(out, &separator, r->checksums, "version checksum", "version checksums");
    sl_buf_put_c(out, strcmp(separator, ", ") == 0 ? "\n" : "");
    separator = "files: ";
    put_count(out, &separator, r->files, "live file", "live files");
    put_count(out, &separator, r->files_read, "read", "read");
    put_count(out, &separator, r->rows_read, "row", "rows");
    put_count(out, &separator, r->statistics, "statistic compared", "statistics compared");
    put_count(out, &separator, r->vectors, "deletion vector", "deletion vectors");
    put_count(out, &separator, r->row_ids, "range of row ids", "ranges of row ids");
    put_count(out, &separator, r->change_files, "change file", "change files");
    sl_buf_put_c(out, strcmp(separator, ", ") == 0 ? "\n" : "");
    if (r->seed != 0) {
        sl_buf_printf(out, "       a sample: --seed %" PRIu64 " chooses the same files again\n", r->seed);
    }
}

/* Text of files and logs in one line, without what could talk to the terminal. */
static void put_line(struct sl_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        sl_buf_put_char(out, byte < 0x20 || byte == 0x7F ? ' ' : *c);
    }
}

static void put_finding(struct sl_buf *out, const silt_fsck_finding *f)
{
    sl_buf_put_c(out, "  ");
    if (f->file != NULL) {
        put_line(out, f->file);
        sl_buf_put_c(out, ": ");
    }
    put_line(out, f->message);
    if (f->version >= 0 && f->file == NULL) {
        sl_buf_printf(out, " (version %" PRId64 ")", f->version);
    }
    sl_buf_put_char(out, '\n');
}

/* All findings of one severity, those of a check together, checks in the order in which they first came. */
static void put_findings(struct sl_buf *out, const struct sl_vec *findings, silt_fsck_severity severity)
{
    for (size_t i = 0; i < findings->len; i++) {
        const silt_fsck_finding *first = sl_vec_at(findings, i);
        bool is_first = first->severity == severity;
        for (size_t k = 0; k < i && is_first; k++) {
            const silt_fsck_finding *other = sl_vec_at(findings, k);
            is_first = other->severity != severity || strcmp(other->check, first->check) != 0;
        }
        if (!is_first) {
            continue;
        }
        sl_buf_printf(out, "\n%s: %s\n", severity == SILT_FSCK_FAULT ? "FAULT" : "note", first->check);
        for (size_t k = i; k < findings->len; k++) {
            const silt_fsck_finding *f = sl_vec_at(findings, k);
            if (f->severity == severity && strcmp(f->check, first->check) == 0) {
                put_finding(out, f);
            }
        }
    }
}

/* A file that this silt cannot read is no fault, but nothing is known of it. */
static bool is_unread(const struct sl_vec *findings)
{
    for (size_t i = 0; i < findings->len; i++) {
        const silt_fsck_finding *f = sl_vec_at(findings, i);
        if (f->severity == SILT_FSCK_NOTE && strcmp(f->check, "data") == 0) {
            return true;
        }
    }
    return false;
}

static const char *sound_verdict(const silt_fsck_report *r, const struct sl_vec *findings)
{
    if (!r->readable) {
        return "The table cannot be read by this silt; no fault was found";
    }
    return is_unread(findings) ? "No fault was found, but some files cannot be read by this silt"
                               : "The table is sound";
}

static void put_verdict(struct sl_buf *out, const silt_fsck_report *r, const struct sl_vec *findings)
{
    const char *separator = "";
    sl_buf_put_char(out, '\n');
    if (r->untold > 0) {
        put_number(out, r->untold);
        sl_buf_put_c(out, " more findings are not shown\n");
    }
    if (r->faults == 0) {
        sl_buf_put_c(out, sound_verdict(r, findings));
        separator = ": ";
        put_count(out, &separator, r->notes, "note", "notes");
    } else {
        sl_buf_put_c(out, r->readable ? "The table has faults: " : "The table cannot be read: ");
        put_count(out, &separator, r->faults, "fault", "faults");
        put_count(out, &separator, r->notes, "note", "notes");
    }
    sl_buf_put_c(out, ".\n");
}

void sl_fsck_report_put(struct sl_buf *out, const char *table, const silt_fsck_report *report,
                        const struct sl_vec *findings)
{
    put_line(out, table);
    if (report->version >= 0) {
        sl_buf_printf(out, ", version %" PRId64, report->version);
    }
    sl_buf_put_char(out, '\n');
    put_checked(out, report);
    put_findings(out, findings, SILT_FSCK_FAULT);
    put_findings(out, findings, SILT_FSCK_NOTE);
    put_verdict(out, report, findings);
}
