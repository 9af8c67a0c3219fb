/*
 * Files of a scan that are read alike. Mostly all are: one read_parquet reads files that lack columns, have them in another order or in
 * narrower types. Other groups come about where a column needs another type to ask for or another expression: nested fields that have
 * other names in some files (ids are what counts), or writers with a calendar of their own.
 *
 * The files of a scan are put into the order of their groups, so that a group's file_index and the scan's differ by a constant.
 */
#include "duck_scan.h"

#include "base/error.h"

/* ---- stored columns ---- */

static const struct silt_type LONG = {.kind = SILT_TYPE_LONG};

static silt_status add_stored(struct sl_scan_work *work, const struct silt_field *logical,
                              const struct silt_field *physical, bool hidden, silt_error *err)
{
    const size_t i = work->n_stored++;
    struct sl_str alias = logical->name;
    if (hidden || sl_duck_is_virtual_name(alias)) {
        alias = sl_str_from(sl_arena_printf(&work->arena, "silt column %zu", i));
        if (alias.ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    work->stored[i] = physical;
    work->columns[i] = (struct sl_duck_column){
        .logical = logical, .physical = physical, .by_id = work->plan.match_by_field_id, .alias = alias};
    return SILT_OK;
}

/* A column behind one of _metadata's: it is in no schema, and files are asked for it by its name. */
static silt_status add_hidden(struct sl_scan_work *work, const char *name, size_t *place, silt_error *err)
{
    *place = SIZE_MAX;
    if (name == NULL) {
        return SILT_OK;
    }
    struct silt_field *field = sl_arena_alloc_zero(&work->arena, sizeof(*field));
    if (field == NULL) {
        return sl_fail_nomem(err);
    }
    *field = (struct silt_field){.name = sl_str_from(name), .type = &LONG, .nullable = true};
    *place = work->n_stored;
    return add_stored(work, field, field, true, err);
}

static silt_status find_meta(struct sl_scan_work *work, const struct silt_type *type, silt_error *err)
{
    struct sl_scan_meta *meta = sl_arena_alloc_zero(&work->arena, sizeof(*meta));
    if (meta == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_scan_plan *plan = &work->plan;
    const bool with_id = sl_type_find(type, SL_STR("row_id"), NULL) != NULL;
    const bool with_version = sl_type_find(type, SL_STR("row_commit_version"), NULL) != NULL;
    work->meta = meta;
    SL_TRY(add_hidden(work, with_id ? plan->row_id_column : NULL, &meta->row_id, err));
    return add_hidden(work, with_version ? plan->row_commit_version_column : NULL, &meta->row_commit_version, err);
}

silt_status sl_scan_find_stored(struct sl_scan_work *work, silt_error *err)
{
    const silt_scan_plan *plan = &work->plan;
    const size_t n = plan->logical->root.n_fields;
    const struct silt_type *meta = NULL;
    work->stored = sl_arena_alloc_array(&work->arena, n + 2, sizeof(*work->stored));
    work->columns = sl_arena_alloc_array(&work->arena, n + 2, sizeof(*work->columns));
    if (work->stored == NULL || work->columns == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        switch (plan->columns[i].source) {
        case SILT_FROM_FILE:
            SL_TRY(add_stored(work, &plan->logical->root.fields[i], &plan->physical->root.fields[i], false, err));
            break;
        case SILT_FROM_METADATA: meta = plan->logical->root.fields[i].type; break;
        default: break;
        }
    }
    return meta != NULL ? find_meta(work, meta, err) : SILT_OK;
}

/* ---- grouping ---- */

/* Footers that were met, and groups by what makes them one. */
struct grouping {
    struct sl_scan_work *work;
    struct sl_footer **footers; /* [file] */
    size_t *group;              /* [file] */
    struct sl_map by_footer;    /* address of a footer → group */
    struct sl_map by_text;      /* how files are read → group */
    struct sl_vec groups;       /* struct sl_scan_group; n counts files */
};

/* All that a schema map and the columns over it say: files for which it is the same are read alike. */
static silt_status describe(struct sl_buf *text, const struct sl_duck_reading *readings, size_t n, silt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct sl_duck_reading *r = &readings[i];
        sl_buf_printf(text, "%zu %zu %zu:", r->stored.len, r->declared.len, r->mapped.len);
        sl_buf_put_str(text, r->stored);
        sl_buf_put_str(text, r->declared);
        sl_buf_put_str(text, r->mapped);
    }
    return sl_buf_status(text, err);
}

static bool is_whole(const struct sl_scan_work *work, const struct sl_footer *footer,
                     const struct sl_duck_reading *readings)
{
    const struct sl_footer_node *child = footer->nodes + 1;
    bool whole = work->n_stored == work->plan.logical->root.n_fields && work->n_stored == footer->nodes[0].n_children;
    for (size_t i = 0; i < work->n_stored && whole; i++, child += child->n_nodes) {
        whole = readings[i].same && sl_str_eq(child->name, work->columns[i].logical->name) &&
                sl_str_eq(child->name, readings[i].stored);
    }
    return whole;
}

/*
 * From the bounds of a file's days DuckDB makes those of instants as in UTC, whatever the zone is that a day is compared with an instant in.
 * It does not look at bounds of whole files below a schema map; row groups it judges rightly.
 */
static bool zone_matters(const struct sl_scan_work *work)
{
    bool any = false;
    for (size_t i = 0; i < work->n_stored && !any; i++) {
        any = sl_type_holds(work->columns[i].logical->type, SILT_TYPE_DATE);
    }
    return any && !sl_duck_zone_is_utc(work->conn->dp);
}

static silt_status read_columns(struct grouping *g, size_t file, struct sl_scan_group *out, silt_error *err)
{
    const struct sl_footer *footer = g->footers[file];
    struct sl_scan_work *work = g->work;
    struct sl_duck_reading *readings = sl_arena_alloc_array(&work->arena, work->n_stored, sizeof(*readings));
    if (readings == NULL) {
        return sl_fail_nomem(err);
    }
    *out = (struct sl_scan_group){.readings = readings, .direct = footer->plain_names && !zone_matters(work)};
    for (size_t i = 0; i < work->n_stored; i++) {
        work->columns[i].path = work->plan.files[file].path;
        SL_TRY(sl_duck_column_read(&work->arena, footer, &work->columns[i], &readings[i], err));
        out->direct = out->direct && readings[i].direct.ptr != NULL;
    }
    out->whole = out->direct && is_whole(work, footer, readings);
    return SILT_OK;
}

/* The group of a file whose footer was not met before. */
static silt_status find_group(struct grouping *g, size_t file, size_t *index, silt_error *err)
{
    struct sl_scan_group found;
    struct sl_buf text;
    sl_buf_init(&text, g->work->arena.env);
    bool inserted = false;
    struct sl_map_entry *entry = NULL;
    silt_status status = read_columns(g, file, &found, err);
    if (status == SILT_OK) {
        status = describe(&text, found.readings, g->work->n_stored, err);
    }
    if (status == SILT_OK) {
        const struct sl_str key = sl_arena_copy(&g->work->arena, sl_buf_view(&text));
        entry = key.ptr != NULL ? sl_map_put(&g->by_text, key, &inserted) : NULL;
        status = entry != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    if (status == SILT_OK && inserted) {
        struct sl_scan_group *slot = sl_vec_push(&g->groups);
        if (slot == NULL) {
            status = sl_fail_nomem(err);
        } else {
            *slot = found;
            entry->value.u64 = g->groups.len - 1;
        }
    }
    if (status == SILT_OK) {
        *index = (size_t)entry->value.u64;
        /* Without a schema map the first file speaks for all. */
        struct sl_scan_group *group = sl_vec_at(&g->groups, *index);
        group->direct = group->direct && inserted;
        group->whole = group->whole && inserted;
    }
    sl_buf_release(&text);
    return status;
}

static silt_status assign(struct grouping *g, silt_error *err)
{
    for (size_t i = 0; i < g->work->plan.n_files; i++) {
        if (i > 0 && g->footers[i] == g->footers[i - 1]) {
            g->group[i] = g->group[i - 1];
        } else {
            bool inserted = false;
            const struct sl_str key = sl_str_make((const char *)&g->footers[i], sizeof(g->footers[i]));
            struct sl_map_entry *entry = sl_map_put(&g->by_footer, key, &inserted);
            if (entry == NULL) {
                return sl_fail_nomem(err);
            }
            if (inserted) {
                SL_TRY(find_group(g, i, &g->group[i], err));
                entry->value.u64 = g->group[i];
            }
            g->group[i] = (size_t)entry->value.u64;
        }
        ((struct sl_scan_group *)sl_vec_at(&g->groups, g->group[i]))->n++;
    }
    return SILT_OK;
}

/* Files in the order of their groups, else as they were. */
static silt_status reorder(struct grouping *g, silt_error *err)
{
    struct sl_scan_work *work = g->work;
    const size_t n = work->plan.n_files;
    struct sl_arena *kept = &work->files->arena;
    silt_plan_file *files = sl_arena_alloc_array(&work->arena, n, sizeof(*files));
    size_t *next = sl_arena_alloc_array(&work->arena, work->n_groups, sizeof(*next));
    struct sl_duck_source *sources = sl_arena_alloc_array(kept, n, sizeof(*sources));
    const char **local = sl_arena_alloc_array(kept, n, sizeof(*local));
    if (files == NULL || next == NULL || sources == NULL || local == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < work->n_groups; i++) {
        next[i] = work->groups[i].first;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t place = next[g->group[i]]++;
        files[place] = work->plan.files[i];
        sources[place] = work->files->sources[i];
        local[place] = work->files->local[i];
    }
    work->plan.files = files;
    work->files->sources = sources;
    work->files->local = local;
    return SILT_OK;
}

static silt_status close_groups(struct grouping *g, silt_error *err)
{
    struct sl_scan_work *work = g->work;
    work->n_groups = g->groups.len;
    work->groups = sl_arena_alloc_array(&work->arena, work->n_groups, sizeof(*work->groups));
    if (work->groups == NULL) {
        return sl_fail_nomem(err);
    }
    size_t first = 0;
    for (size_t i = 0; i < work->n_groups; i++) {
        work->groups[i] = *(struct sl_scan_group *)sl_vec_at(&g->groups, i);
        work->groups[i].first = first;
        first += work->groups[i].n;
    }
    return work->n_groups > 1 ? reorder(g, err) : SILT_OK;
}

static silt_status check(struct sl_scan_work *work, struct sl_footer **footers, silt_error *err)
{
    struct silt_field *fields = sl_arena_alloc_array(&work->arena, work->n_stored, sizeof(*fields));
    struct silt_field *titles = sl_arena_alloc_array(&work->arena, work->n_stored, sizeof(*titles));
    if (fields == NULL || titles == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < work->n_stored; i++) {
        fields[i] = *work->stored[i];
        titles[i] = *work->columns[i].logical;
    }
    const struct silt_type wanted = {.kind = SILT_TYPE_STRUCT, .fields = fields, .n_fields = work->n_stored};
    const struct silt_type titled = {.kind = SILT_TYPE_STRUCT, .fields = titles, .n_fields = work->n_stored};
    const struct sl_duck_check request = {
        .type = &wanted, .titles = &titled, .match_by_field_id = work->plan.match_by_field_id};
    return sl_footers_check(work->conn->dp, work->files, footers, &request, err);
}

/* Nothing is read from the files: they are alike whatever they hold. */
static silt_status one_group(struct sl_scan_work *work, silt_error *err)
{
    work->groups = sl_arena_alloc_zero(&work->arena, sizeof(*work->groups));
    if (work->groups == NULL) {
        return sl_fail_nomem(err);
    }
    work->n_groups = 1;
    work->groups[0].n = work->plan.n_files;
    return SILT_OK;
}

silt_status sl_scan_group_files(struct sl_scan_work *work, silt_error *err)
{
    if (work->n_stored == 0) {
        return one_group(work, err);
    }
    const silt_env *env = work->arena.env;
    const size_t n = work->plan.n_files;
    struct grouping g = {.work = work};
    sl_map_init(&g.by_footer, env);
    sl_map_init(&g.by_text, env);
    sl_vec_init(&g.groups, env, sizeof(struct sl_scan_group));
    g.footers = sl_arena_alloc_array(&work->arena, n, sizeof(struct sl_footer *));
    g.group = sl_arena_alloc_array(&work->arena, n, sizeof(*g.group));
    if (g.footers == NULL || g.group == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = sl_footers_enter(work->conn, work->call, work->files, g.footers, err);
    if (status == SILT_OK) {
        status = check(work, g.footers, err);
    }
    if (status == SILT_OK) {
        status = assign(&g, err);
    }
    if (status == SILT_OK) {
        status = close_groups(&g, err);
    }
    sl_footers_leave(work->conn->dp);
    sl_vec_release(&g.groups);
    sl_map_release(&g.by_text);
    sl_map_release(&g.by_footer);
    return status;
}
