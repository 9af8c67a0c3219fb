"""Tables on an object store: how many answers are waited for one after the other, how many requests are made, what they bring, and how long all of
it takes, on versitygw, plain and with 30 ms until each answer begins.

Requests, rounds and bytes are counted by a proxy (tests/stores/counting.py) in runs of their own, times are taken without it; every process is
fresh and has an empty cache. What happens again and again in a process (a refresh, a commit) is what a second one adds.
"""
import concurrent.futures
import contextlib
import json
import mmap
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import contest
from area_log import read_limit, read_silt
from contest import Failed, run_timed, tool
from ways import DATA, PYTHON, SILT, make, peer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "stores"))
import counting  # noqa: E402
import servers  # noqa: E402

LATENCY_MS = 30
CONNECTION_KBS = 20_000  # of the slow link, about a fourth of what S3 gives one
COUNT_LATENCY_S = 0.15  # so long that requests which do not wait for each other overlap on a busy machine too
ROUNDS = int(os.environ.get("SILT_BENCH_STORE_ROUNDS", "3"))
SCAN_MB = int(os.environ.get("SILT_BENCH_STORE_MB", "1024"))
MANY = 1000  # files of the table of which 1 % is read
COMMITS = 20
CPUS = 2
CONNECTIONS = 16  # as many requests as silt has under way
GOAL = 0.8  # of the limit's speed
OVERHEAD = 1.1  # bytes fetched, of those needed
SCAN_COLUMNS = [f"c{number}" for number in range(8)]


class Contestant:
    """command(n): so many repetitions in one process. What is counted is the first, or with `again` what a second one adds."""

    def __init__(self, who, role, command, read=json.loads, again=False):
        self.who, self.role, self.command, self.read, self.again = who, role, command, read, again


class Place:
    """The server, what stands before it, and the environment by which contestants find it."""

    def __init__(self, stack, scratch):
        self.scratch = scratch
        self.server = stack.enter_context(servers.Versitygw())
        self.proxy = stack.enter_context(counting.CountingProxy(self.server.port, COUNT_LATENCY_S))
        toxiproxy = stack.enter_context(servers.Toxiproxy())
        name, self.far_port = toxiproxy.proxy(self.server)
        toxiproxy.poison(name, "latency", "downstream", latency=LATENCY_MS)
        name, self.slow_port = toxiproxy.proxy(self.server, "slow")
        toxiproxy.poison(name, "latency", "downstream", latency=LATENCY_MS)
        toxiproxy.poison(name, "bandwidth", "downstream", rate=CONNECTION_KBS)

    def uri(self, name):
        return f"{self.server.uri}/{name}"

    def environment(self, port):
        return {**self.server.environment(), "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_EC2_METADATA_DISABLED": "true"}

    def run(self, command, port):
        """A fresh process with an empty cache: (what bench_time says, its output)."""
        touch_memory()
        with tempfile.TemporaryDirectory(prefix="cache-", dir=self.scratch) as cache:
            added = {**self.environment(port), "SILT_CACHE_DIR": cache}
            before = {name: os.environ.get(name) for name in added}
            os.environ.update(added)
            try:
                return run_timed(command, CPUS)
            finally:
                for name, value in before.items():
                    os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)

    def upload(self, folder, name):
        """A local table."""
        files = [os.path.join(path, file) for path, _, names in os.walk(folder) for file in names]

        def put(path):
            with open(path, "rb") as file:
                self.server.put(f"folder/{name}/{os.path.relpath(path, folder)}", file.read())

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(put, files))


def touch_memory():
    """Touches what the largest case may need and lets it go. Virtual machines hand free memory back to the host, and who is first to touch it again
    waits for the host: several times what writing to it takes."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = min(2 * SCAN_MB << 20, free // 2) & ~0xFFFFF
    if size > 0:
        with mmap.mmap(-1, size) as memory:
            memory[::4096] = bytes(size // 4096)


# ---- counting ----

def count(place, command):
    place.proxy.take()
    place.run(command, place.proxy.port)
    seen = place.proxy.take()
    return {"rounds": counting.rounds(seen), "requests": len(seen), "bytes": sum(one.bytes for one in seen)}


def counts_of(place, one):
    """The least of some runs: a thread that comes late makes a round of its own."""
    def least(n):
        found = [count(place, one.command(n)) for _ in range(2)]
        return {what: min(run[what] for run in found) for what in found[0]}
    first = least(1)
    if not one.again:
        return first
    second = least(2)
    return {what: second[what] - first[what] for what in first}


def report_counts(report, case, place, contestants, judged=("rounds", "requests")):
    """Prints and keeps them. silt above a peer in what is judged fails the run. What each brought, in bytes."""
    print(f"\n{case}: what is asked for\n  {'':26} {'rounds':>8} {'requests':>9} {'bytes':>12}")
    found = {}
    for one in contestants:
        if one.role not in ("silt", "peer"):
            continue
        try:
            counts = found[one] = counts_of(place, one)
        except Failed as fault:
            report.faults.append(f"{case}: {fault}")
            continue
        print(f"  {one.who:26} {counts['rounds']:8} {counts['requests']:9} {counts['bytes']:12}", flush=True)
        for what, value in counts.items():
            report.lines.append({"case": case, "name": f"{one.who}: {what}", "value": value, "unit": what, "target": "no more than a peer"})
    ours = next((counts for one, counts in found.items() if one.role == "silt"), None)
    for what in judged:
        best = min((counts[what] for one, counts in found.items() if one.role == "peer"), default=None)
        if ours is not None and best is not None and ours[what] > best:
            report.faults.append(f"{case}: silt takes {ours[what]} {what}, a peer {best}")
    return {one.who: counts["bytes"] for one, counts in found.items()}


# ---- times ----

def measure(report, case, place, port, contestants, target=None):
    """Contestants take turns; of each process the first repetition counts, or the second with `again`."""
    found = [contest.Measured(one.who, one.role) for one in contestants]
    failed = set()
    for _ in range(ROUNDS):
        for measured, one in zip(found, contestants):
            if one.who in failed:
                continue
            try:
                process, text = place.run(one.command(2 if one.again else 1), port)
            except Failed as fault:
                failed.add(one.who)
                report.faults.append(f"{case}: {one.who}: {fault}")
                continue
            measured.take_process(process)
            measured.take(one.read(text), 1 if one.again else 0)
    found = [measured for measured in found if measured.who not in failed]
    report.compare(case, [measured for measured in found if measured.role != "limit"])
    if found:
        report.add(case, CPUS, found, target)
    return {measured.who: measured for measured in found}


def contend(report, place, case, contestants):
    report_counts(report, f"stores: {case}", place, contestants)
    for where, port in (("plain", place.server.port), (f"{LATENCY_MS} ms", place.far_port)):
        measure(report, f"stores: {case}, {where}", place, port, contestants)


# ---- contestants ----

def without_rows(text):
    return {**json.loads(text), "rows": None}


def python_peer(name, *what, read=json.loads, again=False):
    return Contestant(name, "peer", lambda n: peer(name, "--threads", str(CPUS), "--repeat", str(n), *what), read, again)


def silt_query(text, read=json.loads, again=False):
    return Contestant("silt", "silt", lambda n: [tool("bench_query"), "--threads", str(CPUS), "--repeat", str(n), text], read, again)


def openers(uri):
    """The list of all files. Polars has none; what it does first is delta-rs'."""
    return [Contestant("silt", "silt", lambda n: [tool("bench_log"), "--threads", str(CPUS), "--repeat", str(n), uri], read_silt(["list_us"])),
            *[python_peer(name, "--files", uri) for name in ("delta-rs", "duckdb")]]


def readers(uri, text):
    tables = ["--tables", json.dumps({"t": uri}), "--text", text]
    return [silt_query(text.replace("{t}", f"delta.`{uri}`")), *[python_peer(name, *tables) for name in ("duckdb", "delta-rs", "polars")]]


# ---- tables ----

def make_tables(place):
    """Those of commits by silt, with a checkpoint by delta-rs; those of files made without either."""
    folder = os.path.abspath(os.path.join(DATA, f"stores-sums{SCAN_MB}"))
    make(os.path.join(folder, "done"), "make_data.py", folder, str(SCAN_MB), "stores")
    environment = {**os.environ, **place.environment(place.server.port), "SILT_CACHE_DIR": os.path.join(place.scratch, "cache")}
    for name in ("commits", "checkpoint"):
        table = f"delta.`{place.uri(name)}`"
        text = "; ".join([f"CREATE TABLE {table} (id BIGINT, name STRING) TBLPROPERTIES ('delta.checkpointInterval'='1000')",
                          *[f"INSERT INTO {table} VALUES ({number}, 'a')" for number in range(COMMITS)]])
        subprocess.run([SILT, "sql", text], env=environment, check=True, stdout=subprocess.DEVNULL)
        if name == "checkpoint":
            subprocess.run(peer("delta-rs", "--checkpoint", place.uri(name)), env=environment, check=True, stdout=subprocess.DEVNULL)
            subprocess.run([SILT, "sql", f"INSERT INTO {table} VALUES (-1, 'a')"], env=environment, check=True, stdout=subprocess.DEVNULL)
    place.upload(os.path.join(folder, "many"), "many")
    place.upload(os.path.join(folder, "scan"), "scan")
    return folder


def needed_bytes(folder, columns, condition="true"):
    """What the column chunks take by the files' own footers."""
    files = f"'{folder}/*.parquet'"
    names = ", ".join(f"'{name}'" for name in columns)
    _, text = run_timed([tool("bench_duck"), "SELECT sum(total_compressed_size)::VARCHAR AS n FROM parquet_metadata("
                         f"{files}) WHERE path_in_schema IN ({names}) AND {condition}"], 1)
    return int(json.loads(text)["rows"][0][0])


# ---- the large scan ----

def limit(place, folder, port):
    """Plain GETs of ranges of the same files, with as many connections."""
    files = sorted(name for name in os.listdir(folder) if name.endswith(".parquet"))
    words = [word for name in files for word in (f"http://127.0.0.1:{port}/{servers.BUCKET}/folder/scan/{name}",
                                                 str(os.path.getsize(os.path.join(folder, name))))]
    return Contestant("GETs of ranges, libcurl", "limit",
                      lambda n: [tool("bench_ranges"), "--connections", str(CONNECTIONS), "--repeat", str(n), *words], read_limit)


def measure_scan(report, place, folder):
    scan = os.path.join(folder, "scan")
    text = "SELECT " + ", ".join(f"sum({name}) AS {name}" for name in SCAN_COLUMNS) + " FROM {t}"
    contestants = readers(place.uri("scan"), text)
    fetched = report_counts(report, "stores: scan of all", place, contestants, judged=())
    report_overhead(report, "stores: scan of all", fetched, needed_bytes(scan, SCAN_COLUMNS))
    local = silt_query(text.replace("{t}", f"delta.`{scan}`"))
    local.who, local.role = "silt, local files", "info"
    for where, port in (("plain", place.server.port), (f"{LATENCY_MS} ms", place.far_port)):
        compare_speed(report, place, f"{SCAN_MB} MB, {where}", port, [*contestants, local, limit(place, scan, port)])
    slow = f"{SCAN_MB} MB, {LATENCY_MS} ms, {CONNECTION_KBS // 1000} MB/s a connection"
    compare_speed(report, place, slow, place.slow_port, [contestants[0], limit(place, scan, place.slow_port)])


def compare_speed(report, place, what, port, contestants):
    case = f"stores: scan of {what}"
    found = measure(report, case, place, port, contestants, f"L {1 / GOAL:.2f}")
    ours, best = found.get("silt"), found.get("GETs of ranges, libcurl")
    if ours and best:
        report.fact(case, "of the limit's speed, medians", statistics.median(best.times) / statistics.median(ours.times), "", f"{GOAL}")


def report_overhead(report, case, fetched, needed):
    """What a contestant brought: silt not much more than is needed; and nobody less, since that would be another work."""
    ours = fetched.get("silt", 0)
    report.fact(case, "bytes fetched, of those of the column chunks", ours / needed, f"of {needed}", f"at most {OVERHEAD}")
    if ours > OVERHEAD * needed:
        report.faults.append(f"{case}: {ours} bytes were fetched, {needed} are needed")
    for who, n_bytes in fetched.items():
        if n_bytes < needed:
            report.faults.append(f"{case}: {who} fetched {n_bytes} bytes of {needed} and cannot have read all")


def measure_stores(report, scratch):
    setup = os.path.join(os.path.dirname(servers.__file__), "setup")
    subprocess.run([setup, "versitygw", "toxiproxy"], check=True, stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        place = Place(stack, tempfile.mkdtemp(prefix="stores-", dir=scratch))
        folder = make_tables(place)
        commits, checkpoint, many = map(place.uri, ("commits", "checkpoint", "many"))
        contend(report, place, f"cold open, {COMMITS} commits", openers(commits))
        contend(report, place, "cold open, checkpoint", openers(checkpoint))
        contend(report, place, f"1 % of {MANY} files", readers(many, "SELECT sum(v) AS s FROM {t} AS t WHERE id < 10000"))
        contend(report, place, "refresh", [
            silt_query(f"SELECT id FROM delta.`{checkpoint}` WHERE id < -100", without_rows, True),
            python_peer("delta-rs", "--refresh", checkpoint, "", read=without_rows, again=True),
            python_peer("duckdb", "--files", checkpoint, read=without_rows, again=True)])
        contend(report, place, "commit of one row", [
            silt_query(f"INSERT INTO delta.`{commits}` VALUES (1, 'a')", without_rows, True),
            python_peer("delta-rs", "--insert", commits, read=without_rows, again=True)])
        contend(report, place, "commit of one row, cold", [
            silt_query(f"INSERT INTO delta.`{commits}` VALUES (1, 'a')", without_rows),
            python_peer("delta-rs", "--insert", commits, read=without_rows)])
        measure_scan(report, place, folder)


AREAS = {"stores": measure_stores}
