/*
 * Small files of silt's own as rows of Arrow; see small_read.h. The wanted columns are a tree beside that of the file; each leaf has a
 * cursor, and rows are put together from the top: whether a struct or list is there is seen at the levels of its first leaf. What is not
 * exactly as expected is left to the data plane, which then says what is wrong.
 */
#include "engine/small_read.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/arrow.h"
#include "base/error.h"
#include "base/utf8.h"
#include "engine/small_column.h"
#include "engine/small_parse.h"
#include "schema/type.h"
#include "schema/value.h"

/* Files that are read whole to see whose they are. */
#define MAX_BYTES ((int64_t)640 << 10)
#define MAX_DEPTH 16
#define REQUIRED 0
#define REPEATED 2
#define FILE_INDEX "_silt_file_index"
#define ROW_INDEX "_silt_row_index"

struct node {
    const struct silt_type *type;
    bool absent;   /* not in the file: always null */
    bool is_short; /* a number that is stored in 32 bits and wanted in 64 */
    uint8_t definition;
    uint8_t repetition;
    struct node *children;
    size_t n_children;
    struct sl_small_cursor *cursor; /* of the leaf, or of the first one below */
    struct sl_small_cursor *spare;  /* of a member that is not wanted, by which the struct is seen; mostly NULL */
};

struct reading {
    const silt_env *env;
    const silt_parquet_read *request;
    struct sl_arena arena;
    struct sl_small_file file;
    struct node root;
    silt_schema *schema; /* what is given out, where that is more than is asked for */
    silt_error *err;
    bool good; /* false: the data plane has to look at the file */
    unsigned depth;
};

/* ---- the tree ---- */

static silt_status match(struct reading *r, const struct silt_type *type, size_t at, struct node *node);

static bool is_stored_as(const struct sl_small_element *element, const struct silt_type *type)
{
    const bool decimal = type->kind == SILT_TYPE_DECIMAL;
    const enum sl_physical physical = sl_small_physical(type);
    return sl_small_type_is_known(type) && element->physical == (int32_t)physical &&
           element->converted == sl_small_converted(type) &&
           element->length == (physical == SL_PHYSICAL_FIXED ? SL_PHYSICAL_FIXED_BYTES : 0) &&
           (!decimal || (element->scale == type->scale && element->precision == type->precision));
}

/* Numbers may be wanted wider than they are stored. */
static bool is_shorter(const struct sl_small_element *element, const struct silt_type *type)
{
    static const struct silt_type number = {.kind = SILT_TYPE_INTEGER};
    return type->kind == SILT_TYPE_LONG && is_stored_as(element, &number);
}

static silt_status match_leaf(struct reading *r, const struct sl_small_element *element, struct node *node)
{
    node->cursor = sl_arena_alloc_zero(&r->arena, sizeof(*node->cursor));
    if (node->cursor == NULL) {
        return sl_fail_nomem(r->err);
    }
    node->is_short = is_shorter(element, node->type);
    r->good = r->good && (node->is_short || is_stored_as(element, node->type)) &&
              sl_small_cursor_open(&r->file, element->first_leaf, node->repetition, node->definition, node->cursor);
    return SILT_OK;
}

/* Place of the child of that name; 0 if there is none. */
static size_t find_element(const struct sl_small_file *file, size_t parent, struct sl_str name)
{
    size_t at = parent + 1;
    for (size_t i = 0; i < file->elements[parent].n_children; i++) {
        if (sl_str_eq(file->elements[at].name, name)) {
            return at;
        }
        at += file->elements[at].n_elements;
    }
    return 0;
}

static silt_status match_child(struct reading *r, const struct silt_type *type, size_t at, struct node *parent,
                               struct node *child)
{
    child->definition = parent->definition;
    child->repetition = parent->repetition;
    SL_TRY(match(r, type, at, child));
    parent->cursor = parent->cursor == NULL && !child->absent ? child->cursor : parent->cursor;
    return SILT_OK;
}

/* A struct of which no wanted member is in the file is there or null like any of its other members. */
static silt_status match_spare(struct reading *r, size_t at, struct node *node)
{
    size_t child = at + 1;
    for (size_t i = 0; i < r->file.elements[at].n_children; i++) {
        const struct sl_small_element *element = &r->file.elements[child];
        if (element->physical >= 0 && element->repetition != REPEATED) {
            node->spare = node->cursor = sl_arena_alloc_zero(&r->arena, sizeof(*node->spare));
            if (node->spare == NULL) {
                return sl_fail_nomem(r->err);
            }
            const uint8_t definition = (uint8_t)(node->definition + (element->repetition == REQUIRED ? 0 : 1));
            r->good = sl_small_cursor_open(&r->file, element->first_leaf, node->repetition, definition, node->spare);
            return SILT_OK;
        }
        child += element->n_elements;
    }
    r->good = false;
    return SILT_OK;
}

static silt_status match_struct(struct reading *r, size_t at, struct node *node)
{
    node->n_children = node->type->n_fields;
    node->children = sl_arena_alloc_array(&r->arena, node->n_children, sizeof(*node->children));
    if (node->children == NULL) {
        return sl_fail_nomem(r->err);
    }
    for (size_t i = 0; i < node->n_children && r->good; i++) {
        const struct silt_field *field = &node->type->fields[i];
        SL_TRY(match_child(r, field->type, find_element(&r->file, at, field->name), node, &node->children[i]));
    }
    return r->good && node->cursor == NULL && node != &r->root ? match_spare(r, at, node) : SILT_OK;
}

/* Lists and maps have three levels. */
static silt_status match_repeated(struct reading *r, size_t at, struct node *node)
{
    const bool is_map = node->type->kind == SILT_TYPE_MAP;
    const struct sl_small_element *elements = r->file.elements;
    node->n_children = is_map ? 2 : 1;
    if (elements[at].n_children != 1 || elements[at + 1].repetition != REPEATED ||
        elements[at + 1].n_children != node->n_children) {
        r->good = false;
        return SILT_OK;
    }
    node->definition++;
    node->repetition++;
    node->children = sl_arena_alloc_array(&r->arena, node->n_children, sizeof(*node->children));
    if (node->children == NULL) {
        return sl_fail_nomem(r->err);
    }
    size_t place = at + 2;
    for (size_t i = 0; i < node->n_children && r->good; i++) {
        SL_TRY(
            match_child(r, is_map && i == 0 ? node->type->key : node->type->element, place, node, &node->children[i]));
        place += elements[place].n_elements;
    }
    return SILT_OK;
}

/* at 0: the file lacks it. */
static silt_status match(struct reading *r, const struct silt_type *type, size_t at, struct node *node)
{
    const struct sl_small_element *element = &r->file.elements[at];
    node->type = type;
    node->absent = at == 0 && node != &r->root;
    if (node->absent || r->depth >= MAX_DEPTH) {
        r->good = r->good && node->absent;
        return SILT_OK;
    }
    node->definition = (uint8_t)(node->definition + (at == 0 || element->repetition == REQUIRED ? 0 : 1));
    if (element->repetition == REPEATED || sl_type_is_nested(type) != (element->physical < 0) ||
        (at != 0 && element->physical < 0 && element->converted != sl_small_converted(type))) {
        r->good = false;
        return SILT_OK;
    }
    silt_status status = SILT_OK;
    r->depth++;
    switch (type->kind) {
    case SILT_TYPE_STRUCT: status = match_struct(r, at, node); break;
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: status = match_repeated(r, at, node); break;
    default: status = match_leaf(r, element, node); break;
    }
    r->depth--;
    return status;
}

/* ---- values ---- */

static uint64_t load(const unsigned char *at, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; at != NULL && i < n; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

static double load_float(uint64_t bits, bool wide)
{
    const uint32_t narrow_bits = (uint32_t)bits;
    double value = 0;
    float narrow = 0;
    if (wide) {
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    memcpy(&narrow, &narrow_bits, sizeof(narrow));
    return (double)narrow;
}

static bool take_bit(struct sl_small_cursor *cursor)
{
    const size_t bit = cursor->n_bits++ % 8;
    if (bit == 0 && sl_small_cursor_take(cursor, 1) == NULL) {
        return false;
    }
    return (cursor->at[-1] >> bit & 1U) != 0;
}

static silt_value take_bytes(struct sl_small_cursor *cursor, const struct silt_type *type)
{
    const size_t len = (size_t)load(sl_small_cursor_take(cursor, sizeof(uint32_t)), sizeof(uint32_t));
    const unsigned char *at = sl_small_cursor_take(cursor, len);
    const struct sl_str text = at != NULL ? sl_str_make((const char *)at, len) : SL_STR("");
    cursor->bad = cursor->bad || (type->kind == SILT_TYPE_STRING && !sl_utf8_valid(text));
    return sl_value_bytes(type->kind, text);
}

/* The highest byte comes first. */
static silt_value take_wide(struct sl_small_cursor *cursor, const struct silt_type *type)
{
    const unsigned char *at = sl_small_cursor_take(cursor, SL_PHYSICAL_FIXED_BYTES);
    uint64_t words[2] = {0, 0};
    for (size_t i = 0; at != NULL && i < SL_PHYSICAL_FIXED_BYTES; i++) {
        words[i / 8] = words[i / 8] << 8 | at[i];
    }
    return sl_value_decimal(sl_i128_make((int64_t)words[0], words[1]), type->precision, type->scale);
}

static silt_value take_integer(const struct silt_type *type, int64_t number)
{
    return type->kind == SILT_TYPE_DECIMAL ? sl_value_decimal(number, type->precision, type->scale)
                                           : sl_value_i64(type->kind, number);
}

static silt_value take_value(const struct node *node)
{
    struct sl_small_cursor *cursor = node->cursor;
    const struct silt_type *type = node->type;
    switch (node->is_short ? SL_PHYSICAL_INT32 : sl_small_physical(type)) {
    case SL_PHYSICAL_BOOLEAN: return sl_value_bool(take_bit(cursor));
    case SL_PHYSICAL_INT32: return take_integer(type, (int32_t)(uint32_t)load(sl_small_cursor_take(cursor, 4), 4));
    case SL_PHYSICAL_INT64: return take_integer(type, (int64_t)load(sl_small_cursor_take(cursor, 8), 8));
    case SL_PHYSICAL_FLOAT:
        return sl_value_f64(type->kind, load_float(load(sl_small_cursor_take(cursor, 4), 4), false));
    case SL_PHYSICAL_DOUBLE:
        return sl_value_f64(type->kind, load_float(load(sl_small_cursor_take(cursor, 8), 8), true));
    case SL_PHYSICAL_FIXED: return take_wide(cursor, type);
    case SL_PHYSICAL_BYTE_ARRAY: break;
    }
    return take_bytes(cursor, type);
}

/* ---- rows ---- */

/* An entry of each leaf, of which nothing is there. */
static void step_all(struct node *node)
{
    if (node->n_children == 0 && !node->absent) {
        sl_small_cursor_step(node->cursor);
    }
    if (node->spare != NULL) {
        sl_small_cursor_step(node->spare);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        step_all(&node->children[i]);
    }
}

static silt_status put(struct reading *r, struct node *node, struct sl_arrow_builder *builder);

static silt_status put_leaf(struct reading *r, struct node *node, struct sl_arrow_builder *builder)
{
    const bool there = node->cursor->definitions.value == node->definition;
    const silt_value value = there ? take_value(node) : sl_value_null(node->type->kind);
    sl_small_cursor_step(node->cursor);
    r->good = r->good && !node->cursor->bad;
    return r->good ? sl_value_append(builder, &value, r->err) : SILT_OK;
}

static silt_status put_items(struct reading *r, struct node *node, struct sl_arrow_builder *builder)
{
    struct sl_arrow_builder *items = sl_arrow_builder_child(builder, 0);
    const bool is_map = node->type->kind == SILT_TYPE_MAP;
    do {
        for (size_t i = 0; i < node->n_children && r->good; i++) {
            SL_TRY(put(r, &node->children[i], is_map ? sl_arrow_builder_child(items, i) : items));
        }
        if (is_map && r->good) {
            SL_TRY(sl_arrow_append_nested(items, r->err));
        }
    } while (r->good && node->cursor->left > 0 && node->cursor->repetitions.value == node->repetition);
    return r->good ? sl_arrow_append_nested(builder, r->err) : SILT_OK;
}

/* Nesting bounds the recursion, and each step takes an entry of a leaf, of which there are as many as the file says. */
static silt_status put(struct reading *r, struct node *node, struct sl_arrow_builder *builder)
{
    if (node->absent) {
        return sl_arrow_append_null(builder, r->err);
    }
    if (node->n_children == 0) {
        return put_leaf(r, node, builder);
    }
    const bool repeated = node->type->kind != SILT_TYPE_STRUCT;
    const uint8_t found = node->cursor->definitions.value;
    if (found < node->definition) {
        const bool is_empty = repeated && found + 1 == node->definition;
        step_all(node);
        return is_empty ? sl_arrow_append_nested(builder, r->err) : sl_arrow_append_null(builder, r->err);
    }
    if (repeated) {
        return put_items(r, node, builder);
    }
    for (size_t i = 0; i < node->n_children && r->good; i++) {
        SL_TRY(put(r, &node->children[i], sl_arrow_builder_child(builder, i)));
    }
    if (node->spare != NULL) {
        sl_small_cursor_step(node->spare);
    }
    return r->good ? sl_arrow_append_nested(builder, r->err) : SILT_OK;
}

static silt_status put_row(struct reading *r, int64_t row, struct sl_arrow_builder *builder)
{
    size_t next = r->root.n_children;
    for (size_t i = 0; i < r->root.n_children && r->good; i++) {
        SL_TRY(put(r, &r->root.children[i], sl_arrow_builder_child(builder, i)));
    }
    if (r->good && r->request->with_file_index) {
        SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, next++), 0, r->err));
    }
    if (r->good && r->request->with_row_index) {
        SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, next), row, r->err));
    }
    return r->good ? sl_arrow_append_nested(builder, r->err) : SILT_OK;
}

/* ---- rows that need not be given ---- */

/* Is the path one of a member of the struct, at whatever depth? */
static bool has_member(const struct silt_type *type, struct sl_str path)
{
    for (size_t i = 0; type->kind == SILT_TYPE_STRUCT && i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        if (sl_str_eq(path, field->name)) {
            return true;
        }
        if (sl_str_starts_with(path, field->name) && path.ptr[field->name.len] == '.' &&
            has_member(field->type, sl_str_sub(path, field->name.len + 1, path.len))) {
            return true;
        }
    }
    return false;
}

/* A row in which no wanted member has a value may be left out when those that must have one are among them. */
static bool may_leave_out(const struct reading *r)
{
    for (size_t i = 0; i < r->request->n_any_of; i++) {
        if (!has_member(&r->request->schema->root, sl_str_from(r->request->any_of[i]))) {
            return false;
        }
    }
    return r->request->n_any_of > 0;
}

/* How many rows from the one at hand on have no value in any leaf; a list that is there counts as one. */
static int64_t count_empty(const struct node *node)
{
    const bool is_leaf = node->n_children == 0 && !node->absent;
    int64_t n = INT64_MAX;
    if (is_leaf || (node->spare != NULL && node->repetition > 0)) {
        n = sl_small_cursor_below(node->cursor, node->repetition > 0 ? 1 : node->definition);
    }
    for (size_t i = 0; i < node->n_children && n > 0; i++) {
        const int64_t below = count_empty(&node->children[i]);
        n = below < n ? below : n;
    }
    return n;
}

static void skip_all(struct node *node, int64_t n)
{
    if (node->n_children == 0 && !node->absent) {
        sl_small_cursor_skip(node->cursor, n);
    }
    if (node->spare != NULL) {
        sl_small_cursor_skip(node->spare, n);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        skip_all(&node->children[i], n);
    }
}

/* All entries must be used up, or the levels were not those of the rows. */
static bool is_used_up(const struct node *node)
{
    if (node->absent) {
        return true;
    }
    const struct sl_small_cursor *own = node->n_children == 0 ? node->cursor : node->spare;
    bool used = own == NULL || (own->left == 0 && !own->bad);
    for (size_t i = 0; i < node->n_children; i++) {
        used = used && is_used_up(&node->children[i]);
    }
    return used;
}

/* ---- the stream ---- */

static silt_status make_schema(struct reading *r)
{
    static const struct silt_type number = {.kind = SILT_TYPE_LONG};
    const struct silt_type *root = &r->request->schema->root;
    struct silt_field *fields = sl_arena_alloc_array(&r->arena, root->n_fields + 2, sizeof(*fields));
    size_t n = root->n_fields;
    if (fields == NULL) {
        return sl_fail_nomem(r->err);
    }
    memcpy(fields, root->fields, n * sizeof(*fields));
    if (r->request->with_file_index) {
        fields[n++] = (struct silt_field){.name = SL_STR(FILE_INDEX), .type = &number};
    }
    if (r->request->with_row_index) {
        fields[n++] = (struct silt_field){.name = SL_STR(ROW_INDEX), .type = &number};
    }
    return sl_schema_from_fields(r->env, fields, n, &r->schema, r->err);
}

static silt_status build(struct reading *r, const struct ArrowSchema *schema, struct ArrowArray *out)
{
    struct sl_arrow_builder *builder = NULL;
    silt_status status = sl_arrow_builder_new(r->env, schema, &builder, r->err);
    const bool sparse = may_leave_out(r);
    int64_t row = 0;
    while (row < r->file.n_rows && r->good && status == SILT_OK) {
        const int64_t left = r->file.n_rows - row;
        const int64_t empty = sparse ? count_empty(&r->root) : 0;
        if (empty > 0) {
            skip_all(&r->root, empty < left ? empty : left);
            row += empty < left ? empty : left;
        } else {
            status = put_row(r, row++, builder);
        }
    }
    r->good = r->good && is_used_up(&r->root);
    if (status == SILT_OK && r->good) {
        status = sl_arrow_builder_finish(builder, out, r->err);
    }
    sl_arrow_builder_free(builder);
    return status;
}

static silt_status give_out(struct reading *r, struct ArrowArrayStream *out)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray rows = {0};
    const bool has_more = r->request->with_file_index || r->request->with_row_index;
    SL_TRY(has_more ? make_schema(r) : SILT_OK);
    silt_status status = silt_schema_to_arrow(has_more ? r->schema : r->request->schema, &schema, r->err);
    if (status == SILT_OK) {
        status = build(r, &schema, &rows);
    }
    if (status == SILT_OK && r->good) {
        status = sl_arrow_stream_from_batches(r->env, &schema, &rows, rows.length > 0 ? 1 : 0, out, r->err);
    }
    sl_arrow_schema_release(&schema);
    sl_arrow_array_release(&rows);
    return status;
}

static silt_status read_bytes(struct reading *r, struct sl_str bytes, struct ArrowArrayStream *out)
{
    if (!sl_small_file_parse(&r->arena, bytes, &r->file)) {
        r->good = false;
        return SILT_OK;
    }
    SL_TRY(match(r, &r->request->schema->root, 0, &r->root));
    return r->good ? give_out(r, out) : SILT_OK;
}

/*
 * Saves a look into most files of others, no more: their names never end so, or seldom. A store without local paths is far away: there a
 * look that is in vain costs as much as the file.
 */
static bool may_be_ours(const silt_parquet_file *file)
{
    const struct sl_str path = sl_str_from(file->path);
    return file->local_path != NULL && file->size_bytes > 0 && file->size_bytes <= MAX_BYTES &&
           (sl_str_ends_with(path, SL_STR("-c000.parquet")) || sl_str_find(path, SL_STR(".checkpoint.")) != SIZE_MAX);
}

silt_status sl_small_read(const silt_env *env, const silt_call *call, const silt_parquet_read *request,
                          struct ArrowArrayStream *out, bool *done, silt_error *err)
{
    struct reading r = {.env = env, .request = request, .err = err, .good = true};
    void *data = NULL;
    size_t len = 0;
    *done = false;
    if (request->size != sizeof(*request) || request->n_files != 1 || request->match_by_field_id ||
        !may_be_ours(&request->files[0])) {
        return SILT_OK;
    }
    /* Whoever cannot read it says so once: the data plane tries again. */
    if (silt_storage_read(request->storage, call, request->files[0].path, &data, &len, NULL) != SILT_OK) {
        return SILT_OK;
    }
    sl_arena_init(&r.arena, env);
    const silt_status status = read_bytes(&r, sl_str_make(data, len), out);
    *done = status == SILT_OK && r.good;
    silt_schema_unref(r.schema);
    sl_arena_release(&r.arena);
    silt_storage_free(request->storage, data, len);
    return status;
}
