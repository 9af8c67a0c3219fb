/*
 * A small reader of JSON for the checker, which must not believe silt's. It takes what writers of a Delta log write and says so
 * when it does not understand; escapes beyond ASCII become '?', since nothing that the checker looks at has them.
 */
#include "sim.h"

#include <string.h>

#define MAX_DEPTH 64

struct reader {
    struct sim_world *world;
    const char *at;
    const char *end;
    int depth;
};

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL && *reader->at != '\0') {
        reader->at++;
    }
}

static bool take(struct reader *reader, char c)
{
    skip_space(reader);
    if (reader->at < reader->end && *reader->at == c) {
        reader->at++;
        return true;
    }
    return false;
}

static char unescape(struct reader *reader)
{
    const char c = *reader->at++;
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'u': reader->at += reader->end - reader->at < 4 ? reader->end - reader->at : 4; return '?';
    default: return c;
    }
}

/* After the opening quote. */
static const char *read_text(struct reader *reader)
{
    const char *close = reader->at;
    while (close < reader->end && *close != '"') {
        close += *close == '\\' ? 2 : 1;
    }
    if (close >= reader->end) {
        return NULL;
    }
    char *text = sim_keep(reader->world, (size_t)(close - reader->at) + 1);
    size_t n = 0;
    while (reader->at < close) {
        const char c = *reader->at++;
        text[n++] = c == '\\' ? unescape(reader) : c;
    }
    reader->at = close + 1;
    return text;
}

static struct sim_json *read_value(struct reader *reader);

static bool read_members(struct reader *reader, struct sim_json *value, char close)
{
    struct sim_json **tail = &value->first;
    if (take(reader, close)) {
        return true;
    }
    do {
        const char *key = NULL;
        if (value->kind == SIM_JSON_OBJECT &&
            (!take(reader, '"') || (key = read_text(reader)) == NULL || !take(reader, ':'))) {
            return false;
        }
        struct sim_json *member = read_value(reader);
        if (member == NULL) {
            return false;
        }
        member->key = key;
        *tail = member;
        tail = &member->next;
    } while (take(reader, ','));
    return take(reader, close);
}

/* null, true, false, a number: up to what ends it. */
static bool read_word(struct reader *reader, struct sim_json *value)
{
    const char *begin = reader->at;
    while (reader->at < reader->end && strchr(",]} \t\r\n", *reader->at) == NULL) {
        reader->at++;
    }
    const size_t len = (size_t)(reader->at - begin);
    char *text = sim_keep(reader->world, len + 1);
    memcpy(text, begin, len);
    value->text = text;
    return len > 0;
}

static struct sim_json *read_value(struct reader *reader)
{
    struct sim_json *value = sim_keep(reader->world, sizeof(*value));
    bool good = reader->depth < MAX_DEPTH;
    reader->depth++;
    if (good && take(reader, '{')) {
        value->kind = SIM_JSON_OBJECT;
        good = read_members(reader, value, '}');
    } else if (good && take(reader, '[')) {
        value->kind = SIM_JSON_ARRAY;
        good = read_members(reader, value, ']');
    } else if (good && take(reader, '"')) {
        value->kind = SIM_JSON_TEXT;
        value->text = read_text(reader);
        good = value->text != NULL;
    } else {
        good = good && read_word(reader, value);
    }
    reader->depth--;
    return good ? value : NULL;
}

struct sim_json *sim_json_parse(struct sim_world *world, const char *text, size_t len)
{
    struct reader reader = {world, text, text + len, 0};
    struct sim_json *value = read_value(&reader);
    skip_space(&reader);
    return reader.at == reader.end ? value : NULL;
}

const struct sim_json *sim_json_get(const struct sim_json *object, const char *key)
{
    const struct sim_json *member = object != NULL && object->kind == SIM_JSON_OBJECT ? object->first : NULL;
    while (member != NULL && strcmp(member->key, key) != 0) {
        member = member->next;
    }
    return member;
}

const char *sim_json_text(const struct sim_json *object, const char *key)
{
    const struct sim_json *member = sim_json_get(object, key);
    return member != NULL && member->text != NULL ? member->text : "";
}
