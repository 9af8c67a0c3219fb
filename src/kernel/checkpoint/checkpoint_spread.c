/*
 * Spreading rows to the parts of a checkpoint; see checkpoint_spread.h.
 *
 * A pass begins with all parts that are left. When what is held grows beyond the limit the last parts are let go, and the next pass takes as
 * many as did fit. Paths are spread evenly by their hashes, so that the first pass tells how many that are. A part that does not fit alone is
 * not held: its rows pass from the older checkpoint to the file. Rows are copied by stretches of many batches, so that what a part
 * gets of a stretch is more than a few rows even where there are many parts.
 */
#include "kernel/checkpoint/checkpoint_spread.h"

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/checkpoint/checkpoint_plan.h"
#include "kernel/checkpoint/checkpoint_window.h"

#define STRETCH_ROWS 65536U
#define STRETCH_BYTES ((int64_t)16 * 1024 * 1024)

/* ---- files of the commits ---- */

static int32_t part_of(const struct sl_spread *spread, struct sl_str path, const struct sl_dv_descriptor *vector)
{
    const struct sl_spread_options *options = &spread->options;
    return sl_checkpoint_part_of(path, vector, options->content->with_vectors, options->n_parts);
}

/* The part of each file, in the order of the cursor; counts them in begins[part + 1]. */
static silt_status find_parts(struct sl_spread *spread, int32_t *parts, silt_error *err)
{
    struct sl_file_cursor cursor;
    silt_status status = SILT_OK;
    sl_file_pos pos = 0;
    size_t n = 0;
    sl_file_cursor_init(&cursor, spread->options.content->files, false);
    while (status == SILT_OK && sl_file_cursor_step(&cursor, &pos)) {
        struct sl_add add = {0};
        status = sl_file_cursor_at(&cursor, pos, &add, err);
        if (status == SILT_OK) {
            parts[n] = part_of(spread, add.path, add.deletion_vector);
            spread->begins[parts[n++] + 1]++;
        }
    }
    sl_file_cursor_release(&cursor);
    return status;
}

static void place_files(struct sl_spread *spread, const int32_t *parts)
{
    struct sl_file_cursor cursor;
    sl_file_pos pos = 0;
    size_t n = 0;
    for (int32_t part = 0; part < spread->options.n_parts; part++) {
        spread->begins[part + 1] += spread->begins[part];
    }
    sl_file_cursor_init(&cursor, spread->options.content->files, false);
    while (sl_file_cursor_step(&cursor, &pos)) {
        spread->files[spread->begins[parts[n++]]++] = pos;
    }
    sl_file_cursor_release(&cursor);
    for (int32_t part = spread->options.n_parts; part > 0; part--) {
        spread->begins[part] = spread->begins[part - 1];
    }
    spread->begins[0] = 0;
}

static silt_status spread_files(struct sl_spread *spread, silt_error *err)
{
    const size_t n = spread->n_files;
    int32_t *parts = sl_alloc_array(spread->env, n + 1, sizeof(*parts));
    if (parts == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_status status = find_parts(spread, parts, err);
    if (status == SILT_OK) {
        place_files(spread, parts);
    }
    sl_release(spread->env, parts, (n + 1) * sizeof(*parts));
    return status;
}

silt_status sl_spread_begin(struct sl_spread *spread, const struct sl_spread_options *options, silt_error *err)
{
    const silt_env *env = options->content->env;
    const size_t n_parts = (size_t)options->n_parts;
    *spread = (struct sl_spread){.options = *options,
                                 .env = env,
                                 .n_files = (size_t)options->content->files->n_files,
                                 .n_fit = options->n_parts};
    spread->files = sl_alloc_array(env, spread->n_files + 1, sizeof(*spread->files));
    spread->begins = sl_alloc_zero(env, (n_parts + 1) * sizeof(*spread->begins));
    spread->held = sl_alloc_zero(env, n_parts * sizeof(*spread->held));
    if (spread->files == NULL || spread->begins == NULL || spread->held == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n_parts; i++) {
        sl_held_rows_init(&spread->held[i], env);
    }
    return spread_files(spread, err);
}

static void let_go(struct sl_spread *spread, int32_t part)
{
    spread->bytes -= spread->held[part].bytes;
    sl_held_rows_release(&spread->held[part]);
}

void sl_spread_release(struct sl_spread *spread)
{
    const size_t n_parts = (size_t)spread->options.n_parts;
    if (spread->env == NULL) {
        return;
    }
    for (int32_t part = spread->first; spread->held != NULL && part < spread->end; part++) {
        let_go(spread, part);
    }
    sl_release(spread->env, spread->held, n_parts * sizeof(*spread->held));
    sl_release(spread->env, spread->begins, (n_parts + 1) * sizeof(*spread->begins));
    sl_release(spread->env, spread->files, (spread->n_files + 1) * sizeof(*spread->files));
    *spread = (struct sl_spread){0};
}

/* ---- a stretch of the older checkpoint ---- */

struct stretch {
    struct sl_spread *spread;
    struct sl_base base;
    struct sl_vec batches; /* struct ArrowArray */
    struct sl_vec picks;   /* struct sl_arrow_pick, rows of parts that are held, as they came */
    struct sl_vec parts;   /* int32_t, of each pick */
    size_t n_rows;         /* of the batches */
    int64_t bytes;         /* of them, about */
};

static void stretch_init(struct stretch *stretch, struct sl_spread *spread)
{
    *stretch = (struct stretch){.spread = spread};
    sl_vec_init(&stretch->batches, spread->env, sizeof(struct ArrowArray));
    sl_vec_init(&stretch->picks, spread->env, sizeof(struct sl_arrow_pick));
    sl_vec_init(&stretch->parts, spread->env, sizeof(int32_t));
}

static void stretch_empty(struct stretch *stretch)
{
    for (size_t i = 0; i < stretch->batches.len; i++) {
        sl_arrow_array_release(sl_vec_at(&stretch->batches, i));
    }
    stretch->batches.len = 0;
    stretch->picks.len = 0;
    stretch->parts.len = 0;
    stretch->n_rows = 0;
    stretch->bytes = 0;
}

static void stretch_release(struct stretch *stretch)
{
    stretch_empty(stretch);
    sl_vec_release(&stretch->batches);
    sl_vec_release(&stretch->picks);
    sl_vec_release(&stretch->parts);
    sl_base_release(&stretch->base);
}

static silt_status pick_rows(struct stretch *stretch, silt_error *err)
{
    const struct sl_spread *spread = stretch->spread;
    for (int64_t row = 0; row < stretch->base.rows.n; row++) {
        struct sl_file_row file;
        bool alive = false;
        SL_TRY(sl_base_row(&stretch->base, row, &file, &alive, err));
        const int32_t part = alive ? part_of(spread, file.path, file.deletion_vector) : -1;
        if (part < spread->first || part >= spread->end) {
            continue;
        }
        struct sl_arrow_pick *pick = sl_vec_push(&stretch->picks);
        int32_t *its_part = sl_vec_push(&stretch->parts);
        if (pick == NULL || its_part == NULL) {
            return sl_fail_nomem(err);
        }
        *pick = (struct sl_arrow_pick){.source = (uint32_t)stretch->batches.len, .row = (uint32_t)row};
        *its_part = part;
    }
    return SILT_OK;
}

/* Takes the batch in every case. */
static silt_status stretch_add(struct stretch *stretch, struct ArrowArray *batch, silt_error *err)
{
    silt_status status = pick_rows(stretch, err);
    struct ArrowArray *slot = status == SILT_OK ? sl_vec_push(&stretch->batches) : NULL;
    if (slot == NULL) {
        sl_arrow_array_release(batch);
        return status == SILT_OK ? sl_fail_nomem(err) : status;
    }
    sl_arrow_array_move(slot, batch);
    stretch->n_rows += (size_t)slot->length;
    stretch->bytes += sl_window_text_bytes(slot);
    return SILT_OK;
}

/* Copies of the rows for one part. */
static silt_status hold(struct stretch *stretch, struct ArrowArray *const *sources, int32_t part,
                        const struct sl_arrow_pick *picks, size_t n, silt_error *err)
{
    struct sl_spread *spread = stretch->spread;
    struct sl_held_rows *held = &spread->held[part];
    struct ArrowArray *slot = sl_vec_push(&held->batches);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_status status = sl_arrow_take(spread->env, &stretch->base.schema, sources, picks, n, slot, err);
    if (status != SILT_OK) {
        held->batches.len--;
        return status;
    }
    const size_t bytes = sl_arrow_taken_bytes(slot);
    held->bytes += bytes;
    spread->bytes += bytes;
    return SILT_OK;
}

/* The picks by part, each part's as they came; begins[part - first] is where they begin, and one more where all end. */
static void sort_picks(const struct stretch *stretch, struct sl_arrow_pick *sorted, size_t *begins)
{
    const int32_t first = stretch->spread->first;
    const size_t n_parts = (size_t)(stretch->spread->end - first);
    const struct sl_arrow_pick *picks = stretch->picks.data;
    const int32_t *parts = stretch->parts.data;
    for (size_t i = 0; i < stretch->picks.len; i++) {
        begins[parts[i] - first + 1]++;
    }
    for (size_t i = 0; i < n_parts; i++) {
        begins[i + 1] += begins[i];
    }
    for (size_t i = 0; i < stretch->picks.len; i++) {
        sorted[begins[parts[i] - first]++] = picks[i];
    }
    for (size_t i = n_parts; i > 0; i--) {
        begins[i] = begins[i - 1];
    }
    begins[0] = 0;
}

static silt_status hold_parts(struct stretch *stretch, const struct sl_arrow_pick *sorted, const size_t *begins,
                              silt_error *err)
{
    struct sl_spread *spread = stretch->spread;
    const size_t n = stretch->batches.len;
    const int32_t end = spread->end; /* falls */
    struct ArrowArray **sources = sl_alloc_array(spread->env, n + 1, sizeof(struct ArrowArray *));
    silt_status status = sources != NULL ? SILT_OK : sl_fail_nomem(err);
    for (size_t i = 0; sources != NULL && i < n; i++) {
        sources[i] = sl_vec_at(&stretch->batches, i);
    }
    for (int32_t part = spread->first; status == SILT_OK && part < end && part < spread->end; part++) {
        const size_t *begin = &begins[part - spread->first];
        if (begin[1] > begin[0]) {
            status = hold(stretch, sources, part, sorted + begin[0], begin[1] - begin[0], err);
        }
        while (spread->bytes > spread->options.max_bytes && spread->end > spread->first) {
            let_go(spread, --spread->end);
        }
    }
    sl_release(spread->env, sources, (n + 1) * sizeof(struct ArrowArray *));
    return status;
}

/* Hands the rows of the stretch to their parts. */
static silt_status stretch_spread(struct stretch *stretch, silt_error *err)
{
    const silt_env *env = stretch->spread->env;
    const size_t n = stretch->picks.len;
    const size_t n_begins = (size_t)(stretch->spread->end - stretch->spread->first) + 1;
    struct sl_arrow_pick *sorted = sl_alloc_array(env, n + 1, sizeof(*sorted));
    size_t *begins = sl_alloc_zero(env, n_begins * sizeof(*begins));
    silt_status status = sorted != NULL && begins != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        sort_picks(stretch, sorted, begins);
        status = hold_parts(stretch, sorted, begins, err);
    }
    sl_release(env, begins, n_begins * sizeof(*begins));
    sl_release(env, sorted, (n + 1) * sizeof(*sorted));
    stretch_empty(stretch);
    return status;
}

/* ---- a pass ---- */

static silt_status read_rows(struct stretch *stretch, silt_error *err)
{
    struct sl_spread *spread = stretch->spread;
    bool done = false;
    while (!done && spread->end > spread->first) {
        struct ArrowArray batch = {0};
        SL_TRY(sl_base_next(&stretch->base, &batch, &done, err));
        if (!done) {
            SL_TRY(stretch_add(stretch, &batch, err));
        }
        if (done || stretch->n_rows >= STRETCH_ROWS || stretch->bytes >= STRETCH_BYTES) {
            SL_TRY(stretch_spread(stretch, err));
        }
    }
    return SILT_OK;
}

/* Holds the rows of as many parts as fit, from `part` on; none: it does not fit alone. */
static silt_status pass(struct sl_spread *spread, int32_t part, silt_error *err)
{
    const struct sl_spread_options *options = &spread->options;
    const struct sl_base_request request = {.content = options->content,
                                            .layout = options->layout,
                                            .call = options->call,
                                            .knows_parsed = spread->knows_parsed,
                                            .parsed = spread->parsed};
    const int32_t n_left = options->n_parts - part;
    struct stretch stretch;
    spread->first = part;
    spread->end = part + (n_left < spread->n_fit ? n_left : spread->n_fit);
    stretch_init(&stretch, spread);
    silt_status status = sl_base_open(&stretch.base, &request, err);
    if (status == SILT_OK) {
        spread->knows_parsed = true;
        spread->parsed = stretch.base.parsed;
        status = read_rows(&stretch, err);
    }
    spread->is_bad = spread->is_bad || stretch.base.is_bad;
    stretch_release(&stretch);
    if (spread->end < part + n_left) {
        spread->n_fit = spread->end - part;
    }
    return status;
}

silt_status sl_spread_part(struct sl_spread *spread, int32_t part, struct sl_part_share *out, silt_error *err)
{
    const struct sl_checkpoint_content *content = spread->options.content;
    const size_t begin = spread->begins[part];
    if (part > spread->first && part <= spread->end) {
        let_go(spread, spread->first++);
    }
    const bool is_worth_it = spread->n_fit > 1 &&
                             spread->options.n_parts - part > 1; /* one part is read as it is written */
    if (content->view->checkpoint.n_parquet > 0 && part >= spread->end && is_worth_it) {
        SL_TRY(pass(spread, part, err));
    }
    *out = (struct sl_part_share){.part = part,
                                  .n_parts = spread->options.n_parts,
                                  .with_vectors = content->with_vectors,
                                  .files = spread->files + begin,
                                  .n_files = spread->begins[part + 1] - begin,
                                  .held = part < spread->end ? &spread->held[part] : NULL,
                                  .knows_parsed = spread->knows_parsed,
                                  .parsed = spread->parsed};
    return SILT_OK;
}
