/*
 * Typed statistics as text; see stats_parsed.h. Called for the rows of checkpoints that have no add.stats.
 */
#include "kernel/action/stats_parsed.h"

#include <string.h>

#include "base/arrow.h"
#include "base/error.h"
#include "json/writer.h"
#include "schema/value.h"

/* Of structs in structs; schemas are parsed with a limit of their own. */
#define MAX_DEPTH 100

/* ---- the type ---- */

static bool has_bounds(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_BOOLEAN:
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
    case SILT_TYPE_DECIMAL:
    case SILT_TYPE_STRING:
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return true;
    case SILT_TYPE_VOID:
    case SILT_TYPE_BINARY:
    case SILT_TYPE_VARIANT:
    case SILT_TYPE_STRUCT:
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: break;
    }
    return false;
}

/* Leaves below a type of which the section says something. */
static bool has_leaves(const struct silt_type *type, bool counts)
{
    if (type->kind != SILT_TYPE_STRUCT) {
        return counts || has_bounds(type->kind);
    }
    for (size_t i = 0; i < type->n_fields; i++) {
        if (has_leaves(type->fields[i].type, counts)) {
            return true;
        }
    }
    return false;
}

static void put_key(struct sl_buf *out, struct sl_str name, bool *comma)
{
    struct sl_json_writer w;
    sl_buf_put_c(out, *comma ? ",{\"name\":" : "{\"name\":");
    sl_json_writer_init(&w, out);
    sl_json_put_str(&w, name);
    sl_buf_put_c(out, ",\"nullable\":true,\"metadata\":{},\"type\":");
    *comma = true;
}

static void put_section(struct sl_buf *out, const struct silt_type *type, bool counts)
{
    if (type->kind != SILT_TYPE_STRUCT) {
        if (counts) {
            sl_buf_put_c(out, "\"long\"");
        } else {
            sl_type_print_json(out, type);
        }
        return;
    }
    bool comma = false;
    sl_buf_put_c(out, "{\"type\":\"struct\",\"fields\":[");
    for (size_t i = 0; i < type->n_fields; i++) {
        if (has_leaves(type->fields[i].type, counts)) {
            put_key(out, type->fields[i].name, &comma);
            put_section(out, type->fields[i].type, counts);
            sl_buf_put_char(out, '}');
        }
    }
    sl_buf_put_c(out, "]}");
}

void sl_stats_parsed_put_type(struct sl_buf *out, const silt_schema *data, bool bounds)
{
    static const char *const sections[] = {"minValues", "maxValues", "nullCount"};
    bool comma = false;
    sl_buf_put_c(out, "{\"type\":\"struct\",\"fields\":[");
    put_key(out, SL_STR("numRecords"), &comma);
    sl_buf_put_c(out, "\"long\"}");
    put_key(out, SL_STR("tightBounds"), &comma);
    sl_buf_put_c(out, "\"boolean\"}");
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const bool counts = i == 2;
        if ((counts || bounds) && has_leaves(&data->root, counts)) {
            put_key(out, sl_str_from(sections[i]), &comma);
            put_section(out, &data->root, counts);
            sl_buf_put_char(out, '}');
        }
    }
    sl_buf_put_c(out, "]}");
}

/* ---- the text ---- */

static bool is_struct(const struct ArrowSchema *schema)
{
    return schema->format != NULL && strcmp(schema->format, "+s") == 0;
}

static bool fits(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row)
{
    return schema->n_children == array->n_children && row >= 0 && row < array->length && array->offset >= 0 &&
           schema->name != NULL;
}

/* The members of a row's struct that are not null. false: not well-formed. */
static bool write_object(struct sl_json_writer *w, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t row, unsigned depth)
{
    if (depth > MAX_DEPTH) {
        return false;
    }
    sl_json_begin_object(w);
    for (int64_t c = 0; c < array->n_children; c++) {
        const struct ArrowSchema *child_schema = schema->children[c];
        const struct ArrowArray *child = array->children[c];
        const int64_t child_row = row + array->offset;
        if (!fits(child_schema, child, child_row)) {
            return false;
        }
        if (sl_arrow_is_null(child, child_row)) {
            continue;
        }
        silt_value value;
        const struct sl_str name = sl_str_from(child_schema->name);
        const struct sl_json_writer before = *w;
        const size_t len = w->out->len;
        if (is_struct(child_schema)) {
            sl_json_key(w, name);
            const size_t empty = w->out->len + 2;
            if (!write_object(w, child_schema, child, child_row, depth + 1)) {
                return false;
            }
            if (w->out->len == empty) {
                *w = before; /* a struct of nulls says nothing, and may stand for a null */
                w->out->len = len;
            }
        } else if (!sl_value_from_arrow(child_schema, child, child_row, &value) || value.is_null) {
            continue;
        } else if (value.kind == SILT_TYPE_BOOLEAN) {
            sl_json_key(w, name);
            sl_json_put_bool(w, value.as.boolean);
        } else {
            sl_json_key(w, name);
            if (!sl_stats_value_write(w, &value)) {
                *w = before; /* what has no text is not known */
                w->out->len = len;
            }
        }
    }
    sl_json_end_object(w);
    return true;
}

silt_status sl_stats_parsed_write(struct sl_buf *out, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  int64_t row, silt_error *err)
{
    struct sl_json_writer w;
    bool ok = is_struct(schema) && fits(schema, array, row);
    if (ok && sl_arrow_is_null(array, row)) {
        return SILT_OK;
    }
    sl_json_writer_init(&w, out);
    const size_t len = out->len;
    ok = ok && write_object(&w, schema, array, row, 0);
    if (!ok) {
        return sl_fail(err, SILT_EENGINE, NULL,
                       "checkpoint column add.stats_parsed came as an arrow array that is not well-formed");
    }
    if (out->len == len + 2) {
        out->len = len; /* a struct of nulls */
    }
    return sl_buf_status(out, err);
}
