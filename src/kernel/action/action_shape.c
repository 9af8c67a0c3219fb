/*
 * The tables behind action_shape.h, in the order in which Delta Spark writes the members. PROTOCOL.md "Actions" and
 * "Deletion Vector Descriptor Schema". Read-only data.
 */
#include "kernel/action/action_shape.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REQUIRED SL_MEMBER_REQUIRED
#define DETAIL SL_MEMBER_DETAIL
#define JSON_ONLY SL_MEMBER_JSON_ONLY

#define NAME(json_name) (json_name), sizeof(json_name) - 1
#define MEMBER(struct_name, json_name, kind, bits, field)                                                  \
    {                                                                                                      \
        NAME(json_name), SL_MEMBER_##kind, (bits), offsetof(struct struct_name, field), SL_NO_OFFSET, NULL \
    }
/* A member whose presence is told by a bool of its own. */
#define MEMBER_HAS(struct_name, json_name, kind, bits, field)                           \
    {                                                                                   \
        NAME(json_name), SL_MEMBER_##kind, (bits), offsetof(struct struct_name, field), \
            offsetof(struct struct_name, has_##field), NULL                             \
    }
#define NESTED(json_name, kind, bits, at, shape)                               \
    {                                                                          \
        NAME(json_name), SL_MEMBER_##kind, (bits), (at), SL_NO_OFFSET, (shape) \
    }

static const struct sl_member dv_members[] = {
    MEMBER(sl_dv_descriptor, "storageType", STR, REQUIRED, storage_type),
    MEMBER(sl_dv_descriptor, "pathOrInlineDv", STR, REQUIRED, path_or_inline_dv),
    MEMBER(sl_dv_descriptor, "offset", I64, 0, offset),
    MEMBER(sl_dv_descriptor, "sizeInBytes", SIZE, REQUIRED, size_in_bytes),
    MEMBER(sl_dv_descriptor, "cardinality", SIZE, REQUIRED, cardinality),
};
static const struct sl_shape dv_shape = {"deletionVector",
                                         SL_ACTION_UNKNOWN,
                                         dv_members,
                                         COUNT(dv_members),
                                         offsetof(struct sl_dv_descriptor, extra),
                                         sizeof(struct sl_dv_descriptor)};

static const struct sl_member add_members[] = {
    MEMBER(sl_add, "path", STR, REQUIRED, path),
    MEMBER(sl_add, "partitionValues", MAP, REQUIRED, partition_values),
    MEMBER(sl_add, "size", SIZE, REQUIRED, size),
    MEMBER(sl_add, "modificationTime", I64, REQUIRED, modification_time),
    MEMBER(sl_add, "dataChange", BOOL, REQUIRED, data_change),
    MEMBER(sl_add, "stats", STR, DETAIL, stats),
    MEMBER_HAS(sl_add, "tags", ANYMAP, DETAIL, tags),
    NESTED("deletionVector", DV, 0, offsetof(struct sl_add, deletion_vector), &dv_shape),
    MEMBER(sl_add, "baseRowId", I64, 0, base_row_id),
    MEMBER(sl_add, "defaultRowCommitVersion", I64, 0, default_row_commit_version),
    MEMBER(sl_add, "clusteringProvider", STR, DETAIL, clustering_provider),
};

static const struct sl_member remove_members[] = {
    MEMBER(sl_remove, "path", STR, REQUIRED, path),
    MEMBER(sl_remove, "deletionTimestamp", I64, 0, deletion_timestamp),
    MEMBER(sl_remove, "dataChange", BOOL, REQUIRED, data_change),
    MEMBER(sl_remove, "extendedFileMetadata", FLAG, 0, extended_file_metadata),
    MEMBER_HAS(sl_remove, "partitionValues", MAP, 0, partition_values),
    MEMBER(sl_remove, "size", SIZE, 0, size),
    MEMBER(sl_remove, "stats", STR, JSON_ONLY, stats),
    MEMBER_HAS(sl_remove, "tags", ANYMAP, JSON_ONLY, tags),
    NESTED("deletionVector", DV, 0, offsetof(struct sl_remove, deletion_vector), &dv_shape),
    MEMBER(sl_remove, "baseRowId", I64, 0, base_row_id),
    MEMBER(sl_remove, "defaultRowCommitVersion", I64, 0, default_row_commit_version),
};

static const struct sl_member cdc_members[] = {
    MEMBER(sl_cdc, "path", STR, REQUIRED, path),  MEMBER(sl_cdc, "partitionValues", MAP, REQUIRED, partition_values),
    MEMBER(sl_cdc, "size", SIZE, REQUIRED, size), MEMBER(sl_cdc, "dataChange", BOOL, REQUIRED, data_change),
    MEMBER_HAS(sl_cdc, "tags", ANYMAP, 0, tags),
};

static const struct sl_member format_members[] = {
    MEMBER(sl_metadata, "provider", STR, REQUIRED, format_provider),
    MEMBER(sl_metadata, "options", MAP, 0, format_options),
};
static const struct sl_shape format_shape = {"format",
                                             SL_ACTION_UNKNOWN,
                                             format_members,
                                             COUNT(format_members),
                                             offsetof(struct sl_metadata, format_extra),
                                             sizeof(struct sl_metadata)};

/*
 * schemaString is required by the protocol, yet logs without one exist whose history can be told: its absence is
 * refused where a snapshot is made. Logs of the first Delta releases have no configuration.
 */
static const struct sl_member metadata_members[] = {
    MEMBER(sl_metadata, "id", STR, REQUIRED, id),
    MEMBER(sl_metadata, "name", STR, 0, name),
    MEMBER(sl_metadata, "description", STR, 0, description),
    NESTED("format", GROUP, REQUIRED, 0, &format_shape),
    MEMBER(sl_metadata, "schemaString", STR, 0, schema_string),
    MEMBER(sl_metadata, "partitionColumns", LIST, REQUIRED, partition_columns),
    MEMBER(sl_metadata, "configuration", MAP, 0, configuration),
    MEMBER(sl_metadata, "createdTime", I64, 0, created_time),
};

static const struct sl_member protocol_members[] = {
    MEMBER(sl_protocol, "minReaderVersion", SIZE, REQUIRED, min_reader_version),
    MEMBER(sl_protocol, "minWriterVersion", SIZE, REQUIRED, min_writer_version),
    MEMBER_HAS(sl_protocol, "readerFeatures", LIST, 0, reader_features),
    MEMBER_HAS(sl_protocol, "writerFeatures", LIST, 0, writer_features),
};

static const struct sl_member app_txn_members[] = {
    MEMBER(sl_app_txn, "appId", STR, REQUIRED, app_id),
    MEMBER(sl_app_txn, "version", I64, REQUIRED, version),
    MEMBER(sl_app_txn, "lastUpdated", I64, 0, last_updated),
};

static const struct sl_member domain_members[] = {
    MEMBER(sl_domain_metadata, "domain", STR, REQUIRED, domain),
    MEMBER(sl_domain_metadata, "configuration", STR, REQUIRED, configuration),
    MEMBER(sl_domain_metadata, "removed", BOOL, REQUIRED, removed),
};

static const struct sl_member commit_info_members[] = {
    MEMBER(sl_commit_info, "inCommitTimestamp", I64, 0, in_commit_timestamp),
    MEMBER(sl_commit_info, "timestamp", I64, 0, timestamp),
    MEMBER(sl_commit_info, "userId", STR, 0, user_id),
    MEMBER(sl_commit_info, "userName", STR, 0, user_name),
    MEMBER(sl_commit_info, "operation", STR, 0, operation),
    MEMBER(sl_commit_info, "operationParameters", JSON, 0, operation_parameters),
    MEMBER(sl_commit_info, "job", JSON, 0, job),
    MEMBER(sl_commit_info, "notebook", JSON, 0, notebook),
    MEMBER(sl_commit_info, "clusterId", STR, 0, cluster_id),
    MEMBER(sl_commit_info, "readVersion", I64, 0, read_version),
    MEMBER(sl_commit_info, "isolationLevel", STR, 0, isolation_level),
    MEMBER(sl_commit_info, "isBlindAppend", FLAG, 0, is_blind_append),
    MEMBER(sl_commit_info, "operationMetrics", JSON, 0, operation_metrics),
    MEMBER(sl_commit_info, "userMetadata", STR, 0, user_metadata),
    MEMBER(sl_commit_info, "tags", JSON, 0, tags),
    MEMBER(sl_commit_info, "engineInfo", STR, 0, engine_info),
    MEMBER(sl_commit_info, "txnId", STR, 0, txn_id),
};

static const struct sl_member sidecar_members[] = {
    MEMBER(sl_sidecar, "path", STR, REQUIRED, path),
    MEMBER(sl_sidecar, "sizeInBytes", SIZE, REQUIRED, size_in_bytes),
    MEMBER(sl_sidecar, "modificationTime", I64, REQUIRED, modification_time),
    MEMBER(sl_sidecar, "tags", ANYMAP, 0, tags),
};

static const struct sl_member checkpoint_metadata_members[] = {
    MEMBER(sl_checkpoint_metadata, "version", I64, REQUIRED, version),
    MEMBER_HAS(sl_checkpoint_metadata, "tags", ANYMAP, DETAIL, tags),
};

#define SHAPE(json_name, action_kind, table, struct_name) \
    [action_kind] = {(json_name),                         \
                     (action_kind),                       \
                     (table),                             \
                     COUNT(table),                        \
                     offsetof(struct struct_name, extra), \
                     sizeof(struct struct_name)}

static const struct sl_shape shapes[] = {
    SHAPE("add", SL_ACTION_ADD, add_members, sl_add),
    SHAPE("remove", SL_ACTION_REMOVE, remove_members, sl_remove),
    SHAPE("cdc", SL_ACTION_CDC, cdc_members, sl_cdc),
    SHAPE("metaData", SL_ACTION_METADATA, metadata_members, sl_metadata),
    SHAPE("protocol", SL_ACTION_PROTOCOL, protocol_members, sl_protocol),
    SHAPE("txn", SL_ACTION_APP_TXN, app_txn_members, sl_app_txn),
    SHAPE("domainMetadata", SL_ACTION_DOMAIN_METADATA, domain_members, sl_domain_metadata),
    [SL_ACTION_COMMIT_INFO] = {"commitInfo", SL_ACTION_COMMIT_INFO, commit_info_members, COUNT(commit_info_members),
                               SL_NO_OFFSET, sizeof(struct sl_commit_info)},
    SHAPE("sidecar", SL_ACTION_SIDECAR, sidecar_members, sl_sidecar),
    SHAPE("checkpointMetadata", SL_ACTION_CHECKPOINT_METADATA, checkpoint_metadata_members, sl_checkpoint_metadata),
};

const struct sl_shape *sl_shape_of(enum sl_action_kind kind)
{
    return (size_t)kind < COUNT(shapes) ? &shapes[kind] : NULL;
}

const struct sl_shape *sl_shape_find(struct sl_str name)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        if (sl_str_eq_c(name, shapes[i].name)) {
            return &shapes[i];
        }
    }
    return NULL;
}

void *sl_action_body(struct sl_action *action)
{
    return &action->u; /* the members of a union all begin where it does */
}

const void *sl_action_body_const(const struct sl_action *action)
{
    return &action->u;
}

void sl_shape_reset(const struct sl_shape *shape, void *body)
{
    for (size_t i = 0; i < shape->n_members; i++) {
        const struct sl_member *member = &shape->members[i];
        void *place = sl_member_at(body, member->offset);
        switch (member->type) {
        case SL_MEMBER_I64:
        case SL_MEMBER_SIZE: *(int64_t *)place = SL_NO_I64; break;
        case SL_MEMBER_FLAG: *(enum sl_flag *)place = SL_FLAG_ABSENT; break;
        case SL_MEMBER_GROUP: sl_shape_reset(member->of, body); break;
        case SL_MEMBER_STR:
        case SL_MEMBER_BOOL:
        case SL_MEMBER_MAP:
        case SL_MEMBER_ANYMAP:
        case SL_MEMBER_LIST:
        case SL_MEMBER_JSON:
        case SL_MEMBER_DV: break; /* zero is absent */
        }
    }
}
