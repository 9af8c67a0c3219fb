/*
 * The footers that were seen. Each is read once, before the first scan of its file (duck_footer_read.c), and what was found is kept:
 * files of a table are immutable and most of them say the same, so that later scans compare pointers.
 *
 * Any thread; the cache is guarded by the instance's lock. Footers are freed only while nobody has entered.
 */
#include "duck_footer.h"
#include "duck_fetch.h"

#include "base/error.h"
#include "duck_lz4.h"

/* More files than this and the cache starts anew. */
#define MAX_CACHED_FILES 200000

void sl_duck_footers_init(struct sl_duck_footers *footers, const silt_env *env)
{
    sl_arena_init(&footers->arena, env);
    sl_map_init(&footers->files, env);
    sl_map_init(&footers->schemas, env);
}

void sl_duck_footers_release(struct sl_duck_footers *footers)
{
    sl_map_release(&footers->files);
    sl_map_release(&footers->schemas);
    sl_arena_release(&footers->arena);
}

/* A file is known by path and size. Copies of remote files have names of their own each time and are never cached. */
static bool file_key(const struct sl_duck_files *files, size_t index, struct sl_buf *key)
{
    const struct sl_duck_source *source = &files->sources[index];
    sl_buf_clear(key);
    sl_buf_put_i64(key, source->size_bytes);
    sl_buf_put_char(key, ' ');
    sl_buf_put_c(key, files->local[index]);
    return source->local_path != NULL && source->size_bytes >= 0;
}

/* ---- interning ---- */

/* Fills n_nodes from the end backwards; false if the tree does not close. */
static bool count_subtrees(struct sl_footer_node *nodes, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        size_t next = i + 1;
        for (uint32_t child = 0; child < nodes[i].n_children; child++) {
            if (next >= n) {
                return false;
            }
            next += nodes[next].n_nodes;
        }
        if (next > n) {
            return false;
        }
        nodes[i].n_nodes = (uint32_t)(next - i);
    }
    return n > 0 && nodes[0].n_nodes == n;
}

static bool copy_text(struct sl_arena *arena, struct sl_str *text)
{
    if (text->ptr != NULL) {
        *text = sl_arena_copy(arena, *text);
        return text->ptr != NULL;
    }
    return true;
}

static bool copy_nodes(struct sl_arena *arena, struct sl_footer_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sl_footer_node *node = &nodes[i];
        if (!copy_text(arena, &node->name) || !copy_text(arena, &node->type) || !copy_text(arena, &node->physical) ||
            !copy_text(arena, &node->converted) || !copy_text(arena, &node->logical)) {
            return false;
        }
    }
    return true;
}

/* NULL: out of memory or a broken tree. dp->lock is held. */
static struct sl_footer *make_footer(struct sl_duck_footers *cache, const struct sl_footer *from)
{
    struct sl_footer *footer = sl_arena_alloc(&cache->arena, sizeof(*footer));
    struct sl_footer_node *nodes = sl_arena_alloc_array(&cache->arena, from->n_nodes, sizeof(*nodes));
    if (footer == NULL || nodes == NULL || from->n_nodes == 0) {
        return NULL;
    }
    memcpy(nodes, from->nodes, from->n_nodes * sizeof(*nodes));
    *footer = *from;
    footer->nodes = nodes;
    if (!copy_text(&cache->arena, &footer->key) || !copy_nodes(&cache->arena, nodes, from->n_nodes) ||
        !copy_text(&cache->arena, &footer->facts.spark_version) ||
        !copy_text(&cache->arena, &footer->facts.time_zone) || !count_subtrees(nodes, from->n_nodes)) {
        return NULL;
    }
    footer->plain_names = sl_footer_names_are_plain(cache->arena.env, nodes);
    for (size_t i = 1; i < footer->n_nodes; i++) {
        footer->has_ids = footer->has_ids || nodes[i].field_id >= 0;
    }
    return footer;
}

struct sl_footer *sl_footer_intern(struct sl_dataplane *dp, const struct sl_footer *from)
{
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_footers *cache = &dp->footers;
    struct sl_map_entry *entry = sl_map_find(&cache->schemas, from->key);
    struct sl_footer *footer = entry != NULL ? entry->value.ptr : make_footer(cache, from);
    if (entry == NULL && footer != NULL) {
        bool inserted = false;
        entry = sl_map_put(&cache->schemas, footer->key, &inserted);
        if (entry != NULL) {
            entry->value.ptr = footer;
        }
        footer = entry != NULL ? footer : NULL;
    }
    pthread_mutex_unlock(&dp->lock);
    return footer;
}

/* ---- files ---- */

/* Looks the files up in the cache; footers[i] stays NULL for those that are not there. Returns their number. */
static size_t look_up(struct sl_dataplane *dp, const struct sl_duck_files *files, struct sl_footer **footers,
                      size_t *unknown)
{
    size_t n = 0;
    struct sl_buf key;
    sl_buf_init(&key, dp->env);
    pthread_mutex_lock(&dp->lock);
    for (size_t i = 0; i < files->n; i++) {
        struct sl_map_entry *entry = NULL;
        if (file_key(files, i, &key) && key.status == SILT_OK) {
            entry = sl_map_find(&dp->footers.files, sl_buf_view(&key));
        }
        footers[i] = entry != NULL ? entry->value.ptr : NULL;
        if (entry == NULL) {
            unknown[n++] = i;
        }
    }
    pthread_mutex_unlock(&dp->lock);
    sl_buf_release(&key);
    return n;
}

/* Notes what the files say. Only a cache: what does not fit into memory is read again. */
static void keep(struct sl_dataplane *dp, const struct sl_duck_files *files, struct sl_footer **footers,
                 const size_t *which, size_t n)
{
    struct sl_buf key;
    sl_buf_init(&key, dp->env);
    pthread_mutex_lock(&dp->lock);
    for (size_t i = 0; i < n; i++) {
        if (!file_key(files, which[i], &key) || key.status != SILT_OK) {
            continue;
        }
        const struct sl_str kept = sl_arena_copy(&dp->footers.arena, sl_buf_view(&key));
        bool inserted = false;
        struct sl_map_entry *entry = kept.ptr != NULL ? sl_map_put(&dp->footers.files, kept, &inserted) : NULL;
        if (entry != NULL) {
            entry->value.ptr = footers[which[i]];
        }
    }
    pthread_mutex_unlock(&dp->lock);
    sl_buf_release(&key);
}

static void enter(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_footers *footers = &dp->footers;
    if (footers->users == 0 && footers->files.len > MAX_CACHED_FILES) {
        sl_duck_footers_release(footers);
        sl_duck_footers_init(footers, dp->env);
    }
    footers->users++;
    pthread_mutex_unlock(&dp->lock);
}

void sl_footers_leave(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    dp->footers.users--;
    pthread_mutex_unlock(&dp->lock);
}

/* See duck_lz4.h. */
static silt_status thaw(struct sl_duck_files *files, const silt_call *call, struct sl_footer **footers,
                        struct sl_arena *arena, silt_error *err)
{
    bool any = false;
    bool *which = sl_arena_alloc_array(arena, files->n, sizeof(*which));
    if (which == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < files->n; i++) {
        which[i] = footers[i]->facts.has_lz4;
        any = any || which[i];
    }
    return any ? sl_duck_thaw(files, call, which, err) : SILT_OK;
}

/*
 * What a store sent may have been damaged on the way, and is kept then: a footer that cannot be read is asked for once more, and what is no better
 * then is not kept.
 */
static silt_status read_footers(const struct sl_footers_request *request, silt_error *err)
{
    struct sl_duck_fetch *fetch = request->files->fetch;
    silt_error found = SILT_ERROR_INIT;
    silt_status status = sl_footers_read(request, &found);
    if (status == SILT_ECORRUPT && fetch != NULL) {
        silt_error_reset(&found);
        SL_TRY(sl_duck_fetch_footers_again(fetch, request->call, err));
        status = sl_footers_read(request, &found);
    }
    if (status == SILT_ECORRUPT && fetch != NULL) {
        (void)sl_duck_fetch_withdraw(request->dp);
    }
    return status == SILT_OK ? SILT_OK : sl_error_take(err, &found);
}

silt_status sl_footers_enter(struct sl_duck_conn *conn, const silt_call *call, struct sl_duck_files *files,
                             struct sl_footer **footers, silt_error *err)
{
    struct sl_dataplane *dp = conn->dp;
    struct sl_arena arena;
    sl_arena_init(&arena, dp->env);
    enter(dp);
    silt_status status = SILT_OK;
    size_t *unknown = sl_arena_alloc_array(&arena, files->n, sizeof(*unknown));
    if (unknown == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    const size_t n = look_up(dp, files, footers, unknown);
    if (n > 0) {
        const struct sl_footers_request request = {
            .dp = dp, .call = call, .files = files, .which = unknown, .n = n, .footers = footers};
        status = read_footers(&request, err);
        if (status == SILT_OK) {
            keep(dp, files, footers, unknown, n);
        }
    }
    if (status == SILT_OK) {
        status = thaw(files, call, footers, &arena, err);
    }
out:
    sl_arena_release(&arena);
    return status;
}
