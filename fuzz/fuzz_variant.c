/*
 * Variants: bytes are a variant for all readers or for none; its JSON is JSON; and built anew of its parts it is the same JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "json/json.h"
#include "schema/variant.h"
#include "schema/variant_build.h"
#include "schema/variant_walk.h"
#include "silt/variant.h"
#include "support/fuzz.h"

static void rebuild(struct sl_variant_walk *walk, struct sl_str bytes, unsigned depth, struct sl_buf *out);

static void rebuild_members(struct sl_variant_walk *walk, const struct sl_variant_value *value, unsigned depth,
                            struct sl_buf *out)
{
    const size_t begin = out->len;
    struct sl_variant_member *members = calloc((size_t)value->n + 1, sizeof(*members));
    FUZZ_CHECK(members != NULL);
    for (uint32_t i = 0; i < value->n; i++) {
        struct sl_str bytes;
        struct sl_str name;
        members[i].at = out->len;
        FUZZ_CHECK(sl_variant_walk_item(walk, value, i, &bytes, &name, NULL) == SILT_OK);
        if (value->kind == SL_VARIANT_OBJECT) {
            FUZZ_CHECK(sl_variant_item(value, i, &bytes, &members[i].id) && name.ptr != NULL);
            members[i].name = name;
        }
        rebuild(walk, bytes, depth + 1, out);
    }
    if (value->kind == SL_VARIANT_OBJECT) {
        sl_variant_close_object(out, begin, members, value->n);
    } else {
        sl_variant_close_array(out, begin, members, value->n);
    }
    free(members);
}

static unsigned decimal_width(sl_i128 value)
{
    const unsigned digits = sl_i128_digits(value);
    return digits <= 9 ? 4 : digits <= 18 ? 8 : 16;
}

static void rebuild(struct sl_variant_walk *walk, struct sl_str bytes, unsigned depth, struct sl_buf *out)
{
    struct sl_variant_value value;
    FUZZ_CHECK(sl_variant_walk_read(walk, bytes, depth, &value, NULL) == SILT_OK);
    switch (value.kind) {
    case SL_VARIANT_NULL: sl_variant_put_null(out); break;
    case SL_VARIANT_BOOL: sl_variant_put_bool(out, value.i64 != 0); break;
    case SL_VARIANT_INT: sl_variant_put_int(out, value.i64, 8); break;
    case SL_VARIANT_FLOAT: sl_variant_put_float(out, (float)value.f64); break;
    case SL_VARIANT_DOUBLE: sl_variant_put_double(out, value.f64); break;
    case SL_VARIANT_DECIMAL:
        sl_variant_put_decimal(out, value.decimal, value.scale, decimal_width(value.decimal));
        break;
    case SL_VARIANT_BINARY: sl_variant_put_binary(out, value.bytes); break;
    case SL_VARIANT_STRING: sl_variant_put_text(out, value.bytes); break;
    case SL_VARIANT_UUID: sl_variant_put_uuid(out, value.bytes); break;
    case SL_VARIANT_OBJECT:
    case SL_VARIANT_ARRAY: rebuild_members(walk, &value, depth, out); break;
    default: sl_variant_put_time(out, value.kind, value.i64); break;
    }
}

static void check_json(struct sl_str json, const silt_variant *variant)
{
    struct sl_json_doc *doc = NULL;
    char small[16];
    size_t len = 0;
    FUZZ_CHECK(sl_json_parse(fuzz_env(), json, &doc, NULL) == SILT_OK);
    sl_json_free(doc);
    FUZZ_CHECK(silt_variant_to_json(variant, small, sizeof(small), &len, NULL) == SILT_OK && len == json.len);
    const size_t shown = len < sizeof(small) - 1 ? len : sizeof(small) - 1;
    FUZZ_CHECK(memcmp(small, json.ptr, shown) == 0);
}

/* An object's members may come in another order than by name; then JSON differs by it, and only the length is the same. */
static void check_rebuilt(struct sl_str metadata, struct sl_str value, struct sl_str json)
{
    struct sl_variant_walk walk;
    struct sl_buf bytes;
    struct sl_buf again;
    sl_buf_init(&bytes, fuzz_env());
    sl_buf_init(&again, fuzz_env());
    FUZZ_CHECK(sl_variant_walk_begin(&walk, metadata, value, NULL) == SILT_OK);
    rebuild(&walk, value, 1, &bytes);
    FUZZ_CHECK(bytes.status == SILT_OK);
    FUZZ_CHECK(sl_variant_check(metadata, sl_buf_view(&bytes), NULL, NULL) == SILT_OK);
    FUZZ_CHECK(sl_variant_put_json(&again, metadata, sl_buf_view(&bytes), NULL) == SILT_OK);
    FUZZ_CHECK(again.len == json.len);
    FUZZ_CHECK(memchr(json.ptr, '{', json.len) != NULL || sl_str_eq(sl_buf_view(&again), json));
    sl_buf_release(&bytes);
    sl_buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    const struct sl_str metadata = fuzz_text(&in);
    const struct sl_str value = fuzz_rest(&in);
    const silt_variant variant = {metadata.ptr, metadata.len, value.ptr, value.len};
    struct sl_buf json;
    bool below_us = false;
    sl_buf_init(&json, fuzz_env());
    const silt_status checked = sl_variant_check(metadata, value, &below_us, NULL);
    const silt_status printed = sl_variant_put_json(&json, metadata, value, NULL);
    FUZZ_CHECK((checked == SILT_OK) == (printed == SILT_OK));
    if (checked == SILT_OK) {
        check_json(sl_buf_view(&json), &variant);
        check_rebuilt(metadata, value, sl_buf_view(&json));
    }
    sl_buf_release(&json);
    return 0;
}
