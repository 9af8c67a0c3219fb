/* Change data for tests; see changes_fixture.h. */
#include "changes_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "dv_fixture.h"
#include "mini_rows.h"

#define MAX_LINES 32
#define MAX_ROWS 8

int changes_setup(void **state)
{
    struct changes_fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->err = (silt_error)SILT_ERROR_INIT;
    test_env_init(&f->test);
    sl_arena_init(&f->arena, &f->test.env);
    assert_true(mini_engine_init(&f->mini, &f->test.env, 0, &f->err));
    *state = f;
    return 0;
}

int changes_teardown(void **state)
{
    struct changes_fixture *f = *state;
    sl_arena_release(&f->arena);
    mini_engine_release(&f->mini);
    test_env_check(&f->test);
    free(f);
    return 0;
}

static void commit_lines(struct changes_fixture *f, int64_t version, int64_t ms, va_list lines)
{
    const char *all[MAX_LINES];
    size_t n = 0;
    for (const char *line = va_arg(lines, const char *); line != NULL; line = va_arg(lines, const char *)) {
        assert_true(n < MAX_LINES);
        all[n++] = line;
    }
    f->test.wall_us = ms * 1000;
    assert_true(mini_engine_commit(&f->mini, CHANGES_ROOT, version, all, n));
}

void changes_commit(struct changes_fixture *f, int64_t version, ...)
{
    va_list lines;
    va_start(lines, version);
    commit_lines(f, version, (version + 1) * 1000, lines);
    va_end(lines);
}

void changes_commit_at(struct changes_fixture *f, int64_t version, int64_t ms, ...)
{
    va_list lines;
    va_start(lines, ms);
    commit_lines(f, version, ms, lines);
    va_end(lines);
}

static const char *keep(struct changes_fixture *f, struct sl_buf *buf)
{
    const char *text = sl_arena_strdup(&f->arena, sl_buf_view(buf));
    sl_buf_release(buf);
    assert_non_null(text);
    return text;
}

const char *changes_metadata(struct changes_fixture *f, const char *fields, const char *partition_columns,
                             const char *properties)
{
    struct sl_buf buf;
    sl_buf_init(&buf, &f->test.env);
    sl_buf_put_c(&buf, "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},"
                       "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[");
    for (const char *at = fields; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\') {
            sl_buf_put_char(&buf, '\\');
        }
        sl_buf_put_char(&buf, *at);
    }
    sl_buf_printf(&buf, "]}\",\"partitionColumns\":[%s],\"configuration\":{%s},\"createdTime\":0}}", partition_columns,
                  properties);
    return keep(f, &buf);
}

const char *changes_vector(struct changes_fixture *f, const char *verb, const char *path, const int64_t *rows, size_t n)
{
    struct sl_buf payload;
    struct sl_buf text;
    struct sl_buf buf;
    sl_buf_init(&payload, &f->test.env);
    sl_buf_init(&text, &f->test.env);
    sl_buf_init(&buf, &f->test.env);
    dv_payload(&payload, rows, n, 0);
    dv_text(&text, &payload);
    sl_buf_printf(&buf,
                  "{\"%s\":{\"path\":\"%s\",\"partitionValues\":{},\"size\":5,\"modificationTime\":7,"
                  "\"deletionTimestamp\":7,\"extendedFileMetadata\":true,\"dataChange\":true,\"deletionVector\":"
                  "{\"storageType\":\"i\",\"pathOrInlineDv\":\"%s\",\"sizeInBytes\":%zu,\"cardinality\":%zu}}}",
                  verb, path, sl_buf_cstr(&text), payload.len, n);
    sl_buf_release(&payload);
    sl_buf_release(&text);
    return keep(f, &buf);
}

void changes_make(struct changes_fixture *f)
{
    changes_commit(f, 0, CHANGES_PROTOCOL,
                   changes_metadata(f, CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string"), "", CHANGES_ON),
                   NULL);
}

static void make_rows(struct changes_fixture *f, const char *path, int64_t first, size_t n, const char *type)
{
    static const char *const names[] = {"id", "name", "_change_type"};
    const size_t width = type != NULL ? 3 : 2;
    silt_value cells[3 * MAX_ROWS];
    char texts[MAX_ROWS][2];
    assert_true(n <= MAX_ROWS);
    for (size_t i = 0; i < n; i++) {
        texts[i][0] = (char)('a' + i);
        texts[i][1] = '\0';
        cells[i * width] = mini_long(first + (int64_t)i);
        cells[i * width + 1] = mini_text(texts[i]);
        if (type != NULL) {
            cells[i * width + 2] = mini_text(type);
        }
    }
    char full[256];
    (void)snprintf(full, sizeof(full), CHANGES_ROOT "/%s", path);
    mini_engine_can(&f->mini, full, names, width, cells, n);
}

void changes_file(struct changes_fixture *f, const char *path, int64_t first, size_t n)
{
    make_rows(f, path, first, n, NULL);
}

void changes_change_file(struct changes_fixture *f, const char *path, int64_t first, size_t n, const char *type)
{
    make_rows(f, path, first, n, type);
}

silt_changes_options changes_range(int64_t from, int64_t to)
{
    return (silt_changes_options){.size = sizeof(silt_changes_options), .from_version = from, .to_version = to};
}

silt_status changes_try(struct changes_fixture *f, const silt_changes_options *options, silt_changes **out)
{
    silt_table *table = NULL;
    *out = NULL;
    silt_error_reset(&f->err);
    silt_status status = silt_table_for_path(f->mini.engine, CHANGES_ROOT, &table, &f->err);
    if (status == SILT_OK) {
        status = silt_table_changes(table, NULL, options, out, &f->err);
    }
    silt_table_unref(table);
    return status;
}

const char *changes_read(struct changes_fixture *f, const silt_changes_options *options)
{
    silt_changes *changes = NULL;
    struct ArrowArrayStream rows;
    if (changes_try(f, options, &changes) != SILT_OK || silt_changes_read(changes, NULL, &rows, &f->err) != SILT_OK) {
        fail_msg("%s %s", f->err.code_name, f->err.message);
    }
    silt_changes_unref(changes);
    if (mini_rows_text(&rows, f->rows, sizeof(f->rows)) < 0) {
        fail_msg("%s", f->rows);
    }
    return f->rows;
}

void changes_expect(struct changes_fixture *f, int64_t from, int64_t to, const char *rows)
{
    const silt_changes_options options = changes_range(from, to);
    assert_string_equal(changes_read(f, &options), rows);
}

void changes_expect_failure(struct changes_fixture *f, const silt_changes_options *options, silt_status status,
                            const char *code_name, const char *in_message)
{
    silt_changes *changes = NULL;
    assert_int_equal(changes_try(f, options, &changes), status);
    assert_null(changes);
    assert_string_equal(f->err.code_name, code_name);
    if (strstr(f->err.message, in_message) == NULL) {
        fail_msg("\"%s\" is not in: %s", in_message, f->err.message);
    }
}
