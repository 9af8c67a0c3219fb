/*
 * Keys of adds; see checkpoint_order.h. What cannot be parsed counts as null: the order is a help for readers, not a promise.
 */
#include "kernel/checkpoint/checkpoint_order.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "json/json.h"
#include "kernel/scan/stats_reader.h"
#include "schema/value.h"

/* More columns do not make the order better. */
#define MAX_CLUSTERING 4
#define MAX_PATH 32
#define ROW_ARENA_MAX ((size_t)256 * 1024)

struct sl_row_order {
    const silt_env *env;
    struct sl_arena arena;
    struct sl_arena scratch;
    const silt_schema *partition;
    struct sl_str *texts; /* partition values of the row before; in `last` */
    struct sl_arena last;
    bool has_last;
    struct sl_buf key;
    size_t partition_len; /* of the key, the part of the partition columns */
    struct sl_skip_column columns[MAX_CLUSTERING];
    size_t n_columns;
    struct sl_stats_reader *reader;
};

/* ---- bytes ---- */

static void put_u64(struct sl_buf *out, uint64_t bits)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    sl_buf_put(out, bytes, sizeof(bytes));
}

static void put_f64(struct sl_buf *out, double value)
{
    uint64_t bits = 0;
    const double one_zero = value == 0 ? 0.0 : value; /* -0.0 equals 0.0 */
    memcpy(&bits, &one_zero, sizeof(bits));
    if (value != value) {
        bits = UINT64_C(0x7FF8000000000000); /* NaN is greatest, whatever its sign */
    }
    put_u64(out, bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63);
}

/* A zero byte is followed by FF, and the end by two zeros: a text stands before all that begin with it. */
static void put_text(struct sl_buf *out, struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        sl_buf_put_char(out, text.ptr[i]);
        if (text.ptr[i] == '\0') {
            sl_buf_put_char(out, (char)0xFF);
        }
    }
    sl_buf_put(out, "\0\0", 2);
}

void sl_order_put_value(struct sl_buf *out, const silt_value *value)
{
    const uint64_t sign = UINT64_C(1) << 63;
    if (value->is_null) {
        sl_buf_put_char(out, '\0');
        return;
    }
    sl_buf_put_char(out, '\1');
    switch (value->kind) {
    case SILT_TYPE_BOOLEAN: sl_buf_put_char(out, value->as.boolean ? '\1' : '\0'); break;
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: put_u64(out, (uint64_t)value->as.i64 ^ sign); break;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: put_f64(out, value->as.f64); break;
    case SILT_TYPE_DECIMAL:
        put_u64(out, (uint64_t)value->as.decimal.hi ^ sign);
        put_u64(out, value->as.decimal.lo);
        break;
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: put_text(out, sl_value_get_str(value)); break;
    case SILT_TYPE_VOID:
    case SILT_TYPE_VARIANT:
    case SILT_TYPE_STRUCT:
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: break;
    }
}

int sl_order_compare(struct sl_str a, struct sl_str b)
{
    const size_t n = a.len < b.len ? a.len : b.len;
    const int order = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* ---- clustering columns ---- */

/* A path that is not in the schema, or leads to what has no bounds, ends the list. */
static bool add_clustering(struct sl_row_order *order, const silt_schema *physical, const sl_json *names)
{
    struct sl_str path[MAX_PATH];
    size_t n = 0;
    struct sl_json_iter iter = sl_json_iterate(names);
    const sl_json *name = NULL;
    while (n < MAX_PATH && sl_json_next(&iter, NULL, &name)) {
        struct sl_str text = {NULL, 0};
        if (!sl_json_to_str(name, &text)) {
            return false;
        }
        path[n++] = sl_arena_copy(&order->arena, text);
    }
    const struct silt_field *field = n > 0 ? sl_schema_find_path(physical, path, n) : NULL;
    struct sl_str *kept = field != NULL ? sl_arena_alloc_array(&order->arena, n, sizeof(*kept)) : NULL;
    if (kept == NULL || sl_type_is_nested(field->type)) {
        return false;
    }
    memcpy(kept, path, n * sizeof(*kept));
    order->columns[order->n_columns++] = (struct sl_skip_column){
        .path = kept, .path_len = n, .type = field->type, .physical_path = kept};
    return true;
}

static silt_status take_clustering(struct sl_row_order *order, const struct sl_row_order_columns *columns,
                                   silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    if (columns->clustering_json.ptr == NULL) {
        return SILT_OK;
    }
    const silt_status status = sl_json_parse(order->env, columns->clustering_json, &doc, NULL);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status != SILT_OK) {
        return SILT_OK;
    }
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(sl_json_root(doc), "clusteringColumns"));
    const sl_json *names = NULL;
    while (order->n_columns < MAX_CLUSTERING && sl_json_next(&iter, NULL, &names) &&
           add_clustering(order, columns->physical, names)) {
    }
    sl_json_free(doc);
    return order->n_columns == 0
               ? SILT_OK
               : sl_stats_reader_new(order->env, order->columns, order->n_columns, &order->reader, err);
}

/* ---- keys ---- */

silt_status sl_row_order_new(const silt_env *env, const struct sl_row_order_columns *columns, struct sl_row_order **out,
                             silt_error *err)
{
    *out = NULL;
    struct sl_row_order *order = sl_alloc_zero(env, sizeof(*order));
    if (order == NULL) {
        return sl_fail_nomem(err);
    }
    order->env = env;
    order->partition = columns->partition;
    sl_arena_init(&order->arena, env);
    sl_arena_init(&order->scratch, env);
    sl_arena_init(&order->last, env);
    sl_buf_init(&order->key, env);
    silt_status status = take_clustering(order, columns, err);
    if (status == SILT_OK && columns->partition != NULL) {
        order->texts = sl_arena_alloc_array(&order->arena, columns->partition->root.n_fields, sizeof(*order->texts));
        status = order->texts != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    if (status != SILT_OK || (columns->partition == NULL && order->n_columns == 0)) {
        sl_row_order_free(order);
        return status;
    }
    *out = order;
    return SILT_OK;
}

void sl_row_order_free(struct sl_row_order *order)
{
    if (order != NULL) {
        sl_stats_reader_free(order->reader);
        sl_buf_release(&order->key);
        sl_arena_release(&order->last);
        sl_arena_release(&order->scratch);
        sl_arena_release(&order->arena);
        sl_release(order->env, order, sizeof(*order));
    }
}

bool sl_row_order_needs_stats(const struct sl_row_order *order)
{
    return order != NULL && order->n_columns > 0;
}

static bool is_last(const struct sl_row_order *order, const struct sl_kv_list *values)
{
    const struct silt_type *root = &order->partition->root;
    bool same = order->has_last;
    for (size_t i = 0; i < root->n_fields && same; i++) {
        const struct sl_str text = sl_kv_get(values, root->fields[i].name, NULL);
        const struct sl_str before = order->texts[i];
        same = (text.ptr == NULL) == (before.ptr == NULL) && (text.ptr == NULL || sl_str_eq(text, before));
    }
    return same;
}

static silt_status put_partition(struct sl_row_order *order, const struct sl_kv_list *values, silt_error *err)
{
    const struct silt_type *root = &order->partition->root;
    sl_arena_release(&order->last);
    sl_buf_clear(&order->key);
    order->has_last = false;
    for (size_t i = 0; i < root->n_fields; i++) {
        const struct sl_str text = sl_kv_get(values, root->fields[i].name, NULL);
        silt_value value = sl_value_null(root->fields[i].type->kind);
        order->texts[i] = text.ptr != NULL ? sl_arena_copy(&order->last, text) : text;
        if (text.ptr != NULL && order->texts[i].ptr == NULL) {
            return sl_fail_nomem(err);
        }
        const silt_status status = sl_partition_value_parse(&order->last, order->texts[i], root->fields[i].type, &value,
                                                            NULL, NULL);
        if (status == SILT_ENOMEM) {
            return sl_fail_nomem(err);
        }
        if (status != SILT_OK) {
            value = sl_value_null(root->fields[i].type->kind);
        }
        sl_order_put_value(&order->key, &value);
    }
    order->has_last = true;
    order->partition_len = order->key.len;
    return sl_buf_status(&order->key, err);
}

static silt_status put_clustering(struct sl_row_order *order, struct sl_str stats, silt_error *err)
{
    struct sl_bounds bounds[MAX_CLUSTERING] = {0};
    struct sl_claims claims = {0};
    if (order->scratch.total_bytes > ROW_ARENA_MAX) {
        sl_arena_release(&order->scratch);
    }
    if (stats.ptr != NULL) {
        SL_TRY(sl_stats_reader_claims(order->reader, stats, &order->scratch, &claims, bounds, err));
    }
    for (size_t i = 0; i < order->n_columns; i++) {
        silt_value value = sl_value_null(order->columns[i].type->kind);
        if (bounds[i].has_min) {
            value = bounds[i].min;
        }
        sl_order_put_value(&order->key, &value);
    }
    return sl_buf_status(&order->key, err);
}

silt_status sl_row_order_key(struct sl_row_order *order, const struct sl_kv_list *values, struct sl_str stats,
                             struct sl_str *key, silt_error *err)
{
    *key = (struct sl_str){NULL, 0};
    if (order->partition == NULL) {
        sl_buf_clear(&order->key);
    } else if (!is_last(order, values)) {
        SL_TRY(put_partition(order, values, err));
    }
    if (order->n_columns > 0) {
        order->key.len = order->partition_len;
        SL_TRY(put_clustering(order, stats, err));
    }
    *key = sl_buf_view(&order->key);
    return SILT_OK;
}
