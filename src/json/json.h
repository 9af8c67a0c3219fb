/*
 * Reading JSON: a bounded wrapper over yyjson. Numbers are kept raw where asked, so that decimals and large integers stay
 * exact. A document owns its values; views point into it. One owner; reading from any thread.
 */
#ifndef SL_JSON_JSON_H
#define SL_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

#define SL_JSON_MAX_DEPTH 512

struct yyjson_val;
struct sl_json_doc;
typedef struct yyjson_val sl_json; /* a value; NULL stands for "absent" in every getter */

enum sl_json_kind {
    SL_JSON_NULL,
    SL_JSON_BOOL,
    SL_JSON_NUMBER,
    SL_JSON_STRING,
    SL_JSON_ARRAY,
    SL_JSON_OBJECT
};

/*
 * Parses one value; trailing bytes other than white space are an error. Depth is limited to SL_JSON_MAX_DEPTH, duplicate keys
 * are kept (getters find the first). SILT_ECORRUPT with position. Every number is kept as its text.
 */
silt_status sl_json_parse(const silt_env *env, struct sl_str text, struct sl_json_doc **out, silt_error *err);
void sl_json_free(struct sl_json_doc *doc); /* NULL is legal */
const sl_json *sl_json_root(const struct sl_json_doc *doc);

enum sl_json_kind sl_json_get_kind(const sl_json *value); /* SL_JSON_NULL for absent */
bool sl_json_is_object(const sl_json *value);
bool sl_json_is_array(const sl_json *value);
bool sl_json_is_null(const sl_json *value); /* absent or null */

/* Member of an object, element of an array (O(1) only for iteration); absent if it is not there. */
const sl_json *sl_json_member(const sl_json *object, const char *key);
const sl_json *sl_json_member_str(const sl_json *object, struct sl_str key);
size_t sl_json_count(const sl_json *value); /* members or elements */

/* Text of a member; absent if there is none or it is no string. */
struct sl_str sl_json_member_text(const sl_json *object, const char *key);

/* Typed reading: false if the value is of another kind or does not fit. */
bool sl_json_to_str(const sl_json *value, struct sl_str *out);
bool sl_json_to_bool(const sl_json *value, bool *out);
bool sl_json_to_i64(const sl_json *value, int64_t *out); /* integers, also written as 5.0 or 5e3 */
bool sl_json_to_f64(const sl_json *value, double *out);
bool sl_json_to_number_text(const sl_json *value, struct sl_str *out); /* as written */
bool sl_json_number_to_i64(struct sl_str text, int64_t *out);          /* as sl_json_to_i64, of a number's text */

/* Iteration: zero the struct, set it with sl_json_iter, call next until it returns false. */
struct sl_json_iter {
    const sl_json *container;
    const sl_json *next;
    size_t left;
    bool is_object;
};
struct sl_json_iter sl_json_iterate(const sl_json *container); /* array or object; else empty */
bool sl_json_next(struct sl_json_iter *iter, struct sl_str *key, const sl_json **value); /* key absent in arrays */

struct sl_buf;
/* Appends the value as compact JSON, numbers as they were written. */
void sl_json_write(struct sl_buf *out, const sl_json *value);

#endif
