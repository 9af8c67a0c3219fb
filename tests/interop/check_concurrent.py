"""Processes of silt, delta-rs and Spark append to one local table at the same time, while one writes checkpoints and others read.

Afterwards every commit that a writer was told of is there once and nothing else is, in the writer's own order, versions have no gap,
every read saw a prefix of the log, and everyone reads the same.

Delta Spark promises exclusion on local files within one process only: its store looks whether the commit is there and then renames over
it, so that another process can slip in between. The watch on the log tells that case apart from a fault of silt's: a name that is moved
into place after it was there already. The round is then repeated.
"""
import ctypes
import glob
import json
import os
import struct
import subprocess
import sys
import threading

import pyarrow as pa

import silt_program
from harness import same

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = [("id", pa.int64()), ("who", pa.string())]
IN_CREATE, IN_MOVED_TO = 0x100, 0x80
ROUNDS = 3
SPARK_COMMITS = 8
STRIDE = 2  # commits of every other writer for one of Spark's, so that all of them meet Spark
NEW = {"delta.enableInCommitTimestamps": "true", "delta.enableRowTracking": "true", "delta.checkpointPolicy": "v2"}
V2 = {"delta.checkpointPolicy": "v2", "delta.enableDeletionVectors": "true"}
# name: properties, partition columns, whether delta-rs writes such a table
KINDS = {"plain": ({}, [], True), "partitioned": (V2, ["who"], True), "row-ids": (NEW, [], False)}


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


class Race:
    """Writers and readers of one table, each in a thread that drives its processes. Nobody is more than STRIDE commits ahead of Spark."""

    def __init__(self, run, path, with_delta_rs):
        self.run, self.path = run, path
        self.acknowledged, self.reads, self.failures = {}, {}, []
        self.checkpoints = 0
        self.turn, self.granted, self.over = threading.Condition(), 1, False
        self.writers = {"session-1": self.session, "session-2": self.session, "process": self.processes, "parquet": self.parquet,
                        "once": self.once, "spark": self.spark}
        if with_delta_rs:
            self.writers["delta-rs"] = self.delta_rs

    # ---- writers: each acknowledges what its peer reported as done -----------------------------------------------------------
    def turns(self):
        """The numbers of the rows, STRIDE at a time, as Spark gets on."""
        for turn in range(SPARK_COMMITS):
            with self.turn:
                self.turn.wait_for(lambda t=turn: t < self.granted or self.over)
            if self.over:
                return
            yield range(turn * STRIDE, (turn + 1) * STRIDE)

    def insert(self, who, number):
        return f"INSERT INTO delta.`{self.path}` VALUES ({number}, '{who}')"

    def session(self, who):
        """A process that commits several times."""
        for numbers in self.turns():
            told = silt_program.json_lines(silt_program.sql(";\n".join(self.insert(who, number) for number in numbers)))
            same(["1"] * STRIDE, [line["num_inserted_rows"] for line in told])
            self.acknowledged[who] += numbers

    def processes(self, who):
        for numbers in self.turns():
            for number in numbers:
                silt_program.sql(self.insert(who, number))
                self.acknowledged[who].append(number)

    def parquet(self, who):
        for numbers in self.turns():
            for number in numbers:
                silt_program.run("append", self.path, self.run.source(f"{who}-{number}", COLUMNS, [(number, who)]))
                self.acknowledged[who].append(number)

    def once(self, who):
        """Every write is done twice with the same number, as after a lost answer: the second is none."""
        for numbers in self.turns():
            for number in numbers:
                for _ in range(2):
                    silt_program.run("sql", self.insert(who, number), "--txn-app-id", who, "--txn-version", str(number))
                self.acknowledged[who].append(number)

    def delta_rs(self, who):
        with subprocess.Popen([sys.executable, os.path.join(HERE, "delta_rs_writer.py"), self.path, who], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, bufsize=1) as process:
            for numbers in self.turns():
                for number in numbers:
                    process.stdin.write(f"{number}\n")
                    same(f"{number}\n", process.stdout.readline())
                    self.acknowledged[who].append(number)
            process.stdin.close()

    def spark(self, who):
        for number in range(SPARK_COMMITS):
            self.run.spark.append_parquet(self.path, self.run.source(f"{who}-{number}", COLUMNS, [(number, who)]))
            self.acknowledged[who].append(number)
            with self.turn:
                self.granted += 1
                self.turn.notify_all()

    # ---- beside them, as often as a writer commits ----------------------------------------------------------------------------
    def checkpointer(self):
        for numbers in self.turns():
            for _ in numbers:
                silt_program.run("checkpoint", self.path)
                self.checkpoints += 1

    def reader(self, reader):
        for numbers in self.turns():
            for _ in numbers:
                self.reads[reader.name].append(reader.rows(self.path, COLUMNS))

    # ---- all at once ----------------------------------------------------------------------------------------------------------
    def guarded(self, name, function, *arguments):
        def work():
            try:
                function(*arguments)
            except Exception as error:  # reported by finish()
                self.failures.append(f"{name}: {type(error).__name__}: {str(error).strip()[:300]}")
                with self.turn:
                    self.over = True
                    self.turn.notify_all()
        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def finish(self):
        for who in self.writers:
            self.acknowledged[who] = []
        readers = [self.run.silt, self.run.delta_rs, self.run.duckdb]
        self.reads = {reader.name: [] for reader in readers}
        threads = [self.guarded(f"{one.name} reads", self.reader, one) for one in readers]
        threads.append(self.guarded("checkpoints", self.checkpointer))
        threads += [self.guarded(who, write, who) for who, write in self.writers.items()]
        for thread in threads:
            thread.join()


def committed(path):
    """The rows in the order of the log, which has a commit for every version and a row in each but the first."""
    names = sorted(os.path.basename(name) for name in glob.glob(os.path.join(path, "_delta_log", "[0-9]*.json"))
                   if ".checkpoint." not in name)
    same([f"{version:020}.json" for version in range(len(names))], names)
    rows = []
    for name in names[1:]:
        with open(os.path.join(path, "_delta_log", name), encoding="utf-8") as file:
            add, = [action["add"] for action in map(json.loads, file) if "add" in action]
        least = json.loads(add["stats"])["minValues"]
        rows.append((least["id"], add["partitionValues"].get("who", least.get("who"))))
    return rows


def nothing_lost(race, rows):
    same({}, {who: told for who, told in race.acknowledged.items() if told != [number for number, other in rows if other == who]})
    same(sum(map(len, race.acknowledged.values())), len(rows))
    others = {who: len(told) for who, told in race.acknowledged.items() if who != "spark"}
    same({who: SPARK_COMMITS * STRIDE for who in others}, others)
    same(SPARK_COMMITS, len(race.acknowledged["spark"]))


def prefixes(rows, reads):
    """Each read is what some version holds, no older one than the read before."""
    lengths = [len(read) for read in reads]
    same(sorted(lengths), lengths)
    for read in reads:
        same(sorted(map(list, rows[:len(read)]), key=repr), read)


def one_round(run, path, kind):
    """The race that was run, or None when Spark's store replaced another's commit."""
    properties, partitions, with_delta_rs = KINDS[kind]
    silt_program.create(path, COLUMNS, partitions, properties)
    race = Race(run, path, with_delta_rs)
    watch = LogWatch(os.path.join(path, "_delta_log"))
    try:
        race.finish()
        if watch.replaced():
            return None
    finally:
        watch.close()
    same([], race.failures)
    return race


def mixed(run, kind):
    for attempt in range(ROUNDS):
        path = run.path(f"{kind}-{attempt}")
        race = one_round(run, path, kind)
        if race is not None:
            break
        print("note: Spark replaced another writer's commit; the round is repeated")
    else:
        raise RuntimeError(f"Spark replaced commits in {ROUNDS} rounds")
    rows = committed(path)
    run.case("silt", f"{kind}: nothing is lost, nothing is twice", nothing_lost, race, rows)
    for name, reads in race.reads.items():
        run.case(name, f"{kind}: each read is a prefix", prefixes, rows, reads)
        run.case(name, f"{kind}: was read meanwhile", lambda r=reads: same(True, len({len(read) for read in r}) > 3))
    run.case("silt", f"{kind}: checkpoints meanwhile", lambda: same(True, race.checkpoints > 3))
    run.case("silt", f"{kind}: fsck", lambda: same("", silt_program.run("fsck", path, "-o", "jsonl")))
    run.check_rows(kind, path, COLUMNS, rows)
    run.check_rows(f"{kind}: in the middle", path, COLUMNS, rows[:len(rows) // 2], version=len(rows) // 2)
    if "delta.enableRowTracking" in KINDS[kind][0]:
        run.case("spark", f"{kind}: row ids", row_ids, run, path, rows)
    print(f"concurrent: {kind}: {len(rows)} commits, {race.checkpoints} checkpoints, reads " +
          ", ".join(f"{name} {len(reads)}" for name, reads in race.reads.items()))


def row_ids(run, path, rows):
    """Each row has an id of its own, and the version that wrote it."""
    found = run.spark.sql("SELECT id, who, _metadata.row_commit_version AS version, _metadata.row_id AS row_id "
                          f"FROM delta.`{path}`").collect()
    same(len(rows), len({row["row_id"] for row in found}))
    same({row: version for version, row in enumerate(rows, 1)}, {(row["id"], row["who"]): row["version"] for row in found})


def check(run):
    for kind in KINDS:
        run.step("silt", f"{kind}: to the end", mixed, run, kind)
