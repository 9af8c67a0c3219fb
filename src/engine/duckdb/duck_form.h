/*
 * How columns that are stored in one form become the table's columns: what is asked for in the schema map of read_parquet, and the
 * expression around it that renames nested fields (column mapping) and undoes what old and odd writers did: INT96, the Julian
 * calendar, text without annotation, legacy lists, nanoseconds, variants as structs.
 *
 * A scan has one form a group of files: files of equal schema and equal facts. duck_footer.c learns both, duck_scan.c makes a branch a
 * group and calls here for the types and values of each column. Pure but for the registration; any thread.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_FORM_H
#define SL_ENGINE_DUCKDB_DUCK_FORM_H

#include "duck_footer.h"

/* What a file's key-value metadata says of its dates and timestamps. All zero for most files. Part of a schema's signature. */
struct sl_form_facts {
    bool julian;        /* dates and timestamps before 1582-10-15 are in the Julian calendar */
    bool int96_julian;  /* the same of INT96 */
    struct sl_str zone; /* whose clock the writer used for that; absent: UTC */
};

/* The keys that matter ("org.apache.spark.…"); put into SQL as is. */
#define SL_FORM_KEYS                                                                                  \
    "'org.apache.spark.version', 'org.apache.spark.legacyDateTime', 'org.apache.spark.legacyINT96', " \
    "'org.apache.spark.timeZone'"

/* What the keys of one file say. An absent key is an absent view. The zone is borrowed from the argument. */
struct sl_form_keys {
    struct sl_str version;
    struct sl_str legacy_datetime;
    struct sl_str legacy_int96;
    struct sl_str zone;
};
struct sl_form_facts sl_form_facts_of(const struct sl_form_keys *keys);
/* Whether a type holds dates or timestamps: only then are the facts of files needed. */
bool sl_form_wants_facts(const struct silt_type *type);

/* One column (or a nested part of one) of a group of files. */
struct sl_form {
    const struct sl_form_facts *facts; /* of the group; NULL: none */
    const struct sl_footer_node *node; /* the stored column; NULL: the files lack it */
    const struct silt_type *physical;  /* wanted type, names as in the files */
    const struct silt_type *logical;   /* the same type, the table's names */
    bool utc;                          /* the query runs with UTC as its zone */
};

/* True if the column can be asked for as its physical type and is then the wanted one: nothing needs to be put around it. */
bool sl_form_is_plain(const struct sl_form *form);
/* The type to ask for in the schema map, as DuckDB spells it. */
silt_status sl_form_put_type(struct sl_buf *sql, const struct sl_form *form, silt_error *err);
/* The expression for the wanted column; value is the SQL of what the schema map gave. */
silt_status sl_form_put_value(struct sl_buf *sql, struct sl_str value, const struct sl_form *form, silt_error *err);

/* Registers the C functions that the expressions use, in a database that was just opened. */
bool sl_form_register(struct sl_dataplane *dp, duckdb_connection handle);

#endif
