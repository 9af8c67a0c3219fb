/*
 * Options of remote stores: what was given by name, and the environment variables that stand in where nothing was.
 *
 * remote_options.def lists each option with all its names: those of delta-rs (AWS_REGION, azure_storage_account_key, google_…), those of
 * Spark with Hadoop's connectors (fs.s3a.…, fs.azure.…, fs.gs.…, with or without "spark.hadoop." before), and silt's own. Names are taken in any
 * case. A name that several stores know in their own sense ("region", "token") counts for each of them. What is in the usual files
 * (profiles, service accounts) is for the stores to read: it comes last.
 *
 * Some names end in what they are about: "fs.azure.account.key.ACCOUNT.dfs.core.windows.net", "fs.s3a.bucket.BUCKET.endpoint". That is the
 * scope; an option of the scope asked for goes before one without.
 *
 * Immutable after it was made; any thread, as long as nobody changes the process's environment meanwhile.
 */
#ifndef SL_REMOTE_OPTIONS_H
#define SL_REMOTE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"
#include "silt/storage.h"

enum sl_option {
#define SL_OPTION(id, secret, name, others, variables) SL_OPTION_##id,
#include "storage/remote/remote_options.def"
#undef SL_OPTION
    SL_N_OPTIONS
};

struct sl_remote_options;

/*
 * Copies. SILT_EINVALID for a name that no store knows, with the nearest known one as hint, and for a name given twice with
 * different values.
 */
silt_status sl_options_new(const silt_env *env, const silt_store_option *options, size_t n,
                           struct sl_remote_options **out, silt_error *err);
void sl_options_free(struct sl_remote_options *options); /* NULL is legal */

/*
 * The value: of the option given for `scope` (a bucket or account; NULL for none), else of the option given for all, else of the first of its
 * environment variables that is set; else NULL. An empty value is as none. Borrowed: from the options, or from the environment.
 */
const char *sl_option_get(const struct sl_remote_options *options, enum sl_option option, const char *scope);
/* The same without the environment. */
const char *sl_option_given(const struct sl_remote_options *options, enum sl_option option, const char *scope);

/* Read as a kind of value; *out is left alone when the option is absent. SILT_EINVALID names the option. */
silt_status sl_option_bool(const struct sl_remote_options *options, enum sl_option option, const char *scope, bool *out,
                           silt_error *err); /* true, yes, on, 1; false, no, off, 0 */
/* "30s", "500ms", "2m", "1h", "5 seconds", "1000000 us"; a bare number is seconds. */
silt_status sl_option_duration(const struct sl_remote_options *options, enum sl_option option, const char *scope,
                               int64_t *out_us, silt_error *err);

/* Where an option stands, and what may be known of it. Text is borrowed. */
struct sl_option_source {
    enum sl_option option;
    const char *name; /* of the option or of the variable */
    bool is_variable; /* of the environment */
    bool is_secret;   /* the value is not to be shown */
    const char *value;
};
/* Tells of all that is given or set and not empty, in the order of the table; what is given goes before the environment. */
void sl_options_each(const struct sl_remote_options *options,
                     void (*on_option)(void *ctx, const struct sl_option_source *source), void *ctx);
/* Does it belong to stores whose options' ids begin so ("S3_"), or to all of them? */
bool sl_option_is_of(enum sl_option option, const char *prefix);
/* "option NAME", "variable NAME" or "": where sl_option_get finds the value. Appended. */
void sl_option_put_source(const struct sl_remote_options *options, enum sl_option option, const char *scope,
                          struct sl_buf *out);

/* The option's first name, for messages. Static. */
const char *sl_option_name(enum sl_option option);
/* SILT_EINVALID: "option NAME is 'VALUE', expected …"; a secret's value is left out. */
silt_status sl_option_unusable(enum sl_option option, const char *value, const char *expected, silt_error *err);

#endif
