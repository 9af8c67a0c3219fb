/*
 * The texts of locations and URLs: a table's location in its parts, percent-encoding, where a URL leads. Pure; any thread.
 */
#ifndef SL_REMOTE_URL_H
#define SL_REMOTE_URL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* "scheme://authority/path"; the path without its first slash, possibly empty. Borrowed. */
struct sl_location {
    struct sl_str scheme;
    struct sl_str authority;
    struct sl_str path;
};

/* False when it has no "://" or a NUL inside. The authority may be empty. */
bool sl_location_split(struct sl_str location, struct sl_location *out);

/* Appends text with every byte but the unreserved ones of RFC 3986 and those of `keep` as %XX. */
void sl_url_encode(struct sl_buf *out, struct sl_str text, const char *keep);

/* "http://host:port" or "https://host" of an absolute URL, without user, path and query; absent view for any other text. Borrowed. */
struct sl_str sl_url_origin(struct sl_str url);
/* Whether bytes sent there are safe from others: TLS, or a loop-back address. */
bool sl_url_is_private(struct sl_str url);
/* Whether a URL can be handed to an HTTP client: an origin, and printable ASCII without spaces. */
bool sl_url_is_usable(struct sl_str url);

/*
 * What may be shown of a value that is no secret itself, but may hold one: `head`, "…" where something is left out, `tail`, "?…" where something is
 * cut. Of a URL the user goes, and all from '?' or '#' on. Of what only looks like one, or is none, all before the last '@' goes, wherever that is:
 * who mistypes a URL has its password in any place. Borrowed.
 */
struct sl_url_shown {
    struct sl_str head; /* "http://" */
    const char *hidden; /* "…@", "…", or "" */
    struct sl_str tail;
    const char *cut; /* "?…" or "" */
};

struct sl_url_shown sl_url_show(struct sl_str value);

/*
 * Appends what a server said, as one line of printable ASCII, at most `max` bytes: for messages. Bytes of other kinds become '?'.
 */
void sl_url_put_foreign(struct sl_buf *out, struct sl_str text, size_t max);

#endif
