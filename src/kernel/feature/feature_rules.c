/*
 * What features ask of a table's metadata beyond being listed: properties that exclude each other, and what Iceberg compatibility
 * demands of schema, mapping and other features. A writer must not leave a table that breaks them, nor add to one. Called by the gate;
 * pure, any thread. PROTOCOL.md "Writer Requirements for IcebergCompatV1", "… IcebergCompatV2", "Row Tracking".
 */
#include "kernel/feature/feature_int.h"

#include "base/error.h"

#define COMPAT_V1 "delta.enableIcebergCompatV1"
#define COMPAT_V2 "delta.enableIcebergCompatV2"
#define COMPAT_V3 "delta.enableIcebergCompatV3"

struct compat {
    int version;
    const struct sl_protocol *protocol;
    const struct sl_kv_list *config;
    const silt_schema *schema;
    silt_error *err;
};

static silt_status fail_compat(const struct compat *c, const char *class, const char *why)
{
    char name[96] = "DELTA_ICEBERG_COMPAT_VIOLATION.";
    const size_t start = strlen(name);
    for (size_t i = 0; class[i] != '\0' && start + i + 1 < sizeof(name); i++) {
        name[start + i] = class[i];
        name[start + i + 1] = '\0';
    }
    return sl_fail(c->err, SILT_EUNSUPPORTED, name, "icebergCompatV%d is enabled: %s", c->version, why);
}

/* ---- types ---- */

static silt_status check_type(const struct compat *c, const struct silt_type *type, struct sl_str column);

static silt_status check_field(const struct compat *c, const struct silt_field *field)
{
    if (sl_field_meta_text(field, SL_STR("delta.typeChanges")).ptr != NULL) {
        return sl_fail(c->err, SILT_EUNSUPPORTED, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING",
                       "icebergCompatV%d is enabled: silt does not write where the type of a column was widened (%.*s)",
                       c->version, SL_FMT(field->name));
    }
    const bool holds_parts = field->type->kind == SILT_TYPE_ARRAY || field->type->kind == SILT_TYPE_MAP;
    if (c->version == 2 && holds_parts &&
        sl_field_meta_text(field, SL_STR("delta.columnMapping.nested.ids")).ptr == NULL) {
        return sl_fail(c->err, SILT_EUNSUPPORTED, "DELTA_ICEBERG_COMPAT_VIOLATION.FILES_NOT_ICEBERG_COMPAT",
                       "icebergCompatV2 is enabled: elements, keys and values of column %.*s have no ids "
                       "(delta.columnMapping.nested.ids)",
                       SL_FMT(field->name));
    }
    return check_type(c, field->type, field->name);
}

static bool type_is_allowed(const struct compat *c, silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_VOID:
    case SILT_TYPE_VARIANT: return false;
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: return c->version != 1;
    default: return true;
    }
}

/* The depth of a schema is bounded when it is made, and with it this recursion. */
static silt_status check_type(const struct compat *c, const struct silt_type *type, struct sl_str column)
{
    if (!type_is_allowed(c, type->kind)) {
        return sl_fail(c->err, SILT_EUNSUPPORTED, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE",
                       "icebergCompatV%d is enabled: it does not support type %s of column %.*s", c->version,
                       sl_type_kind_name(type->kind), SL_FMT(column));
    }
    switch (type->kind) {
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < type->n_fields; i++) {
            SL_TRY(check_field(c, &type->fields[i]));
        }
        return SILT_OK;
    case SILT_TYPE_MAP: SL_TRY(check_type(c, type->key, column)); return check_type(c, type->element, column);
    case SILT_TYPE_ARRAY: return check_type(c, type->element, column);
    default: return SILT_OK;
    }
}

/* ---- the rest ---- */

static silt_status check_compat(const struct compat *c)
{
    const bool vectors = sl_protocol_has_feature(c->protocol, "deletionVectors") &&
                         (c->version == 1 || sl_property_bool(c->config, "delta.enableDeletionVectors"));
    if (sl_str_eq_c(sl_property_text(c->config, "delta.columnMapping.mode"), "none")) {
        return fail_compat(c, "WRONG_REQUIRED_TABLE_PROPERTY",
                           "table property delta.columnMapping.mode must be name or id");
    }
    if (vectors) {
        return fail_compat(c, "DELETION_VECTORS_SHOULD_BE_DISABLED",
                           c->version == 1 ? "the table must not support deletion vectors"
                                           : "table property delta.enableDeletionVectors must not be true");
    }
    return check_type(c, &c->schema->root, SL_STR(""));
}

silt_status sl_feature_check_rules(const struct sl_protocol *protocol, const struct sl_kv_list *config,
                                   const silt_schema *schema, silt_error *err)
{
    if (sl_property_bool(config, "delta.enableRowTracking") && sl_property_bool(config, "delta.rowTrackingSuspended")) {
        return sl_fail(err, SILT_EINVALID, "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION",
                       "table properties delta.enableRowTracking and delta.rowTrackingSuspended cannot both be true");
    }
    const bool enabled[] = {sl_property_bool(config, COMPAT_V1), sl_property_bool(config, COMPAT_V2),
                            sl_property_bool(config, COMPAT_V3)};
    struct compat c = {.protocol = protocol, .config = config, .schema = schema, .err = err};
    int n = 0;
    for (int i = 0; i < 3; i++) {
        c.version = enabled[i] ? i + 1 : c.version;
        n += enabled[i] ? 1 : 0;
    }
    if (n > 1) {
        return fail_compat(&c, "VERSION_MUTUAL_EXCLUSIVE", "only one of its versions can be");
    }
    return n == 0 ? SILT_OK : check_compat(&c);
}
