/* Random tables, see skip_table.h. */
#include "skip_table.h"

#include <math.h>

#define PATH1(a) .path = {{(a), sizeof(a) - 1}}, .path_len = 1
#define N(array) (sizeof(array) / sizeof((array)[0]))

const struct skip_column skip_columns[SKIP_N_COLUMNS] = {
    [SKIP_BOOL] = {.name = "b", PATH1("b"), .type = {.kind = SILT_TYPE_BOOLEAN}},
    [SKIP_BYTE] = {.name = "i1", PATH1("i1"), .type = {.kind = SILT_TYPE_BYTE}},
    [SKIP_SHORT] = {.name = "i2", PATH1("i2"), .type = {.kind = SILT_TYPE_SHORT}},
    [SKIP_INT] = {.name = "i4", PATH1("i4"), .type = {.kind = SILT_TYPE_INTEGER}},
    [SKIP_LONG] = {.name = "i8", PATH1("i8"), .type = {.kind = SILT_TYPE_LONG}},
    [SKIP_FLOAT] = {.name = "f", PATH1("f"), .type = {.kind = SILT_TYPE_FLOAT}},
    [SKIP_DOUBLE] = {.name = "d", PATH1("d"), .type = {.kind = SILT_TYPE_DOUBLE}},
    [SKIP_WIDENED] = {.name = "dw", PATH1("dw"), .type = {.kind = SILT_TYPE_DOUBLE}},
    [SKIP_DECIMAL] = {.name = "n", PATH1("n"), .type = {.kind = SILT_TYPE_DECIMAL, .precision = 5, .scale = 2}},
    [SKIP_WIDE_DECIMAL] = {.name = "w", PATH1("w"), .type = {.kind = SILT_TYPE_DECIMAL, .precision = 25, .scale = 3}},
    [SKIP_STRING] = {.name = "s", PATH1("s"), .type = {.kind = SILT_TYPE_STRING}},
    [SKIP_BINARY] = {.name = "x", PATH1("x"), .type = {.kind = SILT_TYPE_BINARY}},
    [SKIP_DATE] = {.name = "y", PATH1("y"), .type = {.kind = SILT_TYPE_DATE}},
    [SKIP_TIMESTAMP] = {.name = "ts", PATH1("ts"), .type = {.kind = SILT_TYPE_TIMESTAMP}},
    [SKIP_TIMESTAMP_NTZ] = {.name = "tn", PATH1("tn"), .type = {.kind = SILT_TYPE_TIMESTAMP_NTZ}},
    [SKIP_NESTED_INT] = {.name = "st.a",
                         .path = {{"st", 2}, {"a", 1}},
                         .path_len = 2,
                         .type = {.kind = SILT_TYPE_INTEGER}},
    [SKIP_NESTED_TEXT] = {.name = "st.u.t",
                          .path = {{"st", 2}, {"u", 1}, {"t", 1}},
                          .path_len = 3,
                          .type = {.kind = SILT_TYPE_STRING}},
    [SKIP_PARTITION] = {.name = "p", PATH1("p"), .type = {.kind = SILT_TYPE_INTEGER}},
};

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"

const char *skip_schema_json(void)
{
    return FIELD("b", "\"boolean\"") "," FIELD("i1", "\"byte\"") "," FIELD("i2", "\"short\"") "," FIELD("i4", "\"integer\"") "," FIELD("i8", "\"long\"") "," FIELD("f", "\"float\"") "," FIELD(
        "d",
        "\"double\"") ",{\"name\":\"dw\",\"type\":\"double\",\"nullable\":true,\"metadata\":{\"delta.typeChanges\":"
                      "[{\"fromType\":\"float\",\"toType\":\"double\"}]}}," FIELD("n", "\"decimal(5,2)\"") "," FIELD("w", "\"decimal(25,3)\"") "," FIELD("s", "\"string\"") "," FIELD("x", "\"binary\"") "," FIELD(
                          "y",
                          "\"date\"") "," FIELD("ts",
                                                "\"timestamp\"") "," FIELD("tn",
                                                                           "\"timestamp_ntz\"") "," FIELD("st",
                                                                                                          "{\"type\":\"struct\",\"fields\":[" FIELD("a", "\"integer\"") "," FIELD(
                                                                                                              "u",
                                                                                                              "{\"type\":\"struct\",\"fields\":[" FIELD(
                                                                                                                  "t",
                                                                                                                  "\"string\"") "]}") "]}") "," FIELD("p",
                                                                                                                                                      "\"integer\"");
}

uint64_t skip_pick(struct skip_random *random, uint64_t n)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t mixed = random->state;
    mixed ^= mixed >> 33;
    mixed *= UINT64_C(0xFF51AFD7ED558CCD);
    mixed ^= mixed >> 33;
    return mixed % n;
}

#define K8 "kkkkkkkk"
#define K31 K8 K8 K8 "kkkkkkk"
#define K32 K8 K8 K8 K8

static silt_value random_text(struct skip_random *random)
{
    /* Short ones, and some that differ only beyond what writers keep of them. */
    static const char *const texts[] = {"",
                                        "a",
                                        "ab",
                                        "abc",
                                        "b",
                                        "zz",
                                        "\xc3\xa9",
                                        "\xf0\x9d\x84\x9e",
                                        "a?",
                                        K31,
                                        K32,
                                        K32 "a",
                                        K32 "z",
                                        K32 "\x7f"
                                            "q",
                                        K32 "\xc3\xa9",
                                        K32 "\xf0\x9f\x98\x80",
                                        K31 "\xf0\x9f\x98\x80x",
                                        K32 "\xf4\x8f\xbf\xbf"
                                            "q",
                                        K32 "\xef\xbf\xbdq",
                                        K31 "l"};
    return sl_value_bytes(SILT_TYPE_STRING, sl_str_from(texts[skip_pick(random, N(texts))]));
}

static silt_value random_integer(struct skip_random *random, silt_type_kind kind)
{
    static const int64_t small[] = {-3, -1, 0, 1, 2, 3, 5, 7, 100};
    static const int64_t greatest[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
    const int64_t max = greatest[kind - SILT_TYPE_BYTE];
    switch (skip_pick(random, 14)) {
    case 0: return sl_value_i64(kind, max);
    case 1: return sl_value_i64(kind, -max - 1);
    default: return sl_value_i64(kind, small[skip_pick(random, N(small))]);
    }
}

/* The nearest value that a float has. */
static double as_float(double v)
{
    return isfinite(v) && fabs(v) > 1e30 ? (v > 0 ? (double)1e30F : -(double)1e30F) : (double)(float)v;
}

static silt_value random_float(struct skip_random *random, enum skip_column_id column)
{
    static const double doubles[] = {
        -1.5, -0.0, 0.0, 0.1, 0.5, 1, 2, 7.25, 1e300, -1e300, (double)INFINITY, (double)-INFINITY, (double)NAN};
    /* A float's 0.1 is above the double, its 0.7 below. */
    static const double fractions[] = {0.1, 0.7, 0.1, 0.7, 0.5, -1.5, (double)NAN};
    const double v = column == SKIP_WIDENED ? fractions[skip_pick(random, N(fractions))]
                                            : doubles[skip_pick(random, N(doubles))];
    const bool is_float = column == SKIP_FLOAT || (column == SKIP_WIDENED && skip_pick(random, 2) == 0);
    return sl_value_f64(column == SKIP_FLOAT ? SILT_TYPE_FLOAT : SILT_TYPE_DOUBLE, is_float ? as_float(v) : v);
}

static silt_value random_decimal(struct skip_random *random, enum skip_column_id column)
{
    static const int64_t narrow[] = {-99999, -1, 0, 1, 125, 200, 250, 99999};
    static const int64_t wide[] = {0,
                                   1500,
                                   INT64_C(123456789012345678),
                                   INT64_C(999999999999999999),
                                   INT64_C(-999999999999999999),
                                   INT64_C(1000000000000000000)};
    if (column == SKIP_DECIMAL) {
        return sl_value_decimal(narrow[skip_pick(random, N(narrow))], 5, 2);
    }
    const sl_i128 factor = skip_pick(random, 3) == 0 ? 1000 : 1;
    return sl_value_decimal(factor * wide[skip_pick(random, N(wide))], 25, 3);
}

static int64_t random_day(struct skip_random *random)
{
    /* Year 1, around the change of calendars, the epoch, now, the last day. */
    static const int64_t days[] = {-719162, -141439, -141428, -141427, 0, 18262, 18263, 2932896};
    return days[skip_pick(random, N(days))];
}

static silt_value random_timestamp(struct skip_random *random, silt_type_kind kind)
{
    static const int64_t within[] = {0, 1, 999, 1000, 1001, 123456, 43200000000, 86399999999};
    const int64_t days = random_day(random);
    const int64_t day = days > 100000 || skip_pick(random, 2) == 0 ? 18262 : days;
    return sl_value_i64(kind, day * INT64_C(86400000000) + within[skip_pick(random, N(within))]);
}

silt_value skip_value(struct skip_random *random, enum skip_column_id column)
{
    static const struct sl_str bytes[] = {{"", 0}, {"\0", 1}, {"a", 1}, {"\xff", 1}, {"ab", 2}};
    const silt_type_kind kind = skip_columns[column].type.kind;
    if (skip_pick(random, 8) == 0) {
        return sl_value_null(kind);
    }
    switch (kind) {
    case SILT_TYPE_BOOLEAN: return sl_value_bool(skip_pick(random, 2) == 0);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return random_float(random, column);
    case SILT_TYPE_DECIMAL: return random_decimal(random, column);
    case SILT_TYPE_STRING: return random_text(random);
    case SILT_TYPE_BINARY: return sl_value_bytes(kind, bytes[skip_pick(random, N(bytes))]);
    case SILT_TYPE_DATE: return sl_value_i64(kind, random_day(random));
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return random_timestamp(random, kind);
    default: return random_integer(random, kind);
    }
}

/* Rows of a file lie near each other, so that files differ: most values of a column come from a few. */
static void make_file(struct skip_file *file, struct skip_random *random)
{
    silt_value local[SKIP_N_COLUMNS][2];
    const silt_value partition = skip_value(random, SKIP_PARTITION);
    *file = (struct skip_file){.n_rows = skip_pick(random, SKIP_MAX_ROWS + 1), .is_old = skip_pick(random, 2) == 0};
    for (enum skip_column_id c = 0; c < SKIP_N_COLUMNS; c++) {
        local[c][0] = skip_value(random, c);
        local[c][1] = skip_value(random, c);
    }
    const bool has_vector = skip_pick(random, 4) == 0;
    for (size_t r = 0; r < file->n_rows; r++) {
        struct skip_row *row = &file->rows[r];
        row->st_is_null = skip_pick(random, 8) == 0;
        row->u_is_null = row->st_is_null || skip_pick(random, 8) == 0;
        row->deleted = has_vector && skip_pick(random, 2) == 0;
        for (enum skip_column_id c = 0; c < SKIP_N_COLUMNS; c++) {
            row->values[c] = skip_pick(random, 6) != 0 ? local[c][skip_pick(random, 2)] : skip_value(random, c);
        }
        if (file->is_old && !row->values[SKIP_WIDENED].is_null) {
            row->values[SKIP_WIDENED].as.f64 = as_float(row->values[SKIP_WIDENED].as.f64);
        }
        row->values[SKIP_PARTITION] = partition;
        if (row->st_is_null) {
            row->values[SKIP_NESTED_INT] = sl_value_null(SILT_TYPE_INTEGER);
        }
        if (row->u_is_null) {
            row->values[SKIP_NESTED_TEXT] = sl_value_null(SILT_TYPE_STRING);
        }
    }
}

void skip_table_make(struct skip_table *table, struct skip_random *random)
{
    table->n_files = 1 + skip_pick(random, SKIP_MAX_FILES);
    for (size_t i = 0; i < table->n_files; i++) {
        make_file(&table->files[i], random);
    }
}

static void print_value(struct sl_buf *out, enum skip_column_id column, silt_value value)
{
    /* A null needs its type, too. */
    value.precision = skip_columns[column].type.precision;
    value.scale = skip_columns[column].type.scale;
    sl_value_print_duckdb(out, &value);
}

static void print_struct(struct sl_buf *out, const struct skip_row *row)
{
    sl_buf_put_c(out, "CAST(");
    if (row->st_is_null) {
        sl_buf_put_c(out, "NULL");
    } else {
        sl_buf_put_c(out, "ROW(");
        print_value(out, SKIP_NESTED_INT, row->values[SKIP_NESTED_INT]);
        sl_buf_put_c(out, ", ");
        if (row->u_is_null) {
            sl_buf_put_c(out, "NULL");
        } else {
            sl_buf_put_c(out, "ROW(");
            print_value(out, SKIP_NESTED_TEXT, row->values[SKIP_NESTED_TEXT]);
            sl_buf_put_c(out, ")");
        }
        sl_buf_put_c(out, ")");
    }
    sl_buf_put_c(out, " AS STRUCT(a INTEGER, u STRUCT(t VARCHAR)))");
}

static void print_row(struct sl_buf *out, size_t file, const struct skip_row *row)
{
    sl_buf_printf(out, "(%zu", file);
    for (enum skip_column_id c = 0; c < SKIP_NESTED_INT; c++) {
        sl_buf_put_c(out, ", ");
        print_value(out, c, row->values[c]);
    }
    sl_buf_put_c(out, ", ");
    print_struct(out, row);
    sl_buf_put_c(out, ", ");
    print_value(out, SKIP_PARTITION, row->values[SKIP_PARTITION]);
    sl_buf_put_c(out, ")");
}

bool skip_tables_print(const struct skip_table *tables, size_t n, struct sl_buf *out)
{
    bool any = false;
    sl_buf_put_c(out, "t(file");
    for (enum skip_column_id c = 0; c < SKIP_NESTED_INT; c++) {
        sl_buf_printf(out, ", \"%s\"", skip_columns[c].name);
    }
    sl_buf_put_c(out, ", st, p) AS (VALUES ");
    for (size_t i = 0; i < n * SKIP_MAX_FILES; i++) {
        const struct skip_table *table = &tables[i / SKIP_MAX_FILES];
        const struct skip_file *file = &table->files[i % SKIP_MAX_FILES];
        for (size_t r = 0; i % SKIP_MAX_FILES < table->n_files && r < file->n_rows; r++) {
            if (!file->rows[r].deleted) {
                sl_buf_put_c(out, any ? ", " : "");
                print_row(out, i, &file->rows[r]);
                any = true;
            }
        }
    }
    sl_buf_put_c(out, ")");
    return any;
}
