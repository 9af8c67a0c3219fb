"""The benchmarks; started by bench/run, which sets the environment. docs/benchmarks.md says what is measured."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import contest
import queries
from contest import Failed, inside, processes, run_timed, tool
from report import Report

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ["SILT"]
PYTHON = os.environ["SILT_BENCH_PYTHON"]
SCALE = os.environ.get("SILT_BENCH_SF", "1")
REPEAT = int(os.environ.get("SILT_BENCH_REPEAT", "9"))
THREADS = [int(n) for n in os.environ.get("SILT_BENCH_THREADS", "1 2").split()]
SNAPSHOT_FILES = 100_000
COPY_OPTIONS = "FORMAT parquet, PARQUET_VERSION v1, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 122880"


def peer(name, *args):
    return [PYTHON, os.path.join(HERE, "peer.py"), name, *args]


def make_data():
    folder = os.path.join(os.environ["SILT_BENCH_DATA"], f"sf{SCALE}")
    if not os.path.exists(os.path.join(folder, "done")):
        print(f"making the data of scale factor {SCALE} in {folder}", flush=True)
        subprocess.run([PYTHON, os.path.join(HERE, "make_data.py"), folder, SCALE], check=True)
    return os.path.abspath(folder)


def parquet_list(folder):
    return "[" + ", ".join(f"'{path}'" for path in sorted(glob.glob(os.path.join(folder, "*.parquet")))) + "]"


def silt_query(data, name):
    return queries.fill(queries.READS[name], {t: f"delta.`{data}/{t}`" for t in queries.TABLES})


def limit_query(data, name):
    return queries.fill(queries.READS[name], {t: f"read_parquet({parquet_list(f'{data}/{t}')})" for t in queries.TABLES})


# ---- areas ----

def measure_process(report, data):
    """Whole processes: what linking costs, a log, a count."""
    table = f"{data}/history"
    log = f"{table}/_delta_log"
    report.add("process: start and stop", 1, processes([
        ("silt version", "silt", [SILT, "version"]),
        ("libc alone", "limit", [tool("bench_floor"), log]),
        ("libduckdb, 'SELECT 1'", "info", [tool("bench_duck"), "SELECT 1 AS one"]),
        ("python -c pass", "info", [PYTHON, "-c", "pass"])], 1, REPEAT))
    report.add("process: history of 10 commits", 1, processes([
        ("silt history", "silt", [SILT, "history", table]),
        ("read the log, libc", "limit", [tool("bench_floor"), log]),
        ("delta-rs (python)", "peer", peer("delta-rs", "--history", table))], 1, REPEAT), "10 ms")
    report.add("process: count(*)", 1, processes([
        ("silt sql", "silt", [SILT, "sql", f"SELECT count(*) AS n FROM delta.`{data}/lineitem`"]),
        ("libduckdb", "limit", [tool("bench_duck"), limit_query(data, "count")]),
        *[(f"{name} (python)", "peer", peer(name, "--data", data, "--query", "count"))
          for name in ("duckdb", "delta-rs", "polars")]], 1, REPEAT), "80 ms")


def measure_snapshot(report, scratch):
    """Memory and time of a snapshot of 100,000 files."""
    for stats in (False, True):
        folder = os.path.join(scratch, "snapshot-stats" if stats else "snapshot")
        kind = "with statistics" if stats else "without statistics"
        command = [tool("bench_snapshot"), "--files", str(SNAPSHOT_FILES), "--repeat", str(REPEAT),
                   *(["--stats"] if stats else []), folder]
        process, text = run_timed(command, 1)
        said = json.loads(text)
        silt, limit = contest.Measured("silt", "silt"), contest.Measured("read and parse, yyjson", "limit")
        silt.times, limit.times = said["times_us"], said["limit_us"]
        silt.take_process(process)
        found = [silt, limit]
        found += inside([("delta-rs", "peer", lambda n, f=folder: peer("delta-rs", "--repeat", str(n), "--files", f))],
                        1, REPEAT)
        if found[2].rows != [[str(said["n_files"])]]:
            report.faults.append(f"snapshot: delta-rs has {found[2].rows} files, silt {said['n_files']}")
        report.add(f"snapshot: load 100 commits of 1000 files, {kind}", 1, found)
        report.fact(f"snapshot: memory, {kind}", "resident", said["bytes"] / said["n_files"], "bytes a file", "200")
        report.fact(f"snapshot: memory, {kind}", "peak while loading", said["peak_bytes"] / said["n_files"],
                    "bytes a file", "none")


def measure_read(report, data):
    for name in queries.READS:
        for threads in THREADS:
            common = ["--threads", str(threads), "--repeat"]
            found = inside([
                ("silt", "silt", lambda n: [tool("bench_query"), *common, str(n), silt_query(data, name)]),
                ("libduckdb read_parquet", "limit",
                 lambda n: [tool("bench_duck"), *common, str(n), limit_query(data, name)]),
                *[(who, "peer", lambda n, w=who: peer(w, *common, str(n), "--data", data, "--query", name))
                  for who in ("duckdb", "delta-rs", "polars")]], threads, REPEAT)
            report.compare(f"read: {name}", found)
            report.add(f"read: {name}", threads, found, "L 1.05")


def measure_write(report, data, scratch):
    """CREATE TABLE … AS of lineitem from one Parquet file; the limit writes one file without a table around it."""
    source = f"{data}/source/lineitem.parquet"
    select = f"SELECT * FROM read_parquet('{source}')"
    checks = {}

    def check_and_clear(who):
        written = sorted(glob.glob(os.path.join(scratch, "write-*")))
        if who not in checks:
            _, text = run_timed(peer("duckdb", "--check", written[-1]), 1)
            checks[who] = json.loads(text)["rows"]
        for path in written:
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def place(who, end=""):
        return os.path.join(scratch, f"write-{who}-{{n}}{end}")

    for threads in THREADS:
        common = ["--threads", str(threads), "--repeat"]
        copy = f"COPY ({select}) TO '{{}}' ({COPY_OPTIONS})"
        found = inside([
            ("silt", "silt", lambda n: [tool("bench_query"), *common, str(n),
                                        f"CREATE TABLE delta.`{place('silt')}` USING delta AS {select}"]),
            ("libduckdb COPY", "limit", lambda n: [tool("bench_duck"), *common, str(n),
                                                   copy.format(place("limit", ".parquet"))]),
            ("libduckdb COPY + fsync", "info", lambda n: [
                tool("bench_duck"), *common, str(n), "--sync", place("sync", ".parquet"),
                copy.format(place("sync", ".parquet"))]),
            *[(who, "peer", lambda n, w=who: peer(w, *common, str(n), "--write", source, place(w)))
              for who in ("delta-rs", "polars")]], threads, REPEAT, check_and_clear)
        report.add("write: lineitem", threads, found, "L 1.10")
    for who, rows in checks.items():
        if rows != checks["libduckdb COPY"]:
            report.faults.append(f"write: {who} wrote {rows}, expected {checks['libduckdb COPY']}")


def main(areas):
    known = ("process", "snapshot", "read", "write")
    if not set(areas) <= set(known):
        sys.exit(f"bench: error: areas are {', '.join(known)}")
    areas = areas or known
    data = make_data()
    report = Report()
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"warning: the machine is busy (load {load:.1f}): figures are not reliable")
    with tempfile.TemporaryDirectory(prefix="silt-bench-", dir=os.environ.get("SILT_BENCH_SCRATCH")) as scratch:
        try:
            if "process" in areas:
                measure_process(report, data)
            if "snapshot" in areas:
                measure_snapshot(report, scratch)
            if "read" in areas:
                measure_read(report, data)
            if "write" in areas:
                measure_write(report, data, scratch)
        except Failed as fault:
            report.faults.append(str(fault))
    path = report.save(os.environ["SILT_BENCH_RESULTS"], {"scale_factor": SCALE, "repeat": REPEAT, "areas": areas})
    print(f"\nkept in {path}")
    for fault in report.faults:
        print(f"bench: error: {fault}", file=sys.stderr)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
