"""The peers behind one interface: each reads a table, at a version and under a condition, into canonical rows.

Spark lives in one session a run, started when first used. Nobody here trusts a peer's Python objects for dates and
times: they are asked for as integers.
"""
import glob
import logging
import os

import deltalake
import duckdb
import duckdb_extension_delta
import pyarrow as pa

import silt_program
from values import arrow_rows, canonical_rows

PEERS_DIR = os.environ["SILT_INTEROP_PEERS"]


class Silt:
    name = "silt"

    def rows(self, path, columns, version=None, where=None):
        at = "" if version is None else f" VERSION AS OF {version}"
        condition = f" WHERE {where}" if where else ""
        return silt_program.rows_of(silt_program.sql(f"SELECT * FROM delta.`{path}`{at}{condition}"), columns)

    def count(self, path, where):
        text = silt_program.sql(f"SELECT count(*) AS n FROM delta.`{path}` WHERE {where}")
        return int(silt_program.json_lines(text)[0]["n"])


class DeltaRs:
    name = "delta-rs"

    def query(self, path, text, version=None):
        table = deltalake.DeltaTable(path, version=version)
        return pa.table(deltalake.QueryBuilder().register("t", table).execute(text))

    def rows(self, path, columns, version=None, where=None):
        names = ", ".join(f'"{name}"' for name, _ in columns)
        table = self.query(path, f"SELECT {names} FROM t" + (f" WHERE {where}" if where else ""), version)
        return arrow_rows(table, columns)

    def count(self, path, where):
        return self.query(path, f"SELECT count(*) AS n FROM t WHERE {where}").column("n")[0].as_py()


class DuckDb:
    name = "duckdb"

    def __init__(self):
        self._connection = None

    def connection(self):
        if self._connection is None:
            folder = list(duckdb_extension_delta.__path__)[0]
            found = glob.glob(os.path.join(folder, "**", "delta.duckdb_extension"), recursive=True)
            if len(found) != 1:
                raise RuntimeError(f"expected one delta.duckdb_extension in {folder}, found {found}")
            self._connection = duckdb.connect(config={
                "allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false", "threads": "2"})
            self._connection.execute(f"LOAD '{found[0]}'")
            self._connection.execute("SET TimeZone = 'UTC'")
        return self._connection

    def query(self, text):
        return self.connection().execute(text).to_arrow_table()

    def rows(self, path, columns, version=None, where=None):
        at = "" if version is None else f", version = {version}"
        table = self.query(f"SELECT * FROM delta_scan('{path}'{at})" + (f" WHERE {where}" if where else ""))
        return arrow_rows(table, columns)

    def count(self, path, where):
        return self.query(f"SELECT count(*) AS n FROM delta_scan('{path}') WHERE {where}").column("n")[0].as_py()


def plain(text, kind, depth=0):
    """A Spark expression that turns dates and times, at any depth, into integers and maps into lists of pairs."""
    if pa.types.is_timestamp(kind):
        return f"unix_micros({text})" if kind.tz else f"unix_micros(CAST({text} AS TIMESTAMP))"
    if pa.types.is_date32(kind):
        return f"unix_date({text})"
    if pa.types.is_struct(kind):
        parts = ", ".join(f"'{f.name}', {plain(f'{text}.`{f.name}`', f.type, depth)}" for f in kind)
        return f"IF({text} IS NULL, NULL, named_struct({parts}))"
    each = f"e{depth}"
    if pa.types.is_map(kind):
        key, item = plain(f"{each}.key", kind.key_type, depth + 1), plain(f"{each}.value", kind.item_type, depth + 1)
        return f"transform(map_entries({text}), {each} -> named_struct('k', {key}, 'v', {item}))"
    if pa.types.is_list(kind):
        return f"transform({text}, {each} -> {plain(each, kind.value_type, depth + 1)})"
    return text


class Spark:
    name = "spark"

    def __init__(self, scratch):
        self._session = None
        self._scratch = scratch
        self._settings, self._jars = {}, []

    def add(self, settings, jars):
        """Settings and jars for the session, before it is there."""
        if self._session is not None:
            raise RuntimeError("Spark's session is there already")
        self._settings.update(settings)
        self._jars += jars

    def session(self):
        if self._session is None:
            os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = os.path.join(
                PEERS_DIR, "venv", "bin", "python")
            os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
            from pyspark.sql import SparkSession
            logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # errors that are expected
            jars = ",".join(sorted(glob.glob(os.path.join(PEERS_DIR, "jars", "*.jar"))) + self._jars)
            settings = {
                "spark.jars": jars,
                "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
                "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
                "spark.sql.session.timeZone": "UTC",
                "spark.sql.shuffle.partitions": "1",
                "spark.databricks.delta.snapshotPartitions": "1",
                "spark.default.parallelism": "1",
                "spark.driver.memory": "2g",
                "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1",
                "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.local.dir": os.path.join(self._scratch, "spark-local"),
                "spark.sql.warehouse.dir": os.path.join(self._scratch, "spark-warehouse"),
            }
            builder = SparkSession.builder.master("local[2]").appName("silt-interop")
            for key, value in {**settings, **self._settings}.items():
                builder = builder.config(key, value)
            self._session = builder.getOrCreate()
            self._session.sparkContext.setLogLevel("OFF")
        return self._session

    def stop(self):
        if self._session is not None:
            self._session.stop()

    def processor_seconds(self):
        """What the JVM has used so far."""
        if self._session is None:
            return 0.0
        with open(f"/proc/{self._session.sparkContext._gateway.proc.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def sql(self, text):
        return self.session().sql(text)

    def rows(self, path, columns, version=None, where=None):
        at = "" if version is None else f" VERSION AS OF {version}"
        frame = self.sql(f"SELECT * FROM delta.`{path}`{at}" + (f" WHERE {where}" if where else ""))
        names = [name for name, _ in columns]
        if frame.columns != names:
            raise TypeError(f"expected columns {names}, found {frame.columns}")
        plainly = frame.selectExpr(*[f"{plain(f'`{name}`', kind)} AS `{name}`" for name, kind in columns])
        rows = [[self.held(value, kind) for value, (_, kind) in zip(row, columns)] for row in plainly.collect()]
        return canonical_rows(columns, rows)

    def held(self, value, kind):
        """A collected value as values.py holds it."""
        if value is None:
            return None
        if pa.types.is_struct(kind):
            return {field.name: self.held(value[field.name], field.type) for field in kind}
        if pa.types.is_map(kind):
            return [(self.held(e["k"], kind.key_type), self.held(e["v"], kind.item_type)) for e in value]
        if pa.types.is_list(kind):
            return [self.held(item, kind.value_type) for item in value]
        return value

    def count(self, path, where):
        return self.sql(f"SELECT count(*) FROM delta.`{path}` WHERE {where}").collect()[0][0]

    def frame(self, source):
        """A frame of the rows in a Parquet file."""
        return self.session().read.parquet(source)

    def append_parquet(self, path, source, mode="append"):
        self.frame(source).write.format("delta").mode(mode).save(path)
