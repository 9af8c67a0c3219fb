"""Blind appends of silt beside Spark and delta-rs on one table: every one succeeds and nothing is lost.

Spark's store for local files looks whether the commit is there and then renames over it, so that another process can
slip in between (Delta Spark promises exclusion on local files within one process only). The watch on the log tells that
case apart from a fault of silt's: a name that is moved into place after it was there already. The round is then repeated.
"""
import ctypes
import os
import struct
import threading

import deltalake
import pyarrow as pa

import silt_program
from harness import same
from values import arrow_table, canonical_rows

COLUMNS = [("id", pa.int64()), ("who", pa.string())]
IN_CREATE, IN_MOVED_TO = 0x100, 0x80
ROUNDS = 3


class LogWatch:
    """Which names appeared in a folder, and how, from its making until close()."""

    def __init__(self, folder):
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK)
        if self._fd < 0 or self._libc.inotify_add_watch(self._fd, folder.encode(), IN_CREATE | IN_MOVED_TO) < 0:
            raise OSError(ctypes.get_errno(), "inotify", folder)

    def replaced(self):
        """Names that were moved into place where the same name had appeared before."""
        seen, replaced = set(), set()
        for mask, name in self._events():
            if mask & IN_MOVED_TO and name in seen:
                replaced.add(name)
            seen.add(name)
        return {name for name in replaced if name.endswith(".json") and name[:20].isdigit()}

    def _events(self):
        while True:
            try:
                data = os.read(self._fd, 1 << 20)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                _, mask, _, length = struct.unpack_from("iIII", data, at)
                yield mask, data[at + 16:at + 16 + length].rstrip(b"\0").decode()
                at += 16 + length

    def close(self):
        os.close(self._fd)


def row(who, number):
    return [(number, who)]


def writers(run, path, round_number):
    """(name, appends) of each writer; an append is a function without arguments."""
    def silt(name, numbers):
        return name, [lambda n=n: silt_program.insert(path, COLUMNS, row(name, n)) for n in numbers]

    first = round_number * 1000
    return [silt("silt-a", range(first, first + 8)), silt("silt-b", range(first, first + 8)),
            ("delta-rs", [lambda n=n: deltalake.write_deltalake(path, arrow_table(COLUMNS, row("delta-rs", n)),
                                                                mode="append") for n in range(first, first + 8)]),
            ("spark", [lambda n=n: run.spark.append_parquet(
                path, run.source(f"row{n}", COLUMNS, row("spark", n))) for n in range(first, first + 4)])]


def race(everyone):
    """Runs the writers side by side; returns what failed."""
    failures = []
    start = threading.Barrier(len(everyone))

    def work(name, appends):
        start.wait()
        for append in appends:
            try:
                append()
            except Exception as error:  # reported by the caller
                failures.append(f"{name}: {str(error).strip()[:300]}")

    threads = [threading.Thread(target=work, args=writer) for writer in everyone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def one_round(run, path, number):
    """Rows that must be there after it, or None when Spark's store overwrote another's commit."""
    watch = LogWatch(os.path.join(path, "_delta_log"))
    try:
        everyone = writers(run, path, number)
        failures = race(everyone)
        if watch.replaced():
            return None
        same([], failures)
        return [(number * 1000 + i, name) for name, appends in everyone for i in range(len(appends))]
    finally:
        watch.close()


def blind_appends(run, partitions):
    for attempt in range(ROUNDS):
        path = run.path(f"appends{'-partitioned' if partitions else ''}{attempt}")
        silt_program.create(path, COLUMNS, partitions)
        rows = one_round(run, path, attempt)
        if rows is not None:
            run.check_rows("nothing is lost", path, COLUMNS, rows)
            run.case("silt", "one commit an append", lambda: same(
                len(rows), deltalake.DeltaTable(path).version()))
            return
        print("note: Spark replaced another writer's commit; the round is repeated")
    raise RuntimeError(f"Spark replaced commits in {ROUNDS} rounds")


def stale_readers(run):
    """silt keeps reading while others append: each read is some prefix of the commits."""
    path = run.path("reads")
    silt_program.create(path, COLUMNS)
    done = threading.Event()
    seen, failures = [], []

    def read():
        while not done.is_set():
            try:
                seen.append(len(run.silt.rows(path, COLUMNS)))
            except Exception as error:  # reported below
                failures.append(str(error)[:300])
                return

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(8):
        deltalake.write_deltalake(path, arrow_table(COLUMNS, row("delta-rs", n)), mode="append")
    done.set()
    reader.join()
    same([], failures)
    same(sorted(seen), seen)
    same(canonical_rows(COLUMNS, [(n, "delta-rs") for n in range(8)]), run.silt.rows(path, COLUMNS))


def check(run):
    run.case("silt", "blind appends", blind_appends, run, [])
    run.case("silt", "blind appends, partitioned", blind_appends, run, ["who"])
    run.case("silt", "reads beside appends", stale_readers, run)
