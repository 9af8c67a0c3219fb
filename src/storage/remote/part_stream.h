/*
 * Streams of parts (silt_storage_vtable.read_stream), the same for all stores: parts that follow one another as exchanges, whose bodies are
 * handed on as they come, and what has to be true of a body before it counts. A store says how one part is asked for, and what an answer
 * that is none means.
 *
 * One thread a stream.
 */
#ifndef SL_REMOTE_PART_STREAM_H
#define SL_REMOTE_PART_STREAM_H

#include "storage/remote/context.h"
#include "storage/remote/exchange.h"
#include "storage/remote/ranges.h"

struct sl_part {
    silt_read_request *request;
    struct sl_exchange *exchange;
    char range_text[SL_RANGE_TEXT_SIZE]; /* "bytes=0-99" */
    const char *range;                   /* the same; NULL: the whole file from its begin */
    size_t max_answer;                   /* a server may ignore the range of a small file */
    struct sl_range_flow flow;           /* of the attempt at hand, or the last one that had a body */
    uint32_t attempt;                    /* that `flow` is of */
    void *own;                           /* the store's */
    struct sl_part_stream *stream;
};

/* What a store does with parts. Static. */
struct sl_part_class {
    size_t own_size; /* of what `own` points to, which is zeroed before `begin` */
    /* Makes the part's exchange ready to run: class, user, and what stays the same. The body's way is the stream's own. */
    silt_status (*begin)(void *store, struct sl_part *part, silt_error *err);
    /*
     * Says whether a body of 200 or 206 may be the file's: before its first byte, and again at the end, as one may have none. NULL: any.
     */
    silt_status (*check)(const struct sl_part *part, silt_error *err);
    /* The error that a completed exchange is which has no part. Never SILT_OK. */
    silt_status (*fail)(const struct sl_part *part, silt_error *err);
    /*
     * Judges the completed exchange and fills data_len and file_size of the request; SILT_OK: the part is there. NULL: by the range that the answer
     * tells, as sl_range_flow_end.
     */
    silt_status (*finish)(struct sl_part *part, silt_error *err);
    /* Frees what `begin` and the attempts made, but for the exchange. Also after a `begin` that failed. */
    void (*end)(struct sl_part *part);
};

struct sl_part_source {
    const struct sl_part_class *class;
    void *store;
    const struct sl_remote_context *context;
};

/* As the slot. */
silt_status sl_part_stream_run(const struct sl_part_source *source, const silt_call *call,
                               const silt_read_stream *stream, silt_read_request *requests, size_t n, silt_error *err);

/* The bytes that the attempt which just ended brought; those of one before it are forgotten. */
int64_t sl_part_came(struct sl_part *part);

#endif
