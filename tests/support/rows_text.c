/*
 * Rows as text, see rows_text.h.
 */
#include "rows_text.h"

#include "base/arrow.h"
#include "schema/value.h"

static void put_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch, struct sl_buf *out)
{
    for (int64_t row = 0; row < batch->length; row++) {
        for (int64_t i = 0; i < schema->n_children; i++) {
            silt_value value;
            sl_buf_put_c(out, i == 0 ? "" : "|");
            if (!sl_value_from_arrow(schema->children[i], batch->children[i], batch->offset + row, &value)) {
                sl_buf_printf(out, "<%s>", schema->children[i]->format);
            } else {
                sl_value_print(out, &value);
            }
        }
        sl_buf_put_char(out, '\n');
    }
}

silt_status rows_drain(struct ArrowArrayStream *stream, struct sl_buf *out, silt_error *err)
{
    struct ArrowSchema schema = {0};
    silt_status status = sl_arrow_stream_schema(stream, &schema, err);
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(stream, &batch, &done, err);
        if (status == SILT_OK && !done) {
            put_batch(&schema, &batch, out);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    sl_arrow_stream_release(stream);
    return status;
}

silt_status rows_run(silt_session *session, struct sl_str text, const struct ArrowSchema *params_schema,
                     const struct ArrowArray *params, struct rows_result *out, silt_error *err)
{
    silt_execution *execution = NULL;
    bool done = false;
    out->version = -1;
    out->skipped = false;
    silt_status status = silt_session_execute(session, text.ptr, text.len, params_schema, params, &execution, err);
    while (status == SILT_OK && !done) {
        silt_result result = {.size = sizeof(result)};
        status = silt_execution_next(execution, NULL, &result, &done, err);
        if (status == SILT_OK && !done) {
            sl_buf_clear(out->rows);
            out->kind = result.kind;
            out->version = result.version;
            out->skipped = result.skipped;
            status = result.stream.release != NULL ? rows_drain(&result.stream, out->rows, err) : SILT_OK;
        }
    }
    silt_execution_free(execution);
    return status;
}
