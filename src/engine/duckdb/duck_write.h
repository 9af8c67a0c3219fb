/*
 * The parts of a write: where files are staged, what a COPY wrote, and their statistics. Only duck_write.c, duck_copy.c,
 * duck_field_ids.c, duck_split.c, duck_stats.c, duck_send.c and duck_publish.c include this. One owner: the write.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_WRITE_H
#define SL_ENGINE_DUCKDB_DUCK_WRITE_H

#include "duck.h"

struct sl_duck_sender;
struct sl_duck_sending;

/* A file that lies in the staging folder. */
struct sl_duck_staged {
    const char *local;
    const char *relative; /* final name below the request's dir */
    const char *path;     /* final name as the store is told it; NULL until it may be there */
    int64_t modified_ms;
    int64_t num_rows;
    int64_t size_bytes;
    silt_value *partition_values;   /* in the order of the request's partition columns */
    struct sl_str *partition_texts; /* as the log spells them; absent: null */
    silt_column_stats *stats;
    size_t n_stats;
    struct sl_duck_sending *sending; /* of which a part is with the store; NULL: none is */
};

/* How files go to a store without local paths (duck_send.c). */
enum sl_duck_sending_mode {
    SL_DUCK_SENT_WHOLE = 0, /* when they are done */
    SL_DUCK_SENT_KEPT = 1,  /* while they are written; they stay, and one that turns out too large is split after all */
    SL_DUCK_SENT_GIVEN =
        2 /* while they are written, and what the store has is given back to the disk: nothing is split */
};

struct sl_duck_writing {
    struct sl_duck_conn conn;
    const silt_call *call;
    const silt_parquet_write *request;
    struct sl_arena arena;
    size_t *partition_index;    /* [partition column] place in the schema */
    bool *is_partition;         /* [column of the schema] */
    bool *is_absent;            /* [column of the schema] not in the files: a partition column that is not kept */
    const silt_schema *logical; /* the request's, or its schema */
    char *stage;                /* the staging folder */
    bool far;                   /* the store has no local paths */
    enum sl_duck_sending_mode mode;
    struct sl_duck_sender *sender; /* NULL: nothing is sent before it is published */
    struct sl_vec files;           /* struct sl_duck_staged */
    struct sl_duck_texts texts;    /* of partition values */
    bool splitting;                /* COPY answers are about pieces, whose partition is known */
};

/* What is written: the text of a query. */
struct sl_duck_write_source {
    struct sl_str sql;
    const struct sl_dataplane_params *params; /* or NULL */
    bool serial;                              /* its rows come one after the other, whatever is done with them */
};

/* ---- duck_copy.c ---- */

/* Codec of a request as DuckDB and file names spell it; SILT_EINVALID for an unknown one. */
struct sl_duck_codec {
    const char *name;   /* in the request */
    const char *option; /* of COPY */
    const char *suffix; /* of file names, with the dot before it */
};
silt_status sl_duck_find_codec(const char *name, const struct sl_duck_codec **out, silt_error *err);
/* ---- duck_write_pages.c ---- */

struct sl_duck_pages {
    const silt_call *call;
    const char *local;  /* of the file, which must not be there */
    int64_t group_rows; /* of a row group, at most */
};

/* Writes the rows, compressed by zstd. *done false: that cannot be done here, and no row was taken. The stream stays the caller's. */
silt_status sl_duck_pages_write(const silt_env *env, const struct sl_duck_pages *request, struct ArrowArrayStream *rows,
                                bool *done, silt_error *err);

/* "(FORMAT parquet, … " without the closing bracket. */
silt_status sl_duck_put_copy_options(const struct sl_duck_writing *w, struct sl_buf *sql, int64_t max_rows,
                                     silt_error *err);
/* Runs the source into the staging folder; fills w->files, without statistics. */
silt_status sl_duck_copy(struct sl_duck_writing *w, const struct sl_duck_write_source *source, silt_error *err);
/* Runs a COPY whose answer is RETURN_STATS rows, and adds a file for each that holds rows. */
silt_status sl_duck_run_copy(struct sl_duck_writing *w, const struct sl_duck_run *run, silt_error *err);

/* ---- duck_field_ids.c ---- */

/* ", FIELD_IDS {…}" for the columns of a schema that are in the file, or nothing where none of them has an id. */
silt_status sl_duck_put_field_ids(struct sl_buf *sql, const silt_schema *schema, const bool *is_absent,
                                  silt_error *err);

/* ---- duck_send.c: files that are sent while they are written ---- */

/* Begins to send what comes into the staging folder, as the write's mode says. */
silt_status sl_duck_send_begin(struct sl_duck_writing *w, silt_error *err);
/* What the rows of the COPY have to wait for, or NULL. */
const struct sl_duck_pace *sl_duck_send_pace(const struct sl_duck_writing *w);
/* After COPY, whose status is handed through; a failure to send is one of the write. Fills `sending` of w->files. */
silt_status sl_duck_send_end(struct sl_duck_writing *w, silt_status copied, silt_error *err);
/* The file is not sent as it is. */
void sl_duck_send_call_off(struct sl_duck_writing *w, struct sl_duck_staged *file);
/* Sends the rest of a file and gives it its name. On any thread, one a file. */
silt_status sl_duck_send_rest(const struct sl_duck_writing *w, struct sl_duck_staged *file, silt_error *err);
/* Calls off what is not done. Safe on a write that sends nothing. */
void sl_duck_send_close(struct sl_duck_writing *w);

/* ---- duck_split.c ---- */

/* Bytes of the largest file that is not split; INT64_MAX if none is. */
int64_t sl_duck_split_limit(const silt_parquet_write *request);

/* Splits staged files that are much larger than the target, keeping their rows' order. */
silt_status sl_duck_split(struct sl_duck_writing *w, silt_error *err);
/* Whether the rows of a query are likely to need several files, and whether their order matters. */
struct sl_duck_promise {
    bool large;
    bool sorted;
};
silt_status sl_duck_plan(struct sl_duck_writing *w, const struct sl_duck_write_source *source,
                         struct sl_duck_promise *out, silt_error *err);

/* ---- duck_stats.c ---- */

/* Fills the statistics of all staged files from their footers. */
silt_status sl_duck_collect_stats(struct sl_duck_writing *w, silt_error *err);

/* ---- duck_publish.c ---- */

/* Appends the final name of a file below the request's dir. */
silt_status sl_duck_put_name(const struct sl_duck_writing *w, const struct sl_duck_staged *file, size_t number,
                             struct sl_buf *out, silt_error *err);

/* Moves the staged files to their final names and tells the request's on_file of each, in order. */
silt_status sl_duck_publish(struct sl_duck_writing *w, silt_error *err);
/* Removes what has, or may have, its final name. */
void sl_duck_unpublish(struct sl_duck_writing *w);

#endif
