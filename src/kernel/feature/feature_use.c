/*
 * Whether a feature is in use by a table's metadata, decided by the table in features.def: a property, a key in a column's
 * metadata, or a type. Called by the gate and by protocol planning; pure, any thread. PROTOCOL.md "Active Features".
 */
#include "kernel/feature/feature_int.h"

#include <stdio.h>

enum use_kind {
    USE_UNSEEN,
    USE_PROPERTY_TRUE,
    USE_PROPERTY_IS,
    USE_PROPERTY_OTHER,
    USE_PROPERTY_PREFIX,
    USE_FIELD_KEY,
    USE_TYPE
};

struct use_test {
    enum use_kind kind;
    const char *key;
    const char *value;
    bool unused_is_free;
};

#define UNUSED_FREE true
#define UNUSED_BLOCKS false
#define SL_FEATURE(name, scope, legacy_reader, legacy_writer, read, write, use, key, value, unused) \
    {USE_##use, key, value, unused},
static const struct use_test tests[] = {
#include "kernel/feature/features.def"
};
#undef SL_FEATURE
#undef UNUSED_FREE
#undef UNUSED_BLOCKS

struct type_search {
    const struct use_test *test;
    const struct silt_field *found; /* the field that matched, or holds what matched */
};

static bool type_is_named(const struct silt_type *type, const char *name)
{
    switch (type->kind) {
    case SILT_TYPE_TIMESTAMP_NTZ: return strcmp(name, "timestamp_ntz") == 0;
    case SILT_TYPE_VARIANT: return strcmp(name, "variant") == 0;
    default: return false;
    }
}

static bool search_type(struct type_search *search, const struct silt_type *type);

static bool search_fields(struct type_search *search, const struct silt_type *type)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        const bool here = search->test->kind == USE_FIELD_KEY &&
                          sl_field_meta_text(field, sl_str_from(search->test->key)).ptr != NULL;
        if (here || search_type(search, field->type)) {
            search->found = search->found != NULL ? search->found : field;
            return true;
        }
    }
    return false;
}

/* The depth of a schema is bounded when it is made (SL_SCHEMA_MAX_DEPTH), and with it this recursion. */
static bool search_type(struct type_search *search, const struct silt_type *type)
{
    if (search->test->kind == USE_TYPE && type_is_named(type, search->test->key)) {
        return true;
    }
    switch (type->kind) {
    case SILT_TYPE_STRUCT: return search_fields(search, type);
    case SILT_TYPE_ARRAY: return search_type(search, type->element);
    case SILT_TYPE_MAP: return search_type(search, type->key) || search_type(search, type->element);
    default: return false;
    }
}

static bool schema_shows(const struct use_test *test, const silt_schema *schema, char detail[SL_FEATURE_DETAIL_SIZE])
{
    if (schema == NULL) {
        return false;
    }
    struct type_search search = {test, NULL};
    if (!search_fields(&search, &schema->root)) {
        return false;
    }
    const struct sl_str name = search.found->name;
    const int cut = (int)(name.len < 64 ? name.len : 64);
    (void)snprintf(detail, SL_FEATURE_DETAIL_SIZE,
                   test->kind == USE_TYPE ? "column %.*s holds type %s" : "column %.*s has %s", cut, name.ptr,
                   test->key); /* a cut text still names the column */
    return true;
}

static bool property_shows(const struct use_test *test, const struct sl_kv_list *config)
{
    bool found = false;
    const struct sl_str value = sl_kv_get(config, sl_str_from(test->key), &found);
    switch (test->kind) {
    case USE_PROPERTY_TRUE: return sl_property_bool(config, test->key);
    case USE_PROPERTY_IS: return found && sl_str_eq_nocase(value, sl_str_from(test->value));
    case USE_PROPERTY_OTHER: return found && value.ptr != NULL && !sl_str_eq_nocase(value, sl_str_from(test->value));
    default: return false;
    }
}

static bool prefix_shows(const struct use_test *test, const struct sl_kv_list *config,
                         char detail[SL_FEATURE_DETAIL_SIZE])
{
    const struct sl_str prefix = sl_str_from(test->key);
    for (size_t i = 0; i < config->n; i++) {
        const struct sl_str key = config->items[i].key;
        /* Spark takes the prefix in any case. */
        if (key.len > prefix.len && sl_str_eq_nocase(sl_str_sub(key, 0, prefix.len), prefix)) {
            const int cut = (int)(key.len < 100 ? key.len : 100);
            (void)snprintf(detail, SL_FEATURE_DETAIL_SIZE, "table property %.*s", cut, key.ptr); /* as above */
            return true;
        }
    }
    return false;
}

bool sl_feature_in_use(size_t index, const struct sl_kv_list *config, const silt_schema *schema,
                       char detail[SL_FEATURE_DETAIL_SIZE])
{
    const struct use_test *test = &tests[index];
    detail[0] = '\0';
    switch (test->kind) {
    case USE_UNSEEN: return false;
    case USE_FIELD_KEY:
    case USE_TYPE: return schema_shows(test, schema, detail);
    case USE_PROPERTY_PREFIX: return prefix_shows(test, config, detail);
    case USE_PROPERTY_TRUE:
    case USE_PROPERTY_IS:
    case USE_PROPERTY_OTHER: break;
    }
    if (!property_shows(test, config)) {
        return false;
    }
    (void)snprintf(detail, SL_FEATURE_DETAIL_SIZE, "table property %s", test->key); /* keys of the table fit */
    return true;
}

sl_feature_set sl_feature_used(const struct sl_kv_list *config, const silt_schema *schema)
{
    sl_feature_set set = 0;
    char detail[SL_FEATURE_DETAIL_SIZE];
    for (size_t i = 0; i < sl_feature_count(); i++) {
        if (sl_feature_in_use(i, config, schema, detail)) {
            set |= UINT64_C(1) << i;
        }
    }
    return set;
}

bool sl_feature_is_constraint(size_t index)
{
    const struct use_test *test = &tests[index];
    return (test->kind == USE_PROPERTY_PREFIX && strcmp(test->key, "delta.constraints.") == 0) ||
           (test->kind == USE_FIELD_KEY && strcmp(test->key, "delta.invariants") == 0);
}

bool sl_feature_unused_is_free(size_t index)
{
    return tests[index].unused_is_free;
}
