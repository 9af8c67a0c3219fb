/*
 * Telling the user that something failed: one line, then at most one line of advice, both on standard error; and the exit code
 * that goes with it.
 */
#ifndef SL_CLI_REPORT_ERROR_H
#define SL_CLI_REPORT_ERROR_H

#include "base/str.h"
#include "cli/cli.h"
#include "silt/status.h"

/*
 * "error: [CODE] message", with "(line L, column C)" when the error has a position in `text` (absent: none), and "hint: …".
 * Returns the exit code.
 */
int sl_report_error(struct sl_cli *cli, const silt_error *err, struct sl_str text);
int sl_exit_code(const silt_error *err);
/* One line of news for a person, on standard error. */
void sl_report_note(struct sl_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
