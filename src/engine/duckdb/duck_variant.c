/*
 * Variants between files, SQL and the outside. In SQL they are DuckDB's VARIANT, so that its operators work. Files hold metadata and value,
 * with or without typed columns beside them; results leave as metadata and value again.
 *
 * DuckDB itself knows two kinds of NULL, no variant and a null variant, but its conversions make the one of the other. Here they are kept
 * apart both ways. PROTOCOL: Variant Data Type. Pure but for hand_out, which prepares a statement.
 */
#include "duck_variant.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* DuckDB's number for the type, which the C interface has no name for. */
#define TYPE_VARIANT 41

/* ---- stored columns ---- */

static const struct sl_footer_node *find_member(const struct sl_footer_node *group, const char *name)
{
    const struct sl_footer_node *child = group + 1;
    for (uint32_t i = 0; i < group->n_children; i++, child += child->n_nodes) {
        if (sl_str_eq_c(child->name, name)) {
            return child;
        }
    }
    return NULL;
}

static bool is_binary(const struct sl_footer_node *leaf)
{
    return leaf->n_children == 0 && !leaf->repeated && sl_str_eq_c(leaf->type, "BLOB");
}

bool sl_variant_fits(const struct sl_footer_node *node)
{
    const struct sl_footer_node *metadata = find_member(node, "metadata");
    const struct sl_footer_node *value = find_member(node, "value");
    return node->shape == SL_SHAPE_PLAIN && metadata != NULL && is_binary(metadata) &&
           (value != NULL ? is_binary(value) : find_member(node, "typed_value") != NULL);
}

/* The type of a part as it is stored. Recursion is bounded by the depth of the file's schema, which DuckDB has read. */
static silt_status put_stored_type(struct sl_buf *sql, const struct sl_footer_node *node, silt_error *err)
{
    if (node->n_children == 0) {
        if (sl_str_eq_c(node->type, "TIMESTAMP WITH TIME ZONE") &&
            sl_str_find(node->logical, SL_STR("NANOS=NanoSeconds")) != SIZE_MAX) {
            return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                           "a shredded variant holds instants with nanoseconds, which cannot be read without loss");
        }
        sl_buf_put_str(sql, node->type);
        return SILT_OK;
    }
    struct sl_footer_list list;
    if (sl_footer_list(node, &list)) {
        SL_TRY(put_stored_type(sql, list.element, err));
        sl_buf_put_c(sql, "[]");
        return SILT_OK;
    }
    sl_buf_put_c(sql, "STRUCT(");
    const struct sl_footer_node *child = node + 1;
    for (uint32_t i = 0; i < node->n_children; i++, child += child->n_nodes) {
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        sl_duck_put_ident(sql, child->name);
        sl_buf_put_char(sql, ' ');
        SL_TRY(put_stored_type(sql, child, err));
    }
    sl_buf_put_char(sql, ')');
    return SILT_OK;
}

silt_status sl_variant_read_node(struct sl_arena *arena, const struct sl_footer_node *node, struct sl_footer_leaf *out,
                                 silt_error *err)
{
    struct sl_buf sql;
    sl_buf_init(&sql, arena->env);
    silt_status status = put_stored_type(&sql, node, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&sql, err);
    }
    if (status == SILT_OK) {
        *out = (struct sl_footer_leaf){
            .aside = sl_str_eq_c(node->logical, "VARIANT"),
            .declared = sl_arena_strdup(arena, sl_buf_view(&sql)),
            .before = "CASE WHEN silt_variant_is_null(",
            .between = ") THEN silt_variant_null(true) ELSE variant_bytes_to_variant(silt_variant_bytes(",
            .after = ")) END"};
        status = out->declared != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&sql);
    return status;
}

/* ---- results ---- */

static bool holds_variant(duckdb_logical_type type);

static bool struct_holds(duckdb_logical_type type)
{
    bool holds = false;
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type) && !holds; i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        holds = holds_variant(child);
        duckdb_destroy_logical_type(&child);
    }
    return holds;
}

/* Takes the type. */
static bool part_holds(duckdb_logical_type part)
{
    const bool holds = holds_variant(part);
    duckdb_destroy_logical_type(&part);
    return holds;
}

/* Recursion is as deep as the type is, here and below. */
static bool holds_variant(duckdb_logical_type type)
{
    switch ((int)duckdb_get_type_id(type)) {
    case TYPE_VARIANT: return true;
    case DUCKDB_TYPE_STRUCT: return struct_holds(type);
    case DUCKDB_TYPE_LIST: return part_holds(duckdb_list_type_child_type(type));
    case DUCKDB_TYPE_ARRAY: return part_holds(duckdb_array_type_child_type(type));
    case DUCKDB_TYPE_MAP:
        return part_holds(duckdb_map_type_key_type(type)) || part_holds(duckdb_map_type_value_type(type));
    default: return false;
    }
}

static silt_status put_out(struct sl_buf *sql, struct sl_str value, duckdb_logical_type type, unsigned depth,
                           silt_error *err);

/* A member of what `value` says; takes the type. */
static silt_status put_member(struct sl_buf *sql, struct sl_str value, const char *name, duckdb_logical_type type,
                              unsigned depth, silt_error *err)
{
    struct sl_buf member;
    sl_buf_init(&member, sql->env);
    sl_buf_put_c(&member, "struct_extract(");
    sl_buf_put_str(&member, value);
    sl_buf_put_c(&member, ", ");
    sl_duck_put_text(&member, sl_str_from(name));
    sl_buf_put_char(&member, ')');
    silt_status status = sl_buf_status(&member, err);
    if (status == SILT_OK) {
        status = put_out(sql, sl_buf_view(&member), type, depth, err);
    }
    sl_buf_release(&member);
    duckdb_destroy_logical_type(&type);
    return status;
}

static silt_status put_struct(struct sl_buf *sql, struct sl_str value, duckdb_logical_type type, unsigned depth,
                              silt_error *err)
{
    sl_buf_put_c(sql, "CASE WHEN ");
    sl_buf_put_str(sql, value);
    sl_buf_put_c(sql, " IS NULL THEN NULL ELSE struct_pack(");
    silt_status status = SILT_OK;
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type) && status == SILT_OK; i++) {
        char *name = duckdb_struct_type_child_name(type, i);
        if (name == NULL || name[0] == '\0') {
            status = sl_fail(err, SILT_EUNSUPPORTED, NULL, "variants in a row without names cannot be handed out");
        } else {
            sl_buf_put_c(sql, i == 0 ? "" : ", ");
            sl_duck_put_ident(sql, sl_str_from(name));
            sl_buf_put_c(sql, " := ");
            status = put_member(sql, value, name, duckdb_struct_type_child_type(type, i), depth, err);
        }
        duckdb_free(name);
    }
    sl_buf_put_c(sql, ") END");
    return status;
}

static silt_status put_list(struct sl_buf *sql, struct sl_str value, duckdb_logical_type type, unsigned depth,
                            silt_error *err)
{
    char name[24];
    (void)snprintf(name, sizeof(name), "silt_v%u", depth); /* fits */
    sl_buf_put_c(sql, "list_transform(");
    sl_buf_put_str(sql, value);
    sl_buf_printf(sql, ", lambda %s: ", name);
    duckdb_logical_type element = duckdb_list_type_child_type(type);
    const silt_status status = put_out(sql, sl_str_from(name), element, depth + 1, err);
    duckdb_destroy_logical_type(&element);
    sl_buf_put_char(sql, ')');
    return status;
}

static silt_status put_map(struct sl_buf *sql, struct sl_str value, duckdb_logical_type type, unsigned depth,
                           silt_error *err)
{
    char name[24];
    (void)snprintf(name, sizeof(name), "silt_v%u", depth); /* fits */
    sl_buf_put_c(sql, "map_from_entries(list_transform(map_entries(");
    sl_buf_put_str(sql, value);
    sl_buf_printf(sql, "), lambda %s: struct_pack(key := ", name);
    SL_TRY(put_member(sql, sl_str_from(name), "key", duckdb_map_type_key_type(type), depth + 1, err));
    sl_buf_put_c(sql, ", value := ");
    SL_TRY(put_member(sql, sl_str_from(name), "value", duckdb_map_type_value_type(type), depth + 1, err));
    sl_buf_put_c(sql, ")))");
    return SILT_OK;
}

static silt_status put_out(struct sl_buf *sql, struct sl_str value, duckdb_logical_type type, unsigned depth,
                           silt_error *err)
{
    if (!holds_variant(type)) {
        sl_buf_put_str(sql, value);
        return SILT_OK;
    }
    switch ((int)duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_STRUCT: return put_struct(sql, value, type, depth, err);
    case DUCKDB_TYPE_LIST: return put_list(sql, value, type, depth, err);
    case DUCKDB_TYPE_MAP: return put_map(sql, value, type, depth, err);
    case DUCKDB_TYPE_ARRAY:
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "variants in an array of fixed length cannot be handed out");
    default: break;
    }
    sl_buf_put_c(sql, "CASE WHEN ");
    sl_buf_put_str(sql, value);
    sl_buf_put_c(sql, " IS NULL THEN NULL ELSE variant_to_parquet_variant(");
    sl_buf_put_str(sql, value);
    sl_buf_put_c(sql, ") END");
    return SILT_OK;
}

static bool gives_variant(duckdb_prepared_statement stmt)
{
    bool holds = false;
    const idx_t n = duckdb_prepared_statement_column_count(stmt);
    for (idx_t i = 0; i < n && !holds; i++) {
        holds = part_holds(duckdb_prepared_statement_column_logical_type(stmt, i));
    }
    return holds;
}

/* Columns have numbers for names inside, as titles need not be unique. */
static silt_status put_wrapped(struct sl_buf *sql, struct sl_str query, duckdb_prepared_statement stmt, silt_error *err)
{
    const idx_t n = duckdb_prepared_statement_column_count(stmt);
    sl_buf_put_c(sql, "SELECT ");
    for (idx_t i = 0; i < n; i++) {
        char name[40];
        (void)snprintf(name, sizeof(name), "\"silt column %llu\"", (unsigned long long)i); /* fits */
        const char *title = duckdb_prepared_statement_column_name(stmt, i);
        duckdb_logical_type type = duckdb_prepared_statement_column_logical_type(stmt, i);
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        const silt_status status = put_out(sql, sl_str_from(name), type, 0, err);
        sl_buf_put_c(sql, " AS ");
        sl_duck_put_ident(sql, sl_str_from(title));
        duckdb_destroy_logical_type(&type);
        duckdb_free((void *)(uintptr_t)title); /* ours, though it is told as const */
        SL_TRY(status);
    }
    sl_buf_put_c(sql, " FROM (\n");
    sl_buf_put_str(sql, query);
    sl_buf_put_c(sql, "\n) AS silt_variants(");
    for (idx_t i = 0; i < n; i++) {
        sl_buf_printf(sql, "%s\"silt column %llu\"", i == 0 ? "" : ", ", (unsigned long long)i);
    }
    sl_buf_put_char(sql, ')');
    return sl_buf_status(sql, err);
}

silt_status sl_variant_hand_out(struct sl_duck_conn *conn, struct sl_str sql, duckdb_prepared_statement *stmt,
                                silt_error *err)
{
    if (duckdb_prepared_statement_type(*stmt) != DUCKDB_STATEMENT_TYPE_SELECT || !gives_variant(*stmt)) {
        return SILT_OK;
    }
    struct sl_str query = sl_str_trim(sql);
    while (query.len > 0 && query.ptr[query.len - 1] == ';') {
        query = sl_str_trim(sl_str_sub(query, 0, query.len - 1));
    }
    struct sl_buf wrapped;
    sl_buf_init(&wrapped, conn->dp->env);
    silt_status status = put_wrapped(&wrapped, query, *stmt, err);
    if (status == SILT_OK) {
        duckdb_destroy_prepare(stmt);
        status = sl_duck_prepare(conn, sl_buf_view(&wrapped), stmt, err);
    }
    sl_buf_release(&wrapped);
    return status;
}

/* ---- the extension type ---- */

/* Arrow's form of metadata: number of pairs, then each text with its length before it. */
static const struct {
    int32_t n;
    int32_t key_len;
    char key[20];
    int32_t value_len;
    char value[21];
} EXTENSION = {.n = 1, .key_len = 20, .key = "ARROW:extension:name", .value_len = 21, .value = "arrow.parquet.variant"};

static bool has_alias(duckdb_logical_type type)
{
    char *alias = duckdb_logical_type_get_alias(type);
    const bool same = alias != NULL && strcmp(alias, SL_VARIANT_ALIAS) == 0;
    duckdb_free(alias);
    return same;
}

/* Takes the type. */
static void name_part(struct ArrowSchema *schema, duckdb_logical_type type)
{
    sl_variant_name_extension(schema, type);
    duckdb_destroy_logical_type(&type);
}

void sl_variant_name_extension(struct ArrowSchema *schema, duckdb_logical_type type)
{
    if (has_alias(type)) {
        schema->metadata = (const char *)&EXTENSION;
        return;
    }
    switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_STRUCT:
        for (idx_t i = 0; i < duckdb_struct_type_child_count(type) && (int64_t)i < schema->n_children; i++) {
            name_part(schema->children[i], duckdb_struct_type_child_type(type, i));
        }
        break;
    case DUCKDB_TYPE_LIST:
        if (schema->n_children == 1) {
            name_part(schema->children[0], duckdb_list_type_child_type(type));
        }
        break;
    case DUCKDB_TYPE_MAP:
        if (schema->n_children == 1 && schema->children[0]->n_children == 2) {
            name_part(schema->children[0]->children[0], duckdb_map_type_key_type(type));
            name_part(schema->children[0]->children[1], duckdb_map_type_value_type(type));
        }
        break;
    default: break;
    }
}
