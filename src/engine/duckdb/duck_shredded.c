/*
 * Shredded variants: parts of a variant may stand in typed columns beside its bytes. Puts the bytes together again, row by row, out of
 * DuckDB's vectors. A field that has neither bytes nor a typed value is missing. Parquet's "Variant Shredding".
 *
 * Called by duck_variant_sql.c on DuckDB's threads; all state is the caller's.
 */
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "duck_variant.h"
#include "schema/variant_build.h"

/* A vector and what is known of it. */
struct column {
    duckdb_vector vector; /* NULL: there is none */
    uint64_t *validity;   /* NULL: all valid */
    void *data;
    duckdb_type type;
    duckdb_type storage; /* of decimals */
    uint8_t scale;
    uint8_t width; /* bytes of a decimal in the encoding */
};

/* A value and its typed counterpart; of the whole variant, a field, or elements. */
struct part {
    struct sl_str name; /* of a field */
    struct column value;
    struct column typed;
    struct part *parts; /* fields of an object, element of an array */
    size_t n;
};

struct sl_shredded {
    const silt_env *env;
    struct column metadata;
    struct part whole;
};

/* ---- opening ---- */

static struct column open_column(duckdb_vector vector)
{
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    struct column column = {.vector = vector,
                            .validity = duckdb_vector_get_validity(vector),
                            .data = duckdb_vector_get_data(vector),
                            .type = duckdb_get_type_id(type)};
    if (column.type == DUCKDB_TYPE_DECIMAL) {
        const uint8_t precision = duckdb_decimal_width(type);
        column.storage = duckdb_decimal_internal_type(type);
        column.scale = duckdb_decimal_scale(type);
        column.width = precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
    }
    duckdb_destroy_logical_type(&type);
    return column;
}

static bool open_part(struct sl_arena *arena, duckdb_vector vector, struct part *out);

static bool open_fields(struct sl_arena *arena, struct part *out)
{
    duckdb_logical_type type = duckdb_vector_get_column_type(out->typed.vector);
    out->n = duckdb_struct_type_child_count(type);
    out->parts = sl_arena_alloc_array(arena, out->n, sizeof(*out->parts));
    bool fine = out->parts != NULL;
    for (size_t i = 0; i < out->n && fine; i++) {
        char *name = duckdb_struct_type_child_name(type, i);
        out->parts[i].name = sl_arena_copy(arena, sl_str_from(name));
        duckdb_free(name);
        fine = out->parts[i].name.ptr != NULL &&
               open_part(arena, duckdb_struct_vector_get_child(out->typed.vector, i), &out->parts[i]);
    }
    duckdb_destroy_logical_type(&type);
    return fine;
}

/* Which members a struct has. Recursion is as deep as the type is. */
static bool open_part(struct sl_arena *arena, duckdb_vector vector, struct part *out)
{
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    bool fine = duckdb_get_type_id(type) == DUCKDB_TYPE_STRUCT;
    const idx_t n = fine ? duckdb_struct_type_child_count(type) : 0;
    for (idx_t i = 0; i < n; i++) {
        char *name = duckdb_struct_type_child_name(type, i);
        const struct sl_str text = sl_str_from(name);
        if (sl_str_eq_c(text, "value")) {
            out->value = open_column(duckdb_struct_vector_get_child(vector, i));
        } else if (sl_str_eq_c(text, "typed_value")) {
            out->typed = open_column(duckdb_struct_vector_get_child(vector, i));
        }
        duckdb_free(name);
    }
    duckdb_destroy_logical_type(&type);
    if (!fine || (out->value.vector != NULL && out->value.type != DUCKDB_TYPE_BLOB)) {
        return false;
    }
    if (out->typed.vector != NULL && out->typed.type == DUCKDB_TYPE_STRUCT) {
        return open_fields(arena, out);
    }
    if (out->typed.vector != NULL && out->typed.type == DUCKDB_TYPE_LIST) {
        out->n = 1;
        out->parts = sl_arena_alloc_array(arena, 1, sizeof(*out->parts));
        return out->parts != NULL && open_part(arena, duckdb_list_vector_get_child(out->typed.vector), &out->parts[0]);
    }
    return out->value.vector != NULL || out->typed.vector != NULL;
}

struct sl_shredded *sl_shredded_open(struct sl_arena *arena, duckdb_vector vector)
{
    struct sl_shredded *shredded = sl_arena_alloc_zero(arena, sizeof(*shredded));
    if (shredded == NULL || !open_part(arena, vector, &shredded->whole)) {
        return NULL;
    }
    shredded->env = arena->env;
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type); i++) {
        char *name = duckdb_struct_type_child_name(type, i);
        if (sl_str_eq_c(sl_str_from(name), "metadata")) {
            shredded->metadata = open_column(duckdb_struct_vector_get_child(vector, i));
        }
        duckdb_free(name);
    }
    duckdb_destroy_logical_type(&type);
    return shredded->metadata.vector != NULL && shredded->metadata.type == DUCKDB_TYPE_BLOB ? shredded : NULL;
}

/* ---- cells ---- */

static bool is_there(const struct column *column, idx_t row)
{
    return column->vector != NULL && (column->validity == NULL || duckdb_validity_row_is_valid(column->validity, row));
}

static struct sl_str bytes_at(const struct column *column, idx_t row)
{
    duckdb_string_t *cell = (duckdb_string_t *)column->data + row;
    return sl_str_make(duckdb_string_t_data(cell), duckdb_string_t_length(*cell));
}

bool sl_shredded_is_null(const struct sl_shredded *shredded, idx_t row)
{
    const struct part *whole = &shredded->whole;
    if (is_there(&whole->typed, row)) {
        return false;
    }
    if (!is_there(&whole->value, row)) {
        return true;
    }
    const struct sl_str value = bytes_at(&whole->value, row);
    return value.len > 0 && value.ptr[0] == 0;
}

/* ---- putting together ---- */

struct work {
    struct sl_variant_names names;
    struct sl_str metadata;
    struct sl_buf *out;
    struct sl_vec members; /* struct sl_variant_member, a stack */
    silt_error *err;
};

static silt_status fail(const struct work *work, const char *what)
{
    return sl_fail(work->err, SILT_ECORRUPT, "MALFORMED_VARIANT", "a shredded variant is malformed: %s", what);
}

/* The member is the last of the stack. */
static silt_status push_member(struct work *work, struct sl_str name, uint32_t id)
{
    struct sl_variant_member *member = sl_vec_push(&work->members);
    if (member == NULL) {
        return sl_fail_nomem(work->err);
    }
    *member = (struct sl_variant_member){name, id, work->out->len};
    return SILT_OK;
}

static silt_status find_id(const struct work *work, struct sl_str name, uint32_t *id)
{
    for (uint32_t i = 0; i < work->names.n; i++) {
        struct sl_str known;
        if (sl_variant_name(&work->names, i, &known) && sl_str_eq(known, name)) {
            *id = i;
            return SILT_OK;
        }
    }
    return fail(work, "a field's name is not in its metadata");
}

static void put_decimal(struct sl_buf *out, const struct column *column, idx_t row)
{
    sl_i128 value = 0;
    switch (column->storage) {
    case DUCKDB_TYPE_SMALLINT: value = ((const int16_t *)column->data)[row]; break;
    case DUCKDB_TYPE_INTEGER: value = ((const int32_t *)column->data)[row]; break;
    case DUCKDB_TYPE_BIGINT: value = ((const int64_t *)column->data)[row]; break;
    default: {
        const duckdb_hugeint *wide = (const duckdb_hugeint *)column->data + row;
        value = sl_i128_make(wide->upper, wide->lower);
    }
    }
    sl_variant_put_decimal(out, value, column->scale, column->width);
}

/* DuckDB keeps a UUID as a number whose highest bit is turned, so that it sorts as its text does. */
static void put_uuid(struct sl_buf *out, const struct column *column, idx_t row)
{
    const duckdb_hugeint *wide = (const duckdb_hugeint *)column->data + row;
    const uint64_t halves[2] = {(uint64_t)wide->upper ^ UINT64_C(1) << 63, wide->lower};
    char bytes[16];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)(halves[i / 8] >> (56 - 8 * (i % 8)) & 0xFF);
    }
    sl_variant_put_uuid(out, sl_str_make(bytes, sizeof(bytes)));
}

static silt_status put_scalar(const struct work *work, const struct column *column, idx_t row)
{
    struct sl_buf *out = work->out;
    const void *data = column->data;
    switch (column->type) {
    case DUCKDB_TYPE_BOOLEAN: sl_variant_put_bool(out, ((const bool *)data)[row]); break;
    case DUCKDB_TYPE_TINYINT: sl_variant_put_int(out, ((const int8_t *)data)[row], 1); break;
    case DUCKDB_TYPE_SMALLINT: sl_variant_put_int(out, ((const int16_t *)data)[row], 2); break;
    case DUCKDB_TYPE_INTEGER: sl_variant_put_int(out, ((const int32_t *)data)[row], 4); break;
    case DUCKDB_TYPE_BIGINT: sl_variant_put_int(out, ((const int64_t *)data)[row], 8); break;
    case DUCKDB_TYPE_FLOAT: sl_variant_put_float(out, ((const float *)data)[row]); break;
    case DUCKDB_TYPE_DOUBLE: sl_variant_put_double(out, ((const double *)data)[row]); break;
    case DUCKDB_TYPE_DECIMAL: put_decimal(out, column, row); break;
    case DUCKDB_TYPE_VARCHAR: sl_variant_put_text(out, bytes_at(column, row)); break;
    case DUCKDB_TYPE_BLOB: sl_variant_put_binary(out, bytes_at(column, row)); break;
    case DUCKDB_TYPE_UUID: put_uuid(out, column, row); break;
    case DUCKDB_TYPE_DATE: sl_variant_put_time(out, SL_VARIANT_DATE, ((const int32_t *)data)[row]); break;
    case DUCKDB_TYPE_TIME: sl_variant_put_time(out, SL_VARIANT_TIME, ((const int64_t *)data)[row]); break;
    case DUCKDB_TYPE_TIMESTAMP: sl_variant_put_time(out, SL_VARIANT_TIMESTAMP_NTZ, ((const int64_t *)data)[row]); break;
    case DUCKDB_TYPE_TIMESTAMP_TZ: sl_variant_put_time(out, SL_VARIANT_TIMESTAMP, ((const int64_t *)data)[row]); break;
    case DUCKDB_TYPE_TIMESTAMP_NS:
        sl_variant_put_time(out, SL_VARIANT_TIMESTAMP_NTZ_NS, ((const int64_t *)data)[row]);
        break;
    default: return fail(work, "a typed value has a type that variants do not have");
    }
    return SILT_OK;
}

/* Bytes that are there as they are; they must be sound by themselves. */
static silt_status put_bytes(const struct work *work, struct sl_str value)
{
    struct sl_variant_value head;
    SL_TRY(sl_variant_check(work->metadata, value, NULL, work->err));
    SL_TRY(sl_variant_read(value, &head, work->err));
    sl_buf_put(work->out, value.ptr, head.len);
    return SILT_OK;
}

/* What of an object is not shredded. */
static silt_status put_rest(struct work *work, struct sl_str value, size_t base)
{
    struct sl_variant_value rest;
    SL_TRY(sl_variant_check(work->metadata, value, NULL, work->err));
    SL_TRY(sl_variant_read(value, &rest, work->err));
    if (rest.kind != SL_VARIANT_OBJECT) {
        return fail(work, "it is an object and something else");
    }
    const size_t n_typed = work->members.len;
    for (uint32_t i = 0; i < rest.n; i++) {
        struct sl_str item;
        struct sl_str name;
        struct sl_variant_value head;
        uint32_t id = 0;
        if (!sl_variant_item(&rest, i, &item, &id) || !sl_variant_name(&work->names, id, &name)) {
            return fail(work, "a member lies outside");
        }
        for (size_t j = base; j < n_typed; j++) {
            if (sl_str_eq(((const struct sl_variant_member *)sl_vec_at(&work->members, j))->name, name)) {
                return fail(work, "a field is there twice");
            }
        }
        SL_TRY(sl_variant_read(item, &head, work->err));
        SL_TRY(push_member(work, name, id));
        sl_buf_put(work->out, item.ptr, head.len);
    }
    return SILT_OK;
}

static silt_status put_part(struct work *work, const struct part *part, idx_t row);

static bool is_missing(const struct part *part, idx_t row)
{
    return !is_there(&part->value, row) && !is_there(&part->typed, row);
}

static silt_status put_object(struct work *work, const struct part *part, idx_t row)
{
    const size_t begin = work->out->len;
    const size_t base = work->members.len;
    for (size_t i = 0; i < part->n; i++) {
        const struct part *field = &part->parts[i];
        uint32_t id = 0;
        if (!is_missing(field, row)) {
            SL_TRY(find_id(work, field->name, &id));
            SL_TRY(push_member(work, field->name, id));
            SL_TRY(put_part(work, field, row));
        }
    }
    if (is_there(&part->value, row)) {
        SL_TRY(put_rest(work, bytes_at(&part->value, row), base));
    }
    const size_t n = work->members.len - base;
    sl_variant_close_object(work->out, begin, n > 0 ? sl_vec_at(&work->members, base) : NULL, n);
    work->members.len = base;
    return SILT_OK;
}

static silt_status put_array(struct work *work, const struct part *part, idx_t row)
{
    const size_t begin = work->out->len;
    const size_t base = work->members.len;
    const duckdb_list_entry entry = ((const duckdb_list_entry *)part->typed.data)[row];
    for (uint64_t i = 0; i < entry.length; i++) {
        SL_TRY(push_member(work, SL_STR(""), 0));
        SL_TRY(put_part(work, &part->parts[0], entry.offset + i));
    }
    const size_t n = work->members.len - base;
    sl_variant_close_array(work->out, begin, n > 0 ? sl_vec_at(&work->members, base) : NULL, n);
    work->members.len = base;
    return SILT_OK;
}

/* Recursion is as deep as the type is. What is missing where it may not be is null. */
static silt_status put_part(struct work *work, const struct part *part, idx_t row)
{
    if (is_there(&part->typed, row)) {
        if (part->typed.type == DUCKDB_TYPE_STRUCT) {
            return put_object(work, part, row);
        }
        if (is_there(&part->value, row)) {
            return fail(work, "a value is there twice");
        }
        return part->typed.type == DUCKDB_TYPE_LIST ? put_array(work, part, row) : put_scalar(work, &part->typed, row);
    }
    if (is_there(&part->value, row)) {
        return put_bytes(work, bytes_at(&part->value, row));
    }
    sl_variant_put_null(work->out);
    return SILT_OK;
}

silt_status sl_shredded_put(const struct sl_shredded *shredded, idx_t row, struct sl_str *metadata, struct sl_buf *out,
                            silt_error *err)
{
    struct work work = {.out = out, .err = err};
    if (!is_there(&shredded->metadata, row)) {
        return fail(&work, "it has no metadata");
    }
    work.metadata = bytes_at(&shredded->metadata, row);
    SL_TRY(sl_variant_names_open(work.metadata, &work.names, err));
    *metadata = sl_str_sub(work.metadata, 0, work.names.size);
    sl_vec_init(&work.members, shredded->env, sizeof(struct sl_variant_member));
    silt_status status = put_part(&work, &shredded->whole, row);
    sl_vec_release(&work.members);
    return status == SILT_OK ? sl_buf_status(out, err) : status;
}
