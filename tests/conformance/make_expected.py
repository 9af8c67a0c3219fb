"""Makes expected/*.jsonl: the rows of the tables without any, as Delta Spark reads them, or delta-rs where Spark cannot or is
wrong. Run by hand, after tests/interop/setup:

    SILT_CONFORMANCE=… SILT_INTEROP_PEERS=.deps/interop .deps/interop/venv/bin/python tests/conformance/make_expected.py
"""
import base64
import json
import os
import struct
import sys
import tempfile
from decimal import Decimal

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "interop"))
os.environ.setdefault("SILT", "")

from conformance_support import EXPECTED, unpack  # noqa: E402
from peers import Spark, plain  # noqa: E402
from values import arrow_column, date_text, decimal_digits, timestamp_text  # noqa: E402

# Spark cannot read geometries here, and the JSON of variants is not its to say; the others have no data files.
LEFT_OUT = {"table-with-geo", "unshredded-variant", "300k-add-files-100-col-partitioned", "app-txn-with-last-updated",
            "with_checkpoint_no_last_checkpoint"}


# Spark loses deletion vectors between overlapping compacted logs (replaying the commits gives 2 + 3 rows), refuses a ':' in a
# path, and a log line of one of them.
BY_DELTA_RS = {"compacted-log-files-table", "timestamp-partitioned-table", "cdf-column-mapping-name-mode-3-7"}


class Raw(str):
    """The text of a number."""


def dumped(value):
    """JSON text; json.dumps would print numbers its own way."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {dumped(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(dumped(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def float_value(value, kind):
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if pa.types.is_float32(kind):
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if struct.pack("f", float(text)) == struct.pack("f", value):
                return Raw(text)
    return Raw(repr(value))


def shown(value, kind):
    """A held value as silt prints it."""
    if value is None or pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_string(kind):
        return value
    if pa.types.is_floating(kind):
        return float_value(value, kind)
    if pa.types.is_decimal(kind):
        return Raw(decimal_digits(Decimal(value), kind.scale))
    if pa.types.is_binary(kind):
        return base64.b64encode(bytes(value)).decode()
    if pa.types.is_date32(kind):
        return date_text(value)
    if pa.types.is_timestamp(kind):
        return timestamp_text(value) + ("Z" if kind.tz else "")
    if pa.types.is_struct(kind):
        return {field.name: shown(value[field.name], field.type) for field in kind}
    if pa.types.is_map(kind):
        pairs = [(shown(k, kind.key_type), shown(v, kind.item_type)) for k, v in value]
        return dict(pairs) if pa.types.is_string(kind.key_type) else [{"key": k, "value": v} for k, v in pairs]
    return [shown(item, kind.value_type) for item in value]


def rows_of(spark, path):
    frame = spark.session().read.format("delta").load(path)
    columns = [(field.name, to_arrow_type(field.dataType, timezone="UTC")) for field in frame.schema]
    columns = [(name, pa.timestamp("us", tz="UTC") if pa.types.is_timestamp(kind) and kind.tz else kind)
               for name, kind in columns]
    quoted = [("`" + name.replace("`", "``") + "`", kind) for name, kind in columns]
    for row in frame.selectExpr(*[f"{plain(name, kind)} AS c{i}" for i, (name, kind) in enumerate(quoted)]).collect():
        yield {name: shown(spark.held(value, kind), kind) for value, (name, kind) in zip(row, columns)}


def delta_rs_rows(path):
    import deltalake
    table = pa.table(deltalake.QueryBuilder().register("t", deltalake.DeltaTable(path)).execute("SELECT * FROM t"))
    kinds = [pa.string() if pa.types.is_string_view(field.type) else field.type for field in table.schema]
    parts = [arrow_column(column, kind) for column, kind in zip(table.columns, kinds)]
    for row in zip(*parts):
        yield {name: shown(value, kind) for name, value, kind in zip(table.column_names, row, kinds)}


def main():
    os.makedirs(EXPECTED, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        spark = Spark(folder)
        for name in unpack("tables", folder):
            if name in LEFT_OUT:
                continue
            inner = os.path.join(folder, name, "delta")
            path = inner if os.path.isdir(inner) else os.path.join(folder, name)
            try:
                rows = delta_rs_rows(path) if name in BY_DELTA_RS else rows_of(spark, path)
                lines = sorted(map(dumped, rows))
            except Exception as error:
                print(f"{name}: {str(error)[:300]}")
                continue
            with open(os.path.join(EXPECTED, name + ".jsonl"), "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
            print(f"{name}: {len(lines)} rows")
        spark.stop()


if __name__ == "__main__":
    main()
