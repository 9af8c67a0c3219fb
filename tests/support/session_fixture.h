/*
 * A session with a warehouse of its own under /tmp, and short forms of what tests do with it: run statements, compare rows,
 * expect a fault. Each fails the test when something happens that must not. State of cmocka tests; one thread.
 */
#ifndef SILT_SESSION_FIXTURE_H
#define SILT_SESSION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "silt/silt.h"

struct session_fixture {
    char dir[128]; /* the warehouse */
    silt_session *session;
    struct sl_buf out;     /* rows of the last statement: cells separated by '|', nulls as NULL, a line each */
    struct sl_buf sql;     /* of session_format and session_with_dir */
    struct sl_arena arena; /* texts that live as long as the test */
    silt_result_kind kind;
    int64_t version; /* committed by the last statement, -1 if none */
    bool skipped;    /* it was recorded already */
    silt_error err;
};

int session_set_up(void **state);
int session_tear_down(void **state);
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, session_set_up, session_tear_down)

/* Runs all statements of a text up to the first failure; rows of the last stay in out. */
silt_status session_try(struct session_fixture *s, const char *sql);
silt_status session_try_with(struct session_fixture *s, const char *sql, const struct ArrowSchema *params_schema,
                             const struct ArrowArray *params);
void session_expect_done(struct session_fixture *s, const char *sql);
void session_expect_rows(struct session_fixture *s, const char *sql, const char *rows);
/* position -1: any. */
void session_expect_fault(struct session_fixture *s, const char *sql, silt_status status, const char *code,
                          int position);
/* The text with the warehouse's path for each %D. Lives until the next call. */
const char *session_with_dir(struct session_fixture *s, const char *text);
/* As printf. Lives until the next call of this or of session_with_dir. */
const char *session_format(struct session_fixture *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
