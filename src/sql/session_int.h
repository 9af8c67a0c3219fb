/*
 * The inside of a session: what the statements share. One owner.
 */
#ifndef SL_SQL_SESSION_INT_H
#define SL_SQL_SESSION_INT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/dataplane.h"
#include "silt/scan.h"
#include "silt/session.h"
#include "silt/table.h"

/* What conditions mean in the data plane, as far as statements can change it. */
struct sl_plane_habits {
    bool same_texts; /* texts of other bytes are not equal: no collation */
    bool utc;        /* its zone is UTC, its calendar the usual one */
    bool own_calls;  /* functions are its own: there are no macros */
};

/* Tables whose snapshots are kept from one statement to the next. */
#define SL_RESIDENT_TABLES 4

struct silt_session {
    const silt_env *env;
    silt_engine *engine;
    char *warehouse; /* absolute, decoded */
    char *time_zone;
    char *engine_info;
    struct sl_arena arena; /* options set by SET */
    struct sl_map options; /* key (lower case) → char * */
    bool has_temporaries;  /* a statement may have made tables or views in the data plane */
    bool has_settings;     /* a statement may have changed settings of the data plane */
    bool knows_habits;     /* habits are those of now */
    struct sl_plane_habits habits;
    silt_snapshot *resident[SL_RESIDENT_TABLES]; /* see resident.h; NULL: a free place */
    struct sl_vec pins;                          /* silt_snapshot *; see pins.h */
};

/* Where a statement stands in the text that the user gave, for error positions. */
struct sl_statement_text {
    struct sl_str text; /* of the statement alone */
    size_t offset;      /* of it in the user's text */
};

/* One table as a statement names it. */
struct sl_table_name {
    struct sl_str parts[4]; /* catalog/schema/name parts, quotes resolved; for a path: parts[0] is the path */
    size_t n_parts;
    bool is_path;     /* delta.`path`, delta.'path' or 'path' */
    bool quoted_path; /* 'path' or "path" in quotes: may be a Parquet/CSV/JSON file as well */
    enum {
        SL_TRAVEL_NONE,
        SL_TRAVEL_VERSION,
        SL_TRAVEL_TIMESTAMP
    } travel;
    int64_t version;         /* SL_TRAVEL_VERSION */
    int64_t timestamp_us;    /* SL_TRAVEL_TIMESTAMP */
    bool timestamp_has_zone; /* else timestamp_us is a wall clock of the session's zone */
    size_t begin, end;       /* byte range in the statement */
};

/* Location of a table by its name: a path as it is (normalised), a name within the warehouse: events → <w>/events,
 * sales.events → <w>/sales/events; `name@v3` and `name@20260101000000000` suffixes are taken off into `travel`. */
silt_status sl_session_resolve(silt_session *session, struct sl_arena *arena, struct sl_table_name *name,
                               struct sl_str *uri, silt_error *err);
silt_status sl_session_open_table(silt_session *session, struct sl_table_name *name, silt_table **out, silt_error *err);
/* The snapshot that a name with its time travel means. */
silt_status sl_session_snapshot(silt_session *session, const silt_call *call, struct sl_table_name *name,
                                silt_table **table, silt_snapshot **out, silt_error *err);
/* A wall clock of the session's zone as an instant; the data plane has the zone's rules. */
silt_status sl_session_local_to_utc(silt_session *session, const silt_call *call, int64_t wall_us, int64_t *out,
                                    silt_error *err);
/* True if a Delta table is at the location (its _delta_log has commits or checkpoints). */
silt_status sl_session_is_table(silt_session *session, const silt_call *call, struct sl_str uri, bool *out,
                                silt_error *err);

/* True if the data plane has a table or view of this name of its own (CREATE TEMP …, CREATE VIEW …). */
silt_status sl_session_is_temporary(silt_session *session, const silt_call *call, const struct sl_table_name *name,
                                    bool *out, silt_error *err);

/* Makes the zone that of the session and of its data plane; SILT_EINVALID when there is no such zone. */
silt_status sl_session_set_time_zone(silt_session *session, struct sl_str zone, silt_error *err);

struct sl_str sl_session_option(const silt_session *session, const char *key); /* absent if unset */

/*
 * A query made ready for the data plane: Delta tables replaced by scans. The text may be a SELECT, or a statement with a query
 * inside it (COPY (…) TO, EXPLAIN, CREATE TEMP VIEW … AS, …).
 */
struct sl_prepared_query {
    struct sl_buf sql;              /* what to run */
    struct sl_offset_map *spliced;  /* from offsets in sql to the spelled text */
    struct sl_offset_map *spelling; /* from there to the statement's text */
    size_t offset;                  /* of the statement in the user's text */
    struct sl_dataplane_ref plane;
    struct sl_dataplane_scan **scans;
    silt_scan **kernel_scans;
    const bool **may_read; /* [scan] which of its columns the query may read; NULL: all */
    size_t n_scans;
    bool reads_delta_tables;
    struct sl_arena arena;
};
silt_status sl_query_prepare(silt_session *session, const silt_call *call, const struct sl_statement_text *statement,
                             const struct sl_dataplane_params *params, struct sl_prepared_query *out, silt_error *err);
void sl_query_release(struct sl_prepared_query *query); /* safe on a zeroed one */
/* Puts an error position of the run text back to the user's. */
void sl_query_map_error(const struct sl_prepared_query *query, silt_error *err);
/* Names the file in an error that is about one of several. Reads files again; call: of the run. */
void sl_query_name_file(const struct sl_prepared_query *query, const silt_call *call, silt_error *err);
/* Runs it; the stream owns the query (moved) and releases it at its end. */
silt_status sl_query_run(struct sl_prepared_query *query, const silt_call *call,
                         const struct sl_dataplane_params *params, struct ArrowArrayStream *out, silt_error *err);

#endif
