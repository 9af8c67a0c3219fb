/*
 * Rebasing of dates and timestamps from the hybrid calendar (Julian, then Gregorian) to the proleptic Gregorian one, as Spark's reader
 * does it for files of its older versions. Called by the data plane's functions. Pure; the table of zones is julian_zones.def.
 */
#include "base/julian.h"

#include "base/time.h"

#define FIRST_GREGORIAN_DAY INT64_C(-141427) /* 1582-10-15 */
#define JULIAN_DAY_OF_EPOCH INT64_C(2440588)
#define DAYS_IN_FOUR_YEARS 1461
#define US_PER_SECOND INT64_C(1000000)
#define MAX_OFFSET_SECONDS (18 * 3600)
/* Zones of the table are numbered from 1; fixed offsets lie far away. */
#define FIXED_OFFSETS INT64_C(1000000)

struct change {
    int64_t at;    /* seconds since the epoch; 0: no more changes */
    int32_t shift; /* from then on */
};

struct zone {
    int32_t offset;
    int32_t shift;
    struct change changes[3];
    const char *names; /* with spaces between them */
};

static const struct zone ZONES[] = {
#define SL_JULIAN_ZONE(offset, early, at1, then1, at2, then2, at3, then3, names) \
    {offset, early, {{at1, then1}, {at2, then2}, {at3, then3}}, names},
#include "base/julian_zones.def"
#undef SL_JULIAN_ZONE
};
#define N_ZONES ((int64_t)(sizeof(ZONES) / sizeof(ZONES[0])))

/* Years from March, in groups of four, from 4801 before year 0 on; all divisions round down, so that any day will do. */
int64_t sl_julian_days(int64_t days)
{
    if (days >= FIRST_GREGORIAN_DAY) {
        return days;
    }
    const int64_t shifted = days + JULIAN_DAY_OF_EPOCH + 32082;
    const int64_t march_year = sl_floor_div(4 * shifted + 3, DAYS_IN_FOUR_YEARS);
    const int64_t day_of_year = shifted - sl_floor_div(DAYS_IN_FOUR_YEARS * march_year, 4);
    const int64_t march_month = (5 * day_of_year + 2) / 153;
    const int64_t day = day_of_year - (153 * march_month + 2) / 5;
    const int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
    const int64_t year = march_year - 4800 + march_month / 10;
    return sl_days_from_civil(year, (int)month, 1) + day;
}

int64_t sl_julian_wall_us(int64_t us)
{
    const int64_t days = sl_floor_div(us, SL_US_PER_DAY);
    /* Years more than 290,000 before our era may wrap: the sum is made without signs. */
    const uint64_t moved = (uint64_t)(sl_julian_days(days) - days) * (uint64_t)SL_US_PER_DAY;
    return (int64_t)((uint64_t)us + moved);
}

/* "+3", "-08", "+0530", "+05:30", "+05:30:15" as seconds. */
static bool parse_offset(struct sl_str text, int64_t *seconds)
{
    int64_t parts[3] = {0, 0, 0};
    size_t part = 0;
    size_t digits = 0;
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] == ':' && digits > 0) {
            part++;
            digits = 0;
        } else if (sl_is_digit(text.ptr[i]) && part < 3 && digits < 2) {
            parts[part] = parts[part] * 10 + (text.ptr[i] - '0');
            digits++;
        } else if (sl_is_digit(text.ptr[i]) && part < 2 && digits == 2) {
            parts[++part] = text.ptr[i] - '0';
            digits = 1;
        } else {
            return false;
        }
    }
    if (digits == 0 || part > 2 || (text.ptr[0] != '+' && text.ptr[0] != '-') || parts[1] > 59 || parts[2] > 59) {
        return false;
    }
    const int64_t total = parts[0] * 3600 + parts[1] * 60 + parts[2];
    *seconds = text.ptr[0] == '-' ? -total : total;
    return total <= MAX_OFFSET_SECONDS;
}

static bool is_among(struct sl_str name, const char *names)
{
    struct sl_str rest = sl_str_from(names);
    while (rest.len > 0) {
        const size_t space = sl_str_find(rest, SL_STR(" "));
        const size_t end = space != SIZE_MAX ? space : rest.len;
        if (sl_str_eq(name, sl_str_sub(rest, 0, end))) {
            return true;
        }
        rest = sl_str_sub(rest, space != SIZE_MAX ? end + 1 : end, rest.len);
    }
    return false;
}

bool sl_julian_zone(struct sl_str name, int64_t *zone)
{
    static const char *const prefixes[] = {"UTC", "GMT", "UT", ""};
    *zone = 0;
    for (int64_t i = 0; i < N_ZONES && name.len > 0; i++) {
        if (is_among(name, ZONES[i].names)) {
            *zone = i + 1;
            return true;
        }
    }
    if (sl_str_eq_c(name, "Z") || sl_str_eq_c(name, "GMT") || sl_str_eq_c(name, "UT")) {
        return true;
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const struct sl_str prefix = sl_str_from(prefixes[i]);
        int64_t seconds = 0;
        if (name.len > prefix.len && sl_str_starts_with(name, prefix) &&
            parse_offset(sl_str_sub(name, prefix.len, name.len), &seconds)) {
            *zone = FIXED_OFFSETS + seconds;
            return true;
        }
    }
    return false;
}

/* What is between the writer's idea of the zone before 1900 and the zone's own clock. */
static int64_t shift_of(const struct zone *zone, int64_t seconds)
{
    int64_t shift = zone->shift;
    for (size_t i = 0; i < 3 && zone->changes[i].at != 0 && seconds >= zone->changes[i].at; i++) {
        shift = zone->changes[i].shift;
    }
    return shift;
}

bool sl_julian_us(int64_t us, int64_t zone, int64_t *out)
{
    *out = us;
    const bool fixed = zone >= FIXED_OFFSETS - MAX_OFFSET_SECONDS;
    if (zone < 0 || (!fixed && zone > N_ZONES) || us < INT64_MIN / 2) {
        return false;
    }
    int64_t offset = 0;
    int64_t shift = 0;
    if (fixed) {
        offset = zone - FIXED_OFFSETS;
    } else if (zone > 0) {
        offset = ZONES[zone - 1].offset;
        shift = shift_of(&ZONES[zone - 1], sl_floor_div(us, US_PER_SECOND));
    }
    if (us > 0) {
        return true;
    }
    const int64_t wall = us + offset * US_PER_SECOND;
    *out = sl_julian_wall_us(wall) - offset * US_PER_SECOND + shift * US_PER_SECOND;
    return true;
}
