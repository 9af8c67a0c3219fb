/*
 * Commits through a catalog: staged, ratified, published. Called by the commit loop and silt_table_publish, on the caller's thread.
 *
 * A staged file has a name that nobody else uses, so it is staged once a version and sent again as it is while the catalog does not answer.
 * PROTOCOL.md "Catalog-managed tables", "Publishing Commits".
 */
#include "kernel/txn/commit_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/committer.h"
#include "kernel/log/commit.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

#define STAGING_TRIES 3

/* The name within the log of a staged commit. */
static const char *staged_path(struct sl_arena *scratch, const struct sl_commit_place *place, const char *name)
{
    return sl_arena_printf(scratch, "%.*s/" SL_LOG_DIR "/" SL_LOG_STAGED_DIR "/%s", SL_FMT(place->root), name);
}

/* The version that it was staged for went to another: nobody will ever ask for the file. What stays means nothing. */
void sl_place_drop_staged(struct sl_commit_place *place)
{
    struct sl_arena scratch;
    if (place->staged_name[0] == '\0') {
        return;
    }
    sl_arena_init(&scratch, place->env);
    const char *path = staged_path(&scratch, place, place->staged_name);
    if (path != NULL) {
        sl_ignore(silt_storage_remove(place->storage, NULL, path, NULL));
    }
    sl_arena_release(&scratch);
    place->staged_name[0] = '\0';
}

/* Under a new name each time, so that one without an answer is simply left behind. */
static silt_status stage_once(struct sl_commit_place *place, const silt_call *call, int64_t version,
                              struct sl_str bytes, bool *done, silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    struct sl_arena scratch;
    *done = false;
    SL_TRY(sl_uuid_make(place->env, uuid, err));
    (void)snprintf(place->staged_name, sizeof(place->staged_name), "%020" PRId64 ".%s.json", version, uuid); /* fits */
    sl_arena_init(&scratch, place->env);
    const char *path = staged_path(&scratch, place, place->staged_name);
    silt_status status = path != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = silt_storage_put_if_absent(place->storage, call, path, bytes.ptr, bytes.len, &outcome, err);
    }
    sl_arena_release(&scratch);
    *done = status == SILT_OK && outcome == SILT_PUT_DONE;
    if (!*done) {
        place->staged_name[0] = '\0';
    }
    return status;
}

static silt_status stage(struct sl_commit_place *place, const silt_call *call, int64_t version, struct sl_str bytes,
                         silt_error *err)
{
    if (place->staged_name[0] != '\0' && place->staged_version == version) {
        return SILT_OK;
    }
    sl_place_drop_staged(place);
    for (int i = 0; i < STAGING_TRIES; i++) {
        bool done = false;
        SL_TRY(stage_once(place, call, version, bytes, &done, err));
        if (done) {
            place->staged_version = version;
            place->staged_ms = sl_now_ms(place->env);
            return SILT_OK;
        }
    }
    return sl_fail(err, SILT_EIO, NULL, "version %" PRId64 " could not be staged: the store gave no answer", version);
}

silt_status sl_catalog_put(struct sl_commit_place *place, const silt_call *call, int64_t version, struct sl_str bytes,
                           silt_put_outcome *outcome, silt_error *err)
{
    const bool is_inline = sl_committer_is_inline(place->committer);
    if (!is_inline) {
        SL_TRY(stage(place, call, version, bytes, err));
    }
    const silt_ratify_request request = {.size = sizeof(request),
                                         .table_uri = place->root.ptr,
                                         .version = version,
                                         .staged_name = is_inline ? NULL : place->staged_name,
                                         .modified_ms = is_inline ? sl_now_ms(place->env) : place->staged_ms,
                                         .content = bytes.ptr,
                                         .content_len = bytes.len};
    return sl_committer_ratify(place->committer, call, &request, outcome, err);
}

/* ---- what was ratified ---- */

/* A commit of the catalog, kept beyond the visit: text in an arena. */
struct held {
    int64_t version;
    struct sl_str staged_name; /* within the log; absent: inline */
    struct sl_str content;
};

struct collected {
    struct sl_arena *arena;
    struct sl_vec *commits; /* struct held */
    size_t most;            /* that are wanted */
    bool no_memory;
};

static bool collect(void *ctx, const silt_catalog_commit *commit)
{
    struct collected *collected = ctx;
    struct held held = {.version = commit->version};
    if (commit->staged_name != NULL) {
        held.staged_name = sl_str_from(sl_arena_printf(collected->arena, SL_LOG_STAGED_DIR "/%s", commit->staged_name));
    } else {
        held.content = sl_arena_copy(collected->arena, sl_str_make(commit->content, commit->content_len));
    }
    struct held *slot = held.staged_name.ptr != NULL || held.content.ptr != NULL ? sl_vec_push(collected->commits)
                                                                                 : NULL;
    if (slot == NULL) {
        collected->no_memory = true;
        return false;
    }
    *slot = held;
    return collected->commits->len < collected->most;
}

static silt_status get_commits(const struct sl_commit_place *place, const silt_call *call, int64_t from_version,
                               struct collected *collected, int64_t *latest, silt_error *err)
{
    const struct sl_committer_visit visit = {.on_commit = collect, .ctx = collected};
    SL_TRY(sl_committer_get_commits(place->committer, call, place->root.ptr, from_version, &visit, latest, err));
    return collected->no_memory ? sl_fail_nomem(err) : SILT_OK;
}

/* A staged file that is gone was published before. */
static silt_status read_held(const struct sl_commit_place *place, const silt_call *call, const struct held *held,
                             struct sl_buf *out, silt_error *err)
{
    if (held->content.ptr != NULL) {
        sl_buf_clear(out);
        sl_buf_put_str(out, held->content);
        return sl_buf_status(out, err);
    }
    const silt_status status = sl_place_read_file(place, call, held->staged_name, out, err);
    if (status != SILT_ENOTFOUND) {
        return status;
    }
    silt_error_reset(err);
    return sl_place_read_published(place, call, held->version, out, err);
}

silt_status sl_catalog_read(const struct sl_commit_place *place, const silt_call *call, int64_t version,
                            struct sl_buf *out, silt_error *err)
{
    struct sl_arena arena;
    struct sl_vec commits;
    int64_t latest = -1;
    sl_arena_init(&arena, place->env);
    sl_vec_init(&commits, place->env, sizeof(struct held));
    struct collected collected = {.arena = &arena, .commits = &commits, .most = 1};
    silt_status status = get_commits(place, call, version, &collected, &latest, err);
    if (status == SILT_OK && latest < version) {
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "version %" PRId64 " was not ratified; the latest is %" PRId64,
                         version, latest);
    } else if (status == SILT_OK) {
        const struct held *held = commits.len > 0 ? sl_vec_at(&commits, 0) : NULL;
        status = held != NULL && held->version == version ? read_held(place, call, held, out, err)
                                                          : sl_place_read_published(place, call, version, out, err);
        if (status == SILT_ENOTFOUND) {
            status = sl_fail(err, SILT_EIO, NULL, "version %" PRId64 " was ratified, but its commit is nowhere",
                             version);
        }
    }
    sl_vec_release(&commits);
    sl_arena_release(&arena);
    return status;
}

/* ---- publishing ---- */

/* *done: the published name has a file. Whoever put it there put the same bytes. */
static silt_status publish_one(const struct sl_commit_place *place, const silt_call *call, const struct held *held,
                               bool *done, silt_error *err)
{
    struct sl_arena scratch;
    struct sl_buf bytes;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    sl_arena_init(&scratch, place->env);
    sl_buf_init(&bytes, place->env);
    const char *path = sl_log_commit_path(&scratch, place->root, held->version).ptr;
    silt_status status = path != NULL ? read_held(place, call, held, &bytes, err) : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = silt_storage_put_if_absent(place->storage, call, path, bytes.data, bytes.len, &outcome, err);
    }
    *done = status == SILT_OK && outcome != SILT_PUT_AMBIGUOUS;
    sl_buf_release(&bytes);
    sl_arena_release(&scratch);
    return status;
}

silt_status sl_place_publish(const struct sl_commit_place *place, const silt_call *call, int64_t *version,
                             silt_error *err)
{
    struct sl_arena arena;
    struct sl_vec commits;
    int64_t latest = -1;
    *version = -1;
    sl_arena_init(&arena, place->env);
    sl_vec_init(&commits, place->env, sizeof(struct held));
    struct collected collected = {.arena = &arena, .commits = &commits, .most = SIZE_MAX};
    silt_status status = get_commits(place, call, 0, &collected, &latest, err);
    bool done = true;
    *version = commits.len > 0 ? ((const struct held *)sl_vec_at(&commits, 0))->version - 1 : latest;
    for (size_t i = 0; status == SILT_OK && done && i < commits.len; i++) {
        const struct held *held = sl_vec_at(&commits, i);
        status = publish_one(place, call, held, &done, err);
        *version = done ? held->version : *version;
    }
    if (status == SILT_OK && !done) {
        status = sl_fail(err, SILT_EIO, NULL, "the store gave no answer whether version %" PRId64 " was published",
                         *version + 1);
    }
    if (*version >= 0 && commits.len > 0) {
        const silt_status told = sl_committer_note_published(place->committer, call, place->root.ptr, *version,
                                                             status == SILT_OK ? err : NULL);
        status = status == SILT_OK ? told : status;
    }
    sl_vec_release(&commits);
    sl_arena_release(&arena);
    return status;
}

silt_status silt_table_publish(silt_table *table, const silt_call *call, int64_t *version, silt_error *err)
{
    int64_t ignored = -1;
    if (version != NULL) {
        *version = -1;
    }
    if (table == NULL || sl_table_committer(table) == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "only a table of a catalog with a committer has commits to publish");
    }
    const struct sl_commit_place place = {.env = silt_engine_env(silt_table_engine(table)),
                                          .storage = sl_table_storage(table),
                                          .root = sl_table_root(table),
                                          .committer = sl_table_committer(table)};
    return sl_place_publish(&place, call, version != NULL ? version : &ignored, err);
}
