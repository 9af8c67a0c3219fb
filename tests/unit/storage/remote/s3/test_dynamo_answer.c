/* Answers of DynamoDB, good and hostile. */
#include "storage/remote/s3/dynamo_answer.h"

#include <stdio.h>
#include <string.h>

#include "test_env.h"

#define TABLE "s3a://b/t"
#define NAME "00000000000000000007.json"
#define TEMP ".tmp/00000000000000000007.json.u"

/* An item with these values as JSON; NULL leaves the attribute out. */
static const char *make_item(const char *table, const char *name, const char *temp, const char *complete,
                             const char *expire)
{
    static char text[2048];
    const char *const pairs[][2] = {
        {"tablePath", table}, {"fileName", name}, {"tempPath", temp}, {"complete", complete}, {"expireTime", expire}};
    int len = snprintf(text, sizeof(text), "{\"other\":{\"L\":[]}");
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (pairs[i][1] != NULL) {
            len += snprintf(text + len, sizeof(text) - (size_t)len, ",\"%s\":%s", pairs[i][0], pairs[i][1]);
        }
    }
    (void)snprintf(text + len, sizeof(text) - (size_t)len, "}");
    return text;
}

#define S(text) "{\"S\":\"" text "\"}"

static silt_status read_item(const char *item, struct sl_dynamo_entry *out, bool *found)
{
    struct test_env t;
    struct sl_arena arena;
    char body[4096];
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    (void)snprintf(body, sizeof(body), "{\"Item\":%s}", item);
    const silt_status status = sl_dynamo_read_item(&arena, sl_str_from(body), SL_STR(TABLE), SL_STR(NAME), out, found,
                                                   NULL);
    if (*found) {
        assert_true(sl_str_eq(out->table_path, SL_STR(TABLE)));
        assert_true(sl_str_eq(out->file_name, SL_STR(NAME)));
        assert_true(sl_str_eq(out->temp_path, SL_STR(TEMP)));
    }
    sl_arena_release(&arena);
    test_env_check(&t);
    return status;
}

static void an_entry_is_read(void **state)
{
    (void)state;
    struct sl_dynamo_entry entry;
    bool found = false;
    assert_int_equal(read_item(make_item(S(TABLE), S(NAME), S(TEMP), S("false"), NULL), &entry, &found), SILT_OK);
    assert_true(found && !entry.complete);
    assert_int_equal(entry.expire_time_s, 0);
    assert_int_equal(
        read_item(make_item(S(TABLE), S(NAME), S(TEMP), S("true"), "{\"N\":\"1767323045\"}"), &entry, &found), SILT_OK);
    assert_true(found && entry.complete);
    assert_int_equal(entry.expire_time_s, 1767323045);
}

static void no_item_is_no_entry(void **state)
{
    (void)state;
    static const char *const bodies[] = {"{}", "{\"Item\":{}}", "{\"ConsumedCapacity\":{}}"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct sl_dynamo_entry entry;
        struct sl_arena arena;
        bool found = true;
        sl_arena_init(&arena, silt_env_default());
        assert_int_equal(
            sl_dynamo_read_item(&arena, sl_str_from(bodies[i]), SL_STR(TABLE), SL_STR(NAME), &entry, &found, NULL),
            SILT_OK);
        assert_false(found);
        sl_arena_release(&arena);
    }
}

static void an_entry_of_another_is_refused(void **state)
{
    (void)state;
    struct sl_dynamo_entry entry;
    bool found = false;
    const char *const others[][2] = {{S("s3a://b/u"), S(NAME)},  {S(TABLE), S("00000000000000000008.json")},
                                     {"{\"N\":\"1\"}", S(NAME)}, {NULL, S(NAME)},
                                     {S(TABLE), NULL},           {S(TABLE), "\"x\""}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_equal(read_item(make_item(others[i][0], others[i][1], S(TEMP), S("true"), NULL), &entry, &found),
                         SILT_EIO);
        assert_false(found);
    }
    assert_int_equal(read_item("[]", &entry, &found), SILT_EIO);
    assert_int_equal(read_item("{", &entry, &found), SILT_EIO);
    assert_int_equal(read_item("\"x\"", &entry, &found), SILT_EIO);
}

static void a_temporary_file_stays_in_the_log(void **state)
{
    (void)state;
    struct sl_dynamo_entry entry;
    bool found = false;
    static const char *const bad[] = {S(""),  S("/etc/x"),    S("../x"),  S(".tmp/../x"), S(".tmp//x"),    S(".tmp/"),
                                      S("."), S("a\\u0000b"), S("a\\nb"), S(NAME),        "{\"N\":\"1\"}", "null",
                                      NULL};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(read_item(make_item(S(TABLE), S(NAME), bad[i], S("false"), NULL), &entry, &found),
                         SILT_ECORRUPT);
    }
    char longest[SL_DYNAMO_MAX_TEMP + 2];
    memset(longest, 'x', sizeof(longest));
    assert_true(sl_dynamo_is_inner(sl_str_make(longest, SL_DYNAMO_MAX_NAME)));
    assert_false(sl_dynamo_is_inner(sl_str_make(longest, SL_DYNAMO_MAX_NAME + 1)));
    assert_false(sl_dynamo_is_name(SL_STR("a/b")));
    assert_false(sl_dynamo_is_name(SL_STR("..")));
    assert_true(sl_dynamo_is_inner(SL_STR("_commit_x.json.tmp"))); /* as delta-rs named them */
}

static void an_entry_must_say_what_it_is(void **state)
{
    (void)state;
    struct sl_dynamo_entry entry;
    bool found = false;
    assert_int_equal(read_item(make_item(S(TABLE), S(NAME), S(TEMP), NULL, NULL), &entry, &found), SILT_ECORRUPT);
    assert_int_equal(read_item(make_item(S(TABLE), S(NAME), S(TEMP), "{\"BOOL\":true}", NULL), &entry, &found),
                     SILT_ECORRUPT);
    assert_int_equal(read_item(make_item(S(TABLE), S(NAME), S(TEMP), S("true"), "{\"N\":\"soon\"}"), &entry, &found),
                     SILT_ECORRUPT);
    assert_int_equal(read_item(make_item(S(TABLE), S(NAME), S(TEMP), S("true"), "{\"S\":\"1\"}"), &entry, &found),
                     SILT_ECORRUPT);
}

/* ---- queries ---- */

static silt_status read_newest(const char *items, bool *found)
{
    struct sl_dynamo_entry entry;
    struct sl_arena arena;
    char body[8192];
    sl_arena_init(&arena, silt_env_default());
    (void)snprintf(body, sizeof(body), "{\"Items\":%s,\"Count\":1,\"LastEvaluatedKey\":{}}", items);
    const silt_status status = sl_dynamo_read_newest(&arena, sl_str_from(body), SL_STR(TABLE), &entry, found, NULL);
    sl_arena_release(&arena);
    return status;
}

static void the_newest_is_one_or_none(void **state)
{
    (void)state;
    bool found = true;
    char items[8192];
    const char *item = make_item(S(TABLE), S(NAME), S(TEMP), S("true"), NULL);
    assert_int_equal(read_newest("[]", &found), SILT_OK);
    assert_false(found);
    (void)snprintf(items, sizeof(items), "[%s]", item);
    assert_int_equal(read_newest(items, &found), SILT_OK);
    assert_true(found);
    (void)snprintf(items, sizeof(items), "[%s,%s]", item, item);
    assert_int_equal(read_newest(items, &found), SILT_EIO);
    assert_int_equal(read_newest("{}", &found), SILT_EIO);
    assert_int_equal(read_newest("[1]", &found), SILT_EIO);
    (void)snprintf(items, sizeof(items), "[%s]", make_item(S(TABLE), S("a/b"), S(TEMP), S("true"), NULL));
    assert_int_equal(read_newest(items, &found), SILT_ECORRUPT);
    assert_false(found);
}

static silt_status count_name(void *ctx, struct sl_str name)
{
    assert_true(name.len > 0);
    ++*(int *)ctx;
    return SILT_OK;
}

/* How many names a page has; -1 if it is refused. */
static int read_names(const char *body, const char *after, char *last_text)
{
    struct sl_arena arena;
    struct sl_str last;
    int n = 0;
    sl_arena_init(&arena, silt_env_default());
    const silt_status status = sl_dynamo_read_names(&arena, sl_str_from(body), SL_STR(TABLE), sl_str_from(after),
                                                    count_name, &n, &last, NULL);
    (void)snprintf(last_text, 64, "%.*s", SL_FMT(last));
    sl_arena_release(&arena);
    assert_true(status == SILT_OK || status == SILT_EIO);
    return status == SILT_OK ? n : -1;
}

#define KEY(name) "{\"tablePath\":" S(TABLE) ",\"fileName\":" S(name) "}"

static void pages_of_names_go_on(void **state)
{
    (void)state;
    char last[64];
    assert_int_equal(read_names("{\"Items\":[]}", "", last), 0);
    assert_string_equal(last, "");
    assert_int_equal(read_names("{\"Items\":[" KEY("a") "," KEY("b") "],\"LastEvaluatedKey\":" KEY("b") "}", "", last),
                     2);
    assert_string_equal(last, "b");
    assert_int_equal(read_names("{\"Items\":[],\"LastEvaluatedKey\":" KEY("c") "}", "b", last), 0);
    assert_string_equal(last, "c");
    /* Not forward, not of this table, or no key. */
    assert_int_equal(read_names("{\"Items\":[],\"LastEvaluatedKey\":" KEY("b") "}", "b", last), -1);
    assert_int_equal(read_names("{\"Items\":[" KEY("b") "," KEY("a") "]}", "", last), -1);
    assert_int_equal(read_names("{\"Items\":[" KEY("a") "]}", "a", last), -1);
    assert_int_equal(read_names("{\"Items\":[{\"tablePath\":" S("x") ",\"fileName\":" S("a") "}]}", "", last), -1);
    assert_int_equal(read_names("{\"Items\":[],\"LastEvaluatedKey\":7}", "", last), -1);
    assert_int_equal(read_names("{\"Items\":[{}]}", "", last), -1);
    assert_int_equal(read_names("{}", "", last), -1);
}

/* ---- tables and faults ---- */

#define KEYS \
    "\"KeySchema\":[{\"AttributeName\":\"tablePath\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"fileName\",\"KeyType\":\"RANGE\"}]"

static silt_status read_table(const char *body, enum sl_dynamo_table_state *out)
{
    return sl_dynamo_read_table(silt_env_default(), sl_str_from(body), out, NULL);
}

static void a_table_is_ready_or_not(void **state)
{
    (void)state;
    enum sl_dynamo_table_state out = SL_DYNAMO_TABLE_OTHER;
    assert_int_equal(read_table("{\"Table\":{\"TableStatus\":\"ACTIVE\"," KEYS "}}", &out), SILT_OK);
    assert_int_equal(out, SL_DYNAMO_TABLE_READY);
    assert_int_equal(read_table("{\"Table\":{\"TableStatus\":\"CREATING\"," KEYS "}}", &out), SILT_OK);
    assert_int_equal(out, SL_DYNAMO_TABLE_CREATING);
    assert_int_equal(read_table("{\"Table\":{\"TableStatus\":\"DELETING\"," KEYS "}}", &out), SILT_OK);
    assert_int_equal(out, SL_DYNAMO_TABLE_OTHER);
    assert_int_equal(read_table("{\"Table\":{\"TableStatus\":\"ACTIVE\"}}", &out), SILT_EUNSUPPORTED);
    assert_int_equal(
        read_table("{\"Table\":{\"TableStatus\":\"ACTIVE\",\"KeySchema\":[{\"AttributeName\":\"tablePath\","
                   "\"KeyType\":\"HASH\"}]}}",
                   &out),
        SILT_EUNSUPPORTED);
    assert_int_equal(read_table("{}", &out), SILT_EIO);
    assert_int_equal(read_table("7", &out), SILT_EIO);
}

static void check_fault(const char *body, const char *expected)
{
    char out[SL_DYNAMO_FAULT_SIZE];
    sl_dynamo_read_fault(silt_env_default(), sl_str_from(body), out);
    assert_string_equal(out, expected);
}

static void a_fault_has_a_name(void **state)
{
    (void)state;
    check_fault("{\"__type\":\"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException\",\"message\":\"x\"}",
                "ResourceNotFoundException");
    check_fault("{\"__type\":\"ThrottlingException\"}", "ThrottlingException");
    check_fault("{\"__type\":\"a#b c\\n\\u001b[31m\"}", "bc31m");
    check_fault("{\"__type\":7}", "");
    check_fault("<html>", "");
    check_fault("", "");
    char body[200];
    (void)snprintf(body, sizeof(body), "{\"__type\":\"%0100d\"}", 1);
    char out[SL_DYNAMO_FAULT_SIZE];
    sl_dynamo_read_fault(silt_env_default(), sl_str_from(body), out);
    assert_int_equal(strlen(out), SL_DYNAMO_FAULT_SIZE - 1);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const char *item = make_item(S(TABLE), S(NAME), S(TEMP), S("true"), NULL);
    char body[4096];
    (void)snprintf(body, sizeof(body), "{\"Item\":%s}", item);
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status == SILT_ENOMEM && n < 50; n++) {
        struct test_env t;
        struct sl_arena arena;
        struct sl_dynamo_entry entry;
        bool found = false;
        test_env_init(&t);
        test_env_fail_at(&t, n);
        sl_arena_init(&arena, &t.env);
        status = sl_dynamo_read_item(&arena, sl_str_from(body), SL_STR(TABLE), SL_STR(NAME), &entry, &found, NULL);
        assert_int_equal(found, status == SILT_OK);
        sl_arena_release(&arena);
        test_env_check(&t);
    }
    assert_int_equal(status, SILT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_read),
        cmocka_unit_test(no_item_is_no_entry),
        cmocka_unit_test(an_entry_of_another_is_refused),
        cmocka_unit_test(a_temporary_file_stays_in_the_log),
        cmocka_unit_test(an_entry_must_say_what_it_is),
        cmocka_unit_test(the_newest_is_one_or_none),
        cmocka_unit_test(pages_of_names_go_on),
        cmocka_unit_test(a_table_is_ready_or_not),
        cmocka_unit_test(a_fault_has_a_name),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
