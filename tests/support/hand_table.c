/*
 * Tables written by hand; see hand_table.h.
 */
#include "hand_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json/writer.h"
#include "sql/resident.h"

static const char *keep(struct session_fixture *s, struct sl_buf *buf)
{
    const char *text = sl_arena_strdup(&s->arena, sl_buf_view(buf));
    assert_int_equal(buf->status, SILT_OK);
    assert_non_null(text);
    sl_buf_release(buf);
    return text;
}

static const char *full_path(struct session_fixture *s, const char *path)
{
    struct sl_buf full;
    sl_buf_init(&full, silt_env_default());
    sl_buf_printf(&full, "%s/%s", s->dir, path);
    return keep(s, &full);
}

/* Makes the folders above a file. */
static const char *make_way(struct session_fixture *s, const char *path)
{
    const char *full = full_path(s, path);
    char *folder = sl_arena_strdup(&s->arena, sl_str_from(full));
    assert_non_null(folder);
    for (char *slash = strchr(folder + strlen(s->dir) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(folder, 0777); /* it may be there */
        *slash = '/';
    }
    return full;
}

/*
 * What is changed by hand is to be met by whoever opens the table: a session goes on with what it knows of a table for as long as no commit
 * tells it otherwise.
 */
void hand_put(struct session_fixture *s, const char *path, const char *text)
{
    sl_session_forget_resident(s->session);
    FILE *file = fopen(make_way(s, path), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

const char *hand_read(struct session_fixture *s, const char *path)
{
    char chunk[4096];
    size_t n = 0;
    struct sl_buf text;
    FILE *file = fopen(full_path(s, path), "rb");
    sl_buf_init(&text, silt_env_default());
    if (file == NULL) {
        fail_msg("%s is not there", path);
        return "";
    }
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0) {
        sl_buf_put(&text, chunk, n);
    }
    assert_int_equal(fclose(file), 0);
    return keep(s, &text);
}

void hand_parquet(struct session_fixture *s, const char *path, const char *query)
{
    struct sl_buf sql;
    sl_buf_init(&sql, silt_env_default());
    sl_buf_printf(&sql, "COPY (%s) TO '", query);
    for (const char *p = make_way(s, path); *p != '\0'; p++) {
        sl_buf_put_c(&sql, *p == '\'' ? "'" : "");
        sl_buf_put_char(&sql, *p);
    }
    sl_buf_put_c(&sql, "' (FORMAT parquet)");
    session_expect_done(s, sl_buf_cstr(&sql));
    sl_buf_release(&sql);
}

void hand_remove(struct session_fixture *s, const char *path)
{
    sl_session_forget_resident(s->session);
    assert_int_equal(system(sl_arena_printf(&s->arena, "rm -rf '%s'", full_path(s, path))), 0);
}

static const char *log_path(struct session_fixture *s, const char *table, int64_t version)
{
    struct sl_buf path;
    sl_buf_init(&path, silt_env_default());
    sl_buf_printf(&path, "%s/_delta_log/%020" PRId64 ".json", table, version);
    return keep(s, &path);
}

void hand_commit(struct session_fixture *s, const char *table, int64_t version, ...)
{
    va_list lines;
    struct sl_buf text;
    sl_buf_init(&text, silt_env_default());
    va_start(lines, version);
    for (const char *line = va_arg(lines, const char *); line != NULL; line = va_arg(lines, const char *)) {
        sl_buf_printf(&text, "%s\n", line);
    }
    va_end(lines);
    hand_put(s, log_path(s, table, version), sl_buf_cstr(&text));
    sl_buf_release(&text);
}

const char *hand_log(struct session_fixture *s, const char *table, int64_t version)
{
    return hand_read(s, log_path(s, table, version));
}

const char *hand_metadata(struct session_fixture *s, const char *fields, const char *partition_columns,
                          const char *properties)
{
    struct sl_buf schema;
    struct sl_buf out;
    sl_buf_init(&schema, silt_env_default());
    sl_buf_init(&out, silt_env_default());
    sl_buf_printf(&schema, "{\"type\":\"struct\",\"fields\":[%s]}", fields);
    sl_buf_put_c(&out, "{\"metaData\":{\"id\":\"11111111-2222-3333-4444-555555555555\",\"format\":{\"provider\":"
                       "\"parquet\",\"options\":{}},\"schemaString\":\"");
    sl_json_escape(&out, sl_buf_view(&schema));
    sl_buf_printf(&out, "\",\"partitionColumns\":[%s],\"configuration\":{%s},\"createdTime\":1}}", partition_columns,
                  properties);
    sl_buf_release(&schema);
    return keep(s, &out);
}

void hand_create(struct session_fixture *s, const char *table, const char *fields, const char *partition_columns)
{
    hand_commit(s, table, 0, HAND_PROTOCOL, hand_metadata(s, fields, partition_columns, ""), NULL);
}

const char *hand_add(struct session_fixture *s, const char *path, const char *partition_values, const char *stats)
{
    struct sl_buf out;
    sl_buf_init(&out, silt_env_default());
    sl_buf_put_c(&out, "{\"add\":{\"path\":\"");
    sl_json_escape(&out, sl_str_from(path));
    sl_buf_printf(&out,
                  "\",\"partitionValues\":%s,\"size\":1000,\"modificationTime\":1700000000000,\"dataChange\":true",
                  partition_values);
    if (stats != NULL) {
        sl_buf_put_c(&out, ",\"stats\":\"");
        sl_json_escape(&out, sl_str_from(stats));
        sl_buf_put_char(&out, '"');
    }
    sl_buf_put_c(&out, "}}");
    return keep(s, &out);
}
