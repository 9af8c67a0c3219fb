/*
 * Reading of Thrift's compact protocol, in which Parquet footers are written. A bounds-checked cursor over foreign bytes: after a fault
 * everything reads as empty, so that `bad` is looked at once at the end. Values are not copied. One owner.
 *
 *     struct sl_thrift_field field = {0};
 *     while (sl_thrift_next(&in, &field)) {
 *         if (field.id == 4 && field.type == SL_THRIFT_BINARY) {
 *             name = sl_thrift_bytes(&in);
 *         } else {
 *             sl_thrift_skip(&in, field.type);
 *         }
 *     }
 */
#ifndef SL_BASE_THRIFT_H
#define SL_BASE_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum sl_thrift_type {
    SL_THRIFT_STOP = 0,
    SL_THRIFT_TRUE = 1,
    SL_THRIFT_FALSE = 2,
    SL_THRIFT_BYTE = 3,
    SL_THRIFT_I16 = 4,
    SL_THRIFT_I32 = 5,
    SL_THRIFT_I64 = 6,
    SL_THRIFT_DOUBLE = 7,
    SL_THRIFT_BINARY = 8,
    SL_THRIFT_LIST = 9,
    SL_THRIFT_SET = 10,
    SL_THRIFT_MAP = 11,
    SL_THRIFT_STRUCT = 12
};

struct sl_thrift {
    const unsigned char *at;
    const unsigned char *end;
    bool bad;
};

/* The field of a struct that is read now; zeroed before the first. */
struct sl_thrift_field {
    int32_t id;
    uint8_t type;
};

void sl_thrift_init(struct sl_thrift *in, const void *bytes, size_t n);
/* False at the end of the struct and after a fault. The field's value must be read or skipped. */
bool sl_thrift_next(struct sl_thrift *in, struct sl_thrift_field *field);
int64_t sl_thrift_int(struct sl_thrift *in);         /* of type I16, I32, I64 */
struct sl_str sl_thrift_bytes(struct sl_thrift *in); /* of type BINARY */
/* Of type LIST or SET: number of elements, which is not more than the bytes that are left. */
size_t sl_thrift_list(struct sl_thrift *in, uint8_t *element_type);
/* Steps over a value; structs may nest some dozen deep. */
void sl_thrift_skip(struct sl_thrift *in, uint8_t type);

#endif
