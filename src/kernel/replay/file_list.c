/*
 * Layered file lists; see file_list.h. Called by snapshots. Lists share sets and marks; only the list under construction is
 * changed, and in it only what it does not share.
 */
#include "kernel/replay/file_list.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/replay/file_build.h"
#include "kernel/replay/file_index.h"

/* A layer is written anew when one file in so many of it is gone. */
#define GONE_SHARE 8

/* ---- marks ---- */

static size_t gone_bytes(size_t n_blocks)
{
    return sizeof(struct sl_gone) + n_blocks * sizeof(struct sl_gone_page *);
}

static void gone_unref(const silt_env *env, struct sl_gone *gone)
{
    if (gone == NULL || atomic_fetch_sub_explicit(&gone->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < gone->n_blocks; i++) {
        struct sl_gone_page *page = gone->pages[i];
        if (page != NULL && atomic_fetch_sub_explicit(&page->refs, 1, memory_order_acq_rel) == 1) {
            sl_release(env, page, sizeof(*page));
        }
    }
    sl_release(env, gone, gone_bytes(gone->n_blocks));
}

/* A copy that shares all pages; old NULL: none is gone. NULL: out of memory. */
static struct sl_gone *gone_copy(const silt_env *env, const struct sl_gone *old, size_t n_blocks)
{
    struct sl_gone *gone = sl_alloc_zero(env, gone_bytes(n_blocks));
    if (gone == NULL) {
        return NULL;
    }
    atomic_init(&gone->refs, 1);
    gone->n_blocks = n_blocks;
    for (size_t i = 0; old != NULL && i < n_blocks; i++) {
        gone->pages[i] = old->pages[i];
        if (gone->pages[i] != NULL) {
            (void)atomic_fetch_add_explicit(&gone->pages[i]->refs, 1, memory_order_relaxed);
        }
    }
    gone->n = old != NULL ? old->n : 0;
    return gone;
}

/* Marks a file in marks that nobody else has. A page that they share is copied first. */
static bool gone_mark(const silt_env *env, struct sl_gone *gone, sl_file_pos pos)
{
    struct sl_gone_page **slot = &gone->pages[pos >> SL_FILE_BLOCK_BITS];
    if (*slot == NULL || atomic_load_explicit(&(*slot)->refs, memory_order_acquire) > 1) {
        struct sl_gone_page *own = sl_alloc_zero(env, sizeof(*own));
        if (own == NULL) {
            return false;
        }
        atomic_init(&own->refs, 1);
        if (*slot != NULL) {
            memcpy(own->bits, (*slot)->bits, sizeof(own->bits));
            if (atomic_fetch_sub_explicit(&(*slot)->refs, 1, memory_order_acq_rel) == 1) {
                sl_release(env, *slot, sizeof(**slot)); /* the others let go of it meanwhile */
            }
        }
        *slot = own;
    }
    const uint32_t row = sl_file_row_of(pos);
    (*slot)->bits[row / 64] |= UINT64_C(1) << (row % 64);
    gone->n++;
    return true;
}

static size_t gone_resident(const struct sl_gone *gone)
{
    if (gone == NULL) {
        return 0;
    }
    size_t bytes = gone_bytes(gone->n_blocks);
    for (size_t i = 0; i < gone->n_blocks; i++) {
        bytes += gone->pages[i] != NULL ? sizeof(struct sl_gone_page) : 0;
    }
    return bytes;
}

/* ---- life ---- */

struct sl_file_list *sl_file_list_ref(struct sl_file_list *list)
{
    if (list != NULL) {
        (void)atomic_fetch_add_explicit(&list->refs, 1, memory_order_relaxed);
    }
    return list;
}

static void release_layer(const silt_env *env, struct sl_file_layer *layer)
{
    sl_file_set_unref(layer->set);
    gone_unref(env, layer->gone);
    *layer = (struct sl_file_layer){NULL, NULL};
}

void sl_file_list_unref(struct sl_file_list *list)
{
    if (list == NULL || atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < list->n_layers; i++) {
        release_layer(list->env, &list->layers[i]);
    }
    sl_release(list->env, list, sizeof(*list));
}

/* The set is the only layer. */
static bool drop_again(struct sl_file_list *list)
{
    struct sl_file_layer *layer = &list->layers[0];
    const struct sl_file_set *set = layer->set;
    bool good = true;
    if (set->again.len > 0) {
        layer->gone = gone_copy(list->env, NULL, set->blocks.len);
        good = layer->gone != NULL;
    }
    for (size_t i = 0; i < set->again.len && good; i++) {
        const sl_file_pos pos = *(const sl_file_pos *)sl_vec_at(&set->again, i);
        good = gone_mark(list->env, layer->gone, pos);
        list->n_files--;
        list->total_size -= sl_file_block_at(set, pos)->size[sl_file_row_of(pos)];
        list->n_again++;
    }
    return good;
}

silt_status sl_file_list_of(struct sl_file_set *set, struct sl_file_list **out, silt_error *err)
{
    *out = NULL;
    struct sl_file_list *list = sl_alloc_zero(set->env, sizeof(*list));
    if (list == NULL) {
        sl_file_set_unref(set);
        return sl_fail_nomem(err);
    }
    atomic_init(&list->refs, 1);
    list->env = set->env;
    list->n_files = set->n_files;
    list->total_size = set->total_size;
    list->layers[0].set = set;
    list->n_layers = 1;
    if (!drop_again(list)) {
        sl_file_list_unref(list);
        return sl_fail_nomem(err);
    }
    *out = list;
    return SILT_OK;
}

bool sl_file_list_has_details(const struct sl_file_list *list)
{
    bool all = true;
    for (size_t i = 0; i < list->n_layers; i++) {
        all = all && (list->layers[i].set->has_details || list->layers[i].set->n_files == 0);
    }
    return all;
}

size_t sl_file_list_resident(const struct sl_file_list *list, bool with_details)
{
    size_t bytes = sizeof(*list);
    for (size_t i = 0; i < list->n_layers; i++) {
        bytes += sl_file_set_resident(list->layers[i].set, with_details) + gone_resident(list->layers[i].gone);
    }
    return bytes;
}

/* ---- merging ---- */

static int64_t live_files(const struct sl_file_layer *layer)
{
    return layer->set->n_files - (layer->gone != NULL ? layer->gone->n : 0);
}

static silt_status copy_layer(struct sl_file_set_builder *builder, const struct sl_file_layer *layer, silt_error *err)
{
    const struct sl_file_set *set = layer->set;
    uint32_t *groups = sl_alloc_array(set->env, set->groups.len, sizeof(*groups));
    if (groups == NULL) {
        return sl_fail_nomem(err);
    }
    memset(groups, 0xFF, set->groups.len * sizeof(*groups));
    silt_status status = SILT_OK;
    for (size_t b = 0; status == SILT_OK && b < set->blocks.len; b++) {
        const struct sl_file_block *block = sl_file_set_block(set, b);
        for (uint32_t row = 0; status == SILT_OK && row < block->n; row++) {
            const sl_file_pos pos = sl_file_pos_make(b, row);
            if (!sl_gone_at(layer->gone, pos)) {
                status = sl_file_set_copy(builder, set, pos, &groups[block->group[row] & SL_FILE_GROUP_MASK], err);
            }
        }
    }
    sl_release(set->env, groups, set->groups.len * sizeof(*groups));
    return status;
}

/* Puts one set in the place of the first n layers. */
static silt_status merge_top(struct sl_file_list *list, size_t n, silt_error *err)
{
    const struct sl_file_set *like = list->layers[0].set;
    bool details = true;
    for (size_t i = 0; i < n; i++) {
        details = details && (list->layers[i].set->has_details || list->layers[i].set->n_files == 0);
    }
    const struct sl_file_set_options options = {
        .env = list->env, .root = like->root, .hash = like->hash, .want_details = details};
    struct sl_file_set_builder builder = {0};
    struct sl_file_set *merged = NULL;
    silt_status status = sl_file_set_begin(&builder, &options, err);
    for (size_t i = 0; status == SILT_OK && i < n; i++) {
        status = copy_layer(&builder, &list->layers[i], err);
    }
    if (status == SILT_OK) {
        status = sl_file_set_finish(&builder, &merged, err);
    }
    sl_file_set_abandon(&builder);
    if (status != SILT_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        release_layer(list->env, &list->layers[i]);
    }
    for (size_t i = n; i < list->n_layers; i++) {
        list->layers[i - n + 1] = list->layers[i];
    }
    list->layers[0] = (struct sl_file_layer){merged, NULL};
    list->n_layers -= n - 1;
    return SILT_OK;
}

/*
 * How many layers from the top are to be merged; 0: none. A layer below is taken in when those above have together at
 * least half of its files, or when too many of it are gone; 1 means that the top alone is written anew.
 */
static size_t count_mergeable(const struct sl_file_list *list)
{
    size_t n = 0;
    int64_t above = 0;
    for (size_t i = 0; i < list->n_layers; i++) {
        const struct sl_file_layer *layer = &list->layers[i];
        const int64_t gone = layer->gone != NULL ? layer->gone->n : 0;
        const bool is_small = i > 0 && above * 2 >= layer->set->n_files;
        if (is_small || gone * GONE_SHARE > layer->set->n_files) {
            n = i + 1;
        }
        above += live_files(layer);
    }
    return n;
}

/* ---- growing ---- */

struct growing {
    struct sl_file_list *list;
    bool own_gone[SL_FILE_LIST_MAX_LAYERS]; /* marks of the layer are this list's alone */
    struct sl_key_maker maker;
};

static silt_status mark(struct growing *growing, size_t at, sl_file_pos pos, silt_error *err)
{
    struct sl_file_list *list = growing->list;
    struct sl_file_layer *layer = &list->layers[at];
    if (!growing->own_gone[at]) {
        struct sl_gone *own = gone_copy(list->env, layer->gone, layer->set->blocks.len);
        if (own == NULL) {
            return sl_fail_nomem(err);
        }
        gone_unref(list->env, layer->gone);
        layer->gone = own;
        growing->own_gone[at] = true;
    }
    if (!gone_mark(list->env, layer->gone, pos)) {
        return sl_fail_nomem(err);
    }
    list->n_files--;
    list->total_size -= sl_file_block_at(layer->set, pos)->size[sl_file_row_of(pos)];
    return SILT_OK;
}

/* What the commits decided about is gone from the older layers. */
static silt_status drop_key(void *ctx, const struct sl_file_key *key, silt_error *err)
{
    struct growing *growing = ctx;
    for (size_t i = 1; i < growing->list->n_layers; i++) {
        const struct sl_file_layer *layer = &growing->list->layers[i];
        const struct sl_file_index *index = NULL;
        SL_TRY(sl_file_index_get(layer->set, &index, err));
        struct sl_file_lookup lookup = sl_file_lookup_begin(layer->set, index, &growing->maker, key);
        sl_file_pos pos = SL_FILE_NOWHERE;
        do {
            if (!sl_file_lookup_next(&lookup, &pos)) {
                return sl_fail_nomem(err);
            }
            if (pos != SL_FILE_NOWHERE && !sl_gone_at(layer->gone, pos)) {
                SL_TRY(mark(growing, i, pos, err));
            }
        } while (pos != SL_FILE_NOWHERE);
    }
    return SILT_OK;
}

static silt_status drop_decided(struct sl_file_list *list, const struct sl_key_set *decided, silt_error *err)
{
    const struct sl_file_set *adds = list->layers[0].set;
    struct growing growing = {.list = list};
    struct sl_key_maker maker;
    sl_key_maker_init(&growing.maker, list->env, adds->root, adds->hash);
    sl_key_maker_init(&maker, list->env, adds->root, adds->hash);
    const struct sl_key_probe probe = {.keys = decided, .files = adds, .maker = &maker};
    const silt_status status = sl_key_set_each(&probe, drop_key, &growing, err);
    sl_key_maker_release(&growing.maker);
    sl_key_maker_release(&maker);
    return status;
}

/* Takes over the layers of the old list behind the first. */
static void share_layers(struct sl_file_list *list, const struct sl_file_list *old)
{
    for (size_t i = 0; i < old->n_layers; i++) {
        struct sl_file_layer *layer = &list->layers[list->n_layers++];
        *layer = old->layers[i];
        (void)sl_file_set_ref(layer->set);
        if (layer->gone != NULL) {
            (void)atomic_fetch_add_explicit(&layer->gone->refs, 1, memory_order_relaxed);
        }
    }
    list->n_files += old->n_files;
    list->n_again += old->n_again;
}

silt_status sl_file_list_grow(const struct sl_file_list *old, struct sl_file_set *adds,
                              const struct sl_key_set *decided, struct sl_file_list **out, silt_error *err)
{
    struct sl_file_list *list = NULL;
    *out = NULL;
    SL_TRY(sl_file_list_of(adds, &list, err));
    share_layers(list, old);
    int64_t total = 0;
    const bool fits = sl_add_i64(old->total_size, list->total_size, &total);
    list->total_size = total;
    silt_status status = fits ? drop_decided(list, decided, err)
                              : sl_fail(err, SILT_ECORRUPT, NULL,
                                        "the sizes of the table's files add up to more than 64 bits hold");
    const size_t n = status == SILT_OK ? count_mergeable(list) : 0;
    if (n > 0) {
        status = merge_top(list, n, err);
    }
    if (status == SILT_OK && list->layers[0].set->n_files == 0 && list->n_layers > 1) {
        release_layer(list->env, &list->layers[0]);
        list->n_layers--;
        memmove(&list->layers[0], &list->layers[1], list->n_layers * sizeof(list->layers[0]));
    }
    if (status != SILT_OK) {
        sl_file_list_unref(list);
        return status;
    }
    *out = list;
    return SILT_OK;
}

/* ---- walking ---- */

static void enter_layer(struct sl_list_cursor *cursor)
{
    sl_file_cursor_release(&cursor->file);
    if (cursor->layer < cursor->list->n_layers) {
        sl_file_cursor_init(&cursor->file, cursor->list->layers[cursor->layer].set, cursor->with_details);
    }
}

void sl_list_cursor_init(struct sl_list_cursor *cursor, const struct sl_file_list *list, bool with_details)
{
    *cursor = (struct sl_list_cursor){.list = list, .with_details = with_details};
    enter_layer(cursor);
}

silt_status sl_list_cursor_next(struct sl_list_cursor *cursor, struct sl_add *add, bool *done, silt_error *err)
{
    *done = false;
    while (cursor->layer < cursor->list->n_layers) {
        const struct sl_file_layer *layer = &cursor->list->layers[cursor->layer];
        sl_file_pos pos = SL_FILE_NOWHERE;
        while (sl_file_cursor_step(&cursor->file, &pos)) {
            if (!sl_gone_at(layer->gone, pos)) {
                return sl_file_cursor_at(&cursor->file, pos, add, err);
            }
        }
        cursor->layer++;
        enter_layer(cursor);
    }
    *add = (struct sl_add){.size = 0};
    *done = true;
    return SILT_OK;
}

void sl_list_cursor_release(struct sl_list_cursor *cursor)
{
    sl_file_cursor_release(&cursor->file);
}
