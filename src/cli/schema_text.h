/*
 * Types as Spark writes them, for people.
 */
#ifndef SL_CLI_SCHEMA_TEXT_H
#define SL_CLI_SCHEMA_TEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "silt/schema.h"

/* array<struct<a:bigint,b:string>> */
void sl_schema_put_type(struct sl_buf *out, const silt_type *type);
/* Whether a struct is in it, so that it has fields of its own to show. */
bool sl_schema_has_fields(const silt_type *type);
/* "array", "map" or the whole text of what has no fields in it. */
void sl_schema_put_outline(struct sl_buf *out, const silt_type *type);
/* The comment of a field, in the arena; absent if there is none. */
struct sl_str sl_schema_comment(struct sl_arena *arena, const silt_env *env, const silt_field *field);

#endif
