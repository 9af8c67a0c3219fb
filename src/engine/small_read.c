/*
 * Small files of silt's own as rows of Arrow; see small_read.h. The wanted columns are a tree beside that of the file; each leaf has a
 * cursor, of which small_values.c makes columns. What is not exactly as expected is left to the data plane, which then says what is wrong.
 */
#include "engine/small_read.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/arrow.h"
#include "base/error.h"
#include "engine/small_column.h"
#include "engine/small_read_int.h"
#include "schema/type.h"

/* Files that are read whole to see whose they are. */
#define MAX_BYTES ((int64_t)640 << 10)
#define MAX_DEPTH 16
/* A file that says it has more rows is read row by row, so that one that lies costs no more than what is found to be in it. */
#define MAX_COLUMN_ROWS ((int64_t)1 << 20)
#define FILE_INDEX "_silt_file_index"
#define ROW_INDEX "_silt_row_index"

/* ---- the tree ---- */

static silt_status match(struct sl_small_reading *r, const struct silt_type *type, size_t at,
                         struct sl_small_want *node);

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

static silt_status match_leaf(struct sl_small_reading *r, const struct sl_small_element *element,
                              struct sl_small_want *node)
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

static silt_status match_child(struct sl_small_reading *r, const struct silt_type *type, size_t at,
                               struct sl_small_want *parent, struct sl_small_want *child)
{
    child->definition = parent->definition;
    child->repetition = parent->repetition;
    SL_TRY(match(r, type, at, child));
    parent->cursor = parent->cursor == NULL && !child->absent ? child->cursor : parent->cursor;
    return SILT_OK;
}

/* A struct of which no wanted member is in the file is there or null like any of its other members. */
static silt_status match_spare(struct sl_small_reading *r, size_t at, struct sl_small_want *node)
{
    size_t child = at + 1;
    for (size_t i = 0; i < r->file.elements[at].n_children; i++) {
        const struct sl_small_element *element = &r->file.elements[child];
        if (element->physical >= 0 && element->repetition != SL_REPETITION_REPEATED) {
            node->spare = node->cursor = sl_arena_alloc_zero(&r->arena, sizeof(*node->spare));
            if (node->spare == NULL) {
                return sl_fail_nomem(r->err);
            }
            const uint8_t definition = (uint8_t)(node->definition +
                                                 (element->repetition == SL_REPETITION_REQUIRED ? 0 : 1));
            r->good = sl_small_cursor_open(&r->file, element->first_leaf, node->repetition, definition, node->spare);
            return SILT_OK;
        }
        child += element->n_elements;
    }
    r->good = false;
    return SILT_OK;
}

static silt_status match_struct(struct sl_small_reading *r, size_t at, struct sl_small_want *node)
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
static silt_status match_repeated(struct sl_small_reading *r, size_t at, struct sl_small_want *node)
{
    const bool is_map = node->type->kind == SILT_TYPE_MAP;
    const struct sl_small_element *elements = r->file.elements;
    node->n_children = is_map ? 2 : 1;
    if (elements[at].n_children != 1 || elements[at + 1].repetition != SL_REPETITION_REPEATED ||
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
static silt_status match(struct sl_small_reading *r, const struct silt_type *type, size_t at,
                         struct sl_small_want *node)
{
    const struct sl_small_element *element = &r->file.elements[at];
    node->type = type;
    node->absent = at == 0 && node != &r->root;
    if (node->absent || r->depth >= MAX_DEPTH) {
        r->good = r->good && node->absent;
        return SILT_OK;
    }
    node->definition = (uint8_t)(node->definition + (at == 0 || element->repetition == SL_REPETITION_REQUIRED ? 0 : 1));
    if (element->repetition == SL_REPETITION_REPEATED || sl_type_is_nested(type) != (element->physical < 0) ||
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
static bool may_leave_out(const struct sl_small_reading *r)
{
    for (size_t i = 0; i < r->request->n_any_of; i++) {
        if (!has_member(&r->request->schema->root, sl_str_from(r->request->any_of[i]))) {
            return false;
        }
    }
    return r->request->n_any_of > 0;
}

/* How many rows from the one at hand on have no value in any leaf; a list that is there counts as one. */
static int64_t count_empty(const struct sl_small_want *node)
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

static void skip_all(struct sl_small_want *node, int64_t n)
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
static bool is_used_up(const struct sl_small_want *node)
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

static silt_status make_schema(struct sl_small_reading *r)
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

static silt_status put_rows(struct sl_small_reading *r, struct sl_arrow_builder *builder)
{
    const bool sparse = may_leave_out(r);
    if (!sparse && r->file.n_rows <= MAX_COLUMN_ROWS) {
        return sl_small_put_columns(r, builder);
    }
    silt_status status = SILT_OK;
    int64_t row = 0;
    while (row < r->file.n_rows && r->good && status == SILT_OK) {
        const int64_t left = r->file.n_rows - row;
        const int64_t empty = sparse ? count_empty(&r->root) : 0;
        if (empty > 0) {
            skip_all(&r->root, empty < left ? empty : left);
            row += empty < left ? empty : left;
        } else {
            status = sl_small_put_row(r, row++, builder);
        }
    }
    return status;
}

static silt_status build(struct sl_small_reading *r, const struct ArrowSchema *schema, struct ArrowArray *out)
{
    struct sl_arrow_builder *builder = NULL;
    silt_status status = sl_arrow_builder_new(r->env, schema, &builder, r->err);
    if (status == SILT_OK) {
        status = put_rows(r, builder);
    }
    r->good = r->good && is_used_up(&r->root);
    if (status == SILT_OK && r->good) {
        status = sl_arrow_builder_finish(builder, out, r->err);
    }
    sl_arrow_builder_free(builder);
    return status;
}

static silt_status give_out(struct sl_small_reading *r, struct ArrowArrayStream *out)
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

/* ---- files that are taken apart ---- */

struct sl_small_kept {
    struct sl_arena arena; /* of the bytes, too */
    struct sl_small_file file;
};

void sl_small_kept_free(const silt_env *env, struct sl_small_kept *kept)
{
    if (kept != NULL) {
        sl_arena_release(&kept->arena);
        sl_release(env, kept, sizeof(*kept));
    }
}

/* NULL: another file, or no memory. */
static struct sl_small_kept *take_apart(const silt_env *env, struct sl_str bytes)
{
    struct sl_small_kept *kept = sl_alloc_zero(env, sizeof(*kept));
    if (kept == NULL) {
        return NULL;
    }
    sl_arena_init(&kept->arena, env);
    const struct sl_str copy = sl_arena_copy(&kept->arena, bytes);
    if (copy.ptr == NULL || !sl_small_file_parse(&kept->arena, copy, &kept->file)) {
        sl_small_kept_free(env, kept);
        return NULL;
    }
    return kept;
}

static silt_status read_rows(struct sl_small_reading *r, struct ArrowArrayStream *out)
{
    SL_TRY(match(r, &r->request->schema->root, 0, &r->root));
    return r->good ? give_out(r, out) : SILT_OK;
}

/* Whoever reads has what is kept for itself; two at once take the file apart twice. */
static silt_status read_keeping(struct sl_small_reading *r, struct sl_str bytes, sl_small_kept_slot *slot,
                                struct ArrowArrayStream *out)
{
    struct sl_small_kept *kept = atomic_exchange(slot, NULL);
    if (kept != NULL && !sl_str_eq(kept->file.bytes, bytes)) {
        sl_small_kept_free(r->env, kept);
        kept = NULL;
    }
    kept = kept != NULL ? kept : take_apart(r->env, bytes);
    if (kept == NULL) {
        r->good = false;
        return SILT_OK;
    }
    r->file = kept->file;
    const silt_status status = read_rows(r, out);
    sl_small_kept_free(r->env, atomic_exchange(slot, kept));
    return status;
}

static silt_status read_bytes(struct sl_small_reading *r, struct sl_str bytes, struct ArrowArrayStream *out)
{
    r->good = sl_small_file_parse(&r->arena, bytes, &r->file);
    return r->good ? read_rows(r, out) : SILT_OK;
}

static bool is_checkpoint(const silt_parquet_file *file)
{
    return sl_str_find(sl_str_from(file->path), SL_STR(".checkpoint.")) != SIZE_MAX;
}

/*
 * Saves a look into most files of others, no more: their names never end so, or seldom. A store without local paths is far away: there a
 * look that is in vain costs as much as the file.
 */
static bool may_be_ours(const silt_parquet_file *file)
{
    return file->local_path != NULL && file->size_bytes > 0 && file->size_bytes <= MAX_BYTES &&
           (sl_str_ends_with(sl_str_from(file->path), SL_STR("-c000.parquet")) || is_checkpoint(file));
}

silt_status sl_small_read(const silt_env *env, const silt_call *call, const silt_parquet_read *request,
                          sl_small_kept_slot *kept, struct ArrowArrayStream *out, bool *done, silt_error *err)
{
    struct sl_small_reading r = {.env = env, .request = request, .err = err, .good = true};
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
    const struct sl_str bytes = sl_str_make(data, len);
    const bool keeps = kept != NULL && is_checkpoint(&request->files[0]) && len <= (size_t)MAX_BYTES;
    const silt_status status = keeps ? read_keeping(&r, bytes, kept, out) : read_bytes(&r, bytes, out);
    *done = status == SILT_OK && r.good;
    silt_schema_unref(r.schema);
    sl_arena_release(&r.arena);
    silt_storage_free(request->storage, data, len);
    return status;
}
