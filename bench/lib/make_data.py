"""Makes the benchmarks' tables; run by the peers' Python: make_data.py FOLDER SCALE_FACTOR.

TPC-H's generator is seeded, so the same scale factor gives the same rows. The Parquet files are DuckDB's and the log is written here,
so that no contestant reads what it laid out itself. A finished folder has the file "done".
"""
import glob
import json
import os
import shutil
import sys
import uuid

import duckdb
import duckdb_extension_tpch

ROWS_PER_FILE = 1_000_000
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
        low[name] = float(lower) if number else lower if isinstance(lower, int) else str(lower)
        high[name] = float(upper) if number else upper if isinstance(upper, int) else str(upper)
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


def copy_file(db, query, folder, stem):
    name = f"part-{stem:05d}-{uuid.uuid5(NAMESPACE, f'{os.path.basename(folder)} {stem}')}-c000.zstd.parquet"
    db.execute(f"COPY ({query}) TO '{os.path.join(folder, name)}' ({COPY_OPTIONS})")
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


def main(root, scale_factor):
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    extension = glob.glob(os.path.join(list(duckdb_extension_tpch.__path__)[0], "**", "tpch.duckdb_extension"),
                          recursive=True)[0]
    db = duckdb.connect(config={"allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false"})
    db.execute(f"LOAD '{extension}'")
    db.execute(f"CALL dbgen(sf = {scale_factor})")
    for name in ("lineitem", "orders"):
        make_table(db, root, name)
    copy_folder = os.path.join(root, "source")
    os.makedirs(copy_folder)
    db.execute(f"COPY lineitem TO '{copy_folder}/lineitem.parquet' ({COPY_OPTIONS})")
    make_history(db, root)
    with open(os.path.join(root, "done"), "w", encoding="utf-8"):
        pass


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
