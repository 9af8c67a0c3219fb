/* The mini engine itself: its making, its files, and values for tests. */
#include "mini_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

silt_value mini_null(void)
{
    return (silt_value){.kind = SILT_TYPE_VOID, .is_null = true};
}

silt_value mini_long(int64_t v)
{
    return (silt_value){.kind = SILT_TYPE_LONG, .as = {.i64 = v}};
}

silt_value mini_double(double v)
{
    return (silt_value){.kind = SILT_TYPE_DOUBLE, .as = {.f64 = v}};
}

silt_value mini_text(const char *v)
{
    silt_value value = {.kind = SILT_TYPE_STRING};
    value.as.bytes.ptr = v;
    value.as.bytes.len = strlen(v);
    return value;
}

silt_value mini_copy_value(silt_value v)
{
    if (v.kind == SILT_TYPE_STRING && !v.is_null) {
        char *copy = malloc(v.as.bytes.len + 1);
        memcpy(copy, v.as.bytes.ptr, v.as.bytes.len);
        copy[v.as.bytes.len] = '\0';
        v.as.bytes.ptr = copy;
    }
    return v;
}

static char *copy_text(const char *text)
{
    return (char *)(uintptr_t)mini_copy_value(mini_text(text)).as.bytes.ptr;
}

struct mini_file *mini_find(struct mini_engine *mini, const char *path)
{
    for (struct mini_file *file = mini->files; file != NULL; file = file->next) {
        if (strcmp(file->path, path) == 0) {
            return file;
        }
    }
    return NULL;
}

struct mini_file *mini_add(struct mini_engine *mini, const char *path, size_t n_columns, size_t n_rows)
{
    struct mini_file *file = calloc(1, sizeof(*file));
    file->path = copy_text(path);
    file->n_columns = n_columns;
    file->n_rows = n_rows;
    for (size_t i = 0; i < n_columns; i++) {
        file->columns[i].values = calloc(n_rows + 1, sizeof(silt_value));
    }
    file->next = mini->files;
    mini->files = file;
    return file;
}

void mini_engine_can(struct mini_engine *mini, const char *path, const char *const *names, size_t n_columns,
                     const silt_value *cells, size_t n_rows)
{
    struct mini_file *file = mini_add(mini, path, n_columns, n_rows);
    for (size_t i = 0; i < n_columns; i++) {
        file->columns[i].name = copy_text(names[i]);
        for (size_t row = 0; row < n_rows; row++) {
            file->columns[i].values[row] = mini_copy_value(cells[row * n_columns + i]);
        }
    }
}

bool mini_engine_commit(struct mini_engine *mini, const char *root, int64_t version, const char *const *lines, size_t n)
{
    size_t size = 1;
    for (size_t i = 0; i < n; i++) {
        size += strlen(lines[i]) + 1;
    }
    char *text = malloc(size);
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        len += (size_t)snprintf(text + len, size - len, "%s\n", lines[i]);
    }
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/_delta_log/%020lld.json", root, (long long)version);
    silt_put_outcome outcome = SILT_PUT_EXISTS;
    silt_status status = silt_storage_put_if_absent(mini->store, NULL, path, text, len, &outcome, NULL);
    free(text);
    return status == SILT_OK && outcome == SILT_PUT_DONE;
}

bool mini_engine_init(struct mini_engine *mini, const silt_env *env, unsigned flags, silt_error *err)
{
    memset(mini, 0, sizeof(*mini));
    silt_storage_registry *stores = NULL;
    const silt_env *used = env != NULL ? env : silt_env_default();
    silt_engine_options options = {.size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = used};
    options.parquet = (silt_parquet_handler){&mini_parquet, mini};
    if ((flags & MINI_NO_EXPRESSION) == 0) {
        options.expression = (silt_expression_handler){&mini_expression, mini};
    }
    if (silt_storage_memory_new(used, &mini->store, err) != SILT_OK) {
        return false;
    }
    if (silt_storage_registry_new(used, &stores, err) == SILT_OK &&
        silt_storage_registry_add(stores, "memory", mini->store, err) == SILT_OK) {
        options.stores = stores;
        if (silt_engine_new(&options, &mini->engine, err) == SILT_OK) {
            return true;
        }
    }
    silt_storage_registry_free(stores);
    silt_storage_unref(mini->store);
    return false;
}

void mini_engine_release(struct mini_engine *mini)
{
    silt_engine_unref(mini->engine);
    silt_storage_unref(mini->store);
    while (mini->files != NULL) {
        struct mini_file *file = mini->files;
        mini->files = file->next;
        for (size_t i = 0; i < file->n_columns; i++) {
            for (size_t row = 0; row < file->n_rows; row++) {
                if (file->columns[i].values[row].kind == SILT_TYPE_STRING) {
                    free((void *)(uintptr_t)file->columns[i].values[row].as.bytes.ptr);
                }
            }
            free(file->columns[i].values);
            free(file->columns[i].name);
        }
        free(file->path);
        free(file);
    }
    memset(mini, 0, sizeof(*mini));
}
