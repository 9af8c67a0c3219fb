/*
 * Can the rows of every version of a range be told under the columns of its last version? Columns are the same when their physical names
 * are. One that the last version has not any more is left out, one that an earlier version had not yet is null, a type that was widened
 * since is read as the wider one; any other change of type, and another partitioning, is refused with its version. (Delta Spark refuses
 * renamed and dropped columns as well.) Pure; any thread.
 */
#include <inttypes.h>

#include "base/error.h"
#include "kernel/changes/changes_int.h"
#include "kernel/feature/feature.h"
#include "schema/type_change.h"

struct check {
    const struct sl_changes_rule *rule;
    int64_t version;
    silt_error *err;
};

static silt_status refuse(const struct check *check, const char *what, struct sl_str column)
{
    const silt_status status = sl_fail(
        check->err, SILT_ESCHEMA, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE",
        "changes of versions %" PRId64 " to %" PRId64
        " cannot be told under one schema: %s of column %.*s in version %" PRId64 " is not that of version %" PRId64,
        check->rule->from, check->rule->to, what, SL_FMT(column), check->version, check->rule->to);
    sl_error_hint(check->err, "read the versions before and after version %" PRId64 " apart", check->version);
    sl_error_version(check->err, check->version);
    return status;
}

static bool reads_as(const struct silt_type *from, const struct silt_type *to);

/* Names of files are found as readers find them: exactly, else ignoring case. */
static const struct silt_field *find_field(const struct silt_type *type, struct sl_str name)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        if (sl_str_eq(type->fields[i].name, name)) {
            return &type->fields[i];
        }
    }
    return sl_type_find(type, name, NULL);
}

static bool struct_reads_as(const struct silt_type *from, const struct silt_type *to)
{
    for (size_t i = 0; i < from->n_fields; i++) {
        const struct silt_field *field = find_field(to, from->fields[i].name);
        if (field != NULL && !reads_as(from->fields[i].type, field->type)) {
            return false;
        }
    }
    return true;
}

/* Depth is bounded: schemas of more than SL_SCHEMA_MAX_DEPTH are refused when they are parsed. */
static bool reads_as(const struct silt_type *from, const struct silt_type *to)
{
    if (from->kind != to->kind) {
        return !sl_type_is_nested(from) && !sl_type_is_nested(to) && sl_type_widens(from, to);
    }
    switch (to->kind) {
    case SILT_TYPE_STRUCT: return struct_reads_as(from, to);
    case SILT_TYPE_ARRAY: return reads_as(from->element, to->element);
    case SILT_TYPE_MAP: return reads_as(from->key, to->key) && reads_as(from->element, to->element);
    default: return sl_type_equal(from, to, false) || sl_type_widens(from, to);
    }
}

static enum sl_mapping_mode mode_of(const struct sl_metadata *metadata)
{
    enum sl_mapping_mode mode = SL_MAPPING_NONE;
    const struct sl_str text = sl_kv_get(&metadata->configuration, SL_STR("delta.columnMapping.mode"), NULL);
    return sl_mapping_mode_parse(text, &mode) ? mode : SL_MAPPING_NONE;
}

/* Physical name of the i-th partition column; absent if it is not in the schema. */
static struct sl_str partition_name(const silt_schema *logical, const silt_schema *physical,
                                    const struct sl_metadata *metadata, size_t i)
{
    size_t index = 0;
    return sl_type_find(&logical->root, metadata->partition_columns.items[i], &index) != NULL
               ? physical->root.fields[index].name
               : (struct sl_str){NULL, 0};
}

static bool is_partition(const silt_schema *logical, const silt_schema *physical, const struct sl_metadata *metadata,
                         struct sl_str name)
{
    for (size_t i = 0; i < metadata->partition_columns.n; i++) {
        if (sl_str_eq(partition_name(logical, physical, metadata, i), name)) {
            return true;
        }
    }
    return false;
}

static silt_status check_columns(const struct check *check, const silt_schema *logical, const silt_schema *physical,
                                 const struct sl_metadata *metadata)
{
    const struct sl_changes_rule *rule = check->rule;
    for (size_t i = 0; i < rule->physical->root.n_fields; i++) {
        const struct silt_field *to = &rule->physical->root.fields[i];
        const struct silt_field *from = find_field(&physical->root, to->name);
        if (from != NULL && !reads_as(from->type, to->type)) {
            return refuse(check, "the type", rule->logical->root.fields[i].name);
        }
        /* Values of partition columns are not in the files, so the rows of one side would lose them. */
        if (is_partition(rule->logical, rule->physical, rule->last, to->name) !=
                is_partition(logical, physical, metadata, to->name) &&
            from != NULL) {
            return refuse(check, "the partitioning", rule->logical->root.fields[i].name);
        }
    }
    return SILT_OK;
}

static silt_status not_recorded(const struct check *check)
{
    const silt_status status = sl_fail(check->err, SILT_EUNSUPPORTED, "DELTA_MISSING_CHANGE_DATA",
                                       "changes of versions %" PRId64 " to %" PRId64
                                       " are not there: change data was not recorded in version %" PRId64,
                                       check->rule->from, check->rule->to, check->version);
    sl_error_hint(check->err, "it is recorded while the table property delta.enableChangeDataFeed is true");
    sl_error_version(check->err, check->version);
    return status;
}

silt_status sl_changes_check_metadata(const struct sl_changes_rule *rule, const struct sl_metadata *metadata,
                                      int64_t version, silt_error *err)
{
    const struct check check = {rule, version, err};
    if (!sl_property_bool(&metadata->configuration, "delta.enableChangeDataFeed")) {
        return not_recorded(&check);
    }
    silt_schema *logical = NULL;
    silt_schema *physical = NULL;
    const struct sl_str json = metadata->schema_string;
    silt_status status = json.ptr == NULL ? sl_fail(err, SILT_ECORRUPT, NULL, "metaData lacks schemaString")
                                          : silt_schema_from_json(rule->env, json.ptr, json.len, &logical, err);
    if (status == SILT_OK) {
        status = sl_schema_physical(logical, mode_of(metadata), &physical, err);
    }
    if (status != SILT_OK) {
        sl_error_context(err, "schema of version %" PRId64, version);
        sl_error_version(err, version);
    } else {
        status = check_columns(&check, logical, physical, metadata);
    }
    silt_schema_unref(physical);
    silt_schema_unref(logical);
    return status;
}
