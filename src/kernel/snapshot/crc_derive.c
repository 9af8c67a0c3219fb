/*
 * Version checksums commit by commit; see crc_derive.h. The rules are those of Delta Spark's incremental checksums, with one
 * difference: what Spark recognises by the names of operations (files that are added again only to change what is said of
 * them) is recognised by the actions themselves.
 */
#include "kernel/snapshot/crc_derive.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "kernel/feature/feature.h"
#include "kernel/replay/file_key.h"

/* A larger commit hardly leaves a list that is short enough. */
#define MAX_LISTED_ACTIONS 1000

struct deriver {
    const struct sl_crc_step *step;
    struct sl_crc *out;
    const char *why_not;
    size_t n_adds, n_removes; /* of the commit */
    bool changes_data;
    bool keeps_files;        /* allFiles of before is known, and small enough */
    struct sl_arena scratch; /* of the keys */
    struct sl_map live;      /* key of a file → its sl_add, NULL where it was removed */
    struct sl_vec ordered;   /* const struct sl_add *: those of before, then those of the commit */
};

static bool add_to(int64_t *total, int64_t change)
{
    return sl_add_i64(*total, change, total) && *total >= 0;
}

/* One file more (+1) or less (-1) in the totals; false when they cannot be. */
static bool count_file(struct sl_crc *out, int64_t size, const struct sl_dv_descriptor *vector, int direction)
{
    const int64_t deleted = vector != NULL ? vector->cardinality : 0;
    if (size < 0 || deleted < 0 || !add_to(&out->n_files, direction) || !add_to(&out->table_size, direction * size)) {
        return false;
    }
    if (out->has_sizes && !sl_size_histogram_change(&out->sizes, size, direction)) {
        return false;
    }
    if (out->has_deleted_bins && !add_to(&out->deleted_bins[sl_deleted_bin(deleted)], direction)) {
        return false;
    }
    if (out->n_deletion_vectors != SL_NO_I64 && vector != NULL && !add_to(&out->n_deletion_vectors, direction)) {
        return false;
    }
    return out->n_deleted_records == SL_NO_I64 || add_to(&out->n_deleted_records, direction * deleted);
}

/* ---- the list of files ---- */

/* *entry->value.ptr is what is known of the file. */
static silt_status find_file(struct deriver *d, struct sl_str path, const struct sl_dv_descriptor *vector,
                             struct sl_map_entry **entry, bool *is_new, silt_error *err)
{
    const struct sl_str key = sl_file_key(&d->scratch, d->step->root, path, vector);
    *entry = key.ptr != NULL ? sl_map_put(&d->live, key, is_new) : NULL;
    return *entry != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status list_add(struct deriver *d, const struct sl_add *add, silt_error *err)
{
    struct sl_map_entry *entry = NULL;
    bool is_new = false;
    SL_TRY(find_file(d, add->path, add->deletion_vector, &entry, &is_new, err));
    if (!is_new && entry->value.ptr != NULL) {
        d->why_not = "a file is added that is there already";
        return SILT_OK;
    }
    const struct sl_add **slot = sl_vec_push(&d->ordered);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = add;
    entry->value.ptr = (void *)(uintptr_t)add;
    return SILT_OK;
}

static silt_status list_remove(struct deriver *d, const struct sl_remove *remove, silt_error *err)
{
    struct sl_map_entry *entry = NULL;
    bool is_new = false;
    SL_TRY(find_file(d, remove->path, remove->deletion_vector, &entry, &is_new, err));
    const struct sl_add *add = is_new ? NULL : entry->value.ptr;
    if (add == NULL || add->size != remove->size) {
        d->why_not = "a file is removed that is not there, or has another size";
        return SILT_OK;
    }
    entry->value.ptr = NULL;
    return SILT_OK;
}

static silt_status is_live(struct deriver *d, const struct sl_add *add, bool *live, silt_error *err)
{
    const struct sl_str key = sl_file_key(&d->scratch, d->step->root, add->path, add->deletion_vector);
    const struct sl_map_entry *entry = key.ptr != NULL ? sl_map_find(&d->live, key) : NULL;
    *live = entry != NULL && entry->value.ptr == add;
    return key.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* Does the list begin with the first n of before? The later one of a file that was removed and added again is none of them. */
static bool stay(const struct deriver *d, size_t n, const struct sl_add *list)
{
    const size_t last = n - 1;
    return n <= d->out->n_all_files && d->step->before->all_files[last].path.ptr == list[last].path.ptr;
}

/* Its adds in their order, without those that were removed; dataChange says nothing in a list of what is there. */
static silt_status finish_files(struct deriver *d, silt_error *err)
{
    struct sl_crc *out = d->out;
    out->has_all_files = out->n_files == 0 || (d->keeps_files && out->n_files <= SL_CRC_MAX_FILES);
    if (!out->has_all_files || out->n_files == 0) {
        return SILT_OK;
    }
    struct sl_add *list = sl_arena_alloc_array(d->step->arena, (size_t)out->n_files, sizeof(*list));
    if (list == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_crc *before = d->step->before;
    const size_t n_listed = before != NULL ? before->n_listed : 0; /* as long as all of them stay, their text does */
    size_t n = 0;
    for (size_t i = 0; i < d->ordered.len; i++) {
        const struct sl_add *add = *(const struct sl_add *const *)sl_vec_at(&d->ordered, i);
        bool live = true;
        if (d->n_removes > 0) {
            SL_TRY(is_live(d, add, &live, err));
        }
        if (live && n < (size_t)out->n_files) {
            list[n] = *add;
            list[n++].data_change = false;
        }
    }
    out->has_all_files = n == (size_t)out->n_files;
    out->all_files = list;
    out->n_all_files = n;
    if (out->has_all_files && n_listed > 0 && stay(d, n_listed, list)) {
        out->listed = before->listed;
        out->n_listed = n_listed;
    }
    return SILT_OK;
}

/* ---- actions ---- */

static silt_status take_add(struct deriver *d, const struct sl_add *add, silt_error *err)
{
    d->n_adds++;
    d->changes_data |= add->data_change;
    if (!count_file(d->out, add->size, add->deletion_vector, 1)) {
        d->why_not = "the sizes of its files do not add up";
        return SILT_OK;
    }
    return d->keeps_files ? list_add(d, add, err) : SILT_OK;
}

static silt_status take_remove(struct deriver *d, const struct sl_remove *remove, silt_error *err)
{
    d->n_removes++;
    d->changes_data |= remove->data_change;
    if (remove->size == SL_NO_I64) {
        d->why_not = "a removed file has no size";
    } else if (!count_file(d->out, remove->size, remove->deletion_vector, -1)) {
        d->why_not = "more is removed than there was";
    } else if (d->keeps_files) {
        return list_remove(d, remove, err);
    }
    return SILT_OK;
}

/* A list of before with n more elements after it. */
static void *longer(struct deriver *d, const void *items, size_t n_items, size_t n_more, size_t size)
{
    char *list = sl_arena_alloc_array(d->step->arena, n_items + n_more, size);
    if (list != NULL && n_items > 0) {
        memcpy(list, items, n_items * size);
    }
    return list;
}

static size_t count_kind(const struct sl_commit *commit, enum sl_action_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < commit->n_actions; i++) {
        n += commit->actions[i].kind == kind ? 1 : 0;
    }
    return n;
}

/* Applications whose versions expire are not listed: when they do is no fact of the log. */
static silt_status derive_txns(struct deriver *d, silt_error *err)
{
    struct sl_crc *out = d->out;
    const size_t n_more = count_kind(d->step->commit, SL_ACTION_APP_TXN);
    const bool expire = sl_property_text(&out->metadata.configuration, "delta.setTransactionRetentionDuration").ptr !=
                        NULL;
    out->has_txns = out->has_txns && !expire && out->n_txns <= SL_CRC_MAX_TXNS && n_more <= SL_CRC_MAX_TXNS;
    if (!out->has_txns || n_more == 0) {
        return SILT_OK;
    }
    struct sl_app_txn *list = longer(d, out->txns, out->n_txns, n_more, sizeof(*list));
    if (list == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = out->n_txns;
    for (size_t i = 0; i < d->step->commit->n_actions; i++) {
        const struct sl_action *action = &d->step->commit->actions[i];
        size_t at = 0;
        if (action->kind != SL_ACTION_APP_TXN) {
            continue;
        }
        while (at < n && !sl_str_eq(list[at].app_id, action->u.app_txn.app_id)) {
            at++;
        }
        list[at] = action->u.app_txn;
        n = at == n ? n + 1 : n;
    }
    out->txns = list;
    out->n_txns = n;
    out->has_txns = n <= SL_CRC_MAX_TXNS;
    return SILT_OK;
}

static silt_status derive_domains(struct deriver *d, silt_error *err)
{
    struct sl_crc *out = d->out;
    const size_t n_more = count_kind(d->step->commit, SL_ACTION_DOMAIN_METADATA);
    if (!out->has_domains || n_more == 0) {
        return SILT_OK;
    }
    struct sl_domain_metadata *list = longer(d, out->domains, out->n_domains, n_more, sizeof(*list));
    if (list == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = out->n_domains;
    for (size_t i = 0; i < d->step->commit->n_actions; i++) {
        const struct sl_action *action = &d->step->commit->actions[i];
        size_t at = 0;
        if (action->kind != SL_ACTION_DOMAIN_METADATA) {
            continue;
        }
        while (at < n && !sl_str_eq(list[at].domain, action->u.domain.domain)) {
            at++;
        }
        if (!action->u.domain.removed) {
            list[at] = action->u.domain;
            n = at == n ? n + 1 : n;
        } else if (at < n) {
            list[at] = list[--n];
        }
    }
    out->domains = list;
    out->n_domains = n;
    out->has_domains = n <= SL_CRC_MAX_DOMAINS;
    return SILT_OK;
}

static silt_status take_actions(struct deriver *d, silt_error *err)
{
    const struct sl_commit *commit = d->step->commit;
    bool has_protocol = d->step->before != NULL;
    bool has_metadata = d->step->before != NULL;
    for (size_t i = 0; i < commit->n_actions && d->why_not == NULL; i++) {
        const struct sl_action *action = &commit->actions[i];
        if (action->kind == SL_ACTION_ADD) {
            SL_TRY(take_add(d, &action->u.add, err));
        } else if (action->kind == SL_ACTION_REMOVE) {
            SL_TRY(take_remove(d, &action->u.remove, err));
        } else if (action->kind == SL_ACTION_PROTOCOL) {
            d->out->protocol = action->u.protocol;
            has_protocol = true;
        } else if (action->kind == SL_ACTION_METADATA) {
            d->out->metadata = action->u.metadata;
            has_metadata = true;
        }
    }
    if (d->why_not == NULL && (!has_protocol || !has_metadata)) {
        d->why_not = "the table begins without protocol or metadata";
    }
    return SILT_OK;
}

/* ---- the whole ---- */

static silt_status begin(struct deriver *d, silt_error *err)
{
    const struct sl_crc *before = d->step->before;
    struct sl_crc *out = d->out;
    if (before == NULL) {
        *out = (struct sl_crc){.has_sizes = true, .has_txns = true, .has_domains = true, .has_deleted_bins = true};
        d->keeps_files = d->step->commit->n_actions <= MAX_LISTED_ACTIONS;
        return sl_size_histogram_new(d->step->arena, &out->sizes) ? SILT_OK : sl_fail_nomem(err);
    }
    *out = *before;
    out->has_all_files = false;
    out->all_files = NULL;
    out->n_all_files = 0;
    out->listed = (struct sl_str){NULL, 0};
    out->n_listed = 0;
    if (before->has_sizes && !sl_size_histogram_copy(d->step->arena, &before->sizes, &out->sizes)) {
        return sl_fail_nomem(err);
    }
    d->keeps_files = (before->n_files == 0 || (before->has_all_files && before->n_files <= SL_CRC_MAX_FILES)) &&
                     d->step->commit->n_actions <= MAX_LISTED_ACTIONS;
    for (size_t i = 0; i < before->n_all_files && d->keeps_files; i++) {
        SL_TRY(list_add(d, &before->all_files[i], err));
    }
    return SILT_OK;
}

/*
 * Files that are added again without change of data, to change their statistics or row ids, replace what is there; tombstones
 * without change of data are for vacuum alone. Where the files are not known, neither can be told from an addition and a removal.
 */
static bool may_repeat_files(const struct deriver *d)
{
    return d->step->before != NULL && !d->changes_data && (d->n_adds == 0) != (d->n_removes == 0);
}

static silt_status derive(struct deriver *d, silt_error *err)
{
    const struct sl_commit *commit = d->step->commit;
    struct sl_crc *out = d->out;
    SL_TRY(begin(d, err));
    SL_TRY(take_actions(d, err));
    if (d->why_not != NULL) {
        return SILT_OK;
    }
    if (may_repeat_files(d) && !d->keeps_files) {
        d->why_not = "its files may be there already";
        return SILT_OK;
    }
    SL_TRY(derive_txns(d, err));
    SL_TRY(derive_domains(d, err));
    SL_TRY(finish_files(d, err));
    if (!sl_protocol_has_feature(&out->protocol, "deletionVectors")) {
        out->n_deleted_records = SL_NO_I64;
        out->n_deletion_vectors = SL_NO_I64;
        out->has_deleted_bins = false;
    }
    const struct sl_commit_info *info = commit->commit_info;
    out->version = commit->version;
    out->txn_id = info != NULL ? info->txn_id : (struct sl_str){NULL, 0};
    out->in_commit_timestamp = SL_NO_I64;
    if (sl_protocol_has_feature(&out->protocol, "inCommitTimestamp") &&
        sl_property_bool(&out->metadata.configuration, "delta.enableInCommitTimestamps")) {
        out->in_commit_timestamp = info != NULL ? info->in_commit_timestamp : SL_NO_I64;
        d->why_not = out->in_commit_timestamp == SL_NO_I64 ? "it has no in-commit timestamp" : NULL;
    }
    return SILT_OK;
}

silt_status sl_crc_derive(const struct sl_crc_step *step, struct sl_crc *out, const char **why_not, silt_error *err)
{
    struct deriver d = {.step = step, .out = out};
    *out = (struct sl_crc){.version = -1};
    sl_arena_init(&d.scratch, step->env);
    sl_map_init(&d.live, step->env);
    sl_vec_init(&d.ordered, step->env, sizeof(const struct sl_add *));
    const silt_status status = derive(&d, err);
    *why_not = d.why_not;
    sl_vec_release(&d.ordered);
    sl_map_release(&d.live);
    sl_arena_release(&d.scratch);
    return status;
}
