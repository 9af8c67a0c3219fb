/*
 * Partition pruning (PROTOCOL.md "Partition Value Serialization"): parses the values of a file's partitionValues, evaluates the
 * filter's AND members over them, and keeps the answer for the next file with the same values.
 *
 * Called by planning, on one thread.
 */
#include "kernel/scan/partition_prune.h"

#include "base/error.h"
#include "schema/value.h"

void sl_partition_pruner_init(struct sl_partition_pruner *pruner, struct sl_arena *arena,
                              const struct sl_scan_filter *filter)
{
    *pruner = (struct sl_partition_pruner){.filter = filter, .arena = arena};
    sl_arena_init(&pruner->scratch, arena->env);
    sl_map_init(&pruner->tuples, arena->env);
    sl_buf_init(&pruner->key, arena->env);
}

void sl_partition_pruner_release(struct sl_partition_pruner *pruner)
{
    sl_map_release(&pruner->tuples);
    sl_buf_release(&pruner->key);
    sl_arena_release(&pruner->scratch);
}

bool sl_partition_lookup(void *view, const struct sl_str *path, size_t path_len, silt_value *out)
{
    const struct sl_partition_view *v = view;
    size_t index = path_len == 1 ? sl_scan_filter_partition(v->filter, path[0]) : SIZE_MAX;
    if (index == SIZE_MAX) {
        return false;
    }
    if (v->filter->partitions[index].collated) {
        return false; /* whoever evaluates the filter decides by which order */
    }
    *out = v->values[index];
    return true;
}

/* The values as one unambiguous key: for each column whether it is there, its length and its bytes. */
static silt_status make_key(struct sl_partition_pruner *pruner, const struct sl_kv_list *values, silt_error *err)
{
    sl_buf_clear(&pruner->key);
    sl_buf_put_char(&pruner->key, 'p'); /* never empty */
    for (size_t i = 0; i < pruner->filter->n_partitions; i++) {
        struct sl_str text = sl_partition_text(&pruner->filter->partitions[i], values);
        if (text.ptr == NULL) {
            sl_buf_put_char(&pruner->key, 'n');
            continue;
        }
        uint64_t len = text.len;
        sl_buf_put_char(&pruner->key, 'v');
        sl_buf_put(&pruner->key, &len, sizeof(len));
        sl_buf_put_str(&pruner->key, text);
    }
    return sl_buf_status(&pruner->key, err);
}

static silt_status parse_value(struct sl_partition_pruner *pruner, const struct silt_type *type, struct sl_str text,
                               silt_value *out, silt_error *err)
{
    bool is_local = false;
    SL_TRY(sl_partition_value_parse(&pruner->scratch, text, type, out, &is_local, err));
    if (!is_local || pruner->local_time == NULL) {
        return SILT_OK; /* the wall clock was taken for one of UTC */
    }
    return pruner->local_time(pruner->local_time_ctx, out->as.i64, &out->as.i64, err);
}

static silt_status parse_values(struct sl_partition_pruner *pruner, const struct sl_kv_list *values, struct sl_str path,
                                const silt_value **out, silt_error *err)
{
    const struct sl_scan_filter *filter = pruner->filter;
    silt_value *parsed = sl_arena_alloc_array(pruner->arena, filter->n_partitions + 1, sizeof(*parsed));
    if (parsed == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < filter->n_partitions; i++) {
        const struct sl_partition_column *column = &filter->partitions[i];
        struct sl_str text = sl_partition_text(column, values);
        if (text.ptr == NULL || text.len == 0) {
            parsed[i] = text.ptr == NULL ? sl_value_null(column->type->kind)
                                         : sl_value_bytes(SILT_TYPE_STRING, sl_str_make("", 0));
            continue;
        }
        silt_value value;
        silt_status status = parse_value(pruner, column->type, text, &value, err);
        if (status != SILT_OK) {
            sl_error_context(err, "partition column %.*s of file %.*s", SL_FMT(column->name), SL_FMT(path));
            return status;
        }
        if (!sl_value_copy(pruner->arena, &value, &parsed[i])) {
            return sl_fail_nomem(err);
        }
    }
    *out = parsed;
    return SILT_OK;
}

static silt_status make_tuple(struct sl_partition_pruner *pruner, const struct sl_kv_list *values, struct sl_str path,
                              const struct sl_partition_tuple **out, silt_error *err)
{
    const struct sl_scan_filter *filter = pruner->filter;
    struct sl_partition_tuple *tuple = sl_arena_alloc_zero(pruner->arena, sizeof(*tuple));
    enum sl_truth *truths = sl_arena_alloc_array(pruner->arena, filter->n_conjuncts + 1, sizeof(*truths));
    if (tuple == NULL || truths == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(parse_values(pruner, values, path, &tuple->values, err));
    struct sl_partition_view view = {filter, tuple->values};
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        truths[i] = sl_eval_predicate(filter->conjuncts[i].node, sl_partition_lookup, &view, &pruner->scratch);
        if (truths[i] == SL_FALSE || truths[i] == SL_NULL) {
            tuple->dropped = true; /* WHERE keeps only rows for which every member is true */
        }
    }
    tuple->truths = truths;
    *out = tuple;
    return SILT_OK;
}

silt_status sl_partition_pruner_find(struct sl_partition_pruner *pruner, const struct sl_kv_list *values,
                                     struct sl_str path, const struct sl_partition_tuple **out, silt_error *err)
{
    *out = NULL;
    SL_TRY(make_key(pruner, values, err));
    struct sl_map_entry *entry = sl_map_find(&pruner->tuples, sl_buf_view(&pruner->key));
    if (entry != NULL) {
        *out = entry->value.ptr;
        return SILT_OK;
    }
    const struct sl_partition_tuple *tuple = NULL;
    silt_status status = make_tuple(pruner, values, path, &tuple, err);
    sl_arena_release(&pruner->scratch);
    sl_arena_init(&pruner->scratch, pruner->arena->env);
    if (status != SILT_OK) {
        return status;
    }
    struct sl_str key = sl_arena_copy(pruner->arena, sl_buf_view(&pruner->key));
    bool inserted = false;
    entry = key.ptr != NULL ? sl_map_put(&pruner->tuples, key, &inserted) : NULL;
    if (entry == NULL) {
        return sl_fail_nomem(err);
    }
    entry->value.ptr = (void *)(uintptr_t)tuple; /* given back as const only */
    *out = tuple;
    return SILT_OK;
}
