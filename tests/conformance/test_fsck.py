"""The check of a table on all reference tables: no fault, or faults that are true, each looked into and listed here with its cause."""
import json
import os
import sys
import tempfile

from conformance_support import Fault, require, silt, unpack

# Kind of check → part of a message; every fault must be of these, and each must be found.
LOG_ONLY = {"file": "does not exist"}  # the reference tables have logs without data files
FAULTS = {
    "golden": {
        "checkpoint": LOG_ONLY,
        "canonicalized-paths-normal-a": {},
        "canonicalized-paths-normal-b": {},
        "canonicalized-paths-special-a": {},
        "delete-re-add-same-file-different-transactions": LOG_ONLY,
        "log-replay-special-characters-b": LOG_ONLY,
        # broken on purpose
        "data-reader-absolute-paths-escaped-chars": {"commit": "version 0 lacks metaData", "log": "no metaData action"},
        "deltalog-commit-info": {"commit": "lacks the required member schemaString", "log": "schemaString"},
        "deltalog-state-reconstruction-from-checkpoint-missing-protocol": {
            "commit": "lacks the required member schemaString", "log": "schemaString", "checkpoint": "holds no protocol action"},
        "deltalog-state-reconstruction-without-metadata": {"commit": "version 0 lacks metaData", "log": "no metaData action"},
        "deltalog-state-reconstruction-without-protocol": {"commit": "version 0 lacks protocol", "log": "no protocol action"},
        "versions-not-contiguous": {"commit": "lacks the required member schemaString", "log": "of version 1 is missing"},
    },
    "tables": {
        "300k-add-files-100-col-partitioned": LOG_ONLY,
        "app-txn-with-last-updated": LOG_ONLY,
        "with_checkpoint_no_last_checkpoint": LOG_ONLY,
        # removes and adds of one path and vector stand in one compacted file, which was not reconciled
        "compacted-log-files-table": {"compacted": "has more than one action"},
        # a checksum of ten files and two applications at a commit without any
        "crc-full": {"checksum": ""},
        # checkpoint and commit have different ids of the table
        "parquet_row_group_skipping": {"checkpoint": "metaData.id"},
        # statistics of a column that the data files do not have
        "parsed-stats": {"statistics": "the nullCount of ts_col is stated as 0, but the data has 100"},
    },
}
UNREADABLE = {  # by this silt, or by anybody
    "data-reader-absolute-paths-escaped-chars", "deltalog-commit-info", "deltalog-invalid-protocol-version",
    "deltalog-state-reconstruction-from-checkpoint-missing-protocol", "deltalog-state-reconstruction-without-metadata",
    "deltalog-state-reconstruction-without-protocol", "versions-not-contiguous", "no-delta-log-folder", "table-with-geo",
    "type-widening",
}


def check(name, path, wanted):
    code, out, err = silt("fsck", "-o", "jsonl", path)
    faults = [row for row in map(json.loads, out.splitlines()) if row["severity"] == "fault"]
    for row in faults:
        if wanted.get(row["check"]) is None:
            raise Fault(f"an unexpected fault: {row}")
    for kind, part in wanted.items():
        if not any(row["check"] == kind and part in row["message"] for row in faults):
            raise Fault(f"no fault of {kind} with {part!r} in {len(faults)} faults")
    expected = 4 if name in UNREADABLE else 1 if wanted else 0
    if code != expected:
        raise Fault(f"expected exit code {expected}, found {code}: {err}")


def main():
    failed = passed = 0
    only = sys.argv[1:]
    for kind, faults in FAULTS.items():
        require(kind)
        with tempfile.TemporaryDirectory(prefix="silt-fsck-") as folder:
            for name in unpack(kind, folder):
                inner = os.path.join(folder, name, "delta")
                if only and name not in only:
                    continue
                try:
                    check(name, inner if os.path.isdir(inner) else os.path.join(folder, name), faults.get(name, {}))
                    passed += 1
                except Fault as fault:
                    failed += 1
                    print(f"{name}: {fault}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
