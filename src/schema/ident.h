/*
 * SQL identifiers as Spark writes them. Pure; any thread.
 */
#ifndef SL_SCHEMA_IDENT_H
#define SL_SCHEMA_IDENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* True for a word that the expression grammar gives a meaning to, so that a column of that name needs backticks. */
bool sl_ident_is_reserved(struct sl_str word);
/* The name, in backticks (doubled inside) unless it is a plain word that is not reserved. */
void sl_ident_print(struct sl_buf *out, struct sl_str name);

#endif
