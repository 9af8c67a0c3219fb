/*
 * Reading XML that a server sent, on expat: a pass over the text that tells of each element by its path. Bounded in depth, in names
 * and in text; a document type, and with it every entity but the five of XML itself, is refused. Encoding is UTF-8. Any thread.
 */
#ifndef SL_REMOTE_XML_H
#define SL_REMOTE_XML_H

#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

#define SL_XML_MAX_DEPTH 16
#define SL_XML_MAX_PATH 512   /* bytes of the names of all open elements */
#define SL_XML_MAX_TEXT 65536 /* bytes of one element's own text */

/*
 * Both may be NULL. path: the names of the open elements without their prefixes, "ListBucketResult/Contents/Key"; text: what stands
 * directly in the element. Borrowed. A failure ends the pass with it.
 */
struct sl_xml_handler {
    silt_status (*on_start)(void *ctx, struct sl_str path, silt_error *err);
    silt_status (*on_end)(void *ctx, struct sl_str path, struct sl_str text, silt_error *err);
    void *ctx;
};

/*
 * SILT_EIO for text that is not well formed (the error names the line), has a document type or is beyond the limits: what a server sends is its
 * fault and no user's, whose data may be in good order.
 */
silt_status sl_xml_read(const silt_env *env, struct sl_str text, const struct sl_xml_handler *handler, silt_error *err);

#endif
