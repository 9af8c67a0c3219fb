#!/usr/bin/env python3
"""How many requests writes and reads take on each kind of store, and how many rounds: the numbers of docs/stores.md. Standard library only.

    tests/stores/asked.py SERVER...         versitygw azurite fake-azure fake-gcs-server minidfs

Of HDFS only what goes to the name node is seen: a request to a data node follows each that begins with 307. SILT names the program. Prints a line for
each case; the last is "N passed, N failed".
"""
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

import broken_writes
import counting
import servers

PART, APPEND = 8 << 20, 32 << 20
LATENCIES = (0.1, 0.4, 1.5)  # seconds, for rounds
LOG = re.compile(r"_delta_log(/|%2F)", re.IGNORECASE)


def count(seen, pattern):
    return sum(1 for one in seen if re.search(pattern, f"{one.status} {one.method} {one.target}"))


def of_s3(parts):
    name = r"part-[-0-9a-f]+-c000\.parquet"
    return {rf" PUT \S*{name}$": 0 if parts else 1, rf" POST \S*{name}\?uploads=$": 1 if parts else 0, rf" PUT \S*{name}\?partNumber=": parts,
            rf" POST \S*{name}\?uploadId=": 1 if parts else 0, r" DELETE \S*parquet": 0, r" PUT \S*/\d{20}\.json$": 1}


def of_azure(parts):
    return {r" PUT \S*parquet$": 0 if parts else 1, r" PUT \S*parquet\?comp=block&": parts, r" PUT \S*parquet\?comp=blocklist$": 1 if parts else 0,
            r" (PUT|POST|PATCH|DELETE) \S*parquet": parts + 1, r" PUT \S*/\d{20}\.json$": 1}


def of_tree(parts):
    """The data as in a flat account; the commit is a file that is made, filled and closed, and renamed."""
    return {**of_azure(parts), r" PUT \S*_delta_log/\.silt-\S*resource=file$": 1, r" PATCH \S*_delta_log/\.silt-\S*action=append": 1,
            r" PATCH \S*_delta_log/\.silt-\S*action=flush": 1}


def of_gcs(parts):
    """A small file, the commit and the checksum are one request each."""
    return {r" POST \S*uploadType=multipart": 2 if parts else 3, r" POST \S*uploadType=resumable": 1 if parts else 0, r" PUT \S*upload_id=": parts}


def of_hdfs(parts, size=0):
    appends = -(-size // APPEND) if parts else 0
    return {r" 307 PUT \S*op=CREATE": 3, r"307 PUT \S*/t\d+/\.silt-\S*op=CREATE": 1, r"307 POST \S*op=APPEND": appends, r"200 PUT \S*op=RENAME": 3,
            r" DELETE ": 0}


WRITES = {"versitygw": of_s3, "azurite": of_azure, "fake-azure": of_tree, "fake-gcs-server": of_gcs, "minidfs": of_hdfs}
# Rounds and requests of the first query of a table of two small files; of HDFS those that the name node sees, which is asked for the sizes first.
FIRST_QUERY = {name: (4, 7) for name in WRITES} | {"minidfs": (5, 9)}
# Requests of the shell's list of three tables and a schema of two, each with five partitions: one a folder, none for those of a table; one for the names of
# all files where there are no folders. An account of Azure that may be either is asked first.
TABLES = {"versitygw": 1, "azurite": 1, "fake-azure": 8, "fake-gcs-server": 1, "minidfs": 7}


def check(expected, seen):
    wrong = {pattern: (number, count(seen, pattern)) for pattern, number in expected.items() if count(seen, pattern) != number}
    if wrong:
        raise broken_writes.Wrong(f"(expected, found) {wrong}\n{counting.tell(seen)}")


def write(world, proxy, rows):
    """An insert of so many rows into one file: what was asked for."""
    proxy.take()
    code, _, err = world.sql(f"SET threads = 1; {broken_writes.insert(rows)}", proxy)
    if code != 0:
        raise broken_writes.Wrong(err.strip())
    return proxy.take()


def small(world, proxy):
    world.table()
    seen = write(world, proxy, 1000)
    check({pattern.strip(): n for pattern, n in WRITES[world.name](0).items()} if world.name == "minidfs" else WRITES[world.name](0), seen)
    return f"{len(seen)} requests of the statement"


def large(world, proxy):
    world.table()
    seen = write(world, proxy, broken_writes.LARGE)
    detail = world.good("DESCRIBE DETAIL @")[0]
    size, parts = int(detail["sizeInBytes"]), -(-int(detail["sizeInBytes"]) // PART)
    if int(detail["numFiles"]) != 1:
        raise broken_writes.Wrong(f"{detail['numFiles']} files")
    expected = of_hdfs(parts, size) if world.name == "minidfs" else WRITES[world.name](parts)
    check({pattern.strip(): n for pattern, n in expected.items()} if world.name == "minidfs" else expected, seen)
    return f"{size >> 20} MiB in {parts} parts, {len(seen)} requests of the statement"


def cold(world, proxy):
    """The first query of a table without a checkpoint: its hint (there is none), the listing, the commits, the data."""
    world.table()
    world.good(broken_writes.insert(10))
    world.good(broken_writes.insert(10))
    wanted, requests = FIRST_QUERY[world.name]
    for latency in LATENCIES:
        proxy.latency_s = latency
        proxy.take()
        code, out, err = world.sql("SELECT count(*) AS n, max(i) AS i FROM @", proxy)
        seen = proxy.take()
        if code != 0 or '"n":20' not in out:
            raise broken_writes.Wrong(f"{out}{err.strip()}")
        if counting.rounds(seen) <= wanted:
            break
    proxy.latency_s = 0
    found = counting.rounds(seen)
    if found != wanted or len(seen) != requests:
        raise broken_writes.Wrong(f"{found} rounds of {wanted}, {len(seen)} requests of {requests}\n{counting.tell(seen)}")
    return f"{found} rounds, {len(seen)} requests"


def shell(world, proxy, warehouse, command):
    """What the shell says to a command at a terminal."""
    own, other = f"127.0.0.1:{world.server.port}", f"127.0.0.1:{proxy.port}"
    words = [word for name, value in world.server.options.items() for word in ("--store-option", f"{name}={value.replace(own, other)}")]
    ours, theirs = pty.openpty()
    environment = {**os.environ, **world.server.environment(), "SILT_CACHE_DIR": os.path.join(world.scratch, "cache"), "SILT_HISTORY": os.path.join(world.scratch, "history"), "TERM": "dumb"}
    with subprocess.Popen([broken_writes.SILT, "--warehouse", warehouse.replace(own, other), *words], env=environment, stdin=theirs, stdout=theirs,
                          stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        os.write(ours, f"{command}\n\\q\n".encode())
        said, end = b"", time.monotonic() + broken_writes.PATIENCE
        while time.monotonic() < end and select.select([ours], [], [], end - time.monotonic())[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            said += part
        process.kill()
    os.close(ours)
    return said.decode(errors="replace")


def tables(world, proxy):
    warehouse, names = f"{world.server.uri}/wh", ["t1", "t2", "t3", "s.a", "s.b"]
    for name in names:
        world.good(f"CREATE TABLE delta.`{warehouse}/{name.replace('.', '/')}` (i BIGINT, p BIGINT) USING delta PARTITIONED BY (p);"
                   f" INSERT INTO delta.`{warehouse}/{name.replace('.', '/')}` SELECT i, i FROM range(5) t(i)")
    proxy.take()
    said = shell(world, proxy, warehouse, "\\d")
    seen = proxy.take()
    missing = [name for name in names if not re.search(rf"\b{re.escape(name)}\b(?!\S*`)", said)]
    if missing or "(5 rows)" not in said or len(seen) != TABLES[world.name]:
        raise broken_writes.Wrong(f"{missing} are missing, {len(seen)} requests of {TABLES[world.name]}\n{said}\n{counting.tell(seen)}")
    return f"{len(seen)} requests"


def closed(world, proxy):
    """A folder that may not be read hides no other."""
    if world.name != "minidfs":
        return "the other servers have no rights of folders"
    root = f"{world.server.url}/webhdfs/v1/{world.server.uri.split('/', 3)[3]}/wh/"
    owner = json.loads(servers.request("GET", f"{root}?op=GETFILESTATUS")[1])["FileStatus"]["owner"]  # to whom all is open, if he runs the server
    target = f"{root}{{}}?op=SETPERMISSION&permission={{}}&user.name={owner}"
    for folder in ("t2", "s/a"):
        servers.demand("PUT", target.format(folder, "000"), body=b"")
    said = shell(world, proxy, f"{world.server.uri}/wh", "\\d")
    for folder in ("t2", "s/a"):
        servers.demand("PUT", target.format(folder, "755"), body=b"")
    if "(3 rows)" not in said or "t2 is left out: " not in said or "s/a is left out: " not in said:
        raise broken_writes.Wrong(said)
    return "three tables and two notes"


CASES = [small, large, cold, tables, closed]


def main():
    names = sys.argv[1:] or list(broken_writes.KINDS)
    passed = failed = 0
    for name in names:
        world = broken_writes.World(name)
        world.name = name
        with world.server, tempfile.TemporaryDirectory(prefix="silt-asked-") as world.scratch, counting.CountingProxy(world.server.port) as proxy:
            for case in CASES:
                try:
                    note, good = case(world, proxy), True
                except (broken_writes.Wrong, OSError, ValueError, KeyError, servers.ServerError) as error:
                    note, good = f"{type(error).__name__}: {error}", False
                passed, failed = passed + good, failed + (not good)
                print(f"{'ok' if good else 'not ok'} - {name}: {case.__name__} ({note})", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
