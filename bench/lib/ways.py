"""How each contestant is started, and how it names a table in SQL. Environment: see bench/run."""
import glob
import json
import os
import subprocess

import queries
from contest import tool

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ["SILT"]
PYTHON = os.environ["SILT_BENCH_PYTHON"]
KERNEL = os.environ.get("SILT_BENCH_KERNEL", "")
DATA = os.environ["SILT_BENCH_DATA"]
SCALE = os.environ.get("SILT_BENCH_SF", "1")
REPEAT = int(os.environ.get("SILT_BENCH_REPEAT", "9"))
THREADS = [int(n) for n in os.environ.get("SILT_BENCH_THREADS", "1 2").split()]
COPY_OPTIONS = "FORMAT parquet, PARQUET_VERSION v1, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 122880"


def peer(name, *args):
    return [PYTHON, os.path.join(HERE, "peer.py"), name, *args]


def make_data(part="base"):
    """The folder of the scale factor, with this part of the data in it: base, tpch or vectors."""
    folder = os.path.abspath(os.path.join(DATA, f"sf{SCALE}"))
    make(os.path.join(folder, "done" if part == "base" else f"done-{part}"), "make_data.py", folder, SCALE, part)
    return folder


def make(mark, script, *args):
    """Runs what makes data, unless `mark` says that it is there."""
    if not os.path.exists(mark):
        print(f"making {' '.join(args)}", flush=True)
        subprocess.run([PYTHON, os.path.join(HERE, script), *args], check=True)


def parquet_list(folder):
    return "[" + ", ".join(f"'{path}'" for path in sorted(glob.glob(os.path.join(folder, "*.parquet")))) + "]"


def delta_tables(data, names=queries.TABLES):
    """Ways for silt."""
    return {name: f"delta.`{data}/{name}`" for name in names}


def parquet_tables(data, names=queries.TABLES):
    """Ways for libduckdb: the same files without a table around them."""
    return {name: f"read_parquet({parquet_list(f'{data}/{name}')})" for name in names}


def silt_sql(text, ways, threads):
    return lambda n: [tool("bench_query"), "--threads", str(threads), "--repeat", str(n), queries.fill(text, ways)]


def duck_sql(text, ways, threads):
    return lambda n: [tool("bench_duck"), "--threads", str(threads), "--repeat", str(n), queries.fill(text, ways)]


def peer_sql(name, text, tables, threads, *more):
    """tables: name to folder. Placeholders in the text stay: the peer knows its own ways."""
    return lambda n: peer(name, "--threads", str(threads), "--repeat", str(n), "--tables", json.dumps(tables), "--text", text, *more)
