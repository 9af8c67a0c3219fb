/*
 * Composing SQL from what stands on the command line.
 */
#ifndef SL_CLI_SQL_TEXT_H
#define SL_CLI_SQL_TEXT_H

#include "base/buf.h"
#include "base/str.h"
#include "silt/status.h"

void sl_sql_put_name(struct sl_buf *out, struct sl_str name);   /* `name` */
void sl_sql_put_string(struct sl_buf *out, struct sl_str text); /* 'text' */
/* "a,b" as `a`, `b`; "_metadata.a" as _metadata.`a`; blanks around the names go. SILT_EINVALID for an empty name. */
silt_status sl_sql_put_names(struct sl_buf *out, const char *option, const char *list, silt_error *err);
/*
 * The only statement of a text, without its semicolon, as a view into it. SILT_EINVALID if there are several or none.
 */
silt_status sl_sql_single(struct sl_str text, struct sl_str *out, silt_error *err);

#endif
