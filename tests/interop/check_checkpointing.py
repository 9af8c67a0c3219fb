"""Checkpoints that silt makes, of every kind: read by all without the commits and checksums before them; Spark goes on from each, with
checkpoints of its own, and silt from those. What a checkpoint holds is looked up in its files."""
import glob
import json
import os
from collections import namedtuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import samples
import silt_api
import silt_program
from check_partitions import is_text, short, stored
from harness import same
from values import UTC, micros, spark_columns, sql_values

COLUMNS = [("id", pa.int64()), ("part", pa.string()), ("day", pa.date32()), ("at", UTC),
           ("s", pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))])), ("tags", pa.map_(pa.string(), pa.int32()))]
TYPED = [("id", pa.int64())] + [(name, kind) for name, (kind, _) in samples.SCALARS.items()]
INTERVAL = 7  # silt's commits stay below, the second or third after its checkpoint is Spark's
JOB = ("job", 3)  # application id and version of the last of silt's appends


def batch(number):
    return [(number * 10 + i, ("x y", "%", None)[i % 3], number * 31 + i, micros("2021-11-07 01:30:00") + i,
             None if i == 2 else {"a": i, "b": None if i == 1 else {"c": f"c{number}"}}, [(f"k{i}", number)]) for i in range(4)]


def typed_batch(number):
    """Values of every type of partition column that all can hold in the log and in the name of a folder."""
    values = [[value for value in values if is_text(value) and short(value)] for _, values in samples.SCALARS.values()]
    return [(at, *(stored(of_type[at % len(of_type)]) for of_type in values)) for at in range(number * 10, number * 10 + 4)]


V2 = {"delta.feature.v2Checkpoint": "supported"}
POLICY = {"delta.checkpointPolicy": "v2"}
NAMES, IDS = {"delta.columnMapping.mode": "name"}, {"delta.columnMapping.mode": "id"}
VECTORS = {"delta.enableDeletionVectors": "true"}
TRACKED = {"delta.enableRowTracking": "true", "delta.enableInCommitTimestamps": "true"}
TEXT_ONLY, STRUCT_ONLY = {"delta.checkpoint.writeStatsAsStruct": "false"}, {"delta.checkpoint.writeStatsAsJson": "false"}
PLAIN, V2_PLAIN, V2_JSON = ["checkpoint"], ["checkpoint", "--v2"], {"json_top": True, "kind": 2}
BOTH = "stats stats_parsed"

# properties, partition columns, what to ask for, what the checkpoint then holds besides metadata, protocol, tombstones and the job
Kind = namedtuple("Kind", "properties partitions how holds columns batch", defaults=(COLUMNS, batch))
KINDS = {
    "classic": Kind({}, [], PLAIN, BOTH),
    "partitioned": Kind({}, ["part", "day"], PLAIN, f"{BOTH} partitionValues_parsed"),
    "json-only": Kind(TEXT_ONLY, ["part"], PLAIN, "stats"),
    "struct-only": Kind(STRUCT_ONLY, ["part"], PLAIN, "stats_parsed partitionValues_parsed"),
    "partition-types": Kind({}, [name for name, _ in TYPED[1:]], PLAIN, f"{BOTH} partitionValues_parsed", TYPED, typed_batch),
    "parts": Kind({}, ["part"], ["checkpoint", "--parts", "3"], f"{BOTH} partitionValues_parsed parts"),
    "parts-struct-only": Kind(STRUCT_ONLY, [], ["checkpoint", "--parts", "2"], "stats_parsed parts"),
    "mapped": Kind(NAMES, ["part"], PLAIN, f"{BOTH} partitionValues_parsed"),
    "mapped-by-id": Kind(IDS, [], PLAIN, BOTH),
    "vectors": Kind(VECTORS, ["part"], PLAIN, f"{BOTH} partitionValues_parsed vectors"),
    "row-ids": Kind(TRACKED, [], PLAIN, f"{BOTH} baseRowId domainMetadata"),
    "v2": Kind(POLICY, ["part"], PLAIN, f"{BOTH} partitionValues_parsed sidecar"),
    "v2-json-only": Kind({**POLICY, **TEXT_ONLY}, ["part"], PLAIN, "stats sidecar"),
    "v2-struct-only": Kind({**POLICY, **STRUCT_ONLY}, ["part"], PLAIN, "stats_parsed partitionValues_parsed sidecar"),
    "v2-partition-types": Kind(V2, [name for name, _ in TYPED[1:]], V2_PLAIN, f"{BOTH} partitionValues_parsed sidecar", TYPED, typed_batch),
    "v2-mapped": Kind({**V2, **NAMES}, ["part", "day"], V2_PLAIN, f"{BOTH} partitionValues_parsed sidecar"),
    "v2-vectors": Kind({**POLICY, **VECTORS}, [], PLAIN, f"{BOTH} sidecar vectors"),
    "v2-row-ids": Kind({**V2, **TRACKED}, [], V2_PLAIN, f"{BOTH} sidecar baseRowId domainMetadata"),
    "v2-sidecars": Kind(V2, ["part"], {"files_per_sidecar": 2, "kind": 2}, f"{BOTH} partitionValues_parsed sidecar sidecars"),
    "v2-json": Kind({**V2, **VECTORS}, ["part"], V2_JSON, f"{BOTH} partitionValues_parsed sidecar json vectors"),
    "v2-json-struct-only": Kind({**V2, **STRUCT_ONLY, **IDS}, [], V2_JSON, "stats_parsed sidecar json"),
}


def batches(kind, first, last):
    return [row for number in range(first, last) for row in kind.batch(number)]


# ---- silt's table and its checkpoint -------------------------------------------------------------------------------------
def fill(run, path, kind):
    """Four batches, a tombstone, and a deletion vector where the table may have them. Returns the rows that are left."""
    table = f"delta.`{path}`"
    properties = {"delta.checkpointInterval": str(INTERVAL), **kind.properties}
    by = " PARTITIONED BY (" + ", ".join(f"`{name}`" for name in kind.partitions) + ")" if kind.partitions else ""
    statements = [f"CREATE TABLE {table} ({spark_columns(kind.columns)}) USING delta{by} TBLPROPERTIES (" +
                  ", ".join(f"'{key}' = '{value}'" for key, value in properties.items()) + ")"]
    statements += [f"INSERT INTO {table} {sql_values(kind.columns, kind.batch(number))}" for number in range(3)]
    statements.append(f"INSERT INTO {table} REPLACE WHERE id >= 20 {sql_values(kind.columns, kind.batch(2))}")
    silt_program.sql(";\n".join(statements))
    do_job(path, kind)
    rows = batches(kind, 0, 4)
    if "vectors" in kind.holds:
        run.spark.sql(f"DELETE FROM {table} WHERE id IN (3, 13)")
        rows = [row for row in rows if row[0] not in (3, 13)]
    return rows


def do_job(path, kind):
    text = f"INSERT INTO delta.`{path}` {sql_values(kind.columns, kind.batch(3))}"
    silt_program.run("sql", text, "--txn-app-id", JOB[0], "--txn-version", str(JOB[1]))


def versions(path):
    return sorted(int(os.path.basename(name)[:20]) for name in glob.glob(os.path.join(path, "_delta_log", "[0-9]*.json"))
                  if ".checkpoint." not in name)


def write_checkpoint(path, how):
    if isinstance(how, dict):
        silt_api.Library().checkpoint(path, **how)
    else:
        silt_program.run(how[0], path, *how[1:])


def held_by_rows(table, found):
    """What the rows of a checkpoint or sidecar hold, as words."""
    for action in ("remove", "txn", "domainMetadata", "sidecar"):
        if action in table.column_names and table.column(action).null_count < len(table):
            found.add(action)
    if "add" in table.column_names:
        add = table.column("add").combine_chunks().drop_null()
        for name in ("stats", "stats_parsed", "partitionValues_parsed", "baseRowId", "deletionVector"):
            if add.type.get_field_index(name) >= 0 and len(pc.struct_field(add, name).drop_null()) > 0:
                found.add("vectors" if name == "deletionVector" else name)


def holds(path, version):
    log, found = os.path.join(path, "_delta_log"), set()
    files = glob.glob(os.path.join(log, f"{version:020}.checkpoint*"))
    if len(files) > 1:
        found.add("parts")
    sidecars = []
    for file in files:
        if file.endswith(".json"):
            found.add("json")
            with open(file, encoding="utf-8") as lines:
                actions = [json.loads(line) for line in lines]
            found.update(key for action in actions for key in action if key in ("txn", "domainMetadata", "sidecar"))
            sidecars += [action["sidecar"]["path"] for action in actions if "sidecar" in action]
        else:
            table = pq.ParquetFile(file).read()
            held_by_rows(table, found)
            if "sidecar" in found:
                sidecars += pc.struct_field(table.column("sidecar").combine_chunks().drop_null(), "path").to_pylist()
    if len(sidecars) > 1:
        found.add("sidecars")
    for name in sidecars:
        held_by_rows(pq.ParquetFile(os.path.join(log, "_sidecars", name)).read(), found)
    return found


def alone(path, version):
    """The checkpoint is all that is left of the versions up to it, but for the commit of its own."""
    log = os.path.join(path, "_delta_log")
    with open(os.path.join(log, "_last_checkpoint"), encoding="utf-8") as hint:
        same(version, json.load(hint)["version"])
    for name in os.listdir(log):
        number = name.lstrip(".")[:20]
        if not number.isdigit() or ".checkpoint" in name or int(number) > version:
            continue
        if name.endswith(".crc") or (name.endswith(".json") and int(number) < version):
            os.remove(os.path.join(log, name))


# ---- one kind ---------------------------------------------------------------------------------------------------------------
def job_is_done(run, path, kind, version, by_spark):
    """The checkpoint is the only one to tell of the job: nobody does it again."""
    run.case("silt", "the job is done", lambda: (do_job(path, kind), same(version, versions(path)[-1])))
    if by_spark:
        source = run.source("job", kind.columns, kind.batch(3))
        run.case("spark", "the job is done", lambda: (
            run.spark.frame(source).write.format("delta").mode("append").option("txnAppId", JOB[0]).option(
                "txnVersion", JOB[1]).save(path), same(version, versions(path)[-1])))


def spark_goes_on(run, name, path, kind, version):
    for number in (4, 5):
        run.case("spark", f"{name}: append {number}", run.spark.append_parquet, path,
                 run.source(f"{name}-{number}", kind.columns, kind.batch(number)))
    run.case("spark", f"{name}: checkpoint of its own", lambda: same(
        [INTERVAL], sorted({int(os.path.basename(file)[:20]) for file in glob.glob(
            os.path.join(path, "_delta_log", "*.checkpoint*")) if int(os.path.basename(file)[:20]) > version})))


def one_kind(run, name, kind):
    path = run.path(name)
    # DuckDB's extension shows null for partition columns of mapped tables, whoever wrote the log.
    readers = [one for one in run.everyone if one is not run.duckdb or "delta.columnMapping.mode" not in kind.properties]
    rows = fill(run, path, kind)
    version = versions(path)[-1]
    if not run.case("silt", f"{name}: checkpoint", write_checkpoint, path, kind.how):
        return
    run.case("silt", f"{name}: what it holds", lambda: same(
        sorted({"remove", "txn", *kind.holds.split()}), sorted(holds(path, version))))
    run.case("silt", f"{name}: the check of the table", lambda: same("", silt_program.run("fsck", path, "-o", "jsonl")))
    if not run.case("silt", f"{name}: nothing but the checkpoint", alone, path, version):
        return
    run.check_rows(f"{name}: from the checkpoint", path, kind.columns, rows, readers)
    some, is_some = "part = 'x y'", lambda row: row[1] == "x y"
    if kind.columns is TYPED:
        some, is_some = "c_int > 0", lambda row: row[3] is not None and row[3] > 0
    run.check_counts(name, path, [("id > 30", 3), (some, sum(map(is_some, rows)))], readers)
    job_is_done(run, path, kind, version, name in ("classic", "v2", "v2-json"))
    spark_goes_on(run, name, path, kind, version)
    rows += batches(kind, 4, 6)
    run.check_rows(f"{name}: after spark's checkpoint", path, kind.columns, rows, [run.silt])
    run.case("silt", f"{name}: append", silt_program.insert, path, kind.columns, kind.batch(6))
    run.case("silt", f"{name}: another checkpoint", lambda: silt_program.run("checkpoint", path))
    rows += kind.batch(6)
    run.check_rows(f"{name}: at the end", path, kind.columns, rows, readers)
    run.case("silt", f"{name}: the check at the end", lambda: same("", silt_program.run("fsck", path, "-o", "jsonl")))
    if "baseRowId" in kind.holds:
        run.case("spark", f"{name}: row ids", lambda: same(len(rows), run.spark.sql(
            f"SELECT count(DISTINCT _metadata.row_id) FROM delta.`{path}`").collect()[0][0]))


def check(run):
    for name, kind in KINDS.items():
        run.step("silt", f"{name}: to the end", one_kind, run, name, kind)
