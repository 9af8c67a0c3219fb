"""The golden tables: rows where they are given, refusals by feature, errors where the log is no table."""
from conformance_support import Error, Files, Refused, Rows, run

EXPECTATIONS = {
    # what is not built yet
    # logs without data files
    "canonicalized-paths-normal-a": Files(),
    "canonicalized-paths-normal-b": Files(),
    "canonicalized-paths-special-a": Files(),
    "delete-re-add-same-file-different-transactions": Files("bar", "foo"),
    "log-replay-special-characters-b": Files("special p@#h"),
    "checkpoint": Files(count=1),
    # no tables, or broken ones
    "data-reader-absolute-paths-escaped-chars": Error("DELTA_STATE_RECOVER_ERROR"),
    "deltalog-invalid-protocol-version": Error("DELTA_INVALID_PROTOCOL_VERSION"),
    "deltalog-commit-info": Error("SILT_CORRUPT", "schemaString"),
    # silt finds another way around the checkpoint, to a metaData without its schema
    "deltalog-state-reconstruction-from-checkpoint-missing-protocol": Error("SILT_CORRUPT", "schemaString"),
    "deltalog-state-reconstruction-without-metadata": Error("DELTA_STATE_RECOVER_ERROR"),
    "deltalog-state-reconstruction-without-protocol": Error("DELTA_STATE_RECOVER_ERROR"),
    "no-delta-log-folder": Error("DELTA_TABLE_NOT_FOUND"),
    "versions-not-contiguous": Error("DELTA_VERSIONS_NOT_CONTIGUOUS"),
    # Partition values without a zone, which the reference took as times of the American west coast, silt as UTC. Both keep
    # the clock's reading.
    "data-reader-partition-values": Rows("* REPLACE (timezone('America/Los_Angeles', as_timestamp::TIMESTAMPTZ) AS as_timestamp)"),
    # all others: the rows beside the table
}

if __name__ == "__main__":
    run("golden", EXPECTATIONS)
