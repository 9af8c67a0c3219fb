/*
 * Columns of type void at the Arrow boundary. DuckDB makes a column of no type an INTEGER as soon as it leaves a query; the table's schema says
 * void, which is Arrow's null. The arrays are turned in place: one of the null type has no buffers, and its release is still its maker's.
 */
#include "duck.h"

/* The type behind child i of an Arrow array of a nested type; NULL: it is as it should be. */
static const struct silt_type *child_type(const struct silt_type *type, size_t i)
{
    switch (type->kind) {
    case SILT_TYPE_STRUCT: return i < type->n_fields ? type->fields[i].type : NULL;
    case SILT_TYPE_ARRAY: return i == 0 ? type->element : NULL;
    default: return NULL;
    }
}

void sl_duck_void_schema(const struct silt_type *type, struct ArrowSchema *schema)
{
    if (type->kind == SILT_TYPE_VOID) {
        schema->format = "n";
    } else if (type->kind == SILT_TYPE_MAP && schema->n_children == 1 && schema->children[0]->n_children == 2) {
        sl_duck_void_schema(type->key, schema->children[0]->children[0]);
        sl_duck_void_schema(type->element, schema->children[0]->children[1]);
    } else {
        for (int64_t i = 0; i < schema->n_children; i++) {
            const struct silt_type *child = child_type(type, (size_t)i);
            if (child != NULL) {
                sl_duck_void_schema(child, schema->children[i]);
            }
        }
    }
}

void sl_duck_void_array(const struct silt_type *type, struct ArrowArray *array)
{
    if (type->kind == SILT_TYPE_VOID) {
        array->n_buffers = 0;
        array->null_count = array->length;
    } else if (type->kind == SILT_TYPE_MAP && array->n_children == 1 && array->children[0]->n_children == 2) {
        sl_duck_void_array(type->key, array->children[0]->children[0]);
        sl_duck_void_array(type->element, array->children[0]->children[1]);
    } else {
        for (int64_t i = 0; i < array->n_children; i++) {
            const struct silt_type *child = child_type(type, (size_t)i);
            if (child != NULL) {
                sl_duck_void_array(child, array->children[i]);
            }
        }
    }
}
