/*
 * Dispatch to the expression handler, checked before and after as in parquet_dispatch.c. Called by the kernel
 * only through these functions. Any thread.
 */
#include "kernel/engine/engine.h"
#include "kernel/engine/engine_int.h"

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"

silt_status sl_expression_filter(silt_engine *engine, const silt_call *call, struct ArrowArrayStream *in,
                                 const silt_expr *predicate, struct ArrowArrayStream *out, silt_error *err)
{
    static const char kind[] = "expression handler";
    *out = (struct ArrowArrayStream){0};
    silt_status status = engine->has_expression ? sl_call_check(engine->env, call, err) : sl_handler_absent(kind, err);
    if (status == SILT_OK) {
        silt_error found = SILT_ERROR_INIT;
        status = engine->expression.filter(engine->expression_impl, call, in, predicate, out, &found);
        status = sl_handler_finish(status, kind, engine->expression.name, "filtering rows", &found, err);
        if (status != SILT_OK) {
            sl_arrow_stream_release(out);
        } else {
            status = sl_handler_check_stream(kind, engine->expression.name, out, err);
        }
    }
    /* Consumed in every case, also by a handler that forgot to. */
    sl_arrow_stream_release(in);
    return status;
}
