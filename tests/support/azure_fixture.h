/*
 * The store of Azure over tests/stores/fake_azure.py. The server is shared by the tests of a program and begins anew with each.
 */
#ifndef SILT_AZURE_FIXTURE_H
#define SILT_AZURE_FIXTURE_H

#include <stddef.h>

#include "silt/silt.h"
#include "stub_server.h"

#define AZURE_KEY "dGhlIGtleSBvZiB0aGUgZmFrZSBhY2NvdW50LCAzMis="
#define AZURE_SIGNATURE "good+sig/"
#define AZURE_SECRET "hush=hush&hush"

/* Starts or stops the server: set-up and tear-down of a group; *state is then a struct stub_server. */
int azure_group_set_up(void **state);
int azure_group_tear_down(void **state);
/* The server as at its start. */
int azure_set_up(void **state);

/* GET of /_set?SETTINGS. */
void azure_set(const struct stub_server *stub, const char *settings);
/* How many lines of the server's log have this text. */
size_t azure_count(const struct stub_server *stub, const char *text);
/* Is there a name in the server? "CONTAINER/PATH". */
size_t azure_count_names(const struct stub_server *stub, const char *text);

/* A call whose deadline is that many milliseconds ahead. */
silt_call azure_call_within(int64_t ms);

/* Fails the test when one of the secrets above, or what they look like in a URL, is in the text. */
void azure_expect_no_secret(const silt_error *err);

#endif
