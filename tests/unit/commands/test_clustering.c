/* Clustering columns as people know them. */
#include "log_fixture.h"

#include "commands/clustering.h"

#define PROTOCOL                                                                                                         \
    "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":7,\"writerFeatures\":[\"columnMapping\",\"clustering\"," \
    "\"domainMetadata\"]}}"
#define META(physical, id) \
    "{\\\"delta.columnMapping.physicalName\\\":\\\"" physical "\\\",\\\"delta.columnMapping.id\\\":" id "}"
#define MAPPED                                                                                                                         \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":"               \
    "\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"a b\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":" META( \
        "p",                                                                                                                           \
        "1") "},{\\\"name\\\":\\\"s\\\",\\\"type\\\":{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"x\\\","            \
             "\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":" META(                                                 \
                 "px", "3") "}]},\\\"nullable\\\":true,"                                                                               \
                            "\\\"metadata\\\":" META("ps", "2") "}]}\",\"partitionColumns\":[],\"configuration\":{"                    \
                                                                "\"delta.columnMapping.mode\":\"name\"}}}"
#define DOMAIN(configuration) \
    "{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":\"" configuration "\",\"removed\":false}}"

static void assert_columns(struct log_fixture *f, const char *expected)
{
    silt_snapshot *snapshot = log_open(f, -1);
    struct sl_arena arena;
    struct sl_str_list columns;
    struct sl_buf text;
    sl_arena_init(&arena, &f->test.env);
    sl_buf_init(&text, &f->test.env);
    assert_int_equal(sl_clustering_columns(snapshot, &arena, &columns, &f->err), SILT_OK);
    for (size_t i = 0; i < columns.n; i++) {
        sl_buf_put_c(&text, i > 0 ? ", " : "");
        sl_buf_put_str(&text, columns.items[i]);
    }
    assert_string_equal(sl_buf_cstr(&text), expected);
    sl_buf_release(&text);
    sl_arena_release(&arena);
    silt_snapshot_unref(snapshot);
}

static void physical_names_are_shown_as_logical_ones(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL, MAPPED,
               DOMAIN("{\\\"clusteringColumns\\\":[[\\\"p\\\"],[\\\"ps\\\",\\\"px\\\"],[\\\"gone\\\",\\\"px\\\"]]}"),
               NULL);
    assert_columns(f, "`a b`, s.x, gone.px");
}

static void table_without_clustering_has_none(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL, MAPPED, NULL);
    assert_columns(f, "");
}

static void what_is_no_list_of_names_shows_nothing(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL, MAPPED, DOMAIN("no JSON"), NULL);
    assert_columns(f, "");
    log_commit(f, 1, DOMAIN("{\\\"clusteringColumns\\\":[5,[],[7]]}"), NULL);
    assert_columns(f, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(physical_names_are_shown_as_logical_ones),
        LOG_TEST(table_without_clustering_has_none),
        LOG_TEST(what_is_no_list_of_names_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
