/* A catalog for tests. */
#include "catalog_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silt/version.h"

void catalog_init(struct catalog_fixture *catalog, int64_t latest)
{
    memset(catalog, 0, sizeof(*catalog));
    (void)pthread_mutex_init(&catalog->lock, NULL);
    catalog->latest = latest;
    catalog->published = latest;
}

void catalog_release(struct catalog_fixture *catalog)
{
    for (size_t i = 0; i < CATALOG_MOST; i++) {
        free(catalog->commits[i].content);
    }
    (void)pthread_mutex_destroy(&catalog->lock);
}

static void close_nothing(void *impl)
{
    (void)impl; /* the fixture's owner releases it */
}

static bool take_version(struct catalog_fixture *catalog, const silt_ratify_request *request)
{
    if (request->version != catalog->latest + 1 || request->version >= CATALOG_MOST) {
        return false;
    }
    (void)snprintf(catalog->commits[request->version].staged_name, sizeof(catalog->commits[0].staged_name), "%s",
                   request->staged_name != NULL ? request->staged_name : "");
    if (request->staged_name == NULL) {
        char *copy = malloc(request->content_len);
        if (copy == NULL) {
            return false;
        }
        memcpy(copy, request->content, request->content_len);
        catalog->commits[request->version].content = copy;
    }
    catalog->commits[request->version].content_len = request->content_len;
    catalog->commits[request->version].modified_ms = request->modified_ms;
    catalog->latest = request->version;
    return true;
}

static silt_status ratify(void *impl, const silt_call *call, const silt_ratify_request *request,
                          silt_put_outcome *outcome, silt_error *err)
{
    struct catalog_fixture *catalog = impl;
    const size_t last = sizeof(catalog->faults) / sizeof(catalog->faults[0]) - 1;
    (void)call;
    (void)pthread_mutex_lock(&catalog->lock);
    const size_t at = catalog->n_requests < last ? catalog->n_requests : last;
    const enum catalog_fault fault = catalog->faults[at];
    catalog->n_requests++;
    const char *name = request->staged_name != NULL ? request->staged_name : "";
    catalog->n_names += strcmp(name, catalog->last_name) != 0 ? 1 : 0;
    (void)snprintf(catalog->last_name, sizeof(catalog->last_name), "%s", name);
    bool done = false;
    if (fault == CATALOG_ANSWERS || fault == CATALOG_LOSES_ANSWER) {
        done = take_version(catalog, request);
    }
    (void)pthread_mutex_unlock(&catalog->lock);
    if (fault == CATALOG_FAILS) {
        err->status = SILT_EACCESS;
        (void)snprintf(err->message, sizeof(err->message), "you may not");
        return SILT_EACCESS;
    }
    if (fault == CATALOG_ANSWERS) {
        *outcome = done ? SILT_PUT_DONE : SILT_PUT_EXISTS;
    }
    return SILT_OK;
}

static silt_catalog_commit describe(const struct catalog_fixture *catalog, int64_t version)
{
    const char *staged_name = catalog->commits[version].staged_name;
    const bool staged = staged_name[0] != '\0';
    return (silt_catalog_commit){.size = sizeof(silt_catalog_commit),
                                 .version = version,
                                 .staged_name = staged ? staged_name : NULL,
                                 .size_bytes = (int64_t)catalog->commits[version].content_len,
                                 .modified_ms = catalog->commits[version].modified_ms,
                                 .content = staged ? NULL : catalog->commits[version].content,
                                 .content_len = staged ? 0 : catalog->commits[version].content_len};
}

static silt_status get_commits(void *impl, const silt_call *call, const char *table_uri, int64_t from_version,
                               bool (*on_commit)(void *ctx, const silt_catalog_commit *commit), void *ctx,
                               int64_t *latest_version, silt_error *err)
{
    struct catalog_fixture *catalog = impl;
    (void)call;
    (void)table_uri;
    (void)err;
    (void)pthread_mutex_lock(&catalog->lock);
    catalog->n_questions++;
    *latest_version = catalog->latest;
    int64_t version = catalog->published + 1 > from_version ? catalog->published + 1 : from_version;
    for (bool go_on = true; go_on && version <= catalog->latest; version++) {
        silt_catalog_commit commit = describe(catalog, version);
        commit.version += catalog->has_gap && version == catalog->latest ? 1 : 0;
        go_on = on_commit(ctx, &commit);
    }
    (void)pthread_mutex_unlock(&catalog->lock);
    return SILT_OK;
}

static silt_status note_published(void *impl, const silt_call *call, const char *table_uri, int64_t version,
                                  silt_error *err)
{
    struct catalog_fixture *catalog = impl;
    (void)call;
    (void)table_uri;
    (void)err;
    (void)pthread_mutex_lock(&catalog->lock);
    if (version > catalog->published && version <= catalog->latest) {
        catalog->published = version;
    }
    (void)pthread_mutex_unlock(&catalog->lock);
    return SILT_OK;
}

silt_committer *catalog_committer(struct catalog_fixture *catalog, const silt_env *env, bool is_inline)
{
    const silt_committer_vtable vtable = {.size = sizeof(vtable),
                                          .abi_version = SILT_ABI_VERSION,
                                          .name = "test catalog",
                                          .flags = is_inline ? SILT_COMMITTER_INLINE : 0U,
                                          .close = close_nothing,
                                          .ratify = ratify,
                                          .get_commits = get_commits,
                                          .note_published = note_published};
    silt_committer *committer = NULL;
    return silt_committer_new(env, &vtable, catalog, &committer, NULL) == SILT_OK ? committer : NULL;
}

silt_status catalog_open(struct catalog_fixture *catalog, silt_engine *engine, const char *uri,
                         silt_committer *committer, silt_table **out, silt_error *err)
{
    silt_catalog_commit commits[CATALOG_MOST];
    silt_catalog_state state = {.size = sizeof(state), .commits = commits, .committer = committer};
    (void)pthread_mutex_lock(&catalog->lock);
    state.latest_version = catalog->latest;
    for (int64_t version = catalog->published + 1; version <= catalog->latest; version++) {
        commits[state.n_commits++] = describe(catalog, version);
    }
    const silt_status status = silt_table_for_catalog(engine, uri, &state, out, err);
    (void)pthread_mutex_unlock(&catalog->lock);
    return status;
}

bool catalog_ratify(struct catalog_fixture *catalog, int64_t version, const char *staged_name)
{
    const silt_ratify_request request = {.size = sizeof(request), .version = version, .staged_name = staged_name};
    (void)pthread_mutex_lock(&catalog->lock);
    const bool done = take_version(catalog, &request);
    (void)pthread_mutex_unlock(&catalog->lock);
    return done;
}
