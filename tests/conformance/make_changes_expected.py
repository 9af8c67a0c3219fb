"""Makes expected/*.changes.jsonl: the change data of the tables that record it, as Delta Spark reads it, without the times of commits, which
are those of files. Run by hand, after tests/interop/setup:

    SILT_CONFORMANCE=… SILT_INTEROP_PEERS=.deps/interop .deps/interop/venv/bin/python tests/conformance/make_changes_expected.py

Three are written down by hand: cdf-table-with-dv from the vectors in its log (Spark takes the short last group of one, as delta-kernel-rs
writes it, for another number), cdf-column-mapping-name-mode-3-7 from the table that it is a copy of (Spark refuses a line of its log), and
table-with-cdf, which has no rows (Spark refuses that a column became NOT NULL).
"""
import os
import sys
import tempfile

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "interop"))
os.environ.setdefault("SILT", "")

from conformance_support import EXPECTED, unpack  # noqa: E402
from make_expected import dumped, shown  # noqa: E402
from peers import Spark, plain  # noqa: E402
from test_changes import EXPECTATIONS  # noqa: E402

BY_HAND = {"cdf-table-with-dv", "cdf-column-mapping-name-mode-3-7", "table-with-cdf"}


def rows_of(spark, path, first):
    frame = spark.session().read.format("delta").option("readChangeFeed", "true").option("startingVersion", first).load(path)
    columns = [(field.name, to_arrow_type(field.dataType, timezone="UTC")) for field in frame.schema
               if field.name != "_commit_timestamp"]
    columns = [(name, pa.timestamp("us", tz="UTC") if pa.types.is_timestamp(kind) and kind.tz else kind)
               for name, kind in columns]
    quoted = [("`" + name.replace("`", "``") + "`", kind) for name, kind in columns]
    for row in frame.selectExpr(*[f"{plain(name, kind)} AS c{i}" for i, (name, kind) in enumerate(quoted)]).collect():
        yield {name: shown(spark.held(value, kind), kind) for value, (name, kind) in zip(row, columns)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        spark = Spark(folder)
        # versions of years ago
        spark.session().conf.set("spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration", "false")
        unpack("tables", folder)
        for name, expectation in EXPECTATIONS.items():
            if name in BY_HAND:
                continue
            try:
                lines = sorted(map(dumped, rows_of(spark, os.path.join(folder, name), expectation.first)))
            except Exception as error:
                print(f"{name}: {str(error)[:300]}")
                continue
            with open(os.path.join(EXPECTED, name + ".changes.jsonl"), "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
            print(f"{name}: {len(lines)} rows")
        spark.stop()


if __name__ == "__main__":
    main()
