"""Checkpoints that peers make, of tables that silt or they wrote, in one part and in several."""
import glob
import os

import deltalake
import pyarrow as pa

import silt_program
from values import UTC, arrow_table, micros

COLUMNS = [("id", pa.int64()), ("part", pa.string()), ("at", UTC), ("tags", pa.map_(pa.string(), pa.int32()))]
PART_SIZE = "spark.databricks.delta.checkpoint.partSize"


def batch(number):
    return [(number * 10 + i, ("x y", "%", None)[i % 3], micros("2021-11-07 01:30:00") + i, [(f"k{i}", number)])
            for i in range(4)]


def batches(first, last):
    return [row for number in range(first, last) for row in batch(number)]


def has_checkpoint(path, parts):
    """The newest checkpoint has that many parts; commits before it go, so that readers must use it."""
    log = os.path.join(path, "_delta_log")
    names = [os.path.basename(name) for name in glob.glob(os.path.join(log, "*.checkpoint*.parquet"))]
    if not names:
        raise FileNotFoundError(f"no checkpoint in {sorted(os.listdir(log))}")
    newest = max(name[:20] for name in names)
    found = sum(name.startswith(newest) for name in names)
    if (found > 1) != (parts > 1):
        raise ValueError(f"expected {parts} parts of the checkpoint at {newest}, found {found}")
    for name in os.listdir(log):
        if name.endswith((".json", ".json.crc", ".crc")) and name.lstrip(".")[:20].isdigit() and \
                name.lstrip(".")[:20] < newest:
            os.remove(os.path.join(log, name))


def spark_append(run, path, number):
    run.spark.append_parquet(path, run.source(f"batch{number}", COLUMNS, batch(number)))


def silts_table(run, name, partitions, part_size):
    """silt writes, Spark appends and makes checkpoints, silt appends again, all read."""
    path = run.path(name)
    if part_size:
        run.spark.session().conf.set(PART_SIZE, part_size)
    try:
        if not run.step("silt", f"{name}: write", lambda: (
                silt_program.create(path, COLUMNS, partitions, {"delta.checkpointInterval": "2"}),
                [silt_program.insert(path, COLUMNS, batch(number)) for number in (0, 1, 2)])):
            return
        for number in (3, 4):
            run.case("spark", f"{name}: append {number} to silt's", spark_append, run, path, number)
        if run.case("spark", f"{name}: checkpoint", has_checkpoint, path, 2 if part_size else 1):
            run.check_rows(f"{name}: after the checkpoint", path, COLUMNS, batches(0, 5))
            run.case("silt", f"{name}: append", silt_program.insert, path, COLUMNS, batch(5))
            run.check_rows(f"{name}: after silt's append", path, COLUMNS, batches(0, 6))
            run.case("spark", f"{name}: append 6", spark_append, run, path, 6)
            run.check_rows(f"{name}: after spark's append", path, COLUMNS, batches(0, 7))
            run.case("silt", f"{name}: overwrite", lambda: silt_program.insert(path, COLUMNS, batch(7), mode="OVERWRITE"))
            run.check_rows(f"{name}: after the overwrite", path, COLUMNS, batch(7))
    finally:
        if part_size:
            run.spark.session().conf.unset(PART_SIZE)


def sparks_table(run):
    path = run.path("spark")
    for number in range(5):
        run.spark.frame(run.source(f"batch{number}", COLUMNS, batch(number))).write.format("delta").mode("append").option(
            "delta.checkpointInterval", "2").partitionBy("part").save(path)
    if run.case("spark", "spark's table: checkpoint", has_checkpoint, path, 1):
        run.check_rows("spark's table", path, COLUMNS, batches(0, 5), [run.silt])
        run.case("silt", "spark's table: append", silt_program.insert, path, COLUMNS, batch(5))
        run.check_rows("spark's table: after silt's append", path, COLUMNS, batches(0, 6))


def delta_rs_checkpoint(run):
    """delta-rs makes the checkpoint of silt's table, and of its own."""
    ours, theirs = run.path("silt-delta-rs"), run.path("delta-rs")
    if not run.step("silt", "delta-rs checkpoint: write", lambda: (
            silt_program.create(ours, COLUMNS, ["part"]),
            [silt_program.insert(ours, COLUMNS, batch(number)) for number in (0, 1)])):
        return
    for number in (0, 1):
        deltalake.write_deltalake(theirs, arrow_table(COLUMNS, batch(number)), mode="append", partition_by=["part"])
    for name, path in (("silt's table", ours), ("delta-rs's table", theirs)):
        run.case("delta-rs", f"checkpoint of {name}", lambda p=path: deltalake.DeltaTable(p).create_checkpoint())
        if run.case("delta-rs", f"checkpoint of {name} is there", has_checkpoint, path, 1):
            run.check_rows(f"delta-rs checkpoint of {name}", path, COLUMNS, batches(0, 2))
            run.case("silt", f"append to {name}", silt_program.insert, path, COLUMNS, batch(2))
            run.check_rows(f"append behind delta-rs's checkpoint of {name}", path, COLUMNS, batches(0, 3))


def check(run):
    silts_table(run, "silt", [], None)
    silts_table(run, "silt-partitioned", ["part"], None)
    silts_table(run, "silt-parts", ["part"], "3")
    sparks_table(run)
    delta_rs_checkpoint(run)
