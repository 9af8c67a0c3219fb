"""Durable commits of one row each, by one writer and by several processes at once on one table, against a limit that is probed in the
same rounds: a data file and a commit of the same sizes, both written, synced and linked, and their folders synced.

The time of a contestant is what a commit takes: from the first writer's beginning to the last one's end, divided by the number of
commits that were made. Starting and the first commit of each writer are outside. delta-rs and DuckDB's extension sync nothing.
"""
import glob
import json
import os
import shutil
import subprocess
import tempfile

import area_checkpoint
import contest
from area_log import FILES, table
from contest import Failed, tool
from ways import SILT, peer

COMMITS = int(os.environ.get("SILT_BENCH_COMMITS", "200"))  # of each contestant and round, by all writers together
ROUNDS = 5
WRITERS = {1: "L 1.25, P 10", 4: None, 8: "L 1.67"}


def create(place):
    subprocess.run([SILT, "sql", f"CREATE TABLE delta.`{place}` (id BIGINT, name STRING)"], check=True, stdout=subprocess.DEVNULL)


def write_together(command, writers):
    """What each of the writers says. All of them wait for each other after their first commit."""
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for _ in range(writers)]
    ready = [one.stdout.readline() == "ready\n" for one in running]
    for one in running:
        if all(ready):
            one.stdin.write("go\n")
            one.stdin.flush()
        else:
            one.kill()
    ended = [one.communicate() for one in running]
    if not all(ready) or any(one.returncode for one in running):
        raise Failed(f"{command[0]}: {' '.join(err for _, err in ended).strip()[-2000:]}")
    return [json.loads(out) for out, _ in ended]


def count_rows(place):
    """By silt and, so that it does not vouch for itself, by DuckDB's extension."""
    done = subprocess.run([SILT, "sql", "--format", "json", f"SELECT count(*) AS n FROM delta.`{place}`"], check=True,
                          capture_output=True, text=True)
    other = subprocess.run(peer("duckdb", "--tables", json.dumps({"t": place}), "--text", "SELECT count(*) AS n FROM {t}"), check=True,
                           capture_output=True, text=True)
    return {int("".join(c for c in done.stdout if c.isdigit())), int(json.loads(other.stdout)["rows"][0][0])}


def sizes(place):
    """Of a data file and of a commit, as the limit is to write them."""
    def largest(pattern):
        return max(os.path.getsize(path) for path in glob.glob(os.path.join(place, pattern)))
    return ["--data", str(largest("part-*.parquet")), "--log", str(largest("_delta_log/*0[1-9].json"))]


def contestants(place, writers, size):
    each = str(max(1, COMMITS // writers))
    append = [tool("bench_append"), "--commits", each]
    return [("silt", "silt", [*append, place]),
            ("delta-rs, no sync", "peer", peer("delta-rs", "--append", place, each)),
            ("duckdb, no sync", "peer", peer("duckdb", "--append", place, each)),
            ("files and links, synced", "limit", [*append, "--limit", *size, place]),
            ("synced one by one", "info", [*append, "--limit", "--serial", *size, place])]


def take_turn(report, case, measured, command, place, writers):
    """One round of one contestant; returns how many commits were refused."""
    is_table = measured.role in ("silt", "peer")
    if is_table:
        create(place)
    else:
        os.makedirs(os.path.join(place, "_delta_log"))
    said = write_together(command, writers)
    done, refused = (sum(one[what] for one in said) for what in ("commits", "refused"))
    span = max(one["end_us"] for one in said) - min(one["begin_us"] for one in said)
    measured.times.append(span / max(1, done))
    measured.cpu.append(sum(one["cpu_us"] for one in said) / max(1, done))
    expected = done + sum(one.get("first", 1) for one in said)
    if is_table and count_rows(place) != {expected}:
        report.faults.append(f"{case}: {measured.who} committed {expected} rows, but {count_rows(place)} are there")
    if measured.role == "silt" and refused:
        report.faults.append(f"{case}: {refused} commits of silt were refused")
    return refused


def measure_rate(report, scratch, writers, target):
    case = f"commits: one row, {writers} writer{'s' if writers > 1 else ''}"
    size = None
    found, refused = [], {}
    for number in range(ROUNDS):
        for at, (who, role, _) in enumerate(contestants("", writers, [])):
            place = os.path.join(scratch, f"commits-{writers}-{number}-{at}")
            if number == 0:
                found.append(contest.Measured(who, role))
            command = contestants(place, writers, size or [])[at][2]
            refused[who] = refused.get(who, 0) + take_turn(report, case, found[at], command, place, writers)
            size = size or sizes(place)
    report.add(case, writers, found, target)
    for measured in found:
        report.fact(case, f"{measured.who}: commits a second", 1e6 / min(measured.times), "", "none")
    for who in refused:
        if refused[who]:
            report.fact(case, f"{who}: refused", refused[who], f"of {ROUNDS * COMMITS}", "none for silt")


# ---- what a commit reads ----

def bytes_read(command):
    """Of the log and of checkpoints, by all read calls of the command; None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8", errors="replace") as out:
        subprocess.run(["strace", "-f", "-y", "-o", out.name, "-e", "trace=read,pread64", *command], input="go\n", check=True,
                       stdout=subprocess.DEVNULL, text=True)
        lines = [line for line in out if "_delta_log/" in line and " = " in line]
    counts = [(".checkpoint." in line, int(line.rsplit(" = ", 1)[1].split()[0])) for line in lines]
    return {"log": sum(n for is_checkpoint, n in counts if not is_checkpoint),
            "checkpoints": sum(n for is_checkpoint, n in counts if is_checkpoint)}


def measure_tail(report, scratch):
    """A commit on a table of a million files and on one with a checkpoint of ten: its time, and what it reads more than the first."""
    small, source = os.path.join(scratch, "tail"), table("json")
    create(small)
    write_together([tool("bench_append"), "--commits", "11", small], 1)
    with tempfile.TemporaryDirectory(prefix="commits-", dir=os.path.dirname(source)) as folder:
        large = os.path.join(folder, "large")
        area_checkpoint.prepare(source, large, {"delta.checkpointInterval": "1000000"}, None)
        found = []
        for who, role, place, values in (("silt, small table", "limit", small, "(1, 'a')"),
                                         (f"silt, {FILES} files", "silt", large, "(1, 'a', 1.0, DATE '2026-01-05')")):
            append = [tool("bench_append"), "--values", values, "--commits"]
            one = contest.Measured(who, role)
            for _ in range(3):
                said = write_together([*append, "5", place], 1)[0]
                one.times.append((said["end_us"] - said["begin_us"]) / said["commits"])
                one.cpu.append(said["cpu_us"] / said["commits"])
            found.insert(0, one)
            few, more = bytes_read([*append, "1", place]), bytes_read([*append, "5", place])
            for what in few or ():
                report.fact("commits: what one reads", f"{who}: {what}", (more[what] - few[what]) / 4, "bytes", "of checkpoints 0")
        report.add("commits: one row, one writer, many files", 1, found, "as a small table")


def measure(report, scratch):
    for writers, target in WRITERS.items():
        measure_rate(report, scratch, writers, target)
    measure_tail(report, scratch)


AREAS = {"commits": measure}
