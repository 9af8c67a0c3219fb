/*
 * A bounded walk over a whole variant, for variant.c and variant_json.c. One owner.
 */
#ifndef SL_SCHEMA_VARIANT_WALK_H
#define SL_SCHEMA_VARIANT_WALK_H

#include "schema/variant.h"

struct sl_variant_walk {
    struct sl_variant_names names;
    size_t budget; /* bytes that may still be read: sound values do not overlap */
    bool below_us;
};
silt_status sl_variant_walk_begin(struct sl_variant_walk *walk, struct sl_str metadata, struct sl_str value,
                                  silt_error *err);
/* depth is 1 for the whole value. Text is valid UTF-8. */
silt_status sl_variant_walk_read(struct sl_variant_walk *walk, struct sl_str bytes, unsigned depth,
                                 struct sl_variant_value *out, silt_error *err);
/* Member i; its name, valid UTF-8, if value is an object, else absent. */
silt_status sl_variant_walk_item(const struct sl_variant_walk *walk, const struct sl_variant_value *value, uint32_t i,
                                 struct sl_str *bytes, struct sl_str *name, silt_error *err);

#endif
