/*
 * Objects that functions in a query are bound to: values of files, rows that are left, files that are brought. The text of a query can hold
 * no pointer; it names an object by an id, under which the object is listed for as long as its owner wants it found. What is bound keeps
 * it alive beyond that.
 *
 *   function(…, 'id:place')     place: a number that the object gives a meaning to
 *
 * Any thread. The lock of the list is taken last: under it nothing else is locked, and no DuckDB is called.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_BOUND_H
#define SL_ENGINE_DUCKDB_DUCK_BOUND_H

#include "duck.h"

struct sl_duck_object;

struct sl_duck_object_class {
    /* Frees the object, whose last reference is gone. */
    void (*free)(struct sl_duck_object *object);
    /* How many places it has; a function may be bound to any before that. */
    size_t (*places)(const struct sl_duck_object *object);
};

/* The first member of what is bound. */
struct sl_duck_object {
    const struct sl_duck_object_class *class;
    struct sl_dataplane *dp;
    struct sl_duck_object *next; /* guarded by the list's lock */
    uint64_t id;
    atomic_uint refs;
};

/* Bind data of a function. NULL where there was no memory for a copy. */
struct sl_duck_bound {
    struct sl_duck_object *object; /* a reference */
    size_t place;
};

void sl_duck_objects_init(struct sl_duck_objects *objects);
void sl_duck_objects_release(struct sl_duck_objects *objects);

/* With one reference, the owner's; not yet to be found. */
void sl_duck_object_init(struct sl_duck_object *object, struct sl_dataplane *dp,
                         const struct sl_duck_object_class *class);
/* Gives it its id. From now on functions find it. */
void sl_duck_object_list(struct sl_duck_object *object);
/* The owner's reference goes, and nobody finds it any more. NULL is legal, as is one that was never listed. */
void sl_duck_object_drop(struct sl_duck_object *object);

/* Binds a function to the object of that id and class, or sets an error. The object is borrowed until the end of the binding; NULL after an error. */
struct sl_duck_object *sl_duck_bind_object(duckdb_bind_info info, const struct sl_duck_object_class *class, uint64_t id,
                                           uint64_t place);
/* The same, of what the argument `index` says. */
struct sl_duck_object *sl_duck_bind_argument(duckdb_bind_info info, const struct sl_duck_object_class *class,
                                             size_t index);
/* Calls visit for each listed object of the class, under the list's lock. */
void sl_duck_objects_visit(struct sl_dataplane *dp, const struct sl_duck_object_class *class,
                           void (*visit)(struct sl_duck_object *object, void *ctx), void *ctx);
/* The bind data of a running function; NULL after it set an error for want of memory. */
const struct sl_duck_bound *sl_duck_bound_of(duckdb_function_info info);

#endif
