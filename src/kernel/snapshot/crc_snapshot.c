/*
 * The version checksum of a snapshot, counted from its files; see crc_derive.h. Made where the whole state is read anyway. Any
 * thread.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/crc_derive.h"
#include "kernel/snapshot/snapshot_int.h"

struct counter {
    struct sl_arena *arena;
    struct sl_crc *out;
    bool overflow;
    struct sl_add *list; /* room for SL_CRC_MAX_FILES */
};

static silt_status count_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct counter *c = ctx;
    struct sl_crc *out = c->out;
    const int64_t deleted = add->deletion_vector != NULL ? add->deletion_vector->cardinality : 0;
    (void)err;
    out->n_files++;
    out->n_deletion_vectors += add->deletion_vector != NULL ? 1 : 0;
    out->deleted_bins[sl_deleted_bin(deleted)]++;
    c->overflow = !sl_add_i64(out->table_size, add->size, &out->table_size) ||
                  !sl_add_i64(out->n_deleted_records, deleted, &out->n_deleted_records) ||
                  !sl_size_histogram_change(&out->sizes, add->size, 1);
    *stop = c->overflow;
    return SILT_OK;
}

static silt_status list_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct counter *c = ctx;
    (void)stop;
    if (c->out->n_all_files == SL_CRC_MAX_FILES) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the number of files changed while they were listed");
    }
    struct sl_add *slot = &c->list[c->out->n_all_files++];
    if (!sl_add_copy(c->arena, add, slot)) {
        return sl_fail_nomem(err);
    }
    slot->data_change = false;
    return SILT_OK;
}

static silt_status take_files(struct counter *c, silt_snapshot *snapshot, const silt_call *call, silt_error *err)
{
    struct sl_crc *out = c->out;
    if (!sl_size_histogram_new(c->arena, &out->sizes)) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_snapshot_each_file(snapshot, call, 0, count_file, c, err));
    out->has_sizes = true;
    if (!sl_protocol_has_feature(&out->protocol, "deletionVectors")) {
        out->n_deleted_records = SL_NO_I64;
        out->n_deletion_vectors = SL_NO_I64;
    } else {
        out->has_deleted_bins = true;
    }
    if (c->overflow || out->n_files > SL_CRC_MAX_FILES) {
        return SILT_OK;
    }
    c->list = sl_arena_alloc_array(c->arena, SL_CRC_MAX_FILES, sizeof(*c->list));
    if (c->list == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_snapshot_each_file(snapshot, call, SL_FILES_ALL, list_file, c, err));
    out->all_files = c->list;
    out->has_all_files = true;
    return SILT_OK;
}

/* ---- the rest of the state ---- */

static silt_status take_lists(const struct sl_replay_state *state, struct sl_arena *arena, struct sl_crc *out,
                              silt_error *err)
{
    const bool expire = sl_property_text(&state->metadata.configuration, "delta.setTransactionRetentionDuration").ptr !=
                        NULL;
    out->has_txns = !expire && state->app_txns.len <= SL_CRC_MAX_TXNS;
    if (out->has_txns) {
        out->txns = state->app_txns.data;
        out->n_txns = state->app_txns.len;
    }
    struct sl_domain_metadata *domains = sl_arena_alloc_array(arena, state->domains.len, sizeof(*domains));
    if (domains == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < state->domains.len; i++) {
        const struct sl_domain_metadata *domain = sl_vec_at(&state->domains, i);
        if (!domain->removed) {
            domains[out->n_domains++] = *domain;
        }
    }
    out->has_domains = out->n_domains <= SL_CRC_MAX_DOMAINS;
    out->domains = domains;
    return SILT_OK;
}

struct commit_facts {
    struct sl_arena *arena;
    struct sl_crc *out;
};

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct commit_facts *facts = ctx;
    const struct sl_commit_info *info = commit->commit_info;
    if (info == NULL) {
        return SILT_OK;
    }
    facts->out->in_commit_timestamp = info->in_commit_timestamp;
    if (info->txn_id.ptr != NULL) {
        facts->out->txn_id = sl_arena_copy(facts->arena, info->txn_id);
        return facts->out->txn_id.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    return SILT_OK;
}

static silt_status take_commit_facts(silt_snapshot *snapshot, const silt_call *call, struct sl_arena *arena,
                                     struct sl_crc *out, silt_error *err)
{
    const struct sl_log_segment *segment = &snapshot->segment;
    const struct sl_log_source source = sl_snapshot_source(snapshot);
    const struct sl_commits_request request = {
        .source = &source, .files = &segment->commit_file, .n = 1, .missing = SL_MISSING_IS_PAST, .info_only = true};
    struct commit_facts facts = {arena, out};
    return segment->has_commit_file ? sl_commits_each(&request, call, take_commit, &facts, err) : SILT_OK;
}

silt_status sl_crc_of_snapshot(silt_snapshot *snapshot, const silt_call *call, struct sl_arena *arena,
                               struct sl_crc *out, const char **why_not, silt_error *err)
{
    *why_not = NULL;
    const struct sl_replay_state *state = &snapshot->state;
    *out = (struct sl_crc){.version = snapshot->segment.version, .in_commit_timestamp = SL_NO_I64};
    if (!sl_protocol_copy(arena, &state->protocol, &out->protocol) ||
        !sl_metadata_copy(arena, &state->metadata, &out->metadata)) {
        return sl_fail_nomem(err);
    }
    SL_TRY(take_lists(state, arena, out, err));
    SL_TRY(take_commit_facts(snapshot, call, arena, out, err));
    const bool timed = sl_protocol_has_feature(&out->protocol, "inCommitTimestamp") &&
                       sl_property_bool(&out->metadata.configuration, "delta.enableInCommitTimestamps");
    if (!timed) {
        out->in_commit_timestamp = SL_NO_I64;
    } else if (out->in_commit_timestamp == SL_NO_I64) {
        *why_not = "its in-commit timestamp is not known";
        return SILT_OK;
    }
    struct counter counter = {.arena = arena, .out = out};
    SL_TRY(take_files(&counter, snapshot, call, err));
    *why_not = counter.overflow ? "the sizes of its files do not add up" : NULL;
    return SILT_OK;
}
