/*
 * The committer object and the dispatch to its slots; see committer.h. Any thread: nothing changes after creation but the count.
 */
#include "kernel/engine/committer.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/log/commit.h"
#include "silt/version.h"

struct silt_committer {
    const silt_env *env;
    silt_committer_vtable slots; /* our copy: zero beyond the size that the plug-in was compiled with */
    void *impl;
    atomic_size_t refs;
};

silt_status silt_committer_new(const silt_env *env, const silt_committer_vtable *vtable, void *impl,
                               silt_committer **out, silt_error *err)
{
    if (out == NULL || vtable == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_committer_new needs a vtable and an out parameter");
    }
    *out = NULL;
    SL_TRY(sl_env_check(env, err));
    if (vtable->abi_version != SILT_ABI_VERSION) {
        return sl_fail(err, SILT_EINVALID, NULL, "committer has ABI version %u, expected %u",
                       (unsigned)vtable->abi_version, (unsigned)SILT_ABI_VERSION);
    }
    if (vtable->size < offsetof(silt_committer_vtable, note_published)) {
        return sl_fail(err, SILT_EINVALID, NULL, "committer vtable has %u bytes, expected at least %zu",
                       (unsigned)vtable->size, offsetof(silt_committer_vtable, note_published));
    }
    silt_committer *committer = sl_alloc_zero(env, sizeof(*committer));
    if (committer == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(&committer->slots, vtable,
           vtable->size < sizeof(committer->slots) ? vtable->size : sizeof(committer->slots));
    const silt_committer_vtable *slots = &committer->slots;
    if (slots->name == NULL || slots->close == NULL || slots->ratify == NULL || slots->get_commits == NULL) {
        sl_release(env, committer, sizeof(*committer));
        return sl_fail(err, SILT_EINVALID, NULL,
                       "a committer needs a name and the slots close, ratify and get_commits");
    }
    committer->env = env;
    committer->impl = impl;
    atomic_init(&committer->refs, 1);
    *out = committer;
    return SILT_OK;
}

silt_committer *silt_committer_ref(silt_committer *committer)
{
    if (committer != NULL) {
        (void)atomic_fetch_add_explicit(&committer->refs, 1, memory_order_relaxed);
    }
    return committer;
}

void silt_committer_unref(silt_committer *committer)
{
    if (committer != NULL && atomic_fetch_sub_explicit(&committer->refs, 1, memory_order_acq_rel) == 1) {
        committer->slots.close(committer->impl);
        sl_release(committer->env, committer, sizeof(*committer));
    }
}

bool sl_committer_is_inline(const silt_committer *committer)
{
    return (committer->slots.flags & SILT_COMMITTER_INLINE) != 0;
}

/* Names the catalog and what was asked of it, once. */
static silt_status finish(const silt_committer *committer, silt_status status, const char *doing, silt_error *found,
                          silt_error *err)
{
    if (status == SILT_OK && found->status == SILT_OK) {
        return SILT_OK;
    }
    found->message[sizeof(found->message) - 1] = '\0';
    found->code_name[sizeof(found->code_name) - 1] = '\0';
    found->hint[sizeof(found->hint) - 1] = '\0';
    (void)sl_fail(err, status != SILT_OK ? status : found->status,
                  found->code_name[0] != '\0' ? found->code_name : NULL, "%s, %s: %s", committer->slots.name, doing,
                  found->message[0] != '\0' ? found->message : "it failed and told nothing else");
    if (found->hint[0] != '\0') {
        sl_error_hint(err, "%s", found->hint);
    }
    return status;
}

silt_status sl_committer_ratify(silt_committer *committer, const silt_call *call, const silt_ratify_request *request,
                                silt_put_outcome *outcome, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    silt_put_outcome answer = SILT_PUT_AMBIGUOUS;
    *outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(sl_call_check(committer->env, call, err));
    const silt_status status = committer->slots.ratify(committer->impl, call, request, &answer, &found);
    if (status == SILT_OK && (answer == SILT_PUT_DONE || answer == SILT_PUT_EXISTS)) {
        *outcome = answer;
    }
    return finish(committer, status, "ratifying a commit", &found, err);
}

/* A visit that checks what it is shown before it shows it. */
struct checked {
    const struct sl_committer_visit *visit;
    int64_t next;
    int64_t last;      /* shown; -1: none */
    const char *fault; /* NULL: none so far */
};

static bool check_commit(void *ctx, const silt_catalog_commit *commit)
{
    struct checked *checked = ctx;
    if (commit == NULL || commit->version < checked->next ||
        (checked->last >= 0 && commit->version != checked->last + 1)) {
        checked->fault = "commits that are out of order or have gaps";
        return false;
    }
    if ((commit->staged_name == NULL) == (commit->content == NULL) ||
        (commit->staged_name != NULL && !sl_log_is_staged_name(sl_str_from(commit->staged_name), commit->version))) {
        checked->fault = "a commit that is neither inline nor staged under a name of its version";
        return false;
    }
    checked->last = commit->version;
    return checked->visit->on_commit(checked->visit->ctx, commit);
}

silt_status sl_committer_get_commits(silt_committer *committer, const silt_call *call, const char *table_uri,
                                     int64_t from_version, const struct sl_committer_visit *visit, int64_t *latest,
                                     silt_error *err)
{
    struct checked checked = {.visit = visit, .next = from_version, .last = -1};
    silt_error found = SILT_ERROR_INIT;
    int64_t answer = -1;
    *latest = -1;
    SL_TRY(sl_call_check(committer->env, call, err));
    silt_status status = committer->slots.get_commits(committer->impl, call, table_uri, from_version, check_commit,
                                                      &checked, &answer, &found);
    if (status == SILT_OK && (answer < -1 || checked.last > answer)) {
        checked.fault = "a latest version below that of its commits";
    }
    if (status == SILT_OK && checked.fault != NULL) {
        status = sl_fail(&found, SILT_EIO, NULL, "the catalog broke its contract: %s", checked.fault);
    }
    *latest = status == SILT_OK ? answer : -1;
    return finish(committer, status, "asking for ratified commits", &found, err);
}

silt_status sl_committer_note_published(silt_committer *committer, const silt_call *call, const char *table_uri,
                                        int64_t version, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    if (committer->slots.note_published == NULL) {
        return SILT_OK;
    }
    SL_TRY(sl_call_check(committer->env, call, err));
    const silt_status status = committer->slots.note_published(committer->impl, call, table_uri, version, &found);
    return finish(committer, status, "telling of published commits", &found, err);
}
