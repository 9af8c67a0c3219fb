#!/usr/bin/env python3
"""Writers to a table on S3 (versitygw) that are killed at random moments, are stopped for a while, or race: the table can be read after each, no row that
was acknowledged is lost, none is there twice, the next write succeeds, and in the end silt fsck finds no fault. Standard library only.

    tests/stores/killed.py [--kills N] [--seed N]

SILT names the program. Prints a line for each case; the last is "N passed, N failed".
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import servers

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.join(HERE, "..", "..", "build", "release", "bin", "silt")
PATIENCE = 600
TEXTS = " || ".join(f"md5((i * 4 + {n})::VARCHAR)" for n in range(4))


class Wrong(Exception):
    """A case did not do what it must."""


class Table:
    def __init__(self, server, scratch, name):
        self.scratch = scratch
        self.uri = f"{server.uri}/{name}"
        self.words = [word for option, value in server.options.items() for word in ("--store-option", f"{option}={value}")]
        self.next_id = 0
        self.acknowledged = set()
        self.asked = set()
        self.good("CREATE TABLE @ (id BIGINT, s STRING) USING delta TBLPROPERTIES ('delta.parquet.compression.codec' = 'uncompressed', "
                  "'delta.checkpointInterval' = '10')")

    def spawn(self, text):
        return subprocess.Popen([SILT, "sql", text.replace("@", f"delta.`{self.uri}`"), "-o", "jsonl", *self.words], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "TMPDIR": self.scratch, "SILT_CACHE_DIR": os.path.join(self.scratch, "cache")})

    def good(self, text):
        with self.spawn(text) as process:
            out, err = process.communicate(timeout=PATIENCE)
        if process.returncode != 0:
            raise Wrong(f"{text:.80} ended with {process.returncode}: {err.strip():.400}")
        return [json.loads(line) for line in out.splitlines()]

    def statements(self, n, large):
        """So many inserts of a row each, the last of many large ones if that is wanted; the rows' ids by statement."""
        texts, ids = [], []
        for at in range(n):
            self.next_id += 1
            rows = 200_000 if large and at == n - 1 else 1
            first = self.next_id * 1_000_000
            texts.append(f"INSERT INTO @ SELECT {first} + i, {TEXTS} FROM range({rows}) t(i)")
            ids.append((first, rows))
        self.asked.update(ids)
        return "; ".join(texts), ids

    def note(self, out, ids):
        for line, one in zip(out.splitlines(), ids):
            if line.endswith("}") and json.loads(line)["num_inserted_rows"] == one[1]:
                self.acknowledged.add(one)

    def check(self):
        found = {(row["first"], row["n"]): row["d"] for row in
                 self.good("SELECT (id // 1000000) * 1000000 AS first, count(*) AS n, count(DISTINCT id) AS d FROM @ GROUP BY ALL")}
        lost = self.acknowledged - set(found)
        if lost:
            raise Wrong(f"acknowledged and lost: {sorted(lost)[:5]}")
        if set(found) - self.asked or any(one[1] != distinct for one, distinct in found.items()):
            raise Wrong(f"rows that nobody wrote, or twice: {sorted(set(found) - self.asked)[:5]}")
        return len(found)

    def close(self):
        self.check()
        text, ids = self.statements(1, False)
        self.good(text)
        self.acknowledged.update(ids)
        self.check()
        done = subprocess.run([SILT, "fsck", self.uri, "-o", "jsonl", *self.words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        if done.returncode != 0:
            raise Wrong(f"fsck ended with {done.returncode}: {done.stdout:.400} {done.stderr:.200}")


def kills(table, chance, n):
    """What a process says of each statement is read up to its end, so that what was acknowledged is known."""
    killed = number = 0
    longest = 0.5  # of waiting before a kill; what a process takes depends on the machine
    while killed < n and number < 20 * n:
        number += 1
        text, ids = table.statements(4, number % 4 == 0)
        process = table.spawn(text)
        try:
            out, _ = process.communicate(timeout=chance.uniform(0.02, longest))
            longest = max(0.1, longest * 0.8)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            killed += 1
            longest = min(10.0, longest * 1.2)
            out, _ = process.communicate()
        table.note(out, ids)
        if number % 10 == 0:
            table.check()
    table.close()
    if killed < n:
        raise Wrong(f"only {killed} were killed")
    return f"{killed} killed of {number}, {len(table.acknowledged)} statements acknowledged, {table.check()} there"


def stops(table, chance, n):
    """A writer is stopped in the middle, another one writes, the first goes on."""
    for _ in range(n):
        text, ids = table.statements(3, False)
        with table.spawn(text) as process:
            time.sleep(chance.uniform(0.05, 0.8))
            process.send_signal(signal.SIGSTOP)
            other, other_ids = table.statements(2, False)
            table.good(other)
            table.acknowledged.update(other_ids)
            process.send_signal(signal.SIGCONT)
            out, err = process.communicate(timeout=PATIENCE)
        table.note(out, ids)
        if process.returncode != 0:
            raise Wrong(f"a writer that had been stopped ended with {process.returncode}: {err.strip():.300}")
    table.close()
    return f"{n} times, {len(table.acknowledged)} statements"


def race(table, chance, n):  # pylint: disable=unused-argument
    writers = [table.statements(n, False) for _ in range(8)]
    problems = []

    def write(text, ids):
        with table.spawn(text) as process:
            out, err = process.communicate(timeout=PATIENCE)
        if process.returncode != 0 or len(out.splitlines()) != n:
            problems.append(err.strip()[:300])
        table.acknowledged.update(ids)

    threads = [threading.Thread(target=write, args=one) for one in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise Wrong(f"{len(problems)} writers failed: {problems[0]}")
    table.close()
    return f"8 writers, {len(table.acknowledged)} statements"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    passed = failed = 0
    with servers.Versitygw() as server, tempfile.TemporaryDirectory(prefix="silt-killed-") as scratch:
        for case, n in ((race, 6), (stops, 10), (kills, args.kills)):
            started = time.monotonic()
            try:
                note, good = case(Table(server, scratch, case.__name__), random.Random(args.seed), n), True
            except (Wrong, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
                note, good = f"{type(error).__name__}: {error}", False
            passed, failed = passed + good, failed + (not good)
            print(f"{'ok' if good else 'not ok'} - {case.__name__} ({time.monotonic() - started:.1f} s, {note})", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
