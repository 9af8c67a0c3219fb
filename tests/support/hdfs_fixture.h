/*
 * An HDFS store whose name node and data nodes are the stub that misbehaves as it is told (tests/stores/stub.py); data nodes are asked below
 * /data.
 */
#ifndef SILT_HDFS_FIXTURE_H
#define SILT_HDFS_FIXTURE_H

#include "stub_store.h"

/* Setup of a test: its state is the open store, for stub_store_teardown. */
int hdfs_setup(void **state);

#endif
