/*
 * Private to src/schema: making schemas, and naming the place of a fault in one.
 */
#ifndef SL_SCHEMA_SCHEMA_INT_H
#define SL_SCHEMA_SCHEMA_INT_H

#include "schema/type.h"

/* Where in a schema a walk stands; frames live on the stack of the walk. */
struct sl_place {
    const struct sl_place *up;
    struct sl_str name; /* of a field, or "element", "key", "value" */
    unsigned depth;     /* 0 at the top */
};

#define SL_PLACE_SIZE 200

/* "a.b.element", its tail if it is long; "schema" at the top. Returns buf. */
const char *sl_place_print(const struct sl_place *place, char buf[SL_PLACE_SIZE]);
/* SILT_ELIMIT when place is deeper than SL_SCHEMA_MAX_DEPTH. */
silt_status sl_place_check(const struct sl_place *place, silt_error *err);

/* An empty schema with one reference: fill root before it is visible to others. */
silt_status sl_schema_new(const silt_env *env, silt_schema **out, silt_error *err);

/* Deep copies into an arena; *n_fields counts against SL_SCHEMA_MAX_FIELDS. */
silt_status sl_field_copy(struct sl_arena *arena, const struct silt_field *src, const struct sl_place *up,
                          size_t *n_fields, struct silt_field *out, silt_error *err);
/* The decoded text of a JSON string into the arena; absent for any other JSON. */
silt_status sl_meta_decode(struct sl_arena *arena, struct sl_str json, struct sl_str *out, silt_error *err);

/* Kind of a primitive type's name in Delta's JSON, decimals aside; false if it is none. */
bool sl_type_kind_by_name(struct sl_str name, silt_type_kind *out);

#endif
