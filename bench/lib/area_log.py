"""Areas about the metadata of large tables (make_log.py): opening them, listing their files, skipping, refreshing.

silt's processes are bench_log's, delta-kernel-rs's are bench/peers/kernel's, the others are peer.py's. The time of silt holds everything
from a path to a visit of every file with its path, size and partition values.
"""
import json
import os
import tempfile

import contest
from contest import inside, inside_cold, run_timed, tool
from ways import DATA, KERNEL, REPEAT, THREADS, make, peer

FILES = int(os.environ.get("SILT_BENCH_LOG_FILES", "1000000"))
FOLDER = os.path.abspath(os.path.join(DATA, f"log{FILES}"))
REFRESHES = 1000
PEER_REFRESHES = 6
ADDS = 100
HIT_FILES = FILES // 100  # of a filter on a column of data; one of a hundred partitions has as many
BY_DATA = ("id", "lt", HIT_FILES * 2000, f"id < {HIT_FILES * 2000}")
BY_PARTITION = ("day", "eq", "date:20458", "day = DATE '2026-01-05'")

# What libduckdb must read at least of a checkpoint, by what is asked.
CHECKPOINT = "read_parquet('{0}/_delta_log/00000000000000000010.checkpoint.parquet')"
LIST_COLUMNS = "sum(strlen(add.path)) AS p, sum(add.size) AS s, count(add.partitionValues) AS v"
JSON_COLUMNS = "sum(strlen(add.path)) AS p, sum(strlen(add.stats)) AS s"
PARTITION_COLUMNS = "sum(strlen(add.path)) AS p, count(add.partitionValues) AS v"
PARSED_COLUMNS = "sum(strlen(add.path)) AS p, min(add.stats_parsed.minValues.id) AS s"


def table(kind):
    """The folder of a table, which is made when it is missing."""
    folder = os.path.join(FOLDER, kind)
    make(os.path.join(folder, ".done"), "make_log.py", FOLDER, kind, "--files", str(FILES))
    return folder


# ---- what contestants print ----

def said(times, rows):
    return {"open_us": 0, "times_us": [wall for _, wall in times], "cpu_us": [cpu for cpu, _ in times], "rows": rows}


def read_silt(parts):
    """bench_log: a line a repetition; parts are those whose [CPU, wall] are added up."""
    def read(text):
        lines = [json.loads(line) for line in text.splitlines()]
        found = said([[sum(line[part][i] for part in parts) for i in (0, 1)] for line in lines],
                     [] if parts == ["open_us"] else [[str(lines[-1]["n_files"])]])
        return {**found, "bytes_a_file": lines[-1]["bytes"] / max(1, lines[-1]["n_files"])}
    return read


def read_kernel(text):
    """kernel-peer: wall, CPU, files a line; the last line is memory."""
    lines = [[int(word) for word in line.split()] for line in text.splitlines()[:-1]]
    return said([[cpu, wall] for wall, cpu, _ in lines], [[str(lines[-1][2])]])


def read_open(text):
    return {**json.loads(text), "rows": []}


def read_kernel_open(text):
    return {**read_kernel(text), "rows": []}


def read_limit(text):
    """Sums of lengths: not what others give."""
    return {**json.loads(text), "rows": None}


# ---- contestants ----

def silt(folder, threads, who, parts, *more, role="silt"):
    return (who, role, lambda n: [tool("bench_log"), "--threads", str(threads), "--repeat", str(n), *more, folder], read_silt(parts))


def kernel(folder, threads, who, *mode, read=read_kernel):
    if not KERNEL:
        return []
    return [(who, "peer", lambda n: [KERNEL, folder, str(threads), str(n), *map(str, mode)], read)]


def python_peers(threads, *what, names=("delta-rs", "duckdb"), read=json.loads):
    return [(name, "peer", lambda n, who=name: peer(who, "--threads", str(threads), "--repeat", str(n), *what), read) for name in names]


def duck(threads, text, role="limit", who="libduckdb, same columns", read=read_limit):
    return (who, role, lambda n: [tool("bench_duck"), "--threads", str(threads), "--repeat", str(n), text], read)


def checkpoint_limit(folder, threads, columns, role="limit"):
    return duck(threads, f"SELECT count(*) AS n, {columns} FROM {CHECKPOINT.format(folder)}", role)


def parse_limit(folder, role="limit", who="read and parse, yyjson"):
    return (who, role, lambda n: [tool("bench_parse"), "--repeat", str(n), folder], json.loads if role == "limit" else read_limit)


def whole_list(folder, threads):
    """Everybody's way to have all files with their partition values."""
    return [silt(folder, threads, "silt", ["list_us", "visit_us"]), silt(folder, threads, "silt, plan of a scan", ["plan_us"], "--plan", "1",
                                                                        role="info"),
            *kernel(folder, threads, "kernel-rs list", "list"), *kernel(folder, threads, "kernel-rs bare", "bare"),
            *python_peers(threads, "--files", folder)]


def contend(report, case, threads, contestants, target=None, repeat=REPEAT):
    found = inside_cold(report, case, contestants, threads, repeat)
    if found:
        report.compare(case, found)
        report.add(case, threads, found, target)
    return found


# ---- areas ----

def measure_open(report, _):
    with_json = "{'add': 'STRUCT(path VARCHAR, \"partitionValues\" MAP(VARCHAR, VARCHAR), size BIGINT, stats VARCHAR)'}"
    for threads in THREADS:
        small, commits, one, bare, crc = map(table, ("small", "commits", "one_commit", "plain", "crc"))
        contend(report, "log: 10 commits of 100 adds", threads, [*whole_list(small, threads), parse_limit(small)], "P 3")
        contend(report, f"log: checkpoint of {FILES // 10} files, 1,000 commits of 100", threads, [
            *whole_list(commits, threads), checkpoint_limit(commits, threads, LIST_COLUMNS, "info"), parse_limit(commits, "info")], "P 3")
        contend(report, f"log: {FILES} adds in one commit", threads, [
            *whole_list(one, threads), parse_limit(one), duck(
                threads, f"SELECT count(add.path) AS n, sum(strlen(add.path)) AS p FROM read_json('{one}/_delta_log/*.json', "
                f"format = 'newline_delimited', columns = {with_json})", "info", "libduckdb, read_json")], "P 10")
        for name, folder, target in (("with", crc, "1 ms"), ("without", bare, "10 ms")):
            contend(report, f"log: protocol and metadata of {FILES} files, {name} .crc", threads, [
                silt(folder, threads, "silt", ["open_us"]), *kernel(folder, threads, "kernel-rs", "open", read=read_kernel_open),
                *python_peers(threads, "--open", folder, read=read_open)], target, max(REPEAT, 20))


def measure_list(report, _):
    for threads in THREADS:
        plain, by_peer, tail = map(table, ("plain", "peer", "tail"))
        case = f"log: list of {FILES} files of a checkpoint"
        found = contend(report, case, threads, [*whole_list(plain, threads), checkpoint_limit(plain, threads, LIST_COLUMNS)], "P 2, L 2")
        for measured in found[:1]:
            report.fact(case, "resident", measured.said["bytes_a_file"], "bytes a file", "120")
            report.fact(case, "peak of the process", measured.rss_kb / 1024, "MB", "200")
        contend(report, "log: the same, uncompressed, with JSON statistics, one row group", threads, [
            *whole_list(by_peer, threads), checkpoint_limit(by_peer, threads, LIST_COLUMNS)], "P 2, L 2")
        contend(report, f"log: checkpoint of {FILES} files and a tail of {FILES // 10} adds and {FILES // 20} removes", threads, [
            *whole_list(tail, threads), checkpoint_limit(tail, threads, LIST_COLUMNS, "info"), parse_limit(tail, "info")], "P 2")


def measure_skip(report, _):
    """Names of the files that may have rows of a hundredth of the table. DuckDB's extension has no such list for columns of data."""
    for threads in THREADS:
        for kind, name, by, columns, target in (
                ("json", "JSON statistics, sorted, by data", BY_DATA, JSON_COLUMNS, "P 3, L 1.5"),
                ("json_hash", "JSON statistics, hash order, by data", BY_DATA, JSON_COLUMNS, "P 3, L 1.5"),
                ("json_hash", "JSON statistics, hash order, by partition", BY_PARTITION, PARTITION_COLUMNS, "P 3, L 1.5"),
                ("parsed", "stats_parsed, sorted, by data", BY_DATA, PARSED_COLUMNS, "P 3"),
                ("parsed_hash", "stats_parsed, hash order, by data", BY_DATA, PARSED_COLUMNS, "P 3"),
                ("peer", "JSON statistics, uncompressed, one row group, by data", BY_DATA, JSON_COLUMNS, "P 3, L 1.5")):
            folder = table(kind)
            names = ("delta-rs", "duckdb") if by is BY_PARTITION else ("delta-rs",)
            contend(report, f"skip 99 % of {FILES} files: {name}", threads, [
                silt(folder, threads, "silt", ["plan_us"], "--where", by[3]),
                *kernel(folder, threads, "kernel-rs skip", "skip", *by[:3]),
                *kernel(folder, threads, "kernel-rs bareskip", "bareskip", *by[:3]),
                *python_peers(threads, "--files", folder, "--where", by[3], names=names),
                checkpoint_limit(folder, threads, columns)], target)


def link_log(folder, target):
    os.makedirs(os.path.join(target, "_delta_log"))
    for name in os.listdir(os.path.join(folder, "_delta_log")):
        os.link(os.path.join(folder, "_delta_log", name), os.path.join(target, "_delta_log", name))


def prepare_commits(folder, first, n):
    """Commits of 100 adds, each with removes of what the one before it added: the table does not grow (as bench_log --steady)."""
    os.makedirs(folder)
    def path(version, i):
        return f"day=2026-01-05/part-{i:05}-new-{version}-0f3a7c52-9b1e-4d77-8c31.c000.snappy.parquet"
    for version in range(first, first + n):
        lines = [{"add": {"path": path(version, i), "partitionValues": {"day": "2026-01-05"}, "size": 1000 + i,
                          "modificationTime": 1767225600000, "dataChange": True}} for i in range(ADDS)]
        if version > first:
            lines += [{"remove": {"path": path(version - 1, i), "deletionTimestamp": 5, "dataChange": True}} for i in range(ADDS)]
        with open(os.path.join(folder, f"{version:020}.json"), "w", encoding="utf-8") as out:
            out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def silt_refreshes(folder, scratch, threads):
    process, text = run_timed([tool("bench_log"), "--threads", str(threads), "--refresh", str(REFRESHES), "--steady", "1", "--scratch",
                               scratch, folder], threads)
    line = json.loads(text)
    measured = contest.Measured("silt", "silt")
    measured.take_process(process)
    measured.take({"open_us": 0, "times_us": line["times_us"], "cpu_us": line["cpu_us"], "rows": [[str(line["n_files"])]]}, 1)
    return measured, line["bytes_after_all"] - line["bytes_after_1"]


def measure_refresh(report, _):
    """A resident table gets one new commit, and the new list of files is asked for. Links need the data's file system."""
    plain = table("plain")
    case = f"refresh: one new commit on {FILES} files"
    for threads in THREADS:
        with tempfile.TemporaryDirectory(prefix="refresh-", dir=FOLDER) as scratch:
            places = {}
            for who in ("silt", "list", "delta-rs", "duckdb"):
                places[who] = (os.path.join(scratch, who), os.path.join(scratch, f"{who}-commits"))
                if who != "silt":
                    link_log(plain, places[who][0])
                    prepare_commits(places[who][1], 11, 3 * PEER_REFRESHES)
            measured, grown = silt_refreshes(plain, places["silt"][0], threads)
            found = [measured, *inside([
                *kernel(places["list"][0], threads, "kernel-rs", "refresh", places["list"][1]),
                *[one for who in ("delta-rs", "duckdb") for one in python_peers(threads, "--refresh", *places[who], names=(who,))]],
                threads, PEER_REFRESHES)]
            report.compare(case, found)
            report.add(case, threads, found, "1 ms, P 100")
            report.fact(case, f"growth by {REFRESHES - 1} refreshes", grown, "bytes", "0")


AREAS = {"log-open": measure_open, "log-list": measure_list, "log-skip": measure_skip, "log-refresh": measure_refresh}
