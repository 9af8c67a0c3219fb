/*
 * A Parquet footer's bytes → where the chunks of columns lie in the file. Foreign bytes: everything is checked against the file's size. Pure;
 * any thread. parquet.thrift: FileMetaData, RowGroup, ColumnChunk, ColumnMetaData.
 */
#include "duck_fetch.h"

#include "base/error.h"
#include "base/thrift.h"
#include "storage/cache/cache_fetch.h"

/* FileMetaData.schema: a column at the top, and whether it is wanted. */
struct top {
    struct sl_str name;
    bool wanted;
};

struct chunks {
    const struct sl_duck_wanted *wanted;
    struct sl_vec *out;
    int64_t data_end;   /* where the footer begins */
    struct sl_vec tops; /* of struct top */
    size_t last_top;    /* the one that the chunk before was of */
    int64_t first_row;  /* of the row group that is read now */
    size_t group_from;  /* in `out` */
    bool failed;        /* out of memory */
};

/* One chunk; -1 for what is not said. */
struct chunk {
    struct sl_str column; /* the first step of its path */
    int64_t size;
    int64_t data_page;
    int64_t dictionary_page;
    int64_t bloom;
    int64_t bloom_length;
};

static bool is_wanted(const struct sl_duck_wanted *wanted, struct sl_str name, int64_t id)
{
    for (size_t i = 0; i < wanted->n; i++) {
        if (sl_str_eq_nocase(wanted->names[i], name) || (id >= 0 && wanted->ids[i] == id)) {
            return true;
        }
    }
    return false;
}

/* ---- the schema: only its top, to know field ids ---- */

struct element {
    struct sl_str name;
    int64_t id;
    int64_t n_children;
};

static void read_element(struct sl_thrift *in, struct element *out)
{
    struct sl_thrift_field field = {0};
    *out = (struct element){.id = -1};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 4 && field.type == SL_THRIFT_BINARY) {
            out->name = sl_thrift_bytes(in);
        } else if (field.id == 5 && field.type == SL_THRIFT_I32) {
            out->n_children = sl_thrift_int(in);
        } else if (field.id == 9 && field.type == SL_THRIFT_I32) {
            out->id = sl_thrift_int(in);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static void read_schema(struct sl_thrift *in, struct chunks *c)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    int64_t below = 0; /* elements that are left of the tree that a column at the top begins */
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct element element;
        read_element(in, &element);
        const int64_t children = element.n_children > 0 && element.n_children <= INT32_MAX ? element.n_children : 0;
        if (i > 0 && below == 0) {
            struct top *top = sl_vec_push(&c->tops);
            if (top == NULL) {
                c->failed = true;
                return;
            }
            *top = (struct top){element.name, is_wanted(c->wanted, element.name, element.id)};
            below = children;
        } else if (i > 0) {
            below += children - 1;
        }
    }
}

/* Chunks come in the order of the schema, so that the next is mostly of the same column or of the one behind it. */
static bool column_is_wanted(struct chunks *c, struct sl_str name)
{
    for (size_t i = 0, at = c->last_top; i < c->tops.len; i++, at++) {
        at = at < c->tops.len ? at : 0;
        const struct top *top = sl_vec_at(&c->tops, at);
        if (sl_str_eq(top->name, name)) {
            c->last_top = at;
            return top->wanted;
        }
    }
    return true; /* of no column that there is: let the reader judge */
}

/* ---- row groups ---- */

static void read_path(struct sl_thrift *in, struct chunk *out)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    for (size_t i = 0; i < n && !in->bad; i++) {
        if (i == 0 && type == SL_THRIFT_BINARY) {
            out->column = sl_thrift_bytes(in);
        } else {
            sl_thrift_skip(in, type);
        }
    }
}

static void read_metadata(struct sl_thrift *in, struct chunk *out)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        int64_t *number = NULL;
        switch (field.id) {
        case 7: number = &out->size; break;
        case 9: number = &out->data_page; break;
        case 11: number = &out->dictionary_page; break;
        case 14: number = &out->bloom; break;
        case 15: number = &out->bloom_length; break;
        default: break;
        }
        if (number != NULL && (field.type == SL_THRIFT_I64 || field.type == SL_THRIFT_I32)) {
            *number = sl_thrift_int(in);
        } else if (field.id == 3 && field.type == SL_THRIFT_LIST) {
            read_path(in, out);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static void add_range(struct chunks *c, int64_t begin, int64_t length)
{
    if (begin < 0 || length <= 0 || begin >= c->data_end) {
        return;
    }
    struct sl_range *range = sl_vec_push(c->out);
    if (range == NULL) {
        c->failed = true;
        return;
    }
    range->begin = begin;
    range->end = length > c->data_end - begin ? c->data_end : begin + length;
}

/* A Bloom filter whose length is not said is at most this long in practice; DuckDB reads its header, then as much as that says. */
#define BLOOM_GUESS (INT64_C(2) << 20)

static void read_chunk(struct sl_thrift *in, struct chunks *c)
{
    struct sl_thrift_field field = {0};
    struct chunk chunk = {.size = -1, .data_page = -1, .dictionary_page = -1, .bloom = -1, .bloom_length = -1};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 3 && field.type == SL_THRIFT_STRUCT) {
            read_metadata(in, &chunk);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    if (in->bad || !column_is_wanted(c, chunk.column)) {
        return;
    }
    /* A dictionary at 0 means none: old writers say so. */
    const bool dictionary_first = chunk.dictionary_page > 0 && chunk.dictionary_page < chunk.data_page;
    add_range(c, dictionary_first ? chunk.dictionary_page : chunk.data_page, chunk.size);
    add_range(c, chunk.bloom, chunk.bloom_length > 0 ? chunk.bloom_length : BLOOM_GUESS);
}

static bool holds_wanted_rows(const struct chunks *c, int64_t n_rows)
{
    bool any = c->wanted->n_ranges == 0;
    for (size_t i = 0; i < c->wanted->n_ranges && !any; i++) {
        const silt_row_range range = c->wanted->ranges[i];
        any = range.begin < c->first_row + n_rows && range.end > c->first_row;
    }
    return any;
}

static void read_group(struct sl_thrift *in, struct chunks *c)
{
    struct sl_thrift_field field = {0};
    int64_t n_rows = 0;
    c->group_from = c->out->len;
    while (sl_thrift_next(in, &field)) {
        if (field.id == 1 && field.type == SL_THRIFT_LIST) {
            uint8_t type = 0;
            const size_t n = sl_thrift_list(in, &type);
            for (size_t i = 0; i < n && !in->bad && !c->failed; i++) {
                read_chunk(in, c);
            }
        } else if (field.id == 3 && field.type == SL_THRIFT_I64) {
            n_rows = sl_thrift_int(in);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    n_rows = n_rows < 0 || n_rows > INT64_MAX / 2 - c->first_row ? 0 : n_rows;
    if (!holds_wanted_rows(c, n_rows)) {
        c->out->len = c->group_from;
    }
    c->first_row += n_rows;
}

silt_status sl_duck_chunks(struct sl_str footer, int64_t file_size, const struct sl_duck_wanted *wanted,
                           struct sl_vec *out, silt_error *err)
{
    struct sl_thrift in;
    struct sl_thrift_field field = {0};
    struct chunks c = {.wanted = wanted, .out = out, .data_end = file_size - (int64_t)footer.len};
    sl_vec_init(&c.tops, out->env, sizeof(struct top));
    sl_thrift_init(&in, footer.ptr, footer.len);
    while (!c.failed && sl_thrift_next(&in, &field)) {
        if (field.id == 2 && field.type == SL_THRIFT_LIST) {
            read_schema(&in, &c);
        } else if (field.id == 4 && field.type == SL_THRIFT_LIST) {
            uint8_t type = 0;
            const size_t n = sl_thrift_list(&in, &type);
            for (size_t i = 0; i < n && !in.bad && !c.failed; i++) {
                read_group(&in, &c);
            }
        } else {
            sl_thrift_skip(&in, field.type);
        }
    }
    sl_vec_release(&c.tops);
    if (c.failed) {
        return sl_fail_nomem(err);
    }
    return in.bad ? sl_fail(err, SILT_ECORRUPT, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", "a footer cannot be read")
                  : SILT_OK;
}
