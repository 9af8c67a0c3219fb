/*
 * An action as one line of JSON, driven by the tables of action_shape.h: required members always, optional ones only when
 * they are present, members that silt does not know as they were read. Called by transactions, version checksums and log compaction. Pure.
 */
#include "kernel/action/action_shape.h"

#include "base/error.h"
#include "json/writer.h"

static bool is_present(const struct sl_member *member, const void *body)
{
    if ((member->flags & SL_MEMBER_REQUIRED) != 0) {
        return true;
    }
    if (member->has_offset != SL_NO_OFFSET) {
        return *(const bool *)sl_member_at_const(body, member->has_offset);
    }
    const void *place = sl_member_at_const(body, member->offset);
    switch (member->type) {
    case SL_MEMBER_STR:
    case SL_MEMBER_JSON: return ((const struct sl_str *)place)->ptr != NULL;
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: return *(const int64_t *)place != SL_NO_I64;
    case SL_MEMBER_FLAG: return *(const enum sl_flag *)place != SL_FLAG_ABSENT;
    case SL_MEMBER_DV: return *(const struct sl_dv_descriptor *const *)place != NULL;
    case SL_MEMBER_ANYMAP: return ((const struct sl_kv_list *)place)->n > 0;
    case SL_MEMBER_BOOL:
    case SL_MEMBER_MAP: /* configuration and format.options: always written, as the protocol wants them */
    case SL_MEMBER_LIST:
    case SL_MEMBER_GROUP: return true;
    }
    return true;
}

static void write_map(struct sl_json_writer *w, const struct sl_kv_list *map)
{
    sl_json_begin_object(w);
    for (size_t i = 0; i < map->n; i++) {
        sl_json_key(w, map->items[i].key);
        sl_json_put_str(w, map->items[i].value);
    }
    sl_json_end_object(w);
}

static void write_list(struct sl_json_writer *w, const struct sl_str_list *list)
{
    sl_json_begin_array(w);
    for (size_t i = 0; i < list->n; i++) {
        sl_json_put_str(w, list->items[i]);
    }
    sl_json_end_array(w);
}

static silt_status write_object(struct sl_json_writer *w, const struct sl_shape *shape, const void *body,
                                silt_error *err);

static silt_status write_value(struct sl_json_writer *w, const struct sl_member *member, const void *body,
                               silt_error *err)
{
    const void *place = sl_member_at_const(body, member->offset);
    switch (member->type) {
    case SL_MEMBER_STR: sl_json_put_str(w, *(const struct sl_str *)place); break;
    case SL_MEMBER_JSON: sl_json_put_raw(w, *(const struct sl_str *)place); break;
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: sl_json_put_i64(w, *(const int64_t *)place); break;
    case SL_MEMBER_BOOL: sl_json_put_bool(w, *(const bool *)place); break;
    case SL_MEMBER_FLAG: sl_json_put_bool(w, *(const enum sl_flag *)place == SL_FLAG_TRUE); break;
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: write_map(w, place); break;
    case SL_MEMBER_LIST: write_list(w, place); break;
    case SL_MEMBER_GROUP: return write_object(w, member->of, body, err);
    case SL_MEMBER_DV: return write_object(w, member->of, *(const struct sl_dv_descriptor *const *)place, err);
    }
    return SILT_OK;
}

/* A required member that was never set is the caller's fault; it must not become a line that others refuse. */
static silt_status check_set(const struct sl_shape *shape, const struct sl_member *member, const void *body,
                             silt_error *err)
{
    const void *place = sl_member_at_const(body, member->offset);
    const bool is_text = member->type == SL_MEMBER_STR;
    const bool is_number = member->type == SL_MEMBER_I64 || member->type == SL_MEMBER_SIZE;
    if ((is_text && ((const struct sl_str *)place)->ptr == NULL) ||
        (is_number && *(const int64_t *)place == SL_NO_I64)) {
        return sl_fail(err, SILT_EINVALID, NULL, "%s.%s must be set to be written", shape->name, member->name);
    }
    return SILT_OK;
}

static void write_extra(struct sl_json_writer *w, const struct sl_extra *extra)
{
    for (size_t i = 0; i < extra->n; i++) {
        sl_json_key(w, extra->items[i].key);
        sl_json_put_raw(w, extra->items[i].value);
    }
}

static silt_status write_object(struct sl_json_writer *w, const struct sl_shape *shape, const void *body,
                                silt_error *err)
{
    sl_json_begin_object(w);
    for (size_t i = 0; i < shape->n_members; i++) {
        const struct sl_member *member = &shape->members[i];
        if (!is_present(member, body)) {
            continue;
        }
        if ((member->flags & SL_MEMBER_REQUIRED) != 0) {
            SL_TRY(check_set(shape, member, body, err));
        }
        sl_json_key_c(w, member->name);
        SL_TRY(write_value(w, member, body, err));
    }
    if (shape->extra_offset != SL_NO_OFFSET) {
        write_extra(w, sl_member_at_const(body, shape->extra_offset));
    }
    sl_json_end_object(w);
    return SILT_OK;
}

silt_status sl_action_write_body(struct sl_json_writer *w, const struct sl_action *action, silt_error *err)
{
    const struct sl_shape *shape = sl_shape_of(action->kind);
    if (shape == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "an unknown action cannot be written");
    }
    if (action->kind == SL_ACTION_COMMIT_INFO && action->u.commit_info.json.ptr != NULL) {
        sl_json_put_raw(w, action->u.commit_info.json);
        return SILT_OK;
    }
    return write_object(w, shape, sl_action_body_const(action), err);
}

silt_status sl_action_write(struct sl_buf *out, const struct sl_action *action, silt_error *err)
{
    const struct sl_shape *shape = sl_shape_of(action->kind);
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    sl_json_begin_object(&w);
    sl_json_key_c(&w, shape != NULL ? shape->name : "");
    SL_TRY(sl_action_write_body(&w, action, err));
    sl_json_end_object(&w);
    sl_buf_put_char(out, '\n');
    return sl_buf_status(out, err);
}
