/*
 * The expression handler of the mini engine: reads the text of a predicate (comparisons of columns with numbers and text, IS
 * NULL, AND, OR) and keeps the rows for which it is true.
 */
#include "mini_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum truth {
    NO,
    YES,
    UNKNOWN
};

/* One evaluation: the text that is left, and the row. */
struct parse {
    const char *at;
    const struct ArrowSchema *schema;
    const struct ArrowArray *batch;
    int64_t row;
    bool broken; /* text that it does not know */
    char text[256];
};

static void skip_spaces(struct parse *p)
{
    while (*p->at == ' ') {
        p->at++;
    }
}

static bool take(struct parse *p, const char *token)
{
    skip_spaces(p);
    size_t len = strlen(token);
    if (strncmp(p->at, token, len) != 0) {
        return false;
    }
    p->at += len;
    return true;
}

/* Text in quotes of one kind, doubled quotes apart. */
static size_t quoted(struct parse *p, char quote)
{
    size_t len = 0;
    p->at++;
    while (*p->at != '\0' && *p->at != quote && len < sizeof(p->text) - 1) {
        p->text[len++] = *p->at++;
    }
    p->broken = p->broken || *p->at != quote;
    p->at += *p->at == quote ? 1 : 0;
    p->text[len] = '\0';
    return len;
}

static silt_value column_value(struct parse *p, const char *name)
{
    silt_value value = mini_null();
    for (int64_t i = 0; i < p->schema->n_children; i++) {
        if (strcmp(p->schema->children[i]->name, name) == 0) {
            p->broken = p->broken || !mini_cell(p->schema->children[i], p->batch->children[i], p->row, &value);
            return value;
        }
    }
    p->broken = true;
    return value;
}

static silt_value operand(struct parse *p, char *text, size_t text_size)
{
    skip_spaces(p);
    if (*p->at == '\'') {
        size_t len = quoted(p, '\'');
        (void)snprintf(text, text_size, "%s", p->text);
        silt_value value = mini_text(text);
        value.as.bytes.len = len;
        return value;
    }
    if (*p->at == '`') {
        (void)quoted(p, '`');
        return column_value(p, p->text);
    }
    if ((*p->at >= '0' && *p->at <= '9') || *p->at == '-') {
        char *end = NULL;
        double number = strtod(p->at, &end);
        p->at = end;
        while (*p->at == 'L' || *p->at == 'S' || *p->at == 'Y' || *p->at == 'D' || *p->at == 'B') {
            p->at++;
        }
        return mini_double(number);
    }
    size_t len = strcspn(p->at, " <>=()");
    (void)snprintf(p->text, sizeof(p->text), "%.*s", (int)len, p->at);
    p->at += len;
    return column_value(p, p->text);
}

static enum truth either(struct parse *p);

static enum truth comparison(struct parse *p)
{
    static const char *const operators[] = {"<>", "<=", ">=", "<", ">", "="};
    char left_text[256];
    char right_text[256];
    if (take(p, "(")) {
        enum truth inner = either(p);
        p->broken = p->broken || !take(p, ")");
        return inner;
    }
    silt_value left = operand(p, left_text, sizeof(left_text));
    if (take(p, "IS NOT NULL")) {
        return left.is_null ? NO : YES;
    }
    if (take(p, "IS NULL")) {
        return left.is_null ? YES : NO;
    }
    size_t op = 0;
    while (op < 6 && !take(p, operators[op])) {
        op++;
    }
    silt_value right = op < 6 ? operand(p, right_text, sizeof(right_text)) : mini_null();
    p->broken = p->broken || op == 6;
    if (left.is_null || right.is_null || p->broken) {
        return UNKNOWN;
    }
    int order = mini_compare(&left, &right);
    const bool results[] = {order != 0, order <= 0, order >= 0, order<0, order> 0, order == 0};
    return results[op] ? YES : NO;
}

static enum truth both(struct parse *p)
{
    enum truth result = comparison(p);
    while (take(p, "AND ")) {
        enum truth next = comparison(p);
        result = result == NO || next == NO ? NO : result == UNKNOWN || next == UNKNOWN ? UNKNOWN : YES;
    }
    return result;
}

static enum truth either(struct parse *p)
{
    enum truth result = both(p);
    while (take(p, "OR ")) {
        enum truth next = both(p);
        result = result == YES || next == YES ? YES : result == UNKNOWN || next == UNKNOWN ? UNKNOWN : NO;
    }
    return result;
}

/* ---- the stream ---- */

struct filter {
    struct ArrowArrayStream in;
    struct ArrowSchema schema;
    const silt_expr *predicate;
    char message[512];
};

static int filter_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct filter *filter = stream->private_data;
    return filter->in.get_schema(&filter->in, out);
}

/* The rows of a batch that are kept, as a new batch. */
static bool keep_rows(struct filter *filter, const struct ArrowArray *batch, const int64_t *rows, size_t n,
                      struct ArrowArray *out)
{
    silt_value *values = calloc(n + 1, sizeof(*values));
    bool good = true;
    mini_struct(out, (size_t)batch->n_children, (int64_t)n);
    for (int64_t i = 0; i < batch->n_children && good; i++) {
        const struct ArrowSchema *column = filter->schema.children[i];
        for (size_t row = 0; row < n && good; row++) {
            good = mini_cell(column, batch->children[i], rows[row], &values[row]);
        }
        good = good && mini_array(out->children[i], column->format, values, n);
    }
    free(values);
    if (!good) {
        out->release(out);
    }
    return good;
}

static int filter_batch(struct filter *filter, const struct ArrowArray *batch, struct ArrowArray *out)
{
    int64_t *rows = calloc((size_t)batch->length + 1, sizeof(*rows));
    size_t n = 0;
    bool broken = false;
    for (int64_t row = 0; row < batch->length && !broken; row++) {
        struct parse p = {silt_expr_text(filter->predicate), &filter->schema, batch, row + batch->offset, false, {0}};
        enum truth truth = either(&p);
        skip_spaces(&p);
        broken = p.broken || *p.at != '\0';
        if (truth == YES) {
            rows[n++] = row + batch->offset;
        }
    }
    if (broken || !keep_rows(filter, batch, rows, n, out)) {
        (void)snprintf(filter->message, sizeof(filter->message), "the mini engine cannot evaluate %s",
                       silt_expr_text(filter->predicate));
        broken = true;
    }
    free(rows);
    return broken ? EINVAL : 0;
}

static int filter_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct filter *filter = stream->private_data;
    memset(out, 0, sizeof(*out));
    struct ArrowArray batch;
    int result = filter->in.get_next(&filter->in, &batch);
    if (result != 0) {
        const char *message = filter->in.get_last_error(&filter->in);
        (void)snprintf(filter->message, sizeof(filter->message), "%s", message != NULL ? message : "");
        return result;
    }
    if (batch.release == NULL) {
        return 0;
    }
    if (filter->predicate == NULL) {
        *out = batch;
        return 0;
    }
    result = filter_batch(filter, &batch, out);
    batch.release(&batch);
    return result;
}

static const char *filter_error(struct ArrowArrayStream *stream)
{
    return ((struct filter *)stream->private_data)->message;
}

static void filter_release(struct ArrowArrayStream *stream)
{
    struct filter *filter = stream->private_data;
    if (filter->schema.release != NULL) {
        filter->schema.release(&filter->schema);
    }
    filter->in.release(&filter->in);
    silt_expr_unref(filter->predicate);
    free(filter);
    stream->release = NULL;
}

static silt_status mini_filter(void *impl, const silt_call *call, struct ArrowArrayStream *in,
                               const silt_expr *predicate, struct ArrowArrayStream *out, silt_error *err)
{
    (void)impl;
    (void)call;
    struct filter *filter = calloc(1, sizeof(*filter));
    filter->in = *in;
    in->release = NULL; /* moved */
    filter->predicate = predicate != NULL ? silt_expr_ref(predicate) : NULL;
    *out = (struct ArrowArrayStream){filter_schema, filter_next, filter_error, filter_release, filter};
    if (filter->in.get_schema(&filter->in, &filter->schema) != 0) {
        out->release(out);
        err->status = SILT_EENGINE;
        (void)snprintf(err->message, sizeof(err->message), "the rows to filter have no schema");
        return SILT_EENGINE;
    }
    return SILT_OK;
}

static void mini_close(void *impl)
{
    (void)impl;
}

const silt_expression_handler_vtable mini_expression = {
    .size = sizeof(silt_expression_handler_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "mini",
    .close = mini_close,
    .filter = mini_filter,
};
