/*
 * The range cache: parts of remote files that do not change, in sparse local files that the data plane can open.
 *
 * A folder, shared by processes and users of one account. An entry is two files named by the hash of the remote file's URI:
 *
 *   HASH.data   as long as the remote file, with holes where nothing was fetched yet
 *   HASH.map    which remote file it is (URI, tag, size), then a record for each part that is there, with the part's hash; one without a part
 *               withdraws those before it
 *
 * The map is only appended to; a record counts when its own hash is right, wherever it stands (one that was cut does not spoil those behind it), and
 * its part when the bytes still have the hash in it: so neither a crash without a sync nor a meddler makes wrong bytes of it. Whoever uses an entry holds a shared lock (flock) on its map;
 * who wants it gone needs the exclusive one. Not for network file systems without flock.
 *
 * Who does what: cache_ranges.c sets of ranges; cache.c the folder, what goes when it is full; cache_entry.c one entry; cache_fetch.c brings what is
 * missing, cache_pump.c ahead of who reads.
 */
#ifndef SL_STORAGE_CACHE_CACHE_H
#define SL_STORAGE_CACHE_CACHE_H

#include "silt/storage.h"
#include "storage/cache/cache_ranges.h"

struct sl_cache;
struct sl_cache_entry;

/*
 * Opens the folder and makes it if need be (mode 0700). dir NULL or "": $SILT_CACHE_DIR, else $XDG_CACHE_HOME/silt, else
 * $HOME/.cache/silt. max_bytes 0: $SILT_CACHE_SIZE (bytes, or with K, M, G, T), else 10 GiB. SILT_EACCESS for a folder of another user.
 * Any thread may use it.
 */
silt_status sl_cache_open(const silt_env *env, const char *dir, int64_t max_bytes, struct sl_cache **out,
                          silt_error *err);
void sl_cache_close(struct sl_cache *cache); /* after its entries; NULL is legal */

/* Removes entries that nobody uses, longest unused first, until all are no larger than the limit. Best effort. */
void sl_cache_shrink(struct sl_cache *cache);

/* What the folder holds, in no order. Text is borrowed during the callback. false stops. */
struct sl_cache_item {
    const char *uri;
    int64_t size_bytes;   /* of the remote file */
    int64_t cached_bytes; /* on the disk */
    int64_t used_ms;      /* milliseconds since the epoch */
};
silt_status sl_cache_list(struct sl_cache *cache, bool (*on_item)(void *ctx, const struct sl_cache_item *item),
                          void *ctx, silt_error *err);
/* Removes what nobody uses; *removed and *busy count entries. */
silt_status sl_cache_clear(struct sl_cache *cache, int64_t *removed, int64_t *busy, silt_error *err);

/* ---- cache_entry.c: one owner each ---- */

/*
 * The entry of a remote file, held until close. What the folder knows of it is believed only after sl_cache_entry_confirm. A
 * temporary one belongs to nobody else and is gone after close.
 */
silt_status sl_cache_entry_open(struct sl_cache *cache, const char *uri, bool temporary, struct sl_cache_entry **out,
                                silt_error *err);
void sl_cache_entry_close(struct sl_cache_entry *entry); /* NULL is legal */
/*
 * What the store says of the file now. Parts of another version (tag or size differ, or tag "") are dropped; if another process still uses those, the
 * entry becomes a temporary one.
 */
silt_status sl_cache_entry_confirm(struct sl_cache_entry *entry, const char *tag, int64_t size_bytes, silt_error *err);
/* Appends to `out` (a set) what of the range is not there. Parts that are there are checked against their hashes once. */
silt_status sl_cache_entry_missing(struct sl_cache_entry *entry, struct sl_range range, struct sl_vec *out,
                                   silt_error *err);
/*
 * Writes bytes that count as there only when they are recorded. No other part may be touched by them. Beside other calls for the same entry, if those
 * do not confirm or close it.
 */
silt_status sl_cache_entry_write(const struct sl_cache_entry *entry, int64_t begin, const void *bytes, size_t n,
                                 silt_error *err);
/* A part was written whole; hash: sl_hash_bytes of it (not looked at for a temporary entry). */
silt_status sl_cache_entry_record(struct sl_cache_entry *entry, struct sl_range range, uint64_t hash, silt_error *err);
/* Both at once. */
silt_status sl_cache_entry_put(struct sl_cache_entry *entry, int64_t begin, const void *bytes, size_t n,
                               silt_error *err);
/*
 * Forgets all parts, for whoever opens the entry later, too: what the store gave could not be read. Others that have it open go on with what they
 * have. Bytes stay where they are until they come again, for those who read them now.
 */
void sl_cache_entry_withdraw(struct sl_cache_entry *entry);
/*
 * Makes sure that the disk has room for a part that is to be written; what is there already stays. SILT_OK, too, where the file system cannot tell.
 */
silt_status sl_cache_entry_reserve(struct sl_cache_entry *entry, struct sl_range range, silt_error *err);
/* Writes all that is there of one entry into another, which is confirmed for the same version. */
silt_status sl_cache_entry_copy(const struct sl_cache_entry *from, struct sl_cache_entry *to, silt_error *err);
bool sl_cache_entry_is_temporary(const struct sl_cache_entry *entry);
/* Path of the data file; borrowed. */
const char *sl_cache_entry_path(const struct sl_cache_entry *entry);
int64_t sl_cache_entry_size(const struct sl_cache_entry *entry); /* of the remote file, -1 before confirm */

#endif
