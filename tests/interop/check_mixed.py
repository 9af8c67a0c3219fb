"""Tables that several of the peers write in turn, and tables whose rules silt has to obey or refuse."""
import deltalake
import polars
import pyarrow as pa

import silt_program
from harness import same
from values import UTC, arrow_table, micros

COLUMNS = [("id", pa.int64()), ("Name", pa.string()), ("day", pa.date32()), ("at", UTC)]


def batch(number):
    return [(number * 10 + i, ("ann", "b/b", None)[i % 3], number - 141427, micros("2020-02-29 12:00:00") + i)
            for i in range(4)]


def taking_turns(run):
    """Each writes to a table that another one created."""
    for creator in ("silt", "spark", "delta-rs"):
        for partitions in ([], ["Name", "day"]):
            name = f"{creator}{'-partitioned' if partitions else ''}"
            path = run.path(name)

            def create(path=path, creator=creator, partitions=partitions):
                if creator == "silt":
                    silt_program.create(path, COLUMNS, partitions)
                    silt_program.insert(path, COLUMNS, batch(0))
                elif creator == "spark":
                    run.spark.frame(run.source("batch0", COLUMNS, batch(0))).write.format("delta").partitionBy(
                        *partitions).save(path)
                else:
                    deltalake.write_deltalake(path, arrow_table(COLUMNS, batch(0)), partition_by=partitions or None)

            if not run.step(creator, f"{name}: create", create):
                continue
            rows = batch(0)
            for number, writer in enumerate(("silt", "spark", "delta-rs", "silt"), start=1):
                run.case(writer, f"{name}: append {number}", append, run, writer, path, number)
                rows = rows + batch(number)
            run.check_rows(f"{name}: all appended", path, COLUMNS, rows)
            run.case("silt", f"{name}: overwrite", lambda p=path: silt_program.insert(
                p, COLUMNS, batch(9), mode="OVERWRITE"))
            run.check_rows(f"{name}: overwritten by silt", path, COLUMNS, batch(9))
            run.case("spark", f"{name}: overwrite", lambda p=path: run.spark.append_parquet(
                p, run.source("batch8", COLUMNS, batch(8)), "overwrite"))
            run.check_rows(f"{name}: overwritten by spark", path, COLUMNS, batch(8))
            run.case("delta-rs", f"{name}: overwrite", lambda p=path: deltalake.write_deltalake(
                p, arrow_table(COLUMNS, batch(7)), mode="overwrite"))
            run.check_rows(f"{name}: overwritten by delta-rs", path, COLUMNS, batch(7))
            run.check_rows(f"{name}: time travel past the overwrites", path, COLUMNS, rows, version=version_of(path) - 3)


def version_of(path):
    return deltalake.DeltaTable(path).version()


def append(run, writer, path, number):
    if writer == "silt":
        silt_program.insert(path, COLUMNS, batch(number))
    elif writer == "spark":
        run.spark.append_parquet(path, run.source(f"batch{number}", COLUMNS, batch(number)))
    else:
        deltalake.write_deltalake(path, arrow_table(COLUMNS, batch(number)), mode="append")


def polars_table(run):
    path = run.path("polars")
    columns = [("id", pa.int64()), ("day", pa.date32())]
    for mode, number in (("append", 0), ("append", 1), ("overwrite", 2), ("append", 3)):
        polars.from_arrow(arrow_table(columns, [(number, number), (number + 100, None)])).write_delta(path, mode=mode)
    rows = [(2, 2), (102, None), (3, 3), (103, None)]
    run.check_rows("polars wrote", path, columns, rows, [run.silt])
    run.case("silt", "append to polars's", silt_program.insert, path, columns, [(7, None)])
    run.check_rows("silt appended to polars's", path, columns, rows + [(7, None)])
    run.case("silt", "polars reads", lambda: same(5, polars.read_delta(path).height))


def evolved_schema(run):
    """Columns that Spark adds later are null in older rows; an evolved struct has null fields."""
    path = run.path("evolved")
    run.spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, s STRUCT<a: INT>) USING delta")
    run.spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, named_struct('a', 10))")
    run.spark.sql(f"ALTER TABLE delta.`{path}` ADD COLUMNS (extra STRING, s.b STRING)")
    run.spark.sql(f"INSERT INTO delta.`{path}` VALUES (2, named_struct('a', 20, 'b', 'two'), 'x')")
    columns = [("id", pa.int64()), ("s", pa.struct([("a", pa.int32()), ("b", pa.string())])), ("extra", pa.string())]
    rows = [(1, {"a": 10, "b": None}, None), (2, {"a": 20, "b": "two"}, "x")]
    run.check_rows("evolved schema", path, columns, rows, [run.silt])
    run.check_counts("evolved schema", path, [("extra IS NULL", 1), ("s.b = 'two'", 1)], [run.silt])
    run.check_rows("evolved schema, before", path, [("id", pa.int64()), ("s", pa.struct([("a", pa.int32())]))],
                   [(1, {"a": 10})], [run.silt], version=1)
    run.case("silt", "append to an evolved table", silt_program.insert, path, columns, [(3, None, "y")])
    run.check_rows("append to an evolved table", path, columns, rows + [(3, None, "y")])


def refused(statement, part, code):
    """silt refuses the statement, with that exit code, and names that."""
    try:
        silt_program.sql(statement)
    except silt_program.SiltError as error:
        if part not in error.text:
            raise ValueError(f"expected {part} in: {error.text}") from error
        if code is not None and error.code != code:
            raise ValueError(f"expected exit code {code}, found {error.code}: {error.text}") from error
        return
    raise ValueError(f"not refused: {statement[:200]}")


def rules(run):
    path = run.path("rules")
    run.spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT NOT NULL, v INT) USING delta "
                  "TBLPROPERTIES ('delta.appendOnly' = 'true')")
    run.case("silt", "append to an append-only table", lambda: silt_program.sql(
        f"INSERT INTO delta.`{path}` VALUES (1, 2)"))
    run.case("silt", "overwrite of an append-only table is refused", refused,
             f"INSERT OVERWRITE delta.`{path}` VALUES (1, 2)", "DELTA_CANNOT_MODIFY_APPEND_ONLY", 1)
    run.case("silt", "null in a NOT NULL column is refused", refused,
             f"INSERT INTO delta.`{path}` VALUES (NULL, 2)", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", 1)
    run.check_rows("rules kept", path, [("id", pa.int64()), ("v", pa.int32())], [(1, 2)])


def features(run):
    """What silt does not write it refuses by name, and reads all the same; what it writes is compared in the area writing."""
    columns = [("id", pa.int64()), ("v", pa.int32())]
    for feature in ("checkConstraints", "generatedColumns"):
        path = run.path(feature)

        def make(path=path, feature=feature):
            if feature == "generatedColumns":
                from delta.tables import DeltaTable
                DeltaTable.create(run.spark.session()).location(path).addColumn("id", "BIGINT").addColumn(
                    "v", "INT", generatedAlwaysAs="CAST(id AS INT)").execute()
                run.spark.sql(f"INSERT INTO delta.`{path}` (id) VALUES (1), (2)")
                return
            run.spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, v INT) USING delta")
            run.spark.sql(f"INSERT INTO delta.`{path}` SELECT id, CAST(id AS INT) FROM VALUES (1), (2) AS t(id)")
            run.spark.sql(f"ALTER TABLE delta.`{path}` ADD CONSTRAINT positive CHECK (id > 0)")

        if not run.step("spark", f"{feature}: make", make):
            continue
        run.check_rows(f"{feature}: read", path, columns, [(1, 1), (2, 2)], [run.silt])
        run.case("silt", f"{feature}: write is refused", refused, f"INSERT INTO delta.`{path}` VALUES (3, 3)", feature,
                 None)


def check(run):
    taking_turns(run)
    polars_table(run)
    evolved_schema(run)
    rules(run)
    features(run)
