/*
 * Options by name. What was given is few, so it is kept as it came, each name in lower case with its scope apart, and looked through. Any
 * thread once made.
 */
#include "storage/remote/remote_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "storage/remote/url.h"

#define NEAR_DISTANCE 8     /* names are long: so much may be wrong in one that is still recognised */
#define MANY_TYPOS 2        /* with more of them than this, the begin of a name tells more */
#define MIN_BEGIN 5         /* bytes of a name that are enough of a begin */
#define MAX_NAME 256        /* bytes of an option's name */
#define MAX_VALUE (1 << 20) /* bytes of a value */
#define MAX_SHOWN 100       /* bytes of a value in an error */
#define BUCKET_PREFIX "fs.s3a.bucket."

struct given {
    const char *whole;   /* as it was given, in lower case */
    struct sl_str name;  /* without scope */
    struct sl_str scope; /* absent: for all */
    const char *value;
};

struct sl_remote_options {
    const silt_env *env;
    struct sl_arena arena;
    struct sl_vec given; /* of struct given */
};

struct row {
    const char *id;
    bool secret;
    const char *name;
    const char *others;
    const char *variables;
};

static const struct row rows[SL_N_OPTIONS] = {
#define SL_OPTION(id, secret, name, others, variables) [SL_OPTION_##id] = {#id, secret, name, others, variables},
#include "storage/remote/remote_options.def"
#undef SL_OPTION
};

/* The next word of a list; false at its end. */
static bool next_word(struct sl_str *list, struct sl_str *out)
{
    *list = sl_str_trim(*list);
    if (list->len == 0) {
        return false;
    }
    const size_t space = sl_str_find(*list, SL_STR(" "));
    const size_t end = space == SIZE_MAX ? list->len : space;
    *out = sl_str_sub(*list, 0, end);
    *list = sl_str_sub(*list, end, list->len);
    return true;
}

/* Is it this name, with or without a scope? A word that ends in ".*" is for names with one. */
static bool is_name(struct sl_str word, struct sl_str name, bool scoped)
{
    const bool takes_scope = sl_str_ends_with(word, SL_STR(".*"));
    const struct sl_str plain = takes_scope ? sl_str_sub(word, 0, word.len - 2) : word;
    const bool s3a = sl_str_starts_with(word, SL_STR("fs.s3a."));
    return sl_str_eq(plain, name) && (takes_scope == scoped || (scoped && s3a));
}

static bool row_has(const struct row *row, struct sl_str name, bool scoped)
{
    struct sl_str list = sl_str_from(row->others);
    struct sl_str word = sl_str_from(row->name);
    do {
        if (is_name(word, name, scoped)) {
            return true;
        }
    } while (next_word(&list, &word));
    return false;
}

static bool any_has(struct sl_str name, bool scoped)
{
    for (size_t i = 0; i < SL_N_OPTIONS; i++) {
        if (row_has(&rows[i], name, scoped)) {
            return true;
        }
    }
    return false;
}

/* "fs.s3a.bucket.my.bucket.endpoint": as neither part tells where it ends, the first dot after which a known name stands. */
static bool split_bucket(struct sl_arena *arena, struct sl_str name, struct given *out)
{
    const struct sl_str rest = sl_str_sub(name, sizeof(BUCKET_PREFIX) - 1, name.len);
    for (size_t i = 1; i + 1 < rest.len; i++) {
        if (rest.ptr[i] != '.') {
            continue;
        }
        const struct sl_str tail = sl_str_sub(rest, i + 1, rest.len);
        const char *joined = sl_arena_printf(arena, "fs.s3a.%.*s", SL_FMT(tail));
        if (joined != NULL && any_has(sl_str_from(joined), true)) {
            *out = (struct given){.name = sl_str_from(joined), .scope = sl_str_sub(rest, 0, i)};
            return true;
        }
    }
    return false;
}

/* Finds what a name in lower case means; false if nobody knows it. */
static bool understand(struct sl_arena *arena, struct sl_str name, struct given *out)
{
    if (any_has(name, false)) {
        *out = (struct given){.name = name};
        return true;
    }
    if (sl_str_starts_with(name, SL_STR(BUCKET_PREFIX))) {
        return split_bucket(arena, name, out);
    }
    for (size_t i = name.len; i-- > 1;) {
        if (name.ptr[i] == '.' && i + 1 < name.len && any_has(sl_str_sub(name, 0, i), true)) {
            *out = (struct given){.name = sl_str_sub(name, 0, i), .scope = sl_str_sub(name, i + 1, name.len)};
            return !sl_str_starts_with(name, SL_STR("fs.s3a."));
        }
    }
    return false;
}

/* "aws_secret" for aws_secret_access_key: the first words of a name. */
static bool begins_with(struct sl_str word, struct sl_str typed)
{
    return typed.len >= MIN_BEGIN && word.len > typed.len && sl_str_starts_with(word, typed) &&
           (word.ptr[typed.len] == '_' || word.ptr[typed.len] == '.' || word.ptr[typed.len] == '-');
}

static silt_status fail_unknown(struct sl_str name, silt_error *err)
{
    size_t nearest = NEAR_DISTANCE + 1;
    struct sl_str near = {0};
    struct sl_str longer = {0};
    for (size_t i = 0; i < SL_N_OPTIONS; i++) {
        struct sl_str list = sl_str_from(rows[i].others);
        struct sl_str word = sl_str_from(rows[i].name);
        do {
            const size_t distance = sl_str_distance(name, word, NEAR_DISTANCE);
            if (distance < nearest && distance * 2 < word.len) {
                nearest = distance;
                near = word;
            }
            if (longer.ptr == NULL && begins_with(word, name)) { /* what matters most comes first */
                longer = word;
            }
        } while (next_word(&list, &word));
    }
    const struct sl_str best = longer.ptr != NULL && nearest > MANY_TYPOS ? longer : near;
    const silt_status status = sl_fail(err, SILT_EINVALID, NULL, "no store has an option '%.*s'", SL_FMT(name));
    if (best.ptr != NULL) {
        sl_error_hint(err, "did you mean %.*s?", SL_FMT(best));
    }
    return status;
}

static silt_status add(struct sl_remote_options *options, const silt_store_option *option, silt_error *err)
{
    if (option->name == NULL || option->value == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "an option of a store needs a name and a value");
    }
    struct sl_str name = sl_str_trim(sl_str_from(option->name));
    const size_t value_len = strlen(option->value);
    if (name.len > MAX_NAME || value_len > MAX_VALUE) {
        return sl_fail(err, SILT_ELIMIT, NULL, "an option of a store is too long");
    }
    char *lower = sl_arena_strdup(&options->arena, name);
    const char *value = sl_arena_strdup(&options->arena, sl_str_make(option->value, value_len));
    if (lower == NULL || value == NULL) {
        return sl_fail_nomem(err);
    }
    for (char *at = lower; *at != '\0'; at++) {
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
    }
    name.ptr = lower;
    if (sl_str_starts_with(name, SL_STR("spark.hadoop."))) {
        name = sl_str_sub(name, sizeof("spark.hadoop.") - 1, name.len);
    }
    struct given next;
    if (!understand(&options->arena, name, &next)) {
        return fail_unknown(name, err);
    }
    next.whole = lower;
    next.value = value;
    for (size_t i = 0; i < options->given.len; i++) {
        const struct given *other = sl_vec_at(&options->given, i);
        if (sl_str_eq(other->name, next.name) && sl_str_eq(other->scope, next.scope) &&
            strcmp(other->value, value) != 0) {
            return sl_fail(err, SILT_EINVALID, NULL, "option '%.*s' is given twice, with different values",
                           SL_FMT(name));
        }
    }
    struct given *slot = sl_vec_push(&options->given);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = next;
    return SILT_OK;
}

silt_status sl_options_new(const silt_env *env, const silt_store_option *options, size_t n,
                           struct sl_remote_options **out, silt_error *err)
{
    *out = NULL;
    struct sl_remote_options *made = sl_alloc_zero(env, sizeof(*made));
    if (made == NULL) {
        return sl_fail_nomem(err);
    }
    made->env = env;
    sl_arena_init(&made->arena, env);
    sl_vec_init(&made->given, env, sizeof(struct given));
    for (size_t i = 0; i < n; i++) {
        const silt_status status = add(made, &options[i], err);
        if (status != SILT_OK) {
            sl_options_free(made);
            return status;
        }
    }
    *out = made;
    return SILT_OK;
}

void sl_options_free(struct sl_remote_options *options)
{
    if (options != NULL) {
        sl_vec_release(&options->given);
        sl_arena_release(&options->arena);
        sl_release(options->env, options, sizeof(*options));
    }
}

/* A bucket stands for itself, an account for its hosts as well: "acct" of "acct.dfs.core.windows.net". */
static bool scope_fits(const struct given *given, struct sl_str scope)
{
    if (sl_str_eq(given->scope, scope)) {
        return true;
    }
    return !sl_str_starts_with(given->name, SL_STR("fs.s3a.")) && sl_str_starts_with(given->scope, scope) &&
           given->scope.len > scope.len && given->scope.ptr[scope.len] == '.';
}

static const struct given *find_given(const struct sl_remote_options *options, enum sl_option option, const char *scope)
{
    const struct given *best = NULL;
    for (size_t i = 0; i < options->given.len; i++) {
        const struct given *given = sl_vec_at(&options->given, i);
        const bool scoped = given->scope.ptr != NULL;
        if (given->value[0] == '\0' || !row_has(&rows[option], given->name, scoped)) {
            continue;
        }
        if (scoped && scope != NULL && scope_fits(given, sl_str_from(scope))) {
            return given;
        }
        if (!scoped && best == NULL) {
            best = given;
        }
    }
    return best;
}

const char *sl_option_given(const struct sl_remote_options *options, enum sl_option option, const char *scope)
{
    const struct given *given = find_given(options, option, scope);
    return given != NULL ? given->value : NULL;
}

/* The first of an option's variables that is set; its name goes to `name`. */
static const char *find_variable(enum sl_option option, char name[MAX_NAME])
{
    struct sl_str list = sl_str_from(rows[option].variables);
    struct sl_str word;
    while (next_word(&list, &word)) {
        memset(name, 0, MAX_NAME);
        memcpy(name, word.ptr, word.len < MAX_NAME ? word.len : 0);
        const char *value = getenv(name);
        if (value != NULL && value[0] != '\0') {
            return value;
        }
    }
    return NULL;
}

const char *sl_option_get(const struct sl_remote_options *options, enum sl_option option, const char *scope)
{
    char name[MAX_NAME];
    const char *given = sl_option_given(options, option, scope);
    return given != NULL ? given : find_variable(option, name);
}

void sl_options_each(const struct sl_remote_options *options,
                     void (*on_option)(void *ctx, const struct sl_option_source *source), void *ctx)
{
    for (int id = 0; id < SL_N_OPTIONS; id++) {
        char name[MAX_NAME];
        struct sl_option_source source = {.option = (enum sl_option)id, .is_secret = rows[id].secret};
        for (size_t i = 0; i < options->given.len; i++) {
            const struct given *given = sl_vec_at(&options->given, i);
            if (given->value[0] != '\0' && row_has(&rows[id], given->name, given->scope.ptr != NULL)) {
                source.name = given->whole;
                source.value = given->value;
                on_option(ctx, &source);
            }
        }
        source.value = find_variable(source.option, name);
        source.name = name;
        source.is_variable = true;
        if (source.value != NULL) {
            on_option(ctx, &source);
        }
    }
}

bool sl_option_is_of(enum sl_option option, const char *prefix)
{
    static const char *const stores[] = {"S3_", "AZURE_", "GCS_", "HDFS_"};
    const struct sl_str id = sl_str_from(rows[option].id);
    for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
        if (sl_str_starts_with(id, sl_str_from(stores[i]))) {
            return strcmp(stores[i], prefix) == 0;
        }
    }
    return true;
}

void sl_option_put_source(const struct sl_remote_options *options, enum sl_option option, const char *scope,
                          struct sl_buf *out)
{
    char name[MAX_NAME];
    const struct given *given = find_given(options, option, scope);
    if (given != NULL) {
        sl_buf_printf(out, "option %s", given->whole);
    } else if (find_variable(option, name) != NULL) {
        sl_buf_printf(out, "variable %s", name);
    }
}

const char *sl_option_name(enum sl_option option)
{
    return rows[option].name;
}

silt_status sl_option_unusable(enum sl_option option, const char *value, const char *expected, silt_error *err)
{
    if (rows[option].secret) {
        return sl_fail(err, SILT_EINVALID, NULL, "option %s cannot be used, expected %s", rows[option].name, expected);
    }
    const struct sl_url_shown shown = sl_url_show(sl_str_from(value));
    const int len = shown.tail.len < MAX_SHOWN ? (int)shown.tail.len : MAX_SHOWN;
    return sl_fail(err, SILT_EINVALID, NULL, "option %s is '%.*s%s%.*s%s', expected %s", rows[option].name,
                   SL_FMT(shown.head), shown.hidden, len, len > 0 ? shown.tail.ptr : "", shown.cut, expected);
}

static bool is_one_of(struct sl_str text, const char *words)
{
    struct sl_str list = sl_str_from(words);
    struct sl_str word;
    while (next_word(&list, &word)) {
        if (sl_str_eq_nocase(text, word)) {
            return true;
        }
    }
    return false;
}

silt_status sl_option_bool(const struct sl_remote_options *options, enum sl_option option, const char *scope, bool *out,
                           silt_error *err)
{
    const char *value = sl_option_get(options, option, scope);
    if (value == NULL) {
        return SILT_OK;
    }
    const struct sl_str text = sl_str_trim(sl_str_from(value));
    const bool yes = is_one_of(text, "true yes on 1");
    if (!yes && !is_one_of(text, "false no off 0")) {
        return sl_option_unusable(option, value, "true or false", err);
    }
    *out = yes;
    return SILT_OK;
}

silt_status sl_option_duration(const struct sl_remote_options *options, enum sl_option option, const char *scope,
                               int64_t *out_us, silt_error *err)
{
    static const struct {
        const char *words;
        int64_t us;
    } units[] = {{"us usec microsecond microseconds", 1},
                 {"ms msec millisecond milliseconds", 1000},
                 {"s sec second seconds", 1000000},
                 {"m min minute minutes", 60 * INT64_C(1000000)},
                 {"h hour hours", 3600 * INT64_C(1000000)}};
    const char *value = sl_option_get(options, option, scope);
    if (value == NULL) {
        return SILT_OK;
    }
    const struct sl_str text = sl_str_trim(sl_str_from(value));
    size_t digits = 0;
    while (digits < text.len && sl_is_digit(text.ptr[digits])) {
        digits++;
    }
    const struct sl_str unit = sl_str_trim(sl_str_sub(text, digits, text.len));
    int64_t number = 0;
    int64_t factor = unit.len == 0 ? 1000000 : 0;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && factor == 0; i++) {
        factor = is_one_of(unit, units[i].words) ? units[i].us : 0;
    }
    if (factor == 0 || !sl_str_to_i64(sl_str_sub(text, 0, digits), &number) || !sl_mul_i64(number, factor, out_us) ||
        number == 0) {
        return sl_option_unusable(option, value, "a time such as 30s or 500ms", err);
    }
    return SILT_OK;
}
