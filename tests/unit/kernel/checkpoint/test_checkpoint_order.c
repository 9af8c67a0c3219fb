/* Keys of adds: their bytes have the order of the values. */
#include "kernel/checkpoint/checkpoint_order.h"

#include <math.h>

#include "schema/value.h"
#include "test_env.h"

/* Each value stands before the next one. */
static void expect_ascending(const silt_value *values, size_t n)
{
    struct test_env t;
    struct sl_buf keys[16];
    test_env_init(&t);
    for (size_t i = 0; i < n; i++) {
        sl_buf_init(&keys[i], &t.env);
        sl_order_put_value(&keys[i], &values[i]);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            const int order = sl_order_compare(sl_buf_view(&keys[i]), sl_buf_view(&keys[k]));
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    }
    for (size_t i = 0; i < n; i++) {
        sl_buf_release(&keys[i]);
    }
    test_env_check(&t);
}

static void integers_by_value(void **state)
{
    (void)state;
    const silt_value values[] = {sl_value_null(SILT_TYPE_LONG),      sl_value_i64(SILT_TYPE_LONG, INT64_MIN),
                                 sl_value_i64(SILT_TYPE_LONG, -300), sl_value_i64(SILT_TYPE_LONG, -1),
                                 sl_value_i64(SILT_TYPE_LONG, 0),    sl_value_i64(SILT_TYPE_LONG, 255),
                                 sl_value_i64(SILT_TYPE_LONG, 256),  sl_value_i64(SILT_TYPE_LONG, INT64_MAX)};
    expect_ascending(values, 8);
}

static void doubles_by_value_and_nan_last(void **state)
{
    (void)state;
    const silt_value values[] = {sl_value_f64(SILT_TYPE_DOUBLE, -INFINITY), sl_value_f64(SILT_TYPE_DOUBLE, -1.5),
                                 sl_value_f64(SILT_TYPE_DOUBLE, -0.25),     sl_value_f64(SILT_TYPE_DOUBLE, 0.0),
                                 sl_value_f64(SILT_TYPE_DOUBLE, 2.0),       sl_value_f64(SILT_TYPE_DOUBLE, INFINITY),
                                 sl_value_f64(SILT_TYPE_DOUBLE, NAN)};
    expect_ascending(values, 7);
}

static void decimals_and_booleans_by_value(void **state)
{
    (void)state;
    const silt_value decimals[] = {
        sl_value_decimal(sl_i128_make(-2, 0), 38, 0), sl_value_decimal(sl_i128_make(-1, UINT64_MAX), 38, 0),
        sl_value_decimal(sl_i128_make(0, 0), 38, 0), sl_value_decimal(sl_i128_make(0, UINT64_MAX), 38, 0),
        sl_value_decimal(sl_i128_make(1, 0), 38, 0)};
    const silt_value flags[] = {sl_value_null(SILT_TYPE_BOOLEAN), sl_value_bool(false), sl_value_bool(true)};
    expect_ascending(decimals, 5);
    expect_ascending(flags, 3);
}

static void text_by_bytes_and_prefixes_first(void **state)
{
    (void)state;
    const silt_value values[] = {
        sl_value_null(SILT_TYPE_STRING),
        sl_value_bytes(SILT_TYPE_STRING, SL_STR("")),
        sl_value_bytes(SILT_TYPE_STRING, sl_str_make("\0", 1)),
        sl_value_bytes(SILT_TYPE_STRING, sl_str_make("\0a", 2)),
        sl_value_bytes(SILT_TYPE_STRING, SL_STR("a")),
        sl_value_bytes(SILT_TYPE_STRING, sl_str_make("a\0", 2)),
        sl_value_bytes(SILT_TYPE_STRING, SL_STR("ab")),
        sl_value_bytes(SILT_TYPE_STRING, SL_STR("b")),
        sl_value_bytes(SILT_TYPE_STRING, SL_STR("\xC3\xA9")),
    };
    expect_ascending(values, 9);
}

static void keys_follow_partition_columns_then_clustering(void **state)
{
    (void)state;
    static const char json[] = "{\"type\":\"struct\",\"fields\":["
                               "{\"name\":\"p\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"v\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";
    static const size_t first = 0;
    struct test_env t;
    silt_schema *schema = NULL;
    silt_schema *partition = NULL;
    struct sl_row_order *order = NULL;
    test_env_init(&t);
    assert_int_equal(silt_schema_from_json(&t.env, json, sizeof(json) - 1, &schema, NULL), SILT_OK);
    assert_int_equal(sl_schema_project(schema, &first, 1, &partition, NULL), SILT_OK);
    const struct sl_row_order_columns columns = {
        .partition = partition, .physical = schema, .clustering_json = SL_STR("{\"clusteringColumns\":[[\"v\"]]}")};
    assert_int_equal(sl_row_order_new(&t.env, &columns, &order, NULL), SILT_OK);
    assert_true(sl_row_order_needs_stats(order));
    static const struct {
        const char *p;
        const char *stats;
    } rows[] = {{NULL, "{}"},
                {"2", "{\"minValues\":{\"v\":9}}"},
                {"10", NULL},
                {"10", "{\"minValues\":{\"v\":-4}}"},
                {"10", "{\"minValues\":{\"v\":30}}"},
                {"11", "{\"minValues\":{\"v\":1}}"}};
    struct sl_buf before;
    sl_buf_init(&before, &t.env);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct sl_kv value = {SL_STR("p"), rows[i].p != NULL ? sl_str_from(rows[i].p) : (struct sl_str){NULL, 0}};
        const struct sl_kv_list values = {&value, 1};
        const struct sl_str stats = rows[i].stats != NULL ? sl_str_from(rows[i].stats) : (struct sl_str){NULL, 0};
        struct sl_str key;
        assert_int_equal(sl_row_order_key(order, &values, stats, &key, NULL), SILT_OK);
        assert_true(i == 0 || sl_order_compare(sl_buf_view(&before), key) < 0);
        sl_buf_clear(&before);
        sl_buf_put_str(&before, key);
    }
    sl_buf_release(&before);
    sl_row_order_free(order);
    silt_schema_unref(partition);
    silt_schema_unref(schema);
    test_env_check(&t);
}

static void tables_without_partitions_and_clustering_have_no_order(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_row_order *order = NULL;
    const struct sl_row_order_columns columns = {.clustering_json = SL_STR("not json")};
    test_env_init(&t);
    assert_int_equal(sl_row_order_new(&t.env, &columns, &order, NULL), SILT_OK);
    assert_null(order);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_by_value),
        cmocka_unit_test(doubles_by_value_and_nan_last),
        cmocka_unit_test(decimals_and_booleans_by_value),
        cmocka_unit_test(text_by_bytes_and_prefixes_first),
        cmocka_unit_test(keys_follow_partition_columns_then_clustering),
        cmocka_unit_test(tables_without_partitions_and_clustering_have_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
