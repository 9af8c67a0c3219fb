/* The parser of the command line. */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "test_env.h"

static int run_nothing(struct sl_cli *cli)
{
    (void)cli;
    return 0;
}

static const struct sl_command COMMAND = {
    .name = "read",
    .usage = "read TABLE",
    .options = SL_OPTS_RESULT | SL_OPT_LIMIT | SL_OPT_WHERE | SL_OPT_KEEP_GOING,
    .min_words = 1,
    .max_words = 2,
    .run = run_nothing,
};

struct parsed {
    struct test_env test;
    struct sl_arena arena;
    struct sl_args args;
    silt_error err;
    silt_status status;
};

/* Parses words separated by single blanks. */
static struct parsed *parse(void **state, const char *line)
{
    static struct parsed parsed;
    static char text[256];
    char *words[16];
    int n = 0;
    (void)state;
    test_env_init(&parsed.test);
    sl_arena_init(&parsed.arena, &parsed.test.env);
    parsed.err = (silt_error)SILT_ERROR_INIT;
    (void)snprintf(text, sizeof(text), "%s", line);
    for (char *word = text; *word != '\0';) {
        char *end = strchr(word, ' ');
        words[n++] = word;
        if (end == NULL) {
            break;
        }
        *end = '\0';
        word = end + 1;
    }
    parsed.status = sl_options_parse(&parsed.arena, &COMMAND, n, words, &parsed.args, &parsed.err);
    return &parsed;
}

static void done(struct parsed *parsed)
{
    sl_arena_release(&parsed->arena);
    test_env_check(&parsed->test);
}

static void every_spelling_of_a_value_is_taken(void **state)
{
    static const char *const lines[] = {"t --limit 7 -o csv --keep-going", "--limit=7 -ocsv t --keep-going",
                                        "--keep-going --format=csv --limit=7 t",
                                        "--limit 3 --limit 7 t -o csv --keep-going"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct parsed *parsed = parse(state, lines[i]);
        assert_int_equal(parsed->status, SILT_OK);
        assert_int_equal(parsed->args.limit, 7);
        assert_int_equal(parsed->args.format, SL_FORMAT_CSV);
        assert_true(parsed->args.keep_going);
        assert_int_equal(parsed->args.n_words, 1);
        assert_string_equal(parsed->args.words[0], "t");
        done(parsed);
    }
}

static void what_is_not_given_is_absent(void **state)
{
    struct parsed *parsed = parse(state, "t");
    assert_int_equal(parsed->args.limit, -1);
    assert_int_equal(parsed->args.version, -1);
    assert_int_equal(parsed->args.format, SL_FORMAT_DEFAULT);
    assert_null(parsed->args.where);
    assert_false(parsed->args.help);
    done(parsed);
}

static void values_may_look_like_options(void **state)
{
    struct parsed *parsed = parse(state, "t --where -x");
    assert_string_equal(parsed->args.where, "-x");
    done(parsed);
    parsed = parse(state, "t --where=--limit");
    assert_string_equal(parsed->args.where, "--limit");
    done(parsed);
}

static void a_dash_alone_and_what_follows_two_are_words(void **state)
{
    struct parsed *parsed = parse(state, "-- - --limit");
    assert_int_equal(parsed->args.n_words, 2);
    assert_string_equal(parsed->args.words[0], "-");
    assert_string_equal(parsed->args.words[1], "--limit");
    done(parsed);
}

static void help_is_heeded_before_anything_is_missing(void **state)
{
    struct parsed *parsed = parse(state, "--help --nonsense");
    assert_int_equal(parsed->status, SILT_OK);
    assert_true(parsed->args.help);
    done(parsed);
}

static void faults_are_told_with_advice(void **state)
{
    static const struct {
        const char *line;
        const char *message;
        const char *hint;
    } faults[] = {
        {"t --limti 3", "unknown option --limti", "did you mean --limit?"},
        {"t --kep-going", "unknown option --kep-going", "did you mean --keep-going?"},
        {"t --version 3", "unknown option --version", "see silt read --help"},
        {"t -q", "unknown option -q", "see silt read --help"},
        {"t --limit", "--limit needs a value: N", ""},
        {"t --limit 1.5", "--limit takes a number from 0 on, not 1.5", ""},
        {"t --limit 9223372036854775808", "--limit takes a number from 0 on, not 9223372036854775808", ""},
        {"t -o CSV", "unknown format CSV, expected table, csv, json, jsonl or parquet", ""},
        {"--limit 3", "something is missing: silt read TABLE", "see silt read --help"},
        {"a b c", "c is one word too many: silt read TABLE", "see silt read --help"},
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct parsed *parsed = parse(state, faults[i].line);
        assert_int_equal(parsed->status, SILT_EINVALID);
        assert_string_equal(parsed->err.code_name, "SILT_USAGE");
        assert_string_equal(parsed->err.message, faults[i].message);
        assert_string_equal(parsed->err.hint, faults[i].hint);
        done(parsed);
    }
}

static void suggestions_are_near_or_none(void **state)
{
    static const char *const names[] = {"history", "help", "read"};
    (void)state;
    assert_string_equal(sl_suggest("histroy", names, 3), "history");
    assert_string_equal(sl_suggest("hist", names, 3), "history");
    assert_string_equal(sl_suggest("rad", names, 3), "read");
    assert_null(sl_suggest("optimize", names, 3));
    assert_null(sl_suggest("x", names, 3));
    assert_null(sl_suggest("", names, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_value_is_taken),
        cmocka_unit_test(what_is_not_given_is_absent),
        cmocka_unit_test(values_may_look_like_options),
        cmocka_unit_test(a_dash_alone_and_what_follows_two_are_words),
        cmocka_unit_test(help_is_heeded_before_anything_is_missing),
        cmocka_unit_test(faults_are_told_with_advice),
        cmocka_unit_test(suggestions_are_near_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
