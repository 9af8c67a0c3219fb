/*
 * Parsing and reading of one commit (PROTOCOL.md "Delta Log Entries"). A commit is either taken whole or refused: a torn
 * line, or two actions that reconcile with each other, make the version's meaning unknowable ("Requirements for Writers:
 * Delta Log Entries"). Called by replay, history and transactions; from several threads with an arena each.
 */
#include "kernel/log/commit.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/storage_wrap.h"
#include "kernel/log/commit_piece.h"
#include "kernel/log/commit_twins.h"

/* Bytes that one thread parses at a time. */
#define PIECE_SIZE ((size_t)1024 * 1024)

silt_status sl_commit_seed(const silt_env *env, uint64_t *seed, silt_error *err)
{
    *seed = 0;
    const silt_status status = env->random_bytes(env->ctx, seed, sizeof(*seed));
    if (status != SILT_OK) {
        return sl_fail(err, status, NULL, "no random bytes can be had");
    }
    *seed = *seed != 0 ? *seed : 1;
    return SILT_OK;
}

/* ---- the whole commit ---- */

struct job {
    const struct sl_commit_bytes *input;
    struct sl_piece *pieces;
    size_t n_pieces; /* that are set up */
    size_t room;     /* for pieces, and for ends */
    size_t *ends;
    size_t n_lines;
    struct sl_commit_rules rules;
};

static size_t count_lines(struct sl_str bytes)
{
    size_t n = 0;
    const char *const end = bytes.ptr + bytes.len;
    for (const char *at = bytes.ptr; at < end; n++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline != NULL ? newline + 1 : end;
    }
    return n;
}

static silt_status cut(struct job *job, silt_error *err)
{
    const silt_env *env = job->input->env;
    const struct sl_str bytes = job->input->bytes;
    uint64_t seed = job->input->seed;
    job->room = bytes.len / PIECE_SIZE + 1;
    job->ends = sl_alloc_array(env, job->room, sizeof(*job->ends));
    job->pieces = sl_alloc_array(env, job->room, sizeof(*job->pieces));
    if (job->ends == NULL || job->pieces == NULL) {
        return sl_fail_nomem(err);
    }
    if (seed == 0) {
        SL_TRY(sl_commit_seed(env, &seed, err));
    }
    const size_t n = sl_pieces_cut(bytes, PIECE_SIZE, job->room, job->ends);
    for (size_t i = 0; i < n; i++) {
        struct sl_piece *piece = &job->pieces[job->n_pieces++];
        sl_piece_init(piece, env, seed);
        piece->offset = i > 0 ? job->ends[i - 1] : 0;
        piece->bytes = sl_str_sub(bytes, (size_t)piece->offset, job->ends[i]);
        piece->actions_are_lent = true;
        piece->first_line = job->n_lines;
        piece->cap = count_lines(piece->bytes);
        job->n_lines += piece->cap;
        if (!sl_vec_reserve(&piece->marks, piece->cap)) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

static void read_piece(void *arg, size_t index)
{
    struct job *job = arg;
    sl_piece_read(&job->pieces[index]);
}

/* The lines are still in memory, all of them. */
static silt_status lend_lines(void *ctx, uint64_t place, unsigned slot, struct sl_twin_lines *out, silt_error *err)
{
    (void)place;
    (void)slot;
    (void)err;
    const struct job *job = ctx;
    *out = (struct sl_twin_lines){.bytes = job->input->bytes};
    return SILT_OK;
}

/* Blank lines left gaps between the actions of the pieces: closes them, and looks at the whole. */
static silt_status gather(struct job *job, struct sl_commit *out, size_t *line, silt_error *err)
{
    struct sl_action *actions = job->pieces[0].actions;
    size_t n = 0;
    for (size_t i = 0; i < job->n_pieces; i++) {
        struct sl_piece *piece = &job->pieces[i];
        *line = piece->first_line + piece->n_lines;
        if (piece->status != SILT_OK) {
            if (err != NULL) {
                *err = piece->err;
            }
            return piece->status;
        }
        SL_TRY(sl_piece_check(piece, &job->rules, line, err));
        if (piece->actions != actions + n) {
            memmove(actions + n, piece->actions, piece->n * sizeof(*actions));
        }
        if (piece->first_info != SIZE_MAX && out->commit_info == NULL) {
            out->commit_info = &actions[n + piece->first_info].u.commit_info;
        }
        n += piece->n;
    }
    const struct sl_twin_source source = {.load = lend_lines, .ctx = job};
    SL_TRY(sl_commit_twins_refuse(&job->rules, &source, line, err));
    out->actions = actions;
    out->n_actions = n;
    return SILT_OK;
}

static silt_status parse(struct job *job, struct sl_arena *arena, struct sl_commit *out, silt_error *err)
{
    SL_TRY(cut(job, err));
    if (job->n_lines > SIZE_MAX / sizeof(struct sl_action)) {
        return sl_fail_nomem(err);
    }
    struct sl_action *actions = sl_arena_alloc(arena, job->n_lines * sizeof(*actions));
    if (actions == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < job->n_pieces; i++) {
        job->pieces[i].actions = actions + job->pieces[i].first_line;
    }
    sl_parallel_for(job->input->executor, job->n_pieces, read_piece, job);
    size_t line = 0;
    const silt_status status = gather(job, out, &line, err);
    if (status != SILT_OK) {
        *out = (struct sl_commit){.version = out->version};
        sl_error_context(err, "commit %" PRId64 ", line %zu", out->version, line);
        sl_error_version(err, out->version);
    }
    for (size_t i = 0; i < job->n_pieces; i++) {
        sl_arena_merge(arena, &job->pieces[i].arena);
    }
    return status;
}

silt_status sl_commit_parse_in_place(const struct sl_commit_bytes *input, struct sl_arena *arena, struct sl_commit *out,
                                     silt_error *err)
{
    *out = (struct sl_commit){.version = input->version};
    if (input->bytes.len == 0) {
        return SILT_OK;
    }
    struct job job = {.input = input};
    sl_commit_rules_init(&job.rules, input->env);
    const silt_status status = parse(&job, arena, out, err);
    for (size_t i = 0; i < job.n_pieces; i++) {
        sl_piece_release(&job.pieces[i]);
    }
    sl_release(input->env, job.pieces, job.room * sizeof(*job.pieces));
    sl_release(input->env, job.ends, job.room * sizeof(*job.ends));
    sl_commit_rules_release(&job.rules);
    return status;
}

silt_status sl_commit_parse(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                            struct sl_commit *out, silt_error *err)
{
    struct sl_commit_bytes input = {.env = env, .version = version, .bytes = bytes};
    *out = (struct sl_commit){.version = version};
    if (bytes.len > 0) {
        input.bytes = sl_arena_copy(arena, bytes);
        if (input.bytes.ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return sl_commit_parse_in_place(&input, arena, out, err);
}

/* ---- parts of it ---- */

/* The next place where the name of a commitInfo stands, SIZE_MAX if none: its one rare letter is looked for. */
static size_t find_info(struct sl_str bytes, size_t from)
{
    const struct sl_str before = SL_STR("\"commit");
    const struct sl_str after = SL_STR("nfo\"");
    while (from < bytes.len) {
        const char *hit = memchr(bytes.ptr + from, 'I', bytes.len - from);
        if (hit == NULL) {
            break;
        }
        const size_t at = (size_t)(hit - bytes.ptr);
        if (at >= before.len && sl_str_eq(sl_str_sub(bytes, at - before.len, at), before) &&
            sl_str_eq(sl_str_sub(bytes, at + 1, at + 1 + after.len), after)) {
            return at;
        }
        from = at + 1;
    }
    return SIZE_MAX;
}

/* The line around a place. */
static struct sl_str line_around(struct sl_str bytes, size_t at, size_t *end)
{
    size_t begin = at;
    while (begin > 0 && bytes.ptr[begin - 1] != '\n') {
        begin--;
    }
    const char *newline = memchr(bytes.ptr + at, '\n', bytes.len - at);
    *end = newline != NULL ? (size_t)(newline - bytes.ptr) : bytes.len;
    return sl_str_trim(sl_str_sub(bytes, begin, *end));
}

silt_status sl_commit_parse_info(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                                 struct sl_commit *out, silt_error *err)
{
    *out = (struct sl_commit){.version = version};
    struct sl_action *action = sl_arena_alloc_zero(arena, sizeof(*action));
    if (action == NULL) {
        return sl_fail_nomem(err);
    }
    size_t end = 0;
    for (size_t at = find_info(bytes, 0); at != SIZE_MAX; at = find_info(bytes, end)) {
        const silt_status status = sl_action_parse(env, arena, line_around(bytes, at, &end), action, NULL);
        if (status == SILT_ENOMEM) {
            return sl_fail_nomem(err);
        }
        if (status == SILT_OK && action->kind == SL_ACTION_COMMIT_INFO) {
            out->actions = action;
            out->n_actions = 1;
            out->commit_info = &action->u.commit_info;
            return SILT_OK;
        }
    }
    return SILT_OK;
}

silt_status sl_commit_read(silt_engine *engine, silt_storage *storage, const silt_call *call, struct sl_str root,
                           int64_t version, struct sl_arena *arena, struct sl_commit *out, silt_error *err)
{
    *out = (struct sl_commit){.version = version};
    const struct sl_str path = sl_log_commit_path(arena, root, version);
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    void *data = NULL;
    size_t len = 0;
    SL_TRY(sl_storage_read_sized(storage, call, path.ptr, &data, &len, err));
    const silt_status status = sl_commit_parse(silt_engine_env(engine), arena, version, sl_str_make(data, len), out,
                                               err);
    silt_storage_free(storage, data, len);
    return status;
}

silt_status sl_commit_keep_txn_id(struct sl_arena *arena, const struct sl_commit *commit, struct sl_str *out,
                                  silt_error *err)
{
    if (commit->commit_info == NULL || commit->commit_info->txn_id.ptr == NULL) {
        return SILT_OK;
    }
    *out = sl_arena_copy(arena, commit->commit_info->txn_id);
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}
