/* Tables with deletion vectors written by hand; see hand_vector.h. */
#include "hand_vector.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "dv_fixture.h"
#include "json/writer.h"

static const char *keep(struct session_fixture *s, struct sl_buf *buf)
{
    const char *text = sl_arena_strdup(&s->arena, sl_buf_view(buf));
    assert_non_null(text);
    sl_buf_release(buf);
    return text;
}

/* A file of the warehouse, with one folder above it at most made. */
static FILE *open_file(struct session_fixture *s, const char *path, const char *mode)
{
    char full[512];
    (void)snprintf(full, sizeof(full), "%s/%s", s->dir, path);
    char *slash = strrchr(full, '/');
    *slash = '\0';
    (void)mkdir(full, 0777); /* it may be there */
    *slash = '/';
    FILE *file = fopen(full, mode);
    assert_non_null(file);
    return file;
}

struct hand_vector hand_vector_file(struct session_fixture *s, const char *path, const int64_t *rows, size_t n)
{
    struct sl_buf payload;
    struct sl_buf frame;
    sl_buf_init(&payload, silt_env_default());
    sl_buf_init(&frame, silt_env_default());
    FILE *file = open_file(s, path, "ab");
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    dv_payload(&payload, rows, n, 1);
    (void)dv_frame(&frame, &payload);
    const size_t skip = size > 0 ? 1 : 0; /* the version byte is there */
    assert_int_equal(fwrite(frame.data + skip, 1, frame.len - skip, file), frame.len - skip);
    assert_int_equal(fclose(file), 0);
    const struct hand_vector vector = {
        .offset = size > 0 ? size : 1, .size = (int64_t)payload.len, .cardinality = (int64_t)n};
    sl_buf_release(&payload);
    sl_buf_release(&frame);
    return vector;
}

const char *hand_descriptor(struct session_fixture *s, const char *type, const char *text, struct hand_vector vector)
{
    struct sl_buf json;
    sl_buf_init(&json, silt_env_default());
    sl_buf_printf(&json, "{\"storageType\":\"%s\",\"pathOrInlineDv\":\"", type);
    sl_json_escape(&json, sl_str_from(text));
    sl_buf_put_c(&json, "\"");
    if (vector.offset >= 0) {
        sl_buf_printf(&json, ",\"offset\":%" PRId64, vector.offset);
    }
    sl_buf_printf(&json, ",\"sizeInBytes\":%" PRId64 ",\"cardinality\":%" PRId64 "}", vector.size, vector.cardinality);
    return keep(s, &json);
}

const char *hand_inline(struct session_fixture *s, const int64_t *rows, size_t n)
{
    struct sl_buf payload;
    struct sl_buf text;
    sl_buf_init(&payload, silt_env_default());
    sl_buf_init(&text, silt_env_default());
    dv_payload(&payload, rows, n, 1);
    dv_text(&text, &payload);
    const struct hand_vector vector = {.offset = -1, .size = (int64_t)payload.len, .cardinality = (int64_t)n};
    const char *json = hand_descriptor(s, "i", sl_buf_cstr(&text), vector);
    sl_buf_release(&payload);
    sl_buf_release(&text);
    return json;
}

const char *hand_add_vector(struct session_fixture *s, const char *path, const char *partition_values,
                            const char *stats, const char *descriptor)
{
    const char *plain = hand_add(s, path, partition_values, stats);
    struct sl_buf add;
    sl_buf_init(&add, silt_env_default());
    sl_buf_put(&add, plain, strlen(plain) - 2);
    sl_buf_printf(&add, ",\"deletionVector\":%s}}", descriptor);
    return keep(s, &add);
}

const char *hand_remove_vector(struct session_fixture *s, const char *path, const char *descriptor)
{
    struct sl_buf remove;
    sl_buf_init(&remove, silt_env_default());
    sl_buf_printf(&remove, "{\"remove\":{\"path\":\"%s\",\"deletionTimestamp\":1,\"dataChange\":true", path);
    if (descriptor != NULL) {
        sl_buf_printf(&remove, ",\"deletionVector\":%s", descriptor);
    }
    sl_buf_put_c(&remove, "}}");
    return keep(s, &remove);
}

void hand_flip(struct session_fixture *s, const char *path, long at, int bits)
{
    FILE *file = open_file(s, path, "r+b");
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_not_equal(byte, EOF);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_not_equal(fputc(byte ^ bits, file), EOF);
    assert_int_equal(fclose(file), 0);
}
