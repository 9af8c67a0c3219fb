"""The further tables: rows as Delta Spark reads them (kept in expected/, made by make_expected.py), or refusals by feature."""
from conformance_support import Error, Files, Refused, run

EXPECTATIONS = {
    # what is not built yet
    "cdf-column-mapping-name-mode-3-7": Refused("deletionVectors"),
    "cdf-table-with-dv": Refused("deletionVectors"),
    "compacted-log-files-table": Refused("deletionVectors"),
    "crc-full": Refused("deletionVectors"),
    "table-with-dv-small": Refused("deletionVectors"),
    "timestamp-partitioned-table": Refused("deletionVectors"),
    "v1-multi-part-partitioned-struct-stats-only": Refused("deletionVectors"),
    "v1-multi-part-struct-stats-only": Refused("deletionVectors"),
    "v1-single-part-struct-stats-only": Refused("deletionVectors"),
    "v2-classic-parquet-struct-stats-only": Refused("deletionVectors"),
    "v2-parquet-sidecars-struct-stats-only": Refused("deletionVectors"),
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
