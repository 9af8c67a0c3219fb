/*
 * Locations: URIs and paths of tables and files, and the percent-encoding of paths in a log.
 *
 * Inside silt a location is *decoded*: "scheme://authority/path" or "/path" (scheme "file"), bytes as they are. Only `path`
 * fields of log actions are RFC 2396 encoded (PROTOCOL.md "Add File and Remove File"): decode once on reading,
 * encode once on writing.
 */
#ifndef SL_BASE_URI_H
#define SL_BASE_URI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "silt/status.h"

/*
 * Scheme when one is there ("s3" of "s3://b/k", "file" of "file:/x"): two or more characters before ":/". Absent view for a
 * plain path, "a:b" included. The known ones come in lower case, others as they are (sl_uri_normalize lowers them).
 */
struct sl_str sl_uri_scheme(struct sl_str uri);
/* Appends the RFC 2396 path encoding: unreserved characters, '/', and the sub-delimiters that java.net.URI leaves
 * alone are kept; everything else, '%' and non-ASCII included, becomes %XX. A ':' in the first segment is encoded. */
void sl_uri_encode_path(struct sl_buf *out, struct sl_str path);
/*
 * Appends a location as a URI as Spark prints it: "file:/t/a%20b", "s3://bucket/t/a". What java.net.URI leaves as it is in a path, letters
 * of all alphabets among it, is kept.
 */
void sl_uri_print(struct sl_buf *out, struct sl_str location);
/* Decodes %XX once; '+' stays '+'. A broken escape or a NUL byte is SILT_ECORRUPT. */
silt_status sl_uri_decode(struct sl_arena *arena, struct sl_str text, struct sl_str *out, silt_error *err);
/*
 * A log path (encoded) resolved against a table root (decoded). One with a scheme stands as it is (file:/x and file:///x →
 * /x); one with a leading '/' is taken within the table's store, as RFC 2396 resolves it; "." and ".." segments in a
 * relative path are SILT_ECORRUPT, so that a log cannot name files outside its table by climbing.
 */
silt_status sl_uri_resolve(struct sl_arena *arena, struct sl_str root, struct sl_str log_path, struct sl_str *out,
                           silt_error *err);
/* root + '/' + name, without doubling the slash. */
struct sl_str sl_uri_join(struct sl_arena *arena, struct sl_str root, struct sl_str name);
/* Normal form of what a user typed: absolute (against cwd), no trailing slash, no file: prefix for local ones. */
silt_status sl_uri_normalize(struct sl_arena *arena, struct sl_str typed, struct sl_str *out, silt_error *err);
struct sl_str sl_uri_basename(struct sl_str uri);
struct sl_str sl_uri_dirname(struct sl_str uri);

/*
 * Appends the Hive escaping of a partition directory part (name or value): control characters, DEL and the punctuation
 * that Spark escapes in path names (quotes, hash, percent, star, slash, colon, equals, question mark, backslash, opening
 * brace, brackets, caret) become %XX.
 */
void sl_uri_hive_escape(struct sl_buf *out, struct sl_str text);

#endif
