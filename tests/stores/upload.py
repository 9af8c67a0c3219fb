#!/usr/bin/env python3
"""Large writes to a store by the program: files go up while they are written, so that little lies on the local disk and in memory; and what
is broken off leaves nothing behind. Standard library only.

    tests/stores/upload.py [--store-option K=V]... [--server-folder DIR] [--small] URI          a folder, e.g. s3://bucket/x

--server-folder: where the server keeps what it has, which must not have grown by anything that was broken off. --small: a quarter of the rows, for slow servers. SILT names the program (default:
build/release/bin/silt). Prints a line for each case; the last is "N passed, N failed".
"""
import argparse
import contextlib
import csv
import io
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.join(HERE, "..", "..", "build", "release", "bin", "silt")
INTERRUPTIONS = 3  # tries
PATIENCE = 600  # seconds for one process: machines are busy now and then
MEGA = 1 << 20
ROWS, ROW_BYTES = 2_400_000, 128  # of text that is not compressed, four digests a row
DISK_LIMIT = 180 * MEGA  # what may wait (64 MiB), two files' tails, and what is written until the rows wait
MEMORY_LIMIT = 400 * MEGA  # the engine's own buffers of rows among it
TEXTS = " || ".join(f"md5((i * 4 + {n})::VARCHAR)" for n in range(4))


class Wrong(Exception):
    """A case did not do what it must."""


def disk_use(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
    return total


def peak_memory(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


class Watched:
    """A run of the program in a folder of temporary files of its own, measured from outside."""

    def __init__(self, place, text):
        self.scratch = tempfile.mkdtemp(prefix="silt-upload-")
        options = [word for option in place.options for word in ("--store-option", option)]
        self.process = subprocess.Popen(
            [SILT, "sql", text, "--warehouse", place.uri, "-o", "csv", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": self.scratch, "SILT_CACHE_DIR": os.path.join(place.cache, "cache")},
        )
        self.disk = self.memory = 0
        self.sent = threading.Event()  # something was given back to the disk, or a second has passed
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def watch(self):
        while self.process.poll() is None:
            self.disk = max(self.disk, disk_use(self.scratch))
            self.memory = max(self.memory, peak_memory(self.process.pid))
            if self.disk > 24 * MEGA:
                self.sent.set()
            time.sleep(0.005)

    def end(self):
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
            self.watcher.join()
        left = os.listdir(self.scratch)
        shutil.rmtree(self.scratch, ignore_errors=True)
        return self.process.returncode, out, err, left


class Place:
    def __init__(self, arguments):
        self.uri = f"{arguments.uri}/upload-{secrets.token_hex(4)}"
        self.options, self.server_folder, self.small = arguments.options, arguments.server_folder, arguments.small
        self.rows = ROWS // 4 if arguments.small else ROWS
        self.cache = tempfile.mkdtemp(prefix="silt-upload-cache-")

    def run(self, text):
        code, out, err, left = Watched(self, text).end()
        if code != 0 or left:
            raise Wrong(f"{text:.80}: ended with {code}, left {left}: {err.strip():.600}")
        return list(csv.DictReader(io.StringIO(out)))

    def left_over(self, before):
        """Bytes that the server has more than before, when it had time to notice that a part will not come whole."""
        end = time.monotonic() + 15
        while self.kept() != before and time.monotonic() < end:
            time.sleep(0.2)
        return self.kept() - before

    def kept(self):
        """Bytes that the server keeps, but for the small ones of logs and folders."""
        total = 0
        for path, _, names in os.walk(self.server_folder) if self.server_folder else ():
            for name in names:
                with contextlib.suppress(OSError):
                    size = os.lstat(os.path.join(path, name)).st_size
                    total += size if size > 65536 else 0
        return total


def rows_of(table, place):
    return place.run(f"SELECT count(*) AS n, count(DISTINCT i) AS d, min(length(s)) AS l FROM {table}")[0]


def large_insert(place):
    place.run("CREATE TABLE large (i BIGINT, s STRING) USING delta TBLPROPERTIES ('delta.targetFileSize' = '400mb', 'delta.parquet.compression.codec' = 'uncompressed')")
    run = Watched(place, f"INSERT INTO large SELECT i, {TEXTS} FROM range({place.rows}) t(i)")
    code, _, err, left = run.end()
    if code != 0 or left:
        raise Wrong(f"it ended with {code} and left {left}: {err.strip():.600}")
    found = rows_of("large", place)
    if found != {"n": str(place.rows), "d": str(place.rows), "l": str(ROW_BYTES)}:
        raise Wrong(f"other rows came back: {found}")
    detail = place.run("DESCRIBE DETAIL large")[0]
    size = int(detail["sizeInBytes"])
    if size < place.rows * ROW_BYTES:
        raise Wrong(f"the test's rows take {size} bytes only")
    note = f"{size // MEGA} MiB in {detail['numFiles']} files, {run.disk // MEGA} MiB of disk, {run.memory // MEGA} MiB of memory"
    if run.disk > DISK_LIMIT or (run.disk > size * 3 // 4 and not place.small):
        raise Wrong(f"too much lay on the local disk: {note}")
    if run.memory > MEMORY_LIMIT:
        raise Wrong(f"it took too much memory: {note}")
    return note


def partitions(place):
    place.run("CREATE TABLE parts (i BIGINT, s STRING, p STRING) USING delta PARTITIONED BY (p) "
              "TBLPROPERTIES ('delta.parquet.compression.codec' = 'uncompressed')")
    place.run(f"INSERT INTO parts SELECT i, {TEXTS}, CASE i % 3 WHEN 0 THEN 'a b/c' WHEN 1 THEN NULL ELSE 'ü=%' END FROM range(300000) t(i)")
    found = place.run("SELECT p, count(*) AS n, count(DISTINCT s) AS d FROM parts GROUP BY p ORDER BY p")
    if sorted((row["p"], row["n"], row["d"]) for row in found) != sorted((p, "100000", "100000") for p in ("", "a b/c", "ü=%")):
        raise Wrong(f"other rows came back: {found}")
    return ""


def failing_statement(place):
    """The last row cannot be written, when most of the file is with the store."""
    place.run("CREATE TABLE failing (i BIGINT, s STRING) USING delta TBLPROPERTIES ('delta.parquet.compression.codec' = 'uncompressed')")
    before = place.kept()
    text = f"INSERT INTO failing SELECT i, CASE WHEN i = 599999 THEN error('on purpose') ELSE {TEXTS} END FROM range(600000) t(i)"
    code, _, err, left = Watched(place, text).end()
    if code != 1 or "on purpose" not in err or left:
        raise Wrong(f"it ended with {code}, left {left}: {err.strip():.600}")
    if rows_of("failing", place)["n"] != "0":
        raise Wrong("rows of a failed statement are there")
    more = place.left_over(before)
    if more != 0:
        raise Wrong(f"the server keeps {more} bytes more than before")
    return ""


def interrupted(place):
    """
    versitygw keeps, now and then, a part that came whole just when its upload was called off, in its folder of parts; what silt forgets to call off
    would be there every time.
    """
    place.run("CREATE TABLE broken (i BIGINT, s STRING) USING delta TBLPROPERTIES ('delta.parquet.compression.codec' = 'uncompressed')")
    kept = []
    while len(kept) < INTERRUPTIONS and 0 not in kept:
        took, more = interrupt(place)
        kept.append(more)
    if 0 not in kept:
        raise Wrong(f"the server keeps {kept} bytes more than before")
    return f"after {took:.1f} s, try {len(kept)}"


def interrupt(place):
    """Seconds until it ended, and the bytes that the server keeps of it."""
    before = place.kept()
    run = Watched(place, f"INSERT INTO broken SELECT i, {TEXTS} FROM range(20000000) t(i)")
    run.sent.wait(PATIENCE)
    time.sleep(0.5)
    run.process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    code, _, err, left = run.end()
    took = time.monotonic() - asked
    if code not in (130, -signal.SIGINT) or left or took > 30:
        raise Wrong(f"it ended with {code} after {took:.1f} s, left {left}: {err.strip():.600}")
    if rows_of("broken", place)["n"] != "0":
        raise Wrong("rows of an interrupted statement are there")
    return took, place.left_over(before)


CASES = [large_insert, partitions, failing_statement, interrupted]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store-option", action="append", default=[], dest="options")
    parser.add_argument("--server-folder")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("uri")
    arguments = parser.parse_args()
    place = Place(arguments)
    passed = failed = 0
    for case in CASES:
        try:
            note = case(place)
            print(f"ok - {case.__name__}{': ' + note if note else ''}", flush=True)
            passed += 1
        except (Wrong, subprocess.TimeoutExpired) as error:
            print(f"not ok - {case.__name__}: {error}", flush=True)
            failed += 1
    shutil.rmtree(place.cache, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
