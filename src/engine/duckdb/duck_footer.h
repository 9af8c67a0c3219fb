/*
 * A Parquet file's schema as its footer tells it, and the judgement how it can be read as wanted. Who does what:
 *
 *   duck_footer.c   keeps footers; files that say the same share one. duck_footer_read.c and duck_footer_parse.c read them
 *   duck_footer_bounds.c   bounds and Bloom filters that DuckDB would leave out row groups by, and must not
 *   duck_check.c    all files of a request against what is wanted
 *   duck_resolve.c  which node of a file a wanted field is: by name or by field id
 *   duck_match.c    whether a physical type can be read as the wanted one, and how a leaf of it is read
 *   duck_column.c   a whole column: nesting, renames, missing fields and leaves put together; duck_value.c: as SQL (duck_column.h)
 *   duck_exact.c    whether a column is in a file exactly as it is wanted
 *   duck_members.c  members of structs, each by itself
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_FOOTER_H
#define SL_ENGINE_DUCKDB_DUCK_FOOTER_H

#include "base/thrift.h"
#include "duck.h"

enum sl_footer_shape {
    SL_SHAPE_PLAIN = 0,
    SL_SHAPE_LIST = 1,
    SL_SHAPE_MAP = 2
};

/* One node; children follow their parent in the array, depth first. Texts are absent where a file says nothing. */
struct sl_footer_node {
    struct sl_str name;
    struct sl_str type;      /* DuckDB's; absent for a group, and for what DuckDB does not read */
    struct sl_str physical;  /* "INT96", "FIXED_LEN_BYTE_ARRAY", …; absent for a group */
    struct sl_str converted; /* "UTF8", else some text where there is a converted type */
    struct sl_str logical;   /* "NANOS=NanoSeconds" of times, else some text where there is a logical type */
    uint32_t n_children;
    uint32_t n_nodes; /* of the subtree, itself included */
    int64_t field_id; /* -1 if none */
    enum sl_footer_shape shape;
    bool repeated;
    bool int96;          /* physical is INT96 */
    bool in_micros;      /* of a timestamp: stored as a number of microseconds */
    bool bloom;          /* a leaf that DuckDB reads as BLOB, with a Bloom filter in some row group */
    struct sl_str codec; /* a static name of what a leaf is compressed with, if nobody reads it; else absent */
};

/* What a footer says beside the schema, where that matters: all absent for most files. */
struct sl_footer_facts {
    struct sl_str spark_version; /* org.apache.spark.version; absent if there is none */
    struct sl_str time_zone;     /* org.apache.spark.timeZone */
    bool legacy_datetime;        /* org.apache.spark.legacyDateTime is there */
    bool legacy_int96;           /* org.apache.spark.legacyINT96 is there */
    bool float_bounds_lie;       /* row groups left out by bounds of FLOAT and DOUBLE may hold rows */
    bool text_bounds_lie;        /* the same of text and bytes */
    bool has_lz4;                /* some column has the codec LZ4 (duck_lz4.h) */
};

/* Files with equal schemas and facts have the same one, so that pointers can be compared. Immutable but for `passed`. */
struct sl_footer {
    const struct sl_footer_node *nodes; /* [0] is the root */
    size_t n_nodes;
    struct sl_footer_facts facts;
    struct sl_str key; /* equal for equal footers */
    bool plain_names;  /* sl_footer_names_are_plain */
    bool has_ids;      /* some node below the root has a field id */
    bool has_times;    /* some node is a date or a timestamp */
    uint64_t passed;   /* id of the check that it passed last; guarded by dp->lock */
};

/* ---- duck_footer.c ---- */

/*
 * The footers of all files, from the cache or read now. Files that DuckDB can read in another form only get copies in that form for local
 * names (duck_thaw.c). The pointers are good until sl_footers_leave, which is called after a failure as
 * well. SILT_ENOTFOUND for a missing file.
 */
silt_status sl_footers_enter(struct sl_duck_conn *conn, const silt_call *call, struct sl_duck_files *files,
                             struct sl_footer **footers, silt_error *err);
void sl_footers_leave(struct sl_dataplane *dp);
/* The footer that is equal to this one (by its key), made as a copy of it if it is the first. NULL: out of memory. */
struct sl_footer *sl_footer_intern(struct sl_dataplane *dp, const struct sl_footer *from);

/* ---- duck_footer_read.c ---- */

struct sl_footers_request {
    struct sl_dataplane *dp;
    const silt_call *call;
    const struct sl_duck_files *files;
    const size_t *which; /* places in files */
    size_t n;
    struct sl_footer **footers; /* [file], those of `which` are filled */
};
silt_status sl_footers_read(const struct sl_footers_request *request, silt_error *err);
/* Numbers of rows of files[which[i]], into counts[which[i]]. */
silt_status sl_footers_count_rows(struct sl_dataplane *dp, const silt_call *call, const struct sl_duck_files *files,
                                  const size_t *which, size_t n, int64_t *counts, silt_error *err);

/* The bytes of one footer; they live in *space, an initialised buffer. */
silt_status sl_footer_load(const struct sl_duck_files *files, size_t index, struct sl_buf *space, struct sl_str *out,
                           silt_error *err);

/* ---- duck_footer_parse.c ---- */

/* Texts of *out point into the bytes or the arena. SILT_ECORRUPT names the file. */
silt_status sl_footer_parse(struct sl_arena *arena, struct sl_str bytes, const char *path, struct sl_footer *out,
                            silt_error *err);

/* ---- duck_footer_bounds.c ---- */

/* What there is in any row group. */
struct sl_footer_bounds {
    bool of_floats;       /* bounds of FLOAT or DOUBLE */
    bool bloom_of_floats; /* a Bloom filter of such */
    bool old_of_bytes;    /* bounds of text or bytes, in the order of old writers */
    bool *blooms;         /* [leaf] a Bloom filter, whatever the type; made by the caller */
    const char **strange; /* [leaf] name of a codec that nobody reads, else NULL; made by the caller */
    size_t n_blooms;      /* room in both */
    bool has_lz4;
    bool more_blooms; /* one of a leaf that has no room */
};
/* Reads the list of row groups that the cursor is at. */
void sl_footer_read_bounds(struct sl_thrift *in, struct sl_footer_bounds *out);
/* Sets `bloom` and `codec` of the nodes. */
void sl_footer_mark_leaves(const struct sl_footer_bounds *bounds, struct sl_footer_node *nodes, size_t n_nodes);
/* writer: what the footer's created_by says; absent if nothing. */
void sl_footer_judge_bounds(const struct sl_footer_bounds *bounds, struct sl_str writer, struct sl_footer_facts *facts);

/* ---- duck_groups.c ---- */

/* The node at the end of a path of structs, NULL if it is none or no leaf. */
const struct sl_footer_node *sl_footer_find_leaf(const struct sl_footer *footer, const silt_parquet_leaf *leaf);

/* ---- duck_check.c ---- */

struct sl_duck_check {
    const struct silt_type *type;   /* struct of physical columns */
    const struct silt_type *titles; /* the same with the table's names, for messages; NULL: as in the files */
    bool match_by_field_id;
};
/* SILT_ESCHEMA if a file holds a column whose type cannot be read as the wanted type without changing values. */
silt_status sl_footers_check(struct sl_dataplane *dp, const struct sl_duck_files *files, struct sl_footer **footers,
                             const struct sl_duck_check *check, silt_error *err);

/* ---- duck_resolve.c ---- */

/* The id that a field's metadata asks for ("parquet.field.id"), -1 if there is none. */
int64_t sl_footer_wanted_id(const struct silt_field *field);
/*
 * The child of a group that a wanted field is read from, NULL if the file lacks it. By id: the node of the field's id, whatever its
 * name; fields without an id go by name. By name: exactly, else the one that differs in case only.
 */
const struct sl_footer_node *sl_footer_find(const struct sl_footer_node *group, const struct silt_field *field,
                                            bool by_id);

/* ---- duck_match.c ---- */

struct sl_footer_wanted {
    const struct silt_type *type;   /* struct of physical columns */
    const struct silt_type *titles; /* the same with the table's names, for messages; NULL: as in the files */
    bool match_by_field_id;         /* at every level: sl_footer_find */
};

/* Pure. SILT_ESCHEMA names file, column and both types. */
silt_status sl_footer_match(const silt_env *env, const struct sl_footer_node *root,
                            const struct sl_footer_wanted *wanted, const char *path, silt_error *err);

/*
 * How one node is read that sl_footer_match let pass: the DuckDB type that it is declared as, and the SQL text around the value.
 * {"DATE", "silt_rebase_date(", ")"} reads a DATE through that function. NULLs: as the wanted type, as it is. `after` may hold more
 * arguments. Where texts are put around the value they must keep NULL.
 */
struct sl_footer_leaf {
    const char *declared;
    const char *before;
    const char *between; /* NULL, or the value stands a second time behind it */
    const char *after;
    bool aside; /* DuckDB does not give it as declared: the column is read aside, see duck_aside.h */
};
/*
 * Asked of every leaf and every variant, and of lists and maps that are laid out in a way that sl_footer_list and sl_footer_map do not
 * know. Pure; texts are static or in the arena.
 */
silt_status sl_footer_read_leaf(struct sl_arena *arena, const struct sl_footer *footer,
                                const struct sl_footer_node *node, const struct silt_type *wanted,
                                struct sl_footer_leaf *out, silt_error *err);

/*
 * The parts of a list and of a map, whatever the layout. False: none, or DuckDB reads it by rules of its own and it is asked for as the
 * wanted type. bare: the element is a struct of one field and DuckDB reads that field in its place.
 */
struct sl_footer_list {
    const struct sl_footer_node *element;
    bool bare;
};
bool sl_footer_list(const struct sl_footer_node *node, struct sl_footer_list *out);
bool sl_footer_map(const struct sl_footer_node *node, const struct sl_footer_node **key,
                   const struct sl_footer_node **value);

/* "DECIMAL(10,2)" taken apart; false if it is no decimal. Pure. */
bool sl_footer_decimal(struct sl_str type, int64_t *precision, int64_t *scale);

/* ---- duck_exact.c ---- */

/* A leaf has exactly the type. Pure. */
bool sl_footer_leaf_is_exact(const struct sl_footer_node *leaf, const struct silt_type *wanted);
/* A list or a map in the layout of the standard, that DuckDB reads as it is. */
bool sl_footer_layout_is_exact(const struct sl_footer_node *node);
/* No two top-level columns differ in case only, none is named like a virtual column of DuckDB. */
bool sl_footer_names_are_plain(const silt_env *env, const struct sl_footer_node *root);

/* ---- duck_members.c ---- */

/*
 * Appends the columns of a SELECT from a file of this footer that makes the wanted columns of members of its own. A struct that is
 * null comes as one whose members are. *possible false: the file has something otherwise than it is wanted; then the text is of no use.
 */
silt_status sl_duck_put_members(struct sl_buf *sql, const struct sl_footer *footer, const struct silt_type *wanted,
                                bool *possible, silt_error *err);

/* ---- duck_column.c ---- */

/* A column of a plan, to be read from files of one footer. */
struct sl_duck_column {
    const struct silt_field *logical;
    const struct silt_field *physical;
    bool by_id;
    struct sl_str alias; /* the name that a schema map gives it */
    const char *path;    /* of a file with the footer, for messages */
};

/* How it is read. Texts are in the arena. */
struct sl_duck_reading {
    struct sl_str stored;   /* its name in the files; a name that is not in them if they lack it */
    struct sl_str declared; /* DuckDB type for a schema map */
    struct sl_str mapped;   /* SQL of the table's value over the alias of a schema map */
    struct sl_str direct;   /* the same over the files' own columns; absent: only a schema map makes it right */
    bool found;             /* the files have it */
    bool aside; /* no schema map gives it: it is read aside, from these leaves, counted in the order of the schema */
    uint32_t first_leaf;
    uint32_t n_leaves;
    bool same; /* `direct` is the column as it is stored */
};
/* Pure but for the arena. */
silt_status sl_duck_column_read(struct sl_arena *arena, const struct sl_footer *footer,
                                const struct sl_duck_column *column, struct sl_duck_reading *out, silt_error *err);

#endif
