/*
 * Which leaf columns get statistics: those that delta.dataSkippingStatsColumns names, else the first
 * delta.dataSkippingNumIndexedCols leaves. Called by writes and by property checks; pure, any thread.
 * PROTOCOL.md "Per-file Statistics", "Table Properties".
 */
#include "kernel/feature/feature.h"

#include "base/error.h"
#include "kernel/feature/column_list.h"

/* Selects the leaves under a path; a name that is not there selects none, as in Spark. */
void sl_stats_columns_select(const silt_schema *schema, const struct sl_str *path, size_t path_len, bool *selected)
{
    const struct silt_type *type = &schema->root;
    size_t first = 0;
    for (size_t level = 0; level < path_len; level++) {
        if (type->kind != SILT_TYPE_STRUCT) {
            return;
        }
        size_t i = 0;
        while (i < type->n_fields && !sl_str_eq_nocase(type->fields[i].name, path[level])) {
            first += sl_type_leaf_count(type->fields[i].type);
            i++;
        }
        if (i == type->n_fields) {
            return;
        }
        type = type->fields[i].type;
    }
    const size_t n = sl_type_leaf_count(type);
    for (size_t i = 0; i < n; i++) {
        selected[first + i] = true;
    }
}

silt_status sl_stats_columns(const struct sl_kv_list *config, const silt_schema *data_schema, struct sl_arena *arena,
                             bool **selected, size_t *n, silt_error *err)
{
    *selected = NULL;
    *n = 0;
    const size_t leaves = sl_schema_leaf_count(data_schema);
    bool *flags = sl_arena_alloc_array(arena, leaves + 1, sizeof(*flags));
    if (flags == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_str text = sl_property_text(config, "delta.dataSkippingStatsColumns");
    if (text.ptr != NULL && sl_column_list_valid(text)) {
        struct sl_column_list list = {.text = text};
        bool more = true;
        while (more && sl_column_list_next(&list, &more)) {
            sl_stats_columns_select(data_schema, list.parts, list.n_parts, flags);
        }
    } else {
        const int64_t limit = sl_property_int(config, "delta.dataSkippingNumIndexedCols");
        for (size_t i = 0; i < leaves && (limit < 0 || (int64_t)i < limit); i++) {
            flags[i] = true;
        }
    }
    *selected = flags;
    *n = leaves;
    return SILT_OK;
}
