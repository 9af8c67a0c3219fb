/*
 * Doubles of an older checkpoint; see checkpoint_doubles.h. Two files of one hash are told apart by their keys.
 */
#include "kernel/checkpoint/checkpoint_doubles.h"

#include <stdlib.h>

#include "base/error.h"
#include "kernel/replay/repeated.h"

void sl_doubles_init(struct sl_doubles *doubles, const silt_env *env, struct sl_str root)
{
    *doubles = (struct sl_doubles){.is_settled = false};
    sl_vec_init(&doubles->hashes, env, sizeof(uint64_t));
    sl_key_set_init(&doubles->seen, env);
    sl_key_maker_init(&doubles->others, env, root, NULL);
}

void sl_doubles_release(struct sl_doubles *doubles)
{
    sl_vec_release(&doubles->hashes);
    sl_key_set_release(&doubles->seen);
    sl_key_maker_release(&doubles->others);
}

void sl_doubles_rewind(struct sl_doubles *doubles)
{
    const silt_env *env = doubles->hashes.env;
    sl_key_set_release(&doubles->seen);
    sl_key_set_init(&doubles->seen, env);
    if (!doubles->is_settled) {
        doubles->hashes.len = 0;
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

silt_status sl_doubles_note(struct sl_doubles *doubles, const struct sl_file_key *key, bool *again, silt_error *err)
{
    const struct sl_key_probe seen = {.keys = &doubles->seen, .maker = &doubles->others};
    *again = false;
    if (!doubles->is_settled) {
        uint64_t *slot = sl_vec_push(&doubles->hashes);
        if (slot == NULL) {
            return sl_fail_nomem(err);
        }
        *slot = key->hash;
        return SILT_OK;
    }
    if (doubles->hashes.len == 0 ||
        bsearch(&key->hash, doubles->hashes.data, doubles->hashes.len, sizeof(uint64_t), compare) == NULL) {
        return SILT_OK;
    }
    if (!sl_key_set_find(&seen, key, again) || (!*again && !sl_key_set_put(&doubles->seen, key))) {
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

silt_status sl_doubles_settle(struct sl_doubles *doubles, silt_error *err)
{
    struct sl_vec repeated;
    struct sl_vec hashes;
    sl_vec_init(&repeated, doubles->hashes.env, sizeof(struct sl_repeated));
    sl_vec_init(&hashes, doubles->hashes.env, sizeof(uint64_t));
    silt_status status = sl_repeated_find(doubles->hashes.data, doubles->hashes.len, &repeated, err);
    for (size_t i = 0; status == SILT_OK && i < repeated.len; i++) {
        const struct sl_repeated *one = sl_vec_at(&repeated, i);
        if (hashes.len > 0 && *(const uint64_t *)sl_vec_at(&hashes, hashes.len - 1) == one->hash) {
            continue;
        }
        uint64_t *slot = sl_vec_push(&hashes);
        status = slot != NULL ? SILT_OK : sl_fail_nomem(err);
        if (slot != NULL) {
            *slot = one->hash;
        }
    }
    sl_vec_release(&repeated);
    if (status != SILT_OK) {
        sl_vec_release(&hashes);
        return status;
    }
    sl_vec_release(&doubles->hashes);
    doubles->hashes = hashes;
    doubles->is_settled = true;
    return SILT_OK;
}
