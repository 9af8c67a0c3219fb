/*
 * Deletion vectors: payloads, frames, inline text and descriptors. What is taken answers every question alike, and what is built of its
 * rows, or put into a frame or text, is the same set.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/dv/dv.h"
#include "kernel/dv/z85.h"
#include "support/fuzz.h"

#define WINDOW 512

/* The marks of a stretch are what next and gap tell of it. */
static void check_window(const struct sl_dv_set *set, int64_t first)
{
    uint8_t marks[WINDOW];
    memset(marks, 7, sizeof(marks));
    sl_dv_set_mark(set, first, WINDOW, marks, 3);
    for (int64_t i = 0; i < WINDOW; i++) {
        FUZZ_CHECK(marks[i] == 3 || marks[i] == 7);
        const bool in = marks[i] == 3;
        FUZZ_CHECK((sl_dv_set_next(set, first + i) == first + i) == in);
        FUZZ_CHECK((sl_dv_set_gap(set, first + i) == first + i) == !in);
    }
}

static void same_set(const struct sl_dv_set *a, const struct sl_dv_set *b)
{
    FUZZ_CHECK(a->cardinality == b->cardinality && a->last == b->last);
    for (int64_t row = 0; row < INT64_MAX;) {
        const int64_t from = sl_dv_set_next(a, row);
        FUZZ_CHECK(from == sl_dv_set_next(b, row));
        row = from < INT64_MAX ? sl_dv_set_gap(a, from) : from;
        FUZZ_CHECK(from == INT64_MAX || row == sl_dv_set_gap(b, from));
    }
}

/* Run by run: the counts are right; built anew it is the same. */
static void check_set(const struct sl_dv_set *set)
{
    struct sl_dv_builder *builder = NULL;
    struct sl_dv_set again = {0};
    struct sl_buf payload;
    int64_t total = 0;
    int64_t last = -1;
    sl_buf_init(&payload, fuzz_env());
    FUZZ_CHECK(sl_dv_builder_new(fuzz_env(), &builder, NULL) == SILT_OK);
    for (int64_t row = sl_dv_set_next(set, 0); row < INT64_MAX;) {
        const int64_t end = sl_dv_set_gap(set, row);
        FUZZ_CHECK(end > row);
        FUZZ_CHECK(sl_dv_builder_add(builder, row, end - row, NULL) == SILT_OK);
        total += end - row;
        last = end - 1;
        row = sl_dv_set_next(set, end);
    }
    FUZZ_CHECK(total == set->cardinality && last == set->last);
    FUZZ_CHECK(sl_dv_builder_cardinality(builder) == total);
    FUZZ_CHECK(sl_dv_serialize(builder, &payload, NULL) == SILT_OK);
    FUZZ_CHECK(sl_dv_parse(fuzz_env(), sl_buf_view(&payload), &again, NULL) == SILT_OK);
    same_set(set, &again);
    check_window(set, 0);
    check_window(set, set->last > WINDOW / 2 ? set->last - WINDOW / 2 : 0);
    sl_dv_set_release(&again);
    sl_dv_builder_free(builder);
    sl_buf_release(&payload);
}

/* In a frame and as text it is the same; with one row more or less in the descriptor it is refused. */
static void check_places(struct sl_str payload, const struct sl_dv_set *set)
{
    struct sl_buf file;
    struct sl_buf text;
    struct sl_dv_set found = {0};
    silt_deletion_vector dv = {
        .storage_type = 'u', .path = "x", .size_in_bytes = (int64_t)payload.len, .cardinality = set->cardinality};
    sl_buf_init(&file, fuzz_env());
    sl_buf_init(&text, fuzz_env());
    FUZZ_CHECK(sl_dv_put_frame(&file, payload, &dv.offset, NULL) == SILT_OK);
    const struct sl_str frame = sl_str_sub(sl_buf_view(&file), (size_t)dv.offset, file.len);
    FUZZ_CHECK(sl_dv_check_version(sl_buf_view(&file), NULL) == SILT_OK);
    FUZZ_CHECK(sl_dv_open(fuzz_env(), &dv, frame, set->last + 1, &found, NULL) == SILT_OK);
    same_set(set, &found);
    sl_dv_set_release(&found);
    FUZZ_CHECK(set->last < 0 || sl_dv_open(fuzz_env(), &dv, frame, set->last, &found, NULL) == SILT_ECORRUPT);
    dv.cardinality++;
    FUZZ_CHECK(sl_dv_open(fuzz_env(), &dv, frame, -1, &found, NULL) == SILT_ECORRUPT);
    dv.cardinality--;
    sl_z85_encode(&text, (const uint8_t *)payload.ptr, payload.len);
    dv.storage_type = 'i';
    dv.inline_data = sl_buf_cstr(&text);
    FUZZ_CHECK(sl_dv_open(fuzz_env(), &dv, (struct sl_str){NULL, 0}, -1, &found, NULL) == SILT_OK);
    same_set(set, &found);
    sl_dv_set_release(&found);
    sl_buf_release(&file);
    sl_buf_release(&text);
}

static void fuzz_payload(struct sl_str payload)
{
    struct sl_dv_set set = {0};
    if (sl_dv_parse(fuzz_env(), payload, &set, NULL) == SILT_OK) {
        check_set(&set);
        check_places(payload, &set);
    }
    sl_dv_set_release(&set);
}

static void fuzz_frame(struct sl_str frame, int64_t size, int64_t cardinality, int64_t num_records)
{
    struct sl_dv_set set = {0};
    const silt_deletion_vector dv = {
        .storage_type = 'p', .path = "/x", .offset = 1, .size_in_bytes = size, .cardinality = cardinality};
    if (sl_dv_open(fuzz_env(), &dv, frame, num_records, &set, NULL) == SILT_OK) {
        FUZZ_CHECK(set.cardinality == cardinality && (num_records < 0 || set.last < num_records));
        check_set(&set);
    }
    sl_dv_set_release(&set);
}

static void fuzz_z85(struct sl_str text)
{
    uint8_t *bytes = malloc(text.len + 1);
    struct sl_buf again;
    FUZZ_CHECK(bytes != NULL);
    sl_buf_init(&again, fuzz_env());
    if (sl_z85_decode(text, bytes)) {
        sl_z85_encode(&again, bytes, text.len / 5 * 4);
        FUZZ_CHECK(sl_str_eq(sl_buf_view(&again), text));
    }
    sl_buf_release(&again);
    free(bytes);
}

static void fuzz_descriptor(struct fuzz_input *in)
{
    static const char *const roots[] = {"/t", "s3://b/t", "memory://a", "/"};
    static const char *const types[] = {"u", "p", "i", "x", "", "ui"};
    const struct sl_str root = sl_str_from(roots[fuzz_pick(in, 4)]);
    struct sl_dv_descriptor given = {.storage_type = sl_str_from(types[fuzz_pick(in, 6)])};
    silt_deletion_vector dv;
    struct sl_arena arena;
    given.offset = fuzz_number(in);
    given.size_in_bytes = fuzz_number(in);
    given.cardinality = fuzz_number(in);
    given.path_or_inline_dv = fuzz_rest(in);
    sl_arena_init(&arena, fuzz_env());
    if (sl_dv_resolve(&arena, root, &given, &dv, NULL) == SILT_OK) {
        FUZZ_CHECK((dv.storage_type == 'i') == (dv.inline_data != NULL));
        FUZZ_CHECK((dv.storage_type == 'i') == (dv.path == NULL));
        FUZZ_CHECK(dv.offset >= 1 && dv.size_in_bytes >= 0 && dv.cardinality >= 0);
        FUZZ_CHECK(dv.storage_type != 'u' || sl_str_starts_with(sl_str_from(dv.path), root));
        FUZZ_CHECK(dv.storage_type != 'u' || strstr(dv.path, "/../") == NULL);
    }
    sl_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input_of(data, size);
    switch (fuzz_pick(&in, 4)) {
    case 0: fuzz_payload(fuzz_rest(&in)); break;
    case 1: {
        const int64_t bytes = fuzz_number(&in);
        const int64_t cardinality = fuzz_number(&in);
        const int64_t num_records = fuzz_number(&in);
        fuzz_frame(fuzz_rest(&in), bytes, cardinality, num_records);
        break;
    }
    case 2: fuzz_z85(fuzz_rest(&in)); break;
    default: fuzz_descriptor(&in); break;
    }
    return 0;
}
