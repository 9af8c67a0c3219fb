/*
 * Spark's spellings made DuckDB's, token by token, so that DuckDB's parser can read the text: `a` → "a", delta.'p' → delta."p", <=> → IS
 * NOT DISTINCT FROM, types of Spark in casts. Time travel that DuckDB does not know (VERSION AS OF, TIMESTAMP AS OF, @v3) is taken
 * out and remembered by the place of its table.
 */
#ifndef SL_SQL_SPELLING_H
#define SL_SQL_SPELLING_H

#include "base/vec.h"
#include "sql/lexer.h"
#include "sql/offset_map.h"
#include "sql/session_int.h"

/* Time travel taken out of the text. */
struct sl_travel_note {
    size_t table;  /* offset of the table's first byte in the spelled text */
    size_t clause; /* offset of the clause in the source, for messages */
    bool is_version;
    bool used;          /* a table has taken it */
    bool is_suffix;     /* text is what stood behind '@' */
    struct sl_str expr; /* source text of the version or time */
    size_t n_marks;     /* question marks of the statement before it */
};

struct sl_spelled {
    struct sl_buf text;
    struct sl_offset_map map; /* spelled → source */
    struct sl_vec travels;    /* struct sl_travel_note */
    size_t n_marks;           /* question marks so far; to spell a part of a statement, those before it */
};

void sl_spelled_init(struct sl_spelled *spelled, const silt_env *env);
void sl_spelled_release(struct sl_spelled *spelled); /* safe on a zeroed one */

/* source must outlive spelled (expr borrows from it). */
silt_status sl_spell(struct sl_str source, struct sl_spelled *out, silt_error *err);

#endif
