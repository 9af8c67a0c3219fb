/*
 * The program: runs histories, plays one again, or shows that planted faults are found.
 *
 *   sim                         2,000 histories, or as many as SIM_HISTORIES says
 *   sim --seed N [--trace]      one history; with a trace of all that happens
 *   sim --histories N [--from SEED] [--bug NAME]
 *   sim --planted               each planted fault must be found within 2,000 histories
 *   sim --repeat N              each of N histories runs twice and must go the same way
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HISTORIES 2000

struct options {
    uint64_t from;
    uint64_t histories;
    enum sim_bug bug;
    bool one;
    bool trace;
    bool planted;
    bool repeat;
};

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void report(const struct sim_world *world)
{
    (void)printf("seed %llu: %s\n", (unsigned long long)world->seed, world->violation);
    (void)printf("  again: sim --seed %llu --trace%s%s\n", (unsigned long long)world->seed,
                 world->bug != SIM_BUG_NONE ? " --bug " : "",
                 world->bug != SIM_BUG_NONE ? sim_bug_name(world->bug) : "");
    (void)fflush(stdout); /* a long run says at once what it found */
}

struct totals {
    uint64_t commits;
    uint64_t transactions;
    uint64_t conflicts;
    uint64_t unknown;
    uint64_t crashes;
    uint64_t views;
    uint64_t crcs;
    uint64_t checkpoints;
    uint64_t steps;
};

static void add_up(struct totals *totals, const struct sim_world *world)
{
    totals->commits += (uint64_t)world->store.n_commits;
    totals->transactions += world->txns.n;
    totals->conflicts += world->n_conflicts;
    totals->unknown += world->n_unknown;
    totals->crashes += world->n_crashes;
    totals->views += world->views.n;
    totals->crcs += world->n_crcs;
    totals->checkpoints += world->n_checkpoints;
    totals->steps += world->steps;
}

static void print_totals(const struct options *options, const struct totals *totals)
{
    (void)printf("%llu histories: %llu commits of %llu transactions, %llu conflicts, %llu unknown, %llu crashes, "
                 "%llu reads, %llu checksums, %llu checkpoints, %llu steps, %.1f s of CPU\n",
                 (unsigned long long)options->histories, (unsigned long long)totals->commits,
                 (unsigned long long)totals->transactions, (unsigned long long)totals->conflicts,
                 (unsigned long long)totals->unknown, (unsigned long long)totals->crashes,
                 (unsigned long long)totals->views, (unsigned long long)totals->crcs,
                 (unsigned long long)totals->checkpoints, (unsigned long long)totals->steps, cpu_seconds());
}

static bool run_many(struct sim_world *world, const struct options *options)
{
    struct totals totals = {0};
    int broken = 0;
    for (uint64_t i = 0; i < options->histories && broken < 5; i++) {
        if (!sim_run(world, options->from + i)) {
            broken++;
            report(world);
        }
        add_up(&totals, world);
    }
    print_totals(options, &totals);
    return broken == 0;
}

/* The log as it landed, deleted commits too. */
static void print_log(const struct sim_world *world)
{
    for (int64_t version = 0; version < world->store.n_commits; version++) {
        const struct sim_commit *commit = &world->store.commits[version];
        (void)printf("---- version %lld, by a%d\n%.*s", (long long)version, commit->actor, (int)commit->len,
                     commit->data);
    }
}

/* What is in the store in the end, data files apart. */
static void print_objects(const struct sim_world *world)
{
    for (size_t i = 0; i < world->store.objects.n; i++) {
        const struct sim_object *object = SIM_AT(&world->store.objects, struct sim_object, i);
        if (strncmp(object->path, SIM_LOG, strlen(SIM_LOG)) == 0) {
            (void)printf("---- %s, %zu bytes\n", object->path, object->len);
        }
    }
}

static bool run_one(struct sim_world *world, const struct options *options)
{
    world->trace = options->trace ? stdout : NULL;
    const bool good = sim_run(world, options->from);
    if (options->trace) {
        print_log(world);
        print_objects(world);
    }
    if (good) {
        (void)printf("seed %llu: %lld versions, nothing broken, digest %016llx\n", (unsigned long long)options->from,
                     (long long)world->store.n_commits, (unsigned long long)world->digest);
    } else {
        report(world);
    }
    return good;
}

static bool find_planted(struct sim_world *world)
{
    bool good = true;
    for (int bug = SIM_BUG_NONE + 1; bug < SIM_BUG_COUNT; bug++) {
        world->bug = (enum sim_bug)bug;
        uint64_t n = 1;
        while (n <= HISTORIES && sim_run(world, n)) {
            n++;
        }
        const bool found = n <= HISTORIES;
        (void)printf("%-18s %s after %llu histories (%s)\n    %s\n", sim_bug_name(world->bug),
                     found ? "found" : "NOT FOUND", (unsigned long long)(found ? n : HISTORIES),
                     sim_bug_text(world->bug), found ? world->violation : "");
        good = good && found;
    }
    world->bug = SIM_BUG_NONE;
    return good;
}

static bool run_twice(struct sim_world *world, const struct options *options)
{
    for (uint64_t i = 0; i < options->histories; i++) {
        const bool first = sim_run(world, options->from + i);
        const uint64_t digest = world->digest;
        const uint64_t steps = world->steps;
        if (sim_run(world, options->from + i) != first || world->digest != digest || world->steps != steps) {
            (void)printf("seed %llu: the second time it goes another way\n", (unsigned long long)(options->from + i));
            return false;
        }
    }
    (void)printf("%llu histories go the same way twice\n", (unsigned long long)options->histories);
    return true;
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end = NULL;
    *out = text != NULL ? strtoull(text, &end, 10) : 0;
    return text != NULL && end != text && *end == '\0';
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    const char *histories = getenv("SIM_HISTORIES");
    if (histories != NULL && histories[0] != '\0' && !parse_number(histories, &options->histories)) {
        return false;
    }
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool good = true;
        if (strcmp(argv[i], "--trace") == 0) {
            options->trace = true;
        } else if (strcmp(argv[i], "--planted") == 0) {
            options->planted = true;
        } else if (strcmp(argv[i], "--seed") == 0) {
            options->one = true;
            good = parse_number(value, &options->from);
            i++;
        } else if (strcmp(argv[i], "--from") == 0) {
            good = parse_number(value, &options->from);
            i++;
        } else if (strcmp(argv[i], "--histories") == 0 || strcmp(argv[i], "--repeat") == 0) {
            options->repeat = strcmp(argv[i], "--repeat") == 0;
            good = parse_number(value, &options->histories);
            i++;
        } else if (strcmp(argv[i], "--bug") == 0 && value != NULL) {
            options->bug = sim_bug_find(value);
            good = options->bug != SIM_BUG_COUNT;
            i++;
        } else {
            good = false;
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.from = 1, .histories = HISTORIES};
    if (!parse_options(argc, argv, &options)) {
        (void)fprintf(stderr, "usage: sim [--seed N] [--trace] [--histories N] [--from SEED] [--bug NAME] [--planted] "
                              "[--repeat N]\n");
        return 2;
    }
    struct sim_world *world = calloc(1, sizeof(*world));
    if (world == NULL) {
        return 1;
    }
    world->bug = options.bug;
    bool good = true;
    if (options.planted) {
        good = find_planted(world);
    } else if (options.repeat) {
        good = run_twice(world, &options);
    } else if (options.one) {
        good = run_one(world, &options);
    } else {
        good = run_many(world, &options);
    }
    sim_world_release(world);
    free(world);
    return good ? 0 : 1;
}
