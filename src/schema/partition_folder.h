/*
 * Names of the folders that files of a partition lie in: "column=value/", as Delta Spark and Hive make them. They mean nothing: values come
 * from the log alone. Any thread.
 */
#ifndef SL_SCHEMA_PARTITION_FOLDER_H
#define SL_SCHEMA_PARTITION_FOLDER_H

#include "base/buf.h"

/* Adds a folder's name and a slash. text: the value as the log spells it; NULL ptr: null. */
void sl_partition_folder_put(struct sl_buf *out, struct sl_str column, struct sl_str text);

#endif
