/*
 * What planning reads of a checkpoint to decide about its files: partition values if the filter names any, and statistics of the
 * filter's columns only, as text or typed (PROTOCOL.md "Checkpoint Schema", "Per-file Statistics"). Pure.
 */
#include "kernel/scan/plan_judge.h"

#include "base/error.h"
#include "json/writer.h"
#include "kernel/action/stats_parsed.h"

#define STRUCT_BEGIN "{\"type\":\"struct\",\"fields\":["
#define MEMBER_TAIL ",\"nullable\":true,\"metadata\":{}}"

/* A way down the schema. */
struct way {
    struct sl_str names[SL_SCHEMA_MAX_DEPTH];
    size_t n;
};

static bool leads_to_column(const struct sl_scan_filter *filter, const struct way *way)
{
    for (size_t i = 0; i < filter->n_columns; i++) {
        const struct sl_skip_column *column = &filter->columns[i];
        if (column->path_len >= way->n && sl_path_equal(column->physical_path, way->n, way->names, way->n)) {
            return true;
        }
    }
    return false;
}

/* The fields of a struct that columns of the filter are, or lie in; their types in full where they are leaves. */
static void put_fields(struct sl_buf *out, const struct sl_scan_filter *filter, const struct silt_type *type,
                       struct way *way)
{
    bool comma = false;
    sl_buf_put_c(out, STRUCT_BEGIN);
    for (size_t i = 0; i < type->n_fields && way->n < SL_SCHEMA_MAX_DEPTH; i++) {
        const struct silt_field *field = &type->fields[i];
        way->names[way->n++] = field->name;
        if (leads_to_column(filter, way)) {
            struct sl_json_writer w;
            sl_buf_put_c(out, comma ? ",{\"name\":" : "{\"name\":");
            sl_json_writer_init(&w, out);
            sl_json_put_str(&w, field->name);
            sl_buf_put_c(out, ",\"type\":");
            if (field->type->kind == SILT_TYPE_STRUCT) {
                put_fields(out, filter, field->type, way);
            } else {
                sl_type_print_json(out, field->type);
            }
            sl_buf_put_c(out, MEMBER_TAIL);
            comma = true;
        }
        way->n--;
    }
    sl_buf_put_c(out, "]}");
}

/* A schema of the filter's columns alone, in the shape of the table's. */
static silt_status pick_columns(const struct sl_scan_filter *filter, const silt_schema *physical, struct sl_buf *space,
                                silt_schema **out, silt_error *err)
{
    struct way way = {.n = 0};
    put_fields(space, filter, &physical->root, &way);
    SL_TRY(sl_buf_status(space, err));
    return silt_schema_from_json(space->env, space->data, space->len, out, err);
}

static silt_status put_typed(struct sl_buf *out, const struct sl_scan_filter *filter, enum sl_plan_form form,
                             const silt_schema *physical, silt_error *err)
{
    struct sl_buf space;
    silt_schema *columns = NULL;
    sl_buf_init(&space, out->env);
    const silt_status status = pick_columns(filter, physical, &space, &columns, err);
    if (status == SILT_OK) {
        sl_buf_put_c(out, "{\"name\":\"stats_parsed\",\"type\":");
        sl_stats_parsed_put_type(out, columns, form == SL_PLAN_TYPED);
        sl_buf_put_c(out, MEMBER_TAIL);
    }
    silt_schema_unref(columns);
    sl_buf_release(&space);
    return status;
}

static bool names_partition(const struct sl_scan_filter *filter)
{
    bool found = false;
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        found = found || filter->conjuncts[i].uses_partition;
    }
    return found;
}

silt_status sl_plan_judge_schema(const struct sl_scan_filter *filter, enum sl_plan_form form,
                                 const silt_schema *physical, silt_schema **out, silt_error *err)
{
    *out = NULL;
    const bool by_partition = names_partition(filter);
    if (!by_partition && form == SL_PLAN_NO_STATS) {
        return SILT_OK;
    }
    struct sl_buf json;
    silt_status status = SILT_OK;
    sl_buf_init(&json, physical->env);
    sl_buf_put_c(&json, STRUCT_BEGIN "{\"name\":\"add\",\"type\":" STRUCT_BEGIN);
    if (by_partition) {
        sl_buf_put_c(&json,
                     "{\"name\":\"partitionValues\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":"
                     "\"string\",\"valueContainsNull\":true}" MEMBER_TAIL);
        sl_buf_put_c(&json, form != SL_PLAN_NO_STATS ? "," : "");
    }
    if (form == SL_PLAN_TEXT) {
        sl_buf_put_c(&json, "{\"name\":\"stats\",\"type\":\"string\"" MEMBER_TAIL);
    } else if (form != SL_PLAN_NO_STATS) {
        status = put_typed(&json, filter, form, physical, err);
    }
    sl_buf_put_c(&json, "]}" MEMBER_TAIL "]}");
    if (status == SILT_OK) {
        status = sl_buf_status(&json, err);
    }
    if (status == SILT_OK) {
        status = silt_schema_from_json(json.env, json.data, json.len, out, err);
    }
    sl_buf_release(&json);
    return status;
}
