"""What the tests of the reference tables share: the tables unpacked, silt run on them, rows compared exactly."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal

SILT = os.environ.get("SILT", "")
TABLES = os.environ.get("SILT_CONFORMANCE", "")
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected")
STAMP = re.compile(r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z?)$")


class Fault(Exception):
    """What was expected did not happen."""


def require(what):
    """Ends the test as skipped where the program or the tables are missing."""
    if not os.path.isdir(os.path.join(TABLES, what)):
        print(f"skipped: no reference tables (SILT_CONFORMANCE is {TABLES or 'not set'})")
        sys.exit(77)
    if not os.access(SILT, os.X_OK):
        print(f"skipped: no program (SILT is {SILT or 'not set'})")
        sys.exit(77)


def unpack(kind, folder):
    """Copies or unpacks every table of a kind into the folder; returns their names."""
    names = []
    for entry in sorted(os.listdir(os.path.join(TABLES, kind))):
        source = os.path.join(TABLES, kind, entry)
        if entry.endswith(".tar.zst"):
            with subprocess.Popen(["zstd", "--decompress", "--quiet", "--stdout", source], stdout=subprocess.PIPE) as zstd:
                subprocess.run(["tar", "-x", "--no-same-owner", "--warning=no-unknown-keyword", "-C", folder],
                               stdin=zstd.stdout, check=True)
            names.append(entry[:-len(".tar.zst")])
        elif os.path.isdir(source):
            shutil.copytree(source, os.path.join(folder, entry))
            names.append(entry)
    return names


def silt(*arguments):
    """(exit code, stdout, stderr) of the program."""
    done = subprocess.run([SILT, *arguments], capture_output=True, check=False, timeout=100)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace").strip()


def query(text):
    """Rows of a query as normal rows."""
    code, out, err = silt("sql", "-o", "jsonl", text)
    if code != 0:
        raise Fault(f"ended with {code}: {err}")
    return normal_rows(out)


def table(path):
    return "delta.`" + path.replace("`", "``") + "`"


# ---- comparison ------------------------------------------------------------------------------------------------
def normal(value):
    """Numbers by value with all their digits, times by value; -0.0 stays apart from 0."""
    if isinstance(value, Decimal):
        return "-0" if value.is_zero() and value.is_signed() else value
    if isinstance(value, str):
        stamp = STAMP.match(value)
        if stamp:
            fraction = (stamp[3] or "").rstrip("0").rstrip(".")
            return f"{stamp[1]} {stamp[2]}{fraction}{stamp[4]}"
        return value
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, dict):
        return {key: normal(item) for key, item in value.items()}
    return value


def normal_rows(text):
    rows = [normal(json.loads(line, parse_float=Decimal, parse_int=Decimal)) for line in text.split("\n") if line]
    return sorted(rows, key=repr)


def without_zones(value):
    """Where the reference's file says less than the table's schema: a time without the mark of UTC."""
    if isinstance(value, str) and STAMP.match(value):
        return value.rstrip("Z")
    if isinstance(value, list):
        return [without_zones(item) for item in value]
    if isinstance(value, dict):
        return {key: without_zones(item) for key, item in value.items()}
    return value


def same_rows(expected, found):
    if len(expected) != len(found):
        raise Fault(f"expected {len(expected)} rows, found {len(found)}")
    for left, right in zip(expected, found):
        if left != right or list(left) != list(right):
            raise Fault(f"rows differ:\n    expected {left}\n    found    {right}")


# ---- expectations ----------------------------------------------------------------------------------------------
class Rows:
    """The table reads as the rows beside it say, or as the file of rows kept with the tests."""

    def __init__(self, columns="*"):
        self.columns = columns  # of the rows beside it, where silt rightly reads something else

    def check(self, name, path, expected):
        found = query(f"SELECT * FROM {table(path)}")
        if expected is not None:
            wanted = query(f"SELECT {self.columns} FROM read_parquet('{expected}/*.parquet', union_by_name = true)")
            same_rows(without_zones(wanted), without_zones(found))
            return
        with open(os.path.join(EXPECTED, name + ".jsonl"), encoding="utf-8") as file:
            same_rows(normal_rows(file.read()), found)


class Files:
    """The table is only a log: these are its live files, as their paths decode."""

    def __init__(self, *paths, count=None):
        self.paths = sorted(paths)
        self.count = len(paths) if count is None else count

    def check(self, name, path, expected):
        code, out, err = silt("files", "-o", "jsonl", path)
        if code != 0:
            raise Fault(f"ended with {code}: {err}")
        found = sorted(json.loads(line)["path"].removeprefix(path + "/") for line in out.split("\n") if line)
        if len(found) != self.count or (self.paths and found != self.paths):
            raise Fault(f"expected files {self.paths or self.count}, found {found[:10]} ({len(found)})")


class Refused:
    """silt does not have the feature yet: it says so by name, with the exit code of what cannot be read."""

    def __init__(self, feature):
        self.feature = feature

    def check(self, name, path, expected):
        Error("DELTA_UNSUPPORTED_FEATURES_FOR_READ", self.feature).check(name, path, expected)


class Error:
    """The table is none, or broken: refused with that error class."""

    def __init__(self, code_name, words="", code=4):
        self.code_name = code_name
        self.words = words
        self.code = code

    def check(self, name, path, expected):
        code, out, err = silt("sql", "-o", "jsonl", f"SELECT * FROM {table(path)}")
        if code == 0:
            raise Fault(f"was read, {len(out.splitlines())} rows; expected {self.code_name}")
        lines = [line for line in err.split("\n") if not line.startswith("warning: ")]
        if not lines[0].startswith(f"error: [{self.code_name}") or self.words not in lines[0] or len(lines) > 2:
            raise Fault(f"expected {self.code_name} {self.words}, found: {err}")
        if code != self.code:
            raise Fault(f"expected exit code {self.code}, found {code}: {err}")


def run(kind, expectations):
    """Checks every table of a kind. A table without an entry must read as the rows beside it."""
    require(kind)
    failed = passed = 0
    only = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="silt-conformance-") as folder:
        for name in unpack(kind, folder):
            if only and name not in only:
                continue
            inner = os.path.join(folder, name, "delta")
            path = inner if os.path.isdir(inner) else os.path.join(folder, name)
            expected = os.path.join(folder, name, "expected")
            try:
                expectations.get(name, Rows()).check(name, path, expected if os.path.isdir(expected) else None)
                passed += 1
            except Exception as error:  # one broken table must not hide the others
                failed += 1
                print(f"{name}: {error}")
    print(f"{passed} passed, {failed} failed")
    if failed or not passed:
        sys.exit(1)
