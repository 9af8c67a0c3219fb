/*
 * A stream that is looked into; see small_rows.h.
 */
#include "engine/small_rows.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"

static struct ArrowArray *batch_at(const struct sl_small_rows *rows, size_t index)
{
    return sl_vec_at(&rows->batches, index);
}

silt_status sl_small_rows_open(const silt_env *env, struct ArrowArrayStream *rows, struct sl_small_rows *out,
                               silt_error *err)
{
    *out = (struct sl_small_rows){.env = env};
    sl_vec_init(&out->batches, env, sizeof(struct ArrowArray));
    sl_arrow_stream_move(&out->in, rows);
    return sl_arrow_stream_schema(&out->in, &out->schema, err);
}

void sl_small_rows_close(struct sl_small_rows *rows)
{
    for (size_t i = 0; i < rows->batches.len; i++) {
        sl_arrow_array_release(batch_at(rows, i));
    }
    sl_vec_release(&rows->batches);
    sl_arrow_schema_release(&rows->schema);
    sl_arrow_stream_release(&rows->in);
}

silt_status sl_small_rows_next(struct sl_small_rows *rows, const struct ArrowArray **batch, silt_error *err)
{
    *batch = NULL;
    struct ArrowArray *slot = sl_vec_push(&rows->batches);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = (struct ArrowArray){0};
    const silt_status status = sl_arrow_stream_next(&rows->in, slot, &rows->at_end, err);
    if (status != SILT_OK || rows->at_end) {
        rows->batches.len--;
        return status;
    }
    *batch = slot;
    return SILT_OK;
}

/* ---- from the first row on ---- */

struct rewound {
    struct sl_small_rows rows;
    size_t next;
};

static silt_status rewound_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    const struct rewound *rewound = ctx;
    return sl_arrow_schema_copy(rewound->rows.env, &rewound->rows.schema, out, err);
}

static silt_status rewound_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct rewound *rewound = ctx;
    struct sl_small_rows *rows = &rewound->rows;
    if (rewound->next < rows->batches.len) {
        sl_arrow_array_move(batch, batch_at(rows, rewound->next++));
        return SILT_OK;
    }
    if (rows->at_end) {
        return SILT_OK;
    }
    return sl_arrow_stream_next(&rows->in, batch, &rows->at_end, err);
}

static void rewound_close(void *ctx)
{
    struct rewound *rewound = ctx;
    const silt_env *env = rewound->rows.env;
    sl_small_rows_close(&rewound->rows);
    sl_release(env, rewound, sizeof(*rewound));
}

silt_status sl_small_rows_rewind(struct sl_small_rows *rows, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {rewound_schema, rewound_next, rewound_close};
    struct rewound *rewound = sl_alloc_zero(rows->env, sizeof(*rewound));
    if (rewound == NULL) {
        return sl_fail_nomem(err);
    }
    rewound->rows = *rows; /* moves */
    *rows = (struct sl_small_rows){.env = rewound->rows.env};
    return sl_arrow_stream_new(rewound->rows.env, &source, rewound, out, err);
}
