/*
 * The check of statistics in JSON that a caller brings; see stats_check.h. A bound of another type, or one that is out of order, makes readers
 * pass over files that hold what they look for, each in its own way: so nothing of that gets into the log. Columns without bounds by the
 * protocol (binary, arrays, maps, variants) may have any, which no reader looks at. Called by silt_txn_add_file.
 */
#include "kernel/txn/stats_check.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/time.h"
#include "json/json.h"
#include "schema/value.h"

#define PATH_SIZE 256

static const char *const MEMBERS[] = {"minValues", "maxValues", "nullCount"};
enum member {
    MIN_VALUES,
    MAX_VALUES,
    NULL_COUNT,
    N_MEMBERS
};

struct check {
    const struct sl_stats_subject *subject;
    struct sl_arena arena;
    int64_t rows;         /* -1: not told */
    char path[PATH_SIZE]; /* of the member at hand, cut if need be */
};

/* Readers differ in what they take a number of rows for that is none, and which of two they believe. */
static silt_status read_row_count(const sl_json *stats, int64_t *rows, silt_error *err)
{
    const sl_json *count = sl_json_member(stats, "numRecords");
    struct sl_json_iter members = sl_json_iterate(stats);
    struct sl_str key;
    const sl_json *value = NULL;
    while (sl_json_next(&members, &key, &value)) {
        if (sl_str_eq(key, SL_STR("numRecords")) && value != count) {
            return sl_fail(err, SILT_EINVALID, NULL, "numRecords is there twice");
        }
    }
    int64_t found = -1;
    if (!sl_json_is_null(count) && (!sl_json_to_i64(count, &found) || found < 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "numRecords must be a whole number, not negative");
    }
    *rows = found;
    return SILT_OK;
}

static silt_status parse(const silt_env *env, struct sl_str stats, struct sl_json_doc **doc, int64_t *rows,
                         silt_error *err)
{
    SL_TRY(sl_json_parse(env, stats, doc, err));
    silt_status status = sl_json_is_object(sl_json_root(*doc))
                             ? read_row_count(sl_json_root(*doc), rows, err)
                             : sl_fail(err, SILT_EINVALID, NULL, "a JSON object was expected");
    if (status != SILT_OK) {
        sl_json_free(*doc);
        *doc = NULL;
    }
    return status;
}

silt_status sl_stats_count_rows(const silt_env *env, struct sl_str stats, int64_t *rows, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    *rows = -1;
    if (stats.ptr == NULL) {
        return SILT_OK;
    }
    SL_TRY(parse(env, stats, &doc, rows, err));
    sl_json_free(doc);
    return SILT_OK;
}

/* ---- columns ---- */

static silt_status refuse(const struct check *check, const char *why, silt_error *err)
{
    return sl_fail(err, SILT_EINVALID, NULL, "the statistics of %s are not valid: %s %s", check->subject->path,
                   check->path, why);
}

static bool is_number(const sl_json *value)
{
    return sl_json_get_kind(value) == SL_JSON_NUMBER;
}

/* NaN and the infinities have no number in JSON, so that they come as text. */
static bool is_float(const sl_json *value, silt_type_kind kind)
{
    struct sl_str text;
    double ignored = 0;
    return is_number(value) ||
           (sl_json_to_str(value, &text) && sl_float_parse_java(text, kind == SILT_TYPE_FLOAT, &ignored));
}

/* Writers that take decimals through doubles may say one with a digit more than the type has. */
static bool is_decimal(const sl_json *value)
{
    struct sl_str text;
    sl_i128 unscaled = 0;
    int scale = 0;
    return is_number(value) || (sl_json_to_str(value, &text) && sl_decimal_parse(text, &unscaled, &scale));
}

static bool is_time(const sl_json *value, silt_type_kind kind)
{
    struct sl_str text;
    int64_t us = 0;
    int32_t days = 0;
    bool has_zone = false;
    return sl_json_to_str(value, &text) &&
           (kind == SILT_TYPE_DATE ? sl_date_parse(text, &days) : sl_timestamp_parse(text, &us, &has_zone));
}

static bool is_bound(const sl_json *value, const struct silt_type *type)
{
    int64_t number = 0;
    switch (type->kind) {
    case SILT_TYPE_BOOLEAN: return sl_json_get_kind(value) == SL_JSON_BOOL;
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: return sl_json_to_i64(value, &number) && sl_int_fits(type->kind, number);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return is_float(value, type->kind);
    case SILT_TYPE_DECIMAL: return is_decimal(value);
    case SILT_TYPE_STRING: return sl_json_get_kind(value) == SL_JSON_STRING;
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return is_time(value, type->kind);
    default: return true;
    }
}

static bool is_ascii(const silt_value *value)
{
    const struct sl_str text = sl_value_get_str(value);
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] >= 0x80U) {
            return false;
        }
    }
    return true;
}

/* Text beyond ASCII has two orders among writers, of bytes and of UTF-16 units. What cannot be compared is in order. */
static bool is_in_order(struct check *check, const sl_json *min, const sl_json *max, const struct silt_type *type)
{
    silt_value low;
    silt_value high;
    int order = 0;
    if (!sl_stats_value_read(&check->arena, min, type, &low) || !sl_stats_value_read(&check->arena, max, type, &high) ||
        (type->kind == SILT_TYPE_STRING && !(is_ascii(&low) && is_ascii(&high)))) {
        return true;
    }
    return !sl_value_compare(&low, &high, &order) || order <= 0;
}

static silt_status check_count(const struct check *check, const sl_json *value, silt_error *err)
{
    int64_t count = 0;
    if (!sl_json_to_i64(value, &count) || count < 0) {
        return refuse(check, "must be a whole number, not negative", err);
    }
    return check->rows < 0 || count <= check->rows ? SILT_OK : refuse(check, "is above numRecords", err);
}

/* Names one below the member that is named, and returns where that ended. */
static size_t descend(struct check *check, struct sl_str name)
{
    const size_t end = strlen(check->path);
    (void)snprintf(check->path + end, sizeof(check->path) - end, ".%.*s", SL_FMT(name)); /* cut text still names it */
    return end;
}

static silt_status check_struct(struct check *check, enum member member, const sl_json *object,
                                const struct silt_type *type, silt_error *err);

static silt_status check_column(struct check *check, enum member member, const sl_json *value,
                                const struct silt_type *type, silt_error *err)
{
    if (sl_json_is_null(value)) {
        return SILT_OK;
    }
    if (type->kind == SILT_TYPE_STRUCT) {
        return check_struct(check, member, value, type, err);
    }
    if (member == NULL_COUNT) {
        return check_count(check, value, err);
    }
    char why[64];
    (void)snprintf(why, sizeof(why), "is no bound of a %s", sl_type_kind_name(type->kind)); /* fits */
    return is_bound(value, type) ? SILT_OK : refuse(check, why, err);
}

/* Members mostly come in the order of the columns. */
static size_t find_column(const struct silt_type *type, struct sl_str name, size_t hint)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const size_t at = (hint + i) % type->n_fields;
        if (sl_str_eq(type->fields[at].name, name)) {
            return at;
        }
    }
    return type->n_fields;
}

/* As deep as the schema at most. */
static silt_status check_struct(struct check *check, enum member member, const sl_json *object,
                                const struct silt_type *type, silt_error *err)
{
    if (!sl_json_is_object(object)) {
        return refuse(check, "must be an object", err);
    }
    bool *seen = sl_arena_alloc_zero(&check->arena, type->n_fields + 1);
    if (seen == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_json_iter members = sl_json_iterate(object);
    struct sl_str key;
    const sl_json *value = NULL;
    size_t hint = 0;
    while (sl_json_next(&members, &key, &value)) {
        const size_t at = find_column(type, key, hint);
        if (at == type->n_fields) {
            continue; /* of a column that the table does not have, or not any more */
        }
        const size_t end = descend(check, key);
        SL_TRY(seen[at] ? refuse(check, "is there twice", err)
                        : check_column(check, member, value, type->fields[at].type, err));
        check->path[end] = '\0';
        seen[at] = true;
        hint = at + 1;
    }
    return SILT_OK;
}

/* After both were found to be of the columns' types. */
static silt_status check_order(struct check *check, const sl_json *mins, const sl_json *maxs,
                               const struct silt_type *type, silt_error *err)
{
    struct sl_json_iter members = sl_json_iterate(mins);
    struct sl_str key;
    const sl_json *min = NULL;
    size_t hint = 0;
    while (sl_json_next(&members, &key, &min)) {
        const size_t at = find_column(type, key, hint);
        const sl_json *max = at < type->n_fields ? sl_json_member_str(maxs, key) : NULL;
        if (sl_json_is_null(min) || sl_json_is_null(max)) {
            continue;
        }
        const struct silt_type *column = type->fields[at].type;
        const size_t end = descend(check, key);
        if (column->kind == SILT_TYPE_STRUCT) {
            SL_TRY(check_order(check, min, max, column, err));
        } else if (!is_in_order(check, min, max, column)) {
            return refuse(check, "is above its maximum", err);
        }
        check->path[end] = '\0';
        hint = at + 1;
    }
    return SILT_OK;
}

/* ---- the whole ---- */

static silt_status check_members(struct check *check, const sl_json *stats, silt_error *err)
{
    const struct silt_type *root = &check->subject->physical->root;
    const sl_json *found[N_MEMBERS] = {NULL};
    const sl_json *tight = sl_json_member(stats, "tightBounds");
    struct sl_json_iter members = sl_json_iterate(stats);
    struct sl_str key;
    const sl_json *value = NULL;
    while (sl_json_next(&members, &key, &value)) {
        for (size_t i = 0; i < N_MEMBERS; i++) {
            if (!sl_str_eq_c(key, MEMBERS[i])) {
                continue;
            }
            (void)snprintf(check->path, sizeof(check->path), "%s", MEMBERS[i]); /* fits */
            SL_TRY(found[i] != NULL ? refuse(check, "is there twice", err) : SILT_OK);
            SL_TRY(sl_json_is_null(value) ? SILT_OK : check_struct(check, (enum member)i, value, root, err));
            found[i] = value;
        }
    }
    (void)snprintf(check->path, sizeof(check->path), "tightBounds"); /* fits */
    if (!sl_json_is_null(tight) && sl_json_get_kind(tight) != SL_JSON_BOOL) {
        return refuse(check, "must be true or false", err);
    }
    (void)snprintf(check->path, sizeof(check->path), "%s", MEMBERS[MIN_VALUES]); /* fits */
    return check_order(check, found[MIN_VALUES], found[MAX_VALUES], root, err);
}

silt_status sl_stats_check(const silt_env *env, const struct sl_stats_subject *subject, struct sl_str stats,
                           int64_t *rows, silt_error *err)
{
    struct check check = {.subject = subject, .rows = -1};
    struct sl_json_doc *doc = NULL;
    silt_error found = SILT_ERROR_INIT;
    *rows = -1;
    if (stats.ptr == NULL) {
        return SILT_OK;
    }
    silt_status status = parse(env, stats, &doc, &check.rows, &found);
    if (status != SILT_OK) {
        return status == SILT_ENOMEM ? sl_fail_nomem(err)
                                     : sl_fail(err, SILT_EINVALID, NULL, "the statistics of %s are not valid: %s",
                                               subject->path, found.message);
    }
    sl_arena_init(&check.arena, env);
    status = check_members(&check, sl_json_root(doc), err);
    *rows = status == SILT_OK ? check.rows : -1;
    sl_arena_release(&check.arena);
    sl_json_free(doc);
    return status;
}
