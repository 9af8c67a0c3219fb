/* Bytes compressed with LZ4 as writers of Parquet frame them, by a plain search for copies. What cannot be made fails the test. */
#ifndef SILT_LZ4_FIXTURE_H
#define SILT_LZ4_FIXTURE_H

#include "base/buf.h"

/* One bare block. */
void lz4_put_block(struct sl_buf *out, struct sl_str plain);
/* Hadoop's frames: blocks of so many plain bytes, each of chunks of so many. */
void lz4_put_frames(struct sl_buf *out, struct sl_str plain, size_t block, size_t chunk);

#endif
