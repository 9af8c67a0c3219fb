/*
 * Adds read from the columns of a batch are those that were put there; what is unusable is refused by name.
 */
#include "test_env.h"

#include "base/arrow.h"
#include "kernel/replay/add_batch.h"

#define OK(call) assert_int_equal((call), SILT_OK)

enum {
    PATH,
    VALUES,
    SIZE,
    TIME,
    ROW_ID,
    ROW_VERSION,
    VECTOR
};

struct fixture {
    struct test_env t;
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct sl_arrow_builder *rows, *add;
    struct sl_add_batch batch;
    silt_error err;
};

static void open(struct fixture *f, unsigned members)
{
    *f = (struct fixture){.err = SILT_ERROR_INIT};
    test_env_init(&f->t);
    silt_schema *schema = NULL;
    OK(sl_add_batch_schema(&f->t.env, members, &schema, &f->err));
    OK(silt_schema_to_arrow(schema, &f->schema, &f->err));
    silt_schema_unref(schema);
    OK(sl_arrow_builder_new(&f->t.env, &f->schema, &f->rows, &f->err));
    f->add = sl_arrow_builder_child(f->rows, 0);
    sl_add_batch_init(&f->batch, &f->t.env);
}

static void close(struct fixture *f)
{
    sl_add_batch_release(&f->batch);
    sl_arrow_builder_free(f->rows);
    sl_arrow_array_release(&f->array);
    sl_arrow_schema_release(&f->schema);
    test_env_check(&f->t);
}

static void put_text(struct fixture *f, size_t member, const char *text)
{
    OK(sl_arrow_append_bytes(sl_arrow_builder_child(f->add, member), sl_str_from(text), &f->err));
}

static void put_number(struct fixture *f, size_t member, int64_t value)
{
    struct sl_arrow_builder *column = sl_arrow_builder_child(f->add, member);
    OK(value == SL_NO_I64 ? sl_arrow_append_null(column, &f->err) : sl_arrow_append_i64(column, value, &f->err));
}

/* day = value; NULL: null. */
static void put_values(struct fixture *f, const char *value)
{
    struct sl_arrow_builder *map = sl_arrow_builder_child(f->add, VALUES);
    struct sl_arrow_builder *entries = sl_arrow_builder_child(map, 0);
    OK(sl_arrow_append_bytes(sl_arrow_builder_child(entries, 0), SL_STR("day"), &f->err));
    if (value != NULL) {
        OK(sl_arrow_append_bytes(sl_arrow_builder_child(entries, 1), sl_str_from(value), &f->err));
    } else {
        OK(sl_arrow_append_null(sl_arrow_builder_child(entries, 1), &f->err));
    }
    OK(sl_arrow_append_nested(entries, &f->err));
    OK(sl_arrow_append_nested(map, &f->err));
}

static void end_row(struct fixture *f)
{
    OK(sl_arrow_append_nested(f->add, &f->err));
    OK(sl_arrow_append_nested(f->rows, &f->err));
}

static void bind(struct fixture *f)
{
    OK(sl_arrow_builder_finish(f->rows, &f->array, &f->err));
    OK(sl_add_batch_bind(&f->batch, &f->schema, &f->array, &f->err));
}

static void rows_come_out_as_they_were_put(void **state)
{
    (void)state;
    struct fixture f;
    open(&f, SL_ADD_EVERYTHING);
    put_text(&f, PATH, "day=1/a");
    put_values(&f, "1");
    put_number(&f, SIZE, 10);
    put_number(&f, TIME, 20);
    put_number(&f, ROW_ID, 7);
    put_number(&f, ROW_VERSION, SL_NO_I64);
    struct sl_arrow_builder *dv = sl_arrow_builder_child(f.add, VECTOR);
    OK(sl_arrow_append_bytes(sl_arrow_builder_child(dv, 0), SL_STR("u"), &f.err));
    OK(sl_arrow_append_bytes(sl_arrow_builder_child(dv, 1), SL_STR("xyz"), &f.err));
    OK(sl_arrow_append_null(sl_arrow_builder_child(dv, 2), &f.err));
    OK(sl_arrow_append_i64(sl_arrow_builder_child(dv, 3), 34, &f.err));
    OK(sl_arrow_append_i64(sl_arrow_builder_child(dv, 4), 2, &f.err));
    OK(sl_arrow_append_nested(dv, &f.err));
    end_row(&f);
    OK(sl_arrow_append_null(f.rows, &f.err)); /* no add */
    put_text(&f, PATH, "b");
    put_values(&f, NULL);
    put_number(&f, SIZE, 0);
    put_number(&f, TIME, -1);
    put_number(&f, ROW_ID, SL_NO_I64);
    put_number(&f, ROW_VERSION, 3);
    OK(sl_arrow_append_null(dv, &f.err));
    end_row(&f);
    bind(&f);
    struct sl_file_row row;
    bool found = false;
    assert_int_equal(f.batch.n, 3);
    OK(sl_add_batch_row(&f.batch, 0, &row, &found, &f.err));
    assert_true(found && sl_str_eq_c(row.path, "day=1/a") && row.size == 10 && row.time == 20);
    assert_true(row.n_values == 1 && sl_str_eq_c(row.values[0].value, "1") && sl_str_eq_c(row.values[0].key, "day"));
    assert_true(row.base_row_id == 7 && row.row_commit_version == SL_NO_I64);
    assert_true(row.deletion_vector != NULL && row.deletion_vector->offset == SL_NO_I64);
    assert_true(row.deletion_vector->cardinality == 2 && row.deletion_vector->size_in_bytes == 34);
    OK(sl_add_batch_row(&f.batch, 1, &row, &found, &f.err));
    assert_false(found);
    OK(sl_add_batch_row(&f.batch, 2, &row, &found, &f.err));
    assert_true(found && sl_str_eq_c(row.path, "b") && row.time == -1 && row.row_commit_version == 3);
    assert_true(row.n_values == 1 && row.values[0].value.ptr == NULL && row.deletion_vector == NULL);
    close(&f);
}

static void a_vector_that_was_not_asked_for_is_noticed(void **state)
{
    (void)state;
    struct fixture f;
    open(&f, 0);
    put_text(&f, PATH, "a");
    put_values(&f, "1");
    put_number(&f, SIZE, 1);
    put_number(&f, TIME, 1);
    struct sl_arrow_builder *dv = sl_arrow_builder_child(f.add, 4);
    OK(sl_arrow_append_bytes(sl_arrow_builder_child(dv, 0), SL_STR("u"), &f.err));
    OK(sl_arrow_append_nested(dv, &f.err));
    end_row(&f);
    bind(&f);
    struct sl_file_row row;
    bool found = false;
    OK(sl_add_batch_row(&f.batch, 0, &row, &found, &f.err));
    assert_true(f.batch.lacks_vector);
    close(&f);
}

static void what_is_missing_or_unusable_is_named(void **state)
{
    (void)state;
    static const struct {
        int64_t size, time;
        const char *in_message;
    } cases[] = {{SL_NO_I64, 1, "without size"}, {-5, 1, "add.size"}, {1, SL_NO_I64, "without modificationTime"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        open(&f, 0);
        put_text(&f, PATH, "a");
        put_values(&f, "1");
        put_number(&f, SIZE, cases[i].size);
        put_number(&f, TIME, cases[i].time);
        OK(sl_arrow_append_null(sl_arrow_builder_child(f.add, 4), &f.err));
        end_row(&f);
        bind(&f);
        struct sl_file_row row;
        bool found = false;
        assert_int_equal(sl_add_batch_row(&f.batch, 0, &row, &found, &f.err), SILT_ECORRUPT);
        assert_non_null(strstr(f.err.message, cases[i].in_message));
        close(&f);
    }
}

static void the_number_that_stands_for_none_is_unusable(void **state)
{
    (void)state;
    struct fixture f;
    open(&f, SL_ADD_EVERYTHING);
    put_text(&f, PATH, "a");
    put_values(&f, "1");
    put_number(&f, SIZE, 1);
    put_number(&f, TIME, 1);
    OK(sl_arrow_append_i64(sl_arrow_builder_child(f.add, ROW_ID), INT64_MIN, &f.err));
    put_number(&f, ROW_VERSION, SL_NO_I64);
    OK(sl_arrow_append_null(sl_arrow_builder_child(f.add, VECTOR), &f.err));
    end_row(&f);
    bind(&f);
    struct sl_file_row row;
    bool found = false;
    assert_int_equal(sl_add_batch_row(&f.batch, 0, &row, &found, &f.err), SILT_ECORRUPT);
    assert_non_null(strstr(f.err.message, "add.baseRowId"));
    close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_come_out_as_they_were_put),
                                       cmocka_unit_test(a_vector_that_was_not_asked_for_is_noticed),
                                       cmocka_unit_test(what_is_missing_or_unusable_is_named),
                                       cmocka_unit_test(the_number_that_stands_for_none_is_unusable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
