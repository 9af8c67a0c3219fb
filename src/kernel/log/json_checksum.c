/*
 * Canonical JSON and its MD5; see json_checksum.h. Every leaf becomes one text "path=value"; the leaves are sorted and joined.
 * Depth is bounded by the JSON reader, the number of leaves here. One thread a call.
 */
#include "kernel/log/json_checksum.h"

#include <md5.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

/* Room at once for the leaves of a small hint, instead of by doublings. */
#define FIRST_BYTES ((size_t)16 * 1024)
/* A hint that carries a wide schema has some ten thousand. */
#define MAX_LEAVES ((size_t)4 * 1024 * 1024)
#define FEW_KEYS 8

struct leaf {
    struct sl_str text; /* path=value, of the walk's text once it is complete */
    struct sl_str path; /* its beginning */
    size_t begin;       /* offsets into the text while it grows */
    size_t path_end;
};

struct walk {
    const silt_env *env;
    struct sl_buf text; /* of all leaves, one after the other */
    struct sl_buf path; /* of the value that is visited */
    struct sl_vec leaves;
    silt_error *err;
};

static bool is_unreserved(unsigned char c)
{
    /* Of each 64 bytes a bit each: the digits, '-' and '.'; the letters, '_' and '~'. */
    static const uint64_t bits[4] = {UINT64_C(0x03FF600000000000), UINT64_C(0x47FFFFFE87FFFFFE), 0, 0};
    return (bits[c / 64] >> (c % 64) & 1) != 0;
}

/* A text of which nothing has to be encoded, as most are, is put at once. */
static void put_encoded(struct sl_buf *out, struct sl_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    sl_buf_put_char(out, '"');
    size_t plain = 0; /* start of what stays as it is and is not yet written */
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char byte = (unsigned char)text.ptr[i];
        if (!is_unreserved(byte)) {
            const char encoded[3] = {'%', digits[byte >> 4], digits[byte & 15]};
            sl_buf_put(out, text.ptr + plain, i - plain);
            sl_buf_put(out, encoded, sizeof(encoded));
            plain = i + 1;
        }
    }
    sl_buf_put(out, text.ptr + plain, text.len - plain);
    sl_buf_put_char(out, '"');
}

static void put_scalar(struct sl_buf *out, const sl_json *value)
{
    struct sl_str text = {NULL, 0};
    if (sl_json_to_str(value, &text)) {
        put_encoded(out, text);
    } else {
        sl_json_write(out, value); /* numbers and literals are their own canonical form */
    }
}

static silt_status put_leaf(struct walk *walk, const sl_json *value)
{
    if (walk->leaves.len >= MAX_LEAVES) {
        return sl_fail(walk->err, SILT_ELIMIT, NULL, "more than %zu values to make a checksum of", MAX_LEAVES);
    }
    struct leaf *leaf = sl_vec_push(&walk->leaves);
    if (leaf == NULL) {
        return sl_fail_nomem(walk->err);
    }
    leaf->begin = walk->text.len;
    sl_buf_put(&walk->text, walk->path.data, walk->path.len);
    leaf->path_end = walk->text.len;
    sl_buf_put_char(&walk->text, '=');
    put_scalar(&walk->text, value);
    leaf->text.len = walk->text.len - leaf->begin;
    return sl_buf_status(&walk->text, walk->err);
}

static silt_status fail_twice(struct walk *walk, struct sl_str key)
{
    return sl_fail(walk->err, SILT_ECORRUPT, NULL, "the key %.*s is there twice in one object", SL_FMT(key));
}

/* Of few keys, each is compared with those before it. */
static silt_status check_few(struct walk *walk, const sl_json *object)
{
    struct sl_str keys[FEW_KEYS];
    size_t n = 0;
    struct sl_json_iter iter = sl_json_iterate(object);
    const sl_json *value = NULL;
    while (n < FEW_KEYS && sl_json_next(&iter, &keys[n], &value)) {
        for (size_t i = 0; i < n; i++) {
            if (sl_str_eq(keys[i], keys[n])) {
                return fail_twice(walk, keys[n]);
            }
        }
        n++;
    }
    return SILT_OK;
}

static silt_status check_unique(struct walk *walk, const sl_json *object)
{
    if (sl_json_count(object) <= FEW_KEYS) {
        return check_few(walk, object);
    }
    struct sl_map keys;
    sl_map_init(&keys, walk->env);
    struct sl_json_iter iter = sl_json_iterate(object);
    struct sl_str key;
    const sl_json *value = NULL;
    silt_status status = SILT_OK;
    while (status == SILT_OK && sl_json_next(&iter, &key, &value)) {
        bool inserted = false;
        if (sl_map_put(&keys, key, &inserted) == NULL) {
            status = sl_fail_nomem(walk->err);
        } else if (!inserted) {
            status = fail_twice(walk, key);
        }
    }
    sl_map_release(&keys);
    return status;
}

/* As deep as the reader lets a document be. */
static silt_status visit(struct walk *walk, const sl_json *value, bool is_root)
{
    const bool is_object = sl_json_is_object(value);
    if (!is_object && !sl_json_is_array(value)) {
        return put_leaf(walk, value);
    }
    if (is_object) {
        SL_TRY(check_unique(walk, value));
    }
    const size_t path_len = walk->path.len;
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_str key;
    const sl_json *member = NULL;
    for (size_t index = 0; sl_json_next(&iter, &key, &member); index++) {
        if (is_root && is_object && sl_str_eq(key, SL_STR("checksum"))) {
            continue;
        }
        if (path_len > 0) {
            sl_buf_put_char(&walk->path, '+');
        }
        if (is_object) {
            put_encoded(&walk->path, key);
        } else {
            sl_buf_put_u64(&walk->path, index);
        }
        SL_TRY(sl_buf_status(&walk->path, walk->err));
        SL_TRY(visit(walk, member, false));
        walk->path.len = path_len;
    }
    return SILT_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return sl_str_compare(((const struct leaf *)a)->path, ((const struct leaf *)b)->path);
}

static int compare_texts(const void *a, const void *b)
{
    return sl_str_compare(((const struct leaf *)a)->text, ((const struct leaf *)b)->text);
}

static void put_sorted(struct walk *walk, enum sl_checksum_order order, struct sl_buf *out)
{
    struct leaf *leaves = walk->leaves.data;
    const size_t n = walk->leaves.len;
    if (n == 0) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        leaves[i].text.ptr = walk->text.data + leaves[i].begin;
        leaves[i].path = sl_str_make(leaves[i].text.ptr, leaves[i].path_end - leaves[i].begin);
    }
    qsort(leaves, n, sizeof(*leaves), order == SL_CHECKSUM_BY_PATH ? compare_paths : compare_texts);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            sl_buf_put_char(out, ',');
        }
        sl_buf_put(out, leaves[i].text.ptr, leaves[i].text.len);
    }
}

silt_status sl_json_canonical(const silt_env *env, const sl_json *root, enum sl_checksum_order order,
                              struct sl_buf *out, silt_error *err)
{
    struct walk walk = {.env = env, .err = err};
    sl_buf_init(&walk.text, env);
    sl_buf_init(&walk.path, env);
    sl_vec_init(&walk.leaves, env, sizeof(struct leaf));
    sl_buf_reserve(&walk.text, FIRST_BYTES); /* where that fails, it is told at the first leaf */
    silt_status status = visit(&walk, root, true);
    if (status == SILT_OK) {
        sl_buf_reserve(out, walk.text.len + walk.leaves.len);
        put_sorted(&walk, order, out);
        status = sl_buf_status(out, err);
    }
    sl_vec_release(&walk.leaves);
    sl_buf_release(&walk.path);
    sl_buf_release(&walk.text);
    return status;
}

silt_status sl_json_checksum(const silt_env *env, const sl_json *root, enum sl_checksum_order order,
                             char out[SL_JSON_CHECKSUM_SIZE], silt_error *err)
{
    struct sl_buf text;
    sl_buf_init(&text, env);
    const silt_status status = sl_json_canonical(env, root, order, &text, err);
    out[0] = '\0';
    if (status == SILT_OK) {
        (void)MD5Data((const uint8_t *)sl_buf_cstr(&text), text.len, out); /* returns `out` */
    }
    sl_buf_release(&text);
    return status;
}
