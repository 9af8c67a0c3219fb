/*
 * Cases about many at once: who creates a name, what readers see of a file that is replaced, what listings have of what was written.
 */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_RACERS 16
#define RACE_BYTES ((size_t)700)

/* ---- creating a name ---- */

static void race_name(const struct contract *c, char *path, unsigned i)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "_delta_log/%020u.json", i);
    (void)path_of(c, path, name);
}

static void fill_race(char *bytes, unsigned id)
{
    memset(bytes, 'a' + (int)id, RACE_BYTES);
}

/* All are let loose together on each name. */
void race_member(struct contract *c, struct crew *crew, unsigned id)
{
    struct member *self = &crew->members[id];
    char bytes[RACE_BYTES];
    fill_race(bytes, id);
    for (unsigned i = 0; i < crew->round_names; i++) {
        char path[CONTRACT_PATH_SIZE];
        silt_error err = SILT_ERROR_INIT;
        race_name(c, path, i);
        self->outcome[i] = SILT_PUT_AMBIGUOUS;
        (void)pthread_barrier_wait(&crew->step);
        self->status[i] = silt_storage_put_if_absent(c->store, NULL, path, bytes, sizeof(bytes), &self->outcome[i],
                                                     &err);
        if (self->status[i] != SILT_OK) {
            member_problem(self, "%.250s", err.message);
        }
    }
}

struct race_count {
    uint64_t names;
    uint64_t ambiguous; /* answers */
    uint64_t failures;  /* likewise: certainly not created */
    uint64_t without_winner;
    uint64_t many_winners;
    uint64_t wrong_bytes; /* names whose bytes are not the winner's, or of one that was told that it failed */
};

/* Whose bytes are there; N_RACERS: nobody's as a whole. */
static unsigned owner_of(struct contract *c, unsigned i)
{
    char path[CONTRACT_PATH_SIZE];
    void *data = NULL;
    size_t len = 0;
    unsigned owner = N_RACERS;
    race_name(c, path, i);
    if (silt_storage_read(c->store, NULL, path, &data, &len, NULL) == SILT_OK && len == RACE_BYTES) {
        const unsigned char first = *(unsigned char *)data;
        char bytes[RACE_BYTES];
        if (first >= 'a' && first < 'a' + N_RACERS) {
            fill_race(bytes, first - 'a');
            owner = memcmp(bytes, data, len) == 0 ? first - 'a' : N_RACERS;
        }
    }
    silt_storage_free(c->store, data, len);
    return owner;
}

/* An answer that is not clear is resolved as the commit loop does it: by reading whose bytes are there. */
static void judge_name(struct contract *c, const struct crew *crew, unsigned i, struct race_count *count)
{
    const unsigned owner = owner_of(c, i);
    unsigned winners = 0;
    unsigned winner = N_RACERS;
    bool owner_unclear = false;
    for (unsigned m = 0; m < crew->n; m++) {
        const struct member *member = &crew->members[m];
        const bool clear = member->status[i] == SILT_OK && member->outcome[i] != SILT_PUT_AMBIGUOUS;
        count->failures += member->status[i] != SILT_OK ? 1 : 0;
        if (member->status[i] == SILT_OK && !clear) {
            count->ambiguous++;
            owner_unclear = owner_unclear || owner == m;
        }
        if (clear && member->outcome[i] == SILT_PUT_DONE) {
            winners++;
            winner = m;
        }
    }
    count->names++;
    count->many_winners += winners > 1 || (winners == 1 && owner_unclear) ? 1 : 0;
    count->without_winner += winners == 0 && !owner_unclear ? 1 : 0;
    count->wrong_bytes += owner == N_RACERS || (winners == 1 && winner != owner) ? 1 : 0;
}

void exactly_one_of_sixteen_creates_a_name(struct contract *c)
{
    struct race_count count = {0};
    char base[sizeof(c->dir)];
    memcpy(base, c->dir, sizeof(base));
    for (unsigned done = 0; done < c->settings->race_names && !c->failed; done += CONTRACT_ROUND_NAMES) {
        const unsigned left = c->settings->race_names - done;
        c->round_names = left < CONTRACT_ROUND_NAMES ? left : CONTRACT_ROUND_NAMES;
        (void)snprintf(c->dir, sizeof(c->dir), "%.900s/%u", base, done);
        struct crew *crew = crew_run(c, N_RACERS, "race", NULL);
        if (crew == NULL) {
            break;
        }
        for (unsigned i = 0; i < c->round_names; i++) {
            judge_name(c, crew, i, &count);
        }
        const char *problem = "";
        for (unsigned m = 0; m < crew->n; m++) {
            problem = crew->members[m].failed ? crew->members[m].problem : problem;
        }
        (void)expect(c, count.many_winners + count.without_winner + count.wrong_bytes == 0,
                     "of %llu names %llu had several winners, %llu none, %llu the wrong bytes; %llu failures %s",
                     (unsigned long long)count.names, (unsigned long long)count.many_winners,
                     (unsigned long long)count.without_winner, (unsigned long long)count.wrong_bytes,
                     (unsigned long long)count.failures, problem);
        crew_free(crew);
    }
    memcpy(c->dir, base, sizeof(base));
    note_case(c, "%llu names, %llu ambiguous answers, %llu failures", (unsigned long long)count.names,
              (unsigned long long)count.ambiguous, (unsigned long long)count.failures);
}

/* ---- versions of one file ---- */

#define N_READERS 3
#define N_VERSIONS 40

/* Another size for each version, so that a mix of two shows by its length as well. */
static size_t version_size(unsigned version)
{
    return (size_t)150000 + (size_t)version * 1013;
}

/* The version of these bytes, or 0. */
static unsigned version_of(const void *data, size_t len)
{
    unsigned version = 0;
    if (len < sizeof(version)) {
        return 0;
    }
    memcpy(&version, data, sizeof(version));
    const char *bytes = data;
    if (version == 0 || version > N_VERSIONS || len != version_size(version)) {
        return 0;
    }
    for (size_t i = sizeof(version); i < len; i++) {
        if (bytes[i] != (char)version) {
            return 0;
        }
    }
    return version;
}

static void check_version(struct contract *c, const struct crew *crew, struct member *self, unsigned answered)
{
    char path[CONTRACT_PATH_SIZE];
    void *data = NULL;
    size_t len = 0;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_storage_read(c->store, NULL, path_of(c, path, "replaced.bin"), &data, &len, &err);
    (void)crew;
    if (status == SILT_ENOTFOUND && answered == 0) {
        return;
    }
    if (status != SILT_OK) {
        member_problem(self, "reading a file that is there: %.180s", err.message);
        return;
    }
    const unsigned version = version_of(data, len);
    if (version == 0) {
        member_problem(self, "%zu bytes that are no version of the file", len);
    } else if (version < answered) {
        member_problem(self, "version %u after version %u was answered", version, answered);
    }
    self->seen++;
    silt_storage_free(c->store, data, len);
}

void version_reader(struct contract *c, struct crew *crew, unsigned id)
{
    struct member *self = &crew->members[id];
    bool last = false;
    (void)atomic_fetch_add(&crew->ready, 1);
    while (!last && !self->failed) {
        last = atomic_load(&crew->finished);
        check_version(c, crew, self, atomic_load(&crew->written));
    }
}

static bool write_version(struct contract *c, char *bytes, unsigned version)
{
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_DONE;
    const size_t size = version_size(version);
    memset(bytes, (char)version, size);
    memcpy(bytes, &version, sizeof(version));
    (void)path_of(c, path, "replaced.bin");
    const silt_status status = version == 1
                                   ? silt_storage_put_if_absent(c->store, NULL, path, bytes, size, &outcome, &err)
                                   : silt_storage_put(c->store, NULL, path, bytes, size, &err);
    return expect_status(c, status, SILT_OK, &err, "put") && expect(c, outcome == SILT_PUT_DONE, "the name is taken");
}

static void version_writer(struct contract *c, struct crew *crew, unsigned id)
{
    (void)id;
    char *bytes = malloc(version_size(N_VERSIONS));
    crew_wait(crew);
    for (unsigned v = 1; v <= N_VERSIONS && expect(c, bytes != NULL, "no memory") && !c->failed; v++) {
        if (write_version(c, bytes, v)) {
            atomic_store(&crew->written, v);
        }
    }
    free(bytes);
    atomic_store(&crew->finished, true);
}

/* What members found; the number of their looks. */
static uint64_t judge_readers(struct contract *c, struct crew *crew)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < crew->n; i++) {
        (void)expect(c, !crew->members[i].failed, "a reader: %s", crew->members[i].problem);
        (void)expect(c, crew->members[i].seen > 0, "a reader never saw the file");
        seen += crew->members[i].seen;
    }
    crew_free(crew);
    return seen;
}

void readers_see_whole_versions_and_the_newest(struct contract *c)
{
    struct crew *crew = crew_run(c, N_READERS, "versions", version_writer);
    if (crew != NULL) {
        note_case(c, "%llu reads", (unsigned long long)judge_readers(c, crew));
    }
}

/* ---- listings beside a writer ---- */

#define N_LISTED 60
#define KEPT_BEHIND 20 /* names that are there at a time; older ones are removed */

struct listed {
    bool has[N_LISTED];
    bool strange;
};

static bool mark_name(void *ctx, const silt_file_entry *entry)
{
    struct listed *listed = ctx;
    char name[16] = "";
    (void)snprintf(name, sizeof(name), "%.*s", (int)entry->name_len, entry->name);
    const unsigned long i = strtoul(name, NULL, 10);
    if (i >= N_LISTED || entry->name_len != 8) {
        listed->strange = true;
    } else {
        listed->has[i] = true;
    }
    return true;
}

/* What was answered before the listing began must be in it; what was removed by then, or not begun when it ended, must not. */
static void check_listing(struct contract *c, const struct crew *crew, struct member *self)
{
    char dir[CONTRACT_PATH_SIZE];
    struct listed listed = {.strange = false};
    silt_error err = SILT_ERROR_INIT;
    const unsigned removed = atomic_load(&crew->removed);
    const unsigned written = atomic_load(&crew->written);
    const silt_status status = silt_storage_list(c->store, NULL, path_of(c, dir, "listed"), NULL, mark_name, &listed,
                                                 &err);
    if (status == SILT_ENOTFOUND && written == 0) {
        return;
    }
    if (status != SILT_OK || listed.strange) {
        member_problem(self, "a listing failed or has strange names: %.150s", err.message);
        return;
    }
    const unsigned removed_since = atomic_load(&crew->removed);
    for (unsigned i = 0; i < N_LISTED; i++) {
        if (i < removed && listed.has[i]) {
            member_problem(self, "name %u is listed, but was removed", i);
        }
        if (i >= removed_since + 1 && i < written && !listed.has[i]) {
            member_problem(self, "name %u of %u that were answered is not listed", i, written);
        }
    }
    self->seen += written > 0 ? 1 : 0;
}

void name_reader(struct contract *c, struct crew *crew, unsigned id)
{
    struct member *self = &crew->members[id];
    bool last = false;
    (void)atomic_fetch_add(&crew->ready, 1);
    while (!last && !self->failed) {
        last = atomic_load(&crew->finished);
        check_listing(c, crew, self);
    }
}

static void name_writer(struct contract *c, struct crew *crew, unsigned id)
{
    struct member self = {.failed = false};
    (void)id;
    crew_wait(crew);
    for (unsigned i = 0; i < N_LISTED && !c->failed; i++) {
        char name[32];
        char path[CONTRACT_PATH_SIZE];
        (void)snprintf(name, sizeof(name), "listed/%08u", i);
        if (put_new_text(c, name, "x", SILT_PUT_DONE)) {
            atomic_store(&crew->written, i + 1);
        }
        check_listing(c, crew, &self);
        if (i >= KEPT_BEHIND) {
            silt_error err = SILT_ERROR_INIT;
            (void)snprintf(name, sizeof(name), "listed/%08u", i - KEPT_BEHIND);
            if (expect_status(c, silt_storage_remove(c->store, NULL, path_of(c, path, name), &err), SILT_OK, &err,
                              "remove")) {
                atomic_store(&crew->removed, i - KEPT_BEHIND + 1);
            }
            check_listing(c, crew, &self);
        }
    }
    (void)expect(c, !self.failed, "the writer: %s", self.problem);
    atomic_store(&crew->finished, true);
}

void listings_have_what_was_written_and_not_what_was_removed(struct contract *c)
{
    struct crew *crew = crew_run(c, N_READERS, "names", name_writer);
    if (crew != NULL) {
        note_case(c, "%llu listings", (unsigned long long)judge_readers(c, crew));
    }
}
