/*
 * silt cache ls and silt cache clear: the parts of remote files that are kept on this machine.
 */
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "silt/cache.h"

struct listing {
    struct sl_row_stream rows;
    struct sl_arena arena;
    struct sl_vec items; /* of silt_cache_item, texts in the arena */
    silt_status status;  /* of keeping an item */
};

static bool take_item(void *ctx, const silt_cache_item *item)
{
    struct listing *listing = ctx;
    silt_cache_item *copy = sl_vec_push(&listing->items);
    const char *uri = sl_arena_strdup(&listing->arena, sl_str_from(item->uri));
    if (copy == NULL || uri == NULL) {
        listing->status = SILT_ENOMEM;
        return false;
    }
    *copy = *item;
    copy->uri = uri;
    return true;
}

static int by_uri(const void *a, const void *b)
{
    return strcmp(((const silt_cache_item *)a)->uri, ((const silt_cache_item *)b)->uri);
}

static silt_status put_row(struct listing *listing, const silt_cache_item *item, silt_error *err)
{
    struct sl_buf used;
    sl_buf_init(&used, listing->rows.env);
    sl_timestamp_format(&used, item->used_ms * 1000, 'T', 3);
    sl_buf_put_char(&used, 'Z');
    silt_status status = sl_buf_status(&used, err);
    if (status == SILT_OK) {
        status = sl_row_stream_text(&listing->rows, sl_str_from(item->uri), err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_int(&listing->rows, item->size_bytes, err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_int(&listing->rows, item->cached_bytes, err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_text(&listing->rows, sl_buf_view(&used), err);
    }
    sl_buf_release(&used);
    return status;
}

static silt_status print_items(struct sl_cli *cli, struct listing *listing, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {
        {"uri", "u"}, {"sizeBytes", "l"}, {"cachedBytes", "l"}, {"lastUsed", "u"}};
    struct ArrowArrayStream stream = {0};
    SL_TRY(sl_row_stream_open(&listing->rows, cli->env, columns, sizeof(columns) / sizeof(columns[0]), err));
    SL_TRY(silt_cache_list(cli->env, NULL, take_item, listing, err));
    if (listing->status != SILT_OK) {
        return sl_fail_nomem(err);
    }
    if (listing->items.len > 0) {
        qsort(listing->items.data, listing->items.len, listing->items.elem_size, by_uri);
    }
    for (size_t i = 0; i < listing->items.len; i++) {
        SL_TRY(put_row(listing, sl_vec_at(&listing->items, i), err));
    }
    SL_TRY(sl_row_stream_take(&listing->rows, &stream, err));
    return sl_print_stream(cli, sl_cli_format(cli), &stream, NULL, err);
}

static silt_status list(struct sl_cli *cli, silt_error *err)
{
    struct listing listing = {.status = SILT_OK};
    sl_arena_init(&listing.arena, cli->env);
    sl_vec_init(&listing.items, cli->env, sizeof(silt_cache_item));
    const silt_status status = print_items(cli, &listing, err);
    sl_row_stream_close(&listing.rows);
    sl_vec_release(&listing.items);
    sl_arena_release(&listing.arena);
    return status;
}

static silt_status clear(struct sl_cli *cli, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {{"removed", "l"}, {"inUse", "l"}};
    int64_t removed = 0;
    int64_t busy = 0;
    struct sl_row_stream rows = {0};
    struct ArrowArrayStream stream = {0};
    SL_TRY(silt_cache_clear(cli->env, NULL, &removed, &busy, err));
    silt_status status = sl_row_stream_open(&rows, cli->env, columns, 2, err);
    if (status == SILT_OK) {
        status = sl_row_stream_int(&rows, removed, err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_int(&rows, busy, err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_take(&rows, &stream, err);
    }
    sl_row_stream_close(&rows);
    return status == SILT_OK ? sl_print_stream(cli, sl_cli_format(cli), &stream, NULL, err) : status;
}

int sl_cmd_cache(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    const struct sl_str what = sl_str_from(cli->args.words[0]);
    silt_status status = SILT_OK;
    if (sl_str_eq_c(what, "ls")) {
        status = list(cli, &err);
    } else if (sl_str_eq_c(what, "clear")) {
        status = clear(cli, &err);
    } else {
        status = sl_fail(&err, SILT_EINVALID, "SILT_USAGE", "silt cache takes ls or clear, not %.*s", SL_FMT(what));
    }
    return status == SILT_OK ? SL_EXIT_DONE : sl_report_error(cli, &err, (struct sl_str){0});
}
