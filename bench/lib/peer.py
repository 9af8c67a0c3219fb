"""One peer, in a process of its own: runs a query or a write again and again and prints what bench_query prints.

    peer.py NAME --threads N --repeat N --data FOLDER (--query NAME | --write SOURCE TARGET | --check FILES… | --history TABLE | --files TABLE)

What a repetition takes in holds for all: the newest version of the table is looked up, planned and read, and all rows are fetched.
Imports are outside of the times and inside of the process's.
"""
import argparse
import decimal
import glob
import importlib
import json
import os
import time

import queries


def text_of(value):
    if value is None:
        return None
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return repr(value) if isinstance(value, float) else str(value)


def texts(rows):
    return [[text_of(value) for value in row] for row in rows]


class DuckDb:
    """DuckDB with its delta extension."""

    modules = ("duckdb", "duckdb_extension_delta")

    def __init__(self, args, duckdb, extension):
        self.connection = duckdb.connect(config={
            "allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false",
            "threads": str(args.threads)})
        folder = list(extension.__path__)[0]
        self.connection.execute(
            "LOAD '" + glob.glob(os.path.join(folder, "**", "delta.duckdb_extension"), recursive=True)[0] + "'")
        self.data = args.data

    def query(self, name):
        ways = {table: f"delta_scan('{self.data}/{table}')" for table in queries.TABLES}
        return texts(self.connection.execute(queries.fill(queries.READS[name], ways)).fetchall())

    def check(self, path):
        """Facts about a written table or Parquet file that every right copy of lineitem shares."""
        way = f"read_parquet('{path}')" if path.endswith(".parquet") else f"delta_scan('{path}')"
        return texts(self.connection.execute(
            f"SELECT count(*), sum(l_orderkey), sum(l_extendedprice), sum(hash(l_comment)), min(l_shipdate), "
            f"max(l_shipdate), count(DISTINCT l_shipmode) FROM {way}").fetchall())


class DeltaRs:
    """delta-rs with DataFusion."""

    modules = ("deltalake", "pyarrow", "pyarrow.dataset")

    def __init__(self, args, deltalake, pyarrow, dataset):
        self.deltalake = deltalake
        self.pyarrow = pyarrow
        self.dataset = dataset
        self.data = args.data

    def query(self, name):
        builder = self.deltalake.QueryBuilder()
        for table in queries.TABLES:
            if "{" + table + "}" in queries.READS[name]:
                builder = builder.register(table, self.deltalake.DeltaTable(f"{self.data}/{table}"))
        found = self.pyarrow.table(builder.execute(queries.fill(queries.READS[name], {t: t for t in queries.TABLES})))
        return texts(zip(*[column.to_pylist() for column in found.columns]))

    def write(self, source, target):
        rows = self.dataset.dataset(source).scanner().to_reader()
        properties = self.deltalake.WriterProperties(compression="ZSTD", compression_level=3)
        self.deltalake.write_deltalake(target, rows, writer_properties=properties)

    def history(self, table):
        return texts([[len(self.deltalake.DeltaTable(table).history())]])

    def files(self, table):
        """Loads the newest version with the list of its files."""
        return [[str(self.deltalake.DeltaTable(table).get_add_actions().num_rows)]]


class Polars:
    """Polars, which reads the log with delta-rs and the files itself."""

    modules = ("polars",)

    def __init__(self, args, polars):
        self.polars = polars
        self.data = args.data

    def query(self, name):
        frames = {table: self.polars.scan_delta(f"{self.data}/{table}") for table in queries.TABLES
                  if "{" + table + "}" in queries.READS[name]}
        text = queries.fill(queries.READS[name], {table: table for table in queries.TABLES})
        return texts(self.polars.SQLContext(frames).execute(text).collect().rows())

    def write(self, source, target):
        self.polars.scan_parquet(source).sink_delta(target)


PEERS = {"duckdb": DuckDb, "delta-rs": DeltaRs, "polars": Polars}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--data")
    parser.add_argument("--query")
    parser.add_argument("--write", nargs=2)
    parser.add_argument("--check", nargs="+")
    parser.add_argument("--history")
    parser.add_argument("--files")
    args = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = os.environ["TOKIO_WORKER_THREADS"] = str(args.threads)

    modules = [importlib.import_module(name) for name in PEERS[args.name].modules]
    begin = time.perf_counter_ns()
    peer = PEERS[args.name](args, *modules)
    opened = time.perf_counter_ns() - begin
    times, rows = [], []
    for number in range(args.repeat):
        begin = time.perf_counter_ns()
        if args.query:
            rows = peer.query(args.query)
        elif args.history:
            rows = peer.history(args.history)
        elif args.files:
            rows = peer.files(args.files)
        elif args.write:
            peer.write(args.write[0], args.write[1].replace("{n}", str(number)))
        else:
            rows = [peer.check(path)[0] for path in args.check]
        times.append((time.perf_counter_ns() - begin) // 1000)
    print(json.dumps({"open_us": opened // 1000, "times_us": times, "n_rows": len(rows), "rows": rows}))


if __name__ == "__main__":
    main()
