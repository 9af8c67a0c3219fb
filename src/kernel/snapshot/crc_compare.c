/*
 * Comparison of table states; see crc_compare.h. Lists of features and maps are compared as sets: writers order them as they
 * like.
 */
#include "kernel/snapshot/crc_compare.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "json/json.h"
#include "kernel/log/json_checksum.h"

static bool differs(char what[SL_CRC_DIFFERENCE_SIZE], const char *name)
{
    (void)snprintf(what, SL_CRC_DIFFERENCE_SIZE, "%s", name);
    return false;
}

silt_status sl_crc_each_action(const struct sl_crc *crc, struct sl_replay *replay, silt_error *err)
{
    struct sl_action action = {.kind = SL_ACTION_PROTOCOL, .u.protocol = crc->protocol};
    SL_TRY(sl_replay_checkpoint_action(replay, &action, err));
    action = (struct sl_action){.kind = SL_ACTION_METADATA, .u.metadata = crc->metadata};
    SL_TRY(sl_replay_checkpoint_action(replay, &action, err));
    for (size_t i = 0; i < crc->n_txns; i++) {
        action = (struct sl_action){.kind = SL_ACTION_APP_TXN, .u.app_txn = crc->txns[i]};
        SL_TRY(sl_replay_checkpoint_action(replay, &action, err));
    }
    for (size_t i = 0; i < crc->n_domains; i++) {
        action = (struct sl_action){.kind = SL_ACTION_DOMAIN_METADATA, .u.domain = crc->domains[i]};
        SL_TRY(sl_replay_checkpoint_action(replay, &action, err));
    }
    return SILT_OK;
}

/* Both ways round would find what is twice in one only; counts and one way are enough for lists without doubles. */
static bool same_set(const struct sl_str_list *a, const struct sl_str_list *b)
{
    if (a->n != b->n) {
        return false;
    }
    for (size_t i = 0; i < a->n; i++) {
        bool found = false;
        for (size_t k = 0; k < b->n && !found; k++) {
            found = sl_str_eq(a->items[i], b->items[k]);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool same_list(const struct sl_str_list *a, const struct sl_str_list *b)
{
    if (a->n != b->n) {
        return false;
    }
    for (size_t i = 0; i < a->n; i++) {
        if (!sl_str_eq(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

static bool same_map(const struct sl_kv_list *a, const struct sl_kv_list *b)
{
    if (a->n != b->n) {
        return false;
    }
    for (size_t i = 0; i < a->n; i++) {
        bool found = false;
        const struct sl_str value = sl_kv_get(b, a->items[i].key, &found);
        if (!found || !sl_str_eq(value, a->items[i].value)) {
            return false;
        }
    }
    return true;
}

static bool same_protocol(const struct sl_protocol *a, const struct sl_protocol *b, char what[SL_CRC_DIFFERENCE_SIZE])
{
    if (a->min_reader_version != b->min_reader_version || a->min_writer_version != b->min_writer_version) {
        return differs(what, "the protocol's versions");
    }
    if (!same_set(&a->reader_features, &b->reader_features) || !same_set(&a->writer_features, &b->writer_features)) {
        return differs(what, "the protocol's features");
    }
    return true;
}

static bool canonical(const silt_env *env, struct sl_str json, struct sl_buf *out)
{
    struct sl_json_doc *doc = NULL;
    const bool ok = sl_json_parse(env, json, &doc, NULL) == SILT_OK &&
                    sl_json_canonical(env, sl_json_root(doc), SL_CHECKSUM_BY_PATH, out, NULL) == SILT_OK;
    sl_json_free(doc);
    return ok;
}

/* A writer may print the schema again for the checksum: then members come in another order. */
static bool same_json(const silt_env *env, struct sl_str a, struct sl_str b)
{
    if (sl_str_eq(a, b)) {
        return true;
    }
    struct sl_buf x;
    struct sl_buf y;
    sl_buf_init(&x, env);
    sl_buf_init(&y, env);
    const bool same = canonical(env, a, &x) && canonical(env, b, &y) && sl_str_eq(sl_buf_view(&x), sl_buf_view(&y));
    sl_buf_release(&x);
    sl_buf_release(&y);
    return same;
}

static bool same_metadata(const silt_env *env, const struct sl_metadata *a, const struct sl_metadata *b,
                          char what[SL_CRC_DIFFERENCE_SIZE])
{
    if (!sl_str_eq(a->id, b->id)) {
        return differs(what, "metaData.id");
    }
    if (!same_json(env, a->schema_string, b->schema_string)) {
        return differs(what, "metaData.schemaString");
    }
    if (!same_list(&a->partition_columns, &b->partition_columns)) {
        return differs(what, "metaData.partitionColumns");
    }
    if (!same_map(&a->configuration, &b->configuration)) {
        return differs(what, "metaData.configuration");
    }
    if (!sl_str_eq(a->format_provider, b->format_provider)) {
        return differs(what, "metaData.format");
    }
    return true;
}

/* PROTOCOL.md "Transaction Identifiers": those that have expired may be left out. */
static bool same_txns(const struct sl_replay_state *crc, const struct sl_replay_state *log)
{
    const struct sl_str retention = sl_kv_get(&log->metadata.configuration,
                                              SL_STR("delta.setTransactionRetentionDuration"), NULL);
    if (crc->app_txns.len > log->app_txns.len || (crc->app_txns.len < log->app_txns.len && retention.ptr == NULL)) {
        return false;
    }
    for (size_t i = 0; i < crc->app_txns.len; i++) {
        const struct sl_app_txn *txn = sl_vec_at(&crc->app_txns, i);
        const struct sl_map_entry *entry = sl_map_find(&log->app_index, txn->app_id);
        const struct sl_app_txn *other = entry != NULL ? sl_vec_at(&log->app_txns, (size_t)entry->value.u64) : NULL;
        if (other == NULL || other->version != txn->version) {
            return false;
        }
    }
    return true;
}

/* Every domain of `a` that is alive is so in `b`. */
static bool has_domains(const struct sl_replay_state *a, const struct sl_replay_state *b)
{
    for (size_t i = 0; i < a->domains.len; i++) {
        const struct sl_domain_metadata *domain = sl_vec_at(&a->domains, i);
        if (domain->removed) {
            continue; /* a tombstone says as much as nothing */
        }
        const struct sl_map_entry *entry = sl_map_find(&b->domain_index, domain->domain);
        const struct sl_domain_metadata *other = entry != NULL ? sl_vec_at(&b->domains, (size_t)entry->value.u64)
                                                               : NULL;
        if (other == NULL || other->removed || !sl_str_eq(other->configuration, domain->configuration)) {
            return false;
        }
    }
    return true;
}

bool sl_crc_same_state(const silt_env *env, const struct sl_replay_state *crc, const struct sl_replay_state *log,
                       char what[SL_CRC_DIFFERENCE_SIZE])
{
    if (crc->has_protocol != log->has_protocol || crc->has_metadata != log->has_metadata) {
        return differs(what, "what there is of protocol and metaData");
    }
    if (!same_protocol(&crc->protocol, &log->protocol, what) ||
        !same_metadata(env, &crc->metadata, &log->metadata, what)) {
        return false;
    }
    if (!same_txns(crc, log)) {
        return differs(what, "setTransactions");
    }
    if (!has_domains(crc, log) || !has_domains(log, crc)) {
        return differs(what, "domainMetadata");
    }
    return true;
}
