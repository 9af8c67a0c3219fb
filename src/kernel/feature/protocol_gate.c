/*
 * The one gate: may silt read, or write, a table of this protocol and metadata? Every reader and writer of a table passes here
 * before it touches a file. Names all features that stand in the way at once. Pure, any thread.
 * PROTOCOL.md "Table Features", "Requirements for Readers", "Requirements for Writers".
 */
#include "kernel/feature/feature.h"

#include <stdio.h>

#include "base/error.h"
#include "kernel/feature/feature_int.h"

/* The features that stand in the way, as text for the error; cut when there are very many. */
struct obstacles {
    char text[560];
    size_t len;
    size_t n;
    size_t n_by_catalog; /* of them, those that opening through a catalog would lift */
};

/* For what a protocol is judged. */
enum use {
    READ_BY_PATH,
    READ_BY_CATALOG,
    WRITE_BY_PATH,
    WRITE_BY_CATALOG
};

static void add_obstacle(struct obstacles *found, struct sl_str name, const char *detail)
{
    const size_t room = sizeof(found->text) - found->len;
    const int cut = (int)(name.len < 64 ? name.len : 64);
    const char *comma = found->n > 0 ? ", " : "";
    const int written = detail[0] != '\0'
                            ? snprintf(found->text + found->len, room, "%s%.*s (%s)", comma, cut, name.ptr, detail)
                            : snprintf(found->text + found->len, room, "%s%.*s", comma, cut, name.ptr);
    if (written > 0) {
        found->len += (size_t)written < room ? (size_t)written : room - 1;
    }
    found->n++;
}

static bool is_refused(const struct sl_feature *feature, enum use use)
{
    const bool by_catalog = use == READ_BY_CATALOG || use == WRITE_BY_CATALOG;
    const enum sl_feature_support support = use >= WRITE_BY_PATH ? feature->write : feature->read;
    return support == SL_FEATURE_REFUSED || (support == SL_FEATURE_BY_CATALOG && !by_catalog);
}

static void find_known(struct obstacles *found, sl_feature_set active, const struct sl_metadata *metadata,
                       const silt_schema *schema, enum use use)
{
    for (size_t i = 0; i < sl_feature_count(); i++) {
        const struct sl_feature *feature = sl_feature_at(i);
        /* Rows that break a constraint are as wrong where the protocol has forgotten it. */
        const bool counts = ((active >> i) & 1) != 0 || (use >= WRITE_BY_PATH && sl_feature_is_constraint(i));
        if (!counts || !is_refused(feature, use)) {
            continue;
        }
        char detail[SL_FEATURE_DETAIL_SIZE];
        const bool used = sl_feature_in_use(i, &metadata->configuration, schema, detail);
        if (used || (!sl_feature_unused_is_free(i) && ((active >> i) & 1) != 0)) {
            add_obstacle(found, sl_str_from(feature->name), detail);
            found->n_by_catalog += !is_refused(feature, READ_BY_CATALOG) && use == READ_BY_PATH ? 1 : 0;
        }
    }
}

/*
 * A mode of column mapping decides how the columns of every file are found, and other engines go by the property alone. PROTOCOL: it
 * counts only where the protocol has the feature. Whoever is right, one of the two would show nulls where there are values.
 */
static silt_status check_mapping_announced(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                                           const silt_schema *schema, silt_error *err)
{
    const size_t index = sl_feature_index(SL_STR("columnMapping"));
    char detail[SL_FEATURE_DETAIL_SIZE];
    if (((sl_feature_active(protocol, false) >> index) & 1) != 0 ||
        !sl_feature_in_use(index, &metadata->configuration, schema, detail)) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
                   "table feature columnMapping is in use (%s), but the protocol of the table does not list it",
                   detail);
}

static void find_unknown(struct obstacles *found, const struct sl_str_list *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (sl_feature_index(names->items[i]) == SIZE_MAX) {
            add_obstacle(found, names->items[i], "unknown to this version");
        }
    }
}

static silt_status judge(const struct obstacles *found, bool for_writing, silt_error *err)
{
    if (found->n == 0) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(
        err, SILT_EUNSUPPORTED,
        for_writing ? "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE" : "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
        "table uses %s that silt does not support for %s: %s", found->n == 1 ? "a feature" : "features",
        for_writing ? "writing" : "reading", found->text);
    if (found->n_by_catalog == found->n) {
        sl_error_hint(err, "the table is managed by a catalog: open it through that, not by its path");
        return status;
    }
    sl_error_hint(err, "use an engine that supports %s, or drop %s from the table there", found->n == 1 ? "it" : "them",
                  found->n == 1 ? "it" : "them");
    return status;
}

static silt_status gate_read(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                             const silt_schema *schema, enum use use, silt_error *err)
{
    if (schema == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "no schema given to judge whether the table can be used");
    }
    SL_TRY(sl_protocol_validate(protocol, err));
    struct obstacles found = {.n = 0};
    const sl_feature_set active = sl_feature_active(protocol, false);
    find_known(&found, active, metadata, schema, use);
    find_unknown(&found, &protocol->reader_features);
    SL_TRY(judge(&found, false, err));
    return check_mapping_announced(protocol, metadata, schema, err);
}

silt_status sl_gate_read(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                         const silt_schema *schema, silt_error *err)
{
    return gate_read(protocol, metadata, schema, READ_BY_PATH, err);
}

silt_status sl_gate_read_by_catalog(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                                    const silt_schema *schema, silt_error *err)
{
    return gate_read(protocol, metadata, schema, READ_BY_CATALOG, err);
}

static silt_status gate_write(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                              const silt_schema *schema, enum use use, silt_error *err)
{
    /* A writer reads the table first; what only a catalog lifts, its own list of features refuses. */
    SL_TRY(sl_gate_read_by_catalog(protocol, metadata, schema, err));
    if (protocol->min_writer_version > 7) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_INVALID_PROTOCOL_VERSION",
                       "table needs writer version %lld; silt knows writer versions 1 to 7",
                       (long long)protocol->min_writer_version);
    }
    struct obstacles found = {.n = 0};
    find_known(&found, sl_feature_active(protocol, true), metadata, schema, use);
    find_unknown(&found, &protocol->writer_features);
    return judge(&found, true, err);
}

silt_status sl_gate_write_features(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                                   const silt_schema *schema, silt_error *err)
{
    return gate_write(protocol, metadata, schema, WRITE_BY_PATH, err);
}

silt_status sl_gate_write(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                          const silt_schema *schema, silt_error *err)
{
    SL_TRY(gate_write(protocol, metadata, schema, WRITE_BY_PATH, err));
    return sl_feature_check_rules(protocol, &metadata->configuration, schema, err);
}

silt_status sl_gate_write_by_catalog(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                                     const silt_schema *schema, silt_error *err)
{
    SL_TRY(gate_write(protocol, metadata, schema, WRITE_BY_CATALOG, err));
    return sl_feature_check_rules(protocol, &metadata->configuration, schema, err);
}
