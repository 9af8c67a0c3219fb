/*
 * Clustering columns: the metadata domain "delta.clustering" holds them by physical names (PROTOCOL.md "Clustered Table"), people know the
 * logical ones. Called by what describes tables. What the domain holds beyond its form, or names of columns that are gone, are shown as
 * they stand: a description must not fail on them. Any thread.
 */
#include "commands/clustering.h"

#include "base/error.h"
#include "json/json.h"
#include "schema/ident.h"
#include "schema/type.h"

#define DOMAIN_NAME "delta.clustering"

/* The logical name of one step, which is the physical one if there is no such field; both types move into it. */
static struct sl_str step(const struct silt_type **logical, const struct silt_type **physical, struct sl_str name)
{
    const struct silt_type *from = *physical;
    const struct silt_type *to = *logical;
    *logical = *physical = NULL;
    for (size_t i = 0; from != NULL && i < from->n_fields; i++) {
        if (sl_str_eq(from->fields[i].name, name)) {
            *physical = from->fields[i].type;
            *logical = to->fields[i].type;
            return to->fields[i].name;
        }
    }
    return name;
}

static void put_path(struct sl_buf *out, const silt_snapshot *snapshot, const sl_json *path)
{
    const struct silt_type *logical = &silt_snapshot_schema(snapshot)->root;
    const struct silt_type *physical = &silt_snapshot_physical_schema(snapshot)->root;
    struct sl_json_iter iter = sl_json_iterate(path);
    struct sl_str key;
    const sl_json *part = NULL;
    while (sl_json_next(&iter, &key, &part)) {
        struct sl_str name;
        if (!sl_json_to_str(part, &name)) {
            continue;
        }
        if (out->len > 0) {
            sl_buf_put_char(out, '.');
        }
        sl_ident_print(out, step(&logical, &physical, name));
    }
}

static silt_status read_columns(const silt_snapshot *snapshot, const sl_json *columns, struct sl_arena *arena,
                                struct sl_str_list *out, silt_error *err)
{
    struct sl_str *names = sl_arena_alloc_array(arena, sl_json_count(columns) + 1, sizeof(*names));
    if (names == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_buf text;
    sl_buf_init(&text, arena->env);
    silt_status status = SILT_OK;
    struct sl_json_iter iter = sl_json_iterate(columns);
    struct sl_str key;
    const sl_json *path = NULL;
    size_t n = 0;
    while (status == SILT_OK && sl_json_next(&iter, &key, &path)) {
        sl_buf_clear(&text);
        put_path(&text, snapshot, path);
        status = sl_buf_status(&text, err);
        if (status != SILT_OK || text.len == 0) {
            continue;
        }
        names[n] = sl_arena_copy(arena, sl_buf_view(&text));
        status = names[n++].ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&text);
    *out = (struct sl_str_list){names, n};
    return status;
}

silt_status sl_clustering_columns(const silt_snapshot *snapshot, struct sl_arena *arena, struct sl_str_list *out,
                                  silt_error *err)
{
    *out = (struct sl_str_list){NULL, 0};
    const char *config = silt_snapshot_domain(snapshot, DOMAIN_NAME);
    if (config == NULL) {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    silt_error ignored = SILT_ERROR_INIT;
    silt_status status = sl_json_parse(arena->env, sl_str_from(config), &doc, &ignored);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status == SILT_OK) {
        status = read_columns(snapshot, sl_json_member(sl_json_root(doc), "clusteringColumns"), arena, out, err);
    } else {
        status = SILT_OK; /* no JSON: nothing is known of it */
    }
    sl_json_free(doc);
    return status;
}
