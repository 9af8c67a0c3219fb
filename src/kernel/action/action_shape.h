/*
 * The members of every action as data (PROTOCOL.md "Actions"): one table drives reading from JSON, writing JSON, reading
 * from the Arrow batches of a checkpoint, and the schema that a checkpoint is read with. Adding a member of the protocol
 * is one line in action_shape.c. Read-only, any thread.
 */
#ifndef SL_KERNEL_ACTION_SHAPE_H
#define SL_KERNEL_ACTION_SHAPE_H

#include "kernel/action/action.h"

enum sl_member_type {
    SL_MEMBER_STR,    /* struct sl_str; absent when ptr is NULL */
    SL_MEMBER_I64,    /* int64_t; SL_NO_I64 when absent */
    SL_MEMBER_SIZE,   /* the same, and not negative */
    SL_MEMBER_BOOL,   /* bool */
    SL_MEMBER_FLAG,   /* enum sl_flag */
    SL_MEMBER_MAP,    /* struct sl_kv_list; scalars of any kind are taken as their text */
    SL_MEMBER_ANYMAP, /* the same; nested values are taken as JSON text too */
    SL_MEMBER_LIST,   /* struct sl_str_list */
    SL_MEMBER_JSON,   /* struct sl_str: any value, as JSON text */
    SL_MEMBER_GROUP,  /* a nested object whose members lie in the same struct */
    SL_MEMBER_DV      /* const struct sl_dv_descriptor *; NULL when absent */
};

enum {
    SL_MEMBER_REQUIRED = 1,
    SL_MEMBER_DETAIL = 2,   /* not needed to know which files there are: read only when asked for */
    SL_MEMBER_JSON_ONLY = 4 /* never in a checkpoint */
};

struct sl_shape;

struct sl_member {
    const char *name;
    size_t name_len;
    enum sl_member_type type;
    unsigned flags;
    size_t offset;             /* within the action's struct; of a group: not used */
    size_t has_offset;         /* of the bool that tells presence; SL_NO_OFFSET if there is none */
    const struct sl_shape *of; /* of a group or vector descriptor */
};

#define SL_NO_OFFSET SIZE_MAX

struct sl_shape {
    const char *name; /* of the action in JSON and of its checkpoint column */
    enum sl_action_kind kind;
    const struct sl_member *members;
    size_t n_members;    /* at most 32 */
    size_t extra_offset; /* of the struct sl_extra; SL_NO_OFFSET if there is none */
    size_t size;         /* of the struct that the members lie in */
};

/* NULL for SL_ACTION_UNKNOWN. */
const struct sl_shape *sl_shape_of(enum sl_action_kind kind);
/* By the name in JSON; NULL if silt does not know the action. */
const struct sl_shape *sl_shape_find(struct sl_str name);
/* Where the action's own struct is within the union. */
void *sl_action_body(struct sl_action *action);
const void *sl_action_body_const(const struct sl_action *action);

/* Sets the members of a zeroed struct to "absent". */
void sl_shape_reset(const struct sl_shape *shape, void *body);

static inline void *sl_member_at(void *body, size_t offset)
{
    return (char *)body + offset;
}
static inline const void *sl_member_at_const(const void *body, size_t offset)
{
    return (const char *)body + offset;
}

#endif
