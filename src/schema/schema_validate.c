/*
 * What the schema of a new table, or a changed one, must obey (PROTOCOL.md "Schema Serialization Format"), and the one rule that
 * holds for every table that is read: names are unique regardless of case, since columns are looked up that way in queries
 * and in data files.
 *
 * Called by whoever creates or alters a table, and by snapshots. Pure; any thread.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "schema/schema_int.h"

/* Parquet writers of the Hadoop world refuse these in names; with column mapping the physical name has none of them. */
static const char forbidden_characters[] = " ,;{}()\n\t=";

enum rules {
    RULES_OF_ALL,    /* unique names */
    RULES_OF_MAPPED, /* and names that are text */
    RULES_OF_NEW     /* and names that Parquet can have */
};

struct named {
    uint64_t key;
    size_t index;
};

/* Letters that case folding may change to or from ASCII, or within other alphabets, must not count in the key. */
static bool folds_to_itself(uint32_t c)
{
    return (c >= 0x590 && c < 0x10a0) || (c >= 0x3000 && c < 0xa000);
}

/* Equal names give equal keys; the reverse is checked. Avoids comparing each name with each. */
static uint64_t fold_key(struct sl_str name)
{
    uint64_t key = UINT64_C(14695981039346656037);
    size_t pos = 0;
    uint32_t c = 0;
    while (sl_utf8_next(name, &pos, &c)) {
        if (c >= 'A' && c <= 'Z') {
            c += 'a' - 'A';
        }
        if ((c < 0x80 && c != 'k' && c != 's' && c != 'i') || folds_to_itself(c)) {
            key = (key ^ c) * UINT64_C(1099511628211);
        }
    }
    return key;
}

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static silt_status check_unique(const silt_env *env, const struct silt_type *type, const struct sl_place *place,
                                silt_error *err)
{
    const size_t n = type->n_fields;
    if (n < 2) {
        return SILT_OK;
    }
    struct named *names = sl_alloc_array(env, n, sizeof *names);
    if (names == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        names[i] = (struct named){fold_key(type->fields[i].name), i};
    }
    qsort(names, n, sizeof *names, compare_named);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        for (size_t k = i + 1; k < n && names[k].key == names[i].key; k++) {
            const struct sl_str a = type->fields[names[i].index].name;
            const struct sl_str b = type->fields[names[k].index].name;
            if (sl_str_eq_nocase(a, b)) {
                char text[SL_PLACE_SIZE];
                status = sl_fail(err, SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND",
                                 "columns '%.*s' and '%.*s' of '%s' have the same name (case does not count)",
                                 SL_FMT(a), SL_FMT(b), sl_place_print(place, text));
                break;
            }
        }
    }
    sl_release(env, names, n * sizeof *names);
    return status;
}

static silt_status check_name(struct sl_str name, const struct sl_place *place, enum rules rules, silt_error *err)
{
    char text[SL_PLACE_SIZE];
    if (name.len == 0) {
        return sl_fail(err, SILT_ESCHEMA, NULL, "a column of '%s' has an empty name", sl_place_print(place->up, text));
    }
    if (!sl_utf8_valid(name)) {
        return sl_fail(err, SILT_ESCHEMA, NULL, "the name of a column of '%s' is not UTF-8",
                       sl_place_print(place->up, text));
    }
    for (size_t i = 0; i < name.len && rules == RULES_OF_NEW; i++) {
        if (name.ptr[i] == '\0' || strchr(forbidden_characters, name.ptr[i]) != NULL) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
                           "the name of column '%s' contains one of the characters \" ,;{}()\\n\\t=\", which need "
                           "column mapping",
                           sl_place_print(place, text));
        }
    }
    return SILT_OK;
}

static silt_status check_type(const silt_env *env, const struct silt_type *type, const struct sl_place *place,
                              enum rules rules, silt_error *err)
{
    SL_TRY(sl_place_check(place, err));
    if (type->kind == SILT_TYPE_STRUCT) {
        SL_TRY(check_unique(env, type, place, err));
        for (size_t i = 0; i < type->n_fields; i++) {
            const struct sl_place at = {place, type->fields[i].name, place->depth + 1};
            SL_TRY(rules != RULES_OF_ALL ? check_name(type->fields[i].name, &at, rules, err) : SILT_OK);
            SL_TRY(check_type(env, type->fields[i].type, &at, rules, err));
        }
    }
    if (type->kind == SILT_TYPE_MAP) {
        const struct sl_place at = {place, SL_STR("key"), place->depth + 1};
        SL_TRY(check_type(env, type->key, &at, rules, err));
    }
    if (type->kind == SILT_TYPE_MAP || type->kind == SILT_TYPE_ARRAY) {
        const bool is_map = type->kind == SILT_TYPE_MAP;
        const struct sl_place at = {place, is_map ? SL_STR("value") : SL_STR("element"), place->depth + 1};
        SL_TRY(check_type(env, type->element, &at, rules, err));
    }
    return SILT_OK;
}

silt_status sl_schema_validate(const silt_schema *schema, silt_error *err)
{
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    return check_type(schema->env, &schema->root, &top, RULES_OF_NEW, err);
}

silt_status sl_schema_validate_mapped(const silt_schema *schema, silt_error *err)
{
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    return check_type(schema->env, &schema->root, &top, RULES_OF_MAPPED, err);
}

silt_status sl_schema_validate_unique(const silt_schema *schema, silt_error *err)
{
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    return check_type(schema->env, &schema->root, &top, RULES_OF_ALL, err);
}

static silt_status check_partition_column(const silt_schema *schema, const struct sl_str *columns, size_t i,
                                          silt_error *err)
{
    const struct silt_field *field = sl_type_find(&schema->root, columns[i], NULL);
    if (field == NULL) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_PARTITION_COLUMN_NOT_FOUND",
                       "partition column '%.*s' is not in the schema", SL_FMT(columns[i]));
    }
    if (sl_type_is_nested(field->type) || field->type->kind == SILT_TYPE_VARIANT ||
        field->type->kind == SILT_TYPE_VOID) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_INVALID_PARTITION_COLUMN_TYPE",
                       "partition column '%.*s' must have an atomic type that can be compared", SL_FMT(columns[i]));
    }
    for (size_t k = 0; k < i; k++) {
        if (sl_str_eq_nocase(columns[k], columns[i])) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND", "partition column '%.*s' is named twice",
                           SL_FMT(columns[i]));
        }
    }
    return SILT_OK;
}

silt_status sl_schema_validate_partitioning(const silt_schema *schema, const struct sl_str *columns, size_t n,
                                            silt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        SL_TRY(check_partition_column(schema, columns, i, err));
    }
    if (n > 0 && n >= schema->root.n_fields) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
                       "all columns are partition columns, at least one must hold data");
    }
    return SILT_OK;
}
