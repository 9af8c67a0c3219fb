/*
 * A Parquet footer's bytes → its schema and what it says of its writer. DuckDB's parquet_schema tells the same, but opens files one by
 * one for 40 to 80 µs each and keeps all of them open; this takes 5.
 *
 * A node's type is what DuckDB makes of it, since that is what a scan gets; one that DuckDB refuses is absent. Pure; any thread.
 */
#include "duck_footer.h"

#include <stdio.h>

#include "base/error.h"
#include "base/thrift.h"

/* parquet.thrift: Type, ConvertedType, fields of the union LogicalType. */
enum {
    BOOLEAN = 0,
    INT32 = 1,
    INT64 = 2,
    INT96 = 3,
    FLOAT = 4,
    DOUBLE = 5,
    BYTE_ARRAY = 6,
    FIXED = 7,
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_MAP_KEY_VALUE = 2,
    CONVERTED_LIST = 3,
    CONVERTED_DECIMAL = 5,
    CONVERTED_MICROS = 10,
    LOGICAL_TIME = 7,
    LOGICAL_TIMESTAMP = 8,
    LOGICAL_UNKNOWN = 11,
    LOGICAL_UUID = 14,
    LOGICAL_FLOAT16 = 15,
    LOGICAL_VARIANT = 16,
    UNIT_MICROS = 2,
    UNIT_NANOS = 3,
    REPEATED = 2
};

/* A SchemaElement as it is written; -1 for what is not there. */
struct element {
    struct sl_str name;
    int64_t type;
    int64_t type_length;
    int64_t repetition;
    int64_t n_children;
    int64_t converted;
    int64_t scale;
    int64_t precision;
    int64_t field_id;
    int32_t logical; /* 0: none */
    int32_t unit;    /* of LOGICAL_TIME, LOGICAL_TIMESTAMP */
    bool in_utc;
};

/* ---- reading ---- */

static void read_unit(struct sl_thrift *in, struct element *out)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        out->unit = field.id;
        sl_thrift_skip(in, field.type);
    }
}

static void read_time(struct sl_thrift *in, struct element *out)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 1 && (field.type == SL_THRIFT_TRUE || field.type == SL_THRIFT_FALSE)) {
            out->in_utc = field.type == SL_THRIFT_TRUE;
        } else if (field.id == 2 && field.type == SL_THRIFT_STRUCT) {
            read_unit(in, out);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static void read_logical(struct sl_thrift *in, struct element *out)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        out->logical = field.id;
        if ((field.id == LOGICAL_TIME || field.id == LOGICAL_TIMESTAMP) && field.type == SL_THRIFT_STRUCT) {
            read_time(in, out);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static void read_element(struct sl_thrift *in, struct element *out)
{
    int64_t *const numbers[] = {
        NULL,        &out->type,      &out->type_length, &out->repetition, NULL, &out->n_children, &out->converted,
        &out->scale, &out->precision, &out->field_id};
    struct sl_thrift_field field = {0};
    *out = (struct element){
        .type = -1, .type_length = -1, .repetition = -1, .converted = -1, .scale = -1, .precision = -1, .field_id = -1};
    while (sl_thrift_next(in, &field)) {
        if (field.type == SL_THRIFT_I32 && field.id < 10 && numbers[field.id] != NULL) {
            *numbers[field.id] = sl_thrift_int(in);
        } else if (field.id == 4 && field.type == SL_THRIFT_BINARY) {
            out->name = sl_thrift_bytes(in);
        } else if (field.id == 10 && field.type == SL_THRIFT_STRUCT) {
            read_logical(in, out);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

/* ---- types ---- */

/* What a converted type means on a physical one; NULL: nothing that DuckDB would read. */
static const struct {
    int8_t converted;
    int8_t physical;
    const char *type;
} CONVERTED[] = {
    {0, BYTE_ARRAY, "VARCHAR"}, {0, FIXED, "VARCHAR"},   {4, BYTE_ARRAY, "VARCHAR"}, {4, FIXED, "VARCHAR"},
    {6, INT32, "DATE"},         {7, INT32, "TIME"},      {8, INT64, "TIME"},         {9, INT64, "TIMESTAMP"},
    {10, INT64, "TIMESTAMP"},   {11, INT32, "UTINYINT"}, {12, INT32, "USMALLINT"},   {13, INT32, "UINTEGER"},
    {14, INT64, "UBIGINT"},     {15, INT32, "TINYINT"},  {16, INT32, "SMALLINT"},    {17, INT32, "INTEGER"},
    {18, INT64, "BIGINT"},
};

static const char *const PHYSICAL[][2] = {
    [BOOLEAN] = {"BOOLEAN", "BOOLEAN"},    [INT32] = {"INT32", "INTEGER"},
    [INT64] = {"INT64", "BIGINT"},         [INT96] = {"INT96", "TIMESTAMP"},
    [FLOAT] = {"FLOAT", "FLOAT"},          [DOUBLE] = {"DOUBLE", "DOUBLE"},
    [BYTE_ARRAY] = {"BYTE_ARRAY", "BLOB"}, [FIXED] = {"FIXED_LEN_BYTE_ARRAY", "BLOB"},
};

/* What the logical type alone decides; NULL: the converted type does. */
static const char *logical_name(const struct element *e)
{
    switch (e->logical) {
    case LOGICAL_UUID: return e->type == FIXED ? "UUID" : NULL;
    case LOGICAL_FLOAT16: return e->type == FIXED && e->type_length == 2 ? "FLOAT" : NULL;
    case LOGICAL_TIMESTAMP:
        if (e->in_utc) {
            return "TIMESTAMP WITH TIME ZONE";
        }
        return e->unit == UNIT_NANOS ? "TIMESTAMP_NS" : "TIMESTAMP";
    case LOGICAL_TIME: return e->in_utc ? "TIME WITH TIME ZONE" : "TIME";
    case LOGICAL_UNKNOWN: return "\"NULL\"";
    default: return NULL;
    }
}

static const char *converted_name(const struct element *e)
{
    for (size_t i = 0; i < sizeof(CONVERTED) / sizeof(CONVERTED[0]); i++) {
        if (CONVERTED[i].converted == e->converted && CONVERTED[i].physical == e->type) {
            return CONVERTED[i].type;
        }
    }
    switch (e->converted) {
    case 19: return "JSON";
    case 21: return "INTERVAL";
    case 24: return "\"NULL\"";
    default: return NULL;
    }
}

static bool put_decimal(struct sl_arena *arena, const struct element *e, struct sl_str *out)
{
    *out = (struct sl_str){NULL, 0};
    if (e->precision < 0 || e->scale < 0) {
        return true;
    }
    if (e->precision > SL_DECIMAL_MAX_PRECISION) {
        *out = SL_STR("DOUBLE");
    } else if (e->type == INT32 || e->type == INT64 || e->type == BYTE_ARRAY || e->type == FIXED) {
        *out = sl_str_from(sl_arena_printf(arena, "DECIMAL(%d,%d)", (int)e->precision, (int)e->scale));
        return out->ptr != NULL;
    }
    return true;
}

/* False: out of memory. */
static bool find_type(struct sl_arena *arena, const struct element *e, struct sl_str *out)
{
    const char *name = logical_name(e);
    if (name == NULL && e->converted == CONVERTED_DECIMAL) {
        return put_decimal(arena, e, out);
    }
    if (name == NULL) {
        name = e->converted >= 0 ? converted_name(e) : PHYSICAL[e->type][1];
    }
    *out = sl_str_from(name);
    return true;
}

/* ---- nodes ---- */

static enum sl_footer_shape shape_of(const struct element *e)
{
    switch (e->converted) {
    case CONVERTED_LIST: return SL_SHAPE_LIST;
    case CONVERTED_MAP:
    case CONVERTED_MAP_KEY_VALUE: return SL_SHAPE_MAP;
    default: return SL_SHAPE_PLAIN;
    }
}

/* What a logical type is called for duck_leaf.c and duck_variant.c: of most it only matters that they are there. */
static struct sl_str logical_text(const struct element *e)
{
    if (e->logical == 0) {
        return (struct sl_str){NULL, 0};
    }
    if (e->logical == LOGICAL_VARIANT) {
        return SL_STR("VARIANT");
    }
    return e->unit == UNIT_NANOS ? SL_STR("NANOS=NanoSeconds") : SL_STR("logical");
}

/* False: out of memory. Names are borrowed. */
static bool fill_node(struct sl_arena *arena, const struct element *e, struct sl_footer_node *node)
{
    *node = (struct sl_footer_node){.name = e->name,
                                    .logical = logical_text(e),
                                    .n_children = (uint32_t)e->n_children,
                                    .field_id = e->field_id,
                                    .shape = shape_of(e),
                                    .repeated = e->repetition == REPEATED};
    if (e->converted >= 0) {
        node->converted = e->converted == CONVERTED_UTF8 ? SL_STR("UTF8") : SL_STR("converted");
    }
    if (e->type < 0) {
        return true;
    }
    node->physical = sl_str_from(PHYSICAL[e->type][0]);
    node->int96 = e->type == INT96;
    node->in_micros = e->type == INT64 &&
                      (e->logical == LOGICAL_TIMESTAMP ? e->unit == UNIT_MICROS : e->converted == CONVERTED_MICROS);
    return find_type(arena, e, &node->type);
}

static silt_status read_nodes(struct sl_arena *arena, struct sl_thrift *in, struct sl_footer *out,
                              struct sl_footer_node **made, const char *path, silt_error *err)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    struct sl_footer_node *nodes = sl_arena_alloc_array(arena, n, sizeof(*nodes));
    int64_t missing = 1;
    if (nodes == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        struct element e;
        read_element(in, &e);
        const bool has_room = e.n_children >= 0 && (uint64_t)e.n_children < n;
        missing += has_room ? e.n_children - 1 : 0;
        const bool fine = !in->bad && type == SL_THRIFT_STRUCT && e.type >= -1 && e.type <= FIXED && has_room &&
                          (missing > 0) == (i + 1 < n) && (e.n_children > 0 || e.type >= 0 || n == 1);
        e.type = e.n_children > 0 ? -1 : e.type;
        if (!fine) {
            return sl_fail(err, SILT_ECORRUPT, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
                           "the schema in the footer of data file %s cannot be understood", path);
        }
        if (!fill_node(arena, &e, &nodes[i])) {
            return sl_fail_nomem(err);
        }
        out->has_times = out->has_times || nodes[i].int96 || sl_str_eq_c(nodes[i].type, "DATE") ||
                         sl_str_starts_with(nodes[i].type, SL_STR("TIMESTAMP"));
    }
    *made = nodes;
    out->nodes = nodes;
    out->n_nodes = n;
    return SILT_OK;
}

static void read_pair(struct sl_thrift *in, struct sl_footer_facts *facts)
{
    struct sl_thrift_field field = {0};
    struct sl_str key = {"", 0};
    struct sl_str value = {"", 0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 1 && field.type == SL_THRIFT_BINARY) {
            key = sl_thrift_bytes(in);
        } else if (field.id == 2 && field.type == SL_THRIFT_BINARY) {
            value = sl_thrift_bytes(in);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    if (sl_str_eq_c(key, "org.apache.spark.version")) {
        facts->spark_version = value;
    } else if (sl_str_eq_c(key, "org.apache.spark.timeZone")) {
        facts->time_zone = value;
    } else if (sl_str_eq_c(key, "org.apache.spark.legacyDateTime")) {
        facts->legacy_datetime = true;
    } else if (sl_str_eq_c(key, "org.apache.spark.legacyINT96")) {
        facts->legacy_int96 = true;
    }
}

static void read_pairs(struct sl_thrift *in, struct sl_footer_facts *facts)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    for (size_t i = 0; i < n && !in->bad; i++) {
        if (type == SL_THRIFT_STRUCT) {
            read_pair(in, facts);
        } else {
            sl_thrift_skip(in, type);
        }
    }
}

/*
 * Only what is before Spark's change of calendars counts (duck_leaf.c): what else writers say of themselves would only keep equal files
 * apart.
 */
static void keep_what_matters(struct sl_footer *footer)
{
    const struct sl_footer_facts *facts = &footer->facts;
    const bool old = facts->spark_version.ptr != NULL && (facts->legacy_datetime || facts->legacy_int96 ||
                                                          sl_str_compare(facts->spark_version, SL_STR("3.1.0")) < 0);
    if (!old || !footer->has_times) {
        footer->facts = (struct sl_footer_facts){.has_lz4 = facts->has_lz4,
                                                 .float_bounds_lie = facts->float_bounds_lie,
                                                 .text_bounds_lie = facts->text_bounds_lie};
    }
}

/* The schema comes first in every footer that is known. */
static silt_status make_room(struct sl_arena *arena, size_t n, struct sl_footer_bounds *bounds, silt_error *err)
{
    bounds->blooms = sl_arena_alloc_array(arena, n, sizeof(*bounds->blooms));
    bounds->strange = sl_arena_alloc_array(arena, n, sizeof(*bounds->strange));
    bounds->n_blooms = n;
    if (bounds->blooms == NULL || bounds->strange == NULL) {
        return n == 0 ? SILT_OK : sl_fail_nomem(err);
    }
    memset(bounds->strange, 0, n * sizeof(*bounds->strange));
    return SILT_OK;
}

static size_t count_marks(const struct sl_footer *footer)
{
    size_t n = 0;
    for (size_t i = 0; i < footer->n_nodes; i++) {
        n += footer->nodes[i].bloom || footer->nodes[i].codec.len > 0 ? 1 : 0;
    }
    return n;
}

/* Equal bytes of the schema mean equal schemas. */
static silt_status make_key(struct sl_arena *arena, struct sl_footer *out, struct sl_str schema, silt_error *err)
{
    const struct sl_footer_facts *facts = &out->facts;
    out->key = schema;
    const size_t n_marks = count_marks(out);
    if (facts->spark_version.ptr == NULL && !facts->float_bounds_lie && !facts->text_bounds_lie && !facts->has_lz4 &&
        n_marks == 0) {
        return SILT_OK;
    }
    struct sl_buf key;
    sl_buf_init(&key, arena->env);
    sl_buf_put_str(&key, schema);
    sl_buf_printf(&key, "|%d%d%d%d%d|", (int)facts->legacy_datetime, (int)facts->legacy_int96,
                  (int)facts->float_bounds_lie, (int)facts->text_bounds_lie, (int)facts->has_lz4);
    sl_buf_put_str(&key, facts->spark_version);
    sl_buf_put_char(&key, '|');
    sl_buf_put_str(&key, facts->time_zone);
    for (size_t i = 0; n_marks > 0 && i < out->n_nodes; i++) {
        sl_buf_put_c(&key, out->nodes[i].bloom ? "|1" : "|0");
        sl_buf_put_str(&key, out->nodes[i].codec);
    }
    silt_status status = sl_buf_status(&key, err);
    if (status == SILT_OK) {
        out->key = sl_arena_copy(arena, sl_buf_view(&key));
        status = out->key.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&key);
    return status;
}

silt_status sl_footer_parse(struct sl_arena *arena, struct sl_str bytes, const char *path, struct sl_footer *out,
                            silt_error *err)
{
    struct sl_thrift in;
    struct sl_thrift_field field = {0};
    bool done = false;
    *out = (struct sl_footer){0};
    struct sl_footer_bounds bounds = {0};
    struct sl_footer_node *nodes = NULL;
    struct sl_str schema = {"", 0};
    struct sl_str writer = {NULL, 0};
    sl_thrift_init(&in, bytes.ptr, bytes.len);
    while (!done && sl_thrift_next(&in, &field)) {
        if (field.id == 2 && field.type == SL_THRIFT_LIST) {
            const char *begin = (const char *)in.at;
            SL_TRY(read_nodes(arena, &in, out, &nodes, path, err));
            schema = sl_str_make(begin, (size_t)((const char *)in.at - begin));
        } else if (field.id == 5 && field.type == SL_THRIFT_LIST) {
            read_pairs(&in, &out->facts);
        } else if (field.id == 4 && field.type == SL_THRIFT_LIST) {
            SL_TRY(make_room(arena, out->n_nodes, &bounds, err));
            sl_footer_read_bounds(&in, &bounds);
        } else if (field.id == 6 && field.type == SL_THRIFT_BINARY) {
            writer = sl_thrift_bytes(&in);
            done = out->n_nodes > 0; /* nothing behind it is asked for */
        } else {
            sl_thrift_skip(&in, field.type);
        }
    }
    if (in.bad || out->n_nodes == 0) {
        return sl_fail(err, SILT_ECORRUPT, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
                       "the footer of data file %s cannot be understood", path);
    }
    sl_footer_mark_leaves(&bounds, nodes, out->n_nodes);
    sl_footer_judge_bounds(&bounds, writer, &out->facts);
    out->facts.has_lz4 = bounds.has_lz4;
    keep_what_matters(out);
    return make_key(arena, out, schema, err);
}
