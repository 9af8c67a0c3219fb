/*
 * Version checksums after commits; see after_crc.h. What is read is the checksum of the version before, rarely a few more:
 * another writer's may not be there yet when ours is wanted. One thread a call.
 */
#include "kernel/txn/after_crc.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/snapshot/crc_derive.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

/* How many versions before the commit's a checksum is looked for. */
#define MAX_BACK 16

struct chain {
    const struct sl_after_crc *after;
    struct sl_log_source source;
    const silt_env *env;
    const silt_call *call;
    silt_table *keeper; /* the table object that the next commit of this caller will know as well */
};

static silt_table *keeper_of(silt_table *table, const silt_snapshot *base)
{
    return base != NULL ? sl_snapshot_table(base) : table;
}

static struct chain chain_of(const struct sl_after_crc *after, silt_table *table, const silt_snapshot *base,
                             const silt_call *call)
{
    silt_engine *engine = silt_table_engine(table);
    return (struct chain){
        .after = after,
        .source = {.engine = engine, .storage = sl_table_storage(table), .root = sl_table_root(table)},
        .env = silt_engine_env(engine),
        .call = call,
        .keeper = keeper_of(table, base)};
}

/*
 * Somebody may have taken the version's commit away and put another in its place, outside the protocol, as from a backup: then a checksum of
 * the one that went tells of another table. Who has not read the commit cannot tell.
 */
static enum sl_flag is_of_base(const struct chain *chain, const struct sl_crc *crc)
{
    const struct sl_committed *committed = chain->after->committed;
    const silt_snapshot *base = committed != NULL ? committed->base : NULL;
    if (base == NULL || silt_snapshot_version(base) != crc->version || crc->txn_id.ptr == NULL) {
        return SL_FLAG_ABSENT;
    }
    const struct sl_str txn_id = sl_snapshot_txn_id(base);
    return txn_id.ptr == NULL ? SL_FLAG_ABSENT : sl_str_eq(txn_id, crc->txn_id) ? SL_FLAG_TRUE : SL_FLAG_FALSE;
}

/* *found false: there is none, or it is not to be used. */
static silt_status read_crc(const struct chain *chain, int64_t version, struct sl_crc *out, bool *found,
                            silt_error *err)
{
    struct sl_arena *arena = chain->after->arena;
    const char *name = sl_crc_name(arena, version);
    if (name == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_log_file file = {.kind = SL_LOG_CRC, .version = version, .name = sl_str_from(name)};
    const silt_status status = sl_crc_read(&chain->source, chain->call, &file, true, arena, out, err);
    *found = status == SILT_OK && is_of_base(chain, out) != SL_FLAG_FALSE;
    if (status == SILT_ENOTFOUND || status == SILT_ECORRUPT || status == SILT_ELIMIT) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

/*
 * The checksum of the version before, if it was put last here and the transaction rests on the same commit: another one may stand in its place,
 * with a checksum of its own, and nobody looks into the log for that. It may borrow from what was kept of it. */
static silt_status find_kept(const struct chain *chain, struct sl_kept_crc *kept, struct sl_crc *out, bool *found,
                             silt_error *err)
{
    if (kept == NULL) {
        return SILT_OK;
    }
    if (kept->is_parsed) {
        *out = kept->crc;
        *found = is_of_base(chain, out) == SL_FLAG_TRUE;
        return SILT_OK;
    }
    const silt_status status = sl_crc_parse(chain->env, chain->after->arena, kept->crc.version,
                                            sl_buf_view(&kept->text), true, out, err);
    *found = status == SILT_OK && is_of_base(chain, out) == SL_FLAG_TRUE;
    return status;
}

/* The nearest checksum before the commit, not older than what the transaction read. */
static silt_status find_before(const struct chain *chain, struct sl_kept_crc *kept, struct sl_crc *out, bool *found,
                               silt_error *err)
{
    const struct sl_committed *committed = chain->after->committed;
    const int64_t oldest = committed->base != NULL ? silt_snapshot_version(committed->base) : INT64_MAX;
    *found = false;
    if (committed->version - 1 >= oldest) {
        SL_TRY(find_kept(chain, kept, out, found, err));
    }
    for (int64_t back = 1; back <= MAX_BACK && committed->version - back >= oldest && !*found; back++) {
        SL_TRY(read_crc(chain, committed->version - back, out, found, err));
    }
    return SILT_OK;
}

static silt_status step(const struct chain *chain, const struct sl_commit *commit, struct sl_crc *crc, bool *made,
                        silt_error *err)
{
    const struct sl_crc before = *crc;
    const struct sl_crc_step request = {.env = chain->env,
                                        .arena = chain->after->arena,
                                        .root = chain->source.root,
                                        .before = commit->version > 0 ? &before : NULL,
                                        .commit = commit};
    const char *why_not = NULL;
    SL_TRY(sl_crc_derive(&request, crc, &why_not, err));
    *made = why_not == NULL;
    return SILT_OK;
}

/* Totals that lie would be carried from checksum to checksum: what counted the files at hand shows it. */
static bool contradicts(const struct chain *chain, const struct sl_crc *crc, int64_t n_files, int64_t bytes)
{
    if (crc->n_files == n_files && crc->table_size == bytes) {
        return false;
    }
    sl_log(chain->env, SILT_LOG_WARN,
           "the version checksum of version %" PRId64 " in %.*s is not carried on: it counts %" PRId64
           " files of %" PRId64 " bytes where there are %" PRId64 " of %" PRId64,
           crc->version, SL_FMT(chain->source.root), crc->n_files, crc->table_size, n_files, bytes);
    return true;
}

/* A checksum of the version that the transaction read, against its files as far as they are in memory; one that lies is made anew of them. */
static silt_status check_before(const struct chain *chain, struct sl_crc *crc, bool *usable, bool *borrows,
                                silt_error *err)
{
    silt_snapshot *base = chain->after->committed->base;
    int64_t n_files = 0;
    int64_t bytes = 0;
    const char *why_not = NULL;
    if (!*usable || base == NULL || crc->version != silt_snapshot_version(base) ||
        !sl_snapshot_known_totals(base, &n_files, &bytes) || !contradicts(chain, crc, n_files, bytes)) {
        return SILT_OK;
    }
    SL_TRY(sl_crc_of_snapshot(base, chain->call, chain->after->arena, crc, &why_not, err));
    *usable = why_not == NULL;
    *borrows = true;
    return SILT_OK;
}

/* *borrows: from the snapshot. */
static silt_status derive(const struct chain *chain, struct sl_kept_crc *kept, struct sl_crc *out, bool *made,
                          bool *borrows, silt_error *err)
{
    const struct sl_committed *committed = chain->after->committed;
    *made = committed->version == 0;
    if (committed->version > 0) {
        SL_TRY(find_before(chain, kept, out, made, err));
        SL_TRY(check_before(chain, out, made, borrows, err));
    }
    for (int64_t version = out->version + 1; *made && version < committed->version && version > 0; version++) {
        struct sl_commit *winner = sl_arena_alloc_zero(chain->after->arena, sizeof(*winner));
        if (winner == NULL) {
            return sl_fail_nomem(err);
        }
        SL_TRY(sl_commit_read(chain->source.engine, chain->source.storage, chain->call, chain->source.root, version,
                              chain->after->arena, winner, err));
        SL_TRY(step(chain, winner, out, made, err));
    }
    return *made ? step(chain, chain->after->commit, out, made, err) : SILT_OK;
}

/*
 * Is the checksum in the log of another commit than the version's, as one is that stayed behind when somebody took the commit away? Without
 * the id of a transaction nobody can tell.
 */
static silt_status is_stale(const struct chain *chain, int64_t version, struct sl_str txn_id, bool *stale,
                            silt_error *err)
{
    struct sl_crc there;
    bool found = false;
    *stale = false;
    SL_TRY(read_crc(chain, version, &there, &found, err));
    *stale = found && txn_id.ptr != NULL && there.txn_id.ptr != NULL && !sl_str_eq(there.txn_id, txn_id);
    return SILT_OK;
}

/*
 * replaces: what is there was proven wrong. Otherwise one that is there already is another writer's, and as good, if it is of the same commit. Delta Spark leaves it either way, and its totals
 * are then wrong until it reads all files.
 */
static silt_status put(const struct chain *chain, const struct sl_crc *crc, bool replaces, struct sl_kept_crc **kept,
                       silt_error *err)
{
    struct sl_arena *arena = chain->after->arena;
    const char *name = sl_crc_name(arena, crc->version);
    const struct sl_str path = name != NULL ? sl_log_path(arena, chain->source.root, sl_str_from(name))
                                            : (struct sl_str){NULL, 0};
    struct sl_kept_crc *made = sl_kept_crc_new(chain->env, crc->version);
    if (path.ptr == NULL || made == NULL) {
        sl_kept_crc_free(made);
        return sl_fail_nomem(err);
    }
    struct sl_buf *bytes = &made->text;
    struct sl_str listed = {NULL, 0};
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_status status = sl_crc_write(bytes, crc, &listed, err);
    if (status == SILT_OK) {
        status = silt_storage_put_hint(chain->source.storage, chain->call, path.ptr, bytes->data, bytes->len, &outcome,
                                       err);
    }
    bool stale = replaces;
    if (status == SILT_OK && outcome == SILT_PUT_EXISTS && !replaces) {
        status = is_stale(chain, crc->version, crc->txn_id, &stale, err);
    }
    if (status == SILT_OK && outcome == SILT_PUT_EXISTS && stale) {
        status = silt_storage_put(chain->source.storage, chain->call, path.ptr, bytes->data, bytes->len, err);
    }
    if (status == SILT_OK && outcome == SILT_PUT_DONE) {
        made->crc = *crc;
        made->crc.listed = listed;
        made->crc.n_listed = listed.ptr != NULL ? crc->n_all_files : 0;
        *kept = made;
    } else {
        sl_kept_crc_free(made);
    }
    return status;
}

/* The commit of the version; NULL when it has expired. */
static silt_status read_commit(const struct chain *chain, int64_t version, struct sl_commit **out, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    struct sl_commit *commit = sl_arena_alloc_zero(chain->after->arena, sizeof(*commit));
    *out = NULL;
    if (commit == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_status status = sl_commit_read(chain->source.engine, chain->source.storage, chain->call,
                                              chain->source.root, version, chain->after->arena, commit, &found);
    if (status == SILT_ENOTFOUND) {
        return SILT_OK;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    *out = status == SILT_OK ? commit : NULL;
    return status;
}

silt_status sl_after_crc_write(const struct sl_after_crc *after, const silt_call *call, struct sl_crc *out, bool *made,
                               struct sl_kept_crc **kept, silt_error *err)
{
    const struct sl_committed *committed = after->committed;
    const struct chain chain = chain_of(after, committed->table, committed->base, call);
    struct sl_kept_crc *before = sl_table_take_crc(chain.keeper, committed->version - 1);
    bool borrows = false;
    *out = (struct sl_crc){.version = -1};
    *kept = NULL;
    silt_status status = derive(&chain, before, out, made, &borrows, err);
    if (status == SILT_OK && *made) {
        status = put(&chain, out, false, kept, err);
    }
    if (*kept != NULL) {
        (*kept)->is_parsed = after->owns_commit && !borrows;
    }
    out->listed = (struct sl_str){NULL, 0};
    out->n_listed = 0;
    if (before != NULL) {
        sl_arena_merge(after->arena, &before->arena); /* only now: blocks are taken by what an arena has already */
        sl_kept_crc_free(before);
    }
    return status;
}

void sl_after_crc_keep(const struct sl_committed *committed, struct sl_kept_crc *kept, struct sl_arena *arena)
{
    if (kept->is_parsed) {
        sl_arena_merge(&kept->arena, arena);
    } else {
        sl_arena_release(arena);
        kept->crc = (struct sl_crc){.version = kept->crc.version};
    }
    sl_table_keep_crc(keeper_of(committed->table, committed->base), kept);
}

silt_status sl_after_crc_restart(silt_table *table, silt_snapshot *snapshot, const silt_call *call,
                                 const struct sl_checkpoint_result *counted, silt_error *err)
{
    struct sl_arena arena;
    const struct sl_after_crc after = {.arena = &arena};
    const struct chain chain = chain_of(&after, table, snapshot, call);
    sl_arena_init(&arena, chain.env);
    struct sl_crc crc;
    struct sl_kept_crc *kept = NULL;
    const char *why_not = NULL;
    bool found = false;
    bool lies = false;
    const int64_t version = silt_snapshot_version(snapshot);
    silt_status status = read_crc(&chain, version, &crc, &found, err);
    if (status == SILT_OK && found && crc.txn_id.ptr != NULL) {
        struct sl_commit *commit = NULL;
        status = read_commit(&chain, version, &commit, err);
        found = commit == NULL || commit->commit_info == NULL || commit->commit_info->txn_id.ptr == NULL ||
                sl_str_eq(commit->commit_info->txn_id, crc.txn_id);
    }
    if (status == SILT_OK && found && counted != NULL && counted->n_adds >= 0 && counted->adds_bytes >= 0) {
        lies = contradicts(&chain, &crc, counted->n_adds, counted->adds_bytes);
    }
    if (status == SILT_OK && (!found || lies)) {
        sl_kept_crc_free(sl_table_take_crc(chain.keeper, version));
        status = sl_crc_of_snapshot(snapshot, call, &arena, &crc, &why_not, err);
        if (status == SILT_OK && why_not == NULL) {
            status = put(&chain, &crc, lies, &kept, err);
        }
    }
    if (kept != NULL) { /* it borrows from the snapshot: its text is what stays */
        kept->crc = (struct sl_crc){.version = version};
        sl_table_keep_crc(chain.keeper, kept);
    }
    sl_arena_release(&arena);
    return status;
}
