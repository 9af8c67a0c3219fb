/*
 * Rows of a Parquet file by their places, as a condition of the scan. DuckDB leaves out row groups by ranges of file_row_number; for
 * scattered rows a constant of one bit a row is probed, at 20 ns. A list costs more to parse and is compared by a join, which gives rows in
 * any order and may be turned round, with a hash table of the whole file.
 *
 * Called by duck_read.c. Pure; any thread.
 */
#include "duck.h"

/* Rows that are nearer to each other than this make one range: DuckDB reads by vectors of 2,048 rows. */
#define NEAR_ROWS 512
/* With more ranges they are no longer compared one by one. */
#define MAX_RANGES 32

static size_t count_ranges(const int64_t *rows, size_t n)
{
    size_t n_ranges = 1;
    for (size_t i = 1; i < n && n_ranges <= MAX_RANGES; i++) {
        n_ranges += rows[i] - rows[i - 1] > NEAR_ROWS ? 1 : 0;
    }
    return n_ranges;
}

static void put_ranges(struct sl_buf *sql, const int64_t *rows, size_t n)
{
    size_t begin = 0;
    sl_buf_put_char(sql, '(');
    for (size_t i = 1; i <= n; i++) {
        if (i < n && rows[i] - rows[i - 1] <= NEAR_ROWS) {
            continue;
        }
        sl_buf_put_c(sql, begin > 0 ? " OR file_row_number BETWEEN " : "file_row_number BETWEEN ");
        sl_buf_put_i64(sql, rows[begin]);
        sl_buf_put_c(sql, " AND ");
        sl_buf_put_i64(sql, rows[i - 1]);
        begin = i;
    }
    sl_buf_put_char(sql, ')');
}

/* One bit a row, from the first one to the one behind the last, whose 0 stands for all that follow. */
static void put_bits(struct sl_buf *sql, const int64_t *rows, size_t n)
{
    sl_buf_put_c(sql, "(file_row_number BETWEEN ");
    sl_buf_put_i64(sql, rows[0]);
    sl_buf_put_c(sql, " AND ");
    sl_buf_put_i64(sql, rows[n - 1]);
    sl_buf_put_c(sql, " AND get_bit('");
    int64_t place = rows[0];
    for (size_t i = 0; i < n; i++) {
        while (place < rows[i]) {
            sl_buf_put_char(sql, '0');
            place++;
        }
        sl_buf_put_char(sql, '1');
        place++;
    }
    sl_buf_put_c(sql, "0'::BIT, greatest(0, least(file_row_number - ");
    sl_buf_put_i64(sql, rows[0]);
    sl_buf_put_c(sql, ", ");
    sl_buf_put_i64(sql, place - rows[0]);
    sl_buf_put_c(sql, "))::INTEGER) = 1)");
}

void sl_duck_put_picked(struct sl_buf *sql, const int64_t *rows, size_t n)
{
    if (count_ranges(rows, n) <= MAX_RANGES) {
        put_ranges(sql, rows, n);
    } else {
        put_bits(sql, rows, n);
    }
}

void sl_duck_put_row_ranges(struct sl_buf *sql, const silt_row_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(sql, i > 0 ? " OR file_row_number BETWEEN " : "(file_row_number BETWEEN ");
        sl_buf_put_i64(sql, ranges[i].begin);
        sl_buf_put_c(sql, " AND ");
        sl_buf_put_i64(sql, ranges[i].end - 1);
    }
    sl_buf_put_char(sql, ')');
}
