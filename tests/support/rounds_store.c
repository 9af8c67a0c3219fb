/*
 * Counting of rounds; see rounds_store.h. A call's round is one more than the highest that had come back when it began.
 */
#include "rounds_store.h"

#include <stdbool.h>
#include <time.h>

#include "silt/version.h"
#include "storage/decorator.h"

struct counting {
    struct sl_decorator base;
    struct rounds *rounds;
};

void rounds_init(struct rounds *rounds)
{
    *rounds = (struct rounds){0};
    pthread_mutex_init(&rounds->lock, NULL);
    pthread_cond_init(&rounds->moved, NULL);
}

void rounds_destroy(struct rounds *rounds)
{
    pthread_cond_destroy(&rounds->moved);
    pthread_mutex_destroy(&rounds->lock);
}

void rounds_reset(struct rounds *rounds)
{
    rounds->rounds = rounds->n_lists = rounds->n_reads = rounds->n_stats = rounds->n_puts = 0;
}

/* Two calls that are made independently meet here, however late the second thread comes: neither comes back before the other has begun. */
static size_t begin(struct rounds *rounds, size_t *counter, size_t n, bool may_meet)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += rounds->patience_ms / 1000;
    until.tv_nsec += rounds->patience_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&rounds->lock);
    *counter += n;
    const size_t round = rounds->rounds + 1;
    const size_t before = ++rounds->begun;
    rounds->n_under_way++;
    pthread_cond_broadcast(&rounds->moved);
    const bool waits = may_meet && rounds->patience_ms > 0;
    int late = 0;
    while (waits && late == 0 && rounds->n_under_way < 2 && rounds->begun == before) {
        late = pthread_cond_timedwait(&rounds->moved, &rounds->lock, &until);
    }
    pthread_mutex_unlock(&rounds->lock);
    return round;
}

static silt_status end(struct rounds *rounds, size_t round, silt_status status)
{
    pthread_mutex_lock(&rounds->lock);
    rounds->n_under_way--;
    rounds->rounds = round > rounds->rounds ? round : rounds->rounds;
    pthread_mutex_unlock(&rounds->lock);
    return status;
}

static silt_status count_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                   void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_reads, n, true);
    return end(c->rounds, round, silt_storage_read_many(c->base.inner, call, requests, n, on_done, ctx, err));
}

static silt_status count_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_lists, 1, true);
    return end(c->rounds, round, silt_storage_list(c->base.inner, call, dir, options, on_entry, ctx, err));
}

static silt_status count_folders(void *impl, const silt_call *call, const char *dir,
                                 bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                 silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_lists, 1, true);
    return end(c->rounds, round, silt_storage_list_folders(c->base.inner, call, dir, on_folder, ctx, err));
}

static silt_status count_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                       size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_puts, 1, false);
    return end(c->rounds, round, silt_storage_put_if_absent(c->base.inner, call, path, data, data_len, outcome, err));
}

static silt_status count_beside(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                silt_put_outcome *outcome, silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_puts, 1, false);
    return end(c->rounds, round, silt_storage_put_beside(c->base.inner, call, path, data, data_len, outcome, err));
}

/* Written while something else is looked at. */
static silt_status count_hint(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_put_outcome *outcome, silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_puts, 1, true);
    return end(c->rounds, round, silt_storage_put_hint(c->base.inner, call, path, data, data_len, outcome, err));
}

static silt_status count_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                             silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_puts, 1, false);
    return end(c->rounds, round, silt_storage_put(c->base.inner, call, path, data, data_len, err));
}

static silt_status count_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_puts, 1, false);
    return end(c->rounds, round, silt_storage_adopt(c->base.inner, call, local, path, err));
}

static silt_status count_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                              int64_t *modified_ms, silt_error *err)
{
    const struct counting *c = impl;
    const size_t round = begin(c->rounds, &c->rounds->n_stats, 1, true);
    return end(c->rounds, round, silt_storage_stat(c->base.inner, call, path, size_bytes, modified_ms, err));
}

static silt_status pass_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct counting *c = impl;
    return silt_storage_remove(c->base.inner, call, path, err);
}

static silt_status pass_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    const struct counting *c = impl;
    return silt_storage_remove_tree(c->base.inner, call, dir, err);
}

static const silt_storage_vtable COUNTING = {.size = sizeof(silt_storage_vtable),
                                             .abi_version = SILT_ABI_VERSION,
                                             .name = "counting",
                                             .close = sl_decorator_close,
                                             .read_many = count_read_many,
                                             .list = count_list,
                                             .list_folders = count_folders,
                                             .put_if_absent = count_put_if_absent,
                                             .put_hint = count_hint,
                                             .put_beside = count_beside,
                                             .put = count_put,
                                             .stat = count_stat,
                                             .remove = pass_remove,
                                             .adopt = count_adopt,
                                             .remove_tree = pass_remove_tree};

silt_status rounds_store_new(const silt_env *env, silt_storage *inner, struct rounds *rounds, silt_storage **out,
                             silt_error *err)
{
    const struct counting counting = {.rounds = rounds};
    const struct sl_decorator_spec spec = {.slots = &COUNTING, .impl = &counting, .size = sizeof(counting)};
    return sl_decorator_new(env, inner, &spec, out, err);
}
