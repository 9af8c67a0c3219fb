/*
 * The NOT NULL check over Arrow data. Pure, any thread.
 */
#ifndef SL_KERNEL_TXN_NULL_CHECK_H
#define SL_KERNEL_TXN_NULL_CHECK_H

#include "schema/type.h"
#include "silt/arrow.h"

/*
 * Checks one column: array, described by arrow, holds values of field (which must have been found to fit). Nested fields, list
 * elements and map values count as well; a null of a nullable parent excuses what is below it. SILT_ECONSTRAINT names
 * the column's path.
 */
silt_status sl_null_check(const struct silt_field *field, const struct ArrowSchema *arrow,
                          const struct ArrowArray *array, silt_error *err);
/* Is there anything to check below this field, itself included? */
bool sl_null_check_needed(const struct silt_field *field);

#endif
