/*
 * The table of features: look-up by name, what versions imply, which features a protocol action makes active, and whether
 * the action is valid in itself. Called by the gate, by protocol planning and by replay; pure, any thread.
 * PROTOCOL.md "Table Features", "Protocol Evolution".
 */
#include "kernel/feature/feature.h"

#include "base/error.h"
#include "kernel/feature/feature_int.h"

#define READER_WRITER true
#define WRITER false
#define SL_FEATURE(name, scope, legacy_reader, legacy_writer, read, write, use, key, value, unused) \
    {name, scope, legacy_reader, legacy_writer, SL_FEATURE_##read, SL_FEATURE_##write},
static const struct sl_feature features[] = {
#include "kernel/feature/features.def"
};
#undef SL_FEATURE
#undef READER_WRITER
#undef WRITER

#define FEATURE_COUNT (sizeof(features) / sizeof(features[0]))
_Static_assert(FEATURE_COUNT <= 64, "a feature set is one 64-bit word");

size_t sl_feature_count(void)
{
    return FEATURE_COUNT;
}

const struct sl_feature *sl_feature_at(size_t index)
{
    return &features[index];
}

size_t sl_feature_index(struct sl_str name)
{
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        if (sl_str_eq_c(name, features[i].name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

size_t sl_feature_index_nocase(struct sl_str name)
{
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        if (sl_str_eq_nocase(name, sl_str_from(features[i].name))) {
            return i;
        }
    }
    return SIZE_MAX;
}

const struct sl_feature *sl_feature_find(struct sl_str name)
{
    const size_t index = sl_feature_index(name);
    return index == SIZE_MAX ? NULL : &features[index];
}

sl_feature_set sl_feature_implied(int64_t reader_version, int64_t writer_version)
{
    sl_feature_set set = 0;
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        const struct sl_feature *feature = &features[i];
        if (feature->legacy_writer_version != 0 && feature->legacy_writer_version <= writer_version &&
            feature->legacy_reader_version <= reader_version) {
            set |= UINT64_C(1) << i;
        }
    }
    return set;
}

static sl_feature_set listed(const struct sl_str_list *names)
{
    sl_feature_set set = 0;
    for (size_t i = 0; i < names->n; i++) {
        const size_t index = sl_feature_index(names->items[i]);
        if (index != SIZE_MAX) {
            set |= UINT64_C(1) << index;
        }
    }
    return set;
}

/* What a reader must obey: the list from version 3 on, before it the reader features that the version implies. */
static sl_feature_set active_for_reading(const struct sl_protocol *protocol)
{
    if (protocol->min_reader_version >= 3) {
        return listed(&protocol->reader_features);
    }
    sl_feature_set set = 0;
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        if (features[i].legacy_reader_version != 0 &&
            features[i].legacy_reader_version <= protocol->min_reader_version) {
            set |= UINT64_C(1) << i;
        }
    }
    /* A (2,7) table has column mapping only if the writer's list says so. */
    return protocol->min_writer_version >= 7 ? set & listed(&protocol->writer_features) : set;
}

sl_feature_set sl_feature_active(const struct sl_protocol *protocol, bool for_writing)
{
    if (!for_writing) {
        return active_for_reading(protocol);
    }
    if (protocol->min_writer_version >= 7) {
        return listed(&protocol->writer_features);
    }
    return sl_feature_implied(protocol->min_reader_version, protocol->min_writer_version);
}

static bool list_has(const struct sl_str_list *list, struct sl_str name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (sl_str_eq(list->items[i], name)) {
            return true;
        }
    }
    return false;
}

bool sl_protocol_has_feature(const struct sl_protocol *protocol, const char *name)
{
    const struct sl_str text = sl_str_from(name);
    if (protocol->min_writer_version >= 7 && list_has(&protocol->writer_features, text)) {
        return true;
    }
    if (protocol->min_reader_version >= 3 && list_has(&protocol->reader_features, text)) {
        return true;
    }
    if (protocol->min_writer_version >= 7) {
        return false;
    }
    const size_t index = sl_feature_index(text);
    return index != SIZE_MAX && ((sl_feature_active(protocol, true) >> index) & 1) != 0;
}

silt_status sl_protocol_validate(const struct sl_protocol *protocol, silt_error *err)
{
    const long long reader = (long long)protocol->min_reader_version;
    const long long writer = (long long)protocol->min_writer_version;
    if (reader < 1 || writer < 1) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "protocol has reader version %lld and writer version %lld; both start at 1", reader, writer);
    }
    /* An unknown writer version does not keep readers out; the gate for writing refuses it. */
    if (reader > 3) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_INVALID_PROTOCOL_VERSION",
                       "table needs reader version %lld and writer version %lld; silt knows reader versions 1 to 3 and "
                       "writer versions 1 to 7",
                       reader, writer);
    }
    if (reader == 3 && writer < 7) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE",
                       "protocol has reader version 3 with writer version %lld; reader features need writer version 7",
                       writer);
    }
    if (reader == 3 && !protocol->has_reader_features) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "protocol has reader version 3 but no readerFeatures");
    }
    if (writer == 7 && !protocol->has_writer_features) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "protocol has writer version 7 but no writerFeatures");
    }
    /* Some writers leave empty lists on old versions: harmless, so only names are refused. */
    if (reader < 3 && protocol->reader_features.n > 0) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "protocol lists readerFeatures at reader version %lld; that needs version 3", reader);
    }
    if (writer < 7 && protocol->writer_features.n > 0) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "protocol lists writerFeatures at writer version %lld; that needs version 7", writer);
    }
    for (size_t i = 0; i < protocol->reader_features.n; i++) {
        const struct sl_str name = protocol->reader_features.items[i];
        if (!list_has(&protocol->writer_features, name)) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "protocol lists feature %.*s for readers but not for writers",
                           SL_FMT(name));
        }
    }
    return SILT_OK;
}
