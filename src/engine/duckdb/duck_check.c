/*
 * Physical types against wanted ones, for all files of a request. DuckDB casts what it finds in a file to what a scan declares, text to
 * numbers and doubles to integers included, so a file that contradicts the table's schema would be read as wrong data without a word.
 *
 * Allowed is what keeps every value (duck_match.c). Any thread.
 */
#include "duck_footer.h"

#include "base/error.h"

/*
 * PROTOCOL: Reader Requirements for Column Mapping: a file without field ids is refused or reads as nulls. Spark refuses it, and so
 * does silt: nulls in place of data help nobody.
 */
static silt_status check_ids(const struct sl_footer *footer, const struct sl_footer_wanted *wanted, const char *path,
                             silt_error *err)
{
    if (!wanted->match_by_field_id || footer->has_ids) {
        return SILT_OK;
    }
    const struct silt_type *titles = wanted->titles != NULL ? wanted->titles : wanted->type;
    for (size_t i = 0; i < wanted->type->n_fields; i++) {
        if (sl_footer_wanted_id(&wanted->type->fields[i]) >= 0) {
            return sl_fail(
                err, SILT_ESCHEMA, "FAILED_READ_FILE.NO_HINT",
                "column %.*s cannot be found in file %s: the table maps columns by field id, and the file has none",
                SL_FMT(titles->fields[i].name), path);
        }
    }
    return SILT_OK;
}

/* Nulls would stand for what a file must say. */
static silt_status check_required(const struct sl_footer *footer, const struct sl_footer_wanted *wanted,
                                  const char *path, silt_error *err)
{
    for (size_t i = 0; i < wanted->type->n_fields; i++) {
        const struct silt_field *field = &wanted->type->fields[i];
        if (sl_field_meta_text(field, SL_STR(SL_FIELD_REQUIRED)).ptr != NULL &&
            sl_footer_find(footer->nodes, field, wanted->match_by_field_id) == NULL) {
            const silt_status status = sl_fail(
                err, SILT_ECORRUPT, NULL, "file %s has no column %.*s, which it must have", path, SL_FMT(field->name));
            sl_error_path(err, path);
            return status;
        }
    }
    return SILT_OK;
}

silt_status sl_footers_check(struct sl_dataplane *dp, const struct sl_duck_files *files, struct sl_footer **footers,
                             const struct sl_duck_check *check, silt_error *err)
{
    const struct sl_footer_wanted wanted = {
        .type = check->type, .titles = check->titles, .match_by_field_id = check->match_by_field_id};
    const uint64_t id = sl_duck_next_id(dp);
    silt_status status = SILT_OK;
    pthread_mutex_lock(&dp->lock);
    for (size_t i = 0; i < files->n && status == SILT_OK; i++) {
        if (footers[i]->passed == id) {
            continue;
        }
        status = check_ids(footers[i], &wanted, files->sources[i].path, err);
        if (status == SILT_OK) {
            status = check_required(footers[i], &wanted, files->sources[i].path, err);
        }
        if (status == SILT_OK) {
            status = sl_footer_match(dp->env, footers[i]->nodes, &wanted, files->sources[i].path, err);
        }
        footers[i]->passed = status == SILT_OK ? id : 0;
    }
    pthread_mutex_unlock(&dp->lock);
    return status;
}
