/*
 * Files that a set holds twice, by path and deletion vector: a checkpoint has named them twice, in two rows or in parts and sidecars that
 * overlap. The first one counts: whoever wrote it meant one file, and Delta Spark reads one. Called when a set of a checkpoint's files is
 * finished.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/replay/file_build.h"
#include "kernel/replay/repeated.h"

struct search {
    struct sl_file_set *set;
    uint64_t *first;                   /* [block] which file of the set is the first one in it */
    struct sl_key_maker maker, others; /* of the two keys at hand */
};

static void count_blocks(struct search *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->set->blocks.len; i++) {
        s->first[i] = n;
        n += sl_file_set_block(s->set, i)->n;
    }
}

/* Where the file is that was put as the nth. */
static sl_file_pos position(const struct search *s, uint64_t nth)
{
    size_t low = 0;
    size_t high = s->set->blocks.len;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        low = s->first[middle] <= nth ? middle : low;
        high = s->first[middle] <= nth ? high : middle;
    }
    return sl_file_pos_make(low, (uint32_t)(nth - s->first[low]));
}

/* Is the key of all[i] that of one before it, from `begin` on? Their hashes are equal. */
static silt_status is_again(struct search *s, const struct sl_repeated *all, size_t begin, size_t i, bool *again,
                            silt_error *err)
{
    struct sl_file_key key;
    *again = false;
    if (!sl_file_set_key(s->set, &s->maker, position(s, all[i].place), &key)) {
        return sl_fail_nomem(err);
    }
    for (size_t k = begin; k < i && !*again; k++) {
        struct sl_file_key other;
        if (!sl_file_set_key(s->set, &s->others, position(s, all[k].place), &other)) {
            return sl_fail_nomem(err);
        }
        *again = sl_file_key_eq(&key, &other);
    }
    return SILT_OK;
}

static int compare(const void *a, const void *b)
{
    const sl_file_pos x = *(const sl_file_pos *)a;
    const sl_file_pos y = *(const sl_file_pos *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static silt_status judge(struct search *s, const struct sl_vec *repeated, silt_error *err)
{
    const struct sl_repeated *all = repeated->data;
    size_t begin = 0;
    for (size_t i = 1; i < repeated->len; i++) {
        bool again = false;
        begin = all[i].hash == all[begin].hash ? begin : i;
        if (begin < i) {
            SL_TRY(is_again(s, all, begin, i, &again, err));
        }
        sl_file_pos *slot = again ? sl_vec_push(&s->set->again) : NULL;
        if (again && slot == NULL) {
            return sl_fail_nomem(err);
        }
        if (again) {
            *slot = position(s, all[i].place);
        }
    }
    if (s->set->again.len > 0) {
        qsort(s->set->again.data, s->set->again.len, sizeof(sl_file_pos), compare);
    }
    return SILT_OK;
}

silt_status sl_file_set_find_again(struct sl_file_set *set, const uint64_t *hashes, size_t n, silt_error *err)
{
    struct search s = {.set = set};
    struct sl_vec repeated;
    sl_vec_init(&repeated, set->env, sizeof(struct sl_repeated));
    silt_status status = sl_repeated_find(hashes, n, &repeated, err);
    if (status == SILT_OK && repeated.len > 0) {
        s.first = sl_alloc_array(set->env, set->blocks.len, sizeof(*s.first));
        sl_key_maker_init(&s.maker, set->env, set->root, set->hash);
        sl_key_maker_init(&s.others, set->env, set->root, set->hash);
        if (s.first == NULL) {
            status = sl_fail_nomem(err);
        } else {
            count_blocks(&s);
            status = judge(&s, &repeated, err);
        }
        sl_key_maker_release(&s.maker);
        sl_key_maker_release(&s.others);
        sl_release(set->env, s.first, set->blocks.len * sizeof(*s.first));
    }
    sl_vec_release(&repeated);
    return status;
}
