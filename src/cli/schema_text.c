/*
 * Names of types; see schema_text.h. Depth is limited where schemas are read.
 */
#include "cli/schema_text.h"

#include "json/json.h"

static const char *kind_name(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_VOID: return "void";
    case SILT_TYPE_BOOLEAN: return "boolean";
    case SILT_TYPE_BYTE: return "tinyint";
    case SILT_TYPE_SHORT: return "smallint";
    case SILT_TYPE_INTEGER: return "int";
    case SILT_TYPE_LONG: return "bigint";
    case SILT_TYPE_FLOAT: return "float";
    case SILT_TYPE_DOUBLE: return "double";
    case SILT_TYPE_DECIMAL: return "decimal";
    case SILT_TYPE_STRING: return "string";
    case SILT_TYPE_BINARY: return "binary";
    case SILT_TYPE_DATE: return "date";
    case SILT_TYPE_TIMESTAMP: return "timestamp";
    case SILT_TYPE_TIMESTAMP_NTZ: return "timestamp_ntz";
    case SILT_TYPE_VARIANT: return "variant";
    case SILT_TYPE_STRUCT: return "struct";
    case SILT_TYPE_ARRAY: return "array";
    case SILT_TYPE_MAP: return "map";
    }
    return "?";
}

void sl_schema_put_type(struct sl_buf *out, const silt_type *type)
{
    const silt_type_kind kind = silt_type_get_kind(type);
    sl_buf_put_c(out, kind_name(kind));
    if (kind == SILT_TYPE_DECIMAL) {
        sl_buf_printf(out, "(%u,%u)", (unsigned)silt_type_precision(type), (unsigned)silt_type_scale(type));
    } else if (kind == SILT_TYPE_STRUCT) {
        for (size_t i = 0; i < silt_type_field_count(type); i++) {
            const silt_field *field = silt_type_field(type, i);
            sl_buf_printf(out, "%s%s:", i == 0 ? "<" : ",", silt_field_name(field));
            sl_schema_put_type(out, silt_field_type(field));
        }
        sl_buf_put_c(out, silt_type_field_count(type) == 0 ? "<>" : ">");
    } else if (kind == SILT_TYPE_ARRAY) {
        sl_buf_put_char(out, '<');
        sl_schema_put_type(out, silt_type_element(type));
        sl_buf_put_char(out, '>');
    } else if (kind == SILT_TYPE_MAP) {
        sl_buf_put_char(out, '<');
        sl_schema_put_type(out, silt_type_key(type));
        sl_buf_put_char(out, ',');
        sl_schema_put_type(out, silt_type_value(type));
        sl_buf_put_char(out, '>');
    }
}

bool sl_schema_has_fields(const silt_type *type)
{
    switch (silt_type_get_kind(type)) {
    case SILT_TYPE_STRUCT: return true;
    case SILT_TYPE_ARRAY: return sl_schema_has_fields(silt_type_element(type));
    case SILT_TYPE_MAP: return sl_schema_has_fields(silt_type_key(type)) || sl_schema_has_fields(silt_type_value(type));
    default: return false;
    }
}

void sl_schema_put_outline(struct sl_buf *out, const silt_type *type)
{
    if (sl_schema_has_fields(type)) {
        sl_buf_put_c(out, kind_name(silt_type_get_kind(type)));
    } else {
        sl_schema_put_type(out, type);
    }
}

struct sl_str sl_schema_comment(struct sl_arena *arena, const silt_env *env, const silt_field *field)
{
    const char *json = silt_field_metadata(field, "comment");
    struct sl_json_doc *doc = NULL;
    struct sl_str text = {0};
    struct sl_str copy = {0};

    if (json != NULL && sl_json_parse(env, sl_str_from(json), &doc, NULL) == SILT_OK &&
        sl_json_to_str(sl_json_root(doc), &text)) {
        copy = sl_arena_copy(arena, text);
    }
    sl_json_free(doc);
    return copy;
}
