/*
 * Faults that users met in skipping by statistics and partition values, one test for each kind of report: null and empty partition values,
 * zones, timestamps of old, decimals through doubles, tokens that are no JSON, partial statistics, pushed-down predicates, configured
 * columns, counts, names with dots, types of checkpoints.
 */
#include "kernel/scan/data_skip.h"

#include <string.h>

#include "base/arrow.h"
#include "kernel/scan/stats_arrow.h"
#include "kernel/scan/stats_reader.h"
#include "model_fixture.h"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"

/* Columns of all kinds; p, d and q are partition columns. */
static silt_schema *make_schema(struct model *m)
{
    static const char json[] =
        "{\"type\":\"struct\",\"fields\":[" FIELD("x", "\"long\"") "," FIELD("y", "\"double\"") "," FIELD("n", "\"decimal(18,0)\"") "," FIELD("w", "\"decimal(38,6)\"") "," FIELD("ts", "\"timestamp\"") "," FIELD(
            "a.b",
            "\"integer\"") "," FIELD("a",
                                     "{\"type\":\"struct\",\"fields\":[" FIELD(
                                         "b",
                                         "\"integer\"") "]}") "," FIELD("Extract Year",
                                                                        "\"integer\"") "," FIELD("q`t",
                                                                                                 "\"integer\"") "," FIELD("p",
                                                                                                                          "\"string\"") "," FIELD("d",
                                                                                                                                                  "\"timestamp\"") "," FIELD("q",
                                                                                                                                                                             "\"integer\"") "]}";
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(&m->test.env, json, sizeof(json) - 1, &schema, NULL), SILT_OK);
    return schema;
}

struct file {
    const char *stats; /* NULL: none */
    const char *p;     /* partition values as the log has them; NULL: null */
    const char *d;
    const char *q;
};

/* Would this file be read? */
static bool reads(struct model *m, const char *predicate, const struct file *file)
{
    static const char *const names[] = {"p", "d", "q"};
    const char *const texts[] = {file->p, file->d, file->q};
    silt_schema *schema = make_schema(m);
    silt_expr *expr = model_expr(m, predicate, schema);
    struct sl_partition_column partitions[3];
    struct sl_kv pairs[3];
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct silt_field *field = sl_type_find(&schema->root, sl_str_from(names[i]), NULL);
        partitions[i] = sl_partition_column_of(field, field);
        if (texts[i] != NULL) {
            pairs[n++] = (struct sl_kv){.key = sl_str_from(names[i]), .value = sl_str_from(texts[i])};
        }
    }
    struct sl_scan_filter filter;
    struct sl_partition_pruner pruner;
    struct sl_bounds bounds[16];
    const struct sl_partition_tuple *tuple = NULL;
    const struct sl_kv_list values = {pairs, n};
    assert_int_equal(sl_scan_filter_make(&m->arena, expr, schema, partitions, 3, &filter, NULL), SILT_OK);
    sl_partition_pruner_init(&pruner, &m->arena, &filter);
    assert_int_equal(sl_partition_pruner_find(&pruner, &values, SL_STR("f"), &tuple, &m->err), SILT_OK);
    assert_int_equal(
        sl_stats_bounds_from_json(sl_str_from(file->stats), filter.columns, filter.n_columns, &m->arena, bounds, NULL),
        SILT_OK);
    const bool keep = !tuple->dropped && sl_data_skip_may_match(&filter, tuple, bounds, &m->arena);
    sl_partition_pruner_release(&pruner);
    silt_expr_unref(expr);
    silt_schema_unref(schema);
    return keep;
}

static bool reads_stats(struct model *m, const char *predicate, const char *stats)
{
    return reads(m, predicate, &(struct file){.stats = stats});
}

static void null_and_empty_partition_values_are_null_however_written(void **state)
{
    struct model *m = *state;
    const struct file null = {.p = NULL};
    const struct file empty = {.p = "", .q = ""};
    const struct file text = {.p = "abc", .q = "5"};
    const struct file *const nulls[] = {&null, &empty};
    for (size_t i = 0; i < 2; i++) {
        assert_true(reads(m, "p IS NULL", nulls[i]));
        assert_true(reads(m, "q IS NULL", nulls[i]));
        assert_true(reads(m, "p <=> NULL", nulls[i]));
        assert_false(reads(m, "p = ''", nulls[i]));
        assert_false(reads(m, "q <> 5", nulls[i]));
        assert_false(reads(m, "NOT (p = 'abc')", nulls[i]));
        assert_false(reads(m, "p IS NOT NULL", nulls[i]));
    }
    assert_false(reads(m, "p IS NULL", &text));
    assert_true(reads(m, "q = 5 AND p = 'abc'", &text));
}

static void timestamps_of_partitions_are_instants_in_every_form(void **state)
{
    struct model *m = *state;
    static const char *const forms[] = {"2020-05-05 00:00:00.1", "2020-05-05T00:00:00.100000Z",
                                        "2020-05-05T02:00:00.1+02:00", "2020-05-05 00:00:00.100000"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const struct file file = {.d = forms[i]};
        assert_true(reads(m, "d = TIMESTAMP '2020-05-05 00:00:00.1Z'", &file));
        assert_true(reads(m, "d BETWEEN '2020-05-05 00:00:00.1' AND '2020-05-05 00:00:00.1'", &file));
        assert_false(reads(m, "d > TIMESTAMP '2020-05-05 02:00:00.1+02:00'", &file));
        assert_false(reads(m, "d < TIMESTAMP '2020-05-05 00:00:00.1Z'", &file));
    }
}

static void statistics_of_old_timestamps_with_seconds_in_their_offset(void **state)
{
    struct model *m = *state;
    static const char *const stats[] = {
        "{\"numRecords\":1,\"minValues\":{\"ts\":\"0202-10-21T00:00:00.000+00:53:28\"},"
        "\"maxValues\":{\"ts\":\"0202-10-21T00:00:00.000+00:53:28\"}}",
        "{\"numRecords\":1,\"minValues\":{\"ts\":\"0202-10-21T00:00:00.000+00:53\"},"
        "\"maxValues\":{\"ts\":\"0202-10-21T00:00:00.000+00:53\"}}",
        "{\"numRecords\":1,\"minValues\":{\"ts\":\"in the days of old\"},\"maxValues\":{\"ts\":\"+00:00:99\"}}"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(reads_stats(m, "ts = TIMESTAMP '0202-10-20 23:06:32Z'", stats[i]));
    }
    assert_false(reads_stats(m, "ts > TIMESTAMP '0203-01-01 00:00:00Z'", stats[0]));
    assert_false(reads_stats(m, "ts > TIMESTAMP '0203-01-01 00:00:00Z'", stats[1]));
    assert_true(reads_stats(m, "ts > TIMESTAMP '0203-01-01 00:00:00Z'", stats[2]));
}

static void statistics_of_decimals_in_every_form_of_number(void **state)
{
    struct model *m = *state;
    static const char one[] = "{\"numRecords\":1,\"minValues\":{\"n\":1.0},\"maxValues\":{\"n\":1e3}}";
    assert_true(reads_stats(m, "n = 1", one));
    assert_true(reads_stats(m, "n = 1000", one));
    assert_false(reads_stats(m, "n = 1001", one));
    assert_false(reads_stats(m, "n < 1", one));
    /* What 999999999999999999 becomes by way of a double does not fit its type. */
    static const char rounded[] = "{\"numRecords\":1,\"minValues\":{\"n\":1e18},\"maxValues\":{\"n\":1e18}}";
    assert_true(reads_stats(m, "n = 999999999999999999", rounded));
    static const char wide[] = "{\"numRecords\":1,\"minValues\":{\"w\":1e18},\"maxValues\":{\"w\":1e18}}";
    assert_true(reads_stats(m, "w = 999999999999999999", wide));
    assert_false(reads_stats(m, "w = 999999999999990000", wide));
    static const char beyond[] =
        "{\"numRecords\":1,\"minValues\":{\"w\":1e32},\"maxValues\":{\"w\":12345678901234567890.123}}";
    assert_true(reads_stats(m, "w = 5", beyond));
    static const char text[] = "{\"numRecords\":1,\"minValues\":{\"w\":\"0.000001\"},\"maxValues\":{\"w\":\"2.5\"}}";
    assert_false(reads_stats(m, "w > 2.5", text));
    assert_false(reads_stats(m, "w = 0", text));
}

static void statistics_with_tokens_that_are_no_json_are_none(void **state)
{
    struct model *m = *state;
    assert_true(reads_stats(m, "y > 5", "{\"numRecords\":2,\"minValues\":{\"y\":1.0},\"maxValues\":{\"y\":Infinity}}"));
    assert_true(reads_stats(m, "y > 5", "{\"numRecords\":2,\"minValues\":{\"y\":1.0},\"maxValues\":{\"y\":NaN}}"));
    assert_true(
        reads_stats(m, "x > 5", "{\"numRecords\":2,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":2,\"y\":-Infinity}}"));
    assert_true(
        reads_stats(m, "y = 7", "{\"numRecords\":2,\"minValues\":{\"y\":-0.0},\"maxValues\":{\"y\":\"Infinity\"}}"));
    assert_true(reads_stats(m, "y = 0.0", "{\"numRecords\":2,\"minValues\":{\"y\":-0.0},\"maxValues\":{\"y\":-0.0}}"));
    assert_false(reads_stats(m, "y = 1", "{\"numRecords\":2,\"minValues\":{\"y\":-0.0},\"maxValues\":{\"y\":0.0}}"));
}

static void partial_statistics_keep_what_they_do_not_rule_out(void **state)
{
    struct model *m = *state;
    static const char *const partial[] = {NULL,
                                          "",
                                          "null",
                                          "{}",
                                          "{\"numRecords\":3}",
                                          "{\"numRecords\":3,\"nullCount\":{}}",
                                          "{\"maxValues\":{\"y\":1}}",
                                          "{\"minValues\":{\"x\":null},\"maxValues\":{\"x\":null}}"};
    static const char *const predicates[] = {"x = 1",         "x > 1 AND x < 0 + 9", "x IS NULL",
                                             "x IS NOT NULL", "x NOT IN (1)",        "x <=> NULL"};
    for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++) {
        for (size_t k = 0; k < sizeof(predicates) / sizeof(predicates[0]); k++) {
            assert_true(reads_stats(m, predicates[k], partial[i]));
        }
    }
    assert_false(reads_stats(m, "x < 5", "{\"minValues\":{\"x\":5}}"));
    assert_true(reads_stats(m, "x > 5", "{\"minValues\":{\"x\":5}}"));
}

static void predicates_are_pushed_down_with_three_truths(void **state)
{
    struct model *m = *state;
    static const char one_to_three[] =
        "{\"numRecords\":3,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":3},\"nullCount\":{\"x\":0}}";
    static const char all_null[] = "{\"numRecords\":3,\"nullCount\":{\"x\":3}}";
    static const struct {
        const char *predicate;
        bool values;
        bool nulls;
    } cases[] = {{"x < 2 AND x IS NOT NULL", true, false},
                 {"x < 2 AND CAST(x AS STRING) LIKE '%7'", true, false},
                 {"x > 5 OR CAST(x AS STRING) LIKE '%7'", true, false},
                 {"NOT (x < 5)", false, false},
                 {"NOT (x > 5 AND CAST(x AS STRING) LIKE '%7')", true, false},
                 {"x IS NULL", false, true},
                 {"x <=> NULL", false, true},
                 {"NOT (x <=> NULL)", true, false},
                 {"x <> 5", true, false},
                 {"x IN (7, NULL)", false, false},
                 {"x IN (2, NULL)", true, false},
                 {"x NOT IN (7, NULL)", false, false},
                 {"x NOT BETWEEN 1 AND 3", false, false},
                 {"(x > 5) IS NULL", false, true},
                 {"(x > 5) IS NOT TRUE", true, true},
                 {"x + 1 > 4", false, false},
                 {"CAST(x AS DOUBLE) > 3.5D", false, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (reads_stats(m, cases[i].predicate, one_to_three) != cases[i].values ||
            (!cases[i].nulls && strstr(cases[i].predicate, "LIKE") == NULL &&
             reads_stats(m, cases[i].predicate, all_null)) ||
            (cases[i].nulls && !reads_stats(m, cases[i].predicate, all_null))) {
            fail_msg("%s", cases[i].predicate);
        }
    }
}

static void columns_that_statistics_leave_out_are_not_filtered_by_them(void **state)
{
    struct model *m = *state;
    /* As written under a list of columns "x, `a.b`": the others are missing, whatever their order. */
    static const char stats[] =
        "{\"numRecords\":3,\"minValues\":{\"x\":1,\"a.b\":10},\"maxValues\":{\"x\":3,\"a.b\":20},"
        "\"nullCount\":{\"x\":0,\"a.b\":0}}";
    assert_true(reads_stats(m, "y = 7", stats));
    assert_true(reads_stats(m, "a.b = 7", stats));
    assert_true(reads_stats(m, "`q``t` IS NULL", stats));
    assert_false(reads_stats(m, "y = 7 AND `a.b` = 7", stats));
}

static void names_with_dots_are_names_and_paths_are_paths(void **state)
{
    struct model *m = *state;
    static const char stats[] =
        "{\"numRecords\":3,\"minValues\":{\"a.b\":10,\"a\":{\"b\":1},\"Extract Year\":2020,\"q`t\":5},"
        "\"maxValues\":{\"a.b\":20,\"a\":{\"b\":2},\"Extract Year\":2020,\"q`t\":6}}";
    assert_true(reads_stats(m, "`a.b` = 15", stats));
    assert_false(reads_stats(m, "`a.b` = 2", stats));
    assert_true(reads_stats(m, "a.b = 2", stats));
    assert_false(reads_stats(m, "a.b = 15", stats));
    assert_false(reads_stats(m, "`Extract Year` = 2021", stats));
    assert_false(reads_stats(m, "`q``t` > 6", stats));
}

static void counts_are_answered_from_statistics_only_when_exact(void **state)
{
    struct model *m = *state;
    static const struct sl_str path[] = {{"x", 1}};
    const struct sl_skip_column x = {
        .path = path, .path_len = 1, .type = model_type(m, "bigint"), .physical_path = path};
    struct sl_claims claims;
    struct sl_bounds bounds;
    int64_t live = 0;
    silt_value value;
    assert_int_equal(
        sl_stats_claims_from_json(SL_STR("{\"numRecords\":10,\"tightBounds\":false,\"minValues\":{\"x\":1}}"), &x, 1,
                                  &m->arena, &claims, &bounds, NULL),
        SILT_OK);
    assert_true(sl_stats_live_rows(&claims, 4, &live));
    assert_int_equal(live, 6);
    assert_false(sl_stats_extreme(&(struct sl_column_claims){&claims, &x, &bounds, 4}, false, &value));
    assert_int_equal(sl_stats_claims_from_json((struct sl_str){NULL, 0}, &x, 1, &m->arena, &claims, &bounds, NULL),
                     SILT_OK);
    assert_false(sl_stats_live_rows(&claims, 0, &live));
    assert_int_equal(sl_stats_claims_from_json(SL_STR("{\"numRecords\":0}"), &x, 1, &m->arena, &claims, &bounds, NULL),
                     SILT_OK);
    assert_true(sl_stats_live_rows(&claims, 0, &live));
    assert_int_equal(live, 0);
}

static void typed_columns_of_checkpoints_of_another_type_never_mislead(void **state)
{
    struct model *m = *state;
    /* A format that a checkpoint may have, the column's type now, whether a bound may be taken from it. */
    static const struct {
        const char *format;
        const char *type;
        bool taken;
    } cases[] = {{"i", "bigint", true},
                 {"l", "bigint", true},
                 {"l", "timestamp", false},
                 {"l", "timestamp_ntz", false},
                 {"tsu:", "timestamp", true},
                 {"tsu:UTC", "timestamp", true},
                 {"tdD", "timestamp_ntz", true},
                 {"tdD", "timestamp", false},
                 {"d:5,2", "decimal(10,2)", true},
                 {"d:5,2", "decimal(10,4)", true},
                 {"f", "double", true},
                 {"i", "double", true},
                 {"i", "decimal(12,2)", true},
                 {"u", "bigint", false},
                 {"tsu:UTC", "date", false},
                 {"b", "int", false}};
    static const struct sl_str path[] = {{"x", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct sl_skip_column x = {
            .path = path, .path_len = 1, .type = model_type(m, cases[i].type), .physical_path = path};
        struct ArrowSchema leaf = {.format = cases[i].format, .name = "x"};
        struct ArrowSchema *leaves[] = {&leaf};
        struct ArrowSchema parts[] = {{.format = "+s", .name = "minValues", .n_children = 1, .children = leaves},
                                      {.format = "+s", .name = "maxValues", .n_children = 1, .children = leaves}};
        struct ArrowSchema *children[] = {&parts[0], &parts[1]};
        const struct ArrowSchema top = {.format = "+s", .n_children = 2, .children = children};
        struct sl_stats_arrow stats;
        assert_int_equal(sl_stats_arrow_bind(&stats, &m->arena, &top, &x, 1, NULL), SILT_OK);
        if (sl_stats_arrow_covers(&stats, 0) != cases[i].taken) {
            fail_msg("%s for %s", cases[i].format, cases[i].type);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(null_and_empty_partition_values_are_null_however_written),
        MODEL_TEST(timestamps_of_partitions_are_instants_in_every_form),
        MODEL_TEST(statistics_of_old_timestamps_with_seconds_in_their_offset),
        MODEL_TEST(statistics_of_decimals_in_every_form_of_number),
        MODEL_TEST(statistics_with_tokens_that_are_no_json_are_none),
        MODEL_TEST(partial_statistics_keep_what_they_do_not_rule_out),
        MODEL_TEST(predicates_are_pushed_down_with_three_truths),
        MODEL_TEST(columns_that_statistics_leave_out_are_not_filtered_by_them),
        MODEL_TEST(names_with_dots_are_names_and_paths_are_paths),
        MODEL_TEST(counts_are_answered_from_statistics_only_when_exact),
        MODEL_TEST(typed_columns_of_checkpoints_of_another_type_never_mislead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
