"""Statements that replace, evolve and are done once: silt runs them on one table, Spark on its twin. After each every reader must see in silt's
table what Spark made of the twin, the commits must tell the same, and `silt fsck` must be clean."""
import glob
import json
import os
import subprocess
from decimal import Decimal

import pyarrow as pa

import silt_program
from harness import Mismatch, same

NESTED = pa.struct([("a", pa.int32())])
COLUMNS = [("id", pa.int64()), ("p", pa.string()), ("v", pa.string())]
FILL = "INSERT INTO {t} VALUES (1, 'a', 'one'), (2, 'a', 'two'), (3, 'b', 'three'), (4, 'b', NULL), (5, NULL, 'five')"
# What of a commit's metrics does not depend on how rows are cut into files.
METRICS = ("numOutputRows", "numDeletedRows", "numCopiedRows", "numRemovedFiles", "numAddedChangeFiles")

# name, statement of silt, statement of Spark (None: the same; APPEND query: by its writer), columns afterwards (None: as before)
PARTS = [
    ("replace a partition", "INSERT INTO {t} REPLACE WHERE p = 'a' SELECT 10, 'a', 'ten'", None, None),
    ("replace null partitions", "INSERT INTO {t} REPLACE WHERE p IS NULL SELECT 11, CAST(NULL AS STRING), 'nu'", None, None),
    ("replace rows", "INSERT INTO {t} REPLACE WHERE id = 3 SELECT 3, 'c', 'THREE'", None, None),
    ("replace by a condition that is null for rows", "INSERT INTO {t} REPLACE WHERE v <> 'nu' SELECT 12, 'b', 'x'", None, None),
    ("replace nothing", "INSERT INTO {t} REPLACE WHERE id > 100 SELECT 101, 'z', 'z'", None, None),
    ("replace by nothing", "INSERT INTO {t} REPLACE WHERE id = 12 SELECT * FROM {t} WHERE id > 1000", None, None),
    ("several conditions", "INSERT INTO {t} REPLACE WHERE p IN ('c', 'z') OR id BETWEEN 1 AND 3 SELECT 2, 'd', 'q'", None, None),
    ("by name", "INSERT INTO {t} BY NAME SELECT 'e' AS p, 20 AS id", None, None),
    ("a list", "INSERT INTO {t} (v, id) SELECT 'li', 21", None, None),
    ("into a partition", "INSERT INTO {t} PARTITION (p = 'e') SELECT 22, 'pa'", None, None),
    ("overwrite a partition", "INSERT OVERWRITE {t} PARTITION (p = 'e') SELECT 23, 'ov'", None, None),
    ("dynamic overwrite", [("partitionOverwriteMode", "spark.sql.sources.partitionOverwriteMode", "dynamic"),
                           "INSERT OVERWRITE {t} SELECT 30, 'd', 'dy' UNION ALL SELECT 31, NULL, 'dn'"], None, None),
    ("truncate", "TRUNCATE TABLE {t}", None, None),
    ("fill again", FILL, None, None),
]

EVOLVING = [
    ("a new column", [("autoMerge", "spark.databricks.delta.schema.autoMerge.enabled", "true"),
                      "INSERT INTO {t} BY NAME SELECT 40 AS id, CAST(1.5 AS DOUBLE) AS w"], None,
     COLUMNS + [("w", pa.float64())]),
    ("a new struct", [("autoMerge", "spark.databricks.delta.schema.autoMerge.enabled", "true"),
                      "INSERT INTO {t} BY NAME SELECT 41 AS id, {{'a': CAST(1 AS INT)}} AS s, [{{'a': CAST(2 AS INT)}}] AS l"],
     "INSERT INTO {t} BY NAME SELECT 41 AS id, named_struct('a', CAST(1 AS INT)) AS s, array(named_struct('a', CAST(2 AS INT))) AS l",
     COLUMNS + [("w", pa.float64()), ("s", NESTED), ("l", pa.list_(NESTED))]),
    ("a new field", [("autoMerge", "spark.databricks.delta.schema.autoMerge.enabled", "true"),
                     "INSERT INTO {t} BY NAME SELECT 42 AS id, {{'b': 'bee', 'a': CAST(3 AS INT)}} AS s, "
                     "[{{'a': CAST(4 AS INT), 'c': true}}] AS l"],
     "APPEND SELECT CAST(42 AS BIGINT) AS id, CAST(NULL AS STRING) AS p, named_struct('b', 'bee', 'a', CAST(3 AS INT)) AS s, "
     "array(named_struct('a', CAST(4 AS INT), 'c', true)) AS l",
     COLUMNS + [("w", pa.float64()), ("s", pa.struct([("a", pa.int32()), ("b", pa.string())])),
                ("l", pa.list_(pa.struct([("a", pa.int32()), ("c", pa.bool_())])))]),
    ("replace rows of an evolved table", "INSERT INTO {t} BY NAME REPLACE WHERE id = 42 SELECT 42 AS id, 'a' AS p",
     "INSERT INTO {t} BY NAME REPLACE WHERE id = 42 SELECT 42 AS id, 'a' AS p", None),
]

REPLACED = [
    ("replace the table", "CREATE OR REPLACE TABLE {t} (x INT NOT NULL, day DATE) USING delta PARTITIONED BY (day) "
                          "COMMENT 'other' TBLPROPERTIES ('mine' = '1')", None, [("x", pa.int32()), ("day", pa.date32())]),
    ("fill the other", "INSERT INTO {t} VALUES (1, DATE '2026-01-01'), (2, DATE '2026-01-02'), (3, DATE '2026-01-02')", None, None),
    ("replace by a date", "INSERT INTO {t} REPLACE WHERE day >= '2026-01-02' SELECT 4, DATE '2026-01-03'", None, None),
    ("replace by a query", "CREATE OR REPLACE TABLE {t} USING delta AS SELECT x + 1 AS y, 'q' AS z FROM {t}", None,
     [("y", pa.int32()), ("z", pa.string())]),
    ("write once", [("id", "spark.databricks.delta.write.txnAppId", "job"), ("version", "spark.databricks.delta.write.txnVersion", "3"),
                    "INSERT INTO {t} VALUES (100, 'once')"], None, None),
    ("write once more", [("id", "spark.databricks.delta.write.txnAppId", "job"), ("version", "spark.databricks.delta.write.txnVersion", "3"),
                         "INSERT INTO {t} VALUES (100, 'once')"], None, "skipped"),
]

REFUSED = [
    ("a row of another partition", "INSERT INTO {t} REPLACE WHERE p = 'a' SELECT 1, 'b', 'x'"),
    ("a row of null", "INSERT INTO {t} REPLACE WHERE p = 'a' SELECT 1, CAST(NULL AS STRING), 'x'"),
    ("a row outside", "INSERT INTO {t} REPLACE WHERE id > 5 SELECT 5, 'b', 'x'"),
    ("a null outside", "INSERT INTO {t} REPLACE WHERE v = 'x' SELECT 5, 'b', CAST(NULL AS STRING)"),
    ("no such column", "INSERT INTO {t} REPLACE WHERE nope = 1 SELECT 5, 'b', 'x'"),
    ("too many columns", "INSERT INTO {t} SELECT 5, 'b', 'x', 1"),
    ("an unknown name", "INSERT INTO {t} BY NAME SELECT 5 AS id, 'x' AS nope"),
]


def commits(path):
    return sorted(glob.glob(os.path.join(path, "_delta_log", "[0-9]*.json")))


def info(path):
    with open(commits(path)[-1], encoding="utf-8") as f:
        return next(action["commitInfo"] for action in map(json.loads, f) if "commitInfo" in action)


def run_silt(path, statement):
    *settings, text = statement if isinstance(statement, list) else [statement]
    sets = "".join(f"SET {key} = {value}; " for _, key, value in settings)
    silt_program.sql(sets + text.format(t=f"delta.`{path}`"))


def run_spark(run, table, statement, text):
    settings = statement[:-1] if isinstance(statement, list) else []
    text = text or (statement[-1] if isinstance(statement, list) else statement)
    if text.startswith("APPEND "):  # what Spark does by its writers only
        run.spark.sql(text.removeprefix("APPEND ")).write.format("delta").mode("append").option(
            "mergeSchema", "true").saveAsTable(table)
        return
    session = run.spark.session()
    for _, key, value in settings:
        session.conf.set(key, value)
    try:
        session.sql(text.format(t=table))
    finally:
        for _, key, _ in settings:
            session.conf.unset(key)


def fsck(path):
    done = subprocess.run([silt_program.PROGRAM, "fsck", path, "-o", "jsonl"], capture_output=True, timeout=120, check=False)
    if done.returncode != 0 or done.stdout.strip():
        raise Mismatch(f"fsck ends with {done.returncode}: {done.stdout.decode()[:300]} {done.stderr.decode()[:200]}")


def same_commit(ours, theirs):
    """Operation, parameters and the counts that both give."""
    left, right = info(ours), info(theirs)
    same(right["operation"], left["operation"])
    skip = {"isManaged", "properties", "predicate", "clusterBy"}
    same({k: str(v).lower() for k, v in right.get("operationParameters", {}).items() if k not in skip and v is not None},
         {k: str(v).lower() for k, v in left.get("operationParameters", {}).items() if k not in skip})
    same("predicate" in right.get("operationParameters", {}), "predicate" in left.get("operationParameters", {}))
    same(right.get("isBlindAppend"), left.get("isBlindAppend"))
    for metric in METRICS:
        if metric in right["operationMetrics"]:
            same(f"{metric} {right['operationMetrics'][metric]}", f"{metric} {left['operationMetrics'].get(metric)}")


def step(run, ours, theirs, table, columns, what):
    name, statement, text, after = what
    before = len(commits(ours))
    if not (run.step("silt", name, run_silt, ours, statement) and run.step("spark", name, run_spark, run, table, statement, text)):
        return None
    if isinstance(after, list):
        columns = after
    expected = run.spark.rows(theirs, columns)
    for reader in run.everyone:
        run.case(reader.name, name, lambda r=reader, c=columns: same(expected, r.rows(ours, c)))
    run.case("silt", f"{name}: fsck", fsck, ours)
    if after == "skipped":
        run.case("silt", f"{name}: no version", same, before, len(commits(ours)))
        return columns
    run.case("silt", f"{name}: what the commit tells", same_commit, ours, theirs)
    return columns


def both_refuse(run):
    ours, theirs, table = twins(run, "refused")
    for name, text in REFUSED:
        expected = run.spark.rows(theirs, COLUMNS)
        for who, path, function in (("silt", ours, lambda t: run_silt(ours, t)),
                                    ("spark", theirs, lambda t: run_spark(run, table, t, None))):
            def refuse(path=path, function=function, text=text):
                before = len(commits(path))
                try:
                    function(text)
                except Exception:  # each has an exception of its own
                    same(before, len(commits(path)))
                    return
                raise Mismatch("was not refused")
            run.case(who, f"{name}: refused", refuse)
        run.case("silt", f"{name}: nothing changed", lambda: same(expected, run.silt.rows(ours, COLUMNS)))


def vectors(run):
    """A table of Spark's with deletion vectors: rows that are deleted stay so when their file is rewritten."""
    path = run.path("vectors")
    table = f"delta.`{path}`"
    run.spark.sql(f"CREATE TABLE {table} (id BIGINT, p STRING, v STRING) USING delta "
                  "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    run.spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, 'p', concat('v', id) FROM range(0, 10, 1, 1)")
    run.spark.sql(f"DELETE FROM {table} WHERE id IN (2, 3, 7)")
    if run.step("silt", "replace beside vectors", run_silt, path, "INSERT INTO {t} REPLACE WHERE id = 5 SELECT 5, 'q', 'new'"):
        rows = [(i, "p", f"v{i}") for i in (0, 1, 4, 6, 8, 9)] + [(5, "q", "new")]
        run.check_rows("replace beside vectors", path, COLUMNS, rows)
        run.case("silt", "replace beside vectors: counts", lambda: same(
            ("6", "1"), tuple(info(path)["operationMetrics"][m] for m in ("numCopiedRows", "numDeletedRows"))))
        run.case("silt", "replace beside vectors: fsck", fsck, path)


def clustered(run):
    """A clustered table of Spark's is replaced: its clustering goes with its columns."""
    path = run.path("clustered")
    table = f"delta.`{path}`"
    run.spark.sql(f"CREATE TABLE {table} (id BIGINT, v STRING) USING delta CLUSTER BY (id)")
    run.spark.sql(f"INSERT INTO {table} VALUES (1, 'one'), (2, 'two')")
    columns = [("v", pa.string()), ("id", pa.int64())]
    if run.step("silt", "replace a clustered table", run_silt, path, "CREATE OR REPLACE TABLE {t} AS SELECT v, id + 1 AS id FROM {t}"):
        run.check_rows("replaced, not clustered", path, columns, [("one", 2), ("two", 3)])
        run.case("spark", "no clustering is left", lambda: same(
            [], list(run.spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["clusteringColumns"])))
        run.case("silt", "replaced, not clustered: fsck", fsck, path)


def widening(run):
    path = run.path("widening")
    table = f"delta.`{path}`"
    columns = [("id", pa.int64()), ("d", pa.decimal128(10, 2))]
    if run.step("silt", "widen: write", lambda: silt_program.sql(
            f"CREATE TABLE {table} (id INT, d DECIMAL(5, 1)) USING delta TBLPROPERTIES (delta.enableTypeWidening = true); "
            f"INSERT INTO {table} VALUES (1, 1.5); INSERT WITH SCHEMA EVOLUTION INTO {table} "
            "SELECT 3000000000, CAST(123456.75 AS DECIMAL(10, 2))")):
        rows = [(1, 150), (3000000000, 12345675)]
        run.check_rows("widened by an insert", path, columns, [(i, Decimal(d).scaleb(-2)) for i, d in rows],
                       [run.spark, run.silt])
        run.case("silt", "widened: fsck", fsck, path)


def twins(run, name):
    """Two tables with the same rows: silt's by its path, Spark's also by a name, for it replaces only what its catalog knows."""
    paths = run.path(f"{name}-ours"), run.path(f"{name}-theirs")
    for path in paths:
        silt_program.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, p STRING, v STRING) USING delta PARTITIONED BY (p); "
                         + FILL.format(t=f"delta.`{path}`"))
    table = f"{name}_twin"
    run.spark.sql(f"CREATE TABLE {table} USING delta LOCATION '{paths[1]}'")
    return *paths, table


def check(run):
    both_refuse(run)
    for group, steps in (("parts", PARTS), ("evolving", EVOLVING), ("replaced", REPLACED)):
        columns = COLUMNS
        ours, theirs, table = twins(run, group)
        for what in steps:
            columns = step(run, ours, theirs, table, columns, what)
            if columns is None:
                break
    run.step("spark", "vectors", vectors, run)
    run.step("spark", "clustered", clustered, run)
    run.step("spark", "widening", widening, run)
