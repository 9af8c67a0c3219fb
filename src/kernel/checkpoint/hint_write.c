/*
 * `_last_checkpoint`; see hint_write.h. What could be embedded of a V2 checkpoint beside its sidecars is not: a reader takes it from the
 * top file, which is small.
 */
#include "kernel/checkpoint/hint_write.h"

#include <string.h>

#include "base/error.h"
#include "json/writer.h"
#include "kernel/log/hint.h"
#include "kernel/log/json_checksum.h"

/* As Delta Spark: what is longer costs readers more than it saves. */
#define MAX_SCHEMA_LEN 20000
#define MAX_SIDECARS 30

static void put_number(struct sl_json_writer *w, const char *key, int64_t value)
{
    sl_json_key_c(w, key);
    sl_json_put_i64(w, value);
}

static void put_sidecars(struct sl_json_writer *w, const struct sl_hint_content *content)
{
    sl_json_key_c(w, "sidecarFiles");
    sl_json_begin_array(w);
    for (size_t i = 0; i < content->n_sidecars; i++) {
        const struct sl_sidecar *sidecar = &content->sidecars[i];
        sl_json_begin_object(w);
        sl_json_key_c(w, "path");
        sl_json_put_str(w, sidecar->path);
        put_number(w, "sizeInBytes", sidecar->size_in_bytes);
        put_number(w, "modificationTime", sidecar->modification_time);
        sl_json_end_object(w);
    }
    sl_json_end_array(w);
}

static void put_v2(struct sl_json_writer *w, const struct sl_hint_content *content)
{
    sl_json_key_c(w, "v2Checkpoint");
    sl_json_begin_object(w);
    sl_json_key_c(w, "path");
    sl_json_put_str(w, content->v2_path);
    put_number(w, "sizeInBytes", content->v2_size_bytes);
    put_number(w, "modificationTime", content->v2_modified_ms);
    if (content->n_sidecars <= MAX_SIDECARS) {
        put_sidecars(w, content);
    }
    sl_json_end_object(w);
}

/* All members but the checksum; the object stays open. */
static void put_members(struct sl_json_writer *w, const struct sl_hint_content *content)
{
    sl_json_begin_object(w);
    put_number(w, "version", content->version);
    put_number(w, "size", content->size);
    if (content->parts > 0) {
        put_number(w, "parts", content->parts);
    }
    put_number(w, "sizeInBytes", content->size_in_bytes);
    put_number(w, "numOfAddFiles", content->n_adds);
    const char *json = content->schema != NULL ? silt_schema_json(content->schema) : NULL;
    if (json != NULL && strlen(json) <= MAX_SCHEMA_LEN) { /* a hint without it is one as well */
        sl_json_key_c(w, "checkpointSchema");
        sl_json_put_raw(w, sl_str_from(json));
    }
    if (content->v2_path.ptr != NULL) {
        put_v2(w, content);
    }
}

/* The checksum of what was put, as Delta Spark makes it, who looks. */
static silt_status make_checksum(const silt_env *env, const struct sl_buf *open, char sum[SL_JSON_CHECKSUM_SIZE],
                                 silt_error *err)
{
    struct sl_buf closed;
    struct sl_json_doc *doc = NULL;
    sl_buf_init(&closed, env);
    sl_buf_put_str(&closed, sl_buf_view(open));
    sl_buf_put_char(&closed, '}');
    silt_status status = sl_buf_status(&closed, err);
    if (status == SILT_OK) {
        status = sl_json_parse(env, sl_buf_view(&closed), &doc, err);
    }
    if (status == SILT_OK) {
        status = sl_json_checksum(env, sl_json_root(doc), SL_CHECKSUM_BY_TEXT, sum, err);
    }
    sl_json_free(doc);
    sl_buf_release(&closed);
    return status;
}

silt_status sl_hint_print(const silt_env *env, const struct sl_hint_content *content, struct sl_buf *out,
                          silt_error *err)
{
    char sum[SL_JSON_CHECKSUM_SIZE];
    struct sl_json_writer w;
    struct sl_buf text;
    sl_buf_init(&text, env);
    sl_json_writer_init(&w, &text);
    put_members(&w, content);
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = make_checksum(env, &text, sum, err);
    }
    if (status == SILT_OK) {
        sl_json_key_c(&w, "checksum");
        sl_json_put_c(&w, sum);
        sl_json_end_object(&w);
        sl_buf_put_str(out, sl_buf_view(&text));
        status = sl_buf_status(&text, err);
    }
    sl_buf_release(&text);
    return status == SILT_OK ? sl_buf_status(out, err) : status;
}

/*
 * One of a later checkpoint stays, if it is good for anything: only then does it matter whether it is, and is looked at as closely as when it is
 * followed.
 */
static silt_status is_later(const struct sl_log_source *source, const silt_call *call, int64_t version, bool *later,
                            silt_error *err)
{
    const silt_env *env = silt_engine_env(source->engine);
    struct sl_hint old = {.version = -1};
    struct sl_arena arena;
    void *data = NULL;
    size_t len = 0;
    *later = false;
    sl_arena_init(&arena, env);
    const struct sl_str path = sl_log_path(&arena, source->root, SL_STR("_last_checkpoint"));
    silt_status status = path.ptr != NULL ? silt_storage_read(source->storage, call, path.ptr, &data, &len, err)
                                          : sl_fail_nomem(err);
    if (status == SILT_OK) {
        const bool seems = sl_hint_version(env, sl_str_make(data, len)) > version;
        silt_storage_free(source->storage, data, len);
        status = seems ? sl_hint_read(env, source->storage, call, source->root, &arena, &old, err) : SILT_OK;
        *later = old.version > version;
    } else if (path.ptr != NULL && status != SILT_ENOMEM && status != SILT_ECANCELLED && status != SILT_EDEADLINE) {
        silt_error_reset(err); /* what cannot be read is no hint */
        status = SILT_OK;
    }
    sl_arena_release(&arena);
    return status;
}

silt_status sl_hint_write(const struct sl_log_source *source, const silt_call *call,
                          const struct sl_hint_content *content, silt_error *err)
{
    const silt_env *env = silt_engine_env(source->engine);
    struct sl_arena arena;
    struct sl_buf text;
    bool later = false;
    sl_arena_init(&arena, env);
    sl_buf_init(&text, env);
    silt_status status = is_later(source, call, content->version, &later, err);
    if (status == SILT_OK && !later) {
        const struct sl_str path = sl_log_path(&arena, source->root, SL_STR("_last_checkpoint"));
        status = path.ptr != NULL ? sl_hint_print(env, content, &text, err) : sl_fail_nomem(err);
        if (status == SILT_OK) {
            status = silt_storage_put(source->storage, call, path.ptr, text.data, text.len, err);
        }
    }
    sl_buf_release(&text);
    sl_arena_release(&arena);
    return status;
}
