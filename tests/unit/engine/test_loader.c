/*
 * Finding the library of the data plane, and the default engine without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arrow.h"
#include "engine/dataplane.h"
#include "engine/loader.h"
#include "kernel/engine/engine.h"
#include "silt/silt.h"

static void missing_library_says_where_it_was_looked_for(void **state)
{
    (void)state;
    const struct sl_dataplane_vtable *vtable = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(0, setenv("SILT_ENGINE_PATH", "/nowhere/at/all.so", 1));
    assert_int_equal(SILT_EUNSUPPORTED, sl_dataplane_load(silt_env_default(), &vtable, &err));
    assert_null(vtable);
    assert_string_equal(err.code_name, "SILT_ENGINE_NOT_FOUND");
    assert_non_null(strstr(err.message, "/nowhere/at/all.so"));
    assert_non_null(strstr(err.hint, "SILT_ENGINE_PATH"));
}

static void folder_is_searched_for_the_library(void **state)
{
    (void)state;
    const struct sl_dataplane_vtable *vtable = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(0, setenv("SILT_ENGINE_PATH", "/tmp", 1));
    assert_int_equal(SILT_EUNSUPPORTED, sl_dataplane_load(silt_env_default(), &vtable, &err));
    assert_non_null(strstr(err.message, "/tmp/libsilt_duckdb.so"));
}

static void library_of_another_kind_is_refused(void **state)
{
    (void)state;
    const struct sl_dataplane_vtable *vtable = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(SILT_EUNSUPPORTED, sl_dataplane_load_file("libm.so.6", &vtable, &err));
    assert_non_null(strstr(err.message, "is no engine of silt"));
}

static void default_engine_lives_without_the_library(void **state)
{
    (void)state;
    silt_engine *engine = NULL;
    silt_storage *store = NULL;
    struct sl_dataplane_ref plane;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(0, setenv("SILT_ENGINE_PATH", "/nowhere/at/all.so", 1));
    assert_int_equal(SILT_OK, silt_engine_default_new(NULL, &engine, &err));
    assert_true(sl_engine_has_parquet(engine));
    assert_true(sl_engine_has_scan(engine));
    assert_true(sl_engine_has_expression(engine));
    assert_non_null(sl_engine_executor(engine));
    assert_int_equal(SILT_OK, sl_engine_storage(engine, "/tmp/x", &store, &err));
    assert_int_equal(SILT_OK, sl_engine_storage(engine, "memory://a/b", &store, &err));
    assert_int_equal(SILT_EUNSUPPORTED, sl_engine_dataplane(engine, &plane, &err));
    assert_string_equal(err.code_name, "SILT_ENGINE_NOT_FOUND");
    assert_null(plane.dp);
    silt_engine_unref(engine);
}

static void handlers_fail_without_the_library_and_release_rows(void **state)
{
    (void)state;
    silt_engine *engine = NULL;
    silt_error err = SILT_ERROR_INIT;
    struct ArrowSchema schema = {0};
    struct ArrowArrayStream rows = {0};
    struct ArrowArrayStream out = {0};
    silt_schema *empty = NULL;
    silt_expr *expr = NULL;
    const char *const json =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";
    assert_int_equal(SILT_OK, silt_engine_default_new(NULL, &engine, &err));
    assert_int_equal(SILT_OK, silt_schema_from_json(silt_env_default(), json, strlen(json), &empty, &err));
    assert_int_equal(SILT_OK, silt_schema_to_arrow(empty, &schema, &err));
    assert_int_equal(SILT_OK, silt_expr_parse(silt_env_default(), "a = 1", 5, empty, &expr, &err));
    assert_int_equal(SILT_OK, sl_arrow_stream_from_batches(silt_env_default(), &schema, NULL, 0, &rows, &err));
    assert_int_equal(SILT_EUNSUPPORTED, sl_expression_filter(engine, NULL, &rows, expr, &out, &err));
    assert_null(rows.release);
    silt_expr_unref(expr);
    silt_schema_unref(empty);
    silt_engine_unref(engine);
}

static void options_are_checked(void **state)
{
    (void)state;
    silt_engine *engine = NULL;
    silt_error err = SILT_ERROR_INIT;
    const silt_default_engine_options relative = {.size = sizeof(relative), .temp_dir = "tmp"};
    assert_int_equal(SILT_EINVALID, silt_engine_default_new(&relative, &engine, &err));
    const silt_default_engine_options small = {.size = 4};
    assert_int_equal(SILT_EINVALID, silt_engine_default_new(&small, &engine, &err));
    assert_null(engine);
}

static void engines_of_others_have_no_data_plane(void **state)
{
    (void)state;
    silt_storage_registry *stores = NULL;
    silt_engine *engine = NULL;
    struct sl_dataplane_ref plane;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(SILT_OK, silt_storage_registry_new(silt_env_default(), &stores, &err));
    const silt_engine_options options = {.size = sizeof(options), .abi_version = SILT_ABI_VERSION, .stores = stores};
    assert_int_equal(SILT_OK, silt_engine_new(&options, &engine, &err));
    assert_int_equal(SILT_EENGINE, sl_engine_dataplane(engine, &plane, &err));
    silt_engine_unref(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_library_says_where_it_was_looked_for),
        cmocka_unit_test(folder_is_searched_for_the_library),
        cmocka_unit_test(library_of_another_kind_is_refused),
        cmocka_unit_test(default_engine_lives_without_the_library),
        cmocka_unit_test(handlers_fail_without_the_library_and_release_rows),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(engines_of_others_have_no_data_plane),
    };
    return cmocka_run_group_tests_name("loader", tests, NULL, NULL);
}
