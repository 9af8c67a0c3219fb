/*
 * What the JSON text of add.stats claims (PROTOCOL.md "Per-file Statistics"): of one file, and, faster, of many whose texts mostly have
 * the same shape. Both claim the same for every text.
 */
#ifndef SL_KERNEL_SCAN_STATS_READER_H
#define SL_KERNEL_SCAN_STATS_READER_H

#include "kernel/scan/file_stats.h"

/*
 * Claims of one text (absent: none). What is no JSON claims nothing; keys that come twice claim nothing either. Values borrow from text
 * or lie in the arena. Fails only for lack of memory.
 */
silt_status sl_stats_claims_from_json(struct sl_str text, const struct sl_skip_column *columns, size_t n,
                                      struct sl_arena *arena, struct sl_claims *claims, struct sl_bounds *bounds,
                                      silt_error *err);

/* For many texts. One owner, one thread; columns are borrowed. */
struct sl_stats_reader;
silt_status sl_stats_reader_new(const silt_env *env, const struct sl_skip_column *columns, size_t n,
                                struct sl_stats_reader **out, silt_error *err);
void sl_stats_reader_free(struct sl_stats_reader *reader); /* NULL is legal */
silt_status sl_stats_reader_claims(struct sl_stats_reader *reader, struct sl_str text, struct sl_arena *arena,
                                   struct sl_claims *claims, struct sl_bounds *bounds, silt_error *err);

/*
 * The same in parts, for who can do without most of them: is the text of the shape of one before it? Then it is valid, and until the
 * next call of the reader these tell of it without allocating. False: nothing is known, or it is not a plain number of the column's type.
 */
bool sl_stats_reader_peek(struct sl_stats_reader *reader, struct sl_str text);
bool sl_stats_reader_peek_rows(const struct sl_stats_reader *reader, int64_t *out);
/* Of a column of integers, days or times: as claims have it. */
bool sl_stats_reader_peek_bound(const struct sl_stats_reader *reader, size_t column, bool is_max, int64_t *out);

/* Claims and what may be believed of them: a struct sl_bounds for each column. */
silt_status sl_stats_reader_bounds(struct sl_stats_reader *reader, struct sl_str text, struct sl_arena *arena,
                                   struct sl_bounds *out, silt_error *err);

#endif
