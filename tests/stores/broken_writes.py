#!/usr/bin/env python3
"""Writes that cannot come to their end, on each kind of store: a data file that is refused, a server that only fails, a server that goes away in the
middle, a commit that is refused, a commit that another writer is in the way of. Each ends with exit code 5 (a conflict: with 3), one coded
line, no new version, and nothing of the statement on the store: no file, no part of one. Where the server is gone nobody can clean up; then no file is to be
seen. Standard library only.

    tests/stores/broken_writes.py SERVER...         versitygw azurite fake-azure fake-gcs-server minidfs

SILT names the program. Prints a line for each case; the last is "N passed, N failed".
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import lossy
import servers

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.join(HERE, "..", "..", "build", "release", "bin", "silt")
PATIENCE = 600
LARGE = 300_000  # rows of 128 bytes that no codec makes smaller: several parts
TEXTS = " || ".join(f"md5((i * 4 + {n})::VARCHAR)" for n in range(4))
CODED = re.compile(r"^error: \[[A-Z][A-Z0-9_.]+\] \S")
COMMIT = re.compile(r"_delta_log(/|%2F)\d{20}\.json", re.IGNORECASE)


class Wrong(Exception):
    """A case did not do what it must."""


# ---- what a server keeps, and which requests write data ----


def of_versitygw(server):
    """All files, those of unfinished uploads among them; folders are how it keeps keys."""
    root = server.data("root")
    return {os.path.relpath(os.path.join(path, name), root) for path, _, names in os.walk(root) for name in names
            if ".vgwlocks" not in path}


def of_azure(server, uncommitted=True):
    signer = servers.Azurite()
    container, account, endpoint = servers.BUCKET, signer.account, f"{server.url}/{signer.account}"
    if server.name == "fake-azure":
        container, account, endpoint = "tree", "acct", f"{server.url}/acct"
        signer.account, signer.key = account, server.key
    query = {"comp": "list", **({"include": "uncommittedblobs"} if uncommitted else {}), "restype": "container"}
    text = servers.demand("GET", f"{endpoint}/{container}?{urllib.parse.urlencode(query)}", headers=signer.signed("GET", container, query))
    return {name for name in re.findall(r"<Name>([^<]*)</Name>", text) if name not in ("folder",)}


def of_gcs(server):
    text = servers.demand("GET", f"{server.url}/storage/v1/b/{servers.BUCKET}/o?maxResults=1000")
    return {item["name"] for item in json.loads(text).get("items", [])}


def of_hdfs(server, folder=f"/{servers.BUCKET}"):
    code, text = servers.request("GET", f"{server.url}/webhdfs/v1{urllib.parse.quote(folder)}?op=LISTSTATUS&user.name={server.user}")
    found = set()
    for status in json.loads(text)["FileStatuses"]["FileStatus"] if code == 200 else ():
        path = f"{folder}/{status['pathSuffix']}"
        found |= of_hdfs(server, path) if status["type"] == "DIRECTORY" else {path}
    return found


class Kind:
    """Of a store: its server, what it keeps, the requests that begin a file and that carry a part of a large one."""

    def __init__(self, server, keeps, part):
        self.server, self.keeps, self.part = server, keeps, re.compile(part)


KINDS = {
    "versitygw": Kind(servers.Versitygw, of_versitygw, r"^PUT \S*partNumber="),
    "azurite": Kind(servers.Azurite, of_azure, r"^PUT \S*comp=block&|^PUT \S*comp=block$"),
    "fake-azure": Kind(servers.FakeAzure, of_azure, r"^PUT \S*comp=block(&|$)|^PATCH "),
    "fake-gcs-server": Kind(servers.FakeGcs, of_gcs, r"^PUT \S*upload_id="),
    "minidfs": Kind(servers.MiniDfs, of_hdfs, r"^POST \S*op=APPEND"),
}


# ---- the way there ----


def told(request):
    """Method and target, and the name that an upload to Google has in its body."""
    name = request.body[:600].decode("latin-1") if "uploadType=multipart" in request.target else ""
    return f"{request.method} {request.target}{' '.join(name.split())}"


class Breaking(lossy.Lossy):
    """Once it is armed, what the pattern fits beyond the first `spare` requests is answered with a code, or the server is gone."""

    def __init__(self, upstream):
        super().__init__(upstream)
        self.pattern, self.spare, self.code, self.is_gone, self.hits = None, 0, 403, False, 0
        self.before_commit = None

    def arm(self, pattern, code, spare=0):
        self.pattern, self.code, self.spare, self.hits = pattern, code, spare, 0

    def fate(self, request):
        return None

    def refuses(self, request):
        text = told(request)
        if self.is_gone:
            raise lossy.Gone
        with self.lock:
            action, self.before_commit = (self.before_commit, None) if self.is_end(request) else (None, self.before_commit)
        if action is not None:
            action()
        if self.pattern is None or not self.pattern.search(text):
            return False
        with self.lock:
            self.hits += 1
            if self.hits <= self.spare:
                return False
        if self.code is None:
            self.is_gone = True
            threading.Thread(target=self.listener.server_close).start()  # connections are refused from now on
            raise lossy.Gone
        return self.code

    @staticmethod
    def is_end(request):
        """The request that makes a commit visible."""
        return request.method in ("PUT", "POST") and COMMIT.search(told(request)) is not None and "CREATE" not in request.target


class World:
    def __init__(self, name):
        self.kind = KINDS[name]
        self.server = self.kind.server()
        self.n_tables = 0

    def sql(self, text, proxy=None):
        options = dict(self.server.options)
        environment = {**os.environ, "TMPDIR": self.scratch, "SILT_CACHE_DIR": os.path.join(self.scratch, "cache")}
        uri = self.server.uri
        if proxy is not None:
            own, other = f"127.0.0.1:{self.server.port}", f"127.0.0.1:{proxy.port}"
            options = {name: value.replace(own, other) for name, value in options.items()}
            uri = uri.replace(own, other)
        words = [word for name, value in options.items() for word in ("--store-option", f"{name}={value}")]
        done = subprocess.run([SILT, "sql", text.replace("@", f"delta.`{uri}/t{self.n_tables}`"), "-o", "jsonl", *words], env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr

    def good(self, text):
        code, out, err = self.sql(text)
        if code != 0:
            raise Wrong(f"{text:.60} ended with {code}: {err.strip():.300}")
        return [json.loads(line) for line in out.splitlines()]

    def table(self):
        self.n_tables += 1
        self.good("CREATE TABLE @ (i BIGINT, s STRING) USING delta TBLPROPERTIES ('delta.parquet.compression.codec' = 'uncompressed')")

    def expect(self, code, text, proxy, cleaned=True, rows=0):
        before = self.kind.keeps(self.server)
        found, _, err = self.sql(text, proxy)
        told_too = ("hint: ",) if cleaned else ("hint: ", "warning: a file of a failed write stays behind")
        lines = [line for line in err.splitlines() if not line.startswith(told_too)]
        if found != code or len(lines) != 1 or not CODED.search(lines[0]):
            raise Wrong(f"it ended with {found} and said {err!r:.500}")
        left = self.kind.keeps(self.server) - before - self.allowed
        if cleaned and left:
            raise Wrong(f"left behind: {sorted(left)[:5]} ({lines[0]:.200})")
        if left and self.kind.keeps is of_azure:
            left &= of_azure(self.server, uncommitted=False)
        seen = {name for name in left if name.endswith(".parquet") and ".sgwtmp" not in name and "/.silt-" not in name}
        if seen:
            raise Wrong(f"files are to be seen: {sorted(seen)[:5]}")
        if self.good("SELECT count(*) AS n FROM @")[0]["n"] != rows:
            raise Wrong("rows of a statement that failed are there")
        return lines[0]


def insert(rows):
    return f"INSERT INTO @ SELECT i, {TEXTS} FROM range({rows}) t(i)"


def refused_data(world, proxy, code, spare, rows, gone=False):
    pattern = world.kind.part if rows == LARGE else re.compile(r"^(PUT|POST|PATCH) (?!\S*_delta_log)")
    proxy.arm(pattern, code, spare)
    note = world.expect(5, insert(rows), proxy, cleaned=not gone)
    if proxy.hits <= spare:
        raise Wrong(f"the store saw only {proxy.hits} such requests")
    return note


def refused_commit(world, proxy, rows):
    proxy.arm(re.compile(r"^(PUT|POST) (?!\S*op=CREATE).*_delta_log(/|%2F)\d{20}\.json", re.IGNORECASE), 403)
    return world.expect(5, insert(rows), proxy)


def conflict(world, proxy, rows):
    """Another writer changes the schema between our reading and our commit."""

    def change():
        before = world.kind.keeps(world.server)
        world.good("SET silt.write.overwriteSchema = true; INSERT OVERWRITE @ SELECT 'x' AS other")
        world.allowed = world.kind.keeps(world.server) - before

    proxy.before_commit = change
    return world.expect(3, insert(rows), proxy, rows=1)


CASES = [
    ("a small file is refused", lambda w, p: refused_data(w, p, 403, 0, 1000)),
    ("a part of a large file is refused", lambda w, p: refused_data(w, p, 403, 1, LARGE)),
    ("every part but one fails", lambda w, p: refused_data(w, p, 500, 1, LARGE)),
    ("the server goes away in the middle", lambda w, p: refused_data(w, p, None, 1, LARGE, gone=True)),
    ("the commit is refused", lambda w, p: refused_commit(w, p, LARGE)),
    ("the commit meets a conflict", lambda w, p: conflict(w, p, LARGE)),
]


def try_server(name, results):
    world = World(name)
    with world.server, tempfile.TemporaryDirectory(prefix="silt-broken-") as world.scratch:
        for title, case in CASES:
            started = time.monotonic()
            try:
                world.allowed = set()
                world.table()
                with Breaking(world.server.port) as proxy:
                    note, good = case(world, proxy), True
            except (Wrong, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
                note, good = f"{type(error).__name__}: {error}", False
            results.append(good)
            print(f"{'ok' if good else 'not ok'} - {name}: {title} ({time.monotonic() - started:.1f} s) {note:.600}", flush=True)


def main():
    names = sys.argv[1:] or list(KINDS)
    results = []
    threads = [threading.Thread(target=try_server, args=(name, results)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = results.count(False) + (len(names) * len(CASES) - len(results))
    print(f"{results.count(True)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
