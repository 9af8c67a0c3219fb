/*
 * Which node of a file a wanted field is. By name as Spark has it: exactly, else ignoring case. By field id (column mapping in id
 * mode) the name counts for nothing, so that a column that was dropped and added again under its name is another column.
 * Pure; any thread. PROTOCOL: Reader Requirements for Column Mapping.
 */
#include "duck_footer.h"

int64_t sl_footer_wanted_id(const struct silt_field *field)
{
    int64_t id = -1;
    const struct sl_str text = sl_field_meta_text(field, SL_STR("parquet.field.id"));
    return text.ptr != NULL && sl_str_to_i64(text, &id) && id >= 0 ? id : -1;
}

const struct sl_footer_node *sl_footer_find(const struct sl_footer_node *group, const struct silt_field *field,
                                            bool by_id)
{
    const int64_t id = by_id ? sl_footer_wanted_id(field) : -1;
    const struct sl_footer_node *nearest = NULL;
    const struct sl_footer_node *child = group + 1;
    for (uint32_t i = 0; i < group->n_children; i++, child += child->n_nodes) {
        if (id >= 0 ? child->field_id == id : sl_str_eq(child->name, field->name)) {
            return child;
        }
        if (id < 0 && nearest == NULL && sl_str_eq_nocase(child->name, field->name)) {
            nearest = child;
        }
    }
    return nearest;
}
