/*
 * Tries the contract of stores over one store; contract.h begins with a map.
 *
 *     contract [OPTION...] URI           a folder, e.g. file:///tmp/x, memory://x, s3://bucket/x
 *     contract --planted [OPTION...] URI plants each fault in turn: each must make the cases fail that are to notice it
 *
 *   --store-option K=V       an option of the store; again for more. So are:
 *   --wrong-option K=V       replaces it where the server must refuse access
 *   --unreachable-option K=V replaces it where nobody shall listen
 *   --missing-uri URI        a folder in a bucket, container or host that does not exist
 *   --refused KIND,...       kinds of hard names that the store refuses (see cases_names.c)
 *   --left-out KIND,...      kinds of hard names that the server cannot tell apart, though the store could
 *   --case TEXT              only cases with this in their name
 *   --race-names N           names of the race (200); in rounds of 200 at most, until one is broken
 *   --list-names N           names of the long listing (2500)
 *   --plant NAME             with this fault
 *   --keep                   leave what the cases made: on a way that cuts long answers it cannot be listed
 *
 * Prints TAP, then "N passed, N failed, N skipped". Exit status: 0, 1 when something is broken, 2 for a wrong command line.
 */
#include "contract.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct contract_case {
    const char *name;
    void (*run)(struct contract *c);
};

static const struct contract_case cases[] = {
#define CONTRACT_CASE(name) {#name, name},
#include "cases.def"
#undef CONTRACT_CASE
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

/* ---- what cases say ---- */

static void one_line(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ') {
            *at = ' ';
        }
    }
}

bool expect(struct contract *c, bool good, const char *format, ...)
{
    if (good) {
        return true;
    }
    (void)pthread_mutex_lock(&c->lock);
    if (!c->failed) {
        va_list list;
        va_start(list, format);
        (void)vsnprintf(c->problem, sizeof(c->problem), format, list);
        va_end(list);
        one_line(c->problem);
    }
    c->failed = true;
    (void)pthread_mutex_unlock(&c->lock);
    return false;
}

bool expect_status(struct contract *c, silt_status got, silt_status wanted, const silt_error *err, const char *what)
{
    return expect(c, got == wanted, "%s: expected %s, got %s: %s", what, silt_status_name(wanted),
                  silt_status_name(got), err == NULL ? "" : err->message);
}

void skip_case(struct contract *c, const char *why)
{
    c->skipped = true;
    note_case(c, "%s", why);
}

void note_case(struct contract *c, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(c->note, sizeof(c->note), format, list);
    va_end(list);
}

/* ---- stores ---- */

static silt_status open_store(struct contract *c, const struct contract_options *options, const char *uri,
                              silt_engine **engine, silt_storage **store, silt_error *err)
{
    *engine = NULL;
    *store = NULL;
    silt_default_engine_options wanted = {
        .size = sizeof(wanted), .env = c->env, .store_options = options->items, .n_store_options = options->n};
    silt_status status = silt_engine_default_new(&wanted, engine, err);
    if (status == SILT_OK) {
        silt_storage *borrowed = NULL;
        status = silt_engine_storage(*engine, uri, &borrowed, err);
        *store = status == SILT_OK ? silt_storage_ref(borrowed) : NULL;
    }
    if (status != SILT_OK) {
        silt_engine_unref(*engine);
        *engine = NULL;
    }
    return status;
}

silt_engine *engine_with(struct contract *c, const struct contract_options *instead, const char *uri,
                         silt_storage **store)
{
    struct contract_options options = c->settings->options;
    for (size_t i = 0; i < instead->n; i++) {
        size_t at = 0;
        while (at < options.n && strcmp(options.items[at].name, instead->items[i].name) != 0) {
            at++;
        }
        if (!expect(c, at < CONTRACT_MAX_OPTIONS, "too many options")) {
            return NULL;
        }
        options.items[at] = instead->items[i];
        options.n = at == options.n ? at + 1 : options.n;
    }
    silt_engine *engine = NULL;
    silt_error err = SILT_ERROR_INIT;
    (void)expect_status(c, open_store(c, &options, uri, &engine, store, &err), SILT_OK, &err, "opening a store");
    return engine;
}

static void close_contract(struct contract *c)
{
    silt_storage_unref(c->store);
    silt_engine_unref(c->engine);
    c->store = NULL;
    c->plain = NULL;
    c->engine = NULL;
}

static bool open_contract(struct contract *c, const struct contract_settings *settings)
{
    silt_error err = SILT_ERROR_INIT;
    c->settings = settings;
    c->env = silt_env_default();
    c->in_memory = strncmp(settings->uri, "memory:", 7) == 0;
    silt_status status = open_store(c, &settings->options, settings->uri, &c->engine, &c->store, &err);
    c->plain = c->store;
    if (status == SILT_OK && settings->plant != NULL) {
        status = plant_fault(c->env, settings->plant, &c->store, &err);
    }
    if (status != SILT_OK) {
        (void)fprintf(stderr, "contract: error: %s: %s\n", settings->uri, err.message);
        close_contract(c);
    }
    return status == SILT_OK;
}

/* ---- running ---- */

/* A folder that nobody else has: a random one below the URI. */
static bool begin_case(struct contract *c, const char *name)
{
    uint64_t number = 0;
    if (c->env->random_bytes(c->env->ctx, &number, sizeof(number)) != SILT_OK) {
        return false;
    }
    c->failed = false;
    c->skipped = false;
    c->note[0] = '\0';
    c->problem[0] = '\0';
    const size_t len = strlen(c->settings->uri);
    const char *slash = len > 0 && c->settings->uri[len - 1] == '/' ? "" : "/";
    return snprintf(c->dir, sizeof(c->dir), "%s%s%.40s-%016llx", c->settings->uri, slash, name,
                    (unsigned long long)number) < (int)sizeof(c->dir);
}

static void run_case(struct contract *c, const struct contract_case *one)
{
    if (expect(c, begin_case(c, one->name), "no folder could be named")) {
        silt_error err = SILT_ERROR_INIT;
        one->run(c);
        if (!c->settings->keep) {
            (void)expect_status(c, silt_storage_remove_tree(c->plain, NULL, c->dir, &err), SILT_OK, &err,
                                "cleaning up");
        }
    }
}

static int run_all(const struct contract_settings *settings, const char *only)
{
    struct contract c = {.lock = PTHREAD_MUTEX_INITIALIZER};
    unsigned counts[3] = {0, 0, 0}; /* passed, failed, skipped */
    if (!open_contract(&c, settings)) {
        return 1;
    }
    for (size_t i = 0; i < N_CASES; i++) {
        if (only != NULL && strstr(cases[i].name, only) == NULL) {
            continue;
        }
        run_case(&c, &cases[i]);
        const unsigned number = counts[0] + counts[1] + counts[2] + 1;
        if (c.failed) {
            printf("not ok %u - %s: %s\n", number, cases[i].name, c.problem);
        } else {
            printf("ok %u - %s%s%s\n", number, cases[i].name,
                   c.skipped           ? " # SKIP "
                   : c.note[0] != '\0' ? " # "
                                       : "",
                   c.note);
        }
        counts[c.failed ? 1 : c.skipped ? 2 : 0]++;
        (void)fflush(stdout);
    }
    close_contract(&c);
    printf("1..%u\n%u passed, %u failed, %u skipped\n", counts[0] + counts[1] + counts[2], counts[0], counts[1],
           counts[2]);
    return counts[1] > 0 || counts[0] == 0 ? 1 : 0;
}

static const struct contract_case *find_case(const char *name)
{
    for (size_t i = 0; i < N_CASES; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return &cases[i];
        }
    }
    return NULL;
}

/* Each fault over a store of its own: with it, every case that is to notice it must fail. */
static int run_planted(struct contract_settings *settings)
{
    unsigned found = 0;
    unsigned missed = 0;
    for (size_t p = 0; p < n_contract_plants; p++) {
        const struct plant *plant = &contract_plants[p];
        settings->plant = plant->name;
        for (const char *const *name = plant->breaks; *name != NULL; name++) {
            struct contract c = {.lock = PTHREAD_MUTEX_INITIALIZER};
            const struct contract_case *one = find_case(*name);
            if (one == NULL || !open_contract(&c, settings)) {
                printf("not ok - %s: %s could not be run\n", plant->name, *name);
                missed++;
                continue;
            }
            run_case(&c, one);
            printf("%s - %s is noticed by %s: %s\n", c.failed ? "ok" : "not ok", plant->name, *name, c.problem);
            (void)fflush(stdout);
            found += c.failed ? 1 : 0;
            missed += c.failed ? 0 : 1;
            close_contract(&c);
        }
    }
    printf("1..%u\n%u passed, %u failed\n", found + missed, found, missed);
    return missed > 0 || found == 0 ? 1 : 0;
}

static int run_member(const struct contract_settings *settings, const char *role, unsigned id, int fd)
{
    struct contract c = {.lock = PTHREAD_MUTEX_INITIALIZER};
    if (!open_contract(&c, settings)) {
        return 1;
    }
    const int result = crew_member(&c, role, id, fd);
    close_contract(&c);
    return result;
}

/* ---- the command line ---- */

enum flag {
    FLAG_STORE_OPTION = 1,
    FLAG_WRONG_OPTION,
    FLAG_UNREACHABLE_OPTION,
    FLAG_MISSING_URI,
    FLAG_REFUSED,
    FLAG_LEFT_OUT,
    FLAG_CASE,
    FLAG_RACE_NAMES,
    FLAG_LIST_NAMES,
    FLAG_PLANT,
    FLAG_PLANTED,
    FLAG_KEEP,
    FLAG_ROLE,
    FLAG_MEMBER,
    FLAG_MEMORY
};

static const struct option flags[] = {{"store-option", required_argument, NULL, FLAG_STORE_OPTION},
                                      {"wrong-option", required_argument, NULL, FLAG_WRONG_OPTION},
                                      {"unreachable-option", required_argument, NULL, FLAG_UNREACHABLE_OPTION},
                                      {"missing-uri", required_argument, NULL, FLAG_MISSING_URI},
                                      {"refused", required_argument, NULL, FLAG_REFUSED},
                                      {"left-out", required_argument, NULL, FLAG_LEFT_OUT},
                                      {"case", required_argument, NULL, FLAG_CASE},
                                      {"race-names", required_argument, NULL, FLAG_RACE_NAMES},
                                      {"list-names", required_argument, NULL, FLAG_LIST_NAMES},
                                      {"plant", required_argument, NULL, FLAG_PLANT},
                                      {"planted", no_argument, NULL, FLAG_PLANTED},
                                      {"keep", no_argument, NULL, FLAG_KEEP},
                                      {"role", required_argument, NULL, FLAG_ROLE},
                                      {"member", required_argument, NULL, FLAG_MEMBER},
                                      {"memory", required_argument, NULL, FLAG_MEMORY},
                                      {NULL, 0, NULL, 0}};

struct command {
    struct contract_settings settings;
    const char *only;
    bool planted;
    const char *role; /* of a crew: this is a member's process */
    unsigned member;
    unsigned memory;
};

/* NAME=VALUE, cut in a copy that lives as long as the process. */
static bool add_option(struct contract_options *options, const char *text)
{
    char *copy = strdup(text);
    char *equals = copy == NULL ? NULL : strchr(copy, '=');
    if (equals == NULL || options->n == CONTRACT_MAX_OPTIONS) {
        free(copy);
        return false;
    }
    *equals = '\0';
    options->items[options->n++] = (silt_store_option){.name = copy, .value = equals + 1};
    return true;
}

static bool parse_number(const char *text, unsigned *out)
{
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    *out = (unsigned)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && value <= 1000000;
}

static bool take_flag(struct command *command, int flag, const char *value)
{
    struct contract_settings *settings = &command->settings;
    switch (flag) {
    case FLAG_STORE_OPTION: return add_option(&settings->options, value);
    case FLAG_WRONG_OPTION: return add_option(&settings->wrong, value);
    case FLAG_UNREACHABLE_OPTION: return add_option(&settings->unreachable, value);
    case FLAG_MISSING_URI: settings->missing_uri = value; return true;
    case FLAG_REFUSED: settings->refused = value; return true;
    case FLAG_LEFT_OUT: settings->left_out = value; return true;
    case FLAG_CASE: command->only = value; return true;
    case FLAG_RACE_NAMES: return parse_number(value, &settings->race_names) && settings->race_names > 0;
    case FLAG_LIST_NAMES: return parse_number(value, &settings->list_names) && settings->list_names > 0;
    case FLAG_PLANT: settings->plant = value; return true;
    case FLAG_PLANTED: command->planted = true; return true;
    case FLAG_KEEP: settings->keep = true; return true;
    case FLAG_ROLE: command->role = value; return true;
    case FLAG_MEMBER: return parse_number(value, &command->member);
    case FLAG_MEMORY: return parse_number(value, &command->memory);
    default: return false;
    }
}

static void forget_options(struct contract_options *options)
{
    for (size_t i = 0; i < options->n; i++) {
        free((void *)(uintptr_t)options->items[i].name);
    }
}

int main(int argc, char **argv)
{
    struct command command = {.settings = {.argv = argv,
                                           .argc = argc,
                                           .race_names = CONTRACT_ROUND_NAMES,
                                           .list_names = 2500,
                                           .refused = "",
                                           .left_out = ""}};
    bool good = true;
    for (int flag = 0; good && (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        good = take_flag(&command, flag, optarg);
    }
    int result = 2;
    if (!good || optind + 1 != argc) {
        (void)fputs("contract: error: wrong arguments, expected [OPTION...] URI; contract_main.c tells of them\n",
                    stderr);
    } else {
        command.settings.uri = argv[optind];
        if (command.role != NULL) {
            result = run_member(&command.settings, command.role, command.member, (int)command.memory);
        } else if (command.planted) {
            result = run_planted(&command.settings);
        } else {
            result = run_all(&command.settings, command.only);
        }
    }
    forget_options(&command.settings.options);
    forget_options(&command.settings.wrong);
    forget_options(&command.settings.unreachable);
    return result;
}
