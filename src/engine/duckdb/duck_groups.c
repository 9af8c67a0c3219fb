/*
 * What a footer says of the row groups of its file: bounds and numbers of nulls of some leaves, for planning over checkpoints. Read from the
 * file's end by itself, a fraction of a millisecond a megabyte; files of stores without local paths, which would have to be copied for it,
 * tell nothing. Called by the kernel through parquet->groups. Any thread. Parquet format: RowGroup, ColumnMetaData, Statistics.
 *
 * Only min_value and max_value of signed numbers are taken: they have one order.
 */
#include "duck_footer.h"

#include "base/alloc.h"
#include "base/error.h"

struct telling {
    const silt_parquet_groups *request;
    struct sl_arena arena;
    size_t n_leaves;                     /* of the file */
    const struct sl_footer_node **nodes; /* [leaf of the file] */
    size_t *wanted;                      /* [leaf of the file]: place in the request, SIZE_MAX if it is not asked for */
    silt_leaf_bounds *bounds;            /* [leaf of the request], of the row group at hand */
    int64_t next_row;
    silt_error *err;
};

/* ---- which leaves ---- */

/* What comes behind a node and all below it; the parser let pass closed trees only. */
static const struct sl_footer_node *behind(const struct sl_footer_node *node)
{
    size_t missing = 1;
    for (; missing > 0; node++) {
        missing += node->n_children;
        missing--;
    }
    return node;
}

const struct sl_footer_node *sl_footer_find_leaf(const struct sl_footer *footer, const silt_parquet_leaf *leaf)
{
    const struct sl_footer_node *node = footer->nodes;
    for (size_t i = 0; i < leaf->path_len && node != NULL; i++) {
        const struct sl_footer_node *child = node + 1;
        const struct sl_footer_node *found = NULL;
        for (uint32_t c = 0; c < node->n_children && found == NULL; c++, child = behind(child)) {
            found = sl_str_eq_c(child->name, leaf->path[i]) ? child : NULL;
        }
        node = found != NULL && !found->repeated ? found : NULL;
    }
    return node != NULL && node->n_children == 0 && leaf->path_len > 0 ? node : NULL;
}

static silt_status find_leaves(struct telling *t, const struct sl_footer *footer)
{
    const silt_parquet_groups *request = t->request;
    t->nodes = sl_arena_alloc_array(&t->arena, footer->n_nodes, sizeof(*t->nodes));
    t->wanted = sl_arena_alloc_array(&t->arena, footer->n_nodes, sizeof(*t->wanted));
    t->bounds = sl_arena_alloc_array(&t->arena, request->n_leaves + 1, sizeof(*t->bounds));
    if (t->nodes == NULL || t->wanted == NULL || t->bounds == NULL) {
        return sl_fail_nomem(t->err);
    }
    for (size_t i = 1; i < footer->n_nodes; i++) {
        if (footer->nodes[i].n_children == 0) {
            t->wanted[t->n_leaves] = SIZE_MAX;
            t->nodes[t->n_leaves++] = &footer->nodes[i];
        }
    }
    for (size_t i = 0; i < request->n_leaves; i++) {
        const struct sl_footer_node *node = sl_footer_find_leaf(footer, &request->leaves[i]);
        for (size_t leaf = 0; node != NULL && leaf < t->n_leaves; leaf++) {
            t->wanted[leaf] = t->nodes[leaf] == node ? i : t->wanted[leaf];
        }
    }
    return SILT_OK;
}

/* A number without converted type may be unsigned by its logical one. *width: bytes of a bound. */
static bool find_kind(const struct sl_footer_node *node, silt_type_kind *kind, size_t *width)
{
    static const struct {
        const char *type;
        silt_type_kind kind;
    } kinds[] = {{"TINYINT", SILT_TYPE_BYTE},
                 {"SMALLINT", SILT_TYPE_SHORT},
                 {"INTEGER", SILT_TYPE_INTEGER},
                 {"BIGINT", SILT_TYPE_LONG},
                 {"DATE", SILT_TYPE_DATE},
                 {"TIMESTAMP", SILT_TYPE_TIMESTAMP_NTZ},
                 {"TIMESTAMP WITH TIME ZONE", SILT_TYPE_TIMESTAMP}};
    *width = sl_str_eq_c(node->physical, "INT32") ? 4 : sl_str_eq_c(node->physical, "INT64") ? 8 : 0;
    for (size_t i = 0; *width > 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (sl_str_eq_c(node->type, kinds[i].type)) {
            *kind = kinds[i].kind;
            const bool is_time = *kind == SILT_TYPE_TIMESTAMP_NTZ || *kind == SILT_TYPE_TIMESTAMP;
            return is_time ? node->in_micros : node->converted.ptr != NULL || node->logical.ptr == NULL;
        }
    }
    return false;
}

/* ---- a row group ---- */

/* Lowest byte first. */
static bool read_number(struct sl_str bytes, size_t width, int64_t *out)
{
    uint64_t bits = 0;
    if (bytes.len != width) {
        return false;
    }
    for (size_t i = 0; i < width; i++) {
        bits |= (uint64_t)(unsigned char)bytes.ptr[i] << (8 * i);
    }
    *out = width == 4 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
    return true;
}

static void read_statistics(struct sl_thrift *in, const struct sl_footer_node *node, silt_leaf_bounds *out)
{
    struct sl_thrift_field field = {0};
    silt_type_kind kind = SILT_TYPE_LONG;
    size_t width = 0;
    const bool is_known = find_kind(node, &kind, &width);
    bool has_least = false;
    bool has_most = false;
    while (sl_thrift_next(in, &field)) {
        if (field.id == 3 && field.type == SL_THRIFT_I64) {
            out->n_null = sl_thrift_int(in);
        } else if (field.id == 5 && field.type == SL_THRIFT_BINARY) {
            has_most = read_number(sl_thrift_bytes(in), width, &out->most);
        } else if (field.id == 6 && field.type == SL_THRIFT_BINARY) {
            has_least = read_number(sl_thrift_bytes(in), width, &out->least);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    out->n_null = out->n_null >= 0 ? out->n_null : -1;
    out->kind = kind;
    out->has_bounds = is_known && has_least && has_most && out->least <= out->most;
}

/* The ColumnMetaData of a leaf that is asked for. */
static void read_column(struct sl_thrift *in, const struct sl_footer_node *node, silt_leaf_bounds *out)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 12 && field.type == SL_THRIFT_STRUCT) {
            read_statistics(in, node, out);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static void read_chunk(struct telling *t, struct sl_thrift *in, size_t leaf)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 3 && field.type == SL_THRIFT_STRUCT && t->wanted[leaf] != SIZE_MAX) {
            read_column(in, t->nodes[leaf], &t->bounds[t->wanted[leaf]]);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

/* One chunk a leaf, in the order of the schema. */
static void read_chunks(struct telling *t, struct sl_thrift *in)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    in->bad = in->bad || n != t->n_leaves || type != SL_THRIFT_STRUCT;
    for (size_t i = 0; i < n && !in->bad; i++) {
        read_chunk(t, in, i);
    }
}

static silt_status tell_group(struct telling *t, struct sl_thrift *in)
{
    struct sl_thrift_field field = {0};
    int64_t n_rows = -1;
    for (size_t i = 0; i < t->request->n_leaves; i++) {
        t->bounds[i] = (silt_leaf_bounds){.n_null = -1};
    }
    while (sl_thrift_next(in, &field)) {
        if (field.id == 1 && field.type == SL_THRIFT_LIST) {
            read_chunks(t, in);
        } else if (field.id == 3 && field.type == SL_THRIFT_I64) {
            n_rows = sl_thrift_int(in);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    silt_row_range rows = {.begin = t->next_row};
    if (in->bad || n_rows < 0 || !sl_add_i64(t->next_row, n_rows, &rows.end)) {
        in->bad = true;
        return SILT_OK;
    }
    t->next_row = rows.end;
    return t->request->visit(t->request->ctx, rows, t->bounds, t->err);
}

static silt_status tell_groups(struct telling *t, struct sl_str bytes)
{
    struct sl_thrift in;
    struct sl_thrift_field field = {0};
    silt_status status = SILT_OK;
    sl_thrift_init(&in, bytes.ptr, bytes.len);
    while (status == SILT_OK && sl_thrift_next(&in, &field)) {
        if (field.id != 4 || field.type != SL_THRIFT_LIST) {
            sl_thrift_skip(&in, field.type);
            continue;
        }
        uint8_t type = 0;
        const size_t n = sl_thrift_list(&in, &type);
        in.bad = in.bad || (type != SL_THRIFT_STRUCT && n > 0);
        for (size_t i = 0; i < n && status == SILT_OK && !in.bad; i++) {
            status = tell_group(t, &in);
        }
    }
    if (status == SILT_OK && in.bad) {
        status = sl_fail(t->err, SILT_ECORRUPT, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
                         "the row groups in the footer of %s cannot be understood", t->request->file->path);
    }
    return status;
}

silt_status sl_duck_groups(void *impl, const silt_call *call, const silt_parquet_groups *request, silt_error *err)
{
    struct sl_dataplane *dp = impl;
    const struct sl_duck_source source = {
        .path = request->file->path, .local_path = request->file->local_path, .size_bytes = request->file->size_bytes};
    struct telling t = {.request = request, .err = err};
    struct sl_duck_files files;
    struct sl_footer footer;
    struct sl_buf space;
    struct sl_str bytes = {NULL, 0};
    if (source.local_path == NULL) {
        return SILT_OK;
    }
    SL_TRY(sl_duck_files_open(dp, call, NULL, &source, 1, &files, err));
    sl_arena_init(&t.arena, dp->env);
    sl_buf_init(&space, dp->env);
    silt_status status = sl_footer_load(&files, 0, &space, &bytes, err);
    if (status == SILT_OK) {
        status = sl_footer_parse(&t.arena, bytes, source.path, &footer, err);
    }
    if (status == SILT_OK) {
        status = find_leaves(&t, &footer);
    }
    if (status == SILT_OK) {
        status = tell_groups(&t, bytes);
    }
    sl_buf_release(&space);
    sl_arena_release(&t.arena);
    sl_duck_files_close(&files);
    return status;
}
