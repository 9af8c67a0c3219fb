/* Days compared with instants in a session whose zone is not UTC: the data plane knows the least and greatest day of a file as UTC's. */
#include "hand_table.h"

static const char *const conditions[][2] = {
    {"d < TIMESTAMPTZ '2020-01-01 00:00:00+00'", "2048\n"},
    {"d = TIMESTAMPTZ '2019-12-31 23:00:00+00'", "2048\n"},
    {"CAST(d AS TIMESTAMPTZ) IN (TIMESTAMPTZ '2019-12-31 23:00:00+00')", "2048\n"},
    {"d < TIMESTAMPTZ '2020-01-01 00:00:00+00' OR id = 5000", "2049\n"},
    {"d NOT BETWEEN TIMESTAMPTZ '2020-01-01 00:00:00+00' AND TIMESTAMPTZ '2020-01-04 00:00:00+00'", "10240\n"},
    {"st.d < TIMESTAMPTZ '2020-01-01 00:00:00+00'", "2048\n"},
    {"l[1] < TIMESTAMPTZ '2020-01-01 00:00:00+00'", "2048\n"},
    {"m['k'] < TIMESTAMPTZ '2020-01-01 00:00:00+00'", "2048\n"},
    {"coalesce(d, DATE '2020-01-01') < TIMESTAMPTZ '2020-01-01 00:00:00+00'", "2048\n"},
    {"d >= DATE '2020-01-08'", "2048\n"},
};

/* Eight row groups of a day each in one file. */
static void make_table(struct session_fixture *s)
{
    hand_remove(s, "t");
    hand_create(
        s, "t",
        HAND_FIELD("id", "long") "," HAND_FIELD(
            "d",
            "date") ","
                    "{\"name\":\"st\",\"type\":{\"type\":\"struct\",\"fields\":[" HAND_FIELD(
                        "d",
                        "date") "]},\"nullable\":true,\"metadata\":{}},"
                                "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"date\",\"containsNull\":true},"
                                "\"nullable\":true,\"metadata\":{}},"
                                "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"date\","
                                "\"valueContainsNull\":true},\"nullable\":true,\"metadata\":{}}",
        "");
    hand_parquet(s, "t/f.parquet",
                 "SELECT i AS id, DATE '2020-01-01' + (i // 2048)::INTEGER AS d, {'d': d} AS st, [d] AS l, "
                 "MAP {'k': d} AS m FROM range(16384) r(i)");
    hand_commit(s, "t", 1, hand_add(s, "f.parquet", "{}", NULL), NULL);
}

static void days_are_compared_with_instants_in_the_sessions_zone(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_done(s, "SET timezone = 'Europe/Berlin'");
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        session_expect_rows(s, session_format(s, "SELECT count(*) FROM t WHERE %s", conditions[i][0]),
                            conditions[i][1]);
    }
    session_expect_rows(s, "SELECT count(*) FROM t JOIN (VALUES (TIMESTAMPTZ '2019-12-31 23:00:00+00')) v(k) ON d = k",
                        "2048\n");
}

static void the_zone_may_change_between_queries(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE d = TIMESTAMPTZ '2020-01-01 00:00:00+00'", "2048\n");
    session_expect_done(s, "SET timezone = 'America/St_Johns'");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE d = TIMESTAMPTZ '2020-01-01 00:00:00+00'", "0\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE d > TIMESTAMPTZ '2020-01-08 00:00:00+00'", "2048\n");
    session_expect_done(s, "SET timezone = 'UTC'");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE d > TIMESTAMPTZ '2020-01-08 00:00:00+00'", "0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(days_are_compared_with_instants_in_the_sessions_zone),
        SESSION_TEST(the_zone_may_change_between_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
