"""The change data of the further tables that record it: rows as Delta Spark reads them (kept in expected/, made by
make_changes_expected.py), and refusals of ranges that were not recorded."""
import os
import sys
import tempfile

from conformance_support import EXPECTED, Fault, normal_rows, query, require, same_rows, silt, unpack


class Changes:
    """Recorded from a version on, as the file of rows kept with the tests says; before that, refused."""

    def __init__(self, first=0):
        self.first = first

    def check(self, name, path):
        text = path.replace("'", "''")
        found = query(f"SELECT * EXCLUDE (_commit_timestamp) FROM table_changes_by_path('{text}', {self.first})")
        with open(os.path.join(EXPECTED, name + ".changes.jsonl"), encoding="utf-8") as file:
            expected = normal_rows(file.read())
        same_rows(expected, found)
        # version by version it is the same
        for version in sorted({row["_commit_version"] for row in expected}):
            same_rows([row for row in expected if row["_commit_version"] == version], query(
                f"SELECT * EXCLUDE (_commit_timestamp) FROM table_changes_by_path('{text}', {version}, {version})"))
        for before in range(self.first):
            code, _, err = silt("changes", path, "--from", str(before))
            if code != 1 or "[DELTA_MISSING_CHANGE_DATA]" not in err or f"in version {self.first - 1}\n" not in err:
                raise Fault(f"from {before}: expected version {self.first - 1} to be missed, found {code}: {err}")


EXPECTATIONS = {
    "cdf-column-mapping-name-mode-3-7": Changes(1),
    "cdf-column-mapping-name-mode": Changes(1),
    "cdf-table-backtick-column-names": Changes(),
    "cdf-table-data-change": Changes(),
    "cdf-table-delete-conditional-all-rows": Changes(),
    "cdf-table-delete-conditional-two-rows": Changes(),
    "cdf-table-delete-unconditional": Changes(),
    "cdf-table-non-partitioned": Changes(),
    "cdf-table-partitioned": Changes(),
    "cdf-table-simple": Changes(),
    "cdf-table-with-dv": Changes(),
    "cdf-table": Changes(),
    "compacted-log-files-table": Changes(),
    "table-with-cdf": Changes(3),
}


def main():
    require("tables")
    failed = passed = 0
    with tempfile.TemporaryDirectory(prefix="silt-conformance-") as folder:
        names = unpack("tables", folder)
        for name, expectation in EXPECTATIONS.items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            if name not in names:
                continue  # some are kept back
            try:
                expectation.check(name, os.path.join(folder, name))
                passed += 1
            except Exception as error:  # one broken table must not hide the others
                failed += 1
                print(f"{name}: {error}")
    print(f"{passed} passed, {failed} failed")
    if failed or not passed:
        sys.exit(1)


if __name__ == "__main__":
    main()
