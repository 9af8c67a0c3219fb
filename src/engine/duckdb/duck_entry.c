/*
 * What the library exports: the vtable of the data plane, and nothing else.
 */
#include "duck.h"

#include "silt/version.h"

const struct sl_dataplane_vtable *silt_duckdb_dataplane(void);

static void close_nothing(void *impl)
{
    (void)impl; /* handlers share the data plane, which is closed by itself */
}

static const silt_parquet_handler_vtable PARQUET = {
    .size = sizeof(PARQUET),
    .abi_version = SILT_ABI_VERSION,
    .name = "duckdb",
    .close = close_nothing,
    .read = sl_duck_read,
    .write = sl_duck_write,
    .scan = sl_duck_scan,
    .groups = sl_duck_groups,
    .write_file = sl_duck_write_file,
    .bring = sl_duck_bring,
};

static const silt_expression_handler_vtable EXPRESSION = {
    .size = sizeof(EXPRESSION),
    .abi_version = SILT_ABI_VERSION,
    .name = "duckdb",
    .close = close_nothing,
    .filter = sl_duck_filter,
};

static const struct sl_dataplane_vtable DATAPLANE = {
    .size = sizeof(DATAPLANE),
    .abi_version = SL_DATAPLANE_ABI_VERSION,
    .name = "duckdb",
    .library_version = duckdb_library_version,
    .open = sl_duck_open,
    .close = sl_duck_close,
    .parquet = &PARQUET,
    .expression = &EXPRESSION,
    .parse = sl_duck_parse,
    .scan_open = sl_duck_scan_open,
    .scan_close = sl_duck_scan_close,
    .describe = sl_duck_describe,
    .query = sl_duck_query,
    .write_query = sl_duck_write_query,
    .set_option = sl_duck_set_option,
};

SILT_API const struct sl_dataplane_vtable *silt_duckdb_dataplane(void)
{
    return &DATAPLANE;
}
