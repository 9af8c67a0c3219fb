/*
 * Stores that break the contract in one way each, around one that keeps it: what a store's author might get wrong. The dispatch of
 * silt (silt/storage.h) notices some by itself, which serves as well: the case fails.
 *
 * Any thread, as every store.
 */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plants.h"

/* Widens the moment in which a fault shows, where the store is too quick for it. */
#define GAP_US 500

struct plant_store {
    silt_storage *inner;
    enum plant_kind kind;
    pthread_mutex_t lock;            /* over newest */
    char newest[CONTRACT_PATH_SIZE]; /* path of the last write */
};

static silt_error quiet(void)
{
    silt_error err = SILT_ERROR_INIT;
    return err;
}

static void note_newest(struct plant_store *plant, const char *path)
{
    (void)pthread_mutex_lock(&plant->lock);
    (void)snprintf(plant->newest, sizeof(plant->newest), "%s", path);
    (void)pthread_mutex_unlock(&plant->lock);
}

static void plant_close(void *impl)
{
    struct plant_store *plant = impl;
    silt_storage_unref(plant->inner);
    (void)pthread_mutex_destroy(&plant->lock);
    free(plant);
}

/* The path that reaches the inner store: decoded once, or with a part of the name lost. */
static const char *bend_path(const struct plant_store *plant, const char *path, char *buffer)
{
    size_t len = 0;
    if (plant->kind != PLANT_DECODES_NAMES && plant->kind != PLANT_CUTS_NAMES) {
        return path;
    }
    for (const char *at = path; *at != '\0' && len + 1 < CONTRACT_PATH_SIZE; at++) {
        if (plant->kind == PLANT_CUTS_NAMES && *at == '?') {
            break;
        }
        if (plant->kind == PLANT_DECODES_NAMES && strncmp(at, "%2", 2) == 0 && at[2] == '0') {
            buffer[len++] = ' ';
            at += 2;
            continue;
        }
        buffer[len++] = *at;
    }
    buffer[len] = '\0';
    return buffer;
}

/* ---- reads ---- */

struct plant_batch {
    const struct plant_store *plant;
    silt_read_request *requests; /* of the caller */
    silt_read_request *bent;     /* likewise, as they reach the inner store */
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
};

static void bent_done(void *ctx, silt_read_request *bent)
{
    const struct plant_batch *batch = ctx;
    silt_read_request *request = &batch->requests[bent - batch->bent];
    request->status = bent->status;
    request->data = bent->data;
    request->data_len = bent->data_len;
    request->file_size = bent->file_size;
    if (batch->plant->kind == PLANT_SHORT_READ && request->data_len > 1 && request->offset >= 0) {
        ((char *)request->data)[request->data_len - 1] = '\0'; /* as long as it should be, but not all came */
    }
    if (batch->plant->kind == PLANT_WRONG_FILE_SIZE) {
        request->file_size = (int64_t)request->data_len;
    }
    batch->on_done(batch->ctx, request);
}

static void bend_request(const struct plant_store *plant, silt_read_request *request)
{
    if (plant->kind == PLANT_SUFFIX_FROM_START && request->offset < 0) {
        request->length = request->offset == INT64_MIN ? -1 : -request->offset;
        request->offset = 0;
    }
    if (plant->kind == PLANT_RANGE_TOO_LONG && request->length > 0 && request->length < INT64_MAX) {
        request->length++;
    }
}

static silt_status plant_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                   void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct plant_store *plant = impl;
    silt_read_request *bent = calloc(n, sizeof(*bent));
    char(*paths)[CONTRACT_PATH_SIZE] = calloc(n, sizeof(*paths));
    silt_status status = SILT_ENOMEM;
    if (bent != NULL && paths != NULL) {
        struct plant_batch batch = {.plant = plant, .requests = requests, .bent = bent, .on_done = on_done, .ctx = ctx};
        for (size_t i = 0; i < n; i++) {
            bent[i] = requests[i];
            bent[i].path = bend_path(plant, requests[i].path, paths[i]);
            bend_request(plant, &bent[i]);
        }
        status = silt_storage_read_many(plant->inner, call, bent, n, bent_done, &batch, err);
    }
    free(bent);
    free(paths);
    return status;
}

/* ---- listings ---- */

struct plant_listing {
    struct plant_store *plant;
    const char *hidden;   /* name to leave out, NULL for none */
    silt_file_entry held; /* for another order */
    char held_name[CONTRACT_PATH_SIZE];
    bool holds;
    size_t seen;
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
};

static bool swap_entries(struct plant_listing *listing, const silt_file_entry *entry)
{
    if (!listing->holds) {
        listing->held = *entry;
        (void)snprintf(listing->held_name, sizeof(listing->held_name), "%.*s", (int)entry->name_len, entry->name);
        listing->held.name = listing->held_name;
        listing->holds = true;
        return true;
    }
    listing->holds = false;
    return listing->on_entry(listing->ctx, entry) && listing->on_entry(listing->ctx, &listing->held);
}

static bool plant_entry(void *ctx, const silt_file_entry *entry)
{
    struct plant_listing *listing = ctx;
    silt_file_entry bent = *entry;
    listing->seen++;
    if (listing->hidden != NULL && strlen(listing->hidden) == entry->name_len &&
        memcmp(listing->hidden, entry->name, entry->name_len) == 0) {
        return true;
    }
    switch (listing->plant->kind) {
    case PLANT_LIST_OUT_OF_ORDER: return swap_entries(listing, entry);
    case PLANT_FIRST_PAGE_ONLY: return listing->seen <= 1000 && listing->on_entry(listing->ctx, entry);
    case PLANT_PAGES_SKIP_ONE: return listing->seen % 1000 == 0 || listing->on_entry(listing->ctx, entry);
    case PLANT_LIST_WITHOUT_SIZES:
        bent.size_bytes = 0;
        bent.modified_ms = 0;
        return listing->on_entry(listing->ctx, &bent);
    default: return listing->on_entry(listing->ctx, entry);
    }
}

static void bend_listing(const struct plant_store *plant, silt_list_options *bent)
{
    if (plant->kind == PLANT_LIST_AFTER && bent->start_from != NULL && bent->start_from[0] != '\0') {
        static _Thread_local char after[CONTRACT_PATH_SIZE];
        (void)snprintf(after, sizeof(after), "%.2000s\x01", bent->start_from); /* exclusive instead of inclusive */
        bent->start_from = after;
    }
    if (plant->kind == PLANT_LIST_FLAT) {
        bent->recursive = true;
    }
}

static silt_status plant_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct plant_store *plant = impl;
    char buffer[CONTRACT_PATH_SIZE];
    char hidden[CONTRACT_PATH_SIZE] = "";
    struct plant_listing listing = {.plant = plant, .on_entry = on_entry, .ctx = ctx};
    silt_list_options bent = {.size = sizeof(bent),
                              .start_from = options == NULL ? NULL : options->start_from,
                              .recursive = options != NULL && options->recursive};
    bend_listing(plant, &bent);
    if (plant->kind ==
        PLANT_STALE_LIST) { /* the newest write of this folder is not seen by the first listing after it */
        (void)pthread_mutex_lock(&plant->lock);
        const size_t len = strlen(dir);
        if (strncmp(plant->newest, dir, len) == 0 && plant->newest[len] == '/') {
            (void)snprintf(hidden, sizeof(hidden), "%s", plant->newest + len + 1);
            plant->newest[0] = '\0';
            listing.hidden = hidden;
        }
        (void)pthread_mutex_unlock(&plant->lock);
    }
    silt_status status = silt_storage_list(plant->inner, call, bend_path(plant, dir, buffer), &bent, plant_entry,
                                           &listing, err);
    if (status == SILT_OK && listing.holds) {
        (void)on_entry(ctx, &listing.held);
    }
    return status == SILT_ENOTFOUND && plant->kind == PLANT_NO_FOLDER_IS_EMPTY ? SILT_OK : status;
}

/* ---- creating ---- */

/* Looks, then writes: what stores without conditional requests tempt to do. */
static silt_status check_then_put(const struct plant_store *plant, const char *path, const void *data, size_t data_len,
                                  silt_put_outcome *outcome, silt_error *err)
{
    silt_error unused = quiet();
    const silt_status there = silt_storage_stat(plant->inner, NULL, path, NULL, NULL, &unused);
    if (there == SILT_OK) {
        *outcome = SILT_PUT_EXISTS;
        return SILT_OK;
    }
    *outcome = SILT_PUT_DONE;
    (void)usleep(GAP_US);
    return silt_storage_put(plant->inner, NULL, path, data, data_len, err);
}

/* Goes on in spite of the deadline, and calls it a failure. */
static silt_status create_in_spite(const struct plant_store *plant, const silt_call *call, const char *path,
                                   const void *data, size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const silt_env *env = silt_env_default();
    const silt_status status = silt_storage_put_if_absent(plant->inner, NULL, path, data, data_len, outcome, err);
    if (status != SILT_OK || call == NULL) {
        return status;
    }
    (void)usleep(4 * GAP_US);
    if (call->cancel != NULL && *call->cancel != 0) {
        return SILT_ECANCELLED;
    }
    return call->deadline_us != 0 && env->monotonic_us(env->ctx) > call->deadline_us ? SILT_EDEADLINE : SILT_OK;
}

/* A first part can be seen before the whole. */
static silt_status put_torn(const struct plant_store *plant, const char *path, const void *data, size_t data_len,
                            silt_error *err)
{
    const silt_status status = silt_storage_put(plant->inner, NULL, path, data, data_len / 2, err);
    (void)usleep(GAP_US);
    return status != SILT_OK ? status : silt_storage_put(plant->inner, NULL, path, data, data_len, err);
}

static silt_status plant_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                       size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    struct plant_store *plant = impl;
    char buffer[CONTRACT_PATH_SIZE];
    const char *bent = bend_path(plant, path, buffer);
    silt_status status = SILT_OK;
    note_newest(plant, path);
    switch (plant->kind) {
    case PLANT_CREATE_OVERWRITES:
        *outcome = SILT_PUT_DONE;
        return silt_storage_put(plant->inner, call, path, data, data_len, err);
    case PLANT_CHECK_THEN_PUT: return check_then_put(plant, path, data, data_len, outcome, err);
    case PLANT_CREATE_IN_SPITE: return create_in_spite(plant, call, path, data, data_len, outcome, err);
    default: break;
    }
    status = silt_storage_put_if_absent(plant->inner, call, bent, data, data_len, outcome, err);
    if (status == SILT_OK && plant->kind == PLANT_WINNER_HEARS_EXISTS) { /* a retry after a lost answer, believed */
        *outcome = SILT_PUT_EXISTS;
    }
    if (status == SILT_OK && plant->kind == PLANT_LOSER_HEARS_DONE && *outcome == SILT_PUT_EXISTS) {
        *outcome = SILT_PUT_DONE;
    }
    return status;
}

static silt_status plant_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                             silt_error *err)
{
    struct plant_store *plant = impl;
    char buffer[CONTRACT_PATH_SIZE];
    silt_put_outcome unused = SILT_PUT_DONE;
    note_newest(plant, path);
    if (plant->kind == PLANT_TORN_PUT) {
        return put_torn(plant, path, data, data_len, err);
    }
    if (plant->kind == PLANT_PUT_KEEPS) {
        return silt_storage_put_if_absent(plant->inner, call, path, data, data_len, &unused, err);
    }
    if (plant->kind == PLANT_PUT_CUT && data_len > ((size_t)5 << 20)) {
        data_len = (size_t)5 << 20; /* the first part of a file in parts */
    }
    return silt_storage_put(plant->inner, call, bend_path(plant, path, buffer), data, data_len, err);
}

/* ---- the others ---- */

static silt_status plant_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                              int64_t *modified_ms, silt_error *err)
{
    const struct plant_store *plant = impl;
    char buffer[CONTRACT_PATH_SIZE];
    const silt_status status = silt_storage_stat(plant->inner, call, bend_path(plant, path, buffer), size_bytes,
                                                 modified_ms, err);
    if (status == SILT_OK && plant->kind == PLANT_STAT_IN_SECONDS && modified_ms != NULL) {
        *modified_ms /= 1000;
    }
    return status;
}

static silt_status plant_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct plant_store *plant = impl;
    char buffer[CONTRACT_PATH_SIZE];
    silt_error unused = quiet();
    if (plant->kind == PLANT_REMOVE_MINDS &&
        silt_storage_stat(plant->inner, NULL, path, NULL, NULL, &unused) == SILT_ENOTFOUND) {
        return SILT_ENOTFOUND;
    }
    if (plant->kind == PLANT_REMOVE_FORGETS) {
        return SILT_OK;
    }
    return silt_storage_remove(plant->inner, call, bend_path(plant, path, buffer), err);
}

static silt_status plant_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    const struct plant_store *plant = impl;
    silt_status status = SILT_OK;
    if (plant->kind == PLANT_ADOPT_OVERWRITES) {
        status = silt_storage_remove(plant->inner, NULL, path, err);
    }
    status = status == SILT_OK ? silt_storage_adopt(plant->inner, call, local, path, err) : status;
    if (status == SILT_EEXISTS && plant->kind == PLANT_ADOPT_LOSES) {
        (void)unlink(local);
    }
    return status;
}

static bool remove_sibling(void *ctx, const silt_file_entry *entry)
{
    const struct plant_listing *listing = ctx;
    char path[CONTRACT_PATH_SIZE * 2];
    silt_error unused = quiet();
    if (strncmp(entry->name, listing->hidden, strlen(listing->hidden)) != 0) {
        return true;
    }
    (void)snprintf(path, sizeof(path), "%s/%.*s", listing->held_name, (int)entry->name_len, entry->name);
    return silt_storage_remove(listing->plant->inner, NULL, path, &unused) == SILT_OK;
}

/* A prefix without a slash at its end: "t" takes "t0" with it. */
static silt_status remove_prefix(struct plant_store *plant, const char *dir, silt_error *err)
{
    struct plant_listing listing = {.plant = plant};
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    const char *slash = strrchr(dir, '/');
    (void)snprintf(listing.held_name, sizeof(listing.held_name), "%.*s", (int)(slash - dir), dir);
    listing.hidden = slash + 1;
    const silt_status status = silt_storage_list(plant->inner, NULL, listing.held_name, &options, remove_sibling,
                                                 &listing, err);
    return status == SILT_ENOTFOUND ? SILT_OK : status;
}

static silt_status plant_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct plant_store *plant = impl;
    if (plant->kind == PLANT_TREE_BY_PREFIX) {
        return remove_prefix(plant, dir, err);
    }
    return silt_storage_remove_tree(plant->inner, call, dir, err);
}

static const silt_storage_vtable plant_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "planted",
    .close = plant_close,
    .read_many = plant_read_many,
    .list = plant_list,
    .put_if_absent = plant_put_if_absent,
    .put = plant_put,
    .stat = plant_stat,
    .remove = plant_remove,
    .adopt = plant_adopt,
    .remove_tree = plant_remove_tree,
};

/* ---- the table ---- */

#define PLANT(kind, name, ...) static const char *const breaks_##kind[] = {__VA_ARGS__, NULL};
#include "plants.def"
#undef PLANT

const struct plant contract_plants[] = {
#define PLANT(kind, name, ...) {name, breaks_##kind},
#include "plants.def"
#undef PLANT
};

const size_t n_contract_plants = sizeof(contract_plants) / sizeof(contract_plants[0]);

silt_status plant_fault(const silt_env *env, const char *name, silt_storage **store, silt_error *err)
{
    size_t kind = 0;
    while (kind < n_contract_plants && strcmp(contract_plants[kind].name, name) != 0) {
        kind++;
    }
    struct plant_store *plant = kind == n_contract_plants ? NULL : calloc(1, sizeof(*plant));
    if (plant == NULL) {
        return SILT_EINVALID;
    }
    plant->inner = *store;
    plant->kind = (enum plant_kind)kind;
    (void)pthread_mutex_init(&plant->lock, NULL);
    silt_storage *out = NULL;
    const silt_status status = silt_storage_new(env, &plant_slots, plant, &out, err);
    if (status == SILT_OK) {
        *store = out;
    } else {
        (void)pthread_mutex_destroy(&plant->lock);
        free(plant);
    }
    return status;
}
