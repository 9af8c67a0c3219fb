/*
 * The option FIELD_IDS of COPY: the ids that a schema's metadata holds ("parquet.field.id", "parquet.field.nested.ids"), so that readers
 * find columns whatever they are called (PROTOCOL.md "Column Mapping"). Pure; any thread.
 */
#include "duck_write.h"

#include "base/error.h"
#include "json/json.h"

#define KEY_ID SL_STR("parquet.field.id")
#define KEY_NESTED SL_STR("parquet.field.nested.ids")

/* Within one field: where the ids of its elements, keys and values are found. */
struct scope {
    struct sl_arena arena;
    const sl_json *nested; /* dotted name → id; NULL: none */
};

struct ids {
    struct sl_buf *sql;
    silt_error *err;
};

/* A column, or an element, key or value. */
struct node {
    struct sl_str name;
    struct sl_str path; /* dotted, from the nearest field on */
    const struct silt_type *type;
    bool has_id;
    int64_t id;
};

static silt_status put_parts(struct ids *ids, struct scope *scope, struct sl_str path, const struct silt_type *type);

/* "'name': {'__duckdb_field_id': 7, …}, ", or nothing where there is no id in it: DuckDB refuses an empty literal, and takes the comma. */
static silt_status put_node(struct ids *ids, struct scope *scope, const struct node *node)
{
    struct sl_buf *sql = ids->sql;
    const size_t start = sql->len;
    sl_duck_put_text(sql, node->name);
    sl_buf_put_c(sql, ": {");
    const size_t inner = sql->len;
    if (node->has_id) {
        sl_buf_printf(sql, "'__duckdb_field_id': %lld, ", (long long)node->id);
    }
    SL_TRY(put_parts(ids, scope, node->path, node->type));
    if (sl_buf_status(sql, NULL) == SILT_OK && sql->len == inner) {
        sql->len = start;
        sql->data[start] = '\0';
        return SILT_OK;
    }
    sl_buf_put_c(sql, "}, ");
    return SILT_OK;
}

static silt_status put_field(struct ids *ids, const struct silt_field *field)
{
    struct scope scope = {.nested = NULL};
    struct sl_json_doc *doc = NULL;
    struct node node = {.name = field->name, .path = field->name, .type = field->type};
    const struct sl_str id = sl_field_meta_text(field, KEY_ID);
    const struct sl_str nested = sl_field_meta_text(field, KEY_NESTED);
    node.has_id = id.ptr != NULL && sl_str_to_i64(id, &node.id);
    SL_TRY(nested.ptr != NULL ? sl_json_parse(ids->sql->env, nested, &doc, ids->err) : SILT_OK);
    sl_arena_init(&scope.arena, ids->sql->env);
    scope.nested = doc != NULL ? sl_json_root(doc) : NULL;
    const silt_status status = put_node(ids, &scope, &node);
    sl_arena_release(&scope.arena);
    sl_json_free(doc);
    return status;
}

static silt_status put_part(struct ids *ids, struct scope *scope, struct sl_str path, const char *part,
                            const struct silt_type *type)
{
    const char *name = sl_arena_printf(&scope->arena, "%.*s.%s", SL_FMT(path), part);
    if (name == NULL) {
        return sl_fail_nomem(ids->err);
    }
    struct node node = {.name = sl_str_from(part), .path = sl_str_from(name), .type = type};
    node.has_id = scope->nested != NULL && sl_json_to_i64(sl_json_member(scope->nested, name), &node.id);
    return put_node(ids, scope, &node);
}

/* What lies below a node; the depth of a schema bounds the recursion. */
static silt_status put_parts(struct ids *ids, struct scope *scope, struct sl_str path, const struct silt_type *type)
{
    switch (type->kind) {
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < type->n_fields; i++) {
            SL_TRY(put_field(ids, &type->fields[i]));
        }
        return SILT_OK;
    case SILT_TYPE_ARRAY: return put_part(ids, scope, path, "element", type->element);
    case SILT_TYPE_MAP:
        SL_TRY(put_part(ids, scope, path, "key", type->key));
        return put_part(ids, scope, path, "value", type->element);
    default: return SILT_OK;
    }
}

silt_status sl_duck_put_field_ids(struct sl_buf *sql, const silt_schema *schema, const bool *is_absent, silt_error *err)
{
    struct ids ids = {sql, err};
    const char *const head = ", FIELD_IDS {";
    const size_t start = sql->len;
    sl_buf_put_c(sql, head);
    for (size_t i = 0; i < schema->root.n_fields; i++) {
        if (!is_absent[i] && schema->root.fields[i].type->kind != SILT_TYPE_VOID) {
            SL_TRY(put_field(&ids, &schema->root.fields[i]));
        }
    }
    SL_TRY(sl_buf_status(sql, err));
    if (sql->len == start + strlen(head)) {
        sql->len = start;
        sql->data[start] = '\0';
        return SILT_OK;
    }
    sl_buf_put_char(sql, '}');
    return SILT_OK;
}
