/*
 * Columns of several remote files, brought at once into the range cache, where the reads that follow find them. Any thread.
 */
#include "duck.h"

#include "base/error.h"
#include "duck_fetch.h"

static silt_status bring(struct sl_duck_files *files, const silt_call *call, const silt_parquet_bring *request,
                         silt_error *err)
{
    struct sl_str *names = sl_arena_alloc_array(&files->arena, request->n_columns, sizeof(*names));
    int64_t *ids = sl_arena_alloc_array(&files->arena, request->n_columns, sizeof(*ids));
    if (names == NULL || ids == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < request->n_columns; i++) {
        names[i] = sl_str_from(request->columns[i]);
        ids[i] = -1;
    }
    const struct sl_duck_wanted wanted = {.names = names, .ids = ids, .n = request->n_columns};
    SL_TRY(sl_duck_fetch_begin(files->fetch, files, &wanted, err));
    return sl_duck_fetch_wait(files->fetch, call, err);
}

silt_status sl_duck_bring(void *impl, const silt_call *call, const silt_parquet_bring *request, silt_error *err)
{
    struct sl_dataplane *dp = impl;
    struct sl_duck_files files = {0};
    struct sl_arena arena;
    sl_arena_init(&arena, dp->env);
    struct sl_duck_source *sources = sl_arena_alloc_array(&arena, request->n_files, sizeof(*sources));
    silt_status status = sources != NULL ? SILT_OK : sl_fail_nomem(err);
    for (size_t i = 0; i < request->n_files && status == SILT_OK; i++) {
        sources[i] = (struct sl_duck_source){.path = request->files[i].path,
                                             .local_path = request->files[i].local_path,
                                             .size_bytes = request->files[i].size_bytes};
    }
    if (status == SILT_OK) {
        status = sl_duck_files_open(dp, call, request->storage, sources, request->n_files, &files, err);
    }
    if (status == SILT_OK && files.fetch != NULL) {
        status = bring(&files, call, request, err);
    }
    sl_duck_files_close(&files);
    sl_arena_release(&arena);
    return status;
}
