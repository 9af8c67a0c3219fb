/*
 * Delta's statements as parsed: plain structs in an arena. Queries are not parsed here; they are told apart and left to the
 * data plane.
 */
#ifndef SL_SQL_STATEMENT_H
#define SL_SQL_STATEMENT_H

#include "kernel/action/action.h"
#include "schema/type.h"
#include "sql/lexer.h"
#include "sql/session_int.h"

enum sl_statement_kind {
    SL_STMT_QUERY,        /* SELECT, WITH, VALUES, FROM, COPY (q) TO, EXPLAIN, SUMMARIZE …: run by the data plane */
    SL_STMT_CREATE_TABLE, /* also AS query */
    SL_STMT_INSERT,
    SL_STMT_DESCRIBE_TABLE, /* DESCRIBE [TABLE] [EXTENDED] t */
    SL_STMT_DESCRIBE_HISTORY,
    SL_STMT_DESCRIBE_DETAIL,
    SL_STMT_SHOW_PROPERTIES,
    SL_STMT_SHOW_COLUMNS,
    SL_STMT_SET, /* SET key = value; SET; SET key */
    SL_STMT_RESET,
    SL_STMT_DROP_TABLE,
    SL_STMT_TRUNCATE,
    SL_STMT_UNSUPPORTED /* a statement of Delta that is not supported: refused by name */
};

struct sl_create_table {
    struct sl_table_name table;
    bool if_not_exists;
    bool or_replace;           /* CREATE OR REPLACE */
    bool replace;              /* REPLACE: it must be there */
    struct silt_field *fields; /* n 0 with AS: taken from the query */
    size_t n_fields;
    struct sl_str provider; /* USING delta; absent: delta */
    struct sl_str_list partition_columns;
    struct sl_kv_list properties;
    struct sl_str comment;
    struct sl_str location; /* absent: by name */
    bool has_query;
    size_t query_begin, query_end; /* range in the statement */
};

enum sl_insert_mode {
    SL_INSERT_APPEND,
    SL_INSERT_OVERWRITE,
    SL_INSERT_REPLACE_WHERE
};

/* A column of PARTITION (p = 1, q). */
struct sl_partition_spec {
    struct sl_str column;
    struct sl_str value; /* text of a literal; absent: the query gives it */
    size_t value_begin;  /* of it in the statement */
};

struct sl_insert {
    struct sl_table_name table;
    enum sl_insert_mode mode;
    bool by_name;
    bool evolves;               /* WITH SCHEMA EVOLUTION */
    struct sl_str_list columns; /* explicit list, n 0 if none */
    struct sl_partition_spec *partition;
    size_t n_partition;
    bool has_partition;
    struct sl_str condition; /* of REPLACE WHERE */
    size_t condition_begin;  /* in the statement */
    size_t query_begin, query_end;
};

struct sl_statement {
    enum sl_statement_kind kind;
    const char *name;           /* e.g. "DESCRIBE HISTORY", for messages */
    const char *hint;           /* SL_STMT_UNSUPPORTED: what to do instead; or NULL */
    struct sl_table_name table; /* DESCRIBE, SHOW, DROP, TRUNCATE */
    bool if_exists;             /* DROP */
    bool extended;
    int64_t limit;            /* DESCRIBE HISTORY t LIMIT n; 0 none */
    struct sl_str key, value; /* SET, RESET, SHOW TBLPROPERTIES t ('key') */
    struct sl_create_table create;
    struct sl_insert insert;
};

/* SILT_ESYNTAX with a position relative to the statement; SL_STMT_DROP_TABLE,
    SL_STMT_UNSUPPORTED is no error here. */
silt_status sl_statement_parse(struct sl_arena *arena, struct sl_str text, struct sl_statement *out, silt_error *err);

/* Parses a table name at the lexer: parts, paths, and time travel behind it (VERSION AS OF, TIMESTAMP AS OF, FOR …, @v). */
silt_status sl_table_name_parse(struct sl_arena *arena, struct sl_lexer *lexer, struct sl_table_name *out,
                                silt_error *err);

#endif
