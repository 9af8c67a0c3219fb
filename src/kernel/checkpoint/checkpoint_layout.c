/*
 * Schemas of checkpoints as JSON, by the tables of action_shape.h; see checkpoint_layout.h.
 */
#include "kernel/checkpoint/checkpoint_layout.h"

#include "base/error.h"
#include "json/writer.h"
#include "kernel/action/action_arrow.h"
#include "kernel/action/action_shape.h"
#include "kernel/action/stats_parsed.h"
#include "kernel/feature/feature.h"

/* ---- columns ---- */

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Numbers that the protocol has as Int. */
static bool is_int(const struct sl_shape *shape, const char *name)
{
    static const char *const of_protocol[] = {"minReaderVersion", "minWriterVersion"};
    static const char *const of_vector[] = {"offset", "sizeInBytes"};
    if (shape->kind == SL_ACTION_PROTOCOL) {
        return is_one_of(name, of_protocol, 2);
    }
    return strcmp(shape->name, "deletionVector") == 0 && is_one_of(name, of_vector, 2);
}

static const char *type_json(const struct sl_shape *shape, const struct sl_member *member, bool wide)
{
    switch (member->type) {
    case SL_MEMBER_STR:
    case SL_MEMBER_JSON: return "\"string\"";
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: return !wide && is_int(shape, member->name) ? "\"integer\"" : "\"long\"";
    case SL_MEMBER_BOOL:
    case SL_MEMBER_FLAG: return "\"boolean\"";
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP:
        return "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"string\",\"valueContainsNull\":true}";
    case SL_MEMBER_LIST: return "{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true}";
    case SL_MEMBER_GROUP:
    case SL_MEMBER_DV: break;
    }
    return NULL;
}

static bool is_left_out(const struct sl_checkpoint_layout *layout, const struct sl_shape *shape,
                        const struct sl_member *member, bool raw)
{
    static const char *const row_ids[] = {"baseRowId", "defaultRowCommitVersion"};
    if ((member->flags & SL_MEMBER_JSON_ONLY) != 0) {
        return true;
    }
    if (shape->kind != SL_ACTION_ADD) {
        return false;
    }
    if (strcmp(member->name, "stats") == 0) {
        return !layout->stats_json;
    }
    return (raw && strcmp(member->name, "dataChange") == 0) ||
           ((layout->optional & SL_LAYOUT_VECTORS) == 0 && strcmp(member->name, "deletionVector") == 0) ||
           ((layout->optional & SL_LAYOUT_ROW_IDS) == 0 && is_one_of(member->name, row_ids, 2)) ||
           ((layout->optional & SL_LAYOUT_PROVIDER) == 0 && strcmp(member->name, "clusteringProvider") == 0);
}

static void put_name(struct sl_buf *out, const char *name, bool *comma)
{
    sl_buf_printf(out,
                  *comma ? ",{\"name\":\"%s\",\"nullable\":true,\"metadata\":{},\"type\":"
                         : "{\"name\":\"%s\",\"nullable\":true,\"metadata\":{},\"type\":",
                  name);
    *comma = true;
}

static void put_members(struct sl_buf *out, const struct sl_checkpoint_layout *layout, const struct sl_shape *shape,
                        bool raw, bool *comma)
{
    for (size_t i = 0; i < shape->n_members; i++) {
        const struct sl_member *member = &shape->members[i];
        if (is_left_out(layout, shape, member, raw)) {
            continue;
        }
        put_name(out, member->name, comma);
        if (member->of != NULL) {
            bool inner = false;
            sl_buf_put_c(out, "{\"type\":\"struct\",\"fields\":[");
            put_members(out, layout, member->of, raw, &inner);
            sl_buf_put_c(out, "]}");
        } else {
            sl_buf_put_c(out, type_json(shape, member, raw || layout->wide));
        }
        sl_buf_put_char(out, '}');
    }
}

/* Types only: what else the table's schema says of a column is none of the checkpoint's business. */
static void put_partition(struct sl_buf *out, const silt_schema *partition)
{
    struct sl_json_writer w;
    sl_buf_put_c(out, "{\"type\":\"struct\",\"fields\":[");
    for (size_t i = 0; i < partition->root.n_fields; i++) {
        sl_buf_put_c(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        sl_json_writer_init(&w, out);
        sl_json_put_str(&w, partition->root.fields[i].name);
        sl_buf_put_c(out, ",\"nullable\":true,\"metadata\":{},\"type\":");
        sl_type_print_json(out, partition->root.fields[i].type);
        sl_buf_put_char(out, '}');
    }
    sl_buf_put_c(out, "]}");
}

static silt_status parse(const silt_env *env, struct sl_buf *json, silt_schema **out, silt_error *err)
{
    silt_status status = sl_buf_status(json, err);
    if (status == SILT_OK) {
        status = silt_schema_from_json(env, sl_buf_cstr(json), json->len, out, err);
    }
    sl_buf_release(json);
    return status;
}

silt_status sl_checkpoint_layout_schema(const silt_env *env, const struct sl_checkpoint_layout *layout,
                                        silt_schema **out, silt_error *err)
{
    /* In the order of Delta Spark. */
    static const enum sl_action_kind order[] = {SL_ACTION_APP_TXN,
                                                SL_ACTION_ADD,
                                                SL_ACTION_REMOVE,
                                                SL_ACTION_METADATA,
                                                SL_ACTION_PROTOCOL,
                                                SL_ACTION_DOMAIN_METADATA,
                                                SL_ACTION_CHECKPOINT_METADATA,
                                                SL_ACTION_SIDECAR};
    struct sl_buf json;
    bool comma = false;
    *out = NULL;
    sl_buf_init(&json, env);
    sl_buf_put_c(&json, "{\"type\":\"struct\",\"fields\":[");
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if ((layout->columns >> order[i] & 1U) == 0) {
            continue;
        }
        bool inner = false;
        put_name(&json, sl_shape_of(order[i])->name, &comma);
        sl_buf_put_c(&json, "{\"type\":\"struct\",\"fields\":[");
        put_members(&json, layout, sl_shape_of(order[i]), false, &inner);
        if (order[i] == SL_ACTION_ADD && layout->partition != NULL) {
            put_name(&json, "partitionValues_parsed", &inner);
            put_partition(&json, layout->partition);
            sl_buf_put_char(&json, '}');
        }
        if (order[i] == SL_ACTION_ADD && layout->stats_struct) {
            put_name(&json, "stats_parsed", &inner);
            sl_stats_parsed_put_type(&json, layout->stats, true);
            sl_buf_put_char(&json, '}');
        }
        sl_buf_put_c(&json, "]}}");
    }
    sl_buf_put_c(&json, "]}");
    return parse(env, &json, out, err);
}

silt_status sl_checkpoint_raw_schema(const silt_env *env, const struct sl_checkpoint_layout *layout,
                                     enum sl_raw_parsed parsed, silt_schema **out, silt_error *err)
{
    struct sl_checkpoint_layout raw = *layout;
    struct sl_buf json;
    bool comma = false;
    *out = NULL;
    raw.stats_json = true;
    sl_buf_init(&json, env);
    sl_buf_put_c(&json, "{\"type\":\"struct\",\"fields\":[{\"name\":\"add\",\"nullable\":true,\"metadata\":{},\"type\":"
                        "{\"type\":\"struct\",\"fields\":[");
    put_members(&json, &raw, sl_shape_of(SL_ACTION_ADD), true, &comma);
    if (parsed != SL_RAW_TEXT) {
        put_name(&json, "stats_parsed", &comma);
        sl_stats_parsed_put_type(&json, layout->stats, parsed == SL_RAW_PARSED);
        sl_buf_put_char(&json, '}');
    }
    sl_buf_put_c(&json, "]}}]}");
    return parse(env, &json, out, err);
}

/* ---- columns of the table ---- */

static bool is_partition(const struct sl_metadata *metadata, struct sl_str name)
{
    for (size_t i = 0; i < metadata->partition_columns.n; i++) {
        if (sl_str_eq_nocase(metadata->partition_columns.items[i], name)) {
            return true;
        }
    }
    return false;
}

/* The type without the leaves that are not selected; *at counts leaves. NULL: nothing is left. */
static silt_status prune(struct sl_arena *arena, const struct silt_type *type, const bool *selected, size_t *at,
                         const struct silt_type **out, silt_error *err)
{
    *out = NULL;
    if (type->kind != SILT_TYPE_STRUCT) {
        *out = selected[(*at)++] ? type : NULL;
        return SILT_OK;
    }
    struct silt_type *pruned = sl_arena_alloc_zero(arena, sizeof(*pruned));
    struct silt_field *fields = sl_arena_alloc_array(arena, type->n_fields + 1, sizeof(*fields));
    if (pruned == NULL || fields == NULL) {
        return sl_fail_nomem(err);
    }
    *pruned = *type;
    pruned->fields = fields;
    pruned->n_fields = 0;
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct silt_type *inner = NULL;
        SL_TRY(prune(arena, type->fields[i].type, selected, at, &inner, err)); /* as deep as a schema is */
        if (inner != NULL) {
            fields[pruned->n_fields] = type->fields[i];
            fields[pruned->n_fields++].type = inner;
        }
    }
    *out = pruned->n_fields > 0 ? pruned : NULL;
    return SILT_OK;
}

struct data_columns {
    silt_schema *logical, *physical; /* without the partition columns */
};

static silt_status split_data(const struct sl_metadata *metadata, const silt_schema *logical,
                              const silt_schema *physical, struct sl_arena *arena, struct data_columns *out,
                              silt_error *err)
{
    size_t *columns = sl_arena_alloc_array(arena, logical->root.n_fields + 1, sizeof(*columns));
    size_t n = 0;
    if (columns == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < logical->root.n_fields; i++) {
        if (!is_partition(metadata, logical->root.fields[i].name)) {
            columns[n++] = i;
        }
    }
    SL_TRY(sl_schema_project(logical, columns, n, &out->logical, err));
    return sl_schema_project(physical, columns, n, &out->physical, err);
}

silt_status sl_checkpoint_stats_columns(const silt_env *env, const struct sl_metadata *metadata,
                                        const silt_schema *logical, const silt_schema *physical, silt_schema **out,
                                        silt_error *err)
{
    struct data_columns data = {0};
    struct sl_arena arena;
    bool *selected = NULL;
    size_t n = 0;
    size_t at = 0;
    const struct silt_type *left = NULL;
    *out = NULL;
    sl_arena_init(&arena, env);
    silt_status status = split_data(metadata, logical, physical, &arena, &data, err);
    if (status == SILT_OK) {
        status = sl_stats_columns(&metadata->configuration, data.logical, &arena, &selected, &n, err);
    }
    if (status == SILT_OK) {
        status = prune(&arena, &data.physical->root, selected, &at, &left, err);
    }
    if (status == SILT_OK) {
        /* Without any column there still is the number of rows. */
        status = sl_schema_from_fields(env, left != NULL ? left->fields : NULL, left != NULL ? left->n_fields : 0, out,
                                       err);
    }
    silt_schema_unref(data.logical);
    silt_schema_unref(data.physical);
    sl_arena_release(&arena);
    return status;
}

silt_status sl_checkpoint_partition_columns(const silt_env *env, const struct sl_metadata *metadata,
                                            const silt_schema *logical, const silt_schema *physical, silt_schema **out,
                                            silt_error *err)
{
    const size_t n = metadata->partition_columns.n;
    struct sl_arena arena;
    silt_status status = SILT_OK;
    *out = NULL;
    if (n == 0) {
        return SILT_OK;
    }
    sl_arena_init(&arena, env);
    size_t *columns = sl_arena_alloc_array(&arena, n, sizeof(*columns));
    if (columns == NULL) {
        status = sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        const struct sl_str name = metadata->partition_columns.items[i];
        if (sl_type_find(&logical->root, name, &columns[i]) == NULL) {
            status = sl_fail(err, SILT_ECORRUPT, NULL, "partition column %.*s is not in the schema", SL_FMT(name));
        }
    }
    if (status == SILT_OK) {
        status = sl_schema_project(physical, columns, n, out, err);
    }
    sl_arena_release(&arena);
    return status;
}
