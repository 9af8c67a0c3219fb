/*
 * From a descriptor in the log to where its vector is (PROTOCOL.md "Deletion Vector Descriptor Schema", "Derived Fields"). A relative
 * vector lies below the table's root, whatever its prefix says; only the absolute form names places elsewhere. Pure apart from the
 * arena. Called by the planning of scans and of changes.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/uri.h"
#include "kernel/dv/dv.h"
#include "kernel/dv/z85.h"

enum {
    UUID_BYTES = 16,
    UUID_CHARS = 20, /* as Z85 */
    FIRST_OFFSET = 1 /* behind the version byte */
};

static silt_status check_numbers(const struct sl_dv_descriptor *dv, silt_error *err)
{
    if (dv->size_in_bytes < 0 || dv->size_in_bytes > SL_DV_MAX_SIZE) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "deletion vector has sizeInBytes %" PRId64 ", expected a number from 0 to 2147483647",
                       dv->size_in_bytes);
    }
    if (dv->cardinality < 0) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "deletion vector has cardinality %" PRId64 ", expected 0 or more",
                       dv->cardinality);
    }
    if (dv->offset != SL_NO_I64 && (dv->offset < 0 || dv->offset > INT32_MAX)) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "deletion vector has offset %" PRId64 ", expected a number from 0 to 2147483647", dv->offset);
    }
    return SILT_OK;
}

/* A prefix is a folder, or several, below the root. */
static bool prefix_is_fine(struct sl_str prefix)
{
    size_t begin = 0;
    for (size_t i = 0; i <= prefix.len; i++) {
        if (i < prefix.len && prefix.ptr[i] == '\0') {
            return false;
        }
        if (i < prefix.len && prefix.ptr[i] != '/') {
            continue;
        }
        const struct sl_str segment = sl_str_sub(prefix, begin, i);
        if (segment.len == 0 || sl_str_eq(segment, SL_STR(".")) || sl_str_eq(segment, SL_STR(".."))) {
            return false;
        }
        begin = i + 1;
    }
    return true;
}

static silt_status resolve_uuid(struct sl_arena *arena, struct sl_str root, struct sl_str text, struct sl_str *out,
                                silt_error *err)
{
    uint8_t id[UUID_BYTES];
    if (text.len < UUID_CHARS || !sl_z85_decode(sl_str_sub(text, text.len - UUID_CHARS, text.len), id)) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "deletion vector names '%.*s', expected a text that ends in 20 characters of Z85", SL_FMT(text));
    }
    const struct sl_str prefix = sl_str_sub(text, 0, text.len - UUID_CHARS);
    if (prefix.len > 0 && !prefix_is_fine(prefix)) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "deletion vector names '%.*s', whose prefix is no folder below the table's root", SL_FMT(text));
    }
    const char *name = sl_arena_printf(
        arena, "%.*s%sdeletion_vector_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x.bin",
        SL_FMT(prefix), prefix.len > 0 ? "/" : "", id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9],
        id[10], id[11], id[12], id[13], id[14], id[15]);
    *out = name != NULL ? sl_uri_join(arena, root, sl_str_from(name)) : (struct sl_str){NULL, 0};
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status resolve_path(struct sl_arena *arena, struct sl_str root, struct sl_str text, struct sl_str *out,
                                silt_error *err)
{
    const bool absolute = (text.len > 0 && text.ptr[0] == '/') || sl_uri_scheme(text).ptr != NULL;
    if (!absolute) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "deletion vector of type p names '%.*s', expected an absolute path",
                       SL_FMT(text));
    }
    return sl_uri_resolve(arena, root, text, out, err);
}

silt_status sl_dv_resolve(struct sl_arena *arena, struct sl_str root, const struct sl_dv_descriptor *dv,
                          silt_deletion_vector *out, silt_error *err)
{
    *out = (silt_deletion_vector){0};
    SL_TRY(check_numbers(dv, err));
    const char type = dv->storage_type.len == 1 ? dv->storage_type.ptr[0] : '\0';
    struct sl_str place = {NULL, 0};
    switch (type) {
    case 'u': SL_TRY(resolve_uuid(arena, root, dv->path_or_inline_dv, &place, err)); break;
    case 'p': SL_TRY(resolve_path(arena, root, dv->path_or_inline_dv, &place, err)); break;
    case 'i':
        place = sl_str_from(sl_arena_strdup(arena, dv->path_or_inline_dv));
        if (place.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        if (place.len != dv->path_or_inline_dv.len) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "an inline deletion vector has a NUL byte");
        }
        break;
    default:
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                       "deletion vector has storage type '%.*s', expected u, p or i", SL_FMT(dv->storage_type));
    }
    *out = (silt_deletion_vector){
        .storage_type = type,
        .path = type != 'i' ? place.ptr : NULL,
        .inline_data = type == 'i' ? place.ptr : NULL,
        .offset = dv->offset == SL_NO_I64 || dv->offset < FIRST_OFFSET ? FIRST_OFFSET : dv->offset,
        .size_in_bytes = dv->size_in_bytes,
        .cardinality = dv->cardinality,
    };
    return SILT_OK;
}
