/*
 * What a change of a table's metadata must obey, and a table that breaks it already may be written to all the same: columns of change data,
 * and the columns that delta.dataSkippingStatsColumns names. As Delta Spark judges them, which is not to leave tables that it refuses to
 * change. Called by transactions; pure, any thread. PROTOCOL.md "Writer Requirements for AddCDCFile", "Per-file Statistics".
 */
#include "kernel/feature/feature.h"

#include "base/error.h"
#include "kernel/feature/column_list.h"

#define CHANGE_DATA "delta.enableChangeDataFeed"
#define STATS_COLUMNS "delta.dataSkippingStatsColumns"

/* ---- change data ---- */

/* Whatever the case: columns that differ in case only cannot be told from each other where changes are read. */
static const struct silt_field *find_reserved(const silt_schema *schema)
{
    static const char *const reserved[] = {"_change_type", "_commit_version", "_commit_timestamp"};
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        const struct silt_field *field = sl_type_find(&schema->root, sl_str_from(reserved[i]), NULL);
        if (field != NULL) {
            return field;
        }
    }
    return NULL;
}

static silt_status check_change_columns(const struct sl_kv_list *before, const struct sl_kv_list *after,
                                        const silt_schema *schema, silt_error *err)
{
    const struct silt_field *field = sl_property_bool(after, CHANGE_DATA) ? find_reserved(schema) : NULL;
    if (field == NULL) {
        return SILT_OK;
    }
    if (before != NULL && sl_property_bool(before, CHANGE_DATA)) {
        return sl_fail(err, SILT_ESCHEMA, "RESERVED_CDC_COLUMNS_ON_WRITE",
                       "a table with " CHANGE_DATA " cannot have a column %.*s: change data has one of that name",
                       SL_FMT(field->name));
    }
    return sl_fail(err, SILT_ESCHEMA, "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
                   CHANGE_DATA
                   " cannot be set to true with a column %.*s in the table: change data has one of that name",
                   SL_FMT(field->name));
}

/* ---- columns of statistics ---- */

struct stats_check {
    const struct sl_metadata *metadata;
    const silt_schema *schema;
    const struct sl_column_list *list;
    struct sl_str name; /* of the column in hand, as it stands in the list */
    bool *taken;        /* leaves that the columns before it have */
    bool *own;
    silt_error *err;
};

static bool is_partition_column(const struct stats_check *c, struct sl_str name)
{
    for (size_t i = 0; i < c->metadata->partition_columns.n; i++) {
        if (sl_str_eq_nocase(c->metadata->partition_columns.items[i], name)) {
            return true;
        }
    }
    return false;
}

static bool may_be_skipped_by(const struct silt_type *type)
{
    switch (type->kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
    case SILT_TYPE_DECIMAL:
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ:
    case SILT_TYPE_STRING:
    case SILT_TYPE_VARIANT:
    case SILT_TYPE_STRUCT: return true; /* of a struct, what can be */
    default: return false;
    }
}

/* The part of an array or a map by the name that it has in paths; NULL: no such part. */
static const struct silt_type *inner_type(const struct silt_type *type, struct sl_str part)
{
    if (type->kind == SILT_TYPE_ARRAY && sl_str_eq_c(part, "element")) {
        return type->element;
    }
    if (type->kind == SILT_TYPE_MAP && sl_str_eq_c(part, "key")) {
        return type->key;
    }
    return type->kind == SILT_TYPE_MAP && sl_str_eq_c(part, "value") ? type->element : NULL;
}

static silt_status check_path(const struct stats_check *c)
{
    const struct silt_type *type = &c->schema->root;
    bool within = false; /* an array or a map: Delta Spark lets that pass, and there are no statistics of it */
    for (size_t i = 0; i < c->list->n_parts; i++) {
        const struct silt_field *field = NULL;
        if (type->kind == SILT_TYPE_STRUCT) {
            field = sl_type_find(type, c->list->parts[i], NULL);
            type = field != NULL ? field->type : NULL;
        } else {
            type = inner_type(type, c->list->parts[i]);
            within = true;
        }
        if (type == NULL) {
            return sl_fail(c->err, SILT_EINVALID, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
                           STATS_COLUMNS " names %.*s, which is no column of the table", SL_FMT(c->name));
        }
    }
    if (within || c->list->n_parts > 1 || may_be_skipped_by(type)) {
        return SILT_OK;
    }
    return sl_fail(c->err, SILT_EINVALID, "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
                   STATS_COLUMNS " names %.*s, whose type %s has no statistics that files could be skipped by",
                   SL_FMT(c->name), sl_type_kind_name(type->kind));
}

static silt_status check_column(const struct stats_check *c, size_t n_leaves)
{
    if (c->list->n_parts == 1 && is_partition_column(c, c->list->parts[0])) {
        return sl_fail(c->err, SILT_EINVALID, "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
                       STATS_COLUMNS " names %.*s, by which the table is partitioned: it has no statistics",
                       SL_FMT(c->name));
    }
    SL_TRY(check_path(c));
    memset(c->own, 0, n_leaves * sizeof(*c->own));
    sl_stats_columns_select(c->schema, c->list->parts, c->list->n_parts, c->own);
    for (size_t i = 0; i < n_leaves; i++) {
        if (c->own[i] && c->taken[i]) {
            return sl_fail(c->err, SILT_EINVALID, "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
                           STATS_COLUMNS " names %.*s twice, or it and what it is a part of", SL_FMT(c->name));
        }
        c->taken[i] = c->taken[i] || c->own[i];
    }
    return SILT_OK;
}

static silt_status check_stats_columns(struct sl_arena *arena, const struct sl_metadata *metadata,
                                       const silt_schema *schema, silt_error *err)
{
    const struct sl_str text = sl_property_text(&metadata->configuration, STATS_COLUMNS);
    if (text.ptr == NULL || !sl_column_list_valid(text)) {
        return SILT_OK; /* one that is no list was refused when it was given; that of another writer means nothing */
    }
    const size_t n_leaves = sl_schema_leaf_count(schema);
    struct sl_column_list list = {.text = text};
    struct stats_check check = {.metadata = metadata,
                                .schema = schema,
                                .list = &list,
                                .taken = sl_arena_alloc_array(arena, n_leaves + 1, sizeof(bool)),
                                .own = sl_arena_alloc_array(arena, n_leaves + 1, sizeof(bool)),
                                .err = err};
    if (check.taken == NULL || check.own == NULL) {
        return sl_fail_nomem(err);
    }
    memset(check.taken, 0, n_leaves * sizeof(bool));
    bool more = true;
    while (more) {
        const size_t begin = list.pos;
        if (!sl_column_list_next(&list, &more)) {
            return SILT_OK; /* not so: the list is valid */
        }
        check.name = sl_str_trim(sl_str_sub(text, begin, more ? list.pos - 1 : list.pos));
        SL_TRY(check_column(&check, n_leaves));
    }
    return SILT_OK;
}

silt_status sl_metadata_check_change(struct sl_arena *arena, const struct sl_kv_list *before,
                                     const struct sl_metadata *after, const silt_schema *schema, silt_error *err)
{
    SL_TRY(check_change_columns(before, &after->configuration, schema, err));
    return check_stats_columns(arena, after, schema, err);
}
