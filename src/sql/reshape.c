/*
 * Nested values in another shape; see reshape.h. The depth of types is bounded when schemas are made, and with it the recursion.
 */
#include "sql/reshape.h"

#include <stdio.h>

#include "base/error.h"
#include "base/quote.h"

struct reshape {
    struct sl_buf *out;
    unsigned depth; /* of lambdas, whose parameters must differ */
    silt_error *err;
};

static bool same_shape(const struct silt_type *from, const struct silt_type *to)
{
    if (from->kind != to->kind || !sl_type_is_nested(from)) {
        return true; /* what cannot be stored is found elsewhere */
    }
    if (from->kind == SILT_TYPE_ARRAY) {
        return same_shape(from->element, to->element);
    }
    if (from->kind == SILT_TYPE_MAP) {
        return same_shape(from->key, to->key) && same_shape(from->element, to->element);
    }
    if (from->n_fields != to->n_fields) {
        return false;
    }
    for (size_t i = 0; i < from->n_fields; i++) {
        if (!sl_str_eq_nocase(from->fields[i].name, to->fields[i].name) ||
            !same_shape(from->fields[i].type, to->fields[i].type)) {
            return false;
        }
    }
    return true;
}

static silt_status put(struct reshape *r, struct sl_str expr, const struct silt_type *from, const struct silt_type *to);

/* A member of a struct: expr."name", reshaped. */
static silt_status put_member(struct reshape *r, struct sl_str expr, const struct silt_field *given,
                              const struct silt_type *to)
{
    struct sl_buf member;
    sl_buf_init(&member, r->out->env);
    sl_buf_printf(&member, "(%.*s).", SL_FMT(expr));
    sl_quote_put(&member, given->name, '"');
    silt_status status = sl_buf_status(&member, r->err);
    if (status == SILT_OK) {
        status = put(r, sl_buf_view(&member), given->type, to);
    }
    sl_buf_release(&member);
    return status;
}

static silt_status put_struct(struct reshape *r, struct sl_str expr, const struct silt_type *from,
                              const struct silt_type *to)
{
    sl_buf_printf(r->out, "CASE WHEN (%.*s) IS NULL THEN NULL ELSE struct_pack(", SL_FMT(expr));
    for (size_t i = 0; i < to->n_fields; i++) {
        const struct silt_field *given = sl_type_find(from, to->fields[i].name, NULL);
        sl_buf_put_c(r->out, i > 0 ? ", " : "");
        sl_quote_put(r->out, to->fields[i].name, '"');
        sl_buf_put_c(r->out, " := ");
        if (given != NULL) {
            SL_TRY(put_member(r, expr, given, to->fields[i].type));
        } else {
            sl_buf_put_c(r->out, "CAST(NULL AS ");
            sl_type_print_duckdb(r->out, to->fields[i].type);
            sl_buf_put_char(r->out, ')');
        }
    }
    sl_buf_put_c(r->out, ") END");
    return SILT_OK;
}

static silt_status put_list(struct reshape *r, struct sl_str expr, const struct silt_type *from,
                            const struct silt_type *to)
{
    char name[32];
    const int len = snprintf(name, sizeof(name), "silt_e%u", r->depth++);
    sl_buf_printf(r->out, "list_transform(%.*s, lambda %s : ", SL_FMT(expr), name);
    SL_TRY(put(r, sl_str_make(name, (size_t)len), from, to));
    sl_buf_put_char(r->out, ')');
    return SILT_OK;
}

static silt_status put_map(struct reshape *r, struct sl_str expr, const struct silt_type *from,
                           const struct silt_type *to)
{
    char name[32];
    char part[48];
    (void)snprintf(name, sizeof(name), "silt_e%u", r->depth++);
    sl_buf_printf(r->out,
                  "CASE WHEN (%.*s) IS NULL THEN NULL ELSE map_from_entries(list_transform(map_entries(%.*s), lambda "
                  "%s : struct_pack(\"key\" := ",
                  SL_FMT(expr), SL_FMT(expr), name);
    int len = snprintf(part, sizeof(part), "(%s).\"key\"", name);
    SL_TRY(put(r, sl_str_make(part, (size_t)len), from->key, to->key));
    sl_buf_put_c(r->out, ", \"value\" := ");
    len = snprintf(part, sizeof(part), "(%s).\"value\"", name);
    SL_TRY(put(r, sl_str_make(part, (size_t)len), from->element, to->element));
    sl_buf_put_c(r->out, "))) END");
    return SILT_OK;
}

static silt_status put(struct reshape *r, struct sl_str expr, const struct silt_type *from, const struct silt_type *to)
{
    if (same_shape(from, to)) {
        sl_buf_put_str(r->out, expr);
        return SILT_OK;
    }
    switch (from->kind) {
    case SILT_TYPE_STRUCT: return put_struct(r, expr, from, to);
    case SILT_TYPE_ARRAY: return put_list(r, expr, from->element, to->element);
    default: return put_map(r, expr, from, to);
    }
}

silt_status sl_reshape_put(struct sl_buf *out, struct sl_str expr, const struct silt_type *from,
                           const struct silt_type *to, silt_error *err)
{
    struct reshape r = {.out = out, .err = err};
    SL_TRY(put(&r, expr, from, to));
    return sl_buf_status(out, err);
}
