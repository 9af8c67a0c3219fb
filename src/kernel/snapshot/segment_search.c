/*
 * Ways to a version, best first; see segment_search.h. Every bad checkpoint is remembered by name, so the search ends: each attempt has
 * one fewer to choose from.
 */
#include "kernel/snapshot/segment_search.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/log/hint.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

/* A log that is cleaned up while it is read is listed again, this often. */
#define MAX_ATTEMPTS 3

void sl_segment_search_init(struct sl_segment_search *search, silt_table *table, const silt_call *call, int64_t version)
{
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    *search = (struct sl_segment_search){
        .table = table, .env = env, .call = call, .version = version, .first = SILT_ERROR_INIT};
    sl_arena_init(&search->names, env);
    sl_vec_init(&search->bad, env, sizeof(struct sl_str));
}

void sl_segment_search_release(struct sl_segment_search *search)
{
    sl_vec_release(&search->bad);
    sl_arena_release(&search->names);
}

bool sl_segment_search_fell_back(const struct sl_segment_search *search)
{
    return search->bad.len > 0;
}

/* ---- choosing ---- */

static silt_status choose(const struct sl_segment_search *search, const struct sl_vec *files, bool complete,
                          struct sl_arena *arena, struct sl_log_segment *out, silt_error *err)
{
    const struct sl_segment_request request = {.files = files->data,
                                               .n_files = files->len,
                                               .complete = complete,
                                               .version = search->version,
                                               .bad = {search->bad.data, search->bad.len},
                                               .commits_only = search->commits_only};
    return sl_segment_choose(&request, arena, out, err);
}

/* A version may have checkpoints of several kinds, and the hint is about one of them. */
static bool is_described(const struct sl_hint *hint, const struct sl_log_segment *segment)
{
    const struct sl_log_file *first = segment->checkpoint;
    if (segment->n_checkpoint == 0 || segment->checkpoint_version != hint->version) {
        return false;
    }
    if (hint->v2_path.ptr != NULL) {
        return sl_str_eq(first->name, hint->v2_path);
    }
    return hint->parts > 0 ? first->kind == SL_LOG_CHECKPOINT_PART && (uint64_t)hint->parts == segment->n_checkpoint
                           : first->kind == SL_LOG_CHECKPOINT;
}

/* What is found from the hint on must hold together by the checkpoint that it describes, or the hint is worth nothing. */
static silt_status choose_from(struct sl_segment_search *search, const struct sl_hint *hint, struct sl_arena *arena,
                               struct sl_log_segment *out, bool *chosen, silt_error *err)
{
    struct sl_vec files;
    sl_vec_init(&files, search->env, sizeof(struct sl_log_file));
    bool exists = false;
    silt_status status = sl_table_list_log(search->table, search->call, hint->version, arena, &files, &exists, err);
    if (status == SILT_OK && exists) {
        silt_error found = SILT_ERROR_INIT;
        silt_status judged = sl_hint_check(hint, files.data, files.len, &found);
        if (judged == SILT_OK) {
            judged = choose(search, &files, false, arena, out, &found);
        }
        *chosen = judged == SILT_OK && out->n_checkpoint > 0;
        out->said = (struct sl_hint_numbers){.known = *chosen && is_described(hint, out),
                                             .n_adds = hint->n_adds,
                                             .n_actions = hint->size,
                                             .n_bytes = hint->size_in_bytes};
        if (judged == SILT_ENOMEM) {
            status = sl_fail_nomem(err);
        } else if (!*chosen && judged != SILT_ENOTFOUND) {
            /* A version beyond the newest is nowhere, which is no fault of the hint. */
            sl_log(search->env, SILT_LOG_WARN,
                   "%s: _last_checkpoint names version %" PRId64 " and is ignored, the whole log is listed instead%s%s",
                   silt_table_uri(search->table), hint->version, judged != SILT_OK ? ": " : "", found.message);
        }
    }
    sl_vec_release(&files);
    return status;
}

static silt_status choose_by_hint(struct sl_segment_search *search, struct sl_arena *arena, struct sl_log_segment *out,
                                  bool *chosen, silt_error *err)
{
    *chosen = false;
    struct sl_hint hint;
    SL_TRY(sl_hint_read(search->env, sl_table_storage(search->table), search->call, sl_table_root(search->table), arena,
                        &hint, err));
    /* One of a later version than is wanted, or than the catalog has, says nothing. */
    if (hint.version <= 0 || hint.version > search->version || hint.version > sl_table_newest_allowed(search->table)) {
        return SILT_OK;
    }
    return choose_from(search, &hint, arena, out, chosen, err);
}

static silt_status choose_by_listing(struct sl_segment_search *search, struct sl_arena *arena,
                                     struct sl_log_segment *out, silt_error *err)
{
    struct sl_vec files;
    sl_vec_init(&files, search->env, sizeof(struct sl_log_file));
    bool exists = false;
    silt_status status = sl_table_list_log(search->table, search->call, 0, arena, &files, &exists, err);
    if (status == SILT_OK) {
        status = exists ? choose(search, &files, true, arena, out, err) : SILT_ENOTTABLE;
    }
    sl_vec_release(&files);
    return status == SILT_ENOTTABLE ? sl_table_absent(search->table, search->call, err) : status;
}

silt_status sl_segment_search_next(struct sl_segment_search *search, struct sl_arena *arena, struct sl_log_segment *out,
                                   silt_error *err)
{
    *out = (struct sl_log_segment){.version = -1, .checkpoint_version = -1};
    search->n_attempts++;
    bool chosen = false;
    if (!search->ignore_hint) {
        SL_TRY(choose_by_hint(search, arena, out, &chosen, err));
    }
    if (chosen) {
        return SILT_OK;
    }
    const silt_status status = choose_by_listing(search, arena, out, err);
    if (status == SILT_ECORRUPT && search->first.status != SILT_OK) {
        if (err != NULL) {
            *err = search->first;
        }
        return search->first.status;
    }
    return status;
}

/* ---- after a failure ---- */

silt_status sl_segment_search_exclude(struct sl_segment_search *search, const struct sl_log_segment *segment,
                                      const silt_error *reason, silt_error *err)
{
    if (segment->n_checkpoint == 0) {
        return SILT_OK;
    }
    const struct sl_str name = sl_arena_copy(&search->names, segment->checkpoint[0].name);
    struct sl_str *slot = name.ptr != NULL ? sl_vec_push(&search->bad) : NULL;
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = name;
    search->ignore_hint = true;
    search->commits_only = true;
    if (reason != NULL) {
        if (search->first.status == SILT_OK) {
            search->first = *reason;
        }
        sl_log(search->env, SILT_LOG_WARN, "%s: another way to version %" PRId64 " is tried: %s",
               silt_table_uri(search->table), segment->version, reason->message);
    }
    return SILT_OK;
}

silt_status sl_segment_search_failed(struct sl_segment_search *search, const struct sl_log_segment *segment,
                                     enum sl_segment_fault fault, const silt_error *reason, bool *again,
                                     silt_error *err)
{
    *again = true;
    switch (fault) {
    case SL_FAULT_CHECKPOINT: return sl_segment_search_exclude(search, segment, reason, err);
    case SL_FAULT_COMPACTED:
        search->commits_only = true;
        sl_log(search->env, SILT_LOG_WARN, "%s: compacted files of the log are ignored for version %" PRId64 ": %s",
               silt_table_uri(search->table), segment->version, reason->message);
        return SILT_OK;
    case SL_FAULT_NO_HISTORY:
        *again = false;
        if (err != NULL) {
            *err = search->first;
        }
        return search->first.status;
    case SL_FAULT_OTHER: break;
    }
    *again = reason->status == SILT_ENOTFOUND && segment->version >= 0 && search->n_attempts < MAX_ATTEMPTS;
    return SILT_OK;
}
