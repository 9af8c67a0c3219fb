/*
 * Answers of S3: a listing is taken with names and sizes that hold together, or refused; what is read of an answer is read again the same; what
 * an error says fits into a message.
 */
#include <string.h>

#include "storage/remote/s3/s3_int.h"
#include "support/fuzz.h"

static void put_page(struct sl_buf *out, const struct sl_s3_page *page)
{
    for (size_t i = 0; i < page->objects.len; i++) {
        const struct sl_s3_object *object = sl_vec_at(&page->objects, i);
        FUZZ_CHECK(object->key.ptr != NULL && memchr(object->key.ptr, '\0', object->key.len) == NULL);
        FUZZ_CHECK(object->size_bytes >= 0);
        sl_buf_put_str(out, object->key);
        sl_buf_printf(out, "|%lld|%lld\n", (long long)object->size_bytes, (long long)object->modified_ms);
    }
    sl_buf_printf(out, "%zu %d ", page->n_prefixes, page->truncated ? 1 : 0);
    sl_buf_put_str(out, page->token);
}

static void read_page(struct sl_str body, struct sl_buf *out)
{
    struct sl_arena arena;
    struct sl_s3_page page = {.arena = &arena};
    sl_arena_init(&arena, fuzz_env());
    sl_vec_init(&page.objects, fuzz_env(), sizeof(struct sl_s3_object));
    if (sl_s3_parse_page(fuzz_env(), body, &page, NULL) == SILT_OK) {
        FUZZ_CHECK(!page.truncated || page.token.len > 0);
        put_page(out, &page);
    }
    sl_vec_release(&page.objects);
    sl_arena_release(&arena);
}

static void read_elements(struct sl_str body, struct sl_buf *out)
{
    struct sl_arena arena;
    struct sl_str text;
    struct sl_str key;
    struct sl_str code;
    sl_arena_init(&arena, fuzz_env());
    if (sl_s3_parse_text(&arena, body, "InitiateMultipartUploadResult/UploadId", &text, NULL) == SILT_OK) {
        sl_buf_put_str(out, text);
    }
    if (sl_s3_parse_deleted(&arena, body, &key, &code, NULL) == SILT_OK) {
        FUZZ_CHECK((key.ptr == NULL) == (code.ptr == NULL));
        sl_buf_put_str(out, key);
        sl_buf_put_str(out, code);
    }
    sl_arena_release(&arena);
}

static void check_word(const char *text, size_t size)
{
    FUZZ_CHECK(memchr(text, '\0', size) != NULL);
    for (; *text != '\0'; text++) {
        FUZZ_CHECK(*text > ' ' && *text <= '~' && *text != '<' && *text != '&' && *text != '=');
    }
}

static void read_error(struct sl_str body, struct sl_buf *out)
{
    struct sl_aws_error said;
    sl_aws_error_read(fuzz_env(), body, &said);
    check_word(said.code, sizeof(said.code));
    check_word(said.region, sizeof(said.region));
    check_word(said.endpoint, sizeof(said.endpoint));
    sl_buf_printf(out, "%s %s %s", said.code, said.region, said.endpoint);
}

static void read_all(struct sl_str body, struct sl_buf *out)
{
    sl_buf_init(out, fuzz_env());
    read_page(body, out);
    read_elements(body, out);
    read_error(body, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sl_str body = {(const char *)data, size};
    struct sl_buf first;
    struct sl_buf second;
    read_all(body, &first);
    read_all(body, &second);
    FUZZ_CHECK(sl_str_eq(sl_buf_view(&first), sl_buf_view(&second)));
    sl_buf_release(&first);
    sl_buf_release(&second);
    return 0;
}
