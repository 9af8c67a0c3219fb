/*
 * A column's parts (duck_column.h) as SQL. Where only names of nested fields differ (column mapping), DuckDB's own function for schemas
 * that evolve does it:
 *
 *   remap_struct(v, NULL::STRUCT("price" BIGINT, "at" STRUCT("x" INTEGER)), {"price": 'p1', "at": row('p2', {"x": 'q1'})}, NULL)
 *
 * It references the vectors of the fields instead of building structs, goes through lists and maps, and keeps NULL apart from a struct
 * of NULLs, at half the cost of CASE and struct_pack. Those are what is left where a value below is changed. Pure; any thread.
 */
#include "duck_column.h"

#include <stdio.h>

#include "base/error.h"

/* ---- types ---- */

static silt_status put_struct_type(struct sl_buf *sql, const struct sl_duck_part *part, bool wanted, silt_error *err);

static silt_status put_type(struct sl_buf *sql, const struct sl_duck_part *part, bool wanted, silt_error *err)
{
    if (!wanted && part->leaf.declared != NULL) {
        sl_buf_put_c(sql, part->leaf.declared);
        return SILT_OK;
    }
    if (part->n_parts == 0) {
        return sl_duck_put_type(sql, part->type, err);
    }
    switch (part->type->kind) {
    case SILT_TYPE_ARRAY:
        if (part->bare && !wanted) {
            SL_TRY(put_type(sql, &part->parts[0].parts[0], wanted, err));
        } else {
            SL_TRY(put_type(sql, &part->parts[0], wanted, err));
        }
        sl_buf_put_c(sql, "[]");
        return SILT_OK;
    case SILT_TYPE_MAP:
        sl_buf_put_c(sql, "MAP(");
        SL_TRY(put_type(sql, &part->parts[0], wanted, err));
        sl_buf_put_c(sql, ", ");
        SL_TRY(put_type(sql, &part->parts[1], wanted, err));
        sl_buf_put_char(sql, ')');
        return SILT_OK;
    default: return put_struct_type(sql, part, wanted, err);
    }
}

static silt_status put_struct_type(struct sl_buf *sql, const struct sl_duck_part *part, bool wanted, silt_error *err)
{
    sl_buf_put_c(sql, "STRUCT(");
    for (size_t i = 0; i < part->n_parts; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        sl_duck_put_ident(sql, wanted ? part->parts[i].wanted : part->parts[i].name);
        sl_buf_put_char(sql, ' ');
        SL_TRY(put_type(sql, &part->parts[i], wanted, err));
    }
    sl_buf_put_char(sql, ')');
    return SILT_OK;
}

silt_status sl_duck_part_put_type(struct sl_buf *sql, const struct sl_duck_part *part, silt_error *err)
{
    return put_type(sql, part, false, err);
}

/* ---- renaming ---- */

static void put_mapping(struct sl_buf *sql, const struct sl_duck_part *part);

/* What stands for one part: the name that it has, and what is below it if that is renamed. */
static void put_source(struct sl_buf *sql, struct sl_str name, const struct sl_duck_part *part)
{
    sl_buf_put_c(sql, part->renames ? "row(" : "");
    sl_duck_put_text(sql, name);
    if (part->renames) {
        sl_buf_put_c(sql, ", ");
        put_mapping(sql, part);
        sl_buf_put_char(sql, ')');
    }
}

/* Recursion is bounded by the depth of schemas, here and below. */
static void put_mapping(struct sl_buf *sql, const struct sl_duck_part *part)
{
    static const char *const map_parts[] = {"key", "value"};
    sl_buf_put_char(sql, '{');
    for (size_t i = 0; i < part->n_parts; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        if (part->type->kind == SILT_TYPE_STRUCT) {
            sl_duck_put_ident(sql, part->parts[i].wanted);
            sl_buf_put_c(sql, ": ");
            put_source(sql, part->parts[i].name, &part->parts[i]);
        } else {
            const char *name = part->type->kind == SILT_TYPE_MAP ? map_parts[i] : "list";
            sl_buf_put_c(sql, name);
            sl_buf_put_c(sql, ": ");
            put_source(sql, sl_str_from(name), &part->parts[i]);
        }
    }
    sl_buf_put_char(sql, '}');
}

static silt_status put_renamed(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value,
                               silt_error *err)
{
    sl_buf_put_c(sql, "remap_struct(");
    sl_buf_put_str(sql, value);
    sl_buf_put_c(sql, ", NULL::");
    SL_TRY(put_type(sql, part, true, err));
    sl_buf_put_c(sql, ", ");
    put_mapping(sql, part);
    sl_buf_put_c(sql, ", NULL)");
    return SILT_OK;
}

/* ---- changing ---- */

static silt_status put_value(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value, size_t depth,
                             silt_error *err);

/* The value of a part of something whose SQL is `outer`. */
static silt_status put_member(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str outer,
                              struct sl_str name, size_t depth, silt_error *err)
{
    struct sl_buf value;
    sl_buf_init(&value, sql->env);
    sl_buf_put_c(&value, "struct_extract(");
    sl_buf_put_str(&value, outer);
    sl_buf_put_c(&value, ", ");
    sl_duck_put_text(&value, name);
    sl_buf_put_char(&value, ')');
    silt_status status = sl_buf_status(&value, err);
    if (status == SILT_OK) {
        status = put_value(sql, part, sl_buf_view(&value), depth, err);
    }
    sl_buf_release(&value);
    return status;
}

static silt_status put_fields(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value, size_t depth,
                              silt_error *err)
{
    sl_buf_put_c(sql, "CASE WHEN ");
    sl_buf_put_str(sql, value);
    sl_buf_put_c(sql, " IS NULL THEN NULL ELSE struct_pack(");
    for (size_t i = 0; i < part->n_parts; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        sl_duck_put_ident(sql, part->parts[i].wanted);
        sl_buf_put_c(sql, " := ");
        SL_TRY(put_member(sql, &part->parts[i], value, part->parts[i].name, depth, err));
    }
    sl_buf_put_c(sql, ") END");
    return SILT_OK;
}

/* The variable of a lambda; lambdas in lambdas have others. */
struct variable {
    char name[24];
};

static struct variable variable_at(size_t depth)
{
    struct variable out;
    (void)snprintf(out.name, sizeof(out.name), "silt_x%zu", depth); /* fits: a number of 20 digits at most */
    return out;
}

static silt_status put_elements(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value, size_t depth,
                                silt_error *err)
{
    const struct variable x = variable_at(depth);
    const struct sl_duck_part *element = &part->parts[0];
    sl_buf_put_c(sql, "list_transform(");
    sl_buf_put_str(sql, value);
    sl_buf_printf(sql, ", lambda %s: ", x.name);
    if (part->bare) {
        sl_buf_put_c(sql, "struct_pack(");
        sl_duck_put_ident(sql, element->parts[0].wanted);
        sl_buf_put_c(sql, " := ");
        SL_TRY(put_value(sql, &element->parts[0], sl_str_from(x.name), depth + 1, err));
        sl_buf_put_char(sql, ')');
    } else {
        SL_TRY(put_value(sql, element, sl_str_from(x.name), depth + 1, err));
    }
    sl_buf_put_char(sql, ')');
    return SILT_OK;
}

static silt_status put_entries(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value, size_t depth,
                               silt_error *err)
{
    const struct variable x = variable_at(depth);
    sl_buf_put_c(sql, "map_from_entries(list_transform(map_entries(");
    sl_buf_put_str(sql, value);
    sl_buf_printf(sql, "), lambda %s: struct_pack(key := ", x.name);
    SL_TRY(put_member(sql, &part->parts[0], sl_str_from(x.name), SL_STR("key"), depth + 1, err));
    sl_buf_put_c(sql, ", value := ");
    SL_TRY(put_member(sql, &part->parts[1], sl_str_from(x.name), SL_STR("value"), depth + 1, err));
    sl_buf_put_c(sql, ")))");
    return SILT_OK;
}

static silt_status put_value(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value, size_t depth,
                             silt_error *err)
{
    if (!part->converts) {
        if (part->renames) {
            return put_renamed(sql, part, value, err);
        }
        sl_buf_put_str(sql, value);
        return SILT_OK;
    }
    if (part->leaf.before != NULL || part->leaf.after != NULL) {
        sl_buf_put_c(sql, part->leaf.before != NULL ? part->leaf.before : "");
        sl_buf_put_str(sql, value);
        if (part->leaf.between != NULL) {
            sl_buf_put_c(sql, part->leaf.between);
            sl_buf_put_str(sql, value);
        }
        sl_buf_put_c(sql, part->leaf.after != NULL ? part->leaf.after : "");
        return SILT_OK;
    }
    switch (part->type->kind) {
    case SILT_TYPE_ARRAY: return put_elements(sql, part, value, depth, err);
    case SILT_TYPE_MAP: return put_entries(sql, part, value, depth, err);
    default: return put_fields(sql, part, value, depth, err);
    }
}

silt_status sl_duck_part_put_value(struct sl_buf *sql, const struct sl_duck_part *part, struct sl_str value,
                                   silt_error *err)
{
    return put_value(sql, part, value, 0, err);
}
