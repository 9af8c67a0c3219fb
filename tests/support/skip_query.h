/*
 * Random predicates over the tables of skip_table.h, as Spark SQL: every kind that skipping knows, below AND, OR and NOT. Literals are of
 * the column's type mostly, of another now and then. None of them fails on a row of such a table.
 */
#ifndef SILT_SKIP_QUERY_H
#define SILT_SKIP_QUERY_H

#include "skip_table.h"

void skip_predicate(struct skip_random *random, unsigned depth, struct sl_buf *out);

#endif
