/*
 * Changes of the protocol beneath a transaction that is at work. Called by the conflict check; pure, any thread.
 */
#include "kernel/feature/feature.h"

#include "kernel/feature/feature_int.h"

/*
 * Features whose mere support asks nothing of a commit that was prepared without them: they act only through properties, a schema or
 * vectors, which come with metadata or were not known to the transaction, or the rebase sees to them (row ids). As in Delta Spark, but
 * for a table's hand-over to a catalog: a commit to its folder would then go past that.
 */
static bool is_harmless(const char *name)
{
    static const char *const names[] = {"appendOnly",         "changeDataFeed",  "columnMapping",  "timestampNtz",
                                        "deletionVectors",    "rowTracking",     "domainMetadata", "icebergCompatV1",
                                        "icebergCompatV2",    "icebergCompatV3", "v2Checkpoint",   "inCommitTimestamp",
                                        "vacuumProtocolCheck"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool lists(const struct sl_str_list *list, struct sl_str name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (sl_str_eq(list->items[i], name)) {
            return true;
        }
    }
    return false;
}

/* Names that silt does not know: nobody can say what they ask. */
static bool same_unknown(const struct sl_str_list *before, const struct sl_str_list *after)
{
    for (size_t i = 0; i < before->n; i++) {
        if (sl_feature_index(before->items[i]) == SIZE_MAX && !lists(after, before->items[i])) {
            return false;
        }
    }
    return true;
}

bool sl_protocol_change_is_harmless(const struct sl_protocol *before, const struct sl_protocol *after)
{
    if (sl_protocol_validate(before, NULL) != SILT_OK || sl_protocol_validate(after, NULL) != SILT_OK ||
        !same_unknown(&before->writer_features, &after->writer_features) ||
        !same_unknown(&after->writer_features, &before->writer_features) ||
        !same_unknown(&before->reader_features, &after->reader_features) ||
        !same_unknown(&after->reader_features, &before->reader_features)) {
        return false;
    }
    const sl_feature_set old = sl_feature_active(before, true) | sl_feature_active(before, false);
    const sl_feature_set new = sl_feature_active(after, true) | sl_feature_active(after, false);
    for (size_t i = 0; i < sl_feature_count(); i++) {
        const bool was = ((old >> i) & 1) != 0;
        const bool is = ((new >> i) & 1) != 0;
        if ((was && !is) || (!was && is && !is_harmless(sl_feature_at(i)->name))) {
            return false;
        }
    }
    return true;
}
