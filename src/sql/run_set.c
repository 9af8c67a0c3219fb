/*
 * SET and RESET. silt's own options and those that Spark users know are listed in options.def; a name outside spark.* and silt.* is a
 * setting of the data plane and goes there.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "commands/row_set.h"
#include "sql/run.h"

#define SL_TEXT_OF(number) SL_TEXT_OF_EXPANDED(number)
#define SL_TEXT_OF_EXPANDED(number) #number

#define DEFAULTS_PREFIX "spark.databricks.delta.properties.defaults."

enum target {
    SESSION,
    TIME_ZONE,
    PLANE
};

enum values {
    TEXT,
    BOOLEAN,
    NUMBER, /* a whole one, not negative */
    COUNT,  /* the same from 1 on */
    OVERWRITE_MODE,
    THREADS
};

struct option {
    const char *name;
    const char *alias;
    enum target target;
    enum values values;
};

static const struct option options[] = {
#define SL_OPTION(name, alias, target, values) {name, alias, target, values},
#include "sql/options.def"
#undef SL_OPTION
};

static const struct option *find_option(struct sl_str key)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (sl_str_eq_nocase(key, sl_str_from(options[i].name)) ||
            (options[i].alias[0] != '\0' && sl_str_eq_nocase(key, sl_str_from(options[i].alias)))) {
            return &options[i];
        }
    }
    return NULL;
}

/* Lower case (ASCII) copy: the key under which a session keeps an option. */
static struct sl_str lower_key(struct sl_arena *arena, struct sl_str key)
{
    char *text = sl_arena_strdup(arena, key);
    for (size_t i = 0; text != NULL && i < key.len; i++) {
        if (text[i] >= 'A' && text[i] <= 'Z') {
            text[i] = (char)(text[i] - 'A' + 'a');
        }
    }
    return sl_str_make(text, text != NULL ? key.len : 0);
}

static silt_status unknown_option(struct sl_run *run, struct sl_str key, silt_error *err)
{
    size_t best = 6;
    const char *near = NULL;
    silt_status status = sl_fail(err, SILT_EINVALID, "DELTA_UNKNOWN_CONFIGURATION", "unknown option %.*s", SL_FMT(key));
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        size_t d = sl_str_distance(key, sl_str_from(options[i].name), best);
        if (d < best) {
            best = d;
            near = options[i].name;
        }
    }
    if (near != NULL) {
        sl_error_hint(err, "did you mean %s?", near);
    }
    sl_error_position(err, run->offset);
    return status;
}

/* Is it something that the option can be? */
static silt_status check_value(struct sl_run *run, const struct option *option, struct sl_str value, silt_error *err)
{
    static const char *const expected[] = {"",
                                           "true or false",
                                           "a whole number that is not negative",
                                           "a whole number from 1 on",
                                           "static or dynamic",
                                           ("a whole number from 1 to " SL_TEXT_OF(SILT_MAX_THREADS))};
    int64_t number = -1;
    bool good = true;
    switch (option->values) {
    case TEXT: return SILT_OK;
    case BOOLEAN: good = sl_str_eq_nocase(value, SL_STR("true")) || sl_str_eq_nocase(value, SL_STR("false")); break;
    case NUMBER: good = sl_str_to_i64(value, &number) && number >= 0; break;
    case COUNT: good = sl_str_to_i64(value, &number) && number > 0; break;
    case OVERWRITE_MODE:
        good = sl_str_eq_nocase(value, SL_STR("static")) || sl_str_eq_nocase(value, SL_STR("dynamic"));
        break;
    case THREADS: good = sl_str_to_i64(value, &number) && number > 0 && number <= SILT_MAX_THREADS; break;
    }
    if (good) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(err, SILT_EINVALID, "INVALID_CONF_VALUE.TYPE_MISMATCH", "%s is %s, not %.*s",
                                       option->name, expected[option->values], SL_FMT(value));
    sl_error_position(err, run->offset);
    return status;
}

static silt_status keep_option(struct sl_run *run, struct sl_str key, struct sl_str value, silt_error *err)
{
    silt_session *session = run->session;
    struct sl_str kept = lower_key(&session->arena, key);
    char *text = sl_arena_strdup(&session->arena, value);
    struct sl_map_entry *entry = NULL;
    bool inserted = false;

    if (kept.ptr == NULL || text == NULL) {
        return sl_fail_nomem(err);
    }
    entry = sl_map_put(&session->options, kept, &inserted);
    if (entry == NULL) {
        return sl_fail_nomem(err);
    }
    entry->value.ptr = text;
    return SILT_OK;
}

/* Name of a setting in the data plane: without "silt.". */
static struct sl_str plane_name(struct sl_str key)
{
    return sl_str_starts_with(key, SL_STR("silt.")) ? sl_str_sub(key, 5, key.len) : key;
}

/* The data plane's refusal of a value, which it gives in many ways. A name that it does not know has a class of its own. */
static silt_status refuse_setting(struct sl_run *run, struct sl_str key, const silt_error *found, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_EINVALID, "INVALID_CONF_VALUE.REQUIREMENT", "%.*s: %s", SL_FMT(key),
                                       found->message);
    sl_error_position(err, run->offset);
    return status;
}

static bool is_about_the_value(silt_status status, const silt_error *found)
{
    switch (status) {
    case SILT_EINVALID:
    case SILT_ESCHEMA:
    case SILT_EUNSUPPORTED: return true;
    case SILT_ESYNTAX: return !sl_error_is(found, "UNRESOLVED_NAME");
    default: return sl_error_is(found, "INVALID_INPUT");
    }
}

static silt_status set_plane(struct sl_run *run, struct sl_str key, struct sl_str value, silt_error *err)
{
    struct sl_dataplane_ref plane;
    silt_error found = SILT_ERROR_INIT;
    SL_TRY(sl_engine_dataplane(run->session->engine, &plane, err));
    run->session->has_settings = true;
    run->session->knows_habits = false;
    const silt_status status = plane.vtable->set_option(plane.dp, plane_name(key), value, &found);
    if (is_about_the_value(status, &found)) {
        return refuse_setting(run, key, &found, err);
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

static silt_status set_one(struct sl_run *run, silt_error *err)
{
    struct sl_str key = run->statement->key;
    struct sl_str value = run->statement->value;
    const struct option *option = find_option(key);
    struct sl_str lower = lower_key(run->arena, key);

    if (lower.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    if (option == NULL && sl_str_starts_with(lower, SL_STR(DEFAULTS_PREFIX))) {
        return keep_option(run, key, value, err);
    }
    if (option == NULL && (sl_str_starts_with(lower, SL_STR("spark.")) || sl_str_starts_with(lower, SL_STR("silt.")))) {
        return unknown_option(run, key, err);
    }
    if (option != NULL) {
        SL_TRY(check_value(run, option, value, err));
    }
    if (option == NULL || option->target == PLANE) {
        SL_TRY(set_plane(run, option != NULL ? sl_str_from(option->name) : key, value, err));
        return option != NULL ? keep_option(run, sl_str_from(option->name), value, err) : SILT_OK;
    }
    if (option->target == TIME_ZONE) {
        SL_TRY(sl_session_set_time_zone(run->session, value, err));
    }
    return keep_option(run, sl_str_from(option->name), value, err);
}

/* SET: all that is set; SET key: that one. */
static silt_status list_options(struct sl_run *run, silt_error *err)
{
    static const struct sl_row_column columns[] = {{"key", "string"}, {"value", "string"}};
    struct sl_str wanted = run->statement->key;
    const struct option *option = wanted.ptr != NULL ? find_option(wanted) : NULL;
    struct sl_row_set rows;
    struct ArrowArrayStream stream = {0};

    if (option != NULL) {
        wanted = sl_str_from(option->name);
    }
    SL_TRY(sl_row_set_init(&rows, run->session->env, columns, 2, err));
    for (size_t i = 0; i < run->session->options.len; i++) {
        const struct sl_map_entry *entry = &run->session->options.entries[i];
        if (entry->live && (wanted.ptr == NULL || sl_str_eq_nocase(wanted, entry->key))) {
            const struct option *known = find_option(entry->key);
            sl_row_str(&rows, known != NULL ? sl_str_from(known->name) : entry->key);
            sl_row_c(&rows, entry->value.ptr);
            sl_row_end(&rows);
        }
    }
    if (wanted.ptr != NULL && sl_arrow_builder_length(rows.builder) == 0) {
        sl_row_str(&rows, wanted);
        sl_row_c(&rows, option != NULL && option->target == TIME_ZONE ? run->session->time_zone : "<undefined>");
        sl_row_end(&rows);
    }
    SL_TRY(sl_row_set_finish(&rows, &stream));
    run->result->kind = SILT_RESULT_ROWS;
    run->result->stream = stream;
    return SILT_OK;
}

static silt_status reset(struct sl_run *run, silt_error *err)
{
    struct sl_str key = run->statement->key;
    const struct option *option = key.ptr != NULL ? find_option(key) : NULL;
    struct sl_str lower = {0};

    if (key.ptr == NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "RESET needs the name of an option");
    }
    lower = lower_key(run->arena, option != NULL ? sl_str_from(option->name) : key);
    if (lower.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    if (option != NULL && option->target == TIME_ZONE) {
        SL_TRY(sl_session_set_time_zone(run->session, SL_STR("UTC"), err));
    } else if (option != NULL && option->target == PLANE) {
        return sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "%s cannot be reset; SET it instead",
                       option->name);
    } else if (option == NULL && !sl_str_starts_with(lower, SL_STR(DEFAULTS_PREFIX))) {
        return unknown_option(run, key, err);
    }
    (void)sl_map_remove(&run->session->options, lower); /* one that was not set stays unset */
    return SILT_OK;
}

silt_status sl_run_set(struct sl_run *run, silt_error *err)
{
    run->result->kind = SILT_RESULT_NONE;
    if (run->statement->kind == SL_STMT_RESET) {
        return reset(run, err);
    }
    if (run->statement->value.ptr == NULL) {
        return list_options(run, err);
    }
    return set_one(run, err);
}
