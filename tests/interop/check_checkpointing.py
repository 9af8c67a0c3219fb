"""Checkpoints that silt makes, of every kind, read by all without the commits before them; Spark goes on from each, checkpoints too."""
import json
import os

import pyarrow as pa

import silt_api
import silt_program
from values import UTC, micros

COLUMNS = [("id", pa.int64()), ("part", pa.string()), ("day", pa.date32()), ("at", UTC),
           ("s", pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))])), ("tags", pa.map_(pa.string(), pa.int32()))]
V2 = {"delta.feature.v2Checkpoint": "supported"}
MAPPED = {"delta.columnMapping.mode": "name"}
# name, properties, partition columns, what to ask for
KINDS = [
    ("classic", {}, [], ["checkpoint"]),
    ("partitioned", {}, ["part", "day"], ["checkpoint"]),
    ("json-only", {"delta.checkpoint.writeStatsAsStruct": "false"}, ["part"], ["checkpoint"]),
    ("struct-only", {"delta.checkpoint.writeStatsAsJson": "false"}, ["part"], ["checkpoint"]),
    ("parts", {}, ["part"], ["checkpoint", "--parts", "3"]),
    ("mapped", MAPPED, ["part"], ["checkpoint"]),
    ("vectors", {"delta.enableDeletionVectors": "true"}, ["part"], ["checkpoint"]),
    ("v2", {"delta.checkpointPolicy": "v2"}, ["part"], ["checkpoint"]),
    ("v2-mapped", {**V2, **MAPPED}, ["part", "day"], ["checkpoint", "--v2"]),
    ("v2-json", V2, ["part"], {"json_top": True, "kind": 2}),
    ("v2-sidecars", V2, ["part"], {"files_per_sidecar": 2, "kind": 2}),
]


def batch(number):
    return [(number * 10 + i, ("x y", "%", None)[i % 3], number * 31 + i, micros("2021-11-07 01:30:00") + i,
             None if i == 2 else {"a": i, "b": None if i == 1 else {"c": f"c{number}"}}, [(f"k{i}", number)]) for i in range(4)]


def batches(first, last):
    return [row for number in range(first, last) for row in batch(number)]


def alone(path, version):
    """The checkpoint is all that is left of the versions up to it, but for the commit of its own."""
    log = os.path.join(path, "_delta_log")
    with open(os.path.join(log, "_last_checkpoint"), encoding="utf-8") as hint:
        found = json.load(hint)["version"]
    if found != version:
        raise ValueError(f"expected a checkpoint of version {version}, found {found}")
    for name in os.listdir(log):
        if name.endswith((".json", ".crc")) and ".checkpoint." not in name and name.lstrip(".")[:20].isdigit() and \
                int(name.lstrip(".")[:20]) < version:
            os.remove(os.path.join(log, name))


def write_checkpoint(path, how):
    if isinstance(how, dict):
        silt_api.Library().checkpoint(path, **how)
    else:
        silt_program.run(how[0], path, *how[1:])


def one_kind(run, name, properties, partitions, how):
    path = run.path(name)
    # DuckDB's extension shows null for partition columns of mapped tables, whoever wrote the log.
    readers = [one for one in run.everyone if one is not run.duckdb or "delta.columnMapping.mode" not in properties]
    if not run.step("silt", f"{name}: write", lambda: (
            silt_program.create(path, COLUMNS, partitions, {"delta.checkpointInterval": "1000", **properties}),
            [silt_program.insert(path, COLUMNS, batch(number)) for number in range(4)])):
        return
    if not run.case("silt", f"{name}: checkpoint", write_checkpoint, path, how):
        return
    run.case("silt", f"{name}: the check of the table", lambda: silt_program.run("fsck", path))
    if not run.case("silt", f"{name}: nothing but the checkpoint", alone, path, 4):
        return
    run.check_rows(f"{name}: from the checkpoint", path, COLUMNS, batches(0, 4), readers)
    run.check_counts(name, path, [("id > 30", 3), ("part = 'x y'", 8)], readers)
    run.spark.session().sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.checkpointInterval' = '2')")
    for number in (4, 5):
        run.case("spark", f"{name}: append {number}", run.spark.append_parquet, path,
                 run.source(f"batch{number}", COLUMNS, batch(number)))
    run.check_rows(f"{name}: after spark's checkpoint", path, COLUMNS, batches(0, 6), readers)
    run.case("silt", f"{name}: append", silt_program.insert, path, COLUMNS, batch(6))
    run.case("silt", f"{name}: another checkpoint", lambda: silt_program.run("checkpoint", path))
    run.check_rows(f"{name}: at the end", path, COLUMNS, batches(0, 7), readers)


def check(run):
    for kind in KINDS:
        run.step("silt", f"{kind[0]}: to the end", one_kind, run, *kind)
