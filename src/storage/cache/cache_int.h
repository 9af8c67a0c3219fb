/*
 * What the files of the range cache share.
 */
#ifndef SL_STORAGE_CACHE_CACHE_INT_H
#define SL_STORAGE_CACHE_CACHE_INT_H

#include "base/buf.h"
#include "storage/cache/cache.h"

#define SL_CACHE_MAP ".map"
#define SL_CACHE_DATA ".data"
#define SL_CACHE_NAME_LEN 32            /* hexadecimal digits of a hash */
#define SL_CACHE_TEMPORARY "temporary-" /* and a UUID: a file of one process */

struct sl_cache {
    const silt_env *env;
    char *dir; /* sl_strdup_len */
    int64_t max_bytes;
};

/* The beginning of a map. */
struct sl_cache_header {
    char magic[8];
    int64_t size_bytes;
    uint32_t uri_len;
    uint32_t tag_len;
    uint64_t hash; /* of the fields above, the URI and the tag, which follow */
};
#define SL_CACHE_MAGIC "siltmap1"
#define SL_CACHE_MAX_URI 65536
#define SL_CACHE_MAX_TAG 256

/* A part that is there; one from 0 to 0 withdraws those before it. */
struct sl_cache_record {
    int64_t begin;
    int64_t end;
    uint64_t data_hash;
    uint64_t hash; /* of the fields above, seeded with the header's */
};

uint64_t sl_cache_header_hash(const struct sl_cache_header *header, const char *uri, const char *tag);
uint64_t sl_cache_record_hash(const struct sl_cache_record *record, uint64_t header_hash);
/* The header and the texts behind it, into *text: URI, NUL, tag, NUL. false: there is none, or it is not sound. */
bool sl_cache_read_header(int fd, struct sl_cache_header *header, struct sl_buf *text);

/* Locks a file of the folder without waiting: LOCK_SH or LOCK_EX. false: another holds it. */
bool sl_cache_lock(int fd, int kind);
/* "DIR/NAME.map" or the like. */
void sl_cache_put_path(struct sl_buf *out, const struct sl_cache *cache, const char *name, const char *ending);

#endif
