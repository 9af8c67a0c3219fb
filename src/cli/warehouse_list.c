/*
 * The tables of a warehouse that is no folder of this machine; see warehouse.h.
 *
 * Stores list files, not folders: the walk looks for names that begin with TABLE/_delta_log/ or SCHEMA/TABLE/_delta_log/, and jumps over the
 * rest of what it knows about, or has seen enough of, by a listing that begins behind it. Everything is bounded: who has more tables than
 * that is told so.
 */
#include "cli/warehouse.h"

#include <string.h>

#include "base/error.h"
#include "base/uri.h"
#include "silt/storage.h"

#define MAX_NAMES 200000  /* of files, that are looked at */
#define MAX_LISTINGS 1000 /* each is a request at least */
#define PATIENCE 1000     /* names that tell nothing new, before they are jumped over: as many come with one request */
#define LOG "_delta_log"

struct walk {
    void (*on_table)(void *ctx, const char *name);
    void *ctx;
    struct sl_buf known; /* folder, with its slash, of which nothing more is wanted; empty: none */
    struct sl_buf last;  /* name of a file that was seen */
    struct sl_buf start; /* of the listing at hand */
    struct sl_buf text;
    size_t n_names;
    size_t n_idle; /* names in a row that told nothing */
    bool cut;
};

/* The first folder of a name; false if it is a file. *rest is what comes behind the slash. */
static bool cut_folder(struct sl_str name, struct sl_str *folder, struct sl_str *rest)
{
    const size_t slash = sl_str_find(name, SL_STR("/"));
    if (slash == SIZE_MAX) {
        return false;
    }
    *folder = sl_str_sub(name, 0, slash);
    *rest = sl_str_sub(name, slash + 1, name.len);
    return true;
}

/* Hidden, or a partition: no table's name. */
static bool is_odd(struct sl_str folder)
{
    return folder.len == 0 || folder.ptr[0] == '.' || sl_str_find(folder, SL_STR("=")) != SIZE_MAX;
}

/* Nothing more of the first n bytes of the name, which end with a slash, is wanted. */
static void know(struct walk *walk, struct sl_str name, size_t n)
{
    sl_buf_clear(&walk->known);
    sl_buf_put_str(&walk->known, sl_str_sub(name, 0, n));
    walk->n_idle = 0;
}

static void tell(struct walk *walk, struct sl_str schema, struct sl_str table)
{
    sl_buf_clear(&walk->text);
    if (schema.len > 0) {
        sl_buf_put_str(&walk->text, schema);
        sl_buf_put_char(&walk->text, '.');
    }
    sl_buf_put_str(&walk->text, table);
    if (sl_buf_status(&walk->text, NULL) == SILT_OK) {
        walk->on_table(walk->ctx, sl_buf_cstr(&walk->text));
    }
}

/* False: it tells nothing. */
static bool learn(struct walk *walk, struct sl_str name)
{
    struct sl_str first;
    struct sl_str second;
    struct sl_str third;
    struct sl_str rest;
    if (!cut_folder(name, &first, &rest)) {
        return false;
    }
    if (is_odd(first)) {
        know(walk, name, first.len + 1);
        return true;
    }
    if (!cut_folder(rest, &second, &rest)) {
        return false;
    }
    if (sl_str_eq_c(second, LOG)) {
        tell(walk, SL_STR(""), first);
        know(walk, name, first.len + 1);
        return true;
    }
    if (is_odd(second) || !cut_folder(rest, &third, &rest) || !sl_str_eq_c(third, LOG)) {
        return false;
    }
    tell(walk, first, second);
    know(walk, name, first.len + 1 + second.len + 1);
    return true;
}

static bool on_name(void *ctx, const silt_file_entry *entry)
{
    struct walk *walk = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    sl_buf_clear(&walk->last);
    sl_buf_put_str(&walk->last, name);
    if (++walk->n_names > MAX_NAMES || sl_buf_status(&walk->last, NULL) != SILT_OK) {
        walk->cut = true;
        return false;
    }
    const bool known = walk->known.len > 0 && sl_str_starts_with(name, sl_buf_view(&walk->known));
    if (!known && learn(walk, name)) {
        return true;
    }
    return ++walk->n_idle < PATIENCE;
}

/* The first name that may be behind all those of a folder, which comes with its slash: '0' follows '/'. */
static void put_behind(struct sl_buf *out, struct sl_str folder)
{
    sl_buf_put_str(out, sl_str_sub(folder, 0, folder.len - 1));
    sl_buf_put_char(out, '/' + 1);
}

/* Where the walk goes on after enough of the same: a name behind the last one. */
static void jump(struct walk *walk)
{
    const struct sl_str last = sl_buf_view(&walk->last);
    struct sl_buf *start = &walk->start;
    struct sl_str first;
    struct sl_str second;
    struct sl_str rest;
    sl_buf_clear(start);
    walk->n_idle = 0;
    if (walk->known.len > 0 && sl_str_starts_with(last, sl_buf_view(&walk->known))) {
        put_behind(start, sl_buf_view(&walk->known));
        return;
    }
    if (!cut_folder(last, &first, &rest) || !cut_folder(rest, &second, &rest)) {
        sl_buf_put_str(start,
                       last); /* a file: folders may stand between those that come, so that one by one is the way */
        sl_buf_put_char(start, '\x01');
        return;
    }
    /* The log of either folder may still come; a table that has partitions is no schema. */
    const struct sl_str folder = sl_str_sub(last, 0, first.len + 1 + (is_odd(second) ? 0 : second.len + 1));
    sl_buf_put_str(start, folder);
    sl_buf_put_c(start, LOG "/");
    if (sl_str_compare(sl_buf_view(start), last) <= 0) {
        sl_buf_clear(start);
        put_behind(start, sl_str_sub(last, 0, first.len + 1 + second.len + 1));
    }
}

static silt_status walk_all(struct walk *walk, silt_storage *storage, const silt_call *call, const char *folder,
                            silt_error *err)
{
    silt_list_options options = {.size = sizeof(options), .recursive = true};
    for (int n = 0; n < MAX_LISTINGS; n++) {
        walk->n_idle = 0;
        const size_t before = walk->n_names;
        SL_TRY(silt_storage_list(storage, call, folder, &options, on_name, walk, err));
        if (walk->cut || walk->n_idle < PATIENCE || walk->n_names == before) {
            return SILT_OK;
        }
        jump(walk);
        SL_TRY(sl_buf_status(&walk->start, err));
        options.start_from = sl_buf_cstr(&walk->start);
    }
    walk->cut = true;
    return SILT_OK;
}

silt_status sl_warehouse_list(struct sl_cli *cli, void (*on_table)(void *ctx, const char *name), void *ctx, bool *cut,
                              silt_error *err)
{
    silt_session *session = NULL;
    silt_storage *storage = NULL;
    struct sl_str folder;
    *cut = false;
    SL_TRY(sl_uri_normalize(&cli->arena, sl_str_from(sl_cli_warehouse(cli)), &folder, err));
    if (folder.ptr[0] == '/') {
        sl_warehouse_each(cli, on_table, ctx);
        return SILT_OK;
    }
    SL_TRY(sl_cli_session(cli, &session, err));
    SL_TRY(silt_engine_storage(silt_session_engine(session), folder.ptr, &storage, err));
    struct walk walk = {.on_table = on_table, .ctx = ctx};
    struct sl_buf *bufs[] = {&walk.known, &walk.last, &walk.start, &walk.text};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++) {
        sl_buf_init(bufs[i], cli->env);
    }
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = walk_all(&walk, storage, &cli->call, folder.ptr, &found);
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++) {
        sl_buf_release(bufs[i]);
    }
    *cut = walk.cut;
    if (status == SILT_ENOTFOUND && strcmp(found.code_name, SL_BUCKET_NOT_FOUND) != 0) {
        return SILT_OK; /* no such folder, which has no tables */
    }
    return status == SILT_OK ? SILT_OK : sl_error_take(err, &found);
}
