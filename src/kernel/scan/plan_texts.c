/*
 * Judging statistics in the engine's memory; see plan_texts.h. An engine calls on several threads at once: each call takes a lane, which has
 * a reader of its own that knows the shapes of texts. A lane is found by trying, so that nobody ever waits; who finds none, or no memory, lets
 * everything pass.
 */
#include "kernel/scan/plan_texts.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "kernel/scan/plan_quick.h"
#include "kernel/scan/stats_reader.h"

/* More threads than that would wait for memory anyway. */
#define N_LANES 32

/* What passes is read twice: after texts of which most passed, as many pass unread, and twice as many each time that this happens. */
#define MAX_UNREAD 32768

struct lane {
    atomic_flag busy;
    struct sl_stats_reader *reader; /* NULL until it is first needed */
    struct sl_bounds *bounds;       /* one a column of the filter */
    struct sl_arena scratch;
    size_t n_unread; /* texts that are still to pass unread */
    size_t unread;   /* how many it will be the next time */
};

struct sl_plan_texts {
    const silt_env *env;
    const struct sl_scan_filter *filter;
    struct sl_arena arena;
    struct sl_plan_quick quick; /* not changed once it is made */
    const enum sl_truth *unknown;
    silt_text_filter request;
    _Atomic int64_t n_seen;
    struct lane lanes[N_LANES];
};

static bool need_reader(struct sl_plan_texts *texts, struct lane *lane)
{
    const struct sl_scan_filter *filter = texts->filter;
    if (lane->bounds == NULL) {
        lane->bounds = sl_alloc_array(texts->env, filter->n_columns + 1, sizeof(*lane->bounds));
    }
    return lane->bounds != NULL &&
           (lane->reader != NULL ||
            sl_stats_reader_new(texts->env, filter->columns, filter->n_columns, &lane->reader, NULL) == SILT_OK);
}

/* A text of a shape that was not seen before is read in full, by which its shape gets known. */
static bool may_match(struct sl_plan_texts *texts, struct lane *lane, struct sl_str text)
{
    struct sl_claims claims;
    bool is_known = false;
    if (sl_plan_quick_drops_text(&texts->quick, texts->unknown, lane->reader, text, &is_known)) {
        return false;
    }
    if (is_known || text.ptr == NULL) {
        return true;
    }
    const silt_status status = sl_stats_reader_claims(lane->reader, text, &lane->scratch, &claims, lane->bounds, NULL);
    const bool dropped = status == SILT_OK && sl_plan_quick_drops(&texts->quick, texts->unknown, &claims, lane->bounds);
    sl_arena_reset(&lane->scratch);
    return !dropped;
}

static struct lane *take_lane(struct sl_plan_texts *texts)
{
    for (size_t i = 0; i < N_LANES; i++) {
        if (!atomic_flag_test_and_set_explicit(&texts->lanes[i].busy, memory_order_acquire)) {
            return &texts->lanes[i];
        }
    }
    return NULL;
}

static void plan_ahead(struct lane *lane, bool were_read, size_t n, size_t n_passed)
{
    if (!were_read) {
        lane->n_unread -= n < lane->n_unread ? n : lane->n_unread;
    } else if (n_passed > n / 2) {
        lane->unread = lane->unread == 0 ? n : lane->unread < MAX_UNREAD / 2 ? 2 * lane->unread : MAX_UNREAD;
        lane->n_unread = lane->unread;
    } else {
        lane->unread = 0;
    }
}

static void judge(void *ctx, const silt_text *given, size_t n, bool *wanted)
{
    struct sl_plan_texts *texts = ctx;
    struct lane *lane = take_lane(texts);
    const bool able = lane != NULL && lane->n_unread == 0 && need_reader(texts, lane);
    size_t n_passed = 0;
    for (size_t i = 0; i < n; i++) {
        wanted[i] = !able || may_match(texts, lane, sl_str_make(given[i].ptr, given[i].len));
        n_passed += wanted[i] ? 1 : 0;
    }
    if (lane != NULL) {
        plan_ahead(lane, able, n, n_passed);
        atomic_flag_clear_explicit(&lane->busy, memory_order_release);
    }
    (void)atomic_fetch_add(&texts->n_seen, (int64_t)n);
}

static silt_status init(struct sl_plan_texts *texts, silt_error *err)
{
    static const char *const path[] = {"add", "stats"};
    const struct sl_scan_filter *filter = texts->filter;
    enum sl_truth *unknown = sl_arena_alloc_array(&texts->arena, filter->n_conjuncts + 1, sizeof(*unknown));
    if (unknown == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        unknown[i] = SL_UNKNOWN;
    }
    texts->unknown = unknown;
    texts->request = (silt_text_filter){
        .size = sizeof(texts->request), .leaf = {.path = path, .path_len = 2}, .judge = judge, .ctx = texts};
    return sl_plan_quick_init(&texts->quick, &texts->arena, filter, err);
}

silt_status sl_plan_texts_new(const silt_env *env, const struct sl_scan_filter *filter, struct sl_plan_texts **out,
                              silt_error *err)
{
    *out = NULL;
    struct sl_plan_texts *texts = sl_alloc_zero(env, sizeof(*texts));
    if (texts == NULL) {
        return sl_fail_nomem(err);
    }
    texts->env = env;
    texts->filter = filter;
    sl_arena_init(&texts->arena, env);
    for (size_t i = 0; i < N_LANES; i++) {
        atomic_flag_clear(&texts->lanes[i].busy);
        sl_arena_init(&texts->lanes[i].scratch, env);
    }
    const silt_status status = init(texts, err);
    if (status != SILT_OK || texts->quick.n == 0) {
        sl_plan_texts_free(texts);
        return status;
    }
    *out = texts;
    return SILT_OK;
}

void sl_plan_texts_free(struct sl_plan_texts *texts)
{
    if (texts == NULL) {
        return;
    }
    for (size_t i = 0; i < N_LANES; i++) {
        struct lane *lane = &texts->lanes[i];
        sl_stats_reader_free(lane->reader);
        sl_release(texts->env, lane->bounds, (texts->filter->n_columns + 1) * sizeof(*lane->bounds));
        sl_arena_release(&lane->scratch);
    }
    sl_arena_release(&texts->arena);
    sl_release(texts->env, texts, sizeof(*texts));
}

const silt_text_filter *sl_plan_texts_filter(const struct sl_plan_texts *texts)
{
    return texts != NULL ? &texts->request : NULL;
}

int64_t sl_plan_texts_seen(const struct sl_plan_texts *texts)
{
    return texts != NULL ? atomic_load(&texts->n_seen) : 0;
}
