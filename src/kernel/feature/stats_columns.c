/*
 * Which leaf columns get statistics: those that delta.dataSkippingStatsColumns names, else the first
 * delta.dataSkippingNumIndexedCols leaves. Called by writes and by property checks; pure, any thread.
 * PROTOCOL.md "Per-file Statistics", "Table Properties".
 */
#include "kernel/feature/feature.h"

#include "base/error.h"

#define MAX_PATH_PARTS SL_SCHEMA_MAX_DEPTH
#define MAX_PART_SIZE 1024

/* A reader of "a, s.f, `odd.name`". The parts of the current name stay valid until the next one is read. */
struct name_reader {
    struct sl_str text;
    size_t pos;
    struct sl_str parts[MAX_PATH_PARTS];
    size_t n_parts;
    char unquoted[MAX_PART_SIZE]; /* room for parts in which a back-quote is doubled */
    size_t n_unquoted;
};

static void skip_spaces(struct name_reader *reader)
{
    while (reader->pos < reader->text.len && strchr(" \t\r\n", reader->text.ptr[reader->pos]) != NULL) {
        reader->pos++;
    }
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool read_quoted(struct name_reader *reader, struct sl_str *out)
{
    const size_t begin = reader->n_unquoted;
    reader->pos++; /* the opening quote */
    while (reader->pos < reader->text.len) {
        const char c = reader->text.ptr[reader->pos++];
        if (c == '`') {
            if (reader->pos >= reader->text.len || reader->text.ptr[reader->pos] != '`') {
                *out = sl_str_make(reader->unquoted + begin, reader->n_unquoted - begin);
                return out->len > 0;
            }
            reader->pos++;
        }
        if (reader->n_unquoted == sizeof(reader->unquoted)) {
            return false;
        }
        reader->unquoted[reader->n_unquoted++] = c;
    }
    return false;
}

static bool read_part(struct name_reader *reader, struct sl_str *out)
{
    skip_spaces(reader);
    if (reader->pos < reader->text.len && reader->text.ptr[reader->pos] == '`') {
        return read_quoted(reader, out);
    }
    const size_t begin = reader->pos;
    while (reader->pos < reader->text.len && is_plain(reader->text.ptr[reader->pos])) {
        reader->pos++;
    }
    *out = sl_str_sub(reader->text, begin, reader->pos);
    return out->len > 0;
}

/* Reads one name and the comma after it. *more is false after the last. False if the text is no list of names. */
static bool read_name(struct name_reader *reader, bool *more)
{
    reader->n_parts = 0;
    reader->n_unquoted = 0;
    for (;;) {
        if (reader->n_parts == MAX_PATH_PARTS || !read_part(reader, &reader->parts[reader->n_parts])) {
            return false;
        }
        reader->n_parts++;
        skip_spaces(reader);
        if (reader->pos == reader->text.len) {
            *more = false;
            return true;
        }
        const char c = reader->text.ptr[reader->pos++];
        if (c == ',') {
            *more = true;
            return true;
        }
        if (c != '.') {
            return false;
        }
    }
}

bool sl_stats_columns_text_valid(struct sl_str text)
{
    struct name_reader reader = {.text = text};
    bool more = true;
    while (more) {
        if (!read_name(&reader, &more)) {
            return false;
        }
    }
    return true;
}

/* Selects the leaves under a path; a name that is not there selects none, as in Spark. */
void sl_stats_columns_select(const silt_schema *schema, const struct sl_str *path, size_t path_len, bool *selected)
{
    const struct silt_type *type = &schema->root;
    size_t first = 0;
    for (size_t level = 0; level < path_len; level++) {
        if (type->kind != SILT_TYPE_STRUCT) {
            return;
        }
        size_t i = 0;
        while (i < type->n_fields && !sl_str_eq_nocase(type->fields[i].name, path[level])) {
            first += sl_type_leaf_count(type->fields[i].type);
            i++;
        }
        if (i == type->n_fields) {
            return;
        }
        type = type->fields[i].type;
    }
    const size_t n = sl_type_leaf_count(type);
    for (size_t i = 0; i < n; i++) {
        selected[first + i] = true;
    }
}

silt_status sl_stats_columns(const struct sl_kv_list *config, const silt_schema *data_schema, struct sl_arena *arena,
                             bool **selected, size_t *n, silt_error *err)
{
    *selected = NULL;
    *n = 0;
    const size_t leaves = sl_schema_leaf_count(data_schema);
    bool *flags = sl_arena_alloc_array(arena, leaves + 1, sizeof(*flags));
    if (flags == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_str text = sl_property_text(config, "delta.dataSkippingStatsColumns");
    if (text.ptr != NULL && sl_stats_columns_text_valid(text)) {
        struct name_reader reader = {.text = text};
        bool more = true;
        while (more && read_name(&reader, &more)) {
            sl_stats_columns_select(data_schema, reader.parts, reader.n_parts, flags);
        }
    } else {
        const int64_t limit = sl_property_int(config, "delta.dataSkippingNumIndexedCols");
        for (size_t i = 0; i < leaves && (limit < 0 || (int64_t)i < limit); i++) {
            flags[i] = true;
        }
    }
    *selected = flags;
    *n = leaves;
    return SILT_OK;
}
