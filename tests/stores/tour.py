#!/usr/bin/env python3
"""A tour of a table on a store, by the program: create, append, query, time travel, overwrite, replace where, checkpoint, clean-up, history,
check, drop; then four processes that append while others read. Standard library only.

    tests/stores/tour.py [--store-option K=V]... URI          a folder, e.g. /tmp/x, file:///tmp/x, s3://bucket/x

SILT names the program (default: build/release/bin/silt). Prints a line for each step; the last is "N passed, N failed".
"""
import argparse
import csv
import io
import os
import secrets
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.join(HERE, "..", "..", "build", "release", "bin", "silt")
PATIENCE = 300  # seconds for one process: machines are busy now and then
APPENDERS, APPENDS, ROWS = 4, 12, 10  # processes, commits of each, rows of a commit


class Wrong(Exception):
    """A step did not do what it must."""


class Program:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options

    def arguments(self, *args):
        options = [text for option in self.options for text in ("--store-option", option)]
        return [SILT, *args, *options]

    def run(self, *args):
        done = subprocess.run(self.arguments(*args), capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode != 0:
            said = (done.stderr + done.stdout).strip().replace("\n", " | ")
            raise Wrong(f"silt {args[0]} ended with {done.returncode}: {said:.900}")
        return done.stdout

    def rows(self, *args):
        return list(csv.DictReader(io.StringIO(self.run(*args, "-o", "csv"))))

    def sql(self, text):
        """In the warehouse that the folder is. Rows of the last statement with a result."""
        return self.rows("sql", text, "--warehouse", self.folder)

    def path(self, table):
        return f"{self.folder}/{table}"

    def counts(self, source):
        row = self.sql(f"SELECT count(*) AS n, coalesce(sum(id), 0) AS s FROM {source}")[0]
        return int(row["n"]), int(row["s"])


def same(expected, found, what):
    if expected != found:
        raise Wrong(f"{what}: expected {expected!r:.200}, found {found!r:.200}")


# ---- one after the other ----


def create(silt):
    silt.sql("CREATE TABLE tour (id BIGINT, day DATE, word STRING) USING delta PARTITIONED BY (day) "
             "TBLPROPERTIES ('delta.checkpointInterval' = '5')")
    same((0, 0), silt.counts("tour"), "a new table")


def append(silt):
    silt.sql("INSERT INTO tour VALUES (1, DATE '2024-01-01', 'a b'), (2, DATE '2024-01-02', 'c%20d')")
    silt.sql("INSERT INTO tour SELECT i, DATE '2024-02-01' + CAST(i % 3 AS INTEGER), 'w' || i FROM range(10, 1010) t(i)")
    same((1002, sum(range(10, 1010)) + 3), silt.counts("tour"), "rows after two appends")


def query(silt):
    rows = silt.sql("SELECT word FROM tour WHERE day = DATE '2024-01-02'")
    same([{"word": "c%20d"}], rows, "one partition")
    rows = silt.sql("SELECT count(*) AS n FROM tour WHERE id BETWEEN 100 AND 199 AND day < DATE '2024-02-02'")
    same([{"n": "33"}], rows, "a condition on values")
    same((1002, sum(range(10, 1010)) + 3), silt.counts(f"delta.`{silt.path('tour')}`"), "the table by its URI")
    same(1002, len(silt.rows("read", silt.path("tour"))), "silt read")


def time_travel(silt):
    same((0, 0), silt.counts("tour VERSION AS OF 0"), "version 0")
    same((2, 3), silt.counts("tour VERSION AS OF 1"), "version 1")


def hard_partitions(silt):
    silt.sql("CREATE TABLE hard (id BIGINT, p STRING) PARTITIONED BY (p)")
    values = ["a b", "100%", "x=1/y", "a:b", "ü", "q?w&e#r", "+", "%2F"]
    silt.sql("INSERT INTO hard VALUES " + ", ".join(f"({i}, '{value}')" for i, value in enumerate(values)) + ", (99, NULL)")
    for i, value in enumerate(values):
        same([{"id": str(i)}], silt.sql(f"SELECT id FROM hard WHERE p = '{value}'"), f"partition {value}")
    same([{"id": "99"}], silt.sql("SELECT id FROM hard WHERE p IS NULL"), "partition of NULL")


def overwrite(silt):
    silt.sql("INSERT OVERWRITE tour SELECT i, DATE '2024-03-01' + CAST(i AS INTEGER), 'x' FROM range(10) t(i)")
    same((10, 45), silt.counts("tour"), "an overwritten table")
    same((1002, sum(range(10, 1010)) + 3), silt.counts("tour VERSION AS OF 2"), "what it was before")


def replace_where(silt):
    silt.sql("INSERT INTO tour REPLACE WHERE day >= DATE '2024-03-06' SELECT 100, DATE '2024-03-08', 'y'")
    same((6, 110), silt.counts("tour"), "rows after REPLACE WHERE")
    silt.sql("INSERT INTO tour REPLACE WHERE id < 2 SELECT 1, DATE '2024-03-02', 'z'")
    same((5, 110), silt.counts("tour"), "rows after REPLACE WHERE on values")


def checkpoint(silt):
    for i in range(5):
        silt.sql(f"INSERT INTO tour VALUES ({1000 + i}, DATE '2024-04-01', 'k')")
    silt.run("checkpoint", silt.path("tour"))
    silt.sql("INSERT INTO tour VALUES (2000, DATE '2024-04-02', 'k')")
    same((11, 110 + sum(range(1000, 1005)) + 2000), silt.counts("tour"), "rows after a checkpoint")


def history(silt):
    rows = silt.rows("history", silt.path("tour"))
    same([str(v) for v in range(len(rows) - 1, -1, -1)], [row["version"] for row in rows], "versions")
    same("CREATE TABLE", rows[-1]["operation"], "the first operation")
    files = silt.rows("files", silt.path("tour"))
    same(str(len(files)), silt.rows("detail", silt.path("tour"))[0]["numFiles"], "files of the newest version")


def clean_up(silt):
    """Nothing is old enough to go, and everything can still be read."""
    silt.run("clean-log", silt.path("tour"))
    same((2, 3), silt.counts("tour VERSION AS OF 1"), "version 1 after the clean-up")


def fsck(silt):
    silt.run("fsck", silt.path("tour"))
    silt.run("fsck", silt.path("hard"))


def drop(silt):
    silt.sql("DROP TABLE tour; DROP TABLE hard")
    done = subprocess.run(silt.arguments("history", silt.path("tour")), capture_output=True, text=True, timeout=PATIENCE, check=False)
    same(4, done.returncode, f"opening a table that was dropped ({done.stderr.strip():.200})")


# ---- at the same time ----


class Watch(threading.Thread):
    """Reads while others write: appends are seen whole, and none that was seen is lost later."""

    def __init__(self, silt):
        super().__init__()
        self.silt, self.problem, self.looks, self.over = silt, None, 0, threading.Event()

    def run(self):
        seen, last = {}, False
        while not last and self.problem is None:
            last = self.over.is_set()
            try:
                rows = self.silt.sql("SELECT writer, round, count(*) AS n FROM shared GROUP BY writer, round")
            except (Wrong, subprocess.TimeoutExpired) as error:
                self.problem = str(error)
                return
            found = {(row["writer"], row["round"]): int(row["n"]) for row in rows}
            broken = [key for key, n in found.items() if n != ROWS]
            lost = [key for key in seen if key not in found]
            if broken or lost:
                self.problem = f"appends seen in parts {broken}, lost again {lost}"
            seen = found
            self.looks += 1


def together(silt):
    silt.sql("CREATE TABLE shared (writer BIGINT, round BIGINT, id BIGINT) TBLPROPERTIES ('delta.checkpointInterval' = '10')")
    watch = Watch(silt)
    watch.start()
    writers = []
    for w in range(APPENDERS):
        text = "; ".join(
            f"INSERT INTO shared SELECT {w}, {r}, i FROM range({ROWS}) t(i)" for r in range(APPENDS)
        )
        command = silt.arguments("sql", text, "--warehouse", silt.folder)
        writers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    problems = []
    for writer in writers:
        error = writer.communicate(timeout=PATIENCE)[1]
        if writer.returncode != 0:
            problems.append(f"a writer ended with {writer.returncode}: {error.strip():.300}")
    watch.over.set()
    watch.join()
    same([], problems + ([watch.problem] if watch.problem else []), "four writers and a reader")
    rows = silt.sql("SELECT writer, round, count(*) AS n, count(DISTINCT id) AS d FROM shared GROUP BY writer, round")
    same(APPENDERS * APPENDS, len(rows), "appends that are there")
    same([], [row for row in rows if (row["n"], row["d"]) != (str(ROWS), str(ROWS))], "appends that are not whole")
    versions = [row["version"] for row in silt.rows("history", silt.path("shared"))]
    same([str(v) for v in range(APPENDERS * APPENDS, -1, -1)], versions, "versions")
    silt.run("fsck", silt.path("shared"))
    silt.sql("DROP TABLE shared")
    return f"{APPENDERS * APPENDS} commits, {watch.looks} looks"


STEPS = [create, append, query, time_travel, hard_partitions, overwrite, replace_where, checkpoint, history, clean_up, fsck, drop,
         together]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store-option", action="append", default=[])
    parser.add_argument("uri")
    args = parser.parse_args()
    silt = Program(f"{args.uri.rstrip('/')}/tour-{secrets.token_hex(6)}", args.store_option)
    passed = failed = 0
    for step in STEPS:
        started = time.monotonic()
        try:
            note = step(silt)
            passed += 1
            print(f"ok - {step.__name__} ({time.monotonic() - started:.1f} s{', ' + note if note else ''})", flush=True)
        except (Wrong, subprocess.TimeoutExpired, KeyError, ValueError, IndexError) as error:
            failed += 1
            print(f"not ok - {step.__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
