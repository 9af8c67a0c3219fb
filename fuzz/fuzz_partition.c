/*
 * Scalars as text: partition values, statistics, SQL literals, casts. A value that was read is written and read back the same, in every
 * notation that can hold it.
 */
#include "base/arena.h"
#include "expr/expr.h"
#include "json/json.h"
#include "json/writer.h"
#include "schema/value.h"
#include "support/fuzz.h"

static const struct silt_type types[] = {{.kind = SILT_TYPE_BOOLEAN},
                                         {.kind = SILT_TYPE_BYTE},
                                         {.kind = SILT_TYPE_SHORT},
                                         {.kind = SILT_TYPE_INTEGER},
                                         {.kind = SILT_TYPE_LONG},
                                         {.kind = SILT_TYPE_FLOAT},
                                         {.kind = SILT_TYPE_DOUBLE},
                                         {.kind = SILT_TYPE_DECIMAL, .precision = 10, .scale = 2},
                                         {.kind = SILT_TYPE_DECIMAL, .precision = 38, .scale = 0},
                                         {.kind = SILT_TYPE_DECIMAL, .precision = 38, .scale = 38},
                                         {.kind = SILT_TYPE_DECIMAL, .precision = 1, .scale = 1},
                                         {.kind = SILT_TYPE_STRING},
                                         {.kind = SILT_TYPE_BINARY},
                                         {.kind = SILT_TYPE_DATE},
                                         {.kind = SILT_TYPE_TIMESTAMP},
                                         {.kind = SILT_TYPE_TIMESTAMP_NTZ}};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

static bool is_time(silt_type_kind kind)
{
    return kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
}

/* -0.0 is 0.0 where numbers are compared; its sign is kept in text. */
static void check_partition_text(struct sl_arena *arena, const struct silt_type *type, const silt_value *value)
{
    struct sl_buf text;
    silt_value again;
    bool is_local = true;
    int order = 1;
    sl_buf_init(&text, fuzz_env());
    FUZZ_CHECK(sl_partition_value_format(&text, value, NULL) == SILT_OK);
    FUZZ_CHECK(sl_partition_value_parse(arena, sl_buf_view(&text), type, &again, &is_local, NULL) == SILT_OK);
    FUZZ_CHECK(!is_local);
    FUZZ_CHECK(fuzz_same_value(value, &again));
    FUZZ_CHECK(sl_value_compare(value, &again, &order) && order == 0);
    sl_buf_release(&text);
}

/* A bound that is written is read back: exactly, but for the milliseconds of times. */
static void check_statistics(struct sl_arena *arena, const struct silt_type *type, const silt_value *value)
{
    struct sl_buf text;
    struct sl_json_writer writer;
    struct sl_json_doc *doc = NULL;
    silt_value again;
    sl_buf_init(&text, fuzz_env());
    sl_json_writer_init(&writer, &text);
    if (sl_stats_value_write(&writer, value)) {
        FUZZ_CHECK(sl_json_parse(fuzz_env(), sl_buf_view(&text), &doc, NULL) == SILT_OK);
        FUZZ_CHECK(sl_stats_value_read(arena, sl_json_root(doc), type, &again));
        if (is_time(type->kind)) {
            FUZZ_CHECK(again.as.i64 <= value->as.i64 && value->as.i64 - again.as.i64 < 1000);
        } else {
            FUZZ_CHECK(fuzz_same_value(value, &again));
        }
    } else {
        FUZZ_CHECK(text.len == 0);
    }
    sl_json_free(doc);
    sl_buf_release(&text);
}

/* The literal that is printed stands for the value. */
static void check_literal(const silt_value *value)
{
    struct sl_buf text;
    silt_expr *expr = NULL;
    sl_buf_init(&text, fuzz_env());
    sl_value_print_sql(&text, value);
    if (silt_expr_parse(fuzz_env(), sl_buf_cstr(&text), text.len, NULL, &expr, NULL) == SILT_OK) {
        int order = 1;
        FUZZ_CHECK(expr->root->kind == SL_EXPR_CAST || expr->root->kind == SL_EXPR_LITERAL);
        if (expr->root->kind == SL_EXPR_LITERAL) {
            FUZZ_CHECK(sl_value_compare(value, &expr->root->value, &order) && order == 0);
        }
        FUZZ_CHECK(sl_str_eq_c(sl_buf_view(&text), silt_expr_text(expr)));
    } else {
        FUZZ_CHECK(value->kind == SILT_TYPE_STRING); /* text that is not UTF-8 cannot be in an expression */
    }
    sl_buf_clear(&text);
    sl_value_print_duckdb(&text, value);
    sl_value_print(&text, value);
    FUZZ_CHECK(text.status == SILT_OK);
    silt_expr_unref(expr);
    sl_buf_release(&text);
}

/* To itself a cast is the identity; text that a cast takes, it takes from its own print. */
static void check_casts(struct sl_arena *arena, const struct silt_type *type, const silt_value *value)
{
    silt_value other;
    silt_value back;
    FUZZ_CHECK(sl_value_cast(arena, value, type, &other));
    FUZZ_CHECK(fuzz_same_value(value, &other));
    for (size_t i = 0; i < N_TYPES; i++) {
        if (sl_value_cast(arena, value, &types[i], &other) && sl_value_cast(arena, &other, type, &back) &&
            types[i].kind == SILT_TYPE_STRING) {
            int order = 1;
            FUZZ_CHECK(sl_value_compare(value, &back, &order) && order == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    const struct silt_type *type = &types[fuzz_pick(&in, N_TYPES)];
    const struct sl_str text = fuzz_rest(&in);
    struct sl_arena arena;
    silt_value value;
    bool is_local = false;
    sl_arena_init(&arena, fuzz_env());
    if (sl_partition_value_parse(&arena, text, type, &value, &is_local, NULL) == SILT_OK) {
        FUZZ_CHECK(value.kind == type->kind && value.is_null == (text.len == 0));
        FUZZ_CHECK(!is_local || type->kind == SILT_TYPE_TIMESTAMP);
        if (!value.is_null) {
            check_partition_text(&arena, type, &value);
            check_statistics(&arena, type, &value);
            check_literal(&value);
            check_casts(&arena, type, &value);
        }
    }
    for (int is_string = 0; is_string < 2; is_string++) {
        if (sl_stats_text_read(text, is_string == 1, type, &value)) {
            FUZZ_CHECK(value.kind == type->kind && !value.is_null);
        }
    }
    sl_arena_release(&arena);
    return 0;
}
