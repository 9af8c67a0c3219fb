/*
 * Reading of ranges by HTTP: what a read request is as a Range header, and what an answer to it holds. Every answer is compared with
 * what was asked for. Pure; any thread.
 */
#ifndef SL_REMOTE_RANGES_H
#define SL_REMOTE_RANGES_H

#include "silt/env.h"
#include "silt/storage.h"
#include "storage/remote/http.h"

#define SL_RANGE_TEXT_SIZE 64

/* Writes "bytes=0-99" and returns true; false when the whole file is wanted, without such a header. Of nothing, one byte is asked for. */
bool sl_range_put(const silt_read_request *read, char out[SL_RANGE_TEXT_SIZE]);
/* The longest answer that such a read is worth. */
size_t sl_range_max_answer(const silt_read_request *read);

/*
 * Fills data, data_len, file_size and tag of the read from an answer with the code 200, 206 or 416, of which it takes the body. SILT_EIO for a part that is not
 * the range, or that does not tell the file's size; what there is may be shorter than what was wanted only at the file's end.
 */
silt_status sl_range_take(const silt_env *env, struct sl_http_request *answer, silt_read_request *read,
                          silt_error *err);

/*
 * An answer 416: nothing, where the range begins at the file's end or behind it. SILT_EIO where no range was asked for, where the file is
 * told to be longer, and of a range that every file but an empty one has, unless the file is told to be empty. Fills file_size, -1 if it is not
 * told.
 */
silt_status sl_range_take_none(const struct sl_http_request *answer, silt_read_request *read, silt_error *err);

/* Makes n bytes of the body from `begin` on, which must be there, the data of the read, in a block of just that size. Takes the body. */
silt_status sl_range_keep(const silt_env *env, struct sl_buf *body, size_t begin, size_t n, silt_read_request *read,
                          silt_error *err);

/*
 * An empty part, which some servers give where the range begins at the file's end or behind it, with a last byte before the first: it is
 * believed only if the size that they tell says so, which *file_size then is.
 */
bool sl_range_is_behind(const struct sl_http_request *answer, int64_t offset, int64_t *file_size);

/*
 * A range (offset not negative, length above 0) whose body is handed on while it comes. What the headers say is compared with what was asked
 * for before the first byte is, so that a body of another range, or a longer one, never gets further.
 */
struct sl_range_flow {
    silt_read_request *read;
    bool
        bare; /* the store's protocol has no headers for it: the body of 200 is the range, or less of it at the file's end */
    bool opened;
    int64_t skip; /* bytes of the body before the range */
    int64_t seen; /* bytes of the body */
    int64_t want; /* bytes of the range that the body holds, or may hold: the body of 200 ends where the file does */
    int64_t taken;
};

void sl_range_flow_begin(struct sl_range_flow *flow, silt_read_request *read); /* of each attempt */
/*
 * Takes the next bytes of the body of 200 or 206. *bytes and *n become those that are wanted of them (0: none), and *at their place behind the read's
 * offset. Fills the read's tag and file_size as far as they are told. SILT_EIO for what is not the range.
 */
silt_status sl_range_flow_take(struct sl_range_flow *flow, const struct sl_http_request *answer, const char **bytes,
                               size_t *n, int64_t *at, silt_error *err);
/* The body is whole: fills data_len and file_size. SILT_EIO when the range is not. Of one that is bare, only the store can tell. */
silt_status sl_range_flow_end(struct sl_range_flow *flow, const struct sl_http_request *answer, silt_error *err);

/* Fills the read's tag from the answer: the generation or the strong ETag that the server gives; "" for any other. */
void sl_range_take_tag(const struct sl_http_request *answer, silt_read_request *read);

#endif
