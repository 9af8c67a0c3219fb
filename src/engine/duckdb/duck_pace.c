/*
 * Holding back the rows of a write, see duck_pace.h. The function is evaluated once a chunk of rows, on DuckDB's threads, which it makes wait: what
 * they would write next has nowhere to go.
 */
#include "duck_pace.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "duck_bound.h"
#include "duck_function.h"

/* Bytes that COPY may be ahead of the store. */
#define MAX_BACKLOG (INT64_C(64) << 20)
#define PACE_US 5000

struct sl_duck_pace {
    struct sl_duck_object object;
    struct sl_duck_pace_source source;
    atomic_int_fast64_t asked_us;
    atomic_int_fast64_t backlog;
    atomic_bool over;
};

static void free_pace(struct sl_duck_object *object)
{
    sl_release(object->dp->env, object, sizeof(struct sl_duck_pace));
}

static size_t places_of(const struct sl_duck_object *object)
{
    (void)object;
    return 1;
}

static const struct sl_duck_object_class pace_class = {.free = free_pace, .places = places_of};

/* Asks no more often than makes a difference. */
static bool is_ahead(struct sl_duck_pace *pace)
{
    const int64_t now_us = sl_monotonic_us(pace->object.dp->env);
    int_fast64_t asked_us = atomic_load(&pace->asked_us);
    if (now_us - asked_us >= PACE_US && atomic_compare_exchange_strong(&pace->asked_us, &asked_us, now_us)) {
        atomic_store(&pace->backlog, pace->source.backlog(pace->source.ctx));
    }
    return atomic_load(&pace->backlog) > MAX_BACKLOG;
}

static void give_paced(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_bound *bound = sl_duck_bound_of(info);
    if (bound == NULL) {
        return;
    }
    struct sl_duck_pace *pace = (struct sl_duck_pace *)bound->object;
    const silt_env *env = pace->object.dp->env;
    silt_error err = SILT_ERROR_INIT;
    while (!atomic_load(&pace->over) && is_ahead(pace)) {
        if (sl_call_check(env, pace->source.call, &err) != SILT_OK) {
            duckdb_scalar_function_set_error(info, err.message);
            return;
        }
        env->sleep_us(env->ctx, PACE_US);
    }
    if (atomic_load(&pace->over)) {
        duckdb_scalar_function_set_error(info, "the store does not take a data file");
        return;
    }
    bool *out = duckdb_vector_get_data(output);
    const idx_t n = duckdb_data_chunk_get_size(input);
    for (idx_t i = 0; i < n; i++) {
        out[i] = true;
    }
}

static void bind_paced(duckdb_bind_info info)
{
    (void)sl_duck_bind_argument(info, &pace_class, 0); /* or an error is set */
}

bool sl_duck_pace_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    const struct sl_duck_function function = {.name = "silt_paced",
                                              .arguments = {DUCKDB_TYPE_VARCHAR},
                                              .n_arguments = 1,
                                              .result = DUCKDB_TYPE_BOOLEAN,
                                              .is_volatile = true, /* once a chunk, not once a query */
                                              .extra = dp,
                                              .bind = bind_paced,
                                              .run = give_paced};
    return sl_duck_function_register(handle, &function);
}

silt_status sl_duck_pace_new(struct sl_dataplane *dp, const struct sl_duck_pace_source *source,
                             struct sl_duck_pace **out, silt_error *err)
{
    struct sl_duck_pace *pace = sl_alloc_zero(dp->env, sizeof(*pace));
    *out = pace;
    if (pace == NULL) {
        return sl_fail_nomem(err);
    }
    sl_duck_object_init(&pace->object, dp, &pace_class);
    pace->source = *source;
    atomic_init(&pace->asked_us, 0);
    atomic_init(&pace->backlog, 0);
    atomic_init(&pace->over, false);
    sl_duck_object_list(&pace->object);
    return SILT_OK;
}

void sl_duck_pace_drop(struct sl_duck_pace *pace)
{
    sl_duck_object_drop(pace != NULL ? &pace->object : NULL);
}

void sl_duck_pace_end(struct sl_duck_pace *pace)
{
    if (pace != NULL) {
        atomic_store(&pace->over, true);
    }
}

void sl_duck_pace_put(const struct sl_duck_pace *pace, struct sl_buf *sql)
{
    if (pace != NULL) {
        sl_buf_printf(sql, " WHERE silt_paced('%" PRIu64 ":0')", pace->object.id);
    }
}
