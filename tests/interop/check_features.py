"""Every table feature: Spark writes a table for each, silt reads every version of it with exact values and types: by SQL, by the
library's scans, and by the time of each version; conditions count the same rows; change data and row ids are Spark's own.
"""
import datetime
import json
import os
from decimal import Context, Decimal

import pyarrow as pa

import silt_program
from feature_tables import CHANGE_TABLES, CLONE, CONDITIONS, ROW_ID_TABLES, TABLES
from harness import same
from silt_api import Library
from values import arrow_rows

# A column with a variant in it: compared as the JSON that Spark and silt make of it.
AS_JSON = pa.large_string()
EXACT = Context(prec=60)  # more digits than any decimal has


# ---- Spark's side ---------------------------------------------------------------------------------------------------
def has_variant(kind):
    return "variant" in kind.simpleString()


def columns_of(frame):
    """(name, Arrow type) of a frame's columns."""
    from pyspark.sql.pandas.types import to_arrow_type
    made = []
    for field in frame.schema.fields:
        made.append((field.name, AS_JSON if has_variant(field.dataType) else
                     to_arrow_type(field.dataType, timezone="UTC")))
    return made


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def canonical_json(parsed):
    """Parsed JSON as text that is the same whenever the values are; numbers are decimals, to the last digit."""
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(value[key]) for key in sorted(value)}
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, Decimal):
            return ["number", format(value.normalize(EXACT), "E")]
        return value
    return None if parsed is None else json.dumps(plain(parsed), ensure_ascii=False)


def json_value(text):
    """A variant's JSON; the variant null is JSON's null as NULL is: conditions tell them apart."""
    return None if text is None else canonical_json(json.loads(text, parse_float=Decimal, parse_int=Decimal))


def spark_rows(run, frame, columns):
    """Canonical rows of a frame."""
    from peers import plain
    from values import canonical_rows
    parts = []
    for name, kind in columns:
        if kind == AS_JSON:
            text = f"to_json({quoted(name)}, map('ignoreNullFields', 'false'))"
            parts.append(f"IF({quoted(name)} IS NULL, NULL, {text}) AS {quoted(name)}")
        else:
            parts.append(f"{plain(quoted(name), kind)} AS {quoted(name)}")
    rows = []
    for row in frame.selectExpr(*parts).collect():
        held = [run.spark.held(value, kind) if kind != AS_JSON else json_value(value)
                for value, (_, kind) in zip(row, columns)]
        rows.append(held)
    return canonical_rows([(name, pa.string() if kind == AS_JSON else kind) for name, kind in columns], rows)


# ---- silt's side ------------------------------------------------------------------------------------------------------
def silt_rows(text, columns):
    """Canonical rows of silt's JSON lines, variants as JSON."""
    from silt_program import from_json, json_lines
    from values import canonical_rows
    rows = []
    names = [name for name, _ in columns]
    for line, plain_line in zip(json_lines(text), (one for one in text.split("\n") if one)):
        same(names, list(line))
        whole = json.loads(plain_line, parse_float=Decimal, parse_int=Decimal)
        rows.append([
            canonical_json(whole[name])
            if kind == AS_JSON else from_json(line[name], kind) for name, kind in columns])
    return canonical_rows([(name, pa.string() if kind == AS_JSON else kind) for name, kind in columns], rows)


def check_version(run, library, name, path, version, frame):
    columns = columns_of(frame)
    if not columns:
        return
    expected = spark_rows(run, frame, columns)
    at = f"VERSION AS OF {version}"
    run.case("silt", f"{name} {at}", lambda: same(
        expected, silt_rows(silt_program.sql(f"SELECT * FROM delta.`{path}` {at}"), columns)))
    exact = [(column, kind) for column, kind in columns if kind != AS_JSON]

    def by_library():
        table = library.read(path, version, [column for column, _ in exact])
        from values import canonical_rows
        plainly = frame.select(*[quoted(column) for column, _ in exact])
        wanted = expected if exact == columns else spark_rows(run, plainly, exact)
        same(wanted, arrow_rows(table, exact))
        del canonical_rows
    if exact:
        run.case("silt", f"{name} {at} by the library", by_library)


def versions_of(run, path):
    """(version, time in milliseconds) in ascending order."""
    frame = run.spark.sql(f"DESCRIBE HISTORY delta.`{path}`").selectExpr("version", "unix_millis(timestamp) AS at")
    return sorted((row["version"], row["at"]) for row in frame.collect())


def readable(run, path, version):
    """A frame of the version, None where Spark has no longer what it takes."""
    try:
        frame = run.spark.session().read.format("delta").option("versionAsOf", version).load(path)
        frame.schema  # loads the snapshot
        return frame
    except Exception as error:
        if "DELTA_VERSION_NOT_FOUND" in str(error) or "Cannot time travel" in str(error) or "DELTA_UNSUPPORTED_TIME" in str(error):
            return None
        raise


def check_times(run, name, path, versions):
    """Each version by its own time, and between two versions."""
    for version, at in versions:
        text = datetime.datetime.fromtimestamp(at / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
        newest = max(other for other, when in versions if when <= at)
        run.case("silt", f"{name} at the time of version {version}", lambda t=text, v=newest: same(
            silt_program.sql(f"SELECT count(*) AS n FROM delta.`{path}` VERSION AS OF {v}"),
            silt_program.sql(f"SELECT count(*) AS n FROM delta.`{path}` TIMESTAMP AS OF '{t}'")))


def silts_history(run, name, path, versions):
    """silt's history has Spark's versions and times."""
    text = silt_program.run("history", path, "-o", "jsonl")
    found = []
    for line in text.split("\n"):
        if line:
            entry = json.loads(line)
            at = datetime.datetime.fromisoformat(entry["timestamp"].replace("Z", "+00:00"))
            found.append((entry["version"], round(at.timestamp() * 1000)))
    run.case("silt", f"{name}: history", lambda: same(versions, sorted(found)))


# ---- change data and row ids ---------------------------------------------------------------------------------------------
def change_ranges(last):
    return [(0, last), (last, last), (2, 5), (1, 1), (3, 6)]


def check_changes(run, name, path, last):
    for first, end in change_ranges(last):
        try:
            frame = run.spark.session().read.format("delta").option("readChangeFeed", "true").option(
                "startingVersion", first).option("endingVersion", end).load(path)
            # Spark tells the changes of a table without mapping under its newest columns, silt under those of the last version
            known = run.spark.session().read.format("delta").option("versionAsOf", min(end, last)).load(path).columns
            told = [column for column in frame.columns if column in known or column.startswith("_c")]
            frame = frame.select(*[quoted(column) for column in told])
            columns = columns_of(frame)
            expected = spark_rows(run, frame, columns)
        except Exception as error:
            run.step("spark", f"{name}: changes {first} to {end}: {str(error)[:200]}", lambda: 1 / 0)
            continue
        run.case("silt", f"{name}: changes {first} to {end}", lambda f=first, e=end, c=columns, x=expected: same(
            x, silt_rows(silt_program.sql(f"SELECT * FROM table_changes_by_path('{path}', {f}, {e})"), c)))


def check_row_ids(run, name, path, versions):
    for version, _ in versions:
        try:
            frame = run.spark.session().read.format("delta").option("versionAsOf", version).load(path).selectExpr(
                "id", "_metadata.row_id AS row_id", "_metadata.row_commit_version AS row_commit_version")
            columns = columns_of(frame)
            expected = spark_rows(run, frame, columns)
        except Exception:
            continue  # the table has no row ids at that version: Spark knows no such field
        run.case("silt", f"{name}: row ids at version {version}", lambda v=version, c=columns, x=expected: same(
            x, silt_rows(silt_program.sql(
                "SELECT id, _metadata.row_id AS row_id, _metadata.row_commit_version AS row_commit_version "
                f"FROM delta.`{path}` VERSION AS OF {v}"), c)))


def check_metadata(run, name, path):
    fields = ("file_path", "file_name", "file_size", "file_block_start", "file_block_length")
    selected = ", ".join(f"_metadata.{field} AS {field}" for field in fields)
    selected += ", unix_millis(_metadata.file_modification_time) AS modified"
    frame = run.spark.sql(f"SELECT {selected} FROM delta.`{path}`")
    columns = columns_of(frame)
    expected = spark_rows(run, frame, columns)
    ours = selected.replace("unix_millis(", "epoch_ms(")
    run.case("silt", f"{name}: _metadata", lambda: same(
        expected, silt_rows(silt_program.sql(f"SELECT {ours} FROM delta.`{path}`"), columns)))


# ---- all of it -------------------------------------------------------------------------------------------------------------
def write(run, path, settings, statements):
    session = run.spark.session()
    kept = {key: session.conf.get(key, None) for key in settings}
    hadoop = {key[len("spark.hadoop."):]: value for key, value in settings.items() if key.startswith("spark.hadoop.")}
    for key, value in settings.items():
        session.conf.set(key, value)
    for key, value in hadoop.items():
        session.sparkContext._jsc.hadoopConfiguration().set(key, value)
    try:
        for statement in statements:
            if callable(statement):
                statement(session, path)
            else:
                session.sql(statement.format(t=f"delta.`{path}`"))
    finally:
        for key, value in kept.items():
            if value is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, value)
        for key in hadoop:
            session.sparkContext._jsc.hadoopConfiguration().unset(key)


def check_table(run, library, name, path):
    versions = versions_of(run, path)
    for version, _ in versions:
        frame = readable(run, path, version)
        if frame is not None:
            check_version(run, library, name, path, version, frame)
    silts_history(run, name, path, versions)
    if "cleaned" not in name and name not in ("checkpoint-parts", "struct-stats-only"):
        check_times(run, name, path, versions)
    if "widening" in name:
        # Spark's own skipping is wrong where a float was widened: its statistics are read as doubles
        run.spark.session().conf.set("spark.databricks.delta.stats.skipping", "false")
    counts = [(where, run.spark.count(path, where)) for where in CONDITIONS.get(name, ())]
    run.spark.session().conf.unset("spark.databricks.delta.stats.skipping")
    for where, expected in counts:
        run.case("silt", f"{name}: {where}", lambda w=where, e=expected: same(e, run.silt.count(path, w)))
    if name in CHANGE_TABLES:
        check_changes(run, name, path, versions[-1][0])
    if name in ROW_ID_TABLES:
        check_row_ids(run, name, path, versions)
    if name in ("vectors", "mapping-name", "vectors-partitioned", "row-ids"):
        check_metadata(run, name, path)


def check(run):
    library = Library()
    only = os.environ.get("SILT_INTEROP_TABLES", "").split()
    for name, (settings, statements) in TABLES.items():
        if only and name not in only:
            continue
        path = run.path(name)
        if run.step("spark", f"{name}: write", write, run, path, settings, statements):
            run.step("silt", f"{name}: read", check_table, run, library, name, path)
    if not only or "clone" in only:
        path = run.path("clone")
        if run.step("spark", "clone: write", CLONE, run.spark.session(), path):
            for part in ("a source", "a clone"):
                check_table(run, library, part, os.path.join(path, part))
