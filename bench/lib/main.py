"""The benchmarks; started by bench/run, which sets the environment. docs/benchmarks.md says what is measured."""
import glob
import json
import os
import shutil
import sys
import tempfile

import area_checkpoint
import area_commits
import area_log
import area_stores
import area_tables
import contest
import queries
from contest import Failed, inside, processes, run_timed, tool
from report import Report
from ways import COPY_OPTIONS, PYTHON, REPEAT, SCALE, SILT, THREADS, delta_tables, make_data, parquet_tables, peer

SNAPSHOT_FILES = 100_000


def silt_query(data, name):
    return queries.fill(queries.READS[name], delta_tables(data))


def limit_query(data, name):
    return queries.fill(queries.READS[name], parquet_tables(data))


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


# What each area is called, and what measures it.
AREAS = {
    "process": lambda report, scratch: measure_process(report, make_data()),
    "snapshot": measure_snapshot,
    "read": lambda report, scratch: measure_read(report, make_data()),
    "write": lambda report, scratch: measure_write(report, make_data(), scratch),
    **area_log.AREAS,
    **area_tables.AREAS,
    **area_checkpoint.AREAS,
    **area_commits.AREAS,
    **area_stores.AREAS,
}
GROUPS = {"log": list(area_log.AREAS)}


def main(wanted):
    areas = [area for name in wanted or AREAS for area in GROUPS.get(name, [name])]
    if not set(areas) <= set(AREAS):
        sys.exit(f"bench: error: areas are {', '.join([*AREAS, *GROUPS])}")
    report = Report()
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"warning: the machine is busy (load {load:.1f}): figures are not reliable")
    with tempfile.TemporaryDirectory(prefix="silt-bench-", dir=os.environ.get("SILT_BENCH_SCRATCH")) as scratch:
        for area in areas:
            try:
                AREAS[area](report, scratch)
            except Failed as fault:
                report.faults.append(f"{area}: {fault}")
    path = report.save(os.environ["SILT_BENCH_RESULTS"], {"scale_factor": SCALE, "repeat": REPEAT, "areas": areas,
                                                          "log_files": area_log.FILES})
    print(f"\nkept in {path}")
    for fault in report.faults:
        print(f"bench: error: {fault}", file=sys.stderr)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
