/*
 * Physical types against wanted ones. DuckDB casts what it finds in a file to what a scan declares, text to numbers and doubles
 * to integers included, so a file that contradicts the table's schema would be read as wrong data without a word. Each file's
 * footer is therefore looked at once, before its first scan (parquet_schema, about 30 µs a file), and what was found is kept:
 * files of a table are immutable and most of them share one schema, so later scans compare pointers.
 *
 * Allowed is what keeps every value: the same type, wider integers, floats and decimals, date to timestamp without zone, and the
 * spellings of one type that writers differ in (INT32 without annotation for byte and short, INT96 timestamps).
 * Any thread; the cache is guarded by the instance's lock.
 */
#include "duck_footer.h"

#include <sys/stat.h>

#include "base/error.h"

/* More files than this and the cache starts anew. */
#define MAX_CACHED_FILES 200000
/* Nodes of one file's schema. */
#define MAX_NODES 1000000

struct footer_schema {
    struct sl_footer_node *nodes; /* [0] is the root */
    size_t n_nodes;
    uint64_t passed; /* id of the check that it passed last */
    bool plain_names;
};

/* ---- the cache ---- */

void sl_duck_footers_init(struct sl_duck_footers *footers, const silt_env *env)
{
    sl_arena_init(&footers->arena, env);
    sl_map_init(&footers->files, env);
    sl_map_init(&footers->schemas, env);
}

void sl_duck_footers_release(struct sl_duck_footers *footers)
{
    sl_map_release(&footers->files);
    sl_map_release(&footers->schemas);
    sl_arena_release(&footers->arena);
}

/* A file is known by path and size. Copies of remote files have names of their own each time and are never cached. */
static bool file_key(const struct sl_duck_files *files, size_t index, struct sl_buf *key)
{
    const struct sl_duck_source *source = &files->sources[index];
    sl_buf_clear(key);
    sl_buf_put_i64(key, source->size_bytes);
    sl_buf_put_char(key, ' ');
    sl_buf_put_c(key, files->local[index]);
    return source->local_path != NULL && source->size_bytes >= 0;
}

/* ---- reading footers ---- */

/* One schema as it arrives, node by node. */
struct collector {
    struct sl_arena arena;
    struct sl_vec nodes;
    struct sl_buf signature;
    int64_t missing; /* nodes that must still come */
};

static bool push_node(struct collector *c, duckdb_data_chunk chunk, idx_t row)
{
    struct sl_footer_node *node = sl_vec_push(&c->nodes);
    if (node == NULL) {
        return false;
    }
    const struct sl_str name = sl_duck_cell_str(chunk, 1, row);
    const struct sl_str type = sl_duck_cell_str(chunk, 3, row);
    const struct sl_str converted = sl_duck_cell_str(chunk, 4, row);
    int64_t children = 0;
    node->field_id = -1;
    (void)sl_duck_cell_i64(chunk, 2, row, &children); /* NULL: a leaf */
    (void)sl_duck_cell_i64(chunk, 6, row, &node->field_id);
    node->n_children = children > 0 && children < MAX_NODES ? (uint32_t)children : 0;
    node->repeated = sl_str_eq_c(sl_duck_cell_str(chunk, 5, row), "REPEATED");
    node->int96 = sl_str_eq_c(sl_duck_cell_str(chunk, 7, row), "INT96");
    if (sl_str_eq_c(converted, "LIST")) {
        node->shape = SL_SHAPE_LIST;
    } else if (sl_str_eq_c(converted, "MAP") || sl_str_eq_c(converted, "MAP_KEY_VALUE")) {
        node->shape = SL_SHAPE_MAP;
    }
    node->name = sl_arena_copy(&c->arena, name);
    node->type = type.ptr != NULL ? sl_arena_copy(&c->arena, type) : type;
    sl_buf_printf(&c->signature, "%zu:%.*s/%u/%d/%d/%d/%lld/%.*s;", name.len, SL_FMT(name), node->n_children,
                  (int)node->shape, (int)node->repeated, (int)node->int96, (long long)node->field_id, SL_FMT(type));
    c->missing += (int64_t)node->n_children - 1;
    return name.ptr == NULL || node->name.ptr != NULL;
}

/* Fills n_nodes from the end backwards; false if the tree does not close. */
static bool count_subtrees(struct sl_footer_node *nodes, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        size_t next = i + 1;
        for (uint32_t child = 0; child < nodes[i].n_children; child++) {
            if (next >= n) {
                return false;
            }
            next += nodes[next].n_nodes;
        }
        if (next > n) {
            return false;
        }
        nodes[i].n_nodes = (uint32_t)(next - i);
    }
    return n > 0 && nodes[0].n_nodes == n;
}

/* The schema of this signature in the cache, made if it is new. dp->lock is held. NULL: out of memory or a broken tree. */
static struct footer_schema *intern_schema(struct sl_duck_footers *cache, const struct collector *c)
{
    struct sl_map_entry *known = sl_map_find(&cache->schemas, sl_buf_view(&c->signature));
    if (known != NULL) {
        return known->value.ptr;
    }
    struct footer_schema *schema = sl_arena_alloc_zero(&cache->arena, sizeof(*schema));
    struct sl_footer_node *nodes = sl_arena_alloc_array(&cache->arena, c->nodes.len, sizeof(*nodes));
    const struct sl_str key = sl_arena_copy(&cache->arena, sl_buf_view(&c->signature));
    if (schema == NULL || nodes == NULL || key.ptr == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < c->nodes.len; i++) {
        nodes[i] = *(struct sl_footer_node *)sl_vec_at(&c->nodes, i);
        nodes[i].name = sl_arena_copy(&cache->arena, nodes[i].name);
        nodes[i].type = nodes[i].type.ptr != NULL ? sl_arena_copy(&cache->arena, nodes[i].type) : nodes[i].type;
    }
    schema->nodes = nodes;
    schema->n_nodes = c->nodes.len;
    bool inserted = false;
    struct sl_map_entry *entry = count_subtrees(nodes, c->nodes.len) ? sl_map_put(&cache->schemas, key, &inserted)
                                                                     : NULL;
    if (entry == NULL) {
        return NULL;
    }
    schema->plain_names = sl_footer_names_are_plain(cache->arena.env, nodes);
    entry->value.ptr = schema;
    return schema;
}

static silt_status keep_file(struct sl_dataplane *dp, const struct sl_duck_files *files, size_t index,
                             struct collector *c, struct footer_schema **out, silt_error *err)
{
    struct sl_buf key;
    sl_buf_init(&key, dp->env);
    const bool cacheable = file_key(files, index, &key);
    silt_status status = sl_buf_status(&key, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&c->signature, err);
    }
    if (status == SILT_OK) {
        pthread_mutex_lock(&dp->lock);
        *out = intern_schema(&dp->footers, c);
        struct sl_map_entry *entry = NULL;
        if (*out != NULL && cacheable) {
            const struct sl_str kept = sl_arena_copy(&dp->footers.arena, sl_buf_view(&key));
            bool inserted = false;
            entry = kept.ptr != NULL ? sl_map_put(&dp->footers.files, kept, &inserted) : NULL;
            if (entry != NULL) {
                entry->value.ptr = *out;
            }
        }
        pthread_mutex_unlock(&dp->lock);
        if (*out == NULL || (cacheable && entry == NULL)) {
            status = sl_fail(err, SILT_ECORRUPT, NULL, "the schema in the footer of %s cannot be understood",
                             files->sources[index].path);
        }
    }
    sl_buf_release(&key);
    return status;
}

static void reset_collector(struct collector *c)
{
    c->nodes.len = 0;
    c->missing = 1;
    sl_buf_clear(&c->signature);
    const silt_env *env = c->arena.env;
    sl_arena_release(&c->arena);
    sl_arena_init(&c->arena, env);
}

struct reading {
    struct sl_duck_conn *conn;
    const silt_call *call;
    const struct sl_duck_files *files;
    const size_t *wanted; /* indexes into files */
    size_t n_wanted;
    struct footer_schema **schemas; /* [file] */
};

static silt_status take_chunk(const struct reading *reading, duckdb_data_chunk chunk, struct collector *c, size_t *done,
                              silt_error *err)
{
    const idx_t n = duckdb_data_chunk_get_size(chunk);
    for (idx_t row = 0; row < n; row++) {
        if (*done >= reading->n_wanted) {
            return sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of more files than were asked for");
        }
        const size_t index = reading->wanted[*done];
        if (c->missing == 1 && c->nodes.len == 0 &&
            !sl_str_eq_c(sl_duck_cell_str(chunk, 0, row), reading->files->local[index])) {
            return sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of another file than %s",
                           reading->files->local[index]);
        }
        if (c->nodes.len >= MAX_NODES || !push_node(c, chunk, row)) {
            return sl_fail_nomem(err);
        }
        if (c->missing == 0) {
            SL_TRY(keep_file(reading->conn->dp, reading->files, index, c, &reading->schemas[index], err));
            reset_collector(c);
            (*done)++;
        }
    }
    return SILT_OK;
}

/* Opening a pipe or a device would wait for a writer that never comes. What is missing is for DuckDB to report. */
static silt_status check_regular(const struct reading *reading, silt_error *err)
{
    for (size_t i = 0; i < reading->n_wanted; i++) {
        struct stat found;
        if (stat(reading->files->local[reading->wanted[i]], &found) == 0 && !S_ISREG(found.st_mode)) {
            const char *path = reading->files->sources[reading->wanted[i]].path;
            const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND",
                                               "data file %s is no regular file", path);
            sl_error_path(err, path);
            return status;
        }
    }
    return SILT_OK;
}

static silt_status read_footers(const struct reading *reading, silt_error *err)
{
    SL_TRY(check_regular(reading, err));
    const silt_env *env = reading->conn->dp->env;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    size_t done = 0;
    struct collector c = {.missing = 1};
    sl_arena_init(&c.arena, env);
    sl_vec_init(&c.nodes, env, sizeof(struct sl_footer_node));
    sl_buf_init(&c.signature, env);
    struct sl_buf sql;
    sl_buf_init(&sql, env);
    sl_buf_put_c(&sql, "SELECT file_name, name, num_children::BIGINT, duckdb_type, converted_type, repetition_type, "
                       "field_id::BIGINT, type FROM parquet_schema([");
    for (size_t i = 0; i < reading->n_wanted; i++) {
        sl_buf_put_c(&sql, i == 0 ? "" : ",");
        sl_duck_put_path(&sql, reading->files->local[reading->wanted[i]]);
    }
    sl_buf_put_c(&sql, "])");
    silt_status status = sl_duck_exec(reading->conn, reading->call, &sql, &result, err);
    while (status == SILT_OK) {
        status = sl_duck_fetch(reading->conn, reading->call, &result, &chunk, err);
        if (status != SILT_OK || chunk == NULL) {
            break;
        }
        status = take_chunk(reading, chunk, &c, &done, err);
        duckdb_destroy_data_chunk(&chunk);
    }
    if (status == SILT_OK && done != reading->n_wanted) {
        status = sl_fail(err, SILT_EENGINE, NULL, "DuckDB read %zu footers instead of %zu", done, reading->n_wanted);
    }
    duckdb_destroy_result(&result);
    sl_buf_release(&sql);
    sl_buf_release(&c.signature);
    sl_vec_release(&c.nodes);
    sl_arena_release(&c.arena);
    return status;
}

/* ---- checking ---- */

/* Looks the files up in the cache; schemas[i] stays NULL for those that are not there. Returns their number. */
static size_t look_up(struct sl_dataplane *dp, const struct sl_duck_files *files, struct footer_schema **schemas,
                      size_t *unknown)
{
    size_t n = 0;
    struct sl_buf key;
    sl_buf_init(&key, dp->env);
    pthread_mutex_lock(&dp->lock);
    for (size_t i = 0; i < files->n; i++) {
        struct sl_map_entry *entry = NULL;
        if (file_key(files, i, &key) && key.status == SILT_OK) {
            entry = sl_map_find(&dp->footers.files, sl_buf_view(&key));
        }
        schemas[i] = entry != NULL ? entry->value.ptr : NULL;
        if (entry == NULL) {
            unknown[n++] = i;
        }
    }
    pthread_mutex_unlock(&dp->lock);
    sl_buf_release(&key);
    return n;
}

static silt_status check_schemas(struct sl_dataplane *dp, const struct sl_duck_files *files,
                                 struct footer_schema **schemas, const struct sl_footer_wanted *wanted, silt_error *err)
{
    const uint64_t id = sl_duck_next_id(dp);
    silt_status status = SILT_OK;
    pthread_mutex_lock(&dp->lock);
    for (size_t i = 0; i < files->n && status == SILT_OK; i++) {
        if (schemas[i]->passed == id) {
            continue;
        }
        status = sl_footer_match(dp->env, schemas[i]->nodes, wanted, files->sources[i].path, err);
        if (status == SILT_OK) {
            schemas[i]->passed = id;
        }
    }
    pthread_mutex_unlock(&dp->lock);
    return status;
}

/* One schema for all, so that the first file speaks for the others, and it is the wanted one. */
static bool are_exact(const struct sl_duck_files *files, struct footer_schema *const *schemas,
                      const struct sl_duck_check *check)
{
    for (size_t i = 1; i < files->n; i++) {
        if (schemas[i] != schemas[0]) {
            return false;
        }
    }
    return !check->match_by_field_id && schemas[0]->plain_names && sl_footer_is_exact(schemas[0]->nodes, check->type);
}

/* Schemas are freed only here, and only while no check holds pointers to them. */
static void enter(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_footers *footers = &dp->footers;
    if (footers->users == 0 && footers->files.len > MAX_CACHED_FILES) {
        sl_duck_footers_release(footers);
        sl_duck_footers_init(footers, dp->env);
    }
    footers->users++;
    pthread_mutex_unlock(&dp->lock);
}

static void leave(struct sl_dataplane *dp)
{
    pthread_mutex_lock(&dp->lock);
    dp->footers.users--;
    pthread_mutex_unlock(&dp->lock);
}

/*
 * DuckDB takes what names no zone for the session's wall clock. Where it stands for instants (INT96) that is right under UTC only,
 * so another zone is refused rather than obeyed. Readers of our own connections set UTC themselves.
 */
static silt_status check_zone(struct sl_dataplane *dp, const struct sl_duck_files *files, silt_error *err)
{
    return sl_duck_zone_is_utc(dp)
               ? SILT_OK
               : sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE",
                         "file %s or another of the scan holds timestamps in a form without zone (INT96), which can be "
                         "queried only while the session's time zone is UTC",
                         files->sources[0].path);
}

silt_status sl_duck_check_files(struct sl_duck_conn *conn, const silt_call *call, const struct sl_duck_files *files,
                                const struct sl_duck_check *check, silt_error *err)
{
    const struct silt_type *wanted = check->type;
    bool wall_clock = false;
    if (check->exact != NULL) {
        *check->exact = false;
    }
    if (files->n == 0 || wanted->n_fields == 0) {
        return SILT_OK;
    }
    struct sl_dataplane *dp = conn->dp;
    struct sl_arena arena;
    sl_arena_init(&arena, dp->env);
    enter(dp);
    silt_status status = SILT_OK;
    struct footer_schema **schemas = sl_arena_alloc_array(&arena, files->n, sizeof(struct footer_schema *));
    size_t *unknown = sl_arena_alloc_array(&arena, files->n, sizeof(*unknown));
    if (schemas == NULL || unknown == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    const size_t n = look_up(dp, files, schemas, unknown);
    if (n > 0) {
        const struct reading reading = {
            .conn = conn, .call = call, .files = files, .wanted = unknown, .n_wanted = n, .schemas = schemas};
        status = read_footers(&reading, err);
    }
    if (status == SILT_OK) {
        const struct sl_footer_wanted all = {
            .type = wanted, .match_by_field_id = check->match_by_field_id, .wall_clock = &wall_clock};
        status = check_schemas(dp, files, schemas, &all, err);
    }
    if (status == SILT_OK && wall_clock && !check->runs_in_utc) {
        status = check_zone(dp, files, err);
    }
    if (status == SILT_OK && check->exact != NULL) {
        *check->exact = are_exact(files, schemas, check);
    }
out:
    leave(dp);
    sl_arena_release(&arena);
    return status;
}
