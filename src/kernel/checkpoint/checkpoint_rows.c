/*
 * Rows from structs; see checkpoint_rows.h. Names are resolved once a column, then a row is a walk over its members.
 */
#include "kernel/checkpoint/checkpoint_rows.h"

#include <string.h>

#include "base/error.h"
#include "kernel/scan/batch.h"

struct part {
    struct sl_arrow_builder *builder;
    const struct sl_member *member; /* NULL: always null */
    struct sl_rows_shape *nested;   /* of a group or vector */
};

struct sl_rows_shape {
    struct sl_arrow_builder *builder;
    size_t n;
    struct part parts[];
};

/* ---- binding ---- */

static const struct sl_member *find_member(const struct sl_shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->n_members; i++) {
        if (name != NULL && strcmp(shape->members[i].name, name) == 0) {
            return &shape->members[i];
        }
    }
    return NULL;
}

static silt_status bind(struct sl_arena *arena, const struct ArrowSchema *schema, struct sl_arrow_builder *builder,
                        const struct sl_shape *shape, struct sl_rows_shape **out, silt_error *err)
{
    const size_t n = (size_t)schema->n_children;
    struct sl_rows_shape *bound = sl_arena_alloc_zero(arena, sizeof(*bound) + n * sizeof(struct part));
    if (bound == NULL) {
        return sl_fail_nomem(err);
    }
    bound->builder = builder;
    bound->n = n;
    for (size_t i = 0; i < n; i++) {
        struct part *part = &bound->parts[i];
        part->builder = sl_arrow_builder_child(builder, i);
        part->member = find_member(shape, schema->children[i]->name);
        if (part->member != NULL && part->member->of != NULL) {
            SL_TRY(bind(arena, schema->children[i], part->builder, part->member->of, &part->nested, err));
        }
    }
    *out = bound;
    return SILT_OK;
}

silt_status sl_action_rows_init(struct sl_action_rows *rows, const silt_env *env, const struct ArrowSchema *schema,
                                enum sl_action_kind kind, silt_error *err)
{
    *rows = (struct sl_action_rows){0};
    sl_arena_init(&rows->arena, env);
    silt_status status = sl_arrow_builder_new(env, schema, &rows->builder, err);
    if (status == SILT_OK) {
        status = bind(&rows->arena, schema, rows->builder, sl_shape_of(kind), &rows->root, err);
    }
    if (status != SILT_OK) {
        sl_action_rows_release(rows);
    }
    return status;
}

void sl_action_rows_release(struct sl_action_rows *rows)
{
    sl_arrow_builder_free(rows->builder);
    if (rows->arena.env != NULL) {
        sl_arena_release(&rows->arena);
    }
    *rows = (struct sl_action_rows){0};
}

bool sl_action_rows_has_begun(const struct sl_action_rows *rows)
{
    return rows->builder != NULL;
}

int64_t sl_action_rows_length(const struct sl_action_rows *rows)
{
    return sl_action_rows_has_begun(rows) ? sl_arrow_builder_length(rows->builder) : 0;
}

/* ---- a row ---- */

static silt_status put_text(struct sl_arrow_builder *builder, struct sl_str text, silt_error *err)
{
    return text.ptr != NULL ? sl_arrow_append_bytes(builder, text, err) : sl_arrow_append_null(builder, err);
}

static silt_status put_map(struct sl_arrow_builder *builder, const struct sl_kv_list *map, silt_error *err)
{
    struct sl_arrow_builder *entries = sl_arrow_builder_child(builder, 0);
    for (size_t i = 0; i < map->n; i++) {
        SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(entries, 0), map->items[i].key, err));
        SL_TRY(put_text(sl_arrow_builder_child(entries, 1), map->items[i].value, err));
        SL_TRY(sl_arrow_append_nested(entries, err));
    }
    return sl_arrow_append_nested(builder, err);
}

static silt_status put_list(struct sl_arrow_builder *builder, const struct sl_str_list *list, silt_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        SL_TRY(sl_arrow_append_bytes(sl_arrow_builder_child(builder, 0), list->items[i], err));
    }
    return sl_arrow_append_nested(builder, err);
}

static silt_status put_number(struct sl_arrow_builder *builder, int64_t value, silt_error *err)
{
    return value != SL_NO_I64 ? sl_arrow_append_i64(builder, value, err) : sl_arrow_append_null(builder, err);
}

static silt_status put_struct(const struct sl_rows_shape *shape, const void *body, silt_error *err);

static silt_status put_nested(const struct part *part, const void *body, silt_error *err)
{
    if (part->member->type == SL_MEMBER_GROUP) {
        return put_struct(part->nested, body, err);
    }
    const struct sl_dv_descriptor *const *vector = sl_member_at_const(body, part->member->offset);
    return *vector != NULL ? put_struct(part->nested, *vector, err) : sl_arrow_append_null(part->builder, err);
}

static silt_status put_member(const struct part *part, const void *body, silt_error *err)
{
    const struct sl_member *member = part->member;
    if (member == NULL ||
        (member->has_offset != SL_NO_OFFSET && !*(const bool *)sl_member_at_const(body, member->has_offset))) {
        return sl_arrow_append_null(part->builder, err);
    }
    const void *place = sl_member_at_const(body, member->offset);
    switch (member->type) {
    case SL_MEMBER_STR:
    case SL_MEMBER_JSON: return put_text(part->builder, *(const struct sl_str *)place, err);
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: return put_number(part->builder, *(const int64_t *)place, err);
    case SL_MEMBER_BOOL: return sl_arrow_append_i64(part->builder, *(const bool *)place, err);
    case SL_MEMBER_FLAG: {
        const enum sl_flag flag = *(const enum sl_flag *)place;
        return put_number(part->builder, flag == SL_FLAG_ABSENT ? SL_NO_I64 : flag == SL_FLAG_TRUE, err);
    }
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: return put_map(part->builder, place, err);
    case SL_MEMBER_LIST: return put_list(part->builder, place, err);
    case SL_MEMBER_GROUP:
    case SL_MEMBER_DV: break;
    }
    return put_nested(part, body, err);
}

static silt_status put_struct(const struct sl_rows_shape *shape, const void *body, silt_error *err)
{
    for (size_t i = 0; i < shape->n; i++) {
        SL_TRY(put_member(&shape->parts[i], body, err));
    }
    return sl_arrow_append_nested(shape->builder, err);
}

silt_status sl_action_rows_put(struct sl_action_rows *rows, const void *body, silt_error *err)
{
    return put_struct(rows->root, body, err);
}

silt_status sl_action_rows_take(struct sl_action_rows *rows, struct ArrowArray *out, silt_error *err)
{
    return sl_arrow_builder_finish(rows->builder, out, err);
}

/* ---- batches ---- */

silt_status sl_action_rows_batch(const silt_env *env, const struct ArrowSchema *schema, size_t index,
                                 struct ArrowArray *column, struct ArrowArray *out, silt_error *err)
{
    const size_t n = (size_t)column->length;
    silt_status status = sl_batch_new(env, (size_t)schema->n_children, column->length, out, err);
    for (size_t i = 0; i < (size_t)schema->n_children && status == SILT_OK; i++) {
        if (i == index) {
            sl_arrow_array_move(out->children[i], column);
        } else {
            status = sl_arrow_nulls(env, schema->children[i], n, out->children[i], err);
        }
    }
    sl_arrow_array_release(column);
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}
