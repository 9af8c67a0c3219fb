/*
 * Lists of column names as table properties hold them: "a, s.f, `odd.name`". Called by the check of properties and by whoever
 * applies one. Pure; any thread.
 */
#ifndef SL_KERNEL_FEATURE_COLUMN_LIST_H
#define SL_KERNEL_FEATURE_COLUMN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "schema/type.h"

#define SL_COLUMN_LIST_MAX_PARTS SL_SCHEMA_MAX_DEPTH
#define SL_COLUMN_LIST_PART_SIZE 1024

/* A reader: zero it but for the text. The parts of the current name stay valid until the next one is read. */
struct sl_column_list {
    struct sl_str text;
    size_t pos;
    struct sl_str parts[SL_COLUMN_LIST_MAX_PARTS];
    size_t n_parts;
    char unquoted[SL_COLUMN_LIST_PART_SIZE]; /* room for parts in back-quotes */
    size_t n_unquoted;
};

/* Reads one name and the comma after it. *more is false after the last. False if the text is no list of names. */
bool sl_column_list_next(struct sl_column_list *list, bool *more);
bool sl_column_list_valid(struct sl_str text);

#endif
