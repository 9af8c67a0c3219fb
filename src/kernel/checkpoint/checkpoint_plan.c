/*
 * Plans of checkpoints; see checkpoint_plan.h.
 */
#include "kernel/checkpoint/checkpoint_plan.h"

#include <stdio.h>

#include "base/error.h"
#include "kernel/feature/feature.h"

#define V2_HINT                                                                                                                  \
    "a table gets it by the property delta.checkpointPolicy = 'v2', when it is created or by ALTER TABLE … SET TBLPROPERTIES " \
    "of an engine that has that"

/* A million files take 350 MB of memory at most, with what else a checkpoint needs. */
#define HELD_BYTES ((int64_t)80 * 1024 * 1024)

/* ---- what kind ---- */

static silt_status check_features(const struct sl_protocol *protocol, silt_error *err)
{
    for (size_t i = 0; i < protocol->writer_features.n; i++) {
        const struct sl_str name = protocol->writer_features.items[i];
        if (sl_feature_find(name) == NULL) {
            return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
                           "a checkpoint cannot be written: the table has the feature %.*s, which may ask something of "
                           "checkpoints that silt does not know",
                           SL_FMT(name));
        }
    }
    return SILT_OK;
}

static silt_status choose_spec(const struct sl_checkpoint_plan_input *input, bool *is_v2, silt_error *err)
{
    const bool allowed = sl_protocol_has_feature(input->protocol, "v2Checkpoint");
    const struct sl_str policy = sl_property_text(&input->metadata->configuration, "delta.checkpointPolicy");
    *is_v2 = input->options->kind == SL_CHECKPOINT_V2;
    if (*is_v2 && !allowed) {
        const silt_status status = sl_fail(
            err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
            "a checkpoint of the V2 spec needs the table feature v2Checkpoint, which the table does not have");
        sl_error_hint(err, V2_HINT);
        return status;
    }
    if (input->options->kind == SL_CHECKPOINT_BY_TABLE) {
        *is_v2 = allowed && input->options->rows_per_part == 0 && policy.ptr != NULL &&
                 sl_str_eq_nocase(policy, SL_STR("v2"));
    }
    if (input->options->rows_per_part > 0 && (allowed || *is_v2)) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
                       "a table with the feature v2Checkpoint must not have a checkpoint in parts");
    }
    return SILT_OK;
}

silt_status sl_checkpoint_plan(const struct sl_checkpoint_plan_input *input, struct sl_checkpoint_plan *out,
                               silt_error *err)
{
    const struct sl_checkpoint_options *options = input->options;
    const struct sl_kv_list *config = &input->metadata->configuration;
    *out = (struct sl_checkpoint_plan){.txns_after_ms = INT64_MIN};
    if (options->rows_per_part < 0 || options->files_per_sidecar < 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "parts and sidecars cannot hold fewer than 0 actions");
    }
    SL_TRY(check_features(input->protocol, err));
    SL_TRY(choose_spec(input, &out->is_v2, err));
    if (!out->is_v2 && (options->json_top || options->no_sidecars || options->files_per_sidecar > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "only a checkpoint of the V2 spec has a top file and sidecars");
    }
    if (options->no_sidecars && !options->json_top) {
        return sl_fail(err, SILT_EINVALID, NULL, "only a top file in JSON is written without sidecars");
    }
    if (!out->is_v2 && !input->can_write_parquet) {
        return sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE",
                       "a checkpoint cannot be written: the engine has nothing that writes a parquet file of a given "
                       "name");
    }
    out->json_top = out->is_v2 && (options->json_top || !input->can_write_parquet);
    out->in_parts = options->rows_per_part > 0;
    out->rows_per_part = options->rows_per_part;
    out->held_bytes = options->held_bytes > 0 ? options->held_bytes : HELD_BYTES;
    out->files_per_sidecar = options->no_sidecars || !input->can_write_parquet ? 0
                             : options->files_per_sidecar > 0                  ? options->files_per_sidecar
                                                                               : INT64_MAX;
    out->stats_json = sl_property_bool(config, "delta.checkpoint.writeStatsAsJson");
    out->stats_struct = sl_property_bool(config, "delta.checkpoint.writeStatsAsStruct");
    out->tombstones_after_ms = input->now_ms - sl_property_interval_ms(config, "delta.deletedFileRetentionDuration");
    if (sl_property_text(config, "delta.setTransactionRetentionDuration").ptr != NULL) {
        out->txns_after_ms = input->now_ms - sl_property_interval_ms(config, "delta.setTransactionRetentionDuration");
    }
    return SILT_OK;
}

bool sl_checkpoint_keeps_txn(const struct sl_checkpoint_plan *plan, const struct sl_app_txn *txn)
{
    return plan->txns_after_ms == INT64_MIN ||
           (txn->last_updated != SL_NO_I64 && txn->last_updated > plan->txns_after_ms);
}

/* ---- parts: Murmur3 (x86, 32 bits) as Spark hashes text, whose rest of less than four bytes is mixed byte by byte ---- */

#define SEED UINT32_C(42)

static uint32_t rotate(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

static uint32_t mix(uint32_t hash, uint32_t block)
{
    block *= UINT32_C(0xCC9E2D51);
    block = rotate(block, 15);
    block *= UINT32_C(0x1B873593);
    hash ^= block;
    hash = rotate(hash, 13);
    return hash * 5 + UINT32_C(0xE6546B64);
}

/* Of several texts as if they were one. */
static uint32_t hash_texts(const struct sl_str *texts, size_t n, uint32_t seed)
{
    uint32_t hash = seed;
    uint32_t block = 0;
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t at = 0; at < texts[i].len; at++, len++) {
            block |= (uint32_t)(unsigned char)texts[i].ptr[at] << (8 * (len % 4));
            if (len % 4 == 3) {
                hash = mix(hash, block);
                block = 0;
            }
        }
    }
    for (size_t at = 0; at < len % 4; at++) {
        const uint32_t byte = block >> (8 * at) & 0xFFU;
        hash = mix(hash, byte < 0x80U ? byte : byte | UINT32_C(0xFFFFFF00)); /* bytes are signed in Java */
    }
    hash ^= (uint32_t)len;
    hash ^= hash >> 16;
    hash *= UINT32_C(0x85EBCA6B);
    hash ^= hash >> 13;
    hash *= UINT32_C(0xC2B2AE35);
    return hash ^ hash >> 16;
}

/* PROTOCOL: Deletion Vector Descriptor Schema: uniqueId. */
static uint32_t hash_vector(const struct sl_dv_descriptor *vector, uint32_t seed)
{
    char offset[24];
    const int len = snprintf(offset, sizeof(offset), "@%lld", (long long)vector->offset);
    const struct sl_str texts[] = {vector->storage_type, vector->path_or_inline_dv,
                                   sl_str_make(offset, len > 0 ? (size_t)len : 0)};
    return hash_texts(texts, vector->offset != SL_NO_I64 ? 3 : 2, seed);
}

int32_t sl_checkpoint_part_of(struct sl_str path, const struct sl_dv_descriptor *vector, bool with_vectors, int32_t n)
{
    uint32_t hash = path.ptr != NULL ? hash_texts(&path, 1, SEED) : SEED;
    if (with_vectors && vector != NULL) {
        hash = hash_vector(vector, hash);
    }
    const int32_t part = (int32_t)hash % n; /* Spark's pmod */
    return part < 0 ? part + n : part;
}
