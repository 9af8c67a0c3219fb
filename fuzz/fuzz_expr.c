/*
 * Expressions: what is parsed prints to a text that parses to the same; resolved against a schema likewise; and a file whose bounds
 * rule a predicate out has no row for which the predicate is true.
 */
#include <math.h>

#include "base/arena.h"
#include "expr/eval.h"
#include "support/fuzz.h"

#define N_ROWS 3
#define N_COLUMNS 8

static const char schema_json[] =
    "{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"i\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"l\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"d\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"e\",\"type\":\"decimal(10,2)\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"a\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"t\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"b\",\"type\":\"boolean\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"n o\",\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"x`\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}]}";

static const silt_schema *known_schema(void)
{
    static silt_schema *schema;
    if (schema == NULL) {
        FUZZ_CHECK(silt_schema_from_json(fuzz_env(), schema_json, sizeof(schema_json) - 1, &schema, NULL) == SILT_OK);
    }
    return schema;
}

struct file {
    silt_value rows[N_ROWS][N_COLUMNS];
    size_t row;
    struct sl_bounds bounds[N_COLUMNS];
};

static silt_value value_of(struct fuzz_input *in, const struct silt_type *type)
{
    static const char *const texts[] = {"", "a", "ab", "abc", "b", "x", "2020-01-01", "1"};
    static const double doubles[] = {-1, -0.0, 0.0, 0.5, 1, 2, (double)INFINITY, (double)NAN};
    const uint8_t pick = fuzz_byte(in);
    const int64_t number = (int64_t)(pick >> 3) - 16;
    if (pick % 8 == 7) {
        return sl_value_null(type->kind);
    }
    switch (type->kind) {
    case SILT_TYPE_DOUBLE: return sl_value_f64(type->kind, doubles[pick / 8 % 8]);
    case SILT_TYPE_STRING: return sl_value_bytes(type->kind, sl_str_from(texts[pick / 8 % 8]));
    case SILT_TYPE_DECIMAL: return sl_value_decimal((sl_i128)number * 25, type->precision, type->scale);
    case SILT_TYPE_BOOLEAN: return sl_value_bool(pick / 8 % 2 == 0);
    case SILT_TYPE_TIMESTAMP: return sl_value_i64(type->kind, number * INT64_C(43200000000));
    default: return sl_value_i64(type->kind, number);
    }
}

static void widen(struct sl_bounds *b, const silt_value *v)
{
    int order = 0;
    b->row_count++;
    b->null_count += v->is_null ? 1 : 0;
    if (v->is_null || (v->kind == SILT_TYPE_DOUBLE && isnan(v->as.f64))) {
        return;
    }
    b->min = !b->has_min || (sl_value_compare(v, &b->min, &order) && order < 0) ? *v : b->min;
    b->max = !b->has_max || (sl_value_compare(v, &b->max, &order) && order > 0) ? *v : b->max;
    b->has_min = b->has_max = true;
}

static void make_file(struct fuzz_input *in, struct file *file)
{
    const silt_schema *schema = known_schema();
    *file = (struct file){.row = 0};
    for (size_t c = 0; c < N_COLUMNS; c++) {
        file->bounds[c].has_null_count = file->bounds[c].has_row_count = true;
        for (size_t r = 0; r < N_ROWS; r++) {
            file->rows[r][c] = value_of(in, schema->root.fields[c].type);
            widen(&file->bounds[c], &file->rows[r][c]);
        }
    }
}

/* SIZE_MAX: a column that nothing is known of. */
static size_t place_of(const struct sl_str *path, size_t path_len)
{
    size_t index = SIZE_MAX;
    const struct silt_field *field = path_len == 1 ? sl_type_find(&known_schema()->root, path[0], &index) : NULL;
    return field != NULL && index < N_COLUMNS ? index : SIZE_MAX;
}

static bool lookup_value(void *ctx, const struct sl_str *path, size_t path_len, silt_value *out)
{
    const struct file *file = ctx;
    const size_t place = place_of(path, path_len);
    if (place == SIZE_MAX) {
        return false;
    }
    *out = file->rows[file->row][place];
    return true;
}

static bool lookup_bounds(void *ctx, const struct sl_str *path, size_t path_len, struct sl_bounds *out)
{
    const struct file *file = ctx;
    const size_t place = place_of(path, path_len);
    if (place == SIZE_MAX) {
        return false;
    }
    *out = file->bounds[place];
    return true;
}

static void check_skipping(const silt_expr *expr, struct file *file)
{
    struct sl_arena scratch;
    sl_arena_init(&scratch, fuzz_env());
    const bool may_match = sl_eval_may_match(expr->root, lookup_bounds, file, &scratch);
    for (file->row = 0; file->row < N_ROWS; file->row++) {
        const enum sl_truth truth = sl_eval_predicate(expr->root, lookup_value, file, &scratch);
        FUZZ_CHECK(may_match || truth != SL_TRUE);
    }
    sl_arena_release(&scratch);
}

static void check_text(const silt_expr *expr, const silt_schema *schema)
{
    silt_expr *again = NULL;
    struct sl_buf text;
    const struct sl_str printed = sl_str_from(silt_expr_text(expr));
    sl_buf_init(&text, fuzz_env());
    const silt_status status = silt_expr_parse(fuzz_env(), printed.ptr, printed.len, schema, &again, NULL);
    /* Printing adds brackets, so that what was just not too deep may be. */
    FUZZ_CHECK(status == SILT_OK || status == SILT_ELIMIT);
    FUZZ_CHECK(again == NULL || sl_str_eq_c(printed, silt_expr_text(again)));
    const silt_status spelled = sl_expr_print_duckdb(&text, expr->root, NULL);
    FUZZ_CHECK(spelled == SILT_OK || spelled == SILT_EUNSUPPORTED);
    silt_expr_unref(again);
    sl_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    struct file file;
    silt_expr *expr = NULL;
    silt_error err = SILT_ERROR_INIT;
    make_file(&in, &file);
    const struct sl_str text = fuzz_rest(&in);
    if (silt_expr_parse(fuzz_env(), text.ptr, text.len, NULL, &expr, &err) == SILT_OK) {
        check_text(expr, NULL);
    } else {
        FUZZ_CHECK(err.position <= (int64_t)text.len);
    }
    silt_expr_unref(expr);
    expr = NULL;
    if (silt_expr_parse(fuzz_env(), text.ptr, text.len, known_schema(), &expr, &err) == SILT_OK) {
        check_text(expr, known_schema());
        check_skipping(expr, &file);
    }
    silt_expr_unref(expr);
    return 0;
}
