/*
 * The store of the simulation, as bad as the contract of a log store allows (silt/storage.h): requests fail before or after they
 * took effect, answers get lost, requests are sent twice or land long after everybody gave up on them, listings come page by
 * page while others write. It keeps every commit that ever landed, and notices at once when a version changes its bytes.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define LATEST_US INT64_C(100000000) /* until a late request lands */

enum request_kind {
    REQUEST_PUT,
    REQUEST_PUT_IF_ABSENT,
    REQUEST_REMOVE,
    REQUEST_RATIFY,   /* path: the staged name; data: the commit */
    REQUEST_PUBLISHED /* version: up to which all are published */
};

struct request {
    enum request_kind kind;
    int actor;
    const char *path;
    const char *data;
    size_t len;
    int64_t version; /* of the catalog's requests */
    int64_t modified_ms;
    int64_t due_us;
    bool done;
};

/* What becomes of a request that changes something. */
enum fate {
    FATE_GOOD,
    FATE_REFUSED, /* certainly without effect */
    FATE_LANDED,  /* took effect, no answer */
    FATE_LOST,    /* without effect, no answer */
    FATE_LATE,    /* no answer, takes effect later */
    FATE_TWICE,   /* sent twice; the answer is that of the second */
    FATE_ECHO,    /* answered, and arrives again later */
    FATE_COUNT
};

static const char *const fate_names[] = {"", " REFUSED", " LANDED-NO-ANSWER", " LOST", " LATE", " TWICE", " ECHO"};

/* ---- objects ---- */

static size_t lower_bound(const struct sim_store *store, const char *path)
{
    size_t begin = 0;
    size_t end = store->objects.n;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (strcmp(SIM_AT(&store->objects, struct sim_object, middle)->path, path) < 0) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

static struct sim_object *find(const struct sim_store *store, const char *path)
{
    const size_t index = lower_bound(store, path);
    if (index == store->objects.n) {
        return NULL;
    }
    struct sim_object *object = SIM_AT(&store->objects, struct sim_object, index);
    return strcmp(object->path, path) == 0 ? object : NULL;
}

const struct sim_object *sim_store_find(const struct sim_world *world, const char *path)
{
    return find(&world->store, path);
}

/* The version of a commit's path, -1 for another file. */
static int64_t commit_version(const char *path)
{
    const size_t log = strlen(SIM_LOG);
    if (strncmp(path, SIM_LOG, log) != 0 || strlen(path) != log + 25 || strcmp(path + log + 20, ".json") != 0) {
        return -1;
    }
    return strtoll(path + log, NULL, 10);
}

bool sim_store_has_commit(const struct sim_world *world, int64_t version)
{
    char path[128];
    (void)snprintf(path, sizeof(path), SIM_LOG "%020lld.json", (long long)version);
    return find(&world->store, path) != NULL;
}

static bool has_checkpoint(const struct sim_world *world, int64_t version)
{
    char prefix[128];
    const int len = snprintf(prefix, sizeof(prefix), SIM_LOG "%020lld.checkpoint.", (long long)version);
    const size_t index = lower_bound(&world->store, prefix);
    return index < world->store.objects.n &&
           strncmp(SIM_AT(&world->store.objects, struct sim_object, index)->path, prefix, (size_t)len) == 0;
}

bool sim_store_can_open(const struct sim_world *world, int64_t version)
{
    int64_t base = version;
    while (base >= 0 && !has_checkpoint(world, base)) {
        if (!sim_store_has_commit(world, base)) {
            return false;
        }
        base--;
    }
    return true;
}

/*
 * Has the version expired, with all that it was read by? Then its name is free again, and a request that was on its way since before can take it,
 * which no writer can help. It is below all that readers look at. Whoever is told that such a commit is there is found by what was acknowledged.
 */
static bool is_stray(const struct sim_world *world, int64_t version)
{
    return version > 0 && !sim_store_has_commit(world, version) && !has_checkpoint(world, version) &&
           !sim_store_can_open(world, version - 1);
}

/* The rules of versions, at the moment at which a commit becomes visible. */
static void judge_commit(struct sim_world *world, int actor, const char *path, const char *data, size_t len)
{
    struct sim_store *store = &world->store;
    const int64_t version = commit_version(path);
    if (version < 0) {
        return;
    }
    if (world->knobs.catalog && version == store->n_commits) {
        sim_break(world, "version %lld is published, and was never ratified", (long long)version);
        return;
    }
    if (version >= SIM_MAX_VERSIONS || version > store->n_commits) {
        sim_break(world, "version %lld landed, but version %lld is missing", (long long)version,
                  (long long)store->n_commits);
        return;
    }
    struct sim_commit *commit = &store->commits[version];
    if (commit->data == NULL) {
        *commit = (struct sim_commit){data, len, actor};
        store->n_commits = version + 1;
    } else if ((commit->len != len || memcmp(commit->data, data, len) != 0) && !is_stray(world, version)) {
        sim_break(world, "version %lld has two owners: a%d had it, a%d replaced it", (long long)version, commit->actor,
                  actor);
    }
}

static void set_object(struct sim_world *world, const struct request *request)
{
    struct sim_store *store = &world->store;
    judge_commit(world, request->actor, request->path, request->data, request->len);
    struct sim_object *object = find(store, request->path);
    if (object == NULL) {
        const size_t index = lower_bound(store, request->path);
        (void)sim_list_push(world, &store->objects, sizeof(*object));
        object = SIM_AT(&store->objects, struct sim_object, index);
        memmove(object + 1, object, (store->objects.n - 1 - index) * sizeof(*object));
    }
    *object = (struct sim_object){request->path, request->data, request->len,
                                  INT64_C(1767225600000) + world->now_us / 1000};
}

/* The catalog's decision. False: the version has another commit, or this one. */
static bool take_version(struct sim_world *world, const struct request *request)
{
    struct sim_catalog *catalog = &world->catalog;
    const int64_t version = request->version;
    if (version != catalog->latest + 1 || version >= SIM_MAX_VERSIONS) {
        if (version > catalog->latest) {
            sim_break(world, "version %lld is to be ratified after version %lld", (long long)version,
                      (long long)catalog->latest);
        }
        return false;
    }
    char path[256];
    (void)snprintf(path, sizeof(path), SIM_LOG "_staged_commits/%s", request->path);
    if (!world->knobs.inline_commits && find(&world->store, path) == NULL) {
        sim_break(world, "version %lld is ratified, but its staged file %s is not there", (long long)version, path);
        return false;
    }
    catalog->latest = version;
    catalog->commits[version] = (struct sim_ratified){request->path, request->data, request->len, request->modified_ms};
    world->store.commits[version] = (struct sim_commit){request->data, request->len, request->actor};
    world->store.n_commits = version + 1;
    return true;
}

static void forget(struct sim_world *world, const struct request *request)
{
    for (int64_t version = 0; version <= request->version; version++) {
        if (!sim_store_has_commit(world, version)) {
            sim_break(world, "the catalog is told that version %lld is published, and it is not", (long long)version);
        }
    }
    if (request->version > world->catalog.forgotten) {
        world->catalog.forgotten = request->version;
    }
}

/* Takes effect. False: the name was taken. */
static bool land(struct sim_world *world, const struct request *request)
{
    struct sim_store *store = &world->store;
    sim_note(world, (uint64_t)request->kind * 31 + request->len);
    if (request->kind == REQUEST_RATIFY) {
        return take_version(world, request);
    }
    if (request->kind == REQUEST_PUBLISHED) {
        forget(world, request);
        return true;
    }
    if (request->kind == REQUEST_REMOVE) {
        const size_t index = lower_bound(store, request->path);
        struct sim_object *object = find(store, request->path);
        if (object != NULL) {
            memmove(object, object + 1, (store->objects.n - 1 - index) * sizeof(*object));
            store->objects.n--;
        }
        return true;
    }
    if (request->kind == REQUEST_PUT_IF_ABSENT && world->bug != SIM_BUG_OVERWRITE &&
        find(store, request->path) != NULL) {
        return false;
    }
    set_object(world, request);
    return true;
}

static const char *tail(const char *path)
{
    return strncmp(path, SIM_ROOT, strlen(SIM_ROOT)) == 0 ? path + strlen(SIM_ROOT) : path;
}

void sim_store_land(struct sim_world *world, bool all)
{
    for (size_t i = 0; i < world->store.pending.n; i++) {
        struct request *request = SIM_AT(&world->store.pending, struct request, i);
        if (!request->done && (all || request->due_us <= world->now_us)) {
            request->done = true;
            const bool landed = land(world, request);
            sim_trace(&world->actors[request->actor], "    a late request for %s %s", tail(request->path),
                      landed ? "lands" : "is refused: the name is taken");
        }
    }
}

/* ---- fates ---- */

static bool is_down(const struct sim_world *world)
{
    return world->now_us < world->store.down_until_us;
}

static enum fate draw(struct sim_actor *actor, enum request_kind kind)
{
    struct sim_world *world = actor->world;
    if (actor->fiber != NULL && is_down(world)) {
        return (enum fate)(FATE_LANDED + sim_below(world, FATE_LATE - FATE_LANDED + 1));
    }
    if (actor->fiber == NULL || !sim_chance(world, world->knobs.fault)) {
        return FATE_GOOD;
    }
    const enum fate fate = (enum fate)(1 + sim_below(world, FATE_COUNT - 1));
    const bool conditional = kind == REQUEST_PUT_IF_ABSENT || kind == REQUEST_RATIFY;
    return !conditional && fate == FATE_TWICE ? FATE_LANDED : fate;
}

/* Puts the request off; it will land whatever becomes of its sender. */
static void put_off(struct sim_actor *actor, const struct request *request)
{
    struct sim_world *world = actor->world;
    struct request *copy = sim_list_push(world, &world->store.pending, sizeof(*copy));
    *copy = *request;
    const bool soon = sim_chance(world, 500000);
    copy->due_us = world->now_us + sim_below(world, soon ? 50000 : LATEST_US);
}

static silt_status refuse(silt_error *err, silt_status status, const char *message)
{
    err->status = status;
    (void)snprintf(err->code_name, sizeof(err->code_name), "SIM_STORE");
    (void)snprintf(err->message, sizeof(err->message), "%s", message);
    return status;
}

static struct request make_request(struct sim_actor *actor, enum request_kind kind, const char *path, const void *data,
                                   size_t len)
{
    struct request request = {.kind = kind, .actor = actor->index, .len = len};
    request.path = sim_keep_text(actor->world, path);
    char *copy = sim_keep(actor->world, len + 1);
    if (len > 0) {
        memcpy(copy, data, len);
    }
    request.data = copy;
    return request;
}

/* Sends it. *landed: the answer that the store gave to the effect; the return value says whether there is an answer. */
static enum fate send(struct sim_actor *actor, const struct request *request, bool *landed)
{
    const enum fate fate = draw(actor, request->kind);
    *landed = false;
    switch (fate) {
    case FATE_REFUSED:
    case FATE_LOST: break;
    case FATE_LATE: put_off(actor, request); break;
    case FATE_TWICE:
        (void)land(actor->world, request);
        *landed = land(actor->world, request);
        break;
    case FATE_ECHO:
        *landed = land(actor->world, request);
        put_off(actor, request);
        break;
    case FATE_GOOD:
    case FATE_LANDED:
    case FATE_COUNT: *landed = land(actor->world, request); break;
    }
    sim_note(actor->world, (uint64_t)fate * 8 + (uint64_t)actor->index);
    return fate;
}

static silt_put_outcome unanswered(const struct sim_actor *actor, silt_status *status, silt_error *err)
{
    switch (actor->world->bug) {
    case SIM_BUG_GUESS_DONE: return SILT_PUT_DONE;
    case SIM_BUG_GUESS_FAILED: *status = refuse(err, SILT_EIO, "the answer was lost"); return SILT_PUT_AMBIGUOUS;
    default: return SILT_PUT_AMBIGUOUS;
    }
}

/* ---- slots ---- */

static void close_store(void *impl)
{
    (void)impl; /* the world's */
}

/* A request of which one wins: a put of a name, or the ratification of a version. */
static silt_status compete(struct sim_actor *actor, const struct request *request, silt_put_outcome *outcome,
                           silt_error *err)
{
    sim_point(actor);
    bool landed = false;
    const enum fate fate = send(actor, request, &landed);
    sim_trace(actor, "%s %s%s%s", request->kind == REQUEST_RATIFY ? "ratify" : "put", tail(request->path),
              fate_names[fate],
              landed                                   ? ""
              : fate == FATE_GOOD || fate == FATE_ECHO ? " (taken)"
                                                       : " -");
    sim_point(actor);
    silt_status status = SILT_OK;
    switch (fate) {
    case FATE_GOOD:
    case FATE_TWICE:
    case FATE_ECHO: *outcome = landed ? SILT_PUT_DONE : SILT_PUT_EXISTS; break;
    case FATE_REFUSED: return refuse(err, SILT_EIO, "the store refused");
    case FATE_LANDED:
    case FATE_LOST:
    case FATE_LATE:
    case FATE_COUNT: *outcome = unanswered(actor, &status, err); break;
    }
    return status;
}

static silt_status put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err)
{
    (void)call; /* an answer comes at once, or never */
    const struct request request = make_request(impl, REQUEST_PUT_IF_ABSENT, path, data, data_len);
    return compete(impl, &request, outcome, err);
}

silt_status sim_store_ratify(struct sim_actor *actor, const silt_ratify_request *ratify, silt_put_outcome *outcome,
                             silt_error *err)
{
    struct request request = make_request(actor, REQUEST_RATIFY, ratify->staged_name != NULL ? ratify->staged_name : "",
                                          ratify->content, ratify->content_len);
    request.version = ratify->version;
    request.modified_ms = ratify->modified_ms;
    return compete(actor, &request, outcome, err);
}

/* A file that need not be durable: a failure of the machine may leave any part of it. */
static silt_status put_hint(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                            silt_put_outcome *outcome, silt_error *err)
{
    struct sim_world *world = ((struct sim_actor *)impl)->world;
    const bool cut = data_len > 0 && sim_chance(world, world->knobs.fault / 2);
    world->n_cut += cut ? 1 : 0;
    return put_if_absent(impl, call, path, data, cut ? (size_t)sim_below(world, (int64_t)data_len) : data_len, outcome,
                         err);
}

static silt_status carry_out(struct sim_actor *actor, const struct request *request, silt_error *err)
{
    static const char *const names[] = {"replace", "", "remove", "", "note"};
    sim_point(actor);
    bool landed = false;
    const enum fate fate = send(actor, request, &landed);
    sim_trace(actor, "%s %s%s", names[request->kind], tail(request->path), fate_names[fate]);
    sim_point(actor);
    return fate == FATE_GOOD || fate == FATE_ECHO ? SILT_OK : refuse(err, SILT_EIO, "the store did not answer");
}

static silt_status change(struct sim_actor *actor, enum request_kind kind, const char *path, const void *data,
                          size_t len, silt_error *err)
{
    const struct request request = make_request(actor, kind, path, data, len);
    return carry_out(actor, &request, err);
}

silt_status sim_store_note_published(struct sim_actor *actor, int64_t version, silt_error *err)
{
    struct request request = make_request(actor, REQUEST_PUBLISHED, "published", NULL, 0);
    request.version = version;
    return carry_out(actor, &request, err);
}

static silt_status put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err)
{
    (void)call; /* as above */
    return change(impl, REQUEST_PUT, path, data, data_len, err);
}

static silt_status remove_object(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    (void)call; /* as above */
    return change(impl, REQUEST_REMOVE, path, NULL, 0, err);
}

/* Before a call that only reads: a point, and perhaps a failure. */
static silt_status approach(struct sim_actor *actor, const char *what, const char *path, silt_error *err)
{
    sim_point(actor);
    struct sim_world *world = actor->world;
    const bool fails = actor->fiber != NULL && (is_down(world) || sim_chance(world, world->knobs.read_fault));
    sim_trace(actor, "%s %s%s", what, tail(path), fails ? " FAILS" : "");
    return fails ? refuse(err, SILT_EIO, "the store did not answer") : SILT_OK;
}

silt_status sim_store_ask(struct sim_actor *actor, silt_error *err)
{
    return approach(actor, "ask", "the catalog", err);
}

static silt_status read_object(struct sim_actor *actor, silt_read_request *request, silt_error *err)
{
    const silt_status status = approach(actor, "read", request->path, err);
    if (status != SILT_OK) {
        return status;
    }
    const struct sim_object *object = find(&actor->world->store, request->path);
    if (object == NULL) {
        return refuse(err, SILT_ENOTFOUND, "there is no file of this name");
    }
    const int64_t size = (int64_t)object->len;
    const int64_t begin = request->offset >= 0       ? request->offset
                          : request->offset <= -size ? 0
                                                     : size + request->offset;
    const int64_t rest = begin < size ? size - begin : 0;
    const int64_t length = request->length >= 0 && request->length < rest ? request->length : rest;
    request->file_size = size;
    if (length > 0) {
        request->data = actor->env.allocator.alloc(actor, (size_t)length);
        memcpy(request->data, object->data + begin, (size_t)length);
        request->data_len = (size_t)length;
    }
    return SILT_OK;
}

static silt_status read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct sim_actor *actor = impl;
    (void)call; /* as above */
    /* In any order: sometimes from the end. */
    const bool backwards = actor->fiber != NULL && n > 1 && sim_chance(actor->world, 300000);
    for (size_t i = 0; i < n; i++) {
        silt_read_request *request = &requests[backwards ? n - 1 - i : i];
        request->status = read_object(actor, request, err);
        sim_point(actor);
        on_done(ctx, request);
    }
    return SILT_OK;
}

static silt_status stat_object(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                               int64_t *modified_ms, silt_error *err)
{
    struct sim_actor *actor = impl;
    (void)call; /* as above */
    const silt_status status = approach(actor, "stat", path, err);
    if (status != SILT_OK) {
        return status;
    }
    const struct sim_object *object = find(&actor->world->store, path);
    if (object == NULL) {
        return refuse(err, SILT_ENOTFOUND, "there is no file of this name");
    }
    *size_bytes = (int64_t)object->len;
    *modified_ms = object->modified_ms;
    return SILT_OK;
}

/* One listing on its way. */
struct listing {
    char prefix[256];
    char from[512]; /* next path wanted; the one that was seen last with a byte more */
    bool recursive;
    bool any;
};

static bool hides(const struct sim_actor *actor, const char *path)
{
    const struct sim_world *world = actor->world;
    return world->bug == SIM_BUG_STALE_LIST && actor->fiber != NULL &&
           commit_version(path) == world->store.n_commits - 1 && world->steps % 4 == 0;
}

/* Up to `most` entries as the store has them at this moment; names are kept. Returns how many. */
static size_t take_page(struct sim_actor *actor, struct listing *listing, silt_file_entry *page, size_t most)
{
    const struct sim_store *store = &actor->world->store;
    const size_t prefix = strlen(listing->prefix);
    size_t n = 0;
    size_t index = lower_bound(store, listing->from);
    for (; n < most && index < store->objects.n; index++) {
        const struct sim_object *object = SIM_AT(&store->objects, struct sim_object, index);
        if (strncmp(object->path, listing->prefix, prefix) != 0) {
            break;
        }
        const char *name = object->path + prefix;
        listing->any = true;
        (void)snprintf(listing->from, sizeof(listing->from), "%s\x01", object->path);
        if ((listing->recursive || strchr(name, '/') == NULL) && !hides(actor, object->path)) {
            page[n++] = (silt_file_entry){name, strlen(name), (int64_t)object->len, object->modified_ms};
        }
    }
    return n;
}

static silt_status list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                        bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct sim_actor *actor = impl;
    struct sim_world *world = actor->world;
    (void)call; /* as above */
    const silt_status status = approach(actor, "list", dir, err);
    if (status != SILT_OK) {
        return status;
    }
    struct listing listing = {.recursive = options->recursive};
    (void)snprintf(listing.prefix, sizeof(listing.prefix), "%s/", dir);
    listing.any =
        lower_bound(&world->store, listing.prefix) < world->store.objects.n &&
        strncmp(SIM_AT(&world->store.objects, struct sim_object, lower_bound(&world->store, listing.prefix))->path,
                listing.prefix, strlen(listing.prefix)) == 0;
    (void)snprintf(listing.from, sizeof(listing.from), "%s%s", listing.prefix,
                   options->start_from != NULL ? options->start_from : "");
    silt_file_entry page[64];
    for (;;) {
        const size_t most = actor->fiber != NULL && sim_chance(world, 300000) ? (size_t)(1 + sim_below(world, 4)) : 64;
        const size_t n = take_page(actor, &listing, page, most);
        sim_point(actor);
        for (size_t i = 0; i < n; i++) {
            if (!on_entry(ctx, &page[i])) {
                return SILT_OK;
            }
        }
        if (n < most) {
            return listing.any ? SILT_OK : refuse(err, SILT_ENOTFOUND, "there is no such folder");
        }
    }
}

const silt_storage_vtable sim_storage = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "sim",
    .close = close_store,
    .read_many = read_many,
    .list = list,
    .put_if_absent = put_if_absent,
    .put = put,
    .stat = stat_object,
    .remove = remove_object,
    .put_hint = put_hint,
};
