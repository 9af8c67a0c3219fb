"""One peer, in a process of its own: does something again and again and prints what bench_query prints.

    peer.py NAME --threads N --repeat N WHAT

What a repetition takes in holds for all: the newest version of the table is looked up, planned and read, and all rows are fetched.
Imports are outside of the times and inside of the process's. WHAT is one of

    --data FOLDER --query NAME            a query of queries.py
    --tables {"name": FOLDER} --text SQL  another one, {name} in it; --count: the rows are fetched as Arrow and counted;
                                          --pinned: the tables are attached, at a version that is looked up once (DuckDB)
    --write SOURCE TARGET                 a table from a Parquet file
    --check FILES…                        facts about what was written
    --history TABLE                       the number of versions
    --files TABLE [--where SQL]           the list of its files, with partition values, or of those that may have such rows
    --open TABLE                          protocol, metadata and schema
    --checkpoint TABLE                    writes one, of the newest version (delta-rs)
    --append TABLE N                      commits of one row (two columns), as bench_append
    --refresh TABLE FOLDER                before each repetition but the first the next commit of FOLDER is moved into the log; "": none is
    --insert TABLE                        a commit of one row (two columns) a repetition, the table is kept open between them

Tables may be URIs of S3; then AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION say where and how.
"""
import argparse
import decimal
import glob
import importlib
import json
import os
import sys
import time

import queries

PRINTED_ROWS = 100


def text_of(value):
    if value is None:
        return None
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return repr(value) if isinstance(value, float) else str(value)


def texts(rows):
    return [[text_of(value) for value in row] for row in rows]


def count_batches(reader):
    return [[str(sum(batch.num_rows for batch in reader))]]


class DuckDb:
    """DuckDB with its delta extension."""

    modules = ("duckdb", "duckdb_extension_delta", "pyarrow")

    def __init__(self, args, duckdb, extension, _):
        self.attached = False
        self.connection = duckdb.connect(config={
            "allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false",
            "threads": str(args.threads)})
        if os.environ.get("AWS_ENDPOINT_URL"):
            self.load(importlib.import_module("duckdb_extension_httpfs"), "httpfs")
            keys = {"KEY_ID": "AWS_ACCESS_KEY_ID", "SECRET": "AWS_SECRET_ACCESS_KEY", "REGION": "AWS_REGION"}
            said = ", ".join(f"{name} '{os.environ[variable]}'" for name, variable in keys.items())
            endpoint = os.environ["AWS_ENDPOINT_URL"].split("://")[1]
            self.connection.execute(
                f"CREATE SECRET (TYPE s3, {said}, ENDPOINT '{endpoint}', URL_STYLE 'path', USE_SSL false)")
        self.load(extension, "delta")
        self.ways = {name: f"delta_scan('{place}')" for name, place in args.tables.items()}
        if args.pinned:
            for name, place in args.tables.items():
                self.connection.execute(f"ATTACH '{place}' AS pinned_{name} (TYPE delta, PIN_SNAPSHOT)")
                self.ways[name] = f"pinned_{name}"

    def load(self, extension, name):
        folder = list(extension.__path__)[0]
        path = glob.glob(os.path.join(folder, "**", f"{name}.duckdb_extension"), recursive=True)[0]
        self.connection.execute(f"LOAD '{path}'")

    def query(self, text):
        return texts(self.connection.execute(queries.fill(text, self.ways)).fetchall())

    def count(self, text):
        return count_batches(self.connection.execute(queries.fill(text, self.ways)).to_arrow_reader())

    def check(self, path):
        """Facts about a written table or Parquet file that every right copy of lineitem shares."""
        way = f"read_parquet('{path}')" if path.endswith(".parquet") else f"delta_scan('{path}')"
        return texts(self.connection.execute(
            f"SELECT count(*), sum(l_orderkey), sum(l_extendedprice), sum(hash(l_comment)), min(l_shipdate), "
            f"max(l_shipdate), count(DISTINCT l_shipmode) FROM {way}").fetchall())

    def files(self, table, where):
        """Its list has no statistics and takes no filter but on partition values, after the whole of it is made."""
        value = f" WHERE partitions['day'] = '{where.split(chr(39))[1]}'" if where else ""
        text = f"SELECT count(data_file), count(partitions) FROM delta_list_files('{table}'){value}"
        return texts(self.connection.execute(text).fetchall())[0][:1]

    def open(self, table):
        return self.connection.execute(f"DESCRIBE SELECT * FROM delta_scan('{table}')").fetchall()

    def refresh(self, table):
        return self.files(table, None)

    def append(self, table):
        if not self.attached:
            self.connection.execute(f"ATTACH '{table}' AS target (TYPE delta)")
            self.attached = True
        self.connection.execute("INSERT INTO target VALUES (1, 'a')")


class DeltaRs:
    """delta-rs with DataFusion."""

    modules = ("deltalake", "pyarrow", "pyarrow.dataset")

    def __init__(self, args, deltalake, pyarrow, dataset):
        self.deltalake = deltalake
        self.pyarrow = pyarrow
        self.dataset = dataset
        self.tables = args.tables
        self.resident = None

    def execute(self, text):
        builder = self.deltalake.QueryBuilder()
        for name, place in self.tables.items():
            if "{" + name + "}" in text:
                builder = builder.register(name, self.deltalake.DeltaTable(place))
        return builder.execute(queries.fill(text, {name: name for name in self.tables}))

    def query(self, text):
        found = self.pyarrow.table(self.execute(text))
        return texts(zip(*[column.to_pylist() for column in found.columns]))

    def count(self, text):
        return count_batches(self.execute(text))

    def write(self, source, target):
        rows = self.dataset.dataset(source).scanner().to_reader()
        properties = self.deltalake.WriterProperties(compression="ZSTD", compression_level=3)
        self.deltalake.write_deltalake(target, rows, writer_properties=properties)

    def append(self, table):
        rows = self.pyarrow.table({"id": self.pyarrow.array([1], self.pyarrow.int64()), "name": ["a"]})
        self.deltalake.write_deltalake(table, rows, mode="append")

    def insert(self, table):
        if self.resident is None:
            self.resident = self.deltalake.DeltaTable(table)
        self.append(self.resident)

    def history(self, table):
        return texts([[len(self.deltalake.DeltaTable(table).history())]])

    def files(self, table, where):
        """All files as Arrow (the faster way), or the names of those that a predicate leaves."""
        found = self.deltalake.DeltaTable(table)
        if where:
            return [str(len(found.file_uris(file_pruning_predicate=where)))]
        return [str(found.get_add_actions().num_rows)]

    def open(self, table):
        found = self.deltalake.DeltaTable(table)
        return [found.protocol(), found.metadata(), found.schema()]

    def checkpoint(self, table):
        self.deltalake.DeltaTable(table).create_checkpoint()

    def refresh(self, table):
        if self.resident is None:
            self.resident = self.deltalake.DeltaTable(table)
        self.resident.update_incremental()
        return [str(self.resident.get_add_actions().num_rows)]


class Polars:
    """Polars, which reads the log with delta-rs and the files itself."""

    modules = ("polars",)

    def __init__(self, args, polars):
        self.polars = polars
        self.tables = args.tables

    def execute(self, text):
        frames = {name: self.polars.scan_delta(place) for name, place in self.tables.items() if "{" + name + "}" in text}
        return self.polars.SQLContext(frames).execute(queries.fill(text, {name: name for name in self.tables})).collect()

    def query(self, text):
        return texts(self.execute(text).rows())

    def count(self, text):
        return [[str(self.execute(text).height)]]

    def write(self, source, target):
        self.polars.scan_parquet(source).sink_delta(target)


PEERS = {"duckdb": DuckDb, "delta-rs": DeltaRs, "polars": Polars}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--data")
    parser.add_argument("--query")
    parser.add_argument("--tables", type=json.loads, default={})
    parser.add_argument("--text")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--pinned", action="store_true")
    parser.add_argument("--write", nargs=2)
    parser.add_argument("--check", nargs="+")
    parser.add_argument("--history")
    parser.add_argument("--files")
    parser.add_argument("--where")
    parser.add_argument("--open")
    parser.add_argument("--checkpoint")
    parser.add_argument("--append", nargs=2)
    parser.add_argument("--refresh", nargs=2)
    parser.add_argument("--insert")
    args = parser.parse_args()
    if args.query:
        args.text = queries.READS[args.query]
        args.tables = {table: f"{args.data}/{table}" for table in queries.TABLES}
    return args


def publish(table, prepared):
    """Moves the first of the prepared commits into the log."""
    name = min(os.listdir(prepared))
    os.rename(os.path.join(prepared, name), os.path.join(table, "_delta_log", name))


def once(peer, args, number):
    """One repetition; its rows."""
    if args.text:
        return peer.count(args.text) if args.count else peer.query(args.text)
    if args.history:
        return peer.history(args.history)
    if args.files:
        return [peer.files(args.files, args.where)]
    if args.open:
        peer.open(args.open)
        return []
    if args.checkpoint:
        peer.checkpoint(args.checkpoint)
        return []
    if args.refresh:
        return [peer.refresh(args.refresh[0])]
    if args.insert:
        peer.insert(args.insert)
        return []
    if args.write:
        peer.write(args.write[0], args.write[1].replace("{n}", str(number)))
        return []
    return [peer.check(path)[0] for path in args.check]


def try_append(peer, table):
    """Whether the commit was made. Whatever the peer says of a lost race is counted, not judged."""
    try:
        peer.append(table)
        return 1
    except Exception as refusal:  # each peer has errors of its own
        print(refusal, file=sys.stderr)
        return 0


def append(peer, table, commits):
    """As bench_append: the first one is apart, and all writers begin at once."""
    first = try_append(peer, table)
    print("ready", flush=True)
    sys.stdin.readline()
    begin, begin_cpu = time.monotonic_ns(), time.process_time_ns()
    done = sum(try_append(peer, table) for _ in range(commits))
    end, cpu = time.monotonic_ns(), time.process_time_ns() - begin_cpu
    print(json.dumps({"commits": done, "refused": commits - done, "first": first, "begin_us": begin // 1000, "end_us": end // 1000,
                      "cpu_us": cpu // 1000}))


def main():
    args = parse()
    os.environ["POLARS_MAX_THREADS"] = os.environ["TOKIO_WORKER_THREADS"] = str(args.threads)
    modules = [importlib.import_module(name) for name in PEERS[args.name].modules]
    begin = time.perf_counter_ns()
    peer = PEERS[args.name](args, *modules)
    opened = time.perf_counter_ns() - begin
    if args.append:
        append(peer, args.append[0], int(args.append[1]))
        return
    times, cpu, rows = [], [], []
    for number in range(args.repeat):
        if args.refresh and args.refresh[1] and number > 0:
            publish(*args.refresh)
        begin, begin_cpu = time.perf_counter_ns(), time.process_time_ns()
        rows = once(peer, args, number)
        times.append((time.perf_counter_ns() - begin) // 1000)
        cpu.append((time.process_time_ns() - begin_cpu) // 1000)
    print(json.dumps({"open_us": opened // 1000, "times_us": times, "cpu_us": cpu, "n_rows": len(rows),
                      "rows": rows[:PRINTED_ROWS]}))


if __name__ == "__main__":
    main()
