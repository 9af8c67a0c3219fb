"""Makes the benchmarks' tables; run by the peers' Python: make_data.py FOLDER SCALE_FACTOR base|tpch|vectors, FOLDER FILES skip, or
FOLDER MEGABYTES stores.

TPC-H's generator is seeded, so the same scale factor gives the same rows. The Parquet files are DuckDB's and the log is written here,
so that no contestant reads what it laid out itself. A finished part leaves a file "done" or "done-PART".
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import uuid

import duckdb
import duckdb_extension_tpch

import queries

ROWS_PER_FILE = 1_000_000
SKIP_ROWS = 50_000
MANY_FILES, MANY_ROWS = 1000, 1000
SCAN_FILES, SCAN_COLUMNS = 8, 8
COPY_OPTIONS = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 122880"
NAMESPACE = uuid.UUID("5fba94ed-9794-4965-ba6e-6ee3c0d22af9")
TIME_MS = 1_767_225_600_000
HISTORY_COMMITS = 10


def delta_type(text):
    plain = {"BIGINT": "long", "INTEGER": "integer", "VARCHAR": "string", "DATE": "date", "DOUBLE": "double"}
    return plain[text] if text in plain else text.lower()


def columns_of(db, source):
    return [(name, kind) for name, kind, *_ in db.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]


def schema_json(columns):
    fields = [{"name": name, "type": delta_type(kind), "nullable": True, "metadata": {}} for name, kind in columns]
    return json.dumps({"type": "struct", "fields": fields}, separators=(",", ":"))


def statistics(db, path, columns):
    """minValues, maxValues, nullCount as Delta's writers give them; text is short in TPC-H but for comments."""
    names = [(name, kind) for name, kind in columns if not name.endswith("comment")]
    parts = ", ".join(f'min("{n}"), max("{n}"), count(*) - count("{n}")' for n, _ in names)
    row = db.execute(f"SELECT count(*), {parts} FROM read_parquet('{path}')").fetchone()
    low, high, nulls = {}, {}, {}
    for i, (name, kind) in enumerate(names):
        lower, upper, null_count = row[1 + 3 * i:4 + 3 * i]
        number = kind.startswith("DECIMAL")
        low[name] = float(lower) if number else lower if isinstance(lower, (int, float)) else str(lower)
        high[name] = float(upper) if number else upper if isinstance(upper, (int, float)) else str(upper)
        nulls[name] = null_count
    return json.dumps({"numRecords": row[0], "minValues": low, "maxValues": high, "nullCount": nulls},
                      separators=(",", ":"))


def add_action(db, folder, name, columns):
    path = os.path.join(folder, name)
    return {"add": {"path": name, "partitionValues": {}, "size": os.path.getsize(path), "modificationTime": TIME_MS,
                    "dataChange": True, "stats": statistics(db, path, columns)}}


def write_commit(folder, version, actions):
    info = {"commitInfo": {"timestamp": TIME_MS + version * 1000, "operation": "WRITE",
                           "operationParameters": {"mode": "Append", "partitionBy": "[]"}, "isBlindAppend": True,
                           "engineInfo": "silt-bench", "operationMetrics": {"numFiles": "1"}}}
    log = os.path.join(folder, "_delta_log")
    os.makedirs(log, exist_ok=True)
    with open(os.path.join(log, f"{version:020d}.json"), "w", encoding="utf-8") as file:
        for action in [info, *actions]:
            file.write(json.dumps(action, separators=(",", ":")) + "\n")


def head(name, columns):
    return [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {"metaData": {"id": str(uuid.uuid5(NAMESPACE, name)), "format": {"provider": "parquet", "options": {}},
                          "schemaString": schema_json(columns), "partitionColumns": [], "configuration": {},
                          "createdTime": TIME_MS}}]


def copy_file(db, query, folder, stem, options=COPY_OPTIONS):
    name = f"part-{stem:05d}-{uuid.uuid5(NAMESPACE, f'{os.path.basename(folder)} {stem}')}-c000.zstd.parquet"
    db.execute(f"COPY ({query}) TO '{os.path.join(folder, name)}' ({options})")
    return name


def make_table(db, root, name):
    """One commit with all files, in the order of the generator."""
    folder = os.path.join(root, name)
    os.makedirs(folder)
    columns = columns_of(db, name)
    total = db.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
    n_files = max(1, round(total / ROWS_PER_FILE))
    per_file = -(-total // n_files)
    names = [copy_file(db, f"SELECT * FROM {name} LIMIT {per_file} OFFSET {i * per_file}", folder, i)
             for i in range(n_files)]
    write_commit(folder, 0, head(name, columns) + [add_action(db, folder, each, columns) for each in names])


def make_history(db, root):
    """Ten small commits."""
    folder = os.path.join(root, "history")
    os.makedirs(folder)
    query = "SELECT i::BIGINT AS id, 'name ' || i AS name FROM range({0}, {0} + 1000) t(i)"
    columns = [("id", "BIGINT"), ("name", "VARCHAR")]
    for version in range(HISTORY_COMMITS):
        name = copy_file(db, query.format(version * 1000), folder, version)
        actions = head("history", columns) if version == 0 else []
        write_commit(folder, version, actions + [add_action(db, folder, name, columns)])


def open_generator(scale_factor):
    extension = glob.glob(os.path.join(list(duckdb_extension_tpch.__path__)[0], "**", "tpch.duckdb_extension"),
                          recursive=True)[0]
    db = duckdb.connect(config={"allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false"})
    db.execute(f"LOAD '{extension}'")
    db.execute(f"CALL dbgen(sf = {scale_factor})")
    return db


def make_base(root, scale_factor):
    """lineitem and orders, a file of lineitem's rows, a short history."""
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    db = open_generator(scale_factor)
    for name in ("lineitem", "orders"):
        make_table(db, root, name)
    copy_folder = os.path.join(root, "source")
    os.makedirs(copy_folder)
    db.execute(f"COPY lineitem TO '{copy_folder}/lineitem.parquet' ({COPY_OPTIONS})")
    make_history(db, root)


def make_tpch(root, scale_factor):
    """The other tables, and the queries as the generator's extension has them."""
    db = open_generator(scale_factor)
    for name in queries.TPCH_TABLES:
        if name not in queries.TABLES:
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
            make_table(db, root, name)
    texts = [text for _, text in db.execute("SELECT query_nr, query FROM tpch_queries() ORDER BY 1").fetchall()]
    with open(os.path.join(root, "tpch.json"), "w", encoding="utf-8") as file:
        json.dump(texts, file)


def make_vectors(root, _):
    """lineitem's files again (links), with rows deleted by vectors: 10 and 100 of 1000."""
    source = os.path.join(root, "lineitem")
    with open(os.path.join(source, "_delta_log", f"{0:020d}.json"), encoding="utf-8") as file:
        actions = [json.loads(line) for line in file]
    adds = [action["add"] for action in actions if "add" in action]
    rows = [json.loads(add["stats"])["numRecords"] for add in adds]
    meta = next(action["metaData"] for action in actions if "metaData" in action)
    for permille in (10, 100):
        folder = os.path.join(root, f"lineitem_dv{permille}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for add in adds:
            os.link(os.path.join(source, add["path"]), os.path.join(folder, add["path"]))
        made = subprocess.run([os.path.join(os.environ["SILT_BENCH_TOOLS"], "make_vectors"), folder, str(permille), *map(str, rows)],
                              capture_output=True, text=True, check=True)
        features = ["deletionVectors"]
        head = [{"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}},
                {"metaData": {**meta, "id": str(uuid.uuid5(NAMESPACE, folder)), "configuration": {"delta.enableDeletionVectors": "true"}}}]
        write_commit(folder, 0, head + [
            {"add": {**add, "stats": json.dumps({**json.loads(add["stats"]), "tightBounds": False}, separators=(",", ":")),
                     "deletionVector": vector}} for add, vector in zip(adds, json.loads(made.stdout))])
        with open(os.path.join(folder, "rows.json"), "w", encoding="utf-8") as file:
            json.dump(sum(rows), file)


def make_skip(root, n_files):
    """Many files of few columns in one commit: id counts through all of them."""
    shutil.rmtree(root, ignore_errors=True)
    folder = os.path.join(root, "t")
    os.makedirs(folder)
    db = duckdb.connect()
    columns = [("id", "BIGINT"), ("v", "INTEGER")]
    adds = []
    for number in range(int(n_files)):
        first = number * SKIP_ROWS
        name = copy_file(db, f"SELECT i::BIGINT AS id, (i % 1000)::INTEGER AS v FROM range({first}, {first + SKIP_ROWS}) t(i)", folder, number)
        adds.append(add_action(db, folder, name, columns))
    write_commit(folder, 0, head("skip", columns) + adds)


def make_files(db, folder, columns, queries_of_files, options=COPY_OPTIONS):
    """A table of one commit, a file a query."""
    os.makedirs(folder)
    names = [copy_file(db, query, folder, number, options) for number, query in enumerate(queries_of_files)]
    write_commit(folder, 0, head(os.path.basename(folder), columns) + [add_action(db, folder, name, columns) for name in names])


def make_stores(root, megabytes):
    """Many small files; and as many megabytes as said of floating-point numbers that no codec makes smaller, plain, so that to decode them costs
    little. Nothing but reading them all gives their sums."""
    shutil.rmtree(root, ignore_errors=True)
    db = duckdb.connect()
    make_files(db, os.path.join(root, "many"), [("id", "BIGINT"), ("v", "INTEGER"), ("note", "VARCHAR")], [
        f"SELECT i::BIGINT AS id, (i % 1000)::INTEGER AS v, md5(i::VARCHAR) AS note FROM range({first}, {first + MANY_ROWS}) t(i)"
        for first in range(0, MANY_FILES * MANY_ROWS, MANY_ROWS)])
    numbers = ", ".join(f"(hash(i * 8 + {n}) >> 11)::DOUBLE / (1::BIGINT << 53) AS c{n}" for n in range(SCAN_COLUMNS))
    rows = int(megabytes * (1 << 20) / (8 * SCAN_COLUMNS))
    each = -(-rows // SCAN_FILES)
    make_files(db, os.path.join(root, "scan"), [(f"c{n}", "DOUBLE") for n in range(SCAN_COLUMNS)], [
        f"SELECT {numbers} FROM range({first}, {min(rows, first + each)}) t(i)" for first in range(0, rows, each)],
        "FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 122880, DICTIONARY_SIZE_LIMIT 1")


PARTS = {"base": make_base, "tpch": make_tpch, "vectors": make_vectors, "skip": make_skip, "stores": make_stores}


def main(root, size, part):
    """size: scale factor, or number of files of the part skip."""
    if part in ("tpch", "vectors") and not os.path.exists(os.path.join(root, "done")):
        main(root, size, "base")
    PARTS[part](root, float(size))
    with open(os.path.join(root, "done" if part in ("base", "skip", "stores") else f"done-{part}"), "w", encoding="utf-8"):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
