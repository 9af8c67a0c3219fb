/*
 * Metadata domains of the caller's in a transaction. Those of the protocol are written by what knows them. One owner.
 * PROTOCOL.md "Domain Metadata".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "base/utf8.h"
#include "kernel/feature/feature.h"

static silt_status check_domain(const silt_txn *txn, const char *domain, silt_error *err)
{
    if (domain == NULL || domain[0] == '\0' || !sl_utf8_valid(sl_str_from(domain))) {
        return sl_fail(err, SILT_EINVALID, NULL, "a metadata domain needs a name in UTF-8");
    }
    const struct sl_str name = sl_str_from(domain);
    if (name.len >= 6 && sl_str_eq_nocase(sl_str_sub(name, 0, 6), SL_STR("delta."))) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "metadata domain %s is the protocol's: names must not begin with delta.", domain);
    }
    if (!sl_protocol_has_feature(&txn->protocol, "domainMetadata")) {
        const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "DELTA_DOMAIN_METADATA_NOT_SUPPORTED",
                                           "metadata domain %s needs the table feature domainMetadata", domain);
        sl_error_hint(err, "set the table property delta.feature.domainMetadata to supported");
        return status;
    }
    for (size_t i = 0; i < txn->domains.len; i++) {
        if (sl_str_eq_c(sl_txn_action_at(&txn->domains, i)->u.domain.domain, domain)) {
            return sl_fail(err, SILT_EINVALID, "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR",
                           "metadata domain %s is named twice in one transaction", domain);
        }
    }
    return SILT_OK;
}

static silt_status push_domain(silt_txn *txn, const char *domain, const char *configuration, bool removed,
                               silt_error *err)
{
    struct sl_action action = {.kind = SL_ACTION_DOMAIN_METADATA};
    SL_TRY(sl_txn_text(txn, domain, &action.u.domain.domain, err));
    SL_TRY(sl_txn_text(txn, configuration, &action.u.domain.configuration, err));
    action.u.domain.removed = removed;
    struct sl_action *slot = sl_vec_push(&txn->domains);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = action;
    return SILT_OK;
}

silt_status silt_txn_set_domain(silt_txn *txn, const char *domain, const char *configuration, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    SL_TRY(check_domain(txn, domain, err));
    if (configuration == NULL || !sl_utf8_valid(sl_str_from(configuration))) {
        return sl_fail(err, SILT_EINVALID, NULL, "metadata domain %s needs a configuration in UTF-8", domain);
    }
    return push_domain(txn, domain, configuration, false, err);
}

/* PROTOCOL: a tombstone repeats the configuration that was. */
silt_status silt_txn_remove_domain(silt_txn *txn, const char *domain, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    SL_TRY(check_domain(txn, domain, err));
    const char *before = txn->snapshot != NULL ? silt_snapshot_domain(txn->snapshot, domain) : NULL;
    if (before == NULL) {
        return sl_fail(err, SILT_ENOTFOUND, "DELTA_DOMAIN_METADATA_NOT_FOUND",
                       "the table has no metadata domain %s at version %lld", domain, (long long)txn->read_version);
    }
    return push_domain(txn, domain, before, true, err);
}
