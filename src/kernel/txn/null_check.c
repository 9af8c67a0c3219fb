/*
 * NOT NULL over Arrow arrays, before rows reach the data plane: only here are nested nulls told apart from nulls of their
 * parents. Called for each batch that is written; pure. PROTOCOL.md "Schema Serialization Format" (nullable).
 */
#include "kernel/txn/null_check.h"

#include "base/arrow.h"
#include "base/error.h"
#include "schema/value.h"

#define MAX_NAME 200

/* Path of what is being checked, for the message. */
struct path {
    const struct path *parent;
    struct sl_str name;
};

struct node {
    const struct silt_type *type;
    bool nullable;
    const struct ArrowSchema *arrow;
    const struct ArrowArray *array;
    struct path path;
};

static bool type_needs_check(const struct silt_type *type)
{
    switch (type->kind) {
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < type->n_fields; i++) {
            if (sl_null_check_needed(&type->fields[i])) {
                return true;
            }
        }
        return false;
    case SILT_TYPE_ARRAY: return !type->contains_null || type_needs_check(type->element);
    case SILT_TYPE_MAP: return !type->contains_null || type_needs_check(type->element) || type_needs_check(type->key);
    default: return false;
    }
}

bool sl_null_check_needed(const struct silt_field *field)
{
    return !field->nullable || type_needs_check(field->type);
}

static size_t print_path(const struct path *path, char *out, size_t size)
{
    size_t len = path->parent != NULL ? print_path(path->parent, out, size) : 0;
    if (path->parent != NULL && len + 1 < size) {
        out[len++] = '.';
    }
    for (size_t i = 0; i < path->name.len && len + 1 < size; i++) {
        out[len++] = path->name.ptr[i];
    }
    out[len] = '\0';
    return len;
}

static silt_status fail_null(const struct node *node, silt_error *err)
{
    char name[MAX_NAME];
    (void)print_path(&node->path, name, sizeof(name)); /* cut names still say where */
    return sl_fail(err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                   "NOT NULL constraint violated for column: %s", name);
}

/* A cell is null by its own bitmap, or because the value that its dictionary or run holds is. */
static bool cell_is_null(const struct node *node, int64_t row)
{
    const char *format = node->arrow->format;
    if (strcmp(format, "n") == 0) {
        return true;
    }
    silt_value value;
    if ((node->array->dictionary != NULL || strcmp(format, "+r") == 0) &&
        sl_value_from_arrow(node->arrow, node->array, row, &value)) {
        return value.is_null;
    }
    return sl_arrow_is_null(node->array, row);
}

/* Where the elements of a list begin and end in its child. False if the layout is not known here. */
static bool list_range(const struct node *node, int64_t row, int64_t *begin, int64_t *end)
{
    const char *format = node->arrow->format;
    const int64_t at = row + node->array->offset;
    if (strcmp(format, "+l") == 0 || strcmp(format, "+m") == 0) {
        const int32_t *offsets = node->array->buffers[1];
        *begin = offsets[at];
        *end = offsets[at + 1];
        return true;
    }
    if (strcmp(format, "+L") == 0) {
        const int64_t *offsets = node->array->buffers[1];
        *begin = offsets[at];
        *end = offsets[at + 1];
        return true;
    }
    if (strcmp(format, "+vl") == 0) {
        *begin = ((const int32_t *)node->array->buffers[1])[at];
        *end = *begin + ((const int32_t *)node->array->buffers[2])[at];
        return true;
    }
    if (strcmp(format, "+vL") == 0) {
        *begin = ((const int64_t *)node->array->buffers[1])[at];
        *end = *begin + ((const int64_t *)node->array->buffers[2])[at];
        return true;
    }
    int64_t width = 0;
    if (strncmp(format, "+w:", 3) == 0 && sl_str_to_i64(sl_str_from(format + 3), &width) && width >= 0) {
        *begin = at * width;
        *end = *begin + width;
        return true;
    }
    return false;
}

static silt_status check_row(const struct node *node, int64_t row, silt_error *err);

static silt_status check_struct(const struct node *node, int64_t row, silt_error *err)
{
    for (size_t i = 0; i < node->type->n_fields; i++) {
        const struct silt_field *field = &node->type->fields[i];
        if (!sl_null_check_needed(field)) {
            continue;
        }
        const struct node child = {field->type,
                                   field->nullable,
                                   node->arrow->children[i],
                                   node->array->children[i],
                                   {&node->path, field->name}};
        SL_TRY(check_row(&child, row + node->array->offset, err));
    }
    return SILT_OK;
}

static silt_status check_elements(const struct node *child, int64_t begin, int64_t end, silt_error *err)
{
    for (int64_t i = begin; i < end; i++) {
        SL_TRY(check_row(child, i, err));
    }
    return SILT_OK;
}

static silt_status check_list(const struct node *node, int64_t row, silt_error *err)
{
    int64_t begin = 0;
    int64_t end = 0;
    if (!list_range(node, row, &begin, &end)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "NOT NULL cannot be checked on the arrow layout %s of column %.*s",
                       node->arrow->format, SL_FMT(node->path.name));
    }
    const struct ArrowSchema *arrow = node->arrow->children[0];
    const struct ArrowArray *array = node->array->children[0];
    if (node->type->kind == SILT_TYPE_ARRAY) {
        const struct node element = {
            node->type->element, node->type->contains_null, arrow, array, {&node->path, SL_STR("element")}};
        return check_elements(&element, begin, end, err);
    }
    const struct node key = {
        node->type->key, false, arrow->children[0], array->children[0], {&node->path, SL_STR("key")}};
    const struct node value = {node->type->element,
                               node->type->contains_null,
                               arrow->children[1],
                               array->children[1],
                               {&node->path, SL_STR("value")}};
    SL_TRY(check_elements(&key, begin + array->offset, end + array->offset, err));
    return check_elements(&value, begin + array->offset, end + array->offset, err);
}

/* Depth is bounded by that of the table's schema. */
static silt_status check_row(const struct node *node, int64_t row, silt_error *err)
{
    if (cell_is_null(node, row)) {
        return node->nullable ? SILT_OK : fail_null(node, err);
    }
    switch (node->type->kind) {
    case SILT_TYPE_STRUCT: return check_struct(node, row, err);
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: return check_list(node, row, err);
    default: return SILT_OK;
    }
}

silt_status sl_null_check(const struct silt_field *field, const struct ArrowSchema *arrow,
                          const struct ArrowArray *array, silt_error *err)
{
    if (!sl_null_check_needed(field)) {
        return SILT_OK;
    }
    const struct node node = {field->type, field->nullable, arrow, array, {NULL, field->name}};
    const bool flat = !type_needs_check(field->type);
    const bool indirect = array->dictionary != NULL || arrow->format[0] == 'n' || strcmp(arrow->format, "+r") == 0;
    if (flat && !indirect && (array->null_count == 0 || array->n_buffers < 1 || array->buffers[0] == NULL)) {
        return SILT_OK; /* the common case costs nothing a row */
    }
    for (int64_t row = 0; row < array->length; row++) {
        SL_TRY(check_row(&node, row, err));
    }
    return SILT_OK;
}
