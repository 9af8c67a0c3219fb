/*
 * Objects that functions in a query are bound to, see duck_bound.h.
 */
#include "duck_bound.h"

#include "base/alloc.h"
#include "duck_function.h"

void sl_duck_objects_init(struct sl_duck_objects *objects)
{
    pthread_mutex_init(&objects->lock, NULL);
    objects->first = NULL;
}

void sl_duck_objects_release(struct sl_duck_objects *objects)
{
    pthread_mutex_destroy(&objects->lock);
}

/* ---- the owner's side ---- */

void sl_duck_object_init(struct sl_duck_object *object, struct sl_dataplane *dp,
                         const struct sl_duck_object_class *class)
{
    object->class = class;
    object->dp = dp;
    object->next = NULL;
    object->id = 0;
    atomic_init(&object->refs, 1);
}

void sl_duck_object_list(struct sl_duck_object *object)
{
    struct sl_duck_objects *objects = &object->dp->objects;
    object->id = sl_duck_next_id(object->dp);
    pthread_mutex_lock(&objects->lock);
    object->next = objects->first;
    objects->first = object;
    pthread_mutex_unlock(&objects->lock);
}

static void unref(struct sl_duck_object *object)
{
    if (atomic_fetch_sub(&object->refs, 1) == 1) {
        object->class->free(object);
    }
}

void sl_duck_object_drop(struct sl_duck_object *object)
{
    if (object == NULL) {
        return;
    }
    struct sl_duck_objects *objects = &object->dp->objects;
    pthread_mutex_lock(&objects->lock);
    struct sl_duck_object **link = &objects->first;
    while (*link != NULL && *link != object) {
        link = &(*link)->next;
    }
    if (*link == object) {
        *link = object->next;
    }
    pthread_mutex_unlock(&objects->lock);
    unref(object);
}

/* ---- the functions' side ---- */

static void free_bound(void *data)
{
    struct sl_duck_bound *bound = data;
    const silt_env *env = bound->object->dp->env;
    unref(bound->object);
    sl_release(env, bound, sizeof(*bound));
}

/* NULL when out of memory. Takes a reference of its own. */
static void *copy_bound(void *data)
{
    const struct sl_duck_bound *bound = data;
    if (bound == NULL) {
        return NULL; /* the copy of a copy that there was no memory for */
    }
    struct sl_duck_bound *copy = sl_alloc(bound->object->dp->env, sizeof(*copy));
    if (copy != NULL) {
        *copy = *bound;
        atomic_fetch_add(&copy->object->refs, 1);
    }
    return copy;
}

/* A new reference. */
static struct sl_duck_object *find(struct sl_dataplane *dp, const struct sl_duck_object_class *class, uint64_t id)
{
    pthread_mutex_lock(&dp->objects.lock);
    struct sl_duck_object *object = dp->objects.first;
    while (object != NULL && (object->id != id || object->class != class)) {
        object = object->next;
    }
    if (object != NULL) {
        atomic_fetch_add(&object->refs, 1);
    }
    pthread_mutex_unlock(&dp->objects.lock);
    return object;
}

struct sl_duck_object *sl_duck_bind_object(duckdb_bind_info info, const struct sl_duck_object_class *class, uint64_t id,
                                           uint64_t place)
{
    struct sl_dataplane *dp = duckdb_scalar_function_bind_get_extra_info(info);
    struct sl_duck_object *object = find(dp, class, id);
    if (object == NULL || place >= class->places(object)) {
        if (object != NULL) {
            unref(object);
        }
        duckdb_scalar_function_bind_set_error(info, "the scan that this query reads was closed");
        return NULL;
    }
    struct sl_duck_bound *bound = sl_alloc(dp->env, sizeof(*bound));
    if (bound == NULL) {
        unref(object);
        duckdb_scalar_function_bind_set_error(info, "out of memory");
        return NULL;
    }
    *bound = (struct sl_duck_bound){.object = object, .place = (size_t)place};
    duckdb_scalar_function_set_bind_data(info, bound, free_bound);
    duckdb_scalar_function_set_bind_data_copy(info, copy_bound);
    return object;
}

/* The text of a constant argument, "id:place". */
static bool read_handle(duckdb_bind_info info, size_t index, uint64_t *id, uint64_t *place)
{
    duckdb_value value = NULL;
    bool fine = sl_duck_fold_argument(info, index, &value);
    if (fine) {
        char *text = duckdb_get_varchar(value);
        const struct sl_str handle = sl_str_from(text);
        const size_t colon = sl_str_find(handle, SL_STR(":"));
        fine = colon != SIZE_MAX && sl_str_to_u64(sl_str_sub(handle, 0, colon), id) &&
               sl_str_to_u64(sl_str_sub(handle, colon + 1, handle.len), place);
        duckdb_free(text);
    }
    duckdb_destroy_value(&value);
    return fine;
}

struct sl_duck_object *sl_duck_bind_argument(duckdb_bind_info info, const struct sl_duck_object_class *class,
                                             size_t index)
{
    uint64_t id = 0;
    uint64_t place = 0;
    if (!read_handle(info, index, &id, &place)) {
        duckdb_scalar_function_bind_set_error(info, "the scan that this query reads was closed");
        return NULL;
    }
    return sl_duck_bind_object(info, class, id, place);
}

void sl_duck_objects_visit(struct sl_dataplane *dp, const struct sl_duck_object_class *class,
                           void (*visit)(struct sl_duck_object *object, void *ctx), void *ctx)
{
    pthread_mutex_lock(&dp->objects.lock);
    for (struct sl_duck_object *object = dp->objects.first; object != NULL; object = object->next) {
        if (object->class == class) {
            visit(object, ctx);
        }
    }
    pthread_mutex_unlock(&dp->objects.lock);
}

const struct sl_duck_bound *sl_duck_bound_of(duckdb_function_info info)
{
    const struct sl_duck_bound *bound = duckdb_scalar_function_get_bind_data(info);
    if (bound == NULL) {
        duckdb_scalar_function_set_error(info, "out of memory");
    }
    return bound;
}
