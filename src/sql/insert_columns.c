/*
 * The columns of INSERT; see insert_columns.h. Query columns get the names of what they are meant for first; all that follows goes by names.
 */
#include "sql/insert_columns.h"

#include "base/error.h"
#include "base/vec.h"
#include "expr/expr.h"
#include "expr/zone.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "schema/value.h"

struct fit {
    struct sl_run *run;
    struct sl_row_source *source;
    silt_txn *txn;
    const struct sl_insert *insert;
    const struct sl_insert_way *way;
    struct sl_insert_columns *out;
    struct sl_str *names; /* one for each column of the query */
    size_t n_source;
    silt_error *err;
};

void sl_insert_columns_release(struct sl_insert_columns *columns)
{
    silt_schema_unref(columns->shape);
    silt_expr_unref(columns->partition);
    *columns = (struct sl_insert_columns){.mapping = NULL};
}

/* One that is added by whoever asks for it; that is what most who see this want. */
#define EVOLUTION_HINT "INSERT WITH SCHEMA EVOLUTION adds columns, as does SET silt.write.mergeSchema = true"

static const char *table_text(const struct fit *f)
{
    return sl_table_name_text(f->run, &f->insert->table);
}

static silt_status arity_error(const struct fit *f, size_t want)
{
    const silt_status status = sl_fail(f->err, SILT_ESCHEMA,
                                       f->n_source < want ? "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
                                                          : "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
                                       "cannot insert into %s: the query has %zu column%s, the table needs %zu",
                                       table_text(f), f->n_source, f->n_source == 1 ? "" : "s", want);
    if (f->insert->columns.n == 0 && f->insert->mode == SL_INSERT_OVERWRITE && !f->insert->has_partition) {
        sl_error_hint(
            f->err, "SET silt.write.overwriteSchema = true lets the overwrite of a whole table bring its own columns");
    } else if (f->insert->columns.n == 0 && f->n_source > want && f->insert->mode == SL_INSERT_APPEND) {
        sl_error_hint(f->err, EVOLUTION_HINT);
    }
    return status;
}

/* ---- PARTITION ---- */

/* A literal's value in the column's type. */
static silt_status parse_literal(const struct fit *f, const struct sl_partition_spec *spec,
                                 const struct silt_field *field, silt_value *out)
{
    struct sl_arena *arena = f->run->arena;
    silt_expr *expr = NULL;
    bool good = false;
    const struct sl_expr_zone session_zone = {sl_run_local_time, f->run};
    const struct sl_expr_zone *zone = sl_run_is_utc(f->run) ? NULL : &session_zone;
    silt_status status = sl_expr_parse_in_zone(f->run->session->env, spec->value, NULL, zone, &expr, f->err);
    if (status == SILT_OK) {
        const silt_value *value = &expr->root->value;
        const bool is_text = value->kind == SILT_TYPE_STRING && !value->is_null;
        good = expr->root->kind == SL_EXPR_LITERAL;
        if (good && (value->is_null || (is_text && value->as.bytes.len == 0))) {
            *out = sl_value_null(field->type->kind); /* PROTOCOL: the empty text of a partition value is null */
        } else if (good && is_text && field->type->kind != SILT_TYPE_STRING) {
            const struct sl_str text = sl_arena_copy(arena, sl_value_get_str(value));
            bool is_local = false;
            good = text.ptr != NULL &&
                   sl_partition_value_parse(arena, text, field->type, out, &is_local, NULL) == SILT_OK;
            if (good && is_local && field->type->kind == SILT_TYPE_TIMESTAMP) {
                status = sl_session_local_to_utc(f->run->session, f->run->call, out->as.i64, &out->as.i64, f->err);
            }
        } else if (good) {
            silt_value typed;
            good = sl_value_cast(arena, value, field->type, &typed);
            status = good ? sl_zone_apply(zone, value, &typed, f->err) : SILT_OK;
            good = good && sl_value_copy(arena, &typed, out);
        }
        if (status == SILT_OK && !good) {
            status = sl_fail(f->err, SILT_ESCHEMA, "DELTA_PARTITION_COLUMN_CAST_FAILED",
                             "%.*s is no literal of the type of partition column %.*s", SL_FMT(spec->value),
                             SL_FMT(field->name));
            sl_error_position(f->err, f->run->offset + spec->value_begin);
        }
    } else if (f->err != NULL && f->err->position >= 0) {
        sl_error_position(f->err, f->run->offset + spec->value_begin + (size_t)f->err->position);
    }
    silt_expr_unref(expr);
    return status;
}

static silt_status print_literal(const struct fit *f, const silt_value *value, const struct silt_type *type,
                                 struct sl_str *out)
{
    struct sl_buf text;
    sl_buf_init(&text, f->run->session->env);
    sl_buf_put_c(&text, "CAST(");
    sl_value_print_duckdb(&text, value);
    sl_buf_put_c(&text, " AS ");
    sl_type_print_duckdb(&text, type);
    sl_buf_put_char(&text, ')');
    silt_status status = sl_buf_status(&text, f->err);
    if (status == SILT_OK) {
        *out = sl_arena_copy(f->run->arena, sl_buf_view(&text));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(f->err);
    }
    sl_buf_release(&text);
    return status;
}

/* column <=> value */
static silt_status compare(const struct fit *f, const struct silt_field *field, const silt_value *value,
                           silt_expr **out)
{
    const silt_env *env = f->run->session->env;
    const char *name = field->name.ptr;
    silt_expr *column = NULL;
    silt_expr *literal = NULL;
    silt_status status = silt_expr_column(env, &name, 1, &column, f->err);
    if (status == SILT_OK) {
        status = silt_expr_literal(env, value, &literal, f->err);
    }
    if (status == SILT_OK) {
        status = silt_expr_compare(env, SILT_COMPARE_NULL_SAFE_EQ, column, literal, out, f->err);
    }
    silt_expr_unref(column);
    silt_expr_unref(literal);
    return status;
}

/* ANDs a member to the condition so far; takes the member. */
static silt_status add_condition(struct fit *f, silt_expr *member)
{
    silt_expr *joined = NULL;
    silt_status status = SILT_OK;
    if (f->out->partition == NULL) {
        f->out->partition = member;
        return SILT_OK;
    }
    const silt_expr *const both[2] = {f->out->partition, member};
    status = silt_expr_and(f->run->session->env, both, 2, &joined, f->err);
    silt_expr_unref(member);
    if (status == SILT_OK) {
        silt_expr_unref(f->out->partition);
        f->out->partition = joined;
    }
    return status;
}

static silt_status take_spec(struct fit *f, const struct sl_partition_spec *spec)
{
    const silt_schema *schema = silt_txn_schema(f->txn);
    size_t index = 0;
    const struct silt_field *field = sl_type_find(&schema->root, spec->column, &index);
    silt_expr *member = NULL;
    silt_value value;
    if (field == NULL || !sl_txn_is_partition_column(f->txn, spec->column)) {
        return sl_fail(f->err, SILT_ESCHEMA, "NON_PARTITION_COLUMN", "%.*s is no partition column of %s",
                       SL_FMT(spec->column), table_text(f));
    }
    if (spec->value.ptr == NULL) {
        return SILT_OK;
    }
    if (f->out->constants[index].ptr != NULL) {
        return sl_fail(f->err, SILT_ESCHEMA, "COLUMN_ALREADY_EXISTS", "column %.*s is named twice",
                       SL_FMT(spec->column));
    }
    SL_TRY(parse_literal(f, spec, field, &value));
    SL_TRY(print_literal(f, &value, field->type, &f->out->constants[index]));
    SL_TRY(compare(f, field, &value, &member));
    return add_condition(f, member);
}

/* ---- names ---- */

/* The k-th column of the table that PARTITION gives no value. */
static const struct silt_field *free_column(const struct fit *f, size_t k)
{
    const silt_schema *schema = silt_txn_schema(f->txn);
    for (size_t i = 0; i < schema->root.n_fields; i++) {
        if (f->out->constants[i].ptr == NULL && k-- == 0) {
            return &schema->root.fields[i];
        }
    }
    return NULL;
}

static silt_status name_by_position(struct fit *f)
{
    size_t n_free = 0;
    while (free_column(f, n_free) != NULL) {
        n_free++;
    }
    if (f->n_source < n_free || (f->n_source > n_free && !f->way->merges)) {
        return arity_error(f, n_free);
    }
    for (size_t i = 0; i < n_free; i++) {
        f->names[i] = free_column(f, i)->name;
    }
    return SILT_OK;
}

static silt_status name_columns(struct fit *f)
{
    f->names = sl_arena_alloc_array(f->run->arena, f->n_source + 1, sizeof(*f->names));
    if (f->names == NULL) {
        return sl_fail_nomem(f->err);
    }
    for (size_t i = 0; i < f->n_source; i++) {
        f->names[i] = sl_str_from(f->source->columns.children[i]->name);
    }
    if (f->insert->columns.n > 0) {
        if (f->insert->columns.n != f->n_source) {
            return arity_error(f, f->insert->columns.n);
        }
        memcpy(f->names, f->insert->columns.items, f->n_source * sizeof(*f->names));
        return SILT_OK;
    }
    return f->insert->by_name || f->way->overwrites ? SILT_OK : name_by_position(f);
}

/* ---- the schema ---- */

/* The query's columns as fields of a table. */
static silt_status make_shape(struct fit *f)
{
    silt_schema *given = NULL;
    SL_TRY(silt_schema_from_arrow(f->run->session->env, &f->source->columns, &given, f->err));
    struct silt_field *fields = sl_arena_alloc_array(f->run->arena, f->n_source + 1, sizeof(*fields));
    silt_status status = fields != NULL ? SILT_OK : sl_fail_nomem(f->err);
    for (size_t i = 0; i < f->n_source && status == SILT_OK; i++) {
        fields[i] = given->root.fields[i];
        fields[i].name = sl_arena_copy(f->run->arena, f->names[i]); /* ends with NUL, as names of fields do */
        fields[i].nullable = true;
        status = fields[i].name.ptr != NULL ? SILT_OK : sl_fail_nomem(f->err);
    }
    if (status == SILT_OK) {
        status = sl_schema_from_fields(f->run->session->env, fields, f->n_source, &f->out->shape, f->err);
    }
    silt_schema_unref(given);
    return status;
}

/* A column that is nothing but NULL has no type that a table's could be. */
static silt_status check_new_types(struct fit *f, const silt_schema *before)
{
    bool *untyped = NULL;
    for (size_t i = 0; i < f->n_source; i++) {
        if (before != NULL && sl_type_find(&before->root, f->names[i], NULL) != NULL) {
            continue;
        }
        if (untyped == NULL) {
            untyped = sl_arena_alloc_array(f->run->arena, f->n_source, sizeof(*untyped));
            if (untyped == NULL) {
                return sl_fail_nomem(f->err);
            }
            SL_TRY(sl_row_source_untyped(f->run, f->source, untyped, f->err));
        }
        if (untyped[i]) {
            const silt_status status = sl_fail(f->err, SILT_ESCHEMA, "DELTA_UNSUPPORTED_NULL_TYPE_IN_NEW_COLUMN",
                                               "new column %.*s is nothing but NULL, which has no type",
                                               SL_FMT(f->names[i]));
            sl_error_hint(f->err, "give it one: CAST(NULL AS STRING) AS %.*s", SL_FMT(f->names[i]));
            return status;
        }
    }
    return SILT_OK;
}

/* Names with commas between them. */
static silt_status split_names(const struct fit *f, struct sl_str text, struct sl_vec *out)
{
    size_t begin = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != ',') {
            continue;
        }
        const struct sl_str name = sl_str_trim(sl_str_sub(text, begin, i));
        begin = i + 1;
        if (name.len == 0) {
            continue;
        }
        const char **slot = sl_vec_push(out);
        if (slot == NULL || (*slot = sl_arena_strdup(f->run->arena, name)) == NULL) {
            return sl_fail_nomem(f->err);
        }
    }
    return SILT_OK;
}

/* Those of the table's partition columns that the new schema has. */
static silt_status keep_partitioning(const struct fit *f, struct sl_vec *out)
{
    const silt_schema *schema = silt_txn_schema(f->txn);
    for (size_t i = 0; i < schema->root.n_fields; i++) {
        const struct silt_field *field = &schema->root.fields[i];
        if (!sl_txn_is_partition_column(f->txn, field->name) ||
            sl_type_find(&f->out->shape->root, field->name, NULL) == NULL) {
            continue;
        }
        const char **slot = sl_vec_push(out);
        if (slot == NULL) {
            return sl_fail_nomem(f->err);
        }
        *slot = sl_arena_strdup(f->run->arena, field->name); /* the transaction's schema will go */
        if (*slot == NULL) {
            return sl_fail_nomem(f->err);
        }
    }
    return SILT_OK;
}

static silt_status overwrite_schema(struct fit *f)
{
    struct sl_vec names;
    sl_vec_init(&names, f->run->session->env, sizeof(const char *));
    silt_status status = f->way->partition_by.ptr != NULL ? split_names(f, f->way->partition_by, &names)
                                                          : keep_partitioning(f, &names);
    if (status == SILT_OK) {
        status = silt_txn_overwrite_schema(f->txn, f->run->call, f->out->shape, names.data, names.len, f->err);
    }
    sl_vec_release(&names);
    return status;
}

static silt_status evolve(struct fit *f)
{
    if (!f->way->merges && !f->way->overwrites) {
        return SILT_OK;
    }
    SL_TRY(make_shape(f));
    if (f->way->overwrites) {
        SL_TRY(check_new_types(f, NULL));
        return overwrite_schema(f);
    }
    SL_TRY(check_new_types(f, silt_txn_schema(f->txn)));
    return silt_txn_merge_schema(f->txn, f->out->shape, NULL, f->err);
}

/* ---- the mapping ---- */

/* One that is added by whoever asks for it; that is what most who see this want. */
static silt_status unknown_column(const struct fit *f, struct sl_str name)
{
    const silt_status status = sl_fail(f->err, SILT_ESCHEMA, "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                                       "%s has no column %.*s", table_text(f), SL_FMT(name));
    sl_error_hint(f->err, EVOLUTION_HINT);
    return status;
}

static silt_status map_columns(struct fit *f)
{
    const silt_schema *schema = silt_txn_schema(f->txn);
    const size_t n_target = schema->root.n_fields;
    size_t *mapping = sl_arena_alloc_array(f->run->arena, n_target + 1, sizeof(*mapping));
    if (mapping == NULL) {
        return sl_fail_nomem(f->err);
    }
    for (size_t i = 0; i < n_target; i++) {
        mapping[i] = f->out->constants[i].ptr != NULL ? SL_COLUMN_GIVEN : SIZE_MAX;
    }
    for (size_t i = 0; i < f->n_source; i++) {
        size_t index = 0;
        if (sl_type_find(&schema->root, f->names[i], &index) == NULL) {
            return unknown_column(f, f->names[i]);
        }
        if (mapping[index] != SIZE_MAX) {
            return sl_fail(f->err, SILT_ESCHEMA, "COLUMN_ALREADY_EXISTS", "column %.*s is named twice",
                           SL_FMT(f->names[i]));
        }
        mapping[index] = i;
    }
    for (size_t i = 0; i < n_target; i++) {
        const struct silt_field *field = &schema->root.fields[i];
        if (mapping[i] == SIZE_MAX && !field->nullable) {
            return sl_fail(f->err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                           "column %.*s is NOT NULL and gets no value", SL_FMT(field->name));
        }
    }
    f->out->mapping = mapping;
    return SILT_OK;
}

static silt_status check_once(const struct fit *f, silt_error *err)
{
    return f->out->shape != NULL ? sl_txn_check_columns_by_name(f->txn, &f->source->columns, f->out->mapping, err)
                                 : sl_txn_check_columns(f->txn, &f->source->columns, f->out->mapping, err);
}

/*
 * Do the query's columns fit? Those of untyped NULLs are asked for only when a type stands in the way; they leave the mapping, which
 * makes them NULLs of the table's type.
 */
static silt_status check_types(struct fit *f)
{
    bool *untyped = sl_arena_alloc_array(f->run->arena, f->n_source + 1, sizeof(*untyped));
    silt_status status = check_once(f, f->err);
    if (status != SILT_ESCHEMA) {
        return status;
    }
    if (untyped == NULL) {
        return sl_fail_nomem(f->err);
    }
    SL_TRY(sl_row_source_untyped(f->run, f->source, untyped, f->err));
    const silt_schema *schema = silt_txn_schema(f->txn);
    for (size_t i = 0; i < schema->root.n_fields; i++) {
        size_t *from = &f->out->mapping[i];
        if (*from >= f->n_source || !untyped[*from]) {
            continue;
        }
        if (!schema->root.fields[i].nullable) { /* the kernel would call it missing */
            return sl_fail(f->err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                           "NOT NULL constraint violated for column: %.*s", SL_FMT(schema->root.fields[i].name));
        }
        *from = SIZE_MAX;
    }
    silt_error_reset(f->err);
    return check_once(f, f->err);
}

static silt_status fit_all(struct fit *f)
{
    const size_t most = silt_schema_field_count(silt_txn_schema(f->txn)) + f->n_source;
    f->out->constants = sl_arena_alloc_zero(f->run->arena, (most + 1) * sizeof(*f->out->constants));
    if (f->out->constants == NULL) {
        return sl_fail_nomem(f->err);
    }
    for (size_t i = 0; i < f->insert->n_partition; i++) {
        SL_TRY(take_spec(f, &f->insert->partition[i]));
    }
    SL_TRY(name_columns(f));
    SL_TRY(evolve(f));
    SL_TRY(map_columns(f));
    return check_types(f);
}

silt_status sl_insert_columns_fit(struct sl_run *run, struct sl_row_source *source, silt_txn *txn,
                                  const struct sl_insert_way *way, struct sl_insert_columns *out, silt_error *err)
{
    struct fit f = {.run = run,
                    .source = source,
                    .txn = txn,
                    .insert = &run->statement->insert,
                    .way = way,
                    .out = out,
                    .n_source = (size_t)source->columns.n_children,
                    .err = err};
    *out = (struct sl_insert_columns){.mapping = NULL};
    const silt_status status = fit_all(&f);
    if (status != SILT_OK) {
        sl_insert_columns_release(out);
        return status;
    }
    source->constants = out->constants;
    source->shape = out->shape;
    return SILT_OK;
}
