"""Tables that are broken on purpose, made by hand so that every byte of their logs is known; and silt run on them."""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback

SILT = os.environ.get("SILT", "")
ERROR = re.compile(r"\Aerror: \[([A-Z][A-Z0-9_.]*)\] ([^\n]+)\n(hint: [^\n]+\n)?\Z")
PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}


class Result:
    """What one run of silt came to."""

    def __init__(self, arguments, done):
        self.arguments = arguments
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")
        match = ERROR.match(self.err)
        self.name = match[1] if match else None
        self.message = match[2] if match else None

    def __str__(self):
        return f"silt {self.arguments!r:.300} ended with {self.code}\n--- out\n{self.out[:2000]}\n--- err\n{self.err[:2000]}"


def silt(*arguments, limits=None, memory_mb=2048, timeout=60, cwd=None):
    """Runs the program. Addresses are limited, so that a file cannot make it eat the machine; not under sanitizers."""
    def before():
        if not os.environ.get("SILT_SANITIZE") and memory_mb:
            resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
        for what, value in (limits or {}).items():
            resource.setrlimit(what, (value, value))
    done = subprocess.run([SILT, *arguments], capture_output=True, check=False, timeout=timeout, preexec_fn=before, cwd=cwd)
    return Result(arguments, done)


def quoted(path):
    return "delta.`" + path.replace("`", "``") + "`"


def field(name, kind="long", nullable=True):
    return {"name": name, "type": kind, "nullable": nullable, "metadata": {}}


def metadata(fields, partition_columns=(), **more):
    action = {"id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9", "format": {"provider": "parquet", "options": {}},
              "schemaString": json.dumps({"type": "struct", "fields": fields}),
              "partitionColumns": list(partition_columns), "configuration": {}, "createdTime": 1700000000000}
    action.update(more)
    return {"metaData": action}


def add(path, size=100, partition_values=None, stats=None, **more):
    action = {"path": path, "partitionValues": {} if partition_values is None else partition_values, "size": size, "modificationTime": 1700000000000,
              "dataChange": True}
    if stats is not None:
        action["stats"] = stats
    action.update(more)
    return {"add": action}


def lines(*actions):
    """The bytes of a commit. Actions are objects, or bytes that are taken as they are."""
    return b"".join(a + b"\n" if isinstance(a, bytes) else json.dumps(a).encode() + b"\n" for a in actions)


class Case(tempfile.TemporaryDirectory):
    """A folder for one case."""

    def __init__(self):
        super().__init__(prefix="silt-bad-", ignore_cleanup_errors=True)

    def __enter__(self):
        return self

    def path(self, name="t"):
        return os.path.join(self.name, name)

    def commit(self, version, data, table="t"):
        log = os.path.join(self.path(table), "_delta_log")
        os.makedirs(log, exist_ok=True)
        with open(os.path.join(log, f"{version:020d}.json" if isinstance(version, int) else version), "wb") as file:
            file.write(data)

    def good(self, table="t", sql="SELECT i AS id, 'n' || i AS name FROM range(3) r(i)"):
        """A sound table made by silt; returns the path of its one data file."""
        done = silt("sql", f"CREATE TABLE {quoted(self.path(table))} AS {sql}")
        if done.code != 0:
            raise AssertionError(str(done))
        for folder, _, files in os.walk(self.path(table)):
            for file in files:
                if file.endswith(".parquet"):
                    return os.path.join(folder, file)
        return None

    def parquet(self, name, sql):
        """A Parquet file with the rows of a query."""
        done = silt("sql", f"COPY ({sql}) TO '{self.path(name)}' (FORMAT parquet)")
        if done.code != 0:
            raise AssertionError(str(done))
        return self.path(name)

    def replace(self, target, source):
        shutil.copyfile(source, target)


# ---- what is expected of a run ---------------------------------------------------------------------------------
def expect(result, code, name, *parts):
    """An error: its exit code, its class, and what its message must say."""
    assert result.code == code and result.name == name, f"expected {code} [{name}]\n{result}"
    for part in parts:
        assert part in result.message, f"expected {part!r} in the message\n{result}"
    assert result.out == "", f"a failed statement printed rows\n{result}"


def works(result, out=None):
    assert result.code == 0 and result.err == "", str(result)
    assert out is None or result.out == out, f"expected {out!r}\n{result}"


def clean(result):
    """Either way will do, but not a signal, and not an error of another shape."""
    assert result.code == 0 or (0 < result.code <= 5 and ERROR.match(result.err)), str(result)


def run_cases(cases):
    """Runs all cases, or those that the command line names; returns the exit code."""
    if not os.access(SILT, os.X_OK):
        print(f"skipped: no program (SILT is {SILT or 'not set'})")
        return 77
    failed = []
    for case in cases:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        try:
            case()
        except Exception:  # pylint: disable=broad-except
            failed.append(case.__name__)
            print(f"---- {case.__name__}")
            traceback.print_exc(file=sys.stdout)
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0
