/*
 * The column "_metadata" in a query. A table has it only where a SELECT names it; there every table of that FROM gets it, and the stars of the
 * SELECT are made to leave it out, as Delta Spark's do. Other SELECTs of the query see their tables as they are.
 */
#include "base/error.h"
#include "kernel/scan/metadata_column.h"
#include "sql/prepare_int.h"
#include "sql/refs.h"

struct walk {
    struct sl_prepare *prepare;
    struct sl_vec *all; /* struct sl_table_ref: all of the query */
    size_t base;        /* of the query in the spelled text */
    bool narrows;       /* else marks */
    struct sl_vec todo; /* const sl_json * */
    struct sl_vec refs; /* const sl_json *: tables right under the FROM */
    struct sl_vec stars;
    bool names_metadata;
};

static bool push(struct sl_vec *vec, const sl_json *value)
{
    if (!sl_json_is_object(value) && !sl_json_is_array(value)) {
        return true;
    }
    const sl_json **slot = sl_vec_push(vec);
    if (slot != NULL) {
        *slot = value;
    }
    return slot != NULL;
}

static const sl_json *pop(struct sl_vec *vec)
{
    return *(const sl_json **)sl_vec_at(vec, --vec->len);
}

static bool type_is(const sl_json *object, const char *type)
{
    return sl_str_eq_c(sl_json_member_text(object, "type"), type);
}

static bool push_children(struct sl_vec *todo, const sl_json *value)
{
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_str key;
    const sl_json *child = NULL;
    while (sl_json_next(&iter, &key, &child)) {
        if (!push(todo, child)) {
            return false;
        }
    }
    return true;
}

/* "_metadata" or "_metadata.row_id", alone or behind the name of a table. */
static bool is_metadata_column(const sl_json *node)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(node, "column_names"));
    struct sl_str key;
    const sl_json *part = NULL;
    for (size_t i = 0; i < 2 && sl_json_next(&iter, &key, &part); i++) {
        struct sl_str name = {0};
        if (sl_json_to_str(part, &name) && sl_str_eq_nocase(name, SL_STR(SL_METADATA_NAME))) {
            return true;
        }
    }
    return false;
}

/* Looks through the expressions of a SELECT; what is a query of its own is looked at by itself, but may name our columns. */
static bool look_for_columns(struct walk *walk, const sl_json *select)
{
    bool good = push(&walk->todo, select);
    while (good && walk->todo.len > 0 && !walk->names_metadata) {
        const sl_json *node = pop(&walk->todo);
        walk->names_metadata = type_is(node, "COLUMN_REF") && is_metadata_column(node);
        good = push_children(&walk->todo, node);
    }
    walk->todo.len = 0;
    return good;
}

static bool collect_tables(struct walk *walk, const sl_json *from)
{
    bool good = push(&walk->todo, from);
    while (good && walk->todo.len > 0) {
        const sl_json *node = pop(&walk->todo);
        if (type_is(node, "JOIN")) {
            good = push(&walk->todo, sl_json_member(node, "left")) && push(&walk->todo, sl_json_member(node, "right"));
        } else if (type_is(node, "BASE_TABLE")) {
            good = push(&walk->refs, node);
        }
    }
    return good;
}

static bool collect_stars(struct walk *walk, const sl_json *list)
{
    bool good = push(&walk->todo, list);
    while (good && walk->todo.len > 0) {
        const sl_json *node = pop(&walk->todo);
        if (type_is(node, "STAR")) {
            good = push(&walk->stars, node);
        } else if (!type_is(node, "SUBQUERY")) {
            good = push_children(&walk->todo, node);
        }
    }
    return good;
}

/* ---- stars ---- */

static bool is_under(const struct walk *walk, const struct sl_table_ref *ref)
{
    for (size_t i = 0; i < walk->refs.len; i++) {
        if (*(const sl_json **)sl_vec_at(&walk->refs, i) == ref->node) {
            return true;
        }
    }
    return false;
}

/* Is a star about a table that has the column? One behind a name: only if that is the name of such a table. */
static bool covers(const sl_json *star, const struct walk *walk)
{
    const struct sl_str relation = sl_json_member_text(star, "relation_name");
    bool any = false;
    for (size_t i = 0; i < walk->all->len; i++) {
        const struct sl_table_ref *ref = sl_vec_at(walk->all, i);
        const struct sl_str name = ref->alias.ptr != NULL ? ref->alias : ref->table;
        any = any ||
              (ref->has_metadata && is_under(walk, ref) && (relation.ptr == NULL || sl_str_eq_nocase(relation, name)));
    }
    return any;
}

static silt_status put_splice(struct sl_prepare *prepare, size_t at, const char *text, silt_error *err)
{
    struct sl_splice *splice = sl_prepare_add_splice(prepare, at, at);
    if (splice == NULL) {
        return sl_fail_nomem(err);
    }
    sl_buf_put_c(&splice->text, text);
    return sl_buf_status(&splice->text, err);
}

static silt_status exclude_from(struct sl_prepare *prepare, const sl_json *star, size_t base, silt_error *err)
{
    static const char exclude[] = " EXCLUDE (\"" SL_METADATA_NAME "\") ";
    const struct sl_str text = sl_buf_view(&prepare->spelled->text);
    int64_t location = 0;
    if (!sl_json_to_i64(sl_json_member(star, "query_location"), &location) || location < 0) {
        return SILT_OK;
    }
    struct sl_lexer lexer = {.text = text, .pos = base + (size_t)location};
    struct sl_token token = sl_lex(&lexer);
    if (sl_token_is(&token, "FROM")) { /* FROM t without a SELECT: its star is not written */
        return put_splice(prepare, token.begin, "SELECT * EXCLUDE (\"" SL_METADATA_NAME "\") ", err);
    }
    while (token.kind != SL_TOK_END && token.kind != SL_TOK_BAD && !sl_token_is(&token, "*")) {
        token = sl_lex(&lexer); /* t. and COLUMNS( stand before it */
    }
    if (!sl_token_is(&token, "*")) {
        return SILT_OK;
    }
    const size_t after = token.end;
    token = sl_lex(&lexer);
    if (!sl_token_is(&token, "EXCLUDE") && !sl_token_is(&token, "EXCEPT")) {
        return put_splice(prepare, after, exclude, err);
    }
    token = sl_lex(&lexer);
    if (sl_token_is(&token, "(")) {
        return put_splice(prepare, token.end, "\"" SL_METADATA_NAME "\", ", err);
    }
    SL_TRY(put_splice(prepare, token.begin, "(\"" SL_METADATA_NAME "\", ", err));
    return put_splice(prepare, token.end, ")", err);
}

/* Before the scans are planned: these tables get the column. */
static silt_status mark(struct walk *walk)
{
    struct sl_vec *refs = walk->all;
    for (size_t i = 0; i < walk->refs.len; i++) {
        const sl_json *node = *(const sl_json **)sl_vec_at(&walk->refs, i);
        for (size_t k = 0; k < refs->len; k++) {
            struct sl_table_ref *ref = sl_vec_at(refs, k);
            ref->wants_metadata = ref->wants_metadata || ref->node == node;
        }
    }
    return SILT_OK;
}

/* Afterwards: these stars leave out the column of those that have it. */
static silt_status narrow(struct walk *walk, silt_error *err)
{
    for (size_t i = 0; i < walk->stars.len; i++) {
        const sl_json *star = *(const sl_json **)sl_vec_at(&walk->stars, i);
        if (covers(star, walk)) {
            SL_TRY(exclude_from(walk->prepare, star, walk->base, err));
        }
    }
    return SILT_OK;
}

static silt_status visit_select(struct walk *walk, const sl_json *select, silt_error *err)
{
    walk->names_metadata = false;
    walk->refs.len = 0;
    walk->stars.len = 0;
    bool good = look_for_columns(walk, select);
    if (good && walk->names_metadata) {
        good = collect_tables(walk, sl_json_member(select, "from_table")) &&
               collect_stars(walk, sl_json_member(select, "select_list"));
        if (good && walk->refs.len > 0) {
            return walk->narrows ? narrow(walk, err) : mark(walk);
        }
    }
    return good ? SILT_OK : sl_fail_nomem(err);
}

static bool is_named(struct sl_str text)
{
    const struct sl_str name = SL_STR(SL_METADATA_NAME);
    for (size_t i = 0; i + name.len <= text.len; i++) {
        if (text.ptr[i] == '_' && sl_str_eq_nocase(sl_str_sub(text, i, i + name.len), name)) {
            return true;
        }
    }
    return false;
}

static silt_status walk_selects(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, size_t base,
                                bool narrows, silt_error *err)
{
    const silt_env *env = prepare->session->env;
    if (!is_named(sl_buf_view(&prepare->spelled->text))) {
        return SILT_OK; /* the usual query pays nothing */
    }
    struct walk walk = {.prepare = prepare, .all = refs, .base = base, .narrows = narrows};
    struct sl_vec selects;
    sl_vec_init(&walk.todo, env, sizeof(const sl_json *));
    sl_vec_init(&walk.refs, env, sizeof(const sl_json *));
    sl_vec_init(&walk.stars, env, sizeof(const sl_json *));
    sl_vec_init(&selects, env, sizeof(const sl_json *));
    silt_status status = push(&selects, root) ? SILT_OK : sl_fail_nomem(err);
    while (status == SILT_OK && selects.len > 0) {
        const sl_json *node = pop(&selects);
        if (type_is(node, "SELECT_NODE")) {
            status = visit_select(&walk, node, err);
        }
        if (status == SILT_OK && !push_children(&selects, node)) {
            status = sl_fail_nomem(err);
        }
    }
    sl_vec_release(&selects);
    sl_vec_release(&walk.stars);
    sl_vec_release(&walk.refs);
    sl_vec_release(&walk.todo);
    return status;
}

silt_status sl_prepare_metadata(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, silt_error *err)
{
    return walk_selects(prepare, root, refs, 0, false, err);
}

silt_status sl_prepare_stars(struct sl_prepare *prepare, const sl_json *root, struct sl_vec *refs, size_t base,
                             silt_error *err)
{
    return walk_selects(prepare, root, refs, base, true, err);
}
