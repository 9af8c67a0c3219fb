/*
 * The actions of a log as plain structs (PROTOCOL.md "Actions"). Text and arrays borrow from an arena, a JSON document or an
 * Arrow batch, as the producer says. Unknown members of a known action are kept in `extra` and written back; unknown
 * actions are ignored by readers.
 */
#ifndef SL_KERNEL_ACTION_H
#define SL_KERNEL_ACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "silt/env.h"
#include "silt/status.h"

struct sl_json_writer;

#define SL_NO_I64 INT64_MIN /* an optional integer that is absent */

/* value absent (ptr NULL): JSON null. */
struct sl_kv {
    struct sl_str key;
    struct sl_str value;
};

struct sl_kv_list {
    const struct sl_kv *items;
    size_t n;
};

struct sl_str_list {
    const struct sl_str *items;
    size_t n;
};

/* Members that silt does not know; value is JSON text. */
struct sl_extra {
    const struct sl_kv *items;
    size_t n;
};

enum sl_flag {
    SL_FLAG_ABSENT = -1,
    SL_FLAG_FALSE = 0,
    SL_FLAG_TRUE = 1
};

struct sl_dv_descriptor {
    struct sl_str storage_type; /* "u", "p", "i" */
    struct sl_str path_or_inline_dv;
    int64_t offset; /* SL_NO_I64 if absent */
    int64_t size_in_bytes;
    int64_t cardinality;
    struct sl_extra extra;
};

struct sl_add {
    struct sl_str path; /* as in the log: RFC 2396 encoded */
    struct sl_kv_list partition_values;
    int64_t size;
    int64_t modification_time;
    bool data_change;
    struct sl_str stats; /* JSON text, absent if none */
    struct sl_kv_list tags;
    bool has_tags;
    const struct sl_dv_descriptor *deletion_vector; /* NULL if none */
    int64_t base_row_id;                            /* SL_NO_I64 if absent */
    int64_t default_row_commit_version;
    struct sl_str clustering_provider;
    struct sl_extra extra;
};

struct sl_remove {
    struct sl_str path;
    int64_t deletion_timestamp; /* SL_NO_I64 if absent */
    bool data_change;
    enum sl_flag extended_file_metadata;
    struct sl_kv_list partition_values;
    bool has_partition_values;
    int64_t size; /* SL_NO_I64 if absent */
    struct sl_str stats;
    struct sl_kv_list tags;
    bool has_tags;
    const struct sl_dv_descriptor *deletion_vector;
    int64_t base_row_id;
    int64_t default_row_commit_version;
    struct sl_extra extra;
};

struct sl_cdc {
    struct sl_str path;
    struct sl_kv_list partition_values;
    int64_t size;
    bool data_change;
    struct sl_kv_list tags;
    bool has_tags;
    struct sl_extra extra;
};

struct sl_metadata {
    struct sl_str id;
    struct sl_str name; /* absent if none */
    struct sl_str description;
    struct sl_str format_provider;
    struct sl_kv_list format_options;
    struct sl_extra format_extra; /* members of format that silt does not know */
    struct sl_str schema_string;
    struct sl_str_list partition_columns;
    int64_t created_time; /* SL_NO_I64 if absent */
    struct sl_kv_list configuration;
    struct sl_extra extra;
};

struct sl_protocol {
    int64_t min_reader_version;
    int64_t min_writer_version;
    bool has_reader_features;
    bool has_writer_features;
    struct sl_str_list reader_features;
    struct sl_str_list writer_features;
    struct sl_extra extra;
};

struct sl_app_txn {
    struct sl_str app_id;
    int64_t version;
    int64_t last_updated; /* SL_NO_I64 if absent */
    struct sl_extra extra;
};

struct sl_domain_metadata {
    struct sl_str domain;
    struct sl_str configuration;
    bool removed;
    struct sl_extra extra;
};

/* commitInfo is free-form: known members are picked out when they have the expected kind, the whole is kept as JSON. */
struct sl_commit_info {
    int64_t timestamp;           /* SL_NO_I64 if absent */
    int64_t in_commit_timestamp; /* SL_NO_I64 if absent */
    struct sl_str operation;
    struct sl_str operation_parameters; /* JSON text */
    struct sl_str operation_metrics;    /* JSON text */
    struct sl_str engine_info;
    struct sl_str txn_id;
    int64_t read_version; /* SL_NO_I64 if absent */
    struct sl_str isolation_level;
    enum sl_flag is_blind_append;
    struct sl_str user_id, user_name, user_metadata, cluster_id;
    struct sl_str job, notebook; /* JSON text */
    struct sl_str tags;          /* JSON text */
    struct sl_str json;          /* the whole object, compact */
};

struct sl_sidecar {
    struct sl_str path;
    int64_t size_in_bytes;
    int64_t modification_time;
    struct sl_kv_list tags;
    struct sl_extra extra;
};

struct sl_checkpoint_metadata {
    int64_t version;
    struct sl_kv_list tags;
    bool has_tags;
    struct sl_extra extra;
};

enum sl_action_kind {
    SL_ACTION_ADD,
    SL_ACTION_REMOVE,
    SL_ACTION_CDC,
    SL_ACTION_METADATA,
    SL_ACTION_PROTOCOL,
    SL_ACTION_APP_TXN,
    SL_ACTION_DOMAIN_METADATA,
    SL_ACTION_COMMIT_INFO,
    SL_ACTION_SIDECAR,
    SL_ACTION_CHECKPOINT_METADATA,
    SL_ACTION_UNKNOWN /* a well-formed line whose action silt does not know: ignored */
};

struct sl_action {
    enum sl_action_kind kind;
    union {
        struct sl_add add;
        struct sl_remove remove;
        struct sl_cdc cdc;
        struct sl_metadata metadata;
        struct sl_protocol protocol;
        struct sl_app_txn app_txn;
        struct sl_domain_metadata domain;
        struct sl_commit_info commit_info;
        struct sl_sidecar sidecar;
        struct sl_checkpoint_metadata checkpoint_metadata;
    } u;
};

/* Limits of one line; beyond them SILT_ELIMIT. */
#define SL_ACTION_MAX_LINE ((size_t)256 * 1024 * 1024)
#define SL_ACTION_MAX_MEMBERS ((size_t)100000) /* of one object, elements of one array */

/*
 * One line of a commit. Text is copied into the arena. SILT_ECORRUPT names the action and the field. A required field that is
 * missing or of a wrong kind is an error; commitInfo never is. `env` is for the parser's temporary memory.
 */
silt_status sl_action_parse(const silt_env *env, struct sl_arena *arena, struct sl_str line, struct sl_action *out,
                            silt_error *err);

/* The same of the object alone, as which version checksums hold actions; action->kind says of which kind, and is no commitInfo. */
silt_status sl_action_parse_body(const silt_env *env, struct sl_arena *arena, const sl_json *body,
                                 struct sl_action *action, silt_error *err);

/* Appends the action as one JSON line, "\n" included. */
silt_status sl_action_write(struct sl_buf *out, const struct sl_action *action, silt_error *err);
/* The action's own object only, as other files of the log hold it. Failures of memory stick to the writer's buffer. */
silt_status sl_action_write_body(struct sl_json_writer *w, const struct sl_action *action, silt_error *err);

/* Deep copies into an arena; false when out of memory. */
bool sl_add_copy(struct sl_arena *arena, const struct sl_add *src, struct sl_add *out);
bool sl_metadata_copy(struct sl_arena *arena, const struct sl_metadata *src, struct sl_metadata *out);
bool sl_protocol_copy(struct sl_arena *arena, const struct sl_protocol *src, struct sl_protocol *out);

/* The tombstone of a live file (PROTOCOL.md "Add File and Remove File": repeats its deletion vector). Borrows from add. */
void sl_remove_from_add(const struct sl_add *add, int64_t deletion_timestamp_ms, bool data_change,
                        struct sl_remove *out);

/* The first action of a kind; NULL if there is none. */
const struct sl_action *sl_actions_find(const struct sl_action *actions, size_t n, enum sl_action_kind kind);

/* Value of a key in a list; absent view if it is not there (or null: then *found is true). */
struct sl_str sl_kv_get(const struct sl_kv_list *list, struct sl_str key, bool *found);

#endif
