/*
 * The tables of a warehouse in a store whose folders are only how names begin; see warehouse_walk.h.
 *
 * Such stores list files: the walk looks for names that begin with TABLE/_delta_log/ or SCHEMA/TABLE/_delta_log/, and jumps over the
 * rest of what it knows about, or has seen enough of, by a listing that begins behind it. Everything is bounded: who has more tables than
 * that is told so.
 *
 * A folder such as A=1 with many files in it is a partition of a table, or stands in a schema beside tables: whether the folder above has a log, is
 * asked by a listing that begins with it, and without one the walk goes on where it was.
 */
#include "cli/warehouse_walk.h"

#include "base/buf.h"
#include "base/error.h"

#define MAX_NAMES 200000  /* of files, that are looked at */
#define MAX_LISTINGS 1000 /* each is a request at least */
#define PATIENCE 1000     /* names that tell nothing new, before they are jumped over: as many come with one request */
#define LOG SL_WAREHOUSE_LOG

struct walk {
    struct sl_warehouse_walk *wanted;
    struct sl_buf known;  /* folder, with its slash, of which nothing more is wanted; empty: none */
    struct sl_buf last;   /* name of a file that was seen */
    struct sl_buf start;  /* of the listing at hand */
    struct sl_buf back;   /* where to go on if no name begins with `start`; empty: that is not asked */
    struct sl_buf schema; /* folder, with its slash, that was asked about, and is no table unless it is known */
    struct sl_buf text;
    size_t n_names;
    size_t n_idle; /* names in a row that told nothing */
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
        walk->wanted->on_table(walk->wanted->ctx, sl_buf_cstr(&walk->text));
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
    if (sl_warehouse_is_odd(first)) {
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
    if (sl_warehouse_is_odd(second) || !cut_folder(rest, &third, &rest) || !sl_str_eq_c(third, LOG)) {
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
        walk->wanted->cut = true;
        return false;
    }
    if (walk->back.len > 0) {
        if (!sl_str_starts_with(name, sl_buf_view(&walk->start))) {
            return false; /* no log: back again */
        }
        sl_buf_clear(&walk->back);
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

/*
 * The walk is in a folder such as A=1. If the one above it is a table, nothing more is to be seen but its log; if it is a schema, tables may follow
 * before that. It is asked once.
 */
static void jump_partition(struct walk *walk, struct sl_str first, struct sl_str second)
{
    const struct sl_str last = sl_buf_view(&walk->last);
    const struct sl_str above = sl_str_sub(last, 0, first.len + 1);
    const struct sl_str folder = sl_str_sub(last, 0, first.len + 1 + second.len + 1);
    sl_buf_put_str(&walk->start, above);
    sl_buf_put_c(&walk->start, LOG "/");
    const bool asked = sl_str_eq(sl_buf_view(&walk->schema), above);
    if (asked || sl_str_compare(sl_buf_view(&walk->start), last) <= 0) {
        sl_buf_clear(&walk->start);
        put_behind(&walk->start, folder);
        return;
    }
    put_behind(&walk->back, folder);
    sl_buf_clear(&walk->schema);
    sl_buf_put_str(&walk->schema, above);
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
    if (sl_warehouse_is_odd(second)) {
        jump_partition(walk, first, second);
        return;
    }
    /* The log of the folder may still come. */
    const struct sl_str folder = sl_str_sub(last, 0, first.len + 1 + second.len + 1);
    sl_buf_put_str(start, folder);
    sl_buf_put_c(start, LOG "/");
    if (sl_str_compare(sl_buf_view(start), last) <= 0) {
        sl_buf_clear(start);
        put_behind(start, folder);
    }
}

/* Decides where the next listing begins. False: there is nothing more. */
static bool go_on(struct walk *walk, bool any)
{
    if (walk->back.len > 0) {
        sl_buf_clear(&walk->start);
        sl_buf_put_str(&walk->start, sl_buf_view(&walk->back));
        sl_buf_clear(&walk->back);
        return true;
    }
    if (walk->n_idle < PATIENCE || !any) {
        return false;
    }
    jump(walk);
    return true;
}

static silt_status walk_all(struct walk *walk, silt_error *err)
{
    const struct sl_warehouse_walk *wanted = walk->wanted;
    silt_list_options options = {.size = sizeof(options), .recursive = true};
    for (int n = 0; n < MAX_LISTINGS; n++) {
        const size_t before = walk->n_names;
        walk->n_idle = 0;
        SL_TRY(silt_storage_list(wanted->storage, wanted->call, wanted->folder, &options, on_name, walk, err));
        if (wanted->cut || !go_on(walk, walk->n_names > before)) {
            return SILT_OK;
        }
        SL_TRY(sl_buf_status(&walk->start, err));
        SL_TRY(sl_buf_status(&walk->back, err));
        SL_TRY(sl_buf_status(&walk->schema, err));
        options.start_from = sl_buf_cstr(&walk->start);
    }
    walk->wanted->cut = true;
    return SILT_OK;
}

silt_status sl_warehouse_walk_names(struct sl_warehouse_walk *wanted, silt_error *err)
{
    struct walk walk = {.wanted = wanted};
    struct sl_buf *bufs[] = {&walk.known, &walk.last, &walk.start, &walk.back, &walk.schema, &walk.text};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++) {
        sl_buf_init(bufs[i], wanted->env);
    }
    const silt_status status = walk_all(&walk, err);
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++) {
        sl_buf_release(bufs[i]);
    }
    return status;
}
