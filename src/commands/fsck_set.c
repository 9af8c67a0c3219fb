/*
 * The set of logical files; see fsck_set.h. Slots are probed from the hash of the path, so that all files of a path lie together.
 */
#include "commands/fsck_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "json/json.h"
#include "kernel/log/commit.h"

#define FIRST_SLOTS ((size_t)1024)

silt_status sl_fsck_set_init(struct sl_fsck_set *set, const silt_env *env, struct sl_str root, silt_error *err)
{
    *set = (struct sl_fsck_set){.env = env};
    sl_key_maker_init(&set->maker, env, root, NULL);
    return sl_commit_seed(env, &set->seed, err);
}

void sl_fsck_set_clear(struct sl_fsck_set *set)
{
    sl_release(set->env, set->slots, set->n_slots * sizeof(*set->slots));
    set->slots = NULL;
    set->n_slots = 0;
    set->n = 0;
    set->n_live = set->bytes = set->n_vectors = set->n_deleted = 0;
}

void sl_fsck_set_release(struct sl_fsck_set *set)
{
    if (set->env != NULL) {
        sl_fsck_set_clear(set);
        sl_key_maker_release(&set->maker);
    }
}

/* ---- hashes ---- */

static uint64_t hash_str(struct sl_str text, uint64_t seed)
{
    return sl_hash_seeded(text.ptr != NULL ? text.ptr : "", text.len, seed);
}

bool sl_fsck_id_make(struct sl_fsck_set *set, struct sl_str path, const struct sl_dv_descriptor *dv,
                     struct sl_fsck_id *out)
{
    struct sl_file_key key;
    if (!sl_key_make(&set->maker, path, dv, &key)) {
        return false;
    }
    out->path = hash_str(key.name, hash_str(key.dir, set->seed));
    out->key = hash_str(key.vector, key.vector.ptr != NULL ? ~out->path : out->path);
    return true;
}

static uint64_t hash_numbers(const int64_t *numbers, size_t n, uint64_t seed)
{
    return sl_hash_seeded(numbers, n * sizeof(*numbers), seed);
}

/* Sums do not depend on the order of the values; null and empty text are the same. */
static uint64_t hash_values(const struct sl_kv_list *values, uint64_t seed)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < values->n; i++) {
        if (values->items[i].value.len > 0) {
            sum += hash_str(values->items[i].value, hash_str(values->items[i].key, seed));
        }
    }
    return sum;
}

uint64_t sl_fsck_content(const struct sl_fsck_set *set, const struct sl_add *add)
{
    const struct sl_dv_descriptor *dv = add->deletion_vector;
    const int64_t numbers[] = {(int64_t)hash_values(&add->partition_values, set->seed),
                               add->size,
                               add->modification_time,
                               add->base_row_id,
                               add->default_row_commit_version,
                               dv != NULL ? dv->size_in_bytes : -1,
                               dv != NULL ? dv->cardinality : -1,
                               dv != NULL ? dv->offset : -1};
    return hash_numbers(numbers, sizeof(numbers) / sizeof(numbers[0]), set->seed);
}

/* By what it says: white space, the order of members and nulls do not count. Recursion is bounded by the parser's depth. */
static uint64_t hash_json(const sl_json *value, uint64_t seed)
{
    struct sl_str text = {NULL, 0};
    int64_t number = 0;
    double real = 0;
    const enum sl_json_kind kind = sl_json_get_kind(value);
    uint64_t sum = (uint64_t)kind + seed;
    if (kind == SL_JSON_OBJECT || kind == SL_JSON_ARRAY) {
        struct sl_json_iter iter = sl_json_iterate(value);
        const sl_json *item = NULL;
        while (sl_json_next(&iter, &text, &item)) {
            const uint64_t key = kind == SL_JSON_OBJECT ? hash_str(text, seed) : sum;
            sum += sl_json_is_null(item) ? 0 : hash_json(item, key);
        }
        return sum;
    }
    if (sl_json_to_str(value, &text)) {
        return hash_str(text, seed);
    }
    if (sl_json_to_i64(value, &number)) {
        return hash_numbers(&number, 1, seed);
    }
    if (sl_json_to_f64(value, &real)) {
        return sl_hash_seeded(&real, sizeof(real), seed);
    }
    bool truth = false;
    (void)sl_json_to_bool(value, &truth); /* null and what else there may be: by its kind */
    return sl_hash_seeded(&sum, sizeof(sum), truth ? ~seed : seed);
}

silt_status sl_fsck_statistics(const struct sl_fsck_set *set, struct sl_str stats, uint32_t *out, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    *out = 0;
    if (stats.len == 0) {
        return SILT_OK;
    }
    const silt_status status = sl_json_parse(set->env, stats, &doc, NULL);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    const uint64_t hash = status == SILT_OK ? hash_json(sl_json_root(doc), set->seed) : hash_str(stats, set->seed);
    sl_json_free(doc);
    *out = (uint32_t)hash != 0 ? (uint32_t)hash : 1;
    return SILT_OK;
}

/* ---- the table ---- */

static bool is_free(const struct sl_fsck_file *slot)
{
    return slot->version < 0;
}

static bool grow(struct sl_fsck_set *set)
{
    const size_t n_slots = set->n_slots == 0 ? FIRST_SLOTS : set->n_slots * 2;
    struct sl_fsck_file *slots = sl_alloc_array(set->env, n_slots, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < n_slots; i++) {
        slots[i].version = -1;
    }
    for (size_t i = 0; i < set->n_slots; i++) {
        if (!is_free(&set->slots[i])) {
            size_t at = (size_t)set->slots[i].id.path & (n_slots - 1);
            while (!is_free(&slots[at])) {
                at = (at + 1) & (n_slots - 1);
            }
            slots[at] = set->slots[i];
        }
    }
    sl_release(set->env, set->slots, set->n_slots * sizeof(*set->slots));
    set->slots = slots;
    set->n_slots = n_slots;
    return true;
}

struct sl_fsck_file *sl_fsck_set_find(const struct sl_fsck_set *set, struct sl_fsck_id id)
{
    for (size_t at = (size_t)id.path; set->n_slots > 0; at++) {
        struct sl_fsck_file *slot = &set->slots[at & (set->n_slots - 1)];
        if (is_free(slot)) {
            return NULL;
        }
        if (slot->id.path == id.path && slot->id.key == id.key) {
            return slot;
        }
    }
    return NULL;
}

struct sl_fsck_file *sl_fsck_set_other(const struct sl_fsck_set *set, struct sl_fsck_id but)
{
    for (size_t at = (size_t)but.path; set->n_slots > 0; at++) {
        struct sl_fsck_file *slot = &set->slots[at & (set->n_slots - 1)];
        if (is_free(slot)) {
            return NULL;
        }
        if (slot->id.path == but.path && slot->id.key != but.key && slot->is_live) {
            return slot;
        }
    }
    return NULL;
}

/* The file's slot, as it is or new; NULL: out of memory. */
static struct sl_fsck_file *put(struct sl_fsck_set *set, struct sl_fsck_id id)
{
    struct sl_fsck_file *found = sl_fsck_set_find(set, id);
    if (found != NULL) {
        return found;
    }
    if (set->n * 10 >= set->n_slots * 7 && !grow(set)) {
        return NULL;
    }
    size_t at = (size_t)id.path & (set->n_slots - 1);
    while (!is_free(&set->slots[at])) {
        at = (at + 1) & (set->n_slots - 1);
    }
    set->n++;
    set->slots[at] = (struct sl_fsck_file){.id = id, .version = -1};
    return &set->slots[at];
}

/* Adds sign times a live file to the totals. Sums of hostile numbers may wrap, which unsigned numbers do in a defined way. */
static void count(struct sl_fsck_set *set, const struct sl_fsck_file *file, int sign)
{
    set->n_live += sign;
    set->bytes = (int64_t)((uint64_t)set->bytes + (uint64_t)sign * (uint64_t)file->number);
    set->n_vectors += file->has_vector ? sign : 0;
    set->n_deleted = (int64_t)((uint64_t)set->n_deleted + (uint64_t)sign * (uint64_t)file->deleted);
}

static void replace(struct sl_fsck_set *set, struct sl_fsck_file *slot, struct sl_fsck_file file,
                    struct sl_fsck_file *before)
{
    if (before != NULL) {
        *before = *slot;
    }
    if (!is_free(slot) && slot->is_live) {
        count(set, slot, -1);
    }
    file.id = slot->id;
    file.mark = slot->mark;
    *slot = file;
    if (slot->is_live) {
        count(set, slot, 1);
    }
}

silt_status sl_fsck_set_add(struct sl_fsck_set *set, const struct sl_add *add, int64_t version,
                            struct sl_fsck_file *before, silt_error *err)
{
    struct sl_fsck_id id;
    struct sl_fsck_file *slot = sl_fsck_id_make(set, add->path, add->deletion_vector, &id) ? put(set, id) : NULL;
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_dv_descriptor *dv = add->deletion_vector;
    uint32_t statistics = 0;
    SL_TRY(sl_fsck_statistics(set, add->stats, &statistics, err));
    const struct sl_fsck_file file = {.content = sl_fsck_content(set, add),
                                      .statistics = statistics,
                                      .version = version,
                                      .number = add->size,
                                      .deleted = dv != NULL ? dv->cardinality : 0,
                                      .is_live = true,
                                      .has_vector = dv != NULL};
    replace(set, slot, file, before);
    return SILT_OK;
}

silt_status sl_fsck_set_remove(struct sl_fsck_set *set, const struct sl_remove *remove, int64_t version,
                               struct sl_fsck_file *before, silt_error *err)
{
    struct sl_fsck_id id;
    struct sl_fsck_file *slot = sl_fsck_id_make(set, remove->path, remove->deletion_vector, &id) ? put(set, id) : NULL;
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_fsck_file file = {.version = version, .number = remove->deletion_timestamp};
    replace(set, slot, file, before);
    return SILT_OK;
}
