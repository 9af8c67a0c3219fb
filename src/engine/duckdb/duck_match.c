/*
 * Whether a file's physical types can be read as the wanted Delta types without changing a value. Pure; any thread.
 *
 * What it does not know (lists in legacy layouts, columns the file lacks) it lets pass: DuckDB reads those by its own rules or
 * fails.
 */
#include "duck_footer.h"

#include "base/error.h"

/* Kinds of DuckDB types as bits of a set. */
enum {
    IS_BOOLEAN = 1 << 0,
    IS_INT8 = 1 << 1,
    IS_INT16 = 1 << 2,
    IS_INT32 = 1 << 3,
    IS_INT64 = 1 << 4,
    IS_FLOAT = 1 << 5,
    IS_DOUBLE = 1 << 6,
    IS_DECIMAL = 1 << 7,
    IS_TEXT = 1 << 8,
    IS_BLOB = 1 << 9,
    IS_DATE = 1 << 10,
    IS_TIMESTAMP = 1 << 11,
    IS_TIMESTAMP_TZ = 1 << 12
};
#define UP_TO_INT32 (IS_INT8 | IS_INT16 | IS_INT32)

static const struct {
    const char *name;
    unsigned set;
} NAMES[] = {
    {"BOOLEAN", IS_BOOLEAN},
    {"TINYINT", IS_INT8},
    {"UTINYINT", IS_INT16},
    {"SMALLINT", IS_INT16},
    {"USMALLINT", IS_INT32},
    {"INTEGER", IS_INT32},
    {"UINTEGER", IS_INT64},
    {"BIGINT", IS_INT64},
    {"FLOAT", IS_FLOAT},
    {"DOUBLE", IS_DOUBLE},
    {"VARCHAR", IS_TEXT},
    {"ENUM", IS_TEXT},
    {"JSON", IS_TEXT},
    {"BLOB", IS_BLOB},
    {"DATE", IS_DATE},
    {"TIMESTAMP", IS_TIMESTAMP},
    {"TIMESTAMP_S", IS_TIMESTAMP},
    {"TIMESTAMP_MS", IS_TIMESTAMP},
    {"TIMESTAMP_NS", IS_TIMESTAMP},
    {"TIMESTAMP WITH TIME ZONE", IS_TIMESTAMP_TZ},
};

/*
 * What may stand in a file for a type. Bytes and shorts are INT32 in Parquet, so an INT32 without annotation may hold them; a
 * value that does not fit is an error of the read. INT96 is told as TIMESTAMP and holds instants.
 */
static unsigned allowed_set(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_BOOLEAN: return IS_BOOLEAN;
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER: return UP_TO_INT32;
    case SILT_TYPE_LONG: return UP_TO_INT32 | IS_INT64;
    case SILT_TYPE_FLOAT: return IS_FLOAT;
    case SILT_TYPE_DOUBLE: return IS_FLOAT | IS_DOUBLE | UP_TO_INT32;
    case SILT_TYPE_STRING: return IS_TEXT;
    case SILT_TYPE_BINARY: return IS_BLOB;
    case SILT_TYPE_DATE: return IS_DATE;
    case SILT_TYPE_TIMESTAMP: return IS_TIMESTAMP_TZ | IS_TIMESTAMP;
    case SILT_TYPE_TIMESTAMP_NTZ: return IS_TIMESTAMP | IS_DATE;
    default: return 0;
    }
}

static unsigned set_of(struct sl_str type)
{
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (sl_str_eq_c(type, NAMES[i].name)) {
            return NAMES[i].set;
        }
    }
    return sl_str_starts_with(type, SL_STR("DECIMAL(")) ? IS_DECIMAL : 0;
}

bool sl_footer_decimal(struct sl_str type, int64_t *precision, int64_t *scale)
{
    const size_t comma = sl_str_find(type, SL_STR(","));
    return sl_str_starts_with(type, SL_STR("DECIMAL(")) && comma != SIZE_MAX && type.len > 9 &&
           sl_str_to_i64(sl_str_sub(type, 8, comma), precision) &&
           sl_str_to_i64(sl_str_trim(sl_str_sub(type, comma + 1, type.len - 1)), scale);
}

/* Digits before the point must not get fewer, nor digits after it. */
static bool decimal_fits(struct sl_str found, const struct silt_type *wanted)
{
    int64_t precision = 0;
    int64_t scale = 0;
    switch (set_of(found)) {
    case IS_INT8: precision = 3; break;
    case IS_INT16: precision = 5; break;
    case IS_INT32: precision = 10; break;
    case IS_INT64: precision = 20; break;
    case IS_DECIMAL:
        if (!sl_footer_decimal(found, &precision, &scale)) {
            return false;
        }
        break;
    default: return false;
    }
    return scale <= wanted->scale && precision - scale <= wanted->precision - wanted->scale;
}

static bool leaf_fits(struct sl_str found, const struct silt_type *wanted)
{
    if (wanted->kind == SILT_TYPE_DECIMAL) {
        return decimal_fits(found, wanted);
    }
    return (set_of(found) & allowed_set(wanted->kind)) != 0;
}

/* Where in the wanted schema: for messages. */
struct place {
    const struct place *parent;
    struct sl_str name;
};

struct check {
    const silt_env *env;
    const char *path;
    bool *wall_clock;
    silt_error *err;
};

static void put_place(struct sl_buf *out, const struct place *place)
{
    if (place->parent != NULL) {
        put_place(out, place->parent);
        sl_buf_put_char(out, '.');
    }
    sl_buf_put_str(out, place->name);
}

static silt_status fail_type(const struct check *check, const struct place *place, const struct sl_footer_node *found,
                             const struct silt_type *wanted)
{
    struct sl_buf column;
    struct sl_buf type;
    sl_buf_init(&column, check->env);
    sl_buf_init(&type, check->env);
    put_place(&column, place);
    sl_type_print(&type, wanted);
    const struct sl_str physical = found->n_children > 0 ? SL_STR("a group of fields") : found->type;
    const silt_status status = sl_fail(
        check->err, SILT_ESCHEMA, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH",
        "column %s is %.*s in file %s, which cannot be read as the table's %s", sl_buf_cstr(&column),
        SL_FMT(physical.len > 0 ? physical : SL_STR("of an unknown type")), check->path, sl_buf_cstr(&type));
    sl_buf_release(&column);
    sl_buf_release(&type);
    return status;
}

static const struct sl_footer_node *child_at(const struct sl_footer_node *node, uint32_t index)
{
    const struct sl_footer_node *child = node + 1;
    for (uint32_t i = 0; i < index; i++) {
        child += child->n_nodes;
    }
    return child;
}

static const struct sl_footer_node *find_child(const struct sl_footer_node *node, struct sl_str name)
{
    const struct sl_footer_node *nearest = NULL;
    const struct sl_footer_node *child = node + 1;
    for (uint32_t i = 0; i < node->n_children; i++, child += child->n_nodes) {
        if (sl_str_eq(child->name, name)) {
            return child;
        }
        nearest = sl_str_eq_nocase(child->name, name) ? child : nearest;
    }
    return nearest;
}

static silt_status check_node(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                              const struct silt_type *wanted);

static silt_status check_struct(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                                const struct silt_type *wanted)
{
    if (node->n_children == 0 || node->shape != SL_SHAPE_PLAIN) {
        return fail_type(check, place, node, wanted);
    }
    for (size_t i = 0; i < wanted->n_fields; i++) {
        const struct sl_footer_node *child = find_child(node, wanted->fields[i].name);
        if (child != NULL) {
            const struct place at = {place, wanted->fields[i].name};
            SL_TRY(check_node(check, &at, child, wanted->fields[i].type));
        }
    }
    return SILT_OK;
}

static silt_status check_list(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                              const struct silt_type *wanted)
{
    if (node->repeated) {
        return SILT_OK;
    }
    if (node->shape != SL_SHAPE_LIST) {
        return fail_type(check, place, node, wanted);
    }
    const struct sl_footer_node *middle = node->n_children == 1 ? child_at(node, 0) : NULL;
    const bool standard = middle != NULL && middle->repeated && middle->n_children == 1 &&
                          sl_str_eq_c(middle->name, "list");
    if (!standard) {
        return SILT_OK;
    }
    const struct place at = {place, SL_STR("element")};
    return check_node(check, &at, child_at(middle, 0), wanted->element);
}

static silt_status check_map(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                             const struct silt_type *wanted)
{
    const struct sl_footer_node *middle = node->n_children == 1 ? child_at(node, 0) : NULL;
    if (node->shape != SL_SHAPE_MAP || middle == NULL || !middle->repeated || middle->n_children != 2) {
        return fail_type(check, place, node, wanted);
    }
    const struct place key = {place, SL_STR("key")};
    const struct place value = {place, SL_STR("value")};
    SL_TRY(check_node(check, &key, child_at(middle, 0), wanted->key));
    return check_node(check, &value, child_at(middle, 1), wanted->element);
}

/* Recursion is bounded by the depth of the wanted schema. */
static silt_status check_node(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                              const struct silt_type *wanted)
{
    switch (wanted->kind) {
    case SILT_TYPE_VOID:
    case SILT_TYPE_VARIANT: return SILT_OK;
    case SILT_TYPE_STRUCT: return check_struct(check, place, node, wanted);
    case SILT_TYPE_ARRAY: return check_list(check, place, node, wanted);
    case SILT_TYPE_MAP: return check_map(check, place, node, wanted);
    default: break;
    }
    if (node->n_children > 0 || node->repeated || !leaf_fits(node->type, wanted)) {
        return fail_type(check, place, node, wanted);
    }
    if (wanted->kind == SILT_TYPE_TIMESTAMP && (set_of(node->type) & IS_TIMESTAMP) != 0) {
        *check->wall_clock = true;
    }
    return SILT_OK;
}

static const struct sl_footer_node *find_column(const struct sl_footer_node *root, const struct silt_field *field,
                                                bool by_id)
{
    if (!by_id) {
        return find_child(root, field->name);
    }
    int64_t id = -1;
    const struct sl_str text = sl_field_meta_text(field, SL_STR("parquet.field.id"));
    if (text.ptr == NULL || !sl_str_to_i64(text, &id) || id < 0) {
        return NULL;
    }
    const struct sl_footer_node *child = root + 1;
    for (uint32_t i = 0; i < root->n_children; i++, child += child->n_nodes) {
        if (child->field_id == id) {
            return child;
        }
    }
    return NULL;
}

silt_status sl_footer_match(const silt_env *env, const struct sl_footer_node *root,
                            const struct sl_footer_wanted *wanted, const char *path, silt_error *err)
{
    const struct check check = {.env = env, .path = path, .wall_clock = wanted->wall_clock, .err = err};
    for (size_t i = 0; i < wanted->type->n_fields; i++) {
        const struct silt_field *field = &wanted->type->fields[i];
        const struct sl_footer_node *node = find_column(root, field, wanted->match_by_field_id);
        if (node != NULL) {
            const struct place at = {NULL, field->name};
            SL_TRY(check_node(&check, &at, node, field->type));
        }
    }
    return SILT_OK;
}
