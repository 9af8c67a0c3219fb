/*
 * Which protocol a new or changed table needs: the features that its schema, properties and settings ask for, brought to the
 * weakest protocol that says so. As Delta Spark does, a set that an old version implies exactly is written as that
 * version: (1,2) stays (1,2), and a table with timestamp_ntz becomes (3,7) with appendOnly and invariants listed.
 * Called by transactions; pure, any thread. PROTOCOL.md "Table Features for New and Existing Tables".
 */
#include "kernel/feature/feature.h"

#include "base/error.h"
#include "kernel/feature/feature_int.h"

#define BIT(index) (UINT64_C(1) << (index))

struct settings {
    int64_t reader_version; /* 0 if not given */
    int64_t writer_version;
    bool ignore_defaults;
    sl_feature_set features;
};

static silt_status read_feature_setting(struct sl_str key, struct settings *out, silt_error *err)
{
    const struct sl_str name = sl_str_sub(key, strlen("delta.feature."), key.len);
    const size_t index = sl_feature_index_nocase(name);
    if (index == SIZE_MAX) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
                       "table property %.*s names a feature that silt does not know", SL_FMT(key));
    }
    if (strcmp(sl_feature_at(index)->name, "clustering") == 0) {
        return sl_fail(err, SILT_EINVALID, "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
                       "the clustering feature cannot be set by a table property; it comes with CLUSTER BY");
    }
    out->features |= BIT(index);
    return SILT_OK;
}

static silt_status read_settings(const struct sl_kv_list *properties, struct settings *out, silt_error *err)
{
    *out = (struct settings){0};
    for (size_t i = 0; i < properties->n; i++) {
        const struct sl_str key = properties->items[i].key;
        const struct sl_str value = sl_str_trim(properties->items[i].value);
        if (!sl_property_is_protocol(key)) {
            continue;
        }
        SL_TRY(sl_property_validate(key, properties->items[i].value, err));
        if (sl_str_eq_nocase(key, SL_STR("delta.minReaderVersion"))) {
            (void)sl_str_to_i64(value, &out->reader_version); /* validated above */
        } else if (sl_str_eq_nocase(key, SL_STR("delta.minWriterVersion"))) {
            (void)sl_str_to_i64(value, &out->writer_version); /* validated above */
        } else if (sl_str_eq_nocase(key, SL_STR("delta.ignoreProtocolDefaults"))) {
            out->ignore_defaults = sl_str_eq_nocase(value, SL_STR("true"));
        } else {
            SL_TRY(read_feature_setting(key, out, err));
        }
    }
    if (out->reader_version == 3 && out->writer_version != 7) {
        return sl_fail(err, SILT_EINVALID, "DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE",
                       "delta.minReaderVersion 3 needs delta.minWriterVersion 7");
    }
    return SILT_OK;
}

/* A feature that the table has under its name of the preview is not asked for under the other one, too: as Delta Spark. */
static sl_feature_set without_previewed(sl_feature_set used, sl_feature_set supported)
{
    static const char *const previews[][2] = {{"variantType", "variantType-preview"},
                                              {"variantShredding", "variantShredding-preview"},
                                              {"typeWidening", "typeWidening-preview"},
                                              {"collations", "collations-preview"}};
    for (size_t i = 0; i < sizeof(previews) / sizeof(previews[0]); i++) {
        const sl_feature_set final = BIT(sl_feature_index(sl_str_from(previews[i][0])));
        const sl_feature_set preview = BIT(sl_feature_index(sl_str_from(previews[i][1])));
        if ((supported & preview) != 0 && (supported & final) == 0) {
            used &= ~final;
        } else {
            used &= ~preview; /* what uses one uses the other: the final name is the one that is asked for */
        }
    }
    return used;
}

/*
 * Delta Spark does not let a change of schema switch these on in a table that exists: readers that are at work on it may not know them.
 * Whoever wants them sets delta.feature.<name>.
 */
static silt_status check_manual(sl_feature_set wanted, sl_feature_set given, silt_error *err)
{
    static const char *const manual[] = {"timestampNtz", "allowColumnDefaults"};
    for (size_t i = 0; i < sizeof(manual) / sizeof(manual[0]); i++) {
        if ((wanted & ~given & BIT(sl_feature_index(sl_str_from(manual[i])))) != 0) {
            const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
                                               "the schema needs table feature %s, which the table does not have",
                                               manual[i]);
            sl_error_hint(err, "set the table property delta.feature.%s to 'supported' first", manual[i]);
            return status;
        }
    }
    return SILT_OK;
}

static sl_feature_set with_dependencies(sl_feature_set set)
{
    static const char *const needs[][2] = {{"rowTracking", "domainMetadata"},
                                           {"clustering", "domainMetadata"},
                                           {"collations", "domainMetadata"},
                                           {"collations-preview", "domainMetadata"},
                                           {"icebergCompatV1", "columnMapping"},
                                           {"icebergCompatV2", "columnMapping"},
                                           {"icebergCompatV3", "columnMapping"},
                                           {"icebergCompatV3", "rowTracking"},
                                           {"variantShredding", "variantType"},
                                           {"catalogManaged", "inCommitTimestamp"},
                                           {"catalogManaged", "vacuumProtocolCheck"},
                                           {"catalogOwned-preview", "inCommitTimestamp"},
                                           {"catalogOwned-preview", "vacuumProtocolCheck"},
                                           {"coordinatedCommits-preview", "inCommitTimestamp"},
                                           {"coordinatedCommits-preview", "vacuumProtocolCheck"}};
    /* Twice: what icebergCompatV3 needs has needs of its own. */
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
            if ((set & BIT(sl_feature_index(sl_str_from(needs[i][0])))) != 0) {
                set |= BIT(sl_feature_index(sl_str_from(needs[i][1])));
            }
        }
    }
    return set;
}

static silt_status list_features(struct sl_arena *arena, sl_feature_set set, bool readers_only, struct sl_str_list *out,
                                 silt_error *err)
{
    struct sl_str *names = sl_arena_alloc_array(arena, sl_feature_count(), sizeof(*names));
    if (names == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < sl_feature_count(); i++) {
        if ((set & BIT(i)) != 0 && (!readers_only || sl_feature_at(i)->reader_writer)) {
            names[n++] = sl_str_from(sl_feature_at(i)->name);
        }
    }
    *out = (struct sl_str_list){names, n};
    return SILT_OK;
}

/* The weakest protocol that makes exactly these features active. */
static silt_status weakest_protocol(struct sl_arena *arena, sl_feature_set set, struct sl_protocol *out,
                                    silt_error *err)
{
    int64_t reader = 1;
    int64_t writer = 1;
    bool legacy = true;
    for (size_t i = 0; i < sl_feature_count(); i++) {
        const struct sl_feature *feature = sl_feature_at(i);
        if ((set & BIT(i)) == 0) {
            continue;
        }
        const bool is_legacy = feature->legacy_writer_version != 0;
        const int64_t needs_reader = is_legacy ? feature->legacy_reader_version : (feature->reader_writer ? 3 : 1);
        reader = needs_reader > reader ? needs_reader : reader;
        legacy = legacy && is_legacy;
        writer = feature->legacy_writer_version > writer ? feature->legacy_writer_version : writer;
    }
    *out = (struct sl_protocol){.min_reader_version = reader, .min_writer_version = writer};
    if (legacy && sl_feature_implied(reader, writer) == set) {
        return SILT_OK;
    }
    out->min_writer_version = 7;
    out->has_writer_features = true;
    SL_TRY(list_features(arena, set, false, &out->writer_features, err));
    if (reader == 3) {
        out->has_reader_features = true;
        SL_TRY(list_features(arena, set, true, &out->reader_features, err));
    }
    return SILT_OK;
}

/* As Delta Spark: a new table that is to be compatible with Iceberg gets column mapping unless it is asked not to. */
static bool needs_mapping(const struct sl_kv_list *config)
{
    return sl_property_bool(config, "delta.enableIcebergCompatV1") ||
           sl_property_bool(config, "delta.enableIcebergCompatV2") ||
           sl_property_bool(config, "delta.enableIcebergCompatV3");
}

/* Properties that are stored: protocol settings left out, keys and values in their own spelling, the last of equal keys wins. */
static silt_status keep_properties(struct sl_arena *arena, const struct sl_kv_list *properties, struct sl_kv_list *out,
                                   silt_error *err)
{
    struct sl_kv *kept = sl_arena_alloc_array(arena, properties->n + 2, sizeof(*kept));
    if (kept == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < properties->n; i++) {
        SL_TRY(sl_property_validate(properties->items[i].key, properties->items[i].value, err));
        if (sl_property_is_protocol(properties->items[i].key)) {
            continue;
        }
        const struct sl_str key = sl_property_canonical(arena, properties->items[i].key);
        if (key.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        size_t at = 0;
        while (at < n && !sl_str_eq(kept[at].key, key)) {
            at++;
        }
        kept[at] = (struct sl_kv){key, sl_property_canonical_value(key, properties->items[i].value)};
        n = at == n ? n + 1 : n;
    }
    *out = (struct sl_kv_list){kept, n};
    bool mapped = false;
    (void)sl_kv_get(out, SL_STR("delta.columnMapping.mode"), &mapped);
    if (!mapped && needs_mapping(out)) {
        kept[n] = (struct sl_kv){SL_STR("delta.columnMapping.mode"), SL_STR("name")};
        *out = (struct sl_kv_list){kept, n + 1};
    }
    return SILT_OK;
}

silt_status sl_protocol_for_new_table(struct sl_arena *arena, const silt_schema *schema,
                                      const struct sl_kv_list *properties, struct sl_protocol *out,
                                      struct sl_kv_list *kept_properties, silt_error *err)
{
    struct settings settings;
    *out = (struct sl_protocol){0};
    SL_TRY(keep_properties(arena, properties, kept_properties, err));
    SL_TRY(read_settings(properties, &settings, err));
    const int64_t default_writer = settings.ignore_defaults ? 1 : 2;
    const int64_t reader = settings.reader_version != 0 ? settings.reader_version : 1;
    const int64_t writer = settings.writer_version != 0 ? settings.writer_version : default_writer;
    /* Writer version 7 lists its features, so it implies none. */
    const sl_feature_set implied = writer < 7 ? sl_feature_implied(reader, writer) : 0;
    const sl_feature_set used = without_previewed(sl_feature_used(kept_properties, schema), settings.features);
    SL_TRY(weakest_protocol(arena, with_dependencies(implied | settings.features | used), out, err));
    const struct sl_metadata metadata = {.configuration = *kept_properties};
    return sl_gate_write_features(out, &metadata, schema, err);
}

/* Names of a list that are not in the feature table: kept, so that an upgrade never drops one. */
static bool has_unknown(const struct sl_str_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (sl_feature_index(list->items[i]) == SIZE_MAX) {
            return true;
        }
    }
    return false;
}

silt_status sl_protocol_for_change(struct sl_arena *arena, const struct sl_protocol *current,
                                   const struct sl_kv_list *properties, const struct sl_metadata *metadata,
                                   const silt_schema *schema, struct sl_protocol *out, bool *changed, silt_error *err)
{
    struct settings settings;
    *changed = false;
    *out = *current;
    SL_TRY(read_settings(properties, &settings, err));
    const sl_feature_set before = sl_feature_active(current, true) | sl_feature_active(current, false);
    const sl_feature_set given = before | settings.features;
    const sl_feature_set used = without_previewed(sl_feature_used(&metadata->configuration, schema), given);
    SL_TRY(check_manual(used, given, err));
    sl_feature_set after = given | used;
    if (settings.writer_version != 0 && settings.writer_version < 7) {
        after |= sl_feature_implied(settings.reader_version != 0 ? settings.reader_version
                                                                 : current->min_reader_version,
                                    settings.writer_version);
    }
    after = with_dependencies(after);
    if (after == before) {
        return SILT_OK;
    }
    if (has_unknown(&current->writer_features) || has_unknown(&current->reader_features)) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
                       "the protocol cannot be changed: it lists features that silt does not know");
    }
    SL_TRY(weakest_protocol(arena, after, out, err));
    /* Versions never go down, even where the old ones were higher than they had to be. */
    if (out->min_writer_version < current->min_writer_version) {
        out->min_writer_version = current->min_writer_version;
    }
    if (out->min_reader_version < current->min_reader_version) {
        out->min_reader_version = current->min_reader_version;
    }
    if (out->min_reader_version == 3 && !out->has_reader_features) {
        out->has_reader_features = true;
        SL_TRY(list_features(arena, after, true, &out->reader_features, err));
    }
    if (out->min_writer_version == 7 && !out->has_writer_features) {
        out->has_writer_features = true;
        SL_TRY(list_features(arena, after, false, &out->writer_features, err));
    }
    out->extra = current->extra;
    *changed = true;
    return SILT_OK;
}
