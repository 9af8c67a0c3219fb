/*
 * Random lines of commits; see action_random.h.
 */
#include "action_random.h"

#include <string.h>

#include "json_random.h"
#include "kernel/action/action_shape.h"

#define MAX_MEMBERS 40

static void put_text(struct sl_buf *out, uint64_t *state)
{
    static const char stats[] =
        "\"{\\\"numRecords\\\":1000,\\\"minValues\\\":{\\\"id\\\":17,\\\"name\\\":\\\"a\\\\\\\"b\\\"},\\\"maxValues\\\":{"
        "\\\"id\\\":4000,\\\"name\\\":\\\"zé\\\"},\\\"nullCount\\\":{\\\"id\\\":0,\\\"name\\\":5}}\"";
    static const char path[] = "\"day=2026-01-02/part-00017-5fba94ed-9794-4965-ba6e-6ee3c0d22af9.c000.snappy.parquet\"";
    switch (json_random_below(state, 5)) {
    case 0: sl_buf_put_c(out, stats); return;
    case 1: json_random_string(out, state); return;
    case 2: sl_buf_put_c(out, "\"\""); return;
    default: sl_buf_put_c(out, path); return;
    }
}

static void put_map(struct sl_buf *out, uint64_t *state)
{
    const uint64_t n = json_random_below(state, 30) == 0 ? json_random_below(state, 40) : json_random_below(state, 4);
    sl_buf_put_char(out, '{');
    for (uint64_t i = 0; i < n; i++) {
        sl_buf_put_c(out, i > 0 ? "," : "");
        put_text(out, state);
        sl_buf_put_char(out, ':');
        if (json_random_below(state, 6) == 0) {
            sl_buf_put_c(out, "null");
        } else if (json_random_below(state, 20) == 0) {
            json_random_value(out, state, 5);
        } else {
            put_text(out, state);
        }
    }
    sl_buf_put_char(out, '}');
}

static void put_list(struct sl_buf *out, uint64_t *state)
{
    const uint64_t n = json_random_below(state, 30) == 0 ? json_random_below(state, 40) : json_random_below(state, 4);
    sl_buf_put_char(out, '[');
    for (uint64_t i = 0; i < n; i++) {
        sl_buf_put_c(out, i > 0 ? "," : "");
        put_text(out, state);
    }
    sl_buf_put_char(out, ']');
}

static void put_object(struct sl_buf *out, uint64_t *state, const struct sl_shape *shape);

static void put_member_value(struct sl_buf *out, uint64_t *state, const struct sl_member *member)
{
    const uint64_t odd = json_random_below(state, 60);
    if (odd == 0) {
        json_random_value(out, state, 3);
        return;
    }
    if (odd == 1 || (odd == 2 && (member->flags & SL_MEMBER_REQUIRED) == 0)) {
        sl_buf_put_c(out, "null");
        return;
    }
    switch (member->type) {
    case SL_MEMBER_STR: put_text(out, state); break;
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE:
        if (odd < 8) {
            json_random_number(out, state);
        } else {
            sl_buf_put_u64(out, json_random_next(state) >> (5 + json_random_below(state, 58)));
        }
        break;
    case SL_MEMBER_BOOL:
    case SL_MEMBER_FLAG: sl_buf_put_c(out, json_random_below(state, 2) == 0 ? "true" : "false"); break;
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: put_map(out, state); break;
    case SL_MEMBER_LIST: put_list(out, state); break;
    case SL_MEMBER_JSON: json_random_value(out, state, 3); break;
    case SL_MEMBER_GROUP:
    case SL_MEMBER_DV: put_object(out, state, member->of); break;
    }
}

static void put_members(struct sl_buf *out, uint64_t *state, const struct sl_shape *shape, size_t first)
{
    for (size_t i = 0; i < shape->n_members; i++) {
        const struct sl_member *member = &shape->members[(first + i) % shape->n_members];
        const bool is_required = (member->flags & SL_MEMBER_REQUIRED) != 0;
        if (json_random_below(state, is_required ? 300 : 2) == 0) {
            continue;
        }
        json_random_space(out, state);
        sl_buf_printf(out, "\"%s\":", member->name);
        put_member_value(out, state, member);
        sl_buf_put_char(out, ',');
    }
}

/* Members in their order or another one, some left out, seldom one twice or one that nobody knows. */
static void put_object(struct sl_buf *out, uint64_t *state, const struct sl_shape *shape)
{
    sl_buf_put_char(out, '{');
    put_members(out, state, shape, json_random_below(state, 3) == 0 ? json_random_below(state, shape->n_members) : 0);
    if (json_random_below(state, 20) == 0) {
        put_members(out, state, shape, 0);
    }
    if (json_random_below(state, 20) == 0) {
        json_random_string(out, state);
        sl_buf_put_char(out, ':');
        json_random_value(out, state, 4);
        sl_buf_put_char(out, ',');
    }
    if (out->len > 0 && out->data[out->len - 1] == ',' && json_random_below(state, 500) != 0) {
        out->len--;
    }
    json_random_space(out, state);
    sl_buf_put_char(out, '}');
}

void action_random_line(struct sl_buf *out, uint64_t *state)
{
    const enum sl_action_kind kinds[] = {SL_ACTION_ADD, SL_ACTION_ADD, SL_ACTION_REMOVE,
                                         (enum sl_action_kind)json_random_below(state, SL_ACTION_UNKNOWN)};
    const struct sl_shape *shape = sl_shape_of(kinds[json_random_below(state, 4)]);
    json_random_space(out, state);
    sl_buf_put_char(out, '{');
    if (json_random_below(state, 60) == 0) {
        sl_buf_put_c(out, "\"cdc\":null,");
    }
    sl_buf_printf(out, "\"%s\":", json_random_below(state, 200) == 0 ? "fooBar" : shape->name);
    put_object(out, state, shape);
    if (json_random_below(state, 60) == 0) {
        sl_buf_put_c(out, ",\"txn\":null");
    }
    sl_buf_put_char(out, '}');
    json_random_space(out, state);
    if (json_random_below(state, 4) == 0) {
        json_random_mutate(out, state);
    }
    for (size_t i = 0; i < out->len; i++) {
        out->data[i] = out->data[i] == '\n' ? ' ' : out->data[i];
    }
}

/* ---- comparison ---- */

static bool same_text(struct sl_str a, struct sl_str b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && sl_str_eq(a, b);
}

static bool same_kvs(const struct sl_kv *a, const struct sl_kv *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!same_text(a[i].key, b[i].key) || !same_text(a[i].value, b[i].value)) {
            return false;
        }
    }
    return true;
}

static bool same_list(const struct sl_str_list *a, const struct sl_str_list *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        same = same_text(a->items[i], b->items[i]);
    }
    return same;
}

static const char *compare_bodies(const struct sl_shape *shape, const void *a, const void *b);

static bool same_member(const struct sl_member *member, const void *a, const void *b)
{
    const void *x = sl_member_at_const(a, member->offset);
    const void *y = sl_member_at_const(b, member->offset);
    switch (member->type) {
    case SL_MEMBER_STR:
    case SL_MEMBER_JSON: return same_text(*(const struct sl_str *)x, *(const struct sl_str *)y);
    case SL_MEMBER_I64:
    case SL_MEMBER_SIZE: return *(const int64_t *)x == *(const int64_t *)y;
    case SL_MEMBER_BOOL: return *(const bool *)x == *(const bool *)y;
    case SL_MEMBER_FLAG: return *(const enum sl_flag *)x == *(const enum sl_flag *)y;
    case SL_MEMBER_MAP:
    case SL_MEMBER_ANYMAP: {
        const struct sl_kv_list *p = x;
        const struct sl_kv_list *q = y;
        return p->n == q->n && same_kvs(p->items, q->items, p->n);
    }
    case SL_MEMBER_LIST: return same_list(x, y);
    case SL_MEMBER_GROUP: return compare_bodies(member->of, a, b) == NULL;
    case SL_MEMBER_DV: {
        const struct sl_dv_descriptor *p = *(const struct sl_dv_descriptor *const *)x;
        const struct sl_dv_descriptor *q = *(const struct sl_dv_descriptor *const *)y;
        return (p == NULL) == (q == NULL) && (p == NULL || compare_bodies(member->of, p, q) == NULL);
    }
    }
    return false;
}

static const char *compare_bodies(const struct sl_shape *shape, const void *a, const void *b)
{
    for (size_t i = 0; i < shape->n_members; i++) {
        const struct sl_member *member = &shape->members[i];
        if (!same_member(member, a, b)) {
            return member->name;
        }
        if (member->has_offset != SL_NO_OFFSET && *(const bool *)sl_member_at_const(a, member->has_offset) !=
                                                      *(const bool *)sl_member_at_const(b, member->has_offset)) {
            return member->name;
        }
    }
    if (shape->extra_offset == SL_NO_OFFSET) {
        return NULL;
    }
    const struct sl_extra *p = sl_member_at_const(a, shape->extra_offset);
    const struct sl_extra *q = sl_member_at_const(b, shape->extra_offset);
    return p->n == q->n && same_kvs(p->items, q->items, p->n) ? NULL : "unknown members";
}

const char *action_difference(const struct sl_action *a, const struct sl_action *b)
{
    if (a->kind != b->kind) {
        return "kind";
    }
    const struct sl_shape *shape = sl_shape_of(a->kind);
    return shape != NULL ? compare_bodies(shape, sl_action_body_const(a), sl_action_body_const(b)) : NULL;
}
