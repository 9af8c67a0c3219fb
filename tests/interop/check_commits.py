"""Several commits, overwriting, time travel, and what the peers say about the table itself."""
import deltalake
import pyarrow as pa

import silt_program
from harness import same

COLUMNS = [("id", pa.int64()), ("part", pa.string()), ("value", pa.decimal128(12, 2))]


def batch(number):
    return [(number * 100 + i, "abc"[i % 3], i) for i in range(5)]


def states():
    """Rows at each version: CREATE, three appends, an overwrite, one more append."""
    made = [[]]
    for number in (1, 2, 3):
        made.append(made[-1] + batch(number))
    made.append(batch(4))
    made.append(made[-1] + batch(5))
    return made


def write(path, partitions):
    silt_program.create(path, COLUMNS, partitions, {"delta.appendOnly": "false", "my.key": "its value"})
    for number in (1, 2, 3):
        silt_program.insert(path, COLUMNS, batch(number))
    silt_program.insert(path, COLUMNS, batch(4), mode="OVERWRITE")
    silt_program.insert(path, COLUMNS, batch(5))


def spark_detail(run, path):
    row = run.spark.sql(f"DESCRIBE DETAIL delta.`{path}`").collect()[0]
    return {"format": row["format"], "partitionColumns": list(row["partitionColumns"]), "numFiles": row["numFiles"],
            "sizeInBytes": row["sizeInBytes"], "properties": dict(row["properties"]), "id": row["id"],
            "minReaderVersion": row["minReaderVersion"], "minWriterVersion": row["minWriterVersion"]}


def silt_detail(path):
    row = silt_program.json_lines(silt_program.sql(f"DESCRIBE DETAIL delta.`{path}`"))[0]
    numbers = ("numFiles", "sizeInBytes", "minReaderVersion", "minWriterVersion")
    return {name: int(row[name]) if name in numbers else row[name] for name in (
        "format", "partitionColumns", "numFiles", "sizeInBytes", "properties", "id", "minReaderVersion",
        "minWriterVersion")}


def delta_rs_detail(path):
    table = deltalake.DeltaTable(path)
    metadata, protocol = table.metadata(), table.protocol()
    return {"id": str(metadata.id), "partitionColumns": metadata.partition_columns,
            "properties": dict(metadata.configuration), "minReaderVersion": protocol.min_reader_version,
            "minWriterVersion": protocol.min_writer_version, "numFiles": len(table.file_uris())}


def details(run, path):
    ours = silt_detail(path)
    run.case("spark", "DESCRIBE DETAIL", lambda: same(ours, spark_detail(run, path)))
    found = delta_rs_detail(path)
    run.case("delta-rs", "metadata", lambda: same({key: ours[key] for key in found}, found))


def histories(run, path):
    expected = [(5, "WRITE", "Append"), (4, "WRITE", "Overwrite"), (3, "WRITE", "Append"), (2, "WRITE", "Append"),
                (1, "WRITE", "Append"), (0, "CREATE TABLE", None)]

    def spark_history():
        rows = run.spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
        same(expected, [(row["version"], row["operation"], row["operationParameters"].get("mode")) for row in rows])
        same([True, False, True, True, True, True], [row["isBlindAppend"] for row in rows])
        same([str(5)] * 5, [row["operationMetrics"]["numOutputRows"] for row in rows[:5]])

    def delta_rs_history():
        rows = deltalake.DeltaTable(path).history()
        same([entry[:2] for entry in expected], [(row["version"], row["operation"]) for row in rows])

    def silt_history():
        rows = silt_program.json_lines(silt_program.sql(f"DESCRIBE HISTORY delta.`{path}`"))
        same(expected, [(int(row["version"]), row["operation"], row["operationParameters"].get("mode")) for row in rows])

    run.case("spark", "history", spark_history)
    run.case("delta-rs", "history", delta_rs_history)
    run.case("silt", "history", silt_history)


def schemas(run, path):
    expected = [("id", "bigint"), ("part", "string"), ("value", "decimal(12,2)")]

    def spark_schema():
        same(expected, [(field.name, field.dataType.simpleString()) for field in run.spark.session().read.format(
            "delta").load(path).schema])

    run.case("spark", "schema", spark_schema)
    run.case("delta-rs", "schema", lambda: same(["id", "part", "value"], [
        field.name for field in deltalake.DeltaTable(path).schema().fields]))


def check(run):
    for name, partitions in (("plain", []), ("partitioned", ["part"])):
        path = run.path(name)
        if not run.step("silt", f"{name}: write", write, path, partitions):
            continue
        for version, rows in enumerate(states()):
            run.check_rows(f"{name}: version {version}", path, COLUMNS, rows, version=version)
        run.check_rows(f"{name}: latest", path, COLUMNS, states()[-1])
        run.step("silt", f"{name}: details", details, run, path)
        histories(run, path)
        schemas(run, path)
