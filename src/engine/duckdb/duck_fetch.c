/*
 * Files of stores without local paths, as far as a query reads them.
 *
 *   silt_fetched(file_index, 'id:first')   true, once all that the query may read of the file is there
 *
 * The function is registered once a database and looks its id up when a query is bound, as others do (duck_bound.h). DuckDB
 * opens a file, reads its footer, asks the filter on file_index, and only then reads data; so the footers are brought first, and the function
 * waits for the rest. A part that was never brought is a hole full of zeros, which is no Parquet page: it is an error and never a row.
 *
 * Functions run on DuckDB's threads.
 */
#include "duck_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "duck_bound.h"
#include "duck_footer.h"
#include "duck_function.h"
#include "silt/version.h"
#include "storage/cache/cache_fetch.h"

#define FOOTER_TAIL 8 /* length and magic */
#define NOT_FETCHED SIZE_MAX
#define NO_CONNECTION ((idx_t)-1)

struct sl_duck_fetch {
    struct sl_duck_object object;
    struct sl_dataplane *dp;
    atomic_uint_fast64_t connection; /* that bound the function last */
    volatile int ended;              /* whoever waits shall wait no more */
    silt_error failure;              /* what a query was told last; guarded by the lock of dp->objects */
    struct sl_fetch *fetch;
    struct sl_fetch_file *files; /* what the fetch borrows; paths are copies */
    struct sl_arena arena;
    size_t n_fetched;
    size_t *places; /* [file of the scan]: its place in the fetch, NOT_FETCHED for one with a local path */
    size_t n_files;
};

static void free_fetch(struct sl_duck_object *object)
{
    struct sl_duck_fetch *fetch = (struct sl_duck_fetch *)object;
    const silt_env *env = fetch->dp->env;
    fetch->dp->host->fetch_close(fetch->fetch);
    sl_arena_release(&fetch->arena);
    sl_release(env, fetch, sizeof(*fetch));
}

/* A place is the file that file_index 0 of a SELECT is. */
static size_t places_of(const struct sl_duck_object *object)
{
    return ((const struct sl_duck_fetch *)object)->n_files;
}

static const struct sl_duck_object_class fetch_class = {.free = free_fetch, .places = places_of};

/* ---- footers ---- */

/* How long the footer is, by the last bytes of the local file; 0 for what is no Parquet file: whoever reads it says so. */
static int64_t footer_length(const char *local, int64_t size)
{
    unsigned char tail[FOOTER_TAIL];
    int64_t n = 0;
    const int fd = open(local, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || size < FOOTER_TAIL || pread(fd, tail, sizeof(tail), (off_t)(size - FOOTER_TAIL)) != FOOTER_TAIL ||
        memcmp(tail + 4, "PAR1", 4) != 0) {
        n = 0;
    } else {
        for (int i = 3; i >= 0; i--) {
            n = n << 8 | tail[i];
        }
        n = n <= size - FOOTER_TAIL ? n : 0;
    }
    if (fd >= 0) {
        (void)close(fd); /* nothing was written */
    }
    return n;
}

/* What a footer takes beyond the ends that came with the opening; small files as a whole. */
static silt_status bring_footers(struct sl_duck_fetch *fetch, const silt_call *call, silt_error *err)
{
    const struct sl_dataplane_host *host = fetch->dp->host;
    struct sl_fetch_part *parts = sl_alloc_array(fetch->dp->env, fetch->n_fetched, sizeof(*parts));
    if (parts == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < fetch->n_fetched; i++) {
        const int64_t size = host->fetch_size(fetch->fetch, i);
        const int64_t n = footer_length(host->fetch_path(fetch->fetch, i), size) + FOOTER_TAIL;
        parts[i] = (struct sl_fetch_part){.file = i, .range = {size <= SL_FETCH_WHOLE_BYTES ? 0 : size - n, size}};
    }
    const silt_status status = host->fetch_now(fetch->fetch, call, parts, fetch->n_fetched, err);
    sl_release(fetch->dp->env, parts, fetch->n_fetched * sizeof(*parts));
    return status;
}

/* ---- opening ---- */

static silt_status list_sources(struct sl_duck_fetch *fetch, const struct sl_duck_files *files, silt_error *err)
{
    fetch->n_files = files->n;
    fetch->places = sl_arena_alloc_array(&fetch->arena, files->n, sizeof(*fetch->places));
    fetch->files = sl_arena_alloc_array(&fetch->arena, files->n, sizeof(*fetch->files));
    if (fetch->places == NULL || fetch->files == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < files->n; i++) {
        fetch->places[i] = NOT_FETCHED;
        if (files->local[i] != NULL) {
            continue;
        }
        const char *path = sl_arena_strdup(&fetch->arena, sl_str_from(files->sources[i].path));
        if (path == NULL) {
            return sl_fail_nomem(err);
        }
        fetch->places[i] = fetch->n_fetched;
        fetch->files[fetch->n_fetched++] = (struct sl_fetch_file){.path = path,
                                                                  .size_bytes = files->sources[i].size_bytes};
    }
    return SILT_OK;
}

static silt_status open_fetch(struct sl_duck_fetch *fetch, struct sl_duck_files *files, const silt_call *call,
                              silt_storage *storage, silt_error *err)
{
    const struct sl_dataplane_host *host = fetch->dp->host;
    SL_TRY(list_sources(fetch, files, err));
    const struct sl_fetch_request request = {.env = fetch->dp->env,
                                             .scratch_dir = files->temp_dir,
                                             .storage = storage,
                                             .files = fetch->files,
                                             .n_files = fetch->n_fetched};
    SL_TRY(host->fetch_open(&request, call, &fetch->fetch, err));
    SL_TRY(bring_footers(fetch, call, err));
    for (size_t i = 0; i < files->n; i++) {
        if (fetch->places[i] != NOT_FETCHED) {
            files->local[i] = sl_arena_strdup(&files->arena,
                                              sl_str_from(host->fetch_path(fetch->fetch, fetch->places[i])));
            if (files->local[i] == NULL) {
                return sl_fail_nomem(err);
            }
        }
    }
    return SILT_OK;
}

silt_status sl_duck_fetch_new(struct sl_duck_files *files, const silt_call *call, silt_storage *storage,
                              struct sl_duck_fetch **out, silt_error *err)
{
    struct sl_dataplane *dp = files->dp;
    *out = NULL;
    struct sl_duck_fetch *fetch = sl_alloc_zero(dp->env, sizeof(*fetch));
    if (fetch == NULL) {
        return sl_fail_nomem(err);
    }
    sl_duck_object_init(&fetch->object, dp, &fetch_class);
    fetch->dp = dp;
    atomic_init(&fetch->connection, NO_CONNECTION);
    sl_arena_init(&fetch->arena, dp->env);
    const silt_status status = open_fetch(fetch, files, call, storage, err);
    if (status != SILT_OK) {
        sl_duck_object_drop(&fetch->object);
        return status;
    }
    sl_duck_object_list(&fetch->object);
    *out = fetch;
    return SILT_OK;
}

void sl_duck_fetch_drop(struct sl_duck_fetch *fetch)
{
    sl_duck_object_drop(fetch != NULL ? &fetch->object : NULL);
}

/* ---- what is wanted ---- */

static silt_status want_chunks(struct sl_duck_fetch *fetch, const struct sl_duck_files *files, size_t index,
                               const struct sl_duck_wanted *wanted, struct sl_vec *ranges, silt_error *err)
{
    const struct sl_dataplane_host *host = fetch->dp->host;
    const size_t place = fetch->places[index];
    struct sl_buf space;
    struct sl_str footer = {NULL, 0};
    sl_buf_init(&space, fetch->dp->env);
    ranges->len = 0;
    silt_status status = sl_footer_load(files, index, &space, &footer, err);
    if (status == SILT_OK) {
        status = sl_duck_chunks(footer, host->fetch_size(fetch->fetch, place), wanted, ranges, err);
    }
    for (size_t i = 0; i < ranges->len && status == SILT_OK; i++) {
        const struct sl_fetch_part part = {.file = place, .range = *(struct sl_range *)sl_vec_at(ranges, i)};
        status = host->fetch_want(fetch->fetch, &part, 1, err);
    }
    sl_buf_release(&space);
    return status;
}

/* Files of a scan are put in groups after they were opened: places follow by their local names. */
static silt_status follow_order(struct sl_duck_fetch *fetch, const struct sl_duck_files *files, silt_error *err)
{
    const struct sl_dataplane_host *host = fetch->dp->host;
    struct sl_map by_path;
    silt_status status = SILT_OK;
    sl_map_init(&by_path, fetch->dp->env);
    for (size_t i = 0; i < fetch->n_fetched && status == SILT_OK; i++) {
        const struct sl_str path = sl_str_from(host->fetch_path(fetch->fetch, i));
        bool inserted = false;
        struct sl_map_entry *entry = sl_map_put(&by_path, path, &inserted);
        status = entry != NULL ? SILT_OK : sl_fail_nomem(err);
        if (entry != NULL) {
            entry->value.u64 = i;
        }
    }
    for (size_t i = 0; i < files->n && status == SILT_OK; i++) {
        const struct sl_map_entry *entry = sl_map_find(&by_path, sl_str_from(files->local[i]));
        fetch->places[i] = entry != NULL ? (size_t)entry->value.u64 : NOT_FETCHED;
    }
    sl_map_release(&by_path);
    return status;
}

/* Files that the cache had no room for are elsewhere now. */
static silt_status follow_paths(struct sl_duck_fetch *fetch, struct sl_duck_files *files, silt_error *err)
{
    for (size_t i = 0; i < files->n; i++) {
        const size_t place = fetch->places[i];
        const char *path = place != NOT_FETCHED ? fetch->dp->host->fetch_path(fetch->fetch, place) : files->local[i];
        if (strcmp(path, files->local[i]) != 0) {
            files->local[i] = sl_arena_strdup(&files->arena, sl_str_from(path));
        }
        if (files->local[i] == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

silt_status sl_duck_fetch_begin(struct sl_duck_fetch *fetch, struct sl_duck_files *files,
                                const struct sl_duck_wanted *wanted, silt_error *err)
{
    struct sl_vec ranges;
    SL_TRY(follow_order(fetch, files, err));
    sl_vec_init(&ranges, fetch->dp->env, sizeof(struct sl_range));
    silt_status status = SILT_OK;
    for (size_t i = 0; i < files->n && status == SILT_OK; i++) {
        if (fetch->places[i] != NOT_FETCHED) {
            status = want_chunks(fetch, files, i, wanted, &ranges, err);
        }
    }
    sl_vec_release(&ranges);
    if (status == SILT_OK) {
        status = fetch->dp->host->fetch_start(fetch->fetch, err);
    }
    return status == SILT_OK ? follow_paths(fetch, files, err) : status;
}

silt_status sl_duck_fetch_wait(struct sl_duck_fetch *fetch, const silt_call *call, silt_error *err)
{
    for (size_t i = 0; i < fetch->n_fetched; i++) {
        SL_TRY(fetch->dp->host->fetch_wait(fetch->fetch, call, i, err));
    }
    return SILT_OK;
}

void sl_duck_fetch_put(struct sl_buf *sql, const struct sl_duck_fetch *fetch, size_t first)
{
    sl_buf_printf(sql, "silt_fetched(file_index, '%" PRIu64 ":%zu')", fetch->object.id, first);
}

silt_status sl_duck_fetch_whole(struct sl_duck_fetch *fetch, const silt_call *call, size_t index, silt_error *err)
{
    const struct sl_dataplane_host *host = fetch->dp->host;
    const size_t place = fetch->places[index];
    const struct sl_fetch_part all = {.file = place, .range = {0, host->fetch_size(fetch->fetch, place)}};
    return host->fetch_now(fetch->fetch, call, &all, 1, err);
}

/* ---- the function ---- */

static silt_status wait_for(const struct sl_duck_bound *bound, uint64_t file_index, silt_error *err)
{
    struct sl_duck_fetch *fetch = (struct sl_duck_fetch *)bound->object;
    if (file_index >= fetch->n_files - bound->place) {
        return sl_fail(err, SILT_EENGINE, NULL, "file index is outside of the scan");
    }
    const size_t place = fetch->places[bound->place + (size_t)file_index];
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &fetch->ended};
    const silt_status status = place == NOT_FETCHED ? SILT_OK
                                                    : fetch->dp->host->fetch_wait(fetch->fetch, &call, place, err);
    if (status != SILT_OK) {
        pthread_mutex_lock(&fetch->dp->objects.lock);
        fetch->failure = *err;
        pthread_mutex_unlock(&fetch->dp->objects.lock);
    }
    return status;
}

static void give_fetched(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_bound *bound = sl_duck_bound_of(info);
    if (bound == NULL) {
        return;
    }
    const idx_t n = duckdb_data_chunk_get_size(input);
    const uint64_t *file_index = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    bool *fetched = duckdb_vector_get_data(output);
    for (idx_t row = 0; row < n; row++) {
        silt_error err = SILT_ERROR_INIT;
        if ((row == 0 || file_index[row] != file_index[row - 1]) && wait_for(bound, file_index[row], &err) != SILT_OK) {
            duckdb_scalar_function_set_error(info, err.message);
            return;
        }
        fetched[row] = true;
    }
}

static idx_t connection_of(duckdb_client_context context)
{
    const idx_t id = duckdb_client_context_get_connection_id(context);
    duckdb_destroy_client_context(&context);
    return id;
}

static void bind_fetched(duckdb_bind_info info)
{
    struct sl_duck_fetch *fetch = (struct sl_duck_fetch *)sl_duck_bind_argument(info, &fetch_class, 1);
    if (fetch != NULL) {
        duckdb_client_context context = NULL;
        duckdb_scalar_function_get_client_context(info, &context);
        atomic_store(&fetch->connection, connection_of(context));
        __atomic_store_n(&fetch->ended, 0, __ATOMIC_RELAXED);
    }
}

static void end_waiting(struct sl_duck_object *object, void *ctx)
{
    struct sl_duck_fetch *fetch = (struct sl_duck_fetch *)object;
    if (atomic_load(&fetch->connection) == *(const idx_t *)ctx) {
        __atomic_store_n(&fetch->ended, 1, __ATOMIC_RELAXED);
    }
}

/* Looks for the failure of which only the words came through DuckDB. */
struct search {
    struct sl_str words;
    silt_error found;
};

static void find_failure(struct sl_duck_object *object, void *ctx)
{
    const struct sl_duck_fetch *fetch = (const struct sl_duck_fetch *)object;
    struct search *search = ctx;
    if (fetch->failure.status != SILT_OK && sl_str_eq_c(search->words, fetch->failure.message)) {
        search->found = fetch->failure;
    }
}

silt_status sl_duck_fetch_failure(struct sl_dataplane *dp, struct sl_str words, silt_error *err)
{
    struct search search = {.words = words, .found = SILT_ERROR_INIT};
    sl_duck_objects_visit(dp, &fetch_class, find_failure, &search);
    return search.found.status == SILT_OK ? SILT_OK : sl_error_take(err, &search.found);
}

static void withdraw(struct sl_duck_object *object, void *ctx)
{
    const struct sl_duck_fetch *fetch = (const struct sl_duck_fetch *)object;
    *(bool *)ctx = true;
    fetch->dp->host->fetch_withdraw(fetch->fetch);
}

bool sl_duck_fetch_withdraw(struct sl_dataplane *dp)
{
    bool any = false;
    sl_duck_objects_visit(dp, &fetch_class, withdraw, &any);
    return any;
}

silt_status sl_duck_fetch_footers_again(struct sl_duck_fetch *fetch, const silt_call *call, silt_error *err)
{
    fetch->dp->host->fetch_withdraw(fetch->fetch);
    SL_TRY(bring_footers(fetch, call, err)); /* by the lengths that stood there */
    return bring_footers(fetch, call, err);  /* and by those that came: nothing, if they are the same */
}

void sl_duck_fetch_interrupt(struct sl_dataplane *dp, duckdb_connection handle)
{
    duckdb_client_context context = NULL;
    duckdb_connection_get_client_context(handle, &context);
    idx_t connection = connection_of(context);
    sl_duck_objects_visit(dp, &fetch_class, end_waiting, &connection);
}

bool sl_duck_fetch_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    const struct sl_duck_function function = {.name = "silt_fetched",
                                              .arguments = {DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_VARCHAR},
                                              .n_arguments = 2,
                                              .result = DUCKDB_TYPE_BOOLEAN,
                                              .extra = dp,
                                              .bind = bind_fetched,
                                              .run = give_fetched};
    return sl_duck_function_register(handle, &function);
}
