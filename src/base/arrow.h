/*
 * Helpers for the Arrow C structs: building and walking arrays and streams without an Arrow library. Ownership as the
 * Arrow specification says; builders allocate with the environment given to them.
 */
#ifndef SL_BASE_ARROW_H
#define SL_BASE_ARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "silt/arrow.h"
#include "silt/env.h"
#include "silt/status.h"

void sl_arrow_schema_release(struct ArrowSchema *schema); /* NULL and released ones are legal */
void sl_arrow_array_release(struct ArrowArray *array);
void sl_arrow_stream_release(struct ArrowArrayStream *stream);
void sl_arrow_schema_move(struct ArrowSchema *dst, struct ArrowSchema *src);
void sl_arrow_array_move(struct ArrowArray *dst, struct ArrowArray *src);
void sl_arrow_stream_move(struct ArrowArrayStream *dst, struct ArrowArrayStream *src);

/* Pulls the next batch; *done at the end. Turns the stream's errno and text (and "[CODE] text" in it) into err. */
silt_status sl_arrow_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out, bool *done, silt_error *err);
silt_status sl_arrow_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out, silt_error *err);
/* Deep copy. */
silt_status sl_arrow_schema_copy(const silt_env *env, const struct ArrowSchema *src, struct ArrowSchema *out,
                                 silt_error *err);

/* A stream that yields given batches: takes schema and arrays (moved). */
silt_status sl_arrow_stream_from_batches(const silt_env *env, struct ArrowSchema *schema, struct ArrowArray *batches,
                                         size_t n, struct ArrowArrayStream *out, silt_error *err);

/*
 * A stream from callbacks: the one way in which silt makes streams. next fills *batch, or leaves release NULL at the end.
 * An error that it reports is kept for get_last_error as "[CODE] message".
 */
struct sl_arrow_source {
    silt_status (*schema)(void *ctx, struct ArrowSchema *out, silt_error *err);
    silt_status (*next)(void *ctx, struct ArrowArray *batch, silt_error *err);
    void (*close)(void *ctx);
};
silt_status sl_arrow_stream_new(const silt_env *env, const struct sl_arrow_source *source, void *ctx,
                                struct ArrowArrayStream *out, silt_error *err); /* ctx is closed with the stream, or
                                                                                   here on failure */
/* The full error of a stream that was made by sl_arrow_stream_new in this library, NULL for others or without an error. */
const silt_error *sl_arrow_stream_error(const struct ArrowArrayStream *stream);

/* A row of one of several arrays. */
struct sl_arrow_pick {
    uint32_t source;
    uint32_t row; /* before the array's offset is added */
};
/*
 * Copies rows out of arrays of one schema into a new array, in the order of the picks; flat types, text, structs, lists and maps. The
 * sources must be well-formed, if something is picked of them; SILT_EINVALID for a format that it does not know, SILT_ELIMIT beyond 2 GiB of text.
 */
silt_status sl_arrow_take(const silt_env *env, const struct ArrowSchema *schema, struct ArrowArray *const *sources,
                          const struct sl_arrow_pick *picks, size_t n, struct ArrowArray *out, silt_error *err);
/* Bytes of memory of an array that sl_arrow_take made. */
size_t sl_arrow_taken_bytes(const struct ArrowArray *array);
/* An array of n nulls. */
silt_status sl_arrow_nulls(const silt_env *env, const struct ArrowSchema *schema, size_t n, struct ArrowArray *out,
                           silt_error *err);

/* Reading: true if row i (before the array's offset is added) is null. */
bool sl_arrow_is_null(const struct ArrowArray *array, int64_t row);

/*
 * Building a column by rows. kinds: the Arrow format string of a flat type ("b","c","s","i","l","f","g","u","z","tdD",
 * "tsu:UTC","tsu:","d:p,s","n"), "+s", "+l", "+m".
 */
struct sl_arrow_builder;
silt_status sl_arrow_builder_new(const silt_env *env, const struct ArrowSchema *schema, struct sl_arrow_builder **out,
                                 silt_error *err); /* schema is copied */
void sl_arrow_builder_free(struct sl_arrow_builder *builder);
struct sl_arrow_builder *sl_arrow_builder_child(struct sl_arrow_builder *builder, size_t index);
silt_status sl_arrow_append_null(struct sl_arrow_builder *builder, silt_error *err); /* with null children */
silt_status sl_arrow_append_i64(struct sl_arrow_builder *builder, int64_t value, silt_error *err); /* any integer, bool,
                                                                                      date, timestamp format */
silt_status sl_arrow_append_f64(struct sl_arrow_builder *builder, double value, silt_error *err);
silt_status sl_arrow_append_bytes(struct sl_arrow_builder *builder, struct sl_str value, silt_error *err);
silt_status sl_arrow_append_decimal(struct sl_arrow_builder *builder, int64_t hi, uint64_t lo, silt_error *err);
/* Ends a row of a struct, or a list or map whose new children were appended since its last row. */
silt_status sl_arrow_append_nested(struct sl_arrow_builder *builder, silt_error *err);
/*
 * Several rows at once, of columns that are built one after the other: each field of a struct has its own rows, also where the struct is
 * null, and all are compared when the builder is finished.
 */
silt_status sl_arrow_append_structs(struct sl_arrow_builder *builder, int64_t n, bool is_valid, silt_error *err);
silt_status sl_arrow_append_nulls(struct sl_arrow_builder *builder, int64_t n,
                                  silt_error *err); /* with null children */
/* For an integer format of 64 bits; values need not be aligned. */
silt_status sl_arrow_append_longs(struct sl_arrow_builder *builder, const void *values, int64_t n, silt_error *err);
int64_t sl_arrow_builder_length(const struct sl_arrow_builder *builder);
/* Moves what was built out; the builder is empty afterwards. */
silt_status sl_arrow_builder_finish(struct sl_arrow_builder *builder, struct ArrowArray *out, silt_error *err);

#endif
