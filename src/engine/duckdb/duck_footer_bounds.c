/*
 * What the row groups of a footer say that DuckDB must not go by when it leaves out row groups. Called by duck_footer_parse.c, used by
 * duck_column.c. Pure; any thread. Parquet format: Statistics, ColumnMetaData, BloomFilter.
 *
 * DuckDB 1.5 asks Bloom filters of bytes for the spelling ('\x00') of what is sought, so that they hold nothing that is not plain text.
 * It holds NaN to be greater than all numbers and -0.0 to equal 0.0. Writers on Arrow leave NaN out of the bounds, and a Bloom filter
 * hashes the bits of a number, in which the two zeros differ. Old writers ordered text by signed bytes; their bounds are where min and
 * max stood in Parquet 1.
 */
#include "duck_footer.h"

enum {
    TYPE_FLOAT = 4,
    TYPE_DOUBLE = 5,
    TYPE_BYTES = 6,
    TYPE_FIXED = 7,
    CODEC_LZO = 3,
    CODEC_LZ4 = 5,
    CODEC_LAST = 7
};

/* One column of one row group. */
struct chunk {
    int64_t type;
    int64_t codec;
    bool old_bounds;
    bool bounds;
    bool bloom;
};

static void read_statistics(struct sl_thrift *in, struct chunk *chunk)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        chunk->old_bounds = chunk->old_bounds || field.id == 1 || field.id == 2;
        chunk->bounds = chunk->bounds || field.id == 5 || field.id == 6;
        sl_thrift_skip(in, field.type);
    }
}

/* DuckDB reads the others. */
static void note_codec(const struct chunk *chunk, size_t leaf, struct sl_footer_bounds *out)
{
    out->has_lz4 = out->has_lz4 || chunk->codec == CODEC_LZ4;
    if (leaf < out->n_blooms && (chunk->codec == CODEC_LZO || chunk->codec < 0 || chunk->codec > CODEC_LAST)) {
        out->strange[leaf] = chunk->codec == CODEC_LZO ? "LZO" : "an unknown codec";
    }
}

static void read_column(struct sl_thrift *in, size_t leaf, struct sl_footer_bounds *out)
{
    struct sl_thrift_field field = {0};
    struct chunk chunk = {.type = -1, .codec = -1};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 1 && field.type == SL_THRIFT_I32) {
            chunk.type = sl_thrift_int(in);
        } else if (field.id == 4 && field.type == SL_THRIFT_I32) {
            chunk.codec = sl_thrift_int(in);
        } else if (field.id == 12 && field.type == SL_THRIFT_STRUCT) {
            read_statistics(in, &chunk);
        } else {
            chunk.bloom = chunk.bloom || field.id == 14;
            sl_thrift_skip(in, field.type);
        }
    }
    note_codec(&chunk, leaf, out);
    if (chunk.bloom && leaf < out->n_blooms) {
        out->blooms[leaf] = true;
    } else {
        out->more_blooms = out->more_blooms || chunk.bloom;
    }
    if (chunk.type == TYPE_FLOAT || chunk.type == TYPE_DOUBLE) {
        out->of_floats = out->of_floats || chunk.bounds || chunk.old_bounds;
        out->bloom_of_floats = out->bloom_of_floats || chunk.bloom;
    } else if (chunk.type == TYPE_BYTES || chunk.type == TYPE_FIXED) {
        out->old_of_bytes = out->old_of_bytes || (chunk.old_bounds && !chunk.bounds);
    }
}

static void read_chunk(struct sl_thrift *in, size_t leaf, struct sl_footer_bounds *out)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 3 && field.type == SL_THRIFT_STRUCT) {
            read_column(in, leaf, out);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

/* Elements of a list of structs, or a step over them. */
static size_t enter_list(struct sl_thrift *in)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    if (type == SL_THRIFT_STRUCT) {
        return n;
    }
    for (size_t i = 0; i < n && !in->bad; i++) {
        sl_thrift_skip(in, type);
    }
    return 0;
}

static void read_group(struct sl_thrift *in, struct sl_footer_bounds *out)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id != 1 || field.type != SL_THRIFT_LIST) {
            sl_thrift_skip(in, field.type);
            continue;
        }
        const size_t n = enter_list(in);
        for (size_t i = 0; i < n && !in->bad; i++) {
            read_chunk(in, i, out); /* chunks are in the order of the leaves */
        }
    }
}

void sl_footer_read_bounds(struct sl_thrift *in, struct sl_footer_bounds *out)
{
    const size_t n = enter_list(in);
    for (size_t i = 0; i < n && !in->bad; i++) {
        read_group(in, out);
    }
}

/*
 * DuckDB gives a row group with NaN no bounds; parquet-mr makes NaN the maximum since 1.10, which DuckDB takes for none. What else there is
 * leaves NaN out or does not say.
 */
static bool bounds_tell_of_nan(struct sl_str writer)
{
    const struct sl_str mr = SL_STR("parquet-mr version 1.");
    if (!sl_str_starts_with(writer, mr)) {
        return sl_str_starts_with(writer, SL_STR("DuckDB version "));
    }
    size_t n_digits = 0;
    while (mr.len + n_digits < writer.len && writer.ptr[mr.len + n_digits] >= '0' &&
           writer.ptr[mr.len + n_digits] <= '9') {
        n_digits++;
    }
    return n_digits == 2;
}

void sl_footer_mark_leaves(const struct sl_footer_bounds *bounds, struct sl_footer_node *nodes, size_t n_nodes)
{
    size_t leaf = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        if (nodes[i].physical.ptr == NULL) {
            continue;
        }
        const bool bloom = bounds->more_blooms || (leaf < bounds->n_blooms && bounds->blooms[leaf]);
        nodes[i].codec = leaf < bounds->n_blooms ? sl_str_from(bounds->strange[leaf]) : (struct sl_str){NULL, 0};
        nodes[i].bloom = bloom && sl_str_eq_c(nodes[i].type, "BLOB");
        leaf++;
    }
}

void sl_footer_judge_bounds(const struct sl_footer_bounds *bounds, struct sl_str writer, struct sl_footer_facts *facts)
{
    facts->float_bounds_lie = bounds->bloom_of_floats || (bounds->of_floats && !bounds_tell_of_nan(writer));
    facts->text_bounds_lie = bounds->old_of_bytes;
}
