"""Partition columns of every type, and of text with every character that has to be escaped somewhere."""
import math

import deltalake
import pyarrow as pa

import samples
import silt_program
from values import arrow_table, duckdb_type, text_literal

ID = ("id", pa.int64())


def stored(value):
    """Delta has one form for the empty text and null: what is read is null (PROTOCOL: Partition Value Serialization)."""
    return None if value in ("", b"") else value


def short(value):
    """Peers name the folder after the value, and the name of a folder has at most 255 bytes and no NUL."""
    if isinstance(value, float):
        return value == 0 or not math.isfinite(value) or 1e-100 < abs(value) < 1e100
    if isinstance(value, str):
        value = value.encode()
    return not isinstance(value, bytes) or (len(value) < 40 and 0 not in value)


def is_text(value):
    try:
        return not isinstance(value, bytes) or value.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False


def bytes_that_are_no_text(run):
    """The log holds texts: such bytes become escapes as the protocol shows them, which no peer turns back."""
    columns, rows = [ID, ("p", pa.binary())], [(i, v) for i, v in enumerate(samples.BLOBS) if not is_text(v)]
    path = run.path("bytes")
    if run.step("silt", "bytes: write", lambda: (
            silt_program.create(path, columns, ["p"]), silt_program.insert(path, columns, rows))):
        run.check_rows("bytes: silt wrote", path, columns, rows, [run.silt])


def by_type(run):
    for name, (kind, values) in samples.SCALARS.items():
        columns, rows = [ID, ("p", kind)], [(i, v) for i, v in enumerate(values) if is_text(v)]
        read = [(number, stored(value)) for number, value in rows]
        path = run.path(f"{name}-silt")
        if run.step("silt", f"{name}: write", lambda: (
                silt_program.create(path, columns, ["p"]), silt_program.insert(path, columns, rows))):
            run.check_rows(f"{name}: silt wrote", path, columns, read)
        rows = [row for row in rows if short(row[1])]
        read = [(number, stored(value)) for number, value in rows]
        path = run.path(f"{name}-spark")
        source = run.source(name, columns, rows)
        if run.step("spark", f"{name}: write", lambda: run.spark.frame(source).write.format("delta").partitionBy(
                "p").save(path)):
            run.check_rows(f"{name}: spark wrote", path, columns, read, [run.silt])
        if name in ("c_dec_9_2", "c_dec_38_18"):  # delta-rs writes "0.-1" for -0.01 and cannot read it itself
            rows = [row for row in rows if row[1] is None or row[1] >= 0]
            read = rows
        path = run.path(f"{name}-delta-rs")
        if run.step("delta-rs", f"{name}: write", lambda: deltalake.write_deltalake(
                path, arrow_table(columns, rows), partition_by=["p"])):
            run.check_rows(f"{name}: delta-rs wrote", path, columns, read, [run.silt])


def hard_text(run):
    texts = samples.HARD_TEXTS + ["", None]
    columns, rows = [ID, ("p", pa.string())], list(enumerate(texts))
    read = [(number, stored(value)) for number, value in rows]
    source = run.source("hard", columns, rows)
    silt_path, spark_path, rs_path = run.path("hard-silt"), run.path("hard-spark"), run.path("hard-delta-rs")
    if run.step("silt", "hard text: write", lambda: (
            silt_program.create(silt_path, columns, ["p"]), silt_program.insert(silt_path, columns, rows))):
        run.check_rows("hard text: silt wrote", silt_path, columns, read)
        for text in samples.HARD_TEXTS:
            run.case("silt", f"hard text: p = {text!r}", lambda t=text: exactly_one(run.silt, silt_path, t))
        for reader in run.everyone:
            run.check_counts("hard text", silt_path, [("p IS NULL", 2), ("p IS NOT NULL", len(texts) - 2),
                                                      ("p = '%41'", 1), ("p = 'a/'", 1), ("p = '😀'", 1)], [reader])
    if run.step("spark", "hard text: write", lambda: run.spark.frame(source).write.format("delta").partitionBy(
            "p").save(spark_path)):
        run.check_rows("hard text: spark wrote", spark_path, columns, read, [run.silt])
        run.case("silt", "hard text: append to spark's", lambda: silt_program.insert(spark_path, columns, rows))
        run.check_rows("hard text: silt appended to spark's", spark_path, columns, read + read)
    if run.step("delta-rs", "hard text: write", lambda: deltalake.write_deltalake(
            rs_path, arrow_table(columns, rows), partition_by=["p"])):
        run.check_rows("hard text: delta-rs wrote", rs_path, columns, read, [run.silt])


def exactly_one(reader, path, text):
    found = reader.count(path, f"p = CAST({text_literal(text)} AS {duckdb_type(pa.string())})")
    if found != 1:
        raise ValueError(f"expected 1 row, found {found}")


def several_columns(run):
    columns = [("Region", pa.string()), ("id", pa.int64()), ("day", pa.date32()), ("v", pa.float64()),
               ("level", pa.int16())]
    rows = [(("north", "a/b", None)[i % 3], i, (0, -141427, None)[i % 4 % 3], i / 4, (-1, 0, 7)[i % 5 % 3])
            for i in range(40)]
    path = run.path("several")
    if run.step("silt", "several columns: write", lambda: (
            silt_program.create(path, columns, ["Region", "day", "level"]),
            silt_program.insert(path, columns, rows[:25]), silt_program.insert(path, columns, rows[25:]))):
        run.check_rows("several columns: silt wrote", path, columns, rows)
        run.check_counts("several columns", path, [
            ("day IS NULL", sum(row[2] is None for row in rows)),
            ("day < DATE '1900-01-01' AND level = 7", sum(row[2] == -141427 and row[4] == 7 for row in rows)),
            ("level <> 0 OR v > 5", sum(row[4] != 0 or row[3] > 5 for row in rows))])


def check(run):
    by_type(run)
    bytes_that_are_no_text(run)
    hard_text(run)
    several_columns(run)
