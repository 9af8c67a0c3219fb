/*
 * The dispatch to the slots of committers: what a catalog's plug-in returns is judged here, and never trusted.
 */
#ifndef SL_KERNEL_ENGINE_COMMITTER_H
#define SL_KERNEL_ENGINE_COMMITTER_H

#include "silt/table.h"

bool sl_committer_is_inline(const silt_committer *committer);

/* As the slot. An outcome that is none counts as no answer. */
silt_status sl_committer_ratify(silt_committer *committer, const silt_call *call, const silt_ratify_request *request,
                                silt_put_outcome *outcome, silt_error *err);

struct sl_committer_visit {
    /* false stops early; borrowed during the visit. */
    bool (*on_commit)(void *ctx, const silt_catalog_commit *commit);
    void *ctx;
};
/*
 * As the slot; *latest is -1 when nothing was ratified. SILT_EIO for commits out of order, with gaps, above the latest version, or neither
 * staged under a name of their version nor inline.
 */
silt_status sl_committer_get_commits(silt_committer *committer, const silt_call *call, const char *table_uri,
                                     int64_t from_version, const struct sl_committer_visit *visit, int64_t *latest,
                                     silt_error *err);
/* As the slot; does nothing when there is none. */
silt_status sl_committer_note_published(silt_committer *committer, const silt_call *call, const char *table_uri,
                                        int64_t version, silt_error *err);

#endif
