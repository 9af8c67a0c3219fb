"""The further tables: rows as Delta Spark reads them (kept in expected/, made by make_expected.py), or refusals by feature."""
from conformance_support import Error, Files, Refused, run

EXPECTATIONS = {
    # what is not built yet
    # bytes and shorts as decimals with less than ten digits before the point: outside of the protocol's list
    "type-widening": Error("DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", "byte_decimal"),
    "table-with-geo": Refused("geospatial"),
    # logs without data files
    "300k-add-files-100-col-partitioned": Files(count=300000),
    "app-txn-with-last-updated": Files(count=4),
    "with_checkpoint_no_last_checkpoint": Files(count=1),
    # all others: the rows kept with the tests
}

if __name__ == "__main__":
    run("tables", EXPECTATIONS)
