/*
 * Table properties: the known keys, checking a key and value as CREATE and SET give them, and effective values with their
 * defaults. Called by transactions, planning and SQL; pure, any thread. PROTOCOL.md "Table Properties".
 */
#include "kernel/feature/feature.h"

#include "base/error.h"
#include "kernel/feature/column_list.h"
#include "kernel/feature/property_value.h"

struct property {
    const char *key;
    size_t key_len;
    enum sl_property_type type;
    const char *fallback;
    int64_t least;
    const char *choices;
    const char *older_key;
    bool user_sets;
};

#define USER true
#define ENGINE false
#define SL_PROPERTY(key, type, fallback, least, choices, older_key, who) \
    {key, sizeof(key) - 1, SL_PROPERTY_##type, fallback, least, choices, older_key, who},
static const struct property properties[] = {
#include "kernel/feature/properties.def"
};
#undef SL_PROPERTY
#undef USER
#undef ENGINE

#define PROPERTY_COUNT (sizeof(properties) / sizeof(properties[0]))
#define NEAR_DISTANCE 5

static bool has_prefix(struct sl_str key, const char *prefix)
{
    const struct sl_str text = sl_str_from(prefix);
    return key.len >= text.len && sl_str_eq_nocase(sl_str_sub(key, 0, text.len), text);
}

static const struct property *find_property(struct sl_str key)
{
    for (size_t i = 0; i < PROPERTY_COUNT; i++) {
        if (sl_str_eq(key, sl_str_make(properties[i].key, properties[i].key_len))) { /* as nearly everybody spells it */
            return &properties[i];
        }
    }
    for (size_t i = 0; i < PROPERTY_COUNT; i++) {
        if (sl_str_eq_nocase(key, sl_str_from(properties[i].key))) {
            return &properties[i];
        }
    }
    return NULL;
}

bool sl_property_is_protocol(struct sl_str key)
{
    return has_prefix(key, "delta.feature.") || sl_str_eq_nocase(key, SL_STR("delta.minReaderVersion")) ||
           sl_str_eq_nocase(key, SL_STR("delta.minWriterVersion")) ||
           sl_str_eq_nocase(key, SL_STR("delta.ignoreProtocolDefaults"));
}

struct sl_str sl_property_canonical(struct sl_arena *arena, struct sl_str key)
{
    if (!has_prefix(key, "delta.") && !has_prefix(key, "silt.")) {
        return key;
    }
    const struct property *known = find_property(key);
    if (known != NULL) {
        return sl_str_from(known->key);
    }
    if (!has_prefix(key, "delta.feature.") && !has_prefix(key, "delta.universalFormat.config.")) {
        return key;
    }
    char *lower = sl_arena_strdup(arena, key);
    if (lower == NULL) {
        return sl_str_make(NULL, 0);
    }
    for (size_t i = 0; i < key.len; i++) {
        if (lower[i] >= 'A' && lower[i] <= 'Z') {
            lower[i] = (char)(lower[i] - 'A' + 'a');
        }
    }
    return sl_str_make(lower, key.len);
}

struct sl_str sl_property_canonical_value(struct sl_str key, struct sl_str value)
{
    const struct property *known = find_property(key);
    bool flag = false;
    struct sl_str choice;
    if (known == NULL) {
        return value;
    }
    if (known->type == SL_PROPERTY_BOOL && sl_property_parse_bool(value, &flag)) {
        return flag ? SL_STR("true") : SL_STR("false");
    }
    if (known->type == SL_PROPERTY_ENUM && sl_property_match_choice(value, known->choices, &choice)) {
        return choice;
    }
    return value;
}

static silt_status fail_unknown(struct sl_str key, silt_error *err)
{
    const struct property *near = NULL;
    size_t best = NEAR_DISTANCE + 1;
    for (size_t i = 0; i < PROPERTY_COUNT; i++) {
        const size_t distance = sl_str_distance(key, sl_str_from(properties[i].key), NEAR_DISTANCE);
        if (distance < best) {
            best = distance;
            near = &properties[i];
        }
    }
    const silt_status status = sl_fail(err, SILT_EINVALID, "DELTA_UNKNOWN_CONFIGURATION",
                                       "table property %.*s is unknown; keys that begin with delta. or silt. are "
                                       "reserved",
                                       SL_FMT(key));
    if (near != NULL) {
        sl_error_hint(err, "did you mean %s?", near->key);
    }
    return status;
}

static silt_status fail_value(struct sl_str key, struct sl_str value, const char *code, const char *expected,
                              silt_error *err)
{
    return sl_fail(err, SILT_EINVALID, code != NULL ? code : "DELTA_ILLEGAL_OPTION",
                   "invalid value '%.*s' for table property %.*s: %s", SL_FMT(value), SL_FMT(key), expected);
}

/* Delta Spark reads most numbers as 32 bits, and cannot use a table with a larger one. */
static bool is_in_range(const struct property *property, int64_t number)
{
    return number >= property->least && (property->type == SL_PROPERTY_LONG || number <= INT32_MAX);
}

static silt_status check_integer(const struct property *property, struct sl_str value, silt_error *err)
{
    const struct sl_str key = sl_str_from(property->key);
    int64_t number = 0;
    struct sl_str choice;
    if (!sl_str_to_i64(value, &number)) {
        const bool protocol = sl_property_is_protocol(key);
        return fail_value(key, value, protocol ? "DELTA_PROTOCOL_PROPERTY_NOT_INT" : NULL, "it must be an integer",
                          err);
    }
    if (number < property->least) {
        return sl_fail(err, SILT_EINVALID, "DELTA_ILLEGAL_OPTION",
                       "invalid value '%.*s' for table property %s: it must be at least %lld", SL_FMT(value),
                       property->key, (long long)property->least);
    }
    if (!is_in_range(property, number)) {
        return sl_fail(err, SILT_EINVALID, "DELTA_ILLEGAL_OPTION",
                       "invalid value '%.*s' for table property %s: it must be at most %d", SL_FMT(value),
                       property->key, INT32_MAX);
    }
    if (property->choices != NULL && !sl_property_match_choice(value, property->choices, &choice)) {
        return sl_fail(err, SILT_EINVALID, "DELTA_ILLEGAL_OPTION",
                       "invalid value '%.*s' for table property %s: it must be one of %s", SL_FMT(value), property->key,
                       property->choices);
    }
    return SILT_OK;
}

static silt_status check_interval(const struct property *property, struct sl_str value, silt_error *err)
{
    const struct sl_str key = sl_str_from(property->key);
    int64_t micros = 0;
    if (sl_str_trim(value).len == 0) {
        return fail_value(key, value, "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY",
                          "an interval such as '2 weeks' is expected", err);
    }
    if (!sl_property_parse_interval(value, &micros) || micros < 0) {
        return fail_value(key, value, "DELTA_INVALID_INTERVAL",
                          "an interval such as '2 weeks' is expected; months, years and negative ones are not accepted",
                          err);
    }
    return SILT_OK;
}

static silt_status check_choice(const struct property *property, struct sl_str value, silt_error *err)
{
    struct sl_str choice;
    /* What Delta Spark reads in one spelling only must be in that one. */
    const bool exact = strcmp(property->key, "delta.checkpointPolicy") == 0;
    if (sl_property_match_choice(value, property->choices, &choice) && (!exact || sl_str_eq(value, choice))) {
        return SILT_OK;
    }
    const bool isolation = strcmp(property->key, "delta.isolationLevel") == 0;
    return sl_fail(err, SILT_EINVALID, isolation ? "DELTA_INVALID_ISOLATION_LEVEL" : "DELTA_ILLEGAL_OPTION",
                   "invalid value '%.*s' for table property %s: it must be one of %s", SL_FMT(value), property->key,
                   property->choices);
}

/* "1.0.0" and later: three numbers. */
static bool is_format_version(struct sl_str value)
{
    uint64_t numbers[3] = {0};
    size_t begin = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t end = begin;
        while (end < value.len && sl_is_digit(value.ptr[end])) {
            end++;
        }
        const bool ends = i < 2 ? end < value.len && value.ptr[end] == '.' : end == value.len;
        if (!ends || !sl_str_to_u64(sl_str_sub(value, begin, end), &numbers[i])) {
            return false;
        }
        begin = end + 1;
    }
    return numbers[0] >= 1;
}

/* One text names formats whose metadata a commit has to bring along; silt brings none, so that it must not promise them. */
static silt_status check_text(const struct property *property, struct sl_str value, silt_error *err)
{
    if (strcmp(property->key, "delta.parquet.format.version") == 0 && !is_format_version(value)) {
        return fail_value(sl_str_from(property->key), value, NULL, "it must be a version of Parquet such as 2.12.0",
                          err);
    }
    if (strcmp(property->key, "delta.universalFormat.enabledFormats") != 0 || sl_str_trim(value).len == 0) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNIVERSAL_FORMAT_VIOLATION",
                   "table property %s cannot be set to '%.*s': silt writes no metadata of other formats", property->key,
                   SL_FMT(value));
}

static silt_status check_value(const struct property *property, struct sl_str value, silt_error *err)
{
    const struct sl_str key = sl_str_from(property->key);
    bool flag = false;
    int64_t bytes = 0;
    switch (property->type) {
    case SL_PROPERTY_BOOL:
        return sl_str_trim(value).len == value.len && sl_property_parse_bool(value, &flag)
                   ? SILT_OK
                   : fail_value(key, value, NULL, "it must be true or false", err);
    case SL_PROPERTY_INT:
    case SL_PROPERTY_LONG: return check_integer(property, value, err);
    case SL_PROPERTY_BYTES:
        return sl_property_parse_bytes(value, &bytes) && bytes >= property->least
                   ? SILT_OK
                   : fail_value(key, value, NULL, "it must be a size such as 128MB", err);
    case SL_PROPERTY_INTERVAL: return check_interval(property, value, err);
    case SL_PROPERTY_ENUM: return check_choice(property, value, err);
    case SL_PROPERTY_COLUMNS:
        return sl_column_list_valid(value)
                   ? SILT_OK
                   : fail_value(key, value, NULL,
                                "it must be column names joined by commas, with back-quotes round special characters",
                                err);
    case SL_PROPERTY_TEXT: return check_text(property, value, err);
    }
    return SILT_OK;
}

silt_status sl_property_check_owner(struct sl_str key, silt_error *err)
{
    const struct property *property = find_property(key);
    if (property == NULL || property->user_sets) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_EINVALID, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
                   "table property %s is set by the writer and cannot be given or taken away", property->key);
}

silt_status sl_property_validate(struct sl_str key, struct sl_str value, silt_error *err)
{
    if (key.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "a table property needs a key");
    }
    if (value.ptr == NULL) {
        return fail_value(key, value, NULL, "a value is expected", err);
    }
    if (!has_prefix(key, "delta.") && !has_prefix(key, "silt.")) {
        return SILT_OK;
    }
    if (has_prefix(key, "delta.constraints.") && key.len > strlen("delta.constraints.")) {
        return SILT_OK;
    }
    if (has_prefix(key, "delta.feature.")) {
        return sl_str_eq_nocase(value, SL_STR("supported")) || sl_str_eq_nocase(value, SL_STR("enabled"))
                   ? SILT_OK
                   : fail_value(key, value, "DELTA_UNSUPPORTED_FEATURE_STATUS", "the status must be 'supported'", err);
    }
    const struct property *property = find_property(key);
    if (property == NULL) {
        return has_prefix(key, "delta.universalFormat.config.") ? SILT_OK : fail_unknown(key, err);
    }
    SL_TRY(sl_property_check_owner(key, err));
    return check_value(property, value, err);
}

/* The stored text: in the log keys count in their exact spelling, as for Spark. */
static struct sl_str stored_text(const struct sl_kv_list *config, const struct property *property)
{
    bool found = false;
    const struct sl_str value = sl_kv_get(config, sl_str_from(property->key), &found);
    if (value.ptr != NULL || property->older_key == NULL) {
        return value;
    }
    return sl_kv_get(config, sl_str_from(property->older_key), &found);
}

bool sl_property_bool(const struct sl_kv_list *config, const char *key)
{
    const struct property *property = find_property(sl_str_from(key));
    bool value = false;
    if (property == NULL || sl_property_parse_bool(stored_text(config, property), &value)) {
        return value;
    }
    return property->fallback != NULL && strcmp(property->fallback, "true") == 0;
}

int64_t sl_property_int(const struct sl_kv_list *config, const char *key)
{
    const struct property *property = find_property(sl_str_from(key));
    int64_t value = 0;
    if (property == NULL) {
        return 0;
    }
    if (sl_str_to_i64(sl_str_trim(stored_text(config, property)), &value) && is_in_range(property, value)) {
        return value;
    }
    return sl_str_to_i64(sl_str_from(property->fallback), &value) ? value : 0;
}

int64_t sl_property_bytes(const struct sl_kv_list *config, const char *key)
{
    const struct property *property = find_property(sl_str_from(key));
    int64_t value = 0;
    if (property == NULL) {
        return 0;
    }
    if (sl_property_parse_bytes(stored_text(config, property), &value) && value >= property->least) {
        return value;
    }
    return sl_property_parse_bytes(sl_str_from(property->fallback), &value) ? value : 0;
}

int64_t sl_property_interval_ms(const struct sl_kv_list *config, const char *key)
{
    const struct property *property = find_property(sl_str_from(key));
    int64_t value = 0;
    if (property == NULL) {
        return 0;
    }
    if (sl_property_parse_interval(stored_text(config, property), &value) && value >= 0) {
        return value / 1000;
    }
    return sl_property_parse_interval(sl_str_from(property->fallback), &value) ? value / 1000 : 0;
}

struct sl_str sl_property_text(const struct sl_kv_list *config, const char *key)
{
    const struct property *property = find_property(sl_str_from(key));
    if (property == NULL) {
        bool found = false;
        return sl_kv_get(config, sl_str_from(key), &found);
    }
    const struct sl_str value = stored_text(config, property);
    struct sl_str choice;
    if (property->type == SL_PROPERTY_ENUM) {
        if (value.ptr != NULL && sl_property_match_choice(value, property->choices, &choice)) {
            return choice;
        }
        return sl_str_from(property->fallback);
    }
    return value.ptr != NULL ? value : sl_str_from(property->fallback);
}
