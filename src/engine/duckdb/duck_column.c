/*
 * A column of a plan against the files of one footer: which node is which part, under which names the parts are asked for, what has to
 * be done to what is read. Pure; any thread. PROTOCOL: Reader Requirements for Column Mapping.
 *
 * DuckDB matches nested fields by name only, ignoring the case of ASCII. So a field is asked for by the name that its node has, and one
 * that the file lacks by a name that nothing in the file has: matching by id is done here.
 */
#include "duck_column.h"

#include "base/error.h"
#include "duck_variant.h"

/* Lists and maps that a field may have in one another that is read for nothing but its struct. */
#define WITNESS_LISTS 4

/* The two types of a part; they have the same shape. */
struct pair {
    const struct silt_type *logical;
    const struct silt_type *physical;
    const struct silt_type *characters; /* of sl_field_characters; NULL: no CHAR here */
};

static struct pair field_of(struct pair type, size_t i)
{
    const struct silt_field *field = &type.logical->fields[i];
    const struct silt_field *characters = NULL;
    if (type.characters != NULL && type.characters->kind == SILT_TYPE_STRUCT) {
        characters = sl_type_find(type.characters, field->name, NULL);
    }
    return (struct pair){field->type, type.physical->fields[i].type, characters != NULL ? characters->type : NULL};
}

/* Of an array or a map's values. */
static struct pair element_of(struct pair type)
{
    const bool same = type.characters != NULL && type.characters->kind == type.logical->kind;
    return (struct pair){type.logical->element, type.physical->element, same ? type.characters->element : NULL};
}

static struct pair key_of(struct pair type)
{
    const bool same = type.characters != NULL && type.characters->kind == type.logical->kind;
    return (struct pair){type.logical->key, type.physical->key, same ? type.characters->key : NULL};
}

struct builder {
    struct sl_arena *arena;
    const struct sl_footer *footer;
    bool by_id;
    bool in_list;                        /* of a list or a map, whose parts leave out no row groups */
    const struct sl_duck_column *column; /* for messages */
    silt_error *err;
};

/* As DuckDB compares names. */
static bool eq_ascii(struct sl_str a, struct sl_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        const char x = a.ptr[i];
        const char y = b.ptr[i];
        const bool letter = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z');
        if (x != y && !(letter && (x ^ y) == ('a' ^ 'A'))) {
            return false;
        }
    }
    return true;
}

/* How many children have the name, for DuckDB. */
static size_t count_named(const struct sl_footer_node *group, struct sl_str name)
{
    size_t n = 0;
    const struct sl_footer_node *child = group + 1;
    for (uint32_t i = 0; i < group->n_children; i++, child += child->n_nodes) {
        n += eq_ascii(child->name, name) ? 1 : 0;
    }
    return n;
}

/* Two fields of one id leave it open which of them the column is; Delta Spark refuses them as well. */
static silt_status check_id(const struct builder *b, const struct sl_footer_node *group,
                            const struct sl_footer_node *found)
{
    size_t n = 0;
    const struct sl_footer_node *child = group + 1;
    for (uint32_t i = 0; i < group->n_children; i++, child += child->n_nodes) {
        n += child->field_id >= 0 && child->field_id == found->field_id ? 1 : 0;
    }
    if (b->by_id && n > 1) {
        return sl_fail(b->err, SILT_ESCHEMA, "FAILED_READ_FILE.NO_HINT",
                       "column %.*s cannot be read: file %s has %zu fields with its id %lld",
                       SL_FMT(b->column->logical->name), b->column->path, n, (long long)found->field_id);
    }
    return SILT_OK;
}

/* The name to ask a group for. A file without the field must not answer with another one. */
static silt_status choose_name(const struct builder *b, const struct sl_footer_node *group,
                               const struct sl_footer_node *found, struct sl_str wanted, struct sl_str *out)
{
    *out = wanted;
    if (found == NULL) {
        for (size_t i = 0; count_named(group, *out) > 0; i++) {
            *out = sl_str_from(sl_arena_printf(b->arena, "silt absent %zu", i));
            if (out->ptr == NULL) {
                return sl_fail_nomem(b->err);
            }
        }
        return SILT_OK;
    }
    SL_TRY(check_id(b, group, found));
    if (!eq_ascii(found->name, wanted)) {
        *out = found->name;
    }
    if (count_named(group, *out) > 1) {
        return sl_fail(
            b->err, SILT_ESCHEMA, "FAILED_READ_FILE.NO_HINT",
            "column %.*s cannot be read: file %s has several fields whose names differ from '%.*s' in case only",
            SL_FMT(b->column->logical->name), b->column->path, SL_FMT(*out));
    }
    return SILT_OK;
}

static silt_status build(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                         struct sl_duck_part *out);

static silt_status new_parts(const struct builder *b, struct sl_duck_part *part, size_t n)
{
    part->n_parts = n;
    part->parts = sl_arena_alloc_array(b->arena, n, sizeof(*part->parts));
    return part->parts != NULL ? SILT_OK : sl_fail_nomem(b->err);
}

/* What is true of a part because of one below it. */
static void gather(struct sl_duck_part *part, const struct sl_duck_part *below)
{
    part->renames = part->renames || below->renames;
    part->converts = part->converts || below->converts;
    part->aside = part->aside || below->aside;
    part->exact = part->exact && below->exact;
}

static silt_status read_leaf(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                             struct sl_duck_part *out)
{
    SL_TRY(sl_footer_read_leaf(b->arena, b->footer, node, type.physical, &out->leaf, b->err));
    out->converts = out->leaf.before != NULL || out->leaf.after != NULL;
    out->aside = out->leaf.aside;
    return SILT_OK;
}

/* ---- structs of which a file has no wanted field ---- */

/*
 * The type of what a file has, of structs one field only. sql NULL: only whether there is one. False for what would have to be read aside, or by
 * other rules than DuckDB's, and for more lists and maps in one another than `lists`: each doubles the time that DuckDB takes.
 */
static bool put_found(struct sl_buf *sql, const struct sl_footer_node *node, unsigned lists);

/* The field of a file's struct that costs least to read, for DuckDB to tell a NULL by; NULL: none that can be. */
static const struct sl_footer_node *find_witness(const struct sl_footer_node *group, unsigned lists)
{
    const struct sl_footer_node *found = NULL;
    const struct sl_footer_node *child = group + 1;
    for (uint32_t i = 0; i < group->n_children; i++, child += child->n_nodes) {
        const bool is_better = found == NULL || (found->n_children > 0 && child->n_children == 0);
        if (is_better && count_named(group, child->name) == 1 && put_found(NULL, child, lists)) {
            found = child;
        }
    }
    return found;
}

static bool put_found_struct(struct sl_buf *sql, const struct sl_footer_node *node, unsigned lists)
{
    const struct sl_footer_node *child = find_witness(node, lists);
    if (child != NULL && sql != NULL) {
        sl_buf_put_c(sql, "STRUCT(");
        sl_duck_put_ident(sql, child->name);
        sl_buf_put_char(sql, ' ');
        (void)put_found(sql, child, lists);
        sl_buf_put_char(sql, ')');
    }
    return child != NULL;
}

static bool put_found_map(struct sl_buf *sql, const struct sl_footer_node *node, unsigned lists)
{
    const struct sl_footer_node *key = NULL;
    const struct sl_footer_node *value = NULL;
    if (!sl_footer_map(node, &key, &value) || !put_found(NULL, key, lists) || !put_found(NULL, value, lists)) {
        return false;
    }
    if (sql != NULL) {
        sl_buf_put_c(sql, "MAP(");
        (void)put_found(sql, key, lists);
        sl_buf_put_c(sql, ", ");
        (void)put_found(sql, value, lists);
        sl_buf_put_char(sql, ')');
    }
    return true;
}

/* Recursion is bounded by the depth of footers. What is looked at with sql was looked at without once for each level above it. */
static bool put_found(struct sl_buf *sql, const struct sl_footer_node *node, unsigned lists)
{
    struct sl_footer_list list = {0};
    if (node->repeated || node->codec.len > 0 || sl_variant_fits(node)) {
        return false;
    }
    if (node->n_children == 0) {
        if (sql != NULL) {
            sl_buf_put_str(sql, node->type);
        }
        return node->type.len > 0;
    }
    if (node->shape == SL_SHAPE_PLAIN) {
        return put_found_struct(sql, node, lists);
    }
    if (lists == 0 || node->shape == SL_SHAPE_MAP) {
        return lists > 0 && put_found_map(sql, node, lists - 1);
    }
    if (!sl_footer_list(node, &list) || list.bare || !put_found(sql, list.element, lists - 1)) {
        return false;
    }
    if (sql != NULL) {
        sl_buf_put_c(sql, "[]");
    }
    return true;
}

/* A struct of the wanted fields, each NULL. */
static silt_status put_nulls(const struct builder *b, struct sl_buf *sql, const struct silt_type *wanted)
{
    sl_buf_put_c(sql, "struct_pack(");
    for (size_t i = 0; i < wanted->n_fields; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        sl_duck_put_ident(sql, wanted->fields[i].name);
        sl_buf_put_c(sql, " := NULL::");
        SL_TRY(sl_duck_put_type(sql, wanted->fields[i].type, b->err));
    }
    sl_buf_put_char(sql, ')');
    return SILT_OK;
}

/*
 * Fields were dropped and others added since the file was written. DuckDB casts no struct to one that has none of its fields, so one of the file's
 * own is asked for: what is left of it is whether the struct is NULL.
 */
static silt_status read_foreign(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                                struct sl_duck_part *out)
{
    struct sl_buf declared;
    struct sl_buf after;
    sl_buf_init(&declared, b->arena->env);
    sl_buf_init(&after, b->arena->env);
    silt_status status = SILT_OK;
    if (!put_found_struct(&declared, node, WITNESS_LISTS)) {
        status = sl_fail(
            b->err, SILT_EUNSUPPORTED, NULL,
            "column %.*s cannot be read: a struct in file %s has none of the fields that are wanted, and none to tell "
            "nulls by",
            SL_FMT(b->column->logical->name), b->column->path);
    } else {
        sl_buf_put_c(&after, " IS NULL THEN NULL ELSE ");
        status = put_nulls(b, &after, type.logical);
        sl_buf_put_c(&after, " END");
        out->leaf.declared = sl_arena_printf(b->arena, "%s", sl_buf_cstr(&declared));
        out->leaf.before = "CASE WHEN ";
        out->leaf.after = sl_arena_printf(b->arena, "%s", sl_buf_cstr(&after));
        out->converts = true;
        out->exact = false;
    }
    if (status == SILT_OK && (sl_buf_status(&declared, NULL) != SILT_OK || sl_buf_status(&after, NULL) != SILT_OK ||
                              (out->converts && (out->leaf.declared == NULL || out->leaf.after == NULL)))) {
        status = sl_fail_nomem(b->err);
    }
    sl_buf_release(&declared);
    sl_buf_release(&after);
    return status;
}

/* node NULL: the files lack it, or it is asked for as it is wanted. */
static silt_status build_struct(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                                struct sl_duck_part *out)
{
    SL_TRY(new_parts(b, out, type.logical->n_fields));
    out->exact = node != NULL && !node->repeated && node->n_children == type.logical->n_fields;
    const struct sl_footer_node *next = node != NULL ? node + 1 : NULL;
    bool any = false;
    for (size_t i = 0; i < out->n_parts; i++) {
        const struct silt_field *physical = &type.physical->fields[i];
        struct sl_duck_part *part = &out->parts[i];
        const struct sl_footer_node *found = node != NULL ? sl_footer_find(node, physical, b->by_id) : NULL;
        any = any || found != NULL;
        SL_TRY(build(b, found, field_of(type, i), part));
        part->name = physical->name;
        part->wanted = type.logical->fields[i].name;
        if (node != NULL) {
            SL_TRY(choose_name(b, node, found, physical->name, &part->name));
        }
        out->renames = out->renames || !sl_str_eq(part->name, part->wanted);
        /* A name in another case comes out as the file has it when nothing renames it. */
        out->exact = out->exact && found != NULL && found == next && sl_str_eq(found->name, part->name);
        gather(out, part);
        next = out->exact && found != NULL ? found + found->n_nodes : NULL;
    }
    return node != NULL && !any && out->n_parts > 0 ? read_foreign(b, node, type, out) : SILT_OK;
}

static silt_status build_list(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                              struct sl_duck_part *out)
{
    struct sl_footer_list list = {0};
    if (node != NULL && !sl_footer_list(node, &list)) {
        SL_TRY(read_leaf(b, node, type, out));
    }
    struct builder inner = *b;
    inner.in_list = true;
    SL_TRY(new_parts(b, out, 1));
    SL_TRY(build(&inner, list.element, element_of(type), &out->parts[0]));
    if (list.bare && type.logical->element->kind == SILT_TYPE_STRUCT && out->parts[0].leaf.declared != NULL) {
        return sl_fail(
            b->err, SILT_EUNSUPPORTED, NULL,
            "column %.*s cannot be read: elements of a list in file %s have none of the fields that are wanted",
            SL_FMT(b->column->logical->name), b->column->path);
    }
    out->bare = list.bare && out->parts[0].n_parts == 1 && type.logical->element->kind == SILT_TYPE_STRUCT;
    out->converts = out->converts || out->bare;
    out->exact = !out->bare && list.element != NULL && sl_footer_layout_is_exact(node);
    gather(out, &out->parts[0]);
    return SILT_OK;
}

static silt_status build_map(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                             struct sl_duck_part *out)
{
    const struct sl_footer_node *key = NULL;
    const struct sl_footer_node *value = NULL;
    const bool known = node != NULL && sl_footer_map(node, &key, &value);
    if (node != NULL && !known) {
        SL_TRY(read_leaf(b, node, type, out));
    }
    struct builder inner = *b;
    inner.in_list = true;
    SL_TRY(new_parts(b, out, 2));
    SL_TRY(build(&inner, known ? key : NULL, key_of(type), &out->parts[0]));
    SL_TRY(build(&inner, known ? value : NULL, element_of(type), &out->parts[1]));
    out->exact = known && sl_footer_layout_is_exact(node);
    gather(out, &out->parts[0]);
    gather(out, &out->parts[1]);
    return SILT_OK;
}

/*
 * CHAR(n) has spaces up to its length: Spark puts them when it reads, since other writers may have left them out. The value is written
 * twice: put together with what the leaf itself asks for.
 */
static silt_status pad(const struct builder *b, uint32_t length, struct sl_duck_part *out)
{
    const char *before = out->leaf.before != NULL ? out->leaf.before : "";
    const char *after = out->leaf.after != NULL ? out->leaf.after : "";
    out->leaf.before = sl_arena_printf(b->arena, "(%s", before);
    out->leaf.between = sl_arena_printf(b->arena, "%s || repeat(' ', %u - length(%s", after, (unsigned)length, before);
    out->leaf.after = sl_arena_printf(b->arena, "%s)))", after);
    out->converts = true;
    return out->leaf.before != NULL && out->leaf.between != NULL && out->leaf.after != NULL ? SILT_OK
                                                                                            : sl_fail_nomem(b->err);
}

/*
 * DuckDB leaves out row groups by bounds of columns, not of what is made of them. So where the bounds lie, an expression stands around the
 * value as it is stored that changes none: to add -0.0 keeps NaN and the sign of zero, and costs next to nothing.
 */
static silt_status hide_bounds(const struct builder *b, const struct sl_footer_node *node, struct sl_footer_leaf *leaf)
{
    const bool number = sl_str_eq_c(node->type, "FLOAT") || sl_str_eq_c(node->type, "DOUBLE");
    const bool text = sl_str_eq_c(node->type, "VARCHAR") || sl_str_eq_c(node->type, "BLOB");
    const bool lies = node->bloom || (text && b->footer->facts.text_bounds_lie);
    const char *hidden = NULL;
    if (number && b->footer->facts.float_bounds_lie) {
        hidden = sl_arena_printf(b->arena, " + '-0.0'::%.*s)", SL_FMT(node->type));
    } else if (lies) {
        hidden = sl_arena_printf(b->arena, " || ''::%.*s)", SL_FMT(node->type));
    } else {
        return SILT_OK;
    }
    leaf->before = sl_arena_printf(b->arena, "%s(", leaf->before != NULL ? leaf->before : "");
    leaf->after = sl_arena_printf(b->arena, "%s%s", hidden != NULL ? hidden : "",
                                  leaf->after != NULL ? leaf->after : "");
    return hidden != NULL && leaf->before != NULL && leaf->after != NULL ? SILT_OK : sl_fail_nomem(b->err);
}

static silt_status build_leaf(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                              struct sl_duck_part *out)
{
    if (node == NULL) {
        return SILT_OK;
    }
    SL_TRY(read_leaf(b, node, type, out));
    if (!b->in_list) {
        SL_TRY(hide_bounds(b, node, &out->leaf));
        out->converts = out->leaf.before != NULL || out->leaf.after != NULL;
    }
    out->exact = out->leaf.declared != NULL
                     ? node->n_children == 0 && !node->repeated && sl_str_eq_c(node->type, out->leaf.declared)
                     : sl_footer_leaf_is_exact(node, type.physical);
    const uint32_t length = type.characters != NULL ? sl_type_char_length(type.characters) : 0;
    return length > 0 && type.logical->kind == SILT_TYPE_STRING ? pad(b, length, out) : SILT_OK;
}

/* Recursion is bounded by the depth of schemas. */
static silt_status build(const struct builder *b, const struct sl_footer_node *node, struct pair type,
                         struct sl_duck_part *out)
{
    if (type.logical->kind != type.physical->kind || type.logical->n_fields != type.physical->n_fields) {
        return sl_fail(b->err, SILT_EINVALID, NULL, "column %.*s: the logical and the physical type differ in shape",
                       SL_FMT(b->column->logical->name));
    }
    *out = (struct sl_duck_part){.type = type.logical};
    switch (type.logical->kind) {
    case SILT_TYPE_STRUCT: return build_struct(b, node, type, out);
    case SILT_TYPE_ARRAY: return build_list(b, node, type, out);
    case SILT_TYPE_MAP: return build_map(b, node, type, out);
    default: return build_leaf(b, node, type, out);
    }
}

/* ---- texts ---- */

static silt_status keep(struct sl_arena *arena, const struct sl_buf *text, struct sl_str *out, silt_error *err)
{
    SL_TRY(sl_buf_status(text, err));
    *out = sl_arena_copy(arena, sl_buf_view(text));
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* The value of a column of that name in the source. */
static silt_status keep_value(const struct builder *b, const struct sl_duck_part *part, struct sl_str name,
                              struct sl_str *out)
{
    struct sl_buf ident;
    struct sl_buf text;
    sl_buf_init(&ident, b->arena->env);
    sl_buf_init(&text, b->arena->env);
    sl_duck_put_ident(&ident, name);
    silt_status status = sl_buf_status(&ident, b->err);
    if (status == SILT_OK) {
        status = sl_duck_part_put_value(&text, part, sl_buf_view(&ident), b->err);
    }
    if (status == SILT_OK) {
        status = keep(b->arena, &text, out, b->err);
    }
    sl_buf_release(&ident);
    sl_buf_release(&text);
    return status;
}

static silt_status keep_type(const struct builder *b, const struct sl_duck_part *part, const char *before,
                             struct sl_str *out)
{
    struct sl_buf text;
    sl_buf_init(&text, b->arena->env);
    sl_buf_put_c(&text, before);
    silt_status status = sl_duck_part_put_type(&text, part, b->err);
    if (status == SILT_OK) {
        status = keep(b->arena, &text, out, b->err);
    }
    sl_buf_release(&text);
    return status;
}

/* Nothing but NULL: the parts have the table's names and types then, whatever stands in for the column. */
static silt_status read_absent(const struct builder *b, const struct sl_duck_column *column,
                               struct sl_duck_reading *out)
{
    struct sl_duck_part part;
    const struct silt_type *type = column->logical->type;
    SL_TRY(build(b, NULL, (struct pair){type, type, NULL}, &part));
    SL_TRY(keep_type(b, &part, "", &out->declared));
    SL_TRY(keep_value(b, &part, column->alias, &out->mapped));
    return keep_type(b, &part, "NULL::", &out->direct);
}

static uint32_t count_leaves(const struct sl_footer_node *node, const struct sl_footer_node *end)
{
    uint32_t n = 0;
    for (; node < end; node++) {
        n += node->n_children == 0 ? 1 : 0;
    }
    return n;
}

silt_status sl_duck_column_read(struct sl_arena *arena, const struct sl_footer *footer,
                                const struct sl_duck_column *column, struct sl_duck_reading *out, silt_error *err)
{
    const struct builder b = {.arena = arena, .footer = footer, .by_id = column->by_id, .column = column, .err = err};
    const struct sl_footer_node *root = footer->nodes;
    const struct sl_footer_node *node = sl_footer_find(root, column->physical, column->by_id);
    *out = (struct sl_duck_reading){.found = node != NULL};
    SL_TRY(choose_name(&b, root, node, column->physical->name, &out->stored));
    if (node == NULL) {
        return read_absent(&b, column, out);
    }
    struct sl_duck_part part;
    struct pair type = {column->logical->type, column->physical->type, NULL};
    SL_TRY(sl_field_characters(arena, column->logical, &type.characters, err));
    SL_TRY(build(&b, node, type, &part));
    SL_TRY(keep_type(&b, &part, "", &out->declared));
    SL_TRY(keep_value(&b, &part, column->alias, &out->mapped));
    out->same = part.exact && !part.renames && !part.converts;
    if (part.aside) {
        out->aside = true;
        out->first_leaf = count_leaves(root + 1, node);
        out->n_leaves = count_leaves(node, node + node->n_nodes);
        return SILT_OK;
    }
    return part.exact ? keep_value(&b, &part, out->stored, &out->direct) : SILT_OK;
}
