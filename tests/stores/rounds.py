#!/usr/bin/env python3
"""How many answers silt waits for one after the other on S3, and how many requests it makes: docs/stores.md, "Round trips"; and how much memory
a scan takes that brings more than may be in memory.

    tests/stores/rounds.py

Starts versitygw and a proxy in front of it that counts (counting.py). Answers come late, so that requests which do not wait for each
other are seen to be one round; a machine that is so busy that it does not make them in that time is given more of it, twice.
The last line is "N passed, N failed".

SILT   the program (default: build/release/bin/silt)
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import counting
import servers

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.realpath(os.path.join(HERE, "..", "..", "build", "release", "bin", "silt"))
LATENCIES = (0.1, 0.4, 1.5)  # seconds
SCAN_ROWS = 4 << 20  # of 64 bytes that no codec makes smaller
MEMORY_MB = 128  # 64 MiB are under way at most, the same again is being written
N_FILES = 24000  # whose statistics make a checkpoint of more than 4 MiB, which does not come whole


class Rig:
    def __init__(self, server, proxy, scratch):
        self.server, self.proxy, self.scratch = server, proxy, scratch
        self.passed = self.failed = self.n_caches = 0

    def run(self, *args, counted=True):
        """The program in a process with an empty cache of its own; what it asked for if it asks the proxy, and its output."""
        self.n_caches += 1
        options = {**self.server.options, "aws_endpoint_url": f"http://127.0.0.1:{self.proxy.port if counted else self.server.port}"}
        flags = [text for name, value in options.items() for text in ("--store-option", f"{name}={value}")]
        environment = {**os.environ, "SILT_CACHE_DIR": os.path.join(self.scratch, str(self.n_caches)), "AWS_EC2_METADATA_DISABLED": "true"}
        self.proxy.take()
        done = subprocess.run([SILT, args[0], *flags, *args[1:]], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"silt {' '.join(args)}: {done.stderr.strip()}")
        return self.proxy.take(), done.stdout

    def expect(self, title, args, rounds, requests, judge=None, before=None):
        """No more than so many. judge(seen) may give another number of rounds; before() is done before each try."""
        for latency in LATENCIES:
            self.proxy.latency_s = latency
            if before:
                before()
            seen, _ = self.run(*args)
            found = judge(seen) if judge else counting.rounds(seen)
            if found <= rounds:
                break
        fine = found == rounds and len(seen) <= requests
        self.passed, self.failed = self.passed + fine, self.failed + (not fine)
        print(f"{'ok' if fine else 'not ok'} - {title}: {found} rounds of {rounds}, {len(seen)} requests of {requests}", flush=True)
        if not fine:
            print(counting.tell(seen), flush=True)


def add(number, scale):
    """A file that is not there, with statistics that do not compress well when scale is 1."""
    noise = "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=150 if scale else 4))
    stats = {"numRecords": 1, "minValues": {"id": number, "name": noise}, "maxValues": {"id": number, "name": noise + "~"},
             "nullCount": {"id": 0, "name": 0}}
    return json.dumps({"add": {"path": f"part-{number:05}.parquet", "partitionValues": {}, "size": 1000, "modificationTime": 1,
                               "dataChange": True, "stats": json.dumps(stats)}})


def make_table(rig, name, properties, n_files, scale):
    """One with a checkpoint of so many files and two commits of a row behind it. Its URI."""
    random.seed(1)
    uri = f"{rig.server.uri}/{name}"
    table = f"delta.`{uri}`"
    rig.run("sql", f"CREATE TABLE {table} (id BIGINT, name STRING) USING delta TBLPROPERTIES ({properties})", counted=False)
    lines = ['{"commitInfo":{"operation":"WRITE"}}', *(add(number, scale) for number in range(n_files))]
    rig.server.put(f"folder/{name}/_delta_log/{1:020}.json", ("\n".join(lines) + "\n").encode())
    rig.run("checkpoint", uri, counted=False)
    rig.run("sql", f"INSERT INTO {table} VALUES (-1, 'a'); INSERT INTO {table} VALUES (-2, 'b')", counted=False)
    return uri


def where(uri, text, times=1):
    """A query that statistics answer without a file."""
    return ["sql", "; ".join([f"SELECT id FROM delta.`{uri}` WHERE {text}"] * times)]


def behind_data(seen):
    """Rounds from the last data file's end to its commit's: what a commit takes by itself."""
    data = max(one.end for one in seen if one.method == "PUT" and one.target.endswith(".parquet"))
    commit = max(one.end for one in seen if one.method == "PUT" and one.target.endswith(".json"))
    return counting.rounds([one for one in seen if one.begin >= data and one.end <= commit])


def try_all(rig):
    none = "id < -1000"
    plain = make_table(rig, "small", "'delta.checkpointInterval'='1000'", 10, 0)
    v2 = make_table(rig, "small-v2", "'delta.checkpointInterval'='1000', 'delta.checkpointPolicy'='v2'", 10, 0)
    large = make_table(rig, "large", "'delta.checkpointInterval'='1000'", N_FILES, 1)
    large_v2 = make_table(rig, "large-v2", "'delta.checkpointInterval'='1000', 'delta.checkpointPolicy'='v2'", N_FILES, 1)
    rig.expect("cold open, small checkpoint", where(plain, none), 3, 5)
    rig.expect("cold open, large checkpoint", where(large, none), 4, 7)
    rig.expect("cold open, V2 with small sidecars", where(v2, none), 4, 6)
    rig.expect("cold open, V2 with large sidecars", where(large_v2, none), 5, 8)
    rig.expect("cold open, one row of a file", ["sql", f"SELECT * FROM delta.`{plain}` WHERE id = -2"], 4, 6)
    rig.expect("cold open and refresh", where(plain, none, 2), 3 + 1, 5 + 2)
    rig.expect("commit", ["sql", "; ".join([f"INSERT INTO delta.`{plain}` VALUES (-3, 'c')"] * 2)], 1, 20, behind_data)
    rig.expect("history", ["history", plain], 2, 7)
    table = f"{rig.server.uri}/many"
    rig.run("sql", "; ".join([f"CREATE TABLE delta.`{table}` (id BIGINT)", *[f"INSERT INTO delta.`{table}` VALUES ({n})" for n in range(20)]]),
            counted=False)
    rig.expect("log of 20 commits", ["log", table], 2, 22)
    rig.expect("fsck of 20 commits", ["fsck", table], 9, 90)
    try_changes(rig)


def try_changes(rig):
    """What a command takes that writes no data, and one that reads a part of the log. Three rounds of a checkpoint are the probe of an unknown endpoint."""
    uri = f"{rig.server.uri}/changes"
    insert = f"INSERT INTO delta.`{uri}` VALUES (1)"
    rig.run("sql", "; ".join([f"CREATE TABLE delta.`{uri}` (id BIGINT) TBLPROPERTIES ('delta.enableChangeDataFeed'='true', "
                            "'delta.checkpointInterval'='1000')", *[insert] * 8]),
            counted=False)
    rig.expect("changes of 8 commits", ["changes", uri, "--from", "1"], 6, 28)
    rig.expect("changes up to a version", ["changes", uri, "--from", "2", "--to", "4"], 9, 25)
    rig.expect("checkpoint", ["checkpoint", uri], 8 + 3, 20, before=lambda: rig.run("sql", insert, counted=False))
    rig.expect("checkpoint behind another", ["checkpoint", uri], 9 + 3, 14, before=lambda: rig.run("sql", insert, counted=False))


def peak_mb(rig, place):
    """Of a process that reads all of a table."""
    columns = ", ".join(f"max(c{number})" for number in range(8))
    options = [text for name, value in rig.server.options.items() for text in ("--store-option", f"{name}={value}")]
    rig.n_caches += 1
    environment = {**os.environ, "SILT_CACHE_DIR": os.path.join(rig.scratch, str(rig.n_caches)), "AWS_EC2_METADATA_DISABLED": "true"}
    child = subprocess.Popen([SILT, "sql", "--threads", "2", *options, f"SELECT {columns} FROM delta.`{place}`"],
                             env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        raise RuntimeError(f"the scan of {place} ended with {status}")
    return usage.ru_maxrss / 1024


def try_memory(rig):
    """Beyond what the same scan takes of local files: what is under way, and the libraries that speak to stores."""
    columns = ", ".join(f"(hash(i * 8 + {number}) >> 1)::BIGINT AS c{number}" for number in range(8))
    places = [f"{rig.server.uri}/wide", os.path.join(rig.scratch, "wide")]
    for place in places:
        rig.run("sql", f"CREATE TABLE delta.`{place}` USING delta AS SELECT {columns} FROM range({SCAN_ROWS}) t(i)", counted=False)
    remote, local = (peak_mb(rig, place) for place in places)
    fine = remote <= local + MEMORY_MB
    rig.passed, rig.failed = rig.passed + fine, rig.failed + (not fine)
    print(f"{'ok' if fine else 'not ok'} - memory of a scan of {SCAN_ROWS * 64 >> 20} MB: {remote:.0f} MB, local {local:.0f} MB and at most "
          f"{MEMORY_MB} MB more", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="silt-rounds-") as scratch, servers.Versitygw() as server, \
            counting.CountingProxy(server.port) as proxy:
        rig = Rig(server, proxy, scratch)
        try_all(rig)
        try_memory(rig)
    print(f"{rig.passed} passed, {rig.failed} failed")
    return 1 if rig.failed or not rig.passed else 0


if __name__ == "__main__":
    sys.exit(main())
