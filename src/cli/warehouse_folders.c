/*
 * The tables of a warehouse in a store that has folders; see warehouse_walk.h.
 *
 * One listing for the warehouse, one for each folder in it, one for each folder of those that are no tables. A table's folders are not entered. One that
 * may not be read hides no other. Any thread; one owner.
 */
#include "cli/warehouse_walk.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#define MAX_FOLDERS 10000 /* that are listed */
#define MAX_NAMES 200000  /* of folders, that are kept */

/* What is directly in one folder. */
struct level {
    struct sl_arena arena;
    struct sl_vec names; /* of struct sl_str */
    size_t *n_names;     /* of all levels so far */
    bool only_log;       /* the names are not wanted */
    bool is_table;
    bool cut;
    bool failed; /* out of memory */
};

struct search {
    struct sl_warehouse_walk *walk;
    size_t n_folders;
    size_t n_names;
};

bool sl_warehouse_is_odd(struct sl_str folder)
{
    return folder.len == 0 || folder.ptr[0] == '.' || sl_str_find(folder, SL_STR("=")) != SIZE_MAX;
}

static bool take_folder(void *ctx, const char *name, size_t name_len)
{
    struct level *level = ctx;
    const struct sl_str folder = sl_str_make(name, name_len);
    level->is_table = sl_str_eq_c(folder, SL_WAREHOUSE_LOG);
    if (level->is_table || level->only_log || sl_warehouse_is_odd(folder)) {
        return !level->is_table;
    }
    level->cut = ++*level->n_names > MAX_NAMES;
    if (level->cut) {
        return false;
    }
    const struct sl_str copy = sl_arena_copy(&level->arena, folder);
    struct sl_str *slot = copy.ptr != NULL ? sl_vec_push(&level->names) : NULL;
    level->failed = slot == NULL;
    if (slot != NULL) {
        *slot = copy;
    }
    return !level->failed;
}

static void begin_level(struct search *search, struct level *level, bool only_log)
{
    *level = (struct level){.n_names = &search->n_names, .only_log = only_log};
    sl_arena_init(&level->arena, search->walk->env);
    sl_vec_init(&level->names, search->walk->env, sizeof(struct sl_str));
}

static void end_level(struct level *level)
{
    sl_vec_release(&level->names);
    sl_arena_release(&level->arena);
}

/* Lists a folder of the warehouse (relative, "" for itself). One that has gone meanwhile, or may not be read, has nothing in it. */
static silt_status read_level(struct search *search, const char *sub, struct level *level, silt_error *err)
{
    struct sl_warehouse_walk *walk = search->walk;
    struct sl_buf path;
    silt_error found = SILT_ERROR_INIT;
    if (search->n_folders++ >= MAX_FOLDERS) {
        walk->cut = true;
        return SILT_OK;
    }
    sl_buf_init(&path, walk->env);
    sl_buf_printf(&path, "%s%s%s", walk->folder, sub[0] != '\0' ? "/" : "", sub);
    silt_status status = sl_buf_status(&path, &found);
    if (status == SILT_OK) {
        status = silt_storage_list_folders(walk->storage, walk->call, path.data, take_folder, level, &found);
    }
    sl_buf_release(&path);
    walk->cut = walk->cut || level->cut;
    if (status == SILT_OK) {
        return level->failed ? sl_fail_nomem(err) : SILT_OK;
    }
    if (sub[0] != '\0' && status == SILT_EACCESS) {
        walk->on_denied(walk->ctx, sub, &found);
        return SILT_OK;
    }
    return sub[0] != '\0' && status == SILT_ENOTFOUND ? SILT_OK : sl_error_take(err, &found);
}

/* "SCHEMA/TABLE", or with a point between them. */
static const char *join(struct level *level, struct sl_str schema, char between, struct sl_str table)
{
    return sl_arena_printf(&level->arena, "%.*s%c%.*s", SL_FMT(schema), between, SL_FMT(table));
}

static silt_status search_schema(struct search *search, struct sl_str schema, struct level *level, silt_error *err)
{
    for (size_t i = 0; i < level->names.len && !search->walk->cut; i++) {
        const struct sl_str table = *(const struct sl_str *)sl_vec_at(&level->names, i);
        const char *path = join(level, schema, '/', table);
        const char *name = join(level, schema, '.', table);
        struct level inside;
        if (path == NULL || name == NULL) {
            return sl_fail_nomem(err);
        }
        begin_level(search, &inside, true);
        const silt_status status = read_level(search, path, &inside, err);
        if (status == SILT_OK && inside.is_table) {
            search->walk->on_table(search->walk->ctx, name);
        }
        end_level(&inside);
        SL_TRY(status);
    }
    return SILT_OK;
}

static silt_status search_folder(struct search *search, struct sl_str folder, silt_error *err)
{
    struct level level;
    begin_level(search, &level, false);
    const char *name = sl_arena_strdup(&level.arena, folder);
    silt_status status = name != NULL ? read_level(search, name, &level, err) : sl_fail_nomem(err);
    if (status == SILT_OK && level.is_table) {
        search->walk->on_table(search->walk->ctx, name);
    } else if (status == SILT_OK) {
        status = search_schema(search, folder, &level, err);
    }
    end_level(&level);
    return status;
}

silt_status sl_warehouse_walk_folders(struct sl_warehouse_walk *walk, silt_error *err)
{
    struct search search = {.walk = walk};
    struct level top;
    begin_level(&search, &top, false);
    silt_status status = read_level(&search, "", &top, err);
    for (size_t i = 0; i < top.names.len && status == SILT_OK && !walk->cut; i++) {
        status = search_folder(&search, *(const struct sl_str *)sl_vec_at(&top.names, i), err);
    }
    end_level(&top);
    return status;
}
