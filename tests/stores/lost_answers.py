#!/usr/bin/env python3
"""Lost answers: four processes append to a table on S3 while a proxy (lossy.py) loses their commits, before the effect or after it.

    tests/stores/lost_answers.py [--losses N] [--tables N] [--seed N]

Until N answers that said "created" were lost, and as many requests before they had an effect. Every append must succeed: it is then known
by reading back whose a version is. Afterwards each row is there once, each version has one owner, and the log as it lies on the server's
disk has what was acknowledged and nothing else.

Beside it, a store that refuses all reads once a commit was sent: only then is the outcome unknown (SILT_UNKNOWN, exit code 5), and the message
has what is needed to find out later. Prints a line for each step; the last is "N passed, N failed".
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys
import threading
import time

import servers
from lossy import COMMIT, Lossy

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.join(HERE, "..", "..", "build", "release", "bin", "silt")
PATIENCE = 900  # seconds for one process: machines are busy now and then
WRITERS, APPENDS = 4, 50  # processes of a round, commits of each
MAX_ROUNDS = 100
LIMIT_S = 45  # for a commit whose limit is 4 seconds, on a busy machine
BEFORE, AFTER = 0.35, 0.35  # of all PUTs of commit files


class Wrong(Exception):
    """A step did not do what it must."""


def same(expected, found, what):
    if expected != found:
        raise Wrong(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


def spawn(options, text, *more):
    flags = [word for name, value in options.items() for word in ("--store-option", f"{name}={value}")]
    return subprocess.Popen([SILT, "sql", text, "-o", "jsonl", *more, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def sql(options, text, *more):
    with spawn(options, text, *more) as process:
        out, error = process.communicate(timeout=PATIENCE)
    if process.returncode != 0:
        raise Wrong(f"silt ended with {process.returncode}: {error.strip():.600}")
    return [json.loads(line) for line in out.splitlines()]


class Commit:
    """A file of the log as it lies on the server's disk."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            actions = [json.loads(line) for line in file]
        self.txn_id = next(action["commitInfo"]["txnId"] for action in actions if "commitInfo" in action)
        self.adds = [action["add"]["path"] for action in actions if "add" in action]


def log_of(folder):
    names = sorted(name for name in glob.glob(os.path.join(glob.escape(folder), "_delta_log", "*")) if COMMIT.search(name))
    same([f"{version:020}.json" for version in range(len(names))], [os.path.basename(name) for name in names], "versions")
    return [Commit(name) for name in names]


class Place:
    """Where a table is: for clients, and on the server's disk."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.uri = f"{server.uri}/{name}"
        self.folder = os.path.join(server.folder, "root", servers.BUCKET, "folder", name)

    def options(self, proxy):
        return {**self.server.options, self.server.endpoint_option: proxy.url}

    def create(self):
        sql(self.server.options, f"CREATE TABLE delta.`{self.uri}` (id BIGINT, writer BIGINT) USING delta")


# ---- answers that are lost ----


def one_round(place, proxy, first_id):
    """Four processes, each with its own rows, a commit a row. All must succeed. Returns how many rows there are."""
    place.create()
    options = place.options(proxy)
    writers = []
    for writer in range(WRITERS):
        begin = first_id + writer * APPENDS
        text = "; ".join(f"INSERT INTO delta.`{place.uri}` VALUES ({number}, {writer})" for number in range(begin, begin + APPENDS))
        writers.append(spawn(options, text))
    problems = []
    for writer in writers:
        out, error = writer.communicate(timeout=PATIENCE)
        acknowledged = sum(json.loads(line)["num_inserted_rows"] for line in out.splitlines())
        if writer.returncode != 0 or acknowledged != APPENDS:
            problems.append(f"a writer ended with {writer.returncode} after {acknowledged} rows: {error.strip():.300}")
    same([], problems, "writers")
    proxy.settle()


def check_round(place, proxy, first_id):
    rows = range(first_id, first_id + WRITERS * APPENDS)
    log = log_of(place.folder)
    same(len(rows) + 1, len(log), "commits")
    same([], [commit.txn_id for commit, n in collections.Counter(commit.txn_id for commit in log).items() if n > 1], "commits that are there twice")
    same([1] * len(rows), [len(commit.adds) for commit in log[1:]], "files of each commit")
    owners = {path: n for path, n in proxy.owners.items() if place.folder.endswith(path.split("/_delta_log/")[0])}
    same(len(rows), len(owners), "versions that the proxy saw created")
    same({}, {path: n for path, n in owners.items() if n != 1}, "versions without one owner")
    found = sql(place.server.options, f"SELECT id, writer, count(*) AS n FROM delta.`{place.uri}` GROUP BY ALL ORDER BY id")
    expected = [{"id": number, "writer": (number - first_id) // APPENDS, "n": 1} for number in rows]
    same(expected, found, "rows")


class Losses:
    """What was lost in all rounds, which several threads run."""

    def __init__(self, server, seed, wanted):
        self.server, self.seed, self.wanted = server, seed, wanted
        self.lock = threading.Lock()
        self.total = collections.Counter()
        self.rounds = 0
        self.problems = []

    def begin(self):
        """The number of a round, None when none is needed."""
        with self.lock:
            least = min(self.total["created, and the answer lost"], self.total["lost before it was created"])
            if self.problems or least >= self.wanted or self.rounds == MAX_ROUNDS:
                return None
            self.rounds += 1
            return self.rounds

    def end(self, number, proxy):
        with self.lock:
            self.total.update(proxy.losses)
            self.total["created, and the answer lost"] += proxy.lost_creations
            self.total["lost before it was created"] += proxy.lost_requests
            print(f"# round {number}: {sum(proxy.losses.values())} losses, {sum(proxy.tries.values())} requests for {len(proxy.owners)} versions",
                  flush=True)

    def work(self):
        while (number := self.begin()) is not None:
            place = Place(self.server, f"lost-{number}")
            try:
                with Lossy(self.server.port, f"{self.seed}-{number}", BEFORE, AFTER) as proxy:
                    one_round(place, proxy, number * 1000)
                    check_round(place, proxy, number * 1000)
                self.end(number, proxy)
            except (Wrong, subprocess.TimeoutExpired, OSError, LookupError, ValueError) as error:
                self.problems.append(f"round {number}: {type(error).__name__}: {error}")


def lost_answers(server, seed, wanted, tables):
    """Returns what was lost."""
    losses = Losses(server, seed, wanted)
    threads = [threading.Thread(target=losses.work) for _ in range(tables)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same([], losses.problems, "rounds")
    kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(losses.total.items()))
    if losses.rounds == MAX_ROUNDS:
        raise Wrong(f"only {kinds} in {MAX_ROUNDS} rounds")
    return f"{losses.rounds * WRITERS * APPENDS} commits, {kinds}"


# ---- reads that are refused ----


class Blackout(Lossy):
    """Once a commit was sent nothing can be read. arrives: it had its effect, and the answer was lost; else it never gets there."""

    def __init__(self, upstream, arrives):
        super().__init__(upstream)
        self.arrives, self.is_dark = arrives, False

    def fate(self, request):
        if not self.arrives:
            self.is_dark = True
            return "dropped"
        kind = None if self.is_dark else "silent"
        self.is_dark = True
        return kind

    def refuses(self, request):
        return self.is_dark and request.method in ("GET", "HEAD")


def unknown(server, arrives):
    """Whether a commit is there cannot be learned, and is said to be unknown; later it can. What is done again as the same transaction of an
    application is there once. The limit for commits is what bounds it."""
    place = Place(server, f"unknown-{'there' if arrives else 'absent'}")
    place.create()
    text, identity = f"INSERT INTO delta.`{place.uri}` VALUES (7, 7)", ("--txn-app-id", "nightly", "--txn-version", "1")
    limited, started = f"SET silt.write.commitTimeLimit = 4000; {text}", time.monotonic()
    with Blackout(server.port, arrives) as proxy, spawn(place.options(proxy), limited if arrives else text, *identity) as process:
        error = process.communicate(timeout=PATIENCE)[1]
    if arrives and time.monotonic() - started > LIMIT_S:
        raise Wrong(f"it took {time.monotonic() - started:.0f} s to find out that nothing is known")
    same(5, process.returncode, f"exit code ({error.strip():.300})")
    same("error: [SILT_COMMIT_OUTCOME_UNKNOWN] ", error[:37], "code")
    version, txn_id = re.search(r"whether version (\d+) holds this transaction \(txnId ([-0-9a-f]+)\)", error).groups()
    log = log_of(place.folder)
    same((int(version), arrives), (1, len(log) == 2 and log[1].txn_id == txn_id), "the version, and whether it holds the transaction")
    same(1 if arrives else 0, sql(server.options, f"SELECT count(*) AS n FROM delta.`{place.uri}`")[0]["n"], "rows afterwards")
    sql(server.options, text, *identity)
    same([{"id": 7, "writer": 7}], sql(server.options, f"FROM delta.`{place.uri}`"), "rows after it was done again")
    return error.splitlines()[0]


# ---- the run ----


class Steps:
    """Steps that run at the same time, counted."""

    def __init__(self):
        self.passed = self.failed = 0
        self.lock = threading.Lock()

    def run(self, name, step, *arguments):
        started = time.monotonic()
        try:
            note, good = step(*arguments), True
        except (Wrong, subprocess.TimeoutExpired, OSError, LookupError, ValueError, AttributeError) as error:
            note, good = f"{type(error).__name__}: {error}", False
        with self.lock:
            self.passed, self.failed = self.passed + good, self.failed + (not good)
            print(f"{'ok' if good else 'not ok'} - {name} ({time.monotonic() - started:.1f} s, {note})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--losses", type=int, default=1000)
    parser.add_argument("--tables", type=int, default=4, help="rounds at once, since writers mostly wait")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    args = parser.parse_args()
    steps = Steps()
    print(f"seed {args.seed}", flush=True)
    with servers.Versitygw() as server:
        Place(server, "first").create()  # what the server makes for its first object gets in the way of several at once
        beside = [threading.Thread(target=steps.run, args=(f"unknown, {name}", unknown, server, arrives))
                  for name, arrives in (("it is there", True), ("it is not", False))]
        for thread in beside:
            thread.start()
        steps.run("lost answers", lost_answers, server, args.seed, args.losses, args.tables)
        for thread in beside:
            thread.join()
    print(f"{steps.passed} passed, {steps.failed} failed")
    return 1 if steps.failed else 0


if __name__ == "__main__":
    sys.exit(main())
