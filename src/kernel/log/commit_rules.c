/*
 * The rules of one commit; see commit_rules.h. Marks of a large commit are first dealt into parts by the high bits of their
 * hashes: each part's table then lies in the cache of its processor.
 */
#include "kernel/log/commit_rules.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Slots of the table for one part, twice as many as marks that a part has on average at most. */
#define TABLE_SLOTS 8192
#define PART_MARKS (TABLE_SLOTS / 4)
#define MAX_PARTS 4096

void sl_commit_rules_init(struct sl_commit_rules *rules, const silt_env *env)
{
    *rules = (struct sl_commit_rules){.env = env};
    sl_arena_init(&rules->arena, env);
    sl_map_init(&rules->names, env);
    sl_vec_init(&rules->marks, env, sizeof(struct sl_file_mark));
}

void sl_commit_rules_release(struct sl_commit_rules *rules)
{
    sl_map_release(&rules->names);
    sl_vec_release(&rules->marks);
    sl_arena_release(&rules->arena);
}

/* ---- what is told apart by a name ---- */

static silt_status once_name(struct sl_commit_rules *rules, const char *what, struct sl_str name, silt_error *err)
{
    const struct sl_str prefix = sl_str_from(what);
    char *text = sl_arena_alloc(&rules->arena, prefix.len + 1 + name.len);
    if (text == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(text, prefix.ptr, prefix.len);
    text[prefix.len] = ' ';
    if (name.len > 0) {
        memcpy(text + prefix.len + 1, name.ptr, name.len);
    }
    bool inserted = false;
    if (sl_map_put(&rules->names, sl_str_make(text, prefix.len + 1 + name.len), &inserted) == NULL) {
        return sl_fail_nomem(err);
    }
    if (!inserted) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_DUPLICATE_ACTIONS_FOUND",
                       "%s %.*s has more than one action in the commit", what, SL_FMT(name));
    }
    return SILT_OK;
}

static silt_status once_only(bool *seen, const char *what, silt_error *err)
{
    if (*seen) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_DUPLICATE_ACTIONS_FOUND", "the commit has more than one %s action",
                       what);
    }
    *seen = true;
    return SILT_OK;
}

silt_status sl_commit_rules_check(struct sl_commit_rules *rules, const struct sl_action *action, silt_error *err)
{
    switch (action->kind) {
    case SL_ACTION_METADATA: return once_only(&rules->has_metadata, "metaData", err);
    case SL_ACTION_PROTOCOL: return once_only(&rules->has_protocol, "protocol", err);
    case SL_ACTION_APP_TXN: return once_name(rules, "txn", action->u.app_txn.app_id, err);
    case SL_ACTION_DOMAIN_METADATA: return once_name(rules, "domainMetadata", action->u.domain.domain, err);
    default: return SILT_OK;
    }
}

/* ---- files ---- */

static bool file_of(const struct sl_action *action, struct sl_str *path, const struct sl_dv_descriptor **dv)
{
    if (action->kind == SL_ACTION_ADD) {
        *path = action->u.add.path;
        *dv = action->u.add.deletion_vector;
        return true;
    }
    if (action->kind == SL_ACTION_REMOVE) {
        *path = action->u.remove.path;
        *dv = action->u.remove.deletion_vector;
        return true;
    }
    return false;
}

bool sl_file_hash(const struct sl_action *action, uint64_t seed, uint64_t *hash)
{
    struct sl_str path = {NULL, 0};
    const struct sl_dv_descriptor *dv = NULL;
    if (!file_of(action, &path, &dv)) {
        return false;
    }
    uint64_t result = sl_hash_seeded(path.ptr, path.len, seed);
    if (dv != NULL) {
        result = sl_hash_seeded(dv->path_or_inline_dv.ptr, dv->path_or_inline_dv.len, result + (uint64_t)dv->offset);
    }
    *hash = result;
    return true;
}

bool sl_same_file(const struct sl_action *a, const struct sl_action *b)
{
    struct sl_str paths[2] = {{NULL, 0}, {NULL, 0}};
    const struct sl_dv_descriptor *dvs[2] = {NULL, NULL};
    if (!file_of(a, &paths[0], &dvs[0]) || !file_of(b, &paths[1], &dvs[1]) || !sl_str_eq(paths[0], paths[1])) {
        return false;
    }
    if (dvs[0] == NULL || dvs[1] == NULL) {
        return dvs[0] == dvs[1];
    }
    return sl_str_eq(dvs[0]->storage_type, dvs[1]->storage_type) &&
           sl_str_eq(dvs[0]->path_or_inline_dv, dvs[1]->path_or_inline_dv) && dvs[0]->offset == dvs[1]->offset;
}

silt_status sl_commit_rules_add_marks(struct sl_commit_rules *rules, const struct sl_file_mark *marks, size_t n,
                                      silt_error *err)
{
    if (n == 0) {
        return SILT_OK;
    }
    if (!sl_vec_reserve(&rules->marks, n)) {
        return sl_fail_nomem(err);
    }
    memcpy((struct sl_file_mark *)rules->marks.data + rules->marks.len, marks, n * sizeof(*marks));
    rules->marks.len += n;
    return SILT_OK;
}

/* The search within one part. */
struct search {
    const struct sl_file_twins *twins;
    uint32_t *slots; /* index of a mark in the part, + 1 */
    size_t n_slots;  /* a power of two */
    bool found;
    uint64_t second;
};

static silt_status search_part(struct search *search, const struct sl_file_mark *marks, size_t n, silt_error *err)
{
    const size_t mask = search->n_slots - 1;
    memset(search->slots, 0, search->n_slots * sizeof(*search->slots));
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)marks[i].hash & mask;
        for (; search->slots[at] != 0; at = (at + 1) & mask) {
            const struct sl_file_mark *other = &marks[search->slots[at] - 1];
            if (other->hash != marks[i].hash) {
                continue;
            }
            bool is_same = false;
            SL_TRY(search->twins->same(search->twins->ctx, other->place, marks[i].place, &is_same, err));
            if (is_same) {
                /* Places ascend within a part: what comes behind can only be later. */
                search->second = search->found && search->second < marks[i].place ? search->second : marks[i].place;
                search->found = true;
                return SILT_OK;
            }
        }
        search->slots[at] = (uint32_t)(i + 1);
    }
    return SILT_OK;
}

/* Deals marks into parts by their highest bits, keeping their order; ends[i] is the end of part i. */
static bool deal(const silt_env *env, struct sl_vec *marks, unsigned bits, size_t *ends)
{
    const size_t n = marks->len;
    const size_t n_parts = (size_t)1 << bits;
    const struct sl_file_mark *from = marks->data;
    struct sl_file_mark *to = sl_alloc_array(env, n, sizeof(*to));
    if (to == NULL) {
        return false;
    }
    memset(ends, 0, n_parts * sizeof(*ends));
    for (size_t i = 0; i < n; i++) {
        ends[from[i].hash >> (64 - bits)]++;
    }
    size_t begin = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const size_t count = ends[i];
        ends[i] = begin;
        begin += count;
    }
    for (size_t i = 0; i < n; i++) {
        to[ends[from[i].hash >> (64 - bits)]++] = from[i];
    }
    memcpy(marks->data, to, n * sizeof(*to));
    sl_release(env, to, n * sizeof(*to));
    return true;
}

static silt_status search_parts(struct sl_commit_rules *rules, struct search *search, unsigned bits, size_t *ends,
                                silt_error *err)
{
    const struct sl_file_mark *marks = rules->marks.data;
    const size_t n_parts = (size_t)1 << bits;
    size_t begin = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const size_t n = (bits > 0 ? ends[i] : rules->marks.len) - begin;
        size_t n_slots = search->n_slots;
        while (n_slots < 2 * n) {
            n_slots *= 2;
        }
        /* Hashes of good quality deal evenly; a part that is larger all the same gets a larger table. */
        if (n_slots > search->n_slots) {
            uint32_t *slots = sl_alloc_array(rules->env, n_slots, sizeof(*slots));
            if (slots == NULL || n > UINT32_MAX - 1) {
                sl_release(rules->env, slots, n_slots * sizeof(*slots));
                return sl_fail_nomem(err);
            }
            sl_release(rules->env, search->slots, search->n_slots * sizeof(*search->slots));
            search->slots = slots;
            search->n_slots = n_slots;
        }
        SL_TRY(search_part(search, marks + begin, n, err));
        begin += n;
    }
    return SILT_OK;
}

silt_status sl_commit_rules_find_twice(struct sl_commit_rules *rules, const struct sl_file_twins *twins, bool *found,
                                       uint64_t *second, silt_error *err)
{
    *found = false;
    *second = 0;
    if (rules->marks.len < 2) {
        return SILT_OK;
    }
    unsigned bits = 0;
    while (rules->marks.len >> bits > PART_MARKS && (1U << bits) < MAX_PARTS) {
        bits++;
    }
    struct search search = {.twins = twins, .n_slots = 64};
    while (search.n_slots < TABLE_SLOTS && search.n_slots < 2 * rules->marks.len) {
        search.n_slots *= 2;
    }
    const size_t n_ends = (size_t)1 << bits;
    size_t *ends = sl_alloc_array(rules->env, n_ends, sizeof(*ends));
    search.slots = sl_alloc_array(rules->env, search.n_slots, sizeof(*search.slots));
    silt_status status = SILT_OK;
    if (ends == NULL || search.slots == NULL || (bits > 0 && !deal(rules->env, &rules->marks, bits, ends))) {
        status = sl_fail_nomem(err);
    } else {
        status = search_parts(rules, &search, bits, ends, err);
    }
    *found = search.found;
    *second = search.second;
    sl_release(rules->env, search.slots, search.n_slots * sizeof(*search.slots));
    sl_release(rules->env, ends, n_ends * sizeof(*ends));
    return status;
}
