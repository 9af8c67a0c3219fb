/*
 * Making engines: what is checked of handlers, and that the dispatch judges what they return.
 */
#include "test_env.h"

#include <string.h>

#include "base/arrow.h"
#include "kernel/engine/engine.h"
#include "silt/version.h"

struct handler {
    struct test_env test;
    silt_storage_registry *stores;
    silt_error err;
    size_t n_closed;
    silt_status answer;
};

static void close_handler(void *impl)
{
    ((struct handler *)impl)->n_closed++;
}

static silt_status answer_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                               struct ArrowArrayStream *out, silt_error *err)
{
    (void)call;
    (void)request;
    (void)out;
    (void)err;
    return ((struct handler *)impl)->answer;
}

static silt_status answer_write(void *impl, const silt_call *call, const silt_parquet_write *request,
                                struct ArrowArrayStream *rows, silt_error *err)
{
    (void)call;
    (void)request;
    (void)rows;
    (void)err;
    return ((struct handler *)impl)->answer;
}

static const silt_parquet_handler_vtable good_parquet = {.size = sizeof(silt_parquet_handler_vtable),
                                                         .abi_version = SILT_ABI_VERSION,
                                                         .name = "test",
                                                         .close = close_handler,
                                                         .read = answer_read,
                                                         .write = answer_write};

static int setup(void **state)
{
    static struct handler h;
    h = (struct handler){.err = SILT_ERROR_INIT};
    test_env_init(&h.test);
    assert_int_equal(silt_storage_registry_new(&h.test.env, &h.stores, &h.err), SILT_OK);
    *state = &h;
    return 0;
}

static int teardown(void **state)
{
    struct handler *h = *state;
    silt_storage_registry_free(h->stores);
    test_env_check(&h->test);
    return 0;
}

static silt_engine_options options_for(struct handler *h, const silt_parquet_handler_vtable *parquet)
{
    return (silt_engine_options){.size = sizeof(silt_engine_options),
                                 .abi_version = SILT_ABI_VERSION,
                                 .env = &h->test.env,
                                 .stores = h->stores,
                                 .parquet = {parquet, h}};
}

static void expect_refused(struct handler *h, const silt_engine_options *options, const char *in_message)
{
    silt_engine *engine = NULL;
    assert_int_equal(silt_engine_new(options, &engine, &h->err), SILT_EINVALID);
    assert_null(engine);
    assert_non_null(strstr(h->err.message, in_message));
    assert_int_equal(h->n_closed, 0);
}

static void a_handler_without_a_required_slot_is_named(void **state)
{
    struct handler *h = *state;
    silt_parquet_handler_vtable vtable = good_parquet;
    vtable.write = NULL;
    silt_engine_options options = options_for(h, &vtable);
    expect_refused(h, &options, "parquet handler test lacks the required slot write");
    vtable = good_parquet;
    vtable.abi_version = 77;
    expect_refused(h, &options, "ABI version 77");
    vtable = good_parquet;
    vtable.size = 16;
    expect_refused(h, &options, "16 bytes");
}

static void options_without_stores_are_refused(void **state)
{
    struct handler *h = *state;
    silt_engine_options options = options_for(h, &good_parquet);
    options.stores = NULL;
    expect_refused(h, &options, "registry of stores");
    options = options_for(h, &good_parquet);
    const silt_executor executor = {.size = sizeof(executor), .abi_version = SILT_ABI_VERSION};
    options.executor = &executor;
    expect_refused(h, &options, "slot run");
}

/* The engine takes the registry. */
static silt_engine *make_engine(struct handler *h, const silt_parquet_handler_vtable *parquet)
{
    const silt_engine_options options = options_for(h, parquet);
    silt_engine *engine = NULL;
    assert_int_equal(silt_engine_new(&options, &engine, &h->err), SILT_OK);
    h->stores = NULL;
    return engine;
}

static void an_older_handler_has_no_optional_slots(void **state)
{
    struct handler *h = *state;
    silt_parquet_handler_vtable vtable = good_parquet;
    vtable.size = offsetof(silt_parquet_handler_vtable, scan);
    vtable.scan = (silt_status(*)(void *, const silt_call *, const silt_scan_plan *, struct ArrowArrayStream *,
                                  silt_error *))(void (*)(void))close_handler; /* beyond its size: garbage */
    silt_engine *engine = make_engine(h, &vtable);
    assert_true(sl_engine_has_parquet(engine));
    assert_false(sl_engine_has_scan(engine));
    assert_false(sl_engine_has_expression(engine));
    silt_engine_unref(engine);
    assert_int_equal(h->n_closed, 1);
}

static void what_a_handler_returns_is_judged(void **state)
{
    struct handler *h = *state;
    silt_engine *engine = make_engine(h, &good_parquet);
    silt_schema *schema = NULL;
    static const char json[] = "{\"type\":\"struct\",\"fields\":[]}";
    assert_int_equal(silt_schema_from_json(&h->test.env, json, sizeof(json) - 1, &schema, &h->err), SILT_OK);
    silt_storage *store = NULL;
    assert_int_equal(silt_storage_memory_new(&h->test.env, &store, &h->err), SILT_OK);
    const silt_parquet_read request = {.size = sizeof(request), .storage = store, .schema = schema};
    struct ArrowArrayStream stream;
    h->answer = SILT_OK; /* but no stream */
    assert_int_equal(sl_parquet_read(engine, NULL, &request, &stream, &h->err), SILT_EENGINE);
    assert_non_null(strstr(h->err.message, "lacks a callback"));
    h->answer = (silt_status)999;
    assert_int_equal(sl_parquet_read(engine, NULL, &request, &stream, &h->err), SILT_EENGINE);
    assert_non_null(strstr(h->err.message, "999 is no status"));
    h->answer = SILT_EIO; /* without a word */
    assert_int_equal(sl_parquet_read(engine, NULL, &request, &stream, &h->err), SILT_EIO);
    assert_non_null(strstr(h->err.message, "told nothing else"));
    silt_storage_unref(store);
    silt_schema_unref(schema);
    silt_engine_unref(engine);
}

static void absent_handlers_are_told(void **state)
{
    struct handler *h = *state;
    silt_engine *engine = make_engine(h, NULL);
    struct ArrowArrayStream in = {0};
    struct ArrowArrayStream out;
    const silt_parquet_read request = {.size = sizeof(request)};
    assert_int_equal(sl_parquet_read(engine, NULL, &request, &out, &h->err), SILT_EUNSUPPORTED);
    assert_int_equal(sl_expression_filter(engine, NULL, &in, NULL, &out, &h->err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(h->err.message, "expression handler"));
    silt_engine_unref(silt_engine_ref(engine));
    silt_engine_unref(engine);
    silt_engine_unref(NULL);
}

static void the_store_of_a_location_is_borrowed_from_the_engine(void **state)
{
    struct handler *h = *state;
    silt_storage *memory = NULL;
    silt_storage *found = NULL;
    assert_int_equal(silt_storage_memory_new(&h->test.env, &memory, &h->err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(h->stores, "memory", memory, &h->err), SILT_OK);
    silt_storage_unref(memory);
    silt_engine *engine = make_engine(h, NULL);
    assert_int_equal(silt_engine_storage(engine, "memory://a/b", &found, &h->err), SILT_OK);
    assert_non_null(found);
    assert_int_equal(silt_engine_storage(engine, "gs://a/b", &found, &h->err), SILT_EUNSUPPORTED);
    assert_null(found);
    assert_non_null(strstr(h->err.message, "gs"));
    assert_int_equal(silt_engine_storage(engine, NULL, &found, &h->err), SILT_EINVALID);
    silt_engine_unref(engine);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_handler_without_a_required_slot_is_named),
        TEST(options_without_stores_are_refused),
        TEST(an_older_handler_has_no_optional_slots),
        TEST(what_a_handler_returns_is_judged),
        TEST(absent_handlers_are_told),
        TEST(the_store_of_a_location_is_borrowed_from_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
