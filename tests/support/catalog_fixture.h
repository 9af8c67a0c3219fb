/*
 * A catalog for tests, of one table: it gives away versions under a lock, keeps staged names or inline bytes until they are published, and
 * loses answers as told. From several threads.
 */
#ifndef SILT_CATALOG_FIXTURE_H
#define SILT_CATALOG_FIXTURE_H

#include <pthread.h>
#include <stdbool.h>

#include "silt/silt.h"

enum {
    CATALOG_MOST = 256
};

/* What becomes of a request to ratify. */
enum catalog_fault {
    CATALOG_ANSWERS,
    CATALOG_LOSES_REQUEST, /* no answer, and nothing happened */
    CATALOG_LOSES_ANSWER,  /* no answer, but it was ratified if it could be */
    CATALOG_FAILS          /* an error: nothing happened, nor will */
};

struct catalog_fixture {
    pthread_mutex_t lock;
    struct {
        char staged_name[96]; /* empty: inline */
        char *content;
        size_t content_len;
        int64_t modified_ms;
    } commits[CATALOG_MOST]; /* by version */
    int64_t latest;
    int64_t published;            /* up to this one they were forgotten */
    enum catalog_fault faults[8]; /* of the requests to come, in their order; the last one stays */
    size_t n_requests;
    size_t n_names; /* requests that named another file than the one before */
    char last_name[96];
    size_t n_questions; /* get_commits */
    bool has_gap;       /* it leaves out the first commit that it holds, though asked for */
};

void catalog_init(struct catalog_fixture *catalog, int64_t latest);
void catalog_release(struct catalog_fixture *catalog);
/* NULL on failure; the catalog must outlive it. */
silt_committer *catalog_committer(struct catalog_fixture *catalog, const silt_env *env, bool is_inline);
/* The table in the state that the catalog has now. committer NULL: read-only. */
silt_status catalog_open(struct catalog_fixture *catalog, silt_engine *engine, const char *uri,
                         silt_committer *committer, silt_table **out, silt_error *err);
/* What another client did: a version ratified, with a file that it staged. */
bool catalog_ratify(struct catalog_fixture *catalog, int64_t version, const char *staged_name);

#endif
