/*
 * Members of a file's statistics that cannot be read as what they are to be, so that nothing can be compared with the rows. See fsck_data.h. Planning
 * passes over such members (kernel/scan/stats_reader.c); other engines fail at them, or take them at their word.
 */
#include "base/buf.h"
#include "base/error.h"
#include "commands/fsck_data.h"
#include "commands/fsck_judge.h"
#include "json/json.h"
#include "schema/type.h"

/* Statistics of one file, as a tree. */
struct stated {
    struct sl_fsck *fsck;
    const struct sl_fsck_item *item;
    const sl_json *root;
    struct sl_fsck_about where;
    struct sl_buf name, found, type;
    silt_error *err;
};

/* A member, and whether it is there more than once; absent below what is no object. */
static const sl_json *find(const sl_json *object, struct sl_str key, bool *twice)
{
    const sl_json *first = NULL;
    struct sl_str name;
    const sl_json *value = NULL;
    struct sl_json_iter iter = sl_json_iterate(sl_json_is_object(object) ? object : NULL);
    while (sl_json_next(&iter, &name, &value)) {
        if (sl_str_eq(name, key)) {
            *twice = *twice || first != NULL;
            first = first != NULL ? first : value;
        }
    }
    return first;
}

static const sl_json *find_leaf(const struct stated *s, const char *part, const struct sl_skip_column *column,
                                bool *twice)
{
    const sl_json *value = find(s->root, sl_str_from(part), twice);
    for (size_t i = 0; i < column->path_len && value != NULL; i++) {
        value = find(value, column->physical_path[i], twice);
    }
    return value;
}

/* type: of a bound, which is only a note, since nobody can go by it; NULL: a count, which engines take at its word. */
static silt_status tell(struct stated *s, const char *what, const sl_json *value, bool twice, const char *type)
{
    const char *of = s->where.column.len > 0 ? " of " : "";
    sl_buf_clear(&s->found);
    sl_json_write(&s->found, value);
    s->where.found = sl_str_from(sl_buf_cstr(&s->found));
    s->where.severity = twice || type == NULL ? SILT_FSCK_FAULT : SILT_FSCK_NOTE;
    if (twice) {
        return sl_fsck_tell(s->fsck, &s->where, s->err, "%s%s%.*s is stated more than once: engines take either", what,
                            of, SL_FMT(s->where.column));
    }
    return sl_fsck_tell(s->fsck, &s->where, s->err, "%s%s%.*s is stated as %.*s, which %s%s", what, of,
                        SL_FMT(s->where.column), SL_FMT(s->where.found),
                        type == NULL ? "is no number of rows: engines count wrong" : "cannot be read as ",
                        type == NULL ? "" : type);
}

/* NaN and the infinities have no bound that could be compared; writers spell them as texts. */
static bool has_no_text(const struct sl_skip_column *column, const sl_json *value)
{
    const bool is_real = column->type->kind == SILT_TYPE_FLOAT || column->type->kind == SILT_TYPE_DOUBLE;
    return is_real && sl_json_get_kind(value) == SL_JSON_STRING;
}

static silt_status check_bound(struct stated *s, const struct sl_skip_column *column, bool is_max)
{
    bool twice = false;
    const sl_json *value = find_leaf(s, is_max ? "maxValues" : "minValues", column, &twice);
    if (sl_json_is_null(value) || (!twice && has_no_text(column, value))) {
        return SILT_OK;
    }
    sl_buf_clear(&s->type);
    sl_type_print(&s->type, column->type);
    return tell(s, is_max ? "the maximum" : "the minimum", value, twice, sl_buf_cstr(&s->type));
}

static silt_status check_nulls(struct stated *s, const struct sl_skip_column *column)
{
    bool twice = false;
    const sl_json *value = find_leaf(s, "nullCount", column, &twice);
    return sl_json_is_null(value) ? SILT_OK : tell(s, "the nullCount", value, twice, NULL);
}

static silt_status check_column(struct stated *s, const struct sl_skip_column *column, const struct sl_bounds *bounds)
{
    const bool is_ordered = sl_fsck_is_ordered(column);
    const bool lacks_min = is_ordered && !bounds->has_min;
    const bool lacks_max = is_ordered && !bounds->has_max;
    if (!lacks_min && !lacks_max && bounds->has_null_count) {
        return SILT_OK;
    }
    sl_buf_clear(&s->name);
    s->where.column = sl_fsck_column_name(&s->name, column);
    silt_status status = bounds->has_null_count ? SILT_OK : check_nulls(s, column);
    if (status == SILT_OK && lacks_min) {
        status = check_bound(s, column, false);
    }
    return status == SILT_OK && lacks_max ? check_bound(s, column, true) : status;
}

static silt_status check_rows(struct stated *s)
{
    bool twice = false;
    const sl_json *value = find(s->root, SL_STR("numRecords"), &twice);
    return s->item->claims.has_rows || sl_json_is_null(value) ? SILT_OK : tell(s, "numRecords", value, twice, NULL);
}

static silt_status check_members(struct sl_fsck_reader *reader, struct stated *s)
{
    const silt_env *env = reader->fsck->env;
    sl_buf_init(&s->name, env);
    sl_buf_init(&s->found, env);
    sl_buf_init(&s->type, env);
    silt_status status = check_rows(s);
    for (size_t c = 0; c < reader->n && status == SILT_OK; c++) {
        status = check_column(s, &reader->columns[c], &s->item->bounds[c]);
    }
    sl_buf_release(&s->name);
    sl_buf_release(&s->found);
    sl_buf_release(&s->type);
    return status;
}

silt_status sl_fsck_check_stated(struct sl_fsck_reader *reader, const struct sl_fsck_item *item,
                                 const struct sl_fsck_about *where, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    struct stated s = {.fsck = reader->fsck, .item = item, .where = *where, .err = err};
    if (item->add->stats.len == 0) {
        return SILT_OK;
    }
    const silt_status parsed = sl_json_parse(reader->fsck->env, item->add->stats, &doc, NULL);
    if (parsed == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    s.root = parsed == SILT_OK ? sl_json_root(doc) : NULL;
    s.where.severity = SILT_FSCK_NOTE;
    /* Readers take what is no JSON for no statistics. */
    const silt_status status = sl_json_is_object(s.root)
                                   ? check_members(reader, &s)
                                   : sl_fsck_tell(s.fsck, &s.where, err, "the statistics are no JSON object");
    sl_json_free(doc);
    return status;
}
