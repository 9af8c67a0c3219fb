/*
 * Arrow schemas as Delta schemas: large, view, dictionary and run-end forms become their plain type, unsigned integers the
 * next wider signed one, units of time microseconds.
 *
 * Called by writers that take a caller's data. The structs come from other libraries: counts and pointers are checked, depth
 * is limited. What Delta has no type for is SILT_ESCHEMA with the column's name. Pure; any thread.
 */
#include "base/error.h"
#include "base/utf8.h"
#include "schema/arrow_format.h"
#include "schema/schema_int.h"

#define EXTENSION_KEY "ARROW:extension:name"
#define MAX_METADATA_PAIRS 100000
#define MAX_METADATA_BYTES (1 << 24)

struct importer {
    struct sl_arena *arena;
    size_t n_fields;
    silt_error *err;
};

static silt_status fail_at(const struct importer *im, const struct sl_place *place, const char *what)
{
    char text[SL_PLACE_SIZE];
    return sl_fail(im->err, SILT_ESCHEMA, NULL, "column '%s': %s", sl_place_print(place, text), what);
}

/* A length in native byte order, as the C Data interface encodes metadata; the block carries no total size. */
static bool read_length(const char **at, int32_t max, int32_t *out)
{
    memcpy(out, *at, sizeof *out);
    *at += sizeof *out;
    return *out >= 0 && *out <= max;
}

/* Value of a metadata key, absent if it is not there. */
static struct sl_str find_metadata(const char *metadata, struct sl_str key)
{
    const struct sl_str absent = {NULL, 0};
    int32_t n = 0;
    if (metadata == NULL || !read_length(&metadata, MAX_METADATA_PAIRS, &n)) {
        return absent;
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t len = 0;
        if (!read_length(&metadata, MAX_METADATA_BYTES, &len)) {
            return absent;
        }
        const struct sl_str name = sl_str_make(metadata, (size_t)len);
        metadata += len;
        if (!read_length(&metadata, MAX_METADATA_BYTES, &len)) {
            return absent;
        }
        if (sl_str_eq(name, key)) {
            return sl_str_make(metadata, (size_t)len);
        }
        metadata += len;
    }
    return absent;
}

static bool has_children(const struct ArrowSchema *schema, int64_t n)
{
    if (schema->n_children != n || (n > 0 && schema->children == NULL)) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        if (schema->children[i] == NULL || schema->children[i]->format == NULL) {
            return false;
        }
    }
    return true;
}

static bool is_variant(const struct ArrowSchema *schema)
{
    const struct sl_str extension = find_metadata(schema->metadata, SL_STR(EXTENSION_KEY));
    if (!sl_str_eq_c(extension, "arrow.parquet.variant") && !sl_str_eq_c(extension, "parquet.variant")) {
        return false;
    }
    return has_children(schema, 2);
}

static silt_status import_type(struct importer *im, const struct ArrowSchema *schema, const struct sl_place *place,
                               const struct silt_type **out);

static silt_status import_field(struct importer *im, const struct ArrowSchema *schema, const struct sl_place *up,
                                struct silt_field *field)
{
    const struct sl_str name = schema->name != NULL ? sl_str_from(schema->name) : SL_STR("");
    const struct sl_place place = {up, name, up->depth + 1};
    if (++im->n_fields > SL_SCHEMA_MAX_FIELDS) {
        return sl_fail(im->err, SILT_ELIMIT, NULL, "the schema has more than %d columns", SL_SCHEMA_MAX_FIELDS);
    }
    if (!sl_utf8_valid(name)) {
        return fail_at(im, up, "the name of a column is not UTF-8");
    }
    field->name = sl_arena_copy(im->arena, name);
    if (field->name.ptr == NULL) {
        return sl_fail_nomem(im->err);
    }
    field->nullable = (schema->flags & ARROW_FLAG_NULLABLE) != 0;
    return import_type(im, schema, &place, &field->type);
}

static silt_status import_struct(struct importer *im, const struct ArrowSchema *schema, const struct sl_place *place,
                                 struct silt_type *type)
{
    if (schema->n_children < 0 || schema->n_children > SL_SCHEMA_MAX_FIELDS ||
        !has_children(schema, schema->n_children)) {
        return fail_at(im, place, "the Arrow struct is malformed");
    }
    const size_t n = (size_t)schema->n_children;
    type->kind = SILT_TYPE_STRUCT;
    type->fields = sl_arena_alloc_array(im->arena, n > 0 ? n : 1, sizeof *type->fields);
    if (type->fields == NULL) {
        return sl_fail_nomem(im->err);
    }
    for (size_t i = 0; i < n; i++) {
        SL_TRY(import_field(im, schema->children[i], place, &type->fields[i]));
        type->n_fields++;
    }
    return SILT_OK;
}

static silt_status import_child(struct importer *im, const struct ArrowSchema *schema, struct sl_str name,
                                const struct sl_place *up, const struct silt_type **out)
{
    const struct sl_place place = {up, name, up->depth + 1};
    return import_type(im, schema, &place, out);
}

static silt_status import_list(struct importer *im, const struct ArrowSchema *schema, const struct sl_place *place,
                               struct silt_type *type)
{
    if (!has_children(schema, 1)) {
        return fail_at(im, place, "the Arrow list is malformed");
    }
    type->kind = SILT_TYPE_ARRAY;
    type->contains_null = (schema->children[0]->flags & ARROW_FLAG_NULLABLE) != 0;
    return import_child(im, schema->children[0], SL_STR("element"), place, &type->element);
}

static silt_status import_map(struct importer *im, const struct ArrowSchema *schema, const struct sl_place *place,
                              struct silt_type *type)
{
    if (!has_children(schema, 1) || strcmp(schema->children[0]->format, "+s") != 0 ||
        !has_children(schema->children[0], 2)) {
        return fail_at(im, place, "the Arrow map is malformed");
    }
    struct ArrowSchema *const *entry = schema->children[0]->children;
    type->kind = SILT_TYPE_MAP;
    type->contains_null = (entry[1]->flags & ARROW_FLAG_NULLABLE) != 0;
    SL_TRY(import_child(im, entry[0], SL_STR("key"), place, &type->key));
    return import_child(im, entry[1], SL_STR("value"), place, &type->element);
}

static silt_status import_type(struct importer *im, const struct ArrowSchema *schema, const struct sl_place *place,
                               const struct silt_type **out)
{
    struct sl_arrow_format format;
    SL_TRY(sl_place_check(place, im->err));
    if (schema->dictionary != NULL) {
        const struct sl_place below = {place->up, place->name, place->depth + 1};
        return import_type(im, schema->dictionary, &below, out);
    }
    if (!sl_arrow_format_parse(schema->format, &format)) {
        char text[SL_PLACE_SIZE];
        return sl_fail(im->err, SILT_ESCHEMA, "DELTA_UNSUPPORTED_DATA_TYPES",
                       "column '%s' has the Arrow format '%s', which has no Delta type", sl_place_print(place, text),
                       schema->format != NULL ? schema->format : "(none)");
    }
    if (format.layout == SL_ARROW_RUN_END) {
        const struct sl_place below = {place->up, place->name, place->depth + 1};
        return has_children(schema, 2) ? import_type(im, schema->children[1], &below, out)
                                       : fail_at(im, place, "the Arrow run-end array is malformed");
    }
    struct silt_type *type = sl_arena_alloc_zero(im->arena, sizeof *type);
    if (type == NULL) {
        return sl_fail_nomem(im->err);
    }
    *out = type;
    type->kind = format.kind;
    type->precision = format.precision;
    type->scale = format.scale;
    switch (format.layout) {
    case SL_ARROW_STRUCT:
        if (is_variant(schema)) {
            type->kind = SILT_TYPE_VARIANT;
            return SILT_OK;
        }
        return import_struct(im, schema, place, type);
    case SL_ARROW_LIST: return import_list(im, schema, place, type);
    case SL_ARROW_MAP: return import_map(im, schema, place, type);
    default: return SILT_OK;
    }
}

silt_status silt_schema_from_arrow(const silt_env *env, const struct ArrowSchema *arrow, silt_schema **out,
                                   silt_error *err)
{
    *out = NULL;
    if (arrow == NULL || arrow->release == NULL || arrow->format == NULL || strcmp(arrow->format, "+s") != 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "the Arrow schema is not a live struct schema");
    }
    silt_schema *schema = NULL;
    SL_TRY(sl_schema_new(env, &schema, err));
    struct importer im = {&schema->arena, 0, err};
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    const silt_status status = import_struct(&im, arrow, &top, &schema->root);
    if (status != SILT_OK) {
        silt_schema_unref(schema);
        return status;
    }
    *out = schema;
    return SILT_OK;
}
