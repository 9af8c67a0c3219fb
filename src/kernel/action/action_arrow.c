/*
 * Arrow batches of checkpoints to actions; see action_arrow.h. A batch is bound once (columns and members found, formats and
 * shapes checked), then read row by row into one struct. Called by replay/checkpoint_read.c.
 */
#include "kernel/action/action_arrow.h"

#include <string.h>

#include "base/error.h"
#include "kernel/action/action_shape.h"
#include "kernel/action/stats_parsed.h"

#define MAX_MEMBERS 32
#define PARSED "stats_parsed"

/* Memory of lists and maps of rows is given back when it has grown to this. */
#define ROW_ARENA_MAX ((size_t)256 * 1024)

/* A struct column with its members in the order of the shape; members that the batch lacks are NULL. */
struct bound {
    const struct sl_shape *shape;
    const struct ArrowArray *array;
    const struct ArrowArray *members[MAX_MEMBERS];
    struct bound *nested[MAX_MEMBERS];
    const struct ArrowSchema *parsed_schema; /* of add.stats_parsed, NULL if there is none */
    const struct ArrowArray *parsed;
};

struct reader {
    struct sl_arena bindings;
    struct sl_arena rows;
    struct sl_buf text; /* of typed statistics */
    silt_error *err;
};

/* ---- the schema ---- */

static const char *type_json(enum sl_member_type type)
{
    switch (type) {
    case SL_MEMBER_STR:
    case SL_MEMBER_JSON: return "\"string\"";
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: return "\"long\"";
    case SL_MEMBER_BOOL:
    case SL_MEMBER_FLAG: return "\"boolean\"";
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP:
        return "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"string\",\"valueContainsNull\":true}";
    case SL_MEMBER_LIST: return "{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true}";
    case SL_MEMBER_GROUP:
    case SL_MEMBER_DV: break;
    }
    return NULL;
}

/* What is asked for of an action. */
struct wanted {
    bool details;
    const silt_schema *parsed; /* columns of add.stats_parsed; NULL: it is not */
    bool bounds;
};

static void put_shape(struct sl_buf *out, const struct sl_shape *shape, const struct wanted *wanted);

static void put_field(struct sl_buf *out, const char *name, const struct sl_member *member, const struct wanted *wanted)
{
    sl_buf_printf(out, "{\"name\":\"%s\",\"type\":", name);
    if (member->of != NULL) {
        put_shape(out, member->of, wanted);
    } else {
        sl_buf_put_c(out, type_json(member->type));
    }
    sl_buf_put_c(out, ",\"nullable\":true,\"metadata\":{}}");
}

static void put_shape(struct sl_buf *out, const struct sl_shape *shape, const struct wanted *wanted)
{
    sl_buf_put_c(out, "{\"type\":\"struct\",\"fields\":[");
    bool comma = false;
    for (size_t i = 0; i < shape->n_members; i++) {
        const struct sl_member *member = &shape->members[i];
        if ((member->flags & SL_MEMBER_JSON_ONLY) != 0 ||
            ((member->flags & SL_MEMBER_DETAIL) != 0 && !wanted->details)) {
            continue;
        }
        sl_buf_put_c(out, comma ? "," : "");
        put_field(out, member->name, member, wanted);
        comma = true;
    }
    if (wanted->parsed != NULL && shape->kind == SL_ACTION_ADD) {
        sl_buf_put_c(out, ",{\"name\":\"" PARSED "\",\"nullable\":true,\"metadata\":{},\"type\":");
        sl_stats_parsed_put_type(out, wanted->parsed, wanted->bounds);
        sl_buf_put_char(out, '}');
    }
    sl_buf_put_c(out, "]}");
}

static silt_status make_schema(const silt_env *env, unsigned columns, const struct wanted *wanted, silt_schema **out,
                               silt_error *err)
{
    *out = NULL;
    struct sl_buf json;
    sl_buf_init(&json, env);
    sl_buf_put_c(&json, "{\"type\":\"struct\",\"fields\":[");
    bool comma = false;
    for (int kind = SL_ACTION_ADD; kind < SL_ACTION_UNKNOWN; kind++) {
        if ((columns >> kind & 1U) == 0) {
            continue;
        }
        const struct sl_shape *shape = sl_shape_of((enum sl_action_kind)kind);
        const struct sl_member column = {.name = shape->name, .of = shape};
        sl_buf_put_c(&json, comma ? "," : "");
        put_field(&json, column.name, &column, wanted);
        comma = true;
    }
    sl_buf_put_c(&json, "]}");
    silt_status status = sl_buf_status(&json, err);
    if (status == SILT_OK) {
        status = silt_schema_from_json(env, sl_buf_cstr(&json), json.len, out, err);
    }
    sl_buf_release(&json);
    return status;
}

silt_status sl_checkpoint_schema(const silt_env *env, unsigned columns, bool with_details, silt_schema **out,
                                 silt_error *err)
{
    const struct wanted wanted = {.details = with_details};
    return make_schema(env, columns, &wanted, out, err);
}

silt_status sl_checkpoint_schema_parsed(const silt_env *env, unsigned columns, const silt_schema *data, bool bounds,
                                        silt_schema **out, silt_error *err)
{
    const struct wanted wanted = {.details = true, .parsed = data, .bounds = bounds};
    return make_schema(env, columns, &wanted, out, err);
}

/* ---- binding ---- */

static silt_status malformed(struct reader *r, const char *shape, const char *member, const char *what)
{
    return sl_fail(r->err, SILT_EENGINE, NULL,
                   "checkpoint column %s.%s came as an arrow array that is not well-formed: %s", shape, member, what);
}

static const char *expected_format(enum sl_member_type type)
{
    switch (type) {
    case SL_MEMBER_STR:
    case SL_MEMBER_JSON: return "u";
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: return "l";
    case SL_MEMBER_BOOL:
    case SL_MEMBER_FLAG: return "b";
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: return "+m";
    case SL_MEMBER_LIST: return "+l";
    case SL_MEMBER_GROUP:
    case SL_MEMBER_DV: break;
    }
    return "+s";
}

/* Buffers that must be there for a format, and children. */
static bool has_layout(const struct ArrowArray *array, const char *format)
{
    const int64_t buffers = format[0] == 'u' ? 3 : (strcmp(format, "+s") == 0 ? 1 : 2);
    if (array->n_buffers < buffers || array->length < 0 || array->offset < 0 || array->buffers == NULL) {
        return false;
    }
    if (buffers > 1 && array->length > 0 && array->buffers[1] == NULL) {
        return false;
    }
    return true;
}

static bool is_utf8(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    return schema->format != NULL && strcmp(schema->format, "u") == 0 && has_layout(array, "u");
}

/* The inside of lists and maps, which no member describes. */
static bool has_inside(const struct ArrowSchema *schema, const struct ArrowArray *array, enum sl_member_type type)
{
    if (type != SL_MEMBER_LIST && type != SL_MEMBER_MAP && type != SL_MEMBER_ANYMAP) {
        return true;
    }
    if (schema->n_children != 1 || array->n_children != 1) {
        return false;
    }
    const struct ArrowSchema *inner_schema = schema->children[0];
    const struct ArrowArray *inner = array->children[0];
    if (type == SL_MEMBER_LIST) {
        return is_utf8(inner_schema, inner);
    }
    return inner_schema->n_children == 2 && inner->n_children == 2 && inner->offset >= 0 &&
           is_utf8(inner_schema->children[0], inner->children[0]) &&
           is_utf8(inner_schema->children[1], inner->children[1]);
}

static silt_status bind_shape(struct reader *r, const struct sl_shape *shape, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, struct bound **out);

static silt_status bind_member(struct reader *r, struct bound *bound, size_t index, const struct ArrowSchema *schema,
                               const struct ArrowArray *array)
{
    const struct sl_member *member = &bound->shape->members[index];
    const char *format = expected_format(member->type);
    if (schema->format == NULL || strcmp(schema->format, format) != 0) {
        return malformed(r, bound->shape->name, member->name, "its format is not the one that was asked for");
    }
    if (!has_layout(array, format) || !has_inside(schema, array, member->type)) {
        return malformed(r, bound->shape->name, member->name, "it lacks buffers or children");
    }
    if (array->length < bound->array->offset + bound->array->length) {
        return malformed(r, bound->shape->name, member->name, "it is shorter than its parent");
    }
    bound->members[index] = array;
    return member->of != NULL ? bind_shape(r, member->of, schema, array, &bound->nested[index]) : SILT_OK;
}

static silt_status bind_shape(struct reader *r, const struct sl_shape *shape, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, struct bound **out)
{
    *out = NULL;
    if (schema->n_children != array->n_children || !has_layout(array, "+s")) {
        return malformed(r, shape->name, "*", "schema and array differ");
    }
    struct bound *bound = sl_arena_alloc_zero(&r->bindings, sizeof(*bound));
    if (bound == NULL) {
        return sl_fail_nomem(r->err);
    }
    bound->shape = shape;
    bound->array = array;
    for (int64_t c = 0; c < schema->n_children; c++) {
        const char *name = schema->children[c]->name;
        if (name != NULL && shape->kind == SL_ACTION_ADD && strcmp(name, PARSED) == 0) {
            bound->parsed_schema = schema->children[c];
            bound->parsed = array->children[c];
        }
        for (size_t i = 0; name != NULL && i < shape->n_members; i++) {
            if (strcmp(name, shape->members[i].name) == 0) {
                SL_TRY(bind_member(r, bound, i, schema->children[c], array->children[c]));
            }
        }
    }
    *out = bound;
    return SILT_OK;
}

/* ---- reading rows ---- */

static bool is_null(const struct ArrowArray *array, int64_t row)
{
    if (array == NULL) {
        return true;
    }
    const uint8_t *bits = array->null_count == 0 ? NULL : array->buffers[0];
    const int64_t bit = row + array->offset;
    return bits != NULL && (bits[bit / 8] >> (bit % 8) & 1) == 0;
}

static int64_t i64_at(const struct ArrowArray *array, int64_t row)
{
    return ((const int64_t *)array->buffers[1])[row + array->offset];
}

static bool bool_at(const struct ArrowArray *array, int64_t row)
{
    const int64_t bit = row + array->offset;
    return (((const uint8_t *)array->buffers[1])[bit / 8] >> (bit % 8) & 1) != 0;
}

/* Begin and end of a text's bytes or of a list's elements. */
static bool range_at(const struct ArrowArray *array, int64_t row, int64_t *begin, int64_t *end)
{
    const int32_t *offsets = array->buffers[1];
    *begin = offsets[row + array->offset];
    *end = offsets[row + array->offset + 1];
    return *begin >= 0 && *begin <= *end;
}

static bool str_at(const struct ArrowArray *array, int64_t row, struct sl_str *out)
{
    int64_t begin = 0;
    int64_t end = 0;
    *out = (struct sl_str){NULL, 0};
    if (is_null(array, row)) {
        return true;
    }
    if (!range_at(array, row, &begin, &end) || (end > begin && array->buffers[2] == NULL)) {
        return false;
    }
    const char *bytes = array->buffers[2];
    *out = end > begin ? sl_str_make(bytes + begin, (size_t)(end - begin)) : SL_STR("");
    return true;
}

static silt_status list_at(struct reader *r, const struct ArrowArray *array, int64_t row, struct sl_str_list *out,
                           bool *ok)
{
    int64_t begin = 0;
    int64_t end = 0;
    const struct ArrowArray *child = array->children[0];
    *ok = range_at(array, row, &begin, &end) && end <= child->length;
    if (!*ok || begin == end) {
        return SILT_OK;
    }
    struct sl_str *items = sl_arena_alloc_array(&r->rows, (size_t)(end - begin), sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(r->err);
    }
    for (int64_t i = begin; i < end && *ok; i++) {
        *ok = str_at(child, i, &items[i - begin]) && items[i - begin].ptr != NULL;
    }
    *out = (struct sl_str_list){items, (size_t)(end - begin)};
    return SILT_OK;
}

static silt_status map_at(struct reader *r, const struct ArrowArray *array, int64_t row, struct sl_kv_list *out,
                          bool *ok)
{
    int64_t begin = 0;
    int64_t end = 0;
    const struct ArrowArray *entries = array->children[0];
    *ok = range_at(array, row, &begin, &end) && end <= entries->length &&
          entries->offset + entries->length <= entries->children[0]->length &&
          entries->offset + entries->length <= entries->children[1]->length;
    if (!*ok || begin == end) {
        return SILT_OK;
    }
    struct sl_kv *items = sl_arena_alloc_array(&r->rows, (size_t)(end - begin), sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(r->err);
    }
    for (int64_t i = begin; i < end && *ok; i++) {
        struct sl_kv *item = &items[i - begin];
        *ok = str_at(entries->children[0], i + entries->offset, &item->key) && item->key.ptr != NULL &&
              str_at(entries->children[1], i + entries->offset, &item->value);
    }
    *out = (struct sl_kv_list){items, (size_t)(end - begin)};
    return SILT_OK;
}

static silt_status read_members(struct reader *r, const struct bound *bound, int64_t row, void *body);

static silt_status read_nested(struct reader *r, const struct bound *bound, size_t index, int64_t row, void *body)
{
    const struct sl_member *member = &bound->shape->members[index];
    if (member->type == SL_MEMBER_GROUP) {
        return read_members(r, bound->nested[index], row, body);
    }
    /* A struct of nulls is what some writers leave where there is no vector. */
    const struct bound *nested = bound->nested[index];
    if (is_null(nested->members[0], row + nested->array->offset)) {
        return SILT_OK;
    }
    struct sl_dv_descriptor *dv = sl_arena_alloc_zero(&r->rows, sizeof(*dv));
    if (dv == NULL) {
        return sl_fail_nomem(r->err);
    }
    sl_shape_reset(member->of, dv);
    *(const struct sl_dv_descriptor **)sl_member_at(body, member->offset) = dv;
    return read_members(r, nested, row, dv);
}

static silt_status read_value(struct reader *r, const struct bound *bound, size_t index, int64_t row, void *body)
{
    const struct sl_member *member = &bound->shape->members[index];
    const struct ArrowArray *array = bound->members[index];
    void *place = sl_member_at(body, member->offset);
    bool ok = true;
    silt_status status = SILT_OK;
    switch (member->type) {
    case SL_MEMBER_STR:
    case SL_MEMBER_JSON: ok = str_at(array, row, place); break;
    case SL_MEMBER_I64:
        *(int64_t *)place = i64_at(array, row);
        ok = i64_at(array, row) != SL_NO_I64;
        break;
    case SL_MEMBER_SIZE:
        *(int64_t *)place = i64_at(array, row);
        ok = i64_at(array, row) >= 0;
        break;
    case SL_MEMBER_BOOL: *(bool *)place = bool_at(array, row); break;
    case SL_MEMBER_FLAG: *(enum sl_flag *)place = bool_at(array, row) ? SL_FLAG_TRUE : SL_FLAG_FALSE; break;
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: status = map_at(r, array, row, place, &ok); break;
    case SL_MEMBER_LIST: status = list_at(r, array, row, place, &ok); break;
    case SL_MEMBER_GROUP:
    case SL_MEMBER_DV: status = read_nested(r, bound, index, row, body); break;
    }
    if (status == SILT_OK && !ok) {
        return sl_fail(r->err, SILT_ECORRUPT, NULL, "checkpoint holds an unusable %s.%s", bound->shape->name,
                       member->name);
    }
    return status;
}

/* What the protocol requires must be there; but an empty map or list and false are what null means elsewhere. */
static bool may_be_null(const struct sl_member *member)
{
    const bool has_neutral = member->type == SL_MEMBER_MAP || member->type == SL_MEMBER_ANYMAP ||
                             member->type == SL_MEMBER_LIST || member->type == SL_MEMBER_BOOL;
    return (member->flags & SL_MEMBER_REQUIRED) == 0 || has_neutral;
}

/* row counts from the parent's first; the struct's own offset is added here. */
static silt_status read_members(struct reader *r, const struct bound *bound, int64_t row, void *body)
{
    const int64_t child_row = row + bound->array->offset;
    for (size_t i = 0; i < bound->shape->n_members; i++) {
        const struct sl_member *member = &bound->shape->members[i];
        if (is_null(bound->members[i], child_row)) {
            if (!may_be_null(member)) {
                return sl_fail(r->err, SILT_ECORRUPT, NULL, "checkpoint holds a %s without %s", bound->shape->name,
                               member->name);
            }
            continue;
        }
        SL_TRY(read_value(r, bound, i, child_row, body));
        if (member->has_offset != SL_NO_OFFSET) {
            *(bool *)sl_member_at(body, member->has_offset) = true;
        }
    }
    return SILT_OK;
}

/* Typed statistics take the place of a text that is not there. */
static silt_status read_parsed(struct reader *r, const struct bound *bound, int64_t row, struct sl_add *add)
{
    sl_buf_clear(&r->text);
    SL_TRY(sl_stats_parsed_write(&r->text, bound->parsed_schema, bound->parsed, row + bound->array->offset, r->err));
    if (r->text.len == 0) {
        return SILT_OK;
    }
    add->stats = sl_arena_copy(&r->rows, sl_buf_view(&r->text));
    return add->stats.ptr != NULL ? SILT_OK : sl_fail_nomem(r->err);
}

/* The action of a row in one column. A struct whose first member is null is no action. */
static silt_status read_action(struct reader *r, const struct bound *bound, int64_t row, struct sl_action *action,
                               bool *found)
{
    *found = !is_null(bound->array, row) && !is_null(bound->members[0], row + bound->array->offset);
    if (!*found) {
        return SILT_OK;
    }
    *action = (struct sl_action){.kind = bound->shape->kind};
    sl_shape_reset(bound->shape, sl_action_body(action));
    SL_TRY(read_members(r, bound, row, sl_action_body(action)));
    const bool lacks_stats = action->kind == SL_ACTION_ADD && action->u.add.stats.ptr == NULL;
    return lacks_stats && bound->parsed != NULL ? read_parsed(r, bound, row, &action->u.add) : SILT_OK;
}

static silt_status read_rows(struct reader *r, struct bound *const *columns, size_t n_columns,
                             const struct ArrowArray *batch,
                             silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                             void *ctx)
{
    struct sl_action action = {.kind = SL_ACTION_UNKNOWN};
    for (int64_t row = 0; row < batch->length; row++) {
        if (r->rows.total_bytes > ROW_ARENA_MAX) {
            sl_arena_release(&r->rows);
        }
        for (size_t c = 0; c < n_columns; c++) {
            bool found = false;
            SL_TRY(read_action(r, columns[c], row + batch->offset, &action, &found));
            if (found) {
                SL_TRY(visit(ctx, &action, r->err));
            }
        }
    }
    return SILT_OK;
}

silt_status sl_actions_from_arrow(const silt_env *env, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                  silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                                  void *ctx, silt_error *err)
{
    struct reader r = {.err = err};
    sl_arena_init(&r.bindings, env);
    sl_arena_init(&r.rows, env);
    sl_buf_init(&r.text, env);
    struct bound *columns[SL_ACTION_UNKNOWN];
    size_t n_columns = 0;
    silt_status status = SILT_OK;
    if (schema->n_children != batch->n_children || batch->length < 0 || batch->offset < 0) {
        status = malformed(&r, "*", "*", "schema and array differ");
    }
    for (int64_t c = 0; status == SILT_OK && c < schema->n_children && n_columns < SL_ACTION_UNKNOWN; c++) {
        const struct sl_shape *shape = sl_shape_find(sl_str_from(schema->children[c]->name));
        if (shape != NULL && batch->children[c]->length < batch->offset + batch->length) {
            status = malformed(&r, shape->name, "*", "it is shorter than its parent");
        } else if (shape != NULL) {
            status = bind_shape(&r, shape, schema->children[c], batch->children[c], &columns[n_columns]);
            n_columns += status == SILT_OK ? 1 : 0;
        }
    }
    if (status == SILT_OK) {
        status = read_rows(&r, columns, n_columns, batch, visit, ctx);
    }
    sl_arena_release(&r.bindings);
    sl_arena_release(&r.rows);
    sl_buf_release(&r.text);
    return status;
}
