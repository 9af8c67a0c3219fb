/*
 * One line of a commit to an action (PROTOCOL.md "Actions"), driven by the tables of action_shape.h. Members that silt does
 * not know are kept as JSON text; a member of a wrong kind or a missing required one is SILT_ECORRUPT, except in
 * commitInfo, which is free-form and never fails. Called by log/commit.c. Pure but for the arena; one thread an arena.
 */
#include "kernel/action/action_shape.h"

#include "base/error.h"
#include "json/json.h"

struct parser {
    const silt_env *env;
    struct sl_arena *arena;
    struct sl_str line;
    struct sl_buf text; /* scratch for values kept as JSON */
    silt_error *err;
};

static silt_status wrong_kind(struct parser *p, const struct sl_shape *shape, const char *member, const char *expected)
{
    return sl_fail(p->err, SILT_ECORRUPT, NULL, "%s.%s is not %s", shape->name, member, expected);
}

static silt_status check_count(struct parser *p, const char *name, size_t n)
{
    if (n > SL_ACTION_MAX_MEMBERS) {
        return sl_fail(p->err, SILT_ELIMIT, NULL, "%s has %zu members, more than %zu", name, n, SL_ACTION_MAX_MEMBERS);
    }
    return SILT_OK;
}

static silt_status copy_str(struct parser *p, struct sl_str from, struct sl_str *to)
{
    *to = sl_arena_copy(p->arena, from);
    return to->ptr == NULL ? sl_fail_nomem(p->err) : SILT_OK;
}

static silt_status copy_json(struct parser *p, const sl_json *value, struct sl_str *to)
{
    sl_buf_clear(&p->text);
    sl_json_write(&p->text, value);
    const silt_status status = sl_buf_status(&p->text, p->err);
    return status != SILT_OK ? status : copy_str(p, sl_str_from(sl_buf_cstr(&p->text)), to);
}

/* ---- values ---- */

/* Text of a map's value. Writers that put numbers or booleans mean their text. *ok false: a kind that has none. */
static silt_status map_value(struct parser *p, const sl_json *value, bool nested_too, struct sl_str *out, bool *ok)
{
    struct sl_str text = {NULL, 0};
    bool flag = false;
    *ok = true;
    *out = text;
    switch (sl_json_get_kind(value)) {
    case SL_JSON_NULL: return SILT_OK;
    case SL_JSON_STRING: *ok = sl_json_to_str(value, &text); break;
    case SL_JSON_NUMBER: *ok = sl_json_to_number_text(value, &text); break;
    case SL_JSON_BOOL:
        *ok = sl_json_to_bool(value, &flag);
        text = flag ? SL_STR("true") : SL_STR("false");
        break;
    case SL_JSON_ARRAY:
    case SL_JSON_OBJECT: *ok = nested_too; return nested_too ? copy_json(p, value, out) : SILT_OK;
    }
    return *ok ? copy_str(p, text, out) : SILT_OK;
}

static silt_status parse_map(struct parser *p, const struct sl_shape *shape, const struct sl_member *member,
                             const sl_json *value, struct sl_kv_list *out)
{
    if (!sl_json_is_object(value)) {
        return wrong_kind(p, shape, member->name, "an object");
    }
    const size_t n = sl_json_count(value);
    SL_TRY(check_count(p, member->name, n));
    struct sl_kv *items = NULL;
    if (n > 0) {
        items = sl_arena_alloc_array(p->arena, n, sizeof(*items));
        if (items == NULL) {
            return sl_fail_nomem(p->err);
        }
    }
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_str key = {NULL, 0};
    const sl_json *element = NULL;
    size_t i = 0;
    while (i < n && sl_json_next(&iter, &key, &element)) {
        bool ok = false;
        SL_TRY(copy_str(p, key, &items[i].key));
        SL_TRY(map_value(p, element, member->type == SL_MEMBER_ANYMAP, &items[i].value, &ok));
        if (!ok) {
            return wrong_kind(p, shape, member->name, "an object of texts");
        }
        i++;
    }
    *out = (struct sl_kv_list){items, i};
    return SILT_OK;
}

static silt_status parse_list(struct parser *p, const struct sl_shape *shape, const struct sl_member *member,
                              const sl_json *value, struct sl_str_list *out)
{
    if (!sl_json_is_array(value)) {
        return wrong_kind(p, shape, member->name, "an array");
    }
    const size_t n = sl_json_count(value);
    SL_TRY(check_count(p, member->name, n));
    struct sl_str *items = NULL;
    if (n > 0) {
        items = sl_arena_alloc_array(p->arena, n, sizeof(*items));
        if (items == NULL) {
            return sl_fail_nomem(p->err);
        }
    }
    struct sl_json_iter iter = sl_json_iterate(value);
    const sl_json *element = NULL;
    struct sl_str key = {NULL, 0};
    size_t i = 0;
    while (i < n && sl_json_next(&iter, &key, &element)) {
        struct sl_str text = {NULL, 0};
        if (!sl_json_to_str(element, &text)) {
            return wrong_kind(p, shape, member->name, "an array of texts");
        }
        SL_TRY(copy_str(p, text, &items[i]));
        i++;
    }
    *out = (struct sl_str_list){items, i};
    return SILT_OK;
}

static silt_status parse_str(struct parser *p, const struct sl_shape *shape, const struct sl_member *member,
                             const sl_json *value, struct sl_str *out)
{
    struct sl_str text = {NULL, 0};
    if (!sl_json_to_str(value, &text)) {
        return wrong_kind(p, shape, member->name, "a text");
    }
    return copy_str(p, text, out);
}

static silt_status parse_i64(struct parser *p, const struct sl_shape *shape, const struct sl_member *member,
                             const sl_json *value, int64_t *out)
{
    int64_t number = 0;
    if (!sl_json_to_i64(value, &number) || number == SL_NO_I64) {
        return wrong_kind(p, shape, member->name, "a 64-bit integer");
    }
    if (member->type == SL_MEMBER_SIZE && number < 0) {
        return wrong_kind(p, shape, member->name, "an integer of 0 or more");
    }
    *out = number;
    return SILT_OK;
}

static silt_status parse_members(struct parser *p, const struct sl_shape *shape, const sl_json *object, void *body);

static silt_status parse_dv(struct parser *p, const struct sl_member *member, const sl_json *value,
                            const struct sl_dv_descriptor **out)
{
    struct sl_dv_descriptor *dv = sl_arena_alloc_zero(p->arena, sizeof(*dv));
    if (dv == NULL) {
        return sl_fail_nomem(p->err);
    }
    sl_shape_reset(member->of, dv);
    SL_TRY(parse_members(p, member->of, value, dv));
    *out = dv;
    return SILT_OK;
}

static silt_status parse_value(struct parser *p, const struct sl_shape *shape, const struct sl_member *member,
                               const sl_json *value, void *body)
{
    void *place = sl_member_at(body, member->offset);
    bool flag = false;
    switch (member->type) {
    case SL_MEMBER_STR: return parse_str(p, shape, member, value, place);
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: return parse_i64(p, shape, member, value, place);
    case SL_MEMBER_BOOL:
        return sl_json_to_bool(value, place) ? SILT_OK : wrong_kind(p, shape, member->name, "true or false");
    case SL_MEMBER_FLAG:
        if (!sl_json_to_bool(value, &flag)) {
            return wrong_kind(p, shape, member->name, "true or false");
        }
        *(enum sl_flag *)place = flag ? SL_FLAG_TRUE : SL_FLAG_FALSE;
        return SILT_OK;
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: return parse_map(p, shape, member, value, place);
    case SL_MEMBER_LIST: return parse_list(p, shape, member, value, place);
    case SL_MEMBER_JSON: return copy_json(p, value, place);
    case SL_MEMBER_GROUP: return parse_members(p, member->of, value, body);
    case SL_MEMBER_DV: return parse_dv(p, member, value, place);
    }
    return SILT_OK;
}

/* ---- objects ---- */

static const struct sl_member *find_member(const struct sl_shape *shape, struct sl_str name, size_t *index)
{
    for (size_t i = 0; i < shape->n_members; i++) {
        if (sl_str_eq_c(name, shape->members[i].name)) {
            *index = i;
            return &shape->members[i];
        }
    }
    return NULL;
}

static silt_status keep_extra(struct parser *p, struct sl_extra *extra, size_t room, struct sl_str key,
                              const sl_json *value)
{
    struct sl_kv *items = (struct sl_kv *)(uintptr_t)extra->items;
    if (items == NULL) {
        items = sl_arena_alloc_array(p->arena, room, sizeof(*items));
        if (items == NULL) {
            return sl_fail_nomem(p->err);
        }
        extra->items = items;
    }
    SL_TRY(copy_str(p, key, &items[extra->n].key));
    SL_TRY(copy_json(p, value, &items[extra->n].value));
    extra->n++;
    return SILT_OK;
}

static silt_status check_required(struct parser *p, const struct sl_shape *shape, uint32_t seen)
{
    for (size_t i = 0; i < shape->n_members; i++) {
        if ((shape->members[i].flags & SL_MEMBER_REQUIRED) != 0 && (seen >> i & 1U) == 0) {
            return sl_fail(p->err, SILT_ECORRUPT, NULL, "%s lacks the required member %s", shape->name,
                           shape->members[i].name);
        }
    }
    return SILT_OK;
}

static silt_status parse_members(struct parser *p, const struct sl_shape *shape, const sl_json *object, void *body)
{
    if (!sl_json_is_object(object)) {
        return sl_fail(p->err, SILT_ECORRUPT, NULL, "%s is not an object", shape->name);
    }
    const size_t n = sl_json_count(object);
    SL_TRY(check_count(p, shape->name, n));
    struct sl_json_iter iter = sl_json_iterate(object);
    struct sl_str key = {NULL, 0};
    const sl_json *value = NULL;
    uint32_t seen = 0;
    while (sl_json_next(&iter, &key, &value)) {
        size_t index = 0;
        const struct sl_member *member = find_member(shape, key, &index);
        if (member == NULL) {
            if (shape->extra_offset != SL_NO_OFFSET) {
                SL_TRY(keep_extra(p, sl_member_at(body, shape->extra_offset), n, key, value));
            }
        } else if (!sl_json_is_null(value)) {
            SL_TRY(parse_value(p, shape, member, value, body));
            seen |= UINT32_C(1) << index;
            if (member->has_offset != SL_NO_OFFSET) {
                *(bool *)sl_member_at(body, member->has_offset) = true;
            }
        }
    }
    return check_required(p, shape, seen);
}

/* A time or version that its writer put into quotes. */
static void take_quoted_i64(const struct sl_member *member, const sl_json *value, void *body)
{
    struct sl_str text = {NULL, 0};
    int64_t number = 0;
    if (member->type == SL_MEMBER_I64 && sl_json_to_str(value, &text) && sl_str_to_i64(text, &number)) {
        *(int64_t *)sl_member_at(body, member->offset) = number;
    }
}

/* The object as its writer wrote it, where it is all of the line; else as it was understood. */
static silt_status keep_commit_info(struct parser *p, const sl_json *object, bool is_all, struct sl_str *json)
{
    const struct sl_str begin = SL_STR("{\"commitInfo\":");
    struct sl_str line = sl_str_trim(p->line);
    if (!is_all || !sl_str_starts_with(line, begin) || !sl_str_ends_with(line, SL_STR("}"))) {
        return copy_json(p, object, json);
    }
    return copy_str(p, sl_str_sub(line, begin.len, line.len - 1), json);
}

/* Free-form: what fits is picked out, what does not is left absent; only running out of memory fails. */
static silt_status parse_commit_info(struct parser *p, const struct sl_shape *shape, const sl_json *object, bool is_all,
                                     struct sl_commit_info *info)
{
    silt_error *const err = p->err;
    silt_status status = keep_commit_info(p, object, is_all, &info->json);
    struct sl_json_iter iter = sl_json_iterate(object);
    struct sl_str key = {NULL, 0};
    const sl_json *value = NULL;
    p->err = NULL; /* a member that does not fit is no error worth telling */
    while (status == SILT_OK && sl_json_is_object(object) && sl_json_next(&iter, &key, &value)) {
        size_t index = 0;
        const struct sl_member *member = find_member(shape, key, &index);
        if (member == NULL || sl_json_is_null(value)) {
            continue;
        }
        status = parse_value(p, shape, member, value, info);
        if (status == SILT_ECORRUPT || status == SILT_ELIMIT) {
            take_quoted_i64(member, value, info);
            status = SILT_OK;
        }
    }
    p->err = err;
    return status == SILT_ENOMEM ? sl_fail_nomem(err) : status;
}

/* The one member of a line that is not null. Null ones are what writers of sparse rows leave behind. */
static silt_status find_action(struct parser *p, const sl_json *root, struct sl_str *name, const sl_json **value)
{
    if (!sl_json_is_object(root)) {
        return sl_fail(p->err, SILT_ECORRUPT, NULL, "the line is not a JSON object");
    }
    struct sl_json_iter iter = sl_json_iterate(root);
    struct sl_str key = {NULL, 0};
    const sl_json *member = NULL;
    *value = NULL;
    while (sl_json_next(&iter, &key, &member)) {
        const bool is_commit_info = sl_str_eq(key, SL_STR("commitInfo"));
        if (sl_json_is_null(member) && !is_commit_info) {
            continue;
        }
        if (*value != NULL) {
            return sl_fail(p->err, SILT_ECORRUPT, NULL, "the line holds more than one action: %.*s and %.*s",
                           SL_FMT(*name), SL_FMT(key));
        }
        *name = key;
        *value = member;
    }
    return SILT_OK;
}

static silt_status parse_root(struct parser *p, const sl_json *root, struct sl_action *out)
{
    struct sl_str name = {NULL, 0};
    const sl_json *value = NULL;
    SL_TRY(find_action(p, root, &name, &value));
    const struct sl_shape *shape = value != NULL ? sl_shape_find(name) : NULL;
    if (shape == NULL) {
        out->kind = SL_ACTION_UNKNOWN;
        return SILT_OK;
    }
    out->kind = shape->kind;
    void *body = sl_action_body(out);
    sl_shape_reset(shape, body);
    if (shape->kind == SL_ACTION_COMMIT_INFO) {
        return parse_commit_info(p, shape, value, sl_json_count(root) == 1, body);
    }
    return parse_members(p, shape, value, body);
}

silt_status sl_action_parse(const silt_env *env, struct sl_arena *arena, struct sl_str line, struct sl_action *out,
                            silt_error *err)
{
    *out = (struct sl_action){.kind = SL_ACTION_UNKNOWN};
    if (line.len > SL_ACTION_MAX_LINE) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the line has %zu bytes, more than %zu", line.len, SL_ACTION_MAX_LINE);
    }
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(env, line, &doc, err));
    struct parser p = {.env = env, .arena = arena, .line = line, .err = err};
    sl_buf_init(&p.text, env);
    const silt_status status = parse_root(&p, sl_json_root(doc), out);
    if (status != SILT_OK) {
        *out = (struct sl_action){.kind = SL_ACTION_UNKNOWN};
    }
    sl_buf_release(&p.text);
    sl_json_free(doc);
    return status;
}

silt_status sl_action_parse_body(const silt_env *env, struct sl_arena *arena, const sl_json *body,
                                 struct sl_action *action, silt_error *err)
{
    const struct sl_shape *shape = sl_shape_of(action->kind);
    struct parser p = {.env = env, .arena = arena, .err = err};
    sl_buf_init(&p.text, env);
    *action = (struct sl_action){.kind = action->kind};
    sl_shape_reset(shape, sl_action_body(action));
    const silt_status status = parse_members(&p, shape, body, sl_action_body(action));
    sl_buf_release(&p.text);
    return status;
}
