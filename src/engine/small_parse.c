/*
 * Small Parquet files, taken apart; see small_parse.h. Every number is checked against the bytes that are there.
 */
#include "engine/small_parse.h"

#include "base/thrift.h"
#include "engine/small_column.h"

#define MAGIC "PAR1"
#define MAGIC_LEN 4
#define TAIL_LEN 8 /* length of the footer, magic */
#define MAX_ELEMENTS 10000
#define PAGE_OF_DATA 0

static uint32_t load_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* ---- the schema ---- */

static struct sl_small_element parse_element(struct sl_thrift *in)
{
    struct sl_small_element element = {.physical = -1, .converted = -1};
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 4 && field.type == SL_THRIFT_BINARY) {
            element.name = sl_thrift_bytes(in);
            continue;
        }
        if (field.type != SL_THRIFT_I32) {
            sl_thrift_skip(in, field.type);
            continue;
        }
        const int64_t number = sl_thrift_int(in);
        const int32_t value = number >= 0 && number <= INT32_MAX ? (int32_t)number : INT32_MAX;
        switch (field.id) {
        case 1: element.physical = value; break;
        case 2: element.length = value; break;
        case 3: element.repetition = value; break;
        case 5: element.n_children = (size_t)value; break;
        case 6: element.converted = value; break;
        case 7: element.scale = value; break;
        case 8: element.precision = value; break;
        default: break;
        }
    }
    return element;
}

/* From the end on, since children come behind their parents. */
static bool close_subtrees(struct sl_small_file *file)
{
    size_t n_leaves = 0;
    for (size_t i = 0; i < file->n_elements; i++) {
        file->elements[i].first_leaf = n_leaves;
        n_leaves += file->elements[i].physical >= 0 ? 1 : 0;
    }
    for (size_t i = file->n_elements; i-- > 0;) {
        struct sl_small_element *element = &file->elements[i];
        size_t next = i + 1;
        for (size_t child = 0; child < element->n_children; child++) {
            if (next >= file->n_elements) {
                return false;
            }
            next += file->elements[next].n_elements;
        }
        if (next > file->n_elements || (element->physical >= 0) != (element->n_children == 0)) {
            return false;
        }
        element->n_elements = next - i;
    }
    return file->n_elements > 1 && file->elements[0].n_elements == file->n_elements && n_leaves == file->n_chunks;
}

static bool parse_schema(struct sl_arena *arena, struct sl_thrift *in, struct sl_small_file *file)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    if (type != SL_THRIFT_STRUCT || n > MAX_ELEMENTS || file->elements != NULL) {
        return false;
    }
    file->elements = sl_arena_alloc_array(arena, n, sizeof(*file->elements));
    file->n_elements = n;
    for (size_t i = 0; file->elements != NULL && i < n; i++) {
        file->elements[i] = parse_element(in);
    }
    return file->elements != NULL && !in->bad;
}

/* ---- chunks ---- */

static bool parse_chunk_meta(struct sl_thrift *in, size_t n_bytes, struct sl_small_chunk *chunk)
{
    int64_t codec = -1;
    int64_t size = -1;
    int64_t at = -1;
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        switch (field.id) {
        case 4: codec = sl_thrift_int(in); break;
        case 5: chunk->n_entries = sl_thrift_int(in); break;
        case 7: size = sl_thrift_int(in); break;
        case 9: at = sl_thrift_int(in); break;
        default: sl_thrift_skip(in, field.type); break;
        }
    }
    if (in->bad || codec != 0 || at < MAGIC_LEN || size < 0 || (uint64_t)at > n_bytes ||
        (uint64_t)size > n_bytes - (uint64_t)at || chunk->n_entries < 0) {
        return false;
    }
    chunk->offset = (size_t)at;
    chunk->size = (size_t)size;
    return true;
}

static bool parse_chunk(struct sl_thrift *in, size_t n_bytes, struct sl_small_chunk *chunk)
{
    bool found = false;
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 3 && field.type == SL_THRIFT_STRUCT) {
            found = parse_chunk_meta(in, n_bytes, chunk);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    return found;
}

static bool parse_chunks(struct sl_arena *arena, struct sl_thrift *in, struct sl_small_file *file)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    if (type != SL_THRIFT_STRUCT || n > MAX_ELEMENTS || file->chunks != NULL) {
        return false;
    }
    file->chunks = sl_arena_alloc_array(arena, n, sizeof(*file->chunks));
    file->n_chunks = n;
    for (size_t i = 0; file->chunks != NULL && i < n; i++) {
        if (!parse_chunk(in, file->bytes.len, &file->chunks[i])) {
            return false;
        }
    }
    return file->chunks != NULL;
}

static bool parse_groups(struct sl_arena *arena, struct sl_thrift *in, struct sl_small_file *file)
{
    uint8_t type = 0;
    bool fine = sl_thrift_list(in, &type) == 1 && type == SL_THRIFT_STRUCT;
    struct sl_thrift_field field = {0};
    while (fine && sl_thrift_next(in, &field)) {
        if (field.id == 1 && field.type == SL_THRIFT_LIST) {
            fine = parse_chunks(arena, in, file);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    return fine;
}

/* ---- the file ---- */

/* Each leaf has an entry for each row, those below a list at least one. Who asks for columns that the file lacks sees no leaf. */
static bool has_rows_of_leaves(const struct sl_small_file *file)
{
    size_t list_end = 0;
    for (size_t i = 0; i < file->n_elements; i++) {
        const struct sl_small_element *element = &file->elements[i];
        if (element->repetition == SL_REPETITION_REPEATED && i + element->n_elements > list_end) {
            list_end = i + element->n_elements;
        }
        if (element->physical >= 0) {
            const int64_t n = file->chunks[element->first_leaf].n_entries;
            if (i < list_end ? n < file->n_rows : n != file->n_rows) {
                return false;
            }
        }
    }
    return true;
}

static bool parse_footer(struct sl_arena *arena, struct sl_thrift *in, struct sl_small_file *file)
{
    bool is_ours = false;
    bool fine = true;
    struct sl_thrift_field field = {0};
    while (fine && sl_thrift_next(in, &field)) {
        switch (field.id) {
        case 2: fine = parse_schema(arena, in, file); break;
        case 3: file->n_rows = sl_thrift_int(in); break;
        case 4: fine = parse_groups(arena, in, file); break;
        case 6: is_ours = sl_str_starts_with(sl_thrift_bytes(in), SL_STR("silt version ")); break;
        default: sl_thrift_skip(in, field.type); break;
        }
    }
    return fine && !in->bad && is_ours && file->n_rows >= 0 && file->elements != NULL && file->chunks != NULL &&
           close_subtrees(file) && has_rows_of_leaves(file);
}

bool sl_small_file_parse(struct sl_arena *arena, struct sl_str bytes, struct sl_small_file *out)
{
    struct sl_thrift in;
    *out = (struct sl_small_file){.bytes = bytes};
    if (bytes.len < MAGIC_LEN + TAIL_LEN || memcmp(bytes.ptr, MAGIC, MAGIC_LEN) != 0 ||
        memcmp(bytes.ptr + bytes.len - MAGIC_LEN, MAGIC, MAGIC_LEN) != 0) {
        return false;
    }
    const size_t length = load_u32((const unsigned char *)bytes.ptr + bytes.len - TAIL_LEN);
    if (length > bytes.len - MAGIC_LEN - TAIL_LEN) {
        return false;
    }
    sl_thrift_init(&in, bytes.ptr + bytes.len - TAIL_LEN - length, length);
    return parse_footer(arena, &in, out);
}

/* ---- pages ---- */

static void next_run(struct sl_small_level_cursor *levels)
{
    uint64_t head = 0;
    unsigned shift = 0;
    levels->value = 0;
    while (levels->at < levels->end && shift < 63) {
        const unsigned char byte = *levels->at++;
        head |= (uint64_t)(byte & 0x7FU) << shift;
        shift += 7;
        if ((byte & 0x80U) == 0) {
            break;
        }
    }
    /* An odd head begins packed levels, which are not written here: there is then no run. */
    if (levels->at < levels->end && (head & 1) == 0) {
        levels->left = head >> 1;
        levels->value = *levels->at++;
    }
}

static void step_level(struct sl_small_level_cursor *levels)
{
    levels->left -= levels->left > 0 ? 1 : 0;
    if (levels->left == 0) {
        next_run(levels);
    }
}

/* *at moves behind the levels. */
static bool open_levels(struct sl_small_level_cursor *levels, uint8_t max, const unsigned char **at,
                        const unsigned char *end)
{
    if (max == 0) {
        return true;
    }
    if (end - *at < 4 || (size_t)(end - *at) - 4 < load_u32(*at)) {
        return false;
    }
    levels->at = *at + 4;
    levels->end = levels->at + load_u32(*at);
    *at = levels->end;
    next_run(levels);
    return true;
}

static bool parse_page(struct sl_thrift *in, int64_t *size, int64_t *n_entries)
{
    int64_t kind = -1;
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == 1) {
            kind = sl_thrift_int(in);
        } else if (field.id == 3) {
            *size = sl_thrift_int(in);
        } else if (field.id == 5 && field.type == SL_THRIFT_STRUCT) {
            struct sl_thrift_field inner = {0};
            while (sl_thrift_next(in, &inner)) {
                const int64_t value = sl_thrift_int(in);
                *n_entries = inner.id == 1 ? value : *n_entries;
            }
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    return !in->bad && kind == PAGE_OF_DATA;
}

bool sl_small_cursor_open(const struct sl_small_file *file, size_t leaf, uint8_t max_repetition, uint8_t max_definition,
                          struct sl_small_cursor *out)
{
    const struct sl_small_chunk *chunk = &file->chunks[leaf];
    struct sl_thrift in;
    int64_t size = -1;
    int64_t n_entries = -1;
    *out = (struct sl_small_cursor){.left = chunk->n_entries};
    sl_thrift_init(&in, file->bytes.ptr + chunk->offset, chunk->size);
    if (!parse_page(&in, &size, &n_entries) || size != in.end - in.at || n_entries != chunk->n_entries) {
        return false;
    }
    out->at = in.at;
    out->end = in.end;
    return open_levels(&out->repetitions, max_repetition, &out->at, out->end) &&
           open_levels(&out->definitions, max_definition, &out->at, out->end);
}

void sl_small_cursor_step(struct sl_small_cursor *cursor)
{
    cursor->bad = cursor->bad || cursor->left <= 0;
    cursor->left--;
    step_level(&cursor->repetitions);
    step_level(&cursor->definitions);
}

static int64_t lesser(int64_t a, uint64_t b)
{
    return b < (uint64_t)a ? (int64_t)b : a;
}

int64_t sl_small_cursor_below(const struct sl_small_cursor *cursor, uint8_t definition)
{
    const struct sl_small_level_cursor *repetitions = &cursor->repetitions;
    if (cursor->left <= 0 || cursor->definitions.value >= definition || repetitions->value > 0) {
        return 0;
    }
    const int64_t n = lesser(cursor->left, cursor->definitions.left);
    return repetitions->end != NULL ? lesser(n, repetitions->left) : n;
}

static void skip_levels(struct sl_small_level_cursor *levels, uint64_t n)
{
    while (n > 0 && levels->left > 0) {
        const uint64_t taken = n < levels->left ? n : levels->left;
        levels->left -= taken;
        n -= taken;
        if (levels->left == 0) {
            next_run(levels);
        }
    }
}

void sl_small_cursor_skip(struct sl_small_cursor *cursor, int64_t n)
{
    cursor->bad = cursor->bad || cursor->left < n;
    cursor->left -= n;
    skip_levels(&cursor->repetitions, (uint64_t)n);
    skip_levels(&cursor->definitions, (uint64_t)n);
}

const unsigned char *sl_small_cursor_take(struct sl_small_cursor *cursor, size_t n)
{
    if (cursor->bad || (size_t)(cursor->end - cursor->at) < n) {
        cursor->bad = true;
        return NULL;
    }
    const unsigned char *at = cursor->at;
    cursor->at += n;
    return at;
}
