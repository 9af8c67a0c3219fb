/* An HDFS store before the stub server, see hdfs_fixture.h. */
#include "hdfs_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "storage/remote/hdfs/hdfs.h"

int hdfs_setup(void **state)
{
    struct stub_store *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    stub_store_start(f);
    stub_store_open(f, sl_hdfs_open, WORDS("hdfs_namenodes", "HOST", "hdfs_user", "me"));
    *state = f;
    return 0;
}
