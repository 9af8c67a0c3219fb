/*
 * A pull scanner over JSON text: finds members and values without building anything, and demands the same validity as the parser of
 * json.h (grammar, UTF-8, escapes, depth): what it accepts to the end, that parser accepts, and the reverse. It allocates
 * nothing; results borrow from the text. For statistics of which a few members are wanted, and for the lines of commits.
 *
 *     struct sl_json_scan scan;
 *     sl_json_scan_init(&scan, text);
 *     struct sl_json_text key;
 *     if (sl_json_scan_object(&scan)) {
 *         while (sl_json_scan_member(&scan, &key)) {
 *             if (sl_json_text_is(&key, SL_STR("numRecords"))) {
 *                 struct sl_json_token rows;
 *                 (void)sl_json_scan_value(&scan, &rows);     // a fault ends the loop
 *             } else {
 *                 (void)sl_json_scan_skip(&scan);
 *             }
 *         }
 *     }
 *     bool valid = sl_json_scan_end(&scan);  // false: nothing of what was found may be believed
 *
 * After a fault every function returns false and changes nothing. Keys that come twice are told twice (the getters of json.h
 * find the first). One owner.
 */
#ifndef SL_JSON_SCAN_H
#define SL_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

struct sl_json_scan {
    const char *begin, *at, *end;
    const char *fault; /* NULL while all is well, else what is wrong at `at`; static text */
    unsigned depth;    /* of the containers that were entered and not yet left */
    bool fresh;        /* a container was just entered: no comma is due */
};

/* A string between its quotes, as it is written: valid, with escapes if has_escapes. */
struct sl_json_text {
    struct sl_str raw;
    bool has_escapes;
};

struct sl_json_token {
    enum sl_json_kind kind;
    struct sl_str raw; /* of a string: between its quotes; else the value's whole text, brackets included */
    bool has_escapes;  /* of a string */
};

/* text must stay while results are in use. */
void sl_json_scan_init(struct sl_json_scan *scan, struct sl_str text);

/* The kind of the value that comes next, by its first character; SL_JSON_NULL when nothing valid comes. Consumes white space only. */
enum sl_json_kind sl_json_scan_peek(struct sl_json_scan *scan);

/* Enters the object or array that comes next; false (a fault) if another kind of value comes. */
bool sl_json_scan_object(struct sl_json_scan *scan);
bool sl_json_scan_array(struct sl_json_scan *scan);
/*
 * The next member of the object that was entered last: its value must then be consumed, by value, skip, or entering and leaving
 * it. False at the object's end, which leaves it, and after a fault.
 */
bool sl_json_scan_member(struct sl_json_scan *scan, struct sl_json_text *key);
/* The same for elements of an array. */
bool sl_json_scan_element(struct sl_json_scan *scan);

/* Consumes the value that comes next, whole and validated. */
bool sl_json_scan_value(struct sl_json_scan *scan, struct sl_json_token *out);
bool sl_json_scan_skip(struct sl_json_scan *scan);
/* Only white space is left, no container is open, and there was no fault. */
bool sl_json_scan_end(struct sl_json_scan *scan);

/* Is this the text? Escapes count as what they stand for. */
bool sl_json_text_is(const struct sl_json_text *text, struct sl_str plain);
/* Room that sl_json_text_decode needs at most: whole blocks are written. */
size_t sl_json_text_room(const struct sl_json_text *text);
/* Writes what the text stands for to out, which has that room; its length. Only for texts that a scanner gave. */
size_t sl_json_text_decode(const struct sl_json_text *text, char *out);

#endif
