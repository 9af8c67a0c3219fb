"""Every table feature, written: silt makes tables that the peers read and go on with, and goes on with tables that Spark made. Values are
compared exactly after every step, and fsck must find nothing."""
import os

import pyarrow as pa

import samples
import silt_program
from check_features import columns_of, quoted, silt_rows, spark_rows, table_of_spark
from check_mixed import refused
from feature_tables import ROW_ID_TABLES, TABLES
from harness import same
from values import UTC, micros

MAPPED = {"delta.columnMapping.mode": "name"}
PLAIN = [("id", pa.int64()), ("text", pa.string()), ("s", pa.struct([("x", pa.int32()), ("l", pa.list_(pa.date32()))])),
         ("m", pa.map_(pa.string(), pa.struct([("q", pa.int64())]))), ("at", UTC), ("part", pa.string())]
ODD = [("id", pa.int64()), ("a b", pa.string()), ("x,y;{}()=", pa.struct([("in ner", pa.int32()), ("l", pa.list_(pa.date32()))])),
       ("m", pa.map_(pa.string(), pa.struct([("q.r", pa.int64())]))), ("at", UTC), ("pa rt", pa.string())]

# DuckDB's extension shows null for partition columns of mapped tables, whoever wrote the files: of Spark's as of silt's.
NOT_PARTITIONED = ("duckdb",)
# delta-rs refuses the feature by name.
UNKNOWN_TO_DELTA_RS = ("delta-rs",)
# name: properties, columns, partition columns, peers that do not read such a table
MADE = {
    "mapped-name": (MAPPED, ODD, ["pa rt"], NOT_PARTITIONED),
    "mapped-id": ({"delta.columnMapping.mode": "id"}, ODD, ["pa rt"], NOT_PARTITIONED),
    "mapped-whole": (MAPPED, ODD, [], ()),
    "random-prefixes": ({"delta.randomizeFilePrefixes": "true", "delta.randomPrefixLength": "5"}, PLAIN, ["part"], ()),
    "vectors": ({"delta.enableDeletionVectors": "true"}, PLAIN, ["part"], ()),
    "changes": ({"delta.enableChangeDataFeed": "true"}, PLAIN, [], ()),
    "changes-mapped": ({"delta.enableChangeDataFeed": "true", **MAPPED}, ODD, ["pa rt"], NOT_PARTITIONED),
    "widening": ({"delta.enableTypeWidening": "true"}, PLAIN, [], UNKNOWN_TO_DELTA_RS),
    "v2": ({"delta.checkpointPolicy": "v2"}, PLAIN, ["part"], ()),
    "row-tracking": ({"delta.enableRowTracking": "true"}, PLAIN, ["part"], ()),
    "row-tracking-mapped": ({"delta.enableRowTracking": "true", **MAPPED}, ODD, [], ()),
    "commit-timestamps": ({"delta.enableInCommitTimestamps": "true"}, PLAIN, [], ()),
    "domains": ({"delta.feature.domainMetadata": "supported"}, PLAIN, [], ()),
    "vacuum-check": ({"delta.feature.vacuumProtocolCheck": "supported"}, PLAIN, [], UNKNOWN_TO_DELTA_RS),
    "protected": ({"delta.feature.checkpointProtection": "supported"}, PLAIN, [], ()),
    "materialised": ({"delta.enableMaterializePartitionColumnsFeature": "true"}, PLAIN, ["part"], ()),
    "iceberg-v1": ({"delta.enableIcebergCompatV1": "true"}, [PLAIN[0], PLAIN[1], PLAIN[4], PLAIN[5]], ["part"], NOT_PARTITIONED),
    "iceberg-v2": ({"delta.enableIcebergCompatV2": "true"}, PLAIN, ["part"], NOT_PARTITIONED),
}
# What silt refuses to write, and what it then names.
NOT_WRITTEN = {"generated": "generatedColumns", "constrained": "checkConstraints",
               # the data plane has no type without values: a void field of a struct is read as an integer, which no void field takes
               "void": "DELTA_FAILED_TO_MERGE_FIELDS",
               # CHAR and VARCHAR are checked where they stand alone
               "char-varchar": "SILT_UNSUPPORTED_SYNTAX"}


def batch(columns, number):
    """Four rows; nulls at every level are among them."""
    texts = ("ann", "b/b é", None, "")
    rows = []
    for i in range(4):
        at = number * 10 + i
        row = {pa.int64(): at, pa.string(): texts[i], UTC: micros("2020-02-29 12:00:00") + at}
        made = []
        for name, kind in columns:
            if pa.types.is_struct(kind):
                names = [field.name for field in kind]
                made.append((None, dict(zip(names, (None, None))), dict(zip(names, (at, []))), dict(zip(names, (at, [at, None]))))[i])
            elif pa.types.is_map(kind):
                made.append((None, [], [("k", None)], [("k", {kind.item_type[0].name: at}), ("l", {kind.item_type[0].name: None})])[i])
            elif "pa" in name and texts[i] == "":
                made.append(None)  # an empty partition value is null
            else:
                made.append(row[kind])
        rows.append(tuple(made))
    return rows


def sound(path):
    same("", silt_program.run("fsck", path, "-o", "jsonl"))


def row_ids_differ(run, path):
    """Each row has an id of its own, whoever wrote it, and the version that wrote it."""
    found = run.spark.sql("SELECT count(*), count(DISTINCT _metadata.row_id), count(DISTINCT _metadata.row_commit_version) "
                          f"FROM delta.`{path}`").collect()[0]
    same([16, 16, 4], list(found))


def made_by_silt(run, name, properties, columns, partitions, without):
    path = run.path(f"made-{name}")
    readers = [reader for reader in run.everyone if reader.name not in without]
    if not run.step("silt", f"{name}: create", silt_program.create, path, columns, partitions, properties):
        return
    rows = []
    for number, writer in enumerate(("silt", "silt", "spark", "silt")):
        if writer == "silt":
            run.case("silt", f"{name}: append {number}", silt_program.insert, path, columns, batch(columns, number))
        else:
            source = run.source(f"{name}-{number}", columns, batch(columns, number))
            run.case("spark", f"{name}: append {number}", run.spark.append_parquet, path, source)
        rows = rows + batch(columns, number)
        if number in (1, 3):
            run.check_rows(f"{name}: {writer} appended {number}", path, columns, rows, readers)
        elif number == 2:
            run.check_rows(f"{name}: {writer} appended {number}", path, columns, rows, [run.silt])
    run.check_counts(name, path, [("id >= 20 AND id < 30", 4)], readers)
    if "row-tracking" in name:
        run.case("spark", f"{name}: row ids", row_ids_differ, run, path)
    run.case("silt", f"{name}: overwrite", silt_program.insert, path, columns, batch(columns, 7), "OVERWRITE")
    run.check_rows(f"{name}: overwritten", path, columns, batch(columns, 7), readers)
    run.case("silt", f"{name}: sound", sound, path)
    if "changes" in name:
        run.case("spark", f"{name}: change data", lambda: same(
            [("delete", len(rows)), ("insert", 4)], [(row["_change_type"], row["count"]) for row in run.spark.sql(
                f"SELECT _change_type, count(*) AS count FROM table_changes_by_path('{path}', 5) GROUP BY 1 ORDER BY 1").collect()]))


def grids(run):
    """All types and their extremes under physical names."""
    for mode in ("name", "id"):
        for kind, family in {"scalars": samples.SCALARS, "nested": samples.NESTED}.items():
            columns, rows = samples.grid(family)
            path = run.path(f"grid-{mode}-{kind}")
            source = run.source(f"grid-{kind}", columns, rows)
            if run.step("silt", f"{mode} {kind}: write", lambda p=path, c=columns, s=source, m=mode: (
                    silt_program.create(p, c, (), {"delta.columnMapping.mode": m}), silt_program.insert_parquet(p, s))):
                run.check_rows(f"{mode} {kind}", path, columns, rows)
                run.case("silt", f"{mode} {kind}: sound", sound, path)


def variants(run):
    """Written by silt, read by Spark, which goes on; NULL and the null within a variant stay apart."""
    path = run.path("variants")
    rows = """SELECT 1 AS id, '{"a": [1, 2.5, null, "x"], "b": {"c": true}}'::JSON::VARIANT AS v, {'w': 5::VARIANT} AS s,
              [1::VARIANT, NULL, 'x'::VARIANT] AS l, MAP {'k': DATE '2020-02-29'::VARIANT} AS m UNION ALL
              SELECT 2, NULL, NULL, NULL, NULL UNION ALL SELECT 3, 12.5::DECIMAL(9,2)::VARIANT, {'w': NULL}, [], MAP {}"""
    if not run.step("silt", "variants: write", lambda: (
            silt_program.sql(f"CREATE TABLE delta.`{path}` (id INT, v VARIANT, s STRUCT<w: VARIANT>, l ARRAY<VARIANT>, "
                             "m MAP<STRING, VARIANT>) USING delta"),
            silt_program.sql(f"INSERT INTO delta.`{path}` {rows}"))):
        return
    shown = ("SELECT id, to_json(v) AS v, v IS NULL AS n, to_json(s.w) AS w, to_json(l[0]) AS l0, l[1] IS NULL AS l1, "
             f"to_json(m['k']) AS k FROM delta.`{path}` ORDER BY id")
    expected = [(1, '{"a":[1,2.5,null,"x"],"b":{"c":true}}', False, "5", "1", True, '"2020-02-29"'),
                (2, None, True, None, None, None, None), (3, "12.5", False, None, None, None, None)]

    def by_spark(wanted):
        run.spark.session().conf.set("spark.sql.ansi.enabled", "false")  # an index behind the end is null
        try:
            found = [tuple(row) for row in run.spark.sql(shown).collect()]
        finally:
            run.spark.session().conf.unset("spark.sql.ansi.enabled")
        # whether l[1] is null is only asked where there is a list
        same(wanted, [row[:5] + (row[5] if row[4] else None,) + row[6:] for row in found])
    run.case("spark", "variants: read", by_spark, expected)
    run.case("spark", "variants: append", lambda: run.spark.sql(
        f"INSERT INTO delta.`{path}` SELECT 4, parse_json('null'), null, null, null"))
    run.case("spark", "variants: both", by_spark, expected + [(4, "null", False, None, None, None, None)])
    run.case("silt", "variants: copied", lambda: silt_program.sql(
        f"INSERT INTO delta.`{path}` SELECT id + 10, v, s, l, m FROM delta.`{path}`"))
    again = [(row[0] + 10,) + row[1:] for row in expected + [(4, "null", False, None, None, None, None)]]
    run.case("spark", "variants: all of it", by_spark, expected + [(4, "null", False, None, None, None, None)] + again)
    run.case("silt", "variants: sound", sound, path)


# ---- tables that Spark made ---------------------------------------------------------------------------------------------
def rows_by_spark(run, path, columns):
    frame = run.spark.session().read.format("delta").load(path)
    return spark_rows(run, frame, columns)


def rows_by_silt(path, columns):
    return silt_rows(silt_program.sql(f"SELECT * FROM delta.`{path}`"), columns)


def newest_version(path):
    return max(int(name[:20]) for name in os.listdir(os.path.join(path, "_delta_log"))
               if name.endswith(".json") and name[:-len(".json")].isdigit())


def doubled(rows):
    return sorted(rows + rows, key=repr)


def gone_on_with(run, name):
    """silt doubles the rows, Spark doubles them, silt puts the first ones back."""
    path = table_of_spark(run, name)
    table = f"delta.`{path}`"
    if name not in run.newest:
        frame = run.spark.session().read.format("delta").load(path)
        run.newest[name] = columns_of(frame), spark_rows(run, frame, columns_of(frame))
    columns, first = run.newest[name]
    names = ", ".join(quoted(column) for column, _ in columns)
    version = newest_version(path)
    if name in NOT_WRITTEN:
        run.case("silt", f"{name}: refused", refused, f"INSERT INTO {table} SELECT {names} FROM {table}", NOT_WRITTEN[name], None)
        return
    rows = doubled(first)
    if not run.case("silt", f"{name}: append", lambda: silt_program.sql(f"INSERT INTO {table} SELECT * FROM {table}")):
        return
    run.case("spark", f"{name}: silt appended", lambda: same(rows, rows_by_spark(run, path, columns)))
    if name in ROW_ID_TABLES:
        run.case("spark", f"{name}: row ids", lambda: same(len(rows), run.spark.sql(
            f"SELECT count(DISTINCT _metadata.row_id) FROM {table}").collect()[0][0]))
    run.case("silt", f"{name}: silt appended", lambda: same(rows, rows_by_silt(path, columns)))
    run.case("spark", f"{name}: append", lambda: run.spark.sql(f"INSERT INTO {table} SELECT * FROM {table}"))
    run.case("silt", f"{name}: spark appended", lambda: same(doubled(rows), rows_by_silt(path, columns)))
    run.case("silt", f"{name}: overwrite", lambda: silt_program.sql(
        f"INSERT OVERWRITE {table} SELECT * FROM {table} VERSION AS OF {version}"))
    run.case("spark", f"{name}: silt overwrote", lambda: same(first, rows_by_spark(run, path, columns)))
    run.case("silt", f"{name}: sound", sound, path)


def check(run):
    only = os.environ.get("SILT_INTEROP_TABLES", "").split()
    for name, made in MADE.items():
        if not only or name in only:
            made_by_silt(run, name, *made)
    if not only:
        grids(run)
        variants(run)
    for name in TABLES:
        if (not only or name in only) and not name.startswith("codec-"):
            run.step("spark", f"{name}: to the end", gone_on_with, run, name)
