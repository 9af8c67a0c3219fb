/*
 * Whether a file's schema can be read as the wanted Delta types without changing a value, where the parts of lists and maps are in the
 * layouts that writers use, and how a node is read. Leaves are judged by duck_leaf.c, variants by duck_variant.c. Pure; any thread.
 *
 * What it does not know (odd layouts, columns the file lacks) it lets pass: DuckDB reads those by its own rules or fails.
 */
#include "duck_footer.h"

#include "base/error.h"
#include "duck_leaf.h"
#include "duck_variant.h"

/* Where in the wanted schema: for messages, which say the table's names. */
struct place {
    const struct place *parent;
    struct sl_str name;
    const struct silt_type *titles; /* of what is here; NULL: as in the files */
};

struct check {
    const silt_env *env;
    const char *path;
    bool by_id;
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

static silt_status fail_codec(const struct check *check, const struct place *place, const struct sl_footer_node *found)
{
    struct sl_buf column;
    sl_buf_init(&column, check->env);
    put_place(&column, place);
    const silt_status status = sl_fail(check->err, SILT_EUNSUPPORTED, NULL,
                                       "column %s in file %s is compressed with %.*s, which is not read",
                                       sl_buf_cstr(&column), check->path, SL_FMT(found->codec));
    sl_buf_release(&column);
    return status;
}

/* ---- layouts ---- */

/* A group that stands for the element itself, by the rules of the Parquet format for lists of old writers. */
static bool is_element(const struct sl_footer_node *repeated, struct sl_str list_name)
{
    const size_t tuple = sizeof("_tuple") - 1;
    return repeated->n_children != 1 || sl_str_eq_c(repeated->name, "array") ||
           (repeated->name.len == list_name.len + tuple && sl_str_starts_with(repeated->name, list_name) &&
            sl_str_ends_with(repeated->name, SL_STR("_tuple")));
}

bool sl_footer_list(const struct sl_footer_node *node, struct sl_footer_list *out)
{
    *out = (struct sl_footer_list){0};
    const struct sl_footer_node *repeated = node + 1;
    if (node->shape == SL_SHAPE_PLAIN && node->repeated) {
        /* Repeated without more: a list of what it would be else. */
        repeated = node;
    } else if (node->shape != SL_SHAPE_LIST || node->n_children != 1 || !repeated->repeated) {
        return false;
    } else if (!is_element(repeated, node->name)) {
        out->element = repeated + 1;
        return true;
    }
    out->element = repeated;
    /* Groups of one field that are lists or maps themselves are seen as such. */
    out->bare = repeated->n_children == 1 && repeated->shape == SL_SHAPE_PLAIN;
    return true;
}

bool sl_footer_map(const struct sl_footer_node *node, const struct sl_footer_node **key,
                   const struct sl_footer_node **value)
{
    const struct sl_footer_node *middle = node + 1;
    if (node->shape != SL_SHAPE_MAP || node->n_children != 1 || !middle->repeated || middle->n_children != 2) {
        return false;
    }
    *key = middle + 1;
    *value = *key + (*key)->n_nodes;
    return true;
}

/* ---- the check ---- */

/* A field of what is at a place. */
static struct place field_place(const struct place *place, const struct silt_type *wanted, size_t index)
{
    const struct silt_type *titles = place->titles;
    const bool fits = titles != NULL && titles->kind == SILT_TYPE_STRUCT && titles->n_fields == wanted->n_fields;
    const struct silt_field *field = fits ? &titles->fields[index] : &wanted->fields[index];
    return (struct place){place->name.ptr != NULL ? place : NULL, field->name, fits ? field->type : NULL};
}

static silt_status check_value(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                               const struct silt_type *wanted);

/* What is repeated is a list, unless it is reached as the element of one. */
static silt_status check_node(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                              const struct silt_type *wanted)
{
    return node->repeated && wanted->kind != SILT_TYPE_ARRAY ? fail_type(check, place, node, wanted)
                                                             : check_value(check, place, node, wanted);
}

static silt_status check_struct(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                                const struct silt_type *wanted)
{
    if (node->n_children == 0 || node->shape != SL_SHAPE_PLAIN) {
        return fail_type(check, place, node, wanted);
    }
    for (size_t i = 0; i < wanted->n_fields; i++) {
        const struct sl_footer_node *child = sl_footer_find(node, &wanted->fields[i], check->by_id);
        if (child != NULL) {
            const struct place at = field_place(place, wanted, i);
            SL_TRY(check_node(check, &at, child, wanted->fields[i].type));
        }
    }
    return SILT_OK;
}

static silt_status check_list(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                              const struct silt_type *wanted)
{
    struct sl_footer_list list = {0};
    if (!sl_footer_list(node, &list)) {
        return node->shape == SL_SHAPE_LIST ? SILT_OK : fail_type(check, place, node, wanted);
    }
    const struct place at = {place, SL_STR("element"), place->titles != NULL ? place->titles->element : NULL};
    return check_value(check, &at, list.element, wanted->element);
}

static silt_status check_map(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                             const struct silt_type *wanted)
{
    const struct sl_footer_node *key = NULL;
    const struct sl_footer_node *value = NULL;
    if (!sl_footer_map(node, &key, &value)) {
        return fail_type(check, place, node, wanted);
    }
    const struct silt_type *titles = place->titles;
    const struct place key_place = {place, SL_STR("key"), titles != NULL ? titles->key : NULL};
    const struct place value_place = {place, SL_STR("value"), titles != NULL ? titles->element : NULL};
    SL_TRY(check_node(check, &key_place, key, wanted->key));
    return check_node(check, &value_place, value, wanted->element);
}

/* Recursion is bounded by the depth of the wanted schema. */
static silt_status check_value(const struct check *check, const struct place *place, const struct sl_footer_node *node,
                               const struct silt_type *wanted)
{
    switch (wanted->kind) {
    case SILT_TYPE_VOID: return SILT_OK;
    case SILT_TYPE_VARIANT: return sl_variant_fits(node) ? SILT_OK : fail_type(check, place, node, wanted);
    case SILT_TYPE_STRUCT: return check_struct(check, place, node, wanted);
    case SILT_TYPE_ARRAY: return check_list(check, place, node, wanted);
    case SILT_TYPE_MAP: return check_map(check, place, node, wanted);
    default: break;
    }
    if (node->n_children > 0 || !sl_leaf_fits(node, wanted)) {
        return fail_type(check, place, node, wanted);
    }
    return node->codec.len > 0 ? fail_codec(check, place, node) : SILT_OK;
}

silt_status sl_footer_match(const silt_env *env, const struct sl_footer_node *root,
                            const struct sl_footer_wanted *wanted, const char *path, silt_error *err)
{
    const struct check check = {.env = env, .path = path, .by_id = wanted->match_by_field_id, .err = err};
    const struct place top = {.titles = wanted->titles};
    for (size_t i = 0; i < wanted->type->n_fields; i++) {
        const struct silt_field *field = &wanted->type->fields[i];
        const struct sl_footer_node *node = sl_footer_find(root, field, wanted->match_by_field_id);
        if (node != NULL) {
            const struct place at = field_place(&top, wanted->type, i);
            SL_TRY(check_node(&check, &at, node, field->type));
        }
    }
    return SILT_OK;
}

silt_status sl_footer_read_leaf(struct sl_arena *arena, const struct sl_footer *footer,
                                const struct sl_footer_node *node, const struct silt_type *wanted,
                                struct sl_footer_leaf *out, silt_error *err)
{
    return wanted->kind == SILT_TYPE_VARIANT ? sl_variant_read_node(arena, node, out, err)
                                             : sl_leaf_read(arena, footer, node, wanted, out, err);
}
