/*
 * A session and short forms of what tests do with it. Unlike duck_fixture.h nothing here ends the test: helpers answer false or
 * a status, and tell what they saw on stderr, so that they can also be used in processes that a test forks.
 */
#ifndef SILT_SQL_FIXTURE_H
#define SILT_SQL_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "silt/silt.h"

struct sql_fixture {
    const silt_env *env;
    silt_session *session;
    struct sl_buf text; /* rows of the last statement: cells separated by '|', nulls as NULL, a line each */
    int64_t version;    /* committed by the last statement, -1 if none */
    silt_error err;
    char statement[4096]; /* the last one, for messages */
};

struct sql_options {
    const char *warehouse;
    const char *temp_dir;          /* NULL: the default */
    const silt_env *env;           /* NULL: the default */
    silt_storage_registry *stores; /* NULL: the default; consumed in every case */
};

bool sql_open(struct sql_fixture *sql, const struct sql_options *options);
void sql_close(struct sql_fixture *sql); /* safe on a zeroed one */

/* Runs the statements of a text up to the first failure. */
silt_status sql_try(struct sql_fixture *sql, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same; a failure is told. */
bool sql_run(struct sql_fixture *sql, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Runs a query of one number. */
bool sql_number(struct sql_fixture *sql, int64_t *out, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
