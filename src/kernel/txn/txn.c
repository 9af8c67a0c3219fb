/*
 * A transaction's life and its simple settings: parameters, metrics, application ids, what it read. Called by applications
 * and by the SQL layer; one owner. PROTOCOL.md "Commit Provenance Information", "Transaction Identifiers".
 */
#include "kernel/txn/txn_int.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "expr/expr.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "silt/version.h"

static void init_lists(silt_txn *txn)
{
    sl_vec_init(&txn->parameters, txn->env, sizeof(struct sl_kv));
    sl_vec_init(&txn->metrics, txn->env, sizeof(struct sl_txn_metric));
    sl_vec_init(&txn->reads, txn->env, sizeof(struct sl_read));
    sl_vec_init(&txn->read_files, txn->env, sizeof(struct sl_str));
    sl_vec_init(&txn->adds, txn->env, sizeof(struct sl_action));
    sl_vec_init(&txn->add_rows, txn->env, sizeof(int64_t));
    sl_vec_init(&txn->named, txn->env, sizeof(size_t));
    sl_vec_init(&txn->domains, txn->env, sizeof(struct sl_action));
    sl_vec_init(&txn->removes, txn->env, sizeof(struct sl_action));
    sl_vec_init(&txn->app_txns, txn->env, sizeof(struct sl_action));
    sl_vec_init(&txn->written, txn->env, sizeof(struct sl_str));
    sl_map_init(&txn->paths, txn->env);
    sl_map_init(&txn->live, txn->env);
}

silt_status sl_txn_new(silt_table *table, const char *operation, silt_txn **out, silt_error *err)
{
    *out = NULL;
    if (table == NULL || operation == NULL || operation[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, NULL, "a transaction needs a table and the name of its operation");
    }
    silt_engine *engine = silt_table_engine(table);
    const silt_env *env = silt_engine_env(engine);
    silt_txn *txn = sl_alloc_zero(env, sizeof(*txn));
    if (txn == NULL) {
        return sl_fail_nomem(err);
    }
    txn->env = env;
    txn->engine = engine;
    txn->table = silt_table_ref(table);
    txn->storage = sl_table_storage(table);
    txn->root = sl_table_root(table);
    txn->read_version = -1;
    txn->engine_info = SL_STR("silt/" SILT_VERSION_STRING);
    txn->fault_error = (silt_error)SILT_ERROR_INIT;
    sl_arena_init(&txn->arena, env);
    init_lists(txn);
    const silt_status status = sl_txn_text(txn, operation, &txn->operation, err);
    if (status != SILT_OK) {
        silt_txn_free(txn);
        return status;
    }
    *out = txn;
    return SILT_OK;
}

/* Data files that no commit names. Best effort: what cannot be removed is VACUUM's. */
static void remove_written(silt_txn *txn)
{
    for (size_t i = 0; i < txn->written.len; i++) {
        const struct sl_str *path = sl_vec_at(&txn->written, i);
        sl_ignore(silt_storage_remove(txn->storage, NULL, path->ptr, NULL));
    }
    txn->written.len = 0;
}

void silt_txn_free(silt_txn *txn)
{
    if (txn == NULL) {
        return;
    }
    if (txn->state != SL_TXN_UNKNOWN) {
        remove_written(txn);
        sl_txn_unmark_creation(txn);
    }
    sl_txn_release_reads(txn);
    silt_expr_unref(txn->replaces);
    sl_vec_release(&txn->parameters);
    sl_vec_release(&txn->metrics);
    sl_vec_release(&txn->adds);
    sl_vec_release(&txn->add_rows);
    sl_vec_release(&txn->named);
    sl_vec_release(&txn->domains);
    sl_vec_release(&txn->removes);
    sl_vec_release(&txn->app_txns);
    sl_vec_release(&txn->written);
    sl_map_release(&txn->paths);
    sl_map_release(&txn->live);
    silt_schema_unref(txn->writer.data_schema);
    silt_schema_unref(txn->writer.data_names);
    silt_schema_unref(txn->schema);
    silt_schema_unref(txn->physical);
    sl_arena_release(&txn->arena);
    silt_snapshot_unref(txn->snapshot);
    silt_table_unref(txn->table);
    sl_release(txn->env, txn, sizeof(*txn));
}

silt_status sl_txn_check_open(const silt_txn *txn, silt_error *err)
{
    if (txn == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "no transaction given");
    }
    if (txn->state != SL_TXN_OPEN) {
        return sl_fail(err, SILT_EINVALID, NULL, "the transaction has ended; begin a new one");
    }
    if (txn->fault != SILT_OK) {
        const silt_status fault = sl_fail(err, txn->fault, txn->fault_error.code_name, "%s", txn->fault_error.message);
        sl_error_hint(err, "%s", txn->fault_error.hint);
        return fault;
    }
    return SILT_OK;
}

silt_status sl_txn_text(silt_txn *txn, const char *text, struct sl_str *out, silt_error *err)
{
    *out = sl_str_make(NULL, 0);
    if (text == NULL) {
        return SILT_OK;
    }
    *out = sl_arena_copy(&txn->arena, sl_str_from(text));
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

int64_t silt_txn_read_version(const silt_txn *txn)
{
    return txn != NULL ? txn->read_version : -1;
}

const silt_schema *silt_txn_schema(const silt_txn *txn)
{
    return txn != NULL ? txn->schema : NULL;
}

const silt_schema *silt_txn_physical_schema(const silt_txn *txn)
{
    return txn != NULL ? txn->physical : NULL;
}

const char *sl_txn_table_uri(const silt_txn *txn)
{
    return silt_table_uri(txn->table);
}

silt_status silt_txn_set_parameter(silt_txn *txn, const char *key, const char *value, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (key == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a parameter of the operation needs a name");
    }
    struct sl_kv pair;
    SL_TRY(sl_txn_text(txn, key, &pair.key, err));
    SL_TRY(sl_txn_text(txn, value, &pair.value, err));
    for (size_t i = 0; i < txn->parameters.len; i++) {
        struct sl_kv *old = sl_vec_at(&txn->parameters, i);
        if (sl_str_eq(old->key, pair.key)) {
            old->value = pair.value;
            return SILT_OK;
        }
    }
    struct sl_kv *slot = sl_vec_push(&txn->parameters);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = pair;
    return SILT_OK;
}

silt_status silt_txn_set_metric(silt_txn *txn, const char *key, int64_t value, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (key == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a metric of the operation needs a name");
    }
    for (size_t i = 0; i < txn->metrics.len; i++) {
        struct sl_txn_metric *old = sl_vec_at(&txn->metrics, i);
        if (sl_str_eq_c(old->key, key)) {
            old->value = value;
            return SILT_OK;
        }
    }
    struct sl_txn_metric metric = {.value = value};
    SL_TRY(sl_txn_text(txn, key, &metric.key, err));
    struct sl_txn_metric *slot = sl_vec_push(&txn->metrics);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = metric;
    return SILT_OK;
}

silt_status silt_txn_set_user_metadata(silt_txn *txn, const char *text, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    return sl_txn_text(txn, text, &txn->user_metadata, err);
}

silt_status sl_txn_set_engine_info(silt_txn *txn, const char *engine_info, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (engine_info == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "engineInfo needs a text");
    }
    return sl_txn_text(txn, engine_info, &txn->engine_info, err);
}

silt_status silt_txn_set_commit_options(silt_txn *txn, const silt_commit_options *options, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (options == NULL || options->size < sizeof(options->size)) {
        return sl_fail(err, SILT_EINVALID, NULL, "no options of the commit given, or without their size");
    }
    silt_commit_options taken = {0};
    memcpy(&taken, options, options->size < sizeof(taken) ? options->size : sizeof(taken));
    if (taken.time_limit_us < 0 || taken.resolve_us < 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "time limits of a commit must not be negative");
    }
    taken.size = sizeof(taken);
    txn->options = taken;
    return SILT_OK;
}

silt_status silt_txn_set_app_id(silt_txn *txn, const char *app_id, int64_t version, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (app_id == NULL || app_id[0] == '\0' || version < 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "an application id needs a text and a version that is not negative");
    }
    for (size_t i = 0; i < txn->app_txns.len; i++) {
        if (sl_str_eq_c(sl_txn_action_at(&txn->app_txns, i)->u.app_txn.app_id, app_id)) {
            return sl_fail(err, SILT_EINVALID, NULL, "application id %s is already set in the transaction", app_id);
        }
    }
    struct sl_action action = {.kind = SL_ACTION_APP_TXN};
    SL_TRY(sl_txn_text(txn, app_id, &action.u.app_txn.app_id, err));
    action.u.app_txn.version = version;
    action.u.app_txn.last_updated = SL_NO_I64; /* set when it commits */
    struct sl_action *slot = sl_vec_push(&txn->app_txns);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = action;
    return SILT_OK;
}
