/*
 * Where the few rows of a file are that have a value in one of some members: a checkpoint's rows that are not about files. The
 * footer's statistics tell which row groups have none; in the others the members alone are read for the numbers of the rows, and
 * then only those rows in full, since DuckDB prunes by the number of a row but not by IS NOT NULL of a nested column.
 * Called by duck_read.c; one thread a call.
 */
#include "duck.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

/* Fewer rows than this are read without asking where among them the wanted ones are. */
#define FEW_ROWS 4096
/* Rows that are nearer to each other than this make one range: DuckDB reads by vectors of 2,048 rows. */
#define NEAR_ROWS 2048
#define MAX_RANGES 64

struct range {
    int64_t begin, end;
};

struct search {
    struct sl_duck_conn conn;
    const silt_call *call;
    const char *local_path;
    const struct sl_duck_sparse *wanted;
    struct sl_vec ranges; /* of struct range, ascending */
    uint64_t has_value;   /* bit i: some row group may have a value of wanted->members[i] */
    int64_t n_values;     /* of all of them together, INT64_MAX if the statistics do not say */
    int64_t next_row;     /* of the file: first of the row group that comes next */
    int64_t group;        /* the row group whose rows were counted last */
    silt_error *err;
};

/* Of a row group; one that is there already, or ends where this one begins, is extended. */
static silt_status add_range(struct search *s, int64_t begin, int64_t end)
{
    struct range *last = s->ranges.len > 0 ? sl_vec_at(&s->ranges, s->ranges.len - 1) : NULL;
    if (last != NULL && begin <= last->end) {
        last->end = end;
        return SILT_OK;
    }
    struct range *range = sl_vec_push(&s->ranges);
    if (range == NULL) {
        return sl_fail_nomem(s->err);
    }
    *range = (struct range){begin, end};
    return SILT_OK;
}

static silt_status each_row(struct search *s, const struct sl_buf *sql,
                            silt_status (*take)(struct search *s, duckdb_data_chunk chunk, idx_t row))
{
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    silt_status status = sl_duck_exec(&s->conn, s->call, sql, &result, s->err);
    while (status == SILT_OK) {
        status = sl_duck_fetch(&s->conn, s->call, &result, &chunk, s->err);
        if (status != SILT_OK || chunk == NULL) {
            break;
        }
        const idx_t n = duckdb_data_chunk_get_size(chunk);
        for (idx_t row = 0; row < n && status == SILT_OK; row++) {
            status = take(s, chunk, row);
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return status;
}

/* ---- row groups ---- */

/* "a.b" as parquet_metadata spells it: "a, b". */
static void put_spelled(struct sl_buf *sql, struct sl_str member)
{
    struct sl_buf text;
    sl_buf_init(&text, sql->env);
    for (size_t i = 0; i < member.len; i++) {
        if (member.ptr[i] == '.') {
            sl_buf_put_c(&text, ", ");
        } else {
            sl_buf_put_char(&text, member.ptr[i]);
        }
    }
    sl_duck_put_text(sql, sl_buf_view(&text));
    sl_ignore(sql->status == SILT_OK ? (sql->status = text.status) : SILT_OK); /* sticks to the text of the query */
    sl_buf_release(&text);
}

/* A row for each row group, of its first column, and one for each wanted member in it. */
static void put_group_question(struct sl_buf *sql, const struct search *s)
{
    sl_buf_put_c(sql, "SELECT row_group_id::BIGINT, row_group_num_rows::BIGINT, path_in_schema, num_values::BIGINT, "
                      "stats_null_count::BIGINT FROM parquet_metadata(");
    sl_duck_put_paths(sql, &s->local_path, 1);
    sl_buf_put_c(sql, ") WHERE column_id = 0 OR path_in_schema IN (");
    for (size_t i = 0; i < s->wanted->n; i++) {
        sl_buf_put_c(sql, i > 0 ? ", " : "");
        put_spelled(sql, sl_str_from(s->wanted->members[i]));
    }
    sl_buf_put_char(sql, ')');
}

/* Is a path as parquet_metadata spells it this member? */
static bool is_spelled(struct sl_str path, struct sl_str member)
{
    size_t at = 0;
    for (size_t i = 0; i < member.len; i++) {
        if (member.ptr[i] == '.') {
            if (at + 2 > path.len || path.ptr[at] != ',' || path.ptr[at + 1] != ' ') {
                return false;
            }
            at += 2;
        } else if (at >= path.len || path.ptr[at++] != member.ptr[i]) {
            return false;
        }
    }
    return at == path.len;
}

/* A row group's numbers of one member: has it values, and how many? */
static void count_values(struct search *s, duckdb_data_chunk chunk, idx_t row, bool *wanted)
{
    const struct sl_str path = sl_duck_cell_str(chunk, 2, row);
    int64_t n = 0;
    int64_t n_null = 0;
    for (size_t i = 0; i < s->wanted->n; i++) {
        if (!is_spelled(path, sl_str_from(s->wanted->members[i]))) {
            continue;
        }
        const bool known = sl_duck_cell_i64(chunk, 3, row, &n) && sl_duck_cell_i64(chunk, 4, row, &n_null) &&
                           n_null >= 0 && n_null <= n;
        if (known && n_null == n) {
            return;
        }
        *wanted = true;
        s->has_value |= UINT64_C(1) << i;
        s->n_values = known && s->n_values <= INT64_MAX - (n - n_null) ? s->n_values + (n - n_null) : INT64_MAX;
    }
}

/* Rows come in the order of the row groups. */
static silt_status take_group(struct search *s, duckdb_data_chunk chunk, idx_t row)
{
    int64_t group = -1;
    int64_t n_rows = -1;
    const bool counts = sl_duck_cell_i64(chunk, 0, row, &group) && sl_duck_cell_i64(chunk, 1, row, &n_rows);
    if (!counts || n_rows < 0 || n_rows > INT64_MAX - s->next_row || group < s->group) {
        return sl_fail(s->err, SILT_ECORRUPT, NULL, "row groups of %s have no number of rows that can be",
                       s->local_path);
    }
    if (group != s->group) {
        s->group = group;
        s->next_row += n_rows;
    }
    bool wanted = false;
    count_values(s, chunk, row, &wanted);
    return wanted ? add_range(s, s->next_row - n_rows, s->next_row) : SILT_OK;
}

/* ---- rows ---- */

static int64_t count_rows(const struct search *s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->ranges.len; i++) {
        const struct range *range = sl_vec_at(&s->ranges, i);
        n += range->end - range->begin;
    }
    return n;
}

static void put_ranges(struct sl_buf *sql, const struct search *s)
{
    sl_buf_put_c(sql, s->ranges.len == 0 ? "(false" : "(");
    for (size_t i = 0; i < s->ranges.len; i++) {
        const struct range *range = sl_vec_at(&s->ranges, i);
        sl_buf_printf(sql, "%sfile_row_number BETWEEN %" PRId64 " AND %" PRId64, i > 0 ? " OR " : "", range->begin,
                      range->end - 1);
    }
    sl_buf_put_char(sql, ')');
}

/* The file's own schema, so that only the members are read. */
static void put_row_question(struct sl_buf *sql, const struct search *s)
{
    sl_buf_put_c(sql, "SELECT file_row_number FROM read_parquet(");
    sl_duck_put_paths(sql, &s->local_path, 1);
    sl_buf_put_c(sql, ", hive_partitioning = false) WHERE ");
    put_ranges(sql, s);
    const char *before = " AND (";
    for (size_t i = 0; i < s->wanted->n; i++) {
        if ((s->has_value >> i & 1U) == 0) {
            continue;
        }
        sl_buf_put_c(sql, before);
        before = " OR ";
        struct sl_str rest = sl_str_from(s->wanted->members[i]);
        for (size_t dot = 0; dot != SIZE_MAX;) {
            dot = sl_str_find(rest, SL_STR("."));
            sl_duck_put_ident(sql, sl_str_sub(rest, 0, dot != SIZE_MAX ? dot : rest.len));
            sl_buf_put_c(sql, dot != SIZE_MAX ? "." : " IS NOT NULL");
            rest = sl_str_sub(rest, dot != SIZE_MAX ? dot + 1 : rest.len, rest.len);
        }
    }
    sl_buf_put_char(sql, ')');
    if (s->n_values < INT64_MAX) {
        sl_buf_printf(sql, " LIMIT %" PRId64, s->n_values); /* nothing follows the last value: reading ends there */
    }
}

static silt_status take_row_number(struct search *s, duckdb_data_chunk chunk, idx_t row)
{
    int64_t number = -1;
    if (!sl_duck_cell_i64(chunk, 0, row, &number) || number < 0 || number == INT64_MAX) {
        return sl_fail(s->err, SILT_EENGINE, NULL, "a row of %s has no number", s->local_path);
    }
    struct range *range = sl_vec_push(&s->ranges);
    if (range == NULL) {
        return sl_fail_nomem(s->err);
    }
    *range = (struct range){number, number + 1};
    return SILT_OK;
}

static int compare_ranges(const void *a, const void *b)
{
    const int64_t x = ((const struct range *)a)->begin;
    const int64_t y = ((const struct range *)b)->begin;
    return x < y ? -1 : x > y;
}

/* Joins what lies near together. */
static void merge_ranges(struct search *s)
{
    struct range *ranges = s->ranges.data;
    const size_t n = s->ranges.len;
    if (n == 0) {
        return;
    }
    qsort(ranges, n, sizeof(*ranges), compare_ranges);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        if (ranges[i].begin - ranges[kept].end <= NEAR_ROWS) {
            ranges[kept].end = ranges[i].end;
        } else {
            ranges[++kept] = ranges[i];
        }
    }
    s->ranges.len = kept + 1;
}

/*
 * Narrows the ranges of row groups down to the rows. When the rows lie scattered, or the file's own schema cannot be asked like
 * this, the row groups remain: more is read, nothing is missed.
 */
static silt_status narrow(struct search *s, struct sl_buf *sql)
{
    put_row_question(sql, s);
    SL_TRY(sl_buf_status(sql, s->err));
    struct sl_vec groups = s->ranges;
    sl_vec_init(&s->ranges, groups.env, sizeof(struct range));
    const silt_status status = each_row(s, sql, take_row_number);
    merge_ranges(s);
    const bool is_final = status == SILT_ENOMEM || status == SILT_ECANCELLED || status == SILT_EDEADLINE;
    if (is_final || (status == SILT_OK && s->ranges.len <= MAX_RANGES)) {
        sl_vec_release(&groups);
        return status;
    }
    silt_error_reset(s->err);
    sl_vec_release(&s->ranges);
    s->ranges = groups;
    return SILT_OK;
}

static silt_status find(struct search *s, struct sl_buf *question)
{
    put_group_question(question, s);
    SL_TRY(sl_buf_status(question, s->err));
    SL_TRY(each_row(s, question, take_group));
    if (count_rows(s) <= FEW_ROWS) {
        return SILT_OK;
    }
    sl_buf_clear(question);
    return narrow(s, question);
}

silt_status sl_duck_put_sparse(struct sl_dataplane *dp, const silt_call *call, const char *local_path,
                               const struct sl_duck_sparse *wanted, struct sl_buf *sql, silt_error *err)
{
    struct search s = {.call = call, .local_path = local_path, .wanted = wanted, .group = -1, .err = err};
    SL_TRY(sl_duck_connect(dp, &s.conn, err));
    sl_vec_init(&s.ranges, dp->env, sizeof(struct range));
    struct sl_buf question;
    sl_buf_init(&question, dp->env);
    silt_status status = find(&s, &question);
    if (status == SILT_OK) {
        put_ranges(sql, &s);
        status = sl_buf_status(sql, err);
    }
    sl_buf_release(&question);
    sl_vec_release(&s.ranges);
    sl_duck_disconnect(&s.conn);
    return status;
}
