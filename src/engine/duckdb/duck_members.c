/*
 * Chosen members of a file's structs, each taken out by itself and put together anew:
 *
 *   struct_pack("path" := ("add")."path", "stats_parsed" := struct_pack(…)) AS "add"
 *
 * DuckDB then reads the columns of these members and nothing else, and makes the structs by reference, where a schema map casts the
 * whole column row by row (a million rows of four numbers: 50 ms in the place of 215). What is lost is whether a struct itself is null, so it
 * is done only for who does not mind, and only where a file has the members exactly or in narrower integers.
 *
 * Called by duck_read.c. Any thread.
 */
#include "duck_footer.h"

#include "base/error.h"

struct pick {
    struct sl_buf *sql;
    const struct sl_footer *footer;
    struct sl_arena arena; /* of texts that are looked at only */
    silt_error *err;
    bool possible;
};

static int integer_width(struct sl_str type)
{
    static const char *const names[] = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"};
    for (int i = 0; i < 4; i++) {
        if (sl_str_eq_c(type, names[i])) {
            return i + 1;
        }
    }
    return 0;
}

static bool is_exact_leaf(const struct sl_footer_node *node, const struct silt_type *type)
{
    return !node->int96 && sl_footer_leaf_is_exact(node, type);
}

static bool is_exact_map(const struct sl_footer_node *node, const struct silt_type *type)
{
    const struct sl_footer_node *key = NULL;
    const struct sl_footer_node *value = NULL;
    return type->kind == SILT_TYPE_MAP && sl_footer_layout_is_exact(node) && sl_footer_map(node, &key, &value) &&
           is_exact_leaf(key, type->key) && is_exact_leaf(value, type->element);
}

static bool is_exact_list(const struct sl_footer_node *node, const struct silt_type *type)
{
    struct sl_footer_list list;
    return type->kind == SILT_TYPE_ARRAY && sl_footer_layout_is_exact(node) && sl_footer_list(node, &list) &&
           !list.bare && is_exact_leaf(list.element, type->element);
}

static silt_status put_null(struct pick *pick, const struct silt_type *type)
{
    sl_buf_put_c(pick->sql, "NULL::");
    return sl_duck_put_type(pick->sql, type, pick->err);
}

/* Days and times may be of another calendar than DuckDB takes them for. */
static silt_status is_same_time(struct pick *pick, const struct sl_footer_node *node, const struct silt_type *type,
                                bool *same)
{
    const bool is_time = type->kind == SILT_TYPE_DATE || type->kind == SILT_TYPE_TIMESTAMP ||
                         type->kind == SILT_TYPE_TIMESTAMP_NTZ;
    struct sl_footer_leaf leaf = {.declared = NULL};
    *same = true;
    if (is_time) {
        SL_TRY(sl_footer_read_leaf(&pick->arena, pick->footer, node, type, &leaf, pick->err));
        *same = leaf.declared == NULL && leaf.before == NULL && leaf.between == NULL && leaf.after == NULL &&
                !leaf.aside;
    }
    return SILT_OK;
}

/* A leaf, list or map; access is the SQL that it is found by. */
static silt_status put_whole(struct pick *pick, const struct sl_footer_node *node, const struct silt_type *type,
                             struct sl_str access)
{
    bool same = false;
    SL_TRY(is_same_time(pick, node, type, &same));
    if (!same) {
        pick->possible = false;
        return SILT_OK;
    }
    if (is_exact_leaf(node, type) || is_exact_map(node, type) || is_exact_list(node, type)) {
        sl_buf_put_str(pick->sql, access);
        return SILT_OK;
    }
    const char *name = sl_duck_type_name(type->kind);
    const int wanted = name != NULL ? integer_width(sl_str_from(name)) : 0;
    const int stored = node->n_children == 0 && !node->repeated ? integer_width(node->type) : 0;
    if (stored == 0 || stored > wanted) {
        pick->possible = false;
        return SILT_OK;
    }
    sl_buf_printf(pick->sql, "%.*s::%s", SL_FMT(access), name);
    return SILT_OK;
}

static silt_status put_field(struct pick *pick, const struct sl_footer_node *group, const struct silt_field *field,
                             struct sl_str parent);

/* As deep as the wanted type, whose depth has a limit. */
static silt_status put_struct(struct pick *pick, const struct sl_footer_node *node, const struct silt_type *type,
                              struct sl_str access)
{
    if (node->n_children == 0 || node->repeated || node->shape != SL_SHAPE_PLAIN || type->n_fields == 0) {
        pick->possible = false;
        return SILT_OK;
    }
    sl_buf_put_c(pick->sql, "struct_pack(");
    for (size_t i = 0; i < type->n_fields && pick->possible; i++) {
        sl_buf_put_c(pick->sql, i > 0 ? ", " : "");
        sl_duck_put_ident(pick->sql, type->fields[i].name);
        sl_buf_put_c(pick->sql, " := ");
        SL_TRY(put_field(pick, node, &type->fields[i], access));
    }
    sl_buf_put_char(pick->sql, ')');
    return SILT_OK;
}

static silt_status put_field(struct pick *pick, const struct sl_footer_node *group, const struct silt_field *field,
                             struct sl_str parent)
{
    const struct sl_footer_node *node = sl_footer_find(group, field, false);
    if (node == NULL) {
        return put_null(pick, field->type);
    }
    struct sl_buf access;
    sl_buf_init(&access, pick->sql->env);
    if (parent.len > 0) {
        sl_buf_printf(&access, "(%.*s).", SL_FMT(parent));
    }
    sl_duck_put_ident(&access, node->name);
    silt_status status = sl_buf_status(&access, pick->err);
    if (status == SILT_OK) {
        status = field->type->kind == SILT_TYPE_STRUCT ? put_struct(pick, node, field->type, sl_buf_view(&access))
                                                       : put_whole(pick, node, field->type, sl_buf_view(&access));
    }
    sl_buf_release(&access);
    return status;
}

silt_status sl_duck_put_members(struct sl_buf *sql, const struct sl_footer *footer, const struct silt_type *wanted,
                                bool *possible, silt_error *err)
{
    struct pick pick = {.sql = sql, .footer = footer, .err = err, .possible = footer->plain_names};
    silt_status status = SILT_OK;
    sl_arena_init(&pick.arena, sql->env);
    for (size_t i = 0; i < wanted->n_fields && pick.possible && status == SILT_OK; i++) {
        sl_buf_put_c(sql, i > 0 ? ", " : "");
        status = put_field(&pick, footer->nodes, &wanted->fields[i], SL_STR(""));
        sl_buf_put_c(sql, " AS ");
        sl_duck_put_ident(sql, wanted->fields[i].name);
    }
    sl_arena_release(&pick.arena);
    *possible = pick.possible;
    return status == SILT_OK ? sl_buf_status(sql, err) : status;
}
