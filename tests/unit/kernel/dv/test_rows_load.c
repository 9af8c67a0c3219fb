/* Loading the vectors of many files, and the rows that they leave. */
#include <stdio.h>
#include <string.h>

#include "dv_fixture.h"
#include "silt/deletion_vector.h"
#include "silt/storage.h"
#include "test_env.h"

#define N_MANY 2000

static struct test_env t;
static silt_storage *memory;
static silt_storage *storage; /* around memory: counts */
static size_t n_read_calls;
static size_t n_bytes;
static struct sl_buf payload;
static struct sl_buf file;
static silt_rows *rows[N_MANY];
static silt_error err;

static void count_read(void *ctx, const silt_trace_event *event)
{
    (void)ctx;
    if (strcmp(event->operation, "read") == 0) {
        n_read_calls++;
        n_bytes += event->bytes > 0 ? (size_t)event->bytes : 0;
    }
}

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_buf_init(&payload, &t.env);
    sl_buf_init(&file, &t.env);
    err = (silt_error)SILT_ERROR_INIT;
    memset(rows, 0, sizeof(rows));
    n_read_calls = 0;
    n_bytes = 0;
    return silt_storage_memory_new(&t.env, &memory, &err) == SILT_OK &&
                   silt_storage_trace_new(&t.env, memory, count_read, NULL, &storage, &err) == SILT_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MANY; i++) {
        silt_rows_free(rows[i]);
    }
    silt_storage_unref(storage);
    silt_storage_unref(memory);
    sl_buf_release(&payload);
    sl_buf_release(&file);
    test_env_check(&t);
    return 0;
}

/* Appends the vector of n rows from first on to the file; path is where the file will be. */
static silt_deletion_vector add_vector(const char *path, int64_t first, int64_t n)
{
    int64_t deleted[100];
    for (int64_t i = 0; i < n; i++) {
        deleted[i] = first + i;
    }
    sl_buf_clear(&payload);
    dv_payload(&payload, deleted, (size_t)n, 0);
    silt_deletion_vector dv = {
        .storage_type = 'u', .path = path, .size_in_bytes = (int64_t)payload.len, .cardinality = n};
    dv.offset = dv_frame(&file, &payload);
    return dv;
}

static void put_file(const char *path)
{
    assert_int_equal(silt_storage_put(memory, NULL, path, file.data, file.len, &err), SILT_OK);
    sl_buf_clear(&file);
}

static void files_without_vectors_have_no_rows_and_read_nothing(void **state)
{
    (void)state;
    const silt_rows_request requests[] = {{.file = "memory://t/a", .num_records = 10}, {.file = "memory://t/b"}};
    assert_int_equal(silt_rows_load(storage, NULL, requests, 2, rows, &err), SILT_OK);
    assert_null(rows[0]);
    assert_null(rows[1]);
    assert_int_equal(n_read_calls, 0);
    assert_int_equal(silt_rows_load(storage, NULL, NULL, 0, NULL, &err), SILT_OK);
}

static void deleted_rows_are_gone(void **state)
{
    (void)state;
    uint8_t live[8];
    const uint8_t expected[] = {1, 1, 0, 0, 0, 1, 1, 1};
    const silt_deletion_vector dv = add_vector("memory://t/dv.bin", 5, 3);
    put_file("memory://t/dv.bin");
    const silt_rows_request request = {.file = "memory://t/a", .num_records = 8, .deleted = &dv};
    assert_int_equal(silt_rows_load(storage, NULL, &request, 1, rows, &err), SILT_OK);
    silt_rows_mask(rows[0], 3, sizeof(live), live);
    assert_memory_equal(live, expected, sizeof(live));
    assert_int_equal(silt_rows_next_live(rows[0], 5), 8);
    assert_int_equal(silt_rows_next_live(rows[0], 4), 4);
    assert_int_equal(silt_rows_next_dead(rows[0], 0), 5);
    assert_int_equal(silt_rows_next_dead(rows[0], 8), INT64_MAX);
    assert_int_equal(n_read_calls, 1);
    assert_int_equal(n_bytes, 1 + 8 + dv.size_in_bytes);
}

static void selected_rows_without_deleted_ones_are_left(void **state)
{
    (void)state;
    uint8_t live[12];
    const uint8_t expected[] = {0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0};
    const silt_deletion_vector selected = add_vector("memory://t/dv.bin", 2, 6);
    const silt_deletion_vector deleted = add_vector("memory://t/dv.bin", 4, 3);
    put_file("memory://t/dv.bin");
    const silt_rows_request requests[] = {
        {.file = "memory://t/a", .num_records = 12, .deleted = &deleted, .selected = &selected},
        {.file = "memory://t/b", .num_records = 12, .selected = &selected}};
    assert_int_equal(silt_rows_load(storage, NULL, requests, 2, rows, &err), SILT_OK);
    silt_rows_mask(rows[0], 0, sizeof(live), live);
    assert_memory_equal(live, expected, sizeof(live));
    assert_int_equal(silt_rows_next_live(rows[0], 0), 2);
    assert_int_equal(silt_rows_next_live(rows[0], 4), 7);
    assert_int_equal(silt_rows_next_live(rows[0], 8), INT64_MAX);
    assert_int_equal(silt_rows_next_dead(rows[0], 2), 4);
    assert_int_equal(silt_rows_next_dead(rows[0], 7), 8);
    assert_int_equal(silt_rows_next_dead(rows[1], 2), 8);
    assert_int_equal(silt_rows_next_live(rows[1], 0), 2);
    assert_int_equal(silt_rows_next_live(rows[1], INT64_MAX), INT64_MAX);
    assert_int_equal(n_read_calls, 1);
}

static void vectors_of_one_file_come_with_one_read(void **state)
{
    (void)state;
    static silt_deletion_vector dvs[N_MANY];
    static silt_rows_request requests[N_MANY];
    for (int64_t i = 0; i < N_MANY; i++) {
        dvs[i] = add_vector("memory://t/dv.bin", i, 1 + i % 3);
        requests[N_MANY - 1 - i] = (silt_rows_request){.file = "memory://t/a", .num_records = -1, .deleted = &dvs[i]};
    }
    const size_t size = file.len;
    put_file("memory://t/dv.bin");
    assert_int_equal(silt_rows_load(storage, NULL, requests, N_MANY, rows, &err), SILT_OK);
    assert_int_equal(n_read_calls, 1);
    assert_int_equal(n_bytes, size);
    for (int64_t i = 0; i < N_MANY; i++) {
        assert_int_equal(silt_rows_next_dead(rows[N_MANY - 1 - i], 0), i);
    }
}

static void vectors_of_many_files_are_all_found(void **state)
{
    (void)state;
    static silt_deletion_vector dvs[N_MANY];
    static silt_rows_request requests[N_MANY];
    static char paths[N_MANY][40];
    for (int64_t i = 0; i < N_MANY; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "memory://t/%05d.bin", (int)(i * 7919 % N_MANY));
        dvs[i] = add_vector(paths[i], i, 2);
        put_file(paths[i]);
        requests[i] = (silt_rows_request){.file = paths[i], .num_records = i + 2, .deleted = &dvs[i]};
    }
    assert_int_equal(silt_rows_load(storage, NULL, requests, N_MANY, rows, &err), SILT_OK);
    assert_int_equal(n_read_calls, N_MANY); /* each once, its version byte with it */
    for (int64_t i = 0; i < N_MANY; i++) {
        assert_int_equal(silt_rows_next_dead(rows[i], 0), i);
    }
}

static void vector_far_from_the_version_byte_is_read_apart(void **state)
{
    (void)state;
    (void)add_vector("memory://t/dv.bin", 0, 1);
    for (int i = 0; i < 200000; i++) {
        sl_buf_put_char(&file, 7);
    }
    const silt_deletion_vector dv = add_vector("memory://t/dv.bin", 5, 1);
    put_file("memory://t/dv.bin");
    const silt_rows_request request = {.file = "memory://t/a", .num_records = 8, .deleted = &dv};
    assert_int_equal(silt_rows_load(storage, NULL, &request, 1, rows, &err), SILT_OK);
    assert_int_equal(n_bytes, 1 + 8 + dv.size_in_bytes);
    assert_int_equal(silt_rows_next_dead(rows[0], 0), 5);
}

static void inline_vectors_read_no_file(void **state)
{
    (void)state;
    const int64_t row = 4;
    struct sl_buf text;
    sl_buf_init(&text, &t.env);
    dv_payload(&payload, &row, 1, 0);
    dv_text(&text, &payload);
    const silt_deletion_vector dv = {.storage_type = 'i',
                                     .inline_data = sl_buf_cstr(&text),
                                     .size_in_bytes = (int64_t)payload.len,
                                     .cardinality = 1};
    const silt_rows_request request = {.file = "memory://t/a", .num_records = 5, .deleted = &dv};
    assert_int_equal(silt_rows_load(storage, NULL, &request, 1, rows, &err), SILT_OK);
    assert_int_equal(silt_rows_next_dead(rows[0], 0), 4);
    assert_int_equal(n_read_calls, 0);
    silt_rows_free(rows[0]);
    rows[0] = NULL;
    const silt_rows_request shorter = {.file = "memory://t/a", .num_records = 4, .deleted = &dv};
    assert_int_equal(silt_rows_load(storage, NULL, &shorter, 1, rows, &err), SILT_ECORRUPT);
    assert_string_equal(err.message, "inline deletion vector of file memory://t/a: it has row 4 of a file with 4 rows");
    sl_buf_release(&text);
}

static void expect_fault(const silt_deletion_vector *dv, silt_status status, const char *message)
{
    /* A good one besides: nothing of it may be left. */
    const silt_rows_request requests[] = {{.file = "memory://t/data", .num_records = 100, .deleted = dv},
                                          {.file = "memory://t/data", .num_records = 100, .selected = dv}};
    assert_int_equal(silt_rows_load(storage, NULL, requests, 2, rows, &err), status);
    if (strstr(err.message, message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", message, err.message);
    }
    assert_null(rows[0]);
    assert_null(rows[1]);
}

static void faults_name_data_file_vector_file_and_what_is_wrong(void **state)
{
    (void)state;
    silt_deletion_vector dv = add_vector("memory://t/dv.bin", 5, 3);
    file.data[0] = 2;
    put_file("memory://t/dv.bin");
    expect_fault(&dv, SILT_EUNSUPPORTED,
                 "deletion vector at 1 of memory://t/dv.bin, of file memory://t/data: the file has format version 2");
    dv = add_vector("memory://t/dv.bin", 5, 3);
    file.data[12] = (char)(file.data[12] ^ 1);
    put_file("memory://t/dv.bin");
    expect_fault(&dv, SILT_ECORRUPT,
                 "deletion vector at 1 of memory://t/dv.bin, of file memory://t/data: its CRC-32 is");
    assert_string_equal(err.path, "memory://t/dv.bin");
    dv.path = "memory://t/other.bin";
    expect_fault(&dv, SILT_ENOTFOUND, "of file memory://t/data: the vector file is missing");
    dv = add_vector("memory://t/dv.bin", 5, 3);
    file.len -= 2;
    put_file("memory://t/dv.bin");
    expect_fault(&dv, SILT_ECORRUPT, "the file ends within it");
    put_file("memory://t/dv.bin"); /* empty */
    expect_fault(&dv, SILT_ECORRUPT, "the file is empty");
    dv.path = NULL;
    expect_fault(&dv, SILT_EINVALID, "no text that says where it is");
}

static void running_out_of_memory_leaves_nothing(void **state)
{
    (void)state;
    silt_deletion_vector dvs[3];
    silt_rows_request requests[3];
    for (int64_t i = 0; i < 3; i++) {
        dvs[i] = add_vector("memory://t/dv.bin", i, 2);
        requests[i] = (silt_rows_request){.file = "memory://t/a", .num_records = -1, .deleted = &dvs[i]};
    }
    put_file("memory://t/dv.bin");
    for (size_t i = 1;; i++) {
        test_env_fail_at(&t, i);
        const silt_status status = silt_rows_load(storage, NULL, requests, 3, rows, &err);
        test_env_fail_at(&t, 0);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
        assert_null(rows[0]);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(files_without_vectors_have_no_rows_and_read_nothing),
        TEST(deleted_rows_are_gone),
        TEST(selected_rows_without_deleted_ones_are_left),
        TEST(vectors_of_one_file_come_with_one_read),
        TEST(vectors_of_many_files_are_all_found),
        TEST(vector_far_from_the_version_byte_is_read_apart),
        TEST(inline_vectors_read_no_file),
        TEST(faults_name_data_file_vector_file_and_what_is_wrong),
        TEST(running_out_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests_name("rows load", tests, NULL, NULL);
}
