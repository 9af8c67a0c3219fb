/*
 * The calendar of writers before Spark 3: Julian until 1582-10-04, then Gregorian. Such files hold, for an old date, the number of days
 * to the day of the same name in the Julian calendar; rebasing keeps the name and counts in the proleptic Gregorian calendar.
 * Pure functions, any thread.
 */
#ifndef SL_BASE_JULIAN_H
#define SL_BASE_JULIAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Days since 1970-01-01 of the day with the same name; 29 February of a year that lacks it becomes 1 March. */
int64_t sl_julian_days(int64_t days);

/* Microseconds of a wall clock. Any int64 is fine. */
int64_t sl_julian_wall_us(int64_t us);

/*
 * A zone by its name in the IANA database, "UTC", or a fixed offset ("+03:00", "GMT+3", "UTC-08:30", "Z"). False if it is not
 * known. *zone is for sl_julian_us only.
 */
bool sl_julian_zone(struct sl_str name, int64_t *zone);

/*
 * An instant, microseconds since the epoch in UTC, of a writer in `zone` (0: UTC). The writer's wall clock is kept; before 1900 it took the
 * zone's standard offset for the local mean time that the zone had. False when the result does not fit.
 */
bool sl_julian_us(int64_t us, int64_t zone, int64_t *out);

#endif
