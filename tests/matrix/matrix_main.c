/*
 * The conflict matrix.
 *
 *     matrix              every pair and the chains; ends with 1 if an answer is wrong
 *     matrix --planted [count]    plants every fault into the check: each must be found; shows three cases, or counts all
 *     matrix --stricter   also prints every refusal that rows alone do not ask for, with its reason
 *     matrix --all        also prints every other refusal
 */
#include "matrix.h"

#include <stdio.h>
#include <string.h>

static void print_totals(const char *what, const struct mx_totals *totals)
{
    (void)printf(
        "%s: %zu cases, %zu commits: %zu allowed, %zu skipped, %zu refused (%zu stricter than rows ask for, %zu of them than "
        "files do); "
        "%zu wrong, %zu of them unsafe\n",
        what, totals->cases, totals->commits, totals->allowed, totals->skipped, totals->refused, totals->stricter,
        totals->needless, totals->wrong, totals->unsafe);
    for (size_t i = 0; i < MX_MAX_REASONS && totals->reasons[i].text != NULL; i++) {
        (void)printf("  %5zu refused although rows would not mind: %s\n", totals->reasons[i].n,
                     totals->reasons[i].text);
    }
}

static size_t run_all(enum mx_report report, bool quiet)
{
    struct mx_totals pairs = {0};
    struct mx_totals chains = {0};
    mx_run_pairs(report, &pairs);
    if (!quiet) {
        print_totals("pairs", &pairs);
    }
    if (report != MX_REPORT_FEW || pairs.wrong == 0) {
        mx_run_chains(report, &chains);
    }
    if (!quiet) {
        print_totals("chains", &chains);
    } else {
        (void)printf("  found by %zu pairs and %zu chains%s, %zu of them unsafe\n", pairs.wrong, chains.wrong,
                     report == MX_REPORT_FEW ? " so far" : "", pairs.unsafe + chains.unsafe);
    }
    return pairs.wrong + chains.wrong;
}

static int run_planted(enum mx_report report)
{
    int missed = 0;
    for (int bug = MX_BUG_NONE + 1; bug < MX_BUG_COUNT; bug++) {
        (void)printf("%s: %s\n", mx_bug_name((enum mx_bug)bug), mx_bug_text((enum mx_bug)bug));
        mx_bugs_use((enum mx_bug)bug);
        if (run_all(report, true) == 0) {
            (void)printf("  MISSED\n");
            missed++;
        }
        (void)fflush(stdout);
    }
    (void)printf("%d faults planted, %d missed\n", MX_BUG_COUNT - 1, missed);
    return missed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "--planted") == 0) {
        return run_planted(argc > 2 ? MX_REPORT_NOTHING : MX_REPORT_FEW);
    }
    enum mx_report report = MX_REPORT_WRONG;
    if (strcmp(mode, "--stricter") == 0) {
        report = MX_REPORT_STRICTER;
    } else if (strcmp(mode, "--all") == 0) {
        report = MX_REPORT_ALL;
    } else if (mode[0] != '\0') {
        (void)fprintf(stderr, "matrix: error: %s is not known (--planted, --stricter, --all)\n", mode);
        return 2;
    }
    return run_all(report, false) == 0 ? 0 : 1;
}
