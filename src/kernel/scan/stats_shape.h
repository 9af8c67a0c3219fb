/*
 * Private to the reading of JSON statistics: the shape of a text, which is what is left of it without its strings and numbers. The
 * files of a table mostly have statistics of one shape, since one writer wrote them: members in the same order under the same names. A
 * text of a known shape is checked and read several times faster than by scanning it anew. One owner.
 */
#ifndef SL_KERNEL_SCAN_STATS_SHAPE_H
#define SL_KERNEL_SCAN_STATS_SHAPE_H

#include "base/buf.h"
#include "base/vec.h"
#include "json/scan.h"

/* A string or number of the text, and what stands before it since the last one. */
struct sl_shape_slot {
    uint32_t before; /* bytes */
    bool is_string;
    bool is_wanted;
};

struct sl_stats_shape {
    struct sl_buf frame; /* all that stands between slots, one after the other */
    struct sl_vec slots; /* struct sl_shape_slot */
    uint32_t behind;     /* bytes behind the last slot */
};

void sl_stats_shape_init(struct sl_stats_shape *shape, const silt_env *env); /* allocates nothing */
void sl_stats_shape_release(struct sl_stats_shape *shape);

/*
 * Takes the shape of a text that is valid JSON. wanted: places of values in it, ascending: of a string behind its quote. False when out of
 * memory or when the text is too long to be worth it; the shape then matches nothing.
 */
bool sl_stats_shape_learn(struct sl_stats_shape *shape, struct sl_str text, const size_t *wanted, size_t n_wanted);
/*
 * Has the text this shape? Then it is valid JSON, and out gets the wanted values in their order; it has room for all of them.
 */
bool sl_stats_shape_match(const struct sl_stats_shape *shape, struct sl_str text, struct sl_json_token *out);

#endif
