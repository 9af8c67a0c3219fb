/*
 * Matching a winner's files against what a transaction read: by partition values, then by statistics. Whatever is unknown
 * counts as read, so that a doubt costs a retry and never a lost update. Pure; called by the conflict check.
 */
#include "kernel/txn/conflict_files.h"

#include "base/map.h"
#include "kernel/scan/data_skip.h"

/* One read predicate made ready for judging many files. */
struct judge {
    struct sl_scan_filter filter;
    struct sl_partition_pruner pruner;
    struct sl_bounds *bounds; /* one for each column of the filter; NULL when there are none */
};

static const silt_schema *physical_schema(const struct sl_txn_facts *txn)
{
    return txn->physical != NULL ? txn->physical : txn->schema;
}

static const struct sl_partition_column *partition_columns(const struct sl_txn_facts *txn, struct sl_arena *scratch)
{
    const size_t n = txn->partition_columns->n;
    struct sl_partition_column *columns = sl_arena_alloc_array(scratch, n + 1, sizeof(*columns));
    for (size_t i = 0; columns != NULL && i < n; i++) {
        size_t index = 0;
        const struct silt_field *field = sl_type_find(&txn->schema->root, txn->partition_columns->items[i], &index);
        if (field == NULL) {
            return NULL;
        }
        columns[i] = sl_partition_column_of(field, &physical_schema(txn)->root.fields[index]);
    }
    return columns;
}

/* What the judgement needs of a file that was added or removed. */
struct file {
    struct sl_str path;
    const struct sl_kv_list *partition_values; /* NULL: not known */
    struct sl_str stats;
};

/* False if the action is none of the wanted kind. A file that moves rows without changing them holds no new ones. */
static bool take_file(const struct sl_action *action, enum sl_action_kind kind, struct file *out)
{
    if (action->kind != kind) {
        return false;
    }
    if (kind == SL_ACTION_ADD) {
        *out = (struct file){action->u.add.path, &action->u.add.partition_values, action->u.add.stats};
        return action->u.add.data_change;
    }
    const struct sl_remove *remove = &action->u.remove;
    *out = (struct file){remove->path, remove->has_partition_values ? &remove->partition_values : NULL, remove->stats};
    return true;
}

/* True if a row of the file can satisfy the predicate, or if that cannot be told. */
static bool file_may_match(struct judge *judge, const struct file *file, struct sl_arena *scratch)
{
    const struct sl_partition_tuple *tuple = NULL;
    if (file->partition_values == NULL ||
        sl_partition_pruner_find(&judge->pruner, file->partition_values, file->path, &tuple, NULL) != SILT_OK) {
        return true;
    }
    if (tuple->dropped) {
        return false;
    }
    if (judge->filter.n_columns > 0 &&
        sl_stats_bounds_from_json(file->stats, judge->filter.columns, judge->filter.n_columns, scratch, judge->bounds,
                                  NULL) != SILT_OK) {
        return true;
    }
    return sl_data_skip_may_match(&judge->filter, tuple, judge->bounds, scratch);
}

static bool judge_init(struct judge *judge, const struct sl_txn_facts *txn, const silt_expr *predicate,
                       struct sl_arena *scratch)
{
    const struct sl_partition_column *columns = partition_columns(txn, scratch);
    if (columns == NULL ||
        sl_scan_filter_make(scratch, predicate, txn->schema, columns, txn->partition_columns->n, &judge->filter,
                            NULL) != SILT_OK ||
        sl_scan_filter_map(scratch, txn->schema, physical_schema(txn), &judge->filter, NULL) != SILT_OK) {
        return false;
    }
    judge->bounds = sl_arena_alloc_array(scratch, judge->filter.n_columns + 1, sizeof(*judge->bounds));
    return judge->bounds != NULL;
}

/* The first action of the kind whose file can match the predicate. */
static const struct sl_action *find_matching(const struct sl_txn_facts *txn, const silt_expr *predicate,
                                             const struct sl_commit *winner, enum sl_action_kind kind,
                                             struct sl_arena *scratch)
{
    struct judge judge = {.bounds = NULL};
    const bool ready = judge_init(&judge, txn, predicate, scratch);
    if (ready) {
        sl_partition_pruner_init(&judge.pruner, scratch, &judge.filter);
    }
    const struct sl_action *found = NULL;
    for (size_t i = 0; i < winner->n_actions && found == NULL; i++) {
        struct file file;
        if (take_file(&winner->actions[i], kind, &file) && (!ready || file_may_match(&judge, &file, scratch))) {
            found = &winner->actions[i];
        }
    }
    if (ready) {
        sl_partition_pruner_release(&judge.pruner);
    }
    return found;
}

static const struct sl_action *find_read(const struct sl_txn_facts *txn, const struct sl_commit *winner,
                                         enum sl_action_kind kind, struct sl_arena *scratch)
{
    struct file ignored;
    for (size_t i = 0; txn->read_whole_table && i < winner->n_actions; i++) {
        if (take_file(&winner->actions[i], kind, &ignored)) {
            return &winner->actions[i];
        }
    }
    for (size_t i = 0; i < txn->n_reads; i++) {
        if (kind == SL_ACTION_REMOVE && txn->reads[i].files_listed) {
            continue;
        }
        const struct sl_action *found = find_matching(txn, txn->reads[i].predicate, winner, kind, scratch);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

const struct sl_add *sl_conflict_find_read_add(const struct sl_txn_facts *txn, const struct sl_commit *winner,
                                               struct sl_arena *scratch)
{
    const struct sl_action *found = find_read(txn, winner, SL_ACTION_ADD, scratch);
    return found != NULL ? &found->u.add : NULL;
}

const struct sl_remove *sl_conflict_find_read_remove(const struct sl_txn_facts *txn, const struct sl_commit *winner,
                                                     struct sl_arena *scratch)
{
    const struct sl_action *found = find_read(txn, winner, SL_ACTION_REMOVE, scratch);
    return found != NULL ? &found->u.remove : NULL;
}

/* For a lack of memory only: the same answer, slower. */
static const struct sl_remove *find_removed_slowly(const struct sl_commit *winner, const struct sl_str *paths, size_t n)
{
    for (size_t i = 0; i < winner->n_actions; i++) {
        const struct sl_action *action = &winner->actions[i];
        for (size_t j = 0; action->kind == SL_ACTION_REMOVE && j < n; j++) {
            if (sl_str_eq(action->u.remove.path, paths[j])) {
                return &action->u.remove;
            }
        }
    }
    return NULL;
}

const struct sl_remove *sl_conflict_find_removed(const struct sl_commit *winner, const struct sl_str *paths, size_t n,
                                                 const silt_env *env)
{
    const struct sl_remove *found = NULL;
    if (n == 0) {
        return NULL;
    }
    struct sl_map removed;
    sl_map_init(&removed, env);
    for (size_t i = 0; i < winner->n_actions; i++) {
        bool inserted = false;
        if (winner->actions[i].kind != SL_ACTION_REMOVE) {
            continue;
        }
        struct sl_map_entry *entry = sl_map_put(&removed, winner->actions[i].u.remove.path, &inserted);
        if (entry == NULL) {
            found = find_removed_slowly(winner, paths, n);
            goto out;
        }
        entry->value.u64 = i;
    }
    for (size_t i = 0; removed.live > 0 && i < n && found == NULL; i++) {
        const struct sl_map_entry *entry = sl_map_find(&removed, paths[i]);
        found = entry != NULL ? &winner->actions[entry->value.u64].u.remove : NULL;
    }
out:
    sl_map_release(&removed);
    return found;
}
