"""The same counts in every reader: wrong statistics would lose rows in the readers that skip files by them."""
import math
from decimal import Decimal

import pyarrow as pa

import silt_program
from values import NTZ, UTC, days, micros

COLUMNS = [("id", pa.int64()), ("n", pa.int32()), ("s", pa.string()), ("d", pa.date32()), ("t", UTC), ("u", NTZ),
           ("m", pa.decimal128(20, 4)), ("f", pa.float64()), ("b", pa.bool_()),
           ("o", pa.struct([("x", pa.int64()), ("y", pa.string())]))]


def row(i):
    """Row i of 60 in 6 files; nulls in every column; a file of nulls only; NaN and infinities in the third."""
    if i // 10 == 3:
        return (i,) + (None,) * 9
    special = {20: math.nan, 21: math.inf, 22: -math.inf, 23: -0.0}
    text = {5: "é" * 40, 15: "\U0001F600" * 40, 25: "z" * 40 + "a", 35: "", 45: "a'b", 55: "\U0010FFFF"}.get(i, f"k{i:02d}")
    stamp = micros("2021-01-01 00:00:00") + i * 3_600_000_001 if i < 50 else micros("1500-01-01 00:00:00") + i
    return (i, None if i % 7 == 0 else i - 30, None if i % 11 == 0 else text, days("1999-12-28") + i, stamp, stamp + 999,
            Decimal(i * 1_000_000_001).scaleb(-4), special.get(i, i / 8), i % 2 == 0, {"x": i * i, "y": text})


ROWS = [row(i) for i in range(60)]


def number_of(test):
    """How many rows satisfy the test; it is null, so not true, for a row with a null."""
    return sum(1 for r in ROWS if test(dict(zip([name for name, _ in COLUMNS], r))))


def has(test, *names):
    return lambda r: all(r[name] is not None for name in names) and test(r)


CONDITIONS = [
    ("n > 0", has(lambda r: r["n"] > 0, "n")),
    ("n <= -25", has(lambda r: r["n"] <= -25, "n")),
    ("n = 3", has(lambda r: r["n"] == 3, "n")),
    ("n <> 3", has(lambda r: r["n"] != 3, "n")),
    ("n IN (-30, 1, 29, NULL)", has(lambda r: r["n"] in (-30, 1, 29), "n")),
    ("n IS NULL", lambda r: r["n"] is None),
    ("n IS NOT NULL", lambda r: r["n"] is not None),
    ("NOT (n < 5)", has(lambda r: r["n"] >= 5, "n")),
    ("n BETWEEN -5 AND 5", has(lambda r: -5 <= r["n"] <= 5, "n")),
    ("n > 10 OR s = 'k01'", lambda r: (r["n"] or -99) > 10 or r["s"] == "k01"),
    ("n < 0 AND d >= DATE '2000-01-10'", has(lambda r: r["n"] < 0 and r["d"] >= days("2000-01-10"), "n")),
    ("s = 'k42'", has(lambda r: r["s"] == "k42", "s")),
    ("s = ''", has(lambda r: r["s"] == "", "s")),
    ("s >= 'z'", has(lambda r: r["s"].encode() >= b"z", "s")),
    ("s > 'k5'", has(lambda r: r["s"].encode() > b"k5", "s")),
    ("s < 'b'", has(lambda r: r["s"].encode() < b"b", "s")),
    (f"s = '{'z' * 40}a'", has(lambda r: r["s"] == "z" * 40 + "a", "s")),
    (f"s = '{'é' * 40}'", has(lambda r: r["s"] == "é" * 40, "s")),
    (f"s = '{chr(0x1F600) * 40}'", has(lambda r: r["s"] == "\U0001F600" * 40, "s")),
    ("s = '\U0010FFFF'", has(lambda r: r["s"] == "\U0010FFFF", "s")),
    ("s = 'a''b'", has(lambda r: r["s"] == "a'b", "s")),
    ("s LIKE 'k1%'", has(lambda r: r["s"].startswith("k1"), "s")),
    ("d = DATE '2000-01-01'", has(lambda r: r["d"] == days("2000-01-01"), "d")),
    ("d < DATE '2000-01-01'", has(lambda r: r["d"] < days("2000-01-01"), "d")),
    ("t < TIMESTAMP '1900-01-01 00:00:00'", has(lambda r: r["t"] < micros("1900-01-01 00:00:00"), "t")),
    ("t >= TIMESTAMP '2021-01-01 05:00:00.000005'", has(
        lambda r: r["t"] >= micros("2021-01-01 05:00:00.000005"), "t")),
    ("t = TIMESTAMP '2021-01-01 07:00:00.000007'", has(lambda r: r["t"] == micros("2021-01-01 07:00:00.000007"), "t")),
    ("u > TIMESTAMP_NTZ '2021-01-02 12:00:00'", has(lambda r: r["u"] > micros("2021-01-02 12:00:00"), "u")),
    ("u = TIMESTAMP_NTZ '2021-01-02 01:00:00.001024'", has(
        lambda r: r["u"] == micros("2021-01-02 01:00:00.001024"), "u")),
    ("m > CAST('100000.0001' AS DECIMAL(20,4))", has(lambda r: r["m"] > Decimal("100000.0001"), "m")),
    ("m = CAST('100000.0001' AS DECIMAL(20,4))", has(lambda r: r["m"] == Decimal("100000.0001"), "m")),
    ("f > 5", has(lambda r: math.isnan(r["f"]) or r["f"] > 5, "f")),
    ("f < 0", has(lambda r: r["f"] < 0, "f")),
    ("f = 0.125", has(lambda r: r["f"] == 0.125, "f")),
    ("b", has(lambda r: r["b"], "b")),
    ("NOT b AND id > 45", has(lambda r: not r["b"] and r["id"] > 45, "b")),
    ("o.x > 2000", has(lambda r: r["o"]["x"] > 2000, "o")),
    ("o.y = 'k33'", has(lambda r: r["o"]["y"] == "k33", "o")),
    ("o IS NULL", lambda r: r["o"] is None),
    ("id >= 50", lambda r: r["id"] >= 50),
]


def spelled(reader, where):
    """The condition as the reader spells it."""
    if reader.name == "spark":
        return where
    where = where.replace("TIMESTAMP_NTZ '", "TIMESTAMP '")
    if reader.name == "delta-rs":
        # the struct's field, and times with a zone, in the spelling of its query engine
        where = where.replace("o.x", "o['x']").replace("o.y", "o['y']")
        if where.startswith("t "):
            return where.replace("TIMESTAMP '", "arrow_cast('") .rstrip("'") + "', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    elif where.startswith("t "):
        where = where.replace("TIMESTAMP '", "TIMESTAMPTZ '")
    return where


def check(run):
    path = run.path("files")
    if not run.step("silt", "write", lambda: (silt_program.create(path, COLUMNS), [
            silt_program.insert(path, COLUMNS, ROWS[i:i + 10]) for i in range(0, 60, 10)])):
        return
    run.check_rows("all rows", path, COLUMNS, ROWS)
    spark_path = run.path("spark-files")
    for i in range(0, 60, 10):
        source = run.source(f"part{i}", COLUMNS, ROWS[i:i + 10])
        run.step("spark", f"write {i}", run.spark.append_parquet, spark_path, source)
    run.check_rows("all rows of spark's", spark_path, COLUMNS, ROWS, [run.silt])
    for where, test in CONDITIONS:
        for reader in run.everyone:
            run.check_counts("silt's files", path, [(spelled(reader, where), number_of(test))], [reader])
        run.check_counts("spark's files", spark_path, [(spelled(run.silt, where), number_of(test))], [run.silt])
