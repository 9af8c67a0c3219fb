/* What old and odd writers stored, read through a table: dates, timestamps, text, numbers. */
#include <stdio.h>

#include "hand_table.h"
#include "parquet_fixture.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define DAY INT64_C(86400000000)

/* One file with one column "c"; the table has it as `type`. A file of a table never changes, so each is another one. */
static void make_table(struct session_fixture *s, const char *type, struct pq_column column, const char *const *keys)
{
    static unsigned n_files = 0;
    const char *name = sl_arena_printf(&s->arena, "f%u.parquet", n_files++);
    const char *path = sl_arena_printf(&s->arena, "%s/t/%s", s->dir, name);
    const char *fields = sl_arena_printf(&s->arena, HAND_FIELD("c", "%s"), type);
    column.name = "c";
    column.repetition = PQ_OPTIONAL;
    hand_remove(s, "t");
    hand_commit(s, "t", 0,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timestampNtz\"],"
                "\"writerFeatures\":[\"timestampNtz\"]}}",
                hand_metadata(s, fields, "", ""), hand_add(s, name, "{}", NULL), NULL);
    pq_write(path, &column, 1, (int64_t)(column.levels != NULL ? column.n_levels : column.n_values), keys);
}

static struct pq_column int64s(const int64_t *values, size_t n, enum pq_converted converted, enum pq_logical logical)
{
    return (struct pq_column){
        .type = PQ_INT64, .converted = converted, .logical = logical, .values = values, .n_values = n};
}

static struct pq_column int32s(const int32_t *values, size_t n, enum pq_converted converted)
{
    return (struct pq_column){.type = PQ_INT32, .converted = converted, .values = values, .n_values = n};
}

#define JULIAN_3(zone)                                                                                              \
    (const char *const[])                                                                                           \
    {                                                                                                               \
        "org.apache.spark.version", "3.2.1", "org.apache.spark.legacyDateTime", "", "org.apache.spark.legacyINT96", \
            "", "org.apache.spark.timeZone", zone, NULL                                                             \
    }

/* ---- the calendar ---- */

static void dates_of_the_legacy_calendar_keep_their_names(void **state)
{
    struct session_fixture *s = *state;
    const int32_t days[] = {-719164, -141428, -141427, 0, -171595 - 1};
    make_table(s, "date", int32s(days, N_OF(days), PQ_DATE), JULIAN_3("UTC"));
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01\n1582-10-04\n1582-10-15\n1970-01-01\n1500-03-01\n");
    session_expect_rows(s, "SELECT c FROM t WHERE c < DATE '1000-01-01'", "0001-01-01\n");
}

static void dates_of_other_writers_are_taken_as_they_are(void **state)
{
    struct session_fixture *s = *state;
    const int32_t days[] = {-719164};
    const char *const keys[][9] = {{NULL},
                                   {"org.apache.spark.legacyDateTime", "", NULL},
                                   {"org.apache.spark.version", "3.0.0", NULL},
                                   {"org.apache.spark.version", "4.2.0", NULL}};
    for (size_t i = 0; i < N_OF(keys); i++) {
        make_table(s, "date", int32s(days, 1, PQ_DATE), keys[i]);
        session_expect_rows(s, "SELECT c FROM t", "0000-12-30\n");
    }
}

static void spark_2_wrote_in_the_legacy_calendar(void **state)
{
    struct session_fixture *s = *state;
    const int32_t days[] = {-719164};
    const int64_t us[] = {-719164 * DAY + 5};
    const char *const keys[] = {"org.apache.spark.version", "2.4.8", NULL};
    make_table(s, "date", int32s(days, 1, PQ_DATE), keys);
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01\n");
    make_table(s, "timestamp", int64s(us, 1, PQ_TIMESTAMP_MICROS, PQ_NO_LOGICAL), keys);
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01 00:00:00.000005\n");
}

static void instants_of_the_legacy_calendar_follow_the_writers_zone(void **state)
{
    struct session_fixture *s = *state;
    const int64_t us[] = {-719164 * DAY + 28800000000, -5000000000000000, -1};
    make_table(s, "timestamp", int64s(us, N_OF(us), PQ_TIMESTAMP_MICROS, PQ_MICROS_UTC), JULIAN_3("UTC"));
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01 08:00:00\n1811-07-23 15:06:40\n1969-12-31 23:59:59.999999\n");
    /* Midnight of the year 1 in Los Angeles, where the clock was 7:52:58 behind. */
    make_table(s, "timestamp", int64s(us, N_OF(us), PQ_TIMESTAMP_MICROS, PQ_MICROS_UTC),
               JULIAN_3("America/Los_Angeles"));
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01 07:52:58\n1811-07-23 14:59:38\n1969-12-31 23:59:59.999999\n");
    make_table(s, "timestamp", int64s(us, N_OF(us), PQ_NO_CONVERTED, PQ_MICROS_LOCAL), JULIAN_3("+08:00"));
    session_expect_rows(s, "SELECT count(*) FROM t WHERE c < TIMESTAMPTZ '0002-01-01 00:00:00+00'", "1\n");
}

static void an_unknown_zone_is_refused_by_name(void **state)
{
    struct session_fixture *s = *state;
    const int64_t us[] = {0};
    make_table(s, "timestamp", int64s(us, 1, PQ_NO_CONVERTED, PQ_MICROS_UTC), JULIAN_3("Mars/Olympus"));
    session_expect_fault(s, "SELECT c FROM t", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", -1);
    assert_non_null(strstr(s->err.message, "Mars/Olympus"));
}

static void wall_clocks_were_never_in_the_legacy_calendar(void **state)
{
    struct session_fixture *s = *state;
    const int64_t us[] = {-719164 * DAY};
    const int32_t days[] = {-719164};
    make_table(s, "timestamp_ntz", int64s(us, 1, PQ_NO_CONVERTED, PQ_MICROS_LOCAL), JULIAN_3("UTC"));
    session_expect_rows(s, "SELECT c FROM t", "0000-12-30 00:00:00\n");
    /* Dates were: they are widened after it. */
    make_table(s, "timestamp_ntz", int32s(days, 1, PQ_DATE), JULIAN_3("UTC"));
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01 00:00:00\n");
}

static void nested_dates_are_rebased(void **state)
{
    struct session_fixture *s = *state;
    const int32_t days[] = {-719164, -719164};
    const struct pq_level key_levels[] = {{0, 2}, {0, 1}, {0, 0}};
    const int32_t keys[] = {7};
    const struct pq_column parts[] = {
        {.name = "key", .type = PQ_INT32, .levels = key_levels, .n_levels = 3, .values = keys, .n_values = 1},
        {.name = "value",
         .type = PQ_INT32,
         .converted = PQ_DATE,
         .levels = key_levels,
         .n_levels = 3,
         .values = days,
         .n_values = 1},
    };
    const struct pq_column entries[] = {
        {.name = "key_value", .type = PQ_GROUP, .repetition = PQ_REPEATED, .children = parts, .n_children = 2}};
    const struct pq_column columns[] = {{.name = "m",
                                         .type = PQ_GROUP,
                                         .repetition = PQ_OPTIONAL,
                                         .converted = PQ_MAP,
                                         .children = entries,
                                         .n_children = 1}};
    hand_create(s, "t",
                "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"integer\",\"valueType\":\"date\","
                "\"valueContainsNull\":true},\"nullable\":true,\"metadata\":{}}",
                "");
    pq_write(sl_arena_printf(&s->arena, "%s/t/f.parquet", s->dir), columns, 1, 3, JULIAN_3("UTC"));
    hand_commit(s, "t", 1, hand_add(s, "f.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT m[7], len(map_keys(m)) FROM t", "0001-01-01|1\nNULL|0\nNULL|NULL\n");
}

/* ---- INT96 ---- */

struct int96 {
    uint32_t words[3];
};

static struct int96 make_int96(int32_t day, int64_t ns)
{
    return (struct int96){{(uint32_t)ns, (uint32_t)((uint64_t)ns >> 32), (uint32_t)day}};
}

static void int96_is_read_over_all_years_and_in_any_zone(void **state)
{
    struct session_fixture *s = *state;
    const struct int96 values[] = {make_int96(2440588, 1234567000), make_int96(1721426, 0),
                                   make_int96(5373484, INT64_C(86399999999999)),
                                   make_int96(2440587, INT64_C(86399999999000))};
    const struct pq_column column = {.type = PQ_INT96, .values = values, .n_values = N_OF(values)};
    const char *const rows = "1970-01-01 00:00:01.234567\n0001-01-01 00:00:00\n9999-12-31 23:59:59.999999\n1969-12-31 "
                             "23:59:59.999999\n";
    make_table(s, "timestamp", column, NULL);
    session_expect_rows(s, "SELECT c FROM t", rows);
    session_expect_done(s, "SET spark.sql.session.timeZone = 'Asia/Kolkata'");
    session_expect_rows(s, "SELECT c FROM t", rows);
    session_expect_rows(s, "SELECT epoch_us(c) FROM t WHERE c > TIMESTAMPTZ '9999-01-01 00:00:00+00'",
                        "253402300799999999\n");
    make_table(s, "timestamp_ntz", column, NULL);
    session_expect_rows(s, "SELECT c FROM t", rows);
}

/* From the first Julian day to the farthest that microseconds reach; through nanoseconds it would end in 1677 and in 2262. */
static void int96_is_exact_from_the_first_julian_day_on(void **state)
{
    struct session_fixture *s = *state;
    const struct int96 values[] = {make_int96(0, 0), make_int96(0, 1000), make_int96(2305447, INT64_C(86399999999000)),
                                   make_int96(2547340, 1000), make_int96(2440588 + 106751991, INT64_C(14454775806000))};
    const struct pq_column column = {.type = PQ_INT96, .values = values, .n_values = N_OF(values)};
    make_table(s, "timestamp", column, NULL);
    session_expect_rows(s, "SELECT epoch_us(c) FROM t",
                        "-210866803200000000\n-210866803199999999\n-11676096000000001\n9223372800000001\n"
                        "9223372036854775806\n");
}

static void int96_of_the_legacy_calendar_is_rebased(void **state)
{
    struct session_fixture *s = *state;
    /* Julian 0001-01-01 is two days before the day of that name. */
    const struct int96 values[] = {make_int96(1721424, 0)};
    const struct pq_column column = {.type = PQ_INT96, .values = values, .n_values = 1};
    const char *const spark_3_0[] = {"org.apache.spark.version", "3.0.3", NULL};
    make_table(s, "timestamp", column, JULIAN_3("UTC"));
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01 00:00:00\n");
    /* Version 3.0 rebased dates but not yet INT96. */
    make_table(s, "timestamp", column, spark_3_0);
    session_expect_rows(s, "SELECT c FROM t", "0001-01-01 00:00:00\n");
    make_table(s, "timestamp", column, NULL);
    session_expect_rows(s, "SELECT c FROM t", "0000-12-30 00:00:00\n");
}

/* ---- units and zones ---- */

static void milliseconds_become_microseconds(void **state)
{
    struct session_fixture *s = *state;
    const int64_t ms[] = {0, -1, INT64_C(253402300799999), -INT64_C(62135596800000)};
    const char *const rows =
        "1970-01-01 00:00:00\n1969-12-31 23:59:59.999\n9999-12-31 23:59:59.999\n0001-01-01 00:00:00\n";
    make_table(s, "timestamp", int64s(ms, N_OF(ms), PQ_TIMESTAMP_MILLIS, PQ_NO_LOGICAL), NULL);
    session_expect_rows(s, "SELECT c FROM t", rows);
    make_table(s, "timestamp", int64s(ms, N_OF(ms), PQ_NO_CONVERTED, PQ_MILLIS_UTC), NULL);
    session_expect_rows(s, "SELECT c FROM t", rows);
    make_table(s, "timestamp_ntz", int64s(ms, N_OF(ms), PQ_NO_CONVERTED, PQ_MILLIS_LOCAL), NULL);
    session_expect_rows(s, "SELECT c FROM t", rows);
}

static void instants_and_wall_clocks_keep_their_number_in_any_zone(void **state)
{
    struct session_fixture *s = *state;
    const int64_t us[] = {INT64_C(1577836800000001)};
    const enum pq_logical forms[] = {PQ_NO_LOGICAL, PQ_MICROS_UTC, PQ_MICROS_LOCAL};
    const char *const types[] = {"timestamp", "timestamp_ntz"};
    session_expect_done(s, "SET spark.sql.session.timeZone = 'America/New_York'");
    for (size_t i = 0; i < N_OF(forms); i++) {
        for (size_t j = 0; j < N_OF(types); j++) {
            const enum pq_converted converted = forms[i] == PQ_NO_LOGICAL ? PQ_TIMESTAMP_MICROS : PQ_NO_CONVERTED;
            make_table(s, types[j], int64s(us, 1, converted, forms[i]), NULL);
            session_expect_rows(s, "SELECT c FROM t", "2020-01-01 00:00:00.000001\n");
        }
    }
}

static void whole_nanoseconds_are_read_and_others_refused(void **state)
{
    struct session_fixture *s = *state;
    const int64_t whole[] = {1000, -1000};
    const int64_t lossy[] = {1001};
    make_table(s, "timestamp", int64s(whole, 2, PQ_NO_CONVERTED, PQ_NANOS_LOCAL), NULL);
    session_expect_rows(s, "SELECT c FROM t", "1970-01-01 00:00:00.000001\n1969-12-31 23:59:59.999999\n");
    make_table(s, "timestamp_ntz", int64s(lossy, 1, PQ_NO_CONVERTED, PQ_NANOS_LOCAL), NULL);
    session_expect_fault(s, "SELECT c FROM t", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", -1);
    assert_non_null(strstr(s->err.message, "nanoseconds"));
    /* DuckDB cuts those of instants before anyone sees them. */
    const char *const types[] = {"timestamp", "timestamp_ntz"};
    for (size_t i = 0; i < N_OF(types); i++) {
        make_table(s, types[i], int64s(whole, 2, PQ_NO_CONVERTED, PQ_NANOS_UTC), NULL);
        session_expect_rows(s, "SELECT c FROM t", "1970-01-01 00:00:00.000001\n1969-12-31 23:59:59.999999\n");
        make_table(s, types[i], int64s(lossy, 1, PQ_NO_CONVERTED, PQ_NANOS_UTC), NULL);
        session_expect_fault(s, "SELECT c FROM t", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", -1);
    }
}

static void days_without_annotation_are_dates(void **state)
{
    struct session_fixture *s = *state;
    const int32_t days[] = {0, -719162};
    make_table(s, "date", int32s(days, 2, PQ_NO_CONVERTED), NULL);
    session_expect_rows(s, "SELECT c FROM t", "1970-01-01\n0001-01-01\n");
    make_table(s, "date", int32s(days, 1, PQ_NO_CONVERTED), JULIAN_3("UTC"));
    session_expect_rows(s, "SELECT c FROM t", "1970-01-01\n");
}

/* ---- text and bytes ---- */

static struct pq_column texts(const struct sl_str *values, size_t n, enum pq_converted converted)
{
    return (struct pq_column){.type = PQ_BYTES, .converted = converted, .texts = values, .n_values = n};
}

static void bytes_without_annotation_are_text(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_str values[] = {SL_STR("ab"), SL_STR("\xC3\xA9"), SL_STR("\\x41"), SL_STR("")};
    make_table(s, "string", texts(values, N_OF(values), PQ_NO_CONVERTED), NULL);
    session_expect_rows(s, "SELECT c FROM t", "ab\n\xC3\xA9\n\\x41\n\n");
    session_expect_rows(s, "SELECT c FROM t WHERE c = 'ab'", "ab\n");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_str values[] = {SL_STR("\xFF\xFE")};
    make_table(s, "string", texts(values, 1, PQ_NO_CONVERTED), NULL);
    assert_int_not_equal(session_try(s, "SELECT c FROM t"), SILT_OK);
    make_table(s, "string", texts(values, 1, PQ_UTF8), NULL);
    assert_int_not_equal(session_try(s, "SELECT c FROM t"), SILT_OK);
}

static void text_is_the_bytes_that_it_is_made_of(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_str values[] = {SL_STR("\\x41"), SL_STR("\xC3\xA9")};
    const uint8_t fixed[] = {1, 2, 3, 0, 0xFF, 9};
    const uint8_t uuid[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xF0};
    make_table(s, "binary", texts(values, 2, PQ_UTF8), NULL);
    session_expect_rows(s, "SELECT hex(c) FROM t", "5C783431\nC3A9\n");
    make_table(s, "binary", (struct pq_column){.type = PQ_FIXED, .length = 3, .values = fixed, .n_values = 2}, NULL);
    session_expect_rows(s, "SELECT hex(c) FROM t", "010203\n00FF09\n");
    make_table(s, "binary",
               (struct pq_column){.type = PQ_FIXED, .length = 16, .logical = PQ_UUID, .values = uuid, .n_values = 1},
               NULL);
    session_expect_rows(s, "SELECT hex(c) FROM t", "000102030405060708090A0B0C0D0EF0\n");
    make_table(s, "string", (struct pq_column){.type = PQ_FIXED, .length = 3, .values = fixed, .n_values = 2}, NULL);
    session_expect_fault(s, "SELECT c FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", -1);
}

/* ---- numbers ---- */

static void unsigned_numbers_are_read_where_they_fit(void **state)
{
    struct session_fixture *s = *state;
    const int32_t small[] = {255, 7};
    const int32_t large[] = {-1, 7};
    const int64_t huge[] = {-1, 7};
    make_table(s, "short", int32s(small, 2, PQ_UINT_8), NULL);
    session_expect_rows(s, "SELECT c FROM t", "255\n7\n");
    make_table(s, "byte", int32s(small, 2, PQ_UINT_8), NULL);
    assert_int_not_equal(session_try(s, "SELECT c FROM t"), SILT_OK);
    make_table(s, "long", int32s(large, 2, PQ_UINT_32), NULL);
    session_expect_rows(s, "SELECT c FROM t", "4294967295\n7\n");
    make_table(s, "integer", int32s(large, 2, PQ_UINT_32), NULL);
    assert_int_not_equal(session_try(s, "SELECT c FROM t"), SILT_OK);
    make_table(s, "decimal(20,0)", int64s(huge, 2, PQ_UINT_64, PQ_NO_LOGICAL), NULL);
    session_expect_rows(s, "SELECT c FROM t", "18446744073709551615\n7\n");
    make_table(s, "long", int64s(huge, 2, PQ_UINT_64, PQ_NO_LOGICAL), NULL);
    assert_int_not_equal(session_try(s, "SELECT c FROM t"), SILT_OK);
}

static void numbers_that_do_not_fit_are_an_error(void **state)
{
    struct session_fixture *s = *state;
    const int32_t values[] = {5, 128};
    make_table(s, "byte", int32s(values, 1, PQ_NO_CONVERTED), NULL);
    session_expect_rows(s, "SELECT c FROM t", "5\n");
    make_table(s, "byte", int32s(values, 2, PQ_NO_CONVERTED), NULL);
    assert_int_not_equal(session_try(s, "SELECT c FROM t"), SILT_OK);
}

static struct pq_column decimals(enum pq_type type, int32_t precision, int32_t scale, const void *values, size_t n)
{
    return (struct pq_column){
        .type = type, .converted = PQ_DECIMAL, .precision = precision, .scale = scale, .values = values, .n_values = n};
}

static void decimals_of_every_physical_type_are_exact(void **state)
{
    struct session_fixture *s = *state;
    const int32_t narrow[] = {-1, 999999999};
    const int64_t wide[] = {-1, INT64_C(999999999999999999)};
    const uint8_t fixed[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    const struct sl_str bytes[] = {SL_STR("\xFF"), SL_STR("\x01\x00")};
    make_table(s, "decimal(9,2)", decimals(PQ_INT32, 9, 2, narrow, 2), NULL);
    session_expect_rows(s, "SELECT c FROM t", "-0.01\n9999999.99\n");
    make_table(s, "decimal(18,2)", decimals(PQ_INT64, 18, 2, wide, 2), NULL);
    session_expect_rows(s, "SELECT c FROM t", "-0.01\n9999999999999999.99\n");
    struct pq_column column = decimals(PQ_FIXED, 20, 2, fixed, 2);
    column.length = 9;
    make_table(s, "decimal(20,2)", column, NULL);
    session_expect_rows(s, "SELECT c FROM t", "-0.01\n2.56\n");
    column = decimals(PQ_BYTES, 38, 2, NULL, 2);
    column.texts = bytes;
    make_table(s, "decimal(38,2)", column, NULL);
    session_expect_rows(s, "SELECT c FROM t", "-0.01\n2.56\n");
    /* More digits are fine, fewer are not, whatever the values. */
    make_table(s, "decimal(12,4)", decimals(PQ_INT32, 9, 2, narrow, 2), NULL);
    session_expect_rows(s, "SELECT c FROM t", "-0.0100\n9999999.9900\n");
    make_table(s, "decimal(8,2)", decimals(PQ_INT32, 9, 2, narrow, 1), NULL);
    session_expect_fault(s, "SELECT c FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", -1);
    make_table(s, "decimal(9,1)", decimals(PQ_INT32, 9, 2, narrow, 1), NULL);
    session_expect_fault(s, "SELECT c FROM t", SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", -1);
}

static void half_floats_are_floats(void **state)
{
    struct session_fixture *s = *state;
    const uint16_t halves[] = {0x3C00, 0x8000, 0x7C00};
    make_table(
        s, "float",
        (struct pq_column){.type = PQ_FIXED, .length = 2, .logical = PQ_FLOAT16, .values = halves, .n_values = 3},
        NULL);
    session_expect_rows(s, "SELECT c FROM t", "1.0\n-0.0\nInfinity\n");
}

static void zero_and_nan_keep_their_bits(void **state)
{
    struct session_fixture *s = *state;
    const uint64_t bits[] = {UINT64_C(1) << 63, 0, UINT64_C(0x7FF8000000000000), UINT64_C(0xFFF0000000000000)};
    make_table(s, "double", (struct pq_column){.type = PQ_DOUBLE, .values = bits, .n_values = 4}, NULL);
    session_expect_rows(s, "SELECT c FROM t", "-0.0\n0.0\nNaN\n-Infinity\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE c = 0", "2\n");
}

/* ---- CHAR ---- */

#define CHARS(name, type, text)                                                                                       \
    "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{\"__CHAR_VARCHAR_TYPE_STRING\":\"" text \
    "\"}}"

/* As Spark reads them: by characters, longer text and VARCHAR left alone. */
static void char_has_spaces_up_to_its_length(void **state)
{
    struct session_fixture *s = *state;
    const char *const fields = CHARS("c", "\"string\"", "char(4)") "," CHARS("v", "\"string\"", "varchar(4)") "," CHARS(
        "s", "{\"type\":\"struct\",\"fields\":[" HAND_FIELD("x", "string") "," HAND_FIELD("y", "string") "]}",
        "struct<x:char(2),y:string>") "," CHARS("p", "\"string\"", "char(3)");
    hand_create(s, "t", fields, "\"p\"");
    hand_parquet(s, "t/f.parquet",
                 "SELECT c, c AS v, {'x': c, 'y': c} AS s FROM (VALUES ('ab'), ('\xC3\xA9'), ('abcdef'), (NULL)) t(c)");
    hand_commit(
        s, "t", 1,
        hand_add(
            s, "f.parquet", "{\"p\":\"k\"}",
            "{\"numRecords\":4,\"minValues\":{\"c\":\"ab\"},\"maxValues\":{\"c\":\"\xC3\xA9\"},\"nullCount\":{\"c\":1}}"),
        NULL);
    session_expect_rows(s, "SELECT concat('[', c, ']'), v, concat('[', s.x, ']'), s.y, concat('[', p, ']') FROM t",
                        "[ab  ]|ab|[ab]|ab|[k  ]\n[\xC3\xA9   ]|\xC3\xA9|[\xC3\xA9 ]|\xC3\xA9|[k  ]\n"
                        "[abcdef]|abcdef|[abcdef]|abcdef|[k  ]\n[]|NULL|[]|NULL|[k  ]\n");
    /* Bounds and partition values are those of the text without spaces: they prune nothing. */
    session_expect_rows(s, "SELECT v FROM t WHERE c = 'ab  ' AND p = 'k  '", "ab\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE c > '\xC3\xA9'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE c IS NULL", "1\n");
}

/* ---- columns that are always null ---- */

static void void_columns_are_null_whatever_is_stored(void **state)
{
    struct session_fixture *s = *state;
    const int32_t values[] = {5, 6};
    const struct pq_level levels[] = {{0, 0}, {0, 0}};
    make_table(s, "void", int32s(values, 2, PQ_NO_CONVERTED), NULL);
    session_expect_rows(s, "SELECT c FROM t", "NULL\nNULL\n");
    const struct pq_column unknown = {
        .type = PQ_INT32, .logical = PQ_UNKNOWN, .levels = levels, .n_levels = 2, .values = values};
    const char *const types[] = {"string", "date", "decimal(5,2)", "timestamp", "binary"};
    for (size_t i = 0; i < N_OF(types); i++) {
        make_table(s, types[i], unknown, NULL);
        session_expect_rows(s, "SELECT c FROM t", "NULL\nNULL\n");
    }
}

static void every_codec_that_writers_use_is_read(void **state)
{
    struct session_fixture *s = *state;
    static const char *const codecs[] = {"uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"};
    for (size_t i = 0; i < N_OF(codecs); i++) {
        const char *name = sl_arena_printf(&s->arena, "%s.parquet", codecs[i]);
        hand_remove(s, "t");
        hand_create(s, "t", HAND_FIELD("i", "long") "," HAND_FIELD("x", "string"), "");
        session_expect_done(s,
                            session_format(s,
                                           "COPY (SELECT i, 'text ' || i %% 7 AS x FROM range(3000) t(i)) TO '%s/t/%s' "
                                           "(FORMAT parquet, COMPRESSION %s, PARQUET_VERSION V2)",
                                           s->dir, name, codecs[i]));
        hand_commit(s, "t", 1, hand_add(s, name, "{}", NULL), NULL);
        session_expect_rows(s, "SELECT count(*), sum(i), min(x), max(x), count(DISTINCT x) FROM t",
                            "3000|4498500|text 0|text 6|7\n");
    }
}

/* What Parquet gave up for LZ4_RAW: Hadoop's own frame, of one chunk or many, and the bare block of some writers under the same number. */
static void pages_of_the_codec_lz4_are_read(void **state)
{
    struct session_fixture *s = *state;
    static const size_t sizes[][2] = {{1 << 20, 1 << 20}, {1 << 20, 1000}, {40000, 20}, {7, 3}, {300, 300}};
    static int32_t values[30000];
    uint64_t sum = 0;
    for (size_t i = 0; i < N_OF(values); i++) {
        /* runs, a pattern, and what nothing is found in */
        values[i] = i < 9000 ? 7 : i < 18000 ? (int32_t)(i % 50) : (int32_t)((uint32_t)i * 2654435761U >> 8);
        sum += (uint64_t)values[i];
    }
    const char *expected = sl_arena_printf(&s->arena, "30000|%llu|7|%d\n", (unsigned long long)sum, values[29999]);
    for (size_t i = 0; i <= N_OF(sizes); i++) {
        struct pq_column column = int32s(values, N_OF(values), PQ_NO_CONVERTED);
        column.codec = 5;
        column.frame = i < N_OF(sizes) ? PQ_HADOOP : PQ_LZ4;
        column.block = i < N_OF(sizes) ? sizes[i][0] : 0;
        column.chunk = i < N_OF(sizes) ? sizes[i][1] : 0;
        make_table(s, "integer", column, NULL);
        session_expect_rows(s, "SELECT count(*), sum(c), first(c), last(c) FROM t", expected);
        session_expect_rows(s, "SELECT count(*) FROM t WHERE c = 7", "9180\n");
        session_expect_rows(s, "SELECT _metadata.file_size > 0, count(*) FROM t GROUP BY 1", "true|30000\n");
    }
}

static void pages_of_the_codec_lz4_that_are_broken_are_told(void **state)
{
    struct session_fixture *s = *state;
    const int32_t values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct pq_column column = int32s(values, N_OF(values), PQ_NO_CONVERTED);
    column.codec = 5; /* and not compressed */
    make_table(s, "integer", column, NULL);
    session_expect_fault(s, "SELECT c FROM t", SILT_ECORRUPT, "SILT_CORRUPT", -1);
    assert_non_null(strstr(s->err.message, "LZ4"));
    assert_non_null(strstr(s->err.message, ".parquet"));
}

/* Puts a file of the table into the same place of a store that gives it in ranges only; its size. */
static size_t copy_to_memory(struct session_fixture *s, const char *name)
{
    static char bytes[1 << 20];
    silt_storage *storage = NULL;
    FILE *file = fopen(sl_arena_printf(&s->arena, "%s/t/%s", s->dir, name), "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof(bytes), file);
    assert_true(n > 0 && n < sizeof(bytes));
    assert_int_equal(fclose(file), 0);
    const char *path = sl_arena_printf(&s->arena, "memory://far/t/%s", name);
    assert_int_equal(silt_engine_storage(silt_session_engine(s->session), path, &storage, &s->err), SILT_OK);
    assert_int_equal(silt_storage_put(storage, NULL, path, bytes, n, &s->err), SILT_OK);
    return n;
}

/* The pages are made over as they come: what is brought of such a file is not what DuckDB opens. */
static void pages_of_the_codec_lz4_are_read_in_ranges(void **state)
{
    struct session_fixture *s = *state;
    static int32_t values[30000];
    for (size_t i = 0; i < N_OF(values); i++) {
        values[i] = i < 9000 ? 7 : (int32_t)((uint32_t)i * 2654435761U >> 8);
    }
    const struct pq_column plain = int32s(values, N_OF(values), PQ_NO_CONVERTED);
    struct pq_column columns[] = {plain, plain, plain};
    columns[0].name = "bare";
    columns[0].frame = PQ_LZ4;
    columns[1].name = "framed";
    columns[1].frame = PQ_HADOOP;
    columns[1].block = 40000;
    columns[1].chunk = 1000;
    columns[2].name = "other";
    columns[0].codec = columns[1].codec = 5;
    hand_create(s, "t",
                HAND_FIELD("bare", "integer") "," HAND_FIELD("framed", "integer") "," HAND_FIELD("other", "integer"),
                "");
    pq_write(sl_arena_printf(&s->arena, "%s/t/f.parquet", s->dir), columns, N_OF(columns), N_OF(values), NULL);
    const size_t size = copy_to_memory(s, "f.parquet");
    hand_commit(s, "t", 1,
                sl_arena_printf(&s->arena,
                                "{\"add\":{\"path\":\"f.parquet\",\"partitionValues\":{},\"size\":%zu,"
                                "\"modificationTime\":1,\"dataChange\":true}}",
                                size),
                NULL);
    (void)copy_to_memory(s, "_delta_log/00000000000000000000.json");
    (void)copy_to_memory(s, "_delta_log/00000000000000000001.json");
    static const char *const queries[] = {
        "SELECT count(*), sum(bare), max(framed), sum(other) FROM %s",
        "SELECT sum(framed), last(framed) FROM %s WHERE framed <> 7",
        "SELECT sum(bare) FROM %s WHERE other > 100",
        "SELECT sum(other) FROM %s",
        "SELECT count(*) FROM %s",
        "SELECT * FROM %s WHERE bare <> 7 ORDER BY 1 LIMIT 3",
    };
    for (size_t i = 0; i < N_OF(queries); i++) {
        session_expect_done(s, session_format(s, queries[i], "t"));
        const char *expected = sl_arena_printf(&s->arena, "%s", sl_buf_cstr(&s->out));
        session_expect_rows(s, session_format(s, queries[i], "'memory://far/t'"), expected);
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < N_OF(values); i++) {
        sum += (uint64_t)values[i];
    }
    session_expect_rows(s, "SELECT sum(bare), sum(framed) FROM 'memory://far/t'",
                        sl_arena_printf(&s->arena, "%llu|%llu\n", (unsigned long long)sum, (unsigned long long)sum));
}

static void an_encoding_that_is_not_known_is_told(void **state)
{
    struct session_fixture *s = *state;
    const int64_t values[] = {1, 2};
    struct pq_column column = int64s(values, 2, PQ_NO_CONVERTED, PQ_NO_LOGICAL);
    column.encoding = 9; /* BYTE_STREAM_SPLIT of integers, which came late */
    make_table(s, "long", column, NULL);
    session_expect_fault(s, "SELECT c FROM t", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", -1);
    assert_non_null(strstr(s->err.message, "BYTE_STREAM_SPLIT"));
    assert_non_null(strstr(s->err.message, "column c of file "));
    assert_non_null(strstr(s->err.path, ".parquet"));
}

/* The engine reads many files at once, and says of none which it is. */
static void the_file_that_cannot_be_read_is_named_with_its_column(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "m", HAND_FIELD("a", "long") "," HAND_FIELD("c", "long") "," HAND_FIELD("p", "string"), "\"p\"");
    const int64_t values[] = {1, 2};
    for (int i = 0; i < 5; i++) {
        struct pq_column columns[] = {int64s(values, 2, PQ_NO_CONVERTED, PQ_NO_LOGICAL),
                                      int64s(values, 2, PQ_NO_CONVERTED, PQ_NO_LOGICAL)};
        const char *name = sl_arena_printf(&s->arena, "%d.parquet", i);
        columns[0].name = "a";
        columns[0].repetition = PQ_OPTIONAL;
        columns[1].name = "c";
        columns[1].repetition = PQ_OPTIONAL;
        columns[1].encoding = i == 3 ? 9 : 0; /* BYTE_STREAM_SPLIT of integers */
        hand_commit(s, "m", i + 1,
                    sl_arena_printf(&s->arena,
                                    "{\"add\":{\"path\":\"%s\",\"partitionValues\":{\"p\":\"x\"},"
                                    "\"size\":1,\"modificationTime\":1,\"dataChange\":true}}",
                                    name),
                    NULL);
        pq_write(sl_arena_printf(&s->arena, "%s/m/%s", s->dir, name), columns, 2, 2, NULL);
    }
    const char *const queries[] = {"SELECT * FROM m", "SELECT sum(c) FROM m WHERE a > 0",
                                   "SELECT x.c FROM m AS x JOIN m AS y USING (a)",
                                   "CREATE TABLE copy USING delta AS SELECT c + 1 AS c FROM m"};
    for (size_t i = 0; i < N_OF(queries); i++) {
        session_expect_fault(s, queries[i], SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", -1);
        assert_non_null(strstr(s->err.message, "column c of file "));
        assert_non_null(strstr(s->err.message, "/m/3.parquet cannot be read: BYTE_STREAM_SPLIT"));
        assert_non_null(strstr(s->err.path, "/m/3.parquet"));
    }
    session_expect_rows(s, "SELECT sum(a) FROM m", "15\n");
    session_expect_rows(s, "SELECT count(*) FROM m", "10\n");
}

static void a_codec_that_is_not_known_is_named(void **state)
{
    struct session_fixture *s = *state;
    static const struct {
        int32_t codec;
        const char *name;
    } codecs[] = {{3, "LZO"}, {8, "an unknown codec"}, {1000, "an unknown codec"}};
    const int32_t values[] = {1};
    for (size_t i = 0; i < N_OF(codecs); i++) {
        struct pq_column column = int32s(values, 1, PQ_NO_CONVERTED);
        column.codec = codecs[i].codec;
        make_table(s, "integer", column, NULL);
        session_expect_fault(s, "SELECT c FROM t", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", -1);
        assert_non_null(strstr(s->err.message, codecs[i].name));
        assert_non_null(strstr(s->err.message, "column c in file "));
        assert_non_null(strstr(s->err.message, ".parquet"));
    }
}

static void files_without_rows_are_read(void **state)
{
    struct session_fixture *s = *state;
    const int32_t none[] = {0};
    make_table(s, "date", int32s(none, 0, PQ_DATE), JULIAN_3("UTC"));
    session_expect_rows(s, "SELECT c FROM t", "");
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(dates_of_the_legacy_calendar_keep_their_names),
        SESSION_TEST(dates_of_other_writers_are_taken_as_they_are),
        SESSION_TEST(spark_2_wrote_in_the_legacy_calendar),
        SESSION_TEST(instants_of_the_legacy_calendar_follow_the_writers_zone),
        SESSION_TEST(an_unknown_zone_is_refused_by_name),
        SESSION_TEST(wall_clocks_were_never_in_the_legacy_calendar),
        SESSION_TEST(nested_dates_are_rebased),
        SESSION_TEST(int96_is_read_over_all_years_and_in_any_zone),
        SESSION_TEST(int96_is_exact_from_the_first_julian_day_on),
        SESSION_TEST(int96_of_the_legacy_calendar_is_rebased),
        SESSION_TEST(milliseconds_become_microseconds),
        SESSION_TEST(instants_and_wall_clocks_keep_their_number_in_any_zone),
        SESSION_TEST(whole_nanoseconds_are_read_and_others_refused),
        SESSION_TEST(days_without_annotation_are_dates),
        SESSION_TEST(bytes_without_annotation_are_text),
        SESSION_TEST(bytes_that_are_no_text_are_refused),
        SESSION_TEST(text_is_the_bytes_that_it_is_made_of),
        SESSION_TEST(unsigned_numbers_are_read_where_they_fit),
        SESSION_TEST(numbers_that_do_not_fit_are_an_error),
        SESSION_TEST(decimals_of_every_physical_type_are_exact),
        SESSION_TEST(half_floats_are_floats),
        SESSION_TEST(zero_and_nan_keep_their_bits),
        SESSION_TEST(char_has_spaces_up_to_its_length),
        SESSION_TEST(void_columns_are_null_whatever_is_stored),
        SESSION_TEST(every_codec_that_writers_use_is_read),
        SESSION_TEST(pages_of_the_codec_lz4_are_read),
        SESSION_TEST(pages_of_the_codec_lz4_that_are_broken_are_told),
        SESSION_TEST(pages_of_the_codec_lz4_are_read_in_ranges),
        SESSION_TEST(an_encoding_that_is_not_known_is_told),
        SESSION_TEST(the_file_that_cannot_be_read_is_named_with_its_column),
        SESSION_TEST(a_codec_that_is_not_known_is_named),
        SESSION_TEST(files_without_rows_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
