/*
 * The transaction object, shared by the files of this folder. One owner, not thread-safe.
 *
 * What it will write lives in its arena. It holds references of table, engine and snapshot; protocol and metadata start as
 * views into the snapshot and are replaced when they change.
 */
#ifndef SL_KERNEL_TXN_INT_H
#define SL_KERNEL_TXN_INT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "kernel/action/action.h"
#include "kernel/txn/conflict.h"
#include "kernel/txn/rebase.h"
#include "silt/transaction.h"

enum sl_txn_state {
    SL_TXN_OPEN,
    SL_TXN_ENDED,  /* committed, skipped or failed: can only be freed */
    SL_TXN_UNKNOWN /* may be committed: its files must stay */
};

struct sl_txn_metric {
    struct sl_str key;
    int64_t value;
};

/* What the files of this transaction are written with; made at the first write. */
struct sl_txn_writer {
    bool ready;
    silt_schema *data_schema; /* the physical schema without partition columns */
    silt_schema *data_names;  /* the same in the names that users know */
    bool *selected;           /* leaves of data_schema that get statistics */
    size_t n_selected;
    size_t prefix_length;           /* of text in statistics */
    const char **partition_columns; /* physical names */
    const char *codec;
    int64_t target_file_size;
    size_t prefix_folder; /* letters of the folder of a file, 0: folders of partition values */
    bool keep_partition_columns;
};

struct silt_txn {
    const silt_env *env;
    silt_engine *engine;     /* borrowed from the table */
    silt_table *table;       /* a reference */
    silt_snapshot *snapshot; /* a reference; NULL for a table that is being created */
    silt_storage *storage;   /* borrowed from the table */
    struct sl_str root;      /* borrowed from the table */
    struct sl_arena arena;
    enum sl_txn_state state;
    struct sl_str operation;
    struct sl_str engine_info;
    struct sl_str user_metadata; /* absent: none */
    int64_t read_version;

    struct sl_protocol protocol;
    struct sl_metadata metadata;
    silt_schema *schema;        /* a reference */
    silt_schema *physical;      /* the same shape in the names of files; a reference */
    struct sl_kv_list settings; /* protocol settings given as properties */
    int64_t max_column_id; /* the greatest id of column mapping that was ever given, also by a table that is replaced */
    bool protocol_changed;
    bool metadata_changed;
    bool schema_changed;
    bool exclusive;
    bool marked;     /* the mark of a table that is being created may be there */
    bool by_catalog; /* commits go through the committer of the table's catalog */
    bool reads_table;
    bool readds; /* a live file is added again, which counts as reading it */
    bool removed_all;

    struct sl_vec parameters; /* struct sl_kv */
    struct sl_vec metrics;    /* struct sl_txn_metric */
    struct sl_vec reads;      /* struct sl_read, each with a reference of its predicate */
    struct sl_vec read_files; /* struct sl_str: log paths */
    silt_expr *replaces;      /* rows that are added from first_new on must fulfil it; NULL: anything */
    size_t first_new;         /* of adds: those before it hold rows that were there and are kept */
    int64_t rows_copied;      /* in those; -1: not known */
    struct sl_vec adds;       /* struct sl_action */
    struct sl_vec add_rows;   /* int64_t, one for each add: numRecords, SL_NO_I64 if not known */
    struct sl_vec named;      /* size_t: places of adds whose files could be live already */
    struct sl_vec removes;    /* struct sl_action */
    struct sl_vec domains;    /* struct sl_action */
    struct sl_vec app_txns;   /* struct sl_action */
    struct sl_map paths;      /* log paths that an action names */
    struct sl_map live;       /* absolute path → struct sl_add * of the snapshot; filled by the first remove_file */
    bool live_loaded;
    struct sl_vec written; /* struct sl_str: files that this transaction made, absolute */
    struct sl_txn_writer writer;
    silt_status fault; /* found while files were being written; the transaction can then only be freed */
    silt_error fault_error;
    int64_t rows_added; /* -1: not known */
    int64_t bytes_added;
    int64_t bytes_removed;
    silt_commit_options options;
};

/* A transaction with its references taken and everything else empty. */
silt_status sl_txn_new(silt_table *table, const char *operation, silt_txn **out, silt_error *err);
/* SILT_EINVALID unless the transaction is still open; returns an earlier fault of writing again. */
silt_status sl_txn_check_open(const silt_txn *txn, silt_error *err);

void sl_txn_release_reads(silt_txn *txn);

/* The gate, for a protocol with the transaction's metadata and schema. */
silt_status sl_txn_gate(const silt_txn *txn, const struct sl_protocol *protocol, silt_error *err);

/* A copy in the transaction's arena. *out absent if text is NULL. */
silt_status sl_txn_text(silt_txn *txn, const char *text, struct sl_str *out, silt_error *err);

/*
 * Makes the schema the transaction's: names and ids of column mapping are given, or taken away, as the configuration asks for, and what
 * the two together may not be is refused with nothing changed.
 */
silt_status sl_txn_take_schema(silt_txn *txn, const silt_schema *schema, const struct sl_kv_list *configuration,
                               silt_error *err);
/* A copy of the list with the key set, or left out when value is absent. *found (may be NULL) tells whether it was there. */
silt_status sl_txn_with_key(struct sl_arena *arena, const struct sl_kv_list *list, struct sl_kv pair,
                            struct sl_kv_list *out, bool *found, silt_error *err);

/* May the transaction leave the metadata as it has them now? */
silt_status sl_txn_check_metadata(silt_txn *txn, silt_error *err);
/* Brings the protocol to what metadata, schema and settings need, and asks the gate. */
silt_status sl_txn_plan_protocol(silt_txn *txn, silt_error *err);
/* Before the commit: do the files that stay bear the features that the transaction switches on? */
silt_status sl_txn_check_enablement(silt_txn *txn, const silt_call *call, silt_error *err);
/* Before the commit: is a change of schema one that the live files bear? */
silt_status sl_txn_check_schema_change(const silt_txn *txn, silt_error *err);

/*
 * Of a transaction that creates a table: leaves a mark before its first data file is written, so that a retry after a crash may
 * pass over the files it finds, and takes it away again. Both do nothing for other transactions.
 */
silt_status sl_txn_mark_creation(silt_txn *txn, silt_error *err);
void sl_txn_unmark_creation(silt_txn *txn);

/* The log path of a file: encoded, checked to lie within the table. */
silt_status sl_txn_log_path(silt_txn *txn, const char *path, struct sl_str *out, silt_error *err);
/* The logged partition values of a file; values in the order of the table's partition columns. */
silt_status sl_txn_partition_values(silt_txn *txn, const silt_value *values, size_t n, struct sl_kv_list *out,
                                    silt_error *err);
/* Takes an add, whose memory is in the arena, after checking that no other action names the file. */
silt_status sl_txn_push_add(silt_txn *txn, const struct sl_add *add, int64_t rows, silt_error *err);

/* Metadata, schemas and protocol of a new table, or of one that takes another's place, into an empty transaction. */
silt_status sl_txn_take_metadata(silt_txn *txn, const silt_create_options *options, silt_error *err);
silt_status sl_create_options_check(const silt_create_options *options, silt_txn **out, silt_error *err);

/* Removes a file that is live in the snapshot; the add is copied. */
silt_status sl_txn_remove_add(silt_txn *txn, const struct sl_add *add, bool data_change, silt_error *err);
/* May files be removed at all? */
silt_status sl_txn_check_removable(const silt_txn *txn, bool data_change, silt_error *err);

/* Names of source columns matched to the table's, ignoring case: mapping[i] for table column i, SIZE_MAX for none. */
silt_status sl_txn_match_columns(const silt_txn *txn, const struct ArrowSchema *source, size_t *mapping,
                                 silt_error *err);

/* Before the commit: what the metadata of a table that gets row tracking enabled must say. */
silt_status sl_txn_enable_row_tracking(silt_txn *txn, silt_error *err);
/* No add with a change of data is a live file; one without keeps what belongs to the rows of its file. */
silt_status sl_txn_check_adds(silt_txn *txn, const silt_call *call, silt_error *err);
/* A live file of the snapshot by its absolute path; NULL if there is none. */
silt_status sl_txn_find_live(silt_txn *txn, const silt_call *call, const char *path, const struct sl_add **out,
                             silt_error *err);

static inline struct sl_action *sl_txn_action_at(const struct sl_vec *vec, size_t index)
{
    return (struct sl_action *)sl_vec_at(vec, index);
}

#endif
