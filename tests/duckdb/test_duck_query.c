/*
 * Queries, parse trees, descriptions, parameters and errors of the data plane.
 */
#include "duck_fixture.h"
#include "rows_text.h"

#include <string.h>

#include "base/arrow.h"

static void query_gives_rows(void **state)
{
    struct duck_fixture *fx = *state;
    assert_string_equal(duck_text(fx, "SELECT 1 AS a, 'x' AS b, NULL::INT AS c UNION ALL SELECT 2, 'y', 3 ORDER BY 1"),
                        "1|x|NULL\n2|y|3\n");
}

static void large_result_is_streamed_whole(void **state)
{
    struct duck_fixture *fx = *state;
    struct ArrowArrayStream stream = {0};
    assert_int_equal(SILT_OK, fx->plane.vtable->query(fx->plane.dp, NULL, SL_STR("SELECT i FROM range(1000000) t(i)"),
                                                      NULL, &stream, &fx->err));
    int64_t rows = 0;
    bool done = false;
    while (!done) {
        struct ArrowArray batch = {0};
        assert_int_equal(SILT_OK, sl_arrow_stream_next(&stream, &batch, &done, &fx->err));
        if (!done) {
            assert_int_equal(rows, ((const int64_t *)batch.children[0]->buffers[1])[batch.children[0]->offset]);
            rows += batch.length;
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_stream_release(&stream);
    assert_int_equal(1000000, rows);
}

static const char *format_of(struct duck_fixture *fx, const char *sql)
{
    struct ArrowSchema schema = {0};
    assert_int_equal(SILT_OK, fx->plane.vtable->describe(fx->plane.dp, sl_str_from(sql), NULL, &schema, &fx->err));
    assert_int_equal(1, schema.n_children);
    const char *format = sl_arena_strdup(&fx->arena, sl_str_from(schema.children[0]->format));
    sl_arrow_schema_release(&schema);
    return format;
}

static void types_come_out_as_silt_hands_them_out(void **state)
{
    struct duck_fixture *fx = *state;
    assert_string_equal("b", format_of(fx, "SELECT true"));
    assert_string_equal("c", format_of(fx, "SELECT 1::TINYINT"));
    assert_string_equal("l", format_of(fx, "SELECT 1::BIGINT"));
    assert_string_equal("u", format_of(fx, "SELECT 'x'"));
    assert_string_equal("z", format_of(fx, "SELECT 'x'::BLOB"));
    assert_string_equal("d:38,10,128", format_of(fx, "SELECT 1::DECIMAL(38,10)"));
    assert_string_equal("tdD", format_of(fx, "SELECT DATE '2020-01-01'"));
    assert_string_equal("tsu:", format_of(fx, "SELECT TIMESTAMP '2020-01-01'"));
    assert_string_equal("tsu:UTC", format_of(fx, "SELECT TIMESTAMPTZ '2020-01-01'"));
    assert_string_equal("+l", format_of(fx, "SELECT [1]"));
    assert_string_equal("+m", format_of(fx, "SELECT map{'a': 1}"));
    assert_string_equal("+s", format_of(fx, "SELECT {a: 1}"));
}

static void instants_say_utc_in_any_session_zone(void **state)
{
    struct duck_fixture *fx = *state;
    assert_int_equal(SILT_OK,
                     fx->plane.vtable->set_option(fx->plane.dp, SL_STR("TimeZone"), SL_STR("Asia/Tokyo"), &fx->err));
    assert_string_equal("tsu:UTC", format_of(fx, "SELECT TIMESTAMPTZ '2020-01-01'"));
    assert_string_equal("2019-12-31 15:00:00\n",
                        duck_text(fx, "SELECT TIMESTAMPTZ '2020-01-01 00:00:00' AT TIME ZONE 'UTC'"));
}

static void parse_gives_the_tree(void **state)
{
    struct duck_fixture *fx = *state;
    struct sl_buf json;
    sl_buf_init(&json, fx->env);
    assert_int_equal(SILT_OK, fx->plane.vtable->parse(fx->plane.dp, SL_STR("SELECT 'it''s' FROM a.b AT (VERSION => 3)"),
                                                      &json, &fx->err));
    assert_non_null(strstr(sl_buf_cstr(&json), "\"table_name\":\"b\""));
    assert_non_null(strstr(sl_buf_cstr(&json), "\"query_location\":20"));
    sl_buf_release(&json);
}

static void syntax_errors_have_byte_positions(void **state)
{
    struct duck_fixture *fx = *state;
    struct sl_buf json;
    sl_buf_init(&json, fx->env);
    const char *const sql = "SELECT 'é' frm x y z";
    assert_int_equal(SILT_ESYNTAX, fx->plane.vtable->parse(fx->plane.dp, sl_str_from(sql), &json, &fx->err));
    assert_string_equal("PARSE_SYNTAX_ERROR", fx->err.code_name);
    assert_int_equal(strstr(sql, "x y") - sql, fx->err.position);
    assert_int_equal(SILT_ESYNTAX, duck_try_query(fx, sql));
    assert_string_equal("PARSE_SYNTAX_ERROR", fx->err.code_name);
    assert_int_equal(strstr(sql, "x y") - sql, fx->err.position);
    sl_buf_release(&json);
}

static void errors_have_classes_and_positions(void **state)
{
    static const struct {
        const char *sql;
        silt_status status;
        const char *code;
        const char *at;
    } cases[] = {
        {"SELECT 'é', nope FROM range(2)", SILT_ESYNTAX, "UNRESOLVED_COLUMN", "nope"},
        {"SELECT * FROM nowhere", SILT_ESYNTAX, "TABLE_OR_VIEW_NOT_FOUND", "nowhere"},
        {"SELECT nofn(1)", SILT_ESYNTAX, "UNRESOLVED_ROUTINE", "nofn"},
        {"SELECT 'x'::INT", SILT_ESCHEMA, "CAST_INVALID_INPUT", NULL},
        {"SELECT 9223372036854775807 + 1::BIGINT", SILT_ESCHEMA, "ARITHMETIC_OVERFLOW", NULL},
        {"SELECT error('[MY_CHECK] it failed')", SILT_ECONSTRAINT, "MY_CHECK", NULL},
        {"SELECT $1", SILT_ESYNTAX, "UNBOUND_SQL_PARAMETER", NULL},
        {"SELECT * FROM read_parquet('/nowhere/x.parquet')", SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND", NULL},
    };
    struct duck_fixture *fx = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(cases[i].status, duck_try_query(fx, cases[i].sql));
        assert_string_equal(cases[i].code, fx->err.code_name);
        assert_null(strchr(fx->err.message, '\n'));
        if (cases[i].at != NULL) {
            assert_int_equal(strstr(cases[i].sql, cases[i].at) - cases[i].sql, fx->err.position);
        }
    }
}

static void make_params(struct duck_fixture *fx, struct ArrowSchema *schema, struct ArrowArray *row)
{
    silt_schema *types = duck_schema(fx, "{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                                         "{\"name\":\"b\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}");
    struct sl_arrow_builder *builder = NULL;
    assert_int_equal(SILT_OK, silt_schema_to_arrow(types, schema, &fx->err));
    assert_int_equal(SILT_OK, sl_arrow_builder_new(fx->env, schema, &builder, &fx->err));
    assert_int_equal(SILT_OK, sl_arrow_append_i64(sl_arrow_builder_child(builder, 0), 42, &fx->err));
    assert_int_equal(SILT_OK, sl_arrow_append_bytes(sl_arrow_builder_child(builder, 1), SL_STR("it's"), &fx->err));
    assert_int_equal(SILT_OK, sl_arrow_append_nested(builder, &fx->err));
    assert_int_equal(SILT_OK, sl_arrow_builder_finish(builder, row, &fx->err));
    sl_arrow_builder_free(builder);
    silt_schema_unref(types);
}

static void parameters_bind_by_name_and_by_position(void **state)
{
    struct duck_fixture *fx = *state;
    struct ArrowSchema schema = {0};
    struct ArrowArray row = {0};
    make_params(fx, &schema, &row);
    const struct sl_dataplane_params params = {&schema, &row};
    static const char *const texts[] = {"SELECT $b, $a + 1", "SELECT $2, $1 + 1"};
    for (size_t i = 0; i < 2; i++) {
        struct ArrowArrayStream stream = {0};
        assert_int_equal(
            SILT_OK, fx->plane.vtable->query(fx->plane.dp, NULL, sl_str_from(texts[i]), &params, &stream, &fx->err));
        sl_buf_clear(&fx->text);
        assert_int_equal(SILT_OK, rows_drain(&stream, &fx->text, &fx->err));
        assert_string_equal("it's|43\n", sl_buf_cstr(&fx->text));
    }
    static const char *const gaps[][2] = {{"SELECT $2", "$1 is not in the statement"},
                                          {"SELECT $1, $3", "$2 is not in the statement"},
                                          {"SELECT $1, $2, $3", "no value was given for parameter $3"}};
    for (size_t i = 0; i < 3; i++) {
        struct ArrowArrayStream stream = {0};
        assert_int_equal(SILT_ESYNTAX, fx->plane.vtable->query(fx->plane.dp, NULL, sl_str_from(gaps[i][0]), &params,
                                                               &stream, &fx->err));
        assert_string_equal("UNBOUND_SQL_PARAMETER", fx->err.code_name);
        assert_non_null(strstr(fx->err.message, gaps[i][1]));
    }
    struct ArrowSchema described = {0};
    assert_int_equal(SILT_OK, fx->plane.vtable->describe(fx->plane.dp, SL_STR("SELECT $a, $b || 'x' -- end"), &params,
                                                         &described, &fx->err));
    assert_int_equal(2, described.n_children);
    assert_string_equal("l", described.children[0]->format);
    assert_string_equal("u", described.children[1]->format);
    sl_arrow_schema_release(&described);
    sl_arrow_schema_release(&schema);
    sl_arrow_array_release(&row);
}

static void cancelled_query_ends_early(void **state)
{
    struct duck_fixture *fx = *state;
    volatile int cancel = 1;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancel};
    fx->call = &call;
    assert_int_equal(SILT_ECANCELLED, duck_try_query(fx, "SELECT count(*) FROM range(100000000) a, range(100000) b"));
    const silt_call late = {.size = sizeof(late),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = fx->env->monotonic_us(fx->env->ctx) + 30000};
    fx->call = &late;
    assert_int_equal(SILT_EDEADLINE, duck_try_query(fx, "SELECT count(*) FROM range(100000000) a, range(100000) b "
                                                        "WHERE a.range + b.range > 5"));
}

static void cancellation_reaches_a_running_stream(void **state)
{
    struct duck_fixture *fx = *state;
    volatile int cancel = 0;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancel};
    struct ArrowArrayStream stream = {0};
    assert_int_equal(SILT_OK, fx->plane.vtable->query(fx->plane.dp, &call, SL_STR("FROM range(1000000000)"), NULL,
                                                      &stream, &fx->err));
    struct ArrowArray batch = {0};
    bool done = false;
    assert_int_equal(SILT_OK, sl_arrow_stream_next(&stream, &batch, &done, &fx->err));
    sl_arrow_array_release(&batch);
    cancel = 1;
    silt_status status = SILT_OK;
    for (int i = 0; i < 1000000 && status == SILT_OK && !done; i++) {
        status = sl_arrow_stream_next(&stream, &batch, &done, &fx->err);
        sl_arrow_array_release(&batch);
    }
    assert_int_equal(SILT_ECANCELLED, status);
    sl_arrow_stream_release(&stream);
}

static void count_progress(void *ctx, const silt_progress *progress)
{
    assert_true(progress->fraction <= 1.0);
    (*(int *)ctx)++;
}

static void progress_is_told_while_a_query_runs(void **state)
{
    struct duck_fixture *fx = *state;
    int told = 0;
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .progress = count_progress, .progress_ctx = &told};
    fx->call = &call;
    assert_string_equal("200000000\n", duck_text(fx, "SELECT count(*) FROM range(200000000) t(i) WHERE hash(i) <> 1"));
    assert_true(told > 0);
}

/* With progress DuckDB is driven task by task, and says what failed in another place. */
static void a_query_with_progress_fails_as_one_without(void **state)
{
    struct duck_fixture *fx = *state;
    static const char *const statements[] = {
        "SELECT CAST('a' || range AS INT) FROM range(3)",
        "SELECT 2147483647::INT + range::INT FROM range(3)",
        "SELECT error('boom')",
        "COPY (FROM range(3)) TO '/nonexistent/x.csv'",
        "COPY (FROM range(100000)) TO '/dev/full' (FORMAT csv)",
    };
    int told = 0;
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .progress = count_progress, .progress_ctx = &told};
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        fx->call = NULL;
        const silt_status plain = duck_try_query(fx, statements[i]);
        const silt_error expected = fx->err;
        assert_int_not_equal(plain, SILT_OK);
        fx->call = &call;
        assert_int_equal(duck_try_query(fx, statements[i]), plain);
        assert_string_equal(fx->err.code_name, expected.code_name);
        assert_string_equal(fx->err.message, expected.message);
        assert_int_equal(fx->err.position, expected.position);
    }
}

static void options_are_set_for_all_connections(void **state)
{
    struct duck_fixture *fx = *state;
    assert_int_equal(SILT_OK,
                     fx->plane.vtable->set_option(fx->plane.dp, SL_STR("memory_limit"), SL_STR("500MB"), &fx->err));
    assert_string_equal("476.8 MiB\n", duck_text(fx, "SELECT current_setting('memory_limit')"));
    assert_int_not_equal(SILT_OK,
                         fx->plane.vtable->set_option(fx->plane.dp, SL_STR("no_such\" option"), SL_STR("1"), &fx->err));
}

static void extensions_are_never_fetched(void **state)
{
    struct duck_fixture *fx = *state;
    assert_string_equal("false|false\n",
                        duck_text(fx, "SELECT current_setting('autoinstall_known_extensions')::VARCHAR,"
                                      " current_setting('autoload_known_extensions')::VARCHAR"));
    assert_int_not_equal(SILT_OK, duck_try_query(fx, "SELECT * FROM read_parquet('s3://bucket/x.parquet')"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(query_gives_rows),
        TEST(large_result_is_streamed_whole),
        TEST(types_come_out_as_silt_hands_them_out),
        TEST(instants_say_utc_in_any_session_zone),
        TEST(parse_gives_the_tree),
        TEST(syntax_errors_have_byte_positions),
        TEST(errors_have_classes_and_positions),
        TEST(parameters_bind_by_name_and_by_position),
        TEST(cancelled_query_ends_early),
        TEST(cancellation_reaches_a_running_stream),
        TEST(progress_is_told_while_a_query_runs),
        TEST(a_query_with_progress_fails_as_one_without),
        TEST(options_are_set_for_all_connections),
        TEST(extensions_are_never_fetched),
    };
    return cmocka_run_group_tests_name("duck_query", tests, NULL, NULL);
}
