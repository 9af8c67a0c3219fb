/*
 * XML by expat, with limits. Expat calls back; the first fault stops it and is what the pass ends with.
 *
 * The text of the open elements stands in one buffer, that of an inner element behind that of the outer: each element remembers where its own
 * text begins, and what an inner one leaves is cut off at its end.
 */
#include "storage/remote/xml.h"

#include <expat.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"

struct level {
    size_t path_len; /* of the path before this element */
    size_t text_at;  /* where its text begins */
};

struct pass {
    XML_Parser parser;
    const struct sl_xml_handler *handler;
    struct sl_buf path;
    struct sl_buf text;
    struct level levels[SL_XML_MAX_DEPTH];
    size_t depth;
    silt_status status;
    silt_error *err;
};

static void stop(struct pass *pass, silt_status status)
{
    pass->status = status;
    (void)XML_StopParser(pass->parser, XML_FALSE); /* fails only if it was stopped before */
}

static struct sl_str without_prefix(const char *name)
{
    const char *colon = strrchr(name, ':');
    return sl_str_from(colon != NULL && colon[1] != '\0' ? colon + 1 : name); /* "a:" has no prefix, and a name */
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    (void)attributes;
    struct pass *pass = user;
    if (pass->status != SILT_OK) {
        return;
    }
    const struct sl_str local = without_prefix(name);
    const size_t before = pass->path.len > 0 ? pass->path.len + 1 : 0; /* with its slash */
    if (pass->depth == SL_XML_MAX_DEPTH || local.len > SL_XML_MAX_PATH - 1 ||
        before > SL_XML_MAX_PATH - 1 - local.len) {
        stop(pass,
             sl_fail(pass->err, SILT_EIO, NULL, "the server's XML is nested too deeply, or its names are too long"));
        return;
    }
    pass->levels[pass->depth++] = (struct level){pass->path.len, pass->text.len};
    if (pass->path.len > 0) {
        sl_buf_put_char(&pass->path, '/');
    }
    sl_buf_put_str(&pass->path, local);
    silt_status status = sl_buf_status(&pass->path, pass->err);
    if (status == SILT_OK && pass->handler->on_start != NULL) {
        status = pass->handler->on_start(pass->handler->ctx, sl_buf_view(&pass->path), pass->err);
    }
    if (status != SILT_OK) {
        stop(pass, status);
    }
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    (void)name;
    struct pass *pass = user;
    if (pass->status != SILT_OK || pass->depth == 0) {
        return;
    }
    const struct level level = pass->levels[--pass->depth];
    silt_status status = sl_buf_status(&pass->text, pass->err);
    if (status == SILT_OK && pass->handler->on_end != NULL) {
        status = pass->handler->on_end(pass->handler->ctx, sl_buf_view(&pass->path),
                                       sl_str_sub(sl_buf_view(&pass->text), level.text_at, pass->text.len), pass->err);
    }
    pass->path.len = level.path_len;
    pass->text.len = level.text_at;
    if (status != SILT_OK) {
        stop(pass, status);
    }
}

static void XMLCALL on_text(void *user, const XML_Char *text, int len)
{
    struct pass *pass = user;
    if (pass->status != SILT_OK || pass->depth == 0 || len <= 0) {
        return;
    }
    if ((size_t)len > SL_XML_MAX_TEXT - (pass->text.len - pass->levels[pass->depth - 1].text_at)) {
        stop(pass, sl_fail(pass->err, SILT_EIO, NULL, "an element of the server's XML has more than %d bytes of text",
                           SL_XML_MAX_TEXT));
        return;
    }
    sl_buf_put(&pass->text, text, (size_t)len);
}

static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system_id, const XML_Char *public_id,
                               int has_internal)
{
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal;
    struct pass *pass = user;
    if (pass->status == SILT_OK) {
        stop(pass, sl_fail(pass->err, SILT_EIO, NULL, "the server's XML has a document type, which is refused"));
    }
}

static silt_status run(struct pass *pass, struct sl_str text)
{
    XML_SetUserData(pass->parser, pass);
    XML_SetElementHandler(pass->parser, on_start, on_end);
    XML_SetCharacterDataHandler(pass->parser, on_text);
    XML_SetStartDoctypeDeclHandler(pass->parser, on_doctype);
    if (text.len > INT_MAX) {
        return sl_fail(pass->err, SILT_EIO, NULL, "the server's XML of %zu bytes is too long", text.len);
    }
    const enum XML_Status parsed = XML_Parse(pass->parser, text.len > 0 ? text.ptr : "", (int)text.len, XML_TRUE);
    if (pass->status != SILT_OK) {
        return pass->status;
    }
    if (parsed != XML_STATUS_OK) {
        const enum XML_Error code = XML_GetErrorCode(pass->parser);
        if (code == XML_ERROR_NO_MEMORY) {
            return sl_fail_nomem(pass->err);
        }
        return sl_fail(pass->err, SILT_EIO, NULL, "the server's XML is not well formed: %s, line %lu",
                       XML_ErrorString(code), (unsigned long)XML_GetCurrentLineNumber(pass->parser));
    }
    return SILT_OK;
}

silt_status sl_xml_read(const silt_env *env, struct sl_str text, const struct sl_xml_handler *handler, silt_error *err)
{
    struct pass pass = {.handler = handler, .err = err};
    sl_buf_init(&pass.path, env);
    sl_buf_init(&pass.text, env);
    pass.parser = XML_ParserCreate("UTF-8");
    const silt_status status = pass.parser != NULL ? run(&pass, text) : sl_fail_nomem(err);
    if (pass.parser != NULL) {
        XML_ParserFree(pass.parser);
    }
    sl_buf_release(&pass.path);
    sl_buf_release(&pass.text);
    return status;
}
