/*
 * Walks nested Arrow arrays to print one cell; see arrow_cell.h. Recursion is as deep as the type, which cell_type.c limits.
 */
#include "cli/arrow_cell.h"

#include "base/arrow.h"
#include "cli/cell_scalar.h"
#include "json/writer.h"
#include "silt/variant.h"

static void put_string(struct sl_buf *out, struct sl_str text)
{
    struct sl_json_writer writer;
    sl_json_writer_init(&writer, out);
    sl_json_put_str(&writer, text);
}

/* Steps through dictionaries, run ends and unions to the array that holds the value. row: as in the header. */
struct place {
    const struct sl_cell_type *type;
    const struct ArrowArray *array;
    int64_t row;
};

static int64_t offset_at(const struct ArrowArray *array, int buffer, int64_t at, uint8_t width)
{
    return width == 4 ? (int64_t)((const int32_t *)array->buffers[buffer])[at]
                      : ((const int64_t *)array->buffers[buffer])[at];
}

static bool has_validity(const struct sl_cell_type *type)
{
    return type->kind != SL_CELL_NULL && type->kind != SL_CELL_SPARSE_UNION && type->kind != SL_CELL_DENSE_UNION &&
           type->kind != SL_CELL_RUN_END;
}

/* The run of a row: the first whose end lies behind it. */
static int64_t find_run(const struct sl_cell_type *ends_type, const struct ArrowArray *ends, int64_t row)
{
    int64_t low = 0;
    int64_t high = ends->length;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sl_scalar_int(ends_type, ends, middle + ends->offset) <= row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The member of a union that a row has; false if its code is none of the type's. */
static bool find_member(const struct place *place, size_t *member)
{
    const int64_t at = place->row + place->array->offset;
    const int8_t code = ((const int8_t *)place->array->buffers[0])[at];
    for (size_t i = 0; i < place->type->n_children; i++) {
        if (place->type->union_codes[i] == code) {
            *member = i;
            return true;
        }
    }
    return false;
}

/* False: the value is null. */
static bool find_value(struct place *place)
{
    for (;;) {
        const struct sl_cell_type *type = place->type;
        const struct ArrowArray *array = place->array;
        const int64_t at = place->row + array->offset;
        size_t member = 0;

        if (type->kind == SL_CELL_NULL || (has_validity(type) && sl_arrow_is_null(array, place->row))) {
            return false;
        }
        switch (type->kind) {
        case SL_CELL_DICTIONARY:
            *place = (struct place){&type->children[1], array->dictionary,
                                    sl_scalar_int(&type->children[0], array, at)};
            break;
        case SL_CELL_RUN_END:
            *place = (struct place){&type->children[1], array->children[1],
                                    find_run(&type->children[0], array->children[0], at)};
            break;
        case SL_CELL_SPARSE_UNION:
        case SL_CELL_DENSE_UNION:
            if (!find_member(place, &member)) {
                return false;
            }
            *place = (struct place){&type->children[member], array->children[member],
                                    type->kind == SL_CELL_SPARSE_UNION ? at : ((const int32_t *)array->buffers[1])[at]};
            break;
        default: return true;
        }
    }
}

static void put_struct(struct sl_buf *out, const struct place *place)
{
    sl_buf_put_char(out, '{');
    for (size_t i = 0; i < place->type->n_children; i++) {
        sl_buf_put_c(out, i > 0 ? "," : "");
        put_string(out, place->type->children[i].name);
        sl_buf_put_char(out, ':');
        sl_cell_put_json(out, &place->type->children[i], place->array->children[i], place->row + place->array->offset);
    }
    sl_buf_put_char(out, '}');
}

static struct sl_str member_bytes(const struct place *place, size_t member)
{
    const struct ArrowArray *array = place->array->children[member];
    return sl_scalar_bytes(&place->type->children[member], array, place->row + place->array->offset + array->offset);
}

/* The JSON that it is; what is no variant is shown as the bytes that it is made of. */
static void put_variant(struct sl_buf *out, const struct place *place)
{
    const struct sl_str metadata = member_bytes(place, 0);
    const struct sl_str value = member_bytes(place, 1);
    const silt_variant variant = {metadata.ptr, metadata.len, value.ptr, value.len};
    size_t room = 2 * value.len + 32; /* enough for most */
    for (;;) {
        size_t len = 0;
        char *buf = sl_buf_reserve(out, room);
        if (buf == NULL) {
            return;
        }
        if (silt_variant_to_json(&variant, buf, room, &len, NULL) != SILT_OK) {
            put_struct(out, place);
            return;
        }
        if (len < room) {
            out->len += len;
            return;
        }
        room = len + 1;
    }
}

static void put_list(struct sl_buf *out, const struct place *place, int64_t begin, int64_t end)
{
    sl_buf_put_char(out, '[');
    for (int64_t i = begin; i < end; i++) {
        sl_buf_put_c(out, i > begin ? "," : "");
        sl_cell_put_json(out, &place->type->children[0], place->array->children[0], i);
    }
    sl_buf_put_char(out, ']');
}

static void put_map(struct sl_buf *out, const struct place *place, int64_t begin, int64_t end)
{
    const struct sl_cell_type *entry_type = &place->type->children[0];
    const struct ArrowArray *entries = place->array->children[0];
    const struct sl_cell_type *key_type = &entry_type->children[0];
    const bool as_object = key_type->is_text && (key_type->kind == SL_CELL_BYTES || key_type->kind == SL_CELL_VIEW);

    sl_buf_put_char(out, as_object ? '{' : '[');
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = i + entries->offset;
        sl_buf_put_c(out, i > begin ? "," : "");
        sl_buf_put_c(out, as_object ? "" : "{\"key\":");
        sl_cell_put_json(out, key_type, entries->children[0], at);
        sl_buf_put_c(out, as_object ? ":" : ",\"value\":");
        sl_cell_put_json(out, &entry_type->children[1], entries->children[1], at);
        sl_buf_put_c(out, as_object ? "" : "}");
    }
    sl_buf_put_char(out, as_object ? '}' : ']');
}

/* False if the value is no nested one. */
static bool put_nested(struct sl_buf *out, const struct place *place)
{
    const struct sl_cell_type *type = place->type;
    const struct ArrowArray *array = place->array;
    const int64_t at = place->row + array->offset;
    int64_t begin = 0;

    switch (type->kind) {
    case SL_CELL_STRUCT: put_struct(out, place); return true;
    case SL_CELL_VARIANT: put_variant(out, place); return true;
    case SL_CELL_LIST:
        put_list(out, place, offset_at(array, 1, at, type->width), offset_at(array, 1, at + 1, type->width));
        return true;
    case SL_CELL_LIST_VIEW:
        begin = offset_at(array, 1, at, type->width);
        put_list(out, place, begin, begin + offset_at(array, 2, at, type->width));
        return true;
    case SL_CELL_FIXED_LIST: put_list(out, place, at * type->list_size, (at + 1) * type->list_size); return true;
    case SL_CELL_MAP: put_map(out, place, offset_at(array, 1, at, 4), offset_at(array, 1, at + 1, 4)); return true;
    default: return false;
    }
}

void sl_cell_put_json(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array, int64_t row)
{
    struct place place = {type, array, row};
    if (!find_value(&place)) {
        sl_buf_put_c(out, "null");
        return;
    }
    if (put_nested(out, &place)) {
        return;
    }
    const size_t begin = out->len;
    const int64_t at = place.row + place.array->offset;
    switch (sl_scalar_put(out, place.type, place.array, at)) {
    case SL_SCALAR_BARE: break;
    case SL_SCALAR_TEXT: put_string(out, sl_scalar_bytes(place.type, place.array, at)); break;
    case SL_SCALAR_PLAIN:
        sl_buf_put_c(out, "\"\""); /* room for the quotes; then the text moves between them */
        if (out->status == SILT_OK) {
            memmove(out->data + begin + 1, out->data + begin, out->len - begin - 2);
            out->data[begin] = '"';
            out->data[out->len - 1] = '"';
        }
        break;
    }
}

bool sl_cell_put_text(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array, int64_t row)
{
    struct place place = {type, array, row};
    if (!find_value(&place)) {
        return false;
    }
    if (!put_nested(out, &place)) {
        const int64_t at = place.row + place.array->offset;
        if (sl_scalar_put(out, place.type, place.array, at) == SL_SCALAR_TEXT) {
            sl_buf_put_str(out, sl_scalar_bytes(place.type, place.array, at));
        }
    }
    return true;
}
