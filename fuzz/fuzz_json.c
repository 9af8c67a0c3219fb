/*
 * JSON: the scanner that builds nothing accepts what the parser accepts and sees the same members; what was parsed and written is read
 * back alike.
 */
#include "base/arena.h"
#include "json/json.h"
#include "json/scan.h"
#include "support/fuzz.h"

/* The decoded text of a string token is what the parser has. */
static void same_text(struct sl_arena *arena, const struct sl_json_text *scanned, struct sl_str parsed)
{
    char *plain = sl_arena_alloc(arena, sl_json_text_room(scanned));
    FUZZ_CHECK(plain != NULL);
    FUZZ_CHECK(sl_str_eq(sl_str_make(plain, sl_json_text_decode(scanned, plain)), parsed));
    FUZZ_CHECK(sl_json_text_is(scanned, parsed));
}

static void same_value(struct sl_json_scan *scan, struct sl_arena *arena, const sl_json *value);

static void same_object(struct sl_json_scan *scan, struct sl_arena *arena, const sl_json *value)
{
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_json_text scanned;
    struct sl_str key;
    const sl_json *member = NULL;
    FUZZ_CHECK(sl_json_scan_object(scan));
    while (sl_json_scan_member(scan, &scanned)) {
        FUZZ_CHECK(sl_json_next(&iter, &key, &member));
        same_text(arena, &scanned, key);
        same_value(scan, arena, member);
    }
    FUZZ_CHECK(!sl_json_next(&iter, &key, &member));
}

static void same_array(struct sl_json_scan *scan, struct sl_arena *arena, const sl_json *value)
{
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_str key;
    const sl_json *element = NULL;
    FUZZ_CHECK(sl_json_scan_array(scan));
    while (sl_json_scan_element(scan)) {
        FUZZ_CHECK(sl_json_next(&iter, &key, &element));
        same_value(scan, arena, element);
    }
    FUZZ_CHECK(!sl_json_next(&iter, &key, &element));
}

static void same_value(struct sl_json_scan *scan, struct sl_arena *arena, const sl_json *value)
{
    struct sl_json_token token;
    struct sl_str text = {0};
    const enum sl_json_kind kind = sl_json_get_kind(value);
    FUZZ_CHECK(sl_json_scan_peek(scan) == kind);
    if (kind == SL_JSON_OBJECT) {
        same_object(scan, arena, value);
        return;
    }
    if (kind == SL_JSON_ARRAY) {
        same_array(scan, arena, value);
        return;
    }
    FUZZ_CHECK(sl_json_scan_value(scan, &token) && token.kind == kind);
    if (kind == SL_JSON_STRING) {
        const struct sl_json_text scanned = {token.raw, token.has_escapes};
        FUZZ_CHECK(sl_json_to_str(value, &text));
        same_text(arena, &scanned, text);
    } else if (kind == SL_JSON_NUMBER) {
        FUZZ_CHECK(sl_json_to_number_text(value, &text) && sl_str_eq(text, token.raw));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sl_str text = {(const char *)data, size};
    struct sl_json_doc *doc = NULL;
    struct sl_json_doc *again = NULL;
    struct sl_json_scan scan;
    struct sl_arena arena;
    struct sl_buf written[2];
    sl_arena_init(&arena, fuzz_env());
    sl_buf_init(&written[0], fuzz_env());
    sl_buf_init(&written[1], fuzz_env());
    const bool valid = sl_json_parse(fuzz_env(), text, &doc, NULL) == SILT_OK;
    sl_json_scan_init(&scan, text);
    FUZZ_CHECK((sl_json_scan_skip(&scan) && sl_json_scan_end(&scan)) == valid);
    if (valid) {
        sl_json_scan_init(&scan, text);
        same_value(&scan, &arena, sl_json_root(doc));
        FUZZ_CHECK(sl_json_scan_end(&scan));
        sl_json_write(&written[0], sl_json_root(doc));
        FUZZ_CHECK(sl_json_parse(fuzz_env(), sl_buf_view(&written[0]), &again, NULL) == SILT_OK);
        sl_json_write(&written[1], sl_json_root(again));
        FUZZ_CHECK(sl_str_eq(sl_buf_view(&written[0]), sl_buf_view(&written[1])));
    }
    sl_json_free(doc);
    sl_json_free(again);
    sl_buf_release(&written[0]);
    sl_buf_release(&written[1]);
    sl_arena_release(&arena);
    return 0;
}
