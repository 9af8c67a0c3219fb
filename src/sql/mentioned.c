/*
 * Which columns a statement may read. Every text of the tree counts as a name, wherever it stands: aliases, names of USING, texts in
 * constants. All columns are read where the tree says so without their names: stars, natural joins, places (#1), other names for all columns
 * of a table, rows as a whole (a column reference that is the name of a table), descriptions of tables. See mentioned.h.
 */
#include "sql/mentioned.h"

#include "base/error.h"
#include "base/vec.h"
#include "schema/type.h"
#include "sql/tree.h"

struct walk {
    struct sl_arena *arena;
    struct sl_mentioned *mentioned;
    struct sl_vec stack;  /* const sl_json * */
    struct sl_map tables; /* names and aliases of tables; keys borrowed from the tree */
    struct sl_vec alone;  /* struct sl_str: column references of one part */
};

static bool add_table(struct walk *walk, struct sl_str name)
{
    bool inserted = false;
    return name.len == 0 || sl_map_put(&walk->tables, name, &inserted) != NULL;
}

static bool add_text(struct walk *walk, struct sl_str text)
{
    bool inserted = false;
    if (text.len == 0 || sl_map_find(&walk->mentioned->texts, text) != NULL) {
        return true;
    }
    const struct sl_str copy = sl_arena_copy(walk->arena, text);
    return copy.ptr != NULL && sl_map_put(&walk->mentioned->texts, copy, &inserted) != NULL;
}

static bool note_reference(struct walk *walk, const sl_json *node)
{
    const sl_json *names = sl_json_member(node, "column_names");
    struct sl_json_iter iter = sl_json_iterate(names);
    struct sl_str key;
    struct sl_str name;
    const sl_json *part = NULL;
    if (sl_json_count(names) != 1 || !sl_json_next(&iter, &key, &part) || !sl_json_to_str(part, &name)) {
        return true; /* with its table's name before it, it is a column */
    }
    struct sl_str *slot = sl_vec_push(&walk->alone);
    if (slot != NULL) {
        *slot = name;
    }
    return slot != NULL;
}

/* What an object of the tree is. */
static bool note(struct walk *walk, const sl_json *node)
{
    static const char *const whole[] = {"STAR", "POSITIONAL_REFERENCE", "PIVOT", "SHOW_REF", "COLUMN_DATA", NULL};
    static const char *const natural[] = {"NATURAL", "POSITIONAL", NULL};
    const struct sl_str type = sl_json_member_text(node, "type");
    walk->mentioned->all = walk->mentioned->all || sl_tree_is_any(type, whole) ||
                           sl_tree_is_any(sl_json_member_text(node, "ref_type"), natural) ||
                           sl_json_count(sl_json_member(node, "column_name_alias")) > 0;
    if (sl_str_eq_c(type, "COLUMN_REF")) {
        return note_reference(walk, node);
    }
    const bool is_expression = sl_json_member_text(node, "class").ptr != NULL;
    return is_expression || (add_table(walk, sl_json_member_text(node, "table_name")) &&
                             add_table(walk, sl_json_member_text(node, "alias")));
}

/* The texts in an object or array, and its keys that name an object: names of CTEs are such in some places. */
static bool note_texts(struct walk *walk, const sl_json *container)
{
    struct sl_json_iter iter = sl_json_iterate(container);
    struct sl_str key;
    struct sl_str text;
    const sl_json *child = NULL;
    while (sl_json_next(&iter, &key, &child)) {
        if (sl_json_to_str(child, &text) ? !add_text(walk, text) : sl_json_is_object(child) && !add_table(walk, key)) {
            return false;
        }
    }
    return true;
}

static bool is_table(const struct walk *walk, struct sl_str name)
{
    for (size_t i = 0; i < walk->tables.len; i++) {
        if (walk->tables.entries[i].live && sl_str_eq_nocase(walk->tables.entries[i].key, name)) {
            return true;
        }
    }
    return false;
}

static bool walk_tree(struct walk *walk, const sl_json *root)
{
    bool good = sl_tree_push(&walk->stack, root);
    while (good && walk->stack.len > 0) {
        const sl_json *node = sl_tree_pop(&walk->stack);
        good = (!sl_json_is_object(node) || note(walk, node)) && note_texts(walk, node) &&
               sl_tree_push_children(&walk->stack, node);
    }
    for (size_t i = 0; i < walk->alone.len && good; i++) {
        walk->mentioned->all = walk->mentioned->all || is_table(walk, *(struct sl_str *)sl_vec_at(&walk->alone, i));
    }
    return good;
}

void sl_mentioned_init(struct sl_mentioned *mentioned, const silt_env *env)
{
    *mentioned = (struct sl_mentioned){0};
    sl_map_init(&mentioned->texts, env);
}

void sl_mentioned_release(struct sl_mentioned *mentioned)
{
    sl_map_release(&mentioned->texts);
}

void sl_mentioned_in(struct sl_mentioned *mentioned, const sl_json *root, bool all)
{
    mentioned->unread = root;
    mentioned->all = all;
}

/* The tree is walked when a table first needs it. */
static silt_status read_tree(struct sl_arena *arena, struct sl_mentioned *mentioned, silt_error *err)
{
    const silt_env *env = mentioned->texts.env;
    const sl_json *root = mentioned->unread;
    if (mentioned->all || root == NULL) {
        return SILT_OK;
    }
    struct walk walk = {.arena = arena, .mentioned = mentioned};
    sl_vec_init(&walk.stack, env, sizeof(const sl_json *));
    sl_vec_init(&walk.alone, env, sizeof(struct sl_str));
    sl_map_init(&walk.tables, env);
    const bool good = walk_tree(&walk, root);
    sl_map_release(&walk.tables);
    sl_vec_release(&walk.alone);
    sl_vec_release(&walk.stack);
    mentioned->unread = NULL;
    return good ? SILT_OK : sl_fail_nomem(err);
}

static bool has_remote_files(const silt_scan_plan *plan)
{
    size_t i = 0;
    while (i < plan->n_files && plan->files[i].local_path != NULL) {
        i++;
    }
    return i < plan->n_files;
}

/* Columns that the data plane may refuse for their lists within lists, when they are read. */
#define DEEP 16

static bool has_deep_columns(const silt_scan_plan *plan)
{
    return sl_type_list_depth(&plan->logical->root) >= DEEP;
}

static bool is_mentioned(const struct sl_mentioned *mentioned, struct sl_str name)
{
    for (size_t i = 0; i < mentioned->texts.len; i++) {
        if (mentioned->texts.entries[i].live && sl_str_eq_nocase(mentioned->texts.entries[i].key, name)) {
            return true;
        }
    }
    return false;
}

silt_status sl_mentioned_columns(struct sl_arena *arena, struct sl_mentioned *mentioned, const silt_scan_plan *plan,
                                 const bool **out, silt_error *err)
{
    const struct silt_type *root = &plan->logical->root;
    *out = NULL;
    if (!has_remote_files(plan) && !has_deep_columns(plan)) {
        return SILT_OK;
    }
    SL_TRY(read_tree(arena, mentioned, err));
    if (mentioned->all) {
        return SILT_OK;
    }
    bool *flags = sl_arena_alloc_array(arena, root->n_fields, sizeof(*flags));
    if (flags == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        flags[i] = is_mentioned(mentioned, root->fields[i].name);
    }
    *out = flags;
    return SILT_OK;
}
